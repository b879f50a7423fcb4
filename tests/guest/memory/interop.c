// SPDX-License-Identifier: MIT
/* test: TIMEOUT=90 DEVICES=2 */
/*
 * Fences across devices, as compositors and GL pass them: what a job has done to a buffer is told
 * to others through the buffer's dma-buf (IMPORT_SYNC_FILE), what others do to it is waited for
 * (EXPORT_SYNC_FILE). With vgem, with a second Tessera, with vkms where the kernel has it; in both
 * directions.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include <linux/dma-buf.h>

#define WIN_VA	0x40000000ull

/* The part of vgem's interface that libdrm does not have. */
struct vgem_attach {
	uint32_t handle, flags, fence, pad;
};

struct vgem_signal {
	uint32_t fence, flags;
};

#define VGEM_ATTACH	DRM_IOWR(DRM_COMMAND_BASE + 1, struct vgem_attach)
#define VGEM_SIGNAL	DRM_IOW(DRM_COMMAND_BASE + 2, struct vgem_signal)
#define VGEM_WRITE	1u

/* A file of the device whose driver is called so, or -1. */
static int open_driver(const char *name)
{
	char command[64], path[32];

	snprintf(command, sizeof(command), "modprobe %s 2>/dev/null", name);
	if (system(command))
		return -1;
	for (int i = 0; i < 16; i++) {
		drmVersionPtr v;
		bool found;
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		v = drmGetVersion(fd);
		found = v && !strcmp(v->name, name);
		drmFreeVersion(v);
		if (found)
			return fd;
		close(fd);
	}
	return -1;
}

/* The accesses of others to the buffer as a fence of @c's file: only writes, or all. */
static struct drm_tessera_sync others(struct gt_ctx *c, int dmabuf, uint32_t flags)
{
	struct dma_buf_export_sync_file args = { .flags = flags, .fd = -1 };
	struct drm_tessera_sync sync = gt_binary(gt_syncobj(c->fd, false));

	ktap_eq(ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &args), 0);
	ktap_eq(drmSyncobjImportSyncFile(c->fd, sync.handle, args.fd), 0);
	close(args.fd);
	return sync;
}

/* Tell others what the job whose fence is @sync does to the buffer. */
static void tell(struct gt_ctx *c, const struct drm_tessera_sync *sync, int dmabuf, uint32_t flags)
{
	struct dma_buf_import_sync_file args = { .flags = flags };

	args.fd = gt_fence_file(c->fd, sync->handle);
	ktap_ok(args.fd >= 0);
	ktap_eq(ioctl(dmabuf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &args), 0);
	close(args.fd);
}

/* Is the buffer free of writes (POLLIN), or of all use (POLLOUT)? */
static bool idle(int dmabuf, short events, int ms)
{
	struct pollfd p = { .fd = dmabuf, .events = events };

	return poll(&p, 1, ms) == 1 && (p.revents & events);
}

static uint32_t import(int fd, int dmabuf)
{
	uint32_t handle = 0;

	ktap_eq(drmPrimeFDToHandle(fd, dmabuf, &handle), 0);
	return handle;
}

/* ---- jobs on a context whose window is the shared buffer ---- */

/* Copies 8 bytes after @before, if given; waits for the word at data offset 0 to be 1, if gated. */
static struct drm_tessera_sync copy(struct gt_ctx *c, uint64_t dst, uint64_t src, bool gated,
				    const struct drm_tessera_sync *before)
{
	struct drm_tessera_sync done = gt_binary(gt_syncobj(c->fd, false));
	struct gt_cs cs = gt_stream(c, 16);
	struct drm_tessera_job job;

	if (gated) {
		*(volatile uint64_t *)gt_data(c, 0) = 0;
		GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	}
	GT_EMIT(&cs, copy_linear, .src = src, .dst = dst, .size = 8);
	job = gt_job(c->queue, &cs);
	job.waits = GT_ARRAY(before, !!before);
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c->fd, &job, 1), 0);
	return done;
}

static void gate_open(struct gt_ctx *c)
{
	*(volatile uint64_t *)gt_data(c, 0) = 1;
}

static void put_word(struct gt_ctx *c, uint64_t word)
{
	*(volatile uint64_t *)gt_data(c, 64) = word;
}

static uint64_t get_word(struct gt_ctx *c)
{
	return *(volatile uint64_t *)gt_data(c, 128);
}

static void map_window(struct gt_ctx *c, uint32_t handle)
{
	struct drm_tessera_bind_op op = gt_op_map(handle, WIN_VA, GT_PAGE, 0, GT_RW);

	ktap_eq(gt_vm_bind(c->fd, c->vm, &op, 1), 0);
}

/* Somebody who waits for nobody would be done by now. */
static bool still_waits(struct gt_ctx *c, const struct drm_tessera_sync *sync)
{
	return gt_syncobj_wait(c->fd, sync->handle, 0, 200) == -ETIME;
}

/* ---- vgem ---- */

static void vgem(void)
{
	struct drm_mode_create_dumb create = { .width = 1024, .height = 1, .bpp = 32 };
	struct drm_tessera_sync before, done;
	struct vgem_attach attach = { 0 };
	struct vgem_signal signal = { 0 };
	int fd = open_driver("vgem"), dmabuf;
	struct gt_ctx c;

	if (fd < 0) {
		ktap_skip("this kernel has no vgem");
		return;
	}
	c = gt_ctx();
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	ktap_eq(drmPrimeHandleToFD(fd, create.handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	map_window(&c, import(c.fd, dmabuf));

	/* vgem writes, the job that reads waits for it. */
	attach.handle = create.handle;
	attach.flags = VGEM_WRITE;
	ktap_eq(gt_ioctl(fd, VGEM_ATTACH, &attach), 0);
	ktap_ok(!idle(dmabuf, POLLIN, 0));
	before = others(&c, dmabuf, DMA_BUF_SYNC_READ);
	done = copy(&c, gt_data_va(128), WIN_VA, false, &before);
	ktap_ok(still_waits(&c, &done));
	signal.fence = attach.fence;
	ktap_eq(gt_ioctl(fd, VGEM_SIGNAL, &signal), 0);
	ktap_eq(gt_fence_error(c.fd, done.handle, 0), 0);

	/* vgem reads: a job that reads, too, need not wait; one that writes must. */
	attach.flags = 0;
	ktap_eq(gt_ioctl(fd, VGEM_ATTACH, &attach), 0);
	before = others(&c, dmabuf, DMA_BUF_SYNC_READ);
	done = copy(&c, gt_data_va(128), WIN_VA, false, &before);
	ktap_eq(gt_fence_error(c.fd, done.handle, 0), 0);
	before = others(&c, dmabuf, DMA_BUF_SYNC_WRITE);
	done = copy(&c, WIN_VA, gt_data_va(64), false, &before);
	ktap_ok(still_waits(&c, &done));
	signal.fence = attach.fence;
	ktap_eq(gt_ioctl(fd, VGEM_SIGNAL, &signal), 0);
	ktap_eq(gt_fence_error(c.fd, done.handle, 0), 0);

	/* A job writes: vgem finds the buffer busy until it is done. */
	done = copy(&c, WIN_VA, gt_data_va(64), true, NULL);
	ktap_ok(idle(dmabuf, POLLIN | POLLOUT, 0));	/* nobody was told yet */
	tell(&c, &done, dmabuf, DMA_BUF_SYNC_WRITE);
	ktap_ok(!idle(dmabuf, POLLIN, 0));
	attach.flags = 0;
	ktap_eq(gt_ioctl(fd, VGEM_ATTACH, &attach), -EBUSY);
	gate_open(&c);
	ktap_ok(idle(dmabuf, POLLIN, GT_TIMEOUT_MS));
	ktap_eq(gt_ioctl(fd, VGEM_ATTACH, &attach), 0);
	signal.fence = attach.fence;
	ktap_eq(gt_ioctl(fd, VGEM_SIGNAL, &signal), 0);

	/* A job reads: vgem may read, but not write. */
	done = copy(&c, gt_data_va(128), WIN_VA, true, NULL);
	tell(&c, &done, dmabuf, DMA_BUF_SYNC_READ);
	ktap_ok(idle(dmabuf, POLLIN, 0));
	ktap_ok(!idle(dmabuf, POLLOUT, 0));
	attach.flags = VGEM_WRITE;
	ktap_eq(gt_ioctl(fd, VGEM_ATTACH, &attach), -EBUSY);
	gate_open(&c);
	ktap_ok(idle(dmabuf, POLLOUT, GT_TIMEOUT_MS));
	close(dmabuf);
	gt_ctx_free(&c);
	close(fd);
}

/* ---- a second Tessera ---- */

/* @from writes into its BO, @to reads it; then @to reads slowly, and @from writes again. */
static void between(struct gt_ctx *from, struct gt_ctx *to)
{
	struct gt_bo bo = gt_bo(from->fd, GT_PAGE, 0);
	struct drm_tessera_sync before, done;
	int dmabuf;

	ktap_eq(drmPrimeHandleToFD(from->fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	map_window(from, bo.handle);
	map_window(to, import(to->fd, dmabuf));
	put_word(from, 0x1111);
	done = copy(from, WIN_VA, gt_data_va(64), true, NULL);
	tell(from, &done, dmabuf, DMA_BUF_SYNC_WRITE);
	before = others(to, dmabuf, DMA_BUF_SYNC_READ);
	done = copy(to, gt_data_va(128), WIN_VA, false, &before);
	ktap_ok(still_waits(to, &done));
	gate_open(from);
	ktap_eq(gt_fence_error(to->fd, done.handle, 0), 0);
	ktap_eq(get_word(to), 0x1111);

	put_word(from, 0x2222);
	done = copy(to, gt_data_va(128), WIN_VA, true, NULL);
	tell(to, &done, dmabuf, DMA_BUF_SYNC_READ);
	before = others(from, dmabuf, DMA_BUF_SYNC_WRITE);
	done = copy(from, WIN_VA, gt_data_va(64), false, &before);
	ktap_ok(still_waits(from, &done));
	gate_open(to);
	ktap_eq(gt_fence_error(from->fd, done.handle, 0), 0);
	ktap_eq(get_word(to), 0x1111);
	ktap_eq(((volatile uint64_t *)bo.map)[0], 0x2222);
	close(dmabuf);
	gt_bo_free(&bo);
}

static void second_tessera(void)
{
	struct gt_ctx a = gt_ctx(), b = gt_ctx_on(gt_open_nth(1, true));

	between(&a, &b);
	between(&b, &a);
	gt_ctx_free(&a);
	gt_ctx_free(&b);
}

/* The error of a job goes with its fence to whoever waits on the other device. */
static void error_passes(void)
{
	struct gt_ctx a = gt_ctx(), b = gt_ctx_on(gt_open_nth(1, true));
	struct gt_bo bo = gt_bo(a.fd, GT_PAGE, 0);
	struct drm_tessera_sync done, seen;
	int dmabuf;

	ktap_eq(drmPrimeHandleToFD(a.fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	/* Nothing is mapped there. */
	done = copy(&a, 0x7fff0000, gt_data_va(64), true, NULL);
	tell(&a, &done, dmabuf, DMA_BUF_SYNC_WRITE);
	seen = others(&b, dmabuf, DMA_BUF_SYNC_READ);
	gate_open(&a);
	ktap_eq(gt_fence_error(b.fd, seen.handle, 0), -EFAULT);
	close(dmabuf);
	gt_bo_free(&bo);
	gt_ctx_free(&a);
	gt_ctx_free(&b);
}

static void bad_arguments(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
	struct dma_buf_export_sync_file out = { .flags = 0 };
	struct dma_buf_import_sync_file in = { .flags = DMA_BUF_SYNC_WRITE, .fd = -1 };
	int dmabuf;

	ktap_eq(drmPrimeHandleToFD(c.fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	ktap_eq(gt_ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &out), -EINVAL);
	out.flags = 8;
	ktap_eq(gt_ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &out), -EINVAL);
	ktap_eq(gt_ioctl(dmabuf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &in), -EINVAL);
	close(dmabuf);
	gt_bo_free(&bo);
	gt_ctx_free(&c);
}

/* ---- vkms: a picture is not shown before the job that draws it is done ---- */

static drmModeConnector *connected(int fd, const drmModeRes *res)
{
	for (int i = 0; i < res->count_connectors; i++) {
		drmModeConnector *c = drmModeGetConnector(fd, res->connectors[i]);

		if (c && c->connection == DRM_MODE_CONNECTED && c->count_modes)
			return c;
		drmModeFreeConnector(c);
	}
	return NULL;
}

/* Has the page flip been completed within @ms? */
static bool flipped(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char events[256];

	return poll(&p, 1, ms) == 1 && read(fd, events, sizeof(events)) > 0;
}

static void vkms(void)
{
	struct drm_tessera_sync done, before;
	drmModeConnector *connector;
	uint32_t fb[2], fd_handle;
	int fd = open_driver("vkms"), dmabuf;
	drmModeModeInfo mode;
	drmModeRes *res;
	struct gt_bo bo;
	struct gt_ctx c;

	if (fd < 0) {
		ktap_skip("this kernel has no vkms");
		return;
	}
	c = gt_ctx();
	res = drmModeGetResources(fd);
	connector = res ? connected(fd, res) : NULL;
	KTAP_REQUIRE(connector);
	mode = connector->modes[0];
	bo = gt_bo(c.fd, 2ull * 4 * mode.hdisplay * mode.vdisplay, 0);
	ktap_eq(drmPrimeHandleToFD(c.fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf), 0);
	map_window(&c, bo.handle);
	fd_handle = import(fd, dmabuf);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t handles[4] = { fd_handle }, pitches[4] = { 4 * mode.hdisplay };
		uint32_t offsets[4] = { i * pitches[0] * mode.vdisplay };

		ktap_eq(drmModeAddFB2(fd, mode.hdisplay, mode.vdisplay, 0x34325258 /* XR24 */,
				      handles, pitches, offsets, &fb[i], 0), 0);
	}
	ktap_eq(drmModeSetCrtc(fd, res->crtcs[0], fb[0], 0, 0, &connector->connector_id, 1,
			       &mode), 0);

	/* Tessera to vkms. */
	done = copy(&c, WIN_VA, gt_data_va(64), true, NULL);
	tell(&c, &done, dmabuf, DMA_BUF_SYNC_WRITE);
	ktap_eq(drmModePageFlip(fd, res->crtcs[0], fb[1], DRM_MODE_PAGE_FLIP_EVENT, NULL), 0);
	ktap_ok(!flipped(fd, 300));
	gate_open(&c);
	ktap_ok(flipped(fd, GT_TIMEOUT_MS));

	/* And back: what vkms does to the buffer is over when its flip is. */
	before = others(&c, dmabuf, DMA_BUF_SYNC_WRITE);
	done = copy(&c, WIN_VA, gt_data_va(64), false, &before);
	ktap_eq(gt_fence_error(c.fd, done.handle, 0), 0);

	drmModeSetCrtc(fd, res->crtcs[0], 0, 0, 0, NULL, 0, NULL);
	drmModeRmFB(fd, fb[0]);
	drmModeRmFB(fd, fb[1]);
	drmModeFreeConnector(connector);
	drmModeFreeResources(res);
	close(dmabuf);
	gt_bo_free(&bo);
	gt_ctx_free(&c);
	close(fd);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("fences to and from vgem through a dma-buf", vgem);
	ktap_run("fences between two Tesseras through a dma-buf, both ways", second_tessera);
	ktap_run("the error of a job reaches the other device", error_passes);
	ktap_run("a page flip of vkms waits for the job that draws", vkms);
	ktap_run("EXPORT_SYNC_FILE and IMPORT_SYNC_FILE with bad arguments", bad_arguments);
	return gt_finish();
}
