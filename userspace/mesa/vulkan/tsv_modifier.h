/* SPDX-License-Identifier: MIT */
/* DRM format modifiers, for window systems and VK_EXT_image_drm_format_modifier. */
#ifndef TSV_MODIFIER_H
#define TSV_MODIFIER_H

#include "tsv_image.h"

#define TSV_MODIFIERS	2u	/* of a format */

/* tsv_modifiers(): the modifiers of images of a format, best first. Returns their number. */
unsigned tsv_modifiers(VkFormat format, uint64_t out[TSV_MODIFIERS]);
bool tsv_modifier_is_known(VkFormat format, uint64_t modifier);
bool tsv_modifier_is_tiled(uint64_t modifier);

/*
 * tsv_modifier_choose(): set the modifier of an image that has such a tiling. @plane: offset and
 * pitch that the program wants, or zeroes. Refuses modifiers and layouts that the driver does not
 * know. @most: bytes of the largest memory.
 */
VkResult tsv_modifier_choose(struct tsv_image *image, const VkImageCreateInfo *info,
			     uint64_t most, VkSubresourceLayout *plane);

/* tsv_pitch_rows(): rows of texels that the pitch of a level counts, as other programs see it. */
uint32_t tsv_pitch_rows(const struct tsv_image *image);

#endif
