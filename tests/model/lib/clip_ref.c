/* SPDX-License-Identifier: MIT */
#include "clip_ref.h"

#include <math.h>

long double clip_ref_at(const struct clip_linear *f, long double x, long double y)
{
	return f->c + f->a * x + f->b * y;
}

long double clip_ref_distance(const struct clip_linear *f, long double x, long double y)
{
	long double steep = hypotl(f->a, f->b), value = clip_ref_at(f, x, y);

	return steep > 0 ? value / steep : value >= 0 ? INFINITY : -INFINITY;
}

struct clip_linear clip_ref_sum(struct clip_linear f, struct clip_linear g)
{
	return (struct clip_linear){ f.c + g.c, f.a + g.a, f.b + g.b };
}

static struct clip_linear scaled(struct clip_linear f, long double by)
{
	return (struct clip_linear){ f.c * by, f.a * by, f.b * by };
}

void clip_ref_set(struct clip_ref *r, const float v[3][4], unsigned int width, unsigned int height)
{
	long double x[3], y[3], w[3], det = 0;

	*r = (struct clip_ref){ 0 };
	for (unsigned int i = 0; i < 3; i++) {
		w[i] = v[i][3];
		x[i] = ((long double)v[i][0] + w[i]) / 2 * width;
		y[i] = ((long double)v[i][1] + w[i]) / 2 * height;
	}
	for (unsigned int i = 0; i < 3; i++) {
		unsigned int j = (i + 1) % 3, k = (i + 2) % 3;

		r->weight[i] = (struct clip_linear){ x[j] * y[k] - x[k] * y[j],
						     y[j] * w[k] - y[k] * w[j],
						     w[j] * x[k] - w[k] * x[j] };
		det += r->weight[i].c * w[i];
	}
	r->visible = det != 0;
	for (unsigned int i = 0; i < 3 && r->visible; i++) {
		r->weight[i] = scaled(r->weight[i], 1 / det);
		r->depth = clip_ref_sum(r->depth, scaled(r->weight[i], v[i][2]));
		r->rw = clip_ref_sum(r->rw, r->weight[i]);
	}
}

static enum raster_verdict verdict(long double least, long double slack)
{
	return least > slack ? RASTER_IN : least < -slack ? RASTER_OUT : RASTER_EITHER;
}

/* How far inside near and far. */
static long double depths(const struct clip_ref *r, long double x, long double y)
{
	struct clip_linear far = scaled(r->depth, -1);

	far.c += 1;
	return fminl(clip_ref_distance(&r->depth, x, y), clip_ref_distance(&far, x, y));
}

enum raster_verdict clip_ref_covers(const struct clip_ref *r, bool clamped, long double slack,
				    struct raster_point p)
{
	long double x = (long double)p.x / RASTER_ONE, y = (long double)p.y / RASTER_ONE;
	long double least = INFINITY;

	if (!r->visible)
		return RASTER_OUT;
	for (unsigned int i = 0; i < 3; i++)
		least = fminl(least, clip_ref_distance(&r->weight[i], x, y));
	if (!clamped)
		least = fminl(least, depths(r, x, y));
	return verdict(least, slack);
}

enum raster_verdict clip_ref_parallelogram(const struct clip_ref *r, long double slack,
					   struct raster_point p)
{
	long double x = (long double)p.x / RASTER_ONE, y = (long double)p.y / RASTER_ONE;
	struct clip_linear over1 = clip_ref_sum(r->weight[0], r->weight[2]);
	struct clip_linear over2 = clip_ref_sum(r->weight[0], r->weight[1]);
	long double least = depths(r, x, y);

	if (!r->visible)
		return RASTER_OUT;
	least = fminl(least, clip_ref_distance(&r->weight[1], x, y));
	least = fminl(least, clip_ref_distance(&r->weight[2], x, y));
	least = fminl(least, clip_ref_distance(&over1, x, y));
	least = fminl(least, clip_ref_distance(&over2, x, y));
	return verdict(least, slack);
}
