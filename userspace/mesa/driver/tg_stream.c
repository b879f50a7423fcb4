/* SPDX-License-Identifier: MIT */
/*
 * Transform feedback. A draw that is captured is made twice: first as points without rasterisation,
 * of a variant of the vertex shader that stores what is captured; vertex number n of it is the one
 * that a list names, which is what becomes of strips, indices and restarts. Numbers of primitives
 * are known to the CPU.
 */
#include "util/u_inlines.h"
#include "util/u_memory.h"
#include "util/u_prim.h"
#include "util/log.h"

#include "padding.h"

#include "tg_draw.h"
#include "tg_indices.h"
#include "tg_resource.h"

/* ---- Draws ----------------------------------------------------------------------------------- */

/* Vertices that fit into all buffers, whole primitives. */
static uint32_t room(const struct tg_context *ctx, const struct tg_shader *shader,
		     uint32_t per_primitive)
{
	uint64_t most = UINT32_MAX, stride, left;
	unsigned i;

	for (i = 0; i < ctx->stream_count; i++) {
		const struct tg_stream_target *t = ctx->streams[i];

		stride = shader->stream_output.stride[i] * 4;
		if (!t || !stride)
			continue;
		left = t->base.buffer_size > t->offset ? t->base.buffer_size - t->offset : 0;
		most = MIN2(most, left / stride);
	}
	return (uint32_t)(most - most % per_primitive);
}

bool tg_stream_emit(struct tg_context *ctx, struct tg_batch *b, const struct tg_variant *v,
		    uint32_t count, uint32_t start_instance, uint32_t instances)
{
	struct tsr_draw_state state = { .discard = true,
					.sample_mask = 0xffff,
					.viewport_count = 1 };
	struct tg_instancing n = { .first = start_instance };
	struct tsr_list_draw_state packet;
	struct tsr_padding p;
	uint64_t *words;

	if (instances > 1) {
		p = tsr_padded_vertices(MAX2(count, 65536));
		n = (struct tg_instancing){ p.padded, p.odd, p.shift, start_instance };
	}
	words = tg_batch_alloc(b, (TSR_DRAW_STATE__QWORDS + TSR_VIEWPORT__QWORDS) * 8, 64,
			       &packet.addr);
	if (!words || !tg_vertex_write(ctx, b, &n) || !tg_stream_shader_write(ctx, b, v))
		return false;
	state.viewports = packet.addr + TSR_DRAW_STATE__QWORDS * 8;
	tsr_pack_draw_state(words, &state);
	memset(words + TSR_DRAW_STATE__QWORDS, 0, TSR_VIEWPORT__QWORDS * 8);
	words = tg_batch_packet(b, TSR_LIST_DRAW_STATE_QWORDS + TSR_LIST_DRAW_QWORDS);
	if (!words)
		return false;
	tsr_pack_list_draw_state(words, &packet);
	tsr_pack_list_draw(words + TSR_LIST_DRAW_STATE_QWORDS,
			   &(struct tsr_list_draw){ .topology = TSR_TOPOLOGY_POINTS,
						    .count = count,
						    .instances = instances,
						    .first_instance = start_instance,
						    .explicit_padding = n.padded,
						    .padded_odd = n.odd,
						    .padded_shift = n.shift });
	return true;
}

static void advance(struct tg_context *ctx, struct tg_batch *b, const struct tg_shader *shader,
		    uint32_t vertices)
{
	unsigned i;

	for (i = 0; i < ctx->stream_count; i++) {
		struct tg_stream_target *t = ctx->streams[i];

		if (!t || !shader->stream_output.stride[i])
			continue;
		t->stride = shader->stream_output.stride[i] * 4;
		t->offset += vertices * t->stride;
		tg_batch_use(b, tg_resource(t->base.buffer)->bo, true);
	}
}

/*
 * Vertices and uniforms are read up to the end of rendering: what is captured into must not be in
 * use any more.
 */
void tg_stream_wait(struct tg_context *ctx)
{
	uint64_t point = 0;
	struct tg_batch *b;
	unsigned i;

	for (i = 0; i < ctx->stream_count; i++) {
		struct tg_bo *bo =
			ctx->streams[i] ? tg_resource(ctx->streams[i]->base.buffer)->bo : NULL;

		if (bo && tg_batch_uses(ctx, bo))
			tg_context_flush(ctx, "capture into what is read");
		if (bo)
			point = MAX2(point, atomic_load(&bo->used));
	}
	b = tg_batch_get(ctx);
	if (b)
		b->bin_wait = MAX2(b->bin_wait, point);
}

/* @count: vertices of all primitives. */
static void capture(struct tg_context *ctx, const struct tg_indices *x, uint32_t count,
		    uint32_t per_primitive)
{
	struct tg_shader *shader = ctx->stage[PIPE_SHADER_VERTEX].shader;
	const struct tg_key key = { .stream = true };
	const struct tg_variant *v = tg_program_find(ctx->screen, shader, &key);
	const uint32_t instances = x->info->instance_count;
	struct tg_batch *b;
	uint32_t vertices, *list;

	tg_stream_wait(ctx);
	b = tg_batch_get(ctx);
	if (!b || !v || !v->code || !count)
		return;
	vertices = MIN2(count, room(ctx, shader, per_primitive) / instances);
	vertices -= vertices % per_primitive;
	list = tg_batch_alloc(b, (uint64_t)count * 4, 16, &ctx->stream_list);
	if (!list || !vertices)
		return;
	tg_indices_list(x, ctx->rasterizer->flatshade_first, list, NULL);
	ctx->stream_vertices = vertices;
	if (!tg_stream_emit(ctx, b, v, vertices, x->info->start_instance, instances))
		return;
	advance(ctx, b, shader, vertices * instances);
	ctx->captured += (uint64_t)vertices / per_primitive * instances;
	b->draws++;
	/* what comes next may read it, and has its own states */
	tg_context_flush(ctx, "capture");
}

void tg_stream_draw(struct tg_context *ctx, const struct pipe_draw_info *info,
		    const struct pipe_draw_start_count_bias *draw)
{
	const struct tg_shader *shader = ctx->stage[PIPE_SHADER_VERTEX].shader;
	const enum mesa_prim reduced = u_reduced_prim(info->mode);
	const uint32_t each = reduced == MESA_PRIM_POINTS ? 1 : reduced == MESA_PRIM_LINES ? 2 : 3;
	const bool captures = ctx->stream_count && shader->stream_output.num_outputs;
	struct tg_indices x;
	uint32_t count;

	if (ctx->queries_paused && !captures)
		return;
	if (!captures && !(info->index_size && info->primitive_restart)) {
		ctx->primitives +=
			(uint64_t)u_decomposed_prims_for_vertices(info->mode, draw->count) *
			info->instance_count;
		return;
	}
	tg_indices_read(ctx, info, draw, captures, &x);
	count = tg_indices_list(&x, ctx->rasterizer->flatshade_first, NULL, NULL);
	if (!ctx->queries_paused)
		ctx->primitives += (uint64_t)count / each * info->instance_count;
	if (captures)
		capture(ctx, &x, count, each);
}

/* ---- Targets --------------------------------------------------------------------------------- */

static struct pipe_stream_output_target *create_target(struct pipe_context *pipe,
						       struct pipe_resource *buffer,
						       unsigned offset, unsigned size)
{
	struct tg_stream_target *t = CALLOC_STRUCT(tg_stream_target);

	if (!t)
		return NULL;
	pipe_reference_init(&t->base.reference, 1);
	pipe_resource_reference(&t->base.buffer, buffer);
	t->base.context = pipe;
	t->base.buffer_offset = offset;
	t->base.buffer_size = size;
	return &t->base;
}

static void destroy_target(struct pipe_context *pipe, struct pipe_stream_output_target *target)
{
	pipe_resource_reference(&target->buffer, NULL);
	FREE(target);
}

static void set_targets(struct pipe_context *pipe, unsigned count,
			struct pipe_stream_output_target **targets, const unsigned *offsets,
			enum mesa_prim mode)
{
	struct tg_context *ctx = tg_context(pipe);
	unsigned i;

	for (i = 0; i < PIPE_MAX_SO_BUFFERS; i++) {
		struct pipe_stream_output_target *t = i < count ? targets[i] : NULL;

		pipe_so_target_reference((struct pipe_stream_output_target **)&ctx->streams[i], t);
		/* all ones: go on where it was */
		if (t && offsets && offsets[i] != ~0u)
			ctx->streams[i]->offset = offsets[i];
	}
	ctx->stream_count = count;
	if (tg_stages_active(ctx))
		ctx->dirty |= TG_DIRTY_LINK;	/* what is declared */
}

static uint32_t target_offset(struct pipe_stream_output_target *target)
{
	return ((struct tg_stream_target *)target)->offset;
}

void tg_stream_init(struct pipe_context *pipe)
{
	pipe->create_stream_output_target = create_target;
	pipe->stream_output_target_destroy = destroy_target;
	pipe->set_stream_output_targets = set_targets;
	pipe->stream_output_target_offset = target_offset;
}
