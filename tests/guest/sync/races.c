// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 SMP=2 DEVICES=2 */
/*
 * Two CPUs, one file: threads that make, use and drop the same objects against each other. Results
 * of ioctls that race are one of two errors or success; results of the GPU are exact; the kernel
 * log stays clean (which the program checks at its end).
 */
#include "gt_main.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS	150

static struct gt_ctx c;
static atomic_bool stop;

/* Threads that run @body side by side until the first is done. */
static void run_threads(void *(* const bodies[])(void *), unsigned int count)
{
	pthread_t threads[8];
	unsigned int i;

	atomic_store(&stop, false);
	for (i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, bodies[i], (void *)(uintptr_t)i))
			gt_die("no thread");
	}
	pthread_join(threads[0], NULL);
	atomic_store(&stop, true);
	for (i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
}

static bool one_of(int got, int a, int b)
{
	return got == 0 || got == a || got == b;
}

/* Ids are small numbers: other threads guess them. */
static void *queue_maker(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		uint32_t queue;
		int ret = gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY,
				       DRM_TESSERA_PRIORITY_NORMAL, 0, &queue);
		struct drm_tessera_job job = gt_job(queue, NULL);

		if (ret)
			continue;
		ktap_ok(one_of(gt_submit(c.fd, &job, 1), -ENOENT, -ECANCELED));
		ktap_ok(one_of(gt_queue_destroy(c.fd, queue), -ENOENT, 0));
	}
	return NULL;
}

static void *queue_guesser(void *arg)
{
	struct drm_tessera_queue_get_state state = { 0 };
	uint32_t id;

	(void)arg;
	while (!atomic_load(&stop)) {
		for (id = c.queue + 1; id < c.queue + 6; id++) {
			struct drm_tessera_job job = gt_job(id, NULL);

			state.queue_id = id;
			ktap_ok(one_of(gt_submit(c.fd, &job, 1), -ENOENT, -ECANCELED));
			ktap_ok(one_of(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_QUEUE_GET_STATE, &state),
				       -ENOENT, 0));
			ktap_ok(one_of(gt_queue_destroy(c.fd, id), -ENOENT, 0));
		}
	}
	return NULL;
}

static void queues_race(void)
{
	static void *(* const bodies[])(void *) = { queue_maker, queue_guesser, queue_guesser };

	run_threads(bodies, 3);
}

static void *vm_maker(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		uint32_t vm = gt_vm(c.fd), queue;
		struct drm_tessera_bind_op op =
			gt_op_map(c.data.handle, GT_DATA_VA, GT_PAGE, 0, GT_RW);

		ktap_ok(one_of(gt_vm_bind(c.fd, vm, &op, 1), -ENOENT, 0));
		if (!gt_queue_try(c.fd, vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queue))
			gt_queue_destroy(c.fd, queue);
		ktap_ok(one_of(gt_vm_destroy(c.fd, vm), -ENOENT, 0));
	}
	return NULL;
}

static void *vm_guesser(void *arg)
{
	uint32_t id;

	(void)arg;
	while (!atomic_load(&stop)) {
		for (id = c.vm + 1; id < c.vm + 5; id++) {
			struct drm_tessera_bind_op op = gt_op_unmap(GT_DATA_VA, GT_HUGE);

			ktap_ok(one_of(gt_vm_bind(c.fd, id, &op, 1), -ENOENT, 0));
			ktap_ok(one_of(gt_bind_async(c.fd, id, &op, 1, NULL, NULL), -ENOENT, 0));
			ktap_ok(one_of(gt_vm_destroy(c.fd, id), -ENOENT, 0));
		}
	}
	return NULL;
}

static void vms_race(void)
{
	static void *(* const bodies[])(void *) = { vm_maker, vm_guesser, vm_guesser };

	run_threads(bodies, 3);
}

/*
 * A BO is bound, unbound, exported and closed by two threads, while a third closes handles it
 * guesses.
 */
static void *bo_maker(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		struct drm_tessera_bind_op ops[2] = {
			{ .op = DRM_TESSERA_BIND_UNMAP_BO }, { .op = DRM_TESSERA_BIND_MAP },
		};
		uint32_t handle;

		if (gt_bo_try(c.fd, 4 * GT_PAGE, 0, 0, &handle))
			continue;
		ops[0].bo_handle = handle;
		ops[1] = gt_op_map(handle, 0x40000000, 4 * GT_PAGE, 0, GT_RW);
		ktap_ok(one_of(gt_vm_bind(c.fd, c.vm, ops, 2), -ENOENT, 0));
		ktap_ok(one_of(gt_gem_close(c.fd, handle), -EINVAL, 0));
	}
	return NULL;
}

static void *bo_guesser(void *arg)
{
	uint32_t highest = c.cmd.handle > c.data.handle ? c.cmd.handle : c.data.handle, id;

	(void)arg;
	while (!atomic_load(&stop)) {
		for (id = highest + 1; id < highest + 4; id++) {
			struct drm_tessera_bo_mmap_offset offset = { .handle = id };

			ktap_ok(one_of(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset),
				       -ENOENT, 0));
			ktap_ok(one_of(gt_gem_close(c.fd, id), -EINVAL, 0));
		}
	}
	return NULL;
}

static void bos_race(void)
{
	static void *(* const bodies[])(void *) = { bo_maker, bo_maker, bo_guesser };
	struct drm_tessera_bind_op op = gt_op_unmap(0x40000000, 4 * GT_PAGE);

	run_threads(bodies, 3);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
}

static void *adviser(void *arg)
{
	struct drm_tessera_bo_madvise advice = { .handle = *(uint32_t *)arg };
	unsigned int i;

	for (i = 0; i < 40 * ROUNDS; i++) {
		advice.madv = i & 1 ? DRM_TESSERA_MADV_WILL_NEED : DRM_TESSERA_MADV_DONT_NEED;
		if (!ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &advice), 0) ||
		    !ktap_eq(advice.retained, 1))
			break;
	}
	return NULL;
}

/* The BO has no pages, so there is nothing that could be taken away. */
static void advisers_race(void)
{
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, DRM_TESSERA_BO_NO_MMAP);
	pthread_t threads[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		ktap_eq(pthread_create(&threads[i], NULL, adviser, &bo.handle), 0);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	gt_bo_free(&bo);
}

/* Four threads submit to one queue and to one timeline each; every job adds one. */
static volatile uint64_t *sum;

static void *submitter(void *arg)
{
	uint32_t timeline = gt_syncobj(c.fd, false);
	unsigned int i;

	for (i = 1; i <= ROUNDS; i++) {
		struct drm_tessera_sync sync = gt_point(timeline, i);

		ktap_eq(gt_kick(&c, c.queue, arg, &sync), 0);
	}
	ktap_eq(gt_fence_error(c.fd, timeline, ROUNDS), 0);
	gt_syncobj_free(c.fd, timeline);
	return NULL;
}

static void submits_race(void)
{
	enum { THREADS = 4 };
	struct gt_cs cs = gt_stream(&c, 3);
	pthread_t threads[THREADS];
	unsigned int i;

	sum = gt_data(&c, 0);
	*sum = 0;
	GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE, .wide = true,
		.addr = gt_data_va(0), .value = 1);
	for (i = 0; i < THREADS; i++)
		ktap_eq(pthread_create(&threads[i], NULL, submitter, &cs), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ktap_eq(*sum, THREADS * ROUNDS);
}

/*
 * Many jobs end at once. A thread that sees the fence of a job finds it counted, while the other
 * processor still signals the later fences.
 */
static void counted_when_done(void)
{
	enum { JOBS = 32 };
	uint64_t before = gt_queue_state(c.fd, c.queue).jobs_completed;
	struct drm_tessera_sync signals[JOBS];
	struct drm_tessera_job jobs[JOBS];
	volatile uint64_t *gate = gt_data(&c, 0);
	struct gt_cs cs = gt_stream(&c, 4);
	unsigned int i, j;

	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	for (j = 0; j < JOBS; j++) {
		signals[j] = gt_binary(gt_syncobj(c.fd, false));
		jobs[j] = gt_job(c.queue, j ? NULL : &cs);
		jobs[j].signals = GT_ARRAY(&signals[j], 1);
	}
	for (i = 0; i < ROUNDS / 4; i++) {
		*gate = 0;
		if (!ktap_eq(gt_submit(c.fd, jobs, JOBS), 0))
			break;
		*gate = 1;
		for (j = 0; j < JOBS; j++) {
			while (!gt_syncobj_done(c.fd, signals[j].handle, 0))
				;
			before++;
			if (!ktap_ok(gt_queue_state(c.fd, c.queue).jobs_completed >= before))
				return;
		}
	}
	for (j = 0; j < JOBS; j++)
		gt_syncobj_free(c.fd, signals[j].handle);
}

#define FED	8	/* jobs at a time */

static void *asker(void *arg)
{
	uint64_t before = 0;

	(void)arg;
	while (!atomic_load(&stop)) {
		struct drm_tessera_queue_get_state state = gt_queue_state(c.fd, c.queue);

		if (!ktap_ok(state.jobs_completed >= before && !state.error))
			break;
		before = state.jobs_completed;
	}
	return NULL;
}

static void *feeder(void *arg)
{
	uint32_t timeline = gt_syncobj(c.fd, false);
	struct drm_tessera_job jobs[FED];
	struct drm_tessera_sync sync;
	unsigned int i;

	(void)arg;
	for (i = 0; i < FED; i++)
		jobs[i] = gt_job(c.queue, NULL);
	jobs[FED - 1].signals = GT_ARRAY(&sync, 1);
	for (i = 1; i <= 4 * ROUNDS; i++) {
		sync = gt_point(timeline, i);
		if (!ktap_eq(gt_submit(c.fd, jobs, FED), 0) ||
		    !ktap_eq(gt_syncobj_wait(c.fd, timeline, i, gt_timeout_ms()), 0))
			break;
	}
	gt_syncobj_free(c.fd, timeline);
	return NULL;
}

/* One processor reads the counts of the interrupt handler all the time, the other submits jobs. */
static void state_under_jobs(void)
{
	uint64_t before = gt_queue_state(c.fd, c.queue).jobs_completed;

	run_threads((void *(* const[])(void *)){ feeder, asker }, 2);
	ktap_eq(gt_queue_state(c.fd, c.queue).jobs_completed, before + 4 * ROUNDS * FED);
}

/*
 * Binds of one place by one thread, jobs that read it by another: they see one content or the
 * other, never anything else.
 */
static void *rebinder(void *arg)
{
	struct gt_bo bos[2] = { gt_bo(c.fd, GT_PAGE, 0), gt_bo(c.fd, GT_PAGE, 0) };
	unsigned int i;

	(void)arg;
	*(uint64_t *)bos[0].map = 0xaaaaaaaaaaaaaaaa;
	*(uint64_t *)bos[1].map = 0xbbbbbbbbbbbbbbbb;
	for (i = 0; i < 4 * ROUNDS; i++) {
		struct drm_tessera_bind_op op =
			gt_op_map(bos[i & 1].handle, 0x40000000, GT_PAGE, 0, GT_RW);

		if (!ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0))
			break;
	}
	gt_bo_free(&bos[0]);
	gt_bo_free(&bos[1]);
	return NULL;
}

static void rebind_under_jobs(void)
{
	struct gt_bo first = gt_bo(c.fd, GT_PAGE, 0);
	volatile uint64_t *word = gt_data(&c, 64);
	unsigned int i, seen[3] = { 0 };
	pthread_t thread;

	*(uint64_t *)first.map = 0xaaaaaaaaaaaaaaaa;
	gt_bo_bind(&first, c.vm, 0x40000000, GT_RW);
	ktap_eq(pthread_create(&thread, NULL, rebinder, NULL), 0);
	for (i = 0; i < ROUNDS; i++) {
		struct gt_cs cs = gt_stream(&c, 4);

		GT_EMIT(&cs, copy_linear, .src = 0x40000000, .dst = gt_data_va(64), .size = 8);
		if (!ktap_eq(gt_run(&c, &cs), 0))
			break;
		seen[*word == 0xaaaaaaaaaaaaaaaa ? 0 : *word == 0xbbbbbbbbbbbbbbbb ? 1 : 2]++;
	}
	pthread_join(thread, NULL);
	ktap_eq(seen[2], 0);
	gt_bo_free(&first);
}

/* BOs that nobody has used yet come into the VM, and go again. */
static void *visitors(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < 4 * ROUNDS; i++) {
		struct gt_bo bo = gt_bo(c.fd, GT_PAGE, DRM_TESSERA_BO_NO_MMAP);
		struct drm_tessera_bind_op op = gt_op_unmap(0x40000000, GT_PAGE);

		gt_bo_bind(&bo, c.vm, 0x40000000, GT_RW);
		if (!ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0))
			break;
		gt_bo_free(&bo);
	}
	return NULL;
}

static void *locker(void *arg)
{
	uint32_t timeline = gt_syncobj(c.fd, false);
	unsigned int i;

	(void)arg;
	for (i = 1; !atomic_load(&stop); i++) {
		struct drm_tessera_sync sync = gt_point(timeline, i);
		struct drm_tessera_job job = gt_job(c.queue, NULL);

		job.signals = GT_ARRAY(&sync, 1);
		if (!ktap_eq(gt_submit(c.fd, &job, 1), 0))
			break;
		sync.point = ++i;
		if (!ktap_eq(gt_bind_async(c.fd, c.vm, NULL, 0, NULL, &sync), 0) ||
		    !ktap_eq(gt_syncobj_wait(c.fd, timeline, i, GT_TIMEOUT_MS), 0))
			break;
	}
	gt_syncobj_free(c.fd, timeline);
	return NULL;
}

/*
 * SUBMIT and asynchronous VM_BIND lock the VM and what is mapped in it. If they have to wait for a
 * BO they let go of the VM, and find the BO locked and out of the VM when it is their turn.
 */
static void bos_leave_under_locks(void)
{
	run_threads((void *(* const[])(void *)){ visitors, locker, locker }, 3);
}

/* close() of the file while other threads are inside ioctls on it, and a sibling process goes on.
 */
static void close_race(void)
{
	unsigned int i;

	for (i = 0; i < 40; i++) {
		pid_t pid = fork();
		int status = -1;

		if (!pid) {
			pthread_t threads[2];

			c = gt_ctx();
			sum = gt_data(&c, 0);
			pthread_create(&threads[0], NULL, vm_guesser, NULL);
			pthread_create(&threads[1], NULL, queue_guesser, NULL);
			usleep(1000 + i * 100);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		ktap_eq(status, 0);
	}
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("queues made and destroyed by three threads", queues_race);
	ktap_run("VMs made and destroyed by three threads", vms_race);
	ktap_run("BOs bound and closed by three threads", bos_race);
	ktap_run("one BO is needed and not needed by two threads", advisers_race);
	ktap_run("[CP1] four threads submit to one queue", submits_race);
	ktap_run("a job whose fence is done is counted", counted_when_done);
	ktap_run("a queue is asked for its state while its jobs end", state_under_jobs);
	ktap_run("[MEM2] a page is replaced under jobs that read it", rebind_under_jobs);
	ktap_run("[SYS4] BOs leave a VM while SUBMITs lock them", bos_leave_under_locks);
	ktap_run("[SYS4] processes die inside ioctls", close_race);
	gt_ctx_free(&c);
	return gt_finish();
}
