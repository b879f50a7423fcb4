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
TSR_INLINE vf32 divided_bytes(vf32 x)
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

TSR_INLINE void put_floats(float *to, vf32 x)
{
	memcpy(to, &x, sizeof(x));
}

/*
 * Word @word of the texels at places @at of a chunk, which have @words words. A gather is faster
 * than single loads, whose parts would go through memory to become one vector.
 */
TSR_INLINE vs32 words_at(const uint8_t *texels, const int32_t *at, unsigned int words,
			 unsigned int word)
{
#if defined(TSR_ALU_AVX512)
	__m512i index = _mm512_loadu_si512(at);

	index = _mm512_mullo_epi32(index, _mm512_set1_epi32((int)words));
	return (vs32)_mm512_i32gather_epi32(index, texels + 4 * word, 4);
#elif defined(TSR_ALU_AVX2)
	__m256i index = _mm256_loadu_si256((const __m256i *)at);

	index = _mm256_mullo_epi32(index, _mm256_set1_epi32((int)words));
	return (vs32)_mm256_i32gather_epi32((const int *)(texels + 4 * word), index, 4);
#else
	vs32 r;

	TSR_UNROLL
	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		memcpy((char *)&r + 4 * i,
		       texels + 4 * ((size_t)(uint32_t)at[i] * words + word), 4);
	return r;
#endif
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
	*left = words_at(texels, at, 1, 0);
	*right = words_at(texels, at, 1, 1);
#endif
}

/* The nearest texels' bytes. */
TSR_INLINE void near_bytes(const uint8_t *texels, const int32_t *at, float *const to[4])
{
	const vs32 texel = words_at(texels, at, 1, 0);

	TSR_UNROLL
	for (unsigned int c = 0; c < 4; c++)
		put_floats(to[c], divided_bytes(__builtin_convertvector(
			(vs32)((vu32)texel >> 8 * c & 0xff) << 8, vf32)));
}

/*
 * Bytes: all of it is exact but the division, which is left out of @raw results. @left and @right:
 * texels of the upper and of the lower row.
 */
TSR_INLINE void blend_bytes(const vs32 left[2], const vs32 right[2], vs32 x_weight, vs32 y_weight,
			    bool raw, float *const to[4])
{
	const vs32 even = splat_word(0x00ff00ff);
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
			put_floats(to[odd + 2 * high], raw ? a : divided_bytes(a));
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

/* Blend the texels at @at, of the chunk's first lane, of which lanes @apart are apart. */
TSR_INLINE void filter_bytes(const uint8_t *texels, const struct corners *k, const int32_t *at,
			     unsigned int apart, bool raw, float *const to[4])
{
	vs32 left[2], right[2];

	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		pairs_at(texels, at + i * TSR_WARP_LANES, &left[i], &right[i]);
		if (apart)
			replace_right(texels, at + (i + 2) * TSR_WARP_LANES, apart, &right[i]);
	}
	blend_bytes(left, right, k->x.weight, k->y.weight, raw, to);
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
			      bool near, bool apart, bool flat, float *const to[4])
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
		}
		if (!near && !flat) {
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
	put_floats(to[0], HALVES_LOW(low[0], low[1]));
	put_floats(to[1], HALVES_HIGH(low[0], low[1]));
	put_floats(to[2], HALVES_LOW(high[0], high[1]));
	put_floats(to[3], HALVES_HIGH(high[0], high[1]));
}

/* Component @c of the texels at @at, a number or a word. */
TSR_INLINE vs32 component_at(const uint8_t *texels, const int32_t *at, bool bytes, unsigned int c)
{
	if (!bytes)
		return words_at(texels, at, 4, c);
	return (vs32)divided_bytes(__builtin_convertvector(
		(vs32)((vu32)words_at(texels, at, 1, 0) >> 8 * c & 0xff) << 8, vf32));
}

/* The comparison of numbers @texel with @reference: 1 or 0, of the type that the lookup returns. */
TSR_INLINE vs32 compared(const struct tsr_level_lookup *l, vs32 texel, vf32 reference)
{
	vf32 x = l->number == TSR_LEVEL_FLOAT ? (vf32)texel :
		 l->number == TSR_LEVEL_SIGNED ? __builtin_convertvector(texel, vf32)
					       : __builtin_convertvector((vu32)texel, vf32);
	vf32 one = splat_float(1);
	vs32 is;

	if (l->unit) {
		reference = (vf32)((vs32)reference & (reference > 0));
		reference = (vf32)tsr_pick(reference < one, (vs32)reference, (vs32)one);
	}
	switch (l->compare) {
	case TSR_COMPARE_FUNCTION_LESS:
		is = x < reference;
		break;
	case TSR_COMPARE_FUNCTION_EQUAL:
		is = x == reference;
		break;
	case TSR_COMPARE_FUNCTION_LEQUAL:
		is = x <= reference;
		break;
	case TSR_COMPARE_FUNCTION_GREATER:
		is = x > reference;
		break;
	case TSR_COMPARE_FUNCTION_NOT_EQUAL:
		is = x != reference;
		break;
	case TSR_COMPARE_FUNCTION_GEQUAL:
		is = x >= reference;
		break;
	default:
		is = splat_word(l->compare == TSR_COMPARE_FUNCTION_ALWAYS ? -1 : 0);
	}
	return is & (l->number == TSR_LEVEL_FLOAT ? (vs32)one : splat_word(1));
}

/*
 * One component of a chunk's texels: the corners one by one, or what they come to. @reference: of
 * its first lane, NULL if nothing is compared.
 */
TSR_INLINE void filter_one(const struct tsr_level_lookup *l, const uint8_t *texels,
			   const struct corners *k, const int32_t *at, bool near, bool apart,
			   const float *reference, float *const to[4])
{
	const vf32 wx = __builtin_convertvector(k->x.weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	const vf32 wy = __builtin_convertvector(k->y.weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	const uint8_t *next = apart ? texels : texels + (l->bytes ? 4 : 16);
	const unsigned int corners = near ? 1 : 4;
	vf32 v[4], with = splat_float(0);

	if (reference)
		memcpy(&with, reference, sizeof(with));
	for (unsigned int i = 0; i < corners; i++) {
		const int32_t *row = at + (i >> 1) * TSR_WARP_LANES;
		const bool right = i & 1;
		vs32 texel;

		if (right && apart)
			row += 2 * TSR_WARP_LANES;
		texel = component_at(right ? next : texels, row, l->bytes, l->component);
		v[i] = (vf32)(reference ? compared(l, texel, with) : texel);
	}
	if (l->result >= TSR_LEVEL_GATHER) {
		for (unsigned int i = 0; i < corners; i++)
			put_floats(to[i], v[i]);
		return;
	}
	if (!near) {
		v[0] += (v[1] - v[0]) * wx;
		v[2] += (v[3] - v[2]) * wx;
		if (!l->flat)
			v[0] += (v[2] - v[0]) * wy;
	}
	put_floats(to[0], v[0]);
}

/* Warp @n of @w, with the texels at @at. */
TSR_INLINE void filter_warp(const struct tsr_level_lookup *l, const struct tsr_level_warps *w,
			    unsigned int n, const struct corners c[TSR_CHUNKS], places at,
			    uint16_t apart, bool near, bool bytes, bool one)
{
	const uint8_t *texels = tsr_window_texels(l->env->textures, l->window);

	if (!l->window->all_used)
		note_used(l->window->used, at, near, apart);
	TSR_UNROLL
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES, from = n * TSR_WARP_LANES + first;
		float *const to[4] = { w->rgba[0] + from, w->rgba[1] + from, w->rgba[2] + from,
				       w->rgba[3] + from };

		if (one)
			filter_one(l, texels, &c[chunk], &at[0][first], near, apart,
				   w->reference ? w->reference + from : NULL, to);
		else if (!bytes)
			filter_floats(texels, &c[chunk], &at[0][first], near, apart, l->flat, to);
		else if (near)
			near_bytes(texels, &at[0][first], to);
		else
			filter_bytes(texels, &c[chunk], &at[0][first],
				     apart >> first & ALL_OF_CHUNK,
				     l->result == TSR_LEVEL_RAW, to);
	}
}

#ifdef TSR_ALU_AVX512
#include "tex_rows.h"
#endif

/* Warps of @w from number @first on; returns lanes that are not done, of any warp. */
TSR_INLINE unsigned int lookup_group(const struct tsr_level_lookup *l,
				     const struct tsr_level_warps *w, unsigned int first, bool near,
				     bool bytes, bool one)
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

		if (!g.lanes[i]) {
			w->done[first + i] = 0;
			rest |= w->lanes[first + i];
			continue;
		}
		if (whole)
			apart = find_there(g.c[i], at, near);
		else
			g.lanes[i] = find_alone(l, g.c[i], g.lanes[i], at, &apart);
		filter_warp(l, w, first + i, g.c[i], at, apart, near, bytes, one);
		w->done[first + i] = g.lanes[i];
		rest |= w->lanes[first + i] & ~g.lanes[i];
	}
	return rest;
}

TSR_INLINE unsigned int lookup_groups(const struct tsr_level_lookup *l,
				      const struct tsr_level_warps *w, bool near, bool bytes,
				      bool one)
{
	unsigned int rest = 0;

	for (unsigned int n = 0; n < w->count; n += GROUP_WARPS) {
#ifdef TSR_ALU_AVX512
		struct rows rows;

		if (bytes && !near && !one && !l->flat && find_rows(l, w, n, &rows)) {
			filter_rows(l, w, n, &rows);
			continue;
		}
#endif
		rest |= lookup_group(l, w, n, near, bytes, one);
	}
	return rest;
}

TSR_UNCHECKED_ static unsigned int lookup_bytes(const struct tsr_level_lookup *l,
						const struct tsr_level_warps *w)
{
	return lookup_groups(l, w, false, true, false);
}

TSR_UNCHECKED_ static unsigned int lookup_floats(const struct tsr_level_lookup *l,
						 const struct tsr_level_warps *w)
{
	return lookup_groups(l, w, false, false, false);
}

TSR_UNCHECKED_ static unsigned int lookup_near(const struct tsr_level_lookup *l,
					       const struct tsr_level_warps *w)
{
	return l->bytes ? lookup_groups(l, w, true, true, false)
			: lookup_groups(l, w, true, false, false);
}

/* Lookups that return one component. */
TSR_UNCHECKED_ static unsigned int lookup_one(const struct tsr_level_lookup *l,
					      const struct tsr_level_warps *w)
{
	return l->near ? lookup_groups(l, w, true, false, true)
		       : lookup_groups(l, w, false, false, true);
}

TSR_UNCHECKED_ static unsigned int lookup(const struct tsr_level_lookup *l,
					  const struct tsr_level_warps *w)
{
	if (l->result >= TSR_LEVEL_COMPARE)
		return lookup_one(l, w);
	if (l->near)
		return lookup_near(l, w);
	return l->bytes ? lookup_bytes(l, w) : lookup_floats(l, w);
}

/* The lanes of a strip's chunk number @chunk that are in @lanes. */
TSR_INLINE vs32 mask_of_chunk(uint64_t lanes, unsigned int chunk)
{
	return mask_of_lanes(lanes >> chunk * TSR_CHUNK_LANES & ALL_OF_CHUNK);
}

/* Have in @l's window the texels of lanes @lanes of @g, the nearest ones; false: it has not. */
TSR_INLINE bool bring_some(const struct tsr_level_lookup *l, const struct group *g, uint64_t lanes)
{
	const unsigned int first = (unsigned int)__builtin_ctzll(lanes);
	const unsigned int lane = first % TSR_WARP_LANES;
	const struct corners *k = &g->c[first / TSR_WARP_LANES][lane / TSR_CHUNK_LANES];
	vs32 half[2] = { splat_word(0), splat_word(0) }, all = splat_word(0);
	struct tsr_window_area a = {
		.x = first_of_area(&l->axis[0], k->x.x0[lane % TSR_CHUNK_LANES]),
		.y = first_of_area(&l->axis[1], k->y.x0[lane % TSR_CHUNK_LANES]),
	};

	for (unsigned int i = 0; i < g->count * TSR_CHUNKS; i++) {
		const vs32 own = mask_of_chunk(lanes, i);

		k = &g->c[i / TSR_CHUNKS][i % TSR_CHUNKS];
		all |= own & (((k->x.x0 >> 2) - a.x) |
			      add_rows(half, shifted(splat_word(1), (k->x.x0 >> 2) - a.x) & own,
				       (k->y.x0 >> 2) - a.y));
	}
	a.blocks = any_of(half[0]) | (uint64_t)any_of(half[1]) << 32;
	return any_of(all) < TSR_TEX_AREA_DIM && tsr_window_bring_area(l, &a);
}

/* Note that @lanes use the texels at places @at of window @w. */
TSR_INLINE void note_lanes(struct tsr_tex_window *w, const int32_t *at, uint64_t lanes)
{
	for (; lanes && !w->all_used; lanes &= lanes - 1)
		w->used[at[__builtin_ctzll(lanes)]] = 1;
}

#define GROUP_CHUNKS (GROUP_WARPS * TSR_CHUNKS)

/* Where the nearest texels of a chunk are in any window, and what says that they are there. */
struct nearest {
	vs32 place, tile, tag, row, column;
};

TSR_INLINE void find_nearest(const struct group *g, struct nearest at[GROUP_CHUNKS])
{
	for (unsigned int i = 0; i < g->count * TSR_CHUNKS; i++) {
		const struct corners *k = &g->c[i / TSR_CHUNKS][i % TSR_CHUNKS];
		const vs32 x = k->x.x0, y = k->y.x0;

		at[i] = (struct nearest){
			.place = place_of(x, y), .tile = lane_tiles(x, y), .tag = lane_tags(x, y),
			.row = y >> 2, .column = bit_of_row(x >> 2),
		};
	}
}

/* True if window @w has the nearest texels of @lanes. */
TSR_INLINE bool has_nearest(const struct tsr_tex_window *w, const struct nearest *at,
			    unsigned int chunks, uint64_t lanes)
{
	vs32 missing = splat_word(0);

	if (!w->missing)
		return true;
	for (unsigned int i = 0; i < chunks; i++) {
		const vs32 there = (of_sixteen(w->tag, at[i].tile) == at[i].tag) &
				   ((of_sixteen(w->valid, at[i].row) & at[i].column) != 0);

		missing |= ~there & mask_of_chunk(lanes, i);
	}
	return !any_of(missing);
}

/*
 * Windows follow one another, and so do the texels in them, so that lanes in different slices have
 * their places in one array.
 */
TSR_UNCHECKED_ static bool lookup_slices(const struct tsr_level_lookup *const *l,
					 const uint64_t *lanes, unsigned int count,
					 const struct tsr_level_warps *w)
{
	struct tsr_texture_cache *cache = l[0]->env->textures;
	int32_t at[GROUP_WARPS * TSR_WARP_LANES] __attribute__((aligned(64)));
	const int32_t step = l[0]->bytes ? TSR_TEX_WINDOW_TEXELS * TSR_TEX_TEXEL_BYTES_MAX / 4
					 : TSR_TEX_WINDOW_TEXELS;
	const unsigned int chunks = w->count * TSR_CHUNKS;
	struct group g = { .count = w->count };
	struct nearest nearest[GROUP_CHUNKS];
	vs32 window[GROUP_CHUNKS];

	find_all_corners(l[0], w, 0, true, &g);
	for (unsigned int i = 0; i < w->count; i++) {
		if (g.lanes[i] != w->lanes[i])
			return false;
	}
	find_nearest(&g, nearest);
	for (unsigned int i = 0; i < chunks; i++) {
		window[i] = splat_word(0);
		memcpy(&at[i * TSR_CHUNK_LANES], &nearest[i].place, sizeof(vs32));
	}
	for (unsigned int n = 0; n < count; n++) {
		const int32_t base = (int32_t)(l[n]->window - cache->window) * step;

		if (!has_nearest(l[n]->window, nearest, chunks, lanes[n]) &&
		    !bring_some(l[n], &g, lanes[n]))
			return false;
		note_lanes(l[n]->window, at, lanes[n]);
		for (unsigned int i = 0; i < chunks; i++)
			window[i] |= mask_of_chunk(lanes[n], i) & base;
	}
	for (unsigned int i = 0; i < chunks; i++) {
		const unsigned int from = i * TSR_CHUNK_LANES;
		float *const to[4] = { w->rgba[0] + from, w->rgba[1] + from, w->rgba[2] + from,
				       w->rgba[3] + from };
		const vs32 place = nearest[i].place + window[i];

		memcpy(&at[from], &place, sizeof(place));
		if (l[0]->bytes)
			near_bytes(cache->texel[0], &at[from], to);
		else
			filter_floats(cache->texel[0], &g.c[0][0], &at[from], true, false, false,
				      to);
	}
	return true;
}

#include "tex_lods.h"

static const struct tsr_texture_path texture_path = {
	.lookup = lookup, .lookup_slices = lookup_slices,
	.merge = merge, .mix_some = mix_some, .divide = divide, .one_nan = one_nan,
	.equal = equal_words,
	.squares = squares, .quad_lods = quad_lods, .lane_lods = lane_lods,
	.lane_levels = lane_levels, .slices = slices, .halves = halves,
};
