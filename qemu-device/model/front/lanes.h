/* SPDX-License-Identifier: MIT */
/*
 * Work on many vertices or primitives of a batch at once, on each SIMD path (../shader/alu_path.h).
 *
 * In: position records, viewports; primitives' words. Out: what project.c and primitive.c would
 * find one by one, with the same bits on every path.
 */
#ifndef TSR_FRONT_LANES_H
#define TSR_FRONT_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "screen.h"

#define TSR_FRONT_GROUP 16		/* primitives looked at together */

/* Positions in clip coordinates that go through one viewport; see struct tsr_bin_viewport. */
struct tsr_front_projection {
	const uint64_t (*record)[8];	/* POSITION or POSITION_EXTENDED */
	unsigned int count;		/* room is for the next multiple of 8 */
	double sx, ox, sy, oy, sz, oz;
	bool minus_one;			/* the near plane is at -w, not at 0 */
	struct tsr_screen_vertex *screen;
	uint32_t *code;			/* out-codes */
};

/* Which triangles cannot be seen. */
struct tsr_front_cull {
	const uint64_t *primitive;	/* TSR_FRONT_GROUP words, see HEAP_PRIMITIVE */
	const struct tsr_screen_vertex *screen;
	const uint32_t *code;
	uint32_t reject, invalid, clip;	/* out-codes: of all, of any corner; of any: it is kept */
	bool clockwise, anticlockwise;	/* area above 0, and below, is culled */
};

struct tsr_front_lanes {
	void (*project)(const struct tsr_front_projection *p);
	/* bit n: triangle n may be seen */
	uint32_t (*visible)(const struct tsr_front_cull *c);
};

extern const struct tsr_front_lanes tsr_front_sse2, tsr_front_avx2, tsr_front_avx512;

/* The path called @simd. */
const struct tsr_front_lanes *tsr_front_lanes(const char *simd);

#endif
