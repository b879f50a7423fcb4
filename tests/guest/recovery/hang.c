// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=120 DEVICE_ARGS=vram=32M,inject-window=on
 * test: KERNEL_ARGS=tessera.job_timeout_ms=2000;tessera.job_limit_ms=4000
 */
/*
 * Queues that hang: a wait for a value that never comes, and a loop that never ends although it
 * makes progress. The culprits are told, with ETIMEDOUT; everybody else goes on bit-exactly;
 * nothing but their queues is reset.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define CHUNK	0x10000ULL

static struct gt_ctx c;

/* A queue that is going to hang, and what it does. */
struct culprit {
	uint32_t queue;
	uint32_t hung;		/* binary syncobj of the hanging job */
	uint32_t behind;	/* binary syncobj of the job after it */
};

static struct culprit start_culprit(const struct gt_cs *cs)
{
	struct culprit bad = {
		.queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY),
		.hung = gt_syncobj(c.fd, false),
		.behind = gt_syncobj(c.fd, false),
	};
	struct drm_tessera_sync first = gt_binary(bad.hung), second = gt_binary(bad.behind);
	struct drm_tessera_job behind = gt_job(bad.queue, NULL);

	ktap_eq(gt_kick(&c, bad.queue, cs, &first), 0);
	behind.signals = GT_ARRAY(&second, 1);
	ktap_eq(gt_submit(c.fd, &behind, 1), 0);
	return bad;
}

static void expect_timed_out(struct culprit *bad)
{
	struct drm_tessera_queue_get_state state;
	struct drm_tessera_job job = gt_job(bad->queue, NULL);

	ktap_eq(gt_fence_error(c.fd, bad->hung, 0), -ETIMEDOUT);
	ktap_eq(gt_fence_error(c.fd, bad->behind, 0), -ECANCELED);
	state = gt_queue_state(c.fd, bad->queue);
	ktap_eq(state.state, DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_TIMEDOUT);
	ktap_eq(state.error, ETIMEDOUT);
	ktap_eq(state.reset_count, 1);
	ktap_eq(state.jobs_completed, 0);
	ktap_eq(gt_submit(c.fd, &job, 1), -ECANCELED);
	gt_queue_destroy(c.fd, bad->queue);
	gt_syncobj_free(c.fd, bad->hung);
	gt_syncobj_free(c.fd, bad->behind);
}

/*
 * One verified copy on the context's queue; false when it failed or differs. The stream is made
 * once, since those of the culprits are still in use and must not be reused.
 */
static bool good_round(unsigned int round)
{
	uint32_t *from = gt_data(&c, 0x20000), *to = gt_data(&c, 0x20000 + CHUNK);
	static struct gt_cs cs;
	unsigned int i;

	if (!cs.count) {
		cs = gt_stream(&c, 4);
		GT_EMIT(&cs, copy_linear, .src = gt_data_va(0x20000),
			.dst = gt_data_va(0x20000 + CHUNK), .size = CHUNK);
	}
	for (i = 0; i < CHUNK / 4; i++)
		from[i] = i * 2654435761u ^ round;
	memset(to, 0, CHUNK);
	return gt_run(&c, &cs) == 0 && !memcmp(from, to, CHUNK);
}

/*
 * Three culprits at once, one of which is innocent: it blocks as long as they do, but its value
 * comes.
 */
static void hang_of_some(void)
{
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd), after;
	struct gt_cs never = gt_stream(&c, 3), loop = gt_stream(&c, 8),
		     never_wide = gt_stream(&c, 6);
	volatile uint64_t *words = gt_data(&c, 0);
	unsigned int rounds = 0, wrong = 0;
	struct culprit bad[3];

	memset((void *)words, 0, 64);
	GT_EMIT(&never, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&never_wide, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(16),
		.value = 1);
	GT_EMIT(&never_wide, wait, .op = TSR_COMPARE_GE, .wide = true, .addr = gt_data_va(8),
		.value = 1);
	GT_EMIT(&loop, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(24), .value = 1);
	GT_EMIT(&loop, jump, .addr = loop.va, .size = 48);
	bad[0] = start_culprit(&never);
	bad[1] = start_culprit(&never_wide);
	bad[2] = start_culprit(&loop);
	while (!gt_syncobj_done(c.fd, bad[0].hung, 0) ||
	       !gt_syncobj_done(c.fd, bad[1].hung, 0) ||
	       !gt_syncobj_done(c.fd, bad[2].hung, 0)) {
		wrong += !good_round(rounds++);
		if (rounds > 20000)
			break;
	}
	ktap_ok(rounds > 50);
	ktap_eq(wrong, 0);
	expect_timed_out(&bad[0]);
	expect_timed_out(&bad[1]);
	expect_timed_out(&bad[2]);
	ktap_eq(words[2], 1);
	ktap_ok(good_round(1));
	ktap_eq(gt_queue_state(c.fd, c.queue).state, 0);
	ktap_eq(gt_queue_state(c.fd, c.queue).reset_count, 0);
	after = gt_gpu_state(c.fd);
	ktap_eq(after.queue_reset_count, before.queue_reset_count + 3);
	ktap_eq(after.reset_count, before.reset_count);
	ktap_eq(after.flags, 0);
}

/* Long jobs are no hangs: a queue that waits for others, or is merely slow, is left alone. */
static void slow_is_not_hung(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY),
		 timeline = gt_syncobj(c.fd, false);
	struct gt_cs gate = gt_stream(&c, 3);
	struct drm_tessera_sync sync = gt_point(timeline, 1), done = gt_binary(c.sync);
	struct drm_tessera_job job = gt_job(queue, NULL);
	volatile uint64_t *words = gt_data(&c, 0);
	uint64_t start = gt_now_ns();
	unsigned int step = 0;

	/*
	 * A job in blocked steps, each well below the timeout, that together take longer: it
	 * makes progress all the time.
	 */
	gate = gt_stream(&c, 3 * 12);
	memset((void *)words, 0, 64);
	for (step = 1; step <= 12; step++)
		GT_EMIT(&gate, wait, .op = TSR_COMPARE_GE, .addr = gt_data_va(0), .value = step);
	ktap_eq(gt_kick(&c, c.queue, &gate, &sync), 0);
	job.waits = GT_ARRAY(&sync, 1); /* a job that only waits for the other queue */
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	for (step = 1; step <= 12; step++) {
		while (gt_now_ns() - start < step * 200000000ULL)
			gt_sleep_ms(20);
		words[0] = step;
	}
	ktap_eq(gt_fence_error(c.fd, timeline, 1), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(gt_queue_state(c.fd, c.queue).state, 0);
	ktap_eq(gt_queue_state(c.fd, queue).state, 0);
	gt_syncobj_free(c.fd, timeline);
	gt_queue_destroy(c.fd, queue);
}

/*
 * A job whose value arrives late is taken for hung, and is done before its slot stops. It keeps its
 * success, and the next job, which was never diagnosed, does not get the error instead.
 */
static void ends_before_its_slot(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct drm_tessera_sync late = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_sync behind = gt_binary(gt_syncobj(c.fd, false));
	struct gt_cs fill = gt_stream(&c, 8), never = gt_stream(&c, 3);
	unsigned int slot = gt_slot(c.fd, queue);
	struct drm_tessera_queue_get_state state;
	char rules[120];

	/* It is found out after 2 to 3 s, and the slot stops after 1.9 s more. */
	snprintf(rules, sizeof(rules),
		 "fence-late queue=%u job=1 delay=3400ms; stop-stuck queue=%u delay=1900ms", slot,
		 slot);
	*(volatile uint64_t *)gt_data(&c, 0) = 0;
	GT_EMIT(&fill, fill_linear, .texel = 8, .dst = gt_data_va(64), .size = 64);
	GT_EMIT(&never, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	ktap_eq(gt_inject(rules), 0);
	ktap_eq(gt_kick(&c, queue, &fill, &late), 0);
	ktap_eq(gt_kick(&c, queue, &never, &behind), 0);
	ktap_eq(gt_fence_error(c.fd, late.handle, 0), 0);
	ktap_eq(gt_fence_error(c.fd, behind.handle, 0), -ECANCELED);
	state = gt_queue_state(c.fd, queue);
	ktap_eq(state.state, DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_TIMEDOUT);
	ktap_eq(state.jobs_completed, 1);
	ktap_eq(gt_inject("clear"), 0);
	gt_queue_destroy(c.fd, queue);
	gt_syncobj_free(c.fd, late.handle);
	gt_syncobj_free(c.fd, behind.handle);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[SYS7] queues that hang are reset alone, others stay bit-exact", hang_of_some);
	ktap_run("[SYS7] a slow job is not a hang", slow_is_not_hung);
	ktap_run("[SYS7] a job that ends before its slot stops is not blamed",
		 ends_before_its_slot);
	gt_ctx_free(&c);
	return gt_finish();
}
