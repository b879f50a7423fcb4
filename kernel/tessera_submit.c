// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: SUBMIT
 *
 * In phases, each a function: collect (copy, check, look up, allocate), lock (the
 * VM's reservation and those of its shared BOs), commit (arm, publish, push). All
 * that can fail happens before the commit, so a SUBMIT is accepted as a whole or
 * has no effect.
 */

#include <linux/bitops.h>
#include <linux/rbtree.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gpuvm.h>
#include <drm/tessera_drm.h>

#include "tessera_device.h"
#include "tessera_evict.h"
#include "tessera_fence.h"
#include "tessera_heap.h"
#include "tessera_perfmon.h"
#include "tessera_queue.h"
#include "tessera_sched.h"
#include "tessera_submit.h"
#include "tessera_sync.h"
#include "tessera_trace.h"
#include "tessera_uapi.h"
#include "tessera_vm.h"

static_assert((u32)DRM_TESSERA_CMD_SIZE_MAX == (u32)TSR_STREAM_SIZE_MAX);
static_assert((u32)DRM_TESSERA_CMD_ALIGN == (u32)TSR_STREAM_ALIGN);

/**
 * struct tessera_submit_job - one job of a SUBMIT
 */
struct tessera_submit_job {
	/** @job: The job, owned until it is armed. */
	struct tessera_job *job;
	/** @signals: Its signals or NULL. */
	struct tessera_signals *signals;
	/** @after: Bit n: wait for job n. */
	u64 after;
};

/**
 * struct tessera_submit - a SUBMIT
 */
struct tessera_submit {
	/** @file: File it comes from. */
	struct drm_file *file;
	/** @vm: VM of all jobs, a reference; NULL before the first job. */
	struct tessera_vm *vm;
	/** @signals: Index of what the jobs signal that have been collected. */
	struct rb_root signals;
	/** @count: Number of jobs. */
	u32 count;
	/** @entry: The jobs. */
	struct tessera_submit_job entry[] __counted_by(count);
};

static bool job_stream_valid(struct tessera_device *tdev, const struct drm_tessera_job *ujob)
{
	u64 va_end = BIT_ULL(tdev->info.va_bits);

	if (!ujob->cmd_va && !ujob->cmd_size)
		return true;

	return ujob->cmd_va && ujob->cmd_size && ujob->cmd_size <= DRM_TESSERA_CMD_SIZE_MAX &&
	       IS_ALIGNED(ujob->cmd_va, DRM_TESSERA_CMD_ALIGN) &&
	       IS_ALIGNED(ujob->cmd_size, DRM_TESSERA_CMD_SIZE_ALIGN) &&
	       ujob->cmd_va >= TESSERA_VA_START && ujob->cmd_va < va_end &&
	       ujob->cmd_size <= va_end - ujob->cmd_va;
}

static int job_check(struct tessera_submit *submit, const struct drm_tessera_job *ujob,
		     struct tessera_queue *queue)
{
	bool heap_class = queue->engine_class == DRM_TESSERA_ENGINE_BIN ||
			  queue->engine_class == DRM_TESSERA_ENGINE_RENDER;
	int dead = READ_ONCE(queue->dead);

	if (submit->vm && submit->vm != queue->vm)
		return -EINVAL;
	if (ujob->heap_id && !heap_class)
		return -EINVAL;
	if (dead)
		return dead;
	if (READ_ONCE(queue->vm->banned))
		return -ECANCELED;

	return 0;
}

/* Waits for fences from outside become dependencies of the scheduler's job. */
static int job_add_waits(struct tessera_submit *submit, struct tessera_submit_job *entry,
			 const struct drm_tessera_sync *waits, u32 count)
{
	struct dma_fence *fence;
	int ret = 0;
	u64 jobs;
	u32 i;

	for (i = 0; i < count && !ret; i++) {
		ret = tessera_sync_resolve(submit->file, &submit->signals, &waits[i],
					   &jobs, &fence);
		if (ret)
			break;
		entry->after |= jobs;
		if (fence)
			ret = drm_sched_job_add_dependency(&entry->job->base, fence);
	}

	return ret;
}

/* The heap and the perfmon of the job. */
static int job_find(struct tessera_submit *submit, const struct drm_tessera_job *ujob,
		    struct tessera_job *job)
{
	if (ujob->heap_id) {
		job->heap = tessera_heap_lookup(submit->file, ujob->heap_id);
		if (!job->heap)
			return -ENOENT;
		job->done->heap = job->heap;
		if (job->heap->vm != job->queue->vm)
			return -EINVAL;
	}
	if (ujob->perfmon_id) {
		job->perfmon = tessera_perfmon_lookup(submit->file, ujob->perfmon_id);
		if (!job->perfmon)
			return -ENOENT;
		job->done->jobs = &job->perfmon->jobs;
	}

	return job->heap ? tessera_heap_prepare(job->heap) : 0;
}

static int job_collect(struct tessera_submit *submit, u32 index,
		       const struct drm_tessera_job *ujob, struct tessera_queue *queue)
{
	struct tessera_submit_job *entry = &submit->entry[index];
	struct drm_tessera_sync *waits;
	struct tessera_job *job;
	int ret;

	waits = tessera_syncs_in(&ujob->waits);
	if (IS_ERR(waits))
		return PTR_ERR(waits);

	/* Waits are resolved once, and that takes the job: they can mean any of the jobs before. */
	entry->after = ujob->after;
	job = tessera_job_create(queue, submit->file, ujob->cmd_va, ujob->cmd_size,
				 waits ? index : hweight64(entry->after));
	if (IS_ERR(job)) {
		ret = PTR_ERR(job);
		goto out;
	}
	entry->job = job;

	ret = job_find(submit, ujob, job);
	if (ret)
		goto out;

	ret = job_add_waits(submit, entry, waits, ujob->waits.count);
	if (ret)
		goto out;

	entry->signals = tessera_signals_get(submit->file, &ujob->signals);
	if (IS_ERR(entry->signals)) {
		ret = PTR_ERR(entry->signals);
		entry->signals = NULL;
	}
	tessera_signals_index(entry->signals, &submit->signals, index);
out:
	kvfree(waits);
	return ret;
}

static int submit_collect_job(struct tessera_submit *submit, u32 index,
			      const struct drm_tessera_job *ujob)
{
	struct tessera_queue *queue;
	int ret;

	if (ujob->flags || ujob->pad || ujob->after >> index)
		return -EINVAL;

	queue = tessera_queue_lookup(submit->file, ujob->queue_id);
	if (!queue)
		return -ENOENT;

	ret = job_stream_valid(queue->tdev, ujob) ? 0 : -EINVAL;
	ret = ret ?: job_check(submit, ujob, queue);
	if (!ret && !submit->vm)
		submit->vm = tessera_vm_get(queue->vm);
	ret = ret ?: job_collect(submit, index, ujob, queue);
	tessera_queue_put(queue);

	return ret;
}

/* Jobs of the same SUBMIT that @entry waits for have their fences by now. */
static void submit_resolve_after(struct tessera_submit *submit, struct tessera_submit_job *entry)
{
	struct tessera_job *job = entry->job;
	u64 after = entry->after;

	for (; after; after &= after - 1) {
		struct tessera_job *before = submit->entry[__ffs64(after)].job;

		job->after[job->num_after++] = dma_fence_get(&before->base.s_fence->finished);
	}
}

/*
 * The point of no return: from the first arm on the jobs will run. Nothing here
 * fails, allocates or waits. All jobs are armed before the first is pushed, for a
 * pushed job can be gone at any moment.
 */
static void submit_commit(struct tessera_submit *submit, struct drm_gpuvm_exec *vm_exec)
{
	bool cookie = dma_fence_begin_signalling();
	u32 i;

	for (i = 0; i < submit->count; i++) {
		struct tessera_submit_job *entry = &submit->entry[i];
		struct dma_fence *finished;

		submit_resolve_after(submit, entry);
		drm_sched_job_arm(&entry->job->base);
		finished = &entry->job->base.s_fence->finished;
		/* Queues of one scheduler do not share a ring: wait for the end of the job. */
		set_bit(DRM_SCHED_FENCE_DONT_PIPELINE, &finished->flags);
		drm_gpuvm_exec_resv_add_fence(vm_exec, finished, DMA_RESV_USAGE_BOOKKEEP,
					      DMA_RESV_USAGE_BOOKKEEP);
		tessera_signals_publish(entry->signals, finished);
	}

	for (i = 0; i < submit->count; i++) {
		trace_tessera_job_queue(submit->entry[i].job->done, 0);
		drm_sched_entity_push_job(&submit->entry[i].job->base);
		submit->entry[i].job = NULL;
	}
	dma_fence_end_signalling(cookie);
}

static int submit_lock_and_commit(struct tessera_submit *submit)
{
	struct drm_gpuvm_exec vm_exec = {
		.vm = &submit->vm->base,
		/* Imports can share a reservation, if their exporter's objects do. */
		.flags = DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES,
		.num_fences = submit->count,
	};
	struct tessera_evict_keep keep = {};
	int ret;

	ret = tessera_vm_exec_lock(&vm_exec);
	if (ret)
		return ret;

	ret = tessera_evict_submit(submit->vm, &vm_exec.exec, &keep);
	if (!ret)
		submit_commit(submit, &vm_exec);
	tessera_vm_exec_unlock(&vm_exec);
	tessera_evict_put(&keep);

	return ret;
}

static void submit_free(struct tessera_submit *submit)
{
	u32 i;

	for (i = 0; i < submit->count; i++) {
		tessera_signals_put(submit->entry[i].signals);
		if (submit->entry[i].job)
			tessera_job_destroy(submit->entry[i].job);
	}
	if (submit->vm)
		tessera_vm_put(submit->vm);
	kfree(submit);
}

static int submit_jobs(struct drm_file *file, const struct drm_tessera_job *ujobs, u32 count)
{
	struct tessera_submit *submit;
	int ret = 0;
	u32 i;

	submit = kzalloc(struct_size(submit, entry, count), GFP_KERNEL_ACCOUNT);
	if (!submit)
		return -ENOMEM;

	submit->file = file;
	submit->signals = RB_ROOT;
	submit->count = count;
	for (i = 0; i < count && !ret; i++)
		ret = submit_collect_job(submit, i, &ujobs[i]);
	if (!ret)
		ret = submit_lock_and_commit(submit);
	submit_free(submit);

	return ret;
}

/**
 * tessera_ioctl_submit() - DRM_IOCTL_TESSERA_SUBMIT
 * @drm: DRM device
 * @data: struct drm_tessera_submit
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_tessera_submit *args = data;
	struct drm_tessera_job *ujobs;
	int ret;

	if (args->flags || args->pad)
		return -EINVAL;

	ujobs = tessera_uapi_array(&args->jobs, struct drm_tessera_job, signals, TESSERA_MAX_JOBS);
	if (IS_ERR_OR_NULL(ujobs))
		return PTR_ERR_OR_ZERO(ujobs);

	if (tessera_device_wedged(to_tessera_device(drm)))
		ret = -EIO;
	else
		ret = submit_jobs(file, ujobs, args->jobs.count);
	kvfree(ujobs);

	return ret;
}
