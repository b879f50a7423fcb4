// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 DEVICE_ARGS=heads=2,vram=32M */
/*
 * Mode setting with raw ioctls: modes, pictures whose CRC the test computes by itself, flips, what
 * is refused, two heads, framebuffers of every kind.
 */
#include "gt_main.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kms.h"

#define WIDTH	640u
#define HEIGHT	480u
#define PIXELS	(WIDTH * HEIGHT)
#define EVENT_MS 20000

static struct kms k;
static struct drm_mode_modeinfo mode;
static struct kms_fb fb[2];
static uint32_t screen[PIXELS];		/* what is to be seen */

static uint32_t noise(uint32_t i)
{
	i = (i ^ 61) ^ i >> 16;
	i *= 9;
	i ^= i >> 4;
	i *= 0x27d4eb2d;
	return i ^ i >> 15;
}

static void fill(struct kms_fb *f, uint32_t seed)
{
	for (uint32_t i = 0; i < f->size / 4; i++)
		((uint32_t *)f->map)[i] = noise(seed * 77777 + i);
}

/* The picture of a framebuffer that covers the screen. */
static void expect(const struct kms_fb *f)
{
	for (uint32_t y = 0; y < HEIGHT; y++)
		memcpy(screen + y * WIDTH, (char *)f->map + y * f->pitch, 4 * WIDTH);
}

static bool seen(unsigned int head)
{
	return kms_crc_settles(head, kms_crc_of(screen, PIXELS));
}

static void objects(void)
{
	uint64_t value = 0;

	ktap_eq(k.heads, 2);
	for (unsigned int h = 0; h < 2; h++)
		for (unsigned int p = 0; p < KMS_PLANES; p++)
			ktap_ok(k.head[h].plane[p] != 0);
	ktap_ok(kms_property(&k, k.head[0].connector, DRM_MODE_OBJECT_CONNECTOR, "EDID", &value));
	ktap_ok(value != 0);
	ktap_ok(kms_property(&k, k.head[0].plane[0], DRM_MODE_OBJECT_PLANE, "IN_FORMATS", &value));
	ktap_ok(value != 0);
}

static void shows(void)
{
	fill(&fb[0], 1);
	ktap_eq(kms_show(&k, 0, &mode, fb[0].id), 0);
	expect(&fb[0]);
	ktap_ok(seen(0));
	/* drawn while it is shown */
	fill(&fb[0], 2);
	expect(&fb[0]);
	ktap_ok(seen(0));
	screen[PIXELS - 1] ^= 1;
	ktap_ok(!seen(0));
	ktap_eq(kms_off(&k, 0), 0);
	ktap_eq(kms_show(&k, 0, &mode, fb[0].id), 0);
	expect(&fb[0]);
	ktap_ok(seen(0));
}

static int flip(uint32_t id, uint32_t flags, uint64_t user)
{
	struct kms_request r = { .k = &k };

	kms_set(&r, k.head[0].plane[0], DRM_MODE_OBJECT_PLANE, "FB_ID", id);
	return kms_commit(&r, flags, user);
}

static uint64_t event_us(const struct drm_event_vblank *e)
{
	return e->tv_sec * 1000000ULL + e->tv_usec;
}

/*
 * One after the other: an event each, numbers and times that grow, none of them twice. Neither
 * buffer is mapped more than once.
 */
static void flips(void)
{
	const uint32_t flags = DRM_MODE_PAGE_FLIP_EVENT | DRM_MODE_ATOMIC_NONBLOCK;
	unsigned int order = 0, repeats = 0, off = 0, lost = 0, idle;
	uint64_t last_us = 0, last = 0, mapped = kms_mapped(&idle);

	ktap_eq(kms_show(&k, 0, &mode, fb[0].id), 0);
	for (unsigned int i = 0; i < 300; i++) {
		struct drm_event_vblank e = { 0 };
		uint64_t us, step;

		lost += flip(fb[~i & 1].id, flags, i) != 0 || !kms_event(&k, &e, EVENT_MS);
		order += e.user_data != i || e.base.type != DRM_EVENT_FLIP_COMPLETE ||
			 e.crtc_id != k.head[0].crtc;
		us = event_us(&e);
		step = e.sequence - last;
		repeats += last && (!step || step > 1000);
		/* a vertical blank takes as long as the mode says, however busy the host is */
		off += last && (us - last_us) * 3 / 50000 > step + 1;
		off += last && (us - last_us) * 3 / 50000 + 1 < step - (step > 0);
		last = e.sequence;
		last_us = us;
	}
	ktap_eq(lost, 0);
	ktap_eq(order, 0);
	ktap_eq(repeats, 0);
	ktap_eq(off, 0);
	ktap_ok(kms_mapped(&idle) - mapped <= 2);
	/* the event comes before the kernel has put the last framebuffer away: 5 s for that */
	for (unsigned int i = 0; !idle && i < 500; i++) {
		gt_sleep_ms(10);
		kms_mapped(&idle);
	}
	ktap_ok(idle >= 1);
}

/* The head goes on, with @m, or off (NULL); the event says when. */
static bool switch_head(const struct drm_mode_modeinfo *m, struct drm_event_vblank *e)
{
	struct kms_request r = { .k = &k };

	kms_set_mode(&r, 0, m);
	kms_set_plane(&r, 0, 0, m ? fb[0].id : 0, 0, 0, m ? WIDTH : 0, m ? HEIGHT : 0);
	ktap_eq(kms_commit(&r, DRM_MODE_ATOMIC_ALLOW_MODESET | DRM_MODE_ATOMIC_NONBLOCK |
			   DRM_MODE_PAGE_FLIP_EVENT, m != NULL), 0);
	return kms_event(&k, e, EVENT_MS) && e->user_data == (m != NULL);
}

/*
 * Frames are whole, of a quarter of a second here: going on is over with the first vertical blank,
 * a frame after the call at the earliest, and going off with one after the call.
 */
static void on_and_off(void)
{
	struct drm_mode_modeinfo slow = mode;
	uint64_t frame_us, before, ns;

	slow.clock /= 15;
	frame_us = slow.htotal * slow.vtotal * 1000ULL / slow.clock;
	ktap_eq(kms_off(&k, 0), 0);
	for (unsigned int i = 0; i < 3; i++) {
		struct drm_event_vblank e = { 0 };
		const uint64_t us = gt_now_ns() / 1000;

		ktap_ok(switch_head(&slow, &e));
		ktap_ok(event_us(&e) >= us + frame_us - 5000);
		ktap_eq(kms_sequence(&k, 0, &before, &ns), 0);
		ktap_ok(switch_head(NULL, &e));
		ktap_ok(e.sequence > before);
	}
	/* another mode: one ends, the other begins */
	ktap_eq(kms_show(&k, 0, &slow, fb[0].id), 0);
	ktap_eq(kms_show(&k, 0, &mode, fb[0].id), 0);
	expect(&fb[0]);
	ktap_ok(seen(0));
}

/* The second of two that come at once is told to wait. */
static void busy(void)
{
	const uint32_t flags = DRM_MODE_PAGE_FLIP_EVENT | DRM_MODE_ATOMIC_NONBLOCK;
	struct drm_event_vblank e;
	unsigned int refused = 0;

	for (unsigned int i = 0; !refused && i < 20; i++) {
		uint64_t last = 2;

		ktap_eq(flip(fb[0].id, flags, 1), 0);
		if (flip(fb[1].id, flags, 2) == -EBUSY) {
			refused++;
			last = 1;
		}
		while (kms_event(&k, &e, EVENT_MS) && e.user_data != last)
			continue;
	}
	ktap_ok(refused > 0);
	while (kms_event(&k, &e, 200))
		continue;
}

static void sequences(void)
{
	uint64_t a, b, ta, tb, until = gt_now_ns() + 20000000000ULL;

	ktap_eq(kms_sequence(&k, 0, &a, &ta), 0);
	do
		ktap_eq(kms_sequence(&k, 0, &b, &tb), 0);
	while (b < a + 3 && gt_now_ns() < until);
	ktap_ok(b >= a + 3);
	/* the times are the device's: (b - a) periods apart, to a line */
	ktap_ok(tb - ta > (b - a) * 16500000 && tb - ta < (b - a) * 17000000);
	ktap_ok(tb <= gt_now_ns() + 1000000);
}

/* Each commit that a display cannot show, and what is wrong with it. */
static void refusals(void)
{
	const uint32_t test = DRM_MODE_ATOMIC_TEST_ONLY | DRM_MODE_ATOMIC_ALLOW_MODESET;
	struct drm_mode_modeinfo bad = mode;
	struct kms_request r;

	/* scaling */
	r = (struct kms_request){ .k = &k };
	kms_set_plane(&r, 0, 1, fb[0].id, 0, 0, 320, 240);
	kms_set(&r, k.head[0].plane[1], DRM_MODE_OBJECT_PLANE, "SRC_W", 100 << 16);
	ktap_eq(kms_commit(&r, test, 0), -ERANGE);
	/* more than there is of the framebuffer */
	r = (struct kms_request){ .k = &k };
	kms_set_plane(&r, 0, 1, fb[0].id, 0, 0, WIDTH + 1, 240);
	ktap_eq(kms_commit(&r, test, 0), -ENOSPC);
	/* a format the cursor does not have */
	r = (struct kms_request){ .k = &k };
	kms_set_plane(&r, 0, 2, fb[0].id, 0, 0, 64, 64);
	ktap_eq(kms_commit(&r, test, 0), -EINVAL);
	/* a plane of the other head */
	r = (struct kms_request){ .k = &k };
	kms_set_plane(&r, 0, 1, fb[0].id, 0, 0, 64, 64);
	r.object[0] = r.object[1] = k.head[1].plane[1];
	ktap_eq(kms_commit(&r, test, 0), -EINVAL);
	/* modes */
	bad.clock = 1;
	r = (struct kms_request){ .k = &k };
	kms_set_mode(&r, 0, &bad);
	ktap_eq(kms_commit(&r, test, 0), -EINVAL);
	bad = mode;
	bad.flags |= DRM_MODE_FLAG_INTERLACE;
	r = (struct kms_request){ .k = &k };
	kms_set_mode(&r, 0, &bad);
	ktap_eq(kms_commit(&r, test, 0), -EINVAL);
	/* a mode without permission to set one */
	bad = kms_mode(&k, 0, 800, 600);
	r = (struct kms_request){ .k = &k };
	kms_set_mode(&r, 0, &bad);
	ktap_eq(kms_commit(&r, 0, 0), -EINVAL);
	/* tearing */
	ktap_eq(flip(fb[0].id, DRM_MODE_PAGE_FLIP_ASYNC, 0), -EINVAL);
	/* none of it has changed anything */
	expect(&fb[0]);
	ktap_eq(flip(fb[0].id, 0, 0), 0);
	ktap_ok(seen(0));
}

#define TILED DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED

/* Framebuffers that are refused: the first is good, the others differ from it in one thing. */
static void bad_framebuffers(void)
{
	const struct drm_mode_fb_cmd2 good = {
		.width = 256, .height = 256, .pixel_format = DRM_FORMAT_XRGB8888,
		.flags = DRM_MODE_FB_MODIFIERS, .handles = { fb[0].handle }, .pitches = { 1024 },
		.modifier = { TILED },
	};
	struct drm_mode_fb_cmd2 c = good;

	ktap_eq(kms_addfb(&k, &c), 0);
	ktap_eq(kms_rmfb(&k, c.fb_id), 0);
	c = good, c.handles[0] = 9999;
	ktap_eq(kms_addfb(&k, &c), -ENOENT);
	c = good, c.pitches[0] = 1020;		/* less than a row */
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.pitches[0] = 1026;		/* tiles are not aligned */
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.offsets[0] = 32;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.offsets[0] = fb[0].size - 1024 * 256 + 64;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.width = 250;		/* its last tiles are there nevertheless */
	ktap_eq(kms_addfb(&k, &c), 0);
	ktap_eq(kms_rmfb(&k, c.fb_id), 0);
	c = good, c.width = 250, c.pitches[0] = 1000;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.modifier[0] = DRM_FORMAT_MOD_SAMSUNG_64_32_TILE;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.pixel_format = DRM_FORMAT_NV12;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.pixel_format = DRM_FORMAT_RGB888;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.width = 8193, c.pitches[0] = 8208 * 4;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.height = fb[0].size / 1024 + 1;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
}

/* Place of pixel (@x, @y) in a tile of 16 by 16: y3 y2 y1 y0 with x in between, and x ^ y. */
static unsigned int in_tile(unsigned int x, unsigned int y)
{
	unsigned int place = 0;

	for (unsigned int i = 0; i < 4; i++)
		place |= ((x ^ y) >> i & 1) << 2 * i | (y >> i & 1) << (2 * i + 1);
	return place;
}

/* The picture of @c, in @bo, is @screen. Both go. */
static void is_screen(struct drm_mode_fb_cmd2 *c, struct gt_bo *bo)
{
	ktap_eq(kms_addfb(&k, c), 0);
	ktap_eq(flip(c->fb_id, 0, 0), 0);
	ktap_ok(seen(0));
	ktap_eq(flip(fb[0].id, 0, 0), 0);
	ktap_eq(kms_rmfb(&k, c->fb_id), 0);
	gt_bo_free(bo);
}

/* The renderer's target is shown without a copy, also from local memory. */
static void tiled(uint32_t flags)
{
	struct gt_bo bo = gt_bo(k.fd, 4 * PIXELS, flags);
	struct drm_mode_fb_cmd2 c = {
		.width = WIDTH, .height = HEIGHT, .pixel_format = DRM_FORMAT_XRGB8888,
		.flags = DRM_MODE_FB_MODIFIERS, .handles = { bo.handle }, .pitches = { 4 * WIDTH },
		.modifier = { TILED },
	};

	for (uint32_t y = 0; y < HEIGHT; y++)
		for (uint32_t x = 0; x < WIDTH; x++) {
			const uint32_t tile = y / 16 * (WIDTH / 16) + x / 16;

			screen[y * WIDTH + x] = noise(y * 4096 + x + flags);
			((uint32_t *)bo.map)[tile * 256 + in_tile(x % 16, y % 16)] =
				screen[y * WIDTH + x];
		}
	is_screen(&c, &bo);
}

static void tiled_system(void)
{
	tiled(0);
}

static void tiled_local(void)
{
	tiled(DRM_TESSERA_BO_LOCAL);
}

/* Overlay and cursor, opaque and half so, partly beside the screen. */
static void planes(void)
{
	struct kms_fb overlay = kms_fb(&k, 200, 100, DRM_FORMAT_XRGB8888);
	struct kms_fb cursor = kms_fb(&k, 64, 64, DRM_FORMAT_ARGB8888);
	struct kms_request r = { .k = &k };

	fill(&overlay, 5);
	for (uint32_t i = 0; i < 64 * 64; i++)	/* pre-multiplied: all or nothing */
		((uint32_t *)cursor.map)[i] = i % 3 ? 0xff000000 | noise(i) : 0;
	expect(&fb[0]);
	for (int y = 0; y < 100; y++)
		for (int x = 0; x < 200; x++)
			if (x - 50 >= 0)
				screen[(y + 40) * (int)WIDTH + x - 50] =
					((uint32_t *)overlay.map)[y * (int)overlay.pitch / 4 + x];
	for (int y = 0; y < 64; y++)
		for (int x = 0; x < 64; x++)
			if ((y * 64 + x) % 3 && y + 450 < (int)HEIGHT)
				screen[(y + 450) * (int)WIDTH + x + 10] =
					((uint32_t *)cursor.map)[y * (int)cursor.pitch / 4 + x];
	kms_set_plane(&r, 0, 1, overlay.id, -50, 40, 200, 100);
	kms_set_plane(&r, 0, 2, cursor.id, 10, 450, 64, 64);
	ktap_eq(kms_commit(&r, 0, 0), 0);
	ktap_ok(seen(0));
	/* without overlay and cursor it is what it was */
	r = (struct kms_request){ .k = &k };
	kms_set_plane(&r, 0, 1, 0, 0, 0, 0, 0);
	kms_set_plane(&r, 0, 2, 0, 0, 0, 0, 0);
	ktap_eq(kms_commit(&r, 0, 0), 0);
	expect(&fb[0]);
	ktap_ok(seen(0));
	kms_fb_free(&k, &overlay);
	kms_fb_free(&k, &cursor);
}

/* An overlay that went off with its head is not there when that goes on again. */
static void planes_go(void)
{
	struct kms_fb overlay = kms_fb(&k, 200, 100, DRM_FORMAT_XRGB8888);
	struct kms_request r = { .k = &k };

	kms_set_plane(&r, 0, 1, overlay.id, 10, 10, 200, 100);
	ktap_eq(kms_commit(&r, 0, 0), 0);
	expect(&fb[0]);
	ktap_ok(!seen(0));
	ktap_eq(kms_off(&k, 0), 0);
	kms_fb_free(&k, &overlay);
	ktap_eq(kms_show(&k, 0, &mode, fb[0].id), 0);
	ktap_ok(seen(0));
}

static int cursor_ioctl(uint32_t flags, uint32_t handle, int x, int y)
{
	struct drm_mode_cursor2 c = {
		.flags = flags, .crtc_id = k.head[0].crtc, .x = x, .y = y, .width = 64,
		.height = 64, .handle = handle,
	};

	return gt_ioctl(k.fd, DRM_IOCTL_MODE_CURSOR2, &c);
}

/* By the calls of old: it moves as fast as one likes, beside flips, and ends where it was put. */
static void cursor_moves(void)
{
	const uint32_t flags = DRM_MODE_PAGE_FLIP_EVENT | DRM_MODE_ATOMIC_NONBLOCK;
	struct kms_fb cursor = kms_fb(&k, 64, 64, DRM_FORMAT_ARGB8888);
	struct drm_event_vblank e;

	for (uint32_t i = 0; i < 64 * 64; i++)
		((uint32_t *)cursor.map)[i] = 0xff000000 | noise(i);
	ktap_eq(cursor_ioctl(DRM_MODE_CURSOR_BO | DRM_MODE_CURSOR_MOVE, cursor.handle, 0, 0), 0);
	for (unsigned int i = 0; i < 5; i++) {
		ktap_eq(flip(fb[~i & 1].id, flags, i), 0);
		for (int n = 0; n < 40; n++)
			ktap_eq(cursor_ioctl(DRM_MODE_CURSOR_MOVE, 0, n, 3 * n), 0);
		ktap_ok(kms_event(&k, &e, EVENT_MS));
	}
	ktap_eq(flip(fb[0].id, 0, 0), 0);
	ktap_eq(cursor_ioctl(DRM_MODE_CURSOR_MOVE, 0, 100, 50), 0);
	expect(&fb[0]);
	for (uint32_t y = 0; y < 64; y++)
		memcpy(screen + (y + 50) * WIDTH + 100, (uint32_t *)cursor.map + y * 64, 256);
	ktap_ok(seen(0));
	ktap_eq(cursor_ioctl(DRM_MODE_CURSOR_BO, 0, 0, 0), 0);
	expect(&fb[0]);
	ktap_ok(seen(0));
	kms_fb_free(&k, &cursor);
}

static uint64_t sequence(void)
{
	uint64_t n = 0, ns;

	ktap_eq(kms_sequence(&k, 0, &n, &ns), 0);
	return n;
}

/* The CRC of the first frame from vertical blank @from on. */
static uint32_t crc_from(int crcs, uint32_t from)
{
	uint32_t frame = 0, crc = 0;

	do {
		if (!kms_crc(crcs, &frame, &crc))
			return 0;
	} while ((int32_t)(frame - from) < 0);
	return crc;
}

/*
 * A flip, then a cursor that gets another image and moves twice, within one frame: the next
 * vertical blank shows the flip and the last of them. Frames last a quarter of a second, and it is
 * tried again where that was too little for a slow guest.
 */
static void cursor_with_flip(void)
{
	const uint32_t flags = DRM_MODE_PAGE_FLIP_EVENT | DRM_MODE_ATOMIC_NONBLOCK;
	struct drm_mode_modeinfo slow = mode;
	struct kms_fb cursor[2];
	bool done = false;
	int crcs;

	slow.clock /= 15;
	ktap_eq(kms_show(&k, 0, &slow, fb[0].id), 0);

	for (unsigned int i = 0; i < 2; i++) {
		cursor[i] = kms_fb(&k, 64, 64, DRM_FORMAT_ARGB8888);
		for (uint32_t p = 0; p < 64 * 64; p++)
			((uint32_t *)cursor[i].map)[p] = 0xff000000 | noise(p + 5000 * i);
	}
	ktap_eq(flip(fb[0].id, 0, 0), 0);
	ktap_eq(cursor_ioctl(DRM_MODE_CURSOR_BO | DRM_MODE_CURSOR_MOVE, cursor[0].handle, 0, 0), 0);
	crcs = kms_crc_open(0);
	ktap_ok(crcs >= 0);
	for (unsigned int i = 0; !done && i < 20; i++) {
		const unsigned int n = ~i & 1;
		struct drm_event_vblank e = { 0 };
		uint64_t before;

		expect(&fb[n]);
		for (uint32_t y = 0; y < 64; y++)
			memcpy(screen + (y + 60) * WIDTH + 20 + i,
			       (uint32_t *)cursor[n].map + y * 64, 256);
		before = sequence();
		ktap_eq(flip(fb[n].id, flags, i), 0);
		ktap_eq(cursor_ioctl(DRM_MODE_CURSOR_BO, cursor[n].handle, 0, 0), 0);
		ktap_eq(cursor_ioctl(DRM_MODE_CURSOR_MOVE, 0, 300, 300), 0);
		ktap_eq(cursor_ioctl(DRM_MODE_CURSOR_MOVE, 0, 20 + (int)i, 60), 0);
		done = sequence() == before;
		ktap_ok(kms_event(&k, &e, EVENT_MS));
		if (done)
			ktap_eq(crc_from(crcs, e.sequence), kms_crc_of(screen, PIXELS));
	}
	ktap_ok(done);
	close(crcs);
	ktap_eq(cursor_ioctl(DRM_MODE_CURSOR_BO, 0, 0, 0), 0);
	ktap_eq(kms_show(&k, 0, &mode, fb[0].id), 0);
	for (unsigned int i = 0; i < 2; i++)
		kms_fb_free(&k, &cursor[i]);
}

static void two_heads(void)
{
	fill(&fb[1], 9);
	ktap_eq(kms_show(&k, 1, &mode, fb[1].id), 0);
	expect(&fb[1]);
	ktap_ok(seen(1));
	expect(&fb[0]);
	ktap_ok(seen(0));
	ktap_eq(kms_off(&k, 1), 0);
	ktap_ok(seen(0));
}

/* An entry for each vertical blank, numbered as those are. */
static void crc_numbers(void)
{
	uint32_t frame = 0, crc, next = 0, first = 0;
	uint64_t sequence, ns;
	int fd = kms_crc_open(0);

	ktap_ok(fd >= 0);
	for (unsigned int i = 0; i < 20; i++) {
		ktap_ok(kms_crc(fd, &frame, &crc));
		first = first ?: frame;
		ktap_ok(frame >= next);
		next = frame + 1;
	}
	ktap_eq(kms_sequence(&k, 0, &sequence, &ns), 0);
	ktap_ok(sequence >= frame && sequence < frame + 200);
	ktap_ok(frame - first >= 19);
	close(fd);
}

/* A fence that signals when the flip is over. */
static void fences(void)
{
	struct kms_request r = { .k = &k };
	struct pollfd wait = { .events = POLLIN };
	int32_t out = -1;

	kms_set(&r, k.head[0].crtc, DRM_MODE_OBJECT_CRTC, "OUT_FENCE_PTR", gt_ptr(&out));
	kms_set(&r, k.head[0].plane[0], DRM_MODE_OBJECT_PLANE, "FB_ID", fb[1].id);
	ktap_eq(kms_commit(&r, DRM_MODE_ATOMIC_NONBLOCK, 0), 0);
	ktap_ok(out >= 0);
	wait.fd = out;
	ktap_eq(poll(&wait, 1, EVENT_MS), 1);
	r.count = 1;
	r.property[0] = kms_property(&k, k.head[0].plane[0], DRM_MODE_OBJECT_PLANE, "IN_FENCE_FD",
				     NULL);
	r.object[0] = k.head[0].plane[0];
	r.value[0] = (uint64_t)out;
	kms_set(&r, k.head[0].plane[0], DRM_MODE_OBJECT_PLANE, "FB_ID", fb[0].id);
	ktap_eq(kms_commit(&r, 0, 0), 0);
	close(out);
	expect(&fb[0]);
	ktap_ok(seen(0));
}

/* ---- tags ---- */

#define TAGGED_BYTES (4 * PIXELS + 65536)
#define TAG_AT	     (4 * PIXELS)
#define CLEAR_AT     (TAG_AT + 32768)

static struct drm_mode_fb_cmd2 tagged_cmd(uint32_t handle)
{
	return (struct drm_mode_fb_cmd2){
		.width = WIDTH, .height = HEIGHT, .pixel_format = DRM_FORMAT_XRGB8888,
		.flags = DRM_MODE_FB_MODIFIERS, .handles = { handle, handle, handle },
		.pitches = { 4 * WIDTH, WIDTH / 8, 64 }, .offsets = { 0, TAG_AT, CLEAR_AT },
		.modifier = { DRM_FORMAT_MOD_TESSERA_TAGGED, DRM_FORMAT_MOD_TESSERA_TAGGED,
			      DRM_FORMAT_MOD_TESSERA_TAGGED },
	};
}

/* A target as the renderer stores it: of every third block only the tag says what is there. */
static void tagged(void)
{
	static const float clear[4] = { 1.0f, 0.5f, 0.25f, 1.0f };
	struct gt_bo bo = gt_bo(k.fd, TAGGED_BYTES, 0);
	struct drm_mode_fb_cmd2 c = tagged_cmd(bo.handle);

	memcpy((char *)bo.map + CLEAR_AT, clear, sizeof(clear));
	for (uint32_t y = 0; y < HEIGHT; y++)
		for (uint32_t x = 0; x < WIDTH; x++) {
			const uint32_t tile = y / 16 * (WIDTH / 16) + x / 16;
			const uint32_t block = y / 8 * (WIDTH / 8) + x / 8;
			const uint32_t value = noise(y * 4096 + x);

			((uint8_t *)bo.map)[TAG_AT + block] = block % 3;
			((uint32_t *)bo.map)[tile * 256 + in_tile(x % 16, y % 16)] = value;
			screen[y * WIDTH + x] = block % 3 == 1 ? 0xff8040 : value;
		}
	is_screen(&c, &bo);
}

static void bad_tags(void)
{
	struct gt_bo bo = gt_bo(k.fd, TAGGED_BYTES, 0), other = gt_bo(k.fd, TAGGED_BYTES, 0);
	const struct drm_mode_fb_cmd2 good = tagged_cmd(bo.handle);
	struct drm_mode_fb_cmd2 c = good;

	ktap_eq(kms_addfb(&k, &c), 0);
	ktap_eq(kms_rmfb(&k, c.fb_id), 0);
	c = good, c.handles[1] = other.handle;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.handles[2] = other.handle;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.handles[2] = 0;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.offsets[1] += 32;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.offsets[2] += 16;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.offsets[1] = TAGGED_BYTES - HEIGHT / 8 * WIDTH / 8 + 64;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.offsets[2] = TAGGED_BYTES, c.pitches[2] = 0;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.pitches[1] = WIDTH / 8 - 1;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	c = good, c.pitches[1] = (1 << 20) + 1;
	ktap_eq(kms_addfb(&k, &c), -EINVAL);
	gt_bo_free(&other);
	gt_bo_free(&bo);
}

/* ---- what is not shown any more ---- */

static uint32_t picture_in(uint32_t handle)
{
	struct drm_mode_fb_cmd2 c = {
		.width = WIDTH, .height = HEIGHT, .pixel_format = DRM_FORMAT_XRGB8888,
		.handles = { handle }, .pitches = { 4 * WIDTH },
	};

	ktap_eq(kms_addfb(&k, &c), 0);
	return c.fb_id;
}

/* It is shown, and then fb[0] again. */
static void show_once(uint32_t id)
{
	ktap_eq(flip(id, 0, 0), 0);
	ktap_eq(flip(fb[0].id, 0, 0), 0);
}

/* Most of what a file may have of local memory, shown and freed: it is there for the next one. */
static void idle_local(void)
{
	for (unsigned int i = 0; i < 3; i++) {
		struct gt_bo bo = gt_bo(k.fd, 12 << 20, DRM_TESSERA_BO_LOCAL);
		const uint32_t id = picture_in(bo.handle);

		show_once(id);
		ktap_eq(kms_rmfb(&k, id), 0);
		gt_bo_free(&bo);
	}
}

/* However many there are, few stay mapped; all are as they were when they are shown again. */
static void idle_few(void)
{
	struct kms_fb many[12];
	unsigned int idle;

	for (unsigned int round = 0; round < 2; round++)
		for (unsigned int i = 0; i < 12; i++) {
			if (!round) {
				many[i] = kms_fb(&k, WIDTH, HEIGHT, DRM_FORMAT_XRGB8888);
				fill(&many[i], 300 + i);
			}
			ktap_eq(flip(many[i].id, 0, 0), 0);
			expect(&many[i]);
			ktap_ok(seen(0));
			kms_mapped(&idle);
			ktap_ok(idle <= 8);
		}
	ktap_eq(flip(fb[0].id, 0, 0), 0);
	for (unsigned int i = 0; i < 12; i++)
		kms_fb_free(&k, &many[i]);
	kms_mapped(&idle);
	ktap_ok(idle <= 1);
}

/*
 * One whose contents user space does not need, @shown after it has said so or not: nothing keeps
 * its memory, and it is not shown again.
 */
static void purge_idle(bool shown)
{
	struct gt_bo bo = gt_bo(k.fd, 4 * PIXELS, 0);
	struct drm_tessera_bo_madvise advice = {
		.handle = bo.handle, .madv = DRM_TESSERA_MADV_DONT_NEED,
	};
	struct drm_tessera_bo_info info = { .handle = bo.handle };
	const uint32_t id = picture_in(bo.handle);

	show_once(id);
	ktap_eq(gt_ioctl(k.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &advice), 0);
	if (shown)
		show_once(id);
	ktap_eq(gt_write_file("/proc/sys/vm/drop_caches", "2"), 0);
	ktap_eq(gt_ioctl(k.fd, DRM_IOCTL_TESSERA_BO_INFO, &info), 0);
	ktap_eq(info.state, DRM_TESSERA_BO_PURGED);
	ktap_eq(flip(id, 0, 0), -EINVAL);
	ktap_eq(kms_rmfb(&k, id), 0);
	gt_bo_free(&bo);
}

static void idle_purged(void)
{
	purge_idle(false);
	purge_idle(true);
}

/* ---- damage ---- */

/* Damage from user space: by DIRTYFB, and with a flip. */
static void damage(void)
{
	struct drm_clip_rect clip = { 0, 0, 10, 10 };
	struct drm_mode_fb_dirty_cmd cmd = { .fb_id = fb[0].id, .num_clips = 1,
					     .clips_ptr = gt_ptr(&clip) };
	struct drm_mode_rect rect = { 10, 10, 20, 20 };
	struct drm_mode_create_blob blob = { .data = gt_ptr(&rect), .length = sizeof(rect) };
	struct kms_request r = { .k = &k };

	((uint32_t *)fb[0].map)[0] ^= 0xffffff;
	ktap_eq(gt_ioctl(k.fd, DRM_IOCTL_MODE_DIRTYFB, &cmd), 0);
	expect(&fb[0]);
	ktap_ok(seen(0));
	cmd.fb_id = fb[1].id;		/* not shown */
	ktap_eq(gt_ioctl(k.fd, DRM_IOCTL_MODE_DIRTYFB, &cmd), 0);
	ktap_eq(gt_ioctl(k.fd, DRM_IOCTL_MODE_CREATEPROPBLOB, &blob), 0);
	kms_set(&r, k.head[0].plane[0], DRM_MODE_OBJECT_PLANE, "FB_ID", fb[1].id);
	kms_set(&r, k.head[0].plane[0], DRM_MODE_OBJECT_PLANE, "FB_DAMAGE_CLIPS", blob.blob_id);
	ktap_eq(kms_commit(&r, 0, 0), 0);
	expect(&fb[1]);
	ktap_ok(seen(0));
	ktap_eq(flip(fb[0].id, 0, 0), 0);
}

/* ---- writeback ---- */

/* The connector that writes frames of head 0; 0: there is none. */
static uint32_t find_writeback(void)
{
	struct drm_set_client_cap cap = {
		.capability = DRM_CLIENT_CAP_WRITEBACK_CONNECTORS, .value = 1,
	};
	uint32_t ids[16];
	struct drm_mode_card_res res = { .connector_id_ptr = gt_ptr(ids), .count_connectors = 16 };

	ktap_eq(gt_ioctl(k.fd, DRM_IOCTL_SET_CLIENT_CAP, &cap), 0);
	ktap_eq(gt_ioctl(k.fd, DRM_IOCTL_MODE_GETRESOURCES, &res), 0);
	for (unsigned int i = 0; i < res.count_connectors; i++)
		if (kms_property(&k, ids[i], DRM_MODE_OBJECT_CONNECTOR, "WRITEBACK_FB_ID", NULL))
			return ids[i];
	return 0;
}

static int write_frame(uint32_t connector, uint32_t id, int32_t *fence, uint32_t flags)
{
	struct kms_request r = { .k = &k };

	kms_set(&r, connector, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID", k.head[0].crtc);
	kms_set(&r, connector, DRM_MODE_OBJECT_CONNECTOR, "WRITEBACK_FB_ID", id);
	kms_set(&r, connector, DRM_MODE_OBJECT_CONNECTOR, "WRITEBACK_OUT_FENCE_PTR",
		gt_ptr(fence));
	return kms_commit(&r, DRM_MODE_ATOMIC_ALLOW_MODESET | flags, 0);
}

static bool signals(int32_t fence)
{
	struct pollfd wait = { .fd = fence, .events = POLLIN };
	const bool done = poll(&wait, 1, EVENT_MS) == 1;

	close(fence);
	return done;
}

/* Frames in memory when the fence says so; ten in a row, to two buffers. */
static void writeback(void)
{
	struct kms_fb out[2] = { kms_fb(&k, WIDTH, HEIGHT, DRM_FORMAT_XRGB8888),
				 kms_fb(&k, WIDTH, HEIGHT, DRM_FORMAT_XRGB8888) };
	const uint32_t connector = find_writeback();
	int32_t fence = -1;

	KTAP_REQUIRE(connector);
	for (unsigned int i = 0; i < 10; i++) {
		const struct kms_fb *to = &out[i & 1];
		unsigned int wrong = 0;

		fill(&fb[0], 100 + i);
		expect(&fb[0]);
		ktap_eq(write_frame(connector, to->id, &fence,
				    i & 1 ? DRM_MODE_ATOMIC_NONBLOCK : 0), 0);
		ktap_ok(fence >= 0 && signals(fence));
		for (uint32_t n = 0; n < PIXELS; n++)
			wrong += ((uint32_t *)to->map)[n] !=
				 ((screen[n] & 0xffffff) | (((uint32_t *)to->map)[n] & 0xff000000));
		ktap_eq(wrong, 0);
	}
	ktap_ok(seen(0));
	for (unsigned int i = 0; i < 2; i++)
		kms_fb_free(&k, &out[i]);
}

static void bad_writebacks(void)
{
	struct kms_fb small = kms_fb(&k, WIDTH - 16, HEIGHT, DRM_FORMAT_XRGB8888);
	struct kms_fb out = kms_fb(&k, WIDTH, HEIGHT, DRM_FORMAT_XRGB8888);
	struct drm_mode_fb_cmd2 c = {
		.width = WIDTH, .height = HEIGHT, .pixel_format = DRM_FORMAT_XRGB8888,
		.flags = DRM_MODE_FB_MODIFIERS, .handles = { out.handle }, .pitches = { 4 * WIDTH },
		.modifier = { TILED },
	};
	const uint32_t connector = find_writeback();
	struct kms_request r = { .k = &k };
	int32_t fence = -1;

	KTAP_REQUIRE(connector);
	ktap_eq(write_frame(connector, small.id, &fence, 0), -EINVAL);
	ktap_eq(kms_addfb(&k, &c), 0);
	ktap_eq(write_frame(connector, c.fb_id, &fence, 0), -EINVAL);
	ktap_eq(kms_rmfb(&k, c.fb_id), 0);
	/* a head that goes off has nothing more to write, and does not wait for it */
	ktap_eq(write_frame(connector, out.id, &fence, DRM_MODE_ATOMIC_NONBLOCK), 0);
	kms_set(&r, connector, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID", 0);
	kms_set_mode(&r, 0, NULL);
	for (unsigned int i = 0; i < KMS_PLANES; i++)
		kms_set_plane(&r, 0, i, 0, 0, 0, 0, 0);
	ktap_eq(kms_commit(&r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0), 0);
	ktap_ok(signals(fence));
	ktap_eq(kms_show(&k, 0, &mode, fb[0].id), 0);
	kms_fb_free(&k, &small);
	kms_fb_free(&k, &out);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	k = kms_open();
	mode = kms_mode(&k, 0, WIDTH, HEIGHT);
	for (unsigned int i = 0; i < 2; i++)
		fb[i] = kms_fb(&k, WIDTH, HEIGHT, DRM_FORMAT_XRGB8888);
	ktap_run("heads, planes, EDID, formats", objects);
	ktap_run("[DISP1] a picture is seen, pixel by pixel", shows);
	ktap_run("[DISP1] 300 flips: no number twice, times of the mode", flips);
	ktap_run("[DISP1] a head goes on and off by whole frames, and then says so", on_and_off);
	ktap_run("a flip on top of another has to wait", busy);
	ktap_run("[DISP1] vertical blanks are counted, and when they were", sequences);
	ktap_run("[DISP1] what cannot be shown is refused", refusals);
	ktap_run("framebuffers that are refused", bad_framebuffers);
	ktap_run("[DISP1] tiles in system memory", tiled_system);
	ktap_run("[DISP1] tiles in local memory", tiled_local);
	ktap_run("[DISP1] overlay and cursor", planes);
	ktap_run("planes go with their head", planes_go);
	ktap_run("[DISP1] the cursor moves beside flips", cursor_moves);
	ktap_run("[DISP1] cursor and flip of one frame are seen together", cursor_with_flip);
	ktap_run("[DISP1] two heads", two_heads);
	ktap_run("CRCs have the numbers of their vertical blanks", crc_numbers);
	ktap_run("[DISP1] fences before and after a flip", fences);
	ktap_run("[DISP1] a target with tags", tagged);
	ktap_run("framebuffers with tags that are refused", bad_tags);
	ktap_run("what is not shown any more takes no local memory", idle_local);
	ktap_run("what is not shown any more is given up for newer ones", idle_few);
	ktap_run("what is not shown any more may be purged", idle_purged);
	ktap_run("[DISP1] damage", damage);
	ktap_run("[DISP1] frames are written to memory", writeback);
	ktap_run("writebacks that are refused, or come too late", bad_writebacks);
	for (unsigned int i = 0; i < 2; i++)
		kms_fb_free(&k, &fb[i]);
	kms_close(&k);
	return gt_finish();
}
