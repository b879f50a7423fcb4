// SPDX-License-Identifier: MIT
/*
 * Syncs: DRM syncobjs, binary or timeline. All waits go through the timeline ioctl, which takes
 * point 0 for binary ones, so one call can mix both.
 */
#include <errno.h>
#include <linux/sync_file.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <xf86drm.h>

#include "internal.h"

struct tsr_sync {
	atomic_uint refs;
	struct tsr_device *device;	/* referenced */
	uint32_t handle;
	bool timeline;
};

static int wrap(struct tsr_device *device, uint32_t handle, bool timeline, struct tsr_sync **out)
{
	struct tsr_sync *sync = calloc(1, sizeof(*sync));

	if (!sync) {
		drmSyncobjDestroy(device->fd, handle);
		return tsr_fail(ENOMEM, "no memory for a sync");
	}
	atomic_init(&sync->refs, 1);
	sync->device = tsr_device_ref(device);
	sync->handle = handle;
	sync->timeline = timeline;
	*out = sync;
	return 0;
}

int tsr_sync_create(struct tsr_device *device, uint32_t flags, struct tsr_sync **sync)
{
	uint32_t handle;

	if (flags & ~(uint32_t)(TSR_SYNC_TIMELINE | TSR_SYNC_SIGNALED) ||
	    flags == (TSR_SYNC_TIMELINE | TSR_SYNC_SIGNALED))
		return tsr_fail(
			EINVAL,
			"sync flags 0x%x, expected 0, TSR_SYNC_TIMELINE or TSR_SYNC_SIGNALED",
			flags);
	if (drmSyncobjCreate(device->fd,
			     flags & TSR_SYNC_SIGNALED ? DRM_SYNCOBJ_CREATE_SIGNALED : 0, &handle))
		return tsr_fail_ioctl(errno, "new sync");
	return wrap(device, handle, flags & TSR_SYNC_TIMELINE, sync);
}

struct tsr_sync *tsr_sync_ref(struct tsr_sync *sync)
{
	atomic_fetch_add_explicit(&sync->refs, 1, memory_order_relaxed);
	return sync;
}

void tsr_sync_unref(struct tsr_sync *sync)
{
	if (!sync || atomic_fetch_sub_explicit(&sync->refs, 1, memory_order_acq_rel) != 1)
		return;
	drmSyncobjDestroy(sync->device->fd, sync->handle);
	tsr_device_unref(sync->device);
	free(sync);
}

uint32_t tsr_sync_handle(const struct tsr_sync *sync)
{
	return sync->handle;
}

bool tsr_sync_is_timeline(const struct tsr_sync *sync)
{
	return sync->timeline;
}

struct tsr_device *tsr_sync_device(const struct tsr_sync *sync)
{
	return sync->device;
}

/* Checks that @point fits the kind of the sync. */
static int check_point(const struct tsr_sync *sync, uint64_t point)
{
	if (sync->timeline && !point)
		return tsr_fail(EINVAL, "point 0 of a timeline sync, expected 1 or more");
	if (!sync->timeline && point)
		return tsr_fail(EINVAL, "point %llu of a binary sync, expected 0",
				(unsigned long long)point);
	return 0;
}

int tsr_sync_pack(const struct tsr_point *point, const struct tsr_device *device,
		  struct drm_tessera_sync *packed)
{
	int ret = check_point(point->sync, point->point);

	if (ret)
		return ret;
	if (point->sync->device != device)
		return tsr_fail(EINVAL, "a sync of another device: export and import it");
	*packed = (struct drm_tessera_sync){
		.type = point->sync->timeline ? DRM_TESSERA_SYNC_TIMELINE
					      : DRM_TESSERA_SYNC_SYNCOBJ,
		.handle = point->sync->handle,
		.point = point->point,
	};
	return 0;
}

int64_t tsr_deadline(uint64_t ns)
{
	struct timespec now;
	int64_t base;

	clock_gettime(CLOCK_MONOTONIC, &now);
	base = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	return ns > (uint64_t)(TSR_DEADLINE_NEVER - base) ? TSR_DEADLINE_NEVER : base + (int64_t)ns;
}

int tsr_sync_wait(struct tsr_sync *sync, uint64_t point, int64_t deadline)
{
	struct tsr_point one = { sync, point };

	return tsr_sync_wait_many(&one, 1, TSR_SYNC_WAIT_FOR_SUBMIT, deadline, NULL);
}

/* The kernel's form of enum tsr_sync_wait_flags. */
static uint32_t wait_flags(uint32_t flags)
{
	return (flags & TSR_SYNC_WAIT_ALL ? DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL : 0) |
	       (flags & TSR_SYNC_WAIT_FOR_SUBMIT ? DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT : 0) |
	       (flags & TSR_SYNC_WAIT_AVAILABLE ? DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE : 0);
}

static int collect(const struct tsr_point *points, unsigned int count, uint32_t *handles,
		   uint64_t *values)
{
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = check_point(points[i].sync, points[i].point);
		if (ret)
			return ret;
		if (points[i].sync->device != points[0].sync->device)
			return tsr_fail(EINVAL, "syncs of different devices in one wait");
		handles[i] = points[i].sync->handle;
		values[i] = points[i].point;
	}
	return 0;
}

int tsr_sync_wait_many(const struct tsr_point *points, unsigned int count, uint32_t flags,
		       int64_t deadline, unsigned int *first)
{
	uint32_t few_handles[8], *handles = few_handles, index = 0;
	uint64_t few_values[8], *values = few_values;
	int ret;

	if (!count)
		return 0;
	if (flags & ~(uint32_t)(TSR_SYNC_WAIT_ALL | TSR_SYNC_WAIT_FOR_SUBMIT |
				TSR_SYNC_WAIT_AVAILABLE))
		return tsr_fail(EINVAL, "unknown wait flags 0x%x", flags);
	if (count > 8) {
		handles = calloc(count, sizeof(*handles));
		values = calloc(count, sizeof(*values));
	}
	ret = handles && values ? collect(points, count, handles, values)
				: tsr_fail(ENOMEM, "no memory to wait for %u points", count);
	if (!ret) {
		ret = drmSyncobjTimelineWait(points[0].sync->device->fd, handles, values, count,
					     deadline, wait_flags(flags), &index);
		if (ret == -ETIME)
			tsr_fail(ETIME, "%u point(s) not signalled before the deadline", count);
		else if (ret < 0)
			ret = tsr_fail_ioctl(-ret, "wait for %u point(s)", count);
		else if (first)
			*first = index;
	}
	if (count > 8) {
		free(handles);
		free(values);
	}
	return ret;
}

int tsr_sync_export_file(struct tsr_sync *sync, uint64_t point, int *fd)
{
	int device = sync->device->fd, file, ret;
	uint32_t handle = sync->handle;

	ret = check_point(sync, point);
	if (ret)
		return ret;
	if (sync->timeline) {
		/* a sync_file is made of a binary syncobj, so the point moves to one first */
		if (drmSyncobjCreate(device, 0, &handle))
			return tsr_fail_ioctl(errno, "new sync");
		if (drmSyncobjTransfer(device, handle, 0, sync->handle, point, 0)) {
			ret = tsr_fail_ioctl(errno, "point %llu has no fence yet",
					     (unsigned long long)point);
			goto out;
		}
	}
	if (drmSyncobjExportSyncFile(device, handle, &file))
		ret = tsr_fail_ioctl(errno, "sync_file of a sync that may have no fence yet");
	else
		*fd = file;
out:
	if (sync->timeline)
		drmSyncobjDestroy(device, handle);
	return ret;
}

int tsr_sync_import_file(struct tsr_sync *sync, uint64_t point, int fd)
{
	int device = sync->device->fd, ret;
	uint32_t handle;

	ret = check_point(sync, point);
	if (ret)
		return ret;
	if (!sync->timeline) {
		if (drmSyncobjImportSyncFile(device, sync->handle, fd))
			return tsr_fail_ioctl(
				errno, "import of file descriptor %d (expected a sync_file)", fd);
		return 0;
	}
	if (drmSyncobjCreate(device, 0, &handle))
		return tsr_fail_ioctl(errno, "new sync");
	if (drmSyncobjImportSyncFile(device, handle, fd) ||
	    drmSyncobjTransfer(device, sync->handle, point, handle, 0, 0))
		ret = tsr_fail_ioctl(errno, "import of file descriptor %d at point %llu", fd,
				     (unsigned long long)point);
	drmSyncobjDestroy(device, handle);
	return ret;
}

/*
 * The status of a sync_file. The fence at a point is a link of the timeline's chain, which has no
 * error of its own; the file's list of fences shows what it links to, that of the point first.
 */
static int read_status(int file, int *status)
{
	struct sync_fence_info few[4], *fences = few;
	struct sync_file_info info = { 0 };
	int ret = 0;

	if (drmIoctl(file, SYNC_IOC_FILE_INFO, &info))
		return tsr_fail_ioctl(errno, "status of a sync_file");
	*status = info.status;
	if (!info.num_fences)
		return 0;
	if (info.num_fences > 4) {
		fences = calloc(info.num_fences, sizeof(*fences));
		if (!fences)
			return tsr_fail(ENOMEM, "no memory for %u fences", info.num_fences);
	}
	info.sync_fence_info = (uintptr_t)fences;
	if (drmIoctl(file, SYNC_IOC_FILE_INFO, &info))
		ret = tsr_fail_ioctl(errno, "status of a sync_file");
	else if (info.num_fences)
		*status = fences[0].status;
	if (fences != few)
		free(fences);
	return ret;
}

int tsr_sync_get_status(struct tsr_sync *sync, uint64_t point, int *status)
{
	int file, ret;

	ret = tsr_sync_export_file(sync, point, &file);
	if (ret)
		return ret;
	ret = read_status(file, status);
	close(file);
	return ret;
}

int tsr_sync_finish(struct tsr_sync *sync, uint64_t point, int64_t deadline)
{
	int ret, status;

	ret = tsr_sync_wait(sync, point, deadline);
	if (!ret)
		ret = tsr_sync_get_status(sync, point, &status);
	if (ret)
		return ret;
	return status < 0 ? tsr_fail_ioctl(-status, "job failed") : 0;
}

int tsr_sync_get_point(struct tsr_sync *sync, uint64_t *point)
{
	uint64_t value;

	if (!sync->timeline)
		return tsr_fail(EINVAL, "a binary sync has no points");
	if (drmSyncobjQuery(sync->device->fd, &sync->handle, &value, 1))
		return tsr_fail_ioctl(errno, "query of a timeline");
	*point = value;
	return 0;
}

int tsr_sync_signal(struct tsr_sync *sync, uint64_t point)
{
	int ret = check_point(sync, point);

	if (ret)
		return ret;
	if (sync->timeline)
		ret = drmSyncobjTimelineSignal(sync->device->fd, &sync->handle, &point, 1);
	else
		ret = drmSyncobjSignal(sync->device->fd, &sync->handle, 1);
	return ret ? tsr_fail_ioctl(errno, "signal of a sync") : 0;
}

int tsr_sync_reset(struct tsr_sync *sync)
{
	if (drmSyncobjReset(sync->device->fd, &sync->handle, 1))
		return tsr_fail_ioctl(errno, "reset of a sync");
	return 0;
}

int tsr_sync_export(struct tsr_sync *sync, int *fd)
{
	int exported;

	if (drmSyncobjHandleToFD(sync->device->fd, sync->handle, &exported))
		return tsr_fail_ioctl(errno, "export of a sync");
	*fd = exported;
	return 0;
}

int tsr_sync_import(struct tsr_device *device, int fd, bool timeline, struct tsr_sync **sync)
{
	uint32_t handle;

	if (drmSyncobjFDToHandle(device->fd, fd, &handle))
		return tsr_fail_ioctl(errno, "import of file descriptor %d (expected a sync)", fd);
	return wrap(device, handle, timeline, sync);
}
