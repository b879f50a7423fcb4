// SPDX-License-Identifier: MIT
/*
 * Descriptors, open files and the ioctls they take, in the order and with the errors of the DRM
 * core: the argument is as large as the program says, what it does not give is zero, and what the
 * driver does not know must be.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "driver.h"

#define ARG_MAX_SIZE	16384		/* of an ioctl */
#define STACK_NEAR	65536u		/* bytes above a frame that are looked at as its stack */

/* ---- Tables of ids --------------------------------------------------------------------------- */

int table_add(struct table *t, void *object)
{
	uint32_t i = 0, size = t->size ? 2 * t->size : 16;
	void **slot;

	while (i < t->size && t->slot[i])
		i++;
	if (i == t->size) {
		slot = size > INT32_MAX ? NULL : realloc(t->slot, size * sizeof(*slot));
		if (!slot)
			return -ENOMEM;
		memset(slot + t->size, 0, (size - t->size) * sizeof(*slot));
		t->slot = slot;
		t->size = size;
	}
	t->slot[i] = object;
	return (int)i + 1;
}

void *table_find(const struct table *t, uint32_t id)
{
	return id && id <= t->size ? t->slot[id - 1] : NULL;
}

void *table_remove(struct table *t, uint32_t id)
{
	void *object = table_find(t, id);

	if (object)
		t->slot[id - 1] = NULL;
	return object;
}

void table_free(struct table *t)
{
	free(t->slot);
	*t = (struct table){ 0 };
}

/* ---- Memory of the program ------------------------------------------------------------------- */

/* Where the stack of the first thread begins; the C library's. */
extern void *__libc_stack_end;

/*
 * Returns true if the bytes are in the caller's stack, which is certainly mapped: above this frame
 * and below the beginning of the stack. Other threads have their descriptor there. A stack of some
 * other kind gives a wrong answer only for an address that the program does not own.
 */
static bool on_stack(uintptr_t at, size_t size)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t self = (uintptr_t)pthread_self();
	const uintptr_t begin = here < self ? self : (uintptr_t)__libc_stack_end;

	return at > here && at < begin && size <= begin - at && at - here < STACK_NEAR;
}

/*
 * The kernel copies, so that an address that is none is an error and not a signal. That takes
 * microseconds, so what is on the stack is copied directly.
 */
static int copy(void *ours, uint64_t theirs, size_t size, bool out)
{
	struct iovec local = { ours, size }, remote = { (void *)(uintptr_t)theirs, size };
	ssize_t done;

	if (!size)
		return 0;
	if (on_stack((uintptr_t)theirs, size)) {
		memcpy(out ? remote.iov_base : ours, out ? ours : remote.iov_base, size);
		return 0;
	}
	done = out ? process_vm_writev(ufiles_owner(), &local, 1, &remote, 1, 0) :
		     process_vm_readv(ufiles_owner(), &local, 1, &remote, 1, 0);
	if (done < 0 && (errno == ENOSYS || errno == EPERM)) {	/* a container that forbids it */
		memcpy(out ? remote.iov_base : ours, out ? ours : remote.iov_base, size);
		return 0;
	}
	return done == (ssize_t)size ? 0 : -EFAULT;
}

int copy_in(void *to, uint64_t from, size_t size)
{
	return copy(to, from, size, false);
}

int copy_out(uint64_t to, const void *from, size_t size)
{
	return copy((void *)(uintptr_t)from, to, size, true);
}

int clear_out(uint64_t to, size_t size)
{
	static const uint8_t zero[4096];
	int ret = 0;

	while (size && !ret) {
		size_t step = size < sizeof(zero) ? size : sizeof(zero);

		ret = copy_out(to, zero, step);
		to += step;
		size -= step;
	}
	return ret;
}

/* 0 if all is zero; -E2BIG, -EFAULT. */
static int check_zero(uint64_t from, size_t size)
{
	uint8_t chunk[256];
	size_t i;
	int ret;

	while (size) {
		size_t step = size < sizeof(chunk) ? size : sizeof(chunk);

		ret = copy_in(chunk, from, step);
		if (ret)
			return ret;
		for (i = 0; i < step; i++) {
			if (chunk[i])
				return -E2BIG;
		}
		from += step;
		size -= step;
	}
	return 0;
}

void *array_in(const struct drm_tessera_array *array, size_t known, size_t first, uint32_t max,
	       int *ret)
{
	uint8_t *elements;
	uint32_t i;

	*ret = 0;
	if (!array->count)
		return NULL;
	*ret = -EINVAL;
	if (array->count > max || array->stride < first || array->stride > DRM_TESSERA_STRIDE_MAX)
		return NULL;
	*ret = -ENOMEM;
	elements = calloc(array->count, known);
	if (!elements)
		return NULL;
	*ret = array->stride == known ? copy_in(elements, array->ptr, array->count * known) : 0;
	for (i = 0; !*ret && array->stride != known && i < array->count; i++) {
		uint64_t from = array->ptr + (uint64_t)i * array->stride;

		if (array->stride > known)
			*ret = check_zero(from + known, array->stride - known);
		if (!*ret)
			*ret = copy_in(elements + i * known, from,
				       array->stride < known ? array->stride : known);
	}
	if (*ret) {
		free(elements);
		return NULL;
	}
	return elements;
}

int array_out(const struct drm_tessera_array *array, size_t known, size_t first,
	      const void *elements, uint32_t count)
{
	size_t step = known < array->stride ? known : array->stride;
	uint32_t i;
	int ret = 0;

	if (array->stride < first || array->stride > DRM_TESSERA_STRIDE_MAX)
		return -EINVAL;
	for (i = 0; !ret && i < count; i++) {
		uint64_t to = array->ptr + (uint64_t)i * array->stride;

		ret = copy_out(to, (const uint8_t *)elements + i * known, step);
		if (!ret)
			ret = clear_out(to + step, array->stride - step);
	}
	return ret;
}

/* ---- The core's ioctls ----------------------------------------------------------------------- */

struct file *file_new(bool primary)
{
	struct file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->primary = primary;
	file->quota = quota_new();
	if (file->quota)
		return file;
	free(file);
	return NULL;
}

#define FOR_ALL(table, type, what) do {							\
	uint32_t id_;									\
	for (id_ = 1; id_ <= (table)->size; id_++) {					\
		type object = table_remove(table, id_);					\
		if (object) {								\
			what;								\
		}									\
	}										\
	table_free(table);								\
} while (0)

void file_free(struct file *file)
{
	FOR_ALL(&file->queues, struct queue *, (queue_kill(object), queue_put(object)));
	FOR_ALL(&file->heaps, struct heap *, heap_put(object));
	FOR_ALL(&file->perfmons, struct perfmon *, perfmon_put(object));
	FOR_ALL(&file->vms, struct vm *, vm_put(object));
	FOR_ALL(&file->syncobjs, struct syncobj *, syncobj_put(object));
	bo_handles_free(file);
	table_free(&file->handles);
	quota_put(file->quota);
	free(file);
}

static int put_string(char *to, __kernel_size_t *room, const char *text)
{
	size_t size = strlen(text), known = *room < size ? *room : size;

	*room = size;
	return to ? copy_out((uintptr_t)to, text, known) : 0;
}

static int ioctl_version(struct file *file, void *data)
{
	struct drm_version *v = data;
	int ret;

	(void)file;
	v->version_major = 1;
	v->version_minor = 5;
	v->version_patchlevel = 0;
	ret = put_string(v->name, &v->name_len, "tessera");
	ret = ret ? ret : put_string(v->date, &v->date_len, "20261122");
	return ret ? ret : put_string(v->desc, &v->desc_len, "Tessera virtual GPU");
}

static int ioctl_unique(struct file *file, void *data)
{
	struct drm_unique *u = data;

	(void)file;
	return put_string(u->unique, &u->unique_len, "pci:0000:00:01.0");
}

static int ioctl_get_cap(struct file *file, void *data)
{
	struct drm_get_cap *cap = data;

	(void)file;
	switch (cap->capability) {
	case DRM_CAP_TIMESTAMP_MONOTONIC:
	case DRM_CAP_SYNCOBJ:
	case DRM_CAP_SYNCOBJ_TIMELINE:
		cap->value = 1;
		return 0;
	case DRM_CAP_PRIME:
		cap->value = DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int ioctl_magic(struct file *file, void *data)
{
	(void)file;
	((struct drm_auth *)data)->magic = 1;
	return 0;
}

static int ioctl_nothing(struct file *file, void *data)
{
	(void)file;
	(void)data;
	return 0;
}

static int ioctl_refused(struct file *file, void *data)
{
	(void)file;
	(void)data;
	return -EOPNOTSUPP;
}

struct entry {
	unsigned int cmd;
	int (*call)(struct file *file, void *arg);
	bool render;
};

static const struct entry core[] = {
	{ DRM_IOCTL_VERSION, ioctl_version, true },
	{ DRM_IOCTL_GET_UNIQUE, ioctl_unique, false },
	{ DRM_IOCTL_GET_MAGIC, ioctl_magic, false },
	{ DRM_IOCTL_AUTH_MAGIC, ioctl_nothing, false },
	{ DRM_IOCTL_SET_MASTER, ioctl_nothing, false },
	{ DRM_IOCTL_DROP_MASTER, ioctl_nothing, false },
	{ DRM_IOCTL_GET_CAP, ioctl_get_cap, true },
	{ DRM_IOCTL_SET_CLIENT_CAP, ioctl_refused, false },
	{ DRM_IOCTL_GEM_FLINK, ioctl_refused, false },
	{ DRM_IOCTL_GEM_OPEN, ioctl_refused, false },
	{ DRM_IOCTL_MODE_GETRESOURCES, ioctl_refused, false },
	{ DRM_IOCTL_MODE_CREATE_DUMB, ioctl_refused, false },
	{ DRM_IOCTL_MODE_MAP_DUMB, ioctl_refused, false },
	{ DRM_IOCTL_MODE_DESTROY_DUMB, ioctl_refused, false },
	/* with a function for several: see call() */
	{ DRM_IOCTL_GEM_CLOSE, NULL, true },
	{ DRM_IOCTL_PRIME_HANDLE_TO_FD, NULL, true },
	{ DRM_IOCTL_PRIME_FD_TO_HANDLE, NULL, true },
	{ DRM_IOCTL_SYNCOBJ_CREATE, NULL, true },
	{ DRM_IOCTL_SYNCOBJ_DESTROY, NULL, true },
	{ DRM_IOWR(_IOC_NR(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD), struct syncobj_handle), NULL, true },
	{ DRM_IOWR(_IOC_NR(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE), struct syncobj_handle), NULL, true },
	{ DRM_IOCTL_SYNCOBJ_WAIT, NULL, true },
	{ DRM_IOCTL_SYNCOBJ_RESET, NULL, true },
	{ DRM_IOCTL_SYNCOBJ_SIGNAL, NULL, true },
	{ DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, NULL, true },
	{ DRM_IOCTL_SYNCOBJ_QUERY, NULL, true },
	{ DRM_IOCTL_SYNCOBJ_TRANSFER, NULL, true },
	{ DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, NULL, true },
	{ DRM_IOCTL_SYNCOBJ_EVENTFD, NULL, true },
};

#define OURS(name, function) [DRM_TESSERA_##name] = { DRM_IOCTL_TESSERA_##name, function, true }
static const struct entry ours[] = {
	OURS(DEV_QUERY, ioctl_dev_query),
	OURS(GET_TIMESTAMP, ioctl_get_timestamp),
	OURS(VM_CREATE, ioctl_vm_create),
	OURS(VM_DESTROY, ioctl_vm_destroy),
	OURS(VM_BIND, ioctl_vm_bind),
	OURS(VM_GET_STATE, ioctl_vm_get_state),
	OURS(BO_CREATE, ioctl_bo_create),
	OURS(BO_MMAP_OFFSET, ioctl_bo_mmap_offset),
	OURS(BO_INFO, ioctl_bo_info),
	OURS(BO_SET_LABEL, ioctl_bo_set_label),
	OURS(BO_MADVISE, ioctl_bo_madvise),
	OURS(QUEUE_CREATE, ioctl_queue_create),
	OURS(QUEUE_DESTROY, ioctl_queue_destroy),
	OURS(QUEUE_GET_STATE, ioctl_queue_get_state),
	OURS(SUBMIT, ioctl_submit),
	OURS(HEAP_CREATE, ioctl_heap_create),
	OURS(HEAP_DESTROY, ioctl_heap_destroy),
	OURS(PERFMON_CREATE, ioctl_perfmon_create),
	OURS(PERFMON_DESTROY, ioctl_perfmon_destroy),
	OURS(PERFMON_READ, ioctl_perfmon_read),
};

static bool is_driver_ioctl(unsigned int nr)
{
	return nr >= DRM_COMMAND_BASE && nr < DRM_COMMAND_END;
}

static const struct entry *find(unsigned int nr)
{
	unsigned int i;

	if (is_driver_ioctl(nr)) {
		nr -= DRM_COMMAND_BASE;
		return nr < sizeof(ours) / sizeof(*ours) ? &ours[nr] : NULL;
	}
	for (i = 0; i < sizeof(core) / sizeof(*core); i++) {
		if (_IOC_NR(core[i].cmd) == nr)
			return &core[i];
	}
	return NULL;
}

static int call(const struct entry *e, struct file *file, void *arg)
{
	unsigned int nr = _IOC_NR(e->cmd);

	if (e->call)
		return e->call(file, arg);
	switch (nr) {
	case _IOC_NR(DRM_IOCTL_GEM_CLOSE):
	case _IOC_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD):
	case _IOC_NR(DRM_IOCTL_PRIME_FD_TO_HANDLE):
		return bo_gem_ioctl(file, nr, arg);
	default:
		return syncobj_ioctl(file, nr, arg);
	}
}

int file_ioctl(struct file *file, unsigned long request, uint64_t arg)
{
	const struct entry *e = find(_IOC_NR(request));
	union { uint8_t bytes[ARG_MAX_SIZE]; uint64_t align; } data;
	size_t size = _IOC_SIZE(request), known, in, out;
	int ret;

	if (_IOC_TYPE(request) != DRM_IOCTL_BASE)
		return -ENOTTY;
	if (!e)
		return -EINVAL;
	known = _IOC_SIZE(e->cmd);
	in = request & e->cmd & ((unsigned int)_IOC_WRITE << _IOC_DIRSHIFT) ? size : 0;
	out = request & e->cmd & ((unsigned int)_IOC_READ << _IOC_DIRSHIFT) ? size : 0;
	ret = 0;
	if (is_driver_ioctl(_IOC_NR(request)) && in > known)
		ret = check_zero(arg + known, in - known);
	memset(data.bytes, 0, size > known ? size : known);
	ret = ret ? ret : copy_in(data.bytes, arg, in);
	if (ret)
		return ret;
	ret = !e->render && !file->primary ? -EACCES : call(e, file, data.bytes);
	if (copy_out(arg, data.bytes, out))
		ret = -EFAULT;
	return ret;
}

static int ufile_ioctl(struct ufile *u, unsigned long request, uint64_t arg)
{
	if (u->dead)
		return -ENODEV;
	switch (u->kind) {
	case UFILE_DEVICE:
		return file_ioctl(u->object, request, arg);
	case UFILE_SYNC_FILE:
		return syncfile_ioctl(u, request, arg);
	case UFILE_DMABUF:
		return dmabuf_ioctl(u, request, arg);
	default:
		return -ENOTTY;
	}
}

int device_ioctl(int fd, unsigned long request, uint64_t arg, bool *is_ours)
{
	struct ufile *u;
	int ret;

	drv_lock();
	ufiles_reap();
	u = ufile_get(fd);
	*is_ours = u;
	ret = u ? ufile_ioctl(u, request, arg) : -EBADF;
	ufile_put(u);
	drv_unlock();
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

/* The descriptor and the offset that are to be mapped, or an error. */
static int mmap_of(struct ufile *u, int fd, uint64_t *offset, uint64_t size, int prot, int flags)
{
	if (u->kind == UFILE_DMABUF) {
		if (!u->dead && ((flags & MAP_TYPE) == MAP_PRIVATE ||
				 !bo_holds(u->object, *offset, size)))
			return -EINVAL;
		return fd;
	}
	if (u->kind != UFILE_DEVICE || u->dead)
		return -ENODEV;
	if (u->access == O_WRONLY || (u->access == O_RDONLY && prot & PROT_WRITE))
		return -EACCES;
	fd = bo_mmap_fd(u->object, *offset, size, flags);
	*offset = 0;
	return fd;
}

void *device_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset, bool *is_ours)
{
	uint64_t from = (uint64_t)offset;
	void *at = MAP_FAILED;
	int ret = 0, error;
	struct ufile *u;

	drv_lock();
	ufiles_reap();
	u = ufile_get(fd);
	*is_ours = u;
	if (u)
		ret = mmap_of(u, fd, &from, size, prot, flags);
	if (u && ret >= 0)
		at = (void *)syscall(SYS_mmap, addr, size, prot, flags, ret, from);
	error = ret < 0 ? -ret : errno;
	ufile_put(u);
	drv_unlock();
	if (at == MAP_FAILED)
		errno = error;
	return at;
}
