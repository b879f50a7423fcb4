// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Jobs
 *
 * In the backend "slot", each queue has a scheduler of its own with one entity. The
 * scheduler handles dependencies and the room on the ring, and the device everything
 * else. All that a job needs is allocated by the ioctl, so run_job() only writes 128
 * bytes and rings the doorbell. tessera_sched_engine.c is the other backend.
 */

#include <linux/dma-fence.h>
#include <linux/slab.h>

#include <drm/tessera_drm.h>

#include "tessera_device.h"
#include "tessera_fence.h"
#include "tessera_heap.h"
#include "tessera_perfmon.h"
#include "tessera_pm.h"
#include "tessera_queue.h"
#include "tessera_sched.h"
#include "tessera_trace.h"
#include "tessera_watch.h"

/**
 * tessera_engine_name() - name of an engine class
 * @engine_class: enum drm_tessera_engine_class
 *
 * Return: the name that fdinfo and debugfs use.
 */
const char *tessera_engine_name(u32 engine_class)
{
	static const char * const name[] = {
		[DRM_TESSERA_ENGINE_BIN] = "bin",
		[DRM_TESSERA_ENGINE_RENDER] = "render",
		[DRM_TESSERA_ENGINE_COMPUTE] = "compute",
		[DRM_TESSERA_ENGINE_COPY] = "copy",
	};

	return name[engine_class];
}

/**
 * tessera_job_prepare() - next dependency of a job
 * @sched_job: job
 * @entity: entity of its queue
 *
 * Return: a reference to a job of the same SUBMIT to wait for, or NULL if there is none.
 */
struct dma_fence *tessera_job_prepare(struct drm_sched_job *sched_job,
				      struct drm_sched_entity *entity)
{
	struct tessera_job *job = to_tessera_job(sched_job);

	while (job->next_after < job->num_after) {
		struct dma_fence *fence = job->after[job->next_after++];

		if (!dma_fence_is_signaled(fence))
			return dma_fence_get(fence);
	}

	return NULL;
}

/**
 * tessera_job_run_locked() - put a job on the ring of its queue
 * @job: job; the caller holds the queue's lock, and a queue that is not dead has a ring
 *
 * The job of a dead queue gets its error instead.
 *
 * Return: the hardware fence, a reference for the scheduler.
 */
struct dma_fence *tessera_job_run_locked(struct tessera_job *job)
{
	struct tessera_queue *queue = job->queue;
	struct dma_fence *fence;

	lockdep_assert_held(&queue->lock);

	/* A fence and not an error pointer, so that the timeline is held. */
	if (queue->dead)
		return tessera_fence_emit_done(job->done, queue->dead);

	fence = tessera_fence_emit(job->done);
	trace_tessera_job_run(queue, job);
	tessera_queue_hw_emit(queue, job, fence->seqno);
	tessera_watch_start(queue);

	return fence;
}

static struct dma_fence *tessera_job_run(struct drm_sched_job *sched_job)
{
	struct tessera_job *job = to_tessera_job(sched_job);
	bool signalling = dma_fence_begin_signalling();
	struct dma_fence *fence;

	mutex_lock(&job->queue->lock);
	fence = tessera_job_run_locked(job);
	mutex_unlock(&job->queue->lock);
	dma_fence_end_signalling(signalling);

	return fence;
}

/**
 * tessera_job_free() - free a job whose fence has signaled
 * @sched_job: job
 */
void tessera_job_free(struct drm_sched_job *sched_job)
{
	tessera_job_destroy(to_tessera_job(sched_job));
}

/* No timedout_job: tessera_watch.c looks for hangs. */
const struct drm_sched_backend_ops tessera_queue_sched_ops = {
	.prepare_job = tessera_job_prepare,
	.run_job = tessera_job_run,
	.free_job = tessera_job_free,
};

/**
 * tessera_job_create() - make a job with all it will ever need
 * @queue: queue to run on
 * @file: file that submits it
 * @cmd_va: user's stream
 * @cmd_size: its bytes
 * @max_after: most earlier jobs of the same SUBMIT it waits for
 *
 * Return: the job or an error pointer.
 */
struct tessera_job *tessera_job_create(struct tessera_queue *queue, struct drm_file *file,
				       u64 cmd_va, u32 cmd_size, u32 max_after)
{
	struct tessera_job *job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!job)
		return ERR_PTR(-ENOMEM);

	if (max_after) {
		job->after = kcalloc(max_after, sizeof(*job->after), GFP_KERNEL_ACCOUNT);
		if (!job->after)
			goto err_free;
	}

	job->done = tessera_fence_create(queue->timeline);
	if (!job->done)
		goto err_free;

	ret = drm_sched_job_init(&job->base, &queue->timeline->entity, 1, file, file->client_id);
	if (ret)
		goto err_fence;

	kref_get(&queue->ref);
	tessera_pm_get_awake(queue->tdev);
	job->queue = queue;
	job->cmd_va = cmd_va;
	job->cmd_size = cmd_size;
	job->done->cmd_va = cmd_va;
	job->done->cmd_size = cmd_size;

	return job;

err_fence:
	tessera_fence_drop(job->done);
err_free:
	kfree(job->after);
	kfree(job);
	return ERR_PTR(ret);
}

/**
 * tessera_job_destroy() - free a job that is done or was never armed
 * @job: job
 */
void tessera_job_destroy(struct tessera_job *job)
{
	struct tessera_queue *queue = job->queue;
	u32 i;

	drm_sched_job_cleanup(&job->base);
	tessera_pm_put(queue->tdev);
	for (i = 0; i < job->num_after; i++)
		dma_fence_put(job->after[i]);
	kfree(job->after);
	tessera_fence_drop(job->done);
	tessera_perfmon_put(job->perfmon);
	kfree(job);
	/* Last: it keeps the device, and that the module. */
	tessera_queue_put(queue);
}
