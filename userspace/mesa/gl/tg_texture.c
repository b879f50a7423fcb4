/* SPDX-License-Identifier: MIT */
/* Samplers, sampler views, and the tables of them. */
#include "util/format/u_format.h"
#include "util/u_inlines.h"
#include "util/u_math.h"
#include "util/u_memory.h"
#include "util/u_upload_mgr.h"

#include "tg_context.h"
#include "tg_format.h"
#include "tg_resource.h"

#define DESCRIPTOR	32u	/* bytes of a TEXTURE, of a SAMPLER */
#define LOD_MAX		0x1fffu	/* 5 bits, and 8 of fraction */

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

/* Gallium has the reference on the left, the device the texel. */
static uint32_t turned(unsigned function)
{
	static const uint8_t to[] = {
		[PIPE_FUNC_NEVER] = TSR_COMPARE_FUNCTION_NEVER,
		[PIPE_FUNC_LESS] = TSR_COMPARE_FUNCTION_GREATER,
		[PIPE_FUNC_EQUAL] = TSR_COMPARE_FUNCTION_EQUAL,
		[PIPE_FUNC_LEQUAL] = TSR_COMPARE_FUNCTION_GEQUAL,
		[PIPE_FUNC_GREATER] = TSR_COMPARE_FUNCTION_LESS,
		[PIPE_FUNC_NOTEQUAL] = TSR_COMPARE_FUNCTION_NOT_EQUAL,
		[PIPE_FUNC_GEQUAL] = TSR_COMPARE_FUNCTION_LEQUAL,
		[PIPE_FUNC_ALWAYS] = TSR_COMPARE_FUNCTION_ALWAYS,
	};

	return to[function];
}

static uint32_t lod(float value)
{
	return (uint32_t)CLAMP(value * 256.0f, 0.0f, (float)LOD_MAX);
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
		.compare = s->compare_mode ? turned(s->compare_func) : TSR_COMPARE_FUNCTION_ALWAYS,
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

/*
 * The border color as the texture's texels are stored: the device puts it through ORDER and swizzle
 * like one of them.
 */
static void write_border(const struct tg_sampler *s, const struct pipe_sampler_view *view,
			 uint64_t *words)
{
	const struct util_format_description *d =
		util_format_description(view ? view->format : PIPE_FORMAT_R8G8B8A8_UNORM);
	const bool alpha_first = d->format == PIPE_FORMAT_A1B5G5R5_UNORM;
	uint32_t stored[4], c, at;
	struct tsr_sampler p;

	memcpy(stored, s->base.border_color.ui, sizeof(stored));
	for (c = 0; c < 4; c++) {
		at = d->swizzle[c];
		if (at > PIPE_SWIZZLE_W)
			continue;
		at = alpha_first ? 3 - at : at;
		if (d->format == PIPE_FORMAT_L8A8_UNORM && c == 3)
			at = 3;
		if (c == 0 || d->swizzle[c] != d->swizzle[0])
			stored[at] = s->base.border_color.ui[c];
	}
	if (d->format == PIPE_FORMAT_A8_UNORM)
		stored[3] = s->base.border_color.ui[3];
	if (tg_stencil_format(d->format) && !util_format_has_depth(d))
		stored[1] = s->base.border_color.ui[0];
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

/* The low bits of ASTC's addresses say how large blocks are. */
static uint64_t block_bits(enum pipe_format format)
{
	static const uint8_t code[] = { [4] = 0, [5] = 1, [6] = 2, [8] = 4, [10] = 6, [12] = 7 };

	if (util_format_description(format)->layout != UTIL_FORMAT_LAYOUT_ASTC)
		return 0;
	return code[util_format_get_blockwidth(format)] | code[util_format_get_blockheight(format)]
								  << 3;
}

/* What is sampled: of depth and stencil in two resources one of them. */
static struct tg_resource *sampled(const struct pipe_sampler_view *v)
{
	struct tg_resource *r = tg_resource(v->texture);

	return r->stencil && tg_stencil_format(v->format) &&
			       v->format != PIPE_FORMAT_Z32_FLOAT_S8X24_UINT
		       ? tg_resource(r->stencil)
		       : r;
}

static void describe(const struct pipe_sampler_view *v, struct tsr_texture *t)
{
	const struct tg_resource *r = sampled(v);
	const struct tg_format *f = tg_format(v->format);
	const bool buffer = v->target == PIPE_BUFFER, volume = v->target == PIPE_TEXTURE_3D;
	const unsigned first = buffer ? 0 : v->u.tex.first_level;
	const unsigned levels = buffer ? 1 : v->u.tex.last_level - first + 1;
	const unsigned layers =
		buffer || volume ? 1 : v->u.tex.last_layer - v->u.tex.first_layer + 1;
	const bool cube = dimension_of(v->target) == TSR_TEXTURE_DIMENSION_CUBE;
	const bool depth = util_format_is_depth_or_stencil(v->format);

	*t = (struct tsr_texture){
		.type = 2,
		.dimension = dimension_of(v->target),
		.format = f->format,
		.order = f->order,
		.srgb = util_format_is_srgb(v->format),
		.width = (buffer ? v->u.buf.size / util_format_get_blocksize(v->format)
				 : u_minify(r->base.width0, first)) -
			 1,
		.height = u_minify(r->base.height0, first) - 1,
		.depth = volume ? u_minify(r->base.depth0, first) - 1 : 0,
		.swizzle_r = component(v->swizzle_r, depth),
		.swizzle_g = component(v->swizzle_g, depth),
		.swizzle_b = component(v->swizzle_b, depth),
		.swizzle_a = component(v->swizzle_a, depth),
		.texel_order = r->layout == TSR_LAYOUT_TILED ? TSR_TEXEL_ORDER_TILED
							     : TSR_TEXEL_ORDER_LINEAR,
		.levels = levels - 1,
		/* LEVELS bounds the level; the level of detail says which filter it is, too */
		.max_lod = LOD_MAX,
		.samples = util_logbase2(MAX2(r->base.nr_samples, 1)),
		.layers = (cube ? layers / 6 : layers) - 1,
	};
}

static void fill_surfaces(const struct pipe_sampler_view *v, const struct tsr_texture *t,
			  uint64_t *words)
{
	const struct tg_resource *r = sampled(v);
	const unsigned layers =
		(t->layers + 1) * (t->dimension == TSR_TEXTURE_DIMENSION_CUBE ? 6 : 1);
	unsigned layer, sample, level;
	struct tsr_texture_surface s;

	if (v->target == PIPE_BUFFER) {
		s = (struct tsr_texture_surface){ .pointer =
							  r->bo->va + r->offset + v->u.buf.offset };
		tsr_pack_texture_surface(words, &s);
		return;
	}
	for (layer = 0; layer < layers; layer++)
		for (sample = 0; sample < 1u << t->samples; sample++)
			for (level = 0; level <= t->levels; level++) {
				const struct tg_level *l = &r->level[v->u.tex.first_level + level];

				s = (struct tsr_texture_surface){
					.pointer = tg_resource_va(
							   r, v->u.tex.first_level + level,
							   t->dimension == TSR_TEXTURE_DIMENSION_3D
								   ? 0
								   : v->u.tex.first_layer + layer,
							   sample) |
						   block_bits(v->format),
					.row_stride = (int32_t)l->pitch,
					.slice_stride = (int32_t)l->slice,
				};
				tsr_pack_texture_surface(words, &s);
				words += TSR_TEXTURE_SURFACE__QWORDS;
			}
}

/* Descriptor and surfaces, for the memory that the texture has now. */
static bool build(struct tg_sampler_view *view)
{
	struct tg_screen *screen = tg_screen(view->base.texture->screen);
	const struct tg_resource *r = sampled(&view->base);
	struct tsr_texture t;
	struct tg_bo *surfaces;
	uint64_t count;

	describe(&view->base, &t);
	count = (uint64_t)(t.layers + 1) * (t.dimension == TSR_TEXTURE_DIMENSION_CUBE ? 6 : 1) *
		(1u << t.samples) * (t.levels + 1);
	surfaces = tg_bo_create(screen, count * TSR_TEXTURE_SURFACE__QWORDS * 8, "surfaces");
	if (!surfaces)
		return false;
	fill_surfaces(&view->base, &t, (uint64_t *)surfaces->map);
	t.surfaces = surfaces->va;
	tsr_pack_texture(view->words, &t);
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
