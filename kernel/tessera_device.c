// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: The device
 *
 * Probe and removal of the hardware. Removal has a fixed order. The driver stops the
 * device and signals fences with -ENODEV. It refuses new calls (drm_dev_unplug),
 * which also removes the CPU's mappings of local memory. Then it frees the interrupts
 * and undoes DMA mappings. User space can afterwards hold memory of the kernel, but
 * nothing that refers to the device.
 */

#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "tessera_as.h"
#include "tessera_check.h"
#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_dump.h"
#include "tessera_evict.h"
#include "tessera_gem.h"
#include "tessera_irq.h"
#include "tessera_kms.h"
#include "tessera_local.h"
#include "tessera_pci.h"
#include "tessera_quota.h"
#include "tessera_reset.h"
#include "tessera_sched.h"
#include "tessera_shrinker.h"
#include "tessera_vm.h"

unsigned int tessera_job_timeout_ms = 5000;
module_param_named(job_timeout_ms, tessera_job_timeout_ms, uint, 0444);
MODULE_PARM_DESC(job_timeout_ms,
		 "Time without progress after which a job counts as hung (default 5000)");

unsigned int tessera_job_limit_ms = 20000;
module_param_named(job_limit_ms, tessera_job_limit_ms, uint, 0444);
MODULE_PARM_DESC(job_limit_ms,
		 "Time on an engine or blocked after which a job that has timed out counts as hung although it makes progress (default 20000)");

static int tessera_device_identify(struct tessera_device *tdev)
{
	u32 magic = tessera_read(tdev, TSR_REG_GPU_MAGIC);
	u32 version = tessera_read(tdev, TSR_REG_GPU_VERSION);
	u32 major = FIELD_GET(TSR_GPU_VERSION_MAJOR__MASK, version);

	if (magic != TSR_MAGIC) {
		drm_err(&tdev->drm, "not a Tessera: magic %08x\n", magic);
		return -ENODEV;
	}
	if (major != TSR_VERSION_MAJOR) {
		drm_err(&tdev->drm, "hardware version %u is not one this driver knows (%u)\n",
			major, TSR_VERSION_MAJOR);
		return -ENODEV;
	}

	tdev->info.version = version;

	return 0;
}

static void tessera_device_read_info(struct tessera_device *tdev)
{
	u32 engines = tessera_read(tdev, TSR_REG_GPU_ENGINES);
	u32 slots = tessera_read(tdev, TSR_REG_GPU_SLOTS);
	u32 rings = tessera_read(tdev, TSR_REG_GPU_RING_LIMITS);
	u32 shader = tessera_read(tdev, TSR_REG_GPU_SHADER);
	u32 groups = tessera_read(tdev, TSR_REG_GPU_SHADER_LIMITS);
	u32 tile = tessera_read(tdev, TSR_REG_GPU_TILE);
	u32 va = tessera_read(tdev, TSR_REG_GPU_VA);
	struct tessera_hw_info *info = &tdev->info;

	info->engines[TSR_ENGINE_CLASS_BIN] = FIELD_GET(TSR_GPU_ENGINES_BIN__MASK, engines);
	info->engines[TSR_ENGINE_CLASS_RENDER] = FIELD_GET(TSR_GPU_ENGINES_RENDER__MASK, engines);
	info->engines[TSR_ENGINE_CLASS_COMPUTE] = FIELD_GET(TSR_GPU_ENGINES_COMPUTE__MASK, engines);
	info->engines[TSR_ENGINE_CLASS_COPY] = FIELD_GET(TSR_GPU_ENGINES_COPY__MASK, engines);
	info->num_queues = FIELD_GET(TSR_GPU_SLOTS_QUEUES__MASK, slots);
	info->max_queues = info->num_queues;
	info->num_as = FIELD_GET(TSR_GPU_SLOTS_ADDRESS_SPACES__MASK, slots);
	info->va_bits = FIELD_GET(TSR_GPU_VA_BITS__MASK, va);
	info->va_levels = FIELD_GET(TSR_GPU_VA_LEVELS__MASK, va);
	info->ring_log2_min = FIELD_GET(TSR_GPU_RING_LIMITS_MIN_LOG2__MASK, rings);
	info->ring_log2_max = FIELD_GET(TSR_GPU_RING_LIMITS_MAX_LOG2__MASK, rings);
	info->tile_width = FIELD_GET(TSR_GPU_TILE_WIDTH__MASK, tile);
	info->tile_height = FIELD_GET(TSR_GPU_TILE_HEIGHT__MASK, tile);
	info->cores = FIELD_GET(TSR_GPU_SHADER_CORES__MASK, shader);
	info->warp_lanes = FIELD_GET(TSR_GPU_SHADER_WARP_LANES__MASK, shader);
	info->core_warps = FIELD_GET(TSR_GPU_SHADER_CORE_WARPS__MASK, shader);
	info->group_threads = FIELD_GET(TSR_GPU_SHADER_LIMITS_GROUP_THREADS__MASK, groups);
	info->group_memory_kib = FIELD_GET(TSR_GPU_SHADER_LIMITS_GROUP_MEMORY_KIB__MASK, groups);
	info->features = tessera_read64(tdev, TSR_REG_GPU_FEATURES);
	info->page_sizes = tessera_read64(tdev, TSR_REG_GPU_PAGE_SIZES);
	info->local_size = tessera_read64(tdev, TSR_REG_GPU_LOCAL_SIZE);
	info->timestamp_hz = tessera_read64(tdev, TSR_REG_GPU_TIMESTAMP_HZ);
}

/* Time is computed from ticks, and in 64 bits. What is not between is no clock. */
#define TIMESTAMP_HZ_MIN	1000000ULL
#define TIMESTAMP_HZ_MAX	1000000000000ULL

/* A device that contradicts its own description is not driven. */
static int tessera_device_check_info(struct tessera_device *tdev)
{
	const struct tessera_hw_info *info = &tdev->info;
	bool good = info->num_queues >= 1 && info->num_queues <= TSR_QUEUES_MAX &&
		    info->num_as >= 2 && info->num_as <= TSR_ADDRESS_SPACES_MAX &&
		    info->va_levels >= 3 && info->va_levels <= TSR_LEVELS_MAX &&
		    info->va_bits == TSR_PAGE_SHIFT + info->va_levels * TSR_PT_INDEX_BITS &&
		    info->page_sizes & BIT_ULL(TSR_PAGE_SHIFT) &&
		    info->ring_log2_min >= TSR_RING_LOG2_MIN &&
		    info->ring_log2_max <= TSR_RING_LOG2_MAX &&
		    info->ring_log2_min <= info->ring_log2_max &&
		    info->timestamp_hz >= TIMESTAMP_HZ_MIN &&
		    info->timestamp_hz <= TIMESTAMP_HZ_MAX &&
		    info->cores <= TSR_CORES_MAX &&
		    (!info->cores || (info->warp_lanes && info->core_warps && info->group_threads));

	if (!good) {
		drm_err(&tdev->drm, "the device describes itself in a way this driver does not know\n");
		return -ENODEV;
	}

	return 0;
}

static int tessera_device_init_pci(struct tessera_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	int ret;

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;

	if (pci_resource_len(pdev, TSR_BAR_REGISTERS) < TSR_REGISTERS_SIZE)
		return -ENODEV;

	ret = pcim_request_all_regions(pdev, "tessera");
	if (ret)
		return ret;

	tdev->regs = pcim_iomap(pdev, TSR_BAR_REGISTERS, TSR_REGISTERS_SIZE);
	if (!tdev->regs)
		return -ENOMEM;

	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(52));
	if (ret)
		return ret;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);

	return 0;
}

static void tessera_destroy_workqueue(struct drm_device *drm, void *data)
{
	destroy_workqueue(data);
}

/* Jobs are short, and whoever waits for one may be spinning on the CPU it was submitted on. */
static int tessera_device_init_workqueues(struct tessera_device *tdev)
{
	struct workqueue_struct *wqs[3] = {
		tdev->submit_wq = alloc_workqueue("tessera-submit",
						  WQ_HIGHPRI | WQ_PERCPU | WQ_MEM_RECLAIM, 0),
		tdev->bind_wq = alloc_workqueue("tessera-bind", WQ_UNBOUND | WQ_MEM_RECLAIM, 0),
		tdev->timeout_wq = alloc_ordered_workqueue("tessera-timeout", WQ_MEM_RECLAIM),
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(wqs); i++) {
		int err = wqs[i] ? drmm_add_action_or_reset(&tdev->drm, tessera_destroy_workqueue,
							    wqs[i]) : -ENOMEM;

		ret = ret ?: err;
	}

	return ret;
}

static int tessera_device_init_software(struct tessera_device *tdev)
{
	struct drm_device *drm = &tdev->drm;
	int ret;

	spin_lock_init(&tdev->slots.lock);
	INIT_LIST_HEAD(&tdev->vms.list);
	INIT_LIST_HEAD(&tdev->bos.list);

	ret = drmm_mutex_init(drm, &tdev->vms.lock);
	ret = ret ?: drmm_mutex_init(drm, &tdev->bos.lock);
	ret = ret ?: drmm_mutex_init(drm, &tdev->as_slots.lock);
	ret = ret ?: drmm_mutex_init(drm, &tdev->check.lock);
	ret = ret ?: tessera_accounts_init(tdev);
	ret = ret ?: tessera_state_init(tdev);
	ret = ret ?: tessera_reset_init(tdev);
	ret = ret ?: tessera_dump_init(tdev);
	ret = ret ?: tessera_shrinker_init(tdev);
	ret = ret ?: tessera_evict_init(tdev);
	if (ret)
		return ret;

	tessera_prime_lock(&tdev->reset.lock);
	tessera_prime_lock(&tdev->vms.lock);
	tessera_prime_lock(&tdev->as_slots.lock);
	tessera_prime_lock(&tdev->check.lock);
	tessera_prime_order(&tdev->reset.lock, &tdev->vms.lock);

	return tessera_device_init_workqueues(tdev);
}

/* From a device in any state, as a former driver may have left it, to one that works. */
static int tessera_device_init_hardware(struct tessera_device *tdev)
{
	int ret;

	/* It becomes bus master with TESSERA_RUNNING. */
	pci_clear_master(tdev->pdev);

	ret = tessera_device_stop(tdev);
	if (ret)
		return ret;

	ret = tessera_check_init(tdev);
	if (ret)
		return ret;

	ret = tessera_kernel_as_init(tdev);
	if (ret)
		return ret;

	ret = tessera_engines_init(tdev);
	if (ret)
		goto err_engines;

	ret = tessera_irq_init(tdev);
	if (ret)
		goto err_engines;

	ret = tessera_pci_save(tdev);
	if (ret)
		goto err_irq;

	mutex_lock(&tdev->reset.lock);
	ret = tessera_device_start(tdev);
	mutex_unlock(&tdev->reset.lock);
	if (ret)
		goto err_irq;

	return 0;

err_irq:
	tessera_device_stop(tdev);
	tessera_irq_fini(tdev);
err_engines:
	mutex_lock(&tdev->reset.lock);
	tessera_engines_fini(tdev, -ENODEV);
	mutex_unlock(&tdev->reset.lock);
	tessera_kernel_as_fini(tdev);
	return ret;
}

/**
 * tessera_device_init() - bring a device up
 * @tdev: device, zeroed but for the DRM device
 * @pdev: PCI device
 *
 * Return: 0 or a negative error, when nothing is left behind.
 */
int tessera_device_init(struct tessera_device *tdev, struct pci_dev *pdev)
{
	int ret;

	tdev->pdev = pdev;

	ret = tessera_device_init_pci(tdev);
	if (ret)
		return ret;

	ret = tessera_device_identify(tdev);
	if (ret)
		return ret;

	tessera_device_read_info(tdev);
	ret = tessera_device_check_info(tdev);
	if (ret)
		return ret;

	ret = tessera_device_init_software(tdev);
	if (ret)
		return ret;

	ret = tessera_local_init(tdev);
	ret = ret ?: tessera_evict_register(tdev);
	if (ret)
		return ret;

	return tessera_device_init_hardware(tdev);
}

/**
 * tessera_device_unplug() - end the device
 * @tdev: device; files may be open and jobs may run
 */
void tessera_device_unplug(struct tessera_device *tdev)
{
	/*
	 * First: from the other on binds fail, and no job may run that they should have
	 * prepared.
	 */
	tessera_kms_lose(tdev);
	tessera_reset_unplug(tdev);
	tessera_delay(TESSERA_DELAY_UNPLUG);
	drm_dev_unplug(&tdev->drm);
	tessera_irq_fini(tdev);
	tessera_kms_unplug(tdev);
	tessera_dump_unplug(tdev);
	tessera_vms_unplug(tdev);
	tessera_bos_unmap_dma(tdev);
	tessera_kernel_as_fini(tdev);
}
