/* SPDX-License-Identifier: MIT */
/* Samplers, sampler views, and the tables of them. */
#include "util/format/u_format.h"
#include "util/u_inlines.h"
#include "util/u_math.h"
#include "util/u_memory.h"
#include "util/u_upload_mgr.h"

#include "tc_texture.h"
#include "tg_context.h"
#include "tg_resource.h"

#define DESCRIPTOR	32u	/* bytes of a TEXTURE, of a SAMPLER */

/* ---- Samplers -------------------------------------------------------------------------------- */

static uint32_t wrap_mode(unsigned wrap)
{
	switch (wrap) {
	case PIPE_TEX_WRAP_REPEAT:
		return TSR_WRAP_MODE_REPEAT;
	case PIPE_TEX_WRAP_CLAMP_TO_BORDER:
		return TSR_WRAP_MODE_CLAMP_TO_BORDER;
	case PIPE_TEX_WRAP_MIRROR_REPEAT:
		return TSR_WRAP_MODE_MIRRORED_REPEAT;
	case PIPE_TEX_WRAP_MIRROR_CLAMP_TO_EDGE:
		return TSR_WRAP_MODE_MIRRORED_CLAMP_TO_EDGE;
	case PIPE_TEX_WRAP_MIRROR_CLAMP_TO_BORDER:
		return TSR_WRAP_MODE_MIRRORED_CLAMP_TO_BORDER;
	default:
		return TSR_WRAP_MODE_CLAMP_TO_EDGE;
	}
}

static uint32_t lod(float value)
{
	return (uint32_t)CLAMP(value * 256.0f, 0.0f, (float)TC_LOD_MAX);
}

static bool is_border(unsigned wrap)
{
	return wrap == PIPE_TEX_WRAP_CLAMP_TO_BORDER ||
	       wrap == PIPE_TEX_WRAP_MIRROR_CLAMP_TO_BORDER;
}

static void *create_sampler_state(struct pipe_context *pipe, const struct pipe_sampler_state *s)
{
	static const uint8_t mipmap[] = {
		[PIPE_TEX_MIPFILTER_NEAREST] = TSR_MIPMAP_MODE_NEAREST,
		[PIPE_TEX_MIPFILTER_LINEAR] = TSR_MIPMAP_MODE_LINEAR,
		[PIPE_TEX_MIPFILTER_NONE] = TSR_MIPMAP_MODE_NONE,
	};
	struct tg_sampler *made = CALLOC_STRUCT(tg_sampler);
	struct tsr_sampler p = {
		.type = 1,
		.wrap_s = wrap_mode(s->wrap_s),
		.wrap_t = wrap_mode(s->wrap_t),
		.wrap_r = wrap_mode(s->wrap_r),
		.seamless = s->seamless_cube_map,
		.normalized = !s->unnormalized_coords,
		.clamp_layer = true,
		.min_nearest = s->min_img_filter == PIPE_TEX_FILTER_NEAREST,
		.mag_nearest = s->mag_img_filter == PIPE_TEX_FILTER_NEAREST,
		.mipmap = mipmap[s->min_mip_filter],
		.min_lod = lod(s->min_lod),
		.max_lod = lod(s->max_lod),
		.compare = s->compare_mode ? tc_mirrored(s->compare_func)
					   : TSR_COMPARE_FUNCTION_ALWAYS,
		.lod_bias = (int32_t)CLAMP(s->lod_bias * 256.0f, -32768.0f, 32767.0f),
		.anisotropy = s->max_anisotropy > 1 ? s->max_anisotropy - 1 : 0,
		.lod_algorithm = s->max_anisotropy > 1 ? TSR_LOD_ALGORITHM_ANISOTROPIC
						       : TSR_LOD_ALGORITHM_ISOTROPIC,
	};

	if (!made)
		return NULL;
	made->base = *s;
	made->border = is_border(s->wrap_s) || is_border(s->wrap_t) || is_border(s->wrap_r);
	tsr_pack_sampler(made->words, &p);
	return made;
}

static void delete_sampler_state(struct pipe_context *pipe, void *state)
{
	FREE(state);
}

static void bind_sampler_states(struct pipe_context *pipe, enum pipe_shader_type type,
				unsigned start, unsigned count, void **samplers)
{
	struct tg_stage *stage = &tg_context(pipe)->stage[type];
	unsigned i;

	for (i = 0; i < count; i++)
		stage->samplers[start + i] = samplers ? samplers[i] : NULL;
	stage->sampler_count = MAX2(stage->sampler_count, start + count);
	while (stage->sampler_count && !stage->samplers[stage->sampler_count - 1])
		stage->sampler_count--;
	stage->dirty |= TG_DIRTY_SAMPLERS;
}

static void write_border(const struct tg_sampler *s, const struct pipe_sampler_view *view,
			 uint64_t *words)
{
	uint32_t stored[4];
	struct tsr_sampler p;

	tc_border(view ? view->format : PIPE_FORMAT_R8G8B8A8_UNORM, s->base.border_color.ui,
		  stored);
	tsr_unpack_sampler(s->words, &p);
	p.border_r = stored[0];
	p.border_g = stored[1];
	p.border_b = stored[2];
	p.border_a = stored[3];
	tsr_pack_sampler(words, &p);
}

/* ---- Views ----------------------------------------------------------------------------------- */

static uint32_t dimension_of(enum pipe_texture_target target)
{
	switch (target) {
	case PIPE_BUFFER:
	case PIPE_TEXTURE_1D:
	case PIPE_TEXTURE_1D_ARRAY:
		return TSR_TEXTURE_DIMENSION_1D;
	case PIPE_TEXTURE_3D:
		return TSR_TEXTURE_DIMENSION_3D;
	case PIPE_TEXTURE_CUBE:
	case PIPE_TEXTURE_CUBE_ARRAY:
		return TSR_TEXTURE_DIMENSION_CUBE;
	default:
		return TSR_TEXTURE_DIMENSION_2D;
	}
}

/* Mesa's own blits find depth, and stencil, in any component. */
static uint32_t component(unsigned swizzle, bool depth)
{
	if (swizzle <= PIPE_SWIZZLE_W)
		return depth ? PIPE_SWIZZLE_X : swizzle;
	return swizzle == PIPE_SWIZZLE_1 ? TSR_COMPONENT_ONE : TSR_COMPONENT_ZERO;
}

/* The resource that is sampled: one of two, if depth and stencil are apart. */
static struct tg_resource *sampled(const struct pipe_sampler_view *v)
{
	struct tg_resource *r = tg_resource(v->texture);

	return r->stencil && tc_stencil_format(v->format) &&
			       v->format != PIPE_FORMAT_Z32_FLOAT_S8X24_UINT
		       ? tg_resource(r->stencil)
		       : r;
}

static struct tc_view view_of(const struct pipe_sampler_view *v)
{
	const struct tg_resource *r = sampled(v);
	const bool volume = v->target == PIPE_TEXTURE_3D;
	const bool depth = util_format_is_depth_or_stencil(v->format);
	struct tc_view out = {
		.va = r->bo->va + r->offset,
		.format = v->format,
		.dimension = dimension_of(v->target),
		.swizzle = { component(v->swizzle_r, depth), component(v->swizzle_g, depth),
			     component(v->swizzle_b, depth), component(v->swizzle_a, depth) },
		.width = v->u.buf.size / util_format_get_blocksize(v->format),
		.height = 1,
		.depth = 1,
		.levels = 1,
		.layers = 1,
		.samples = 1,
	};

	if (v->target == PIPE_BUFFER) {
		out.va += v->u.buf.offset;
		return out;
	}
	out.layout = &r->mem;
	out.first_level = v->u.tex.first_level;
	out.levels = v->u.tex.last_level - out.first_level + 1;
	out.width = u_minify(r->base.width0, out.first_level);
	out.height = u_minify(r->base.height0, out.first_level);
	out.samples = MAX2(r->base.nr_samples, 1);
	if (volume) {
		out.depth = u_minify(r->base.depth0, out.first_level);
	} else {
		out.first_layer = v->u.tex.first_layer;
		out.layers = v->u.tex.last_layer - v->u.tex.first_layer + 1;
	}
	return out;
}

/* Descriptor and surfaces, for the memory that the texture has now. */
static bool build(struct tg_sampler_view *view)
{
	struct tg_screen *screen = tg_screen(view->base.texture->screen);
	const struct tg_resource *r = sampled(&view->base);
	const struct tc_view v = view_of(&view->base);
	struct tg_bo *surfaces = tg_bo_create(screen, tc_view_surfaces(&v) *
						      TSR_TEXTURE_SURFACE__QWORDS * 8, "surfaces");

	if (!surfaces)
		return false;
	tc_view_pack(&v, surfaces->va, (uint64_t *)surfaces->map, view->words);
	tg_bo_reference(&view->surfaces, NULL);
	view->surfaces = surfaces;
	tg_bo_reference(&view->bo, r->bo);
	return true;
}

static struct pipe_sampler_view *create_sampler_view(struct pipe_context *pipe,
						     struct pipe_resource *texture,
						     const struct pipe_sampler_view *template)
{
	struct tg_sampler_view *view = CALLOC_STRUCT(tg_sampler_view);

	if (!view)
		return NULL;
	view->base = *template;
	view->base.reference.count = 1;
	view->base.texture = NULL;
	view->base.context = pipe;
	pipe_resource_reference(&view->base.texture, texture);
	if (!build(view)) {
		pipe_resource_reference(&view->base.texture, NULL);
		FREE(view);
		return NULL;
	}
	return &view->base;
}

static void sampler_view_destroy(struct pipe_context *pipe, struct pipe_sampler_view *base)
{
	struct tg_sampler_view *view = (struct tg_sampler_view *)base;

	tg_bo_reference(&view->surfaces, NULL);
	tg_bo_reference(&view->bo, NULL);
	pipe_resource_reference(&view->base.texture, NULL);
	FREE(view);
}

static void set_sampler_views(struct pipe_context *pipe, enum pipe_shader_type type, unsigned start,
			      unsigned count, unsigned unbind, bool take_ownership,
			      struct pipe_sampler_view **views)
{
	struct tg_stage *stage = &tg_context(pipe)->stage[type];
	unsigned i;

	for (i = 0; i < count; i++) {
		struct pipe_sampler_view *view = views ? views[i] : NULL;

		if (take_ownership) {
			pipe_sampler_view_reference(&stage->views[start + i], NULL);
			stage->views[start + i] = view;
		} else {
			pipe_sampler_view_reference(&stage->views[start + i], view);
		}
	}
	for (i = start + count; i < start + count + unbind; i++)
		pipe_sampler_view_reference(&stage->views[i], NULL);
	stage->view_count = MAX2(stage->view_count, start + count);
	while (stage->view_count && !stage->views[stage->view_count - 1])
		stage->view_count--;
	stage->dirty |= TG_DIRTY_TEXTURES;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static bool write_textures(struct tg_batch *b, struct tg_stage *stage, unsigned count)
{
	uint64_t *words = tg_batch_alloc(b, count * DESCRIPTOR, 64, &stage->textures);
	unsigned i;

	if (!words)
		return false;
	memset(words, 0, count * DESCRIPTOR);
	for (i = 0; i < MIN2(count, stage->view_count); i++) {
		struct tg_sampler_view *view = (struct tg_sampler_view *)stage->views[i];

		if (!view)
			continue;
		if (view->bo != sampled(&view->base)->bo && !build(view))
			return false;
		memcpy(words + 4 * i, view->words, DESCRIPTOR);
		if (tg_stage_is_binned(stage - b->ctx->stage))
			tg_batch_use_binned(b, view->bo);
		else
			tg_batch_use(b, view->bo, false);
		tg_batch_use(b, view->surfaces, false);
	}
	return true;
}

static bool write_samplers(struct tg_batch *b, struct tg_stage *stage, unsigned count)
{
	uint64_t *words = tg_batch_alloc(b, count * DESCRIPTOR, 64, &stage->samplers_va);
	unsigned i;

	if (!words)
		return false;
	memset(words, 0, count * DESCRIPTOR);
	for (i = 0; i < MIN2(count, stage->sampler_count); i++) {
		const struct tg_sampler *s = stage->samplers[i];

		if (s && s->border)
			write_border(s, i < stage->view_count ? stage->views[i] : NULL,
				     words + 4 * i);
		else if (s)
			memcpy(words + 4 * i, s->words, DESCRIPTOR);
	}
	return true;
}

bool tg_texture_write(struct tg_batch *b, struct tg_stage *stage, unsigned count)
{
	if (!count)
		return true;
	return write_textures(b, stage, count) && write_samplers(b, stage, count);
}

void tg_texture_init(struct pipe_context *pipe)
{
	pipe->create_sampler_state = create_sampler_state;
	pipe->bind_sampler_states = bind_sampler_states;
	pipe->delete_sampler_state = delete_sampler_state;
	pipe->create_sampler_view = create_sampler_view;
	pipe->sampler_view_destroy = sampler_view_destroy;
	pipe->set_sampler_views = set_sampler_views;
}
