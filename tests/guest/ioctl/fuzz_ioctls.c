// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 SMP=2 DEVICES=2 */
/*
 * Random ioctls, mostly well-formed: each field is drawn from values that are valid, nearly valid
 * or absurd, ids from those that exist or once did. Processes and threads with different seeds run
 * at once, in files of their own and in one they share; files are closed and processes end under
 * calls that are on their way. What must hold: no error but those the header names, the kernel's
 * log stays clean, nobody hangs or dies, and afterwards the device works.
 *
 * `fuzz_ioctls SEED [ROUNDS]` repeats the round with that seed, and those that follow it; what
 * threads do to each other depends on time as well. kernel/tests/syzkaller/ has the same grammar
 * for syzkaller.
 */
#include "gt_main.h"
#include "gt_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#define HEAP_VA		0x50000000ULL
#define CHILDREN	3
#define THREADS		2	/* of the children that have a file in common */
#define MAX_IDS		16
#define MAPS		4
#define IOCTLS		32	/* numbers that are tried */
#define ROUND_CALLS	1000	/* of each thread, between two looks at the kernel's log */

/* Ids of the objects of a file. Stale ids stay here on purpose. */
struct ids {
	_Atomic uint32_t vms[MAX_IDS], queues[MAX_IDS], bos[MAX_IDS], syncs[MAX_IDS];
	_Atomic uint32_t heaps[MAX_IDS], perfmons[MAX_IDS];
};

/* A caller: a thread, or a process with one thread. */
struct state {
	int fd;
	uint64_t random;
	struct ids *ids;
	struct gt_bo stream;		/* one buffer with valid streams, mapped in every new VM */
	void *maps[MAPS];		/* of BOs that may be gone by now */
	unsigned int calls;
};

/* How often each ioctl was called and succeeded, whoever did it. */
static struct tally {
	_Atomic unsigned int calls, worked;
} *tally;

static uint32_t rnd(struct state *s, uint32_t below)
{
	s->random = s->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (s->random >> 33) % below;
}

static bool one_in(struct state *s, uint32_t n)
{
	return !rnd(s, n);
}

/* A value that may upset arithmetic. */
static uint64_t odd_value(struct state *s)
{
	static const uint64_t values[] = {
		0,	    1,
		3,	    7,
		8,	    63,
		64,	    0xfff,
		0x1000,	    0x1001,
		0x1fffff,   0x200000,
		INT32_MAX,  1ULL << 31,
		UINT32_MAX, 1ULL << 32,
		1ULL << 47, 1ULL << 48,
		1ULL << 57, INT64_MAX,
		1ULL << 63, UINT64_MAX - 0xfff,
		UINT64_MAX,
	};

	return values[rnd(s, GT_ARRAY_SIZE(values))];
}

/* An id that exists or did; now and then somebody else's, or none at all. */
static uint32_t pick(struct state *s, _Atomic uint32_t *ids)
{
	if (one_in(s, 20))
		return one_in(s, 2) ? odd_value(s) : 1 + rnd(s, 24);
	return ids[rnd(s, MAX_IDS)];
}

/* Put @id in a random place of @ids and return what was there, for the caller to drop. */
static uint32_t keep(struct state *s, _Atomic uint32_t *ids, uint32_t id)
{
	return atomic_exchange(&ids[rnd(s, MAX_IDS)], id);
}

static uint64_t random_va(struct state *s)
{
	if (one_in(s, 12))
		return odd_value(s);
	return 0x10000000 + (uint64_t)rnd(s, 64) * (one_in(s, 4) ? GT_HUGE : GT_PAGE);
}

static uint64_t random_size(struct state *s)
{
	if (one_in(s, 12))
		return odd_value(s);
	return (uint64_t)(1 + rnd(s, 8)) * (one_in(s, 6) ? GT_HUGE : GT_PAGE);
}

static uint32_t flags_or_odd(struct state *s, uint32_t flags)
{
	return one_in(s, 25) ? odd_value(s) : flags;
}

static atomic_bool closing;	/* this process has closed its file, its other thread may notice */

/* Every error an ioctl may answer with, by the header's rules. */
static bool documented(int ret)
{
	static const int errors[] = {
		0, -EFAULT, -EINVAL, -ENOENT, -E2BIG, -ENOMEM, -EACCES, -EBUSY, -ECANCELED,
		-ENOSPC, -EOPNOTSUPP, -EPERM,
	};
	unsigned int i;

	for (i = 0; i < GT_ARRAY_SIZE(errors); i++) {
		if (ret == errors[i])
			return true;
	}
	return false;
}

static int call(struct state *s, unsigned long request, void *arg)
{
	unsigned int nr = (request & 0xff) - DRM_COMMAND_BASE;
	int ret = gt_ioctl(s->fd, request, arg);

	s->calls++;
	tally[nr].calls++;
	tally[nr].worked += ret == 0;
	if (!documented(ret) && !(ret == -EBADF && atomic_load(&closing))) {
		printf("# ioctl %u fails with error %d\n", nr, ret);
		fflush(stdout);
		_exit(3);
	}
	return ret;
}

/* An array of syncs; now and then one with a bad stride, count or pointer. */
static struct drm_tessera_array random_syncs(struct state *s, struct drm_tessera_sync *syncs,
					     unsigned int max)
{
	unsigned int n = one_in(s, 2) ? 0 : rnd(s, max + 1), i;
	struct drm_tessera_array array;

	for (i = 0; i < n; i++) {
		bool timeline = one_in(s, 2);

		syncs[i] = (struct drm_tessera_sync){
			.type = timeline,
			.handle = pick(s, s->ids->syncs),
			.point = timeline ? 1 + rnd(s, 50) : 0,
			.flags = flags_or_odd(s, 0),
		};
	}
	array = GT_ARRAY(syncs, n);
	if (one_in(s, 25))
		array.stride = odd_value(s);
	if (one_in(s, 25))
		array.count = odd_value(s);
	if (one_in(s, 25))
		array.ptr = odd_value(s);
	return array;
}

static void do_vm_create(struct state *s)
{
	struct drm_tessera_vm_create arg = { .flags = flags_or_odd(s, 0) };
	struct drm_tessera_bind_op op =
		gt_op_map(s->stream.handle, GT_CMD_VA, s->stream.size, 0, GT_RWX);

	if (!call(s, DRM_IOCTL_TESSERA_VM_CREATE, &arg)) {
		gt_vm_destroy(s->fd, keep(s, s->ids->vms, arg.vm_id));
		gt_vm_bind(s->fd, arg.vm_id, &op, 1);
	}
}

static void do_vm_destroy(struct state *s)
{
	struct drm_tessera_vm_destroy arg = { .vm_id = pick(s, s->ids->vms),
					      .pad = flags_or_odd(s, 0) };

	call(s, DRM_IOCTL_TESSERA_VM_DESTROY, &arg);
}

static void do_vm_bind(struct state *s)
{
	struct drm_tessera_bind_op ops[6];
	struct drm_tessera_sync waits[3], signals[3];
	unsigned int n = rnd(s, 7), i;
	struct drm_tessera_vm_bind arg = { .vm_id = pick(s, s->ids->vms) };

	for (i = 0; i < n; i++) {
		ops[i] = (struct drm_tessera_bind_op){
			.op = rnd(s, 4), .va = random_va(s), .size = random_size(s),
		};
		if (ops[i].op == DRM_TESSERA_BIND_MAP) {
			ops[i].flags = flags_or_odd(s, 1 + rnd(s, 7));
			ops[i].bo_handle = pick(s, s->ids->bos);
			ops[i].bo_offset = one_in(s, 3) ? random_size(s) : 0;
		} else if (ops[i].op == DRM_TESSERA_BIND_UNMAP_BO) {
			ops[i] = (struct drm_tessera_bind_op){ .op = DRM_TESSERA_BIND_UNMAP_BO,
							       .bo_handle = pick(s, s->ids->bos) };
		}
	}
	arg.ops = GT_ARRAY(ops, n);
	if (one_in(s, 2)) {
		arg.flags = flags_or_odd(s, DRM_TESSERA_VM_BIND_ASYNC);
		arg.waits = random_syncs(s, waits, 3);
		arg.signals = random_syncs(s, signals, 3);
	}
	if (one_in(s, 40))
		arg.ops.count = odd_value(s);
	if (one_in(s, 40))
		arg.ops.stride = odd_value(s);
	call(s, DRM_IOCTL_TESSERA_VM_BIND, &arg);
}

static void do_bo(struct state *s)
{
	struct drm_tessera_bo_create arg = {
		.size = one_in(s, 10) ? odd_value(s) : random_size(s),
		.flags = flags_or_odd(s, rnd(s, 8)),
		.vm_id = one_in(s, 4) ? pick(s, s->ids->vms) : 0,
	};
	uint32_t old = pick(s, s->ids->bos);

	/* Other tests allocate more than the machine has. Here the OOM killer would end the run. */
	if (arg.size > 2 * GT_HUGE && arg.size < 1ULL << 40)
		arg.size = 2 * GT_HUGE;
	if (one_in(s, 2))
		gt_gem_close(s->fd, old);
	if (!call(s, DRM_IOCTL_TESSERA_BO_CREATE, &arg))
		gt_gem_close(s->fd, keep(s, s->ids->bos, arg.handle));
}

/* Have the kernel look at a page, which answers EFAULT where the CPU would get a signal. */
static void touch(struct state *s, void *page)
{
	static int zero = -1;

	if (zero < 0)
		zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (page && read(zero, (char *)page + 64 * rnd(s, 64), 64) != 64 && errno != EFAULT)
		gt_die("/dev/zero: %s", strerror(errno));
}

/* Mappings outlive handles, what they show may be purged, and children inherit them. */
static void do_map(struct state *s)
{
	struct drm_tessera_bo_mmap_offset offset = { .handle = pick(s, s->ids->bos),
						     .flags = flags_or_odd(s, 0) };
	void **place = &s->maps[rnd(s, MAPS)], *map;

	touch(s, *place);
	if (call(s, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset))
		return;
	map = mmap(NULL, GT_PAGE, one_in(s, 4) ? PROT_READ : PROT_READ | PROT_WRITE,
		   one_in(s, 8) ? MAP_PRIVATE : MAP_SHARED, s->fd, offset.offset);
	if (map == MAP_FAILED)
		return;
	if (*place)
		munmap(*place, GT_PAGE);
	*place = map;
	touch(s, map);
}

static void do_share(struct state *s)
{
	uint32_t handle;
	int dmabuf;

	if (drmPrimeHandleToFD(s->fd, pick(s, s->ids->bos), DRM_CLOEXEC, &dmabuf))
		return;
	if (!drmPrimeFDToHandle(s->fd, dmabuf, &handle))
		gt_gem_close(s->fd, keep(s, s->ids->bos, handle));
	close(dmabuf);
}

static void do_bo_use(struct state *s)
{
	struct drm_tessera_bo_set_label label = { .handle = pick(s, s->ids->bos),
						  .label = gt_ptr("fuzz"),
						  .pad = flags_or_odd(s, 0) };
	struct drm_tessera_bo_info info = { .handle = pick(s, s->ids->bos) };
	struct drm_tessera_bo_madvise advice = { .handle = pick(s, s->ids->bos),
						 .madv = flags_or_odd(s, rnd(s, 2)) };

	call(s, DRM_IOCTL_TESSERA_BO_INFO, &info);
	if (one_in(s, 8))
		label.label = odd_value(s);
	call(s, DRM_IOCTL_TESSERA_BO_SET_LABEL, &label);
	if (one_in(s, 3))
		call(s, DRM_IOCTL_TESSERA_BO_MADVISE, &advice);
	do_map(s);
	if (one_in(s, 4))
		do_share(s);
}

static void do_heap(struct state *s)
{
	uint32_t chunk = one_in(s, 12) ? odd_value(s) : 0x10000u << rnd(s, 2);
	struct drm_tessera_heap_create create = {
		.vm_id = pick(s, s->ids->vms),
		.flags = flags_or_odd(s, 0),
		.va = one_in(s, 12) ? odd_value(s) : HEAP_VA + rnd(s, 8) * GT_HUGE,
		.max_size = one_in(s, 12) ? odd_value(s) : 4ULL * chunk,
		.initial_size = one_in(s, 12) ? odd_value(s) : (uint64_t)chunk * rnd(s, 3),
		.chunk_size = chunk,
	};
	struct drm_tessera_heap_destroy destroy = { .heap_id = pick(s, s->ids->heaps),
						    .pad = flags_or_odd(s, 0) };

	if (!call(s, DRM_IOCTL_TESSERA_HEAP_CREATE, &create)) {
		struct drm_tessera_heap_destroy old = {
			.heap_id = keep(s, s->ids->heaps, create.heap_id),
		};

		call(s, DRM_IOCTL_TESSERA_HEAP_DESTROY, &old);
	}
	if (one_in(s, 3))
		call(s, DRM_IOCTL_TESSERA_HEAP_DESTROY, &destroy);
}

/* Counters are numbered from 0; a perfmon is read with as many values as it may have. */
static void do_perfmon(struct state *s)
{
	uint32_t counters[] = { rnd(s, 8), 8 + rnd(s, 8), 16 + rnd(s, 16) }, n = rnd(s, 4);
	uint64_t values[4];
	struct drm_tessera_perfmon_create create = {
		.counters = GT_ARRAY(counters, one_in(s, 20) ? odd_value(s) : n),
		.flags = flags_or_odd(s, 0),
	};
	struct drm_tessera_perfmon_read read = {
		.perfmon_id = pick(s, s->ids->perfmons),
		.flags = flags_or_odd(s, rnd(s, 2)),
		.values = GT_ARRAY(values, 1 + rnd(s, 3)),
	};
	struct drm_tessera_perfmon_destroy destroy = { .perfmon_id = pick(s, s->ids->perfmons),
						       .pad = flags_or_odd(s, 0) };

	if (!call(s, DRM_IOCTL_TESSERA_PERFMON_CREATE, &create)) {
		struct drm_tessera_perfmon_destroy old = {
			.perfmon_id = keep(s, s->ids->perfmons, create.perfmon_id),
		};

		call(s, DRM_IOCTL_TESSERA_PERFMON_DESTROY, &old);
	}
	call(s, DRM_IOCTL_TESSERA_PERFMON_READ, &read);
	if (one_in(s, 3))
		call(s, DRM_IOCTL_TESSERA_PERFMON_DESTROY, &destroy);
}

static void do_queue(struct state *s)
{
	struct drm_tessera_queue_create create = {
		.vm_id = pick(s, s->ids->vms),
		.engine_class = one_in(s, 20) ? odd_value(s) : rnd(s, 4),
		.priority = flags_or_odd(s, rnd(s, 3)),
		.ring_size = one_in(s, 3) ? odd_value(s) : 0,
		.flags = flags_or_odd(s, 0),
	};
	struct drm_tessera_queue_destroy destroy = { .queue_id = pick(s, s->ids->queues),
						     .pad = flags_or_odd(s, 0) };
	struct drm_tessera_queue_get_state state = { .queue_id = pick(s, s->ids->queues) };

	if (!call(s, DRM_IOCTL_TESSERA_QUEUE_CREATE, &create)) {
		gt_queue_destroy(s->fd, keep(s, s->ids->queues, create.queue_id));
	}
	if (one_in(s, 6))
		call(s, DRM_IOCTL_TESSERA_QUEUE_DESTROY, &destroy);
	call(s, DRM_IOCTL_TESSERA_QUEUE_GET_STATE, &state);
}

static void do_submit(struct state *s)
{
	struct drm_tessera_job jobs[5];
	struct drm_tessera_sync waits[5][2], signals[5][2];
	unsigned int n = rnd(s, 6), i;
	struct drm_tessera_submit arg = { .flags = flags_or_odd(s, 0) };
	uint32_t queue = pick(s, s->ids->queues);

	for (i = 0; i < n; i++) {
		jobs[i] = (struct drm_tessera_job){
			.queue_id = one_in(s, 6) ? pick(s, s->ids->queues) : queue,
			.cmd_va = one_in(s, 10) ? odd_value(s)
				: one_in(s, 80) ? GT_ENDLESS_VA
						: GT_CMD_VA + 64 * rnd(s, 5),
			.cmd_size = 64,
			.after = one_in(s, 4) ? odd_value(s)
				 : i	      ? rnd(s, 1 << i)
					      : 0,
			.waits = random_syncs(s, waits[i], 2),
			.signals = random_syncs(s, signals[i], 2),
		};
		if (one_in(s, 10)) {
			jobs[i].cmd_va = 0;
			jobs[i].cmd_size = 0;
		}
		if (one_in(s, 8))
			jobs[i].heap_id = pick(s, s->ids->heaps);
		if (one_in(s, 4))
			jobs[i].perfmon_id = pick(s, s->ids->perfmons);
	}
	arg.jobs = GT_ARRAY(jobs, n);
	if (one_in(s, 40))
		arg.jobs.count = odd_value(s);
	call(s, DRM_IOCTL_TESSERA_SUBMIT, &arg);
}

static void do_sync(struct state *s)
{
	uint32_t handle;

	if (drmSyncobjCreate(s->fd, one_in(s, 2) ? DRM_SYNCOBJ_CREATE_SIGNALED : 0, &handle))
		return;
	drmSyncobjDestroy(s->fd, keep(s, s->ids->syncs, handle));
	if (one_in(s, 2))
		gt_syncobj_signal(s->fd, pick(s, s->ids->syncs), rnd(s, 40));
	if (one_in(s, 4))
		drmSyncobjTransfer(s->fd, pick(s, s->ids->syncs), rnd(s, 40),
				   pick(s, s->ids->syncs), rnd(s, 40), 0);
	if (one_in(s, 4))
		gt_syncobj_wait(s->fd, pick(s, s->ids->syncs), rnd(s, 40), rnd(s, 3));
}

static void do_queries(struct state *s)
{
	unsigned char buffer[512];
	struct drm_tessera_fault faults[4];
	struct drm_tessera_dev_query query = {
		.type = flags_or_odd(s, rnd(s, 5)),
		.size = one_in(s, 6) ? odd_value(s) & 0xffff : sizeof(buffer),
		.ptr = one_in(s, 6) ? odd_value(s) : gt_ptr(buffer),
		.stride = one_in(s, 2) ? rnd(s, 64) : 0,
	};
	struct drm_tessera_vm_get_state state = { .vm_id = pick(s, s->ids->vms),
						  .faults = GT_ARRAY(faults, rnd(s, 5)) };
	struct drm_tessera_get_timestamp stamp = { .clock_id = flags_or_odd(s, CLOCK_MONOTONIC) };

	if (query.size > sizeof(buffer) && query.ptr == gt_ptr(buffer))
		query.size = sizeof(buffer);
	call(s, DRM_IOCTL_TESSERA_DEV_QUERY, &query);
	call(s, DRM_IOCTL_TESSERA_VM_GET_STATE, &state);
	call(s, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &stamp);
}

/* Raw noise: any driver ioctl number with any bytes, any size. */
static void do_noise(struct state *s)
{
	unsigned char arg[128];
	unsigned int nr = rnd(s, 32), i;

	for (i = 0; i < sizeof(arg); i++)
		arg[i] = one_in(s, 3) ? 0 : rnd(s, 256);
	gt_ioctl_sized(s->fd, DRM_IOWR(DRM_COMMAND_BASE + nr, char[8]), arg, 8 * (1 + rnd(s, 16)));
}

/* A file to work in, with its buffer of streams. */
static struct state start(int fd, struct ids *ids)
{
	struct state s = { .fd = fd, .ids = ids, .stream = gt_bo(fd, GT_STREAMS_SIZE, 0) };

	gt_write_streams(s.stream.map);
	return s;
}

static void act(struct state *s)
{
	static void (*const actions[])(struct state *) = {
		do_vm_create, do_vm_destroy, do_vm_bind, do_vm_bind, do_vm_bind, do_bo,
		do_bo,	      do_bo_use,     do_queue,	 do_queue,   do_submit,	 do_submit,
		do_submit,    do_submit,     do_sync,	 do_sync,    do_queries, do_noise,
		do_heap,      do_perfmon,
	};

	actions[rnd(s, GT_ARRAY_SIZE(actions))](s);
}

/* Goes on until the process ends, whatever call it is in then. */
static void *rival(void *arg)
{
	for (;;)
		act(arg);
	return NULL;
}

/* One process; @threads of them work in its file. */
static int child(struct state s, uint64_t seed, unsigned int threads)
{
	struct state other = s;
	pthread_t thread;
	unsigned int i;

	s.random = seed;
	other.random = seed + 1;
	for (i = 0; i < 4; i++)
		do_vm_create(&s);
	if (threads > 1 && pthread_create(&thread, NULL, rival, &other))
		gt_die("no thread");
	while (s.calls < ROUND_CALLS)
		act(&s);
	if (one_in(&s, 2)) {
		atomic_store(&closing, true);
		close(s.fd);
	}
	return 0;
}

/*
 * A round: one process with a file of its own, which does what its seed says and nothing else, and
 * two that share a file and its ids and have two threads each, which find races.
 */
static bool fuzz_round(uint64_t seed, struct ids *ids)
{
	struct state shared;
	pid_t pids[CHILDREN];
	bool good = true;
	unsigned int i;

	memset(ids, 0, CHILDREN * sizeof(*ids));
	shared = start(gt_open(), &ids[1]);
	for (i = 0; i < CHILDREN; i++) {
		fflush(stdout);
		pids[i] = fork();
		if (pids[i])
			continue;
		if (i)
			_exit(child(shared, seed + THREADS * i, THREADS));
		_exit(child(start(gt_open(), &ids[0]), seed, 1));
	}
	for (i = 0; i < CHILDREN; i++) {
		int status = -1;

		waitpid(pids[i], &status, 0);
		good &= ktap_eq(status, 0);
	}
	gt_bo_free(&shared.stream);
	close(shared.fd);
	return good;
}

static uint64_t base_seed = 20261120;
static unsigned int rounds;	/* 0: until the time is over */

/* Kernels of our own look at more; what is found there is worth more time. */
static unsigned int seconds(void)
{
	struct utsname name;
	unsigned int time;

	uname(&name);
	time = strstr(name.release, "-tessera-") ? 60 : 4;
	return getenv("TSR_QUICK") ? time : 10 * time;
}

static void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		gt_die("no memory: %s", strerror(errno));
	return memory;
}

static void fuzz(void)
{
	uint64_t end = gt_now_ns() + seconds() * 1000000000ULL, seed = base_seed;
	struct ids *ids = shared_memory(CHILDREN * sizeof(*ids));
	unsigned int round, calls = 0, i;
	unsigned long long first = base_seed;
	char line[300];

	tally = shared_memory(IOCTLS * sizeof(*tally));
	for (round = 0; rounds ? round < rounds : gt_now_ns() < end; round++) {
		bool good = fuzz_round(seed, ids);

		if (gt_kmsg_bad(gt_kmsg_fd, line, sizeof(line)))
			good = ktap_fail("the kernel log says: %s", line);
		if (!good) {
			ktap_note("repeat it with `fuzz_ioctls %llu`", (unsigned long long)seed);
			break;
		}
		seed += CHILDREN * THREADS;
	}
	for (i = 0; i < IOCTLS; i++)
		calls += tally[i].calls;
	ktap_note("%u rounds from seed %llu, %u calls", round, first, calls);
	munmap(ids, CHILDREN * sizeof(*ids));
}

/* An ioctl whose calls all fail has not been tested much. */
static void all_of_them(void)
{
	unsigned int nr, known = 0;
	int fd = gt_open();

	if (rounds) {
		ktap_skip("too few calls to tell");
		close(fd);
		return;
	}
	for (nr = 0; nr < IOCTLS; nr++) {
		if (gt_ioctl(fd, DRM_IOWR(DRM_COMMAND_BASE + nr, char[8]), NULL) != -EFAULT)
			continue;
		known++;
		ktap_note("ioctl %2u: %u calls, %u worked", nr, tally[nr].calls, tally[nr].worked);
		ktap_ok(tally[nr].worked > 0);
	}
	ktap_eq(known, DRM_TESSERA_PERFMON_READ + 1);
	close(fd);
}

static void still_works(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_cs cs = gt_stream(&c, 3);

	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0), .value = 31);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_eq(*(volatile uint64_t *)gt_data(&c, 0), 31);
	ktap_eq(gt_gpu_state(c.fd).flags, 0);
	gt_ctx_free(&c);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		base_seed = strtoull(argv[1], NULL, 0);
		rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	}
	gt_start(1, argv);
	ktap_run("[SYS3] random ioctls from processes and threads", fuzz);
	ktap_run("[SYS9] each ioctl was among them, and has worked", all_of_them);
	ktap_run("the device works after random ioctls", still_works);
	return gt_finish();
}
