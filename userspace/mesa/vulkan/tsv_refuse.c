// SPDX-License-Identifier: MIT
/*
 * Entry points that the driver does not implement. No format and no queue advertises them, so a
 * valid program does not call them. A program that does gets an error instead of a crash: creation
 * fails, and a command makes vkEndCommandBuffer() fail.
 */
#include "tsv_cmd.h"

/* vkCreateX() and vkDestroyX(), which takes VK_NULL_HANDLE. */
#define REFUSE_OBJECT(name)								\
VKAPI_ATTR VkResult VKAPI_CALL tsv_Create##name(VkDevice handle,			\
						const Vk##name##CreateInfo *info,	\
						const VkAllocationCallbacks *alloc,	\
						Vk##name *out)				\
{											\
	VK_FROM_HANDLE(tsv_device, device, handle);					\
											\
	*out = VK_NULL_HANDLE;								\
	return vk_error(device, VK_ERROR_FEATURE_NOT_PRESENT);				\
}											\
											\
VKAPI_ATTR void VKAPI_CALL tsv_Destroy##name(VkDevice handle, Vk##name object,		\
					     const VkAllocationCallbacks *alloc)	\
{											\
}

/* A command; the arguments after the command buffer follow its name. */
#define REFUSE_COMMAND(name, ...)							\
VKAPI_ATTR void VKAPI_CALL tsv_Cmd##name(VkCommandBuffer handle, __VA_ARGS__)		\
{											\
	VK_FROM_HANDLE(vk_command_buffer, cmd, handle);					\
											\
	vk_command_buffer_set_error(cmd, VK_ERROR_FEATURE_NOT_PRESENT);			\
}

REFUSE_OBJECT(Image)
REFUSE_OBJECT(ImageView)
REFUSE_OBJECT(BufferView)
REFUSE_OBJECT(Sampler)
REFUSE_OBJECT(QueryPool)

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateGraphicsPipelines(
	VkDevice handle, VkPipelineCache cache, uint32_t count,
	const VkGraphicsPipelineCreateInfo *infos, const VkAllocationCallbacks *alloc,
	VkPipeline *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	uint32_t i;

	for (i = 0; i < count; i++)
		out[i] = VK_NULL_HANDLE;
	return vk_error(device, VK_ERROR_FEATURE_NOT_PRESENT);
}

REFUSE_COMMAND(BindIndexBuffer2KHR, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
	       VkIndexType type)
REFUSE_COMMAND(BindVertexBuffers2, uint32_t first, uint32_t count, const VkBuffer *buffers,
	       const VkDeviceSize *offsets, const VkDeviceSize *sizes, const VkDeviceSize *strides)
REFUSE_COMMAND(Draw, uint32_t vertices, uint32_t instances, uint32_t first, uint32_t instance)
REFUSE_COMMAND(DrawIndexed, uint32_t indices, uint32_t instances, uint32_t first, int32_t offset,
	       uint32_t instance)
REFUSE_COMMAND(DrawIndirect, VkBuffer buffer, VkDeviceSize offset, uint32_t draws, uint32_t stride)
REFUSE_COMMAND(DrawIndexedIndirect, VkBuffer buffer, VkDeviceSize offset, uint32_t draws,
	       uint32_t stride)
REFUSE_COMMAND(BeginRendering, const VkRenderingInfo *info)
REFUSE_COMMAND(ClearAttachments, uint32_t count, const VkClearAttachment *attachments,
	       uint32_t rect_count, const VkClearRect *rects)
REFUSE_COMMAND(ClearColorImage, VkImage image, VkImageLayout layout, const VkClearColorValue *color,
	       uint32_t count, const VkImageSubresourceRange *ranges)
REFUSE_COMMAND(ClearDepthStencilImage, VkImage image, VkImageLayout layout,
	       const VkClearDepthStencilValue *value, uint32_t count,
	       const VkImageSubresourceRange *ranges)
REFUSE_COMMAND(CopyImage2, const VkCopyImageInfo2 *info)
REFUSE_COMMAND(BlitImage2, const VkBlitImageInfo2 *info)
REFUSE_COMMAND(ResolveImage2, const VkResolveImageInfo2 *info)
REFUSE_COMMAND(CopyBufferToImage2, const VkCopyBufferToImageInfo2 *info)
REFUSE_COMMAND(CopyImageToBuffer2, const VkCopyImageToBufferInfo2 *info)
REFUSE_COMMAND(ResetQueryPool, VkQueryPool pool, uint32_t first, uint32_t count)
REFUSE_COMMAND(BeginQueryIndexedEXT, VkQueryPool pool, uint32_t query, VkQueryControlFlags flags,
	       uint32_t index)
REFUSE_COMMAND(EndQueryIndexedEXT, VkQueryPool pool, uint32_t query, uint32_t index)
REFUSE_COMMAND(WriteTimestamp2, VkPipelineStageFlags2 stage, VkQueryPool pool, uint32_t query)
REFUSE_COMMAND(CopyQueryPoolResults, VkQueryPool pool, uint32_t first, uint32_t count,
	       VkBuffer buffer, VkDeviceSize offset, VkDeviceSize stride, VkQueryResultFlags flags)

VKAPI_ATTR void VKAPI_CALL tsv_CmdEndRendering(VkCommandBuffer handle)
{
	VK_FROM_HANDLE(vk_command_buffer, cmd, handle);

	vk_command_buffer_set_error(cmd, VK_ERROR_FEATURE_NOT_PRESENT);
}
