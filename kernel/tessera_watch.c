// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Recovery of a queue
 *
 * Each queue has a work item, the timeout check. It runs four times in a job timeout
 * while the queue has jobs on the ring, and immediately after the FAULT interrupt. It
 * handles events whose interrupts were lost and signals the fences of finished jobs. A
 * lost interrupt therefore costs at most one period. Then the check decides if the
 * queue is good, faulted or hung. A queue is hung in two cases:
 *
 * - It had a job for job_timeout_ms and PROGRESS has not moved. A queue that waits for
 *   an engine in use by other queues, or for the platform, is not hung.
 * - PROGRESS moves, but since the job was job_timeout_ms old the queue has been on
 *   engines or blocked for job_limit_ms. The job is an endless loop.
 *
 * The check then resets the slot. The oldest job gets its error, later jobs get
 * -ECANCELED, and the queue is banned. Other queues are not affected unless the slot
 * does not stop, which is a failure of the device (tessera_reset.c).
 *
 * The scheduler's own timer is not used. It counts wall-clock time for each job, so a
 * flood of jobs from one client would time out the jobs of others. Its handler also
 * stops the scheduler before it knows that a job has failed.
 */

#include <linux/bitfield.h>
#include <linux/dma-fence.h>
#include <linux/jiffies.h>

#include <drm/drm_print.h>
#include <drm/tessera_drm.h>

#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_dump.h"
#include "tessera_fault.h"
#include "tessera_irq.h"
#include "tessera_queue.h"
#include "tessera_reset.h"
#include "tessera_sched.h"
#include "tessera_trace.h"
#include "tessera_watch.h"

#define LOOKS 4

static unsigned long watch_timeout(void)
{
	return msecs_to_jiffies(tessera_job_timeout_ms);
}

static void watch_moved(struct tessera_watch *watch)
{
	watch->progress_since = jiffies;
	watch->still = 0;
}

/* Take notice of what has changed since the last look. */
static void watch_note(struct tessera_queue *queue, u64 oldest, u64 progress, u64 served)
{
	struct tessera_watch *watch = &queue->watch;

	if (watch->job != oldest) {
		watch->job = oldest;
		watch->job_since = jiffies;
		watch->late = false;
		watch_moved(watch);
	} else if (watch->progress != progress) {
		watch_moved(watch);
	} else {
		watch->still++;
	}
	watch->progress = progress;
	if (!watch->late && time_after_eq(jiffies, watch->job_since + watch_timeout())) {
		watch->late = true;
		watch->late_served_ns = served;
	}
}

/* Has the oldest job used too much time, or does it not move at all? */
static bool queue_stuck(struct tessera_queue *queue, u64 oldest, u32 state)
{
	u64 limit = (u64)tessera_job_limit_ms * NSEC_PER_MSEC;
	u64 progress = tessera_read64(queue->tdev, TSR_REG_QUEUE_PROGRESS(queue->slot));
	u32 word = tessera_read(queue->tdev, TSR_REG_QUEUE_STATE(queue->slot));
	u32 block = FIELD_GET(TSR_QUEUE_STATE_BLOCK__MASK, word);
	u64 served = tessera_queue_hw_served_ns(queue);
	struct tessera_watch *watch = &queue->watch;

	watch_note(queue, oldest, progress, served);

	/* The platform is slow, which is not the fault of the job. */
	if (block == TSR_QUEUE_BLOCK_HOST) {
		watch_moved(watch);
		return false;
	}

	/*
	 * An endless program or stream moves PROGRESS. Its limit is engine time. With wall-clock
	 * time, a client that floods an engine would time out the jobs of others.
	 */
	if (watch->late && served - watch->late_served_ns >= limit)
		return true;

	/* Others are on the engines. */
	if (state == TSR_QUEUE_STATE_READY) {
		watch_moved(watch);
		return false;
	}

	/* Not by the clock alone: a machine that has stood still itself has not looked. */
	return watch->still >= LOOKS &&
	       time_after_eq(jiffies, watch->progress_since + watch_timeout());
}

/* Result of a timeout check. */
struct diagnosis {
	/* job that failed, 0 if none was pending */
	u64 job;
	/* error of that job */
	int error;
	/* DRM_TESSERA_QUEUE_FAULTED or DRM_TESSERA_QUEUE_TIMEDOUT */
	u32 why;
};

/* Returns 0 if nothing is wrong, else the error of the oldest job. */
static int queue_diagnose(struct tessera_queue *queue, struct diagnosis *found)
{
	u32 state = tessera_queue_hw_state(queue);
	struct tessera_hw_fault fault;
	u64 oldest;

	tessera_queue_complete(queue);
	oldest = tessera_timeline_oldest(queue->timeline);
	found->job = oldest;
	found->error = 0;

	if (state == TSR_QUEUE_STATE_FAULTED)
		tessera_fault_read(queue->tdev, queue->slot, &fault);
	else if (!oldest || !queue_stuck(queue, oldest, state))
		return 0;
	/*
	 * Last: a device that answers now has answered before. One that does not reads as all ones,
	 * which is no job's fault. The next timeout check resets it.
	 */
	if (!tessera_device_present(queue->tdev))
		return 0;

	if (state == TSR_QUEUE_STATE_FAULTED) {
		queue->fault = fault;
		tessera_fault_record(queue, &queue->fault);
		found->why = DRM_TESSERA_QUEUE_FAULTED;
		if (queue->fault.code == TSR_FAULT_HEAP_EXHAUSTED && queue->heap_error)
			found->error = queue->heap_error;
		else
			found->error = tessera_fault_errno(queue->fault.code);
	} else {
		drm_dbg(&queue->tdev->drm, "%s: job %llu does not finish, state %u\n",
			queue->timeline->name, oldest, state);
		found->why = DRM_TESSERA_QUEUE_TIMEDOUT;
		found->error = -ETIMEDOUT;
	}

	return found->error;
}

/* The device as it was when the job failed. */
static void queue_dump(struct tessera_queue *queue, int error)
{
	struct tessera_fence *oldest = tessera_timeline_oldest_fence(queue->timeline);

	if (!oldest)
		return;

	tessera_dump_queue(queue, oldest, error);
	dma_fence_put(&oldest->base);
}

/* Find out what is wrong and dump it; 0 if there is nothing to recover from. */
static int queue_examine(struct tessera_queue *queue, struct diagnosis *found)
{
	int error = 0;

	mutex_lock(&queue->lock);
	/* If nothing of it runs, nothing can be wrong. */
	if (!queue->dead && queue->enabled)
		error = queue_diagnose(queue, found);
	if (error)
		queue_dump(queue, error);
	mutex_unlock(&queue->lock);

	return error;
}

/*
 * Returns false if the queue has no slot any more. That happens in the backend "engine" if all its
 * jobs have ended since the diagnosis.
 */
static bool queue_stop_slot(struct tessera_queue *queue, bool *stopped)
{
	bool failed;

	mutex_lock(&queue->lock);
	failed = queue->enabled;
	if (failed) {
		/* From here on the queue is not brought back by a reset of the device. */
		WRITE_ONCE(queue->dead, -ECANCELED);
		tessera_queue_hw_update_usage(queue);
		queue->enabled = false;
		tessera_queue_hw_command(queue, TSR_QUEUE_OP_RESET);
		*stopped = !tessera_queue_hw_wait_stopped(queue, TESSERA_QUEUE_STOP_MS);
		tessera_queue_hw_update_usage(queue);
	}
	mutex_unlock(&queue->lock);

	return failed;
}

/*
 * Fails the diagnosed job and bans the queue. The slot is stopped. The job may have ended before
 * that. Then no job gets the error: the ones after it were never diagnosed.
 */
static void queue_ban(struct tessera_queue *queue, const struct diagnosis *found)
{
	tessera_queue_complete(queue);
	tessera_timeline_signal(queue->timeline, found->job, found->error);
	tessera_queue_cancel_locked(queue, -ECANCELED);

	queue->error = found->error;
	queue->state |= DRM_TESSERA_QUEUE_BANNED | found->why;
	queue->reset_count++;
	atomic64_inc(&queue->tdev->reset.queue_count);
	trace_tessera_queue_ban(queue, found->error);
}

/* The queue has failed, and its slot was told to stop. */
static void queue_fail(struct tessera_queue *queue, const struct diagnosis *found, bool stopped)
{
	struct tessera_device *tdev = queue->tdev;

	tessera_dump_vm(queue);

	/* No fence signals before the device has let go of the job's memory. */
	if (!stopped) {
		drm_err(&tdev->drm, "slot %u does not stop\n", queue->slot);
		tdev->reset.guilty = queue->owner;
		tessera_device_reset(tdev, TESSERA_RUNG_DEVICE);
	}

	tessera_delay(TESSERA_DELAY_WATCH_BAN);
	mutex_lock(&queue->lock);
	queue_ban(queue, found);
	mutex_unlock(&queue->lock);
	/* A reset of the device reports itself. */
	if (stopped)
		queue_work(system_dfl_wq, &queue->event_work);
}

static void queue_recover(struct tessera_queue *queue)
{
	struct tessera_device *tdev = queue->tdev;
	struct diagnosis found = {};
	bool stopped;

	if (!tessera_device_present(tdev)) {
		/* All ones from every register. That is no job's fault. */
		tessera_device_reset(tdev, TESSERA_RUNG_DEVICE);
		return;
	}

	if (!queue_examine(queue, &found))
		return;

	tessera_delay(TESSERA_DELAY_WATCH_STOP);
	tessera_engine_stop(tdev, queue->engine_class);
	if (queue_stop_slot(queue, &stopped))
		queue_fail(queue, &found, stopped);
	/* A reset of the device starts the schedulers when it is over. */
	if (!tdev->reset.saved)
		tessera_engines_start(tdev);
}

static void tessera_watch_work(struct work_struct *work)
{
	struct tessera_queue *queue = container_of(to_delayed_work(work), struct tessera_queue,
						   watch.work);
	struct tessera_device *tdev = queue->tdev;
	bool signalling;

	mutex_lock(&tdev->reset.lock);
	signalling = dma_fence_begin_signalling();
	if (tessera_state(tdev) == TESSERA_RUNNING) {
		tessera_irq_look_queues(tdev);
		queue_recover(queue);
		if (!tessera_timeline_idle(queue->timeline))
			tessera_watch_start(queue);
	}
	dma_fence_end_signalling(signalling);
	mutex_unlock(&tdev->reset.lock);
}

/**
 * tessera_watch_init() - nothing has been seen of a queue
 * @queue: queue
 */
void tessera_watch_init(struct tessera_queue *queue)
{
	INIT_DELAYED_WORK(&queue->watch.work, tessera_watch_work);
}

/**
 * tessera_watch_start() - see to it that somebody will look at a queue
 * @queue: queue with jobs on its ring
 *
 * From any context.
 */
void tessera_watch_start(struct tessera_queue *queue)
{
	queue_delayed_work(queue->tdev->timeout_wq, &queue->watch.work,
			   max(watch_timeout() / LOOKS, 1));
}

/**
 * tessera_watch_now() - look at a queue now
 * @queue: queue that has a slot
 *
 * From any context, also interrupts. A look that has begun may have seen nothing yet:
 * another one follows it.
 */
void tessera_watch_now(struct tessera_queue *queue)
{
	mod_delayed_work(queue->tdev->timeout_wq, &queue->watch.work, 0);
}

/**
 * tessera_watch_restart() - the registers of a queue's slot have begun anew
 * @queue: queue, its lock held
 */
void tessera_watch_restart(struct tessera_queue *queue)
{
	lockdep_assert_held(&queue->lock);

	queue->watch.job = 0;
	tessera_watch_start(queue);
}

/**
 * tessera_watch_fini() - nobody looks at a queue any more
 * @queue: queue without a slot and without jobs
 */
void tessera_watch_fini(struct tessera_queue *queue)
{
	cancel_delayed_work_sync(&queue->watch.work);
}
