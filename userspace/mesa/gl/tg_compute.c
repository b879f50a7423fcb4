/* SPDX-License-Identifier: MIT */
/* Compute shaders: a dispatch is a job of its own, after everything that was submitted before. */
#include "util/u_inlines.h"
#include "util/u_memory.h"

#include "tg_draw.h"
#include "tg_resource.h"
#include "tg_submit.h"

static void *create_compute_state(struct pipe_context *pipe, const struct pipe_compute_state *state)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_shader *shader = tg_shader_create(ctx->screen, (nir_shader *)state->prog);

	if (!shader)
		return NULL;
	shader->shared_memory = state->static_shared_mem;
	tg_program_find(ctx->screen, shader, &(struct tg_key){ .robust = ctx->robust });
	return shader;
}

static void bind_compute_state(struct pipe_context *pipe, void *state)
{
	struct tg_stage *stage = &tg_context(pipe)->stage[PIPE_SHADER_COMPUTE];

	stage->shader = state;
	stage->variant = NULL;
}

/*
 * Statistics count the threads that the driver starts. While a query is active, the numbers of an
 * indirect dispatch are therefore read; the device reads them in any case.
 */
static void count_threads(struct tg_context *ctx, const struct pipe_grid_info *info)
{
	struct tg_resource *r = tg_resource(info->indirect);
	uint32_t groups[3];

	if (ctx->queries_paused || list_is_empty(&ctx->statistics_queries))
		return;
	memcpy(groups, info->grid, sizeof(groups));
	if (r) {
		tg_bo_wait(r->bo, true);
		memcpy(groups, r->bo->map + r->offset + info->indirect_offset, sizeof(groups));
	}
	ctx->compute_invocations += (uint64_t)groups[0] * groups[1] * groups[2] * info->block[0] *
				    info->block[1] * info->block[2];
}

/* Where the numbers of groups are in memory. */
static bool place_groups(struct tg_context *ctx, struct tg_batch *b,
			 const struct pipe_grid_info *info)
{
	struct tg_resource *r = tg_resource(info->indirect);
	void *words;

	if (r) {
		ctx->groups_va = r->bo->va + r->offset + info->indirect_offset;
		tg_batch_use(b, r->bo, false);
		return true;
	}
	words = tg_batch_alloc(b, sizeof(info->grid), 16, &ctx->groups_va);
	if (words)
		memcpy(words, info->grid, sizeof(info->grid));
	return words;
}

static bool write_images(struct tg_batch *b, const struct tg_stage *stage,
			 struct tsr_compute_state *s)
{
	const unsigned count = stage->image_count;
	uint64_t *attributes, *buffers;

	if (!count)
		return true;
	attributes = tg_batch_alloc(b, count * 8, 64, &s->attributes);
	buffers = tg_batch_alloc(b, count * 32, 64, &s->attribute_buffers);
	if (!attributes || !buffers)
		return false;
	tg_image_write(b, stage, attributes, buffers);
	s->attribute_count = count;
	s->attribute_buffer_count = 2 * count;
	return true;
}

/* The stream; its address and size. */
static bool write_stream(struct tg_context *ctx, struct tg_batch *b,
			 const struct pipe_grid_info *info, uint64_t state, uint64_t *va,
			 uint32_t *size)
{
	const struct tsr_dispatch direct = { .state = state,
					     .groups_x = info->grid[0],
					     .groups_y = info->grid[1],
					     .groups_z = info->grid[2] };
	const struct tsr_dispatch_indirect indirect = { .state = state, .groups = ctx->groups_va };
	const uint32_t qwords =
		info->indirect ? TSR_DISPATCH_INDIRECT_QWORDS : TSR_DISPATCH_QWORDS;
	uint64_t *stream;

	*size = TG_STREAM_BYTES(qwords);
	stream = tg_batch_alloc(b, *size, 64, va);
	if (!stream)
		return false;
	stream = tg_stream_begin(b, TG_COMPUTE, stream);
	if (info->indirect)
		tsr_pack_dispatch_indirect(stream, &indirect);
	else
		tsr_pack_dispatch(stream, &direct);
	tg_stream_end(b, TG_COMPUTE, stream + qwords);
	return true;
}

/* COMPUTE_STATE and the stream; its address and size. */
static bool write_dispatch(struct tg_context *ctx, struct tg_batch *b,
			   const struct pipe_grid_info *info, uint64_t *va, uint32_t *size)
{
	struct tg_stage *stage = &ctx->stage[PIPE_SHADER_COMPUTE];
	const struct pan_shader_info *v = &stage->variant->info;
	struct tsr_shader_program p = { 0 };
	struct tsr_compute_state s = { .local_x = info->block[0],
				       .local_y = info->block[1],
				       .local_z = info->block[2] };
	uint64_t state, *words;

	stage->dirty = TG_DIRTY_STAGE_ALL;
	if (!place_groups(ctx, b, info) || !tg_stage_write(ctx, b, PIPE_SHADER_COMPUTE) ||
	    !write_images(b, stage, &s) ||
	    !tg_program_fill(ctx, b, stage, 0, v->work_reg_count, &p))
		return false;
	s.code = p.code;
	s.registers_64 = p.registers_64;
	s.push = p.push;
	s.push_words = p.push_words;
	s.uniform_buffers = p.uniform_buffers;
	s.uniform_buffer_count = p.uniform_buffer_count;
	s.textures = p.textures;
	s.samplers = p.samplers;
	s.texture_count = p.texture_count;
	s.sampler_count = p.sampler_count;
	s.scratch = p.scratch;
	s.scratch_size = p.scratch_size;
	s.group_memory =
		MAX2(v->wls_size, stage->shader->shared_memory) + info->variable_shared_mem;
	words = tg_batch_alloc(b, TSR_COMPUTE_STATE__QWORDS * 8, 64, &state);
	if (!words)
		return false;
	tsr_pack_compute_state(words, &s);
	return write_stream(ctx, b, info, state, va, size);
}

static void launch_grid(struct pipe_context *pipe, const struct pipe_grid_info *info)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_stage *stage = &ctx->stage[PIPE_SHADER_COMPUTE];
	struct tg_batch *b;
	uint64_t va;
	uint32_t size;

	tg_context_flush(ctx, "dispatch");
	if (!stage->shader || !tg_context_condition(ctx))
		return;
	stage->variant = tg_program_find(ctx->screen, stage->shader,
					 &(struct tg_key){ .robust = ctx->robust });
	count_threads(ctx, info);
	if (!stage->variant || !stage->variant->code ||
	    (!info->indirect && (!info->grid[0] || !info->grid[1] || !info->grid[2])))
		return;
	memcpy(ctx->group_size, info->block, sizeof(ctx->group_size));
	b = tg_batch_new(ctx);
	if (!b)
		return;
	if (write_dispatch(ctx, b, info, &va, &size) && !b->failed)
		tg_batch_submit_alone(b, TG_COMPUTE, va, size);
	else
		tg_batch_drop(b);
}

void tg_compute_init(struct pipe_context *pipe)
{
	pipe->create_compute_state = create_compute_state;
	pipe->bind_compute_state = bind_compute_state;
	pipe->delete_compute_state = tg_shader_delete;
	pipe->launch_grid = launch_grid;
}
