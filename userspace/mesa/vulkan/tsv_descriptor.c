// SPDX-License-Identifier: MIT
#include "tsv_descriptor.h"
#include "tsv_memory.h"

#include "util/mesa-blake3.h"
#include "vk_alloc.h"
#include "vk_descriptor_update_template.h"
#include "vk_util.h"

struct tsv_set_pool {
	struct vk_object_base base;
	struct list_head sets;		/* struct tsv_set */
	uint32_t used, most;		/* sets */
};

VK_DEFINE_NONDISP_HANDLE_CASTS(tsv_set_pool, base, VkDescriptorPool,
			       VK_OBJECT_TYPE_DESCRIPTOR_POOL)

static bool is_supported(VkDescriptorType type)
{
	return type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER ||
	       type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER || tsv_is_dynamic(type);
}

/* ---- Layouts --------------------------------------------------------------------------------- */

static void place_bindings(struct tsv_set_layout *layout,
			   const VkDescriptorSetLayoutCreateInfo *info)
{
	struct mesa_blake3 hash;
	uint32_t i;

	for (i = 0; i < info->bindingCount; i++) {
		const VkDescriptorSetLayoutBinding *b = &info->pBindings[i];

		layout->bindings[b->binding].type = b->descriptorType;
		layout->bindings[b->binding].count = b->descriptorCount;
	}
	for (i = 0; i < layout->count; i++) {
		struct tsv_binding *b = &layout->bindings[i];

		b->offset = layout->size;
		b->dynamic = layout->dynamic;
		layout->size += b->count * sizeof(struct tsv_descriptor);
		if (tsv_is_dynamic(b->type))
			layout->dynamic += b->count;
	}
	_mesa_blake3_init(&hash);
	_mesa_blake3_update(&hash, layout->bindings, layout->count * sizeof(layout->bindings[0]));
	_mesa_blake3_final(&hash, layout->vk.blake3);
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateDescriptorSetLayout(
	VkDevice handle, const VkDescriptorSetLayoutCreateInfo *info,
	const VkAllocationCallbacks *alloc, VkDescriptorSetLayout *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	struct tsv_set_layout *layout;
	uint32_t count = 0, i;

	for (i = 0; i < info->bindingCount; i++) {
		const VkDescriptorSetLayoutBinding *b = &info->pBindings[i];

		if (b->descriptorCount && !is_supported(b->descriptorType))
			return vk_errorf(device, VK_ERROR_FEATURE_NOT_PRESENT,
					 "descriptors of type %u", b->descriptorType);
		count = MAX2(count, b->binding + 1);
	}
	layout = vk_descriptor_set_layout_zalloc(&device->vk, sizeof(*layout) +
							      count * sizeof(layout->bindings[0]));
	if (!layout)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	layout->count = count;
	place_bindings(layout, info);
	*out = tsv_set_layout_to_handle(layout);
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_GetDescriptorSetLayoutSupport(
	VkDevice handle, const VkDescriptorSetLayoutCreateInfo *info,
	VkDescriptorSetLayoutSupport *support)
{
	uint32_t i;

	support->supported = VK_TRUE;
	for (i = 0; i < info->bindingCount; i++) {
		const VkDescriptorSetLayoutBinding *b = &info->pBindings[i];

		if (b->descriptorCount && !is_supported(b->descriptorType))
			support->supported = VK_FALSE;
	}
}

/* ---- Pools and sets -------------------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateDescriptorPool(VkDevice handle,
							const VkDescriptorPoolCreateInfo *info,
							const VkAllocationCallbacks *alloc,
							VkDescriptorPool *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	struct tsv_set_pool *pool = vk_object_zalloc(&device->vk, alloc, sizeof(*pool),
						     VK_OBJECT_TYPE_DESCRIPTOR_POOL);

	if (!pool)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	list_inithead(&pool->sets);
	pool->most = info->maxSets;
	*out = tsv_set_pool_to_handle(pool);
	return VK_SUCCESS;
}

static void free_set(struct tsv_device *device, struct tsv_set_pool *pool, struct tsv_set *set)
{
	list_del(&set->link);
	pool->used--;
	tsr_pool_free(device->lists, &set->memory);
	vk_descriptor_set_layout_unref(&device->vk, &set->layout->vk);
	vk_object_free(&device->vk, NULL, set);
}

static void free_sets(struct tsv_device *device, struct tsv_set_pool *pool)
{
	list_for_each_entry_safe(struct tsv_set, set, &pool->sets, link)
		free_set(device, pool, set);
}

VKAPI_ATTR void VKAPI_CALL tsv_DestroyDescriptorPool(VkDevice handle, VkDescriptorPool dp,
						     const VkAllocationCallbacks *alloc)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_set_pool, pool, dp);

	if (!pool)
		return;
	free_sets(device, pool);
	vk_object_free(&device->vk, alloc, pool);
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_ResetDescriptorPool(VkDevice handle, VkDescriptorPool dp,
						       VkDescriptorPoolResetFlags flags)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_set_pool, pool, dp);

	free_sets(device, pool);
	return VK_SUCCESS;
}

static VkResult allocate_set(struct tsv_device *device, struct tsv_set_pool *pool,
			     struct tsv_set_layout *layout, VkDescriptorSet *out)
{
	struct tsv_set *set;
	int ret;

	if (pool->used == pool->most)
		return VK_ERROR_OUT_OF_POOL_MEMORY;
	set = vk_object_zalloc(&device->vk, NULL, sizeof(*set), VK_OBJECT_TYPE_DESCRIPTOR_SET);
	if (!set)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	if (layout->size) {
		ret = tsr_pool_alloc(device->lists, layout->size, 64, &set->memory);
		if (ret) {
			vk_object_free(&device->vk, NULL, set);
			return tsv_error(device, ret);
		}
		memset(set->memory.cpu, 0, layout->size);
	}
	set->layout = layout;
	vk_descriptor_set_layout_ref(&layout->vk);
	list_addtail(&set->link, &pool->sets);
	pool->used++;
	*out = tsv_set_to_handle(set);
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_AllocateDescriptorSets(VkDevice handle,
							  const VkDescriptorSetAllocateInfo *info,
							  VkDescriptorSet *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_set_pool, pool, info->descriptorPool);
	VkResult result = VK_SUCCESS;
	uint32_t i;

	for (i = 0; i < info->descriptorSetCount && result == VK_SUCCESS; i++) {
		VK_FROM_HANDLE(tsv_set_layout, layout, info->pSetLayouts[i]);

		result = allocate_set(device, pool, layout, &out[i]);
	}
	if (result == VK_SUCCESS)
		return VK_SUCCESS;
	/* all or none; the last one was not made */
	tsv_FreeDescriptorSets(handle, info->descriptorPool, i - 1, out);
	for (i = 0; i < info->descriptorSetCount; i++)
		out[i] = VK_NULL_HANDLE;
	return result;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_FreeDescriptorSets(VkDevice handle, VkDescriptorPool dp,
						      uint32_t count, const VkDescriptorSet *sets)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_set_pool, pool, dp);
	uint32_t i;

	for (i = 0; i < count; i++) {
		VK_FROM_HANDLE(tsv_set, set, sets[i]);

		if (set)
			free_set(device, pool, set);
	}
	return VK_SUCCESS;
}

/* ---- Updates --------------------------------------------------------------------------------- */

/*
 * Descriptor @element of @binding; an element beyond the binding's is one of the next binding that
 * has any.
 */
static struct tsv_descriptor *descriptor(struct tsv_set *set, uint32_t binding, uint32_t element)
{
	const struct tsv_binding *b = &set->layout->bindings[binding];

	/* the elements of consecutive bindings are consecutive */
	return (struct tsv_descriptor *)((uint8_t *)set->memory.cpu + b->offset) + element;
}

static void write_buffer(struct tsv_descriptor *to, const VkDescriptorBufferInfo *info)
{
	VK_FROM_HANDLE(tsv_buffer, buffer, info->buffer);

	*to = (struct tsv_descriptor){ 0 };
	if (!buffer)
		return;
	to->va = buffer->va + info->offset;
	to->size = (uint32_t)MIN2(vk_buffer_range(&buffer->vk, info->offset, info->range),
				  UINT32_MAX);
}

VKAPI_ATTR void VKAPI_CALL tsv_UpdateDescriptorSets(VkDevice handle, uint32_t writes,
						    const VkWriteDescriptorSet *write,
						    uint32_t copies,
						    const VkCopyDescriptorSet *copy)
{
	uint32_t i, j;

	for (i = 0; i < writes; i++) {
		VK_FROM_HANDLE(tsv_set, set, write[i].dstSet);

		for (j = 0; j < write[i].descriptorCount; j++)
			write_buffer(descriptor(set, write[i].dstBinding,
						write[i].dstArrayElement + j),
				     &write[i].pBufferInfo[j]);
	}
	for (i = 0; i < copies; i++) {
		VK_FROM_HANDLE(tsv_set, from, copy[i].srcSet);
		VK_FROM_HANDLE(tsv_set, to, copy[i].dstSet);

		memmove(descriptor(to, copy[i].dstBinding, copy[i].dstArrayElement),
			descriptor(from, copy[i].srcBinding, copy[i].srcArrayElement),
			copy[i].descriptorCount * sizeof(struct tsv_descriptor));
	}
}

VKAPI_ATTR void VKAPI_CALL tsv_UpdateDescriptorSetWithTemplate(VkDevice handle, VkDescriptorSet ds,
							       VkDescriptorUpdateTemplate ut,
							       const void *data)
{
	VK_FROM_HANDLE(tsv_set, set, ds);
	VK_FROM_HANDLE(vk_descriptor_update_template, template, ut);
	uint32_t i, j;

	for (i = 0; i < template->entry_count; i++) {
		const struct vk_descriptor_template_entry *e = &template->entries[i];

		for (j = 0; j < e->array_count; j++)
			write_buffer(descriptor(set, e->binding, e->array_element + j),
				     (const void *)((const uint8_t *)data + e->offset +
						    j * e->stride));
	}
}
