// SPDX-License-Identifier: MIT
/*
 * Sparks: textured squares that are blended by alpha. The check compares a single square over the
 * background with the texture, pixel by pixel.
 */
#include <math.h>
#include <string.h>

#include "simple.h"

#define SIDE	384
#define COUNT	2000
#define DISC	32			/* texels of the texture's side */

DRAW_SHADER(texture);

/* A soft disc. */
static void disc(uint8_t *texels)
{
	for (int y = 0; y < DISC; y++)
		for (int x = 0; x < DISC; x++, texels += 4) {
			float dx = ((float)x + 0.5f) / (DISC / 2) - 1;
			float dy = ((float)y + 0.5f) / (DISC / 2) - 1;
			float a = 1 - sqrtf(dx * dx + dy * dy);

			a = a > 0 ? a : 0;
			texels[0] = 255;
			texels[1] = (uint8_t)(80 + 160 * a);
			texels[2] = (uint8_t)(40 * a);
			texels[3] = (uint8_t)(255 * a * a);
		}
}

static void square(struct simple_vertex *v, float x, float y, float half)
{
	static const float corner[6][2] = {
		{ 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 0 }, { 1, 1 }, { 0, 1 },
	};

	for (int i = 0; i < 6; i++)
		v[i] = (struct simple_vertex) {
			{ x + half * (2 * corner[i][0] - 1), y + half * (2 * corner[i][1] - 1), 0,
			  1 },
			{ corner[i][0], 1 - corner[i][1] },
		};
}

/* A fountain; number 0 lies alone in the upper left corner, texel on pixel. */
static void fountain(struct simple_vertex *v)
{
	uint32_t random = 1;

	square(v, -1 + 40.0f / SIDE, 1 - 40.0f / SIDE, (float)DISC / SIDE);
	for (int i = 1; i < COUNT; i++) {
		float t = (float)i / COUNT * 1.6f, u, w;

		random = random * 1664525 + 1013904223;
		u = (float)(random >> 8) / (1 << 24) - 0.5f;
		random = random * 1664525 + 1013904223;
		w = (float)(random >> 8) / (1 << 24);
		square(v + 6 * i, u * t * 0.8f, -0.9f + (1.6f + 0.5f * w) * t - 1.2f * t * t,
		       0.02f + 0.03f * w);
	}
}

static int check(struct draw *draw, const uint8_t *texels)
{
	static const int back[3] = { 0, 13, 38 };

	for (uint32_t y = 0; y < DISC; y++)
		for (uint32_t x = 0; x < DISC; x++) {
			const uint8_t *t = texels + 4 * (y * DISC + x);
			const uint8_t *p = draw_at(draw, x + 4, y + 4);

			for (int c = 0; c < 3; c++) {
				int want = (t[c] * t[3] + back[c] * (255 - t[3]) + 127) / 255;

				if (p[c] > want + 1 || p[c] < want - 1)
					return draw_fail(draw, "pixel %u, %u, component %d: %d, "
							 "expected %d", x, y, c, p[c], want);
			}
		}
	return 0;
}

static void draw_all(struct draw *draw, struct tsr_gfx_pass *pass, struct tsr_image *texture,
		     const struct simple_vertex *vertices)
{
	const struct tsr_view view = { .image = texture };
	struct tsr_sampler_state sampler;
	const struct tsr_gfx_bindings_info bindings = {
		.textures = &view, .texture_count = 1, .samplers = &sampler, .sampler_count = 1,
	};
	struct simple simple;

	simple_init(draw, &simple, DRAW_PROGRAM(draw, texture));
	simple.info.fragment_flags = TSR_GFX_FRAGMENT_HELPERS;
	simple.varyings[0].format = TSR_PIXEL_FORMAT_RG32F;
	simple.blend = (struct tsr_gfx_blend) {
		.enable = true, .mask = 0xf, .registers = TSR_REGISTER_TYPE_F16,
		.src_color = TSR_BLEND_FACTOR_SRC_ALPHA,
		.dst_color = TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
		.src_alpha = TSR_BLEND_FACTOR_ZERO, .dst_alpha = TSR_BLEND_FACTOR_ONE,
	};
	tsr_sampler_init(&sampler, TSR_WRAP_MODE_CLAMP_TO_EDGE, true);
	if (!draw->error[0])
		draw_library(draw, tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings,
							sizeof(bindings)));
	simple_draw(draw, pass, draw_pipeline(draw, &simple.info), vertices, 6 * COUNT);
}

static int run(struct draw *draw)
{
	static struct simple_vertex vertices[6 * COUNT];
	struct tsr_image *image =
		draw_target(draw, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, SIDE, 1);
	struct tsr_image *texture =
		draw_target(draw, TSR_PIXEL_FORMAT_RGBA8_UNORM, DISC, DISC, 1);
	const struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR,
			       .clear.f = { 0, 0.05f, 0.15f, 1 } },
	};
	struct tsr_gfx_pass *pass = draw_begin(draw, &info);
	uint8_t texels[4 * DISC * DISC];

	disc(texels);
	fountain(vertices);
	if (draw->error[0] ||
	    draw_library(draw, tsr_image_write(texture, 0, 0, texels, 4 * DISC)))
		return -1;
	draw_all(draw, pass, texture, vertices);
	if (draw->error[0] || draw_finish(draw, pass) || draw_picture(draw, image))
		return -1;
	return check(draw, texels);
}

const struct draw_kind draw_particles = { "particles", "2000 sparks, blended by alpha", run };
