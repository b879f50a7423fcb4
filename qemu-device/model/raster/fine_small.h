/* SPDX-License-Identifier: MIT */
/* Small triangles: the template. See small.h. */
#include "alu/alu_rows.h"

/* Subpixels a triangle can be wide and high for its edges to be small numbers near it. */
#define SMALL (64 << TSR_SUBPIXEL_BITS)
#define PIXEL (1 << TSR_SUBPIXEL_BITS)

static const int32_t small_x[16] = { 0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3 };
static const int32_t small_y[16] = { 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3 };
/* Pixels of a column, and of a row. */
static const int32_t small_column[4] = { 0x0505, 0x0a0a, 0x5050, 0xa0a0 };
static const int32_t small_row[4] = { 0x0033, 0x00cc, 0x3300, 0xcc00 };

/* Corners of LANES triangles: x[k], y[k], z[k] of corner k. */
struct small_corners {
	vs32 x[3], y[3];
	vf32 z[3];
};

TSR_INLINE void small_load(const struct tsr_screen_vertex (*v)[3], struct small_corners *to)
{
	TSR_UNROLL
	for (unsigned int k = 0; k < 3; k++) {
		/* by fours, rows to columns */
		tsr_quad column[3][LANES / 4];

		TSR_UNROLL
		for (unsigned int i = 0; i < LANES; i += 4) {
			four q0 = *(const four_in_memory *)&v[i][k];
			four q1 = *(const four_in_memory *)&v[i + 1][k];
			four q2 = *(const four_in_memory *)&v[i + 2][k];
			four q3 = *(const four_in_memory *)&v[i + 3][k];
			four xy01 = PICK(q0, q1, 0, 4, 1, 5), xy23 = PICK(q2, q3, 0, 4, 1, 5);
			four z01 = PICK(q0, q1, 2, 6, 3, 7), z23 = PICK(q2, q3, 2, 6, 3, 7);

			column[0][i / 4] = (tsr_quad)PICK(xy01, xy23, 0, 1, 4, 5);
			column[1][i / 4] = (tsr_quad)PICK(xy01, xy23, 2, 3, 6, 7);
			column[2][i / 4] = (tsr_quad)PICK(z01, z23, 0, 1, 4, 5);
		}
		to->x[k] = (vs32)tsr_join_quads(column[0]);
		to->y[k] = (vs32)tsr_join_quads(column[1]);
		to->z[k] = (vf32)tsr_join_quads(column[2]);
	}
}

/* Half-planes at the first quad's first pixel, without the rule; what pixels add, in subpixels. */
struct small_edges {
	vs32 c[3], a[3], b[3];
	vs32 area;			/* twice */
};

TSR_INLINE void small_edges(const struct small_corners *v, vs32 x, vs32 y, struct small_edges *e)
{
	vs32 area = (v->y[1] - v->y[2]) * (v->x[0] - v->x[1]) +
		    (v->x[2] - v->x[1]) * (v->y[0] - v->y[1]);
	vs32 negative = area < 0;

	e->area = (area ^ negative) - negative;
	TSR_UNROLL
	for (unsigned int k = 0; k < 3; k++) {
		const unsigned int p = (k + 1) % 3, q = (k + 2) % 3;
		vs32 a = v->y[p] - v->y[q], b = v->x[q] - v->x[p];

		e->a[k] = (a ^ negative) - negative;
		e->b[k] = (b ^ negative) - negative;
		e->c[k] = e->a[k] * (x - v->x[p]) + e->b[k] * (y - v->y[p]);
	}
}

/* With the top-left rule, as a mask; that is -1. */
TSR_INLINE vs32 small_ruled(const struct small_edges *e, unsigned int k)
{
	return e->c[k] + ((e->a[k] < 0) | ((e->a[k] == 0) & (e->b[k] <= 0)));
}

/* Half-planes for those that are not small. */
TSR_INLINE void small_keep(struct tsr_small *s, const struct small_edges *e, unsigned int at)
{
	TSR_UNROLL
	for (unsigned int k = 0; k < 3; k++) {
		*(vs32 *)&s->edge_c[k][at] = small_ruled(e, k);
		*(vs32 *)&s->edge_a[k][at] = e->a[k];
		*(vs32 *)&s->edge_b[k][at] = e->b[k];
	}
}

/* Pixels inside of all edges, where their samples are (@dx, @dy) subpixels from their centres. */
TSR_INLINE vs32 small_coverage(const struct small_edges *e, int32_t dx, int32_t dy)
{
	vs32 mask = { 0 }, at[3];

	TSR_UNROLL
	for (unsigned int k = 0; k < 3; k++)
		at[k] = small_ruled(e, k) + e->a[k] * dx + e->b[k] * dy;
	TSR_UNROLL
	for (unsigned int p = 0; p < 16; p++) {
		vs32 value = { 0 };

		TSR_UNROLL
		for (unsigned int k = 0; k < 3; k++)
			value |= at[k] + e->a[k] * (small_x[p] * PIXEL) +
				 e->b[k] * (small_y[p] * PIXEL);
		mask |= ~(value >> 31) & 1 << p;
	}
	return mask & (e->area != 0);
}

/* Pixels in columns and rows [x0, x1) by [y0, y1), counted from the first quad's. */
TSR_INLINE vs32 small_window(vs32 x0, vs32 y0, vs32 x1, vs32 y1)
{
	vs32 columns = { 0 }, rows = { 0 };

	TSR_UNROLL
	for (int i = 0; i < 4; i++) {
		columns |= (x0 <= i) & (x1 > i) & small_column[i];
		rows |= (y0 <= i) & (y1 > i) & small_row[i];
	}
	return columns & rows;
}

/* Lanes from @half on of @x, DOUBLES of them. */
TSR_INLINE vf64 small_wide(vs32 x, unsigned int half)
{
	vs32_half part;

	memcpy(&part, (const char *)&x + half * sizeof(part), sizeof(part));
	return __builtin_convertvector(part, vf64);
}

TSR_INLINE vf64 small_wide_float(vf32 x, unsigned int half)
{
	vf32_half part;

	memcpy(&part, (const char *)&x + half * sizeof(part), sizeof(part));
	return __builtin_convertvector(part, vf64);
}

/* @v of the corner @step after the one that @second or @third says; else it is the first. */
TSR_INLINE vs32 small_rotate(const vs32 v[3], vs32 second, vs32 third, unsigned int step)
{
	return tsr_pick(third, v[(step + 2) % 3],
			tsr_pick(second, v[(step + 1) % 3], v[step % 3]));
}

/* As triangle_depth() of shape.c. */
TSR_INLINE void small_planes(struct tsr_small *s, const struct small_corners *v,
			     const struct small_edges *e, unsigned int at)
{
	const vs32 number = (vs32){ 0 } + 0x7fffffff;
	vf32 size[3];
	vs32 second, third, z[3], base;

	for (unsigned int k = 0; k < 3; k++) {
		z[k] = (vs32)v->z[k];
		size[k] = (vf32)(z[k] & number);
	}
	second = size[1] < size[0];
	third = size[2] < (vf32)tsr_pick(second, (vs32)size[1], (vs32)size[0]);
	base = small_rotate(z, second, third, 0);
	for (unsigned int h = 0; h < 2; h++) {
		vf64 from = small_wide_float((vf32)base, h), area = small_wide(e->area, h);

		*(vf64 *)&s->base[at + h * DOUBLES] = from;
		TSR_UNROLL
		for (unsigned int i = 0; i < 2; i++) {
			vs32 c = small_rotate(e->c, second, third, i + 1);
			vs32 a = small_rotate(e->a, second, third, i + 1);
			vs32 b = small_rotate(e->b, second, third, i + 1);
			vf32 to = (vf32)small_rotate(z, second, third, i + 1);
			const unsigned int n = at + h * DOUBLES;

			*(vf64 *)&s->k[i][n] = (small_wide_float(to, h) - from) / area;
			*(vf64 *)&s->c[i][n] = small_wide(c, h);
			*(vf64 *)&s->a[i][n] = small_wide(a, h) * PIXEL;
			*(vf64 *)&s->b[i][n] = small_wide(b, h) * PIXEL;
		}
	}
}

/* Where depths of the quad at (@x, @y) are, in sample 0: tsr_tile_place(). */
TSR_INLINE vs32 small_place(vs32 x, vs32 y, const struct tsr_small_rules *r)
{
	vs32 block = (y >> 3 << (r->shift - 3)) + (x >> 3);

	return (block << (6 + r->samples_log2)) + ((y & 6) << 3) + ((x & 6) << 1);
}

/* In how many blocks, of depths 1 << @shift, pixels of @mask are. */
TSR_INLINE vs32 small_blocks(vs32 mask, const vs32 at[4], unsigned int shift)
{
	vs32 count = { 0 }, there[4];

	TSR_UNROLL
	for (unsigned int q = 0; q < 4; q++) {
		vs32 known = { 0 };

		there[q] = (mask & 15 << 4 * q) != 0;
		TSR_UNROLL
		for (unsigned int i = 0; i < q; i++)
			known |= there[i] & (at[i] >> shift == at[q] >> shift);
		count -= there[q] & ~known;
	}
	return count;
}

/* Where sample @n is, in subpixels from the centre. */
TSR_INLINE int32_t small_sample(unsigned int samples_log2, unsigned int n, unsigned int axis)
{
	return tsr_sample_position[samples_log2][n][axis] * (PIXEL / 16) - PIXEL / 2;
}

/* Coverage of all samples, of the pixels of @window: what any of them covers. */
TSR_INLINE vs32 small_samples(const struct tsr_small_rules *r, const struct small_edges *e,
			      vs32 window, struct tsr_small *s, unsigned int at)
{
	vs32 any = { 0 };

	for (unsigned int n = 0; n < 1u << r->samples_log2; n++) {
		const vs32 mask = window & small_coverage(e, small_sample(r->samples_log2, n, 0),
							  small_sample(r->samples_log2, n, 1));

		*(vs32 *)&s->sample[n][at] = mask;
		any |= mask;
	}
	return any;
}

TSR_INLINE void small_some(const struct tsr_small_rules *r, const struct tsr_tile_triangles *t,
			   struct tsr_small *s, unsigned int at)
{
	struct small_corners v;
	struct small_edges e;
	vs32 least_x, least_y, most_x, most_y, x0, y0, x1, y1, x, y, near, empty, mask, place[4];
	vs32 window;

	small_load(t->v + at, &v);
	least_x = tsr_smaller(tsr_smaller(v.x[0], v.x[1]), v.x[2]);
	least_y = tsr_smaller(tsr_smaller(v.y[0], v.y[1]), v.y[2]);
	most_x = tsr_larger(tsr_larger(v.x[0], v.x[1]), v.x[2]);
	most_y = tsr_larger(tsr_larger(v.y[0], v.y[1]), v.y[2]);
	x0 = tsr_larger(least_x >> TSR_SUBPIXEL_BITS, (vs32){ 0 } + r->x0);
	y0 = tsr_larger(least_y >> TSR_SUBPIXEL_BITS, (vs32){ 0 } + r->y0);
	x1 = tsr_smaller((most_x >> TSR_SUBPIXEL_BITS) + 1, (vs32){ 0 } + r->x1);
	y1 = tsr_smaller((most_y >> TSR_SUBPIXEL_BITS) + 1, (vs32){ 0 } + r->y1);
	x = x0 & ~1;
	y = y0 & ~1;
	empty = (x0 >= x1) | (y0 >= y1);
	small_edges(&v, x * PIXEL + PIXEL / 2, y * PIXEL + PIXEL / 2, &e);
	near = (most_x - least_x <= SMALL) & (most_y - least_y <= SMALL);
	s->large |= mask_bits(~((near & (x1 - x <= 4) & (y1 - y <= 4)) | empty)) << at;
	s->huge |= mask_bits(~(near & ~empty & (e.area != 0))) << at;
	window = small_window(x0 - x, y0 - y, x1 - x, y1 - y) & ~empty;
	mask = r->samples_log2 ? small_samples(r, &e, window, s, at) :
				 small_coverage(&e, 0, 0) & window;
	*(vs32 *)&s->mask[at] = mask;
	if (r->depth)
		small_planes(s, &v, &e, at);
	small_keep(s, &e, at);
	x -= r->x;
	y -= r->y;
	*(vs32 *)&s->x[at] = x;
	*(vs32 *)&s->y[at] = y;
	*(vs32 *)&s->x0[at] = x0 - r->x;
	*(vs32 *)&s->y0[at] = y0 - r->y;
	*(vs32 *)&s->x1[at] = x1 - r->x;
	*(vs32 *)&s->y1[at] = y1 - r->y;
	TSR_UNROLL
	for (unsigned int q = 0; q < 4; q++) {
		place[q] = small_place(x + (int)(q % 2 * 2), y + (int)(q / 2 * 2), r);
		*(vs32 *)&s->at[q][at] = place[q];
	}
	*(vs32 *)&s->blocks[at] = small_blocks(mask, place, 6 + r->samples_log2);
}

static TSR_UNCHECKED_ void small(const struct tsr_small_rules *r,
				 const struct tsr_tile_triangles *t, struct tsr_small *s)
{
	s->samples_log2 = r->samples_log2;
	s->cut = (r->x0 | r->y0 | r->x1 | r->y1) & 7;
	s->large = s->huge = 0;
	for (unsigned int at = 0; at < TSR_TILE_TRIANGLES; at += LANES)
		small_some(r, t, s, at);
}

/* ---- Depth ----------------------------------------------------------------------------------- */

/* A vector from its halves: not by way of memory, where they would be waited for. */
#if TSR_VECTOR_BYTES == 64
TSR_INLINE vf32 small_join(vf32_half a, vf32_half b)
{
	return PICK(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
#elif TSR_VECTOR_BYTES == 32
TSR_INLINE vf32 small_join(vf32_half a, vf32_half b)
{
	return PICK(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}
#else
TSR_INLINE vf32 small_join(vf32_half a, vf32_half b)
{
	return PICK(a, b, 0, 1, 2, 3);
}
#endif

/* NAME(): all ones in the lanes in which @z stands to @stored as @function says. */
#define COMPARE_LANES(name, f32, s32)								\
	TSR_INLINE s32 name(f32 z, f32 stored, unsigned int function)				\
	{											\
		switch (function) {								\
		case TSR_COMPARE_FUNCTION_NEVER:						\
			return (s32){ 0 };							\
		case TSR_COMPARE_FUNCTION_LESS:							\
			return z < stored;							\
		case TSR_COMPARE_FUNCTION_EQUAL:						\
			return z == stored;							\
		case TSR_COMPARE_FUNCTION_LEQUAL:						\
			return z <= stored;							\
		case TSR_COMPARE_FUNCTION_GREATER:						\
			return z > stored;							\
		case TSR_COMPARE_FUNCTION_NOT_EQUAL:						\
			return z != stored;							\
		case TSR_COMPARE_FUNCTION_GEQUAL:						\
			return z >= stored;							\
		default:									\
			return ~(s32){ 0 };							\
		}										\
	}

COMPARE_LANES(small_compare, vf32, vs32)

/* ---- Quads ----------------------------------------------------------------------------------- */

/* A number for each pixel of a quad, whatever the path: the compiler takes them apart. */
typedef double quad_f64 __attribute__((vector_size(32)));
typedef int64_t quad_s64 __attribute__((vector_size(32)));
typedef int32_t quad_s32 __attribute__((vector_size(16)));

COMPARE_LANES(quad_compare, four, quad_s32)
#if defined(TSR_ALU_AVX2) || defined(TSR_ALU_AVX512)
LIMIT_X86(quad_limit, quad_f64, 256, __m256d)
#else
LIMIT(quad_limit, quad_f64, quad_s64)
#endif
FINISH(quad_finish, quad_f64, quad_limit, four)

/* One bit for each lane of @m, which is all ones or 0. */
TSR_INLINE unsigned int quad_bits(quad_s32 m)
{
#ifdef __SSE2__
	return _mm_movemask_ps((__m128)m);
#else
	return (m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8);
#endif
}

/* A quad to be tested: number @q of triangle @i; @sample: of those alone, else of the centres. */
struct quad_place {
	unsigned int i, q;
	bool sample;
	double dx, dy;			/* pixels from the centres */
	unsigned int function;		/* of the test */
};

/* Its depths. The functions are integers there: nothing of them is rounded. */
TSR_INLINE four quad_depths(const struct tsr_small *s, struct quad_place p,
			    const struct tsr_small_test *test)
{
	const unsigned int i = p.i, q = p.q;
	static const double column[2][4] __attribute__((aligned(32))) = {
		{ 0, 1, 0, 1 }, { 2, 3, 2, 3 },
	};
	static const double row[2][4] __attribute__((aligned(32))) = {
		{ 0, 0, 1, 1 }, { 2, 2, 3, 3 },
	};
	const quad_f64 from_x = *(const quad_f64 *)column[q & 1];
	const quad_f64 from_y = *(const quad_f64 *)row[q >> 1];
	const quad_f64 x = p.sample ? from_x + p.dx : from_x;
	const quad_f64 y = p.sample ? from_y + p.dy : from_y;
	const quad_f64 t = s->base[i] +
			   ((s->c[0][i] + s->a[0][i] * x + s->b[0][i] * y) * s->k[0][i] +
			    (s->c[1][i] + s->a[1][i] * x + s->b[1][i] * y) * s->k[1][i]);

	return quad_finish(&t, test->low, test->high, test->scale);
}

/* Lanes of @pixels whose @z passes; of these it is stored at @stored if @write. */
#if defined(TSR_ALU_AVX512)
#define QUAD_COMPARE(how) _mm_mask_cmp_ps_mask(pixels, (__m128)z, (__m128)old, how)

TSR_INLINE unsigned int quad_lanes(four z, float *stored, unsigned int pixels,
				   unsigned int function, bool write)
{
	const four old = *(const four_in_memory *)stored;
	__mmask8 pass;

	if (function == TSR_COMPARE_FUNCTION_LESS)
		pass = QUAD_COMPARE(_CMP_LT_OQ);
	else if (function == TSR_COMPARE_FUNCTION_LEQUAL)
		pass = QUAD_COMPARE(_CMP_LE_OQ);
	else
		pass = pixels & quad_bits(quad_compare(z, old, function));
	if (write)
		_mm_mask_storeu_ps(stored, pass, (__m128)z);
	return pass;
}
#else
TSR_INLINE unsigned int quad_lanes(four z, float *stored, unsigned int pixels,
				   unsigned int function, bool write)
{
	const quad_s32 weight = { 1, 2, 4, 8 };
	const quad_s32 covered = (((quad_s32){ 0 } + (int32_t)pixels) & weight) == weight;
	const four old = *(const four_in_memory *)stored;
	const quad_s32 which = quad_compare(z, old, function) & covered;

	if (write)
		*(four_in_memory *)stored =
			(four)(((quad_s32)z & which) | ((quad_s32)old & ~which));
	return quad_bits(which);
}
#endif

/* Those of @pixels that pass the test; @stored: depths of the quad, which may be written. */
TSR_INLINE unsigned int quad_test(const struct tsr_small *s, struct quad_place p,
				  const struct tsr_small_test *test, unsigned int pixels,
				  float *stored)
{
	return quad_lanes(quad_depths(s, p, test), stored, pixels, p.function, test->write);
}

/* A bit for each quad of four triangles, from number @first on, that has pixels. */
TSR_INLINE uint64_t quads_there(const struct tsr_small *s, unsigned int first)
{
	uint64_t there = 0;

	TSR_UNROLL
	for (unsigned int i = 0; i < 4; i++)
		there |= (uint64_t)(uint16_t)s->mask[first + i] << 16 * i;
	there |= there >> 2;
	return (there | there >> 1) & 0x1111111111111111;
}

/* Test the samples of a quad, whose depths are from @stored on: bits of those that pass. */
TSR_INLINE unsigned int quad_samples(const struct tsr_small *s, struct quad_place p,
				     const struct tsr_small_test *test, float *stored,
				     unsigned int *covered)
{
	unsigned int pass = 0;

	for (unsigned int n = 0; n < 1u << s->samples_log2; n++) {
		unsigned int pixels = s->sample[n][p.i] >> 4 * p.q & 15;

		if (!pixels)
			continue;
		*covered += tsr_quad_pixels(pixels);
		p.sample = true;
		p.dx = small_sample(s->samples_log2, n, 0) / (double)PIXEL;
		p.dy = small_sample(s->samples_log2, n, 1) / (double)PIXEL;
		if (test)
			pixels = quad_test(s, p, test, pixels, stored + 64 * n);
		pass |= pixels << 4 * n;
	}
	return pass;
}

/* A quad with one sample for each pixel. */
TSR_INLINE unsigned int quad_single(const struct tsr_small *s, struct quad_place p,
				    const struct tsr_small_test *test, float *stored,
				    unsigned int *covered)
{
	const unsigned int pixels = s->mask[p.i] >> 4 * p.q & 15;

	*covered += tsr_quad_pixels(pixels);
	return test ? quad_test(s, p, test, pixels, stored) : pixels;
}

TSR_INLINE void quads_of(const struct tsr_small *s, unsigned int first, unsigned int end,
			 const struct tsr_small_test *test, unsigned int function, float *depth,
			 struct tsr_small_quads *to)
{
	unsigned int n = 0, covered = 0, passed = 0;

	for (unsigned int base = first & ~3u; base < end; base += 4) {
		uint64_t left = quads_there(s, base);

		if (base < first)
			left &= ~0ull << 16 * (first - base);
		if (base + 4 > end)
			left &= (1ull << 16 * (end - base)) - 1;
		for (; left; left &= left - 1) {
			const unsigned int place = __builtin_ctzll(left) / 4, q = place % 4;
			const unsigned int i = base + place / 4, at = s->at[q][i];
			const struct quad_place p = { .i = i, .q = q, .function = function };
			unsigned int pixels;

			if (s->samples_log2)
				pixels = quad_samples(s, p, test, depth + at, &covered);
			else
				pixels = quad_single(s, p, test, depth + at, &covered);
			passed += tsr_quad_samples(pixels);
			to->triangle[n] = i;
			to->quad[n] = q;
			to->pixels[n] = pixels;
			to->at[n] = at;
			n += pixels != 0;
		}
	}
	to->count = n;
	to->covered = covered;
	to->passed = passed;
}

/* A function that is known when this is compiled is chosen once, not for each quad. */
static TSR_UNCHECKED_ void small_quads(const struct tsr_small *s, unsigned int first,
				       unsigned int end, const struct tsr_small_test *test,
				       float *depth, struct tsr_small_quads *to)
{
	if (!test)
		quads_of(s, first, end, NULL, 0, depth, to);
	else if (test->function == TSR_COMPARE_FUNCTION_LESS)
		quads_of(s, first, end, test, TSR_COMPARE_FUNCTION_LESS, depth, to);
	else if (test->function == TSR_COMPARE_FUNCTION_LEQUAL)
		quads_of(s, first, end, test, TSR_COMPARE_FUNCTION_LEQUAL, depth, to);
	else
		quads_of(s, first, end, test, test->function, depth, to);
}
