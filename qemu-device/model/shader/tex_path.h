/* SPDX-License-Identifier: MIT */
/*
 * Lookups in one level of a texture, for many lanes at once. A template, see alu_path.h.
 *
 * Texels have their place in the level's window; blocks it does not have are brought by
 * tsr_window_bring(). In lanes that are not done nothing of what is computed counts: they use the
 * window's spare row.
 */
#include "tex_warp.h"

/* Not more than this is known to be in 1 / TSR_TEXEL_ONE: the rest is for msg_filter.c. */
#define FARTHEST 0x1p22f

#define ALL_OF_CHUNK ((1u << TSR_CHUNK_LANES) - 1)

TSR_INLINE vs32 splat(int32_t x)
{
	return (vs32){0} + x;
}

TSR_INLINE vf32 splat_float(float x)
{
	return (vf32){0} + x;
}

TSR_INLINE vs32 pick(vs32 mask, vs32 yes, vs32 no)
{
	return (yes & mask) | (no & ~mask);
}

TSR_INLINE vs32 smaller(vs32 a, vs32 b)
{
	return pick(a < b, a, b);
}

TSR_INLINE vs32 larger(vs32 a, vs32 b)
{
	return pick(a > b, a, b);
}

#ifdef __SSE2__
#define HAS_CONVERSION true
#else
#define HAS_CONVERSION false
#endif

/* To integers, to nearest, ties to even. */
TSR_INLINE vs32 rounded(vf32 x)
{
#if defined(TSR_ALU_AVX512)
	return (vs32)_mm512_cvtps_epi32((__m512)x);
#elif defined(TSR_ALU_AVX2)
	return (vs32)_mm256_cvtps_epi32((__m256)x);
#elif defined(__SSE2__)
	return (vs32)_mm_cvtps_epi32((__m128)x);
#else
	vs32 r;

	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		r[i] = (int32_t)__builtin_rintf(x[i]);
	return r;
#endif
}

/* Bit n: lane n of a mask of zeros and ones. */
TSR_INLINE unsigned int bits_of(vs32 mask)
{
#if defined(TSR_ALU_AVX512)
	return _mm512_movepi32_mask((__m512i)mask);
#elif defined(TSR_ALU_AVX2)
	return (unsigned int)_mm256_movemask_ps((__m256)mask);
#elif defined(__SSE2__)
	return (unsigned int)_mm_movemask_ps((__m128)mask);
#else
	unsigned int bits = 0;

	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		bits |= (mask[i] & 1u) << i;
	return bits;
#endif
}

TSR_INLINE vs32 mask_of(unsigned int bits)
{
	static const int32_t one[TSR_WARP_LANES] = {
		1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768
	};
	vs32 lane;

	memcpy(&lane, one, sizeof(lane));
	return (splat((int32_t)bits) & lane) != 0;
}

/* Words of @table, which is aligned to vectors, that bits 3:0 of @index name. */
TSR_INLINE vs32 of_sixteen(const int32_t table[16], vs32 index)
{
#if defined(TSR_ALU_AVX512)
	return (vs32)_mm512_permutexvar_epi32((__m512i)index, _mm512_load_si512(table));
#elif defined(TSR_ALU_AVX2)
	__m256i i = (__m256i)index;
	__m256i low = _mm256_permutevar8x32_epi32(_mm256_load_si256((const __m256i *)table), i);
	__m256i high = _mm256_permutevar8x32_epi32(
		_mm256_load_si256((const __m256i *)(table + 8)), i);

	return (vs32)_mm256_blendv_ps((__m256)low, (__m256)high,
				      (__m256)_mm256_slli_epi32(i, 28));
#else
	vs32 r;

	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		r[i] = table[index[i] & 15];
	return r;
#endif
}

/* ---- Coordinates ----------------------------------------------------------------------------- */

/* @i modulo what @a repeats after: of numbers whose size is at most 2^23. */
TSR_INLINE vs32 modulo(const struct tsr_level_axis *a, vs32 i)
{
	vf32 q = __builtin_convertvector(i, vf32) * a->frequency;

	/* one too much or too little, at most, and towards 0 */
	i -= __builtin_convertvector(q, vs32) * a->period;
	i += (i < 0) & a->period;
	i += (i < 0) & a->period;
	return i - ((i >= a->period) & a->period);
}

/* The texel that wrapping makes of @i; lanes in which it is none of the level are added to @bad. */
TSR_INLINE vs32 wrapped(const struct tsr_level_axis *a, vs32 i, vs32 *bad)
{
	int32_t n = a->extent;

	switch (a->mode) {
	case TSR_WRAP_MODE_REPEAT:
		return a->power ? i & (n - 1) : modulo(a, i);
	case TSR_WRAP_MODE_MIRRORED_REPEAT:
		i = a->power ? i & (2 * n - 1) : modulo(a, i);
		return pick(i < n, i, 2 * n - 1 - i);
	case TSR_WRAP_MODE_MIRRORED_CLAMP_TO_EDGE:
		return smaller(i ^ i >> 31, splat(n - 1));
	case TSR_WRAP_MODE_MIRRORED_CLAMP_TO_BORDER:
		i ^= i >> 31;
		*bad |= i >= n;
		return i;
	case TSR_WRAP_MODE_CLAMP_TO_BORDER:
		*bad |= (i < 0) | (i >= n);
		return i;
	default:
		return smaller(larger(i, splat(0)), splat(n - 1));
	}
}

/*
 * Texels of a chunk along an axis: the two around, or the nearest one; the upper one's weight.
 */
struct texels {
	vs32 x0, x1, weight;
};

TSR_INLINE struct texels find_texels(const struct tsr_level_axis *a, const float *c, bool near,
				     vs32 *bad)
{
	float most = near ? FARTHEST : FARTHEST * TSR_TEXEL_ONE;
	struct texels t;
	vs32 fixed, i;
	vf32 x;

	memcpy(&x, c, sizeof(x));
	x *= a->scale;
	*bad |= ~((vf32)((vs32)x & 0x7fffffff) < most);
	/* what cannot be converted is not converted, where that is not without consequences */
	if (near || !HAS_CONVERSION)
		x = (vf32)((vs32)x & ~*bad);
	if (near) {
		x += a->half;
		i = __builtin_convertvector(x, vs32);
		i += __builtin_convertvector(i, vf32) > x;
		t.x0 = t.x1 = wrapped(a, i, bad);
		t.weight = splat(0);
		return t;
	}
	fixed = rounded(x) - a->center;
	t.weight = fixed & (TSR_TEXEL_ONE - 1);
	i = fixed >> 8;
	t.x0 = wrapped(a, i, bad);
	t.x1 = wrapped(a, i + 1, bad);
	return t;
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* The texels of a chunk: (x0, y0) to (x1, y1). */
struct corners {
	struct texels x, y;
};

/* 1 << @n % 16 */
TSR_INLINE vs32 bit_of_row(vs32 n)
{
	return splat(1) << (n & 15);
}

/* Lanes whose tile for (@x, @y) has its place. */
TSR_INLINE vs32 has_tile(const struct tsr_tex_window *w, vs32 x, vs32 y)
{
	vs32 tile = (x >> 4 & 3) | (y >> 2 & 12);

	return of_sixteen(w->tag, tile) == (x >> 6 | y >> 6 << 10);
}

/* Lanes all of whose tiles have their places. */
TSR_INLINE vs32 has_tiles(const struct tsr_tex_window *w, const struct corners *c, bool near)
{
	vs32 x0 = c->x.x0, x1 = c->x.x1, y0 = c->y.x0, y1 = c->y.x1;

	return near ? has_tile(w, x0, y0) : has_tile(w, x0, y0) & has_tile(w, x1, y0) &
					    has_tile(w, x0, y1) & has_tile(w, x1, y1);
}

/* Of these, lanes all of whose blocks have come in. */
TSR_INLINE vs32 has_blocks(const struct tsr_tex_window *w, const struct corners *c, bool near)
{
	vs32 columns = bit_of_row(c->x.x0 >> 2), rows = of_sixteen(w->valid, c->y.x0 >> 2);

	if (!near) {
		columns |= bit_of_row(c->x.x1 >> 2);
		rows &= of_sixteen(w->valid, c->y.x1 >> 2);
	}
	return (rows & columns) == columns;
}

/* Lanes of a warp that have their tiles, and @blocks too. */
TSR_INLINE uint16_t lanes_there(const struct tsr_tex_window *w, const struct corners c[TSR_CHUNKS],
				bool near, bool blocks)
{
	unsigned int there = 0;

	TSR_UNROLL
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		vs32 has = has_tiles(w, &c[chunk], near);

		if (blocks)
			has &= has_blocks(w, &c[chunk], near);
		there |= bits_of(has) << chunk * TSR_CHUNK_LANES;
	}
	return (uint16_t)there;
}

/* Place in the window. */
TSR_INLINE vs32 place_of(vs32 x, vs32 y)
{
	return (x & (TSR_TEX_WINDOW_DIM - 1)) | (y & (TSR_TEX_WINDOW_DIM - 1)) << 6;
}

/* Places of texels in the spare row, for lanes from @first on. */
TSR_INLINE vs32 spare_of(unsigned int first)
{
	static const int32_t four[TSR_WARP_LANES] = {
		0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60
	};
	vs32 lane;

	memcpy(&lane, four, sizeof(lane));
	return lane + (int32_t)(TSR_TEX_WINDOW_SPARE + 4 * first);
}

/* Have tiles of lanes @lanes take their places; returns the lanes that have, *@conflict: not so. */
TSR_INLINE uint16_t turn_tiles(const struct tsr_level_lookup *l,
			       const struct corners c[TSR_CHUNKS], const struct tsr_window_lanes *t,
			       uint16_t lanes, bool *conflict)
{
	uint16_t left = lanes;

	for (;;) {
		uint16_t there = lanes_there(l->window, c, l->near, false) & lanes, lane;

		left &= ~there;
		lane = left & -left;
		if (!lane)
			return lanes;
		left &= ~lane;
		switch (tsr_window_bring(l, t, (unsigned int)__builtin_ctz(lane), there)) {
		case TSR_WINDOW_HAS:
			break;
		case TSR_WINDOW_CANNOT:
			lanes &= ~lane;
			break;
		case TSR_WINDOW_CONFLICT:
			*conflict = true;
			return lanes;
		}
	}
}

/*
 * Bring what @lanes want; returns those that can be done. *@direct: those whose texels are in the
 * window, not copied to the spare row. Not what is used most of the time.
 */
TSR_OUT_OF_LINE_ static uint16_t bring(const struct tsr_level_lookup *l,
				       const struct corners c[TSR_CHUNKS], uint16_t lanes,
				       uint16_t *direct)
{
	struct tsr_window_lanes t;
	bool conflict = false;

	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES;

		memcpy(&t.x[0][first], &c[chunk].x.x0, sizeof(vs32));
		memcpy(&t.x[1][first], &c[chunk].x.x1, sizeof(vs32));
		memcpy(&t.y[0][first], &c[chunk].y.x0, sizeof(vs32));
		memcpy(&t.y[1][first], &c[chunk].y.x1, sizeof(vs32));
	}
	lanes = turn_tiles(l, c, &t, lanes, &conflict);
	if (conflict) {
		*direct = 0;
		return tsr_window_copy(l, &t, lanes);
	}
	lanes &= ~tsr_window_fill(l, &t, lanes & ~lanes_there(l->window, c, l->near, true));
	*direct = lanes;
	return lanes;
}

/* The texels of lanes, one array for each corner. */
typedef int32_t places[4][TSR_WARP_LANES];

/*
 * Find out where the texels of @lanes of a warp are in the window; returns the lanes that have all.
 * *@pairs: so that corners 1 and 3 are next to corners 0 and 2, and have no places of their own.
 */
TSR_INLINE uint16_t find_places(const struct tsr_level_lookup *l,
				const struct corners c[TSR_CHUNKS], uint16_t lanes, places at,
				bool near, bool *pairs)
{
	uint16_t there = lanes_there(l->window, c, near, true) & lanes, direct = there;
	unsigned int alone = 0;

	if (there != lanes) {
		/* what has an address is not in registers: not what is used most of the time */
		struct corners copy[TSR_CHUNKS];

		memcpy(copy, c, sizeof(copy));
		lanes = bring(l, copy, lanes, &direct);
	}
	TSR_UNROLL
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES;
		const struct corners *k = &c[chunk];
		vs32 x = k->x.x0, spare = spare_of(first), in = mask_of(direct >> first &
									ALL_OF_CHUNK);
		vs32 row[2] = { pick(in, place_of(x, k->y.x0), spare),
				pick(in, place_of(x, k->y.x1), spare + 2) };

		memcpy(&at[0][first], &row[0], sizeof(row[0]));
		memcpy(&at[2][first], &row[1], sizeof(row[1]));
		alone |= bits_of(in & ((k->x.x1 != x + 1) |
				       ((x & (TSR_TEX_WINDOW_DIM - 1)) == TSR_TEX_WINDOW_DIM - 1)));
	}
	*pairs = !alone;
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS && !near && alone; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES;
		const struct corners *k = &c[chunk];
		vs32 x = k->x.x1, spare = spare_of(first), in = mask_of(direct >> first &
									ALL_OF_CHUNK);
		vs32 row[2] = { pick(in, place_of(x, k->y.x0), spare + 1),
				pick(in, place_of(x, k->y.x1), spare + 3) };

		memcpy(&at[1][first], &row[0], sizeof(row[0]));
		memcpy(&at[3][first], &row[1], sizeof(row[1]));
	}
	return lanes;
}

/* The texels at @at are used. */
TSR_INLINE void note_used(uint8_t *used, places at, bool near, bool pairs)
{
	static const uint8_t pair[2] = { 1, 1 };

	TSR_UNROLL
	for (unsigned int i = 0; i < TSR_WARP_LANES; i++) {
		memcpy(used + (uint32_t)at[0][i], pair, near || !pairs ? 1 : 2);
		if (near)
			continue;
		memcpy(used + (uint32_t)at[2][i], pair, pairs ? 2 : 1);
		if (pairs)
			continue;
		used[(uint32_t)at[1][i]] = 1;
		used[(uint32_t)at[3][i]] = 1;
	}
}

/* ---- Filters --------------------------------------------------------------------------------- */

#if defined(TSR_ALU_AVX512) || defined(TSR_ALU_AVX2)
#define MULTIPLY_ADD(a, b, c) \
	((vf32)TSR_VF_FMA((tsr_vector_ps)(a), (tsr_vector_ps)(b), (tsr_vector_ps)(c)))
#if defined(TSR_ALU_AVX512)
typedef __m512 tsr_vector_ps;
#define TSR_VF_FMA _mm512_fmadd_ps
#else
typedef __m256 tsr_vector_ps;
#define TSR_VF_FMA _mm256_fmadd_ps
#endif
#endif

/* @x / BYTES_ONE, rounded as a division rounds; see TSR_TEX_BYTES_ONE. */
TSR_INLINE vf32 divided(vf32 x)
{
#ifdef MULTIPLY_ADD
	return MULTIPLY_ADD(x, splat_float(TSR_TEX_BYTES_HIGH), x * TSR_TEX_BYTES_LOW);
#else
	return x / TSR_TEX_BYTES_ONE;
#endif
}

/*
 * Two components of each lane, in halves of words, between the left and the right one: times
 * TSR_TEXEL_ONE, which fits.
 */
TSR_INLINE vs32 between(vs32 left, vs32 right, vu16 weight)
{
	return (vs32)(((vu16)left << 8) + ((vu16)right - (vu16)left) * weight);
}

TSR_INLINE void store(float *to, vf32 x)
{
	memcpy(to, &x, sizeof(x));
}

/* The words at places @at of a chunk. */
TSR_INLINE vs32 words_at(const uint8_t *texels, const int32_t *at)
{
	vs32 r;

	TSR_UNROLL
	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		memcpy((char *)&r + 4 * i, texels + 4 * (size_t)(uint32_t)at[i], 4);
	return r;
}

#ifdef __SSE2__
/* Two words each at places @at[0] and @at[1]. */
TSR_INLINE __m128 two_pairs(const uint8_t *texels, const int32_t *at)
{
	const uint8_t *first = texels + 4 * (size_t)(uint32_t)at[0];
	const uint8_t *second = texels + 4 * (size_t)(uint32_t)at[1];
	__m128i low = _mm_loadl_epi64((const __m128i *)first);

	return _mm_loadh_pi((__m128)low, (const __m64 *)second);
}

/* Lanes @n and @n + 1 of each four. */
TSR_INLINE vf32 pairs_of(const uint8_t *texels, const int32_t *at, unsigned int n)
{
#if defined(TSR_ALU_AVX512)
	__m512 t = _mm512_castps128_ps512(two_pairs(texels, at + n));

	t = _mm512_insertf32x4(t, two_pairs(texels, at + n + 4), 1);
	t = _mm512_insertf32x4(t, two_pairs(texels, at + n + 8), 2);
	return (vf32)_mm512_insertf32x4(t, two_pairs(texels, at + n + 12), 3);
#elif defined(TSR_ALU_AVX2)
	__m256 t = _mm256_castps128_ps256(two_pairs(texels, at + n));

	return (vf32)_mm256_insertf128_ps(t, two_pairs(texels, at + n + 4), 1);
#else
	return (vf32)two_pairs(texels, at + n);
#endif
}
#endif

/* The words at places @at of a chunk, and those right of them. */
TSR_INLINE void pairs_at(const uint8_t *texels, const int32_t *at, vs32 *left, vs32 *right)
{
#ifdef __SSE2__
	vf32 a = pairs_of(texels, at, 0), b = pairs_of(texels, at, 2);

#if defined(TSR_ALU_AVX512)
	*left = (vs32)_mm512_shuffle_ps((__m512)a, (__m512)b, 0x88);
	*right = (vs32)_mm512_shuffle_ps((__m512)a, (__m512)b, 0xdd);
#elif defined(TSR_ALU_AVX2)
	*left = (vs32)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
	*right = (vs32)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd);
#else
	*left = (vs32)_mm_shuffle_ps((__m128)a, (__m128)b, 0x88);
	*right = (vs32)_mm_shuffle_ps((__m128)a, (__m128)b, 0xdd);
#endif
#else
	*left = words_at(texels, at);
	*right = words_at(texels + 4, at);
#endif
}

/* The nearest texels' bytes. */
TSR_INLINE void near_bytes(const uint8_t *texels, const int32_t *at, float *const to[4])
{
	const vs32 texel = words_at(texels, at);

	TSR_UNROLL
	for (unsigned int c = 0; c < 4; c++)
		store(to[c], divided(__builtin_convertvector(
			(vs32)((vu32)texel >> 8 * c & 0xff) << 8, vf32)));
}

/* Bytes: all of it is exact but the division. @at: of the chunk's first lane. */
TSR_INLINE void filter_bytes(const uint8_t *texels, const struct corners *k, const int32_t *at,
			     bool pairs, float *const to[4])
{
	const vs32 even = splat(0x00ff00ff), weight = k->x.weight;
	const vu16 wx = (vu16)(weight | weight << 16);
	const vf32 wy = __builtin_convertvector(k->y.weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	vs32 left[2], right[2];

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++, at += 2 * TSR_WARP_LANES) {
		if (pairs) {
			pairs_at(texels, at, &left[i], &right[i]);
			continue;
		}
		left[i] = words_at(texels, at);
		right[i] = words_at(texels, at + TSR_WARP_LANES);
	}
	TSR_UNROLL
	for (unsigned int odd = 0; odd < 2; odd++) {
		vs32 row[2];

		TSR_UNROLL
		for (unsigned int i = 0; i < 2; i++)
			row[i] = between(left[i] >> 8 * odd & even, right[i] >> 8 * odd & even, wx);
		TSR_UNROLL
		for (unsigned int high = 0; high < 2; high++) {
			vf32 a = __builtin_convertvector(
				high ? (vs32)((vu32)row[0] >> 16) : row[0] & 0xffff, vf32);
			vf32 b = __builtin_convertvector(
				high ? (vs32)((vu32)row[1] >> 16) : row[1] & 0xffff, vf32);

#ifdef MULTIPLY_ADD
			a = MULTIPLY_ADD(b - a, wy, a);
#else
			a += (b - a) * wy;
#endif
			store(to[odd + 2 * high], divided(a));
		}
	}
}

/* The four components of a texel; as many texels as there are of them in a vector. */
typedef float vtexel __attribute__((vector_size(16)));

#if defined(TSR_ALU_AVX512)
#define PAIRS_LOW(a, b) ((vf32)_mm512_unpacklo_ps((__m512)(a), (__m512)(b)))
#define PAIRS_HIGH(a, b) ((vf32)_mm512_unpackhi_ps((__m512)(a), (__m512)(b)))
#define HALVES_LOW(a, b) ((vf32)_mm512_unpacklo_pd((__m512d)(a), (__m512d)(b)))
#define HALVES_HIGH(a, b) ((vf32)_mm512_unpackhi_pd((__m512d)(a), (__m512d)(b)))
#define SPREAD(a, n) ((vf32)_mm512_permutevar_ps((__m512)(a), _mm512_set1_epi32(n)))
#elif defined(TSR_ALU_AVX2)
#define PAIRS_LOW(a, b) ((vf32)_mm256_unpacklo_ps((__m256)(a), (__m256)(b)))
#define PAIRS_HIGH(a, b) ((vf32)_mm256_unpackhi_ps((__m256)(a), (__m256)(b)))
#define HALVES_LOW(a, b) ((vf32)_mm256_unpacklo_pd((__m256d)(a), (__m256d)(b)))
#define HALVES_HIGH(a, b) ((vf32)_mm256_unpackhi_pd((__m256d)(a), (__m256d)(b)))
#define SPREAD(a, n) ((vf32)_mm256_permutevar_ps((__m256)(a), _mm256_set1_epi32(n)))
#else
#define PAIRS_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define HALVES_LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define HALVES_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#define SPREAD(a, n) ((vf32){ 0 } + (a)[n])
#endif

/* Texels of lanes @n, @n + 4 and so on of a chunk. */
TSR_INLINE vf32 texels_at(const uint8_t *texels, const int32_t *at, unsigned int n)
{
#define AT(i) ((const float *)(texels + 16 * (size_t)(uint32_t)at[n + (i)]))
#if defined(TSR_ALU_AVX512)
	__m512 t = _mm512_castps128_ps512(_mm_load_ps(AT(0)));

	t = _mm512_insertf32x4(t, _mm_load_ps(AT(4)), 1);
	t = _mm512_insertf32x4(t, _mm_load_ps(AT(8)), 2);
	return (vf32)_mm512_insertf32x4(t, _mm_load_ps(AT(12)), 3);
#elif defined(TSR_ALU_AVX2)
	return (vf32)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(AT(0))),
					  _mm_load_ps(AT(4)), 1);
#else
	vf32 t;

	memcpy(&t, __builtin_assume_aligned(AT(0), 16), sizeof(t));
	return t;
#endif
#undef AT
}

/* Numbers: all components of several lanes at once. */
TSR_INLINE void filter_floats(const uint8_t *texels, const struct corners *k, const int32_t *at,
			      bool near, bool pairs, float *const to[4])
{
	const vf32 wx = __builtin_convertvector(k->x.weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	const vf32 wy = __builtin_convertvector(k->y.weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	const int32_t *row[2] = { at, at + 2 * TSR_WARP_LANES };
	const uint8_t *next = pairs ? texels + 16 : texels;
	vf32 t[4], low[2], high[2];
	unsigned int step = pairs ? 0 : TSR_WARP_LANES;

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++) {
		vf32 a = texels_at(texels, row[0], i), b;

		if (!near) {
			a += (texels_at(next, row[0] + step, i) - a) * SPREAD(wx, (int)i);
			b = texels_at(texels, row[1], i);
			b += (texels_at(next, row[1] + step, i) - b) * SPREAD(wx, (int)i);
			a += (b - a) * SPREAD(wy, (int)i);
		}
		t[i] = a;
	}
	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		low[i] = PAIRS_LOW(t[2 * i], t[2 * i + 1]);
		high[i] = PAIRS_HIGH(t[2 * i], t[2 * i + 1]);
	}
	store(to[0], HALVES_LOW(low[0], low[1]));
	store(to[1], HALVES_HIGH(low[0], low[1]));
	store(to[2], HALVES_LOW(high[0], high[1]));
	store(to[3], HALVES_HIGH(high[0], high[1]));
}

/* What has been found of warp @n of @w. */
TSR_INLINE void filter_warp(const struct tsr_level_lookup *l, const struct tsr_level_warps *w,
			    unsigned int n, const struct corners c[TSR_CHUNKS], places at,
			    bool near, bool bytes, bool pairs)
{
	const uint8_t *texels = tsr_window_texels(l->env->textures, l->window);

	note_used(l->window->used, at, near, pairs);
	TSR_UNROLL
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES, from = n * TSR_WARP_LANES + first;
		float *const to[4] = { w->rgba[0] + from, w->rgba[1] + from, w->rgba[2] + from,
				       w->rgba[3] + from };

		if (!bytes)
			filter_floats(texels, &c[chunk], &at[0][first], near, pairs, to);
		else if (near)
			near_bytes(texels, &at[0][first], to);
		else
			filter_bytes(texels, &c[chunk], &at[0][first], pairs, to);
	}
}

/* Of texels that are not all in pairs. */
TSR_OUT_OF_LINE_ static void filter_alone(const struct tsr_level_lookup *l,
					  const struct tsr_level_warps *w, unsigned int n,
					  const struct corners c[TSR_CHUNKS], places at)
{
	if (l->bytes)
		filter_warp(l, w, n, c, at, false, true, false);
	else
		filter_warp(l, w, n, c, at, false, false, false);
}

/* Warp @n of @w. */
TSR_INLINE void lookup_warp(const struct tsr_level_lookup *l, const struct tsr_level_warps *w,
			    unsigned int n, bool near, bool bytes)
{
	places at __attribute__((aligned(64)));
	struct corners c[TSR_CHUNKS], copy[TSR_CHUNKS];
	unsigned int lanes = w->lanes[n];
	bool pairs;

	TSR_UNROLL
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES, from = n * TSR_WARP_LANES + first;
		vs32 bad = splat(0);

		c[chunk].x = find_texels(&l->axis[0], w->s + from, near, &bad);
		c[chunk].y = find_texels(&l->axis[1], w->t + from, near, &bad);
		lanes &= ~(bits_of(bad) << first);
	}
	w->done[n] = find_places(l, c, (uint16_t)lanes, at, near, &pairs);
	if (near || pairs) {
		filter_warp(l, w, n, c, at, near, bytes, true);
	} else {
		/* what has an address is not in registers */
		memcpy(copy, c, sizeof(copy));
		filter_alone(l, w, n, copy, at);
	}
}

TSR_UNCHECKED_ static void lookup_bytes(const struct tsr_level_lookup *l,
					const struct tsr_level_warps *w)
{
	for (unsigned int n = 0; n < w->count; n++)
		lookup_warp(l, w, n, false, true);
}

TSR_UNCHECKED_ static void lookup_floats(const struct tsr_level_lookup *l,
					 const struct tsr_level_warps *w)
{
	for (unsigned int n = 0; n < w->count; n++)
		lookup_warp(l, w, n, false, false);
}

TSR_UNCHECKED_ static void lookup_near(const struct tsr_level_lookup *l,
				       const struct tsr_level_warps *w)
{
	for (unsigned int n = 0; n < w->count; n++) {
		if (l->bytes)
			lookup_warp(l, w, n, true, true);
		else
			lookup_warp(l, w, n, true, false);
	}
}

TSR_UNCHECKED_ static void lookup(const struct tsr_level_lookup *l, const struct tsr_level_warps *w)
{
	if (l->near)
		lookup_near(l, w);
	else if (l->bytes)
		lookup_bytes(l, w);
	else
		lookup_floats(l, w);
}

TSR_UNCHECKED_ static void mix(float *into, const float *from, const float *weight)
{
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int at = chunk * TSR_CHUNK_LANES;
		vf32 a, b, w;

		memcpy(&a, into + at, sizeof(a));
		memcpy(&b, from + at, sizeof(b));
		memcpy(&w, weight + at, sizeof(w));
		a += (b - a) * w;
		memcpy(into + at, &a, sizeof(a));
	}
}

/* The same of four components, in @lanes. */
TSR_UNCHECKED_ static void mix_some(float *const into[4], float *const from[4],
				    const float *weight, uint16_t lanes)
{
	TSR_UNROLL_NOT
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int at = chunk * TSR_CHUNK_LANES;
		vs32 mask = mask_of(lanes >> at & ALL_OF_CHUNK);

		TSR_UNROLL
		for (unsigned int c = 0; c < 4; c++) {
			vf32 a, b, w;

			memcpy(&a, into[c] + at, sizeof(a));
			memcpy(&b, from[c] + at, sizeof(b));
			memcpy(&w, weight + at, sizeof(w));
			b = a + (b - a) * w;
			a = (vf32)pick(mask, (vs32)b, (vs32)a);
			memcpy(into[c] + at, &a, sizeof(a));
		}
	}
}

/* Of four quads: squares of the lengths of their derivatives, in texels. */
TSR_INLINE void squares_of(const float *s, const float *t, const float unit[2], vtexel *x,
			   vtexel *y)
{
	*x = *y = (vtexel){ 0 };
	TSR_UNROLL
	for (unsigned int d = 0; d < 2; d++) {
		const float *c = d ? t : s;
		vtexel q[4], low0, low1, high0, high1, first, dx, dy;

		memcpy(q, c, sizeof(q));
		low0 = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5);
		low1 = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5);
		high0 = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7);
		high1 = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
		first = __builtin_shufflevector(low0, low1, 0, 1, 4, 5);
		dx = (__builtin_shufflevector(low0, low1, 2, 3, 6, 7) - first) * unit[d];
		dy = (__builtin_shufflevector(high0, high1, 0, 1, 4, 5) - first) * unit[d];
		*x += dx * dx;
		*y += dy * dy;
	}
}

TSR_UNCHECKED_ static void squares(const float *s, const float *t, const float unit[2],
				   float along_x[4], float along_y[4])
{
	vtexel x, y;

	squares_of(s, t, unit, &x, &y);
	memcpy(along_x, &x, sizeof(x));
	memcpy(along_y, &y, sizeof(y));
}

/* The least and the greatest of squares; false: some are NaN. */
TSR_UNCHECKED_ static bool extremes(const float *s, const float *t, unsigned int warps,
				    const float unit[2], float range[2])
{
	typedef int32_t four __attribute__((vector_size(16)));
	four least = { 0 }, most = { 0 }, signs = { 0 };

	least += INT32_MAX;
	TSR_UNROLL_NOT
	for (unsigned int w = 0; w < warps; w++) {
		vtexel x, y;
		four bits, larger;

		squares_of(s + w * TSR_WARP_LANES, t + w * TSR_WARP_LANES, unit, &x, &y);
		/* without signs they compare as integers, NaNs above all others */
		signs |= (four)x | (four)y;
		larger = (four)x > (four)y;
		bits = ((four)x & larger) | ((four)y & ~larger);
		larger = bits > most;
		most = (bits & larger) | (most & ~larger);
		larger = bits > least;
		least = (least & larger) | (bits & ~larger);
	}
	for (unsigned int i = 1; i < 4; i++) {
		most[0] = most[i] > most[0] ? most[i] : most[0];
		least[0] = least[i] < least[0] ? least[i] : least[0];
		signs[0] |= signs[i];
	}
	memcpy(&range[0], &least, sizeof(range[0]));
	memcpy(&range[1], &most, sizeof(range[1]));
	return most[0] <= 0x7f800000 && signs[0] >= 0;
}

/* Two components as halves of words. */
TSR_UNCHECKED_ static void halves(uint32_t *to, const float *low, const float *high)
{
#if defined(TSR_ALU_AVX512) || defined(TSR_ALU_AVX2)
	for (unsigned int i = 0; i < TSR_WARP_LANES; i += 8) {
		__m256i a = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(_mm256_loadu_ps(low + i), 0));
		__m256i b = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(_mm256_loadu_ps(high + i), 0));

		_mm256_storeu_si256((__m256i *)(to + i),
				    _mm256_or_si256(a, _mm256_slli_epi32(b, 16)));
	}
#else
	for (unsigned int i = 0; i < TSR_WARP_LANES; i++)
		to[i] = tsr_float_to_half(low[i]) | (uint32_t)tsr_float_to_half(high[i]) << 16;
#endif
}

const struct tsr_texture_path TSR_PATH_NAME(tsr_texture) = {
	.lookup = lookup, .mix = mix, .mix_some = mix_some,
	.squares = squares, .extremes = extremes, .halves = halves,
};
