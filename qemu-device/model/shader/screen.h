/* SPDX-License-Identifier: MIT */
/*
 * Vertices and primitives on the screen. The binner makes them, RENDER rasterizes them and the
 * varying unit interpolates between them.
 *
 * The layout of struct tsr_screen_vertex is that of HEAP_VERTEX in the heap, byte for byte.
 */
#ifndef TSR_SHADER_SCREEN_H
#define TSR_SHADER_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "tsr_regs.h"

struct tsr_screen_vertex {
	/*
	 * Window coordinates with TSR_SUBPIXEL_BITS fraction bits, within TSR_GUARD_BAND; pixel
	 * centres are at .5. Snapped to nearest, ties to even.
	 */
	int32_t x, y;
	float z;			/* window depth, not clamped */
	float rw;			/* 1/w, above 0 */
};

/*
 * Width of lines and size of points as they are drawn, in pixels: at least 1, at most
 * TSR_SCREEN_SIZE_MAX; 1 if it is no number.
 */
static inline float tsr_screen_size(float size)
{
	return !(size > 1) ? 1 : size < TSR_SCREEN_SIZE_MAX ? size : TSR_SCREEN_SIZE_MAX;
}

struct tsr_batch;

/* A primitive. */
struct tsr_prim {
	struct tsr_screen_vertex v[3];	/* points use 1, lines 2 */
	/*
	 * Only if @clipped: v[i] is the weighted sum of the outputs of slot[0], [1], [2] before the
	 * division by w (linear in clip space). Else v[i] is slot[i].
	 */
	float weight[3][3];
	/* 1/w of slot[i] itself, any float: for what is linear in the window */
	float slot_rw[3];
	bool clipped;
	uint8_t vertices;		/* 1, 2, 3; 0: the list has ended */
	uint8_t provoking;		/* index into slot[] */
	bool front;			/* facing; of points and lines true */
	uint16_t slot[3];		/* vertices of the batch whose outputs count */
	uint16_t layer;
	uint8_t viewport;
	float point_size;		/* of points */
	uint32_t primitive_id;
	/*
	 * Valid until tsr_tile_list_next() or _open() is called again on the reader: copy what has
	 * to last. The same @offset is the same batch.
	 */
	const struct tsr_batch *batch;
};

#endif
