// SPDX-License-Identifier: MIT
/* test: TIMEOUT=90 DEVICE_ARGS=vram=64M,copy-engines=2 */
/* libtessera in the guest: syncs, submit lists, asynchronous binds, and what failed jobs tell. */
#include "gt_main.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "lt.h"

static struct lt t;

static struct tsr_sync *new_sync(uint32_t flags)
{
	struct tsr_sync *sync;

	lt_must("sync", tsr_sync_create(t.device, flags, &sync));
	return sync;
}

static struct tsr_submit *new_list(void)
{
	struct tsr_submit *list;

	lt_must("list", tsr_submit_create(t.device, &list));
	return list;
}

static void test_cpu_side(void)
{
	struct tsr_sync *binary = new_sync(0), *line = new_sync(TSR_SYNC_TIMELINE);
	struct tsr_sync *ready = new_sync(TSR_SYNC_SIGNALED), *refused;
	struct tsr_point points[2] = { { binary, 0 }, { line, 5 } };
	unsigned int first = 9;
	uint64_t point = 9;
	int status = 9;

	ktap_ok(LT_OK(tsr_sync_wait(ready, 0, 0)));
	ktap_eq(tsr_sync_wait(binary, 0, 0), -ETIME);
	ktap_eq(tsr_sync_wait(line, 1, tsr_deadline(1000000)), -ETIME);
	ktap_eq(tsr_sync_wait(line, 0, 0), -EINVAL);
	ktap_eq(tsr_sync_wait(binary, 1, 0), -EINVAL);
	ktap_eq(tsr_sync_get_status(binary, 0, &status), -EINVAL);
	ktap_eq(tsr_sync_create(t.device, 8, &refused), -EINVAL);
	ktap_eq(tsr_sync_create(t.device, TSR_SYNC_TIMELINE | TSR_SYNC_SIGNALED, &refused),
		-EINVAL);
	ktap_ok(LT_OK(tsr_sync_get_point(line, &point)));
	ktap_eq(point, 0);
	ktap_ok(LT_OK(tsr_sync_signal(line, 5)));
	ktap_ok(LT_OK(tsr_sync_get_point(line, &point)));
	ktap_eq(point, 5);
	ktap_ok(LT_OK(tsr_sync_wait(line, 3, 0)));
	ktap_ok(LT_OK(tsr_sync_wait_many(points, 2, TSR_SYNC_WAIT_FOR_SUBMIT, 0, &first)));
	ktap_eq(first, 1);
	ktap_eq(tsr_sync_wait_many(points, 2, TSR_SYNC_WAIT_FOR_SUBMIT | TSR_SYNC_WAIT_ALL, 0,
				   NULL),
		-ETIME);
	ktap_eq(tsr_sync_wait_many(points, 2, 0, 0, NULL), -EINVAL);
	ktap_ok(LT_OK(tsr_sync_signal(binary, 0)));
	ktap_ok(LT_OK(tsr_sync_wait_many(points, 2, TSR_SYNC_WAIT_ALL, 0, NULL)));
	ktap_ok(LT_OK(tsr_sync_get_status(binary, 0, &status)));
	ktap_eq(status, 1);
	ktap_ok(LT_OK(tsr_sync_reset(binary)));
	ktap_eq(tsr_sync_wait(binary, 0, 0), -ETIME);
	tsr_sync_unref(binary);
	tsr_sync_unref(line);
	tsr_sync_unref(ready);
}

/* A sync shared by file: what one signals, the other sees, later signals too. */
static void test_export(void)
{
	struct tsr_sync *line = new_sync(TSR_SYNC_TIMELINE), *same, *copy = new_sync(0);
	struct pollfd ready = { .events = POLLIN };
	int fd;

	KTAP_REQUIRE(LT_OK(tsr_sync_export(line, &fd)));
	KTAP_REQUIRE(LT_OK(tsr_sync_import(t.device, fd, true, &same)));
	close(fd);
	ktap_ok(tsr_sync_is_timeline(same));
	ktap_ok(LT_OK(tsr_sync_signal(line, 2)));
	ktap_ok(LT_OK(tsr_sync_wait(same, 2, 0)));
	/* a sync_file is the fence of one moment */
	ktap_eq(tsr_sync_export_file(line, 3, &fd), -EINVAL);
	KTAP_REQUIRE(LT_OK(tsr_sync_export_file(line, 2, &ready.fd)));
	ktap_eq(poll(&ready, 1, 0), 1);
	ktap_ok(LT_OK(tsr_sync_import_file(copy, 0, ready.fd)));
	ktap_ok(LT_OK(tsr_sync_wait(copy, 0, 0)));
	ktap_ok(LT_OK(tsr_sync_import_file(line, 8, ready.fd)));
	ktap_ok(LT_OK(tsr_sync_wait(same, 8, 0)));
	close(ready.fd);
	ktap_ok(tsr_sync_import(t.device, STDIN_FILENO, false, &same) < 0);
	ktap_ok(tsr_sync_import_file(copy, 0, STDIN_FILENO) < 0);
	tsr_sync_unref(line);
	tsr_sync_unref(same);
	tsr_sync_unref(copy);
}

/* A word that records the order in which four jobs ran: each shifts it and adds its number. */
static void record_step(struct tsr_stream *stream, const struct tsr_alloc *words,
			unsigned int number)
{
	tsr_cmd_copy(stream, words->va + 8 * number + 8, words->va, 8);
	tsr_cmd_barrier(stream, TSR_CMD_WAIT_WRITES);
	tsr_cmd_signal64(stream, words->va, TSR_SIGNAL_OP_ADD, TSR_EVENT_WRITES_DONE, 1);
}

/* One list: a diamond of jobs by `after`, over two queues, and a timeline. */
static void test_diamond(void)
{
	struct tsr_alloc words = lt_data(&t, 64, 0);
	struct tsr_queue *second = lt_queue(&t);
	struct tsr_sync *line = new_sync(TSR_SYNC_TIMELINE);
	struct tsr_submit *list = new_list();
	struct tsr_stream *streams[4];
	uint64_t *w = words.cpu;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		KTAP_REQUIRE(LT_OK(tsr_stream_create(t.code, 0, &streams[i])));
		record_step(streams[i], &words, i);
		ktap_eq(tsr_submit_stream(list, i & 1 ? second : t.queue, streams[i]), (int)i);
	}
	ktap_ok(LT_OK(tsr_submit_after(list, 1, 0)));
	ktap_ok(LT_OK(tsr_submit_after(list, 2, 1)));
	ktap_ok(LT_OK(tsr_submit_after(list, 3, 2)));
	ktap_ok(LT_OK(tsr_submit_signal(list, 3, line, 1)));
	KTAP_REQUIRE(LT_OK(tsr_submit_flush(list)));
	ktap_ok(LT_OK(tsr_sync_finish(line, 1, LT_LONG)));
	ktap_eq(w[0], 4);
	for (i = 0; i < 4; i++) {
		ktap_eq(w[1 + i], i);	/* job i saw the count of those before */
		tsr_stream_destroy(streams[i]);
	}
	tsr_submit_destroy(list);
	tsr_sync_unref(line);
	tsr_queue_unref(second);
	tsr_pool_free(t.data, &words);
}

struct waiter {
	struct tsr_sync *line;
	int result;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *waiter = arg;

	waiter->result = tsr_sync_finish(waiter->line, 1, LT_LONG);
	return NULL;
}

/* A thread waits for a point that is submitted only later. */
static void test_wait_before_submit(void)
{
	struct waiter waiter = { new_sync(TSR_SYNC_TIMELINE), 1 };
	pthread_t thread;

	ktap_eq(pthread_create(&thread, NULL, wait_in_thread, &waiter), 0);
	usleep(30000);
	tsr_cmd_nop(t.stream, 1);
	ktap_ok(LT_OK(tsr_queue_run(t.queue, t.stream, waiter.line, 1)));
	pthread_join(thread, NULL);
	ktap_eq(waiter.result, 0);
	tsr_stream_reset(t.stream);
	tsr_sync_unref(waiter.line);
}

static void test_fault(void)
{
	struct drm_tessera_queue_get_state state;
	struct drm_tessera_fault faults[4];
	struct tsr_queue *queue = lt_queue(&t);
	uint32_t flags = 9, count = 4;
	uint64_t total = 0, before = 0, va;
	int status = 9;

	KTAP_REQUIRE(LT_OK(tsr_vm_get_state(t.vm, NULL, &before)));
	KTAP_REQUIRE(LT_OK(tsr_vm_alloc(t.vm, 0x1000, 0, &va)));
	tsr_cmd_fill(t.stream, va, 16, "\1", 1);
	KTAP_REQUIRE(LT_OK(tsr_queue_run(queue, t.stream, t.sync, 0)));
	ktap_eq(tsr_sync_finish(t.sync, 0, LT_LONG), -EFAULT);
	tsr_stream_reset(t.stream);
	ktap_ok(LT_OK(tsr_sync_get_status(t.sync, 0, &status)));
	ktap_eq(status, -EFAULT);
	ktap_ok(LT_OK(tsr_vm_get_state(t.vm, &flags, &total)));
	ktap_eq(flags, 0);
	ktap_eq(total, before + 1);
	ktap_ok(LT_OK(tsr_vm_get_faults(t.vm, faults, sizeof(faults[0]), &count)));
	ktap_eq(count, total < 4 ? total : 4);
	if (count) {
		ktap_eq(faults[count - 1].va, va);
		ktap_eq(faults[count - 1].access, DRM_TESSERA_BIND_WRITE);
		ktap_eq(faults[count - 1].reason, DRM_TESSERA_FAULT_NOT_MAPPED);
		ktap_eq(faults[count - 1].queue_id, tsr_queue_id(queue));
	}
	ktap_ok(LT_OK(tsr_queue_get_state(queue, &state, sizeof(state))));
	ktap_ok(state.state & DRM_TESSERA_QUEUE_BANNED);
	ktap_ok(state.state & DRM_TESSERA_QUEUE_FAULTED);
	ktap_eq(state.error, EFAULT);
	ktap_eq(state.fault_code, TSR_FAULT_MMU_UNMAPPED);
	tsr_cmd_nop(t.stream, 1);
	ktap_eq(tsr_queue_run(queue, t.stream, t.sync, 0), -ECANCELED);
	tsr_stream_reset(t.stream);
	/* the other queue of the VM goes on */
	tsr_cmd_nop(t.stream, 1);
	ktap_ok(LT_OK(lt_run(&t)));
	tsr_queue_unref(queue);
	tsr_vm_free(t.vm, va, 0x1000);
}

/* An error at a point of a timeline is found too, and says so. */
static void test_timeline_error(void)
{
	struct tsr_sync *line = new_sync(TSR_SYNC_TIMELINE);
	struct tsr_queue *queue = lt_queue(&t);
	uint64_t *p = tsr_stream_emit(t.stream, 1);

	KTAP_REQUIRE(p);
	*p = 0x01ff;			/* no such opcode */
	KTAP_REQUIRE(LT_OK(tsr_queue_run(queue, t.stream, line, 1)));
	ktap_eq(tsr_sync_finish(line, 1, LT_LONG), -EINVAL);
	ktap_ok(strstr(tsr_error_message(), "command stream"));
	tsr_stream_reset(t.stream);
	tsr_queue_unref(queue);
	tsr_sync_unref(line);
}

/* A bind waits for a sync, a job for the bind, an unbind for the job. The CPU does not wait. */
static void test_async_bind(void)
{
	struct tsr_sync *go = new_sync(0), *line = new_sync(TSR_SYNC_TIMELINE);
	struct tsr_submit *list = new_list();
	struct tsr_bind bind = { .op = DRM_TESSERA_BIND_MAP, .access = LT_RW, .size = 0x2000 };
	struct tsr_point point = {line, 1}, start = {go, 0}, ran = {line, 2}, end = {line, 3};
	struct tsr_bo *bo;
	uint32_t *words;
	void *map;

	KTAP_REQUIRE(LT_OK(tsr_bo_create(t.device, 0x2000, DRM_TESSERA_BO_CACHED, NULL, &bo)));
	KTAP_REQUIRE(LT_OK(tsr_bo_map(bo, &map)));
	bind.bo = bo;
	words = map;
	KTAP_REQUIRE(LT_OK(tsr_vm_alloc(t.vm, 0x2000, 0, &bind.va)));
	ktap_eq(tsr_vm_bind_async(t.vm, &bind, 1, &start, 1, &point, 1), -EINVAL);
	ktap_ok(LT_OK(tsr_sync_signal(go, 0)));
	KTAP_REQUIRE(LT_OK(tsr_vm_bind_async(t.vm, &bind, 1, &start, 1, &point, 1)));
	tsr_cmd_fill(t.stream, bind.va + 0x1000, 4, "\7\0\0\0", 4);
	ktap_eq(tsr_submit_stream(list, t.queue, t.stream), 0);
	ktap_ok(LT_OK(tsr_submit_wait(list, 0, line, 1)));
	ktap_ok(LT_OK(tsr_submit_signal(list, 0, line, 2)));
	KTAP_REQUIRE(LT_OK(tsr_submit_flush(list)));
	bind = (struct tsr_bind){ .op = DRM_TESSERA_BIND_UNMAP, .va = bind.va, .size = 0x2000 };
	KTAP_REQUIRE(LT_OK(tsr_vm_bind_async(t.vm, &bind, 1, &ran, 1, &end, 1)));
	ktap_ok(LT_OK(tsr_sync_finish(line, 3, LT_LONG)));
	ktap_eq(words[0x400], 7);
	tsr_bo_unref(bo);
	tsr_stream_reset(t.stream);
	ktap_ok(LT_OK(tsr_vm_free(t.vm, bind.va, 0x2000)));
	tsr_submit_destroy(list);
	tsr_sync_unref(go);
	tsr_sync_unref(line);
}

/* Threads with queues of their own share device, VM and pools. */
#define THREADS 4
#define ROUNDS 60

static void *submit_in_thread(void *arg)
{
	struct tsr_sync *line = new_sync(TSR_SYNC_TIMELINE);
	struct tsr_queue *queue = lt_queue(&t);
	struct tsr_alloc word;
	struct tsr_stream *stream;
	uint64_t round;
	int *result = arg;

	*result = tsr_pool_alloc(t.data, 8, 0, &word);
	if (!*result)
		*(uint64_t *)word.cpu = 0;
	for (round = 1; round <= ROUNDS && !*result; round++) {
		*result = tsr_stream_create(t.code, 0, &stream);
		if (*result)
			break;
		tsr_cmd_signal64(stream, word.va, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, round);
		*result = tsr_queue_run(queue, stream, line, round);
		if (!*result)
			*result = tsr_sync_finish(line, round, LT_LONG);
		tsr_stream_destroy(stream);
	}
	if (!*result && *(uint64_t *)word.cpu != ROUNDS * (ROUNDS + 1) / 2)
		*result = 1;
	tsr_pool_free(t.data, &word);
	tsr_queue_unref(queue);
	tsr_sync_unref(line);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];
	int results[THREADS], i;

	for (i = 0; i < THREADS; i++)
		ktap_eq(pthread_create(&threads[i], NULL, submit_in_thread, &results[i]), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		ktap_eq(results[i], 0);
	}
}

int main(int argc, char **argv)
{
	t = lt_open();
	gt_start(argc, argv);
	ktap_run("[SYS3] syncs signalled and waited for by the CPU", test_cpu_side);
	ktap_run("[SYS3] syncs and sync_files shared by file descriptor", test_export);
	ktap_run("[SYS6] a list of jobs in the order of its `after`", test_diamond);
	ktap_run("[SYS3] waiting before the submission", test_wait_before_submit);
	ktap_run("[MEM3] a fault is told by fence, queue and VM", test_fault);
	ktap_run("[CP3] a malformed stream is told through a timeline", test_timeline_error);
	ktap_run("[MEM2] asynchronous binds between syncs", test_async_bind);
	ktap_run("[SYS5] threads on one device", test_threads);
	lt_close(&t);
	return gt_finish();
}
