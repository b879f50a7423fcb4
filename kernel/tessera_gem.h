/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_GEM_H__
#define __TESSERA_GEM_H__

#include <linux/mutex.h>

#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_mm.h>

struct dma_buf_attachment;
struct dmem_cgroup_pool_state;
struct drm_mode_create_dumb;
struct seq_file;
struct tessera_device;
struct tessera_quota;
struct tessera_vm;

/**
 * struct tessera_bo - a buffer object
 *
 * In system memory (shmem pages of our own, or imported) or in local memory. A LOCAL BO may
 * be in either; it uses the shmem helper's fields, and not the helper.
 */
struct tessera_bo {
	/** @base: GEM object and its pages. */
	struct drm_gem_shmem_object base;
	/** @node: Link in &tessera_device.bos. */
	struct list_head node;
	/** @flags: enum drm_tessera_bo_flags, constant. */
	u32 flags;
	/** @vm_id: Id of the VM it is private to, for BO_INFO; 0 if none, constant. */
	u32 vm_id;
	/**
	 * @private_resv: Object whose reservation the BO shares, a reference;
	 * NULL if the BO is not private. Says which VM it belongs to. Constant.
	 */
	struct drm_gem_object *private_resv;
	/** @madv_node: Link in &tessera_device.shrink, empty unless DONT_NEED. */
	struct list_head madv_node;
	/**
	 * @needed: Binds on their way that use the BO: it is not purged.
	 * Incremented under the reservation.
	 */
	atomic_t needed;
	/** @check_taken: The device knows of the DMA mapping; &tessera_device.check.lock. */
	bool check_taken;
	/**
	 * @purged: Its pages go, or are gone; set under the op_lock of each VM it is in. A LOCAL
	 * BO was released (tessera_swap.c), and is not purged any more once it has pages.
	 */
	bool purged;
	/** @exported: A dma-buf was made of it; only ever set. */
	bool exported;
	/** @read_only: Import whose exporter does not allow writes, constant. */
	bool read_only;
	/**
	 * @local: Range in local memory; not allocated while the BO is in system memory.
	 * Changes under the reservation, and not while the BO is @needed.
	 */
	struct drm_mm_node local;
	/** @lru: Link in &tessera_device.evict.lru, empty unless the BO may be evicted. */
	struct list_head lru;
	/** @used: &tessera_device.evict.clock when the BO came to local memory. */
	u64 used;
	/** @seen: When it was used last, as far as who evicts or releases has seen. */
	u64 seen;
	/** @outside: Link in &tessera_device.shrink.outside, empty unless it has pages. */
	struct list_head outside;
	/** @pool: What its cgroup is charged for @local, or NULL. Under the reservation. */
	struct dmem_cgroup_pool_state *pool;
	/** @quota: LOCAL_ONLY BO: quota that is charged for it, a reference. */
	struct tessera_quota *quota;
	/** @dummy: What a LOCAL BO is mapped to once the device is gone, or NULL. */
	struct page *dummy;
	/** @label_lock: Protects @label. */
	struct mutex label_lock;
	/** @label: Text for debugging or NULL. */
	char *label;
};

static inline struct tessera_bo *to_tessera_bo(struct drm_gem_object *obj)
{
	return container_of(to_drm_gem_shmem_obj(obj), struct tessera_bo, base);
}

#ifndef tessera_gpuva_lock
/**
 * tessera_gpuva_lock() - the lock of a BO's list of VM mappings
 * @obj: GEM object of a BO
 *
 * Taken while asynchronous binds run, so nothing allocates under it.
 *
 * Return: &drm_gem_object.gpuva.lock.
 */
static inline struct mutex *tessera_gpuva_lock(struct drm_gem_object *obj)
{
	return &obj->gpuva.lock;
}
#endif

struct drm_gem_object *tessera_gem_create_object(struct drm_device *drm, size_t size);
struct drm_gem_object *tessera_gem_prime_import(struct drm_device *drm, struct dma_buf *dmabuf);
struct drm_gem_object *tessera_gem_import_sgt(struct drm_device *drm,
					      struct dma_buf_attachment *attach,
					      struct sg_table *sgt);
int tessera_gem_dumb_create(struct drm_file *file, struct drm_device *drm,
			    struct drm_mode_create_dumb *args);
struct tessera_bo *tessera_bo_create(struct tessera_device *tdev, struct tessera_quota *quota,
				     u64 size, u32 flags, struct tessera_vm *vm, u32 vm_id);
struct sg_table *tessera_bo_map_dma(struct tessera_bo *bo);
u32 tessera_bo_state(struct tessera_bo *bo);
u64 tessera_bo_max_size(struct tessera_device *tdev);
void tessera_bo_unmap_dma(struct tessera_bo *bo);
void tessera_bos_unmap_dma(struct tessera_device *tdev);
void tessera_bos_print(struct tessera_device *tdev, struct seq_file *m);

int tessera_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_bo_info(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_bo_madvise(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_bo_set_label(struct drm_device *drm, void *data, struct drm_file *file);

#endif
