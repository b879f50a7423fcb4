// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 */
/*
 * Processes against each other: one faults, crashes, floods or is killed with work in flight, the
 * others' results stay bit-exact and nothing is lost; and the errors that the fences of the culprit
 * carry.
 */
#include "gt_main.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK	0x8000ULL

/* Shared between the processes of a test: how far each is, and when to stop. */
struct shared {
	volatile uint64_t good;		/* rounds of the good process */
	volatile uint64_t bad;		/* of the bad one */
	volatile uint64_t stop;
	volatile uint64_t errors;
};

static struct shared *shared;

/*
 * The good process: copies chunks through the GPU and compares, @rounds times or until told to
 * stop.
 */
static int good_client(unsigned int rounds)
{
	struct gt_ctx c = gt_ctx();
	uint32_t *from = gt_data(&c, 0), *to = gt_data(&c, CHUNK);
	unsigned int round, i, errors = 0;

	for (round = 0; round < rounds && !shared->stop; round++) {
		struct gt_cs cs = gt_stream(&c, 4);

		for (i = 0; i < CHUNK / 4; i++)
			from[i] = i * 2654435761u + round;
		memset(to, 0, CHUNK);
		GT_EMIT(&cs, copy_linear, .src = gt_data_va(0), .dst = gt_data_va(CHUNK),
			.size = CHUNK);
		errors += gt_run(&c, &cs) != 0;
		errors += memcmp(from, to, CHUNK) != 0;
		shared->good++;
	}
	errors += gt_queue_state(c.fd, c.queue).state != 0;
	errors += gt_vm_state(c.fd, c.vm, NULL).fault_count != 0;
	gt_ctx_free(&c);
	return errors > 100 ? 100 : errors;
}

static pid_t spawn_good(unsigned int rounds)
{
	pid_t pid = fork();

	if (!pid)
		_exit(good_client(rounds));
	return pid;
}

static void expect_exit(pid_t pid, int want)
{
	int status = -1;

	ktap_eq(waitpid(pid, &status, 0), pid);
	ktap_ok(WIFEXITED(status));
	ktap_eq(WEXITSTATUS(status), want);
}

static void reset_shared(void)
{
	memset((void *)shared, 0, sizeof(*shared));
}

/* One process faults over and over while two others work. */
static void faults_do_not_spread(void)
{
	struct gt_ctx c;
	pid_t pids[2];
	unsigned int i, faults = 0;

	reset_shared();
	for (i = 0; i < 2; i++)
		pids[i] = spawn_good(150);
	c = gt_ctx();
	while (faults < 400 && shared->good < 300) {
		struct gt_cs cs = gt_stream(&c, 8);

		if (faults & 1)
			GT_EMIT(&cs, copy_linear, .src = 0x7fff000000, .dst = gt_data_va(0),
				.size = 64);
		else
			gt_cs_word(&cs, 0x1ff);
		ktap_eq(gt_run(&c, &cs), faults & 1 ? -EFAULT : -EINVAL);
		gt_renew_queue(&c);
		faults++;
	}
	for (i = 0; i < 2; i++)
		expect_exit(pids[i], 0);
	ktap_ok(faults >= 5);
	gt_ctx_free(&c);
}

/*
 * Two files, the same addresses, different memory: neither can reach the other's, though both are
 * mapped.
 */
static void same_address(void)
{
	struct gt_ctx a = gt_ctx(), b = gt_ctx();
	uint64_t *wa = gt_data(&a, 0), *wb = gt_data(&b, 0);
	struct gt_cs ca = gt_stream(&a, 4), cb = gt_stream(&b, 4);

	wa[0] = 0xaaaa;
	wb[0] = 0xbbbb;
	GT_EMIT(&ca, copy_linear, .src = gt_data_va(0), .dst = gt_data_va(8), .size = 8);
	GT_EMIT(&cb, copy_linear, .src = gt_data_va(0), .dst = gt_data_va(8), .size = 8);
	ktap_eq(gt_run(&a, &ca), 0);
	ktap_eq(gt_run(&b, &cb), 0);
	ktap_eq(wa[1], 0xaaaa);
	ktap_eq(wb[1], 0xbbbb);
	gt_ctx_free(&a);
	gt_ctx_free(&b);
}

/*
 * In one process: the faulty queue alone stops, one of the same VM and one of another go on, with
 * what they had queued.
 */
static void only_the_faulty_queue(void)
{
	struct gt_ctx c = gt_ctx(), d = gt_ctx();
	uint32_t sibling = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY),
		 done = gt_syncobj(c.fd, false);
	struct drm_tessera_sync sync = gt_binary(done);
	volatile uint64_t *gate = gt_data(&c, 0);
	struct gt_cs waiting = gt_stream(&c, 6), bad = gt_stream(&c, 4), fine = gt_stream(&d, 3);

	gate[0] = 0;
	GT_EMIT(&waiting, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&waiting, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(8), .value = 3);
	ktap_eq(gt_kick(&c, sibling, &waiting, &sync), 0);
	GT_EMIT(&bad, copy_linear, .src = 0x7fff000000, .dst = gt_data_va(64), .size = 8);
	ktap_eq(gt_run(&c, &bad), -EFAULT);
	GT_EMIT(&fine, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0), .value = 9);
	ktap_eq(gt_run(&d, &fine), 0);
	gate[0] = 1;
	ktap_eq(gt_fence_error(c.fd, done, 0), 0);
	ktap_eq(gate[1], 3);
	ktap_eq(gt_queue_state(c.fd, sibling).state, 0);
	ktap_eq(gt_queue_state(d.fd, d.queue).state, 0);
	ktap_eq(gt_queue_state(c.fd, c.queue).state,
		DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_FAULTED);
	gt_queue_destroy(c.fd, sibling);
	gt_ctx_free(&c);
	gt_ctx_free(&d);
}

/* Jobs queued behind the faulty one are cancelled, and each says which it was. */
static void jobs_behind_a_fault(void)
{
	enum { JOBS = 5 };
	struct gt_ctx c = gt_ctx();
	volatile uint64_t *words = gt_data(&c, 0);
	struct gt_cs bad = gt_stream(&c, 8), after = gt_stream(&c, 3);
	uint32_t done[JOBS];
	unsigned int i;

	memset((void *)words, 0, 64);
	GT_EMIT(&bad, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&bad, copy_linear, .src = gt_data_va(0), .dst = 0x7fff000000, .size = 8);
	GT_EMIT(&after, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(8), .value = 1);
	for (i = 0; i < JOBS; i++) {
		struct drm_tessera_sync sync;

		done[i] = gt_syncobj(c.fd, false);
		sync = gt_binary(done[i]);
		ktap_eq(gt_kick(&c, c.queue, i ? &after : &bad, &sync), 0);
	}
	words[0] = 1;
	ktap_eq(gt_fence_error(c.fd, done[0], 0), -EFAULT);
	for (i = 1; i < JOBS; i++)
		ktap_eq(gt_fence_error(c.fd, done[i], 0), -ECANCELED);
	ktap_eq(words[1], 0);
	ktap_eq(gt_kick(&c, c.queue, &after, NULL), -ECANCELED);
	ktap_eq(gt_queue_state(c.fd, c.queue).jobs_completed, 0);
	gt_ctx_free(&c);
}

/* QUEUE_DESTROY cancels the blocked job and the next one, and releases a job that waits for it. */
static void destroyed_queue_cancels(void)
{
	struct gt_ctx c = gt_ctx();
	uint32_t other = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct drm_tessera_sync first = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_sync second = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_sync done = gt_binary(c.sync);
	volatile uint64_t *words = gt_data(&c, 0);
	struct gt_cs gate = gt_stream(&c, 3), after = gt_stream(&c, 3);
	struct drm_tessera_job dependent = gt_job(c.queue, NULL);

	memset((void *)words, 0, 64);
	GT_EMIT(&gate, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&after, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(8), .value = 1);
	ktap_eq(gt_kick(&c, other, &gate, &first), 0);
	ktap_eq(gt_kick(&c, other, &after, &second), 0);
	dependent.waits = GT_ARRAY(&second, 1);
	dependent.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &dependent, 1), 0);
	gt_sleep_ms(5);
	ktap_eq(gt_queue_destroy(c.fd, other), 0);
	ktap_eq(gt_fence_error(c.fd, first.handle, 0), -ECANCELED);
	ktap_eq(gt_fence_error(c.fd, second.handle, 0), -ECANCELED);
	ktap_eq(words[1], 0);
	ktap_ok(gt_fence_error(c.fd, c.sync, 0) != -ETIME);
	gt_ctx_free(&c);
}

/* How many queues can be had: the slots nobody holds. */
static unsigned int free_slots(void)
{
	int fd = gt_open();
	uint32_t vm = gt_vm(fd), queue;
	unsigned int n = 0;

	while (n <= TSR_QUEUES_MAX && !gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queue))
		n++;
	close(fd);
	return n;
}

/* After a file is closed its queues go away, possibly a moment later. */
static bool slots_return(unsigned int want)
{
	uint64_t until = gt_now_ns() + 5000000000ULL;

	while (free_slots() != want) {
		if (gt_now_ns() > until)
			return false;
		gt_sleep_ms(10);
	}
	return true;
}

/*
 * Work that is under way when its process dies: copying, blocked, waiting for a bind, behind a
 * fault.
 */
static void doomed_client(unsigned int variant)
{
	struct gt_ctx c = gt_ctx();
	struct drm_tessera_sync go = gt_binary(c.sync);
	struct drm_tessera_bind_op op = gt_op_map(c.data.handle, 0x40000000, GT_PAGE, 0, GT_RW);
	unsigned int i;

	for (i = 0; i < 8; i++) {
		struct gt_cs cs = gt_stream(&c, 16);
		uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);

		if (variant % 4 == 1)
			GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0),
				.value = 12345);
		if (variant % 4 == 3)
			gt_cs_word(&cs, 0xfe);
		GT_EMIT(&cs, copy_linear, .src = gt_data_va(0), .dst = gt_data_va(GT_DATA_SIZE / 2),
			.size = GT_DATA_SIZE / 2);
		gt_kick(&c, queue, &cs, &go);
		gt_kick(&c, queue, &cs, &go);
	}
	if (variant % 4 == 2)
		gt_bind_async(c.fd, c.vm, &op, 1, &go, NULL);
	shared->bad = 1;
	pause();
}

static void killed_with_work(void)
{
	unsigned int before = free_slots(), round;

	for (round = 0; round < 24; round++) {
		pid_t pid;
		int status;

		reset_shared();
		pid = fork();
		if (!pid)
			doomed_client(round);
		while (!shared->bad && !waitpid(pid, &status, WNOHANG))
			usleep(200);
		if (round & 8)
			usleep(rand() % 3000);
		kill(pid, SIGKILL);
		ktap_eq(waitpid(pid, &status, 0), pid);
		ktap_ok(WIFSIGNALED(status));
	}
	ktap_ok(slots_return(before));
	reset_shared();
	expect_exit(spawn_good(10), 0);
}

/*
 * A flood: deep queues of large copies, at the priority @arg; the other client must get its small
 * jobs through in between.
 */
static void flood(uint32_t priority)
{
	enum { QUEUES = 6 };
	struct gt_ctx c = gt_ctx();
	uint32_t queues[QUEUES], timeline[QUEUES];
	uint64_t point[QUEUES] = { 0 };
	unsigned int q;

	for (q = 0; q < QUEUES; q++) {
		if (gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY, priority, 0, &queues[q]))
			_exit(1);
		timeline[q] = gt_syncobj(c.fd, false);
	}
	while (!shared->stop) {
		for (q = 0; q < QUEUES; q++) {
			struct drm_tessera_sync sync = gt_point(timeline[q], ++point[q]);
			struct gt_cs cs = gt_stream(&c, 8);

			GT_EMIT(&cs, copy_linear, .src = gt_data_va(0),
				.dst = gt_data_va(GT_DATA_SIZE / 2), .size = GT_DATA_SIZE / 2);
			if (gt_kick(&c, queues[q], &cs, &sync))
				_exit(2);
			if (point[q] > 20 && gt_fence_error(c.fd, timeline[q], point[q] - 20))
				_exit(3);
		}
		shared->bad += QUEUES;
	}
	for (q = 0; q < QUEUES; q++) {
		if (gt_fence_error(c.fd, timeline[q], point[q]))
			_exit(4);
	}
	_exit(0);
}

/* The flood never ends by itself: when the good client gets through, it was not starved. */
static void flooded(const void *arg)
{
	uint32_t priority = *(const uint32_t *)arg;
	pid_t pid;

	reset_shared();
	pid = fork();
	if (!pid)
		flood(priority);
	while (shared->bad < 60)
		usleep(500);
	ktap_eq(good_client(40), 0);
	ktap_eq(shared->good, 40);
	shared->stop = 1;
	expect_exit(pid, 0);
}

int main(int argc, char **argv)
{
	const uint32_t normal = DRM_TESSERA_PRIORITY_NORMAL, high = DRM_TESSERA_PRIORITY_HIGH;

	gt_start(argc, argv);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	ktap_run("[SYS4] the same address in two processes", same_address);
	ktap_run("[SYS4] [MEM3] a fault stops its queue only", only_the_faulty_queue);
	ktap_run("[SYS4] jobs behind a fault are cancelled", jobs_behind_a_fault);
	ktap_run("[SYS4] QUEUE_DESTROY cancels unfinished jobs", destroyed_queue_cancels);
	ktap_run("[SYS4] one process faults, two others stay bit-exact", faults_do_not_spread);
	ktap_run("[SYS4] processes killed with work in flight leave nothing behind",
		 killed_with_work);
	ktap_run_arg("[SYS10] a flood does not starve another client", flooded, &normal);
	ktap_run_arg("[SYS10] a flood at higher priority does not starve another client", flooded,
		     &high);
	return gt_finish();
}
