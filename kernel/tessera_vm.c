// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: VMs
 *
 * A VM is a tree of mappings (drm_gpuvm), the page table that says the same to
 * the device, and a scheduler for asynchronous binds. It occupies a hardware
 * address space while it has queues: nothing can run in it otherwise.
 *
 * Faults are recorded here, in a ring that user space can read.
 */

#include <linux/dma-resv.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_exec.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "tessera_as.h"
#include "tessera_bind.h"
#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_evict.h"
#include "tessera_fence.h"
#include "tessera_heap.h"
#include "tessera_quota.h"
#include "tessera_sched.h"
#include "tessera_uapi.h"
#include "tessera_vm.h"

static void tessera_vm_free(struct drm_gpuvm *gpuvm)
{
	struct tessera_vm *vm = to_tessera_vm(gpuvm);

	mutex_destroy(&vm->op_lock);
	kfree(vm);
}

static const struct drm_gpuvm_ops tessera_gpuvm_ops = {
	.vm_free = tessera_vm_free,
	.vm_bo_validate = tessera_evict_validate,
	.sm_step_map = tessera_bind_step_map,
	.sm_step_remap = tessera_bind_step_remap,
	.sm_step_unmap = tessera_bind_step_unmap,
};

/* Drop all mappings. Nobody uses the VM any more, so no TLB has anything of it. */
static void tessera_vm_clear(struct tessera_vm *vm)
{
	struct drm_gpuva *va, *next;
	LIST_HEAD(returned);

	mutex_lock(&vm->op_lock);
	drm_gpuvm_for_each_va_safe(va, next, &vm->base) {
		drm_gpuva_remove(va);
		tessera_vma_return(container_of(va, struct tessera_vma, base), &returned);
	}
	tessera_pgtable_destroy(vm->pgt);
	vm->pgt = NULL;
	mutex_unlock(&vm->op_lock);

	tessera_vmas_free(vm, &returned);
}

static void tessera_vm_release_work(struct work_struct *work)
{
	struct tessera_vm *vm = container_of(work, struct tessera_vm, release_work);
	struct tessera_device *tdev = vm->tdev;
	struct tessera_quota *quota = vm->quota;

	tessera_timeline_stop(vm->timeline);
	tessera_timeline_put(vm->timeline);
	tessera_slots_forget_vm(vm);
	tessera_vm_clear(vm);
	tessera_delay(TESSERA_DELAY_VM_RELEASE);

	/* Last: an unplug waits here until the page table is freed. */
	mutex_lock(&tdev->vms.lock);
	list_del(&vm->node);
	mutex_unlock(&tdev->vms.lock);

	drm_gpuvm_put(&vm->base);
	tessera_quota_uncharge(quota, TESSERA_QUOTA_VMS, 1);
	tessera_quota_left(quota);
	tessera_quota_put(quota);
	drm_dev_put(&tdev->drm);
}

static int tessera_vm_init_timeline(struct tessera_vm *vm)
{
	struct tessera_device *tdev = vm->tdev;
	int ret;

	vm->timeline = tessera_timeline_create("tessera-bind");
	if (!vm->timeline)
		return -ENOMEM;

	ret = tessera_timeline_start(vm->timeline, &tessera_bind_sched_ops, tdev->bind_wq, 1,
				     MAX_SCHEDULE_TIMEOUT, NULL, tdev->drm.dev);
	if (ret)
		tessera_timeline_put(vm->timeline);

	return ret;
}

static int tessera_vm_init_gpuvm(struct tessera_vm *vm)
{
	struct tessera_device *tdev = vm->tdev;
	struct drm_gem_object *resv = drm_gpuvm_resv_object_alloc(&tdev->drm);

	if (!resv)
		return -ENOMEM;

	drm_gpuvm_init(&vm->base, "tessera",
		       DRM_GPUVM_RESV_PROTECTED | DRM_GPUVM_IMMEDIATE_MODE, &tdev->drm, resv,
		       TESSERA_VA_START, BIT_ULL(tdev->info.va_bits) - TESSERA_VA_START,
		       0, 0, &tessera_gpuvm_ops);
	drm_gem_object_put(resv);

	return 0;
}

/**
 * tessera_vm_create() - make an empty VM
 * @tdev: device, inside drm_dev_enter()
 * @quota: of the file, charged by the caller; what is charged goes with the VM
 *
 * Return: the VM or an error pointer.
 */
struct tessera_vm *tessera_vm_create(struct tessera_device *tdev, struct tessera_quota *quota)
{
	struct tessera_vm *vm = kzalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!vm)
		return ERR_PTR(-ENOMEM);

	vm->tdev = tdev;
	vm->as = -1;
	kref_init(&vm->ref);
	mutex_init(&vm->op_lock);
	tessera_prime_lock(&vm->op_lock);
	tessera_prime_order(&tdev->vms.lock, &vm->op_lock);
	tessera_prime_order(&vm->op_lock, &tdev->as_slots.lock);
	init_waitqueue_head(&vm->async_wait);
	spin_lock_init(&vm->faults.lock);
	INIT_LIST_HEAD(&vm->binds);
	INIT_LIST_HEAD(&vm->heaps);
	INIT_WORK(&vm->release_work, tessera_vm_release_work);

	vm->pgt = tessera_pgtable_create(tdev->drm.dev, &tdev->info, quota);
	if (!vm->pgt)
		goto err_free;

	ret = tessera_vm_init_timeline(vm);
	if (ret)
		goto err_pgt;

	ret = tessera_vm_init_gpuvm(vm);
	if (ret)
		goto err_timeline;

	drm_dev_get(&tdev->drm);
	vm->quota = tessera_quota_get(quota);
	mutex_lock(&tdev->vms.lock);
	list_add_tail(&vm->node, &tdev->vms.list);
	mutex_unlock(&tdev->vms.lock);

	return vm;

err_timeline:
	tessera_timeline_stop(vm->timeline);
	tessera_timeline_put(vm->timeline);
err_pgt:
	tessera_pgtable_destroy(vm->pgt);
err_free:
	mutex_destroy(&vm->op_lock);
	kfree(vm);
	return ERR_PTR(ret);
}

/**
 * tessera_vm_get() - take another reference
 * @vm: VM
 *
 * Return: @vm.
 */
struct tessera_vm *tessera_vm_get(struct tessera_vm *vm)
{
	kref_get(&vm->ref);

	return vm;
}

static void tessera_vm_release(struct kref *ref)
{
	struct tessera_vm *vm = container_of(ref, struct tessera_vm, ref);

	tessera_quota_leave(vm->quota);
	queue_work(tessera_release_wq, &vm->release_work);
}

/**
 * tessera_vm_put() - drop a reference
 * @vm: VM
 *
 * From any context that may not be atomic; the teardown happens elsewhere.
 */
void tessera_vm_put(struct tessera_vm *vm)
{
	kref_put(&vm->ref, tessera_vm_release);
}

/**
 * tessera_vm_lookup() - find the VM of a file
 * @file: file
 * @id: its id
 *
 * Return: a reference, or NULL if there is none.
 */
struct tessera_vm *tessera_vm_lookup(struct drm_file *file, u32 id)
{
	struct tessera_file *tfile = file->driver_priv;
	struct tessera_vm *vm;

	xa_lock(&tfile->vms);
	vm = xa_load(&tfile->vms, id);
	if (vm)
		tessera_vm_get(vm);
	xa_unlock(&tfile->vms);

	return vm;
}

/**
 * tessera_vm_resv_obj() - object with the reservation of a VM
 * @vm: VM
 *
 * Return: the object, without a reference.
 */
struct drm_gem_object *tessera_vm_resv_obj(struct tessera_vm *vm)
{
	return vm->base.r_obj;
}

/* A BO that tessera_vm_exec_lock() had to wait for. */
struct vm_exec_waited {
	struct vm_exec_waited *next;
	struct drm_gem_object *obj;
};

/*
 * While one BO is waited for nothing is locked, the VM neither, so that it may leave the
 * VM and lose its other references. To free it locks its own reservation, which must not
 * happen between others of the same ticket: keep it until all are unlocked.
 */
static int vm_exec_keep(struct drm_gpuvm_exec *vm_exec)
{
	struct vm_exec_waited *waited;

	if (!vm_exec->exec.contended)
		return 0;
	waited = kmalloc(sizeof(*waited), GFP_KERNEL);
	if (!waited)
		return -ENOMEM;
	waited->obj = vm_exec->exec.contended;
	drm_gem_object_get(waited->obj);
	waited->next = vm_exec->extra.priv;
	vm_exec->extra.priv = waited;

	return 0;
}

/**
 * tessera_vm_exec_unlock() - undo tessera_vm_exec_lock()
 * @vm_exec: the same
 */
void tessera_vm_exec_unlock(struct drm_gpuvm_exec *vm_exec)
{
	struct vm_exec_waited *waited;

	drm_gpuvm_exec_unlock(vm_exec);
	while ((waited = vm_exec->extra.priv)) {
		vm_exec->extra.priv = waited->next;
		drm_gem_object_put(waited->obj);
		kfree(waited);
	}
}

static int vm_exec_reserve(struct drm_gpuvm_exec *vm_exec)
{
	struct drm_gem_object *obj;
	int ret;

	drm_exec_for_each_locked_object(&vm_exec->exec, obj) {
		ret = dma_resv_reserve_fences(obj->resv, vm_exec->num_fences);
		if (ret)
			return ret;
	}

	return 0;
}

/**
 * tessera_vm_exec_lock() - lock a VM and its shared BOs, with room for fences in all
 * @vm_exec: as for drm_gpuvm_exec_lock(), with nothing in @vm_exec->extra
 *
 * As drm_gpuvm_exec_lock(), but for BOs that leave the VM while they are waited for: they
 * live until all is unlocked, and where they stay locked they get room for fences, too,
 * since drm_gpuvm_exec_resv_add_fence() adds to all that are locked.
 *
 * Return: 0, -EINTR or -ENOMEM; tessera_vm_exec_unlock() undoes it.
 */
int tessera_vm_exec_lock(struct drm_gpuvm_exec *vm_exec)
{
	struct drm_exec *exec = &vm_exec->exec;
	int ret = 0;

	drm_exec_init(exec, vm_exec->flags, 0);
	drm_exec_until_all_locked(exec) {
		ret = vm_exec_keep(vm_exec);
		if (ret)
			break;
		ret = drm_gpuvm_prepare_vm(vm_exec->vm, exec, vm_exec->num_fences);
		drm_exec_retry_on_contention(exec);
		if (ret)
			break;
		ret = drm_gpuvm_prepare_objects(vm_exec->vm, exec, vm_exec->num_fences);
		drm_exec_retry_on_contention(exec);
		if (ret)
			break;
	}
	if (!ret)
		ret = vm_exec_reserve(vm_exec);
	if (ret)
		tessera_vm_exec_unlock(vm_exec);

	return ret;
}

/**
 * tessera_vm_as_get() - have a hardware address space for a queue
 * @vm: VM
 *
 * The caller holds &tessera_device.reset.lock. The number is in &tessera_vm.as until
 * tessera_vm_as_put().
 *
 * Return: 0, or -ENOSPC when there is none.
 */
int tessera_vm_as_get(struct tessera_vm *vm)
{
	int as, ret = 0;

	mutex_lock(&vm->op_lock);
	if (!vm->as_users) {
		if (!tessera_quota_try_charge(vm->quota, TESSERA_QUOTA_SPACES, 1)) {
			ret = -ENOSPC;
			goto out;
		}

		as = tessera_as_alloc(vm->tdev);
		if (as < 0) {
			ret = as;
			goto err_uncharge;
		}

		vm->as = as;
		tessera_as_set(vm->tdev, as, vm->pgt);
	}
	vm->as_users++;
	goto out;

err_uncharge:
	tessera_quota_uncharge(vm->quota, TESSERA_QUOTA_SPACES, 1);
out:
	mutex_unlock(&vm->op_lock);
	return ret;
}

/**
 * tessera_vm_as_put() - a queue does not need the address space any more
 * @vm: VM
 *
 * The caller holds &tessera_device.reset.lock. After the last queue's the device does
 * not use the VM's page table.
 */
void tessera_vm_as_put(struct tessera_vm *vm)
{
	mutex_lock(&vm->op_lock);
	if (!--vm->as_users) {
		tessera_as_set(vm->tdev, vm->as, NULL);
		tessera_as_free(vm->tdev, vm->as);
		tessera_quota_uncharge(vm->quota, TESSERA_QUOTA_SPACES, 1);
		vm->as = -1;
	}
	mutex_unlock(&vm->op_lock);
}

/**
 * tessera_vm_add_fault() - record a fault
 * @vm: VM
 * @queue: queue that faulted
 * @fault: record
 */
void tessera_vm_add_fault(struct tessera_vm *vm, const struct tessera_queue *queue,
			  const struct drm_tessera_fault *fault)
{
	u32 at;

	spin_lock(&vm->faults.lock);
	at = vm->faults.count++ % DRM_TESSERA_FAULT_RECORDS;
	vm->faults.record[at] = *fault;
	vm->faults.queue[at] = queue;
	spin_unlock(&vm->faults.lock);
}

/**
 * tessera_vm_forget_queue() - records no longer name a queue
 * @vm: VM
 * @queue: queue whose id is gone and may soon be another one's; it faults no more
 */
void tessera_vm_forget_queue(struct tessera_vm *vm, const struct tessera_queue *queue)
{
	u32 i;

	spin_lock(&vm->faults.lock);
	for (i = 0; i < DRM_TESSERA_FAULT_RECORDS; i++) {
		if (vm->faults.queue[i] != queue)
			continue;
		vm->faults.queue[i] = NULL;
		vm->faults.record[i].queue_id = 0;
	}
	spin_unlock(&vm->faults.lock);
}

/**
 * tessera_vms_restore() - give all VMs their address spaces back
 * @tdev: device that was reset, nothing runs
 *
 * Return: 0 or -EIO.
 */
int tessera_vms_restore(struct tessera_device *tdev)
{
	struct tessera_vm *vm;
	int ret = 0;

	mutex_lock(&tdev->vms.lock);
	list_for_each_entry(vm, &tdev->vms.list, node) {
		mutex_lock(&vm->op_lock);
		if (vm->as >= 0 && !ret)
			ret = tessera_as_program(tdev, vm->as, vm->pgt);
		mutex_unlock(&vm->op_lock);
	}
	mutex_unlock(&tdev->vms.lock);

	return ret;
}

/**
 * tessera_vms_unplug() - free what VMs have mapped for DMA
 * @tdev: unplugged device, stopped
 *
 * The mappings stay, as a record without effect.
 */
void tessera_vms_unplug(struct tessera_device *tdev)
{
	struct tessera_vm *vm;

	mutex_lock(&tdev->vms.lock);
	list_for_each_entry(vm, &tdev->vms.list, node) {
		mutex_lock(&vm->op_lock);
		tessera_binds_unplug(vm);
		tessera_pgtable_destroy(vm->pgt);
		vm->pgt = NULL;
		mutex_unlock(&vm->op_lock);
	}
	mutex_unlock(&tdev->vms.lock);
}

/**
 * tessera_ioctl_vm_create() - DRM_IOCTL_TESSERA_VM_CREATE
 * @drm: DRM device
 * @data: struct drm_tessera_vm_create
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_vm_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_file *tfile = file->driver_priv;
	struct drm_tessera_vm_create *args = data;
	struct tessera_vm *vm;
	int ret, cookie;

	if (args->flags)
		return -EINVAL;

	ret = tessera_quota_charge(tfile->quota, TESSERA_QUOTA_VMS, 1);
	if (ret)
		return ret;

	vm = ERR_PTR(-ENODEV);
	if (drm_dev_enter(drm, &cookie)) {
		vm = tessera_vm_create(to_tessera_device(drm), tfile->quota);
		drm_dev_exit(cookie);
	}
	if (IS_ERR(vm)) {
		tessera_quota_uncharge(tfile->quota, TESSERA_QUOTA_VMS, 1);
		return PTR_ERR(vm);
	}

	ret = xa_alloc(&tfile->vms, &args->vm_id, vm, TESSERA_ID_LIMIT, GFP_KERNEL_ACCOUNT);
	if (ret)
		tessera_vm_put(vm);

	return ret;
}

/**
 * tessera_ioctl_vm_destroy() - DRM_IOCTL_TESSERA_VM_DESTROY
 * @drm: DRM device
 * @data: struct drm_tessera_vm_destroy
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_vm_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_file *tfile = file->driver_priv;
	struct drm_tessera_vm_destroy *args = data;
	struct tessera_vm *vm;

	if (args->pad)
		return -EINVAL;

	vm = xa_erase(&tfile->vms, args->vm_id);
	if (!vm)
		return -ENOENT;

	tessera_vm_put(vm);

	return 0;
}

/**
 * tessera_vm_copy_faults() - copy the records of faults, oldest first
 * @vm: VM
 * @out: where to
 * @max: at most so many
 * @count: faults ever, out
 *
 * Return: records that were copied.
 */
u32 tessera_vm_copy_faults(struct tessera_vm *vm, struct drm_tessera_fault *out, u32 max,
			   u64 *count)
{
	u32 kept, i;
	u64 first;

	spin_lock(&vm->faults.lock);
	*count = vm->faults.count;
	kept = min_t(u64, vm->faults.count, DRM_TESSERA_FAULT_RECORDS);
	first = vm->faults.count - kept;
	kept = min(kept, max);
	for (i = 0; i < kept; i++)
		out[i] = vm->faults.record[(first + i) % DRM_TESSERA_FAULT_RECORDS];
	spin_unlock(&vm->faults.lock);

	return kept;
}

/**
 * tessera_ioctl_vm_get_state() - DRM_IOCTL_TESSERA_VM_GET_STATE
 * @drm: DRM device
 * @data: struct drm_tessera_vm_get_state
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_vm_get_state(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_tessera_vm_get_state *args = data;
	struct drm_tessera_fault *faults;
	struct tessera_vm *vm;
	u32 filled;
	int ret = 0;

	if (args->flags)
		return -EINVAL;

	vm = tessera_vm_lookup(file, args->vm_id);
	if (!vm)
		return -ENOENT;

	faults = kcalloc(DRM_TESSERA_FAULT_RECORDS, sizeof(*faults), GFP_KERNEL);
	if (!faults) {
		ret = -ENOMEM;
		goto out;
	}

	filled = tessera_vm_copy_faults(vm, faults, args->faults.count, &args->fault_count);
	if (args->faults.count)
		ret = tessera_uapi_array_out(&args->faults, sizeof(*faults),
					     offsetofend(struct drm_tessera_fault, level),
					     faults, filled);
	args->faults.count = filled;
	args->flags = READ_ONCE(vm->banned) ? DRM_TESSERA_VM_BANNED : 0;
	kfree(faults);
out:
	tessera_vm_put(vm);
	return ret;
}
