/* SPDX-License-Identifier: MIT */
/*
 * Surfaces with tags, for units that are not RENDER. Documentation/hw/3d.md describes the tags.
 *
 * In: a surface, a texel of it. Out: the texel's bytes as RENDER would have stored them expanded,
 * or its block expanded in memory, with tag RAW. Blocks are expanded, and planes are read, under
 * env->tag_lock, so a reader never sees half an expanded block. The lock is held within one call.
 * Limits: blocks of surfaces with several samples cannot be expanded.
 */
#ifndef TSR_TAGS_H
#define TSR_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem.h"

#define TSR_TAG_BLOCK 8u			/* texels on a side of a block that has a tag */
#define TSR_TAG_PLANE_WORDS 11		/* words that a block with tag PLANES uses of a sample */
#define TSR_TAG_STEP_SHIFT 8		/* fraction bits of a plane's steps */

/* Bytes of the tags of @layers layers of @width by @height texels. */
static inline uint64_t tsr_tag_bytes(uint32_t width, uint32_t height, uint32_t layers)
{
	const uint64_t columns = (width + TSR_TAG_BLOCK - 1) / TSR_TAG_BLOCK;
	const uint32_t rows = (height + TSR_TAG_BLOCK - 1) / TSR_TAG_BLOCK;

	return columns * rows * layers;
}

/* Place of the tag of texel (@x, @y) among those of its layer, which is @width texels wide. */
static inline uint64_t tsr_tag_place(uint32_t width, uint32_t x, uint32_t y)
{
	const uint64_t columns = (width + TSR_TAG_BLOCK - 1) / TSR_TAG_BLOCK;

	return y / TSR_TAG_BLOCK * columns + x / TSR_TAG_BLOCK;
}

/* Value of pixel (@x, @y) of the block in the plane @word[0 … 2]. */
static inline uint32_t tsr_plane_predicted(const uint32_t *word, unsigned int x, unsigned int y)
{
	int64_t moved = (int64_t)(int32_t)word[1] * x + (int64_t)(int32_t)word[2] * y;

	return word[0] + (uint32_t)(moved >> TSR_TAG_STEP_SHIFT);
}

/* Depth of pixel (@x, @y) of the block with words @word, TSR_TAG_PLANE_WORDS of them. */
static inline uint32_t tsr_plane_depth(const uint32_t *word, unsigned int x, unsigned int y)
{
	uint32_t residue = word[3 + y] >> 4 * x & 15;

	return tsr_plane_predicted(word, x, y) + (residue ^ 8) - 8;
}

/* The contents of TAG_STATE. */
struct tsr_tag_meaning {
	uint8_t clear[16];		/* texel of a block with tag CLEAR, as in memory */
	bool planes;			/* blocks can have tag PLANES */
};

/* One sample of one layer. */
struct tsr_tagged {
	uint64_t base;			/* address of texel (0, 0) */
	uint64_t first;			/* address of texel (0, 0) in sample 0 */
	uint64_t tags;			/* address of the tag of block (0, 0) */
	int64_t row_stride;
	uint32_t width, height;		/* texels */
	unsigned int bytes;		/* bytes of a texel, at most 16 */
	bool tiled;
	bool samples;			/* the surface has several samples: tag UNIFORM */
	struct tsr_tag_meaning meaning;
};

/* The tag that was looked up last, for as long as its owner may keep it. All zero: none was. */
struct tsr_tag_last {
	uint64_t va;			/* its address */
	uint8_t tag;			/* RAW unless it suits the surface */
	bool valid;
};

/* Texels of a block: from (x, y) on, @columns by @rows. */
struct tsr_tagged_part {
	uint32_t x, y;
	unsigned int columns, rows;
	uint8_t *texels;		/* room for their bytes, row by row */
	size_t pitch;			/* bytes from a row to the next one there */
};

/* Read TAG_STATE at @va, which is a multiple of 64. */
enum tsr_step tsr_tag_state_read(struct tsr_mem *mem, uint64_t va, struct tsr_tag_meaning *meaning);
/* The tag of the block of texel (@x, @y), RAW unless it suits the surface. */
enum tsr_step tsr_tagged_tag(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
			     uint32_t y, uint8_t *tag);
/* True if @last is the tag of the block of texel (@x, @y). */
bool tsr_tagged_known(const struct tsr_tagged *t, uint32_t x, uint32_t y,
		      const struct tsr_tag_last *last);
/*
 * Have the tag of the block of texel (@x, @y) in @last. It is read from memory only if @last is
 * that of another block. A tag that has become RAW since then may be kept: both say the same.
 */
enum tsr_step tsr_tagged_look(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
			      uint32_t y, struct tsr_tag_last *last);
/* The bytes of @part, whose block has tag @tag. */
enum tsr_step tsr_tagged_part(struct tsr_mem *mem, const struct tsr_tagged *t, uint8_t tag,
			      const struct tsr_tagged_part *part);
/* The bytes of texel (@x, @y). */
enum tsr_step tsr_tagged_read(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
			      uint32_t y, struct tsr_tag_last *last, uint8_t *texel);
/*
 * Expand the block of texel (@x, @y): its texels are in memory from now on, and @last is RAW. The
 * surface has one sample. Nothing has been written unless it returns TSR_STEP_DONE.
 */
enum tsr_step tsr_tagged_expand(struct tsr_mem *mem, const struct tsr_tagged *t, uint32_t x,
				uint32_t y, struct tsr_tag_last *last);

#endif
