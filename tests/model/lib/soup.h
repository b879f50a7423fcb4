/* SPDX-License-Identifier: MIT */
/*
 * Triangle soups: triangles of every kind there is, the same for the same seed.
 */
#ifndef TSR_SOUP_H
#define TSR_SOUP_H

#include <stdint.h>

#include "raster_ref.h"

struct soup {
	uint64_t random;		/* never 0 */
};

static inline struct soup soup_new(uint64_t seed)
{
	return (struct soup){ seed * 0x9e3779b97f4a7c15ull | 1 };
}

/* Any number below @n; one from @low to @high; one of 0 ... 1. */
uint64_t soup_below(struct soup *s, uint64_t n);
int64_t soup_between(struct soup *s, int64_t low, int64_t high);
double soup_fraction(struct soup *s);

enum soup_kind {
	SOUP_ANY,			/* corners anywhere around the picture */
	SOUP_SMALL,			/* some pixels */
	SOUP_TINY,			/* less than a pixel, often without a sample */
	SOUP_SLIVER,			/* long, and thinner than a pixel */
	SOUP_HUGE,			/* corners as far away as coordinates go */
	SOUP_GRID,	/* corners on pixel centres or corners: much is on edges */
	SOUP_AXIS,			/* two horizontal or vertical edges */
	SOUP_NO_AREA,			/* on a line, or two corners in one place */
	SOUP_KINDS
};

/* A triangle of that kind around a picture of @width by @height pixels, either way round. */
void soup_triangle(struct soup *s, enum soup_kind kind, unsigned int width, unsigned int height,
		   struct raster_point v[3]);

/*
 * A mesh: (@columns + 1) * (@rows + 1) corners over a picture, irregular but never folded, of whose
 * fields soup_mesh_triangle() gives the 2 * columns * rows triangles, in random orientation. The
 * border is straight: x from 0 to width, y from 0 to height, whole pixels.
 */
#define SOUP_MESH_MAX 32

struct soup_mesh {
	unsigned int columns, rows;
	struct raster_point at[SOUP_MESH_MAX + 1][SOUP_MESH_MAX + 1];
	uint8_t turn[SOUP_MESH_MAX][SOUP_MESH_MAX];	/* bit 0: diagonal, 1, 2: orientations */
};

void soup_mesh(struct soup *s, struct soup_mesh *m, unsigned int columns, unsigned int rows,
	       unsigned int width, unsigned int height);
void soup_mesh_triangle(const struct soup_mesh *m, unsigned int n, struct raster_point v[3]);

/* Triangles in clip space. */
enum soup_plane {
	SOUP_LEFT, SOUP_RIGHT, SOUP_BOTTOM, SOUP_TOP, SOUP_NEAR, SOUP_FAR, SOUP_BEHIND,
	SOUP_PLANES
};

/*
 * A triangle that plane cuts (one or two corners beyond it; SOUP_BEHIND: w < 0), the others may cut
 * too. Depth runs from 0 to w.
 */
void soup_clipped(struct soup *s, enum soup_plane plane, float v[3][4]);

#endif
