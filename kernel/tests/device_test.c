// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Which devices are driven: what the identification registers say is taken or refused. */

#include <kunit/test.h>

#include "tests.h"

#include "../tessera_device.c"

/* Stand-ins for the rest of the driver. No device is brought up here. */
void tessera_bos_unmap_dma(struct tessera_device *tdev)
{
}

int tessera_device_start(struct tessera_device *tdev)
{
	return 0;
}

int tessera_device_stop(struct tessera_device *tdev)
{
	return 0;
}

int tessera_dump_init(struct tessera_device *tdev)
{
	return 0;
}

void tessera_dump_unplug(struct tessera_device *tdev)
{
}

void tessera_kms_lose(struct tessera_device *tdev)
{
}

void tessera_kms_unplug(struct tessera_device *tdev)
{
}

void tessera_irq_fini(struct tessera_device *tdev)
{
}

int tessera_irq_init(struct tessera_device *tdev)
{
	return 0;
}

int tessera_engines_init(struct tessera_device *tdev)
{
	return 0;
}

void tessera_engines_fini(struct tessera_device *tdev, int error)
{
}

void tessera_kernel_as_fini(struct tessera_device *tdev)
{
}

int tessera_kernel_as_init(struct tessera_device *tdev)
{
	return 0;
}

int tessera_local_init(struct tessera_device *tdev)
{
	return 0;
}

int tessera_pci_save(struct tessera_device *tdev)
{
	return 0;
}

int tessera_state_init(struct tessera_device *tdev)
{
	return 0;
}

int tessera_reset_init(struct tessera_device *tdev)
{
	return 0;
}

void tessera_reset_unplug(struct tessera_device *tdev)
{
}

int tessera_evict_init(struct tessera_device *tdev)
{
	return 0;
}

int tessera_evict_register(struct tessera_device *tdev)
{
	return 0;
}

int tessera_shrinker_init(struct tessera_device *tdev)
{
	return 0;
}

void tessera_vms_unplug(struct tessera_device *tdev)
{
}

#define VERSION(major, minor) \
	((major) << TSR_GPU_VERSION_MAJOR__SHIFT | (minor) << TSR_GPU_VERSION_MINOR__SHIFT)
#define SLOTS(queues, as) \
	((queues) << TSR_GPU_SLOTS_QUEUES__SHIFT | (as) << TSR_GPU_SLOTS_ADDRESS_SPACES__SHIFT)
#define VA(bits, levels) \
	((bits) << TSR_GPU_VA_BITS__SHIFT | (levels) << TSR_GPU_VA_LEVELS__SHIFT)
#define RINGS(min, max) \
	((min) << TSR_GPU_RING_LIMITS_MIN_LOG2__SHIFT | \
	 (max) << TSR_GPU_RING_LIMITS_MAX_LOG2__SHIFT)
#define SHADER(cores, lanes, warps) \
	((cores) << TSR_GPU_SHADER_CORES__SHIFT | (lanes) << TSR_GPU_SHADER_WARP_LANES__SHIFT | \
	 (warps) << TSR_GPU_SHADER_CORE_WARPS__SHIFT)
#define GROUPS(threads) \
	((threads) << TSR_GPU_SHADER_LIMITS_GROUP_THREADS__SHIFT)

/* A register and what it says. */
struct test_reg {
	u32 reg, value;
};

/* A device in the middle of all limits. */
static const struct test_reg usual[] = {
	{ TSR_REG_GPU_MAGIC, TSR_MAGIC },
	{ TSR_REG_GPU_VERSION, VERSION(TSR_VERSION_MAJOR, 0) },
	{ TSR_REG_GPU_SLOTS, SLOTS(8, 16) },
	{ TSR_REG_GPU_VA, VA(48, 4) },
	{ TSR_REG_GPU_PAGE_SIZES, SZ_4K | SZ_2M },
	{ TSR_REG_GPU_RING_LIMITS, RINGS(13, 16) },
	{ TSR_REG_GPU_SHADER, SHADER(4, 8, 16) },
	{ TSR_REG_GPU_SHADER_LIMITS, GROUPS(256) },
	{ TSR_REG_GPU_TIMESTAMP_HZ, 1000000 },
};

/* Result of probing the usual device with one changed register. */
static int judge(struct kunit *test, const struct test_reg *changed)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	tdev->drm.dev = tessera_test_device(test);
	tdev->regs = (void __iomem *)kunit_kzalloc(test, TSR_REGISTERS_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, (void *)tdev->regs);
	for (i = 0; i < ARRAY_SIZE(usual); i++)
		tessera_write(tdev, usual[i].reg, usual[i].value);
	if (changed)
		tessera_write(tdev, changed->reg, changed->value);
	if (tessera_device_identify(tdev))
		return -ENODEV;

	tessera_device_read_info(tdev);

	return tessera_device_check_info(tdev);
}

/* At the limits of the hardware's description, and what a later minor version may be. */
static const struct test_reg good[] = {
	{ TSR_REG_GPU_VERSION, VERSION(TSR_VERSION_MAJOR, 9) },
	{ TSR_REG_GPU_SLOTS, SLOTS(1, 2) },
	{ TSR_REG_GPU_SLOTS, SLOTS(TSR_QUEUES_MAX, TSR_ADDRESS_SPACES_MAX) },
	{ TSR_REG_GPU_VA, VA(39, 3) },
	{ TSR_REG_GPU_VA, VA(57, 5) },
	{ TSR_REG_GPU_PAGE_SIZES, SZ_4K },
	{ TSR_REG_GPU_RING_LIMITS, RINGS(12, 20) },
	{ TSR_REG_GPU_RING_LIMITS, RINGS(14, 14) },
	{ TSR_REG_GPU_SHADER, SHADER(TSR_CORES_MAX, 1, 1) },
	{ TSR_REG_GPU_SHADER, SHADER(0, 0, 0) },
	{ TSR_REG_GPU_SHADER_LIMITS, GROUPS(1) },
	{ TSR_REG_GPU_TIMESTAMP_HZ, 1000000000 },
};

/* Just beyond. */
static const struct test_reg bad[] = {
	{ TSR_REG_GPU_MAGIC, TSR_MAGIC + 1 },
	{ TSR_REG_GPU_VERSION, VERSION(TSR_VERSION_MAJOR + 1, 0) },
	{ TSR_REG_GPU_VERSION, VERSION(TSR_VERSION_MAJOR - 1, 0) },
	{ TSR_REG_GPU_SLOTS, SLOTS(0, 16) },
	{ TSR_REG_GPU_SLOTS, SLOTS(TSR_QUEUES_MAX + 1, 16) },
	{ TSR_REG_GPU_SLOTS, SLOTS(8, 1) },
	{ TSR_REG_GPU_SLOTS, SLOTS(8, TSR_ADDRESS_SPACES_MAX + 1) },
	{ TSR_REG_GPU_VA, VA(30, 2) },
	{ TSR_REG_GPU_VA, VA(66, 6) },
	{ TSR_REG_GPU_VA, VA(47, 4) },
	{ TSR_REG_GPU_VA, VA(48, 5) },
	{ TSR_REG_GPU_PAGE_SIZES, SZ_2M },
	{ TSR_REG_GPU_RING_LIMITS, RINGS(11, 16) },
	{ TSR_REG_GPU_RING_LIMITS, RINGS(13, 21) },
	{ TSR_REG_GPU_RING_LIMITS, RINGS(15, 14) },
	{ TSR_REG_GPU_SHADER, SHADER(TSR_CORES_MAX + 1, 8, 16) },
	{ TSR_REG_GPU_SHADER, SHADER(4, 0, 16) },
	{ TSR_REG_GPU_SHADER, SHADER(4, 8, 0) },
	{ TSR_REG_GPU_SHADER_LIMITS, GROUPS(0) },
	{ TSR_REG_GPU_TIMESTAMP_HZ, 0 },
	{ TSR_REG_GPU_TIMESTAMP_HZ, 999999 },
	{ TSR_REG_GPU_TIMESTAMP_HZ + 4, U32_MAX },
};

static void device_test_driven(struct kunit *test)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, judge(test, NULL), 0);
	for (i = 0; i < ARRAY_SIZE(good); i++)
		KUNIT_EXPECT_EQ_MSG(test, judge(test, &good[i]), 0, "%#x says %#x", good[i].reg,
				    good[i].value);
}

static void device_test_refused(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, judge(test, &bad[i]), -ENODEV, "%#x says %#x",
				    bad[i].reg, bad[i].value);
}

static struct kunit_case device_cases[] = {
	KUNIT_CASE(device_test_driven),
	KUNIT_CASE(device_test_refused),
	{}
};

static struct kunit_suite device_suite = {
	.name = "tessera_device",
	.test_cases = device_cases,
};

kunit_test_suite(device_suite);
