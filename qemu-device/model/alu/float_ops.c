/* SPDX-License-Identifier: MIT */
/*
 * Which function each floating-point instruction has, its operands and its result.
 */
#include "float_ops.h"

#define BOTH(name, fn) [TSR_OP_FMA_##name] = fn, [TSR_OP_ADD_##name] = fn

tsr_float_fn *const tsr_float_table[TSR_OP__COUNT] = {
	[TSR_OP_FMA_FMA_F32] = tsr_float_fma,
	[TSR_OP_FMA_FMA_V2F16] = tsr_float_fma_half,
	[TSR_OP_FMA_FMA_RSCALE_F32] = tsr_float_fma_rscale,
	[TSR_OP_FMA_FMA_RSCALE_V2F16] = tsr_float_fma_rscale_half,
	BOTH(FADD_F32, tsr_float_add),
	BOTH(FADD_V2F16, tsr_float_add_half),
	[TSR_OP_ADD_FADD_RSCALE_F32] = tsr_float_add_rscale,
	[TSR_OP_FMA_FADD_LSCALE_F32] = tsr_float_add_lscale,
	[TSR_OP_ADD_FMIN_F32] = tsr_float_min_max,
	[TSR_OP_ADD_FMAX_F32] = tsr_float_min_max,
	[TSR_OP_ADD_FMIN_V2F16] = tsr_float_min_max_half,
	[TSR_OP_ADD_FMAX_V2F16] = tsr_float_min_max_half,
	BOTH(FCMP_F32, tsr_float_cmp),
	BOTH(FCMP_V2F16, tsr_float_cmp_half),
	[TSR_OP_FMA_CSEL_F32] = tsr_float_csel,
	[TSR_OP_FMA_CSEL_V2F16] = tsr_float_csel_half,
	[TSR_OP_ADD_DISCARD_F32] = tsr_float_discard,
	[TSR_OP_FMA_CUBEFACE1] = tsr_float_cubeface1,
	[TSR_OP_ADD_CUBEFACE2] = tsr_float_cubeface2,
	[TSR_OP_ADD_CUBE_SSEL] = tsr_float_cube_ssel,
	[TSR_OP_ADD_CUBE_TSEL] = tsr_float_cube_tsel,
	BOTH(F16_TO_F32, tsr_float_f16_to_f32),
	BOTH(V2F32_TO_V2F16, tsr_float_v2f32_to_v2f16),
	[TSR_OP_ADD_F32_TO_S32] = tsr_float_f32_to_int,
	[TSR_OP_ADD_F32_TO_U32] = tsr_float_f32_to_int,
	[TSR_OP_ADD_F16_TO_S32] = tsr_float_f16_to_int32,
	[TSR_OP_ADD_F16_TO_U32] = tsr_float_f16_to_int32,
	[TSR_OP_ADD_V2F16_TO_V2S16] = tsr_float_v2f16_to_int,
	[TSR_OP_ADD_V2F16_TO_V2U16] = tsr_float_v2f16_to_int,
	[TSR_OP_ADD_S32_TO_F32] = tsr_float_int32_to_f32,
	[TSR_OP_ADD_U32_TO_F32] = tsr_float_int32_to_f32,
	[TSR_OP_ADD_S16_TO_F32] = tsr_float_int16_to_f32,
	[TSR_OP_ADD_U16_TO_F32] = tsr_float_int16_to_f32,
	[TSR_OP_ADD_S8_TO_F32] = tsr_float_int8_to_f32,
	[TSR_OP_ADD_U8_TO_F32] = tsr_float_int8_to_f32,
	[TSR_OP_ADD_V2S16_TO_V2F16] = tsr_float_int16_to_v2f16,
	[TSR_OP_ADD_V2U16_TO_V2F16] = tsr_float_int16_to_v2f16,
	[TSR_OP_ADD_V2S8_TO_V2F16] = tsr_float_int8_to_v2f16,
	[TSR_OP_ADD_V2U8_TO_V2F16] = tsr_float_int8_to_v2f16,
	BOTH(FROUND_F32, tsr_float_round),
	BOTH(FROUND_V2F16, tsr_float_round_half),
	BOTH(QUIET_F32, tsr_float_quiet),
	BOTH(QUIET_V2F16, tsr_float_quiet_half),
	BOTH(FREXPE_F32, tsr_float_frexpe),
	BOTH(FREXPE_V2F16, tsr_float_frexpe_half),
	BOTH(FREXPM_F32, tsr_float_frexpm),
	BOTH(FREXPM_V2F16, tsr_float_frexpm_half),
	[TSR_OP_ADD_LDEXP_F32] = tsr_float_ldexp,
	[TSR_OP_ADD_LDEXP_V2F16] = tsr_float_ldexp_half,
	[TSR_OP_ADD_LOGB_F32] = tsr_float_logb,
	[TSR_OP_ADD_LOGB_V2F16] = tsr_float_logb_half,
	[TSR_OP_ADD_ILOGB_F32] = tsr_float_ilogb,
	[TSR_OP_ADD_ILOGB_V2F16] = tsr_float_ilogb_half,
	[TSR_OP_ADD_FRCP_F32] = tsr_float_rcp,
	[TSR_OP_ADD_FRCP_F16] = tsr_float_rcp_half,
	[TSR_OP_ADD_FRSQ_F32] = tsr_float_rsq,
	[TSR_OP_ADD_FRSQ_F16] = tsr_float_rsq_half,
	[TSR_OP_ADD_FRCP_APPROX_F32] = tsr_float_rcp_approx,
	[TSR_OP_ADD_FRSQ_APPROX_F32] = tsr_float_rsq_approx,
	[TSR_OP_ADD_FEXP_F32] = tsr_float_exp,
	[TSR_OP_ADD_FEXP_TABLE_U4] = tsr_float_exp_table,
	[TSR_OP_ADD_FLOGD_F32] = tsr_float_logd,
	[TSR_OP_ADD_FLOG_TABLE_F32] = tsr_float_log_table,
	[TSR_OP_ADD_FSIN_TABLE_U6] = tsr_float_sin_table,
	[TSR_OP_ADD_FCOS_TABLE_U6] = tsr_float_cos_table,
};

bool tsr_float_defined(const struct tsr_insn *insn)
{
	switch (insn->op) {
	case TSR_OP_FMA_FMA_RSCALE_F32:
		return insn->mod[TSR_MOD_SPECIAL] != TSR_SPECIAL_SCALE16;
	case TSR_OP_ADD_FADD_RSCALE_F32:
		return insn->mod[TSR_MOD_SPECIAL] == TSR_SPECIAL_NONE;
	case TSR_OP_ADD_LDEXP_F32:
	case TSR_OP_ADD_LDEXP_V2F16:
		return insn->mod[TSR_MOD_ROUND] <= TSR_ROUND_RTNA;
	case TSR_OP_ADD_FEXP_TABLE_U4:
		return insn->mod[TSR_MOD_ADJ] == TSR_ADJ_NONE;
	case TSR_OP_ADD_FLOG_TABLE_F32:
		return insn->mod[TSR_MOD_PRECISION] == TSR_PRECISION_NONE &&
		       !insn->mod[TSR_MOD_DIVZERO];
	case TSR_OP_ADD_FRCP_F16:
	case TSR_OP_ADD_FRSQ_F16:
	case TSR_OP_ADD_FRCP_APPROX_F32:
	case TSR_OP_ADD_FRSQ_APPROX_F32:
		return !insn->mod[TSR_MOD_DIVZERO];
	case TSR_OP_ADD_FSIN_TABLE_U6:
	case TSR_OP_ADD_FCOS_TABLE_U6:
		return !insn->mod[TSR_MOD_OFFSET];
	default:
		return tsr_float_table[insn->op];
	}
}

void tsr_float_lanes(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	tsr_float_fn *fn = tsr_float_table[uop->insn->op];
	uint32_t src[4], pair[3];

	for (unsigned int i = 0; i < state->warps; i++) {
		unsigned int warp = state->warp[i];
		const union tsr_lanes *from[7];
		union tsr_lanes *to = state->space[uop->dst.space] + uop->dst.index +
				      uop->dst.step * warp;

		for (unsigned int n = 0; n < 7; n++) {
			struct tsr_operand o = n < 4 ? uop->src[n] : uop->pair[n - 4];

			from[n] = state->space[o.space] + o.index + o.step * warp;
		}
		for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++) {
			if (uop->dst_kind == TSR_DST_ACTIVE && !state->mask[warp].u[lane])
				continue;
			for (unsigned int n = 0; n < tsr_ops[uop->insn->op].num_srcs; n++)
				src[n] = from[n]->u[lane];
			for (unsigned int n = 0; n < 3 && uop->pair_insn; n++)
				pair[n] = from[4 + n]->u[lane];
			to->u[lane] = fn(uop, src, pair);
		}
	}
}

static uint32_t signs(const struct tsr_insn *insn, unsigned int n, uint32_t bits, uint32_t sign)
{
	if (insn->mod[TSR_MOD_ABS0 + n])
		bits &= ~sign;
	if (insn->mod[TSR_MOD_NEG0 + n])
		bits ^= sign;
	return bits;
}

uint32_t tsr_float_widened(uint32_t half)
{
	static const struct tsr_alu_mode keep;
	uint32_t magnitude = half & 0x7fff;
	uint32_t sign = (half & 0x8000) << 16;

	if (magnitude > TSR_F16_INF) /* the payload stays, for the total order */
		return sign | 0x7f800000 | (magnitude & 0x3ff) << 13;
	return tsr_real_pack(tsr_real_unpack(half, TSR_F16, &keep),
			     &(struct tsr_rounding){ .width = TSR_F32, .mode = &keep });
}

uint32_t tsr_float_source(const struct tsr_uop *uop, unsigned int n, uint32_t word)
{
	unsigned int widen = n < 2 ? uop->insn->mod[TSR_MOD_WIDEN0 + n] : TSR_WIDEN_NONE;

	if (widen != TSR_WIDEN_NONE) {
		if (widen == TSR_WIDEN_H1)
			word >>= 16;
		word &= 0xffff;
		if (!(word & 0x7c00) && tsr_float_flush_in(&uop->mode, TSR_F16))
			word &= 0x8000;
		word = tsr_float_widened(word);
	} else if (!(word & TSR_F32_INF) && tsr_float_flush_in(&uop->mode, TSR_F32)) {
		word &= 0x80000000;
	}
	return signs(uop->insn, n, word, 0x80000000);
}

struct tsr_real tsr_float_real(const struct tsr_uop *uop, unsigned int n, uint32_t word)
{
	return tsr_real_unpack(tsr_float_source(uop, n, word), TSR_F32, &uop->mode);
}

uint32_t tsr_float_half_source(const struct tsr_uop *uop, unsigned int n, uint32_t word,
			       unsigned int half)
{
	/* h00, h10, h01, h11 are 0 to 3: bit 0 chooses for the low half, bit 1 for the high one */
	unsigned int from = uop->insn->mod[TSR_MOD_SWZ0 + n] >> half & 1;
	uint32_t bits = word >> 16 * from & 0xffff;

	if (!(bits & 0x7c00) && tsr_float_flush_in(&uop->mode, TSR_F16))
		bits &= 0x8000;
	return signs(uop->insn, n, bits, 0x8000);
}

struct tsr_real tsr_float_half_real(const struct tsr_uop *uop, unsigned int n, uint32_t word,
				    unsigned int half)
{
	return tsr_real_unpack(tsr_float_half_source(uop, n, word, half), TSR_F16, &uop->mode);
}

struct tsr_real tsr_float_lane_real(const struct tsr_uop *uop, uint32_t word)
{
	if (uop->insn->mod[TSR_MOD_LANE0] == TSR_LANE_H1)
		word >>= 16;
	return tsr_real_unpack(signs(uop->insn, 0, word & 0xffff, 0x8000), TSR_F16, &uop->mode);
}

uint32_t tsr_float_pack(const struct tsr_uop *uop, struct tsr_real x, enum tsr_float_width width)
{
	return tsr_real_pack(x, &(struct tsr_rounding){ .width = width,
							.round = uop->insn->mod[TSR_MOD_ROUND],
							.clamp = uop->insn->mod[TSR_MOD_CLAMP],
							.mode = &uop->mode });
}

uint32_t tsr_float_pack_plain(const struct tsr_uop *uop, struct tsr_real x,
			      enum tsr_float_width width)
{
	return tsr_real_pack(x, &(struct tsr_rounding){ .width = width, .mode = &uop->mode });
}
