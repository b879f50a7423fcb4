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

#include "tg_draw.h"
#include "tg_indices.h"
#include "tg_resource.h"
#include "tg_statistics.h"

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
		    uint32_t count, uint32_t instances, const struct tg_instancing *n)
{
	struct tsr_draw_state state = { .discard = true,
					.sample_mask = 0xffff,
					.viewport_count = 1 };
	struct tsr_list_draw_state packet;
	uint64_t *words;

	words = tg_batch_alloc(b, (TSR_DRAW_STATE__QWORDS + TSR_VIEWPORT__QWORDS) * 8, 64,
			       &packet.addr);
	if (!words || !tg_vertex_write(ctx, b, n) || !tg_stream_shader_write(ctx, b, v))
		return false;
	state.viewports = packet.addr + TSR_DRAW_STATE__QWORDS * 8;
	tsr_pack_draw_state(words, &state);
	memset(words + TSR_DRAW_STATE__QWORDS, 0, TSR_VIEWPORT__QWORDS * 8);
	/* this draw is not the program's */
	if (ctx->statistics) {
		tg_statistics_emit(ctx, b, false);
		ctx->dirty |= TG_DIRTY_QUERY;
	}
	words = tg_batch_packet(b, TSR_LIST_DRAW_STATE_QWORDS + TSR_LIST_DRAW_QWORDS);
	if (!words)
		return false;
	tsr_pack_list_draw_state(words, &packet);
	tsr_pack_list_draw(words + TSR_LIST_DRAW_STATE_QWORDS,
			   &(struct tsr_list_draw){ .topology = TSR_TOPOLOGY_POINTS,
						    .count = count,
						    .instances = instances,
						    .first_instance = n->first,
						    .explicit_padding = n->padded,
						    .padded_odd = n->odd,
						    .padded_shift = n->shift });
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
		tg_resource_write(b, tg_resource(t->base.buffer), t->base.buffer_offset,
				  t->base.buffer_size);
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

/*
 * Instances @from on, the vertices of their primitives: @count each. Instance @from is number 0 to
 * the device: the shader adds ctx->stream_instance.
 */
static bool emit(struct tg_context *ctx, struct tg_batch *b, const struct tg_variant *v,
		 uint32_t count, uint32_t from, uint32_t instances, const struct tg_instancing *n)
{
	bool ok;

	if (!count || !instances)
		return true;
	ctx->stream_instance = from;
	ok = tg_stream_emit(ctx, b, v, count, instances, n);
	ctx->stream_instance = 0;
	if (ok)
		advance(ctx, b, ctx->stage[PIPE_SHADER_VERTEX].shader, count * instances);
	return ok;
}

/* The vertices of all primitives, in memory of the batch; NULL if there is none. */
static const uint32_t *list_vertices(struct tg_context *ctx, struct tg_batch *b,
				     const struct tg_indices *x, uint32_t count, uint64_t *bound)
{
	uint32_t *list = tg_batch_alloc(b, (uint64_t)count * 4, 16, &ctx->stream_list), i;

	*bound = count;
	if (!list)
		return NULL;
	tg_indices_list(x, ctx->rasterizer->flatshade_first, list, NULL);
	for (i = 0; i < count; i++)
		*bound = MAX2(*bound, (uint64_t)list[i] + 1);
	return list;
}

/*
 * @count: vertices of all primitives. What does not fit is left out from the first primitive on
 * that does not: it may be one in the middle of an instance, which is then a draw of its own.
 */
static void capture(struct tg_context *ctx, const struct tg_indices *x, unsigned draw_id,
		    const struct pipe_draw_start_count_bias *draw, uint32_t count,
		    uint32_t per_primitive)
{
	struct tg_shader *shader = ctx->stage[PIPE_SHADER_VERTEX].shader;
	const struct tg_key key = { .stream = true };
	const struct tg_variant *v = tg_program_find(ctx->screen, shader, &key);
	const uint32_t instances = x->info->instance_count;
	struct tg_instancing n = { .first = x->info->start_instance };
	uint32_t space, whole, rest;
	struct tg_batch *b;
	uint64_t bound;

	tg_stream_wait(ctx);
	b = tg_batch_get(ctx);
	if (!b || !v || !v->code || !count)
		return;
	space = room(ctx, shader, per_primitive);
	whole = MIN2(instances, space / count);
	rest = whole < instances ? space - whole * count : 0;
	if (!space || !list_vertices(ctx, b, x, count, &bound))
		return;
	if (!tg_instancing_choose(bound, instances, &n)) {
		mesa_loge("tessera: %u instances of vertices up to %llu cannot be captured",
			  instances, (unsigned long long)bound);
		return;
	}
	tg_draw_values(ctx, x->info, draw_id, draw, &n);
	ctx->stream_vertices = count;
	if (!emit(ctx, b, v, count, 0, whole, &n) || !emit(ctx, b, v, rest, whole, 1, &n))
		return;
	ctx->streamed.captured[0] += (uint64_t)count / per_primitive * whole + rest / per_primitive;
	b->draws++;
	/* what comes next may read it, and has its own states */
	tg_context_flush(ctx, "capture");
}

void tg_stream_draw(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
		    const struct pipe_draw_start_count_bias *draw)
{
	const struct tg_shader *shader = ctx->stage[PIPE_SHADER_VERTEX].shader;
	const enum mesa_prim reduced = u_reduced_prim(info->mode);
	const uint32_t each = reduced == MESA_PRIM_POINTS ? 1 : reduced == MESA_PRIM_LINES ? 2 : 3;
	const bool captures = ctx->stream_count && shader->stream_output.num_outputs;
	/* else nothing reads how many there are: indices with a restart need not be read */
	const bool counts = ctx->primitive_queries && !ctx->queries_paused;
	struct tg_indices x;
	uint32_t count;

	if (!counts && !captures)
		return;
	if (!captures && !(info->index_size && info->primitive_restart)) {
		ctx->streamed.generated[0] +=
			(uint64_t)u_decomposed_prims_for_vertices(info->mode, draw->count) *
			info->instance_count;
		return;
	}
	tg_indices_read(ctx, info, draw, captures, &x);
	count = tg_indices_list(&x, ctx->rasterizer->flatshade_first, NULL, NULL);
	if (counts)
		ctx->streamed.generated[0] += (uint64_t)count / each * info->instance_count;
	if (captures) {
		ctx->streamed.needed[0] += (uint64_t)count / each * info->instance_count;
		capture(ctx, &x, draw_id, draw, count, each);
	}
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
