/* SPDX-License-Identifier: MIT */
/*
 * Where the texels of lanes are in the window of a level. Part of the template of tex_path.h.
 *
 * Texels have their place in the window; blocks it does not have are brought by
 * tsr_window_bring_area() or tsr_window_bring(). In lanes that are not done nothing of what is
 * computed counts: they use the window's spare row, or the texels of another lane.
 */
#include "sampler.h"

/* Not more than this is known to be in 1 / TSR_TEXEL_ONE: the rest is for msg_filter.c. */
#define FARTHEST 0x1p22f

#define ALL_OF_CHUNK ((1u << TSR_CHUNK_LANES) - 1)

TSR_INLINE vs32 splat_word(int32_t x)
{
	return (vs32){0} + x;
}

TSR_INLINE vf32 splat_float(float x)
{
	return (vf32){0} + x;
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

TSR_INLINE vs32 mask_of_lanes(unsigned int bits)
{
	static const int32_t one[TSR_WARP_LANES] = {
		1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768
	};
	vs32 lane;

	memcpy(&lane, one, sizeof(lane));
	return (splat_word((int32_t)bits) & lane) != 0;
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
		return tsr_pick(i < n, i, 2 * n - 1 - i);
	case TSR_WRAP_MODE_MIRRORED_CLAMP_TO_EDGE:
		return tsr_smaller(i ^ i >> 31, splat_word(n - 1));
	case TSR_WRAP_MODE_MIRRORED_CLAMP_TO_BORDER:
		i ^= i >> 31;
		*bad |= i >= n;
		return i;
	case TSR_WRAP_MODE_CLAMP_TO_BORDER:
		*bad |= (i < 0) | (i >= n);
		return i;
	default:
		return tsr_smaller(tsr_larger(i, splat_word(0)), splat_word(n - 1));
	}
}

/*
 * Texels of a chunk along an axis: the two around, or the nearest one; the upper one's weight.
 */
struct texels {
	vs32 x0, x1, weight;
};

TSR_INLINE struct texels find_texels(const struct tsr_level_axis *a, vf32 x, bool near, vs32 *bad)
{
	float most = near ? FARTHEST : FARTHEST * TSR_TEXEL_ONE;
	struct texels t;
	vs32 fixed, i;

	x *= a->scale;
	*bad |= ~((vf32)((vs32)x & 0x7fffffff) < most);
	/* what cannot be converted is not converted, where that is not without consequences */
	if (near || !HAS_CONVERSION)
		x = (vf32)((vs32)x & ~*bad);
	if (near) {
		x += a->half;
		i = __builtin_convertvector(x, vs32);
		i += __builtin_convertvector(i, vf32) > x;
		i += a->offset;
		t.x0 = t.x1 = wrapped(a, i, bad);
		t.weight = splat_word(0);
		return t;
	}
	fixed = rounded(x) - a->center;
	t.weight = fixed & (TSR_TEXEL_ONE - 1);
	i = (fixed >> 8) + a->offset;
	t.x0 = wrapped(a, i, bad);
	t.x1 = wrapped(a, i + 1, bad);
	return t;
}

/* Texels whose numbers are known. */
TSR_INLINE struct texels texels_as_they_are(vf32 x)
{
	return (struct texels){ (vs32)x, (vs32)x, splat_word(0) };
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* The texels of a chunk: (x0, y0) to (x1, y1). */
struct corners {
	struct texels x, y;
};

/* 1 << @n % 16 */
TSR_INLINE vs32 bit_of_row(vs32 n)
{
	return splat_word(1) << (n & 15);
}

/* tsr_window_tile() and tsr_window_tag() of each lane. */
TSR_INLINE vs32 lane_tiles(vs32 x, vs32 y)
{
	return (x >> 4 & 3) | (y >> 2 & 12);
}

TSR_INLINE vs32 lane_tags(vs32 x, vs32 y)
{
	return x >> 6 | y >> 6 << 10;
}

/* Lanes whose tile for (@x, @y) has its place. */
TSR_INLINE vs32 has_tile(const struct tsr_tex_window *w, vs32 x, vs32 y)
{
	return of_sixteen(w->tag, lane_tiles(x, y)) == lane_tags(x, y);
}

/* Lanes all of whose tiles have their places. */
TSR_INLINE vs32 has_tiles(const struct tsr_tex_window *w, const struct corners *c, bool near)
{
	vs32 x0 = c->x.x0, x1 = c->x.x1, y0 = c->y.x0, y1 = c->y.x1;

	return near ? has_tile(w, x0, y0) : has_tile(w, x0, y0) & has_tile(w, x1, y0) &
					    has_tile(w, x0, y1) & has_tile(w, x1, y1);
}

/* Lanes all of whose blocks are present. */
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
	y &= TSR_TEX_WINDOW_DIM - 1;
	return (x & (TSR_TEX_WINDOW_DIM - 1)) + (y << 6) + (y << 4);
}

/* Places of texels in the spare row, for lanes from @first on. */
TSR_INLINE vs32 spare_of(unsigned int first)
{
	static const int32_t spare[TSR_WARP_LANES] = {
		0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60
	};
	vs32 lane;

	memcpy(&lane, spare, sizeof(lane));
	return lane + (int32_t)(TSR_TEX_WINDOW_SPARE + 4 * first);
}

/* Have tiles of lanes @lanes take their places; returns the lanes that have, *@conflict: not so. */
TSR_INLINE uint16_t flip_tiles(const struct tsr_level_lookup *l,
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
	lanes = flip_tiles(l, c, &t, lanes, &conflict);
	if (conflict) {
		*direct = 0;
		return tsr_window_copy(l, &t, lanes);
	}
	lanes &= ~tsr_window_fill(l, &t, lanes & ~lanes_there(l->window, c, l->near, true));
	*direct = lanes;
	return lanes;
}

/*
 * Where the texels of lanes are: the left ones of both rows. The right ones are next to them; of
 * warps with lanes that have them elsewhere, apart, all of them are after the left ones.
 */
typedef int32_t places[4][TSR_WARP_LANES];

/* Lanes whose texels do not lie in pairs in the window. */
TSR_INLINE vs32 not_in_pairs(const struct corners *k)
{
	return ((k->x.x1 - k->x.x0 - 1) & (TSR_TEX_WINDOW_DIM - 1)) != 0;
}

/* Find the right ones; of lanes that are not @direct they are in the spare row. */
TSR_OUT_OF_LINE_ static void find_right(const struct corners c[TSR_CHUNKS], uint16_t direct,
					places at)
{
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES;
		const struct corners *k = &c[chunk];
		vs32 x = k->x.x1, spare = spare_of(first) + 1,
		     in = mask_of_lanes(direct >> first & ALL_OF_CHUNK);
		vs32 row[2] = { tsr_pick(in, place_of(x, k->y.x0), spare),
				tsr_pick(in, place_of(x, k->y.x1), spare + 2) };

		memcpy(&at[2][first], &row[0], sizeof(row[0]));
		memcpy(&at[3][first], &row[1], sizeof(row[1]));
	}
}

/*
 * Find out where the texels of @lanes of a warp are in the window; returns the lanes that have all.
 * @apart: lanes of which the right ones are not next to the left ones.
 */
TSR_OUT_OF_LINE_ static uint16_t find_alone(const struct tsr_level_lookup *l,
					    const struct corners c[TSR_CHUNKS], uint16_t lanes,
					    places at, uint16_t *apart)
{
	uint16_t there = lanes_there(l->window, c, l->near, true) & lanes, direct = there;
	unsigned int alone = 0;

	if (there != lanes)
		lanes = bring(l, c, lanes, &direct);
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES;
		const struct corners *k = &c[chunk];
		vs32 x = k->x.x0, spare = spare_of(first), in = mask_of_lanes(direct >> first &
									ALL_OF_CHUNK);
		vs32 row[2] = { tsr_pick(in, place_of(x, k->y.x0), spare),
				tsr_pick(in, place_of(x, k->y.x1), spare + 2) };

		memcpy(&at[0][first], &row[0], sizeof(row[0]));
		memcpy(&at[1][first], &row[1], sizeof(row[1]));
		alone |= bits_of(in & not_in_pairs(k)) << first;
	}
	*apart = l->near ? 0 : (uint16_t)alone;
	if (*apart)
		find_right(c, direct, at);
	return lanes;
}

/* The texels at @at are used, which do not all lie in pairs. */
TSR_OUT_OF_LINE_ static void note_apart(uint8_t *used, places at, uint16_t apart)
{
	static const uint8_t pair[2] = { 1, 1 };

	for (unsigned int i = 0; i < TSR_WARP_LANES; i++) {
		if (apart >> i & 1) {
			for (unsigned int n = 0; n < 4; n++)
				used[(uint32_t)at[n][i]] = 1;
			continue;
		}
		memcpy(used + (uint32_t)at[0][i], pair, 2);
		memcpy(used + (uint32_t)at[1][i], pair, 2);
	}
}

/* The texels at @at are used. */
TSR_INLINE void note_used(uint8_t *used, places at, bool near, uint16_t apart)
{
	static const uint8_t pair[2] = { 1, 1 };

	if (apart) {
		note_apart(used, at, apart);
		return;
	}
	TSR_UNROLL
	for (unsigned int i = 0; i < TSR_WARP_LANES; i++) {
		memcpy(used + (uint32_t)at[0][i], pair, near ? 1 : 2);
		if (!near)
			memcpy(used + (uint32_t)at[1][i], pair, 2);
	}
}

/* ---- Warps together -------------------------------------------------------------------------- */

#define GROUP_WARPS 4u

/* Warps that are looked up together: mostly those of one block of pixels. */
struct group {
	struct corners c[GROUP_WARPS][TSR_CHUNKS];
	unsigned int count;
	uint16_t lanes[GROUP_WARPS];	/* that have texels */
};

/* Numbers of all lanes of a vector in one. */
TSR_INLINE uint32_t any_of(vs32 x)
{
#if defined(TSR_ALU_AVX512)
	return (uint32_t)_mm512_reduce_or_epi32((__m512i)x);
#else
	uint32_t any = 0;

	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		any |= (uint32_t)x[i];
	return any;
#endif
}

/* @x << @n; 0 if @n is not one of 0 to 31. */
TSR_INLINE vs32 shifted(vs32 x, vs32 n)
{
#if defined(TSR_ALU_AVX512)
	return (vs32)_mm512_sllv_epi32((__m512i)x, (__m512i)n);
#elif defined(TSR_ALU_AVX2)
	return (vs32)_mm256_sllv_epi32((__m256i)x, (__m256i)n);
#else
	return x << (n & 31) & ((n & ~31) == 0);
#endif
}

/*
 * Find the texels of @g, warps of @w from number @first on, and their lanes that have some; returns
 * those that have in all warps.
 */
TSR_INLINE unsigned int find_all_corners(const struct tsr_level_lookup *l,
					 const struct tsr_level_warps *w, unsigned int first,
					 bool near, struct group *g)
{
	unsigned int all = TSR_ALL_LANES, n = 0;

	do {
		unsigned int lanes = w->lanes[first + n];

		TSR_UNROLL
		for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
			unsigned int lane = chunk * TSR_CHUNK_LANES;
			unsigned int at = (first + n) * TSR_WARP_LANES + lane;
			vs32 bad = splat_word(0);
			vf32 s, t = splat_float(0);

			memcpy(&s, w->s + at, sizeof(s));
			if (!l->flat)
				memcpy(&t, w->t + at, sizeof(t));
			g->c[n][chunk].x = l->texels ? texels_as_they_are(s) :
					   find_texels(&l->axis[0], s, near, &bad);
			g->c[n][chunk].y = l->texels || l->flat ? texels_as_they_are(t) :
					   find_texels(&l->axis[1], t, near, &bad);
			lanes &= ~(bits_of(bad) << lane);
		}
		g->lanes[n] = (uint16_t)lanes;
		all &= lanes;
	} while (++n < g->count);
	return all;
}

/* A lane's texels, along both axes. */
struct some_texels {
	int32_t x[2], y[2];
};

/* The texels of a lane in the middle, if there is one; false: no lane has any. */
TSR_INLINE bool find_middle(const struct group *g, struct some_texels *t)
{
	unsigned int w = g->count / 2, lane;
	const struct corners *k;

	if (!g->lanes[w]) {
		for (w = 0; w < g->count && !g->lanes[w]; w++)
			;
		if (w == g->count)
			return false;
	}
	lane = g->lanes[w] >> 8 & 1 ? 8 : (unsigned int)__builtin_ctz(g->lanes[w]);
	k = &g->c[w][lane / TSR_CHUNK_LANES];
	lane %= TSR_CHUNK_LANES;
	*t = (struct some_texels){
		{ k->x.x0[lane], k->x.x1[lane] }, { k->y.x0[lane], k->y.x1[lane] },
	};
	return true;
}

/* Lanes of warps that have no texels use @t. */
TSR_INLINE void borrow(struct group *g, const struct some_texels *t)
{
	for (unsigned int w = 0; w < g->count; w++) {
		if (g->lanes[w] == TSR_ALL_LANES)
			continue;
		TSR_UNROLL
		for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
			struct corners *k = &g->c[w][chunk];
			vs32 own = mask_of_lanes(g->lanes[w] >> chunk * TSR_CHUNK_LANES &
						 ALL_OF_CHUNK);

			k->x.x0 = tsr_pick(own, k->x.x0, splat_word(t->x[0]));
			k->x.x1 = tsr_pick(own, k->x.x1, splat_word(t->x[1]));
			k->y.x0 = tsr_pick(own, k->y.x0, splat_word(t->y[0]));
			k->y.x1 = tsr_pick(own, k->y.x1, splat_word(t->y[1]));
		}
	}
}

/* Add blocks @columns of rows @row to the halves of areas; returns @row. */
TSR_INLINE vs32 add_rows(vs32 half[2], vs32 columns, vs32 row)
{
	vs32 bit = row * TSR_TEX_AREA_DIM;

	half[0] |= shifted(columns, bit);
	half[1] |= shifted(columns, bit - 32);
	return row;
}

/* The first block of an area around texel @at along an axis: of small levels their first one. */
TSR_INLINE int32_t first_of_area(const struct tsr_level_axis *a, int32_t at)
{
	return a->extent <= TSR_TEX_AREA_DIM * TSR_TEX_BLOCK_DIM ? 0 :
	       at / TSR_TEX_BLOCK_DIM - TSR_TEX_AREA_DIM / 2;
}

/* The blocks that a group uses, around @t; false: they are not all near it. */
TSR_INLINE bool find_area(const struct tsr_level_lookup *l, const struct group *g,
			  const struct some_texels *t, bool near, struct tsr_window_area *a)
{
	vs32 half[2] = { splat_word(0), splat_word(0) }, all = splat_word(0);

	a->x = first_of_area(&l->axis[0], t->x[0]);
	a->y = first_of_area(&l->axis[1], t->y[0]);
	for (unsigned int w = 0; w < g->count; w++) {
		TSR_UNROLL
		for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
			const struct corners *k = &g->c[w][chunk];
			vs32 x = (k->x.x0 >> 2) - a->x, columns = shifted(splat_word(1), x);

			all |= x;
			if (!near) {
				x = (k->x.x1 >> 2) - a->x;
				columns |= shifted(splat_word(1), x);
				all |= x;
			}
			all |= add_rows(half, columns, (k->y.x0 >> 2) - a->y);
			if (!near)
				all |= add_rows(half, columns, (k->y.x1 >> 2) - a->y);
		}
	}
	a->blocks = any_of(half[0]) | (uint64_t)any_of(half[1]) << 32;
	return any_of(all) < TSR_TEX_AREA_DIM;
}

/*
 * Have all texels of @g in the window; false: some are not, and warps have to be looked at one by
 * one. @all: lanes that have texels in all of them.
 */
TSR_INLINE bool find_group(const struct tsr_level_lookup *l, bool near, unsigned int all,
			   struct group *g)
{
	struct tsr_window_area area;
	struct some_texels middle;

	if (!find_middle(g, &middle))
		return false;
	if (all != TSR_ALL_LANES)
		borrow(g, &middle);
	return !l->window->missing ||
	       (find_area(l, g, &middle, near, &area) && tsr_window_bring_area(l, &area));
}

/* Where the texels of a warp are in the window, which has them all; returns lanes apart. */
TSR_INLINE uint16_t find_there(const struct corners c[TSR_CHUNKS], places at, bool near)
{
	unsigned int alone = 0;

	TSR_UNROLL
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES;
		const struct corners *k = &c[chunk];
		vs32 row[2] = { place_of(k->x.x0, k->y.x0), place_of(k->x.x0, k->y.x1) };

		memcpy(&at[0][first], &row[0], sizeof(row[0]));
		memcpy(&at[1][first], &row[1], sizeof(row[1]));
		alone |= bits_of(not_in_pairs(k)) << first;
	}
	if (near || !alone)
		return 0;
	find_right(c, TSR_ALL_LANES, at);
	return (uint16_t)alone;
}
