// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Purging
 *
 * User space says with BO_MADVISE that it could do without the contents of a BO.
 * When memory is short the shrinker takes such BOs: it removes them from the page
 * tables of all VMs, waits until the device has forgotten them, and gives their
 * pages back. The mappings of the VMs stay on record without effect; a job that
 * touches them faults.
 *
 * Reclaim calls from anywhere, with any lock held that is above fs_reclaim in
 * Documentation/driver/recovery.md. So it only tries the locks it needs, and skips
 * what is in use: BOs with a job or a bind on its way, exported or imported ones.
 * If that is not enough, evicted LOCAL BOs are released: see tessera_swap.c.
 */

#include <linux/dma-resv.h>
#include <linux/shrinker.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/tessera_drm.h>

#include "tessera_as.h"
#include "tessera_check.h"
#include "tessera_device.h"
#include "tessera_evict.h"
#include "tessera_gem.h"
#include "tessera_shrinker.h"
#include "tessera_trace.h"
#include "tessera_vm.h"

/* The caller holds the BO's reservation. */
static bool bo_purgeable(struct tessera_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;

	dma_resv_assert_held(obj->resv);

	return drm_gem_shmem_is_purgeable(&bo->base) && !READ_ONCE(bo->exported) &&
	       !(bo->flags & DRM_TESSERA_BO_LOCAL) &&
	       !atomic_read(&bo->needed) &&
	       dma_resv_test_signaled(obj->resv, DMA_RESV_USAGE_BOOKKEEP);
}

static void bo_unlock_vms(struct tessera_bo *bo, struct drm_gpuvm_bo *end)
{
	struct drm_gpuvm_bo *vm_bo;

	drm_gem_for_each_gpuvm_bo(vm_bo, &bo->base.base) {
		if (vm_bo == end)
			break;
		mutex_unlock(&to_tessera_vm(vm_bo->vm)->op_lock);
	}
}

/* All VMs the BO is in, or none. They are above gpuva.lock, hence by trying. */
static bool bo_trylock_vms(struct tessera_bo *bo)
{
	struct drm_gpuvm_bo *vm_bo;

	drm_gem_for_each_gpuvm_bo(vm_bo, &bo->base.base) {
		if (!mutex_trylock(&to_tessera_vm(vm_bo->vm)->op_lock)) {
			bo_unlock_vms(bo, vm_bo);
			return false;
		}
	}

	return true;
}

/* Whole mappings go, so no table has to be split and none is needed. */
static void vm_bo_unmap(struct drm_gpuvm_bo *vm_bo)
{
	struct tessera_vm *vm = to_tessera_vm(vm_bo->vm);
	u64 start = U64_MAX, end = 0;
	struct tessera_pt_pool pool;
	struct drm_gpuva *va;

	if (!vm->pgt)
		return;

	tessera_pt_pool_init(&pool);
	drm_gpuvm_bo_for_each_va(va, vm_bo) {
		tessera_pt_unmap(vm->pgt, &pool, va->va.addr, va->va.range);
		start = min(start, va->va.addr);
		end = max(end, va->va.addr + va->va.range);
	}

	if (pool.dirty)
		tessera_as_invalidate(vm->tdev, vm->as, start, end - start);
	tessera_pt_pool_fini(vm->tdev->drm.dev, &pool);
}

/**
 * tessera_bo_unmap_vms() - remove a BO from the page tables of all VMs
 * @bo: idle BO whose reservation is held
 *
 * Reclaim calls it, so it tries locks only. Inside drm_dev_enter().
 *
 * Return: false if a lock is held, and nothing was done.
 */
bool tessera_bo_unmap_vms(struct tessera_bo *bo)
{
	struct drm_gpuvm_bo *vm_bo;

	mutex_lock(tessera_gpuva_lock(&bo->base.base));
	if (!bo_trylock_vms(bo)) {
		mutex_unlock(tessera_gpuva_lock(&bo->base.base));
		return false;
	}

	drm_gem_for_each_gpuvm_bo(vm_bo, &bo->base.base)
		vm_bo_unmap(vm_bo);
	/* A dump does not look at its pages any more. */
	WRITE_ONCE(bo->purged, true);
	bo_unlock_vms(bo, NULL);
	mutex_unlock(tessera_gpuva_lock(&bo->base.base));

	return true;
}

/* Return: pages that were given back. */
static unsigned long bo_purge(struct tessera_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;
	unsigned long pages = 0;

	if (!dma_resv_trylock(obj->resv))
		return 0;

	if (bo_purgeable(bo) && tessera_bo_unmap_vms(bo)) {
		tessera_check_bo_freed(to_tessera_device(obj->dev), bo);
		drm_gem_shmem_purge_locked(&bo->base);
		list_del_init(&bo->madv_node);
		pages = obj->size >> PAGE_SHIFT;
		trace_tessera_bo_purge(bo);
	}
	dma_resv_unlock(obj->resv);

	return pages;
}

static unsigned long tessera_shrinker_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct tessera_device *tdev = shrinker->private_data;
	unsigned long pages = 0;
	struct tessera_bo *bo;

	if (!mutex_trylock(&tdev->shrink.lock))
		return 0;
	list_for_each_entry(bo, &tdev->shrink.list, madv_node) {
		/* Without the BO's reservation: an estimate. */
		if (data_race(READ_ONCE(bo->base.sgt)) && !READ_ONCE(bo->exported) &&
		    !atomic_read(&bo->needed))
			pages += bo->base.base.size >> PAGE_SHIFT;
	}
	mutex_unlock(&tdev->shrink.lock);
	pages += tessera_swap_count(tdev);

	return pages ?: SHRINK_EMPTY;
}

/*
 * A BO on the list cannot be freed, because that takes the lock; so it needs no
 * reference, whose end could free it here.
 */
static unsigned long tessera_shrinker_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct tessera_device *tdev = shrinker->private_data;
	unsigned long pages = 0;
	struct tessera_bo *bo, *next;
	int cookie;

	if (!mutex_trylock(&tdev->shrink.lock))
		return SHRINK_STOP;

	if (drm_dev_enter(&tdev->drm, &cookie)) {
		list_for_each_entry_safe(bo, next, &tdev->shrink.list, madv_node) {
			if (pages >= sc->nr_to_scan)
				break;
			pages += bo_purge(bo);
		}
		if (pages < sc->nr_to_scan)
			pages += tessera_swap_scan(tdev, sc->nr_to_scan - pages);
		drm_dev_exit(cookie);
	}
	mutex_unlock(&tdev->shrink.lock);
	/* A BO may be larger than what was asked for. Reclaim must not ask for the rest, too. */
	sc->nr_scanned = max(sc->nr_to_scan, pages);

	return pages ?: SHRINK_STOP;
}

static void tessera_shrinker_fini(struct drm_device *drm, void *data)
{
	shrinker_free(data);
}

/**
 * tessera_shrinker_init() - register the shrinker of a device
 * @tdev: device
 *
 * Return: 0 or a negative error.
 */
int tessera_shrinker_init(struct tessera_device *tdev)
{
	struct shrinker *shrinker;
	int ret;

	INIT_LIST_HEAD(&tdev->shrink.list);
	INIT_LIST_HEAD(&tdev->shrink.outside);
	ret = drmm_mutex_init(&tdev->drm, &tdev->shrink.lock);
	if (ret)
		return ret;
	tessera_prime_lock(&tdev->shrink.lock);

	shrinker = shrinker_alloc(0, "drm-tessera:%s", dev_name(tdev->drm.dev));
	if (!shrinker)
		return -ENOMEM;

	shrinker->count_objects = tessera_shrinker_count;
	shrinker->scan_objects = tessera_shrinker_scan;
	shrinker->private_data = tdev;
	shrinker_register(shrinker);

	return drmm_add_action_or_reset(&tdev->drm, tessera_shrinker_fini, shrinker);
}

/**
 * tessera_bo_madvise() - note what user space says about the contents of a BO
 * @bo: BO
 * @madv: enum drm_tessera_madv
 * @retained: set to 1 if the contents are still there, else 0
 *
 * Return: 0, -EINVAL for a BO that others share, -EINTR.
 */
int tessera_bo_madvise(struct tessera_bo *bo, u32 madv, u32 *retained)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	struct dma_resv *resv = bo->base.base.resv;
	int ret;

	if (bo->base.base.import_attach)
		return -EINVAL;

	ret = dma_resv_lock_interruptible(resv, NULL);
	if (ret)
		return ret;

	if (READ_ONCE(bo->exported)) {
		ret = -EINVAL;
	} else {
		*retained = drm_gem_shmem_madvise_locked(&bo->base, madv);
		if (bo->base.madv > 0)
			tessera_evict_prefer(bo);
		mutex_lock(&tdev->shrink.lock);
		list_del_init(&bo->madv_node);
		if (bo->base.madv > 0 && !(bo->flags & DRM_TESSERA_BO_LOCAL))
			list_add_tail(&bo->madv_node, &tdev->shrink.list);
		mutex_unlock(&tdev->shrink.lock);
	}
	dma_resv_unlock(resv);

	return ret;
}

/**
 * tessera_bo_begin_export() - keep the memory of a BO that is about to be exported
 * @bo: BO
 * @first: true if the BO was not exported before, so that a failed export is undone
 *
 * Sets &tessera_bo.exported before a dma-buf exists. Otherwise MADVISE and the shrinker could
 * take the memory of a dma-buf that others have already.
 *
 * Return: 0, -EINVAL for a BO that was purged, -EINTR.
 */
int tessera_bo_begin_export(struct tessera_bo *bo, bool *first)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	struct dma_resv *resv = bo->base.base.resv;
	int ret;

	ret = dma_resv_lock_interruptible(resv, NULL);
	if (ret)
		return ret;

	*first = !READ_ONCE(bo->exported);
	if (*first && !bo->base.base.import_attach) {
		if (!drm_gem_shmem_madvise_locked(&bo->base, DRM_TESSERA_MADV_WILL_NEED))
			ret = -EINVAL;
		mutex_lock(&tdev->shrink.lock);
		list_del_init(&bo->madv_node);
		mutex_unlock(&tdev->shrink.lock);
	}
	if (!ret)
		WRITE_ONCE(bo->exported, true);
	dma_resv_unlock(resv);

	return ret;
}

/**
 * tessera_bo_forget_madvise() - a BO is freed
 * @bo: BO without references
 *
 * Afterwards the shrinker does not know it.
 */
void tessera_bo_forget_madvise(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);

	mutex_lock(&tdev->shrink.lock);
	list_del_init(&bo->madv_node);
	mutex_unlock(&tdev->shrink.lock);
}

/**
 * tessera_bo_need() - a BO must not be purged now
 * @bo: BO
 *
 * Until &tessera_bo.needed is decremented, which needs no lock.
 *
 * Return: 0, or -EINVAL if it has been purged already.
 */
int tessera_bo_need(struct tessera_bo *bo)
{
	struct dma_resv *resv = bo->base.base.resv;
	int ret = 0;

	if (bo->base.base.import_attach) {
		atomic_inc(&bo->needed);
		return 0;
	}

	dma_resv_lock(resv, NULL);
	if (bo->base.madv < 0)
		ret = -EINVAL;
	else
		atomic_inc(&bo->needed);
	dma_resv_unlock(resv);

	return ret;
}
