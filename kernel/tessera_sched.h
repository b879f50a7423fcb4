/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_SCHED_H__
#define __TESSERA_SCHED_H__

#include <drm/gpu_scheduler.h>

struct dma_fence;
struct tessera_fence;
struct tessera_heap;
struct tessera_perfmon;
struct tessera_queue;

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

struct drm_file;

struct tessera_job *tessera_job_create(struct tessera_queue *queue, struct drm_file *file,
				       u64 cmd_va, u32 cmd_size, u32 max_after);
void tessera_job_destroy(struct tessera_job *job);
const char *tessera_engine_name(u32 engine_class);

#endif
