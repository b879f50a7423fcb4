// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Eviction
 *
 * When local memory is full, BO_CREATE evicts the LOCAL BOs that were used least recently
 * (tessera_move.c says how). SUBMIT brings BOs of its VM back when there is room, and once in a
 * while evicts BOs of others for that. A BO that is not brought back works where it is, so neither
 * has to succeed. BOs whose reservation cannot be locked at once are in use and are passed over.
 *
 * SUBMIT writes down only when its VM was used, whatever number of BOs the VM has. An
 * eviction compares these times: a BO that was used since the last look gets a second chance.
 *
 * Control groups limit and protect what their processes have of local memory (dmem.max, dmem.low,
 * dmem.min), where the kernel has that controller. A range is charged to the task that needs it. If
 * its cgroup has reached a limit, BOs of that cgroup are evicted. If local memory is full, those of
 * cgroups that have more than is protected are.
 */

#include <linux/cgroup_dmem.h>
#include <linux/dma-resv.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_gpuvm.h>
#include <drm/drm_managed.h>
#include <drm/tessera_drm.h>

#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_evict.h"
#include "tessera_gem.h"
#include "tessera_local.h"
#include "tessera_pm.h"
#include "tessera_quota.h"
#include "tessera_vm.h"

/* A VM that did not get local memory in so many SUBMITs may evict the BOs of others. */
#define REFUSED_MAX	16
/* All VMs together may do so for this part of local memory in this time. */
#define BUDGET_SHARE	8
#define BUDGET_TIME	(HZ / 10)

/* ---- ranges of local memory ---- */

/*
 * A range with whatever is in it. Return: 0, -ENOSPC, -EAGAIN if a cgroup has reached its limit,
 * which the caller gets a reference to, -ENOMEM.
 */
static int local_get(struct tessera_bo *bo, struct dmem_cgroup_pool_state **limit)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	struct dmem_cgroup_pool_state *pool = NULL;
	u64 size = bo->base.base.size;
	int ret = 0;

	*limit = NULL;
	if (tdev->evict.region)
		ret = dmem_cgroup_try_charge(tdev->evict.region, size, &pool, limit);
	if (ret)
		return ret;

	ret = tessera_local_reserve(tdev, &bo->local, size);
	if (ret)
		dmem_cgroup_uncharge(pool, size);
	else
		bo->pool = pool;

	return ret;
}

/**
 * tessera_evict_free_local() - free the range of a BO
 * @bo: BO whose range neither CPU nor GPU maps
 */
void tessera_evict_free_local(struct tessera_bo *bo)
{
	tessera_local_free(to_tessera_device(bo->base.base.dev), &bo->local);
	dmem_cgroup_uncharge(bo->pool, bo->base.base.size);
	bo->pool = NULL;
}

/* ---- victims ---- */

/**
 * tessera_evict_idle() - may a BO be moved, or released
 * @bo: BO whose reservation is held; the answer holds until it is unlocked
 *
 * Return: true if no job, bind or framebuffer uses it.
 */
bool tessera_evict_idle(struct tessera_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;
	struct drm_gpuvm_bo *vm_bo;
	bool idle;

	dma_resv_assert_held(obj->resv);

	if (atomic_read(&bo->needed))
		return false;

	/* A job may use a shared BO that was bound after its SUBMIT: ask the VM. */
	idle = dma_resv_test_signaled(obj->resv, DMA_RESV_USAGE_BOOKKEEP);
	mutex_lock(tessera_gpuva_lock(obj));
	drm_gem_for_each_gpuvm_bo(vm_bo, obj)
		idle = idle && dma_resv_test_signaled(drm_gpuvm_resv(vm_bo->vm),
						      DMA_RESV_USAGE_BOOKKEEP);
	mutex_unlock(tessera_gpuva_lock(obj));

	return idle;
}

/**
 * tessera_evict_used() - when a BO, or a VM that maps it, was used last
 * @bo: BO
 *
 * Return: &tessera_device.evict.clock at that time.
 */
u64 tessera_evict_used(struct tessera_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;
	struct drm_gpuvm_bo *vm_bo;
	u64 used = bo->used;

	mutex_lock(tessera_gpuva_lock(obj));
	drm_gem_for_each_gpuvm_bo(vm_bo, obj)
		used = max(used, READ_ONCE(to_tessera_vm(vm_bo->vm)->used));
	mutex_unlock(tessera_gpuva_lock(obj));

	return used;
}

/**
 * struct tessera_evict_search - whom to evict
 */
struct tessera_evict_search {
	/** @limit: The cgroup that has reached its limit, or NULL: local memory is full. */
	struct dmem_cgroup_pool_state *limit;
	/** @ignore_low: What cgroups should keep is taken, too. */
	bool ignore_low;
	/** @hit_low: There is some of that. */
	bool hit_low;
};

/* Return: true if the BO, which is locked, counts for the limit and is not protected. */
static bool victim_valuable(struct tessera_bo *bo, struct tessera_evict_search *search)
{
	return !bo->pool || dmem_cgroup_state_evict_valuable(search->limit, bo->pool,
							     search->ignore_low, &search->hit_low);
}

/*
 * Second chance: a BO that was used since the last look goes to the end of the list. BOs whose
 * reservation is held are in use. The caller gets a reference and the reservation.
 */
static struct tessera_bo *victim_find(struct tessera_device *tdev,
				      struct tessera_evict_search *search)
{
	struct tessera_bo *bo, *found = NULL;
	unsigned long left;
	u64 used;

	lockdep_assert_held(&tdev->evict.lock);

	for (left = 2 * tdev->evict.count; left && !found; left--) {
		bo = list_first_entry(&tdev->evict.lru, struct tessera_bo, lru);
		list_move_tail(&bo->lru, &tdev->evict.lru);

		used = tessera_evict_used(bo);
		/* Without the reservation: what was true a moment ago. */
		if (used != bo->seen && data_race(READ_ONCE(bo->base.madv)) <= 0) {
			bo->seen = used;
			continue;
		}
		if (!dma_resv_trylock(bo->base.base.resv))
			continue;
		if (tessera_evict_idle(bo) && victim_valuable(bo, search) &&
		    kref_get_unless_zero(&bo->base.base.refcount))
			found = bo;
		else
			dma_resv_unlock(bo->base.base.resv);
	}

	return found;
}

static struct tessera_bo *victim_get(struct tessera_device *tdev,
				     struct dmem_cgroup_pool_state *limit)
{
	struct tessera_evict_search search = { .limit = limit };
	struct tessera_bo *bo;

	mutex_lock(&tdev->evict.lock);
	bo = victim_find(tdev, &search);
	if (!bo && search.hit_low) {
		search.ignore_low = true;
		bo = victim_find(tdev, &search);
	}
	mutex_unlock(&tdev->evict.lock);

	return bo;
}

/*
 * Return: bytes that are free now, -ENOSPC if nothing can be evicted, or the error of the move. The
 * reference goes to @keep, or, if the caller holds no reservation, is dropped.
 */
static s64 evict_one(struct tessera_device *tdev, struct dmem_cgroup_pool_state *limit,
		     struct tessera_evict_keep *keep)
{
	struct tessera_bo *bo = victim_get(tdev, limit);
	s64 ret;

	if (!bo)
		return -ENOSPC;

	tessera_delay(TESSERA_DELAY_EVICT);
	ret = tessera_move_out(bo) ?: (s64)bo->base.base.size;
	if (ret > 0)
		tessera_evict_forget(bo);
	dma_resv_unlock(bo->base.base.resv);
	if (keep)
		keep->obj[keep->count++] = &bo->base.base;
	else
		drm_gem_object_put(&bo->base.base);

	return ret;
}

static u64 evict_bytes(struct tessera_device *tdev, struct dmem_cgroup_pool_state *limit, u64 bytes)
{
	u64 done = 0;
	s64 ret;

	while (!bytes || done < bytes) {
		ret = evict_one(tdev, limit, NULL);
		if (ret < 0)
			break;
		done += ret;
	}

	return done;
}

/**
 * tessera_evict_bytes() - evict BOs, used or not
 * @tdev: device that is awake
 * @bytes: until so much has become free; 0: as much as possible
 *
 * The caller holds no reservation.
 *
 * Return: bytes that have become free.
 */
u64 tessera_evict_bytes(struct tessera_device *tdev, u64 bytes)
{
	return evict_bytes(tdev, NULL, bytes);
}

/* ---- BO_CREATE ---- */

/* Return: 0 to try again, -ENOSPC, or an error that is final. */
static int make_room(struct tessera_device *tdev, struct dmem_cgroup_pool_state *limit)
{
	s64 ret = evict_one(tdev, limit, NULL);

	if (ret == -EAGAIN)
		return tessera_wait_running(tdev);
	if (ret == -ENOMEM)
		return -ENOSPC;

	return ret < 0 ? ret : 0;
}

/* A new BO has a range, which is cleared and keeps the device awake. */
static int local_begin(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	int ret = tessera_local_clear(tdev, &bo->local);

	if (ret)
		tessera_evict_free_local(bo);
	else
		tessera_pm_get_awake(tdev);

	return ret;
}

/**
 * tessera_evict_place() - give a new LOCAL BO memory
 * @bo: BO without memory and without users, flags set
 * @quota: quota of the file
 *
 * In local memory, if need be after others have been evicted. If all of them are in use, an
 * ordinary BO starts in system memory. Memory that the file has given up, and that a worker has
 * not freed yet, is worth waiting for.
 *
 * Return: 0, -ENOSPC if the BO is too large, or LOCAL_ONLY and there is no room, -ENOMEM, -ENODEV,
 * -EIO, -ERESTARTSYS.
 */
int tessera_evict_place(struct tessera_bo *bo, struct tessera_quota *quota)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	struct dmem_cgroup_pool_state *limit;
	bool leaving;
	int ret;

	if (bo->base.base.size > tdev->info.local_size)
		return -ENOSPC;

	do {
		leaving = tessera_quota_leaving(quota);
		ret = local_get(bo, &limit);
		if (!ret)
			return local_begin(bo);
		if (ret != -ENOSPC && ret != -EAGAIN)
			return ret;
		ret = leaving ? tessera_quota_settle(quota) : make_room(tdev, limit);
		dmem_cgroup_pool_state_put(limit);
	} while (!ret);

	if (ret == -ENOSPC && !(bo->flags & DRM_TESSERA_BO_LOCAL_ONLY))
		ret = tessera_bo_get_system(bo);

	return ret;
}

/**
 * tessera_evict_track() - a BO may be evicted, or released if it is in system memory
 * @bo: BO; does nothing for one that is not LOCAL, or that is LOCAL_ONLY
 */
void tessera_evict_track(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);

	if (!(bo->flags & DRM_TESSERA_BO_LOCAL) || bo->flags & DRM_TESSERA_BO_LOCAL_ONLY)
		return;

	if (!drm_mm_node_allocated(&bo->local)) {
		tessera_swap_track(bo);
		return;
	}

	mutex_lock(&tdev->evict.lock);
	bo->used = atomic64_inc_return(&tdev->evict.clock);
	bo->seen = bo->used;
	list_add_tail(&bo->lru, &tdev->evict.lru);
	tdev->evict.count++;
	mutex_unlock(&tdev->evict.lock);
}

/**
 * tessera_evict_forget() - the end of tessera_evict_track()
 * @bo: BO
 */
void tessera_evict_forget(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);

	mutex_lock(&tdev->evict.lock);
	if (!list_empty(&bo->lru)) {
		list_del_init(&bo->lru);
		tdev->evict.count--;
	}
	mutex_unlock(&tdev->evict.lock);
}

/**
 * tessera_evict_prefer() - user space does not need the contents of a BO: evict it first
 * @bo: BO
 */
void tessera_evict_prefer(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);

	mutex_lock(&tdev->evict.lock);
	if (!list_empty(&bo->lru))
		list_move(&bo->lru, &tdev->evict.lru);
	mutex_unlock(&tdev->evict.lock);
}

/**
 * tessera_evict_add_vm_bo() - a VM may have a BO that was evicted before
 * @vm_bo: BO in the VM; the BO's reservation is held
 */
void tessera_evict_add_vm_bo(struct drm_gpuvm_bo *vm_bo)
{
	struct tessera_bo *bo = to_tessera_bo(vm_bo->obj);

	if (bo->flags & DRM_TESSERA_BO_LOCAL && !drm_mm_node_allocated(&bo->local))
		drm_gpuvm_bo_evict(vm_bo, true);
}

/* ---- SUBMIT ---- */

/* For all VMs together, lest two working sets evict each other in each SUBMIT. */
static bool budget_take(struct tessera_device *tdev, u64 bytes)
{
	bool taken;

	mutex_lock(&tdev->evict.lock);
	if (time_after(jiffies, tdev->evict.window + BUDGET_TIME)) {
		tdev->evict.window = jiffies;
		tdev->evict.budget = tdev->info.local_size / BUDGET_SHARE;
	}
	/* The first of a window may be as large as it wants. */
	taken = bytes <= tdev->evict.budget ||
		tdev->evict.budget == tdev->info.local_size / BUDGET_SHARE;
	if (taken)
		tdev->evict.budget -= min(bytes, tdev->evict.budget);
	mutex_unlock(&tdev->evict.lock);

	return taken;
}

/* Return: whether the BO has a range in local memory. */
static bool find_room(struct tessera_bo *bo, struct tessera_vm *vm)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	struct tessera_evict_keep *keep = vm->evict_keep;
	struct dmem_cgroup_pool_state *limit;
	bool found = !local_get(bo, &limit);

	if (found)
		return true;
	keep->refused = true;
	if (vm->refused >= REFUSED_MAX && budget_take(tdev, bo->base.base.size)) {
		vm->refused = 0;
		while (!found && keep->count < TESSERA_EVICT_KEEP &&
		       evict_one(tdev, limit, keep) > 0) {
			dmem_cgroup_pool_state_put(limit);
			found = !local_get(bo, &limit);
		}
	}
	dmem_cgroup_pool_state_put(limit);

	return found;
}

/* SUBMIT restores nothing during resets and hibernation. */
static bool may_move_in(struct tessera_device *tdev)
{
	return tessera_state(tdev) == TESSERA_RUNNING && !READ_ONCE(tdev->evict.hold);
}

/**
 * tessera_evict_validate() - &drm_gpuvm_ops.vm_bo_validate: bring a BO back, if that is possible
 * @vm_bo: BO in a VM, both locked
 * @exec: the locks
 *
 * Return: 0 if the BO works, here or there; -ENOMEM if its pages were released and cannot be had.
 */
int tessera_evict_validate(struct drm_gpuvm_bo *vm_bo, struct drm_exec *exec)
{
	struct tessera_bo *bo = to_tessera_bo(vm_bo->obj);
	struct tessera_vm *vm = to_tessera_vm(vm_bo->vm);

	if (drm_mm_node_allocated(&bo->local))
		return 0;

	if (may_move_in(vm->tdev) && tessera_evict_idle(bo) && find_room(bo, vm) &&
	    !tessera_move_in(bo))
		tessera_evict_track(bo);

	return tessera_move_back(bo);
}

/**
 * tessera_evict_submit() - a VM is used: bring its BOs back
 * @vm: VM whose jobs are about to be armed
 * @exec: reservations of the VM and of its shared BOs
 * @keep: for tessera_evict_put(), once they are unlocked
 *
 * Waits for nothing. While the device is not within reach, BOs stay in system memory.
 *
 * Return: 0 or -ENOMEM.
 */
int tessera_evict_submit(struct tessera_vm *vm, struct drm_exec *exec,
			 struct tessera_evict_keep *keep)
{
	struct tessera_device *tdev = vm->tdev;
	int ret;

	WRITE_ONCE(vm->used, atomic64_inc_return(&tdev->evict.clock)); /* who evicts peeks */

	vm->evict_keep = keep;
	ret = drm_gpuvm_validate(&vm->base, exec);
	vm->evict_keep = NULL;
	vm->refused += keep->refused;

	return ret;
}

/**
 * tessera_evict_put() - drop references that were kept
 * @keep: references; the caller holds no reservation
 */
void tessera_evict_put(struct tessera_evict_keep *keep)
{
	while (keep->count)
		drm_gem_object_put(keep->obj[--keep->count]);
}

/**
 * tessera_evict_hold() - the machine is about to hibernate, or has
 * @tdev: device
 * @hold: true until it has
 *
 * Local memory would lose its contents, so all of it goes to system memory and stays there.
 */
void tessera_evict_hold(struct tessera_device *tdev, bool hold)
{
	WRITE_ONCE(tdev->evict.hold, hold);
	if (hold && !tessera_pm_get(tdev)) {
		tessera_evict_bytes(tdev, 0);
		tessera_pm_put(tdev);
	}
}

/* A cgroup gets less than it has. */
static int evict_cgroup(struct dmem_cgroup_pool_state *pool, u64 bytes, void *data)
{
	struct tessera_device *tdev = data;
	u64 done;

	if (tessera_pm_get(tdev))
		return -ENOSPC;
	done = evict_bytes(tdev, pool, bytes);
	tessera_pm_put(tdev);

	return done ? 0 : -ENOSPC;
}

static const struct dmem_cgroup_ops tessera_evict_cgroup_ops = {
	.reclaim = evict_cgroup,
};

static void tessera_evict_unregister(struct drm_device *drm, void *region)
{
	dmem_cgroup_unregister_region(region);
}

/**
 * tessera_evict_register() - let cgroups limit local memory
 * @tdev: device with its local memory found
 *
 * Does nothing if the kernel has no such controller.
 *
 * Return: 0 or a negative error.
 */
int tessera_evict_register(struct tessera_device *tdev)
{
	const struct dmem_cgroup_init init = {
		.size = tdev->info.local_size,
		.ops = &tessera_evict_cgroup_ops,
		.reclaim_priv = tdev,
	};
	struct dmem_cgroup_region *region;

	if (!init.size)
		return 0;

	region = dmem_cgroup_register_region(&init, "drm/%s/local", tdev->drm.unique);
	if (IS_ERR_OR_NULL(region))
		return PTR_ERR_OR_ZERO(region);
	tdev->evict.region = region;

	return drmm_add_action_or_reset(&tdev->drm, tessera_evict_unregister, region);
}

/**
 * tessera_evict_init() - set up what eviction needs
 * @tdev: device
 *
 * Return: 0 or a negative error.
 */
int tessera_evict_init(struct tessera_device *tdev)
{
	INIT_LIST_HEAD(&tdev->evict.lru);
	tdev->evict.window = jiffies - 2 * BUDGET_TIME;

	return drmm_mutex_init(&tdev->drm, &tdev->evict.lock);
}
