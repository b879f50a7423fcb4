/* SPDX-License-Identifier: MIT */
/* Memory and buffers. Every allocation is a BO that is mapped in the device's address space. */
#ifndef TSV_MEMORY_H
#define TSV_MEMORY_H

#include "vk_buffer.h"
#include "vk_device_memory.h"

#include "tsv_device.h"

struct tsv_memory {
	struct vk_device_memory vk;
	struct tsr_bo *bo;
	uint64_t va;
};

struct tsv_buffer {
	struct vk_buffer vk;
	uint64_t va;			/* 0 until memory is bound */
	struct tsv_sparse sparse;
};

VK_DEFINE_NONDISP_HANDLE_CASTS(tsv_memory, vk.base, VkDeviceMemory, VK_OBJECT_TYPE_DEVICE_MEMORY)
VK_DEFINE_NONDISP_HANDLE_CASTS(tsv_buffer, vk.base, VkBuffer, VK_OBJECT_TYPE_BUFFER)

/* tsv_memory_types(): the mask of all memory types. Buffers and images can be in any of them. */
uint32_t tsv_memory_types(const struct tsv_device *device);

#endif
