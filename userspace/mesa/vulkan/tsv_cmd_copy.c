// SPDX-License-Identifier: MIT
/* Transfer commands on buffers: packets of the copy engine. */
#include "tsv_cmd.h"
#include "tsv_memory.h"

VKAPI_ATTR void VKAPI_CALL tsv_CmdCopyBuffer2(VkCommandBuffer handle,
					      const VkCopyBufferInfo2 *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_buffer, src, info->srcBuffer);
	VK_FROM_HANDLE(tsv_buffer, dst, info->dstBuffer);
	struct tsr_stream *stream = tsv_cmd_stream(cmd, TSV_COPY);
	uint32_t i;

	for (i = 0; stream && i < info->regionCount; i++) {
		const VkBufferCopy2 *r = &info->pRegions[i];

		tsv_cmd_check(cmd, tsr_cmd_copy(stream, dst->va + r->dstOffset,
						src->va + r->srcOffset, r->size));
	}
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdFillBuffer(VkCommandBuffer handle, VkBuffer buffer,
					     VkDeviceSize offset, VkDeviceSize size, uint32_t data)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_buffer, dst, buffer);
	struct tsr_stream *stream = tsv_cmd_stream(cmd, TSV_COPY);
	const uint64_t bytes = ROUND_DOWN_TO(vk_buffer_range(&dst->vk, offset, size), 4);

	if (stream && bytes)
		tsv_cmd_check(cmd, tsr_cmd_fill(stream, dst->va + offset, bytes, &data, 4));
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdUpdateBuffer(VkCommandBuffer handle, VkBuffer buffer,
					       VkDeviceSize offset, VkDeviceSize size,
					       const void *data)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_buffer, dst, buffer);
	struct tsr_stream *stream = tsv_cmd_stream(cmd, TSV_COPY);
	uint64_t va;
	void *copy = stream ? tsv_cmd_alloc(cmd, size, 64, &va) : NULL;

	if (!copy)
		return;
	memcpy(copy, data, size);
	tsv_cmd_check(cmd, tsr_cmd_copy(stream, dst->va + offset, va, size));
}
