// SPDX-License-Identifier: MIT
/*
 * A star, left with one sample a pixel and right with four. Checked: left there are two colors;
 * right there are others between them, along the same edges, and nowhere else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simple.h"

#define SIDE	256
#define SPIKES	9

DRAW_SHADER(color);

static const uint8_t dark[4] = { 0, 0, 51, 255 }, light[4] = { 255, 204, 0, 255 };

static void star(struct simple_vertex *v)
{
	for (int i = 0; i < 2 * SPIKES; i++, v += 3) {
		for (int k = 0; k < 3; k++) {
			float turn = (float)(i + k - 1) * 3.14159265f / SPIKES + 0.13f;
			float far = !k ? 0 : (i + k) % 2 ? 0.35f : 0.92f;

			v[k] = (struct simple_vertex) {
				{ far * cosf(turn), far * sinf(turn), 0, 1 }, { 1, 0.8f, 0, 1 },
			};
		}
	}
}

static struct tsr_image *half(struct draw *draw, struct tsr_gfx_pipeline *pipeline,
				  uint32_t samples)
{
	struct tsr_image *image =
		draw_target(draw, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, SIDE, 1);
	const struct tsr_gfx_pass_info info = {
		.samples = samples,
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR,
			       .clear.f = { 0, 0, 0.2f, 1 } },
	};
	struct tsr_gfx_pass *pass = draw_begin(draw, &info);
	struct simple_vertex vertices[6 * SPIKES];

	star(vertices);
	simple_draw(draw, pass, pipeline, vertices, 6 * SPIKES);
	if (!draw->error[0])
		draw_finish(draw, pass);
	return image;
}

/* True if all eight pixels around, and this one, are the same left. */
static bool inside(const struct draw *draw, uint32_t x, uint32_t y)
{
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++) {
			if (!draw_near(draw_at(draw, x, y),
				       draw_at(draw, (uint32_t)((int)x + dx),
					       (uint32_t)((int)y + dy)), 0))
				return false;
		}
	return true;
}

static int check(struct draw *draw)
{
	size_t between = 0;

	for (uint32_t y = 1; y < SIDE - 1; y++)
		for (uint32_t x = 1; x < SIDE - 1; x++) {
			const uint8_t *left = draw_at(draw, x, y);
			const uint8_t *right = draw_at(draw, x + SIDE, y);
			bool plain = draw_near(right, dark, 0) || draw_near(right, light, 0);

			if (!draw_near(left, dark, 0) && !draw_near(left, light, 0))
				return draw_fail(draw, "left, pixel %u, %u has another color", x,
						 y);
			if (!plain && inside(draw, x, y))
				return draw_fail(draw, "right, pixel %u, %u is on no edge", x, y);
			between += !plain;
		}
	if (between < 800)
		return draw_fail(draw, "right, %zu pixels are between the colors", between);
	return 0;
}

static int run(struct draw *draw)
{
	struct tsr_image *left, *right;
	struct tsr_gfx_pipeline *pipeline;
	struct simple simple;
	uint8_t *texels;

	simple_init(draw, &simple, DRAW_PROGRAM(draw, color));
	pipeline = draw_pipeline(draw, &simple.info);
	left = half(draw, pipeline, 1);
	right = half(draw, pipeline, 4);
	texels = malloc(8 * SIDE * SIDE);
	if (!texels || draw->error[0] || draw_read(draw, left, texels) ||
	    draw_read(draw, right, texels + 4 * SIDE * SIDE)) {
		free(texels);
		return draw_fail(draw, "no memory for two pictures");
	}
	draw->picture = (struct picture){ 2 * SIDE, SIDE, 4, 8 * SIDE, malloc(8 * SIDE * SIDE) };
	for (size_t y = 0; draw->picture.texels && y < 2 * SIDE; y++)
		memcpy(draw->picture.texels + (y % SIDE * 2 + y / SIDE) * 4 * SIDE,
		       texels + y * 4 * SIDE, 4 * SIDE);
	free(texels);
	return draw->picture.texels ? check(draw) : draw_fail(draw, "no memory for a picture");
}

const struct draw_kind draw_msaa = { "msaa", "a star without and with four samples a pixel", run };
