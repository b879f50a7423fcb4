/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_VM_H__
#define __TESSERA_VM_H__

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/drm_gpuvm.h>
#include <drm/tessera_drm.h>

#include "tessera_mmu.h"

struct drm_file;
struct tessera_device;
struct tessera_evict_keep;
struct tessera_queue;
struct tessera_quota;
struct tessera_timeline;

/* First address user space may use: nothing small or zero, and 2 MiB aligned. */
#define TESSERA_VA_START SZ_2M

/**
 * struct tessera_vma - one mapping of a VM
 */
struct tessera_vma {
	/** @base: Range, BO and offset. */
	struct drm_gpuva base;
	/** @bits: Permission, NULL and LOCAL bits of the page-table entries. */
	u64 bits;
	/** @node: Link in the list of unused or of returned mappings of a bind. */
	struct list_head node;
};

/**
 * struct tessera_vm - an address space of user space
 *
 * Its users (file, queues, pending binds) hold @ref. When the last is gone all
 * mappings are removed, on the release workqueue; the memory of the structure
 * goes with the last reference of @base.
 */
struct tessera_vm {
	/** @base: Mappings. Its reservation object serialises submission. */
	struct drm_gpuvm base;
	/** @tdev: Device. */
	struct tessera_device *tdev;
	/** @ref: References of users. */
	struct kref ref;
	/** @node: Link in &tessera_device.vms. */
	struct list_head node;
	/** @quota: Quota of the file it was created on, a reference. */
	struct tessera_quota *quota;
	/** @release_work: Teardown. */
	struct work_struct release_work;
	/** @timeline: Scheduler of asynchronous binds. */
	struct tessera_timeline *timeline;

	/**
	 * @op_lock: Protects the tree of mappings, @pgt, @as, @as_users,
	 * @binds and @heaps. Asynchronous binds take it while fences wait for
	 * them: nothing allocates or takes a reservation lock under it.
	 */
	struct mutex op_lock;
	/** @pgt: Page table, NULL once the device is gone. */
	struct tessera_pgtable *pgt;
	/** @as: Hardware address space, -1 while there are no queues. */
	int as;
	/** @as_users: Queues that need @as. */
	unsigned int as_users;
	/** @binds: All binds of the VM, by &tessera_bind.node. */
	struct list_head binds;
	/** @heaps: Tiler heaps of the VM, by &tessera_heap.node. */
	struct list_head heaps;
	/** @async_pending: Binds that have been pushed as jobs and have not run. */
	atomic_t async_pending;
	/** @async_wait: Woken when one has run. */
	wait_queue_head_t async_wait;
	/** @banned: An asynchronous bind failed. Only ever set. */
	bool banned;

	/** @used: &tessera_device.evict.clock of the last SUBMIT. */
	u64 used;
	/** @refused: SUBMITs that had no room for a BO; under the reservation. */
	unsigned int refused;
	/** @evict_keep: During tessera_evict_submit(). */
	struct tessera_evict_keep *evict_keep;

	/** @faults: The last faults. */
	struct {
		/** @faults.lock: Protects the rest. */
		spinlock_t lock;
		/** @faults.count: Faults ever; the next one goes to this, modulo the size. */
		u64 count;
		/** @faults.record: Ring of records. */
		struct drm_tessera_fault record[DRM_TESSERA_FAULT_RECORDS];
		/** @faults.queue: Whose they are, only to compare; NULL if it is gone. */
		const struct tessera_queue *queue[DRM_TESSERA_FAULT_RECORDS];
	} faults;
};

static inline struct tessera_vm *to_tessera_vm(struct drm_gpuvm *gpuvm)
{
	return container_of(gpuvm, struct tessera_vm, base);
}

struct tessera_vm *tessera_vm_create(struct tessera_device *tdev, struct tessera_quota *quota);
struct tessera_vm *tessera_vm_get(struct tessera_vm *vm);
struct tessera_vm *tessera_vm_lookup(struct drm_file *file, u32 id);
void tessera_vm_put(struct tessera_vm *vm);
struct drm_gem_object *tessera_vm_resv_obj(struct tessera_vm *vm);
int tessera_vm_exec_lock(struct drm_gpuvm_exec *vm_exec);
void tessera_vm_exec_unlock(struct drm_gpuvm_exec *vm_exec);
int tessera_vm_as_get(struct tessera_vm *vm);
void tessera_vm_as_put(struct tessera_vm *vm);
u32 tessera_vm_copy_faults(struct tessera_vm *vm, struct drm_tessera_fault *out, u32 max,
			   u64 *count);
void tessera_vm_add_fault(struct tessera_vm *vm, const struct tessera_queue *queue,
			  const struct drm_tessera_fault *fault);
void tessera_vm_forget_queue(struct tessera_vm *vm, const struct tessera_queue *queue);
int tessera_vms_restore(struct tessera_device *tdev);
void tessera_vms_unplug(struct tessera_device *tdev);

int tessera_ioctl_vm_create(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_vm_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_vm_get_state(struct drm_device *drm, void *data, struct drm_file *file);

#endif
