/* SPDX-License-Identifier: MIT */
/* The order of texels in a u-interleaved tile. */
#ifndef TSR_TILE_H
#define TSR_TILE_H

#include "internal.h"
#include "tsr_regs.h"

#define TILE_TEXELS	((uint64_t)TSR_TILE_DIM * TSR_TILE_DIM)

/* tsr_tile_index(): number of texel (@x, @y) in its tile: bits 2i are x_i ^ y_i, bits 2i + 1 y_i.
 */
static inline uint32_t tsr_tile_index(uint32_t x, uint32_t y)
{
	uint32_t index = 0, bit;

	for (bit = 0; 1u << bit < TSR_TILE_DIM; bit++) {
		index |= ((x ^ y) >> bit & 1) << (2 * bit);
		index |= (y >> bit & 1) << (2 * bit + 1);
	}
	return index;
}

#endif /* TSR_TILE_H */
