// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=240
 * test: KERNEL_ARGS=tessera.sched=engine;tessera.sched_slots=2;tessera.job_timeout_ms=1000
 */
/*
 * The backend "engine" with two slots and one job on each ring: more queues than slots, more VMs
 * than address spaces, priorities, a flood, and queues that hang.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdlib.h>

#include "gt_flood.h"

#define QUEUES		1000
#define VMS		150	/* more than the device has address spaces */
#define JOBS		3
#define STREAM		256	/* bytes of a stream in a buffer of many */
#define PAGES(bytes)	(((bytes) + GT_PAGE - 1) / GT_PAGE * GT_PAGE)
#define BIG_CMD_VA	0x40000000ULL
#define BIG_DATA_VA	0x50000000ULL

/* A stream at a fixed place of a buffer. */
static struct gt_cs stream_at(const struct gt_bo *bo, unsigned int index)
{
	return (struct gt_cs){
		.words = (uint64_t *)((char *)bo->map + index * STREAM),
		.va = bo->va + index * STREAM,
		.room = STREAM / 8,
	};
}

/*
 * Job n of a queue copies the queue's word to its own, and writes n + 1 to it. The copies are
 * 0, 1, 2 ... if the jobs ran in order and once each.
 */
static void thousand_queues(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_bo cmd = gt_bo(c.fd, PAGES(QUEUES * JOBS * STREAM), 0);
	struct gt_bo data = gt_bo(c.fd, PAGES(QUEUES * (JOBS + 1) * 8), DRM_TESSERA_BO_CACHED);
	uint32_t *queue = calloc(QUEUES, sizeof(*queue)), *sync = calloc(QUEUES, sizeof(*sync));
	uint64_t *words = data.map;
	unsigned int i, j, wrong = 0, errors = 0;

	gt_bo_bind(&cmd, c.vm, BIG_CMD_VA, GT_RWX);
	gt_bo_bind(&data, c.vm, BIG_DATA_VA, GT_RW);
	for (i = 0; i < QUEUES; i++) {
		queue[i] = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
		sync[i] = gt_syncobj(c.fd, false);
	}
	for (j = 0; j < JOBS; j++) {
		for (i = 0; i < QUEUES; i++) {
			uint64_t va = BIG_DATA_VA + i * (JOBS + 1) * 8;
			struct gt_cs cs = stream_at(&cmd, i * JOBS + j);
			struct drm_tessera_sync signal = gt_binary(sync[i]);

			GT_EMIT(&cs, copy_linear, .src = va, .dst = va + (j + 1) * 8, .size = 8);
			GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = va,
				.value = j + 1);
			errors += gt_kick(&c, queue[i], &cs, j == JOBS - 1 ? &signal : NULL) != 0;
		}
	}
	for (i = 0; i < QUEUES; i++) {
		errors += gt_fence_error(c.fd, sync[i], 0) != 0;
		errors += gt_queue_state(c.fd, queue[i]).jobs_completed != JOBS;
		for (j = 0; j < JOBS; j++)
			wrong += words[i * (JOBS + 1) + j + 1] != j;
	}
	ktap_eq(errors, 0);
	ktap_eq(wrong, 0);
	for (i = 0; i < QUEUES; i++)
		ktap_eq(gt_queue_destroy(c.fd, queue[i]), 0);
	free(queue);
	free(sync);
	gt_bo_free(&cmd);
	gt_bo_free(&data);
	gt_ctx_free(&c);
}

/* Each VM maps memory of its own at the same address, and each of its jobs copies a word there. */
static void many_vms(void)
{
	struct gt_bo *data = calloc(VMS, sizeof(*data));
	uint32_t queue[VMS], vm[VMS], sync[VMS];
	struct gt_ctx c = gt_ctx();
	struct gt_cs cs = gt_stream(&c, 4);
	unsigned int round, i, wrong = 0;

	GT_EMIT(&cs, copy_linear, .src = BIG_DATA_VA, .dst = BIG_DATA_VA + 8, .size = 8);
	for (i = 0; i < VMS; i++) {
		struct gt_bo cmd = c.cmd;

		vm[i] = gt_vm(c.fd);
		queue[i] = gt_queue(c.fd, vm[i], DRM_TESSERA_ENGINE_COPY);
		sync[i] = gt_syncobj(c.fd, false);
		data[i] = gt_bo(c.fd, GT_PAGE, DRM_TESSERA_BO_CACHED);
		gt_bo_bind(&cmd, vm[i], GT_CMD_VA, GT_RWX);
		gt_bo_bind(&data[i], vm[i], BIG_DATA_VA, GT_RW);
	}
	for (round = 1; round <= 3; round++) {
		for (i = 0; i < VMS; i++) {
			struct drm_tessera_sync signal = gt_binary(sync[i]);

			((uint64_t *)data[i].map)[0] = round << 16 | i;
			wrong += gt_kick(&c, queue[i], &cs, &signal) != 0;
		}
		for (i = 0; i < VMS; i++) {
			wrong += gt_fence_error(c.fd, sync[i], 0) != 0;
			wrong += ((uint64_t *)data[i].map)[1] != (round << 16 | i);
		}
	}
	ktap_eq(wrong, 0);
	for (i = 0; i < VMS; i++) {
		gt_queue_destroy(c.fd, queue[i]);
		gt_vm_destroy(c.fd, vm[i]);
		gt_bo_free(&data[i]);
	}
	free(data);
	gt_ctx_free(&c);
}

/* A job that begins, counts itself, and waits for word 0. */
static void start_waiter(struct gt_ctx *c, uint32_t queue, uint64_t count_va, uint32_t sync)
{
	struct drm_tessera_sync signal = gt_binary(sync);
	struct gt_cs cs = gt_stream(c, 8);

	GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .addr = count_va, .value = 1);
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	ktap_eq(gt_kick(c, queue, &cs, &signal), 0);
}

/* Both slots are busy. Of the waiting jobs the one with the highest priority runs first. */
static void priorities(void)
{
	enum { OTHERS = 8 };
	struct gt_ctx c = gt_ctx();
	volatile uint64_t *words = gt_data(&c, 0);
	uint32_t queue, done[OTHERS + 1], busy[2];
	unsigned int i;

	memset((void *)words, 0, 256);
	for (i = 0; i < 2; i++) {
		busy[i] = gt_syncobj(c.fd, false);
		start_waiter(&c, gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY), gt_data_va(8),
			     busy[i]);
	}
	ktap_ok(gt_spin_until((uint64_t *)&words[1], 2, GT_TIMEOUT_MS));
	for (i = 0; i <= OTHERS; i++) {
		uint32_t priority = i < OTHERS ? DRM_TESSERA_PRIORITY_LOW :
						 DRM_TESSERA_PRIORITY_HIGH;
		struct gt_cs cs = gt_stream(&c, 8);
		struct drm_tessera_sync signal;

		done[i] = gt_syncobj(c.fd, false);
		signal = gt_binary(done[i]);
		ktap_eq(gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY, priority, 0, &queue), 0);
		GT_EMIT(&cs, copy_linear, .src = gt_data_va(16), .dst = gt_data_va(64 + i * 8),
			.size = 8);
		GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE,
			.addr = gt_data_va(16), .value = 1);
		ktap_eq(gt_kick(&c, queue, &cs, &signal), 0);
	}
	words[0] = 1;
	for (i = 0; i < 2; i++)
		ktap_eq(gt_fence_error(c.fd, busy[i], 0), 0);
	for (i = 0; i <= OTHERS; i++)
		ktap_eq(gt_fence_error(c.fd, done[i], 0), 0);
	ktap_eq(words[2], OTHERS + 1);
	ktap_ok(words[8 + OTHERS] <= 1);
	gt_ctx_free(&c);
}

/* A job waits until the job of another queue is done, and not only until that is on a ring. */
static void dependency(void)
{
	struct gt_ctx c = gt_ctx();
	volatile uint64_t *words = gt_data(&c, 0);
	uint32_t first = gt_syncobj(c.fd, false), second = gt_syncobj(c.fd, false);
	struct drm_tessera_sync wait = gt_binary(first), signal = gt_binary(second);
	struct gt_cs cs = gt_stream(&c, 4);
	struct drm_tessera_job job;

	memset((void *)words, 0, 64);
	start_waiter(&c, c.queue, gt_data_va(8), first);
	GT_EMIT(&cs, copy_linear, .src = gt_data_va(0), .dst = gt_data_va(16), .size = 8);
	job = gt_job(gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY), &cs);
	job.waits = GT_ARRAY(&wait, 1);
	job.signals = GT_ARRAY(&signal, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_ok(gt_spin_until((uint64_t *)&words[1], 1, GT_TIMEOUT_MS));
	ktap_eq(gt_syncobj_wait(c.fd, second, 0, 100), -ETIME);
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, second, 0), 0);
	ktap_eq(words[2], 1);
	gt_ctx_free(&c);
}

static void no_starvation(void)
{
	struct gt_ctx c = gt_ctx();

	flood(&c, 20);
	gt_ctx_free(&c);
}

/*
 * Two hanging queues occupy both slots, twice. Jobs of other queues wait, and then all of them run:
 * a slot that a hang has cost would show here.
 */
static void hangs(void)
{
	enum { OTHERS = 20, ROUNDS = 2 };
	struct gt_ctx c = gt_ctx();
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd), after;
	uint32_t queue, bad[2], hung[2], behind[2], done[OTHERS];
	volatile uint64_t *words = gt_data(&c, 0);
	struct gt_cs add = gt_stream(&c, 8);
	struct drm_tessera_sync signal;
	unsigned int i, round;

	memset((void *)words, 0, 64);
	GT_EMIT(&add, signal, .op = TSR_SIGNAL_OP_ADD, .addr = gt_data_va(16), .value = 1);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 2; i++) {
			bad[i] = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
			hung[i] = gt_syncobj(c.fd, false);
			behind[i] = gt_syncobj(c.fd, false);
			start_waiter(&c, bad[i], gt_data_va(8), hung[i]);
			signal = gt_binary(behind[i]);
			ktap_eq(gt_kick(&c, bad[i], &add, &signal), 0);
		}
		for (i = 0; i < OTHERS; i++) {
			queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
			done[i] = gt_syncobj(c.fd, false);
			signal = gt_binary(done[i]);
			ktap_eq(gt_kick(&c, queue, &add, &signal), 0);
		}
		for (i = 0; i < 2; i++) {
			ktap_eq(gt_fence_error(c.fd, hung[i], 0), -ETIMEDOUT);
			ktap_eq(gt_fence_error(c.fd, behind[i], 0), -ECANCELED);
			ktap_eq(gt_queue_state(c.fd, bad[i]).state,
				DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_TIMEDOUT);
			ktap_eq(gt_queue_state(c.fd, bad[i]).reset_count, 1);
		}
		for (i = 0; i < OTHERS; i++)
			ktap_eq(gt_fence_error(c.fd, done[i], 0), 0);
		ktap_eq(words[2], (round + 1) * OTHERS);
	}
	ktap_eq(words[1], 2 * ROUNDS);
	after = gt_gpu_state(c.fd);
	ktap_eq(after.reset_count, before.reset_count);
	ktap_eq(after.queue_reset_count, before.queue_reset_count + 2 * ROUNDS);

	/* Both slots are still there: two jobs are inside them at the same time. */
	for (i = 0; i < 2; i++)
		start_waiter(&c, gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY), gt_data_va(24),
			     hung[i]);
	ktap_ok(gt_spin_until((uint64_t *)&words[3], 2, GT_TIMEOUT_MS));
	words[0] = 1;
	for (i = 0; i < 2; i++)
		ktap_eq(gt_fence_error(c.fd, hung[i], 0), 0);
	gt_ctx_free(&c);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("1,000 queues on two slots: all jobs run, in order for each queue",
		 thousand_queues);
	ktap_run("more VMs than address spaces: a slot that changes its VM sees only that",
		 many_vms);
	ktap_run("the priority of a queue decides which waiting job runs first", priorities);
	ktap_run("a job waits for the end of another queue's job", dependency);
	ktap_run("a flood on three queues does not starve another queue", no_starvation);
	ktap_run("hangs on all slots cost the others time only", hangs);
	return gt_finish();
}
