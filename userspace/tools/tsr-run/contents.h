/* SPDX-License-Identifier: MIT */
/*
 * The contents of buffers, push constants and expectations: values between braces.
 *
 * In: tokens. Out: bytes, little-endian. A value has the type that was named last. A pattern
 * generates many values. Documentation/guide/shaders.md has the limits of the grammar.
 */
#ifndef TSR_RUN_CONTENTS_H
#define TSR_RUN_CONTENTS_H

#include "lex.h"
#include "script.h"

/* Most bytes of one region, expectation or file. */
#define CONTENTS_MAX	(1ull << 30)

/* Append bytes (NULL: zeros). */
void bytes_add(struct bytes *bytes, const void *data, size_t size);

/*
 * Append what stands between the braces from the present token on; at most @max bytes in all.
 * Errors are the lexer's. @script has the regions whose addresses may be used.
 */
void contents_read(struct lex *lex, const struct script *script, struct bytes *bytes, uint64_t max);

/* Append the file @name, relative to the directory of @script; at most @max bytes in all. */
void contents_file(struct lex *lex, const struct script *script, const char *name,
		   struct bytes *bytes, uint64_t max);

/* "&name", "&name+1", "&name-1" or a number: an address. */
uint64_t contents_address(struct lex *lex, const struct script *script);

/* A number of @type in its bits. */
uint32_t contents_word(struct lex *lex, enum word_type type);

#endif
