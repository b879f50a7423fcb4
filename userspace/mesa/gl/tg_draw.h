/* SPDX-License-Identifier: MIT */
/* The parts of a draw. Each writes to the batch what has changed; false: there is no memory. */
#ifndef TG_DRAW_H
#define TG_DRAW_H

#include "tg_context.h"

struct tsr_stage_header;

/*
 * How instances are told apart: by a number of vertices of the form odd * 2^shift; padded 0: there
 * is one instance.
 */
struct tg_instancing {
	uint64_t padded;
	uint32_t odd, shift;
	uint32_t first;			/* instance */
};

/*
 * tg_instancing_choose(): a padded number for vertices whose numbers are below @vertices;
 * @n->first is kept. Returns false if there are too many instances of so many vertices.
 */
bool tg_instancing_choose(uint64_t vertices, uint32_t instances, struct tg_instancing *n);

/* DRAW_STATE. @ends: primitives end at the viewport, as all do but points of OpenGL's. */
bool tg_fixed_write(struct tg_context *ctx, struct tg_batch *batch, bool ends);

/* The tables of attributes and of vertex outputs. */
bool tg_vertex_write(struct tg_context *ctx, struct tg_batch *batch,
		     const struct tg_instancing *instancing);

/* Programs and SHADER_STATE. */
bool tg_shader_write(struct tg_context *ctx, struct tg_batch *batch);

/*
 * tg_shader_can_push(): new push constants are all that the next draw needs of its shaders.
 * tg_shader_push(): write them, in place of programs and SHADER_STATE.
 */
bool tg_shader_can_push(const struct tg_context *ctx);
bool tg_shader_push(struct tg_context *ctx, struct tg_batch *batch);

/* tg_draw_prepare(): the variants of the shaders for such primitives. False: there are none. */
bool tg_draw_prepare(struct tg_context *ctx, enum mesa_prim mode);

/* tg_draw_values(): what the vertex shader is told of a draw: written anew if it has changed. */
void tg_draw_values(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
		    const struct pipe_draw_start_count_bias *draw, const struct tg_instancing *n);

/* tg_draw_list(): one draw of a topology that the device has. */
void tg_draw_list(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
		  const struct pipe_draw_start_count_bias *draw);

/* tg_polygon_unfilled(): whether polygons that are drawn may be drawn as lines or points. */
bool tg_polygon_unfilled(const struct pipe_rasterizer_state *rasterizer);

/* tg_polygon_draw(): a draw of polygons with such a rasterizer. */
void tg_polygon_draw(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
		     const struct pipe_draw_start_count_bias *draw);

/* tg_polygon_convert(): draw quads and polygons as triangles; false: they are none. */
bool tg_polygon_convert(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
			const struct pipe_draw_start_count_bias *draws, unsigned count);

/* tg_stream_draw(): store what is captured of a draw, and count its primitives. */
void tg_stream_draw(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
		    const struct pipe_draw_start_count_bias *draw);

/* tg_stream_shader_write(): programs and states of a draw that is captured. */
bool tg_stream_shader_write(struct tg_context *ctx, struct tg_batch *batch,
			    const struct tg_variant *variant);

/*
 * tg_stream_emit(): points without rasterization: a vertex shader for each vertex of the list at
 * ctx->stream_list.
 */
bool tg_stream_emit(struct tg_context *ctx, struct tg_batch *batch,
		    const struct tg_variant *variant, uint32_t count, uint32_t instances,
		    const struct tg_instancing *instancing);

/*
 * ---- Tessellation and geometry shaders (tg_stages.c)
 *
 * tg_stages_active(): there are such. tg_stages_last(): the variant whose outputs go to the
 * rasterizer. tg_stages_primitive(): what it gets of a draw of @mode.
 */
bool tg_stages_active(const struct tg_context *ctx);
const struct tg_variant *tg_stages_last(const struct tg_context *ctx);
enum mesa_prim tg_stages_primitive(const struct tg_context *ctx, enum mesa_prim mode);

/* tg_stages_update(): their variants for a draw of @mode; false: it cannot be drawn. */
bool tg_stages_update(struct tg_context *ctx, enum mesa_prim mode, bool points);

/* tg_stages_write(): their programs and GEOMETRY_STATE. */
bool tg_stages_write(struct tg_context *ctx, struct tg_batch *batch, uint64_t *va);

/* tg_stages_header(): the words that a stage reads and writes. */
void tg_stages_header(const struct tg_variant *variant, struct tsr_stage_header *header);

/* tg_stages_patch_vertices(): gl_PatchVerticesIn of a stage. */
uint32_t tg_stages_patch_vertices(const struct tg_context *ctx, const struct tg_stage *stage);

/*
 * tg_stages_capture(): what they leave is captured. tg_stages_count(): draws of the batch from now
 * on are, and their primitives are counted; returns where, NULL: no memory. tg_stages_counted():
 * submit the batch, wait, and take what was counted.
 */
bool tg_stages_capture(const struct tg_context *ctx);
struct tg_bo *tg_stages_count(struct tg_context *ctx, struct tg_batch *batch);
void tg_stages_counted(struct tg_context *ctx, struct tg_bo *bo);

/* tg_stream_wait(): the context's batch begins when nothing uses what is captured into. */
void tg_stream_wait(struct tg_context *ctx);

/* tg_stage_write(): constants, textures and samplers of a stage with its variant. */
bool tg_stage_write(struct tg_context *ctx, struct tg_batch *batch, enum pipe_shader_type type);

/*
 * tg_program_fill(): what SHADER_PROGRAM and COMPUTE_STATE have in common, for code that begins at
 * @entry.
 */
bool tg_program_fill(struct tg_context *ctx, struct tg_batch *batch, const struct tg_stage *stage,
		     uint32_t entry, unsigned registers, struct tsr_shader_program *program);

/* tg_image_write(): a stage's images as attributes, and two entries of buffers each. */
void tg_image_write(struct tg_batch *batch, const struct tg_stage *stage, uint64_t *attributes,
		    uint64_t *buffers);

/* System values: a storage buffer's address and size; the size of an image. */
void tg_buffer_value(struct tg_batch *batch, const struct tg_stage *stage, unsigned index,
		     uint32_t *out);
void tg_image_size(const struct tg_stage *stage, const struct tg_sysval *sysval, uint32_t *out);

/*
 * The place of a fragment shader's input in a vertex's outputs; a place after all of them if there
 * is none.
 */
uint32_t tg_output_offset(const struct tg_variant *vs, gl_varying_slot location);

/* How a fragment shader's input of @format is in memory. */
enum pipe_format tg_output_format(const struct tg_variant *last, enum pipe_format format);

/* Bytes of a vertex's outputs, of which @fs may read. */
uint32_t tg_output_stride(const struct tg_variant *vs, const struct tg_variant *fs);

#endif
