/* SPDX-License-Identifier: MIT */
/* Common code of the assembler tests: code to text and back, texts to code. */
#ifndef ASM_CHECK_H
#define ASM_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Random numbers, the same in every run. */
struct asm_random {
	uint64_t state;		/* not 0 */
};

uint64_t asm_random(struct asm_random *random);
unsigned int asm_below(struct asm_random *random, unsigned int limit);

/*
 * asm_round_trip(): disassemble (@flags: enum tsr_disasm_flags) and assemble @size bytes of code,
 * record a failure with the first clause that differs when that is not the same code, or when the
 * text has one of the words in @without (NULL: none), separated by blanks.
 */
bool asm_round_trip(const uint8_t *code, size_t size, uint32_t flags, const char *without);

/*
 * asm_code(): assemble a text that has to assemble without errors; the code is freed by the caller.
 * NULL, and a failure is recorded, when it does not.
 */
uint8_t *asm_code(const char *text, size_t *size);

/* asm_same(): two texts have to be the same code. */
#define asm_same(a, b) asm_same_at(__FILE__, __LINE__, a, b)
void asm_same_at(const char *file, int line, const char *a, const char *b);

#endif /* ASM_CHECK_H */
