// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* GET_TIMESTAMP with clocks that say what the test wants. */

#include <kunit/test.h>

#include <linux/timekeeping.h>

#include "../tessera_device.h"
#include "tests.h"

/* Successive readings of the clocks. The GPU's clock counts its readings. */
static const u64 *test_times;
static u64 test_ticks;
static bool test_gone;
/* The device is within reach and does not answer; how often it was cut off for that. */
static bool test_silent;
static unsigned int test_cuts;

static u64 test_monotonic(void)
{
	return *test_times++;
}

/* Another clock, which is a second behind. */
static u64 test_raw(void)
{
	return *test_times++ - NSEC_PER_SEC;
}

static u64 test_read64(struct tessera_device *tdev, u32 reg)
{
	return reg == TSR_REG_GPU_TIMESTAMP ? ++test_ticks : 0;
}

static int test_enter(struct tessera_device *tdev, int *cookie)
{
	*cookie = 0;

	return test_gone ? -ENODEV : 0;
}

static bool test_present(struct tessera_device *tdev)
{
	return !test_silent;
}

static void test_cut_off(struct tessera_device *tdev)
{
	test_cuts++;
}

#define ktime_get_ns test_monotonic
#define ktime_get_raw_ns test_raw
#define tessera_read64 test_read64
#define tessera_enter_wait test_enter
#define tessera_device_present test_present
#define tessera_cut_off test_cut_off

#include "../tessera_timestamp.c"

static int ask(struct kunit *test, struct drm_tessera_get_timestamp *args, const u64 *times)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	test_times = times;
	test_ticks = 0;

	return tessera_ioctl_get_timestamp(&tdev->drm, args, NULL);
}

/* The fastest of several samples counts. Its time is the middle of the reading. */
static void timestamp_test_best(struct kunit *test)
{
	static const u64 took[SAMPLES] = { 50, 20, 30, 40 };
	struct drm_tessera_get_timestamp args;
	u64 times[2 * SAMPLES], start[SAMPLES];
	unsigned int turn, best, i;

	for (turn = 0; turn < 2 * SAMPLES; turn++) {
		best = 0;
		for (i = 0; i < SAMPLES; i++) {
			u64 this = took[(i + turn) % SAMPLES];

			start[i] = 1000ULL * NSEC_PER_SEC + i * 1000;
			times[2 * i] = start[i];
			times[2 * i + 1] = start[i] + this;
			if (this < times[2 * best + 1] - times[2 * best])
				best = i;
		}
		args = (struct drm_tessera_get_timestamp){
			.clock_id = turn < SAMPLES ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW,
		};
		KUNIT_EXPECT_EQ(test, ask(test, &args, times), 0);
		KUNIT_EXPECT_EQ(test, args.max_deviation_ns, 20);
		KUNIT_EXPECT_EQ(test, args.gpu_ticks, best + 1);
		KUNIT_EXPECT_EQ(test, args.cpu_ns,
				start[best] + 10 - (turn < SAMPLES ? 0 : NSEC_PER_SEC));
	}
}

static void timestamp_test_refused(struct kunit *test)
{
	struct drm_tessera_get_timestamp flags = { .clock_id = CLOCK_MONOTONIC, .flags = 1 };
	struct drm_tessera_get_timestamp clock = { .clock_id = CLOCK_REALTIME };
	struct drm_tessera_get_timestamp good = { .clock_id = CLOCK_MONOTONIC };

	KUNIT_EXPECT_EQ(test, ask(test, &flags, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ask(test, &clock, NULL), -EINVAL);
	test_gone = true;
	KUNIT_EXPECT_EQ(test, ask(test, &good, NULL), -ENODEV);
	test_gone = false;
}

/* A device that reads all ones has no clock, and is cut off. */
static void timestamp_test_silent(struct kunit *test)
{
	static const u64 times[2 * SAMPLES];
	struct drm_tessera_get_timestamp args = { .clock_id = CLOCK_MONOTONIC };

	test_cuts = 0;
	test_silent = true;
	KUNIT_EXPECT_EQ(test, ask(test, &args, times), -EIO);
	test_silent = false;
	KUNIT_EXPECT_EQ(test, test_cuts, 1);
}

static struct kunit_case timestamp_cases[] = {
	KUNIT_CASE(timestamp_test_best),
	KUNIT_CASE(timestamp_test_refused),
	KUNIT_CASE(timestamp_test_silent),
	{}
};

static struct kunit_suite timestamp_suite = {
	.name = "tessera_timestamp",
	.test_cases = timestamp_cases,
};

kunit_test_suite(timestamp_suite);
