// SPDX-License-Identifier: MIT
#include "tsv_cmd.h"

#include "vk_alloc.h"

#define CHUNK		(16u << 10)
#define CHUNK_ALIGN	256u	/* the largest alignment that tsv_cmd_alloc() is asked for */
#define FLAGS_ORDER	(TSR_CMD_WAIT_WRITES | TSR_CMD_INVALIDATE_READ)
#define FLAGS_BEGIN	(FLAGS_ORDER | TSR_CMD_INVALIDATE_CODE)

/* ---- Segments -------------------------------------------------------------------------------- */

bool tsv_cmd_check(struct tsv_cmd *cmd, int ret)
{
	if (ret && cmd->vk.record_result == VK_SUCCESS) {
		tsv_error(cmd, ret);
		vk_command_buffer_set_error(&cmd->vk, tsv_result(ret));
	}
	return !ret;
}

/* The place that the open segment, or the next one, has or will have. */
static int next_place(const struct tsv_cmd *cmd)
{
	return (int)util_dynarray_num_elements(&cmd->segments, struct tsv_segment);
}

static void add_segment(struct tsv_cmd *cmd, const struct tsv_segment *segment)
{
	cmd->last[tsv_lane(segment->engine)] = next_place(cmd);
	util_dynarray_append(&cmd->segments, struct tsv_segment, *segment);
}

static void close_segment(struct tsv_cmd *cmd)
{
	struct tsv_segment segment = { .engine = cmd->engine,
				       .heap = cmd->open_heap,
				       .stream = cmd->stream };

	if (!cmd->stream)
		return;
	cmd->stream = NULL;
	cmd->barrier = false;
	memcpy(segment.after, cmd->after, sizeof(segment.after));
	tsv_cmd_check(cmd, tsr_stream_finish(segment.stream, &segment.va, &segment.size));
	add_segment(cmd, &segment);
}

/*
 * A segment of @engine waits for all of its lane, and for what was before the last barrier. RENDER
 * waits for BIN of its pass, the last one.
 */
static void find_after(const struct tsv_cmd *cmd, enum tsv_engine engine, int after[TSV_LANES])
{
	const bool bin = engine == TSV_BIN;
	const enum tsv_lane lane = tsv_lane(engine);

	memcpy(after, bin ? cmd->bin_fence : cmd->fence, sizeof(cmd->fence));
	if (!bin || cmd->last[lane] != TSV_BEFORE)
		after[lane] = cmd->last[lane];
	if (engine == TSV_RENDER)
		after[TSV_LANE_BIN] = cmd->last[TSV_LANE_BIN];
}

/* True if a lane has begun work that the open segment does not wait for. */
static bool others_began(const struct tsv_cmd *cmd)
{
	unsigned i;

	for (i = 0; i < TSV_LANES; i++) {
		if (i != tsv_lane(cmd->engine) && cmd->last[i] > cmd->after[i])
			return true;
	}
	return false;
}

void tsv_cmd_barrier(struct tsv_cmd *cmd, VkPipelineStageFlags2 stages)
{
	memcpy(cmd->fence, cmd->last, sizeof(cmd->fence));
	if (cmd->stream)
		cmd->fence[tsv_lane(cmd->engine)] = next_place(cmd);
	if (tsv_holds_bin(stages))
		memcpy(cmd->bin_fence, cmd->fence, sizeof(cmd->bin_fence));
	if (!cmd->stream)
		return;
	/* the open segment waits for itself, and not for what other lanes have begun since */
	if (others_began(cmd))
		close_segment(cmd);
	else
		cmd->barrier = true;
}

struct tsr_stream *tsv_cmd_stream(struct tsv_cmd *cmd, enum tsv_engine engine)
{
	int ret;

	if (cmd->stream && cmd->engine != engine)
		close_segment(cmd);
	if (!cmd->stream) {
		ret = tsr_stream_create(tsv_cmd_device(cmd)->lists, 0, &cmd->stream);
		if (!tsv_cmd_check(cmd, ret))
			return NULL;
		cmd->engine = engine;
		cmd->open_heap = cmd->heap;
		find_after(cmd, engine, cmd->after);
		ret = tsr_cmd_barrier(cmd->stream, FLAGS_BEGIN);
	} else {
		ret = cmd->barrier ? tsr_cmd_barrier(cmd->stream, FLAGS_ORDER) : 0;
	}
	cmd->barrier = false;
	return tsv_cmd_check(cmd, ret) ? cmd->stream : NULL;
}

static void *alloc_chunk(struct tsv_cmd *cmd, uint64_t size, uint32_t align, uint64_t *va)
{
	struct tsr_alloc alloc;

	if (!tsv_cmd_check(cmd, tsr_pool_alloc(tsv_cmd_device(cmd)->lists, size, align, &alloc)))
		return NULL;
	util_dynarray_append(&cmd->allocs, struct tsr_alloc, alloc);
	*va = alloc.va;
	return alloc.cpu;
}

void *tsv_cmd_alloc(struct tsv_cmd *cmd, uint64_t size, uint32_t align, uint64_t *va)
{
	uint32_t at = ALIGN_POT(cmd->chunk_used, align);

	if (size > CHUNK / 4)
		return alloc_chunk(cmd, size, align, va);
	if (!cmd->chunk || at + size > CHUNK) {
		cmd->chunk = alloc_chunk(cmd, CHUNK, CHUNK_ALIGN, &cmd->chunk_va);
		at = 0;
	}
	if (!cmd->chunk)
		return NULL;
	cmd->chunk_used = at + (uint32_t)size;
	*va = cmd->chunk_va + at;
	return cmd->chunk + at;
}

/* ---- The object ------------------------------------------------------------------------------ */

/* The runtime wants memory for some of the dynamic state. */
static void point_dynamic_state(struct tsv_cmd *cmd)
{
	cmd->vk.dynamic_graphics_state.vi = &cmd->vertex_input;
	cmd->vk.dynamic_graphics_state.ms.sample_locations = &cmd->sample_locations;
}

static void forget_order(struct tsv_cmd *cmd)
{
	unsigned i;

	for (i = 0; i < TSV_LANES; i++) {
		cmd->last[i] = cmd->fence[i] = TSV_BEFORE;
		cmd->bin_fence[i] = TSV_HELD;
	}
	cmd->barrier = false;
}

static VkResult create(struct vk_command_pool *pool, VkCommandBufferLevel level,
		       struct vk_command_buffer **out)
{
	struct tsv_cmd *cmd = vk_zalloc(&pool->alloc, sizeof(*cmd), 8,
					VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
	VkResult result;

	if (!cmd)
		return vk_error(pool, VK_ERROR_OUT_OF_HOST_MEMORY);
	result = vk_command_buffer_init(pool, &cmd->vk, &tsv_cmd_ops, level);
	if (result != VK_SUCCESS) {
		vk_free(&pool->alloc, cmd);
		return result;
	}
	util_dynarray_init(&cmd->segments, NULL);
	util_dynarray_init(&cmd->allocs, NULL);
	util_dynarray_init(&cmd->pass.list, NULL);
	util_dynarray_init(&cmd->pass.splits, NULL);
	util_dynarray_init(&cmd->pass.marks, NULL);
	forget_order(cmd);
	point_dynamic_state(cmd);
	*out = &cmd->vk;
	return VK_SUCCESS;
}

static void clear(struct tsv_cmd *cmd)
{
	util_dynarray_foreach(&cmd->segments, struct tsv_segment, segment)
		tsr_stream_destroy(segment->stream);
	util_dynarray_foreach(&cmd->allocs, struct tsr_alloc, alloc)
		tsr_pool_free(tsv_cmd_device(cmd)->lists, alloc);
	tsr_stream_destroy(cmd->stream);
	cmd->stream = NULL;
	forget_order(cmd);
	cmd->chunk = NULL;
	cmd->chunk_used = 0;
	cmd->shader = NULL;
	memset(&cmd->compute, 0, sizeof(cmd->compute));
	memset(&cmd->graphics, 0, sizeof(cmd->graphics));
	cmd->pass.active = false;
	util_dynarray_clear(&cmd->pass.list);
	util_dynarray_clear(&cmd->pass.splits);
	util_dynarray_clear(&cmd->pass.marks);
	util_dynarray_clear(&cmd->segments);
	util_dynarray_clear(&cmd->allocs);
}

static void reset(struct vk_command_buffer *vk, VkCommandBufferResetFlags flags)
{
	vk_command_buffer_reset(vk);
	clear(container_of(vk, struct tsv_cmd, vk));
	point_dynamic_state(container_of(vk, struct tsv_cmd, vk));
}

static void destroy(struct vk_command_buffer *vk)
{
	struct tsv_cmd *cmd = container_of(vk, struct tsv_cmd, vk);
	struct vk_command_pool *pool = vk->pool;

	clear(cmd);
	util_dynarray_fini(&cmd->segments);
	util_dynarray_fini(&cmd->allocs);
	util_dynarray_fini(&cmd->pass.list);
	util_dynarray_fini(&cmd->pass.splits);
	util_dynarray_fini(&cmd->pass.marks);
	vk_command_buffer_finish(vk);
	vk_free(&pool->alloc, cmd);
}

const struct vk_command_buffer_ops tsv_cmd_ops = {
	.create = create,
	.reset = reset,
	.destroy = destroy,
};

/* ---- Recording ------------------------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL tsv_BeginCommandBuffer(VkCommandBuffer handle,
						      const VkCommandBufferBeginInfo *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);

	vk_command_buffer_begin(&cmd->vk, info);
	if (info->flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT &&
	    cmd->vk.level == VK_COMMAND_BUFFER_LEVEL_SECONDARY)
		tsv_pass_inherit(cmd, info);
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_EndCommandBuffer(VkCommandBuffer handle)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);

	close_segment(cmd);
	return vk_command_buffer_end(&cmd->vk);
}

/* The stages that wait for others. A barrier that waits for none only changes layouts. */
static VkPipelineStageFlags2 stages_of(const VkDependencyInfo *info)
{
	const VkPipelineStageFlags2 none = VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT;
	VkPipelineStageFlags2 stages = 0;
	uint32_t i;

	for (i = 0; i < info->memoryBarrierCount; i++) {
		if (info->pMemoryBarriers[i].srcStageMask & ~none)
			stages |= info->pMemoryBarriers[i].dstStageMask;
	}
	for (i = 0; i < info->bufferMemoryBarrierCount; i++) {
		if (info->pBufferMemoryBarriers[i].srcStageMask & ~none)
			stages |= info->pBufferMemoryBarriers[i].dstStageMask;
	}
	for (i = 0; i < info->imageMemoryBarrierCount; i++) {
		if (info->pImageMemoryBarriers[i].srcStageMask & ~none)
			stages |= info->pImageMemoryBarriers[i].dstStageMask;
	}
	return stages;
}

/* Inside a pass a barrier is for draws that read the pass's own targets. */
VKAPI_ATTR void VKAPI_CALL tsv_CmdPipelineBarrier2(VkCommandBuffer handle,
						   const VkDependencyInfo *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);

	if (cmd->pass.active)
		tsv_pass_split(cmd, stages_of(info));
	else
		tsv_cmd_barrier(cmd, stages_of(info));
}

/* The segments of @secondary, which are after all others. */
static void add_secondary(struct tsv_cmd *cmd, const struct tsv_cmd *secondary)
{
	const int first = next_place(cmd);

	tsv_cmd_barrier(cmd, TSV_ALL_STAGES);
	util_dynarray_foreach(&secondary->segments, struct tsv_segment, s) {
		struct tsv_segment segment = *s;
		unsigned i;

		segment.stream = NULL;
		for (i = 0; i < TSV_LANES; i++)
			segment.after[i] = s->after[i] < 0 ? cmd->fence[i] : s->after[i] + first;
		add_segment(cmd, &segment);
	}
	tsv_cmd_barrier(cmd, TSV_ALL_STAGES);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdExecuteCommands(VkCommandBuffer handle, uint32_t count,
						  const VkCommandBuffer *secondaries)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	uint32_t i;

	if (!cmd->pass.active)
		close_segment(cmd);
	for (i = 0; i < count; i++) {
		VK_FROM_HANDLE(tsv_cmd, secondary, secondaries[i]);

		if (cmd->pass.active)
			tsv_pass_execute(cmd, secondary);
		else
			add_secondary(cmd, secondary);
	}
}
