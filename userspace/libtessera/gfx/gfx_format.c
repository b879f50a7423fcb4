// SPDX-License-Identifier: MIT
/* Sizes and kinds of pixel formats. */
#include "gfx.h"

/* The device's own table. */
#include "tsr_samples.h"

#define ROW(name, number, kind, bytes, skip, first, r, g, b, a) \
	[number] = { GFX_##kind, bytes, ((r) != 0) + ((g) != 0) + ((b) != 0) + ((a) != 0) },

static const struct gfx_format formats[256] = {
	TSR_PIXEL_FORMAT__TABLE(ROW)
};

struct gfx_format gfx_format(uint32_t format)
{
	return format < 256 && formats[format].kind != GFX_BLOCK ? formats[format]
								 : (struct gfx_format){ 0 };
}

uint32_t gfx_block_bytes(uint32_t format)
{
	return format < 256 && formats[format].kind == GFX_BLOCK ? formats[format].bytes : 0;
}

/* Where samples lie, as programs read it: pairs of 16-bit numbers, in 256ths of a pixel. */
void gfx_sample_positions(uint32_t samples_log2, void *table)
{
	uint16_t *pair = table;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		pair[2 * i] = (uint16_t)(16 * tsr_sample_position[samples_log2][i][0]);
		pair[2 * i + 1] = (uint16_t)(16 * tsr_sample_position[samples_log2][i][1]);
	}
}
