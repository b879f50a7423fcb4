// SPDX-License-Identifier: MIT
/* test: TIMEOUT=200 SMP=2 MEM=1024 DEVICE_ARGS=vram=64M,heads=1 CONSOLE=1 */
/*
 * A framebuffer in local memory. The display controller reads it by physical place, so the BO stays
 * as long as the device may read it, whatever else wants its room.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdlib.h>

#include "kms.h"

#define MIB	0x100000ULL
#define LOCAL	DRM_TESSERA_BO_LOCAL

static struct kms k;
static struct drm_mode_modeinfo mode;

static bool in_local(uint32_t handle)
{
	return gt_bo_state(k.fd, handle) & DRM_TESSERA_BO_IN_LOCAL;
}

static void evict(void)
{
	char path[128];

	gt_debugfs("evict", path, sizeof(path));
	ktap_eq(gt_write_file(path, "0"), 0);
}

/* A picture in a LOCAL BO, and the CRC that a screen with it has. */
static struct kms_fb picture(uint32_t seed, uint32_t *crc)
{
	const size_t count = (size_t)mode.hdisplay * mode.vdisplay;
	struct kms_fb fb = {
		.width = mode.hdisplay, .height = mode.vdisplay, .pitch = mode.hdisplay * 4,
		.size = (count * 4 + GT_PAGE - 1) / GT_PAGE * GT_PAGE,
	};
	struct drm_mode_fb_cmd2 cmd = {
		.width = fb.width, .height = fb.height, .pixel_format = DRM_FORMAT_XRGB8888,
		.pitches[0] = fb.pitch,
	};
	uint32_t *pixels = malloc(count * 4);

	ktap_eq(gt_bo_try(k.fd, fb.size, LOCAL, 0, &fb.handle), 0);
	fb.map = gt_bo_mmap(k.fd, fb.handle, fb.size);
	cmd.handles[0] = fb.handle;
	ktap_eq(kms_addfb(&k, &cmd), 0);
	fb.id = cmd.fb_id;
	for (size_t i = 0; i < count; i++)
		pixels[i] = (seed + i * 2654435761u) & 0xffffff;
	memcpy(fb.map, pixels, count * 4);
	*crc = kms_crc_of(pixels, count);
	free(pixels);
	return fb;
}

/* More LOCAL BOs than there is room for. Each one evicts those that may be evicted. */
static void pressure(void)
{
	const uint64_t local = gt_gpu_info(k.fd).local_size;
	uint32_t handle[24];
	unsigned int i;

	for (i = 0; i < 24; i++)
		ktap_eq(gt_bo_try(k.fd, local / 16, LOCAL | DRM_TESSERA_BO_NO_MMAP, 0, &handle[i]),
			0);
	for (i = 0; i < 24; i++)
		gt_gem_close(k.fd, handle[i]);
}

static void off_and_away(struct kms_fb *fb)
{
	ktap_eq(kms_off(&k, 0), 0);
	kms_rmfb(&k, fb->id);
	/* No framebuffer is left, so the BO is like any other. */
	evict();
	ktap_ok(!in_local(fb->handle));
	gt_gem_close(k.fd, fb->handle);
}

static void stays(void)
{
	struct kms_fb fb;
	uint32_t crc;

	fb = picture(1, &crc);
	ktap_ok(in_local(fb.handle));
	ktap_eq(kms_show(&k, 0, &mode, fb.id), 0);
	ktap_ok(kms_crc_settles(0, crc));
	for (unsigned int i = 0; i < 3; i++) {
		evict();
		ktap_ok(in_local(fb.handle));
		pressure();
		ktap_ok(in_local(fb.handle));
		ktap_ok(kms_crc_settles(0, crc));
	}
	off_and_away(&fb);
}

/* Evicted while nobody shows it, a framebuffer is shown from where it is. */
static void shown_outside(void)
{
	struct kms_fb fb;
	uint32_t crc;

	fb = picture(7, &crc);
	evict();
	ktap_ok(!in_local(fb.handle));
	ktap_eq(kms_show(&k, 0, &mode, fb.id), 0);
	ktap_ok(kms_crc_settles(0, crc));
	pressure();
	ktap_ok(kms_crc_settles(0, crc));
	off_and_away(&fb);
}

/* Each flip shows the other one. The driver keeps the mapping of the one before, so both stay. */
static void flips(void)
{
	uint32_t crc[2];
	struct kms_fb fb[2] = { picture(3, &crc[0]), picture(5, &crc[1]) };

	for (unsigned int i = 0; i < 8; i++) {
		ktap_eq(kms_show(&k, 0, &mode, fb[i & 1].id), 0);
		if (i > 1)
			evict();
		ktap_ok(in_local(fb[0].handle) && in_local(fb[1].handle));
		ktap_ok(kms_crc_settles(0, crc[i & 1]));
	}
	kms_rmfb(&k, fb[0].id);
	gt_gem_close(k.fd, fb[0].handle);
	off_and_away(&fb[1]);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	k = kms_open();
	mode = kms_mode(&k, 0, 0, 0);
	ktap_run("[MEM7] [DISP1] a framebuffer that is shown is not evicted", stays);
	ktap_run("[MEM7] [DISP1] a framebuffer is shown from system memory", shown_outside);
	ktap_run("[MEM7] [DISP1] flips between framebuffers under pressure", flips);
	kms_close(&k);
	return gt_finish();
}
