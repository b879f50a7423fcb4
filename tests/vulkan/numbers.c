/* SPDX-License-Identifier: MIT */
/* Shaders read the number of their draw, its first vertex and its first instance. */
#include "draw.h"

#include "numbers_frag.h"
#include "numbers_vert.h"

#define SIDE	32
#define FORMAT	VK_FORMAT_R32G32B32A32_UINT
#define DRAWS	5
#define GROUPS	4

static const char *const extensions[] = { DRAW_EXTENSIONS,
					  VK_KHR_SHADER_DRAW_PARAMETERS_EXTENSION_NAME, NULL };
static struct vk vk;
static struct draw_target target;
static VkPipelineLayout layout;
static VkPipeline pipeline;

/* A point that each draw of a group makes, in each instance. */
struct point {
	uint32_t draw, base_vertex, base_instance, vertex;
};

/* Instances of draw @i of a group. */
static uint32_t instances_of(uint32_t i)
{
	return i + 1;
}

static struct point point_of(uint32_t group, uint32_t i)
{
	const uint32_t draw = group < 2 ? 0 : i, first = 100 * group + 7 * i;
	struct point p = { draw, first, 10 * i + group, first };

	/* indexed draws read index 3 + i, which is 40 + i, and add the base vertex */
	if (group & 1)
		p.vertex = first + 40 + i;
	return p;
}

static void record(VkCommandBuffer cmd, uint32_t group, const struct vk_buf *arguments)
{
	uint32_t i;

	for (i = 0; i < (group < 2 ? 1 : DRAWS); i++) {
		const struct point p = point_of(group, i);
		const VkDrawIndirectCommand direct = { 1, instances_of(i), p.base_vertex,
						       p.base_instance };
		const VkDrawIndexedIndirectCommand indexed = { 1, instances_of(i), 3 + i,
							       (int32_t)p.base_vertex,
							       p.base_instance };
		uint8_t *at = (uint8_t *)arguments->map + 1024 * (group & 1) + 32 * i;

		if (group == 0)
			vkCmdDraw(cmd, 1, instances_of(i), p.base_vertex, p.base_instance);
		else if (group == 1)
			vkCmdDrawIndexed(cmd, 1, instances_of(i), 3 + i, (int32_t)p.base_vertex,
					 p.base_instance);
		else if (group == 2)
			memcpy(at, &direct, sizeof(direct));
		else
			memcpy(at, &indexed, sizeof(indexed));
	}
	if (group == 2)
		vkCmdDrawIndirect(cmd, arguments->buffer, 0, DRAWS, 32);
	if (group == 3)
		vkCmdDrawIndexedIndirect(cmd, arguments->buffer, 1024, DRAWS, 32);
}

static void check(void)
{
	const struct point *got = draw_read(&vk, &target, 0, VK_IMAGE_ASPECT_COLOR_BIT, 16);
	uint32_t group, i, y, bad = 0;

	for (group = 0; group < GROUPS; group++) {
		for (i = 0; i < 8; i++) {
			for (y = 0; y < SIDE; y++) {
				const bool in = i < (group < 2 ? 1 : DRAWS) && y < instances_of(i);
				const struct point none = { 0 }, want = point_of(group, i);

				bad += !!memcmp(&got[SIDE * y + 8 * group + i],
						in ? &want : &none, sizeof(want));
			}
		}
	}
	ktap_eq(bad, 0);
	free((void *)got);
}

static void numbers(void)
{
	const VkClearValue clear = { .color.uint32 = { 0 } };
	const VkRenderingAttachmentInfo a = draw_attachment(&target, &clear);
	const VkRenderingInfo info = { .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
				       .renderArea.extent = { SIDE, SIDE },
				       .layerCount = 1,
				       .colorAttachmentCount = 1,
				       .pColorAttachments = &a };
	struct vk_buf arguments = vk_buf_create(&vk, 2048, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT),
		      indices = vk_buf_create(&vk, 64, VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint16_t *index = indices.map;
	uint32_t i;

	for (i = 0; i < 32; i++)
		index[i] = (uint16_t)(37 + i);
	draw_begin(&vk, cmd, &info);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	draw_window(cmd, SIDE, SIDE);
	vkCmdBindIndexBuffer(cmd, indices.buffer, 0, VK_INDEX_TYPE_UINT16);
	for (i = 0; i < GROUPS; i++) {
		vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, 4, &i);
		record(cmd, i, &arguments);
	}
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	check();
	vk_buf_destroy(&vk, &arguments);
	vk_buf_destroy(&vk, &indices);
}

int main(int argc, char **argv)
{
	struct draw_pipe pipe = { .vs = numbers_vert, .vs_size = sizeof(numbers_vert),
				  .fs = numbers_frag, .fs_size = sizeof(numbers_frag),
				  .colors = 1, .color = { FORMAT }, .topology = DRAW_POINTS };

	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	pipe.layout = layout = draw_layout(&vk, 0, NULL);
	pipeline = draw_pipeline(&vk, &pipe);
	target = draw_target(&vk, FORMAT, SIDE, SIDE, 1, VK_SAMPLE_COUNT_1_BIT,
			     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
	ktap_run("numbers of draws, vertices and instances", numbers);
	vkDestroyPipeline(vk.device, pipeline, NULL);
	draw_drop(&vk, &target);
	vkDestroyPipelineLayout(vk.device, layout, NULL);
	vk_close(&vk);
	return ktap_finish();
}
