// SPDX-License-Identifier: MIT
/* DRM format modifiers: the layouts of images that programs share. */
#include "tsv_image.h"
#include "tsv_modifier.h"

#include "drm-uapi/drm_fourcc.h"
#include "vk_format.h"
#include "vk_util.h"

#define TILED	DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED

bool tsv_modifier_is_tiled(uint64_t modifier)
{
	return modifier == TILED;
}

unsigned tsv_modifiers(VkFormat format, uint64_t out[TSV_MODIFIERS])
{
	if (vk_format_is_depth_or_stencil(format) || vk_format_is_block_compressed(format))
		return 0;
	out[0] = TILED;
	out[1] = DRM_FORMAT_MOD_LINEAR;
	return TSV_MODIFIERS;
}

bool tsv_modifier_is_known(VkFormat format, uint64_t modifier)
{
	uint64_t known[TSV_MODIFIERS];
	const unsigned count = tsv_modifiers(format, known);
	unsigned i;

	for (i = 0; i < count; i++) {
		if (known[i] == modifier)
			return true;
	}
	return false;
}

/* The best modifier of the program's list. */
static uint64_t choose(VkFormat format, const VkImageDrmFormatModifierListCreateInfoEXT *list)
{
	uint64_t known[TSV_MODIFIERS];
	const unsigned count = tsv_modifiers(format, known);
	uint32_t i, j;

	for (i = 0; i < count; i++) {
		for (j = 0; j < list->drmFormatModifierCount; j++) {
			if (list->pDrmFormatModifiers[j] == known[i])
				return known[i];
		}
	}
	return DRM_FORMAT_MOD_INVALID;
}

/*
 * True if the device can use an image that begins and has rows where @plane says. The numbers may
 * come from another process, so any of them may be wrong. An offset beyond @most bytes is in no
 * memory. The device wants whole tiles between rows of tiles.
 */
static bool is_usable(const struct tsv_image *image, const VkSubresourceLayout *plane,
		      uint64_t most)
{
	const bool tiled = tsv_modifier_is_tiled(image->vk.drm_format_mod);
	const uint32_t width = align(image->vk.extent.width, tiled ? TC_TILE : 1);
	const uint32_t texel = vk_format_get_blocksize(image->vk.format);
	const uint32_t rows = tsv_pitch_rows(image);
	const uint32_t step = tiled ? TC_TILE * TC_TILE * texel : TC_ALIGN;

	return plane->rowPitch <= UINT32_MAX / rows && plane->rowPitch * rows % step == 0 &&
	       plane->rowPitch >= (uint64_t)width * texel &&
	       plane->offset <= most && plane->offset % TC_ALIGN == 0;
}

uint32_t tsv_pitch_rows(const struct tsv_image *image)
{
	return image->vk.tiling == VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT &&
	       tsv_modifier_is_tiled(image->vk.drm_format_mod) ? TC_TILE : 1;
}

VkResult tsv_modifier_choose(struct tsv_image *image, const VkImageCreateInfo *info,
			     uint64_t most, VkSubresourceLayout *plane)
{
	const VkImageDrmFormatModifierExplicitCreateInfoEXT *wanted =
		vk_find_struct_const(info->pNext,
				     IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT);
	const VkImageDrmFormatModifierListCreateInfoEXT *list =
		vk_find_struct_const(info->pNext, IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT);

	*plane = (VkSubresourceLayout){ 0 };
	if (info->tiling != VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT)
		return VK_SUCCESS;
	image->vk.drm_format_mod = wanted ? wanted->drmFormatModifier
				   : list ? choose(info->format, list) : DRM_FORMAT_MOD_INVALID;
	if (!tsv_modifier_is_known(info->format, image->vk.drm_format_mod))
		return VK_ERROR_FEATURE_NOT_PRESENT;
	if (!wanted)
		return VK_SUCCESS;
	if (wanted->drmFormatModifierPlaneCount != 1 ||
	    !is_usable(image, wanted->pPlaneLayouts, most))
		return VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT;
	*plane = wanted->pPlaneLayouts[0];
	return VK_SUCCESS;
}
