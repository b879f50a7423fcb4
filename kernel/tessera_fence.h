/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_FENCE_H__
#define __TESSERA_FENCE_H__

#include <linux/dma-fence.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include <drm/gpu_scheduler.h>

struct tessera_heap;

/**
 * struct tessera_timeline - a scheduler and the hardware fences of its jobs
 *
 * One for each queue and one for the binds of each VM. It is apart from those
 * because a fence that user space holds on to keeps pointing here: to the lock,
 * and in 6.12 to the scheduler's name. Each hardware fence has a reference, and
 * each scheduler fence has one to its hardware fence.
 */
struct tessera_timeline {
	/** @ref: Held by the owner and by each hardware fence. */
	struct kref ref;
	/** @sched: Scheduler; started and finished by the owner. */
	struct drm_gpu_scheduler sched;
	/** @entity: The scheduler's only entity. */
	struct drm_sched_entity entity;
	/**
	 * @lock: Lock of the hardware fences, protects @pending, @seqno and the
	 * fences' places in the list. Taken in interrupts; innermost of all.
	 */
	spinlock_t lock;
	/** @pending: Hardware fences that have not signalled, oldest first. */
	struct list_head pending;
	/** @context: Fence context of the hardware fences. */
	u64 context;
	/** @seqno: Number of the last hardware fence. */
	u64 seqno;
	/** @completed: Hardware fences that have signalled, or are about to, without an error. */
	atomic64_t completed;
	/** @name: What fences and the scheduler call it. */
	char name[32];
};

/**
 * struct tessera_fence - completion of one job on the hardware
 */
struct tessera_fence {
	/** @base: The fence; not initialised before tessera_fence_emit(). */
	struct dma_fence base;
	/** @timeline: Timeline it belongs to, a reference. */
	struct tessera_timeline *timeline;
	/** @node: Link in &tessera_timeline.pending. */
	struct list_head node;
	/** @cmd_va: Stream of the job, for dumps. */
	u64 cmd_va;
	/** @cmd_size: Its bytes. */
	u32 cmd_size;
	/** @heap: Heap its job draws with, a reference that ends when it signals, or NULL. */
	struct tessera_heap *heap;
	/** @jobs: Counter of jobs done without error, or NULL. */
	atomic64_t *jobs;
	/** @emitted: @base is initialised. */
	bool emitted;
};

struct tessera_timeline *tessera_timeline_create(const char *fmt, ...) __printf(1, 2);
void tessera_timeline_put(struct tessera_timeline *timeline);
int tessera_timeline_start(struct tessera_timeline *timeline,
			   const struct drm_sched_backend_ops *ops,
			   struct workqueue_struct *submit_wq, u32 credits,
			   long timeout, struct workqueue_struct *timeout_wq,
			   struct device *dev);
void tessera_timeline_stop(struct tessera_timeline *timeline);

struct tessera_fence *tessera_fence_create(struct tessera_timeline *timeline);
void tessera_fence_drop(struct tessera_fence *fence);
struct dma_fence *tessera_fence_emit(struct tessera_fence *fence);
struct dma_fence *tessera_fence_emit_done(struct tessera_fence *fence, int error);

unsigned int tessera_timeline_signal(struct tessera_timeline *timeline, u64 last, int error);
struct tessera_fence *tessera_timeline_oldest_fence(struct tessera_timeline *timeline);
u64 tessera_timeline_oldest(struct tessera_timeline *timeline);
bool tessera_timeline_idle(struct tessera_timeline *timeline);

#endif
