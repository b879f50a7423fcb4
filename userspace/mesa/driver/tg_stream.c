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
#include "tg_resource.h"

/* ---- Lists of vertices ----------------------------------------------------------------------- */

struct list {
	const struct pipe_draw_info *info;
	const struct pipe_draw_start_count_bias *draw;
	const uint8_t *indices;		/* of the draw's start; NULL: they are counted */
	bool first;			/* the provoking vertex is the first one */
	uint32_t *out;			/* NULL: only count */
	uint32_t count;
};

static uint32_t raw_index(const struct list *l, uint32_t i)
{
	if (!l->indices)
		return l->draw->start + i;
	if (l->info->index_size == 1)
		return l->indices[i];
	return l->info->index_size == 2 ? ((const uint16_t *)l->indices)[i]
					: ((const uint32_t *)l->indices)[i];
}

static void put(struct list *l, uint32_t i)
{
	if (l->out)
		l->out[l->count] =
			raw_index(l, i) + (l->indices ? (uint32_t)l->draw->index_bias : 0);
	l->count++;
}

static void put3(struct list *l, uint32_t a, uint32_t b, uint32_t c)
{
	put(l, a);
	put(l, b);
	put(l, c);
}

static void strip_lines(struct list *l, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i + 1 < n; i++) {
		put(l, from + i);
		put(l, from + i + 1);
	}
	if (l->info->mode == MESA_PRIM_LINE_LOOP && n > 1) {
		put(l, from + n - 1);
		put(l, from);
	}
}

/* Every other triangle of a strip is turned round, and keeps its provoking vertex. */
static void strip_triangles(struct list *l, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i + 2 < n; i++) {
		if (i % 2 == 0)
			put3(l, from + i, from + i + 1, from + i + 2);
		else if (l->first)
			put3(l, from + i, from + i + 2, from + i + 1);
		else
			put3(l, from + i + 1, from + i, from + i + 2);
	}
}

/* What a run of vertices without a restart becomes. */
static void run(struct list *l, uint32_t from, uint32_t n)
{
	uint32_t i, each = l->info->mode == MESA_PRIM_TRIANGLES ? 3
			   : l->info->mode == MESA_PRIM_LINES	? 2
								: 1;

	switch (l->info->mode) {
	case MESA_PRIM_LINE_STRIP:
	case MESA_PRIM_LINE_LOOP:
		strip_lines(l, from, n);
		break;
	case MESA_PRIM_TRIANGLE_STRIP:
		strip_triangles(l, from, n);
		break;
	case MESA_PRIM_TRIANGLE_FAN:
		for (i = 1; i + 1 < n; i++) {
			if (l->first)
				put3(l, from + i, from + i + 1, from);
			else
				put3(l, from, from + i, from + i + 1);
		}
		break;
	default:
		for (i = 0; i < n - n % each; i++)
			put(l, from + i);
		break;
	}
}

static void walk(struct list *l)
{
	const bool restart = l->indices && l->info->primitive_restart;
	uint32_t i, from = 0, count = l->draw->count;

	l->count = 0;
	for (i = 0; restart && i < count; i++) {
		if (raw_index(l, i) == l->info->restart_index) {
			run(l, from, i - from);
			from = i + 1;
		}
	}
	run(l, from, count - from);
}

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

static bool emit(struct tg_context *ctx, struct tg_batch *b, const struct tg_variant *v,
		 uint32_t count, const struct pipe_draw_info *info)
{
	struct tsr_draw_state state = { .discard = true,
					.sample_mask = 0xffff,
					.viewport_count = 1 };
	struct tg_instancing n = { .first = info->start_instance };
	struct tsr_list_draw_state packet;
	struct tsr_padding p;
	uint64_t *words;

	if (info->instance_count > 1) {
		p = tsr_padded_vertices(MAX2(count, 65536));
		n = (struct tg_instancing){ p.padded, p.odd, p.shift, info->start_instance };
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
						    .instances = info->instance_count,
						    .first_instance = info->start_instance,
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
static void wait_for_readers(struct tg_context *ctx)
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

static void capture(struct tg_context *ctx, struct list *l, uint32_t per_primitive)
{
	struct tg_shader *shader = ctx->stage[PIPE_SHADER_VERTEX].shader;
	const struct tg_key key = { .stream = true };
	const struct tg_variant *v = tg_program_find(ctx->screen, shader, &key);
	const uint32_t instances = l->info->instance_count;
	struct tg_batch *b;
	uint32_t vertices;

	wait_for_readers(ctx);
	b = tg_batch_get(ctx);
	if (!b || !v || !v->code || !l->count)
		return;
	vertices = MIN2(l->count, room(ctx, shader, per_primitive) / instances);
	vertices -= vertices % per_primitive;
	l->out = tg_batch_alloc(b, (uint64_t)l->count * 4, 16, &ctx->stream_list);
	if (!l->out || !vertices)
		return;
	walk(l);
	ctx->stream_vertices = vertices;
	if (!emit(ctx, b, v, vertices, l->info))
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
	struct list l = { .info = info, .draw = draw, .first = ctx->rasterizer->flatshade_first };
	struct tg_resource *r;

	if (ctx->queries_paused && !captures)
		return;
	if (!captures && !(info->index_size && info->primitive_restart)) {
		ctx->primitives +=
			(uint64_t)u_decomposed_prims_for_vertices(info->mode, draw->count) *
			info->instance_count;
		return;
	}
	if (info->index_size && info->has_user_indices) {
		l.indices =
			(const uint8_t *)info->index.user + (size_t)draw->start * info->index_size;
	} else if (info->index_size) {
		r = tg_resource(info->index.resource);
		if (captures && tg_batch_writes(ctx, r->bo))
			tg_context_flush(ctx, "indices");
		tg_bo_wait(r->bo, true);
		l.indices = r->bo->map + r->offset + (size_t)draw->start * info->index_size;
	}
	walk(&l);
	if (!ctx->queries_paused)
		ctx->primitives += (uint64_t)l.count / each * info->instance_count;
	if (captures)
		capture(ctx, &l, each);
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
