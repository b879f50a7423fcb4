// SPDX-License-Identifier: MIT
/* An open device: its file, what the queries say, and the table of its buffer objects. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

#include "internal.h"
#include "tsr_regs.h"

int tsr_device_ioctl(const struct tsr_device *device, unsigned long request, void *arg)
{
	return drmIoctl(device->fd, request, arg) ? errno : 0;
}

int tsr_take_info(void *ours, size_t known, size_t first, const void *given, size_t size,
		  const char *what)
{
	const unsigned char *more = given;
	size_t i;

	if (size < first)
		return tsr_fail(EINVAL, "%s of %zu bytes, expected %zu or more", what, size, first);
	for (i = known; i < size; i++) {
		if (more[i])
			return tsr_fail(E2BIG, "%s of %zu bytes with something at %zu: this "
					"library knows %zu", what, size, i, known);
	}
	tsr_copy_out(ours, known, given, size);
	return 0;
}

void tsr_copy_out(void *target, size_t size, const void *ours, size_t known)
{
	size_t common = size < known ? size : known;

	memcpy(target, ours, common);
	memset((char *)target + common, 0, size - common);
}

/* One structure of a query; the kernel clears what it does not know. */
static int query_one(const struct tsr_device *device, uint32_t type, void *data, uint32_t size)
{
	struct drm_tessera_dev_query query = {
		.type = type,
		.size = size,
		.ptr = (uintptr_t)data,
	};

	return tsr_device_ioctl(device, DRM_IOCTL_TESSERA_DEV_QUERY, &query);
}

/* An array of a query, for the caller to free; NULL with *@count 0 if it is empty. */
static int query_array(const struct tsr_device *device, uint32_t type, uint32_t stride,
		       void **array, unsigned int *count)
{
	struct drm_tessera_dev_query query = { .type = type };
	void *data;
	int error;

	*array = NULL;
	*count = 0;
	error = tsr_device_ioctl(device, DRM_IOCTL_TESSERA_DEV_QUERY, &query);
	if (error)
		return error;
	if (!query.size || !query.stride)
		return 0;
	*count = query.size / query.stride;
	data = calloc(*count, stride);
	if (!data)
		return ENOMEM;
	query.size = *count * stride;
	query.stride = stride;
	query.ptr = (uintptr_t)data;
	error = tsr_device_ioctl(device, DRM_IOCTL_TESSERA_DEV_QUERY, &query);
	if (error) {
		free(data);
		return error;
	}
	*count = query.size / stride;
	*array = data;
	return 0;
}

/* Refuse what is not driven by tessera before sending it ioctls of ours. */
static int check_driver(int fd, const char *path)
{
	drmVersionPtr version = drmGetVersion(fd);
	int ret = 0;

	if (!version)
		return tsr_fail(ENODEV, "%s is not a DRM device", path);
	if (strcmp(version->name, "tessera"))
		ret = tsr_fail(ENODEV, "%s is driven by '%s', expected 'tessera'", path,
			       version->name);
	drmFreeVersion(version);
	return ret;
}

/* A driver older than 1.1 does not know the query, and its devices have no shader cores. */
static int read_shader_info(struct tsr_device *device, const char *path)
{
	int error = query_one(device, DRM_TESSERA_QUERY_SHADER_INFO, &device->shader,
			      sizeof(device->shader_room));

	if (error == EINVAL)
		memset(device->shader_room, 0, sizeof(device->shader_room));
	else if (error)
		return tsr_fail_ioctl(error, "query of the shader cores of %s", path);
	return 0;
}

static int read_limits(struct tsr_device *device, const char *path)
{
	const struct drm_tessera_gpu_info *info = &device->info;
	void *engines;
	int error;

	error = query_one(device, DRM_TESSERA_QUERY_GPU_INFO, &device->info,
			  sizeof(device->info_room));
	if (error)
		return tsr_fail_ioctl(error, "query of the GPU behind %s", path);
	if (info->hw_version >> 16 != TSR_VERSION_MAJOR)
		return tsr_fail(EPROTONOSUPPORT, "%s has version %u.%u, expected %u.x", path,
				info->hw_version >> 16, info->hw_version & 0xffff,
				TSR_VERSION_MAJOR);
	device->granule = info->page_sizes & -info->page_sizes;
	if (!device->granule || info->va_start >= info->va_end)
		return tsr_fail(EPROTONOSUPPORT,
				"%s reports no page size or no addresses; its driver is broken",
				path);
	error = query_array(device, DRM_TESSERA_QUERY_ENGINES, sizeof(device->engines[0]),
			    &engines, &device->engine_count);
	if (error)
		return tsr_fail_ioctl(error, "query of the engines of %s", path);
	device->engines = engines;
	return read_shader_info(device, path);
}

/* Takes @fd over, also on failure. */
static int open_owned(int fd, const char *path, const char *name, struct tsr_device **out)
{
	struct tsr_device *device;
	int ret;

	ret = check_driver(fd, name);
	if (ret)
		goto close_file;
	device = calloc(1, sizeof(*device));
	if (device)
		device->path = strdup(path);
	if (!device || !device->path) {
		free(device);
		ret = tsr_fail(ENOMEM, "no memory for a device");
		goto close_file;
	}
	atomic_init(&device->refs, 1);
	device->fd = fd;
	pthread_mutex_init(&device->bo_lock, NULL);
	ret = read_limits(device, name);
	if (ret)
		tsr_device_unref(device);
	else
		*out = device;
	return ret;
close_file:
	close(fd);
	return ret;
}

int tsr_device_open(const char *path, struct tsr_device **device)
{
	struct tsr_node first;
	int fd, count, error;

	if (!path) {
		count = tsr_device_list(&first, 1);
		if (count < 0)
			return count;
		if (!count)
			return tsr_fail(ENODEV,
					"no Tessera GPU found: no DRM render node of a PCI device "
					"%04x:%04x (is the driver loaded?)",
					TSR_PCI_VENDOR, TSR_PCI_DEVICE);
		path = first.render;
	}
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		error = errno;
		return tsr_fail(error, "cannot open %s: %s", path, strerror(error));
	}
	return open_owned(fd, path, path, device);
}

int tsr_device_open_fd(int fd, struct tsr_device **device)
{
	char name[32];
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), error;

	if (copy < 0) {
		error = errno;
		return tsr_fail(error, "cannot duplicate file descriptor %d: %s", fd,
				strerror(error));
	}
	snprintf(name, sizeof(name), "file descriptor %d", fd);
	return open_owned(copy, "", name, device);
}

struct tsr_device *tsr_device_ref(struct tsr_device *device)
{
	atomic_fetch_add_explicit(&device->refs, 1, memory_order_relaxed);
	return device;
}

void tsr_device_unref(struct tsr_device *device)
{
	if (!device || atomic_fetch_sub_explicit(&device->refs, 1, memory_order_acq_rel) != 1)
		return;
	close(device->fd);
	pthread_mutex_destroy(&device->bo_lock);
	free(device->bos);
	free(device->engines);
	free(device->path);
	free(device);
}

int tsr_device_fd(const struct tsr_device *device)
{
	return device->fd;
}

const char *tsr_device_path(const struct tsr_device *device)
{
	return device->path;
}

const struct drm_tessera_gpu_info *tsr_device_info(const struct tsr_device *device)
{
	return &device->info;
}

const struct drm_tessera_shader_info *tsr_device_shader_info(const struct tsr_device *device)
{
	return &device->shader;
}

const struct drm_tessera_engine_info *
tsr_device_engine(const struct tsr_device *device, enum drm_tessera_engine_class engine_class)
{
	unsigned int i;

	for (i = 0; i < device->engine_count; i++) {
		if (device->engines[i].info.engine_class == engine_class)
			return &device->engines[i].info;
	}
	return NULL;
}

/* An array for the caller, whose elements have @stride bytes. */
static int get_array(struct tsr_device *device, uint32_t type, size_t stride, const char *what,
		     void **infos, unsigned int *count)
{
	unsigned int found;
	void *array;
	int error;

	if (stride % 8 || !stride || stride > TSR_INFO_ROOM)
		return tsr_fail(EINVAL,
				"elements of %zu bytes for the %s, expected a multiple of 8 "
				"up to %d", stride, what, TSR_INFO_ROOM);
	error = query_array(device, type, (uint32_t)stride, &array, &found);
	if (error)
		return tsr_fail_ioctl(error, "query of the %s", what);
	*infos = array;
	*count = found;
	return 0;
}

int tsr_device_get_engines(struct tsr_device *device, struct drm_tessera_engine_info **infos,
			   size_t stride, unsigned int *count)
{
	return get_array(device, DRM_TESSERA_QUERY_ENGINES, stride, "engines", (void **)infos,
			 count);
}

int tsr_device_get_counters(struct tsr_device *device, struct drm_tessera_counter_info **infos,
			    size_t stride, unsigned int *count)
{
	return get_array(device, DRM_TESSERA_QUERY_COUNTERS, stride, "performance counters",
			 (void **)infos, count);
}

int tsr_device_get_state(struct tsr_device *device, struct drm_tessera_gpu_state *state,
			 size_t size)
{
	struct drm_tessera_gpu_state known = { 0 };
	int error;

	error = query_one(device, DRM_TESSERA_QUERY_GPU_STATE, &known, sizeof(known));
	if (error)
		return tsr_fail_ioctl(error, "query of the GPU's state");
	tsr_copy_out(state, size, &known, sizeof(known));
	return 0;
}

int tsr_device_get_timestamp(struct tsr_device *device, int clock_id,
			     struct drm_tessera_get_timestamp *timestamp, size_t size)
{
	struct drm_tessera_get_timestamp known = { .clock_id = clock_id };
	int error;

	error = tsr_device_ioctl(device, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &known);
	if (error)
		return tsr_fail_ioctl(error,
				      "timestamp against clock %d (expected CLOCK_MONOTONIC or "
				      "CLOCK_MONOTONIC_RAW)",
				      clock_id);
	tsr_copy_out(timestamp, size, &known, sizeof(known));
	return 0;
}
