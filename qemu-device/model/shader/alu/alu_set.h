/* SPDX-License-Identifier: MIT */
/*
 * What one implementation of the arithmetic units is made of; private to alu*.c.
 *
 * A set is the functions of one kind of instruction, integer or float, on one SIMD path: a table
 * from the operation to a selector. The same templates make the sets of all paths: see alu_path.h.
 */
#ifndef TSR_SHADER_ALU_SET_H
#define TSR_SHADER_ALU_SET_H

#include "alu.h"

/*
 * Choose uop->fn by the modifiers of uop->insn and by uop->mode, and fill what that function uses
 * of keep, flip and param. False: there is no public semantics for these modifiers; of a
 * floating-point operation, that this path has no vector function for them and float_ops.h is to be
 * used.
 */
typedef bool tsr_alu_selector(struct tsr_uop *uop);

struct tsr_alu_set {
	tsr_alu_selector *select[TSR_OP__COUNT];	/* NULL: not an operation of this set */
};

enum tsr_alu_set_kind {
	TSR_ALU_SET_INT,
	TSR_ALU_SET_FLOAT,
	TSR_ALU_SETS
};

struct tsr_alu {
	const char *name;
	bool (*usable)(void);				/* this processor has it */
	const struct tsr_alu_set *set[TSR_ALU_SETS];
};

/* The baseline: SSE2 on x86-64, plain vectors of 16 bytes anywhere else. */
extern const struct tsr_alu_set tsr_alu_int_sse2, tsr_alu_float_sse2;
#ifdef __x86_64__
extern const struct tsr_alu_set tsr_alu_int_avx2, tsr_alu_float_avx2;
extern const struct tsr_alu_set tsr_alu_int_avx512, tsr_alu_float_avx512;
#endif

#endif
