// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Shares of devices of all sizes, and what is charged. */

#include <kunit/test.h>

#include "tests.h"

#include "../tessera_quota.c"

static void quota_test_share(struct kunit *test)
{
	u64 count;

	for (count = 0; count <= 4; count++)
		KUNIT_EXPECT_EQ(test, quota_share(count), count);
	for (; count <= 16; count++)
		KUNIT_EXPECT_EQ(test, quota_share(count), 4);
	KUNIT_EXPECT_EQ(test, quota_share(17), 5);
	KUNIT_EXPECT_EQ(test, quota_share(63), 16);
	KUNIT_EXPECT_EQ(test, quota_share(64), 16);
}

static void quota_test_charge(struct kunit *test)
{
	const enum tessera_quota_kind kind = TESSERA_QUOTA_LOCAL;
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);
	struct tessera_quota *quota;

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	tdev->info.num_as = 64;
	tdev->info.local_size = SZ_1M;
	quota = tessera_quota_create(tdev);
	KUNIT_ASSERT_NOT_NULL(test, quota);

	KUNIT_EXPECT_FALSE(test, tessera_quota_try_charge(quota, kind, SZ_512K + 1));
	KUNIT_EXPECT_FALSE(test, tessera_quota_try_charge(quota, kind, U64_MAX));
	KUNIT_EXPECT_TRUE(test, tessera_quota_try_charge(quota, kind, SZ_512K - 1));
	KUNIT_EXPECT_FALSE(test, tessera_quota_try_charge(quota, kind, U64_MAX));
	KUNIT_EXPECT_FALSE(test, tessera_quota_try_charge(quota, kind, 2));
	KUNIT_EXPECT_EQ(test, tessera_quota_charge(quota, kind, 1), 0);
	KUNIT_EXPECT_EQ(test, tessera_quota_charge(quota, kind, 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, tessera_quota_charge(quota, kind, 0), 0);
	tessera_quota_uncharge(quota, kind, SZ_512K);
	KUNIT_EXPECT_EQ(test, tessera_quota_charge(quota, kind, SZ_512K), 0);
	tessera_quota_put(quota);
}

static struct kunit_case quota_cases[] = {
	KUNIT_CASE(quota_test_share),
	KUNIT_CASE(quota_test_charge),
	{}
};

static struct kunit_suite quota_suite = {
	.name = "tessera_quota",
	.test_cases = quota_cases,
};

kunit_test_suite(quota_suite);
