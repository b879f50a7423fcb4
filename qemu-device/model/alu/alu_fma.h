/* SPDX-License-Identifier: MIT */
/*
 * Vectors of doubles, and multiply-add of floats that is rounded once. A template, see alu_path.h;
 * x86-64 only.
 */
#ifndef TSR_SHADER_ALU_FMA_H
#define TSR_SHADER_ALU_FMA_H

#if defined(TSR_ALU_AVX512)
#define TSR_VF_(name) _mm512_##name
typedef __m512 tsr_ps;
typedef __m512d tsr_pd;
typedef __m512i tsr_si;
#elif defined(TSR_ALU_AVX2)
#define TSR_VF_(name) _mm256_##name
typedef __m256 tsr_ps;
typedef __m256d tsr_pd;
typedef __m256i tsr_si;
#else
#define TSR_VF_(name) _mm_##name
typedef __m128 tsr_ps;
typedef __m128d tsr_pd;
typedef __m128i tsr_si;
#endif

/* Two vectors of doubles: the lower half of the lanes and the upper. */
struct tsr_doubles {
	vf64 part[2];
};

TSR_INLINE struct tsr_doubles to_doubles(vf32 x)
{
#if defined(TSR_ALU_AVX512)
	return (struct tsr_doubles){ { (vf64)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x)),
				       (vf64)_mm512_cvtps_pd(
					       _mm512_extractf32x8_ps((__m512)x, 1)) } };
#elif defined(TSR_ALU_AVX2)
	return (struct tsr_doubles){ { (vf64)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x)),
				       (vf64)_mm256_cvtps_pd(
					       _mm256_extractf128_ps((__m256)x, 1)) } };
#else
	return (struct tsr_doubles){ { (vf64)_mm_cvtps_pd((__m128)x),
				       (vf64)_mm_cvtps_pd(_mm_movehl_ps((__m128)x, (__m128)x)) } };
#endif
}

/* Exact. */
TSR_INLINE struct tsr_doubles ints_to_doubles(vs32 x)
{
#if defined(TSR_ALU_AVX512)
	return (struct tsr_doubles){ { (vf64)_mm512_cvtepi32_pd(_mm512_castsi512_si256((__m512i)x)),
				       (vf64)_mm512_cvtepi32_pd(
					       _mm512_extracti64x4_epi64((__m512i)x, 1)) } };
#elif defined(TSR_ALU_AVX2)
	return (struct tsr_doubles){ { (vf64)_mm256_cvtepi32_pd(_mm256_castsi256_si128((__m256i)x)),
				       (vf64)_mm256_cvtepi32_pd(
					       _mm256_extracti128_si256((__m256i)x, 1)) } };
#else
	return (struct tsr_doubles){ { (vf64)_mm_cvtepi32_pd((__m128i)x),
				       (vf64)_mm_cvtepi32_pd(
					       _mm_unpackhi_epi64((__m128i)x, (__m128i)x)) } };
#endif
}

TSR_INLINE vf32 to_floats(struct tsr_doubles x)
{
#if defined(TSR_ALU_AVX512)
	return (vf32)_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)x.part[0])),
					_mm512_cvtpd_ps((__m512d)x.part[1]), 1);
#elif defined(TSR_ALU_AVX2)
	return (vf32)_mm256_insertf128_ps(
		_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)x.part[0])),
		_mm256_cvtpd_ps((__m256d)x.part[1]), 1);
#else
	return (vf32)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)x.part[0]),
				   _mm_cvtpd_ps((__m128d)x.part[1]));
#endif
}

/*
 * x + y rounded to odd: the nearest double that has its last bit set, unless the sum is exact.
 * Rounded once more to at most 51 bits it gives what the exact sum gives. Nothing overflows here;
 * NaN and infinities pass.
 */
TSR_INLINE vf64 add_to_odd(vf64 x, vf64 y)
{
	vf64 sum = x + y;
	vf64 part = sum - x;
	vf64 error = (x - (sum - part)) + (y - part);
	vs64 inexact = (error < 0) | (error > 0);
	vs64 even = ((vs64)sum & 1) - 1;
	/* one unit away from zero if the error has the sign of the sum, else towards it */
	vs64 step = (((vs64)error ^ (vs64)sum) >> 63) | 1;

	return (vf64)((vs64)sum + (step & inexact & even));
}

/* a * b + c, rounded once */
#ifdef TSR_ALU_SSE2
static __attribute__((noinline, unused)) vf32 multiply_add(vf32 a, vf32 b, vf32 c)
{
	struct tsr_doubles x = to_doubles(a), y = to_doubles(b), z = to_doubles(c);

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++)
		z.part[i] = add_to_odd(x.part[i] * y.part[i], z.part[i]);
	return to_floats(z);
}
#else
TSR_INLINE vf32 multiply_add(vf32 a, vf32 b, vf32 c)
{
	return (vf32)TSR_VF_(fmadd_ps)((tsr_ps)a, (tsr_ps)b, (tsr_ps)c);
}
#endif

#endif
