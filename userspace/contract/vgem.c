// SPDX-License-Identifier: MIT
/*
 * The adapter for vgem, which has fences and no engine. A context is a buffer, a job is a fence
 * that is attached to it, and the work of a job is to signal it.
 */
#include "contract.h"

#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

/* The part of vgem's interface that libdrm does not have. */
struct vgem_attach {
	uint32_t handle, flags, fence, pad;
};
struct vgem_signal {
	uint32_t fence, flags;
};
#define VGEM_WRITE	1u
#define VGEM_ATTACH	DRM_IOWR(DRM_COMMAND_BASE + 1, struct vgem_attach)
#define VGEM_SIGNAL	DRM_IOW(DRM_COMMAND_BASE + 2, struct vgem_signal)

struct context {
	uint32_t handle;
	uint32_t fence;			/* of the long job */
	bool finished;
	void *map;
};

static int fd = -1;

/* Dumb buffers are for primary nodes only. @node is the render node of the same device. */
static int vgem_open(const char *node)
{
	int render = open(node, O_RDWR | O_CLOEXEC), ret = -errno;
	char *primary = render < 0 ? NULL : drmGetPrimaryDeviceNameFromFd(render);

	if (primary) {
		fd = open(primary, O_RDWR | O_CLOEXEC);
		ret = fd < 0 ? -errno : 0;
	} else if (render >= 0) {
		ret = -ENOENT;
	}
	free(primary);
	close(render);
	return ret;
}

static void vgem_close(void)
{
	close(fd);
}

static void *vgem_context_new(void)
{
	struct drm_mode_create_dumb dumb = { .width = 32, .height = 32, .bpp = 32 };
	struct drm_mode_map_dumb map = { 0 };
	struct context *c = calloc(1, sizeof(*c));

	if (drmIoctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb))
		return NULL;
	c->handle = map.handle = dumb.handle;
	if (!drmIoctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map))
		c->map = mmap(NULL, dumb.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, map.offset);
	return c;
}

static int export_fence(uint32_t handle)
{
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_READ };
	int ret, file;

	if (drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC, &file))
		return -errno;
	ret = ioctl(file, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export) ? -errno : export.fd;
	close(file);
	return ret;
}

/* A buffer has one writer at a time, so each job gets a buffer of its own. */
static int vgem_job(void *context, enum job_kind kind)
{
	struct drm_mode_create_dumb dumb = { .width = 32, .height = 32, .bpp = 32 };
	struct vgem_attach attach = { .flags = VGEM_WRITE };
	struct vgem_signal signal = { 0 };
	struct context *c = context;
	int file;

	if (kind == JOB_FAULT || kind == JOB_MALFORMED || kind == JOB_BIN)
		return -EOPNOTSUPP;
	if (drmIoctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb))
		return -errno;
	attach.handle = dumb.handle;
	if (drmIoctl(fd, VGEM_ATTACH, &attach))
		return -errno;
	file = export_fence(dumb.handle);
	signal.fence = attach.fence;
	if (kind == JOB_OK && drmIoctl(fd, VGEM_SIGNAL, &signal))
		return -errno;
	if (kind == JOB_LONG || kind == JOB_GATE)
		c->fence = attach.fence;
	return file;
}

static uint64_t vgem_tend(void *context, bool finish)
{
	struct context *c = context;
	struct vgem_signal signal = { .fence = c->fence };

	if (finish && !c->finished) {
		drmIoctl(fd, VGEM_SIGNAL, &signal);
		c->finished = true;
	}
	return 1;
}

static volatile uint32_t *vgem_page(void *context)
{
	return ((struct context *)context)->map;
}

const struct contract_driver vgem_driver = {
	.name = "vgem",
	.fences_only = true,
	.open = vgem_open,
	.context_new = vgem_context_new,
	.job = vgem_job,
	.tend = vgem_tend,
	.page = vgem_page,
	.close = vgem_close,
};
