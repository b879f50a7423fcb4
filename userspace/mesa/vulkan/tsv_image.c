// SPDX-License-Identifier: MIT
/* Images, views of images and of buffers. */
#include "tsv_image.h"
#include "tsv_memory.h"
#include "tsv_modifier.h"

#include "vk_alloc.h"
#include "vk_format.h"
#include "vk_meta.h"
#include "vk_util.h"

/* ---- Layout ---------------------------------------------------------------------------------- */

static bool has_two_planes(VkFormat format)
{
	return vk_format_aspects(format) == (VK_IMAGE_ASPECT_DEPTH_BIT |
					     VK_IMAGE_ASPECT_STENCIL_BIT);
}

enum pipe_format tsv_plane_format(VkFormat format, VkImageAspectFlags aspect)
{
	if (has_two_planes(format))
		format = aspect & VK_IMAGE_ASPECT_DEPTH_BIT ? vk_format_depth_only(format)
							    : vk_format_stencil_only(format);
	return vk_format_to_pipe_format(format);
}

const struct tsv_plane *tsv_image_plane(const struct tsv_image *image, VkImageAspectFlags aspect)
{
	return &image->plane[has_two_planes(image->vk.format) &&
			     !(aspect & VK_IMAGE_ASPECT_DEPTH_BIT)];
}

uint64_t tsv_image_va(const struct tsv_image *image, const struct tsv_plane *plane, unsigned level,
		      unsigned layer, unsigned sample)
{
	return image->va + plane->offset + tc_layout_offset(&plane->mem, level, layer, sample);
}

/*
 * A row of texels gains nothing from tiles, and the compressed layout of the device has none. A
 * window system that knows no modifiers expects rows of texels.
 */
static bool is_tiled(const struct vk_image *vk)
{
	if (vk->tiling == VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT)
		return tsv_modifier_is_tiled(vk->drm_format_mod);
	return vk->tiling == VK_IMAGE_TILING_OPTIMAL && !vk->wsi_legacy_scanout &&
	       vk->image_type != VK_IMAGE_TYPE_1D &&
	       !vk_format_is_block_compressed(vk->format);
}

/* @first: offset and pitch of the first plane, or zeroes. */
static void lay_out(struct tsv_image *image, const VkSubresourceLayout *first)
{
	const struct vk_image *vk = &image->vk;
	const unsigned planes = has_two_planes(vk->format) ? 2 : 1;
	struct tc_shape shape = {
		.width = vk->extent.width,
		.height = vk->extent.height,
		.depth = vk->extent.depth,
		.levels = vk->mip_levels,
		.layers = vk->array_layers,
		.samples = vk->samples,
		.volume = vk->image_type == VK_IMAGE_TYPE_3D,
		.tiled = is_tiled(vk),
	};
	const uint32_t pitch = (uint32_t)first->rowPitch * tsv_pitch_rows(image);
	unsigned i;

	image->size = first->offset;
	for (i = 0; i < planes; i++) {
		struct tsv_plane *plane = &image->plane[i];

		plane->format = tsv_plane_format(vk->format, i ? VK_IMAGE_ASPECT_STENCIL_BIT
							       : VK_IMAGE_ASPECT_DEPTH_BIT);
		shape.format = plane->format;
		tc_layout_init(&plane->mem, &shape, pitch);
		plane->offset = image->size;
		image->size += align64(plane->mem.size, TC_ALIGN);
	}
}

/* ---- Images ---------------------------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateImage(VkDevice handle, const VkImageCreateInfo *info,
					       const VkAllocationCallbacks *alloc, VkImage *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	const VkImageSwapchainCreateInfoKHR *chain =
		vk_find_struct_const(info->pNext, IMAGE_SWAPCHAIN_CREATE_INFO_KHR);
	const uint64_t most = tsr_device_info(device->tsr)->max_bo_size;
	VkSubresourceLayout first;
	struct tsv_image *image;
	VkResult result;

	if (info->flags & (VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT | VK_IMAGE_CREATE_PROTECTED_BIT))
		return vk_error(device, VK_ERROR_FEATURE_NOT_PRESENT);
	if (chain && chain->swapchain)
		return wsi_common_create_swapchain_image(device->vk.physical->wsi_device, info,
							 chain->swapchain, out);
	image = vk_image_create(&device->vk, info, alloc, sizeof(*image));
	if (!image)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	result = tsv_modifier_choose(image, info, most, &first);
	if (result == VK_SUCCESS) {
		lay_out(image, &first);
		if (image->size > most)
			result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
	}
	if (result == VK_SUCCESS && info->flags & VK_IMAGE_CREATE_SPARSE_BINDING_BIT) {
		result = tsv_sparse_create(device, image->size, &image->sparse);
		image->va = image->sparse.va;
	}
	if (result != VK_SUCCESS) {
		vk_image_destroy(&device->vk, alloc, &image->vk);
		return vk_error(device, result);
	}
	*out = tsv_image_to_handle(image);
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_DestroyImage(VkDevice handle, VkImage img,
					    const VkAllocationCallbacks *alloc)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_image, image, img);

	if (!image)
		return;
	tsv_sparse_destroy(device, &image->sparse);
	vk_image_destroy(&device->vk, alloc, &image->vk);
}

VKAPI_ATTR void VKAPI_CALL tsv_GetImageMemoryRequirements2(
	VkDevice handle, const VkImageMemoryRequirementsInfo2 *info,
	VkMemoryRequirements2 *requirements)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_image, image, info->image);
	const bool sparse = image->vk.create_flags & VK_IMAGE_CREATE_SPARSE_BINDING_BIT;
	const uint32_t align = sparse ? TSV_PAGE : TC_ALIGN;

	requirements->memoryRequirements = (VkMemoryRequirements){
		.size = align64(image->size, align),
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

/* No image has memory for a part of its texels. */
VKAPI_ATTR void VKAPI_CALL tsv_GetImageSparseMemoryRequirements2(
	VkDevice handle, const VkImageSparseMemoryRequirementsInfo2 *info, uint32_t *count,
	VkSparseImageMemoryRequirements2 *requirements)
{
	*count = 0;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_BindImageMemory2(VkDevice handle, uint32_t count,
						    const VkBindImageMemoryInfo *infos)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		const VkBindImageMemorySwapchainInfoKHR *swapchain =
			vk_find_struct_const(infos[i].pNext, BIND_IMAGE_MEMORY_SWAPCHAIN_INFO_KHR);
		VK_FROM_HANDLE(tsv_image, image, infos[i].image);
		VK_FROM_HANDLE(tsv_memory, memory, infos[i].memory);

		if (swapchain && swapchain->swapchain)
			image->va = tsv_image_from_handle(wsi_common_get_image(
				swapchain->swapchain, swapchain->imageIndex))->va;
		else
			image->va = memory->va + infos[i].memoryOffset;
	}
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_GetImageSubresourceLayout(VkDevice handle, VkImage img,
							 const VkImageSubresource *part,
							 VkSubresourceLayout *layout)
{
	VK_FROM_HANDLE(tsv_image, image, img);
	const struct tsv_plane *plane = tsv_image_plane(image, part->aspectMask);
	const struct tc_level *level = &plane->mem.level[part->mipLevel];

	*layout = (VkSubresourceLayout){
		.offset = plane->offset + tc_layout_offset(&plane->mem, part->mipLevel,
							   part->arrayLayer, 0),
		.size = level->slice * (plane->mem.volume
						? u_minify(image->vk.extent.depth, part->mipLevel)
						: 1),
		.rowPitch = level->pitch / tsv_pitch_rows(image),
		.arrayPitch = plane->mem.volume ? 0 : plane->mem.layer,
		.depthPitch = level->slice,
	};
}

/* ---- Views ----------------------------------------------------------------------------------- */

static uint8_t dimension_of(VkImageViewType type)
{
	switch (type) {
	case VK_IMAGE_VIEW_TYPE_1D:
	case VK_IMAGE_VIEW_TYPE_1D_ARRAY:
		return TSR_TEXTURE_DIMENSION_1D;
	case VK_IMAGE_VIEW_TYPE_3D:
		return TSR_TEXTURE_DIMENSION_3D;
	case VK_IMAGE_VIEW_TYPE_CUBE:
	case VK_IMAGE_VIEW_TYPE_CUBE_ARRAY:
		return TSR_TEXTURE_DIMENSION_CUBE;
	default:
		return TSR_TEXTURE_DIMENSION_2D;
	}
}

static uint8_t component_of(VkComponentSwizzle swizzle)
{
	if (swizzle == VK_COMPONENT_SWIZZLE_ZERO)
		return TSR_COMPONENT_ZERO;
	if (swizzle == VK_COMPONENT_SWIZZLE_ONE)
		return TSR_COMPONENT_ONE;
	return (uint8_t)(swizzle - VK_COMPONENT_SWIZZLE_R + TSR_COMPONENT_R);
}

/* A view that is sampled has one aspect; one of both is an attachment alone. */
static struct tc_view describe(const struct tsv_view *view)
{
	const struct vk_image_view *vk = &view->vk;
	const struct tsv_image *image = container_of(vk->image, struct tsv_image, vk);
	const struct tsv_plane *plane = tsv_image_plane(image, vk->aspects);
	const bool volume = plane->mem.volume && vk->view_type == VK_IMAGE_VIEW_TYPE_3D;

	return (struct tc_view){
		.va = image->va + plane->offset,
		.layout = &plane->mem,
		.format = tsv_plane_format(vk->format, vk->aspects),
		.dimension = dimension_of(vk->view_type),
		.swizzle = { component_of(vk->swizzle.r), component_of(vk->swizzle.g),
			     component_of(vk->swizzle.b), component_of(vk->swizzle.a) },
		.width = vk->extent.width,
		.height = vk->extent.height,
		.depth = volume ? vk->extent.depth : 1,
		.first_level = vk->base_mip_level,
		.levels = vk->level_count,
		.first_layer = volume ? 0 : vk->base_array_layer,
		.layers = volume ? 1 : vk->layer_count,
		.samples = image->vk.samples,
	};
}

static void set_size(const struct tsv_view *view, const struct tc_view *v, uint32_t size[4])
{
	const VkImageViewType type = view->vk.view_type;

	size[0] = v->width;
	size[1] = type == VK_IMAGE_VIEW_TYPE_1D_ARRAY ? v->layers : v->height;
	size[2] = type == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY ? v->layers / 6
		  : type == VK_IMAGE_VIEW_TYPE_3D       ? v->depth
							: v->layers;
	size[3] = v->samples > 1 ? v->samples : v->levels;
}

/* Room for @count surfaces; VK_SUCCESS. */
static VkResult alloc_surfaces(struct tsv_device *device, uint64_t count, struct tsr_alloc *out)
{
	const int ret = tsr_pool_alloc(device->lists, count * TSR_TEXTURE_SURFACE__QWORDS * 8, 64,
				       out);

	return ret ? tsv_error(device, ret) : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateImageView(VkDevice handle,
						   const VkImageViewCreateInfo *info,
						   const VkAllocationCallbacks *alloc,
						   VkImageView *out)
{
	const VkImageUsageFlags shader = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT |
					 VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
	VK_FROM_HANDLE(tsv_device, device, handle);
	struct tsv_view *view = vk_image_view_create(
		&device->vk, info->flags & VK_IMAGE_VIEW_CREATE_DRIVER_INTERNAL_BIT_MESA, info,
		alloc, sizeof(*view));
	struct tc_view v;
	VkResult result;

	if (!view)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	*out = tsv_view_to_handle(view);
	if (!(view->vk.usage & shader))
		return VK_SUCCESS;
	v = describe(view);
	result = alloc_surfaces(device, tc_view_surfaces(&v), &view->surfaces);
	if (result != VK_SUCCESS) {
		vk_image_view_destroy(&device->vk, alloc, &view->vk);
		return result;
	}
	set_size(view, &v, view->texture.size);
	tc_view_pack(&v, view->surfaces.va, view->surfaces.cpu, view->texture.words);
	if (view->vk.usage & VK_IMAGE_USAGE_STORAGE_BIT)
		tc_image_pack(&v, 0, 0, &view->texture.attribute, view->texture.buffers);
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_DestroyImageView(VkDevice handle, VkImageView iv,
						const VkAllocationCallbacks *alloc)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_view, view, iv);

	if (!view)
		return;
	tsr_pool_free(device->lists, &view->surfaces);
	vk_image_view_destroy(&device->vk, alloc, &view->vk);
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateBufferView(VkDevice handle,
						    const VkBufferViewCreateInfo *info,
						    const VkAllocationCallbacks *alloc,
						    VkBufferView *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_buffer, buffer, info->buffer);
	const enum pipe_format format = vk_format_to_pipe_format(info->format);
	struct tc_view v = {
		.va = buffer->va + info->offset,
		.format = format,
		.dimension = TSR_TEXTURE_DIMENSION_1D,
		.swizzle = { TSR_COMPONENT_R, TSR_COMPONENT_G, TSR_COMPONENT_B, TSR_COMPONENT_A },
		.height = 1, .depth = 1, .levels = 1, .layers = 1, .samples = 1,
	};
	struct tsv_buffer_view *view = vk_buffer_view_create(&device->vk, info, alloc,
							     sizeof(*view));
	VkResult result;

	if (!view)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	v.width = (uint32_t)MIN2(view->vk.elements, TSV_TEXELS);
	result = alloc_surfaces(device, 1, &view->surfaces);
	if (result != VK_SUCCESS) {
		vk_buffer_view_destroy(&device->vk, alloc, &view->vk);
		return result;
	}
	view->texture.size[0] = v.width;
	if (v.width) {
		tc_view_pack(&v, view->surfaces.va, view->surfaces.cpu, view->texture.words);
		tc_image_pack(&v, 0, (uint64_t)v.width * util_format_get_blocksize(format),
			      &view->texture.attribute, view->texture.buffers);
	}
	*out = tsv_buffer_view_to_handle(view);
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_DestroyBufferView(VkDevice handle, VkBufferView bv,
						 const VkAllocationCallbacks *alloc)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_buffer_view, view, bv);

	if (!view)
		return;
	tsr_pool_free(device->lists, &view->surfaces);
	vk_buffer_view_destroy(&device->vk, alloc, &view->vk);
}
