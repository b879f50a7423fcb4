/* SPDX-License-Identifier: MIT */
#include "draw.h"

/* ---- Pipelines ------------------------------------------------------------------------------- */

static VkShaderModule module_of(struct vk *vk, const uint32_t *code, size_t size)
{
	const VkShaderModuleCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = size,
		.pCode = code,
	};
	VkShaderModule module;

	VK(vkCreateShaderModule(vk->device, &info, NULL, &module));
	return module;
}

/* The parts of a pipeline that others point to. */
struct parts {
	VkPipelineShaderStageCreateInfo stages[2];
	VkPipelineVertexInputStateCreateInfo vertex;
	VkPipelineInputAssemblyStateCreateInfo assembly;
	VkPipelineViewportStateCreateInfo viewport;
	VkPipelineRasterizationStateCreateInfo raster;
	VkPipelineMultisampleStateCreateInfo samples;
	VkPipelineDepthStencilStateCreateInfo ds;
	VkPipelineColorBlendAttachmentState attachments[DRAW_COLORS];
	VkPipelineColorBlendStateCreateInfo blend;
	VkPipelineDynamicStateCreateInfo dynamic;
	VkDynamicState states[2 + DRAW_DYNAMIC];
	VkPipelineRenderingCreateInfo rendering;
};

static void fill_stages(struct vk *vk, const struct draw_pipe *info, struct parts *p)
{
	const VkShaderStageFlagBits stages[2] = { VK_SHADER_STAGE_VERTEX_BIT,
						  VK_SHADER_STAGE_FRAGMENT_BIT };
	unsigned i;

	for (i = 0; i < 2; i++)
		p->stages[i] = (VkPipelineShaderStageCreateInfo){
			.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			.stage = stages[i],
			.pName = "main",
		};
	p->stages[0].module = module_of(vk, info->vs, info->vs_size);
	if (info->fs)
		p->stages[1].module = module_of(vk, info->fs, info->fs_size);
	p->vertex = (VkPipelineVertexInputStateCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
		.vertexBindingDescriptionCount = info->binding_count,
		.pVertexBindingDescriptions = info->bindings,
		.vertexAttributeDescriptionCount = info->attribute_count,
		.pVertexAttributeDescriptions = info->attributes,
	};
	p->assembly = (VkPipelineInputAssemblyStateCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
		.topology = info->topology == DRAW_POINTS ? VK_PRIMITIVE_TOPOLOGY_POINT_LIST
			    : info->topology	      ? info->topology
						      : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.primitiveRestartEnable = info->strip_restart,
	};
}

static void fill_raster(const struct draw_pipe *info, struct parts *p)
{
	p->viewport = (VkPipelineViewportStateCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
		.viewportCount = 1,
		.scissorCount = 1,
	};
	p->raster = (VkPipelineRasterizationStateCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
		.cullMode = info->cull,
		.frontFace = info->front,
		.lineWidth = info->line_width > 0 ? info->line_width : 1,
	};
	p->samples = (VkPipelineMultisampleStateCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
		.rasterizationSamples = info->samples ? info->samples : VK_SAMPLE_COUNT_1_BIT,
		.sampleShadingEnable = info->sample_shading > 0,
		.minSampleShading = info->sample_shading,
		.alphaToCoverageEnable = info->alpha_to_coverage,
	};
}

static void fill_output(const struct draw_pipe *info, struct parts *p)
{
	unsigned i;

	p->ds = info->ds;
	p->ds.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO;
	for (i = 0; i < info->colors; i++) {
		if (info->blend && i == 0)
			p->attachments[i] = info->blending;
		else
			p->attachments[i].colorWriteMask = 0xf;
	}
	p->blend = (VkPipelineColorBlendStateCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
		.logicOpEnable = info->logic != 0,
		.logicOp = info->logic,
		.attachmentCount = info->colors,
		.pAttachments = p->attachments,
	};
	p->states[0] = VK_DYNAMIC_STATE_VIEWPORT;
	p->states[1] = VK_DYNAMIC_STATE_SCISSOR;
	for (i = 0; i < info->dynamic_count; i++)
		p->states[2 + i] = info->dynamic[i];
	p->dynamic = (VkPipelineDynamicStateCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
		.dynamicStateCount = 2 + info->dynamic_count,
		.pDynamicStates = p->states,
	};
	p->rendering = (VkPipelineRenderingCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
		.viewMask = info->views,
		.colorAttachmentCount = info->colors,
		.pColorAttachmentFormats = info->color,
		.depthAttachmentFormat = info->depth,
		.stencilAttachmentFormat = info->stencil,
	};
}

VkPipeline draw_pipeline(struct vk *vk, const struct draw_pipe *info)
{
	struct parts p = { 0 };
	VkGraphicsPipelineCreateInfo create = {
		.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
		.pNext = info->pass ? NULL : &p.rendering,
		.stageCount = info->fs ? 2 : 1,
		.pStages = p.stages,
		.pVertexInputState = &p.vertex,
		.pInputAssemblyState = &p.assembly,
		.pViewportState = &p.viewport,
		.pRasterizationState = &p.raster,
		.pMultisampleState = &p.samples,
		.pDepthStencilState = &p.ds,
		.pColorBlendState = &p.blend,
		.pDynamicState = &p.dynamic,
		.layout = info->layout,
		.renderPass = info->pass,
		.subpass = info->subpass,
	};
	VkPipeline pipeline;

	fill_stages(vk, info, &p);
	fill_raster(info, &p);
	fill_output(info, &p);
	VK(vkCreateGraphicsPipelines(vk->device, VK_NULL_HANDLE, 1, &create, NULL, &pipeline));
	vkDestroyShaderModule(vk->device, p.stages[0].module, NULL);
	vkDestroyShaderModule(vk->device, p.stages[1].module, NULL);
	return pipeline;
}

VkPipelineLayout draw_layout(struct vk *vk, uint32_t count, const VkDescriptorSetLayout *sets)
{
	const VkPushConstantRange push = { VK_SHADER_STAGE_ALL_GRAPHICS, 0, 128 };
	const VkPipelineLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = count,
		.pSetLayouts = sets,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &push,
	};
	VkPipelineLayout layout;

	VK(vkCreatePipelineLayout(vk->device, &info, NULL, &layout));
	return layout;
}

/* ---- Targets --------------------------------------------------------------------------------- */

struct draw_target draw_target(struct vk *vk, VkFormat format, uint32_t width, uint32_t height,
			       uint32_t layers, VkSampleCountFlagBits samples,
			       VkImageUsageFlags usage)
{
	struct draw_target t;

	t.img = vk_img_create(vk, VK_IMAGE_TYPE_2D, format, (VkExtent3D){ width, height, 1 }, 1,
			      layers, usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
					      VK_IMAGE_USAGE_TRANSFER_DST_BIT, 0, samples);
	t.view = vk_view(vk, &t.img, layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY
						: VK_IMAGE_VIEW_TYPE_2D, format, NULL);
	return t;
}

void draw_drop(struct vk *vk, struct draw_target *t)
{
	vkDestroyImageView(vk->device, t->view, NULL);
	vk_img_destroy(vk, &t->img);
}

void *draw_read(struct vk *vk, const struct draw_target *t, uint32_t layer,
		VkImageAspectFlagBits aspect, uint32_t bytes)
{
	const size_t size = (size_t)t->img.extent.width * t->img.extent.height * bytes;
	const VkBufferImageCopy region = { .imageSubresource = { aspect, 0, layer, 1 },
					   .imageExtent = t->img.extent };
	struct vk_buf b = vk_buf_create(vk, size, 0);
	VkCommandBuffer cmd = vk_begin(vk, 0);
	void *out = malloc(size);

	vk_order(cmd);
	vkCmdCopyImageToBuffer(cmd, t->img.image, VK_IMAGE_LAYOUT_GENERAL, b.buffer, 1, &region);
	vk_end(vk, 0, cmd);
	memcpy(out, b.map, size);
	vk_buf_destroy(vk, &b);
	return out;
}

VkRenderingAttachmentInfo draw_attachment(const struct draw_target *t, const VkClearValue *clear)
{
	VkRenderingAttachmentInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = t->view,
		.imageLayout = VK_IMAGE_LAYOUT_GENERAL,
		.loadOp = clear ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
	};

	if (clear)
		info.clearValue = *clear;
	return info;
}

void draw_begin(struct vk *vk, VkCommandBuffer cmd, const VkRenderingInfo *info)
{
	VK_FUNCTION(vk, vkCmdBeginRenderingKHR)(cmd, info);
}

void draw_end(struct vk *vk, VkCommandBuffer cmd)
{
	VK_FUNCTION(vk, vkCmdEndRenderingKHR)(cmd);
}

void draw_window(VkCommandBuffer cmd, uint32_t width, uint32_t height)
{
	const VkViewport viewport = { 0, 0, (float)width, (float)height, 0, 1 };
	const VkRect2D scissor = { { 0, 0 }, { width, height } };

	vkCmdSetViewport(cmd, 0, 1, &viewport);
	vkCmdSetScissor(cmd, 0, 1, &scissor);
}

/* ---- Rasterization --------------------------------------------------------------------------- */

int64_t draw_area(const struct draw_point t[3])
{
	return (int64_t)(t[1].x - t[0].x) * (t[2].y - t[0].y) -
	       (int64_t)(t[1].y - t[0].y) * (t[2].x - t[0].x);
}

/* y grows downwards: a left edge goes up, a top edge goes right. */
bool draw_covers(const struct draw_point t[3], int x, int y)
{
	const int64_t area = draw_area(t);
	const struct draw_point p = { 256 * x + 128, 256 * y + 128 };
	unsigned i;

	if (!area)
		return false;
	for (i = 0; i < 3; i++) {
		const struct draw_point a = t[area > 0 ? i : (3 - i) % 3],
					b = t[area > 0 ? (i + 1) % 3 : 2 - i];
		const int dx = b.x - a.x, dy = b.y - a.y;
		const int64_t e = (int64_t)dx * (p.y - a.y) - (int64_t)dy * (p.x - a.x);

		if (e < 0 || (e == 0 && !(dy < 0 || (dy == 0 && dx > 0))))
			return false;
	}
	return true;
}

VkDescriptorPool draw_pool(struct vk *vk)
{
	static const VkDescriptorPoolSize sizes[] = {
		{ VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1 },
		{ VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1 },
		{ VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1 },
		{ VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1 },
		{ VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1 },
	};
	const VkDescriptorPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = 1,
		.poolSizeCount = 5,
		.pPoolSizes = sizes,
	};
	VkDescriptorPool pool;

	VK(vkCreateDescriptorPool(vk->device, &info, NULL, &pool));
	return pool;
}

VkDescriptorSet draw_set(struct vk *vk, VkDescriptorPool pool,
			 const VkDescriptorSetLayoutBinding *bindings, uint32_t count,
			 VkDescriptorSetLayout *set_layout)
{
	const VkDescriptorSetLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = count,
		.pBindings = bindings,
	};
	VkDescriptorSetAllocateInfo alloc = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorPool = pool,
		.descriptorSetCount = 1,
		.pSetLayouts = set_layout,
	};
	VkDescriptorSet set;

	VK(vkCreateDescriptorSetLayout(vk->device, &info, NULL, set_layout));
	VK(vkAllocateDescriptorSets(vk->device, &alloc, &set));
	return set;
}

void draw_put(struct vk *vk, VkDescriptorSet set, uint32_t binding, VkDescriptorType type,
	      VkImageView view, VkSampler sampler, const struct vk_buf *b)
{
	const VkDescriptorImageInfo image = { sampler, view, VK_IMAGE_LAYOUT_GENERAL };
	const VkDescriptorBufferInfo buffer = { b ? b->buffer : VK_NULL_HANDLE, 0, VK_WHOLE_SIZE };
	const VkWriteDescriptorSet write = {
		.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
		.dstSet = set,
		.dstBinding = binding,
		.descriptorCount = 1,
		.descriptorType = type,
		.pImageInfo = &image,
		.pBufferInfo = &buffer,
	};

	vkUpdateDescriptorSets(vk->device, 1, &write, 0, NULL);
}
