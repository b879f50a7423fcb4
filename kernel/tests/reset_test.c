// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Queues over a reset: what had begun, which jobs are lost. */

#include <kunit/test.h>

#include "tests.h"

/* Another suite has a stand-in of this name. */
#define tessera_queue_hw_wait_stopped test_wait_stopped
/* The real ones need a device and a workqueue. */
#define tessera_queue_hw_enable test_hw_enable
#define tessera_watch_restart test_watch_restart

#include "../tessera_reset_queues.c"

#define TEST_SLOT	2

/* Stand-ins for the rest of the driver. Fences signal here by being written down. */
u64 test_signalled;
int test_error;
static unsigned int test_signals, test_pending;

unsigned int tessera_timeline_signal(struct tessera_timeline *timeline, u64 last, int error)
{
	test_signalled = last;
	test_error = error;
	test_signals++;

	return test_pending;
}

/* A slot stops at once or never; how long it was waited for is written down. */
static bool test_hangs[TSR_QUEUES_MAX];
static unsigned int test_waited_ms[TSR_QUEUES_MAX];

int tessera_queue_hw_wait_stopped(struct tessera_queue *queue, unsigned int timeout_ms)
{
	test_waited_ms[queue->slot] = timeout_ms;

	return test_hangs[queue->slot] ? -ETIMEDOUT : 0;
}

/* The result of tessera_queue_hw_enable(). */
static int test_enable_error;

int tessera_queue_hw_enable(struct tessera_queue *queue, u32 rptr)
{
	return test_enable_error;
}

void tessera_watch_restart(struct tessera_queue *queue)
{
}

u64 tessera_timeline_oldest(struct tessera_timeline *timeline)
{
	return 0;
}

struct tessera_fence *tessera_timeline_oldest_fence(struct tessera_timeline *timeline)
{
	return NULL;
}

bool tessera_timeline_idle(struct tessera_timeline *timeline)
{
	return true;
}

void tessera_queue_complete(struct tessera_queue *queue)
{
}

void tessera_queue_cancel_locked(struct tessera_queue *queue, int error)
{
}

/* The backend "slot" has no schedulers to stop. */
void tessera_engine_stop(struct tessera_device *tdev, u32 engine_class)
{
}

void tessera_engines_stop(struct tessera_device *tdev)
{
}

void tessera_engines_start(struct tessera_device *tdev)
{
}

void tessera_engines_end(struct tessera_device *tdev, int error)
{
}

void tessera_engine_emit_again(struct tessera_queue *queue)
{
}

void tessera_ring_unmap(struct tessera_device *tdev, struct tessera_ring *ring)
{
}

/* A slot that does not start again bans its queue, which is innocent. One that starts does not. */
static void reset_test_restart(struct kunit *test)
{
	struct tessera_queue *queue = tessera_test_queue(test, TEST_SLOT);
	bool counts = true;

	mutex_lock(&queue->lock);
	test_pending = 0;
	test_enable_error = 0;
	queue_restore(queue, &counts);
	KUNIT_EXPECT_EQ(test, queue->state, 0);
	KUNIT_EXPECT_EQ(test, queue->dead, 0);
	test_enable_error = -EIO;
	queue_restore(queue, &counts);
	KUNIT_EXPECT_EQ(test, queue->state,
			DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_INNOCENT);
	KUNIT_EXPECT_EQ(test, queue->error, -EIO);
	KUNIT_EXPECT_EQ(test, queue->dead, -ECANCELED);
	mutex_unlock(&queue->lock);
}

/* A job has begun when its CALL has; where the slot did not stop nobody knows, and it has. */
static void reset_test_resume(struct kunit *test)
{
	static const struct {
		u32 into;
		bool in_call, begun;
	} rows[] = {
		{ 0, false, false },
		{ 8, false, false },
		{ TESSERA_RING_CALL - 8, false, false },
		{ TESSERA_RING_CALL, false, false },
		{ TESSERA_RING_CALL, true, true },
		{ TESSERA_RING_CALL + 8, false, true },
		{ TESSERA_RING_ENTRY - 8, false, true },
	};
	struct tessera_queue *queue = tessera_test_queue(test, TEST_SLOT);
	u32 entry = 7 * TESSERA_RING_ENTRY;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		tessera_write(queue->tdev, TSR_REG_QUEUE_RPTR(TEST_SLOT), entry + rows[i].into);
		tessera_write(queue->tdev, TSR_REG_QUEUE_STATE(TEST_SLOT),
			      FIELD_PREP(TSR_QUEUE_STATE_IN_CALL__MASK, rows[i].in_call));
		KUNIT_EXPECT_EQ_MSG(test, queue_resume_rptr(queue, true),
				    entry + (rows[i].begun ? TESSERA_RING_ENTRY : 0),
				    "%u bytes into the entry", rows[i].into);
		KUNIT_EXPECT_EQ(test, queue_resume_rptr(queue, false), entry + TESSERA_RING_ENTRY);
	}

	/* A device that does not answer says nothing: all is lost that it was told of. */
	queue->wptr = entry + 5 * TESSERA_RING_ENTRY;
	queue->told_wptr = entry + 4 * TESSERA_RING_ENTRY;
	tessera_write(queue->tdev, TSR_REG_QUEUE_RPTR(TEST_SLOT), U32_MAX);
	tessera_write(queue->tdev, TSR_REG_GPU_MAGIC, U32_MAX);
	KUNIT_EXPECT_EQ(test, queue_resume_rptr(queue, true), queue->told_wptr);
}

/* Lost are all jobs but those behind where the ring goes on; nobody is told when there is none. */
static void reset_test_lost(struct kunit *test)
{
	struct tessera_queue *queue = tessera_test_queue(test, TEST_SLOT);

	mutex_lock(&queue->lock);
	queue->timeline->seqno = 100;
	queue->wptr = 3 * TESSERA_RING_ENTRY;
	queue->resume_rptr = 0u - 2 * TESSERA_RING_ENTRY;	/* five are left */
	test_pending = 0;
	queue_cancel_lost(queue);
	KUNIT_EXPECT_EQ(test, test_signalled, 95);
	KUNIT_EXPECT_EQ(test, test_error, -ECANCELED);
	KUNIT_EXPECT_EQ(test, queue->state, 0);
	KUNIT_EXPECT_EQ(test, queue->error, 0);

	test_pending = 1;
	queue->state = DRM_TESSERA_QUEUE_FAULTED;
	queue->resume_rptr = queue->wptr;
	queue_cancel_lost(queue);
	KUNIT_EXPECT_EQ(test, test_signalled, 100);
	KUNIT_EXPECT_EQ(test, queue->state,
			DRM_TESSERA_QUEUE_FAULTED | DRM_TESSERA_QUEUE_INNOCENT);
	KUNIT_EXPECT_EQ(test, queue->error, -ECANCELED);

	/* a queue that is banned keeps what was said of it */
	queue->dead = -ECANCELED;
	queue->state = DRM_TESSERA_QUEUE_BANNED;
	queue->error = -EFAULT;
	test_signals = 0;
	queue_cancel_lost(queue);
	KUNIT_EXPECT_EQ(test, test_signals, 0);
	KUNIT_EXPECT_EQ(test, queue->state, DRM_TESSERA_QUEUE_BANNED);
	KUNIT_EXPECT_EQ(test, queue->error, -EFAULT);
	mutex_unlock(&queue->lock);
}

#define QUEUES		6
#define NO_QUEUE	1	/* a slot without a queue */
#define NO_RING		4	/* the slot whose queue has lost its ring */

/* A device with queues on all slots but one; each is eight bytes into its third entry. */
static struct tessera_device *busy_device(struct kunit *test, struct tessera_queue **queue)
{
	struct tessera_device *tdev = tessera_test_queue(test, TEST_SLOT)->tdev;
	unsigned int i;

	tdev->info.num_queues = QUEUES;
	mutex_init(&tdev->reset.lock);
	tessera_write(tdev, TSR_REG_GPU_MAGIC, TSR_MAGIC);
	for (i = 0; i < QUEUES; i++) {
		test_hangs[i] = false;
		test_waited_ms[i] = 0;
		queue[i] = tessera_test_queue(test, TEST_SLOT);
		queue[i]->tdev = tdev;
		queue[i]->slot = i;
		queue[i]->wptr = 5 * TESSERA_RING_ENTRY;
		queue[i]->told_wptr = 4 * TESSERA_RING_ENTRY;
		queue[i]->enabled = true;
		queue[i]->ring.cpu = i == NO_RING ? NULL : kunit_kzalloc(test, 8, GFP_KERNEL);
		tessera_write(tdev, TSR_REG_QUEUE_RPTR(i), 2 * TESSERA_RING_ENTRY + 8);
		tdev->slots.queue[i] = i == NO_QUEUE ? NULL : queue[i];
	}

	return tdev;
}

/* Slots are given time to stop until one does not: the others may not cost as much again. */
static void reset_test_save(struct kunit *test)
{
	struct tessera_queue *queue[QUEUES];
	struct tessera_device *tdev = busy_device(test, queue);
	unsigned int i;

	test_hangs[2] = true;
	mutex_lock(&tdev->reset.lock);
	tessera_queues_save(tdev);
	mutex_unlock(&tdev->reset.lock);
	for (i = 0; i < QUEUES; i++) {
		bool saved = i != NO_QUEUE && i != NO_RING;
		u32 command = tessera_read(tdev, TSR_REG_QUEUE_CONTROL(i));

		KUNIT_EXPECT_EQ(test, test_waited_ms[i],
				!saved ? 0 : i > 2 ? 1 : TESSERA_QUEUE_STOP_MS);
		KUNIT_EXPECT_EQ(test, FIELD_GET(TSR_QUEUE_CONTROL_OP__MASK, command),
				saved ? TSR_QUEUE_OP_SUSPEND : 0);
		KUNIT_EXPECT_EQ(test, queue[i]->resume_rptr,
				saved ? (i == 2 ? 3 : 2) * TESSERA_RING_ENTRY : 0);
		KUNIT_EXPECT_EQ(test, queue[i]->enabled, !saved);
	}
}

/* If the device does not answer, all jobs are lost that a doorbell has announced. */
static void reset_test_save_gone(struct kunit *test)
{
	struct tessera_queue *queue[QUEUES];
	struct tessera_device *tdev = busy_device(test, queue);
	unsigned int i;

	tessera_write(tdev, TSR_REG_GPU_MAGIC, U32_MAX);
	mutex_lock(&tdev->reset.lock);
	tessera_queues_save(tdev);
	mutex_unlock(&tdev->reset.lock);
	for (i = 0; i < QUEUES; i++) {
		KUNIT_EXPECT_EQ(test, test_waited_ms[i], 0);
		KUNIT_EXPECT_EQ(test, queue[i]->resume_rptr,
				i == NO_QUEUE || i == NO_RING ? 0 : 4 * TESSERA_RING_ENTRY);
	}

	/* where they are is looked at once: what comes on the ring later is not lost */
	queue[0]->wptr += TESSERA_RING_ENTRY;
	mutex_lock(&tdev->reset.lock);
	tessera_queues_save(tdev);
	mutex_unlock(&tdev->reset.lock);
	KUNIT_EXPECT_EQ(test, queue[0]->resume_rptr, 4 * TESSERA_RING_ENTRY);
}

static struct kunit_case reset_cases[] = {
	KUNIT_CASE(reset_test_restart),
	KUNIT_CASE(reset_test_resume),
	KUNIT_CASE(reset_test_lost),
	KUNIT_CASE(reset_test_save),
	KUNIT_CASE(reset_test_save_gone),
	{}
};

static struct kunit_suite reset_suite = {
	.name = "tessera_reset",
	.test_cases = reset_cases,
};

kunit_test_suite(reset_suite);
