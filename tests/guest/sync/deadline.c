// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 DEVICE_ARGS=copy-engines=1 */
/*
 * A deadline on a fence (SYNC_IOC_SET_DEADLINE) gives the fence's queue longer time slices until it
 * signals: two queues with the same work on one engine are no longer done at the same time.
 */
#include "gt_main.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/sync_file.h>

/* Not in the headers of older systems. */
struct set_deadline {
	uint64_t deadline_ns;
	uint64_t pad;
};

#define SET_DEADLINE	_IOW(SYNC_IOC_MAGIC, 5, struct set_deadline)

#define FILLS	128u
#define FILL	0x40000ULL	/* bytes */

/* Places in the data: what starts both, how far each is, and how far the other was at the end. */
enum { GATE = 0, DONE = 64, SEEN = 192, AREA = 0x40000 };

static struct gt_ctx c;
static uint32_t queue[2];

/* Queue @q's job: wait for the gate, work in steps that others can see, look at the other. */
static uint32_t start(unsigned int q)
{
	struct drm_tessera_sync done = gt_binary(gt_syncobj(c.fd, false));
	struct gt_cs cs = gt_stream(&c, 16 * FILLS + 32);

	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(GATE), .value = 1);
	for (unsigned int i = 1; i <= FILLS; i++) {
		GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(AREA + q * FILL),
			.size = FILL, .pattern_lo = i);
		GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE,
			.addr = gt_data_va(DONE + 64 * q), .value = i);
	}
	GT_EMIT(&cs, copy_linear, .src = gt_data_va(DONE + 64 * !q),
		.dst = gt_data_va(SEEN + 64 * q), .size = 8);
	ktap_eq(gt_kick(&c, queue[q], &cs, &done), 0);
	return done.handle;
}

static int set_deadline(uint32_t syncobj, uint64_t ns)
{
	struct set_deadline args = { .deadline_ns = ns };
	int file = gt_fence_file(c.fd, syncobj), ret;

	ret = ioctl(file, SET_DEADLINE, &args) ? -errno : 0;
	close(file);
	return ret;
}

/* How many of its steps the second queue has done when the first is over. */
static unsigned int other_at_end(bool hurry, uint64_t deadline)
{
	volatile uint64_t *gate = gt_data(&c, GATE);
	uint32_t done[2];

	memset(gt_data(&c, 0), 0, 0x1000);
	done[1] = start(1);
	done[0] = start(0);
	if (hurry)
		ktap_eq(set_deadline(done[0], deadline), 0);
	gt_sleep_ms(50);	/* both have their slots, and the work has run */
	*gate = 1;
	ktap_eq(gt_fence_error(c.fd, done[0], 0), 0);
	ktap_eq(gt_fence_error(c.fd, done[1], 0), 0);
	gt_syncobj_free(c.fd, done[0]);
	gt_syncobj_free(c.fd, done[1]);
	return *(volatile uint64_t *)gt_data(&c, SEEN);
}

/* Longer slices: the other has done at most half of its work. */
static void near_deadline(void)
{
	unsigned int fair = other_at_end(false, 0), hurried = other_at_end(true, gt_now_ns());

	printf("# the other queue did %u of %u steps, and %u with a deadline\n", fair, FILLS,
	       hurried);
	ktap_ok(fair > FILLS * 6 / 10);
	ktap_ok(hurried < FILLS / 2);
	/* It ends with the fence. */
	ktap_ok(other_at_end(false, 0) > FILLS * 6 / 10);
}

/* A deadline far away changes nothing yet. */
static void far_deadline(void)
{
	ktap_ok(other_at_end(true, gt_now_ns() + 100000000000ULL) > FILLS * 6 / 10);
}

/* The soonest of several deadlines counts. */
static void two_deadlines(void)
{
	volatile uint64_t *gate = gt_data(&c, GATE);
	uint64_t now = gt_now_ns(), far = now + 100000000000ULL;
	uint32_t done[2];

	memset(gt_data(&c, 0), 0, 0x1000);
	done[1] = start(1);
	done[0] = start(0);
	ktap_eq(set_deadline(done[0], far), 0);
	ktap_eq(set_deadline(done[0], now), 0);
	ktap_eq(set_deadline(done[0], far), 0);
	gt_sleep_ms(50);
	*gate = 1;
	ktap_eq(gt_fence_error(c.fd, done[0], 0), 0);
	ktap_eq(gt_fence_error(c.fd, done[1], 0), 0);
	ktap_ok(*(volatile uint64_t *)gt_data(&c, SEEN) < FILLS / 2);
	/* On a fence that has signalled it is accepted and means nothing. */
	ktap_eq(set_deadline(done[0], now), 0);
	gt_syncobj_free(c.fd, done[0]);
	gt_syncobj_free(c.fd, done[1]);
}

/* Deadlines on fences of queues that go. */
static void destroyed(void)
{
	for (unsigned int i = 0; i < 200; i++) {
		uint32_t q = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
		struct drm_tessera_sync done = gt_binary(gt_syncobj(c.fd, false));
		struct drm_tessera_job job = gt_job(q, NULL);

		job.signals = GT_ARRAY(&done, 1);
		ktap_eq(gt_submit(c.fd, &job, 1), 0);
		ktap_eq(set_deadline(done.handle, gt_now_ns()), 0);
		ktap_eq(gt_queue_destroy(c.fd, q), 0);
		ktap_eq(set_deadline(done.handle, gt_now_ns()), 0);
		gt_syncobj_free(c.fd, done.handle);
	}
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	queue[0] = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	queue[1] = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	ktap_run("a queue with a deadline gets more of its engine", near_deadline);
	ktap_run("a deadline that is far away changes nothing", far_deadline);
	ktap_run("of several deadlines the soonest counts", two_deadlines);
	ktap_run("deadlines on fences of destroyed queues", destroyed);
	gt_ctx_free(&c);
	return gt_finish();
}
