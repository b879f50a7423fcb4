// SPDX-License-Identifier: MIT
/* One triangle with a color at each corner. Checked: the middle is the corners' average. */
#include "simple.h"

#define SIDE 256

DRAW_SHADER(color);

static int check(struct draw *draw)
{
	static const uint8_t back[4] = { 51, 51, 51, 255 }, middle[4] = { 85, 85, 85, 255 };
	size_t covered = 0;

	for (uint32_t y = 0; y < SIDE; y++)
		for (uint32_t x = 0; x < SIDE; x++)
			covered += !draw_near(draw_at(draw, x, y), back, 0);
	if (!draw_near(draw_at(draw, 0, 0), back, 0))
		return draw_fail(draw, "the corner of the picture is not its background");
	/* the centre of gravity lies at 1/3 of the height, between two pixels */
	if (!draw_near(draw_at(draw, SIDE / 2, 162), middle, 3))
		return draw_fail(draw, "the middle of the triangle is not the average color");
	/* half of a base of 204.8 by 204.8, give or take its edges */
	if (covered < 20971 - 2 * SIDE || covered > 20971 + 2 * SIDE)
		return draw_fail(draw, "%zu pixels are covered, expected about 20971", covered);
	return 0;
}

static int run(struct draw *draw)
{
	static const struct simple_vertex corners[3] = {
		{ { -0.8f, -0.8f, 0, 1 }, { 1, 0, 0, 1 } },
		{ { 0.8f, -0.8f, 0, 1 }, { 0, 1, 0, 1 } },
		{ { 0, 0.8f, 0, 1 }, { 0, 0, 1, 1 } },
	};
	struct tsr_image *image =
		draw_target(draw, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, SIDE, 1);
	const struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR,
			       .clear.f = { 0.2f, 0.2f, 0.2f, 1 } },
	};
	struct tsr_gfx_pass *pass = draw_begin(draw, &info);
	struct simple simple;

	simple_init(draw, &simple, DRAW_PROGRAM(draw, color));
	simple_draw(draw, pass, draw_pipeline(draw, &simple.info), corners, 3);
	if (draw->error[0] || draw_finish(draw, pass) || draw_picture(draw, image))
		return -1;
	return check(draw);
}

const struct draw_kind draw_triangle = { "triangle", "a triangle, a color at each corner", run };
