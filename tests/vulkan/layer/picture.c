// SPDX-License-Identifier: MIT
/*
 * VK_LAYER_TESSERA_picture, a Vulkan layer: writes one presented image of a program to a file, and
 * says which device has drawn it.
 *
 *   TSR_PICTURE=FILE      the picture, a PPM, written aside and then renamed
 *   TSR_PICTURE_FRAME=N   which presentation, the first is 1
 *   TSR_PICTURE_HOLD=1    let the program wait for a signal before the next one
 *   TSR_PICTURE_EXIT=1    end the program with status 0 when the picture is written
 *
 * If the library is also preloaded, clock_gettime() of the program itself advances by 10 ms with
 * each presentation. A program that animates by the clock then draws the same frames on each
 * device. Libraries see the real clock.
 *
 * The layer supports one VkDevice with one swapchain at a time.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define EXPORT	__attribute__((visibility("default")))
#define QUEUES	16
#define IMAGES	16
#define TICK	10000000	/* ns of the program's clock for a presentation */

static PFN_vkGetInstanceProcAddr next_instance;
static VkInstance instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkSetDeviceLoaderData set_loader_data;
static VkPhysicalDevice physical;
static VkDevice device;
static struct {
	VkQueue queue;
	uint32_t family;
} queues[QUEUES];
static unsigned int queue_count;
static VkExtent2D extent;
static VkFormat format;
static unsigned long frames;

#define NEXT(name)	((PFN_##name)next_device(device, #name))

static void fail(const char *what)
{
	fprintf(stderr, "picture: %s\n", what);
	exit(3);
}

static void check(VkResult result, const char *what)
{
	if (result != VK_SUCCESS)
		fail(what);
}
#define CHECK(call)	check(call, #call)

/* ---- The clock of the program ---------------------------------------------------------------- */

/* Where the program's own file is mapped. The dynamic linker lists it first. */
static uintptr_t program_begin, program_end;

static int find_program(struct dl_phdr_info *info, size_t size, void *data)
{
	unsigned int i;

	(void)size;
	(void)data;
	program_begin = UINTPTR_MAX;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		const uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		program_begin = begin < program_begin ? begin : program_begin;
		program_end = end > program_end ? end : program_end;
	}
	return 1;
}

__attribute__((constructor)) static void init(void)
{
	dl_iterate_phdr(find_program, NULL);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
	const unsigned long now = __atomic_load_n(&frames, __ATOMIC_RELAXED);

	const uintptr_t caller = (uintptr_t)__builtin_return_address(0);

	if (caller < program_begin || caller >= program_end)
		return (int)syscall(SYS_clock_gettime, clock, time);
	time->tv_sec = 1000 + now / (1000000000 / TICK);
	time->tv_nsec = now % (1000000000 / TICK) * TICK;
	return 0;
}

/* ---- The picture ----------------------------------------------------------------------------- */

static uint32_t memory_type(uint32_t types)
{
	const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
					     VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	VkPhysicalDeviceMemoryProperties m;
	uint32_t i;

	((PFN_vkGetPhysicalDeviceMemoryProperties)next_instance(
		instance, "vkGetPhysicalDeviceMemoryProperties"))(physical, &m);
	for (i = 0; i < m.memoryTypeCount; i++) {
		if (types & 1u << i && (m.memoryTypes[i].propertyFlags & wanted) == wanted)
			return i;
	}
	fail("no memory that can be mapped");
	return 0;
}

/* A mapped buffer for @size bytes. */
static VkBuffer make_buffer(VkDeviceSize size, VkDeviceMemory *memory, void **map)
{
	const VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
					  .size = size,
					  .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT };
	VkMemoryAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	VkMemoryRequirements needs;
	VkBuffer buffer;

	CHECK(NEXT(vkCreateBuffer)(device, &info, NULL, &buffer));
	NEXT(vkGetBufferMemoryRequirements)(device, buffer, &needs);
	alloc.allocationSize = needs.size;
	alloc.memoryTypeIndex = memory_type(needs.memoryTypeBits);
	CHECK(NEXT(vkAllocateMemory)(device, &alloc, NULL, memory));
	CHECK(NEXT(vkBindBufferMemory)(device, buffer, *memory, 0));
	CHECK(NEXT(vkMapMemory)(device, *memory, 0, VK_WHOLE_SIZE, 0, map));
	return buffer;
}

static void turn(VkCommandBuffer cmd, VkImage image, VkImageLayout from, VkImageLayout to)
{
	const VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		.oldLayout = from,
		.newLayout = to,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = image,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};

	NEXT(vkCmdPipelineBarrier)(cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
				   VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1,
				   &barrier);
}

static void record(VkCommandBuffer cmd, VkImage image, VkBuffer buffer)
{
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};
	const VkBufferImageCopy region = {
		.imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
		.imageExtent = { extent.width, extent.height, 1 },
	};

	CHECK(NEXT(vkBeginCommandBuffer)(cmd, &begin));
	turn(cmd, image, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
	NEXT(vkCmdCopyImageToBuffer)(cmd, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer, 1,
				     &region);
	turn(cmd, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
	CHECK(NEXT(vkEndCommandBuffer)(cmd));
}

/* Copy an image to a buffer and wait. */
static void copy(VkQueue queue, uint32_t family, VkImage image, VkBuffer buffer)
{
	const VkCommandPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.queueFamilyIndex = family,
	};
	VkCommandBufferAllocateInfo alloc = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandBufferCount = 1,
	};
	VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1 };
	VkCommandBuffer cmd;
	VkCommandPool pool;

	CHECK(NEXT(vkCreateCommandPool)(device, &pool_info, NULL, &pool));
	alloc.commandPool = pool;
	CHECK(NEXT(vkAllocateCommandBuffers)(device, &alloc, &cmd));
	CHECK(set_loader_data(device, cmd));
	record(cmd, image, buffer);
	submit.pCommandBuffers = &cmd;
	/* what the presentation waits for has been submitted */
	CHECK(NEXT(vkDeviceWaitIdle)(device));
	CHECK(NEXT(vkQueueSubmit)(queue, 1, &submit, VK_NULL_HANDLE));
	CHECK(NEXT(vkDeviceWaitIdle)(device));
	NEXT(vkDestroyCommandPool)(device, pool, NULL);
}

/* Bytes of a pixel of the swapchain. */
static uint32_t pixel_bytes(void)
{
	switch (format) {
	case VK_FORMAT_B8G8R8A8_UNORM:
	case VK_FORMAT_B8G8R8A8_SRGB:
	case VK_FORMAT_R8G8B8A8_UNORM:
	case VK_FORMAT_R8G8B8A8_SRGB:
		return 4;
	case VK_FORMAT_R16G16B16A16_SFLOAT:
		return 8;
	default:
		fail("the format of the swapchain is not known");
		return 0;
	}
}

/* A color of a half as a byte, rounded to nearest. */
static uint8_t byte_of_half(uint16_t half)
{
	const int exponent = half >> 10 & 31, mantissa = half & 1023;
	float value = exponent ? (float)(1024 + mantissa) : (float)mantissa;
	int shift = (exponent ? exponent : 1) - 25;

	for (; shift < 0; shift++)
		value /= 2;
	for (; shift > 0; shift--)
		value *= 2;
	if (half & 0x8000)
		return 0;
	return value >= 1 ? 255 : (uint8_t)(value * 255 + 0.5f);
}

static void get_rgb(const uint8_t *pixel, uint8_t rgb[3])
{
	const bool bgr = format == VK_FORMAT_B8G8R8A8_UNORM || format == VK_FORMAT_B8G8R8A8_SRGB;
	uint16_t half;
	int i;

	for (i = 0; i < 3; i++) {
		rgb[i] = pixel[bgr ? 2 - i : i];
		if (pixel_bytes() == 8) {
			memcpy(&half, pixel + 2 * i, 2);
			rgb[i] = byte_of_half(half);
		}
	}
}

static void write_ppm(const uint8_t *pixels)
{
	const char *path = getenv("TSR_PICTURE");
	uint32_t i, count = extent.width * extent.height;
	char aside[4096];
	FILE *f;

	snprintf(aside, sizeof(aside), "%s.part", path);
	f = fopen(aside, "wb");
	if (!f)
		fail("the picture cannot be written");
	fprintf(f, "P6 %u %u 255\n", extent.width, extent.height);
	for (i = 0; i < count; i++) {
		uint8_t rgb[3];

		get_rgb(pixels + pixel_bytes() * (size_t)i, rgb);
		fwrite(rgb, 1, 3, f);
	}
	if (fclose(f) || rename(aside, path))
		fail("the picture cannot be written");
}

static void tell_device(void)
{
	VkPhysicalDeviceProperties p;

	((PFN_vkGetPhysicalDeviceProperties)next_instance(
		instance, "vkGetPhysicalDeviceProperties"))(physical, &p);
	fprintf(stderr, "picture: drawn by %s\n", p.deviceName);
}

static void take(VkQueue queue, VkSwapchainKHR swapchain, uint32_t index)
{
	VkImage images[IMAGES];
	uint32_t count = IMAGES, family = 0, i;
	VkDeviceMemory memory;
	VkBuffer buffer;
	void *map;

	for (i = 0; i < queue_count; i++) {
		if (queues[i].queue == queue)
			family = queues[i].family;
	}
	CHECK(NEXT(vkGetSwapchainImagesKHR)(device, swapchain, &count, images));
	buffer = make_buffer((VkDeviceSize)pixel_bytes() * extent.width * extent.height, &memory,
			     &map);
	copy(queue, family, images[index], buffer);
	write_ppm(map);
	tell_device();
	NEXT(vkDestroyBuffer)(device, buffer, NULL);
	NEXT(vkFreeMemory)(device, memory, NULL);
}

/* ---- Functions that the layer changes -------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL layer_QueuePresentKHR(VkQueue queue,
							    const VkPresentInfoKHR *info)
{
	const char *wanted = getenv("TSR_PICTURE_FRAME");
	const unsigned long frame = __atomic_add_fetch(&frames, 1, __ATOMIC_RELAXED);
	const unsigned long at = wanted ? strtoul(wanted, NULL, 10) : 1;

	if (getenv("TSR_PICTURE_HOLD") && frame == at + 1)
		pause();
	if (getenv("TSR_PICTURE") && frame == at) {
		take(queue, info->pSwapchains[0], info->pImageIndices[0]);
		if (getenv("TSR_PICTURE_EXIT"))
			_exit(0);
	}
	return NEXT(vkQueuePresentKHR)(queue, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL layer_CreateSwapchainKHR(
	VkDevice handle, const VkSwapchainCreateInfoKHR *info, const VkAllocationCallbacks *alloc,
	VkSwapchainKHR *out)
{
	VkSwapchainCreateInfoKHR changed = *info;

	changed.imageUsage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
	extent = info->imageExtent;
	format = info->imageFormat;
	return NEXT(vkCreateSwapchainKHR)(handle, &changed, alloc, out);
}

static VKAPI_ATTR void VKAPI_CALL layer_GetDeviceQueue(VkDevice handle, uint32_t family,
						       uint32_t index, VkQueue *out)
{
	NEXT(vkGetDeviceQueue)(handle, family, index, out);
	if (queue_count == QUEUES)
		fail("too many queues");
	queues[queue_count].queue = *out;
	queues[queue_count++].family = family;
}

/* ---- The chain of layers --------------------------------------------------------------------- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice handle, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance handle,
							      const char *name);

static VKAPI_ATTR VkResult VKAPI_CALL layer_CreateInstance(const VkInstanceCreateInfo *info,
							   const VkAllocationCallbacks *alloc,
							   VkInstance *out)
{
	VkLayerInstanceCreateInfo *link = (void *)info->pNext;
	PFN_vkCreateInstance create;
	VkResult result;

	while (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO ||
	       link->function != VK_LAYER_LINK_INFO)
		link = (void *)link->pNext;
	next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
	link->u.pLayerInfo = link->u.pLayerInfo->pNext;
	create = (PFN_vkCreateInstance)next_instance(VK_NULL_HANDLE, "vkCreateInstance");
	result = create(info, alloc, out);
	if (result == VK_SUCCESS)
		instance = *out;
	return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL layer_CreateDevice(VkPhysicalDevice gpu,
							 const VkDeviceCreateInfo *info,
							 const VkAllocationCallbacks *alloc,
							 VkDevice *out)
{
	VkLayerDeviceCreateInfo *link = (void *)info->pNext, *next = NULL;
	PFN_vkCreateDevice create;
	VkResult result;

	for (; link; link = (void *)link->pNext) {
		if (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO)
			continue;
		if (link->function == VK_LAYER_LINK_INFO && !next)
			next = link;
		if (link->function == VK_LOADER_DATA_CALLBACK)
			set_loader_data = link->u.pfnSetDeviceLoaderData;
	}
	if (!next)
		return VK_ERROR_INITIALIZATION_FAILED;
	next_device = next->u.pLayerInfo->pfnNextGetDeviceProcAddr;
	create = (PFN_vkCreateDevice)next->u.pLayerInfo->pfnNextGetInstanceProcAddr(
		instance, "vkCreateDevice");
	next->u.pLayerInfo = next->u.pLayerInfo->pNext;
	result = create(gpu, info, alloc, out);
	physical = gpu;
	if (result == VK_SUCCESS)
		device = *out;
	queue_count = 0;
	return result;
}

static const struct {
	const char *name;
	PFN_vkVoidFunction function;
} functions[] = {
	{ "vkCreateInstance", (PFN_vkVoidFunction)layer_CreateInstance },
	{ "vkCreateDevice", (PFN_vkVoidFunction)layer_CreateDevice },
	{ "vkGetInstanceProcAddr", (PFN_vkVoidFunction)instance_proc },
	{ "vkGetDeviceProcAddr", (PFN_vkVoidFunction)device_proc },
	{ "vkGetDeviceQueue", (PFN_vkVoidFunction)layer_GetDeviceQueue },
	{ "vkCreateSwapchainKHR", (PFN_vkVoidFunction)layer_CreateSwapchainKHR },
	{ "vkQueuePresentKHR", (PFN_vkVoidFunction)layer_QueuePresentKHR },
};

static PFN_vkVoidFunction own(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!strcmp(functions[i].name, name))
			return functions[i].function;
	}
	return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice handle, const char *name)
{
	const PFN_vkVoidFunction function = own(name);

	return function ? function : next_device(handle, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance handle, const char *name)
{
	const PFN_vkVoidFunction function = own(name);

	return function ? function : next_instance(handle, name);
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *version)
{
	version->loaderLayerInterfaceVersion = 2;
	version->pfnGetInstanceProcAddr = instance_proc;
	version->pfnGetDeviceProcAddr = device_proc;
	version->pfnGetPhysicalDeviceProcAddr = NULL;
	return VK_SUCCESS;
}
