// SPDX-License-Identifier: MIT
/*
 * Shadows: first a picture of depth as the lamp sees it, then the scene, which looks up in that
 * picture what the lamp does not see. Checked: a point under the cube is darker than one beside
 * it, by as much as shadow.s says.
 */
#include <math.h>
#include <string.h>

#include "simple.h"

#define SIDE	384
#define MAP	256
#define CUBES	5
#define VERTICES (6 + 36 * CUBES)

DRAW_SHADER(shadow);
DRAW_SHADER(varying2);

struct vertex {
	float position[4], color[4], lamp[4];
};

static const float eye[3] = { 2.2f, 3.2f, 3.4f };

/* Where the lamp is: straight down would hide what there is to see. */
static struct matrix lamp_view(void)
{
	return matrix_multiply(matrix_multiply(matrix_move(0, 0, 0.5f), matrix_box(6, 12)),
			       matrix_multiply(matrix_turn(0.6f, 1), matrix_turn(1.1f, 0)));
}

static void put(struct vertex *v, const float p[3], const float color[3], float light)
{
	const struct matrix view = matrix_camera(eye, (float[3]){ 0, 0.2f, 0 }, 1);
	const struct matrix lamp = lamp_view();
	float at[4];

	matrix_apply(&view, p, v->position);
	matrix_apply(&lamp, p, at);
	/* the map's row 0 is y = -1 */
	v->lamp[0] = 0.5f + 0.5f * at[0];
	v->lamp[1] = 0.5f + 0.5f * at[1];
	v->lamp[2] = at[2] - 0.004f;
	v->lamp[3] = 1;
	for (int c = 0; c < 3; c++)
		v->color[c] = color[c] * light;
	v->color[3] = 1;
}

/* The floor, then the cubes; @lit: as the lamp sees it, else as the eye does. */
static void scene(struct vertex *v)
{
	static const float corner[6][2] = { { -1, -1 }, { -1, 1 }, { 1, 1 }, { -1, -1 }, { 1, 1 },
					    { 1, -1 } };
	static const float floor_color[3] = { 0.8f, 0.8f, 0.75f };
	static const float cube_color[3] = { 1, 0.45f, 0.2f };
	float mesh[24 * CUBE_FLOATS];
	uint16_t indices[36];

	for (int i = 0; i < 6; i++, v++)
		put(v, (float[3]){ 2 * corner[i][0], 0, 2 * corner[i][1] }, floor_color, 1);
	cube_mesh(mesh, indices);
	for (int n = 0; n < CUBES; n++) {
		const float turn = 1.2566371f * (float)n, far = n ? 1.2f : 0;
		const struct matrix m = matrix_multiply(
			matrix_move(far * cosf(turn), n ? 0.3f : 0.9f, far * sinf(turn)),
			matrix_multiply(matrix_turn(turn, 1), matrix_scale(0.25f, 0.25f, 0.25f)));

		for (int i = 0; i < 36; i++, v++) {
			const float *from = mesh + CUBE_FLOATS * indices[i];
			float p[4];

			matrix_apply(&m, from, p);
			put(v, p, cube_color, from[4] > 0 ? 1 : from[3] ? 0.7f : 0.5f);
		}
	}
}

/* Positions for the lamp in the place of those for the eye. */
static void for_lamp(const struct vertex *v, struct simple_vertex *to)
{
	for (int i = 0; i < VERTICES; i++)
		to[i] = (struct simple_vertex) {
			.position = { 2 * v[i].lamp[0] - 1, 2 * v[i].lamp[1] - 1,
				      v[i].lamp[2] + 0.004f, 1 },
		};
}

static void draw_map(struct draw *draw, struct tsr_image *map, const struct vertex *vertices)
{
	static const struct tsr_gfx_viewport whole = { 0, 0, MAP, MAP, 0, 1 };
	const struct tsr_gfx_pass_info info = {
		.depth = { .image = map, .load = TSR_GFX_LOAD_CLEAR, .clear.f[0] = 1 },
	};
	struct tsr_gfx_pass *pass = draw_begin(draw, &info);
	struct simple_vertex lamp[VERTICES];
	struct simple simple;

	if (!pass)
		return;
	tsr_gfx_set_viewport(pass, 0, &whole);
	simple_init(draw, &simple, NULL);
	simple.info.varying_count = simple.info.blend_count = 0;
	simple.info.varying = NULL;
	simple.info.depth = (struct tsr_gfx_depth) {
		.test = true, .write = true, .function = TSR_COMPARE_FUNCTION_LESS,
	};
	for_lamp(vertices, lamp);
	simple_draw(draw, pass, draw_pipeline(draw, &simple.info), lamp, VERTICES);
	if (!draw->error[0])
		draw_finish(draw, pass);
}

static struct tsr_gfx_pipeline *pipeline(struct draw *draw)
{
	struct simple simple;

	simple_init(draw, &simple, DRAW_PROGRAM(draw, shadow));
	simple.info.varying = DRAW_PROGRAM(draw, varying2);
	simple.buffers[0].stride = sizeof(struct vertex);
	simple.attributes[2] = (struct tsr_gfx_attribute) {
		.format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 32,
	};
	simple.varyings[1] = (struct tsr_gfx_varying) {
		.format = TSR_PIXEL_FORMAT_RGB32F, .output = 2, .input = 1,
	};
	simple.info.attribute_count = 3;
	simple.info.varying_count = 2;
	simple.info.depth = (struct tsr_gfx_depth) {
		.test = true, .write = true, .function = TSR_COMPARE_FUNCTION_LESS,
	};
	return draw_pipeline(draw, &simple.info);
}

static void draw_scene(struct draw *draw, struct tsr_gfx_pass *pass, struct tsr_image *map,
		       const struct vertex *vertices)
{
	const struct tsr_gfx_draw all = { .count = VERTICES };
	const struct tsr_view view = { .image = map };
	const uint64_t size = VERTICES * sizeof(*vertices);
	uint64_t va = draw_data(draw, vertices, size);
	struct tsr_gfx_pipeline *p = pipeline(draw);
	struct tsr_sampler_state sampler;
	const struct tsr_gfx_bindings_info bindings = {
		.textures = &view, .texture_count = 1, .samplers = &sampler, .sampler_count = 1,
	};

	tsr_sampler_init(&sampler, TSR_WRAP_MODE_CLAMP_TO_EDGE, true);
	/* the texel stands on the left: lit if what the lamp sees is not nearer */
	sampler.compare = TSR_COMPARE_FUNCTION_GEQUAL;
	if (draw->error[0])
		return;
	tsr_gfx_set_pipeline(pass, p);
	tsr_gfx_set_vertices(pass, 0, va, size);
	draw_library(draw, tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings,
						sizeof(bindings)));
	draw_library(draw, tsr_gfx_draw(pass, &all));
	if (!draw->error[0])
		draw_finish(draw, pass);
}

/* The pixel of a point of the floor. */
static const uint8_t *floor_at(const struct draw *draw, float x, float z)
{
	struct vertex v;

	put(&v, (float[3]){ x, 0, z }, (float[3]){ 0 }, 0);
	return draw_at(draw, (uint32_t)((v.position[0] / v.position[3] + 1) / 2 * SIDE),
		       (uint32_t)((1 - v.position[1] / v.position[3]) / 2 * SIDE));
}

static int check(struct draw *draw)
{
	const struct matrix lamp = lamp_view();
	/* along the floor, how far the light goes sideways for each unit down */
	const float dx = -lamp.m[2] * 6, dz = -lamp.m[10] * 6, dy = -lamp.m[6] * 6;
	const uint8_t *lit = floor_at(draw, -1.6f, 1.4f);
	const uint8_t *dark = floor_at(draw, 0.9f * -dx / dy, 0.9f * -dz / dy);
	const int want = (int)(0.375f * 204 + 0.5f);

	if (lit[0] < 202 || lit[0] > 206)
		return draw_fail(draw, "the floor in the light is %d, expected 204", lit[0]);
	if (dark[0] < want - 2 || dark[0] > want + 2)
		return draw_fail(draw, "the floor under the cube is %d, expected %d", dark[0],
				 want);
	return 0;
}

static int run(struct draw *draw)
{
	struct tsr_image *image =
		draw_target(draw, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, SIDE, 1);
	struct tsr_image *map = draw_target(draw, TSR_PIXEL_FORMAT_R32F, MAP, MAP, 1);
	const struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR,
			       .clear.f = { 0.25f, 0.3f, 0.4f, 1 } },
		.depth = { .format = TSR_PIXEL_FORMAT_R32F, .load = TSR_GFX_LOAD_CLEAR,
			   .clear.f[0] = 1 },
	};
	struct vertex vertices[VERTICES];

	scene(vertices);
	draw_map(draw, map, vertices);
	draw_scene(draw, draw_begin(draw, &info), map, vertices);
	if (draw->error[0] || draw_picture(draw, image))
		return -1;
	return check(draw);
}

const struct draw_kind draw_shadow = { "shadow", "cubes that throw shadows", run };
