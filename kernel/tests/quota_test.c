// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Shares of devices of all sizes, what files and users are charged, and when accounts end. */

#include <kunit/test.h>
#include <linux/minmax.h>

#include "tests.h"

#include "../tessera_quota.c"

static void quota_test_share(struct kunit *test)
{
	u64 count;

	for (count = 0; count <= 4; count++) {
		KUNIT_EXPECT_EQ(test, file_share(count), count);
		KUNIT_EXPECT_EQ(test, user_share(count), count);
	}
	for (; count <= 16; count++)
		KUNIT_EXPECT_EQ(test, file_share(count), 4);
	KUNIT_EXPECT_EQ(test, file_share(17), 5);
	KUNIT_EXPECT_EQ(test, file_share(63), 16);
	KUNIT_EXPECT_EQ(test, file_share(64), 16);
	KUNIT_EXPECT_EQ(test, user_share(5), 4);
	KUNIT_EXPECT_EQ(test, user_share(6), 4);
	KUNIT_EXPECT_EQ(test, user_share(8), 6);
	KUNIT_EXPECT_EQ(test, user_share(63), 47);
	KUNIT_EXPECT_EQ(test, user_share(64), 48);
}

static struct tessera_device *device_new(struct kunit *test)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	tdev->info.max_queues = 64;
	tdev->info.num_as = 64;
	tdev->info.local_size = SZ_1M;
	tdev->accounts = tessera_accounts_create();
	KUNIT_ASSERT_NOT_NULL(test, tdev->accounts);

	return tdev;
}

static struct tessera_quota *open_by(struct kunit *test, struct tessera_device *tdev, uid_t uid)
{
	struct tessera_quota *quota = tessera_quota_create(tdev, KUIDT_INIT(uid));

	KUNIT_ASSERT_NOT_NULL(test, quota);

	return quota;
}

static void quota_test_charge(struct kunit *test)
{
	const enum tessera_quota_kind kind = TESSERA_QUOTA_LOCAL;
	struct tessera_device *tdev = device_new(test);
	struct tessera_quota *quota = open_by(test, tdev, 1);

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
	tessera_quota_uncharge(quota, kind, SZ_512K);
	tessera_quota_put(quota);
	tessera_accounts_put(tdev->accounts);
}

/* Five files of one user have three quarters together; another user finds the file's share. */
static void quota_test_users(struct kunit *test)
{
	const enum tessera_quota_kind kind = TESSERA_QUOTA_QUEUES;
	struct tessera_device *tdev = device_new(test);
	struct tessera_quota *file[5], *other = open_by(test, tdev, 2);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(file); i++)
		file[i] = open_by(test, tdev, 1);
	KUNIT_EXPECT_EQ(test, tessera_quota_charge(file[0], kind, 17), -ENOSPC);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, tessera_quota_charge(file[i], kind, 16), 0);
	KUNIT_EXPECT_EQ(test, tessera_quota_charge(file[3], kind, 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, file[3]->budget.share[kind].used, 0);
	KUNIT_EXPECT_EQ(test, tessera_quota_charge(other, kind, 16), 0);
	tessera_quota_uncharge(file[1], kind, 2);
	KUNIT_EXPECT_EQ(test, tessera_quota_charge(file[3], kind, 1), 0);
	KUNIT_EXPECT_EQ(test, tessera_quota_charge(file[4], kind, 1), 0);
	KUNIT_EXPECT_EQ(test, tessera_quota_charge(file[4], kind, 1), -ENOSPC);
	for (i = 0; i < ARRAY_SIZE(file); i++) {
		tessera_quota_uncharge(file[i], kind, file[i]->budget.share[kind].used);
		tessera_quota_put(file[i]);
	}
	tessera_quota_uncharge(other, kind, 16);
	tessera_quota_put(other);
	KUNIT_EXPECT_TRUE(test, list_empty(&tdev->accounts->list));
	tessera_accounts_put(tdev->accounts);
}

/* The limit of the user holds for each kind, and no kind counts for another one. */
static void quota_test_kinds(struct kunit *test)
{
	struct tessera_device *tdev = device_new(test);
	struct tessera_quota *file[5], *other = open_by(test, tdev, 2);
	unsigned int kind, i;

	for (i = 0; i < ARRAY_SIZE(file); i++)
		file[i] = open_by(test, tdev, 1);
	for (kind = 0; kind < TESSERA_NUM_QUOTAS; kind++) {
		u64 most = file[0]->budget.share[kind].limit, sum = 0;
		u64 all = file[0]->account->budget.share[kind].limit;

		KUNIT_EXPECT_GT(test, all, most);
		KUNIT_EXPECT_LE(test, all, 3 * most);
		for (i = 0; i < ARRAY_SIZE(file); i++) {
			u64 amount = min(most, all - sum);

			KUNIT_EXPECT_EQ(test, tessera_quota_charge(file[i], kind, amount), 0);
			sum += amount;
		}
		KUNIT_EXPECT_EQ(test, sum, all);
		KUNIT_EXPECT_FALSE(test, tessera_quota_try_charge(file[4], kind, 1));
		KUNIT_EXPECT_TRUE(test, tessera_quota_try_charge(other, kind, most));
	}
	for (i = 0; i < ARRAY_SIZE(file); i++)
		tessera_quota_put(file[i]);
	tessera_quota_put(other);
	tessera_accounts_put(tdev->accounts);
}

/* An object outlives its file: the user stays charged until it is freed, the account no longer. */
static void quota_test_outlive(struct kunit *test)
{
	const enum tessera_quota_kind kind = TESSERA_QUOTA_PERFMONS;
	struct tessera_device *tdev = device_new(test);
	struct tessera_quota *first = open_by(test, tdev, 1), *second;
	struct tessera_quota *held = tessera_quota_get(first);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, tessera_quota_charge(first, kind, 64), 0);
	tessera_quota_put(first);
	for (i = 0; i < 2; i++) {
		second = open_by(test, tdev, 1);
		KUNIT_EXPECT_PTR_EQ(test, second->account, held->account);
		KUNIT_EXPECT_EQ(test, second->account->budget.share[kind].used, 64);
		tessera_quota_put(second);
	}
	tessera_accounts_put(tdev->accounts); /* the device goes first */
	tessera_quota_leave(held);
	KUNIT_EXPECT_TRUE(test, tessera_quota_leaving(held));
	tessera_quota_uncharge(held, kind, 64);
	tessera_quota_left(held);
	KUNIT_EXPECT_EQ(test, tessera_quota_settle(held), 0);
	KUNIT_EXPECT_EQ(test, held->account->budget.share[kind].used, 0);
	tessera_quota_put(held);
}

static struct kunit_case quota_cases[] = {
	KUNIT_CASE(quota_test_share),
	KUNIT_CASE(quota_test_charge),
	KUNIT_CASE(quota_test_users),
	KUNIT_CASE(quota_test_kinds),
	KUNIT_CASE(quota_test_outlive),
	{}
};

static struct kunit_suite quota_suite = {
	.name = "tessera_quota",
	.test_cases = quota_cases,
};

kunit_test_suite(quota_suite);
