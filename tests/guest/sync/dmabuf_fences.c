// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * Fences at the edges of the driver: those of dma-bufs (export, import, poll), of points of
 * timelines by descriptor (Linux 6.16), and of jobs that a destroyed queue has not begun.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef DMA_BUF_IOCTL_EXPORT_SYNC_FILE
struct dma_buf_export_sync_file { uint32_t flags; int32_t fd; };
struct dma_buf_import_sync_file { uint32_t flags; int32_t fd; };
#define DMA_BUF_IOCTL_EXPORT_SYNC_FILE _IOWR(DMA_BUF_BASE, 2, struct dma_buf_export_sync_file)
#define DMA_BUF_IOCTL_IMPORT_SYNC_FILE _IOW(DMA_BUF_BASE, 3, struct dma_buf_import_sync_file)
#endif

#define TIMELINE	(1u << 1)	/* of struct handle_arg */

/* struct drm_syncobj_handle as it is since Linux 6.16. */
struct handle_arg {
	uint32_t handle, flags;
	int32_t fd;
	uint32_t pad;
	uint64_t point;
};

/* A job that waits until the test opens its gate, and its fence. */
struct gate {
	struct gt_ctx c;
	uint32_t sync;
	int file;
};

static struct gate gate_new(void)
{
	struct gate g = { .c = gt_ctx() };
	struct gt_cs cs = gt_stream(&g.c, 3);
	struct drm_tessera_sync done;

	g.sync = gt_syncobj(g.c.fd, false);
	done = gt_binary(g.sync);
	*(uint64_t *)gt_data(&g.c, 0) = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	if (gt_kick(&g.c, g.c.queue, &cs, &done))
		gt_die("no job");
	g.file = gt_fence_file(g.c.fd, g.sync);
	return g;
}

static void gate_open(const struct gate *g)
{
	*(volatile uint64_t *)gt_data(&g->c, 0) = 1;
}

static void gate_free(struct gate *g)
{
	close(g->file);
	gt_ctx_free(&g->c);
}

/* ---- dma-bufs -------------------------------------------------------------------------------- */

static int dmabuf_new(int fd, struct gt_bo *bo)
{
	struct drm_prime_handle arg = { .flags = DRM_RDWR | DRM_CLOEXEC, .fd = -1 };

	*bo = gt_bo(fd, 2 * GT_PAGE, 0);
	arg.handle = bo->handle;
	if (gt_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg))
		gt_die("no dma-buf");
	return arg.fd;
}

static int import(int dmabuf, uint32_t flags, int file)
{
	struct dma_buf_import_sync_file arg = { .flags = flags, .fd = file };

	return gt_ioctl(dmabuf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &arg);
}

/* Returns true if the sync file that a dma-buf exports signals within @ms; closes it. */
static bool exported_done(int dmabuf, uint32_t flags, int ms)
{
	struct dma_buf_export_sync_file arg = { .flags = flags, .fd = -1 };
	struct pollfd p = { .events = POLLIN };
	int ret;

	ktap_eq(gt_ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &arg), 0);
	p.fd = arg.fd;
	ret = poll(&p, 1, ms);
	close(arg.fd);
	return ret == 1 && p.revents == POLLIN;
}

static int ready(int dmabuf, short events, int ms)
{
	struct pollfd p = { .fd = dmabuf, .events = events };

	return poll(&p, 1, ms) < 0 ? -errno : p.revents;
}

/* A reader's fence holds up those that write; a writer's everybody. */
static void fences_of(uint32_t flags)
{
	bool writer = flags & DMA_BUF_SYNC_WRITE;
	struct gate g = gate_new();
	struct gt_bo bo;
	int dmabuf = dmabuf_new(g.c.fd, &bo);

	ktap_eq(ready(dmabuf, POLLIN | POLLOUT, 0), POLLIN | POLLOUT);
	ktap_eq(import(dmabuf, flags, g.file), 0);
	ktap_eq(exported_done(dmabuf, DMA_BUF_SYNC_READ, 0), !writer);
	ktap_eq(exported_done(dmabuf, DMA_BUF_SYNC_WRITE, 0), false);
	ktap_eq(exported_done(dmabuf, DMA_BUF_SYNC_RW, 0), false);
	ktap_eq(ready(dmabuf, POLLIN, 0), writer ? 0 : POLLIN);
	ktap_eq(ready(dmabuf, POLLOUT, 0), 0);
	ktap_eq(ready(dmabuf, POLLOUT, 20), 0);
	ktap_eq(ready(dmabuf, POLLIN | POLLOUT, 0), writer ? 0 : POLLIN);
	gate_open(&g);
	ktap_eq(ready(dmabuf, POLLOUT, 5000), POLLOUT);
	ktap_eq(ready(dmabuf, POLLIN | POLLOUT, 0), POLLIN | POLLOUT);
	ktap_ok(exported_done(dmabuf, DMA_BUF_SYNC_WRITE, 0));
	close(dmabuf);
	gt_bo_free(&bo);
	gate_free(&g);
}

static void readers(void)
{
	fences_of(DMA_BUF_SYNC_READ);
}

static void writers(void)
{
	fences_of(DMA_BUF_SYNC_WRITE);
	fences_of(DMA_BUF_SYNC_RW);
}

/* Several fences of one kind are all waited for; poll() looks at other files at the same time. */
static void several(void)
{
	struct gate a = gate_new(), b = gate_new(), w = gate_new();
	struct pollfd p[3];
	struct gt_bo bo;
	int dmabuf = dmabuf_new(a.c.fd, &bo), pipes[2];

	ktap_eq(pipe(pipes), 0);
	ktap_eq(import(dmabuf, DMA_BUF_SYNC_READ, a.file), 0);
	ktap_eq(import(dmabuf, DMA_BUF_SYNC_READ, b.file), 0);
	ktap_eq(import(dmabuf, DMA_BUF_SYNC_WRITE, w.file), 0);
	gate_open(&a);
	ktap_ok(exported_done(dmabuf, DMA_BUF_SYNC_READ, 0) == false);
	gate_open(&w);
	ktap_ok(exported_done(dmabuf, DMA_BUF_SYNC_READ, 5000));
	p[0] = (struct pollfd){ .fd = dmabuf, .events = POLLOUT };
	p[1] = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
	p[2] = (struct pollfd){ .fd = -1, .events = POLLIN };
	ktap_eq(poll(p, 3, 10), 0);
	ktap_eq(write(pipes[1], "x", 1), 1);
	ktap_eq(poll(p, 3, 5000), 1);
	ktap_eq(p[0].revents, 0);
	ktap_eq(p[1].revents, POLLIN);
	p[1].fd = -1;
	gate_open(&b);
	ktap_eq(poll(p, 3, -1), 1);
	ktap_eq(p[0].revents, POLLOUT);
	ktap_eq(import(dmabuf, 0, b.file), -EINVAL);
	ktap_eq(import(dmabuf, 8, b.file), -EINVAL);
	ktap_eq(import(dmabuf, DMA_BUF_SYNC_READ, pipes[0]), -EINVAL);
	close(pipes[0]);
	close(pipes[1]);
	close(dmabuf);
	gt_bo_free(&bo);
	gate_free(&a);
	gate_free(&b);
	gate_free(&w);
}

/* A dma-buf is a file of memory with a size, and no file otherwise. */
static void file_of_dmabuf(void)
{
	int fd = gt_open();
	struct gt_bo bo;
	int dmabuf = dmabuf_new(fd, &bo);
	char c[8] = "";

	ktap_eq(lseek(dmabuf, 0, SEEK_END), 2 * GT_PAGE);
	ktap_eq(lseek(dmabuf, 0, SEEK_SET), 0);
	ktap_ok(lseek(dmabuf, 8, SEEK_SET) == -1 && errno == EINVAL);
	ktap_ok(lseek(dmabuf, -8, SEEK_END) == -1 && errno == EINVAL);
	ktap_ok(lseek(dmabuf, 0, SEEK_CUR) == -1 && errno == EINVAL);
	ktap_ok(read(dmabuf, c, 1) == -1 && errno == EINVAL);
	ktap_ok(write(dmabuf, c, 1) == -1 && errno == EINVAL);
	ktap_ok(ftruncate(dmabuf, 0) == -1 && errno == EINVAL);
	ktap_ok(mmap(NULL, GT_PAGE, PROT_READ, MAP_PRIVATE, dmabuf, 0) == MAP_FAILED &&
		errno == EINVAL);
	ktap_ok(mmap(NULL, 3 * GT_PAGE, PROT_READ, MAP_SHARED, dmabuf, 0) == MAP_FAILED &&
		errno == EINVAL);
	close(dmabuf);
	gt_bo_free(&bo);
	close(fd);
}

/* ---- Points of timelines by descriptor ------------------------------------------------------- */

static int to_fd(int fd, uint32_t handle, uint32_t flags, uint64_t point)
{
	struct handle_arg arg = { .handle = handle, .flags = flags, .fd = -1, .point = point };
	int ret = gt_ioctl(fd, DRM_IOWR(0xC1, struct handle_arg), &arg);

	return ret ? ret : arg.fd;
}

static int from_fd(int fd, uint32_t handle, uint32_t flags, int file, uint64_t point)
{
	struct handle_arg arg = { .handle = handle, .flags = flags, .fd = file, .point = point };

	return gt_ioctl(fd, DRM_IOWR(0xC2, struct handle_arg), &arg);
}

static void points_by_fd(void)
{
	struct gate g = gate_new();
	uint32_t line = gt_syncobj(g.c.fd, false);
	struct pollfd p = { .events = POLLIN };
	int fd = g.c.fd;

	if (from_fd(fd, line, 1 | TIMELINE, g.file, 5) == -EINVAL) {
		ktap_skip("Linux before 6.16");
		gate_open(&g);
		gate_free(&g);
		return;
	}
	ktap_eq(gt_syncobj_wait(fd, line, 5, 1), -ETIME);
	ktap_eq(to_fd(fd, line, 1 | TIMELINE, 6), -EINVAL);	/* not submitted */
	p.fd = to_fd(fd, line, 1 | TIMELINE, 5);
	ktap_ok(p.fd >= 0);
	ktap_eq(poll(&p, 1, 0), 0);
	ktap_eq(gt_syncobj_point(fd, line), 0);
	gate_open(&g);
	ktap_eq(poll(&p, 1, 5000), 1);
	ktap_eq(gt_syncobj_wait(fd, line, 5, 5000), 0);
	ktap_eq(gt_syncobj_point(fd, line), 5);
	/* a point goes with a sync file only, and flags are those two */
	ktap_eq(from_fd(fd, line, TIMELINE, g.file, 5), -EINVAL);
	ktap_eq(from_fd(fd, line, 0, g.file, 5), -EINVAL);
	ktap_eq(to_fd(fd, line, TIMELINE, 5), -EINVAL);
	ktap_eq(to_fd(fd, line, 0, 5), -EINVAL);
	ktap_eq(to_fd(fd, line, 4, 0), -EINVAL);
	close(p.fd);
	gate_free(&g);
}

/* ---- Jobs that have not begun ---------------------------------------------------------------- */

/* A job of a destroyed queue ends when what it waits for has signalled, and not before. */
static void destroyed_late(void)
{
	struct gate g = gate_new();
	uint32_t other = gt_queue(g.c.fd, g.c.vm, DRM_TESSERA_ENGINE_COPY);
	struct drm_tessera_sync first = gt_binary(g.sync), done[2];
	struct drm_tessera_job job[2];
	int i;

	for (i = 0; i < 2; i++) {
		done[i] = gt_binary(gt_syncobj(g.c.fd, false));
		job[i] = gt_job(other, NULL);
		job[i].signals = GT_ARRAY(&done[i], 1);
	}
	job[0].waits = GT_ARRAY(&first, 1);
	ktap_eq(gt_submit(g.c.fd, job, 2), 0);
	ktap_eq(gt_queue_destroy(g.c.fd, other), 0);
	ktap_eq(gt_syncobj_wait(g.c.fd, done[0].handle, 0, 50), -ETIME);
	ktap_eq(gt_syncobj_wait(g.c.fd, done[1].handle, 0, 1), -ETIME);
	gate_open(&g);
	for (i = 0; i < 2; i++)
		ktap_eq(gt_fence_error(g.c.fd, done[i].handle, 0), -ECANCELED);
	ktap_eq(gt_fence_error(g.c.fd, g.sync, 0), 0);
	gate_free(&g);
}

/* Closing the file cancels jobs in the same way; a sync file shows it. */
static void closed_late(void)
{
	struct gate g = gate_new();
	struct drm_syncobj_handle arg = { .flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
					  .fd = g.file };
	struct gt_ctx c = gt_ctx();
	struct drm_tessera_sync first = gt_binary(gt_syncobj(c.fd, false)), done;
	struct drm_tessera_job job = gt_job(c.queue, NULL);
	struct pollfd p = { .events = POLLIN };

	arg.handle = first.handle;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &arg), 0);
	done = gt_binary(gt_syncobj(c.fd, false));
	job.waits = GT_ARRAY(&first, 1);
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	p.fd = gt_fence_file(c.fd, done.handle);
	/* a mapping would keep the file open */
	gt_bo_free(&c.cmd);
	gt_bo_free(&c.data);
	close(c.fd);
	ktap_eq(poll(&p, 1, 50), 0);
	gate_open(&g);
	ktap_eq(poll(&p, 1, 5000), 1);
	ktap_ok(gt_file_error(p.fd) < 0);
	gate_free(&g);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("[SYS8] a fence of a dma-buf's readers holds up writers only", readers);
	ktap_run("[SYS8] a fence of a dma-buf's writers holds up all", writers);
	ktap_run("[SYS8] several fences of a dma-buf, and poll() of other files with it", several);
	ktap_run("[SYS8] position, mappings, read and write of a dma-buf", file_of_dmabuf);
	ktap_run("[SYS8] sync files of points of a timeline", points_by_fd);
	ktap_run("[SYS4] a destroyed queue's jobs end when their waits have", destroyed_late);
	ktap_run("[SYS4] so do those of a closed file", closed_late);
	return gt_finish();
}
