// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 */
/*
 * Rings: wrapping, full rings, a ring filled behind a blocked queue, ten thousand jobs over 16
 * queues and 4 processes.
 */
#include "gt_main.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gt_ctx c;

static uint32_t smallest_ring(uint32_t vm)
{
	uint32_t queue;
	int ret = gt_queue_try(c.fd, vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL,
			       1 << TSR_RING_LOG2_MIN, &queue);

	if (ret)
		gt_die("no queue with the smallest ring: %s", strerror(-ret));
	return queue;
}

/*
 * Each job adds one, so a job that ran twice or not at all shows in the sum whenever the CPU has
 * reached a point.
 */
static void wrap(void)
{
	enum { JOBS = 4000, BATCH = 50 };
	volatile uint64_t *sum = gt_data(&c, 0);
	uint32_t queue = smallest_ring(c.vm), timeline = gt_syncobj(c.fd, false);
	struct gt_cs cs = gt_stream(&c, 3);
	unsigned int i, j;

	*sum = 0;
	GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE, .wide = true,
		.addr = gt_data_va(0), .value = 1);
	for (i = 0; i < JOBS; i += BATCH) {
		struct drm_tessera_sync sync = gt_point(timeline, i / BATCH + 1);
		struct drm_tessera_job jobs[BATCH];

		for (j = 0; j < BATCH; j++)
			jobs[j] = gt_job(queue, &cs);
		jobs[BATCH - 1].signals = GT_ARRAY(&sync, 1);
		if (!ktap_eq(gt_submit(c.fd, jobs, BATCH), 0))
			break;
		if (i / BATCH % 16 == 15) {	/* the count is exact whenever a point is reached */
			ktap_eq(gt_fence_error(c.fd, timeline, i / BATCH + 1), 0);
			ktap_eq(*sum, i + BATCH);
		}
	}
	ktap_eq(gt_fence_error(c.fd, timeline, JOBS / BATCH), 0);
	ktap_eq(*sum, JOBS);
	ktap_eq(gt_queue_state(c.fd, queue).jobs_completed, JOBS);
	gt_syncobj_free(c.fd, timeline);
	gt_queue_destroy(c.fd, queue);
}

/*
 * Jobs with one, two and three streams' worth of padding between them, so that every offset meets
 * the end of the ring.
 */
static void wrap_every_offset(void)
{
	enum { JOBS = 1500 };
	volatile uint64_t *last = gt_data(&c, 8);
	uint32_t queue = smallest_ring(c.vm);
	struct drm_tessera_sync done = gt_binary(c.sync);
	unsigned int i;

	for (i = 1; i <= JOBS; i++) {
		struct gt_cs cs = gt_stream(&c, 3);
		struct drm_tessera_job jobs[3] = { gt_job(queue, &cs), gt_job(queue, NULL),
						   gt_job(queue, NULL) };
		unsigned int n = 1 + i % 3;

		GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(8), .value = i);
		jobs[0] = gt_job(queue, &cs);
		if (i % 10 == 0)
			jobs[n - 1].signals = GT_ARRAY(&done, 1);
		if (!ktap_eq(gt_submit(c.fd, jobs, n), 0))
			break;
		if (i % 10 == 0) {
			ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
			ktap_eq(*last, i);
		}
	}
	gt_queue_destroy(c.fd, queue);
}

/*
 * A ring fills up behind a blocked job; more is accepted than fits; another queue goes on; then all
 * run, in order.
 */
static void filled_behind_blocked(void)
{
	enum { JOBS = 600 };
	volatile uint64_t *words = gt_data(&c, 0x100);
	uint32_t queue = smallest_ring(c.vm), other = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	uint32_t timeline = gt_syncobj(c.fd, false);
	struct gt_cs gate = gt_stream(&c, 3), cs;
	unsigned int i;

	memset((void *)words, 0, 32);
	GT_EMIT(&gate, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0x100), .value = 1);
	ktap_eq(gt_kick(&c, queue, &gate, NULL), 0);
	for (i = 1; i <= JOBS; i++) {
		struct drm_tessera_sync sync = gt_point(timeline, i);

		/* Runs only in its turn: the word must be i - 1 when the job comes to it. */
		cs = gt_stream(&c, 6);
		GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .wide = true, .addr = gt_data_va(0x108),
			.value = i - 1);
		GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE,
			.wide = true, .addr = gt_data_va(0x108), .value = 1);
		if (!ktap_eq(gt_kick(&c, queue, &cs, &sync), 0))
			break;
	}
	for (i = 0; i < 20; i++) {
		cs = gt_stream(&c, 3);
		GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE,
			.wide = true, .addr = gt_data_va(0x110), .value = 1);
		ktap_eq(gt_run_on(&c, other, &cs), 0);
	}
	ktap_eq(words[2], 20);
	ktap_eq(words[1], 0);
	ktap_eq(gt_syncobj_point(c.fd, timeline), 0);
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, timeline, JOBS), 0);
	ktap_eq(words[1], JOBS);
	ktap_eq(gt_queue_state(c.fd, queue).jobs_completed, JOBS + 1);
	gt_syncobj_free(c.fd, timeline);
	gt_queue_destroy(c.fd, queue);
	gt_queue_destroy(c.fd, other);
}

#define FILES		4
#define EACH		14	/* queues of each, besides its context's own */

/* @jobs jobs on a new queue of @f, which wait for @gate of its file; sums[@gate] counts them. */
static uint32_t blocked_queue(struct gt_ctx *f, unsigned int gate, unsigned int jobs,
			      uint32_t *timeline)
{
	uint32_t queue = gt_queue(f->fd, f->vm, DRM_TESSERA_ENGINE_COPY);
	unsigned int j;

	*timeline = gt_syncobj(f->fd, false);
	for (j = 1; j <= jobs; j++) {
		struct drm_tessera_sync sync = gt_point(*timeline, j);
		struct gt_cs cs = gt_stream(f, 6);

		GT_EMIT(&cs, wait, .op = TSR_COMPARE_GE, .addr = gt_data_va(0x2000 + gate * 4),
			.value = 1);
		GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE,
			.wide = true, .addr = gt_data_va(0x4000 + gate * 8), .value = j);
		ktap_eq(gt_kick(f, queue, &cs, &sync), 0);
	}
	return queue;
}

/*
 * Nearly every queue there is, each blocked, each with a filled ring; released in reverse order. No
 * user may have that many, so two share them.
 */
static void all_queues_blocked(void)
{
	enum { JOBS = 5 };
	struct gt_ctx file[FILES];
	uint32_t queues[FILES][EACH], timeline[FILES][EACH];
	unsigned int n, i;

	for (n = 0; n < FILES; n++) {
		file[n] = gt_ctx_on(gt_open_as(n & 1 ? 1000 : getuid()));
		memset(gt_data(&file[n], 0x2000), 0, GT_PAGE);
		memset(gt_data(&file[n], 0x4000), 0, GT_PAGE);
		for (i = 0; i < EACH; i++)
			queues[n][i] = blocked_queue(&file[n], i, JOBS, &timeline[n][i]);
	}
	for (n = FILES; n--;) {
		volatile uint32_t *gates = gt_data(&file[n], 0x2000);
		volatile uint64_t *sums = gt_data(&file[n], 0x4000);

		for (i = EACH; i--;) {
			ktap_eq(sums[i], 0);
			gates[i] = 1;
			ktap_eq(gt_fence_error(file[n].fd, timeline[n][i], JOBS), 0);
			ktap_eq(sums[i], JOBS * (JOBS + 1) / 2);
			gt_queue_destroy(file[n].fd, queues[n][i]);
			gt_syncobj_free(file[n].fd, timeline[n][i]);
		}
		gt_ctx_free(&file[n]);
	}
}

#define PROCESSES	4
#define QUEUES		4
#define PER_QUEUE	625	/* 4 x 4 x 625 = 10 000 */
#define BATCH		25

/* The word of job @job of queue @queue before and after: the copy moves it. */
static uint64_t tag(unsigned int process, unsigned int queue, unsigned int job)
{
	return 0xa5a5000000000000ULL | (uint64_t)process << 40 | (uint64_t)queue << 32 |
	       (job * 2654435761u);
}

/*
 * One process: its own file, VM and queues; each job copies one word of its own. The exit status is
 * the number of errors.
 */
static int many_jobs(unsigned int process)
{
	struct gt_ctx own = gt_ctx();
	uint64_t *words = gt_data(&own, 0), errors = 0;
	uint32_t queues[QUEUES], timeline[QUEUES];
	unsigned int q, i, j;

	for (q = 0; q < QUEUES; q++) {
		queues[q] = gt_queue(own.fd, own.vm, DRM_TESSERA_ENGINE_COPY);
		timeline[q] = gt_syncobj(own.fd, false);
		for (i = 0; i < PER_QUEUE; i++)
			words[q * PER_QUEUE + i] = tag(process, q, i);
	}
	for (i = 0; i < PER_QUEUE; i += BATCH) {
		for (q = 0; q < QUEUES; q++) {
			struct drm_tessera_job jobs[BATCH];
			struct drm_tessera_sync sync = gt_point(timeline[q], i + BATCH);

			if (i >=
			    4 * BATCH) /* streams come round after 4096 jobs; stay well inside */
				errors += gt_fence_error(own.fd, timeline[q], i - 3 * BATCH) != 0;
			for (j = 0; j < BATCH; j++) {
				uint64_t at = (q * PER_QUEUE + i + j) * 8ULL;
				struct gt_cs cs = gt_stream(&own, 4);

				GT_EMIT(&cs, copy_linear, .src = gt_data_va(at),
					.dst = gt_data_va(0x80000 + at), .size = 8);
				jobs[j] = gt_job(queues[q], &cs);
			}
			jobs[BATCH - 1].signals = GT_ARRAY(&sync, 1);
			errors += gt_submit(own.fd, jobs, BATCH) != 0;
		}
	}
	for (q = 0; q < QUEUES; q++) {
		errors += gt_fence_error(own.fd, timeline[q], PER_QUEUE) != 0;
		errors += gt_queue_state(own.fd, queues[q]).jobs_completed != PER_QUEUE;
		for (i = 0; i < PER_QUEUE; i++)
			errors += words[0x80000 / 8 + q * PER_QUEUE + i] != tag(process, q, i);
	}
	gt_ctx_free(&own);
	return errors > 100 ? 100 : errors;
}

static void ten_thousand(void)
{
	pid_t pids[PROCESSES];
	unsigned int i;

	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(many_jobs(i));
	}
	for (i = 0; i < PROCESSES; i++) {
		int status = -1;

		ktap_eq(waitpid(pids[i], &status, 0), pids[i]);
		ktap_eq(status, 0);
	}
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[CP1] 4000 jobs through the smallest ring", wrap);
	ktap_run("[CP1] the ring wraps at every offset", wrap_every_offset);
	ktap_run("[CP1] a ring fills behind a blocked job, another queue goes on",
		 filled_behind_blocked);
	ktap_run("[CP1] [CP7] blocked queues of four files, released in reverse",
		 all_queues_blocked);
	ktap_run("[SYS4] [CP1] 10 000 jobs over 16 queues and 4 processes", ten_thousand);
	gt_ctx_free(&c);
	return gt_finish();
}
