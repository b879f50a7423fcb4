/* SPDX-License-Identifier: MIT */
#include "util/u_draw.h"
#include "util/u_memory.h"
#include "util/u_prim.h"
#include "util/u_prim_restart.h"
#include "util/log.h"

#include "tsr_padding.h"

#include "tg_draw.h"
#include "tg_indices.h"
#include "tg_resource.h"

#define BATCH_VERTICES                                                                             \
	(4u << 20) /* a batch with more is submitted: its lists must fit into the heap */
#define ASSUMED_VERTICES	(1ull << 24) /* of 32-bit indices, if there is not room for more */

static uint32_t topology_of(enum mesa_prim mode)
{
	switch (mode) {
	case MESA_PRIM_POINTS:
		return TSR_TOPOLOGY_POINTS;
	case MESA_PRIM_LINES:
		return TSR_TOPOLOGY_LINES;
	case MESA_PRIM_LINE_LOOP:
		return TSR_TOPOLOGY_LINE_LOOP;
	case MESA_PRIM_LINE_STRIP:
		return TSR_TOPOLOGY_LINE_STRIP;
	case MESA_PRIM_TRIANGLE_STRIP:
		return TSR_TOPOLOGY_TRIANGLE_STRIP;
	case MESA_PRIM_TRIANGLE_FAN:
		return TSR_TOPOLOGY_TRIANGLE_FAN;
	case MESA_PRIM_LINES_ADJACENCY:
		return TSR_TOPOLOGY_LINES_ADJACENCY;
	case MESA_PRIM_LINE_STRIP_ADJACENCY:
		return TSR_TOPOLOGY_LINE_STRIP_ADJACENCY;
	case MESA_PRIM_TRIANGLES_ADJACENCY:
		return TSR_TOPOLOGY_TRIANGLES_ADJACENCY;
	case MESA_PRIM_TRIANGLE_STRIP_ADJACENCY:
		return TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY;
	case MESA_PRIM_PATCHES:
		return TSR_TOPOLOGY_PATCHES;
	default:
		return TSR_TOPOLOGY_TRIANGLES;
	}
}

static uint32_t class_of(enum mesa_prim mode)
{
	const enum mesa_prim reduced = u_reduced_prim(mode);

	return reduced == MESA_PRIM_POINTS  ? TG_POINTS
	       : reduced == MESA_PRIM_LINES ? TG_LINES
					    : TG_TRIANGLES;
}

/*
 * The widest padded number that leaves one instance more, a power of two: dividing by it is a shift
 * on the device, and the number changes with the count of instances alone. 0 if there is none.
 */
static uint64_t widest_padding(uint32_t instances)
{
	const unsigned shift = 32 - util_logbase2_ceil64((uint64_t)instances + 1);

	return shift < 2 ? 0 : 1ull << shift;
}

bool tg_instancing_choose(uint64_t vertices, uint32_t instances, struct tg_instancing *n)
{
	const uint64_t widest = widest_padding(instances);
	struct tsr_padding p;

	n->padded = n->odd = n->shift = 0;
	if (instances <= 1)
		return true;
	if (widest >= vertices) {
		n->padded = widest;
		n->shift = util_logbase2_64(widest);
		return true;
	}
	if (vertices > UINT32_MAX)
		return false;
	p = tsr_padded_vertices((uint32_t)vertices);
	n->padded = p.padded;
	n->odd = p.odd;
	n->shift = p.shift;
	return p.padded * instances <= 1ull << 32;
}

/*
 * How the device tells instances apart; false if there are too many. The device reads an index that
 * is not below the padded number as 0, so the number must exceed every index, also one beyond the
 * vertex buffers: gl_VertexID has it. Indices are read only if the widest number is a small one.
 */
static bool instancing(struct tg_context *ctx, const struct pipe_draw_info *info,
		       const struct pipe_draw_start_count_bias *draw, struct tg_instancing *n)
{
	uint64_t vertices = draw->count;
	struct tg_indices x;

	*n = (struct tg_instancing){ .first = info->start_instance };
	if (info->instance_count <= 1)
		return true;
	if (info->index_size) {
		vertices = MIN2(1ull << 8 * info->index_size, ASSUMED_VERTICES);
		if (widest_padding(info->instance_count) < vertices) {
			tg_indices_read(ctx, info, draw, true, &x);
			vertices = tg_indices_bound(&x);
		}
	}
	return tg_instancing_choose(vertices, info->instance_count, n);
}

/* Where the indices are; those of the program's own memory are copied. */
static bool find_indices(struct tg_batch *b, const struct pipe_draw_info *info,
			 const struct pipe_draw_start_count_bias *draw, struct tsr_list_draw *d)
{
	struct tg_resource *r;
	uint64_t size = (uint64_t)draw->count * info->index_size;
	void *copy;

	if (!info->index_size)
		return true;
	d->index = info->index_size == 1 ? TSR_INDEX_TYPE_U8 :
		   info->index_size == 2 ? TSR_INDEX_TYPE_U16 : TSR_INDEX_TYPE_U32;
	d->restart = info->primitive_restart;
	if (info->has_user_indices) {
		copy = tg_batch_alloc(b, size, 16, &d->indices);
		if (!copy)
			return false;
		memcpy(copy,
		       (const uint8_t *)info->index.user + (uint64_t)draw->start * info->index_size,
		       size);
		d->first = 0;
		d->index_bytes = size;
		return true;
	}
	r = tg_resource(info->index.resource);
	tg_batch_use_binned(b, r->bo);
	d->indices = r->bo->va + r->offset;
	d->index_bytes = r->base.width0;
	return true;
}

void tg_draw_values(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
		    const struct pipe_draw_start_count_bias *draw, const struct tg_instancing *n)
{
	const int32_t base = info->index_size ? draw->index_bias : (int32_t)draw->start;
	const bool indexed = info->index_size;
	const struct tg_variant *vs = ctx->stage[PIPE_SHADER_VERTEX].variant;

	if (ctx->padded != n->padded || ctx->start_instance != n->first)
		ctx->dirty |= TG_DIRTY_VERTICES;
	if (vs->sysval_count && (ctx->base_vertex != base || ctx->start_instance != n->first ||
				 ctx->draw_id != draw_id || ctx->indexed != indexed))
		ctx->stage[PIPE_SHADER_VERTEX].dirty |= TG_DIRTY_CONSTANTS;
	ctx->padded = n->padded;
	ctx->start_instance = n->first;
	ctx->base_vertex = base;
	ctx->draw_id = draw_id;
	ctx->indexed = indexed;
}

/* All that has changed since the last draw of the batch. */
static bool write_state(struct tg_context *ctx, struct tg_batch *b, const struct tg_instancing *n)
{
	const bool tables = ctx->dirty & (TG_DIRTY_VERTICES | TG_DIRTY_LINK);
	bool dirty = false;
	unsigned i;

	if (tables && !tg_vertex_write(ctx, b, n))
		return false;
	for (i = 0; i < PIPE_SHADER_TYPES; i++)
		dirty |= i != PIPE_SHADER_COMPUTE && ctx->stage[i].shader && ctx->stage[i].dirty;
	if (!tables && dirty && tg_shader_can_push(ctx)) {
		if (!tg_shader_push(ctx, b))
			return false;
	} else if (tables || dirty) {
		if (!tg_shader_write(ctx, b))
			return false;
		ctx->shaders_stale = false;
	} else if (ctx->dirty & TG_DIRTY_DRAW) {
		ctx->shaders_stale = true;
	}
	if (ctx->dirty & TG_DIRTY_DRAW &&
	    !tg_fixed_write(ctx, b, ctx->topology_class != TG_POINTS ||
				    ctx->rasterizer->point_line_tri_clip))
		return false;
	if (ctx->dirty & TG_DIRTY_QUERY)
		tg_query_emit(ctx, b);
	ctx->dirty = 0;
	for (i = 0; i < PIPE_SHADER_TYPES; i++) {
		if (i != PIPE_SHADER_COMPUTE)
			ctx->stage[i].dirty = 0;
	}
	return true;
}

/* True if the primitives that the stages emit are captured or counted. */
static bool is_counted(const struct tg_context *ctx)
{
	return tg_stages_active(ctx) && (tg_stages_capture(ctx) || ctx->primitive_queries);
}

static void draw_one(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
		     const struct pipe_draw_start_count_bias *draw)
{
	struct tsr_list_draw d = {
		.topology = topology_of(info->mode),
		.count = draw->count,
		.instances = info->instance_count,
		.first = draw->start,
		.base_vertex = info->index_size ? draw->index_bias : 0,
		.first_instance = info->start_instance,
	};
	struct tg_instancing n;
	struct tg_batch *b;
	struct tg_bo *counted = NULL;
	uint64_t *words;

	if (!instancing(ctx, info, draw, &n)) {
		mesa_loge(
			"tessera: %u instances of %u vertices are more than the device can tell "
			"apart",
			info->instance_count, draw->count);
		return;
	}
	b = tg_batch_get(ctx);
	if (!b)
		return;
	tg_draw_values(ctx, info, draw_id, draw, &n);
	if (!write_state(ctx, b, &n) || !find_indices(b, info, draw, &d))
		return;
	if (is_counted(ctx)) {
		counted = tg_stages_count(ctx, b);
		if (!counted)
			return;
	}
	d.explicit_padding = n.padded;
	d.padded_odd = n.odd;
	d.padded_shift = n.shift;
	words = tg_batch_packet(b, TSR_LIST_DRAW_QWORDS);
	if (!words)
		return;
	tsr_pack_list_draw(words, &d);
	b->draws++;
	b->drawn |= b->drawn_by_state;
	b->invalid &= ~b->drawn_by_state;
	b->vertices += (uint64_t)draw->count * info->instance_count;
	if (counted)
		tg_stages_counted(ctx, counted);
	else if (b->vertices > BATCH_VERTICES)
		tg_context_flush(ctx, "many vertices");
}

bool tg_draw_prepare(struct tg_context *ctx, enum mesa_prim mode)
{
	const uint32_t class = class_of(tg_stages_primitive(ctx, mode));

	if (class != ctx->topology_class)
		ctx->dirty |= TG_DIRTY_DRAW;
	ctx->topology_class = class;
	return tg_program_update(ctx, PIPE_SHADER_VERTEX, class == TG_POINTS) &&
	       tg_stages_update(ctx, mode, class == TG_POINTS) &&
	       tg_program_update(ctx, PIPE_SHADER_FRAGMENT, class == TG_POINTS) &&
	       ctx->stage[PIPE_SHADER_VERTEX].variant->code;
}

void tg_draw_list(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
		  const struct pipe_draw_start_count_bias *draw)
{
	if (tg_draw_prepare(ctx, info->mode))
		draw_one(ctx, info, draw_id, draw);
}

static void draw_all(struct tg_context *ctx, const struct pipe_draw_info *info, unsigned draw_id,
		     const struct pipe_draw_start_count_bias *draws, unsigned count)
{
	const bool stages = tg_stages_active(ctx);
	unsigned i, id;
	const bool measured = ctx->statistics && !ctx->queries_paused;
	bool drawn = (!ctx->rasterizer->rasterizer_discard || measured) && !ctx->capture_only;

	if (!tg_context_condition(ctx) || !tg_draw_prepare(ctx, info->mode))
		return;
	if (is_counted(ctx)) {
		tg_stream_wait(ctx);
		drawn = true;
	}
	for (i = 0; i < count; i++) {
		id = draw_id + (info->increment_draw_id ? i : 0);
		if (draws[i].count && !stages)
			tg_stream_draw(ctx, info, id, &draws[i]);
		if (draws[i].count && drawn)
			draw_one(ctx, info, id, &draws[i]);
	}
}

/* How many vertices a draw has whose number transform feedback knows. */
static uint32_t streamed_count(const struct pipe_draw_indirect_info *indirect)
{
	const struct tg_stream_target *t =
		(const struct tg_stream_target *)indirect->count_from_stream_output;

	return t->offset / MAX2(t->stride, 1);
}

/*
 * A strip of triangles for a geometry shader, as a list: in the device's own strips every other
 * triangle begins with another of its vertices.
 */
static void draw_strip(struct tg_context *ctx, const struct pipe_draw_info *info,
		       unsigned draw_id, const struct pipe_draw_start_count_bias *draw)
{
	struct pipe_draw_info list = *info;
	struct pipe_draw_start_count_bias all = { 0 };
	struct tg_indices x;
	uint32_t *vertices;

	tg_indices_read(ctx, info, draw, true, &x);
	if (x.count > UINT32_MAX / 3) {
		mesa_loge("tessera: a strip of %u vertices is too long", x.count);
		return;
	}
	all.index_bias = x.bias;
	x.bias = 0;
	all.count = tg_indices_list(&x, false, NULL, NULL);
	vertices = all.count ? MALLOC((size_t)all.count * 4) : NULL;
	if (!vertices)
		return;
	tg_indices_list(&x, false, vertices, NULL);
	list.mode = info->mode == MESA_PRIM_TRIANGLE_STRIP ? MESA_PRIM_TRIANGLES
							   : MESA_PRIM_TRIANGLES_ADJACENCY;
	list.index_size = 4;
	list.has_user_indices = true;
	list.index.user = vertices;
	list.index_bounds_valid = false;
	list.primitive_restart = false;
	draw_all(ctx, &list, draw_id, &all, 1);
	FREE(vertices);
}

static void draw_vbo(struct pipe_context *pipe, const struct pipe_draw_info *info, unsigned draw_id,
		     const struct pipe_draw_indirect_info *indirect,
		     const struct pipe_draw_start_count_bias *draws, unsigned count)
{
	struct tg_context *ctx = tg_context(pipe);
	struct pipe_draw_start_count_bias streamed = { 0 };
	bool unfilled;
	unsigned i;

	if (indirect && indirect->buffer) {
		util_draw_indirect(pipe, info, draw_id, indirect);
		return;
	}
	if (!info->instance_count || !ctx->rasterizer || !ctx->zsa || !ctx->blend)
		return;
	if (indirect && indirect->count_from_stream_output) {
		streamed.count = streamed_count(indirect);
		draws = &streamed;
		count = 1;
	}
	if (ctx->stage[PIPE_SHADER_GEOMETRY].shader &&
	    (info->mode == MESA_PRIM_TRIANGLE_STRIP ||
	     info->mode == MESA_PRIM_TRIANGLE_STRIP_ADJACENCY)) {
		for (i = 0; i < count; i++)
			draw_strip(ctx, info, draw_id + (info->increment_draw_id ? i : 0),
				   &draws[i]);
		return;
	}
	/* what is captured, and counted, are triangles */
	unfilled = class_of(info->mode) == TG_TRIANGLES && !ctx->capture_only &&
		   !tg_stages_active(ctx) &&
		   !ctx->rasterizer->rasterizer_discard && tg_polygon_unfilled(ctx->rasterizer);
	ctx->capture_only |= unfilled;
	if (!tg_polygon_convert(ctx, info, draw_id, draws, count))
		draw_all(ctx, info, draw_id, draws, count);
	ctx->capture_only &= !unfilled;
	for (i = 0; unfilled && i < count && tg_context_condition(ctx); i++)
		tg_polygon_draw(ctx, info, draw_id + (info->increment_draw_id ? i : 0), &draws[i]);
}

void tg_draw_init(struct pipe_context *pipe)
{
	pipe->draw_vbo = draw_vbo;
}
