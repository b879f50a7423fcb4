// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: The contract checker
 *
 * A device with FEATURE CHECK reports mistakes of the driver
 * (Documentation/hw/debug-unit.md). The device cannot know when memory is returned
 * to the system, so the driver reports which pages are mapped for DMA and which no
 * longer are. The debugfs file "check" shows the device's reports. Without the
 * feature, nothing here has an effect.
 *
 * While the function is reset or asleep, registers cannot be accessed, but memory is
 * still mapped and unmapped. These messages are queued in their order and delivered
 * when the device answers again, before it works. If the queue overflows, the driver
 * tells the device once to forget all pages. The device then reports nothing about
 * pages that it does not know.
 */

#include <linux/bitfield.h>
#include <linux/debugfs.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_managed.h>

#include "tessera_check.h"
#include "tessera_device.h"
#include "tessera_gem.h"
#include "tessera_pm.h"

/* Ranges to be said later: what 32 MiB in single pages need that come and go. */
#define CHECK_STEPS_MAX 16384

/* One of them. */
struct tessera_check_step {
	u64 addr;
	u64 size : 62;
	u64 op : 2;
};

static bool check_on(struct tessera_device *tdev)
{
	return tdev->info.features & TSR_FEATURE_CHECK;
}

static void check_command(struct tessera_device *tdev, enum tsr_check_pages op)
{
	tessera_write(tdev, TSR_REG_CHECK_COMMAND, FIELD_PREP(TSR_CHECK_COMMAND_OP__MASK, op));
}

static void check_tell(struct tessera_device *tdev, u64 addr, u64 size, enum tsr_check_pages op)
{
	while (size) {
		u64 step = min_t(u64, size, TSR_CHECK_PAGES_MAX);

		tessera_write64(tdev, TSR_REG_CHECK_PAGES_ADDR, addr);
		tessera_write64(tdev, TSR_REG_CHECK_PAGES_SIZE, step);
		check_command(tdev, op);
		addr += step;
		size -= step;
	}
}

/* Remember it for later; memory is not to be had here. */
static void check_keep(struct tessera_device *tdev, u64 addr, u64 size, enum tsr_check_pages op)
{
	struct tessera_check_step *last = tdev->check.steps + tdev->check.num_steps - 1;

	if (tdev->check.num_steps && last->op == op && last->addr + last->size == addr) {
		last->size += size;
	} else if (tdev->check.num_steps < CHECK_STEPS_MAX) {
		last[1] = (struct tessera_check_step) { .addr = addr, .size = size, .op = op };
		tdev->check.num_steps++;
	} else {
		tdev->check.lost = true;
	}
}

static void check_pages(struct tessera_device *tdev, u64 addr, u64 size, enum tsr_check_pages op)
{
	int cookie;

	lockdep_assert_held(&tdev->check.lock);

	if (tdev->check.lost)
		return;

	if (!tdev->check.held && tessera_enter(tdev, &cookie)) {
		check_tell(tdev, addr, size, op);
		tessera_leave(tdev, cookie);
	} else {
		tdev->check.held = true;
		check_keep(tdev, addr, size, op);
	}
}

/**
 * tessera_check_release() - the registers are within reach again
 * @tdev: device that was reset and uses no memory yet; the caller does recovery, or probes
 */
void tessera_check_release(struct tessera_device *tdev)
{
	const struct tessera_check_step *step;
	u32 i;

	if (!check_on(tdev))
		return;

	mutex_lock(&tdev->check.lock);
	if (tdev->check.held && tdev->check.lost) {
		check_command(tdev, TSR_CHECK_PAGES_FORGET);
	} else {
		for (i = 0; i < tdev->check.num_steps; i++) {
			step = &tdev->check.steps[i];
			check_tell(tdev, step->addr, step->size, step->op);
		}
	}
	tdev->check.num_steps = 0;
	tdev->check.held = false;
	mutex_unlock(&tdev->check.lock);
}

static void check_free_steps(struct drm_device *drm, void *steps)
{
	kvfree(steps);
}

/**
 * tessera_check_init() - begin to tell the device of memory
 * @tdev: device that is stopped
 *
 * Return: 0 or -ENOMEM.
 */
int tessera_check_init(struct tessera_device *tdev)
{
	if (!check_on(tdev))
		return 0;

	tdev->check.steps = kvcalloc(CHECK_STEPS_MAX, sizeof(*tdev->check.steps), GFP_KERNEL);
	if (!tdev->check.steps)
		return -ENOMEM;

	/* A former driver may not have said the last of what it had. */
	check_command(tdev, TSR_CHECK_PAGES_FORGET);

	return drmm_add_action_or_reset(&tdev->drm, check_free_steps, tdev->check.steps);
}

static void check_range(struct tessera_device *tdev, u64 addr, u64 size, enum tsr_check_pages op)
{
	int cookie;

	if (!check_on(tdev) || !drm_dev_enter(&tdev->drm, &cookie))
		return;

	mutex_lock(&tdev->check.lock);
	check_pages(tdev, addr, size, op);
	mutex_unlock(&tdev->check.lock);
	drm_dev_exit(cookie);
}

/**
 * tessera_check_taken() - memory is mapped for the device
 * @tdev: device
 * @addr: bus address
 * @size: bytes
 */
void tessera_check_taken(struct tessera_device *tdev, u64 addr, u64 size)
{
	check_range(tdev, addr, size, TSR_CHECK_PAGES_TAKEN);
}

/**
 * tessera_check_freed() - memory is about to be unmapped
 * @tdev: device
 * @addr: bus address
 * @size: bytes
 */
void tessera_check_freed(struct tessera_device *tdev, u64 addr, u64 size)
{
	check_range(tdev, addr, size, TSR_CHECK_PAGES_FREED);
}

/* Say it once: binds ask for the same DMA mapping again and again. */
static void check_bo(struct tessera_device *tdev, struct tessera_bo *bo, bool taken)
{
	struct scatterlist *sg;
	unsigned int i;
	int cookie;

	if (!check_on(tdev) || !drm_dev_enter(&tdev->drm, &cookie))
		return;

	mutex_lock(&tdev->check.lock);
	if (bo->check_taken != taken && bo->base.sgt) {
		bo->check_taken = taken;
		for_each_sgtable_dma_sg(bo->base.sgt, sg, i)
			check_pages(tdev, sg_dma_address(sg), sg_dma_len(sg),
				    taken ? TSR_CHECK_PAGES_TAKEN : TSR_CHECK_PAGES_FREED);
	}
	mutex_unlock(&tdev->check.lock);
	drm_dev_exit(cookie);
}

/**
 * tessera_check_bo_taken() - the memory of a BO is mapped for the device
 * @tdev: device
 * @bo: BO in system memory
 */
void tessera_check_bo_taken(struct tessera_device *tdev, struct tessera_bo *bo)
{
	check_bo(tdev, bo, true);
}

/**
 * tessera_check_bo_freed() - it is about to be unmapped
 * @tdev: device
 * @bo: BO in system memory that nobody else uses
 */
void tessera_check_bo_freed(struct tessera_device *tdev, struct tessera_bo *bo)
{
	check_bo(tdev, bo, false);
}

static const char * const tessera_check_kinds[] = {
	[TSR_CHECK_KIND_STALE_TRANSLATION] = "STALE_TRANSLATION",
	[TSR_CHECK_KIND_FREED_PAGE] = "FREED_PAGE",
	[TSR_CHECK_KIND_RING_OVERWRITTEN] = "RING_OVERWRITTEN",
	[TSR_CHECK_KIND_DOORBELL_EARLY] = "DOORBELL_EARLY",
	[TSR_CHECK_KIND_FENCE_BACKWARDS] = "FENCE_BACKWARDS",
	[TSR_CHECK_KIND_IRQ_IGNORED] = "IRQ_IGNORED",
	[TSR_CHECK_KIND_RING_FAULT] = "RING_FAULT",
	[TSR_CHECK_KIND_AS_IN_USE] = "AS_IN_USE",
	[TSR_CHECK_KIND_DOORBELL_DISABLED] = "DOORBELL_DISABLED",
};

static void check_show_last(struct seq_file *m, struct tessera_device *tdev, u32 last)
{
	u32 kind = FIELD_GET(TSR_CHECK_LAST_KIND__MASK, last);

	if (!(last & TSR_CHECK_LAST_VALID__MASK) || kind >= ARRAY_SIZE(tessera_check_kinds))
		return;

	seq_printf(m, "last %s", tessera_check_kinds[kind]);
	if (last & TSR_CHECK_LAST_QUEUE_VALID__MASK)
		seq_printf(m, " slot %u job %llu", (u32)FIELD_GET(TSR_CHECK_LAST_QUEUE__MASK, last),
			   tessera_read64(tdev, TSR_REG_CHECK_LAST_JOB));
	seq_printf(m, " as %u at %#llx was %#llx is %#llx time %llu\n",
		   (u32)FIELD_GET(TSR_CHECK_LAST_AS__MASK, last),
		   tessera_read64(tdev, TSR_REG_CHECK_LAST_ADDR),
		   tessera_read64(tdev, TSR_REG_CHECK_LAST_WAS),
		   tessera_read64(tdev, TSR_REG_CHECK_LAST_IS),
		   tessera_read64(tdev, TSR_REG_CHECK_LAST_TIME));
}

static int tessera_check_show(struct seq_file *m, void *unused)
{
	struct tessera_device *tdev = m->private;
	unsigned int kind;
	int ret;

	ret = tessera_pm_lock(tdev);
	if (ret)
		return ret;

	seq_printf(m, "pending %u\n",
		   (u32)FIELD_GET(TSR_CHECK_STATUS_PENDING__MASK,
				  tessera_read(tdev, TSR_REG_CHECK_STATUS)));
	for (kind = 0; kind < ARRAY_SIZE(tessera_check_kinds); kind++)
		seq_printf(m, "%s %u\n", tessera_check_kinds[kind],
			   tessera_read(tdev, TSR_REG_CHECK_COUNT(kind)));
	check_show_last(m, tdev, tessera_read(tdev, TSR_REG_CHECK_LAST));

	return tessera_pm_unlock(tdev);
}
DEFINE_SHOW_ATTRIBUTE(tessera_check);

/**
 * tessera_check_debugfs_init() - create the file if the device has the checker
 * @minor: minor of the device
 */
void tessera_check_debugfs_init(struct drm_minor *minor)
{
	struct tessera_device *tdev = to_tessera_device(minor->dev);

	if (check_on(tdev))
		debugfs_create_file("check", 0400, minor->debugfs_root, tdev, &tessera_check_fops);
}
