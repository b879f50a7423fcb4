/* SPDX-License-Identifier: MIT */
/*
 * Conversions with 32-bit floats, and rounding to integral values. A template, see alu_path.h.
 */

/* --- to integers --- */

/* Rounding to an integral value is an instruction from AVX on. */
#ifdef TSR_ALU_AVX512
#define TSR_INTEGRAL(x, how) ((vf32)_mm512_roundscale_ps((__m512)(x), (how) | _MM_FROUND_NO_EXC))
#elif defined(TSR_ALU_AVX2)
#define TSR_INTEGRAL(x, how) ((vf32)_mm256_round_ps((__m256)(x), (how) | _MM_FROUND_NO_EXC))
#endif

/*
 * Converts an integral float. The host gives 0x80000000 for NaN and for values out of range. This
 * is right for small ones. Inverting gives 0x7fffffff for large ones.
 */
TSR_INLINE vu32 to_s32(vf32 x)
{
	vu32 result = (vu32)TSR_VF_(cvtps_epi32)((tsr_ps)x);

	return (result ^ (vu32)(x >= 0x1p31f)) & (vu32)(x == x);
}

/* Values from 2^31 on are converted after subtracting 2^31. */
TSR_INLINE vu32 to_u32(vf32 x)
{
	vu32 large = (vu32)(x >= 0x1p31f);
	vf32 rest = (vf32)select_lanes(large, (vu32)(x - 0x1p31f), (vu32)x);
	vu32 result = (vu32)TSR_VF_(cvtps_epi32)((tsr_ps)rest) ^ (large & 0x80000000);

	return (result | (vu32)(x >= 0x1p32f)) & (vu32)(x > 0);
}

TSR_ALU_OP(run_to_s32, 1, to_s32((vf32)a))
TSR_ALU_OP(run_to_u32, 1, to_u32((vf32)a))
#ifdef TSR_INTEGRAL
TSR_ALU_OP(run_to_s32_up, 1, to_s32(TSR_INTEGRAL(a, _MM_FROUND_TO_POS_INF)))
TSR_ALU_OP(run_to_s32_down, 1, to_s32(TSR_INTEGRAL(a, _MM_FROUND_TO_NEG_INF)))
TSR_ALU_OP(run_to_s32_zero, 1, to_s32(TSR_INTEGRAL(a, _MM_FROUND_TO_ZERO)))
TSR_ALU_OP(run_to_u32_up, 1, to_u32(TSR_INTEGRAL(a, _MM_FROUND_TO_POS_INF)))
TSR_ALU_OP(run_to_u32_down, 1, to_u32(TSR_INTEGRAL(a, _MM_FROUND_TO_NEG_INF)))
TSR_ALU_OP(run_to_u32_zero, 1, to_u32(TSR_INTEGRAL(a, _MM_FROUND_TO_ZERO)))
TSR_ALU_OP(run_round, 1, canonical(TSR_INTEGRAL(TSR_WIDE(0, a), _MM_FROUND_TO_NEAREST_INT)))
TSR_ALU_OP(run_round_up, 1, canonical(TSR_INTEGRAL(TSR_WIDE(0, a), _MM_FROUND_TO_POS_INF)))
TSR_ALU_OP(run_round_down, 1, canonical(TSR_INTEGRAL(TSR_WIDE(0, a), _MM_FROUND_TO_NEG_INF)))
TSR_ALU_OP(run_round_zero, 1, canonical(TSR_INTEGRAL(TSR_WIDE(0, a), _MM_FROUND_TO_ZERO)))
#endif

/* By rounding; NULL is left to float_ops.h. */
static bool select_rounding(struct tsr_uop *uop, tsr_uop_fn *const fns[])
{
	unsigned int round = uop->insn->mod[TSR_MOD_ROUND];

	uop->fn = round <= TSR_ROUND_RTZ ? fns[round] : NULL;
	return uop->fn;
}

static bool select_to_int(struct tsr_uop *uop)
{
	static tsr_uop_fn *const fns[2][4] = {
#ifdef TSR_INTEGRAL
		{ run_to_u32, run_to_u32_up, run_to_u32_down, run_to_u32_zero },
		{ run_to_s32, run_to_s32_up, run_to_s32_down, run_to_s32_zero },
#else
		{ run_to_u32 },
		{ run_to_s32 },
#endif
	};

	return select_rounding(uop, fns[uop->insn->op == TSR_OP_ADD_F32_TO_S32]);
}

static bool select_round(struct tsr_uop *uop)
{
#ifdef TSR_INTEGRAL
	static tsr_uop_fn *const fns[4] = { run_round, run_round_up, run_round_down,
					    run_round_zero };

	/* results are whole: only a source can be subnormal */
	if (rare_mode(uop))
		return false;
	decode_signs(uop, 1, 0x80000000);
	uop->param[0] = uop->insn->mod[TSR_MOD_WIDEN0];
	uop->param[2] = uop->mode.ftz == TSR_FTZ_ALWAYS;
	return select_rounding(uop, fns);
#else
	(void)uop;
	return false;
#endif
}

/* --- from integers --- */

TSR_INLINE vf32 from_s32(vu32 x)
{
	return (vf32)TSR_VF_(cvtepi32_ps)((tsr_si)x);
}

/* The sum of two exact parts is rounded once. */
TSR_INLINE vf32 from_u32(vu32 x)
{
	return from_s32(x >> 16) * 65536.0f + from_s32(x & 0xffff);
}

TSR_ALU_OP(run_from_s32, 1, from_s32(a))
TSR_ALU_OP(run_from_u32, 1, from_u32(a))
/* Parts: shifted left by param[0], so that they are at the top, then right by param[1]. */
TSR_ALU_OP(run_from_part, 1, from_s32(a << k.param[0] >> k.param[1]))
TSR_ALU_OP(run_from_signed_part, 1, from_s32((vu32)((vs32)(a << k.param[0]) >> k.param[1])))

static bool select_from_int(struct tsr_uop *uop)
{
	return use_rounded(uop,
			   uop->insn->op == TSR_OP_ADD_S32_TO_F32 ? run_from_s32 : run_from_u32);
}

static bool select_from_part(struct tsr_uop *uop)
{
	unsigned int op = uop->insn->op, lane = uop->insn->mod[TSR_MOD_LANE0];
	bool half = op == TSR_OP_ADD_S16_TO_F32 || op == TSR_OP_ADD_U16_TO_F32;
	bool is_signed = op == TSR_OP_ADD_S16_TO_F32 || op == TSR_OP_ADD_S8_TO_F32;

	uop->param[0] = half ? (lane == TSR_LANE_H1 ? 0 : 16) : 24 - 8 * (lane - TSR_LANE_B0);
	uop->param[1] = half ? 16 : 24;
	uop->fn = is_signed ? run_from_signed_part : run_from_part;
	return true;
}

/* --- to and from 16-bit floats --- */

TSR_ALU_OP(run_widen, 1, canonical((vf32)TSR_SIGNS(0, widened(a, k.param[0], k.param[1]))))

static bool select_widen(struct tsr_uop *uop)
{
	if (rare_mode(uop))
		return false;
	decode_signs(uop, 1, 0x80000000);
	uop->param[0] = uop->insn->mod[TSR_MOD_LANE0] == TSR_LANE_H1 ? TSR_WIDEN_H1 : TSR_WIDEN_H0;
	uop->param[1] = uop->mode.ftz == TSR_FTZ_ALWAYS;
	uop->fn = run_widen;
	return true;
}
