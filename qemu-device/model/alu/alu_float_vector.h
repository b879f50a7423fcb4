/* SPDX-License-Identifier: MIT */
/*
 * Vectors of floats: what the floating-point templates share. A template, see alu_path.h; x86-64
 * only.
 *
 * The SIMD unit runs in the state of tsr_alu_enter(): it rounds to nearest even and flushes 32-bit
 * sources and results as the clause wants. It does not see 16-bit floats, whose flushing is done
 * here, and its NaNs are not ours.
 */

#include "alu_fma.h"

/* x with the NaN that all arithmetic returns in place of the NaNs it has */
TSR_INLINE vu32 canonical(vf32 x)
{
#if defined(TSR_ALU_AVX512)
	return (vu32)_mm512_mask_blend_epi32(_mm512_cmp_ps_mask((__m512)x, (__m512)x, _CMP_UNORD_Q),
					     (__m512i)x, (__m512i)tsr_splat(TSR_F32_NAN));
#elif defined(TSR_ALU_AVX2)
	return (vu32)_mm256_blendv_ps((__m256)x, (__m256)tsr_splat(TSR_F32_NAN),
				      _mm256_cmp_ps((__m256)x, (__m256)x, _CMP_UNORD_Q));
#else
	vu32 nan = (vu32)(x != x);

	return ((vu32)x & ~nan) | (nan & TSR_F32_NAN);
#endif
}

/*
 * The unit's maximum and minimum return the second operand when one is NaN or both are zeros: with
 * the bound there, NaN becomes the lower bound and -0 becomes +0, as clamps want.
 */
TSR_INLINE vf32 at_least(vf32 x, float bound)
{
	return (vf32)TSR_VF_(max_ps)((tsr_ps)x, TSR_VF_(set1_ps)(bound));
}

TSR_INLINE vf32 at_most(vf32 x, float bound)
{
	return (vf32)TSR_VF_(min_ps)((tsr_ps)x, TSR_VF_(set1_ps)(bound));
}

/* The ends of functions, by the clamp modifier. */
TSR_INLINE vu32 clamp_none(vf32 x)
{
	return canonical(x);
}

TSR_INLINE vu32 clamp_0_inf(vf32 x)
{
	return (vu32)at_least(x, 0);
}

TSR_INLINE vu32 clamp_m1_1(vf32 x)
{
	return (vu32)at_most(at_least(x, -1), 1);
}

TSR_INLINE vu32 clamp_0_1(vf32 x)
{
	return (vu32)at_most(at_least(x, 0), 1);
}

TSR_INLINE vu32 clamped(vf32 x, uint32_t clamp)
{
	switch (clamp) {
	case TSR_CLAMP_CLAMP_0_INF:
		return clamp_0_inf(x);
	case TSR_CLAMP_CLAMP_M1_1:
		return clamp_m1_1(x);
	case TSR_CLAMP_CLAMP_0_1:
		return clamp_0_1(x);
	default:
		return clamp_none(x);
	}
}

/* For bodies too long to stand in a function many times. */
#define TSR_OUT_OF_LINE static __attribute__((noinline, unused))

TSR_INLINE vu32 select_lanes(vu32 mask, vu32 yes, vu32 no)
{
	return no ^ ((yes ^ no) & mask);
}

/* True if all lanes are between @low and @high, and none is one of these; NaN is not. */
TSR_INLINE bool all_between(vf32 x, float low, float high)
{
#if defined(TSR_ALU_AVX512)
	__mmask16 above = _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(low), _CMP_GT_OQ);

	return _mm512_mask_cmp_ps_mask(above, (__m512)x, _mm512_set1_ps(high), _CMP_LT_OQ) ==
	       0xffff;
#else
	vs32 in = (x > low) & (x < high);
#if defined(TSR_ALU_AVX2)
	return _mm256_movemask_ps((__m256)in) == 0xff;
#else
	return _mm_movemask_ps((__m128)in) == 0xf;
#endif
#endif
}

#ifndef TSR_ALU_SSE2
/* a * b + c in double precision, rounded once; and c - a * b */
TSR_INLINE vf64 fused(vf64 a, vf64 b, vf64 c)
{
	return (vf64)TSR_VF_(fmadd_pd)((tsr_pd)a, (tsr_pd)b, (tsr_pd)c);
}

TSR_INLINE vf64 fused_less(vf64 a, vf64 b, vf64 c)
{
	return (vf64)TSR_VF_(fnmadd_pd)((tsr_pd)a, (tsr_pd)b, (tsr_pd)c);
}
#endif

/*
 * The 16-bit floats in the low halves of the lanes, exactly. Normal numbers get another exponent;
 * subnormal ones become 1.fraction * 2^-14, minus 2^-14; so no step meets a subnormal 32-bit float.
 * (When the unit rounds down, that makes -0.)
 */
TSR_INLINE vf32 widen_low(vu32 x)
{
	vu32 magnitude = (x & 0x7fff) << 13;
	vu32 exponent = magnitude & 0x0f800000;
	vu32 special = (vu32)(exponent == 0x0f800000);
	vu32 subnormal = (vu32)(exponent == 0);
	vu32 normal = magnitude + 0x38000000 + (special & 0x38000000);
	vu32 tiny = (vu32)((vf32)(magnitude + 0x38800000) - (vf32)tsr_splat(0x38800000));

	return (vf32)((select_lanes(subnormal, tiny, normal) & 0x7fffffff) | (x & 0x8000) << 16);
}

/* Source @n by the modifier @widen; @flush: 16-bit subnormals are zero. */
TSR_INLINE vu32 widened(vu32 x, uint32_t widen, uint32_t flush)
{
	if (widen == TSR_WIDEN_NONE)
		return x;
	x = widen == TSR_WIDEN_H1 ? x >> 16 : x & 0xffff;
	if (flush)
		x &= ~((vu32)((x & 0x7c00) == 0) & 0x7fff);
	return (vu32)widen_low(x);
}

/* Fill keep and flip from the modifiers of the first @sources sources; true if there is any. */
static bool decode_signs(struct tsr_uop *uop, unsigned int sources, uint32_t sign)
{
	bool any = false;

	for (unsigned int n = 0; n < sources; n++) {
		uop->keep[n] = uop->insn->mod[TSR_MOD_ABS0 + n] ? ~sign : ~0u;
		uop->flip[n] = uop->insn->mod[TSR_MOD_NEG0 + n] ? sign : 0;
		any |= uop->keep[n] != ~0u || uop->flip[n];
	}
	return any;
}

/* Modes no vector function knows. */
static bool rare_mode(const struct tsr_uop *uop)
{
	return uop->mode.suppress_inf || uop->mode.suppress_nan;
}

/* Run uop->inner in another rounding mode: param[3] holds the bits of the control register. */
static void run_rounded(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	unsigned int csr = _mm_getcsr();

	_mm_setcsr(csr | uop->param[3]);
	uop->inner(uop, state);
	_mm_setcsr(csr);
}

/*
 * Let @fn, which rounds to nearest even, round as the instruction wants; false if the unit has no
 * such mode.
 */
static bool use_rounded(struct tsr_uop *uop, tsr_uop_fn *fn)
{
	static const uint16_t bits[] = {
		[TSR_ROUND_RTP] = _MM_ROUND_UP,
		[TSR_ROUND_RTN] = _MM_ROUND_DOWN,
		[TSR_ROUND_RTZ] = _MM_ROUND_TOWARD_ZERO,
	};
	unsigned int round = uop->insn->mod[TSR_MOD_ROUND];

	uop->fn = fn;
	if (round == TSR_ROUND_NONE)
		return true;
	if (round > TSR_ROUND_RTZ)
		return false;
	uop->inner = fn;
	uop->fn = run_rounded;
	uop->param[3] = bits[round];
	return true;
}
