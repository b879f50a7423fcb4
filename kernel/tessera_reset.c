// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Recovery
 *
 * One step after the other, and only as far as needed:
 *
 * 1. Look: the fence may have been written, and a job whose queue makes progress,
 *    or waits for an engine that others use, is late but not stuck. A device that
 *    does not answer at all goes on with 3: no queue is to blame.
 * 2. Reset the queue. The oldest pending job is the guilty one, the others of the
 *    queue are cancelled, the queue is banned. No other queue notices.
 * 3. If the slot does not stop, reset the device. Other queues lose the jobs that
 *    had begun (-ECANCELED, the queue is INNOCENT); jobs that had not begun run
 *    from the ring afterwards.
 * 4. If the device does not come out of that reset, or does not answer at all, the
 *    same by a function level reset of PCI, which also gives it its configuration
 *    space back.
 * 5. If that does not help either the device is wedged: everything gets -EIO (or
 *    -ENODEV if it has gone), and a uevent says so.
 *
 * A reset from outside (PCI function level reset, error recovery of PCI) enters
 * where it ends: at bringing the queues back.
 *
 * All of it happens under &tessera_device.reset.lock and allocates nothing,
 * because fences wait for it.
 */

#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/jiffies.h>
#include <linux/pci.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/tessera_drm.h>

#include "tessera_as.h"
#include "tessera_check.h"
#include "tessera_compat.h"
#include "tessera_device.h"
#include "tessera_dump.h"
#include "tessera_fault.h"
#include "tessera_irq.h"
#include "tessera_mutant.h"
#include "tessera_pci.h"
#include "tessera_queue.h"
#include "tessera_reset.h"
#include "tessera_trace.h"
#include "tessera_vm.h"
#include "tsr_packets.h"

#define QUEUE_STOP_MS		(2 * MSEC_PER_SEC)
#define DEVICE_RESET_US		(10 * USEC_PER_SEC)
#define THAW_TIMEOUT		(10 * HZ)
#define DRAIN_TIMEOUT		(2 * HZ)

/* Fences wait for what stands between these two. */
static bool recovery_begin(struct tessera_device *tdev)
{
	mutex_lock(&tdev->reset.lock);

	return dma_fence_begin_signalling();
}

static void recovery_end(struct tessera_device *tdev, bool signalling)
{
	dma_fence_end_signalling(signalling);
	mutex_unlock(&tdev->reset.lock);
}

/* The fence of the oldest job that is not done, a reference, or NULL. */
static struct tessera_fence *queue_oldest_fence(struct tessera_queue *queue)
{
	struct tessera_fence *oldest;

	spin_lock_irq(&queue->timeline->lock);
	oldest = list_first_entry_or_null(&queue->timeline->pending, struct tessera_fence, node);
	if (oldest)
		dma_fence_get(&oldest->base);
	spin_unlock_irq(&queue->timeline->lock);

	return oldest;
}

/* Number of the oldest job that is not done, 0 if there is none. */
static u64 queue_oldest(struct tessera_queue *queue)
{
	struct tessera_fence *oldest = queue_oldest_fence(queue);
	u64 seqno = 0;

	if (oldest) {
		seqno = oldest->base.seqno;
		dma_fence_put(&oldest->base);
	}

	return seqno;
}

/* Fails the oldest job and bans the queue. The slot is stopped. */
static void queue_ban(struct tessera_queue *queue, int error, u32 why)
{
	tessera_queue_complete(queue);
	tessera_timeline_signal(queue->timeline, queue_oldest(queue), error);
	tessera_queue_cancel_locked(queue, -ECANCELED);

	queue->error = error;
	queue->state |= DRM_TESSERA_QUEUE_BANNED | why;
	queue->reset_count++;
	atomic64_inc(&queue->tdev->reset.queue_count);
	trace_tessera_queue_ban(queue, error);
}

/* Has the oldest job used too much time, or does it not move at all? */
static bool queue_stuck(struct tessera_queue *queue, u64 oldest, u32 state)
{
	struct tessera_device *tdev = queue->tdev;
	u64 progress = tessera_read64(tdev, TSR_REG_QUEUE_PROGRESS(queue->slot));
	unsigned long timeout = msecs_to_jiffies(tessera_job_timeout_ms);
	u64 limit = (u64)tessera_job_limit_ms * NSEC_PER_MSEC;
	u64 served = tessera_queue_hw_served_ns(queue);
	u32 word = tessera_read(tdev, TSR_REG_QUEUE_STATE(queue->slot));
	u32 block = FIELD_GET(TSR_QUEUE_STATE_BLOCK__MASK, word);

	/* A reset of the device begins the count of the time anew. */
	if (queue->late_seqno != oldest || served < queue->late_served_ns) {
		queue->late_seqno = oldest;
		queue->late_served_ns = served;
	}
	if (queue->progress != progress) {
		queue->progress = progress;
		queue->progress_since = jiffies;
	}

	/* The platform is slow: not its fault. */
	if (block == TSR_QUEUE_BLOCK_HOST)
		return false;

	/*
	 * A program or a stream that loops for ever moves PROGRESS: it is caught by the time it
	 * has had, and not by the clock, else who floods an engine would get its neighbours
	 * killed.
	 */
	if (served - queue->late_served_ns >= limit || TESSERA_MUTANT(progress_unseen))
		return true;

	/* Others are on the engines. */
	if (state == TSR_QUEUE_STATE_READY)
		return false;

	return READ_ONCE(queue->watchdog_progress) == progress ||
	       time_after_eq(jiffies, queue->progress_since + timeout);
}

/* What is wrong with the queue: 0, or the error of its oldest job and why. */
static int queue_diagnose(struct tessera_queue *queue, u32 *why)
{
	u32 state = tessera_queue_hw_state(queue);
	u64 oldest;

	tessera_queue_complete(queue);
	oldest = queue_oldest(queue);

	if (state == TSR_QUEUE_STATE_FAULTED) {
		tessera_fault_read(queue->tdev, queue->slot, &queue->fault);
		tessera_fault_record(queue, &queue->fault);
		*why = DRM_TESSERA_QUEUE_FAULTED;
		if (queue->fault.code == TSR_FAULT_HEAP_EXHAUSTED && queue->heap_error)
			return queue->heap_error;
		return tessera_fault_errno(queue->fault.code);
	}

	if (oldest && queue_stuck(queue, oldest, state)) {
		drm_dbg(&queue->tdev->drm, "%s: job %llu does not finish, state %u\n",
			queue->timeline->name, oldest, state);
		*why = DRM_TESSERA_QUEUE_TIMEDOUT;
		return -ETIMEDOUT;
	}

	return 0;
}

/* The device as it was when the job failed. */
static void queue_dump(struct tessera_queue *queue, int error)
{
	struct tessera_fence *oldest = queue_oldest_fence(queue);

	if (!oldest)
		return;

	tessera_dump_queue(queue, oldest, error);
	dma_fence_put(&oldest->base);
}

/* Find out what is wrong, stop the slot; 0 if there is nothing to recover from. */
static int queue_stop_failed(struct tessera_queue *queue, u32 *why, bool *stopped)
{
	int error;

	lockdep_assert_held(&queue->lock);

	if (queue->dead || !queue->ring.cpu || tessera_device_frozen(queue->tdev))
		return 0;

	error = queue_diagnose(queue, why);
	if (!error)
		return 0;

	queue_dump(queue, error);

	/* From here on the queue is not brought back by a reset of the device. */
	WRITE_ONCE(queue->dead, -ECANCELED);
	tessera_queue_hw_update_usage(queue);
	tessera_queue_hw_command(queue, TSR_QUEUE_OP_RESET);
	*stopped = !tessera_queue_hw_wait_stopped(queue, QUEUE_STOP_MS);
	tessera_queue_hw_update_usage(queue);

	return error;
}

/**
 * tessera_queue_recover() - find out why a queue is late, and do what it takes
 * @queue: queue
 *
 * The caller holds &tessera_device.reset.lock.
 */
void tessera_queue_recover(struct tessera_queue *queue)
{
	struct tessera_device *tdev = queue->tdev;
	bool signalling, stopped = true;
	int cookie, error;
	u32 why = 0;

	lockdep_assert_held(&tdev->reset.lock);

	WRITE_ONCE(queue->suspect, false); /* before the look: what comes now asks again */
	if (!drm_dev_enter(&tdev->drm, &cookie))
		return;

	signalling = dma_fence_begin_signalling();
	if (!tdev->reset.frozen && !tessera_device_present(tdev)) {
		/* All ones from every register. That is no job's fault. */
		tessera_device_reset(tdev, TESSERA_RUNG_DEVICE);
		goto out;
	}

	mutex_lock(&queue->lock);
	error = queue_stop_failed(queue, &why, &stopped);
	mutex_unlock(&queue->lock);
	if (error)
		tessera_dump_vm(queue);

	/* No fence signals before the device has let go of the job's memory. */
	if (!stopped) {
		drm_err(&tdev->drm, "slot %u does not stop\n", queue->slot);
		tdev->reset.guilty = queue->owner;
		tessera_device_reset(tdev, TESSERA_RUNG_DEVICE);
	}

	if (error) {
		mutex_lock(&queue->lock);
		queue_ban(queue, error, why);
		mutex_unlock(&queue->lock);
	}
out:
	dma_fence_end_signalling(signalling);
	drm_dev_exit(cookie);
}

/*
 * Call @fn for each queue that has a slot and a ring. Slots change hands under
 * reset.lock, which the callers of this hold.
 */
static void queues_each(struct tessera_device *tdev,
			void (*fn)(struct tessera_queue *queue, void *data), void *data)
{
	u32 slot;

	lockdep_assert_held(&tdev->reset.lock);

	for (slot = 0; slot < tdev->info.num_queues; slot++) {
		struct tessera_queue *queue = READ_ONCE(tdev->slots.queue[slot]);

		if (queue && queue->ring.cpu)
			fn(queue, data);
	}
}

/* The scheduler puts no jobs on the ring between stop and start. */
static void queue_stop_scheduling(struct tessera_queue *queue, void *unused)
{
	drm_sched_wqueue_stop(&queue->timeline->sched);
}

static void queue_start_scheduling(struct tessera_queue *queue, void *unused)
{
	drm_sched_wqueue_start(&queue->timeline->sched);
}

static void queue_suspend(struct tessera_queue *queue, void *unused)
{
	mutex_lock(&queue->lock);
	tessera_queue_hw_command(queue, TSR_QUEUE_OP_SUSPEND);
	mutex_unlock(&queue->lock);
}

/* Where does the ring go on after the reset? Behind the last job that had begun. */
static u32 queue_resume_rptr(struct tessera_queue *queue, bool stopped)
{
	struct tessera_device *tdev = queue->tdev;
	u32 rptr = tessera_read(tdev, TSR_REG_QUEUE_RPTR(queue->slot));
	u32 word = tessera_read(tdev, TSR_REG_QUEUE_STATE(queue->slot));
	u32 into = rptr % TESSERA_RING_ENTRY;
	bool begun;

	/* Before the CALL nothing has happened. */
	begun = into > TESSERA_RING_CALL ||
		(into == TESSERA_RING_CALL && (word & TSR_QUEUE_STATE_IN_CALL__MASK)) || !stopped;

	return rptr - into + (begun && !TESSERA_MUTANT(rerun) ? TESSERA_RING_ENTRY : 0);
}

static void queue_save(struct tessera_queue *queue, void *data)
{
	bool *all_stopped = data, stopped;

	mutex_lock(&queue->lock);
	/* One slot that hangs is waited for, not each of 64. */
	stopped = !tessera_queue_hw_wait_stopped(queue, *all_stopped ? QUEUE_STOP_MS : 1);
	*all_stopped &= stopped;
	tessera_queue_hw_update_usage(queue);
	queue->resume_rptr = queue_resume_rptr(queue, stopped);
	mutex_unlock(&queue->lock);
}

/* Nobody can say what the slot has begun: all that is on the ring. */
static void queue_lose(struct tessera_queue *queue, void *unused)
{
	mutex_lock(&queue->lock);
	queue->resume_rptr = queue->wptr;
	mutex_unlock(&queue->lock);
}

/* Stop all queues where they are and note where that is. */
static void queues_save(struct tessera_device *tdev)
{
	bool all_stopped = true;

	if (!tessera_device_present(tdev)) {
		queues_each(tdev, queue_lose, NULL);
		return;
	}

	queues_each(tdev, queue_suspend, NULL);
	queues_each(tdev, queue_save, &all_stopped);
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

/* Cancel the jobs that were lost, and let the ones behind them run. */
static void queue_restore(struct tessera_queue *queue, void *data)
{
	const bool *counts = data;

	mutex_lock(&queue->lock);
	queue_cancel_lost(queue);
	if (!queue->dead)
		queue->reset_count += *counts;
	/* The registers begin anew. */
	queue->usage_before = queue->usage;
	if (!queue->dead && tessera_queue_hw_enable(queue, queue->resume_rptr))
		tessera_queue_cancel_locked(queue, -EIO);
	mutex_unlock(&queue->lock);
}

/**
 * tessera_device_start() - program a device that was reset
 * @tdev: device, inside drm_dev_enter() or before it is registered
 *
 * Return: 0 or -EIO.
 */
int tessera_device_start(struct tessera_device *tdev)
{
	int ret;

	tessera_check_release(tdev);
	ret = tessera_kernel_as_enable(tdev);
	if (ret)
		return ret;

	ret = tessera_vms_restore(tdev);
	if (ret)
		return ret;

	tessera_irq_enable(tdev);

	return 0;
}

static bool device_stopped(struct tessera_device *tdev)
{
	return !(tessera_read(tdev, TSR_REG_GPU_STATUS) & TSR_GPU_STATUS_RESET_BUSY__MASK);
}

/**
 * tessera_device_stop() - reset the device
 * @tdev: device
 *
 * Afterwards it touches no memory and knows nothing any more.
 *
 * Return: 0, or -EIO if it does not come out of reset, -ENODEV if it is gone.
 */
int tessera_device_stop(struct tessera_device *tdev)
{
	bool stopped;

	if (!tessera_device_present(tdev))
		return -ENODEV;

	tessera_write(tdev, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	if (read_poll_timeout(device_stopped, stopped, stopped, 20, DEVICE_RESET_US, false, tdev))
		return -EIO;

	return 0;
}

static void queue_cancel(struct tessera_queue *queue, void *data)
{
	const int *error = data;

	mutex_lock(&queue->lock);
	tessera_queue_cancel_locked(queue, *error);
	mutex_unlock(&queue->lock);
}

static void tessera_wedged_work(struct work_struct *work)
{
	struct tessera_device *tdev = container_of(work, struct tessera_device, reset.wedged_work);

	drm_dev_wedged_event(&tdev->drm, DRM_WEDGE_RECOVERY_REBIND | DRM_WEDGE_RECOVERY_BUS_RESET,
			     &tdev->reset.guilty);
}

static void device_wedge(struct tessera_device *tdev)
{
	int error = pci_device_is_present(tdev->pdev) ? -EIO : -ENODEV;

	drm_err(&tdev->drm, "the device does not recover, giving it up\n");
	WRITE_ONCE(tdev->reset.wedged, true);
	tessera_irq_disable(tdev);
	/* No fence signals before the device has let go of memory. */
	pci_clear_master(tdev->pdev);
	queues_each(tdev, queue_cancel, &error);
	queue_work(system_dfl_wq, &tdev->reset.wedged_work);
}

/*
 * After the reset itself, with the result of tessera_device_start(): bring back
 * what can be brought back.
 */
static void device_restore(struct tessera_device *tdev, int ret, bool counts)
{
	if (ret) {
		device_wedge(tdev);
	} else {
		queues_each(tdev, queue_restore, &counts);
		tdev->reset.guilty.comm[0] = '\0';
		if (counts)
			atomic64_inc(&tdev->reset.count);
	}

	queues_each(tdev, queue_start_scheduling, NULL);
}

/*
 * From here on nobody uses registers, and the device no memory: what was on its
 * way may be signalled.
 */
static void device_cut_off(struct tessera_device *tdev)
{
	WRITE_ONCE(tdev->reset.frozen, true);
	tessera_check_hold(tdev);
	pci_clear_master(tdev->pdev);
}

static void device_freeze(struct tessera_device *tdev, unsigned long delay)
{
	device_cut_off(tdev);
	mod_delayed_work(tdev->timeout_wq, &tdev->reset.thaw_work, delay);
}

/* Try the device's own reset; the next rung is tessera_thaw_work(). */
static void device_reset_by_itself(struct tessera_device *tdev)
{
	int ret;

	trace_tessera_device_reset(tdev, TESSERA_RUNG_DEVICE);
	drm_warn(&tdev->drm, "reset of the device\n");
	queues_save(tdev);

	ret = tessera_device_stop(tdev);
	ret = ret ?: tessera_device_start(tdev);
	if (ret)
		device_freeze(tdev, 0);
	else
		device_restore(tdev, 0, true);
}

/**
 * tessera_device_reset() - reset the device
 * @tdev: device
 * @rung: where to begin; those above it follow as long as nothing has helped
 *
 * The caller holds &tessera_device.reset.lock. When it returns, the device has let
 * go of all memory of jobs that had begun.
 */
void tessera_device_reset(struct tessera_device *tdev, enum tessera_rung rung)
{
	int cookie;

	lockdep_assert_held(&tdev->reset.lock);

	if (!drm_dev_enter(&tdev->drm, &cookie))
		return;

	if (!tessera_device_wedged(tdev) && !tdev->reset.frozen) {
		queues_each(tdev, queue_stop_scheduling, NULL);
		switch (rung) {
		case TESSERA_RUNG_DEVICE:
			device_reset_by_itself(tdev);
			break;
		case TESSERA_RUNG_FUNCTION:
			queues_save(tdev);
			device_freeze(tdev, 0);
			break;
		case TESSERA_RUNG_WEDGED:
			device_restore(tdev, -EIO, true);
			break;
		}
	}
	drm_dev_exit(cookie);
}

/**
 * tessera_device_reset_now() - reset the device without holding a lock
 * @tdev: device
 * @rung: where to begin
 *
 * The rung of the PCI function may follow later.
 */
void tessera_device_reset_now(struct tessera_device *tdev, enum tessera_rung rung)
{
	bool signalling = recovery_begin(tdev);

	tessera_device_reset(tdev, rung);
	recovery_end(tdev, signalling);
}

static void tessera_reset_work(struct work_struct *work)
{
	tessera_device_reset_now(container_of(work, struct tessera_device, reset.work),
				 TESSERA_RUNG_DEVICE);
}

static void queue_freeze(struct tessera_queue *queue, void *unused)
{
	mutex_lock(&queue->lock);
	queue->resume_rptr = queue->wptr;
	queue_cancel_lost(queue);
	mutex_unlock(&queue->lock);
}

/**
 * tessera_reset_freeze() - the registers cannot be used any more
 * @tdev: device that PCI is about to reset
 *
 * Nobody knows how far the jobs on the rings have come, so all of them are lost.
 * If tessera_reset_thaw() does not follow, the driver resets the function itself:
 * fences must not depend on the outcome of what others do.
 */
void tessera_reset_freeze(struct tessera_device *tdev)
{
	bool signalling = recovery_begin(tdev);

	if (!tessera_device_wedged(tdev) && !tdev->reset.frozen) {
		queues_each(tdev, queue_stop_scheduling, NULL);
		device_freeze(tdev, THAW_TIMEOUT);
		queues_each(tdev, queue_freeze, NULL);
	}
	recovery_end(tdev, signalling);
}

/**
 * tessera_reset_thaw() - the registers can be used again
 * @tdev: device
 * @ret: 0 if it has been reset and its configuration space restored, else an error
 */
void tessera_reset_thaw(struct tessera_device *tdev, int ret)
{
	bool signalling;
	int cookie;

	if (!drm_dev_enter(&tdev->drm, &cookie))
		return;

	signalling = recovery_begin(tdev);
	if (tdev->reset.frozen && !tdev->reset.foreign) {
		ret = ret ?: tessera_device_stop(tdev);
		WRITE_ONCE(tdev->reset.frozen, false);
		device_restore(tdev, ret ?: tessera_device_start(tdev), true);
	}
	recovery_end(tdev, signalling);
	drm_dev_exit(cookie);
}

/*
 * The rung of the PCI function. Not under the lock of recovery: giving a function
 * its interrupts back takes a lock under which others allocate. While the device is
 * frozen nobody else needs it.
 */
static void tessera_thaw_work(struct work_struct *work)
{
	struct tessera_device *tdev = container_of(to_delayed_work(work), struct tessera_device,
						   reset.thaw_work);
	int ret, cookie;

	if (!tessera_device_frozen(tdev) || !drm_dev_enter(&tdev->drm, &cookie))
		return;

	trace_tessera_device_reset(tdev, TESSERA_RUNG_FUNCTION);
	drm_warn(&tdev->drm, "reset of the PCI function\n");
	atomic64_inc(&tdev->reset.function_count);
	ret = tessera_pci_reset_function(tdev);
	drm_dev_exit(cookie);
	tessera_reset_thaw(tdev, ret);
}

/**
 * tessera_reset_prepare() - someone is about to reset the PCI function
 * @tdev: device
 *
 * Out of reach until tessera_reset_done(). No lock is held in between: PCI takes
 * locks of its own under which others allocate.
 */
void tessera_reset_prepare(struct tessera_device *tdev)
{
	bool signalling;
	int cookie;

	if (!drm_dev_enter(&tdev->drm, &cookie))
		return;

	signalling = recovery_begin(tdev);
	if (!tessera_device_wedged(tdev)) {
		tdev->reset.foreign = true;
		if (!tdev->reset.frozen) {
			queues_each(tdev, queue_stop_scheduling, NULL);
			queues_save(tdev);
			tessera_irq_disable(tdev);
			device_cut_off(tdev);
		}
	}
	recovery_end(tdev, signalling);
	drm_dev_exit(cookie);
}

/**
 * tessera_reset_done() - someone has reset the PCI function
 * @tdev: device
 * @ret: 0 if its configuration space is restored, else an error
 */
void tessera_reset_done(struct tessera_device *tdev, int ret)
{
	mutex_lock(&tdev->reset.lock);
	tdev->reset.foreign = false;
	mutex_unlock(&tdev->reset.lock);

	tessera_reset_thaw(tdev, ret);
}

/* Give what is on the ring time to end. */
static void queue_drain(struct tessera_queue *queue, void *data)
{
	const unsigned long *until = data;

	while (!tessera_timeline_idle(queue->timeline) && time_before(jiffies, *until)) {
		usleep_range(1000, 2000);
		tessera_queue_complete(queue);
	}
}

/**
 * tessera_reset_suspend() - the machine goes to sleep
 * @tdev: device
 *
 * Processes are frozen, so nothing new comes but what the scheduler holds, and that
 * waits. Jobs on the rings get DRAIN_TIMEOUT to end; those that have begun and have
 * not ended then are lost as in a reset of the device, the others run afterwards.
 */
void tessera_reset_suspend(struct tessera_device *tdev)
{
	unsigned long until = jiffies + DRAIN_TIMEOUT;
	bool signalling;
	int cookie;

	if (!drm_dev_enter(&tdev->drm, &cookie))
		return;

	signalling = recovery_begin(tdev);
	if (!tessera_device_wedged(tdev) && !tdev->reset.frozen) {
		queues_each(tdev, queue_stop_scheduling, NULL);
		queues_each(tdev, queue_drain, &until);
		queues_save(tdev);
		tessera_irq_disable(tdev);
		tessera_device_stop(tdev);
		WRITE_ONCE(tdev->reset.frozen, true);
		tessera_check_hold(tdev);
		tdev->reset.asleep = true;
	}
	recovery_end(tdev, signalling);
	drm_dev_exit(cookie);
}

/**
 * tessera_reset_resume() - the machine has woken up
 * @tdev: device, its configuration space restored
 *
 * No reset that user space would have to hear of, unless jobs were lost.
 *
 * Return: 0, or a negative error if the device has to be given up.
 */
int tessera_reset_resume(struct tessera_device *tdev)
{
	int ret = 0, cookie;
	bool signalling;

	if (!drm_dev_enter(&tdev->drm, &cookie))
		return 0;

	signalling = recovery_begin(tdev);
	if (tdev->reset.asleep) {
		tdev->reset.asleep = false;
		WRITE_ONCE(tdev->reset.frozen, false);
		ret = tessera_device_stop(tdev) ?: tessera_device_start(tdev);
		device_restore(tdev, ret, false);
	}
	recovery_end(tdev, signalling);
	drm_dev_exit(cookie);

	return ret;
}

static void queue_unplug(struct tessera_queue *queue, void *unused)
{
	mutex_lock(&queue->lock);
	tessera_queue_cancel_locked(queue, -ENODEV);
	tessera_ring_unmap(queue->tdev, &queue->ring);
	mutex_unlock(&queue->lock);
	/* In case somebody was about to bring the device back. */
	queue_start_scheduling(queue, NULL);
}

/**
 * tessera_reset_unplug() - end all queues of an unplugged device
 * @tdev: device that is stopped for good
 */
void tessera_reset_unplug(struct tessera_device *tdev)
{
	cancel_work_sync(&tdev->reset.work);
	cancel_delayed_work_sync(&tdev->reset.thaw_work);
	cancel_work_sync(&tdev->reset.wedged_work);

	mutex_lock(&tdev->reset.lock);
	queues_each(tdev, queue_unplug, NULL);
	mutex_unlock(&tdev->reset.lock);
}

/**
 * tessera_reset_init() - initialise what recovery needs
 * @tdev: device
 *
 * Return: 0 or a negative error.
 */
int tessera_reset_init(struct tessera_device *tdev)
{
	INIT_WORK(&tdev->reset.work, tessera_reset_work);
	INIT_WORK(&tdev->reset.wedged_work, tessera_wedged_work);
	INIT_DELAYED_WORK(&tdev->reset.thaw_work, tessera_thaw_work);
	atomic64_set(&tdev->reset.count, 0);
	atomic64_set(&tdev->reset.function_count, 0);
	atomic64_set(&tdev->reset.queue_count, 0);

	return drmm_mutex_init(&tdev->drm, &tdev->reset.lock);
}
