/* SPDX-License-Identifier: MIT */
/*
 * Interpolation on the vectors of one SIMD path, see msg_varying.c, planes.h and alu_path.h. Planes
 * are taken in doubles to the corner of a block of 8 by 8 pixels and rounded there; from it on all
 * is fp32, in multiply-adds that round once. Every path does the same operations in the same order.
 */
#include "msg_bundle.h"
#include "shader/planes.h"
#include "shader/stage.h"

#ifdef __x86_64__
#include "alu/alu_fma.h"
#endif

typedef vf32 vf32_in_memory __attribute__((may_alias, aligned(4)));

/* A value for each pixel of a quad, or for each quad of a warp. */
typedef double four_wide __attribute__((vector_size(32)));

#define FLOATS (TSR_VECTOR_BYTES / 4)
#define QUADS (TSR_WARP_LANES / 4)	/* of a warp */

/* a * b + c, rounded once. */
TSR_INLINE four fma_four(four a, four b, four c)
{
#if defined(__x86_64__) && !defined(TSR_ALU_SSE2)
	return (four)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
#elif defined(__x86_64__)
	return multiply_add(a, b, c);
#else
	for (unsigned int i = 0; i < 4; i++)
		c[i] = __builtin_fmaf(a[i], b[i], c[i]);
	return c;
#endif
}

TSR_INLINE vf32 fma_all(vf32 a, vf32 b, vf32 c)
{
#ifdef __x86_64__
	return multiply_add(a, b, c);
#else
	return fma_four(a, b, c);
#endif
}

/* ---- Anywhere -------------------------------------------------------------------------------- */

/* A plane that is @c at vertex 0, at a corner that is so far from there, rounded. */
TSR_INLINE float at_corner(double a, double b, double c, double x, double y)
{
	return (float)((a * x + b * y) + c);
}

/* A plane at four points that are (@dx, @dy) from that corner. */
TSR_INLINE four at_four(double a, double b, double c, double x, double y, four dx, four dy)
{
	const four zero = { 0 };

	return fma_four(zero + (float)a, dx,
			fma_four(zero + (float)b, dy, zero + at_corner(a, b, c, x, y)));
}

static void spot(const struct tsr_fragment_prim *p, const struct tsr_planes *planes,
		 unsigned int count, int32_t column, int32_t row, const float right[4],
		 const float down[4], float out[4][4])
{
	const double x = column - p->x0, y = row - p->y0;
	const four dx = *(const four_in_memory *)right, dy = *(const four_in_memory *)down;
	const four zero = { 0 };
	four w = zero + 1;

	if (planes->perspective)
		w = 1 / at_four(p->rw[1], p->rw[2], p->rw[0], x, y, dx, dy);
	for (unsigned int i = 0; i < count; i++) {
		const four at = at_four(planes->a[i], planes->b[i], planes->c[i], x, y, dx, dy);

		*(four_in_memory *)out[i] = fma_four(at, w, zero + planes->provoking.f[i]);
	}
}

/* ---- Warps ----------------------------------------------------------------------------------- */

/* Values of one component for the quads of a warp, a number for each. */
struct warp_planes {
	four a, b, corner, value;
};

/* Component @c of quads with their planes @p. */
TSR_INLINE struct warp_planes warp_planes(const struct tsr_fragments *f,
					  const struct tsr_planes *const p[QUADS], unsigned int c,
					  unsigned int w)
{
	const four_wide a = { p[0]->a[c], p[1]->a[c], p[2]->a[c], p[3]->a[c] };
	const four_wide b = { p[0]->b[c], p[1]->b[c], p[2]->b[c], p[3]->b[c] };
	const four_wide first = { p[0]->c[c], p[1]->c[c], p[2]->c[c], p[3]->c[c] };
	const four_wide at = (a * *(const four_wide *)f->corner_x[w] +
			      b * *(const four_wide *)f->corner_y[w]) + first;
	const four value = { p[0]->provoking.f[c], p[1]->provoking.f[c], p[2]->provoking.f[c],
			     p[3]->provoking.f[c] };

	return (struct warp_planes){
		.a = __builtin_convertvector(a, four), .b = __builtin_convertvector(b, four),
		/* no -0 is left, whatever the sign of w */
		.corner = __builtin_convertvector(at, four), .value = value + 0,
	};
}

/*
 * The lanes of a vector that begins with quad @q, each with what @of has for its quad. Of a shuffle
 * the compiler makes a way by memory, where it is waited for.
 */
TSR_INLINE vf32 spread(four of, unsigned int q)
{
#if defined(TSR_ALU_AVX512)
	const __m512i quads = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);

	(void)q;
	return (vf32)_mm512_permutexvar_ps(quads, _mm512_castps128_ps512((__m128)of));
#elif defined(TSR_ALU_AVX2)
	const __m256i quads = _mm256_set_epi32(1, 1, 1, 1, 0, 0, 0, 0);
	const __m256i right = _mm256_set_epi32(3, 3, 3, 3, 2, 2, 2, 2);

	return (vf32)_mm256_permutevar8x32_ps(_mm256_castps128_ps256((__m128)of),
					      q ? right : quads);
#else
	return (vf32){ 0 } + of[q];
#endif
}

TSR_INLINE void warp_component(const struct tsr_fragments *f, const struct warp_planes *p,
			       unsigned int w, float out[TSR_WARP_LANES])
{
	TSR_UNROLL
	for (unsigned int l = 0; l < TSR_WARP_LANES; l += FLOATS) {
		const vf32 dx = *(const vf32_in_memory *)&f->centre_x[w][l];
		const vf32 dy = *(const vf32_in_memory *)&f->centre_y[w][l];
		const vf32 over_w = *(const vf32_in_memory *)&f->centre_w[w][l];
		vf32 at = fma_all(spread(p->b, l / 4), dy, spread(p->corner, l / 4));

		at = fma_all(spread(p->a, l / 4), dx, at);
		at = fma_all(at, over_w, spread(p->value, l / 4));
		*(vf32_in_memory *)(out + l) = at;
	}
}

static void interpolate(const struct tsr_fragments *f, const struct tsr_interpolation *i)
{
	for (unsigned int n = 0; n < i->warps; n++) {
		const unsigned int w = i->warp[n];
		const struct tsr_planes *p[QUADS], *any = i->one;

		/* a quad without threads takes those of another */
		for (unsigned int q = 0; q < QUADS && !any; q++)
			any = i->planes[w * QUADS + q];
		for (unsigned int q = 0; q < QUADS; q++)
			p[q] = i->one || !i->planes[w * QUADS + q] ? any : i->planes[w * QUADS + q];
		for (unsigned int c = 0; any && c < i->count; c++) {
			const struct warp_planes component = warp_planes(f, p, c, w);
			union tsr_lanes some;

			if (i->lanes[w] == TSR_ALL_LANES) {
				warp_component(f, &component, w, i->to[c][w].f);
			} else {
				warp_component(f, &component, w, some.f);
				tsr_msg_move(&i->to[c][w], &some, i->lanes[w]);
			}
		}
	}
}

static void centres(struct tsr_fragments *f, unsigned int w)
{
	static const float right[4] = { 0.5f, 1.5f, 0.5f, 1.5f };
	static const float down[4] = { 0.5f, 0.5f, 1.5f, 1.5f };
	const struct tsr_fragment_quad *quad = &f->quad[w * QUADS];
	const unsigned int quads = f->quads - w * QUADS;

	for (unsigned int n = 0; n < QUADS && n < quads; n++) {
		const struct tsr_fragment_prim *p = &f->prim[quad[n].prim];
		const int32_t column = TSR_CORNER(quad[n].x), row = TSR_CORNER(quad[n].y);
		const double x = column - p->x0, y = row - p->y0;
		const four dx = *(const four_in_memory *)right + (float)(quad[n].x - column);
		const four dy = *(const four_in_memory *)down + (float)(quad[n].y - row);
		four over_w = (four){ 0 } + 1;

		f->corner_x[w][n] = x;
		f->corner_y[w][n] = y;
		*(four_in_memory *)&f->centre_x[w][4 * n] = dx;
		*(four_in_memory *)&f->centre_y[w][4 * n] = dy;
		if (!p->flat_w)
			over_w = 1 / at_four(p->rw[1], p->rw[2], p->rw[0], x, y, dx, dy);
		*(four_in_memory *)&f->centre_w[w][4 * n] = over_w;
	}
}

/* ---- Blocks of pixels ------------------------------------------------------------------------ */

#define QUAD_BLOCK_WARPS 4
#define BLOCK_VECTORS (QUAD_BLOCK_WARPS * TSR_WARP_LANES / FLOATS)

/* From the corner of a block to the centres of its pixels, which are in the order of quads. */
static const float block_right[TSR_WARP_LANES] __attribute__((aligned(64))) = {
	0.5f, 1.5f, 0.5f, 1.5f, 2.5f, 3.5f, 2.5f, 3.5f,
	4.5f, 5.5f, 4.5f, 5.5f, 6.5f, 7.5f, 6.5f, 7.5f,
};
static const float block_down[TSR_WARP_LANES] __attribute__((aligned(64))) = {
	0.5f, 0.5f, 1.5f, 1.5f, 0.5f, 0.5f, 1.5f, 1.5f,
	0.5f, 0.5f, 1.5f, 1.5f, 0.5f, 0.5f, 1.5f, 1.5f,
};

/*
 * The places of a block at which its planes are evaluated: @moved from the centres of pixels, if
 * that is not known to be 0.
 */
struct block_places {
	bool moved;
	float right, down;
};

/* Vector number @i of a plane over the block. */
TSR_INLINE vf32 block_plane(vf32 a, vf32 b, vf32 corner, struct block_places at, unsigned int i)
{
	const unsigned int l = i * FLOATS % TSR_WARP_LANES, w = i * FLOATS / TSR_WARP_LANES;
	const vf32 right = *(const vf32_in_memory *)&block_right[l];
	const vf32 down = *(const vf32_in_memory *)&block_down[l];
	const float rows = (float)(2 * w);

	/* multiples of 1/16 up to 8: exact */
	if (at.moved)
		return fma_all(a, right + at.right, fma_all(b, down + (rows + at.down), corner));
	return fma_all(a, right, fma_all(b, down + rows, corner));
}

/* w at each pixel. */
TSR_INLINE void block_w(const struct tsr_fragment_prim *p, double x, double y,
			struct block_places at, float *w)
{
	const vf32 zero = { 0 };
	const vf32 corner = zero + at_corner(p->rw[1], p->rw[2], p->rw[0], x, y);

	TSR_UNROLL
	for (unsigned int i = 0; i < BLOCK_VECTORS; i++)
		*(vf32_in_memory *)&w[i * FLOATS] =
			1 / block_plane(zero + (float)p->rw[1], zero + (float)p->rw[2], corner, at,
					i);
}

TSR_INLINE void block_component(const struct tsr_planes *planes, unsigned int c, double x, double y,
				struct block_places places, const float *w, union tsr_lanes *to)
{
	const vf32 zero = { 0 }, a = zero + (float)planes->a[c], b = zero + (float)planes->b[c];
	const vf32 corner = zero + at_corner(planes->a[c], planes->b[c], planes->c[c], x, y);
	const vf32 value = zero + planes->provoking.f[c];

	TSR_UNROLL
	for (unsigned int i = 0; i < BLOCK_VECTORS; i++) {
		vf32 at = block_plane(a, b, corner, places, i);

		if (w)
			at = fma_all(at, *(const vf32_in_memory *)&w[i * FLOATS], value);
		else
			at += value;
		*(vf32_in_memory *)&to[i * FLOATS / TSR_WARP_LANES].f[i * FLOATS % TSR_WARP_LANES] =
			at;
	}
}

TSR_INLINE void block_components(const struct tsr_planes *planes, unsigned int count, double x,
				 double y, struct block_places at, const float *w,
				 union tsr_lanes *const to[4])
{
	for (unsigned int c = 0; c < count; c++) {
		if (w)
			block_component(planes, c, x, y, at, w, to[c]);
		else
			block_component(planes, c, x, y, at, NULL, to[c]);
	}
}

static void quad_block(const struct tsr_fragment_prim *p, const struct tsr_planes *planes,
		       unsigned int count, int32_t column, int32_t row, const float off[2],
		       float *w, bool has_w, union tsr_lanes *const to[4])
{
	const struct block_places centres = { false, 0, 0 }, moved = { true, off[0], off[1] };
	const double x = column - p->x0, y = row - p->y0;

	/* Additions of 0 cannot be left out by the compiler: 14 % of a scene of varyings. */
	if (off[0] == 0 && off[1] == 0) {
		if (w && !has_w)
			block_w(p, x, y, centres, w);
		block_components(planes, count, x, y, centres, w, to);
	} else {
		if (w && !has_w)
			block_w(p, x, y, moved, w);
		block_components(planes, count, x, y, moved, w, to);
	}
}
