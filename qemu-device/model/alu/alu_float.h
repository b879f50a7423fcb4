/* SPDX-License-Identifier: MIT */
/*
 * The floating-point operations of both units: the table of selectors of one path. A template, see
 * alu_path.h.
 *
 * Only what is worth a vector function stands here, and only its common modifiers; float_ops.h
 * knows everything.
 */
#include "float_ops.h"

#ifdef __x86_64__

#include "alu_float_vector.h"
#include "alu_float_arith.h"
#include "alu_float_compare.h"
#include "alu_float_convert.h"
#include "alu_float_half.h"
#include "alu_float_special.h"
#include "alu_float_exponent.h"
#include "alu_float_cube.h"

static const struct tsr_alu_set alu_floating = {
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
		[TSR_OP_FMA_CUBEFACE1] = select_cube_magnitude,
		[TSR_OP_ADD_CUBEFACE2] = select_cube_face,
		[TSR_OP_ADD_CUBE_SSEL] = select_cube_s,
		[TSR_OP_ADD_CUBE_TSEL] = select_cube_t,
		[TSR_OP_ADD_F32_TO_S32] = select_to_int,
		[TSR_OP_ADD_F32_TO_U32] = select_to_int,
		[TSR_OP_ADD_S32_TO_F32] = select_from_int,
		[TSR_OP_ADD_U32_TO_F32] = select_from_int,
		[TSR_OP_ADD_S16_TO_F32] = select_from_part,
		[TSR_OP_ADD_U16_TO_F32] = select_from_part,
		[TSR_OP_ADD_S8_TO_F32] = select_from_part,
		[TSR_OP_ADD_U8_TO_F32] = select_from_part,
		[TSR_OP_FMA_F16_TO_F32] = select_widen,
		[TSR_OP_ADD_F16_TO_F32] = select_widen,
		[TSR_OP_FMA_FROUND_F32] = select_round,
		[TSR_OP_ADD_FROUND_F32] = select_round,
		[TSR_OP_ADD_FRCP_F32] = select_rcp,
		[TSR_OP_ADD_FRSQ_F32] = select_rsq,
		[TSR_OP_FMA_FMA_RSCALE_F32] = select_fma_rscale,
		[TSR_OP_ADD_FADD_RSCALE_F32] = select_add_rscale,
		[TSR_OP_FMA_FADD_LSCALE_F32] = select_add_lscale,
		[TSR_OP_ADD_LDEXP_F32] = select_ldexp,
		[TSR_OP_FMA_FREXPE_F32] = select_frexpe,
		[TSR_OP_ADD_FREXPE_F32] = select_frexpe,
		[TSR_OP_FMA_FREXPM_F32] = select_frexpm,
		[TSR_OP_ADD_FREXPM_F32] = select_frexpm,
		[TSR_OP_ADD_FEXP_F32] = select_exp,
		[TSR_OP_ADD_FLOGD_F32] = select_logd,
#ifndef TSR_ALU_SSE2
		[TSR_OP_ADD_FSIN_TABLE_U6] = select_sine,
		[TSR_OP_ADD_FCOS_TABLE_U6] = select_sine,
		[TSR_OP_ADD_FEXP_TABLE_U4] = select_exp_table,
		[TSR_OP_FMA_FMA_V2F16] = select_pair_fma,
		[TSR_OP_FMA_FADD_V2F16] = select_pair_add,
		[TSR_OP_ADD_FADD_V2F16] = select_pair_add,
		[TSR_OP_ADD_FMIN_V2F16] = select_pair_min_max,
		[TSR_OP_ADD_FMAX_V2F16] = select_pair_min_max,
		[TSR_OP_FMA_V2F32_TO_V2F16] = select_narrow,
		[TSR_OP_ADD_V2F32_TO_V2F16] = select_narrow,
#endif
	},
};

#else

static const struct tsr_alu_set alu_floating = { .select = { NULL } };

#endif
