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
 * fences. Both can outlive queue, VM, file, device and module. A hardware fence
 * has a lock of its own and no release operation, so the core detaches it from
 * the driver when it signals. It holds its timeline until then, and the timeline
 * stays for an RCU grace period longer, because readers of its name do not hold it.
 *
 * A waiter can set a deadline (&dma_fence_ops.set_deadline). Until the last fence
 * with a deadline has signalled, the queue gets longer time slices. Its priority
 * stays as it is: the device takes one only for a slot that is disabled.
 */

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "tessera_fence.h"
#include "tessera_heap.h"
#include "tessera_trace.h"

/* Fences signaled without a break. */
#define SIGNAL_STEP	32

/* Time before a deadline from which a queue gets longer time slices: about one frame. */
#define HURRY_AHEAD_MS	16

static const char *tessera_fence_driver_name(struct dma_fence *fence)
{
	return "tessera";
}

static const char *tessera_fence_timeline_name(struct dma_fence *fence)
{
	return container_of(fence, struct tessera_fence, base)->timeline->name;
}

/* From any context, in an RCU section, with a fence that may signal at any moment. */
static void tessera_fence_set_deadline(struct dma_fence *base, ktime_t deadline)
{
	struct tessera_fence *fence = container_of(base, struct tessera_fence, base);
	struct tessera_timeline *timeline = fence->timeline;
	s64 ms = ktime_ms_delta(deadline, ktime_get()) - HURRY_AHEAD_MS;
	unsigned long delay, at, flags;

	delay = ms > 0 ? msecs_to_jiffies(min_t(s64, ms, INT_MAX)) : 0;
	at = jiffies + delay;
	spin_lock_irqsave(&timeline->lock, flags);
	/* A pending fence has a job, and that the owner of the work. */
	if (timeline->hurry_work && !list_empty(&fence->node)) {
		bool first = !timeline->hurry_seqno;

		/* tessera_queue_hw_set_timeslice() reads both without the lock. */
		WRITE_ONCE(timeline->hurry_seqno, max(timeline->hurry_seqno, base->seqno));
		if (first || time_before(at, timeline->hurry_at)) {
			WRITE_ONCE(timeline->hurry_at, at);
			mod_delayed_work(timeline->hurry_wq, timeline->hurry_work, delay);
		}
	}
	spin_unlock_irqrestore(&timeline->lock, flags);
}

static const struct dma_fence_ops tessera_fence_ops = {
	.get_driver_name = tessera_fence_driver_name,
	.get_timeline_name = tessera_fence_timeline_name,
	.set_deadline = tessera_fence_set_deadline,
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
	struct tessera_timeline *timeline = container_of(ref, struct tessera_timeline, ref);

	kfree_rcu(timeline, rcu);
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
 * tessera_timeline_join() - use a scheduler that others use as well
 * @timeline: timeline, instead of tessera_timeline_start()
 * @sched: scheduler that outlives the timeline's entity
 * @priority: priority of the timeline's jobs
 *
 * Return: 0 or a negative error.
 */
int tessera_timeline_join(struct tessera_timeline *timeline, struct drm_gpu_scheduler *sched,
			  enum drm_sched_priority priority)
{
	timeline->joined = true;

	return drm_sched_entity_init(&timeline->entity, priority, &sched, 1, NULL);
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
	if (!timeline->joined)
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
		tessera_timeline_put(fence->timeline);
		kfree(fence);
	}
}

static void tessera_fence_init(struct tessera_fence *fence)
{
	struct tessera_timeline *timeline = fence->timeline;

	lockdep_assert_held(&timeline->lock);

	dma_fence_init64(&fence->base, &tessera_fence_ops, NULL, timeline->context,
			 ++timeline->seqno);
	fence->emitted = true;
}

/*
 * Signals @fence, which may go with it, under the lock of its timeline: so fences signal in their
 * order. The owner of the timeline has another reference.
 */
static void tessera_fence_signal(struct tessera_fence *fence, int error)
{
	struct tessera_timeline *timeline = fence->timeline;

	lockdep_assert_held(&timeline->lock);

	if (error)
		dma_fence_set_error(&fence->base, error);
	/* The job, and with it the owner of the work, can go as soon as the fence has signalled. */
	if (timeline->hurry_seqno && fence->base.seqno >= timeline->hurry_seqno) {
		WRITE_ONCE(timeline->hurry_seqno, 0);
		mod_delayed_work(timeline->hurry_wq, timeline->hurry_work, 0);
	}
	tessera_fence_leave_heap(fence);
	trace_tessera_fence_signal(fence, error);
	dma_fence_signal(&fence->base);
	tessera_timeline_put(timeline);
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
	tessera_fence_signal(fence, error);
	spin_unlock_irqrestore(&timeline->lock, flags);

	return dma_fence_get(&fence->base);
}

/* Signals at most SIGNAL_STEP fences and returns how many. */
static unsigned int timeline_signal_step(struct tessera_timeline *timeline, u64 last, int error)
{
	struct tessera_fence *fence, *next;
	unsigned int count = 0;
	unsigned long flags;

	spin_lock_irqsave(&timeline->lock, flags);
	list_for_each_entry_safe(fence, next, &timeline->pending, node) {
		if (fence->base.seqno > last || count == SIGNAL_STEP)
			break;
		list_del_init(&fence->node);
		if (!error) {
			/* First: who sees the fence must find its job counted. */
			atomic64_inc(&timeline->completed);
			if (fence->jobs)
				atomic64_inc(fence->jobs);
		}
		tessera_fence_signal(fence, error);
		dma_fence_put(&fence->base);
		count++;
	}
	spin_unlock_irqrestore(&timeline->lock, flags);

	return count;
}

/**
 * tessera_timeline_signal() - signal pending fences
 * @timeline: timeline
 * @last: number of the last one to signal
 * @error: error to set on each, or 0
 *
 * From any context. Interrupts are enabled between groups of fences if the caller has them enabled.
 *
 * Return: how many fences signalled.
 */
unsigned int tessera_timeline_signal(struct tessera_timeline *timeline, u64 last, int error)
{
	unsigned int step, count = 0;

	do {
		step = timeline_signal_step(timeline, last, error);
		count += step;
	} while (step == SIGNAL_STEP);

	return count;
}

/**
 * tessera_timeline_signal_some() - signal pending fences in an interrupt
 * @timeline: timeline
 * @last: number of the last one to signal
 *
 * Signals so few that an interrupt handler can do it.
 *
 * Return: true if more fences may be left, which need tessera_timeline_signal().
 */
bool tessera_timeline_signal_some(struct tessera_timeline *timeline, u64 last)
{
	return timeline_signal_step(timeline, last, 0) == SIGNAL_STEP;
}

static struct tessera_fence *timeline_pending_fence(struct tessera_timeline *timeline, bool newest)
{
	struct tessera_fence *fence = NULL;
	unsigned long flags;

	spin_lock_irqsave(&timeline->lock, flags);
	if (!list_empty(&timeline->pending)) {
		fence = newest ? list_last_entry(&timeline->pending, struct tessera_fence, node) :
				 list_first_entry(&timeline->pending, struct tessera_fence, node);
		dma_fence_get(&fence->base);
	}
	spin_unlock_irqrestore(&timeline->lock, flags);

	return fence;
}

/**
 * tessera_timeline_oldest_fence() - fence of the oldest job that is not done
 * @timeline: timeline
 *
 * Return: a reference, or NULL if everything that was emitted has signalled.
 */
struct tessera_fence *tessera_timeline_oldest_fence(struct tessera_timeline *timeline)
{
	return timeline_pending_fence(timeline, false);
}

/**
 * tessera_timeline_newest_fence() - fence of the last job that is not done
 * @timeline: timeline
 *
 * Return: as tessera_timeline_oldest_fence().
 */
struct tessera_fence *tessera_timeline_newest_fence(struct tessera_timeline *timeline)
{
	return timeline_pending_fence(timeline, true);
}

/**
 * tessera_timeline_pending() - jobs that are not done
 * @timeline: timeline on which nothing is emitted meanwhile
 *
 * Return: how many fences are pending. They signal in their order, so their numbers have no gaps.
 */
u64 tessera_timeline_pending(struct tessera_timeline *timeline)
{
	u64 oldest = tessera_timeline_oldest(timeline);

	return oldest ? timeline->seqno - oldest + 1 : 0;
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
