// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * Monitors. What is connected, and its EDID, the device has from the machine around it: the
 * size of a window, or what its owner says.
 */

#include <drm/drm_atomic_state_helper.h>
#include <drm/drm_edid.h>
#include <drm/drm_modeset_helper_vtables.h>
#include <drm/drm_print.h>
#include <drm/drm_probe_helper.h>

#include "tessera_device.h"
#include "tessera_kms.h"
#include "tessera_pm.h"

/* The size that a monitor without EDID gets. */
#define FALLBACK_WIDTH	1280
#define FALLBACK_HEIGHT	800

static struct tessera_head *connector_to_head(struct drm_connector *connector)
{
	return container_of(connector, struct tessera_head, connector);
}

/* A device that cannot be accessed keeps the last known status. */
static enum drm_connector_status tessera_connector_detect(struct drm_connector *connector,
							  bool force)
{
	struct tessera_head *head = connector_to_head(connector);
	struct tessera_device *tdev = head->kms->tdev;
	enum drm_connector_status status = connector->status;
	int cookie;
	u32 value;

	if (tessera_pm_get(tdev))
		return status;

	if (tessera_enter(tdev, &cookie)) {
		value = tessera_read(tdev, TSR_REG_DISPLAY_STATUS(head->index));
		if (tessera_device_present(tdev))
			status = value & TSR_DISPLAY_STATUS_PRESENT__MASK ?
				 connector_status_connected : connector_status_disconnected;
		tessera_leave(tdev, cookie);
	}
	tessera_pm_put(tdev);

	return status;
}

/**
 * tessera_connector_look() - read what the device reports of a monitor
 * @head: head
 * @monitor: what it reports, out
 *
 * Return: false, without @monitor, if the device is out of reach or does not answer.
 */
bool tessera_connector_look(struct tessera_head *head, struct tessera_monitor *monitor)
{
	struct tessera_device *tdev = head->kms->tdev;
	bool present;
	u32 i, value;
	int cookie;

	if (!tessera_enter(tdev, &cookie))
		return false;

	value = tessera_read(tdev, TSR_REG_DISPLAY_STATUS(head->index));
	monitor->present = !!(value & TSR_DISPLAY_STATUS_PRESENT__MASK);
	for (i = 0; i < TSR_EDID_WORDS; i++)
		monitor->edid[i] = monitor->present ?
				   tessera_read(tdev, TSR_REG_DISPLAY_EDID(head->index, i)) : 0;
	/* Last: a device that answers now has answered before. */
	present = tessera_device_present(tdev);
	tessera_leave(tdev, cookie);

	return present;
}

static int read_edid_block(void *data, u8 *buf, unsigned int block, size_t len)
{
	struct tessera_head *head = data;
	struct tessera_device *tdev = head->kms->tdev;
	size_t i, offset = block * EDID_LENGTH;
	bool present;
	int cookie;

	if (offset + len > TSR_EDID_WORDS * sizeof(u32) || !tessera_enter(tdev, &cookie))
		return -EIO;

	for (i = 0; i < len; i++) {
		u32 reg = TSR_REG_DISPLAY_EDID(head->index, (offset + i) / sizeof(u32));

		buf[i] = tessera_read(tdev, reg) >> (offset + i) % sizeof(u32) * BITS_PER_BYTE;
	}
	present = tessera_device_present(tdev);
	tessera_leave(tdev, cookie);

	return present ? 0 : -EIO;
}

static bool device_answers(struct tessera_device *tdev)
{
	bool present = false;
	int cookie;

	if (tessera_enter(tdev, &cookie)) {
		present = tessera_device_present(tdev);
		tessera_leave(tdev, cookie);
	}

	return present;
}

static int tessera_connector_get_modes(struct drm_connector *connector)
{
	struct tessera_head *head = connector_to_head(connector);
	struct tessera_device *tdev = head->kms->tdev;
	const struct drm_edid *edid;
	int count;

	if (tessera_pm_get(tdev))
		return 0;
	edid = drm_edid_read_custom(connector, read_edid_block, head);
	/* A device that does not answer reports no other monitor: the EDID stays as it is. */
	if (edid || device_answers(tdev))
		drm_edid_connector_update(connector, edid);
	tessera_pm_put(tdev);

	drm_edid_free(edid);
	count = drm_edid_connector_add_modes(connector);
	if (!count) {
		count = drm_add_modes_noedid(connector, TSR_SCREEN_MAX, TSR_SCREEN_MAX);
		drm_set_preferred_mode(connector, FALLBACK_WIDTH, FALLBACK_HEIGHT);
	}

	return count;
}

static const struct drm_connector_helper_funcs tessera_connector_helper_funcs = {
	.get_modes = tessera_connector_get_modes,
};

static const struct drm_connector_funcs tessera_connector_funcs = {
	.detect = tessera_connector_detect,
	.fill_modes = drm_helper_probe_single_connector_modes,
	.reset = drm_atomic_helper_connector_reset,
	.atomic_duplicate_state = drm_atomic_helper_connector_duplicate_state,
	.atomic_destroy_state = drm_atomic_helper_connector_destroy_state,
};

/**
 * tessera_connector_init() - make the connector of a head, and its encoder
 * @head: head whose CRTC is there
 *
 * Return: 0 or a negative error.
 */
int tessera_connector_init(struct tessera_head *head)
{
	struct drm_device *drm = &head->kms->tdev->drm;
	int ret;

	ret = drmm_connector_init(drm, &head->connector, &tessera_connector_funcs,
				  DRM_MODE_CONNECTOR_VIRTUAL, NULL);
	if (ret)
		return ret;
	drm_connector_helper_add(&head->connector, &tessera_connector_helper_funcs);
	drm_connector_attach_edid_property(&head->connector);
	head->connector.polled = DRM_CONNECTOR_POLL_HPD;

	ret = drmm_encoder_init(drm, &head->encoder, NULL, DRM_MODE_ENCODER_VIRTUAL, NULL);
	if (ret)
		return ret;
	head->encoder.possible_crtcs = drm_crtc_mask(&head->crtc);

	return drm_connector_attach_encoder(&head->connector, &head->encoder);
}
