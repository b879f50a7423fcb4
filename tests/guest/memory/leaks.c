// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 DEVICE_ARGS=vram=64M,copy-engines=2 */
/*
 * Nothing is lost: objects are made and dropped many times, in every order, with and without jobs,
 * and the kernel's memory, the hardware's slots and the local memory are what they were.
 */
#include "gt_main.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

/* A field of /proc/meminfo in KiB. */
static long meminfo(const char *field)
{
	static char text[8192];
	char *at;

	gt_read_file("/proc/meminfo", text, sizeof(text));
	at = strstr(text, field);
	return at ? strtol(at + strlen(field) + 1, NULL, 10) : -1;
}

/*
 * Kernel memory that a leak would show in: what the slabs hold for good, and what is not free nor
 * reclaimable.
 */
static long unreclaimable(void)
{
	return meminfo("SUnreclaim") + meminfo("PageTables") + meminfo("Shmem");
}

/* One life of a client, objects dropped in the order given by @how. */
static void life(unsigned int how)
{
	struct gt_ctx c = gt_ctx();
	struct gt_bo bo = gt_bo(c.fd, 16 * GT_PAGE, how & 1 ? DRM_TESSERA_BO_CACHED : 0);
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct gt_cs cs = gt_stream(&c, 16);
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY), local;

	gt_bo_try(c.fd, GT_PAGE, DRM_TESSERA_BO_LOCAL, 0, &local);
	gt_bo_bind(&bo, c.vm, 0x40000000, GT_RW);
	if (how & 2)
		GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 12345);
	GT_EMIT(&cs, copy_linear, .src = how & 4 ? 0x7fff000000 : 0x40000000,
		.dst = gt_data_va(0x1000), .size = 0x8000);
	gt_kick(&c, queue, &cs, &done);
	gt_kick(&c, queue, &cs, &done);
	if (how & 8)
		gt_vm_destroy(c.fd, c.vm);
	if (how & 16)
		gt_queue_destroy(c.fd, queue);
	if (how & 32)
		gt_bo_free(&bo);
	if (how & 64) {
		close(c.fd);	/* everything at once */
		_exit(0);
	}
	gt_ctx_free(&c);
	_exit(0);
}

static void run_lives(unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		pid_t pid = fork();
		int status = -1;

		if (!pid)
			life(i);
		waitpid(pid, &status, 0);
		ktap_eq(status, 0);
	}
}

/*
 * A first round fills caches that are kept for good; a leak of one page a life would show as 96
 * pages after it.
 */
static void memory_comes_back(void)
{
	enum { LIVES = 96 };
	long before, after;

	run_lives(48);
	gt_sleep_ms(300);
	before = unreclaimable();
	run_lives(LIVES);
	gt_sleep_ms(300);	/* frees behind RCU grace periods */
	after = unreclaimable();
	if (!ktap_ok(after - before < LIVES * 4 / 2))
		ktap_note("%ld KiB before, %ld KiB after %u clients", before, after, LIVES);
}

static void local_memory_comes_back(void)
{
	int fd = gt_open();
	uint64_t used = gt_gpu_state(fd).local_used;

	run_lives(16);
	ktap_eq(gt_gpu_state(fd).local_used, used);
	close(fd);
}

/* Files, all with something in them, many at once. */
static void many_files(void)
{
	enum { FILES = 200 };
	int fds[FILES], i;

	for (i = 0; i < FILES; i++) {
		fds[i] = gt_open();
		gt_vm(fds[i]);
	}
	for (i = 0; i < FILES; i++)
		close(fds[i]);
}

/* A large BO that cannot be had, or not mapped: an error, not a warning, and memory comes back. */
static void huge_bos(void)
{
	int fd = gt_open();
	uint64_t max = gt_gpu_info(fd).max_bo_size;
	uint32_t handle;
	int ret = gt_bo_try(fd, max, DRM_TESSERA_BO_NO_MMAP, 0, &handle);

	ktap_ok(ret == 0 || ret == -ENOMEM);
	if (!ret) {
		uint32_t vm = gt_vm(fd);
		struct drm_tessera_bind_op op = gt_op_map(handle, GT_DATA_VA, GT_PAGE, 0, GT_RW);

		ret = gt_vm_bind(fd, vm, &op, 1);
		ktap_ok(ret == 0 || ret == -ENOMEM);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("kernel memory comes back after 96 clients", memory_comes_back);
	ktap_run("[MEM1] local memory comes back", local_memory_comes_back);
	ktap_run("200 files with a VM each", many_files);
	ktap_run("the largest BO is had or refused", huge_bos);
	return gt_finish();
}
