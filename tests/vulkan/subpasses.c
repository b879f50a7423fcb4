/* SPDX-License-Identifier: MIT */
/* Subpasses: input attachments that another subpass has drawn, or the same one. */
#include "draw.h"

#include "full_frag.h"
#include "full_vert.h"
#include "input_frag.h"

#define WIDTH	150
#define HEIGHT	90
#define TARGET	VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
#define RGBA8	VK_FORMAT_R8G8B8A8_UNORM
#define ONE	VK_SAMPLE_COUNT_1_BIT

static const char *const extensions[] = { VK_KHR_MAINTENANCE_2_EXTENSION_NAME,
					  VK_KHR_IMAGE_FORMAT_LIST_EXTENSION_NAME,
					  VK_KHR_IMAGELESS_FRAMEBUFFER_EXTENSION_NAME, NULL };
static struct vk vk;
static VkPipelineLayout layout;

static const VkClearValue gray = { .color.float32 = { 0.2f, 0.4f, 0.6f, 0.8f } };
static const VkRect2D everything = { { 0, 0 }, { WIDTH, HEIGHT } };

/* A pipeline of a pass, and the one that reads its input, with the components turned. */
static VkPipeline make_first(VkRenderPass pass)
{
	const struct draw_pipe info = {
		.vs = full_vert, .vs_size = sizeof(full_vert),
		.fs = full_frag, .fs_size = sizeof(full_frag),
		.layout = layout, .colors = 1, .color = { RGBA8 }, .pass = pass,
	};

	return draw_pipeline(&vk, &info);
}

static VkPipeline make_second(VkRenderPass pass, uint32_t subpass, VkPipelineLayout own)
{
	const struct draw_pipe info = {
		.vs = full_vert, .vs_size = sizeof(full_vert),
		.fs = input_frag, .fs_size = sizeof(input_frag),
		.layout = own, .colors = 1, .color = { RGBA8 }, .pass = pass, .subpass = subpass,
	};

	return draw_pipeline(&vk, &info);
}

/* Draw the whole target, at a depth of 0.5. */
static void fill(VkCommandBuffer cmd, VkPipeline pipeline)
{
	static const float push[5] = { 1, 0.5f, 0, 1, 0.5f };

	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, sizeof(push), push);
	vkCmdDraw(cmd, 3, 1, 0, 0);
}

/* The target has a color inside of a part, another outside; each component may be 1 off. */
static void check(const struct draw_target *t, const uint8_t outside[4], const VkRect2D *part,
		  const uint8_t inside[4])
{
	uint8_t *got = draw_read(&vk, t, 0, VK_IMAGE_ASPECT_COLOR_BIT, 4);
	uint32_t bad = 0;

	for (int i = 0; i < WIDTH * HEIGHT * 4; i++) {
		const int x = i / 4 % WIDTH - part->offset.x, y = i / 4 / WIDTH - part->offset.y;
		const bool in = x >= 0 && x < (int)part->extent.width && y >= 0 &&
				y < (int)part->extent.height;
		const int want = in ? inside[i % 4] : outside[i % 4];

		if (abs(got[i] - want) > 1)
			bad++;
	}
	ktap_eq(bad, 0);
	free(got);
}

/* The first subpass draws to an image, the second reads it as input and draws to another. */
static VkRenderPass make_subpasses(void)
{
	const VkAttachmentDescription attachments[2] = {
		{ .format = RGBA8, .samples = ONE, .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		  .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		  .initialLayout = VK_IMAGE_LAYOUT_GENERAL,
		  .finalLayout = VK_IMAGE_LAYOUT_GENERAL },
		{ .format = RGBA8, .samples = ONE, .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
		  .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		  .initialLayout = VK_IMAGE_LAYOUT_GENERAL,
		  .finalLayout = VK_IMAGE_LAYOUT_GENERAL },
	};
	const VkAttachmentReference first = { 0, VK_IMAGE_LAYOUT_GENERAL },
				    second = { 1, VK_IMAGE_LAYOUT_GENERAL };
	const VkSubpassDescription subpasses[2] = {
		{ .colorAttachmentCount = 1, .pColorAttachments = &first },
		{ .colorAttachmentCount = 1, .pColorAttachments = &second,
		  .inputAttachmentCount = 1, .pInputAttachments = &first },
	};
	const VkSubpassDependency between = {
		0, 1, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
		VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
		VK_ACCESS_INPUT_ATTACHMENT_READ_BIT, VK_DEPENDENCY_BY_REGION_BIT
	};
	const VkRenderPassCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
		.attachmentCount = 2,
		.pAttachments = attachments,
		.subpassCount = 2,
		.pSubpasses = subpasses,
		.dependencyCount = 1,
		.pDependencies = &between,
	};
	VkRenderPass pass;

	VK(vkCreateRenderPass(vk.device, &info, NULL, &pass));
	return pass;
}

/* @views: of both attachments, or NULL if the pass names them when it begins. */
static VkFramebuffer make_framebuffer(VkRenderPass pass, const VkImageView *views)
{
	static const VkFormat format = RGBA8;
	const VkFramebufferAttachmentImageInfo one = {
		.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENT_IMAGE_INFO,
		.usage = TARGET | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
			 VK_IMAGE_USAGE_TRANSFER_DST_BIT,
		.width = WIDTH,
		.height = HEIGHT,
		.layerCount = 1,
		.viewFormatCount = 1,
		.pViewFormats = &format,
	};
	VkFramebufferAttachmentImageInfo images[2] = { one, one };
	const VkFramebufferAttachmentsCreateInfo later = {
		.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENTS_CREATE_INFO,
		.attachmentImageInfoCount = 2,
		.pAttachmentImageInfos = images,
	};
	const VkFramebufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
		.pNext = views ? NULL : &later,
		.flags = views ? 0 : VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT,
		.renderPass = pass,
		.attachmentCount = 2,
		.pAttachments = views,
		.width = WIDTH,
		.height = HEIGHT,
		.layers = 1,
	};
	VkFramebuffer framebuffer;

	images[0].usage |= VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
	VK(vkCreateFramebuffer(vk.device, &info, NULL, &framebuffer));
	return framebuffer;
}

static void run_subpasses(bool imageless)
{
	static const VkRect2D left = { { 0, 0 }, { 47, HEIGHT } };
	/* blue, red, green, alpha of what was drawn, and of gray */
	static const uint8_t drawn[4] = { 0, 255, 128, 255 }, cleared[4] = { 153, 51, 102, 204 };
	const VkDescriptorSetLayoutBinding binding = { 0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1,
						       VK_SHADER_STAGE_FRAGMENT_BIT, NULL };
	struct draw_target a = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, ONE,
					   TARGET | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT),
			   b = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, ONE, TARGET);
	VkRenderPass pass = make_subpasses();
	const VkImageView views[2] = { a.view, b.view };
	VkFramebuffer framebuffer = make_framebuffer(pass, imageless ? NULL : views);
	const VkRenderPassAttachmentBeginInfo now = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO,
		.attachmentCount = 2,
		.pAttachments = views,
	};
	VkDescriptorPool pool = draw_pool(&vk);
	VkDescriptorSetLayout set_layout;
	VkDescriptorSet set = draw_set(&vk, pool, &binding, 1, &set_layout);
	VkPipelineLayout own = draw_layout(&vk, 1, &set_layout);
	const VkRenderPassBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
		.pNext = imageless ? &now : NULL,
		.renderPass = pass,
		.framebuffer = framebuffer,
		.renderArea = everything,
		.clearValueCount = 1,
		.pClearValues = &gray,
	};
	VkPipeline first, second;
	VkCommandBuffer cmd;

	first = make_first(pass);
	second = make_second(pass, 1, own);
	draw_put(&vk, set, 0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, a.view, VK_NULL_HANDLE, NULL);
	cmd = vk_begin(&vk, 0);
	vkCmdBeginRenderPass(cmd, &begin, VK_SUBPASS_CONTENTS_INLINE);
	draw_window(cmd, WIDTH, HEIGHT);
	vkCmdSetScissor(cmd, 0, 1, &left);
	fill(cmd, first);
	vkCmdNextSubpass(cmd, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdSetScissor(cmd, 0, 1, &everything);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, second);
	vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, own, 0, 1, &set, 0, NULL);
	vkCmdDraw(cmd, 3, 1, 0, 0);
	vkCmdEndRenderPass(cmd);
	vk_end(&vk, 0, cmd);
	check(&b, cleared, &left, drawn);
	vkDestroyPipeline(vk.device, first, NULL);
	vkDestroyPipeline(vk.device, second, NULL);
	vkDestroyPipelineLayout(vk.device, own, NULL);
	vkDestroyDescriptorPool(vk.device, pool, NULL);
	vkDestroyDescriptorSetLayout(vk.device, set_layout, NULL);
	vkDestroyFramebuffer(vk.device, framebuffer, NULL);
	vkDestroyRenderPass(vk.device, pass, NULL);
	draw_drop(&vk, &a);
	draw_drop(&vk, &b);
}

static void subpasses(void)
{
	run_subpasses(false);
}

static void imageless(void)
{
	run_subpasses(true);
}

/* A subpass reads its own target, with a barrier between two draws. */
static VkRenderPass make_feedback(void)
{
	const VkAttachmentDescription attachment = {
		.format = RGBA8, .samples = ONE, .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		.initialLayout = VK_IMAGE_LAYOUT_GENERAL, .finalLayout = VK_IMAGE_LAYOUT_GENERAL,
	};
	const VkAttachmentReference self = { 0, VK_IMAGE_LAYOUT_GENERAL };
	const VkSubpassDescription subpass = {
		.colorAttachmentCount = 1, .pColorAttachments = &self,
		.inputAttachmentCount = 1, .pInputAttachments = &self,
	};
	const VkSubpassDependency dependency = {
		0, 0, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
		VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
		VK_ACCESS_INPUT_ATTACHMENT_READ_BIT, VK_DEPENDENCY_BY_REGION_BIT
	};
	const VkRenderPassCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
		.attachmentCount = 1,
		.pAttachments = &attachment,
		.subpassCount = 1,
		.pSubpasses = &subpass,
		.dependencyCount = 1,
		.pDependencies = &dependency,
	};
	VkRenderPass pass;

	VK(vkCreateRenderPass(vk.device, &info, NULL, &pass));
	return pass;
}

/* The second draw turns the components of the first one's color, in a part of it. */
static void record_draws(VkCommandBuffer cmd, VkPipeline first, VkPipeline second,
			 VkPipelineLayout own, VkDescriptorSet set, const VkRect2D *part)
{
	const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_INPUT_ATTACHMENT_READ_BIT,
	};

	draw_window(cmd, WIDTH, HEIGHT);
	fill(cmd, first);
	vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
			     VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, VK_DEPENDENCY_BY_REGION_BIT, 1,
			     &barrier, 0, NULL, 0, NULL);
	vkCmdSetScissor(cmd, 0, 1, part);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, second);
	vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, own, 0, 1, &set, 0, NULL);
	vkCmdDraw(cmd, 3, 1, 0, 0);
}

static VkCommandBuffer begin_secondary(const VkRenderPassBeginInfo *begin)
{
	const VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = vk.pool[0],
		.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
		.commandBufferCount = 1,
	};
	const VkCommandBufferInheritanceInfo inherited = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
		.renderPass = begin->renderPass,
		.framebuffer = begin->framebuffer,
	};
	const VkCommandBufferBeginInfo usage = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
		.pInheritanceInfo = &inherited,
	};
	VkCommandBuffer part;

	VK(vkAllocateCommandBuffers(vk.device, &info, &part));
	VK(vkBeginCommandBuffer(part, &usage));
	return part;
}

/* @secondary: the draws and the barrier are in a secondary command buffer. */
static void feedback(bool secondary)
{
	static const VkRect2D part = { { 20, 10 }, { 47, 60 } };
	static const uint8_t before[4] = { 255, 128, 0, 255 }, after[4] = { 0, 255, 128, 255 };
	const VkDescriptorSetLayoutBinding binding = { 0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1,
						       VK_SHADER_STAGE_FRAGMENT_BIT, NULL };
	struct draw_target t = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, ONE,
					   TARGET | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT);
	VkRenderPass pass = make_feedback();
	const VkFramebufferCreateInfo framebuffer = {
		.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
		.renderPass = pass, .attachmentCount = 1, .pAttachments = &t.view,
		.width = WIDTH, .height = HEIGHT, .layers = 1,
	};
	VkRenderPassBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
		.renderPass = pass, .renderArea = everything,
		.clearValueCount = 1, .pClearValues = &gray,
	};
	VkDescriptorPool pool = draw_pool(&vk);
	VkDescriptorSetLayout set_layout;
	VkDescriptorSet set = draw_set(&vk, pool, &binding, 1, &set_layout);
	VkPipelineLayout own = draw_layout(&vk, 1, &set_layout);
	VkPipeline first, second;
	VkCommandBuffer cmd, draws;

	VK(vkCreateFramebuffer(vk.device, &framebuffer, NULL, &begin.framebuffer));
	first = make_first(pass);
	second = make_second(pass, 0, own);
	draw_put(&vk, set, 0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, t.view, VK_NULL_HANDLE, NULL);
	draws = begin_secondary(&begin);
	record_draws(draws, first, second, own, set, &part);
	VK(vkEndCommandBuffer(draws));
	cmd = vk_begin(&vk, 0);
	vkCmdBeginRenderPass(cmd, &begin,
			     secondary ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS
				       : VK_SUBPASS_CONTENTS_INLINE);
	if (secondary)
		vkCmdExecuteCommands(cmd, 1, &draws);
	else
		record_draws(cmd, first, second, own, set, &part);
	vkCmdEndRenderPass(cmd);
	vk_end(&vk, 0, cmd);
	check(&t, before, &part, after);
	vkFreeCommandBuffers(vk.device, vk.pool[0], 1, &draws);
	vkDestroyPipeline(vk.device, first, NULL);
	vkDestroyPipeline(vk.device, second, NULL);
	vkDestroyPipelineLayout(vk.device, own, NULL);
	vkDestroyDescriptorPool(vk.device, pool, NULL);
	vkDestroyDescriptorSetLayout(vk.device, set_layout, NULL);
	vkDestroyFramebuffer(vk.device, begin.framebuffer, NULL);
	vkDestroyRenderPass(vk.device, pass, NULL);
	draw_drop(&vk, &t);
}

static void inlined(void)
{
	feedback(false);
}

static void in_secondary(void)
{
	feedback(true);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	layout = draw_layout(&vk, 0, NULL);
	ktap_run("subpasses with an input attachment", subpasses);
	ktap_run("a framebuffer without images", imageless);
	ktap_run("a subpass that reads its own target", inlined);
	ktap_run("a secondary command buffer that does", in_secondary);
	vkDestroyPipelineLayout(vk.device, layout, NULL);
	vk_close(&vk);
	return ktap_finish();
}
