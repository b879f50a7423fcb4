/* SPDX-License-Identifier: MIT */
/*
 * Descriptor sets. A set is memory that the shader reads: for each element of a binding the address
 * and the size of a buffer. Shaders check every access against the size, so they need no tables of
 * the device. Sets may change until the commands that use them run.
 */
#ifndef TSV_DESCRIPTOR_H
#define TSV_DESCRIPTOR_H

#include "util/list.h"
#include "vk_descriptor_set_layout.h"

#include "tsv_device.h"

#define TSV_SETS	8u	/* of a pipeline layout */
#define TSV_DYNAMIC	16u	/* descriptors of a pipeline layout with a dynamic offset */

/* One element of a binding, as the shader reads it. */
struct tsv_descriptor {
	uint64_t va;
	uint32_t size;		/* bytes; 0: nothing is bound, loads return 0 */
	uint32_t pad;
};

struct tsv_binding {
	VkDescriptorType type;
	uint32_t count;		/* elements; 0: there is no such binding */
	uint32_t offset;	/* of the first element in the set, bytes */
	uint32_t dynamic;	/* number of its first dynamic offset in the set */
};

struct tsv_set_layout {
	struct vk_descriptor_set_layout vk;
	uint32_t size;		/* bytes of a set */
	uint32_t dynamic;	/* dynamic offsets of a set */
	uint32_t count;
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

static inline bool tsv_is_dynamic(VkDescriptorType type)
{
	return type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC ||
	       type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
}

#endif
