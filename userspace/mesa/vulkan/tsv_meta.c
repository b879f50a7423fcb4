// SPDX-License-Identifier: MIT
/*
 * Scaled copies, resolves, and clears of attachments are draws, because the device has no command
 * for them. The runtime has the pipelines. They replace the state of the command buffer, so it is
 * saved and restored.
 */
#include "tsv_cmd.h"
#include "tsv_image.h"
#include "tsv_memory.h"

#include "vk_common_entrypoints.h"
#include "vk_format.h"
#include "vk_pipeline.h"

/* State that built-in pipelines change. */
struct saved {
	struct tsv_graphics graphics;
	struct vk_dynamic_graphics_state dynamic;
	struct vk_vertex_input_state vertex_input;
	struct vk_sample_locations_state sample_locations;
};

static void save(struct tsv_cmd *cmd, struct saved *s)
{
	s->graphics = cmd->graphics;
	s->dynamic = cmd->vk.dynamic_graphics_state;
	s->vertex_input = cmd->vertex_input;
	s->sample_locations = cmd->sample_locations;
	/* a pipeline that was made without depth and stencil leaves their state as it is */
	cmd->vk.dynamic_graphics_state.ds.depth.test_enable = false;
	cmd->vk.dynamic_graphics_state.ds.depth.bounds_test.enable = false;
	cmd->vk.dynamic_graphics_state.ds.stencil.test_enable = false;
	/* no query counts what built-in pipelines draw */
	cmd->graphics.query = 0;
	cmd->graphics.dirty |= TSV_DIRTY_QUERY;
}

static void restore(struct tsv_cmd *cmd, const struct saved *s)
{
	cmd->graphics = s->graphics;
	cmd->vk.dynamic_graphics_state = s->dynamic;
	cmd->vertex_input = s->vertex_input;
	cmd->sample_locations = s->sample_locations;
	cmd->graphics.dirty |= TSV_DIRTY_SHADERS | TSV_DIRTY_STATE | TSV_DIRTY_QUERY;
}

/* Memory of the command buffer for a buffer that the runtime has made. */
static VkResult bind_map_buffer(struct vk_command_buffer *vk, struct vk_meta_device *meta,
				VkBuffer buf, void **map)
{
	struct tsv_cmd *cmd = container_of(vk, struct tsv_cmd, vk);
	VK_FROM_HANDLE(tsv_buffer, buffer, buf);

	*map = tsv_cmd_alloc(cmd, buffer->vk.size, TSV_BUFFER_ALIGN, &buffer->va);
	return *map ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

VkResult tsv_meta_init(struct tsv_device *device)
{
	const VkResult result = vk_meta_device_init(&device->vk, &device->meta);

	device->meta.use_layered_rendering = true;
	device->meta.use_stencil_export = true;
	device->meta.use_rect_list_pipeline = true;
	device->meta.max_bind_map_buffer_size_B = 64 << 10;
	device->meta.cmd_bind_map_buffer = bind_map_buffer;
	return result;
}

/* The formats of the pass that is being recorded. */
static struct vk_meta_rendering_info rendering_info(const struct tsv_cmd *cmd)
{
	const struct tsv_pass *pass = &cmd->pass;
	struct vk_meta_rendering_info info = {
		.view_mask = pass->views,
		.samples = 1u << pass->frame.samples_log2,
		.color_attachment_count = pass->colors,
	};
	uint32_t i;

	for (i = 0; i < pass->colors; i++) {
		info.color_attachment_formats[i] = vk_format_from_pipe_format(pass->format[i]);
		info.color_attachment_write_masks[i] = 0xf;
	}
	/* DRAW_STATE does not depend on the format of depth */
	if (pass->depth)
		info.depth_attachment_format = VK_FORMAT_D32_SFLOAT;
	if (pass->stencil)
		info.stencil_attachment_format = VK_FORMAT_S8_UINT;
	return info;
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdClearAttachments(VkCommandBuffer handle, uint32_t count,
						   const VkClearAttachment *attachments,
						   uint32_t rect_count, const VkClearRect *rects)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	const struct vk_meta_rendering_info info = rendering_info(cmd);
	struct saved saved;

	save(cmd, &saved);
	vk_meta_clear_attachments(&cmd->vk, &tsv_cmd_device(cmd)->meta, &info, count, attachments,
				  rect_count, rects);
	restore(cmd, &saved);
}

void tsv_meta_clear_area(struct tsv_cmd *cmd, const VkRenderingInfo *info)
{
	struct saved saved;

	save(cmd, &saved);
	vk_meta_clear_rendering(&tsv_cmd_device(cmd)->meta, &cmd->vk, info);
	restore(cmd, &saved);
}

void tsv_meta_resolve(struct tsv_cmd *cmd, const VkRenderingInfo *info)
{
	struct saved saved;

	save(cmd, &saved);
	vk_meta_resolve_rendering(&cmd->vk, &tsv_cmd_device(cmd)->meta, info);
	restore(cmd, &saved);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdBlitImage2(VkCommandBuffer handle, const VkBlitImageInfo2 *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	struct saved saved;

	save(cmd, &saved);
	vk_meta_blit_image2(&cmd->vk, &tsv_cmd_device(cmd)->meta, info);
	restore(cmd, &saved);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdResolveImage2(VkCommandBuffer handle,
						const VkResolveImageInfo2 *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	struct saved saved;

	save(cmd, &saved);
	vk_meta_resolve_image2(&cmd->vk, &tsv_cmd_device(cmd)->meta, info);
	restore(cmd, &saved);
}

/* ---- Pipelines ------------------------------------------------------------------------------- */

/* Features that are not offered, so that a valid program does not use them. */
static bool is_refused(const VkGraphicsPipelineCreateInfo *info)
{
	const VkPipelineRasterizationStateCreateInfo *rs = info->pRasterizationState;
	uint32_t i;

	for (i = 0; i < info->stageCount; i++) {
		if (info->pStages[i].stage != VK_SHADER_STAGE_VERTEX_BIT &&
		    info->pStages[i].stage != VK_SHADER_STAGE_FRAGMENT_BIT)
			return true;
	}
	return rs && rs->polygonMode != VK_POLYGON_MODE_FILL;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateGraphicsPipelines(
	VkDevice handle, VkPipelineCache cache, uint32_t count,
	const VkGraphicsPipelineCreateInfo *infos, const VkAllocationCallbacks *alloc,
	VkPipeline *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	uint32_t i;

	for (i = 0; i < count; i++)
		out[i] = VK_NULL_HANDLE;
	for (i = 0; i < count; i++) {
		if (is_refused(&infos[i]))
			return vk_error(device, VK_ERROR_FEATURE_NOT_PRESENT);
	}
	return vk_common_CreateGraphicsPipelines(handle, cache, count, infos, alloc, out);
}
