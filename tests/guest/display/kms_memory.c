// SPDX-License-Identifier: MIT
/* test: TIMEOUT=200 DEVICE_ARGS=heads=2,display-memory=8M */
/*
 * Modes that need more display memory than the device has. 8 MiB are 699,050 pixels: one screen of
 * 800 by 600 or two of 640 by 480 fit, one of each does not, and one of 1024 by 768 does not.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "kms.h"

static struct kms k;
static struct drm_mode_modeinfo small, large;
static struct kms_fb small_fb, large_fb;
static uint32_t small_crc, large_crc;

static struct kms_fb picture(const struct drm_mode_modeinfo *mode, uint32_t seed, uint32_t *crc)
{
	struct kms_fb fb = kms_fb(&k, mode->hdisplay, mode->vdisplay, DRM_FORMAT_XRGB8888);
	size_t count = (size_t)mode->hdisplay * mode->vdisplay;
	uint32_t *screen = malloc(count * 4);

	for (uint32_t y = 0; y < mode->vdisplay; y++) {
		uint32_t *row = (uint32_t *)((char *)fb.map + (size_t)y * fb.pitch);

		for (uint32_t x = 0; x < mode->hdisplay; x++)
			screen[y * mode->hdisplay + x] = row[x] =
				(seed + y * 2654435761u + x * 40503u) & 0xffffff;
	}
	*crc = kms_crc_of(screen, count);
	free(screen);
	return fb;
}

/* A commit of one mode and picture for head @head, to which the caller may add. */
static void add_head(struct kms_request *r, unsigned int head, bool wide)
{
	const struct drm_mode_modeinfo *mode = wide ? &large : &small;

	kms_set_mode(r, head, mode);
	kms_set_plane(r, head, 0, wide ? large_fb.id : small_fb.id, 0, 0, mode->hdisplay,
		      mode->vdisplay);
}

static int commit_head(unsigned int head, bool wide, uint32_t flags)
{
	struct kms_request r = { .k = &k };

	add_head(&r, head, wide);
	return kms_commit(&r, flags | DRM_MODE_ATOMIC_ALLOW_MODESET, 0);
}

/* A mode that no head can have is not in the list, and is refused when user space brings it. */
static void too_large_alone(void)
{
	struct drm_mode_modeinfo huge = large;
	struct kms_request r = { .k = &k };
	unsigned int width = 0;

	ktap_eq(kms_status(&k, 0, &width), 1);
	ktap_ok(width > 0 && width <= 800);
	huge.hdisplay = 1024;
	huge.hsync_start = 1048;
	huge.hsync_end = 1184;
	huge.htotal = 1344;
	huge.vdisplay = 768;
	huge.vsync_start = 771;
	huge.vsync_end = 777;
	huge.vtotal = 806;
	huge.clock = 65000;
	kms_set_mode(&r, 0, &huge);
	ktap_eq(kms_commit(&r, DRM_MODE_ATOMIC_TEST_ONLY | DRM_MODE_ATOMIC_ALLOW_MODESET, 0),
		-EINVAL);
}

/* A mode that does not fit beside the other head is refused. Both heads stay as they are. */
static void too_large_together(void)
{
	ktap_eq(commit_head(0, false, 0), 0);
	ktap_eq(commit_head(1, true, DRM_MODE_ATOMIC_TEST_ONLY), -EINVAL);
	ktap_eq(commit_head(1, true, 0), -EINVAL);
	ktap_eq(commit_head(1, false, 0), 0);
	ktap_eq(commit_head(1, true, 0), -EINVAL);
	ktap_ok(kms_crc_settles(0, small_crc));
	ktap_ok(kms_crc_settles(1, small_crc));
	ktap_eq(kms_off(&k, 0), 0);
	ktap_eq(commit_head(1, true, 0), 0);
	ktap_ok(kms_crc_settles(1, large_crc));
	ktap_eq(commit_head(0, false, 0), -EINVAL);
	ktap_ok(kms_crc_settles(1, large_crc));
}

/* One commit may make room and use it. */
static void makes_room(void)
{
	struct kms_request r = { .k = &k };

	/* Head 1 is on and large. */
	add_head(&r, 0, false);
	add_head(&r, 1, false);
	ktap_eq(kms_commit(&r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0), 0);
	ktap_ok(kms_crc_settles(0, small_crc));
	ktap_ok(kms_crc_settles(1, small_crc));
	ktap_eq(kms_off(&k, 1), 0);
	ktap_eq(commit_head(0, true, 0), 0);
	ktap_ok(kms_crc_settles(0, large_crc));
}

/* A head that is dark keeps its place: to switch it on again cannot fail. */
static void dark_counts(void)
{
	struct kms_request r = { .k = &k };

	ktap_eq(commit_head(0, true, 0), 0);
	kms_set(&r, k.head[0].crtc, DRM_MODE_OBJECT_CRTC, "ACTIVE", 0);
	ktap_eq(kms_commit(&r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0), 0);
	ktap_eq(commit_head(1, false, 0), -EINVAL);
	r = (struct kms_request){ .k = &k };
	kms_set(&r, k.head[0].crtc, DRM_MODE_OBJECT_CRTC, "ACTIVE", 1);
	ktap_eq(kms_commit(&r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0), 0);
	ktap_ok(kms_crc_settles(0, large_crc));
	ktap_eq(kms_off(&k, 0), 0);
	ktap_eq(commit_head(1, false, 0), 0);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	k = kms_open();
	small = kms_mode(&k, 0, 640, 480);
	large = kms_mode(&k, 0, 800, 600);
	small_fb = picture(&small, 1, &small_crc);
	large_fb = picture(&large, 2, &large_crc);
	ktap_run("a mode larger than the display memory is not offered", too_large_alone);
	ktap_run("modes that do not fit together are refused", too_large_together);
	ktap_run("one commit may make room for its own modes", makes_room);
	ktap_run("a head that is not active keeps its display memory", dark_counts);
	kms_fb_free(&k, &small_fb);
	kms_fb_free(&k, &large_fb);
	kms_close(&k);
	return gt_finish();
}
