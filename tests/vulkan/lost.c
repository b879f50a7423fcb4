/* SPDX-License-Identifier: MIT */
/*
 * A device that is lost beside one that is not. The validation layers take the objects of a lost
 * device for used for ever, so they are left out.
 */
#include "vk.h"

static struct vk one, two;

/* Device one waits for an event that is never set, until the kernel stops it. */
static void lost(void)
{
	const VkEventCreateInfo event_info = { .sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO };
	struct vk_buf b = vk_buf_create(&two, 4096, 0);
	VkCommandBuffer hang = vk_begin(&one, 0), fill = vk_begin(&two, 0);
	VkFence fence = vk_fence(&one);
	const VkSubmitInfo again = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO };
	const uint32_t *words = b.map;
	VkEvent event;

	VK(vkCreateEvent(one.device, &event_info, NULL, &event));
	vkCmdWaitEvents(hang, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
			VK_PIPELINE_STAGE_TRANSFER_BIT, 0, NULL, 0, NULL, 0, NULL);
	VK(vkEndCommandBuffer(hang));
	vk_submit(one.queue[0][0], hang, VK_NULL_HANDLE, VK_NULL_HANDLE, fence);
	vkCmdFillBuffer(fill, b.buffer, 0, 4096, 99);
	vk_end(&two, 0, fill);
	ktap_eq(words[1023], 99);
	ktap_eq(vkWaitForFences(one.device, 1, &fence, VK_TRUE, VK_SOON), VK_ERROR_DEVICE_LOST);
	ktap_eq(vkQueueSubmit(one.queue[0][0], 1, &again, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
	ktap_eq(vkDeviceWaitIdle(one.device), VK_ERROR_DEVICE_LOST);
	fill = vk_begin(&two, 0);
	vkCmdFillBuffer(fill, b.buffer, 0, 4096, 100);
	vk_end(&two, 0, fill);
	ktap_eq(words[1023], 100);
	vkDestroyFence(one.device, fence, NULL);
	vkDestroyEvent(one.device, event, NULL);
	vk_buf_destroy(&two, &b);
}

/* layers: none */
/* says: a copy job failed: */
/* tsr-host: --timeout 500 */
int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open(&one, NULL);
	vk_open(&two, NULL);
	ktap_run("a hang loses its device and no other", lost);
	vk_close(&one);
	vk_close(&two);
	return ktap_finish();
}
