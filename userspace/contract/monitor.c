// SPDX-License-Identifier: MIT
/* The view of a monitoring daemon: uevents, device core dumps, the kernel log, fdinfo. */
#include "contract.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void monitor_begin(struct monitor *m)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };

	memset(m, 0, sizeof(*m));
	monitor_dumps(false);
	m->uevents = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	if (m->uevents >= 0)
		bind(m->uevents, (struct sockaddr *)&address, sizeof(address));
	m->kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (m->kmsg >= 0)
		lseek(m->kmsg, 0, SEEK_END);
}

void monitor_end(struct monitor *m)
{
	close(m->uevents);
	close(m->kmsg);
}

/* The value of a variable of an event, whose strings end with an empty one. */
static const char *value_of(const char *event, const char *name)
{
	for (; *event; event += strlen(event) + 1)
		if (!strncmp(event, name, strlen(name)))
			return event + strlen(name);
	return NULL;
}

/* "" if the event names no process, "+pid" if it names the culprit. */
static const char *named(const struct monitor *m, const char *event)
{
	const char *pid = value_of(event, "PID="), *task = value_of(event, "TASK=");

	if (!pid && !task)
		return "";
	if (pid && task && atoi(pid) == m->culprit && !strcmp(task, m->culprit_name))
		return "+pid";
	return "+another";
}

static void note_event(struct monitor *m, const char *event)
{
	const char *wedged = value_of(event, "WEDGED=");
	size_t used = strlen(m->event);

	if (!wedged)
		return;
	m->events++;
	snprintf(m->event + used, sizeof(m->event) - used, "%s%s%s", used ? " " : "", wedged,
		 named(m, event));
	if (!strcmp(wedged, "none"))
		return;
	m->gives_up = true;
	m->dma |= system_masters_bus();
	for (unsigned int i = 0; i < m->fence_count; i++)
		m->early |= m->fences[i] >= 0 && fence_error(m->fences[i]) == -ETIME;
}

void monitor_poll(struct monitor *m, int ms)
{
	struct pollfd polled = { .fd = m->uevents, .events = POLLIN };
	char event[8192];

	while (poll(&polled, 1, ms) == 1) {
		ssize_t got = recv(m->uevents, event, sizeof(event) - 2, MSG_DONTWAIT);

		if (got > 0) {
			event[got] = event[got + 1] = 0;
			note_event(m, event);
		}
		ms = 0;
	}
}

/* Read a dump and have the kernel drop it; whether there was one. */
static bool take_dump(void)
{
	uint64_t until = now_ms() + 5000;
	char bytes[4096];
	size_t size = 0;
	glob_t found;
	ssize_t got;
	int fd;

	if (glob("/sys/class/devcoredump/devcd*/data", 0, NULL, &found))
		return false;
	fd = open(found.gl_pathv[0], O_RDWR | O_CLOEXEC);
	while (fd >= 0 && (got = read(fd, bytes, sizeof(bytes))) > 0)
		size += got;
	if (fd >= 0 && write(fd, "1", 1) < 0)
		size = 0;
	close(fd);
	/* While its link is there, the next dump cannot have one, and the kernel warns of that. */
	while (!access(found.gl_pathv[0], F_OK) && now_ms() < until)
		usleep(1000);
	if (!access(found.gl_pathv[0], F_OK))
		size = 0;
	globfree(&found);
	while (!glob("/sys/bus/*/devices/*/devcoredump", 0, NULL, &found) && now_ms() < until) {
		globfree(&found);
		usleep(1000);
	}
	return size > 0;
}

/* A dump comes a moment after the failure, from a work item. */
unsigned int monitor_dumps(bool expected)
{
	uint64_t until = now_ms() + (expected ? 5000 : 0);
	unsigned int count = 0;

	do {
		while (take_dump())
			count++;
		if (count)
			break;
		usleep(10000);
	} while (now_ms() < until);
	if (expected)
		usleep(100000);
	while (take_dump())
		count++;
	return count;
}

/* "clean", or the first line that reports a bug of the kernel. */
void monitor_log(struct monitor *m, char *text, size_t size)
{
	static const char *const signs[] = {
		"WARNING:", "BUG:", "Oops", "general protection", "lockdep", "INFO: task",
		"possible recursive locking", "circular locking", "rcu_preempt", "refcount_t:",
		"list_add corruption", "list_del corruption", "NULL pointer", "Call Trace",
		"DMAR: [DMA", "fencewatch: ", "driver bug",
	};
	char record[8192];
	ssize_t got;

	snprintf(text, size, m->kmsg < 0 ? "unreadable" : "clean");
	while ((got = read(m->kmsg, record, sizeof(record) - 1)) > 0 ||
	       (got < 0 && errno == EPIPE)) {
		const char *line;

		if (got < 0)
			continue;
		record[got] = 0;
		line = strchr(record, ';') ? strchr(record, ';') + 1 : record;
		for (unsigned int i = 0; i < ARRAY_SIZE(signs); i++) {
			if (!strstr(line, signs[i]) || strcmp(text, "clean"))
				continue;
			snprintf(text, size, "%.*s", (int)strcspn(line, "\n"), line);
		}
	}
}

long long monitor_engine_ns(pid_t pid)
{
	char pattern[40], text[8192], *at;
	long long sum = -1;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/proc/%d/fdinfo/*", pid);
	if (glob(pattern, 0, NULL, &found))
		return -1;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (read_file(found.gl_pathv[i], text, sizeof(text)) <= 0)
			continue;
		for (at = text; (at = strstr(at, "drm-engine-")); at++) {
			if (!strncmp(at, "drm-engine-capacity-", 20) || !strchr(at, ':'))
				continue;
			sum = (sum < 0 ? 0 : sum) + strtoll(strchr(at, ':') + 1, NULL, 10);
		}
	}
	globfree(&found);
	return sum;
}
