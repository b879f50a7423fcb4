/* SPDX-License-Identifier: MIT */
/*
 * Sums, products, minima and maxima of 32-bit floats. A template, see alu_path.h.
 */

/* One function for each clamp: plain sources, and sources with absolute values or negations. */
#define TSR_CLAMPED_OPS(name, sources, plain, signs) \
	TSR_ALU_OP(name##_none, sources, clamp_none(plain)) \
	TSR_ALU_OP(name##_0_inf, sources, clamp_0_inf(plain)) \
	TSR_ALU_OP(name##_m1_1, sources, clamp_m1_1(plain)) \
	TSR_ALU_OP(name##_0_1, sources, clamp_0_1(plain)) \
	TSR_ALU_OP(name##_signs_none, sources, clamp_none(signs)) \
	TSR_ALU_OP(name##_signs_0_inf, sources, clamp_0_inf(signs)) \
	TSR_ALU_OP(name##_signs_m1_1, sources, clamp_m1_1(signs)) \
	TSR_ALU_OP(name##_signs_0_1, sources, clamp_0_1(signs)) \
	static tsr_uop_fn *const name##_fns[2][4] = { \
		{ name##_none, name##_0_inf, name##_m1_1, name##_0_1 }, \
		{ name##_signs_none, name##_signs_0_inf, name##_signs_m1_1, name##_signs_0_1 }, \
	};

#define TSR_F(x) ((vf32)(x))
#define TSR_SF(n, x) ((vf32)TSR_SIGNS(n, x))

TSR_CLAMPED_OPS(run_fma, 3, multiply_add(TSR_F(a), TSR_F(b), TSR_F(c)),
		multiply_add(TSR_SF(0, a), TSR_SF(1, b), TSR_SF(2, c)))
TSR_CLAMPED_OPS(run_add, 2, TSR_F(a) + TSR_F(b), TSR_SF(0, a) + TSR_SF(1, b))

/* Source @n of 0 and 1, widened as param[n] says, then with its sign. */
#define TSR_WIDE(n, x) TSR_SF(n, widened(x, k.param[n], k.param[2] & 1))

/* param[2]: bit 0 flushes 16-bit sources, the bits above are the clamp */
TSR_OUT_OF_LINE vu32 fma_wide(vu32 a, vu32 b, vu32 c, const struct tsr_alu_consts *consts)
{
	const struct tsr_alu_consts k = *consts;

	return clamped(multiply_add(TSR_WIDE(0, a), TSR_WIDE(1, b), TSR_SF(2, c)), k.param[2] >> 1);
}

TSR_OUT_OF_LINE vu32 add_wide(vu32 a, vu32 b, const struct tsr_alu_consts *consts)
{
	const struct tsr_alu_consts k = *consts;

	return clamped(TSR_WIDE(0, a) + TSR_WIDE(1, b), k.param[2] >> 1);
}

TSR_ALU_OP(run_fma_wide, 3, fma_wide(a, b, c, &k))
TSR_ALU_OP(run_add_wide, 2, add_wide(a, b, &k))

static bool select_arith(struct tsr_uop *uop, unsigned int sources, tsr_uop_fn *const fns[2][4],
			 tsr_uop_fn *wide)
{
	const uint8_t *mod = uop->insn->mod;
	bool signs = decode_signs(uop, sources, 0x80000000);

	if (rare_mode(uop))
		return false;
	uop->param[0] = mod[TSR_MOD_WIDEN0];
	uop->param[1] = mod[TSR_MOD_WIDEN1];
	uop->param[2] = mod[TSR_MOD_CLAMP] << 1 | (uop->mode.ftz == TSR_FTZ_ALWAYS);
	return use_rounded(uop,
			   uop->param[0] || uop->param[1] ? wide : fns[signs][mod[TSR_MOD_CLAMP]]);
}

static bool select_fma(struct tsr_uop *uop)
{
#ifdef TSR_ALU_SSE2
	/* multiply_add() needs the unit to round to nearest even */
	if (uop->insn->mod[TSR_MOD_ROUND] != TSR_ROUND_NONE)
		return false;
#endif
	return select_arith(uop, 3, run_fma_fns, run_fma_wide);
}

static bool select_add(struct tsr_uop *uop)
{
	return select_arith(uop, 2, run_add_fns, run_add_wide);
}

/*
 * A source as the unit would take it: its own comparisons and copies need not flush. @one is 1.0,
 * and may not be folded.
 */
TSR_INLINE vf32 flushed(vu32 x, uint32_t one)
{
	return one ? (vf32)x * (vf32)tsr_splat(one) : (vf32)x;
}

/* The other operand of a NaN, and -0 < +0. */
TSR_INLINE vf32 largest(vf32 a, vf32 b)
{
	vu32 m = (vu32)TSR_VF_(max_ps)((tsr_ps)a, (tsr_ps)b);

	m = select_lanes((vu32)(b != b), (vu32)a, m);
	return (vf32)select_lanes((vu32)(a == b), (vu32)a & (vu32)b, m);
}

TSR_INLINE vf32 smallest(vf32 a, vf32 b)
{
	vu32 m = (vu32)TSR_VF_(min_ps)((tsr_ps)a, (tsr_ps)b);

	m = select_lanes((vu32)(b != b), (vu32)a, m);
	return (vf32)select_lanes((vu32)(a == b), (vu32)a | (vu32)b, m);
}

/* NaN if one is. */
TSR_INLINE vf32 with_nan(vf32 a, vf32 b, vf32 result)
{
	return (vf32)((vu32)result | (vu32)(a != a) | (vu32)(b != b));
}

#define TSR_MIN_MAX_OP(name, expression) \
	TSR_INLINE vf32 name##_of(vf32 x, vf32 y) \
	{ \
		return (expression); \
	} \
	TSR_ALU_OP(name, 2, \
		   clamped(name##_of(flushed(TSR_SIGNS(0, a), k.param[1]), \
				     flushed(TSR_SIGNS(1, b), k.param[1])), \
			   k.param[0]))

TSR_MIN_MAX_OP(run_max, largest(x, y))
TSR_MIN_MAX_OP(run_max_nan, with_nan(x, y, largest(x, y)))
TSR_MIN_MAX_OP(run_max_c, (vf32)select_lanes((vu32)(x > y), (vu32)x, (vu32)y))
TSR_MIN_MAX_OP(run_max_inverse_c, (vf32)select_lanes((vu32)(x < y), (vu32)y, (vu32)x))
TSR_MIN_MAX_OP(run_min, smallest(x, y))
TSR_MIN_MAX_OP(run_min_nan, with_nan(x, y, smallest(x, y)))
TSR_MIN_MAX_OP(run_min_c, (vf32)select_lanes((vu32)(x < y), (vu32)x, (vu32)y))
TSR_MIN_MAX_OP(run_min_inverse_c, (vf32)select_lanes((vu32)(x > y), (vu32)y, (vu32)x))

static bool select_min_max(struct tsr_uop *uop)
{
	static tsr_uop_fn *const fns[2][4] = {
		{ run_min, run_min_nan, run_min_c, run_min_inverse_c },
		{ run_max, run_max_nan, run_max_c, run_max_inverse_c },
	};

	/* a result that is flushed although its source was not needs more than a comparison */
	if (rare_mode(uop) || uop->mode.ftz == TSR_FTZ_ABRUPT)
		return false;
	decode_signs(uop, 2, 0x80000000);
	uop->param[0] = uop->insn->mod[TSR_MOD_CLAMP];
	uop->param[1] = uop->mode.ftz == TSR_FTZ_OFF ? 0 : TSR_F32_ONE;
	uop->fn = fns[uop->insn->op == TSR_OP_ADD_FMAX_F32][uop->insn->mod[TSR_MOD_SEM]];
	return true;
}
