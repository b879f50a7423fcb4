/* SPDX-License-Identifier: MIT */
/*
 * Interpolation of a warp on the vectors of one SIMD path, see msg_varying.c and alu_path.h. Every
 * path does the same operations on doubles in the same order.
 */
#include "msg_bundle.h"
#include "stage.h"

typedef double vf64 __attribute__((vector_size(TSR_VECTOR_BYTES)));
typedef double vf64_in_memory __attribute__((vector_size(TSR_VECTOR_BYTES), may_alias, aligned(8)));
/* as many floats as there are doubles in a vector */
typedef float vf32_narrow __attribute__((vector_size(TSR_VECTOR_BYTES / 2)));
typedef float vf32_narrow_in_memory
	__attribute__((vector_size(TSR_VECTOR_BYTES / 2), may_alias, aligned(4)));

#define DOUBLES (TSR_VECTOR_BYTES / 8)

/* Component @c of a warp's @count lanes from @first on, which belong to the same planes. */
TSR_INLINE void interpolate_lanes(const struct tsr_interpolation *i, const struct tsr_planes *p,
				  unsigned int c, unsigned int first, unsigned int count,
				  float *out)
{
	const vf64 a = (vf64){ 0 } + p->a[c], b = (vf64){ 0 } + p->b[c];
	const vf64 v = (vf64){ 0 } + p->c[c];

	for (unsigned int l = first; l < first + count; l += DOUBLES) {
		const vf64 x = *(const vf64_in_memory *)(i->x + l);
		const vf64 y = *(const vf64_in_memory *)(i->y + l);
		const vf64 w = *(const vf64_in_memory *)(i->w + l);
		const vf64 at = (a * x + b * y) * w + v;

		*(vf32_narrow_in_memory *)(out + l) = __builtin_convertvector(at, vf32_narrow);
	}
}

/* The same for four lanes, which are less than a vector of the widest path. */
TSR_INLINE void interpolate_quad(const struct tsr_interpolation *i, const struct tsr_planes *p,
				 unsigned int c, unsigned int first, float *out)
{
	typedef double four __attribute__((vector_size(32), may_alias, aligned(8)));
	typedef float four_floats __attribute__((vector_size(16), may_alias, aligned(4)));
	const four x = *(const four *)(i->x + first), y = *(const four *)(i->y + first);
	const four w = *(const four *)(i->w + first);
	const four at = (p->a[c] * x + p->b[c] * y) * w + p->c[c];

	*(four_floats *)(out + first) = __builtin_convertvector(at, four_floats);
}

static void interpolate(struct tsr_interpolation *i)
{
	for (unsigned int c = 0; c < i->count; c++) {
		float *out = i->out[c].f;

		if (i->same) {
			interpolate_lanes(i, i->planes[0], c, 0, TSR_WARP_LANES, out);
			continue;
		}
		for (unsigned int q = 0; q < TSR_WARP_LANES / 4; q++) {
			if (i->planes[q])
				interpolate_quad(i, i->planes[q], c, 4 * q, out);
		}
	}
}

static void centres(struct tsr_fragments *f, unsigned int w)
{
	typedef double four __attribute__((vector_size(32), may_alias, aligned(8)));
	static const double right[4] = { 0.5, 1.5, 0.5, 1.5 }, down[4] = { 0.5, 0.5, 1.5, 1.5 };
	unsigned int first = w * TSR_WARP_LANES / 4;

	for (unsigned int n = 0; n < TSR_WARP_LANES / 4 && first + n < f->quads; n++) {
		const struct tsr_fragment_quad *quad = &f->quad[first + n];
		const struct tsr_fragment_prim *p = &f->prim[quad->prim];
		const four x = *(const four *)right + quad->x - p->x0;
		const four y = *(const four *)down + quad->y - p->y0;
		four one = (four){ 0 } + 1;

		*(four *)&f->centre_x[w][4 * n] = x;
		*(four *)&f->centre_y[w][4 * n] = y;
		if (!p->flat_w)
			one /= (p->rw[1] * x + p->rw[2] * y) + p->rw[0];
		*(four *)&f->centre_w[w][4 * n] = one;
	}
}
