/* SPDX-License-Identifier: MIT */
/* Queries: samples that pass, timestamps; results for the CPU and in buffers. */
#include "draw.h"

#include "full_frag.h"
#include "full_vert.h"

#define WIDTH	100
#define HEIGHT	70
#define QUERIES	4

static struct vk vk;
static VkPipelineLayout layout;

static VkQueryPool make_pool(VkQueryType type)
{
	const VkQueryPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = type,
		.queryCount = QUERIES,
	};
	VkQueryPool pool;

	VK(vkCreateQueryPool(vk.device, &info, NULL, &pool));
	return pool;
}

/* Draw the pixels of a scissor. */
static void draw(VkCommandBuffer cmd, uint32_t width, uint32_t height)
{
	const VkRect2D scissor = { { 7, 3 }, { width, height } };

	vkCmdSetScissor(cmd, 0, 1, &scissor);
	vkCmdDraw(cmd, 3, 1, 0, 0);
}

/*
 * Query 0 counts two draws, but not the clear between them; query 1 has none that passes; 2 says
 * whether there is any; query 3 never begins. Draws before, between and after them are in no
 * query. Without a target (@t is NULL), pipelines say how many samples there are.
 */
static void record(VkCommandBuffer cmd, VkQueryPool pool, VkPipeline pipeline,
		   const struct draw_target *t)
{
	const float push[5] = { 1, 1, 1, 1, 0.5f };
	const VkClearValue clear = { .color.float32 = { 0 } };
	const VkRenderingAttachmentInfo a = t ? draw_attachment(t, &clear)
					      : (VkRenderingAttachmentInfo){ 0 };
	const VkRenderingInfo pass = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea.extent = { WIDTH, HEIGHT },
		.layerCount = 1,
		.colorAttachmentCount = !!t,
		.pColorAttachments = &a,
	};
	const VkClearAttachment rest = { VK_IMAGE_ASPECT_COLOR_BIT, 0, clear };
	const VkClearRect rect = { { { 0, 0 }, { 50, 50 } }, 0, 1 };

	vkCmdResetQueryPool(cmd, pool, 0, QUERIES);
	draw_begin(&vk, cmd, &pass);
	draw_window(cmd, WIDTH, HEIGHT);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, sizeof(push), push);
	draw(cmd, 11, 11);
	vkCmdBeginQuery(cmd, pool, 0, VK_QUERY_CONTROL_PRECISE_BIT);
	draw(cmd, 40, 30);
	if (t)
		vkCmdClearAttachments(cmd, 1, &rest, 1, &rect);
	draw(cmd, 5, 9);
	vkCmdEndQuery(cmd, pool, 0);
	draw(cmd, 20, 20);
	vkCmdBeginQuery(cmd, pool, 1, VK_QUERY_CONTROL_PRECISE_BIT);
	draw(cmd, 0, 0);
	vkCmdEndQuery(cmd, pool, 1);
	vkCmdBeginQuery(cmd, pool, 2, 0);
	draw(cmd, 1, 1);
	vkCmdEndQuery(cmd, pool, 2);
	draw(cmd, 20, 20);
	draw_end(&vk, cmd);
}

static void check_copies(const struct vk_buf *b, uint32_t samples)
{
	const uint64_t *wide = b->map;
	const uint32_t *words = (const uint32_t *)b->map + 64;

	ktap_eq(wide[0], samples * (40 * 30 + 5 * 9));
	ktap_eq(wide[1], 1);
	ktap_eq(wide[4], 0);
	ktap_eq(wide[5], 1);
	ktap_ok(wide[8]);
	ktap_eq(wide[9], 1);
	ktap_eq(words[0], samples * (40 * 30 + 5 * 9));
	ktap_eq(words[1], 0x55555555);
	ktap_eq(words[2], 0);
}

static void count(VkSampleCountFlagBits samples, bool attached)
{
	const struct draw_pipe info = {
		.vs = full_vert, .vs_size = sizeof(full_vert),
		.fs = full_frag, .fs_size = sizeof(full_frag),
		.layout = layout,
		.colors = attached,
		.color = { VK_FORMAT_R8G8B8A8_UNORM },
		.samples = samples,
	};
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	struct draw_target t = draw_target(&vk, VK_FORMAT_R8G8B8A8_UNORM, WIDTH, HEIGHT, 1, samples,
					   VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
	VkQueryPool pool = make_pool(VK_QUERY_TYPE_OCCLUSION);
	struct vk_buf b = vk_buf_create(&vk, 1024, 0);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint64_t got[QUERIES][2];
	uint32_t shorts[3];

	memset(b.map, 0x55, 1024);
	memset(got, 0x55, sizeof(got));
	record(cmd, pool, pipeline, attached ? &t : NULL);
	vkCmdCopyQueryPoolResults(cmd, pool, 0, 3, b.buffer, 0, 32,
				  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
	vkCmdCopyQueryPoolResults(cmd, pool, 0, 2, b.buffer, 256, 8, 0);
	vk_end(&vk, 0, cmd);
	check_copies(&b, samples);
	ktap_eq(vkGetQueryPoolResults(vk.device, pool, 0, QUERIES, sizeof(got), got, 16,
				      VK_QUERY_RESULT_64_BIT |
					      VK_QUERY_RESULT_WITH_AVAILABILITY_BIT), VK_NOT_READY);
	ktap_eq(got[0][0], samples * (40 * 30 + 5 * 9));
	ktap_eq(got[0][1], 1);
	ktap_eq(got[1][0], 0);
	ktap_ok(got[2][0]);
	ktap_eq(got[3][0], 0x5555555555555555);
	ktap_eq(got[3][1], 0);
	ktap_eq(vkGetQueryPoolResults(vk.device, pool, 0, 3, sizeof(shorts), shorts, 4,
				      VK_QUERY_RESULT_WAIT_BIT), VK_SUCCESS);
	ktap_eq(shorts[0], samples * (40 * 30 + 5 * 9));
	vkDestroyQueryPool(vk.device, pool, NULL);
	vk_buf_destroy(&vk, &b);
	draw_drop(&vk, &t);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

static void occlusion(void)
{
	count(VK_SAMPLE_COUNT_1_BIT, true);
	count(VK_SAMPLE_COUNT_4_BIT, true);
}

static void unattached(void)
{
	count(VK_SAMPLE_COUNT_1_BIT, false);
	count(VK_SAMPLE_COUNT_4_BIT, false);
	count(VK_SAMPLE_COUNT_16_BIT, false);
}

/* A query of a secondary command buffer inside a pass. */
static void in_secondary(void)
{
	const struct draw_pipe info = {
		.vs = full_vert, .vs_size = sizeof(full_vert),
		.fs = full_frag, .fs_size = sizeof(full_frag),
		.layout = layout,
	};
	const VkCommandBufferAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = vk.pool[0],
		.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
		.commandBufferCount = 1,
	};
	const VkCommandBufferInheritanceRenderingInfo rendering = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO,
		.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
	};
	const VkCommandBufferInheritanceInfo inherited = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
		.pNext = &rendering,
	};
	const VkCommandBufferBeginInfo usage = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
		.pInheritanceInfo = &inherited,
	};
	const VkRenderingInfo pass = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.flags = VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT,
		.renderArea.extent = { WIDTH, HEIGHT },
		.layerCount = 1,
	};
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	VkQueryPool pool = make_pool(VK_QUERY_TYPE_OCCLUSION);
	VkCommandBuffer cmd, part;
	uint64_t got[2] = { 0 };

	VK(vkAllocateCommandBuffers(vk.device, &allocate, &part));
	VK(vkBeginCommandBuffer(part, &usage));
	draw_window(part, WIDTH, HEIGHT);
	vkCmdBindPipeline(part, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	vkCmdPushConstants(part, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, 20,
			   (float[5]){ 1, 1, 1, 1, 0.5f });
	vkCmdBeginQuery(part, pool, 0, VK_QUERY_CONTROL_PRECISE_BIT);
	draw(part, 40, 30);
	vkCmdEndQuery(part, pool, 0);
	VK(vkEndCommandBuffer(part));
	cmd = vk_begin(&vk, 0);
	vkCmdResetQueryPool(cmd, pool, 0, QUERIES);
	draw_begin(&vk, cmd, &pass);
	vkCmdExecuteCommands(cmd, 1, &part);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	ktap_eq(vkGetQueryPoolResults(vk.device, pool, 0, 1, sizeof(got), got, 16,
				      VK_QUERY_RESULT_64_BIT |
					      VK_QUERY_RESULT_WITH_AVAILABILITY_BIT), VK_SUCCESS);
	ktap_eq(got[0], 40 * 30);
	ktap_eq(got[1], 1);
	vkFreeCommandBuffers(vk.device, vk.pool[0], 1, &part);
	vkDestroyQueryPool(vk.device, pool, NULL);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

/* The clock goes on between a copy's ends, on each family of queues. */
static void timestamps(uint32_t family)
{
	VkQueryPool pool = make_pool(VK_QUERY_TYPE_TIMESTAMP);
	struct vk_buf b = vk_buf_create(&vk, 4 << 20, 0);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint64_t got[2];

	vkCmdResetQueryPool(cmd, pool, 0, QUERIES);
	vk_end(&vk, 0, cmd);
	cmd = vk_begin(&vk, family);
	vkCmdWriteTimestamp(cmd, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, 0);
	vkCmdFillBuffer(cmd, b.buffer, 0, VK_WHOLE_SIZE, 7);
	vkCmdWriteTimestamp(cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 1);
	vk_end(&vk, family, cmd);
	ktap_eq(vkGetQueryPoolResults(vk.device, pool, 0, 2, sizeof(got), got, 8,
				      VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
		VK_SUCCESS);
	ktap_ok(got[0] > 0 && got[1] > got[0]);
	/* the CPU resets one of them */
	VK_FUNCTION(&vk, vkResetQueryPoolEXT)(vk.device, pool, 1, 1);
	ktap_eq(vkGetQueryPoolResults(vk.device, pool, 0, 1, 8, got, 8, VK_QUERY_RESULT_64_BIT),
		VK_SUCCESS);
	ktap_eq(vkGetQueryPoolResults(vk.device, pool, 1, 1, 8, got, 8, VK_QUERY_RESULT_64_BIT),
		VK_NOT_READY);
	vkDestroyQueryPool(vk.device, pool, NULL);
	vk_buf_destroy(&vk, &b);
}

static void clocks(void)
{
	timestamps(0);
	timestamps(1);
}

int main(int argc, char **argv)
{
	static const char *const extensions[] = { DRAW_EXTENSIONS,
						  VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME, NULL };

	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	layout = draw_layout(&vk, 0, NULL);
	ktap_run("samples that pass", occlusion);
	ktap_run("samples that pass, without attachments", unattached);
	ktap_run("a query of a secondary command buffer", in_secondary);
	ktap_run("timestamps", clocks);
	vkDestroyPipelineLayout(vk.device, layout, NULL);
	vk_close(&vk);
	return ktap_finish();
}
