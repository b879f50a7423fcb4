// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: VM_BIND
 *
 * Binds of a VM are applied in the order of their ioctls. An asynchronous bind is a
 * job of the VM's bind scheduler, which runs one job at a time on the CPU and
 * occupies no queue of the device. The ioctl runs a synchronous bind itself if no
 * asynchronous bind is pending. Otherwise the synchronous bind becomes a job as
 * well. It waits only for the binds before it, and the ioctl waits for the job. A
 * signal can interrupt this wait. A bind that has not run by then is skipped, and
 * nothing has changed.
 */

#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/tessera_drm.h>

#include "tessera_bind.h"
#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_fence.h"
#include "tessera_quota.h"
#include "tessera_sync.h"
#include "tessera_uapi.h"
#include "tessera_vm.h"

/**
 * struct tessera_bind_wait - a synchronous bind whose job is waited for
 *
 * On the stack of who waits; protected by &tessera_vm.op_lock.
 */
struct tessera_bind_wait {
	/** @done: The bind has run. */
	bool done;
	/** @ret: With this result. */
	int ret;
};

/**
 * struct tessera_bind_job - a bind that is applied in its turn
 */
struct tessera_bind_job {
	/** @base: Scheduler job. */
	struct drm_sched_job base;
	/** @bind: What to do; owned. */
	struct tessera_bind *bind;
	/** @vm: VM of @bind, which keeps it alive. */
	struct tessera_vm *vm;
	/** @done: Fence. */
	struct tessera_fence *done;
	/** @wait: Who waits for the bind, or NULL; under op_lock. */
	struct tessera_bind_wait *wait;
	/** @skip: Who waited has given up; under op_lock. */
	bool skip;
	/** @free_work: Frees the bind, where that is allowed. */
	struct work_struct free_work;
};

static struct tessera_bind_job *to_bind_job(struct drm_sched_job *job)
{
	return container_of(job, struct tessera_bind_job, base);
}

static struct dma_fence *tessera_bind_run_job(struct drm_sched_job *sched_job)
{
	struct tessera_bind_job *job = to_bind_job(sched_job);
	bool cookie = dma_fence_begin_signalling();
	struct tessera_vm *vm = job->vm;
	struct dma_fence *fence;
	int ret;

	/* A work item after the fence returns the quota of removed objects. */
	tessera_quota_leave(vm->quota);

	mutex_lock(&vm->op_lock);
	if (job->skip) {
		tessera_bind_skip(job->bind);
		ret = 0;
	} else {
		ret = tessera_bind_run(job->bind);
	}
	/* On a device that is gone nothing has changed, and whatever comes says so by itself. */
	if (ret && ret != -ENODEV)
		WRITE_ONCE(vm->banned, true);
	if (job->wait) {
		job->wait->ret = ret;
		WRITE_ONCE(job->wait->done, true); /* the waiter reads it without a lock */
	}
	atomic_dec(&vm->async_pending);
	mutex_unlock(&vm->op_lock);
	wake_up_all(&vm->async_wait);

	fence = tessera_fence_emit_done(job->done, ret);
	dma_fence_end_signalling(cookie);

	return fence;
}

static void tessera_bind_free_work(struct work_struct *work)
{
	struct tessera_bind_job *job = container_of(work, struct tessera_bind_job, free_work);
	struct tessera_quota *quota = tessera_quota_get(job->vm->quota);

	tessera_fence_drop(job->done);
	tessera_bind_destroy(job->bind);
	kfree(job);
	tessera_quota_left(quota);
	tessera_quota_put(quota);
}

static void tessera_bind_free_job(struct drm_sched_job *sched_job)
{
	struct tessera_bind_job *job = to_bind_job(sched_job);

	drm_sched_job_cleanup(sched_job);
	queue_work(tessera_release_wq, &job->free_work);
}

/* No timedout_job: the scheduler of binds has no timeout. */
const struct drm_sched_backend_ops tessera_bind_sched_ops = {
	.run_job = tessera_bind_run_job,
	.free_job = tessera_bind_free_job,
};

/* Make a job of a bind, which it owns from then on. */
static struct tessera_bind_job *tessera_bind_job_create(struct drm_file *file,
							struct tessera_vm *vm)
{
	struct tessera_bind_job *job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!job)
		return ERR_PTR(-ENOMEM);

	job->vm = vm;
	INIT_WORK(&job->free_work, tessera_bind_free_work);
	job->done = tessera_fence_create(vm->timeline);
	if (!job->done)
		goto err_free;

	ret = drm_sched_job_init(&job->base, &vm->timeline->entity, 1, file, file->client_id);
	if (ret)
		goto err_fence;

	return job;

err_fence:
	tessera_fence_drop(job->done);
err_free:
	kfree(job);
	return ERR_PTR(ret);
}

static int tessera_bind_add_waits(struct drm_file *file, struct tessera_bind_job *job,
				  const struct drm_tessera_sync *waits, u32 count)
{
	struct dma_fence *fence;
	int ret = 0;
	u32 i;

	for (i = 0; i < count && !ret; i++) {
		ret = tessera_sync_find(file, &waits[i], &fence);
		if (!ret)
			ret = drm_sched_job_add_dependency(&job->base, fence);
	}

	return ret;
}

/*
 * The job runs from here on. Who calls holds the VM's reservation, which keeps the
 * order of fences that of the jobs, and may hold those of shared BOs: so nothing here
 * takes op_lock, which is held as long as a bind takes.
 */
static struct dma_fence *bind_arm(struct tessera_bind_job *job)
{
	drm_sched_job_arm(&job->base);

	return &job->base.s_fence->finished;
}

static void bind_push_armed(struct tessera_bind_job *job)
{
	atomic_inc(&job->vm->async_pending);
	drm_sched_entity_push_job(&job->base);
}

/* Lock the VM and its shared BOs, queue the job. After arming nothing can fail. */
static int tessera_bind_push(struct tessera_bind_job *job, struct tessera_signals *signals)
{
	struct tessera_vm *vm = job->vm;
	struct drm_gpuvm_exec vm_exec = {
		.vm = &vm->base,
		/* Imports can share a reservation, if their exporter's objects do. */
		.flags = DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES,
		.num_fences = 1,
	};
	struct dma_fence *finished;
	bool cookie;
	int ret;

	ret = tessera_vm_exec_lock(&vm_exec);
	if (ret)
		return ret;

	cookie = dma_fence_begin_signalling();
	finished = bind_arm(job);
	drm_gpuvm_exec_resv_add_fence(&vm_exec, finished, DMA_RESV_USAGE_BOOKKEEP,
				      DMA_RESV_USAGE_BOOKKEEP);
	tessera_signals_publish(signals, finished);
	bind_push_armed(job);
	dma_fence_end_signalling(cookie);
	tessera_vm_exec_unlock(&vm_exec);

	return 0;
}

/* Consumes @bind. */
static int tessera_bind_async(struct drm_file *file, struct tessera_bind *bind,
			      struct tessera_vm *vm, const struct drm_tessera_vm_bind *args)
{
	struct tessera_signals *signals = NULL;
	struct drm_tessera_sync *waits;
	struct tessera_bind_job *job;
	int ret;

	waits = tessera_syncs_in(&args->waits);
	if (IS_ERR(waits)) {
		ret = PTR_ERR(waits);
		goto err_bind;
	}

	job = tessera_bind_job_create(file, vm);
	if (IS_ERR(job)) {
		ret = PTR_ERR(job);
		goto err_waits;
	}

	signals = tessera_signals_get(file, &args->signals);
	if (IS_ERR(signals)) {
		ret = PTR_ERR(signals);
		signals = NULL;
		goto err_job;
	}

	ret = tessera_bind_add_waits(file, job, waits, args->waits.count);
	if (ret)
		goto err_job;

	job->bind = bind;
	ret = tessera_bind_push(job, signals);
	if (ret)
		goto err_job;

	tessera_signals_put(signals);
	kvfree(waits);

	return 0;

err_job:
	tessera_signals_put(signals);
	drm_sched_job_cleanup(&job->base);
	tessera_fence_drop(job->done);
	kfree(job);
err_waits:
	kvfree(waits);
err_bind:
	tessera_bind_destroy(bind);
	return ret;
}

/* Take a place after the binds that are there. Nothing can fail. */
static void bind_push_sync(struct tessera_bind_job *job)
{
	struct dma_resv *resv = drm_gpuvm_resv(&job->vm->base);
	bool cookie;

	dma_resv_lock(resv, NULL);
	cookie = dma_fence_begin_signalling();
	bind_arm(job);
	bind_push_armed(job);
	dma_fence_end_signalling(cookie);
	dma_resv_unlock(resv);
}

/* Run @bind, which is consumed, when its turn comes. */
static int tessera_bind_in_turn(struct drm_file *file, struct tessera_bind *bind,
				struct tessera_vm *vm)
{
	struct tessera_bind_wait wait = {};
	struct tessera_bind_job *job;
	int ret;

	job = tessera_bind_job_create(file, vm);
	if (IS_ERR(job)) {
		tessera_bind_destroy(bind);
		return PTR_ERR(job);
	}

	job->bind = bind;
	job->wait = &wait;
	bind_push_sync(job);

	ret = wait_event_interruptible(vm->async_wait, READ_ONCE(wait.done));
	tessera_delay(TESSERA_DELAY_BIND_TURN);

	/* The job is there as long as it has not run. */
	mutex_lock(&vm->op_lock);
	if (wait.done) {
		ret = wait.ret;
	} else {
		job->wait = NULL;
		job->skip = true;
	}
	mutex_unlock(&vm->op_lock);

	return ret;
}

/* Consumes @bind. */
static int tessera_bind_sync(struct drm_file *file, struct tessera_bind *bind,
			     struct tessera_vm *vm)
{
	int ret;

	mutex_lock(&vm->op_lock);
	if (atomic_read(&vm->async_pending)) {
		mutex_unlock(&vm->op_lock);
		return tessera_bind_in_turn(file, bind, vm);
	}
	ret = tessera_bind_run(bind);
	mutex_unlock(&vm->op_lock);

	if (ret == -EIO)
		WRITE_ONCE(vm->banned, true);
	tessera_bind_destroy(bind);

	return ret;
}

/* May the VM get new mappings? Removing some is always possible. */
static int tessera_bind_allowed(struct tessera_vm *vm, const struct drm_tessera_bind_op *ops,
				u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (ops[i].op != DRM_TESSERA_BIND_MAP && ops[i].op != DRM_TESSERA_BIND_MAP_NULL)
			continue;
		if (tessera_device_wedged(vm->tdev))
			return -EIO;
		if (READ_ONCE(vm->banned))
			return -ENOENT;
	}

	return 0;
}

static int tessera_bind_ops(struct drm_file *file, struct tessera_vm *vm,
			    const struct drm_tessera_vm_bind *args,
			    const struct drm_tessera_bind_op *ops)
{
	struct tessera_bind *bind;
	int ret, cookie;

	ret = tessera_bind_allowed(vm, ops, args->ops.count);
	if (ret)
		return ret;

	if (!drm_dev_enter(&vm->tdev->drm, &cookie))
		return -ENODEV;
	bind = tessera_bind_create(file, vm, ops, args->ops.count);
	drm_dev_exit(cookie);
	if (IS_ERR(bind))
		return PTR_ERR(bind);

	if (args->flags & DRM_TESSERA_VM_BIND_ASYNC)
		return tessera_bind_async(file, bind, vm, args);

	return tessera_bind_sync(file, bind, vm);
}

/**
 * tessera_ioctl_vm_bind() - DRM_IOCTL_TESSERA_VM_BIND
 * @drm: DRM device
 * @data: struct drm_tessera_vm_bind
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_tessera_vm_bind *args = data;
	struct drm_tessera_bind_op *ops;
	struct tessera_vm *vm;
	int ret;

	if (args->flags & ~DRM_TESSERA_VM_BIND_ASYNC)
		return -EINVAL;
	if (!(args->flags & DRM_TESSERA_VM_BIND_ASYNC) &&
	    (!args->ops.count || args->waits.count || args->signals.count))
		return -EINVAL;

	vm = tessera_vm_lookup(file, args->vm_id);
	if (!vm)
		return -ENOENT;

	ops = tessera_uapi_array(&args->ops, struct drm_tessera_bind_op, bo_offset,
				 TESSERA_MAX_BIND_OPS);
	if (IS_ERR(ops)) {
		ret = PTR_ERR(ops);
	} else {
		ret = tessera_bind_ops(file, vm, args, ops);
		kvfree(ops);
	}
	tessera_vm_put(vm);

	return ret;
}
