// SPDX-License-Identifier: MIT
/* The Mandelbrot set in a fragment program. Checked against the CPU, which rounds otherwise. */
#include <math.h>

#include "simple.h"

#define SIDE	384

DRAW_SHADER(mandelbrot);

static void expect(uint32_t x, uint32_t y, uint8_t want[4])
{
	const double s = 3.0 / SIDE, cx = -2 + (x + 0.5) * s, cy = -1.5 + (y + 0.5) * s;
	double a = 0, b = 0, t;
	int i;

	for (i = 0; i < 256 && a * a + b * b <= 4; i++) {
		t = a * a - b * b + cx;
		b = 2 * a * b + cy;
		a = t;
	}
	want[0] = (uint8_t)(fmod(i / 16.0, 1) * 255 + 0.5);
	want[1] = (uint8_t)(fmod(i / 64.0, 1) * 255 + 0.5);
	want[2] = (uint8_t)(i / 256.0 * 255 + 0.5);
	want[3] = 255;
}

static int check(struct draw *draw)
{
	size_t wrong = 0;

	for (uint32_t y = 0; y < SIDE; y++)
		for (uint32_t x = 0; x < SIDE; x++) {
			uint8_t want[4];

			expect(x, y, want);
			wrong += !draw_near(draw_at(draw, x, y), want, 1);
		}
	/* along the edge a rounding changes the number of steps */
	if (wrong > SIDE * SIDE / 200)
		return draw_fail(draw, "%zu pixels are not the CPU's, expected at most %d", wrong,
				 SIDE * SIDE / 200);
	return 0;
}

static int run(struct draw *draw)
{
	static const struct simple_vertex corners[3] = {
		{ { -1, -1, 0, 1 }, { 0 } }, { { 3, -1, 0, 1 }, { 0 } }, { { -1, 3, 0, 1 }, { 0 } },
	};
	static const float words[4] = { 1, 0, 3.0f / SIDE, 0 };
	struct tsr_image *image =
		draw_target(draw, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, SIDE, 1);
	const struct tsr_gfx_pass_info info = { .color[0].image = image };
	struct tsr_gfx_pass *pass = draw_begin(draw, &info);
	struct simple simple;

	simple_init(draw, &simple, DRAW_PROGRAM(draw, mandelbrot));
	simple.info.varying_count = 0;
	simple.info.varying = NULL;
	if (!draw->error[0])
		tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 4, words);
	simple_draw(draw, pass, draw_pipeline(draw, &simple.info), corners, 3);
	if (draw->error[0] || draw_finish(draw, pass) || draw_picture(draw, image))
		return -1;
	return check(draw);
}

const struct draw_kind draw_mandelbrot = {
	"mandelbrot", "the Mandelbrot set, a pixel a fragment", run
};
