// SPDX-License-Identifier: MIT
/* DRAW_STATE: fixed functions, viewports and blending. All of it may be dynamic. */
#include "tsv_cmd.h"

#include "util/format/u_format.h"
#include "vk_graphics_state.h"

#define STATE_BYTES	(TSR_DRAW_STATE__QWORDS * 8)
#define VIEWPORT_BYTES	(TSR_VIEWPORT__QWORDS * 8)
#define BLEND_BYTES	(TSR_BLEND__QWORDS * 8)

/* The device has Vulkan's numbers. */
_Static_assert((int)TSR_COMPARE_FUNCTION_GREATER == (int)VK_COMPARE_OP_GREATER &&
	       (int)TSR_COMPARE_FUNCTION_ALWAYS == (int)VK_COMPARE_OP_ALWAYS, "comparisons");
_Static_assert((int)TSR_STENCIL_OP_INVERT == (int)VK_STENCIL_OP_INVERT &&
	       (int)TSR_STENCIL_OP_DECREMENT_WRAP == (int)VK_STENCIL_OP_DECREMENT_AND_WRAP,
	       "stencil operations");
_Static_assert((int)TSR_LOGIC_OP_NO_OP == (int)VK_LOGIC_OP_NO_OP &&
	       (int)TSR_LOGIC_OP_SET == (int)VK_LOGIC_OP_SET, "logic operations");
_Static_assert((int)TSR_BLEND_FACTOR_SRC_ALPHA == (int)VK_BLEND_FACTOR_SRC_ALPHA &&
	       (int)TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA ==
	       (int)VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA, "blend factors");
_Static_assert((int)TSR_BLEND_OP_MAX == (int)VK_BLEND_OP_MAX, "blend operations");

static const struct vk_dynamic_graphics_state *dynamic(const struct tsv_cmd *cmd)
{
	return &cmd->vk.dynamic_graphics_state;
}

/* ---- Viewports ------------------------------------------------------------------------------- */

/* The first pixel whose center is not below @edge, as far as @most. */
static uint32_t first_pixel(float edge, uint32_t most)
{
	const float at = ceilf(edge - 0.5f);

	if (!(at > 0))
		return 0;
	return at >= (float)most ? most : (uint32_t)at;
}

/*
 * The pixels of one side that are in the scissor and in the render area. Triangles and lines also
 * end at the viewport.
 */
static void clip(float edge, float size, bool ends, int32_t scissor, uint32_t extent, int32_t area,
		 uint32_t area_extent, uint32_t *low, uint32_t *high)
{
	const uint32_t most = MIN2((uint32_t)area + area_extent, TSR_FRAME_DIM_MAX);
	const uint64_t end = (uint64_t)scissor + extent;

	*low = MAX2((uint32_t)MAX2(scissor, 0), (uint32_t)area);
	*high = (uint32_t)MIN2(end, most);
	if (ends) {
		*low = MAX2(*low, first_pixel(MIN2(edge, edge + size), most));
		*high = MIN2(*high, first_pixel(MAX2(edge, edge + size), most));
	}
	*low = MIN2(*low, most);
	*high = MAX2(*high, *low);
}

static void pack_viewport(const struct tsv_cmd *cmd, unsigned i, bool ends, uint64_t *words)
{
	const struct vk_viewport_state *vp = &dynamic(cmd)->vp;
	const VkViewport *v = &vp->viewports[i];
	const VkRect2D *s = &vp->scissors[i], *area = &cmd->pass.area;
	struct tsr_viewport p = {
		.x = fui(v->x), .y = fui(v->y), .width = fui(v->width), .height = fui(v->height),
		.near = fui(v->minDepth), .far = fui(v->maxDepth),
	};

	clip(v->x, v->width, ends, s->offset.x, s->extent.width, area->offset.x,
	     area->extent.width, &p.scissor_x0, &p.scissor_x1);
	clip(v->y, v->height, ends, s->offset.y, s->extent.height, area->offset.y,
	     area->extent.height, &p.scissor_y0, &p.scissor_y1);
	tsr_pack_viewport(words, &p);
}

/* ---- Blending -------------------------------------------------------------------------------- */

static bool has_logic(const struct vk_color_blend_state *cb)
{
	return cb->logic_op_enable && cb->logic_op != VK_LOGIC_OP_COPY;
}

static uint32_t mask_of(const struct vk_color_blend_state *cb, unsigned i)
{
	return cb->color_write_enables & 1u << i ? cb->attachments[i].write_mask : 0;
}

static void pack_blend(const struct tsv_cmd *cmd, unsigned i, uint64_t *words)
{
	const struct vk_color_blend_state *cb = &dynamic(cmd)->cb;
	const struct vk_color_blend_attachment_state *a = &cb->attachments[i];
	const struct tsv_shader *fs = cmd->graphics.fragment;
	const enum pipe_format format = cmd->pass.format[i] ? cmd->pass.format[i]
							    : PIPE_FORMAT_R8_UNORM;
	const uint32_t mask = cmd->pass.format[i] ? mask_of(cb, i) : 0;
	/* the alpha counts, whether or not a color is written */
	const bool covers = i == 0 && dynamic(cmd)->ms.alpha_to_coverage_enable;
	struct tsr_blend p = { .mode = TSR_BLEND_MODE_OFF };

	if ((mask || covers) && fs && fs->info.color_outputs & 1u << i) {
		p = (struct tsr_blend){
			.enable = a->blend_enable && !cb->logic_op_enable,
			.mask = mask,
			.mode = TSR_BLEND_MODE_FIXED,
			.components = 3,
			.target = i,
			.format = tc_conversion(format),
			.registers = tc_register_type(fs->info.pan.bifrost.blend[i].type, format),
		};
		if (!p.enable && mask == 0xf && !has_logic(cb))
			p.mode = TSR_BLEND_MODE_OPAQUE;
	}
	if (p.enable) {
		p.src_color = a->src_color_blend_factor;
		p.dst_color = a->dst_color_blend_factor;
		p.src_alpha = a->src_alpha_blend_factor;
		p.dst_alpha = a->dst_alpha_blend_factor;
		p.color_op = a->color_blend_op;
		p.alpha_op = a->alpha_blend_op;
	}
	tsr_pack_blend(words, &p);
}

/* ---- The rest -------------------------------------------------------------------------------- */

static void fill_depth(const struct tsv_cmd *cmd, struct tsr_draw_state *d)
{
	const struct vk_depth_stencil_state *ds = &dynamic(cmd)->ds;
	const struct vk_stencil_test_face_state *front = &ds->stencil.front,
						*back = &ds->stencil.back;

	d->depth_test = ds->depth.test_enable && cmd->pass.depth;
	d->depth_write = d->depth_test && ds->depth.write_enable;
	d->depth_function = ds->depth.compare_op;
	d->depth_bounds = ds->depth.bounds_test.enable && cmd->pass.depth;
	d->depth_min = fui(ds->depth.bounds_test.min);
	d->depth_max = fui(ds->depth.bounds_test.max);
	d->stencil_test = ds->stencil.test_enable && cmd->pass.stencil;
	d->front_function = front->op.compare;
	d->front_fail = front->op.fail;
	d->front_depth_fail = front->op.depth_fail;
	d->front_pass = front->op.pass;
	d->front_read_mask = front->compare_mask;
	d->front_write_mask = front->write_mask;
	d->front_reference = front->reference;
	d->back_function = back->op.compare;
	d->back_fail = back->op.fail;
	d->back_depth_fail = back->op.depth_fail;
	d->back_pass = back->op.pass;
	d->back_read_mask = back->compare_mask;
	d->back_write_mask = back->write_mask;
	d->back_reference = back->reference;
}

static bool is_points(const struct tsv_cmd *cmd)
{
	return dynamic(cmd)->ia.primitive_topology == VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
}

static void fill_raster(const struct tsv_cmd *cmd, struct tsr_draw_state *d)
{
	const struct vk_rasterization_state *rs = &dynamic(cmd)->rs;

	d->cull_front = !!(rs->cull_mode & VK_CULL_MODE_FRONT_BIT);
	d->cull_back = !!(rs->cull_mode & VK_CULL_MODE_BACK_BIT);
	d->front_clockwise = rs->front_face == VK_FRONT_FACE_CLOCKWISE;
	d->provoking_last = rs->provoking_vertex == VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT;
	d->depth_clamp = !vk_rasterization_state_depth_clip_enable(rs);
	d->discard = rs->rasterizer_discard_enable;
	d->depth_bias = rs->depth_bias.enable && (rs->depth_bias.constant_factor != 0 ||
						  rs->depth_bias.slope_factor != 0);
	d->bias_constant = fui(rs->depth_bias.constant_factor);
	d->bias_slope = fui(rs->depth_bias.slope_factor);
	d->bias_clamp = fui(rs->depth_bias.clamp);
	d->line_mode = TSR_LINE_MODE_BRESENHAM;
	d->line_width = fui(rs->line.width);
	d->point_size = fui(1);
	d->point_origin = TSR_POINT_ORIGIN_UPPER;
}

static void fill_colors(const struct tsv_cmd *cmd, struct tsr_draw_state *d)
{
	const struct vk_dynamic_graphics_state *dyn = dynamic(cmd);

	d->alpha_to_coverage = dyn->ms.alpha_to_coverage_enable;
	d->alpha_to_one = dyn->ms.alpha_to_one_enable;
	d->logic = has_logic(&dyn->cb);
	d->logic_op = d->logic ? dyn->cb.logic_op : 0;
	d->sample_mask = dyn->ms.sample_mask;
	d->blend_red = fui(dyn->cb.blend_constants[0]);
	d->blend_green = fui(dyn->cb.blend_constants[1]);
	d->blend_blue = fui(dyn->cb.blend_constants[2]);
	d->blend_alpha = fui(dyn->cb.blend_constants[3]);
}

/* All pipelines of a pass without attachments have the same number of samples. */
static void set_samples(struct tsv_cmd *cmd)
{
	const uint32_t samples = dynamic(cmd)->ms.rasterization_samples;

	if (cmd->pass.bare)
		cmd->pass.frame.samples_log2 = util_logbase2(MAX2(samples, 1));
}

bool tsv_state_write(struct tsv_cmd *cmd)
{
	const unsigned viewports = CLAMP(dynamic(cmd)->vp.viewport_count, 1, TSR_VIEWPORTS_MAX),
		       blends = MAX2(cmd->pass.colors,
				     dynamic(cmd)->ms.alpha_to_coverage_enable);
	struct tsr_draw_state d = { .viewport_count = viewports, .blend_count = blends };
	struct tsr_list_draw_state packet;
	uint64_t *words;
	unsigned i;

	set_samples(cmd);
	cmd->pass.alpha |= dynamic(cmd)->ms.alpha_to_coverage_enable;
	fill_raster(cmd, &d);
	fill_depth(cmd, &d);
	fill_colors(cmd, &d);
	words = tsv_cmd_alloc(cmd, STATE_BYTES + viewports * VIEWPORT_BYTES + blends * BLEND_BYTES,
			      64, &packet.addr);
	if (!words)
		return false;
	d.viewports = packet.addr + STATE_BYTES;
	d.blends = d.viewports + viewports * VIEWPORT_BYTES;
	tsr_pack_draw_state(words, &d);
	words += STATE_BYTES / 8;
	for (i = 0; i < viewports; i++)
		pack_viewport(cmd, i, !is_points(cmd), words + i * TSR_VIEWPORT__QWORDS);
	words += viewports * TSR_VIEWPORT__QWORDS;
	for (i = 0; i < blends; i++)
		pack_blend(cmd, i, words + i * TSR_BLEND__QWORDS);
	words = tsv_cmd_packet(cmd, TSR_LIST_DRAW_STATE_QWORDS);
	if (words)
		tsr_pack_list_draw_state(words, &packet);
	return words;
}
