// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 DEVICE_ARGS=heads=1,check=off,inject-window=on CONSOLE=1 */
/*
 * A picture is on while the device is reset, sleeps, fails, goes: afterwards the same picture is
 * seen, flips have gone on, and nobody waits for one that cannot come.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gt_recover.h"
#include "kms.h"

#define EVENT_MS 30000
#define COUNTS_MAX 100000	/* vertical blanks while something happens to the device */

static struct kms k;
static struct drm_mode_modeinfo mode;
static struct kms_fb fb[2];
static uint32_t crc[2];

static void open_screen(void)
{
	k = kms_open();
	mode = kms_mode(&k, 0, 640, 480);
	for (unsigned int n = 0; n < 2; n++) {
		uint32_t *pixel;

		fb[n] = kms_fb(&k, mode.hdisplay, mode.vdisplay, DRM_FORMAT_XRGB8888);
		pixel = fb[n].map;
		for (uint32_t i = 0; i < fb[n].size / 4; i++)
			pixel[i] = (i + n) * 2654435761u >> 8;
		crc[n] = kms_crc_of(pixel, fb[n].size / 4);
	}
	ktap_eq(kms_show(&k, 0, &mode, fb[0].id), 0);
}

static struct kms_request flip_request(unsigned int n)
{
	struct kms_request r = { .k = &k };

	kms_set(&r, k.head[0].plane[0], DRM_MODE_OBJECT_PLANE, "FB_ID", fb[n].id);
	return r;
}

static int flip(unsigned int n, uint32_t flags)
{
	struct kms_request r = flip_request(n);

	return kms_commit(&r, flags, n);
}

static bool flipped(unsigned int n)
{
	struct drm_event_vblank e;

	return kms_event(&k, &e, EVENT_MS) && e.user_data == n;
}

#define FLIP (DRM_MODE_PAGE_FLIP_EVENT | DRM_MODE_ATOMIC_NONBLOCK)

/* Do something with the device while a flip is on its way, a few times. */
static void through(int (*what)(void), unsigned int times)
{
	uint64_t before, after, ns;

	ktap_eq(kms_sequence(&k, 0, &before, &ns), 0);
	for (unsigned int i = 0; i < times; i++) {
		ktap_eq(flip(~i & 1, FLIP), 0);
		ktap_eq(what(), 0);
		ktap_ok(flipped(~i & 1));
		ktap_ok(kms_crc_settles(0, crc[~i & 1]));
	}
	ktap_eq(kms_sequence(&k, 0, &after, &ns), 0);
	/* counted on, wherever the device's own count is */
	ktap_ok(after > before && after - before < COUNTS_MAX);
}

/* Wait for @count vertical blanks. */
static int wait_for_vblanks(unsigned int count)
{
	union drm_wait_vblank wait = {
		.request = { .type = _DRM_VBLANK_RELATIVE, .sequence = count },
	};

	return gt_ioctl(k.fd, DRM_IOCTL_WAIT_VBLANK, &wait);
}

static int reset_device(void)
{
	return climb("device");
}

static int reset_function(void)
{
	return climb("function");
}

static int reset_by_user(void)
{
	char path[300];

	gt_sysfs(0, "reset", path, sizeof(path));
	return gt_write_file(path, "1");
}

static void device_resets(void)
{
	through(reset_device, 4);
}

static void function_resets(void)
{
	through(reset_function, 3);
}

static void user_resets(void)
{
	through(reset_by_user, 3);
}

/* A reset of the device, by another process, that does not come to its end for two seconds. */
static pid_t begin_stuck_reset(void)
{
	pid_t pid;

	ktap_eq(gt_inject("reset-stuck delay=2000ms"), 0);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(climb("device") ? 1 : 0);
	gt_sleep_ms(200);
	return pid;
}

static void end_stuck_reset(pid_t pid)
{
	int status = -1;

	ktap_eq(waitpid(pid, NULL, WNOHANG), 0);	/* all that while it was stuck */
	ktap_eq(waitpid(pid, &status, 0), pid);
	ktap_eq(status, 0);
	ktap_eq(gt_inject("clear"), 0);
}

/* A reset that takes its time: who waits for vertical blanks does not wait for its end. */
static void stuck_reset(void)
{
	uint64_t before, after, ns;
	pid_t pid;

	ktap_eq(kms_sequence(&k, 0, &before, &ns), 0);
	pid = begin_stuck_reset();
	for (unsigned int i = 0; i < 4; i++)
		ktap_eq(wait_for_vblanks(1), 0);
	end_stuck_reset(pid);
	ktap_eq(wait_for_vblanks(2), 0);
	ktap_eq(kms_sequence(&k, 0, &after, &ns), 0);
	ktap_ok(after >= before + 6 && after - before < COUNTS_MAX);
	ktap_ok(kms_crc_settles(0, crc[0]) || kms_crc_settles(0, crc[1]));
}

/* ---- the cursor over a reset ---- */

#define CURSOR 64u

static int set_cursor(uint32_t flags, uint32_t handle, unsigned int x, unsigned int y)
{
	struct drm_mode_cursor2 c = {
		.flags = flags, .crtc_id = k.head[0].crtc, .x = (int)x, .y = (int)y,
		.width = CURSOR, .height = CURSOR, .handle = handle,
	};

	return gt_ioctl(k.fd, DRM_IOCTL_MODE_CURSOR2, &c);
}

static struct kms_fb new_cursor(uint32_t seed)
{
	struct kms_fb f = kms_fb(&k, CURSOR, CURSOR, DRM_FORMAT_ARGB8888);

	for (uint32_t i = 0; i < f.size / 4; i++)
		((uint32_t *)f.map)[i] = 0xff000000 | (i + 1 + seed) * 2246822519u >> 8;
	return f;
}

/* The CRC of picture @n with a cursor on it. */
static uint32_t crc_with(unsigned int n, const struct kms_fb *cursor, unsigned int x,
			 unsigned int y)
{
	char *screen = malloc(fb[n].size);
	uint32_t sum;

	memcpy(screen, fb[n].map, fb[n].size);
	for (unsigned int row = 0; row < CURSOR; row++)
		memcpy(screen + (y + row) * fb[n].pitch + 4 * x,
		       (char *)cursor->map + row * cursor->pitch, 4 * CURSOR);
	sum = kms_crc_of((uint32_t *)(void *)screen, fb[n].size / 4);
	free(screen);
	return sum;
}

/*
 * While the device is being reset a cursor gets another image, whose predecessor's memory goes as
 * soon as the call comes back, and moves: it is there afterwards, with the flip that was on its way
 * and without. Until the device has been told it would read the old image, so the call waits for
 * that, for a tenth of a second if it has to.
 */
static void cursor_over_reset(void)
{
	struct kms_fb cursor = new_cursor(0);

	ktap_eq(flip(0, 0), 0);
	ktap_eq(set_cursor(DRM_MODE_CURSOR_BO | DRM_MODE_CURSOR_MOVE, cursor.handle, 1, 2), 0);
	for (unsigned int i = 0; i < 2; i++) {
		struct kms_fb next = new_cursor(100 * i + 77);
		const pid_t pid = begin_stuck_reset();
		uint64_t called;

		if (i)
			ktap_eq(flip(1, FLIP), 0);
		called = gt_now_ns();
		ktap_eq(set_cursor(DRM_MODE_CURSOR_BO, next.handle, 0, 0), 0);
		ktap_ok(gt_now_ns() - called >= 100000000);
		kms_fb_free(&k, &cursor);
		cursor = next;
		for (unsigned int n = 0; n < 10; n++)
			ktap_eq(set_cursor(DRM_MODE_CURSOR_MOVE, 0, 30 * n, 20 * n + i), 0);
		end_stuck_reset(pid);
		if (i)
			ktap_ok(flipped(1));
		ktap_ok(kms_crc_settles(0, crc_with(i, &cursor, 270, 180 + i)));
	}
	ktap_eq(set_cursor(DRM_MODE_CURSOR_BO, 0, 0, 0), 0);
	kms_fb_free(&k, &cursor);
	ktap_ok(kms_crc_settles(0, crc[1]));
}

/* It moves and changes without end while the device and its function are reset. */
static void cursor_through_resets(void)
{
	struct kms_fb cursor[2] = { new_cursor(1), new_cursor(2) };
	const unsigned int moves = 600;
	unsigned int resets = 0;
	int status = -1;
	pid_t pid;

	ktap_eq(flip(0, 0), 0);
	ktap_eq(set_cursor(DRM_MODE_CURSOR_BO, cursor[0].handle, 0, 0), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		unsigned int failed = 0;

		for (unsigned int n = 0; n <= moves; n++) {
			failed += !!set_cursor(DRM_MODE_CURSOR_MOVE, 0, n % 500, n % 400);
			if (n % 5 == 0)
				failed += !!set_cursor(DRM_MODE_CURSOR_BO,
						       cursor[n / 5 % 2].handle, 0, 0);
		}
		_exit(failed ? 1 : 0);
	}
	for (; !waitpid(pid, &status, WNOHANG) || resets < 4; resets++)
		ktap_eq(resets % 2 ? reset_function() : reset_device(), 0);
	ktap_eq(status, 0);
	ktap_ok(kms_crc_settles(0, crc_with(0, &cursor[moves / 5 % 2], moves % 500, moves % 400)));
	ktap_eq(set_cursor(DRM_MODE_CURSOR_BO, 0, 0, 0), 0);
	ktap_ok(kms_crc_settles(0, crc[0]));
	for (unsigned int i = 0; i < 2; i++)
		kms_fb_free(&k, &cursor[i]);
}

/* A device that goes while it only shows a picture is missed, and fetched back. */
static void gone(void)
{
	uint64_t before, after, ns;

	ktap_eq(kms_sequence(&k, 0, &before, &ns), 0);
	ktap_eq(gt_inject("gone"), 0);
	for (unsigned int i = 0; i < 8; i++)
		ktap_eq(wait_for_vblanks(1), 0);
	ktap_ok(kms_crc_settles(0, crc[0]) || kms_crc_settles(0, crc[1]));
	ktap_eq(kms_sequence(&k, 0, &after, &ns), 0);
	ktap_ok(after >= before + 8 && after - before < COUNTS_MAX);
}

/* Interrupts that are lost: the next vertical blank finds what they would have said. */
static void lost_interrupts(void)
{
	ktap_eq(gt_inject("irq-lost vector=5 times=2"), 0);
	for (unsigned int i = 0; i < 4; i++) {
		ktap_eq(flip(~i & 1, FLIP), 0);
		ktap_ok(flipped(~i & 1));
	}
	ktap_eq(gt_inject("clear"), 0);
}

static int sleep_and_wake(void)
{
	int ret = gt_write_file("/sys/module/suspend/parameters/pm_test_delay", "1");

	ret = ret ?: gt_write_file("/sys/power/pm_test", "devices");
	ret = ret ?: gt_write_file("/sys/power/state", "mem");
	return ret ?: gt_write_file("/sys/power/pm_test", "none");
}

static void machine_sleeps(void)
{
	through(sleep_and_wake, 2);
}

/* ---- heads that go on and off ---- */

/* With @m or, NULL, off. The event has @user. */
static int switch_head(const struct drm_mode_modeinfo *m, unsigned int user)
{
	struct kms_request r = { .k = &k };

	kms_set_mode(&r, 0, m);
	kms_set_plane(&r, 0, 0, m ? fb[0].id : 0, 0, 0, m ? m->hdisplay : 0, m ? m->vdisplay : 0);
	return kms_commit(&r, DRM_MODE_ATOMIC_ALLOW_MODESET | FLIP, user);
}

static struct drm_mode_modeinfo slow_mode(void)
{
	struct drm_mode_modeinfo slow = mode;

	slow.clock /= 15;	/* a frame takes a quarter of a second */
	return slow;
}

static int lose_interrupts(void)
{
	return gt_inject("irq-lost vector=5 times=2");
}

static int go_away(void)
{
	return gt_inject("gone");
}

/*
 * Going on and off each wait for a vertical blank. Whatever happens to the device meanwhile, before
 * it has been told or after, their events come.
 */
static void switched(void)
{
	int (*const what[])(void) = { reset_device, reset_function, reset_by_user, sleep_and_wake,
				      lose_interrupts, go_away };
	const struct drm_mode_modeinfo slow = slow_mode();

	ktap_eq(kms_off(&k, 0), 0);
	for (unsigned int i = 0; i < 2 * GT_ARRAY_SIZE(what); i++) {
		const unsigned int wait_ms = i % 2 ? 50 : 0;

		ktap_eq(switch_head(&slow, 2 * i), 0);
		gt_sleep_ms(wait_ms);
		ktap_eq(what[i / 2](), 0);
		ktap_ok(flipped(2 * i));
		ktap_eq(gt_inject("clear"), 0);
		ktap_eq(switch_head(NULL, 2 * i + 1), 0);
		gt_sleep_ms(wait_ms);
		ktap_eq(what[i / 2](), 0);
		ktap_ok(flipped(2 * i + 1));
		ktap_eq(gt_inject("clear"), 0);
	}
	ktap_eq(kms_show(&k, 0, &mode, fb[0].id), 0);
	ktap_ok(kms_crc_settles(0, crc[0]));
}

/* While the device is out of reach: off is over at once, on when the device is back. */
static void switched_away(void)
{
	const struct drm_mode_modeinfo slow = slow_mode();
	pid_t pid = begin_stuck_reset();

	ktap_eq(switch_head(NULL, 1), 0);
	ktap_ok(flipped(1));
	ktap_eq(switch_head(&slow, 2), 0);
	end_stuck_reset(pid);
	ktap_ok(flipped(2));
	ktap_ok(kms_crc_settles(0, crc[0]));
	ktap_eq(kms_show(&k, 0, &mode, fb[0].id), 0);
}

static bool is(const char *status, unsigned int ms)
{
	for (; ms && strcmp(gt_sysfs_line("power/runtime_status"), status); ms -= 10)
		gt_sleep_ms(10);
	return !strcmp(gt_sysfs_line("power/runtime_status"), status);
}

/* Nothing changes it for @ms. */
static bool stays(const char *status, unsigned int ms)
{
	for (; ms && !strcmp(gt_sysfs_line("power/runtime_status"), status); ms -= 10)
		gt_sleep_ms(10);
	return !ms;
}

/* The references that keep the device awake, of a kernel that shows them. */
static void note_power(void)
{
	static const char *const leaf[] = {
		"power/runtime_usage", "power/runtime_status", "power/runtime_active_kids",
		"power/runtime_enabled", "power/control", "power/autosuspend_delay_ms",
	};
	char path[300], text[64];

	for (unsigned int i = 0; i < GT_ARRAY_SIZE(leaf); i++)
		ktap_note("%s: %s", leaf[i], gt_sysfs_line(leaf[i]));
	gt_debugfs("device", path, sizeof(path));
	if (gt_read_file(path, text, sizeof(text)) > 0)
		ktap_note("%s", text);
}

static void device_sleeps(void)
{
	char path[300];

	gt_sysfs(0, "power/autosuspend_delay_ms", path, sizeof(path));
	ktap_eq(gt_write_file(path, "100"), 0);
	gt_sysfs(0, "power/control", path, sizeof(path));
	ktap_eq(gt_write_file(path, "auto"), 0);
	gt_sleep_ms(500);
	ktap_ok(is("active", 10));
	ktap_eq(kms_off(&k, 0), 0);
	/* The kernel's console continues to draw its invisible cursor, five times a second. */
	if (!ktap_ok(is("suspended", 10000)) || !ktap_ok(stays("suspended", 2000)))
		note_power();
	ktap_eq(kms_show(&k, 0, &mode, fb[1].id), 0);
	ktap_ok(is("active", 10));
	ktap_ok(kms_crc_settles(0, crc[1]));
	gt_sleep_ms(500);
	ktap_ok(is("active", 10));
	ktap_eq(gt_write_file(path, "on"), 0);
}

static void wait_for_node(void)
{
	char path[64];

	for (unsigned int i = 0; i < 2000 && !gt_node_path(0, false, path, sizeof(path)); i++)
		gt_sleep_ms(5);
}

/* Taken from the driver with a flip on its way, and given back. */
static void unbound(void)
{
	char slot[64];

	gt_pci_slot(slot, sizeof(slot));
	for (unsigned int i = 0; i < 5; i++) {
		const struct drm_mode_modeinfo slow = slow_mode();
		struct kms_request after = flip_request(0);

		/* on its way: a flip, a head that goes off, one that goes on */
		if (i > 1)
			ktap_eq(kms_off(&k, 0), 0);
		if (i > 1)
			ktap_eq(switch_head(&slow, 1), 0);
		else
			ktap_eq(i ? switch_head(NULL, 1) : flip(1, FLIP), 0);
		gt_sleep_ms(i > 2 ? 50 : 0);
		ktap_eq(gt_driver_write("unbind", slot), 0);
		ktap_ok(flipped(1));
		ktap_eq(kms_commit(&after, 0, 0), -ENODEV);
		kms_close(&k);
		ktap_eq(gt_driver_write("bind", slot), 0);
		wait_for_node();
		open_screen();
		ktap_ok(kms_crc_settles(0, crc[0]));
	}
}

/* A device that is given up: flips end at once, heads go off and on, and unbind ends it. */
static void given_up(void)
{
	ktap_eq(flip(1, FLIP), 0);
	ktap_eq(climb("wedged"), 0);
	ktap_ok(flipped(1));
	for (unsigned int i = 0; i < 10; i++) {
		ktap_eq(flip(i & 1, FLIP), 0);
		ktap_ok(flipped(i & 1));
	}
	ktap_eq(wait_for_vblanks(2), 0);
	ktap_eq(kms_off(&k, 0), 0);
	ktap_eq(kms_show(&k, 0, &mode, fb[0].id), 0);
	unbound();
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	open_screen();
	ktap_run("[DISP1] a reset of the device with a picture on", device_resets);
	ktap_run("[DISP1] a reset of the function with a picture on", function_resets);
	ktap_run("a reset of the function by user space", user_resets);
	ktap_run("[DISP1] vertical blanks while a reset is stuck", stuck_reset);
	ktap_run("[DISP1] a cursor that changes while a reset is stuck", cursor_over_reset);
	ktap_run("[DISP1] a cursor that moves through resets", cursor_through_resets);
	ktap_run("[DISP1] a device that goes with a picture on", gone);
	ktap_run("lost interrupts", lost_interrupts);
	ktap_run("[DISP1] the machine sleeps with a picture on", machine_sleeps);
	ktap_run("[DISP1] a head that goes on or off while something happens to the device",
		 switched);
	ktap_run("[DISP1] a head that goes on or off while a reset is stuck", switched_away);
	ktap_run("[DISP1] a head that is on keeps the device awake", device_sleeps);
	ktap_run("[DISP1] the driver is unbound with a picture on", unbound);
	ktap_run("a device that is given up with a picture on", given_up);
	kms_close(&k);
	return gt_finish();
}
