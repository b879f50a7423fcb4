// SPDX-License-Identifier: MIT
/* Compute: what is bound, and dispatches. */
#include "tsv_cmd.h"
#include "tsv_memory.h"
#include "tsv_shader.h"

#include "tsr_packets.h"
#include "tsr_regs.h"

/* ---- Scratch --------------------------------------------------------------------------------- */

VkResult tsv_device_scratch(struct tsv_device *device, uint32_t bytes)
{
	const struct drm_tessera_shader_info *s = tsr_device_shader_info(device->tsr);
	const uint64_t threads = (uint64_t)s->warp_lanes * s->core_warps * s->cores;
	const uint32_t access = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
	struct tsv_scratch fresh = { .size = util_next_power_of_two(MAX2(bytes, 64)) };
	int ret = 0;

	if (!bytes)
		return VK_SUCCESS;
	simple_mtx_lock(&device->lock);
	if (device->scratch.size < bytes) {
		ret = tsr_bo_create(device->tsr, threads * fresh.size, DRM_TESSERA_BO_CACHED, NULL,
				    &fresh.bo);
		if (!ret)
			ret = tsr_vm_map(device->vm, fresh.bo, 0, 0, access, &fresh.va);
		if (!ret) {
			/* dispatches that were recorded name the old one */
			util_dynarray_append(&device->old_scratch, struct tsv_scratch,
					     device->scratch);
			device->scratch = fresh;
		} else {
			tsr_bo_unref(fresh.bo);
		}
	}
	simple_mtx_unlock(&device->lock);
	return ret ? tsv_error(device, ret) : VK_SUCCESS;
}

static struct tsv_scratch scratch_of(struct tsv_device *device)
{
	struct tsv_scratch scratch;

	simple_mtx_lock(&device->lock);
	scratch = device->scratch;
	simple_mtx_unlock(&device->lock);
	return scratch;
}

/* ---- Bindings -------------------------------------------------------------------------------- */

void tsv_cmd_bind_shaders(struct vk_command_buffer *vk, uint32_t count,
			  const gl_shader_stage *stages, struct vk_shader **const shaders)
{
	struct tsv_cmd *cmd = container_of(vk, struct tsv_cmd, vk);
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (stages[i] == MESA_SHADER_COMPUTE)
			cmd->shader = shaders[i] ? container_of(shaders[i], struct tsv_shader, vk)
						 : NULL;
	}
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdBindDescriptorSets2KHR(VkCommandBuffer handle,
							 const VkBindDescriptorSetsInfoKHR *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	const uint32_t *offsets = info->pDynamicOffsets;
	uint32_t i;

	if (!(info->stageFlags & VK_SHADER_STAGE_COMPUTE_BIT))
		return;
	for (i = 0; i < info->descriptorSetCount; i++) {
		VK_FROM_HANDLE(tsv_set, set, info->pDescriptorSets[i]);
		struct tsv_bound_set *bound = &cmd->sets[info->firstSet + i];

		if (!set)
			continue;
		bound->va = set->memory.va;
		bound->dynamic_count = MIN2(set->layout->dynamic, TSV_DYNAMIC);
		memcpy(bound->dynamic, offsets, bound->dynamic_count * sizeof(*offsets));
		offsets += set->layout->dynamic;
	}
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdPushConstants2KHR(VkCommandBuffer handle,
						    const VkPushConstantsInfoKHR *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);

	if (info->stageFlags & VK_SHADER_STAGE_COMPUTE_BIT)
		memcpy(cmd->push + info->offset, info->pValues, info->size);
}

/* ---- Dispatches ------------------------------------------------------------------------------ */

/* The grid of a dispatch. */
struct grid {
	uint32_t groups[3], base[3];
	uint64_t indirect;		/* address of the groups, or 0 */
};

/* The parameters that follow COMPUTE_STATE in memory. */
static void fill_params(const struct tsv_cmd *cmd, struct tsv_params *p, uint64_t va,
			const struct grid *grid)
{
	const struct tsv_shader_info *info = &cmd->shader->info;
	unsigned i;

	memset(p, 0, sizeof(*p));
	p->self = va;
	p->groups = grid->indirect ? grid->indirect : va + offsetof(struct tsv_params, direct);
	memcpy(p->direct, grid->groups, sizeof(p->direct));
	memcpy(p->base, grid->base, sizeof(p->base));
	for (i = 0; i < TSV_SETS; i++) {
		const struct tsv_bound_set *set = &cmd->sets[i];
		const unsigned first = MIN2(info->dynamic[i], TSV_DYNAMIC);

		p->sets[i] = set->va;
		memcpy(p->dynamic + first, set->dynamic,
		       MIN2(set->dynamic_count, TSV_DYNAMIC - first) * sizeof(uint32_t));
	}
	memcpy(p->push, cmd->push, sizeof(p->push));
}

/* COMPUTE_STATE with its parameters; its address, or 0. */
static uint64_t write_state(struct tsv_cmd *cmd, const struct grid *grid)
{
	const struct tsv_shader_info *info = &cmd->shader->info;
	const uint32_t bytes = TSR_COMPUTE_STATE__QWORDS * 8;
	struct tsr_compute_state s = {
		.code = cmd->shader->code.va,
		.local_x = info->local[0],
		.local_y = info->local[1],
		.local_z = info->local[2],
		.registers_64 = info->registers_64,
		.push_words = info->push_words,
		.group_memory = info->group_memory,
	};
	uint64_t va, *words = tsv_cmd_alloc(cmd, bytes + sizeof(struct tsv_params), 64, &va);
	struct tsv_scratch scratch;

	if (!words)
		return 0;
	if (info->scratch) {
		scratch = scratch_of(tsv_cmd_device(cmd));
		s.scratch = scratch.va;
		s.scratch_size = scratch.size;
	}
	s.push = va + bytes;
	tsr_pack_compute_state(words, &s);
	fill_params(cmd, (void *)((uint8_t *)words + bytes), s.push, grid);
	return va;
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdDispatchBase(VkCommandBuffer handle, uint32_t base_x,
					       uint32_t base_y, uint32_t base_z, uint32_t x,
					       uint32_t y, uint32_t z)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	const struct grid grid = { { x, y, z }, { base_x, base_y, base_z }, 0 };
	struct tsr_dispatch d = { .groups_x = x, .groups_y = y, .groups_z = z };
	struct tsr_stream *stream;
	uint64_t *words;

	if (!cmd->shader || !cmd->shader->info.code_size || !x || !y || !z)
		return;
	d.state = write_state(cmd, &grid);
	stream = d.state ? tsv_cmd_stream(cmd, TSV_COMPUTE) : NULL;
	words = stream ? tsr_stream_emit(stream, TSR_DISPATCH_QWORDS) : NULL;
	if (words)
		tsr_pack_dispatch(words, &d);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdDispatchIndirect(VkCommandBuffer handle, VkBuffer buf,
						   VkDeviceSize offset)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_buffer, buffer, buf);
	const struct grid grid = { .indirect = buffer->va + offset };
	struct tsr_dispatch_indirect d = { .groups = grid.indirect };
	struct tsr_stream *stream;
	uint64_t *words;

	if (!cmd->shader || !cmd->shader->info.code_size)
		return;
	d.state = write_state(cmd, &grid);
	stream = d.state ? tsv_cmd_stream(cmd, TSV_COMPUTE) : NULL;
	words = stream ? tsr_stream_emit(stream, TSR_DISPATCH_INDIRECT_QWORDS) : NULL;
	if (words)
		tsr_pack_dispatch_indirect(words, &d);
}
