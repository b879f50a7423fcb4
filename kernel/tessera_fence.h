/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_FENCE_H__
#define __TESSERA_FENCE_H__

#include <linux/dma-fence.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include <drm/gpu_scheduler.h>

struct tessera_heap;

/**
 * struct tessera_timeline - a scheduler and the hardware fences of its jobs
 *
 * One for each queue and one for the binds of each VM. It is apart from those
 * because a reader of a fence's name, which follows RCU, can outlast the queue.
 * Each hardware fence has a reference until it signals.
 */
struct tessera_timeline {
	/** @ref: Held by the owner and by each hardware fence that has not signalled. */
	struct kref ref;
	/** @rcu: Frees the timeline after a grace period. */
	struct rcu_head rcu;
	/** @sched: Scheduler; started and finished by the owner. Unused if @joined. */
	struct drm_gpu_scheduler sched;
	/** @entity: The scheduler's only entity, or one of another scheduler if @joined. */
	struct drm_sched_entity entity;
	/** @joined: @entity is one of several in a scheduler that others own. */
	bool joined;
	/**
	 * @lock: Protects @pending, @seqno, @hurry_seqno and the fences' places in
	 * the list. Taken in interrupts; above the lock of a fence.
	 */
	spinlock_t lock;
	/** @pending: Hardware fences that have not signalled, oldest first. */
	struct list_head pending;
	/** @context: Fence context of the hardware fences. */
	u64 context;
	/** @seqno: Number of the last hardware fence. */
	u64 seqno;
	/** @hurry_work: Gives the slot time slices by @hurry_seqno; NULL if there is no slot. */
	struct delayed_work *hurry_work;
	/** @hurry_wq: Where @hurry_work runs. */
	struct workqueue_struct *hurry_wq;
	/** @hurry_at: When @hurry_work runs for a deadline, in jiffies. */
	unsigned long hurry_at;
	/** @hurry_seqno: Number of the last fence with a deadline that is pending, or 0. */
	u64 hurry_seqno;
	/** @completed: Hardware fences that have signalled, or are about to, without an error. */
	atomic64_t completed;
	/** @name: What fences and the scheduler call it. */
	char name[32];
};

/**
 * struct tessera_fence - completion of one job on the hardware
 */
struct tessera_fence {
	/** @base: The fence; tessera_fence_emit() initializes it. */
	struct dma_fence base;
	/** @timeline: Timeline it belongs to, a reference until the fence signals. */
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
	/** @emitted: @base is initialized. */
	bool emitted;
};

struct tessera_timeline *tessera_timeline_create(const char *fmt, ...) __printf(1, 2);
void tessera_timeline_put(struct tessera_timeline *timeline);
int tessera_timeline_start(struct tessera_timeline *timeline,
			   const struct drm_sched_backend_ops *ops,
			   struct workqueue_struct *submit_wq, u32 credits,
			   long timeout, struct workqueue_struct *timeout_wq,
			   struct device *dev);
int tessera_timeline_join(struct tessera_timeline *timeline, struct drm_gpu_scheduler *sched,
			  enum drm_sched_priority priority);
void tessera_timeline_stop(struct tessera_timeline *timeline);

struct tessera_fence *tessera_fence_create(struct tessera_timeline *timeline);
void tessera_fence_drop(struct tessera_fence *fence);
struct dma_fence *tessera_fence_emit(struct tessera_fence *fence);
struct dma_fence *tessera_fence_emit_done(struct tessera_fence *fence, int error);

unsigned int tessera_timeline_signal(struct tessera_timeline *timeline, u64 last, int error);
bool tessera_timeline_signal_some(struct tessera_timeline *timeline, u64 last);
struct tessera_fence *tessera_timeline_oldest_fence(struct tessera_timeline *timeline);
struct tessera_fence *tessera_timeline_newest_fence(struct tessera_timeline *timeline);
u64 tessera_timeline_pending(struct tessera_timeline *timeline);
u64 tessera_timeline_oldest(struct tessera_timeline *timeline);
bool tessera_timeline_idle(struct tessera_timeline *timeline);

#endif
