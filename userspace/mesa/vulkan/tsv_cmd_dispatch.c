// SPDX-License-Identifier: MIT
/* Dispatches of compute shaders. */
#include "tsv_cmd.h"
#include "tsv_memory.h"
#include "tsv_shader.h"

#include "tsr_packets.h"
#include "tsr_regs.h"

/* ---- Scratch --------------------------------------------------------------------------------- */

VkResult tsv_device_scratch(struct tsv_device *device, enum tsv_scratch_user user, uint32_t bytes)
{
	const struct drm_tessera_shader_info *s = tsr_device_shader_info(device->tsr);
	const uint64_t threads = (uint64_t)s->warp_lanes * s->core_warps * s->cores;
	const uint32_t access = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
	struct tsv_scratch fresh = { .size = util_next_power_of_two(MAX2(bytes, 64)) };
	struct tsv_scratch *now = &device->scratch[user];
	int ret = 0;

	if (!bytes)
		return VK_SUCCESS;
	simple_mtx_lock(&device->lock);
	if (now->size < bytes) {
		ret = tsr_bo_create(device->tsr, threads * fresh.size, DRM_TESSERA_BO_CACHED, NULL,
				    &fresh.bo);
		if (!ret)
			ret = tsr_vm_map(device->vm, fresh.bo, 0, 0, access, &fresh.va);
		if (!ret) {
			/* work that was recorded names the old one */
			util_dynarray_append(&device->old_scratch, struct tsv_scratch, *now);
			*now = fresh;
		} else {
			tsr_bo_unref(fresh.bo);
		}
	}
	simple_mtx_unlock(&device->lock);
	return ret ? tsv_error(device, ret) : VK_SUCCESS;
}

struct tsv_scratch tsv_scratch(struct tsv_device *device, enum tsv_scratch_user user)
{
	struct tsv_scratch scratch;

	simple_mtx_lock(&device->lock);
	scratch = device->scratch[user];
	simple_mtx_unlock(&device->lock);
	return scratch;
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

	tsv_fill_params(&cmd->compute, info, p, va);
	p->groups = grid->indirect ? grid->indirect : va + offsetof(struct tsv_params, direct);
	memcpy(p->direct, grid->groups, sizeof(p->direct));
	memcpy(p->base, grid->base, sizeof(p->base));
}

/* The tables that the state names. Returns false if there is no memory. */
static bool add_tables(struct tsv_cmd *cmd, struct tsr_compute_state *s)
{
	const struct tsv_shader_info *info = &cmd->shader->info;
	const unsigned images = info->table[TSV_IMAGES].slots;
	struct tsv_tables tables;
	uint64_t *words, va;

	if (!tsv_cmd_tables(cmd, info, cmd->compute.sets, &tables))
		return false;
	s->textures = tables.textures;
	s->texture_count = tables.texture_count;
	s->samplers = tables.samplers;
	s->sampler_count = tables.sampler_count;
	if (!images)
		return true;
	words = tsv_cmd_alloc(cmd, images * 40, 64, &va);
	if (!words)
		return false;
	tsv_write_images(cmd->compute.sets, &info->table[TSV_IMAGES], 0, words + 4 * images, words);
	s->attribute_buffers = va;
	s->attribute_buffer_count = 2 * images;
	s->attributes = va + 32 * images;
	s->attribute_count = images;
	return true;
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

	if (!words || !add_tables(cmd, &s))
		return 0;
	if (info->scratch) {
		scratch = tsv_scratch(tsv_cmd_device(cmd), TSV_SCRATCH_OTHERS);
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
