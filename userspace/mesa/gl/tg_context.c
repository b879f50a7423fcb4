/* SPDX-License-Identifier: MIT */
#include "indices/u_primconvert.h"
#include "util/u_framebuffer.h"
#include "util/u_inlines.h"
#include "util/u_memory.h"
#include "util/u_upload_mgr.h"

#include "tsr_samples.h"

#include "tg_blit.h"
#include "tg_context.h"
#include "tg_copy.h"
#include "tg_fence.h"
#include "tg_resource.h"

void tg_context_flush(struct tg_context *ctx, const char *why)
{
	struct tg_batch *b = ctx->batch;

	if (!b) {
		tg_copy_flush(ctx);
		return;
	}
	if (ctx->screen->debug & TG_DEBUG_TRACE)
		fprintf(stderr,
			"tessera: batch %llu, %u x %u: %llu draws, cleared 0x%x, drawn 0x%x, "
			"because of %s\n",
			(unsigned long long)b->number, b->fb.width, b->fb.height,
			(unsigned long long)b->draws, b->cleared, b->drawn, why);
	tg_batch_submit(b);
}

static void flush(struct pipe_context *pipe, struct pipe_fence_handle **fence, unsigned flags)
{
	struct tg_context *ctx = tg_context(pipe);

	tg_context_flush(ctx, "flush");
	if (!fence)
		return;
	pipe->screen->fence_reference(pipe->screen, fence, NULL);
	*fence = tg_fence_create(ctx->screen, ctx->last_point);
}

/* It is the texture, or the stencil that the texture has in a resource of its own. */
static bool is_part(const struct pipe_resource *t, struct pipe_resource *texture)
{
	return t == texture || t == tg_resource(texture)->stencil;
}

/* Tables that name the resource's memory are written again. */
static void stage_renamed(struct tg_context *ctx, struct tg_stage *stage,
			  const struct pipe_resource *t)
{
	unsigned i;

	for (i = 0; i < TG_CONSTANT_BUFFERS; i++) {
		if (stage->constants[i].buffer == t)
			stage->dirty |= TG_DIRTY_CONSTANTS;
	}
	for (i = 0; i < TG_BUFFERS; i++) {
		if (stage->buffers[i].buffer == t)
			stage->dirty |= TG_DIRTY_CONSTANTS;
	}
	for (i = 0; i < stage->view_count; i++) {
		if (stage->views[i] && is_part(t, stage->views[i]->texture))
			stage->dirty |= TG_DIRTY_TEXTURES;
	}
	for (i = 0; i < stage->image_count; i++) {
		if (stage->images[i].resource == t) {
			stage->dirty |= TG_DIRTY_CONSTANTS | TG_DIRTY_SHADER;
			ctx->dirty |= TG_DIRTY_VERTICES;
		}
	}
}

void tg_context_renamed(struct tg_context *ctx, struct tg_resource *resource)
{
	const struct pipe_resource *t = &resource->base;
	unsigned i;

	for (i = 0; i < ctx->vertex_buffer_count; i++) {
		if (ctx->vertex_buffers[i].buffer.resource == t)
			ctx->dirty |= TG_DIRTY_VERTICES;
	}
	for (i = 0; i < ctx->stream_count; i++) {
		if (ctx->streams[i] && ctx->streams[i]->base.buffer == t)
			ctx->stage[PIPE_SHADER_VERTEX].dirty = TG_DIRTY_STAGE_ALL;
	}
	for (i = 0; i < PIPE_SHADER_TYPES; i++)
		stage_renamed(ctx, &ctx->stage[i], t);
}

/* Later draws sample the pixels of earlier ones. */
static void texture_barrier(struct pipe_context *pipe, unsigned flags)
{
	tg_context_flush(tg_context(pipe), "texture barrier");
}

static void memory_barrier(struct pipe_context *pipe, unsigned flags)
{
	if (flags & ~PIPE_BARRIER_UPDATE)
		tg_context_flush(tg_context(pipe), "memory barrier");
}

static void get_sample_position(struct pipe_context *pipe, unsigned count, unsigned index,
				float *out)
{
	const unsigned n = util_logbase2(MAX2(count, 1));

	out[0] = (float)tsr_sample_position[n][index][0] / 16.0f;
	out[1] = (float)tsr_sample_position[n][index][1] / 16.0f;
}

static enum pipe_reset_status get_device_reset_status(struct pipe_context *pipe)
{
	struct tg_context *ctx = tg_context(pipe);
	struct tg_screen *screen = ctx->screen;
	enum pipe_reset_status status;

	simple_mtx_lock(&screen->lock);
	status = tg_screen_mend(screen) ? ctx->reset : PIPE_UNKNOWN_CONTEXT_RESET;
	ctx->reset = PIPE_NO_RESET;
	simple_mtx_unlock(&screen->lock);
	return status;
}

static void set_debug_callback(struct pipe_context *pipe,
			       const struct util_debug_callback *callback)
{
	if (callback)
		pipe->debug = *callback;
	else
		memset(&pipe->debug, 0, sizeof(pipe->debug));
}

static void unbind_stage(struct tg_stage *stage)
{
	unsigned i;

	for (i = 0; i < TG_CONSTANT_BUFFERS; i++)
		pipe_resource_reference(&stage->constants[i].buffer, NULL);
	for (i = 0; i < TG_TEXTURES; i++)
		pipe_sampler_view_reference(&stage->views[i], NULL);
	for (i = 0; i < TG_BUFFERS; i++)
		pipe_resource_reference(&stage->buffers[i].buffer, NULL);
	for (i = 0; i < TG_IMAGES; i++)
		pipe_resource_reference(&stage->images[i].resource, NULL);
}

static void destroy(struct pipe_context *pipe)
{
	struct tg_context *ctx = tg_context(pipe);
	unsigned i;

	tg_context_flush(ctx, "end");
	tg_screen_forget(ctx->screen, ctx);
	tg_blit_destroy(ctx);
	if (ctx->primconvert)
		util_primconvert_destroy(ctx->primconvert);
	for (i = 0; i < PIPE_SHADER_TYPES; i++)
		unbind_stage(&ctx->stage[i]);
	for (i = 0; i < TG_VERTEX_BUFFERS; i++)
		pipe_vertex_buffer_unreference(&ctx->vertex_buffers[i]);
	for (i = 0; i < ctx->stream_count; i++)
		pipe_so_target_reference((struct pipe_stream_output_target **)&ctx->streams[i],
					 NULL);
	util_unreference_framebuffer_state(&ctx->framebuffer);
	tg_bo_reference(&ctx->statistics, NULL);
	tg_fence_forget(ctx);
	util_dynarray_fini(&ctx->waits);
	if (pipe->stream_uploader)
		u_upload_destroy(pipe->stream_uploader);
	slab_destroy_child(&ctx->transfers);
	FREE(ctx);
}

static unsigned priority_of(unsigned flags)
{
	return flags & PIPE_CONTEXT_HIGH_PRIORITY  ? DRM_TESSERA_PRIORITY_HIGH
	       : flags & PIPE_CONTEXT_LOW_PRIORITY ? DRM_TESSERA_PRIORITY_LOW
						   : DRM_TESSERA_PRIORITY_NORMAL;
}

struct pipe_context *tg_context_create(struct pipe_screen *screen, void *priv, unsigned flags)
{
	struct tg_context *ctx = CALLOC_STRUCT(tg_context);
	struct pipe_context *pipe;

	if (!ctx)
		return NULL;
	pipe = &ctx->base;
	ctx->screen = tg_screen(screen);
	ctx->robust = flags & PIPE_CONTEXT_ROBUST_BUFFER_ACCESS;
	ctx->priority = priority_of(flags);
	ctx->sample_mask = ~0u;
	ctx->dirty = TG_DIRTY_ALL;
	util_dynarray_init(&ctx->texels, NULL);
	util_dynarray_init(&ctx->waits, NULL);
	list_inithead(&ctx->statistics_queries);
	slab_create_child(&ctx->transfers, &ctx->screen->transfers);
	pipe->screen = screen;
	pipe->priv = priv;
	pipe->destroy = destroy;
	pipe->flush = flush;
	pipe->texture_barrier = texture_barrier;
	pipe->memory_barrier = memory_barrier;
	pipe->get_sample_position = get_sample_position;
	pipe->get_device_reset_status = get_device_reset_status;
	pipe->set_debug_callback = set_debug_callback;
	tg_resource_context_init(pipe);
	tg_fence_context_init(pipe);
	tg_state_init(pipe);
	tg_texture_init(pipe);
	tg_program_init(pipe);
	tg_draw_init(pipe);
	tg_blit_init(pipe);
	tg_query_init(pipe);
	tg_stream_init(pipe);
	tg_stages_init(pipe);
	tg_image_init(pipe);
	tg_compute_init(pipe);
	pipe->stream_uploader = u_upload_create_default(pipe);
	pipe->const_uploader = pipe->stream_uploader;
	ctx->blitter = pipe->stream_uploader ? tg_blitter_create(pipe) : NULL;
	ctx->primconvert = util_primconvert_create(pipe, TG_TOPOLOGIES);
	if (!ctx->blitter || !ctx->primconvert ||
	    !tg_screen_add_priority(ctx->screen, ctx->priority)) {
		destroy(pipe);
		return NULL;
	}
	return pipe;
}
