/* SPDX-License-Identifier: MIT */
/*
 * Diagnostics of the assembler: places in the text, and a list of what is wrong there.
 */
#ifndef ASM_DIAG_H
#define ASM_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tessera/asm.h>

struct asm_pos {
	uint32_t line;
	uint32_t column;
};

/* Starts as zeros. */
struct asm_diags {
	struct tsr_asm_diagnostic *list;	/* the first ones, in the order they were found */
	uint32_t kept;
	uint32_t errors;
	uint32_t warnings;
	bool no_memory;
};

/* Add one; @diags may be NULL: nobody wants to know. */
__attribute__((format(printf, 3, 4)))
void asm_error(struct asm_diags *diags, struct asm_pos pos, const char *format, ...);
__attribute__((format(printf, 3, 4)))
void asm_warning(struct asm_diags *diags, struct asm_pos pos, const char *format, ...);

/* asm_diags_sort(): by place in the text. */
void asm_diags_sort(struct asm_diags *diags);

/* A list of words, put together for a message; what does not fit ends in "...". Starts as zeros. */
struct asm_words {
	char text[120];
	size_t length;
	bool full;
};

void asm_words_add(struct asm_words *words, const char *word);

#endif /* ASM_DIAG_H */
