// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=120 DEVICE_ARGS=vram=32M
 * test: KERNEL_ARGS=tessera.job_timeout_ms=2000;tessera.job_limit_ms=4000
 */
/*
 * The driver and the device go away and come back: module reload, unbind and rebind, PCI removal
 * and rescan; idle, with work in flight, with files, mappings and fences still open. A boot of its
 * own, since what goes wrong here leaves no device to test.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/sync_file.h>

/* Not in the headers of older systems. */
struct set_deadline {
	uint64_t deadline_ns;
	uint64_t pad;
};

#define SET_DEADLINE	_IOW(SYNC_IOC_MAGIC, 5, struct set_deadline)

static char slot[64];		/* 0000:01:00.0 */

static int driver_write(const char *leaf)
{
	return gt_driver_write(leaf, slot);
}

/* Device nodes come from a kernel thread a moment after the device. */
static bool wait_for_node(void)
{
	uint64_t until = gt_now_ns() + 5000000000ULL;
	char path[64];

	while (!gt_node_path(0, true, path, sizeof(path))) {
		if (gt_now_ns() > until)
			return false;
		gt_sleep_ms(5);
	}
	return true;
}

static bool works(void)
{
	struct gt_ctx c;
	struct gt_cs cs;
	bool ok;

	if (!wait_for_node())
		return false;
	c = gt_ctx();
	cs = gt_stream(&c, 8);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = 64,
		.pattern_lo = 0x900d);
	ok = gt_run(&c, &cs) == 0 && ((volatile uint64_t *)gt_data(&c, 0))[7] == 0x900d;
	gt_ctx_free(&c);
	return ok;
}

/*
 * Before 7.1 fences hold the module, and the last of a closed file are freed behind an RCU grace
 * period: a moment of EAGAIN is right, more is not.
 */
static int unload(void)
{
	uint64_t until = gt_now_ns() + 3000000000ULL;
	int ret;

	while ((ret = system("rmmod tessera 2>/dev/null")) && gt_now_ns() < until)
		gt_sleep_ms(10);
	return ret;
}

static void reload(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		if (!ktap_eq(unload(), 0) || !ktap_eq(system("modprobe tessera"), 0))
			break;
		if (!ktap_ok(works()))
			break;
	}
}

/* rmmod is refused while a file is open, and everything in it goes on. */
static void module_in_use(void)
{
	int fd = gt_open();

	ktap_ok(system("rmmod tessera 2>/dev/null") != 0);
	close(fd);
	ktap_ok(works());
}

/* From 7.1 on the core detaches a fence from its driver when it signals. */
static bool fences_are_detached(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	uname(&name);
	sscanf(name.release, "%u.%u", &major, &minor);
	return major > 7 || (major == 7 && minor >= 1);
}

/*
 * A fence that has signalled is used after the module is gone: asked for its state and its names,
 * given a deadline, closed. On older kernels it keeps the module.
 */
static void fence_outlives_module(void)
{
	struct set_deadline deadline = { .deadline_ns = gt_now_ns() };
	struct sync_fence_info fence = { 0 };
	struct sync_file_info info = { .num_fences = 1, .sync_fence_info = gt_ptr(&fence) };
	struct gt_ctx c = gt_ctx();
	struct gt_cs cs = gt_stream(&c, 8);
	struct drm_tessera_sync done = gt_binary(c.sync);
	int file;

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = 64);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	file = gt_fence_file(c.fd, c.sync);
	gt_ctx_free(&c);
	if (!fences_are_detached()) {
		ktap_ok(unload() != 0);
		close(file);
		ktap_ok(works());
		return;
	}
	ktap_eq(unload(), 0);
	ktap_eq(ioctl(file, SET_DEADLINE, &deadline), 0);
	ktap_eq(ioctl(file, SYNC_IOC_FILE_INFO, &info), 0);
	ktap_eq(info.status, 1);
	ktap_eq(fence.status, 1);
	ktap_ok(fence.timestamp_ns != 0);
	ktap_eq(system("modprobe tessera"), 0);
	close(file);
	ktap_ok(works());
}

static void rebind(void)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		ktap_eq(driver_write("unbind"), 0);
		ktap_eq(gt_open_nth(0, true), -ENOENT);
		ktap_eq(driver_write("bind"), 0);
		if (!ktap_ok(works()))
			break;
	}
}

/* The sum of the numbers that follow @field in a text. */
static long sum_of(const char *file, const char *field)
{
	static char text[32768];
	const char *at;
	long sum = 0;

	gt_read_file(file, text, sizeof(text));
	for (at = text; (at = strstr(at, field)); at++)
		sum += strtol(at + strlen(field), NULL, 10);
	return sum;
}

/*
 * Pages that nobody has, in KiB, when what the last close left to workers and RCU is gone: also
 * those that a processor has taken to give them out one by one, and what slabs may keep.
 */
static long free_kib(void)
{
	gt_sleep_ms(300);
	return sum_of("/proc/meminfo", "MemFree:") + sum_of("/proc/meminfo", "\nSlab:") +
	       sum_of("/proc/zoneinfo", " count:") * (long)(GT_PAGE / 1024);
}

static unsigned long free_mib(void)
{
	return free_kib() >> 10;
}

/*
 * The driver frees a device's memory with the device. Caches are filled after a few rounds. A leak
 * of one page per round would be 128 pages.
 */
static void memory_of_the_gone(void)
{
	enum { FIRST = 16, ROUNDS = 128 };
	long before = 0, after;
	unsigned int i;

	for (i = 0; i < FIRST + ROUNDS; i++) {
		if (i == FIRST)
			before = free_kib();
		if (driver_write("unbind") || driver_write("bind"))
			break;
	}
	ktap_eq(i, FIRST + ROUNDS);
	after = free_kib();
	if (!ktap_ok(before - after < ROUNDS * 4 / 2))
		ktap_note("%ld KiB were free, and are %ld", before, after);
	ktap_ok(works());
}

/* Rings that their owner drops when the device is gone, round after round, are freed. */
static void rings_of_the_gone(void)
{
	enum { ROUNDS = 6, QUEUES = 16 };	/* as many as a file may have */
	unsigned long before = 0, size = 0;
	unsigned int i, j;

	for (i = 0; i < 1 + ROUNDS; i++) {
		int fd = gt_open();
		uint32_t vm = gt_vm(fd), queue;

		size = 1u << TSR_RING_LOG2_MAX;
		for (j = 0; j < QUEUES; j++)
			ktap_eq(gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COPY,
					     DRM_TESSERA_PRIORITY_NORMAL, size, &queue), 0);
		ktap_eq(driver_write("unbind"), 0);
		close(fd);
		ktap_eq(driver_write("bind"), 0);
		KTAP_REQUIRE(wait_for_node());
		if (!i)
			before = free_mib();
	}
	if (!ktap_ok(free_mib() + (ROUNDS * QUEUES * size >> 21) > before))
		ktap_note("%lu MiB were free, and are %lu", before, free_mib());
}

/* The work of a file when the device is removed. */
struct busy {
	struct gt_ctx c;
	uint32_t blocked;	/* queue with a job that waits for ever */
	uint32_t local;		/* a LOCAL BO and its mapping */
	void *local_map;
	uint32_t perfmon;
	int job, bind;		/* fences of the blocked job and of an asynchronous bind after it */
};

static uint32_t make_perfmon(int fd)
{
	struct drm_tessera_counter_info info[64];
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_COUNTERS, .size = sizeof(info), .ptr = gt_ptr(info),
		.stride = sizeof(*info),
	};
	struct drm_tessera_perfmon_create args = { .counters = GT_ARRAY(&info->id, 1) };

	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_PERFMON_CREATE, &args), 0);
	return args.perfmon_id;
}

static int read_perfmon(int fd, uint32_t perfmon)
{
	uint64_t value;
	struct drm_tessera_perfmon_read args = {
		.perfmon_id = perfmon, .values = GT_ARRAY(&value, 1),
	};

	return gt_ioctl(fd, DRM_IOCTL_TESSERA_PERFMON_READ, &args);
}

static struct busy start_busy(void)
{
	struct busy b = { .c = gt_ctx() };
	struct gt_cs wait = gt_stream(&b.c, 3), copy = gt_stream(&b.c, 4);
	struct drm_tessera_bind_op op = gt_op_map(b.c.data.handle, 0x40000000, GT_PAGE, 0, GT_RW);
	struct drm_tessera_sync job = gt_binary(gt_syncobj(b.c.fd, false));
	struct drm_tessera_sync bind = gt_binary(gt_syncobj(b.c.fd, false));
	struct drm_tessera_sync point = gt_point(gt_syncobj(b.c.fd, false), 2);

	b.blocked = gt_queue(b.c.fd, b.c.vm, DRM_TESSERA_ENGINE_COPY);
	if (!gt_bo_try(b.c.fd, GT_PAGE, DRM_TESSERA_BO_LOCAL, 0, &b.local))
		b.local_map = gt_bo_mmap(b.c.fd, b.local, GT_PAGE);
	*(volatile uint64_t *)gt_data(&b.c, 0) = 0;
	GT_EMIT(&wait, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&copy, copy_linear, .src = gt_data_va(0), .dst = gt_data_va(GT_DATA_SIZE / 2),
		.size = GT_DATA_SIZE / 2);
	ktap_eq(gt_kick(&b.c, b.blocked, &wait, &job), 0);
	ktap_eq(gt_kick(&b.c, b.c.queue, &copy, &point), 0);
	ktap_eq(gt_bind_async(b.c.fd, b.c.vm, &op, 1, &job, &bind), 0);
	b.job = gt_fence_file(b.c.fd, job.handle);
	b.bind = gt_fence_file(b.c.fd, bind.handle);
	b.perfmon = make_perfmon(b.c.fd);
	ktap_eq(read_perfmon(b.c.fd, b.perfmon), 0);
	return b;
}

/*
 * After unplug: every ioctl is ENODEV, and so is every fence (as a file: the syncobjs went with the
 * device's); mappings do not crash, the file can be closed.
 */
static void check_gone(struct busy *b)
{
	struct drm_tessera_job job = gt_job(b->c.queue, NULL);
	struct drm_tessera_vm_create create = { 0 };
	struct drm_tessera_dev_query query = { 0 };
	struct drm_tessera_bind_op op = gt_op_unmap(0x40000000, GT_PAGE);
	uint32_t handle;

	ktap_eq(gt_file_error(b->job), -ENODEV);
	ktap_eq(gt_file_error(b->bind), -ENODEV);
	ktap_eq(gt_ioctl(b->c.fd, DRM_IOCTL_TESSERA_VM_CREATE, &create), -ENODEV);
	ktap_eq(gt_ioctl(b->c.fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), -ENODEV);
	ktap_eq(gt_bo_try(b->c.fd, GT_PAGE, 0, 0, &handle), -ENODEV);
	ktap_eq(gt_submit(b->c.fd, &job, 1), -ENODEV);
	ktap_eq(gt_vm_bind(b->c.fd, b->c.vm, &op, 1), -ENODEV);
	ktap_eq(read_perfmon(b->c.fd, b->perfmon), -ENODEV);
	/* Memory of the system stays readable; local memory is replaced by something harmless. */
	*(volatile uint64_t *)gt_data(&b->c, 8) = 0x77;
	ktap_eq(*(volatile uint64_t *)gt_data(&b->c, 8), 0x77);
	if (b->local_map) {
		*(volatile uint64_t *)b->local_map = 1;
		(void)*(volatile uint64_t *)b->local_map;
		munmap(b->local_map, GT_PAGE);
	}
	munmap(b->c.cmd.map, b->c.cmd.size);
	munmap(b->c.data.map, b->c.data.size);
	close(b->c.fd);
}

static void unbind_busy(void)
{
	struct busy b = start_busy();

	ktap_eq(driver_write("unbind"), 0);
	check_gone(&b);
	ktap_eq(driver_write("bind"), 0);
	ktap_ok(works());
}

/* The old file stays open across the new device's life. */
static void late_close(void)
{
	struct busy old = start_busy();

	ktap_eq(driver_write("unbind"), 0);
	ktap_eq(driver_write("bind"), 0);
	ktap_ok(works());
	check_gone(&old);
	ktap_ok(works());
}

/* One process of the storm: ioctls of all kinds until they say that the device is gone. */
static int storm_client(volatile unsigned int *ready)
{
	struct gt_ctx c = gt_ctx();
	uint64_t until = gt_now_ns() + 20000000000ULL;
	int ret = 0;

	__sync_fetch_and_add(ready, 1);
	while (ret != -ENODEV && gt_now_ns() < until) {
		struct drm_tessera_bind_op op =
			gt_op_map(c.data.handle, 0x40000000, GT_PAGE, 0, GT_RW);
		struct gt_cs cs = gt_stream(&c, 4);
		struct drm_tessera_sync done = gt_binary(c.sync);
		uint32_t queue = 0, handle;

		GT_EMIT(&cs, copy_linear, .src = gt_data_va(0), .dst = gt_data_va(0x8000),
			.size = 0x8000);
		ret = gt_kick(&c, c.queue, &cs, &done);
		ret = ret ? ret : gt_vm_bind(c.fd, c.vm, &op, 1);
		ret = ret ? ret : gt_bind_async(c.fd, c.vm, &op, 1, &done, &done);
		ret = ret ? ret : gt_bo_try(c.fd, GT_PAGE, DRM_TESSERA_BO_LOCAL, 0, &handle);
		ret = ret ? ret : gt_gem_close(c.fd, handle);
		ret = ret ? ret : gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queue);
		ret = ret ? ret : gt_queue_destroy(c.fd, queue);
	}
	return ret == -ENODEV ? 0 : 1;
}

/* Unbind while processes are inside ioctls: each ends with ENODEV, nothing else. */
static void unbind_in_a_storm(void)
{
	volatile unsigned int *ready = mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE,
					    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int round, i;

	KTAP_REQUIRE(ready != MAP_FAILED);
	for (round = 0; round < 5; round++) {
		pid_t pids[3];

		*ready = 0;
		for (i = 0; i < 3; i++) {
			pids[i] = fork();
			if (!pids[i])
				_exit(storm_client(ready));
		}
		while (*ready < 3)
			gt_sleep_ms(1);
		gt_sleep_ms(5 + 17 * round);
		ktap_eq(driver_write("unbind"), 0);
		for (i = 0; i < 3; i++) {
			int status = -1;

			waitpid(pids[i], &status, 0);
			ktap_eq(status, 0);
		}
		ktap_eq(driver_write("bind"), 0);
		if (!ktap_ok(works()))
			break;
	}
	munmap((void *)ready, GT_PAGE);
}

static void remove_rescan(void)
{
	char path[300];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct busy b = { 0 };

		if (i)
			b = start_busy();
		gt_sysfs(0, "remove", path, sizeof(path));
		ktap_eq(gt_write_file(path, "1"), 0);
		ktap_eq(gt_open_nth(0, true), -ENOENT);
		if (i)
			check_gone(&b);
		ktap_eq(gt_write_file("/sys/bus/pci/rescan", "1"), 0);
		if (!ktap_ok(works()))
			break;
	}
}

/*
 * FLR through sysfs, idle and with files open: the driver takes it and goes on or refuses it; the
 * device works afterwards.
 */
static void function_reset(void)
{
	struct gt_ctx c = gt_ctx();
	char path[300];

	gt_sysfs(0, "reset", path, sizeof(path));
	if (access(path, W_OK)) {
		ktap_skip("the kernel offers no reset for the device");
	} else {
		ktap_eq(gt_write_file(path, "1"), 0);
	}
	gt_ctx_free(&c);
	ktap_ok(works());
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	gt_pci_slot(slot, sizeof(slot));
	ktap_run("[SYS2] the module is loaded and unloaded 20 times", reload);
	ktap_run("[SYS2] the module stays while a file is open", module_in_use);
	ktap_run("[SYS2] a fence that has signalled outlives the module", fence_outlives_module);
	ktap_run("[SYS2] unbind and rebind 10 times", rebind);
	ktap_run("[SYS2] what the driver has for a device goes with it", memory_of_the_gone);
	ktap_run("[SYS2] rings are freed after the device has gone", rings_of_the_gone);
	ktap_run("[SYS7] unbind with work in flight: ENODEV from calls and fences", unbind_busy);
	ktap_run("unbind while processes are inside ioctls", unbind_in_a_storm);
	ktap_run("a file is closed after the device came back", late_close);
	ktap_run("[SYS1] PCI removal and rescan, idle and busy", remove_rescan);
	ktap_run("a reset of the PCI function", function_reset);
	return gt_finish();
}
