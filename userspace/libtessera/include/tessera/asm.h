/* SPDX-License-Identifier: MIT */
/*
 * libtessera: assembler and disassembler of shader programs.
 *
 * The text is described in Documentation/guide/shaders.md. It is one-to-one with the code:
 * the assembler chooses ports, places constants and fills in header fields that were left out, all
 * by fixed rules, and never moves, adds or drops an instruction. What the disassembler prints for
 * any code at all assembles to the same bytes.
 *
 * All functions only read their arguments, keep no state outside their results, and may be called
 * from any thread. Input may be anything; nothing beyond its end is read.
 */
#ifndef TESSERA_ASM_H
#define TESSERA_ASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Limits of one program; beyond them there is an error that says so. */
#define TSR_ASM_TEXT_MAX	(8u << 20)	/* bytes of text */
#define TSR_ASM_ITEMS_MAX	65536u		/* clauses and lines of data; as many labels */
#define TSR_ASM_CODE_MAX	(16u << 20)	/* bytes of code */
#define TSR_ASM_DIAGNOSTICS_MAX	100u		/* kept; all are counted */

enum tsr_asm_flags {
	TSR_ASM_UNCHECKED = 1 << 0	/* as if every clause said "unchecked" */
};

/* Something to say about a place in the text. */
struct tsr_asm_diagnostic {
	uint32_t line;		/* from 1 */
	uint32_t column;	/* from 1, in bytes */
	bool warning;		/* else an error: there is no code */
	char text[200];		/* what was found and what was expected */
};

/* A label. */
struct tsr_asm_symbol {
	char *name;
	uint32_t offset;	/* of its clause, in bytes */
};

/* Where a clause came from. */
struct tsr_asm_clause {
	uint32_t offset;	/* in the code, in bytes */
	uint32_t size;
	uint32_t line;		/* of its header */
	uint32_t tuple_line[8];	/* of each tuple */
	uint8_t tuples;
};

/* Output of the assembler. Arrays have room for at least one element and are never NULL. */
struct tsr_asm_shader {
	uint8_t *code;
	size_t size;			/* a multiple of 16; 0 when there are errors */
	uint32_t entry;			/* .entry, in bytes from the start of the code */
	uint64_t registers;		/* bit n: an instruction names rN or stages it */
	bool registers_64;		/* .registers 64, or one of r16 to r47 is used */
	uint32_t local[3];		/* .local: threads of a group, 1 1 1 if not said */
	uint32_t group_memory;		/* .group_memory, bytes of a group */
	uint32_t scratch;		/* .scratch, bytes of a thread */

	struct tsr_asm_symbol *symbols;		/* in the order of the text */
	uint32_t num_symbols;
	struct tsr_asm_clause *clauses;		/* in the order of the code */
	uint32_t num_clauses;
	struct tsr_asm_diagnostic *diagnostics;	/* in the order of the text */
	uint32_t num_diagnostics;		/* at most TSR_ASM_DIAGNOSTICS_MAX */
	uint32_t num_errors;			/* all */
	uint32_t num_warnings;
};

/*
 * tsr_asm_assemble(): assemble @size bytes of text; @flags are enum tsr_asm_flags. 0; -EINVAL when
 * there are errors in the text; -ENOMEM. *@program is set unless it is -ENOMEM, and is freed by
 * tsr_asm_free().
 */
int tsr_asm_assemble(const char *text, size_t size, uint32_t flags,
		     struct tsr_asm_shader **program);

/* tsr_asm_free(): of NULL nothing. */
void tsr_asm_free(struct tsr_asm_shader *program);

/*
 * tsr_asm_print_diagnostics(): all that were kept, a line each, as "NAME:LINE:COLUMN: error: TEXT",
 * and how many were not kept.
 */
void tsr_asm_print_diagnostics(FILE *out, const struct tsr_asm_shader *program, const char *name);

enum tsr_disasm_flags {
	TSR_DISASM_QUADS = 1 << 0,	/* comments with each quadword: its format and parts */
	TSR_DISASM_EXPLICIT = 1 << 1,	/* ports and places of constants always written out */
	TSR_DISASM_PLAIN = 1 << 2	/* no comments */
};

struct tsr_disasm_options {
	uint64_t base;		/* address of the first byte, for comments */
	uint32_t flags;		/* enum tsr_disasm_flags */
};

/*
 * tsr_disasm(): print @size bytes of code as text that assembles to the same bytes. What is no
 * clause comes out as .quad and .byte lines. @options may be NULL. Returns the number of errors:
 * quadwords and remaining bytes that are in no clause (quadwords of zeros are padding, not errors).
 * -1 when memory is short.
 */
long tsr_disasm(FILE *out, const void *code, size_t size, const struct tsr_disasm_options *options);

/*
 * tsr_disasm_clause(): print the clause at byte @offset (a multiple of 16) alone. Returns its size
 * in bytes; 0 when there is no clause, then it prints a comment that says why; -1 when memory is
 * short.
 */
long tsr_disasm_clause(FILE *out, const void *code, size_t size, size_t offset,
		       const struct tsr_disasm_options *options);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* TESSERA_ASM_H */
