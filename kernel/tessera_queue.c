// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Queues
 *
 * A queue of user space is one slot of the device, from its creation until it is
 * killed. In the backend "engine" it has a slot only while no other queue needs it
 * (tessera_slots.c). A queue is killed when user space destroys it or closes the file.
 * The slot is reset and freed at once, and jobs on the ring complete with an error.
 * Jobs that wait for dependencies complete with that error as soon as the dependencies
 * are done. The last job frees the queue.
 *
 * A queue whose job failed does not run jobs either, but it keeps its slot and its id,
 * so that user space can read its state.
 */

#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_heap.h"
#include "tessera_queue.h"
#include "tessera_quota.h"
#include "tessera_reset.h"
#include "tessera_sched.h"
#include "tessera_vm.h"
#include "tessera_watch.h"

/* An engine leaves a queue after one burst; a starved host may take its time. */
#define STOP_TIMEOUT_MS (10 * MSEC_PER_SEC)

static void tessera_queue_release_work(struct work_struct *work)
{
	struct tessera_queue *queue = container_of(work, struct tessera_queue, release_work);
	struct tessera_device *tdev = queue->tdev;

	tessera_delay(TESSERA_DELAY_QUEUE_RELEASE);
	/* Without a slot and without jobs nobody starts them any more. */
	tessera_watch_fini(queue);
	cancel_work_sync(&queue->heap_work);
	cancel_delayed_work_sync(&queue->hurry_work);
	/* User space is told of a reset even if it destroys the queue at once. */
	flush_work(&queue->event_work);
	if (queue->timeline) {
		tessera_timeline_stop(queue->timeline);
		tessera_timeline_put(queue->timeline);
	}
	tessera_vm_put(queue->vm);
	mutex_destroy(&queue->lock);
	kfree(queue);
	drm_dev_put(&tdev->drm);
}

static void tessera_queue_release(struct kref *ref)
{
	struct tessera_queue *queue = container_of(ref, struct tessera_queue, ref);

	queue_work(tessera_release_wq, &queue->release_work);
}

/**
 * tessera_queue_put() - drop a reference
 * @queue: queue
 *
 * Also from the scheduler's own works; the teardown happens elsewhere.
 */
void tessera_queue_put(struct tessera_queue *queue)
{
	kref_put(&queue->ref, tessera_queue_release);
}

/**
 * tessera_queue_lookup() - find the queue of a file
 * @file: file
 * @id: its id
 *
 * Return: a reference, or NULL if there is none.
 */
struct tessera_queue *tessera_queue_lookup(struct drm_file *file, u32 id)
{
	struct tessera_file *tfile = file->driver_priv;
	struct tessera_queue *queue;

	xa_lock(&tfile->queues);
	queue = xa_load(&tfile->queues, id);
	if (queue)
		kref_get(&queue->ref);
	xa_unlock(&tfile->queues);

	return queue;
}

/* Number of the last job that is done. */
static u64 queue_done(struct tessera_queue *queue)
{
	__le64 *word = tessera_fence_word(queue->tdev, queue->slot);
	u64 done = le64_to_cpu(READ_ONCE(*word));

	/* The job's writes come before its fence value. */
	dma_rmb();

	return done;
}

/**
 * tessera_queue_complete() - signal the fences of jobs that are done
 * @queue: queue that owns a slot
 *
 * From any context, but an interrupt handler uses tessera_queue_complete_some().
 */
void tessera_queue_complete(struct tessera_queue *queue)
{
	tessera_timeline_signal(queue->timeline, queue_done(queue), 0);
}

/**
 * tessera_queue_complete_some() - signal the fences of a few jobs that are done
 * @queue: queue that owns a slot
 *
 * Return: true if more may be left for tessera_queue_complete().
 */
bool tessera_queue_complete_some(struct tessera_queue *queue)
{
	return tessera_timeline_signal_some(queue->timeline, queue_done(queue));
}

/**
 * tessera_queue_cancel_locked() - end all jobs, now and to come, with an error
 * @queue: queue whose slot is stopped
 * @error: negative error
 *
 * The caller holds the queue's lock.
 */
void tessera_queue_cancel_locked(struct tessera_queue *queue, int error)
{
	lockdep_assert_held(&queue->lock);

	if (!queue->dead)
		WRITE_ONCE(queue->dead, error);
	if (queue->ring.cpu)
		tessera_queue_complete(queue);
	if (tessera_timeline_signal(queue->timeline, U64_MAX, error))
		queue->error = error;
}

/*
 * Give the slot back. The ring goes first: an unplug looks for it in the slots. The
 * interrupt handlers do not find the queue afterwards.
 */
static void tessera_queue_release_slot(struct tessera_queue *queue)
{
	struct tessera_device *tdev = queue->tdev;

	tessera_ring_unmap(tdev, &queue->ring);

	spin_lock_irq(&tdev->slots.lock);
	WRITE_ONCE(tdev->slots.queue[queue->slot], NULL); /* queues_each() peeks */
	spin_unlock_irq(&tdev->slots.lock);
}

/* Stop the slot; an error if the device may still use the queue's memory. */
static int queue_stop_slot(struct tessera_queue *queue)
{
	struct tessera_device *tdev = queue->tdev;
	int ret;

	/* Else it is no bus master. */
	if (!queue->ring.cpu || tessera_state(tdev) != TESSERA_RUNNING)
		return 0;
	if (!tessera_device_present(tdev))
		return -ENODEV;

	tessera_queue_hw_update_usage(queue);
	tessera_queue_hw_command(queue, TSR_QUEUE_OP_RESET);
	ret = tessera_queue_hw_wait_stopped(queue, STOP_TIMEOUT_MS);
	tessera_queue_hw_update_usage(queue);

	return ret;
}

/**
 * tessera_queue_kill() - end the life of a queue
 * @queue: queue that nobody finds by its id any more
 * @error: what unfinished jobs get
 *
 * Once for each queue.
 */
void tessera_queue_kill(struct tessera_queue *queue, int error)
{
	struct tessera_device *tdev = queue->tdev;
	int ret;

	mutex_lock(&tdev->reset.lock);
	mutex_lock(&queue->lock);
	if (!queue->dead)
		WRITE_ONCE(queue->dead, error);
	queue->enabled = false;
	ret = queue_stop_slot(queue);
	mutex_unlock(&queue->lock);

	if (ret) {
		tdev->reset.guilty = queue->owner;
		tessera_device_reset(tdev, TESSERA_RUNG_DEVICE);
	}

	tessera_delay(TESSERA_DELAY_QUEUE_KILL);
	mutex_lock(&queue->lock);
	tessera_queue_cancel_locked(queue, error);
	if (!tdev->engines)
		tessera_queue_release_slot(queue);
	mutex_unlock(&queue->lock);
	if (tdev->engines)
		tessera_slots_forget_queue(queue);
	else
		tessera_vm_as_put(queue->vm);
	mutex_unlock(&tdev->reset.lock);
	tessera_quota_uncharge(queue->vm->quota, TESSERA_QUOTA_QUEUES, 1);
}

/**
 * tessera_queue_usage() - what a queue has used of its engines
 * @queue: queue
 *
 * Return: time and work.
 */
struct tessera_usage tessera_queue_usage(struct tessera_queue *queue)
{
	struct tessera_device *tdev = queue->tdev;
	struct tessera_usage usage;
	int cookie;

	mutex_lock(&queue->lock);
	if (queue->enabled && tessera_enter(tdev, &cookie)) {
		tessera_queue_hw_update_usage(queue);
		tessera_leave(tdev, cookie);
	}
	usage = queue->usage;
	mutex_unlock(&queue->lock);

	return usage;
}

/* Longer time slices while a job has a deadline, the usual ones otherwise. */
static void tessera_queue_hurry_work(struct work_struct *work)
{
	struct tessera_queue *queue = container_of(to_delayed_work(work), struct tessera_queue,
						   hurry_work);
	struct tessera_device *tdev = queue->tdev;
	int cookie;

	mutex_lock(&queue->lock);
	if (queue->enabled && tessera_enter(tdev, &cookie)) {
		tessera_queue_hw_set_timeslice(queue);
		tessera_leave(tdev, cookie);
	}
	mutex_unlock(&queue->lock);
}

/* Telemetry: a job was lost, and whose it was. Allocates, so recovery does not wait for it. */
static void tessera_queue_event_work(struct work_struct *work)
{
	struct tessera_queue *queue = container_of(work, struct tessera_queue, event_work);
	struct drm_device *drm = &queue->tdev->drm;
	int cookie;

	if (drm_dev_enter(drm, &cookie)) {
		drm_dev_wedged_event(drm, DRM_WEDGE_RECOVERY_NONE, &queue->owner);
		drm_dev_exit(cookie);
	}
}

static const enum drm_sched_priority sched_priority[] = {
	[DRM_TESSERA_PRIORITY_LOW] = DRM_SCHED_PRIORITY_LOW,
	[DRM_TESSERA_PRIORITY_NORMAL] = DRM_SCHED_PRIORITY_NORMAL,
	[DRM_TESSERA_PRIORITY_HIGH] = DRM_SCHED_PRIORITY_HIGH,
};

static int tessera_queue_init_timeline(struct tessera_queue *queue, u32 ring_size)
{
	struct tessera_device *tdev = queue->tdev;
	int ret;

	queue->timeline = tessera_timeline_create("tessera-queue-%s",
						  tessera_engine_name(queue->engine_class));
	if (!queue->timeline)
		return -ENOMEM;
	queue->timeline->hurry_work = &queue->hurry_work;
	queue->timeline->hurry_wq = tdev->submit_wq;

	if (tdev->engines) {
		ret = tessera_timeline_join(queue->timeline,
					    &tdev->engines->class[queue->engine_class].sched,
					    sched_priority[queue->priority]);
		goto out;
	}

	/* One entry of the ring stays unused: see tessera_queue_hw.c. */
	ret = tessera_timeline_start(queue->timeline, &tessera_queue_sched_ops, tdev->submit_wq,
				     ring_size / TESSERA_RING_ENTRY - 1,
				     MAX_SCHEDULE_TIMEOUT, NULL, tdev->drm.dev);
out:
	if (ret) {
		tessera_timeline_put(queue->timeline);
		queue->timeline = NULL;
	}

	return ret;
}

static int tessera_queue_take_slot(struct tessera_queue *queue)
{
	struct tessera_device *tdev = queue->tdev;
	int ret = -ENOSPC;
	u32 slot;

	spin_lock_irq(&tdev->slots.lock);
	for (slot = 0; slot < tdev->info.num_queues; slot++) {
		if (!tdev->slots.queue[slot]) {
			queue->slot = slot;
			WRITE_ONCE(tdev->slots.queue[slot], queue); /* likewise */
			*tessera_fence_word(tdev, slot) = 0;
			ret = 0;
			break;
		}
	}
	spin_unlock_irq(&tdev->slots.lock);

	return ret;
}

/*
 * Let the ring run in its slot. Under the lock of recovery, with a device that runs: until it
 * is reset the slot's registers are those of a former queue, which recovery must not read.
 */
static int queue_enable(struct tessera_queue *queue, const struct tessera_ring *ring)
{
	int ret;

	ret = tessera_vm_as_get(queue->vm);
	if (ret)
		return ret;

	mutex_lock(&queue->lock);
	queue->ring = *ring;
	ret = tessera_queue_hw_enable(queue, 0);
	mutex_unlock(&queue->lock);
	if (ret)
		tessera_vm_as_put(queue->vm);

	return ret;
}

static void queue_give_up(struct tessera_queue *queue, const struct tessera_ring *ring)
{
	mutex_lock(&queue->lock);
	queue->ring = *ring;
	tessera_queue_release_slot(queue);
	mutex_unlock(&queue->lock);
}

/* Have a slot, a ring and an address space, and start. Waits while the device is reset. */
static int tessera_queue_start(struct tessera_queue *queue, u32 ring_size)
{
	struct tessera_device *tdev = queue->tdev;
	struct tessera_ring ring = {};
	int ret;

	ret = tessera_queue_take_slot(queue);
	if (ret)
		return ret;

	/* Allocates, so without the locks; nobody runs jobs yet. */
	ret = tessera_ring_map(tdev, queue->slot, ring_size, &ring);
	tessera_delay(TESSERA_DELAY_QUEUE_START);
	ret = ret ?: tessera_lock_running(tdev);
	if (ret)
		mutex_lock(&tdev->reset.lock);
	else
		ret = queue_enable(queue, &ring);
	/* Code that iterates over slots holds this lock as well. */
	if (ret)
		queue_give_up(queue, &ring);
	mutex_unlock(&tdev->reset.lock);

	return ret;
}

/**
 * tessera_queue_create() - make a queue
 * @vm: VM of its jobs
 * @engine_class: engines, present in this device
 * @priority: enum drm_tessera_priority
 * @ring_size: bytes, within the limits of the device
 *
 * Inside drm_dev_enter().
 *
 * Return: the queue or an error pointer.
 */
struct tessera_queue *tessera_queue_create(struct tessera_vm *vm, u32 engine_class, u32 priority,
					   u32 ring_size)
{
	struct tessera_queue *queue;
	int ret;

	ret = tessera_quota_charge(vm->quota, TESSERA_QUOTA_QUEUES, 1);
	if (ret)
		return ERR_PTR(ret);

	queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);
	if (!queue) {
		ret = -ENOMEM;
		goto err_uncharge;
	}

	kref_init(&queue->ref);
	mutex_init(&queue->lock);
	tessera_prime_lock(&queue->lock);
	tessera_prime_order(&vm->tdev->reset.lock, &queue->lock);
	INIT_WORK(&queue->release_work, tessera_queue_release_work);
	INIT_WORK(&queue->heap_work, tessera_heap_work);
	INIT_WORK(&queue->event_work, tessera_queue_event_work);
	INIT_DELAYED_WORK(&queue->hurry_work, tessera_queue_hurry_work);
	tessera_watch_init(queue);
	queue->tdev = vm->tdev;
	drm_dev_get(&queue->tdev->drm);
	queue->vm = tessera_vm_get(vm);
	queue->engine_class = engine_class;
	queue->priority = priority;
	queue->owner.pid = task_tgid_nr(current);
	get_task_comm(queue->owner.comm, current);

	ret = tessera_queue_init_timeline(queue, ring_size);
	if (!ret && queue->tdev->engines)
		tessera_slots_offer(queue);
	else if (!ret)
		ret = tessera_queue_start(queue, ring_size);
	if (ret) {
		/* An interrupt may have started a work of it: the end is that of any queue. */
		tessera_queue_put(queue);
		goto err_uncharge;
	}

	return queue;

err_uncharge:
	tessera_quota_uncharge(vm->quota, TESSERA_QUOTA_QUEUES, 1);
	return ERR_PTR(ret);
}
