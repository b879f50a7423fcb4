/* SPDX-License-Identifier: MIT */
/* Memory and semaphores of one device in another. */
#include "vk.h"

#define EXPORT	VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

static const char *const extensions[] = { VK_KHR_EXTERNAL_MEMORY_EXTENSION_NAME,
					  VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
					  VK_KHR_EXTERNAL_SEMAPHORE_EXTENSION_NAME,
					  VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME, NULL };
static struct vk one, two;

/* A buffer of device two on the memory of a buffer of device one. */
static struct vk_buf import(const struct vk_buf *from)
{
	const VkMemoryGetFdInfoKHR get = { .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
					   .memory = from->memory,
					   .handleType = EXPORT };
	VkImportMemoryFdInfoKHR info = { .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
					 .handleType = EXPORT };
	const VkExternalMemoryBufferCreateInfo external = {
		.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
		.handleTypes = EXPORT,
	};
	const VkBufferCreateInfo create = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
					    .pNext = &external,
					    .size = from->size,
					    .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
						     VK_BUFFER_USAGE_TRANSFER_DST_BIT };
	VkMemoryAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
				       .pNext = &info };
	struct vk_buf to = { .size = from->size };
	VkMemoryRequirements needs;

	VK(VK_FUNCTION(&one, vkGetMemoryFdKHR)(one.device, &get, &info.fd));
	VK(vkCreateBuffer(two.device, &create, NULL, &to.buffer));
	vkGetBufferMemoryRequirements(two.device, to.buffer, &needs);
	alloc.allocationSize = needs.size;
	VK(vkAllocateMemory(two.device, &alloc, NULL, &to.memory));
	VK(vkBindBufferMemory(two.device, to.buffer, to.memory, 0));
	VK(vkMapMemory(two.device, to.memory, 0, VK_WHOLE_SIZE, 0, &to.map));
	return to;
}

/* A semaphore that both devices have. */
static void share_semaphore(VkSemaphore semaphores[2])
{
	const VkExportSemaphoreCreateInfo export = {
		.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
		.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
	};
	const VkSemaphoreCreateInfo create = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
					       .pNext = &export };
	VkSemaphoreGetFdInfoKHR get = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
		.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
	};
	VkImportSemaphoreFdInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
		.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
	};

	VK(vkCreateSemaphore(one.device, &create, NULL, &semaphores[0]));
	semaphores[1] = vk_semaphore(&two);
	get.semaphore = semaphores[0];
	VK(VK_FUNCTION(&one, vkGetSemaphoreFdKHR)(one.device, &get, &info.fd));
	info.semaphore = semaphores[1];
	VK(VK_FUNCTION(&two, vkImportSemaphoreFdKHR)(two.device, &info));
}

static void share(void)
{
	struct vk_buf a = vk_buf_create_in(&one, 1 << 20, 0, 0, EXPORT), b = import(&a);
	VkCommandBuffer first = vk_begin(&one, 0), second = vk_begin(&two, 0);
	const VkBufferCopy region = { 0, 1 << 19, 1 << 19 };
	uint32_t *words = b.map, i, bad = 0;
	VkSemaphore semaphores[2];

	share_semaphore(semaphores);
	memset(a.map, 0, 1 << 20);
	/* device two would be faster if it did not wait */
	for (i = 0; i < 300; i++) {
		vkCmdFillBuffer(first, a.buffer, 0, 1 << 19, i);
		vk_order(first);
	}
	vkCmdFillBuffer(first, a.buffer, 0, 1 << 19, 0x1234567);
	VK(vkEndCommandBuffer(first));
	vkCmdCopyBuffer(second, b.buffer, b.buffer, 1, &region);
	VK(vkEndCommandBuffer(second));
	vk_submit(one.queue[0][0], first, VK_NULL_HANDLE, semaphores[0], VK_NULL_HANDLE);
	vk_submit(two.queue[0][0], second, semaphores[1], VK_NULL_HANDLE, VK_NULL_HANDLE);
	VK(vkDeviceWaitIdle(two.device));
	VK(vkDeviceWaitIdle(one.device));
	for (i = 0; i < 1 << 18; i++)
		bad += words[i] != 0x1234567;
	ktap_eq(bad, 0);
	vkDestroySemaphore(one.device, semaphores[0], NULL);
	vkDestroySemaphore(two.device, semaphores[1], NULL);
	vkFreeCommandBuffers(one.device, one.pool[0], 1, &first);
	vkFreeCommandBuffers(two.device, two.pool[0], 1, &second);
	vk_buf_destroy(&one, &a);
	vk_buf_destroy(&two, &b);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open(&one, extensions);
	vk_open(&two, extensions);
	ktap_run("memory and a semaphore of another device", share);
	vk_close(&one);
	vk_close(&two);
	return ktap_finish();
}
