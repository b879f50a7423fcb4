// SPDX-License-Identifier: MIT
/*
 * For each texel of the result the reference asks where it comes from. The GPU paints layers,
 * through tiles and GPU addresses; this knows neither, and uses nothing of libtessera.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

static int inside(const struct area *area, uint32_t grown, uint32_t x, uint32_t y)
{
	return x + grown >= area->x && x < area->x + area->width + grown &&
	       y + grown >= area->y && y < area->y + area->height + grown;
}

/* The texel of the source that shows at (x, y) of panel n. */
static const uint8_t *crop_texel(const struct picture *source, const struct edit *edit,
				 unsigned int n, uint32_t x, uint32_t y)
{
	const struct area *panel = &edit->panel[n];
	uint32_t column = x - panel->x, row = y - panel->y;

	if (n & 1)
		column = panel->width - 1 - column;
	if (n & 2)
		row = panel->height - 1 - row;
	return source->texels + (edit->crop.y + row) * source->pitch +
	       (size_t)(edit->crop.x + column) * source->texel;
}

/* The texel the result has to have at (x, y); colors are in @colors by enum edit_color. */
static const uint8_t *expected(const struct picture *source, const struct edit *edit,
			       uint8_t colors[][8], uint32_t x, uint32_t y)
{
	unsigned int n;

	if (edit->crop.width && edit->crop.height) {
		for (n = 0; n < EDIT_PANELS; n++) {
			if (inside(&edit->panel[n], 0, x, y))
				return crop_texel(source, edit, n, x, y);
		}
		for (n = 0; n < EDIT_PANELS; n++) {
			if (inside(&edit->panel[n], edit->frame, x, y))
				return colors[EDIT_FRAME];
		}
	}
	if (y < edit->border)
		return colors[EDIT_TOP];
	if (y >= edit->height - edit->border)
		return colors[EDIT_BOTTOM];
	if (x < edit->border)
		return colors[EDIT_LEFT];
	if (x >= edit->width - edit->border)
		return colors[EDIT_RIGHT];
	return source->texels + y * source->pitch + (size_t)x * source->texel;
}

static void print_texel(char *text, const uint8_t *texel, uint32_t size)
{
	uint32_t i;

	for (i = 0; i < size; i++)
		sprintf(text + 2 * i, "%02x", texel[i]);
}

int reference_check(const struct picture *source, const struct picture *result,
		    const struct edit *edit, char *error)
{
	const uint8_t *want, *got;
	uint8_t colors[5][8];
	char good[20], bad[20];
	unsigned int i;
	uint32_t x, y;

	for (i = 0; i < 5; i++)
		edit_color(i, source->texel, colors[i]);
	for (y = 0; y < edit->height; y++) {
		got = result->texels + y * result->pitch;
		for (x = 0; x < edit->width; x++, got += result->texel) {
			want = expected(source, edit, colors, x, y);
			if (!memcmp(want, got, source->texel))
				continue;
			print_texel(good, want, source->texel);
			print_texel(bad, got, source->texel);
			snprintf(error, PICTURE_ERROR,
				 "not bit-equal: pixel (%u, %u) is %s, the CPU reference has %s", x,
				 y, bad, good);
			return -1;
		}
	}
	return 0;
}
