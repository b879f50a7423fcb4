/* SPDX-License-Identifier: MIT */
/*
 * Windows between two threads. debugfs "delay" stops a thread of the driver where it has dropped a
 * lock, or where an object has lost its id and still has its memory. The other side of the race
 * runs meanwhile. No result depends on time, because a thread sleeps until the test wakes it.
 *
 * SLUB poisons freed memory if the test asks for slub_debug=FZP, so that a use after free shows on
 * the stock kernel, too.
 */
#ifndef GT_WINDOW_H
#define GT_WINDOW_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gt.h"
#include "gt_recover.h"
#include "ktap.h"

/* How long a call that must not return is watched. */
#define MOMENT_MS	100

#define VA		0x40000000ull
#define MIB		0x100000ull

/* The context of the tests of a program. */
static struct gt_ctx c;

/* ---- debugfs "delay" ---- */

__attribute__((unused)) static int delay(const char *command)
{
	char path[300];

	gt_debugfs("delay", path, sizeof(path));
	return gt_write_file(path, command);
}

__attribute__((unused)) static unsigned int hits(const char *point)
{
	char path[300], text[2000], *line;

	gt_debugfs("delay", path, sizeof(path));
	if (gt_read_file(path, text, sizeof(text)) <= 0)
		gt_die("%s cannot be read", path);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t length = strlen(point);

		if (!strncmp(line, point, length) && line[length] == ' ')
			return strtoul(line + length, NULL, 10);
	}
	gt_die("debugfs knows no point '%s'", point);
}

/* A point at which the next thread stops. */
struct window {
	const char *point;
	unsigned int before;
};

__attribute__((unused)) static struct window arm(const char *point)
{
	struct window w = { .point = point, .before = hits(point) };
	char command[64];

	snprintf(command, sizeof(command), "%s=60000ms times=1", point);
	ktap_eq(delay(command), 0);
	return w;
}

/* A thread stands in the window. */
__attribute__((unused)) static bool entered(const struct window *w)
{
	uint64_t until = gt_now_ns() + GT_TIMEOUT_MS * 1000000ull;

	while (hits(w->point) == w->before) {
		if (gt_now_ns() > until)
			return ktap_fail("no thread reaches %s", w->point);
		gt_sleep_ms(1);
	}
	return true;
}

/* The thread goes on. */
__attribute__((unused)) static void release(const struct window *w)
{
	char command[64];

	snprintf(command, sizeof(command), "%s=0ms", w->point);
	ktap_eq(delay(command), 0);
	ktap_eq(hits(w->point), w->before + 1);
}

/* ---- calls by another thread ---- */

struct call {
	pthread_t thread;
	int (*fn)(void *arg);
	void *arg;
	int ret;
	atomic_bool done;
};

__attribute__((unused)) static void *call_thread(void *arg)
{
	struct call *call = arg;

	call->ret = call->fn(call->arg);
	atomic_store(&call->done, true);
	return NULL;
}

__attribute__((unused)) static void call_start(struct call *call, int (*fn)(void *arg),
						     void *arg)
{
	*call = (struct call){ .fn = fn, .arg = arg };
	if (pthread_create(&call->thread, NULL, call_thread, call))
		gt_die("no thread");
}

__attribute__((unused)) static int call_end(struct call *call)
{
	pthread_join(call->thread, NULL);
	return call->ret;
}

__attribute__((unused)) static bool call_waits(struct call *call)
{
	gt_sleep_ms(MOMENT_MS);
	return !atomic_load(&call->done);
}

__attribute__((unused)) static int do_create(void *queue)
{
	return gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL, 0,
			    queue);
}

__attribute__((unused)) static int do_destroy(void *queue)
{
	return gt_queue_destroy(c.fd, *(uint32_t *)queue);
}

__attribute__((unused)) static int do_climb(void *rung)
{
	return climb(rung);
}

__attribute__((unused)) static int do_evict(void *unused)
{
	char path[300];

	(void)unused;
	gt_debugfs("evict", path, sizeof(path));
	return gt_write_file(path, "0");
}

__attribute__((unused)) static int do_close(void *handle)
{
	return gt_gem_close(c.fd, *(uint32_t *)handle);
}

__attribute__((unused)) static int do_unmap(void *vm)
{
	struct drm_tessera_bind_op op = gt_op_unmap(VA, MIB);

	return gt_vm_bind(c.fd, *(uint32_t *)vm, &op, 1);
}

__attribute__((unused)) static int do_unbind(void *slot)
{
	return gt_driver_write("unbind", slot);
}

__attribute__((unused)) static int do_bind(void *slot)
{
	return gt_driver_write("bind", slot);
}

/* ---- what tests share ---- */

/* The driver is bound again, and files of the old device are replaced. */
__attribute__((unused)) static void bind_again(char *slot)
{
	ktap_eq(do_bind(slot), 0);
	gt_wait_node();
	gt_ctx_free(&c);
	c = gt_ctx();
}

__attribute__((unused)) static bool readable(const char *leaf)
{
	static char text[65536];
	char path[300];

	gt_debugfs(leaf, path, sizeof(path));
	return gt_read_file(path, text, sizeof(text)) >= 0;
}

/* Workers free what destroyed objects had. */
__attribute__((unused)) static bool settles(uint64_t local_used)
{
	for (unsigned int i = 0; i < 500; i++) {
		if (gt_gpu_state(c.fd).local_used == local_used)
			return true;
		gt_sleep_ms(10);
	}
	return false;
}

/* A stream that says at data 8 that it has begun, and ends when data 0 is 1. */
__attribute__((unused)) static struct gt_cs gated(void)
{
	struct gt_cs cs = gt_stream(&c, 16);

	memset(gt_data(&c, 0), 0, 64);
	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(8), .value = 1);
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	return cs;
}

__attribute__((unused)) static void open_gate(void)
{
	*(volatile uint64_t *)gt_data(&c, 0) = 1;
}

__attribute__((unused)) static bool begun(void)
{
	return gt_spin_until((uint64_t *)gt_data(&c, 8), 1, GT_TIMEOUT_MS);
}

/* An atomic addition to data 16. */
__attribute__((unused)) static struct gt_cs adder(void)
{
	struct gt_cs cs = gt_stream(&c, 8);

	GT_EMIT(&cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE, .wide = true,
		.addr = gt_data_va(16), .value = 1);
	return cs;
}

__attribute__((unused)) static uint64_t added(void)
{
	return *(volatile uint64_t *)gt_data(&c, 16);
}

__attribute__((unused)) static int submit_plain(uint32_t queue)
{
	struct drm_tessera_job job = gt_job(queue, NULL);

	return gt_submit(c.fd, &job, 1);
}

#endif /* GT_WINDOW_H */
