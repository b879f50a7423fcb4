// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * GET_TIMESTAMP: the clocks of GPU and CPU at one moment.
 */

#include <linux/irqflags.h>
#include <linux/timekeeping.h>

#include <drm/tessera_drm.h>

#include "tessera_device.h"
#include "tessera_query.h"
#include "tessera_reset.h"

/* The best of a few: an emulated register read can be interrupted by the host. */
#define SAMPLES 4

static void sample_clocks(struct tessera_device *tdev, u64 (*clock)(void),
			  struct drm_tessera_get_timestamp *args)
{
	unsigned long flags;
	u64 before, ticks, after;

	local_irq_save(flags);
	before = clock();
	ticks = tessera_read64(tdev, TSR_REG_GPU_TIMESTAMP);
	after = clock();
	local_irq_restore(flags);

	if (after - before >= args->max_deviation_ns)
		return;

	args->gpu_ticks = ticks;
	args->cpu_ns = before + (after - before) / 2;
	args->max_deviation_ns = after - before;
}

static u64 clock_monotonic(void)
{
	return ktime_get_ns();
}

static u64 clock_monotonic_raw(void)
{
	return ktime_get_raw_ns();
}

/**
 * tessera_ioctl_get_timestamp() - DRM_IOCTL_TESSERA_GET_TIMESTAMP
 * @drm: DRM device
 * @data: struct drm_tessera_get_timestamp
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_get_timestamp(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_device *tdev = to_tessera_device(drm);
	struct drm_tessera_get_timestamp *args = data;
	u64 (*clock)(void);
	unsigned int i;
	int cookie, ret;

	if (args->flags)
		return -EINVAL;

	switch (args->clock_id) {
	case CLOCK_MONOTONIC:
		clock = clock_monotonic;
		break;
	case CLOCK_MONOTONIC_RAW:
		clock = clock_monotonic_raw;
		break;
	default:
		return -EINVAL;
	}

	ret = tessera_enter_wait(tdev, &cookie);
	if (ret)
		return ret;

	args->max_deviation_ns = U64_MAX;
	for (i = 0; i < SAMPLES; i++)
		sample_clocks(tdev, clock, args);
	/* Last: a device that answers now has answered before. */
	if (!tessera_device_present(tdev)) {
		tessera_cut_off(tdev);
		ret = -EIO;
	}
	tessera_leave(tdev, cookie);

	return ret;
}
