// SPDX-License-Identifier: MIT
/*
 * The demo's referee: what it calls bit-equal is what a painter who works in layers, as the GPU
 * does, gets; and one wrong bit anywhere is found and named.
 */
#include <stdlib.h>

#include "../../userspace/demos/photo/edit.c"
#include "../../userspace/demos/photo/reference.c"
#include "ktap.h"

static struct picture source, result;
static struct edit edit;

static uint8_t *at(struct picture *p, uint32_t x, uint32_t y)
{
	return p->texels + y * p->pitch + (size_t)x * p->texel;
}

static void paint(uint32_t x0, uint32_t y0, uint32_t w, uint32_t h, enum edit_color which)
{
	uint8_t color[8];
	uint32_t x, y;

	edit_color(which, result.texel, color);
	for (y = y0; y < y0 + h; y++)
		for (x = x0; x < x0 + w; x++)
			memcpy(at(&result, x, y), color, result.texel);
}

static void paint_panel(unsigned int n)
{
	const struct area *p = &edit.panel[n], *c = &edit.crop;
	uint32_t x, y;

	if (edit.frame)
		paint(p->x - edit.frame, p->y - edit.frame, p->width + 2 * edit.frame,
		      p->height + 2 * edit.frame, EDIT_FRAME);
	for (y = 0; y < p->height; y++)
		for (x = 0; x < p->width; x++)
			memcpy(at(&result, n & 1 ? p->x + p->width - 1 - x : p->x + x,
				  n & 2 ? p->y + p->height - 1 - y : p->y + y),
			       at(&source, c->x + x, c->y + y), source.texel);
}

static void make(uint32_t width, uint32_t height, uint32_t texel)
{
	uint32_t i, b;

	source = (struct picture){ width, height, texel, (size_t)width * texel, NULL };
	source.texels = malloc(source.pitch * height);
	for (i = 0; i < source.pitch * height; i++)
		source.texels[i] = (uint8_t)((i * 2654435761u) >> 11);
	result = source;
	result.texels = malloc(source.pitch * height);
	memcpy(result.texels, source.texels, source.pitch * height);
	edit_plan(&edit, width, height);
	b = edit.border;
	paint(0, b, b, height - 2 * b, EDIT_LEFT);
	paint(width - b, b, b, height - 2 * b, EDIT_RIGHT);
	paint(0, 0, width, b, EDIT_TOP);
	paint(0, height - b, width, b, EDIT_BOTTOM);
	for (i = 0; i < EDIT_PANELS; i++)
		paint_panel(i);
}

static void unmake(void)
{
	free(source.texels);
	free(result.texels);
}

static bool fits(const struct area *a, uint32_t grown)
{
	return a->x >= grown && a->y >= grown && a->x + a->width + grown <= edit.width &&
	       a->y + a->height + grown <= edit.height;
}

/* All small sizes: no rectangle leaves the picture, and both ways to work it out agree. */
static void test_agree(void)
{
	char error[PICTURE_ERROR];
	uint32_t w, h, n;

	for (h = 1; h <= 70; h++) {
		for (w = 1; w <= 70 && !ktap.bad; w++) {
			make(w, h, w % 2 ? 4 : 8);
			ktap_ok(fits(&edit.crop, 0));
			for (n = 0; n < EDIT_PANELS; n++)
				ktap_ok(fits(&edit.panel[n], edit.frame));
			ktap_eq(reference_check(&source, &result, &edit, error), 0);
			unmake();
		}
	}
}

/* Each bit of a small picture wrong once. */
static void test_find(void)
{
	char error[PICTURE_ERROR], place[40];
	size_t i, texel;

	make(40, 37, 4);
	for (i = 0; i < result.pitch * result.height && !ktap.bad; i++) {
		result.texels[i] ^= (uint8_t)(1 << i % 8);
		ktap_eq(reference_check(&source, &result, &edit, error), -1);
		texel = i / 4;
		snprintf(place, sizeof(place), "pixel (%zu, %zu) ", texel % 40, texel / 40);
		ktap_ok(strstr(error, place));
		result.texels[i] ^= (uint8_t)(1 << i % 8);
	}
	/* the first of several, and both values */
	memcpy(at(&result, 20, 18), "\1\2\3\4", 4);
	memcpy(at(&result, 39, 36), "\1\2\3\4", 4);
	ktap_eq(reference_check(&source, &result, &edit, error), -1);
	ktap_ok(strstr(error, "pixel (20, 18) is 01020304"));
	unmake();
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS8] the photo demo's reference equals a painter in layers", test_agree);
	ktap_run("[SYS8] the photo demo's reference finds each wrong bit", test_find);
	return ktap_finish();
}
