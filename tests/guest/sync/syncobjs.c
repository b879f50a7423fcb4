// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * Explicit synchronization: binary and timeline objects, sync files and processes in every order;
 * VM_BIND in between.
 */
#include "gt_main.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#define WIN_VA	0x40000000ULL

static struct gt_ctx c;
static uint32_t other;		/* a second queue of the context's VM */
static volatile uint64_t *words;	/* [0] gate, [1] first result, [2] second result */

/* A stream that waits for the gate, then stores @value in word @index. */
static struct gt_cs gated(unsigned int index, uint64_t value)
{
	struct gt_cs cs = gt_stream(&c, 6);

	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .wide = true, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(index * 8),
		.value = value);
	return cs;
}

/* A stream that copies word @from to word @to. */
static struct gt_cs copies(unsigned int from, unsigned int to)
{
	struct gt_cs cs = gt_stream(&c, 4);

	GT_EMIT(&cs, copy_linear, .src = gt_data_va(from * 8), .dst = gt_data_va(to * 8),
		.size = 8);
	return cs;
}

static void reset_words(void)
{
	memset((void *)words, 0, 256);
}

static int submit_one(uint32_t queue, const struct gt_cs *cs, const struct drm_tessera_sync *wait,
		      const struct drm_tessera_sync *signal)
{
	struct drm_tessera_job job = gt_job(queue, cs);

	job.waits = GT_ARRAY(wait, !!wait);
	job.signals = GT_ARRAY(signal, !!signal);
	return gt_submit(c.fd, &job, 1);
}

/* One way to let a job on one queue wait for a job on another. */
struct order {
	const char *name;
	uint64_t signal_point;	/* 0: binary */
	uint64_t wait_point;
};

static const struct order orders[] = {
	{ "binary signal, binary wait", 0, 0 },
	{ "point 1 signalled, point 1 waited for", 1, 1 },
	{ "point 100 signalled, point 3 waited for", 100, 3 },
	{ "a point above 2^32", 1ULL << 40, 1ULL << 40 },
};

static void cross_queue(const void *arg)
{
	const struct order *o = arg;
	uint32_t handle = gt_syncobj(c.fd, false);
	struct drm_tessera_sync signal = o->signal_point ? gt_point(handle, o->signal_point)
							 : gt_binary(handle);
	struct drm_tessera_sync wait = o->wait_point ? gt_point(handle, o->wait_point)
						     : gt_binary(handle);
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct gt_cs first = gated(1, 0x77), second = copies(1, 2);

	reset_words();
	ktap_eq(submit_one(other, &second, &wait, &done),
		-EINVAL); /* wait before signal is refused */
	ktap_eq(submit_one(c.queue, &first, NULL, &signal), 0);
	ktap_eq(submit_one(other, &second, &wait, &done), 0);
	ktap_ok(!gt_syncobj_done(c.fd, c.sync, 0));
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(words[2], 0x77);
	gt_syncobj_free(c.fd, handle);
}

/* The CPU signals what the GPU waits for, binary and timeline, before the wait. */
static void cpu_signals(void)
{
	uint32_t binary = gt_syncobj(c.fd, true), timeline = gt_syncobj(c.fd, false);
	struct drm_tessera_sync waits[] = { gt_binary(binary), gt_point(timeline, 7) },
				done = gt_binary(c.sync);
	struct gt_cs cs = gated(1, 5);
	struct drm_tessera_job job = gt_job(c.queue, &cs);

	reset_words();
	words[0] = 1;
	job.waits = GT_ARRAY(waits, 2);
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), -EINVAL);
	ktap_eq(gt_syncobj_signal(c.fd, timeline, 6), 0);
	ktap_eq(gt_submit(c.fd, &job, 1), -EINVAL);	/* 6 < 7: still nothing there */
	ktap_eq(gt_syncobj_signal(c.fd, timeline, 9), 0);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(words[1], 5);
	gt_syncobj_free(c.fd, binary);
	gt_syncobj_free(c.fd, timeline);
}

/* A stream that waits for word @gate, then stores 1 in word @index. */
static struct gt_cs behind_gate(unsigned int gate, unsigned int index)
{
	struct gt_cs cs = gt_stream(&c, 6);

	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .wide = true, .addr = gt_data_va(gate * 8),
		.value = 1);
	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(index * 8), .value = 1);
	return cs;
}

#define WAITS 3

/* A job waits for all that it names, by syncobjs or in one SUBMIT; @order: which end when. */
static void waits_for_all(const uint32_t *queue, const uint32_t *handle, const uint8_t *order,
			  bool one_submit)
{
	struct drm_tessera_sync syncs[WAITS], done = gt_binary(c.sync);
	struct drm_tessera_job jobs[WAITS + 1];
	struct gt_cs cs[WAITS + 1];
	unsigned int i;

	reset_words();
	for (i = 0; i < WAITS; i++) {
		syncs[i] = gt_binary(handle[i]);
		cs[i] = behind_gate(4 + i, 1 + i);
		jobs[i] = gt_job(queue[i], &cs[i]);
		jobs[i].signals = GT_ARRAY(&syncs[i], 1);
	}
	cs[WAITS] = copies(1 + order[WAITS - 1], 12);
	jobs[WAITS] = gt_job(c.queue, &cs[WAITS]);
	jobs[WAITS].signals = GT_ARRAY(&done, 1);
	if (one_submit) {
		jobs[WAITS].after = (1 << WAITS) - 1;
		ktap_eq(gt_submit(c.fd, jobs, WAITS + 1), 0);
	} else {
		jobs[WAITS].waits = GT_ARRAY(syncs, WAITS);
		ktap_eq(gt_submit(c.fd, jobs, WAITS), 0);
		ktap_eq(gt_submit(c.fd, &jobs[WAITS], 1), 0);
	}
	for (i = 0; i < WAITS; i++) {
		gt_sleep_ms(20);
		ktap_ok(!gt_syncobj_done(c.fd, c.sync, 0));
		words[4 + order[i]] = 1;
		ktap_eq(gt_fence_error(c.fd, handle[order[i]], 0), 0);
	}
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(words[12], 1);
}

static void several_waits(void)
{
	static const uint8_t orders[][WAITS] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 0, 2 } };
	uint32_t queue[WAITS], handle[WAITS];
	unsigned int i;

	for (i = 0; i < WAITS; i++) {
		queue[i] = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
		handle[i] = gt_syncobj(c.fd, false);
	}
	for (i = 0; i < 2 * GT_ARRAY_SIZE(orders); i++)
		waits_for_all(queue, handle, orders[i / 2], i % 2);
	for (i = 0; i < WAITS; i++) {
		gt_queue_destroy(c.fd, queue[i]);
		gt_syncobj_free(c.fd, handle[i]);
	}
}

/* A binary syncobj takes the newest fence; an earlier waiter keeps the one it took. */
static void binary_is_replaced(void)
{
	uint32_t handle = gt_syncobj(c.fd, false);
	struct drm_tessera_sync sync = gt_binary(handle), done = gt_binary(c.sync);
	struct gt_cs quick = copies(10, 11), slow = gated(1, 1), after = copies(10, 12);

	reset_words();
	words[10] = 0x1010;
	ktap_eq(submit_one(c.queue, &quick, NULL, &sync), 0);
	ktap_eq(submit_one(other, &after, &sync, &done), 0);	/* waits for the quick job */
	ktap_eq(submit_one(c.queue, &slow, NULL, &sync), 0);	/* replaces its fence */
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(words[12], 0x1010);
	ktap_ok(!gt_syncobj_done(c.fd, handle, 0));
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, handle, 0), 0);
	gt_syncobj_free(c.fd, handle);
}

/* Points on one timeline by two queues; the query shows what is reached, never more. */
static void timeline_by_two_queues(void)
{
	uint32_t handle = gt_syncobj(c.fd, false);
	unsigned int i;

	reset_words();
	words[0] = 1;
	for (i = 1; i <= 40; i++) {
		struct drm_tessera_sync wait = gt_point(handle, i - 1),
					signal = gt_point(handle, i);
		struct gt_cs cs = gt_stream(&c, 6);

		GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .wide = true, .addr = gt_data_va(24),
			.value = i - 1);
		GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE,
			.wide = true, .addr = gt_data_va(24), .value = 1);
		ktap_eq(submit_one(i & 1 ? c.queue : other, &cs, i > 1 ? &wait : NULL, &signal), 0);
		ktap_ok(gt_syncobj_point(c.fd, handle) <= i);
	}
	ktap_eq(gt_fence_error(c.fd, handle, 40), 0);
	ktap_eq(gt_syncobj_point(c.fd, handle), 40);
	ktap_eq(words[3], 40);
	gt_syncobj_free(c.fd, handle);
}

/* As many syncs as advertised, on both sides of a job. */
static void many_syncs(void)
{
	uint32_t n = gt_gpu_info(c.fd).max_syncs, i;
	struct drm_tessera_sync *waits, *signals;
	struct drm_tessera_job job = gt_job(c.queue, NULL);
	uint32_t timeline = gt_syncobj(c.fd, false), result = gt_syncobj(c.fd, false);

	if (n > 1024)
		n = 1024;
	waits = calloc(n, sizeof(*waits));
	signals = calloc(n, sizeof(*signals));
	ktap_eq(gt_syncobj_signal(c.fd, timeline, n), 0);
	for (i = 0; i < n; i++) {
		waits[i] = gt_point(timeline, i + 1);
		signals[i] = gt_point(result, i + 1);
	}
	job.waits = GT_ARRAY(waits, n);
	job.signals = GT_ARRAY(signals, n);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_eq(gt_fence_error(c.fd, result, n), 0);
	ktap_eq(gt_syncobj_point(c.fd, result), n);
	gt_syncobj_free(c.fd, timeline);
	gt_syncobj_free(c.fd, result);
	free(waits);
	free(signals);
}

/* A job's fence as a sync_file: pending, pollable, importable, waited for by another job. */
static void sync_files(void)
{
	uint32_t handle = gt_syncobj(c.fd, false), imported = gt_syncobj(c.fd, false);
	struct drm_tessera_sync signal = gt_binary(handle), wait = gt_binary(imported),
				done = gt_binary(c.sync);
	struct gt_cs first = gated(1, 0x99), second = copies(1, 2);
	struct pollfd file = { .events = POLLIN };

	reset_words();
	ktap_eq(submit_one(c.queue, &first, NULL, &signal), 0);
	KTAP_REQUIRE(!drmSyncobjExportSyncFile(c.fd, handle, &file.fd));
	ktap_eq(poll(&file, 1, 20), 0);
	ktap_eq(drmSyncobjImportSyncFile(c.fd, imported, file.fd), 0);
	ktap_eq(submit_one(other, &second, &wait, &done), 0);
	words[0] = 1;
	ktap_eq(poll(&file, 1, GT_TIMEOUT_MS), 1);
	ktap_eq(words[1], 0x99);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(words[2], 0x99);
	close(file.fd);
	gt_syncobj_free(c.fd, handle);
	gt_syncobj_free(c.fd, imported);
}

/* A point moves to a binary object and back to another timeline, with the same fence under it. */
static void transfer(void)
{
	uint32_t a = gt_syncobj(c.fd, false), b = gt_syncobj(c.fd, false),
		 t = gt_syncobj(c.fd, false);
	struct drm_tessera_sync signal = gt_point(a, 5), wait = gt_point(t, 2),
				done = gt_binary(c.sync);
	struct gt_cs first = gated(1, 0x55), second = copies(1, 2);

	reset_words();
	ktap_eq(submit_one(c.queue, &first, NULL, &signal), 0);
	ktap_eq(drmSyncobjTransfer(c.fd, b, 0, a, 5, 0), 0);
	ktap_eq(drmSyncobjTransfer(c.fd, t, 2, b, 0, 0), 0);
	ktap_eq(submit_one(other, &second, &wait, &done), 0);
	ktap_ok(!gt_syncobj_done(c.fd, b, 0));
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(words[2], 0x55);
	gt_syncobj_free(c.fd, a);
	gt_syncobj_free(c.fd, b);
	gt_syncobj_free(c.fd, t);
}

/*
 * The child signals on its own file, VM and queue; the parent's job waits for it through the shared
 * object.
 */
static void cross_process(void)
{
	uint32_t handle = gt_syncobj(c.fd, false);
	struct drm_tessera_sync wait = gt_point(handle, 3), done = gt_binary(c.sync);
	struct gt_cs cs = copies(4, 5);
	int shared, status, pipes[2];
	char byte;
	pid_t pid;

	reset_words();
	words[4] = 0x4444;
	ktap_eq(drmSyncobjHandleToFD(c.fd, handle, &shared), 0);
	ktap_eq(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		struct gt_ctx own = gt_ctx();
		uint32_t mine;
		struct gt_cs stream = gt_stream(&own, 3);
		struct drm_tessera_sync signal;
		int errors;

		errors = drmSyncobjFDToHandle(own.fd, shared, &mine) != 0;
		signal = gt_point(mine, 3);
		GT_EMIT(&stream, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
		errors += gt_kick(&own, own.queue, &stream, &signal) != 0;
		errors += write(pipes[1], "x", 1) != 1;
		gt_sleep_ms(30);
		*(volatile uint32_t *)gt_data(&own, 0) = 1;
		errors += gt_fence_error(own.fd, mine, 3) != 0;
		_exit(errors);
	}
	ktap_eq(read(pipes[0], &byte, 1), 1);
	ktap_eq(submit_one(c.queue, &cs, &wait, &done), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(words[5], 0x4444);
	waitpid(pid, &status, 0);
	ktap_eq(status, 0);
	close(shared);
	close(pipes[0]);
	close(pipes[1]);
	gt_syncobj_free(c.fd, handle);
}

/*
 * An asynchronous bind gates a submit: the job needs the mapping, and the bind waits for a gated
 * job.
 */
static void bind_gates_submit(void)
{
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
	struct drm_tessera_bind_op op = gt_op_map(bo.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	struct drm_tessera_sync go = gt_binary(gt_syncobj(c.fd, false)),
				bound = gt_point(gt_syncobj(c.fd, false), 1);
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct gt_cs first = gated(1, 1), second = gt_stream(&c, 4);

	reset_words();
	*(uint64_t *)bo.map = 0xb0b0;
	GT_EMIT(&second, copy_linear, .src = WIN_VA, .dst = gt_data_va(16), .size = 8);
	ktap_eq(submit_one(c.queue, &first, NULL, &go), 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, &op, 1, &go, &bound), 0);
	ktap_eq(submit_one(other, &second, &bound, &done), 0);
	ktap_eq(gt_syncobj_wait(c.fd, c.sync, 0, 20), -ETIME);
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(words[2], 0xb0b0);
	op = gt_op_unmap(WIN_VA, GT_PAGE);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	gt_syncobj_free(c.fd, go.handle);
	gt_syncobj_free(c.fd, bound.handle);
	gt_bo_free(&bo);
}

/* A submit gates an asynchronous unmap: the job still sees the mapping, and afterwards it is gone.
 */
static void submit_gates_bind(void)
{
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
	struct drm_tessera_bind_op op = gt_op_unmap(WIN_VA, GT_PAGE);
	struct drm_tessera_sync used = gt_binary(gt_syncobj(c.fd, false)),
				gone = gt_binary(gt_syncobj(c.fd, false));
	struct gt_cs cs = gt_stream(&c, 8);

	reset_words();
	*(uint64_t *)bo.map = 0xc0c0;
	gt_bo_bind(&bo, c.vm, WIN_VA, GT_RW);
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .wide = true, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&cs, copy_linear, .src = WIN_VA, .dst = gt_data_va(16), .size = 8);
	ktap_eq(submit_one(c.queue, &cs, NULL, &used), 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, &op, 1, &used, &gone), 0);
	gt_bo_free(&bo);		/* the mapping holds the memory until it is gone */
	ktap_eq(gt_syncobj_wait(c.fd, gone.handle, 0, 20), -ETIME);
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, used.handle, 0), 0);
	ktap_eq(words[2], 0xc0c0);
	ktap_eq(gt_fence_error(c.fd, gone.handle, 0), 0);
	cs = gt_stream(&c, 4);
	GT_EMIT(&cs, copy_linear, .src = WIN_VA, .dst = gt_data_va(16), .size = 8);
	ktap_eq(gt_run(&c, &cs), -EFAULT);
	gt_renew_queue(&c);
	gt_syncobj_free(c.fd, used.handle);
	gt_syncobj_free(c.fd, gone.handle);
}

/* Binds of one VM apply in the order of their ioctls, also when only the first is told to wait. */
static void binds_in_order(void)
{
	struct gt_bo bos[2] = { gt_bo(c.fd, GT_PAGE, 0), gt_bo(c.fd, GT_PAGE, 0) };
	struct drm_tessera_sync go = gt_binary(gt_syncobj(c.fd, false)), done = gt_binary(c.sync);
	struct gt_cs first = gated(1, 1), second = gt_stream(&c, 4);
	struct drm_tessera_bind_op undo;
	unsigned int i;

	reset_words();
	ktap_eq(submit_one(c.queue, &first, NULL, &go), 0);
	for (i = 0; i < 8; i++) {
		struct drm_tessera_bind_op op =
			gt_op_map(bos[i & 1].handle, WIN_VA, GT_PAGE, 0, GT_RW);

		((uint64_t *)bos[i & 1].map)[0] = 0xd0 + (i & 1);
		ktap_eq(gt_bind_async(c.fd, c.vm, &op, 1, i ? NULL : &go, i == 7 ? &done : NULL),
			0);
	}
	ktap_eq(gt_syncobj_wait(c.fd, c.sync, 0, 20), -ETIME);
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	GT_EMIT(&second, copy_linear, .src = WIN_VA, .dst = gt_data_va(16), .size = 8);
	ktap_eq(gt_run(&c, &second), 0);
	ktap_eq(words[2], 0xd1);
	undo = gt_op_unmap(WIN_VA, GT_PAGE);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &undo, 1), 0);
	gt_syncobj_free(c.fd, go.handle);
	gt_bo_free(&bos[0]);
	gt_bo_free(&bos[1]);
}

static void on_alarm(int signal)
{
	(void)signal;
}

/*
 * A synchronous bind that waits for an asynchronous one before it is interrupted by a signal:
 * EINTR, nothing has changed, and the same call works afterwards.
 */
static void bind_interrupted(void)
{
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
	struct drm_tessera_bind_op op = gt_op_map(bo.handle, WIN_VA, GT_PAGE, 0, GT_RW);
	struct drm_tessera_vm_bind bind = { .vm_id = c.vm, .ops = GT_ARRAY(&op, 1) };
	struct drm_tessera_sync go = gt_binary(gt_syncobj(c.fd, false));
	/* Again and again: the first may come before the bind has begun. */
	struct itimerval soon = { { .tv_usec = 50000 }, { .tv_usec = 50000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = on_alarm };
	struct gt_cs first = gated(1, 1), second = gt_stream(&c, 4);

	reset_words();
	*(uint64_t *)bo.map = 0xe1e1;
	sigaction(SIGALRM, &action, NULL);
	ktap_eq(submit_one(c.queue, &first, NULL, &go), 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, NULL, 0, &go, NULL), 0);
	setitimer(ITIMER_REAL, &soon, NULL);
	ktap_eq(ioctl(c.fd, DRM_IOCTL_TESSERA_VM_BIND, &bind), -1);
	ktap_eq(errno, EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, go.handle, 0), 0);
	GT_EMIT(&second, copy_linear, .src = WIN_VA, .dst = gt_data_va(16), .size = 8);
	ktap_eq(gt_run(&c, &second), -EFAULT);
	gt_renew_queue(&c);
	ktap_eq(ioctl(c.fd, DRM_IOCTL_TESSERA_VM_BIND, &bind), 0);
	ktap_eq(gt_run(&c, &second), 0);
	ktap_eq(words[2], 0xe1e1);
	op = gt_op_unmap(WIN_VA, GT_PAGE);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	gt_syncobj_free(c.fd, go.handle);
	gt_bo_free(&bo);
}

/* A syncobj is destroyed while a job is to signal it and another waits for it. */
static void destroyed_in_flight(void)
{
	uint32_t handle = gt_syncobj(c.fd, false);
	struct drm_tessera_sync sync = gt_binary(handle), done = gt_binary(c.sync);
	struct gt_cs first = gated(1, 0x31), second = copies(1, 2);

	reset_words();
	ktap_eq(submit_one(c.queue, &first, NULL, &sync), 0);
	ktap_eq(submit_one(other, &second, &sync, &done), 0);
	gt_syncobj_free(c.fd, handle);
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(words[2], 0x31);
}

int main(int argc, char **argv)
{
	char name[120];
	size_t i;

	gt_start(argc, argv);
	c = gt_ctx();
	other = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	words = gt_data(&c, 0);
	for (i = 0; i < GT_ARRAY_SIZE(orders); i++) {
		snprintf(name, sizeof(name), "queue to queue: %s", orders[i].name);
		ktap_run_arg(name, cross_queue, &orders[i]);
	}
	ktap_run("jobs wait for what the CPU has signalled", cpu_signals);
	ktap_run("[SYS4] a job waits for all jobs it names, whichever ends first", several_waits);
	ktap_run("a binary syncobj takes the newest fence", binary_is_replaced);
	ktap_run("one timeline driven by two queues", timeline_by_two_queues);
	ktap_run("the largest arrays of syncs", many_syncs);
	ktap_run("fences as sync files: poll, export, import", sync_files);
	ktap_run("points transferred between objects", transfer);
	ktap_run("[SYS4] a syncobj shared by two processes", cross_process);
	ktap_run("an asynchronous bind gates a submit", bind_gates_submit);
	ktap_run("a submit gates an asynchronous unbind", submit_gates_bind);
	ktap_run("binds of one VM keep their order", binds_in_order);
	ktap_run("a synchronous VM_BIND can be interrupted", bind_interrupted);
	ktap_run("a syncobj destroyed in flight", destroyed_in_flight);
	gt_ctx_free(&c);
	return gt_finish();
}
