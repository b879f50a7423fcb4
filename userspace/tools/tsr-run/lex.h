/* SPDX-License-Identifier: MIT */
/*
 * Tokens of shader files.
 *
 * In: a text. Out: one token after the other, with line and column; the first error, after which
 * only LEX_END comes, so that a parser need not look at every step. Blanks, line ends and comments
 * (from # to the end of the line) separate tokens and mean nothing else, but for lex_block().
 */
#ifndef TSR_RUN_LEX_H
#define TSR_RUN_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEX_TOKEN_MAX	4096		/* bytes of a token, its end included */

enum lex_kind {
	LEX_END,			/* of the text, or after an error */
	LEX_WORD,			/* a letter, then letters, digits, _, . and inner - */
	LEX_NUMBER,			/* begins with a digit or a sign; inf and nan are words */
	LEX_STRING,			/* between quotes, in one line, without escapes */
	LEX_SIGN,			/* one of { } & = + */
};

/* A place in the text, counted from 1. */
struct lex_place {
	unsigned int line, column;
};

struct lex {
	const char *path;		/* for messages */
	const char *at, *end;		/* what is left of the text, behind the token */
	struct lex_place next;		/* where that is */
	enum lex_kind kind;		/* of the token that stands in @token */
	char token[LEX_TOKEN_MAX];	/* strings without their quotes */
	struct lex_place place;		/* of the token */
	char error[512];		/* "path:line:column: what", or "" */
};

/* Start with @text of @size bytes: its first token is there on return. */
void lex_start(struct lex *lex, const char *path, const char *text, size_t size);
/* Go to the next token. */
void lex_next(struct lex *lex);

/* Record an error at the present token, or at @place; only the first one is kept. Returns false. */
bool lex_error(struct lex *lex, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool lex_error_at(struct lex *lex, struct lex_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* True if the present token is @word (or sign); lex_take(): if so, go on. */
bool lex_is(const struct lex *lex, const char *word);
bool lex_take(struct lex *lex, const char *word);
/* lex_expect(): take @word, or it is an error. */
bool lex_expect(struct lex *lex, const char *word);

/*
 * Take a token of a kind; @what is said to be missing when it is something else.
 * lex_name() copies the word, lex_string() the string, into memory that the caller frees.
 */
char *lex_name(struct lex *lex, const char *what);
char *lex_string(struct lex *lex, const char *what);
/* An unsigned number, decimal or 0x…, of at most @max. */
uint64_t lex_unsigned(struct lex *lex, const char *what, uint64_t max);
/* An integer that fits into @bits, with or without a sign. */
uint64_t lex_integer(struct lex *lex, const char *what, unsigned int bits);
/* A number that may have a fraction; inf and nan as well. */
double lex_double(struct lex *lex, const char *what);

/*
 * Returns the unchanged lines after the present token up to a line "end". The present token must be
 * the last one of its line. The token after "end" is next. Returns NULL and reports an error if
 * there is no such line.
 */
const char *lex_block(struct lex *lex, size_t *size, struct lex_place *place);

#endif
