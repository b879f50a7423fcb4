// SPDX-License-Identifier: MIT
/* test: TIMEOUT=400 DEVICE_ARGS=heads=1,vram=32M */
/*
 * The GPU draws what is shown, two buffers in turn, while processes keep the guest's processor
 * busy: only fences order drawing and flips, and the CRC of each frame must be that of one
 * picture, whole: of the last flip by then, or of the next, whose interrupt came too late for the
 * number of its vertical blank.
 */
#include "gt_main.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gfxt.h"
#include "kms.h"

#define WIDTH	640u
#define HEIGHT	480u
#define PIXELS	(WIDTH * HEIGHT)
#define FLIPS	300
#define COLORS	8
#define BUSY	2		/* processes */
#define CRCS	20000
#define EVENT_MS 60000

struct buffer {
	struct tsr_image *image;
	struct tsr_sync *drawn, *free;
	uint32_t id;
};

static struct kms k;
static struct drm_mode_modeinfo mode;
static struct gfxt t;
static struct buffer buffer[2];
static struct tsr_gfx_pass *pass[2];
static uint32_t crc_of[COLORS];
static uint64_t shown[FLIPS];		/* the number of the vertical blank of each flip */
static struct { uint32_t frame, value; } crc[CRCS];
static unsigned int crcs;

/* 8-bit values of red, green and blue, all of them different. */
static unsigned int part(unsigned int color, unsigned int i)
{
	return 20 + 29 * ((color + 3 * i) % COLORS);
}

static void expect_colors(void)
{
	static uint32_t screen[PIXELS];

	for (unsigned int c = 0; c < COLORS; c++) {
		for (uint32_t i = 0; i < PIXELS; i++)
			screen[i] = part(c, 0) << 16 | part(c, 1) << 8 | part(c, 2);
		crc_of[c] = kms_crc_of(screen, PIXELS);
	}
}

static void open_buffer(struct buffer *b)
{
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .layout = TSR_LAYOUT_TILED, .width = WIDTH,
		.height = HEIGHT, .flags = TSR_IMAGE_EXPORTABLE,
	};
	struct drm_prime_handle prime = { .fd = -1 };
	struct drm_mode_fb_cmd2 cmd = {
		.width = WIDTH, .height = HEIGHT, .pixel_format = DRM_FORMAT_XBGR8888,
		.flags = DRM_MODE_FB_MODIFIERS,
		.modifier = { DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED },
	};
	struct tsr_surface surface;

	ktap_eq(tsr_image_create(t.vm, &info, sizeof(info), &b->image), 0);
	ktap_eq(tsr_image_get_surface(b->image, 0, 0, 0, &surface, NULL), 0);
	ktap_eq(tsr_image_export(b->image, &prime.fd), 0);
	ktap_eq(gt_ioctl(k.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
	close(prime.fd);
	cmd.handles[0] = prime.handle;
	cmd.pitches[0] = surface.pitch / 16;
	ktap_eq(kms_addfb(&k, &cmd), 0);
	b->id = cmd.fb_id;
	ktap_eq(tsr_sync_create(t.device, 0, &b->drawn), 0);
	ktap_eq(tsr_sync_create(t.device, 0, &b->free), 0);
}

/* Picture @n, drawn when @free signals (-1: at once); gives the fence that says that it is. */
static int draw(unsigned int n, int free)
{
	struct buffer *b = &buffer[n & 1];
	const struct tsr_point wait = { .sync = b->free }, signal = { .sync = b->drawn };
	struct tsr_gfx_pass_info info = {
		.color[0] = { .image = b->image, .load = TSR_GFX_LOAD_CLEAR, .clear.f[3] = 1 },
	};
	int ready = -1;

	for (unsigned int i = 0; i < 3; i++)
		info.color[0].clear.f[i] = (float)part(n % COLORS, i) / 255;
	if (pass[n & 1]) {
		ktap_eq(tsr_gfx_wait(pass[n & 1], TSR_DEADLINE_NEVER), 0);
		tsr_gfx_pass_destroy(pass[n & 1]);
	}
	ktap_eq(tsr_gfx_pass_create(t.gfx, &info, sizeof(info), &pass[n & 1]), 0);
	if (free >= 0)
		ktap_eq(tsr_sync_import_file(b->free, 0, free), 0);
	ktap_eq(tsr_gfx_submit(pass[n & 1], &wait, free >= 0, &signal, 1), 0);
	ktap_eq(tsr_sync_export_file(b->drawn, 0, &ready), 0);
	return ready;
}

/* Show picture @n once it is drawn; *@out signals when the one before is not read any more. */
static int flip(unsigned int n, int ready, int32_t *out)
{
	const uint32_t plane = k.head[0].plane[0], type = DRM_MODE_OBJECT_PLANE;
	struct kms_request r = { .k = &k };

	kms_set(&r, k.head[0].crtc, DRM_MODE_OBJECT_CRTC, "OUT_FENCE_PTR", gt_ptr(out));
	kms_set(&r, plane, type, "FB_ID", buffer[n & 1].id);
	kms_set(&r, plane, type, "IN_FENCE_FD", (uint64_t)ready);
	return kms_commit(&r, DRM_MODE_PAGE_FLIP_EVENT | DRM_MODE_ATOMIC_NONBLOCK, n);
}

static void read_crcs(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while (crcs < CRCS && poll(&p, 1, 0) > 0 &&
	       kms_crc(fd, &crc[crcs].frame, &crc[crcs].value))
		crcs++;
}

static pid_t be_busy(void)
{
	const pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned int n = 0;; n++)
			continue;
	}
	return pid;
}

/* Frames from the first flip on. None goes back to the picture before. */
static void check_crcs(void)
{
	unsigned int n = 0, wrong = 0, checked = 0, early = 0;

	for (unsigned int i = 0; i < crcs; i++) {
		if (crc[i].frame < shown[0])
			continue;
		while (n + 1 < FLIPS && shown[n + 1] <= crc[i].frame)
			n++;
		checked++;
		if (crc[i].value == crc_of[n % COLORS] && early <= n)
			continue;
		if (crc[i].value == crc_of[(n + 1) % COLORS])
			early = n + 1;
		else if (wrong++ < 5)
			ktap_note("frame %u is not picture %u", crc[i].frame, n);
	}
	ktap_eq(wrong, 0);
	ktap_ok(checked >= FLIPS);
}

static void storm(void)
{
	int fd = kms_crc_open(0), ready = draw(0, -1);
	struct drm_event_vblank e = { 0 };
	unsigned int lost = 0, order = 0;
	pid_t busy[BUSY];

	ktap_ok(fd >= 0);
	fflush(stdout);
	for (unsigned int i = 0; i < BUSY; i++)
		busy[i] = be_busy();
	for (unsigned int n = 0; n < FLIPS; n++) {
		int32_t out = -1;
		int next;

		ktap_eq(flip(n, ready, &out), 0);
		close(ready);
		/* the next one, into the buffer that this flip takes off the screen */
		next = n + 1 < FLIPS ? draw(n + 1, n ? out : -1) : -1;
		lost += !kms_event(&k, &e, EVENT_MS);
		order += e.user_data != n || (n && e.sequence <= shown[n - 1]);
		shown[n] = e.sequence;
		read_crcs(fd);
		close(out);
		ready = next;
	}
	for (unsigned int i = 0; i < BUSY; i++) {
		kill(busy[i], SIGKILL);
		waitpid(busy[i], NULL, 0);
	}
	ktap_eq(lost, 0);
	ktap_eq(order, 0);
	read_crcs(fd);
	close(fd);
	check_crcs();
}

int main(int argc, char **argv)
{
	struct kms_fb first;

	gt_start(argc, argv);
	k = kms_open();
	mode = kms_mode(&k, 0, WIDTH, HEIGHT);
	first = kms_fb(&k, WIDTH, HEIGHT, DRM_FORMAT_XRGB8888);
	ktap_eq(kms_show(&k, 0, &mode, first.id), 0);
	gfxt_open(&t);
	for (unsigned int i = 0; i < 2; i++)
		open_buffer(&buffer[i]);
	expect_colors();
	ktap_run("[DISP1] 300 flips to what the GPU draws, on a busy guest: each frame is whole",
		 storm);
	for (unsigned int i = 0; i < 2; i++) {
		tsr_gfx_wait(pass[i], TSR_DEADLINE_NEVER);
		tsr_gfx_pass_destroy(pass[i]);
		kms_rmfb(&k, buffer[i].id);
		tsr_image_unref(buffer[i].image);
		tsr_sync_unref(buffer[i].drawn);
		tsr_sync_unref(buffer[i].free);
	}
	gfxt_close(&t);
	kms_fb_free(&k, &first);
	kms_close(&k);
	return gt_finish();
}
