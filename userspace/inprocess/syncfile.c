// SPDX-License-Identifier: MIT
/*
 * Sync files, and the ioctls of dma-bufs.
 *
 * A sync file is an eventfd of the program that is written when its fence signals, so that poll()
 * tells it. The fence keeps a descriptor of its own for that, which goes with the signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "driver.h"
#include "real.h"

#ifndef SYNC_IOC_SET_DEADLINE
struct sync_set_deadline {
	__u64 deadline_ns, pad;
};
#define SYNC_IOC_SET_DEADLINE _IOW(SYNC_IOC_MAGIC, 5, struct sync_set_deadline)
#endif
#ifndef DMA_BUF_IOCTL_EXPORT_SYNC_FILE
struct dma_buf_export_sync_file {
	__u32 flags;
	__s32 fd;
};
struct dma_buf_import_sync_file {
	__u32 flags;
	__s32 fd;
};
#define DMA_BUF_IOCTL_EXPORT_SYNC_FILE _IOWR(DMA_BUF_BASE, 2, struct dma_buf_export_sync_file)
#define DMA_BUF_IOCTL_IMPORT_SYNC_FILE _IOW(DMA_BUF_BASE, 3, struct dma_buf_import_sync_file)
#endif

struct sync_file {
	struct sync_file *next;
	int fd;
	struct ufile *of;
};

void syncfile_tell(struct fence *f)
{
	while (f->files) {
		struct sync_file *s = f->files;

		f->files = s->next;
		eventfd_write(s->fd, 1);
		fd_close(s->fd);
		s->of->sync = NULL;
		free(s);
	}
}

/* The descriptor of the program is closed: the fence need not tell it. */
void syncfile_free(struct ufile *u)
{
	struct fence *f = u->object;
	struct sync_file **at = &f->files;

	while (u->sync && *at != u->sync)
		at = &(*at)->next;
	if (u->sync) {
		*at = u->sync->next;
		fd_close(u->sync->fd);
		free(u->sync);
	}
	fence_put(f);
}

int syncfile_fd(struct fence *f, const char *name)
{
	int fd = eventfd(f->signalled, EFD_CLOEXEC | EFD_NONBLOCK);
	struct sync_file *s = NULL;
	struct ufile *u;
	int ret;

	if (fd >= 0 && !f->signalled) {
		s = calloc(1, sizeof(*s));
		if (s)
			s->fd = fd_move(sys_fcntl(fd, F_DUPFD_CLOEXEC, 0));
		if (!s || s->fd < 0) {
			free(s);
			sys_close(fd);
			fence_put(f);
			return -ENOMEM;
		}
	}
	ret = ufile_install(fd, UFILE_SYNC_FILE, fence_get(f));
	if (ret < 0) {
		if (s)
			fd_close(s->fd);
		free(s);
		fence_put(f);
		return ret;
	}
	u = ufile_get(fd);
	snprintf(u->name, sizeof(u->name), "%s", name);
	if (s) {
		s->next = f->files;
		s->of = u;
		f->files = s;
		u->sync = s;
	}
	ufile_put(u);
	fence_put(f);
	return fd;
}

static int status_of(const struct fence *f)
{
	return f->signalled ? f->status ? f->status : 1 : 0;
}

static void describe(const struct fence *f, struct sync_fence_info *info)
{
	memset(info, 0, sizeof(*info));
	snprintf(info->obj_name, sizeof(info->obj_name), "%s", f->name);
	snprintf(info->driver_name, sizeof(info->driver_name), "tessera");
	info->status = status_of(f);
	info->timestamp_ns = f->signalled ? f->time : 0;
}

static int file_info(struct ufile *u, uint64_t arg)
{
	const struct fence *f = u->object;
	uint32_t i, count = f->parts_count ? f->parts_count : 1;
	struct sync_fence_info fence;
	struct sync_file_info info;
	int ret = copy_in(&info, arg, sizeof(info));

	if (ret)
		return ret;
	if (info.flags || info.pad)
		return -EINVAL;
	if (info.num_fences && info.num_fences < count)
		return -EINVAL;
	for (i = 0; info.num_fences && i < count && !ret; i++) {
		describe(f->parts_count ? f->part[i] : f, &fence);
		ret = copy_out(info.sync_fence_info + i * sizeof(fence), &fence, sizeof(fence));
	}
	snprintf(info.name, sizeof(info.name), "%s", u->name);
	info.status = status_of(f);
	info.num_fences = count;
	return ret ? ret : copy_out(arg, &info, sizeof(info));
}

/* The fences a sync file stands for. */
static unsigned int parts(struct fence *f, struct fence ***list)
{
	static struct fence *one;	/* under the lock */

	if (f->parts_count) {
		*list = f->part;
		return f->parts_count;
	}
	one = f;
	*list = &one;
	return 1;
}

static struct fence *merge_fences(struct fence *a, struct fence *b)
{
	struct fence **list, **all, *merged;
	unsigned int count = (a->parts_count ? a->parts_count : 1) +
			     (b->parts_count ? b->parts_count : 1);
	unsigned int i, j, n, used = 0;
	int which;

	all = calloc(count, sizeof(*all));
	if (!all)
		return NULL;
	for (which = 0; which < 2; which++) {
		n = parts(which ? b : a, &list);
		for (i = 0; i < n; i++) {
			for (j = 0; j < used && all[j] != list[i]; j++)
				;
			if (j == used)
				all[used++] = list[i];
		}
	}
	merged = used == 1 ? fence_get(all[0]) : fence_all(all, used, true);
	free(all);
	return merged;
}

static int merge(struct ufile *u, uint64_t arg)
{
	struct sync_merge_data data;
	struct ufile *other;
	struct fence *f = NULL;
	int ret = copy_in(&data, arg, sizeof(data));

	if (ret)
		return ret;
	if (data.flags || data.pad)
		return -EINVAL;
	other = ufile_get(data.fd2);
	if (!other || other->kind != UFILE_SYNC_FILE)
		ret = -ENOENT;
	else
		f = merge_fences(u->object, other->object);
	ufile_put(other);
	if (ret)
		return ret;
	if (!f)
		return -ENOMEM;
	data.name[sizeof(data.name) - 1] = '\0';
	ret = syncfile_fd(f, data.name);
	if (ret < 0)
		return ret;
	data.fence = ret;
	return copy_out(arg, &data, sizeof(data));
}

int syncfile_ioctl(struct ufile *u, unsigned long request, uint64_t arg)
{
	struct sync_set_deadline deadline;
	int ret;

	switch (request) {
	case SYNC_IOC_FILE_INFO:
		return file_info(u, arg);
	case SYNC_IOC_MERGE:
		return merge(u, arg);
	case SYNC_IOC_SET_DEADLINE:	/* a wish, and the device is as fast as it can be */
		ret = copy_in(&deadline, arg, sizeof(deadline));
		return ret ? ret : deadline.pad ? -EINVAL : 0;
	default:
		return -ENOTTY;
	}
}

/* ---- dma-bufs -------------------------------------------------------------------------------- */

/*
 * The driver synchronizes explicitly, so a dma-buf has only the fences that were imported. A reader
 * waits for writers, and a writer for all. Returns a reference, or NULL without memory.
 */
static struct fence *fences_before(struct bo *bo, bool write)
{
	if (write && bo->write && bo->read)
		return merge_fences(bo->write, bo->read);
	if (write && bo->read)
		return fence_get(bo->read);
	return bo->write ? fence_get(bo->write) : fence_stub();
}

static int export_sync_file(struct bo *bo, uint64_t arg)
{
	struct dma_buf_export_sync_file data;
	struct fence *f;
	int ret = copy_in(&data, arg, sizeof(data));

	if (ret)
		return ret;
	if (!(data.flags & DMA_BUF_SYNC_RW) || data.flags & ~(uint32_t)DMA_BUF_SYNC_RW)
		return -EINVAL;
	f = fences_before(bo, data.flags & DMA_BUF_SYNC_WRITE);
	if (!f)
		return -ENOMEM;
	ret = syncfile_fd(f, f->name);
	if (ret < 0)
		return ret;
	data.fd = ret;
	return copy_out(arg, &data, sizeof(data));
}

static int import_sync_file(struct bo *bo, uint64_t arg)
{
	struct dma_buf_import_sync_file data;
	struct fence *f = NULL, **of;
	struct ufile *u;
	int ret = copy_in(&data, arg, sizeof(data));

	if (ret)
		return ret;
	if (!(data.flags & DMA_BUF_SYNC_RW) || data.flags & ~(uint32_t)DMA_BUF_SYNC_RW)
		return -EINVAL;
	of = data.flags & DMA_BUF_SYNC_WRITE ? &bo->write : &bo->read;
	u = ufile_get(data.fd);
	if (!u || u->kind != UFILE_SYNC_FILE)
		ret = -EINVAL;
	else if (*of && !(*of)->signalled)
		f = merge_fences(*of, u->object);
	else
		f = fence_get(u->object);
	ufile_put(u);
	if (ret)
		return ret;
	if (!f)
		return -ENOMEM;
	fence_put(*of);
	*of = f;
	return 0;
}

short dmabuf_poll(struct ufile *u, short events, int *wait)
{
	struct bo *bo = u->object;
	bool writes = bo->write && !bo->write->signalled;
	bool reads = bo->read && !bo->read->signalled;
	struct fence *f;
	short ready = 0;

	if (!writes)
		ready |= events & POLLIN;
	if (!writes && !reads)
		ready |= events & POLLOUT;
	if (ready || !wait)
		return ready;
	f = fences_before(bo, !(events & POLLIN));
	*wait = f ? syncfile_fd(f, f->name) : -ENOMEM;
	return 0;
}

/* Other processes' fences cannot be exported, so wait for them. */
static int wait_for_others(struct bo *bo, uint64_t arg)
{
	struct dma_buf_export_sync_file data;
	int ret = copy_in(&data, arg, sizeof(data));

	return ret ? ret : neighbors_wait(bo, data.flags & DMA_BUF_SYNC_WRITE);
}

static int tell_others(struct bo *bo, uint64_t arg)
{
	struct dma_buf_import_sync_file data;
	struct ufile *u;
	int ret = copy_in(&data, arg, sizeof(data));

	if (ret)
		return ret;
	u = ufile_get(data.fd);
	ret = u && u->kind == UFILE_SYNC_FILE
		      ? neighbors_tell(bo, u->object, data.flags & DMA_BUF_SYNC_WRITE)
		      : -EINVAL;
	ufile_put(u);
	return ret;
}

int dmabuf_ioctl(struct ufile *u, unsigned long request, uint64_t arg)
{
	struct dma_buf_sync sync;
	int ret;

	switch (request) {
	case DMA_BUF_IOCTL_SYNC:	/* the processor's caches are the device's */
		ret = copy_in(&sync, arg, sizeof(sync));
		if (!ret && (sync.flags & ~(uint64_t)DMA_BUF_SYNC_VALID_FLAGS_MASK ||
			     !(sync.flags & DMA_BUF_SYNC_RW)))
			ret = -EINVAL;
		return ret;
	case DMA_BUF_IOCTL_EXPORT_SYNC_FILE:
		ret = wait_for_others(u->object, arg);
		return ret ? ret : export_sync_file(u->object, arg);
	case DMA_BUF_IOCTL_IMPORT_SYNC_FILE:
		ret = import_sync_file(u->object, arg);
		return ret ? ret : tell_others(u->object, arg);
	default:
		return -ENOTTY;
	}
}
