/* SPDX-License-Identifier: MIT */
/*
 * The demo's edit of a picture: four colored borders, and in each corner a framed panel with the
 * middle of the picture, mirrored in a different way. This file has the geometry. editor.c does the
 * edit on the GPU, and reference.c on the CPU.
 */
#ifndef EDIT_H
#define EDIT_H

#include <stdint.h>

#define EDIT_PANELS 4

/* A rectangle of texels; empty if a side is 0. */
struct area {
	uint32_t x, y, width, height;
};

struct edit {
	uint32_t width, height;		/* of the picture, before and after */
	uint32_t border;		/* width of the borders; 0 in pictures below 16 texels */
	uint32_t frame;			/* width of the frame around a panel */
	struct area crop;		/* what the panels show, in the source */
	struct area panel[EDIT_PANELS];	/* where, in the result; without the frame */
};

/* Panel n is mirrored left and right if n has bit 0, top and bottom if it has bit 1. */

enum edit_color { EDIT_TOP, EDIT_BOTTOM, EDIT_LEFT, EDIT_RIGHT, EDIT_FRAME };

/* edit_plan(): the geometry for a picture of @width x @height texels, 1 x 1 and up. */
void edit_plan(struct edit *edit, uint32_t width, uint32_t height);

/* edit_color(): the texel of @texel bytes (4 or 8) for a border or frame. */
void edit_color(enum edit_color which, uint32_t texel, uint8_t color[8]);

#endif /* EDIT_H */
