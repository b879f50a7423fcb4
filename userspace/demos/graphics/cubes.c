// SPDX-License-Identifier: MIT
/*
 * 1000 cubes, each a draw, with a texture, in the light of a lamp. Checked: front to back and
 * back to front give the same picture, bit for bit: depth decides.
 */
#include <stdlib.h>
#include <string.h>

#include "cubes.h"

#define WIDTH	480
#define HEIGHT	360
#define SIDE	64			/* of the texture */
#define LEVELS	7

DRAW_SHADER(cubes_position);
DRAW_SHADER(cubes_varying);
DRAW_SHADER(cubes);

static const float eye[3] = { 1.9f, 1.5f, 2.4f };

/* Bricks, and each smaller level from the one before. */
static struct tsr_image *bricks(struct draw *draw)
{
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .layout = TSR_LAYOUT_TILED,
		.width = SIDE, .height = SIDE, .levels = LEVELS,
	};
	struct tsr_image *image = draw_image(draw, &info);
	uint8_t t[4 * SIDE * SIDE], *p = t;

	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++, p += 4) {
			bool seam = y % 16 < 2 || (x + y / 16 % 2 * 16) % 32 < 2;

			p[0] = seam ? 200 : (uint8_t)(170 + (x * 7 + y * 13) % 40);
			p[1] = seam ? 200 : (uint8_t)(70 + (x * 5 + y * 3) % 30);
			p[2] = seam ? 190 : 50;
			p[3] = 255;
		}
	for (uint32_t level = 0, side = SIDE; image && level < LEVELS; level++, side /= 2) {
		draw_library(draw, tsr_image_write(image, level, 0, t, 4 * side));
		for (uint32_t i = 0; i < side * side / 4; i++)
			for (uint32_t c = 0; c < 4; c++) {
				const uint8_t *from = t + 8 * (i % (side / 2)) +
						      8 * side * (i / (side / 2)) + c;

				t[4 * i + c] = (uint8_t)((from[0] + from[4] + from[4 * side] +
							  from[4 * side + 4] + 2) / 4);
			}
	}
	return image;
}

static struct tsr_gfx_pipeline *pipeline(struct draw *draw)
{
	static const struct tsr_gfx_attribute attributes[] = {
		{ .format = TSR_PIXEL_FORMAT_RGB32F },
		{ .format = TSR_PIXEL_FORMAT_RGB32F, .offset = 12 },
		{ .format = TSR_PIXEL_FORMAT_RG32F, .offset = 24 },
	};
	static const struct tsr_gfx_vertex_buffer buffer = { .stride = 4 * CUBE_FLOATS };
	static const struct tsr_gfx_varying varyings[] = {
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .output = 1, .input = 0 },
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .output = 2, .input = 1 },
	};
	static const struct tsr_gfx_blend blend = { .mask = 0xf,
						    .registers = TSR_REGISTER_TYPE_F32 };
	const struct tsr_gfx_pipeline_info info = {
		.vertex = DRAW_PROGRAM(draw, cubes_position),
		.varying = DRAW_PROGRAM(draw, cubes_varying), .fragment = DRAW_PROGRAM(draw, cubes),
		.fragment_flags = TSR_GFX_FRAGMENT_HELPERS,
		.attributes = attributes, .attribute_count = 3, .buffers = &buffer,
		.buffer_count = 1, .varyings = varyings, .varying_count = 2,
		.topology = TSR_TOPOLOGY_TRIANGLES, .raster = TSR_GFX_RASTER_CULL_BACK,
		.depth = { .test = true, .write = true, .function = TSR_COMPARE_FUNCTION_LESS },
		.blends = &blend, .blend_count = 1,
	};

	return draw_pipeline(draw, &info);
}

static void bind(struct draw *draw, struct tsr_gfx_pass *pass, struct tsr_image *texture)
{
	const struct tsr_view view = { .image = texture };
	struct tsr_sampler_state sampler;
	const struct tsr_gfx_bindings_info bindings = {
		.textures = &view, .texture_count = 1, .samplers = &sampler, .sampler_count = 1,
	};
	const float words[6] = { eye[0], eye[1], eye[2], 0.379f, 0.758f, 0.531f };

	tsr_sampler_init(&sampler, TSR_WRAP_MODE_REPEAT, true);
	sampler.mipmap = TSR_MIPMAP_MODE_LINEAR;
	sampler.max_lod = (LEVELS - 1) << 8;
	tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 6, words);
	draw_library(draw, tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings,
						sizeof(bindings)));
}

/* Draw cube @n, which stands in a lattice and is turned. */
static void cube(struct draw *draw, struct tsr_gfx_pass *pass, unsigned int n)
{
	const struct tsr_gfx_draw all = { .count = 36 };
	const struct matrix m = matrix_multiply(
		matrix_move(-0.9f + 0.2f * (float)(n % 10), -0.9f + 0.2f * (float)(n / 10 % 10),
			    -0.9f + 0.2f * (float)(n / 100)),
		matrix_multiply(matrix_turn(0.1f * (float)n, 1),
				matrix_scale(0.07f, 0.07f, 0.07f)));

	tsr_gfx_set_push(pass, TSR_GFX_STAGE_VERTEX, 16, 16, m.m);
	tsr_gfx_set_push(pass, TSR_GFX_STAGE_VERTEX, 32, 16, m.m);
	draw_library(draw, tsr_gfx_draw_indexed(pass, &all));
}

int cubes_prepare(struct draw *draw, struct cubes *cubes)
{
	float vertices[24 * CUBE_FLOATS];
	uint16_t indices[36];

	cube_mesh(vertices, indices);
	cubes->texture = bricks(draw);
	cubes->pipeline = pipeline(draw);
	cubes->vertices = draw_data(draw, vertices, sizeof(vertices));
	cubes->indices = draw_data(draw, indices, sizeof(indices));
	return draw->error[0] ? -1 : 0;
}

int cubes_record(struct draw *draw, const struct cubes *cubes, struct tsr_gfx_pass *pass,
		 float aspect, float turn, bool reverse)
{
	const struct matrix view = matrix_multiply(matrix_camera(eye, (float[3]){ 0 }, aspect),
						   matrix_turn(turn, 1));

	if (draw->error[0])
		return -1;
	tsr_gfx_set_pipeline(pass, cubes->pipeline);
	tsr_gfx_set_vertices(pass, 0, cubes->vertices, sizeof(float[24 * CUBE_FLOATS]));
	tsr_gfx_set_indices(pass, TSR_INDEX_TYPE_U16, cubes->indices, sizeof(uint16_t[36]));
	tsr_gfx_set_push(pass, TSR_GFX_STAGE_VERTEX, 0, 16, view.m);
	bind(draw, pass, cubes->texture);
	for (unsigned int n = 0; n < 1000; n++)
		cube(draw, pass, reverse ? 999 - n : n);
	return draw->error[0] ? -1 : 0;
}

static int run(struct draw *draw)
{
	struct tsr_image *image[2];
	struct cubes cubes;
	uint8_t *texels = malloc(4 * WIDTH * HEIGHT);
	int ret = texels ? 0 : draw_fail(draw, "no memory for a picture");

	if (!ret)
		ret = cubes_prepare(draw, &cubes);
	for (int i = 0; !ret && i < 2; i++) {
		struct tsr_gfx_pass *pass;
		const struct tsr_gfx_pass_info info = {
			.color[0] = { .load = TSR_GFX_LOAD_CLEAR, .clear.f = { 0.1f, 0.1f, 0.2f,
									       1 },
				       .image = image[i] = draw_target(draw,
					TSR_PIXEL_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, 1) },
			.depth = { .format = TSR_PIXEL_FORMAT_R32F, .load = TSR_GFX_LOAD_CLEAR,
				   .clear.f[0] = 1 },
		};

		pass = draw_begin(draw, &info);
		ret = cubes_record(draw, &cubes, pass, (float)WIDTH / HEIGHT, 0, i);
		if (!ret)
			ret = draw_finish(draw, pass);
	}
	if (!ret)
		ret = draw_picture(draw, image[0]);
	if (!ret)
		ret = draw_read(draw, image[1], texels);
	if (!ret && memcmp(texels, draw->picture.texels, 4 * WIDTH * HEIGHT))
		ret = draw_fail(draw, "the order of the cubes changes the picture");
	if (!ret && draw_near(draw_at(draw, WIDTH / 2, HEIGHT / 2), draw_at(draw, 0, 0), 8))
		ret = draw_fail(draw, "there is nothing in the middle");
	free(texels);
	return ret;
}

const struct draw_kind draw_cubes = { "cubes", "1000 textured cubes, lit, with depth", run };
