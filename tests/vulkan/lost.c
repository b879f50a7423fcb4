/* SPDX-License-Identifier: MIT */
/*
 * A device that is lost beside one that is not. The validation layers take the objects of a lost
 * device for used for ever, so they are left out.
 */
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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

/*
 * Work that waits for a point that a lost device never reaches, on a queue that does not hang.
 * Waits without a limit end.
 */
static void lost_waits(void)
{
	static const char *const extensions[] = { VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, NULL };
	const VkEventCreateInfo event_info = { .sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO };
	const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	const uint64_t never = 1;
	const VkTimelineSemaphoreSubmitInfo points = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &never,
	};
	VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
				.pNext = &points,
				.waitSemaphoreCount = 1,
				.pWaitDstStageMask = &stage };
	VkSemaphoreWaitInfo wait = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
				     .semaphoreCount = 1,
				     .pValues = &never };
	VkSemaphore timeline;
	VkCommandBuffer hang;
	VkEvent event;

	vk_open(&one, extensions);
	timeline = vk_timeline(&one, 0);
	VK(vkCreateEvent(one.device, &event_info, NULL, &event));
	submit.pWaitSemaphores = wait.pSemaphores = &timeline;
	VK(vkQueueSubmit(one.queue[1][0], 1, &submit, VK_NULL_HANDLE));
	hang = vk_begin(&one, 0);
	vkCmdWaitEvents(hang, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
			VK_PIPELINE_STAGE_TRANSFER_BIT, 0, NULL, 0, NULL, 0, NULL);
	VK(vkEndCommandBuffer(hang));
	vk_submit(one.queue[0][0], hang, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE);
	ktap_eq(vkDeviceWaitIdle(one.device), VK_ERROR_DEVICE_LOST);
	ktap_eq(VK_FUNCTION(&one, vkWaitSemaphoresKHR)(one.device, &wait, VK_NEVER),
		VK_ERROR_DEVICE_LOST);
	vkDestroyEvent(one.device, event, NULL);
	vkDestroySemaphore(one.device, timeline, NULL);
	vk_close(&one);
}

/* Fill and compare until the socket says that the other process has lost its device. */
static int neighbor(int socket)
{
	struct vk_buf b;
	uint32_t i = 0, bad = 0;
	char byte;

	vk_open(&two, NULL);
	b = vk_buf_create(&two, 4096, 0);
	if (write(socket, "r", 1) != 1)
		return 1;
	do {
		VkCommandBuffer fill = vk_begin(&two, 0);

		vkCmdFillBuffer(fill, b.buffer, 0, 4096, ++i);
		vk_end(&two, 0, fill);
		bad += ((const uint32_t *)b.map)[i % 1024] != i;
	} while (recv(socket, &byte, 1, MSG_DONTWAIT) < 0);
	vk_buf_destroy(&two, &b);
	vk_close(&two);
	return bad || i < 2;
}

static int other;		/* the socket of the neighbor */
static pid_t neighbor_pid;

/* Another process works while this one's device hangs and is lost. */
static void lost_beside(void)
{
	int status = -1;
	char byte;

	if (read(other, &byte, 1) != 1)
		ktap_fail("the other process has no device");
	vk_open(&one, NULL);
	vk_open(&two, NULL);
	lost();
	vk_close(&one);
	vk_close(&two);
	if (write(other, "e", 1) != 1)
		ktap_fail("the other process is gone");
	ktap_eq(waitpid(neighbor_pid, &status, 0), neighbor_pid);
	ktap_eq(status, 0);
}

static void start_neighbor(void)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
		vk_check(VK_ERROR_INITIALIZATION_FAILED, "no sockets");
	neighbor_pid = fork();
	if (!neighbor_pid) {
		close(sockets[0]);
		exit(neighbor(sockets[1]));
	}
	close(sockets[1]);
	other = sockets[0];
}

/* layers: none */
/* says: a copy job failed: */
/* tsr-host: --timeout 500 */
int main(int argc, char **argv)
{
	/* the processes part before either has a device */
	start_neighbor();
	ktap_start_args(argc, argv);
	vk_open(&one, NULL);
	vk_open(&two, NULL);
	ktap_run("a hang loses its device and no other", lost);
	vk_close(&one);
	vk_close(&two);
	ktap_run("a hang beside another process", lost_beside);
	ktap_run("waits end when their device is lost", lost_waits);
	return ktap_finish();
}
