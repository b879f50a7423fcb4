// SPDX-License-Identifier: MIT
/*
 * Sparse memory. A sparse buffer or image owns a range of addresses. Where no memory is bound, the
 * range is mapped to nothing: loads return 0 and stores have no effect.
 *
 * vkQueueBindSparse() becomes asynchronous VM_BINDs. They wait for the submission of the queue
 * before them, and the next one waits for them, so a queue's work is in order.
 */
#include <errno.h>
#include <xf86drm.h>

#include "tsv_image.h"
#include "tsv_memory.h"

#include "util/u_dynarray.h"

VkResult tsv_sparse_create(struct tsv_device *device, uint64_t size, struct tsv_sparse *out)
{
	uint64_t va;
	const int ret = tsv_device_map(device, NULL, size, &va);

	if (ret)
		return tsv_error(device, ret);
	*out = (struct tsv_sparse){ .va = va, .size = align64(size, TSV_PAGE) };
	return VK_SUCCESS;
}

void tsv_sparse_destroy(struct tsv_device *device, struct tsv_sparse *sparse)
{
	if (sparse->size)
		tsv_device_unmap(device, sparse->va, sparse->size);
	sparse->size = 0;
}

/* ---- Binds ----------------------------------------------------------------------------------- */

/* Binds of one submission that the kernel does not have yet. */
struct binds {
	struct tsv_queue *queue;
	struct util_dynarray ops;	/* struct drm_tessera_bind_op */
};

static void add_op(struct binds *b, const struct tsv_sparse *sparse, const VkSparseMemoryBind *bind)
{
	VK_FROM_HANDLE(tsv_memory, memory, bind->memory);
	struct drm_tessera_bind_op op = {
		.op = DRM_TESSERA_BIND_MAP_NULL,
		.va = sparse->va + bind->resourceOffset,
		.size = align64(bind->size, TSV_PAGE),
	};

	if (memory) {
		op.op = DRM_TESSERA_BIND_MAP;
		op.flags = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
		op.bo_handle = tsr_bo_handle(memory->bo);
		op.bo_offset = bind->memoryOffset;
	}
	util_dynarray_append(&b->ops, struct drm_tessera_bind_op, op);
}

static void collect(struct binds *b, const struct vk_queue_submit *submit)
{
	uint32_t i, j;

	for (i = 0; i < submit->buffer_bind_count; i++) {
		const VkSparseBufferMemoryBindInfo *info = &submit->buffer_binds[i];
		VK_FROM_HANDLE(tsv_buffer, buffer, info->buffer);

		for (j = 0; j < info->bindCount; j++)
			add_op(b, &buffer->sparse, &info->pBinds[j]);
	}
	for (i = 0; i < submit->image_opaque_bind_count; i++) {
		const VkSparseImageOpaqueMemoryBindInfo *info = &submit->image_opaque_binds[i];
		VK_FROM_HANDLE(tsv_image, image, info->image);

		for (j = 0; j < info->bindCount; j++)
			add_op(b, &image->sparse, &info->pBinds[j]);
	}
}

static VkResult bind(struct binds *b, const struct drm_tessera_array *ops,
		     const struct drm_tessera_array *waits, const struct drm_tessera_array *signals)
{
	struct tsv_device *device = container_of(b->queue->vk.base.device, struct tsv_device, vk);
	struct drm_tessera_vm_bind arg = { .vm_id = tsr_vm_id(device->vm),
					   .flags = DRM_TESSERA_VM_BIND_ASYNC };

	if (ops)
		arg.ops = *ops;
	if (waits)
		arg.waits = *waits;
	if (signals)
		arg.signals = *signals;
	if (!drmIoctl(device->vk.drm_fd, DRM_IOCTL_TESSERA_VM_BIND, &arg))
		return VK_SUCCESS;
	return vk_queue_set_lost(&b->queue->vk, "VM_BIND failed: %s", tsr_error_string(errno));
}

/* Binds without operations, for @count syncs of one direction, at most @most at a time. */
static VkResult add_syncs(struct binds *b, const struct drm_tessera_sync *syncs, unsigned count,
			  unsigned most, bool signal)
{
	VkResult result = VK_SUCCESS;
	unsigned done, part;

	for (done = 0; done < count && result == VK_SUCCESS; done += part) {
		struct drm_tessera_array array = { .ptr = (uintptr_t)(syncs + done),
						   .stride = sizeof(*syncs) };

		array.count = part = MIN2(count - done, most);
		result = bind(b, NULL, signal ? NULL : &array, signal ? &array : NULL);
	}
	return result;
}

static VkResult add_ops(struct binds *b, unsigned most)
{
	const struct drm_tessera_bind_op *ops = b->ops.data;
	const unsigned count = util_dynarray_num_elements(&b->ops, struct drm_tessera_bind_op);
	VkResult result = VK_SUCCESS;
	unsigned done, part;

	for (done = 0; done < count && result == VK_SUCCESS; done += part) {
		struct drm_tessera_array array = { .ptr = (uintptr_t)(ops + done),
						   .stride = sizeof(*ops) };

		array.count = part = MIN2(count - done, most);
		result = bind(b, &array, NULL, NULL);
	}
	return result;
}

VkResult tsv_sparse_submit(struct tsv_queue *queue, const struct vk_queue_submit *submit,
			   const struct drm_tessera_sync *syncs, unsigned waits, unsigned signals)
{
	const struct tsv_device *device = container_of(queue->vk.base.device, struct tsv_device,
						       vk);
	const struct drm_tessera_gpu_info *info = tsr_device_info(device->tsr);
	struct binds b = { .queue = queue };
	VkResult result;

	util_dynarray_init(&b.ops, NULL);
	collect(&b, submit);
	result = add_syncs(&b, syncs, waits, info->max_syncs, false);
	if (result == VK_SUCCESS)
		result = add_ops(&b, info->max_bind_ops);
	if (result == VK_SUCCESS)
		result = add_syncs(&b, syncs + waits, signals, info->max_syncs, true);
	util_dynarray_fini(&b.ops);
	return result;
}
