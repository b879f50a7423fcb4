// SPDX-License-Identifier: MIT
/* The driver without a kernel, see hostdrm.h. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <drm/tessera_drm.h>
#include <linux/sync_file.h>
#include <xf86drm.h>

#include "bench.h"
#include "gpu.h"
#include "hostdrm.h"

#define VMS		8
#define QUEUES		32
#define BOS		4096
#define SYNCS		256
#define POINTS		64		/* statuses a sync remembers */
#define SYNC_FILES	64
#define VA_START	0x1000ull
#define RING_VA		0x10000000ull
#define RING_LOG2	16
#define SECONDS		600

struct bo {
	uint64_t size, offset;		/* in the memory; size 0: free */
	uint32_t flags;
};

struct queue {
	bool used;
	struct bench_queue hw;
	uint32_t vm, error;
	uint64_t jobs;
	enum tsr_fault fault;
};

/* A syncobj: how the jobs behind its last points ended. */
struct sync {
	bool used, signalled;
	uint64_t last;			/* point; 1 of a binary one */
	struct { uint64_t point; int status; } done[POINTS];
};

struct sync_file {
	int fd, status;
};

struct hostdrm_options hostdrm_options;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct bench *bench;
	int memory;			/* file with all BOs, -1: none */
	uint8_t *map;
	uint64_t next;			/* byte of it not given out */
	struct bench_as kernel, vm[VMS];
	bool vm_used[VMS];
	unsigned int bos;		/* alive */
	struct queue queue[QUEUES];
	struct bo bo[BOS];
	struct sync sync[SYNCS];
	struct sync_file file[SYNC_FILES];
} host = { .memory = -1 };

/* ---- The machine ----------------------------------------------------------------------------- */

static void start(void)
{
	struct tsr_config config = {
		.threads = hostdrm_options.threads, .cores = hostdrm_options.cores,
		.simd = hostdrm_options.simd, .gfx_debug = hostdrm_options.gfx_debug,
		.queues = QUEUES, .local_size = HOSTDRM_MEMORY,
	};

	if (host.bench)
		return;
	host.memory = memfd_create("hostdrm", MFD_CLOEXEC);
	if (host.memory < 0 || ftruncate(host.memory, (off_t)HOSTDRM_MEMORY))
		abort();
	host.map = mmap(NULL, HOSTDRM_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			host.memory, 0);
	if (host.map == MAP_FAILED)
		abort();
	config.local = host.map;
	host.bench = bench_new(&config);
	host.bench->local = host.map;
	host.bench->real_clock = true;
	bench_as_init(host.bench, &host.kernel, 0);
}

void hostdrm_reset(void)
{
	if (!host.bench)
		return;
	host.bench->local = NULL;
	bench_free(host.bench);
	munmap(host.map, HOSTDRM_MEMORY);
	close(host.memory);
	memset(&host, 0, sizeof(host));
	host.memory = -1;
}

static uint32_t field(uint32_t offset, uint64_t mask)
{
	return (uint32_t)bench_field(bench_read(host.bench, offset), mask);
}

/* ---- Queries --------------------------------------------------------------------------------- */

static void answer(struct drm_tessera_dev_query *arg, const void *data, uint32_t size,
		   uint32_t stride)
{
	uint32_t from = stride ? stride : size, to = stride && arg->ptr ? arg->stride : from;
	uint32_t known = from < to ? from : to;

	if (!stride && known > arg->size)
		known = arg->size;
	for (uint32_t i = 0; arg->ptr && i < size / from && (i + 1) * known <= arg->size; i++)
		memcpy((uint8_t *)(uintptr_t)arg->ptr + (size_t)i * to,
		       (const uint8_t *)data + (size_t)i * from, known);
	arg->size = size / from * to;
	arg->stride = to;
}

static int query(struct drm_tessera_dev_query *arg)
{
	const struct drm_tessera_gpu_info info = {
		.hw_version = TSR_VERSION_MAJOR << 16 | TSR_VERSION_MINOR,
		.features = DRM_TESSERA_FEATURE_COMPRESSED | DRM_TESSERA_FEATURE_GEOMETRY,
		.engine_count = 4, .va_start = VA_START, .va_end = 1ull << host.bench->va_bits,
		.page_sizes = 1 << 12 | 1 << 21, .timestamp_hz = 1000000000, .max_jobs = 64,
		.max_syncs = 8, .max_bind_ops = 64, .priority_mask = 7, .max_bo_size = 1ull << 31,
	};
	static const struct drm_tessera_engine_info engines[] = {
		{ .engine_class = DRM_TESSERA_ENGINE_BIN, .instances = 1 },
		{ .engine_class = DRM_TESSERA_ENGINE_RENDER, .instances = 1 },
		{ .engine_class = DRM_TESSERA_ENGINE_COMPUTE, .instances = 1 },
		{ .engine_class = DRM_TESSERA_ENGINE_COPY, .instances = 1 },
	};
	const struct drm_tessera_shader_info shader = {
		.cores = field(TSR_REG_GPU_SHADER, TSR_GPU_SHADER_CORES__MASK),
		.warp_lanes = TSR_WARP_LANES, .core_warps = TSR_CORE_WARPS,
		.max_group_threads = TSR_GROUP_THREADS_MAX,
		.max_group_memory = TSR_GROUP_MEMORY_MAX,
		.max_groups = TSR_GROUPS_MAX, .max_scratch = TSR_SCRATCH_MAX,
		.max_push_words = TSR_PUSH_WORDS_MAX,
	};

	switch (arg->type) {
	case DRM_TESSERA_QUERY_GPU_INFO:
		answer(arg, &info, sizeof(info), 0);
		return 0;
	case DRM_TESSERA_QUERY_ENGINES:
		answer(arg, engines, sizeof(engines), sizeof(engines[0]));
		return 0;
	case DRM_TESSERA_QUERY_SHADER_INFO:
		answer(arg, &shader, sizeof(shader), 0);
		return 0;
	default:
		return EINVAL;
	}
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static int bo_create(struct drm_tessera_bo_create *arg)
{
	uint64_t size = (arg->size + BENCH_PAGE - 1) & ~(BENCH_PAGE - 1), align = BENCH_PAGE;
	uint32_t handle = 1;

	if (!size)
		return EINVAL;
	if (size >= BENCH_HUGE_PAGE)
		align = BENCH_HUGE_PAGE;
	while (handle < BOS && host.bo[handle].size)
		handle++;
	host.next = (host.next + align - 1) & ~(align - 1);
	if (handle == BOS || size > HOSTDRM_MEMORY - host.next)
		return ENOMEM;
	host.bo[handle] = (struct bo){ size, host.next, arg->flags };
	host.next += size;
	host.bos++;
	arg->size = size;
	arg->handle = handle;
	return 0;
}

/* With the last BO all memory is given back. */
static int bo_close(const struct drm_gem_close *arg)
{
	if (arg->handle >= BOS || !host.bo[arg->handle].size)
		return EINVAL;
	host.bo[arg->handle].size = 0;
	if (!--host.bos) {
		if (madvise(host.map, (size_t)host.next, MADV_REMOVE))
			abort();
		host.next = 0;
	}
	return 0;
}

static int mmap_offset(struct drm_tessera_bo_mmap_offset *arg)
{
	if (arg->handle >= BOS || !host.bo[arg->handle].size)
		return ENOENT;
	if (host.bo[arg->handle].flags & DRM_TESSERA_BO_NO_MMAP)
		return EPERM;
	arg->offset = host.bo[arg->handle].offset;
	return 0;
}

static uint64_t pte_bits(uint32_t access)
{
	return TSR_PTE_LOCAL__MASK |
	       (access & DRM_TESSERA_BIND_READ ? TSR_PTE_READ__MASK : 0) |
	       (access & DRM_TESSERA_BIND_WRITE ? TSR_PTE_WRITE__MASK : 0) |
	       (access & DRM_TESSERA_BIND_EXEC ? TSR_PTE_EXEC__MASK : 0);
}

/* Large pages where addresses allow it. */
static void map_range(struct bench_as *as, uint64_t va, uint64_t at, uint64_t size, uint64_t bits)
{
	while (size) {
		bool huge = !((va | at) % BENCH_HUGE_PAGE) && size >= BENCH_HUGE_PAGE;
		uint64_t step = huge ? BENCH_HUGE_PAGE : BENCH_PAGE;

		if (huge)
			bench_map_huge(as, va, at, step, bits);
		else
			bench_map(as, va, at, step, bits);
		va += step;
		at += step;
		size -= step;
	}
}

static void unmap_range(struct bench_as *as, uint64_t va, uint64_t size)
{
	uint64_t end = va + size;

	while (va < end) {
		uint64_t *huge = bench_pte(as, va, 1);

		if (*huge & TSR_PTE_LEAF__MASK) {
			*huge = 0;
			va += BENCH_HUGE_PAGE;
		} else {
			*bench_pte(as, va, 0) = 0;
			va += BENCH_PAGE;
		}
	}
}

static int vm_bind(const struct drm_tessera_vm_bind *arg)
{
	const struct drm_tessera_bind_op *ops = (const void *)(uintptr_t)arg->ops.ptr;
	struct bench_as *as = &host.vm[arg->vm_id - 1];
	uint32_t i;

	for (i = 0; i < arg->ops.count; i++) {
		const struct drm_tessera_bind_op *op = &ops[i];

		if (op->op == DRM_TESSERA_BIND_MAP)
			map_range(as, op->va, host.bo[op->bo_handle].offset + op->bo_offset,
				  op->size, pte_bits(op->flags));
		else if (op->op == DRM_TESSERA_BIND_UNMAP)
			unmap_range(as, op->va, op->size);
		else
			return EINVAL;
		bench_invalidate(as, op->va, op->size);
	}
	return 0;
}

const void *hostdrm_peek(uint32_t vm_id, uint64_t va, uint64_t size)
{
	struct bench_as *as = &host.vm[vm_id - 1];
	uint64_t left, pte, page = BENCH_HUGE_PAGE;

	if (va >> host.bench->va_bits)
		return NULL;
	pte = *bench_pte(as, va, 1);
	if (!(pte & TSR_PTE_LEAF__MASK)) {
		pte = *bench_pte(as, va, 0);
		page = BENCH_PAGE;
	}
	left = page - va % page;
	if (!(pte & TSR_PTE_VALID__MASK))
		return NULL;
	/* what comes behind the page, if it is mapped at all, is the same BO's */
	if (size > left && !hostdrm_peek(vm_id, va + left, size - left))
		return NULL;
	return host.map + (pte & TSR_PTE_ADDR__MASK) + va % page;
}

/* ---- Queues and jobs ------------------------------------------------------------------------- */

static int vm_create(struct drm_tessera_vm_create *arg)
{
	unsigned int n = 0;

	while (n < VMS && host.vm_used[n])
		n++;
	if (n == VMS)
		return ENOSPC;
	host.vm_used[n] = true;
	bench_as_init(host.bench, &host.vm[n], n + 1);
	arg->vm_id = n + 1;
	return 0;
}

static int queue_create(struct drm_tessera_queue_create *arg)
{
	unsigned int n = 0;
	struct queue *q;

	while (n < QUEUES && host.queue[n].used)
		n++;
	if (n == QUEUES)
		return ENOSPC;
	q = &host.queue[n];
	*q = (struct queue){ .used = true, .vm = arg->vm_id };
	bench_queue_init(&q->hw, n, arg->engine_class, TSR_PRIORITY_NORMAL, &host.kernel,
			 RING_VA + ((uint64_t)n << RING_LOG2), RING_LOG2, &host.vm[arg->vm_id - 1]);
	bench_invalidate_all(&host.kernel);
	arg->queue_id = n + 1;
	return 0;
}

static int queue_destroy(const struct drm_tessera_queue_destroy *arg)
{
	struct queue *q = &host.queue[arg->queue_id - 1];

	bench_control(&q->hw, TSR_QUEUE_OP_RESET);
	bench_run(host.bench, SECONDS);
	q->used = false;
	return 0;
}

/* As tessera_drm.h has it, "Errors". */
static int fault_status(enum tsr_fault fault)
{
	switch (fault) {
	case TSR_FAULT_MMU_UNMAPPED:
	case TSR_FAULT_MMU_PERMISSION:
	case TSR_FAULT_MMU_WALK:
	case TSR_FAULT_MMU_WALK_BUS:
	case TSR_FAULT_BUS:
	case TSR_FAULT_SHADER_ALIGNMENT:
	case TSR_FAULT_SHADER_BOUNDS:
		return -EFAULT;
	case TSR_FAULT_HEAP_EXHAUSTED:
		return -ENOSPC;
	case TSR_FAULT_SHADER_LIMIT:
		return -ETIMEDOUT;
	default:
		return -EINVAL;
	}
}

static int run_job(const struct drm_tessera_job *job)
{
	struct queue *q = &host.queue[job->queue_id - 1];

	if (!job->cmd_size)
		return 0;
	bench_call(&q->hw, job->cmd_va, job->cmd_size);
	bench_kick(&q->hw);
	if (!bench_run(host.bench, SECONDS)) {
		q->error = ETIMEDOUT;
		return -ETIMEDOUT;
	}
	if (bench_state(&q->hw) == TSR_QUEUE_STATE_FAULTED) {
		q->fault = bench_fault(&q->hw);
		q->error = (uint32_t)-fault_status(q->fault);
		if (getenv("HOSTDRM_VERBOSE"))
			fprintf(stderr, "hostdrm: queue %u: fault 0x%x at 0x%llx, unit %u, pc "
				"0x%llx\n", job->queue_id, q->fault,
				(unsigned long long)bench_queue_reg64(&q->hw,
					TSR_QUEUE_FAULT_ADDR__OFFSET),
				(unsigned int)bench_field(bench_queue_reg(&q->hw,
					TSR_QUEUE_FAULT__OFFSET), TSR_QUEUE_FAULT_UNIT__MASK),
				(unsigned long long)bench_queue_reg64(&q->hw,
					TSR_QUEUE_FAULT_PC__OFFSET));
		return -(int)q->error;
	}
	q->jobs++;
	return 0;
}

static void set_point(uint32_t handle, uint64_t point, int status)
{
	struct sync *s = &host.sync[handle];

	s->signalled = true;
	s->last = point ? point : 1;
	s->done[s->last % POINTS].point = s->last;
	s->done[s->last % POINTS].status = status;
}

static int submit(const struct drm_tessera_submit *arg)
{
	const struct drm_tessera_job *jobs = (const void *)(uintptr_t)arg->jobs.ptr;
	uint32_t i, s;

	for (i = 0; i < arg->jobs.count; i++) {
		if (host.queue[jobs[i].queue_id - 1].error)
			return ECANCELED;
	}
	for (i = 0; i < arg->jobs.count; i++) {
		const struct drm_tessera_sync *signals =
			(const void *)(uintptr_t)jobs[i].signals.ptr;
		int status = run_job(&jobs[i]);

		for (s = 0; s < jobs[i].signals.count; s++)
			set_point(signals[s].handle, signals[s].point, status);
	}
	return 0;
}

static int queue_state(struct drm_tessera_queue_get_state *arg)
{
	const struct queue *q = &host.queue[arg->queue_id - 1];
	struct bench_queue hw = q->hw;
	uint32_t where = bench_queue_reg(&hw, TSR_QUEUE_FAULT_SHADER__OFFSET);

	arg->state = q->error ? DRM_TESSERA_QUEUE_BANNED : 0;
	arg->error = q->error;
	arg->jobs_completed = q->jobs;
	arg->fault_code = q->error ? q->fault : 0;
	arg->fault_packet_va = bench_queue_reg64(&hw, TSR_QUEUE_FAULT_PC__OFFSET);
	arg->fault_va = bench_queue_reg64(&hw, TSR_QUEUE_FAULT_ADDR__OFFSET);
	if (q->error && bench_field(where, TSR_QUEUE_FAULT_SHADER_VALID__MASK)) {
		arg->fault_flags = DRM_TESSERA_QUEUE_FAULT_PROGRAM;
		arg->fault_clause_va = bench_queue_reg64(&hw, TSR_QUEUE_FAULT_CLAUSE__OFFSET);
		arg->fault_tuple = (uint32_t)bench_field(where, TSR_QUEUE_FAULT_SHADER_TUPLE__MASK);
	}
	return 0;
}

uint64_t hostdrm_counter(uint32_t queue_id, unsigned int counter)
{
	return bench_queue_reg64(&host.queue[queue_id - 1].hw, TSR_QUEUE_COUNTER__OFFSET +
				 counter * TSR_QUEUE_COUNTER__STRIDE);
}

uint64_t hostdrm_path(unsigned int path)
{
	const struct tsr_gpu *gpu = host.bench ? host.bench->gpu : NULL;
	uint64_t sum = 0;

	for (unsigned int i = 0; gpu && i < gpu->num_runners; i++)
		sum += gpu->runner[i].path[path];
	return sum;
}

/* ---- ioctls ---------------------------------------------------------------------------------- */

static int file_info(int fd, struct sync_file_info *info)
{
	unsigned int i;

	for (i = 0; i < SYNC_FILES; i++) {
		if (host.file[i].fd != fd || fd <= 0)
			continue;
		if (info->num_fences && info->sync_fence_info) {
			struct sync_fence_info *f = (void *)(uintptr_t)info->sync_fence_info;

			memset(f, 0, sizeof(*f));
			f->status = host.file[i].status ? host.file[i].status : 1;
		}
		info->num_fences = 1;
		info->status = host.file[i].status ? host.file[i].status : 1;
		return 0;
	}
	return EINVAL;
}

static int timestamp(struct drm_tessera_get_timestamp *arg)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	arg->cpu_ns = arg->gpu_ticks = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	arg->max_deviation_ns = 0;
	return 0;
}

static int dispatch(int fd, unsigned long request, void *arg)
{
	switch (request) {
	case DRM_IOCTL_TESSERA_DEV_QUERY:
		return query(arg);
	case DRM_IOCTL_TESSERA_BO_CREATE:
		return bo_create(arg);
	case DRM_IOCTL_TESSERA_BO_MMAP_OFFSET:
		return mmap_offset(arg);
	case DRM_IOCTL_GEM_CLOSE:
		return bo_close(arg);
	case DRM_IOCTL_TESSERA_VM_CREATE:
		return vm_create(arg);
	case DRM_IOCTL_TESSERA_VM_BIND:
		return vm_bind(arg);
	case DRM_IOCTL_TESSERA_QUEUE_CREATE:
		return queue_create(arg);
	case DRM_IOCTL_TESSERA_QUEUE_GET_STATE:
		return queue_state(arg);
	case DRM_IOCTL_TESSERA_SUBMIT:
		return submit(arg);
	case DRM_IOCTL_TESSERA_GET_TIMESTAMP:
		return timestamp(arg);
	case SYNC_IOC_FILE_INFO:
		return file_info(fd, arg);
	case DRM_IOCTL_TESSERA_QUEUE_DESTROY:
		return queue_destroy(arg);
	case DRM_IOCTL_TESSERA_VM_DESTROY:
		host.vm_used[((struct drm_tessera_vm_destroy *)arg)->vm_id - 1] = false;
		return 0;
	default:
		return ENOTTY;
	}
}

int drmIoctl(int fd, unsigned long request, void *arg)
{
	int error;

	pthread_mutex_lock(&lock);
	start();
	error = dispatch(fd, request, arg);
	pthread_mutex_unlock(&lock);
	errno = error;
	return error ? -1 : 0;
}

/* ---- The rest of libdrm ---------------------------------------------------------------------- */

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

int drmGetDevices2(uint32_t flags, drmDevicePtr devices[], int max_devices)
{
	static char path[64], *nodes[DRM_NODE_MAX];
	static drmPciBusInfo bus;
	static drmPciDeviceInfo pci = { .vendor_id = TSR_PCI_VENDOR,
					.device_id = TSR_PCI_DEVICE };
	static drmDevice device = {
		.nodes = nodes, .available_nodes = 1 << DRM_NODE_RENDER, .bustype = DRM_BUS_PCI,
		.businfo.pci = &bus, .deviceinfo.pci = &pci,
	};

	(void)flags;
	pthread_mutex_lock(&lock);
	start();
	/* the file with the memory is the device's: BOs are mapped from it */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", host.memory);
	pthread_mutex_unlock(&lock);
	nodes[DRM_NODE_RENDER] = path;
	if (max_devices > 0)
		devices[0] = &device;
	return 1;
}

void drmFreeDevices(drmDevicePtr devices[], int count)
{
	(void)devices;
	(void)count;
}

int drmSyncobjCreate(int fd, uint32_t flags, uint32_t *handle)
{
	uint32_t i;
	int ret = -1;

	(void)fd;
	pthread_mutex_lock(&lock);
	for (i = 1; ret && i < SYNCS; i++) {
		if (host.sync[i].used)
			continue;
		host.sync[i] = (struct sync){ .used = true };
		if (flags & DRM_SYNCOBJ_CREATE_SIGNALED)
			set_point(i, 0, 0);
		*handle = i;
		ret = 0;
	}
	pthread_mutex_unlock(&lock);
	errno = ret ? ENOMEM : 0;
	return ret;
}

int drmSyncobjDestroy(int fd, uint32_t handle)
{
	(void)fd;
	host.sync[handle].used = false;
	return 0;
}

int drmSyncobjTimelineWait(int fd, uint32_t *handles, uint64_t *points, unsigned int count,
			   int64_t timeout, uint32_t flags, uint32_t *first)
{
	unsigned int i, missing = 0;

	(void)fd;
	(void)timeout;
	(void)flags;
	for (i = 0; i < count; i++) {
		const struct sync *s = &host.sync[handles[i]];

		missing += !s->signalled || s->last < points[i];
	}
	if (first)
		*first = 0;
	return missing ? -ETIME : 0;
}

int drmSyncobjTransfer(int fd, uint32_t to, uint64_t to_point, uint32_t from, uint64_t from_point,
		       uint32_t flags)
{
	const struct sync *s = &host.sync[from];
	uint64_t point = from_point ? from_point : 1;
	int status = 0;

	(void)fd;
	(void)flags;
	if (!s->signalled || s->last < point) {
		errno = EINVAL;
		return -1;
	}
	if (s->done[point % POINTS].point == point)
		status = s->done[point % POINTS].status;
	set_point(to, to_point, status);
	return 0;
}

int drmSyncobjExportSyncFile(int fd, uint32_t handle, int *file)
{
	const struct sync *s = &host.sync[handle];
	unsigned int i;

	(void)fd;
	if (!s->signalled) {
		errno = EINVAL;
		return -1;
	}
	*file = eventfd(0, EFD_CLOEXEC);
	for (i = 0; i < SYNC_FILES; i++) {
		if (host.file[i].fd > 0 && host.file[i].fd != *file)
			continue;
		host.file[i] = (struct sync_file){ *file, s->done[s->last % POINTS].status };
		return 0;
	}
	/* descriptors are closed without our knowledge: begin anew */
	memset(host.file, 0, sizeof(host.file));
	host.file[0] = (struct sync_file){ *file, s->done[s->last % POINTS].status };
	return 0;
}

int drmSyncobjQuery(int fd, uint32_t *handles, uint64_t *points, uint32_t count)
{
	(void)fd;
	while (count--)
		points[count] = host.sync[handles[count]].last;
	return 0;
}

int drmSyncobjReset(int fd, const uint32_t *handles, uint32_t count)
{
	(void)fd;
	while (count--)
		host.sync[handles[count]].signalled = false;
	return 0;
}

int drmSyncobjSignal(int fd, const uint32_t *handles, uint32_t count)
{
	(void)fd;
	while (count--)
		set_point(handles[count], 0, 0);
	return 0;
}

int drmSyncobjTimelineSignal(int fd, const uint32_t *handles, uint64_t *points, uint32_t count)
{
	(void)fd;
	while (count--)
		set_point(handles[count], points[count], 0);
	return 0;
}
