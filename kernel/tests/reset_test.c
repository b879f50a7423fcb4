// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Recovery, where it decides: who is stuck, what had begun, which jobs are lost. */

#include <kunit/test.h>

#include "tests.h"

/* Other suites have stand-ins of these names. */
#define tessera_device_start	test_device_start
#define tessera_device_stop	test_device_stop
#define tessera_reset_init	test_reset_init
#define tessera_reset_unplug	test_reset_unplug
#define tessera_queue_hw_wait_stopped test_wait_stopped

#include "../tessera_reset.c"

#define TEST_SLOT	2
#define REGS_SIZE	SZ_1M

/* Stand-ins for the rest of the driver. Fences signal here by being written down. */
static u64 test_signalled;
static int test_error;
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

void tessera_dump_queue(struct tessera_queue *queue, const struct tessera_fence *job, int error)
{
}

void tessera_dump_vm(struct tessera_queue *queue)
{
}

int tessera_kernel_as_enable(struct tessera_device *tdev)
{
	return 0;
}

int tessera_vms_restore(struct tessera_device *tdev)
{
	return 0;
}

void tessera_irq_enable(struct tessera_device *tdev)
{
}

int tessera_pci_reset_function(struct tessera_device *tdev)
{
	return 0;
}

void tessera_ring_unmap(struct tessera_device *tdev, struct tessera_ring *ring)
{
}

/* A queue on a device whose registers are memory. */
static struct tessera_queue *late_queue(struct kunit *test)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);
	struct tessera_queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	KUNIT_ASSERT_NOT_NULL(test, queue);
	tdev->regs = (void __iomem *)kunit_kzalloc(test, REGS_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, (void *)tdev->regs);
	queue->tdev = tdev;
	queue->slot = TEST_SLOT;
	queue->watchdog_progress = U64_MAX;
	mutex_init(&queue->lock);
	queue->timeline = kunit_kzalloc(test, sizeof(*queue->timeline), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, queue->timeline);

	return queue;
}

/* What the device says when it is looked at. */
struct look {
	u64 busy_ns, blocked_ns, progress;
	u32 state, block;
};

static bool looks_stuck(struct tessera_queue *queue, u64 oldest, const struct look *look)
{
	struct tessera_device *tdev = queue->tdev;
	u32 blocked = TSR_REG_QUEUE_COUNTER(TEST_SLOT, TSR_QUEUE_COUNTER_BLOCKED_TIME);

	tessera_write64(tdev, TSR_REG_QUEUE_PROGRESS(TEST_SLOT), look->progress);
	tessera_write64(tdev, TSR_REG_QUEUE_BUSY_NS(TEST_SLOT), look->busy_ns);
	tessera_write64(tdev, blocked, look->blocked_ns);
	tessera_write(tdev, TSR_REG_QUEUE_STATE(TEST_SLOT),
		      FIELD_PREP(TSR_QUEUE_STATE_STATE__MASK, look->state) |
		      FIELD_PREP(TSR_QUEUE_STATE_BLOCK__MASK, look->block));

	return queue_stuck(queue, oldest, look->state);
}

#define RUNS(_progress) \
	(&(struct look) { .progress = (_progress), .state = TSR_QUEUE_STATE_RUNNING })

/* Who moves is late and not stuck; who has not moved for the whole timeout is. */
static void reset_test_progress(struct kunit *test)
{
	struct tessera_queue *queue = late_queue(test);
	unsigned long timeout = msecs_to_jiffies(tessera_job_timeout_ms);

	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, RUNS(10)));
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, RUNS(10)));
	queue->progress_since = jiffies - timeout + HZ;
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, RUNS(10)));
	queue->progress_since = jiffies - timeout;
	KUNIT_EXPECT_TRUE(test, looks_stuck(queue, 1, RUNS(10)));
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, RUNS(11)));
	KUNIT_EXPECT_LT(test, jiffies - queue->progress_since, HZ);
}

/* The device's watchdog says so at once, as long as nothing has moved since. */
static void reset_test_watchdog(struct kunit *test)
{
	struct tessera_queue *queue = late_queue(test);

	queue->watchdog_progress = 10;
	KUNIT_EXPECT_TRUE(test, looks_stuck(queue, 1, RUNS(10)));
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, RUNS(11)));
}

/* A queue that others keep from the engines, or that waits for the host, is not stuck. */
static void reset_test_others(struct kunit *test)
{
	struct tessera_queue *queue = late_queue(test);
	struct look ready = { .progress = 10, .state = TSR_QUEUE_STATE_READY };
	struct look host = { .progress = 10, .state = TSR_QUEUE_STATE_BLOCKED,
			     .block = TSR_QUEUE_BLOCK_HOST };
	struct look heap = { .progress = 10, .state = TSR_QUEUE_STATE_BLOCKED,
			     .block = TSR_QUEUE_BLOCK_HEAP };

	queue->watchdog_progress = 10;
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, &ready));
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, &host));
	KUNIT_EXPECT_TRUE(test, looks_stuck(queue, 1, &heap));
}

/* Who moves has a limit all the same: of time on engines and blocked, for each job. */
static void reset_test_limit(struct kunit *test)
{
	struct tessera_queue *queue = late_queue(test);
	u64 limit = (u64)tessera_job_limit_ms * NSEC_PER_MSEC, start = 5 * NSEC_PER_SEC;
	struct look look = { .busy_ns = start, .progress = 1, .state = TSR_QUEUE_STATE_RUNNING };

	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, &look));
	look.progress++;
	look.busy_ns = start + limit / 2;
	look.blocked_ns = limit - limit / 2 - 1;
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, &look));
	look.progress++;
	look.blocked_ns++;
	KUNIT_EXPECT_TRUE(test, looks_stuck(queue, 1, &look));

	/* the next job has a limit of its own */
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 2, &look));
	look.progress++;
	look.busy_ns += limit - 1;
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 2, &look));

	/* and a count that begins anew is no time at all, with the same job */
	look.progress++;
	look.busy_ns = 7;
	look.blocked_ns = 0;
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 2, &look));
	look.progress++;
	look.busy_ns = 7 + limit - 1;
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 2, &look));
	look.progress++;
	look.busy_ns++;
	KUNIT_EXPECT_TRUE(test, looks_stuck(queue, 2, &look));
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
	struct tessera_queue *queue = late_queue(test);
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
}

/* Lost are all jobs but those behind where the ring goes on; nobody is told when there is none. */
static void reset_test_lost(struct kunit *test)
{
	struct tessera_queue *queue = late_queue(test);

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
#define NO_RING		4	/* and one whose queue has lost its ring */

/* A device with queues on all slots but one; each is eight bytes into its third entry. */
static struct tessera_device *busy_device(struct kunit *test, struct tessera_queue **queue)
{
	struct tessera_device *tdev = late_queue(test)->tdev;
	unsigned int i;

	tdev->info.num_queues = QUEUES;
	mutex_init(&tdev->reset.lock);
	tessera_write(tdev, TSR_REG_GPU_MAGIC, TSR_MAGIC);
	for (i = 0; i < QUEUES; i++) {
		test_hangs[i] = false;
		test_waited_ms[i] = 0;
		queue[i] = late_queue(test);
		queue[i]->tdev = tdev;
		queue[i]->slot = i;
		queue[i]->wptr = 5 * TESSERA_RING_ENTRY;
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
	queues_save(tdev);
	mutex_unlock(&tdev->reset.lock);
	for (i = 0; i < QUEUES; i++) {
		bool saved = i != NO_QUEUE && i != NO_RING;
		u32 command = tessera_read(tdev, TSR_REG_QUEUE_CONTROL(i));

		KUNIT_EXPECT_EQ(test, test_waited_ms[i], !saved ? 0 : i > 2 ? 1 : QUEUE_STOP_MS);
		KUNIT_EXPECT_EQ(test, FIELD_GET(TSR_QUEUE_CONTROL_OP__MASK, command),
				saved ? TSR_QUEUE_OP_SUSPEND : 0);
		KUNIT_EXPECT_EQ(test, queue[i]->resume_rptr,
				saved ? (i == 2 ? 3 : 2) * TESSERA_RING_ENTRY : 0);
	}
}

/* Of a device that does not answer all is lost that is on the rings. */
static void reset_test_save_gone(struct kunit *test)
{
	struct tessera_queue *queue[QUEUES];
	struct tessera_device *tdev = busy_device(test, queue);
	unsigned int i;

	tessera_write(tdev, TSR_REG_GPU_MAGIC, U32_MAX);
	mutex_lock(&tdev->reset.lock);
	queues_save(tdev);
	mutex_unlock(&tdev->reset.lock);
	for (i = 0; i < QUEUES; i++) {
		KUNIT_EXPECT_EQ(test, test_waited_ms[i], 0);
		KUNIT_EXPECT_EQ(test, queue[i]->resume_rptr,
				i == NO_QUEUE || i == NO_RING ? 0 : queue[i]->wptr);
	}
}

static struct kunit_case reset_cases[] = {
	KUNIT_CASE(reset_test_progress),
	KUNIT_CASE(reset_test_watchdog),
	KUNIT_CASE(reset_test_others),
	KUNIT_CASE(reset_test_limit),
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
