/* SPDX-License-Identifier: MIT */
/* DRAW_STATE: what the fixed functions do, with viewports and blending. */
#include "util/format/u_format.h"
#include "util/u_math.h"

#include "tg_context.h"
#include "tg_draw.h"
#include "tc_format.h"

static const uint8_t blend_factors[32] = {
	[PIPE_BLENDFACTOR_ZERO] = TSR_BLEND_FACTOR_ZERO,
	[PIPE_BLENDFACTOR_ONE] = TSR_BLEND_FACTOR_ONE,
	[PIPE_BLENDFACTOR_SRC_COLOR] = TSR_BLEND_FACTOR_SRC_COLOR,
	[PIPE_BLENDFACTOR_INV_SRC_COLOR] = TSR_BLEND_FACTOR_ONE_MINUS_SRC_COLOR,
	[PIPE_BLENDFACTOR_DST_COLOR] = TSR_BLEND_FACTOR_DST_COLOR,
	[PIPE_BLENDFACTOR_INV_DST_COLOR] = TSR_BLEND_FACTOR_ONE_MINUS_DST_COLOR,
	[PIPE_BLENDFACTOR_SRC_ALPHA] = TSR_BLEND_FACTOR_SRC_ALPHA,
	[PIPE_BLENDFACTOR_INV_SRC_ALPHA] = TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
	[PIPE_BLENDFACTOR_DST_ALPHA] = TSR_BLEND_FACTOR_DST_ALPHA,
	[PIPE_BLENDFACTOR_INV_DST_ALPHA] = TSR_BLEND_FACTOR_ONE_MINUS_DST_ALPHA,
	[PIPE_BLENDFACTOR_CONST_COLOR] = TSR_BLEND_FACTOR_CONSTANT_COLOR,
	[PIPE_BLENDFACTOR_INV_CONST_COLOR] = TSR_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR,
	[PIPE_BLENDFACTOR_CONST_ALPHA] = TSR_BLEND_FACTOR_CONSTANT_ALPHA,
	[PIPE_BLENDFACTOR_INV_CONST_ALPHA] = TSR_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA,
	[PIPE_BLENDFACTOR_SRC_ALPHA_SATURATE] = TSR_BLEND_FACTOR_SRC_ALPHA_SATURATE,
	[PIPE_BLENDFACTOR_SRC1_COLOR] = TSR_BLEND_FACTOR_SRC1_COLOR,
	[PIPE_BLENDFACTOR_INV_SRC1_COLOR] = TSR_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR,
	[PIPE_BLENDFACTOR_SRC1_ALPHA] = TSR_BLEND_FACTOR_SRC1_ALPHA,
	[PIPE_BLENDFACTOR_INV_SRC1_ALPHA] = TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA,
};

static const uint8_t logic_ops[16] = {
	[PIPE_LOGICOP_CLEAR] = TSR_LOGIC_OP_CLEAR,
	[PIPE_LOGICOP_NOR] = TSR_LOGIC_OP_NOR,
	[PIPE_LOGICOP_AND_INVERTED] = TSR_LOGIC_OP_AND_INVERTED,
	[PIPE_LOGICOP_COPY_INVERTED] = TSR_LOGIC_OP_COPY_INVERTED,
	[PIPE_LOGICOP_AND_REVERSE] = TSR_LOGIC_OP_AND_REVERSE,
	[PIPE_LOGICOP_INVERT] = TSR_LOGIC_OP_INVERT,
	[PIPE_LOGICOP_XOR] = TSR_LOGIC_OP_XOR,
	[PIPE_LOGICOP_NAND] = TSR_LOGIC_OP_NAND,
	[PIPE_LOGICOP_AND] = TSR_LOGIC_OP_AND,
	[PIPE_LOGICOP_EQUIV] = TSR_LOGIC_OP_EQUIVALENT,
	[PIPE_LOGICOP_NOOP] = TSR_LOGIC_OP_NO_OP,
	[PIPE_LOGICOP_OR_INVERTED] = TSR_LOGIC_OP_OR_INVERTED,
	[PIPE_LOGICOP_COPY] = TSR_LOGIC_OP_COPY,
	[PIPE_LOGICOP_OR_REVERSE] = TSR_LOGIC_OP_OR_REVERSE,
	[PIPE_LOGICOP_OR] = TSR_LOGIC_OP_OR,
	[PIPE_LOGICOP_SET] = TSR_LOGIC_OP_SET,
};

static const uint8_t stencil_ops[8] = {
	[PIPE_STENCIL_OP_KEEP] = TSR_STENCIL_OP_KEEP,
	[PIPE_STENCIL_OP_ZERO] = TSR_STENCIL_OP_ZERO,
	[PIPE_STENCIL_OP_REPLACE] = TSR_STENCIL_OP_REPLACE,
	[PIPE_STENCIL_OP_INCR] = TSR_STENCIL_OP_INCREMENT_CLAMP,
	[PIPE_STENCIL_OP_DECR] = TSR_STENCIL_OP_DECREMENT_CLAMP,
	[PIPE_STENCIL_OP_INCR_WRAP] = TSR_STENCIL_OP_INCREMENT_WRAP,
	[PIPE_STENCIL_OP_DECR_WRAP] = TSR_STENCIL_OP_DECREMENT_WRAP,
	[PIPE_STENCIL_OP_INVERT] = TSR_STENCIL_OP_INVERT,
};

/* ---- Viewports ------------------------------------------------------------------------------- */

/* The first pixel whose center does not lie below @edge, within @side. */
static uint32_t first_pixel(float edge, uint32_t side)
{
	const float at = ceilf(edge - 0.5f);

	if (!(at > 0))
		return 0;
	return at >= (float)side ? side : (uint32_t)at;
}

/* Pixels of one side: of the scissor, and of the viewport where primitives end there. */
static void clip_side(float translate, float scale, bool at_viewport, uint32_t first, uint32_t end,
		      uint32_t side, uint32_t *low, uint32_t *high)
{
	*low = MIN2(first, side);
	*high = MIN2(end, side);
	if (at_viewport) {
		*low = MAX2(*low, first_pixel(translate - fabsf(scale), side));
		*high = MIN2(*high, first_pixel(translate + fabsf(scale), side));
	}
	*high = MAX2(*high, *low);
}

static void pack_viewport(const struct tg_context *ctx, const struct tg_batch *b, unsigned i,
			  bool ends, uint64_t *words)
{
	const struct pipe_viewport_state *v = &ctx->viewports[i];
	const struct pipe_scissor_state *s = &ctx->scissors[i];
	const bool scissor = ctx->rasterizer->scissor;
	const float near =
		ctx->rasterizer->clip_halfz ? v->translate[2] : v->translate[2] - v->scale[2];
	struct tsr_viewport p = {
		.x = fui(v->translate[0] - v->scale[0]), .y = fui(v->translate[1] - v->scale[1]),
		.width = fui(2 * v->scale[0]), .height = fui(2 * v->scale[1]),
		.near = fui(near + ctx->depth_bias),
		.far = fui(v->translate[2] + v->scale[2] + ctx->depth_bias),
	};

	clip_side(v->translate[0], v->scale[0], ends, scissor ? s->minx : 0,
		  scissor ? s->maxx : b->fb.width, b->fb.width, &p.scissor_x0, &p.scissor_x1);
	clip_side(v->translate[1], v->scale[1], ends, scissor ? s->miny : 0,
		  scissor ? s->maxy : b->fb.height, b->fb.height, &p.scissor_y0, &p.scissor_y1);
	tsr_pack_viewport(words, &p);
}

/* ---- Blending -------------------------------------------------------------------------------- */

static uint32_t registers_of(const struct tg_variant *v, unsigned i, enum pipe_format format)
{
	if (!v->info.fs.untyped_color_outputs)
		return tc_register_type(v->info.bifrost.blend[i].type, format);
	return util_format_is_pure_sint(format)	  ? TSR_REGISTER_TYPE_S32
	       : util_format_is_pure_uint(format) ? TSR_REGISTER_TYPE_U32
						  : TSR_REGISTER_TYPE_F32;
}

/* True if blending does what no blending does: ONE * source + ZERO * destination. */
static bool keeps_source(const struct pipe_rt_blend_state *rt)
{
	return rt->rgb_func == PIPE_BLEND_ADD && rt->rgb_src_factor == PIPE_BLENDFACTOR_ONE &&
	       rt->rgb_dst_factor == PIPE_BLENDFACTOR_ZERO && rt->alpha_func == PIPE_BLEND_ADD &&
	       rt->alpha_src_factor == PIPE_BLENDFACTOR_ONE &&
	       rt->alpha_dst_factor == PIPE_BLENDFACTOR_ZERO;
}

/* A logic operation turns blending off, and COPY turns itself off too. */
static bool has_logic(const struct pipe_blend_state *blend)
{
	return blend->logicop_enable && blend->logicop_func != PIPE_LOGICOP_COPY;
}

static void pack_blend(const struct tg_context *ctx, const struct tg_batch *b, unsigned i,
		       uint64_t *words)
{
	const struct tg_variant *fs = ctx->stage[PIPE_SHADER_FRAGMENT].variant;
	const struct pipe_rt_blend_state *rt =
		&ctx->blend->rt[ctx->blend->independent_blend_enable ? i : 0];
	const struct pipe_surface *s = b->fb.cbufs[i];
	/* the alpha counts, whether or not a color is written */
	const bool covers = i == 0 && ctx->blend->alpha_to_coverage && ctx->rasterizer->multisample;
	struct tsr_blend p = { .mode = TSR_BLEND_MODE_OFF };

	if (((s && rt->colormask) || covers) && fs && fs->color_outputs & 1u << i) {
		/* what tg_frame.c has where there is no target */
		const enum pipe_format format = s ? s->format : PIPE_FORMAT_R8_UNORM;

		p = (struct tsr_blend){
			.enable = rt->blend_enable && !ctx->blend->logicop_enable &&
				  !keeps_source(rt),
			.mask = s ? rt->colormask : 0,
			.mode = TSR_BLEND_MODE_FIXED,
			.components = 3,
			.target = i,
			.format = tc_conversion(format),
			.registers = registers_of(fs, i, format),
		};
		if (!p.enable && s && rt->colormask == PIPE_MASK_RGBA && !has_logic(ctx->blend))
			p.mode = TSR_BLEND_MODE_OPAQUE;
	}
	if (p.enable) {
		p.src_color = blend_factors[rt->rgb_src_factor];
		p.dst_color = blend_factors[rt->rgb_dst_factor];
		p.src_alpha = blend_factors[rt->alpha_src_factor];
		p.dst_alpha = blend_factors[rt->alpha_dst_factor];
		p.color_op = rt->rgb_func;
		p.alpha_op = rt->alpha_func;
	}
	tsr_pack_blend(words, &p);
}

/* ---- The rest -------------------------------------------------------------------------------- */

/* A test that always passes and changes nothing is as good as none. */
static bool stencil_matters(const struct pipe_stencil_state *s)
{
	return s->func != PIPE_FUNC_ALWAYS || (s->writemask &&
					       (s->zpass_op != PIPE_STENCIL_OP_KEEP ||
						s->zfail_op != PIPE_STENCIL_OP_KEEP));
}

static bool depth_matters(const struct pipe_depth_stencil_alpha_state *z)
{
	return z->depth_enabled && (z->depth_writemask || z->depth_func != PIPE_FUNC_ALWAYS);
}

static void fill_depth(const struct tg_context *ctx, const struct tg_batch *b,
		       struct tsr_draw_state *d)
{
	const struct pipe_depth_stencil_alpha_state *z = ctx->zsa;
	const struct pipe_stencil_state *front = &z->stencil[0];
	const struct pipe_stencil_state *back = z->stencil[1].enabled ? &z->stencil[1] : front;

	d->depth_test = depth_matters(z) && b->targets & TG_DEPTH_BIT;
	d->depth_write = d->depth_test && z->depth_writemask;
	d->depth_function = z->depth_func;
	d->depth_bounds = z->depth_bounds_test && b->targets & TG_DEPTH_BIT;
	d->depth_min = fui((float)z->depth_bounds_min);
	d->depth_max = fui((float)z->depth_bounds_max);
	d->stencil_test = front->enabled && b->targets & TG_STENCIL_BIT &&
			  (stencil_matters(front) || stencil_matters(back));
	d->front_function = front->func;
	d->front_fail = stencil_ops[front->fail_op];
	d->front_depth_fail = stencil_ops[front->zfail_op];
	d->front_pass = stencil_ops[front->zpass_op];
	d->front_read_mask = front->valuemask;
	d->front_write_mask = front->writemask;
	d->front_reference = ctx->stencil_ref.ref_value[0];
	d->back_function = back->func;
	d->back_fail = stencil_ops[back->fail_op];
	d->back_depth_fail = stencil_ops[back->zfail_op];
	d->back_pass = stencil_ops[back->zpass_op];
	d->back_read_mask = back->valuemask;
	d->back_write_mask = back->writemask;
	d->back_reference = ctx->stencil_ref.ref_value[z->stencil[1].enabled];
}

static void fill_raster(const struct tg_context *ctx, struct tsr_draw_state *d)
{
	const struct pipe_rasterizer_state *r = ctx->rasterizer;

	d->cull_front = r->cull_face & PIPE_FACE_FRONT;
	d->cull_back = r->cull_face & PIPE_FACE_BACK;
	d->front_clockwise = !r->front_ccw;
	d->provoking_last = !r->flatshade_first;
	d->depth_clamp = !r->depth_clip_near;
	d->depth_minus_one = !r->clip_halfz;
	d->discard = r->rasterizer_discard;
	d->depth_bias = r->offset_tri && (r->offset_units != 0 || r->offset_scale != 0);
	/* the device's unit, when depths are rounded, may come to nothing: two never do */
	d->bias_constant = fui(2 * r->offset_units);
	d->bias_slope = fui(r->offset_scale);
	d->bias_clamp = fui(r->offset_clamp);
	d->line_mode = r->line_rectangular ? TSR_LINE_MODE_RECTANGULAR : TSR_LINE_MODE_BRESENHAM;
	d->line_width = fui(r->line_width);
	d->point_size = fui(r->point_size);
	d->point_origin = r->sprite_coord_mode == PIPE_SPRITE_COORD_UPPER_LEFT
				  ? TSR_POINT_ORIGIN_UPPER
				  : TSR_POINT_ORIGIN_LOWER;
}

/* True if red, green or blue has fewer than 8 bits. Alpha does not count. */
static bool has_few_bits(enum pipe_format format)
{
	unsigned i, bits;

	for (i = 0; i < 3; i++) {
		bits = util_format_get_component_bits(format, UTIL_FORMAT_COLORSPACE_RGB, i);
		if (bits && bits < 8)
			return true;
	}
	return false;
}

/*
 * GL_DITHER is on unless a program turns it off, and dithering leaves the device's fast ways of
 * writing colors. Other drivers do not dither components with 8 bits or more, either.
 */
static bool dithers(const struct tg_context *ctx, const struct tg_batch *b)
{
	const struct tg_variant *fs = ctx->stage[PIPE_SHADER_FRAGMENT].variant;
	unsigned i;

	for (i = 0; ctx->blend->dither && fs && i < b->fb.nr_cbufs; i++) {
		if (b->fb.cbufs[i] && fs->color_outputs & 1u << i &&
		    has_few_bits(b->fb.cbufs[i]->format))
			return true;
	}
	return false;
}

static void fill_colors(const struct tg_context *ctx, const struct tg_batch *b,
			struct tsr_draw_state *d)
{
	const struct pipe_blend_state *blend = ctx->blend;
	const bool multisample = ctx->rasterizer->multisample;

	d->alpha_to_coverage = blend->alpha_to_coverage && multisample;
	d->alpha_to_one = blend->alpha_to_one && multisample;
	d->dither = dithers(ctx, b);
	d->logic = has_logic(blend);
	d->logic_op = d->logic ? logic_ops[blend->logicop_func] : 0;
	d->sample_mask = ctx->sample_mask & 0xffff;
	d->center = !multisample;
	d->blend_red = fui(ctx->blend_color.color[0]);
	d->blend_green = fui(ctx->blend_color.color[1]);
	d->blend_blue = fui(ctx->blend_color.color[2]);
	d->blend_alpha = fui(ctx->blend_color.color[3]);
}

/* Which targets a draw with this state reads or writes. */
static uint32_t touched(const struct tg_context *ctx, const struct tg_batch *b,
			const struct tsr_draw_state *d)
{
	const struct tg_variant *fs = ctx->stage[PIPE_SHADER_FRAGMENT].variant;
	uint32_t mask = fs ? fs->color_outputs : 0;

	if (d->depth_test || d->depth_bounds)
		mask |= TG_DEPTH_BIT;
	if (d->stencil_test)
		mask |= TG_STENCIL_BIT;
	return mask & b->targets;
}

_Static_assert(TSR_DRAW_STATE__QWORDS * 8 == 128 && TSR_VIEWPORT__QWORDS * 8 == 32 &&
		       TSR_BLEND__QWORDS * 8 == 16,
	       "sizes in tg_fixed_write()");

bool tg_fixed_write(struct tg_context *ctx, struct tg_batch *b, bool ends)
{
	const unsigned viewports = tg_stages_last(ctx)->writes_viewport ? PIPE_MAX_VIEWPORTS : 1,
		       blends = b->fb.nr_cbufs;
	struct tsr_draw_state d = { .viewport_count = viewports, .blend_count = blends };
	struct tsr_list_draw_state packet;
	uint64_t *words;
	unsigned i;

	fill_raster(ctx, &d);
	fill_depth(ctx, b, &d);
	fill_colors(ctx, b, &d);
	/* OpenGL ES wants to see of points what is in the viewport */
	d.keep_outside = ctx->topology_class != TG_TRIANGLES &&
			 ctx->rasterizer->point_line_tri_clip;
	words = tg_batch_alloc(b, 128 + viewports * 32 + blends * 16, 64, &packet.addr);
	if (!words)
		return false;
	d.viewports = packet.addr + 128;
	d.blends = d.viewports + viewports * 32;
	tsr_pack_draw_state(words, &d);
	for (i = 0; i < viewports; i++)
		pack_viewport(ctx, b, i, ends, words + 16 + 4 * i);
	for (i = 0; i < blends; i++)
		pack_blend(ctx, b, i, words + 16 + 4 * viewports + 2 * i);
	b->drawn_by_state = touched(ctx, b, &d);
	words = tg_batch_packet(b, TSR_LIST_DRAW_STATE_QWORDS);
	if (!words)
		return false;
	tsr_pack_list_draw_state(words, &packet);
	return true;
}
