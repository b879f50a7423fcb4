/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "drm-uapi/drm_fourcc.h"
#include "frontend/winsys_handle.h"
#include "util/u_drm.h"
#include "util/u_memory.h"
#include "util/u_surface.h"
#include "util/u_transfer.h"
#include "util/u_transfer_helper.h"

#include "tg_batch.h"
#include "tc_format.h"
#include "tg_resource.h"
#include "tg_share.h"
#include "tg_window.h"

#define TILED	DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED

static bool wants_linear(const struct pipe_resource *t)
{
	const unsigned linear = PIPE_BIND_LINEAR | PIPE_BIND_SCANOUT | PIPE_BIND_SHARED |
				PIPE_BIND_CURSOR;

	return t->target == PIPE_BUFFER || t->bind & linear || t->usage == PIPE_USAGE_STAGING ||
	       t->target == PIPE_TEXTURE_1D || t->target == PIPE_TEXTURE_1D_ARRAY ||
	       tc_format(t->format)->uses & TC_BLOCK;
}

static unsigned samples_of(const struct pipe_resource *t)
{
	return MAX2(t->nr_samples, 1);
}

static void lay_out(struct tg_resource *r, bool tiled, uint32_t pitch)
{
	const struct pipe_resource *t = &r->base;
	const struct tc_shape shape = {
		.format = t->format,
		.width = t->width0,
		.height = t->height0,
		.depth = t->depth0,
		.levels = t->last_level + 1,
		.layers = t->array_size,
		.samples = samples_of(t),
		.volume = t->target == PIPE_TEXTURE_3D,
		.tiled = tiled,
	};

	if (t->target == PIPE_BUFFER)
		r->mem = (struct tc_layout){ .size = MAX2(t->width0, 1),
					     .texel = util_format_get_blocksize(t->format) };
	else
		tc_layout_init(&r->mem, &shape, pitch);
}

uint64_t tg_resource_offset(const struct tg_resource *r, unsigned level, unsigned layer,
			    unsigned sample)
{
	return r->offset + tc_layout_offset(&r->mem, level, layer, sample);
}

static struct tg_resource *resource_new(struct pipe_screen *screen,
					const struct pipe_resource *template)
{
	struct tg_resource *r = CALLOC_STRUCT(tg_resource);

	if (!r)
		return NULL;
	r->base = *template;
	r->base.screen = screen;
	r->base.next = NULL;
	r->format = template->format;
	pipe_reference_init(&r->base.reference, 1);
	util_range_init(&r->valid);
	return r;
}

static void resource_free(struct tg_resource *r)
{
	tg_window_free(r);
	tg_bo_reference(&r->bo, NULL);
	util_range_destroy(&r->valid);
	FREE(r);
}

static bool is_shared(const struct pipe_resource *template)
{
	return template->bind & (PIPE_BIND_SHARED | PIPE_BIND_SCANOUT);
}

/* Textures may be exported later; buffers are not, so small ones share a BO. */
struct tg_bo *tg_resource_memory(struct tg_screen *screen, const struct pipe_resource *template,
				 uint64_t size)
{
	const char *label = util_format_short_name(template->format);

	if (template->target == PIPE_BUFFER && !is_shared(template))
		return tg_bo_create(screen, size, label);
	return tg_bo_create_whole(screen, size, label);
}

struct pipe_resource *tg_resource_slice(struct tg_resource *r, unsigned level, unsigned layer,
					unsigned sample, enum pipe_format format)
{
	const struct pipe_resource template = {
		.target = PIPE_TEXTURE_2D,
		.format = format,
		.width0 = u_minify(r->base.width0, level),
		.height0 = u_minify(r->base.height0, level),
		.depth0 = 1,
		.array_size = 1,
		.bind = r->base.bind,
	};
	struct tg_resource *slice = resource_new(r->base.screen, &template);

	if (!slice)
		return NULL;
	slice->mem.layout = r->mem.layout;
	slice->mem.texel = r->mem.texel;
	slice->offset = tg_resource_offset(r, level, layer, sample);
	slice->mem.level[0].pitch = r->mem.level[level].pitch;
	slice->mem.level[0].slice = r->mem.level[level].slice;
	slice->mem.sample = slice->mem.layer = slice->mem.size = r->mem.level[level].slice;
	tg_bo_reference(&slice->bo, r->bo);
	return &slice->base;
}

void tg_resource_write(struct tg_batch *b, struct tg_resource *r, uint64_t start, uint64_t size)
{
	const uint64_t end = MIN2(start + size, r->base.width0);

	tg_batch_use(b, r->bo, true);
	if (r->base.target == PIPE_BUFFER && start < end)
		util_range_add(&r->base, &r->valid, (unsigned)start, (unsigned)end);
}

static struct pipe_resource *create_with(struct pipe_screen *screen,
					 const struct pipe_resource *template, bool linear)
{
	struct tg_resource *r = resource_new(screen, template);

	if (!r)
		return NULL;
	lay_out(r, !linear, 0);
	r->bo = tg_resource_memory(tg_screen(screen), template, r->mem.size);
	if (!r->bo) {
		resource_free(r);
		return NULL;
	}
	if (is_shared(template))
		r->bo->shared = true;
	return &r->base;
}

static struct pipe_resource *resource_create(struct pipe_screen *screen,
					     const struct pipe_resource *template)
{
	return create_with(screen, template, wants_linear(template));
}

static bool may_be_tiled(enum pipe_format format)
{
	return !(tc_format(format)->uses & TC_BLOCK);
}

static struct pipe_resource *resource_create_with_modifiers(struct pipe_screen *screen,
							    const struct pipe_resource *template,
							    const uint64_t *modifiers, int count)
{
	if (drm_find_modifier(TILED, modifiers, count) && may_be_tiled(template->format) &&
	    !(template->bind & (PIPE_BIND_LINEAR | PIPE_BIND_CURSOR)))
		return create_with(screen, template, false);
	if (drm_find_modifier(DRM_FORMAT_MOD_LINEAR, modifiers, count))
		return create_with(screen, template, true);
	if (drm_find_modifier(DRM_FORMAT_MOD_INVALID, modifiers, count))
		return resource_create(screen, template);
	return NULL;
}

/* ---- What others know ------------------------------------------------------------------------ */

/*
 * The stride of a tiled resource is that of the kernel's framebuffers: the bytes from row to row of
 * tiles, divided by the rows of a tile.
 */
static uint32_t stride_of(const struct tg_resource *r, unsigned level)
{
	return r->mem.level[level].pitch / (r->mem.layout == TSR_LAYOUT_TILED ? TC_TILE : 1);
}

static uint64_t modifier_of(const struct tg_resource *r)
{
	return r->mem.layout == TSR_LAYOUT_TILED ? TILED : DRM_FORMAT_MOD_LINEAR;
}

/* The layout a handle speaks of. False: we have no such. */
static bool take_layout(struct tg_resource *r, const struct winsys_handle *handle)
{
	const bool tiled = handle->modifier == TILED;
	const uint32_t width = util_format_get_nblocksx(r->format, r->base.width0);
	const uint64_t pitch = (uint64_t)handle->stride * (tiled ? TC_TILE : 1);

	if (!tiled && handle->modifier != DRM_FORMAT_MOD_LINEAR &&
	    handle->modifier != DRM_FORMAT_MOD_INVALID)
		return false;
	lay_out(r, tiled, (uint32_t)pitch);
	if (r->base.target == PIPE_BUFFER)
		return !tiled;
	if (tiled && (!may_be_tiled(r->format) || pitch % TC_ALIGN))
		return false;
	return pitch <= UINT32_MAX &&
	       handle->stride >= (uint64_t)align(width, tiled ? TC_TILE : 1) * r->mem.texel;
}

/* The resource's memory is from @offset on in @bo, which may be NULL. Else @r is freed. */
static struct pipe_resource *put_into(struct tg_resource *r, struct tg_bo *bo)
{
	if (!bo || bo->size < r->offset || bo->size - r->offset < r->mem.size) {
		resource_free(r);
		return NULL;
	}
	util_range_add(&r->base, &r->valid, 0, r->base.width0);
	return &r->base;
}

struct pipe_resource *tg_resource_in(struct pipe_screen *screen,
				     const struct pipe_resource *template, struct tg_bo *bo,
				     uint64_t offset)
{
	struct tg_resource *r = offset % TC_ALIGN ? NULL : resource_new(screen, template);
	struct pipe_resource own = *template;

	if (!r)
		return NULL;
	/* shared memory is tiled, too, if its owner does not say otherwise */
	own.bind &= PIPE_BIND_LINEAR;
	r->offset = offset;
	lay_out(r, !wants_linear(&own), 0);
	tg_bo_reference(&r->bo, bo);
	return put_into(r, bo);
}

static struct pipe_resource *resource_from_handle(struct pipe_screen *screen,
						  const struct pipe_resource *template,
						  struct winsys_handle *handle, unsigned usage)
{
	const uint32_t offset_align = handle->modifier == TILED ? TC_ALIGN : 16;
	struct tg_resource *r;

	if (handle->type != WINSYS_HANDLE_TYPE_FD || samples_of(template) > 1 ||
	    template->last_level || handle->offset % offset_align)
		return NULL;
	r = resource_new(screen, template);
	if (!r)
		return NULL;
	r->offset = handle->offset;
	if (take_layout(r, handle))
		r->bo = tg_bo_import(tg_screen(screen), (int)handle->handle);
	return put_into(r, r->bo);
}

static bool resource_get_handle(struct pipe_screen *screen, struct pipe_context *context,
				struct pipe_resource *resource, struct winsys_handle *handle,
				unsigned usage)
{
	struct tg_resource *r = tg_resource(resource);
	int fd;

	if (r->stencil || samples_of(resource) > 1 || !tg_share_open(r->bo))
		return false;
	handle->stride = stride_of(r, 0);
	handle->offset = (unsigned)r->offset;
	handle->modifier = modifier_of(r);
	if (handle->type == WINSYS_HANDLE_TYPE_KMS) {
		handle->handle = tsr_bo_handle(r->bo->bo);
		return true;
	}
	if (handle->type != WINSYS_HANDLE_TYPE_FD || tsr_bo_export(r->bo->bo, &fd))
		return false;
	handle->handle = (unsigned)fd;
	return true;
}

static bool resource_get_param(struct pipe_screen *screen, struct pipe_context *context,
			       struct pipe_resource *resource, unsigned plane, unsigned layer,
			       unsigned level, enum pipe_resource_param param, unsigned usage,
			       uint64_t *value)
{
	struct tg_resource *r = tg_resource(resource);
	struct winsys_handle handle = { .type = WINSYS_HANDLE_TYPE_FD };

	switch (param) {
	case PIPE_RESOURCE_PARAM_NPLANES:
		*value = 1;
		return true;
	case PIPE_RESOURCE_PARAM_STRIDE:
		*value = stride_of(r, level);
		return true;
	case PIPE_RESOURCE_PARAM_OFFSET:
		*value = tg_resource_offset(r, level, layer, 0);
		return true;
	case PIPE_RESOURCE_PARAM_MODIFIER:
		*value = modifier_of(r);
		return true;
	case PIPE_RESOURCE_PARAM_LAYER_STRIDE:
		*value = r->mem.layer;
		return true;
	case PIPE_RESOURCE_PARAM_HANDLE_TYPE_KMS:
		handle.type = WINSYS_HANDLE_TYPE_KMS;
		FALLTHROUGH;
	case PIPE_RESOURCE_PARAM_HANDLE_TYPE_FD:
		if (!resource_get_handle(screen, context, resource, &handle, usage))
			return false;
		*value = handle.handle;
		return true;
	default:
		return false;
	}
}

static bool is_dmabuf_modifier_supported(struct pipe_screen *screen, uint64_t modifier,
					 enum pipe_format format, bool *external_only)
{
	if (external_only)
		*external_only = false;
	return modifier == DRM_FORMAT_MOD_LINEAR || (modifier == TILED && may_be_tiled(format));
}

/* The best one first. */
static void query_dmabuf_modifiers(struct pipe_screen *screen, enum pipe_format format, int max,
				   uint64_t *modifiers, unsigned *external_only, int *count)
{
	static const uint64_t all[] = { TILED, DRM_FORMAT_MOD_LINEAR };
	unsigned i;

	*count = 0;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (!is_dmabuf_modifier_supported(screen, all[i], format, NULL))
			continue;
		if (*count < max) {
			modifiers[*count] = all[i];
			if (external_only)
				external_only[*count] = false;
		}
		++*count;
	}
	if (max)
		*count = MIN2(*count, max);
}

/* ---- The screen's functions ------------------------------------------------------------------ */

void tg_resource_extent(const struct pipe_resource *resource, unsigned level, unsigned dimensions,
			uint32_t *out)
{
	out[0] = u_minify(resource->width0, level);
	if (dimensions > 1)
		out[1] = u_minify(resource->height0, level);
	if (dimensions > 2)
		out[2] = u_minify(resource->depth0, level);
}

static void resource_destroy(struct pipe_screen *screen, struct pipe_resource *resource)
{
	resource_free(tg_resource(resource));
}

static enum pipe_format get_internal_format(struct pipe_resource *resource)
{
	return tg_resource(resource)->format;
}

static void set_stencil(struct pipe_resource *resource, struct pipe_resource *stencil)
{
	tg_resource(resource)->stencil = stencil;
}

static struct pipe_resource *get_stencil(struct pipe_resource *resource)
{
	return tg_resource(resource)->stencil;
}

/* 32-bit depth with stencil is two resources; samples are mapped by way of one without. */
static const struct u_transfer_vtbl transfer_vtbl = {
	.resource_create = resource_create,
	.resource_destroy = resource_destroy,
	.transfer_map = tg_texture_map,
	.transfer_unmap = tg_texture_unmap,
	.transfer_flush_region = tg_flush_region,
	.get_internal_format = get_internal_format,
	.set_stencil = set_stencil,
	.get_stencil = get_stencil,
};

bool tg_resource_screen_init(struct pipe_screen *screen)
{
	screen->transfer_helper = u_transfer_helper_create(
		&transfer_vtbl, U_TRANSFER_HELPER_SEPARATE_Z32S8 | U_TRANSFER_HELPER_MSAA_MAP);
	screen->resource_create = u_transfer_helper_resource_create;
	screen->resource_create_with_modifiers = resource_create_with_modifiers;
	screen->resource_from_handle = resource_from_handle;
	screen->resource_get_handle = resource_get_handle;
	screen->resource_get_param = resource_get_param;
	screen->resource_destroy = u_transfer_helper_resource_destroy;
	screen->query_dmabuf_modifiers = query_dmabuf_modifiers;
	screen->is_dmabuf_modifier_supported = is_dmabuf_modifier_supported;
	return screen->transfer_helper;
}
