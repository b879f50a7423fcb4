/* SPDX-License-Identifier: MIT */
/*
 * The tiled layout: u-interleaved tiles of 16×16 texels.
 *
 * A tile is 256 texels without gaps, in the order of an index whose bits come from the texel's
 * place (x, y) in the tile: for i = 0..3, bit 2i is x_i ^ y_i and bit 2i + 1 is y_i. So 4, 16, 64
 * texels that follow each other are a square of 2×2, 4×4, 8×8, and 64 bytes of 4-byte texels cover
 * 4×4.
 *
 * In: pointers to host memory that are valid for all texels named. Out: texels moved, never
 * changed. The functions keep no state and know nothing of addresses, pages or packets; rows and
 * tile must not overlap unless the result does not matter.
 */
#ifndef TSR_TILING_H
#define TSR_TILING_H

#include <stdint.h>

#include "tsr_regs.h"

#define TSR_TILE_TEXELS (TSR_TILE_DIM * TSR_TILE_DIM)
#define TSR_TILE_BYTES_MAX (TSR_TILE_TEXELS * TSR_TEXEL_MAX)

/* Bit i of @v, below TSR_TILE_DIM, at bit 2i of the result. */
static inline unsigned int tsr_tile_spread(unsigned int v)
{
	return (v & 1) | (v & 2) << 1 | (v & 4) << 2 | (v & 8) << 3;
}

/*
 * Place of texel (@x, @y) in its tile, in texels; only the low four bits of both count. It is the
 * exclusive or of what x and what y contribute, each by itself.
 */
static inline unsigned int tsr_tile_index(unsigned int x, unsigned int y)
{
	return tsr_tile_spread(x) ^ 3 * tsr_tile_spread(y);
}

/* Part of a tile: texels [x, x + w) × [y, y + h), not empty, inside the tile. */
struct tsr_tile_part {
	unsigned int x, y, w, h;
};

/*
 * Operations on texels of one size. @row[i] is the first texel of row i of the tile or part. @mem
 * points at byte @skip of the tile, so a part needs only its own bytes in memory.
 */
struct tsr_tile_ops {
	void (*tile)(uint8_t *tile, const uint8_t *const *row);
	void (*detile)(uint8_t *const *row, const uint8_t *tile);
	void (*tile_part)(uint8_t *mem, unsigned int skip, const uint8_t *const *row,
			  const struct tsr_tile_part *p);
	void (*detile_part)(uint8_t *const *row, const uint8_t *mem, unsigned int skip,
			    const struct tsr_tile_part *p);
	/* The @n texels at @src into @dst, last one first. */
	void (*reverse)(uint8_t *dst, const uint8_t *src, uint64_t n);
};

/* The functions for texels of @texel bytes, 1 to TSR_TEXEL_MAX. */
const struct tsr_tile_ops *tsr_tile_ops(unsigned int texel);

/* First byte of the part within the tile, and first byte after it. */
void tsr_tile_hull(const struct tsr_tile_part *p, unsigned int texel, unsigned int *first,
		   unsigned int *end);

#endif
