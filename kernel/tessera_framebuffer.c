// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Framebuffers
 *
 * The display controller reads memory through the kernel's address space. A framebuffer's
 * BO, wherever it is, is mapped there from the preparation of the first plane state that
 * shows it to the clean-up of the last: when the new picture has been latched, so that
 * the old one is not read any more. A BO that user space does not need is not purged
 * meanwhile.
 *
 * Pictures are linear, or in the u-interleaved tiles of 16 by 16 pixels that the renderer
 * writes; the pitch of those is that of a row of tiles divided by 16.
 */

#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_fourcc.h>
#include <drm/drm_gem_framebuffer_helper.h>

#include "tessera_as.h"
#include "tessera_compat.h"
#include "tessera_device.h"
#include "tessera_gem.h"
#include "tessera_kms.h"
#include "tessera_shrinker.h"

#define TILED DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED
#define ADDR_ALIGN 64

const u64 tessera_modifiers[] = {
	TILED,
	DRM_FORMAT_MOD_LINEAR,
	DRM_FORMAT_MOD_INVALID
};

/* The device reads memory for every frame that anybody looks at: there is nothing to do. */
static int tessera_framebuffer_dirty(struct drm_framebuffer *fb, struct drm_file *file,
				     unsigned int flags, unsigned int color,
				     struct drm_clip_rect *clips, unsigned int num_clips)
{
	return 0;
}

static const struct drm_framebuffer_funcs tessera_framebuffer_funcs = {
	.destroy = drm_gem_fb_destroy,
	.create_handle = drm_gem_fb_create_handle,
	.dirty = tessera_framebuffer_dirty,
};

/* What the core has not looked at: limits of the device, and whether tiles fit in the BO. */
static int framebuffer_check(const struct drm_framebuffer *fb)
{
	u32 cpp = fb->format->cpp[0], pitch = fb->pitches[0], columns, rows;

	if (fb->offsets[0] % ADDR_ALIGN)
		return -EINVAL;
	if (fb->modifier != TILED)
		return pitch % cpp || pitch > TSR_SCANOUT_PITCH_MAX ? -EINVAL : 0;

	columns = DIV_ROUND_UP(fb->width, TSR_TILE_DIM);
	rows = DIV_ROUND_UP(fb->height, TSR_TILE_DIM);
	if (pitch > TSR_SCANOUT_PITCH_MAX / TSR_TILE_DIM || pitch % (ADDR_ALIGN / TSR_TILE_DIM) ||
	    pitch < columns * TSR_TILE_DIM * cpp)
		return -EINVAL;

	return fb->offsets[0] + (u64)rows * TSR_TILE_DIM * pitch > fb->obj[0]->size ? -EINVAL : 0;
}

/* &drm_mode_config_funcs.fb_create. That a plane can show the format is the core's to check. */
struct drm_framebuffer *
tessera_framebuffer_create(struct drm_device *drm, struct drm_file *file,
			   TESSERA_COMPAT_FB_INFO(const struct drm_format_info *info)
			   const struct drm_mode_fb_cmd2 *cmd)
{
	struct tessera_framebuffer *fb = kzalloc(sizeof(*fb), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!fb)
		return ERR_PTR(-ENOMEM);

	ret = drm_gem_fb_init_with_funcs(drm, &fb->base, file, TESSERA_COMPAT_FB_INFO(info) cmd,
					 &tessera_framebuffer_funcs);
	if (ret) {
		kfree(fb);
		return ERR_PTR(ret);
	}

	ret = framebuffer_check(&fb->base);
	if (ret) {
		drm_framebuffer_put(&fb->base);
		return ERR_PTR(ret);
	}

	return &fb->base;
}

/* Inside drm_dev_enter(). */
static int framebuffer_map(struct tessera_device *tdev, struct tessera_framebuffer *fb)
{
	struct drm_gem_object *obj = fb->base.obj[0];
	struct tessera_bo *bo = to_tessera_bo(obj);
	struct sg_table *sgt = NULL;

	if (!drm_mm_node_allocated(&bo->local)) {
		sgt = tessera_bo_map_dma(bo);
		if (IS_ERR(sgt))
			return PTR_ERR(sgt);
	}

	return tessera_kernel_as_map(tdev, fb->node.start, obj->size, sgt, bo->local.start);
}

static int framebuffer_place(struct tessera_kms *kms, struct tessera_framebuffer *fb)
{
	struct drm_gem_object *obj = fb->base.obj[0];
	struct tessera_device *tdev = kms->tdev;
	int cookie, ret;

	ret = tessera_bo_need(to_tessera_bo(obj));
	if (ret)
		return ret;

	ret = drm_mm_insert_node_generic(&kms->mm, &fb->node, obj->size,
					 obj->size >= SZ_2M ? SZ_2M : PAGE_SIZE, 0, 0);
	if (ret)
		goto err_need;

	ret = -ENODEV;
	if (drm_dev_enter(&tdev->drm, &cookie)) {
		ret = framebuffer_map(tdev, fb);
		drm_dev_exit(cookie);
	}
	if (ret)
		goto err_node;

	return 0;

err_node:
	drm_mm_remove_node(&fb->node);
err_need:
	atomic_dec(&to_tessera_bo(obj)->needed);
	return ret;
}

/**
 * tessera_framebuffer_pin() - see to it that the device can read a framebuffer
 * @kms: display controller
 * @fb: framebuffer
 *
 * Return: 0 or a negative error.
 */
int tessera_framebuffer_pin(struct tessera_kms *kms, struct drm_framebuffer *fb)
{
	struct tessera_framebuffer *tfb = to_tessera_framebuffer(fb);
	int ret = 0;

	mutex_lock(&kms->pin_lock);
	if (!tfb->pins)
		ret = framebuffer_place(kms, tfb);
	if (!ret)
		tfb->pins++;
	mutex_unlock(&kms->pin_lock);

	return ret;
}

/**
 * tessera_framebuffer_unpin() - the end of tessera_framebuffer_pin()
 * @kms: display controller
 * @fb: framebuffer
 */
void tessera_framebuffer_unpin(struct tessera_kms *kms, struct drm_framebuffer *fb)
{
	struct tessera_framebuffer *tfb = to_tessera_framebuffer(fb);

	mutex_lock(&kms->pin_lock);
	if (!--tfb->pins) {
		tessera_kernel_as_unmap(kms->tdev, tfb->node.start, tfb->node.size);
		drm_mm_remove_node(&tfb->node);
		atomic_dec(&to_tessera_bo(fb->obj[0])->needed);
	}
	mutex_unlock(&kms->pin_lock);
}
