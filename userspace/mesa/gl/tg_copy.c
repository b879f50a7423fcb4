/* SPDX-License-Identifier: MIT */
#include "util/log.h"
#include "util/u_memory.h"

#include "tg_context.h"
#include "tg_copy.h"
#include "tg_submit.h"

#define STAGED_MOST	(16ull << 20)	/* bytes: the copies are submitted then */
#define STAGE_PART	(32ull << 10)	/* what is larger is a BO of its own */
#define PACKETS_MOST	(64u << 10)	/* bytes of a stream */

/* ---- The batch of copies --------------------------------------------------------------------- */

static uint64_t *packet(struct tg_context *ctx, unsigned qwords)
{
	uint64_t *at = util_dynarray_grow(&ctx->copies->packets, uint64_t, qwords);

	if (!at)
		ctx->copies->failed = true;
	return at;
}

/* Copies of a queue run in no order unless a barrier is between them. */
static void order(struct tg_context *ctx, struct tg_bo *dst, struct tg_bo *src)
{
	const struct tg_batch *c = ctx->copies;
	uint64_t *words;

	if (!tg_batch_has(c, dst) && !(src && tg_batch_has_written(c, src)))
		return;
	words = packet(ctx, TSR_BARRIER_QWORDS);
	if (words)
		tsr_pack_barrier(words, &(struct tsr_barrier){ .wait_writes = true });
}

bool tg_copy_begin(struct tg_context *ctx, struct tg_bo *dst, struct tg_bo *src)
{
	const struct tg_batch *frame = ctx->batch;

	if (!tg_screen_has_engine(ctx->screen, ctx->priority, TG_COPY))
		return false;
	if (frame && (tg_batch_has(frame, dst) || (src && tg_batch_has_written(frame, src))))
		tg_context_flush(ctx, "a copy");
	if (ctx->copies && (ctx->copies->staged > STAGED_MOST ||
			    ctx->copies->packets.size > PACKETS_MOST))
		tg_copy_flush(ctx);
	if (!ctx->copies)
		ctx->copies = tg_batch_new(ctx);
	if (!ctx->copies)
		return false;
	order(ctx, dst, src);
	tg_batch_use(ctx->copies, dst, true);
	if (src)
		tg_batch_use(ctx->copies, src, false);
	return true;
}

void *tg_copy_stage(struct tg_context *ctx, uint64_t size, uint64_t *va)
{
	struct tg_batch *c = ctx->copies;
	struct tg_bo *bo;
	void *map;

	c->staged += size;
	if (size <= STAGE_PART)
		return tg_batch_alloc(c, size, 64, va);
	bo = tg_bo_create(ctx->screen, size, "staging");
	if (!bo)
		return NULL;
	tg_batch_use(c, bo, false);
	*va = bo->va;
	map = bo->map;
	/* the batch has a reference now */
	tg_bo_reference(&bo, NULL);
	return map;
}

bool tg_copy_finish(struct tg_batch *c)
{
	const uint32_t qwords = c->packets.size / sizeof(uint64_t);
	const uint32_t bytes = TG_STREAM_BYTES(qwords);
	uint64_t *words = tg_batch_alloc(c, bytes, 64, &c->list_va);

	if (!words || c->failed)
		return false;
	words = tg_stream_begin(c, TG_COPY, words);
	memcpy(words, c->packets.data, c->packets.size);
	tg_stream_end(c, TG_COPY, words + qwords);
	c->list_size = bytes;
	return true;
}

void tg_copy_flush(struct tg_context *ctx)
{
	struct tg_batch *c = ctx->copies, *frame = ctx->batch;

	if (!c)
		return;
	ctx->copies = NULL;
	if (!tg_copy_finish(c)) {
		mesa_loge("tessera: no memory for copies");
		tg_batch_drop(c);
		return;
	}
	tg_batch_submit_alone(c, TG_COPY, c->list_va, c->list_size);
	if (frame && frame->bin_copies) {
		frame->bin_wait = MAX2(frame->bin_wait, ctx->last_point);
		frame->bin_copies = false;
	}
}

/* ---- Packets --------------------------------------------------------------------------------- */

void tg_copy_linear(struct tg_context *ctx, uint64_t dst, uint64_t src, uint64_t size)
{
	uint64_t *words = packet(ctx, TSR_COPY_LINEAR_QWORDS);

	if (words)
		tsr_pack_copy_linear(words, &(struct tsr_copy_linear){
						    .dst = dst, .src = src, .size = size });
}

void tg_copy_fill(struct tg_context *ctx, uint64_t dst, uint64_t size, const void *pattern,
		  unsigned bytes)
{
	struct tsr_fill_linear fill = { .texel = bytes, .dst = dst, .size = size };
	uint64_t *words = packet(ctx, TSR_FILL_LINEAR_QWORDS), all[2] = { 0 };

	if (!words)
		return;
	memcpy(all, pattern, bytes);
	fill.pattern_lo = all[0];
	fill.pattern_hi = all[1];
	tsr_pack_fill_linear(words, &fill);
}

bool tg_copy_fits(const struct tg_resource *r)
{
	unsigned l;

	for (l = 0; r->mem.layout == TSR_LAYOUT_TILED && l <= r->base.last_level; l++) {
		if (r->mem.level[l].pitch % (256 * r->mem.texel))
			return false;
	}
	return r->mem.texel <= TSR_TEXEL_MAX;
}

static uint64_t address(const struct tg_place *p)
{
	return tg_resource_va(p->resource, p->level, p->layer, p->sample);
}

void tg_copy_place(struct tg_context *ctx, const struct tg_place *dst, const struct tg_place *src,
		   unsigned width, unsigned height, unsigned flip)
{
	const struct tsr_copy_rect rect = {
		.src_layout = src->resource->mem.layout,
		.dst_layout = dst->resource->mem.layout,
		.flip_x = flip & TG_FLIP_X,
		.flip_y = !!(flip & TG_FLIP_Y),
		.texel = dst->resource->mem.texel,
		.src = address(src),
		.dst = address(dst),
		.src_pitch = src->resource->mem.level[src->level].pitch,
		.dst_pitch = dst->resource->mem.level[dst->level].pitch,
		.src_x = src->x,
		.src_y = src->y,
		.dst_x = dst->x,
		.dst_y = dst->y,
		.width = width,
		.height = height,
	};
	uint64_t *words = packet(ctx, TSR_COPY_RECT_QWORDS);

	if (words)
		tsr_pack_copy_rect(words, &rect);
}

void tg_copy_rows(struct tg_context *ctx, const struct tg_place *at, unsigned width,
		  unsigned height, uint64_t va, uint32_t pitch, bool write_rows)
{
	const uint32_t level = at->resource->mem.level[at->level].pitch;
	const struct tsr_copy_rect rect = {
		.src_layout = write_rows ? at->resource->mem.layout : TSR_LAYOUT_LINEAR,
		.dst_layout = write_rows ? TSR_LAYOUT_LINEAR : at->resource->mem.layout,
		.texel = at->resource->mem.texel,
		.src = write_rows ? address(at) : va,
		.dst = write_rows ? va : address(at),
		.src_pitch = write_rows ? level : pitch,
		.dst_pitch = write_rows ? pitch : level,
		.src_x = write_rows ? at->x : 0,
		.src_y = write_rows ? at->y : 0,
		.dst_x = write_rows ? 0 : at->x,
		.dst_y = write_rows ? 0 : at->y,
		.width = width,
		.height = height,
	};
	uint64_t *words = packet(ctx, TSR_COPY_RECT_QWORDS);

	if (words)
		tsr_pack_copy_rect(words, &rect);
}
