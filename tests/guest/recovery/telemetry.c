// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 DEVICE_ARGS=inject-window=on */
/* test: KERNEL_ARGS=tessera.job_timeout_ms=1000;tessera.job_limit_ms=2000 */
/*
 * Events for a desktop's crash notifier. Each reset of a queue or of the device sends WEDGED=none,
 * with the PID and the name of the process whose job was at fault.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gt_recover.h"

/* The next event of ours; its variables, NUL-terminated each, end with an empty one. */
static bool next_event(int fd, char *text, size_t size)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	ssize_t got;

	while (poll(&poll_fd, 1, 30000) == 1) {
		got = recv(fd, text, size - 2, 0);
		got = got > 0 ? got : 0;
		text[got] = text[got + 1] = 0;
		for (char *at = text; *at; at += strlen(at) + 1)
			if (!strncmp(at, "WEDGED=", 7))
				return true;
	}
	text[0] = text[1] = 0;
	return false;
}

/* The value of variable @name, such as "PID=", or NULL. */
static const char *value_of(const char *text, const char *name)
{
	for (; *text; text += strlen(text) + 1)
		if (!strncmp(text, name, strlen(name)))
			return text + strlen(name);
	return NULL;
}

static void expect_culprit(int events, pid_t pid)
{
	char text[4096], number[20];
	const char *value;

	KTAP_REQUIRE(next_event(events, text, sizeof(text)));
	value = value_of(text, "WEDGED=");
	ktap_ok(value && !strcmp(value, "none"));
	snprintf(number, sizeof(number), "%d", pid);
	value = value_of(text, "PID=");
	ktap_ok(value && !strcmp(value, number));
	value = value_of(text, "TASK=");
	ktap_ok(value && !strcmp(value, "culprit"));
}

/* No other event is on its way. */
static void expect_quiet(int events)
{
	struct pollfd poll_fd = { .fd = events, .events = POLLIN };
	char text[4096];
	ssize_t got;

	gt_sleep_ms(300);
	while (poll(&poll_fd, 1, 0) == 1) {
		got = recv(events, text, sizeof(text) - 1, 0);
		ktap_ok(!uevent_has(text, got > 0 ? got : 0, "WEDGED=none"));
	}
}

/* A process with one job that fails: it waits for a value that never comes, or it faults. */
static pid_t start_culprit(bool faults)
{
	pid_t pid = fork();
	struct gt_ctx c;
	struct gt_cs cs;
	int want = faults ? -EFAULT : -ETIMEDOUT;

	if (pid)
		return pid;
	prctl(PR_SET_NAME, "culprit");
	c = gt_ctx();
	cs = gt_stream(&c, 8);
	*(volatile uint64_t *)gt_data(&c, 0) = 0;
	if (faults)
		GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x7000000000, .size = 64);
	else
		GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	/* It goes at once: the event must not depend on its being there. */
	_exit(gt_run(&c, &cs) == want ? 0 : 1);
}

static void join(pid_t pid)
{
	int status = -1;

	ktap_eq(waitpid(pid, &status, 0), pid);
	ktap_eq(status, 0);
}

static void queue_reset(void)
{
	int events = uevents_open();
	pid_t pid = start_culprit(false);

	join(pid);
	expect_culprit(events, pid);
	pid = start_culprit(true);
	join(pid);
	expect_culprit(events, pid);
	expect_quiet(events);
	close(events);
}

/* A slot that does not stop costs the device. Whose it was is still known; one event is sent. */
static void device_reset(void)
{
	struct drm_tessera_gpu_state before, after;
	int events = uevents_open(), fd = gt_open();
	pid_t pid;

	before = gt_gpu_state(fd);
	ktap_eq(gt_inject("stop-stuck times=2"), 0);
	pid = start_culprit(false);
	join(pid);
	ktap_eq(gt_inject("clear"), 0);
	expect_culprit(events, pid);
	expect_quiet(events);
	after = gt_gpu_state(fd);
	ktap_eq(after.reset_count, before.reset_count + 1);
	close(fd);
	close(events);
}

/* Where no job is at fault nobody is named. */
static void nobody(void)
{
	struct victim v = start_victim();
	int events = uevents_open();
	char text[4096];

	ktap_eq(climb("device"), 0);
	expect_innocent(&v);
	KTAP_REQUIRE(next_event(events, text, sizeof(text)));
	ktap_ok(value_of(text, "WEDGED=") && !strcmp(value_of(text, "WEDGED="), "none"));
	ktap_ok(!value_of(text, "PID="));
	ktap_ok(!value_of(text, "TASK="));
	expect_quiet(events);
	close(events);
	gt_ctx_free(&v.c);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("a reset of a queue is reported with the culprit", queue_reset);
	ktap_run("a reset of the device is reported with the culprit", device_reset);
	ktap_run("a reset by nobody's fault is reported without one", nobody);
	return gt_finish();
}
