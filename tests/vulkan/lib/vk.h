/* SPDX-License-Identifier: MIT */
/*
 * Shared code of Vulkan test programs: devices, buffers and command buffers on the first Tessera
 * GPU.
 *
 * A call that fails ends the program, unless a test calls Vulkan itself. Messages of the validation
 * layers are failed checks of the running test.
 */
#ifndef TSR_TEST_VK_H
#define TSR_TEST_VK_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "ktap.h"

#define VK_QUEUES	2	/* of each family */
#define VK_FAMILIES	2
#define VK_NEVER	UINT64_MAX
#define VK_SOON		(20ull * 1000 * 1000 * 1000)	/* ns; a test that waits longer fails */

/* A device with all its queues. */
struct vk {
	VkInstance instance;
	VkDebugUtilsMessengerEXT messenger;
	VkPhysicalDevice physical;
	VkPhysicalDeviceProperties properties;
	VkPhysicalDeviceMemoryProperties memory;
	VkDevice device;
	uint32_t families, queues[VK_FAMILIES];	/* queues: of each family */
	VkQueueFlags flags[VK_FAMILIES];
	VkQueue queue[VK_FAMILIES][VK_QUEUES];
	VkCommandPool pool[VK_FAMILIES];
};

/* A buffer that is bound to memory of its own, which is mapped. */
struct vk_buf {
	VkBuffer buffer;
	VkDeviceMemory memory;
	VkDeviceSize size;
	void *map;
};

/* An image that is bound to memory of its own, which is mapped if the type is. */
struct vk_img {
	VkImage image;
	VkDeviceMemory memory;
	VkFormat format;
	VkExtent3D extent;
	uint32_t levels, layers;
	VkImageAspectFlags aspects;
};

/*
 * vk_open(): an instance of Vulkan 1.0 and a device with the NULL-terminated @extensions (NULL:
 * none). vk_open_version(): the same for another version of the instance.
 */
void vk_open(struct vk *vk, const char *const *extensions);
void vk_open_version(struct vk *vk, uint32_t version, const char *const *extensions);
void vk_close(struct vk *vk);

/* vk_is_offered(): true if the device lists the extension. */
bool vk_is_offered(struct vk *vk, const char *extension);

/* vk_check(): end the program with @what if the result is an error. */
void vk_check(VkResult result, const char *what);
#define VK(call)	vk_check(call, #call)

/* vk_buf_create(): @type is the memory type. @export: handle types of VK_KHR_external_memory. */
struct vk_buf vk_buf_create(struct vk *vk, VkDeviceSize size, VkBufferUsageFlags usage);
struct vk_buf vk_buf_create_in(struct vk *vk, VkDeviceSize size, VkBufferUsageFlags usage,
			       uint32_t type, VkExternalMemoryHandleTypeFlags export);
void vk_buf_destroy(struct vk *vk, struct vk_buf *buf);

/*
 * vk_img_create(): an image in memory type 0. @flags are VkImageCreateFlags. The image has optimal
 * tiling. All subresources are in layout GENERAL.
 */
struct vk_img vk_img_create(struct vk *vk, VkImageType type, VkFormat format, VkExtent3D extent,
			    uint32_t levels, uint32_t layers, VkImageUsageFlags usage,
			    VkImageCreateFlags flags, VkSampleCountFlagBits samples);
void vk_img_destroy(struct vk *vk, struct vk_img *img);

/* vk_view(): a view of all levels and layers, or of those of @range (NULL: all). */
VkImageView vk_view(struct vk *vk, const struct vk_img *img, VkImageViewType type, VkFormat format,
		    const VkImageSubresourceRange *range);

/* vk_layers(): layers [first, first + count) of a level. */
VkImageSubresourceLayers vk_layers(const struct vk_img *img, uint32_t level, uint32_t first,
				   uint32_t count);

/* vk_begin_secondary(): a secondary command buffer of family 0 for outside of render passes. */
VkCommandBuffer vk_begin_secondary(struct vk *vk);

/* vk_begin(): a primary command buffer of @family that is being recorded. */
VkCommandBuffer vk_begin(struct vk *vk, uint32_t family);

/* vk_end(): end it, submit it to the first queue of its family, wait, and free it. */
void vk_end(struct vk *vk, uint32_t family, VkCommandBuffer cmd);

/* vk_submit(): submit it with at most one semaphore of each direction and a fence; handles or 0. */
void vk_submit(VkQueue queue, VkCommandBuffer cmd, VkSemaphore wait, VkSemaphore signal,
	       VkFence fence);

/* vk_order(): a barrier between all commands before and all commands after it. */
void vk_order(VkCommandBuffer cmd);

/* vk_fence(), vk_semaphore(): new objects; vk_timeline(): a timeline semaphore with that value. */
VkFence vk_fence(struct vk *vk);
VkSemaphore vk_semaphore(struct vk *vk);
VkSemaphore vk_timeline(struct vk *vk, uint64_t value);

/* vk_function(): the address of an extension's device function; ends the program without one. */
PFN_vkVoidFunction vk_function(struct vk *vk, const char *name);
#define VK_FUNCTION(vk, name)	((PFN_##name)vk_function(vk, #name))

#endif
