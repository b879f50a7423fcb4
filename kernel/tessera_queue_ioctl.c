// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * The queue ioctls: arguments are checked here, the work is in tessera_queue.c.
 */

#include <linux/capability.h>
#include <linux/log2.h>

#include <drm/drm_auth.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/tessera_drm.h>

#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_queue.h"
#include "tessera_vm.h"

/* 1024 jobs: more than a queue usually has in flight. */
#define DEFAULT_RING_LOG2 16

/**
 * tessera_queue_priority_mask() - what a file may use
 * @file: file
 *
 * Return: bit n is set if it may use priority n.
 */
u32 tessera_queue_priority_mask(struct drm_file *file)
{
	u32 mask = BIT(DRM_TESSERA_PRIORITY_LOW) | BIT(DRM_TESSERA_PRIORITY_NORMAL);

	if (capable(CAP_SYS_NICE) || drm_is_current_master(file))
		mask |= BIT(DRM_TESSERA_PRIORITY_HIGH);

	return mask;
}

static u32 queue_ring_size(struct tessera_device *tdev, u32 wanted)
{
	if (wanted)
		return wanted;

	return BIT(clamp_t(u32, DEFAULT_RING_LOG2, tdev->info.ring_log2_min,
			   tdev->info.ring_log2_max));
}

static int queue_create_check(struct tessera_device *tdev, struct drm_file *file,
			      const struct drm_tessera_queue_create *args)
{
	u32 size = queue_ring_size(tdev, args->ring_size);

	if (args->flags || args->priority > DRM_TESSERA_PRIORITY_HIGH)
		return -EINVAL;
	if (args->engine_class >= TESSERA_NUM_CLASSES || !tdev->info.engines[args->engine_class])
		return -EINVAL;
	if (!is_power_of_2(size) || size < BIT(tdev->info.ring_log2_min) ||
	    size > BIT(tdev->info.ring_log2_max))
		return -EINVAL;
	if (!(tessera_queue_priority_mask(file) & BIT(args->priority)))
		return -EACCES;

	return 0;
}

static struct tessera_queue *queue_create(struct tessera_vm *vm,
					  const struct drm_tessera_queue_create *args)
{
	struct tessera_device *tdev = vm->tdev;
	struct tessera_queue *queue;
	int cookie;

	if (tessera_device_wedged(tdev))
		return ERR_PTR(-EIO);
	if (READ_ONCE(vm->banned))
		return ERR_PTR(-ECANCELED);
	if (!drm_dev_enter(&tdev->drm, &cookie))
		return ERR_PTR(-ENODEV);

	queue = tessera_queue_create(vm, args->engine_class, args->priority,
				     queue_ring_size(tdev, args->ring_size));
	drm_dev_exit(cookie);

	return queue;
}

/**
 * tessera_ioctl_queue_create() - DRM_IOCTL_TESSERA_QUEUE_CREATE
 * @drm: DRM device
 * @data: struct drm_tessera_queue_create
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_queue_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_device *tdev = to_tessera_device(drm);
	struct tessera_file *tfile = file->driver_priv;
	struct drm_tessera_queue_create *args = data;
	struct tessera_queue *queue;
	struct tessera_vm *vm;
	int ret;

	ret = queue_create_check(tdev, file, args);
	if (ret)
		return ret;

	vm = tessera_vm_lookup(file, args->vm_id);
	if (!vm)
		return -ENOENT;

	queue = queue_create(vm, args);
	tessera_vm_put(vm);
	if (IS_ERR(queue))
		return PTR_ERR(queue);

	queue->client_id = file->client_id;
	/* As soon as it has an id another thread can destroy it: hold it for ourselves. */
	kref_get(&queue->ref);
	ret = xa_alloc(&tfile->queues, &queue->id, queue, TESSERA_ID_LIMIT, GFP_KERNEL_ACCOUNT);
	if (ret) {
		tessera_queue_kill(queue, -ECANCELED);
		tessera_queue_put(queue);
	}
	tessera_delay(TESSERA_DELAY_QUEUE_CREATE);
	args->queue_id = queue->id;
	tessera_queue_put(queue);

	return ret;
}

static void file_add_usage(struct tessera_file *tfile, u32 engine_class, u64 busy_ns, u64 cycles)
{
	atomic64_add(busy_ns, &tfile->busy_ns[engine_class]);
	atomic64_add(cycles, &tfile->cycles[engine_class]);
}

/**
 * tessera_ioctl_queue_destroy() - DRM_IOCTL_TESSERA_QUEUE_DESTROY
 * @drm: DRM device
 * @data: struct drm_tessera_queue_destroy
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_queue_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_file *tfile = file->driver_priv;
	struct drm_tessera_queue_destroy *args = data;
	struct tessera_usage before = {}, after;
	struct tessera_queue *queue;

	if (args->pad)
		return -EINVAL;

	/* The file gets the queue's usage in the moment in which the id ends. */
	mutex_lock(&tfile->usage_lock);
	queue = xa_erase(&tfile->queues, args->queue_id);
	if (queue) {
		before = tessera_queue_usage(queue);
		file_add_usage(tfile, queue->engine_class, before.busy_ns, before.cycles);
	}
	mutex_unlock(&tfile->usage_lock);
	if (!queue)
		return -ENOENT;

	tessera_delay(TESSERA_DELAY_QUEUE_DESTROY);
	tessera_queue_kill(queue, -ECANCELED);
	tessera_vm_forget_queue(queue->vm, queue);
	after = tessera_queue_usage(queue);
	file_add_usage(tfile, queue->engine_class, after.busy_ns - before.busy_ns,
		       after.cycles - before.cycles);
	tessera_queue_put(queue);

	return 0;
}

/**
 * tessera_queue_get_state_locked() - what user space is told of a queue
 * @queue: queue, its lock held
 * @state: all of it is written but the id
 */
void tessera_queue_get_state_locked(struct tessera_queue *queue,
				    struct drm_tessera_queue_get_state *state)
{
	lockdep_assert_held(&queue->lock);

	state->state = queue->state;
	state->reset_count = queue->reset_count;
	state->error = -queue->error;
	state->jobs_completed = atomic64_read(&queue->timeline->completed);
	state->pad = 0;
	tessera_fault_get_state(&queue->fault, state);
}

/**
 * tessera_ioctl_queue_get_state() - DRM_IOCTL_TESSERA_QUEUE_GET_STATE
 * @drm: DRM device
 * @data: struct drm_tessera_queue_get_state
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_queue_get_state(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_tessera_queue_get_state *args = data;
	struct tessera_queue *queue;

	queue = tessera_queue_lookup(file, args->queue_id);
	if (!queue)
		return -ENOENT;

	mutex_lock(&queue->lock);
	tessera_queue_get_state_locked(queue, args);
	mutex_unlock(&queue->lock);
	tessera_queue_put(queue);

	return 0;
}
