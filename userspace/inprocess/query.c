// SPDX-License-Identifier: MIT
/* DEV_QUERY, GET_TIMESTAMP and performance monitors. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver.h"

#define SAMPLES		8		/* of the clocks, the best counts */

struct counter {
	uint32_t id;
	const char *name, *meaning;
};

#define COUNTER(id, name, meaning) { id, name, meaning },
static const struct counter counters[] = { TSR_QUEUE_COUNTER__TABLE(COUNTER) };

#define COUNTERS	((uint32_t)(sizeof(counters) / sizeof(*counters)))

_Static_assert(COUNTERS <= MAX_COUNTERS, "more counters than a perfmon has room for");

/* ---- DEV_QUERY ------------------------------------------------------------------------------- */

static uint32_t reg_field(uint32_t reg, uint64_t mask)
{
	return (uint32_t)field_get(mask, gpu_read(reg));
}

static void fill_info(struct drm_tessera_gpu_info *info)
{
	*info = (struct drm_tessera_gpu_info){
		.hw_version = gpu_read(TSR_REG_GPU_VERSION),
		.engine_count = 4,
		.features = DRM_TESSERA_FEATURE_QUEUE_RESET | DRM_TESSERA_FEATURE_COMPRESSED |
			    DRM_TESSERA_FEATURE_GEOMETRY | DRM_TESSERA_FEATURE_TAGGED |
			    (drv.local_size ? DRM_TESSERA_FEATURE_LOCAL_MEMORY : 0),
		.va_start = VA_START,
		.va_end = 1ull << drv.va_bits,
		.page_sizes = gpu_read64(TSR_REG_GPU_PAGE_SIZES),
		.timestamp_hz = gpu_read64(TSR_REG_GPU_TIMESTAMP_HZ),
		.max_jobs = DRM_TESSERA_MAX_JOBS,
		.max_syncs = MAX_SYNCS,
		.max_bind_ops = MAX_BIND_OPS,
		.max_counters = COUNTERS,
		.priority_mask = queue_priorities(),
		.tile_width = (uint16_t)reg_field(TSR_REG_GPU_TILE, TSR_GPU_TILE_WIDTH__MASK),
		.tile_height = (uint16_t)reg_field(TSR_REG_GPU_TILE, TSR_GPU_TILE_HEIGHT__MASK),
		.local_size = drv.local_size,
		.max_bo_size = bo_max_size(),
	};
}

static void fill_engines(struct drm_tessera_engine_info *engine)
{
	uint32_t word = gpu_read(TSR_REG_GPU_ENGINES), limits = gpu_read(TSR_REG_GPU_RING_LIMITS);
	const uint32_t instances[] = {
		[DRM_TESSERA_ENGINE_BIN] = (uint32_t)field_get(TSR_GPU_ENGINES_BIN__MASK, word),
		[DRM_TESSERA_ENGINE_RENDER] = (uint32_t)field_get(TSR_GPU_ENGINES_RENDER__MASK,
								  word),
		[DRM_TESSERA_ENGINE_COMPUTE] = (uint32_t)field_get(TSR_GPU_ENGINES_COMPUTE__MASK,
								   word),
		[DRM_TESSERA_ENGINE_COPY] = (uint32_t)field_get(TSR_GPU_ENGINES_COPY__MASK, word),
	};
	uint32_t i;

	for (i = 0; i < 4; i++) {
		engine[i] = (struct drm_tessera_engine_info){
			.engine_class = i,
			.instances = instances[i],
			.min_ring_size = 1u
					 << field_get(TSR_GPU_RING_LIMITS_MIN_LOG2__MASK, limits),
			.max_ring_size = 1u
					 << field_get(TSR_GPU_RING_LIMITS_MAX_LOG2__MASK, limits),
			.max_queues = SLOTS,
		};
	}
}

static void fill_shader(struct drm_tessera_shader_info *shader)
{
	*shader = (struct drm_tessera_shader_info){
		.cores = reg_field(TSR_REG_GPU_SHADER, TSR_GPU_SHADER_CORES__MASK),
		.warp_lanes = TSR_WARP_LANES,
		.core_warps = TSR_CORE_WARPS,
		.max_group_threads = TSR_GROUP_THREADS_MAX,
		.max_group_memory = TSR_GROUP_MEMORY_MAX,
		.max_groups = TSR_GROUPS_MAX,
		.max_scratch = TSR_SCRATCH_MAX,
		.max_push_words = TSR_PUSH_WORDS_MAX,
	};
}

/* One structure, as the driver answers. */
/* A structure of @known bytes, @first in the first version. */
static int answer(struct drm_tessera_dev_query *arg, const void *data, uint32_t known,
		  uint32_t first)
{
	uint32_t copy = arg->size < known ? arg->size : known;
	int ret;

	if (!arg->ptr) {
		arg->size = known;
		arg->stride = 0;
		return 0;
	}
	if (arg->size < first || arg->stride)
		return -EINVAL;
	ret = copy_out(arg->ptr, data, copy);
	ret = ret ? ret : clear_out(arg->ptr + copy, arg->size - copy);
	arg->size = copy;
	return ret;
}

static int answer_array(struct drm_tessera_dev_query *arg, const void *data, uint32_t count,
			uint32_t known)
{
	struct drm_tessera_array array = { .ptr = arg->ptr, .stride = arg->stride };
	uint32_t done;
	int ret;

	if (!arg->ptr) {
		arg->size = count * known;
		arg->stride = known;
		return 0;
	}
	if (arg->stride < known || arg->size < arg->stride)
		return -EINVAL;
	array.count = arg->size / arg->stride < count ? arg->size / arg->stride : count;
	ret = array_out(&array, known, known, data, array.count);
	done = array.count * arg->stride;
	ret = ret ? ret : clear_out(arg->ptr + done, arg->size - done);
	arg->size = done;
	return ret;
}

static int answer_counters(struct drm_tessera_dev_query *arg)
{
	struct drm_tessera_counter_info info[COUNTERS];
	uint32_t i;

	memset(info, 0, sizeof(info));
	for (i = 0; i < COUNTERS; i++) {
		info[i].id = counters[i].id;
		info[i].engine_class = DRM_TESSERA_COUNTER_ANY;
		snprintf((char *)info[i].name, sizeof(info[i].name), "%s", counters[i].name);
		/* what does not fit is cut */
		snprintf((char *)info[i].description, sizeof(info[i].description), "%.*s",
			 (int)sizeof(info[i].description) - 1, counters[i].meaning);
	}
	return answer_array(arg, info, COUNTERS, sizeof(*info));
}

int ioctl_dev_query(struct file *file, void *data)
{
	struct drm_tessera_dev_query *arg = data;
	struct drm_tessera_engine_info engines[4];
	struct drm_tessera_shader_info shader;
	struct drm_tessera_gpu_state state = {
		.queue_reset_count = drv.queue_resets, .local_used = drv.local_used,
	};
	struct drm_tessera_file_limits limits;
	struct drm_tessera_gpu_info info;

	if (arg->pad)
		return -EINVAL;
	switch (arg->type) {
	case DRM_TESSERA_QUERY_GPU_INFO:
		fill_info(&info);
		return answer(arg, &info, sizeof(info), sizeof(info));
	case DRM_TESSERA_QUERY_ENGINES:
		fill_engines(engines);
		return answer_array(arg, engines, 4, sizeof(*engines));
	case DRM_TESSERA_QUERY_COUNTERS:
		return answer_counters(arg);
	case DRM_TESSERA_QUERY_GPU_STATE:
		return answer(arg, &state, sizeof(state), offsetof(typeof(state), evictions));
	case DRM_TESSERA_QUERY_SHADER_INFO:
		fill_shader(&shader);
		return answer(arg, &shader, sizeof(shader), sizeof(shader));
	case DRM_TESSERA_QUERY_FILE_LIMITS:
		quota_fill(file->quota, &limits);
		return answer(arg, &limits, sizeof(limits), sizeof(limits));
	default:
		return -EINVAL;
	}
}

int ioctl_get_timestamp(struct file *file, void *data)
{
	struct drm_tessera_get_timestamp *arg = data;
	struct timespec t;
	unsigned int i;

	(void)file;
	if (arg->flags ||
	    (arg->clock_id != CLOCK_MONOTONIC && arg->clock_id != CLOCK_MONOTONIC_RAW))
		return -EINVAL;
	arg->max_deviation_ns = UINT64_MAX;
	for (i = 0; i < SAMPLES; i++) {
		uint64_t before, after, ticks;

		clock_gettime(arg->clock_id, &t);
		before = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		ticks = gpu_read64(TSR_REG_GPU_TIMESTAMP);
		clock_gettime(arg->clock_id, &t);
		after = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		if (after - before >= arg->max_deviation_ns)
			continue;
		arg->gpu_ticks = ticks;
		arg->cpu_ns = before + (after - before) / 2;
		arg->max_deviation_ns = after - before;
	}
	return 0;
}

/* ---- Performance monitors -------------------------------------------------------------------- */

void perfmon_put(struct perfmon *p)
{
	if (!p || --p->refs)
		return;
	drv.counters_used[p->slot / 64] &= ~(1ull << p->slot % 64);
	quota_adjust(p->quota, QUOTA_PERFMONS, -1);
	quota_put(p->quota);
	free(p);
}

static bool counter_known(uint32_t id)
{
	uint32_t i;

	for (i = 0; i < COUNTERS; i++) {
		if (counters[i].id == id)
			return true;
	}
	return false;
}

/* Which counters, and where each of them is: the device writes them in ascending order. */
static int set_counters(struct perfmon *p, const uint32_t *id, uint32_t count)
{
	uint32_t i;

	if (!count)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		if (!counter_known(id[i]) || p->mask & 1ull << id[i])
			return -EINVAL;
		p->mask |= 1ull << id[i];
	}
	p->count = count;
	for (i = 0; i < count; i++)
		p->word[i] = (uint32_t)__builtin_popcountll(p->mask & ((1ull << id[i]) - 1));
	return 0;
}

int ioctl_perfmon_create(struct file *file, void *data)
{
	struct drm_tessera_perfmon_create *arg = data;
	struct perfmon *p;
	unsigned int slot = 0;
	uint32_t *id, i;
	int ret;

	if (arg->flags)
		return -EINVAL;
	id = array_in(&arg->counters, sizeof(*id), sizeof(*id), MAX_COUNTERS, &ret);
	if (ret)
		return ret;
	p = calloc(1, sizeof(*p));
	ret = p ? set_counters(p, id, arg->counters.count) : -ENOMEM;
	free(id);
	while (slot < PERFMONS && drv.counters_used[slot / 64] & 1ull << slot % 64)
		slot++;
	if (!ret && slot == PERFMONS)
		ret = -ENOSPC;
	if (!ret)
		ret = quota_charge(file->quota, QUOTA_PERFMONS, 1);
	if (ret) {
		free(p);
		return ret;
	}
	drv.counters_used[slot / 64] |= 1ull << slot % 64;
	p->slot = slot;
	p->quota = quota_get(file->quota);
	p->refs = 1;
	for (i = 0; i < MAX_COUNTERS; i++)
		atomic_store(&counters_cpu(slot)[i], 0);
	ret = table_add(&file->perfmons, p);
	if (ret < 0) {
		perfmon_put(p);
		return ret;
	}
	arg->perfmon_id = (uint32_t)ret;
	return 0;
}

int ioctl_perfmon_destroy(struct file *file, void *data)
{
	const struct drm_tessera_perfmon_destroy *arg = data;
	struct perfmon *p;

	if (arg->pad)
		return -EINVAL;
	p = table_remove(&file->perfmons, arg->perfmon_id);
	if (!p)
		return -ENOENT;
	perfmon_put(p);
	return 0;
}

int ioctl_perfmon_read(struct file *file, void *data)
{
	struct drm_tessera_perfmon_read *arg = data;
	uint64_t value[MAX_COUNTERS];
	struct perfmon *p;
	uint32_t i;

	if (arg->flags & ~(uint32_t)DRM_TESSERA_PERFMON_RESET)
		return -EINVAL;
	p = table_find(&file->perfmons, arg->perfmon_id);
	if (!p)
		return -ENOENT;
	if (arg->values.count != p->count || arg->values.stride != sizeof(*value))
		return -EINVAL;
	for (i = 0; i < p->count; i++) {
		uint64_t word = atomic_load(&counters_cpu(p->slot)[p->word[i]]);

		value[i] = word - p->base[p->word[i]];
		if (arg->flags)
			p->base[p->word[i]] = word;
	}
	arg->jobs = p->jobs - p->jobs_base;
	if (arg->flags)
		p->jobs_base = p->jobs;
	return array_out(&arg->values, sizeof(*value), sizeof(*value), value, p->count);
}
