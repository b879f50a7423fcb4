/* SPDX-License-Identifier: MIT */
#include "util/log.h"
#include "util/u_framebuffer.h"
#include "util/u_memory.h"

#include "tg_context.h"
#include "tg_copy.h"
#include "tc_format.h"
#include "tg_frame.h"
#include "tg_resource.h"
#include "tg_submit.h"
#include "tg_trace.h"

#define CHUNK		(64u << 10)
#define PIECE_QWORDS	512u		/* of BIN's list; the last ones are a jump */

static _Atomic uint64_t numbers;

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool new_chunk(struct tg_batch *b, uint64_t size)
{
	struct tg_screen *screen = b->ctx->screen;
	struct tsr_alloc chunk;
	unsigned attempt = 0;
	int ret;

	do {
		ret = tsr_pool_alloc(screen->lists, MAX2(size, CHUNK), 4096, &chunk);
	} while (ret && tg_bo_reclaim(screen, attempt++));
	if (ret) {
		if (!b->failed)
			mesa_loge("tessera: %s", tsr_error_message());
		b->failed = true;
		return false;
	}
	util_dynarray_append(&b->job->chunks, struct tsr_alloc, chunk);
	b->chunk = chunk.cpu;
	b->chunk_va = chunk.va;
	b->chunk_size = chunk.size;
	b->chunk_used = 0;
	return true;
}

void *tg_batch_alloc(struct tg_batch *b, uint64_t size, uint32_t align, uint64_t *va)
{
	uint64_t at = align64(b->chunk_used, align);

	if (at + size > b->chunk_size) {
		if (!new_chunk(b, size))
			return NULL;
		at = 0;
	}
	b->chunk_used = at + size;
	*va = b->chunk_va + at;
	return b->chunk + at;
}

static bool new_piece(struct tg_batch *b)
{
	struct tsr_list_jump jump = { .size = PIECE_QWORDS * 8 };
	uint64_t *piece = tg_batch_alloc(b, PIECE_QWORDS * 8, 64, &jump.addr);

	if (!piece)
		return false;
	if (b->list) {
		tsr_pack_list_jump(b->list + b->list_used, &jump);
		if (!b->list_size)
			b->list_size = (b->list_used + TSR_LIST_JUMP_QWORDS) * 8;
	} else {
		b->list_va = jump.addr;
	}
	b->list = piece;
	b->list_used = 0;
	return true;
}

uint64_t *tg_batch_packet(struct tg_batch *b, unsigned qwords)
{
	uint64_t *at;

	if ((!b->list || b->list_used + qwords + TSR_LIST_JUMP_QWORDS > PIECE_QWORDS) &&
	    !new_piece(b))
		return NULL;
	at = b->list + b->list_used;
	b->list_used += qwords;
	return at;
}

/* ---- References ------------------------------------------------------------------------------ */

void tg_batch_use(struct tg_batch *b, struct tg_bo *bo, bool write)
{
	struct tg_bo *held = NULL;
	bool found;

	if (write)
		_mesa_set_add(b->written, bo);
	if (atomic_exchange(&bo->batch, b->number) == b->number)
		return;
	_mesa_set_search_or_add(b->used, bo, &found);
	if (found)
		return;
	tg_bo_reference(&held, bo);
	util_dynarray_append(&b->job->bos, struct tg_bo *, held);
}

void tg_batch_use_code(struct tg_batch *b, struct tg_code *code)
{
	struct tg_code *held = NULL;

	if (!code || atomic_exchange(&code->batch, b->number) == b->number)
		return;
	tg_code_reference(&held, code);
	util_dynarray_append(&b->job->codes, struct tg_code *, held);
}

void tg_batch_use_binned(struct tg_batch *b, struct tg_bo *bo)
{
	tg_batch_use(b, bo, false);
	b->bin_wait = MAX2(b->bin_wait, atomic_load(&bo->written));
	if (b->ctx->copies && tg_batch_has_written(b->ctx->copies, bo))
		b->bin_copies = true;
}

bool tg_batch_has(const struct tg_batch *b, const struct tg_bo *bo)
{
	return atomic_load(&bo->batch) == b->number || _mesa_set_search(b->used, bo);
}

bool tg_batch_has_written(const struct tg_batch *b, const struct tg_bo *bo)
{
	return _mesa_set_search(b->written, bo);
}

bool tg_batch_uses(const struct tg_context *ctx, const struct tg_bo *bo)
{
	return (ctx->batch && tg_batch_has(ctx->batch, bo)) ||
	       (ctx->copies && tg_batch_has(ctx->copies, bo));
}

bool tg_batch_writes(const struct tg_context *ctx, const struct tg_bo *bo)
{
	return (ctx->batch && tg_batch_has_written(ctx->batch, bo)) ||
	       (ctx->copies && tg_batch_has_written(ctx->copies, bo));
}

void tg_job_free(struct tg_screen *screen, struct tg_job *job)
{
	util_dynarray_foreach(&job->bos, struct tg_bo *, bo)
		tg_bo_reference(bo, NULL);
	util_dynarray_foreach(&job->codes, struct tg_code *, code)
		tg_code_reference(code, NULL);
	util_dynarray_foreach(&job->chunks, struct tsr_alloc, chunk)
		tsr_pool_free(screen->lists, chunk);
	util_dynarray_fini(&job->bos);
	util_dynarray_fini(&job->codes);
	util_dynarray_fini(&job->chunks);
	FREE(job);
}

/* ---- The object ------------------------------------------------------------------------------ */

static void use_surface(struct tg_batch *b, struct pipe_surface *surface)
{
	struct tg_resource *r = surface ? tg_resource(surface->texture) : NULL;

	if (r)
		tg_batch_use(b, r->bo, true);
	if (r && r->stencil)
		tg_batch_use(b, tg_resource(r->stencil)->bo, true);
}

static void take_framebuffer(struct tg_batch *b)
{
	const struct pipe_framebuffer_state *fb = &b->ctx->framebuffer;
	enum pipe_format zs = fb->zsbuf ? fb->zsbuf->format : PIPE_FORMAT_NONE;
	unsigned i;

	util_copy_framebuffer_state(&b->fb, fb);
	b->samples_log2 = util_logbase2(MAX2(util_framebuffer_get_num_samples(fb), 1));
	b->layers = MAX2(util_framebuffer_get_num_layers(fb), 1);
	for (i = 0; i < fb->nr_cbufs; i++) {
		use_surface(b, fb->cbufs[i]);
		if (fb->cbufs[i])
			b->targets |= 1u << i;
	}
	use_surface(b, fb->zsbuf);
	if (zs != PIPE_FORMAT_NONE && zs != PIPE_FORMAT_S8_UINT)
		b->targets |= TG_DEPTH_BIT;
	if (tc_stencil_format(zs))
		b->targets |= TG_STENCIL_BIT;
}

struct tg_batch *tg_batch_new(struct tg_context *ctx)
{
	struct tg_batch *b = CALLOC_STRUCT(tg_batch);

	if (!b)
		return NULL;
	b->job = CALLOC_STRUCT(tg_job);
	b->used = _mesa_pointer_set_create(NULL);
	b->written = _mesa_pointer_set_create(NULL);
	if (!b->job || !b->used || !b->written) {
		_mesa_set_destroy(b->used, NULL);
		_mesa_set_destroy(b->written, NULL);
		FREE(b->job);
		FREE(b);
		return NULL;
	}
	b->ctx = ctx;
	b->job->ctx = ctx;
	b->number = atomic_fetch_add(&numbers, 1) + 1;
	b->job->number = b->number;
	util_dynarray_init(&b->job->bos, NULL);
	util_dynarray_init(&b->job->codes, NULL);
	util_dynarray_init(&b->job->chunks, NULL);
	util_dynarray_init(&b->packets, NULL);
	return b;
}

struct tg_batch *tg_batch_get(struct tg_context *ctx)
{
	struct tg_batch *b = ctx->batch;
	unsigned i;

	if (b)
		return b;
	b = tg_batch_new(ctx);
	if (!b)
		return NULL;
	take_framebuffer(b);
	ctx->batch = b;
	ctx->dirty = TG_DIRTY_ALL;
	for (i = 0; i < PIPE_SHADER_TYPES; i++)
		ctx->stage[i].dirty = TG_DIRTY_STAGE_ALL;
	return b;
}

static void batch_free(struct tg_batch *b, bool submitted)
{
	util_unreference_framebuffer_state(&b->fb);
	if (!submitted)
		tg_job_free(b->ctx->screen, b->job);
	_mesa_set_destroy(b->used, NULL);
	_mesa_set_destroy(b->written, NULL);
	util_dynarray_fini(&b->packets);
	FREE(b);
}

/* ---- Submission ------------------------------------------------------------------------------ */

/* The end of BIN's list. */
static bool finish_list(struct tg_batch *b)
{
	uint64_t *p = tg_batch_packet(b, TSR_LIST_HALT_QWORDS);

	if (!p)
		return false;
	tsr_pack_list_halt(p, &(struct tsr_list_halt){ 0 });
	if (!b->list_size)
		b->list_size = b->list_used * 8;
	return true;
}

/* The copies that the context has collected run as the first job of the frame. */
void tg_batch_submit(struct tg_batch *b)
{
	struct tg_context *ctx = b->ctx;
	struct tg_batch *copies;
	struct tg_frame frame;
	uint64_t point = 0;
	bool ready;

	ctx->batch = NULL;
	ready = finish_list(b) && tg_frame_write(b, &frame) && !b->failed;
	if (!ready || (ctx->copies && !tg_copy_finish(ctx->copies)))
		tg_copy_flush(ctx);
	copies = ctx->copies;
	ctx->copies = NULL;
	if (ready) {
		if (ctx->screen->debug & TG_DEBUG_LISTS)
			tg_trace_lists(b, &frame);
		point = tg_submit(b, &frame, copies);
	}
	if (point) {
		ctx->last_point = point;
		tg_count(ctx->screen->counters, TG_COUNTER_BATCHES, 1);
		tg_count(ctx->screen->counters, TG_COUNTER_DRAWS, b->draws);
		tg_count(ctx->screen->counters, TG_COUNTER_VERTICES, b->vertices);
	}
	if (copies)
		batch_free(copies, point);
	batch_free(b, point);
	if (point && ctx->screen->debug & TG_DEBUG_SYNC)
		tg_submit_check(ctx->screen, point);
}

void tg_batch_submit_alone(struct tg_batch *b, enum tg_engine engine, uint64_t va, uint32_t size)
{
	struct tg_context *ctx = b->ctx;
	const uint64_t point = tg_submit_alone(b, engine, va, size);

	if (point) {
		ctx->last_point = point;
		tg_count(ctx->screen->counters, TG_COUNTER_DISPATCHES, 1);
	}
	batch_free(b, point);
	if (point && ctx->screen->debug & TG_DEBUG_SYNC)
		tg_submit_check(ctx->screen, point);
}

void tg_batch_drop(struct tg_batch *b)
{
	batch_free(b, false);
}

/* Every job of the batch has come to its end. */
static bool has_ended(const struct tg_screen *screen, const struct tg_job *job)
{
	const struct tg_progress *progress = tg_screen_progress(screen);
	bool ended = true;

	u_foreach_bit(queue, job->queues) {
		const uint64_t *word = job->early & 1u << queue ? &progress->early[queue]
								: &progress->last[queue];

		ended &= job->point <= p_atomic_read(word);
	}
	return ended;
}

void tg_screen_retire(struct tg_screen *screen)
{
	struct tg_job *job;
	bool looked = false;

	for (;;) {
		simple_mtx_lock(&screen->lock);
		job = list_is_empty(&screen->batches) ? NULL :
		      list_first_entry(&screen->batches, struct tg_job, link);
		if (job && tg_screen_reached(screen, job->point)) {
			/* lost, maybe: whose it was is known only as long as the jobs are */
			if (!looked && !has_ended(screen, job)) {
				tg_screen_mend(screen);
				looked = true;
			}
			list_del(&job->link);
		} else {
			job = NULL;
		}
		simple_mtx_unlock(&screen->lock);
		if (!job)
			return;
		tg_job_free(screen, job);
	}
}
