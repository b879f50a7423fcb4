// SPDX-License-Identifier: MIT
/*
 * The cost of a submit, a wait and a VM_BIND, beside that of common devices in the same guest
 * at the same time: reads of 512 bytes from virtio-blk (one request, one interrupt), and syncobj
 * and vgem calls (an ioctl that touches no device). "latency pipelined" measures only the rate of
 * submits, for submits.py.
 */
#include "gt.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "figures.h"

static struct gt_ctx c;
static struct gt_cs empty;	/* a stream of one NOP */

/* Submit, wait until it is done, again. */
static void round_trips(void *arg, unsigned int count)
{
	struct drm_tessera_sync done = gt_binary(c.sync);

	while (count--) {
		if (gt_kick(&c, *(uint32_t *)arg, &empty, &done) ||
		    gt_syncobj_wait(c.fd, c.sync, 0, GT_TIMEOUT_MS))
			gt_die("a round trip fails");
	}
}

/* Round trips in which the CPU polls a word that the job writes and does not sleep. */
static void polled_round_trips(void *arg, unsigned int count)
{
	volatile uint64_t *word = gt_data(&c, 0);
	uint64_t *value;
	struct gt_cs cs = gt_stream(&c, 3);

	(void)arg;
	*word = 0;
	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0), .value = 0);
	value = cs.words + 2;
	while (count) {
		*value = count;
		if (gt_kick(&c, c.queue, &cs, NULL) || !gt_spin_until(word, count--, GT_TIMEOUT_MS))
			gt_die("a polled round trip fails");
	}
}

/* Submit all, wait for the last. */
static void pipelined(void *arg, unsigned int count)
{
	struct drm_tessera_sync done = gt_binary(c.sync);

	(void)arg;
	while (count--) {
		if (gt_kick(&c, c.queue, &empty, count ? NULL : &done))
			gt_die("a submit fails");
	}
	gt_syncobj_wait(c.fd, c.sync, 0, GT_TIMEOUT_MS);
}

/* Submits of as many jobs as one call accepts; @count jobs in all. */
static void batched(void *arg, unsigned int count)
{
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct drm_tessera_job jobs[DRM_TESSERA_MAX_JOBS];
	unsigned int n = *(uint32_t *)arg, i;

	for (i = 0; i < n; i++)
		jobs[i] = gt_job(c.queue, &empty);
	for (i = 0; i < count; i += n) {
		if (i + n >= count)
			jobs[n - 1].signals = GT_ARRAY(&done, 1);
		if (gt_submit(c.fd, jobs, n))
			gt_die("a submit of %u jobs fails", n);
	}
	gt_syncobj_wait(c.fd, c.sync, 0, GT_TIMEOUT_MS);
}

/* Map and unmap one page by turns. */
static void binds(void *arg, unsigned int count)
{
	(void)arg;
	while (count--) {
		struct drm_tessera_bind_op op =
			count & 1 ? gt_op_map(c.data.handle, 0x40000000, GT_PAGE, 0, GT_RW)
				  : gt_op_unmap(0x40000000, GT_PAGE);

		if (gt_vm_bind(c.fd, c.vm, &op, 1))
			gt_die("VM_BIND fails");
	}
}

static void async_binds(void *arg, unsigned int count)
{
	struct drm_tessera_sync done = gt_binary(c.sync);

	(void)arg;
	while (count--) {
		struct drm_tessera_bind_op op =
			count & 1 ? gt_op_map(c.data.handle, 0x40000000, GT_PAGE, 0, GT_RW)
				  : gt_op_unmap(0x40000000, GT_PAGE);

		if (gt_bind_async(c.fd, c.vm, &op, 1, NULL, count ? NULL : &done))
			gt_die("an asynchronous VM_BIND fails");
	}
	gt_syncobj_wait(c.fd, c.sync, 0, GT_TIMEOUT_MS);
}

/* One call with 128 operations, @count operations in all. */
static void array_binds(void *arg, unsigned int count)
{
	enum { OPS = 128 };
	struct drm_tessera_bind_op ops[OPS];
	unsigned int i;

	(void)arg;
	for (i = 0; i < OPS; i++)
		ops[i] = gt_op_map(c.data.handle, 0x40000000 + i * GT_PAGE, GT_PAGE,
				   (i * 7 % OPS) * GT_PAGE, GT_RW);
	for (i = 0; i < count; i += OPS) {
		if (gt_vm_bind(c.fd, c.vm, ops, OPS))
			gt_die("VM_BIND of an array fails");
	}
}

static void block_reads(void *arg, unsigned int count)
{
	int fd = *(int *)arg;
	static char buffer[4096] __attribute__((aligned(4096)));

	while (count--) {
		if (pread(fd, buffer, 512, (count % 1000) * 512) != 512)
			gt_die("a read from virtio-blk fails");
	}
}

static void syncobj_signals(void *arg, unsigned int count)
{
	(void)arg;
	while (count--)
		gt_syncobj_signal(c.fd, c.sync, 0);
}

static void vgem_buffers(void *arg, unsigned int count)
{
	int fd = *(int *)arg;

	while (count--) {
		struct drm_mode_create_dumb create = { .width = 1024, .height = 1, .bpp = 32 };

		if (drmIoctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create))
			gt_die("vgem makes no buffer");
		gt_gem_close(fd, create.handle);
	}
}

static void own_buffers(void *arg, unsigned int count)
{
	(void)arg;
	while (count--) {
		uint32_t handle;

		if (gt_bo_try(c.fd, GT_PAGE, 0, 0, &handle))
			gt_die("BO_CREATE fails");
		gt_gem_close(c.fd, handle);
	}
}

static int open_vgem(void)
{
	char path[32];
	int i, fd;

	if (system("modprobe vgem 2>/dev/null"))
		return -1;
	for (i = 0; i < 16; i++) {
		drmVersionPtr version;
		bool found;

		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		fd = open(path, O_RDWR);
		if (fd < 0)
			continue;
		version = drmGetVersion(fd);
		found = version && !strcmp(version->name, "vgem");
		drmFreeVersion(version);
		if (found)
			return fd;
		close(fd);
	}
	return -1;
}

static void pipelined_submits(void)
{
	figure_print("pipelined_submits", 1e9 / figure_median(pipelined, NULL, 1000), "1/s");
}

static void submits(double block_ns)
{
	uint32_t jobs = gt_gpu_info(c.fd).max_jobs;
	double trip = figure_median(round_trips, &c.queue, 300);

	figure_print("empty_job_round_trip", trip / 1e3, "us");
	if (block_ns)
		figure_print("empty_job_round_trip_to_virtio_blk_read", trip / block_ns, "ratio");
	figure_print("empty_job_polled_round_trip",
		     figure_median(polled_round_trips, NULL, 300) / 1e3, "us");
	pipelined_submits();
	figure_print("batched_jobs", 1e9 / figure_median(batched, &jobs, 20 * jobs), "1/s");
}

static void everything(void)
{
	int block = open("/dev/vda", O_RDONLY | O_DIRECT), vgem = open_vgem();
	double block_ns = 0;

	if (block >= 0) {
		block_ns = figure_median(block_reads, &block, 500);
		figure_print("virtio_blk_read_512", block_ns / 1e3, "us");
	}
	submits(block_ns);
	figure_print("vm_bind_sync", 1e9 / figure_median(binds, NULL, 500), "1/s");
	figure_print("vm_bind_async", 1e9 / figure_median(async_binds, NULL, 500), "1/s");
	figure_print("vm_bind_array_ops", 1e9 / figure_median(array_binds, NULL, 128 * 20), "1/s");
	figure_print("syncobj_signal", figure_median(syncobj_signals, NULL, 2000) / 1e3, "us");
	figure_print("bo_create_and_close", figure_median(own_buffers, NULL, 300) / 1e3, "us");
	if (vgem >= 0)
		figure_print("vgem_create_and_close", figure_median(vgem_buffers, &vgem, 300) / 1e3,
			     "us");
}

int main(int argc, char **argv)
{
	c = gt_ctx();
	empty = gt_stream(&c, 1);
	GT_EMIT(&empty, nop, .qwords = 1);
	if (argc == 2 && !strcmp(argv[1], "pipelined"))
		pipelined_submits();
	else
		everything();
	gt_ctx_free(&c);
	return 0;
}
