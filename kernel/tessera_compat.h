/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_COMPAT_H__
#define __TESSERA_COMPAT_H__

/*
 * What differs between the kernels this driver is built for, all of 6.12.y. The
 * TESSERA_* macros come from Kbuild, which looks into the kernel's headers.
 */

#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>

/**
 * tessera_compat_sched_init() - drm_sched_init(), one run-queue
 * @sched: scheduler to initialize
 * @ops: its operations
 * @submit_wq: runs run_job() and free_job()
 * @credits: jobs that may run at a time
 * @timeout: jiffies until timedout_job() is called
 * @timeout_wq: runs timedout_job()
 * @name: for debugging
 * @dev: for messages
 *
 * Between 6.12.95 and 6.12.117 the arguments became a structure.
 *
 * Return: 0 or a negative error.
 */
static inline int tessera_compat_sched_init(struct drm_gpu_scheduler *sched,
					    const struct drm_sched_backend_ops *ops,
					    struct workqueue_struct *submit_wq, u32 credits,
					    long timeout, struct workqueue_struct *timeout_wq,
					    const char *name, struct device *dev)
{
#ifdef TESSERA_SCHED_INIT_HAS_ARGS
	const struct drm_sched_init_args args = {
		.ops = ops,
		.submit_wq = submit_wq,
		.timeout_wq = timeout_wq,
		.num_rqs = 1,
		.credit_limit = credits,
		.timeout = timeout,
		.name = name,
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
#else
	return drm_sched_init(sched, ops, submit_wq, 1, credits, 0, timeout, timeout_wq, NULL,
			      name, dev);
#endif
}

/**
 * tessera_compat_job_init() - drm_sched_job_init()
 * @job: job
 * @entity: its entity
 * @file: whose job it is
 *
 * 6.12.107 added the client's id for tracing.
 *
 * Return: 0 or a negative error.
 */
static inline int tessera_compat_job_init(struct drm_sched_job *job,
					  struct drm_sched_entity *entity, struct drm_file *file)
{
#ifdef TESSERA_SCHED_JOB_HAS_CLIENT_ID
	return drm_sched_job_init(job, entity, 1, file, file->client_id);
#else
	return drm_sched_job_init(job, entity, 1, file);
#endif
}

/**
 * tessera_compat_timeout_done() - give a job back from timedout_job()
 * @sched: scheduler
 * @bad: the job timedout_job() was called for
 * @parent: returns the hardware fence of a job that has run
 *
 * The scheduler of 6.12 takes the job off its list before it calls
 * timedout_job() and has no way to say "leave it, it is alive" (newer kernels
 * have DRM_GPU_SCHED_STAT_NO_HANG). drm_sched_stop() puts it back, and frees the
 * jobs that have finished meanwhile; it also drops the hardware fences of the
 * others, for which drm_sched_start() would cancel them, so they are put back
 * in between. The scheduler's works do not run from stop to start.
 */
static inline void
tessera_compat_timeout_done(struct drm_gpu_scheduler *sched, struct drm_sched_job *bad,
			    struct dma_fence *(*parent)(struct drm_sched_job *job))
{
	struct drm_sched_job *job;

	drm_sched_stop(sched, bad);
	list_for_each_entry(job, &sched->pending_list, list) {
		if (!job->s_fence->parent)
			job->s_fence->parent = dma_fence_get(parent(job));
	}
	drm_sched_start(sched);
}

#endif
