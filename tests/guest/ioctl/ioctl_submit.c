// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/* SUBMIT: each field bad once, no side effect of a failure, and the order of jobs inside one call.
 */
#include "gt_main.h"

#include <stdlib.h>
#include <unistd.h>

#include "gt_bad.h"

static struct gt_ctx c;

/* A stream that leaves @value at data offset @offset. */
static struct gt_cs store(uint64_t offset, uint64_t value)
{
	struct gt_cs cs = gt_stream(&c, 3);

	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(offset),
		.value = value);
	return cs;
}

static void bad_fields(void)
{
	struct drm_tessera_gpu_info info = gt_gpu_info(c.fd);
	struct gt_cs cs = store(0, 1);
	struct drm_tessera_job jobs[2] = { gt_job(c.queue, &cs), gt_job(c.queue, &cs) };
	struct drm_tessera_submit submit = { .jobs = GT_ARRAY(jobs, 2) };
	const struct gt_call call = GT_CALL(c.fd, SUBMIT, submit);
	const struct gt_bad rows[] = {
		GT_BAD(submit.pad, 1, EINVAL),
		GT_BAD(submit.pad, 1u << 31, EINVAL),
		GT_BAD(jobs[1].queue_id, 0, ENOENT),
		GT_BAD(jobs[1].queue_id, c.queue + 65536, ENOENT),
		GT_BAD(jobs[1].queue_id, UINT32_MAX, ENOENT),
		GT_BAD(jobs[1].cmd_va, 0, EINVAL),
		GT_BAD(jobs[1].cmd_va, cs.va + 8, EINVAL),
		GT_BAD(jobs[1].cmd_va, cs.va + 32, EINVAL),
		GT_BAD(jobs[1].cmd_va, cs.va + 63, EINVAL),
		GT_BAD(jobs[1].cmd_va, info.va_end, EINVAL),
		GT_BAD(jobs[1].cmd_va, 1ULL << 63, EINVAL),
		GT_BAD(jobs[1].cmd_va, UINT64_MAX - 63, EINVAL),
		GT_BAD(jobs[1].cmd_size, 0, EINVAL),
		GT_BAD(jobs[1].cmd_size, 4, EINVAL),
		GT_BAD(jobs[1].cmd_size, 7, EINVAL),
		GT_BAD(jobs[1].cmd_size, 25, EINVAL),
		GT_BAD(jobs[1].cmd_size, DRM_TESSERA_CMD_SIZE_MAX + 8, EINVAL),
		GT_BAD(jobs[1].cmd_size, UINT32_MAX & ~7u, EINVAL),
		GT_BAD(jobs[1].heap_id, 1, EINVAL), /* a copy job has no heap */
		GT_BAD(jobs[1].heap_id, UINT32_MAX, EINVAL),
		GT_BAD(jobs[1].perfmon_id, 1, ENOENT),
		GT_BAD(jobs[1].perfmon_id, UINT32_MAX, ENOENT),
		GT_BAD(jobs[1].after, 1ULL << 1, EINVAL),
		GT_BAD(jobs[1].after, 1ULL << 2, EINVAL),
		GT_BAD(jobs[1].after, 1ULL << 63, EINVAL),
		GT_BAD(jobs[0].after, 1ULL << 0, EINVAL),
		GT_BAD(jobs[0].after, 1ULL << 1, EINVAL),
		GT_BAD(jobs[1].pad, 1, EINVAL),
		GT_BAD(jobs[1].pad, 1u << 31, EINVAL),
	};

	GT_BAD_ROWS(&call, rows);
	gt_bad_bits(&call, "flags", &submit.flags, 0);
	gt_bad_bits(&call, "jobs[1].flags", &jobs[1].flags, 0);
	gt_bad_array(&call, "jobs", &submit.jobs, sizeof(jobs[0]), info.max_jobs);
}

/* Jobs that may have a heap name one that does not exist. */
static void bad_heap(void)
{
	uint32_t queue;
	struct drm_tessera_job job = { .heap_id = 1 };

	if (gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_BIN, DRM_TESSERA_PRIORITY_NORMAL, 0,
			 &queue)) {
		ktap_skip("the device has no BIN engine");
		return;
	}
	job.queue_id = queue;
	ktap_eq(gt_submit(c.fd, &job, 1), -ENOENT);
	gt_queue_destroy(c.fd, queue);
}

static void bad_range(void)
{
	struct drm_tessera_gpu_info info = gt_gpu_info(c.fd);
	struct drm_tessera_job job = { .queue_id = c.queue,
				       .cmd_va = info.va_end - 64,
				       .cmd_size = 64 };

	job.cmd_size = 72;
	ktap_eq(gt_submit(c.fd, &job, 1), -EINVAL);
	if (info.va_start >= 64) {
		job.cmd_va = info.va_start - 64;
		ktap_eq(gt_submit(c.fd, &job, 1), -EINVAL);
	}
}

static void bad_syncs(void)
{
	uint32_t done = gt_syncobj(c.fd, true), unsubmitted = gt_syncobj(c.fd, false);
	struct drm_tessera_sync wait = gt_binary(done), signal = gt_binary(gt_syncobj(c.fd, false));
	struct gt_cs cs = store(0, 1);
	struct drm_tessera_job job = gt_job(c.queue, &cs);
	struct drm_tessera_submit submit = { .jobs = GT_ARRAY(&job, 1) };
	const struct gt_call call = GT_CALL(c.fd, SUBMIT, submit);
	uint32_t limit = gt_gpu_info(c.fd).max_syncs;

	job.waits = GT_ARRAY(&wait, 1);
	job.signals = GT_ARRAY(&signal, 1);
	gt_bad_sync(&call, &wait, true, unsubmitted);
	gt_bad_sync(&call, &signal, false, 0);
	gt_bad_array(&call, "waits", &job.waits, sizeof(wait), limit);
	gt_bad_array(&call, "signals", &job.signals, sizeof(signal), limit);
	gt_syncobj_free(c.fd, done);
	gt_syncobj_free(c.fd, unsubmitted);
	gt_syncobj_free(c.fd, signal.handle);
}

/* The first job is good and signals, the second one is not: nothing runs, nothing is signalled. */
static void no_side_effect(void)
{
	volatile uint64_t *word = gt_data(&c, 0);
	struct gt_cs good = store(0, 0xbad), after = store(8, 1);
	struct drm_tessera_sync binary = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_sync timeline = gt_point(gt_syncobj(c.fd, false), 3);
	struct drm_tessera_sync signals[] = { binary, timeline };
	struct drm_tessera_job jobs[2] = { gt_job(c.queue, &good), gt_job(c.queue, &good) };
	struct gt_cs before = store(8, 0);
	uint64_t completed;
	unsigned int i;

	ktap_eq(gt_run(&c, &before), 0);	/* what others have submitted is done as well */
	completed = gt_queue_state(c.fd, c.queue).jobs_completed;
	*word = 0;
	jobs[0].signals = GT_ARRAY(signals, 2);
	for (i = 0; i < 4; i++) {
		jobs[1] = gt_job(c.queue, &good);
		if (i == 0)
			jobs[1].pad = 1;
		else if (i == 1)
			jobs[1].queue_id += 65536;
		else if (i == 2)
			jobs[1].after = 2;
		else
			jobs[1].waits = (struct drm_tessera_array){ .ptr = 8,
								    .count = 1,
								    .stride = sizeof(binary) };
		ktap_ok(gt_submit(c.fd, jobs, 2) < 0);
	}
	ktap_eq(gt_run(&c, &after), 0);
	ktap_eq(*word, 0);
	ktap_eq(gt_queue_state(c.fd, c.queue).jobs_completed, completed + 1);
	ktap_eq(gt_syncobj_point(c.fd, timeline.handle), 0);
	ktap_ok(!gt_syncobj_done(c.fd, binary.handle, 0));
	jobs[0] = gt_job(c.queue, &after);
	jobs[0].waits = GT_ARRAY(&binary, 1);
	ktap_eq(gt_submit(c.fd, jobs, 1), -EINVAL);	/* still nobody has submitted for it */
	gt_syncobj_free(c.fd, binary.handle);
	gt_syncobj_free(c.fd, timeline.handle);
}

static void different_vms(void)
{
	uint32_t vm = gt_vm(c.fd), queue = gt_queue(c.fd, vm, DRM_TESSERA_ENGINE_COPY);
	struct drm_tessera_job jobs[] = { gt_job(c.queue, NULL), gt_job(queue, NULL) };

	ktap_eq(gt_submit(c.fd, jobs, 2), -EINVAL);
	ktap_eq(gt_submit(c.fd, jobs, 1), 0);
	ktap_eq(gt_submit(c.fd, jobs + 1, 1), 0);
	gt_queue_destroy(c.fd, queue);
	gt_vm_destroy(c.fd, vm);
}

static void other_files_queue(void)
{
	int other = gt_open();
	struct drm_tessera_job job = gt_job(c.queue, NULL);

	ktap_eq(gt_submit(other, &job, 1), -ENOENT);
	close(other);
}

static void empty_submit(void)
{
	struct drm_tessera_submit submit = { 0 };

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_SUBMIT, &submit), 0);
	submit.jobs.ptr = 8;		/* ignored with count 0, as is the stride */
	submit.jobs.stride = 3;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_SUBMIT, &submit), 0);
}

/* A job without commands is a barrier with a fence of its own. */
static void barrier_job(void)
{
	volatile uint64_t *word = gt_data(&c, 0);
	struct gt_cs cs = store(0, 42);
	struct drm_tessera_sync signal = gt_binary(c.sync);
	struct drm_tessera_job jobs[] = { gt_job(c.queue, &cs), gt_job(c.queue, NULL) };

	*word = 0;
	jobs[1].signals = GT_ARRAY(&signal, 1);
	ktap_eq(gt_submit(c.fd, jobs, 2), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(*word, 42);
}

/*
 * A chain over many queues, only by `after`: job n copies word n-1 to word n, so a job that starts
 * early copies zero. The first job is held back by a WAIT until all are submitted.
 */
static void after_chain(void)
{
	enum { QUEUES = 8 };
	uint32_t n = gt_gpu_info(c.fd).max_jobs, i, queues[QUEUES];
	uint64_t *words = gt_data(&c, 0x1000);
	struct drm_tessera_sync signal = gt_binary(c.sync);
	struct drm_tessera_job jobs[DRM_TESSERA_MAX_JOBS];

	memset(words, 0, GT_PAGE);
	for (i = 0; i < QUEUES; i++)
		queues[i] = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	for (i = 0; i < n; i++) {
		struct gt_cs cs = gt_stream(&c, 8);

		if (!i) {
			GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0x1ff8),
				.value = 1);
			GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0x1000),
				.value = 7);
		} else {
			GT_EMIT(&cs, copy_linear, .src = gt_data_va(0x1000 + (i - 1) * 8),
				.dst = gt_data_va(0x1000 + i * 8), .size = 8);
		}
		jobs[i] = gt_job(queues[i % QUEUES], &cs);
		jobs[i].after = i ? 1ULL << (i - 1) : 0;
	}
	jobs[n - 1].signals = GT_ARRAY(&signal, 1);
	ktap_eq(gt_submit(c.fd, jobs, n), 0);
	ktap_ok(!gt_syncobj_done(c.fd, c.sync, 0));
	((volatile uint32_t *)words)[0xff8 / 4] = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	for (i = 0; i < n; i++)
		ktap_eq(words[i], 7);
	for (i = 0; i < QUEUES; i++)
		gt_queue_destroy(c.fd, queues[i]);
}

/* A job waits in the same SUBMIT for what an earlier one signals, by binary handle and by point. */
static void wait_on_earlier_job(void)
{
	uint32_t other = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY),
		 timeline = gt_syncobj(c.fd, false);
	struct drm_tessera_sync binary = gt_binary(gt_syncobj(c.fd, false)),
				point = gt_point(timeline, 9);
	struct drm_tessera_sync done = gt_binary(c.sync);
	volatile uint64_t *words = gt_data(&c, 0x2000);
	struct gt_cs first = gt_stream(&c, 8), second = gt_stream(&c, 4), third = gt_stream(&c, 4);
	struct drm_tessera_job jobs[3];

	memset((void *)words, 0, 64);
	GT_EMIT(&first, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0x2020), .value = 1);
	GT_EMIT(&first, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0x2000), .value = 5);
	GT_EMIT(&second, copy_linear, .src = gt_data_va(0x2000), .dst = gt_data_va(0x2008),
		.size = 8);
	GT_EMIT(&third, copy_linear, .src = gt_data_va(0x2008), .dst = gt_data_va(0x2010),
		.size = 8);
	jobs[0] = gt_job(c.queue, &first);
	jobs[0].signals = GT_ARRAY(&binary, 1);
	jobs[1] = gt_job(other, &second);
	jobs[1].waits = GT_ARRAY(&binary, 1);
	jobs[1].signals = GT_ARRAY(&point, 1);
	jobs[2] = gt_job(c.queue, &third);
	jobs[2].waits = GT_ARRAY(&point, 1);
	jobs[2].signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, jobs, 3), 0);
	words[4] = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(words[1], 5);
	ktap_eq(words[2], 5);
	ktap_eq(gt_syncobj_point(c.fd, timeline), 9);
	gt_syncobj_free(c.fd, binary.handle);
	gt_syncobj_free(c.fd, timeline);
	gt_queue_destroy(c.fd, other);
}

/*
 * A timeline point implies all points before it, also within one SUBMIT: a wait for point 5 is met
 * by the job that signals 7, and not before the job that signals 3 has ended.
 */
static void wait_below_signal(void)
{
	uint32_t other = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY),
		 third = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY),
		 timeline = gt_syncobj(c.fd, false);
	struct drm_tessera_sync three = gt_point(timeline, 3), seven = gt_point(timeline, 7),
				nine = gt_point(timeline, 9), five = gt_point(timeline, 5),
				done = gt_binary(c.sync);
	volatile uint64_t *words = gt_data(&c, 0x2000);
	struct gt_cs first = gt_stream(&c, 8), second = gt_stream(&c, 8), last = gt_stream(&c, 4);
	struct drm_tessera_job jobs[4];

	memset((void *)words, 0, 64);
	GT_EMIT(&first, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0x2020), .value = 1);
	GT_EMIT(&first, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0x2000), .value = 3);
	GT_EMIT(&second, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0x2028), .value = 1);
	GT_EMIT(&second, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0x2008),
		.value = 7);
	GT_EMIT(&last, copy_linear, .src = gt_data_va(0x2000), .dst = gt_data_va(0x2010),
		.size = 16);
	jobs[0] = gt_job(c.queue, &first);
	jobs[0].signals = GT_ARRAY(&three, 1);
	jobs[1] = gt_job(other, &second);
	jobs[1].signals = GT_ARRAY(&seven, 1);
	jobs[2] = gt_job(third, &last);
	jobs[2].waits = GT_ARRAY(&five, 1);
	jobs[2].signals = GT_ARRAY(&done, 1);
	jobs[3] = gt_job(other, NULL);
	jobs[3].signals = GT_ARRAY(&nine, 1);
	ktap_eq(gt_submit(c.fd, jobs, 4), 0);
	words[5] = 1;
	gt_sleep_ms(20);
	ktap_ok(!gt_syncobj_done(c.fd, c.sync, 0));	/* point 3 is not done */
	words[4] = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(words[2], 3);
	ktap_eq(words[3], 7);
	ktap_eq(gt_syncobj_wait(c.fd, timeline, 9, GT_TIMEOUT_MS), 0);
	gt_syncobj_free(c.fd, timeline);
	gt_queue_destroy(c.fd, other);
	gt_queue_destroy(c.fd, third);
}

/* A job waits for the lowest point that satisfies it, from before the ioctl or in it. */
static void wait_lowest_point(void)
{
	uint32_t other = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY),
		 timeline = gt_syncobj(c.fd, false), early = gt_syncobj(c.fd, false);
	struct drm_tessera_sync four = gt_point(timeline, 4), seven = gt_point(timeline, 7),
				wait = gt_point(timeline, 3), past = gt_point(timeline, 8),
				done = gt_binary(early), end = gt_binary(c.sync);
	volatile uint64_t *words = gt_data(&c, 0x2000);
	struct gt_cs held = gt_stream(&c, 4);
	struct drm_tessera_job job = gt_job(other, NULL), jobs[2];

	memset((void *)words, 0, 64);
	job.signals = GT_ARRAY(&four, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	GT_EMIT(&held, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0x2020), .value = 1);
	jobs[0] = gt_job(c.queue, &held);
	jobs[0].signals = GT_ARRAY(&seven, 1);
	jobs[1] = gt_job(other, NULL);
	jobs[1].waits = GT_ARRAY(&wait, 1);
	jobs[1].signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, jobs, 2), 0);
	ktap_eq(gt_syncobj_wait(c.fd, early, 0, GT_TIMEOUT_MS), 0);	/* 4 is done, 7 is not */
	ktap_ok(!gt_syncobj_done(c.fd, timeline, 7));
	words[4] = 1;
	jobs[0].signals = GT_ARRAY(&end, 1);
	ktap_eq(gt_submit(c.fd, jobs, 1), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	jobs[0] = gt_job(c.queue, NULL);
	jobs[0].signals = GT_ARRAY(&seven, 1);
	jobs[1].waits = GT_ARRAY(&past, 1);
	ktap_eq(gt_submit(c.fd, jobs, 2), -EINVAL);	/* nobody signals 8 or more */
	gt_syncobj_free(c.fd, timeline);
	gt_syncobj_free(c.fd, early);
	gt_queue_destroy(c.fd, other);
}

/*
 * A later job of the array cannot be waited for: the rule is "nearest earlier job, else what was
 * there before".
 */
static void wait_on_later_job(void)
{
	struct drm_tessera_sync sync = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_job jobs[] = { gt_job(c.queue, NULL), gt_job(c.queue, NULL) };

	jobs[0].waits = GT_ARRAY(&sync, 1);
	jobs[1].signals = GT_ARRAY(&sync, 1);
	ktap_eq(gt_submit(c.fd, jobs, 2), -EINVAL);
	ktap_ok(!gt_syncobj_done(c.fd, sync.handle, 0));
	jobs[0].signals = GT_ARRAY(&sync, 1);
	ktap_eq(gt_submit(c.fd, jobs, 1), -EINVAL);	/* waits for what it signals itself */
	gt_syncobj_free(c.fd, sync.handle);
}

/* Jobs that begin and end beside it must not make it wait for the job timeout. */
static void fault_noticed(void)
{
	struct gt_cs good = gt_stream(&c, 8), bad = gt_stream(&c, 8);
	struct drm_tessera_sync done = gt_binary(c.sync);
	uint64_t start, longest = 0;
	unsigned int timeout, late = 0;
	char text[16] = "";

	gt_read_file("/sys/module/tessera/parameters/job_timeout_ms", text, sizeof(text));
	timeout = atoi(text);
	GT_EMIT(&good, fill_linear, .texel = 4, .dst = gt_data_va(0), .size = 64, .pattern_lo = 1);
	gt_cs_word(&bad, 0x77);
	for (unsigned int i = 0; i < 20; i++) {
		uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
		struct drm_tessera_job jobs[] = { gt_job(queue, &good), gt_job(queue, &bad),
						  gt_job(queue, &good) };

		jobs[1].signals = GT_ARRAY(&done, 1);
		start = gt_now_ns();
		ktap_eq(gt_submit(c.fd, jobs, 3), 0);
		ktap_eq(gt_fence_error(c.fd, c.sync, 0), -EINVAL);
		start = (gt_now_ns() - start) / 1000000;
		longest = start > longest ? start : longest;
		late += start >= timeout;
		gt_queue_destroy(c.fd, queue);
	}
	printf("# the longest took %llu ms, %u as long as the job timeout\n",
	       (unsigned long long)longest, late);
	ktap_eq(late, 0);
}

/*
 * As many jobs, waits and signals as there can be. To look for each wait at each signal before it
 * would be 4e9 comparisons, longer than this program may take. The signals are of many timelines,
 * because DRM walks over all points of a timeline that are pending when it adds one.
 */
#define TIMELINES	16u	/* of each job */

static void all_syncs(void)
{
	const struct drm_tessera_gpu_info info = gt_gpu_info(c.fd);
	const uint32_t past = gt_syncobj(c.fd, false), syncs = info.max_syncs;
	uint32_t future[DRM_TESSERA_MAX_JOBS][TIMELINES];
	struct drm_tessera_sync *waits = calloc(info.max_jobs * syncs, sizeof(*waits));
	struct drm_tessera_sync *signals = calloc(info.max_jobs * syncs, sizeof(*signals));
	struct drm_tessera_job *jobs = calloc(info.max_jobs, sizeof(*jobs));

	ktap_eq(gt_syncobj_signal(c.fd, past, 1ull << 40), 0);
	for (uint32_t j = 0; j < info.max_jobs; j++) {
		struct drm_tessera_sync *wait = waits + j * syncs, *signal = signals + j * syncs;

		for (uint32_t i = 0; i < TIMELINES; i++)
			future[j][i] = gt_syncobj(c.fd, false);
		for (uint32_t i = 0; i < syncs; i++) {
			wait[i] = gt_point(past, i + 1);
			signal[i] = gt_point(future[j][i % TIMELINES], i / TIMELINES + 1);
		}
		if (j)
			wait[syncs / 2] = signal[-1];
		jobs[j] = gt_job(c.queue, NULL);
		jobs[j].waits = GT_ARRAY(wait, syncs);
		jobs[j].signals = GT_ARRAY(signal, syncs);
	}
	ktap_eq(gt_submit(c.fd, jobs, info.max_jobs), 0);
	for (uint32_t i = info.max_jobs * TIMELINES; i-- > 0;) {
		uint32_t *last = &future[i / TIMELINES][i % TIMELINES];

		ktap_eq(gt_fence_error(c.fd, *last, syncs / TIMELINES), 0);
		ktap_eq(gt_syncobj_point(c.fd, *last), syncs / TIMELINES);
		gt_syncobj_free(c.fd, *last);
	}
	gt_syncobj_free(c.fd, past);
	free(jobs);
	free(signals);
	free(waits);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	bad_fields();
	ktap_run("[SYS3] SUBMIT of a BIN job with an unknown heap fails with ENOENT", bad_heap);
	ktap_run("[SYS3] SUBMIT of a stream beyond the address range fails with EINVAL", bad_range);
	bad_syncs();
	ktap_run("a SUBMIT that fails runs nothing and signals nothing", no_side_effect);
	ktap_run("SUBMIT with jobs of two VMs fails with EINVAL", different_vms);
	ktap_run("[SYS4] SUBMIT to a queue of another file fails with ENOENT", other_files_queue);
	ktap_run("SUBMIT of nothing", empty_submit);
	ktap_run("a job without commands is a barrier", barrier_job);
	ktap_run("`after` orders a chain over eight queues", after_chain);
	ktap_run("jobs wait for syncobjs that earlier jobs of the call signal",
		 wait_on_earlier_job);
	ktap_run("[SYS7] a fault between jobs that end is noticed at once", fault_noticed);
	ktap_run("a wait is met by a later point of the call, and the points before it",
		 wait_below_signal);
	ktap_run("a wait takes the lowest point that is enough", wait_lowest_point);
	ktap_run("jobs cannot wait for later jobs of the call", wait_on_later_job);
	ktap_run("as many jobs and syncs as there can be", all_syncs);
	gt_ctx_free(&c);
	return gt_finish();
}
