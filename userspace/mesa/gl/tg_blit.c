/* SPDX-License-Identifier: MIT */
/*
 * Clears and copies. A clear at the begin of a batch is what its tiles begin with, other clears are
 * drawn. Copies that keep the bits are jobs of the COPY engine, others are drawn.
 */
#include "util/format/u_format.h"
#include "util/log.h"
#include "util/u_framebuffer.h"
#include "util/u_surface.h"

#include "tg_blit.h"
#include "tg_context.h"
#include "tg_draw.h"
#include "tc_format.h"
#include "tg_region.h"
#include "tg_resource.h"

void tg_blit_save(struct tg_context *ctx, bool condition)
{
	struct blitter_context *blitter = ctx->blitter;
	struct tg_stage *fs = &ctx->stage[PIPE_SHADER_FRAGMENT];

	util_blitter_save_vertex_buffers(blitter, ctx->vertex_buffers, ctx->vertex_buffer_count);
	util_blitter_save_vertex_elements(blitter, ctx->elements);
	util_blitter_save_vertex_shader(blitter, ctx->stage[PIPE_SHADER_VERTEX].shader);
	util_blitter_save_tessctrl_shader(blitter, ctx->stage[PIPE_SHADER_TESS_CTRL].shader);
	util_blitter_save_tesseval_shader(blitter, ctx->stage[PIPE_SHADER_TESS_EVAL].shader);
	util_blitter_save_geometry_shader(blitter, ctx->stage[PIPE_SHADER_GEOMETRY].shader);
	util_blitter_save_rasterizer(blitter, ctx->rasterizer);
	util_blitter_save_viewport(blitter, &ctx->viewports[0]);
	util_blitter_save_scissor(blitter, &ctx->scissors[0]);
	util_blitter_save_fragment_shader(blitter, fs->shader);
	util_blitter_save_blend(blitter, ctx->blend);
	util_blitter_save_depth_stencil_alpha(blitter, ctx->zsa);
	util_blitter_save_stencil_ref(blitter, &ctx->stencil_ref);
	util_blitter_save_sample_mask(blitter, ctx->sample_mask, ctx->min_samples);
	util_blitter_save_framebuffer(blitter, &ctx->framebuffer);
	util_blitter_save_fragment_sampler_states(blitter, fs->sampler_count,
						  (void **)fs->samplers);
	util_blitter_save_fragment_sampler_views(blitter, fs->view_count, fs->views);
	util_blitter_save_fragment_constant_buffer_slot(blitter, fs->constants);
	util_blitter_save_so_targets(blitter, ctx->stream_count,
				     (struct pipe_stream_output_target **)ctx->streams,
				     MESA_PRIM_UNKNOWN);
	if (!condition)
		util_blitter_save_render_condition(blitter, ctx->condition, ctx->condition_value,
						   ctx->condition_mode);
}

/* ---- Clears ---------------------------------------------------------------------------------- */

/* Masks of targets, of Gallium's bits. */
static uint32_t targets_of(const struct tg_batch *b, unsigned buffers)
{
	uint32_t mask = (buffers >> 2) & 0xff;	/* PIPE_CLEAR_COLOR0 … */

	if (buffers & PIPE_CLEAR_DEPTH)
		mask |= TG_DEPTH_BIT;
	if (buffers & PIPE_CLEAR_STENCIL)
		mask |= TG_STENCIL_BIT;
	return mask & b->targets;
}

_Static_assert(PIPE_CLEAR_COLOR0 == 1 << 2 && PIPE_CLEAR_COLOR7 == 1 << 9, "bits of targets_of()");

static void clear(struct pipe_context *pipe, unsigned buffers,
		  const struct pipe_scissor_state *scissor, const union pipe_color_union *color,
		  double depth, unsigned stencil)
{
	struct tg_context *ctx = tg_context(pipe);
	const struct pipe_framebuffer_state *fb = &ctx->framebuffer;
	struct tg_batch *b;
	uint32_t mask, i;

	if (!tg_context_condition(ctx))
		return;
	b = tg_batch_get(ctx);
	if (!b)
		return;
	mask = targets_of(b, buffers);
	if (b->drawn & mask) {
		tg_blit_save(ctx, true);
		util_blitter_clear(ctx->blitter, fb->width, fb->height, b->layers, buffers, color,
				   depth, stencil, b->samples_log2 > 0);
		return;
	}
	for (i = 0; i < TG_COLORS; i++) {
		if (mask & 1u << i)
			b->color[i] = *color;
	}
	if (mask & TG_DEPTH_BIT)
		b->depth = (float)depth;
	if (mask & TG_STENCIL_BIT)
		b->stencil = (uint8_t)stencil;
	b->cleared |= mask;
	b->invalid &= ~mask;
}

static void clear_render_target(struct pipe_context *pipe, struct pipe_surface *dst,
				const union pipe_color_union *color, unsigned x, unsigned y,
				unsigned width, unsigned height, bool condition)
{
	struct tg_context *ctx = tg_context(pipe);

	tg_blit_save(ctx, condition);
	util_blitter_clear_render_target(ctx->blitter, dst, color, x, y, width, height);
}

static void clear_depth_stencil(struct pipe_context *pipe, struct pipe_surface *dst, unsigned flags,
				double depth, unsigned stencil, unsigned x, unsigned y,
				unsigned width, unsigned height, bool condition)
{
	struct tg_context *ctx = tg_context(pipe);

	tg_blit_save(ctx, condition);
	util_blitter_clear_depth_stencil(ctx->blitter, dst, flags, depth, stencil, x, y, width,
					 height);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static void blit(struct pipe_context *pipe, const struct pipe_blit_info *info)
{
	struct tg_context *ctx = tg_context(pipe);
	struct pipe_blit_info b = *info;

	if (b.render_condition_enable && !tg_context_condition(ctx))
		return;
	if (tg_region_blit(ctx, &b) || tg_blit_texels(ctx, &b) || tg_blit_bytes(ctx, &b) ||
	    tg_blit_resolve(ctx, &b))
		return;
	if (util_try_blit_via_copy_region(pipe, &b, ctx->condition != NULL))
		return;
	if (!util_blitter_is_blit_supported(ctx->blitter, &b)) {
		mesa_loge("tessera: no blit from %s to %s", util_format_short_name(b.src.format),
			  util_format_short_name(b.dst.format));
		return;
	}
	if (tg_blit_slices(ctx, &b))
		return;
	tg_blit_save(ctx, b.render_condition_enable);
	util_blitter_blit(ctx->blitter, &b, NULL);
}

/* Integers of that many bytes; NONE: there is none. */
static enum pipe_format words_of(enum pipe_format format)
{
	switch (util_format_get_blocksize(format)) {
	case 1:
		return PIPE_FORMAT_R8_UINT;
	case 2:
		return PIPE_FORMAT_R16_UINT;
	case 4:
		return PIPE_FORMAT_R32_UINT;
	case 8:
		return PIPE_FORMAT_R32G32_UINT;
	case 16:
		return PIPE_FORMAT_R32G32B32A32_UINT;
	default:
		return PIPE_FORMAT_NONE;
	}
}

/*
 * A copy between textures of colors, of any formats whose texels have the same size: bit by bit,
 * which a copy of numbers is not (there are two of -1). False: not on the GPU.
 */
static bool copy_words(struct tg_context *ctx, struct pipe_resource *dst, unsigned dst_level,
		       unsigned x, unsigned y, unsigned z, struct pipe_resource *src,
		       unsigned src_level, const struct pipe_box *box)
{
	const enum pipe_format format = words_of(src->format);
	struct pipe_surface to, *surface;
	struct pipe_sampler_view from, *view;
	struct pipe_box into;

	if (util_format_is_compressed(dst->format) || util_format_is_compressed(src->format) ||
	    util_format_is_depth_or_stencil(dst->format) ||
	    util_format_is_depth_or_stencil(src->format) || format == PIPE_FORMAT_NONE)
		return false;
	tg_blit_save(ctx, false);
	util_blitter_default_dst_texture(&to, dst, dst_level, z);
	util_blitter_default_src_texture(ctx->blitter, &from, src, src_level);
	to.format = from.format = format;
	surface = ctx->base.create_surface(&ctx->base, dst, &to);
	view = ctx->base.create_sampler_view(&ctx->base, src, &from);
	u_box_3d((int)x, (int)y, (int)z, box->width, box->height, box->depth, &into);
	if (surface && view)
		util_blitter_blit_generic(ctx->blitter, surface, &into, view, box, src->width0,
					  src->height0, PIPE_MASK_RGBA, PIPE_TEX_FILTER_NEAREST,
					  NULL, false, false, 0, NULL);
	pipe_surface_reference(&surface, NULL);
	pipe_sampler_view_reference(&view, NULL);
	return true;
}

static void resource_copy_region(struct pipe_context *pipe, struct pipe_resource *dst,
				 unsigned dst_level, unsigned x, unsigned y, unsigned z,
				 struct pipe_resource *src, unsigned src_level,
				 const struct pipe_box *box)
{
	struct tg_context *ctx = tg_context(pipe);
	const bool textures = dst->target != PIPE_BUFFER && src->target != PIPE_BUFFER;

	if (textures && tg_region_copy(ctx, dst, dst_level, x, y, z, src, src_level, box))
		return;
	if (dst->target == PIPE_BUFFER && src->target == PIPE_BUFFER &&
	    tg_region_copy_buffer(ctx, dst, x, src, (unsigned)box->x, (unsigned)box->width))
		return;
	if (textures && copy_words(ctx, dst, dst_level, x, y, z, src, src_level, box))
		return;
	if (textures && dst->format == src->format && !util_format_is_compressed(dst->format) &&
	    util_blitter_is_copy_supported(ctx->blitter, dst, src)) {
		tg_blit_save(ctx, false);
		util_blitter_copy_texture(ctx->blitter, dst, dst_level, x, y, z, src, src_level,
					  box);
		return;
	}
	util_resource_copy_region(pipe, dst, dst_level, x, y, z, src, src_level, box);
}

static void flush_resource(struct pipe_context *pipe, struct pipe_resource *resource)
{
}

/* The contents of a target are not wanted any more: it need not be stored. */
static void invalidate_resource(struct pipe_context *pipe, struct pipe_resource *resource)
{
	struct tg_batch *b = tg_context(pipe)->batch;
	unsigned i;

	if (!b)
		return;
	for (i = 0; i < b->fb.nr_cbufs; i++) {
		if (b->fb.cbufs[i] && b->fb.cbufs[i]->texture == resource)
			b->invalid |= 1u << i;
	}
	if (b->fb.zsbuf && b->fb.zsbuf->texture == resource)
		b->invalid |= TG_DEPTH_BIT | TG_STENCIL_BIT;
}

void tg_blit_init(struct pipe_context *pipe)
{
	pipe->clear = clear;
	pipe->clear_render_target = clear_render_target;
	pipe->clear_depth_stencil = clear_depth_stencil;
	pipe->blit = blit;
	pipe->resource_copy_region = resource_copy_region;
	pipe->flush_resource = flush_resource;
	pipe->invalidate_resource = invalidate_resource;
}
