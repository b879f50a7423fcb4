/* SPDX-License-Identifier: MIT */
/*
 * The clipper. Planes in a fixed order, in homogeneous window coordinates: the guard band's left,
 * right, top, bottom, near, far, clip distances 0 to 7, then w. The guard band comes first because
 * it already implies that w is not negative, and where edges meet it numbers are well conditioned.
 *
 * Adjacent primitives leave no cracks. Corners inside are kept unchanged. The intersection of an
 * edge with a plane is computed from the inner to the outer corner, whatever their order in the
 * primitive. If both corners of the edge are on one side of a later plane, the new corner counts as
 * on that side, too. Rounding therefore cannot change the edge that an adjacent primitive sees,
 * which may not need the later plane.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#include "binner/bin.h"

#include <string.h>


enum plane {
	PLANE_GUARD, PLANE_NEAR = PLANE_GUARD + 4, PLANE_FAR, PLANE_DISTANCE,
	PLANE_W = PLANE_DISTANCE + TSR_CLIP_DISTANCES_MAX, PLANES
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
	1u << TSR_OUT_GUARD_SHIFT, 2u << TSR_OUT_GUARD_SHIFT,
	4u << TSR_OUT_GUARD_SHIFT, 8u << TSR_OUT_GUARD_SHIFT,
	TSR_OUT_NEAR, TSR_OUT_FAR,
	1u << TSR_OUT_CLIP_SHIFT, 2u << TSR_OUT_CLIP_SHIFT,
	4u << TSR_OUT_CLIP_SHIFT, 8u << TSR_OUT_CLIP_SHIFT,
	16u << TSR_OUT_CLIP_SHIFT, 32u << TSR_OUT_CLIP_SHIFT,
	64u << TSR_OUT_CLIP_SHIFT, 128u << TSR_OUT_CLIP_SHIFT,
	TSR_OUT_W,
};

/* Vertex @i of the primitive, in @slot, as @viewport sees it; on the screen it is at @from. */
static void load(const struct tsr_binning *bin, struct corner *c, unsigned int i, unsigned int slot,
		 unsigned int viewport, unsigned int from)
{
	const struct tsr_bin_corner vertex = tsr_bin_corner(bin, slot, viewport);
	double reach = vertex.w * TSR_GUARD_BAND;
	float distance[TSR_CLIP_DISTANCES_MAX];

	memset(c, 0, sizeof(*c));
	c->xh = vertex.xh;
	c->yh = vertex.yh;
	c->zh = vertex.zh;
	c->w = vertex.w;
	c->weight[i] = 1;
	c->original = from;
	c->distance[PLANE_W] = c->w - TSR_CLIP_W_MIN;
	c->distance[PLANE_NEAR] = vertex.near;
	c->distance[PLANE_FAR] = vertex.far;
	c->distance[PLANE_GUARD + 0] = c->xh + reach;
	c->distance[PLANE_GUARD + 1] = reach - c->xh;
	c->distance[PLANE_GUARD + 2] = c->yh + reach;
	c->distance[PLANE_GUARD + 3] = reach - c->yh;
	memcpy(distance,
	       &tsr_vertex_records(bin->run)[slot][TSR_POSITION_EXTENDED_DISTANCE_0__QWORD],
	       sizeof(distance));
	for (unsigned int d = 0; d < TSR_CLIP_DISTANCES_MAX; d++)
		c->distance[PLANE_DISTANCE + d] = distance[d];
}

/* The point of an edge from @a to @b that is @part of it away from @a, which is the nearer end. */
static double mix(double a, double b, double part)
{
	return a + (b - a) * part;
}

/* Where the edge from @in, inside of @plane, to @out, outside of it, meets the plane. */
static void meet(struct corner *to, const struct corner *in, const struct corner *out,
		 unsigned int plane)
{
	double length = in->distance[plane] - out->distance[plane];
	double part = in->distance[plane] / length;
	const struct corner *a = in, *b = out;

	if (part > .5) {
		/* counted from the other end: what is near to that keeps its digits */
		a = out;
		b = in;
		part = -out->distance[plane] / length;
	}
	to->xh = mix(a->xh, b->xh, part);
	to->yh = mix(a->yh, b->yh, part);
	to->zh = mix(a->zh, b->zh, part);
	to->w = mix(a->w, b->w, part);
	for (unsigned int i = 0; i < 3; i++)
		to->weight[i] = mix(a->weight[i], b->weight[i], part);
	for (unsigned int i = 0; i < PLANES; i++) {
		double d = mix(a->distance[i], b->distance[i], part);

		if (in->distance[i] >= 0 && out->distance[i] >= 0)
			d = d > 0 ? d : 0;
		else if (in->distance[i] < 0 && out->distance[i] < 0)
			d = d < 0 ? d : in->distance[i];
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

/* Corners of @c, as a piece. */
static void add_piece(struct tsr_binning *bin, uint64_t primitive, const struct corner *c,
		      const struct tsr_screen_vertex *screen, const uint8_t *which)
{
	struct tsr_screen_vertex v[3];
	float weight[3][3] = { { 0 } };

	for (unsigned int k = 0; k < tsr_bin_vertices(primitive); k++) {
		v[k] = screen[which[k]];
		for (unsigned int j = 0; j < 3; j++)
			weight[k][j] = (float)c[which[k]].weight[j];
	}
	tsr_bin_piece(bin, primitive, v, weight);
}

/* Twice the area of a, b, c on the screen. */
static int64_t area_of(const struct tsr_screen_vertex *a, const struct tsr_screen_vertex *b,
		       const struct tsr_screen_vertex *c)
{
	return (int64_t)(b->x - a->x) * (c->y - a->y) - (int64_t)(c->x - a->x) * (b->y - a->y);
}

/*
 * True if the corner ring[@i] of @n can be cut off the polygon: it does not point inwards, and no
 * other corner lies within the triangle of it and the two adjacent corners. @sign is the polygon's
 * orientation.
 */
static bool is_ear(const struct tsr_screen_vertex *screen, const uint8_t *ring, unsigned int n,
		   unsigned int i, int64_t sign)
{
	const struct tsr_screen_vertex *a = &screen[ring[(i + n - 1) % n]];
	const struct tsr_screen_vertex *b = &screen[ring[i]];
	const struct tsr_screen_vertex *c = &screen[ring[(i + 1) % n]];
	int64_t area = sign * area_of(a, b, c);

	if (area <= 0)
		return !area;
	for (unsigned int k = 2; k + 1 < n; k++) {
		const struct tsr_screen_vertex *p = &screen[ring[(i + k) % n]];

		if (sign * area_of(a, b, p) > 0 && sign * area_of(b, c, p) > 0 &&
		    sign * area_of(c, a, p) > 0)
			return false;
	}
	return true;
}

/*
 * Cut the polygon on the screen into triangles, ear by ear: snapping may have made it a little
 * concave, and triangles round one corner would then overlap.
 */
static void polygon_pieces(struct tsr_binning *bin, uint64_t primitive, const struct corner *c,
			   const struct tsr_screen_vertex *screen, unsigned int n)
{
	uint8_t ring[CORNERS];
	int64_t area = 0;

	for (unsigned int i = 0; i < n; i++) {
		ring[i] = i;
		area += area_of(&screen[0], &screen[i], &screen[(i + 1) % n]);
	}
	while (n >= 3 && area) {
		unsigned int i = 1;
		uint8_t which[3];

		while (i < n && !is_ear(screen, ring, n, i, area < 0 ? -1 : 1))
			i++;
		i %= n;
		which[0] = ring[(i + n - 1) % n];
		which[1] = ring[i];
		which[2] = ring[(i + 1) % n];
		add_piece(bin, primitive, c, screen, which);
		memmove(&ring[i], &ring[i + 1], --n - i);
	}
}

/* The pieces of what is left, @n corners. */
static void pieces(struct tsr_binning *bin, uint64_t primitive, const struct corner *c,
		   unsigned int n)
{
	static const uint8_t line[3] = { 0, 1, 0 };
	struct tsr_screen_vertex screen[CORNERS];

	for (unsigned int i = 0; i < n; i++)
		screen[i] = on_screen(bin, &c[i]);
	if (tsr_bin_vertices(primitive) == 3)
		polygon_pieces(bin, primitive, c, screen, n);
	else if (n == 2)
		add_piece(bin, primitive, c, screen, line);
}

void tsr_bin_clip(struct tsr_binning *bin, uint64_t primitive, const uint8_t *corner,
		  unsigned int viewport, uint32_t planes)
{
	struct corner polygon[2][2 * CORNERS];
	unsigned int n = tsr_bin_vertices(primitive), now = 0;

	for (unsigned int i = 0; i < n; i++)
		load(bin, &polygon[0][i], i, tsr_bin_slot(primitive, i), viewport, corner[i]);
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
