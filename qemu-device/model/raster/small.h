/* SPDX-License-Identifier: MIT */
/*
 * Small triangles, many at a time: those that lie, as far as they are wanted, in two by two quads.
 *
 * In: the corners of up to TSR_TILE_TRIANGLES of them. Out: the pixels each covers, and the plane
 * of its depth; then, one after the other, tests against what is stored. Frames have up to
 * TSR_SMALL_SAMPLES samples a pixel. The arithmetic is that of shape.c, raster.c and fine_block.h,
 * so are all bits.
 *
 * Pixels of a triangle are numbered as four quads, (0, 0) (2, 0) (0, 2) (2, 2), each as in a block:
 * pixel p of quad q is number 4 q + p.
 */
#ifndef TSR_TILE_SMALL_H
#define TSR_TILE_SMALL_H

#include <stdbool.h>
#include <stdint.h>

#include "binner/tile_list.h"

/* Values that are equal for all triangles. */
struct tsr_small_rules {
	int32_t x0, y0, x1, y1;		/* pixels that are wanted: [x0, x1) by [y0, y1) */
	int32_t x, y;			/* the tile's first one */
	uint8_t shift;			/* log2 of the tile's side */
	uint8_t samples_log2;
	bool depth;			/* planes of depth are wanted */
};

#define TSR_SMALL_SAMPLES_LOG2 2
#define TSR_SMALL_SAMPLES (1 << TSR_SMALL_SAMPLES_LOG2)

/* A column for each triangle. */
struct tsr_small {
	uint8_t samples_log2;
	bool cut;			/* blocks may be wanted in part */
	uint16_t large;			/* bit n: triangle n is not small */
	uint16_t huge;			/* bit n: it covers too many blocks; all else is invalid */
	/* pixels that are covered, in any sample; and, if there are several, in each */
	int32_t mask[TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	int32_t sample[TSR_SMALL_SAMPLES][TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	int32_t blocks[TSR_TILE_TRIANGLES] __attribute__((aligned(64)));	/* that it is in */
	/* of the first quad, in the tile */
	int32_t x[TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	int32_t y[TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	/* pixels that may be covered, in the tile: [x0, x1) by [y0, y1) */
	int32_t x0[TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	int32_t y0[TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	int32_t x1[TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	int32_t y1[TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	/* as in struct tsr_edge, from the first quad's first pixel on */
	int32_t edge_c[3][TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	int32_t edge_a[3][TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	int32_t edge_b[3][TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	/* where depths of the quads are: index of the first of four, of sample 0 */
	int32_t at[4][TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	/* as in struct tsr_fine_depth, from the first quad's first pixel on */
	double base[TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	double k[2][TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	double c[2][TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	double a[2][TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
	double b[2][TSR_TILE_TRIANGLES] __attribute__((aligned(64)));
};

/* How their depth is tested. */
struct tsr_small_test {
	double low, high, scale;	/* as in struct tsr_fine_depth */
	unsigned int function;		/* enum tsr_compare_function */
	bool write;			/* depths that pass are stored */
};

#define TSR_SMALL_QUADS (4 * TSR_TILE_TRIANGLES)

/* Quads of some of them, triangle by triangle: those of which samples are covered, and pass. */
struct tsr_small_quads {
	unsigned int count;
	unsigned int covered, passed;	/* samples, before the test and after it */
	/* one more: where the next one is going to be, something is written ahead */
	uint8_t triangle[TSR_SMALL_QUADS + 1];
	uint8_t quad[TSR_SMALL_QUADS + 1];	/* its number in the triangle */
	uint16_t pixels[TSR_SMALL_QUADS + 1];	/* a bit each: bit 4 * sample + pixel */
	uint16_t at[TSR_SMALL_QUADS + 1];	/* where its depths are, as tsr_small.at */
};

/* Pixels of a quad, a bit each: how many. */
static inline unsigned int tsr_quad_pixels(unsigned int bits)
{
	return 0x4332322132212110 >> 4 * bits & 15;
}

/* Coverage of all samples, as in tsr_small_quads.pixels. */
static inline unsigned int tsr_quad_samples(unsigned int bits)
{
	unsigned int count = 0;

	for (; bits; bits >>= 4)
		count += tsr_quad_pixels(bits & 15);
	return count;
}

#endif
