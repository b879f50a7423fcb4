/* SPDX-License-Identifier: MIT */
/*
 * Blits as draws of 2D slices. The device samples a 2D texture of floats with one sample fast, and
 * fetches texels slowly. Each sample of a texture is a plane like a texture of its own, so a
 * resolve is the mean of as many textures. TILE_STORE resolves too, but a frame loads a target from
 * where it stores it: it cannot load the samples and store the mean elsewhere.
 */
#include "tgsi/tgsi_ureg.h"
#include "util/format/u_format.h"
#include "util/u_blitter.h"
#include "util/u_inlines.h"
#include "util/u_memory.h"
#include "util/u_sampler.h"
#include "util/u_surface.h"

#include "tg_blit.h"
#include "tg_resource.h"

#define SAMPLES_MOST	(1u << TG_RESOLVES)

/*
 * Any level of detail means level 0 of a texture with one level. With an implicit one, or 0, the
 * compiler joins two lookups into one message, which the device looks up quad by quad.
 */
#define LOD		1.0f

/* ---- The blitter ----------------------------------------------------------------------------- */

struct shim {
	struct pipe_screen base;
	struct pipe_screen *screen;
};

static int get_shader_param(struct pipe_screen *screen, enum pipe_shader_type type,
			    enum pipe_shader_cap cap)
{
	struct pipe_screen *real = ((struct shim *)screen)->screen;

	return real->get_shader_param(real, type, cap);
}

/*
 * The blitter fetches texels if GLSL can, and samples them otherwise. Only its creation asks, so
 * that is when it sees an old GLSL.
 */
struct blitter_context *tg_blitter_create(struct pipe_context *pipe)
{
	struct shim *shim = CALLOC_STRUCT(shim);
	struct pipe_screen *screen = pipe->screen;
	struct blitter_context *blitter;

	if (!shim)
		return NULL;
	memcpy(&shim->base, screen, sizeof(shim->base));
	((struct pipe_caps *)&shim->base.caps)->glsl_feature_level = 120;
	shim->base.get_shader_param = get_shader_param;
	shim->screen = screen;
	pipe->screen = &shim->base;
	blitter = util_blitter_create(pipe);
	pipe->screen = screen;
	FREE(shim);
	return blitter;
}

/* ---- Slices ---------------------------------------------------------------------------------- */

static unsigned samples_of(const struct pipe_resource *t)
{
	return MAX2(t->nr_samples, 1);
}

static bool is_plain(const struct pipe_resource *t)
{
	return t->target == PIPE_TEXTURE_2D && !t->last_level;
}

/* The blit of layer number @layer, of sample 0, as one of 2D textures of those formats. */
static void blit_slice(struct tg_context *ctx, const struct pipe_blit_info *info, unsigned layer,
		       enum pipe_format src, enum pipe_format dst)
{
	struct pipe_blit_info b = *info;

	b.src.resource = tg_resource_slice(tg_resource(info->src.resource), info->src.level,
					   (unsigned)info->src.box.z + layer, 0, src);
	b.dst.resource = tg_resource_slice(tg_resource(info->dst.resource), info->dst.level,
					   (unsigned)info->dst.box.z + layer, 0, dst);
	b.src.format = src;
	b.dst.format = dst;
	b.src.level = b.dst.level = 0;
	b.src.box.z = b.dst.box.z = 0;
	b.src.box.depth = b.dst.box.depth = 1;
	if (b.src.resource && b.dst.resource) {
		tg_blit_save(ctx, b.render_condition_enable);
		util_blitter_blit(ctx->blitter, &b, NULL);
	}
	pipe_resource_reference(&b.src.resource, NULL);
	pipe_resource_reference(&b.dst.resource, NULL);
}

bool tg_blit_has_slices(const struct pipe_blit_info *b)
{
	const struct pipe_resource *src = b->src.resource, *dst = b->dst.resource;
	const unsigned src_layers = util_num_layers(src, b->src.level);
	const unsigned dst_layers = util_num_layers(dst, b->dst.level);

	return b->src.box.depth == b->dst.box.depth && b->src.box.depth > 0 &&
	       b->src.box.z >= 0 && b->dst.box.z >= 0 &&
	       (unsigned)(b->src.box.z + b->src.box.depth) <= src_layers &&
	       (unsigned)(b->dst.box.z + b->dst.box.depth) <= dst_layers &&
	       src->target != PIPE_BUFFER && dst->target != PIPE_BUFFER &&
	       !tg_resource((struct pipe_resource *)src)->stencil &&
	       !tg_resource((struct pipe_resource *)dst)->stencil &&
	       !util_format_is_compressed(src->format) &&
	       !util_format_is_compressed(dst->format) && !b->dst_sample;
}

bool tg_blit_slices(struct tg_context *ctx, const struct pipe_blit_info *b)
{
	int layer;

	if (!tg_blit_has_slices(b) || samples_of(b->src.resource) > 1 ||
	    samples_of(b->dst.resource) > 1 ||
	    (is_plain(b->src.resource) && is_plain(b->dst.resource)))
		return false;
	for (layer = 0; layer < b->dst.box.depth; layer++)
		blit_slice(ctx, b, (unsigned)layer, b->src.format, b->dst.format);
	return true;
}

/* The depth is three bytes of four, the stencil the last one. */
bool tg_blit_bytes(struct tg_context *ctx, const struct pipe_blit_info *info)
{
	const enum pipe_format both = PIPE_FORMAT_Z24_UNORM_S8_UINT;
	struct pipe_blit_info b = *info;
	int layer;

	if (b.src.format != both || b.dst.format != both || b.src.resource->format != both ||
	    b.dst.resource->format != both || samples_of(b.dst.resource) > 1 ||
	    b.filter != PIPE_TEX_FILTER_NEAREST || b.swizzle_enable || !tg_blit_has_slices(&b))
		return false;
	b.mask = (b.mask & PIPE_MASK_Z ? PIPE_MASK_RGBA & ~PIPE_MASK_A : 0) |
		 (b.mask & PIPE_MASK_S ? PIPE_MASK_A : 0);
	for (layer = 0; layer < b.dst.box.depth && b.mask; layer++)
		blit_slice(ctx, &b, (unsigned)layer, PIPE_FORMAT_R8G8B8A8_UNORM,
			   PIPE_FORMAT_R8G8B8A8_UNORM);
	return true;
}

/* ---- Resolves -------------------------------------------------------------------------------- */

/* The mean of @samples textures. */
static void *resolve_shader(struct tg_context *ctx, unsigned samples)
{
	struct ureg_program *ureg = ureg_create(PIPE_SHADER_FRAGMENT);
	struct ureg_src at, sampler;
	struct ureg_dst out, sum, texel, lod;
	unsigned i;

	if (!ureg)
		return NULL;
	at = ureg_DECL_fs_input(ureg, TGSI_SEMANTIC_GENERIC, 0, TGSI_INTERPOLATE_LINEAR);
	out = ureg_DECL_output(ureg, TGSI_SEMANTIC_COLOR, 0);
	sum = ureg_DECL_temporary(ureg);
	texel = ureg_DECL_temporary(ureg);
	lod = ureg_DECL_temporary(ureg);
	ureg_MOV(ureg, lod, at);
	ureg_MOV(ureg, ureg_writemask(lod, TGSI_WRITEMASK_W), ureg_imm1f(ureg, LOD));
	for (i = 0; i < samples; i++) {
		sampler = ureg_DECL_sampler(ureg, (int)i);
		ureg_DECL_sampler_view(ureg, i, TGSI_TEXTURE_2D, TGSI_RETURN_TYPE_FLOAT,
				       TGSI_RETURN_TYPE_FLOAT, TGSI_RETURN_TYPE_FLOAT,
				       TGSI_RETURN_TYPE_FLOAT);
		ureg_TXL(ureg, i ? texel : sum, TGSI_TEXTURE_2D, ureg_src(lod), sampler);
		if (i)
			ureg_ADD(ureg, sum, ureg_src(sum), ureg_src(texel));
	}
	ureg_MUL(ureg, out, ureg_src(sum), ureg_imm1f(ureg, 1.0f / (float)samples));
	ureg_END(ureg);
	return ureg_create_shader_and_destroy(ureg, &ctx->base);
}

static bool prepare(struct tg_context *ctx, unsigned samples)
{
	const struct pipe_sampler_state nearest = {
		.wrap_s = PIPE_TEX_WRAP_CLAMP_TO_EDGE,
		.wrap_t = PIPE_TEX_WRAP_CLAMP_TO_EDGE,
		.wrap_r = PIPE_TEX_WRAP_CLAMP_TO_EDGE,
	};
	void **shader = &ctx->resolve[util_logbase2(samples) - 1];

	if (!ctx->resolve_sampler)
		ctx->resolve_sampler = ctx->base.create_sampler_state(&ctx->base, &nearest);
	if (!*shader)
		*shader = resolve_shader(ctx, samples);
	return ctx->resolve_sampler && *shader;
}

/* A view of a sample's plane. */
static struct pipe_sampler_view *plane_view(struct tg_context *ctx,
					    const struct pipe_blit_info *b, unsigned layer,
					    unsigned sample)
{
	struct pipe_resource *plane =
		tg_resource_slice(tg_resource(b->src.resource), b->src.level, layer, sample,
				  b->src.format);
	struct pipe_sampler_view template, *view = NULL;

	if (!plane)
		return NULL;
	u_sampler_view_default_template(&template, plane, b->src.format);
	view = ctx->base.create_sampler_view(&ctx->base, plane, &template);
	pipe_resource_reference(&plane, NULL);
	return view;
}

/* Textures beside the first one, which is the blitter's. */
static void bind_planes(struct tg_context *ctx, struct pipe_sampler_view **views, unsigned count)
{
	void *samplers[SAMPLES_MOST];
	unsigned i;

	for (i = 0; i < count; i++)
		samplers[i] = views ? ctx->resolve_sampler : NULL;
	ctx->base.set_sampler_views(&ctx->base, PIPE_SHADER_FRAGMENT, 1, count, 0, false, views);
	ctx->base.bind_sampler_states(&ctx->base, PIPE_SHADER_FRAGMENT, 1, count, samplers);
}

/* Textures that the program has bound to the units after the first one. */
struct bound {
	struct pipe_sampler_view *views[SAMPLES_MOST];
	void *samplers[SAMPLES_MOST];
};

static void remember(const struct tg_context *ctx, struct bound *bound, unsigned count)
{
	const struct tg_stage *fs = &ctx->stage[PIPE_SHADER_FRAGMENT];
	unsigned i;

	memset(bound, 0, sizeof(*bound));
	for (i = 0; i < count; i++) {
		if (1 + i < fs->view_count)
			pipe_sampler_view_reference(&bound->views[i], fs->views[1 + i]);
		if (1 + i < fs->sampler_count)
			bound->samplers[i] = fs->samplers[1 + i];
	}
}

static void bind_again(struct tg_context *ctx, struct bound *bound, unsigned count)
{
	struct pipe_context *pipe = &ctx->base;

	pipe->set_sampler_views(pipe, PIPE_SHADER_FRAGMENT, 1, count, 0, true, bound->views);
	pipe->bind_sampler_states(pipe, PIPE_SHADER_FRAGMENT, 1, count, bound->samplers);
}

static void draw_resolve(struct tg_context *ctx, const struct pipe_blit_info *b,
			 struct pipe_surface *surface, struct pipe_sampler_view **views,
			 unsigned samples)
{
	struct pipe_box to = b->dst.box, from = b->src.box;
	struct bound bound;

	to.z = from.z = 0;
	to.depth = from.depth = 1;
	remember(ctx, &bound, samples - 1);
	tg_blit_save(ctx, b->render_condition_enable);
	bind_planes(ctx, views + 1, samples - 1);
	util_blitter_blit_generic(ctx->blitter, surface, &to, views[0], &from,
				  views[0]->texture->width0, views[0]->texture->height0, b->mask,
				  PIPE_TEX_FILTER_NEAREST, b->scissor_enable ? &b->scissor : NULL,
				  false, false, 0, ctx->resolve[util_logbase2(samples) - 1]);
	bind_again(ctx, &bound, samples - 1);
}

static void resolve_layer(struct tg_context *ctx, const struct pipe_blit_info *b, unsigned layer)
{
	const unsigned samples = samples_of(b->src.resource);
	struct pipe_sampler_view *views[SAMPLES_MOST] = { 0 };
	struct pipe_surface template, *surface = NULL;
	struct pipe_resource *target;
	unsigned i, made = 0;

	target = tg_resource_slice(tg_resource(b->dst.resource), b->dst.level,
				   (unsigned)b->dst.box.z + layer, 0, b->dst.format);
	if (!target)
		return;
	u_surface_default_template(&template, target);
	surface = ctx->base.create_surface(&ctx->base, target, &template);
	for (i = 0; i < samples; i++) {
		views[i] = plane_view(ctx, b, (unsigned)b->src.box.z + layer, i);
		made += views[i] != NULL;
	}
	if (surface && made == samples)
		draw_resolve(ctx, b, surface, views, samples);
	for (i = 0; i < samples; i++)
		pipe_sampler_view_reference(&views[i], NULL);
	pipe_surface_reference(&surface, NULL);
	pipe_resource_reference(&target, NULL);
}

bool tg_blit_resolve(struct tg_context *ctx, const struct pipe_blit_info *b)
{
	const unsigned samples = samples_of(b->src.resource);
	int layer;

	if (samples < 2 || samples > SAMPLES_MOST || samples_of(b->dst.resource) > 1 ||
	    b->sample0_only || util_format_is_pure_integer(b->src.format) ||
	    util_format_is_depth_or_stencil(b->src.format) ||
	    util_format_is_depth_or_stencil(b->dst.format) || b->swizzle_enable ||
	    b->alpha_blend || b->num_window_rectangles || !tg_blit_has_slices(b) ||
	    abs(b->src.box.width) != b->dst.box.width ||
	    abs(b->src.box.height) != b->dst.box.height || !prepare(ctx, samples))
		return false;
	for (layer = 0; layer < b->dst.box.depth; layer++)
		resolve_layer(ctx, b, (unsigned)layer);
	return true;
}

void tg_blit_destroy(struct tg_context *ctx)
{
	unsigned i;

	for (i = 0; i < TG_RESOLVES; i++) {
		if (ctx->resolve[i])
			ctx->base.delete_fs_state(&ctx->base, ctx->resolve[i]);
	}
	if (ctx->resolve_sampler)
		ctx->base.delete_sampler_state(&ctx->base, ctx->resolve_sampler);
	tg_texels_destroy(ctx);
	if (ctx->blitter)
		util_blitter_destroy(ctx->blitter);
}
