/* SPDX-License-Identifier: MIT */
/*
 * Set-up and rasterisation: primitives to coverage masks of blocks.
 *
 * In: a primitive with its coordinates, the rules of its draw. Out: for each block of a tile, in
 * ascending order, which pixels' samples it covers. Everything a primitive can be is the meeting of
 * three or four half-planes with integer coefficients, so coverage is exact and does not depend on
 * tiles. See 3d.md, "Rasterisation".
 */
#ifndef TSR_TILE_RASTER_H
#define TSR_TILE_RASTER_H

#include <stdbool.h>
#include <stdint.h>

#include "binner/tile_list.h"
#include "fine.h"
#include "shader/tile_buffer.h"

/* A position is within if c + a * x + b * y >= 0; x and y in 1/256 pixel. |a|, |b| < 2^26. */
struct tsr_edge {
	int64_t c;
	int32_t a, b;
};

/* Pixels [x0, x1) by [y0, y1). */
struct tsr_rect {
	int32_t x0, y0, x1, y1;
};

#define TSR_EDGES_MAX 4

/* A primitive, set up. Coordinates are those of the frame. */
struct tsr_shape {
	struct tsr_edge edge[TSR_EDGES_MAX];
	uint8_t edges;			/* 0: nothing is covered */
	bool center;			/* all samples are covered where the pixel's center is */
	struct tsr_rect rect;		/* no pixel outside is covered */
	struct tsr_rect limit;		/* inside it, edges alone decide */
	int64_t area;			/* of triangles, twice */
	/*
	 * Once tsr_shape_depth() has been called. Depth at a position is base + e(0) * k[0] +
	 * e(1) * k[1], e the linear functions of @depth; it lies in [low, high] wherever the shape
	 * is.
	 */
	struct tsr_edge depth[2];
	double base, k[2];
	double low, high;
	double bias;			/* in all three; it is in no vertex's depth */
};

/* How primitives are rasterised. */
struct tsr_raster_rules {
	bool bresenham;			/* lines */
	float line_width;
	bool center;			/* all samples are covered where the pixel's center is */
	/* Bias of a triangle's depth; the constant is in units, see @unit. */
	bool bias;
	float bias_constant, bias_slope, bias_clamp;
	double unit;			/* smallest difference of depths; 0: that of floats */
};

/* Set up @prim; pixels outside @clip are not wanted. */
void tsr_shape_set(struct tsr_shape *shape, const struct tsr_prim *prim,
		   const struct tsr_raster_rules *rules, const struct tsr_rect *clip);

/* Set up the depth of @shape, which is that of @prim and covers something. */
void tsr_shape_depth(struct tsr_shape *shape, const struct tsr_prim *prim,
		     const struct tsr_raster_rules *rules);

/* A walk over the blocks of a tile that a shape may cover. */
struct tsr_walk_blocks {
	const struct tsr_shape *shape;
	/* at sample s of the tile's first pixel, in pixels, rounded down; each adds a and b */
	int64_t base[TSR_EDGES_MAX][TSR_SAMPLES_MAX];
	int64_t least[TSR_EDGES_MAX], most[TSR_EDGES_MAX];	/* of the samples' bases */
	/* the least and the most a block's pixels add to its first's */
	int64_t low[TSR_EDGES_MAX], high[TSR_EDGES_MAX];
	struct tsr_rect rect, limit;	/* in the tile */
	uint32_t x, y;			/* next block, in blocks */
	uint32_t x0, x1, y1;		/* blocks to visit: columns [x0, x1), rows up to y1 */
	unsigned int samples;		/* 1 if all are covered alike */
	/* A small triangle: its edges at the first block's corner, in subpixels, suffice. */
	bool few;
	bool single;			/* there is one block, too */
	uint32_t y0;			/* the first row */
	struct tsr_fine_edge small[3];
};

/* A block and what of it is covered. */
struct tsr_covered {
	uint32_t x, y;			/* its first pixel in the tile */
	uint64_t mask[TSR_SAMPLES_MAX];	/* by sample, bits as pixels lie in a block */
	uint64_t any;			/* pixels with any sample */
};

/* Pixels of a block in columns, or rows, below @x, @y: 0 to 8. */
uint64_t tsr_columns_below(unsigned int x);
uint64_t tsr_rows_below(unsigned int y);

/* How many samples that is. */
static inline unsigned int tsr_covered_samples(const struct tsr_covered *c,
					       unsigned int samples_log2)
{
	unsigned int count = 0;

	for (unsigned int s = 0; s < 1u << samples_log2; s++)
		count += tsr_pixel_count(c->mask[s]);
	return count;
}

/* Begin; false: the shape is nowhere in the tile. */
bool tsr_walk_begin(struct tsr_walk_blocks *walk, const struct tsr_shape *shape,
		    const struct tsr_tile *tile);
/* Returns true if the primitive covers the tile; false also if that is not found out. */
bool tsr_walk_whole(const struct tsr_walk_blocks *walk, const struct tsr_tile *tile);
/* Find the next covered block, with samples of @sample_mask in @covered; false if none is left. */
bool tsr_walk_next(struct tsr_walk_blocks *walk, const struct tsr_fine *fine,
		   unsigned int samples_log2, uint16_t sample_mask, struct tsr_covered *covered);

/*
 * Triangle @n of @s, which lies in a few blocks of @tile: all of @few but how its depth is tested,
 * @depth if it is. Returned: the pixels of the tile that it may cover.
 */
struct tsr_rect tsr_few_set(struct tsr_fine_few *few, const struct tsr_small *s, unsigned int n,
			    const struct tsr_tile *tile, bool depth);

#endif
