// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Hardware fences
 *
 * Each job has one, allocated with the job and numbered when the job is put on
 * the ring. The number is what the job's FENCE packet writes to the fence word of
 * the queue's slot, so everything up to the number found there is done.
 *
 * What user space sees are the scheduler's fences, which follow the hardware
 * fences. Both can outlive queue, VM, file and device: a hardware fence holds its
 * timeline and the module.
 */

#include <linux/module.h>
#include <linux/slab.h>

#include "tessera_fence.h"
#include "tessera_heap.h"
#include "tessera_trace.h"

static const char *tessera_fence_driver_name(struct dma_fence *fence)
{
	return "tessera";
}

static const char *tessera_fence_timeline_name(struct dma_fence *fence)
{
	return container_of(fence, struct tessera_fence, base)->timeline->name;
}

static void tessera_fence_free(struct tessera_fence *fence)
{
	tessera_timeline_put(fence->timeline);
	kfree(fence);
}

static void tessera_fence_free_rcu(struct rcu_head *rcu)
{
	tessera_fence_free(container_of(rcu, struct tessera_fence, base.rcu));
}

/*
 * Nobody finds the fence any more, so the module may go. Its exit waits until the
 * callback has run and until no task is in here: see tessera_exit().
 */
static void tessera_fence_release(struct dma_fence *fence)
{
	call_rcu(&fence->rcu, tessera_fence_free_rcu);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops tessera_fence_ops = {
	.get_driver_name = tessera_fence_driver_name,
	.get_timeline_name = tessera_fence_timeline_name,
	.release = tessera_fence_release,
};

/**
 * tessera_timeline_create() - make a timeline
 * @fmt: format of its name
 *
 * Return: the timeline, whose scheduler is not started, or NULL.
 */
struct tessera_timeline *tessera_timeline_create(const char *fmt, ...)
{
	struct tessera_timeline *timeline = kzalloc(sizeof(*timeline), GFP_KERNEL_ACCOUNT);
	va_list args;

	if (!timeline)
		return NULL;

	kref_init(&timeline->ref);
	spin_lock_init(&timeline->lock);
	INIT_LIST_HEAD(&timeline->pending);
	timeline->context = dma_fence_context_alloc(1);
	va_start(args, fmt);
	vsnprintf(timeline->name, sizeof(timeline->name), fmt, args);
	va_end(args);

	return timeline;
}

static void tessera_timeline_release(struct kref *ref)
{
	kfree(container_of(ref, struct tessera_timeline, ref));
}

/**
 * tessera_timeline_put() - drop a reference
 * @timeline: timeline
 */
void tessera_timeline_put(struct tessera_timeline *timeline)
{
	kref_put(&timeline->ref, tessera_timeline_release);
}

/**
 * tessera_timeline_start() - start the scheduler
 * @timeline: timeline
 * @ops: what the scheduler calls
 * @submit_wq: runs jobs
 * @credits: jobs that can be on the hardware at once
 * @timeout: jiffies until timedout_job()
 * @timeout_wq: runs timedout_job()
 * @dev: device, for messages
 *
 * Return: 0 or a negative error.
 */
int tessera_timeline_start(struct tessera_timeline *timeline,
			   const struct drm_sched_backend_ops *ops,
			   struct workqueue_struct *submit_wq, u32 credits,
			   long timeout, struct workqueue_struct *timeout_wq,
			   struct device *dev)
{
	const struct drm_sched_init_args args = {
		.ops = ops,
		.submit_wq = submit_wq,
		.timeout_wq = timeout_wq,
		.num_rqs = 1,
		.credit_limit = credits,
		.timeout = timeout,
		.name = timeline->name,
		.dev = dev,
	};
	struct drm_gpu_scheduler *sched = &timeline->sched;
	int ret;

	ret = drm_sched_init(sched, &args);
	if (ret)
		return ret;

	ret = drm_sched_entity_init(&timeline->entity, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);
	if (ret)
		drm_sched_fini(sched);

	return ret;
}

/**
 * tessera_timeline_stop() - end the scheduler
 * @timeline: timeline without jobs
 *
 * Every job has been through free_job() when the owner calls this: in 6.12
 * drm_sched_fini() would leak the others. Not from a work of the scheduler.
 */
void tessera_timeline_stop(struct tessera_timeline *timeline)
{
	drm_sched_entity_fini(&timeline->entity);
	drm_sched_fini(&timeline->sched);
}

/**
 * tessera_fence_create() - allocate the fence of a job
 * @timeline: timeline of the job
 *
 * Return: the fence, to be emitted or dropped, or NULL.
 */
struct tessera_fence *tessera_fence_create(struct tessera_timeline *timeline)
{
	struct tessera_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);

	if (!fence)
		return NULL;

	__module_get(THIS_MODULE);
	kref_get(&timeline->ref);
	fence->timeline = timeline;
	INIT_LIST_HEAD(&fence->node);

	return fence;
}

/*
 * Before it signals: who sees the fence and destroys the heap must find its range
 * free, while the job itself is freed whenever the scheduler comes to it.
 */
static void tessera_fence_leave_heap(struct tessera_fence *fence)
{
	tessera_heap_put(fence->heap);
	fence->heap = NULL;
}

/**
 * tessera_fence_drop() - end of the job that owns the fence
 * @fence: fence, emitted or not; may be NULL
 */
void tessera_fence_drop(struct tessera_fence *fence)
{
	if (!fence)
		return;

	if (fence->emitted) {
		dma_fence_put(&fence->base);
	} else {
		tessera_fence_leave_heap(fence);
		tessera_fence_free(fence);
		module_put(THIS_MODULE);
	}
}

static void tessera_fence_init(struct tessera_fence *fence)
{
	struct tessera_timeline *timeline = fence->timeline;

	lockdep_assert_held(&timeline->lock);

	dma_fence_init64(&fence->base, &tessera_fence_ops, &timeline->lock, timeline->context,
			 ++timeline->seqno);
	fence->emitted = true;
}

/**
 * tessera_fence_emit() - give the fence the next number and make it pending
 * @fence: fence
 *
 * Return: a reference for the scheduler.
 */
struct dma_fence *tessera_fence_emit(struct tessera_fence *fence)
{
	struct tessera_timeline *timeline = fence->timeline;
	unsigned long flags;

	spin_lock_irqsave(&timeline->lock, flags);
	tessera_fence_init(fence);
	dma_fence_get(&fence->base);
	list_add_tail(&fence->node, &timeline->pending);
	trace_tessera_fence_emit(fence, 0);
	spin_unlock_irqrestore(&timeline->lock, flags);

	return dma_fence_get(&fence->base);
}

/**
 * tessera_fence_emit_done() - give the fence the next number and signal it
 * @fence: fence of a job that is over without having been on a ring
 * @error: 0 or a negative error
 *
 * Return: a reference for the scheduler.
 */
struct dma_fence *tessera_fence_emit_done(struct tessera_fence *fence, int error)
{
	struct tessera_timeline *timeline = fence->timeline;
	unsigned long flags;

	spin_lock_irqsave(&timeline->lock, flags);
	tessera_fence_init(fence);
	if (error)
		dma_fence_set_error(&fence->base, error);
	tessera_fence_leave_heap(fence);
	trace_tessera_fence_signal(fence, error);
	dma_fence_signal_locked(&fence->base);
	spin_unlock_irqrestore(&timeline->lock, flags);

	return dma_fence_get(&fence->base);
}

/**
 * tessera_timeline_signal() - signal pending fences
 * @timeline: timeline
 * @last: number of the last one to signal
 * @error: error to set on each, or 0
 *
 * From any context.
 *
 * Return: how many fences signalled.
 */
unsigned int tessera_timeline_signal(struct tessera_timeline *timeline, u64 last, int error)
{
	struct tessera_fence *fence, *next;
	unsigned int count = 0;
	unsigned long flags;

	spin_lock_irqsave(&timeline->lock, flags);
	list_for_each_entry_safe(fence, next, &timeline->pending, node) {
		if (fence->base.seqno > last)
			break;
		list_del_init(&fence->node);
		if (error) {
			dma_fence_set_error(&fence->base, error);
		} else {
			/* First: who sees the fence must find its job counted. */
			atomic64_inc(&timeline->completed);
			if (fence->jobs)
				atomic64_inc(fence->jobs);
		}
		tessera_fence_leave_heap(fence);
		trace_tessera_fence_signal(fence, error);
		dma_fence_signal_locked(&fence->base);
		dma_fence_put(&fence->base);
		count++;
	}
	spin_unlock_irqrestore(&timeline->lock, flags);

	return count;
}

/**
 * tessera_timeline_oldest_fence() - fence of the oldest job that is not done
 * @timeline: timeline
 *
 * Return: a reference, or NULL if everything that was emitted has signalled.
 */
struct tessera_fence *tessera_timeline_oldest_fence(struct tessera_timeline *timeline)
{
	struct tessera_fence *oldest;
	unsigned long flags;

	spin_lock_irqsave(&timeline->lock, flags);
	oldest = list_first_entry_or_null(&timeline->pending, struct tessera_fence, node);
	if (oldest)
		dma_fence_get(&oldest->base);
	spin_unlock_irqrestore(&timeline->lock, flags);

	return oldest;
}

/**
 * tessera_timeline_oldest() - number of the oldest job that is not done
 * @timeline: timeline
 *
 * Return: its number, 0 if everything that was emitted has signalled.
 */
u64 tessera_timeline_oldest(struct tessera_timeline *timeline)
{
	struct tessera_fence *oldest;
	unsigned long flags;
	u64 seqno;

	spin_lock_irqsave(&timeline->lock, flags);
	oldest = list_first_entry_or_null(&timeline->pending, struct tessera_fence, node);
	seqno = oldest ? oldest->base.seqno : 0;
	spin_unlock_irqrestore(&timeline->lock, flags);

	return seqno;
}

/**
 * tessera_timeline_idle() - has everything that was emitted signalled?
 * @timeline: timeline
 *
 * Return: true if nothing is pending.
 */
bool tessera_timeline_idle(struct tessera_timeline *timeline)
{
	return !tessera_timeline_oldest(timeline);
}
