/* SPDX-License-Identifier: MIT */
/*
 * Vertices and primitives of a batch on the vectors of one SIMD path, see lanes.h. The arithmetic
 * is that of project.c and primitive.c, operation by operation.
 */
#include <math.h>

#include "out_codes.h"

/* Vectors of double precision: as many lanes as a vector of the path has. */
typedef double vf64 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef int64_t vs64 __attribute__((vector_size(TSR_VECTOR_BYTES)));
#define WIDE (TSR_VECTOR_BYTES / 8)
typedef float vf32_half __attribute__((vector_size(4 * WIDE)));
typedef int32_t vs32_half __attribute__((vector_size(4 * WIDE)));

#define VERTICES 8			/* projected at a time */

typedef float four __attribute__((vector_size(16)));
typedef float eight __attribute__((vector_size(32)));
typedef float four_in_memory __attribute__((vector_size(16), aligned(4), may_alias));

#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* Rows to columns. */
TSR_INLINE void turn(four q[4])
{
	four low01 = PICK(q[0], q[1], 0, 4, 1, 5), high01 = PICK(q[0], q[1], 2, 6, 3, 7);
	four low23 = PICK(q[2], q[3], 0, 4, 1, 5), high23 = PICK(q[2], q[3], 2, 6, 3, 7);

	q[0] = PICK(low01, low23, 0, 1, 4, 5);
	q[1] = PICK(low01, low23, 2, 3, 6, 7);
	q[2] = PICK(high01, high23, 0, 1, 4, 5);
	q[3] = PICK(high01, high23, 2, 3, 6, 7);
}

/* Components of VERTICES vertices. */
struct components {
	union {
		float f[4][VERTICES];
		int32_t i[4][VERTICES];
	} __attribute__((aligned(64)));
};

TSR_INLINE vf64 widen(const float *from)
{
	vf32_half x;

	memcpy(&x, from, sizeof(x));
	return __builtin_convertvector(x, vf64);
}

TSR_INLINE vf64 choose(vs64 mask, vf64 a, vf64 b)
{
	return (vf64)((mask & (vs64)a) | (~mask & (vs64)b));
}

/* As nearest() and snap() of project.c do. */
TSR_INLINE vs64 snap(vf64 x)
{
	const double low = -(double)TSR_GUARD_BAND * (1 << TSR_SUBPIXEL_BITS);
	const double high = (double)TSR_GUARD_BAND * (1 << TSR_SUBPIXEL_BITS) - 1;

	x *= 1 << TSR_SUBPIXEL_BITS;
	x = choose((vs64)(x > low), x, (vf64){ 0 } + low);
	x = choose((vs64)(x < high), x, (vf64){ 0 } + high);
	return (vs64)(x + 0x1.8p52);
}

TSR_INLINE vs64 bit(vs64 set, int64_t code)
{
	return set & code;
}

/* Lanes from @at on. */
TSR_INLINE void project_some(const struct tsr_front_projection *p, const struct components *in,
			     struct components *out, int32_t *codes, unsigned int at)
{
	vf64 x = widen(&in->f[0][at]), y = widen(&in->f[1][at]);
	vf64 z = widen(&in->f[2][at]), w = widen(&in->f[3][at]);
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
	vs32_half integer;
	vf32_half real;

	integer = __builtin_convertvector(snap(xh * rw), vs32_half);
	memcpy(&out->i[0][at], &integer, sizeof(integer));
	integer = __builtin_convertvector(snap(yh * rw), vs32_half);
	memcpy(&out->i[1][at], &integer, sizeof(integer));
	real = __builtin_convertvector(zh * rw, vf32_half);
	memcpy(&out->f[2][at], &real, sizeof(real));
	real = __builtin_convertvector(rw, vf32_half);
	memcpy(&out->f[3][at], &real, sizeof(real));
	integer = __builtin_convertvector(code, vs32_half);
	memcpy(&codes[at], &integer, sizeof(integer));
}

/* Positions of VERTICES records. */
TSR_INLINE void load_positions(const uint64_t (*record)[8], struct components *in)
{
	four q[8];

	for (unsigned int i = 0; i < VERTICES; i++)
		q[i] = *(const four_in_memory *)record[i];
	turn(q);
	turn(q + 4);
	/* in pieces no smaller than they are read: the processor passes them on */
	for (unsigned int k = 0; k < 4; k++) {
		eight both = PICK(q[k], q[4 + k], 0, 1, 2, 3, 4, 5, 6, 7);

		memcpy(in->f[k], &both, sizeof(both));
	}
}

static void project(const struct tsr_front_projection *p)
{
	for (unsigned int first = 0; first < p->count; first += VERTICES) {
		struct components in, out;
		four q[4];

		load_positions(&p->record[first], &in);
		TSR_UNROLL for (unsigned int at = 0; at < VERTICES; at += WIDE)
			project_some(p, &in, &out, (int32_t *)&p->code[first], at);
		for (unsigned int i = 0; i < VERTICES; i += 4) {
			for (unsigned int k = 0; k < 4; k++)
				memcpy(&q[k], &out.f[k][i], sizeof(q[k]));
			turn(q);
			for (unsigned int k = 0; k < 4; k++)
				*(four_in_memory *)&p->screen[first + i + k] = q[k];
		}
	}
}

/* ---- Triangles ------------------------------------------------------------------------------- */

/* A word for each triangle of a group, and for each of half of them. */
typedef int32_t group __attribute__((vector_size(64)));
typedef int32_t half __attribute__((vector_size(32)));
typedef double half_f64 __attribute__((vector_size(64)));
typedef int64_t half_s64 __attribute__((vector_size(64)));
typedef int64_t half_in_memory __attribute__((vector_size(64), aligned(8), may_alias));

/* The compiler's rules for functions have vectors of the path alone: others go by their address. */
TSR_INLINE void join(group *x, const half *low, const half *high)
{
	*x = PICK(*low, *high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* Lower words of primitives. */
TSR_INLINE void low_words(group *x, const uint64_t *primitive)
{
	const half_in_memory *p = (const half_in_memory *)primitive;
	half low = __builtin_convertvector(p[0], half), high = __builtin_convertvector(p[1], half);

	join(x, &low, &high);
}

/* word[index << shift] of each. */
TSR_INLINE void pick(group *x, const int32_t *word, const group *index, unsigned int shift)
{
#if defined(TSR_ALU_AVX512)
	*x = (group)_mm512_i32gather_epi32((__m512i)(*index << shift), word, 4);
#else
	for (unsigned int i = 0; i < TSR_FRONT_GROUP; i++)
		(*x)[i] = word[(uint32_t)(*index)[i] << shift];
#endif
}

/* Bit n: lane n is not 0. */
TSR_INLINE uint32_t bits(const group *x)
{
#if defined(TSR_ALU_AVX512)
	return _mm512_test_epi32_mask((__m512i)*x, (__m512i)*x);
#else
	uint32_t mask = 0;

	for (unsigned int i = 0; i < TSR_FRONT_GROUP; i++)
		mask |= (uint32_t)((*x)[i] != 0) << i;
	return mask;
#endif
}

/* Lanes 0 to 7, or 8 to 15. */
TSR_INLINE void half_of(half_f64 *to, const group *x, bool high)
{
	half h = high ? PICK(*x, *x, 8, 9, 10, 11, 12, 13, 14, 15)
		      : PICK(*x, *x, 0, 1, 2, 3, 4, 5, 6, 7);

	*to = __builtin_convertvector(h, half_f64);
}

/* All ones where an area has not the sign of those that are drawn; and where it is above 0. */
TSR_INLINE void wrong_side(half *wrong, half *above, const struct tsr_front_cull *c,
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
	*wrong = __builtin_convertvector(out, half);
	*above = __builtin_convertvector((half_s64)(area > 0), half);
}

/* The least, or the largest, of 0, @x[0] and @x[1]. */
TSR_INLINE void extreme(group *to, const group x[2], bool largest)
{
	group a = x[0] & (largest ? x[0] > 0 : x[0] < 0), over = largest ? x[1] > a : x[1] < a;

	*to = (x[1] & over) | (a & ~over);
}

/* Tiles from the one of pixel @t0 to that of @t1, which lie in [@from, @to); lanes with none. */
TSR_INLINE void tiles(const group *first, const group d[2], int32_t from, int32_t to,
		      const struct tsr_front_cull *c, int32_t *t0, int32_t *t1, group *empty)
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

/* Lanes whose triangle is too thin, or seen from the side that is culled; boxes of the others. */
TSR_INLINE uint32_t culled(const struct tsr_front_cull *c, const group slot[3],
			   struct tsr_front_boxes *boxes)
{
	const int32_t *screen = &c->screen->x;
	group x0, y0, x[2], y[2], wrong, empty = { 0 };
	half low, high, low_above, high_above;

	pick(&x0, screen, &slot[0], 2);
	pick(&y0, screen + 1, &slot[0], 2);
	for (unsigned int k = 0; k < 2; k++) {
		pick(&x[k], screen, &slot[k + 1], 2);
		pick(&y[k], screen + 1, &slot[k + 1], 2);
		x[k] -= x0;
		y[k] -= y0;
	}
	wrong_side(&low, &low_above, c, x, y, false);
	wrong_side(&high, &high_above, c, x, y, true);
	join(&wrong, &low_above, &high_above);
	boxes->clockwise = bits(&wrong);
	tiles(&x0, x, c->x0, c->x1, c, boxes->tx0, boxes->tx1, &empty);
	tiles(&y0, y, c->y0, c->y1, c, boxes->ty0, boxes->ty1, &empty);
	boxes->empty = bits(&empty);
	join(&wrong, &low, &high);
	return bits(&wrong);
}

static uint32_t visible(const struct tsr_front_cull *c, struct tsr_front_boxes *boxes)
{
	const uint32_t everybody = (1u << TSR_FRONT_GROUP) - 1;
	group word, slot[3], all = (group){ 0 } - 1, any = { 0 };
	uint32_t out;

	low_words(&word, c->primitive);
	for (unsigned int k = 0; k < 3; k++) {
		group code;

		slot[k] = word >> 8 * k & 0xff;
		pick(&code, (const int32_t *)c->code, &slot[k], 0);
		all &= code;
		any |= code;
	}
	all = (all & (int32_t)c->reject) | (any & (int32_t)c->invalid);
	any &= (int32_t)c->clip;
	out = bits(&all);
	if (out == everybody)
		return 0;
	boxes->clipped = bits(&any);
	out |= culled(c, slot, boxes) & ~boxes->clipped;
	return ~out & everybody;
}
