// SPDX-License-Identifier: MIT
/* test: TIMEOUT=150 DEVICE_ARGS=vram=64M,copy-engines=2 */
/*
 * Every error path of every ioctl: the first place in a call where the kernel can fail (an
 * allocation, a copy from or to user space) fails, then the second, and so on until the call comes
 * to its end without meeting the fault. Each time the answer must be one of those that mean it,
 * what was there before must work as before, and the kernel must have nothing to say; what it has
 * lost, kmemleak finds when the driver is unloaded.
 *
 * Each attempt has a file of its own, so that an object whose id got lost on its way out goes with
 * the file.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#define MAX_SITES	2000	/* more than any call has */
#define BO_VA		0x40000000ULL
#define BO_SIZE		(16 * GT_PAGE)	/* each page is a place to fail */
#define HEAP_VA		0x80000000ULL
#define HEAP_SIZE	(1 << 17)	/* all of it is bound, page by page */

/* The objects of a call, created without faults. */
struct stage {
	struct gt_ctx c;
	uint32_t bo;		/* BO_SIZE, not bound, exported */
	int dmabuf;
	int other;		/* another file, to import into */
	uint32_t queue;
	uint32_t heap;
	uint32_t perfmon;
	uint32_t counter;	/* one that a perfmon may have */
	uint32_t timeline;
};

/*
 * One call: returns 0 or -errno. It runs with a fault armed, so it does nothing else that may fail.
 * @after, if any, looks at what became of it.
 */
struct op {
	const char *name;
	int (*call)(struct stage *s);
	void (*after)(struct stage *s, int ret);
};

static int fail_fd = -1;
static char node[64];	/* the device's render node */

static void set_knob(const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", file);
	if (gt_write_file(path, text))
		gt_die("%s cannot be written", path);
}

/* Let the nth possible failure of this thread happen; 0: none. */
static void arm(unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	/* A failure that is still armed may meet this very call: it is used up then. */
	if (pwrite(fail_fd, text, n, 0) != n && pwrite(fail_fd, text, n, 0) != n)
		gt_die("fail-nth cannot be written");
}

/* True if the failure that was armed has not happened: it is there, or meets this very call. */
static bool unused(void)
{
	char text[16] = "";

	return pread(fail_fd, text, sizeof(text) - 1, 0) < 1 || atoi(text) != 0;
}

static struct stage stage(void)
{
	struct stage s = { .c = gt_ctx() };
	struct drm_tessera_heap_create heap = {
		.vm_id = s.c.vm,
		.va = HEAP_VA,
		.max_size = HEAP_SIZE,
		.initial_size = 1 << 16,
		.chunk_size = 1 << 16,
	};
	static uint32_t counters[1];
	struct drm_tessera_perfmon_create perfmon = { .counters = GT_ARRAY(counters, 1) };
	struct drm_tessera_counter_info info[64];
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_COUNTERS,
		.size = sizeof(info),
		.ptr = gt_ptr(info),
		.stride = sizeof(*info),
	};

	if (gt_bo_try(s.c.fd, BO_SIZE, 0, 0, &s.bo) ||
	    gt_ioctl(s.c.fd, DRM_IOCTL_TESSERA_HEAP_CREATE, &heap) ||
	    gt_ioctl(s.c.fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query))
		gt_die("the stage cannot be set");
	counters[0] = info[0].id;
	if (gt_ioctl(s.c.fd, DRM_IOCTL_TESSERA_PERFMON_CREATE, &perfmon) ||
	    drmPrimeHandleToFD(s.c.fd, s.bo, DRM_CLOEXEC | DRM_RDWR, &s.dmabuf))
		gt_die("the stage cannot be set");
	s.other = gt_open();
	s.heap = heap.heap_id;
	s.perfmon = perfmon.perfmon_id;
	s.counter = counters[0];
	s.queue = gt_queue(s.c.fd, s.c.vm, DRM_TESSERA_ENGINE_COPY);
	s.timeline = gt_syncobj(s.c.fd, false);
	return s;
}

static void strike(struct stage *s)
{
	close(s->dmabuf);
	close(s->other);
	gt_ctx_free(&s->c);
}

/* True if the objects from before the call work: the stage's context runs a job. */
static bool works(struct stage *s)
{
	struct gt_cs cs = gt_stream(&s->c, 3);

	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0), .value = 77);
	return gt_run(&s->c, &cs) == 0 && *(volatile uint64_t *)gt_data(&s->c, 0) == 77;
}

/* ---- the calls ---- */

static int do_open(struct stage *s __attribute__((unused)))
{
	int fd = open(node, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int query(struct stage *s, uint32_t type, uint32_t stride)
{
	static uint8_t buffer[16384];
	struct drm_tessera_dev_query arg = {
		.type = type,
		.size = sizeof(buffer),
		.ptr = gt_ptr(buffer),
		.stride = stride,
	};

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_DEV_QUERY, &arg);
}

static int do_query_info(struct stage *s)
{
	return query(s, DRM_TESSERA_QUERY_GPU_INFO, 0);
}

static int do_query_engines(struct stage *s)
{
	return query(s, DRM_TESSERA_QUERY_ENGINES, sizeof(struct drm_tessera_engine_info));
}

static int do_query_counters(struct stage *s)
{
	return query(s, DRM_TESSERA_QUERY_COUNTERS, sizeof(struct drm_tessera_counter_info));
}

static int do_query_state(struct stage *s)
{
	return query(s, DRM_TESSERA_QUERY_GPU_STATE, 0);
}

static int do_timestamp(struct stage *s)
{
	struct drm_tessera_get_timestamp arg = { .clock_id = CLOCK_MONOTONIC };

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &arg);
}

static int do_vm_create(struct stage *s)
{
	struct drm_tessera_vm_create arg = {};

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_VM_CREATE, &arg);
}

static int do_vm_destroy(struct stage *s)
{
	struct drm_tessera_vm_destroy arg = { .vm_id = s->c.vm };

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_VM_DESTROY, &arg);
}

static int do_vm_state(struct stage *s)
{
	static struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	struct drm_tessera_vm_get_state arg = {
		.vm_id = s->c.vm,
		.faults = GT_ARRAY(faults, DRM_TESSERA_FAULT_RECORDS),
	};

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_VM_GET_STATE, &arg);
}

/* Maps, splits, remaps and unmaps: every kind of op that needs something. */
static unsigned int bind_ops(struct stage *s, struct drm_tessera_bind_op *ops)
{
	ops[0] = gt_op_map(s->bo, BO_VA, BO_SIZE, 0, GT_RW);
	ops[1] = gt_op_unmap(BO_VA + 3 * GT_PAGE, GT_PAGE);
	ops[2] = gt_op_map(s->bo, BO_VA + 8 * GT_PAGE, 2 * GT_PAGE, GT_PAGE, GT_RWX);
	ops[3] = gt_op_map(0, BO_VA + GT_HUGE, GT_HUGE, 0, 0);
	ops[3].op = DRM_TESSERA_BIND_MAP_NULL;
	ops[4] = gt_op_unmap(0, 0);
	ops[4].op = DRM_TESSERA_BIND_UNMAP_BO;
	ops[4].bo_handle = s->bo;
	return 5;
}

static int do_bind(struct stage *s)
{
	struct drm_tessera_bind_op ops[5];

	return gt_vm_bind(s->c.fd, s->c.vm, ops, bind_ops(s, ops));
}

static int do_bind_async(struct stage *s)
{
	struct drm_tessera_sync signal = gt_point(s->timeline, 3);
	struct drm_tessera_bind_op ops[5];

	return gt_bind_async(s->c.fd, s->c.vm, ops, bind_ops(s, ops), NULL, &signal);
}

static void after_bind_async(struct stage *s, int ret)
{
	if (ret)
		ktap_eq(gt_syncobj_point(s->c.fd, s->timeline), 0);
	else
		ktap_eq(gt_syncobj_wait(s->c.fd, s->timeline, 3, GT_TIMEOUT_MS), 0);
}

static int bo_create(struct stage *s, uint32_t flags, uint32_t vm)
{
	uint32_t handle;

	return gt_bo_try(s->c.fd, 16 * GT_PAGE, flags, vm, &handle);
}

static int do_bo_create(struct stage *s)
{
	return bo_create(s, DRM_TESSERA_BO_CACHED, 0);
}

static int do_bo_create_private(struct stage *s)
{
	return bo_create(s, 0, s->c.vm);
}

static int do_bo_create_local(struct stage *s)
{
	return bo_create(s, DRM_TESSERA_BO_LOCAL, 0);
}

static int do_mmap_offset(struct stage *s)
{
	struct drm_tessera_bo_mmap_offset arg = { .handle = s->bo };

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &arg);
}

static int do_bo_info(struct stage *s)
{
	struct drm_tessera_bo_info arg = { .handle = s->bo };

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_BO_INFO, &arg);
}

static int do_label(struct stage *s)
{
	struct drm_tessera_bo_set_label arg = { .handle = s->bo, .label = gt_ptr("a name") };

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_BO_SET_LABEL, &arg);
}

static int do_madvise(struct stage *s)
{
	struct drm_tessera_bo_madvise arg = {
		.handle = s->c.data.handle,
		.madv = DRM_TESSERA_MADV_WILL_NEED,
	};

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &arg);
}

static int do_export(struct stage *s)
{
	struct drm_prime_handle arg = {
		.handle = s->c.data.handle,
		.flags = DRM_CLOEXEC | DRM_RDWR,
	};
	int ret = gt_ioctl(s->c.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg);

	if (!ret)
		close(arg.fd);
	return ret;
}

/* Into another file: in the stage's own it is only looked up. */
static int do_import(struct stage *s)
{
	struct drm_prime_handle arg = { .fd = s->dmabuf };

	return gt_ioctl(s->other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg);
}

static int do_mmap(struct stage *s)
{
	void *map = gt_bo_mmap(s->c.fd, s->bo, GT_PAGE);

	if (!map)
		return -ENOMEM;
	munmap(map, GT_PAGE);
	return 0;
}

static int do_queue_create(struct stage *s)
{
	uint32_t queue;

	return gt_queue_try(s->c.fd, s->c.vm, DRM_TESSERA_ENGINE_COPY,
			    DRM_TESSERA_PRIORITY_NORMAL, 0, &queue);
}

static int do_queue_destroy(struct stage *s)
{
	return gt_queue_destroy(s->c.fd, s->queue);
}

static int do_queue_state(struct stage *s)
{
	struct drm_tessera_queue_get_state arg = { .queue_id = s->queue };

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_QUEUE_GET_STATE, &arg);
}

/* Two jobs on two queues, one after the other, with all kinds of syncs and a perfmon. */
static int do_submit(struct stage *s)
{
	struct drm_tessera_sync signals[] = { gt_point(s->timeline, 1), gt_binary(s->c.sync) };
	struct drm_tessera_sync wait = gt_point(s->timeline, 1);
	struct gt_cs cs = gt_stream(&s->c, 8);
	struct drm_tessera_job jobs[2];

	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(64), .value = 5);
	jobs[0] = gt_job(s->queue, &cs);
	jobs[1] = gt_job(s->c.queue, &cs);
	jobs[0].perfmon_id = s->perfmon;
	jobs[0].signals = GT_ARRAY(signals, 1);
	jobs[1].waits = GT_ARRAY(&wait, 1);
	jobs[1].after = 1;
	jobs[1].signals = GT_ARRAY(&signals[1], 1);
	return gt_submit(s->c.fd, jobs, 2);
}

/* All of it happens, or nothing does. */
static void after_submit(struct stage *s, int ret)
{
	if (ret) {
		ktap_eq(gt_syncobj_point(s->c.fd, s->timeline), 0);
		ktap_ok(!gt_syncobj_done(s->c.fd, s->c.sync, 0));
		return;
	}
	ktap_eq(gt_fence_error(s->c.fd, s->c.sync, 0), 0);
	ktap_eq(gt_syncobj_wait(s->c.fd, s->timeline, 1, GT_TIMEOUT_MS), 0);
	ktap_eq(*(volatile uint64_t *)gt_data(&s->c, 64), 5);
}

static int do_heap_create(struct stage *s)
{
	struct drm_tessera_heap_create arg = {
		.vm_id = s->c.vm,
		.va = 2 * HEAP_VA,
		.max_size = HEAP_SIZE,
		.initial_size = 1 << 16,
		.chunk_size = 1 << 16,
	};

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_HEAP_CREATE, &arg);
}

/* A heap that was not made leaves its range free. */
static void after_heap_create(struct stage *s, int ret)
{
	struct drm_tessera_bind_op op = gt_op_map(s->bo, 2 * HEAP_VA, GT_PAGE, 0, GT_RW);

	/* EFAULT: it was made, and its id did not come through */
	if (ret == -ENOMEM)
		ktap_eq(gt_vm_bind(s->c.fd, s->c.vm, &op, 1), 0);
}

static int do_heap_destroy(struct stage *s)
{
	struct drm_tessera_heap_destroy arg = { .heap_id = s->heap };

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_HEAP_DESTROY, &arg);
}

static int do_perfmon_create(struct stage *s)
{
	static uint32_t counter;
	struct drm_tessera_perfmon_create arg = { .counters = GT_ARRAY(&counter, 1) };

	counter = s->counter;
	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_PERFMON_CREATE, &arg);
}

static int do_perfmon_read(struct stage *s)
{
	uint64_t value;
	struct drm_tessera_perfmon_read arg = {
		.perfmon_id = s->perfmon,
		.flags = DRM_TESSERA_PERFMON_RESET,
		.values = GT_ARRAY(&value, 1),
	};

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_PERFMON_READ, &arg);
}

static int do_perfmon_destroy(struct stage *s)
{
	struct drm_tessera_perfmon_destroy arg = { .perfmon_id = s->perfmon };

	return gt_ioctl(s->c.fd, DRM_IOCTL_TESSERA_PERFMON_DESTROY, &arg);
}

static const struct op ops[] = {
	{ "open and close", do_open, NULL },
	{ "DEV_QUERY of GPU_INFO", do_query_info, NULL },
	{ "DEV_QUERY of ENGINES", do_query_engines, NULL },
	{ "DEV_QUERY of COUNTERS", do_query_counters, NULL },
	{ "DEV_QUERY of GPU_STATE", do_query_state, NULL },
	{ "GET_TIMESTAMP", do_timestamp, NULL },
	{ "VM_CREATE", do_vm_create, NULL },
	{ "VM_DESTROY", do_vm_destroy, NULL },
	{ "VM_BIND", do_bind, NULL },
	{ "VM_BIND, asynchronous", do_bind_async, after_bind_async },
	{ "VM_GET_STATE", do_vm_state, NULL },
	{ "BO_CREATE", do_bo_create, NULL },
	{ "BO_CREATE for one VM", do_bo_create_private, NULL },
	{ "BO_CREATE in local memory", do_bo_create_local, NULL },
	{ "BO_MMAP_OFFSET", do_mmap_offset, NULL },
	{ "mmap of a BO", do_mmap, NULL },
	{ "BO_INFO", do_bo_info, NULL },
	{ "BO_SET_LABEL", do_label, NULL },
	{ "BO_MADVISE", do_madvise, NULL },
	{ "PRIME export", do_export, NULL },
	{ "PRIME import", do_import, NULL },
	{ "QUEUE_CREATE", do_queue_create, NULL },
	{ "QUEUE_DESTROY", do_queue_destroy, NULL },
	{ "QUEUE_GET_STATE", do_queue_state, NULL },
	{ "SUBMIT", do_submit, after_submit },
	{ "HEAP_CREATE", do_heap_create, after_heap_create },
	{ "HEAP_DESTROY", do_heap_destroy, NULL },
	{ "PERFMON_CREATE", do_perfmon_create, NULL },
	{ "PERFMON_READ", do_perfmon_read, NULL },
	{ "PERFMON_DESTROY", do_perfmon_destroy, NULL },
};

static const struct op *op;	/* the one that runs */

/* True if the call destroys the stage's own VM, so that nothing works after it. */
static bool destroys(void)
{
	return op->call == do_vm_destroy;
}

/* One attempt with the @nth failure; false once the call is through without one. */
static bool attempt(unsigned int nth, unsigned int *failed)
{
	struct stage s = stage();
	bool over;
	int ret;

	arm(nth);
	ret = op->call(&s);
	over = unused();
	arm(0);

	if (over && ret == -EOPNOTSUPP)
		ktap_skip("this driver does not have it");
	else if (!ktap_ok(!ret || (!over && (ret == -ENOMEM || ret == -EFAULT))))
		ktap_note("place %u: error %d", nth, ret);
	*failed += ret != 0;
	if (op->after)
		op->after(&s, ret);
	if (!destroys() && !ktap_ok(works(&s)))
		ktap_note("place %u: the context does not work any more", nth);
	strike(&s);
	return !over;
}

static void sweep(void)
{
	unsigned int nth = 1, failed = 0;

	while (nth < MAX_SITES && attempt(nth, &failed))
		nth++;
	ktap_ok(nth < MAX_SITES);
	ktap_ok(failed > 0);	/* the copy of the argument at least is a place to fail */
	ktap_note("%u places to fail, %u of them fail the call", nth - 1, failed);
}

int main(int argc, char **argv)
{
	static const char *const reach[] = {
		"failslab/ignore-gfp-wait",
		"fail_page_alloc/ignore-gfp-wait",
		"fail_page_alloc/ignore-gfp-highmem",
	};
	char name[100];
	size_t i;

	gt_start(argc, argv);
	fail_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_fd < 0)
		gt_die("this kernel has no fault injection");
	if (!gt_node_path(0, true, node, sizeof(node)))
		gt_die("there is no device");
	for (i = 0; i < GT_ARRAY_SIZE(reach); i++)
		set_knob(reach[i], "N");
	set_knob("fail_page_alloc/min-order", "0");
	set_knob("failslab/verbose", "0");
	set_knob("fail_page_alloc/verbose", "0");
	set_knob("fail_usercopy/verbose", "0");
	for (i = 0; i < GT_ARRAY_SIZE(ops); i++) {
		op = &ops[i];
		snprintf(name, sizeof(name), "[SYS9] every failure of %s", op->name);
		ktap_run(name, sweep);
	}
	return gt_finish();
}
