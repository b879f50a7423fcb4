// SPDX-License-Identifier: MIT
/*
 * Queries: samples that pass the tests of draws, and timestamps. A query is two words in memory.
 * The first is its value. The second is 1 if the query is available.
 *
 * A query that ends inside a render pass is available when RENDER has done the pass. A timestamp
 * inside a pass is that of its end.
 */
#include "tsv_cmd.h"
#include "tsv_memory.h"

#include "util/os_time.h"
#include "util/u_atomic.h"
#include "vk_query_pool.h"

#define WAIT_NS		(60ull * 1000 * 1000 * 1000)	/* for a query that never ends */
#define SLEEP_US	100

struct query {
	uint64_t value, available;
};

struct tsv_query_pool {
	struct vk_query_pool vk;
	struct tsr_alloc memory;	/* of tsv_device.words: struct query */
};

VK_DEFINE_NONDISP_HANDLE_CASTS(tsv_query_pool, vk.base, VkQueryPool, VK_OBJECT_TYPE_QUERY_POOL)

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateQueryPool(VkDevice handle,
						   const VkQueryPoolCreateInfo *info,
						   const VkAllocationCallbacks *alloc,
						   VkQueryPool *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	const uint64_t size = (uint64_t)info->queryCount * sizeof(struct query);
	struct tsv_query_pool *pool;
	int ret;

	if (info->queryType != VK_QUERY_TYPE_OCCLUSION &&
	    info->queryType != VK_QUERY_TYPE_TIMESTAMP)
		return vk_error(device, VK_ERROR_FEATURE_NOT_PRESENT);
	pool = vk_query_pool_create(&device->vk, info, alloc, sizeof(*pool));
	if (!pool)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	ret = tsr_pool_alloc(device->words, size, sizeof(struct query), &pool->memory);
	if (ret) {
		vk_query_pool_destroy(&device->vk, alloc, &pool->vk);
		return tsv_error(device, ret);
	}
	memset(pool->memory.cpu, 0, size);
	*out = tsv_query_pool_to_handle(pool);
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_DestroyQueryPool(VkDevice handle, VkQueryPool qp,
						const VkAllocationCallbacks *alloc)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_query_pool, pool, qp);

	if (!pool)
		return;
	tsr_pool_free(device->words, &pool->memory);
	vk_query_pool_destroy(&device->vk, alloc, &pool->vk);
}

static uint64_t query_va(const struct tsv_query_pool *pool, uint32_t query)
{
	return pool->memory.va + query * sizeof(struct query);
}

/* ---- Commands -------------------------------------------------------------------------------- */

/* Queries that end here, or when the pass does. */
static void mark(struct tsv_cmd *cmd, uint64_t va, uint32_t count, bool timestamp)
{
	const struct tsv_mark mark = { va, count, timestamp };

	util_dynarray_append(&cmd->pass.marks, struct tsv_mark, mark);
	if (!cmd->pass.active)
		tsv_cmd_write_marks(cmd, cmd->stream ? cmd->engine : TSV_COPY);
}

void tsv_cmd_write_marks(struct tsv_cmd *cmd, enum tsv_engine engine)
{
	struct tsr_stream *stream;
	uint32_t i;

	if (!cmd->pass.marks.size)
		return;
	/* RENDER alone counts and notes, so BIN of later passes need not wait */
	tsv_cmd_barrier(cmd, TSV_STAGES_LATE);
	stream = tsv_cmd_stream(cmd, engine);
	util_dynarray_foreach(&cmd->pass.marks, struct tsv_mark, m) {
		for (i = 0; stream && i < m->count; i++) {
			const uint64_t va = m->va + i * sizeof(struct query);

			if (m->timestamp)
				tsv_cmd_check(cmd, tsr_cmd_timestamp(stream, va,
								     TSR_EVENT_ALL_DONE));
			tsv_cmd_check(cmd, tsr_cmd_fence(stream,
							 va + offsetof(struct query, available),
							 TSR_EVENT_WRITES_DONE, 1));
		}
	}
	util_dynarray_clear(&cmd->pass.marks);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdBeginQueryIndexedEXT(VkCommandBuffer handle, VkQueryPool qp,
						       uint32_t query, VkQueryControlFlags flags,
						       uint32_t index)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_query_pool, pool, qp);

	cmd->graphics.query = query_va(pool, query);
	cmd->graphics.query_kind = flags & VK_QUERY_CONTROL_PRECISE_BIT ? TSR_QUERY_SAMPLES
									: TSR_QUERY_ANY_SAMPLES;
	cmd->graphics.dirty |= TSV_DIRTY_QUERY;
}

/* With several views, the first query has the sum and the others are 0. */
VKAPI_ATTR void VKAPI_CALL tsv_CmdEndQueryIndexedEXT(VkCommandBuffer handle, VkQueryPool qp,
						     uint32_t query, uint32_t index)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_query_pool, pool, qp);
	const uint32_t views = cmd->pass.active ? util_bitcount(cmd->pass.views) : 0;

	cmd->graphics.query = 0;
	cmd->graphics.dirty |= TSV_DIRTY_QUERY;
	mark(cmd, query_va(pool, query), MAX2(views, 1), false);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdWriteTimestamp2(VkCommandBuffer handle,
						  VkPipelineStageFlags2 stage, VkQueryPool qp,
						  uint32_t query)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_query_pool, pool, qp);
	const uint32_t views = cmd->pass.active ? util_bitcount(cmd->pass.views) : 0;

	mark(cmd, query_va(pool, query), MAX2(views, 1), true);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdResetQueryPool(VkCommandBuffer handle, VkQueryPool qp,
						 uint32_t first, uint32_t count)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_query_pool, pool, qp);
	static const uint64_t zero;
	struct tsr_stream *stream;

	tsv_cmd_barrier(cmd, TSV_ALL_STAGES);
	stream = tsv_cmd_stream(cmd, TSV_COPY);
	if (stream)
		tsv_cmd_check(cmd, tsr_cmd_fill(stream, query_va(pool, first),
						(uint64_t)count * sizeof(struct query), &zero,
						sizeof(zero)));
	tsv_cmd_barrier(cmd, TSV_ALL_STAGES);
}

/*
 * After the barrier, queries that ended before are available. The engine copies words and cannot
 * leave out a query that has not ended.
 */
VKAPI_ATTR void VKAPI_CALL tsv_CmdCopyQueryPoolResults(VkCommandBuffer handle, VkQueryPool qp,
						       uint32_t first, uint32_t count, VkBuffer buf,
						       VkDeviceSize offset, VkDeviceSize stride,
						       VkQueryResultFlags flags)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_query_pool, pool, qp);
	VK_FROM_HANDLE(tsv_buffer, buffer, buf);
	const unsigned bytes = flags & VK_QUERY_RESULT_64_BIT ? 8 : 4;
	struct tsr_stream *stream;
	uint64_t to, from;
	uint32_t i;

	tsv_cmd_barrier(cmd, TSV_ALL_STAGES);
	stream = tsv_cmd_stream(cmd, TSV_COPY);
	for (i = 0; stream && i < count; i++) {
		to = buffer->va + offset + i * stride;
		from = query_va(pool, first + i);
		tsv_cmd_check(cmd, tsr_cmd_copy(stream, to, from, bytes));
		if (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT)
			tsv_cmd_check(cmd, tsr_cmd_copy(stream, to + bytes,
							from + offsetof(struct query, available),
							bytes));
	}
}

/* The program does not use these queries meanwhile. */
VKAPI_ATTR void VKAPI_CALL tsv_ResetQueryPool(VkDevice handle, VkQueryPool qp, uint32_t first,
					      uint32_t count)
{
	VK_FROM_HANDLE(tsv_query_pool, pool, qp);

	memset((struct query *)pool->memory.cpu + first, 0, count * sizeof(struct query));
}

/* ---- Results for the CPU --------------------------------------------------------------------- */

static bool is_available(const struct query *q)
{
	return p_atomic_read(&q->available);
}

/* Wait until a query is available; VK_ERROR_DEVICE_LOST. */
static VkResult wait(struct tsv_device *device, const struct query *q)
{
	const int64_t end = os_time_get_nano() + WAIT_NS;
	VkResult result;

	while (!is_available(q)) {
		result = vk_device_check_status(&device->vk);
		if (result != VK_SUCCESS)
			return result;
		if (os_time_get_nano() > end)
			return vk_device_set_lost(&device->vk, "a query does not end");
		os_time_sleep(SLEEP_US);
	}
	return VK_SUCCESS;
}

static void put(void *to, unsigned index, uint64_t value, bool wide)
{
	if (wide)
		((uint64_t *)to)[index] = value;
	else
		((uint32_t *)to)[index] = (uint32_t)value;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_GetQueryPoolResults(VkDevice handle, VkQueryPool qp,
						       uint32_t first, uint32_t count, size_t size,
						       void *data, VkDeviceSize stride,
						       VkQueryResultFlags flags)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_query_pool, pool, qp);
	const bool wide = flags & VK_QUERY_RESULT_64_BIT;
	VkResult status, result = VK_SUCCESS;
	uint32_t i;

	if (vk_device_is_lost(&device->vk))
		return VK_ERROR_DEVICE_LOST;
	for (i = 0; i < count; i++) {
		const struct query *q = (const struct query *)pool->memory.cpu + first + i;
		void *to = (uint8_t *)data + i * stride;
		bool available;

		status = flags & VK_QUERY_RESULT_WAIT_BIT ? wait(device, q) : VK_SUCCESS;
		if (status != VK_SUCCESS)
			return status;
		available = is_available(q);
		if (available || flags & VK_QUERY_RESULT_PARTIAL_BIT)
			put(to, 0, p_atomic_read(&q->value), wide);
		if (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT)
			put(to, 1, available, wide);
		if (!available && !(flags & VK_QUERY_RESULT_PARTIAL_BIT))
			result = VK_NOT_READY;
	}
	return result;
}
