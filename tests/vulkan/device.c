/* SPDX-License-Identifier: MIT */
/* Properties and limits of the device, and refusals of everything else. */
#include "vk.h"

static struct vk vk;

static void identity(void)
{
	ktap_eq(VK_API_VERSION_MAJOR(vk.properties.apiVersion), 1);
	ktap_eq(VK_API_VERSION_MINOR(vk.properties.apiVersion), 1);
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
		ktap_eq(vk.flags[i] & VK_QUEUE_GRAPHICS_BIT, i ? 0 : VK_QUEUE_GRAPHICS_BIT);
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

/* The kernel moves what does not fit to system memory. The content stays. */
static void too_much(void)
{
	VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
				      .allocationSize = vk.memory.memoryHeaps[1].size,
				      .memoryTypeIndex = 1 };
	VkDeviceMemory memory[3] = { 0 };
	uint8_t *map[3] = { 0 };
	unsigned i;

	info.allocationSize = info.allocationSize / 4 * 3;
	for (i = 0; i < 3; i++) {
		ktap_eq(vkAllocateMemory(vk.device, &info, NULL, &memory[i]), VK_SUCCESS);
		ktap_eq(vkMapMemory(vk.device, memory[i], 0, VK_WHOLE_SIZE, 0, (void **)&map[i]),
			VK_SUCCESS);
		KTAP_REQUIRE(map[i]);
		memset(map[i], (int)(i + 1), info.allocationSize);
	}
	for (i = 0; i < 3; i++) {
		ktap_eq(map[i][0], i + 1);
		ktap_eq(map[i][info.allocationSize - 1], i + 1);
		vkFreeMemory(vk.device, memory[i], NULL);
	}
}

/* Features that Vulkan 1.0 demands of some formats, of which the driver has those of images. */
static void formats(void)
{
	const VkFormatFeatureFlags color = VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT,
				   blend = color | VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT,
				   depth = VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT,
				   sampled = VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT |
					     VK_FORMAT_FEATURE_BLIT_SRC_BIT,
				   linear = sampled |
					    VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT,
				   storage = VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT,
				   atomic = storage | VK_FORMAT_FEATURE_STORAGE_IMAGE_ATOMIC_BIT;
	const struct {
		VkFormat format;
		VkFormatFeatureFlags features;
	} wanted[] = {
		{ VK_FORMAT_B4G4R4A4_UNORM_PACK16, linear },
		{ VK_FORMAT_R5G6B5_UNORM_PACK16, linear },
		{ VK_FORMAT_A1R5G5B5_UNORM_PACK16, linear }, { VK_FORMAT_R8_SNORM, linear },
		{ VK_FORMAT_R8G8B8A8_UNORM, linear | storage | blend },
		{ VK_FORMAT_R8G8B8A8_SRGB, linear | blend },
		{ VK_FORMAT_A8B8G8R8_UNORM_PACK32, linear },
		{ VK_FORMAT_R32_UINT, sampled | atomic | color },
		{ VK_FORMAT_A2B10G10R10_UINT_PACK32, sampled }, { VK_FORMAT_R16_SFLOAT, linear },
		{ VK_FORMAT_R16G16B16A16_SFLOAT, linear | storage | blend },
		{ VK_FORMAT_R32G32B32A32_SINT, sampled | storage | color },
		{ VK_FORMAT_B10G11R11_UFLOAT_PACK32, linear },
		{ VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, linear }, { VK_FORMAT_D16_UNORM, depth },
		{ VK_FORMAT_D32_SFLOAT, depth },
	};
	VkFormatProperties p;
	unsigned i;

	for (i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		vkGetPhysicalDeviceFormatProperties(vk.physical, wanted[i].format, &p);
		if (wanted[i].features & ~p.optimalTilingFeatures)
			ktap_fail("format %u lacks features %x", wanted[i].format,
				  wanted[i].features & ~p.optimalTilingFeatures);
	}
	vkGetPhysicalDeviceFormatProperties(vk.physical, VK_FORMAT_D24_UNORM_S8_UINT, &p);
	ktap_eq(p.optimalTilingFeatures, 0);
	vkGetPhysicalDeviceFormatProperties(vk.physical, VK_FORMAT_R64_SFLOAT, &p);
	ktap_eq(p.optimalTilingFeatures | p.linearTilingFeatures | p.bufferFeatures, 0);
}

static void features(void)
{
	VkPhysicalDeviceFeatures got;

	vkGetPhysicalDeviceFeatures(vk.physical, &got);
	ktap_eq(got.geometryShader, VK_FALSE);
	ktap_eq(got.sparseBinding, VK_TRUE);
	ktap_eq(got.sparseResidencyBuffer, VK_TRUE);
	ktap_eq(got.sparseResidencyImage2D, VK_FALSE);
	ktap_eq(got.tessellationShader, VK_FALSE);
	ktap_eq(got.shaderFloat64, VK_FALSE);
	ktap_ok(!vk_is_offered(&vk, "VK_KHR_ray_query"));
	ktap_ok(vk_is_offered(&vk, "VK_KHR_timeline_semaphore"));
	ktap_ok(vk_is_offered(&vk, "VK_KHR_synchronization2"));
}

/* vkCreateDevice() with a queue, and an extension unless it is NULL. */
static VkResult create(const char *extension, VkDevice *device)
{
	const float priority = 1;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	const VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
					  .queueCreateInfoCount = 1,
					  .pQueueCreateInfos = &queue,
					  .enabledExtensionCount = extension != NULL,
					  .ppEnabledExtensionNames = &extension };

	return vkCreateDevice(vk.physical, &info, NULL, device);
}

/* A device with a feature that is not there cannot be created. */
static void feature_not_present(void)
{
	VkDevice device;

	ktap_eq(create("VK_KHR_ray_query", &device), VK_ERROR_EXTENSION_NOT_PRESENT);
}

/* More devices than a user has tiler heaps for, two of them each. None draws. */
static void devices_without_frames(void)
{
	VkDevice device[36];
	unsigned n = 0;

	while (n < 36 && create(NULL, &device[n]) == VK_SUCCESS)
		n++;
	ktap_eq(n, 36);
	while (n--)
		vkDestroyDevice(device[n], NULL);
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
	ktap_run("the device has a name, and version 1.1", identity);
	ktap_run("queue families", queues);
	ktap_run("memory types", memory);
	ktap_run("more local memory than there is", too_much);
	ktap_run("formats that must be there, and others", formats);
	ktap_run("features and extensions", features);
	ktap_run("an extension that is not there is refused", feature_not_present);
	ktap_run("several devices", many_devices);
	ktap_run("many devices that do not draw", devices_without_frames);
	vk_close(&vk);
	return ktap_finish();
}
