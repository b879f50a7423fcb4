/* SPDX-License-Identifier: MIT */
/*
 * Vertices on the screen: what the front end makes of positions and rasterisation starts from.
 *
 * In the heap a vertex stands as HEAP_VERTEX, which is this structure, byte for byte.
 */
#ifndef TSR_BINNER_SCREEN_H
#define TSR_BINNER_SCREEN_H

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

#endif
