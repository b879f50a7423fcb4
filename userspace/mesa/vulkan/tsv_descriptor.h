/* SPDX-License-Identifier: MIT */
/*
 * Descriptor sets. A set is memory that the shader reads. For each element of a binding it holds
 * the address and the size of a buffer, or the device's descriptors of a texture, sampler or image.
 *
 * Shaders check every access to a buffer against the size, so buffers need no tables of the device,
 * and may change until the commands that use them run. Textures, samplers and images are copied to
 * tables when a draw or dispatch is recorded. The size of an image is read from the set.
 */
#ifndef TSV_DESCRIPTOR_H
#define TSV_DESCRIPTOR_H

#include "util/list.h"
#include "vk_descriptor_set_layout.h"

#include "tsv_image.h"

#define TSV_SETS	8u	/* of a pipeline layout */
#define TSV_DYNAMIC	16u	/* descriptors of a pipeline layout with a dynamic offset */

/* One element of a binding, as the shader reads it. */
struct tsv_descriptor {
	uint64_t va;
	uint32_t size;		/* bytes; 0: nothing is bound, loads return 0 */
	uint32_t pad;
};

/* An element with a texture, a sampler, or both. */
struct tsv_texture_descriptor {
	uint64_t texture[TC_DESCRIPTOR_QWORDS];
	uint64_t sampler[TC_DESCRIPTOR_QWORDS];
	uint32_t size[4];	/* tsv_texture.size */
};

/* An element with a storage image. */
struct tsv_image_descriptor {
	uint64_t attribute;	/* names buffer 0 */
	uint64_t pad;
	uint64_t buffers[4];
	uint32_t size[4];	/* tsv_texture.size */
};

struct tsv_binding {
	VkDescriptorType type;
	uint32_t count;		/* elements; 0: there is no such binding */
	uint32_t offset;	/* of the first element in the set, bytes */
	uint32_t stride;	/* bytes from element to element, a multiple of 16 */
	uint32_t dynamic;	/* number of its first dynamic offset in the set */
	uint32_t immutable;	/* 1 + number of its first sampler in the layout's, or 0 */
};

struct tsv_set_layout {
	struct vk_descriptor_set_layout vk;
	uint32_t size;		/* bytes of a set */
	uint32_t dynamic;	/* dynamic offsets of a set */
	uint32_t count;
	const struct tsv_sampler **samplers;	/* immutable ones, behind the bindings */
	struct tsv_binding bindings[];
};

struct tsv_set {
	struct vk_object_base base;
	struct list_head link;	/* in tsv_set_pool.sets */
	struct tsv_set_layout *layout;	/* referenced */
	struct tsr_alloc memory;	/* of tsv_device.lists; empty if the size is 0 */
};

VK_DEFINE_NONDISP_HANDLE_CASTS(tsv_set_layout, vk.base, VkDescriptorSetLayout,
			       VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT)
VK_DEFINE_NONDISP_HANDLE_CASTS(tsv_set, base, VkDescriptorSet, VK_OBJECT_TYPE_DESCRIPTOR_SET)

/* tsv_set_write(): write descriptors to the memory of a set; dstSet does not matter. */
void tsv_set_write(const struct tsv_set *set, uint32_t count, const VkWriteDescriptorSet *writes);

static inline bool tsv_is_dynamic(VkDescriptorType type)
{
	return type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC ||
	       type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
}

#endif
