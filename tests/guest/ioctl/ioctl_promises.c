// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 DEVICE_ARGS=vram=32M,inject-window=on */
/*
 * Sentences of tessera_drm.h that are about no field's bad values: what is not read on input, what
 * is ignored, limits that can be had to the last unit, what becomes of ids, and a VM that is
 * banned.
 */
#include "gt_main.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gt_bad.h"

#define HEAP_VA	0x60000000ull
#define TILE	64	/* pixels */

static struct gt_ctx c;

/* ---- "Output fields are not read on input" ---- */

/* An argument full of ones but for its inputs, which @set puts right. */
#define OUTPUT(NAME, type, set) \
	do { \
		struct drm_tessera_##type arg; \
		memset(&arg, 0xff, sizeof(arg)); \
		set; \
		if (!ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_##NAME, &arg), 0)) \
			ktap_note(#NAME); \
		memcpy(&last, &arg, sizeof(arg)); \
	} while (0)

static union {
	struct drm_tessera_vm_create vm;
	struct drm_tessera_bo_create bo;
	struct drm_tessera_queue_create queue;
	struct drm_tessera_heap_create heap;
	struct drm_tessera_perfmon_create perfmon;
	char room[128];
} last;

static void outputs_of_makers(void)
{
	OUTPUT(VM_CREATE, vm_create, arg.flags = 0);
	gt_vm_destroy(c.fd, last.vm.vm_id);
	OUTPUT(BO_CREATE, bo_create,
	       arg.size = GT_PAGE; arg.flags = 0; arg.vm_id = 0; arg.pad = 0);
	gt_gem_close(c.fd, last.bo.handle);
	OUTPUT(QUEUE_CREATE, queue_create,
	       arg.vm_id = c.vm; arg.engine_class = DRM_TESSERA_ENGINE_COPY;
	       arg.priority = DRM_TESSERA_PRIORITY_NORMAL; arg.ring_size = 0; arg.flags = 0);
	ktap_eq(gt_queue_destroy(c.fd, last.queue.queue_id), 0);
	OUTPUT(HEAP_CREATE, heap_create,
	       arg.vm_id = c.vm; arg.flags = 0; arg.va = HEAP_VA;
	       arg.max_size = arg.chunk_size = DRM_TESSERA_HEAP_ALIGN; arg.initial_size = 0);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_HEAP_DESTROY,
			 &(struct drm_tessera_heap_destroy){ .heap_id = last.heap.heap_id }), 0);
}

static uint32_t perfmon(void)
{
	const uint32_t id = TSR_QUEUE_COUNTER_WRITE_BYTES;

	OUTPUT(PERFMON_CREATE, perfmon_create, arg.counters = GT_ARRAY(&id, 1); arg.flags = 0);
	return last.perfmon.perfmon_id;
}

static void perfmon_destroy(uint32_t id)
{
	struct drm_tessera_perfmon_destroy arg = { .perfmon_id = id };

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_PERFMON_DESTROY, &arg), 0);
}

static void outputs_of_questions(void)
{
	uint32_t id = perfmon();
	uint64_t value;

	OUTPUT(PERFMON_READ, perfmon_read,
	       arg.perfmon_id = id; arg.flags = 0; arg.values = GT_ARRAY(&value, 1));
	perfmon_destroy(id);
	OUTPUT(GET_TIMESTAMP, get_timestamp, arg.clock_id = CLOCK_MONOTONIC; arg.flags = 0);
	OUTPUT(BO_MMAP_OFFSET, bo_mmap_offset, arg.handle = c.data.handle; arg.flags = 0);
	OUTPUT(BO_INFO, bo_info, arg.handle = c.data.handle);
	OUTPUT(BO_MADVISE, bo_madvise,
	       arg.handle = c.data.handle; arg.madv = DRM_TESSERA_MADV_WILL_NEED; arg.pad = 0);
	OUTPUT(QUEUE_GET_STATE, queue_get_state, arg.queue_id = c.queue);
	OUTPUT(VM_GET_STATE, vm_get_state,
	       arg.vm_id = c.vm; arg.flags = 0;
	       arg.faults = (struct drm_tessera_array){ .count = 0 });
}

/* ---- Arrays ---- */

/* "@ptr, @stride: ignored if @count is 0", wherever an array may be empty. */
static void empty_arrays(void)
{
	const struct drm_tessera_array none = { .ptr = 8, .stride = 3 };
	struct drm_tessera_vm_bind bind = {
		.vm_id = c.vm, .flags = DRM_TESSERA_VM_BIND_ASYNC,
		.ops = none, .waits = none, .signals = none,
	};
	struct drm_tessera_vm_get_state state = { .vm_id = c.vm, .faults = none };
	struct drm_tessera_job job = gt_job(c.queue, NULL);

	job.waits = job.signals = none;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_VM_BIND, &bind), 0);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_VM_GET_STATE, &state), 0);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
}

/* Elements of DRM_TESSERA_STRIDE_MAX bytes, of a much later version. */
static void widest_elements(void)
{
	char *wide = calloc(2, DRM_TESSERA_STRIDE_MAX);
	struct drm_tessera_bind_op op = gt_op_map(c.data.handle, 0x40000000, GT_PAGE, 0, GT_RW);
	struct drm_tessera_vm_bind bind = {
		.vm_id = c.vm,
		.ops = { gt_ptr(wide), 2, DRM_TESSERA_STRIDE_MAX },
	};
	struct drm_tessera_job job = gt_job(c.queue, NULL);
	struct drm_tessera_submit submit = {
		.jobs = { gt_ptr(wide), 2, DRM_TESSERA_STRIDE_MAX },
	};

	memcpy(wide, &op, sizeof(op));
	op = gt_op_unmap(0x40000000, GT_PAGE);
	memcpy(wide + DRM_TESSERA_STRIDE_MAX, &op, sizeof(op));
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_VM_BIND, &bind), 0);
	wide[2 * DRM_TESSERA_STRIDE_MAX - 1] = 1;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_VM_BIND, &bind), -E2BIG);
	memset(wide, 0, 2 * DRM_TESSERA_STRIDE_MAX);
	memcpy(wide, &job, sizeof(job));
	memcpy(wide + DRM_TESSERA_STRIDE_MAX, &job, sizeof(job));
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_SUBMIT, &submit), 0);
	free(wide);
}

/* DEV_QUERY with room for fewer elements than exist: whole elements, followed by zeros. */
static void fewer_elements(void)
{
	struct drm_tessera_engine_info all[8], some[3];
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_ENGINES, .size = sizeof(all), .ptr = gt_ptr(all),
		.stride = sizeof(all[0]),
	};
	unsigned int i;

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	KTAP_REQUIRE(query.size >= 2 * sizeof(all[0]));
	memset(some, 0xa5, sizeof(some));
	query.ptr = gt_ptr(some);
	query.size = 2 * sizeof(some[0]) - 1;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	ktap_eq(query.size, sizeof(some[0]));
	ktap_mem_eq(some, all, sizeof(some[0]));
	for (i = sizeof(some[0]); i < sizeof(some); i++)
		ktap_eq(((unsigned char *)some)[i], i < 2 * sizeof(some[0]) - 1 ? 0 : 0xa5);
	query.size = sizeof(some[0]) - 1;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), -EINVAL);
}

/* ---- Limits, to the last unit ---- */

static void largest_stream(void)
{
	struct drm_tessera_job job = { .queue_id = c.queue, .cmd_va = 0x4000000000,
				       .cmd_size = DRM_TESSERA_CMD_SIZE_MAX };
	struct drm_tessera_sync done = gt_binary(c.sync);

	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), -EFAULT);	/* nothing is mapped there */
	gt_renew_queue(&c);
}

static void largest_bo(void)
{
	uint64_t size = gt_gpu_info(c.fd).max_bo_size;
	uint32_t handle;

	ktap_eq(gt_bo_try(c.fd, size, DRM_TESSERA_BO_NO_MMAP, 0, &handle), 0);
	gt_gem_close(c.fd, handle);
	ktap_eq(gt_bo_try(c.fd, size + GT_PAGE, DRM_TESSERA_BO_NO_MMAP, 0, &handle), -EINVAL);
}

static void most_counters(void)
{
	uint32_t count = gt_gpu_info(c.fd).max_counters, i;
	uint32_t *ids = calloc(count + 1, sizeof(*ids));
	struct drm_tessera_counter_info *info = calloc(count, sizeof(*info));
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_COUNTERS, .size = count * sizeof(*info),
		.ptr = gt_ptr(info), .stride = sizeof(*info),
	};
	struct drm_tessera_perfmon_create create = { .counters = GT_ARRAY(ids, count) };

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	for (i = 0; i < count; i++)
		ids[i] = info[i].id;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_PERFMON_CREATE, &create), 0);
	perfmon_destroy(create.perfmon_id);
	create.counters.count++;
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_PERFMON_CREATE, &create), -EINVAL);
	free(info);
	free(ids);
}

/* The frames of this hardware have one size of tile. */
static void tile_size(void)
{
	struct drm_tessera_gpu_info info = gt_gpu_info(c.fd);

	ktap_eq(info.tile_width, TILE);
	ktap_eq(info.tile_height, TILE);
}

/* ---- GET_TIMESTAMP ---- */

enum { SAMPLES = 100 };

/*
 * "Upper bound of the distance of the samples": clocks that run evenly lie on a line, and each pair
 * no further from it than its bound says, nor than the bounds of the two pairs that make the line.
 */
static void timestamp_bound(const void *arg)
{
	struct drm_tessera_get_timestamp s[SAMPLES], *end = &s[SAMPLES - 1];
	uint64_t best = UINT64_MAX, ends;
	double rate;
	unsigned int i;

	for (i = 0; i < SAMPLES; i++) {
		s[i] = (struct drm_tessera_get_timestamp){ .clock_id = *(const int *)arg };
		ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &s[i]), 0);
		if (s[i].max_deviation_ns < best)
			best = s[i].max_deviation_ns;
		gt_sleep_ms(10);
	}
	ktap_ok(best < 5000000);		/* else the bounds say nothing */
	rate = (double)(end->gpu_ticks - s[0].gpu_ticks) / (end->cpu_ns - s[0].cpu_ns);
	ktap_ok(rate > 0.9 && rate < 1.1);	/* nanoseconds both; a guest calibrates its clock */
	ends = s[0].max_deviation_ns + end->max_deviation_ns;
	for (i = 1; i < SAMPLES - 1; i++) {
		double line = (s[i].cpu_ns - s[0].cpu_ns) * rate;
		double off = (double)(s[i].gpu_ticks - s[0].gpu_ticks) - line;

		if (!ktap_ok((off < 0 ? -off : off) <= s[i].max_deviation_ns + ends + 1))
			ktap_note("pair %u is %.0f ns off, with bounds %llu and %llu", i, off,
				  (unsigned long long)s[i].max_deviation_ns,
				  (unsigned long long)ends);
	}
}

/* ---- What becomes of ids ---- */

static struct gt_cs wrong_stream(uint64_t va)
{
	struct gt_cs cs = gt_stream(&c, 8);

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = va, .size = 64);
	return cs;
}

/* A fault's record names its queue as long as that exists, and not the next one with its id. */
static void record_of_a_gone_queue(void)
{
	struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	uint32_t other = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY), n, again;
	struct gt_cs a = wrong_stream(0x666000), b = wrong_stream(0x777000);

	ktap_eq(gt_run_on(&c, other, &a), -EFAULT);
	ktap_eq(gt_run(&c, &b), -EFAULT);
	n = gt_vm_state(c.fd, c.vm, faults).faults.count;
	KTAP_REQUIRE(n >= 2);
	ktap_eq(faults[n - 2].queue_id, other);
	ktap_eq(faults[n - 1].queue_id, c.queue);
	ktap_eq(gt_queue_destroy(c.fd, other), 0);
	again = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	gt_vm_state(c.fd, c.vm, faults);
	ktap_eq(faults[n - 2].va, 0x666000);
	ktap_eq(faults[n - 2].queue_id, 0);
	ktap_eq(faults[n - 1].queue_id, c.queue);
	gt_queue_destroy(c.fd, again);
	gt_renew_queue(&c);
}

/* "Jobs that name it go on." */
static void perfmon_gone(void)
{
	volatile uint64_t *gate = gt_data(&c, 0);
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct gt_cs cs = gt_stream(&c, 8);
	struct drm_tessera_job job;
	uint32_t id = perfmon();

	*gate = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	job = gt_job(c.queue, &cs);
	job.perfmon_id = id;
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	perfmon_destroy(id);
	ktap_ok(!gt_syncobj_done(c.fd, c.sync, 0));
	*gate = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
}

/* "A stream with COUNTER packets of its own takes the counters away from its job's perfmon." */
static void perfmon_robbed(void)
{
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct gt_cs cs = gt_stream(&c, 24);
	struct drm_tessera_job job;
	uint32_t id = perfmon();
	uint64_t value = 0, *own = gt_data(&c, 0x500);
	struct drm_tessera_perfmon_read read = { .perfmon_id = id,
						 .values = GT_ARRAY(&value, 1) };

	*own = 0;
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0x1000), .size = 256);
	GT_EMIT(&cs, counter_begin, .mask = 1ull << TSR_QUEUE_COUNTER_WRITE_BYTES);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0x2000), .size = 64);
	GT_EMIT(&cs, counter_end, .addr = gt_data_va(0x500));
	job = gt_job(c.queue, &cs);
	job.perfmon_id = id;
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_PERFMON_READ, &read), 0);
	ktap_eq(*own, 64);
	ktap_eq(value, 0);
	perfmon_destroy(id);
}

/* ---- Rights, export ---- */

/* HIGH is for who has CAP_SYS_NICE, or is DRM master: here that alone. */
static void master_may(void)
{
	int card = gt_open_card(), status;	/* the first to open it is master */
	uint32_t vm = gt_vm(card), queue;
	pid_t pid = fork();

	if (!pid) {
		if (setuid(65534) || gt_gpu_info(card).priority_mask != 7)
			_exit(1);
		_exit(gt_queue_try(card, vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_HIGH, 0,
				   &queue) ? 2 : 0);
	}
	ktap_eq(waitpid(pid, &status, 0), pid);
	ktap_eq(status, 0);
	close(card);
}

/* "Exporting a BO means WILL_NEED." */
static void exported_is_needed(void)
{
	struct gt_bo bo = gt_bo(c.fd, GT_PAGE, 0);
	struct drm_tessera_bo_madvise advice = { .handle = bo.handle,
						 .madv = DRM_TESSERA_MADV_DONT_NEED };
	struct drm_tessera_bo_info info = { .handle = bo.handle };
	struct drm_prime_handle prime = { .handle = bo.handle, .flags = DRM_CLOEXEC };

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_MADVISE, &advice), 0);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_INFO, &info), 0);
	ktap_ok(info.state & DRM_TESSERA_BO_PURGEABLE);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_INFO, &info), 0);
	ktap_ok(!(info.state & DRM_TESSERA_BO_PURGEABLE));
	ktap_ok(info.state & DRM_TESSERA_BO_EXPORTED);
	close(prime.fd);
	gt_bo_free(&bo);
}

/* ---- A VM that is banned ---- */

/*
 * The device has not confirmed the bind, so the effect on running jobs is unknown. SUBMIT and new
 * queues are -ECANCELED, MAP is -ENOENT, UNMAP works. Other VMs are not affected.
 */
static void check_banned(struct gt_ctx *v)
{
	struct drm_tessera_bind_op map = gt_op_map(v->data.handle, 0x40000000, GT_PAGE, 0, GT_RW),
				   unmap = gt_op_unmap(0x40000000, GT_PAGE), null = unmap;
	struct drm_tessera_job job = gt_job(v->queue, NULL);
	uint32_t queue;

	null.op = DRM_TESSERA_BIND_MAP_NULL;
	ktap_eq(gt_vm_state(v->fd, v->vm, NULL).flags, DRM_TESSERA_VM_BANNED);
	ktap_eq(gt_vm_bind(v->fd, v->vm, &map, 1), -ENOENT);
	ktap_eq(gt_vm_bind(v->fd, v->vm, &null, 1), -ENOENT);
	ktap_eq(gt_vm_bind(v->fd, v->vm, &unmap, 1), 0);
	ktap_eq(gt_submit(v->fd, &job, 1), -ECANCELED);
	ktap_eq(gt_queue_try(v->fd, v->vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queue), -ECANCELED);
}

static void banned_vm(void)
{
	struct gt_ctx v = gt_ctx();
	struct drm_tessera_sync done = gt_binary(gt_syncobj(v.fd, false));
	struct drm_tessera_bind_op unmap = gt_op_unmap(GT_DATA_VA, GT_PAGE);
	struct gt_cs cs;

	ktap_eq(gt_inject("inv-stuck"), 0);
	ktap_eq(gt_bind_async(v.fd, v.vm, &unmap, 1, NULL, &done), 0);
	ktap_eq(gt_fence_error(v.fd, done.handle, 0), -EIO);
	check_banned(&v);
	gt_syncobj_free(v.fd, done.handle);
	gt_ctx_free(&v);

	gt_ctx_free(&c);	/* its queue may have lost what it had to the reset */
	c = gt_ctx();
	cs = gt_stream(&c, 8);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = 64);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_eq(gt_vm_state(c.fd, c.vm, NULL).flags, 0);
}

int main(int argc, char **argv)
{
	const int monotonic = CLOCK_MONOTONIC, raw = CLOCK_MONOTONIC_RAW;

	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[SYS3] outputs of what makes objects are not read on input", outputs_of_makers);
	ktap_run("[SYS3] outputs of what asks are not read on input", outputs_of_questions);
	ktap_run("[SYS3] pointer and stride of empty arrays are ignored", empty_arrays);
	ktap_run("[SYS3] elements of arrays may be STRIDE_MAX long", widest_elements);
	ktap_run("[SYS3] DEV_QUERY gives as many elements as fit", fewer_elements);
	ktap_run("[SYS3] a stream may be CMD_SIZE_MAX long", largest_stream);
	ktap_run("[SYS3] a BO may have max_bo_size", largest_bo);
	ktap_run("[SYS3] a perfmon may have all counters, and no more", most_counters);
	ktap_run("[SYS3] the size of a tile", tile_size);
	ktap_run_arg("[SYS3] GET_TIMESTAMP's bound holds for CLOCK_MONOTONIC", timestamp_bound,
		     &monotonic);
	ktap_run_arg("[SYS3] GET_TIMESTAMP's bound holds for CLOCK_MONOTONIC_RAW", timestamp_bound,
		     &raw);
	ktap_run("[MEM3] a fault's record does not name a queue that is gone",
		 record_of_a_gone_queue);
	ktap_run("[CP3] a job goes on whose perfmon is destroyed", perfmon_gone);
	ktap_run("[CP3] a stream with counters of its own has them to itself", perfmon_robbed);
	ktap_run("[SYS4] a DRM master without CAP_SYS_NICE may use HIGH", master_may);
	ktap_run("[SYS3] an exported BO is needed", exported_is_needed);
	ktap_run("[MEM2] a VM whose bind the device did not confirm is banned", banned_vm);
	gt_ctx_free(&c);
	return gt_finish();
}
