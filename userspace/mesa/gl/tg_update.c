/* SPDX-License-Identifier: MIT */
/*
 * The CPU writes to memory that the GPU may use. In this order: write at once if nothing uses the
 * memory; give the resource new memory and copy what is kept, which lets the frame go on; let the
 * COPY engine write, ordered between the frames. Waiting for the GPU is the last resort.
 */
#include "util/format/u_format.h"
#include "util/u_inlines.h"
#include "util/u_memory.h"
#include "util/u_range.h"

#include "tg_copy.h"
#include "tg_transfer.h"

#define BUFFER_RENEW_MOST	(512u << 10)	/* bytes that are copied rather than waited for */
#define TEXTURE_RENEW_MOST	(1u << 20)
#define RENEWED_MOST		(4u << 20)	/* bytes of such copies in a frame */
#define FETCH_LEAST		(512u << 10)	/* bytes: fewer texels the CPU reads itself */

/* ---- What is in use -------------------------------------------------------------------------- */

bool tg_is_idle(struct tg_context *ctx, struct tg_resource *r)
{
	return !tg_batch_uses(ctx, r->bo) && !tg_bo_busy(r->bo, false);
}

/* The GPU writes it, or will with what has been recorded. */
static bool is_written(struct tg_context *ctx, struct tg_resource *r)
{
	return tg_batch_writes(ctx, r->bo) || tg_bo_busy(r->bo, true);
}

/* Others know the memory, or the program has an address in it. */
static bool is_fixed(const struct tg_resource *r)
{
	return r->bo->shared || r->base.flags & PIPE_RESOURCE_FLAG_MAP_PERSISTENT;
}

/* Submit what is recorded and uses the memory. */
static void submit(struct tg_context *ctx, struct tg_resource *r, bool write_only)
{
	struct tg_batch *frame = ctx->batch;
	const bool framed = frame && (write_only ? tg_batch_has_written(frame, r->bo)
						 : tg_batch_has(frame, r->bo));

	if (framed)
		tg_context_flush(ctx, "map");
	else if (write_only ? tg_batch_writes(ctx, r->bo) : tg_batch_uses(ctx, r->bo))
		tg_copy_flush(ctx);
}

bool tg_sync(struct tg_context *ctx, struct tg_resource *r, unsigned usage)
{
	const bool reads_only = !(usage & PIPE_MAP_WRITE);

	if (usage & PIPE_MAP_UNSYNCHRONIZED)
		return true;
	if (usage & PIPE_MAP_DISCARD_WHOLE_RESOURCE && !(usage & PIPE_MAP_PERSISTENT) &&
	    tg_replace(ctx, r))
		return true;
	submit(ctx, r, reads_only);
	if (usage & PIPE_MAP_DONTBLOCK && tg_bo_busy(r->bo, reads_only))
		return false;
	tg_bo_wait(r->bo, reads_only);
	return true;
}

/* ---- New memory ------------------------------------------------------------------------------ */

/* Frames hold the old memory until they are done; a frame that holds much of it is submitted. */
static void account(struct tg_context *ctx, uint64_t size)
{
	if (!ctx->batch)
		return;
	ctx->batch->staged += size;
	if (ctx->batch->staged > RENEWED_MOST)
		tg_context_flush(ctx, "many updates");
}

static void set_bo(struct tg_context *ctx, struct tg_resource *r, struct tg_bo *fresh)
{
	tg_bo_reference(&r->bo, fresh);
	tg_context_renamed(ctx, r);
}

bool tg_replace(struct tg_context *ctx, struct tg_resource *r)
{
	struct tg_bo *fresh;

	if (is_fixed(r))
		return false;
	if (tg_is_idle(ctx, r)) {
		util_range_set_empty(&r->valid);
		return true;
	}
	/* targets of the frame keep their memory until it is submitted */
	if (ctx->batch && tg_batch_has_written(ctx->batch, r->bo))
		tg_context_flush(ctx, "new memory of what is drawn to");
	fresh = tg_resource_memory(ctx->screen, &r->base, r->mem.size);
	if (!fresh)
		return false;
	account(ctx, r->mem.size);
	set_bo(ctx, r, fresh);
	tg_bo_reference(&fresh, NULL);
	util_range_set_empty(&r->valid);
	return true;
}

/*
 * New memory that keeps [@start, @end) of the old one. The CPU copies it unless the GPU writes the
 * old memory; then the COPY engine does, before the frame begins.
 */
static bool renew(struct tg_context *ctx, struct tg_resource *r, uint64_t start, uint64_t end)
{
	struct tg_bo *fresh = tg_resource_memory(ctx->screen, &r->base, r->mem.size);

	if (!fresh)
		return false;
	start += r->offset;
	end += r->offset;
	if (start >= end) {
		/* there is nothing to keep */
	} else if (!is_written(ctx, r)) {
		memcpy(fresh->map + start, r->bo->map + start, end - start);
	} else if (tg_copy_begin(ctx, fresh, r->bo)) {
		tg_copy_linear(ctx, fresh->va + start, r->bo->va + start, end - start);
	} else {
		tg_bo_reference(&fresh, NULL);
		return false;
	}
	account(ctx, r->mem.size);
	set_bo(ctx, r, fresh);
	tg_bo_reference(&fresh, NULL);
	return true;
}

/* New memory of a buffer. Not if the GPU writes to it: a copy in the right place is cheaper. */
static bool renew_buffer(struct tg_context *ctx, struct tg_resource *r)
{
	if (is_fixed(r) || r->mem.size > BUFFER_RENEW_MOST || is_written(ctx, r))
		return false;
	return renew(ctx, r, r->valid.start, r->valid.end);
}

/* New memory of a texture, if it is @whole overwritten or the frame reads it and it is small. */
static void renew_texture(struct tg_context *ctx, struct tg_resource *r, bool whole)
{
	if (whole)
		tg_replace(ctx, r);
	else if (ctx->batch && tg_batch_has(ctx->batch, r->bo) && !is_fixed(r) &&
		 r->mem.size <= TEXTURE_RENEW_MOST && !tg_batch_has_written(ctx->batch, r->bo))
		renew(ctx, r, 0, r->mem.size);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

bool tg_buffer_ready(struct tg_context *ctx, struct tg_resource *r, unsigned at, unsigned size)
{
	if (!r->bo->shared && !util_ranges_intersect(&r->valid, at, at + size))
		return true;
	if (tg_is_idle(ctx, r))
		return true;
	if (!at && size == r->base.width0)
		return tg_replace(ctx, r);
	return renew_buffer(ctx, r);
}

static bool update_by_engine(struct tg_context *ctx, struct tg_resource *r, unsigned at,
			     unsigned size, const void *data)
{
	uint64_t va;
	void *stage;

	if (!tg_copy_begin(ctx, r->bo, NULL))
		return false;
	stage = tg_copy_stage(ctx, size, &va);
	if (!stage)
		return false;
	memcpy(stage, data, size);
	tg_copy_linear(ctx, r->bo->va + r->offset + at, va, size);
	return true;
}

void tg_buffer_update(struct tg_context *ctx, struct tg_resource *r, unsigned at, unsigned size,
		      const void *data)
{
	const bool ready = tg_buffer_ready(ctx, r, at, size);

	util_range_add(&r->base, &r->valid, at, at + size);
	if (!ready) {
		if (update_by_engine(ctx, r, at, size, data))
			return;
		tg_sync(ctx, r, PIPE_MAP_WRITE);
	}
	memcpy(r->bo->map + r->offset + at, data, size);
}

/* ---- Textures -------------------------------------------------------------------------------- */

/* A box in blocks. */
static void to_blocks(const struct tg_resource *r, const struct pipe_box *box, struct pipe_box *out)
{
	const unsigned width = util_format_get_blockwidth(r->format);
	const unsigned height = util_format_get_blockheight(r->format);

	u_box_3d(box->x / (int)width, box->y / (int)height, box->z,
		 (int)util_format_get_nblocksx(r->format, (unsigned)box->width),
		 (int)util_format_get_nblocksy(r->format, (unsigned)box->height), box->depth, out);
}

/* By the CPU, into memory that nothing uses. */
static void write_texels(struct tg_resource *r, unsigned level, const struct pipe_box *blocks,
			 const uint8_t *data, unsigned stride, uintptr_t layer_stride)
{
	const struct tc_level *l = &r->mem.level[level];
	const struct tsr_surface surface = {
		.width = u_minify(r->base.width0, level),
		.height = u_minify(r->base.height0, level),
		.layout = TSR_LAYOUT_TILED, .texel = r->mem.texel, .pitch = l->pitch,
	};
	int z, y;

	for (z = 0; z < blocks->depth; z++) {
		uint8_t *to = r->bo->map + tg_resource_offset(r, level, blocks->z + z, 0);
		const uint8_t *from = data + z * layer_stride;

		if (r->mem.layout == TSR_LAYOUT_TILED) {
			tsr_surface_write(&surface, to, blocks->x, blocks->y, blocks->width,
					  blocks->height, from, stride);
			continue;
		}
		to += (size_t)blocks->y * l->pitch + (size_t)blocks->x * r->mem.texel;
		for (y = 0; y < blocks->height; y++)
			memcpy(to + (size_t)y * l->pitch, from + (size_t)y * stride,
			       (size_t)blocks->width * r->mem.texel);
	}
}

static bool write_by_engine(struct tg_context *ctx, struct tg_resource *r, unsigned level,
			    const struct pipe_box *blocks, const uint8_t *data, unsigned stride,
			    uintptr_t layer_stride)
{
	const size_t row = (size_t)blocks->width * r->mem.texel, slice = row * blocks->height;
	struct tg_place at = { r, level, 0, 0, (unsigned)blocks->x, (unsigned)blocks->y };
	uint8_t *stage;
	uint64_t va;
	int z, y;

	if (!tg_copy_fits(r) || !tg_copy_begin(ctx, r->bo, NULL))
		return false;
	stage = tg_copy_stage(ctx, slice * blocks->depth, &va);
	if (!stage)
		return false;
	for (z = 0; z < blocks->depth; z++) {
		if (stride == row) {
			memcpy(stage + z * slice, data + z * layer_stride, slice);
		} else {
			for (y = 0; y < blocks->height; y++)
				memcpy(stage + z * slice + y * row,
				       data + z * layer_stride + (size_t)y * stride, row);
		}
		at.layer = (unsigned)(blocks->z + z);
		tg_copy_rows(ctx, &at, (unsigned)blocks->width, (unsigned)blocks->height,
			     va + z * slice, (uint32_t)row, false);
	}
	return true;
}

static bool is_whole(const struct tg_resource *r, const struct pipe_box *box)
{
	const struct pipe_resource *t = &r->base;

	return !t->last_level &&
	       util_texrange_covers_whole_level(t, 0, box->x, box->y, box->z, box->width,
						box->height, box->depth);
}

void tg_texture_update(struct tg_context *ctx, struct tg_resource *r, unsigned level,
		       const struct pipe_box *box, const void *data, unsigned stride,
		       uintptr_t layer_stride)
{
	struct pipe_box blocks;

	to_blocks(r, box, &blocks);
	if (blocks.width <= 0 || blocks.height <= 0 || blocks.depth <= 0)
		return;
	renew_texture(ctx, r, is_whole(r, box));
	if (tg_is_idle(ctx, r)) {
		write_texels(r, level, &blocks, data, stride, layer_stride);
		return;
	}
	if (write_by_engine(ctx, r, level, &blocks, data, stride, layer_stride))
		return;
	tg_sync(ctx, r, PIPE_MAP_WRITE);
	write_texels(r, level, &blocks, data, stride, layer_stride);
}

struct tg_bo *tg_texture_fetch(struct tg_context *ctx, struct tg_resource *r, unsigned level,
			       const struct pipe_box *box)
{
	struct tg_place at = { .resource = r, .level = level };
	struct tg_bo *rows;
	struct pipe_box blocks;
	uint64_t slice;
	int z;

	to_blocks(r, box, &blocks);
	slice = (uint64_t)blocks.width * blocks.height * r->mem.texel;
	if (slice * blocks.depth < FETCH_LEAST || !tg_copy_fits(r))
		return NULL;
	rows = tg_bo_create(ctx->screen, slice * blocks.depth, "rows");
	if (!rows || !tg_copy_begin(ctx, rows, r->bo)) {
		tg_bo_reference(&rows, NULL);
		return NULL;
	}
	at.x = (unsigned)blocks.x;
	at.y = (unsigned)blocks.y;
	for (z = 0; z < blocks.depth; z++) {
		at.layer = (unsigned)(blocks.z + z);
		tg_copy_rows(ctx, &at, (unsigned)blocks.width, (unsigned)blocks.height,
			     rows->va + z * slice, (uint32_t)(blocks.width * r->mem.texel), true);
	}
	tg_copy_flush(ctx);
	tg_bo_wait(rows, true);
	return rows;
}
