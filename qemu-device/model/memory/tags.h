/* SPDX-License-Identifier: MIT */
/*
 * Planes of compressed blocks: what RENDER stores of a block of depths, and what others read.
 *
 * In: the words of a block with tag PLANES. Out: depths, exactly those that were stored.
 */
#ifndef TSR_TAGS_H
#define TSR_TAGS_H

#include <stdint.h>

#define TSR_PLANE_WORDS 11		/* of a block's sample with tag PLANES */
#define TSR_PLANE_STEP_SHIFT 8		/* fraction bits of a plane's steps */

/* Value of pixel (@x, @y) of the block in the plane @word[0 … 2]. */
static inline uint32_t tsr_plane_predicted(const uint32_t *word, unsigned int x, unsigned int y)
{
	int64_t moved = (int64_t)(int32_t)word[1] * x + (int64_t)(int32_t)word[2] * y;

	return word[0] + (uint32_t)(moved >> TSR_PLANE_STEP_SHIFT);
}

/* Depth of pixel (@x, @y) of the block with words @word, TSR_PLANE_WORDS of them. */
static inline uint32_t tsr_plane_depth(const uint32_t *word, unsigned int x, unsigned int y)
{
	uint32_t residue = word[3 + y] >> 4 * x & 15;

	return tsr_plane_predicted(word, x, y) + (residue ^ 8) - 8;
}

#endif
