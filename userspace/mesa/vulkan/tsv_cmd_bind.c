// SPDX-License-Identifier: MIT
/* Bindings: shaders, descriptor sets, push constants, vertices and indices. */
#include "tsv_cmd.h"
#include "tsv_memory.h"

#include "vk_pipeline_layout.h"

void tsv_cmd_bind_shaders(struct vk_command_buffer *vk, uint32_t count,
			  const gl_shader_stage *stages, struct vk_shader **const shaders)
{
	struct tsv_cmd *cmd = container_of(vk, struct tsv_cmd, vk);
	uint32_t i;

	for (i = 0; i < count; i++) {
		const struct tsv_shader *shader =
			shaders[i] ? container_of(shaders[i], struct tsv_shader, vk) : NULL;

		if (stages[i] == MESA_SHADER_COMPUTE)
			cmd->shader = shader;
		else if (stages[i] == MESA_SHADER_VERTEX)
			cmd->graphics.vertex = shader;
		else if (stages[i] == MESA_SHADER_FRAGMENT)
			cmd->graphics.fragment = shader;
		if (stages[i] != MESA_SHADER_COMPUTE)
			cmd->graphics.dirty |= TSV_DIRTY_SHADERS | TSV_DIRTY_STATE;
	}
}

/* ---- Descriptor sets and push constants ------------------------------------------------------ */

static void bind_set(struct tsv_bind *bind, uint32_t index, const struct tsv_set *set,
		     const uint32_t *offsets)
{
	struct tsv_bound_set *bound = &bind->sets[index];

	bound->va = set->memory.va;
	bound->cpu = set->memory.cpu;
	bound->dynamic_count = MIN2(set->layout->dynamic, TSV_DYNAMIC);
	memcpy(bound->dynamic, offsets, bound->dynamic_count * sizeof(*offsets));
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdBindDescriptorSets2KHR(VkCommandBuffer handle,
							 const VkBindDescriptorSetsInfoKHR *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	const uint32_t *offsets = info->pDynamicOffsets;
	uint32_t i;

	for (i = 0; i < info->descriptorSetCount; i++) {
		VK_FROM_HANDLE(tsv_set, set, info->pDescriptorSets[i]);

		if (!set)
			continue;
		if (info->stageFlags & VK_SHADER_STAGE_COMPUTE_BIT)
			bind_set(&cmd->compute, info->firstSet + i, set, offsets);
		if (info->stageFlags & VK_SHADER_STAGE_ALL_GRAPHICS)
			bind_set(&cmd->graphics.bind, info->firstSet + i, set, offsets);
		offsets += set->layout->dynamic;
	}
	if (info->stageFlags & VK_SHADER_STAGE_ALL_GRAPHICS)
		cmd->graphics.dirty |= TSV_DIRTY_SHADERS;
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdPushConstants2KHR(VkCommandBuffer handle,
						    const VkPushConstantsInfoKHR *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);

	if (info->stageFlags & VK_SHADER_STAGE_COMPUTE_BIT)
		memcpy(cmd->compute.push + info->offset, info->pValues, info->size);
	if (info->stageFlags & VK_SHADER_STAGE_ALL_GRAPHICS) {
		memcpy(cmd->graphics.bind.push + info->offset, info->pValues, info->size);
		cmd->graphics.dirty |= TSV_DIRTY_PARAMS;
	}
}

/*
 * A set in the memory of the command buffer, with what the writes say. Only built-in pipelines push
 * descriptors, and they push all of a set at once, so nothing of an earlier one is kept.
 */
VKAPI_ATTR void VKAPI_CALL tsv_CmdPushDescriptorSet2KHR(VkCommandBuffer handle,
							const VkPushDescriptorSetInfoKHR *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(vk_pipeline_layout, layout, info->layout);
	static const uint32_t none[TSV_DYNAMIC];
	struct tsv_set set = {
		.layout = container_of(layout->set_layouts[info->set], struct tsv_set_layout, vk),
	};

	set.memory.cpu = tsv_cmd_alloc(cmd, MAX2(set.layout->size, 16), 64, &set.memory.va);
	if (!set.memory.cpu)
		return;
	memset(set.memory.cpu, 0, set.layout->size);
	tsv_set_write(&set, info->descriptorWriteCount, info->pDescriptorWrites);
	if (info->stageFlags & VK_SHADER_STAGE_COMPUTE_BIT)
		bind_set(&cmd->compute, info->set, &set, none);
	if (info->stageFlags & VK_SHADER_STAGE_ALL_GRAPHICS) {
		bind_set(&cmd->graphics.bind, info->set, &set, none);
		cmd->graphics.dirty |= TSV_DIRTY_SHADERS;
	}
}

void tsv_fill_params(const struct tsv_bind *bind, const struct tsv_shader_info *info,
		     struct tsv_params *p, uint64_t va)
{
	unsigned i;

	memset(p, 0, sizeof(*p));
	p->self = va;
	for (i = 0; i < TSV_SETS; i++) {
		const struct tsv_bound_set *set = &bind->sets[i];
		const unsigned first = MIN2(info->dynamic[i], TSV_DYNAMIC);

		p->sets[i] = set->va;
		memcpy(p->dynamic + first, set->dynamic,
		       MIN2(set->dynamic_count, TSV_DYNAMIC - first) * sizeof(uint32_t));
	}
	memcpy(p->push, bind->push, sizeof(p->push));
}

/* ---- Vertices and indices -------------------------------------------------------------------- */

VKAPI_ATTR void VKAPI_CALL tsv_CmdBindVertexBuffers2(VkCommandBuffer handle, uint32_t first,
						     uint32_t count, const VkBuffer *buffers,
						     const VkDeviceSize *offsets,
						     const VkDeviceSize *sizes,
						     const VkDeviceSize *strides)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	uint32_t i;

	for (i = 0; i < count; i++) {
		VK_FROM_HANDLE(tsv_buffer, buffer, buffers[i]);
		struct tsv_source *source = &cmd->graphics.vertices[first + i];

		*source = (struct tsv_source){ 0 };
		if (!buffer)
			continue;
		source->va = buffer->va + offsets[i];
		source->size = vk_buffer_range(&buffer->vk, offsets[i],
					       sizes ? sizes[i] : VK_WHOLE_SIZE);
	}
	if (strides)
		vk_cmd_set_vertex_binding_strides(&cmd->vk, first, count, strides);
	cmd->graphics.dirty |= TSV_DIRTY_SHADERS;
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdBindIndexBuffer2KHR(VkCommandBuffer handle, VkBuffer buf,
						      VkDeviceSize offset, VkDeviceSize size,
						      VkIndexType type)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_buffer, buffer, buf);
	struct tsv_graphics *g = &cmd->graphics;

	g->indices = (struct tsv_source){ 0 };
	if (buffer) {
		g->indices.va = buffer->va + offset;
		g->indices.size = vk_buffer_range(&buffer->vk, offset, size);
	}
	g->index_type = type == VK_INDEX_TYPE_UINT32	 ? TSR_INDEX_TYPE_U32
			: type == VK_INDEX_TYPE_UINT8_KHR ? TSR_INDEX_TYPE_U8
							  : TSR_INDEX_TYPE_U16;
}
