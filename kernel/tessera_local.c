// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Local memory
 *
 * Memory on the device. The GPU addresses it by offset, the CPU through BAR 2. A
 * buffer gets one contiguous range, 2 MiB aligned if it is that large so that it
 * can be mapped with large pages. What happens when the memory is full is up to
 * tessera_evict.c.
 */

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "tessera_device.h"
#include "tessera_local.h"

/**
 * struct tessera_local - local memory and its allocator
 */
struct tessera_local {
	/** @lock: Protects @mm and @used; innermost of the mutexes. */
	struct mutex lock;
	/** @mm: What is allocated. */
	struct drm_mm mm;
	/** @used: Bytes allocated. */
	u64 used;
	/** @cpu: Mapping of the BAR, for clearing and for the kernel's last words. */
	void __iomem *cpu;
	/** @phys: Physical address of the BAR. */
	phys_addr_t phys;
};

static void tessera_local_fini(struct drm_device *drm, void *data)
{
	struct tessera_local *local = data;

	drm_mm_takedown(&local->mm);
}

/**
 * tessera_local_init() - find local memory
 * @tdev: device with its identification read
 *
 * Without usable local memory &tessera_hw_info.local_size is 0 afterwards.
 *
 * Return: 0 or a negative error.
 */
int tessera_local_init(struct tessera_device *tdev)
{
	u64 size = min_t(u64, tdev->info.local_size, pci_resource_len(tdev->pdev, TSR_BAR_LOCAL));
	struct tessera_local *local;
	int ret;

	if (!(tdev->info.features & TSR_FEATURE_LOCAL_MEMORY))
		size = 0;
	tdev->info.local_size = size;
	if (!size)
		return 0;

	local = drmm_kzalloc(&tdev->drm, sizeof(*local), GFP_KERNEL);
	if (!local)
		return -ENOMEM;

	ret = drmm_mutex_init(&tdev->drm, &local->lock);
	if (ret)
		return ret;

	local->phys = pci_resource_start(tdev->pdev, TSR_BAR_LOCAL);
	local->cpu = devm_ioremap_wc(&tdev->pdev->dev, local->phys, size);
	if (!local->cpu)
		return -ENOMEM;

	drm_mm_init(&local->mm, 0, size);
	ret = drmm_add_action_or_reset(&tdev->drm, tessera_local_fini, local);
	if (ret)
		return ret;

	tdev->local = local;

	return 0;
}

/* So much is cleared at a time, for recovery waits for who is inside the gate. */
#define CLEAR_STEP	SZ_1M

/**
 * tessera_local_clear() - clear a range
 * @tdev: device
 * @node: range
 *
 * Waits while the device is reset. Stores to a device that is not within reach go nowhere, and
 * nobody says so. Inside the gate only one can be lost that has gone and has not been missed: it is
 * asked when all are made.
 *
 * Return: 0, -ENODEV when the device is gone, -EIO when it was given up, -ERESTARTSYS.
 */
int tessera_local_clear(struct tessera_device *tdev, struct drm_mm_node *node)
{
	u64 offset = node->start, size = node->size, step, done = 0;
	bool present;
	int cookie, ret;

	while (done < size) {
		step = min_t(u64, size - done, CLEAR_STEP);
		/* Other signals, a timer's for instance, would start the call over and over. */
		if (fatal_signal_pending(current))
			return -ERESTARTSYS;
		cond_resched();
		ret = tessera_enter_wait(tdev, &cookie);
		if (ret)
			return ret;
		memset_io(tdev->local->cpu + offset + done, 0, step);
		present = tessera_device_present(tdev);
		if (!present)
			tessera_cut_off(tdev);
		tessera_leave(tdev, cookie);
		if (present)
			done += step;
	}

	return 0;
}

/**
 * tessera_local_reserve() - allocate a range with whatever is in it
 * @tdev: device
 * @node: filled in; its start is the offset for the GPU
 * @size: bytes, page aligned
 *
 * Return: 0, or -ENOSPC when there is no room.
 */
int tessera_local_reserve(struct tessera_device *tdev, struct drm_mm_node *node, u64 size)
{
	struct tessera_local *local = tdev->local;
	int ret = -ENOSPC;

	if (!local || size > tdev->info.local_size)
		return -ENOSPC;

	mutex_lock(&local->lock);
	if (size <= tdev->info.local_size - local->used)
		ret = drm_mm_insert_node_generic(&local->mm, node, size,
						 size >= SZ_2M ? SZ_2M : PAGE_SIZE, 0,
						 DRM_MM_INSERT_BEST);
	if (!ret)
		local->used += size;
	mutex_unlock(&local->lock);

	return ret;
}

/**
 * tessera_local_free() - give a range back
 * @tdev: device
 * @node: range that neither CPU nor GPU maps
 */
void tessera_local_free(struct tessera_device *tdev, struct drm_mm_node *node)
{
	struct tessera_local *local = tdev->local;

	mutex_lock(&local->lock);
	local->used -= node->size;
	drm_mm_remove_node(node);
	mutex_unlock(&local->lock);
}

/**
 * tessera_local_used() - how much is allocated
 * @tdev: device
 *
 * Return: bytes.
 */
u64 tessera_local_used(struct tessera_device *tdev)
{
	u64 used;

	if (!tdev->local)
		return 0;

	mutex_lock(&tdev->local->lock);
	used = tdev->local->used;
	mutex_unlock(&tdev->local->lock);

	return used;
}

/**
 * tessera_local_zap() - take local memory from the CPU
 * @tdev: device whose gate is closed
 *
 * Who reaches for it faults, and waits in tessera_local_fault() until the device is back.
 * What is mapped of system memory goes as well and comes back with the next touch. Not
 * where fences wait: it calls MMU notifiers.
 */
void tessera_local_zap(struct tessera_device *tdev)
{
	if (tdev->local)
		unmap_mapping_range(tdev->drm.anon_inode->i_mapping, 0, 0, 1);
}

/**
 * tessera_local_cpu() - where the kernel finds local memory
 * @tdev: device that has some
 * @offset: offset in it
 *
 * Return: pointer; inside the gate, or by who dies, something is there.
 */
void __iomem *tessera_local_cpu(struct tessera_device *tdev, u64 offset)
{
	return tdev->local->cpu + offset;
}

/**
 * tessera_local_phys() - where the CPU finds local memory
 * @tdev: device with local memory
 * @offset: offset in local memory
 *
 * Return: physical address.
 */
phys_addr_t tessera_local_phys(struct tessera_device *tdev, u64 offset)
{
	return tdev->local->phys + offset;
}

/**
 * tessera_local_read() - read local memory
 * @tdev: device with local memory, within reach
 * @offset: offset in local memory
 * @out: where to
 * @size: bytes
 */
void tessera_local_read(struct tessera_device *tdev, u64 offset, void *out, size_t size)
{
	memcpy_fromio(out, tdev->local->cpu + offset, size);
}
