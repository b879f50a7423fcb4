// SPDX-License-Identifier: MIT
/* test: TIMEOUT=30 */
/*
 * DEV_QUERY and GET_TIMESTAMP: each field bad once, sizes negotiated, values against the hardware
 * description.
 */
#include "gt_main.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gt_bad.h"

static int fd;

static void query_bad_fields(void)
{
	struct drm_tessera_gpu_info info;
	struct drm_tessera_dev_query query = { .size = sizeof(info), .ptr = gt_ptr(&info) };
	const struct gt_call call = GT_CALL(fd, DEV_QUERY, query);
	const struct gt_bad rows[] = {
		GT_BAD(query.type, 6, EINVAL),
		GT_BAD(query.type, UINT32_MAX, EINVAL),
		GT_BAD(query.type, 65536, EINVAL),
		GT_BAD(query.size, 0, EINVAL),
		GT_BAD(query.size, sizeof(info) - 1, EINVAL),
		GT_BAD(query.size, 8, EINVAL),
		GT_BAD(query.stride, 8, EINVAL),
		GT_BAD(query.stride, sizeof(info), EINVAL),
		GT_BAD(query.pad, 1, EINVAL),
		GT_BAD(query.pad, 1u << 31, EINVAL),
		GT_BAD(query.ptr, 8, EFAULT),
		GT_BAD(query.ptr, 1ULL << 63, EFAULT),
		GT_BAD(query.ptr, UINT64_MAX - 7, EFAULT),
	};

	GT_BAD_ROWS(&call, rows);
	query.ptr = 0;
	query.type = 6;
	ktap_eq(gt_call(&call), -EINVAL);
	query.type = 0;
	query.pad = 1;
	ktap_eq(gt_call(&call), -EINVAL);
	ktap_result("[SYS3] DEV_QUERY without a buffer checks its fields too");
}

static void query_bad_engines(void)
{
	struct drm_tessera_engine_info engines[8];
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_ENGINES, .size = sizeof(engines), .ptr = gt_ptr(engines),
		.stride = sizeof(engines[0]),
	};
	const struct gt_call call = GT_CALL(fd, DEV_QUERY, query);
	const struct gt_bad rows[] = {
		GT_BAD(query.stride, 0, EINVAL),
		GT_BAD(query.stride, sizeof(engines[0]) - 1, EINVAL),
		GT_BAD(query.stride, 8, EINVAL),
		GT_BAD(query.ptr, 8, EFAULT),
		GT_BAD(query.pad, 1, EINVAL),
	};
	struct gt_call named = call;

	named.name = "DEV_QUERY ENGINES";
	ktap_eq(gt_call(&call), 0);
	ktap_result("DEV_QUERY ENGINES with a buffer");
	GT_BAD_ROWS(&named, rows);
}

static void query_sizes(void)
{
	unsigned char buffer[sizeof(struct drm_tessera_gpu_info) + 40];
	struct drm_tessera_dev_query query = { 0 };
	size_t i;

	query.size = 4;
	query.stride = 7;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	ktap_eq(query.size, sizeof(struct drm_tessera_gpu_info));
	ktap_eq(query.stride, 0);

	memset(buffer, 0xa5, sizeof(buffer));
	query = (struct drm_tessera_dev_query){ .size = sizeof(buffer), .ptr = gt_ptr(buffer) };
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	ktap_eq(query.size, sizeof(struct drm_tessera_gpu_info));
	for (i = sizeof(struct drm_tessera_gpu_info); i < sizeof(buffer); i++)
		ktap_eq(buffer[i], 0);
}

static void query_engine_strides(void)
{
	enum { WIDE = sizeof(struct drm_tessera_engine_info) + 16 };
	struct drm_tessera_engine_info narrow[8];
	unsigned char wide[8 * WIDE];
	struct drm_tessera_dev_query query = { .type = DRM_TESSERA_QUERY_ENGINES };
	uint32_t count, i, b;

	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	ktap_eq(query.stride, sizeof(narrow[0]));
	count = query.size / sizeof(narrow[0]);
	ktap_eq(query.size, count * sizeof(narrow[0]));
	ktap_eq(count, gt_gpu_info(fd).engine_count);
	KTAP_REQUIRE(count >= 1 && count <= 8);

	query.size = sizeof(narrow);
	query.ptr = gt_ptr(narrow);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	memset(wide, 0xa5, sizeof(wide));
	query = (struct drm_tessera_dev_query){
		.type = DRM_TESSERA_QUERY_ENGINES,
		.size = sizeof(wide),
		.ptr = gt_ptr(wide),
		.stride = WIDE,
	};
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	ktap_eq(query.size, count * WIDE);
	for (i = 0; i < count; i++) {
		ktap_mem_eq(wide + i * WIDE, &narrow[i], sizeof(narrow[i]));
		for (b = sizeof(narrow[i]); b < WIDE; b++)
			ktap_eq(wide[i * WIDE + b], 0);
	}
}

static void engine_values(void)
{
	struct drm_tessera_engine_info engines[8] = { 0 };
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_QUERY_ENGINES, .size = sizeof(engines), .ptr = gt_ptr(engines),
		.stride = sizeof(engines[0]),
	};
	uint32_t i, seen = 0;

	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	for (i = 0; i < query.size / sizeof(engines[0]); i++) {
		ktap_ok(engines[i].engine_class <= DRM_TESSERA_ENGINE_COPY);
		ktap_ok(!(seen >> engines[i].engine_class & 1));
		seen |= 1u << engines[i].engine_class;
		ktap_ok(engines[i].instances >= 1);
		ktap_eq(engines[i].min_ring_size, 1u << TSR_RING_LOG2_MIN);
		ktap_eq(engines[i].max_ring_size, 1u << TSR_RING_LOG2_MAX);
		ktap_ok(engines[i].max_queues >= 1 &&
			(engines[i].max_queues <= TSR_QUEUES_MAX || gt_sched_engine()));
		ktap_eq(engines[i].pad, 0);
	}
	ktap_ok(seen >> DRM_TESSERA_ENGINE_COPY & 1);
}

static void info_values(void)
{
	struct drm_tessera_gpu_info info = gt_gpu_info(fd);

	ktap_eq(info.hw_version, TSR_VERSION_MAJOR << 16 | TSR_VERSION_MINOR);
	ktap_eq(info.timestamp_hz, TSR_TIMESTAMP_HZ);
	ktap_ok(info.page_sizes & GT_PAGE);
	ktap_eq(info.page_sizes & ~(GT_PAGE | GT_HUGE), 0);
	ktap_ok(info.va_start < info.va_end);
	ktap_eq(info.va_start % GT_PAGE, 0);
	ktap_eq(info.va_end % GT_PAGE, 0);
	ktap_ok(info.va_end <= 1ULL << 57);
	ktap_ok(info.max_jobs >= 1 && info.max_jobs <= DRM_TESSERA_MAX_JOBS);
	ktap_ok(info.max_syncs >= 1);
	ktap_ok(info.max_bind_ops >= 1);
	ktap_ok(info.max_counters >= 16);
	ktap_ok(info.max_bo_size >= GT_HUGE);
	ktap_eq(!!(info.features & DRM_TESSERA_FEATURE_LOCAL_MEMORY), info.local_size != 0);
	ktap_eq(info.priority_mask, 7);		/* we are root */
	ktap_ok(info.features & DRM_TESSERA_FEATURE_QUEUE_RESET);
	ktap_ok(info.features & DRM_TESSERA_FEATURE_COMPRESSED);
	ktap_ok(info.features & DRM_TESSERA_FEATURE_GEOMETRY);
	ktap_ok(info.features & DRM_TESSERA_FEATURE_TAGGED);
}

/* The file ioctl_perfmon.c tests them. */
static void counters_size(void)
{
	struct drm_tessera_dev_query query = { .type = DRM_TESSERA_QUERY_COUNTERS };

	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	ktap_eq(query.size, gt_gpu_info(fd).max_counters * query.stride);
	ktap_eq(query.stride, sizeof(struct drm_tessera_counter_info));
}

/* A process without CAP_SYS_NICE that is not master may not use HIGH, and the query says so. */
static void priority_mask_unprivileged(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(setuid(65534) ? 99 : (int)gt_gpu_info(fd).priority_mask);
	ktap_eq(waitpid(pid, &status, 0), pid);
	ktap_ok(WIFEXITED(status));
	ktap_eq(WEXITSTATUS(status), 3);
}

static void timestamp_bad_fields(void)
{
	struct drm_tessera_get_timestamp stamp = { .clock_id = CLOCK_MONOTONIC };
	const struct gt_call call = GT_CALL(fd, GET_TIMESTAMP, stamp);
	const struct gt_bad rows[] = {
		GT_BAD(stamp.clock_id, CLOCK_REALTIME, EINVAL),
		GT_BAD(stamp.clock_id, CLOCK_PROCESS_CPUTIME_ID, EINVAL),
		GT_BAD(stamp.clock_id, CLOCK_THREAD_CPUTIME_ID, EINVAL),
		GT_BAD(stamp.clock_id, CLOCK_REALTIME_COARSE, EINVAL),
		GT_BAD(stamp.clock_id, CLOCK_MONOTONIC_COARSE, EINVAL),
		GT_BAD(stamp.clock_id, CLOCK_BOOTTIME, EINVAL),
		GT_BAD(stamp.clock_id, CLOCK_TAI, EINVAL),
		GT_BAD(stamp.clock_id, -1, EINVAL),
		GT_BAD(stamp.clock_id, INT32_MIN, EINVAL),
	};

	GT_BAD_ROWS(&call, rows);
	gt_bad_bits(&call, "flags", &stamp.flags, 0);
}

static uint64_t clock_ns(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void timestamp_values(const void *arg)
{
	int clock = *(const int *)arg;
	struct drm_tessera_get_timestamp a = { .clock_id = clock }, b = a;
	uint64_t before, after, gpu, cpu;

	before = clock_ns(clock);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &a), 0);
	after = clock_ns(clock);
	ktap_ok(a.cpu_ns >= before && a.cpu_ns <= after);
	ktap_ok(a.max_deviation_ns <= after - before);
	gt_sleep_ms(30);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &b), 0);
	gpu = b.gpu_ticks - a.gpu_ticks;	/* nanoseconds, by info_values() */
	cpu = b.cpu_ns - a.cpu_ns;
	ktap_ok(b.gpu_ticks > a.gpu_ticks);
	/*
	 * The two clocks measure the same interval; the generous bound allows for a badly
	 * calibrated guest TSC.
	 */
	ktap_ok(gpu + a.max_deviation_ns + b.max_deviation_ns > cpu / 2);
	ktap_ok(gpu < 2 * cpu + a.max_deviation_ns + b.max_deviation_ns);
}

static void gpu_state(void)
{
	struct drm_tessera_gpu_state state;
	struct drm_tessera_dev_query query = { .type = DRM_TESSERA_QUERY_GPU_STATE,
					       .ptr = gt_ptr(&state) };

	/* Before 1.6 it ended with local_used. */
	query.size = offsetof(struct drm_tessera_gpu_state, evictions);
	memset(&state, 0xff, sizeof(state));
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	ktap_eq(query.size, offsetof(struct drm_tessera_gpu_state, evictions));
	ktap_eq(state.evictions, UINT64_MAX);
	query.size -= 8;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), -EINVAL);
	state = gt_gpu_state(fd);
	ktap_eq(state.flags, 0);
}

static void shader_info(void)
{
	struct drm_tessera_shader_info info;
	struct drm_tessera_dev_query query = { .type = DRM_TESSERA_QUERY_SHADER_INFO,
					       .ptr = gt_ptr(&info) };

	query.size = sizeof(info) - 4;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), -EINVAL);
	query.size = sizeof(info);
	query.stride = sizeof(info);
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), -EINVAL);
	query.stride = 0;
	ktap_eq(gt_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query), 0);
	ktap_eq(query.size, 32);
	ktap_ok(info.cores >= 1 && info.cores <= TSR_CORES_MAX);
	ktap_eq(info.warp_lanes, 16);
	ktap_eq(info.core_warps, TSR_CORE_WARPS);
	ktap_eq(info.max_group_threads, 1024);
	ktap_ok(info.max_group_memory >= 32768);
	ktap_eq(info.max_groups, 65535);
	ktap_eq(info.max_scratch, TSR_SCRATCH_MAX);
	ktap_eq(info.max_push_words, 256);
}

int main(int argc, char **argv)
{
	const int monotonic = CLOCK_MONOTONIC, raw = CLOCK_MONOTONIC_RAW;

	gt_start(argc, argv);
	fd = gt_open();
	query_bad_fields();
	query_bad_engines();
	timestamp_bad_fields();
	ktap_run("DEV_QUERY negotiates sizes and clears what it does not know", query_sizes);
	ktap_run("DEV_QUERY cuts and extends array elements to the stride", query_engine_strides);
	ktap_run("[SYS1] DEV_QUERY ENGINES matches the hardware description", engine_values);
	ktap_run("[SYS1] DEV_QUERY GPU_INFO matches the hardware description", info_values);
	ktap_run("DEV_QUERY COUNTERS has the size of what it lists", counters_size);
	ktap_run("DEV_QUERY GPU_STATE of a healthy device", gpu_state);
	ktap_run("[CS1] DEV_QUERY SHADER_INFO matches the hardware description", shader_info);
	ktap_run("priority_mask is that of the caller", priority_mask_unprivileged);
	ktap_run_arg("GET_TIMESTAMP correlates with CLOCK_MONOTONIC", timestamp_values, &monotonic);
	ktap_run_arg("GET_TIMESTAMP correlates with CLOCK_MONOTONIC_RAW", timestamp_values, &raw);
	close(fd);
	return gt_finish();
}
