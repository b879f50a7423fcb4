/* SPDX-License-Identifier: MIT */
/* State that commands set, not pipelines. One pipeline draws in all cases. */
#include "draw.h"

#include "full_frag.h"
#include "full_vert.h"

#define SIDE	32
#define RGBA8	VK_FORMAT_R8G8B8A8_UNORM
#define DEPTH	VK_FORMAT_D32_SFLOAT_S8_UINT
#define BEHIND	0.5f		/* depth that the target is cleared to */

static const char *const extensions[] = { DRAW_EXTENSIONS,
					  VK_EXT_EXTENDED_DYNAMIC_STATE_EXTENSION_NAME,
					  VK_EXT_EXTENDED_DYNAMIC_STATE_2_EXTENSION_NAME, NULL };
static const VkDynamicState states[] = {
	VK_DYNAMIC_STATE_CULL_MODE_EXT, VK_DYNAMIC_STATE_FRONT_FACE_EXT,
	VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY_EXT, VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE_EXT,
	VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE_EXT, VK_DYNAMIC_STATE_DEPTH_COMPARE_OP_EXT,
	VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE_EXT, VK_DYNAMIC_STATE_STENCIL_OP_EXT,
	VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE_EXT,
	VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE_EXT, VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE_EXT,
};

static struct vk vk;
static struct draw_target color, depth;
static VkPipelineLayout layout;
static VkPipeline pipeline;

/* State of a draw. */
struct state {
	VkCullModeFlags cull;
	VkFrontFace front;
	VkPrimitiveTopology topology;
	bool depth_test, depth_write;
	VkCompareOp compare;
	bool stencil;
	VkStencilOp pass;
	bool discard, restart, bias;
};

static const struct state usual = { .front = VK_FRONT_FACE_CLOCKWISE,
				    .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
				    .compare = VK_COMPARE_OP_ALWAYS };

static void set_state(VkCommandBuffer cmd, const struct state *s)
{
	VK_FUNCTION(&vk, vkCmdSetCullModeEXT)(cmd, s->cull);
	VK_FUNCTION(&vk, vkCmdSetFrontFaceEXT)(cmd, s->front);
	VK_FUNCTION(&vk, vkCmdSetPrimitiveTopologyEXT)(cmd, s->topology);
	VK_FUNCTION(&vk, vkCmdSetDepthTestEnableEXT)(cmd, s->depth_test);
	VK_FUNCTION(&vk, vkCmdSetDepthWriteEnableEXT)(cmd, s->depth_write);
	VK_FUNCTION(&vk, vkCmdSetDepthCompareOpEXT)(cmd, s->compare);
	VK_FUNCTION(&vk, vkCmdSetStencilTestEnableEXT)(cmd, s->stencil);
	VK_FUNCTION(&vk, vkCmdSetStencilOpEXT)(cmd, VK_STENCIL_FACE_FRONT_AND_BACK,
					       VK_STENCIL_OP_KEEP, s->pass, VK_STENCIL_OP_KEEP,
					       VK_COMPARE_OP_ALWAYS);
	VK_FUNCTION(&vk, vkCmdSetRasterizerDiscardEnableEXT)(cmd, s->discard);
	VK_FUNCTION(&vk, vkCmdSetPrimitiveRestartEnableEXT)(cmd, s->restart);
	VK_FUNCTION(&vk, vkCmdSetDepthBiasEnableEXT)(cmd, s->bias);
}

/* A pass that clears, color 0, depth BEHIND, stencil 7. */
static VkCommandBuffer begin(void)
{
	const VkClearValue clears[2] = { { .color.float32 = { 0 } },
					 { .depthStencil = { BEHIND, 7 } } };
	const VkRenderingAttachmentInfo a = draw_attachment(&color, &clears[0]),
					d = draw_attachment(&depth, &clears[1]);
	const VkRenderingInfo info = { .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
				       .renderArea.extent = { SIDE, SIDE },
				       .layerCount = 1,
				       .colorAttachmentCount = 1,
				       .pColorAttachments = &a,
				       .pDepthAttachment = &d,
				       .pStencilAttachment = &d };
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	draw_begin(&vk, cmd, &info);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
	draw_window(cmd, SIDE, SIDE);
	return cmd;
}

static void draw(VkCommandBuffer cmd, const struct state *s, float red, float z)
{
	const float push[5] = { red, 0, 0, 1, z };

	set_state(cmd, s);
	vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, sizeof(push), push);
	vkCmdDraw(cmd, 3, 1, 0, 0);
}

static void end(VkCommandBuffer cmd)
{
	draw_end(&vk, cmd);
	vk_end(&vk, 0, cmd);
}

/* All pixels have this red. */
static void check_red(uint8_t want)
{
	uint8_t *got = draw_read(&vk, &color, 0, VK_IMAGE_ASPECT_COLOR_BIT, 4);
	uint32_t bad = 0;

	for (int i = 0; i < SIDE * SIDE; i++)
		bad += got[4 * i] != want;
	ktap_eq(bad, 0);
	free(got);
}

static void check_stencil(uint8_t want)
{
	uint8_t *got = draw_read(&vk, &depth, 0, VK_IMAGE_ASPECT_STENCIL_BIT, 1);

	ktap_eq(got[0], want);
	ktap_eq(got[SIDE * SIDE - 1], want);
	free(got);
}

static void one(const struct state *s, float z, bool drawn)
{
	VkCommandBuffer cmd = begin();

	draw(cmd, s, 1, z);
	end(cmd);
	check_red(drawn ? 255 : 0);
}

/* The triangle's vertices go round clockwise. */
static void culling(void)
{
	static const struct {
		VkCullModeFlags cull;
		VkFrontFace front;
		bool drawn;
	} cases[] = {
		{ VK_CULL_MODE_NONE, VK_FRONT_FACE_CLOCKWISE, true },
		{ VK_CULL_MODE_FRONT_BIT, VK_FRONT_FACE_CLOCKWISE, false },
		{ VK_CULL_MODE_BACK_BIT, VK_FRONT_FACE_CLOCKWISE, true },
		{ VK_CULL_MODE_FRONT_BIT, VK_FRONT_FACE_COUNTER_CLOCKWISE, true },
		{ VK_CULL_MODE_BACK_BIT, VK_FRONT_FACE_COUNTER_CLOCKWISE, false },
		{ VK_CULL_MODE_FRONT_AND_BACK, VK_FRONT_FACE_CLOCKWISE, false },
	};
	struct state s = usual;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		s.cull = cases[i].cull;
		s.front = cases[i].front;
		one(&s, BEHIND, cases[i].drawn);
	}
	s = usual;
	s.discard = true;
	one(&s, BEHIND, false);
}

static void comparisons(void)
{
	static const float at[3] = { 0.25f, BEHIND, 0.75f };
	struct state s = usual;

	s.depth_test = true;
	for (unsigned op = 0; op < 8; op++) {
		for (unsigned i = 0; i < 3; i++) {
			/* bits of a comparison: less, equal, greater */
			s.compare = (VkCompareOp)op;
			one(&s, at[i], op >> i & 1);
		}
	}
	s.compare = VK_COMPARE_OP_NEVER;
	s.depth_test = false;
	one(&s, BEHIND, true);
}

/* The second draw has the larger depth. It is hidden if the first one has written its own. */
static void writes(void)
{
	struct state s = usual;

	s.depth_test = true;
	s.compare = VK_COMPARE_OP_LESS;
	for (unsigned i = 0; i < 2; i++) {
		VkCommandBuffer cmd = begin();

		s.depth_write = i;
		draw(cmd, &s, 1, 0.25f);
		draw(cmd, &s, 0.2f, 0.375f);
		end(cmd);
		check_red(i ? 255 : 51);
	}
}

static void stencil(void)
{
	static const struct {
		bool enable;
		VkStencilOp pass;
		uint8_t want;
	} cases[] = {
		{ false, VK_STENCIL_OP_ZERO, 7 }, { true, VK_STENCIL_OP_ZERO, 0 },
		{ true, VK_STENCIL_OP_INCREMENT_AND_WRAP, 8 }, { true, VK_STENCIL_OP_INVERT, 0xf8 },
		{ true, VK_STENCIL_OP_KEEP, 7 },
	};
	struct state s = usual;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		VkCommandBuffer cmd = begin();

		s.stencil = cases[i].enable;
		s.pass = cases[i].pass;
		draw(cmd, &s, 1, BEHIND);
		end(cmd);
		check_stencil(cases[i].want);
	}
}

/*
 * Vertices 0, 1 and 2 make the large triangle. A strip of 1, 1, 2, 0 has it as its second triangle,
 * a list of these four has one without an area. 0xffff begins another strip if that is enabled.
 */
static void topologies(void)
{
	static const uint16_t strip[4] = { 1, 1, 2, 0 }, restart[4] = { 1, 2, 0xffff, 0 };
	struct vk_buf b = vk_buf_create(&vk, 64, VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
	const float push[5] = { 1, 0, 0, 1, BEHIND };

	for (unsigned i = 0; i < 3; i++) {
		VkCommandBuffer cmd = begin();
		struct state s = usual;

		memcpy(b.map, i < 2 ? strip : restart, sizeof(strip));
		s.restart = i == 2;
		if (i)
			s.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
		set_state(cmd, &s);
		vkCmdPushConstants(cmd, layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, sizeof(push),
				   push);
		vkCmdBindIndexBuffer(cmd, b.buffer, 0, VK_INDEX_TYPE_UINT16);
		vkCmdDrawIndexed(cmd, 4, 1, 0, 0, 0);
		end(cmd);
		check_red(i == 1 ? 255 : 0);
	}
	vk_buf_destroy(&vk, &b);
}

/* A bias that moves a draw behind another one at the same depth. */
static void bias(void)
{
	struct state s = usual;

	s.depth_test = true;
	s.compare = VK_COMPARE_OP_LESS_OR_EQUAL;
	for (unsigned i = 0; i < 2; i++) {
		VkCommandBuffer cmd = begin();

		vkCmdSetDepthBias(cmd, 64, 0, 0);
		s.bias = i;
		draw(cmd, &s, 1, BEHIND);
		end(cmd);
		check_red(i ? 0 : 255);
	}
}

static void make_pipeline(void)
{
	static const VkDynamicState more = VK_DYNAMIC_STATE_DEPTH_BIAS;
	VkDynamicState all[sizeof(states) / sizeof(*states) + 1];
	struct draw_pipe pipe = { .vs = full_vert, .vs_size = sizeof(full_vert),
				  .fs = full_frag, .fs_size = sizeof(full_frag),
				  .colors = 1, .color = { RGBA8 }, .depth = DEPTH,
				  .stencil = DEPTH, .dynamic = all,
				  .dynamic_count = sizeof(all) / sizeof(*all) };

	memcpy(all, states, sizeof(states));
	all[sizeof(states) / sizeof(*states)] = more;
	pipe.ds.front.writeMask = pipe.ds.back.writeMask = 0xff;
	pipe.ds.front.compareMask = pipe.ds.back.compareMask = 0xff;
	pipe.layout = layout;
	pipeline = draw_pipeline(&vk, &pipe);
}

int main(int argc, char **argv)
{
	const VkImageUsageFlags read = VK_IMAGE_USAGE_TRANSFER_SRC_BIT;

	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	layout = draw_layout(&vk, 0, NULL);
	color = draw_target(&vk, RGBA8, SIDE, SIDE, 1, VK_SAMPLE_COUNT_1_BIT,
			    VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | read);
	depth = draw_target(&vk, DEPTH, SIDE, SIDE, 1, VK_SAMPLE_COUNT_1_BIT,
			    VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | read);
	make_pipeline();
	ktap_run("culling and rasterizer discard", culling);
	ktap_run("depth comparisons", comparisons);
	ktap_run("depth writes", writes);
	ktap_run("stencil operations", stencil);
	ktap_run("topologies and restarts", topologies);
	ktap_run("depth bias", bias);
	vkDestroyPipeline(vk.device, pipeline, NULL);
	draw_drop(&vk, &color);
	draw_drop(&vk, &depth);
	vkDestroyPipelineLayout(vk.device, layout, NULL);
	vk_close(&vk);
	return ktap_finish();
}
