/* SPDX-License-Identifier: MIT */
/*
 * Four words of each lane, which lie one after the other, to four vectors of all lanes and back:
 * on one SIMD path, see alu_path.h.
 */
#ifndef TSR_SHADER_ALU_ROWS_H
#define TSR_SHADER_ALU_ROWS_H

/* Four floats, of any path. */
typedef float four __attribute__((vector_size(16)));
typedef float four_in_memory __attribute__((vector_size(16), may_alias, aligned(4)));

/* The elements of two vectors that the numbers name. */
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

typedef uint32_t tsr_quad __attribute__((vector_size(16)));
typedef uint32_t tsr_quad_in_memory __attribute__((vector_size(16), aligned(4), may_alias));

#if defined(TSR_ALU_AVX512)
#define INTERLEAVE(bits, half, a, b) \
	((vu32)_mm512_unpack##half##_epi##bits((__m512i)(a), (__m512i)(b)))
#elif defined(TSR_ALU_AVX2)
#define INTERLEAVE(bits, half, a, b) \
	((vu32)_mm256_unpack##half##_epi##bits((__m256i)(a), (__m256i)(b)))
#else
#define INTERLEAVE(bits, half, a, b) \
	__builtin_shufflevector(a, b, INTERLEAVE_##bits##_##half)
#define INTERLEAVE_32_lo 0, 4, 1, 5
#define INTERLEAVE_32_hi 2, 6, 3, 7
#define INTERLEAVE_64_lo 0, 1, 4, 5
#define INTERLEAVE_64_hi 2, 3, 6, 7
#endif

/*
 * Rows, v[n] of which are the quads of lanes n, n + 4, n + 8, …, to columns, v[n] of which is word
 * n of lanes 0, 1, 2, …; and columns to rows.
 */
TSR_INLINE void tsr_transpose(vu32 v[4])
{
	vu32 low01 = INTERLEAVE(32, lo, v[0], v[1]), high01 = INTERLEAVE(32, hi, v[0], v[1]);
	vu32 low23 = INTERLEAVE(32, lo, v[2], v[3]), high23 = INTERLEAVE(32, hi, v[2], v[3]);

	v[0] = INTERLEAVE(64, lo, low01, low23);
	v[1] = INTERLEAVE(64, hi, low01, low23);
	v[2] = INTERLEAVE(64, lo, high01, high23);
	v[3] = INTERLEAVE(64, hi, high01, high23);
}

/* The row of these quads. */
TSR_INLINE vu32 tsr_join_quads(const tsr_quad q[TSR_CHUNK_LANES / 4])
{
#if defined(TSR_ALU_AVX512)
	__m512i row = _mm512_castsi128_si512((__m128i)q[0]);

	row = _mm512_inserti32x4(row, (__m128i)q[1], 1);
	row = _mm512_inserti32x4(row, (__m128i)q[2], 2);
	return (vu32)_mm512_inserti32x4(row, (__m128i)q[3], 3);
#elif defined(TSR_ALU_AVX2)
	__m256i row = _mm256_castsi128_si256((__m128i)q[0]);

	return (vu32)_mm256_inserti128_si256(row, (__m128i)q[1], 1);
#else
	return q[0];
#endif
}

/* The quads of a row. */
TSR_INLINE void tsr_part_quads(tsr_quad q[TSR_CHUNK_LANES / 4], vu32 row)
{
#if defined(TSR_ALU_AVX512)
	q[0] = (tsr_quad)_mm512_castsi512_si128((__m512i)row);
	q[1] = (tsr_quad)_mm512_extracti32x4_epi32((__m512i)row, 1);
	q[2] = (tsr_quad)_mm512_extracti32x4_epi32((__m512i)row, 2);
	q[3] = (tsr_quad)_mm512_extracti32x4_epi32((__m512i)row, 3);
#elif defined(TSR_ALU_AVX2)
	q[0] = (tsr_quad)_mm256_castsi256_si128((__m256i)row);
	q[1] = (tsr_quad)_mm256_extracti128_si256((__m256i)row, 1);
#else
	q[0] = row;
#endif
}

#endif
