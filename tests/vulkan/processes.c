/* SPDX-License-Identifier: MIT */
/*
 * Memory and a timeline semaphore that two processes share. The second process submits a copy that
 * waits for a point before the first process has submitted the work that signals it.
 */
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vk.h"

#define EXPORT	VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define SIZE	(1u << 20)
#define HALF	(SIZE / 2)
#define VALUE	0x1234567u

static const char *const extensions[] = { VK_KHR_EXTERNAL_MEMORY_EXTENSION_NAME,
					  VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
					  VK_KHR_EXTERNAL_SEMAPHORE_EXTENSION_NAME,
					  VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
					  VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, NULL };
static struct vk vk;

/* ---- The wire -------------------------------------------------------------------------------- */

static void fail(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(EXIT_FAILURE);
}

/* Room for two descriptors beside a byte. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(2 * sizeof(int))];
};

static void send_fds(int socket, const int fds[2])
{
	union control control = { .header = { .cmsg_len = CMSG_LEN(2 * sizeof(int)),
					      .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS } };
	struct iovec byte = { .iov_base = "f", .iov_len = 1 };
	const struct msghdr message = { .msg_iov = &byte,
					.msg_iovlen = 1,
					.msg_control = &control,
					.msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), fds, 2 * sizeof(int));
	if (sendmsg(socket, &message, 0) != 1)
		fail("the descriptors cannot be sent");
}

static void receive_fds(int socket, int fds[2])
{
	union control control;
	char got;
	struct iovec byte = { .iov_base = &got, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
		fail("no descriptors were received");
	memcpy(fds, CMSG_DATA(&control.header), 2 * sizeof(int));
}

/* ---- The second process ---------------------------------------------------------------------- */

static VkBuffer import_buffer(int fd, VkDeviceMemory *memory)
{
	const VkExternalMemoryBufferCreateInfo external = {
		.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
		.handleTypes = EXPORT,
	};
	const VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
					  .pNext = &external,
					  .size = SIZE,
					  .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
						   VK_BUFFER_USAGE_TRANSFER_DST_BIT };
	const VkImportMemoryFdInfoKHR import = {
		.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
		.handleType = EXPORT,
		.fd = fd,
	};
	VkMemoryAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
				       .pNext = &import };
	VkMemoryRequirements needs;
	VkBuffer buffer;

	VK(vkCreateBuffer(vk.device, &info, NULL, &buffer));
	vkGetBufferMemoryRequirements(vk.device, buffer, &needs);
	alloc.allocationSize = needs.size;
	VK(vkAllocateMemory(vk.device, &alloc, NULL, memory));
	VK(vkBindBufferMemory(vk.device, buffer, *memory, 0));
	return buffer;
}

static VkSemaphore import_semaphore(int fd)
{
	VkSemaphore semaphore = vk_timeline(&vk, 0);
	const VkImportSemaphoreFdInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
		.semaphore = semaphore,
		.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
		.fd = fd,
	};

	VK(VK_FUNCTION(&vk, vkImportSemaphoreFdKHR)(vk.device, &info));
	return semaphore;
}

/* Submit a command buffer that waits for a point, unless it is 0, and signals another. */
static void submit(VkCommandBuffer cmd, VkSemaphore timeline, uint64_t wait, uint64_t signal)
{
	const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	const VkTimelineSemaphoreSubmitInfo points = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = !!wait,
		.pWaitSemaphoreValues = &wait,
		.signalSemaphoreValueCount = 1,
		.pSignalSemaphoreValues = &signal,
	};
	const VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
				    .pNext = &points,
				    .waitSemaphoreCount = !!wait,
				    .pWaitSemaphores = &timeline,
				    .pWaitDstStageMask = &stage,
				    .commandBufferCount = 1,
				    .pCommandBuffers = &cmd,
				    .signalSemaphoreCount = 1,
				    .pSignalSemaphores = &timeline };

	VK(vkQueueSubmit(vk.queue[0][0], 1, &info, VK_NULL_HANDLE));
}

static int second(int socket)
{
	const VkBufferCopy region = { 0, HALF, HALF };
	VkDeviceMemory memory;
	VkSemaphore timeline;
	VkCommandBuffer cmd;
	VkBuffer buffer;
	int fds[2];

	receive_fds(socket, fds);
	vk_open(&vk, extensions);
	buffer = import_buffer(fds[0], &memory);
	timeline = import_semaphore(fds[1]);
	cmd = vk_begin(&vk, 0);
	vkCmdCopyBuffer(cmd, buffer, buffer, 1, &region);
	VK(vkEndCommandBuffer(cmd));
	submit(cmd, timeline, 1, 2);
	if (write(socket, "s", 1) != 1)
		fail("the first process is gone");
	VK(vkDeviceWaitIdle(vk.device));
	vkFreeCommandBuffers(vk.device, vk.pool[0], 1, &cmd);
	vkDestroySemaphore(vk.device, timeline, NULL);
	vkDestroyBuffer(vk.device, buffer, NULL);
	vkFreeMemory(vk.device, memory, NULL);
	vk_close(&vk);
	return 0;
}

/* ---- The first process ----------------------------------------------------------------------- */

static VkSemaphore export_semaphore(int *fd)
{
	const VkExportSemaphoreCreateInfo export = {
		.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
		.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
	};
	const VkSemaphoreTypeCreateInfo type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.pNext = &export,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
	};
	const VkSemaphoreCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
					     .pNext = &type };
	VkSemaphoreGetFdInfoKHR get = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
		.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
	};

	VK(vkCreateSemaphore(vk.device, &info, NULL, &get.semaphore));
	VK(VK_FUNCTION(&vk, vkGetSemaphoreFdKHR)(vk.device, &get, fd));
	return get.semaphore;
}

static int other;		/* the socket */

/* Point 1 is submitted late, after 300 fills that leave the wrong value. */
static void share(void)
{
	struct vk_buf b = vk_buf_create_in(&vk, SIZE, 0, 0, EXPORT);
	const VkMemoryGetFdInfoKHR get = { .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
					   .memory = b.memory,
					   .handleType = EXPORT };
	const uint64_t last = 2;
	VkSemaphoreWaitInfo wait = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
				     .semaphoreCount = 1,
				     .pValues = &last };
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	const uint32_t *words = b.map;
	VkSemaphore timeline;
	uint32_t i, bad = 0;
	uint64_t value = 7;
	int fds[2];
	char byte;

	memset(b.map, 0, SIZE);
	VK(VK_FUNCTION(&vk, vkGetMemoryFdKHR)(vk.device, &get, &fds[0]));
	timeline = export_semaphore(&fds[1]);
	wait.pSemaphores = &timeline;
	send_fds(other, fds);
	if (read(other, &byte, 1) != 1)
		fail("the second process is gone");
	VK(VK_FUNCTION(&vk, vkGetSemaphoreCounterValueKHR)(vk.device, timeline, &value));
	ktap_eq(value, 0);
	ktap_eq(words[SIZE / 4 - 1], 0);
	for (i = 0; i < 300; i++) {
		vkCmdFillBuffer(cmd, b.buffer, 0, HALF, i);
		vk_order(cmd);
	}
	vkCmdFillBuffer(cmd, b.buffer, 0, HALF, VALUE);
	VK(vkEndCommandBuffer(cmd));
	submit(cmd, timeline, 0, 1);
	ktap_eq(VK_FUNCTION(&vk, vkWaitSemaphoresKHR)(vk.device, &wait, VK_SOON), VK_SUCCESS);
	for (i = 0; i < SIZE / 4; i++)
		bad += words[i] != VALUE;
	ktap_eq(bad, 0);
	VK(vkDeviceWaitIdle(vk.device));
	close(fds[0]);
	close(fds[1]);
	vkFreeCommandBuffers(vk.device, vk.pool[0], 1, &cmd);
	vkDestroySemaphore(vk.device, timeline, NULL);
	vk_buf_destroy(&vk, &b);
}

/* The processes part before either has a device. */
int main(int argc, char **argv)
{
	int sockets[2], status = -1;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
		fail("no sockets");
	pid = fork();
	if (!pid) {
		close(sockets[0]);
		exit(second(sockets[1]));
	}
	close(sockets[1]);
	other = sockets[0];
	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	ktap_run("memory and a timeline of another process", share);
	vk_close(&vk);
	if (waitpid(pid, &status, 0) != pid || status)
		fail("the second process has failed");
	return ktap_finish();
}
