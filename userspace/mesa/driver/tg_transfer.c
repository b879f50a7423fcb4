/* SPDX-License-Identifier: MIT */
/* The CPU's view of resources: linear ones as they are, tiled ones by way of a copy in rows. */
#include "util/u_memory.h"
#include "util/u_surface.h"
#include "util/u_transfer.h"
#include "util/u_transfer_helper.h"

#include "tg_batch.h"
#include "tg_context.h"
#include "tg_resource.h"

/* Whatever is behind it may go: new memory if the old one is in use. */
static bool replace(struct tg_context *ctx, struct tg_resource *r)
{
	struct tg_bo *fresh;

	if (r->bo->shared)
		return false;
	if (!tg_batch_uses(ctx, r->bo) && !tg_bo_busy(r->bo, false))
		return true;
	fresh = tg_bo_create(ctx->screen, r->size, "renamed");
	if (!fresh)
		return false;
	tg_bo_reference(&r->bo, fresh);
	tg_bo_reference(&fresh, NULL);
	tg_context_renamed(ctx, r);
	return true;
}

/* See that the CPU may do what @usage says. False: it would have to wait, and must not. */
static bool synchronize(struct tg_context *ctx, struct tg_resource *r, unsigned usage)
{
	const bool reads_only = !(usage & PIPE_MAP_WRITE);

	if (usage & PIPE_MAP_UNSYNCHRONIZED)
		return true;
	if (usage & PIPE_MAP_DISCARD_WHOLE_RESOURCE && !(usage & PIPE_MAP_PERSISTENT) &&
	    replace(ctx, r))
		return true;
	if (reads_only ? tg_batch_writes(ctx, r->bo) : tg_batch_uses(ctx, r->bo))
		tg_context_flush(ctx, "map");
	if (usage & PIPE_MAP_DONTBLOCK && tg_bo_busy(r->bo, reads_only))
		return false;
	tg_bo_wait(r->bo, reads_only);
	return true;
}

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
	pipe_resource_reference(&t->base.resource, NULL);
	slab_free(&ctx->transfers, t);
}

static void *buffer_map(struct pipe_context *pipe, struct pipe_resource *resource, unsigned level,
			unsigned usage, const struct pipe_box *box, struct pipe_transfer **out)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_resource *r = tg_resource(resource);
	struct tg_transfer *t;

	if (usage & PIPE_MAP_DISCARD_RANGE && !box->x && box->width == (int)resource->width0 &&
	    !(resource->flags & PIPE_RESOURCE_FLAG_MAP_PERSISTENT))
		usage |= PIPE_MAP_DISCARD_WHOLE_RESOURCE;
	if (!synchronize(ctx, r, usage))
		return NULL;
	t = transfer_new(ctx, resource, level, usage, box);
	if (!t)
		return NULL;
	*out = &t->base;
	return r->bo->map + r->offset + box->x;
}

static void buffer_unmap(struct pipe_context *pipe, struct pipe_transfer *transfer)
{
	transfer_free(tg_context(pipe), (struct tg_transfer *)transfer);
}

/* Copy between the rows of the transfer and the tiles of the resource. */
static void copy_tiles(struct tg_transfer *t, bool write)
{
	const struct tg_resource *r = tg_resource(t->base.resource);
	const struct tg_level *l = &r->level[t->base.level];
	const struct pipe_box *box = &t->base.box;
	const struct tsr_surface surface = {
		.width = u_minify(r->base.width0, t->base.level),
		.height = u_minify(r->base.height0, t->base.level),
		.layout = TSR_LAYOUT_TILED, .texel = r->texel, .pitch = l->pitch,
	};
	int z;

	for (z = 0; z < box->depth; z++) {
		uint8_t *tiles = r->bo->map + tg_resource_offset(r, t->base.level, box->z + z, 0);
		uint8_t *rows = (uint8_t *)t->staging + z * t->base.layer_stride;

		if (write)
			tsr_surface_write(&surface, tiles, box->x, box->y, box->width, box->height,
					  rows, t->base.stride);
		else
			tsr_surface_read(&surface, tiles, box->x, box->y, box->width, box->height,
					 rows, t->base.stride);
	}
}

/* Rows of their own. */
static void *map_tiled(struct tg_transfer *t)
{
	const struct tg_resource *r = tg_resource(t->base.resource);

	t->base.stride = t->base.box.width * r->texel;
	t->base.layer_stride = (uintptr_t)t->base.stride * t->base.box.height;
	t->staging = malloc(t->base.layer_stride * t->base.box.depth + !t->base.layer_stride);
	if (t->staging && t->base.usage & PIPE_MAP_READ)
		copy_tiles(t, false);
	return t->staging;
}

static void *map_linear(struct tg_transfer *t)
{
	const struct tg_resource *r = tg_resource(t->base.resource);
	const struct tg_level *l = &r->level[t->base.level];
	const struct pipe_box *box = &t->base.box;
	const unsigned bw = util_format_get_blockwidth(r->format);
	const unsigned bh = util_format_get_blockheight(r->format);

	t->base.stride = l->pitch;
	t->base.layer_stride = r->base.target == PIPE_TEXTURE_3D ? l->slice : r->layer;
	return r->bo->map + tg_resource_offset(r, t->base.level, box->z, 0) +
	       (size_t)(box->y / bh) * l->pitch + (size_t)(box->x / bw) * r->texel;
}

void *tg_texture_map(struct pipe_context *pipe, struct pipe_resource *resource, unsigned level,
		     unsigned usage, const struct pipe_box *box, struct pipe_transfer **out)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_resource *r = tg_resource(resource);
	struct tg_transfer *t;
	void *map;

	if (resource->nr_samples > 1 ||
	    (r->layout == TSR_LAYOUT_TILED && usage & PIPE_MAP_DIRECTLY))
		return NULL;
	/* other levels and layers are kept */
	if (usage & PIPE_MAP_DISCARD_WHOLE_RESOURCE &&
	    (resource->last_level || resource->array_size > 1))
		usage &= ~PIPE_MAP_DISCARD_WHOLE_RESOURCE;
	if (!synchronize(ctx, r, usage))
		return NULL;
	t = transfer_new(ctx, resource, level, usage, box);
	if (!t)
		return NULL;
	map = r->layout == TSR_LAYOUT_TILED ? map_tiled(t) : map_linear(t);
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

	if (t->staging && transfer->usage & PIPE_MAP_WRITE)
		copy_tiles(t, true);
	transfer_free(tg_context(pipe), t);
}

void tg_flush_region(struct pipe_context *pipe, struct pipe_transfer *transfer,
		     const struct pipe_box *box)
{
}

void tg_resource_context_init(struct pipe_context *pipe)
{
	pipe->buffer_map = buffer_map;
	pipe->buffer_unmap = buffer_unmap;
	pipe->texture_map = u_transfer_helper_transfer_map;
	pipe->texture_unmap = u_transfer_helper_transfer_unmap;
	pipe->transfer_flush_region = u_transfer_helper_transfer_flush_region;
	pipe->buffer_subdata = u_default_buffer_subdata;
	pipe->texture_subdata = u_default_texture_subdata;
	pipe->clear_buffer = u_default_clear_buffer;
	pipe->clear_texture = u_default_clear_texture;
}
