// SPDX-License-Identifier: MIT
/* test: TIMEOUT=180 DEVICE_ARGS=vram=32M */
/*
 * Per-file quotas: the limits are exactly those of DEV_QUERY. An object that was freed can be
 * created again at once. Memory that the kernel allocates for a file is in fdinfo and is charged to
 * the control group of the process. A process at its limits leaves enough for another one, and a
 * user who opens the device many times leaves a quarter for another user.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gt_bad.h"

#define LOCAL_ONLY	(DRM_TESSERA_BO_LOCAL | DRM_TESSERA_BO_LOCAL_ONLY)
#define CHUNK		0x200000ull
#define NULL_SIZE	(1ull << 40)	/* 1024 tables of 2 MiB pages */
#define NULL_COST	((NULL_SIZE >> 30) * 2 * GT_PAGE) /* entries, and pointers to tables */

static struct drm_tessera_file_limits limits(int fd)
{
	struct drm_tessera_file_limits l = { 0 };
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_FILE_LIMITS, .size = sizeof(l), .ptr = gt_ptr(&l),
	};

	if (gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query))
		gt_die("DEV_QUERY FILE_LIMITS fails");
	return l;
}

/* ---- one more of each kind: 0 or -errno ---- */

static int take_vm(int fd, uint32_t *id)
{
	struct drm_tessera_vm_create args = { 0 };
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_VM_CREATE, &args);

	*id = args.vm_id;
	return ret;
}

static int take_queue(int fd, uint32_t vm, uint32_t *id)
{
	return gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL, 0, id);
}

static int take_perfmon(int fd, uint32_t *id)
{
	const uint32_t counter = TSR_QUEUE_COUNTER_CYCLES;
	struct drm_tessera_perfmon_create args = { .counters = GT_ARRAY(&counter, 1) };
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_PERFMON_CREATE, &args);

	*id = args.perfmon_id;
	return ret;
}

static int take_heap(int fd, uint32_t vm, uint64_t va, uint64_t size, uint32_t *id)
{
	struct drm_tessera_heap_create args = {
		.vm_id = vm, .va = va, .max_size = size, .initial_size = size, .chunk_size = CHUNK,
	};
	int ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_HEAP_CREATE, &args);

	*id = args.heap_id;
	return ret;
}

static int give_heap(int fd, uint32_t id)
{
	struct drm_tessera_heap_destroy args = { .heap_id = id };

	return gt_ioctl(fd, DRM_IOCTL_TESSERA_HEAP_DESTROY, &args);
}

static int give_perfmon(int fd, uint32_t id)
{
	struct drm_tessera_perfmon_destroy args = { .perfmon_id = id };

	return gt_ioctl(fd, DRM_IOCTL_TESSERA_PERFMON_DESTROY, &args);
}

static int take_null(int fd, uint32_t vm, uint64_t va)
{
	struct drm_tessera_bind_op op = {
		.op = DRM_TESSERA_BIND_MAP_NULL, .va = va, .size = NULL_SIZE,
	};

	return gt_vm_bind(fd, vm, &op, 1);
}

/* ---- the limits, one by one ---- */

static void query(void)
{
	int fd = gt_open();
	struct drm_tessera_gpu_info gpu = gt_gpu_info(fd);
	struct drm_tessera_file_limits l, zero = { 0 };
	struct drm_tessera_dev_query args = { .type = DRM_TESSERA_QUERY_FILE_LIMITS };

	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &args), 0);
	ktap_eq(args.size, sizeof(l));
	args.ptr = gt_ptr(&l);
	args.size = sizeof(l) - 8;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &args), -EINVAL);
	args.size = sizeof(l);
	args.stride = sizeof(l);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &args), -EINVAL);
	l = limits(fd);
	ktap_eq(l.max_queues, gt_sched_engine() ? 1024 : TSR_QUEUES_MAX / 4);
	ktap_eq(l.max_address_spaces, TSR_ADDRESS_SPACES_MAX / 4);
	ktap_eq(l.max_perfmons, 64);
	ktap_ok(l.max_vms >= l.max_address_spaces);
	ktap_ok(l.max_heaps >= 8);
	ktap_ok(l.max_heap_memory >= 16 << 20 && l.max_page_tables >= 8 << 20);
	ktap_eq(l.max_local_memory, gpu.local_size / 2);
	zero.max_vms = l.max_vms;
	zero.max_queues = l.max_queues;
	zero.max_address_spaces = l.max_address_spaces;
	zero.max_heaps = l.max_heaps;
	zero.max_perfmons = l.max_perfmons;
	zero.max_heap_memory = l.max_heap_memory;
	zero.max_page_tables = l.max_page_tables;
	zero.max_local_memory = l.max_local_memory;
	ktap_mem_eq(&l, &zero, sizeof(l));
	close(fd);
}

static void vms(void)
{
	int fd = gt_open();
	struct drm_tessera_file_limits l = limits(fd);
	uint32_t *id = calloc(l.max_vms + 1, sizeof(*id)), queue, i;

	for (i = 0; i < l.max_vms; i++)
		ktap_eq(take_vm(fd, &id[i]), 0);
	ktap_eq(take_vm(fd, &id[i]), -ENOSPC);
	ktap_eq(limits(fd).vms, l.max_vms);
	/* Its queue keeps a VM; when that goes, so does the VM, and there is room at once. */
	ktap_eq(take_queue(fd, id[0], &queue), 0);
	ktap_eq(gt_vm_destroy(fd, id[0]), 0);
	ktap_eq(take_vm(fd, &id[0]), -ENOSPC);
	ktap_eq(gt_vm_destroy(fd, id[1]), 0);
	ktap_eq(take_vm(fd, &id[1]), 0);
	ktap_eq(gt_queue_destroy(fd, queue), 0);
	for (i = 0; i < 100 && limits(fd).vms == l.max_vms; i++)
		gt_sleep_ms(20);
	ktap_eq(take_vm(fd, &id[0]), 0);
	/* A process that destroys and creates VMs never meets the limit, however late they go. */
	for (i = 0; i < 60; i++) {
		ktap_eq(gt_vm_destroy(fd, id[i % l.max_vms]), 0);
		ktap_eq(take_vm(fd, &id[i % l.max_vms]), 0);
	}
	close(fd);
	free(id);
}

static void queues(void)
{
	int fd = gt_open(), other = gt_open();
	struct drm_tessera_file_limits l = limits(fd);
	uint32_t vm = gt_vm(fd), *id = calloc(l.max_queues + 1, sizeof(*id)), i, round;

	for (i = 0; i < l.max_queues; i++)
		ktap_eq(take_queue(fd, vm, &id[i]), 0);
	ktap_eq(take_queue(fd, vm, &id[i]), -ENOSPC);
	ktap_eq(limits(fd).queues, l.max_queues);
	ktap_eq(limits(fd).address_spaces, gt_sched_engine() ? 0 : 1);
	ktap_eq(limits(other).queues, 0);
	for (round = 0; round < 20; round++) {
		ktap_eq(gt_queue_destroy(fd, id[3]), 0);
		ktap_eq(take_queue(fd, vm, &id[3]), 0);
	}
	for (i = 0; i < l.max_queues; i++)
		ktap_eq(gt_queue_destroy(fd, id[i]), 0);
	ktap_eq(limits(fd).queues, 0);
	ktap_eq(limits(fd).address_spaces, 0);
	/* A QUEUE_CREATE that fails takes nothing. */
	ktap_eq(gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COPY, 7, 0, &id[0]), -EINVAL);
	ktap_eq(limits(fd).queues, 0);
	close(other);
	close(fd);
	free(id);
}

static void perfmons(void)
{
	int fd = gt_open();
	struct drm_tessera_file_limits l = limits(fd);
	uint32_t *id = calloc(l.max_perfmons + 1, sizeof(*id)), i;

	for (i = 0; i < l.max_perfmons; i++)
		ktap_eq(take_perfmon(fd, &id[i]), 0);
	ktap_eq(take_perfmon(fd, &id[i]), -ENOSPC);
	ktap_eq(limits(fd).perfmons, l.max_perfmons);
	ktap_eq(give_perfmon(fd, id[0]), 0);
	ktap_eq(take_perfmon(fd, &id[0]), 0);
	for (i = 0; i < l.max_perfmons; i++)
		ktap_eq(give_perfmon(fd, id[i]), 0);
	ktap_eq(limits(fd).perfmons, 0);
	close(fd);
	free(id);
}

static void heaps(void)
{
	int fd = gt_open();
	struct drm_tessera_file_limits l = limits(fd);
	uint32_t vm = gt_vm(fd), *id = calloc(l.max_heaps + 1, sizeof(*id)), i;
	uint64_t all = l.max_heap_memory / CHUNK * CHUNK;

	for (i = 0; i < l.max_heaps; i++)
		ktap_eq(take_heap(fd, vm, (i + 1) << 24, CHUNK / 2, &id[i]), -EINVAL);
	for (i = 0; i < l.max_heaps && (i + 1) * CHUNK <= all; i++)
		ktap_eq(take_heap(fd, vm, (uint64_t)(i + 1) << 24, CHUNK, &id[i]), 0);
	ktap_eq(limits(fd).heaps, i);
	ktap_eq(limits(fd).heap_memory, i * CHUNK);
	ktap_eq(take_heap(fd, vm, 1ull << 36, CHUNK, &id[l.max_heaps]), -ENOSPC);
	while (i--)
		ktap_eq(give_heap(fd, id[i]), 0);
	ktap_eq(limits(fd).heaps, 0);
	ktap_eq(limits(fd).heap_memory, 0);
	if (all < DRM_TESSERA_HEAP_SIZE_MAX) {
		ktap_eq(take_heap(fd, vm, 1ull << 36, all + CHUNK, &id[0]), -ENOSPC);
		ktap_eq(limits(fd).heap_memory, 0);
	}
	close(fd);
	free(id);
}

static void local_memory(void)
{
	int fd = gt_open(), other = gt_open_as(1000);
	uint64_t max = limits(fd).max_local_memory;
	uint32_t handle, second;

	ktap_eq(gt_bo_try(fd, max + GT_PAGE, LOCAL_ONLY, 0, &handle), -ENOSPC);
	ktap_eq(gt_bo_try(fd, max, LOCAL_ONLY, 0, &handle), 0);
	ktap_eq(limits(fd).local_memory, max);
	ktap_eq(gt_bo_try(fd, GT_PAGE, LOCAL_ONLY, 0, &second), -ENOSPC);
	ktap_eq(gt_bo_try(other, max, LOCAL_ONLY, 0, &second), 0);
	ktap_eq(gt_gem_close(fd, handle), 0);
	ktap_eq(limits(fd).local_memory, 0);
	ktap_eq(gt_bo_try(fd, max, LOCAL_ONLY, 0, &handle), 0);
	close(other);
	close(fd);
}

static void page_tables(void)
{
	int fd = gt_open();
	struct drm_tessera_file_limits l = limits(fd);
	uint32_t vm = gt_vm(fd);
	uint64_t base = limits(fd).page_tables, n = 0;
	struct drm_tessera_bind_op unmap;
	int ret = 0;

	ktap_ok(base >= GT_PAGE);
	while (n < 1000 && !(ret = take_null(fd, vm, (n + 1) * NULL_SIZE)))
		n++;
	ktap_eq(ret, -ENOSPC);
	ktap_ok(n * NULL_COST <= l.max_page_tables);
	ktap_ok(limits(fd).page_tables >= n * NULL_COST);
	unmap = gt_op_unmap(NULL_SIZE, n * NULL_SIZE);
	ktap_eq(gt_vm_bind(fd, vm, &unmap, 1), 0);
	/* A few that are empty are kept for the next change. */
	ktap_ok(limits(fd).page_tables <= base + 64 * GT_PAGE);
	ktap_eq(take_null(fd, vm, NULL_SIZE), 0);
	close(fd);
}

/* ---- who sees it ---- */

static void shows_in_fdinfo(void)
{
	int fd = gt_open();
	uint32_t vm = gt_vm(fd), queue, heap;
	long long tables;

	if (gt_sched_engine()) {
		ktap_skip("with sched=engine queues have no rings of their own");
		close(fd);
		return;
	}
	ktap_eq(gt_fdinfo(fd, "drm-total-heap"), 0);
	ktap_eq(gt_fdinfo(fd, "drm-total-ring"), 0);
	tables = gt_fdinfo(fd, "drm-resident-pagetable");
	ktap_ok(tables >= (long long)GT_PAGE);
	ktap_eq(gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COPY, 1, 65536, &queue), 0);
	ktap_eq(gt_fdinfo(fd, "drm-total-ring"), 65536);
	ktap_eq(gt_fdinfo(fd, "drm-resident-ring"), 65536);
	ktap_eq(take_heap(fd, vm, 1ull << 32, 4 * CHUNK, &heap), 0);
	ktap_eq(gt_fdinfo(fd, "drm-total-heap"), 4 * CHUNK);
	ktap_eq(gt_fdinfo(fd, "drm-resident-heap"), 4 * CHUNK);
	ktap_ok(gt_fdinfo(fd, "drm-resident-pagetable") > tables);
	ktap_eq(give_heap(fd, heap), 0);
	ktap_eq(gt_fdinfo(fd, "drm-total-heap"), 0);
	ktap_eq(gt_queue_destroy(fd, queue), 0);
	ktap_eq(gt_fdinfo(fd, "drm-total-ring"), 0);
	close(fd);
}

#define CGROUP "/tmp/cgroup2"

static long long charged(void)
{
	char text[64];

	if (gt_read_file(CGROUP "/quotas/memory.current", text, sizeof(text)) < 0)
		return -1;
	return atoll(text);
}

/* In a control group of its own; the exit status has a bit for each kind that is not charged. */
static int charge_child(void)
{
	const long long heap = 16ll << 20, rings = 8ll << 19;
	int missing = 0, fd = gt_open();
	uint32_t vm = gt_vm(fd), id;
	long long before = charged();

	if (take_heap(fd, vm, 1ull << 32, heap, &id))
		return 64;
	if (charged() - before < heap - (heap >> 3))
		missing |= 1;
	before = charged();
	for (int i = 0; i < 8; i++)
		if (gt_queue_try(fd, vm, DRM_TESSERA_ENGINE_COPY, 1, rings / 8, &id))
			return 65;
	if (charged() - before < rings - (rings >> 3))
		missing |= 2;
	before = charged();
	if (take_null(fd, vm, 1ull << 44))
		return 66;
	/* 1024 tables, each with the half that the device reads and the half that it does not. */
	if (charged() - before < 7ll << 20)
		missing |= 4;
	return missing;
}

static void charges(void)
{
	int status = -1;
	pid_t pid;

	mkdir(CGROUP, 0755);
	if (mount("none", CGROUP, "cgroup2", 0, NULL) ||
	    gt_write_file(CGROUP "/cgroup.subtree_control", "+memory")) {
		ktap_skip("this kernel has no control groups for memory");
		return;
	}
	ktap_eq(mkdir(CGROUP "/quotas", 0755), 0);
	pid = fork();
	if (!pid)
		_exit(gt_write_file(CGROUP "/quotas/cgroup.procs", "0") ? 67 : charge_child());
	ktap_eq(waitpid(pid, &status, 0), pid);
	/* With sched=engine queues have no rings of their own. */
	ktap_eq(status, gt_sched_engine() ? 2 << 8 : 0);
	ktap_eq(rmdir(CGROUP "/quotas"), 0);
	umount(CGROUP);
}

/* ---- one takes all, the other works ---- */

/* Everything a file can have. 0, or the number of what failed otherwise than by its limit. */
static int take_all(int fd)
{
	struct drm_tessera_file_limits l = limits(fd);
	uint32_t vm = 0, id;
	uint64_t i;
	int ret;

	for (i = 0; i < l.max_queues; i++) {
		vm = gt_vm(fd);
		ret = take_queue(fd, vm, &id);
		if (ret)
			return 1;
	}
	if (take_queue(fd, vm, &id) != -ENOSPC)
		return 2;
	do {
		ret = take_perfmon(fd, &id);
	} while (!ret);
	if (ret != -ENOSPC)
		return 3;
	do {
		ret = gt_bo_try(fd, GT_PAGE * 256, LOCAL_ONLY, 0, &id);
	} while (!ret);
	if (ret != -ENOSPC)
		return 4;
	for (i = 0; !ret || i == 0; i++)
		ret = take_heap(fd, vm, (i + 1) << 32, 8 * CHUNK, &id);
	if (ret != -ENOSPC)
		return 5;
	for (i = 0; !ret || i == 0; i++)
		ret = take_null(fd, vm, (i + 1) << 41);
	if (ret != -ENOSPC)
		return 6;
	do {
		ret = take_vm(fd, &id);
	} while (!ret);
	return ret == -ENOSPC ? 0 : 7;
}

static void work(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_bo local = gt_bo(c.fd, GT_PAGE, DRM_TESSERA_BO_LOCAL);
	struct drm_tessera_sync done = gt_binary(c.sync);
	volatile uint64_t *word = gt_data(&c, 0);
	struct gt_cs cs = gt_stream(&c, 8);
	uint32_t heap, queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_BIN);
	struct drm_tessera_job job;

	gt_bo_bind(&local, c.vm, 1ull << 33, GT_RW);
	*(volatile uint64_t *)local.map = 0x1234567;
	*word = 0;
	GT_EMIT(&cs, copy_linear, .src = local.va, .dst = gt_data_va(0), .size = 8);
	job = gt_job(c.queue, &cs);
	ktap_eq(take_perfmon(c.fd, &job.perfmon_id), 0);
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(*word, 0x1234567);
	ktap_eq(take_heap(c.fd, c.vm, 1ull << 34, 4 * CHUNK, &heap), 0);
	cs = gt_stream(&c, 8);
	GT_EMIT(&cs, nop, .qwords = 1);
	job = gt_job(queue, &cs);
	job.heap_id = heap;
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	gt_bo_free(&local);
	gt_ctx_free(&c);
}

static void greedy(void)
{
	int ready[2], end[2], status = -1;
	char result = 99;
	pid_t pid;

	if (gt_sched_engine()) {
		ktap_skip("it counts queue slots, which sched=engine shares");
		return;
	}
	ktap_eq(pipe(ready), 0);
	ktap_eq(pipe(end), 0);
	pid = fork();
	if (!pid) {
		close(end[1]);
		result = take_all(gt_open());
		if (write(ready[1], &result, 1) != 1 || read(end[0], &result, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(end[0]);
	close(ready[1]);
	ktap_eq(read(ready[0], &result, 1), 1);
	ktap_eq(result, 0);
	work();
	close(end[1]);
	close(ready[0]);
	ktap_eq(waitpid(pid, &status, 0), pid);
	ktap_eq(status, 0);
}

/* ---- users ---- */

#define GREEDY_FILES	10		/* opens of the user who takes everything */
#define LOCAL_CHUNK	(256ull * GT_PAGE)

/* Objects of some files, and the number of the first unexpected error. */
struct taken {
	uint32_t queues, spaces, perfmons, heaps, vms, wrong;
	uint64_t local;
};

static void refused(struct taken *t, int ret, uint32_t step)
{
	if (ret != -ENOSPC && !t->wrong)
		t->wrong = step;
}

/* A heap of one chunk of the smallest size, so that the number of heaps is the limit. */
static int take_small_heap(int fd, uint32_t vm, uint64_t va)
{
	struct drm_tessera_heap_create args = {
		.vm_id = vm, .va = va, .max_size = DRM_TESSERA_HEAP_ALIGN,
		.initial_size = DRM_TESSERA_HEAP_ALIGN, .chunk_size = DRM_TESSERA_HEAP_ALIGN,
	};

	return gt_ioctl(fd, DRM_IOCTL_TESSERA_HEAP_CREATE, &args);
}

/* Everything that the limits of the file and its user leave; each loop ends with its error. */
static void take_rest(int fd, struct taken *t)
{
	uint32_t vm = 0, next, id, n = 0;
	int ret;

	while (!(ret = take_vm(fd, &next))) {
		vm = next;
		t->vms++;
		ret = take_queue(fd, vm, &id);
		if (ret)
			break;
		t->queues++;
		t->spaces++;
		n++;
	}
	refused(t, ret, 1);
	/* A queue on an address space that the file has needs a slot only. */
	while (n && !(ret = take_queue(fd, vm, &id)))
		t->queues++;
	refused(t, ret, 2);
	for (; !(ret = take_perfmon(fd, &id)); t->perfmons++)
		;
	refused(t, ret, 3);
	while (!(ret = gt_bo_try(fd, LOCAL_CHUNK, LOCAL_ONLY, 0, &id)))
		t->local += LOCAL_CHUNK;
	refused(t, ret, 4);
	for (n = 0; vm && !(ret = take_small_heap(fd, vm, (n + 1ull) << 24)); n++)
		;
	refused(t, ret, 5);
	t->heaps += n;
}

/* A child that is user @uid, takes the rest with @files files and holds it until @end closes. */
static pid_t fork_taker(uid_t uid, unsigned int files, const int ready[2], const int end[2])
{
	pid_t pid = fork();
	struct taken t = { 0 };
	char c;

	if (pid)
		return pid;
	close(end[1]);
	if (setgid(uid) || setuid(uid))
		t.wrong = 99;
	while (!t.wrong && files--)
		take_rest(gt_open(), &t);
	if (write(ready[1], &t, sizeof(t)) != sizeof(t) || read(end[0], &c, 1) < 0)
		_exit(1);
	_exit(0);
}

/* True if processes of other users can open the node; false under tsr-host, where it is root's. */
static bool let_users_open(void)
{
	char path[64];

	return gt_node_path(0, true, path, sizeof(path)) && !chmod(path, 0666);
}

/* One user, with any number of files, leaves another user a quarter of each object. */
static void two_users(void)
{
	int fd = gt_open(), ready[2], end[2], status = -1;
	const uint64_t local = gt_gpu_info(fd).local_size;
	struct drm_tessera_file_limits l = limits(fd);
	struct taken first = { .wrong = 98 }, second = { .wrong = 98 };
	pid_t pid[2];

	if (gt_sched_engine()) {
		ktap_skip("it counts queue slots, which sched=engine shares");
		return;
	}
	close(fd);
	if (!let_users_open()) {
		ktap_skip("the mode of the render node cannot be changed here");
		return;
	}
	ktap_eq(pipe(ready), 0);
	ktap_eq(pipe(end), 0);
	pid[0] = fork_taker(1001, GREEDY_FILES, ready, end);
	ktap_eq(read(ready[0], &first, sizeof(first)), sizeof(first));
	pid[1] = fork_taker(1002, 1, ready, end);
	ktap_eq(read(ready[0], &second, sizeof(second)), sizeof(second));
	close(end[0]);
	close(end[1]);
	for (int i = 0; i < 2; i++) {
		ktap_eq(waitpid(pid[i], &status, 0), pid[i]);
		ktap_eq(status, 0);
	}
	close(ready[0]);
	close(ready[1]);

	ktap_eq(first.wrong, 0);
	ktap_eq(first.queues, TSR_QUEUES_MAX * 3 / 4);
	ktap_eq(first.spaces, TSR_QUEUES_MAX * 3 / 4);
	ktap_eq(first.perfmons, 3 * l.max_perfmons);
	ktap_eq(first.local, local * 3 / 4 / LOCAL_CHUNK * LOCAL_CHUNK);
	ktap_eq(first.heaps, 3 * l.max_heaps);
	ktap_eq(second.wrong, 0);
	ktap_eq(second.queues, TSR_QUEUES_MAX / 4);
	ktap_eq(second.spaces, TSR_QUEUES_MAX / 4);
	ktap_eq(second.perfmons, l.max_perfmons);
	ktap_eq(second.heaps, l.max_heaps);
	ktap_ok(second.local >= local / 4 - LOCAL_CHUNK);
	ktap_ok(second.vms >= second.spaces);
}

/* VMs: the limits of a user and of a file are independent of the device's address spaces. */
static void vms_of_a_user(void)
{
	uint32_t max, n = 0, id;
	int fd[5], other, ret = 0;

	for (int i = 0; i < 5; i++) {
		fd[i] = gt_open_as(1001);
		while (!(ret = take_vm(fd[i], &id)))
			n++;
		ktap_eq(ret, -ENOSPC);
	}
	max = limits(fd[0]).max_vms;
	ktap_eq(n, 3 * max);
	other = gt_open_as(1002);
	for (n = 0; n < max; n++)
		ktap_eq(take_vm(other, &id), 0);
	/* Closing a file frees its objects for the user's other files at once. */
	close(fd[0]);
	ktap_eq(take_vm(fd[4], &id), 0);
	for (int i = 1; i < 5; i++)
		close(fd[i]);
	close(other);
}

/* Memory that outlives its file stays charged to the user who created it. */
static void outlives_its_file(void)
{
	int fd = gt_open_as(1001), other = gt_open_as(1002);
	const uint64_t max = limits(fd).max_local_memory, left = gt_gpu_info(fd).local_size / 4;
	struct drm_prime_handle export = { .flags = O_CLOEXEC };
	uint32_t handle;

	ktap_eq(gt_bo_try(fd, max, LOCAL_ONLY, 0, &export.handle), 0);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &export), 0);
	close(fd);
	fd = gt_open_as(1001);
	ktap_eq(limits(fd).local_memory, 0);
	ktap_eq(gt_bo_try(fd, left + GT_PAGE, LOCAL_ONLY, 0, &handle), -ENOSPC);
	ktap_eq(gt_bo_try(fd, left, LOCAL_ONLY, 0, &handle), 0);
	ktap_eq(gt_gem_close(fd, handle), 0);
	/* The buffer is not charged to another user who has the device open. */
	ktap_eq(gt_bo_try(other, left + GT_PAGE, LOCAL_ONLY, 0, &handle), 0);
	close(other);
	close(export.fd);
	ktap_eq(gt_bo_try(fd, max, LOCAL_ONLY, 0, &handle), 0);
	close(fd);
}

/* One file with @each queues of every class on one VM. */
static int open_client(unsigned int each, unsigned int classes)
{
	int fd = gt_open_as(1001);
	uint32_t vm, id;

	ktap_eq(take_vm(fd, &vm), 0);
	for (unsigned int class = 0; class < classes; class++)
		for (unsigned int i = 0; i < each; i++)
			ktap_eq(gt_queue_try(fd, vm, class, DRM_TESSERA_PRIORITY_NORMAL, 0, &id),
				0);
	ktap_eq(take_heap(fd, vm, 1ull << 32, CHUNK, &id), 0);
	return fd;
}

/* A compositor and eight programs that draw, and one with three queues of each class. */
static void desktop(void)
{
	int fd[10], n = 0;

	if (gt_sched_engine()) {
		ktap_skip("it counts queue slots, which sched=engine shares");
		return;
	}
	for (; n < 9; n++)
		fd[n] = open_client(1, DRM_TESSERA_ENGINE_COMPUTE + 1);
	fd[n++] = open_client(3, DRM_TESSERA_ENGINE_COPY + 1);
	while (n--)
		close(fd[n]);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("[SYS3] DEV_QUERY FILE_LIMITS says what a file may have", query);
	ktap_run("VMs: as many as the file may, kept ones count, and again", vms);
	ktap_run("queues: as many as the file may, and again", queues);
	ktap_run("perfmons: as many as the file may, and again", perfmons);
	ktap_run("heaps: as many, and as much memory, as the file may", heaps);
	ktap_run("[MEM1] local memory: as much as the file may, and again", local_memory);
	ktap_run("[MEM2] page tables: as much as the file may, and again", page_tables);
	ktap_run("fdinfo shows heaps, rings and page tables", shows_in_fdinfo);
	ktap_run("heaps, rings and page tables are charged to the control group", charges);
	ktap_run("[SYS4] a process that takes all it may leaves another one able to work", greedy);
	ktap_run("[SYS4] a user with many files leaves another user a quarter", two_users);
	ktap_run("VMs of a user: three times those of a file", vms_of_a_user);
	ktap_run("memory that outlives its file stays charged to its user", outlives_its_file);
	ktap_run("one user runs a compositor, eight programs and one with many queues", desktop);
	return gt_finish();
}
