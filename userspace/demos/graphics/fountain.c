// SPDX-License-Identifier: MIT
/*
 * A fountain that the GPU moves by itself: a vertex shader makes of each spark what it is 1/64 of a
 * second later, which is streamed to memory; the next step, and at last the picture, draw whatever
 * is there by the counter beside it, of which the CPU knows nothing. A geometry shader makes
 * squares of sparks. Checked: the last sparks are those of the same steps on the CPU, bit for bit,
 * and each is in the picture.
 */
#include <math.h>
#include <string.h>

#include "draw.h"

#define SIDE	384
#define SPARKS	3000
#define STEPS	16

struct spark {
	float x, y, speed[2], color[4];
};

DRAW_SHADER(fountain_step);
DRAW_SHADER(fountain_place);
DRAW_SHADER(fountain_square);
DRAW_SHADER(color);

static const struct tsr_gfx_attribute attributes[] = {
	{ .format = TSR_PIXEL_FORMAT_RGBA32F },
	{ .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 16 },
};
static const struct tsr_gfx_vertex_buffer buffer = { .stride = sizeof(struct spark) };
/* Words of stage I/O memory: two vectors that are read, and two that are written. */
static const uint64_t in = 0xffull << 0x80 / 4, out = 0xffull << 0x70 / 4;

static struct tsr_gfx_pipeline *step_pipeline(struct draw *draw)
{
	static const struct tsr_gfx_streamed declaration[] = {
		{ .word = 0x70 / 4, .components = 4 },
		{ .word = 0x80 / 4, .components = 4, .offset = 16 },
	};
	const struct tsr_gfx_stages stages = {
		.vertex = { .reads[0] = in, .writes[0] = out }, .declaration = declaration,
		.declared = 2,
	};
	const struct tsr_gfx_pipeline_info info = {
		.vertex = DRAW_PROGRAM(draw, fountain_step), .attributes = attributes,
		.attribute_count = 2, .buffers = &buffer, .buffer_count = 1,
		.topology = TSR_TOPOLOGY_POINTS, .raster = TSR_GFX_RASTER_NONE, .stages = &stages,
	};

	return draw->error[0] ? NULL : draw_pipeline(draw, &info);
}

static struct tsr_gfx_pipeline *square_pipeline(struct draw *draw)
{
	static const struct tsr_gfx_varying varying = { .format = TSR_PIXEL_FORMAT_RGBA32F };
	static const struct tsr_gfx_blend blend = {
		.enable = true, .mask = 0xf, .registers = TSR_REGISTER_TYPE_F32,
		.src_color = TSR_BLEND_FACTOR_ONE, .dst_color = TSR_BLEND_FACTOR_ONE,
		.src_alpha = TSR_BLEND_FACTOR_ZERO, .dst_alpha = TSR_BLEND_FACTOR_ONE,
	};
	const struct tsr_gfx_stages stages = {
		.vertex = { .reads[0] = in, .writes[0] = out },
		.geometry = { .shader = DRAW_PROGRAM(draw, fountain_square), .reads[0] = out,
			      .writes[0] = out },
		.input = TSR_GEOMETRY_INPUT_POINTS, .output = TSR_GEOMETRY_OUTPUT_TRIANGLE_STRIP,
		.max_vertices = 4,
	};
	const struct tsr_gfx_pipeline_info info = {
		.vertex = DRAW_PROGRAM(draw, fountain_place), .fragment = DRAW_PROGRAM(draw, color),
		.attributes = attributes, .attribute_count = 2, .buffers = &buffer,
		.buffer_count = 1, .varyings = &varying, .varying_count = 1,
		.topology = TSR_TOPOLOGY_POINTS, .blends = &blend, .blend_count = 1,
		.stages = &stages,
	};

	return draw->error[0] ? NULL : draw_pipeline(draw, &info);
}

/* Where sparks are at first: they have left the nozzle one after the other. */
static void begin(struct spark *sparks)
{
	uint32_t random = 1;

	for (int i = 0; i < SPARKS; i++) {
		const float age = 1.6f * (float)i / SPARKS;
		float u, w;

		random = random * 1664525 + 1013904223;
		u = (float)(random >> 8) / (1 << 24) - 0.5f;
		random = random * 1664525 + 1013904223;
		w = (float)(random >> 8) / (1 << 24);
		sparks[i] = (struct spark){
			.x = 0.8f * u * age, .y = -0.9f + (2.1f + 0.4f * w - age) * age,
			.speed = { 0.8f * u, 2.1f + 0.4f * w - 2 * age },
			.color = { 0.35f, 0.05f + 0.15f * age, 0.3f * w, 1 },
		};
	}
}

static void step(struct spark *s)
{
	s->x = fmaf(s->speed[0], 1 / 64.0f, s->x);
	s->speed[1] -= 2 / 64.0f;
	s->y = fmaf(s->speed[1], 1 / 64.0f, s->y);
}

/* Memory: sparks twice, for what is read and what is written; a counter for each step. */
struct memory {
	struct spark sparks[2][SPARKS];
	uint64_t counter[STEPS];
};

static int record(struct draw *draw, struct tsr_gfx_pass *pass, uint64_t va, uint64_t first)
{
	struct tsr_gfx_pipeline *steps = step_pipeline(draw), *squares = square_pipeline(draw);
	const uint64_t counters = va + offsetof(struct memory, counter);
	const uint64_t size = SPARKS * sizeof(struct spark);
	const struct tsr_gfx_draw all = { .count = SPARKS };

	if (draw->error[0])
		return -1;
	tsr_gfx_set_pipeline(pass, steps);
	for (unsigned int i = 0; i < STEPS; i++) {
		const struct tsr_gfx_stream_target target = {
			.va = va + i % 2 * size, .size = size, .counter = counters + 8 * i,
			.stride = sizeof(struct spark),
		};

		tsr_gfx_set_stream_targets(pass, &target, 1);
		tsr_gfx_set_vertices(pass, 0, i ? va + (i - 1) % 2 * size : first, size);
		if (i)
			tsr_gfx_draw_auto(pass, counters + 8 * (i - 1), 0, sizeof(struct spark));
		else
			tsr_gfx_draw(pass, &all);
	}
	tsr_gfx_set_stream_targets(pass, NULL, 0);
	tsr_gfx_set_pipeline(pass, squares);
	tsr_gfx_set_vertices(pass, 0, va + (STEPS - 1) % 2 * size, size);
	return draw_library(draw, tsr_gfx_draw_auto(pass, counters + 8 * (STEPS - 1), 0,
						    sizeof(struct spark)));
}

static int check(struct draw *draw, const struct memory *memory, struct spark *sparks)
{
	for (int i = 0; i < SPARKS; i++) {
		const struct spark *s = &sparks[i];
		int x, y;

		for (int k = 0; k < STEPS; k++)
			step(&sparks[i]);
		if (memcmp(s, &memory->sparks[(STEPS - 1) % 2][i], sizeof(*s)))
			return draw_fail(draw, "spark %d is not where it should be", i);
		x = (int)((0.5f + 0.5f * s->x) * SIDE);
		y = (int)((0.5f - 0.5f * s->y) * SIDE);
		if (x >= 0 && x < SIDE && y >= 0 && y < SIDE &&
		    draw_at(draw, (uint32_t)x, (uint32_t)y)[0] < 85)
			return draw_fail(draw, "spark %d is not in the picture", i);
	}
	return 0;
}

static int run(struct draw *draw)
{
	struct tsr_image *image = draw_target(draw, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, SIDE, 1);
	const struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR,
			      .clear.f = { 0, 0.02f, 0.06f, 1 } },
	};
	struct tsr_gfx_pass *pass = draw_begin(draw, &info);
	static struct spark sparks[SPARKS];
	struct tsr_alloc memory = { 0 };
	uint64_t first;

	begin(sparks);
	first = draw_data(draw, sparks, sizeof(sparks));
	if (draw->error[0] ||
	    draw_library(draw, tsr_pool_alloc(draw->data, sizeof(struct memory), 64, &memory)))
		return -1;
	memset(memory.cpu, 0, sizeof(struct memory));
	if (record(draw, pass, memory.va, first) || draw_finish(draw, pass) ||
	    draw_picture(draw, image))
		return -1;
	return check(draw, memory.cpu, sparks);
}

const struct draw_kind draw_fountain = { "fountain", "3000 sparks that the GPU moves by itself",
					 run };
