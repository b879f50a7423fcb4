/* SPDX-License-Identifier: MIT */
/*
 * The clipper. Planes in a fixed order, in homogeneous window coordinates: w, near, far, the guard
 * band's left, right, top, bottom, then clip distances 0 to 7.
 *
 * No cracks: corners inside are kept as they are. Where an edge meets a plane is computed from its
 * inner to its outer corner, whichever way round the primitive names them. On which side of a later
 * plane the new corner lies is what the edge's corners say if they agree, so it does not depend on
 * rounding whether a neighbour, which may not need that plane, sees the same edge.
 */
#include "bin.h"

#include <string.h>

#include "../gpu.h"

enum plane {
	PLANE_W, PLANE_NEAR, PLANE_FAR, PLANE_GUARD, PLANE_DISTANCE = PLANE_GUARD + 4,
	PLANES = PLANE_DISTANCE + TSR_CLIP_DISTANCES_MAX
};

/*
 * Most corners of a polygon: each plane adds one. Where rounding has made it not quite convex a
 * plane might add more, so there is room for twice as many; it is dropped then.
 */
#define CORNERS (3 + PLANES)

struct corner {
	double xh, yh, zh, w;
	double weight[3];		/* of the primitive's vertices */
	double distance[PLANES];	/* from each plane, inside not negative */
	int original;			/* the corner of the batch it is, -1: a new one */
};

static const uint32_t plane_code[PLANES] = {
	TSR_OUT_W, TSR_OUT_NEAR, TSR_OUT_FAR,
	1u << TSR_OUT_GUARD_SHIFT, 2u << TSR_OUT_GUARD_SHIFT,
	4u << TSR_OUT_GUARD_SHIFT, 8u << TSR_OUT_GUARD_SHIFT,
	1u << TSR_OUT_CLIP_SHIFT, 2u << TSR_OUT_CLIP_SHIFT,
	4u << TSR_OUT_CLIP_SHIFT, 8u << TSR_OUT_CLIP_SHIFT,
	16u << TSR_OUT_CLIP_SHIFT, 32u << TSR_OUT_CLIP_SHIFT,
	64u << TSR_OUT_CLIP_SHIFT, 128u << TSR_OUT_CLIP_SHIFT,
};

/* Vertex @i of the primitive, in @slot, at @from of the batch's arrays. */
static void load(const struct tsr_binning *bin, struct corner *c, unsigned int i, unsigned int slot,
		 unsigned int from)
{
	const struct tsr_bin_batch *b = &bin->batch;
	double reach = b->w[from] * TSR_GUARD_BAND;
	float distance[TSR_CLIP_DISTANCES_MAX];

	memset(c, 0, sizeof(*c));
	c->xh = b->xh[from];
	c->yh = b->yh[from];
	c->zh = b->zh[from];
	c->w = b->w[from];
	c->weight[i] = 1;
	c->original = from;
	c->distance[PLANE_W] = c->w - TSR_CLIP_W_MIN;
	c->distance[PLANE_NEAR] = b->near[from];
	c->distance[PLANE_FAR] = b->far[from];
	c->distance[PLANE_GUARD + 0] = c->xh + reach;
	c->distance[PLANE_GUARD + 1] = reach - c->xh;
	c->distance[PLANE_GUARD + 2] = c->yh + reach;
	c->distance[PLANE_GUARD + 3] = reach - c->yh;
	memcpy(distance, &bin->run->record[slot][TSR_POSITION_EXTENDED_DISTANCE_0__QWORD],
	       sizeof(distance));
	for (unsigned int d = 0; d < TSR_CLIP_DISTANCES_MAX; d++)
		c->distance[PLANE_DISTANCE + d] = distance[d];
}

static double mix(double a, double b, double t)
{
	return a + (b - a) * t;
}

/* Where the edge from @in, inside of @plane, to @out, outside of it, meets the plane. */
static void meet(struct corner *to, const struct corner *in, const struct corner *out,
		 unsigned int plane)
{
	double t = in->distance[plane] / (in->distance[plane] - out->distance[plane]);

	to->xh = mix(in->xh, out->xh, t);
	to->yh = mix(in->yh, out->yh, t);
	to->zh = mix(in->zh, out->zh, t);
	to->w = mix(in->w, out->w, t);
	for (unsigned int i = 0; i < 3; i++)
		to->weight[i] = mix(in->weight[i], out->weight[i], t);
	for (unsigned int i = 0; i < PLANES; i++) {
		double a = in->distance[i], b = out->distance[i], d = mix(a, b, t);

		if (a >= 0 && b >= 0)
			d = d > 0 ? d : 0;
		else if (a < 0 && b < 0)
			d = d < 0 ? d : a;
		to->distance[i] = d;
	}
	to->distance[plane] = 0;
	to->original = -1;
}

/* The part of the polygon (or, of two corners, the line) @from inside @plane; its corners. */
static unsigned int clip_plane(struct corner *to, const struct corner *from, unsigned int n,
			       unsigned int plane)
{
	unsigned int edges = n == 2 ? 1 : n, out = 0;

	for (unsigned int i = 0; i < edges; i++) {
		const struct corner *a = &from[i], *b = &from[(i + 1) % n];
		bool a_in = a->distance[plane] >= 0, b_in = b->distance[plane] >= 0;

		if (a_in)
			to[out++] = *a;
		if (a_in && !b_in)
			meet(&to[out++], a, b, plane);
		else if (!a_in && b_in)
			meet(&to[out++], b, a, plane);
		if (n == 2 && b_in)
			to[out++] = *b;
	}
	return out;
}

static struct tsr_screen_vertex on_screen(const struct tsr_binning *bin, const struct corner *c)
{
	double w = c->w > TSR_CLIP_W_MIN ? c->w : TSR_CLIP_W_MIN;

	if (c->original >= 0)
		return bin->batch.screen[c->original];
	return tsr_bin_screen(c->xh, c->yh, c->zh, w);
}

/* Pieces of the polygon @c of @n corners: triangles round its first. */
static void pieces(struct tsr_binning *bin, uint64_t primitive, const struct corner *c, unsigned int n)
{
	unsigned int corners = tsr_bin_vertices(primitive);
	struct tsr_screen_vertex v[3];
	float weight[3][3];

	for (unsigned int i = 1; i + corners - 1 <= n; i++) {
		for (unsigned int k = 0; k < corners; k++) {
			const struct corner *from = &c[k ? i + k - 1 : 0];

			v[k] = on_screen(bin, from);
			for (unsigned int j = 0; j < 3; j++)
				weight[k][j] = (float)from->weight[j];
		}
		tsr_bin_piece(bin, primitive, v, weight);
	}
}

void tsr_bin_clip(struct tsr_binning *bin, uint64_t primitive, const uint8_t *corner, uint32_t planes)
{
	struct corner polygon[2][2 * CORNERS];
	unsigned int n = tsr_bin_vertices(primitive), now = 0;

	for (unsigned int i = 0; i < n; i++)
		load(bin, &polygon[0][i], i, tsr_bin_slot(primitive, i), corner[i]);
	for (unsigned int plane = 0; plane < PLANES && n; plane++) {
		if (!(planes & plane_code[plane]))
			continue;
		n = clip_plane(polygon[!now], polygon[now], n, plane);
		now = !now;
		if (n > CORNERS)
			return;
	}
	if (n)
		pieces(bin, primitive, polygon[now], n);
}
