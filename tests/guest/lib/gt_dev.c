// SPDX-License-Identifier: MIT
/* Nodes, raw ioctls and the kernel log. */
#include "gt.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

void gt_die(const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("Bail out! %s\n", text);
	fflush(stdout);
	_exit(1);
}

/* True if the node is driven by our driver. */
static bool is_tessera(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	drmVersionPtr version;
	bool ours;

	if (fd < 0)
		return false;
	version = drmGetVersion(fd);
	ours = version && !strcmp(version->name, "tessera");
	drmFreeVersion(version);
	close(fd);
	return ours;
}

bool gt_node_path(unsigned int index, bool render, char *path, size_t size)
{
	unsigned int minor, base = render ? 128 : 0;

	for (minor = base; minor < base + 64; minor++) {
		snprintf(path, size, "/dev/dri/%s%u", render ? "renderD" : "card", minor);
		if (!is_tessera(path))
			continue;
		if (!index--)
			return true;
	}
	return false;
}

int gt_open_nth(unsigned int index, bool render)
{
	char path[64];
	int fd;

	if (!gt_node_path(index, render, path, sizeof(path)))
		return -ENOENT;
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int gt_open(void)
{
	int fd = gt_open_nth(0, true);

	if (fd < 0)
		gt_die("no Tessera render node: %s", strerror(-fd));
	return fd;
}

int gt_open_as(uid_t uid)
{
	const uid_t self = getuid();
	int fd;

	if (setresuid(uid, (uid_t)-1, (uid_t)-1))
		gt_die("real uid %u is refused: %s", uid, strerror(errno));
	fd = gt_open();
	if (setresuid(self, (uid_t)-1, (uid_t)-1))
		gt_die("real uid %u is refused: %s", self, strerror(errno));
	return fd;
}

int gt_open_card(void)
{
	int fd = gt_open_nth(0, false);

	if (fd < 0)
		gt_die("no Tessera primary node: %s", strerror(-fd));
	return fd;
}

void gt_sysfs(unsigned int index, const char *leaf, char *path, size_t size)
{
	char node[64], link[128], real[4096];

	if (!gt_node_path(index, true, node, sizeof(node)))
		gt_die("no Tessera device %u", index);
	snprintf(link, sizeof(link), "/sys/class/drm/%s/device", strrchr(node, '/') + 1);
	if (!realpath(link, real))
		gt_die("%s: %s", link, strerror(errno));
	snprintf(path, size, "%s%s%s", real, *leaf ? "/" : "", leaf);
}

void gt_pci_slot(char *slot, size_t size)
{
	char path[300];

	gt_sysfs(0, "", path, sizeof(path));
	snprintf(slot, size, "%s", strrchr(path, '/') + 1);
}

int gt_driver_write(const char *leaf, const char *slot)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/tessera/%s", leaf);
	return gt_write_file(path, slot);
}

bool gt_wait_node(void)
{
	char path[64];

	for (unsigned int i = 0; i < 1000; i++) {
		if (gt_node_path(0, true, path, sizeof(path)))
			return true;
		gt_sleep_ms(5);
	}
	return false;
}

void gt_rebind(void)
{
	char path[300];
	int fd = -1;

	gt_sysfs(0, "remove", path, sizeof(path));
	gt_write_file(path, "1");
	gt_write_file("/sys/bus/pci/rescan", "1");
	for (unsigned int i = 0; i < 100 && fd < 0; i++) {
		gt_sleep_ms(20);
		fd = gt_open_nth(0, true);
	}
	if (fd >= 0)
		close(fd);
}

bool gt_masters_bus(void)
{
	enum { COMMAND = 4, COMMAND_MASTER = 4 };	/* of the configuration space */
	char path[300];
	uint16_t command = 0;
	ssize_t got;
	int fd;

	gt_sysfs(0, "config", path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = pread(fd, &command, 2, COMMAND);
	if (got != 2)
		gt_die("%s: %s", path, strerror(errno));
	close(fd);
	return command & COMMAND_MASTER;
}

void gt_debugfs(const char *leaf, char *path, size_t size)
{
	char pattern[100];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/sys/kernel/debug/dri/*/%s", leaf);
	if (glob(pattern, 0, NULL, &found))
		gt_die("no %s", pattern);
	snprintf(path, size, "%s", found.gl_pathv[0]);
	globfree(&found);
}

int gt_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int gt_read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	text[0] = '\0';
	if (fd < 0)
		return -errno;
	while (used + 1 < size && (got = read(fd, text + used, size - 1 - used)) > 0)
		used += got;
	text[used] = '\0';
	close(fd);
	return used;
}

long long gt_fdinfo(int fd, const char *key)
{
	char path[64], text[8192], *at;
	unsigned long long value;
	char unit = 0;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (gt_read_file(path, text, sizeof(text)) <= 0)
		return -1;
	at = strstr(text, key);
	if (!at || sscanf(at + strlen(key), ": %llu %c", &value, &unit) < 1)
		return -1;
	return (long long)(value * (unit == 'K' ? 1024 : unit == 'M' ? 1 << 20 : 1));
}

const char *gt_sysfs_line(const char *leaf)
{
	static char text[100];
	char path[300];

	gt_sysfs(0, leaf, path, sizeof(path));
	gt_read_file(path, text, sizeof(text));
	text[strcspn(text, "\n")] = 0;
	return text;
}

bool gt_sched_engine(void)
{
	char text[20];

	return gt_read_file("/sys/module/tessera/parameters/sched", text, sizeof(text)) > 0 &&
	       !strncmp(text, "engine", 6);
}

int gt_ioctl(int fd, unsigned long request, void *arg)
{
	return drmIoctl(fd, request, arg) ? -errno : 0;
}

int gt_ioctl_sized(int fd, unsigned long request, void *arg, size_t size)
{
	return gt_ioctl(fd, _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request), size),
			arg);
}

unsigned int gt_timeout_ms(void)
{
	static const char file[] = "/sys/module/tessera/parameters/job_timeout_ms";
	static unsigned int timeout;
	char text[16];

	if (timeout)
		return timeout;
	timeout = 20000;
	if (gt_read_file(file, text, sizeof(text)) > 0 && strtoul(text, NULL, 10) > timeout / 2)
		timeout = 2 * strtoul(text, NULL, 10);
	return timeout;
}

uint64_t gt_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void gt_sleep_ms(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

int gt_kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* A data race that the kernel has without the driver: KCSAN's first line names both functions. */
static bool others_race(const char *text)
{
	return strstr(text, "BUG: KCSAN:") && !strstr(text, "[tessera]");
}

bool gt_kmsg_bad(int kmsg, char *line, size_t size)
{
	static const char *const signs[] = {
		"WARNING:",
		"BUG:",
		"Oops",
		"general protection",
		"lockdep",
		"KASAN",
		"KFENCE",
		"UBSAN",
		"possible recursive locking",
		"circular locking",
		"INFO: task",
		"rcu_sched",
		"rcu_preempt",
		"refcount_t:",
		"list_add corruption",
		"list_del corruption",
		"kernel NULL pointer",
		"Call Trace",
		"DMAR: [DMA",
		"DMAR: DRHD",
		"memory leak",
	};
	char record[8192], before[3][100] = { "", "", "" };
	ssize_t got;
	size_t i;

	/*
	 * EPIPE: older records were overwritten before we read them. The next read continues after
	 * the gap.
	 */
	while ((got = read(kmsg, record, sizeof(record) - 1)) > 0 || (got < 0 && errno == EPIPE)) {
		const char *text = record;

		if (got < 0)
			continue;
		record[got] = '\0';
		text += strcspn(record, ";");
		text += *text == ';';
		for (i = 0; i < GT_ARRAY_SIZE(signs); i++) {
			if (!strstr(text, signs[i]) || others_race(text))
				continue;
			snprintf(line, size, "%.*s (behind: %s | %s | %s)",
				 (int)strcspn(text, "\n"), text, before[0], before[1], before[2]);
			return true;
		}
		memmove(before[0], before[1], sizeof(before) - sizeof(before[0]));
		snprintf(before[2], sizeof(before[2]), "%.*s", (int)strcspn(text, "\n"), text);
	}
	return false;
}
