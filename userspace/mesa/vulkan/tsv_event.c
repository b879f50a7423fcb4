// SPDX-License-Identifier: MIT
/* Events: a word in memory that is 0 or 1, which the GPU and the CPU read and write. */
#include "tsv_cmd.h"

#include "util/u_atomic.h"
#include "vk_alloc.h"

struct tsv_event {
	struct vk_object_base base;
	struct tsr_alloc word;		/* of tsv_device.words */
};

VK_DEFINE_NONDISP_HANDLE_CASTS(tsv_event, base, VkEvent, VK_OBJECT_TYPE_EVENT)

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateEvent(VkDevice handle, const VkEventCreateInfo *info,
					       const VkAllocationCallbacks *alloc, VkEvent *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	struct tsv_event *event = vk_object_zalloc(&device->vk, alloc, sizeof(*event),
						   VK_OBJECT_TYPE_EVENT);
	int ret;

	if (!event)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	ret = tsr_pool_alloc(device->words, sizeof(uint32_t), 0, &event->word);
	if (ret) {
		vk_object_free(&device->vk, alloc, event);
		return tsv_error(device, ret);
	}
	*(uint32_t *)event->word.cpu = 0;
	*out = tsv_event_to_handle(event);
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_DestroyEvent(VkDevice handle, VkEvent evt,
					    const VkAllocationCallbacks *alloc)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_event, event, evt);

	if (!event)
		return;
	tsr_pool_free(device->words, &event->word);
	vk_object_free(&device->vk, alloc, event);
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_GetEventStatus(VkDevice handle, VkEvent evt)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_event, event, evt);

	if (vk_device_is_lost(&device->vk))
		return VK_ERROR_DEVICE_LOST;
	return p_atomic_read((uint32_t *)event->word.cpu) ? VK_EVENT_SET : VK_EVENT_RESET;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_SetEvent(VkDevice handle, VkEvent evt)
{
	VK_FROM_HANDLE(tsv_event, event, evt);

	p_atomic_set((uint32_t *)event->word.cpu, 1);
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_ResetEvent(VkDevice handle, VkEvent evt)
{
	VK_FROM_HANDLE(tsv_event, event, evt);

	p_atomic_set((uint32_t *)event->word.cpu, 0);
	return VK_SUCCESS;
}

/* The open segment, else one of the copy engine, which every queue has. */
static struct tsr_stream *open_stream(struct tsv_cmd *cmd)
{
	return tsv_cmd_stream(cmd, cmd->stream ? cmd->engine : TSV_COPY);
}

static void store(struct tsv_cmd *cmd, const struct tsv_event *event, uint32_t value)
{
	struct tsr_stream *stream;

	tsv_cmd_barrier(cmd, TSV_ALL_STAGES);
	stream = open_stream(cmd);
	if (stream)
		tsv_cmd_check(cmd, tsr_cmd_signal32(stream, event->word.va, TSR_SIGNAL_OP_SET,
						    TSR_EVENT_ALL_DONE, value));
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdSetEvent2(VkCommandBuffer handle, VkEvent evt,
					    const VkDependencyInfo *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_event, event, evt);

	store(cmd, event, 1);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdResetEvent2(VkCommandBuffer handle, VkEvent evt,
					      VkPipelineStageFlags2 stages)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_event, event, evt);

	store(cmd, event, 0);
}

/* Packets after the wait see all that was done before the event was set. */
VKAPI_ATTR void VKAPI_CALL tsv_CmdWaitEvents2(VkCommandBuffer handle, uint32_t count,
					      const VkEvent *events,
					      const VkDependencyInfo *infos)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	uint32_t i;

	/* the wait is the job's own, and must not be long: what was recorded before has ended */
	tsv_cmd_barrier(cmd, TSV_ALL_STAGES);
	for (i = 0; i < count; i++) {
		VK_FROM_HANDLE(tsv_event, event, events[i]);
		struct tsr_stream *stream = open_stream(cmd);

		if (stream)
			tsv_cmd_check(cmd, tsr_cmd_wait32(stream, event->word.va, TSR_COMPARE_EQ,
							  1));
	}
	tsv_cmd_barrier(cmd, TSV_ALL_STAGES);
}
