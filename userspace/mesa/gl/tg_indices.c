/* SPDX-License-Identifier: MIT */
#include "util/u_prim.h"

#include "tg_copy.h"
#include "tg_indices.h"
#include "tg_resource.h"

struct list {
	const struct tg_indices *indices;
	bool first;
	uint32_t *out;
	uint32_t count;
	struct util_dynarray *ends;
};

static uint32_t raw_index(const struct tg_indices *x, uint32_t i)
{
	if (!x->data)
		return x->start + i;
	if (x->info->index_size == 1)
		return x->data[i];
	return x->info->index_size == 2 ? ((const uint16_t *)x->data)[i]
					: ((const uint32_t *)x->data)[i];
}

static void put(struct list *l, uint32_t i)
{
	if (l->out)
		l->out[l->count] = raw_index(l->indices, i) + (uint32_t)l->indices->bias;
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
	if (l->indices->info->mode == MESA_PRIM_LINE_LOOP && n > 1) {
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

static void fan_triangles(struct list *l, uint32_t from, uint32_t n)
{
	for (uint32_t i = 1; i + 1 < n; i++) {
		if (l->first)
			put3(l, from + i, from + i + 1, from);
		else
			put3(l, from, from + i, from + i + 1);
	}
}

/* The last vertex of a quad is the fourth one of the strip's. */
static void strip_quads(struct list *l, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i + 3 < n; i += 2) {
		put3(l, from + i + 2, from + i, from + i + 1);
		put(l, from + i + 3);
	}
}

/*
 * Each triangle with its neighbors, as geometry shaders get them: vertex, neighbor, vertex, and so
 * on. The triangle's vertices are every other one of the strip.
 */
static void strip_neighbors(struct list *l, uint32_t from, uint32_t n)
{
	const uint32_t triangles = n / 2 < 2 ? 0 : n / 2 - 2;

	for (uint32_t i = 0; i < triangles; i++) {
		const uint32_t at = from + 2 * i;
		const uint32_t before = i ? at - 2 : at + 1;
		const uint32_t next = i + 1 < triangles ? at + 6 : at + 5;

		if (i % 2 == 0) {
			put3(l, at, before, at + 2);
			put3(l, next, at + 4, at + 3);
		} else {
			put3(l, at + 2, before, at);
			put3(l, at + 3, at + 4, next);
		}
	}
}

static void separate(struct list *l, uint32_t from, uint32_t n, uint32_t each)
{
	for (uint32_t i = 0; i < n - n % each; i++)
		put(l, from + i);
}

/* Turns a run of vertices without a restart into primitives. */
static void run(struct list *l, uint32_t from, uint32_t n)
{
	switch (l->indices->info->mode) {
	case MESA_PRIM_LINE_STRIP:
	case MESA_PRIM_LINE_LOOP:
		strip_lines(l, from, n);
		break;
	case MESA_PRIM_TRIANGLE_STRIP:
		strip_triangles(l, from, n);
		break;
	case MESA_PRIM_TRIANGLE_STRIP_ADJACENCY:
		strip_neighbors(l, from, n);
		break;
	case MESA_PRIM_TRIANGLE_FAN:
		fan_triangles(l, from, n);
		break;
	case MESA_PRIM_QUAD_STRIP:
		strip_quads(l, from, n);
		break;
	case MESA_PRIM_LINES:
		separate(l, from, n, 2);
		break;
	case MESA_PRIM_TRIANGLES:
		separate(l, from, n, 3);
		break;
	case MESA_PRIM_QUADS:
		separate(l, from, n, 4);
		break;
	default:
		separate(l, from, n, 1);
		break;
	}
	if (l->ends)
		util_dynarray_append(l->ends, uint32_t, l->count);
}

uint32_t tg_indices_list(const struct tg_indices *x, bool first, uint32_t *out,
			 struct util_dynarray *ends)
{
	struct list l = { .indices = x, .first = first, .out = out, .ends = ends };
	const bool restart = x->data && x->info->primitive_restart;
	uint32_t i, from = 0;

	for (i = 0; restart && i < x->count; i++) {
		if (raw_index(x, i) == x->info->restart_index) {
			run(&l, from, i - from);
			from = i + 1;
		}
	}
	run(&l, from, x->count - from);
	return l.count;
}

uint64_t tg_indices_bound(const struct tg_indices *x)
{
	const bool restart = x->data && x->info->primitive_restart;
	uint64_t bound = 0;
	uint32_t i, index;

	if (!x->data)
		return (uint64_t)x->start + x->count;
	for (i = 0; i < x->count; i++) {
		index = raw_index(x, i);
		if (!restart || index != x->info->restart_index)
			bound = MAX2(bound, (uint64_t)index + 1);
	}
	return bound;
}

void tg_indices_read(struct tg_context *ctx, const struct pipe_draw_info *info,
		     const struct pipe_draw_start_count_bias *draw, bool flush,
		     struct tg_indices *x)
{
	const uint64_t at = (uint64_t)draw->start * info->index_size;
	struct tg_resource *r;
	uint64_t there;

	*x = (struct tg_indices){ .info = info, .start = draw->start, .count = draw->count };
	if (!info->index_size)
		return;
	x->bias = draw->index_bias;
	if (info->has_user_indices) {
		x->data = (const uint8_t *)info->index.user + at;
		return;
	}
	r = tg_resource(info->index.resource);
	if (flush && tg_batch_writes(ctx, r->bo))
		tg_context_flush(ctx, "indices");
	else if (ctx->copies && tg_batch_has_written(ctx->copies, r->bo))
		tg_copy_flush(ctx);
	tg_bo_wait(r->bo, true);
	there = r->base.width0 > at ? (r->base.width0 - at) / info->index_size : 0;
	x->data = r->bo->map + r->offset + at;
	x->count = (uint32_t)MIN2(x->count, there);
}
