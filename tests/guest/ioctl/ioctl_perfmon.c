// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/* PERFMON_*: each field bad once, and that they count what jobs do, neither more nor less. */
#include "gt_main.h"

#include <unistd.h>

#include "gt_bad.h"

#define BYTES 65536u

static struct gt_ctx c;

static uint32_t perfmon(const uint32_t *ids, unsigned int count)
{
	struct drm_tessera_perfmon_create args = { .counters = GT_ARRAY(ids, count) };

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_PERFMON_CREATE, &args), 0);
	ktap_ok(args.perfmon_id != 0);
	return args.perfmon_id;
}

static int destroy(uint32_t id)
{
	struct drm_tessera_perfmon_destroy args = { .perfmon_id = id };

	return gt_ioctl(c.fd, DRM_IOCTL_TESSERA_PERFMON_DESTROY, &args);
}

/* Jobs counted; values to @values. */
static uint64_t read_values(uint32_t id, uint64_t *values, unsigned int count, uint32_t flags)
{
	struct drm_tessera_perfmon_read args = { .perfmon_id = id, .flags = flags,
						 .values = GT_ARRAY(values, count) };

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_PERFMON_READ, &args), 0);
	return args.jobs;
}

static void bad_create(void)
{
	uint32_t ids[2] = { TSR_QUEUE_COUNTER_CYCLES, TSR_QUEUE_COUNTER_WRITE_BYTES };
	struct drm_tessera_perfmon_create create = { .counters = GT_ARRAY(ids, 2) };
	const struct gt_call call = GT_CALL(c.fd, PERFMON_CREATE, create);
	const struct gt_bad rows[] = {
		GT_BAD(ids[1], TSR_QUEUE_COUNTER_CYCLES, EINVAL),	/* twice */
		GT_BAD(ids[1], 63, EINVAL),
		GT_BAD(ids[1], 64, EINVAL),
		GT_BAD(ids[1], UINT32_MAX, EINVAL),
		GT_BAD(create.counters.count, 0, EINVAL),
	};

	GT_BAD_ROWS(&call, rows);
	gt_bad_bits(&call, "flags", &create.flags, 0);
}

static void bad_read(void)
{
	const uint32_t ids[] = { TSR_QUEUE_COUNTER_CYCLES, TSR_QUEUE_COUNTER_WRITE_BYTES };
	uint64_t values[4];
	struct drm_tessera_perfmon_read read = { .values = GT_ARRAY(values, 2) };
	const struct gt_call call = GT_CALL(c.fd, PERFMON_READ, read);
	const struct gt_bad rows[] = {
		GT_BAD(read.perfmon_id, 0, ENOENT),
		GT_BAD(read.perfmon_id, UINT32_MAX, ENOENT),
		GT_BAD(read.values.count, 0, EINVAL),
		GT_BAD(read.values.count, 1, EINVAL),
		GT_BAD(read.values.count, 3, EINVAL),
		GT_BAD(read.values.stride, 4, EINVAL),
		GT_BAD(read.values.stride, 16, EINVAL),
		GT_BAD(read.values.ptr, 8, EFAULT),
	};

	read.perfmon_id = perfmon(ids, 2);
	GT_BAD_ROWS(&call, rows);
	gt_bad_bits(&call, "flags", &read.flags, DRM_TESSERA_PERFMON_RESET);
	ktap_eq(destroy(read.perfmon_id), 0);
	ktap_eq(destroy(read.perfmon_id), -ENOENT);
	ktap_eq(destroy(0), -ENOENT);
}

/* A job on @queue that fills BYTES bytes, with a perfmon; its fence's error. */
static int fill(uint32_t queue, uint32_t id)
{
	struct gt_cs cs = gt_stream(&c, 8);
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct drm_tessera_job job;

	GT_EMIT(&cs, fill_linear, .texel = 1, .dst = gt_data_va(0), .size = BYTES,
		.pattern_lo = 7);
	job = gt_job(queue, &cs);
	job.perfmon_id = id;
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	return gt_fence_error(c.fd, c.sync, 0);
}

/* In the order in which user space named them, summed over jobs and queues, and of nobody else. */
static void counts(void)
{
	const uint32_t ids[] = { TSR_QUEUE_COUNTER_WRITE_BYTES, TSR_QUEUE_COUNTER_CYCLES,
				 TSR_QUEUE_COUNTER_ENGINE_COMMANDS };
	uint32_t a = perfmon(ids, 3), b = perfmon(ids, 3);
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	uint64_t v[3] = { 1, 1, 1 };

	ktap_eq(read_values(a, v, 3, 0), 0);
	ktap_eq(v[0] | v[1] | v[2], 0);
	ktap_eq(fill(c.queue, a), 0);
	ktap_eq(fill(c.queue, 0), 0);		/* counts for nobody */
	ktap_eq(fill(queue, a), 0);
	ktap_eq(fill(queue, b), 0);
	ktap_eq(read_values(a, v, 3, DRM_TESSERA_PERFMON_RESET), 2);
	ktap_eq(v[0], 2 * BYTES);
	ktap_ok(v[1] >= 2 * BYTES / 64 && v[1] < 2 * BYTES / 64 + 200);
	ktap_eq(v[2], 2);
	ktap_eq(read_values(a, v, 3, 0), 0);
	ktap_eq(v[0] | v[1] | v[2], 0);
	ktap_eq(read_values(b, v, 3, 0), 1);
	ktap_eq(v[0], BYTES);
	ktap_eq(fill(c.queue, a), 0);
	ktap_eq(read_values(a, v, 3, 0), 1);
	ktap_eq(v[0], BYTES);
	gt_queue_destroy(c.fd, queue);
	ktap_eq(destroy(a), 0);
	ktap_eq(destroy(b), 0);
}

/* A job that fails is not one of those counted; the perfmon goes on. */
static void failed_job(void)
{
	const uint32_t ids[] = { TSR_QUEUE_COUNTER_WRITE_BYTES };
	uint32_t id = perfmon(ids, 1);
	struct gt_cs cs = gt_stream(&c, 8);
	struct drm_tessera_sync done = gt_binary(c.sync);
	struct drm_tessera_job job;
	uint64_t v;

	GT_EMIT(&cs, fill_linear, .texel = 1, .dst = 0x7fff0000, .size = 1, .pattern_lo = 7);
	job = gt_job(c.queue, &cs);
	job.perfmon_id = id;
	job.signals = GT_ARRAY(&done, 1);
	ktap_eq(gt_submit(c.fd, &job, 1), 0);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), -EFAULT);
	ktap_eq(read_values(id, &v, 1, 0), 0);
	gt_renew_queue(&c);
	ktap_eq(fill(c.queue, id), 0);
	ktap_eq(read_values(id, &v, 1, 0), 1);
	ktap_eq(v, BYTES);
	ktap_eq(destroy(id), 0);
}

/* There are only so many; those of a closed file are free again. */
static void exhausted(void)
{
	const uint32_t ids[] = { TSR_QUEUE_COUNTER_CYCLES };
	unsigned int made[2] = { 0 };

	for (unsigned int i = 0; i < 2; i++) {
		int fd = gt_open(), ret;

		do {
			struct drm_tessera_perfmon_create args = { .counters = GT_ARRAY(ids, 1) };

			ret = gt_ioctl(fd, DRM_IOCTL_TESSERA_PERFMON_CREATE, &args);
		} while (!ret && ++made[i] < 100000);
		ktap_eq(ret, -ENOSPC);
		close(fd);
	}
	ktap_ok(made[0] >= 64);
	ktap_eq(made[0], made[1]);
}

/* DEV_QUERY names what can be counted. */
static void query(void)
{
	struct drm_tessera_counter_info info[64];
	struct drm_tessera_dev_query q = { .type = DRM_TESSERA_QUERY_COUNTERS,
					   .size = sizeof(info), .ptr = gt_ptr(info),
					   .stride = sizeof(info[0]) };
	unsigned int count, i;
	uint32_t id;

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_DEV_QUERY, &q), 0);
	count = q.size / sizeof(info[0]);
	ktap_eq(count, gt_gpu_info(c.fd).max_counters);
	for (i = 0; i < count; i++) {
		ktap_ok(info[i].name[0] && memchr(info[i].name, 0, sizeof(info[i].name)));
		ktap_ok(info[i].description[0]);
		ktap_ok(memchr(info[i].description, 0, sizeof(info[i].description)) != NULL);
		ktap_eq(info[i].engine_class, DRM_TESSERA_COUNTER_ANY);
		id = perfmon(&info[i].id, 1);
		ktap_eq(destroy(id), 0);
	}
	ktap_ok(count >= 16);
	ktap_ok(!strcmp((char *)info[0].name, "cycles"));
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	bad_create();
	bad_read();
	ktap_run("[CP3] DEV_QUERY names the counters of perfmons", query);
	ktap_run("[CP3] a perfmon sums what its jobs count", counts);
	ktap_run("a job that failed is not counted", failed_job);
	ktap_run("perfmons run out, and come back with the file", exhausted);
	gt_ctx_free(&c);
	return gt_finish();
}
