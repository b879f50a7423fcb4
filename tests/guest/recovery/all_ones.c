// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=400 DEVICE_ARGS=heads=1,vram=16M,inject-window=on
 * test: KERNEL_ARGS=tessera.job_timeout_ms=1000
 *
 * A device that goes away in the middle of a call. Its registers read as all ones from the first,
 * the second, ... register read of the call on, until the call makes fewer reads. None of the
 * values may reach user space, or be taken for a time, a count or a fault.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "gt_recover.h"
#include "kms.h"

/* A reset of the function takes a tenth of a second, on an idle host. */
#define BACK_MS		30000

/* A call with more reads than this is tried at every STEP-th of the others. */
#define ALL		40
#define STEP		17

static struct kms k;
static struct kms_fb fb;
static struct gt_ctx c;

static bool answers(void)
{
	return gt_fired("GONE") != UINT32_MAX;
}

/*
 * The device ignores writes, too, so it comes back by the driver's reset of the function. This call
 * notices what the one before may not have. If the call made fewer reads than the rule skips, the
 * rule can fire here, up to the moment at which it is cleared.
 */
static void bring_back(void)
{
	struct drm_tessera_get_timestamp stamp = { .clock_id = CLOCK_MONOTONIC };
	uint64_t end = gt_now_ns() + BACK_MS * 1000000ULL;
	bool back = false;

	while (!back && gt_now_ns() < end) {
		gt_ioctl(c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &stamp);
		back = answers() && !gt_inject("clear") && answers();
		if (!back)
			gt_sleep_ms(2);
	}
	ktap_ok(back);
}

/* ---- what must never be seen ---- */

static void no_ones(const char *name, const char *text)
{
	static const char *const ones[] = { "ffffffff", "4294967295", "18446744073709551615" };

	for (unsigned int i = 0; i < GT_ARRAY_SIZE(ones); i++) {
		if (strstr(text, ones[i]))
			ktap_fail("%s has %s", name, ones[i]);
	}
}

static void read_file(const char *leaf)
{
	static char text[0x10000];
	char path[300];

	gt_debugfs(leaf, path, sizeof(path));
	gt_read_file(path, text, sizeof(text));
	no_ones(leaf, text);
}

static void debugfs_queues(void)
{
	read_file("queues");
}

static void debugfs_rings(void)
{
	read_file("rings");
}

static void debugfs_counters(void)
{
	read_file("counters");
}

static void debugfs_heads(void)
{
	read_file("heads");
}

static void debugfs_inject(void)
{
	read_file("inject");
}

static void fdinfo(void)
{
	char path[40], text[4000];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", c.fd);
	ktap_ok(gt_read_file(path, text, sizeof(text)) > 0);
	no_ones("fdinfo", text);
}

/* GPU time is later than that of the call before, or there is none. */
static void timestamp(void)
{
	static uint64_t before;
	struct drm_tessera_get_timestamp stamp = { .clock_id = CLOCK_MONOTONIC };
	int ret = gt_ioctl(c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &stamp);

	if (ret) {
		ktap_eq(ret, -EIO);
		return;
	}
	ktap_ok(stamp.gpu_ticks > before && stamp.gpu_ticks < UINT64_MAX / 2);
	before = stamp.gpu_ticks;
}

static void query(uint32_t type, void *data, size_t size)
{
	struct drm_tessera_dev_query args = {
		.type = type, .ptr = gt_ptr(data), .size = size,
	};

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_DEV_QUERY, &args), 0);
}

/* Queries return values that the driver read at probe. */
static void queries(void)
{
	static struct drm_tessera_gpu_info first, now;
	static struct drm_tessera_shader_info first_shader, shader;
	struct drm_tessera_gpu_state state;

	query(DRM_TESSERA_QUERY_GPU_INFO, &now, sizeof(now));
	query(DRM_TESSERA_QUERY_SHADER_INFO, &shader, sizeof(shader));
	query(DRM_TESSERA_QUERY_GPU_STATE, &state, sizeof(state));
	if (!first.hw_version) {
		first = now;
		first_shader = shader;
	}
	ktap_ok(!memcmp(&first, &now, sizeof(now)));
	ktap_ok(!memcmp(&first_shader, &shader, sizeof(shader)));
	ktap_eq(state.flags, 0);
	ktap_ok(state.local_used != UINT64_MAX);
}

/* The count of vertical blanks goes on by few, and their time is one of the last seconds. */
static void vblanks(void)
{
	static uint64_t before;
	uint64_t sequence, ns, now;

	ktap_eq(kms_sequence(&k, 0, &sequence, &ns), 0);
	now = gt_now_ns();
	ktap_ok(!before || (sequence >= before && sequence < before + 100000));
	ktap_ok(ns <= now + 1000000000ULL && ns + 600 * 1000000000ULL > now);
	before = sequence;
}

/* The monitor is the one that was there before, with its modes. */
static void connector(void)
{
	static unsigned int first;
	unsigned int width;
	uint64_t edid = 0;

	ktap_eq(kms_status(&k, 0, &width), 1);
	first = first ? first : width;
	ktap_eq(width, first);
	ktap_ok(kms_property(&k, k.head[0].connector, DRM_MODE_OBJECT_CONNECTOR, "EDID", &edid));
	ktap_ok(edid != 0);
}

/* A job is done or cancelled. Its queue is not to blame, and neither is any later job. */
static void job(void)
{
	struct drm_tessera_queue_get_state state;
	struct gt_cs cs = gt_stream(&c, 8);
	int error;

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0x1000), .size = 64,
		.pattern_lo = 0x900d);
	error = gt_run(&c, &cs);
	ktap_ok(error == 0 || error == -ECANCELED);
	state = gt_queue_state(c.fd, c.queue);
	ktap_eq(state.state & ~DRM_TESSERA_QUEUE_INNOCENT, 0);
	ktap_ok(state.error == 0 || state.error == ECANCELED);
	ktap_eq(state.fault_code, 0);
	ktap_ok(state.jobs_completed < 1000000);
}

/* A queue is made and goes, whatever the slot's registers read. */
static void queue(void)
{
	uint32_t id = 0;
	int ret = gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL, 0,
			       &id);

	ktap_ok(ret == 0 || ret == -EIO);
	if (!ret)
		ktap_eq(gt_queue_destroy(c.fd, id), 0);
}

/* The device goes at register read @skip of @call; false if there were fewer. */
static bool gone_at(void (*call)(void), unsigned int skip)
{
	unsigned int before = gt_fired("GONE"), after;
	char rule[40];

	/* The file's own read of STATUS and that of MAGIC come first. */
	snprintf(rule, sizeof(rule), "gone skip=%u", skip + 2);
	ktap_eq(gt_inject(rule), 0);
	call();
	bring_back();
	after = gt_fired("GONE");
	ktap_ok(copy_works(&c));
	return after != before;
}

static void sweep(const char *name, void (*call)(void))
{
	unsigned int skip = 0;

	call();
	while (gone_at(call, skip)) {
		skip += skip < ALL ? 1 : STEP;
		if (skip > 2000) {
			ktap_fail("%s reads registers without end", name);
			return;
		}
	}
	printf("# %s: to register read %u\n", name, skip);
}

static void debugfs(void)
{
	sweep("queues", debugfs_queues);
	sweep("rings", debugfs_rings);
	sweep("counters", debugfs_counters);
	sweep("heads", debugfs_heads);
	sweep("inject", debugfs_inject);
}

static void usage(void)
{
	sweep("fdinfo", fdinfo);
}

static void clocks(void)
{
	sweep("GET_TIMESTAMP", timestamp);
}

static void constants(void)
{
	sweep("DEV_QUERY", queries);
}

static void display(void)
{
	sweep("vertical blanks", vblanks);
	sweep("connector", connector);
}

static void jobs(void)
{
	sweep("job", job);
}

static void queues(void)
{
	sweep("queue", queue);
}

int main(int argc, char **argv)
{
	struct drm_mode_modeinfo mode;

	gt_start(argc, argv);
	c = gt_ctx();
	k = kms_open();
	mode = kms_mode(&k, 0, 640, 480);
	fb = kms_fb(&k, mode.hdisplay, mode.vdisplay, DRM_FORMAT_XRGB8888);
	ktap_eq(kms_show(&k, 0, &mode, fb.id), 0);
	ktap_run("[SYS7] a device that goes: debugfs shows no register", debugfs);
	ktap_run("[SYS7] a device that goes: fdinfo keeps its sums", usage);
	ktap_run("[SYS7] a device that goes: its clock is right or refused", clocks);
	ktap_run("[SYS7] a device that goes: queries return what probe read", constants);
	ktap_run("[SYS7] a device that goes: vertical blanks and monitors stay", display);
	ktap_run("[SYS7] a device that goes: no job is blamed", jobs);
	ktap_run("[SYS7] a device that goes: queues are made and go", queues);
	kms_off(&k, 0);
	kms_fb_free(&k, &fb);
	kms_close(&k);
	gt_ctx_free(&c);
	return gt_finish();
}
