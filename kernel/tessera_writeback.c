// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * Writeback connectors: a frame of a head goes to a framebuffer. The job stands in the
 * connector's queue from the commit on, and tessera_crtc.c has the device do it with the LATCH.
 */

#include <linux/bitfield.h>

#include <drm/drm_atomic.h>
#include <drm/drm_atomic_helper.h>
#include <drm/drm_edid.h>
#include <drm/drm_fourcc.h>
#include <drm/drm_framebuffer.h>
#include <drm/drm_modeset_helper_vtables.h>
#include <drm/drm_print.h>
#include <drm/drm_probe_helper.h>
#include <drm/drm_writeback.h>

#include "tessera_device.h"
#include "tessera_gem.h"
#include "tessera_kms.h"

/* Frames have 8 bits a component. */
static const u32 writeback_formats[] = {
	DRM_FORMAT_XRGB8888,
	DRM_FORMAT_ARGB8888,
	DRM_FORMAT_XBGR8888,
	DRM_FORMAT_ABGR8888,
	DRM_FORMAT_RGB565,
	DRM_FORMAT_XRGB2101010,
};

static struct tessera_head *writeback_to_head(struct drm_writeback_connector *writeback)
{
	return container_of(writeback, struct tessera_head, writeback);
}

static int tessera_writeback_get_modes(struct drm_connector *connector)
{
	return drm_add_modes_noedid(connector, TSR_SCREEN_MAX, TSR_SCREEN_MAX);
}

static int tessera_writeback_atomic_check(struct drm_connector *connector,
					  struct drm_atomic_commit *state)
{
	struct drm_connector_state *new = drm_atomic_get_new_connector_state(state, connector);
	const struct drm_display_mode *mode;
	struct drm_framebuffer *fb;
	int ret;

	if (!new->crtc || !new->writeback_job || !new->writeback_job->fb)
		return 0;

	ret = drm_atomic_helper_check_wb_connector_state(connector, state);
	if (ret)
		return ret;

	fb = new->writeback_job->fb;
	mode = &drm_atomic_get_new_crtc_state(state, new->crtc)->mode;
	if (fb->width != mode->hdisplay || fb->height != mode->vdisplay ||
	    fb->modifier != DRM_FORMAT_MOD_LINEAR)
		return -EINVAL;

	return to_tessera_bo(fb->obj[0])->read_only ? -EACCES : 0;
}

static int tessera_writeback_prepare_job(struct drm_writeback_connector *writeback,
					 struct drm_writeback_job *job)
{
	if (!job->fb)
		return 0;

	return tessera_framebuffer_pin(writeback_to_head(writeback)->kms, job->fb,
				       TESSERA_FB_WRITE);
}

static void tessera_writeback_cleanup_job(struct drm_writeback_connector *writeback,
					  struct drm_writeback_job *job)
{
	if (job->fb)
		tessera_framebuffer_unpin(writeback_to_head(writeback)->kms, job->fb,
					  TESSERA_FB_WRITE);
}

static void tessera_writeback_atomic_commit(struct drm_connector *connector,
					    struct drm_atomic_commit *state)
{
	struct drm_connector_state *new = drm_atomic_get_new_connector_state(state, connector);
	struct drm_writeback_connector *writeback = drm_connector_to_writeback(connector);
	struct drm_framebuffer *fb = new->writeback_job->fb;
	const struct tessera_target target = {
		.addr = tessera_framebuffer_addr(fb, 0, TESSERA_FB_WRITE),
		.format = tessera_format_conversion(fb->format->format),
		.pitch = fb->pitches[0],
	};

	drm_writeback_queue_job(writeback, new);
	tessera_head_set_target(writeback_to_head(writeback), &target);
}

static const struct drm_connector_helper_funcs tessera_writeback_helper_funcs = {
	.get_modes = tessera_writeback_get_modes,
	.atomic_check = tessera_writeback_atomic_check,
	.atomic_commit = tessera_writeback_atomic_commit,
	.prepare_writeback_job = tessera_writeback_prepare_job,
	.cleanup_writeback_job = tessera_writeback_cleanup_job,
};

static const struct drm_connector_funcs tessera_writeback_funcs = {
	.fill_modes = drm_helper_probe_single_connector_modes,
	.reset = drm_atomic_helper_connector_reset,
	.atomic_duplicate_state = drm_atomic_helper_connector_duplicate_state,
	.atomic_destroy_state = drm_atomic_helper_connector_destroy_state,
};

/**
 * tessera_writeback_init() - make the writeback connector of a head, and its encoder
 * @head: head whose CRTC and encoder are there
 *
 * The frame may go to the monitor and to memory at once.
 *
 * Return: 0 or a negative error.
 */
int tessera_writeback_init(struct tessera_head *head)
{
	struct drm_device *drm = &head->kms->tdev->drm;
	struct drm_encoder *encoder = &head->writeback_encoder;
	int ret;

	ret = drmm_encoder_init(drm, encoder, NULL, DRM_MODE_ENCODER_VIRTUAL, NULL);
	if (ret)
		return ret;
	encoder->possible_crtcs = drm_crtc_mask(&head->crtc);
	encoder->possible_clones = drm_encoder_mask(encoder) | drm_encoder_mask(&head->encoder);
	head->encoder.possible_clones = encoder->possible_clones;

	drm_connector_helper_add(&head->writeback.base, &tessera_writeback_helper_funcs);

	return drmm_writeback_connector_init(drm, &head->writeback, &tessera_writeback_funcs,
					     encoder, writeback_formats,
					     ARRAY_SIZE(writeback_formats));
}
