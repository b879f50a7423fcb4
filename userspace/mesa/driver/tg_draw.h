/* SPDX-License-Identifier: MIT */
/* The parts of a draw. Each writes to the batch what has changed; false: there is no memory. */
#ifndef TG_DRAW_H
#define TG_DRAW_H

#include "tg_context.h"

/* How instances are told apart: by a number of vertices of the form odd * 2^shift; padded 0: there is one instance. */
struct tg_instancing {
	uint64_t padded;
	uint32_t odd, shift;
	uint32_t first;			/* instance */
};

/* DRAW_STATE. @triangles: primitives end at the viewport. */
bool tg_fixed_write(struct tg_context *ctx, struct tg_batch *batch, bool triangles);

/* The tables of attributes and of vertex outputs. */
bool tg_vertex_write(struct tg_context *ctx, struct tg_batch *batch, const struct tg_instancing *instancing);

/* Programs and SHADER_STATE. */
bool tg_shader_write(struct tg_context *ctx, struct tg_batch *batch);

/* tg_stream_draw(): store what is captured of a draw, and count its primitives. */
void tg_stream_draw(struct tg_context *ctx, const struct pipe_draw_info *info,
		    const struct pipe_draw_start_count_bias *draw);

/* tg_stream_shader_write(): programs and states of a draw that is captured. */
bool tg_stream_shader_write(struct tg_context *ctx, struct tg_batch *batch, const struct tg_variant *variant);

/* The place of a fragment shader's input in a vertex's outputs; a place behind all of them if there is none. */
uint32_t tg_output_offset(const struct tg_variant *vs, gl_varying_slot location);

/* Bytes of a vertex's outputs. */
uint32_t tg_output_stride(const struct tg_variant *vs);

#endif
