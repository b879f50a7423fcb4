/* SPDX-License-Identifier: MIT */
/* Draws: triangles, indices, instances, indirect arguments. The CPU rasterizes the same. */
#include <math.h>

#include "draw.h"
#include "rnd.h"

#include "plain_frag.h"
#include "plain_vert.h"

#define WIDTH	256
#define HEIGHT	128
#define NOTHING	0xffffffffu
#define TRIANGLES 40

static struct vk vk;
static VkPipelineLayout layout;
static struct draw_target color, label;

struct vertex {
	float x, y;
	uint8_t color[4];
};

struct push {
	float scale[2], depth;
};

static const VkVertexInputBindingDescription bindings[] = {
	{ 0, sizeof(struct vertex), VK_VERTEX_INPUT_RATE_VERTEX },
	{ 1, 8, VK_VERTEX_INPUT_RATE_INSTANCE },
};
static const VkVertexInputAttributeDescription attributes[] = {
	{ 0, 0, VK_FORMAT_R32G32_SFLOAT, 0 },
	{ 1, 0, VK_FORMAT_R8G8B8A8_UNORM, 8 },
	{ 2, 1, VK_FORMAT_R32G32_SFLOAT, 0 },
};

static struct draw_pipe plain(void)
{
	return (struct draw_pipe){
		.vs = plain_vert, .vs_size = sizeof(plain_vert),
		.fs = plain_frag, .fs_size = sizeof(plain_frag),
		.layout = layout,
		.colors = 2,
		.color = { VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32_UINT },
		.bindings = bindings, .binding_count = 2,
		.attributes = attributes, .attribute_count = 3,
	};
}

/* Window coordinates of 1/256 pixel are exact in clip space, as the sizes are powers of two. */
static struct vertex vertex_at(struct draw_point p)
{
	return (struct vertex){
		(float)p.x / (128.0f * WIDTH) - 1, (float)p.y / (128.0f * HEIGHT) - 1,
		{ (uint8_t)rnd(), (uint8_t)rnd(), (uint8_t)rnd(), (uint8_t)rnd() }
	};
}

/* Buffers of a draw: vertices, places of instances, indices or arguments. */
struct buffers {
	struct vk_buf vertices, places, more;
};

static struct buffers make_buffers(void)
{
	struct buffers b = {
		vk_buf_create(&vk, 65536, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT),
		vk_buf_create(&vk, 4096, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT),
		vk_buf_create(&vk, 65536, VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
						  VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT),
	};

	memset(b.places.map, 0, 4096);
	return b;
}

static void drop_buffers(struct buffers *b)
{
	vk_buf_destroy(&vk, &b->vertices);
	vk_buf_destroy(&vk, &b->places);
	vk_buf_destroy(&vk, &b->more);
}

/* Begin a pass that clears both targets, with everything bound. */
static VkCommandBuffer begin(VkPipeline pipeline, const struct buffers *b)
{
	const VkClearValue clear = { .color.float32 = { 0, 0.2f, 0.4f, 1 } },
			   none = { .color.uint32 = { NOTHING } };
	const VkRenderingAttachmentInfo attachments[2] = { draw_attachment(&color, &clear),
							   draw_attachment(&label, &none) };
	const VkRenderingInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea.extent = { WIDTH, HEIGHT },
		.layerCount = 1,
		.colorAttachmentCount = 2,
		.pColorAttachments = attachments,
	};
	const struct push push = { { 1, 1 }, 0.5f };
	const VkBuffer buffers[2] = { b->vertices.buffer, b->places.buffer };
	const VkDeviceSize offsets[2] = { 0, 0 };
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	draw_begin(&vk, cmd, &info);
	draw_window(cmd, WIDTH, HEIGHT);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	vkCmdBindVertexBuffers(cmd, 0, 2, buffers, offsets);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, sizeof(push), &push);
	return cmd;
}

static void end(VkCommandBuffer cmd)
{
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
}

/* ---- Expectations ---------------------------------------------------------------------------- */

static uint32_t want[HEIGHT][WIDTH];

static void expect_nothing(void)
{
	memset(want, 0xff, sizeof(want));
}

static void expect(const struct draw_point t[3], uint32_t number)
{
	int x, y;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++) {
			if (draw_covers(t, x, y))
				want[y][x] = number;
		}
}

static void check_labels(void)
{
	uint32_t *got = draw_read(&vk, &label, 0, VK_IMAGE_ASPECT_COLOR_BIT, 4);
	unsigned x, y, bad = 0;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++) {
			if (got[y * WIDTH + x] != want[y][x] && !bad++)
				ktap_fail("pixel (%u, %u): expected %x, got %x", x, y, want[y][x],
					  got[y * WIDTH + x]);
		}
	ktap_eq(bad, 0);
	free(got);
}

static struct draw_point random_point(void)
{
	return (struct draw_point){ rnd_in(-40 * 256, (WIDTH + 40) * 256),
				    rnd_in(-40 * 256, (HEIGHT + 40) * 256) };
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Colors are the mean of the vertices' with barycentric weights. */
static void one_triangle(void)
{
	static const struct draw_point t[3] = { { 2560, 1300 }, { 60000, 7777 }, { 20000, 31000 } };
	const struct draw_pipe info = plain();
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	struct buffers b = make_buffers();
	struct vertex *v = b.vertices.map;
	VkCommandBuffer cmd;
	uint8_t *got;
	int x, y, c, bad = 0;

	for (c = 0; c < 3; c++)
		v[c] = vertex_at(t[c]);
	cmd = begin(pipeline, &b);
	vkCmdDraw(cmd, 3, 1, 0, 0);
	end(cmd);
	expect_nothing();
	expect(t, 0);
	check_labels();
	got = draw_read(&vk, &color, 0, VK_IMAGE_ASPECT_COLOR_BIT, 4);
	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++) {
			const struct draw_point p = { 256 * x + 128, 256 * y + 128 };
			const struct draw_point a[3] = { p, t[1], t[2] }, d[3] = { t[0], p, t[2] };
			const double w0 = (double)draw_area(a) / (double)draw_area(t),
				     w1 = (double)draw_area(d) / (double)draw_area(t);
			static const double clear[4] = { 0, 51, 102, 255 };

			for (c = 0; c < 4; c++) {
				const double mixed = w0 * v[0].color[c] + w1 * v[1].color[c] +
						     (1 - w0 - w1) * v[2].color[c];
				const double is = want[y][x] ? clear[c] : mixed;

				bad += fabs(got[4 * (y * WIDTH + x) + c] - is) > 1;
			}
		}
	ktap_eq(bad, 0);
	free(got);
	vkDestroyPipeline(vk.device, pipeline, NULL);
	drop_buffers(&b);
}

static void many_triangles(void)
{
	const struct draw_pipe info = plain();
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	struct buffers b = make_buffers();
	struct vertex *v = b.vertices.map;
	struct draw_point t[3];
	VkCommandBuffer cmd;
	unsigned i, k;

	expect_nothing();
	for (i = 0; i < TRIANGLES; i++) {
		for (k = 0; k < 3; k++) {
			t[k] = random_point();
			v[3 * i + k] = vertex_at(t[k]);
		}
		/* the first vertices are not drawn */
		if (i >= 4)
			expect(t, (3 * i) * 16);
	}
	cmd = begin(pipeline, &b);
	vkCmdDraw(cmd, 3 * (TRIANGLES - 4), 1, 12, 0);
	end(cmd);
	check_labels();
	vkDestroyPipeline(vk.device, pipeline, NULL);
	drop_buffers(&b);
}

/* Three instances of a small triangle, the first of which is instance 2 of five. */
static void put_instances(struct buffers *b, struct draw_point t[3], uint32_t vertex)
{
	static const int places[5][2] = { { 0, 0 }, { 100, 3 }, { 50, 64 }, { 90, 32 },
					  { 200, 90 } };
	float *place = b->places.map;
	unsigned i, k;

	for (k = 0; k < 3; k++) {
		t[k] = (struct draw_point){ (int)(k == 1) * 40 * 256, (int)(k == 2) * 30 * 256 };
		((struct vertex *)b->vertices.map)[vertex + k] = vertex_at(t[k]);
	}
	for (i = 0; i < 5; i++) {
		place[2 * i] = (float)places[i][0] / (WIDTH / 2);
		place[2 * i + 1] = (float)places[i][1] / (HEIGHT / 2);
	}
	expect_nothing();
	for (i = 2; i < 5; i++) {
		const struct draw_point moved[3] = {
			{ t[0].x + places[i][0] * 256, t[0].y + places[i][1] * 256 },
			{ t[1].x + places[i][0] * 256, t[1].y + places[i][1] * 256 },
			{ t[2].x + places[i][0] * 256, t[2].y + places[i][1] * 256 },
		};

		expect(moved, vertex * 16 + i);
	}
}

static void instances(void)
{
	const struct draw_pipe info = plain();
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	struct buffers b = make_buffers();
	struct draw_point t[3];
	VkCommandBuffer cmd;

	put_instances(&b, t, 7);
	cmd = begin(pipeline, &b);
	vkCmdDraw(cmd, 3, 3, 7, 2);
	end(cmd);
	check_labels();
	vkDestroyPipeline(vk.device, pipeline, NULL);
	drop_buffers(&b);
}

/* Index k of the triangle is 10 + k, and 5 is added; in each type of indices. */
static void indexed_instances(VkIndexType type)
{
	const struct draw_pipe info = plain();
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	struct buffers b = make_buffers();
	uint16_t *shorts = b.more.map;
	uint32_t *words = b.more.map;
	struct draw_point t[3];
	VkCommandBuffer cmd;
	unsigned k;

	put_instances(&b, t, 15);
	for (k = 0; k < 3; k++) {
		if (type == VK_INDEX_TYPE_UINT16)
			shorts[32 + 4 + k] = (uint16_t)(10 + k);
		else
			words[16 + 4 + k] = 10 + k;
	}
	cmd = begin(pipeline, &b);
	vkCmdBindIndexBuffer(cmd, b.more.buffer, 64, type);
	vkCmdDrawIndexed(cmd, 3, 3, 4, 5, 2);
	end(cmd);
	check_labels();
	vkDestroyPipeline(vk.device, pipeline, NULL);
	drop_buffers(&b);
}

static void indexed(void)
{
	indexed_instances(VK_INDEX_TYPE_UINT16);
	indexed_instances(VK_INDEX_TYPE_UINT32);
}

/* Two strips in one draw; the provoking vertex of triangle n is vertex n. */
static void strips(void)
{
	static const struct draw_point at[9] = {
		{ 2560, 2560 }, { 2560, 20000 }, { 12000, 2560 }, { 12800, 20000 }, { 25600, 1234 },
		{ 30000, 25000 }, { 31000, 2560 }, { 40000, 31000 }, { 60000, 2000 },
	};
	static const uint16_t indices[] = { 0, 1, 2, 3, 4, 0xffff, 5, 6, 7, 8 };
	static const uint8_t triangles[][3] = { { 0, 1, 2 }, { 1, 3, 2 }, { 2, 3, 4 }, { 5, 6, 7 },
						{ 6, 8, 7 } };
	struct draw_pipe info = plain();
	struct buffers b = make_buffers();
	VkPipeline pipeline;
	VkCommandBuffer cmd;
	unsigned i;

	info.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
	info.strip_restart = true;
	pipeline = draw_pipeline(&vk, &info);
	memcpy(b.more.map, indices, sizeof(indices));
	expect_nothing();
	for (i = 0; i < 9; i++)
		((struct vertex *)b.vertices.map)[i] = vertex_at(at[i]);
	for (i = 0; i < 5; i++) {
		const struct draw_point t[3] = { at[triangles[i][0]], at[triangles[i][1]],
						 at[triangles[i][2]] };

		expect(t, triangles[i][0] * 16);
	}
	cmd = begin(pipeline, &b);
	vkCmdBindIndexBuffer(cmd, b.more.buffer, 0, VK_INDEX_TYPE_UINT16);
	vkCmdDrawIndexed(cmd, 10, 1, 0, 0, 0);
	end(cmd);
	check_labels();
	vkDestroyPipeline(vk.device, pipeline, NULL);
	drop_buffers(&b);
}

/* The device writes the arguments. The second of two draws has two instances. */
static void indirect(void)
{
	const struct draw_pipe info = plain();
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	struct buffers b = make_buffers();
	const VkDrawIndirectCommand draws[2] = { { 3, 1, 7, 2 }, { 3, 2, 7, 3 } };
	const VkDrawIndexedIndirectCommand more = { 3, 3, 2, 3, 2 };
	struct draw_point t[3];
	VkCommandBuffer cmd;
	unsigned k, round;

	for (round = 0; round < 2; round++) {
		put_instances(&b, t, 7);
		for (k = 0; k < 3; k++)
			((uint32_t *)b.more.map)[64 + 2 + k] = 4 + k;
		cmd = vk_begin(&vk, 0);
		vkCmdUpdateBuffer(cmd, b.more.buffer, 0, sizeof(draws), draws);
		vkCmdUpdateBuffer(cmd, b.more.buffer, 64, sizeof(more), &more);
		vk_order(cmd);
		vk_end(&vk, 0, cmd);
		cmd = begin(pipeline, &b);
		vkCmdBindIndexBuffer(cmd, b.more.buffer, 256, VK_INDEX_TYPE_UINT32);
		if (round)
			vkCmdDrawIndexedIndirect(cmd, b.more.buffer, 64, 1, 0);
		else
			vkCmdDrawIndirect(cmd, b.more.buffer, 0, 2, 16);
		end(cmd);
		check_labels();
	}
	vkDestroyPipeline(vk.device, pipeline, NULL);
	drop_buffers(&b);
}

/* Triangles that go round the other way are not drawn. */
static void culled(VkCullModeFlags cull, VkFrontFace front)
{
	struct draw_pipe info = plain();
	struct buffers b = make_buffers();
	struct draw_point t[3];
	VkPipeline pipeline;
	VkCommandBuffer cmd;
	unsigned i, k;

	info.cull = cull;
	info.front = front;
	pipeline = draw_pipeline(&vk, &info);
	expect_nothing();
	for (i = 0; i < 10; i++) {
		for (k = 0; k < 3; k++) {
			t[k] = random_point();
			((struct vertex *)b.vertices.map)[3 * i + k] = vertex_at(t[k]);
		}
		/* positive: clockwise on the screen */
		if ((draw_area(t) > 0) == (front == VK_FRONT_FACE_CLOCKWISE)) {
			if (!(cull & VK_CULL_MODE_FRONT_BIT))
				expect(t, 3 * i * 16);
		} else if (!(cull & VK_CULL_MODE_BACK_BIT)) {
			expect(t, 3 * i * 16);
		}
	}
	cmd = begin(pipeline, &b);
	vkCmdDraw(cmd, 30, 1, 0, 0);
	end(cmd);
	check_labels();
	vkDestroyPipeline(vk.device, pipeline, NULL);
	drop_buffers(&b);
}

static void faces(void)
{
	culled(VK_CULL_MODE_BACK_BIT, VK_FRONT_FACE_CLOCKWISE);
	culled(VK_CULL_MODE_BACK_BIT, VK_FRONT_FACE_COUNTER_CLOCKWISE);
	culled(VK_CULL_MODE_FRONT_BIT, VK_FRONT_FACE_COUNTER_CLOCKWISE);
}

/* Push constants, scissor and viewport change between draws of one pass. */
static void state_between_draws(void)
{
	static const struct draw_point t[3] = { { 0, 0 }, { 65536, 0 }, { 0, 32768 } };
	const struct draw_point half[3] = { { 16384, 8192 }, { 49152, 8192 }, { 16384, 24576 } };
	const struct push push = { { 0.5f, 0.5f }, 0.5f };
	const VkRect2D scissor = { { 100, 40 }, { 50, 33 } };
	const VkViewport port = { 64, 32, 128, 64, 0, 1 };
	const struct draw_pipe info = plain();
	VkPipeline pipeline = draw_pipeline(&vk, &info);
	struct buffers b = make_buffers();
	VkCommandBuffer cmd;
	int k, x, y;

	for (k = 0; k < 9; k++)
		((struct vertex *)b.vertices.map)[k] = vertex_at(t[k % 3]);
	cmd = begin(pipeline, &b);
	vkCmdDraw(cmd, 3, 1, 0, 0);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, sizeof(push), &push);
	vkCmdDraw(cmd, 3, 1, 3, 0);
	vkCmdSetScissor(cmd, 0, 1, &scissor);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, 8,
			   &(float[2]){ 1, 1 });
	vkCmdSetViewport(cmd, 0, 1, &port);
	vkCmdDraw(cmd, 3, 1, 6, 0);
	end(cmd);
	expect_nothing();
	expect(t, 0);
	expect(half, 48);
	for (y = 40; y < 73; y++)
		for (x = 100; x < 150; x++) {
			if (draw_covers(half, x, y))
				want[y][x] = 96;
		}
	check_labels();
	vkDestroyPipeline(vk.device, pipeline, NULL);
	drop_buffers(&b);
}

/* A viewport of negative height turns the picture over, and with it which faces are in front. */
static void turned_over(void)
{
	static const struct draw_point t[3] = { { 1024, 512 }, { 50000, 4000 }, { 9000, 30000 } };
	const VkViewport port = { 0, HEIGHT, WIDTH, -HEIGHT, 0, 1 };
	struct draw_pipe info = plain();
	struct buffers b = make_buffers();
	struct draw_point turned[3];
	VkPipeline pipeline;
	VkCommandBuffer cmd;
	unsigned k;

	/* the second triangle goes round the other way */
	for (k = 0; k < 6; k++)
		((struct vertex *)b.vertices.map)[k] = vertex_at(t[k < 3 ? k : 5 - k]);
	for (k = 0; k < 3; k++)
		turned[k] = (struct draw_point){ t[k].x, 256 * HEIGHT - t[k].y };
	info.cull = VK_CULL_MODE_BACK_BIT;
	info.front = draw_area(turned) > 0 ? VK_FRONT_FACE_CLOCKWISE
					   : VK_FRONT_FACE_COUNTER_CLOCKWISE;
	pipeline = draw_pipeline(&vk, &info);
	cmd = begin(pipeline, &b);
	vkCmdSetViewport(cmd, 0, 1, &port);
	vkCmdDraw(cmd, 6, 1, 0, 0);
	end(cmd);
	expect_nothing();
	expect(turned, 0);
	check_labels();
	vkDestroyPipeline(vk.device, pipeline, NULL);
	drop_buffers(&b);
}

/* A pass that clears two slices. */
static void clear_slices(const struct draw_target *target)
{
	const VkClearValue clear = { .color.uint32 = { 7 } };
	const VkRenderingAttachmentInfo slices = draw_attachment(target, &clear);
	const VkRenderingInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
		.renderArea.extent = { WIDTH, HEIGHT },
		.layerCount = 2,
		.colorAttachmentCount = 1,
		.pColorAttachments = &slices,
	};
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	draw_begin(&vk, cmd, &info);
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
}

/* Slices of a volume are targets, by a view of it as an array. */
static void slices(void)
{
	const VkImageSubresourceRange some = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 2, 2 },
				      all = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 };
	const VkClearColorValue before = { .uint32 = { 3 } };
	struct draw_target t = {
		.img = vk_img_create(&vk, VK_IMAGE_TYPE_3D, VK_FORMAT_R32_UINT,
				     (VkExtent3D){ WIDTH, HEIGHT, 5 }, 1, 1,
				     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
					     VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
					     VK_IMAGE_USAGE_TRANSFER_DST_BIT,
				     VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT,
				     VK_SAMPLE_COUNT_1_BIT),
	};
	const size_t words = 5 * WIDTH * HEIGHT;
	struct vk_buf b = vk_buf_create(&vk, 4 * words, 0);
	const VkBufferImageCopy region = { .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0,
								 1 },
					   .imageExtent = t.img.extent };
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	size_t i, bad = 0;

	vkCmdClearColorImage(cmd, t.img.image, VK_IMAGE_LAYOUT_GENERAL, &before, 1, &all);
	vk_order(cmd);
	vk_end(&vk, 0, cmd);
	t.view = vk_view(&vk, &t.img, VK_IMAGE_VIEW_TYPE_2D_ARRAY, VK_FORMAT_R32_UINT, &some);
	clear_slices(&t);
	cmd = vk_begin(&vk, 0);
	vk_order(cmd);
	vkCmdCopyImageToBuffer(cmd, t.img.image, VK_IMAGE_LAYOUT_GENERAL, b.buffer, 1, &region);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < words; i++) {
		const size_t slice = i / (WIDTH * HEIGHT);

		bad += ((const uint32_t *)b.map)[i] != (slice == 2 || slice == 3 ? 7 : 3);
	}
	ktap_eq(bad, 0);
	vk_buf_destroy(&vk, &b);
	draw_drop(&vk, &t);
}

/* Each pass is two jobs, and so many of them are more than three SUBMITs have. */
static void many_passes(void)
{
	const VkClearValue zero = { .color.uint32 = { 0 } };
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint32_t i, *got, bad = 0;

	for (i = 0; i < WIDTH; i++) {
		const VkRenderingAttachmentInfo a = draw_attachment(&label, i ? NULL : &zero);
		const VkRenderingInfo pass = {
			.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
			.renderArea.extent = { WIDTH, HEIGHT },
			.layerCount = 1,
			.colorAttachmentCount = 1,
			.pColorAttachments = &a,
		};
		const VkClearAttachment number = { VK_IMAGE_ASPECT_COLOR_BIT, 0,
						   { .color.uint32 = { i + 1 } } };
		const VkClearRect column = { { { (int)i, 0 }, { 1, HEIGHT } }, 0, 1 };

		draw_begin(&vk, cmd, &pass);
		vkCmdClearAttachments(cmd, 1, &number, 1, &column);
		draw_end(&vk, cmd);
		vk_order(cmd);
	}
	vk_end(&vk, 0, cmd);
	got = draw_read(&vk, &label, 0, VK_IMAGE_ASPECT_COLOR_BIT, 4);
	for (i = 0; i < WIDTH * HEIGHT; i++)
		bad += got[i] != i % WIDTH + 1;
	ktap_eq(bad, 0);
	free(got);
}

int main(int argc, char **argv)
{
	static const char *const extensions[] = { DRAW_EXTENSIONS,
						  VK_KHR_MAINTENANCE_1_EXTENSION_NAME, NULL };

	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	layout = draw_layout(&vk, 0, NULL);
	color = draw_target(&vk, VK_FORMAT_R8G8B8A8_UNORM, WIDTH, HEIGHT, 1, VK_SAMPLE_COUNT_1_BIT,
			    VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
	label = draw_target(&vk, VK_FORMAT_R32_UINT, WIDTH, HEIGHT, 1, VK_SAMPLE_COUNT_1_BIT,
			    VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
	ktap_run("a triangle, its pixels and colors", one_triangle);
	ktap_run("many triangles", many_triangles);
	ktap_run("instances, the first of them not 0", instances);
	ktap_run("indices of 16 and 32 bits with an offset", indexed);
	ktap_run("strips that restart", strips);
	ktap_run("indirect draws", indirect);
	ktap_run("culling", faces);
	ktap_run("push constants, scissor and viewport between draws", state_between_draws);
	ktap_run("a picture that is turned over", turned_over);
	ktap_run("slices of a volume as targets", slices);
	ktap_run("more passes than jobs of a SUBMIT", many_passes);
	draw_drop(&vk, &color);
	draw_drop(&vk, &label);
	vkDestroyPipelineLayout(vk.device, layout, NULL);
	vk_close(&vk);
	return ktap_finish();
}
