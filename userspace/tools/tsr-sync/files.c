// SPDX-License-Identifier: MIT
/* Statements about file descriptors: sync files, eventfds, dma-bufs, and vgem's fences. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <linux/dma-buf.h>
#include <xf86drm.h>

#include "compat.h"
#include "sync.h"

#define FENCES_MAX 64

/* The part of vgem's interface that libdrm does not have. */
struct vgem_attach {
	uint32_t handle, flags, fence, pad;
};

struct vgem_signal {
	uint32_t fence, flags;
};

#define VGEM_ATTACH DRM_IOWR(DRM_COMMAND_BASE + 1, struct vgem_attach)
#define VGEM_SIGNAL DRM_IOW(DRM_COMMAND_BASE + 2, struct vgem_signal)
#define VGEM_WRITE 1u

static const char *word(const struct statement *s, unsigned int i)
{
	return i < s->count ? s->words[i] : NULL;
}

static void add_file(const struct statement *s, const char *name, int fd, bool event,
		     const char *who)
{
	struct file *f = add_object(s, FILE_DESCRIPTOR, name, sizeof(*f));

	f->fd = fd;
	f->eventfd = event;
	snprintf(f->producer, sizeof(f->producer), "%s", who ? who : "");
}

/* ---- eventfds and sync files ---- */

/* eventfd REF NAME [available]: NAME can be polled for the fence, or for its submission */
int verb_eventfd(const struct statement *s)
{
	struct reference ref = find_reference(s, word(s, 1));
	struct drm_syncobj_eventfd args = {
		.handle = ref.syncobj->handle,
		.flags = has_word(s, "available") ? DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE : 0,
		.point = ref.point,
		.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	int ret = DO_IOCTL(ref.syncobj->device->fd, DRM_IOCTL_SYNCOBJ_EVENTFD, &args);

	if (!ret)
		add_file(s, word(s, 2), args.fd, true, producer_of(&ref));
	else
		close(args.fd);
	return ret;
}

/* export REF NAME: the fence that is there now, as a sync file */
int verb_export(const struct statement *s)
{
	struct reference ref = find_reference(s, word(s, 1));
	struct drm_syncobj_handle args = {
		.handle = ref.syncobj->handle,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};
	int ret;

	if (ref.point)
		refuse(s, "a sync file is made from a binary syncobj: transfer the point to one "
			  "first");
	ret = DO_IOCTL(ref.syncobj->device->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &args);
	if (!ret)
		add_file(s, word(s, 2), args.fd, false, producer_of(&ref));
	return ret;
}

/* import FILE SYNCOBJ: its fence becomes the syncobj's */
int verb_import(const struct statement *s)
{
	struct file *f = find_file(s, word(s, 1));
	struct reference ref = find_reference(s, word(s, 2));
	struct drm_syncobj_handle args = {
		.handle = ref.syncobj->handle,
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
		.fd = f->fd,
	};
	int ret;

	if (ref.point)
		refuse(s, "a sync file goes into a binary syncobj: transfer it to the point then");
	ret = DO_IOCTL(ref.syncobj->device->fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &args);
	if (!ret)
		produces(&ref, f->producer);
	return ret;
}

/* merge FILE FILE NAME: signals when both have */
int verb_merge(const struct statement *s)
{
	struct file *a = find_file(s, word(s, 1)), *b = find_file(s, word(s, 2));
	struct sync_merge_data args = { .fd2 = b->fd };
	int ret = DO_IOCTL(a->fd, SYNC_IOC_MERGE, &args);

	if (!ret)
		add_file(s, word(s, 3), args.fence, false,
			 *b->producer ? b->producer : a->producer);
	return ret;
}

/* info FILE pending|signaled|ERROR [fences=NUMBER] */
int verb_info(const struct statement *s)
{
	struct file *f = find_file(s, word(s, 1));
	struct sync_fence_info fences[FENCES_MAX] = { 0 };
	struct sync_file_info args = { .num_fences = FENCES_MAX,
				       .sync_fence_info = (uintptr_t)fences };
	const char *want = word(s, 2), *count = option(s, "fences");
	int status, ret;

	if (!want ||
	    (strcmp(want, "pending") && strcmp(want, "signaled") && error_number(want) <= 0))
		refuse(s, "expected: info FILE pending|signaled|ERROR");
	status = !strcmp(want, "pending") ? 0 : !strcmp(want, "signaled") ? 1 : -error_number(want);
	ret = DO_IOCTL(f->fd, SYNC_IOC_FILE_INFO, &args);
	if (ret)
		return ret;
	if (args.status != status)
		failed(s, "the status is %d", args.status);
	if (count && args.num_fences != strtoul(count, NULL, 10))
		failed(s, "it has %u fences", args.num_fences);
	return 0;
}

/* deadline FILE TIME: a hint, when its fence is wanted */
int verb_deadline(const struct statement *s)
{
	struct file *f = find_file(s, word(s, 1));
	struct sync_set_deadline args = { 0 };
	uint64_t after;

	if (!word(s, 2) || !parse_time(word(s, 2), &after))
		refuse(s, "expected: deadline FILE TIME, such as 16ms");
	args.deadline_ns = now_ns() + after;
	return DO_IOCTL(f->fd, SYNC_IOC_SET_DEADLINE, &args);
}

/* poll FILE|BUFFER [write] [timeout=TIME]: a buffer until others do not write it; with "write", do
 * not use it */
int verb_poll(const struct statement *s)
{
	struct object *o = word(s, 1) ? find_any(word(s, 1)) : NULL;
	struct pollfd p = { .events = has_word(s, "write") ? POLLOUT : POLLIN };
	const char *timeout = option(s, "timeout");
	uint64_t limit = 60 * 1000 * MS;
	int ret;

	if (o && o->kind == BUFFER)
		p.fd = ((struct buffer *)o)->dmabuf;
	else
		p.fd = find_file(s, word(s, 1))->fd;
	if (timeout && !strcmp(timeout, "0"))
		limit = 0;
	else if (timeout && !parse_time(timeout, &limit))
		refuse(s, "timeout=%s: expected a time", timeout);
	ret = poll(&p, 1, limit / MS);
	return ret < 0 ? -errno : ret ? 0 : -ETIME;
}

/* ---- dma-bufs ---- */

static uint32_t buffer_use(const struct statement *s)
{
	bool read = has_word(s, "read"), write = has_word(s, "write");

	if (!read && !write)
		refuse(s, "expected read or write");
	return (read ? DMA_BUF_SYNC_READ : 0) | (write ? DMA_BUF_SYNC_WRITE : 0);
}

/* export-buffer BUFFER NAME read|write: what somebody has to wait for who wants to read it, or to
 * write it */
int verb_export_buffer(const struct statement *s)
{
	struct buffer *b = find_buffer(s, word(s, 1));
	struct dma_buf_export_sync_file args = { .flags = buffer_use(s), .fd = -1 };
	int ret = DO_IOCTL(b->dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &args);

	if (!ret)
		add_file(s, word(s, 2), args.fd, false, b->user);
	return ret;
}

/* import-buffer FILE BUFFER read|write: what the fence is about reads the buffer, or writes it */
int verb_import_buffer(const struct statement *s)
{
	struct file *f = find_file(s, word(s, 1));
	struct buffer *b = find_buffer(s, word(s, 2));
	struct dma_buf_import_sync_file args = { .flags = buffer_use(s), .fd = f->fd };
	int ret = DO_IOCTL(b->dmabuf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &args);

	if (!ret)
		snprintf(b->user, sizeof(b->user), "%s", f->producer);
	return ret;
}

/* cpu BUFFER read|write: an access of the CPU; it waits for the others */
int verb_cpu(const struct statement *s)
{
	struct buffer *b = find_buffer(s, word(s, 1));
	struct dma_buf_sync args = { .flags = DMA_BUF_SYNC_START | buffer_use(s) };
	int ret = DO_IOCTL(b->dmabuf, DMA_BUF_IOCTL_SYNC, &args);

	if (ret)
		return ret;
	args.flags ^= DMA_BUF_SYNC_START | DMA_BUF_SYNC_END;
	return DO_IOCTL(b->dmabuf, DMA_BUF_IOCTL_SYNC, &args);
}

/* ---- vgem ---- */

static const struct device *vgem_of(const struct statement *s, const struct buffer *b,
				    uint32_t *handle)
{
	for (unsigned int i = 0; i < b->at_count; i++) {
		*handle = b->at[i].handle;
		if (b->at[i].device->vgem)
			return b->at[i].device;
	}
	refuse(s, "vgem does not have '%s'", b->object.name);
}

/* vgem-fence BUFFER NAME read|write: vgem uses the buffer until vgem-signal NAME */
int verb_vgem_fence(const struct statement *s)
{
	struct buffer *b = find_buffer(s, word(s, 1));
	struct vgem_attach args = { .flags = has_word(s, "write") ? VGEM_WRITE : 0 };
	const struct device *d = vgem_of(s, b, &args.handle);
	int ret = plain_ioctl(d->fd, VGEM_ATTACH, &args);
	struct vgem_fence *f;

	if (ret)
		return ret;
	f = add_object(s, VGEM_FENCE, word(s, 2), sizeof(*f));
	f->fd = d->fd;
	f->fence = args.fence;
	snprintf(b->user, sizeof(b->user), "%s", f->object.name);
	note(now_ns(), EVENT_BEGIN, f->object.name, d->object.name, 0, "%s uses %s", d->object.name,
	     b->object.name);
	snprintf(f->lane, sizeof(f->lane), "%s", d->object.name);
	return 0;
}

/* vgem-signal NAME */
int verb_vgem_signal(const struct statement *s)
{
	struct object *o = word(s, 1) ? find_any(word(s, 1)) : NULL;
	struct vgem_fence *f = (struct vgem_fence *)o;
	struct vgem_signal args = { 0 };
	int ret;

	if (!o || o->kind != VGEM_FENCE)
		refuse(s, "expected the name of a fence of vgem");
	args.fence = f->fence;
	note(now_ns(), EVENT_DONE, o->name, f->lane, 0, "the fence %s of vgem signals", o->name);
	ret = plain_ioctl(f->fd, VGEM_SIGNAL, &args);
	return ret;
}
