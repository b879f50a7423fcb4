// SPDX-License-Identifier: MIT
/*
 * A floor that goes to the horizon, each level of its texture in a color of its own; left the
 * level follows the longer derivative, right up to 16 samples lie along it. Checked: at the
 * bottom both show level 0, further up there are smaller levels, and the right half's are never
 * smaller than the left's.
 */
#include <string.h>

#include "simple.h"

#define WIDTH	512
#define HEIGHT	256
#define TEXELS	256
#define LEVELS	9

DRAW_SHADER(texture);

static const uint8_t level_color[LEVELS][4] = {
	{ 255, 255, 255, 255 }, { 255, 64, 64, 255 }, { 64, 255, 64, 255 }, { 64, 64, 255, 255 },
	{ 255, 255, 64, 255 }, { 64, 255, 255, 255 }, { 255, 64, 255, 255 }, { 128, 128, 128, 255 },
	{ 32, 32, 32, 255 },
};

/* A level is one color; its alpha says which one it is. */
static struct tsr_image *chart(struct draw *draw)
{
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .layout = TSR_LAYOUT_TILED,
		.width = TEXELS, .height = TEXELS, .levels = LEVELS,
	};
	struct tsr_image *image = draw_image(draw, &info);
	static uint8_t texels[4 * TEXELS * TEXELS];

	for (uint32_t level = 0; image && level < LEVELS; level++) {
		for (size_t i = 0; i < TEXELS * TEXELS; i++) {
			memcpy(texels + 4 * i, level_color[level], 4);
			texels[4 * i + 3] = (uint8_t)(255 - 25 * level);
		}
		draw_library(draw, tsr_image_write(image, level, 0, texels, 4 * TEXELS));
	}
	return image;
}

static void half(struct draw *draw, struct tsr_gfx_pass *pass, struct tsr_gfx_pipeline *pipeline,
		 struct tsr_image *texture, bool anisotropic)
{
	/* from the eye's feet to far away: w is the distance */
	static const struct simple_vertex floor_vertices[6] = {
		{ { -1, -1, 0, 1 }, { 0, 0 } }, { { 1, -1, 0, 1 }, { 0.5f, 0 } },
		{ { 1, 30, 0, 32 }, { 0.5f, 16 } }, { { -1, -1, 0, 1 }, { 0, 0 } },
		{ { 1, 30, 0, 32 }, { 0.5f, 16 } }, { { -1, 30, 0, 32 }, { 0, 16 } },
	};
	const struct tsr_gfx_viewport view = {
		anisotropic ? WIDTH / 2 : 0, HEIGHT, WIDTH / 2, -HEIGHT, 0, 1,
	};
	const struct tsr_view whole = { .image = texture };
	struct tsr_sampler_state sampler;
	const struct tsr_gfx_bindings_info bindings = {
		.textures = &whole, .texture_count = 1, .samplers = &sampler, .sampler_count = 1,
	};

	tsr_sampler_init(&sampler, TSR_WRAP_MODE_REPEAT, true);
	sampler.mipmap = TSR_MIPMAP_MODE_LINEAR;
	sampler.max_lod = (LEVELS - 1) << 8;
	if (anisotropic) {
		sampler.lod_algorithm = TSR_LOD_ALGORITHM_ANISOTROPIC;
		sampler.anisotropy = 15;
	}
	if (draw->error[0])
		return;
	tsr_gfx_set_viewport(pass, 0, &view);
	draw_library(draw, tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings,
						sizeof(bindings)));
	simple_draw(draw, pass, pipeline, floor_vertices, 6);
}

static int check(struct draw *draw)
{
	int finer = 0;

	for (uint32_t y = 16; y < HEIGHT; y++) {
		const int left = draw_at(draw, WIDTH / 4, y)[3];
		const int right = draw_at(draw, 3 * WIDTH / 4, y)[3];

		if (right < left - 2)
			return draw_fail(draw, "row %u: alpha %d right, %d left", y, right, left);
		finer += right > left + 20;
	}
	if (!draw_near(draw_at(draw, WIDTH / 4, HEIGHT - 1), level_color[0], 60))
		return draw_fail(draw, "the floor does not begin with level 0");
	if (draw_at(draw, WIDTH / 4, 16)[3] > 200 || finer < 20)
		return draw_fail(draw, "%d rows are finer right, alpha far away is %d", finer,
				 draw_at(draw, WIDTH / 4, 16)[3]);
	return 0;
}

static int run(struct draw *draw)
{
	struct tsr_image *image =
		draw_target(draw, TSR_PIXEL_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, 1);
	const struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR,
			      .clear.f = { 0, 0, 0, 1 } },
	};
	struct tsr_gfx_pass *pass = draw_begin(draw, &info);
	struct tsr_image *texture = chart(draw);
	struct tsr_gfx_pipeline *pipeline;
	struct simple simple;
	uint32_t i;

	simple_init(draw, &simple, DRAW_PROGRAM(draw, texture));
	simple.info.fragment_flags = TSR_GFX_FRAGMENT_HELPERS;
	simple.varyings[0].format = TSR_PIXEL_FORMAT_RG32F;
	simple.blend.registers = TSR_REGISTER_TYPE_F16;
	pipeline = draw_pipeline(draw, &simple.info);
	half(draw, pass, pipeline, texture, false);
	half(draw, pass, pipeline, texture, true);
	if (draw->error[0] || draw_finish(draw, pass) || draw_picture(draw, image) || check(draw))
		return -1;
	for (i = 0; i < WIDTH * HEIGHT; i++)
		draw->picture.texels[4 * i + 3] = 255;
	return 0;
}

const struct draw_kind draw_mipmaps = { "mipmaps", "levels of a texture, without and with "
					"anisotropic samples", run };
