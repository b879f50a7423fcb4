// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * Planes: primary, overlay, cursor. They differ in what the hardware lets the cursor show. Plane
 * states become words for the registers here; when the device sees them is tessera_crtc.c's matter.
 */

#include <linux/bitfield.h>
#include <linux/dma-fence.h>

#include <drm/drm_atomic.h>
#include <drm/drm_atomic_helper.h>
#include <drm/drm_blend.h>
#include <drm/drm_damage_helper.h>
#include <drm/drm_fourcc.h>
#include <drm/drm_framebuffer.h>
#include <drm/drm_gem_atomic_helper.h>
#include <drm/drm_panic.h>
#include <drm/tessera_drm.h>
#include <drm/drm_print.h>

#include "tessera_device.h"
#include "tessera_gem.h"
#include "tessera_kms.h"
#include "tessera_local.h"
#include "tsr_packets.h"

/**
 * struct tessera_plane - a plane of a head
 */
struct tessera_plane {
	/** @base: Plane. */
	struct drm_plane base;
	/** @head: Its head. */
	struct tessera_head *head;
	/** @number: enum tsr_display_plane. */
	unsigned int number;
};

static struct tessera_plane *to_tessera_plane(struct drm_plane *plane)
{
	return container_of(plane, struct tessera_plane, base);
}

#define CONVERSION(format, order) \
	(FIELD_PREP_CONST(TSR_CONVERSION_FORMAT__MASK, TSR_PIXEL_FORMAT_##format) | \
	 FIELD_PREP_CONST(TSR_CONVERSION_ORDER__MASK, TSR_COMPONENT_ORDER_##order))

/* The device's number of a format. */
static const struct {
	u32 format;
	u32 conversion;
} plane_format[] = {
	{ DRM_FORMAT_XRGB8888, CONVERSION(RGBA8_UNORM, BGR1) },
	{ DRM_FORMAT_ARGB8888, CONVERSION(RGBA8_UNORM, BGRA) },
	{ DRM_FORMAT_XBGR8888, CONVERSION(RGBA8_UNORM, RGB1) },
	{ DRM_FORMAT_ABGR8888, CONVERSION(RGBA8_UNORM, RGBA) },
	{ DRM_FORMAT_RGB565, CONVERSION(RGB565, BGR1) },
	{ DRM_FORMAT_XRGB2101010, CONVERSION(RGB10_A2_UNORM, BGR1) },
	{ DRM_FORMAT_ABGR16161616F, CONVERSION(RGBA16F, RGBA) },
};

static const u32 plane_formats[] = {
	DRM_FORMAT_XRGB8888,
	DRM_FORMAT_ARGB8888,
	DRM_FORMAT_XBGR8888,
	DRM_FORMAT_ABGR8888,
	DRM_FORMAT_RGB565,
	DRM_FORMAT_XRGB2101010,
	DRM_FORMAT_ABGR16161616F,
};

static const u32 cursor_formats[] = {
	DRM_FORMAT_ARGB8888,
};

static const u64 cursor_modifiers[] = {
	DRM_FORMAT_MOD_LINEAR,
	DRM_FORMAT_MOD_INVALID
};

/**
 * tessera_format_conversion() - what the device calls a format
 * @format: DRM_FORMAT_*
 *
 * Return: a CONVERSION word; 0 if it has none.
 */
u32 tessera_format_conversion(u32 format)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(plane_format); i++) {
		if (plane_format[i].format == format)
			return plane_format[i].conversion;
	}

	return 0;
}

static u32 plane_blend(const struct drm_plane_state *state)
{
	if (!state->fb->format->has_alpha)
		return TSR_PLANE_BLEND_NONE;

	switch (state->pixel_blend_mode) {
	case DRM_MODE_BLEND_PIXEL_NONE:
		return TSR_PLANE_BLEND_NONE;
	case DRM_MODE_BLEND_COVERAGE:
		return TSR_PLANE_BLEND_COVERAGE;
	default:
		return TSR_PLANE_BLEND_PREMULTIPLIED;
	}
}

/* The registers of a plane; all zero: it is off. */
static void plane_words(const struct drm_plane_state *state, u32 *word)
{
	struct drm_framebuffer *fb = state->fb;
	bool tiled, tagged;
	u64 addr;

	memset(word, 0, TESSERA_PLANE_WORDS * sizeof(*word));
	if (!state->visible)
		return;

	tiled = fb->modifier != DRM_FORMAT_MOD_LINEAR;
	tagged = fb->modifier == DRM_FORMAT_MOD_TESSERA_TAGGED;
	addr = tessera_framebuffer_addr(fb, 0, TESSERA_FB_SHOW);
	word[TESSERA_PLANE_ADDR] = lower_32_bits(addr);
	word[TESSERA_PLANE_ADDR_HIGH] = upper_32_bits(addr);
	word[TESSERA_PLANE_FORMAT] = tessera_format_conversion(fb->format->format);
	word[TESSERA_PLANE_PITCH] = fb->pitches[0] * (tiled ? TSR_TILE_DIM : 1);
	word[TESSERA_PLANE_CONFIG] =
		FIELD_PREP(TSR_DISPLAY_PLANE_CONFIG_LAYOUT__MASK,
			   tagged ? TSR_SCANOUT_LAYOUT_TAGGED :
			   tiled ? TSR_SCANOUT_LAYOUT_TILED : TSR_SCANOUT_LAYOUT_LINEAR) |
		FIELD_PREP(TSR_DISPLAY_PLANE_CONFIG_BLEND__MASK, plane_blend(state)) |
		FIELD_PREP(TSR_DISPLAY_PLANE_CONFIG_ZPOS__MASK, state->normalized_zpos) |
		FIELD_PREP(TSR_DISPLAY_PLANE_CONFIG_ALPHA__MASK, state->alpha);
	word[TESSERA_PLANE_POS] = FIELD_PREP(TSR_DISPLAY_PLANE_POS_X__MASK, state->dst.x1) |
				  FIELD_PREP(TSR_DISPLAY_PLANE_POS_Y__MASK, state->dst.y1);
	word[TESSERA_PLANE_SIZE] =
		FIELD_PREP(TSR_DISPLAY_PLANE_SIZE_WIDTH__MASK, drm_rect_width(&state->dst)) |
		FIELD_PREP(TSR_DISPLAY_PLANE_SIZE_HEIGHT__MASK, drm_rect_height(&state->dst));
	word[TESSERA_PLANE_SRC] = FIELD_PREP(TSR_DISPLAY_PLANE_SRC_X__MASK, state->src.x1 >> 16) |
				  FIELD_PREP(TSR_DISPLAY_PLANE_SRC_Y__MASK, state->src.y1 >> 16);
	if (!tagged)
		return;

	addr = tessera_framebuffer_addr(fb, 1, TESSERA_FB_SHOW);
	word[TESSERA_PLANE_TAGS] = lower_32_bits(addr);
	word[TESSERA_PLANE_TAGS_HIGH] = upper_32_bits(addr);
	addr = tessera_framebuffer_addr(fb, 2, TESSERA_FB_SHOW);
	word[TESSERA_PLANE_CLEAR] = lower_32_bits(addr);
	word[TESSERA_PLANE_CLEAR_HIGH] = upper_32_bits(addr);
	word[TESSERA_PLANE_TAG_PITCH] = fb->pitches[1];
}

static int tessera_plane_atomic_check(struct drm_plane *plane, struct drm_atomic_commit *state)
{
	struct drm_plane_state *new = drm_atomic_get_new_plane_state(state, plane);
	struct drm_crtc_state *crtc_state;
	int ret;

	new->visible = false;
	if (!new->crtc)
		return 0;

	crtc_state = drm_atomic_get_new_crtc_state(state, new->crtc);
	ret = drm_atomic_helper_check_plane_state(new, crtc_state, DRM_PLANE_NO_SCALING,
						  DRM_PLANE_NO_SCALING, true, true);
	if (ret)
		return ret;

	if (to_tessera_plane(plane)->number == TSR_DISPLAY_PLANE_CURSOR &&
	    (new->crtc_w > TSR_CURSOR_MAX || new->crtc_h > TSR_CURSOR_MAX))
		return -EINVAL;

	return 0;
}

/* The changed part of the screen. Returns false if user space gives none. */
static bool plane_damage(const struct drm_plane_state *old, struct drm_plane_state *new,
			 struct drm_rect *damage)
{
	/* the cursor has no property for clips, and the core warns about a plane without one */
	if (!new->visible || new->plane->type == DRM_PLANE_TYPE_CURSOR ||
	    !drm_plane_get_damage_clips(new) || new->ignore_damage_clips)
		return false;

	if (!drm_atomic_helper_damage_merged(old, new, damage))
		drm_rect_init(damage, 0, 0, 0, 0);
	else
		drm_rect_translate(damage, new->dst.x1 - (new->src.x1 >> 16),
				   new->dst.y1 - (new->src.y1 >> 16));

	return true;
}

static void tessera_plane_atomic_update(struct drm_plane *plane, struct drm_atomic_commit *state)
{
	struct drm_plane_state *new = drm_atomic_get_new_plane_state(state, plane);
	struct tessera_plane *tplane = to_tessera_plane(plane);
	u32 words[TESSERA_PLANE_WORDS];
	struct drm_rect damage;
	bool said;

	said = plane_damage(drm_atomic_get_old_plane_state(state, plane), new, &damage);
	plane_words(new, words);
	tessera_head_set_plane(tplane->head, tplane->number, words, said ? &damage : NULL);
}

/*
 * A cursor changes at once, but for one that comes or goes, of which the helpers do not want
 * to know here. The core refuses flips that may tear.
 */
static int tessera_plane_atomic_async_check(struct drm_plane *plane,
					    struct drm_atomic_commit *state, bool flip)
{
	struct drm_plane_state *new = drm_atomic_get_new_plane_state(state, plane);
	struct drm_plane_state *old = plane->state;

	if (plane->type != DRM_PLANE_TYPE_CURSOR || !new->crtc || !new->crtc->state->active ||
	    new->crtc != old->crtc || !new->fb || !old->fb)
		return -EINVAL;

	return 0;
}

static void tessera_plane_atomic_async_update(struct drm_plane *plane,
					      struct drm_atomic_commit *state)
{
	struct drm_plane_state *new = drm_atomic_get_new_plane_state(state, plane);
	struct tessera_plane *tplane = to_tessera_plane(plane);
	struct drm_device *drm = plane->dev;
	u32 words[TESSERA_PLANE_WORDS];

	/* The caller unpins @new afterwards, which then holds the old framebuffer. */
	swap(plane->state->fb, new->fb);
	plane->state->src_x = new->src_x;
	plane->state->src_y = new->src_y;
	plane->state->src_w = new->src_w;
	plane->state->src_h = new->src_h;
	plane->state->crtc_x = new->crtc_x;
	plane->state->crtc_y = new->crtc_y;
	plane->state->crtc_w = new->crtc_w;
	plane->state->crtc_h = new->crtc_h;
	plane->state->src = new->src;
	plane->state->dst = new->dst;
	plane->state->visible = new->visible;

	plane_words(plane->state, words);
	tessera_head_set_plane(tplane->head, tplane->number, words, NULL);
	spin_lock_irq(&drm->event_lock);
	tessera_head_move_cursor(tplane->head);
	spin_unlock_irq(&drm->event_lock);
	if (plane->state->fb != new->fb)
		tessera_head_settle(tplane->head);
}

/* The helpers wait for what draws a picture, not for what draws a cursor that changes at once. */
static int plane_wait_drawn(struct drm_plane *plane, struct drm_plane_state *state)
{
	if (plane->type != DRM_PLANE_TYPE_CURSOR || !state->fence || !state->state->async_update)
		return 0;

	return dma_fence_wait(state->fence, true);
}

static int tessera_plane_prepare_fb(struct drm_plane *plane, struct drm_plane_state *state)
{
	int ret;

	if (!state->fb)
		return 0;

	ret = drm_gem_plane_helper_prepare_fb(plane, state);
	ret = ret ?: plane_wait_drawn(plane, state);
	if (ret)
		return ret;

	return tessera_framebuffer_pin(to_tessera_plane(plane)->head->kms, state->fb,
				       TESSERA_FB_SHOW);
}

static void tessera_plane_cleanup_fb(struct drm_plane *plane, struct drm_plane_state *state)
{
	if (state->fb)
		tessera_framebuffer_unpin(to_tessera_plane(plane)->head->kms, state->fb,
					  TESSERA_FB_SHOW);
}

/* ---- the kernel's last words ---- */

#ifndef tessera_scanout_set_pages
/* Have the kernel write to @pages: 0 or a negative error. */
static int tessera_scanout_set_pages(struct drm_scanout_buffer *sb, struct page **pages)
{
	sb->pages = pages;

	return 0;
}
#endif

/*
 * In any context, with everything else stopped. What is shown is pinned: its pages, or its part
 * of local memory, are there.
 */
static int tessera_plane_get_scanout_buffer(struct drm_plane *plane,
					    struct drm_scanout_buffer *sb)
{
	struct tessera_device *tdev = to_tessera_plane(plane)->head->kms->tdev;
	struct drm_plane_state *state = plane->state;
	struct drm_framebuffer *fb = state->fb;
	struct tessera_bo *bo;

	if (!fb || !state->visible || fb->modifier != DRM_FORMAT_MOD_LINEAR)
		return -ENODEV;

	bo = to_tessera_bo(fb->obj[0]);
	sb->format = fb->format;
	sb->width = fb->width;
	sb->height = fb->height;
	sb->pitch[0] = fb->pitches[0];
	if (drm_mm_node_allocated(&bo->local)) {
		iosys_map_set_vaddr_iomem(&sb->map[0], tessera_local_cpu(tdev, bo->local.start) +
					  fb->offsets[0]);
		return 0;
	}
	if (bo->base.vaddr) {
		iosys_map_set_vaddr(&sb->map[0], bo->base.vaddr + fb->offsets[0]);
		return 0;
	}
	if (!bo->base.pages || fb->offsets[0] % PAGE_SIZE)
		return -ENODEV;

	return tessera_scanout_set_pages(sb, bo->base.pages + fb->offsets[0] / PAGE_SIZE);
}

static void tessera_plane_panic_flush(struct drm_plane *plane)
{
	tessera_head_refresh(to_tessera_plane(plane)->head);
}

static const struct drm_plane_helper_funcs tessera_primary_helper_funcs = {
	.prepare_fb = tessera_plane_prepare_fb,
	.cleanup_fb = tessera_plane_cleanup_fb,
	.atomic_check = tessera_plane_atomic_check,
	.atomic_update = tessera_plane_atomic_update,
	.get_scanout_buffer = tessera_plane_get_scanout_buffer,
	.panic_flush = tessera_plane_panic_flush,
};

static const struct drm_plane_helper_funcs tessera_plane_helper_funcs = {
	.prepare_fb = tessera_plane_prepare_fb,
	.cleanup_fb = tessera_plane_cleanup_fb,
	.atomic_check = tessera_plane_atomic_check,
	.atomic_update = tessera_plane_atomic_update,
	.atomic_async_check = tessera_plane_atomic_async_check,
	.atomic_async_update = tessera_plane_atomic_async_update,
};

static const struct drm_plane_funcs tessera_plane_funcs = {
	.update_plane = drm_atomic_helper_update_plane,
	.disable_plane = drm_atomic_helper_disable_plane,
	.reset = drm_atomic_helper_plane_reset,
	.atomic_duplicate_state = drm_atomic_helper_plane_duplicate_state,
	.atomic_destroy_state = drm_atomic_helper_plane_destroy_state,
};

static int plane_create_properties(struct drm_plane *plane, unsigned int number)
{
	int ret;

	/* The cursor is on top, and what its pixels say: they are premultiplied. */
	if (number == TSR_DISPLAY_PLANE_CURSOR) {
		ret = drm_plane_create_blend_mode_property(plane, BIT(DRM_MODE_BLEND_PREMULTI));
		return ret ?: drm_plane_create_zpos_immutable_property(plane, number);
	}

	ret = drm_plane_create_alpha_property(plane);
	ret = ret ?: drm_plane_create_blend_mode_property(plane, BIT(DRM_MODE_BLEND_PIXEL_NONE) |
							  BIT(DRM_MODE_BLEND_PREMULTI) |
							  BIT(DRM_MODE_BLEND_COVERAGE));
	if (ret)
		return ret;

	return drm_plane_create_zpos_property(plane, number, TSR_DISPLAY_PLANE_PRIMARY,
					      TSR_DISPLAY_PLANE_OVERLAY);
}

/**
 * tessera_plane_create() - make a plane of a head
 * @head: head
 * @number: enum tsr_display_plane
 *
 * Return: the plane or an error pointer.
 */
struct drm_plane *tessera_plane_create(struct tessera_head *head, unsigned int number)
{
	static const enum drm_plane_type type[] = {
		[TSR_DISPLAY_PLANE_PRIMARY] = DRM_PLANE_TYPE_PRIMARY,
		[TSR_DISPLAY_PLANE_OVERLAY] = DRM_PLANE_TYPE_OVERLAY,
		[TSR_DISPLAY_PLANE_CURSOR] = DRM_PLANE_TYPE_CURSOR,
	};
	bool cursor = number == TSR_DISPLAY_PLANE_CURSOR;
	struct tessera_plane *tplane;
	int ret;

	tplane = drmm_universal_plane_alloc(&head->kms->tdev->drm, struct tessera_plane, base,
					    BIT(head->index), &tessera_plane_funcs,
					    cursor ? cursor_formats : plane_formats,
					    cursor ? ARRAY_SIZE(cursor_formats) :
						     ARRAY_SIZE(plane_formats),
					    cursor ? cursor_modifiers : tessera_modifiers,
					    type[number], NULL);
	if (IS_ERR(tplane))
		return ERR_CAST(tplane);

	tplane->head = head;
	tplane->number = number;
	drm_plane_helper_add(&tplane->base, number == TSR_DISPLAY_PLANE_PRIMARY ?
			     &tessera_primary_helper_funcs : &tessera_plane_helper_funcs);
	if (!cursor)
		drm_plane_enable_fb_damage_clips(&tplane->base);

	ret = plane_create_properties(&tplane->base, number);

	return ret ? ERR_PTR(ret) : &tplane->base;
}
