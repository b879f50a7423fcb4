// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Queues during a reset
 *
 * Before a reset of the device, or its sleep, each slot is suspended. Its registers
 * then hold the position at which its ring resumes. Jobs that had begun are lost. If the
 * device does not answer, all jobs that a doorbell has announced are lost. Later jobs on
 * the ring, and jobs that are added during the reset, run afterwards. While
 * &tessera_queue.enabled is not set, jobs are written to the ring and no doorbell
 * rings.
 *
 * All functions need &tessera_device.reset.lock.
 */

#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/jiffies.h>

#include <drm/tessera_drm.h>

#include "tessera_device.h"
#include "tessera_queue.h"
#include "tessera_reset.h"
#include "tessera_sched.h"
#include "tessera_watch.h"
#include "tsr_packets.h"

/**
 * tessera_queues_each() - call a function for each queue that has a slot and a ring
 * @tdev: device; the caller holds the lock of recovery, so queues are not freed, and slots do
 *        not change hands once tessera_engines_stop() has been called
 * @fn: function; called with the queue's lock held
 * @data: for it
 */
void tessera_queues_each(struct tessera_device *tdev,
			 void (*fn)(struct tessera_queue *queue, void *data), void *data)
{
	u32 slot;

	lockdep_assert_held(&tdev->reset.lock);

	for (slot = 0; slot < tdev->info.num_queues; slot++) {
		struct tessera_queue *queue = READ_ONCE(tdev->slots.queue[slot]);

		if (!queue)
			continue;
		mutex_lock(&queue->lock);
		if (queue->ring.cpu && queue->slot == slot)
			fn(queue, data);
		mutex_unlock(&queue->lock);
	}
}

/* From here on jobs are put on the ring, and no doorbell rings. */
static void queue_suspend(struct tessera_queue *queue, void *unused)
{
	queue->enabled = false;
	if (!queue->cold)
		tessera_queue_hw_command(queue, TSR_QUEUE_OP_SUSPEND);
}

/* Where does the ring go on after the reset? After the last job that had begun. */
static u32 queue_resume_rptr(struct tessera_queue *queue, bool stopped)
{
	struct tessera_device *tdev = queue->tdev;
	u32 rptr = tessera_read(tdev, TSR_REG_QUEUE_RPTR(queue->slot));
	u32 word = tessera_read(tdev, TSR_REG_QUEUE_STATE(queue->slot));
	u32 into = rptr % TESSERA_RING_ENTRY;
	bool begun;

	/*
	 * This read is last: a device that answers now has answered before. Otherwise all jobs
	 * are lost that the device knows.
	 */
	if (!tessera_device_present(tdev))
		return queue->told_wptr;

	/* Before the CALL nothing has happened. */
	begun = into > TESSERA_RING_CALL ||
		(into == TESSERA_RING_CALL && (word & TSR_QUEUE_STATE_IN_CALL__MASK)) || !stopped;

	return rptr - into + (begun ? TESSERA_RING_ENTRY : 0);
}

static void queue_save(struct tessera_queue *queue, void *data)
{
	bool *all_stopped = data, stopped;

	/* Nothing of it has begun. */
	if (queue->cold)
		return;

	/* One slot that hangs is waited for, not each of 64. */
	stopped = !tessera_queue_hw_wait_stopped(queue, *all_stopped ? TESSERA_QUEUE_STOP_MS : 1);
	*all_stopped &= stopped;
	tessera_queue_hw_update_usage(queue);
	queue->resume_rptr = queue_resume_rptr(queue, stopped);
}

/*
 * It is unknown which jobs the slot has begun, so all announced jobs are lost. A job that was added
 * to the ring after the device was cut off is not lost.
 */
static void queue_lose(struct tessera_queue *queue, void *unused)
{
	queue->enabled = false;
	queue->resume_rptr = queue->told_wptr;
}

/**
 * tessera_queues_save() - stop all queues and save their positions
 * @tdev: device within reach, or one that does not answer, which loses all
 *        announced jobs
 *
 * Further calls before tessera_queues_restore() have no effect.
 */
void tessera_queues_save(struct tessera_device *tdev)
{
	bool all_stopped = true;

	if (tdev->reset.saved)
		return;

	tdev->reset.saved = true;
	tessera_engines_stop(tdev);
	if (!tessera_device_present(tdev)) {
		tessera_queues_each(tdev, queue_lose, NULL);
		return;
	}

	tessera_queues_each(tdev, queue_suspend, NULL);
	tessera_queues_each(tdev, queue_save, &all_stopped);
}

/* Cancel the jobs that were lost. */
static void queue_cancel_lost(struct tessera_queue *queue)
{
	/* Entries not begun are those between resume_rptr and wptr. */
	u32 ahead = (queue->wptr - queue->resume_rptr) / TESSERA_RING_ENTRY;
	u64 lost = queue->timeline->seqno - ahead;

	lockdep_assert_held(&queue->lock);

	tessera_queue_complete(queue);
	if (!queue->dead && tessera_timeline_signal(queue->timeline, lost, -ECANCELED)) {
		queue->state |= DRM_TESSERA_QUEUE_INNOCENT;
		queue->error = -ECANCELED;
	}
}

static void queue_freeze(struct tessera_queue *queue, void *unused)
{
	queue_lose(queue, NULL);
	queue_cancel_lost(queue);
}

/**
 * tessera_queues_lose() - cancel all jobs that were announced to the device
 * @tdev: device that is cut off and does not answer
 */
void tessera_queues_lose(struct tessera_device *tdev)
{
	tdev->reset.saved = true;
	tessera_engines_stop(tdev);
	tessera_queues_each(tdev, queue_freeze, NULL);
}

/*
 * The slot does not start again. SUBMIT returns -ECANCELED from now on, and the queue itself is
 * not to blame.
 */
static void queue_fail_restart(struct tessera_queue *queue)
{
	WRITE_ONCE(queue->dead, -ECANCELED);
	tessera_queue_cancel_locked(queue, -EIO);
	queue->error = -EIO;
	queue->state |= DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_INNOCENT;
}

/* Cancel the jobs that were lost, and let the ones after them run. */
static void queue_restore(struct tessera_queue *queue, void *data)
{
	const bool *counts = data;

	queue_cancel_lost(queue);
	/* The registers begin anew. */
	queue->usage_before = queue->usage;
	tessera_watch_restart(queue);
	if (queue->dead)
		return;

	queue->reset_count += *counts;
	if (queue->tdev->engines)
		tessera_engine_emit_again(queue);
	if (tessera_queue_hw_enable(queue, queue->resume_rptr))
		queue_fail_restart(queue);
}

/**
 * tessera_queues_restore() - let the queues go on
 * @tdev: device that runs again
 * @counts: it counts as a reset
 */
void tessera_queues_restore(struct tessera_device *tdev, bool counts)
{
	tdev->reset.saved = false;
	tessera_queues_each(tdev, queue_restore, &counts);
	tessera_engines_start(tdev);
}

static void queue_cancel(struct tessera_queue *queue, void *data)
{
	const int *error = data;

	tessera_queue_cancel_locked(queue, *error);
}

/**
 * tessera_queues_cancel() - end all jobs, now and to come
 * @tdev: device that is given up
 * @error: what their fences carry
 */
void tessera_queues_cancel(struct tessera_device *tdev, int error)
{
	tessera_queues_each(tdev, queue_cancel, &error);
	tessera_engines_end(tdev, error);
}

/* Jobs on the ring may end; later jobs wait. */
static void queue_hold(struct tessera_queue *queue, void *unused)
{
	queue->enabled = false;
	queue->drain_seqno = queue->timeline->seqno;
}

static void queue_look(struct tessera_queue *queue, void *data)
{
	bool *busy = data;
	u64 oldest;

	tessera_queue_complete(queue);
	oldest = tessera_timeline_oldest(queue->timeline);
	*busy |= oldest && oldest <= queue->drain_seqno;
}

/**
 * tessera_queues_drain() - let what is on the rings end
 * @tdev: device that runs
 * @timeout: jiffies it may take; what comes meanwhile waits
 */
void tessera_queues_drain(struct tessera_device *tdev, unsigned long timeout)
{
	unsigned long until = jiffies + timeout;
	bool busy;

	tessera_engines_stop(tdev);
	tessera_queues_each(tdev, queue_hold, NULL);
	for (;;) {
		busy = false;
		tessera_queues_each(tdev, queue_look, &busy);
		if (!busy || time_after(jiffies, until))
			return;
		/* Without their locks: the heap of a job may have to grow. */
		usleep_range(1000, 2000);
	}
}

static void queue_unplug(struct tessera_queue *queue, void *unused)
{
	tessera_queue_cancel_locked(queue, -ENODEV);
	if (!queue->tdev->engines)
		tessera_ring_unmap(queue->tdev, &queue->ring);
}

/**
 * tessera_queues_unplug() - end all jobs and free the rings
 * @tdev: device that is unplugged and stopped
 */
void tessera_queues_unplug(struct tessera_device *tdev)
{
	tessera_queues_each(tdev, queue_unplug, NULL);
	tessera_engines_fini(tdev, -ENODEV);
}
