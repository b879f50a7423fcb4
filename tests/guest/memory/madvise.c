// SPDX-License-Identifier: MIT
/* test: TIMEOUT=240 MEM=720 DEVICE_ARGS=vram=32M */
/*
 * BO_MADVISE and the shrinker: what user space does not need goes when memory is short, and only
 * that; what is in use stays; what has gone is told and cannot come back. fdinfo counts all of it.
 */
#include "gt_main.h"
#include "gt_bad.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xf86drm.h>

#define VA	0x40000000ULL
#define SIZE	0x40000ULL

static struct gt_ctx c;

static int advise(uint32_t handle, uint32_t madv, uint32_t *retained)
{
	struct drm_tessera_bo_madvise args = { .handle = handle, .madv = madv, .retained = 77 };
	int ret = gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &args);

	if (retained)
		*retained = args.retained;
	return ret;
}

/* As much as the kernel can find is given back. */
static void squeeze(void)
{
	ktap_eq(gt_write_file("/proc/sys/vm/drop_caches", "2"), 0);
}

/* A BO with memory: bound, and written to. */
static struct gt_bo bound(uint64_t va)
{
	struct gt_bo bo = gt_bo(c.fd, SIZE, 0);

	gt_bo_bind(&bo, c.vm, va, GT_RW);
	memset(bo.map, 0x5a, SIZE);
	return bo;
}

static int fill(uint64_t va)
{
	struct gt_cs cs = gt_stream(&c, 8);

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = va, .size = 64, .pattern_lo = 0x900d);
	return gt_run(&c, &cs);
}

static void bad_arguments(void)
{
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0), shared = gt_bo(c.fd, GT_PAGE, 0);
	struct drm_tessera_bo_madvise args = { .handle = bo.handle };
	struct gt_call call = GT_CALL(c.fd, BO_MADVISE, args);
	struct gt_bad rows[] = {
		GT_BAD(args.handle, 0, ENOENT), GT_BAD(args.handle, 0x10000 + bo.handle, ENOENT),
		GT_BAD(args.madv, 2, EINVAL), GT_BAD(args.madv, 0xffffffff, EINVAL),
		GT_BAD(args.pad, 1, EINVAL),
	};
	size_t i;
	int fd;

	ktap_eq(gt_call(&call), 0);
	for (i = 0; i < GT_ARRAY_SIZE(rows); i++)
		gt_bad_row(&call, &rows[i]);
	ktap_eq(drmPrimeHandleToFD(c.fd, shared.handle, DRM_CLOEXEC, &fd), 0);
	ktap_eq(advise(shared.handle, DRM_TESSERA_MADV_DONT_NEED, NULL), -EINVAL);
	close(fd); /* once exported, others may have it */
	ktap_eq(advise(shared.handle, DRM_TESSERA_MADV_DONT_NEED, NULL), -EINVAL);
	gt_bo_free(&bo);
	gt_bo_free(&shared);
}

static void without_pressure(void)
{
	struct gt_bo bo = bound(VA);
	long long purgeable = gt_fdinfo(c.fd, "drm-purgeable-memory");
	uint32_t retained;

	ktap_eq(gt_bo_state(c.fd, bo.handle), DRM_TESSERA_BO_RESIDENT);
	ktap_eq(advise(bo.handle, DRM_TESSERA_MADV_DONT_NEED, &retained), 0);
	ktap_eq(retained, 1);
	ktap_eq(gt_bo_state(c.fd, bo.handle), DRM_TESSERA_BO_RESIDENT | DRM_TESSERA_BO_PURGEABLE);
	ktap_eq(gt_fdinfo(c.fd, "drm-purgeable-memory") - purgeable, SIZE);
	ktap_eq(advise(bo.handle, DRM_TESSERA_MADV_WILL_NEED, &retained), 0);
	ktap_eq(retained, 1);
	ktap_eq(gt_bo_state(c.fd, bo.handle), DRM_TESSERA_BO_RESIDENT);
	ktap_eq(gt_fdinfo(c.fd, "drm-purgeable-memory"), purgeable);
	squeeze(); /* nothing to take */
	ktap_eq(gt_bo_state(c.fd, bo.handle), DRM_TESSERA_BO_RESIDENT);
	ktap_eq(((uint8_t *)bo.map)[SIZE - 1], 0x5a);
	ktap_eq(fill(VA), 0);
	gt_bo_free(&bo);
}

static bool touch_kills(const void *map)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGBUS, SIG_DFL);
		_exit(*(volatile const uint8_t *)map & 0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS;
}

static void purged(void)
{
	struct gt_bo bo = bound(VA), kept = bound(VA + 0x1000000);
	struct drm_tessera_bo_mmap_offset offset = { .handle = bo.handle };
	struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	struct drm_tessera_bind_op map = gt_op_map(bo.handle, VA, SIZE, 0, GT_RW),
				   unmap = gt_op_unmap(VA, SIZE);
	uint32_t vm = gt_vm(c.fd), retained;
	int fd;

	ktap_eq(gt_vm_bind(c.fd, vm, &map, 1), 0); /* in two VMs, and twice in one */
	map.va += 0x2000000;
	ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
	ktap_eq(fill(VA), 0);
	ktap_eq(advise(bo.handle, DRM_TESSERA_MADV_DONT_NEED, &retained), 0);
	squeeze();
	ktap_eq(gt_bo_state(c.fd, bo.handle), DRM_TESSERA_BO_PURGED);
	ktap_eq(advise(bo.handle, DRM_TESSERA_MADV_WILL_NEED, &retained), 0);
	ktap_eq(retained, 0);
	ktap_eq(gt_bo_state(c.fd, bo.handle), DRM_TESSERA_BO_PURGED);
	ktap_ok(touch_kills(bo.map));
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset), -EINVAL);
	ktap_eq(drmPrimeHandleToFD(c.fd, bo.handle, DRM_CLOEXEC, &fd), -1);
	ktap_eq(errno, EINVAL);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), -EINVAL);
	ktap_eq(fill(VA), -EFAULT);
	gt_renew_queue(&c);
	ktap_eq(fill(VA + 0x2000000), -EFAULT);
	gt_renew_queue(&c);
	ktap_eq(gt_vm_state(c.fd, c.vm, faults).fault_count, 2);
	ktap_eq(faults[0].va, VA);
	ktap_eq(faults[0].reason, DRM_TESSERA_FAULT_NOT_MAPPED);
	ktap_eq(fill(VA + 0x1000000), 0);
	ktap_eq(((uint64_t *)kept.map)[0], 0x900d);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &unmap, 1), 0);
	ktap_eq(gt_vm_destroy(c.fd, vm), 0);
	gt_bo_free(&bo);
	gt_bo_free(&kept);
}

/* A job or a bind on its way keeps what it uses; afterwards it may go. */
static void in_use(void)
{
	struct gt_bo bo = bound(VA);
	struct gt_cs cs = gt_stream(&c, 16);
	struct drm_tessera_sync done = gt_binary(c.sync),
				bound_sync = gt_binary(gt_syncobj(c.fd, false));
	struct drm_tessera_bind_op map = gt_op_map(bo.handle, VA + 0x2000000, SIZE, 0, GT_RW);
	volatile uint64_t *gate = gt_data(&c, 0);

	*gate = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = VA, .size = 64, .pattern_lo = 0x900d);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	ktap_eq(gt_bind_async(c.fd, c.vm, &map, 1, &done, &bound_sync), 0);
	ktap_eq(advise(bo.handle, DRM_TESSERA_MADV_DONT_NEED, NULL), 0);
	squeeze();
	ktap_eq(gt_bo_state(c.fd, bo.handle), DRM_TESSERA_BO_RESIDENT | DRM_TESSERA_BO_PURGEABLE);
	ktap_ok(gt_fdinfo(c.fd, "drm-active-memory") >= (long long)SIZE);
	*gate = 1;
	ktap_eq(gt_fence_error(c.fd, bound_sync.handle, 0), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(((uint64_t *)bo.map)[7], 0x900d);
	ktap_eq(gt_fdinfo(c.fd, "drm-active-memory"), 0);
	gt_sleep_ms(100); /* the bind is freed by a work */
	squeeze();
	ktap_eq(gt_bo_state(c.fd, bo.handle), DRM_TESSERA_BO_PURGED);
	gt_syncobj_free(c.fd, bound_sync.handle);
	gt_bo_free(&bo);
}

#define OPS	256		/* of a VM_BIND, each a page of its own */

static atomic_bool stop;

/* Keeps c.vm busy, far from what the test does in it; @arg: handle of a BO. */
static void *binder(void *arg)
{
	struct drm_tessera_bind_op ops[OPS];
	unsigned int i;

	for (i = 0; i < OPS; i++)
		ops[i] = gt_op_map((uint32_t)(uintptr_t)arg, 2 * VA + i * (2 << 20), GT_PAGE, 0,
				   GT_RW);
	while (!atomic_load(&stop))
		ktap_eq(gt_vm_bind(c.fd, c.vm, ops, OPS), 0);
	return NULL;
}

/* A BO whose VM cannot be had stays; one that goes is gone from its VM. */
static void busy_vm(void)
{
	struct gt_bo other = bound(VA + 0x1000000);
	struct drm_tessera_bind_op unmap = gt_op_unmap(VA, SIZE);
	unsigned int i, gone = 0;
	pthread_t thread;

	atomic_store(&stop, false);
	KTAP_REQUIRE(!pthread_create(&thread, NULL, binder, (void *)(uintptr_t)other.handle));
	for (i = 0; i < 60; i++) {
		struct gt_bo bo = bound(VA);
		bool purged;

		ktap_eq(advise(bo.handle, DRM_TESSERA_MADV_DONT_NEED, NULL), 0);
		squeeze();
		purged = gt_bo_state(c.fd, bo.handle) == DRM_TESSERA_BO_PURGED;
		ktap_eq(fill(VA), purged ? -EFAULT : 0);
		if (purged)
			gt_renew_queue(&c);
		gone += purged;
		ktap_eq(gt_vm_bind(c.fd, c.vm, &unmap, 1), 0);
		gt_bo_free(&bo);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	ktap_note("%u of %u were purged", gone, i);
	gt_bo_free(&other);
}

static void local_memory(void)
{
	struct gt_bo bo = gt_bo(c.fd, SIZE, DRM_TESSERA_BO_LOCAL);
	uint32_t retained;

	memset(bo.map, 0x11, SIZE);
	ktap_eq(advise(bo.handle, DRM_TESSERA_MADV_DONT_NEED, NULL), 0);
	squeeze();
	ktap_eq(advise(bo.handle, DRM_TESSERA_MADV_WILL_NEED, &retained), 0);
	ktap_eq(retained, 1);
	ktap_eq(((uint8_t *)bo.map)[SIZE - 1], 0x11);
	ktap_eq(gt_fdinfo(c.fd, "drm-total-local"), SIZE);
	ktap_eq(gt_fdinfo(c.fd, "drm-resident-local"), SIZE);
	gt_bo_free(&bo);
}

static uint64_t all_memory(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? 0 : (uint64_t)info.totalram * info.mem_unit;
}

static unsigned int purged_of(const struct gt_bo *bo, unsigned int count)
{
	unsigned int i, gone = 0;

	for (i = 0; i < count; i++)
		gone += !!(gt_bo_state(c.fd, bo[i].handle) & DRM_TESSERA_BO_PURGED);
	return gone;
}

/*
 * More than the machine has, of what is not needed: the oldest go, a few at a time, nobody is
 * killed.
 */
static void more_than_there_is(void)
{
	enum { COUNT = 60 };
	const uint64_t mib = 1 << 20, big = all_memory() / (COUNT * 2 / 3) / mib * mib;
	struct gt_bo bo[COUNT];
	unsigned int i, gone = 0, before, most = 0;

	for (i = 0; i < COUNT; i++) {
		bo[i] = gt_bo(c.fd, big, DRM_TESSERA_BO_NO_MMAP);
		gt_bo_bind(&bo[i], c.vm, VA + i * big, GT_RW);
		ktap_eq(advise(bo[i].handle, DRM_TESSERA_MADV_DONT_NEED, NULL), 0);
		before = gone;
		gone = purged_of(bo, i + 1);
		most = gone - before > most ? gone - before : most;
	}
	printf("# %u of %u were purged, at most %u at a time\n", gone, COUNT, most);
	ktap_ok(gone >= COUNT / 4 && gone < COUNT);
	ktap_ok(most <= COUNT / 4);
	ktap_ok(gt_bo_state(c.fd, bo[0].handle) & DRM_TESSERA_BO_PURGED);
	ktap_eq(fill(gt_data_va(0)), 0);
	for (i = 0; i < COUNT; i++)
		gt_bo_free(&bo[i]);
}

static void engines_of_fdinfo(void)
{
	long long busy = gt_fdinfo(c.fd, "drm-engine-copy");
	long long cycles = gt_fdinfo(c.fd, "drm-cycles-copy");

	ktap_ok(busy > 0 && cycles > 0);
	ktap_eq(fill(gt_data_va(0)), 0);
	ktap_ok(gt_fdinfo(c.fd, "drm-engine-copy") > busy);
	ktap_ok(gt_fdinfo(c.fd, "drm-cycles-copy") > cycles);
	busy = gt_fdinfo(c.fd, "drm-engine-copy");
	cycles = gt_fdinfo(c.fd, "drm-cycles-copy");
	gt_renew_queue(&c); /* what a queue has used stays with the file */
	ktap_ok(gt_fdinfo(c.fd, "drm-engine-copy") >= busy);
	ktap_ok(gt_fdinfo(c.fd, "drm-cycles-copy") >= cycles);
	ktap_eq(gt_fdinfo(c.fd, "drm-engine-capacity-copy"), 2);
	ktap_ok(gt_fdinfo(c.fd, "drm-total-memory") >= (long long)(GT_CMD_SIZE + GT_DATA_SIZE));
	ktap_eq(gt_fdinfo(c.fd, "drm-shared-memory"), 0);
	ktap_eq(gt_fdinfo(c.fd, "drm-resident-memory"), GT_CMD_SIZE + GT_DATA_SIZE);
}

static atomic_bool watch_ended;

static void *watch_cycles(void *backwards)
{
	long long last = 0, now;

	while (!atomic_load(&watch_ended)) {
		now = gt_fdinfo(c.fd, "drm-cycles-copy");
		*(unsigned int *)backwards += now < last;
		last = now;
	}
	return NULL;
}

/* Queues are destroyed in the middle of a job, which takes a while: what they used still counts. */
static void usage_only_grows(void)
{
	struct gt_cs wait = gt_stream(&c, 8);
	unsigned int backwards = 0;
	pthread_t thread;

	atomic_store(&watch_ended, false);
	*(volatile uint64_t *)gt_data(&c, 0) = 0;
	GT_EMIT(&wait, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	pthread_create(&thread, NULL, watch_cycles, &backwards);
	for (unsigned int i = 0; i < 200; i++) {
		ktap_eq(fill(gt_data_va(64)), 0);
		ktap_eq(gt_kick(&c, c.queue, &wait, NULL), 0);
		gt_sleep_ms(2);
		gt_renew_queue(&c);
	}
	atomic_store(&watch_ended, true);
	pthread_join(thread, NULL);
	ktap_eq(backwards, 0);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	bad_arguments();
	ktap_run("[SYS3] advice without pressure changes nothing", without_pressure);
	ktap_run("[SYS3] a purged BO is gone from VMs and processes, and told", purged);
	ktap_run("[SYS3] what a job or a bind uses is not purged", in_use);
	ktap_run("[SYS3] what a busy VM has stays, or is gone from it", busy_vm);
	ktap_run("[SYS3] local memory is not purged", local_memory);
	ktap_run("[SYS3] more BOs than memory, that are not needed", more_than_there_is);
	ktap_run("[SYS3] fdinfo: engine time, cycles and memory", engines_of_fdinfo);
	ktap_run("[SYS3] fdinfo: engine time never goes backwards", usage_only_grows);
	gt_ctx_free(&c);
	return gt_finish();
}
