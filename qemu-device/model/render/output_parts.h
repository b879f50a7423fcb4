/* SPDX-License-Identifier: MIT */
/*
 * Shared by both ways of writing colors: the sRGB curve as a table, thresholds of dithering.
 */
#ifndef TSR_TILE_OUTPUT_PARTS_H
#define TSR_TILE_OUTPUT_PARTS_H

#include "output.h"

/* The NaN that blending leaves. */
#define TSR_OUTPUT_NAN 0x7fc00000u

/* The linear values of 8-bit sRGB components; filled by tsr_output_srgb_init(). */
extern float tsr_output_srgb_decoded[256];
/*
 * The other way, by the upper bits of numbers 0 ... 1: what the smallest one with these bits
 * becomes, times 2^STEP_BITS, and the lower bits from which on it is one more. No two steps have
 * the same upper bits.
 */
#define TSR_SRGB_SHIFT 16
#define TSR_SRGB_LOW ((1u << TSR_SRGB_SHIFT) - 1)
#define TSR_SRGB_STEP_BITS (TSR_SRGB_SHIFT + 1)
#define TSR_SRGB_FIRST 0x38000000u	/* 2^-15: far below the first step */
#define TSR_SRGB_STEPS (((0x3f800000u - TSR_SRGB_FIRST) >> TSR_SRGB_SHIFT) + 1)
extern uint32_t tsr_output_srgb_steps[TSR_SRGB_STEPS];
void tsr_output_srgb_init(void);

/* The 8-bit component nearest on the curve to @x, 0 ... 1: what tsr_format_store() stores. */
unsigned int tsr_output_srgb_encoded(float x);

/* The amounts, 0 ... 1, that are added before a number is truncated, for the lanes of a warp. */
void tsr_output_thresholds(const struct tsr_output_warp *w, float threshold[TSR_WARP_LANES]);

/* Bits of a block's pixels, in the order they lie in a block, to rows: row y is byte y. */
static inline uint64_t tsr_block_rows(uint64_t mask)
{
	/* a place in 16 is (quad, y, x); the bit of y changes places with each of the quad's two */
	uint64_t moved = (mask ^ mask >> 2) & 0x0c0c0c0c0c0c0c0c;

	mask ^= moved | moved << 2;
	moved = (mask ^ mask >> 4) & 0x00f000f000f000f0;
	return mask ^ moved ^ moved << 4;
}

#endif
