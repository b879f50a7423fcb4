// SPDX-License-Identifier: MIT
#include "tsv_cmd.h"
#include "tsv_device.h"
#include "tsv_shader.h"

#include "vk_alloc.h"

#define POOL_CHUNK	(256u << 10)
#define WORDS_CHUNK	(64u << 10)
#define HEAP_FIRST	(1ull << 20)	/* memory that a heap of frames begins with */
#define HEAP_MOST	((uint64_t)DRM_TESSERA_HEAP_SIZE_MAX)
#define HEAP_CHUNK	(1u << 20)

/* Any thread, also the one of a queue that submits late, while vkDestroyDevice() waits for it. */
static VkResult check_status(struct vk_device *vk)
{
	struct tsv_device *device = container_of(vk, struct tsv_device, vk);
	bool lost;

	simple_mtx_lock(&device->queues_lock);
	lost = device->closing;
	if (!lost) {
		vk_foreach_queue(queue, vk)
			lost |= tsv_queue_is_banned(container_of(queue, struct tsv_queue, vk));
		if (lost) {
			vk_device_set_lost(vk, "the kernel has banned a queue");
			tsv_sync_wake(vk);
		}
	}
	simple_mtx_unlock(&device->queues_lock);
	return lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

static void free_scratch(struct tsv_device *device, const struct tsv_scratch *scratch)
{
	if (scratch->bo)
		tsr_vm_unmap(device->vm, scratch->va, tsr_bo_size(scratch->bo));
	tsr_bo_unref(scratch->bo);
}

static void close_device(struct tsv_device *device)
{
	unsigned i;

	util_dynarray_foreach(&device->old_scratch, struct tsv_scratch, scratch)
		free_scratch(device, scratch);
	util_dynarray_fini(&device->old_scratch);
	for (i = 0; i < TSV_SCRATCHES; i++)
		free_scratch(device, &device->scratch[i]);
	for (i = 0; i < TSV_HEAPS; i++)
		tsr_tiler_heap_unref(device->heap[i]);
	tsr_pool_unref(device->lists);
	tsr_pool_unref(device->words);
	tsr_sync_unref(device->binds);
	tsr_vm_unref(device->vm);
	tsr_device_unref(device->tsr);
}

/* The objects that every device has; -errno. */
static int open_device(struct tsv_device *device, const char *path)
{
	const uint32_t run = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC;
	const uint32_t write = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
	int ret = tsr_device_open(path, &device->tsr);

	if (!ret)
		ret = tsr_vm_create(device->tsr, &device->vm);
	if (!ret)
		ret = tsr_sync_create(device->tsr, TSR_SYNC_TIMELINE, &device->binds);
	if (!ret)
		ret = tsr_pool_create(device->vm, POOL_CHUNK, DRM_TESSERA_BO_CACHED, run,
				      &device->lists);
	if (!ret)
		ret = tsr_pool_create(device->vm, WORDS_CHUNK, DRM_TESSERA_BO_CACHED, write,
				      &device->words);
	return ret;
}

struct tsr_tiler_heap *tsv_device_heap(struct tsv_device *device, unsigned i)
{
	struct tsr_tiler_heap *heap;

	simple_mtx_lock(&device->lock);
	if (!device->heap[i])
		tsr_tiler_heap_create(device->vm, HEAP_FIRST, HEAP_MOST, HEAP_CHUNK,
				      &device->heap[i]);
	heap = device->heap[i];
	simple_mtx_unlock(&device->lock);
	return heap;
}

/* ---- Mappings -------------------------------------------------------------------------------- */

static int bind(struct tsv_device *device, const struct tsr_bind *op)
{
	struct tsr_point point = { .sync = device->binds };
	int ret;

	simple_mtx_lock(&device->lock);
	point.point = device->bind_point + 1;
	ret = tsr_vm_bind_async(device->vm, op, 1, NULL, 0, &point, 1);
	if (!ret)
		device->bind_point = point.point;
	simple_mtx_unlock(&device->lock);
	return ret;
}

int tsv_device_map(struct tsv_device *device, struct tsr_bo *bo, uint64_t size, uint64_t *va)
{
	struct tsr_bind op = {
		.op = bo ? DRM_TESSERA_BIND_MAP : DRM_TESSERA_BIND_MAP_NULL,
		.access = bo ? DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE : 0,
		.bo = bo,
		.size = align64(size, TSV_PAGE),
	};
	int ret = tsr_vm_alloc(device->vm, op.size, 0, &op.va);

	if (ret)
		return ret;
	ret = bind(device, &op);
	if (ret)
		tsr_vm_free(device->vm, op.va, op.size);
	else
		*va = op.va;
	return ret;
}

/* Binds are in order, so whoever gets the addresses next maps them after this. */
void tsv_device_unmap(struct tsv_device *device, uint64_t va, uint64_t size)
{
	const struct tsr_bind op = { .op = DRM_TESSERA_BIND_UNMAP,
				     .va = va,
				     .size = align64(size, TSV_PAGE) };

	bind(device, &op);
	tsr_vm_free(device->vm, op.va, op.size);
}

/* ---- The object ------------------------------------------------------------------------------ */

static void destroy_queues(struct tsv_device *device)
{
	simple_mtx_lock(&device->queues_lock);
	device->closing = true;
	simple_mtx_unlock(&device->queues_lock);
	vk_foreach_queue_safe(queue, &device->vk)
		tsv_queue_destroy(container_of(queue, struct tsv_queue, vk));
}

static VkResult create_queues(struct tsv_device *device, const VkDeviceCreateInfo *info)
{
	VkResult result = VK_SUCCESS;
	uint32_t i, j;

	for (i = 0; i < info->queueCreateInfoCount; i++) {
		const VkDeviceQueueCreateInfo *queue = &info->pQueueCreateInfos[i];

		for (j = 0; j < queue->queueCount && result == VK_SUCCESS; j++)
			result = tsv_queue_create(device, queue, j);
	}
	return result;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateDevice(VkPhysicalDevice handle,
						const VkDeviceCreateInfo *info,
						const VkAllocationCallbacks *alloc, VkDevice *out)
{
	VK_FROM_HANDLE(tsv_physical_device, physical, handle);
	struct vk_device_dispatch_table table;
	struct tsv_device *device;
	VkResult result;
	int ret;

	device = vk_zalloc2(&physical->vk.instance->alloc, alloc, sizeof(*device), 8,
			    VK_SYSTEM_ALLOCATION_SCOPE_DEVICE);
	if (!device)
		return vk_error(physical, VK_ERROR_OUT_OF_HOST_MEMORY);
	vk_device_dispatch_table_from_entrypoints(&table, &tsv_device_entrypoints, true);
	vk_device_dispatch_table_from_entrypoints(&table, &wsi_device_entrypoints, false);
	result = vk_device_init(&device->vk, &physical->vk, &table, info, alloc);
	if (result != VK_SUCCESS) {
		vk_free2(&physical->vk.instance->alloc, alloc, device);
		return result;
	}
	simple_mtx_init(&device->lock, mtx_plain);
	simple_mtx_init(&device->queues_lock, mtx_plain);
	device->vk.check_status = check_status;
	device->vk.command_buffer_ops = &tsv_cmd_ops;
	device->vk.shader_ops = &tsv_device_shader_ops;
	util_dynarray_init(&device->old_scratch, NULL);
	ret = open_device(device, physical->path);
	if (ret) {
		result = tsv_error(physical, ret);
		goto fail;
	}
	vk_device_set_drm_fd(&device->vk, tsr_device_fd(device->tsr));
	result = create_queues(device, info);
	if (result == VK_SUCCESS)
		result = tsv_meta_init(device);
	if (result != VK_SUCCESS)
		goto fail;
	*out = tsv_device_to_handle(device);
	return VK_SUCCESS;
fail:
	destroy_queues(device);
	close_device(device);
	simple_mtx_destroy(&device->queues_lock);
	simple_mtx_destroy(&device->lock);
	vk_device_finish(&device->vk);
	vk_free2(&physical->vk.instance->alloc, alloc, device);
	return result;
}

VKAPI_ATTR void VKAPI_CALL tsv_DestroyDevice(VkDevice handle, const VkAllocationCallbacks *alloc)
{
	VK_FROM_HANDLE(tsv_device, device, handle);

	if (!device)
		return;
	vk_meta_device_finish(&device->vk, &device->meta);
	destroy_queues(device);
	close_device(device);
	simple_mtx_destroy(&device->queues_lock);
	simple_mtx_destroy(&device->lock);
	vk_device_finish(&device->vk);
	vk_free(&device->vk.alloc, device);
}
