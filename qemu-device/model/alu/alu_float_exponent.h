/* SPDX-License-Identifier: MIT */
/*
 * Scaling by powers of two, mantissas and exponents, exponentials and logarithms. A template, see
 * alu_path.h.
 *
 * In double precision nothing a 32-bit float can hold is subnormal, and a sum rounded to odd and
 * then scaled is rounded once when it becomes a 32-bit float again.
 */

/* 2^x for whole x, cut to what changes anything: |x| <= 600. */
TSR_INLINE vf64 power_of_two(vf64 x)
{
	const vf64 limit = (vf64){ 0 } + 600.0;

	x = (vf64)TSR_VF_(min_pd)((tsr_pd)x, (tsr_pd)limit);
	x = (vf64)TSR_VF_(max_pd)((tsr_pd)x, (tsr_pd)-limit);
	/*
	 * the exponent with its bias in the last bits of a number from 2^52 up, then in its place
	 */
	return (vf64)((vs64)(x + (0x1p52 + 1023)) << 52);
}

TSR_INLINE vf32 scaled(struct tsr_doubles x, vu32 scale)
{
	struct tsr_doubles n = ints_to_doubles((vs32)scale);

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++)
		x.part[i] *= power_of_two(n.part[i]);
	return to_floats(x);
}

/* True if all lanes are zeros, of any sign. */
TSR_INLINE bool all_zero(vu32 x)
{
#if defined(TSR_ALU_AVX512)
	return !_mm512_test_epi32_mask((__m512i)x, (__m512i)tsr_splat(0x7fffffff));
#elif defined(TSR_ALU_AVX2)
	return _mm256_testz_si256((__m256i)x, (__m256i)tsr_splat(0x7fffffff));
#else
	return _mm_movemask_epi8((__m128i)((x & 0x7fffffff) == 0)) == 0xffff;
#endif
}

TSR_OUT_OF_LINE vu32 multiply_add_scale(vu32 a, vu32 b, vu32 c, vu32 d,
					const struct tsr_alu_consts *consts)
{
	const struct tsr_alu_consts k = *consts;
	struct tsr_doubles x = to_doubles(TSR_SF(0, a)), y = to_doubles(TSR_SF(1, b)),
			   z = to_doubles(TSR_SF(2, c));

	if (all_zero(c)) {
		/* the product of two floats is exact, and a zero makes its sign */
		TSR_UNROLL
		for (unsigned int i = 0; i < 2; i++)
			z.part[i] = x.part[i] * y.part[i] + z.part[i];
		return clamped(scaled(z, d), k.param[0]);
	}
	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++)
		z.part[i] = add_to_odd(x.part[i] * y.part[i], z.part[i]);
	return clamped(scaled(z, d), k.param[0]);
}

TSR_OUT_OF_LINE vu32 add_scale(vu32 a, vu32 b, vu32 c, const struct tsr_alu_consts *consts)
{
	const struct tsr_alu_consts k = *consts;
	struct tsr_doubles x = to_doubles(TSR_SF(0, a)), y = to_doubles(TSR_SF(1, b));

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++)
		x.part[i] = add_to_odd(x.part[i], y.part[i]);
	return clamped(scaled(x, c), k.param[0]);
}

TSR_OUT_OF_LINE vu32 load_exponent(vu32 a, vu32 b)
{
	return canonical(scaled(to_doubles((vf32)a), b));
}

TSR_ALU_OP(run_fma_rscale, 4, multiply_add_scale(a, b, c, d, &k))
TSR_ALU_OP(run_add_rscale, 3, add_scale(a, b, c, &k))
TSR_ALU_OP(run_ldexp, 2, load_exponent(a, b))

static bool select_scaled(struct tsr_uop *uop, unsigned int sources, tsr_uop_fn *fn)
{
	const uint8_t *mod = uop->insn->mod;

	if (rare_mode(uop) || mod[TSR_MOD_SPECIAL] || mod[TSR_MOD_ROUND])
		return false;
	decode_signs(uop, sources, 0x80000000);
	uop->param[0] = mod[TSR_MOD_CLAMP];
	uop->fn = fn;
	return true;
}

static bool select_fma_rscale(struct tsr_uop *uop)
{
	return select_scaled(uop, 3, run_fma_rscale);
}

static bool select_add_rscale(struct tsr_uop *uop)
{
	return select_scaled(uop, 2, run_add_rscale);
}

static bool select_ldexp(struct tsr_uop *uop)
{
	return select_scaled(uop, 0, run_ldexp);
}

/* --- splitting --- */

/* A float with its exponent; special: zero, infinity or NaN, which are not split. */
struct tsr_split {
	vu32 bits; /* normal, or special; flushed as the unit does it */
	vu32 exponent; /* floor(log2(|x|)) */
	vu32 special; /* mask */
};

TSR_INLINE struct tsr_split split(vf32 x)
{
	vu32 tiny = (vu32)(((vu32)x & 0x7f800000) == 0);
	struct tsr_split s = { .bits = select_lanes(tiny, (vu32)(x * 0x1p24f), (vu32)x) };
	vu32 biased = s.bits >> 23 & 0xff;

	s.exponent = biased - 127 - (tiny & 24);
	s.special = (vu32)(biased == 255) | (vu32)(biased == 0);
	return s;
}

/* The mantissa with @biased as its exponent, or what cannot be split. */
TSR_INLINE vf32 mantissa(struct tsr_split s, vu32 biased)
{
	return (vf32)select_lanes(s.special, s.bits, (s.bits & 0x807fffff) | biased << 23);
}

/* In [0.75, 1.5): from 1.5 up it is halved. */
TSR_INLINE vf32 log_mantissa(struct tsr_split s)
{
	return mantissa(s, 127 - (s.bits >> 22 & 1));
}

TSR_INLINE vu32 frexp_mantissa(vf32 x, uint32_t kind)
{
	struct tsr_split s = split(x);

	switch (kind) {
	case TSR_FREXP_LOG:
		return canonical(log_mantissa(s));
	case TSR_FREXP_SQRT:
		return canonical(mantissa(s, 125 + (s.exponent & 1)));
	default:
		return canonical(mantissa(s, tsr_splat(126)));
	}
}

/* Negated where @negate is all ones. */
TSR_INLINE vu32 frexp_exponent(vf32 x, uint32_t kind, uint32_t negate)
{
	struct tsr_split s = split(x);
	vu32 e = s.exponent;

	switch (kind) {
	case TSR_FREXP_LOG:
		e += s.bits >> 22 & 1;
		break;
	case TSR_FREXP_SQRT:
		e = (vu32)((vs32)(e + 2) >> 1);
		break;
	default:
		e += 1;
	}
	return ((e ^ negate) - negate) & ~s.special;
}

TSR_OUT_OF_LINE vu32 split_off_mantissa(vu32 a, const struct tsr_alu_consts *consts)
{
	const struct tsr_alu_consts k = *consts;

	return frexp_mantissa(TSR_WIDE(0, a), k.param[1]);
}

TSR_OUT_OF_LINE vu32 split_off_exponent(vu32 a, const struct tsr_alu_consts *consts)
{
	const struct tsr_alu_consts k = *consts;

	return frexp_exponent((vf32)widened(a, k.param[0], k.param[2] & 1), k.param[1], k.param[3]);
}

TSR_ALU_OP(run_frexpm, 1, split_off_mantissa(a, &k))
TSR_ALU_OP(run_frexpe, 1, split_off_exponent(a, &k))
TSR_ALU_OP(run_add_lscale, 2, canonical(TSR_SF(0, a) + log_mantissa(split(TSR_SF(1, b)))))

static bool select_frexp(struct tsr_uop *uop, tsr_uop_fn *fn)
{
	const uint8_t *mod = uop->insn->mod;

	/* mantissas that stay subnormal: only NaN and infinities are like that */
	if (rare_mode(uop))
		return false;
	decode_signs(uop, 1, 0x80000000);
	uop->param[0] = mod[TSR_MOD_WIDEN0];
	uop->param[1] = mod[TSR_MOD_LOG]    ? TSR_FREXP_LOG
			: mod[TSR_MOD_SQRT] ? TSR_FREXP_SQRT
					    : TSR_FREXP;
	uop->param[2] = uop->mode.ftz == TSR_FTZ_ALWAYS;
	uop->param[3] = mod[TSR_MOD_NEG0] ? ~0u : 0;
	uop->fn = fn;
	return true;
}

static bool select_frexpm(struct tsr_uop *uop)
{
	return select_frexp(uop, run_frexpm);
}

static bool select_frexpe(struct tsr_uop *uop)
{
	return select_frexp(uop, run_frexpe);
}

static bool select_add_lscale(struct tsr_uop *uop)
{
	if (rare_mode(uop))
		return false;
	decode_signs(uop, 2, 0x80000000);
	uop->fn = run_add_lscale;
	return true;
}

/* --- exponentials and logarithms: the same steps as in float_special.c --- */

/* The sums of @c[i] * x^i for both parts. */
TSR_INLINE struct tsr_doubles series(const double *c, unsigned int terms, struct tsr_doubles x)
{
	struct tsr_doubles square, even = { { { 0 } } }, odd = { { { 0 } } };

	TSR_UNROLL
	for (unsigned int part = 0; part < 2; part++)
		square.part[part] = x.part[part] * x.part[part];
	TSR_UNROLL
	for (unsigned int i = terms; i > 0; i -= 2) {
		TSR_UNROLL
		for (unsigned int part = 0; part < 2; part++) {
			odd.part[part] = odd.part[part] * square.part[part] + c[i - 1];
			even.part[part] = even.part[part] * square.part[part] + c[i - 2];
		}
	}
	TSR_UNROLL
	for (unsigned int part = 0; part < 2; part++)
		x.part[part] = odd.part[part] * x.part[part] + even.part[part];
	return x;
}

/* 2^x for |x| up to 600 and a multiple of 2^-24. */
TSR_INLINE struct tsr_doubles exp2_of(struct tsr_doubles x)
{
	const vf64 magic = (vf64){ 0 } + 0x1.8p52;
	vf64 whole[2];

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		/* the nearest whole number, halves upwards */
		whole[i] = x.part[i] + 0x1p-26 + magic - magic;
		x.part[i] -= whole[i];
	}
	x = series(tsr_float_exp2_series, TSR_EXP2_TERMS, x);
	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++)
		x.part[i] *= power_of_two(whole[i]);
	return x;
}

#ifndef TSR_ALU_SSE2

/* Entries of a table of 16 doubles, by the last bits of @n. */
TSR_INLINE vf64 look_up_step(vs64 n)
{
#ifdef TSR_ALU_AVX512
	return (vf64)_mm512_permutex2var_pd(_mm512_loadu_pd(tsr_float_exp2_steps), (__m512i)n,
					    _mm512_loadu_pd(tsr_float_exp2_steps + 8));
#else
	return (vf64)_mm256_i64gather_pd(tsr_float_exp2_steps, (__m256i)(n & 15), 8);
#endif
}

/* x * 2^(n / 16), rounded down, for a normal result. */
TSR_INLINE vf64 scaled_by_steps(vf64 x, vs64 n)
{
	return (vf64)((vs64)x + (n >> 4 << 52));
}

/*
 * 2^x in steps of 1/16 and a series for the rest, which is at most 1/32. The bits of a float are
 * those of the reference: all numbers have been tried (tests/numeric/float_special.c).
 */
TSR_INLINE vu32 exp2_steps(vu32 a)
{
	const double *c = tsr_float_exp2_series;
	const vf64 magic = (vf64){ 0 } + 0x1.8p48;
	struct tsr_doubles x = ints_to_doubles((vs32)a);

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		vf64 steps = fused(x.part[i], (vf64){ 0 } + 0x1p-24, magic);
		vf64 rest = fused(x.part[i], (vf64){ 0 } + 0x1p-24, magic - steps);
		vf64 y = (vf64){ 0 } + c[6];

		TSR_UNROLL
		for (unsigned int term = 6; term > 0; term--)
			y = fused(y, rest, (vf64){ 0 } + c[term - 1]);
		y *= look_up_step((vs64)steps);
		x.part[i] = scaled_by_steps(y, (vs64)steps);
	}
	return (vu32)to_floats(x);
}

#endif

TSR_OUT_OF_LINE vu32 exp2_fixed(vu32 a, vu32 b)
{
	vf32 wide = (vf32)b;
	struct tsr_doubles x = ints_to_doubles((vs32)a), y;
	vu32 result;

#ifndef TSR_ALU_SSE2
	if (all_between(wide, -0x1p31f, 0x1p31f))
		return exp2_steps(a);
#endif
	/* below -128 b counts, which is -256 at least: 2^-256 is 0 */
	y = to_doubles((vf32)TSR_VF_(max_ps)((tsr_ps)wide, TSR_VF_(set1_ps)(-0x1p32f)));
	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		vs64 beyond = y.part[i] <= -0x1p31;

		x.part[i] = (vf64)(((vs64)x.part[i] & ~beyond) | ((vs64)y.part[i] & beyond));
		x.part[i] *= 0x1p-24;
	}
	x = exp2_of(x);
	result = select_lanes((vu32)(wide >= 0x1p31f), tsr_splat(TSR_F32_INF), (vu32)to_floats(x));
	return select_lanes((vu32)(wide != wide), tsr_splat(TSR_F32_NAN), result);
}

/*
 * 2 / ln 2 * atanh(s) / d with s = d / (2 + d) for the d of @x, as in float_special.c; where
 * products can be added exactly, with one division. The bits of a float are the same.
 */
TSR_INLINE struct tsr_doubles slope_of(struct tsr_doubles x)
{
#ifdef TSR_ALU_SSE2
	struct tsr_doubles square;
	vf64 inverse[2];

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		vf64 d = x.part[i] - 1.0, t = d / (2.0 + d);

		square.part[i] = t * t;
		inverse[i] = TSR_TWO_OVER_LN2 / (2.0 + d);
	}
	x = series(tsr_float_log2_series, TSR_LOG2_TERMS, square);
	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++)
		x.part[i] = inverse[i] * x.part[i];
#else
	const double *c = tsr_float_log2_series;

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		vf64 d = x.part[i] - 1.0, inverse = 1.0 / (2.0 + d), t = d * inverse;
		vf64 square = t * t, fourth = square * square;
		vf64 even = (vf64){ 0 } + c[TSR_LOG2_TERMS - 2];
		vf64 odd = (vf64){ 0 } + c[TSR_LOG2_TERMS - 1];

		TSR_UNROLL
		for (unsigned int term = TSR_LOG2_TERMS - 2; term > 0; term -= 2) {
			even = fused(even, fourth, (vf64){ 0 } + c[term - 2]);
			odd = fused(odd, fourth, (vf64){ 0 } + c[term - 1]);
		}
		x.part[i] = inverse * TSR_TWO_OVER_LN2 * fused(odd, square, even);
	}
#endif
	return x;
}

TSR_OUT_OF_LINE vu32 log2_slope(vu32 a)
{
	struct tsr_split s = split((vf32)a);
	struct tsr_doubles x = slope_of(to_doubles(log_mantissa(s)));
	vu32 wrong, result;

	/*
	 * zeros and +inf give +inf; numbers below zero and NaN, which are not 0 or more, give NaN
	 */
	result = select_lanes(s.special, tsr_splat(TSR_F32_INF), (vu32)to_floats(x));
	wrong = ~(vu32)((vf32)s.bits >= 0.0f);
	return select_lanes(wrong, tsr_splat(TSR_F32_NAN), result);
}

TSR_ALU_OP(run_exp, 2, exp2_fixed(a, b))
TSR_ALU_OP(run_logd, 1, log2_slope(a))

static bool select_exp(struct tsr_uop *uop)
{
	uop->fn = run_exp;
	return !rare_mode(uop);
}

static bool select_logd(struct tsr_uop *uop)
{
	uop->fn = run_logd;
	return !rare_mode(uop);
}

/* --- tables --- */

#ifndef TSR_ALU_SSE2

TSR_INLINE vu32 lookup_table(const uint32_t *table, vu32 index)
{
#ifdef TSR_ALU_AVX512
	return (vu32)_mm512_i32gather_epi32((__m512i)index, table, 4);
#else
	return (vu32)_mm256_i32gather_epi32((const int *)table, (__m256i)index, 4);
#endif
}

/* 6-bit indices into the table, which is four vectors of 16. */
TSR_INLINE vu32 lookup_sine(vu32 index)
{
#ifdef TSR_ALU_AVX512
	const __m512i *table = (const __m512i *)tsr_float_sines;
	__m512i low = _mm512_permutex2var_epi32(_mm512_loadu_si512(table), (__m512i)index,
						_mm512_loadu_si512(table + 1));
	__m512i high = _mm512_permutex2var_epi32(_mm512_loadu_si512(table + 2), (__m512i)index,
						 _mm512_loadu_si512(table + 3));
	__mmask16 upper = _mm512_test_epi32_mask((__m512i)index, _mm512_set1_epi32(32));

	return (vu32)_mm512_mask_blend_epi32(upper, low, high);
#else
	return lookup_table(tsr_float_sines, index);
#endif
}

TSR_ALU_OP(run_sine, 1, lookup_sine((a + k.param[0]) & 63))
TSR_ALU_OP(run_exp_table, 1, lookup_table(tsr_float_exponentials, a & 15))

static bool select_sine(struct tsr_uop *uop)
{
	uop->param[0] = uop->insn->op == TSR_OP_ADD_FCOS_TABLE_U6 ? 16 : 0;
	uop->fn = run_sine;
	return tsr_float_defined(uop->insn);
}

static bool select_exp_table(struct tsr_uop *uop)
{
	uop->fn = run_exp_table;
	return tsr_float_defined(uop->insn);
}

#endif
