/* SPDX-License-Identifier: MIT */
/*
 * Lookups in one level of a texture, for many lanes at once. A template, see alu_path.h.
 *
 * The lanes of a chunk use texels of a few blocks. A window of 2 by 2 blocks around as many lanes
 * as possible is looked up as a whole: a word of 64 bits, one for each texel of the window, says
 * which of its blocks are needed at all and which of their texels are used. Lanes that lie in no
 * window with others look up their blocks one by one.
 */
#include "tex_warp.h"

/* Not more than this is known to be in 1 / TSR_TEXEL_ONE: the rest is for msg_filter.c. */
#define FARTHEST 0x1p22f
/* 1 / 255 of values that have been multiplied by TSR_TEXEL_ONE */
#define BYTES_ONE (255.0f * TSR_TEXEL_ONE)

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

TSR_INLINE int32_t smallest(vs32 v)
{
#if defined(TSR_ALU_AVX512)
	return _mm512_reduce_min_epi32((__m512i)v);
#elif defined(TSR_ALU_AVX2)
	__m128i m = _mm_min_epi32(_mm256_castsi256_si128((__m256i)v),
				  _mm256_extracti128_si256((__m256i)v, 1));

	m = _mm_min_epi32(m, _mm_shuffle_epi32(m, 0x4e));
	return _mm_cvtsi128_si32(_mm_min_epi32(m, _mm_shuffle_epi32(m, 0xb1)));
#else
	int32_t m = v[0];

	for (unsigned int i = 1; i < TSR_CHUNK_LANES; i++)
		m = v[i] < m ? v[i] : m;
	return m;
#endif
}

/* Words of @table that bits 1:0 of @index name. */
TSR_INLINE vs32 of_four(const int32_t table[4], vs32 index)
{
#if defined(TSR_ALU_AVX512)
	__m512i t = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)table));

	return (vs32)_mm512_permutevar_ps((__m512)t, (__m512i)index);
#elif defined(TSR_ALU_AVX2)
	__m256 t = _mm256_broadcast_ps((const __m128 *)table);

	return (vs32)_mm256_permutevar_ps(t, (__m256i)index);
#else
	vs32 r;

	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		r[i] = table[index[i] & 3];
	return r;
#endif
}

/* The words at @base + @offset, in bytes. */
TSR_INLINE vs32 gathered(const uint8_t *base, vs32 offset)
{
#if defined(TSR_ALU_AVX512)
	return (vs32)_mm512_i32gather_epi32((__m512i)offset, base, 1);
#elif defined(TSR_ALU_AVX2)
	return (vs32)_mm256_i32gather_epi32((const int *)base, (__m256i)offset, 1);
#else
	vs32 r;

	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		memcpy((char *)&r + 4 * i, base + offset[i], 4);
	return r;
#endif
}

/* ---- Coordinates ----------------------------------------------------------------------------- */

/* What a lookup knows of one axis. */
struct axis {
	unsigned int mode;		/* enum tsr_wrap_mode */
	int32_t extent;
	float scale;			/* from coordinates to what is rounded */
	float half;			/* added before the nearest texel is found */
	int32_t center;
	bool power;			/* the extent is a power of two */
	/* REPEAT: windows go over the seam; what block numbers are cut to */
	bool over;
	uint32_t blocks;
};

TSR_INLINE struct axis axis_of(const struct tsr_level_lookup *l, uint32_t extent,
			       unsigned int mode)
{
	bool cube = l->view->dimension == TSR_TEXTURE_DIMENSION_CUBE;
	struct axis a = {
		.mode = !cube ? mode : l->sampler->seamless ? TSR_WRAP_MODE_CLAMP_TO_BORDER
							    : TSR_WRAP_MODE_CLAMP_TO_EDGE,
		.extent = (int32_t)tsr_level_extent(extent, l->place.level),
		.half = l->view->center ? 0 : 0.5f,
		.center = l->view->center,
	};

	a.scale = (tsr_is_normalized(l->view, l->sampler) ? (float)a.extent : 1) *
		  (l->near ? 1 : TSR_TEXEL_ONE);
	a.power = !(a.extent & (a.extent - 1));
	a.over = a.power && a.mode == TSR_WRAP_MODE_REPEAT && a.extent >= TSR_TEX_BLOCK_DIM;
	a.blocks = a.over ? (uint32_t)a.extent / TSR_TEX_BLOCK_DIM - 1 : UINT32_MAX;
	return a;
}

/* The texel that wrapping makes of @i; lanes in which it is none of the level are added to @bad. */
TSR_INLINE vs32 wrapped(const struct axis *a, vs32 i, vs32 *bad)
{
	int32_t n = a->extent, period = a->mode == TSR_WRAP_MODE_REPEAT ? n : 2 * n;

	switch (a->mode) {
	case TSR_WRAP_MODE_REPEAT:
	case TSR_WRAP_MODE_MIRRORED_REPEAT:
		if (a->over)
			return i;
		if (a->power) {
			i &= period - 1;
		} else {
			i += (i < 0) & period;
			i -= (i >= period) & period;
			*bad |= (i < 0) | (i >= period);
		}
		return a->mode == TSR_WRAP_MODE_REPEAT ? i : pick(i < n, i, 2 * n - 1 - i);
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
 * Texels of a chunk along an axis: the two around, or the nearest one; the upper one's weight. With
 * axis.over they are not wrapped yet.
 */
struct texels {
	vs32 x0, x1, weight;
};

TSR_INLINE struct texels find_texels(const struct axis *a, const float *c, bool near, vs32 *bad)
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

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Texels of a chunk: (x0, y0), (x1, y0), (x0, y1), (x1, y1), by their bytes in the L1. */
struct corners {
	vs32 at[4];
};

/* One bit for each texel of a window that is used by lanes of @fit: 8 * y + x. */
TSR_INLINE uint64_t used_texels(const struct texels *x, const struct texels *y, int32_t ox,
				int32_t oy, vs32 fit)
{
	vs32 x0 = x->x0 - ox, x1 = x->x1 - ox, y0 = (y->x0 - oy) * 8, y1 = (y->x1 - oy) * 8;
	uint64_t used = 0;
#if defined(TSR_ALU_AVX512)
	__m512i one = _mm512_set1_epi32(1);
	__m512i column = _mm512_and_si512((__m512i)fit, _mm512_or_si512(
		_mm512_sllv_epi32(one, (__m512i)x0), _mm512_sllv_epi32(one, (__m512i)x1)));
	__m512i sum = _mm512_setzero_si512();

	for (unsigned int half = 0; half < 2; half++) {
		__m256i c = half ? _mm512_extracti64x4_epi64(column, 1)
				 : _mm512_castsi512_si256(column);
		__m256i s0 = half ? _mm512_extracti64x4_epi64((__m512i)y0, 1)
				  : _mm512_castsi512_si256((__m512i)y0);
		__m256i s1 = half ? _mm512_extracti64x4_epi64((__m512i)y1, 1)
				  : _mm512_castsi512_si256((__m512i)y1);
		__m512i wide = _mm512_cvtepu32_epi64(c);

		sum = _mm512_ternarylogic_epi64(
			sum, _mm512_sllv_epi64(wide, _mm512_cvtepu32_epi64(s0)),
			_mm512_sllv_epi64(wide, _mm512_cvtepu32_epi64(s1)), 0xfe);
	}
	used = (uint64_t)_mm512_reduce_or_epi64(sum);
#elif defined(TSR_ALU_AVX2)
	__m256i one = _mm256_set1_epi32(1);
	__m256i column = _mm256_and_si256((__m256i)fit, _mm256_or_si256(
		_mm256_sllv_epi32(one, (__m256i)x0), _mm256_sllv_epi32(one, (__m256i)x1)));
	/* the order of lanes does not matter: even ones, then odd ones */
	__m256i low = _mm256_set1_epi64x(0xffffffff);
	__m256i even = _mm256_and_si256(column, low), odd = _mm256_srli_epi64(column, 32);
	__m256i sum = _mm256_or_si256(
		_mm256_or_si256(
			_mm256_sllv_epi64(even, _mm256_and_si256((__m256i)y0, low)),
			_mm256_sllv_epi64(even, _mm256_and_si256((__m256i)y1, low))),
		_mm256_or_si256(
			_mm256_sllv_epi64(odd, _mm256_srli_epi64((__m256i)y0, 32)),
			_mm256_sllv_epi64(odd, _mm256_srli_epi64((__m256i)y1, 32))));
	__m128i two = _mm_or_si128(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));

	used = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(two, _mm_unpackhi_epi64(two, two)));
#else
	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++) {
		uint64_t column = fit[i] ? 1ull << x0[i] | 1ull << x1[i] : 0;

		if (column)
			used |= column << y0[i] | column << y1[i];
	}
#endif
	return used;
}

#define BLOCK_TEXELS 0x0f0f0f0fu

/* The axes of a lookup: s and t. */
struct axes {
	struct axis s, t;
};

/* The blocks of the window at block (@x, @y) that have texels in @used; false: one has none. */
TSR_OUT_OF_LINE_ static bool find_blocks(const struct tsr_level_lookup *l, const struct axes *axes,
					 int32_t x, int32_t y, uint64_t used,
					 struct tsr_window *window)
{
	struct tsr_texture_cache *cache = l->env->textures;
	struct tsr_block_place place = l->place;
	bool whole = true;

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++) {
		uint32_t texels = (uint32_t)(used >> ((i & 1) * 4 + (i >> 1) * 32)) & BLOCK_TEXELS;
		int found;

		window->slot[i] = 0;
		if (!texels)
			continue;
		place.x = ((uint32_t)x + (i & 1)) & axes->s.blocks;
		place.y = ((uint32_t)y + (i >> 1)) & axes->t.blocks;
		found = tsr_block_find(cache, l->key | place.x | (uint64_t)place.y << 14);
		if (found < 0)
			found = tsr_block_fill(l->env, l->view, &place);
		window->slot[i] = found * TSR_TEX_BLOCK_BYTES_MAX;
		if (found < 0)
			whole = false;
		else
			tsr_block_touch(cache, (unsigned int)found, texels);
	}
	return whole;
}

/*
 * Where the blocks of the window at block (@x, @y) are that have texels in @used: what the last
 * lookup has found, most of the time. Negative: it cannot be had; then *@lost is set.
 */
TSR_INLINE const int32_t *find_window(const struct tsr_level_lookup *l, const struct axes *axes,
				      int32_t x, int32_t y, uint64_t used, bool *lost)
{
	struct tsr_texture_cache *cache = l->env->textures;
	struct tsr_window *w = &cache->window;

	if (w->x == x && w->y == y && w->key == l->key) {
		if (!(used & ~w->used)) {
			w->stamp = cache->now;
			return w->slot;
		}
		/* what it has already is still there, or a fill would have made it void */
		used |= w->used;
	}
	tsr_window_settle(cache);
	w->used = 0;
	if (!find_blocks(l, axes, x, y, used, w)) {
		*lost = true;
		return w->slot;
	}
	w->x = x;
	w->y = y;
	w->key = l->key;
	w->used = used;
	return w->slot;
}

/* The blocks of lane @i on their own; false: they cannot be had. */
TSR_OUT_OF_LINE_ static bool lone_lane(const struct tsr_level_lookup *l, const struct axes *axes,
				       const int32_t x[2], const int32_t y[2], unsigned int count,
				       unsigned int shift, int32_t at[4])
{
	struct tsr_block_place place = l->place;

	for (unsigned int c = 0; c < count; c++) {
		int32_t tx = x[c & 1], ty = y[c >> 1];
		int slot;

		place.x = (uint32_t)(tx >> 2) & axes->s.blocks;
		place.y = (uint32_t)(ty >> 2) & axes->t.blocks;
		slot = tsr_block_get(l->env, l->view, &place);
		if (slot < 0)
			return false;
		tsr_block_touch(l->env->textures, (unsigned int)slot,
				1u << (8 * (ty & 3) + (tx & 3)));
		at[c] = slot * TSR_TEX_BLOCK_BYTES_MAX + (((tx & 3) | (ty & 3) << 2) << shift);
	}
	return true;
}

/* Lanes @todo of a chunk, one by one; returns those that could not be done. */
TSR_INLINE unsigned int lone_lanes(const struct tsr_level_lookup *l, const struct axes *axes,
				   const struct texels *x, const struct texels *y,
				   unsigned int todo, bool near, unsigned int shift,
				   struct corners *c)
{
	unsigned int failed = 0;

	for (; todo; todo &= todo - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(todo);
		const int32_t tx[2] = { x->x0[i], x->x1[i] }, ty[2] = { y->x0[i], y->x1[i] };
		int32_t at[4] = { 0 };

		if (!lone_lane(l, axes, tx, ty, near ? 1 : 4, shift, at))
			failed |= 1u << i;
		for (unsigned int n = 0; n < (near ? 1 : 4); n++)
			c->at[n][i] = at[n];
	}
	return failed;
}

/* Where texels are in their blocks, by the numbers of their columns or rows. */
TSR_INLINE vs32 in_block(vs32 x, unsigned int shift)
{
	return (x & 3) << shift;
}

/*
 * Find the texels of lanes @todo, which are all of the chunk if @full; returns the lanes whose
 * texels have been found.
 */
TSR_INLINE unsigned int find_corners(const struct tsr_level_lookup *l, const struct axes *axes,
				     const struct texels *x, const struct texels *y,
				     unsigned int todo, bool full, bool near,
				     unsigned int shift, struct corners *c)
{
	const vs32 bx0 = x->x0 >> 2, bx1 = x->x1 >> 2, by0 = y->x0 >> 2, by1 = y->x1 >> 2;
	const vs32 tx0 = in_block(x->x0, shift), tx1 = in_block(x->x1, shift);
	const vs32 ty0 = in_block(y->x0, shift + 2), ty1 = in_block(y->x1, shift + 2);
	const vs32 far = splat(INT32_MAX);
	const struct tsr_window *last = &l->env->textures->window;
	/* the window of the last lookup may do; else one from the first block that is needed */
	bool again = last->key == l->key && last->used;
	unsigned int all = todo, failed = 0;
	vs32 mask = full ? splat(-1) : mask_of(todo);

	while (todo) {
		int32_t ox = again ? last->x :
			     smallest(pick(mask, near ? bx0 : smaller(bx0, bx1), far));
		int32_t oy = again ? last->y :
			     smallest(pick(mask, near ? by0 : smaller(by0, by1), far));
		vs32 ix0 = bx0 - ox, ix1 = bx1 - ox, iy0 = (by0 - oy) << 1, iy1 = (by1 - oy) << 1;
		vs32 beyond = ((ix0 | ix1) & ~1) | ((iy0 | iy1) & ~2);
		vs32 fit = mask & (beyond == 0);
		unsigned int fits = bits_of(fit);
		const int32_t *slot;
		bool lost = false;

		if (again && fits != todo) {
			again = false;
			continue;
		}
		if (!fits) {
			failed |= lone_lanes(l, axes, x, y, todo, near, shift, c);
			break;
		}
		slot = find_window(l, axes, ox, oy,
				   used_texels(x, y, ox * 4, oy * 4, fit), &lost);
		TSR_UNROLL
		for (unsigned int n = 0; n < 4; n++) {
			vs32 at;

			if (near && n)
				break;
			at = of_four(slot, (n & 1 ? ix1 : ix0) | (n & 2 ? iy1 : iy0));

			if (lost)
				failed |= bits_of((at < 0) & fit);
			at += (n & 1 ? tx1 : tx0) | (n & 2 ? ty1 : ty0);
			c->at[n] = fits == all ? at : pick(fit, at, c->at[n]);
		}
		todo &= ~fits;
		mask &= ~fit;
	}
	if (full && !failed)
		return all;
	mask = mask_of(all & ~failed);
	TSR_UNROLL
	for (unsigned int n = 0; n < 4; n++)
		c->at[n] &= mask;
	return all & ~failed;
}

/* ---- Filters --------------------------------------------------------------------------------- */

/* @x / BYTES_ONE, rounded as a division rounds. */
TSR_INLINE vf32 divided(vf32 x)
{
#if defined(TSR_ALU_AVX512)
	const __m512 one = _mm512_set1_ps(BYTES_ONE), inverse = _mm512_set1_ps(1 / BYTES_ONE);
	__m512 q = _mm512_mul_ps((__m512)x, inverse);

	return (vf32)_mm512_fmadd_ps(_mm512_fnmadd_ps(q, one, (__m512)x), inverse, q);
#elif defined(TSR_ALU_AVX2)
	const __m256 one = _mm256_set1_ps(BYTES_ONE), inverse = _mm256_set1_ps(1 / BYTES_ONE);
	__m256 q = _mm256_mul_ps((__m256)x, inverse);

	return (vf32)_mm256_fmadd_ps(_mm256_fnmadd_ps(q, one, (__m256)x), inverse, q);
#else
	return x / BYTES_ONE;
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

TSR_INLINE void store(const struct tsr_level_lookup *l, unsigned int chunk, unsigned int c, vf32 x)
{
	memcpy(l->rgba[c] + chunk * TSR_CHUNK_LANES, &x, sizeof(x));
}

/* Bytes: all of it is exact but the division. */
TSR_INLINE void filter_bytes(const struct tsr_level_lookup *l, const struct corners *corner,
			     const struct texels *x, const struct texels *y, unsigned int chunk,
			     bool near)
{
	const uint8_t *base = &l->env->textures->block[0][0];
	const vs32 even = splat(0x00ff00ff);
	const vu16 wx = (vu16)(x->weight | x->weight << 16);
	const vf32 wy = __builtin_convertvector(y->weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	vs32 t[4], top, bottom;

	TSR_UNROLL
	for (unsigned int n = 0; n < 4; n++)
		t[n] = near && n ? t[0] : gathered(base, corner->at[n]);
	TSR_UNROLL
	for (unsigned int odd = 0; odd < 2; odd++) {
		if (near) {
			top = (t[0] >> 8 * odd & even) << 8;
			store(l, chunk, odd,
			      divided(__builtin_convertvector(top & 0xffff, vf32)));
			store(l, chunk, odd + 2, divided(__builtin_convertvector(
				(vs32)((vu32)top >> 16), vf32)));
			continue;
		}
		top = between(t[0] >> 8 * odd & even, t[1] >> 8 * odd & even, wx);
		bottom = between(t[2] >> 8 * odd & even, t[3] >> 8 * odd & even, wx);
		TSR_UNROLL
		for (unsigned int high = 0; high < 2; high++) {
			vf32 a = __builtin_convertvector(
				high ? (vs32)((vu32)top >> 16) : top & 0xffff, vf32);
			vf32 b = __builtin_convertvector(
				high ? (vs32)((vu32)bottom >> 16) : bottom & 0xffff, vf32);

			store(l, chunk, odd + 2 * high, divided(a + (b - a) * wy));
		}
	}
}

/* The four components of a texel. */
typedef float vtexel __attribute__((vector_size(16)));

TSR_INLINE vtexel texel_at(const uint8_t *p)
{
	vtexel t;

	memcpy(&t, __builtin_assume_aligned(p, 16), sizeof(t));
	return t;
}

/* Four texels to four components of four lanes each. */
TSR_INLINE void store_texels(const struct tsr_level_lookup *l, unsigned int lane,
			     const vtexel t[4])
{
	vtexel low0 = __builtin_shufflevector(t[0], t[1], 0, 4, 1, 5);
	vtexel low1 = __builtin_shufflevector(t[2], t[3], 0, 4, 1, 5);
	vtexel high0 = __builtin_shufflevector(t[0], t[1], 2, 6, 3, 7);
	vtexel high1 = __builtin_shufflevector(t[2], t[3], 2, 6, 3, 7);
	vtexel c[4] = {
		__builtin_shufflevector(low0, low1, 0, 1, 4, 5),
		__builtin_shufflevector(low0, low1, 2, 3, 6, 7),
		__builtin_shufflevector(high0, high1, 0, 1, 4, 5),
		__builtin_shufflevector(high0, high1, 2, 3, 6, 7),
	};

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++)
		memcpy(l->rgba[i] + lane, &c[i], sizeof(c[i]));
}

/* Numbers: lane by lane, all components at once. */
TSR_INLINE void filter_floats(const struct tsr_level_lookup *l, const struct corners *corner,
			      const struct texels *x, const struct texels *y, unsigned int chunk,
			      bool near)
{
	const uint8_t *base = &l->env->textures->block[0][0];
	const vf32 wx = __builtin_convertvector(x->weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	const vf32 wy = __builtin_convertvector(y->weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	int32_t at[4][TSR_CHUNK_LANES];
	float weight[2][TSR_CHUNK_LANES];
	vtexel t[4];

	memcpy(at, corner->at, sizeof(at));
	memcpy(weight[0], &wx, sizeof(wx));
	memcpy(weight[1], &wy, sizeof(wy));
	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++) {
		vtexel a = texel_at(base + at[0][i]), b;

		if (!near) {
			a += (texel_at(base + at[1][i]) - a) * weight[0][i];
			b = texel_at(base + at[2][i]);
			b += (texel_at(base + at[3][i]) - b) * weight[0][i];
			a += (b - a) * weight[1][i];
		}
		t[i % 4] = a;
		if (i % 4 == 3)
			store_texels(l, chunk * TSR_CHUNK_LANES + i - 3, t);
	}
}

TSR_INLINE uint16_t lookup_as(const struct tsr_level_lookup *l, bool near, bool bytes)
{
	const struct axes axes = {
		.s = axis_of(l, l->view->width, l->sampler->wrap_s),
		.t = axis_of(l, l->view->height, l->sampler->wrap_t),
	};
	const unsigned int shift = bytes ? 2 : 4;
	unsigned int done = 0;

	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES;
		unsigned int lanes = l->lanes >> first & ALL_OF_CHUNK;
		vs32 bad = splat(0);
		struct corners corner = { { splat(0), splat(0), splat(0), splat(0) } };
		struct texels x, y;

		if (!lanes)
			continue;
		x = find_texels(&axes.s, l->s + first, near, &bad);
		y = find_texels(&axes.t, l->t + first, near, &bad);
		l->env->textures->now++;
		lanes &= ~bits_of(bad);
		lanes = lanes == ALL_OF_CHUNK ?
			find_corners(l, &axes, &x, &y, ALL_OF_CHUNK, true, near, shift, &corner) :
			find_corners(l, &axes, &x, &y, lanes, false, near, shift, &corner);
		done |= lanes << first;
		if (bytes)
			filter_bytes(l, &corner, &x, &y, chunk, near);
		else
			filter_floats(l, &corner, &x, &y, chunk, near);
	}
	return (uint16_t)done;
}

TSR_UNCHECKED_ static uint16_t lookup_bytes(const struct tsr_level_lookup *l)
{
	return lookup_as(l, false, true);
}

TSR_UNCHECKED_ static uint16_t lookup_floats(const struct tsr_level_lookup *l)
{
	return lookup_as(l, false, false);
}

TSR_UNCHECKED_ static uint16_t lookup_near(const struct tsr_level_lookup *l)
{
	return l->view->kind[l->place.linear] == TSR_TEX_BLOCK_BYTES ? lookup_as(l, true, true)
								 : lookup_as(l, true, false);
}

TSR_UNCHECKED_ static uint16_t lookup(const struct tsr_level_lookup *l)
{
	if (l->near)
		return lookup_near(l);
	return l->view->kind[l->place.linear] == TSR_TEX_BLOCK_BYTES ? lookup_bytes(l)
								 : lookup_floats(l);
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

/* Of four quads: squares of the lengths of their derivatives, in texels. */
TSR_UNCHECKED_ static void squares(const float *s, const float *t, const float unit[2],
				   float along_x[4], float along_y[4])
{
	vtexel x = { 0 }, y = { 0 };

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
		x += dx * dx;
		y += dy * dy;
	}
	memcpy(along_x, &x, sizeof(x));
	memcpy(along_y, &y, sizeof(y));
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
	.lookup = lookup, .mix = mix, .squares = squares, .halves = halves,
};
