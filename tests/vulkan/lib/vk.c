/* SPDX-License-Identifier: MIT */
#include "vk.h"

#define TRANSFER	(VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT)

void vk_check(VkResult result, const char *what)
{
	if (result >= 0)
		return;
	printf("Bail out! %s: VkResult %d\n", what, result);
	exit(EXIT_FAILURE);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL complain(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
					       VkDebugUtilsMessageTypeFlagsEXT types,
					       const VkDebugUtilsMessengerCallbackDataEXT *data,
					       void *user)
{
	(void)severity, (void)user;
	/* the driver itself says through the same channel what it refuses */
	if (types & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT)
		ktap_fail("validation: %.350s", data->pMessage);
	return VK_FALSE;
}

static void open_instance(struct vk *vk, uint32_t version)
{
	const char *extensions[] = { VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
				     VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME,
				     VK_KHR_EXTERNAL_MEMORY_CAPABILITIES_EXTENSION_NAME,
				     VK_KHR_DEVICE_GROUP_CREATION_EXTENSION_NAME,
				     VK_KHR_EXTERNAL_SEMAPHORE_CAPABILITIES_EXTENSION_NAME,
				     VK_KHR_EXTERNAL_FENCE_CAPABILITIES_EXTENSION_NAME,
				     VK_KHR_SURFACE_EXTENSION_NAME,
				     VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME };
	const VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
					.pApplicationName = "tests/vulkan",
					.apiVersion = version };
	const VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = &app,
		.enabledExtensionCount = sizeof(extensions) / sizeof(*extensions),
		.ppEnabledExtensionNames = extensions,
	};
	const VkDebugUtilsMessengerCreateInfoEXT messenger = {
		.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
		.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
				   VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
		.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
		.pfnUserCallback = complain,
	};
	PFN_vkCreateDebugUtilsMessengerEXT create;
	uint32_t count = 1;

	VK(vkCreateInstance(&info, NULL, &vk->instance));
	create = (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
		vk->instance, "vkCreateDebugUtilsMessengerEXT");
	VK(create(vk->instance, &messenger, NULL, &vk->messenger));
	VK(vkEnumeratePhysicalDevices(vk->instance, &count, &vk->physical));
	if (!count)
		vk_check(VK_ERROR_INITIALIZATION_FAILED, "there is no device");
	vkGetPhysicalDeviceProperties(vk->physical, &vk->properties);
	vkGetPhysicalDeviceMemoryProperties(vk->physical, &vk->memory);
}

static void find_families(struct vk *vk)
{
	VkQueueFamilyProperties families[VK_FAMILIES];
	uint32_t i;

	vk->families = VK_FAMILIES;
	vkGetPhysicalDeviceQueueFamilyProperties(vk->physical, &vk->families, families);
	for (i = 0; i < vk->families; i++) {
		vk->queues[i] = families[i].queueCount < VK_QUEUES ? families[i].queueCount
								   : VK_QUEUES;
		vk->flags[i] = families[i].queueFlags;
	}
}

static void find_queues(struct vk *vk)
{
	uint32_t i, j;

	for (i = 0; i < vk->families; i++) {
		const VkCommandPoolCreateInfo pool = {
			.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
			.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
			.queueFamilyIndex = i,
		};

		for (j = 0; j < vk->queues[i]; j++)
			vkGetDeviceQueue(vk->device, i, j, &vk->queue[i][j]);
		VK(vkCreateCommandPool(vk->device, &pool, NULL, &vk->pool[i]));
	}
}

bool vk_is_offered(struct vk *vk, const char *extension)
{
	static VkExtensionProperties all[256];
	uint32_t count = 256, i;

	VK(vkEnumerateDeviceExtensionProperties(vk->physical, NULL, &count, all));
	for (i = 0; i < count; i++) {
		if (!strcmp(all[i].extensionName, extension))
			return true;
	}
	return false;
}

/* The features of extensions that tests use, if the extension is asked for. */
struct features {
	VkPhysicalDeviceFeatures2 base;
	VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
	VkPhysicalDeviceSynchronization2Features sync2;
	VkPhysicalDeviceBufferDeviceAddressFeatures address;
	VkPhysicalDeviceDynamicRenderingFeatures rendering;
	VkPhysicalDeviceMultiviewFeatures views;
	VkPhysicalDeviceFaultFeaturesEXT fault;
	VkPhysicalDevice16BitStorageFeatures storage16;
	VkPhysicalDeviceHostQueryResetFeatures reset;
	VkPhysicalDeviceExtendedDynamicStateFeaturesEXT dynamic;
	VkPhysicalDeviceExtendedDynamicState2FeaturesEXT dynamic2;
	VkPhysicalDeviceImagelessFramebufferFeatures imageless;
	VkPhysicalDevice8BitStorageFeatures storage8;
};

static void enable(struct features *f, const char *extension)
{
	VkBaseOutStructure *add = NULL;

	if (!strcmp(extension, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME)) {
		f->timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
		f->timeline.timelineSemaphore = VK_TRUE;
		add = (void *)&f->timeline;
	} else if (!strcmp(extension, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME)) {
		f->sync2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES;
		f->sync2.synchronization2 = VK_TRUE;
		add = (void *)&f->sync2;
	} else if (!strcmp(extension, VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME)) {
		f->address.sType =
			VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
		f->address.bufferDeviceAddress = VK_TRUE;
		add = (void *)&f->address;
	} else if (!strcmp(extension, VK_KHR_DYNAMIC_RENDERING_EXTENSION_NAME)) {
		f->rendering.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES;
		f->rendering.dynamicRendering = VK_TRUE;
		add = (void *)&f->rendering;
	} else if (!strcmp(extension, VK_KHR_MULTIVIEW_EXTENSION_NAME)) {
		f->views.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_FEATURES;
		f->views.multiview = VK_TRUE;
		add = (void *)&f->views;
	} else if (!strcmp(extension, VK_EXT_DEVICE_FAULT_EXTENSION_NAME)) {
		f->fault.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT;
		f->fault.deviceFault = VK_TRUE;
		add = (void *)&f->fault;
	} else if (!strcmp(extension, VK_EXT_EXTENDED_DYNAMIC_STATE_EXTENSION_NAME)) {
		f->dynamic.sType =
			VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_FEATURES_EXT;
		f->dynamic.extendedDynamicState = VK_TRUE;
		add = (void *)&f->dynamic;
	} else if (!strcmp(extension, VK_EXT_EXTENDED_DYNAMIC_STATE_2_EXTENSION_NAME)) {
		f->dynamic2.sType =
			VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_2_FEATURES_EXT;
		f->dynamic2.extendedDynamicState2 = VK_TRUE;
		add = (void *)&f->dynamic2;
	} else if (!strcmp(extension, VK_KHR_IMAGELESS_FRAMEBUFFER_EXTENSION_NAME)) {
		f->imageless.sType =
			VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGELESS_FRAMEBUFFER_FEATURES;
		f->imageless.imagelessFramebuffer = VK_TRUE;
		add = (void *)&f->imageless;
	} else if (!strcmp(extension, VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME)) {
		f->reset.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES;
		f->reset.hostQueryReset = VK_TRUE;
		add = (void *)&f->reset;
	} else if (!strcmp(extension, VK_KHR_16BIT_STORAGE_EXTENSION_NAME)) {
		f->storage16.sType =
			VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
		f->storage16.storageBuffer16BitAccess = VK_TRUE;
		f->storage16.uniformAndStorageBuffer16BitAccess = VK_TRUE;
		add = (void *)&f->storage16;
	} else if (!strcmp(extension, VK_KHR_8BIT_STORAGE_EXTENSION_NAME)) {
		f->storage8.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES;
		f->storage8.storageBuffer8BitAccess = VK_TRUE;
		f->storage8.uniformAndStorageBuffer8BitAccess = VK_TRUE;
		add = (void *)&f->storage8;
	}
	if (!add)
		return;
	add->pNext = f->base.pNext;
	f->base.pNext = add;
}

static void open_device(struct vk *vk, const char *const *extensions)
{
	static const float priorities[VK_QUEUES] = { 1, 1 };
	VkDeviceQueueCreateInfo queues[VK_FAMILIES];
	struct features features = {
		.base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
	};
	/* fills on queues for transfers alone; flags of allocations */
	const char *enabled[16] = { VK_KHR_MAINTENANCE1_EXTENSION_NAME,
				   VK_KHR_DEVICE_GROUP_EXTENSION_NAME };
	VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
				    .queueCreateInfoCount = vk->families,
				    .pQueueCreateInfos = queues,
				    .enabledExtensionCount = 2,
				    .ppEnabledExtensionNames = enabled };
	uint32_t i;

	vkGetPhysicalDeviceFeatures(vk->physical, &features.base.features);
	for (i = 0; i < vk->families; i++)
		queues[i] = (VkDeviceQueueCreateInfo){
			.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
			.queueFamilyIndex = i,
			.queueCount = vk->queues[i],
			.pQueuePriorities = priorities,
		};
	for (i = 0; extensions && extensions[i]; i++) {
		enable(&features, extensions[i]);
		enabled[info.enabledExtensionCount++] = extensions[i];
	}
	info.pNext = &features;
	VK(vkCreateDevice(vk->physical, &info, NULL, &vk->device));
	find_queues(vk);
}

void vk_open_version(struct vk *vk, uint32_t version, const char *const *extensions)
{
	memset(vk, 0, sizeof(*vk));
	open_instance(vk, version);
	find_families(vk);
	open_device(vk, extensions);
}

void vk_open(struct vk *vk, const char *const *extensions)
{
	vk_open_version(vk, VK_API_VERSION_1_0, extensions);
}

void vk_close(struct vk *vk)
{
	PFN_vkDestroyDebugUtilsMessengerEXT destroy =
		(PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
			vk->instance, "vkDestroyDebugUtilsMessengerEXT");
	uint32_t i;

	for (i = 0; i < vk->families; i++)
		vkDestroyCommandPool(vk->device, vk->pool[i], NULL);
	vkDestroyDevice(vk->device, NULL);
	destroy(vk->instance, vk->messenger, NULL);
	vkDestroyInstance(vk->instance, NULL);
}

struct vk_buf vk_buf_create_in(struct vk *vk, VkDeviceSize size, VkBufferUsageFlags usage,
			       uint32_t type, VkExternalMemoryHandleTypeFlags export)
{
	const VkExternalMemoryBufferCreateInfo external = {
		.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
		.handleTypes = export,
	};
	const VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
					  .pNext = export ? &external : NULL,
					  .size = size,
					  .usage = TRANSFER | usage };
	const VkExportMemoryAllocateInfo exported = {
		.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
		.handleTypes = export,
	};
	const VkMemoryAllocateFlagsInfo address = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
		.pNext = export ? &exported : NULL,
		.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
	};
	VkMemoryAllocateInfo memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
					.pNext = address.pNext,
					.memoryTypeIndex = type };
	struct vk_buf buf = { .size = size };
	VkMemoryRequirements needs;

	VK(vkCreateBuffer(vk->device, &info, NULL, &buf.buffer));
	vkGetBufferMemoryRequirements(vk->device, buf.buffer, &needs);
	if (usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)
		memory.pNext = &address;
	memory.allocationSize = needs.size;
	VK(vkAllocateMemory(vk->device, &memory, NULL, &buf.memory));
	VK(vkBindBufferMemory(vk->device, buf.buffer, buf.memory, 0));
	VK(vkMapMemory(vk->device, buf.memory, 0, VK_WHOLE_SIZE, 0, &buf.map));
	return buf;
}

struct vk_buf vk_buf_create(struct vk *vk, VkDeviceSize size, VkBufferUsageFlags usage)
{
	return vk_buf_create_in(vk, size, usage, 0, 0);
}

void vk_buf_destroy(struct vk *vk, struct vk_buf *buf)
{
	vkDestroyBuffer(vk->device, buf->buffer, NULL);
	vkFreeMemory(vk->device, buf->memory, NULL);
	*buf = (struct vk_buf){ 0 };
}

/* ---- Images ---------------------------------------------------------------------------------- */

static VkImageAspectFlags aspects_of(VkFormat format)
{
	switch (format) {
	case VK_FORMAT_D16_UNORM:
	case VK_FORMAT_D32_SFLOAT:
	case VK_FORMAT_X8_D24_UNORM_PACK32:
		return VK_IMAGE_ASPECT_DEPTH_BIT;
	case VK_FORMAT_D32_SFLOAT_S8_UINT:
		return VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
	case VK_FORMAT_S8_UINT:
		return VK_IMAGE_ASPECT_STENCIL_BIT;
	default:
		return VK_IMAGE_ASPECT_COLOR_BIT;
	}
}

static void leave_undefined(struct vk *vk, const struct vk_img *img)
{
	const VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.newLayout = VK_IMAGE_LAYOUT_GENERAL,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = img->image,
		.subresourceRange = { img->aspects, 0, img->levels, 0, img->layers },
	};
	VkCommandBuffer cmd = vk_begin(vk, 0);

	vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
			     VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0, NULL, 0, NULL, 1,
			     &barrier);
	vk_end(vk, 0, cmd);
}

struct vk_img vk_img_create(struct vk *vk, VkImageType type, VkFormat format, VkExtent3D extent,
			    uint32_t levels, uint32_t layers, VkImageUsageFlags usage,
			    VkImageCreateFlags flags, VkSampleCountFlagBits samples)
{
	const VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.flags = flags,
		.imageType = type,
		.format = format,
		.extent = extent,
		.mipLevels = levels,
		.arrayLayers = layers,
		.samples = samples,
		.usage = usage,
	};
	struct vk_img img = { .format = format, .extent = extent, .levels = levels,
			      .layers = layers, .aspects = aspects_of(format) };
	VkMemoryAllocateInfo memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	VkMemoryRequirements needs;

	VK(vkCreateImage(vk->device, &info, NULL, &img.image));
	vkGetImageMemoryRequirements(vk->device, img.image, &needs);
	memory.allocationSize = needs.size;
	VK(vkAllocateMemory(vk->device, &memory, NULL, &img.memory));
	VK(vkBindImageMemory(vk->device, img.image, img.memory, 0));
	leave_undefined(vk, &img);
	return img;
}

void vk_img_destroy(struct vk *vk, struct vk_img *img)
{
	vkDestroyImage(vk->device, img->image, NULL);
	vkFreeMemory(vk->device, img->memory, NULL);
	*img = (struct vk_img){ 0 };
}

VkImageView vk_view(struct vk *vk, const struct vk_img *img, VkImageViewType type, VkFormat format,
		    const VkImageSubresourceRange *range)
{
	const VkImageSubresourceRange all = { img->aspects, 0, img->levels, 0, img->layers };
	const VkImageViewCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.image = img->image,
		.viewType = type,
		.format = format,
		.subresourceRange = range ? *range : all,
	};
	VkImageView view;

	VK(vkCreateImageView(vk->device, &info, NULL, &view));
	return view;
}

VkImageSubresourceLayers vk_layers(const struct vk_img *img, uint32_t level, uint32_t first,
				   uint32_t count)
{
	return (VkImageSubresourceLayers){ img->aspects, level, first, count };
}

/* ---- Command buffers ------------------------------------------------------------------------- */

VkCommandBuffer vk_begin(struct vk *vk, uint32_t family)
{
	const VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = vk->pool[family],
		.commandBufferCount = 1,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};
	VkCommandBuffer cmd;

	VK(vkAllocateCommandBuffers(vk->device, &info, &cmd));
	VK(vkBeginCommandBuffer(cmd, &begin));
	return cmd;
}

VkCommandBuffer vk_begin_secondary(struct vk *vk)
{
	const VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = vk->pool[0],
		.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
		.commandBufferCount = 1,
	};
	const VkCommandBufferInheritanceInfo inherited = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.pInheritanceInfo = &inherited,
	};
	VkCommandBuffer cmd;

	VK(vkAllocateCommandBuffers(vk->device, &info, &cmd));
	VK(vkBeginCommandBuffer(cmd, &begin));
	return cmd;
}

void vk_submit(VkQueue queue, VkCommandBuffer cmd, VkSemaphore wait, VkSemaphore signal,
	       VkFence fence)
{
	const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	const VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
				    .waitSemaphoreCount = wait != VK_NULL_HANDLE,
				    .pWaitSemaphores = &wait,
				    .pWaitDstStageMask = &stage,
				    .commandBufferCount = cmd != NULL,
				    .pCommandBuffers = &cmd,
				    .signalSemaphoreCount = signal != VK_NULL_HANDLE,
				    .pSignalSemaphores = &signal };

	VK(vkQueueSubmit(queue, 1, &info, fence));
}

void vk_end(struct vk *vk, uint32_t family, VkCommandBuffer cmd)
{
	VkFence fence = vk_fence(vk);

	VK(vkEndCommandBuffer(cmd));
	vk_submit(vk->queue[family][0], cmd, VK_NULL_HANDLE, VK_NULL_HANDLE, fence);
	VK(vkWaitForFences(vk->device, 1, &fence, VK_TRUE, VK_SOON));
	vkDestroyFence(vk->device, fence, NULL);
	vkFreeCommandBuffers(vk->device, vk->pool[family], 1, &cmd);
}

void vk_order(VkCommandBuffer cmd)
{
	const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
	};

	vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

VkFence vk_fence(struct vk *vk)
{
	const VkFenceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	VkFence fence;

	VK(vkCreateFence(vk->device, &info, NULL, &fence));
	return fence;
}

VkSemaphore vk_semaphore(struct vk *vk)
{
	const VkSemaphoreCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO };
	VkSemaphore semaphore;

	VK(vkCreateSemaphore(vk->device, &info, NULL, &semaphore));
	return semaphore;
}

VkSemaphore vk_timeline(struct vk *vk, uint64_t value)
{
	const VkSemaphoreTypeCreateInfo type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
		.initialValue = value,
	};
	const VkSemaphoreCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
					     .pNext = &type };
	VkSemaphore semaphore;

	VK(vkCreateSemaphore(vk->device, &info, NULL, &semaphore));
	return semaphore;
}

PFN_vkVoidFunction vk_function(struct vk *vk, const char *name)
{
	const PFN_vkVoidFunction function = vkGetDeviceProcAddr(vk->device, name);

	if (!function)
		vk_check(VK_ERROR_EXTENSION_NOT_PRESENT, name);
	return function;
}
