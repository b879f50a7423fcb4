// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* KUnit: each rule with invented records and events, at its limits and with each of its excuses. */

#include <kunit/test.h>
#include <linux/module.h>

#include "rules.c"

#define MS	NSEC_PER_MSEC

static struct fw_reports found;

/* A pending fence, awaited since 1000 ms. */
static struct fw_record a_fence(u64 seqno, u8 flags)
{
	return (struct fw_record){
		.id = 7, .seqno = seqno, .born = 900 * MS, .awaited = 1000 * MS,
		.waiter = "waiter", .pid = 42, .driver = 3, .flags = flags,
	};
}

static bool never(u8 flags, u64 now_ms, u32 driver_flags, bool signalled, bool awaited)
{
	struct fw_event event = {
		.now = now_ms * MS, .driver_flags = driver_flags, .signalled = signalled,
	};
	struct fw_record record = a_fence(1, flags);

	if (!awaited)
		record.awaited = 0;
	found.count = 0;
	return fw_never_signalled(&record, &event, 500, &found);
}

static void rules_test_never_signalled(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, never(0, 1500, 0, false, true));
	KUNIT_EXPECT_EQ(test, found.count, 1);
	KUNIT_EXPECT_EQ(test, found.list[0].rule, FW_NEVER_SIGNALLED);
	KUNIT_EXPECT_EQ(test, found.list[0].context, 7);
	KUNIT_EXPECT_EQ(test, found.list[0].driver, 3);
	KUNIT_EXPECT_EQ(test, found.list[0].a, 500 * MS);
	KUNIT_EXPECT_STREQ(test, found.list[0].waiter, "waiter");
	KUNIT_EXPECT_FALSE(test, never(0, 1499, 0, false, true));
	KUNIT_EXPECT_EQ(test, found.count, 0);
	KUNIT_EXPECT_FALSE(test, never(FW_SIGNALLED, 1500, 0, false, true));
	KUNIT_EXPECT_FALSE(test, never(FW_REPORTED, 1500, 0, false, true));
	KUNIT_EXPECT_FALSE(test, never(FW_CONTAINER, 1500, 0, false, true));
	KUNIT_EXPECT_FALSE(test, never(0, 1500, FW_DRIVER_SLOW, false, true));
	KUNIT_EXPECT_FALSE(test, never(0, 1500, 0, true, true));
	KUNIT_EXPECT_FALSE(test, never(0, 1500, 0, false, false));
}

static bool destroyed(u8 flags, bool signalled, bool awaited)
{
	struct fw_event event = { .now = 1000 * MS, .signalled = signalled, .awaited = awaited };
	struct fw_record record = a_fence(1, flags);

	found.count = 0;
	return fw_destroyed_pending(&record, &event, &found);
}

static void rules_test_destroyed_pending(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, destroyed(0, false, true));
	KUNIT_EXPECT_EQ(test, found.list[0].a, 100 * MS);
	KUNIT_EXPECT_FALSE(test, destroyed(0, true, true));
	KUNIT_EXPECT_FALSE(test, destroyed(0, false, false));
	KUNIT_EXPECT_FALSE(test, destroyed(FW_SIGNALLED, false, true));
	KUNIT_EXPECT_FALSE(test, destroyed(FW_CONTAINER, false, true));
	/* Once is enough. */
	KUNIT_EXPECT_FALSE(test, destroyed(FW_DESTROYED, false, true));
}

static bool overtakes(u64 oldest, u64 newer, u8 flags)
{
	struct fw_record a = a_fence(oldest, flags), b = a_fence(newer, flags);

	return fw_overtakes(&a, &b);
}

static void rules_test_overtakes(struct kunit *test)
{
	struct fw_record same = a_fence(1, 0);

	KUNIT_EXPECT_TRUE(test, overtakes(1, 2, 0));
	KUNIT_EXPECT_FALSE(test, overtakes(2, 1, 0));
	KUNIT_EXPECT_FALSE(test, overtakes(2, 2, 0));
	KUNIT_EXPECT_FALSE(test, fw_overtakes(&same, &same));
	/* Not numbered yet. */
	KUNIT_EXPECT_FALSE(test, overtakes(0, 2, 0));
	/* 32-bit numbers wrap, 64-bit numbers do not. */
	KUNIT_EXPECT_TRUE(test, overtakes(U32_MAX, 0x100000001ULL, 0));
	KUNIT_EXPECT_TRUE(test, overtakes(U32_MAX, 1, 0));
	KUNIT_EXPECT_FALSE(test, overtakes(U32_MAX, 1, FW_SEQNO64));
	KUNIT_EXPECT_TRUE(test, overtakes(1, 0x100000000ULL, FW_SEQNO64));
}

static bool late(u64 overtaken_ms, u64 now_ms, bool signalled, u32 cpu, u32 flags)
{
	struct fw_event event = {
		.now = now_ms * MS, .signalled = signalled, .cpu = cpu, .driver_flags = flags,
	};
	struct fw_context context = { .overtaken = overtaken_ms * MS, .newer = 9, .cpu = 1 };
	struct fw_record record = a_fence(8, 0);

	found.count = 0;
	return fw_out_of_order(&record, &context, &event, 100, &found);
}

static void rules_test_out_of_order(struct kunit *test)
{
	/*
	 * On the same processor at once, on another after the limit, while pending after the limit.
	 */
	KUNIT_EXPECT_TRUE(test, late(1000, 1000, true, 1, 0));
	KUNIT_EXPECT_EQ(test, found.list[0].a, 9);
	KUNIT_EXPECT_FALSE(test, late(1000, 1099, true, 2, 0));
	KUNIT_EXPECT_TRUE(test, late(1000, 1100, true, 2, 0));
	KUNIT_EXPECT_FALSE(test, late(1000, 1099, false, 1, 0));
	KUNIT_EXPECT_TRUE(test, late(1000, 1100, false, 1, 0));
	KUNIT_EXPECT_FALSE(test, late(0, 5000, true, 1, 0));
	KUNIT_EXPECT_FALSE(test, late(1000, 5000, true, 1, FW_DRIVER_UNORDERED));
}

static bool backwards(u64 id, u64 seqno, u64 last, bool used, u32 driver_flags, u8 flags)
{
	struct fw_context context = { .last_seqno = last, .used = used };
	struct fw_record record = a_fence(seqno, flags);

	record.id = id;
	found.count = 0;
	return fw_seqno_backwards(&record, &context, driver_flags, &found);
}

static void rules_test_seqno_backwards(struct kunit *test)
{
	struct fw_record container = a_fence(1, FW_CONTAINER);

	KUNIT_EXPECT_TRUE(test, backwards(7, 4, 5, true, 0, 0));
	KUNIT_EXPECT_EQ(test, found.list[0].a, 5);
	KUNIT_EXPECT_FALSE(test, backwards(7, 5, 5, true, 0, 0));
	KUNIT_EXPECT_FALSE(test, backwards(7, 6, 5, true, 0, 0));
	KUNIT_EXPECT_FALSE(test, backwards(7, 4, 5, false, 0, 0));
	KUNIT_EXPECT_FALSE(test, backwards(0, 4, 5, true, 0, 0));
	KUNIT_EXPECT_FALSE(test, backwards(7, 0, 5, true, 0, 0));
	KUNIT_EXPECT_FALSE(test, backwards(7, 4, 5, true, FW_DRIVER_UNORDERED, 0));
	KUNIT_EXPECT_FALSE(test, backwards(7, 1, U32_MAX, true, 0, 0));
	KUNIT_EXPECT_TRUE(test, backwards(7, 1, U32_MAX, true, 0, FW_SEQNO64));
	KUNIT_EXPECT_FALSE(test, fw_seqno_backwards(&container, NULL, 0, &found));
}

static bool alive(u8 flags, bool awaited, unsigned int references)
{
	struct fw_event event = { .awaited = awaited, .references = references };
	struct fw_record record = a_fence(1, flags);

	found.count = 0;
	return fw_freed_alive(&record, &event, &found);
}

static bool early(u8 flags, bool over, u32 driver_flags)
{
	struct fw_event event = { .grace_over = over, .driver_flags = driver_flags };
	struct fw_record record = a_fence(1, flags);

	found.count = 0;
	return fw_freed_in_grace_period(&record, &event, &found);
}

static void rules_test_freed(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, alive(0, true, 1));
	KUNIT_EXPECT_TRUE(test, alive(0, false, 2));
	KUNIT_EXPECT_TRUE(test, alive(FW_CONTAINER, false, 2));
	KUNIT_EXPECT_FALSE(test, alive(0, false, 1));
	KUNIT_EXPECT_FALSE(test, alive(FW_DESTROYED, true, 0));
	KUNIT_EXPECT_TRUE(test, early(FW_DESTROYED, false, 0));
	KUNIT_EXPECT_STREQ(test, found.list[0].waiter, "");
	KUNIT_EXPECT_FALSE(test, early(FW_DESTROYED, true, 0));
	KUNIT_EXPECT_FALSE(test, early(0, false, 0));
	KUNIT_EXPECT_FALSE(test, early(FW_DESTROYED, false, FW_DRIVER_TYPESAFE));
}

static bool changed(u8 flags, int before_signal, int now)
{
	struct fw_event event = { .error = now };
	struct fw_record record = a_fence(1, flags);

	record.error = before_signal;
	found.count = 0;
	return fw_error_late(&record, &event, &found);
}

static bool odd(int error)
{
	struct fw_event event = { .error = error };
	struct fw_record record = a_fence(1, 0);

	found.count = 0;
	return fw_error_odd(&record, &event, &found);
}

static void rules_test_errors(struct kunit *test)
{
	struct fw_event event = { .error = 1 };
	struct fw_record record = a_fence(1, 0);

	KUNIT_EXPECT_TRUE(test, changed(FW_SIGNALLED, 0, -EIO));
	KUNIT_EXPECT_TRUE(test, changed(FW_SIGNALLED, -EIO, 0));
	KUNIT_EXPECT_FALSE(test, changed(FW_SIGNALLED, -EIO, -EIO));
	KUNIT_EXPECT_FALSE(test, changed(0, 0, -EIO));
	KUNIT_EXPECT_FALSE(test, odd(0));
	KUNIT_EXPECT_FALSE(test, odd(-1));
	KUNIT_EXPECT_FALSE(test, odd(-MAX_ERRNO));
	KUNIT_EXPECT_TRUE(test, odd(-MAX_ERRNO - 1));
	/* No event overflows the list. */
	KUNIT_EXPECT_TRUE(test, odd(1));
	found.count = FW_REPORTS;
	KUNIT_EXPECT_TRUE(test, fw_error_odd(&record, &event, &found));
	KUNIT_EXPECT_EQ(test, found.count, FW_REPORTS);
}

static struct kunit_case rules_test_cases[] = {
	KUNIT_CASE(rules_test_never_signalled),
	KUNIT_CASE(rules_test_destroyed_pending),
	KUNIT_CASE(rules_test_overtakes),
	KUNIT_CASE(rules_test_out_of_order),
	KUNIT_CASE(rules_test_seqno_backwards),
	KUNIT_CASE(rules_test_freed),
	KUNIT_CASE(rules_test_errors),
	{}
};

static struct kunit_suite rules_test_suite = {
	.name = "fencewatch_rules",
	.test_cases = rules_test_cases,
};

kunit_test_suite(rules_test_suite);

MODULE_DESCRIPTION("Unit tests of fencewatch's rules");
MODULE_LICENSE("GPL");
