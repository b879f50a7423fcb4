// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Recovery of a queue, where it decides: who is stuck. */

#include <kunit/test.h>

#include "tests.h"

/* Another suite has a stand-in of this name. */
#define tessera_timeline_oldest test_timeline_oldest

#include "../tessera_watch.c"

#define TEST_SLOT	2

/* Number of the oldest job. */
static u64 test_oldest;

u64 tessera_timeline_oldest(struct tessera_timeline *timeline)
{
	return test_oldest;
}

/* Stand-ins for the rest of the driver. Nothing is recovered here. */
void tessera_dump_queue(struct tessera_queue *queue, const struct tessera_fence *job, int error)
{
}

void tessera_dump_vm(struct tessera_queue *queue)
{
}

void tessera_irq_look_queues(struct tessera_device *tdev)
{
}

void tessera_device_reset(struct tessera_device *tdev, enum tessera_rung rung)
{
}

/* The answers of the device when the driver reads it. */
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

/* So long, and for as many looks as it takes. */
static void stood_still(struct tessera_queue *queue, unsigned long since)
{
	queue->watch.progress_since = jiffies - since;
	queue->watch.still = LOOKS;
}

#define RUNS(_progress) \
	(&(struct look) { .progress = (_progress), .state = TSR_QUEUE_STATE_RUNNING })

/* A job with progress is overdue, not hung. Without progress for the timeout it is hung. */
static void watch_test_progress(struct kunit *test)
{
	struct tessera_queue *queue = tessera_test_queue(test, TEST_SLOT);
	unsigned long timeout = msecs_to_jiffies(tessera_job_timeout_ms);

	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, RUNS(10)));
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, RUNS(10)));
	stood_still(queue, timeout - HZ);
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, RUNS(10)));
	stood_still(queue, timeout);
	KUNIT_EXPECT_TRUE(test, looks_stuck(queue, 1, RUNS(10)));
	/* but not if nobody has looked in between */
	queue->watch.still = 0;
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, RUNS(10)));
	stood_still(queue, timeout);
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, RUNS(11)));
	KUNIT_EXPECT_LT(test, jiffies - queue->watch.progress_since, HZ);

	/* the next job has a time of its own */
	stood_still(queue, timeout);
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 2, RUNS(11)));
}

/* A queue that others keep from the engines, or that waits for the host, is not stuck. */
static void watch_test_others(struct kunit *test)
{
	struct tessera_queue *queue = tessera_test_queue(test, TEST_SLOT);
	struct look ready = { .progress = 10, .state = TSR_QUEUE_STATE_READY };
	struct look host = { .progress = 10, .state = TSR_QUEUE_STATE_BLOCKED,
			     .block = TSR_QUEUE_BLOCK_HOST };
	struct look heap = { .progress = 10, .state = TSR_QUEUE_STATE_BLOCKED,
			     .block = TSR_QUEUE_BLOCK_HEAP };
	unsigned long timeout = msecs_to_jiffies(tessera_job_timeout_ms);

	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, &ready));
	stood_still(queue, timeout);
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, &ready));
	/* that was no time of its own: it begins anew */
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, RUNS(10)));
	stood_still(queue, timeout);
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, &host));
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, &heap));
	stood_still(queue, timeout);
	KUNIT_EXPECT_TRUE(test, looks_stuck(queue, 1, &heap));
}

/* A job with progress has a limit, too: its time on engines and blocked. */
static void watch_test_limit(struct kunit *test)
{
	struct tessera_queue *queue = tessera_test_queue(test, TEST_SLOT);
	u64 limit = (u64)tessera_job_limit_ms * NSEC_PER_MSEC, start = 5 * NSEC_PER_SEC;
	struct look look = { .busy_ns = start, .progress = 1, .state = TSR_QUEUE_STATE_RUNNING };

	/* the time counts from the moment when the job is overdue */
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, &look));
	look.progress++;
	look.busy_ns += 2 * limit;
	start = look.busy_ns;
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 1, &look));
	queue->watch.job_since = jiffies - msecs_to_jiffies(tessera_job_timeout_ms);
	look.progress++;
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
	queue->watch.job_since = jiffies - msecs_to_jiffies(tessera_job_timeout_ms);
	look.progress++;
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 2, &look));
	look.progress++;
	look.busy_ns += limit - 1;
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 2, &look));
	look.progress++;
	look.busy_ns++;
	KUNIT_EXPECT_TRUE(test, looks_stuck(queue, 2, &look));

	/* registers that begin anew, with the same job, give it a new time */
	mutex_lock(&queue->lock);
	queue->watch.job = 0;
	mutex_unlock(&queue->lock);
	look.progress++;
	look.busy_ns = 7;
	look.blocked_ns = 0;
	KUNIT_EXPECT_FALSE(test, looks_stuck(queue, 2, &look));
}

/* The error is for the diagnosed job, whatever is oldest when the slot has stopped. */
static void watch_test_ban(struct kunit *test)
{
	struct tessera_queue *queue = tessera_test_queue(test, TEST_SLOT);
	const struct diagnosis found = {
		.job = 7, .error = -ETIMEDOUT, .why = DRM_TESSERA_QUEUE_TIMEDOUT,
	};

	mutex_lock(&queue->lock);
	queue_ban(queue, &found);
	mutex_unlock(&queue->lock);
	KUNIT_EXPECT_EQ(test, test_signalled, 7);
	KUNIT_EXPECT_EQ(test, test_error, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, queue->state,
			DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_TIMEDOUT);
}

/* Returns the result of a timeout check. All registers but STATE and MAGIC read as all ones. */
static int stops(struct kunit *test, struct tessera_queue *queue, u32 state, u32 magic)
{
	struct tessera_device *tdev = queue->tdev;
	struct diagnosis found = {};
	bool stopped;
	int error;

	tessera_write64(tdev, TSR_REG_QUEUE_PROGRESS(TEST_SLOT), U64_MAX);
	tessera_write64(tdev, TSR_REG_QUEUE_BUSY_NS(TEST_SLOT), U64_MAX);
	tessera_write(tdev, TSR_REG_QUEUE_STATE(TEST_SLOT), state);
	tessera_write(tdev, TSR_REG_GPU_MAGIC, magic);
	queue->watch = (struct tessera_watch) { .job = test_oldest, .late = true };
	queue->enabled = true;
	mutex_lock(&queue->lock);
	error = queue_diagnose(queue, &found);
	mutex_unlock(&queue->lock);
	if (error)
		KUNIT_EXPECT_TRUE(test, queue_stop_slot(queue, &stopped));

	return error;
}

/* No job is to blame for all ones of a device that is gone, at whichever read it went. */
static void watch_test_gone(struct kunit *test)
{
	struct tessera_queue *queue = tessera_test_queue(test, TEST_SLOT);

	test_oldest = 3;
	KUNIT_EXPECT_EQ(test, stops(test, queue, U32_MAX, U32_MAX), 0);
	KUNIT_EXPECT_EQ(test, stops(test, queue, TSR_QUEUE_STATE_RUNNING, U32_MAX), 0);
	KUNIT_EXPECT_EQ(test, stops(test, queue, TSR_QUEUE_STATE_FAULTED, U32_MAX), 0);
	KUNIT_EXPECT_EQ(test, queue->dead, 0);
	KUNIT_EXPECT_EQ(test, queue->fault.code, 0);
	KUNIT_EXPECT_TRUE(test, queue->enabled);

	/* On a device that answers, these values mean that the job takes too long. */
	KUNIT_EXPECT_EQ(test, stops(test, queue, TSR_QUEUE_STATE_RUNNING, TSR_MAGIC), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, queue->dead, -ECANCELED);
	KUNIT_EXPECT_FALSE(test, queue->enabled);
	test_oldest = 0;
}

static struct kunit_case watch_cases[] = {
	KUNIT_CASE(watch_test_progress),
	KUNIT_CASE(watch_test_others),
	KUNIT_CASE(watch_test_limit),
	KUNIT_CASE(watch_test_ban),
	KUNIT_CASE(watch_test_gone),
	{}
};

static struct kunit_suite watch_suite = {
	.name = "tessera_watch",
	.test_cases = watch_cases,
};

kunit_test_suite(watch_suite);
