/* SPDX-License-Identifier: MIT */
/*
 * The sets of functions of a SIMD path. Private to alu.c and the templates.
 *
 * A set has the functions for one kind of instruction, integer or float, on one SIMD path. It is a
 * table from operations to selectors. One set of templates serves all paths, see alu_path.h.
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

#endif
