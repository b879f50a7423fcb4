// SPDX-License-Identifier: MIT
/* Image layouts: sizes, pitches, and the address of a texel. */
#include <errno.h>

#include "internal.h"
#include "tile.h"
#include "tsr_regs.h"

#define LINEAR_ALIGN 64		/* rows start at cache lines */

int tsr_surface_init(struct tsr_surface *surface, enum tsr_layout layout, uint32_t width,
		     uint32_t height, uint32_t texel, uint32_t pitch)
{
	uint64_t row, step, rows;

	if (layout != TSR_LAYOUT_LINEAR && layout != TSR_LAYOUT_TILED)
		return tsr_fail(EINVAL, "layout %u, expected linear or tiled", layout);
	if (!width || !height || width > TSR_RECT_MAX || height > TSR_RECT_MAX)
		return tsr_fail(EINVAL, "image of %u x %u texels, expected 1 to %d each", width,
				height, TSR_RECT_MAX);
	if (!texel || texel > TSR_TEXEL_MAX)
		return tsr_fail(EINVAL, "texels of %u bytes, expected 1 to %d", texel,
				TSR_TEXEL_MAX);
	if (layout == TSR_LAYOUT_TILED) {
		step = TILE_TEXELS * texel;
		row = (width + TSR_TILE_DIM - 1) / TSR_TILE_DIM * step;
		rows = (height + TSR_TILE_DIM - 1) / TSR_TILE_DIM;
	} else {
		step = 1;
		row = (uint64_t)width * texel;
		rows = height;
	}
	if (pitch && (pitch < row || pitch % step))
		return tsr_fail(EINVAL,
				"pitch %u for %u texels of %u bytes, expected at least %llu and a "
				"multiple of %llu",
				pitch, width, texel, (unsigned long long)row,
				(unsigned long long)step);
	*surface = (struct tsr_surface) {
		.width = width,
		.height = height,
		.layout = layout,
		.texel = texel,
		.pitch = pitch ? pitch : layout == TSR_LAYOUT_TILED ? (uint32_t)row
				       : (uint32_t)tsr_round_up(row, LINEAR_ALIGN),
		.align = layout == TSR_LAYOUT_TILED ? TSR_TILED_ALIGN : 1,
	};
	/* the last linear row may end before its pitch does */
	surface->size = (rows - 1) * surface->pitch + row;
	return 0;
}

uint64_t tsr_surface_offset(const struct tsr_surface *surface, uint32_t x, uint32_t y)
{
	uint64_t tile;

	if (surface->layout == TSR_LAYOUT_LINEAR)
		return (uint64_t)y * surface->pitch + (uint64_t)x * surface->texel;
	tile = (uint64_t)(y / TSR_TILE_DIM) * surface->pitch +
	       (uint64_t)(x / TSR_TILE_DIM) * TILE_TEXELS * surface->texel;
	return tile + (uint64_t)tsr_tile_index(x % TSR_TILE_DIM, y % TSR_TILE_DIM) * surface->texel;
}
