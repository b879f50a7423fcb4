/* SPDX-License-Identifier: MIT */
/* Properties and limits of the device, and refusals of everything else. */
#include "vk.h"

static struct vk vk;

static void identity(void)
{
	ktap_eq(VK_API_VERSION_MAJOR(vk.properties.apiVersion), 1);
	ktap_eq(VK_API_VERSION_MINOR(vk.properties.apiVersion), 0);
	ktap_eq(vk.properties.vendorID, 0x1234);
	ktap_eq(vk.properties.deviceID, 0x7e55);
	ktap_ok(strstr(vk.properties.deviceName, "Tessera"));
	ktap_ok(strstr(vk.properties.deviceName, "not conformant"));
}

static void queues(void)
{
	uint32_t i, j;

	ktap_ok(vk.families > 0);
	for (i = 0; i < vk.families; i++) {
		ktap_ok(vk.flags[i] & VK_QUEUE_TRANSFER_BIT);
		ktap_eq(vk.flags[i] & VK_QUEUE_GRAPHICS_BIT, 0);
		for (j = 0; j < vk.queues[i]; j++)
			ktap_ok(vk.queue[i][j]);
	}
}

static void memory(void)
{
	const VkMemoryPropertyFlags all = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
					  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
					  VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
					  VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

	ktap_eq(vk.memory.memoryTypes[0].propertyFlags, all);
	ktap_ok(vk.memory.memoryHeaps[0].size >= 64u << 20);
	/* the program's comment asks for local memory */
	ktap_eq(vk.memory.memoryTypeCount, 2);
	ktap_ok(vk.memory.memoryHeaps[1].size >= 8u << 20);
	ktap_ok(vk.memory.memoryHeaps[1].size <= 64u << 20);
}

static void too_much(void)
{
	VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
				      .allocationSize = vk.memory.memoryHeaps[1].size,
				      .memoryTypeIndex = 1 };
	VkDeviceMemory first = VK_NULL_HANDLE, second = VK_NULL_HANDLE;

	info.allocationSize = info.allocationSize / 4 * 3;
	ktap_eq(vkAllocateMemory(vk.device, &info, NULL, &first), VK_SUCCESS);
	ktap_eq(vkAllocateMemory(vk.device, &info, NULL, &second), VK_ERROR_OUT_OF_DEVICE_MEMORY);
	vkFreeMemory(vk.device, first, NULL);
	ktap_eq(vkAllocateMemory(vk.device, &info, NULL, &second), VK_SUCCESS);
	vkFreeMemory(vk.device, second, NULL);
}

static void no_images(void)
{
	VkImageFormatProperties limits;
	VkFormatProperties p;

	vkGetPhysicalDeviceFormatProperties(vk.physical, VK_FORMAT_R8G8B8A8_UNORM, &p);
	ktap_eq(p.linearTilingFeatures, 0);
	ktap_eq(p.optimalTilingFeatures, 0);
	ktap_eq(p.bufferFeatures, 0);
	ktap_eq(vkGetPhysicalDeviceImageFormatProperties(
			vk.physical, VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D,
			VK_IMAGE_TILING_OPTIMAL, VK_IMAGE_USAGE_TRANSFER_DST_BIT, 0, &limits),
		VK_ERROR_FORMAT_NOT_SUPPORTED);
}

static void features(void)
{
	VkPhysicalDeviceFeatures got;

	vkGetPhysicalDeviceFeatures(vk.physical, &got);
	ktap_eq(got.geometryShader, VK_FALSE);
	ktap_eq(got.sparseBinding, VK_FALSE);
	ktap_eq(got.samplerAnisotropy, VK_FALSE);
	ktap_ok(!vk_is_offered(&vk, "VK_KHR_swapchain"));
	ktap_ok(vk_is_offered(&vk, "VK_KHR_timeline_semaphore"));
	ktap_ok(vk_is_offered(&vk, "VK_KHR_synchronization2"));
}

/* A device with a feature that is not there cannot be created. */
static void feature_not_present(void)
{
	const float priority = 1;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
				    .queueCreateInfoCount = 1,
				    .pQueueCreateInfos = &queue };
	const char *swapchain = "VK_KHR_swapchain";
	VkDevice device;

	info.enabledExtensionCount = 1;
	info.ppEnabledExtensionNames = &swapchain;
	ktap_eq(vkCreateDevice(vk.physical, &info, NULL, &device), VK_ERROR_EXTENSION_NOT_PRESENT);
}

static void many_devices(void)
{
	struct vk other[3];
	unsigned i;

	for (i = 0; i < 3; i++)
		vk_open(&other[i], NULL);
	for (i = 0; i < 3; i++)
		vk_close(&other[i]);
}

/* tsr-host: --vram 64M */
int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open(&vk, NULL);
	ktap_run("the device has a name, and version 1.0", identity);
	ktap_run("queue families", queues);
	ktap_run("memory types", memory);
	ktap_run("local memory that is full is an error, and comes back", too_much);
	ktap_run("images are not offered", no_images);
	ktap_run("features and extensions", features);
	ktap_run("an extension that is not there is refused", feature_not_present);
	ktap_run("several devices", many_devices);
	vk_close(&vk);
	return ktap_finish();
}
