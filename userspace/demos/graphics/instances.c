// SPDX-License-Identifier: MIT
/*
 * 10 000 cubes in one draw: the matrix of each comes from a buffer that moves on with the instance.
 * Checked: a hundred of them, from number 37 on, are those that a hundred draws of one instance
 * make.
 */
#include <stdlib.h>
#include <string.h>

#include "draw.h"

#define WIDTH	480
#define HEIGHT	360
#define COUNT	10000

DRAW_SHADER(instances_position);
DRAW_SHADER(instances_varying);
DRAW_SHADER(instances);

static struct tsr_gfx_pipeline *pipeline(struct draw *draw)
{
	static const struct tsr_gfx_attribute attributes[] = {
		{ .format = TSR_PIXEL_FORMAT_RGB32F },
		{ .format = TSR_PIXEL_FORMAT_RGB32F, .offset = 12 },
		{ .buffer = 1, .format = TSR_PIXEL_FORMAT_RGBA32F },
		{ .buffer = 1, .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 16 },
		{ .buffer = 1, .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 32 },
		{ .buffer = 1, .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 48 },
	};
	static const struct tsr_gfx_vertex_buffer buffers[] = {
		{ .stride = 4 * CUBE_FLOATS }, { .stride = sizeof(struct matrix), .divisor = 1 },
	};
	static const struct tsr_gfx_varying varying = {
		.format = TSR_PIXEL_FORMAT_RGB32F, .output = 1,
	};
	static const struct tsr_gfx_blend blend = { .mask = 0xf,
						    .registers = TSR_REGISTER_TYPE_F32 };
	const struct tsr_gfx_pipeline_info info = {
		.vertex = DRAW_PROGRAM(draw, instances_position),
		.varying = DRAW_PROGRAM(draw, instances_varying),
		.fragment = DRAW_PROGRAM(draw, instances),
		.attributes = attributes, .attribute_count = 6, .buffers = buffers,
		.buffer_count = 2, .varyings = &varying, .varying_count = 1,
		.topology = TSR_TOPOLOGY_TRIANGLES, .raster = TSR_GFX_RASTER_CULL_BACK,
		.depth = { .test = true, .write = true, .function = TSR_COMPARE_FUNCTION_LESS },
		.blends = &blend, .blend_count = 1,
	};

	return draw_pipeline(draw, &info);
}

struct scene {
	struct tsr_gfx_pipeline *pipeline;
	uint64_t vertices, indices, matrices;
};

static void set_up(struct draw *draw, struct scene *s)
{
	struct matrix *m = malloc(COUNT * sizeof(*m));
	float vertices[24 * CUBE_FLOATS];
	uint16_t indices[36];

	for (int n = 0; m && n < COUNT; n++)
		m[n] = matrix_multiply(
			matrix_move(-0.96f + 0.08f * (float)(n % 25),
				    -0.95f + 0.1f * (float)(n / 25 % 20),
				    -0.95f + 0.1f * (float)(n / 500)),
			matrix_multiply(matrix_turn(0.1f * (float)n, 1),
					matrix_scale(0.025f, 0.025f, 0.025f)));
	cube_mesh(vertices, indices);
	s->pipeline = pipeline(draw);
	s->vertices = draw_data(draw, vertices, sizeof(vertices));
	s->indices = draw_data(draw, indices, sizeof(indices));
	s->matrices = m ? draw_data(draw, m, COUNT * sizeof(*m)) : 0;
	if (!m)
		draw_fail(draw, "no memory for %d matrices", COUNT);
	free(m);
}

/* @draws draws of @instances each, from @first on. */
static struct tsr_image *some(struct draw *draw, const struct scene *s, uint32_t first,
				  uint32_t instances, uint32_t draws)
{
	const float eye[3] = { 1.4f, 1.2f, 2.9f };
	const struct matrix view = matrix_camera(eye, (float[3]){ 0 }, (float)WIDTH / HEIGHT);
	struct tsr_image *image =
		draw_target(draw, TSR_PIXEL_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, 1);
	const struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR,
			      .clear.f = { 0, 0, 0, 1 } },
		.depth = { .format = TSR_PIXEL_FORMAT_R32F, .load = TSR_GFX_LOAD_CLEAR,
			   .clear.f[0] = 1 },
	};
	struct tsr_gfx_pass *pass = draw_begin(draw, &info);
	struct tsr_gfx_draw cubes = { .count = 36, .instances = instances };

	if (!pass)
		return NULL;
	tsr_gfx_set_pipeline(pass, s->pipeline);
	tsr_gfx_set_vertices(pass, 0, s->vertices, 24 * CUBE_FLOATS * 4);
	tsr_gfx_set_vertices(pass, 1, s->matrices, COUNT * sizeof(struct matrix));
	tsr_gfx_set_indices(pass, TSR_INDEX_TYPE_U16, s->indices, 72);
	tsr_gfx_set_push(pass, TSR_GFX_STAGE_VERTEX, 0, 16, view.m);
	for (uint32_t i = 0; i < draws; i++) {
		cubes.first_instance = first + i * instances;
		draw_library(draw, tsr_gfx_draw_indexed(pass, &cubes));
	}
	if (!draw->error[0])
		draw_finish(draw, pass);
	return image;
}

static int run(struct draw *draw)
{
	struct tsr_image *together, *apart, *all;
	uint8_t *texels = malloc(8 * WIDTH * HEIGHT);
	struct scene scene = { 0 };
	int ret = -1;

	if (!texels)
		return draw_fail(draw, "no memory for two pictures");
	set_up(draw, &scene);
	together = some(draw, &scene, 37, 100, 1);
	apart = some(draw, &scene, 37, 1, 100);
	all = some(draw, &scene, 0, COUNT, 1);
	if (!draw->error[0] && !draw_read(draw, together, texels) &&
	    !draw_read(draw, apart, texels + 4 * WIDTH * HEIGHT))
		ret = draw_picture(draw, all);
	if (!ret && memcmp(texels, texels + 4 * WIDTH * HEIGHT, 4 * WIDTH * HEIGHT))
		ret = draw_fail(draw, "instances 37 to 136 are not the same one by one");
	if (!ret && draw_near(draw_at(draw, WIDTH / 2, HEIGHT / 2), draw_at(draw, 0, 0), 8))
		ret = draw_fail(draw, "there is nothing in the middle");
	free(texels);
	return ret;
}

const struct draw_kind draw_instances = { "instances", "10 000 cubes in one draw", run };
