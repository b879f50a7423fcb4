// SPDX-License-Identifier: MIT
/*
 * Transfer commands on images: packets of the copy engine, one for each slice, layer and sample.
 * Coordinates are those of texels, or of blocks of a compressed format.
 */
#include "tsv_cmd.h"
#include "tsv_image.h"
#include "tsv_memory.h"

#include "vk_format.h"

#include "tsr_packets.h"

/* Rows of texels in memory, or a slice of an image. */
struct place {
	uint64_t va;
	uint32_t layout, pitch, x, y;
};

static struct place place_in(const struct tsv_image *image, const struct tsv_plane *plane,
			     unsigned level, unsigned layer, unsigned sample, VkOffset3D at)
{
	return (struct place){
		.va = tsv_image_va(image, plane, level, layer, sample),
		.layout = plane->mem.layout,
		.pitch = plane->mem.level[level].pitch,
		.x = (uint32_t)at.x,
		.y = (uint32_t)at.y,
	};
}

static void copy(struct tsv_cmd *cmd, struct tsr_stream *stream, const struct place *dst,
		 const struct place *src, uint32_t texel, const VkExtent3D *extent)
{
	const struct tsr_copy_rect rect = {
		.src_layout = src->layout,
		.dst_layout = dst->layout,
		.texel = texel,
		.src = src->va,
		.dst = dst->va,
		.src_pitch = src->pitch,
		.dst_pitch = dst->pitch,
		.src_x = src->x,
		.src_y = src->y,
		.dst_x = dst->x,
		.dst_y = dst->y,
		.width = extent->width,
		.height = extent->height,
	};
	uint64_t *words = tsr_stream_emit(stream, TSR_COPY_RECT_QWORDS);

	if (words)
		tsr_pack_copy_rect(words, &rect);
	else
		vk_command_buffer_set_error(&cmd->vk, VK_ERROR_OUT_OF_DEVICE_MEMORY);
}

/* ---- Buffers and images ---------------------------------------------------------------------- */

static void copy_region(struct tsv_cmd *cmd, struct tsr_stream *stream,
			const struct tsv_image *image, uint64_t va, const VkBufferImageCopy2 *r,
			bool to_image)
{
	const struct tsv_plane *plane = tsv_image_plane(image, r->imageSubresource.aspectMask);
	const struct vk_image_buffer_layout rows = vk_image_buffer_copy_layout(&image->vk, r);
	const VkExtent3D extent = vk_image_extent_to_elements(&image->vk, r->imageExtent);
	const VkOffset3D at = vk_image_offset_to_elements(&image->vk, r->imageOffset);
	const bool volume = plane->mem.volume;
	const unsigned first = volume ? (unsigned)at.z : r->imageSubresource.baseArrayLayer;
	const unsigned count = volume ? extent.depth
				      : vk_image_subresource_layer_count(&image->vk,
									 &r->imageSubresource);
	unsigned i;

	for (i = 0; i < count; i++) {
		const struct place texels = place_in(image, plane, r->imageSubresource.mipLevel,
						     first + i, 0, at);
		const struct place line = {
			.va = va + r->bufferOffset + i * rows.image_stride_B,
			.layout = TSR_LAYOUT_LINEAR,
			.pitch = rows.row_stride_B,
		};

		copy(cmd, stream, to_image ? &texels : &line, to_image ? &line : &texels,
		     plane->mem.texel, &extent);
	}
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdCopyBufferToImage2(VkCommandBuffer handle,
						     const VkCopyBufferToImageInfo2 *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_buffer, buffer, info->srcBuffer);
	VK_FROM_HANDLE(tsv_image, image, info->dstImage);
	struct tsr_stream *stream = tsv_cmd_stream(cmd, TSV_COPY);
	uint32_t i;

	for (i = 0; stream && i < info->regionCount; i++)
		copy_region(cmd, stream, image, buffer->va, &info->pRegions[i], true);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdCopyImageToBuffer2(VkCommandBuffer handle,
						     const VkCopyImageToBufferInfo2 *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_image, image, info->srcImage);
	VK_FROM_HANDLE(tsv_buffer, buffer, info->dstBuffer);
	struct tsr_stream *stream = tsv_cmd_stream(cmd, TSV_COPY);
	uint32_t i;

	for (i = 0; stream && i < info->regionCount; i++)
		copy_region(cmd, stream, image, buffer->va, &info->pRegions[i], false);
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* One aspect of a region. Slices of a volume and layers of an array correspond to each other. */
static void copy_images(struct tsv_cmd *cmd, struct tsr_stream *stream, const struct tsv_image *dst,
			const struct tsv_image *src, const VkImageCopy2 *r,
			VkImageAspectFlags dst_aspect, VkImageAspectFlags src_aspect)
{
	const struct tsv_plane *to = tsv_image_plane(dst, dst_aspect);
	const struct tsv_plane *from = tsv_image_plane(src, src_aspect);
	const VkExtent3D extent = vk_image_extent_to_elements(&src->vk, r->extent);
	const VkOffset3D src_at = vk_image_offset_to_elements(&src->vk, r->srcOffset);
	const VkOffset3D dst_at = vk_image_offset_to_elements(&dst->vk, r->dstOffset);
	const unsigned src_first = from->mem.volume ? (unsigned)src_at.z
						    : r->srcSubresource.baseArrayLayer;
	const unsigned dst_first = to->mem.volume ? (unsigned)dst_at.z
						  : r->dstSubresource.baseArrayLayer;
	const unsigned count = from->mem.volume || to->mem.volume
				       ? r->extent.depth
				       : vk_image_subresource_layer_count(&src->vk,
									  &r->srcSubresource);
	unsigned i, sample;

	for (i = 0; i < count; i++)
		for (sample = 0; sample < src->vk.samples; sample++) {
			const struct place a = place_in(src, from, r->srcSubresource.mipLevel,
							src_first + i, sample, src_at);
			const struct place b = place_in(dst, to, r->dstSubresource.mipLevel,
							dst_first + i, sample, dst_at);

			copy(cmd, stream, &b, &a, to->mem.texel, &extent);
		}
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdCopyImage2(VkCommandBuffer handle, const VkCopyImageInfo2 *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_image, src, info->srcImage);
	VK_FROM_HANDLE(tsv_image, dst, info->dstImage);
	struct tsr_stream *stream = tsv_cmd_stream(cmd, TSV_COPY);
	uint32_t i;

	for (i = 0; stream && i < info->regionCount; i++) {
		const VkImageCopy2 *r = &info->pRegions[i];

		u_foreach_bit(bit, r->srcSubresource.aspectMask) {
			const VkImageAspectFlags aspect = 1u << bit;
			const bool same = r->dstSubresource.aspectMask & aspect;

			copy_images(cmd, stream, dst, src, r,
				    same ? aspect : r->dstSubresource.aspectMask, aspect);
		}
	}
}

/* ---- Clears ---------------------------------------------------------------------------------- */

static void fill(struct tsv_cmd *cmd, struct tsr_stream *stream, const struct tsv_image *image,
		 const struct tsv_plane *plane, unsigned level, unsigned layer, unsigned sample,
		 const uint64_t pattern[2])
{
	const struct tsr_fill_rect rect = {
		.layout = plane->mem.layout,
		.texel = plane->mem.texel,
		.dst = tsv_image_va(image, plane, level, layer, sample),
		.pitch = plane->mem.level[level].pitch,
		.width = u_minify(image->vk.extent.width, level),
		.height = u_minify(image->vk.extent.height, level),
		.pattern_lo = pattern[0],
		.pattern_hi = pattern[1],
	};
	uint64_t *words = tsr_stream_emit(stream, TSR_FILL_RECT_QWORDS);

	if (words)
		tsr_pack_fill_rect(words, &rect);
	else
		vk_command_buffer_set_error(&cmd->vk, VK_ERROR_OUT_OF_DEVICE_MEMORY);
}

static void fill_range(struct tsv_cmd *cmd, struct tsr_stream *stream,
		       const struct tsv_image *image, VkImageAspectFlags aspect,
		       const VkImageSubresourceRange *range,
		       const uint64_t pattern[2])
{
	const struct tsv_plane *plane = tsv_image_plane(image, aspect);
	const unsigned levels = vk_image_subresource_level_count(&image->vk, range);
	const unsigned layers = vk_image_subresource_layer_count(&image->vk, range);
	unsigned level, layer, sample, first, count;

	for (level = range->baseMipLevel; level < range->baseMipLevel + levels; level++) {
		first = plane->mem.volume ? 0 : range->baseArrayLayer;
		count = plane->mem.volume ? u_minify(image->vk.extent.depth, level) : layers;
		for (layer = first; layer < first + count; layer++)
			for (sample = 0; sample < image->vk.samples; sample++)
				fill(cmd, stream, image, plane, level, layer, sample, pattern);
	}
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdClearColorImage(VkCommandBuffer handle, VkImage img,
						  VkImageLayout layout,
						  const VkClearColorValue *color, uint32_t count,
						  const VkImageSubresourceRange *ranges)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_image, image, img);
	struct tsr_stream *stream = tsv_cmd_stream(cmd, TSV_COPY);
	uint64_t pattern[2] = { 0 };
	uint32_t i;

	util_format_pack_rgba(image->plane[0].format, pattern, color, 1);
	for (i = 0; stream && i < count; i++)
		fill_range(cmd, stream, image, VK_IMAGE_ASPECT_COLOR_BIT, &ranges[i], pattern);
}

/* Mesa's own packing of fixed-point depths truncates, and Vulkan wants the nearest value. */
static uint64_t pack_depth(enum pipe_format format, float depth)
{
	const unsigned bits = util_format_get_component_bits(format, UTIL_FORMAT_COLORSPACE_ZS, 0);
	const double most = (double)BITFIELD64_MASK(bits);

	if (format == PIPE_FORMAT_Z32_FLOAT)
		return fui(depth);
	return (uint64_t)(CLAMP((double)depth, 0, 1) * most + 0.5);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdClearDepthStencilImage(VkCommandBuffer handle, VkImage img,
							 VkImageLayout layout,
							 const VkClearDepthStencilValue *value,
							 uint32_t count,
							 const VkImageSubresourceRange *ranges)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_image, image, img);
	struct tsr_stream *stream = tsv_cmd_stream(cmd, TSV_COPY);
	const uint64_t stencil[2] = { value->stencil & 0xff };
	uint64_t depth[2] = { 0 };
	uint32_t i;

	if (image->vk.aspects & VK_IMAGE_ASPECT_DEPTH_BIT)
		depth[0] = pack_depth(image->plane[0].format, value->depth);
	for (i = 0; stream && i < count; i++) {
		if (ranges[i].aspectMask & VK_IMAGE_ASPECT_DEPTH_BIT)
			fill_range(cmd, stream, image, VK_IMAGE_ASPECT_DEPTH_BIT, &ranges[i],
				   depth);
		if (ranges[i].aspectMask & VK_IMAGE_ASPECT_STENCIL_BIT)
			fill_range(cmd, stream, image, VK_IMAGE_ASPECT_STENCIL_BIT, &ranges[i],
				   stencil);
	}
}
