// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* The file "delay": its commands, and which thread sleeps. The other suites sleep nowhere. */

#include <kunit/test.h>

#include "../tessera_delay.c"

static int command(struct kunit *test, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = kunit_kmalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, text, size);

	return delay_commands(copy);
}

static int hits(enum tessera_delay_point point)
{
	return delay_states[point].hits;
}

static void delay_test_names(struct kunit *test)
{
	unsigned int point;

	for (point = 0; point < TESSERA_DELAY_POINTS; point++)
		KUNIT_EXPECT_NOT_NULL(test, delay_name[point]);
}

static void delay_test_refused(struct kunit *test)
{
	static const char * const wrong[] = {
		"evict", "evict=", "evict=1", "evict=1s", "evict=60001ms", "evict=-1ms",
		"evict=1ms times", "evict=1ms times=0", "evict=1ms times=-1", "evict=1ms times=1x",
		"evict=1ms 2", "evict =1ms", "evicted=1ms", "=1ms", "clear all",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, command(test, wrong[i]), -EINVAL, "%s", wrong[i]);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&tessera_delay_armed));
}

static void delay_test_times(struct kunit *test)
{
	int before = hits(TESSERA_DELAY_EVICT), other = hits(TESSERA_DELAY_UNPLUG), i;

	KUNIT_EXPECT_EQ(test, command(test, "\n evict=1ms times=2\n\n"), 0);
	for (i = 0; i < 4; i++) {
		tessera_delay(TESSERA_DELAY_EVICT);
		tessera_delay(TESSERA_DELAY_UNPLUG);
	}
	KUNIT_EXPECT_EQ(test, hits(TESSERA_DELAY_EVICT), before + 2);
	KUNIT_EXPECT_EQ(test, hits(TESSERA_DELAY_UNPLUG), other);

	KUNIT_EXPECT_EQ(test, command(test, "evict=1ms;unplug=1ms"), 0);
	for (i = 0; i < 4; i++)
		tessera_delay(TESSERA_DELAY_EVICT);
	KUNIT_EXPECT_EQ(test, hits(TESSERA_DELAY_EVICT), before + 6);

	KUNIT_EXPECT_EQ(test, command(test, "evict=0ms; unplug=1ms"), 0);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&tessera_delay_armed));
	tessera_delay(TESSERA_DELAY_EVICT);
	KUNIT_EXPECT_EQ(test, hits(TESSERA_DELAY_EVICT), before + 6);

	KUNIT_EXPECT_EQ(test, command(test, "clear"), 0);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&tessera_delay_armed));
	tessera_delay(TESSERA_DELAY_UNPLUG);
	KUNIT_EXPECT_EQ(test, hits(TESSERA_DELAY_UNPLUG), other);
}

static struct kunit_case delay_cases[] = {
	KUNIT_CASE(delay_test_names),
	KUNIT_CASE(delay_test_refused),
	KUNIT_CASE(delay_test_times),
	{}
};

static struct kunit_suite delay_suite = {
	.name = "tessera_delay",
	.test_cases = delay_cases,
};

kunit_test_suite(delay_suite);
