// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=240
 * test: KERNEL_ARGS=tessera.sched=engine;tessera.sched_slots=2;tessera.sched_depth=4
 */
/*
 * The backend "engine" with rings of four jobs: jobs that had not begun before a reset of the
 * device run afterwards, and once; a queue that wants a slot gets one although others could fill
 * their rings for ever.
 */
#include "gt_main.h"

#include <errno.h>

#include "gt_recover.h"
#include "gt_flood.h"

/* Submit a job that adds one to word @word and then, if @waits, never ends. Returns its syncobj. */
static uint32_t start(struct gt_ctx *c, uint32_t queue, unsigned int word, bool waits)
{
	struct drm_tessera_sync signal = gt_binary(gt_syncobj(c->fd, false));
	struct gt_cs cs = gt_stream(c, 8);

	GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .addr = gt_data_va(word * 8), .value = 1);
	if (waits)
		GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	ktap_eq(gt_kick(c, queue, &cs, &signal), 0);
	return signal.handle;
}

/*
 * The first two jobs of the queue never end. Each of two resets finds one of them begun. The last
 * job is put on the ring three times and runs once.
 */
static void emitted_again(void)
{
	struct gt_ctx c = gt_ctx();
	volatile uint64_t *words = gt_data(&c, 0);
	struct drm_tessera_queue_get_state state;
	uint32_t job[3];
	unsigned int i;

	memset((void *)words, 0, 64);
	for (i = 0; i < 3; i++)
		job[i] = start(&c, c.queue, 1 + i, i < 2);
	for (i = 0; i < 2; i++) {
		ktap_ok(gt_spin_until((uint64_t *)&words[1 + i], 1, GT_TIMEOUT_MS));
		ktap_eq(climb("device"), 0);
		ktap_eq(gt_fence_error(c.fd, job[i], 0), -ECANCELED);
	}
	ktap_eq(gt_fence_error(c.fd, job[2], 0), 0);
	for (i = 0; i < 3; i++)
		ktap_eq(words[1 + i], 1);
	state = gt_queue_state(c.fd, c.queue);
	ktap_eq(state.state, DRM_TESSERA_QUEUE_INNOCENT);
	ktap_eq(state.reset_count, 2);
	ktap_eq(state.jobs_completed, 1);
	ktap_ok(copy_works(&c));
	gt_ctx_free(&c);
}

/* Jobs on both rings and in the scheduler: a reset costs the two that had begun. */
static void waiting_jobs(void)
{
	enum { OTHERS = 12, JOBS = 3 };
	struct gt_ctx c = gt_ctx();
	volatile uint64_t *words = gt_data(&c, 0);
	uint32_t queue[2], begun[2], done[2 + OTHERS][JOBS];
	unsigned int i, j;

	memset((void *)words, 0, 64);
	for (i = 0; i < 2; i++) {
		queue[i] = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
		begun[i] = start(&c, queue[i], 1, true);
		for (j = 0; j < JOBS; j++)
			done[i][j] = start(&c, queue[i], 2, false);
	}
	ktap_ok(gt_spin_until((uint64_t *)&words[1], 2, GT_TIMEOUT_MS));
	for (i = 2; i < 2 + OTHERS; i++) {
		uint32_t other = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);

		for (j = 0; j < JOBS; j++)
			done[i][j] = start(&c, other, 2, false);
	}
	ktap_eq(climb("device"), 0);
	for (i = 0; i < 2; i++) {
		ktap_eq(gt_fence_error(c.fd, begun[i], 0), -ECANCELED);
		ktap_eq(gt_queue_state(c.fd, queue[i]).state, DRM_TESSERA_QUEUE_INNOCENT);
	}
	for (i = 0; i < 2 + OTHERS; i++) {
		for (j = 0; j < JOBS; j++)
			ktap_eq(gt_fence_error(c.fd, done[i][j], 0), 0);
	}
	ktap_eq(words[1], 2);
	ktap_eq(words[2], (2 + OTHERS) * JOBS);
	gt_ctx_free(&c);
}

static void no_starvation(void)
{
	struct gt_ctx c = gt_ctx();

	flood(&c, 20);
	gt_ctx_free(&c);
}

/* The scheduler of a device that is given up ends all jobs, and that of the next one runs some. */
static void given_up(void)
{
	struct gt_ctx c = gt_ctx();
	uint32_t begun, later = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY), third;
	volatile uint64_t *words = gt_data(&c, 0);
	uint32_t end[3];
	unsigned int i;

	memset((void *)words, 0, 64);
	third = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	begun = start(&c, c.queue, 1, true);
	end[0] = start(&c, c.queue, 2, false);
	end[1] = start(&c, later, 1, true);
	ktap_ok(gt_spin_until((uint64_t *)&words[1], 2, GT_TIMEOUT_MS));
	end[2] = start(&c, third, 2, false);
	ktap_eq(climb("wedged"), 0);
	ktap_eq(gt_fence_error(c.fd, begun, 0), -EIO);
	for (i = 0; i < 3; i++)
		ktap_eq(gt_fence_error(c.fd, end[i], 0), -EIO);
	ktap_eq(words[2], 0);
	gt_ctx_free(&c);
	rebind(false);
	c = gt_ctx();
	ktap_ok(copy_works(&c));
	gt_ctx_free(&c);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("[SYS7] a job that had not begun survives two resets and runs once",
		 emitted_again);
	ktap_run("[SYS7] a reset costs only jobs that had begun", waiting_jobs);
	ktap_run("a flood on three queues with deep rings does not starve another queue",
		 no_starvation);
	ktap_run("a device that is given up ends the jobs that wait for a slot", given_up);
	return gt_finish();
}
