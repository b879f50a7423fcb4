// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Buffer objects
 *
 * A BO has its memory from one of three places:
 *
 * - system memory, by the shmem helper: pages come with the first use, are mapped
 *   for DMA with the first bind or export, and stay until the BO is freed;
 * - another device, by PRIME import: mapped for DMA at import;
 * - local memory: a range of BAR 2. Such a BO may be moved to pages of shmem and back, see
 *   tessera_move.c.
 *
 * A BO that is mapped in a VM cannot go away, because the VM's mapping holds a
 * reference that is dropped only after the TLB has forgotten the mapping. So no
 * fence has to be looked at before a BO is freed.
 *
 * What user space says it does not need goes when memory is short: see
 * tessera_shrinker.c.
 *
 * When the device is unplugged every DMA mapping is undone, while the pages stay
 * for whoever has them in an address space of the CPU.
 */

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>

#include <drm/drm_drv.h>
#include <drm/drm_prime.h>
#include <drm/tessera_drm.h>

#include "tessera_check.h"
#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_evict.h"
#include "tessera_gem.h"
#include "tessera_local.h"
#include "tessera_mmu.h"
#include "tessera_pm.h"
#include "tessera_quota.h"
#include "tessera_shrinker.h"
#include "tessera_vm.h"

/**
 * tessera_bo_unmap_dma() - undo the DMA mapping, if there is one
 * @bo: BO; the caller keeps everybody else away from it
 */
void tessera_bo_unmap_dma(struct tessera_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;
	struct sg_table *sgt = bo->base.sgt;

	tessera_check_bo_freed(to_tessera_device(obj->dev), bo);
	bo->base.sgt = NULL;
	if (!sgt)
		return;

	if (obj->import_attach) {
		dma_buf_unmap_attachment_unlocked(obj->import_attach, sgt, DMA_BIDIRECTIONAL);
		return;
	}

	dma_unmap_sgtable(obj->dev->dev, sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(sgt);
	kfree(sgt);
}

/* From here on an unplug finds the BO, and it can be bound. */
static void tessera_bo_track(struct tessera_device *tdev, struct tessera_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;

	tessera_prime_lock(tessera_gpuva_lock(obj));

	mutex_lock(&tdev->bos.lock);
	list_add_tail(&bo->node, &tdev->bos.list);
	mutex_unlock(&tdev->bos.lock);
}

/* The last part of the end of a LOCAL BO. */
static void tessera_local_bo_free(struct tessera_bo *bo)
{
	struct drm_gem_object *obj = &bo->base.base;
	struct tessera_device *tdev = to_tessera_device(obj->dev);

	if (drm_mm_node_allocated(&bo->local)) {
		tessera_evict_free_local(bo);
		tessera_pm_put(tdev);
	}
	tessera_bo_put_system(bo);
	if (bo->quota) {
		tessera_quota_uncharge(bo->quota, TESSERA_QUOTA_LOCAL, obj->size);
		tessera_quota_put(bo->quota);
	}
	drm_gem_object_release(obj);
	kfree(bo);
}

static void tessera_gem_free(struct drm_gem_object *obj)
{
	struct tessera_device *tdev = to_tessera_device(obj->dev);
	struct tessera_bo *bo = to_tessera_bo(obj);
	struct drm_gem_object *private_resv = bo->private_resv;

	tessera_delay(TESSERA_DELAY_GEM_FREE);
	tessera_evict_forget(bo);
	tessera_swap_forget(bo);
	tessera_bo_forget_madvise(bo);

	/* Under the lock: an unplug either finds the BO here or finds it unmapped. */
	mutex_lock(&tdev->bos.lock);
	tessera_bo_unmap_dma(bo);
	list_del_init(&bo->node);
	mutex_unlock(&tdev->bos.lock);

	if (bo->dummy)
		__free_page(bo->dummy);
	kfree(bo->label);
	mutex_destroy(&bo->label_lock);

	if (bo->flags & DRM_TESSERA_BO_LOCAL)
		tessera_local_bo_free(bo);
	else
		drm_gem_shmem_free(&bo->base);

	if (private_resv)
		drm_gem_object_put(private_resv);
}

static struct dma_buf *tessera_gem_export(struct drm_gem_object *obj, int flags)
{
	struct tessera_bo *bo = to_tessera_bo(obj);
	struct dma_buf *dmabuf;
	struct sg_table *sgt;
	bool first;
	int ret;

	/* Its reservation belongs to the VM; a stranger must not lock that. */
	if (bo->private_resv)
		return ERR_PTR(-EPERM);

	/* The exporter needs it, and importers cannot be asked. */
	ret = tessera_bo_begin_export(bo, &first);
	if (ret)
		return ERR_PTR(ret);

	/*
	 * Mapping for DMA gives the CPU's caches to memory, which must not happen any more once
	 * another device may have written there.
	 */
	if (!obj->import_attach && !(bo->flags & DRM_TESSERA_BO_LOCAL)) {
		sgt = tessera_bo_map_dma(bo);
		if (IS_ERR(sgt)) {
			dmabuf = ERR_CAST(sgt);
			goto out;
		}
	}

	dmabuf = drm_gem_prime_export(obj, flags);
out:
	/* The core holds its lock of names, so no other export of the BO has begun. */
	if (IS_ERR(dmabuf) && first)
		WRITE_ONCE(bo->exported, false);

	return dmabuf;
}

static int tessera_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	if (to_tessera_bo(obj)->flags & DRM_TESSERA_BO_NO_MMAP)
		return -EPERM;

	return drm_gem_shmem_mmap(to_drm_gem_shmem_obj(obj), vma);
}

/*
 * The helper's fault handler counts pages from the start of the mapping, which is the first page of
 * the BO only as long as the mapping is not split and a dma-buf is mapped whole. This one counts
 * from the fake offset, which the core keeps right for every piece.
 * Documentation/driver/README.md has the details.
 */
static vm_fault_t tessera_gem_fault(struct vm_fault *vmf)
{
	struct drm_gem_object *obj = vmf->vma->vm_private_data;
	struct drm_gem_shmem_object *shmem = to_drm_gem_shmem_obj(obj);
	pgoff_t page = vmf->pgoff - drm_vma_node_start(&obj->vma_node);
	vm_fault_t ret = VM_FAULT_SIGBUS;

	dma_resv_lock(obj->resv, NULL);
	/* A purged BO has no pages. The mapping holds them otherwise. */
	if (page < obj->size >> PAGE_SHIFT && shmem->pages && shmem->madv >= 0)
		ret = vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(shmem->pages[page]));
	dma_resv_unlock(obj->resv);

	return ret;
}

/* The helper exports its open and close only as members of its operations. */
static void tessera_gem_vm_open(struct vm_area_struct *vma)
{
	drm_gem_shmem_vm_ops.open(vma);
}

static void tessera_gem_vm_close(struct vm_area_struct *vma)
{
	drm_gem_shmem_vm_ops.close(vma);
}

static const struct vm_operations_struct tessera_gem_vm_ops = {
	.fault = tessera_gem_fault,
	.open = tessera_gem_vm_open,
	.close = tessera_gem_vm_close,
};

static const struct drm_gem_object_funcs tessera_gem_funcs = {
	.free = tessera_gem_free,
	.export = tessera_gem_export,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = tessera_gem_mmap,
	.vm_ops = &tessera_gem_vm_ops,
};

/*
 * Someone still has local memory mapped while the device is gone for good: give all of the
 * BO one page of RAM, so that the process notices nothing worse than forgetful
 * memory.
 */
static vm_fault_t tessera_local_fault_gone(struct tessera_bo *bo, struct vm_fault *vmf)
{
	if (!READ_ONCE(bo->dummy)) {
		struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);

		if (!page)
			return VM_FAULT_OOM;
		if (cmpxchg(&bo->dummy, NULL, page))
			__free_page(page);
	}

	return vmf_insert_pfn_prot(vmf->vma, vmf->address, page_to_pfn(READ_ONCE(bo->dummy)),
				   vm_get_page_prot(vmf->vma->vm_flags));
}

/*
 * Recovery waits for who is inside the gate, and reclaim may wait for fences, that is, for
 * recovery: a page table for the process that is missing is taken without reclaim.
 */
static vm_fault_t tessera_local_insert(struct tessera_bo *bo, struct vm_fault *vmf, u64 offset)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	unsigned int noreclaim = memalloc_noreclaim_save();
	vm_fault_t ret;

	ret = vmf_insert_pfn(vmf->vma, vmf->address,
			     PHYS_PFN(tessera_local_phys(tdev, bo->local.start + offset)));
	memalloc_noreclaim_restore(noreclaim);

	return ret;
}

/* Wait until the device is back, if the fault lets us without the lock of the address space. */
static vm_fault_t tessera_local_fault_wait(struct drm_gem_object *obj, struct vm_fault *vmf)
{
	struct tessera_device *tdev = to_tessera_device(obj->dev);

	if (!fault_flag_allow_retry_first(vmf->flags)) {
		tessera_wait_running(tdev);
		return VM_FAULT_NOPAGE;
	}
	if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
		return VM_FAULT_RETRY;

	drm_gem_object_get(obj);
	/* Knows whether the fault holds the lock of the address space or that of the mapping. */
	release_fault_lock(vmf);
	tessera_wait_running(tdev);
	drm_gem_object_put(obj);

	return VM_FAULT_RETRY;
}

/*
 * Lock the reservation, which a move holds as long as the copy takes. Return: 0, or what
 * the fault returns without it.
 */
static vm_fault_t tessera_local_fault_lock(struct drm_gem_object *obj, struct vm_fault *vmf)
{
	if (dma_resv_trylock(obj->resv))
		return 0;
	if (!fault_flag_allow_retry_first(vmf->flags))
		return dma_resv_lock_interruptible(obj->resv, NULL) ? VM_FAULT_NOPAGE : 0;
	if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
		return VM_FAULT_RETRY;

	drm_gem_object_get(obj);
	release_fault_lock(vmf);
	if (!dma_resv_lock_interruptible(obj->resv, NULL))
		dma_resv_unlock(obj->resv);
	drm_gem_object_put(obj);

	return VM_FAULT_RETRY;
}

/* Return: 0 if the BO is in local memory, and that is not within reach. */
static vm_fault_t tessera_local_fault_locked(struct tessera_bo *bo, struct vm_fault *vmf,
					     u64 offset)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	vm_fault_t ret = 0;
	int cookie;

	dma_resv_assert_held(bo->base.base.resv);

	if (bo->purged && tessera_move_back(bo))
		return VM_FAULT_SIGBUS;
	if (bo->base.pages)
		return vmf_insert_pfn_prot(vmf->vma, vmf->address,
					   page_to_pfn(bo->base.pages[offset >> PAGE_SHIFT]),
					   vm_get_page_prot(vmf->vma->vm_flags));

	if (tessera_enter(tdev, &cookie)) {
		ret = tessera_local_insert(bo, vmf, offset);
		tessera_leave(tdev, cookie);
	}

	return ret;
}

static vm_fault_t tessera_local_fault(struct vm_fault *vmf)
{
	struct drm_gem_object *obj = vmf->vma->vm_private_data;
	struct tessera_device *tdev = to_tessera_device(obj->dev);
	struct tessera_bo *bo = to_tessera_bo(obj);
	/* The page offset counts from the fake offset of the BO. */
	u64 offset = (u64)(vmf->pgoff - drm_vma_node_start(&obj->vma_node)) << PAGE_SHIFT;
	vm_fault_t ret;

	if (offset >= obj->size)
		return VM_FAULT_SIGBUS;

	ret = tessera_local_fault_lock(obj, vmf);
	if (ret)
		return ret;
	ret = tessera_local_fault_locked(bo, vmf, offset);
	dma_resv_unlock(obj->resv);
	if (ret)
		return ret;

	if (tessera_device_wedged(tdev) || tessera_state(tdev) == TESSERA_UNPLUGGED)
		return tessera_local_fault_gone(bo, vmf);

	return tessera_local_fault_wait(obj, vmf);
}

static const struct vm_operations_struct tessera_local_vm_ops = {
	.fault = tessera_local_fault,
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

static int tessera_local_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	if (to_tessera_bo(obj)->flags & DRM_TESSERA_BO_NO_MMAP)
		return -EPERM;
	if (vma_is_cow_mapping(vma))
		return -EINVAL;

	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = pgprot_writecombine(vm_get_page_prot(vma->vm_flags));

	return 0;
}

/*
 * No get_sg_table: other devices cannot reach local memory. A dma-buf of it can
 * be passed between processes and mmapped; attaching another device fails.
 */
static const struct drm_gem_object_funcs tessera_local_funcs = {
	.free = tessera_gem_free,
	.export = tessera_gem_export,
	.mmap = tessera_local_mmap,
	.vm_ops = &tessera_local_vm_ops,
};

/**
 * tessera_gem_create_object() - &drm_driver.gem_create_object
 * @drm: DRM device
 * @size: bytes
 *
 * Return: the embedded GEM object or an error pointer.
 */
struct drm_gem_object *tessera_gem_create_object(struct drm_device *drm, size_t size)
{
	struct tessera_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);

	if (!bo)
		return ERR_PTR(-ENOMEM);

	/* The helper frees an object it cannot finish with kfree(). */
	BUILD_BUG_ON(offsetof(struct tessera_bo, base.base));

	bo->base.base.funcs = &tessera_gem_funcs;
	bo->base.map_wc = true;
	/* No page table records stores of the device: reclaim must not drop clean pages. */
	bo->base.pages_mark_dirty_on_put = true;
	INIT_LIST_HEAD(&bo->node);
	INIT_LIST_HEAD(&bo->madv_node);
	INIT_LIST_HEAD(&bo->lru);
	INIT_LIST_HEAD(&bo->outside);
	mutex_init(&bo->label_lock);

	return &bo->base.base;
}

/**
 * tessera_gem_import_sgt() - &drm_driver.gem_prime_import_sg_table
 * @drm: DRM device
 * @attach: attachment to the dma-buf
 * @sgt: its memory
 *
 * Return: GEM object, or an error pointer; -EINVAL for memory that the MMU cannot map.
 */
struct drm_gem_object *tessera_gem_import_sgt(struct drm_device *drm,
					      struct dma_buf_attachment *attach,
					      struct sg_table *sgt)
{
	if (!tessera_pt_mappable(sgt))
		return ERR_PTR(-EINVAL);

	return drm_gem_shmem_prime_import_sg_table(drm, attach, sgt);
}

/**
 * tessera_gem_prime_import() - &drm_driver.gem_prime_import
 * @drm: DRM device
 * @dmabuf: dma-buf of another device or of our own
 *
 * Return: GEM object or an error pointer.
 */
struct drm_gem_object *tessera_gem_prime_import(struct drm_device *drm, struct dma_buf *dmabuf)
{
	struct drm_gem_object *obj;
	struct tessera_bo *bo;
	int cookie;

	if (!drm_dev_enter(drm, &cookie))
		return ERR_PTR(-ENODEV);

	obj = drm_gem_prime_import(drm, dmabuf);
	if (IS_ERR(obj))
		goto out;

	bo = to_tessera_bo(obj);
	if (obj->import_attach && obj->import_attach->dmabuf == dmabuf && list_empty(&bo->node)) {
		bo->read_only = !(dmabuf->file->f_mode & FMODE_WRITE);
		tessera_bo_track(to_tessera_device(drm), bo);
	}

out:
	drm_dev_exit(cookie);
	return obj;
}

static struct drm_gem_object *tessera_gem_create_local(struct tessera_device *tdev,
						       struct tessera_quota *quota, u64 size,
						       u32 flags)
{
	bool only = flags & DRM_TESSERA_BO_LOCAL_ONLY;
	struct drm_gem_object *obj;
	struct tessera_bo *bo;
	int ret;

	obj = tessera_gem_create_object(&tdev->drm, size);
	if (IS_ERR(obj))
		return obj;

	bo = to_tessera_bo(obj);
	bo->flags = flags;
	obj->funcs = &tessera_local_funcs;
	/* The file is for pages, while the BO is in system memory. */
	ret = drm_gem_object_init(&tdev->drm, obj, size);
	if (ret) {
		drm_gem_private_object_fini(obj);
		kfree(bo);
		return ERR_PTR(ret == -ENOSPC ? -ENOMEM : ret);
	}
	mapping_set_gfp_mask(obj->filp->f_mapping,
			     GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);

	ret = only ? tessera_quota_charge(quota, TESSERA_QUOTA_LOCAL, size) : 0;
	if (ret)
		goto err_free;
	if (only)
		bo->quota = tessera_quota_get(quota);

	ret = tessera_evict_place(bo, quota);
	if (ret)
		goto err_free;

	ret = drm_gem_create_mmap_offset(obj);
	if (ret)
		goto err_free;

	return obj;

err_free:
	tessera_bo_unmap_dma(bo);
	tessera_local_bo_free(bo);
	return ERR_PTR(ret);
}

static struct drm_gem_object *tessera_gem_create_system(struct tessera_device *tdev, u64 size)
{
	struct drm_gem_shmem_object *shmem = drm_gem_shmem_create(&tdev->drm, size);

	/* shmem has no memory for an inode; our own -ENOSPC is about local memory. */
	if (shmem == ERR_PTR(-ENOSPC))
		return ERR_PTR(-ENOMEM);

	return IS_ERR(shmem) ? ERR_CAST(shmem) : &shmem->base;
}

/**
 * tessera_bo_create() - make a BO
 * @tdev: device
 * @quota: who is charged for local memory
 * @size: bytes, page aligned and checked
 * @flags: enum drm_tessera_bo_flags, checked
 * @vm: VM the BO is private to or NULL
 * @vm_id: its id
 *
 * Return: the BO or an error pointer.
 */
struct tessera_bo *tessera_bo_create(struct tessera_device *tdev, struct tessera_quota *quota,
				     u64 size, u32 flags, struct tessera_vm *vm, u32 vm_id)
{
	struct drm_gem_object *obj;
	struct tessera_bo *bo;

	if (flags & DRM_TESSERA_BO_LOCAL)
		obj = tessera_gem_create_local(tdev, quota, size, flags);
	else
		obj = tessera_gem_create_system(tdev, size);
	if (IS_ERR(obj))
		return ERR_CAST(obj);

	bo = to_tessera_bo(obj);
	bo->flags = flags;
	bo->base.map_wc = !(flags & DRM_TESSERA_BO_CACHED);
	if (vm) {
		bo->vm_id = vm_id;
		bo->private_resv = tessera_vm_resv_obj(vm);
		drm_gem_object_get(bo->private_resv);
		obj->resv = bo->private_resv->resv;
	}
	tessera_bo_track(tdev, bo);
	tessera_evict_track(bo);

	return bo;
}

/**
 * tessera_gem_dumb_create() - &drm_driver.dumb_create
 * @file: file
 * @drm: DRM device
 * @args: width, height and bpp, checked by the core; the rest is out
 *
 * Return: 0 or a negative error.
 */
int tessera_gem_dumb_create(struct drm_file *file, struct drm_device *drm,
			    struct drm_mode_create_dumb *args)
{
	struct tessera_file *tfile = file->driver_priv;
	struct tessera_bo *bo;
	u32 pitch;
	int ret;

	if (check_mul_overflow(args->width, DIV_ROUND_UP(args->bpp, 8), &pitch))
		return -EINVAL;

	args->pitch = pitch;
	args->size = PAGE_ALIGN((u64)pitch * args->height);
	if (args->size > tessera_bo_max_size(to_tessera_device(drm)))
		return -EINVAL;

	bo = tessera_bo_create(to_tessera_device(drm), tfile->quota, args->size, 0, NULL, 0);
	if (IS_ERR(bo))
		return PTR_ERR(bo);

	ret = drm_gem_handle_create(file, &bo->base.base, &args->handle);
	drm_gem_object_put(&bo->base.base);

	return ret;
}

/* The BO is needed, so it stays where it is, and is not released again. */
static struct sg_table *local_bo_map_dma(struct tessera_bo *bo)
{
	struct dma_resv *resv = bo->base.base.resv;
	int ret;

	dma_resv_lock(resv, NULL);
	ret = tessera_move_back(bo);
	dma_resv_unlock(resv);

	if (ret)
		return ERR_PTR(ret);

	return bo->base.sgt ?: ERR_PTR(-ENODEV);
}

/**
 * tessera_bo_map_dma() - see to it that a BO in system memory is mapped for DMA
 * @bo: BO that is not in local memory
 *
 * Return: bus addresses, valid as long as the BO and the device are there, or an
 * error pointer.
 */
struct sg_table *tessera_bo_map_dma(struct tessera_bo *bo)
{
	struct sg_table *sgt = ERR_PTR(-ENODEV);
	int cookie;

	if (drm_dev_enter(bo->base.base.dev, &cookie)) {
		if (bo->flags & DRM_TESSERA_BO_LOCAL)
			sgt = local_bo_map_dma(bo);
		else
			sgt = drm_gem_shmem_get_pages_sgt(&bo->base);
		if (!IS_ERR(sgt))
			tessera_check_bo_taken(to_tessera_device(bo->base.base.dev), bo);
		drm_dev_exit(cookie);
	}

	return sgt;
}

/**
 * tessera_bo_state() - what BO_INFO reports
 * @bo: BO
 *
 * Return: enum drm_tessera_bo_state.
 */
u32 tessera_bo_state(struct tessera_bo *bo)
{
	/* The helpers change both under the BO's reservation: what was true a moment ago. */
	int madv = data_race(READ_ONCE(bo->base.madv));
	/* Likewise. */
	bool pages = data_race(READ_ONCE(bo->base.pages));
	/* Likewise. */
	bool local = data_race(drm_mm_node_allocated(&bo->local));
	u32 state = 0;

	if (madv)
		state |= madv < 0 ? DRM_TESSERA_BO_PURGED : DRM_TESSERA_BO_PURGEABLE;
	if (bo->base.base.import_attach)
		state |= DRM_TESSERA_BO_IMPORTED | DRM_TESSERA_BO_RESIDENT;
	if (READ_ONCE(bo->exported))
		state |= DRM_TESSERA_BO_EXPORTED;
	if (local)
		state |= DRM_TESSERA_BO_IN_LOCAL;
	if (local || (madv >= 0 && pages))
		state |= DRM_TESSERA_BO_RESIDENT;

	return state;
}

/**
 * tessera_bo_max_size() - limit of BO_CREATE
 * @tdev: device
 *
 * The pages of a BO are pinned once it is bound, so one BO may take half of the
 * machine at most.
 *
 * Return: bytes.
 */
u64 tessera_bo_max_size(struct tessera_device *tdev)
{
	return max_t(u64, (u64)totalram_pages() / 2 << PAGE_SHIFT, tdev->info.local_size);
}

/**
 * tessera_bos_unmap_dma() - undo all DMA mappings of all BOs
 * @tdev: unplugged device, stopped
 *
 * New mappings are not made: tessera_bo_map_dma() and imports fail by now.
 */
void tessera_bos_unmap_dma(struct tessera_device *tdev)
{
	struct tessera_bo *bo;

	mutex_lock(&tdev->bos.lock);
	list_for_each_entry(bo, &tdev->bos.list, node)
		tessera_bo_unmap_dma(bo);
	mutex_unlock(&tdev->bos.lock);
}

/**
 * tessera_bos_print() - list all BOs
 * @tdev: device
 * @m: where to
 */
void tessera_bos_print(struct tessera_device *tdev, struct seq_file *m)
{
	struct tessera_bo *bo;

	seq_puts(m, "size         flags    state    vm   refs label\n");

	mutex_lock(&tdev->bos.lock);
	list_for_each_entry(bo, &tdev->bos.list, node) {
		mutex_lock(&bo->label_lock);
		seq_printf(m, "%-12zu %08x %08x %-4u %-4u %s\n", bo->base.base.size, bo->flags,
			   tessera_bo_state(bo), bo->vm_id, kref_read(&bo->base.base.refcount),
			   bo->label ?: "");
		mutex_unlock(&bo->label_lock);
	}
	mutex_unlock(&tdev->bos.lock);
}
