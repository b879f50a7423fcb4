/* SPDX-License-Identifier: MIT */
/* Swapchains of a surface that nobody sees: each image is drawn to, read and presented. */
#include "draw.h"

#define WIDTH	96
#define HEIGHT	64
#define FRAMES	8
#define IMAGES	8

static struct vk vk;

/* A swapchain with its surface. */
struct chain {
	VkSurfaceKHR surface;
	VkSwapchainKHR swapchain;
	VkImage images[IMAGES];
	VkImageView views[IMAGES];
	uint32_t count;
};

static void make_surface(struct chain *c)
{
	const VkHeadlessSurfaceCreateInfoEXT info = {
		.sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT,
	};
	const PFN_vkCreateHeadlessSurfaceEXT create =
		(PFN_vkCreateHeadlessSurfaceEXT)vkGetInstanceProcAddr(
			vk.instance, "vkCreateHeadlessSurfaceEXT");
	VkSurfaceCapabilitiesKHR caps;
	VkSurfaceFormatKHR formats[32];
	VkPresentModeKHR modes[8];
	uint32_t count = 32, i;
	VkBool32 can = VK_FALSE;
	bool found = false;

	VK(create(vk.instance, &info, NULL, &c->surface));
	VK(vkGetPhysicalDeviceSurfaceSupportKHR(vk.physical, 0, c->surface, &can));
	ktap_ok(can);
	VK(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(vk.physical, c->surface, &caps));
	ktap_ok(caps.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
	VK(vkGetPhysicalDeviceSurfaceFormatsKHR(vk.physical, c->surface, &count, formats));
	for (i = 0; i < count; i++)
		found |= formats[i].format == VK_FORMAT_B8G8R8A8_UNORM;
	ktap_ok(found);
	count = 8;
	VK(vkGetPhysicalDeviceSurfacePresentModesKHR(vk.physical, c->surface, &count, modes));
	ktap_ok(count);
}

static void make_chain(struct chain *c)
{
	VkSwapchainCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
		.minImageCount = 4,
		.imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
		.imageExtent = { WIDTH, HEIGHT },
		.imageArrayLayers = 1,
		.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
			      VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
		.preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
		.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
		.presentMode = VK_PRESENT_MODE_FIFO_KHR,
	};
	uint32_t i;

	make_surface(c);
	info.surface = c->surface;
	VK(vkCreateSwapchainKHR(vk.device, &info, NULL, &c->swapchain));
	c->count = IMAGES;
	VK(vkGetSwapchainImagesKHR(vk.device, c->swapchain, &c->count, c->images));
	for (i = 0; i < c->count; i++) {
		const struct vk_img img = { .image = c->images[i], .levels = 1, .layers = 1,
					    .aspects = VK_IMAGE_ASPECT_COLOR_BIT };

		c->views[i] = vk_view(&vk, &img, VK_IMAGE_VIEW_TYPE_2D, info.imageFormat, NULL);
	}
}

static void drop_chain(struct chain *c)
{
	uint32_t i;

	for (i = 0; i < c->count; i++)
		vkDestroyImageView(vk.device, c->views[i], NULL);
	vkDestroySwapchainKHR(vk.device, c->swapchain, NULL);
	vkDestroySurfaceKHR(vk.instance, c->surface, NULL);
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

	vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

/* Clear an image to a color of the frame, and copy it to the buffer. */
static VkCommandBuffer record(const struct chain *c, uint32_t index, uint32_t frame,
			      const struct vk_buf *b)
{
	const VkClearValue clear = { .color.float32 = { (float)frame / 255, 1, 0, 1 } };
	const VkRenderingAttachmentInfo a = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
		.imageView = c->views[index],
		.imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
		.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		.clearValue = clear,
	};
	const VkRenderingInfo pass = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea.extent = { WIDTH, HEIGHT },
		.layerCount = 1,
		.colorAttachmentCount = 1,
		.pColorAttachments = &a,
	};
	const VkBufferImageCopy region = {
		.imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
		.imageExtent = { WIDTH, HEIGHT, 1 },
	};
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	turn(cmd, c->images[index], VK_IMAGE_LAYOUT_UNDEFINED,
	     VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
	draw_begin(&vk, cmd, &pass);
	draw_end(&vk, cmd);
	turn(cmd, c->images[index], VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
	     VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
	vkCmdCopyImageToBuffer(cmd, c->images[index], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
			       b->buffer, 1, &region);
	turn(cmd, c->images[index], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
	     VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
	VK(vkEndCommandBuffer(cmd));
	return cmd;
}

static void present(const struct chain *c, uint32_t frame, const struct vk_buf *b)
{
	VkSemaphore ready = vk_semaphore(&vk), done = vk_semaphore(&vk);
	VkFence fence = vk_fence(&vk);
	uint32_t index = 0, i, bad = 0;
	const VkPresentInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = &done,
		.swapchainCount = 1,
		.pSwapchains = &c->swapchain,
		.pImageIndices = &index,
	};
	const uint32_t *pixels = b->map;
	VkCommandBuffer cmd;

	VK(vkAcquireNextImageKHR(vk.device, c->swapchain, VK_SOON, ready, VK_NULL_HANDLE, &index));
	memset(b->map, 0, b->size);
	cmd = record(c, index, frame, b);
	vk_submit(vk.queue[0][0], cmd, ready, done, fence);
	VK(vkQueuePresentKHR(vk.queue[0][0], &info));
	VK(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, VK_SOON));
	VK(vkQueueWaitIdle(vk.queue[0][0]));
	for (i = 0; i < WIDTH * HEIGHT; i++)
		bad += pixels[i] != (0xff00ff00 | frame << 16);
	ktap_eq(bad, 0);
	vkFreeCommandBuffers(vk.device, vk.pool[0], 1, &cmd);
	vkDestroyFence(vk.device, fence, NULL);
	vkDestroySemaphore(vk.device, ready, NULL);
	vkDestroySemaphore(vk.device, done, NULL);
}

static void frames(void)
{
	struct vk_buf b = vk_buf_create(&vk, WIDTH * HEIGHT * 4, 0);
	struct chain c = { 0 };
	uint32_t i;

	make_chain(&c);
	ktap_ok(c.count >= 4);
	for (i = 0; i < FRAMES; i++)
		present(&c, 10 + i, &b);
	drop_chain(&c);
	vk_buf_destroy(&vk, &b);
}

int main(int argc, char **argv)
{
	static const char *const extensions[] = { DRAW_EXTENSIONS,
						  VK_KHR_SWAPCHAIN_EXTENSION_NAME, NULL };

	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	ktap_run("a swapchain whose images are drawn, read and presented", frames);
	vk_close(&vk);
	return ktap_finish();
}
