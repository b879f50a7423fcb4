/* SPDX-License-Identifier: MIT */
/*
 * Work on the 64 pixels of a block, once for each SIMD path.
 *
 * In: half-planes, depth planes, stored depths. Out: masks, bit n of which is pixel n of the block
 * (tile_buffer.h). All paths give the same bits.
 */
#ifndef TSR_TILE_FINE_H
#define TSR_TILE_FINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "small.h"
#include "shader/tile_buffer.h"

/* A half-plane in a block: value at pixel (0, 0), and what a pixel right and down adds. */
struct tsr_fine_edge {
	int32_t c, a, b;
};

/* Depth of a block's pixels, in the units of its format. */
struct tsr_fine_depth {
	double base, k[2];
	double c[2], a[2], b[2];	/* both functions at pixel (0, 0), and per pixel */
	double low, high;		/* bounds to which it is clamped */
	double scale;			/* then rounded to a multiple of 1 / @scale, unless 0 */
};

/* A triangle of a few blocks, a rectangle of them, and how its depth is tested. */
struct tsr_fine_few {
	struct tsr_fine_edge edge[3];	/* in the first block */
	uint8_t columns, rows;		/* of blocks */
	uint8_t pitch;			/* blocks from row to row of the tile */
	/* pixels that are wanted of the blocks of the first and last column, and row */
	uint64_t left, right, top, bottom;
	bool test, write;		/* depths are tested; and, if they pass, stored */
	unsigned int function;		/* enum tsr_compare_function */
	struct tsr_fine_depth depth;	/* in the first block */
	float *stored;			/* depths of the first block */
};

/* Result: the blocks, with the pixels that are covered and have passed. */
struct tsr_fine_blocks {
	unsigned int count;
	struct {
		uint64_t mask;
		uint8_t x, y;		/* from the first block on, in blocks */
	} block[TSR_TILE_BLOCKS_MAX];
	/* before the test: blocks, pixels; pixels that passed */
	unsigned int covered, pixels, passed;
};

struct tsr_fine {
	/* Pixels that lie in all @count half-planes. */
	uint64_t (*edges)(const struct tsr_fine_edge *edge, unsigned int count);
	/* Depths of the pixels of @mask, and perhaps of others. */
	void (*depth)(const struct tsr_fine_depth *depth, uint64_t mask, float *z);
	/* Pixels of @mask for which z FUNCTION stored; enum tsr_compare_function. */
	uint64_t (*compare)(const float *z, const float *stored, unsigned int function,
			    uint64_t mask);
	/* Store z in the pixels of @mask. */
	void (*store)(const float *z, float *stored, uint64_t mask);
	/* The least and the largest of @count depths, a multiple of 64. */
	void (*bounds)(const float *stored, unsigned int count, float *low, float *high);
	/* Coverage of @t, as far as its triangles are small, and planes of depth. See small.h. */
	void (*small)(const struct tsr_small_rules *rules, const struct tsr_tile_triangles *t,
		      struct tsr_small *small);
	/*
	 * Quads of triangles [first, end) of @small, all of which are small. With @test, one after
	 * the other, they are tested against @depth, the tile's; NULL: all pass.
	 */
	void (*small_quads)(const struct tsr_small *small, unsigned int first, unsigned int end,
			    const struct tsr_small_test *test, float *depth,
			    struct tsr_small_quads *quads);
	void (*few)(const struct tsr_fine_few *few, struct tsr_fine_blocks *blocks);
	/* Copy @count rows of @len bytes, so many bytes apart on either side. */
	void (*rows)(uint8_t *to, size_t to_pitch, const uint8_t *from, size_t from_pitch,
		     size_t len, unsigned int count);
};

#endif
