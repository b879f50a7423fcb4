// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Messages of the driver about memory to the contract checker of a device, and their order. */

#include <kunit/test.h>

#include <linux/bitfield.h>
#include <linux/scatterlist.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>

#include "../tessera_device.h"
#include "tests.h"

/* A device that writes down what it is told, as much of it as fits. */
struct test_said {
	u64 addr, size;
	u32 op;
};

static struct test_said said[8], saying;
static unsigned int num_said;

static void test_write(struct tessera_device *tdev, u32 reg, u64 value)
{
	switch (reg) {
	case TSR_REG_CHECK_PAGES_ADDR:
		saying.addr = value;
		break;
	case TSR_REG_CHECK_PAGES_SIZE:
		saying.size = value;
		break;
	case TSR_REG_CHECK_COMMAND:
		saying.op = FIELD_GET(TSR_CHECK_COMMAND_OP__MASK, value);
		if (num_said < ARRAY_SIZE(said))
			said[num_said] = saying;
		num_said++;
		break;
	}
}

/* Stand-ins for DRM: the device is there and stays. */
static bool test_enter(struct drm_device *drm, int *cookie)
{
	*cookie = 0;

	return true;
}

static void test_exit(int cookie)
{
}

/* And within reach, or not. */
static bool test_closed;

static bool test_gate(struct tessera_device *tdev, int *cookie)
{
	*cookie = 0;

	return !test_closed;
}

static int test_add_action(struct drm_device *drm, drmres_release_t action, void *data)
{
	return 0;
}

#define tessera_write test_write
#define tessera_write64 test_write
#define drm_dev_enter test_enter
#define drm_dev_exit test_exit
#define tessera_enter test_gate
#undef drmm_add_action_or_reset
#define drmm_add_action_or_reset test_add_action

#include "../tessera_check.c"

static void free_steps(void *steps)
{
	check_free_steps(NULL, steps);
}

static struct tessera_device *checked_device(struct kunit *test, u32 features)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	tdev->info.features = features;
	mutex_init(&tdev->check.lock);
	num_said = 0;
	KUNIT_ASSERT_EQ(test, tessera_check_init(tdev), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_steps, tdev->check.steps), 0);

	return tdev;
}

/* Said number @n is this. */
static void expect_said(struct kunit *test, unsigned int n, u32 op, u64 addr, u64 size)
{
	KUNIT_ASSERT_LT(test, n, ARRAY_SIZE(said));
	KUNIT_EXPECT_EQ(test, said[n].op, op);
	KUNIT_EXPECT_EQ(test, said[n].addr, addr);
	KUNIT_EXPECT_EQ(test, said[n].size, size);
}

/* At once, in pieces that the device takes; nothing to a device that does not check. */
static void check_test_told(struct kunit *test)
{
	struct tessera_device *tdev = checked_device(test, TSR_FEATURE_CHECK);
	const u64 most = TSR_CHECK_PAGES_MAX;

	KUNIT_EXPECT_EQ(test, num_said, 1);
	KUNIT_EXPECT_EQ(test, said[0].op, TSR_CHECK_PAGES_FORGET);
	num_said = 0;
	tessera_check_taken(tdev, SZ_1M, 2 * most + SZ_4K);
	KUNIT_EXPECT_EQ(test, num_said, 3);
	expect_said(test, 0, TSR_CHECK_PAGES_TAKEN, SZ_1M, most);
	expect_said(test, 1, TSR_CHECK_PAGES_TAKEN, SZ_1M + most, most);
	expect_said(test, 2, TSR_CHECK_PAGES_TAKEN, SZ_1M + 2 * most, SZ_4K);
	num_said = 0;
	tessera_check_freed(tdev, SZ_1G, most);
	KUNIT_EXPECT_EQ(test, num_said, 1);
	expect_said(test, 0, TSR_CHECK_PAGES_FREED, SZ_1G, most);

	tdev = checked_device(test, 0);
	tessera_check_taken(tdev, SZ_1M, SZ_4K);
	test_closed = true;
	tessera_check_freed(tdev, SZ_1M, SZ_4K);
	test_closed = false;
	tessera_check_release(tdev);
	KUNIT_EXPECT_EQ(test, num_said, 0);
}

/* While the registers are out of reach nothing is said; afterwards all of it, in order, once. */
static void check_test_held(struct kunit *test)
{
	struct tessera_device *tdev = checked_device(test, TSR_FEATURE_CHECK);

	num_said = 0;
	test_closed = true;
	tessera_check_taken(tdev, SZ_1M, SZ_4K);
	tessera_check_taken(tdev, SZ_1M + SZ_4K, SZ_8K);
	tessera_check_freed(tdev, SZ_1M + SZ_4K + SZ_8K, SZ_4K);
	tessera_check_freed(tdev, SZ_1M, SZ_4K);
	tessera_check_taken(tdev, SZ_2M, SZ_4K);
	KUNIT_EXPECT_EQ(test, num_said, 0);
	test_closed = false;
	tessera_check_release(tdev);
	KUNIT_EXPECT_EQ(test, num_said, 4);
	/* adjacent ranges that follow each other become one message */
	expect_said(test, 0, TSR_CHECK_PAGES_TAKEN, SZ_1M, SZ_4K + SZ_8K);
	expect_said(test, 1, TSR_CHECK_PAGES_FREED, SZ_1M + SZ_4K + SZ_8K, SZ_4K);
	expect_said(test, 2, TSR_CHECK_PAGES_FREED, SZ_1M, SZ_4K);
	expect_said(test, 3, TSR_CHECK_PAGES_TAKEN, SZ_2M, SZ_4K);

	num_said = 0;
	tessera_check_freed(tdev, SZ_2M, SZ_4K);
	KUNIT_EXPECT_EQ(test, num_said, 1);
	test_closed = true;
	test_closed = false;
	tessera_check_release(tdev);
	KUNIT_EXPECT_EQ(test, num_said, 1);
}

/* @count ranges that are not adjacent. */
static void keep(struct tessera_device *tdev, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		tessera_check_taken(tdev, (u64)i * SZ_8K, SZ_4K);
}

/* As many steps as there is room for are said; one more, and the device forgets. */
static void check_test_lost(struct kunit *test)
{
	struct tessera_device *tdev = checked_device(test, TSR_FEATURE_CHECK);

	num_said = 0;
	test_closed = true;
	keep(tdev, CHECK_STEPS_MAX);
	test_closed = false;
	tessera_check_release(tdev);
	KUNIT_EXPECT_EQ(test, num_said, CHECK_STEPS_MAX);

	num_said = 0;
	test_closed = true;
	keep(tdev, CHECK_STEPS_MAX + 1);
	test_closed = false;
	tessera_check_release(tdev);
	KUNIT_EXPECT_EQ(test, num_said, 1);
	KUNIT_EXPECT_EQ(test, said[0].op, TSR_CHECK_PAGES_FORGET);
	/* what it does not know it cannot be told the end of */
	tessera_check_freed(tdev, SZ_8K, SZ_4K);
	KUNIT_EXPECT_EQ(test, num_said, 1);
}

/* The memory of a BO, wherever it lies: once, however often it is bound. */
static void check_test_bo(struct kunit *test)
{
	struct tessera_device *tdev = checked_device(test, TSR_FEATURE_CHECK);
	struct tessera_bo *bo = kunit_kzalloc(test, sizeof(*bo), GFP_KERNEL);
	struct scatterlist list[2];
	struct sg_table sgt = { .sgl = list, .nents = 2, .orig_nents = 2 };
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, bo);
	sg_init_table(list, 2);
	for (i = 0; i < 2; i++) {
		sg_dma_address(&list[i]) = SZ_1G * (2ULL - i);
		sg_dma_len(&list[i]) = SZ_64K << i;
	}
	num_said = 0;
	tessera_check_bo_taken(tdev, bo);
	KUNIT_EXPECT_EQ(test, num_said, 0);
	bo->base.sgt = &sgt;
	tessera_check_bo_freed(tdev, bo);
	KUNIT_EXPECT_EQ(test, num_said, 0);
	tessera_check_bo_taken(tdev, bo);
	tessera_check_bo_taken(tdev, bo);
	KUNIT_EXPECT_EQ(test, num_said, 2);
	expect_said(test, 0, TSR_CHECK_PAGES_TAKEN, SZ_2G, SZ_64K);
	expect_said(test, 1, TSR_CHECK_PAGES_TAKEN, SZ_1G, SZ_128K);
	tessera_check_bo_freed(tdev, bo);
	tessera_check_bo_freed(tdev, bo);
	KUNIT_EXPECT_EQ(test, num_said, 4);
	expect_said(test, 2, TSR_CHECK_PAGES_FREED, SZ_2G, SZ_64K);
	expect_said(test, 3, TSR_CHECK_PAGES_FREED, SZ_1G, SZ_128K);
}

static struct kunit_case check_cases[] = {
	KUNIT_CASE(check_test_told),
	KUNIT_CASE(check_test_held),
	KUNIT_CASE(check_test_lost),
	KUNIT_CASE(check_test_bo),
	{}
};

static struct kunit_suite check_suite = {
	.name = "tessera_check",
	.test_cases = check_cases,
};

kunit_test_suite(check_suite);
