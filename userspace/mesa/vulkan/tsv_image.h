/* SPDX-License-Identifier: MIT */
/* Images, views, samplers, and what the device is told of them. */
#ifndef TSV_IMAGE_H
#define TSV_IMAGE_H

#include "vk_buffer_view.h"
#include "vk_image.h"
#include "vk_sampler.h"

#include "tc_texture.h"
#include "tsv_device.h"

#define TSV_IMAGE_SIDE		16384u	/* of an image with one or two dimensions */
#define TSV_IMAGE_DEPTH		2048u	/* of an image with three */
#define TSV_IMAGE_LAYERS	2048u
#define TSV_SAMPLES		(VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_2_BIT |		\
				 VK_SAMPLE_COUNT_4_BIT | VK_SAMPLE_COUNT_8_BIT |		\
				 VK_SAMPLE_COUNT_16_BIT)
#define TSV_TEXELS		65536u	/* of a buffer view */
#define TSV_TEXEL_ALIGN		64u	/* offset of a buffer view */

/* Depth and stencil of a format that has both are two textures in the same memory. */
struct tsv_plane {
	struct tc_layout mem;
	uint64_t offset;		/* bytes from the beginning of the image */
	enum pipe_format format;
};

struct tsv_image {
	struct vk_image vk;
	struct tsv_plane plane[2];	/* color or depth or stencil; stencil beside depth */
	uint64_t size;
	uint64_t va;			/* 0 until memory is bound */
	struct tsv_sparse sparse;
};

/* The words of a view of an image, or of a buffer, for descriptors. */
struct tsv_texture {
	uint64_t words[TC_DESCRIPTOR_QWORDS];
	uint64_t attribute;		/* as a storage image; names buffer 0 */
	uint64_t buffers[4];
	uint32_t size[4];		/* extent, then layers; last levels, or samples */
};

struct tsv_view {
	struct vk_image_view vk;
	struct tsv_texture texture;
	struct tsr_alloc surfaces;	/* of tsv_device.lists, or empty */
};

struct tsv_buffer_view {
	struct vk_buffer_view vk;
	struct tsv_texture texture;
	struct tsr_alloc surfaces;
};

struct tsv_sampler {
	struct vk_sampler vk;
	struct tsr_sampler state;	/* without a border */
	bool border;			/* the border color is read */
};

VK_DEFINE_NONDISP_HANDLE_CASTS(tsv_image, vk.base, VkImage, VK_OBJECT_TYPE_IMAGE)
VK_DEFINE_NONDISP_HANDLE_CASTS(tsv_view, vk.base, VkImageView, VK_OBJECT_TYPE_IMAGE_VIEW)
VK_DEFINE_NONDISP_HANDLE_CASTS(tsv_buffer_view, vk.base, VkBufferView, VK_OBJECT_TYPE_BUFFER_VIEW)
VK_DEFINE_NONDISP_HANDLE_CASTS(tsv_sampler, vk.base, VkSampler, VK_OBJECT_TYPE_SAMPLER)

/* tsv_image_plane(): the texture that holds an aspect. */
const struct tsv_plane *tsv_image_plane(const struct tsv_image *image, VkImageAspectFlags aspect);

/* tsv_image_va(): address of a slice (of a volume) or layer of a level and sample. */
uint64_t tsv_image_va(const struct tsv_image *image, const struct tsv_plane *plane, unsigned level,
		      unsigned layer, unsigned sample);

/* tsv_plane_format(): format of the part of an image that holds an aspect. */
enum pipe_format tsv_plane_format(VkFormat format, VkImageAspectFlags aspect);

/*
 * tsv_sampler_pack(): the SAMPLER for textures of @format. Only border colors depend on the format,
 * PIPE_FORMAT_NONE is a format with red in the lowest bits.
 */
void tsv_sampler_pack(const struct tsv_sampler *sampler, enum pipe_format format, uint64_t *words);

#endif
