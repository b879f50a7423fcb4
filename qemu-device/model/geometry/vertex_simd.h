/* SPDX-License-Identifier: MIT */
/*
 * Many vertices or primitives of a batch at once, on each SIMD path (alu/alu_path.h).
 *
 * In: position records, viewports; primitives' words. Out: what project.c and primitive.c would
 * find one by one, with the same bits on every path.
 */
#ifndef TSR_BINNER_LANES_H
#define TSR_BINNER_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "shader/lanes.h"
#include "shader/screen.h"

#define TSR_BIN_GROUP 16		/* primitives looked at together */

/* Positions in clip coordinates that go through one viewport; see struct tsr_bin_viewport. */
struct tsr_bin_projection {
	/* X to W, a row of vertices for each; NULL: @record is used */
	const union tsr_lanes (*position)[TSR_BUNDLE_WARPS];
	const uint64_t (*record)[8];	/* POSITION or POSITION_EXTENDED */
	unsigned int count;		/* room is for the next multiple of TSR_WARP_LANES */
	double sx, ox, sy, oy, sz, oz;
	bool minus_one;			/* the near plane is at -w, not at 0 */
	struct tsr_screen_vertex *screen;
	uint32_t *code;			/* out-codes */
};

/* Which triangles cannot be seen, and where the others are. */
struct tsr_bin_cull {
	const uint64_t *primitive;	/* TSR_BIN_GROUP words, see HEAP_PRIMITIVE */
	const struct tsr_screen_vertex *screen;
	const uint32_t *code;		/* NULL: no corner has one that matters */
	uint32_t reject, invalid, clip;	/* out-codes: of all, of any corner; of any: it is kept */
	bool clockwise, anticlockwise;	/* area above 0, and below, is culled */
	int32_t x0, y0, x1, y1;		/* pixels that are drawn: [x0, x1) by [y0, y1) */
	int32_t low, high;		/* subpixels a box is drawn in by */
	uint8_t tile_shift;
};

/* Those that are not clipped: a column for each. */
struct tsr_bin_boxes {
	uint32_t clipped;		/* bit n: triangle n is clipped, and the rest is invalid */
	uint32_t empty;			/* bit n: triangle n touches no drawn pixel */
	uint32_t clockwise;		/* bit n: triangle n has a positive area */
	/* tiles that pixels of its bounding box are in */
	int32_t tx0[TSR_BIN_GROUP] __attribute__((aligned(64)));
	int32_t ty0[TSR_BIN_GROUP] __attribute__((aligned(64)));
	int32_t tx1[TSR_BIN_GROUP] __attribute__((aligned(64)));
	int32_t ty1[TSR_BIN_GROUP] __attribute__((aligned(64)));
};

struct tsr_bin_lanes {
	void (*project)(const struct tsr_bin_projection *p);
	/* TSR_OUT_FRUSTUM's out-codes that all positions have; @p has rows */
	uint32_t (*outside)(const struct tsr_bin_projection *p);
	/* bit n: triangle n may be seen */
	uint32_t (*visible)(const struct tsr_bin_cull *c, struct tsr_bin_boxes *boxes);
};

#endif
