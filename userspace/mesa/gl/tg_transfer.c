/* SPDX-License-Identifier: MIT */
/*
 * The CPU's view of resources: linear ones as they are, tiled ones by way of a copy in rows. What
 * is only written while the GPU uses it is a copy too, which goes to its place when it is unmapped.
 */
#include "util/u_memory.h"
#include "util/u_range.h"
#include "util/u_surface.h"
#include "util/u_transfer.h"
#include "util/u_transfer_helper.h"

#include "tg_batch.h"
#include "tg_context.h"
#include "tg_copy.h"
#include "tg_resource.h"
#include "tg_transfer.h"

#define FILL_LEAST	4096	/* bytes that the COPY engine fills */

static struct tg_transfer *transfer_new(struct tg_context *ctx, struct pipe_resource *resource,
					unsigned level, unsigned usage, const struct pipe_box *box)
{
	struct tg_transfer *t = slab_zalloc(&ctx->transfers);

	if (!t)
		return NULL;
	pipe_resource_reference(&t->base.resource, resource);
	t->base.level = level;
	t->base.usage = usage;
	t->base.box = *box;
	return t;
}

static void transfer_free(struct tg_context *ctx, struct tg_transfer *t)
{
	free(t->staging);
	tg_bo_reference(&t->rows, NULL);
	pipe_resource_reference(&t->base.resource, NULL);
	slab_free(&ctx->transfers, t);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* The range's contents are not wanted, and the program keeps no address in it. */
static bool is_overwritten(unsigned usage)
{
	return usage & PIPE_MAP_DISCARD_RANGE && usage & PIPE_MAP_WRITE &&
	       !(usage & (PIPE_MAP_READ | PIPE_MAP_UNSYNCHRONIZED | PIPE_MAP_PERSISTENT |
			  PIPE_MAP_COHERENT | PIPE_MAP_DIRECTLY));
}

/* Memory for a range that the GPU uses; NULL if it can be written now or there is none. */
static void *stage_range(struct tg_context *ctx, struct tg_transfer *t)
{
	const struct pipe_box *box = &t->base.box;
	struct tg_resource *r = tg_resource(t->base.resource);

	if (!is_overwritten(t->base.usage) ||
	    tg_buffer_ready(ctx, r, (unsigned)box->x, (unsigned)box->width))
		return NULL;
	t->staging = malloc((size_t)box->width);
	return t->staging;
}

static bool sync_range(struct tg_context *ctx, struct tg_transfer *t)
{
	const struct pipe_box *box = &t->base.box;
	struct tg_resource *r = tg_resource(t->base.resource);
	unsigned usage = t->base.usage;

	/* what was not written is not read */
	if (usage & PIPE_MAP_WRITE && !r->bo->shared &&
	    !util_ranges_intersect(&r->valid, (unsigned)box->x,
				   (unsigned)(box->x + box->width)))
		usage |= PIPE_MAP_UNSYNCHRONIZED;
	if (is_overwritten(usage) && tg_is_idle(ctx, r))
		usage |= PIPE_MAP_UNSYNCHRONIZED;
	return tg_sync(ctx, r, usage);
}

static void *buffer_map(struct pipe_context *pipe, struct pipe_resource *resource, unsigned level,
			unsigned usage, const struct pipe_box *box, struct pipe_transfer **out)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_resource *r = tg_resource(resource);
	struct tg_transfer *t;
	void *stage;

	if (usage & PIPE_MAP_DISCARD_RANGE && !box->x && box->width == (int)resource->width0 &&
	    !(resource->flags & PIPE_RESOURCE_FLAG_MAP_PERSISTENT))
		usage |= PIPE_MAP_DISCARD_WHOLE_RESOURCE;
	t = transfer_new(ctx, resource, level, usage, box);
	if (!t)
		return NULL;
	*out = &t->base;
	stage = stage_range(ctx, t);
	if (stage)
		return stage;
	if (!sync_range(ctx, t)) {
		transfer_free(ctx, t);
		return NULL;
	}
	if (usage & PIPE_MAP_WRITE)
		util_range_add(resource, &r->valid, (unsigned)box->x,
			       (unsigned)(box->x + box->width));
	return r->bo->map + r->offset + box->x;
}

/* Write a part of the mapped range; @from counts from the begin of the range. */
static void flush_range(struct tg_context *ctx, struct tg_transfer *t, unsigned from, unsigned size)
{
	if (t->staging)
		tg_buffer_update(ctx, tg_resource(t->base.resource),
				 (unsigned)t->base.box.x + from, size,
				 (const uint8_t *)t->staging + from);
}

static void buffer_unmap(struct pipe_context *pipe, struct pipe_transfer *transfer)
{
	struct tg_transfer *t = (struct tg_transfer *)transfer;

	if (!(transfer->usage & PIPE_MAP_FLUSH_EXPLICIT))
		flush_range(tg_context(pipe), t, 0, (unsigned)transfer->box.width);
	transfer_free(tg_context(pipe), t);
}

static void buffer_subdata(struct pipe_context *pipe, struct pipe_resource *resource,
			   unsigned usage, unsigned offset, unsigned size, const void *data)
{
	if (usage & (PIPE_MAP_DIRECTLY | PIPE_MAP_UNSYNCHRONIZED))
		u_default_buffer_subdata(pipe, resource, usage, offset, size, data);
	else if (size)
		tg_buffer_update(tg_context(pipe), tg_resource(resource), offset, size, data);
}

static void clear_buffer(struct pipe_context *pipe, struct pipe_resource *resource, unsigned offset,
			 unsigned size, const void *value, int bytes)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_resource *r = tg_resource(resource);

	if (size < FILL_LEAST || size % (unsigned)bytes || bytes > TSR_TEXEL_MAX ||
	    !tg_copy_begin(ctx, r->bo, NULL)) {
		u_default_clear_buffer(pipe, resource, offset, size, value, bytes);
		return;
	}
	util_range_add(resource, &r->valid, offset, offset + size);
	tg_copy_fill(ctx, r->bo->va + r->offset + offset, size, value, (unsigned)bytes);
}

/* ---- Textures -------------------------------------------------------------------------------- */

/* The texels of tiles as rows. */
static void read_tiles(struct tg_transfer *t)
{
	const struct tg_resource *r = tg_resource(t->base.resource);
	const struct tc_level *l = &r->mem.level[t->base.level];
	const struct pipe_box *box = &t->base.box;
	const struct tsr_surface surface = {
		.width = u_minify(r->base.width0, t->base.level),
		.height = u_minify(r->base.height0, t->base.level),
		.layout = TSR_LAYOUT_TILED, .texel = r->mem.texel, .pitch = l->pitch,
	};
	int z;

	for (z = 0; z < box->depth; z++)
		tsr_surface_read(&surface,
				 r->bo->map + tg_resource_offset(r, t->base.level, box->z + z, 0),
				 box->x, box->y, box->width, box->height,
				 (uint8_t *)t->staging + z * t->base.layer_stride, t->base.stride);
}

/* Rows of their own, filled if they are read. */
static void *map_rows(struct tg_context *ctx, struct tg_transfer *t)
{
	struct tg_resource *r = tg_resource(t->base.resource);
	const struct pipe_box *box = &t->base.box;
	const unsigned height = util_format_get_nblocksy(r->format, (unsigned)box->height);

	t->base.stride = util_format_get_nblocksx(r->format, (unsigned)box->width) * r->mem.texel;
	t->base.layer_stride = (uintptr_t)t->base.stride * height;
	if (t->base.usage & PIPE_MAP_READ) {
		if (!(t->base.usage & (PIPE_MAP_UNSYNCHRONIZED | PIPE_MAP_DONTBLOCK)))
			t->rows = tg_texture_fetch(ctx, r, t->base.level, box);
		if (t->rows)
			return t->rows->map;
		if (!tg_sync(ctx, r, t->base.usage & ~PIPE_MAP_WRITE))
			return NULL;
	}
	t->staging = malloc(t->base.layer_stride * (size_t)box->depth + !t->base.layer_stride);
	if (t->staging && t->base.usage & PIPE_MAP_READ)
		read_tiles(t);
	return t->staging;
}

static void *map_linear(struct tg_context *ctx, struct tg_transfer *t)
{
	struct tg_resource *r = tg_resource(t->base.resource);
	const struct tc_level *l = &r->mem.level[t->base.level];
	const struct pipe_box *box = &t->base.box;
	const unsigned bw = util_format_get_blockwidth(r->format);
	const unsigned bh = util_format_get_blockheight(r->format);

	if (is_overwritten(t->base.usage) && !tg_is_idle(ctx, r))
		return map_rows(ctx, t);
	if (!tg_sync(ctx, r, t->base.usage))
		return NULL;
	t->base.stride = l->pitch;
	t->base.layer_stride = r->base.target == PIPE_TEXTURE_3D ? l->slice : r->mem.layer;
	return r->bo->map + tg_resource_offset(r, t->base.level, box->z, 0) +
	       (size_t)(box->y / bh) * l->pitch + (size_t)(box->x / bw) * r->mem.texel;
}

void *tg_texture_map(struct pipe_context *pipe, struct pipe_resource *resource, unsigned level,
		     unsigned usage, const struct pipe_box *box, struct pipe_transfer **out)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_resource *r = tg_resource(resource);
	struct tg_transfer *t;
	void *map;

	if (resource->nr_samples > 1 ||
	    (r->mem.layout == TSR_LAYOUT_TILED && usage & PIPE_MAP_DIRECTLY))
		return NULL;
	/* other levels and layers are kept */
	if (usage & PIPE_MAP_DISCARD_WHOLE_RESOURCE &&
	    (resource->last_level || resource->array_size > 1))
		usage &= ~PIPE_MAP_DISCARD_WHOLE_RESOURCE;
	t = transfer_new(ctx, resource, level, usage, box);
	if (!t)
		return NULL;
	map = r->mem.layout == TSR_LAYOUT_TILED ? map_rows(ctx, t) : map_linear(ctx, t);
	if (!map) {
		transfer_free(ctx, t);
		return NULL;
	}
	*out = &t->base;
	return map;
}

void tg_texture_unmap(struct pipe_context *pipe, struct pipe_transfer *transfer)
{
	struct tg_transfer *t = (struct tg_transfer *)transfer;
	const void *rows = t->rows ? t->rows->map : t->staging;

	if (rows && transfer->usage & PIPE_MAP_WRITE)
		tg_texture_update(tg_context(pipe), tg_resource(transfer->resource),
				  transfer->level, &transfer->box, rows, transfer->stride,
				  transfer->layer_stride);
	transfer_free(tg_context(pipe), t);
}

static void texture_subdata(struct pipe_context *pipe, struct pipe_resource *resource,
			    unsigned level, unsigned usage, const struct pipe_box *box,
			    const void *data, unsigned stride, uintptr_t layer_stride)
{
	struct tg_resource *r = tg_resource(resource);

	if (resource->nr_samples > 1 || r->format != resource->format ||
	    usage & (PIPE_MAP_DIRECTLY | PIPE_MAP_UNSYNCHRONIZED))
		u_default_texture_subdata(pipe, resource, level, usage, box, data, stride,
					  layer_stride);
	else
		tg_texture_update(tg_context(pipe), r, level, box, data, stride, layer_stride);
}

/* ---- Explicit flushes ------------------------------------------------------------------------ */

void tg_flush_region(struct pipe_context *pipe, struct pipe_transfer *transfer,
		     const struct pipe_box *box)
{
	if (transfer->resource->target == PIPE_BUFFER)
		flush_range(tg_context(pipe), (struct tg_transfer *)transfer, (unsigned)box->x,
			    (unsigned)box->width);
}

void tg_resource_context_init(struct pipe_context *pipe)
{
	pipe->buffer_map = buffer_map;
	pipe->buffer_unmap = buffer_unmap;
	pipe->texture_map = u_transfer_helper_transfer_map;
	pipe->texture_unmap = u_transfer_helper_transfer_unmap;
	pipe->transfer_flush_region = u_transfer_helper_transfer_flush_region;
	pipe->buffer_subdata = buffer_subdata;
	pipe->texture_subdata = texture_subdata;
	pipe->clear_buffer = clear_buffer;
	pipe->clear_texture = u_default_clear_texture;
}
