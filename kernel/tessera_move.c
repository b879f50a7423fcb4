// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Moves
 *
 * A LOCAL BO prefers local memory and works in system memory as well. A move takes it from one to
 * the other. GPU addresses, mappings of the CPU and contents do not change.
 *
 * The CPU makes the move, in the ioctl that needs it, with the BO's reservation held:
 *
 * 1. prepare: allocate the pages of the destination, and page tables for large pages that become
 *    small ones;
 * 2. copy: take the BO from the CPU, whose next access waits for the reservation, and copy it
 *    through BAR 2;
 * 3. switch: rewrite the entries of each VM and invalidate them. From here on nothing fails.
 *
 * Only an idle BO is moved: all fences of its reservation and of the reservations of its VMs have
 * signaled, and no bind and no framebuffer needs it (&tessera_bo.needed). SUBMIT and binds lock
 * the reservation before they use the BO. So no job and no bind meets a BO that is being moved, no
 * fence depends on a move, and a move waits for no fence.
 *
 * A move does not wait for recovery either. If the device is not within reach, or is cut off
 * during the copy, the move fails, and the BO is where it was.
 *
 * *Why not TTM?* Its interface differs too much between the kernels that this driver supports.
 * *Why not the copy engine?* The move would be a job that other fences depend on, and recovery
 * would have to finish it before it could finish them.
 */

#include <linux/dma-mapping.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_gpuvm.h>
#include <drm/drm_prime.h>
#include <drm/drm_vma_manager.h>

#include "tessera_as.h"
#include "tessera_check.h"
#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_evict.h"
#include "tessera_gem.h"
#include "tessera_local.h"
#include "tessera_pm.h"
#include "tessera_trace.h"
#include "tessera_vm.h"

/* Recovery waits for the copy of so many pages at most. */
#define COPY_PAGES	(SZ_1M >> PAGE_SHIFT)

/**
 * struct tessera_move_vm - a VM that maps the BO
 */
struct tessera_move_vm {
	/** @vm: VM, a reference to its &drm_gpuvm. */
	struct tessera_vm *vm;
	/** @leaves: Tables of small pages that may be missing. */
	u64 leaves;
	/** @dirs: Tables of higher levels that may be missing. */
	u64 dirs;
	/** @pool: Those tables. */
	struct tessera_pt_pool pool;
};

/**
 * struct tessera_move - a move of a BO whose reservation is held
 */
struct tessera_move {
	/** @bo: BO. */
	struct tessera_bo *bo;
	/** @local: It moves to local memory, else to system memory. */
	bool local;
	/** @unmapped: No VM has entries of it. */
	bool unmapped;
	/** @count: Number of VMs. */
	unsigned int count;
	/** @vms: The VMs. */
	struct tessera_move_vm *vms;
};

/* ---- pages in system memory ---- */

/*
 * These pages are pinned, so all BOs together get at most half of the memory. If others can be
 * released for it, they are. Inside drm_dev_enter(), or the device is gone.
 */
static int bo_get_pages(struct tessera_bo *bo)
{
	u64 most = (u64)totalram_pages() / 2 << PAGE_SHIFT, size = bo->base.base.size;
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	struct page **pages = ERR_PTR(-ENOMEM);
	u64 outside = atomic64_add_return(size, &tdev->evict.outside);

	if (outside > most) {
		if (!drm_dev_is_unplugged(&tdev->drm))
			tessera_swap_out(tdev, outside - most);
		outside = atomic64_read(&tdev->evict.outside);
	}
	if (outside <= most || drm_dev_is_unplugged(&tdev->drm))
		pages = drm_gem_get_pages(&bo->base.base);
	if (IS_ERR(pages)) {
		atomic64_sub(size, &tdev->evict.outside);
		return PTR_ERR(pages);
	}
	bo->base.pages = pages;

	return 0;
}

/* If their contents are wanted, they are @dirty. */
static void bo_free_pages(struct tessera_bo *bo, bool dirty)
{
	drm_gem_put_pages(&bo->base.base, bo->base.pages, dirty, false);
	bo->base.pages = NULL;
	atomic64_sub(bo->base.base.size, &to_tessera_device(bo->base.base.dev)->evict.outside);
}

/* The caller keeps everybody else away. Unplug undoes the DMA mapping, if it was faster. */
static void bo_put_pages(struct tessera_bo *bo)
{
	tessera_swap_forget(bo);
	tessera_bo_unmap_dma(bo);
	bo_free_pages(bo, false);
	shmem_truncate_range(file_inode(bo->base.base.filp), 0, (loff_t)-1);
}

/* Inside drm_dev_enter(). */
static int bo_map_pages(struct tessera_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;
	struct sg_table *sgt;
	int ret;

	sgt = drm_prime_pages_to_sg(obj->dev, bo->base.pages, obj->size >> PAGE_SHIFT);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);

	ret = dma_map_sgtable(obj->dev->dev, sgt, DMA_BIDIRECTIONAL, 0);
	if (ret) {
		sg_free_table(sgt);
		kfree(sgt);
		return ret;
	}
	bo->base.sgt = sgt;
	tessera_check_bo_taken(to_tessera_device(bo->base.base.dev), bo);

	return 0;
}

/**
 * tessera_bo_get_system() - give a LOCAL BO memory outside of local memory
 * @bo: new BO without users
 *
 * Return: 0, -ENOMEM or -ENODEV.
 */
int tessera_bo_get_system(struct tessera_bo *bo)
{
	int ret = -ENODEV, cookie;

	if (!drm_dev_enter(bo->base.base.dev, &cookie))
		return ret;

	ret = bo_get_pages(bo);
	if (!ret) {
		ret = bo_map_pages(bo);
		if (ret)
			bo_put_pages(bo);
	}
	drm_dev_exit(cookie);

	return ret;
}

/**
 * tessera_bo_put_system() - free it again
 * @bo: LOCAL BO without users; does nothing for one in local memory
 *
 * The DMA mapping is undone by then.
 */
void tessera_bo_put_system(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);

	tessera_swap_forget(bo);
	if (bo->base.pages)
		bo_free_pages(bo, false);
	if (bo->purged)
		atomic64_sub(bo->base.base.size, &tdev->evict.released);
}

/* ---- a move ---- */

/*
 * Large pages that lie in the mappings of the BO as a whole, each of which may become a table. If
 * there are no entries, all tables can be missing. Unmapping makes them fewer.
 */
static void vm_bo_count_tables(struct drm_gpuvm_bo *vm_bo, struct tessera_move *move,
			       struct tessera_move_vm *mv)
{
	const u64 huge = BIT_ULL(TSR_HUGE_SHIFT);
	struct drm_gpuva *va;

	drm_gpuvm_bo_for_each_va(va, vm_bo) {
		u64 first = ALIGN(va->va.addr, huge);
		u64 end = ALIGN_DOWN(va->va.addr + va->va.range, huge);

		if (move->unmapped)
			tessera_pt_count_map(&mv->vm->tdev->info, va->va.addr, va->va.range,
					     &mv->dirs, &mv->leaves);
		else if (end > first)
			mv->leaves += (end - first) >> TSR_HUGE_SHIFT;
	}
}

/* VMs only leave: a bind that adds one needs the BO, which is then not moved. */
static int move_list_vms(struct tessera_move *move)
{
	struct drm_gem_object *obj = &move->bo->base.base;
	struct drm_gpuvm_bo *vm_bo;
	unsigned int count = 0;

	mutex_lock(tessera_gpuva_lock(obj));
	drm_gem_for_each_gpuvm_bo(vm_bo, obj)
		count++;
	mutex_unlock(tessera_gpuva_lock(obj));
	if (!count)
		return 0;

	move->vms = kvcalloc(count, sizeof(*move->vms), GFP_KERNEL | __GFP_NOWARN);
	if (!move->vms)
		return -ENOMEM;

	tessera_delay(TESSERA_DELAY_MOVE_LIST);
	mutex_lock(tessera_gpuva_lock(obj));
	drm_gem_for_each_gpuvm_bo(vm_bo, obj) {
		struct tessera_move_vm *mv = &move->vms[move->count];

		if (WARN_ON_ONCE(move->count == count))
			break;
		mv->vm = to_tessera_vm(vm_bo->vm);
		drm_gpuvm_get(&mv->vm->base);
		vm_bo_count_tables(vm_bo, move, mv);
		tessera_pt_pool_init(&mv->pool);
		move->count++;
	}
	mutex_unlock(tessera_gpuva_lock(obj));

	return 0;
}

/* Inside drm_dev_enter(). Whatever happens, move_end() follows. */
static int move_begin(struct tessera_move *move, struct tessera_bo *bo, bool local)
{
	struct drm_device *drm = bo->base.base.dev;
	unsigned int i;
	int ret;

	trace_tessera_move_begin(bo, local, 0);
	*move = (struct tessera_move){ .bo = bo, .local = local, .unmapped = bo->purged };
	ret = move_list_vms(move);
	for (i = 0; i < move->count && !ret; i++)
		ret = tessera_pt_reserve_uncharged(drm->dev, &move->vms[i].pool,
						   move->vms[i].dirs, move->vms[i].leaves);

	return ret;
}

static void move_drop(struct tessera_move *move)
{
	struct device *dev = move->bo->base.base.dev->dev;
	unsigned int i;

	for (i = 0; i < move->count; i++) {
		tessera_pt_pool_fini(dev, &move->vms[i].pool);
		drm_gpuvm_put(&move->vms[i].vm->base);
	}
	kvfree(move->vms);
}

static void move_end(struct tessera_move *move, int ret)
{
	struct tessera_device *tdev = to_tessera_device(move->bo->base.base.dev);
	u64 size = move->bo->base.base.size;

	move_drop(move);
	trace_tessera_move_end(move->bo, move->local, ret);
	if (ret)
		return;

	atomic64_inc(move->local ? &tdev->evict.restores : &tdev->evict.evictions);
	atomic64_add(size, move->local ? &tdev->evict.restored : &tdev->evict.evicted);
}

/* Inside the gate. */
static void move_copy_pages(struct tessera_move *move, u64 first, unsigned int count)
{
	struct tessera_bo *bo = move->bo;
	void __iomem *io = tessera_local_cpu(to_tessera_device(bo->base.base.dev),
					     bo->local.start + (first << PAGE_SHIFT));
	unsigned int i;

	for (i = 0; i < count; i++, io += PAGE_SIZE) {
		void *page = kmap_local_page(bo->base.pages[first + i]);

		if (move->local)
			memcpy_toio(io, page, PAGE_SIZE);
		else
			memcpy_fromio(page, io, PAGE_SIZE);
		kunmap_local(page);
	}
}

/* Return: 0, -EAGAIN if the device is not within reach, -ERESTARTSYS. */
static int move_copy(struct tessera_move *move)
{
	struct tessera_device *tdev = to_tessera_device(move->bo->base.base.dev);
	u64 pages = move->bo->base.base.size >> PAGE_SHIFT, at, count;
	bool present;
	int cookie;

	drm_vma_node_unmap(&move->bo->base.base.vma_node, tdev->drm.anon_inode->i_mapping);

	for (at = 0; at < pages; at += count) {
		count = min_t(u64, pages - at, COPY_PAGES);
		if (fatal_signal_pending(current))
			return -ERESTARTSYS;
		cond_resched();
		if (!tessera_enter(tdev, &cookie))
			return -EAGAIN;
		move_copy_pages(move, at, count);
		/* A device that does not answer now may not have answered before. */
		present = tessera_device_present(tdev);
		if (!present)
			tessera_cut_off(tdev);
		tessera_leave(tdev, cookie);
		if (!present)
			return -EAGAIN;
	}

	return 0;
}

static void map_sgt(struct tessera_move_vm *mv, const struct drm_gpuva *va, u64 bits,
		    const struct sg_table *sgt)
{
	u64 addr = va->va.addr, left = va->va.range, skip = va->gem.offset;
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		u64 len = sg_dma_len(sg);

		if (skip >= len) {
			skip -= len;
			continue;
		}
		len = min(len - skip, left);
		tessera_pt_map(mv->vm->pgt, &mv->pool, addr, len, sg_dma_address(sg) + skip, bits);
		addr += len;
		left -= len;
		skip = 0;
		if (!left)
			break;
	}
}

static void move_map(struct tessera_move *move, struct tessera_move_vm *mv, struct drm_gpuva *va)
{
	struct tessera_vma *vma = container_of(va, struct tessera_vma, base);
	struct tessera_bo *bo = move->bo;

	if (move->local)
		vma->bits |= TSR_PTE_LOCAL__MASK;
	else
		vma->bits &= ~TSR_PTE_LOCAL__MASK;
	if (!mv->vm->pgt)
		return;

	if (move->local)
		tessera_pt_map(mv->vm->pgt, &mv->pool, va->va.addr, va->va.range,
			       bo->local.start + va->gem.offset, vma->bits);
	else
		map_sgt(mv, va, vma->bits, bo->base.sgt);
}

/* The BO in a VM, if mappings of it are left: op_lock keeps those, and they keep the vm_bo. */
static struct drm_gpuvm_bo *find_vm_bo(struct tessera_bo *bo, struct tessera_vm *vm)
{
	struct drm_gem_object *obj = &bo->base.base;
	struct drm_gpuvm_bo *vm_bo, *found = NULL;

	lockdep_assert_held(&vm->op_lock);

	mutex_lock(tessera_gpuva_lock(obj));
	drm_gem_for_each_gpuvm_bo(vm_bo, obj) {
		if (vm_bo->vm == &vm->base && !list_empty(&vm_bo->list.gpuva))
			found = vm_bo;
	}
	mutex_unlock(tessera_gpuva_lock(obj));

	return found;
}

/*
 * A device that does not confirm the invalidation is cut off, and gets the new entries when it
 * comes back. So there is no error in that.
 */
static void move_switch_vm(struct tessera_move *move, struct tessera_move_vm *mv)
{
	struct tessera_vm *vm = mv->vm;
	u64 start = U64_MAX, end = 0;
	struct drm_gpuvm_bo *vm_bo;
	struct drm_gpuva *va;

	mutex_lock(&vm->op_lock);
	vm_bo = find_vm_bo(move->bo, vm);
	if (vm_bo) {
		drm_gpuvm_bo_for_each_va(va, vm_bo) {
			move_map(move, mv, va);
			start = min(start, va->va.addr);
			end = max(end, va->va.addr + va->va.range);
		}
	}
	if (mv->pool.dirty)
		tessera_as_invalidate(vm->tdev, vm->as, start, end - start);
	mutex_unlock(&vm->op_lock);
}

/* All VMs have the new entries afterwards, and know whether to bring the BO back. */
static void move_switch(struct tessera_move *move)
{
	struct drm_gem_object *obj = &move->bo->base.base;
	struct drm_gpuvm_bo *vm_bo;
	unsigned int i;

	for (i = 0; i < move->count; i++)
		move_switch_vm(move, &move->vms[i]);

	mutex_lock(tessera_gpuva_lock(obj));
	drm_gem_for_each_gpuvm_bo(vm_bo, obj)
		drm_gpuvm_bo_evict(vm_bo, !move->local);
	mutex_unlock(tessera_gpuva_lock(obj));
}

/**
 * tessera_move_out() - move a BO from local memory to system memory
 * @bo: idle BO whose reservation is held
 *
 * Return: 0, -EAGAIN if the device is not within reach, -ENOMEM, -ERESTARTSYS.
 */
int tessera_move_out(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	struct tessera_move move;
	int ret, cookie;

	if (!drm_dev_enter(&tdev->drm, &cookie))
		return -EAGAIN;

	ret = bo_get_pages(bo);
	if (ret)
		goto out;

	ret = move_begin(&move, bo, false);
	ret = ret ?: move_copy(&move);
	ret = ret ?: bo_map_pages(bo);
	if (!ret) {
		tessera_delay(TESSERA_DELAY_MOVE_SWITCH);
		move_switch(&move);
		tessera_evict_free_local(bo);
		tessera_pm_put(tdev);
		tessera_swap_track(bo);
	}
	move_end(&move, ret);
	if (ret)
		bo_put_pages(bo);
out:
	drm_dev_exit(cookie);
	return ret;
}

/**
 * tessera_move_release() - leave the pages of a BO in system memory to the kernel
 * @bo: idle BO whose reservation is held, with pages, unmapped by tessera_bo_unmap_vms()
 *
 * Inside drm_dev_enter(). Reclaim calls it, so it does not allocate.
 */
void tessera_move_release(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);

	drm_vma_node_unmap(&bo->base.base.vma_node, tdev->drm.anon_inode->i_mapping);
	tessera_bo_unmap_dma(bo);
	bo_free_pages(bo, true);
	atomic64_add(bo->base.base.size, &tdev->evict.released);
	trace_tessera_move_release(bo, false, 0);
}

/* A BO that was released has pages, or a range. */
static void bo_forget_release(struct tessera_bo *bo)
{
	if (!bo->purged)
		return;

	WRITE_ONCE(bo->purged, false); /* a dump may look */
	atomic64_sub(bo->base.base.size, &to_tessera_device(bo->base.base.dev)->evict.released);
}

/**
 * tessera_move_back() - get the pages of a BO back that were released
 * @bo: BO whose reservation is held; does nothing if it was not released
 *
 * Maps it where it was mapped. After an unplug only the CPU gets it.
 *
 * Return: 0 or -ENOMEM.
 */
int tessera_move_back(struct tessera_bo *bo)
{
	struct tessera_move move;
	int ret, cookie;
	bool entered;

	if (!bo->purged)
		return 0;

	entered = drm_dev_enter(bo->base.base.dev, &cookie);
	ret = bo_get_pages(bo);
	if (ret || !entered)
		goto out;

	ret = move_begin(&move, bo, false);
	ret = ret ?: bo_map_pages(bo);
	if (ret)
		bo_free_pages(bo, false);
	else
		move_switch(&move);
	move_drop(&move);
out:
	if (!ret) {
		bo_forget_release(bo);
		tessera_swap_track(bo);
	}
	if (entered)
		drm_dev_exit(cookie);

	return ret;
}

/**
 * tessera_move_in() - move a BO from system memory to local memory
 * @bo: idle BO whose reservation is held, with a range of local memory; the device is awake
 *
 * Its pages may have been released.
 *
 * Return: as tessera_move_out(); after an error the BO has no range.
 */
int tessera_move_in(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	struct tessera_move move;
	int ret, cookie;

	if (!drm_dev_enter(&tdev->drm, &cookie)) {
		tessera_evict_free_local(bo);
		return -EAGAIN;
	}

	ret = bo->purged ? bo_get_pages(bo) : 0;
	if (ret) {
		tessera_evict_free_local(bo);
		goto out;
	}

	ret = move_begin(&move, bo, true);
	ret = ret ?: move_copy(&move);
	if (ret) {
		tessera_evict_free_local(bo);
		if (bo->purged)
			bo_free_pages(bo, false);
	} else {
		move_switch(&move);
		bo_forget_release(bo);
		bo_put_pages(bo);
		tessera_pm_get_awake(tdev);
	}
	move_end(&move, ret);
out:
	drm_dev_exit(cookie);

	return ret;
}
