// SPDX-License-Identifier: MIT
/* Features of formats, and the images that can be made of them. */
#include "tsv_image.h"
#include "tsv_modifier.h"

#include "vk_enum_defines.h"
#include "vk_format.h"
#include "vk_util.h"

/* The least that is allowed. An image may be smaller and still find no memory. */
#define RESOURCE_SIZE	(1ull << 31)

/*
 * 24-bit depth beside stencil is not offered: a copy of one of the two would have to keep the
 * other's bits of each word, which the copy engine cannot.
 */
static bool is_known(VkFormat format)
{
	const VkImageAspectFlags aspects = vk_format_aspects(format);

	if (format == VK_FORMAT_D24_UNORM_S8_UINT || format == VK_FORMAT_D16_UNORM_S8_UINT)
		return false;
	return format == VK_FORMAT_D32_SFLOAT_S8_UINT || aspects == VK_IMAGE_ASPECT_COLOR_BIT ||
	       aspects == VK_IMAGE_ASPECT_DEPTH_BIT || aspects == VK_IMAGE_ASPECT_STENCIL_BIT;
}

static bool is_compressed(const struct tc_format *f)
{
	return f->uses & TC_BLOCK;
}

/* Textures of 12-byte texels have no tiles, so only buffers have such texels. */
static bool is_texture(const struct tsv_physical_device *device, VkFormat format)
{
	const struct tc_format *f = tc_format(vk_format_to_pipe_format(format));

	if (!is_known(format) || !(f->uses & TC_TEXTURE) || vk_format_get_blocksize(format) == 12)
		return false;
	return !is_compressed(f) || device->gpu.features & DRM_TESSERA_FEATURE_COMPRESSED;
}

/* Blits are draws. */
static VkFormatFeatureFlags2 target_features(enum pipe_format pipe)
{
	const struct tc_format *f = tc_format(pipe);
	VkFormatFeatureFlags2 features = 0;

	if (f->uses & TC_DEPTH)
		return VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT |
		       VK_FORMAT_FEATURE_2_BLIT_SRC_BIT | VK_FORMAT_FEATURE_2_BLIT_DST_BIT;
	features = VK_FORMAT_FEATURE_2_BLIT_SRC_BIT;
	if (!(f->uses & TC_TARGET))
		return features;
	features |= VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_2_BLIT_DST_BIT;
	if (!util_format_is_pure_integer(pipe))
		features |= VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BLEND_BIT;
	return features;
}

static VkFormatFeatureFlags2 image_features(const struct tsv_physical_device *device,
					    VkFormat format, VkImageTiling tiling)
{
	const enum pipe_format pipe = vk_format_to_pipe_format(format);
	const bool integer = util_format_is_pure_integer(pipe);
	VkFormatFeatureFlags2 features = 0;

	if (!is_texture(device, format))
		return 0;
	if (tiling != VK_IMAGE_TILING_OPTIMAL && vk_format_is_depth_or_stencil(format))
		return 0;
	features = VK_FORMAT_FEATURE_2_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_2_TRANSFER_DST_BIT |
		   VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT;
	if (!integer)
		features |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
	if (vk_format_has_depth(format))
		features |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_DEPTH_COMPARISON_BIT;
	if (tc_is_image_format(pipe))
		features |= VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT |
			    VK_FORMAT_FEATURE_2_STORAGE_READ_WITHOUT_FORMAT_BIT |
			    VK_FORMAT_FEATURE_2_STORAGE_WRITE_WITHOUT_FORMAT_BIT;
	if (pipe == PIPE_FORMAT_R32_UINT || pipe == PIPE_FORMAT_R32_SINT)
		features |= VK_FORMAT_FEATURE_2_STORAGE_IMAGE_ATOMIC_BIT;
	return features | target_features(pipe);
}

static VkFormatFeatureFlags2 buffer_features(VkFormat format)
{
	const enum pipe_format pipe = vk_format_to_pipe_format(format);
	const struct tc_format *f = tc_format(pipe);
	VkFormatFeatureFlags2 features = 0;

	if (vk_format_aspects(format) != VK_IMAGE_ASPECT_COLOR_BIT)
		return 0;
	if (f->uses & TC_VERTEX)
		features |= VK_FORMAT_FEATURE_2_VERTEX_BUFFER_BIT;
	if (f->uses & TC_TEXTURE && !is_compressed(f) && !util_format_is_srgb(pipe))
		features |= VK_FORMAT_FEATURE_2_UNIFORM_TEXEL_BUFFER_BIT;
	if (tc_is_image_format(pipe))
		features |= VK_FORMAT_FEATURE_2_STORAGE_TEXEL_BUFFER_BIT |
			    VK_FORMAT_FEATURE_2_STORAGE_READ_WITHOUT_FORMAT_BIT |
			    VK_FORMAT_FEATURE_2_STORAGE_WRITE_WITHOUT_FORMAT_BIT;
	if (pipe == PIPE_FORMAT_R32_UINT || pipe == PIPE_FORMAT_R32_SINT)
		features |= VK_FORMAT_FEATURE_2_STORAGE_TEXEL_BUFFER_ATOMIC_BIT;
	return features;
}

/* The list of modifiers has two forms. The older one has the lower half of the features. */
static void list_modifiers2(VkFormat format, VkFormatFeatureFlags2 features,
			    VkDrmFormatModifierPropertiesList2EXT *list)
{
	VK_OUTARRAY_MAKE_TYPED(VkDrmFormatModifierProperties2EXT, out,
			       list->pDrmFormatModifierProperties, &list->drmFormatModifierCount);
	uint64_t modifiers[TSV_MODIFIERS];
	const unsigned count = features ? tsv_modifiers(format, modifiers) : 0;
	unsigned i;

	for (i = 0; i < count; i++) {
		vk_outarray_append_typed(VkDrmFormatModifierProperties2EXT, &out, p) {
			p->drmFormatModifier = modifiers[i];
			p->drmFormatModifierPlaneCount = 1;
			p->drmFormatModifierTilingFeatures = features;
		}
	}
}

static void list_modifiers(VkFormat format, VkFormatFeatureFlags2 features,
			   VkDrmFormatModifierPropertiesListEXT *list)
{
	VK_OUTARRAY_MAKE_TYPED(VkDrmFormatModifierPropertiesEXT, out,
			       list->pDrmFormatModifierProperties, &list->drmFormatModifierCount);
	uint64_t modifiers[TSV_MODIFIERS];
	const unsigned count = features ? tsv_modifiers(format, modifiers) : 0;
	unsigned i;

	for (i = 0; i < count; i++) {
		vk_outarray_append_typed(VkDrmFormatModifierPropertiesEXT, &out, p) {
			p->drmFormatModifier = modifiers[i];
			p->drmFormatModifierPlaneCount = 1;
			p->drmFormatModifierTilingFeatures =
				vk_format_features2_to_features(features);
		}
	}
}

VKAPI_ATTR void VKAPI_CALL tsv_GetPhysicalDeviceFormatProperties2(VkPhysicalDevice handle,
								  VkFormat format,
								  VkFormatProperties2 *properties)
{
	VK_FROM_HANDLE(tsv_physical_device, device, handle);
	const VkFormatFeatureFlags2
		linear = image_features(device, format, VK_IMAGE_TILING_LINEAR),
		optimal = image_features(device, format, VK_IMAGE_TILING_OPTIMAL),
		buffer = buffer_features(format);

	properties->formatProperties = (VkFormatProperties){
		.linearTilingFeatures = vk_format_features2_to_features(linear),
		.optimalTilingFeatures = vk_format_features2_to_features(optimal),
		.bufferFeatures = vk_format_features2_to_features(buffer),
	};
	vk_foreach_struct(ext, properties->pNext) {
		if (ext->sType == VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3) {
			VkFormatProperties3 *p = (void *)ext;

			p->linearTilingFeatures = linear;
			p->optimalTilingFeatures = optimal;
			p->bufferFeatures = buffer;
		}
		if (ext->sType == VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT)
			list_modifiers(format, linear, (void *)ext);
		if (ext->sType == VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_2_EXT)
			list_modifiers2(format, linear, (void *)ext);
	}
}

/* The features that an image with such a usage needs. */
static VkFormatFeatureFlags2 needed(VkImageUsageFlags usage)
{
	VkFormatFeatureFlags2 features = 0;

	if (usage & VK_IMAGE_USAGE_SAMPLED_BIT)
		features |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT;
	if (usage & VK_IMAGE_USAGE_STORAGE_BIT)
		features |= VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT;
	if (usage & VK_IMAGE_USAGE_TRANSFER_SRC_BIT)
		features |= VK_FORMAT_FEATURE_2_TRANSFER_SRC_BIT;
	if (usage & VK_IMAGE_USAGE_TRANSFER_DST_BIT)
		features |= VK_FORMAT_FEATURE_2_TRANSFER_DST_BIT;
	if (usage & VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT)
		features |= VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT;
	if (usage & VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT)
		features |= VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT;
	return features;
}

static bool is_supported(const struct tsv_physical_device *device,
			 const VkPhysicalDeviceImageFormatInfo2 *info)
{
	const VkImageCreateFlags refused =
		VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT | VK_IMAGE_CREATE_SPARSE_ALIASED_BIT |
		VK_IMAGE_CREATE_PROTECTED_BIT |
		VK_IMAGE_CREATE_DISJOINT_BIT | VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT;
	const VkFormatFeatureFlags2 features = image_features(device, info->format, info->tiling);
	const VkPhysicalDeviceImageDrmFormatModifierInfoEXT *modifier = vk_find_struct_const(
		info->pNext, PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT);

	if (info->tiling == VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT &&
	    (!modifier || !tsv_modifier_is_known(info->format, modifier->drmFormatModifier)))
		return false;
	if (!features || info->flags & refused || needed(info->usage) & ~features)
		return false;
	/* such images have one layer */
	if (info->tiling != VK_IMAGE_TILING_OPTIMAL &&
	    (info->type != VK_IMAGE_TYPE_2D || info->flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT))
		return false;
	if (info->type != VK_IMAGE_TYPE_2D && vk_format_is_depth_or_stencil(info->format))
		return false;
	return info->type != VK_IMAGE_TYPE_1D || !vk_format_is_block_compressed(info->format);
}

static VkExtent3D most_texels(VkImageType type)
{
	switch (type) {
	case VK_IMAGE_TYPE_1D:
		return (VkExtent3D){ TSV_IMAGE_SIDE, 1, 1 };
	case VK_IMAGE_TYPE_2D:
		return (VkExtent3D){ TSV_IMAGE_SIDE, TSV_IMAGE_SIDE, 1 };
	default:
		return (VkExtent3D){ TSV_IMAGE_DEPTH, TSV_IMAGE_DEPTH, TSV_IMAGE_DEPTH };
	}
}

/* Vulkan requires several samples of each format that can be drawn to. No shader stores them. */
static VkSampleCountFlags samples_of(const struct tsv_physical_device *device,
				     const VkPhysicalDeviceImageFormatInfo2 *info)
{
	const VkFormatFeatureFlags2
		features = image_features(device, info->format, info->tiling),
		drawn = VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT |
			VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT;

	if (info->type != VK_IMAGE_TYPE_2D || info->tiling != VK_IMAGE_TILING_OPTIMAL ||
	    info->flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT ||
	    info->usage & VK_IMAGE_USAGE_STORAGE_BIT || !(features & drawn))
		return VK_SAMPLE_COUNT_1_BIT;
	return TSV_SAMPLES;
}

/* A dma-buf has no tiling that another driver could ask for, so such images are linear. */
static VkExternalMemoryHandleTypeFlags shared_types(const VkPhysicalDeviceImageFormatInfo2 *info)
{
	VkExternalMemoryHandleTypeFlags types = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

	if (info->tiling != VK_IMAGE_TILING_OPTIMAL)
		types |= VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
	return types;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_GetPhysicalDeviceImageFormatProperties2(
	VkPhysicalDevice handle, const VkPhysicalDeviceImageFormatInfo2 *info,
	VkImageFormatProperties2 *properties)
{
	VK_FROM_HANDLE(tsv_physical_device, device, handle);
	const VkPhysicalDeviceExternalImageFormatInfo *external =
		vk_find_struct_const(info->pNext, PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO);
	VkExternalImageFormatProperties *shared =
		vk_find_struct(properties->pNext, EXTERNAL_IMAGE_FORMAT_PROPERTIES);
	const VkExternalMemoryHandleTypeFlags types = shared_types(info);
	VkImageFormatProperties *p = &properties->imageFormatProperties;
	const VkExtent3D most = most_texels(info->type);
	const bool optimal = info->tiling == VK_IMAGE_TILING_OPTIMAL;

	*p = (VkImageFormatProperties){ 0 };
	if (!is_supported(device, info) ||
	    (external && external->handleType && !(external->handleType & types)))
		return VK_ERROR_FORMAT_NOT_SUPPORTED;
	if (shared && external && external->handleType)
		shared->externalMemoryProperties = (VkExternalMemoryProperties){
			.externalMemoryFeatures = VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT |
						  VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
			.exportFromImportedHandleTypes = types,
			.compatibleHandleTypes = types,
		};
	p->maxExtent = most;
	p->maxMipLevels = optimal ? util_last_bit(most.width) : 1;
	p->maxArrayLayers = optimal && info->type != VK_IMAGE_TYPE_3D ? TSV_IMAGE_LAYERS : 1;
	p->sampleCounts = samples_of(device, info);
	p->maxResourceSize = MAX2(device->gpu.max_bo_size, RESOURCE_SIZE);
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_GetPhysicalDeviceSparseImageFormatProperties2(
	VkPhysicalDevice handle, const VkPhysicalDeviceSparseImageFormatInfo2 *info,
	uint32_t *count, VkSparseImageFormatProperties2 *properties)
{
	*count = 0;
}
