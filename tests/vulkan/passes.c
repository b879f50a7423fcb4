/* SPDX-License-Identifier: MIT */
/*
 * Passes: load and store operations, parts of images, clears of attachments, samples and their
 * resolution, views, secondary command buffers; fixed functions; scaled copies.
 */
#include <math.h>

#include "draw.h"
#include "rnd.h"

#include "full_frag.h"
#include "full_vert.h"
#include "samples_frag.h"
#include "textured_frag.h"
#include "views_frag.h"
#include "views_vert.h"

#define WIDTH	150
#define HEIGHT	90
#define TARGET	VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
#define COLOR	VK_IMAGE_ASPECT_COLOR_BIT
#define RGBA8	VK_FORMAT_R8G8B8A8_UNORM
#define ONE	VK_SAMPLE_COUNT_1_BIT

static struct vk vk;
static VkPipelineLayout layout;

struct push {
	float color[4], depth;
};

static const VkClearValue gray = { .color.float32 = { 0.2f, 0.4f, 0.6f, 0.8f } };
static const uint8_t gray8[4] = { 51, 102, 153, 204 };

static struct draw_pipe full(void)
{
	return (struct draw_pipe){
		.vs = full_vert, .vs_size = sizeof(full_vert),
		.fs = full_frag, .fs_size = sizeof(full_frag),
		.layout = layout,
		.colors = 1,
		.color = { RGBA8 },
	};
}

static VkRenderingInfo pass_of(const VkRenderingAttachmentInfo *color, VkRect2D area)
{
	return (VkRenderingInfo){
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea = area,
		.layerCount = 1,
		.colorAttachmentCount = 1,
		.pColorAttachments = color,
	};
}

static const VkRect2D everything = { { 0, 0 }, { WIDTH, HEIGHT } };

/* Draw the whole target with a color at a depth. */
static void fill(VkCommandBuffer cmd, VkPipeline pipeline, float r, float g, float b, float a,
		 float depth)
{
	const struct push push = { { r, g, b, a }, depth };

	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, sizeof(push), &push);
	vkCmdDraw(cmd, 3, 1, 0, 0);
}

static bool inside(const VkRect2D *r, int x, int y)
{
	return x >= r->offset.x && x < r->offset.x + (int)r->extent.width && y >= r->offset.y &&
	       y < r->offset.y + (int)r->extent.height;
}

static uint8_t want[HEIGHT][WIDTH][4];

static void expect(const VkRect2D *r, const uint8_t color[4])
{
	int x, y;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++) {
			if (inside(r, x, y))
				memcpy(want[y][x], color, 4);
		}
}

static void check(const struct draw_target *t, uint32_t layer, int most)
{
	uint8_t *got = draw_read(&vk, t, layer, COLOR, 4);
	int x, y, c, bad = 0;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++)
			for (c = 0; c < 4; c++) {
				const int is = got[4 * (y * WIDTH + x) + c];

				if (abs(is - want[y][x][c]) > most && !bad++)
					ktap_fail("pixel (%d, %d) component %d: expected %d, "
						  "got %d", x, y, c, want[y][x][c], is);
			}
	ktap_eq(bad, 0);
	free(got);
}

/* ---- Areas ----------------------------------------------------------------------------------- */

/* A pass clears a part of an image; a second one draws to a part of what it loads. */
static void areas(void)
{
	static const VkRect2D cleared = { { 13, 7 }, { 100, 70 } },
			      drawn = { { 60, 30 }, { 77, 33 } };
	static const uint8_t first[4] = { 255, 0, 255, 0 }, third[4] = { 0, 255, 0, 255 };
	const VkClearColorValue start = { .float32 = { 1, 0, 1, 0 } };
	const VkImageSubresourceRange all = { COLOR, 0, 1, 0, 1 };
	const struct draw_pipe info = full();
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	struct draw_target t = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, ONE, TARGET);
	VkRenderingAttachmentInfo a = draw_attachment(&t, &gray);
	VkRenderingInfo pass = pass_of(&a, cleared);
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	vkCmdClearColorImage(cmd, t.img.image, VK_IMAGE_LAYOUT_GENERAL, &start, 1, &all);
	vk_order(cmd);
	draw_begin(&vk, cmd, &pass);
	draw_end(&vk, cmd);
	vk_order(cmd);
	a = draw_attachment(&t, NULL);
	pass = pass_of(&a, drawn);
	draw_begin(&vk, cmd, &pass);
	draw_window(cmd, WIDTH, HEIGHT);
	fill(cmd, pipeline, 0, 1, 0, 1, 0.5f);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	expect(&everything, first);
	expect(&cleared, gray8);
	expect(&drawn, third);
	check(&t, 0, 0);
	draw_drop(&vk, &t);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

/* Rectangles of two layers are cleared between draws, whose state stays. */
static void clear_attachments(void)
{
	static const VkClearRect rects[2] = { { { { 10, 5 }, { 40, 50 } }, 0, 2 },
					      { { { 100, 60 }, { 50, 30 } }, 1, 1 } };
	static const uint8_t red[4] = { 255, 0, 0, 255 }, blue[4] = { 0, 0, 255, 255 };
	static const VkRect2D strip = { { 0, 40 }, { WIDTH, 10 } };
	const VkClearAttachment clear = { COLOR, 0, { .color.float32 = { 1, 0, 0, 1 } } };
	const struct draw_pipe info = full();
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	struct draw_target t = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 2, ONE, TARGET);
	const VkRenderingAttachmentInfo a = draw_attachment(&t, &gray);
	VkRenderingInfo pass = pass_of(&a, everything);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	unsigned i;

	pass.layerCount = 2;
	draw_begin(&vk, cmd, &pass);
	draw_window(cmd, WIDTH, HEIGHT);
	vkCmdSetScissor(cmd, 0, 1, &strip);
	fill(cmd, pipeline, 1, 1, 1, 1, 0.5f);
	vkCmdClearAttachments(cmd, 1, &clear, 2, rects);
	/* the same pipeline, scissor and push constants but for the color */
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, 16,
			   (float[4]){ 0, 0, 1, 1 });
	vkCmdDraw(cmd, 3, 1, 0, 0);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < 2; i++) {
		expect(&everything, gray8);
		expect(&rects[0].rect, red);
		if (i)
			expect(&rects[1].rect, red);
		else
			expect(&strip, blue);
		check(&t, i, 0);
	}
	draw_drop(&vk, &t);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

/* ---- Depth, stencil, blending ---------------------------------------------------------------- */

static struct draw_target depth_target(VkSampleCountFlagBits samples)
{
	return draw_target(&vk, VK_FORMAT_D32_SFLOAT_S8_UINT, WIDTH, HEIGHT, 1, samples,
			   VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT);
}

static struct draw_pipe with_depth(void)
{
	struct draw_pipe info = full();

	info.depth = info.stencil = VK_FORMAT_D32_SFLOAT_S8_UINT;
	info.ds.depthTestEnable = VK_TRUE;
	info.ds.depthWriteEnable = VK_TRUE;
	info.ds.depthCompareOp = VK_COMPARE_OP_LESS;
	info.ds.stencilTestEnable = VK_TRUE;
	info.ds.front = (VkStencilOpState){ VK_STENCIL_OP_KEEP, VK_STENCIL_OP_INCREMENT_AND_WRAP,
					    VK_STENCIL_OP_DECREMENT_AND_WRAP, VK_COMPARE_OP_ALWAYS,
					    0xff, 0xff, 0 };
	info.ds.back = info.ds.front;
	return info;
}

/* A pass that clears a part of both. */
static void depth_area(void)
{
	static const VkRect2D cleared = { { 13, 7 }, { 100, 70 } };
	const VkClearDepthStencilValue start = { 1, 3 };
	const VkClearValue clear = { .depthStencil = { 0.25f, 200 } };
	const VkImageAspectFlags both = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
	const VkImageSubresourceRange all = { both, 0, 1, 0, 1 };
	struct draw_target t = depth_target(ONE);
	const VkRenderingAttachmentInfo a = draw_attachment(&t, &clear);
	VkRenderingInfo pass = pass_of(NULL, cleared);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint8_t *stencil;
	float *depth;
	int i, bad = 0;

	vkCmdClearDepthStencilImage(cmd, t.img.image, VK_IMAGE_LAYOUT_GENERAL, &start, 1, &all);
	vk_order(cmd);
	pass.colorAttachmentCount = 0;
	pass.pDepthAttachment = pass.pStencilAttachment = &a;
	draw_begin(&vk, cmd, &pass);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	depth = draw_read(&vk, &t, 0, VK_IMAGE_ASPECT_DEPTH_BIT, 4);
	stencil = draw_read(&vk, &t, 0, VK_IMAGE_ASPECT_STENCIL_BIT, 1);
	for (i = 0; i < WIDTH * HEIGHT; i++) {
		const bool in = inside(&cleared, i % WIDTH, i / WIDTH);

		bad += depth[i] != (in ? 0.25f : 1) || stencil[i] != (in ? 200 : 3);
	}
	ktap_eq(bad, 0);
	free(depth);
	free(stencil);
	draw_drop(&vk, &t);
}

/* The nearest of several layers stays; stencil counts what passed, less what failed. */
static void depth_and_stencil(void)
{
	static const VkRect2D left = { { 0, 0 }, { 70, HEIGHT } };
	static const uint8_t red[4] = { 255, 0, 0, 255 }, green[4] = { 0, 255, 0, 255 };
	const VkClearValue depth_clear = { .depthStencil = { 0.75f, 10 } };
	const struct draw_pipe info = with_depth();
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	struct draw_target t = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, ONE, TARGET),
			   z = depth_target(ONE);
	const VkRenderingAttachmentInfo a = draw_attachment(&t, &gray),
					ds = draw_attachment(&z, &depth_clear);
	VkRenderingInfo pass = pass_of(&a, everything);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint8_t *stencil;
	float *depth;
	int i, bad = 0;

	pass.pDepthAttachment = pass.pStencilAttachment = &ds;
	draw_begin(&vk, cmd, &pass);
	draw_window(cmd, WIDTH, HEIGHT);
	fill(cmd, pipeline, 1, 1, 1, 1, 0.875f);	/* behind the clear: 9 */
	vkCmdSetScissor(cmd, 0, 1, &left);
	fill(cmd, pipeline, 1, 0, 0, 1, 0.25f);		/* 10 */
	vkCmdSetScissor(cmd, 0, 1, &everything);
	fill(cmd, pipeline, 0, 1, 0, 1, 0.5f);		/* left 9, right 10 */
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	expect(&everything, green);
	expect(&left, red);
	check(&t, 0, 0);
	depth = draw_read(&vk, &z, 0, VK_IMAGE_ASPECT_DEPTH_BIT, 4);
	stencil = draw_read(&vk, &z, 0, VK_IMAGE_ASPECT_STENCIL_BIT, 1);
	for (i = 0; i < WIDTH * HEIGHT; i++) {
		const bool near = i % WIDTH < 70;

		bad += depth[i] != (near ? 0.25f : 0.5f) || stencil[i] != (near ? 9 : 10);
	}
	ktap_eq(bad, 0);
	free(depth);
	free(stencil);
	draw_drop(&vk, &t);
	draw_drop(&vk, &z);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

/* Factors of source and destination, then a mask. */
static void blending(void)
{
	const VkPipelineColorBlendAttachmentState alpha = {
		VK_TRUE, VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
		VK_BLEND_OP_ADD, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE,
		VK_BLEND_OP_REVERSE_SUBTRACT, 0xf
	};
	struct draw_pipe info = full();
	struct draw_target t = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, ONE, TARGET);
	const VkRenderingAttachmentInfo a = draw_attachment(&t, &gray);
	const VkRenderingInfo pass = pass_of(&a, everything);
	VkPipeline blend, masked;
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	/* 0.25 of (1, 0.5, 0) and 0.75 of gray; alpha 0.8 - 0.25; then blue alone */
	const uint8_t mixed[4] = { 102, 108, 255, 140 };

	info.blend = true;
	info.blending = alpha;
	blend = draw_pipeline(&vk, &info);
	info.blending = (VkPipelineColorBlendAttachmentState){ .colorWriteMask = 4 };
	masked = draw_pipeline(&vk, &info);
	draw_begin(&vk, cmd, &pass);
	draw_window(cmd, WIDTH, HEIGHT);
	fill(cmd, blend, 1, 0.5f, 0, 0.25f, 0.5f);
	fill(cmd, masked, 0, 0, 1, 0, 0.5f);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	expect(&everything, mixed);
	check(&t, 0, 1);
	draw_drop(&vk, &t);
	vkDestroyPipeline(vk.device, blend, NULL);
	vkDestroyPipeline(vk.device, masked, NULL);
}

/* ---- Shaders' resources ---------------------------------------------------------------------- */

/* Level n of the picture has one color, n * 40 in each component. */
static struct vk_img make_levels(void)
{
	struct vk_img img = vk_img_create(&vk, VK_IMAGE_TYPE_2D, RGBA8, (VkExtent3D){ 64, 64, 1 },
					  5, 1, VK_IMAGE_USAGE_SAMPLED_BIT |
							VK_IMAGE_USAGE_TRANSFER_DST_BIT, 0, ONE);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint32_t l;

	for (l = 0; l < 5; l++) {
		const float c = (float)(40 * l) / 255;
		const VkClearColorValue color = { .float32 = { c, c, c, c } };
		const VkImageSubresourceRange range = { COLOR, l, 1, 0, 1 };

		vkCmdClearColorImage(cmd, img.image, VK_IMAGE_LAYOUT_GENERAL, &color, 1, &range);
	}
	vk_order(cmd);
	vk_end(&vk, 0, cmd);
	return img;
}

/* The resources of the shader. */
struct resources {
	VkDescriptorPool pool;
	VkDescriptorSetLayout set_layout;
	VkDescriptorSet set;
	struct vk_img levels;
	VkImageView picture;
	VkSampler sampler;
	struct draw_target visits;
	struct vk_buf uniform, count;
};

static void make_resources(struct resources *r)
{
	const VkSamplerCreateInfo sampler = {
		.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
		.mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR,
		.magFilter = VK_FILTER_LINEAR, .minFilter = VK_FILTER_LINEAR,
		.maxLod = VK_LOD_CLAMP_NONE,
	};
	const VkShaderStageFlags fs = VK_SHADER_STAGE_FRAGMENT_BIT;
	const VkDescriptorSetLayoutBinding bindings[] = {
		{ 0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, fs, NULL },
		{ 1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, fs, NULL },
		{ 2, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, fs, NULL },
		{ 3, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, fs, NULL },
	};
	const float block[6] = { 1, 0.5f, 0.25f, 1, 4, 4 };

	r->pool = draw_pool(&vk);
	r->set = draw_set(&vk, r->pool, bindings, 4, &r->set_layout);
	r->levels = make_levels();
	r->picture = vk_view(&vk, &r->levels, VK_IMAGE_VIEW_TYPE_2D, RGBA8, NULL);
	r->visits = draw_target(&vk, VK_FORMAT_R32_UINT, 8, 8, 1, ONE, VK_IMAGE_USAGE_STORAGE_BIT);
	r->uniform = vk_buf_create(&vk, 64, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
	r->count = vk_buf_create(&vk, 64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
	VK(vkCreateSampler(vk.device, &sampler, NULL, &r->sampler));
	memcpy(r->uniform.map, block, sizeof(block));
	memset(r->count.map, 0, 64);
	draw_put(&vk, r->set, 0, bindings[0].descriptorType, r->picture, r->sampler, NULL);
	draw_put(&vk, r->set, 1, bindings[1].descriptorType, VK_NULL_HANDLE, VK_NULL_HANDLE,
		 &r->uniform);
	draw_put(&vk, r->set, 2, bindings[2].descriptorType, r->visits.view, VK_NULL_HANDLE, NULL);
	draw_put(&vk, r->set, 3, bindings[3].descriptorType, VK_NULL_HANDLE, VK_NULL_HANDLE,
		 &r->count);
}

static void drop_resources(struct resources *r)
{
	vkDestroySampler(vk.device, r->sampler, NULL);
	vkDestroyImageView(vk.device, r->picture, NULL);
	vk_img_destroy(&vk, &r->levels);
	draw_drop(&vk, &r->visits);
	vk_buf_destroy(&vk, &r->uniform);
	vk_buf_destroy(&vk, &r->count);
	vkDestroyDescriptorPool(vk.device, r->pool, NULL);
	vkDestroyDescriptorSetLayout(vk.device, r->set_layout, NULL);
}

/* The target is 64 x 64 pixels; four texels a pixel are level 2. */
static void check_resources(const struct resources *r, const struct draw_target *t)
{
	uint8_t *got = draw_read(&vk, t, 0, COLOR, 4);
	uint32_t *numbers = draw_read(&vk, &r->visits, 0, COLOR, 4);
	int i, bad = 0;

	for (i = 0; i < 64 * 64; i++)
		bad += abs(got[4 * i] - 80) > 1 || abs(got[4 * i + 1] - 40) > 1 ||
		       abs(got[4 * i + 2] - 20) > 1;
	ktap_eq(bad, 0);
	for (i = 0; i < 64; i++)
		ktap_eq(numbers[i], 1064);
	ktap_eq(*(uint32_t *)r->count.map, 64 * 64);
	free(got);
	free(numbers);
}

static void resources(void)
{
	const VkRect2D area = { { 0, 0 }, { 64, 64 } };
	const VkImageSubresourceRange all = { COLOR, 0, 1, 0, 1 };
	const struct push push = { { 0 }, 0.5f };
	struct draw_target t = draw_target(&vk, RGBA8, 64, 64, 1, ONE, TARGET);
	const VkRenderingAttachmentInfo a = draw_attachment(&t, &gray);
	const VkRenderingInfo pass = pass_of(&a, area);
	struct draw_pipe info = full();
	struct resources r;
	VkPipeline pipeline;
	VkCommandBuffer cmd;

	make_resources(&r);
	info.fs = textured_frag;
	info.fs_size = sizeof(textured_frag);
	info.layout = draw_layout(&vk, 1, &r.set_layout);
	pipeline = draw_pipeline(&vk, &info);
	cmd = vk_begin(&vk, 0);
	vkCmdClearColorImage(cmd, r.visits.img.image, VK_IMAGE_LAYOUT_GENERAL,
			     &(VkClearColorValue){ .uint32 = { 1000 } }, 1, &all);
	vk_order(cmd);
	draw_begin(&vk, cmd, &pass);
	draw_window(cmd, 64, 64);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, info.layout, 0, 1, &r.set, 0,
				NULL);
	vkCmdPushConstants(cmd, info.layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, sizeof(push), &push);
	vkCmdDraw(cmd, 3, 1, 0, 0);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	check_resources(&r, &t);
	draw_drop(&vk, &t);
	vkDestroyPipeline(vk.device, pipeline, NULL);
	vkDestroyPipelineLayout(vk.device, info.layout, NULL);
	drop_resources(&r);
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Each of four samples has another red: 0, 64, 128, 191, of which the mean is 95.75. */
static void resolved(bool store, bool command)
{
	const uint8_t mean[4] = { 96, 255, 0, 255 };
	struct draw_target four = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, VK_SAMPLE_COUNT_4_BIT,
					      TARGET),
			   one = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, ONE, TARGET);
	const VkImageResolve region = { { COLOR, 0, 0, 1 }, { 0, 0, 0 }, { COLOR, 0, 0, 1 },
					{ 0, 0, 0 }, { WIDTH, HEIGHT, 1 } };
	VkRenderingAttachmentInfo a = draw_attachment(&four, &gray);
	const VkRenderingInfo pass = pass_of(&a, everything);
	struct draw_pipe info = full();
	VkPipeline pipeline;
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	info.fs = samples_frag;
	info.fs_size = sizeof(samples_frag);
	info.samples = VK_SAMPLE_COUNT_4_BIT;
	pipeline = draw_pipeline(&vk, &info);
	if (!command) {
		a.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
		a.resolveImageView = one.view;
		a.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
	}
	if (!store)
		a.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
	draw_begin(&vk, cmd, &pass);
	draw_window(cmd, WIDTH, HEIGHT);
	fill(cmd, pipeline, 0, 0, 0, 0, 0.5f);
	draw_end(&vk, cmd);
	if (command) {
		vk_order(cmd);
		vkCmdResolveImage(cmd, four.img.image, VK_IMAGE_LAYOUT_GENERAL, one.img.image,
				  VK_IMAGE_LAYOUT_GENERAL, 1, &region);
	}
	vk_end(&vk, 0, cmd);
	expect(&everything, mean);
	check(&one, 0, 1);
	draw_drop(&vk, &four);
	draw_drop(&vk, &one);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

/* Three targets of one pass that keep their samples, which a draw each resolves. */
static void resolved_colors(void)
{
	struct draw_target four[3], one[3];
	VkRenderingAttachmentInfo a[3];
	VkRenderingInfo pass = pass_of(a, everything);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	unsigned i, c;

	for (i = 0; i < 3; i++) {
		const VkClearValue clear = { .color.float32 = { i == 0, i == 1, i == 2, 1 } };

		four[i] = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, VK_SAMPLE_COUNT_4_BIT, TARGET);
		one[i] = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, ONE, TARGET);
		a[i] = draw_attachment(&four[i], &clear);
		a[i].resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
		a[i].resolveImageView = one[i].view;
		a[i].resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
	}
	pass.colorAttachmentCount = 3;
	draw_begin(&vk, cmd, &pass);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < 3; i++) {
		uint8_t *got = draw_read(&vk, &one[i], 0, COLOR, 4);

		for (c = 0; c < 4; c++)
			ktap_eq(got[c], c == i || c == 3 ? 255 : 0);
		free(got);
		draw_drop(&vk, &four[i]);
		draw_drop(&vk, &one[i]);
	}
}

static void samples(void)
{
	resolved_colors();
	resolved(false, false);		/* by RENDER, the samples are never in memory */
	resolved(true, false);		/* after the pass */
	resolved(true, true);		/* by a command */
}

/* The depth of sample 0 is that of all samples here; stencil is counted in each. */
static void resolved_depth(bool store)
{
	const VkClearValue clear = { .depthStencil = { 0.75f, 10 } };
	struct draw_target color = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, VK_SAMPLE_COUNT_4_BIT,
					       TARGET),
			   four = depth_target(VK_SAMPLE_COUNT_4_BIT), one = depth_target(ONE);
	const VkRenderingAttachmentInfo a = draw_attachment(&color, &gray);
	VkRenderingAttachmentInfo ds = draw_attachment(&four, &clear);
	VkRenderingInfo pass = pass_of(&a, everything);
	struct draw_pipe info = with_depth();
	VkPipeline pipeline;
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint8_t *stencil;
	float *depth;
	int i, bad = 0;

	info.samples = VK_SAMPLE_COUNT_4_BIT;
	pipeline = draw_pipeline(&vk, &info);
	ds.resolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT;
	ds.resolveImageView = one.view;
	ds.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
	if (!store)
		ds.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
	pass.pDepthAttachment = pass.pStencilAttachment = &ds;
	draw_begin(&vk, cmd, &pass);
	draw_window(cmd, WIDTH, HEIGHT);
	fill(cmd, pipeline, 1, 1, 1, 1, 0.25f);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	depth = draw_read(&vk, &one, 0, VK_IMAGE_ASPECT_DEPTH_BIT, 4);
	stencil = draw_read(&vk, &one, 0, VK_IMAGE_ASPECT_STENCIL_BIT, 1);
	for (i = 0; i < WIDTH * HEIGHT; i++)
		bad += depth[i] != 0.25f || stencil[i] != 11;
	ktap_eq(bad, 0);
	free(depth);
	free(stencil);
	draw_drop(&vk, &color);
	draw_drop(&vk, &four);
	draw_drop(&vk, &one);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

static void depth_samples(void)
{
	resolved_depth(false);
	resolved_depth(true);
}

/* ---- Views ----------------------------------------------------------------------------------- */

/* Views 0, 1 and 3 of five layers; the others stay. */
static void views(void)
{
	static const uint8_t start[4] = { 9, 9, 9, 9 };
	const float nine = 9.0f / 255;
	const VkClearColorValue color = { .float32 = { nine, nine, nine, nine } };
	const VkImageSubresourceRange all = { COLOR, 0, 1, 0, 5 };
	struct draw_target t = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 5, ONE, TARGET);
	const VkRenderingAttachmentInfo a = draw_attachment(&t, &gray);
	VkRenderingInfo pass = pass_of(&a, everything);
	struct draw_pipe info = full();
	VkPipeline pipeline;
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	unsigned i;

	info.vs = views_vert;
	info.vs_size = sizeof(views_vert);
	info.fs = views_frag;
	info.fs_size = sizeof(views_frag);
	info.views = 0xb;
	pipeline = draw_pipeline(&vk, &info);
	pass.viewMask = 0xb;
	vkCmdClearColorImage(cmd, t.img.image, VK_IMAGE_LAYOUT_GENERAL, &color, 1, &all);
	vk_order(cmd);
	draw_begin(&vk, cmd, &pass);
	draw_window(cmd, WIDTH, HEIGHT);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	vkCmdDraw(cmd, 3, 1, 0, 0);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < 5; i++) {
		const uint8_t drawn[4] = { (uint8_t)i, (uint8_t)i, 0, 255 };

		expect(&everything, 0xb >> i & 1 ? drawn : start);
		check(&t, i, 0);
	}
	draw_drop(&vk, &t);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

/* ---- Secondary command buffers --------------------------------------------------------------- */

/* A secondary's draws between those of two others, submitted twice. */
static void secondary(void)
{
	static const VkRect2D right = { { 100, 0 }, { 50, HEIGHT } };
	static const uint8_t red[4] = { 255, 0, 0, 255 }, green[4] = { 0, 255, 0, 255 };
	const VkFormat format = RGBA8;
	const VkCommandBufferInheritanceRenderingInfo rendering = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO,
		.colorAttachmentCount = 1,
		.pColorAttachmentFormats = &format,
		.rasterizationSamples = ONE,
	};
	const VkCommandBufferInheritanceInfo inherit = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
		.pNext = &rendering,
	};
	const VkCommandBufferAllocateInfo alloc = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = vk.pool[0],
		.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
		.commandBufferCount = 2,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT |
			 VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
		.pInheritanceInfo = &inherit,
	};
	const struct draw_pipe info = full();
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	struct draw_target t = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, ONE, TARGET);
	const VkRenderingAttachmentInfo a = draw_attachment(&t, &gray);
	VkRenderingInfo pass = pass_of(&a, everything);
	VkCommandBuffer parts[2], cmd;
	unsigned i;

	VK(vkAllocateCommandBuffers(vk.device, &alloc, parts));
	for (i = 0; i < 2; i++) {
		VK(vkBeginCommandBuffer(parts[i], &begin));
		draw_window(parts[i], WIDTH, HEIGHT);
		if (i)
			vkCmdSetScissor(parts[i], 0, 1, &right);
		fill(parts[i], pipeline, (float)!i, (float)i, 0, 1, 0.5f);
		VK(vkEndCommandBuffer(parts[i]));
	}
	pass.flags = VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT;
	cmd = vk_begin(&vk, 0);
	draw_begin(&vk, cmd, &pass);
	vkCmdExecuteCommands(cmd, 2, parts);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
	expect(&everything, red);
	expect(&right, green);
	check(&t, 0, 0);
	vkFreeCommandBuffers(vk.device, vk.pool[0], 2, parts);
	draw_drop(&vk, &t);
	vkDestroyPipeline(vk.device, pipeline, NULL);
}

/* ---- Scaled copies --------------------------------------------------------------------------- */

static uint8_t source[20 * 30 * 4];

static struct draw_target make_source(void)
{
	struct draw_target s = draw_target(&vk, RGBA8, 30, 20, 1, ONE, VK_IMAGE_USAGE_SAMPLED_BIT);
	const VkBufferImageCopy region = { .imageSubresource = { COLOR, 0, 0, 1 },
					   .imageExtent = { 30, 20, 1 } };
	struct vk_buf b = vk_buf_create(&vk, sizeof(source), 0);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	unsigned i;

	for (i = 0; i < sizeof(source); i++)
		source[i] = (uint8_t)rnd();
	memcpy(b.map, source, sizeof(source));
	vkCmdCopyBufferToImage(cmd, b.buffer, s.img.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
	vk_order(cmd);
	vk_end(&vk, 0, cmd);
	vk_buf_destroy(&vk, &b);
	return s;
}

static float texel(int x, int y, int c)
{
	x = x < 0 ? 0 : x > 29 ? 29 : x;
	y = y < 0 ? 0 : y > 19 ? 19 : y;
	return source[(y * 30 + x) * 4 + c];
}

/* Three times as large, and turned over in y. */
static void blit(const struct draw_target *s, const struct draw_target *t, VkFilter filter)
{
	static const VkRect2D to = { { 12, 9 }, { 90, 60 } };
	const VkImageBlit region = { { COLOR, 0, 0, 1 }, { { 0, 0, 0 }, { 30, 20, 1 } },
				     { COLOR, 0, 0, 1 }, { { 12, 69, 0 }, { 102, 9, 1 } } };
	const VkClearColorValue zero = { .uint32 = { 0 } };
	const VkImageSubresourceRange all = { COLOR, 0, 1, 0, 1 };
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	int x, y, c;

	vkCmdClearColorImage(cmd, t->img.image, VK_IMAGE_LAYOUT_GENERAL, &zero, 1, &all);
	vk_order(cmd);
	vkCmdBlitImage(cmd, s->img.image, VK_IMAGE_LAYOUT_GENERAL, t->img.image,
		       VK_IMAGE_LAYOUT_GENERAL, 1, &region, filter);
	vk_end(&vk, 0, cmd);
	memset(want, 0, sizeof(want));
	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++)
			for (c = 0; c < 4 && inside(&to, x, y); c++) {
				const float u = ((float)(x - 12) + 0.5f) / 3,
					    v = ((float)(68 - y) + 0.5f) / 3;
				const float fx = u - 0.5f - floorf(u - 0.5f),
					    fy = v - 0.5f - floorf(v - 0.5f);
				const int x0 = (int)floorf(u - 0.5f), y0 = (int)floorf(v - 0.5f);
				const float top = texel(x0, y0, c) * (1 - fx) +
						  texel(x0 + 1, y0, c) * fx;
				const float low = texel(x0, y0 + 1, c) * (1 - fx) +
						  texel(x0 + 1, y0 + 1, c) * fx;

				want[y][x][c] = (uint8_t)(filter == VK_FILTER_NEAREST
					? texel((int)floorf(u), (int)floorf(v), c)
					: top * (1 - fy) + low * fy + 0.5f);
			}
	check(t, 0, filter == VK_FILTER_NEAREST ? 0 : 3);
}

/* Twice as large, and turned over in x. Each column of the source has a depth and a stencil. */
static void blit_depth(VkFormat format, VkImageAspectFlags aspects)
{
	const VkImageUsageFlags usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
	const bool depth = aspects & VK_IMAGE_ASPECT_DEPTH_BIT,
		   stencil = aspects & VK_IMAGE_ASPECT_STENCIL_BIT;
	struct draw_target s = draw_target(&vk, format, 16, 16, 1, ONE, usage),
			   t = draw_target(&vk, format, 40, 40, 1, ONE, usage);
	const VkClearValue clear = { .depthStencil = { 0.25f, 0 } };
	const VkImageSubresourceRange all = { aspects, 0, 1, 0, 1 };
	const VkImageBlit region = { { aspects, 0, 0, 1 }, { { 0, 0, 0 }, { 16, 16, 1 } },
				     { aspects, 0, 0, 1 }, { { 36, 4, 0 }, { 4, 36, 1 } } };
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint8_t *stencils;
	float *depths;
	unsigned i;
	int x, y;

	for (i = 0; i < 16; i++) {
		const VkRenderingAttachmentInfo a = draw_attachment(&s, i ? NULL : &clear);
		const VkClearAttachment at = { aspects, 0,
					       { .depthStencil = { (float)i / 16, 3 * i } } };
		const VkClearRect rect = { { { (int)i, 0 }, { 1, 16 } }, 0, 1 };
		const VkRenderingInfo pass = {
			.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
			.renderArea.extent = { 16, 16 },
			.layerCount = 1,
			.pDepthAttachment = depth ? &a : NULL,
			.pStencilAttachment = stencil ? &a : NULL,
		};

		draw_begin(&vk, cmd, &pass);
		vkCmdClearAttachments(cmd, 1, &at, 1, &rect);
		draw_end(&vk, cmd);
		vk_order(cmd);
	}
	vkCmdClearDepthStencilImage(cmd, t.img.image, VK_IMAGE_LAYOUT_GENERAL, &clear.depthStencil,
				    1, &all);
	vk_order(cmd);
	vkCmdBlitImage(cmd, s.img.image, VK_IMAGE_LAYOUT_GENERAL, t.img.image,
		       VK_IMAGE_LAYOUT_GENERAL, 1, &region, VK_FILTER_NEAREST);
	vk_end(&vk, 0, cmd);
	depths = depth ? draw_read(&vk, &t, 0, VK_IMAGE_ASPECT_DEPTH_BIT, 4) : NULL;
	stencils = stencil ? draw_read(&vk, &t, 0, VK_IMAGE_ASPECT_STENCIL_BIT, 1) : NULL;
	for (y = 0; y < 40; y++)
		for (x = 0; x < 40; x++) {
			const bool in = x >= 4 && x < 36 && y >= 4 && y < 36;
			const int column = (35 - x) / 2;

			if (depths && depths[y * 40 + x] != (in ? (float)column / 16 : 0.25f))
				ktap_fail("depth %d, %d: %f", x, y, (double)depths[y * 40 + x]);
			if (stencils && stencils[y * 40 + x] != (in ? 3 * column : 0))
				ktap_fail("stencil %d, %d: %u", x, y, stencils[y * 40 + x]);
		}
	free(depths);
	free(stencils);
	draw_drop(&vk, &s);
	draw_drop(&vk, &t);
}

static void depth_blits(void)
{
	blit_depth(VK_FORMAT_D32_SFLOAT, VK_IMAGE_ASPECT_DEPTH_BIT);
	blit_depth(VK_FORMAT_S8_UINT, VK_IMAGE_ASPECT_STENCIL_BIT);
	blit_depth(VK_FORMAT_D32_SFLOAT_S8_UINT,
		   VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT);
}

static void blits(void)
{
	struct draw_target s = make_source(),
			   t = draw_target(&vk, RGBA8, WIDTH, HEIGHT, 1, ONE, TARGET);

	blit(&s, &t, VK_FILTER_NEAREST);
	blit(&s, &t, VK_FILTER_LINEAR);
	draw_drop(&vk, &s);
	draw_drop(&vk, &t);
}

int main(int argc, char **argv)
{
	static const char *const extensions[] = { DRAW_EXTENSIONS, NULL };

	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	layout = draw_layout(&vk, 0, NULL);
	ktap_run("passes that render a part of an image", areas);
	ktap_run("passes that clear a part of depth and stencil", depth_area);
	ktap_run("vkCmdClearAttachments between draws", clear_attachments);
	ktap_run("depth and stencil", depth_and_stencil);
	ktap_run("blending and masks", blending);
	ktap_run("textures, buffers and images of fragment shaders", resources);
	ktap_run("samples and their resolution", samples);
	ktap_run("samples of depth and stencil", depth_samples);
	ktap_run("views", views);
	ktap_run("secondary command buffers in a pass", secondary);
	ktap_run("scaled copies", blits);
	ktap_run("scaled copies of depth and stencil", depth_blits);
	vkDestroyPipelineLayout(vk.device, layout, NULL);
	vk_close(&vk);
	return ktap_finish();
}
