// SPDX-License-Identifier: MIT
/*
 * Submission of passes. A pass is a job on a BIN queue, then one on the RENDER queue, with a heap
 * between the two. Passes use two or three heaps in turn. As many passes as there are BIN queues
 * can be binned at the same time, while the previous one is rendered.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"

#define HEAP_CHUNK	(64u << 10)
#define HEAP_MINIMUM	(4u << 20)
#define HEAP_LIMIT	((uint64_t)DRM_TESSERA_HEAP_SIZE_MAX)
#define HEAP_GROWTH	4u
#define HEAP_REFILLS	8u	/* times the kernel may come too late with memory for a heap */
#define RENDER_STREAM	64u		/* bytes behind the BIN stream in pass->command */

static int create_queues(struct tsr_gfx *gfx)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < gfx->bins; i++)
		ret = tsr_queue_create(gfx->vm, DRM_TESSERA_ENGINE_BIN, DRM_TESSERA_PRIORITY_NORMAL,
				       0, &gfx->bin[i]);
	if (!ret)
		ret = tsr_queue_create(gfx->vm, DRM_TESSERA_ENGINE_RENDER,
				       DRM_TESSERA_PRIORITY_NORMAL, 0, &gfx->render);
	gfx->queues++;
	gfx->jobs = 0;
	return ret;
}

int tsr_gfx_create(struct tsr_vm *vm, struct tsr_gfx **out)
{
	const uint32_t rx = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC;
	struct tsr_device *device = tsr_vm_device(vm);
	const struct drm_tessera_engine_info *bin =
		tsr_device_engine(device, DRM_TESSERA_ENGINE_BIN);
	struct tsr_gfx *gfx;
	int ret;

	if (!device->shader.cores || !bin || !tsr_device_engine(device, DRM_TESSERA_ENGINE_RENDER))
		return tsr_fail(ENODEV, "the GPU has no engines that draw");
	gfx = calloc(1, sizeof(*gfx));
	if (!gfx)
		return tsr_fail(ENOMEM, "no memory for a graphics context");
	atomic_init(&gfx->refs, 1);
	pthread_mutex_init(&gfx->lock, NULL);
	gfx->vm = tsr_vm_ref(vm);
	gfx->bins = bin->instances < TSR_GFX_BIN_QUEUES ? bin->instances : TSR_GFX_BIN_QUEUES;
	gfx->heap_minimum = HEAP_MINIMUM;
	gfx->heap_limit = HEAP_LIMIT;
	ret = tsr_pool_create(vm, 1 << 20, DRM_TESSERA_BO_CACHED, rx, &gfx->pool);
	if (!ret)
		ret = tsr_submit_create(device, &gfx->submit);
	if (!ret)
		ret = tsr_sync_create(device, TSR_SYNC_TIMELINE, &gfx->rendered);
	if (!ret)
		ret = create_queues(gfx);
	if (ret)
		tsr_gfx_unref(gfx);
	else
		*out = gfx;
	return ret;
}

struct tsr_gfx *tsr_gfx_ref(struct tsr_gfx *gfx)
{
	atomic_fetch_add_explicit(&gfx->refs, 1, memory_order_relaxed);
	return gfx;
}

static void free_heap(struct tsr_gfx *gfx, struct gfx_heap *heap)
{
	tsr_tiler_heap_unref(heap->tiler);
	if (heap->tiler)
		heap->va = 0;
	if (heap->va)
		tsr_vm_unmap(gfx->vm, heap->va, tsr_bo_size(heap->bo));
	tsr_bo_unref(heap->bo);
	*heap = (struct gfx_heap){ 0 };
}

static void drop_queues(struct tsr_gfx *gfx)
{
	unsigned int i;

	for (i = 0; i < gfx->bins; i++) {
		tsr_queue_unref(gfx->bin[i]);
		gfx->bin[i] = NULL;
	}
	tsr_queue_unref(gfx->render);
	gfx->render = NULL;
}

void tsr_gfx_unref(struct tsr_gfx *gfx)
{
	unsigned int i;

	if (!gfx || atomic_fetch_sub_explicit(&gfx->refs, 1, memory_order_acq_rel) != 1)
		return;
	drop_queues(gfx);
	tsr_submit_destroy(gfx->submit);
	tsr_sync_unref(gfx->rendered);
	for (i = 0; i < GFX_SLOTS; i++)
		free_heap(gfx, &gfx->heap[i]);
	tsr_pool_unref(gfx->pool);
	tsr_vm_unref(gfx->vm);
	pthread_mutex_destroy(&gfx->lock);
	free(gfx);
}

void tsr_gfx_queues(struct tsr_gfx *gfx, struct tsr_queue *bin[TSR_GFX_BIN_QUEUES],
		    struct tsr_queue **render)
{
	memcpy(bin, gfx->bin, sizeof(gfx->bin));
	*render = gfx->render;
}

int tsr_gfx_set_heap(struct tsr_gfx *gfx, uint64_t initial, uint64_t limit)
{
	unsigned int i;
	int ret = 0;

	limit = limit ? limit : HEAP_LIMIT;
	if (!initial || initial % HEAP_CHUNK || limit % HEAP_CHUNK || initial > limit ||
	    limit > HEAP_LIMIT)
		return tsr_fail(EINVAL, "heap of 0x%llx to 0x%llx bytes, expected multiples of "
				"0x%x up to 0x%llx", (unsigned long long)initial,
				(unsigned long long)limit, HEAP_CHUNK,
				(unsigned long long)HEAP_LIMIT);
	pthread_mutex_lock(&gfx->lock);
	if (gfx->points)
		ret = tsr_sync_wait(gfx->rendered, gfx->points, TSR_DEADLINE_NEVER);
	for (i = 0; !ret && i < GFX_SLOTS; i++)
		free_heap(gfx, &gfx->heap[i]);
	gfx->heap_minimum = initial;
	gfx->heap_limit = limit;
	gfx->heap_given = true;
	pthread_mutex_unlock(&gfx->lock);
	return ret;
}

/* ---- Heaps ----------------------------------------------------------------------------------- */

/* A heap that grows, if the driver has them: -EOPNOTSUPP. */
static int grow_heap(struct tsr_gfx *gfx, struct gfx_heap *heap)
{
	uint64_t initial = tsr_round_up(gfx->heap_minimum, HEAP_CHUNK);
	int ret = tsr_tiler_heap_create(gfx->vm, initial, gfx->heap_limit, HEAP_CHUNK,
					&heap->tiler);

	if (!ret)
		heap->va = tsr_tiler_heap_va(heap->tiler);
	return ret;
}

/* A heap of @size bytes, at a multiple of HEAP_ALIGN. */
static int fixed_heap(struct tsr_gfx *gfx, struct gfx_heap *heap, uint64_t size)
{
	struct tsr_bind map = {
		.op = DRM_TESSERA_BIND_MAP,
		.access = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE,
	};
	int ret = tsr_bo_create(tsr_vm_device(gfx->vm), size, DRM_TESSERA_BO_NO_MMAP, gfx->vm,
				&heap->bo);

	if (ret)
		return ret;
	map.bo = heap->bo;
	map.size = tsr_bo_size(heap->bo);
	ret = tsr_vm_alloc(gfx->vm, map.size,
			   tsr_vm_page_align(gfx->vm, map.size, TSR_HEAP_ALIGN), &map.va);
	if (ret)
		return ret;
	ret = tsr_vm_bind(gfx->vm, &map, 1);
	if (ret) {
		tsr_vm_free(gfx->vm, map.va, map.size);
		return ret;
	}
	heap->va = map.va;
	heap->size = size;
	return 0;
}

/* Make the heap fit for @size bytes. What it was used for has to be drawn first. */
static int provide_heap(struct tsr_gfx *gfx, struct gfx_heap *heap, uint64_t size)
{
	uint64_t point = heap->point;
	int ret;

	if (heap->tiler || (heap->va && heap->size >= size))
		return 0;
	/* how that ended is its owner's business */
	ret = point ? tsr_sync_wait(gfx->rendered, point, TSR_DEADLINE_NEVER) : 0;
	if (ret)
		return ret;
	free_heap(gfx, heap);
	heap->point = point;
	ret = gfx->fixed ? -EOPNOTSUPP : grow_heap(gfx, heap);
	if (ret == -EOPNOTSUPP || ret == -ENOTTY) {
		gfx->fixed = true;
		ret = fixed_heap(gfx, heap, size);
	}
	if (ret)
		free_heap(gfx, heap);
	return ret;
}

static uint64_t heap_size(const struct tsr_gfx *gfx, const struct tsr_gfx_pass *pass)
{
	uint64_t size = gfx->heap_minimum;

	if (!gfx->heap_given && pass->heap_wanted > size)
		size = pass->heap_wanted;
	if (size < pass->heap_least)
		size = pass->heap_least;
	size = tsr_round_up(size, TSR_HEAP_ALIGN);
	return size < gfx->heap_limit ? size : gfx->heap_limit;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* The two streams: what was cached may have changed since, then the command. */
static void write_commands(struct tsr_gfx_pass *pass, unsigned int slot)
{
	const struct tsr_barrier barrier = { .wait_writes = true, .inv_read = true,
					     .inv_code = true };
	uint64_t *p = pass->command[slot];

	tsr_pack_barrier(p, &barrier);
	tsr_pack_bin(p + TSR_BARRIER_QWORDS, &(struct tsr_bin) {
		.list = pass->bin.va, .size = pass->bin.size, .frame = pass->frame_va[slot] });
	p += RENDER_STREAM / 8;
	tsr_pack_barrier(p, &barrier);
	tsr_pack_render(p + TSR_BARRIER_QWORDS, &(struct tsr_render) {
		.list = pass->render_list, .size = pass->render_size,
		.frame = pass->frame_va[slot] });
}

static void set_heap(struct tsr_gfx_pass *pass, unsigned int slot, const struct gfx_heap *heap)
{
	struct tsr_frame frame;

	tsr_unpack_frame(pass->frame[slot], &frame);
	frame.heap = heap->va;
	frame.heap_size = heap->size;
	tsr_pack_frame(pass->frame[slot], &frame);
}

/*
 * BIN writes what a pass streams, and reads what earlier ones have streamed: such a pass waits for
 * all before it, and the next ones, one for each BIN queue, wait for it.
 */
static int order_streams(struct tsr_gfx *gfx, const struct tsr_gfx_pass *pass)
{
	uint64_t point = pass->streams ? gfx->points : gfx->streamed;

	if (!point || (!pass->streams && gfx->points - gfx->streamed >= gfx->bins))
		return 0;
	return tsr_submit_wait(gfx->submit, 0, gfx->rendered, point);
}

static int add_jobs(struct tsr_gfx *gfx, struct tsr_gfx_pass *pass, const struct tsr_point *waits,
		    unsigned int wait_count, const struct tsr_point *signals,
		    unsigned int signal_count)
{
	const struct gfx_heap *heap = &gfx->heap[pass->slot];
	const uint64_t va = pass->command_va[pass->slot], before = heap->point;
	const uint32_t bin = (TSR_BARRIER_QWORDS + TSR_BIN_QWORDS) * 8;
	const uint32_t render = (TSR_BARRIER_QWORDS + TSR_RENDER_QWORDS) * 8;
	unsigned int i;
	int ret;

	ret = tsr_submit_job(gfx->submit, gfx->bin[gfx->points % gfx->bins], va, bin);
	if (ret >= 0)
		ret = tsr_submit_job(gfx->submit, gfx->render, va + RENDER_STREAM, render);
	if (ret >= 0)
		ret = tsr_submit_after(gfx->submit, 1, 0);
	if (!ret)
		ret = gfx_tags_wait(pass, gfx->submit, 0);
	for (i = 0; !ret && heap->tiler && i < 2; i++)
		ret = tsr_submit_heap(gfx->submit, (int)i, heap->tiler);
	for (i = 0; !ret && pass->perfmon && i < 2; i++)
		ret = tsr_submit_perfmon(gfx->submit, (int)i, pass->perfmon);
	for (i = 0; !ret && i < wait_count; i++)
		ret = tsr_submit_wait(gfx->submit, 0, waits[i].sync, waits[i].point);
	if (!ret && before)
		ret = tsr_submit_wait(gfx->submit, 0, gfx->rendered, before);
	if (!ret)
		ret = order_streams(gfx, pass);
	if (!ret)
		ret = tsr_submit_signal(gfx->submit, 0, pass->binned, 0);
	if (!ret)
		ret = tsr_submit_signal(gfx->submit, 1, pass->rendered, 0);
	if (!ret)
		ret = tsr_submit_signal(gfx->submit, 1, gfx->rendered, gfx->points + 1);
	for (i = 0; !ret && i < signal_count; i++)
		ret = tsr_submit_signal(gfx->submit, 1, signals[i].sync, signals[i].point);
	return ret;
}

static int attempt(struct tsr_gfx *gfx, struct tsr_gfx_pass *pass, const struct tsr_point *waits,
		   unsigned int wait_count, const struct tsr_point *signals,
		   unsigned int signal_count)
{
	int ret = gfx->render ? 0 : create_queues(gfx);
	struct gfx_heap *heap;
	unsigned int slot;

	/* may submit passes of its own */
	if (!ret)
		ret = gfx_tags_prepare(pass);
	slot = gfx->points % (gfx->bins + 1);
	heap = &gfx->heap[slot];
	if (!ret)
		ret = provide_heap(gfx, heap, heap_size(gfx, pass));
	if (ret)
		return ret;
	pass->slot = slot;
	set_heap(pass, slot, heap);
	write_commands(pass, slot);
	ret = add_jobs(gfx, pass, waits, wait_count, signals, signal_count);
	if (!ret)
		ret = tsr_submit_flush(gfx->submit);
	if (ret)
		tsr_submit_reset(gfx->submit);
	else
		heap->point = ++gfx->points;
	if (!ret && pass->streams)
		gfx->streamed = gfx->points;
	return ret;
}

int gfx_submit(struct tsr_gfx_pass *pass, const struct tsr_point *waits, unsigned int wait_count,
	       const struct tsr_point *signals, unsigned int signal_count)
{
	struct tsr_gfx *gfx = pass->gfx;
	int ret = gfx_finish(pass);

	if (!ret)
		ret = attempt(gfx, pass, waits, wait_count, signals, signal_count);
	if (ret == -ECANCELED) {
		/* a pass before has failed, and its queues with it: this one gets others */
		drop_queues(gfx);
		ret = attempt(gfx, pass, waits, wait_count, signals, signal_count);
	}
	if (ret)
		return ret;
	pass->refills += pass->starved;
	pass->starved = false;
	pass->submitted = true;
	pass->queues = gfx->queues;
	pass->job = ++gfx->jobs;
	gfx_tags_submitted(pass);
	return 0;
}

int tsr_gfx_submit(struct tsr_gfx_pass *pass, const struct tsr_point *waits,
		   unsigned int wait_count, const struct tsr_point *signals,
		   unsigned int signal_count)
{
	struct tsr_gfx *gfx = pass->gfx;
	int ret = gfx_finish(pass);

	if (!ret)
		ret = gfx_tags_open(pass);
	if (ret)
		return ret;
	pthread_mutex_lock(&gfx->lock);
	ret = gfx_submit(pass, waits, wait_count, signals, signal_count);
	pthread_mutex_unlock(&gfx->lock);
	return ret;
}

/*
 * True if the pass, which has ended, is known not to have failed without its fence. Its queue never
 * lost a job and has completed all jobs up to this one. This needs one call of the kernel, and the
 * status of a fence needs four.
 */
static bool has_succeeded(struct tsr_gfx *gfx, const struct tsr_gfx_pass *pass)
{
	struct drm_tessera_queue_get_state state = { 0 };
	bool known;

	pthread_mutex_lock(&gfx->lock);
	known = gfx->render && pass->queues == gfx->queues &&
		!tsr_queue_get_state(gfx->render, &state, sizeof(state));
	pthread_mutex_unlock(&gfx->lock);
	return known && !state.state && !state.error && state.jobs_completed >= pass->job;
}

/* Why the pass failed: the first step's error is the cause of the second's. */
static int reason(const struct tsr_gfx_pass *pass, int error)
{
	int status;

	return !tsr_sync_get_status(pass->binned, 0, &status) && status < 0 ? status : error;
}

/* True if a larger heap of our own, which the next submission takes, would do. */
static bool larger_helps(struct tsr_gfx *gfx, struct tsr_gfx_pass *pass)
{
	uint64_t size;

	pthread_mutex_lock(&gfx->lock);
	size = gfx->heap[pass->slot].size;
	if (size < gfx->heap_limit)
		pass->heap_least = size * HEAP_GROWTH < gfx->heap_limit ? size * HEAP_GROWTH :
									  gfx->heap_limit;
	pthread_mutex_unlock(&gfx->lock);
	return size < gfx->heap_limit;
}

/*
 * Reports a pass that failed with @error. After a lack of memory the pass can be submitted again. A
 * heap of the library is larger then. A heap of the kernel grows while the binner runs. If the
 * kernel was too slow, its reserve is larger the next time.
 */
static int explain(struct tsr_gfx *gfx, struct tsr_gfx_pass *pass, int error)
{
	bool more = false;

	if (error == -ENOSPC && gfx->fixed)
		more = larger_helps(gfx, pass);
	else if (error == -ENOMEM && !gfx->fixed)
		more = pass->refills < HEAP_REFILLS;
	if (!more)
		return tsr_fail(-error, "a pass failed: %s", tsr_error_string(error));
	pass->starved = true;
	return tsr_fail(EAGAIN, "a pass had too little memory between its steps: submitted again "
			"it gets more");
}

int tsr_gfx_wait(struct tsr_gfx_pass *pass, int64_t deadline)
{
	struct tsr_gfx *gfx = pass->gfx;
	int ret;

	if (!pass->submitted)
		return tsr_fail(EINVAL, "a pass that was not submitted");
	ret = tsr_sync_wait(pass->rendered, 0, deadline);
	if (!ret && has_succeeded(gfx, pass))
		return 0;
	if (!ret)
		ret = tsr_sync_finish(pass->rendered, 0, deadline);
	if (!ret || ret == -ETIME)
		return ret;
	return explain(gfx, pass, reason(pass, ret));
}

int tsr_gfx_run(struct tsr_gfx_pass *pass, int64_t deadline)
{
	int ret;

	do {
		ret = tsr_gfx_submit(pass, NULL, 0, NULL, 0);
		if (!ret)
			ret = tsr_gfx_wait(pass, deadline);
	} while (ret == -EAGAIN);
	return ret;
}
