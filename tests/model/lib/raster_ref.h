/* SPDX-License-Identifier: MIT */
/*
 * Reference rasterization, one sample at a time, written from the rules of D3D11, Vulkan and GLES.
 * It shares no code with the model, and is slow and simple.
 *
 * Coordinates are in 1/256 pixel, x to the right, y down. Triangles, points and Bresenham lines are
 * computed in exact integers, 128-bit ones where necessary.
 */
#ifndef TSR_RASTER_REF_H
#define TSR_RASTER_REF_H

#include <stdbool.h>
#include <stdint.h>

#define RASTER_ONE 256			/* a pixel */
#define RASTER_SAMPLES_MAX 16

struct raster_point {
	int64_t x, y;
};

/* Where sample @s of @samples (1, 2, 4, 8, 16) of pixel (@px, @py) lies: the standard patterns. */
struct raster_point raster_ref_sample(unsigned int samples, unsigned int s, int64_t px, int64_t py);

/* Twice the signed area; above 0: clockwise, as seen with y down. */
__int128 raster_ref_area(const struct raster_point v[3]);

/*
 * True if the triangle, whichever way round, covers the position. Top-left rule: a position on an
 * edge is covered as it would be a little to the right, and if that does not decide, a little less
 * far down. Triangles without area cover nothing.
 */
bool raster_ref_triangle(const struct raster_point v[3], struct raster_point p);

/* A square of side @size around @centre, for the triangle of floating-point positions. */
bool raster_ref_square(struct raster_point centre, int64_t size, struct raster_point p);

/*
 * True if the line from @a to @b of width 1 covers pixel (@px, @py) by the diamond-exit rule of
 * OpenGL: the segment, its ends moved by an infinitely small distance to the left and a smaller one
 * up, meets the inside of the diamond |x - cx| + |y - cy| < 1/2 around the pixel's centre, and
 * does not end in it.
 */
bool raster_ref_diamond_exit(struct raster_point a, struct raster_point b, int64_t px, int64_t py);

/* Rectangles of wide lines have corners that are no integers. */
enum raster_verdict {
	RASTER_OUT, RASTER_IN,
	RASTER_EITHER,			/* within @slack (in 1/256 pixel) of the border */
};

/* The rectangle of @width pixels along the line from @a to @b. */
enum raster_verdict raster_ref_rectangle(struct raster_point a, struct raster_point b, double width,
					 double slack, struct raster_point p);

#endif
