/* SPDX-License-Identifier: MIT */
/* The order of texels in a u-interleaved tile. */
#ifndef TSR_TILE_H
#define TSR_TILE_H

#include "internal.h"
#include "tsr_regs.h"

#define TILE_TEXELS	((uint64_t)TSR_TILE_DIM * TSR_TILE_DIM)

/* Number of texel (@x, @y) in its tile: bits 2i are x_i ^ y_i, bits 2i + 1 y_i. */
static inline uint32_t tsr_tile_index(uint32_t x, uint32_t y)
{
	/* bit i at 2i */
	static const uint8_t spread[TSR_TILE_DIM] = {
		0x00, 0x01, 0x04, 0x05, 0x10, 0x11, 0x14, 0x15,
		0x40, 0x41, 0x44, 0x45, 0x50, 0x51, 0x54, 0x55,
	};

	return spread[x ^ y] | (uint32_t)spread[y] << 1;
}

#endif /* TSR_TILE_H */
