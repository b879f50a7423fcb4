// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * DEV_QUERY: what the device is and how it is.
 */

#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>

#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_gem.h"
#include "tessera_local.h"
#include "tessera_perfmon.h"
#include "tessera_query.h"
#include "tessera_queue.h"
#include "tessera_quota.h"
#include "tessera_uapi.h"
#include "tessera_vm.h"

static u32 counter_count(void)
{
	u32 count = 0;

	while (count < TESSERA_NUM_COUNTERS && tessera_counters[count].name)
		count++;

	return count;
}

static u32 engine_count(struct tessera_device *tdev)
{
	u32 i, count = 0;

	for (i = 0; i < TESSERA_NUM_CLASSES; i++)
		count += !!tdev->info.engines[i];

	return count;
}

static u64 gpu_features(struct tessera_device *tdev)
{
	u64 features = DRM_TESSERA_FEATURE_QUEUE_RESET;

	if (tdev->info.local_size)
		features |= DRM_TESSERA_FEATURE_LOCAL_MEMORY;
	if (tdev->info.features & TSR_FEATURE_DETERMINISTIC)
		features |= DRM_TESSERA_FEATURE_DETERMINISTIC;
	if (tdev->info.features & TSR_FEATURE_COMPRESSED)
		features |= DRM_TESSERA_FEATURE_COMPRESSED;
	if (tdev->info.features & TSR_FEATURE_GEOMETRY)
		features |= DRM_TESSERA_FEATURE_GEOMETRY;
	if (tdev->info.features & TSR_FEATURE_TAGGED)
		features |= DRM_TESSERA_FEATURE_TAGGED;

	return features;
}

static void fill_gpu_info(struct tessera_device *tdev, struct drm_file *file,
			  struct drm_tessera_gpu_info *gpu)
{
	const struct tessera_hw_info *info = &tdev->info;

	*gpu = (struct drm_tessera_gpu_info) {
		.hw_version = info->version,
		.engine_count = engine_count(tdev),
		.features = gpu_features(tdev),
		.va_start = TESSERA_VA_START,
		.va_end = BIT_ULL(info->va_bits),
		.page_sizes = info->page_sizes,
		.timestamp_hz = info->timestamp_hz,
		.max_jobs = TESSERA_MAX_JOBS,
		.max_syncs = TESSERA_MAX_SYNCS,
		.max_bind_ops = TESSERA_MAX_BIND_OPS,
		.max_counters = counter_count(),
		.priority_mask = tessera_queue_priority_mask(file),
		.tile_width = info->tile_width,
		.tile_height = info->tile_height,
		.local_size = info->local_size,
		.max_bo_size = tessera_bo_max_size(tdev),
	};
}

static u32 fill_engines(struct tessera_device *tdev, struct drm_tessera_engine_info *engine)
{
	const struct tessera_hw_info *info = &tdev->info;
	u32 i, count = 0;

	for (i = 0; i < TESSERA_NUM_CLASSES; i++) {
		if (!info->engines[i])
			continue;
		engine[count++] = (struct drm_tessera_engine_info) {
			.engine_class = i,
			.instances = info->engines[i],
			.min_ring_size = BIT(info->ring_log2_min),
			.max_ring_size = BIT(info->ring_log2_max),
			.max_queues = info->max_queues,
		};
	}

	return count;
}

static void fill_shader_info(struct tessera_device *tdev, struct drm_tessera_shader_info *shader)
{
	const struct tessera_hw_info *info = &tdev->info;

	*shader = (struct drm_tessera_shader_info) { .cores = info->cores };
	if (!info->cores)
		return;

	shader->warp_lanes = info->warp_lanes;
	shader->core_warps = info->core_warps;
	shader->max_group_threads = info->group_threads;
	shader->max_group_memory = info->group_memory_kib * SZ_1K;
	shader->max_groups = TSR_GROUPS_MAX;
	shader->max_scratch = TSR_SCRATCH_MAX;
	shader->max_push_words = TSR_PUSH_WORDS_MAX;
}

static void fill_gpu_state(struct tessera_device *tdev, struct drm_tessera_gpu_state *state)
{
	*state = (struct drm_tessera_gpu_state) {
		.reset_count = atomic64_read(&tdev->reset.count),
		.flags = tessera_device_wedged(tdev) ? DRM_TESSERA_GPU_WEDGED : 0,
		.queue_reset_count = atomic64_read(&tdev->reset.queue_count),
		.local_used = tessera_local_used(tdev),
		.evictions = atomic64_read(&tdev->evict.evictions),
		.restores = atomic64_read(&tdev->evict.restores),
		.evicted_bytes = atomic64_read(&tdev->evict.evicted),
		.restored_bytes = atomic64_read(&tdev->evict.restored),
	};
}

/*
 * Clear the rest of what user space offers, up to 4 GiB: in steps, so that the task can be killed
 * and others run.
 */
static int query_clear(void __user *dst, size_t size)
{
	while (size) {
		size_t step = min_t(size_t, size, SZ_64K);

		if (fatal_signal_pending(current))
			return -EINTR;
		if (clear_user(dst, step))
			return -EFAULT;
		cond_resched();
		dst += step;
		size -= step;
	}

	return 0;
}

/* Answer a query for one structure of @known bytes, @first in the first version. */
static int query_struct(struct drm_tessera_dev_query *args, const void *data, u32 known, u32 first)
{
	void __user *dst = u64_to_user_ptr(args->ptr);
	u32 copy = min(args->size, known);
	int ret;

	if (!args->ptr) {
		args->size = known;
		args->stride = 0;
		return 0;
	}

	if (args->size < first || args->stride)
		return -EINVAL;
	if (copy_to_user(dst, data, copy))
		return -EFAULT;
	ret = query_clear(dst + copy, args->size - copy);
	if (ret)
		return ret;
	args->size = copy;

	return 0;
}

/* Answer a query for @count elements of @known bytes, @first in the first version. */
static int query_array(struct drm_tessera_dev_query *args, const void *data, u32 count, u32 known,
		       u32 first)
{
	struct drm_tessera_array array = { .ptr = args->ptr, .stride = args->stride };
	u32 done;
	int ret;

	if (!args->ptr) {
		args->size = count * known;
		args->stride = known;
		return 0;
	}

	if (args->stride < first || args->size < min(count, 1U) * args->stride)
		return -EINVAL;

	array.count = min(count, args->size / args->stride);
	ret = tessera_uapi_array_out(&array, known, first, data, array.count);
	if (ret)
		return ret;

	done = array.count * args->stride;
	ret = query_clear(u64_to_user_ptr(args->ptr) + done, args->size - done);
	if (ret)
		return ret;
	args->size = done;

	return 0;
}

static int query_gpu_info(struct tessera_device *tdev, struct drm_file *file,
			  struct drm_tessera_dev_query *args)
{
	struct drm_tessera_gpu_info info;

	fill_gpu_info(tdev, file, &info);

	return query_struct(args, &info, sizeof(info), offsetofend(typeof(info), max_bo_size));
}

static int query_engines(struct tessera_device *tdev, struct drm_tessera_dev_query *args)
{
	struct drm_tessera_engine_info engines[TESSERA_NUM_CLASSES];
	u32 count = fill_engines(tdev, engines);

	return query_array(args, engines, count, sizeof(*engines),
			   offsetofend(typeof(*engines), pad));
}

static int query_shader_info(struct tessera_device *tdev, struct drm_tessera_dev_query *args)
{
	struct drm_tessera_shader_info info;

	fill_shader_info(tdev, &info);

	return query_struct(args, &info, sizeof(info), offsetofend(typeof(info), max_push_words));
}

static int query_gpu_state(struct tessera_device *tdev, struct drm_tessera_dev_query *args)
{
	struct drm_tessera_gpu_state state;

	fill_gpu_state(tdev, &state);

	return query_struct(args, &state, sizeof(state), offsetofend(typeof(state), local_used));
}

static int query_file_limits(struct drm_file *file, struct drm_tessera_dev_query *args)
{
	struct tessera_file *tfile = file->driver_priv;
	struct drm_tessera_file_limits limits;

	tessera_quota_fill(tfile->quota, &limits);

	return query_struct(args, &limits, sizeof(limits),
			    offsetofend(typeof(limits), local_memory));
}

static int query_counters(struct drm_tessera_dev_query *args)
{
	struct drm_tessera_counter_info *info;
	u32 i, count = counter_count();
	int ret;

	info = kcalloc(count, sizeof(*info), GFP_KERNEL);
	if (!info)
		return -ENOMEM;

	for (i = 0; i < count; i++) {
		info[i].id = tessera_counters[i].id;
		info[i].engine_class = DRM_TESSERA_COUNTER_ANY;
		strscpy((char *)info[i].name, tessera_counters[i].name, sizeof(info[i].name));
		/* A long description is truncated. */
		strscpy((char *)info[i].description, tessera_counters[i].meaning,
			sizeof(info[i].description));
	}
	ret = query_array(args, info, count, sizeof(*info),
			  offsetofend(struct drm_tessera_counter_info, description));
	kfree(info);

	return ret;
}

/**
 * tessera_ioctl_dev_query() - DRM_IOCTL_TESSERA_DEV_QUERY
 * @drm: DRM device
 * @data: struct drm_tessera_dev_query
 * @file: file
 *
 * Return: 0 or a negative error.
 */
int tessera_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_device *tdev = to_tessera_device(drm);
	struct drm_tessera_dev_query *args = data;

	if (args->pad)
		return -EINVAL;

	switch (args->type) {
	case DRM_TESSERA_QUERY_GPU_INFO:
		return query_gpu_info(tdev, file, args);
	case DRM_TESSERA_QUERY_ENGINES:
		return query_engines(tdev, args);
	case DRM_TESSERA_QUERY_COUNTERS:
		return query_counters(args);
	case DRM_TESSERA_QUERY_GPU_STATE:
		return query_gpu_state(tdev, args);
	case DRM_TESSERA_QUERY_SHADER_INFO:
		return query_shader_info(tdev, args);
	case DRM_TESSERA_QUERY_FILE_LIMITS:
		return query_file_limits(file, args);
	default:
		return -EINVAL;
	}
}
