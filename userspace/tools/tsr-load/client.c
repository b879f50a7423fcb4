// SPDX-License-Identifier: MIT
/*
 * A client's process. Everything is allocated before the load begins, so that a cycle consists of
 * SUBMIT, waits and sleeps.
 *
 * The cost of a job is known exactly. A copy engine takes a cycle for 64 bytes of a fill, and fills
 * of NULL pages access no memory. Engines of other classes execute NOP packets, a cycle for each
 * 64-bit word.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/prctl.h>

#include <tessera/cmd.h>
#include <tessera/tessera.h>

#include "load.h"

#define NOTHING_SIZE (64u << 20) /* NULL pages; a fill of all of them takes a millisecond */
#define FILL_BYTES 64 /* of a cycle */
#define NOP_QWORDS 255
#define NOP_COUNT 256 /* in a block that streams call */
#define CHUNK_SIZE 65536
#define AVAILABLE (TSR_SYNC_WAIT_ALL | TSR_SYNC_WAIT_AVAILABLE | TSR_SYNC_WAIT_FOR_SUBMIT)

struct client {
	const struct client_spec *spec;
	struct client_shared *shared;
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *pool;
	struct tsr_queue *queue;
	struct tsr_stream *stream, *block;
	struct tsr_submit *submit;
	struct tsr_sync *line, *after;
	uint64_t va, point;
	uint32_t size;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * S + ts.tv_nsec;
}

/* Report the first call that fails, and end. */
static void check(struct client *c, const char *what, int ret)
{
	if (ret >= 0)
		return;
	c->shared->error = ret;
	snprintf(c->shared->failed, sizeof(c->shared->failed), "%s", what);
	_exit(1);
}

/* ---- what a job does ---- */

static void write_fills(struct client *c, uint64_t cycles)
{
	static const uint32_t pattern;
	struct tsr_bind nothing = { .op = DRM_TESSERA_BIND_MAP_NULL, .size = NOTHING_SIZE };
	uint64_t bytes = cycles * FILL_BYTES;

	check(c, "address", tsr_vm_alloc(c->vm, NOTHING_SIZE, 2 << 20, &nothing.va));
	check(c, "bind", tsr_vm_bind(c->vm, &nothing, 1));
	while (bytes) {
		uint64_t size = bytes < NOTHING_SIZE ? bytes : NOTHING_SIZE;

		check(c, "fill", tsr_cmd_fill(c->stream, nothing.va, size, &pattern, 4));
		bytes -= size;
	}
}

static void write_nops(struct client *c, uint64_t cycles)
{
	uint64_t va;
	uint32_t size;

	check(c, "stream", tsr_stream_create(c->pool, 1 << 20, &c->block));
	for (unsigned int i = 0; i < NOP_COUNT; i++)
		check(c, "nop", tsr_cmd_nop(c->block, NOP_QWORDS));
	check(c, "stream", tsr_stream_finish(c->block, &va, &size));
	for (; cycles >= size / 8; cycles -= size / 8)
		check(c, "call", tsr_cmd_call(c->stream, va, size));
	for (; cycles; cycles -= cycles < NOP_QWORDS ? cycles : NOP_QWORDS)
		check(c, "nop", tsr_cmd_nop(c->stream, cycles < NOP_QWORDS ? cycles : NOP_QWORDS));
}

static void write_job(struct client *c)
{
	check(c, "stream", tsr_stream_create(c->pool, CHUNK_SIZE, &c->stream));
	if (c->spec->class == DRM_TESSERA_ENGINE_COPY)
		write_fills(c, c->spec->job_ns);
	else
		write_nops(c, c->spec->job_ns);
	check(c, "stream", tsr_stream_finish(c->stream, &c->va, &c->size));
}

static void prepare(struct client *c, int line_fd, int after_fd)
{
	check(c, "open", tsr_device_open(NULL, &c->device));
	c->shared->fd = tsr_device_fd(c->device);
	if (!tsr_device_engine(c->device, c->spec->class))
		check(c, "engine class", -ENODEV);
	check(c, "vm", tsr_vm_create(c->device, &c->vm));
	check(c, "pool",
	      tsr_pool_create(c->vm, 2 << 20, 0, DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC,
			      &c->pool));
	write_job(c);
	check(c, "queue", tsr_queue_create(c->vm, c->spec->class, c->spec->priority, 0, &c->queue));
	check(c, "submit", tsr_submit_create(c->device, &c->submit));
	if (line_fd >= 0)
		check(c, "import", tsr_sync_import(c->device, line_fd, true, &c->line));
	else
		check(c, "sync", tsr_sync_create(c->device, TSR_SYNC_TIMELINE, &c->line));
	if (after_fd >= 0)
		check(c, "import", tsr_sync_import(c->device, after_fd, true, &c->after));
	/* The kernel's queue is created by the first job, which does nothing. */
	check(c, "first job", tsr_submit_job(c->submit, c->queue, 0, 0));
	check(c, "first job", tsr_submit_signal(c->submit, 0, c->line, ++c->point));
	check(c, "first job", tsr_submit_flush(c->submit));
	check(c, "first job", tsr_sync_finish(c->line, c->point, TSR_DEADLINE_NEVER));
}

/* ---- cycles ---- */

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / S, .tv_nsec = ns % S };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

static void wait_point(struct client *c, uint64_t point)
{
	check(c, "wait", tsr_sync_wait(c->line, point, TSR_DEADLINE_NEVER));
}

static void submit_job(struct client *c, uint64_t after)
{
	const struct tsr_point before = { .sync = c->after, .point = after };
	unsigned int depth = c->spec->depth;
	int job;

	if (depth && c->point > depth)
		wait_point(c, c->point - depth + 1);
	job = tsr_submit_job(c->submit, c->queue, c->va, c->size);
	check(c, "job", job);
	if (after) {
		check(c, "after",
		      tsr_sync_wait_many(&before, 1, AVAILABLE, TSR_DEADLINE_NEVER, NULL));
		check(c, "after", tsr_submit_wait(c->submit, job, c->after, after));
	}
	check(c, "job", tsr_submit_signal(c->submit, job, c->line, ++c->point));
	check(c, "submit", tsr_submit_flush(c->submit));
	c->shared->jobs_done++;
}

static void run_cycle(struct client *c, unsigned int cycle, unsigned int after_jobs)
{
	c->shared->cycle_begin[cycle] = now_ns();
	for (unsigned int i = 0; i < c->spec->jobs; i++)
		submit_job(c, c->after && !i ? (uint64_t)(cycle + 1) * after_jobs + 1 : 0);
	if (c->spec->sync)
		wait_point(c, c->point);
	c->shared->cycle_end[cycle] = now_ns();
	c->shared->cycles_done++;
	if (c->spec->wait_ns)
		sleep_ns(c->spec->wait_ns);
}

void client_main(const struct client_spec *spec, const struct client_spec *after_spec,
		 struct client_shared *shared, const struct client_pipes *pipes)
{
	struct client c = { .spec = spec, .shared = shared };
	char byte = 0;

	prepare(&c, pipes->line, pipes->after);
	/* Sleeps are exact. */
	prctl(PR_SET_TIMERSLACK, 1);
	if (write(pipes->ready, &byte, 1) != 1 || read(pipes->go, &byte, 1) != 1)
		_exit(1);
	if (spec->start_ns)
		sleep_ns(spec->start_ns);
	shared->start_ns = now_ns();
	for (unsigned int i = 0; i < spec->cycles; i++)
		run_cycle(&c, i, after_spec ? after_spec->jobs : 0);
	check(&c, "job", tsr_sync_finish(c.line, c.point, TSR_DEADLINE_NEVER));
	shared->end_ns = now_ns();
	/* The parent reads the engine time of the file. */
	if (write(pipes->ready, &byte, 1) != 1 || read(pipes->go, &byte, 1) != 1)
		_exit(1);
	_exit(0);
}
