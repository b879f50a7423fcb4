// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Tiler heaps
 *
 * The binner writes lists whose size nobody knows beforehand. A heap is a range of
 * a VM, given by user space, that gets memory as the lists grow. When the device
 * has used up what it was told of, it stops the queue and raises the HEAP
 * interrupt; a work then tells it of one chunk more.
 *
 * The job's fence waits for that, and reclaim may wait for the fence. So the chunk
 * that is handed over has its memory, its DMA mapping and its page-table entries
 * already: SUBMIT sees to a reserve, allocated as any ioctl allocates, before the
 * job is armed. The work that has handed a chunk over makes the reserve good again
 * without waiting for anybody (GFP_NOWAIT). If it cannot and the reserve is used
 * up, the job fails with -ENOMEM. At the end of the range it fails with -ENOSPC,
 * which the device finds out by itself.
 *
 * Memory stays with the heap until it is destroyed: the next frame is likely to
 * need as much.
 */

#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/tessera_drm.h>

#include "tessera_as.h"
#include "tessera_bind.h"
#include "tessera_check.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_heap.h"
#include "tessera_queue.h"
#include "tessera_quota.h"
#include "tessera_vm.h"

/* Chunks that have memory before the device asks for them. */
#define HEAP_RESERVE 4

static_assert((u32)DRM_TESSERA_HEAP_ALIGN == (u32)TSR_HEAP_ALIGN);

/* Where memory is missing that ought to be there, or @max_size. */
static u64 heap_missing(struct tessera_heap *heap)
{
	u64 target = atomic64_read(&heap->committed) + (u64)HEAP_RESERVE * heap->chunk_size;
	u64 missing;

	mutex_lock(&heap->vm->op_lock);
	missing = heap->mapped < target ? heap->mapped : heap->max_size;
	mutex_unlock(&heap->vm->op_lock);

	return missing;
}

/*
 * Give the heap the chunk at @offset, unless somebody else has. Inside
 * drm_dev_enter(), so that the page table is there.
 */
static int heap_add_chunk(struct tessera_heap *heap, u64 offset, gfp_t gfp)
{
	struct device *dev = heap->vm->tdev->drm.dev;
	struct tessera_quota *quota = heap->vm->quota;
	struct tessera_heap_chunk new;

	if (!tessera_quota_try_charge(quota, TESSERA_QUOTA_HEAP_MEMORY, heap->chunk_size))
		return -ENOSPC;

	new.cpu = dma_alloc_coherent(dev, heap->chunk_size, &new.dma,
				     gfp | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!new.cpu) {
		tessera_quota_uncharge(quota, TESSERA_QUOTA_HEAP_MEMORY, heap->chunk_size);
		return -ENOMEM;
	}

	mutex_lock(&heap->vm->op_lock);
	if (heap->mapped == offset) {
		heap->chunk[offset / heap->chunk_size] = new;
		tessera_check_taken(heap->vm->tdev, new.dma, heap->chunk_size);
		tessera_pt_map(heap->vm->pgt, &heap->pool, heap->va + offset, heap->chunk_size,
			       new.dma, TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK);
		heap->mapped += heap->chunk_size;
		new.cpu = NULL;
	}
	mutex_unlock(&heap->vm->op_lock);

	if (new.cpu) {
		dma_free_coherent(dev, heap->chunk_size, new.cpu, new.dma);
		tessera_quota_uncharge(quota, TESSERA_QUOTA_HEAP_MEMORY, heap->chunk_size);
	}

	return 0;
}

static int heap_fill(struct tessera_heap *heap, gfp_t gfp)
{
	u64 offset;
	int ret = 0;

	while (!ret && (offset = heap_missing(heap)) < heap->max_size)
		ret = heap_add_chunk(heap, offset, gfp);

	return ret;
}

/**
 * tessera_heap_prepare() - have the reserve before a job is armed
 * @heap: heap
 *
 * Return: 0, -ENOMEM, or -ENODEV if the device is gone.
 */
int tessera_heap_prepare(struct tessera_heap *heap)
{
	int ret, cookie;

	if (!drm_dev_enter(&heap->vm->tdev->drm, &cookie))
		return -ENODEV;
	ret = heap_fill(heap, GFP_KERNEL);
	drm_dev_exit(cookie);

	return ret;
}

/* Free the memory of a heap the device does not use any more. Under op_lock. */
static void heap_free_memory(struct tessera_heap *heap)
{
	struct device *dev = heap->vm->tdev->drm.dev;
	u64 offset;

	lockdep_assert_held(&heap->vm->op_lock);

	for (offset = 0; offset < heap->mapped; offset += heap->chunk_size) {
		struct tessera_heap_chunk *chunk = &heap->chunk[offset / heap->chunk_size];

		tessera_check_freed(heap->vm->tdev, chunk->dma, heap->chunk_size);
		dma_free_coherent(dev, heap->chunk_size, chunk->cpu, chunk->dma);
	}
	tessera_quota_uncharge(heap->vm->quota, TESSERA_QUOTA_HEAP_MEMORY, heap->mapped);
	heap->mapped = 0;
	tessera_pt_pool_fini(dev, &heap->pool);
}

/* Take the range out of the VM. Under op_lock. */
static int heap_unmap(struct tessera_heap *heap)
{
	struct tessera_vm *vm = heap->vm;
	int ret = 0, cookie;

	if (!heap->mapped || !drm_dev_enter(&vm->tdev->drm, &cookie))
		return 0;

	tessera_pt_unmap(vm->pgt, &heap->pool, heap->va, heap->mapped);
	if (vm->as >= 0)
		ret = tessera_as_invalidate(vm->tdev, vm->as, heap->va, heap->mapped);
	drm_dev_exit(cookie);

	return ret;
}

static void tessera_heap_release_work(struct work_struct *work)
{
	struct tessera_heap *heap = container_of(work, struct tessera_heap, release_work);
	struct tessera_vm *vm = heap->vm;
	int ret;

	mutex_lock(&vm->op_lock);
	ret = heap_unmap(heap);
	mutex_unlock(&vm->op_lock);

	/* A device that does not let go of the memory has to be reset. */
	if (ret) {
		queue_work(vm->tdev->timeout_wq, &vm->tdev->reset.work);
		flush_work(&vm->tdev->reset.work);
	}

	/* Under the lock: an unplug either finds the memory or finds it freed. */
	mutex_lock(&vm->op_lock);
	list_del(&heap->node);
	heap_free_memory(heap);
	mutex_unlock(&vm->op_lock);

	kvfree(heap->chunk);
	kfree(heap);
	tessera_quota_uncharge(vm->quota, TESSERA_QUOTA_HEAPS, 1);
	tessera_quota_left(vm->quota);
	tessera_vm_put(vm);
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

/**
 * tessera_heaps_unplug() - free the memory of all heaps of a VM
 * @vm: VM of an unplugged device
 *
 * The caller holds &tessera_vm.op_lock.
 */
void tessera_heaps_unplug(struct tessera_vm *vm)
{
	struct tessera_heap *heap;

	list_for_each_entry(heap, &vm->heaps, node)
		heap_free_memory(heap);
}

/* The heap at @va, a reference. */
static struct tessera_heap *heap_find(struct tessera_vm *vm, u64 va)
{
	struct tessera_heap *heap, *found = NULL;

	mutex_lock(&vm->op_lock);
	list_for_each_entry(heap, &vm->heaps, node) {
		if (heap->va == va && kref_get_unless_zero(&heap->ref))
			found = heap;
	}
	mutex_unlock(&vm->op_lock);

	return found;
}

/* Whether @queue is blocked for heap memory: of which heap, and how much it has. */
static bool queue_wants(struct tessera_queue *queue, u64 *va, u64 *size)
{
	struct tessera_device *tdev = queue->tdev;
	bool wants = false;
	u32 state;

	mutex_lock(&queue->lock);
	if (queue->ring.cpu && !queue->dead) {
		state = tessera_read(tdev, TSR_REG_QUEUE_STATE(queue->slot));
		wants = FIELD_GET(TSR_QUEUE_STATE_STATE__MASK, state) == TSR_QUEUE_STATE_BLOCKED &&
			FIELD_GET(TSR_QUEUE_STATE_BLOCK__MASK, state) == TSR_QUEUE_BLOCK_HEAP;
		*va = tessera_read64(tdev, TSR_REG_QUEUE_HEAP_BASE(queue->slot));
		*size = (u64)tessera_read(tdev, TSR_REG_QUEUE_HEAP_SIZE(queue->slot)) *
			TSR_HEAP_ALIGN;
	}
	mutex_unlock(&queue->lock);

	return wants;
}

/* Take the next chunk behind @size from the reserve; returns the new size, 0 if there is none. */
static u64 heap_commit(struct tessera_heap *heap, u64 size)
{
	u64 mapped;

	mutex_lock(&heap->vm->op_lock);
	mapped = heap->mapped;
	mutex_unlock(&heap->vm->op_lock);

	if (mapped <= size)
		return 0;

	size = min(mapped, size + heap->chunk_size);
	if (size > atomic64_read(&heap->committed))
		atomic64_set(&heap->committed, size);

	return size;
}

/* Tell the device: @size bytes, or that there is no more. */
static void queue_answer(struct tessera_queue *queue, u64 size)
{
	mutex_lock(&queue->lock);
	if (queue->ring.cpu && !queue->dead) {
		if (size) {
			tessera_write(queue->tdev, TSR_REG_QUEUE_HEAP_GROW(queue->slot),
				      size / TSR_HEAP_ALIGN);
		} else {
			queue->heap_error = -ENOMEM;
			tessera_queue_hw_command(queue, TSR_QUEUE_OP_FAIL_HEAP);
		}
	}
	mutex_unlock(&queue->lock);
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
	struct tessera_heap *heap;
	u64 va, have, size = 0;
	int cookie;

	if (drm_dev_enter(&queue->tdev->drm, &cookie)) {
		if (queue_wants(queue, &va, &have)) {
			heap = heap_find(queue->vm, va);
			if (heap)
				size = heap_commit(heap, have);
			if (heap && !size && !heap_fill(heap, GFP_NOWAIT))
				size = heap_commit(heap, have);
			queue_answer(queue, size);
			/* The reserve may stay smaller: what matters is found out at its end. */
			if (heap)
				heap_fill(heap, GFP_NOWAIT);
			tessera_heap_put(heap);
		}
		drm_dev_exit(cookie);
	}
	dma_fence_end_signalling(signalling);
	tessera_queue_put(queue);
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
	INIT_WORK(&heap->release_work, tessera_heap_release_work);
	heap->vm = tessera_vm_get(vm);
	heap->va = args->va;
	heap->max_size = args->max_size;
	heap->chunk_size = args->chunk_size;
	atomic64_set(&heap->committed, args->initial_size);
	tessera_pt_pool_init(&heap->pool);
	heap->chunk = kvcalloc(args->max_size / args->chunk_size, sizeof(*heap->chunk),
			       GFP_KERNEL_ACCOUNT);
	if (!heap->chunk)
		goto err_free;

	ret = tessera_pt_reserve_map(vm->pgt, &heap->pool, heap->va, heap->max_size, false);
	ret = ret ?: heap_claim(heap);
	if (ret)
		goto err_free;

	return heap;

err_free:
	tessera_pt_pool_fini(vm->tdev->drm.dev, &heap->pool);
	kvfree(heap->chunk);
	tessera_vm_put(vm);
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
	int ret = 0, cookie;

	vm = tessera_vm_lookup(file, args->vm_id);
	if (!vm)
		return -ENOENT;

	if (!heap_args_valid(vm, args)) {
		heap = ERR_PTR(-EINVAL);
	} else if (!drm_dev_enter(drm, &cookie)) {
		heap = ERR_PTR(-ENODEV);
	} else {
		heap = heap_create(vm, args);
		if (!IS_ERR(heap))
			ret = heap_fill(heap, GFP_KERNEL);
		drm_dev_exit(cookie);
	}
	tessera_vm_put(vm);
	if (IS_ERR(heap))
		return PTR_ERR(heap);

	if (!ret)
		ret = xa_alloc(&tfile->heaps, &args->heap_id, heap, TESSERA_ID_LIMIT,
			       GFP_KERNEL_ACCOUNT);
	if (ret) {
		/* Its range is free again when the call has failed. */
		tessera_heap_put(heap);
		flush_workqueue(tessera_release_wq);
	}

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

	tessera_heap_put(heap);
	flush_workqueue(tessera_release_wq);

	return 0;
}
