// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 DEVICE_ARGS=vram=64M,copy-engines=2 */
/*
 * Work that a snapshot of the machine must not disturb: a queue blocked on a semaphore, a long
 * series of copies in the middle, a full ring behind a wait, content in local memory. Run as it is,
 * it checks that the work itself is right. `checkpoint hold DIR SECONDS` stops half way: it makes
 * DIR/armed, waits for DIR/go, and goes on; tests/guest/scripts/snapshot.py moves the machine into
 * another QEMU in between.
 */
#include "gt_main.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define BIG_VA		0x100000000ULL
#define LOCAL_VA	0x200000000ULL
#define BIG		(32ULL << 20)
#define LOCAL		(8ULL << 20)

static struct gt_ctx c;
static const char *hold;		/* directory of the handshake, NULL without one */
static uint32_t blocked, copying, filled, timeline[3];
static struct gt_bo big, local;
static volatile uint64_t *words; /* [0] gate, [1] what the blocked job copies, [2] its result, [8..]
				    one for each copy */
static uint64_t copies;
static uint64_t resets;			/* of the device, before the test */
static unsigned int seconds = 2;	/* that the copies are to take */

/*
 * The blocked queue: its job waits for the gate, then copies word 1, which the CPU writes only
 * after the snapshot.
 */
static void start_blocked(void)
{
	struct drm_tessera_sync sync = gt_point(timeline[0], 1);
	struct gt_cs cs = gt_stream(&c, 8);

	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .wide = true, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&cs, copy_linear, .src = gt_data_va(8), .dst = gt_data_va(16), .size = 8);
	ktap_eq(gt_kick(&c, blocked, &cs, &sync), 0);
}

/* A ring full of jobs after one that waits for the gate. Each adds its number to word 3. */
static void start_filled(void)
{
	unsigned int i;

	for (i = 1; i <= 100; i++) {
		struct drm_tessera_sync sync = gt_point(timeline[2], i);
		struct gt_cs cs = gt_stream(&c, 8);

		GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .wide = true, .addr = gt_data_va(0),
			.value = 1);
		GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE,
			.wide = true, .addr = gt_data_va(24), .value = i);
		ktap_eq(gt_kick(&c, filled, &cs, &sync), 0);
	}
}

/*
 * One long job: copies inside the big buffer, half to half and back, as many as take a few seconds;
 * each ends with a fence word, so the CPU sees how far it is. The last copy goes to local memory
 * where there is some.
 */
static void start_copies(void)
{
	struct drm_tessera_sync sync = gt_point(timeline[1], 1);
	struct gt_cs cs = gt_stream(&c, 4 * 1024);
	uint64_t i;

	for (i = 0; i < copies; i++) {
		GT_EMIT(&cs, copy_linear, .src = BIG_VA + (i & 1 ? BIG / 2 : 0),
			.dst = BIG_VA + (i & 1 ? 0 : BIG / 2), .size = BIG / 2);
		GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(64 + 8 * i),
			.value = i + 1);
		GT_EMIT(&cs, barrier, .wait_writes = true);
	}
	if (local.map)
		GT_EMIT(&cs, copy_linear, .src = BIG_VA, .dst = LOCAL_VA, .size = LOCAL);
	ktap_eq(gt_kick(&c, copying, &cs, &sync), 0);
}

static uint32_t content(uint64_t i)
{
	return i * 2654435761u ^ i >> 9;
}

/* How many copies make about as long as wanted here: measured with one. */
static uint64_t choose_copies(void)
{
	struct gt_cs cs = gt_stream(&c, 8);
	uint64_t start = gt_now_ns(), one;

	GT_EMIT(&cs, copy_linear, .src = BIG_VA, .dst = BIG_VA + BIG / 2, .size = BIG / 2);
	ktap_eq(gt_run_on(&c, copying, &cs), 0);
	one = gt_now_ns() - start;
	copies = seconds * 1000000000ULL / (one + 1) + 4;
	return copies > 400 ? 400 : copies;
}

static void prepare(void)
{
	uint32_t *pixels;
	uint64_t i;

	c = gt_ctx();
	words = gt_data(&c, 0);
	memset((void *)words, 0, GT_PAGE * 4);
	big = gt_bo(c.fd, BIG, DRM_TESSERA_BO_CACHED);
	gt_bo_bind(&big, c.vm, BIG_VA, GT_RW);
	if (gt_gpu_info(c.fd).local_size >= LOCAL) {
		local = gt_bo(c.fd, LOCAL, DRM_TESSERA_BO_LOCAL);
		gt_bo_bind(&local, c.vm, LOCAL_VA, GT_RW);
	}
	pixels = big.map;
	for (i = 0; i < BIG / 8; i++)
		pixels[i] = content(i);
	blocked = c.queue;
	copying = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	filled = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	for (i = 0; i < 3; i++)
		timeline[i] = gt_syncobj(c.fd, false);
	copies = choose_copies();
}

static void touch(const char *leaf)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", hold, leaf);
	fclose(fopen(path, "w"));
}

/* Half way: at least one copy is done and the last is not; then stop here until told to go on. */
static void half_way(void)
{
	char path[200];

	ktap_ok(gt_spin_until(&words[8], 1, GT_TIMEOUT_MS));
	ktap_eq(words[8 + copies - 1], 0);
	if (!hold)
		return;
	touch("armed");
	snprintf(path, sizeof(path), "%s/go", hold);
	while (access(path, F_OK))
		usleep(500);
}

static void blocked_goes_on(void)
{
	ktap_ok(!gt_syncobj_done(c.fd, timeline[0], 1));
	ktap_eq(gt_syncobj_point(c.fd, timeline[2]), 0);
	words[1] = 0x1badb002;
	__sync_synchronize();
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, timeline[0], 1), 0);
	ktap_eq(words[2], 0x1badb002);
	ktap_eq(gt_fence_error(c.fd, timeline[2], 100), 0);
	ktap_eq(words[3], 5050);
}

static void copies_go_on(void)
{
	uint32_t *pixels = big.map, *near = local.map;
	uint64_t i, bad = 0;

	ktap_eq(gt_fence_error(c.fd, timeline[1], 1), 0);
	for (i = 0; i < copies; i++)
		ktap_eq(words[8 + i], i + 1);
	for (i = 0; i < BIG / 8; i++)
		bad += pixels[i] != content(i) || pixels[BIG / 8 + i] != content(i);
	ktap_eq(bad, 0);
	for (i = 0; near && i < LOCAL / 4; i++)
		bad += near[i] != content(i);
	ktap_eq(bad, 0);
}

static void new_work(void)
{
	struct gt_cs cs = gt_stream(&c, 3);
	unsigned int i;

	GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE, .wide = true,
		.addr = gt_data_va(32), .value = 1);
	for (i = 0; i < 100; i++)
		ktap_eq(gt_run_on(&c, i & 1 ? blocked : filled, &cs), 0);
	ktap_eq(words[4], 100);
	ktap_eq(gt_gpu_state(c.fd).reset_count, resets);
	ktap_eq(gt_queue_state(c.fd, copying).state, 0);
}

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "hold")) {
		hold = argv[2];
		seconds = strtoul(argv[3], NULL, 10);
	}
	gt_start(1, argv);
	prepare();
	resets = gt_gpu_state(c.fd).reset_count;
	start_blocked();
	start_filled();
	start_copies();
	ktap_run("a queue is blocked, a ring filled, a copy half done", half_way);
	ktap_run("[CP7] the blocked queues go on with what comes after", blocked_goes_on);
	ktap_run("[MEM4] the copies end with the right content", copies_go_on);
	ktap_run("new work runs", new_work);
	if (local.map)
		gt_bo_free(&local);
	gt_bo_free(&big);
	gt_ctx_free(&c);
	return gt_finish();
}
