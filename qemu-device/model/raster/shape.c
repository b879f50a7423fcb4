/* SPDX-License-Identifier: MIT */
/* Set-up: what half-planes a primitive is; the plane of its depth. */
#include <math.h>
#include <stdlib.h>

#include "raster.h"

#define ONE (1 << TSR_SUBPIXEL_BITS)	/* a pixel */

/* Positions to the right of the directed line from @p to @q, y growing downwards. */
static struct tsr_edge line_edge(int64_t px, int64_t py, int64_t qx, int64_t qy)
{
	struct tsr_edge e = { .a = py - qy, .b = qx - px };

	e.c = -(e.a * px + e.b * py);
	return e;
}

static struct tsr_edge negated(struct tsr_edge e)
{
	return (struct tsr_edge){ .c = -e.c, .a = -e.a, .b = -e.b };
}

/* The top-left rule: what lies on the edge belongs to it only if inside is right of it or below. */
static bool is_outside(struct tsr_edge e)
{
	return (e.a < 0) | (!e.a & (e.b <= 0));
}

static struct tsr_edge with_rule(struct tsr_edge e)
{
	e.c -= is_outside(e);
	return e;
}

static void limit(struct tsr_shape *s, const struct tsr_rect *clip, int64_t x0, int64_t y0,
		  int64_t x1, int64_t y1)
{
	s->rect.x0 = x0 > clip->x0 ? x0 : clip->x0;
	s->rect.y0 = y0 > clip->y0 ? y0 : clip->y0;
	s->rect.x1 = x1 < clip->x1 ? x1 : clip->x1;
	s->rect.y1 = y1 < clip->y1 ? y1 : clip->y1;
	s->limit = s->rect;
	if (s->rect.x0 >= s->rect.x1 || s->rect.y0 >= s->rect.y1)
		s->edges = 0;
}

/* ---- Triangles ------------------------------------------------------------------------------- */

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Depth bias of @s, which has the depth of @prim. */
static double bias_of(const struct tsr_shape *s, const struct tsr_prim *prim,
		      const struct tsr_raster_rules *rules)
{
	double unit = rules->unit, most = 0, slope, sum;

	for (unsigned int i = 0; i < 3; i++)
		most = larger(most, fabs(prim->v[i].z));
	if (unit == 0)
		unit = most > 0 && most < INFINITY ? ldexp(1, ilogb(most) - 23) : 0;
	slope = larger(fabs(ONE * (s->depth[0].a * s->k[0] + s->depth[1].a * s->k[1])),
		       fabs(ONE * (s->depth[0].b * s->k[0] + s->depth[1].b * s->k[1])));
	sum = slope * rules->bias_slope + unit * rules->bias_constant;
	if (rules->bias_clamp > 0 && sum > rules->bias_clamp)
		sum = rules->bias_clamp;
	if (rules->bias_clamp < 0 && sum < rules->bias_clamp)
		sum = rules->bias_clamp;
	return sum;
}

/*
 * Depth, from the vertex of least magnitude: in front of the screen everything is added up then,
 * nothing subtracted, and where all three are equal the plane is exactly that.
 */
static void triangle_depth(struct tsr_shape *s, const struct tsr_prim *prim,
			   const struct tsr_raster_rules *rules)
{
	static const uint8_t next[5] = { 0, 1, 2, 0, 1 };
	const struct tsr_screen_vertex *v = prim->v;
	unsigned int m = 0;

	for (unsigned int i = 1; i < 3; i++) {
		if (fabsf(v[i].z) < fabsf(v[m].z))
			m = i;
	}
	s->base = v[m].z;
	s->low = s->high = s->base;
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int n = next[m + 1 + i];
		double z = v[n].z;

		/* the function itself, without the rule */
		s->depth[i] = s->edge[n];
		s->depth[i].c += is_outside(s->edge[n]);
		s->k[i] = (z - s->base) / s->area;
		s->low = z < s->low ? z : s->low;
		s->high = z > s->high ? z : s->high;
	}
	if (rules->bias) {
		s->bias = bias_of(s, prim, rules);
		s->base += s->bias;
		s->low += s->bias;
		s->high += s->bias;
	}
}

static int32_t least(int32_t a, int32_t b, int32_t c)
{
	int32_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static int32_t most(int32_t a, int32_t b, int32_t c)
{
	return -least(-a, -b, -c);
}

/* The half-plane of @s to the right of the line from @p to @q, or to the left if @sign is -1. */
static inline void set_edge(struct tsr_edge *e, const struct tsr_screen_vertex *p,
			    const struct tsr_screen_vertex *q, int32_t sign)
{
	e->a = sign * (p->y - q->y);
	e->b = sign * (q->x - p->x);
	e->c = -((int64_t)e->a * p->x + (int64_t)e->b * p->y);
	e->c -= is_outside(*e);
}

static void set_triangle(struct tsr_shape *s, const struct tsr_prim *prim,
			 const struct tsr_rect *clip)
{
	const struct tsr_screen_vertex *v = prim->v;
	int32_t sign;

	s->edges = 3;
	limit(s, clip, least(v[0].x, v[1].x, v[2].x) >> TSR_SUBPIXEL_BITS,
	      least(v[0].y, v[1].y, v[2].y) >> TSR_SUBPIXEL_BITS,
	      (most(v[0].x, v[1].x, v[2].x) >> TSR_SUBPIXEL_BITS) + 1,
	      (most(v[0].y, v[1].y, v[2].y) >> TSR_SUBPIXEL_BITS) + 1);
	/* its edges keep it within its own bounds */
	s->limit = *clip;
	s->area = (int64_t)(v[1].y - v[2].y) * (v[0].x - v[1].x) +
		  (int64_t)(v[2].x - v[1].x) * (v[0].y - v[1].y);
	if (!s->edges || !s->area) {
		s->edges = 0;
		return;
	}
	sign = s->area < 0 ? -1 : 1;
	s->area *= sign;
	/* edge[i] is opposite vertex i */
	set_edge(&s->edge[0], &v[1], &v[2], sign);
	set_edge(&s->edge[1], &v[2], &v[0], sign);
	set_edge(&s->edge[2], &v[0], &v[1], sign);
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* @x, at least @low and at most @high; NaN is @low. */
static double between(double x, double low, double high)
{
	return !(x > low) ? low : x > high ? high : x;
}

static void flat_depth(struct tsr_shape *s, double z)
{
	s->depth[0] = s->depth[1] = (struct tsr_edge){ 0, 0, 0 };
	s->k[0] = s->k[1] = 0;
	s->base = s->low = s->high = z;
}

static void set_point(struct tsr_shape *s, const struct tsr_prim *prim, const struct tsr_rect *clip)
{
	const struct tsr_screen_vertex *v = prim->v;
	int64_t size = llrint(between(prim->point_size, 1, TSR_SCREEN_SIZE_MAX) * ONE);
	int64_t half = size / 2 + 1;

	/* twice the distance from the left, top, right and bottom side */
	s->edge[0] = with_rule((struct tsr_edge){ size - 2 * (int64_t)v->x, 2, 0 });
	s->edge[1] = with_rule((struct tsr_edge){ size - 2 * (int64_t)v->y, 0, 2 });
	s->edge[2] = with_rule((struct tsr_edge){ size + 2 * (int64_t)v->x, -2, 0 });
	s->edge[3] = with_rule((struct tsr_edge){ size + 2 * (int64_t)v->y, 0, -2 });
	s->edges = size ? 4 : 0;
	limit(s, clip, (v->x - half) >> TSR_SUBPIXEL_BITS, (v->y - half) >> TSR_SUBPIXEL_BITS,
	      ((v->x + half) >> TSR_SUBPIXEL_BITS) + 1, ((v->y + half) >> TSR_SUBPIXEL_BITS) + 1);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Depth at a position is that of the nearest point of the line. */
static void line_depth(struct tsr_shape *s, const struct tsr_screen_vertex *v)
{
	unsigned int m = fabsf(v[1].z) < fabsf(v[0].z);
	const struct tsr_screen_vertex *p = &v[m], *q = &v[!m];
	int64_t dx = (int64_t)q->x - p->x, dy = (int64_t)q->y - p->y;

	flat_depth(s, p->z);
	s->depth[0] = (struct tsr_edge){ -(dx * p->x + dy * p->y), dx, dy };
	s->k[0] = ((double)q->z - p->z) / ((double)dx * dx + (double)dy * dy);
	s->low = -INFINITY;
	s->high = INFINITY;
}

/* Nothing of the line is further than @x and @y from what connects its ends. */
static void limit_line(struct tsr_shape *s, const struct tsr_rect *clip,
		       const struct tsr_screen_vertex *v, int64_t x, int64_t y)
{
	const bool right = v[1].x > v[0].x, down = v[1].y > v[0].y;

	limit(s, clip, (v[!right].x - x) >> TSR_SUBPIXEL_BITS,
	      (v[!down].y - y) >> TSR_SUBPIXEL_BITS,
	      ((v[right].x + x) >> TSR_SUBPIXEL_BITS) + 1,
	      ((v[down].y + y) >> TSR_SUBPIXEL_BITS) + 1);
}

static void set_rectangle(struct tsr_shape *s, const struct tsr_screen_vertex *v,
			  const struct tsr_raster_rules *rules, const struct tsr_rect *clip)
{
	double dx = (double)v[1].x - v[0].x, dy = (double)v[1].y - v[0].y;
	double width = between(rules->line_width, 1, TSR_SCREEN_SIZE_MAX);
	double scale = width * ONE / 2 / sqrt(dx * dx + dy * dy);
	/* half the width, across; to the right of the line, seen along it */
	int64_t hx = llrint(-dy * scale), hy = llrint(dx * scale);
	int64_t x[4] = { v[0].x - hx, v[1].x - hx, v[1].x + hx, v[0].x + hx };
	int64_t y[4] = { v[0].y - hy, v[1].y - hy, v[1].y + hy, v[0].y + hy };

	for (unsigned int i = 0; i < 4; i++) {
		unsigned int n = (i + 1) % 4;

		s->edge[i] = with_rule(line_edge(x[i], y[i], x[n], y[n]));
	}
	s->edges = hx || hy ? 4 : 0;
	limit_line(s, clip, v, llabs(hx), llabs(hy));
}

/*
 * A line is drawn as if it lay a little to the left, and a little less higher up, so that no end
 * and no diamond's corner is on a border. Where that is to be seen coordinates are these: four
 * times as fine, and moved by half and by a quarter of what they were.
 */
#define FINE (4 * ONE)

/* True if (x, y), fine, lies inside the diamond of the pixel it is in. */
static bool in_diamond(int32_t x, int32_t y)
{
	return abs((x & (FINE - 1)) - FINE / 2) + abs((y & (FINE - 1)) - FINE / 2) < FINE / 2;
}

/*
 * The columns, [*first, *last], in which the diamond-exit rule draws a pixel of the line from
 * @v[0] to @v[1], fine, which goes to the right or left more than it goes up or down. Those whose
 * center the line crosses, and what its ends add and take away.
 */
static void find_columns(const int32_t x[2], const int32_t y[2], int32_t *first, int32_t *last)
{
	bool start = in_diamond(x[0], y[0]), end = in_diamond(x[1], y[1]);
	int32_t from = x[0] >> (TSR_SUBPIXEL_BITS + 2), to = x[1] >> (TSR_SUBPIXEL_BITS + 2);
	int32_t start_at = (x[0] & (FINE - 1)) - FINE / 2, end_at = (x[1] & (FINE - 1)) - FINE / 2;
	bool same = start && end && from == to &&
		    y[0] >> (TSR_SUBPIXEL_BITS + 2) == y[1] >> (TSR_SUBPIXEL_BITS + 2);

	if (x[1] > x[0]) {
		*first = start_at < 0 || start ? from : from + 1;
		*last = end_at > 0 && !end ? to : to - 1;
	} else {
		*last = start_at > 0 || start ? from : from - 1;
		*first = end_at < 0 && !end ? to : to + 1;
	}
	if (same)
		*last = *first - 1;
}

static struct tsr_edge swapped(struct tsr_edge e, bool swap)
{
	return swap ? (struct tsr_edge){ e.c, e.b, e.a } : e;
}

static void set_bresenham(struct tsr_shape *s, const struct tsr_screen_vertex *v,
			  const struct tsr_raster_rules *rules, const struct tsr_rect *clip)
{
	bool steep = llabs((int64_t)v[1].x - v[0].x) < llabs((int64_t)v[1].y - v[0].y);
	int32_t x[2] = { steep ? v[0].y : v[0].x, steep ? v[1].y : v[1].x };
	int32_t y[2] = { steep ? v[0].x : v[0].y, steep ? v[1].x : v[1].y };
	int64_t dx = (int64_t)x[1] - x[0], dy = (int64_t)y[1] - y[0];
	int64_t width = llrint(between(rules->line_width, 1, TSR_SCREEN_SIZE_MAX));
	int32_t left = steep ? 1 : 2, up = steep ? 2 : 1;
	int32_t fine_x[2] = { 4 * x[0] - left, 4 * x[1] - left };
	int32_t fine_y[2] = { 4 * y[0] - up, 4 * y[1] - up };
	int32_t first, last;
	struct tsr_edge e;
	bool lower;

	find_columns(fine_x, fine_y, &first, &last);
	if (dx < 0) {
		dx = -dx;
		dy = -dy;
	}
	/*
	 * At a center (X, Y): dx times how far the line, moved up by half of what it is wider than
	 * a pixel, is below the upper side of the pixel.
	 */
	e = (struct tsr_edge){ .a = dy, .b = -dx };
	e.c = dx * y[0] - dy * x[0] - dx * (width - 1) * ONE / 2 + dx * ONE / 2;
	/* moved a little, a line between two pixels is in the upper one, unless it falls */
	lower = !steep && dy > 0;
	e.c -= !lower;
	/* the topmost pixel is that the line is in: E in [0, 256 dx); width - 1 more below it */
	s->edge[0] = swapped((struct tsr_edge){ e.c + dx * (width - 1) * ONE, e.a, e.b }, steep);
	s->edge[1] = negated(swapped(e, steep));
	s->edge[1].c += dx * ONE - 1;
	s->edge[2] = swapped((struct tsr_edge){ -(int64_t)first * ONE - ONE / 2, 1, 0 }, steep);
	s->edge[3] = swapped((struct tsr_edge){ (int64_t)last * ONE + ONE / 2, -1, 0 }, steep);
	s->edges = first <= last ? 4 : 0;
	s->center = true;
	limit_line(s, clip, v, (width + 1) * ONE, (width + 1) * ONE);
}

static void set_line(struct tsr_shape *s, const struct tsr_prim *prim,
		     const struct tsr_raster_rules *rules, const struct tsr_rect *clip)
{
	const struct tsr_screen_vertex *v = prim->v;

	if (v[0].x == v[1].x && v[0].y == v[1].y)
		return;
	if (rules->bresenham)
		set_bresenham(s, v, rules, clip);
	else
		set_rectangle(s, v, rules, clip);
}

void tsr_shape_set(struct tsr_shape *shape, const struct tsr_prim *prim,
		   const struct tsr_raster_rules *rules, const struct tsr_rect *clip)
{
	shape->edges = 0;
	shape->center = rules->center;
	shape->bias = 0;
	if (prim->vertices == 3)
		set_triangle(shape, prim, clip);
	else if (prim->vertices == 2)
		set_line(shape, prim, rules, clip);
	else
		set_point(shape, prim, clip);
}

void tsr_shape_depth(struct tsr_shape *shape, const struct tsr_prim *prim,
		     const struct tsr_raster_rules *rules)
{
	if (prim->vertices == 3)
		triangle_depth(shape, prim, rules);
	else if (prim->vertices == 2)
		line_depth(shape, prim->v);
	else
		flat_depth(shape, prim->v->z);
}
