/* SPDX-License-Identifier: MIT */
/* Shared code of Vulkan test programs that draw: pipelines, targets, a rasterizer of the CPU. */
#ifndef TSR_TEST_DRAW_H
#define TSR_TEST_DRAW_H

#include "vk.h"

#define DRAW_COLORS	4	/* targets of a pass at most */
#define DRAW_DYNAMIC	16	/* dynamic states at most */

/* Extensions that passes need, dynamic rendering and what it depends on in Vulkan 1.0. */
#define DRAW_EXTENSIONS VK_KHR_CREATE_RENDERPASS_2_EXTENSION_NAME, \
	VK_KHR_MULTIVIEW_EXTENSION_NAME, VK_KHR_MAINTENANCE_2_EXTENSION_NAME, \
	VK_KHR_DEPTH_STENCIL_RESOLVE_EXTENSION_NAME, VK_KHR_DYNAMIC_RENDERING_EXTENSION_NAME

/* A pipeline. Members that are 0 have usual values: lists of triangles, one sample. */
struct draw_pipe {
	const uint32_t *vs, *fs;
	size_t vs_size, fs_size;
	VkPipelineLayout layout;
	VkRenderPass pass;		/* VK_NULL_HANDLE: dynamic rendering */
	uint32_t subpass;
	uint32_t colors;
	VkFormat color[DRAW_COLORS], depth, stencil;
	const VkVertexInputBindingDescription *bindings;
	uint32_t binding_count;
	const VkVertexInputAttributeDescription *attributes;
	uint32_t attribute_count;
	VkPrimitiveTopology topology;
	bool strip_restart;
	VkCullModeFlags cull;
	float line_width;		/* 0: 1 */
	VkFrontFace front;
	VkSampleCountFlagBits samples;
	float sample_shading;		/* 0: off */
	bool alpha_to_coverage;
	VkPipelineDepthStencilStateCreateInfo ds;
	bool blend;
	VkPipelineColorBlendAttachmentState blending;	/* if blend */
	VkLogicOp logic;		/* 0: off */
	uint32_t views;			/* mask of dynamic rendering */
	const VkDynamicState *dynamic;	/* beside viewport and scissor */
	uint32_t dynamic_count;
};

/* The topology of a pipeline that does not say one is TRIANGLE_LIST. Points are DRAW_POINTS. */
#define DRAW_POINTS	((VkPrimitiveTopology)100)
#define DRAW_CODE(name)	name, sizeof(name)

VkPipeline draw_pipeline(struct vk *vk, const struct draw_pipe *info);

/* draw_layout(): a layout with those sets and 128 bytes of push constants for all stages. */
VkPipelineLayout draw_layout(struct vk *vk, uint32_t count, const VkDescriptorSetLayout *sets);

/*
 * draw_pool(), draw_set(), draw_put(): a pool for one set with one descriptor of each kind, that
 * set, and a descriptor of it.
 */
VkDescriptorPool draw_pool(struct vk *vk);
VkDescriptorSet draw_set(struct vk *vk, VkDescriptorPool pool,
			 const VkDescriptorSetLayoutBinding *bindings, uint32_t count,
			 VkDescriptorSetLayout *set_layout);
void draw_put(struct vk *vk, VkDescriptorSet set, uint32_t binding, VkDescriptorType type,
	      VkImageView view, VkSampler sampler, const struct vk_buf *b);

/* A color or depth target that can be read back. */
struct draw_target {
	struct vk_img img;
	VkImageView view;
};

struct draw_target draw_target(struct vk *vk, VkFormat format, uint32_t width, uint32_t height,
			       uint32_t layers, VkSampleCountFlagBits samples,
			       VkImageUsageFlags usage);
void draw_drop(struct vk *vk, struct draw_target *target);

/* draw_read(): layer @layer of an aspect, packed rows of @bytes bytes a texel; free() it. */
void *draw_read(struct vk *vk, const struct draw_target *target, uint32_t layer,
		VkImageAspectFlagBits aspect, uint32_t bytes);

/* draw_attachment(): with loadOp CLEAR, or LOAD if @clear is NULL; stored. */
VkRenderingAttachmentInfo draw_attachment(const struct draw_target *target,
					  const VkClearValue *clear);

/* draw_begin(), draw_end(): vkCmdBeginRenderingKHR() and its end. */
void draw_begin(struct vk *vk, VkCommandBuffer cmd, const VkRenderingInfo *info);
void draw_end(struct vk *vk, VkCommandBuffer cmd);

/* draw_window(): viewport and scissor of a whole target. */
void draw_window(VkCommandBuffer cmd, uint32_t width, uint32_t height);

/* A vertex in window coordinates, 256 to a pixel. */
struct draw_point {
	int x, y;
};

/*
 * draw_covers(): whether the center of pixel (@x, @y) is in the triangle, by the top-left rule. The
 * signed double area, positive if the vertices go round clockwise on the screen, is draw_area().
 */
bool draw_covers(const struct draw_point t[3], int x, int y);
int64_t draw_area(const struct draw_point t[3]);

#endif
