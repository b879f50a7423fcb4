/* SPDX-License-Identifier: MIT */
/*
 * Vertices and primitives of a batch on the vectors of one SIMD path, see lanes.h. The arithmetic
 * is that of project.c and primitive.c, operation by operation.
 */
#include <math.h>

#include "alu/alu_rows.h"
#include "out_codes.h"

#define WIDE (TSR_VECTOR_BYTES / 8)	/* lanes of double precision */

/* Lanes of a vector's halves, and of both. */
#if TSR_VECTOR_BYTES == 64
#define LOW_HALF 0, 1, 2, 3, 4, 5, 6, 7
#define HIGH_HALF 8, 9, 10, 11, 12, 13, 14, 15
#elif TSR_VECTOR_BYTES == 32
#define LOW_HALF 0, 1, 2, 3
#define HIGH_HALF 4, 5, 6, 7
#else
#define LOW_HALF 0, 1
#define HIGH_HALF 2, 3
#endif

/* Results for half of the vertices of a vector. */
struct projected {
	vs32_half x, y, code;
	vf32_half z, rw;
};

TSR_INLINE vf64 choose_double(vs64 mask, vf64 a, vf64 b)
{
	return (vf64)((mask & (vs64)a) | (~mask & (vs64)b));
}

/* As nearest() and snap() of project.c do. */
TSR_INLINE vs64 snap(vf64 x)
{
	const double low = -(double)TSR_GUARD_BAND * (1 << TSR_SUBPIXEL_BITS);
	const double high = (double)TSR_GUARD_BAND * (1 << TSR_SUBPIXEL_BITS) - 1;

	x *= 1 << TSR_SUBPIXEL_BITS;
	x = choose_double((vs64)(x > low), x, (vf64){ 0 } + low);
	x = choose_double((vs64)(x < high), x, (vf64){ 0 } + high);
	return (vs64)(x + 0x1.8p52);
}

TSR_INLINE vs64 bit(vs64 set, int64_t code)
{
	return set & code;
}

/* Those with components @in, X to W. */
TSR_INLINE void project_half(const struct tsr_bin_projection *p, const vf32_half in[4],
			     struct projected *out)
{
	vf64 x = __builtin_convertvector(in[0], vf64), y = __builtin_convertvector(in[1], vf64);
	vf64 z = __builtin_convertvector(in[2], vf64), w = __builtin_convertvector(in[3], vf64);
	vf64 xh = x * p->sx + w * p->ox, yh = y * p->sy + w * p->oy;
	vf64 zh = z * p->sz + w * p->oz, rw = 1 / w, reach = w * TSR_GUARD_BAND;
	vf64 near = p->minus_one ? z + w : z, number = x * 0 + y * 0 + z * 0 + w * 0;
	vs64 code = bit(x < -w, TSR_OUT_LEFT) | bit(x > w, TSR_OUT_RIGHT) |
		    bit(y < -w, TSR_OUT_TOP) | bit(y > w, TSR_OUT_BOTTOM) |
		    bit(number != 0, TSR_OUT_INVALID) |
		    bit(near < 0, TSR_OUT_NEAR) | bit(w - z < 0, TSR_OUT_FAR) |
		    bit(w < TSR_CLIP_W_MIN, TSR_OUT_W) |
		    bit(xh + reach < 0, 1 << TSR_OUT_GUARD_SHIFT) |
		    bit(reach - xh < 0, 2 << TSR_OUT_GUARD_SHIFT) |
		    bit(yh + reach < 0, 4 << TSR_OUT_GUARD_SHIFT) |
		    bit(reach - yh < 0, 8 << TSR_OUT_GUARD_SHIFT);

	out->x = __builtin_convertvector(snap(xh * rw), vs32_half);
	out->y = __builtin_convertvector(snap(yh * rw), vs32_half);
	out->z = __builtin_convertvector(zh * rw, vf32_half);
	out->rw = __builtin_convertvector(rw, vf32_half);
	out->code = __builtin_convertvector(code, vs32_half);
}

/* Positions of as many records as a vector has lanes. */
TSR_INLINE void load_positions(const uint64_t (*record)[8], vu32 v[4])
{
	for (unsigned int i = 0; i < 4; i++) {
		tsr_quad q[TSR_CHUNK_LANES / 4];

		for (unsigned int k = 0; k < TSR_CHUNK_LANES / 4; k++)
			q[k] = *(const tsr_quad_in_memory *)record[4 * k + i];
		v[i] = tsr_join_quads(q);
	}
	tsr_transpose(v);
}

TSR_INLINE void store_screen(struct tsr_screen_vertex *screen, vu32 v[4])
{
	tsr_transpose(v);
	for (unsigned int i = 0; i < 4; i++) {
		tsr_quad q[TSR_CHUNK_LANES / 4];

		tsr_part_quads(q, v[i]);
		for (unsigned int k = 0; k < TSR_CHUNK_LANES / 4; k++)
			*(tsr_quad_in_memory *)&screen[4 * k + i] = q[k];
	}
}

#define JOIN(half, member) ((vu32)PICK(half[0].member, half[1].member, LOW_HALF, HIGH_HALF))

static void project(const struct tsr_bin_projection *p)
{
	const struct tsr_bin_projection here = *p;

	for (unsigned int first = 0; first < here.count; first += TSR_CHUNK_LANES) {
		struct projected half[2];
		vf32_half low[4], high[4];
		vu32 v[4], code;

		for (unsigned int i = 0; here.position && i < 4; i++)
			memcpy(&v[i], &here.position[i][0].u[first], sizeof(v[i]));
		if (!here.position)
			load_positions(&here.record[first], v);
		for (unsigned int k = 0; k < 4; k++) {
			low[k] = PICK((vf32)v[k], (vf32)v[k], LOW_HALF);
			high[k] = PICK((vf32)v[k], (vf32)v[k], HIGH_HALF);
		}
		project_half(&here, low, &half[0]);
		half[1] = half[0];
		if (here.count - first > WIDE)
			project_half(&here, high, &half[1]);
		code = JOIN(half, code);
		memcpy(&here.code[first], &code, sizeof(code));
		v[0] = JOIN(half, x);
		v[1] = JOIN(half, y);
		v[2] = JOIN(half, z);
		v[3] = JOIN(half, rw);
		store_screen(&here.screen[first], v);
	}
}

TSR_INLINE bool none(vs32 x)
{
	uint64_t part[TSR_VECTOR_BYTES / 8], any = 0;

	memcpy(part, &x, sizeof(part));
	for (unsigned int i = 0; i < TSR_VECTOR_BYTES / 8; i++)
		any |= part[i];
	return !any;
}

/* True if row @axis of all positions is above W, or, @low, below -W. */
TSR_INLINE bool all_beyond(const struct tsr_bin_projection *p, unsigned int axis, bool low)
{
	vs32 left = { 0 };		/* positions from this lane on */

	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		left[i] = (int32_t)(p->count - i);
	for (unsigned int first = 0; first < p->count; first += TSR_CHUNK_LANES) {
		vf32 x, w;

		memcpy(&x, &p->position[axis][0].u[first], sizeof(x));
		memcpy(&w, &p->position[3][0].u[first], sizeof(w));
		if (!none((vs32)(left > 0) & ~(vs32)(low ? x < -w : x > w)))
			return false;
		left -= TSR_CHUNK_LANES;
	}
	return true;
}

static uint32_t outside(const struct tsr_bin_projection *p)
{
	return (all_beyond(p, 0, true) ? TSR_OUT_LEFT : 0) |
	       (all_beyond(p, 0, false) ? TSR_OUT_RIGHT : 0) |
	       (all_beyond(p, 1, true) ? TSR_OUT_TOP : 0) |
	       (all_beyond(p, 1, false) ? TSR_OUT_BOTTOM : 0);
}

/* ---- Triangles ------------------------------------------------------------------------------- */

#define GROUP_ALL ((1u << TSR_BIN_GROUP) - 1)

/* A word for each triangle of a group, and for each of half of them. */
typedef int32_t group __attribute__((vector_size(64)));
typedef int32_t half_group __attribute__((vector_size(32)));
typedef double half_f64 __attribute__((vector_size(64)));
typedef int64_t half_s64 __attribute__((vector_size(64)));
typedef int64_t half_in_memory __attribute__((vector_size(64), aligned(8), may_alias));

/* The compiler's rules for functions have vectors of the path alone: others go by their address. */
TSR_INLINE void join(group *x, const half_group *low, const half_group *high)
{
	*x = PICK(*low, *high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* Lower words of primitives. */
TSR_INLINE void low_words(group *x, const uint64_t *primitive)
{
	const half_in_memory *p = (const half_in_memory *)primitive;
	half_group low = __builtin_convertvector(p[0], half_group);
	half_group high = __builtin_convertvector(p[1], half_group);

	join(x, &low, &high);
}

/* word[index] of each. */
TSR_INLINE void pick(group *x, const int32_t *word, const group *index)
{
#if defined(TSR_ALU_AVX512)
	*x = (group)_mm512_i32gather_epi32((__m512i)*index, word, 4);
#else
	for (unsigned int i = 0; i < TSR_BIN_GROUP; i++)
		(*x)[i] = word[(uint32_t)(*index)[i]];
#endif
}

/* Window coordinates of corners, in subpixels. */
TSR_INLINE void pick_places(group *x, group *y, const struct tsr_screen_vertex *screen,
			    const group *index)
{
	_Static_assert(sizeof(*screen) == 16 && !offsetof(struct tsr_screen_vertex, x) &&
		       offsetof(struct tsr_screen_vertex, y) == 4, "a pair is x and y");
#if defined(TSR_ALU_AVX512)
	const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4,
					      2, 0);
	const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
	const __m512i at = _mm512_slli_epi32((__m512i)*index, 1);
	__m512i low = _mm512_i32gather_epi64(_mm512_castsi512_si256(at), screen, 8);
	__m512i high = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(at, 1), screen, 8);

	*x = (group)_mm512_permutex2var_epi32(low, even, high);
	*y = (group)_mm512_permutex2var_epi32(low, odd, high);
#else
	for (unsigned int i = 0; i < TSR_BIN_GROUP; i++) {
		(*x)[i] = screen[(uint32_t)(*index)[i]].x;
		(*y)[i] = screen[(uint32_t)(*index)[i]].y;
	}
#endif
}

/* Bit n: lane n is not 0. */
TSR_INLINE uint32_t bits(const group *x)
{
#if defined(TSR_ALU_AVX512)
	return _mm512_test_epi32_mask((__m512i)*x, (__m512i)*x);
#else
	uint32_t mask = 0;

	for (unsigned int i = 0; i < TSR_BIN_GROUP; i++)
		mask |= (uint32_t)((*x)[i] != 0) << i;
	return mask;
#endif
}

/* Lanes 0 to 7, or 8 to 15. */
TSR_INLINE void half_of(half_f64 *to, const group *x, bool high)
{
	half_group h = high ? PICK(*x, *x, 8, 9, 10, 11, 12, 13, 14, 15)
			    : PICK(*x, *x, 0, 1, 2, 3, 4, 5, 6, 7);

	*to = __builtin_convertvector(h, half_f64);
}

/* All ones where an area has not the sign of those that are drawn; and where it is above 0. */
TSR_INLINE void wrong_side(half_group *wrong, half_group *above, const struct tsr_bin_cull *c,
			   const group x[2], const group y[2], bool high)
{
	half_f64 dx[2], dy[2], area;
	half_s64 out;

	for (unsigned int k = 0; k < 2; k++) {
		half_of(&dx[k], &x[k], high);
		half_of(&dy[k], &y[k], high);
	}
	/* factors below 2^25, products below 2^50: all of it is exact */
	area = dx[0] * dy[1] - dx[1] * dy[0];
	out = (half_s64)(area == 0);
	if (c->clockwise)
		out |= (half_s64)(area > 0);
	if (c->anticlockwise)
		out |= (half_s64)(area < 0);
	*wrong = __builtin_convertvector(out, half_group);
	*above = __builtin_convertvector((half_s64)(area > 0), half_group);
}

/* The least, or the largest, of 0, @x[0] and @x[1]. */
TSR_INLINE void extreme(group *to, const group x[2], bool largest)
{
	group a = x[0] & (largest ? x[0] > 0 : x[0] < 0), over = largest ? x[1] > a : x[1] < a;

	*to = (x[1] & over) | (a & ~over);
}

/* Tiles from the one of pixel @t0 to that of @t1, which lie in [@from, @to); lanes with none. */
TSR_INLINE void tiles(const group *first, const group d[2], int32_t from, int32_t to,
		      const struct tsr_bin_cull *c, int32_t *t0, int32_t *t1, group *empty)
{
	group low, high, over;

	extreme(&low, d, false);
	extreme(&high, d, true);
	low = (*first + low + c->low) >> TSR_SUBPIXEL_BITS;
	high = (*first + high - c->high) >> TSR_SUBPIXEL_BITS;
	over = low > from;
	low = (low & over) | (from & ~over);
	over = high < to;
	high = (high & over) | ((to - 1) & ~over);
	*empty |= low > high;
	*(group *)t0 = low >> c->tile_shift;
	*(group *)t1 = high >> c->tile_shift;
}

/*
 * Lanes whose triangle is too thin, or seen from the side that is culled; boxes of the others, if
 * there are some.
 */
TSR_INLINE uint32_t culled(const struct tsr_bin_cull *c, const group slot[3],
			   struct tsr_bin_boxes *boxes)
{
	group x0, y0, x[2], y[2], wrong, above, empty = { 0 };
	half_group low, high, low_above, high_above;
	uint32_t out;

	pick_places(&x0, &y0, c->screen, &slot[0]);
	for (unsigned int k = 0; k < 2; k++) {
		pick_places(&x[k], &y[k], c->screen, &slot[k + 1]);
		x[k] -= x0;
		y[k] -= y0;
	}
	wrong_side(&low, &low_above, c, x, y, false);
	wrong_side(&high, &high_above, c, x, y, true);
	join(&wrong, &low, &high);
	out = bits(&wrong);
	if (out == GROUP_ALL)
		return out;
	join(&above, &low_above, &high_above);
	boxes->clockwise = bits(&above);
	tiles(&x0, x, c->x0, c->x1, c, boxes->tx0, boxes->tx1, &empty);
	tiles(&y0, y, c->y0, c->y1, c, boxes->ty0, boxes->ty1, &empty);
	boxes->empty = bits(&empty);
	return out;
}

/* Triangles that may be seen for all their corners' out-codes say; and those to be clipped. */
TSR_INLINE uint32_t inside(const struct tsr_bin_cull *c, const group slot[3], uint32_t *clipped)
{
	group all = (group){ 0 } - 1, any = { 0 };

	for (unsigned int k = 0; k < 3; k++) {
		group code;

		pick(&code, (const int32_t *)c->code, &slot[k]);
		all &= code;
		any |= code;
	}
	all = (all & (int32_t)c->reject) | (any & (int32_t)c->invalid);
	any &= (int32_t)c->clip;
	*clipped = bits(&any);
	return ~bits(&all);
}

static uint32_t visible(const struct tsr_bin_cull *c, struct tsr_bin_boxes *boxes)
{
	uint32_t seen = GROUP_ALL;
	group word, slot[3];

	low_words(&word, c->primitive);
	for (unsigned int k = 0; k < 3; k++)
		slot[k] = word >> 8 * k & 0xff;
	boxes->clipped = 0;
	if (c->code)
		seen &= inside(c, slot, &boxes->clipped);
	if (seen)
		seen &= ~culled(c, slot, boxes) | boxes->clipped;
	return seen;
}

static const struct tsr_bin_lanes bin_lanes = {
	.project = project, .outside = outside, .visible = visible,
};
