// SPDX-License-Identifier: MIT
/* The kernel that libtessera talks to in host tests. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

#include "fake_drm.h"
#include "ktap.h"

#define VA_START 0x1000ull
#define VA_END (1ull << 40)
#define FAKE_PAGE 4096ull

struct fake fake;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t next_offset;

/* Interposes libdrm's: the test is linked before it. */
drmVersionPtr drmGetVersion(int fd)
{
	static char name[] = "tessera";
	static drmVersion version = { .name = name };

	(void)fd;
	return &version;
}

void drmFreeVersion(drmVersionPtr version)
{
	(void)version;
}

/* Elements of the caller's stride, cleared where they are longer than ours. */
static int query_array(struct drm_tessera_dev_query *arg, const void *data, uint32_t known,
		       uint32_t count)
{
	char *to = (char *)(uintptr_t)arg->ptr;
	uint32_t i, stride = arg->stride;

	for (i = 0; to && i < count && (i + 1) * stride <= arg->size; i++) {
		memset(to + i * stride, 0, stride);
		memcpy(to + i * stride, (const char *)data + i * known,
		       stride < known ? stride : known);
	}
	arg->stride = to ? stride : known;
	arg->size = count * arg->stride;
	return 0;
}

static int query(struct drm_tessera_dev_query *arg)
{
	static const struct drm_tessera_gpu_info info = {
		.hw_version = 1 << 16,
		.features = DRM_TESSERA_FEATURE_COMPRESSED | DRM_TESSERA_FEATURE_GEOMETRY |
			    DRM_TESSERA_FEATURE_TAGGED,
		.engine_count = 1,
		.va_start = VA_START,
		.va_end = VA_END,
		.page_sizes = 1 << 12 | 1 << 21,
		.timestamp_hz = 1000000000,
		.max_jobs = 64,
		.max_syncs = 8,
		.max_bind_ops = 64,
		.priority_mask = 3,
		.max_bo_size = 1 << 30,
	};
	static const struct drm_tessera_engine_info engine[] = {
		{ .engine_class = DRM_TESSERA_ENGINE_COPY, .instances = 1 },
		{ .engine_class = DRM_TESSERA_ENGINE_BIN, .instances = 1 },
		{ .engine_class = DRM_TESSERA_ENGINE_RENDER, .instances = 1 },
	};
	const void *data = &info;
	uint32_t size = sizeof(info), known;

	if (arg->type == DRM_TESSERA_QUERY_SHADER_INFO) {
		if (!fake.shader.cores)
			return EINVAL;
		data = &fake.shader;
		size = sizeof(fake.shader);
	}

	if (arg->type == DRM_TESSERA_QUERY_ENGINES)
		return query_array(arg, engine, sizeof(engine[0]), fake.graphics ? 3 : 1);
	known = arg->size < size ? arg->size : size;
	if (arg->ptr) {
		memset((void *)(uintptr_t)arg->ptr, 0, arg->size);
		memcpy((void *)(uintptr_t)arg->ptr, data, known);
	}
	arg->size = size;
	arg->stride = 0;
	return 0;
}

static int bo_create(struct drm_tessera_bo_create *arg)
{
	uint32_t handle;

	if (!arg->size || arg->size > 1 << 30)
		return EINVAL;
	for (handle = 1; handle < FAKE_BOS && fake.bos[handle].size; handle++)
		;
	if (handle == FAKE_BOS)
		return ENOMEM;
	arg->size = (arg->size + FAKE_PAGE - 1) & ~(FAKE_PAGE - 1);
	arg->handle = handle;
	fake.bos[handle] = (struct fake_bo){ arg->size, next_offset, arg->flags, arg->vm_id };
	next_offset += arg->size;
	fake.bos_alive++;
	fake.bos_created++;
	return ftruncate(fake.fd, (off_t)next_offset) ? errno : 0;
}

static int gem_close(const struct drm_gem_close *arg)
{
	if (arg->handle >= FAKE_BOS || !fake.bos[arg->handle].size)
		return EINVAL;
	fake.bos[arg->handle].size = 0;
	fake.bos_alive--;
	return 0;
}

const struct fake_map *fake_at(uint64_t va)
{
	unsigned int i;

	for (i = 0; i < fake.map_count; i++) {
		if (va >= fake.maps[i].va && va - fake.maps[i].va < fake.maps[i].size)
			return &fake.maps[i];
	}
	return NULL;
}

static int bind_one(const struct drm_tessera_bind_op *op)
{
	unsigned int i;

	if ((op->va | op->size | op->bo_offset) % FAKE_PAGE || !op->size || op->va < VA_START)
		return EINVAL;
	if (op->op == DRM_TESSERA_BIND_MAP) {
		if (!op->flags || op->bo_handle >= FAKE_BOS ||
		    op->bo_offset + op->size > fake.bos[op->bo_handle].size ||
		    fake.map_count == FAKE_BINDS)
			return EINVAL;
		/* the library must never give out addresses that are in use */
		ktap_ok(!fake_at(op->va) && !fake_at(op->va + op->size - 1));
		fake.maps[fake.map_count++] = (struct fake_map){ op->va, op->size, op->bo_offset,
								 op->bo_handle, op->flags };
		return 0;
	}
	for (i = 0; i < fake.map_count; i++) {
		if (fake.maps[i].va != op->va || fake.maps[i].size != op->size)
			continue;
		fake.maps[i] = fake.maps[--fake.map_count];
		return 0;
	}
	return EINVAL;
}

static int vm_bind(const struct drm_tessera_vm_bind *arg)
{
	const struct drm_tessera_bind_op *ops = (const void *)(uintptr_t)arg->ops.ptr;
	unsigned int i;
	int ret = arg->ops.count ? 0 : EINVAL;

	for (i = 0; !ret && i < arg->ops.count; i++)
		ret = bind_one(&ops[i]);
	return ret;
}

static void copy_syncs(struct drm_tessera_sync *to, const struct drm_tessera_array *array)
{
	memcpy(to, (const void *)(uintptr_t)array->ptr, array->count * sizeof(*to));
}

static int submit(const struct drm_tessera_submit *arg)
{
	const struct drm_tessera_job *jobs = (const void *)(uintptr_t)arg->jobs.ptr;
	unsigned int i;

	ktap_eq(arg->jobs.stride, sizeof(*jobs));
	fake.job_count = arg->jobs.count;
	fake.submits++;
	for (i = 0; i < arg->jobs.count; i++) {
		fake.jobs[i] = jobs[i];
		if (jobs[i].waits.count)
			copy_syncs(fake.waits[i], &jobs[i].waits);
		if (jobs[i].signals.count)
			copy_syncs(fake.signals[i], &jobs[i].signals);
	}
	return 0;
}

static int other(unsigned long request, void *arg)
{
	static uint32_t next_id = 100;

	switch (request) {
	case DRM_IOCTL_TESSERA_BO_MMAP_OFFSET: {
		struct drm_tessera_bo_mmap_offset *offset = arg;

		if (fake.bos[offset->handle].flags & DRM_TESSERA_BO_NO_MMAP)
			return EPERM;
		offset->offset = fake.bos[offset->handle].offset;
		return 0;
	}
	case DRM_IOCTL_TESSERA_VM_CREATE:
		((struct drm_tessera_vm_create *)arg)->vm_id = next_id++;
		fake.vms_alive++;
		return 0;
	case DRM_IOCTL_TESSERA_VM_DESTROY:
		fake.vms_alive--;
		return 0;
	case DRM_IOCTL_TESSERA_QUEUE_CREATE:
		((struct drm_tessera_queue_create *)arg)->queue_id = next_id++;
		fake.queues_alive++;
		return 0;
	case DRM_IOCTL_TESSERA_QUEUE_DESTROY:
		fake.queues_alive--;
		return 0;
	case DRM_IOCTL_SYNCOBJ_CREATE:
		((struct drm_syncobj_create *)arg)->handle = next_id++;
		return 0;
	case DRM_IOCTL_SYNCOBJ_DESTROY:
		return 0;
	default:
		return ENOTTY;
	}
}

static int dispatch(unsigned long request, void *arg)
{
	if (fake.fail && (!fake.fail_request || fake.fail_request == request))
		return fake.fail;
	switch (request) {
	case DRM_IOCTL_TESSERA_DEV_QUERY:
		return query(arg);
	case DRM_IOCTL_TESSERA_BO_CREATE:
		return bo_create(arg);
	case DRM_IOCTL_GEM_CLOSE:
		return gem_close(arg);
	case DRM_IOCTL_TESSERA_VM_BIND:
		return vm_bind(arg);
	case DRM_IOCTL_TESSERA_SUBMIT:
		return submit(arg);
	default:
		return other(request, arg);
	}
}

int drmIoctl(int fd, unsigned long request, void *arg)
{
	int error;

	(void)fd;
	pthread_mutex_lock(&lock);
	error = dispatch(request, arg);
	pthread_mutex_unlock(&lock);
	errno = error;
	return error ? -1 : 0;
}

/* libdrm's own calls do not come through our drmIoctl(). */
int drmSyncobjCreate(int fd, uint32_t flags, uint32_t *handle)
{
	struct drm_syncobj_create arg = { .flags = flags };
	int ret = drmIoctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &arg);

	*handle = arg.handle;
	return ret;
}

int drmSyncobjDestroy(int fd, uint32_t handle)
{
	struct drm_syncobj_destroy arg = { .handle = handle };

	return drmIoctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &arg);
}

struct tsr_device *fake_open(void)
{
	return fake_open_shader(NULL);
}

struct tsr_device *fake_open_shader(const struct drm_tessera_shader_info *shader)
{
	struct tsr_device *device = NULL;

	memset(&fake, 0, sizeof(fake));
	fake.shader = shader ? *shader : (struct drm_tessera_shader_info){ 0 };
	next_offset = 0;
	fake.fd = memfd_create("fake-drm", MFD_CLOEXEC);
	ktap_eq(tsr_device_open_fd(fake.fd, &device), 0);
	return device;
}

void fake_close(struct tsr_device *device)
{
	tsr_device_unref(device);
	ktap_eq(fake.bos_alive, 0);
	ktap_eq(fake.vms_alive, 0);
	ktap_eq(fake.queues_alive, 0);
	close(fake.fd);
}
