/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <unistd.h>
#include <xf86drm.h>

#include "util/log.h"

#include "tg_context.h"
#include "tg_share.h"

/* Put a sync file among the fences of the dma-buf. */
static void publish(struct tg_bo *bo, int file, bool write)
{
	struct dma_buf_import_sync_file import = {
		.flags = write ? DMA_BUF_SYNC_WRITE : DMA_BUF_SYNC_READ,
		.fd = file,
	};

	if (drmIoctl(bo->dmabuf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &import))
		mesa_loge("tessera: others will not wait for a batch: %s", strerror(errno));
}

/* The lock is held. */
static void publish_point(struct tg_bo *bo, uint64_t point, bool write)
{
	int file;

	if (point <= atomic_load(&bo->screen->completed))
		return;
	if (tsr_sync_export_file(bo->screen->timeline, point, &file)) {
		mesa_loge("tessera: %s", tsr_error_message());
		return;
	}
	publish(bo, file, write);
	close(file);
}

bool tg_share_open(struct tg_bo *bo)
{
	struct tg_screen *screen = bo->screen;
	bool open;

	if (bo->parent)
		return false;
	simple_mtx_lock(&screen->lock);
	bo->shared = true;
	if (bo->dmabuf < 0 && !tsr_sync_create(screen->device, 0, &bo->others) &&
	    !tsr_bo_export(bo->bo, &bo->dmabuf)) {
		list_addtail(&bo->link, &screen->shared);
		publish_point(bo, atomic_load(&bo->used), false);
		publish_point(bo, atomic_load(&bo->written), true);
	}
	open = bo->dmabuf >= 0;
	simple_mtx_unlock(&screen->lock);
	return open;
}

/* The fences to wait for now, as a sync file; a negative errno. */
static int look(struct tg_bo *bo, bool write)
{
	struct dma_buf_export_sync_file export = {
		.flags = write ? DMA_BUF_SYNC_WRITE : DMA_BUF_SYNC_READ,
	};

	return drmIoctl(bo->dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export) ? -errno : export.fd;
}

/* A job of screen->submit waits for that. */
static int wait_for(struct tg_bo *bo, bool write, int job)
{
	const int file = look(bo, write);
	int ret;

	if (file < 0)
		return file;
	ret = tsr_sync_import_file(bo->others, 0, file);
	close(file);
	return ret ? ret : tsr_submit_wait(bo->screen->submit, job, bo->others, 0);
}

int tg_share_before(struct tg_batch *b, int reader, int writer)
{
	int ret = 0;

	util_dynarray_foreach(&b->job->bos, struct tg_bo *, bo) {
		const bool write = (*bo)->dmabuf >= 0 && tg_batch_has_written(b, *bo);

		if ((*bo)->dmabuf >= 0)
			ret = wait_for(*bo, write, write ? writer : reader);
		if (ret)
			break;
	}
	return ret;
}

void tg_share_after(struct tg_batch *b, uint64_t point)
{
	struct tg_screen *screen = b->ctx->screen;
	int file = -1;

	util_dynarray_foreach(&b->job->bos, struct tg_bo *, bo) {
		if ((*bo)->dmabuf < 0)
			continue;
		if (file < 0 && tsr_sync_export_file(screen->timeline, point, &file)) {
			mesa_loge("tessera: %s", tsr_error_message());
			return;
		}
		publish(*bo, file, tg_batch_has_written(b, *bo));
	}
	if (file >= 0)
		close(file);
}

static bool others_done(struct tg_bo *bo, bool write, int timeout)
{
	struct pollfd p = { .fd = bo->dmabuf < 0 ? -1 : look(bo, write), .events = POLLIN };
	int ret;

	if (p.fd < 0)
		return true;
	do {
		ret = poll(&p, 1, timeout);
	} while (ret < 0 && errno == EINTR);
	close(p.fd);
	return ret != 0;
}

bool tg_share_busy(struct tg_bo *bo, bool write)
{
	return !others_done(bo, write, 0);
}

void tg_share_wait(struct tg_bo *bo, bool write)
{
	others_done(bo, write, -1);
}
