// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 DEVICE_ARGS=vram=64M */
/*
 * Control groups and local memory: dmem.max limits what the processes of a group have of it, what
 * is below dmem.min stays. A group without room in local memory works in system memory.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB	0x100000ULL
#define VA	0x40000000ULL
#define SIZE	(4 * MIB)
#define COUNT	8u
#define FILLERS	40u			/* 160 MiB, for 64 MiB */
#define LOCAL	DRM_TESSERA_BO_LOCAL
#define ROOT	"/tmp/cgroup"
#define GROUP	ROOT "/tessera"

static char region[128];	/* its name in the files of the controller */
static bool there;

/* ---- groups ---- */

/* The number of our region in a file of a group; -1: there is none. */
static long long number(const char *file)
{
	char text[4096], *line;

	if (gt_read_file(file, text, sizeof(text)) < 0)
		return -1;
	line = strstr(text, region);
	return line ? strtoll(line + strlen(region), NULL, 10) : -1;
}

static int set(const char *file, uint64_t bytes)
{
	char text[200];

	snprintf(text, sizeof(text), "%s %llu", region, (unsigned long long)bytes);
	return gt_write_file(file, text);
}

static void find_controller(void)
{
	char text[4096], path[300];

	mkdir(ROOT, 0755);
	if (mount("cgroup2", ROOT, "cgroup2", 0, NULL) && errno != EBUSY)
		return;
	if (gt_read_file(ROOT "/cgroup.controllers", text, sizeof(text)) < 0 ||
	    !strstr(text, "dmem"))
		return;
	gt_sysfs(0, "", path, sizeof(path));
	snprintf(region, sizeof(region), "drm/%s/local", strrchr(path, '/') + 1);
	there = !gt_write_file(ROOT "/cgroup.subtree_control", "+dmem");
	mkdir(GROUP, 0755);
}

static bool needs_controller(void)
{
	if (!there)
		ktap_skip("the kernel has no controller of device memory");
	return there;
}

/* ---- processes ---- */

struct child {
	volatile uint32_t in_local, wrong;
	volatile bool made, stop;
};

static struct child *shared;

static uint32_t count_local(struct gt_ctx *c, struct gt_bo *bo)
{
	uint32_t count = 0;

	for (unsigned int i = 0; i < COUNT; i++)
		count += !!(gt_bo_state(c->fd, bo[i].handle) & DRM_TESSERA_BO_IN_LOCAL);
	return count;
}

static int fill(struct gt_ctx *c, uint64_t va, uint64_t pattern)
{
	struct gt_cs cs = gt_stream(c, 8);

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = va, .size = SIZE, .pattern_lo = pattern);
	return gt_run(c, &cs);
}

/* A member of the group has 32 MiB of LOCAL BOs, and says how many are in local memory. */
static void member(void)
{
	struct gt_bo bo[COUNT];
	struct gt_ctx c;

	if (gt_write_file(GROUP "/cgroup.procs", "0"))
		_exit(1);
	c = gt_ctx();
	for (unsigned int i = 0; i < COUNT; i++) {
		bo[i] = gt_bo(c.fd, SIZE, LOCAL);
		gt_bo_bind(&bo[i], c.vm, VA + i * SIZE, GT_RW);
		shared->wrong += !!fill(&c, bo[i].va, i + 1);
	}
	while (!shared->stop) {
		shared->in_local = count_local(&c, bo);
		shared->made = true;
		gt_sleep_ms(10);
	}
	for (unsigned int i = 0; i < COUNT; i++)
		shared->wrong += ((volatile uint64_t *)bo[i].map)[SIZE / 16] != i + 1;
	for (unsigned int i = 0; i < COUNT; i++)
		gt_bo_free(&bo[i]);
	gt_ctx_free(&c);
	_exit(0);
}

static pid_t start(void)
{
	pid_t pid;

	memset((void *)shared, 0, sizeof(*shared));
	fflush(stdout);
	pid = fork();
	if (!pid)
		member();
	while (!shared->made && !waitpid(pid, NULL, WNOHANG))
		gt_sleep_ms(5);
	return pid;
}

/* Until the member says that so many BOs are in local memory. */
static bool becomes(uint32_t count)
{
	for (unsigned int i = 0; i < 200 && shared->in_local != count; i++)
		gt_sleep_ms(10);
	return shared->in_local == count;
}

static void finish(pid_t pid)
{
	int status = -1;

	shared->stop = true;
	ktap_eq(waitpid(pid, &status, 0), pid);
	ktap_eq(status, 0);
	ktap_eq(shared->wrong, 0);
	for (unsigned int i = 0; i < 200 && number(GROUP "/dmem.current") > 0; i++)
		gt_sleep_ms(10);
	ktap_ok(number(GROUP "/dmem.current") <= 0);
}

/* ---- tests ---- */

static void capacity(void)
{
	int fd;

	if (!needs_controller())
		return;
	fd = gt_open();
	ktap_eq(number(ROOT "/dmem.capacity"), gt_gpu_info(fd).local_size);
	close(fd);
}

static void limited(void)
{
	pid_t pid;

	if (!needs_controller())
		return;
	ktap_eq(set(GROUP "/dmem.max", 4 * SIZE), 0);
	pid = start();
	ktap_ok(becomes(4));
	ktap_eq(number(GROUP "/dmem.current"), 4 * SIZE);
	/* With a lower limit, some are evicted at once. */
	ktap_eq(set(GROUP "/dmem.max", SIZE), 0);
	ktap_ok(becomes(1));
	ktap_eq(number(GROUP "/dmem.current"), SIZE);
	finish(pid);
	ktap_eq(set(GROUP "/dmem.max", 64 * MIB), 0);
}

/* Somebody else fills local memory. @min bytes of the group stay in it, and not one more. */
static void protected(uint64_t min)
{
	struct gt_bo bo[FILLERS];
	int fd = gt_open();
	pid_t pid;

	ktap_eq(set(GROUP "/dmem.min", min), 0);
	pid = start();
	ktap_ok(becomes(COUNT));
	for (unsigned int i = 0; i < FILLERS; i++)
		bo[i] = gt_bo(fd, SIZE, LOCAL | DRM_TESSERA_BO_NO_MMAP);
	ktap_ok(becomes(min / SIZE));
	finish(pid);
	for (unsigned int i = 0; i < FILLERS; i++)
		gt_bo_free(&bo[i]);
	close(fd);
	ktap_eq(set(GROUP "/dmem.min", 0), 0);
}

static void guarded(void)
{
	if (!needs_controller())
		return;
	protected(0);
	protected(3 * SIZE);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	find_controller();
	ktap_run("[MEM7] cgroups know how much local memory there is", capacity);
	ktap_run("[MEM7] dmem.max limits what a cgroup has in local memory", limited);
	ktap_run("[MEM7] dmem.min keeps it there", guarded);
	return gt_finish();
}
