// SPDX-License-Identifier: MIT
#include "tsv_memory.h"

#include "vk_alloc.h"
#include "vk_util.h"

#include <unistd.h>

#define SHARED	(VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT |		\
		 VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT)

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool is_local(const struct tsv_device *device, uint32_t type)
{
	const struct tsv_physical_device *physical = container_of(device->vk.physical,
								  struct tsv_physical_device, vk);

	return physical->memory.memoryTypes[type].heapIndex == 1;
}

uint32_t tsv_memory_types(const struct tsv_device *device)
{
	const struct tsv_physical_device *physical = container_of(device->vk.physical,
								  struct tsv_physical_device, vk);

	return BITFIELD_MASK(physical->memory.memoryTypeCount);
}

/* The kernel's BOs are all at least as large as the export of an allocation promises. */
static int import(struct tsv_device *device, struct tsv_memory *memory, int fd)
{
	int ret = tsr_bo_import(device->tsr, fd, &memory->bo);

	if (ret)
		return ret;
	return tsr_bo_size(memory->bo) >= memory->vk.size ? 0 : -EBADF;
}

/* Get a BO and map it; -errno. */
static int fill(struct tsv_device *device, struct tsv_memory *memory,
		const VkImportMemoryFdInfoKHR *from)
{
	const uint32_t flags = is_local(device, memory->vk.memory_type_index)
				       ? DRM_TESSERA_BO_LOCAL : DRM_TESSERA_BO_CACHED;
	int ret;

	if (from)
		ret = import(device, memory, from->fd);
	else
		ret = tsr_bo_create(device->tsr, memory->vk.size, flags, NULL, &memory->bo);
	if (!ret)
		ret = tsv_device_map(device, memory->bo, tsr_bo_size(memory->bo), &memory->va);
	return ret;
}

static void empty(struct tsv_device *device, struct tsv_memory *memory)
{
	if (memory->va)
		tsv_device_unmap(device, memory->va, tsr_bo_size(memory->bo));
	tsr_bo_unref(memory->bo);
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_AllocateMemory(VkDevice handle,
						  const VkMemoryAllocateInfo *info,
						  const VkAllocationCallbacks *alloc,
						  VkDeviceMemory *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	const VkImportMemoryFdInfoKHR *from = vk_find_struct_const(info->pNext,
								   IMPORT_MEMORY_FD_INFO_KHR);
	struct tsv_memory *memory = vk_device_memory_create(&device->vk, info, alloc,
							    sizeof(*memory));
	VkResult result;
	int ret;

	if (!memory)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	if (from && !from->handleType)
		from = NULL;
	ret = fill(device, memory, from);
	if (ret) {
		result = from && ret != -ENOMEM ? VK_ERROR_INVALID_EXTERNAL_HANDLE
						: tsv_result(ret);
		if (result == VK_ERROR_UNKNOWN)		/* a size that the kernel does not take */
			result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
		result = vk_errorf(device, result, "%s", tsr_error_message());
		empty(device, memory);
		vk_device_memory_destroy(&device->vk, alloc, &memory->vk);
		return result;
	}
	/* an import that succeeds owns the file */
	if (from)
		close(from->fd);
	*out = tsv_memory_to_handle(memory);
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_FreeMemory(VkDevice handle, VkDeviceMemory mem,
					  const VkAllocationCallbacks *alloc)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_memory, memory, mem);

	if (!memory)
		return;
	empty(device, memory);
	vk_device_memory_destroy(&device->vk, alloc, &memory->vk);
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_MapMemory2KHR(VkDevice handle, const VkMemoryMapInfoKHR *info,
						 void **data)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_memory, memory, info->memory);
	void *map;

	if (tsr_bo_map(memory->bo, &map))
		return vk_errorf(device, VK_ERROR_MEMORY_MAP_FAILED, "%s", tsr_error_message());
	*data = (uint8_t *)map + info->offset;
	return VK_SUCCESS;
}

/* The mapping lasts as long as the memory. */
VKAPI_ATTR VkResult VKAPI_CALL tsv_UnmapMemory2KHR(VkDevice handle,
						   const VkMemoryUnmapInfoKHR *info)
{
	return VK_SUCCESS;
}

/* All memory is coherent. */
VKAPI_ATTR VkResult VKAPI_CALL tsv_FlushMappedMemoryRanges(VkDevice handle, uint32_t count,
							   const VkMappedMemoryRange *ranges)
{
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_InvalidateMappedMemoryRanges(VkDevice handle, uint32_t count,
								const VkMappedMemoryRange *ranges)
{
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_GetDeviceMemoryCommitment(VkDevice handle, VkDeviceMemory mem,
							 VkDeviceSize *bytes)
{
	VK_FROM_HANDLE(tsv_memory, memory, mem);

	*bytes = memory->vk.size;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_GetMemoryFdKHR(VkDevice handle,
						  const VkMemoryGetFdInfoKHR *info, int *fd)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_memory, memory, info->memory);
	const int ret = tsr_bo_export(memory->bo, fd);

	return ret ? tsv_error(device, ret) : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_GetMemoryFdPropertiesKHR(VkDevice handle,
							    VkExternalMemoryHandleTypeFlagBits type,
							    int fd,
							    VkMemoryFdPropertiesKHR *properties)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	struct tsr_bo *bo;

	if (!(type & SHARED) || tsr_bo_import(device->tsr, fd, &bo))
		return vk_error(device, VK_ERROR_INVALID_EXTERNAL_HANDLE);
	tsr_bo_unref(bo);
	properties->memoryTypeBits = 1;
	return VK_SUCCESS;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateBuffer(VkDevice handle, const VkBufferCreateInfo *info,
						const VkAllocationCallbacks *alloc, VkBuffer *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	struct tsv_buffer *buffer;
	VkResult result;

	if (info->size > tsr_device_info(device->tsr)->max_bo_size)
		return vk_error(device, VK_ERROR_OUT_OF_DEVICE_MEMORY);
	buffer = vk_buffer_create(&device->vk, info, alloc, sizeof(*buffer));
	if (!buffer)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	if (info->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) {
		result = tsv_sparse_create(device, info->size, &buffer->sparse);
		if (result != VK_SUCCESS) {
			vk_buffer_destroy(&device->vk, alloc, &buffer->vk);
			return result;
		}
		buffer->va = buffer->sparse.va;
	}
	*out = tsv_buffer_to_handle(buffer);
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_DestroyBuffer(VkDevice handle, VkBuffer buf,
					     const VkAllocationCallbacks *alloc)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_buffer, buffer, buf);

	if (!buffer)
		return;
	tsv_sparse_destroy(device, &buffer->sparse);
	vk_buffer_destroy(&device->vk, alloc, &buffer->vk);
}

VKAPI_ATTR void VKAPI_CALL tsv_GetDeviceBufferMemoryRequirements(
	VkDevice handle, const VkDeviceBufferMemoryRequirements *info,
	VkMemoryRequirements2 *requirements)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	const bool sparse = info->pCreateInfo->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT;
	const uint32_t align = sparse ? TSV_PAGE : TSV_BUFFER_ALIGN;

	requirements->memoryRequirements = (VkMemoryRequirements){
		.size = align64(info->pCreateInfo->size, align),
		.alignment = align,
		.memoryTypeBits = tsv_memory_types(device),
	};
	vk_foreach_struct(ext, requirements->pNext) {
		if (ext->sType == VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS) {
			VkMemoryDedicatedRequirements *dedicated = (void *)ext;

			dedicated->prefersDedicatedAllocation = false;
			dedicated->requiresDedicatedAllocation = false;
		}
	}
}

VKAPI_ATTR VkDeviceAddress VKAPI_CALL tsv_GetBufferDeviceAddress(
	VkDevice handle, const VkBufferDeviceAddressInfo *info)
{
	VK_FROM_HANDLE(tsv_buffer, buffer, info->buffer);

	return buffer->va;
}

/* Addresses cannot be chosen for replay: bufferDeviceAddressCaptureReplay is not offered. */
VKAPI_ATTR uint64_t VKAPI_CALL tsv_GetBufferOpaqueCaptureAddress(
	VkDevice handle, const VkBufferDeviceAddressInfo *info)
{
	return 0;
}

VKAPI_ATTR uint64_t VKAPI_CALL tsv_GetDeviceMemoryOpaqueCaptureAddress(
	VkDevice handle, const VkDeviceMemoryOpaqueCaptureAddressInfo *info)
{
	return 0;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_BindBufferMemory2(VkDevice handle, uint32_t count,
						     const VkBindBufferMemoryInfo *infos)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		VK_FROM_HANDLE(tsv_buffer, buffer, infos[i].buffer);
		VK_FROM_HANDLE(tsv_memory, memory, infos[i].memory);

		buffer->va = memory->va + infos[i].memoryOffset;
	}
	return VK_SUCCESS;
}
