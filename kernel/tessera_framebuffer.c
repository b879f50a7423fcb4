// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Framebuffers
 *
 * The display controller reads memory through the kernel's address space. The first
 * plane state that shows a framebuffer maps its BO there. The mapping is needed until
 * the last such plane state is cleaned up. At that time the next picture has been
 * latched, and the old one is not read any more. A framebuffer that a writeback
 * writes to has a second mapping, for writing.
 *
 * Programs that flip show the same few framebuffers repeatedly. The last few mappings
 * that are not needed are therefore kept as idle ones. An idle mapping belongs to its
 * framebuffer and ends with it. It also ends for a newer one, for lack of address
 * space, when user space no longer needs the BO, and when the device is removed.
 * Page tables and DMA mappings survive resets and sleep, so these do not affect it. A
 * BO that is mapped is not purged.
 *
 * Pictures are linear, or in the u-interleaved tiles of 16 by 16 pixels that the
 * renderer writes. The pitch of the latter is that of a row of tiles divided by 16.
 * Such a picture may have compression metadata and a clear value, as two more planes
 * of the same BO: see DRM_FORMAT_MOD_TESSERA_TAGGED.
 */

#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_damage_helper.h>
#include <drm/drm_drv.h>
#include <drm/drm_fourcc.h>
#include <drm/drm_gem_framebuffer_helper.h>
#include <drm/tessera_drm.h>

#include "tessera_as.h"
#include "tessera_delay.h"
#include "tessera_device.h"
#include "tessera_gem.h"
#include "tessera_kms.h"
#include "tessera_shrinker.h"

#define TAGGED DRM_FORMAT_MOD_TESSERA_TAGGED
#define TILED DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED
#define ADDR_ALIGN 64

/* Idle places of a device: two buffers and a cursor or two for each head. */
#define IDLE_MOST 8

const u64 tessera_modifiers[] = {
	TILED,
	DRM_FORMAT_MOD_LINEAR,
	TAGGED,
	DRM_FORMAT_MOD_INVALID
};

/* Planes of a picture with tags. */
enum { PIXELS, TAGS, CLEAR };

/* Bytes of a clear value. */
#define CLEAR_SIZE 16

#define TAGGED_FORMAT(name, bits, bytes, alpha) { \
	.format = DRM_FORMAT_##name, .depth = (bits), .num_planes = 3, \
	.char_per_block = { (bytes), 1, 0 }, .hsub = 8, .vsub = 8, .has_alpha = (alpha), \
}

static const struct drm_format_info tagged_formats[] = {
	TAGGED_FORMAT(XRGB8888, 24, 4, false),
	TAGGED_FORMAT(ARGB8888, 32, 4, true),
	TAGGED_FORMAT(XBGR8888, 0, 4, false),
	TAGGED_FORMAT(ABGR8888, 0, 4, true),
	TAGGED_FORMAT(RGB565, 16, 2, false),
	TAGGED_FORMAT(XRGB2101010, 30, 4, false),
	TAGGED_FORMAT(ABGR16161616F, 0, 8, true),
};

/**
 * tessera_framebuffer_info() - formats with planes of our own
 * @format: DRM_FORMAT_*
 * @modifier: DRM_FORMAT_MOD_*
 *
 * Return: description, or NULL where the core's is right.
 */
const struct drm_format_info *tessera_framebuffer_info(u32 format, u64 modifier)
{
	unsigned int i;

	for (i = 0; modifier == TAGGED && i < ARRAY_SIZE(tagged_formats); i++) {
		if (tagged_formats[i].format == format)
			return &tagged_formats[i];
	}

	return NULL;
}

/* Inside drm_dev_enter(). */
static int place_map_bo(struct tessera_device *tdev, struct tessera_fb_place *place, bool write)
{
	struct tessera_bo *bo = place->bo;
	struct sg_table *sgt = NULL;

	if (!drm_mm_node_allocated(&bo->local)) {
		sgt = tessera_bo_map_dma(bo);
		if (IS_ERR(sgt))
			return PTR_ERR(sgt);
	}

	return tessera_kernel_as_map(tdev, place->node.start, bo->base.base.size, sgt,
				     bo->local.start, write);
}

static void place_unmap(struct tessera_kms *kms, struct tessera_fb_place *place)
{
	tessera_kernel_as_unmap(kms->tdev, place->node.start, place->node.size);
	drm_mm_remove_node(&place->node);
	atomic_dec(&place->bo->needed);
}

/* It is needed again, or it goes. */
static void place_not_idle(struct tessera_kms *kms, struct tessera_fb_place *place)
{
	list_del_init(&place->idle);
	kms->num_idle--;
}

static void place_give_up(struct tessera_kms *kms, struct tessera_fb_place *place)
{
	place_not_idle(kms, place);
	place_unmap(kms, place);
}

/* Those of @bo, or all. */
static void idle_give_up(struct tessera_kms *kms, struct tessera_bo *bo)
{
	struct tessera_fb_place *place, *next;

	list_for_each_entry_safe(place, next, &kms->idle, idle) {
		if (!bo || place->bo == bo)
			place_give_up(kms, place);
	}
}

static void idle_give_up_oldest(struct tessera_kms *kms)
{
	place_give_up(kms, list_first_entry(&kms->idle, struct tessera_fb_place, idle));
}

static int place_find_room(struct tessera_kms *kms, struct tessera_fb_place *place)
{
	size_t size = place->bo->base.base.size;
	int ret;

	for (;;) {
		ret = drm_mm_insert_node_generic(&kms->mm, &place->node, size,
						 size >= SZ_2M ? SZ_2M : PAGE_SIZE, 0, 0);
		if (ret != -ENOSPC || list_empty(&kms->idle))
			return ret;
		idle_give_up_oldest(kms);
	}
}

static int place_map(struct tessera_kms *kms, struct tessera_fb_place *place, bool write)
{
	struct tessera_device *tdev = kms->tdev;
	int cookie, ret;

	ret = tessera_bo_need(place->bo);
	if (ret)
		return ret;

	ret = place_find_room(kms, place);
	if (ret)
		goto err_need;

	ret = -ENODEV;
	if (drm_dev_enter(&tdev->drm, &cookie)) {
		ret = place_map_bo(tdev, place, write);
		drm_dev_exit(cookie);
	}
	if (ret)
		goto err_node;

	kms->mapped++;

	return 0;

err_node:
	drm_mm_remove_node(&place->node);
err_need:
	atomic_dec(&place->bo->needed);
	return ret;
}

/* The end of its last pin. */
static void place_let_go(struct tessera_kms *kms, struct tessera_fb_place *place)
{
	/*
	 * User space may say a moment later that it does not need the BO, and the device may go a
	 * moment later: tessera_framebuffers_forget() comes after either.
	 */
	int madv = data_race(READ_ONCE(place->bo->base.madv));

	if (madv > 0 || drm_dev_is_unplugged(&kms->tdev->drm)) {
		place_unmap(kms, place);
		return;
	}

	tessera_delay(TESSERA_DELAY_FB_IDLE);
	list_add_tail(&place->idle, &kms->idle);
	if (++kms->num_idle > IDLE_MOST)
		idle_give_up_oldest(kms);
}

static void tessera_framebuffer_destroy(struct drm_framebuffer *fb)
{
	struct tessera_framebuffer *tfb = to_tessera_framebuffer(fb);
	struct tessera_kms *kms = to_tessera_device(fb->dev)->kms;
	unsigned int use;

	mutex_lock(&kms->pin_lock);
	for (use = 0; use < TESSERA_FB_USES; use++) {
		if (!list_empty(&tfb->place[use].idle))
			place_give_up(kms, &tfb->place[use]);
	}
	mutex_unlock(&kms->pin_lock);

	drm_gem_fb_destroy(fb);
}

static const struct drm_framebuffer_funcs tessera_framebuffer_funcs = {
	.destroy = tessera_framebuffer_destroy,
	.create_handle = drm_gem_fb_create_handle,
	.dirty = drm_atomic_helper_dirtyfb,
};

/* Tags and clear value stand in the BO of the pixels. */
static int tags_check(const struct drm_framebuffer *fb)
{
	u64 rows = DIV_ROUND_UP(fb->height, fb->format->vsub);

	if (fb->obj[TAGS] != fb->obj[PIXELS] || fb->obj[CLEAR] != fb->obj[PIXELS] ||
	    fb->offsets[TAGS] % ADDR_ALIGN || fb->offsets[CLEAR] % ADDR_ALIGN ||
	    fb->pitches[TAGS] > TSR_SCANOUT_PITCH_MAX ||
	    fb->pitches[TAGS] < DIV_ROUND_UP(fb->width, fb->format->hsub) ||
	    fb->offsets[TAGS] + rows * fb->pitches[TAGS] > fb->obj[TAGS]->size ||
	    fb->obj[CLEAR]->size < fb->offsets[CLEAR] + (u64)CLEAR_SIZE)
		return -EINVAL;

	return 0;
}

/* Checks that the core lacks: limits of the device, and that tiles fit in the BO. */
static int framebuffer_check(const struct drm_framebuffer *fb)
{
	u32 cpp = fb->format->cpp[0], pitch = fb->pitches[0], columns, rows;

	if (fb->offsets[0] % ADDR_ALIGN)
		return -EINVAL;
	if (fb->modifier == DRM_FORMAT_MOD_LINEAR)
		return pitch % cpp || pitch > TSR_SCANOUT_PITCH_MAX ? -EINVAL : 0;

	columns = DIV_ROUND_UP(fb->width, TSR_TILE_DIM);
	rows = DIV_ROUND_UP(fb->height, TSR_TILE_DIM);
	if (pitch > TSR_SCANOUT_PITCH_MAX / TSR_TILE_DIM || pitch % (ADDR_ALIGN / TSR_TILE_DIM) ||
	    pitch < columns * TSR_TILE_DIM * cpp)
		return -EINVAL;

	if (fb->offsets[0] + (u64)rows * TSR_TILE_DIM * pitch > fb->obj[0]->size)
		return -EINVAL;

	return fb->modifier == TAGGED ? tags_check(fb) : 0;
}

/* &drm_mode_config_funcs.fb_create. That a plane can show the format is the core's to check. */
struct drm_framebuffer *
tessera_framebuffer_create(struct drm_device *drm, struct drm_file *file,
			   const struct drm_format_info *info,
			   const struct drm_mode_fb_cmd2 *cmd)
{
	struct tessera_framebuffer *fb = kzalloc(sizeof(*fb), GFP_KERNEL_ACCOUNT);
	unsigned int use;
	int ret;

	if (!fb)
		return ERR_PTR(-ENOMEM);

	for (use = 0; use < TESSERA_FB_USES; use++)
		INIT_LIST_HEAD(&fb->place[use].idle);
	ret = drm_gem_fb_init_with_funcs(drm, &fb->base, file, info, cmd,
					 &tessera_framebuffer_funcs);
	if (ret) {
		kfree(fb);
		return ERR_PTR(ret);
	}

	for (use = 0; use < TESSERA_FB_USES; use++)
		fb->place[use].bo = to_tessera_bo(fb->base.obj[0]);
	ret = framebuffer_check(&fb->base);
	if (ret) {
		drm_framebuffer_put(&fb->base);
		return ERR_PTR(ret);
	}

	return &fb->base;
}

/**
 * tessera_framebuffer_pin() - see to it that the device can use a framebuffer
 * @kms: display controller
 * @fb: framebuffer
 * @use: what for
 *
 * Return: 0 or a negative error.
 */
int tessera_framebuffer_pin(struct tessera_kms *kms, struct drm_framebuffer *fb,
			    enum tessera_fb_use use)
{
	struct tessera_fb_place *place = &to_tessera_framebuffer(fb)->place[use];
	int ret = 0;

	mutex_lock(&kms->pin_lock);
	if (!list_empty(&place->idle))
		place_not_idle(kms, place);
	else if (!place->pins)
		ret = place_map(kms, place, use == TESSERA_FB_WRITE);
	if (!ret)
		place->pins++;
	mutex_unlock(&kms->pin_lock);

	return ret;
}

/**
 * tessera_framebuffer_unpin() - the end of tessera_framebuffer_pin()
 * @kms: display controller
 * @fb: framebuffer
 * @use: what for
 */
void tessera_framebuffer_unpin(struct tessera_kms *kms, struct drm_framebuffer *fb,
			       enum tessera_fb_use use)
{
	struct tessera_fb_place *place = &to_tessera_framebuffer(fb)->place[use];

	mutex_lock(&kms->pin_lock);
	if (!--place->pins)
		place_let_go(kms, place);
	mutex_unlock(&kms->pin_lock);
}

/**
 * tessera_framebuffers_forget() - give up framebuffers that are mapped and not needed
 * @tdev: device
 * @bo: BO that user space does not need any more, or NULL: the device was unplugged
 *
 * The caller holds no lock but those of mode setting. What is shown stays until it is not, and
 * goes then.
 */
void tessera_framebuffers_forget(struct tessera_device *tdev, struct tessera_bo *bo)
{
	struct tessera_kms *kms = tdev->kms;

	if (!kms)
		return;

	mutex_lock(&kms->pin_lock);
	idle_give_up(kms, bo);
	mutex_unlock(&kms->pin_lock);
}

/**
 * tessera_framebuffers_print() - say how often framebuffers were mapped
 * @kms: display controller
 * @m: where to
 */
void tessera_framebuffers_print(struct tessera_kms *kms, struct seq_file *m)
{
	mutex_lock(&kms->pin_lock);
	seq_printf(m, "framebuffers: %llu mapped, %u idle\n", kms->mapped, kms->num_idle);
	mutex_unlock(&kms->pin_lock);
}

/**
 * tessera_framebuffer_addr() - where the device finds a framebuffer
 * @fb: framebuffer that is pinned
 * @plane: plane of it
 * @use: what it is pinned for
 *
 * Return: address in the kernel's address space.
 */
u64 tessera_framebuffer_addr(struct drm_framebuffer *fb, unsigned int plane,
			     enum tessera_fb_use use)
{
	return to_tessera_framebuffer(fb)->place[use].node.start + fb->offsets[plane];
}
