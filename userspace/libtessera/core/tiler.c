// SPDX-License-Identifier: MIT
/* Tiler heaps and performance monitors: ids of the kernel, and the addresses of heaps. */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

struct tsr_tiler_heap {
	atomic_uint refs;
	struct tsr_vm *vm;		/* referenced */
	uint64_t va, limit;		/* addresses it has, 0: none */
	uint32_t id;			/* 0: not made yet */
};

struct tsr_perfmon {
	atomic_uint refs;
	struct tsr_device *device;	/* referenced */
	unsigned int count;
	uint32_t id;			/* 0: not made yet */
};

int tsr_tiler_heap_create(struct tsr_vm *vm, uint64_t initial, uint64_t limit, uint32_t chunk,
			  struct tsr_tiler_heap **out)
{
	struct drm_tessera_heap_create arg = {
		.vm_id = tsr_vm_id(vm), .max_size = limit, .initial_size = initial,
		.chunk_size = chunk,
	};
	struct tsr_tiler_heap *heap;
	uint64_t va;
	int ret, error;

	if (!tsr_is_pow2(chunk) || !limit || limit % chunk || initial % chunk || initial > limit)
		return tsr_fail(EINVAL, "heap of 0x%llx to 0x%llx bytes in chunks of 0x%x, "
				"expected multiples of a power of two", (unsigned long long)initial,
				(unsigned long long)limit, chunk);
	heap = calloc(1, sizeof(*heap));
	if (!heap)
		return tsr_fail(ENOMEM, "no memory for a heap");
	atomic_init(&heap->refs, 1);
	heap->vm = tsr_vm_ref(vm);
	ret = tsr_vm_alloc(vm, limit, tsr_vm_page_align(vm, limit, chunk), &va);
	if (!ret) {
		arg.va = heap->va = va;
		heap->limit = limit;
		error = tsr_device_ioctl(tsr_vm_device(vm), DRM_IOCTL_TESSERA_HEAP_CREATE, &arg);
		ret = error ? tsr_fail_ioctl(error, "heap of 0x%llx bytes",
					     (unsigned long long)limit) : 0;
		heap->id = arg.heap_id;
	}
	if (ret)
		tsr_tiler_heap_unref(heap);
	else
		*out = heap;
	return ret;
}

struct tsr_tiler_heap *tsr_tiler_heap_ref(struct tsr_tiler_heap *heap)
{
	atomic_fetch_add_explicit(&heap->refs, 1, memory_order_relaxed);
	return heap;
}

void tsr_tiler_heap_unref(struct tsr_tiler_heap *heap)
{
	struct drm_tessera_heap_destroy arg;

	if (!heap || atomic_fetch_sub_explicit(&heap->refs, 1, memory_order_acq_rel) != 1)
		return;
	arg = (struct drm_tessera_heap_destroy){ .heap_id = heap->id };
	if (heap->id)
		tsr_device_ioctl(tsr_vm_device(heap->vm), DRM_IOCTL_TESSERA_HEAP_DESTROY, &arg);
	if (heap->va)
		tsr_vm_free(heap->vm, heap->va, heap->limit);
	tsr_vm_unref(heap->vm);
	free(heap);
}

uint64_t tsr_tiler_heap_va(const struct tsr_tiler_heap *heap)
{
	return heap->va;
}

uint32_t tsr_tiler_heap_id(const struct tsr_tiler_heap *heap)
{
	return heap->id;
}

int tsr_perfmon_create(struct tsr_device *device, const uint32_t *counters, unsigned int count,
		       struct tsr_perfmon **out)
{
	struct drm_tessera_perfmon_create arg = {
		.counters = { (uintptr_t)counters, count, sizeof(counters[0]) },
	};
	struct tsr_perfmon *perfmon = calloc(1, sizeof(*perfmon));
	int error;

	if (!perfmon)
		return tsr_fail(ENOMEM, "no memory for a performance monitor");
	error = tsr_device_ioctl(device, DRM_IOCTL_TESSERA_PERFMON_CREATE, &arg);
	if (error) {
		free(perfmon);
		return tsr_fail_ioctl(error, "performance monitor of %u counters", count);
	}
	atomic_init(&perfmon->refs, 1);
	perfmon->device = tsr_device_ref(device);
	perfmon->count = count;
	perfmon->id = arg.perfmon_id;
	*out = perfmon;
	return 0;
}

struct tsr_perfmon *tsr_perfmon_ref(struct tsr_perfmon *perfmon)
{
	atomic_fetch_add_explicit(&perfmon->refs, 1, memory_order_relaxed);
	return perfmon;
}

void tsr_perfmon_unref(struct tsr_perfmon *perfmon)
{
	struct drm_tessera_perfmon_destroy arg;

	if (!perfmon || atomic_fetch_sub_explicit(&perfmon->refs, 1, memory_order_acq_rel) != 1)
		return;
	arg = (struct drm_tessera_perfmon_destroy){ .perfmon_id = perfmon->id };
	tsr_device_ioctl(perfmon->device, DRM_IOCTL_TESSERA_PERFMON_DESTROY, &arg);
	tsr_device_unref(perfmon->device);
	free(perfmon);
}

uint32_t tsr_perfmon_id(const struct tsr_perfmon *perfmon)
{
	return perfmon->id;
}

int tsr_perfmon_read(struct tsr_perfmon *perfmon, uint64_t *values, bool reset)
{
	struct drm_tessera_perfmon_read arg = {
		.perfmon_id = perfmon->id,
		.flags = reset ? DRM_TESSERA_PERFMON_RESET : 0,
		.values = { (uintptr_t)values, perfmon->count, sizeof(values[0]) },
	};
	int error = tsr_device_ioctl(perfmon->device, DRM_IOCTL_TESSERA_PERFMON_READ, &arg);

	return error ? tsr_fail_ioctl(error, "reading a performance monitor") : 0;
}
