/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_SCHED_H__
#define __TESSERA_SCHED_H__

#include <linux/mutex.h>
#include <linux/types.h>

#include <drm/gpu_scheduler.h>

#include "tessera_as.h"
#include "tessera_device.h"

struct dma_fence;
struct tessera_fence;
struct tessera_heap;
struct tessera_perfmon;
struct tessera_queue;
struct tessera_vm;

/**
 * struct tessera_job - one job
 *
 * Life of a job, and who may free it::
 *
 *   created   tessera_job_create()          the submitting ioctl
 *   armed     drm_sched_job_arm()           nobody: it will run
 *   queued    drm_sched_entity_push_job()   the scheduler; waits for dependencies
 *   running   run_job(): on the ring        the scheduler; @done is pending
 *   signalled the interrupt, or recovery    the scheduler
 *   freed     free_job()
 *
 * The job holds its queue, the queue its VM, and the VM what is mapped, from
 * creation until it is freed.
 */
struct tessera_job {
	/** @base: Scheduler job. */
	struct drm_sched_job base;
	/** @queue: Queue, a reference. */
	struct tessera_queue *queue;
	/** @cmd_va: User's stream. */
	u64 cmd_va;
	/** @cmd_size: Its bytes, 0 for a job that only signals. */
	u32 cmd_size;
	/** @heap: Tiler heap, which @done holds, or NULL. */
	struct tessera_heap *heap;
	/** @perfmon: Performance monitor, a reference, or NULL. */
	struct tessera_perfmon *perfmon;
	/** @num_after: Entries of @after. */
	u32 num_after;
	/** @next_after: First entry that has not been waited for. */
	u32 next_after;
	/**
	 * @after: Fences of earlier jobs of the same SUBMIT to wait for. They
	 * exist only once those jobs are armed, when adding a dependency to the
	 * scheduler's array could fail, so they are kept here.
	 */
	struct dma_fence **after;
	/** @done: Hardware fence. */
	struct tessera_fence *done;
};

extern const struct drm_sched_backend_ops tessera_queue_sched_ops;
extern const struct drm_sched_backend_ops tessera_engine_sched_ops;

static inline struct tessera_job *to_tessera_job(struct drm_sched_job *job)
{
	return container_of(job, struct tessera_job, base);
}

struct drm_file;

struct tessera_job *tessera_job_create(struct tessera_queue *queue, struct drm_file *file,
				       u64 cmd_va, u32 cmd_size, u32 max_after);
void tessera_job_destroy(struct tessera_job *job);
struct dma_fence *tessera_job_prepare(struct drm_sched_job *sched_job,
				      struct drm_sched_entity *entity);
struct dma_fence *tessera_job_run_locked(struct tessera_job *job);
void tessera_job_free(struct drm_sched_job *sched_job);
const char *tessera_engine_name(u32 engine_class);

/**
 * struct tessera_engine - scheduler and pool of slots of an engine class
 */
struct tessera_engine {
	/** @sched: Scheduler of all queues of the class. */
	struct drm_gpu_scheduler sched;
	/** @name: Name of @sched. */
	char name[24];
	/** @first_slot: First slot of the pool. */
	u32 first_slot;
	/** @num_slots: Slots of the pool, 0 if the device has no such engine. */
	u32 num_slots;
	/** @wanted: A queue waits for a slot; the others let their rings run empty. */
	bool wanted;
	/** @stopped: @sched runs no jobs; &tessera_device.reset.lock protects it. */
	bool stopped;
};

/**
 * struct tessera_engines - the submission backend "engine"
 *
 * Documentation/driver/jobs.md describes it.
 */
struct tessera_engines {
	/**
	 * @lock: Protects the rest, the relation of queues and slots, and &tessera_vm.as.
	 * Below &tessera_device.reset.lock, above &tessera_vm.op_lock. Fences wait for it.
	 */
	struct mutex lock;
	/** @class: The engine classes. */
	struct tessera_engine class[TESSERA_NUM_CLASSES];
	/** @error: Error of all jobs once the device is given up, else 0. */
	int error;
	/** @clock: Counts the jobs that ran, as time for @slot and @as. */
	u64 clock;
	/** @slot: The slots of all pools. */
	struct {
		/** @slot.ring: Ring; without memory once the device is gone. */
		struct tessera_ring ring;
		/** @slot.used: @clock of its last job, 0 if no queue has the slot. */
		u64 used;
	} slot[TSR_QUEUES_MAX];
	/** @as: The address spaces. */
	struct {
		/** @as.vm: VM in it or NULL. */
		struct tessera_vm *vm;
		/** @as.used: @clock of its last job. */
		u64 used;
	} as[TSR_ADDRESS_SPACES_MAX];
};

/* tessera_sched_engine.c: without effect in the backend "slot" */
int tessera_engines_init(struct tessera_device *tdev);
void tessera_engines_fini(struct tessera_device *tdev, int error);
void tessera_engine_stop(struct tessera_device *tdev, u32 engine_class);
void tessera_engines_stop(struct tessera_device *tdev);
void tessera_engines_start(struct tessera_device *tdev);
void tessera_engines_end(struct tessera_device *tdev, int error);
void tessera_engine_emit_again(struct tessera_queue *queue);
u32 tessera_engine_timeslice(const struct tessera_queue *queue);

/* tessera_slots.c: in the backend "engine" only */
struct dma_fence *tessera_slots_wait(struct tessera_queue *queue, u32 depth);
int tessera_slots_prepare(struct tessera_queue *queue);
void tessera_slots_enter(struct tessera_queue *queue, u32 slot);
void tessera_slots_leave(struct tessera_queue *queue);
void tessera_slots_offer(struct tessera_queue *queue);
void tessera_slots_forget_queue(struct tessera_queue *queue);
void tessera_slots_forget_vm(struct tessera_vm *vm);

#endif
