// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * Random ioctls, mostly well-formed: each field is drawn from values that are valid, nearly valid
 * or absurd, ids from those that exist or once did. Children with different seeds run at once on
 * files of their own. What must hold: the kernel log stays clean, nobody hangs or dies, and
 * afterwards the device works. The seed is printed; `fuzz_ioctls SEED` repeats it.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#define CHILDREN	3
#define MAX_IDS		16

/* What a child has made, as far as it remembers; stale ids stay in the arrays on purpose. */
struct state {
	int fd;
	uint64_t random;
	uint32_t vms[MAX_IDS], queues[MAX_IDS], bos[MAX_IDS], syncs[MAX_IDS];
	struct gt_bo stream;		/* one buffer with valid streams, mapped in every new VM */
	uint64_t calls, worked;
};

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

static uint32_t pick(struct state *s, const uint32_t *ids)
{
	return one_in(s, 20) ? odd_value(s) : ids[rnd(s, MAX_IDS)];
}

/* Put @id in a random place of @ids and return what was there, for the caller to drop. */
static uint32_t keep(struct state *s, uint32_t *ids, uint32_t id)
{
	uint32_t *place = &ids[rnd(s, MAX_IDS)], old = *place;

	*place = id;
	return old;
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

static int call(struct state *s, unsigned long request, void *arg)
{
	int ret = gt_ioctl(s->fd, request, arg);

	s->calls++;
	s->worked += ret == 0;
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
			.handle = pick(s, s->syncs),
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
		gt_vm_destroy(s->fd, keep(s, s->vms, arg.vm_id));
		gt_vm_bind(s->fd, arg.vm_id, &op, 1);
	}
}

static void do_vm_destroy(struct state *s)
{
	struct drm_tessera_vm_destroy arg = { .vm_id = pick(s, s->vms), .pad = flags_or_odd(s, 0) };

	call(s, DRM_IOCTL_TESSERA_VM_DESTROY, &arg);
}

static void do_vm_bind(struct state *s)
{
	struct drm_tessera_bind_op ops[6];
	struct drm_tessera_sync waits[3], signals[3];
	unsigned int n = rnd(s, 7), i;
	struct drm_tessera_vm_bind arg = { .vm_id = pick(s, s->vms) };

	for (i = 0; i < n; i++) {
		ops[i] = (struct drm_tessera_bind_op){
			.op = rnd(s, 4), .va = random_va(s), .size = random_size(s),
		};
		if (ops[i].op == DRM_TESSERA_BIND_MAP) {
			ops[i].flags = flags_or_odd(s, 1 + rnd(s, 7));
			ops[i].bo_handle = pick(s, s->bos);
			ops[i].bo_offset = one_in(s, 3) ? random_size(s) : 0;
		} else if (ops[i].op == DRM_TESSERA_BIND_UNMAP_BO) {
			ops[i] = (struct drm_tessera_bind_op){ .op = DRM_TESSERA_BIND_UNMAP_BO,
							       .bo_handle = pick(s, s->bos) };
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
		.vm_id = one_in(s, 4) ? pick(s, s->vms) : 0,
	};
	uint32_t old = pick(s, s->bos);

	/* What the machine does not have is tested elsewhere, and would end in the OOM killer. */
	if (arg.size > 2 * GT_HUGE && arg.size < 1ULL << 40)
		arg.size = 2 * GT_HUGE;
	if (one_in(s, 2))
		gt_gem_close(s->fd, old);
	if (!call(s, DRM_IOCTL_TESSERA_BO_CREATE, &arg))
		gt_gem_close(s->fd, keep(s, s->bos, arg.handle));
}

static void do_bo_use(struct state *s)
{
	struct drm_tessera_bo_mmap_offset offset = { .handle = pick(s, s->bos),
						     .flags = flags_or_odd(s, 0) };
	struct drm_tessera_bo_set_label label = { .handle = pick(s, s->bos),
						  .label = gt_ptr("fuzz") };
	struct drm_tessera_bo_info info = { .handle = pick(s, s->bos) };
	void *map;
	int dmabuf;

	call(s, DRM_IOCTL_TESSERA_BO_INFO, &info);
	if (one_in(s, 8))
		label.label = odd_value(s);
	call(s, DRM_IOCTL_TESSERA_BO_SET_LABEL, &label);
	if (!call(s, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset)) {
		map = mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, offset.offset);
		if (map != MAP_FAILED) {
			memset(map, 0x5a, 64);
			munmap(map, GT_PAGE);
		}
	}
	if (one_in(s, 4) && !drmPrimeHandleToFD(s->fd, pick(s, s->bos), DRM_CLOEXEC, &dmabuf)) {
		uint32_t handle;

		if (!drmPrimeFDToHandle(s->fd, dmabuf, &handle))
			gt_gem_close(s->fd, keep(s, s->bos, handle));
		close(dmabuf);
	}
}

static void do_queue(struct state *s)
{
	struct drm_tessera_queue_create create = {
		.vm_id = pick(s, s->vms),
		.engine_class = one_in(s, 20) ? odd_value(s) : rnd(s, 4),
		.priority = flags_or_odd(s, rnd(s, 3)),
		.ring_size = one_in(s, 3) ? odd_value(s) : 0,
		.flags = flags_or_odd(s, 0),
	};
	struct drm_tessera_queue_destroy destroy = { .queue_id = pick(s, s->queues),
						     .pad = flags_or_odd(s, 0) };
	struct drm_tessera_queue_get_state state = { .queue_id = pick(s, s->queues) };

	if (!call(s, DRM_IOCTL_TESSERA_QUEUE_CREATE, &create)) {
		gt_queue_destroy(s->fd, keep(s, s->queues, create.queue_id));
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
	uint32_t queue = pick(s, s->queues);

	for (i = 0; i < n; i++) {
		jobs[i] = (struct drm_tessera_job){
			.queue_id = one_in(s, 6) ? pick(s, s->queues) : queue,
			.cmd_va = one_in(s, 10) ? odd_value(s) : GT_CMD_VA + 64 * rnd(s, 5),
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
		if (one_in(s, 40))
			jobs[i].heap_id = odd_value(s);
	}
	arg.jobs = GT_ARRAY(jobs, n);
	if (one_in(s, 40))
		arg.jobs.count = odd_value(s);
	call(s, DRM_IOCTL_TESSERA_SUBMIT, &arg);
}

static void do_sync(struct state *s)
{
	uint32_t *place = &s->syncs[rnd(s, MAX_IDS)];

	drmSyncobjDestroy(s->fd, *place);
	*place = gt_syncobj(s->fd, one_in(s, 2));
	if (one_in(s, 2))
		gt_syncobj_signal(s->fd, *place, rnd(s, 40));
}

static void do_queries(struct state *s)
{
	unsigned char buffer[512];
	struct drm_tessera_fault faults[4];
	struct drm_tessera_dev_query query = {
		.type = flags_or_odd(s, rnd(s, 4)),
		.size = one_in(s, 6) ? odd_value(s) & 0xffff : sizeof(buffer),
		.ptr = one_in(s, 6) ? odd_value(s) : gt_ptr(buffer),
		.stride = one_in(s, 2) ? rnd(s, 64) : 0,
	};
	struct drm_tessera_vm_get_state state = { .vm_id = pick(s, s->vms),
						  .faults = GT_ARRAY(faults, rnd(s, 5)) };
	struct drm_tessera_get_timestamp stamp = { .clock_id = odd_value(s) };

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

/*
 * Streams the fuzzer submits: fine, faulting, malformed, with a wait that holds, and a long copy
 * over its own buffer.
 */
static void write_streams(struct state *s)
{
	struct gt_cs cs = { .words = s->stream.map, .va = GT_CMD_VA, .room = 512 };

	GT_EMIT(&cs, nop, .qwords = 8);
	GT_EMIT(&cs, copy_linear, .src = 0x7fff000000, .dst = GT_CMD_VA + 0x1000, .size = 64);
	GT_EMIT(&cs, nop, .qwords = 4);
	gt_cs_word(&cs, 0x7f);
	GT_EMIT(&cs, nop, .qwords = 7);
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = GT_CMD_VA + 0x1000, .value = 0);
	GT_EMIT(&cs, nop, .qwords = 5);
	GT_EMIT(&cs, fill_linear, .texel = 1, .dst = GT_CMD_VA + 0x2000, .size = 0x4000,
		.pattern_lo = 0xab);
	GT_EMIT(&cs, nop, .qwords = 3);
}

static int child(uint64_t seed, unsigned int calls)
{
	static void (*const actions[])(struct state *) = {
		do_vm_create, do_vm_destroy, do_vm_bind, do_vm_bind, do_vm_bind, do_bo,
		do_bo,	      do_bo_use,     do_queue,	 do_queue,   do_submit,	 do_submit,
		do_submit,    do_submit,     do_sync,	 do_sync,    do_queries, do_noise,
	};
	struct state s = { .fd = gt_open(), .random = seed };
	unsigned int i;

	s.stream = gt_bo(s.fd, 8 * GT_PAGE, 0);
	write_streams(&s);
	for (i = 0; i < 4; i++)
		do_vm_create(&s);
	while (s.calls < calls)
		actions[rnd(&s, GT_ARRAY_SIZE(actions))](&s);
	/* A fuzzer whose calls all fail tests little. */
	if (s.worked < s.calls / 10) {
		printf("# seed %llu: only %llu of %llu calls worked\n", (unsigned long long)seed,
		       (unsigned long long)s.worked, (unsigned long long)s.calls);
		return 2;
	}
	if (one_in(&s, 2))
		close(s.fd);
	return 0;
}

static uint64_t base_seed = 20261120;
static unsigned int calls_each = 4000;

static void fuzz(void)
{
	pid_t pids[CHILDREN];
	unsigned int i;

	ktap_note("seed %llu, %u calls in each of %u processes", (unsigned long long)base_seed,
		  calls_each, CHILDREN);
	for (i = 0; i < CHILDREN; i++) {
		fflush(stdout);
		pids[i] = fork();
		if (!pids[i])
			_exit(child(base_seed + i, calls_each));
	}
	for (i = 0; i < CHILDREN; i++) {
		int status = -1;

		waitpid(pids[i], &status, 0);
		ktap_eq(status, 0);
	}
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
	if (argc > 1)
		base_seed = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		calls_each = strtoul(argv[2], NULL, 0);
	gt_start(1, argv);
	ktap_run("[SYS3] random ioctls from three processes", fuzz);
	ktap_run("the device works after random ioctls", still_works);
	return gt_finish();
}
