/* SPDX-License-Identifier: MIT */
/*
 * Lookups in one level of a texture, for many lanes at once. A template, see alu_path.h.
 *
 * Texels are looked for in the directory of the level, which knows where the blocks are that have
 * been used last; what it does not have is brought into it, lane by lane. In lanes that are not
 * done nothing of what is computed counts.
 */
#include "tex_warp.h"

/* Not more than this is known to be in 1 / TSR_TEXEL_ONE: the rest is for msg_filter.c. */
#define FARTHEST 0x1p22f
/* 1 / 255 of values that have been multiplied by TSR_TEXEL_ONE */
#define BYTES_ONE (255.0f * TSR_TEXEL_ONE)

#define ALL_OF_CHUNK ((1u << TSR_CHUNK_LANES) - 1)
/* How often blocks are brought for lanes whose blocks are in each other's way. */
#define ROUNDS 3

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

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* The texels of a warp. */
struct texels_of_warp {
	struct texels x[TSR_CHUNKS], y[TSR_CHUNKS];
	/* (x0, y0), (x1, y0), (x0, y1), (x1, y1), by their bytes in the L1: something is there */
	vs32 at[4][TSR_CHUNKS];
};

/* Find texels in blocks that are in the directory; returns the lanes that have all of them. */
TSR_INLINE unsigned int find_there(const struct tsr_directory *d, struct texels_of_warp *t,
				   unsigned int todo, unsigned int all, bool near,
				   unsigned int shift)
{
	unsigned int found = 0;

	TSR_UNROLL
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		const struct texels *x = &t->x[chunk], *y = &t->y[chunk];
		vs32 there = splat(-1), at[4];
		unsigned int bits;

		TSR_UNROLL
		for (unsigned int n = 0; n < 4; n++) {
			vs32 i = n & 1 ? x->x1 : x->x0, j = n & 2 ? y->x1 : y->x0;
			vs32 bx = i >> 2, by = j >> 2, place = (bx & 3) | (by & 3) << 2;

			if (near && n)
				break;
			there &= of_sixteen(d->tag, place) == (bx | by << 14);
			at[n] = of_sixteen(d->at, place) + (((i & 3) | (j & 3) << 2) << shift);
		}
		bits = bits_of(there);
		found |= bits << chunk * TSR_CHUNK_LANES;
		TSR_UNROLL
		for (unsigned int n = 0; n < 4; n++) {
			if (near && n)
				break;
			t->at[n][chunk] = todo == all ? at[n] :
				pick(mask_of(todo >> chunk * TSR_CHUNK_LANES & ALL_OF_CHUNK),
				     at[n], t->at[n][chunk]);
		}
	}
	return found & todo;
}

#if defined(TSR_ALU_AVX512)
/* Add half a chunk's @columns to the rows of blocks they belong to, bit n of @in[r]: lane n. */
TSR_INLINE void add_columns(__m512i sum[4], __m256i columns, __m256i y, const __mmask8 in[4])
{
	const __m256i shift = _mm256_slli_epi32(_mm256_and_si256(y, _mm256_set1_epi32(3)), 4);
	const __m512i bits = _mm512_sllv_epi64(_mm512_cvtepu32_epi64(columns),
					       _mm512_cvtepu32_epi64(shift));

	TSR_UNROLL
	for (unsigned int row = 0; row < 4; row++)
		sum[row] = _mm512_mask_or_epi64(sum[row], in[row], sum[row], bits);
}
#endif

/* The texels of lanes @mask of a chunk have been used. */
TSR_INLINE void note_used(struct tsr_directory *d, const struct texels *x, const struct texels *y,
			  vs32 mask, bool near)
{
#if defined(TSR_ALU_AVX512)
	const __m512i one = _mm512_set1_epi32(1), low = _mm512_set1_epi32(15);
	const __m512i columns = _mm512_and_si512((__m512i)mask, _mm512_or_si512(
		_mm512_sllv_epi32(one, _mm512_and_si512((__m512i)x->x0, low)),
		_mm512_sllv_epi32(one, _mm512_and_si512((__m512i)x->x1, low))));
	__m512i sum[4];

	memcpy(sum, d->used, sizeof(sum));
	TSR_UNROLL
	for (unsigned int n = 0; n < 2; n++) {
		const __m512i j = (__m512i)(n ? y->x1 : y->x0);
		const __m512i row = _mm512_and_si512(j, _mm512_set1_epi32(12));
		__mmask16 in[4];
		__mmask8 first[4], second[4];

		if (near && n)
			break;
		TSR_UNROLL
		for (int r = 0; r < 4; r++) {
			in[r] = _mm512_cmpeq_epi32_mask(row, _mm512_set1_epi32(4 * r));
			first[r] = (__mmask8)in[r];
			second[r] = (__mmask8)(in[r] >> 8);
		}
		add_columns(sum, _mm512_castsi512_si256(columns), _mm512_castsi512_si256(j),
			    first);
		add_columns(sum, _mm512_extracti64x4_epi64(columns, 1),
			    _mm512_extracti64x4_epi64(j, 1), second);
	}
	memcpy(d->used, sum, sizeof(sum));
#else
	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++) {
		uint64_t columns = mask[i] ? 1ull << (x->x0[i] & 15) | 1ull << (x->x1[i] & 15) : 0;

		d->used[y->x0[i] >> 2 & 3][0] |= columns << 16 * (y->x0[i] & 3);
		if (!near)
			d->used[y->x1[i] >> 2 & 3][0] |= columns << 16 * (y->x1[i] & 3);
	}
#endif
}

/* The texels of @found have been found: of a warp of which @found are to be sampled. */
TSR_INLINE void note_warp(struct tsr_directory *d, const struct texels_of_warp *t,
			  unsigned int found, bool near)
{
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int bits = found >> chunk * TSR_CHUNK_LANES & ALL_OF_CHUNK;

		note_used(d, &t->x[chunk], &t->y[chunk],
			  bits == ALL_OF_CHUNK ? splat(-1) : mask_of(bits), near);
	}
}

/* Numbers of blocks, by corner of lanes; those that are missing: bit 16 * corner + lane. */
struct blocks_of_warp {
	vs32 tag[4][TSR_CHUNKS];
	uint64_t missing;
};

/*
 * Which blocks of lanes @todo are not in the directory; returns a bit for each place that has one
 * of them.
 */
TSR_INLINE uint16_t find_missing(const struct tsr_directory *d, const struct texels_of_warp *t,
				 unsigned int todo, bool near, struct blocks_of_warp *b)
{
	vs32 kept = splat(0);
	uint32_t all = 0;

	b->missing = 0;
	TSR_UNROLL
	for (unsigned int i = 0; i < 4 * TSR_CHUNKS; i++) {
		unsigned int n = i / TSR_CHUNKS, chunk = i % TSR_CHUNKS;
		const struct texels *x = &t->x[chunk], *y = &t->y[chunk];
		vs32 bx = (n & 1 ? x->x1 : x->x0) >> 2, by = (n & 2 ? y->x1 : y->x0) >> 2;
		vs32 place = (bx & 3) | (by & 3) << 2;
		vs32 here = mask_of(todo >> chunk * TSR_CHUNK_LANES & ALL_OF_CHUNK), there;

		if (near && n)
			break;
		b->tag[n][chunk] = bx | by << 14;
		there = of_sixteen(d->tag, place) == b->tag[n][chunk];
		b->missing |= (uint64_t)bits_of(here & ~there) << i * TSR_CHUNK_LANES;
		kept |= (splat(1) << place) & here & there;
	}
	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		all |= (uint32_t)kept[i];
	return (uint16_t)all;
}

/* Which corners of lanes want block @tag. */
TSR_INLINE uint64_t find_block(const struct blocks_of_warp *b, int32_t tag, bool near)
{
	uint64_t same = 0;

	TSR_UNROLL
	for (unsigned int i = 0; i < 4 * TSR_CHUNKS; i++) {
		if (near && i >= TSR_CHUNKS)
			break;
		same |= (uint64_t)bits_of(b->tag[i / TSR_CHUNKS][i % TSR_CHUNKS] == tag)
			<< i * TSR_CHUNK_LANES;
	}
	return same;
}

/* Bring what lanes @todo want into the directory, as far as there is room in it. */
TSR_OUT_OF_LINE_ static void bring(const struct tsr_level_lookup *l,
				   const struct texels_of_warp *t, unsigned int todo, bool near)
{
	struct blocks_of_warp b;
	uint16_t kept = find_missing(l->directory, t, todo, near, &b);

	while (b.missing) {
		unsigned int first = (unsigned int)__builtin_ctzll(b.missing);
		int32_t tag = b.tag[first / 16][first % 16 / TSR_CHUNK_LANES]
			       [first % TSR_CHUNK_LANES];

		tsr_directory_bring(l, tag, &kept);
		b.missing &= ~find_block(&b, tag, near);
	}
}

/* Lanes @todo one by one, without the directory; returns those that could not be done. */
TSR_OUT_OF_LINE_ static unsigned int lone_lanes(const struct tsr_level_lookup *l,
						struct texels_of_warp *t, unsigned int todo,
						bool near, unsigned int shift)
{
	unsigned int failed = 0;

	for (; todo; todo &= todo - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(todo);
		unsigned int chunk = lane / TSR_CHUNK_LANES, i = lane % TSR_CHUNK_LANES;
		const struct texels *x = &t->x[chunk], *y = &t->y[chunk];

		for (unsigned int n = 0; n < (near ? 1 : 4); n++) {
			uint32_t tx = (uint32_t)(n & 1 ? x->x1[i] : x->x0[i]);
			uint32_t ty = (uint32_t)(n & 2 ? y->x1[i] : y->x0[i]);
			int32_t at = tsr_lookup_texel(l, tx, ty);

			failed |= (unsigned int)(at < 0) << lane;
			t->at[n][chunk][i] = at < 0 ? 0 : at +
					     (int32_t)(((tx & 3) | (ty & 3) << 2) << shift);
		}
	}
	return failed;
}

/*
 * Find the texels of lanes @todo of a warp; returns the lanes whose texels have been found. Most of
 * them are where the last lookups' were.
 */
TSR_INLINE unsigned int find_texels_of(const struct tsr_level_lookup *l, struct texels_of_warp *t,
				       unsigned int todo, bool near, unsigned int shift)
{
	struct tsr_directory *d = l->directory;
	unsigned int found = find_there(d, t, todo, todo, near, shift), all = todo;
	struct texels_of_warp copy;

	d->stamp = l->env->textures->now;
	if (found)
		note_warp(d, t, found, near);
	todo &= ~found;
	for (unsigned int round = 0; round < ROUNDS && todo; round++) {
		/* what has an address is not in registers: not what is used most of the time */
		copy = *t;
		bring(l, &copy, todo, near);
		found = find_there(d, t, todo, all, near, shift);
		if (!found)
			break;
		note_warp(d, t, found, near);
		todo &= ~found;
	}
	if (todo) {
		copy = *t;
		todo = lone_lanes(l, &copy, todo, near, shift);
		*t = copy;
	}
	return all & ~todo;
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
TSR_INLINE void filter_bytes(const struct tsr_level_lookup *l, const struct texels_of_warp *w,
			     unsigned int chunk, bool near)
{
	const uint8_t *base = &l->env->textures->block[0][0];
	const vs32 even = splat(0x00ff00ff);
	const vs32 weight = w->x[chunk].weight;
	const vu16 wx = (vu16)(weight | weight << 16);
	const vf32 wy = __builtin_convertvector(w->y[chunk].weight, vf32) *
			(1.0f / TSR_TEXEL_ONE);
	vs32 t[4], top, bottom;

	TSR_UNROLL
	for (unsigned int n = 0; n < 4; n++)
		t[n] = near && n ? t[0] : gathered(base, w->at[n][chunk]);
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

/* Texels of lanes @n, @n + 4 and so on of a chunk that are at these bytes from @base. */
TSR_INLINE vf32 texels_at(const uint8_t *base, const int32_t at[TSR_CHUNK_LANES], unsigned int n)
{
#if defined(TSR_ALU_AVX512)
	__m512 t = _mm512_castps128_ps512(_mm_load_ps((const float *)(base + at[n])));

	t = _mm512_insertf32x4(t, _mm_load_ps((const float *)(base + at[n + 4])), 1);
	t = _mm512_insertf32x4(t, _mm_load_ps((const float *)(base + at[n + 8])), 2);
	return (vf32)_mm512_insertf32x4(t, _mm_load_ps((const float *)(base + at[n + 12])), 3);
#elif defined(TSR_ALU_AVX2)
	__m256 t = _mm256_castps128_ps256(_mm_load_ps((const float *)(base + at[n])));

	return (vf32)_mm256_insertf128_ps(t, _mm_load_ps((const float *)(base + at[n + 4])), 1);
#else
	vf32 t;

	memcpy(&t, __builtin_assume_aligned(base + at[n], 16), sizeof(t));
	return t;
#endif
}

/* Numbers: all components of several lanes at once. */
TSR_INLINE void filter_floats(const struct tsr_level_lookup *l, const struct texels_of_warp *w,
			      unsigned int chunk, bool near)
{
	const uint8_t *base = &l->env->textures->block[0][0];
	const vf32 wx = __builtin_convertvector(w->x[chunk].weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	const vf32 wy = __builtin_convertvector(w->y[chunk].weight, vf32) * (1.0f / TSR_TEXEL_ONE);
	int32_t at[4][TSR_CHUNK_LANES];
	vf32 t[4], low[2], high[2];

	for (unsigned int n = 0; n < 4; n++)
		memcpy(at[n], &w->at[n][chunk], sizeof(at[n]));
	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++) {
		vf32 a = texels_at(base, at[0], i), b;

		if (!near) {
			a += (texels_at(base, at[1], i) - a) * SPREAD(wx, (int)i);
			b = texels_at(base, at[2], i);
			b += (texels_at(base, at[3], i) - b) * SPREAD(wx, (int)i);
			a += (b - a) * SPREAD(wy, (int)i);
		}
		t[i] = a;
	}
	TSR_UNROLL
	for (unsigned int i = 0; i < 2; i++) {
		low[i] = PAIRS_LOW(t[2 * i], t[2 * i + 1]);
		high[i] = PAIRS_HIGH(t[2 * i], t[2 * i + 1]);
	}
	store(l, chunk, 0, HALVES_LOW(low[0], low[1]));
	store(l, chunk, 1, HALVES_HIGH(low[0], low[1]));
	store(l, chunk, 2, HALVES_LOW(high[0], high[1]));
	store(l, chunk, 3, HALVES_HIGH(high[0], high[1]));
}

TSR_INLINE uint16_t lookup_as(const struct tsr_level_lookup *l, bool near, bool bytes)
{
	unsigned int lanes = l->lanes;
	struct texels_of_warp w;

	TSR_UNROLL
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		unsigned int first = chunk * TSR_CHUNK_LANES;
		vs32 bad = splat(0);

		w.x[chunk] = find_texels(&l->axis[0], l->s + first, near, &bad);
		w.y[chunk] = find_texels(&l->axis[1], l->t + first, near, &bad);
		lanes &= ~(bits_of(bad) << first);
	}
	l->env->textures->now++;
	lanes = find_texels_of(l, &w, lanes, near, bytes ? 2 : 4);
	TSR_UNROLL
	for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
		if (bytes)
			filter_bytes(l, &w, chunk, near);
		else
			filter_floats(l, &w, chunk, near);
	}
	return (uint16_t)lanes;
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
	return l->bytes ? lookup_as(l, true, true) : lookup_as(l, true, false);
}

TSR_UNCHECKED_ static uint16_t lookup(const struct tsr_level_lookup *l)
{
	if (l->near)
		return lookup_near(l);
	return l->bytes ? lookup_bytes(l) : lookup_floats(l);
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
