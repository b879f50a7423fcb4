/* SPDX-License-Identifier: MIT */
#include "raster_ref.h"

#include <math.h>

/* ---- Samples --------------------------------------------------------------------------------- */

/* Vulkan's and D3D's standard locations, in sixteenths of a pixel. */
static const uint8_t one[][2] = { { 8, 8 } };
static const uint8_t two[][2] = { { 12, 12 }, { 4, 4 } };
static const uint8_t four[][2] = { { 6, 2 }, { 14, 6 }, { 2, 10 }, { 10, 14 } };
static const uint8_t eight[][2] = {
	{ 9, 5 }, { 7, 11 }, { 13, 9 }, { 5, 3 }, { 3, 13 }, { 1, 7 }, { 11, 15 }, { 15, 1 },
};
static const uint8_t sixteen[][2] = {
	{ 9, 9 }, { 7, 5 }, { 5, 10 }, { 12, 7 }, { 3, 6 }, { 10, 13 }, { 13, 11 }, { 11, 3 },
	{ 6, 14 }, { 8, 1 }, { 4, 2 }, { 2, 12 }, { 0, 8 }, { 15, 4 }, { 14, 15 }, { 1, 0 },
};

struct raster_point raster_ref_sample(unsigned int samples, unsigned int s, int64_t px, int64_t py)
{
	const uint8_t (*pattern)[2] = samples == 1 ? one : samples == 2 ? two :
				      samples == 4 ? four : samples == 8 ? eight : sixteen;

	return (struct raster_point){ RASTER_ONE * px + RASTER_ONE / 16 * pattern[s][0],
				      RASTER_ONE * py + RASTER_ONE / 16 * pattern[s][1] };
}

/* ---- Triangles ------------------------------------------------------------------------------- */

/* Twice the area of a, b, p. */
static __int128 cross(struct raster_point a, struct raster_point b, struct raster_point p)
{
	return (__int128)(b.x - a.x) * (p.y - a.y) - (__int128)(b.y - a.y) * (p.x - a.x);
}

__int128 raster_ref_area(const struct raster_point v[3])
{
	return cross(v[0], v[1], v[2]);
}

/* True if p, moved a little right and a little less down, is on the side where cross() is > 0. */
static bool on_side(struct raster_point a, struct raster_point b, struct raster_point p)
{
	__int128 d = cross(a, b, p);
	int64_t along_x = -(b.y - a.y), along_y = b.x - a.x;

	if (d)
		return d > 0;
	return along_x ? along_x > 0 : along_y > 0;
}

bool raster_ref_triangle(const struct raster_point v[3], struct raster_point p)
{
	__int128 area = raster_ref_area(v);

	if (!area)
		return false;
	for (unsigned int i = 0; i < 3; i++) {
		struct raster_point a = v[i], b = v[(i + 1) % 3];

		if (area > 0 ? !on_side(a, b, p) : !on_side(b, a, p))
			return false;
	}
	return true;
}

bool raster_ref_square(struct raster_point centre, int64_t size, struct raster_point p)
{
	/* twice everything, so that half a size is an integer */
	int64_t x = 2 * (p.x - centre.x), y = 2 * (p.y - centre.y);

	return x >= -size && x < size && y >= -size && y < size;
}

/* ---- Bresenham lines ------------------------------------------------------------------------- */

/*
 * The small distances are 2^-30 and 2^-60 of a coordinate's unit. They are smaller than the
 * distance of two different numbers computed from 25-bit coordinates, so they decide only between
 * equal ones. Positions are in units of 2^-60.
 */
#define SCALE 60

struct fine {
	__int128 x, y;
};

/* A part of the segment: from @low to @high, 0 at its beginning, 1 at its end, as fractions. */
struct fraction {
	__int128 top;
	int64_t bottom;			/* above 0 */
};

static bool less(struct fraction a, struct fraction b)
{
	return a.top * b.bottom < b.top * a.bottom;
}

bool raster_ref_diamond_exit(struct raster_point a, struct raster_point b, int64_t px, int64_t py)
{
	const __int128 unit = (__int128)1 << SCALE;
	const int64_t dx = b.x - a.x, dy = b.y - a.y;
	struct raster_point c = raster_ref_sample(1, 0, px, py);
	struct fine from = { (a.x - c.x) * unit - ((__int128)1 << 30), (a.y - c.y) * unit - 1 };
	struct fraction low = { 0, 1 }, high = { unit, 1 };
	bool ends = true;

	for (unsigned int side = 0; side < 4; side++) {
		int64_t sx = side & 1 ? 1 : -1, sy = side & 2 ? 1 : -1;
		/* inside: begin + t * slope < 0, t in units of 2^-60 */
		__int128 begin = sx * from.x + sy * from.y - RASTER_ONE / 2 * unit;
		int64_t slope = sx * dx + sy * dy;

		if (begin + slope * unit >= 0)
			ends = false;
		if (!slope) {
			if (begin >= 0)
				return false;
			continue;
		}
		struct fraction t = { slope > 0 ? -begin : begin, slope > 0 ? slope : -slope };

		if (slope > 0 && less(t, high))
			high = t;
		if (slope < 0 && less(low, t))
			low = t;
	}
	return !ends && less(low, high);
}

/* ---- Wide lines ------------------------------------------------------------------------------ */

enum raster_verdict raster_ref_rectangle(struct raster_point a, struct raster_point b, double width,
					 double slack, struct raster_point p)
{
	double dx = (double)(b.x - a.x), dy = (double)(b.y - a.y), length = hypot(dx, dy);
	double x = (double)(p.x - a.x), y = (double)(p.y - a.y), along, beside, inside;

	if (length == 0)
		return RASTER_OUT;
	along = (x * dx + y * dy) / length;
	beside = fabs(x * dy - y * dx) / length;
	/* how far from the nearest side, above 0 inside */
	inside = fmin(fmin(along, length - along), width * RASTER_ONE / 2 - beside);
	if (fabs(inside) <= slack)
		return RASTER_EITHER;
	return inside > 0 ? RASTER_IN : RASTER_OUT;
}
