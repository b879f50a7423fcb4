/* SPDX-License-Identifier: MIT */
/*
 * Clip and cull distances, wide lines: the pixels that are covered, and what shaders read. Colors
 * of several outputs. Shading of each sample. Clears of parts.
 */
#include "draw.h"

#include "clip_frag.h"
#include "clip_vert.h"
#include "clipped_vert.h"
#include "line_frag.h"
#include "line_vert.h"
#include "lone_frag.h"
#include "parts_frag.h"
#include "places_frag.h"

#define SIDE	64
#define FORMAT	VK_FORMAT_R32G32B32A32_SFLOAT
#define NOTHING	-5.0f		/* the clear color */

static const char *const extensions[] = { DRAW_EXTENSIONS, NULL };
static struct vk vk;
static struct draw_target target;
static VkPipelineLayout layout;

/*
 * Draw with some push constants, and read the target; free() it. @samples: NULL, or a target whose
 * samples are resolved to that one.
 */
static float *draw_samples(VkPipeline pipeline, const float *push, uint32_t count,
			   uint32_t vertices, const struct draw_target *samples)
{
	const VkClearValue clear = { .color.float32 = { NOTHING, NOTHING, NOTHING, NOTHING } };
	VkRenderingAttachmentInfo a = draw_attachment(samples ? samples : &target, &clear);
	const VkRenderingInfo info = { .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
				       .renderArea.extent = { SIDE, SIDE },
				       .layerCount = 1,
				       .colorAttachmentCount = 1,
				       .pColorAttachments = &a };
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	if (samples) {
		a.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
		a.resolveImageView = target.view;
		a.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
	}
	draw_begin(&vk, cmd, &info);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	draw_window(cmd, SIDE, SIDE);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, 4 * count, push);
	vkCmdDraw(cmd, vertices, 1, 0, 0);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	return draw_read(&vk, &target, 0, VK_IMAGE_ASPECT_COLOR_BIT, 16);
}

static float *draw(VkPipeline pipeline, const float *push, uint32_t count, uint32_t vertices)
{
	return draw_samples(pipeline, push, count, vertices, NULL);
}

/* ---- Distances ------------------------------------------------------------------------------- */

static bool is_near(float a, float b)
{
	return a - b < 0.01f && b - a < 0.01f;
}

/* Pixels right of column @left and below row @top are drawn, with their distances. */
static void check_distances(const float *got, int left, int top)
{
	uint32_t bad = 0;

	for (int i = 0; i < SIDE * SIDE; i++) {
		const int x = i % SIDE, y = i / SIDE;
		const float *p = got + 4 * i;

		if (x < left || y < top)
			bad += p[0] != NOTHING;
		else
			bad += !is_near(p[0], x + 0.5f - left) || p[1] != 1 ||
			       !is_near(p[2], y + 0.5f - top);
	}
	ktap_eq(bad, 0);
}

/* @count: cases that the vertex shader has distances for. */
static void draw_distances(const uint32_t *vs, size_t vs_size, unsigned count)
{
	const struct draw_pipe pipe = { .vs = vs, .vs_size = vs_size,
					.fs = clip_frag, .fs_size = sizeof(clip_frag),
					.layout = layout, .colors = 1, .color = { FORMAT } };
	/* where it is clipped, and the cull distances of the three corners */
	static const struct {
		float push[5];
		int left, top;
	} cases[] = {
		{ { 0, 0, 1, 1, 1 }, 0, 0 },	    { { 20, 0, 1, 1, 1 }, 20, 0 },
		{ { 0, 33, 1, 1, 1 }, 0, 33 },	    { { 11, 50, 1, 1, 1 }, 11, 50 },
		{ { 5, 5, -1, 1, -1 }, 5, 5 },	    { { 5, 5, -1, -1, 1 }, 5, 5 },
		{ { 5, 5, -1, -1, -1 }, SIDE, SIDE },
	};
	VkPipeline pipeline = draw_pipeline(&vk, &pipe);

	for (unsigned i = 0; i < count; i++) {
		float *got = draw(pipeline, cases[i].push, 5, 3);

		check_distances(got, cases[i].left, cases[i].top);
		free(got);
	}
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

static void distances(void)
{
	draw_distances(DRAW_CODE(clip_vert), 7);
	draw_distances(DRAW_CODE(clipped_vert), 4);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* An axis-aligned line covers a rectangle: its own pixels, but for the last, @width times. */
static void check_line(const float *got, const float ends[4], int width)
{
	const bool flat = ends[1] == ends[3];
	const int first = (int)ends[!flat], last = (int)ends[2 + !flat], middle = (int)ends[flat];
	uint32_t bad = 0;

	for (int i = 0; i < SIDE * SIDE; i++) {
		const int along = flat ? i % SIDE : i / SIDE, across = flat ? i / SIDE : i % SIDE;
		const bool in = along >= first && along < last && across >= middle - width / 2 &&
				across <= middle + (width - 1) / 2;

		bad += got[4 * i] != (in ? 1 : NOTHING);
	}
	ktap_eq(bad, 0);
}

static void lines(void)
{
	static const int widths[] = { 1, 3, 7, 21 };
	static const float ends[][4] = { { 10.5f, 30.5f, 50.5f, 30.5f },
					 { 25.5f, 4.5f, 25.5f, 61.5f } };
	struct draw_pipe pipe = { .vs = line_vert, .vs_size = sizeof(line_vert),
				  .fs = line_frag, .fs_size = sizeof(line_frag),
				  .layout = layout, .colors = 1, .color = { FORMAT },
				  .topology = VK_PRIMITIVE_TOPOLOGY_LINE_LIST };

	ktap_ok(vk.properties.limits.lineWidthRange[1] >= 21);
	for (unsigned i = 0; i < 8; i++) {
		VkPipeline pipeline;
		float *got;

		pipe.line_width = (float)widths[i / 2];
		pipeline = draw_pipeline(&vk, &pipe);
		got = draw(pipeline, ends[i % 2], 4, 2);
		check_line(got, ends[i % 2], widths[i / 2]);
		free(got);
		vkDestroyPipeline(vk.device, pipeline, NULL);
	}
}

/* ---- Colors ---------------------------------------------------------------------------------- */

/* Component i of the color is i + 1, if its bit is in @components. */
static void draw_parts(const uint32_t *fs, size_t fs_size, unsigned components)
{
	const struct draw_pipe pipe = { .vs = clipped_vert, .vs_size = sizeof(clipped_vert),
					.fs = fs, .fs_size = fs_size,
					.layout = layout, .colors = 1, .color = { FORMAT } };
	VkPipeline pipeline = draw_pipeline(&vk, &pipe);
	float *got = draw(pipeline, (float[2]){ 0, 0 }, 2, 3);
	uint32_t bad = 0;

	for (int i = 0; i < SIDE * SIDE * 4; i++)
		bad += components >> i % 4 & 1 && got[i] != (float)(i % 4 + 1);
	ktap_eq(bad, 0);
	free(got);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

static void parts(void)
{
	draw_parts(DRAW_CODE(lone_frag), 1 << 2);
	draw_parts(DRAW_CODE(parts_frag), 0xf);
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* The mean of the squares is 0.25 if all samples were shaded at the pixel's center. */
static void places(void)
{
	const struct draw_pipe pipe = { .vs = clipped_vert, .vs_size = sizeof(clipped_vert),
					.fs = places_frag, .fs_size = sizeof(places_frag),
					.layout = layout, .colors = 1, .color = { FORMAT },
					.samples = VK_SAMPLE_COUNT_4_BIT, .sample_shading = 1 };
	VkPipeline pipeline = draw_pipeline(&vk, &pipe);
	struct draw_target samples = draw_target(&vk, FORMAT, SIDE, SIDE, 1, VK_SAMPLE_COUNT_4_BIT,
						 VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
	float *got = draw_samples(pipeline, (float[2]){ 0, 0 }, 2, 3, &samples);
	uint32_t bad = 0;

	/* the standard places: 1/8, 3/8, 5/8 and 7/8 of each side */
	for (int i = 0; i < SIDE * SIDE * 4; i++)
		bad += !is_near(got[i], i % 4 == 3 ? 1 : (1 + 9 + 25 + 49) / 64.0f / 4);
	ktap_eq(bad, 0);
	free(got);
	draw_drop(&vk, &samples);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

static struct draw_target depth_target(VkSampleCountFlagBits samples)
{
	return draw_target(&vk, VK_FORMAT_D32_SFLOAT, SIDE, SIDE, 1, samples,
			   VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT);
}

/* A draw without a color target, whose alpha covers all samples, writes their depth. */
static void coverage(void)
{
	const struct draw_pipe pipe = {
		.vs = clipped_vert, .vs_size = sizeof(clipped_vert),
		.fs = line_frag, .fs_size = sizeof(line_frag),
		.layout = layout, .depth = VK_FORMAT_D32_SFLOAT,
		.samples = VK_SAMPLE_COUNT_4_BIT, .alpha_to_coverage = true,
		.ds = { .depthTestEnable = VK_TRUE, .depthWriteEnable = VK_TRUE,
			.depthCompareOp = VK_COMPARE_OP_ALWAYS },
	};
	const VkClearValue clear = { .depthStencil = { 1, 0 } };
	VkPipeline pipeline = draw_pipeline(&vk, &pipe);
	struct draw_target four = depth_target(VK_SAMPLE_COUNT_4_BIT),
			   one = depth_target(VK_SAMPLE_COUNT_1_BIT);
	VkRenderingAttachmentInfo a = draw_attachment(&four, &clear);
	const VkRenderingInfo info = { .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
				       .renderArea.extent = { SIDE, SIDE },
				       .layerCount = 1,
				       .pDepthAttachment = &a };
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint32_t bad = 0;
	float *got;

	a.resolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT;
	a.resolveImageView = one.view;
	a.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
	draw_begin(&vk, cmd, &info);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	draw_window(cmd, SIDE, SIDE);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, 8, (float[2]){ 0, 0 });
	vkCmdDraw(cmd, 3, 1, 0, 0);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	got = draw_read(&vk, &one, 0, VK_IMAGE_ASPECT_DEPTH_BIT, 4);
	for (int i = 0; i < SIDE * SIDE; i++)
		bad += got[i] != 0.5f;
	ktap_eq(bad, 0);
	free(got);
	draw_drop(&vk, &four);
	draw_drop(&vk, &one);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

/* ---- Clears ---------------------------------------------------------------------------------- */

/* Draw to depth 0.5. The next pass clears the color of a part, and keeps depth. */
static void cleared_part(void)
{
	const struct draw_pipe pipe = {
		.vs = clipped_vert, .vs_size = sizeof(clipped_vert),
		.fs = line_frag, .fs_size = sizeof(line_frag),
		.layout = layout, .colors = 1, .color = { FORMAT }, .depth = VK_FORMAT_D32_SFLOAT,
		.ds = { .depthTestEnable = VK_TRUE, .depthWriteEnable = VK_TRUE,
			.depthCompareOp = VK_COMPARE_OP_ALWAYS },
	};
	const VkClearValue clear = { .depthStencil = { 0.25f, 0 } };
	VkPipeline pipeline = draw_pipeline(&vk, &pipe);
	struct draw_target d = depth_target(VK_SAMPLE_COUNT_1_BIT);
	VkRenderingAttachmentInfo a = draw_attachment(&target, &clear),
				  depth = draw_attachment(&d, &clear);
	VkRenderingInfo info = { .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
				 .renderArea.extent = { SIDE, SIDE },
				 .layerCount = 1,
				 .colorAttachmentCount = 1,
				 .pColorAttachments = &a,
				 .pDepthAttachment = &depth };
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint32_t bad = 0;
	float *got;

	draw_begin(&vk, cmd, &info);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	draw_window(cmd, SIDE, SIDE);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, 8, (float[2]){ 0, 0 });
	vkCmdDraw(cmd, 3, 1, 0, 0);
	draw_end(&vk, cmd);
	vk_order(cmd);
	depth = draw_attachment(&d, NULL);
	info.renderArea.extent = (VkExtent2D){ SIDE / 2, SIDE / 2 };
	draw_begin(&vk, cmd, &info);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	got = draw_read(&vk, &d, 0, VK_IMAGE_ASPECT_DEPTH_BIT, 4);
	for (int i = 0; i < SIDE * SIDE; i++)
		bad += got[i] != 0.5f;
	ktap_eq(bad, 0);
	free(got);
	draw_drop(&vk, &d);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	layout = draw_layout(&vk, 0, NULL);
	target = draw_target(&vk, FORMAT, SIDE, SIDE, 1, VK_SAMPLE_COUNT_1_BIT,
			     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
	ktap_run("clip and cull distances", distances);
	ktap_run("wide lines", lines);
	ktap_run("colors of several outputs", parts);
	ktap_run("shading of each sample", places);
	ktap_run("coverage of alpha without a color target", coverage);
	ktap_run("a clear of a part that keeps depth", cleared_part);
	draw_drop(&vk, &target);
	vkDestroyPipelineLayout(vk.device, layout, NULL);
	vk_close(&vk);
	return ktap_finish();
}
