// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * HEAP_CREATE and HEAP_DESTROY: each field bad once, whose range it is, what memory is there. How a
 * heap grows while a frame is binned is in gfx_heap.c.
 */
#include "gt_main.h"

#include <unistd.h>

#include "gt_bad.h"

#define HEAP_VA 0x40000000ull
#define CHUNK 0x20000u
#define RESERVE 0x400000ull		/* bytes that are there before they are asked for */

static struct gt_ctx c;

static struct drm_tessera_heap_create heap_args(void)
{
	return (struct drm_tessera_heap_create){
		.vm_id = c.vm, .va = HEAP_VA, .max_size = 16 * CHUNK, .initial_size = 2 * CHUNK,
		.chunk_size = CHUNK,
	};
}

static int heap_create(const struct drm_tessera_heap_create *args, uint32_t *id)
{
	struct drm_tessera_heap_create copy = *args;
	int ret = gt_ioctl(c.fd, DRM_IOCTL_TESSERA_HEAP_CREATE, &copy);

	*id = copy.heap_id;
	return ret;
}

static int heap_destroy(uint32_t id)
{
	struct drm_tessera_heap_destroy args = { .heap_id = id };

	return gt_ioctl(c.fd, DRM_IOCTL_TESSERA_HEAP_DESTROY, &args);
}

static void bad_fields(void)
{
	struct drm_tessera_gpu_info info = gt_gpu_info(c.fd);
	struct drm_tessera_heap_create heap = heap_args();
	const struct gt_call call = GT_CALL(c.fd, HEAP_CREATE, heap);
	const struct gt_bad rows[] = {
		GT_BAD(heap.vm_id, 0, ENOENT),
		GT_BAD(heap.vm_id, UINT32_MAX, ENOENT),
		GT_BAD(heap.va, 0, EINVAL),
		GT_BAD(heap.va, HEAP_VA + CHUNK / 2, EINVAL),
		GT_BAD(heap.va, info.va_end - CHUNK, EINVAL),
		GT_BAD(heap.va, info.va_end, EINVAL),
		GT_BAD(heap.va, -(uint64_t)CHUNK, EINVAL),
		GT_BAD(heap.max_size, 0, EINVAL),
		GT_BAD(heap.max_size, 16 * CHUNK + 4096, EINVAL),
		GT_BAD(heap.max_size, CHUNK, EINVAL),	/* less than initial_size */
		GT_BAD(heap.max_size, (uint64_t)DRM_TESSERA_HEAP_SIZE_MAX + CHUNK, EINVAL),
		GT_BAD(heap.max_size, 1ull << 63, EINVAL),
		GT_BAD(heap.initial_size, CHUNK + 4096, EINVAL),
		GT_BAD(heap.initial_size, 17 * CHUNK, EINVAL),
		GT_BAD(heap.chunk_size, 0, EINVAL),
		GT_BAD(heap.chunk_size, DRM_TESSERA_HEAP_ALIGN / 2, EINVAL),
		GT_BAD(heap.chunk_size, 3 * DRM_TESSERA_HEAP_ALIGN, EINVAL),
		GT_BAD(heap.chunk_size, 2 * DRM_TESSERA_HEAP_CHUNK_MAX, EINVAL),
	};

	GT_BAD_ROWS(&call, rows);
	gt_bad_bits(&call, "flags", &heap.flags, 0);
}

static void bad_destroy(void)
{
	struct drm_tessera_heap_create heap = heap_args();
	struct drm_tessera_heap_destroy args = { 0 };
	uint32_t id;

	ktap_eq(heap_destroy(0), -ENOENT);
	ktap_eq(heap_destroy(UINT32_MAX), -ENOENT);
	ktap_eq(heap_create(&heap, &id), 0);
	ktap_ok(id != 0);
	args.heap_id = id;
	args.pad = 1;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_HEAP_DESTROY, &args), -EINVAL);
	ktap_eq(heap_destroy(id), 0);
	ktap_eq(heap_destroy(id), -ENOENT);
}

/* The range is the heap's until it is destroyed; one that is mapped cannot become a heap's. */
static void range(void)
{
	struct drm_tessera_heap_create heap = heap_args(), other = heap_args();
	struct gt_bo bo = gt_bo(c.fd, 4096, 0);
	struct drm_tessera_bind_op map = gt_op_map(bo.handle, 0, 4096, 0, GT_RW);
	struct drm_tessera_bind_op unmap = gt_op_unmap(HEAP_VA - 4096, 8192);
	uint32_t id, second;

	ktap_eq(heap_create(&heap, &id), 0);
	map.va = HEAP_VA;
	ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), -EBUSY);
	map.va = HEAP_VA + 16 * CHUNK - 4096;	/* without memory yet, but the heap's */
	ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), -EBUSY);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &unmap, 1), -EBUSY);
	other.va = HEAP_VA + 15 * CHUNK;
	ktap_eq(heap_create(&other, &second), -EBUSY);
	map.va = HEAP_VA + 16 * CHUNK;
	ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
	other.va = HEAP_VA + CHUNK;
	ktap_eq(heap_create(&other, &second), -EBUSY);
	ktap_eq(heap_destroy(id), 0);
	ktap_eq(heap_create(&other, &second), -EBUSY);	/* of the mapping */
	ktap_eq(heap_create(&heap, &second), 0);
	ktap_eq(heap_destroy(second), 0);
	unmap = gt_op_unmap(map.va, 4096);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &unmap, 1), 0);
	ktap_eq(heap_create(&other, &second), 0);
	ktap_eq(heap_destroy(second), 0);
	gt_bo_free(&bo);
}

/* The range of a bind that waits is taken before it has run, to the page, and nothing else is. */
static void bind_waits(void)
{
	struct drm_tessera_heap_create heap = heap_args();
	struct gt_bo bo = gt_bo(c.fd, 2 * CHUNK, 0);
	const uint64_t va = HEAP_VA + heap.max_size;
	struct drm_tessera_bind_op op[] = {
		gt_op_map(bo.handle, va, 2 * CHUNK, 0, GT_RW),
		{ .op = DRM_TESSERA_BIND_UNMAP_BO, .bo_handle = c.cmd.handle },
	};
	struct drm_tessera_sync gate = gt_binary(c.sync);
	struct drm_tessera_sync bound = gt_binary(gt_syncobj(c.fd, false));
	struct gt_cs cs = gt_stream(&c, 8);
	uint32_t id[2];

	*(volatile uint64_t *)gt_data(&c, 0) = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	ktap_eq(gt_kick(&c, c.queue, &cs, &gate), 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, op, 2, &gate, &bound), 0);
	heap.va = va - heap.max_size + CHUNK;
	ktap_eq(heap_create(&heap, &id[0]), -EBUSY);
	heap.va = va + CHUNK;
	ktap_eq(heap_create(&heap, &id[0]), -EBUSY);
	heap.va = va - heap.max_size;
	ktap_eq(heap_create(&heap, &id[0]), 0);
	heap.va = va + 2 * CHUNK;
	ktap_eq(heap_create(&heap, &id[1]), 0);
	*(volatile uint64_t *)gt_data(&c, 0) = 1;
	ktap_eq(gt_fence_error(c.fd, bound.handle, 0), 0);
	ktap_eq(heap_destroy(id[0]), 0);
	ktap_eq(heap_destroy(id[1]), 0);
	gt_bo_free(&bo);
	gt_bo_bind(&c.cmd, c.vm, GT_CMD_VA, GT_RWX);
	gt_syncobj_free(c.fd, bound.handle);
}

/* Error of a job that fills one byte at @va. */
static int touch(uint64_t va)
{
	struct gt_cs cs = gt_stream(&c, 8);
	int error;

	GT_EMIT(&cs, fill_linear, .texel = 1, .dst = va, .size = 1, .pattern_lo = 1);
	error = gt_run(&c, &cs);
	if (error)
		gt_renew_queue(&c);
	return error;
}

static void memory(void)
{
	struct drm_tessera_heap_create heap = heap_args();
	const uint64_t there = 2 * CHUNK + RESERVE, va = 0x50000000;
	uint32_t id;

	heap.va = va;
	heap.max_size = 64 * CHUNK;
	ktap_eq(touch(va), -EFAULT);
	ktap_eq(heap_create(&heap, &id), 0);
	ktap_eq(touch(va - 1), -EFAULT);
	ktap_eq(touch(va), 0);
	ktap_eq(touch(va + there - 1), 0);
	ktap_eq(touch(va + there), -EFAULT);
	ktap_eq(heap_destroy(id), 0);
	ktap_eq(touch(va), -EFAULT);
}

/* A job keeps its heap: the memory goes when the job is done. */
static void destroyed_in_flight(void)
{
	struct drm_tessera_heap_create heap = heap_args();
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_BIN), id;
	volatile uint64_t *gate = gt_data(&c, 0);
	struct gt_cs cs = gt_stream(&c, 8);
	struct drm_tessera_job job;
	struct drm_tessera_sync done = gt_binary(gt_syncobj(c.fd, false));

	*gate = 0;
	ktap_eq(heap_create(&heap, &id), 0);
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_GE, .wide = true, .addr = gt_data_va(0), .value = 1);
	job = gt_job(queue, &cs);
	job.heap_id = id;
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_eq(heap_destroy(id), 0);
	ktap_eq(gt_submit(c.fd, &job, 1), -ENOENT);
	ktap_eq(touch(HEAP_VA), 0);
	*gate = 1;
	ktap_eq(gt_fence_error(c.fd, done.handle, 0), 0);
	for (unsigned int i = 0; i < 100 && touch(HEAP_VA) == 0; i++)
		gt_sleep_ms(20);
	ktap_eq(touch(HEAP_VA), -EFAULT);
	gt_queue_destroy(c.fd, queue);
	gt_syncobj_free(c.fd, done.handle);
}

static void other_vm(void)
{
	struct drm_tessera_heap_create heap = heap_args();
	uint32_t vm = gt_vm(c.fd), queue = gt_queue(c.fd, vm, DRM_TESSERA_ENGINE_RENDER), id;
	struct drm_tessera_job job = gt_job(queue, NULL);

	ktap_eq(heap_create(&heap, &id), 0);
	job.heap_id = id;
	ktap_eq(gt_submit(c.fd, &job, 1), -EINVAL);
	gt_queue_destroy(c.fd, queue);
	gt_vm_destroy(c.fd, vm);
	ktap_eq(heap_destroy(id), 0);
}

/* Heaps that nobody destroyed go with their file. */
static void left_behind(void)
{
	struct drm_tessera_heap_create heap = heap_args();
	struct gt_ctx other = gt_ctx();

	heap.vm_id = other.vm;
	for (unsigned int i = 0; i < 8; i++) {
		heap.heap_id = 0;
		ktap_eq(gt_ioctl(other.fd, DRM_IOCTL_TESSERA_HEAP_CREATE, &heap), 0);
		heap.va += heap.max_size;
	}
	gt_ctx_free(&other);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	bad_fields();
	ktap_run("[BIN4] HEAP_DESTROY of what is no heap fails", bad_destroy);
	ktap_run("[BIN4] [MEM2] a heap's range is its own", range);
	ktap_run("[BIN4] [MEM2] the range of a bind that waits is taken", bind_waits);
	ktap_run("[BIN4] a heap has what it was promised and a reserve, and no more", memory);
	ktap_run("[BIN4] a job keeps its heap alive", destroyed_in_flight);
	ktap_run("SUBMIT with a heap of another VM fails with EINVAL", other_vm);
	ktap_run("heaps go with their file", left_behind);
	gt_ctx_free(&c);
	return gt_finish();
}
