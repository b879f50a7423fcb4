/* SPDX-License-Identifier: MIT */
/*
 * Where the texels of a texture are in memory. A texture has layers, which of a cube are its faces.
 * A layer has samples, each with a pyramid of levels. A level of a volume is its slices, one after
 * the other. The functions are pure.
 */
#ifndef TC_LAYOUT_H
#define TC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/format/u_formats.h"

#define TC_LEVELS	16u
#define TC_ALIGN	64u	/* of levels, layers, linear rows and the memory of a texture */
#define TC_TILE		16u	/* side of a tile in texels */

/* A texture to be laid out. */
struct tc_shape {
	enum pipe_format format;
	uint32_t width, height, depth;	/* texels of level 0 */
	uint32_t levels, layers, samples;
	bool volume;			/* depth counts slices; else it is 1 */
	bool tiled;
};

struct tc_level {
	uint64_t offset;	/* bytes from the beginning of the sample */
	uint64_t slice;		/* bytes of a slice */
	uint32_t pitch;		/* bytes from row to row: of texels, of tiles or of blocks */
};

struct tc_layout {
	uint64_t layer;		/* bytes from layer to layer */
	uint64_t sample;	/* bytes from sample to sample */
	uint64_t size;		/* bytes of the texture */
	uint32_t layout;	/* enum tsr_layout */
	uint32_t texel;		/* bytes of a texel, or of a block */
	bool volume;
	struct tc_level level[TC_LEVELS];
};

/*
 * tc_layout_init(): lay out a texture. @pitch is that of all levels if it is not 0, else the driver
 * chooses.
 */
void tc_layout_init(struct tc_layout *layout, const struct tc_shape *shape, uint32_t pitch);

/* tc_layout_offset(): the first byte of a slice (of a volume) or of a layer. */
uint64_t tc_layout_offset(const struct tc_layout *layout, unsigned level, unsigned layer,
			  unsigned sample);

#endif
