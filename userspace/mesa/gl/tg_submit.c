/* SPDX-License-Identifier: MIT */
/*
 * Batches become jobs of the screen's queues, which all contexts share: each batch is a point of
 * one timeline.
 */
#include <errno.h>

#include "util/log.h"
#include "util/os_time.h"

#include "tg_context.h"
#include "tg_fence.h"
#include "tg_share.h"
#include "tg_submit.h"

#define MOST_IN_FLIGHT	8u	/* batches; who submits more waits */
#define BIN_BYTES	TG_STREAM_BYTES(TSR_BIN_QWORDS)
#define RENDER_BYTES	TG_STREAM_BYTES(TSR_RENDER_QWORDS)

/* The address of the queue's word in an array of struct tg_progress. */
static uint64_t word_of(const struct tg_batch *b, size_t array, enum tg_engine engine)
{
	return b->ctx->screen->progress->va + array +
	       sizeof(uint64_t) * tg_queue_number(b->ctx->priority, engine);
}

uint64_t *tg_stream_begin(struct tg_batch *b, enum tg_engine engine, uint64_t *words)
{
	const struct tsr_fence fence = { .event = TSR_EVENT_REACHED,
					 .addr = word_of(b, offsetof(struct tg_progress, begun),
							 engine),
					 .value = b->number };
	const struct tsr_barrier barrier = { .wait_writes = true,
					     .inv_read = true,
					     .inv_code = true };

	tsr_pack_fence(words, &fence);
	tsr_pack_barrier(words + TSR_FENCE_QWORDS, &barrier);
	return words + TG_STREAM_BEGIN_QWORDS;
}

void tg_stream_end(struct tg_batch *b, enum tg_engine engine, uint64_t *words)
{
	b->end[engine] = words;
}

/* The job of the engine writes @point to @addr when it has ended. */
static void end_at(struct tg_batch *b, enum tg_engine engine, uint64_t addr, uint64_t point)
{
	const struct tsr_fence fence = { .event = TSR_EVENT_ALL_DONE, .addr = addr,
					 .value = point };

	tsr_pack_fence(b->end[engine], &fence);
}

/* The point does not wait for the job of @engine itself, only for one after it. */
static void end_early(struct tg_batch *b, enum tg_engine engine, uint64_t point)
{
	end_at(b, engine, word_of(b, offsetof(struct tg_progress, early), engine), point);
	b->job->early = 1u << tg_queue_number(b->ctx->priority, engine);
}

/* The job of @engine signals the point. */
static void end_last(struct tg_batch *b, enum tg_engine engine, uint64_t point)
{
	end_at(b, engine, word_of(b, offsetof(struct tg_progress, last), engine), point);
}

/* The two streams. */
static bool write_streams(struct tg_batch *b, const struct tg_frame *f, uint64_t va[2])
{
	uint64_t *bin = tg_batch_alloc(b, BIN_BYTES, 64, &va[0]);
	uint64_t *render = tg_batch_alloc(b, RENDER_BYTES, 64, &va[1]);

	if (!bin || !render)
		return false;
	bin = tg_stream_begin(b, TG_BIN, bin);
	tsr_pack_bin(bin, &(struct tsr_bin){
				  .list = b->list_va, .size = b->list_size, .frame = f->va });
	tg_stream_end(b, TG_BIN, bin + TSR_BIN_QWORDS);
	render = tg_stream_begin(b, TG_RENDER, render);
	tsr_pack_render(render, &(struct tsr_render){ .list = f->render_va,
						      .size = f->render_size,
						      .frame = f->va });
	tg_stream_end(b, TG_RENDER, render + TSR_RENDER_QWORDS);
	return true;
}

static void set_heap(const struct tg_frame *f, struct tsr_tiler_heap *heap)
{
	struct tsr_frame frame;

	tsr_unpack_frame(f->words, &frame);
	frame.heap = tsr_tiler_heap_va(heap);
	frame.heap_size = 0;		/* the kernel gives it more when it is full */
	tsr_pack_frame(f->words, &frame);
}

/* The last point that uses what the copies write, or writes what they read. */
static uint64_t copies_wait(const struct tg_batch *copies)
{
	uint64_t wait = 0;

	util_dynarray_foreach(&copies->job->bos, struct tg_bo *, bo) {
		const uint64_t point = tg_batch_has_written(copies, *bo)
					       ? atomic_load(&(*bo)->used)
					       : atomic_load(&(*bo)->written);

		wait = MAX2(wait, point);
	}
	return wait;
}

static struct tsr_queue *queue_of(const struct tg_batch *b, enum tg_engine engine)
{
	return b->ctx->screen->queue[tg_queue_number(b->ctx->priority, engine)];
}

/*
 * The last batch, if it was for other queues, else 0. All jobs of a batch wait for it: batches run
 * in order, and jobs of an engine share scratch memory.
 */
static uint64_t other_queues(const struct tg_batch *b)
{
	const struct tg_screen *screen = b->ctx->screen;

	return screen->submitted_priority != b->ctx->priority ? screen->submitted : 0;
}

/* The fences that the context's next jobs wait for; @job is the first of them. */
static int add_waits(const struct tg_batch *b, int job)
{
	int ret = 0;

	util_dynarray_foreach(&b->ctx->waits, struct tsr_sync *, wait) {
		ret = tsr_submit_wait(b->ctx->screen->submit, job, *wait, 0);
		if (ret)
			break;
	}
	return ret;
}

/* The job of a frame's copies. Its number or a negative errno. */
static int add_copies(struct tg_screen *screen, struct tg_batch *copies)
{
	const uint64_t wait = MAX3(copies_wait(copies), copies->ctx->waited_point,
				   other_queues(copies));
	struct tsr_submit *s = screen->submit;
	int job = tsr_submit_job(s, queue_of(copies, TG_COPY), copies->list_va, copies->list_size);
	int ret = job < 0 ? job : 0;

	if (!ret && wait > atomic_load(&screen->completed))
		ret = tsr_submit_wait(s, job, screen->timeline, wait);
	if (!ret)
		ret = add_waits(copies, job);
	if (!ret)
		ret = tg_share_before(copies, job, job);
	return ret ? ret : job;
}

/* The jobs of BIN and RENDER; the number of RENDER's or a negative errno. */
static int add_frame(struct tg_screen *screen, struct tg_batch *b, const uint64_t va[2], int copy)
{
	struct tsr_submit *s = screen->submit;
	int bin = tsr_submit_job(s, queue_of(b, TG_BIN), va[0], BIN_BYTES), render, ret;

	if (bin < 0)
		return bin;
	render = tsr_submit_job(s, queue_of(b, TG_RENDER), va[1], RENDER_BYTES);
	if (render < 0)
		return render;
	ret = tsr_submit_after(s, render, bin);
	if (!ret && copy >= 0)
		ret = tsr_submit_after(s, render, copy);
	if (!ret && copy >= 0 && b->bin_copies)
		ret = tsr_submit_after(s, bin, copy);
	return ret ? ret : render;
}

/* The jobs of one batch, with the lock held. Negative errno. */
static int flush(struct tg_screen *screen, struct tg_batch *b, const uint64_t va[2],
		 struct tg_batch *copies, uint64_t point)
{
	const unsigned slot = point % TG_HEAPS;
	const uint64_t wait = MAX3(screen->heap_point[slot], b->bin_wait, other_queues(b));
	struct tsr_submit *s = screen->submit;
	const int copy = copies ? add_copies(screen, copies) : -1;
	const int render = copies && copy < 0 ? copy : add_frame(screen, b, va, copy);
	const int bin = render - 1;
	int ret = render < 0 ? render : 0;

	if (!ret)
		ret = tsr_submit_heap(s, bin, screen->heap[slot]);
	if (!ret)
		ret = tsr_submit_heap(s, render, screen->heap[slot]);
	if (!ret && wait > atomic_load(&screen->completed))
		ret = tsr_submit_wait(s, bin, screen->timeline, wait);
	if (!ret)
		ret = add_waits(b, bin);
	if (!ret && screen->order_point > atomic_load(&screen->completed))
		ret = tsr_submit_wait(s, render, screen->timeline, screen->order_point);
	if (!ret)
		ret = tg_share_before(b, bin, render);
	if (!ret)
		ret = tsr_submit_signal(s, render, screen->timeline, point);
	if (!ret)
		ret = tsr_submit_flush(s);
	if (ret)
		tsr_submit_reset(s);
	return ret;
}

/* Points are signalled in order, so a single job waits for the one before. */
static int flush_alone(struct tg_screen *screen, struct tg_batch *b, enum tg_engine engine,
		       uint64_t va, uint32_t size, uint64_t point)
{
	struct tsr_submit *s = screen->submit;
	int job = tsr_submit_job(s, queue_of(b, engine), va, size), ret = job < 0 ? job : 0;

	if (!ret && point - 1 > atomic_load(&screen->completed))
		ret = tsr_submit_wait(s, job, screen->timeline, point - 1);
	if (!ret)
		ret = add_waits(b, job);
	if (!ret)
		ret = tg_share_before(b, job, job);
	if (!ret)
		ret = tsr_submit_signal(s, job, screen->timeline, point);
	if (!ret)
		ret = tsr_submit_flush(s);
	if (ret)
		tsr_submit_reset(s);
	return ret;
}

/* The batch is the last one of the timeline. @engines: a bit for each. The lock is held. */
static void remember(struct tg_screen *screen, struct tg_batch *b, uint32_t engines, uint64_t point)
{
	screen->submitted = point;
	b->job->point = point;
	b->job->queues = engines << tg_queue_number(b->ctx->priority, 0);
	screen->submitted_priority = b->ctx->priority;
	util_dynarray_foreach(&b->job->bos, struct tg_bo *, bo)
		atomic_store(&(*bo)->used, point);
	set_foreach(b->written, entry)
		atomic_store(&((struct tg_bo *)entry->key)->written, point);
	tg_share_after(b, point);
	list_addtail(&b->job->link, &screen->batches);
	if (b->ctx->waits.size) {
		b->ctx->waited_point = point;
		tg_fence_forget(b->ctx);
	}
}

/* After a submission, without the lock. */
static uint64_t submitted(struct tg_screen *screen, uint64_t point, int ret)
{
	if (ret) {
		mesa_loge("tessera: a batch is lost: %s", tsr_error_message());
		return 0;
	}
	if (point > MOST_IN_FLIGHT)
		tg_screen_wait(screen, point - MOST_IN_FLIGHT, OS_TIMEOUT_INFINITE);
	tg_screen_retire(screen);
	return point;
}

uint64_t tg_submit_alone(struct tg_batch *b, enum tg_engine engine, uint64_t va, uint32_t size)
{
	struct tg_screen *screen = b->ctx->screen;
	uint64_t point;
	int ret;

	simple_mtx_lock(&screen->lock);
	point = screen->submitted + 1;
	end_last(b, engine, point);
	ret = flush_alone(screen, b, engine, va, size, point);
	if (ret == -ECANCELED && tg_screen_mend(screen))
		ret = flush_alone(screen, b, engine, va, size, point);
	if (!ret) {
		remember(screen, b, 1u << engine, point);
		screen->order_point = point;
	}
	simple_mtx_unlock(&screen->lock);
	return submitted(screen, point, ret);
}

uint64_t tg_submit(struct tg_batch *b, struct tg_frame *f, struct tg_batch *copies)
{
	struct tg_screen *screen = b->ctx->screen;
	uint64_t va[2], point;
	int ret;

	if (!write_streams(b, f, va))
		return 0;
	simple_mtx_lock(&screen->lock);
	point = screen->submitted + 1;
	if (copies)
		end_early(copies, TG_COPY, point);
	end_early(b, TG_BIN, point);
	end_last(b, TG_RENDER, point);
	set_heap(f, screen->heap[point % TG_HEAPS]);
	ret = flush(screen, b, va, copies, point);
	if (ret == -ECANCELED && tg_screen_mend(screen)) {
		set_heap(f, screen->heap[point % TG_HEAPS]);
		ret = flush(screen, b, va, copies, point);
	}
	if (!ret) {
		if (copies)
			remember(screen, copies, 1u << TG_COPY, point);
		remember(screen, b, 1u << TG_BIN | 1u << TG_RENDER, point);
		screen->heap_point[point % TG_HEAPS] = point;
	}
	simple_mtx_unlock(&screen->lock);
	return submitted(screen, point, ret);
}

void tg_submit_check(struct tg_screen *screen, uint64_t point)
{
	tg_screen_wait(screen, point, OS_TIMEOUT_INFINITE);
	simple_mtx_lock(&screen->lock);
	tg_screen_mend(screen);
	simple_mtx_unlock(&screen->lock);
}
