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

/* Bytes of an element; 0: the type is not supported. */
static uint32_t stride_of(VkDescriptorType type)
{
	switch (type) {
	case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
	case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
	case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
	case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
		return sizeof(struct tsv_descriptor);
	case VK_DESCRIPTOR_TYPE_SAMPLER:
	case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
	case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
	case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
	case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
		return sizeof(struct tsv_texture_descriptor);
	case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
	case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
		return sizeof(struct tsv_image_descriptor);
	default:
		return 0;
	}
}

/* ---- Layouts --------------------------------------------------------------------------------- */

static bool has_immutable(const VkDescriptorSetLayoutBinding *b)
{
	return b->pImmutableSamplers &&
	       (b->descriptorType == VK_DESCRIPTOR_TYPE_SAMPLER ||
		b->descriptorType == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER);
}

static void place_bindings(struct tsv_set_layout *layout,
			   const VkDescriptorSetLayoutCreateInfo *info)
{
	struct mesa_blake3 hash;
	uint32_t i, j, samplers = 0;

	for (i = 0; i < info->bindingCount; i++) {
		const VkDescriptorSetLayoutBinding *b = &info->pBindings[i];
		struct tsv_binding *binding = &layout->bindings[b->binding];

		binding->type = b->descriptorType;
		binding->count = b->descriptorCount;
		binding->stride = stride_of(b->descriptorType);
		if (!has_immutable(b))
			continue;
		binding->immutable = samplers + 1;
		for (j = 0; j < b->descriptorCount; j++)
			layout->samplers[samplers++] =
				tsv_sampler_from_handle(b->pImmutableSamplers[j]);
	}
	for (i = 0; i < layout->count; i++) {
		struct tsv_binding *b = &layout->bindings[i];

		b->offset = layout->size;
		b->dynamic = layout->dynamic;
		layout->size += b->count * b->stride;
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
	uint32_t count = 0, samplers = 0, i;

	for (i = 0; i < info->bindingCount; i++) {
		const VkDescriptorSetLayoutBinding *b = &info->pBindings[i];

		if (b->descriptorCount && !stride_of(b->descriptorType))
			return vk_errorf(device, VK_ERROR_FEATURE_NOT_PRESENT,
					 "descriptors of type %u", b->descriptorType);
		count = MAX2(count, b->binding + 1);
		samplers += has_immutable(b) ? b->descriptorCount : 0;
	}
	layout = vk_descriptor_set_layout_zalloc(
		&device->vk, sizeof(*layout) + count * sizeof(layout->bindings[0]) +
				     samplers * sizeof(layout->samplers[0]));
	if (!layout)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	layout->count = count;
	layout->samplers = (const struct tsv_sampler **)&layout->bindings[count];
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

		if (b->descriptorCount && !stride_of(b->descriptorType))
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

static void write_immutable(struct tsv_set *set)
{
	const struct tsv_set_layout *layout = set->layout;
	uint32_t i, j;

	for (i = 0; i < layout->count; i++) {
		const struct tsv_binding *b = &layout->bindings[i];
		struct tsv_texture_descriptor *to =
			(void *)((uint8_t *)set->memory.cpu + b->offset);

		for (j = 0; b->immutable && j < b->count; j++)
			tsv_sampler_pack(layout->samplers[b->immutable - 1 + j], PIPE_FORMAT_NONE,
					 to[j].sampler);
	}
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
	write_immutable(set);
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

/* One element of a set. */
struct element {
	const struct tsv_set *set;
	const struct tsv_binding *binding;
	uint32_t index;			/* within the binding */
	void *memory;
};

/*
 * Descriptor @index of @binding. An element beyond the binding's is one of the next binding that
 * has any.
 */
static struct element element_of(const struct tsv_set *set, uint32_t binding, uint32_t index)
{
	const struct tsv_binding *b = &set->layout->bindings[binding];

	while (index >= b->count && b + 1 < set->layout->bindings + set->layout->count) {
		index -= b->count;
		b++;
	}
	return (struct element){
		.set = set,
		.binding = b,
		.index = index,
		.memory = (uint8_t *)set->memory.cpu + b->offset + index * b->stride,
	};
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

static void write_texture(struct tsv_texture_descriptor *to, const struct tsv_texture *texture)
{
	static const struct tsv_texture none;

	if (!texture)
		texture = &none;
	memcpy(to->texture, texture->words, sizeof(to->texture));
	memcpy(to->size, texture->size, sizeof(to->size));
}

static void write_storage(struct tsv_image_descriptor *to, const struct tsv_texture *texture)
{
	*to = (struct tsv_image_descriptor){ 0 };
	if (!texture) {
		tc_image_none(0, &to->attribute, to->buffers);
		return;
	}
	to->attribute = texture->attribute;
	memcpy(to->buffers, texture->buffers, sizeof(to->buffers));
	memcpy(to->size, texture->size, sizeof(to->size));
}

/* The sampler of an element: an immutable one, or that of the update. */
static const struct tsv_sampler *sampler_of(const struct element *e,
					    const VkDescriptorImageInfo *info)
{
	return e->binding->immutable
		       ? e->set->layout->samplers[e->binding->immutable - 1 + e->index]
		       : tsv_sampler_from_handle(info->sampler);
}

static void write_image(const struct element *e, const VkDescriptorImageInfo *info)
{
	const VkDescriptorType type = e->binding->type;
	struct tsv_texture_descriptor *to = e->memory;
	const struct tsv_sampler *sampler;
	const struct tsv_view *view;

	if (type == VK_DESCRIPTOR_TYPE_SAMPLER) {
		tsv_sampler_pack(sampler_of(e, info), PIPE_FORMAT_NONE, to->sampler);
		return;
	}
	view = tsv_view_from_handle(info->imageView);
	if (type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE) {
		write_storage(e->memory, view ? &view->texture : NULL);
		return;
	}
	write_texture(to, view ? &view->texture : NULL);
	if (type != VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER)
		return;
	sampler = sampler_of(e, info);
	tsv_sampler_pack(sampler, view ? tsv_plane_format(view->vk.format, view->vk.aspects)
				       : PIPE_FORMAT_NONE, to->sampler);
}

/* @info: a VkDescriptorBufferInfo, a VkDescriptorImageInfo or a VkBufferView, as the type says. */
static void write_element(const struct element *e, const void *info)
{
	const struct tsv_buffer_view *view;

	switch (e->binding->type) {
	case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
		view = tsv_buffer_view_from_handle(*(const VkBufferView *)info);
		write_texture(e->memory, view ? &view->texture : NULL);
		break;
	case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
		view = tsv_buffer_view_from_handle(*(const VkBufferView *)info);
		write_storage(e->memory, view ? &view->texture : NULL);
		break;
	case VK_DESCRIPTOR_TYPE_SAMPLER:
	case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
	case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
	case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
	case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
		write_image(e, info);
		break;
	default:
		write_buffer(e->memory, info);
		break;
	}
}

static const void *info_of(const VkWriteDescriptorSet *w, VkDescriptorType type, uint32_t i)
{
	switch (type) {
	case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
	case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
		return &w->pTexelBufferView[i];
	case VK_DESCRIPTOR_TYPE_SAMPLER:
	case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
	case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
	case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
	case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
		return &w->pImageInfo[i];
	default:
		return &w->pBufferInfo[i];
	}
}

/* Immutable samplers stay. */
static void copy_element(const struct element *to, const struct element *from)
{
	struct tsv_texture_descriptor *texture = to->memory;
	uint64_t sampler[TC_DESCRIPTOR_QWORDS];

	if (!to->binding->immutable) {
		memmove(to->memory, from->memory, to->binding->stride);
		return;
	}
	memcpy(sampler, texture->sampler, sizeof(sampler));
	memmove(to->memory, from->memory, to->binding->stride);
	memcpy(texture->sampler, sampler, sizeof(sampler));
}

void tsv_set_write(const struct tsv_set *set, uint32_t count, const VkWriteDescriptorSet *writes)
{
	struct element to;
	uint32_t i, j;

	for (i = 0; i < count; i++)
		for (j = 0; j < writes[i].descriptorCount; j++) {
			to = element_of(set, writes[i].dstBinding, writes[i].dstArrayElement + j);
			write_element(&to, info_of(&writes[i], to.binding->type, j));
		}
}

VKAPI_ATTR void VKAPI_CALL tsv_UpdateDescriptorSets(VkDevice handle, uint32_t writes,
						    const VkWriteDescriptorSet *write,
						    uint32_t copies,
						    const VkCopyDescriptorSet *copy)
{
	struct element to, from;
	uint32_t i, j;

	for (i = 0; i < writes; i++) {
		VK_FROM_HANDLE(tsv_set, set, write[i].dstSet);

		tsv_set_write(set, 1, &write[i]);
	}
	for (i = 0; i < copies; i++) {
		VK_FROM_HANDLE(tsv_set, src, copy[i].srcSet);
		VK_FROM_HANDLE(tsv_set, dst, copy[i].dstSet);

		for (j = 0; j < copy[i].descriptorCount; j++) {
			to = element_of(dst, copy[i].dstBinding, copy[i].dstArrayElement + j);
			from = element_of(src, copy[i].srcBinding, copy[i].srcArrayElement + j);
			copy_element(&to, &from);
		}
	}
}

VKAPI_ATTR void VKAPI_CALL tsv_UpdateDescriptorSetWithTemplate(VkDevice handle, VkDescriptorSet ds,
							       VkDescriptorUpdateTemplate ut,
							       const void *data)
{
	VK_FROM_HANDLE(tsv_set, set, ds);
	VK_FROM_HANDLE(vk_descriptor_update_template, template, ut);
	struct element to;
	uint32_t i, j;

	for (i = 0; i < template->entry_count; i++) {
		const struct vk_descriptor_template_entry *e = &template->entries[i];

		for (j = 0; j < e->array_count; j++) {
			to = element_of(set, e->binding, e->array_element + j);
			write_element(&to, (const uint8_t *)data + e->offset + j * e->stride);
		}
	}
}
