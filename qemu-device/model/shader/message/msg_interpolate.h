/* SPDX-License-Identifier: MIT */
/*
 * Interpolation of a warp on the vectors of one SIMD path, see msg_varying.c and alu_path.h. Every
 * path does the same operations on doubles in the same order.
 */
#include "msg_bundle.h"
#include "shader/planes.h"
#include "shader/stage.h"

typedef double vf64 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef double vf64_in_memory __attribute__((vector_size(TSR_VECTOR_BYTES), may_alias, aligned(8)));
/* as many floats as there are doubles in a vector */
typedef float vf32_narrow __attribute__((vector_size(TSR_VECTOR_BYTES / 2)));
typedef float vf32_narrow_in_memory
	__attribute__((vector_size(TSR_VECTOR_BYTES / 2), may_alias, aligned(4)));

#define DOUBLES (TSR_VECTOR_BYTES / 8)

/* Component @c of warp @w, whose lanes all belong to @p. */
TSR_INLINE void interpolate_warp(const struct tsr_fragments *f, const struct tsr_planes *p,
				 unsigned int c, unsigned int w, float *out)
{
	const vf64 a = (vf64){ 0 } + p->a[c], b = (vf64){ 0 } + p->b[c];
	const vf64 v = (vf64){ 0 } + p->c[c];

	for (unsigned int l = 0; l < TSR_WARP_LANES; l += DOUBLES) {
		const vf64 x = *(const vf64_in_memory *)&f->centre_x[w][l];
		const vf64 y = *(const vf64_in_memory *)&f->centre_y[w][l];
		const vf64 q = *(const vf64_in_memory *)&f->centre_w[w][l];
		const vf64 at = (a * x + b * y) * q + v;

		*(vf32_narrow_in_memory *)(out + l) = __builtin_convertvector(at, vf32_narrow);
	}
}

typedef double four __attribute__((vector_size(32), may_alias, aligned(8)));

/* The same for @lanes of quad @q of the warp alone: less than a vector of the widest path. */
TSR_INLINE void interpolate_quad(const struct tsr_fragments *f, const struct tsr_planes *p,
				 unsigned int c, unsigned int w, unsigned int q,
				 unsigned int lanes, float *out)
{
	typedef float four_floats __attribute__((vector_size(16), may_alias, aligned(4)));
	typedef int32_t four_ints __attribute__((vector_size(16)));
	const four_ints weight = { 1, 2, 4, 8 };
	const four_ints mask = (((four_ints){ 0 } + (int32_t)lanes) & weight) != 0;
	const four x = *(const four *)&f->centre_x[w][4 * q];
	const four y = *(const four *)&f->centre_y[w][4 * q];
	const four at = (p->a[c] * x + p->b[c] * y) * *(const four *)&f->centre_w[w][4 * q] +
			p->c[c];
	const four_ints new = (four_ints)__builtin_convertvector(at, four_floats);
	const four_ints old = (four_ints)*(const four_floats *)(out + 4 * q);

	*(four_floats *)(out + 4 * q) = (four_floats)((new & mask) | (old & ~mask));
}

/* All components of warp @w, all of whose lanes belong to one primitive. */
TSR_INLINE void interpolate_one(const struct tsr_fragments *f, const struct tsr_interpolation *i,
				const struct tsr_planes *one, unsigned int w)
{
	for (unsigned int c = 0; c < i->count; c++) {
		union tsr_lanes some;

		if (i->lanes[w] == TSR_ALL_LANES) {
			interpolate_warp(f, one, c, w, i->to[c][w].f);
		} else {
			interpolate_warp(f, one, c, w, some.f);
			tsr_msg_move(&i->to[c][w], &some, i->lanes[w]);
		}
	}
}

static void interpolate(const struct tsr_fragments *f, const struct tsr_interpolation *i)
{
	for (unsigned int n = 0; n < i->warps; n++) {
		const unsigned int w = i->warp[n];
		const struct tsr_planes *const *p = &i->planes[w * TSR_WARP_LANES / 4];
		const struct tsr_planes *one = i->one;

		if (!one && p[0] == p[1] && p[0] == p[2] && p[0] == p[3])
			one = p[0];
		if (one) {
			interpolate_one(f, i, one, w);
			continue;
		}
		for (unsigned int q = 0; q < TSR_WARP_LANES / 4; q++) {
			for (unsigned int c = 0; p[q] && c < i->count; c++)
				interpolate_quad(f, p[q], c, w, q, i->lanes[w] >> 4 * q & 15,
						 i->to[c][w].f);
		}
	}
}

/* Of a warp with four quads of primitive @p, whose pixels are (@column, @row) of the frame. */
TSR_INLINE void centres_of_one(struct tsr_fragments *f, const struct tsr_fragment_prim *p,
			       unsigned int w, const int32_t *column, const int32_t *row)
{
	typedef int32_t ints __attribute__((vector_size(TSR_VECTOR_BYTES / 2), may_alias));

	for (unsigned int l = 0; l < TSR_WARP_LANES; l += DOUBLES) {
		const vf64 right = __builtin_convertvector(*(const ints *)(column + l), vf64);
		const vf64 down = __builtin_convertvector(*(const ints *)(row + l), vf64);
		const vf64 x = (right + 0.5) - p->x0, y = (down + 0.5) - p->y0;
		vf64 one = (vf64){ 0 } + 1;

		*(vf64_in_memory *)&f->centre_x[w][l] = x;
		*(vf64_in_memory *)&f->centre_y[w][l] = y;
		if (!p->flat_w)
			one /= (p->rw[1] * x + p->rw[2] * y) + p->rw[0];
		*(vf64_in_memory *)&f->centre_w[w][l] = one;
	}
}

static void centres(struct tsr_fragments *f, unsigned int w)
{
	static const double right[4] = { 0.5, 1.5, 0.5, 1.5 }, down[4] = { 0.5, 0.5, 1.5, 1.5 };
	const struct tsr_fragment_quad *quad = &f->quad[w * TSR_WARP_LANES / 4];
	unsigned int quads = f->quads - w * TSR_WARP_LANES / 4;

	if (quads >= TSR_WARP_LANES / 4 && quad[0].prim == quad[1].prim &&
	    quad[0].prim == quad[2].prim && quad[0].prim == quad[3].prim) {
		typedef int32_t quad_ints __attribute__((vector_size(16), may_alias));
		int32_t column[TSR_WARP_LANES] __attribute__((aligned(64)));
		int32_t row[TSR_WARP_LANES] __attribute__((aligned(64)));

		for (unsigned int q = 0; q < TSR_WARP_LANES / 4; q++) {
			*(quad_ints *)&column[4 * q] = (quad_ints){ 0, 1, 0, 1 } + quad[q].x;
			*(quad_ints *)&row[4 * q] = (quad_ints){ 0, 0, 1, 1 } + quad[q].y;
		}
		centres_of_one(f, &f->prim[quad[0].prim], w, column, row);
		return;
	}
	for (unsigned int n = 0; n < TSR_WARP_LANES / 4 && n < quads; n++) {
		const struct tsr_fragment_prim *p = &f->prim[quad[n].prim];
		const four x = *(const four *)right + quad[n].x - p->x0;
		const four y = *(const four *)down + quad[n].y - p->y0;
		four one = (four){ 0 } + 1;

		*(four *)&f->centre_x[w][4 * n] = x;
		*(four *)&f->centre_y[w][4 * n] = y;
		if (!p->flat_w)
			one /= (p->rw[1] * x + p->rw[2] * y) + p->rw[0];
		*(four *)&f->centre_w[w][4 * n] = one;
	}
}

/* ---- Blocks of pixels ------------------------------------------------------------------------ */

#define PATCH_WARPS 4
/* Vectors whose rows differ, of a row of quads */
#define ROW_VECTORS (DOUBLES < 4 ? 4 / DOUBLES : 1)
#define ROW_OF(vector) ((vector) % ROW_VECTORS)

/* Where centres of pixels are: of a row of quads from its first pixel, and from vertex 0. */
struct patch_axes {
	vf64 x[TSR_WARP_LANES / DOUBLES], y[PATCH_WARPS][ROW_VECTORS];
};

TSR_INLINE void patch_axes(const struct tsr_fragment_prim *p, int32_t x, int32_t y,
			   struct patch_axes *axes)
{
	static const double column[TSR_WARP_LANES] __attribute__((aligned(64))) = {
		0.5, 1.5, 0.5, 1.5, 2.5, 3.5, 2.5, 3.5, 4.5, 5.5, 4.5, 5.5, 6.5, 7.5, 6.5, 7.5,
	};
	static const double row[8] __attribute__((aligned(64))) = {
		0.5, 0.5, 1.5, 1.5, 0.5, 0.5, 1.5, 1.5,
	};

	TSR_UNROLL
	for (unsigned int i = 0; i < TSR_WARP_LANES / DOUBLES; i++)
		axes->x[i] = (*(const vf64_in_memory *)&column[i * DOUBLES] + x) - p->x0;
	TSR_UNROLL
	for (unsigned int i = 0; i < PATCH_WARPS * ROW_VECTORS; i++)
		axes->y[i / ROW_VECTORS][i % ROW_VECTORS] =
			(*(const vf64_in_memory *)&row[i % ROW_VECTORS * DOUBLES] +
			 (y + 2 * (int32_t)(i / ROW_VECTORS))) - p->y0;
}

TSR_INLINE void patch_component(const struct patch_axes *axes, double a, double b, double c,
				const double *w, union tsr_lanes *to)
{
	const vf64 right = (vf64){ 0 } + a, down = (vf64){ 0 } + b, v = (vf64){ 0 } + c;

	TSR_UNROLL
	for (unsigned int i = 0; i < PATCH_WARPS; i++) {
		vf64 below[ROW_VECTORS];

		TSR_UNROLL
		for (unsigned int r = 0; r < ROW_VECTORS; r++)
			below[r] = down * axes->y[i][r];
		TSR_UNROLL
		for (unsigned int l = 0; l < TSR_WARP_LANES / DOUBLES; l++) {
			vf64 at = right * axes->x[l] + below[ROW_OF(l)];

			if (w)
				at *= *(const vf64_in_memory *)&w[i * TSR_WARP_LANES + l * DOUBLES];
			at += v;
			*(vf32_narrow_in_memory *)&to[i].f[l * DOUBLES] =
				__builtin_convertvector(at, vf32_narrow);
		}
	}
}

/* w at each pixel. */
TSR_INLINE void patch_w(const struct tsr_fragment_prim *p, const struct patch_axes *axes, double *w)
{
	const vf64 one = (vf64){ 0 } + 1;

	TSR_UNROLL
	for (unsigned int i = 0; i < PATCH_WARPS * TSR_WARP_LANES / DOUBLES; i++) {
		unsigned int l = i % (TSR_WARP_LANES / DOUBLES), n = i * DOUBLES / TSR_WARP_LANES;
		const vf64 at = p->rw[1] * axes->x[l] + p->rw[2] * axes->y[n][ROW_OF(l)];

		*(vf64_in_memory *)&w[i * DOUBLES] = one / (at + p->rw[0]);
	}
}

static void patch(const struct tsr_fragment_prim *p, const struct tsr_planes *planes,
		  unsigned int count, int32_t x, int32_t y, double *w, bool has_w,
		  union tsr_lanes *const to[4])
{
	struct patch_axes axes;

	patch_axes(p, x, y, &axes);
	if (w && !has_w)
		patch_w(p, &axes, w);
	for (unsigned int c = 0; c < count; c++) {
		if (w)
			patch_component(&axes, planes->a[c], planes->b[c], planes->c[c], w, to[c]);
		else
			patch_component(&axes, planes->a[c], planes->b[c], planes->c[c], NULL,
					to[c]);
	}
}
