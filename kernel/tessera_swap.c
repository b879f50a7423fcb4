// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Releasing evicted BOs
 *
 * An evicted BO works in system memory, so its pages are pinned. When memory is short, the
 * pages of idle BOs are released: the BO leaves the page tables of all VMs and of the CPU, and its
 * pages are left to shmem, which can swap them out. The next SUBMIT of a VM that maps the BO, the
 * next bind and the next access of the CPU get them back (tessera_move_back()). Only this can make
 * SUBMIT fail for lack of memory.
 *
 * Reclaim calls from anywhere, so only locks that can be had at once are taken. A BO that was used
 * since the last look gets a second chance.
 *
 * What is released must find room in swap space: without any, it would occupy memory as before, and
 * nobody could bound it. Nothing is released then, and the limit of bo_get_pages() holds for all
 * BOs together.
 */

#include <linux/dma-resv.h>
#include <linux/mutex.h>
#include <linux/swap.h>

#include <drm/drm_drv.h>
#include <drm/tessera_drm.h>

#include "tessera_device.h"
#include "tessera_evict.h"
#include "tessera_gem.h"
#include "tessera_shrinker.h"

/**
 * tessera_swap_track() - the pages of a BO can be released from now on
 * @bo: LOCAL BO in system memory
 */
void tessera_swap_track(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);

	mutex_lock(&tdev->shrink.lock);
	bo->seen = 0;	/* a second chance */
	list_move_tail(&bo->outside, &tdev->shrink.outside);
	mutex_unlock(&tdev->shrink.lock);
}

/**
 * tessera_swap_forget() - the end of tessera_swap_track()
 * @bo: BO
 */
void tessera_swap_forget(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);

	mutex_lock(&tdev->shrink.lock);
	list_del_init(&bo->outside);
	mutex_unlock(&tdev->shrink.lock);
}

/* Bytes that may be released: swap space has room for them and for those that were before. */
static u64 swap_room(struct tessera_device *tdev)
{
	u64 room = (u64)max(get_nr_swap_pages(), 0L) << PAGE_SHIFT;
	u64 released = atomic64_read(&tdev->evict.released);

	return room > released ? room - released : 0;
}

/* Return: pages that were released. */
static unsigned long bo_release(struct tessera_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;
	unsigned long pages = 0;

	if (!dma_resv_trylock(obj->resv))
		return 0;

	if (bo->base.pages && tessera_evict_idle(bo) && tessera_bo_unmap_vms(bo)) {
		tessera_move_release(bo);
		list_del_init(&bo->outside);
		pages = obj->size >> PAGE_SHIFT;
	}
	dma_resv_unlock(obj->resv);

	return pages;
}

/* The caller holds the lock, so no BO on the list is freed. */
static unsigned long release_some(struct tessera_device *tdev, unsigned long want)
{
	struct tessera_bo *bo, *last, *next;
	unsigned long pages = 0;

	lockdep_assert_held(&tdev->shrink.lock);

	/* Each BO is seen once: those that get a second chance become the last ones. */
	last = list_empty(&tdev->shrink.outside) ? NULL :
	       list_last_entry(&tdev->shrink.outside, struct tessera_bo, outside);
	list_for_each_entry_safe(bo, next, &tdev->shrink.outside, outside) {
		bool end = bo == last;
		u64 used = tessera_evict_used(bo);

		if (pages >= want)
			break;
		if (used != bo->seen) {
			bo->seen = used;
			list_move_tail(&bo->outside, &tdev->shrink.outside);
		} else if (bo->base.base.size <= swap_room(tdev)) {
			pages += bo_release(bo);
		}
		if (end)
			break;
	}

	return pages;
}

/**
 * tessera_swap_count() - what could be released
 * @tdev: device
 *
 * Return: pages, an estimate.
 */
unsigned long tessera_swap_count(struct tessera_device *tdev)
{
	u64 outside = atomic64_read(&tdev->evict.outside);

	return min(outside, swap_room(tdev)) >> PAGE_SHIFT;
}

/**
 * tessera_swap_scan() - release pages for reclaim
 * @tdev: device, inside drm_dev_enter()
 * @want: until so many pages were released
 *
 * The caller holds &tessera_device.shrink.lock.
 *
 * Return: pages that were released.
 */
unsigned long tessera_swap_scan(struct tessera_device *tdev, unsigned long want)
{
	return release_some(tdev, want);
}

/**
 * tessera_swap_out() - release pages, so that others can be pinned
 * @tdev: device, inside drm_dev_enter()
 * @bytes: until so much was released
 *
 * The caller may hold reservations. BOs that share those stay.
 */
void tessera_swap_out(struct tessera_device *tdev, u64 bytes)
{
	unsigned long want = DIV_ROUND_UP_ULL(bytes, PAGE_SIZE), done;

	mutex_lock(&tdev->shrink.lock);
	/* The first look may only have noted what was used. */
	done = release_some(tdev, want);
	if (done < want)
		release_some(tdev, want - done);
	mutex_unlock(&tdev->shrink.lock);
}
