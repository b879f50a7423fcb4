/* SPDX-License-Identifier: MIT */
/*
 * Geometry of a bundle's triangles and planes of their varyings on the vectors of one SIMD path.
 * What is done with each number is what planes.c does with it, operation by operation.
 */
#include "msg_bundle.h"
#include "shader/planes.h"
#include "shader/stage.h"

#define SUBPIXELS (1 << TSR_SUBPIXEL_BITS)

/* Results to the right, then down: of 1/w, then of depth. */
typedef double plane_four __attribute__((vector_size(32), may_alias, aligned(8)));
typedef double plane_two __attribute__((vector_size(16), may_alias, aligned(8)));

#define PLANE_PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

TSR_INLINE void triangle_geometry(struct tsr_fragment_prim *p)
{
	const struct tsr_screen_vertex *v = p->prim.v;
	const double x1 = (double)v[1].x - v[0].x, y1 = (double)v[1].y - v[0].y;
	const double x2 = (double)v[2].x - v[0].x, y2 = (double)v[2].y - v[0].y;
	const double area = x1 * y2 - x2 * y1, rw = v[0].rw, z = v[0].z;
	const double rw1 = v[1].rw - rw, rw2 = v[2].rw - rw, z1 = v[1].z - z, z2 = v[2].z - z;
	const plane_four more1 = { rw1, rw1, z1, z1 }, more2 = { rw2, rw2, z2, z2 };
	/* what a pixel adds to weight 1, right and down, then to weight 2 */
	plane_four weight = { y2, -x2, -y1, x1 }, right, down;

	if (area != 0)
		weight = weight * SUBPIXELS / area;
	else
		weight = (plane_four){ 0 };
	*(plane_two *)p->dx = PLANE_PICK(weight, weight, 0, 2);
	*(plane_two *)p->dy = PLANE_PICK(weight, weight, 1, 3);
	right = PLANE_PICK(weight, weight, 0, 1, 0, 1);
	down = PLANE_PICK(weight, weight, 2, 3, 2, 3);
	right = (plane_four){ 0 } + more1 * right + more2 * down;
	p->x0 = (double)v[0].x / SUBPIXELS;
	p->y0 = (double)v[0].y / SUBPIXELS;
	p->rw[0] = rw;
	p->z[0] = z + p->bias;
	*(plane_two *)&p->rw[1] = PLANE_PICK(right, right, 0, 1);
	*(plane_two *)&p->z[1] = PLANE_PICK(right, right, 2, 3);
	p->flat_w = (v[1].rw == v[0].rw) & (v[2].rw == v[0].rw);
	p->geometry = true;
}

static void geometry(struct tsr_fragments *f)
{
	for (unsigned int i = 0; i < f->prims; i++) {
		struct tsr_fragment_prim *p = &f->prim[i];

		if (p->geometry)
			continue;
		if (p->prim.vertices == 3)
			triangle_geometry(p);
		else
			tsr_prim_geometry(p);
	}
}

typedef int32_t plane_words __attribute__((vector_size(16), may_alias, aligned(4)));
typedef float plane_floats __attribute__((vector_size(16), may_alias, aligned(4)));

/* Values of @v at a vertex, in memory at @from; components that are not there are 0, 0, 0, 1. */
TSR_INLINE plane_floats plane_values(const uint8_t *from, unsigned int floats)
{
	static const int32_t behind[4][4] = { { -1 }, { -1, -1 }, { -1, -1, -1 },
					      { -1, -1, -1, -1 } };
	const plane_words one = { 0, 0, 0, 0x3f800000 };
	const plane_words there = *(const plane_words *)behind[floats - 1];

	return (plane_floats)((*(const plane_words *)from & there) | (one & ~there));
}

static void planes(struct tsr_fragments *f, const struct tsr_varying *v,
		   const struct tsr_plane_source *source, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct tsr_fragment_prim *p = &f->prim[source[i].prim];
		struct tsr_planes *to = &f->planes[source[i].plane];
		const plane_floats texel[3] = { plane_values(source[i].at[0], v->floats),
						plane_values(source[i].at[1], v->floats),
						plane_values(source[i].at[2], v->floats) };
		const plane_four zero = { 0 };
		const plane_floats provoking = texel[p->prim.provoking];
		const plane_four value = __builtin_convertvector(provoking, plane_four);
		plane_four first = __builtin_convertvector(texel[0], plane_four) - value;
		plane_four right = __builtin_convertvector(texel[1], plane_four) - value;
		plane_four down = __builtin_convertvector(texel[2], plane_four) - value;

		to->perspective = !v->linear && !p->flat_w;
		if (to->perspective) {
			first *= p->prim.v[0].rw;
			right *= p->prim.v[1].rw;
			down *= p->prim.v[2].rw;
		}
		right -= first;
		down -= first;
		*(plane_four *)to->a = zero + right * p->dx[0] + down * p->dx[1];
		*(plane_four *)to->b = zero + right * p->dy[0] + down * p->dy[1];
		*(plane_four *)to->c = first;
		*(plane_floats *)to->provoking.f = provoking;
		to->format = v->format;
		to->flat = false;
	}
}
