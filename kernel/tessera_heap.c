// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Tiler heaps
 *
 * The binner writes lists whose size is not known in advance. A heap is a range of a
 * VM, given by user space, that gets memory as the lists grow. When the device has
 * used up the memory that it knows, it stops the queue and raises the HEAP interrupt.
 * A work item then announces one more chunk.
 *
 * The job's fence waits for this work item, and reclaim may wait for the fence. The
 * work item therefore only hands out memory that is already bound. It does not
 * allocate, and takes neither a reservation nor the VM's lock. The memory consists of
 * BOs of the kernel's own, private to the VM and without handles, so user space
 * cannot advise on them, export or unmap them. The code of VM_BIND maps them before a
 * job is armed. This creates a reserve beyond the need of earlier frames. While a job
 * uses the reserve, a work item that no fence waits for refills it. If the refill is
 * too late, the job fails with -ENOMEM, or with -ENOSPC if the file has used up its
 * quota of memory for heaps. At the end of the range the device itself detects the
 * failure, which is -ENOSPC.
 *
 * Memory stays with the heap until the heap is destroyed, because the next frame is
 * likely to need as much.
 */

#include <linux/bitfield.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/tessera_drm.h>

#include "tessera_bind.h"
#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_fence.h"
#include "tessera_gem.h"
#include "tessera_heap.h"
#include "tessera_queue.h"
#include "tessera_quota.h"
#include "tessera_vm.h"

/* The least reserve, in bytes and in chunks. */
#define RESERVE_BYTES	SZ_4M
#define RESERVE_CHUNKS	4
/* It doubles when it was found empty, so often at most. */
#define RESERVE_SHIFT	8

static_assert((u32)DRM_TESSERA_HEAP_ALIGN == (u32)TSR_HEAP_ALIGN);

/* How much is to be bound beyond what the device has been told of. */
static u64 heap_reserve(struct tessera_heap *heap)
{
	u64 reserve = max_t(u64, RESERVE_BYTES, RESERVE_CHUNKS * heap->chunk_size);

	reserve = max(reserve, (u64)atomic64_read(&heap->committed) / 2);

	return ALIGN(reserve, heap->chunk_size) << min(atomic_read(&heap->empty), RESERVE_SHIFT);
}

/* Where the bound part ought to end. */
static u64 heap_target(struct tessera_heap *heap)
{
	return min(heap->max_size, atomic64_read(&heap->committed) + heap_reserve(heap));
}

/* Map @bo after what is bound. */
static int heap_bind(struct tessera_heap *heap, struct tessera_bo *bo)
{
	struct tessera_vm *vm = heap->vm;
	struct tessera_bind *bind;
	int ret, cookie;

	if (!drm_dev_enter(&vm->tdev->drm, &cookie))
		return -ENODEV;
	bind = tessera_bind_create_map(vm, &bo->base.base, heap->va + atomic64_read(&heap->bound));
	drm_dev_exit(cookie);
	if (IS_ERR(bind))
		return PTR_ERR(bind);

	/* Nothing was mapped there, so there is nothing the device must forget. */
	mutex_lock(&vm->op_lock);
	ret = tessera_bind_run(bind);
	mutex_unlock(&vm->op_lock);
	tessera_bind_destroy(bind);

	return ret;
}

/* Bind @size bytes more. Under grow_lock. */
static int heap_add(struct tessera_heap *heap, u64 size)
{
	struct tessera_vm *vm = heap->vm;
	struct tessera_bo *bo;
	int ret;

	bo = tessera_bo_create(vm->tdev, NULL, size, DRM_TESSERA_BO_NO_MMAP, vm, 0);
	if (IS_ERR(bo))
		return PTR_ERR(bo);

	ret = heap_bind(heap, bo);
	if (!ret)
		atomic64_add(size, &heap->bound);
	/* The mapping has one, too. */
	drm_gem_object_put(&bo->base.base);

	return ret;
}

/*
 * Bind up to the target, or at least up to @least. Allocates, and takes reservations.
 * Returns 0 if that much is bound.
 */
static int heap_grow(struct tessera_heap *heap, u64 least)
{
	struct tessera_quota *quota = heap->vm->quota;
	u64 bound, target, size;
	int ret = 0;

	mutex_lock(&heap->grow_lock);
	bound = atomic64_read(&heap->bound);
	target = max(heap_target(heap), least);
	if (bound < target) {
		size = target - bound;
		if (!tessera_quota_try_charge(quota, TESSERA_QUOTA_HEAP_MEMORY, size)) {
			size = bound < least ? least - bound : heap->chunk_size;
			if (!tessera_quota_try_charge(quota, TESSERA_QUOTA_HEAP_MEMORY, size))
				ret = -ENOSPC;
		}
		if (!ret) {
			ret = heap_add(heap, size);
			if (ret)
				tessera_quota_uncharge(quota, TESSERA_QUOTA_HEAP_MEMORY, size);
		}
	}
	WRITE_ONCE(heap->error, ret);
	bound = atomic64_read(&heap->bound);
	mutex_unlock(&heap->grow_lock);

	return bound < least || ret != -ENOSPC ? ret : 0;
}

/**
 * tessera_heap_prepare() - have the reserve before a job is armed
 * @heap: heap
 *
 * If the file has its share of memory for heaps, the job makes do with what there is.
 *
 * Return: 0, -ENOMEM, or -ENODEV if the device is gone.
 */
int tessera_heap_prepare(struct tessera_heap *heap)
{
	return heap_grow(heap, 0);
}

/* Holds a reference to the heap while queued. No fence waits for it. */
static void tessera_heap_refill_work(struct work_struct *work)
{
	struct tessera_heap *heap = container_of(work, struct tessera_heap, refill_work);
	struct mem_cgroup *old = set_active_memcg(heap->memcg);

	/* If this fails, the next request finds an empty reserve. */
	heap_grow(heap, 0);
	set_active_memcg(old);
	tessera_heap_put(heap);
}

/* Take the range out of the VM, and end. */
static void heap_free(struct tessera_heap *heap)
{
	struct tessera_vm *vm = heap->vm;
	int ret;

	tessera_delay(TESSERA_DELAY_HEAP_FREE);
	mutex_lock(&vm->op_lock);
	ret = tessera_bind_run(heap->unmap);
	list_del(&heap->node);
	mutex_unlock(&vm->op_lock);

	if (ret == -EIO)
		WRITE_ONCE(vm->banned, true);
	tessera_bind_destroy(heap->unmap);

	tessera_quota_uncharge(vm->quota, TESSERA_QUOTA_HEAP_MEMORY, atomic64_read(&heap->bound));
	tessera_quota_uncharge(vm->quota, TESSERA_QUOTA_HEAPS, 1);
	mem_cgroup_put(heap->memcg);
	mutex_destroy(&heap->grow_lock);
	kfree(heap);
	tessera_vm_put(vm);
}

static void tessera_heap_release_work(struct work_struct *work)
{
	struct tessera_heap *heap = container_of(work, struct tessera_heap, release_work);
	struct tessera_quota *quota = tessera_quota_get(heap->vm->quota);

	heap_free(heap);
	tessera_quota_left(quota);
	tessera_quota_put(quota);
}

static void tessera_heap_release(struct kref *ref)
{
	struct tessera_heap *heap = container_of(ref, struct tessera_heap, ref);

	tessera_quota_leave(heap->vm->quota);
	queue_work(tessera_release_wq, &heap->release_work);
}

/**
 * tessera_heap_put() - drop a reference
 * @heap: heap or NULL
 *
 * From any context; the teardown happens elsewhere.
 */
void tessera_heap_put(struct tessera_heap *heap)
{
	if (heap)
		kref_put(&heap->ref, tessera_heap_release);
}

static void tessera_heap_release_now(struct kref *ref)
{
	heap_free(container_of(ref, struct tessera_heap, ref));
}

/* Drops a reference and may sleep. After the last one, the range is free. */
static void heap_put_now(struct tessera_heap *heap)
{
	if (cancel_work_sync(&heap->refill_work))
		tessera_heap_put(heap);
	kref_put(&heap->ref, tessera_heap_release_now);
}

/**
 * tessera_heap_lookup() - find the heap of a file
 * @file: file
 * @id: its id
 *
 * Return: a reference, or NULL if there is none.
 */
struct tessera_heap *tessera_heap_lookup(struct drm_file *file, u32 id)
{
	struct tessera_file *tfile = file->driver_priv;
	struct tessera_heap *heap;

	xa_lock(&tfile->heaps);
	heap = xa_load(&tfile->heaps, id);
	if (heap)
		kref_get(&heap->ref);
	xa_unlock(&tfile->heaps);

	return heap;
}

/**
 * tessera_heap_overlaps() - does a range touch a heap?
 * @vm: VM
 * @va: start
 * @size: length
 *
 * Return: true if it does. The caller holds &tessera_vm.op_lock.
 */
bool tessera_heap_overlaps(struct tessera_vm *vm, u64 va, u64 size)
{
	struct tessera_heap *heap;

	lockdep_assert_held(&vm->op_lock);

	list_for_each_entry(heap, &vm->heaps, node) {
		if (va < heap->va + heap->max_size && heap->va < va + size)
			return true;
	}

	return false;
}

/* The next chunk after @have, if one is bound; returns the size with it, else 0. */
static u64 heap_commit(struct tessera_heap *heap, u64 have)
{
	u64 size = min_t(u64, atomic64_read(&heap->bound), have + heap->chunk_size);
	s64 committed = atomic64_read(&heap->committed);

	if (size <= have)
		return 0;

	while (committed < size && !atomic64_try_cmpxchg(&heap->committed, &committed, size))
		;

	return size;
}

/* Have somebody see to the reserve. Atomic; the caller has a reference. */
static void heap_refill_later(struct tessera_heap *heap)
{
	kref_get(&heap->ref);
	if (!queue_work(tessera_release_wq, &heap->refill_work))
		tessera_heap_put(heap);
}

/* Answers a queue that has @have bytes of the heap, see heap_commit(). Atomic. */
static u64 heap_hand_out(struct tessera_heap *heap, u64 have, int *error)
{
	u64 size = heap_commit(heap, have), bound = atomic64_read(&heap->bound);

	if (!size) {
		*error = READ_ONCE(heap->error) ?: -ENOMEM;
		atomic_inc(&heap->empty);
	}
	if (bound < heap->max_size &&
	    bound - atomic64_read(&heap->committed) <= heap_reserve(heap) / 2)
		heap_refill_later(heap);

	return size;
}

/*
 * A queue whose oldest job waits for heap memory gets the next chunk, or is told that
 * there is none. All under the queue's lock, so that the answer is for the job that
 * has asked: recovery, which gives the slot to the next one, takes it, too.
 */
static void queue_answer(struct tessera_queue *queue, u64 va, u64 have)
{
	struct tessera_timeline *timeline = queue->timeline;
	struct tessera_fence *fence;
	int error = -ENOMEM;
	unsigned long flags;
	u64 size = 0;

	/* The heap of a job that has not signalled is there: its fence has a reference. */
	spin_lock_irqsave(&timeline->lock, flags);
	fence = list_first_entry_or_null(&timeline->pending, struct tessera_fence, node);
	if (fence && fence->heap && fence->heap->va == va)
		size = heap_hand_out(fence->heap, have, &error);
	spin_unlock_irqrestore(&timeline->lock, flags);

	if (size) {
		tessera_write(queue->tdev, TSR_REG_QUEUE_HEAP_GROW(queue->slot),
			      size / TSR_HEAP_ALIGN);
	} else {
		queue->heap_error = error;
		tessera_queue_hw_command(queue, TSR_QUEUE_OP_FAIL_HEAP);
	}
}

static bool queue_wants_heap(struct tessera_queue *queue)
{
	u32 state = tessera_read(queue->tdev, TSR_REG_QUEUE_STATE(queue->slot));

	return FIELD_GET(TSR_QUEUE_STATE_STATE__MASK, state) == TSR_QUEUE_STATE_BLOCKED &&
	       FIELD_GET(TSR_QUEUE_STATE_BLOCK__MASK, state) == TSR_QUEUE_BLOCK_HEAP;
}

/**
 * tessera_heap_work() - give a blocked queue more heap memory
 * @work: &tessera_queue.heap_work
 *
 * Fences wait for it.
 */
void tessera_heap_work(struct work_struct *work)
{
	struct tessera_queue *queue = container_of(work, struct tessera_queue, heap_work);
	bool signalling = dma_fence_begin_signalling();
	struct tessera_device *tdev = queue->tdev;
	u64 va, have;
	int cookie;

	mutex_lock(&queue->lock);
	/* Also before sleep, when no doorbell rings any more: what waits for a heap shall end. */
	if (queue->ring.cpu && !queue->dead && tessera_enter(tdev, &cookie)) {
		if (queue_wants_heap(queue)) {
			/* Jobs before that one may be done without anybody having noticed. */
			tessera_queue_complete(queue);
			va = tessera_read64(tdev, TSR_REG_QUEUE_HEAP_BASE(queue->slot));
			have = tessera_read(tdev, TSR_REG_QUEUE_HEAP_SIZE(queue->slot));
			queue_answer(queue, va, have * TSR_HEAP_ALIGN);
		}
		tessera_leave(tdev, cookie);
	}
	mutex_unlock(&queue->lock);
	dma_fence_end_signalling(signalling);
}

static bool heap_args_valid(struct tessera_vm *vm, const struct drm_tessera_heap_create *args)
{
	u32 chunk = args->chunk_size;

	if (args->flags || !is_power_of_2(chunk) || chunk < DRM_TESSERA_HEAP_ALIGN ||
	    chunk > DRM_TESSERA_HEAP_CHUNK_MAX)
		return false;
	if (!IS_ALIGNED(args->va | args->max_size | args->initial_size, chunk))
		return false;

	return args->max_size && args->max_size <= DRM_TESSERA_HEAP_SIZE_MAX &&
	       args->initial_size <= args->max_size &&
	       drm_gpuvm_range_valid(&vm->base, args->va, args->max_size);
}

/* The heap's range becomes its own, if nothing else is there or may come there. */
static int heap_claim(struct tessera_heap *heap)
{
	struct tessera_vm *vm = heap->vm;
	int ret = 0;

	mutex_lock(&vm->op_lock);
	if (drm_gpuva_find_first(&vm->base, heap->va, heap->max_size) ||
	    tessera_heap_overlaps(vm, heap->va, heap->max_size) ||
	    tessera_binds_overlap(vm, heap->va, heap->max_size))
		ret = -EBUSY;
	else
		list_add_tail(&heap->node, &vm->heaps);
	mutex_unlock(&vm->op_lock);

	return ret;
}

/* A heap with its range, and no memory yet. Inside drm_dev_enter(). */
static struct tessera_heap *heap_create(struct tessera_vm *vm,
					const struct drm_tessera_heap_create *args)
{
	struct tessera_heap *heap;
	int ret;

	ret = tessera_quota_charge(vm->quota, TESSERA_QUOTA_HEAPS, 1);
	if (ret)
		return ERR_PTR(ret);

	ret = -ENOMEM;
	heap = kzalloc(sizeof(*heap), GFP_KERNEL_ACCOUNT);
	if (!heap)
		goto err_uncharge;

	kref_init(&heap->ref);
	mutex_init(&heap->grow_lock);
	INIT_WORK(&heap->release_work, tessera_heap_release_work);
	INIT_WORK(&heap->refill_work, tessera_heap_refill_work);
	heap->vm = vm;
	heap->va = args->va;
	heap->max_size = args->max_size;
	heap->chunk_size = args->chunk_size;
	atomic64_set(&heap->committed, args->initial_size);
	ret = heap_claim(heap);
	if (ret)
		goto err_free;

	/* Its end needs no memory. */
	heap->unmap = tessera_bind_create_unmap(vm, heap->va, heap->max_size);
	if (IS_ERR(heap->unmap)) {
		ret = PTR_ERR(heap->unmap);
		goto err_unclaim;
	}
	heap->memcg = get_mem_cgroup_from_mm(current->mm);
	tessera_vm_get(vm);

	return heap;

err_unclaim:
	mutex_lock(&vm->op_lock);
	list_del(&heap->node);
	mutex_unlock(&vm->op_lock);
err_free:
	mutex_destroy(&heap->grow_lock);
	kfree(heap);
err_uncharge:
	tessera_quota_uncharge(vm->quota, TESSERA_QUOTA_HEAPS, 1);
	return ERR_PTR(ret);
}

/**
 * tessera_ioctl_heap_create() - DRM_IOCTL_TESSERA_HEAP_CREATE
 * @drm: DRM device
 * @data: struct drm_tessera_heap_create
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_heap_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_file *tfile = file->driver_priv;
	struct drm_tessera_heap_create *args = data;
	struct tessera_heap *heap;
	struct tessera_vm *vm;
	int ret, cookie;

	vm = tessera_vm_lookup(file, args->vm_id);
	if (!vm)
		return -ENOENT;

	if (!heap_args_valid(vm, args)) {
		heap = ERR_PTR(-EINVAL);
	} else if (!drm_dev_enter(drm, &cookie)) {
		heap = ERR_PTR(-ENODEV);
	} else {
		heap = heap_create(vm, args);
		drm_dev_exit(cookie);
	}
	tessera_vm_put(vm);
	if (IS_ERR(heap))
		return PTR_ERR(heap);

	ret = heap_grow(heap, args->initial_size);
	if (!ret)
		ret = xa_alloc(&tfile->heaps, &args->heap_id, heap, TESSERA_ID_LIMIT,
			       GFP_KERNEL_ACCOUNT);
	if (ret)
		heap_put_now(heap);

	return ret;
}

/**
 * tessera_ioctl_heap_destroy() - DRM_IOCTL_TESSERA_HEAP_DESTROY
 * @drm: DRM device
 * @data: struct drm_tessera_heap_destroy
 * @file: file
 *
 * The range is free when this returns, unless fences of jobs with the heap are pending.
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_heap_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_file *tfile = file->driver_priv;
	struct drm_tessera_heap_destroy *args = data;
	struct tessera_heap *heap;

	if (args->pad)
		return -EINVAL;

	heap = xa_erase(&tfile->heaps, args->heap_id);
	if (!heap)
		return -ENOENT;

	heap_put_now(heap);

	return 0;
}
