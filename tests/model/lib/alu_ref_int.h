/* SPDX-License-Identifier: MIT */
/*
 * Reference implementation of the integer instructions, one thread at a time, from the words of the
 * documentation.
 *
 * An instruction is parsed by its name and the names of its modifiers ("IADD.v2s16", lanes1 "b23"),
 * and computed element by element in 64-bit arithmetic.
 */
#ifndef TSR_TEST_ALU_REF_INT_H
#define TSR_TEST_ALU_REF_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "alu/alu.h"

#define ALU_REF_SOURCES 4
#define ALU_REF_ELEMENTS 4

struct alu_ref;

typedef uint32_t alu_ref_fn(const struct alu_ref *ref, const uint32_t src[4],
			    const uint32_t pair[3]);

/* An instruction taken apart. */
struct alu_ref {
	const struct tsr_insn *insn;
	const struct tsr_insn *pair_insn;
	const struct alu_ref_op *op;	/* what its name says before the dot */
	uint8_t ftz;			/* enum tsr_ftz */
	unsigned int elements;		/* 1, 2 or 4 */
	unsigned int bits;		/* of an element */
	bool is_signed;
	/*
	 * bits of each source that each element uses, and whether the source's are extended with
	 * their sign
	 */
	struct { uint8_t at, bits; } part[ALU_REF_SOURCES][ALU_REF_ELEMENTS];
	bool extend[ALU_REF_SOURCES];
	/* modifiers, looked up once */
	bool saturate, up, mask, minus_one, not1, not_result, high_byte, bytes, word1;
	const char *cmpf, *mux;
};

/* False: not an instruction this knows. CLPER and WMASK are not, they need more than one lane. */
bool alu_ref_prepare(struct alu_ref *ref, const struct tsr_insn *insn,
		     const struct tsr_insn *pair_insn, uint8_t ftz);
uint32_t alu_ref_eval(const struct alu_ref *ref, const uint32_t src[4], const uint32_t pair[3]);

/* The value of a modifier by name, "" when the instruction does not have it. */
const char *alu_ref_modifier(const struct tsr_insn *insn, const char *name);

#endif
