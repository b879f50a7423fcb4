// SPDX-License-Identifier: MIT
/* Buffer objects, address spaces, queues and sync objects. */
#include "gt.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/sync_file.h>
#include <xf86drm.h>

int gt_bo_try(int fd, uint64_t size, uint32_t flags, uint32_t vm, uint32_t *handle)
{
	struct drm_tessera_bo_create create = { .size = size, .flags = flags, .vm_id = vm };
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_CREATE, &create);

	*handle = create.handle;
	return ret;
}

uint32_t gt_bo_state(int fd, uint32_t handle)
{
	struct drm_tessera_bo_info info = { .handle = handle };
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_INFO, &info);

	if (ret)
		gt_die("BO_INFO: %s", strerror(-ret));
	return info.state;
}

void *gt_bo_mmap(int fd, uint32_t handle, uint64_t size)
{
	struct drm_tessera_bo_mmap_offset arg = { .handle = handle };
	void *map;

	if (gt_ioctl(fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &arg))
		return NULL;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, arg.offset);
	return map == MAP_FAILED ? NULL : map;
}

struct gt_bo gt_bo(int fd, uint64_t size, uint32_t flags)
{
	struct gt_bo bo = { .fd = fd, .size = size };
	int ret = gt_bo_try(fd, size, flags, 0, &bo.handle);

	if (ret)
		gt_die("BO_CREATE of %llu bytes, flags %#x: %s", (unsigned long long)size, flags,
		       strerror(-ret));
	if (!(flags & DRM_TESSERA_BO_NO_MMAP)) {
		bo.map = gt_bo_mmap(fd, bo.handle, size);
		if (!bo.map)
			gt_die("a BO of %llu bytes cannot be mapped: %s", (unsigned long long)size,
			       strerror(errno));
	}
	return bo;
}

void gt_bo_bind(struct gt_bo *bo, uint32_t vm, uint64_t va, uint32_t perm)
{
	struct drm_tessera_bind_op op = gt_op_map(bo->handle, va, bo->size, 0, perm);
	int ret = gt_vm_bind(bo->fd, vm, &op, 1);

	if (ret)
		gt_die("VM_BIND of a BO at %#llx: %s", (unsigned long long)va, strerror(-ret));
	bo->va = va;
}

void gt_bo_free(struct gt_bo *bo)
{
	if (bo->map)
		munmap(bo->map, bo->size);
	gt_gem_close(bo->fd, bo->handle);
	memset(bo, 0, sizeof(*bo));
}

int gt_gem_close(int fd, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	return gt_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &arg);
}

struct drm_tessera_gpu_info gt_gpu_info(int fd)
{
	struct drm_tessera_gpu_info info = { 0 };
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_GPU_INFO, .size = sizeof(info), .ptr = gt_ptr(&info),
	};
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query);

	if (ret)
		gt_die("DEV_QUERY GPU_INFO: %s", strerror(-ret));
	return info;
}

struct drm_tessera_gpu_state gt_gpu_state(int fd)
{
	struct drm_tessera_gpu_state state = { 0 };
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_GPU_STATE, .size = sizeof(state), .ptr = gt_ptr(&state),
	};
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query);

	if (ret)
		gt_die("DEV_QUERY GPU_STATE: %s", strerror(-ret));
	return state;
}

uint32_t gt_vm(int fd)
{
	struct drm_tessera_vm_create arg = { 0 };
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_VM_CREATE, &arg);

	if (ret)
		gt_die("VM_CREATE: %s", strerror(-ret));
	return arg.vm_id;
}

int gt_vm_destroy(int fd, uint32_t vm)
{
	struct drm_tessera_vm_destroy arg = { .vm_id = vm };

	return gt_ioctl(fd, DRM_IOCTL_TESSERA_VM_DESTROY, &arg);
}

struct drm_tessera_bind_op gt_op_map(uint32_t handle, uint64_t va, uint64_t size, uint64_t offset,
				     uint32_t perm)
{
	return (struct drm_tessera_bind_op){
		.op = DRM_TESSERA_BIND_MAP, .flags = perm, .bo_handle = handle,
		.va = va, .size = size, .bo_offset = offset,
	};
}

struct drm_tessera_bind_op gt_op_unmap(uint64_t va, uint64_t size)
{
	return (struct drm_tessera_bind_op){ .op = DRM_TESSERA_BIND_UNMAP, .va = va, .size = size };
}

int gt_vm_bind(int fd, uint32_t vm, const struct drm_tessera_bind_op *ops, unsigned int count)
{
	struct drm_tessera_vm_bind arg = { .vm_id = vm, .ops = GT_ARRAY(ops, count) };

	return gt_ioctl(fd, DRM_IOCTL_TESSERA_VM_BIND, &arg);
}

int gt_bind_async(int fd, uint32_t vm, const struct drm_tessera_bind_op *ops, unsigned int count,
		  const struct drm_tessera_sync *wait, const struct drm_tessera_sync *signal)
{
	struct drm_tessera_vm_bind arg = {
		.vm_id = vm, .flags = DRM_TESSERA_VM_BIND_ASYNC, .ops = GT_ARRAY(ops, count),
		.waits = GT_ARRAY(wait, !!wait), .signals = GT_ARRAY(signal, !!signal),
	};

	return gt_ioctl(fd, DRM_IOCTL_TESSERA_VM_BIND, &arg);
}

struct drm_tessera_vm_get_state gt_vm_state(int fd, uint32_t vm, struct drm_tessera_fault *faults)
{
	struct drm_tessera_vm_get_state arg = {
		.vm_id = vm, .faults = GT_ARRAY(faults, faults ? DRM_TESSERA_FAULT_RECORDS : 0),
	};
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_VM_GET_STATE, &arg);

	if (ret)
		gt_die("VM_GET_STATE: %s", strerror(-ret));
	return arg;
}

int gt_queue_try(int fd, uint32_t vm, uint32_t engine, uint32_t priority, uint32_t ring,
		 uint32_t *queue)
{
	struct drm_tessera_queue_create arg = {
		.vm_id = vm, .engine_class = engine, .priority = priority, .ring_size = ring,
	};
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_QUEUE_CREATE, &arg);

	*queue = arg.queue_id;
	return ret;
}

uint32_t gt_queue(int fd, uint32_t vm, uint32_t engine)
{
	uint32_t queue;
	int ret = gt_queue_try(fd, vm, engine, DRM_TESSERA_PRIORITY_NORMAL, 0, &queue);

	if (ret)
		gt_die("QUEUE_CREATE of class %u: %s", engine, strerror(-ret));
	return queue;
}

int gt_queue_destroy(int fd, uint32_t queue)
{
	struct drm_tessera_queue_destroy arg = { .queue_id = queue };

	return gt_ioctl(fd, DRM_IOCTL_TESSERA_QUEUE_DESTROY, &arg);
}

struct drm_tessera_queue_get_state gt_queue_state(int fd, uint32_t queue)
{
	struct drm_tessera_queue_get_state arg = { .queue_id = queue };
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_QUEUE_GET_STATE, &arg);

	if (ret)
		gt_die("QUEUE_GET_STATE: %s", strerror(-ret));
	return arg;
}

uint32_t gt_syncobj(int fd, bool signaled)
{
	uint32_t handle;

	if (drmSyncobjCreate(fd, signaled ? DRM_SYNCOBJ_CREATE_SIGNALED : 0, &handle))
		gt_die("SYNCOBJ_CREATE: %s", strerror(errno));
	return handle;
}

void gt_syncobj_free(int fd, uint32_t handle)
{
	drmSyncobjDestroy(fd, handle);
}

int gt_syncobj_wait(int fd, uint32_t handle, uint64_t point, unsigned int ms)
{
	int64_t until = gt_now_ns() + ms * 1000000LL;
	int ret;

	if (point)
		ret = drmSyncobjTimelineWait(fd, &handle, &point, 1, until,
					     DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, NULL);
	else
		ret = drmSyncobjWait(fd, &handle, 1, until, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
				     NULL);
	return ret;
}

bool gt_syncobj_done(int fd, uint32_t handle, uint64_t point)
{
	return gt_syncobj_wait(fd, handle, point, 0) == 0;
}

uint64_t gt_syncobj_point(int fd, uint32_t handle)
{
	uint64_t point = 0;

	if (drmSyncobjQuery(fd, &handle, &point, 1))
		gt_die("SYNCOBJ_QUERY: %s", strerror(errno));
	return point;
}

int gt_syncobj_signal(int fd, uint32_t handle, uint64_t point)
{
	int ret = point ? drmSyncobjTimelineSignal(fd, &handle, &point, 1)
			: drmSyncobjSignal(fd, &handle, 1);

	return ret ? -errno : 0;
}

/* The error of a signalled sync_file, by SYNC_IOC_FILE_INFO. */
static int sync_file_error(int file)
{
	struct sync_file_info info = { 0 };

	if (ioctl(file, SYNC_IOC_FILE_INFO, &info))
		gt_die("SYNC_IOC_FILE_INFO: %s", strerror(errno));
	if (!info.status)
		return -ETIME;
	return info.status < 0 ? info.status : 0;
}

int gt_fence_file(int fd, uint32_t handle)
{
	int file;

	if (drmSyncobjExportSyncFile(fd, handle, &file))
		gt_die("a fence cannot be exported: %s", strerror(errno));
	return file;
}

int gt_file_error(int file)
{
	struct pollfd poll_fd = { .fd = file, .events = POLLIN };
	int ret;

	do {
		ret = poll(&poll_fd, 1, GT_TIMEOUT_MS);
	} while (ret < 0 && errno == EINTR);
	ret = sync_file_error(file);
	close(file);
	return ret;
}

int gt_fence_error(int fd, uint32_t handle, uint64_t point)
{
	int ret = gt_syncobj_wait(fd, handle, point, GT_TIMEOUT_MS);

	return ret || point ? ret : gt_file_error(gt_fence_file(fd, handle));
}

struct drm_tessera_sync gt_binary(uint32_t handle)
{
	return (struct drm_tessera_sync){ .type = DRM_TESSERA_SYNC_SYNCOBJ, .handle = handle };
}

struct drm_tessera_sync gt_point(uint32_t handle, uint64_t point)
{
	return (struct drm_tessera_sync){ .type = DRM_TESSERA_SYNC_TIMELINE,
					  .handle = handle,
					  .point = point };
}
