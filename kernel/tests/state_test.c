// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* The state of the device: what may follow what, and when it is bus master. */

#include <kunit/test.h>

#include <linux/pci.h>

/* The other suites have a gate that is open. */
#define tessera_enter test_state_enter
#define tessera_enter_wait test_state_enter_wait
#define tessera_leave test_state_leave
#define tessera_wait_running test_state_wait_running
#define tessera_set_state test_set_state
/* And another one has a stand-in of this name. */
#define tessera_state_init test_state_init

#include "../tessera_device.h"
#include "tests.h"

/* Stand-ins for PCI, which write down what could be seen meanwhile. */
static struct tessera_device *test_tdev;
static enum tessera_state test_seen;
static bool test_master;

static void test_set_master(struct pci_dev *pdev)
{
	test_master = true;
	test_seen = tessera_state(test_tdev);
}

static void test_clear_master(struct pci_dev *pdev)
{
	test_master = false;
	test_seen = tessera_state(test_tdev);
}

static int test_read_config_word(struct pci_dev *pdev, int reg, u16 *word)
{
	*word = 0;

	return 0;
}

#define pci_set_master test_set_master
#define pci_clear_master test_clear_master
#define pci_read_config_word test_read_config_word

#include "../tessera_state.c"

static void free_gate(void *gate)
{
	cleanup_srcu_struct(gate);
}

static struct tessera_device *device_in(struct kunit *test, enum tessera_state state)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	spin_lock_init(&tdev->state.lock);
	init_waitqueue_head(&tdev->state.wait);
	KUNIT_ASSERT_EQ(test, init_srcu_struct(&tdev->state.gate), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_gate, &tdev->state.gate), 0);
	tdev->state.now = state;
	test_tdev = tdev;
	test_master = state == TESSERA_RUNNING;

	return tdev;
}

#define STATES (TESSERA_UNPLUGGED + 1)

/* From row to column: the page about recovery, as a table. */
static const char may_follow[STATES][STATES + 1] = {
	/*                       O R C P A W U */
	[TESSERA_OFF]		= ".x....x",
	[TESSERA_RUNNING]	= "..xxxxx",
	[TESSERA_CUT_OFF]	= ".x.x.xx",
	[TESSERA_PCI_RESET]	= ".x...xx",
	[TESSERA_ASLEEP]	= ".x...xx",
	[TESSERA_WEDGED]	= "......x",
	[TESSERA_UNPLUGGED]	= ".......",
};

static void state_test_changes(struct kunit *test)
{
	unsigned int from, to;

	for (from = 0; from < STATES; from++) {
		for (to = 0; to < STATES; to++) {
			struct tessera_device *tdev = device_in(test, from);
			bool may = may_follow[from][to] == 'x';

			KUNIT_EXPECT_EQ_MSG(test, test_set_state(tdev, to), may, "from %s to %s",
					    tessera_state_name(from), tessera_state_name(to));
			KUNIT_EXPECT_EQ(test, tessera_state(tdev), may ? to : from);
			KUNIT_EXPECT_EQ(test, test_master, tessera_state(tdev) == TESSERA_RUNNING);
		}
	}
}

/* Code that sees a state other than RUNNING may free memory: the device is no bus master. */
static void state_test_order(struct kunit *test)
{
	unsigned int to;

	for (to = TESSERA_CUT_OFF; to < STATES; to++) {
		struct tessera_device *tdev = device_in(test, TESSERA_RUNNING);

		test_seen = TESSERA_OFF;
		KUNIT_EXPECT_TRUE(test, test_set_state(tdev, to));
		KUNIT_EXPECT_EQ(test, test_seen, TESSERA_RUNNING);
		KUNIT_EXPECT_FALSE(test, test_master);
	}
}

static void state_test_gate(struct kunit *test)
{
	struct tessera_device *tdev = device_in(test, TESSERA_ASLEEP);
	int cookie;

	KUNIT_EXPECT_FALSE(test, test_state_enter(tdev, &cookie));
	KUNIT_EXPECT_TRUE(test, test_set_state(tdev, TESSERA_RUNNING));
	KUNIT_EXPECT_EQ(test, test_state_wait_running(tdev), 0);
	KUNIT_ASSERT_TRUE(test, test_state_enter(tdev, &cookie));
	/* from inside, as by an invalidation that does not end */
	KUNIT_EXPECT_TRUE(test, test_set_state(tdev, TESSERA_CUT_OFF));
	test_state_leave(tdev, cookie);
	tessera_gate_wait(tdev);
	KUNIT_EXPECT_FALSE(test, test_state_enter(tdev, &cookie));
	KUNIT_EXPECT_TRUE(test, test_set_state(tdev, TESSERA_WEDGED));
	KUNIT_EXPECT_EQ(test, test_state_enter_wait(tdev, &cookie), -EIO);
	KUNIT_EXPECT_TRUE(test, test_set_state(tdev, TESSERA_UNPLUGGED));
	KUNIT_EXPECT_EQ(test, test_state_enter_wait(tdev, &cookie), -ENODEV);
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE(state_test_changes),
	KUNIT_CASE(state_test_order),
	KUNIT_CASE(state_test_gate),
	{}
};

static struct kunit_suite state_suite = {
	.name = "tessera_state",
	.test_cases = state_cases,
};

kunit_test_suite(state_suite);
