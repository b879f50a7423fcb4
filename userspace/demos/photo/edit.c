// SPDX-License-Identifier: MIT
/* The geometry of the demo's edit. */
#include <string.h>

#include "edit.h"

#define BORDER_MAX 24

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void edit_plan(struct edit *edit, uint32_t width, uint32_t height)
{
	uint32_t border = smaller(smaller(width, height) / 16, BORDER_MAX);
	uint32_t w = (width - 2 * border) / 4, h = (height - 2 * border) / 4;
	uint32_t frame = smaller(w, h) >= 8 ? 1 + smaller(w, h) / 48 : 0;
	uint32_t gap = border + frame + smaller(w, h) / 8, n;

	memset(edit, 0, sizeof(*edit));
	edit->width = width;
	edit->height = height;
	edit->border = border;
	edit->frame = frame;
	edit->crop = (struct area){ (width - w) / 2, (height - h) / 2, w, h };
	for (n = 0; n < EDIT_PANELS; n++)
		edit->panel[n] = (struct area){
			.x = n & 1 ? width - gap - w : gap,
			.y = n & 2 ? height - gap - h : gap,
			.width = w,
			.height = h,
		};
}

void edit_color(enum edit_color which, uint32_t texel, uint8_t color[8])
{
	static const uint8_t rgba[][4] = {
		[EDIT_TOP] = { 0x1b, 0x26, 0x3b, 0xff },
		[EDIT_BOTTOM] = { 0x41, 0x5a, 0x77, 0xff },
		[EDIT_LEFT] = { 0x77, 0x8d, 0xa9, 0xff },
		[EDIT_RIGHT] = { 0xe0, 0xa4, 0x58, 0xff },
		[EDIT_FRAME] = { 0xf4, 0xf1, 0xde, 0xff },
	};
	uint32_t i;

	/* a 16-bit sample has the byte twice, for the same fraction of white */
	for (i = 0; i < texel; i++)
		color[i] = rgba[which][texel == 8 ? i / 2 : i];
}
