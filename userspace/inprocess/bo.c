// SPDX-License-Identifier: MIT
/*
 * Buffer objects: each is a file without a name, mapped into the device's memory for as long as it
 * lives. A mapping of the program is one of the file, and so is a dma-buf: whoever has one has the
 * memory, also without us.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "driver.h"
#include "real.h"

#define FAKE_START	(1ull << 32)	/* offsets of mmap() */
#define BO_FLAGS	(DRM_TESSERA_BO_NO_MMAP | DRM_TESSERA_BO_CACHED | DRM_TESSERA_BO_LOCAL | \
			 DRM_TESSERA_BO_LOCAL_ONLY)

static struct bo *bos;			/* all of them */
static uint64_t next_fake = FAKE_START;

uint64_t bo_max_size(void)
{
	struct sysinfo info;
	uint64_t half;

	if (sysinfo(&info))
		return drv.local_size;
	half = ((uint64_t)info.totalram * info.mem_unit / 2) & -PAGE;
	if (half > window_size() / 2)
		half = window_size() / 2;
	return half > drv.local_size ? half : drv.local_size;
}

/* A BO of a file, which it takes, also when it fails. */
static struct bo *bo_of(int fd, uint64_t size, uint32_t flags, int *ret)
{
	struct bo *bo = calloc(1, sizeof(*bo));
	struct stat st;

	*ret = -ENOMEM;
	if (!bo || fd < 0 || sys_fstat(fd, &st))
		goto err_close;
	*bo = (struct bo){ .refs = 1,
			   .fd = fd,
			   .size = size,
			   .flags = flags,
			   .fake = next_fake,
			   .ino = st.st_ino };
	bo->window = window_alloc(bo->fd, size);
	if (!bo->window)
		goto err_close;
	next_fake += size;
	/* One for which there is no room stays outside. */
	bo->in_local = flags & DRM_TESSERA_BO_LOCAL && size <= drv.local_size - drv.local_used;
	if (bo->in_local)
		drv.local_used += size;
	bo->next = bos;
	bos = bo;
	*ret = 0;
	return bo;

err_close:
	fd_close(fd);
	free(bo);
	return NULL;
}

struct bo *bo_new(uint64_t size, uint32_t flags, int *ret)
{
	int fd = fd_move(memfd_create("tessera-bo", MFD_CLOEXEC));

	if (fd >= 0 && syscall(SYS_ftruncate, fd, (off_t)size)) {
		fd_close(fd);
		fd = -1;
	}
	return bo_of(fd, size, flags, ret);
}

void bos_forget(void)
{
	bos = NULL;
}

struct bo *bo_get(struct bo *bo)
{
	bo->refs++;
	return bo;
}

void bo_put(struct bo *bo)
{
	struct bo **at = &bos;

	if (!bo || --bo->refs)
		return;
	while (*at != bo)
		at = &(*at)->next;
	*at = bo->next;
	window_free(bo->window, bo->size);
	if (bo->in_local)
		drv.local_used -= bo->size;
	if (bo->quota)
		quota_adjust(bo->quota, QUOTA_LOCAL, -(int64_t)bo->size);
	quota_put(bo->quota);
	fd_close(bo->fd);
	fence_put(bo->write);
	fence_put(bo->read);
	free(bo->label);
	free(bo);
}

struct bo *bo_lookup(struct file *file, uint32_t handle)
{
	return table_find(&file->handles, handle);
}

static void handle_drop(struct bo *bo)
{
	bo->handles--;
	bo_put(bo);
}

void bo_handles_free(struct file *file)
{
	uint32_t i;

	for (i = 1; i <= file->handles.size; i++) {
		struct bo *bo = table_remove(&file->handles, i);

		if (bo)
			handle_drop(bo);
	}
}

static int handle_add(struct file *file, struct bo *bo, uint32_t *handle)
{
	int ret = table_add(&file->handles, bo_get(bo));

	if (ret < 0) {
		bo_put(bo);
		return ret;
	}
	bo->handles++;
	*handle = (uint32_t)ret;
	return 0;
}

/* ---- The driver's ioctls --------------------------------------------------------------------- */

int ioctl_bo_create(struct file *file, void *data)
{
	struct drm_tessera_bo_create *arg = data;
	uint64_t size = (arg->size + PAGE - 1) & -PAGE;
	struct vm *vm = NULL;
	struct bo *bo;
	int ret;

	if (arg->flags & ~(uint32_t)BO_FLAGS || arg->pad)
		return -EINVAL;
	if (arg->flags & DRM_TESSERA_BO_CACHED &&
	    arg->flags & (DRM_TESSERA_BO_NO_MMAP | DRM_TESSERA_BO_LOCAL))
		return -EINVAL;
	if (arg->flags & DRM_TESSERA_BO_LOCAL_ONLY && !(arg->flags & DRM_TESSERA_BO_LOCAL))
		return -EINVAL;
	if (!arg->size || arg->size > bo_max_size())
		return -EINVAL;
	if (arg->vm_id) {
		vm = table_find(&file->vms, arg->vm_id);
		if (!vm)
			return -ENOENT;
	}
	if (arg->flags & DRM_TESSERA_BO_LOCAL && size > drv.local_size)
		return -ENOSPC;
	if (arg->flags & DRM_TESSERA_BO_LOCAL_ONLY &&
	    (size > drv.local_size - drv.local_used || quota_room(file->quota, QUOTA_LOCAL, size)))
		return -ENOSPC;
	bo = bo_new(size, arg->flags, &ret);
	if (!bo)
		return ret;
	if (arg->flags & DRM_TESSERA_BO_LOCAL_ONLY) {
		bo->quota = quota_get(file->quota);
		quota_adjust(bo->quota, QUOTA_LOCAL, (int64_t)size);
	}
	bo->vm = vm;
	bo->vm_id = arg->vm_id;
	ret = handle_add(file, bo, &arg->handle);
	if (!ret)
		arg->size = size;
	bo_put(bo);
	return ret;
}

int ioctl_bo_mmap_offset(struct file *file, void *data)
{
	struct drm_tessera_bo_mmap_offset *arg = data;
	struct bo *bo;

	if (arg->flags)
		return -EINVAL;
	bo = bo_lookup(file, arg->handle);
	if (!bo)
		return -ENOENT;
	if (bo->flags & DRM_TESSERA_BO_NO_MMAP)
		return -EPERM;
	arg->offset = bo->fake;
	return 0;
}

int ioctl_bo_info(struct file *file, void *data)
{
	struct drm_tessera_bo_info *arg = data;
	struct bo *bo = bo_lookup(file, arg->handle);

	if (!bo)
		return -ENOENT;
	arg->create_flags = bo->flags;
	arg->size = bo->size;
	arg->state = (bo->exported ? DRM_TESSERA_BO_EXPORTED : 0) |
		     (bo->dont_need ? DRM_TESSERA_BO_PURGEABLE : 0) |
		     (bo->cpu_mapped || bo->exported || bo->flags & DRM_TESSERA_BO_LOCAL
			      ? DRM_TESSERA_BO_RESIDENT
			      : 0) |
		     (bo->in_local ? DRM_TESSERA_BO_IN_LOCAL : 0);
	arg->vm_id = bo->vm_id;
	return 0;
}

/* A string of the program, to be freed. */
static int label_in(uint64_t from, char **label)
{
	char text[DRM_TESSERA_LABEL_MAX + 1];
	unsigned int i;
	int ret;

	for (i = 0; i < sizeof(text); i++) {
		ret = copy_in(&text[i], from + i, 1);
		if (ret)
			return ret;
		if (!text[i])
			break;
	}
	if (i == sizeof(text))
		return -E2BIG;
	*label = strdup(text);
	return *label ? 0 : -ENOMEM;
}

int ioctl_bo_set_label(struct file *file, void *data)
{
	const struct drm_tessera_bo_set_label *arg = data;
	char *label = NULL;
	struct bo *bo;
	int ret;

	if (arg->pad)
		return -EINVAL;
	ret = arg->label ? label_in(arg->label, &label) : 0;
	if (ret)
		return ret;
	bo = bo_lookup(file, arg->handle);
	if (!bo) {
		free(label);
		return -ENOENT;
	}
	free(bo->label);
	bo->label = label;
	return 0;
}

/* Memory is never short of us: nothing is purged. */
int ioctl_bo_madvise(struct file *file, void *data)
{
	struct drm_tessera_bo_madvise *arg = data;
	struct bo *bo;

	if (arg->pad || arg->madv > DRM_TESSERA_MADV_DONT_NEED)
		return -EINVAL;
	bo = bo_lookup(file, arg->handle);
	if (!bo)
		return -ENOENT;
	if (bo->exported)
		return -EINVAL;
	bo->dont_need = arg->madv == DRM_TESSERA_MADV_DONT_NEED;
	arg->retained = 1;
	return 0;
}

/* ---- The core's ioctls ----------------------------------------------------------------------- */

static int gem_close(struct file *file, const struct drm_gem_close *arg)
{
	struct bo *bo = table_remove(&file->handles, arg->handle);

	if (!bo)
		return -EINVAL;
	handle_drop(bo);
	return 0;
}

static int prime_export(struct file *file, struct drm_prime_handle *arg)
{
	char path[32];
	struct bo *bo;
	int ret;

	if (arg->flags & ~(uint32_t)(DRM_CLOEXEC | DRM_RDWR))
		return -EINVAL;
	bo = bo_lookup(file, arg->handle);
	if (!bo)
		return -ENOENT;
	if (bo->vm_id)
		return -EPERM;
	/* not a dup: this one has its own offset and may be for reading only, as a dma-buf's */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", bo->fd);
	ret = real_open(path, (arg->flags & DRM_RDWR ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (ret >= 0 && !(arg->flags & DRM_CLOEXEC))
		sys_fcntl(ret, F_SETFD, 0);
	ret = ufile_install(ret, UFILE_DMABUF, bo_get(bo));
	if (ret < 0)
		return ret;
	bo->exported = true;
	bo->dont_need = false;
	arg->fd = ret;
	return 0;
}

/*
 * The BO of a dma-buf that another process of this device has sent, or our parent had: a
 * reference.
 */
static struct bo *bo_received(int fd, int *ret)
{
	static const char name[] = "/memfd:tessera-bo";
	char path[32], link[sizeof(name)];
	struct bo *bo = bos;
	struct stat st;

	*ret = -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (sys_readlink(path, link, sizeof(link)) < (ssize_t)sizeof(name) - 1 ||
	    memcmp(link, name, sizeof(name) - 1))
		return NULL;
	if (sys_fstat(fd, &st) || st.st_size <= 0 || st.st_size % (off_t)PAGE ||
	    (uint64_t)st.st_size > bo_max_size())
		return NULL;
	while (bo && bo->ino != st.st_ino)
		bo = bo->next;
	*ret = 0;
	if (bo)
		return bo_get(bo);
	bo = bo_of(fd_move(real_open(path, O_RDWR | O_CLOEXEC)), (uint64_t)st.st_size, 0, ret);
	if (bo)
		bo->exported = true;
	return bo;
}

static int prime_import(struct file *file, struct drm_prime_handle *arg)
{
	struct ufile *u = ufile_get(arg->fd);
	struct bo *bo;
	uint32_t i;
	int ret = 0;

	if (sys_fcntl(arg->fd, F_GETFD, 0) < 0)
		ret = -EBADF;
	else if (u && !u->dead && u->kind != UFILE_DMABUF)
		ret = -EINVAL;
	bo = ret ? NULL : u && !u->dead ? bo_get(u->object) : bo_received(arg->fd, &ret);
	ufile_put(u);
	if (!bo)
		return ret;
	/* a file has one handle for a BO, however often it is imported */
	for (i = 1; i <= file->handles.size && table_find(&file->handles, i) != bo; i++)
		;
	arg->handle = i;
	ret = i <= file->handles.size ? 0 : handle_add(file, bo, &arg->handle);
	bo_put(bo);
	return ret;
}

int bo_gem_ioctl(struct file *file, unsigned int nr, void *arg)
{
	switch (nr) {
	case _IOC_NR(DRM_IOCTL_GEM_CLOSE):
		return gem_close(file, arg);
	case _IOC_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD):
		return prime_export(file, arg);
	default:
		return prime_import(file, arg);
	}
}

/* ---- mmap() ---------------------------------------------------------------------------------- */

static struct bo *bo_at(uint64_t offset)
{
	struct bo *bo = bos;

	while (bo && bo->fake != offset)
		bo = bo->next;
	return bo;
}

static bool bo_is_of(struct file *file, const struct bo *bo)
{
	uint32_t i;

	for (i = 1; i <= file->handles.size; i++) {
		if (table_find(&file->handles, i) == bo)
			return true;
	}
	return false;
}

bool bo_holds(const struct bo *bo, uint64_t offset, uint64_t size)
{
	return offset <= bo->size && size <= bo->size - offset;
}

int bo_mmap_fd(struct file *file, uint64_t offset, uint64_t size, int flags)
{
	struct bo *bo = bo_at(offset);

	if (!bo || !bo->handles || size > bo->size)
		return -EINVAL;
	if (!bo_is_of(file, bo))
		return -EACCES;
	if (bo->flags & DRM_TESSERA_BO_NO_MMAP)
		return -EPERM;
	if ((flags & MAP_TYPE) == MAP_PRIVATE)
		return -EINVAL;
	bo->cpu_mapped = true;
	return bo->fd;
}
