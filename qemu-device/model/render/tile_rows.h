/* SPDX-License-Identifier: MIT */
/*
 * Rows of texels between a tile buffer and a surface.
 *
 * In: rows of a render target, and where they are in the tile buffer. Out: texels moved, or the
 * step that the memory of one asks for. What has been moved before may be moved again. Surfaces
 * that the host has in one piece are moved as a whole, others tile by tile or row by row.
 */
#ifndef TSR_RENDER_TILE_ROWS_H
#define TSR_RENDER_TILE_ROWS_H

#include "shader/access.h"

struct tsr_render_target;
struct tsr_tile_core;

/* Texels of a row of @rt on their way from or to @row. */
struct tsr_tile_rows {
	const struct tsr_render_target *rt;
	unsigned int bytes, s;		/* of a texel; sample */
	uint32_t x, y;			/* of the first one, in the frame */
	unsigned int count;
	uint8_t *row;
	bool write;
};


/* Host memory of @count rows of a linear surface from @p on; NULL unless it is in one piece. */
uint8_t *tsr_tile_rows_at(struct tsr_access_cache *access, struct tsr_mem *mem, uint32_t layer,
			  const struct tsr_tile_rows *p, uint32_t count);
/*
 * Move @count rows from @p on. In the tile they are @step bytes apart; 0: they are written and all
 * as the first. tsr_access_reserve() has been called.
 */
enum tsr_step tsr_tile_move_rows(const struct tsr_tile_core *c, struct tsr_mem *mem,
				 struct tsr_tile_rows p, uint32_t count, uint32_t step);

#endif
