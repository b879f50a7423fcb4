// SPDX-License-Identifier: MIT
/* Triangles the CPU has placed, see simple.h. */
#include "simple.h"

DRAW_SHADER(position);
DRAW_SHADER(varying);

void simple_init(struct draw *draw, struct simple *s, struct tsr_shader *fragment)
{
	*s = (struct simple) {
		.attributes = {
			{ .format = TSR_PIXEL_FORMAT_RGBA32F },
			{ .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 16 },
		},
		.buffers = { { .stride = sizeof(struct simple_vertex) } },
		.varyings = { { .format = TSR_PIXEL_FORMAT_RGBA32F, .output = 1 } },
		.blend = { .mask = 0xf, .registers = TSR_REGISTER_TYPE_F32 },
	};
	s->info = (struct tsr_gfx_pipeline_info) {
		.vertex = DRAW_PROGRAM(draw, position), .varying = DRAW_PROGRAM(draw, varying),
		.fragment = fragment, .attributes = s->attributes, .attribute_count = 2,
		.buffers = s->buffers, .buffer_count = 1,
		.varyings = s->varyings, .varying_count = 1,
		.topology = TSR_TOPOLOGY_TRIANGLES, .blends = &s->blend, .blend_count = 1,
	};
}

void simple_draw(struct draw *draw, struct tsr_gfx_pass *pass, struct tsr_gfx_pipeline *pipeline,
		 const struct simple_vertex *vertices, uint32_t count)
{
	const uint64_t size = count * sizeof(*vertices);
	const struct tsr_gfx_draw all = { .count = count };
	uint64_t va = draw_data(draw, vertices, size);

	if (!va || !pass || !pipeline)
		return;
	tsr_gfx_set_pipeline(pass, pipeline);
	tsr_gfx_set_vertices(pass, 0, va, size);
	draw_library(draw, tsr_gfx_draw(pass, &all));
}
