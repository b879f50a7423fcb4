// SPDX-License-Identifier: MIT
/*
 * A star with an outline: the star marks the stencil, then a larger one is drawn where there is no
 * mark. Checked: all of the star is there, and around it is outline.
 */
#include <math.h>

#include "simple.h"

#define SIDE	256
#define SPIKES	5

DRAW_SHADER(color);

static const uint8_t inner[4] = { 51, 153, 255, 255 }, outer[4] = { 255, 255, 255, 255 };

static void star(struct simple_vertex *v, float size, const uint8_t color[4])
{
	for (int i = 0; i < 2 * SPIKES; i++)
		for (int k = 0; k < 3; k++, v++) {
			float turn = ((float)(i + k - 1) + 0.5f) * 3.14159265f / SPIKES;
			float far = !k ? 0 : (i + k) % 2 ? 0.4f : 0.8f;

			*v = (struct simple_vertex) {
				{ size * far * cosf(turn), size * far * sinf(turn), 0, 1 },
				{ (float)color[0] / 255, (float)color[1] / 255,
				  (float)color[2] / 255, 1 },
			};
		}
}

/* Two pipelines: one that marks, one that draws where no mark is. */
static void pipelines(struct draw *draw, struct tsr_gfx_pipeline *p[2])
{
	struct tsr_gfx_stencil side = {
		.function = TSR_COMPARE_FUNCTION_ALWAYS, .pass = TSR_STENCIL_OP_REPLACE,
		.read_mask = 0xff, .write_mask = 0xff,
	};
	struct simple simple;

	simple_init(draw, &simple, DRAW_PROGRAM(draw, color));
	for (int i = 0; i < 2; i++) {
		simple.info.depth = (struct tsr_gfx_depth) {
			.stencil = true, .front = side, .back = side,
		};
		p[i] = draw_pipeline(draw, &simple.info);
		side.function = TSR_COMPARE_FUNCTION_NOT_EQUAL;
		side.pass = TSR_STENCIL_OP_KEEP;
	}
}

static int check(struct draw *draw)
{
	size_t count[2] = { 0, 0 };

	for (uint32_t y = 0; y < SIDE; y++)
		for (uint32_t x = 0; x < SIDE; x++) {
			count[0] += draw_near(draw_at(draw, x, y), inner, 0);
			count[1] += draw_near(draw_at(draw, x, y), outer, 0);
		}
	/*
	 * ten triangles of 0.4 * 0.8 * sin(36 degrees) / 2, in pixels; the outline 1.2^2 as large
	 */
	if (count[0] < 15100 || count[0] > 15700)
		return draw_fail(draw, "the star has %zu pixels, expected about 15400", count[0]);
	if (count[1] < 6500 || count[1] > 7100)
		return draw_fail(draw, "the outline has %zu pixels, expected about 6780", count[1]);
	return 0;
}

static int run(struct draw *draw)
{
	struct tsr_image *image =
		draw_target(draw, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, SIDE, 1);
	const struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR,
			      .clear.f = { 0, 0, 0, 1 } },
		/* nobody wants it behind the pass: it needs no memory */
		.stencil = { .format = TSR_PIXEL_FORMAT_S8, .load = TSR_GFX_LOAD_CLEAR },
	};
	struct simple_vertex vertices[6 * SPIKES];
	struct tsr_gfx_pass *pass = draw_begin(draw, &info);
	struct tsr_gfx_pipeline *p[2];

	pipelines(draw, p);
	if (!draw->error[0])
		tsr_gfx_set_stencil_reference(pass, 1, 1);
	star(vertices, 1, inner);
	simple_draw(draw, pass, p[0], vertices, 6 * SPIKES);
	star(vertices, 1.2f, outer);
	simple_draw(draw, pass, p[1], vertices, 6 * SPIKES);
	if (draw->error[0] || draw_finish(draw, pass) || draw_picture(draw, image))
		return -1;
	return check(draw);
}

const struct draw_kind draw_stencil = { "stencil", "an outline by the stencil buffer", run };
