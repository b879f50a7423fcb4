// SPDX-License-Identifier: MIT
/*
 * Buffer objects. The kernel gives a buffer one handle per file, however often it is imported, and
 * a handle is closed once; so the device keeps a table from handle to tsr_bo, and the last
 * reference of a tsr_bo is dropped under the table's lock, lest an import finds an object that is
 * going away.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

#include "debug.h"
#include "internal.h"

struct tsr_bo {
	unsigned int refs;		/* under device->bo_lock */
	struct tsr_device *device;	/* referenced */
	uint32_t handle;		/* GEM handle */
	uint32_t vm_id;			/* VM it is private to, 0: none */
	uint64_t size;
	int dmabuf;			/* memory of another driver: its dma-buf; else -1 */
	pthread_mutex_t map_lock;	/* protects map being set */
	void *map;			/* CPU mapping, NULL before the first tsr_bo_map() */
};

static void close_handle(struct tsr_device *device, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	tsr_device_ioctl(device, DRM_IOCTL_GEM_CLOSE, &arg);
}

/* Room for @handle in the table; handles are small and dense. bo_lock is held. */
static int reserve_slot(struct tsr_device *device, uint32_t handle)
{
	uint32_t capacity = device->bo_capacity ? device->bo_capacity : 64;
	struct tsr_bo **bos;

	if (handle < device->bo_capacity)
		return 0;
	while (capacity <= handle)
		capacity *= 2;
	bos = realloc(device->bos, capacity * sizeof(*bos));
	if (!bos)
		return -ENOMEM;
	memset(bos + device->bo_capacity, 0, (capacity - device->bo_capacity) * sizeof(*bos));
	device->bos = bos;
	device->bo_capacity = capacity;
	return 0;
}

/* A tsr_bo for @handle, which it owns from now on, entered in the table. bo_lock is held. */
static struct tsr_bo *adopt(struct tsr_device *device, uint32_t handle, uint64_t size)
{
	struct tsr_bo *bo;

	if (reserve_slot(device, handle))
		return NULL;
	bo = calloc(1, sizeof(*bo));
	if (!bo)
		return NULL;
	bo->refs = 1;
	bo->device = tsr_device_ref(device);
	bo->handle = handle;
	bo->size = size;
	bo->dmabuf = -1;
	pthread_mutex_init(&bo->map_lock, NULL);
	device->bos[handle] = bo;
	return bo;
}

int tsr_bo_create(struct tsr_device *device, uint64_t size, uint32_t flags, struct tsr_vm *vm,
		  struct tsr_bo **out)
{
	struct drm_tessera_bo_create arg = {
		.size = size,
		.flags = flags,
		.vm_id = vm ? tsr_vm_id(vm) : 0,
	};
	struct tsr_bo *bo;
	int error;

	error = tsr_device_ioctl(device, DRM_IOCTL_TESSERA_BO_CREATE, &arg);
	if (error == EINVAL)
		return tsr_fail(EINVAL,
				"BO of %llu bytes with flags 0x%x refused: expected 1 to %llu "
				"bytes, known flags, CACHED neither with NO_MMAP nor with LOCAL",
				(unsigned long long)size, flags,
				(unsigned long long)device->info.max_bo_size);
	if (error)
		return tsr_fail_ioctl(error, "BO of %llu bytes with flags 0x%x",
				      (unsigned long long)size, flags);
	pthread_mutex_lock(&device->bo_lock);
	bo = adopt(device, arg.handle, arg.size);
	pthread_mutex_unlock(&device->bo_lock);
	if (!bo) {
		close_handle(device, arg.handle);
		return tsr_fail(ENOMEM, "no memory for a BO object");
	}
	bo->vm_id = arg.vm_id;
	*out = bo;
	return 0;
}

/* Reads the kernel's information about @handle. */
static int query_info(struct tsr_device *device, uint32_t handle, struct drm_tessera_bo_info *info)
{
	memset(info, 0, sizeof(*info));
	info->handle = handle;
	return tsr_device_ioctl(device, DRM_IOCTL_TESSERA_BO_INFO, info);
}

/* The table's object for an imported @handle, or a new one. bo_lock is held. Positive errno. */
static int import_handle(struct tsr_device *device, uint32_t handle, int fd, struct tsr_bo **out)
{
	struct drm_tessera_bo_info info;
	int error, copy = -1;
	struct tsr_bo *bo;

	if (handle < device->bo_capacity && device->bos[handle]) {
		bo = device->bos[handle];
		bo->refs++;
		*out = bo;
		return 0;
	}
	error = query_info(device, handle, &info);
	if (!error && info.state & DRM_TESSERA_BO_IMPORTED) {
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		error = copy < 0 ? errno : 0;
	}
	bo = error ? NULL : adopt(device, handle, info.size);
	if (!bo) {
		if (copy >= 0)
			close(copy);
		close_handle(device, handle);
		return error ? error : ENOMEM;
	}
	bo->vm_id = info.vm_id;
	bo->dmabuf = copy;
	*out = bo;
	return 0;
}

int tsr_bo_import(struct tsr_device *device, int fd, struct tsr_bo **bo)
{
	uint32_t handle;
	int error;

	pthread_mutex_lock(&device->bo_lock);
	error = drmPrimeFDToHandle(device->fd, fd, &handle) ? errno : 0;
	if (!error)
		error = import_handle(device, handle, fd, bo);
	pthread_mutex_unlock(&device->bo_lock);
	return error ? tsr_fail_ioctl(error, "import of file descriptor %d (expected a dma-buf)",
				      fd)
		     : 0;
}

int tsr_bo_export(struct tsr_bo *bo, int *fd)
{
	int exported;

	if (!drmPrimeHandleToFD(bo->device->fd, bo->handle, DRM_CLOEXEC | DRM_RDWR, &exported)) {
		*fd = exported;
		return 0;
	}
	if (bo->vm_id)
		return tsr_fail(errno, "a BO that is private to a VM cannot be exported");
	return tsr_fail_ioctl(errno, "export of a BO of %llu bytes", (unsigned long long)bo->size);
}

struct tsr_bo *tsr_bo_ref(struct tsr_bo *bo)
{
	pthread_mutex_lock(&bo->device->bo_lock);
	bo->refs++;
	pthread_mutex_unlock(&bo->device->bo_lock);
	return bo;
}

void tsr_bo_unref(struct tsr_bo *bo)
{
	struct tsr_device *device;
	bool last;

	if (!bo)
		return;
	device = bo->device;
	pthread_mutex_lock(&device->bo_lock);
	last = !--bo->refs;
	if (last) {
		device->bos[bo->handle] = NULL;
		close_handle(device, bo->handle);
	}
	pthread_mutex_unlock(&device->bo_lock);
	if (!last)
		return;
	tsr_debug_bo_gone(bo);
	if (bo->map)
		munmap(bo->map, bo->size);
	if (bo->dmabuf >= 0)
		close(bo->dmabuf);
	pthread_mutex_destroy(&bo->map_lock);
	free(bo);
	tsr_device_unref(device);
}

/* Map the whole BO through the device or, memory of another driver, through its dma-buf. */
static int map_whole(struct tsr_bo *bo, void **pointer)
{
	struct drm_tessera_bo_mmap_offset arg = { .handle = bo->handle };
	int error;

	if (bo->size > SIZE_MAX)
		return tsr_fail(ENOMEM, "a BO of %llu bytes is beyond this process's addresses",
				(unsigned long long)bo->size);
	if (bo->dmabuf < 0) {
		error = tsr_device_ioctl(bo->device, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &arg);
		if (error == EPERM)
			return tsr_fail(EPERM, "a BO with NO_MMAP cannot be mapped");
		if (error)
			return tsr_fail_ioctl(error, "mmap offset of a BO");
	}
	*pointer = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			bo->dmabuf < 0 ? bo->device->fd : bo->dmabuf, (off_t)arg.offset);
	if (*pointer == MAP_FAILED)
		return tsr_fail_ioctl(errno, "mmap of a BO of %llu bytes",
				      (unsigned long long)bo->size);
	return 0;
}

int tsr_bo_map(struct tsr_bo *bo, void **pointer)
{
	void *map;
	int ret = 0;

	pthread_mutex_lock(&bo->map_lock);
	if (!bo->map) {
		ret = map_whole(bo, &map);
		if (!ret)
			bo->map = map;
	}
	if (!ret)
		*pointer = bo->map;
	pthread_mutex_unlock(&bo->map_lock);
	return ret;
}

static int sync_cpu(struct tsr_bo *bo, uint64_t flags, bool write)
{
	struct dma_buf_sync arg = {
		.flags = flags | (write ? DMA_BUF_SYNC_RW : DMA_BUF_SYNC_READ),
	};

	if (bo->dmabuf < 0)
		return 0;
	if (drmIoctl(bo->dmabuf, DMA_BUF_IOCTL_SYNC, &arg))
		return tsr_fail_ioctl(errno, "CPU access to an imported BO");
	return 0;
}

int tsr_bo_begin_cpu(struct tsr_bo *bo, bool write)
{
	return sync_cpu(bo, DMA_BUF_SYNC_START, write);
}

int tsr_bo_end_cpu(struct tsr_bo *bo, bool write)
{
	return sync_cpu(bo, DMA_BUF_SYNC_END, write);
}

uint64_t tsr_bo_size(const struct tsr_bo *bo)
{
	return bo->size;
}

uint32_t tsr_bo_handle(const struct tsr_bo *bo)
{
	return bo->handle;
}

struct tsr_device *tsr_bo_device(const struct tsr_bo *bo)
{
	return bo->device;
}

int tsr_bo_get_info(struct tsr_bo *bo, struct drm_tessera_bo_info *info, size_t size)
{
	struct drm_tessera_bo_info known;
	int error = query_info(bo->device, bo->handle, &known);

	if (error)
		return tsr_fail_ioctl(error, "query of a BO");
	tsr_copy_out(info, size, &known, sizeof(known));
	return 0;
}

int tsr_bo_set_label(struct tsr_bo *bo, const char *label)
{
	struct drm_tessera_bo_set_label arg = {
		.handle = bo->handle,
		.label = (uintptr_t)label,
	};
	int error = tsr_device_ioctl(bo->device, DRM_IOCTL_TESSERA_BO_SET_LABEL, &arg);

	if (error == E2BIG)
		return tsr_fail(E2BIG, "a BO label of %zu bytes, expected at most %d",
				strlen(label), DRM_TESSERA_LABEL_MAX);
	return error ? tsr_fail_ioctl(error, "label of a BO") : 0;
}
