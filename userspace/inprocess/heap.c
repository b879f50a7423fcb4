// SPDX-License-Identifier: MIT
/*
 * Tiler heaps. A heap is a BO as large as the heap may become, for pages of ours cost nothing
 * before they are written. What the device has been told of and a reserve of some chunks is mapped;
 * each time it asks it is told of one chunk more.
 */
#include <errno.h>
#include <stdlib.h>

#include "driver.h"

/* The reserve, as the driver has it: at least so many bytes and chunks. */
#define RESERVE_BYTES	(4ull << 20)
#define RESERVE_CHUNKS	4

static void heap_free(struct heap *heap)
{
	struct heap **at = &heap->vm->heaps;

	while (*at && *at != heap)
		at = &(*at)->next;
	if (*at)
		*at = heap->next;
	pgtable_unmap(heap->vm->root, heap->va, heap->mapped);
	if (heap->mapped && heap->vm->space >= 0)
		space_invalidate((unsigned int)heap->vm->space, heap->va, heap->mapped);
	quota_adjust(heap->quota, QUOTA_HEAPS, -1);
	quota_adjust(heap->quota, QUOTA_HEAP_MEMORY, -(int64_t)heap->committed);
	quota_put(heap->quota);
	bo_put(heap->bo);
	vm_put(heap->vm);
	free(heap);
}

void heap_put(struct heap *heap)
{
	if (heap && !--heap->refs)
		heap_free(heap);
}

int heap_prepare(struct heap *heap)
{
	uint64_t reserve = (uint64_t)RESERVE_CHUNKS * heap->chunk_size, wanted, tables;
	int ret;

	reserve = reserve > RESERVE_BYTES ? reserve : RESERVE_BYTES;
	wanted = heap->committed + reserve;
	if (wanted > heap->max_size)
		wanted = heap->max_size;
	if (wanted <= heap->mapped)
		return 0;
	tables = pgtable_bytes();
	ret = pgtable_map(heap->vm->root, heap->va + heap->mapped, heap->bo->window + heap->mapped,
			  wanted - heap->mapped,
			  TSR_PTE_LOCAL__MASK | TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK);
	quota_adjust(heap->vm->quota, QUOTA_PAGE_TABLES, (int64_t)(pgtable_bytes() - tables));
	if (!ret)
		heap->mapped = wanted;
	return ret;
}

bool heap_overlaps(struct vm *vm, uint64_t va, uint64_t size)
{
	const struct heap *heap;

	for (heap = vm->heaps; heap; heap = heap->next) {
		if (va < heap->va + heap->max_size && heap->va < va + size)
			return true;
	}
	return false;
}

uint64_t heap_grow(struct vm *vm, uint64_t va, uint64_t size)
{
	struct heap *heap = vm->heaps;

	while (heap && heap->va != va)
		heap = heap->next;
	if (!heap || size >= heap->max_size)
		return 0;
	size += heap->chunk_size;
	if (size > heap->max_size)
		size = heap->max_size;
	/* a page table that cannot be had is missed at the next growth only */
	if (size > heap->mapped)
		return 0;
	if (size > heap->committed) {
		if (quota_charge(heap->quota, QUOTA_HEAP_MEMORY, size - heap->committed))
			return 0;
		heap->committed = size;
	}
	heap_prepare(heap);
	return size;
}

static bool valid(const struct drm_tessera_heap_create *arg)
{
	uint32_t chunk = arg->chunk_size;

	if (arg->flags || !chunk || chunk & (chunk - 1) || chunk < DRM_TESSERA_HEAP_ALIGN ||
	    chunk > DRM_TESSERA_HEAP_CHUNK_MAX)
		return false;
	if ((arg->va | arg->max_size | arg->initial_size) % chunk)
		return false;
	return arg->max_size && arg->max_size <= DRM_TESSERA_HEAP_SIZE_MAX &&
	       arg->initial_size <= arg->max_size && vm_range_valid(arg->va, arg->max_size);
}

static struct heap *heap_new(struct quota *quota, struct vm *vm,
			     const struct drm_tessera_heap_create *arg, int *ret)
{
	struct heap *heap;

	*ret = -ENOSPC;
	if (quota_room(quota, QUOTA_HEAPS, 1) ||
	    quota_room(quota, QUOTA_HEAP_MEMORY, arg->initial_size))
		return NULL;
	heap = calloc(1, sizeof(*heap));
	*ret = -ENOMEM;
	if (!heap)
		return NULL;
	*heap = (struct heap){ .refs = 1, .vm = vm, .va = arg->va, .max_size = arg->max_size,
			       .committed = arg->initial_size, .chunk_size = arg->chunk_size };
	heap->bo = bo_new(arg->max_size, 0, ret);
	if (!heap->bo) {
		free(heap);
		return NULL;
	}
	heap->quota = quota_get(quota);
	quota_adjust(quota, QUOTA_HEAPS, 1);
	quota_adjust(quota, QUOTA_HEAP_MEMORY, (int64_t)heap->committed);
	vm->refs++;
	heap->next = vm->heaps;
	vm->heaps = heap;
	*ret = heap_prepare(heap);
	if (*ret) {
		heap_put(heap);
		return NULL;
	}
	return heap;
}

int ioctl_heap_create(struct file *file, void *data)
{
	struct drm_tessera_heap_create *arg = data;
	struct heap *heap;
	struct vm *vm;
	int ret;

	vm = table_find(&file->vms, arg->vm_id);
	if (!vm)
		return -ENOENT;
	if (!valid(arg))
		return -EINVAL;
	if (vm_range_used(vm, arg->va, arg->max_size) || heap_overlaps(vm, arg->va, arg->max_size))
		return -EBUSY;
	heap = heap_new(file->quota, vm, arg, &ret);
	if (!heap)
		return ret;
	ret = table_add(&file->heaps, heap);
	if (ret < 0) {
		heap_put(heap);
		return ret;
	}
	arg->heap_id = (uint32_t)ret;
	return 0;
}

int ioctl_heap_destroy(struct file *file, void *data)
{
	const struct drm_tessera_heap_destroy *arg = data;
	struct heap *heap;

	if (arg->pad)
		return -EINVAL;
	heap = table_remove(&file->heaps, arg->heap_id);
	if (!heap)
		return -ENOENT;
	heap_put(heap);
	return 0;
}
