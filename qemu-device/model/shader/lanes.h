/* SPDX-License-Identifier: MIT */
/*
 * How the registers of threads lie in memory, and the operands of micro-operations.
 *
 * A warp is TSR_WARP_LANES threads. Warps are executed in bundles of TSR_BUNDLE_WARPS: one dispatch
 * of a micro-operation works on up to that many warps, so that its cost is paid once for many
 * threads. Register r of warp w of a bundle is one vector of 16 words; all state that a micro-op
 * reads or writes is arrays of such vectors, in one of four spaces.
 */
#ifndef TSR_SHADER_LANES_H
#define TSR_SHADER_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "tsr_regs.h"

/* Measured: with 4 the dispatch of a micro-op shows, with 8 multiply-adds are 1.3 times as fast. */
#define TSR_BUNDLE_WARPS 8
#define TSR_BUNDLE_LANES (TSR_BUNDLE_WARPS * TSR_WARP_LANES)
#define TSR_REGISTERS 64
/* A block of pixels is so many warps, each a row of four quads: the order of a tile's blocks. */
#define TSR_QUAD_BLOCK_WARPS 4

/* One 32-bit word of each thread of a warp. */
union tsr_lanes {
	uint32_t u[TSR_WARP_LANES];
	int32_t s[TSR_WARP_LANES];
	float f[TSR_WARP_LANES];
	uint16_t h[2 * TSR_WARP_LANES];	/* low half of lane n is h[2 * n] */
	uint8_t b[4 * TSR_WARP_LANES];
} __attribute__((aligned(64)));

/* How many lanes @lanes has; not all processors have an instruction for it. */
static inline unsigned int tsr_lanes_count(uint16_t lanes)
{
	uint32_t n = lanes - (lanes >> 1 & 0x5555);

	n = (n & 0x3333) + (n >> 2 & 0x3333);
	n = (n + (n >> 4)) & 0x0f0f;
	return (n + (n >> 8)) & 0x1f;
}

/* True if any warp of a bundle has any of @lanes. */
static inline bool tsr_any_lanes(const uint16_t lanes[TSR_BUNDLE_WARPS])
{
	uint16_t any = 0;

	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++)
		any |= lanes[w];
	return any;
}

/* Where a vector is. */
enum tsr_space_kind {
	TSR_LANES_REG,		/* registers: vector r * TSR_BUNDLE_WARPS + w */
	/* results on their way through a clause: vector t * TSR_BUNDLE_WARPS + w */
	TSR_LANES_TEMP,
	TSR_LANES_PUSH,		/* push constants, the same word in all lanes: vector n is word n */
	TSR_LANES_CLAUSE,	/* constants of the clause */
	TSR_LANES_SPACES
};

/* An operand: vector index + step * w in its space. */
struct tsr_operand {
	uint16_t index;
	uint8_t space;			/* enum tsr_space_kind */
	/* 1 in REG and TEMP, 0 where all warps see the same vector */
	uint8_t step;
};

/*
 * State of a micro-operation: some warps of a warp group, with some of their lanes active. Belongs
 * to the thread that runs the core.
 */
struct tsr_alu_state {
	union tsr_lanes *space[TSR_LANES_SPACES];
	/* all ones in the active lanes of each warp */
	union tsr_lanes mask[TSR_BUNDLE_WARPS];
	uint8_t warp[TSR_BUNDLE_WARPS];	/* the warps to work on */
	uint8_t warps;			/* how many */
	bool full;			/* in these warps every lane is active */
};

#endif
