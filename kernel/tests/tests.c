// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* The code that the suites share, and the module around them. */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/dma-mapping.h>
#include <linux/mman.h>
#include <linux/module.h>

#include "../tessera_device.h"
#include "../tessera_fence.h"
#include "../tessera_queue.h"
#include "tests.h"

/* All registers of a device. */
#define REGS_SIZE	SZ_1M

/* Stand-ins for all suites but the one about it: the gate is open. */
bool tessera_enter(struct tessera_device *tdev, int *cookie)
{
	*cookie = 0;

	return true;
}

int tessera_enter_wait(struct tessera_device *tdev, int *cookie)
{
	*cookie = 0;

	return 0;
}

void tessera_leave(struct tessera_device *tdev, int cookie)
{
}

/**
 * tessera_test_random() - the next number
 * @random: generator
 * @below: above the greatest number wanted, at least 1
 *
 * Return: a number from 0 to @below - 1.
 */
u32 tessera_test_random(struct tessera_test_random *random, u32 below)
{
	random->state = random->state * 6364136223846793005ULL + 1442695040888963407ULL;

	return (random->state >> 33) % below;
}

/**
 * tessera_test_device() - a device that may do DMA
 * @test: test, which ends when the test asserts that it cannot be made
 *
 * Return: a device whose bus addresses are physical addresses, one for each test,
 * gone with it.
 */
struct device *tessera_test_device(struct kunit *test)
{
	struct device *dev = test->priv;

	if (dev)
		return dev;

	dev = kunit_device_register(test, "tessera-kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	test->priv = dev;
	dev->dma_mask = &dev->coherent_dma_mask;
	dev->coherent_dma_mask = DMA_BIT_MASK(64);

	return dev;
}

/**
 * tessera_test_queue() - a queue on a device whose registers are memory
 * @test: test
 * @slot: the queue's slot
 *
 * Return: the queue, with a timeline, else zero; its device is of its own.
 */
struct tessera_queue *tessera_test_queue(struct kunit *test, u32 slot)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);
	struct tessera_queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	KUNIT_ASSERT_NOT_NULL(test, queue);
	tdev->regs = (void __iomem *)kunit_kzalloc(test, REGS_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, (void *)tdev->regs);
	KUNIT_ASSERT_LT(test, TSR_REG_DOORBELL_RING(slot), REGS_SIZE);
	tessera_write(tdev, TSR_REG_GPU_MAGIC, TSR_MAGIC);
	queue->tdev = tdev;
	queue->slot = slot;
	mutex_init(&queue->lock);
	queue->timeline = kunit_kzalloc(test, sizeof(*queue->timeline), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, queue->timeline);

	return queue;
}

/**
 * tessera_test_user() - memory as a program has it
 * @test: test
 * @size: length; what follows it is not mapped
 *
 * Return: its address for copy_to_user() and friends.
 */
void __user *tessera_test_user(struct kunit *test, size_t size)
{
	unsigned long addr;

	addr = kunit_vm_mmap(test, NULL, 0, size, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, addr, 0);
	KUNIT_ASSERT_LT(test, addr, (unsigned long)TASK_SIZE);

	return (void __user *)addr;
}

MODULE_DESCRIPTION("KUnit suites of the Tessera driver");
MODULE_LICENSE("GPL");
