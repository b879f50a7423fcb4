/* SPDX-License-Identifier: MIT */
/* Out-codes: on which side of what a vertex lies. */
#ifndef TSR_BINNER_OUT_CODES_H
#define TSR_BINNER_OUT_CODES_H

#include "tsr_regs.h"

enum {
	TSR_OUT_LEFT = 1 << 0, TSR_OUT_RIGHT = 1 << 1, TSR_OUT_TOP = 1 << 2,
	TSR_OUT_BOTTOM = 1 << 3, TSR_OUT_NEAR = 1 << 4, TSR_OUT_FAR = 1 << 5,
	TSR_OUT_W = 1 << 6,		/* w below TSR_CLIP_W_MIN */
	TSR_OUT_INVALID = 1 << 7,	/* infinite or no number */
	TSR_OUT_GUARD_SHIFT = 8,	/* the guard band: x low, x high, y low, y high */
	TSR_OUT_CLIP_SHIFT = 16,	/* clip distance n is negative */
	TSR_OUT_CULL_SHIFT = 24,	/* cull distance n is negative */
};

#define TSR_OUT_FRUSTUM (TSR_OUT_LEFT | TSR_OUT_RIGHT | TSR_OUT_TOP | TSR_OUT_BOTTOM)
#define TSR_OUT_DEPTH (TSR_OUT_NEAR | TSR_OUT_FAR)
#define TSR_OUT_GUARD (0xfu << TSR_OUT_GUARD_SHIFT)
#define TSR_OUT_CLIP (0xffu << TSR_OUT_CLIP_SHIFT)
#define TSR_OUT_CULL (0xffu << TSR_OUT_CULL_SHIFT)

/* Smaller w is clipped, so that 1/w is a finite, normal number. */
#define TSR_CLIP_W_MIN 0x1p-96

#endif
