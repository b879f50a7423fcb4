/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic on pairs of 16-bit floats. A template, see alu_path.h; not for SSE2, which cannot
 * convert them.
 *
 * Everything is computed on 32-bit floats, rounded to odd where they would round, and rounded once
 * when it is narrowed. A vector of pairs becomes two vectors, in the order of memory.
 */
#ifndef TSR_ALU_SSE2

struct tsr_pairs {
	vf32 part[2];
};

TSR_INLINE struct tsr_pairs from_pairs(vu32 x)
{
#ifdef TSR_ALU_AVX512
	return (struct tsr_pairs){ { (vf32)_mm512_cvtph_ps(_mm512_castsi512_si256((__m512i)x)),
				     (vf32)_mm512_cvtph_ps(
					     _mm512_extracti64x4_epi64((__m512i)x, 1)) } };
#else
	return (struct tsr_pairs){ { (vf32)_mm256_cvtph_ps(_mm256_castsi256_si128((__m256i)x)),
				     (vf32)_mm256_cvtph_ps(
					     _mm256_extracti128_si256((__m256i)x, 1)) } };
#endif
}

TSR_INLINE vu32 to_pairs(struct tsr_pairs x)
{
#ifdef TSR_ALU_AVX512
	return (vu32)_mm512_inserti64x4(
		_mm512_castsi256_si512(
			_mm512_cvtps_ph((__m512)x.part[0], _MM_FROUND_TO_NEAREST_INT)),
		_mm512_cvtps_ph((__m512)x.part[1], _MM_FROUND_TO_NEAREST_INT), 1);
#else
	return (vu32)_mm256_inserti128_si256(
		_mm256_castsi128_si256(
			_mm256_cvtps_ph((__m256)x.part[0], _MM_FROUND_TO_NEAREST_INT)),
		_mm256_cvtps_ph((__m256)x.part[1], _MM_FROUND_TO_NEAREST_INT), 1);
#endif
}

/*
 * If results are flushed, a value becomes zero if it is below 2^-14 after rounding to 11 bits with
 * an unbounded exponent. These are values below 2^-14 - 2^-26, half way to the next smaller number.
 * @limit is this bound or 0.
 */
#define TSR_F16_TINY 0x387ff000u

TSR_INLINE vf32 flush_tiny(vf32 x, uint32_t limit)
{
	vu32 tiny = (vu32)((vf32)((vu32)x & 0x7fffffff) < (vf32)tsr_splat(limit));

	return (vf32)((vu32)x & ~(tiny & 0x7fffffff));
}

/* x * y is exact; the sum is rounded to odd, which add_to_odd() explains. */
TSR_INLINE vf32 multiply_add_to_odd(vf32 x, vf32 y, vf32 z)
{
	vf32 product = x * y;
	vf32 sum = product + z;
	vf32 part = sum - product;
	vf32 error = (product - (sum - part)) + (z - part);
	vs32 inexact = (error < 0) | (error > 0);
	vs32 even = ((vs32)sum & 1) - 1;
	vs32 step = (((vs32)error ^ (vs32)sum) >> 31) | 1;

	return (vf32)((vs32)sum + (step & inexact & even));
}

/*
 * Source @n: swizzled, flushed, signs. param[n] holds how far its words are shifted right for the
 * low half (byte 0) and for the high half (byte 1); param[3] the flushing of sources (bit 0), the
 * clamp (bits 1 and 2) and the limit of results.
 */
TSR_INLINE vu32 pair_source(vu32 x, unsigned int n, const struct tsr_alu_consts *k)
{
	uint32_t low = k->param[n] & 0xff, high = k->param[n] >> 8;

	x = (x >> low & 0xffff) | (x >> high) << 16;
	if (k->param[3] & 1)
		x &= ~((vu32)((vu16)(x & 0x7c007c00) == 0) & 0x7fff7fff);
	return (x & k->keep[n]) ^ k->flip[n];
}

TSR_INLINE vu32 pair_result(struct tsr_pairs x, const struct tsr_alu_consts *k)
{
	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++)
		x.part[i] = (vf32)clamped(flush_tiny(x.part[i], k->param[3] & ~7u),
					  k->param[3] >> 1 & 3);
	return to_pairs(x);
}

#define TSR_PAIR_OP(name, sources, expression) \
	TSR_OUT_OF_LINE vu32 name##_of(vu32 a, vu32 b, vu32 c, const struct tsr_alu_consts *k) \
	{ \
		struct tsr_pairs x = from_pairs(pair_source(a, 0, k)); \
		struct tsr_pairs y = from_pairs(pair_source(b, 1, k)); \
		struct tsr_pairs z = from_pairs((sources) > 2 ? pair_source(c, 2, k) \
							      : (vu32){ 0 }); \
\
		TSR_UNROLL \
		for (unsigned int i = 0; i < 2; i++) \
			z.part[i] = expression(x.part[i], y.part[i], z.part[i]); \
		return pair_result(z, k); \
	} \
	TSR_ALU_OP(name, sources, name##_of(a, b, c, &k))

/*
 * Sums of two have no more than 40 bits: what rounding to 24 does to them, rounding to 11 does not
 * show.
 */
#define TSR_PAIR_ADD(x, y, z) ((void)(z), (x) + (y))
#define TSR_PAIR_MIN(x, y, z) ((void)(z), smallest(x, y))
#define TSR_PAIR_MAX(x, y, z) ((void)(z), largest(x, y))

TSR_PAIR_OP(run_pair_fma, 3, multiply_add_to_odd)
TSR_PAIR_OP(run_pair_add, 2, TSR_PAIR_ADD)
TSR_PAIR_OP(run_pair_min, 2, TSR_PAIR_MIN)
TSR_PAIR_OP(run_pair_max, 2, TSR_PAIR_MAX)

/* Without any modifier or flushing. */
TSR_INLINE vu32 plain_pair_fma(vu32 a, vu32 b, vu32 c)
{
	struct tsr_pairs x = from_pairs(a), y = from_pairs(b), z = from_pairs(c);

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++)
		z.part[i] = (vf32)canonical(multiply_add_to_odd(x.part[i], y.part[i], z.part[i]));
	return to_pairs(z);
}

TSR_INLINE vu32 plain_pair_add(vu32 a, vu32 b)
{
	struct tsr_pairs x = from_pairs(a), y = from_pairs(b);

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++)
		x.part[i] = (vf32)canonical(x.part[i] + y.part[i]);
	return to_pairs(x);
}

TSR_ALU_OP(run_plain_pair_fma, 3, plain_pair_fma(a, b, c))
TSR_ALU_OP(run_plain_pair_add, 2, plain_pair_add(a, b))

static bool select_pair(struct tsr_uop *uop, unsigned int sources, tsr_uop_fn *fn,
			tsr_uop_fn *plain)
{
	const uint8_t *mod = uop->insn->mod;
	bool any = decode_signs(uop, sources, 0x80008000) || mod[TSR_MOD_CLAMP] ||
		   uop->mode.ftz >= TSR_FTZ_ALWAYS;

	if (rare_mode(uop) || mod[TSR_MOD_ROUND] != TSR_ROUND_NONE)
		return false;
	for (unsigned int n = 0; n < sources; n++) {
		unsigned int swizzle = mod[TSR_MOD_SWZ0 + n];

		uop->param[n] = 16 * (swizzle & 1) | 16 * (swizzle >> 1) << 8;
		any |= swizzle != TSR_SWZ_H01;
	}
	uop->param[3] = tsr_float_flush_in(&uop->mode, TSR_F16) | mod[TSR_MOD_CLAMP] << 1 |
			(tsr_float_flush_out(&uop->mode, TSR_F16) ? TSR_F16_TINY : 0);
	uop->fn = any || !plain ? fn : plain;
	return true;
}

static bool select_pair_fma(struct tsr_uop *uop)
{
	return select_pair(uop, 3, run_pair_fma, run_plain_pair_fma);
}

static bool select_pair_add(struct tsr_uop *uop)
{
	return select_pair(uop, 2, run_pair_add, run_plain_pair_add);
}

static bool select_pair_min_max(struct tsr_uop *uop)
{
	return uop->insn->mod[TSR_MOD_SEM] == TSR_SEM_NAN_SUPPRESS &&
	       select_pair(uop, 2,
			   uop->insn->op == TSR_OP_ADD_FMAX_V2F16 ? run_pair_max : run_pair_min,
			   NULL);
}

/* The lanes of @x as 16-bit floats in the low halves. */
TSR_INLINE vu32 narrow(vf32 x)
{
#ifdef TSR_ALU_AVX512
	return (vu32)_mm512_cvtepu16_epi32(_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT));
#else
	return (vu32)_mm256_cvtepu16_epi32(_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT));
#endif
}

TSR_OUT_OF_LINE vu32 narrow_both(vu32 a, vu32 b, const struct tsr_alu_consts *consts)
{
	const struct tsr_alu_consts k = *consts;
	vu32 low = clamped(flush_tiny((vf32)TSR_SIGNS(0, a), k.param[1]), k.param[0]);
	vu32 high = clamped(flush_tiny((vf32)TSR_SIGNS(1, b), k.param[1]), k.param[0]);

	return narrow((vf32)low) | narrow((vf32)high) << 16;
}

TSR_ALU_OP(run_narrow, 2, narrow_both(a, b, &k))

static bool select_narrow(struct tsr_uop *uop)
{
	if (rare_mode(uop) || uop->insn->mod[TSR_MOD_ROUND] != TSR_ROUND_NONE)
		return false;
	decode_signs(uop, 2, 0x80000000);
	uop->param[0] = uop->insn->mod[TSR_MOD_CLAMP];
	uop->param[1] = tsr_float_flush_out(&uop->mode, TSR_F16) ? TSR_F16_TINY : 0;
	uop->fn = run_narrow;
	return true;
}

#endif
