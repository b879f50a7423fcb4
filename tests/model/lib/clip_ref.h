/* SPDX-License-Identifier: MIT */
/*
 * A triangle in clip space on the screen, without clipping it. At every position the triangle's
 * plane has one point. Signs of linear functions say whether it is in the triangle and between the
 * near and far planes. In long doubles.
 *
 * With homogeneous window coordinates X, Y, w of the corners and b = (X - x w) x (Y - y w), the
 * point at (x, y) is the sum of the corners weighted by b, whose w is det(X, Y, w) everywhere.
 */
#ifndef TSR_CLIP_REF_H
#define TSR_CLIP_REF_H

#include <stdbool.h>

#include "raster_ref.h"

/* c + a x + b y, in pixels, y down. */
struct clip_linear {
	long double c, a, b;
};

struct clip_ref {
	bool visible;			/* there is a plane to be seen */
	struct clip_linear weight[3];	/* of the corners, times w's sign */
	struct clip_linear depth;	/* z / w */
	struct clip_linear rw;		/* 1 / w */
};

/*
 * @v: clip coordinates. Window x = (x / w + 1) / 2 * width, y likewise. Depth is z / w.
 */
void clip_ref_set(struct clip_ref *r, const float v[3][4], unsigned int width, unsigned int height);

long double clip_ref_at(const struct clip_linear *f, long double x, long double y);
/* How far (@x, @y) lies from where @f is 0, in pixels, on the side where it is above. */
long double clip_ref_distance(const struct clip_linear *f, long double x, long double y);
struct clip_linear clip_ref_sum(struct clip_linear f, struct clip_linear g);

/*
 * RASTER_IN if position @p is in the triangle and, unless @clamped, between near (0) and far (1).
 * RASTER_EITHER within @slack pixels of the border.
 */
enum raster_verdict clip_ref_covers(const struct clip_ref *r, bool clamped, long double slack,
				    struct raster_point p);
/*
 * As clip_ref_covers() for the parallelogram of which the triangle is a half, with corner 0 between
 * the others.
 */
enum raster_verdict clip_ref_parallelogram(const struct clip_ref *r, long double slack,
					   struct raster_point p);

#endif
