/* SPDX-License-Identifier: MIT */
/*
 * Lookups in one level of a texture, for many lanes at once. A template, see alu_path.h.
 */
#include "tex_places.h"

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

/*
 * Bytes: all of it is exact but the division. @left and @right: texels of the upper and of the
 * lower row.
 */
TSR_INLINE void blend_bytes(const vs32 left[2], const vs32 right[2], vs32 x_weight, vs32 y_weight,
			    float *const to[4])
{
	const vs32 even = splat(0x00ff00ff);
	const vu16 wx = (vu16)(x_weight | x_weight << 16);
	const vf32 wy = __builtin_convertvector(y_weight, vf32) * (1.0f / TSR_TEXEL_ONE);

	TSR_UNROLL
	for (unsigned int odd = 0; odd < 2; odd++) {
		vs32 row[2];

		TSR_UNROLL
		for (unsigned int i = 0; i < 2; i++)
			row[i] = odd ? between((vs32)((vu16)left[i] >> 8),
					       (vs32)((vu16)right[i] >> 8), wx) :
				       between(left[i] & even, right[i] & even, wx);
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

/* @right becomes the words at places @at, of lanes @apart. */
TSR_INLINE void replace_right(const uint8_t *texels, const int32_t *at, unsigned int apart,
			      vs32 *right)
{
	uint8_t words[sizeof(*right)] __attribute__((aligned(64)));

	memcpy(words, right, sizeof(words));
	for (; apart; apart &= apart - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(apart);

		memcpy(words + 4 * lane, texels + 4 * (size_t)(uint32_t)at[lane], 4);
	}
	memcpy(right, words, sizeof(words));
}

/* The same of the texels at @at, of the chunk's first lane, of which lanes @apart are apart. */
TSR_INLINE void filter_bytes(const uint8_t *texels, const struct corners *k, const int32_t *at,
			     unsigned int apart, float *const to[4])
{
	vs32 left[2], right[2];

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		pairs_at(texels, at + i * TSR_WARP_LANES, &left[i], &right[i]);
		if (apart)
			replace_right(texels, at + (i + 2) * TSR_WARP_LANES, apart, &right[i]);
	}
	blend_bytes(left, right, k->x.weight, k->y.weight, to);
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
			      bool near, bool apart, float *const to[4])
{
	const vf32 wx = __builtin_convertvector(k->x.weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	const vf32 wy = __builtin_convertvector(k->y.weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	const int32_t *below = at + TSR_WARP_LANES, *right = apart ? below + TSR_WARP_LANES : at;
	const uint8_t *next = apart ? texels : texels + 16;
	vf32 t[4], low[2], high[2];

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++) {
		vf32 a = texels_at(texels, at, i), b;

		if (!near) {
			a += (texels_at(next, right, i) - a) * SPREAD(wx, (int)i);
			b = texels_at(texels, below, i);
			b += (texels_at(next, right + TSR_WARP_LANES, i) - b) * SPREAD(wx, (int)i);
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

/* Warp @n of @w, with the texels at @at. */
TSR_INLINE void filter_warp(const struct tsr_level_lookup *l, const struct tsr_level_warps *w,
			    unsigned int n, const struct corners c[TSR_CHUNKS], places at,
			    uint16_t apart, bool near, bool bytes)
{
	const uint8_t *texels = tsr_window_texels(l->env->textures, l->window);

	if (!l->window->all_used)
		note_used(l->window->used, at, near, apart);
	TSR_UNROLL
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES, from = n * TSR_WARP_LANES + first;
		float *const to[4] = { w->rgba[0] + from, w->rgba[1] + from, w->rgba[2] + from,
				       w->rgba[3] + from };

		if (!bytes)
			filter_floats(texels, &c[chunk], &at[0][first], near, apart, to);
		else if (near)
			near_bytes(texels, &at[0][first], to);
		else
			filter_bytes(texels, &c[chunk], &at[0][first],
				     apart >> first & ALL_OF_CHUNK, to);
	}
}

#ifdef TSR_ALU_AVX512
#include "tex_rows.h"
#endif

/* Warps of @w from number @first on; returns lanes that are not done, of any warp. */
TSR_INLINE unsigned int lookup_group(const struct tsr_level_lookup *l,
				     const struct tsr_level_warps *w, unsigned int first, bool near,
				     bool bytes)
{
	unsigned int left = w->count - first, all, rest = 0;
	places at __attribute__((aligned(64)));
	struct group g;
	bool whole;

	g.count = left < GROUP_WARPS ? left : GROUP_WARPS;
	all = find_all_corners(l, w, first, near, &g);
	whole = find_group(l, near, all, &g);
	for (unsigned int i = 0; i < g.count; i++) {
		uint16_t apart;

		if (whole)
			apart = find_there(g.c[i], at, near);
		else
			g.lanes[i] = find_alone(l, g.c[i], g.lanes[i], at, &apart);
		filter_warp(l, w, first + i, g.c[i], at, apart, near, bytes);
		w->done[first + i] = g.lanes[i];
		rest |= w->lanes[first + i] & ~g.lanes[i];
	}
	return rest;
}

TSR_INLINE unsigned int lookup_groups(const struct tsr_level_lookup *l,
				      const struct tsr_level_warps *w, bool near, bool bytes)
{
	unsigned int rest = 0;

	for (unsigned int n = 0; n < w->count; n += GROUP_WARPS) {
#ifdef TSR_ALU_AVX512
		struct rows rows;

		if (bytes && !near && find_rows(l, w, n, &rows)) {
			filter_rows(l, w, n, &rows);
			continue;
		}
#endif
		rest |= lookup_group(l, w, n, near, bytes);
	}
	return rest;
}

TSR_UNCHECKED_ static unsigned int lookup_bytes(const struct tsr_level_lookup *l,
						const struct tsr_level_warps *w)
{
	return lookup_groups(l, w, false, true);
}

TSR_UNCHECKED_ static unsigned int lookup_floats(const struct tsr_level_lookup *l,
						 const struct tsr_level_warps *w)
{
	return lookup_groups(l, w, false, false);
}

TSR_UNCHECKED_ static unsigned int lookup_near(const struct tsr_level_lookup *l,
					       const struct tsr_level_warps *w)
{
	return l->bytes ? lookup_groups(l, w, true, true) : lookup_groups(l, w, true, false);
}

TSR_UNCHECKED_ static unsigned int lookup(const struct tsr_level_lookup *l,
					  const struct tsr_level_warps *w)
{
	if (l->near)
		return lookup_near(l, w);
	return l->bytes ? lookup_bytes(l, w) : lookup_floats(l, w);
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
			a = (vf32)tsr_pick(mask, (vs32)b, (vs32)a);
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

/* A number of each quad of a warp. */
typedef int32_t four __attribute__((vector_size(16)));

TSR_INLINE four pick_four(four mask, four yes, four no)
{
	return (yes & mask) | (no & ~mask);
}

TSR_INLINE four no_less(four x, int32_t low)
{
	return pick_four(x < low, (four){ 0 } + low, x);
}

TSR_INLINE four no_more(four x, int32_t high)
{
	return pick_four(x > high, (four){ 0 } + high, x);
}

/* Bits of all of them. */
TSR_INLINE uint32_t any_of_four(four x)
{
	return (uint32_t)(x[0] | x[1] | x[2] | x[3]);
}

/* tsr_lod_of_square() of four of them. */
TSR_INLINE four lods_of_squares(vtexel square)
{
	const four bits = (four)square, mantissa = bits & ((1 << TSR_LOD_MANTISSA) - 1);
	four base, next, lod;

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++) {
		const struct tsr_lod_log *log =
			&tsr_lod_logs[(uint32_t)mantissa[i] >> (TSR_LOD_MANTISSA - 8)];

		base[i] = log->base;
		next[i] = (int32_t)log->next;
	}
	lod = ((bits >> TSR_LOD_MANTISSA) - 127) * (TSR_LOD_ONE / 2) + base - (mantissa >= next);
	lod = pick_four(square > 0x1p126f, (four){ 0 } + INT16_MAX, lod);
	return pick_four(square > 0, lod, (four){ 0 } + INT16_MIN);
}

TSR_UNCHECKED_ static bool levels(const struct tsr_lod_rules *rules, const float *s, const float *t,
				  uint16_t lanes, struct tsr_warp_levels *to)
{
	static const four lanes_of = { 0xf, 0xf0, 0xf00, 0xf000 };
	const four present = (lanes_of & (int32_t)lanes) != 0;
	vtexel x, y, weight;
	four lod, larger, where;

	squares_of(s, t, rules->unit, &x, &y);
	lod = lods_of_squares((vtexel)pick_four(x > y, (four)x, (four)y)) + rules->bias;
	lod = no_more(no_less(lod, rules->low), rules->high);
	larger = lod <= rules->cutoff;
	lod = no_more(lod, rules->last) & ~larger;
	where = ((lod + rules->half) >> 8) & rules->levels;
	where |= pick_four(larger, (four){ 0 } + (int32_t)rules->larger,
			   (four){ 0 } + (int32_t)rules->smaller);
	if (to->where == UINT32_MAX)
		to->where = (uint32_t)where[__builtin_ctz(lanes) / 4];
	if (any_of_four((where ^ (int32_t)to->where) & present))
		return false;
	lod &= rules->fraction;
	to->mixed = (uint16_t)any_of_four((lod != 0) & present & lanes_of);
	weight = __builtin_convertvector(lod, vtexel) * (1.0f / TSR_LOD_ONE);
	TSR_UNROLL
	for (unsigned int q = 0; q < 4; q++) {
		const vtexel same = (vtexel){ 0 } + weight[q];

		memcpy(to->weight + 4 * q, &same, sizeof(same));
	}
	return true;
}

/* The least and the greatest of squares; false: some are NaN. */
TSR_UNCHECKED_ static bool extremes(const float *s, const float *t, unsigned int warps,
				    const float unit[2], float range[2])
{
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
#if defined(TSR_ALU_AVX512)
	__m512i a = _mm512_cvtepu16_epi32(_mm512_cvtps_ph(_mm512_loadu_ps(low), 0));
	__m512i b = _mm512_cvtepu16_epi32(_mm512_cvtps_ph(_mm512_loadu_ps(high), 0));

	_mm512_storeu_si512(to, _mm512_or_si512(a, _mm512_slli_epi32(b, 16)));
#elif defined(TSR_ALU_AVX2)
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
	.squares = squares, .extremes = extremes, .levels = levels, .halves = halves,
};
