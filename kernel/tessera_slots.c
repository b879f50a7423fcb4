// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Slots and address spaces in the backend "engine"
 *
 * Each engine class has a pool of slots, and all VMs share the address spaces. A queue
 * has a slot from the first job that runs until another queue needs the slot, and a VM
 * has an address space in the same way. What was used longest ago changes hands first.
 * Only idle queues lose their slot. A queue is idle if all its hardware fences have
 * signaled, so an interrupt handler frees a slot by signaling the last one.
 *
 * A queue with a slot always has a VM with an address space.
 *
 * Slots change hands in run_job(), under &tessera_engines.lock. Recovery stops the
 * schedulers before it looks at slots. If the device is not within reach, run_job() only
 * notes who has what, and recovery programs it.
 */

#include <linux/lockdep.h>

#include <drm/drm_print.h>

#include "tessera_as.h"
#include "tessera_device.h"
#include "tessera_fence.h"
#include "tessera_queue.h"
#include "tessera_sched.h"
#include "tessera_vm.h"

/* Queue in a slot, or NULL. */
static struct tessera_queue *slot_queue(struct tessera_device *tdev, u32 slot)
{
	lockdep_assert_held(&tdev->engines->lock);

	/* Changes are made under both locks. */
	return READ_ONCE(tdev->slots.queue[slot]);
}

static void slot_set_queue(struct tessera_device *tdev, u32 slot, struct tessera_queue *queue)
{
	spin_lock_irq(&tdev->slots.lock);
	WRITE_ONCE(tdev->slots.queue[slot], queue);
	spin_unlock_irq(&tdev->slots.lock);
}

static bool slot_busy(struct tessera_device *tdev, u32 slot)
{
	struct tessera_queue *queue = slot_queue(tdev, slot);

	return queue && !tessera_timeline_idle(queue->timeline);
}

/* The idle or busy slot of the pool that was used longest ago; -1 if there is none. */
static int slot_oldest(struct tessera_device *tdev, const struct tessera_engine *engine, bool busy)
{
	struct tessera_engines *engines = tdev->engines;
	int oldest = -1;
	u32 slot;

	for (slot = engine->first_slot; slot < engine->first_slot + engine->num_slots; slot++) {
		if (slot_busy(tdev, slot) == busy &&
		    (oldest < 0 || engines->slot[slot].used < engines->slot[oldest].used))
			oldest = slot;
	}

	return oldest;
}

/* Between the end of a job and the end of its ring entry the slot can still be running. */
static void slot_disable(struct tessera_queue *queue)
{
	struct tessera_device *tdev = queue->tdev;
	int cookie;

	if (!queue->enabled || !tessera_enter(tdev, &cookie))
		return;

	/* ENABLE clears what the slot has counted. */
	tessera_queue_hw_command(queue, TSR_QUEUE_OP_RESET);
	if (tessera_queue_hw_wait_stopped(queue, TESSERA_QUEUE_STOP_MS)) {
		drm_err(&tdev->drm, "slot %u does not stop\n", queue->slot);
		tessera_cut_off(tdev);
	}
	tessera_queue_hw_update_usage(queue);
	tessera_leave(tdev, cookie);
}

/**
 * tessera_slots_enter() - give a slot to a queue
 * @queue: queue without a slot; the caller holds its lock and &tessera_engines.lock
 * @slot: from tessera_slots_prepare()
 */
void tessera_slots_enter(struct tessera_queue *queue, u32 slot)
{
	struct tessera_device *tdev = queue->tdev;
	int cookie;

	lockdep_assert_held(&tdev->engines->lock);
	lockdep_assert_held(&queue->lock);

	queue->slot = slot;
	queue->ring = tdev->engines->slot[slot].ring;
	queue->wptr = 0;
	queue->told_wptr = 0;
	queue->resume_rptr = 0;
	queue->cold = true;
	*tessera_fence_word(tdev, slot) = 0;
	slot_set_queue(tdev, slot, queue);

	if (!tessera_enter(tdev, &cookie))
		return;
	if (tessera_queue_hw_enable(queue, 0))
		tessera_cut_off(tdev);
	tessera_leave(tdev, cookie);
}

/**
 * tessera_slots_leave() - take the slot away from a queue
 * @queue: queue without jobs on its ring; may have no slot
 *
 * The caller holds &tessera_engines.lock.
 */
void tessera_slots_leave(struct tessera_queue *queue)
{
	struct tessera_device *tdev = queue->tdev;

	lockdep_assert_held(&tdev->engines->lock);

	mutex_lock(&queue->lock);
	if (queue->ring.cpu) {
		slot_disable(queue);
		queue->enabled = false;
		queue->cold = false;
		queue->usage_before = queue->usage;
		queue->ring.cpu = NULL;
		tdev->engines->slot[queue->slot].used = 0;
		slot_set_queue(tdev, queue->slot, NULL);
	}
	mutex_unlock(&queue->lock);
}

/**
 * tessera_slots_forget_queue() - a queue ends
 * @queue: dead queue without jobs on its ring
 */
void tessera_slots_forget_queue(struct tessera_queue *queue)
{
	struct tessera_engines *engines = queue->tdev->engines;

	mutex_lock(&engines->lock);
	tessera_slots_leave(queue);
	mutex_unlock(&engines->lock);
}

/**
 * tessera_slots_offer() - give a new queue a slot that no queue has
 * @queue: queue
 *
 * Tools that name a queue by its slot then find it before its first job. Without such a slot, or
 * with a device that does not run, the queue gets one with its first job.
 */
void tessera_slots_offer(struct tessera_queue *queue)
{
	struct tessera_device *tdev = queue->tdev;
	struct tessera_engines *engines = tdev->engines;
	int slot;

	mutex_lock(&tdev->reset.lock);
	mutex_lock(&engines->lock);
	slot = slot_oldest(tdev, &engines->class[queue->engine_class], false);
	if (tessera_state(tdev) == TESSERA_RUNNING && slot >= 0 && !slot_queue(tdev, slot) &&
	    tessera_slots_prepare(queue) == slot) {
		mutex_lock(&queue->lock);
		tessera_slots_enter(queue, slot);
		mutex_unlock(&queue->lock);
	}
	mutex_unlock(&engines->lock);
	mutex_unlock(&tdev->reset.lock);
}

/* ---- address spaces ---- */

static bool vm_busy(struct tessera_device *tdev, const struct tessera_vm *vm)
{
	u32 slot;

	for (slot = 0; slot < tdev->info.num_queues; slot++) {
		struct tessera_queue *queue = slot_queue(tdev, slot);

		if (queue && queue->vm == vm && slot_busy(tdev, slot))
			return true;
	}

	return false;
}

/* A device that is not within reach gets its address spaces from tessera_vms_restore(). */
static void vm_set_as(struct tessera_vm *vm, int as, bool on)
{
	struct tessera_device *tdev = vm->tdev;
	int cookie;

	lockdep_assert_held(&tdev->engines->lock);

	mutex_lock(&vm->op_lock);
	if (tessera_enter(tdev, &cookie)) {
		if (tessera_as_program(tdev, as, on ? vm->pgt : NULL))
			tessera_cut_off(tdev);
		tessera_leave(tdev, cookie);
	}
	vm->as = on ? as : -1;
	mutex_unlock(&vm->op_lock);
	tdev->engines->as[as].vm = on ? vm : NULL;
}

/* Take the address space away from an idle VM. */
static void vm_leave_as(struct tessera_vm *vm)
{
	struct tessera_device *tdev = vm->tdev;
	u32 slot;

	for (slot = 0; slot < tdev->info.num_queues; slot++) {
		struct tessera_queue *queue = slot_queue(tdev, slot);

		if (queue && queue->vm == vm)
			tessera_slots_leave(queue);
	}
	vm_set_as(vm, vm->as, false);
}

/* Returns -ENOSPC if all address spaces are busy, which the size of the pools excludes. */
static int vm_enter_as(struct tessera_vm *vm)
{
	struct tessera_device *tdev = vm->tdev;
	struct tessera_engines *engines = tdev->engines;
	int as, oldest = -1;

	if (vm->as >= 0)
		return 0;

	for (as = TESSERA_KERNEL_AS + 1; as < tdev->info.num_as; as++) {
		struct tessera_vm *other = engines->as[as].vm;

		if (!other) {
			oldest = as;
			break;
		}
		if ((oldest < 0 || engines->as[as].used < engines->as[oldest].used) &&
		    !vm_busy(tdev, other))
			oldest = as;
	}
	if (oldest < 0)
		return -ENOSPC;

	if (engines->as[oldest].vm)
		vm_leave_as(engines->as[oldest].vm);
	vm_set_as(vm, oldest, true);

	return 0;
}

/**
 * tessera_slots_forget_vm() - a VM ends
 * @vm: VM without queues
 *
 * Without effect in the backend "slot".
 */
void tessera_slots_forget_vm(struct tessera_vm *vm)
{
	struct tessera_device *tdev = vm->tdev;

	if (!tdev->engines)
		return;

	/* No reset of the device may program the address space again. */
	mutex_lock(&tdev->reset.lock);
	mutex_lock(&tdev->engines->lock);
	if (vm->as >= 0)
		vm_leave_as(vm);
	mutex_unlock(&tdev->engines->lock);
	mutex_unlock(&tdev->reset.lock);
}

/* ---- what the scheduler's callbacks need ---- */

/**
 * tessera_slots_wait() - may a job run now?
 * @queue: queue of the job, the next one of its scheduler
 * @depth: jobs a queue may have on a ring
 *
 * Return: NULL if tessera_slots_prepare() finds a slot, else a reference to the fence of another
 * job that has to be done first.
 */
struct dma_fence *tessera_slots_wait(struct tessera_queue *queue, u32 depth)
{
	struct tessera_device *tdev = queue->tdev;
	struct tessera_engines *engines = tdev->engines;
	struct tessera_engine *engine = &engines->class[queue->engine_class];
	struct tessera_fence *fence = NULL;
	int slot;

	mutex_lock(&engines->lock);
	if (engines->error || READ_ONCE(queue->dead)) {
		/* If it is the queue that wants a slot, it does not any more. */
		engine->wanted = false;
	} else if (queue->ring.cpu) {
		if (tessera_timeline_pending(queue->timeline) >= (engine->wanted ? 1 : depth))
			fence = tessera_timeline_oldest_fence(queue->timeline);
	} else if (slot_oldest(tdev, engine, false) < 0) {
		engine->wanted = true;
		slot = slot_oldest(tdev, engine, true);
		if (slot >= 0)
			fence = tessera_timeline_newest_fence(slot_queue(tdev, slot)->timeline);
	}
	mutex_unlock(&engines->lock);

	return fence ? &fence->base : NULL;
}

/**
 * tessera_slots_prepare() - find a slot and an address space for a job
 * @queue: queue of the job; tessera_slots_wait() has returned NULL
 *
 * The caller holds &tessera_engines.lock.
 *
 * Return: the slot, which the queue has or which is free, or -ENOSPC if there is none.
 */
int tessera_slots_prepare(struct tessera_queue *queue)
{
	struct tessera_device *tdev = queue->tdev;
	struct tessera_engines *engines = tdev->engines;
	struct tessera_engine *engine = &engines->class[queue->engine_class];
	int slot = queue->slot, ret;

	lockdep_assert_held(&engines->lock);

	ret = vm_enter_as(queue->vm);
	if (ret)
		return ret;

	if (!queue->ring.cpu) {
		slot = slot_oldest(tdev, engine, false);
		if (slot < 0)
			return -ENOSPC;
		if (slot_queue(tdev, slot))
			tessera_slots_leave(slot_queue(tdev, slot));
		engine->wanted = false;
	}

	engines->clock++;
	engines->slot[slot].used = engines->clock;
	engines->as[queue->vm->as].used = engines->clock;

	return slot;
}
