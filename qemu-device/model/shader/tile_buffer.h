/* SPDX-License-Identifier: MIT */
/*
 * The tile buffer of a core: all samples of the tile that is being rendered.
 *
 * Colors lie as in memory, see render/output.h. Depth and stencil are arranged for tests of whole
 * blocks: a tile is divided into blocks of 8 by 8 pixels, numbered row by row. The pixels of a
 * block are in quad order: quads (2 by 2 pixels) row by row, in a quad (0, 0) (1, 0) (0, 1) (1, 1).
 * Sixteen pixels in a row are so the four quads of a warp, and bit n of a block's coverage mask is
 * pixel n. The samples of a block are planes of 64 pixels: sample s of pixel p of block b has the
 * index
 *
 *	(b * samples + s) * TSR_BLOCK_PIXELS + p
 *
 * Depth is a float whatever its format: of fixed-point formats the integer, which a float holds
 * exactly. What is not in the frame (tiles at its edges) has memory too, but is never covered and
 * never stored.
 */
#ifndef TSR_SHADER_TILE_BUFFER_H
#define TSR_SHADER_TILE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "units/msg_format.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define TSR_BLOCK_SHIFT 3
#define TSR_BLOCK_DIM (1u << TSR_BLOCK_SHIFT)
#define TSR_BLOCK_PIXELS (TSR_BLOCK_DIM * TSR_BLOCK_DIM)
#define TSR_TILE_BLOCKS_MAX (1u << (2 * (TSR_TILE_SHIFT_MAX - TSR_BLOCK_SHIFT)))

/* The samples of one target in a tile buffer: of pixel (0, 0), sample 0 at data. */
struct tsr_tile_target {
	uint8_t *data;			/* 16 bytes after the last sample may be read */
	uint32_t pitch;			/* bytes from row to row */
	uint32_t plane;			/* bytes from sample to sample */
};

/* Bounds of a block for hierarchical tests. */
struct tsr_block_bounds {
	/* Stored depths lie between, or did before @stale of them went where z_direction says. */
	float low, high;
	uint8_t stale;			/* at most 255 */
	uint8_t stencil;		/* if @uniform: the stencil of every sample */
	bool uniform;
	bool stencil_stale;		/* stencil has been written: nothing is known */
};

#define TSR_Z_LOST 2

struct tsr_tile_core;

struct tsr_tile {
	uint32_t x, y;			/* its first pixel in the frame */
	uint32_t width, height;		/* pixels of it that are in the frame */
	uint16_t layer;
	uint8_t shift;			/* log2 of its side */
	uint8_t samples_log2;
	uint8_t targets;		/* color targets */
	bool has_depth, has_stencil;
	struct tsr_format format[TSR_RENDER_TARGETS_MAX];
	struct tsr_tile_target color[TSR_RENDER_TARGETS_MAX];
	float *depth;
	float depth_scale;		/* a depth of 1 is that; 0: floating point */
	uint8_t *stencil;
	/* Depths have been written under functions that let them fall (-1), grow (1), or both. */
	int8_t z_direction;		/* 0: none have; TSR_Z_LOST: bounds say nothing */
	struct tsr_tile_core *core;	/* on which it is rendered */
	struct tsr_block_bounds bounds[TSR_TILE_BLOCKS_MAX];
};

/* Place in its block of the pixel at (@x, @y) of the tile. */
static inline unsigned int tsr_block_pixel(unsigned int x, unsigned int y)
{
	return (y & 6) << 3 | (x & 6) << 1 | (y & 1) << 1 | (x & 1);
}

/* Pixels of @mask. Without an instruction for it the compiler would call a function. */
static inline unsigned int tsr_pixel_count(uint64_t mask)
{
	mask -= mask >> 1 & 0x5555555555555555;
	mask = (mask & 0x3333333333333333) + (mask >> 2 & 0x3333333333333333);
	mask = (mask + (mask >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return mask * 0x0101010101010101 >> 56;
}

/* Number of the block of the pixel at (@x, @y) of the tile. */
static inline unsigned int tsr_tile_block(const struct tsr_tile *t, unsigned int x, unsigned int y)
{
	return (y >> TSR_BLOCK_SHIFT) << (t->shift - TSR_BLOCK_SHIFT) | x >> TSR_BLOCK_SHIFT;
}

/* Index of depth and stencil of sample @s of the pixel at (@x, @y) of the tile. */
static inline unsigned int tsr_tile_place(const struct tsr_tile *t, unsigned int x, unsigned int y,
					  unsigned int s)
{
	return ((tsr_tile_block(t, x, y) << t->samples_log2) + s) * TSR_BLOCK_PIXELS +
	       tsr_block_pixel(x, y);
}

#endif
