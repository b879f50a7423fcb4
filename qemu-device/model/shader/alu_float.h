/* SPDX-License-Identifier: MIT */
/*
 * The floating-point operations of both units: the table of selectors of one path. A template, see alu_path.h.
 *
 * Only what is worth a vector function stands here, and only its common modifiers; float_ops.h knows everything.
 */
#include "float_ops.h"

#ifdef __x86_64__

#include "alu_float_vector.h"
#include "alu_float_arith.h"
#include "alu_float_compare.h"

const struct tsr_alu_set TSR_PATH_NAME(tsr_alu_float) = {
	.select = {
		[TSR_OP_FMA_FMA_F32] = select_fma,
		[TSR_OP_FMA_FADD_F32] = select_add,
		[TSR_OP_ADD_FADD_F32] = select_add,
		[TSR_OP_ADD_FMIN_F32] = select_min_max,
		[TSR_OP_ADD_FMAX_F32] = select_min_max,
		[TSR_OP_FMA_FCMP_F32] = select_cmp,
		[TSR_OP_ADD_FCMP_F32] = select_cmp,
		[TSR_OP_FMA_CSEL_F32] = select_csel,
		[TSR_OP_ADD_DISCARD_F32] = select_discard,
	},
};

#else

const struct tsr_alu_set TSR_PATH_NAME(tsr_alu_float) = { .select = { NULL } };

#endif
