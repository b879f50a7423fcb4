/* SPDX-License-Identifier: MIT */
/* State as it is bound; what the device needs is made of it when something is drawn. */
#include "util/u_framebuffer.h"
#include "util/u_helpers.h"
#include "util/u_inlines.h"
#include "util/u_memory.h"

#include "tg_context.h"
#include "tg_resource.h"

#define SIMPLE_STATE(name, member, dirty_bits)							\
	static void *create_##name##_state(struct pipe_context *pipe,				\
					   const struct pipe_##name##_state *state)		\
	{											\
		return mem_dup(state, sizeof(*state));						\
	}											\
	static void bind_##name##_state(struct pipe_context *pipe, void *state)		\
	{											\
		tg_context(pipe)->member = state;						\
		tg_context(pipe)->dirty |= dirty_bits;						\
	}

SIMPLE_STATE(blend, blend, TG_DIRTY_DRAW)
SIMPLE_STATE(rasterizer, rasterizer, TG_DIRTY_DRAW)
SIMPLE_STATE(depth_stencil_alpha, zsa, TG_DIRTY_DRAW)

static void delete_state(struct pipe_context *pipe, void *state)
{
	FREE(state);
}

static void *create_vertex_elements_state(struct pipe_context *pipe, unsigned count,
					  const struct pipe_vertex_element *elements)
{
	struct tg_elements *made = CALLOC_STRUCT(tg_elements);

	if (!made)
		return NULL;
	made->count = count;
	memcpy(made->element, elements, count * sizeof(*elements));
	return made;
}

static void bind_vertex_elements_state(struct pipe_context *pipe, void *state)
{
	tg_context(pipe)->elements = state;
	tg_context(pipe)->dirty |= TG_DIRTY_VERTICES;
}

static void set_blend_color(struct pipe_context *pipe, const struct pipe_blend_color *color)
{
	tg_context(pipe)->blend_color = *color;
	tg_context(pipe)->dirty |= TG_DIRTY_DRAW;
}

static void set_stencil_ref(struct pipe_context *pipe, const struct pipe_stencil_ref ref)
{
	tg_context(pipe)->stencil_ref = ref;
	tg_context(pipe)->dirty |= TG_DIRTY_DRAW;
}

static void set_sample_mask(struct pipe_context *pipe, unsigned mask)
{
	tg_context(pipe)->sample_mask = mask;
	tg_context(pipe)->dirty |= TG_DIRTY_DRAW;
}

static void set_min_samples(struct pipe_context *pipe, unsigned samples)
{
	tg_context(pipe)->min_samples = samples;
	tg_context(pipe)->dirty |= TG_DIRTY_LINK;
}

/* Clip planes come as clip distances of the vertex shader. */
static void set_clip_state(struct pipe_context *pipe, const struct pipe_clip_state *state)
{
	tg_context(pipe)->clip = *state;
}

static void set_polygon_stipple(struct pipe_context *pipe, const struct pipe_poly_stipple *stipple)
{
	tg_context(pipe)->stipple = *stipple;
	tg_context(pipe)->stage[PIPE_SHADER_FRAGMENT].dirty |= TG_DIRTY_CONSTANTS;
}

static void set_constant_buffer(struct pipe_context *pipe, enum pipe_shader_type type, uint index,
				bool take_ownership, const struct pipe_constant_buffer *buffer)
{
	struct tg_stage *stage = &tg_context(pipe)->stage[type];

	if (index >= TG_CONSTANT_BUFFERS)
		return;
	util_copy_constant_buffer(&stage->constants[index], buffer, take_ownership);
	stage->dirty |= TG_DIRTY_CONSTANTS;
}

static void set_framebuffer_state(struct pipe_context *pipe,
				  const struct pipe_framebuffer_state *fb)
{
	struct tg_context *ctx = tg_context(pipe);

	if (util_framebuffer_state_equal(&ctx->framebuffer, fb))
		return;
	tg_context_flush(ctx, "framebuffer");
	util_copy_framebuffer_state(&ctx->framebuffer, fb);
	ctx->dirty |= TG_DIRTY_DRAW;
}

static void set_scissor_states(struct pipe_context *pipe, unsigned start, unsigned count,
			       const struct pipe_scissor_state *scissors)
{
	memcpy(tg_context(pipe)->scissors + start, scissors, count * sizeof(*scissors));
	tg_context(pipe)->dirty |= TG_DIRTY_DRAW;
}

static void set_viewport_states(struct pipe_context *pipe, unsigned start, unsigned count,
				const struct pipe_viewport_state *viewports)
{
	memcpy(tg_context(pipe)->viewports + start, viewports, count * sizeof(*viewports));
	tg_context(pipe)->dirty |= TG_DIRTY_DRAW;
}

static void set_vertex_buffers(struct pipe_context *pipe, unsigned count,
			       const struct pipe_vertex_buffer *buffers)
{
	struct tg_context *ctx = tg_context(pipe);

	util_set_vertex_buffers_count(ctx->vertex_buffers, &ctx->vertex_buffer_count, buffers,
				      count, true);
	ctx->dirty |= TG_DIRTY_VERTICES;
}

static struct pipe_surface *create_surface(struct pipe_context *pipe, struct pipe_resource *texture,
					   const struct pipe_surface *template)
{
	struct pipe_surface *s = CALLOC_STRUCT(pipe_surface);

	if (!s)
		return NULL;
	pipe_reference_init(&s->reference, 1);
	pipe_resource_reference(&s->texture, texture);
	s->context = pipe;
	s->format = template->format;
	s->nr_samples = template->nr_samples;
	s->u = template->u;
	if (texture->target != PIPE_BUFFER) {
		s->width = u_minify(texture->width0, template->u.tex.level);
		s->height = u_minify(texture->height0, template->u.tex.level);
	}
	return s;
}

static void surface_destroy(struct pipe_context *pipe, struct pipe_surface *surface)
{
	pipe_resource_reference(&surface->texture, NULL);
	FREE(surface);
}

void tg_state_init(struct pipe_context *pipe)
{
	pipe->create_blend_state = create_blend_state;
	pipe->bind_blend_state = bind_blend_state;
	pipe->delete_blend_state = delete_state;
	pipe->create_rasterizer_state = create_rasterizer_state;
	pipe->bind_rasterizer_state = bind_rasterizer_state;
	pipe->delete_rasterizer_state = delete_state;
	pipe->create_depth_stencil_alpha_state = create_depth_stencil_alpha_state;
	pipe->bind_depth_stencil_alpha_state = bind_depth_stencil_alpha_state;
	pipe->delete_depth_stencil_alpha_state = delete_state;
	pipe->create_vertex_elements_state = create_vertex_elements_state;
	pipe->bind_vertex_elements_state = bind_vertex_elements_state;
	pipe->delete_vertex_elements_state = delete_state;
	pipe->set_blend_color = set_blend_color;
	pipe->set_stencil_ref = set_stencil_ref;
	pipe->set_sample_mask = set_sample_mask;
	pipe->set_min_samples = set_min_samples;
	pipe->set_clip_state = set_clip_state;
	pipe->set_polygon_stipple = set_polygon_stipple;
	pipe->set_constant_buffer = set_constant_buffer;
	pipe->set_framebuffer_state = set_framebuffer_state;
	pipe->set_scissor_states = set_scissor_states;
	pipe->set_viewport_states = set_viewport_states;
	pipe->set_vertex_buffers = set_vertex_buffers;
	pipe->create_surface = create_surface;
	pipe->surface_destroy = surface_destroy;
}
