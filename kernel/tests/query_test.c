// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Answers of DEV_QUERY for devices of all kinds, field by field. */

#include <kunit/test.h>

#include "tests.h"

#include "../tessera_query.c"

/* Stand-ins for the rest of the driver. */
#define MAX_BO_SIZE	0x123456000ULL
#define LOCAL_USED	0x7000ULL
#define PRIORITIES	5

const struct tessera_counter tessera_counters[TESSERA_NUM_COUNTERS] = {
	{ .id = 3, .name = "first", .meaning = "The first." },
	{ .id = 7, .name = "second", .meaning = "The second." },
};

u64 tessera_bo_max_size(struct tessera_device *tdev)
{
	return MAX_BO_SIZE;
}

u64 tessera_local_used(struct tessera_device *tdev)
{
	return LOCAL_USED;
}

u32 tessera_queue_priority_mask(struct drm_file *file)
{
	return PRIORITIES;
}

/* A device whose every number is its own. */
static struct tessera_device *usual_device(struct kunit *test)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	tdev->info = (struct tessera_hw_info) {
		.version = 0x10002,
		.engines = { 1, 2, 3, 4 },
		.num_queues = 11,
		.max_queues = 11,
		.va_bits = 48,
		.ring_log2_min = 12,
		.ring_log2_max = 19,
		.tile_width = 16,
		.tile_height = 8,
		.cores = 6,
		.warp_lanes = 8,
		.core_warps = 24,
		.group_threads = 384,
		.group_memory_kib = 33,
		.features = TSR_FEATURE_LOCAL_MEMORY,
		.page_sizes = SZ_4K | SZ_2M,
		.local_size = SZ_64M,
		.timestamp_hz = 1234567,
	};

	return tdev;
}

static void query_test_gpu_info(struct kunit *test)
{
	struct tessera_device *tdev = usual_device(test);
	struct drm_tessera_gpu_info gpu;

	memset(&gpu, 0xff, sizeof(gpu));
	fill_gpu_info(tdev, NULL, &gpu);
	KUNIT_EXPECT_EQ(test, gpu.hw_version, 0x10002);
	KUNIT_EXPECT_EQ(test, gpu.engine_count, 4);
	KUNIT_EXPECT_EQ(test, gpu.va_start, TESSERA_VA_START);
	KUNIT_EXPECT_EQ(test, gpu.va_end, BIT_ULL(48));
	KUNIT_EXPECT_EQ(test, gpu.page_sizes, SZ_4K | SZ_2M);
	KUNIT_EXPECT_EQ(test, gpu.timestamp_hz, 1234567);
	KUNIT_EXPECT_EQ(test, gpu.max_jobs, TESSERA_MAX_JOBS);
	KUNIT_EXPECT_EQ(test, gpu.max_syncs, TESSERA_MAX_SYNCS);
	KUNIT_EXPECT_EQ(test, gpu.max_bind_ops, TESSERA_MAX_BIND_OPS);
	KUNIT_EXPECT_EQ(test, gpu.max_counters, 2);
	KUNIT_EXPECT_EQ(test, gpu.priority_mask, PRIORITIES);
	KUNIT_EXPECT_EQ(test, gpu.tile_width, 16);
	KUNIT_EXPECT_EQ(test, gpu.tile_height, 8);
	KUNIT_EXPECT_EQ(test, gpu.local_size, SZ_64M);
	KUNIT_EXPECT_EQ(test, gpu.max_bo_size, MAX_BO_SIZE);
}

/* A bit for local memory that is there, those of what a device says, and nothing else. */
static void query_test_features(struct kunit *test)
{
	struct tessera_device *tdev = usual_device(test);
	unsigned int i;

	for (i = 0; i < 4; i++) {
		u64 want = DRM_TESSERA_FEATURE_QUEUE_RESET;

		tdev->info.local_size = i & 1 ? SZ_1M : 0;
		tdev->info.features = ~(u64)TSR_FEATURE_DETERMINISTIC;
		if (i & 1)
			want |= DRM_TESSERA_FEATURE_LOCAL_MEMORY;
		if (i & 2) {
			tdev->info.features = TSR_FEATURE_DETERMINISTIC;
			want |= DRM_TESSERA_FEATURE_DETERMINISTIC;
		} else {
			want |= DRM_TESSERA_FEATURE_COMPRESSED | DRM_TESSERA_FEATURE_GEOMETRY |
				DRM_TESSERA_FEATURE_TAGGED;
		}
		KUNIT_EXPECT_EQ(test, gpu_features(tdev), want);
	}
}

/* Classes without engines are left out, whichever they are. */
static void query_test_engines(struct kunit *test)
{
	struct tessera_device *tdev = usual_device(test);
	u32 present, class, count;

	for (present = 0; present < BIT(TESSERA_NUM_CLASSES); present++) {
		struct drm_tessera_engine_info engine[TESSERA_NUM_CLASSES] = {}, *e = engine;

		for (class = 0; class < TESSERA_NUM_CLASSES; class++)
			tdev->info.engines[class] = present & BIT(class) ? class + 5 : 0;
		count = fill_engines(tdev, engine);
		KUNIT_EXPECT_EQ(test, count, hweight32(present));
		KUNIT_EXPECT_EQ(test, engine_count(tdev), hweight32(present));
		for (class = 0; class < TESSERA_NUM_CLASSES; class++) {
			if (!(present & BIT(class)))
				continue;
			KUNIT_EXPECT_EQ(test, e->engine_class, class);
			KUNIT_EXPECT_EQ(test, e->instances, class + 5);
			KUNIT_EXPECT_EQ(test, e->min_ring_size, SZ_4K);
			KUNIT_EXPECT_EQ(test, e->max_ring_size, SZ_512K);
			KUNIT_EXPECT_EQ(test, e->max_queues, 11);
			e++;
		}
	}
}

/* A device without cores has nothing of what programs need. */
static void query_test_shader_info(struct kunit *test)
{
	struct tessera_device *tdev = usual_device(test);
	struct drm_tessera_shader_info shader;

	memset(&shader, 0xff, sizeof(shader));
	fill_shader_info(tdev, &shader);
	KUNIT_EXPECT_EQ(test, shader.cores, 6);
	KUNIT_EXPECT_EQ(test, shader.warp_lanes, 8);
	KUNIT_EXPECT_EQ(test, shader.core_warps, 24);
	KUNIT_EXPECT_EQ(test, shader.max_group_threads, 384);
	KUNIT_EXPECT_EQ(test, shader.max_group_memory, 33 * SZ_1K);
	KUNIT_EXPECT_EQ(test, shader.max_groups, TSR_GROUPS_MAX);
	KUNIT_EXPECT_EQ(test, shader.max_scratch, TSR_SCRATCH_MAX);
	KUNIT_EXPECT_EQ(test, shader.max_push_words, TSR_PUSH_WORDS_MAX);

	tdev->info.cores = 0;
	fill_shader_info(tdev, &shader);
	KUNIT_EXPECT_NULL(test, memchr_inv(&shader, 0, sizeof(shader)));
}

static void query_test_gpu_state(struct kunit *test)
{
	struct tessera_device *tdev = usual_device(test);
	struct drm_tessera_gpu_state state;

	atomic64_set(&tdev->reset.count, 0x300000001);
	atomic64_set(&tdev->reset.queue_count, 0x500000007);
	atomic64_set(&tdev->evict.evictions, 0x700000002);
	atomic64_set(&tdev->evict.restores, 0x600000003);
	atomic64_set(&tdev->evict.evicted, 0x900000004);
	atomic64_set(&tdev->evict.restored, 0x800000005);
	memset(&state, 0xff, sizeof(state));
	fill_gpu_state(tdev, &state);
	KUNIT_EXPECT_EQ(test, state.reset_count, 0x300000001);
	KUNIT_EXPECT_EQ(test, state.queue_reset_count, 0x500000007);
	KUNIT_EXPECT_EQ(test, state.local_used, LOCAL_USED);
	KUNIT_EXPECT_EQ(test, state.evictions, 0x700000002);
	KUNIT_EXPECT_EQ(test, state.restores, 0x600000003);
	KUNIT_EXPECT_EQ(test, state.evicted_bytes, 0x900000004);
	KUNIT_EXPECT_EQ(test, state.restored_bytes, 0x800000005);
	KUNIT_EXPECT_EQ(test, state.flags, 0);
	tdev->state.now = TESSERA_WEDGED;
	fill_gpu_state(tdev, &state);
	KUNIT_EXPECT_EQ(test, state.flags, DRM_TESSERA_GPU_WEDGED);
}

static struct kunit_case query_cases[] = {
	KUNIT_CASE(query_test_gpu_info),
	KUNIT_CASE(query_test_features),
	KUNIT_CASE(query_test_engines),
	KUNIT_CASE(query_test_shader_info),
	KUNIT_CASE(query_test_gpu_state),
	{}
};

static struct kunit_suite query_suite = {
	.name = "tessera_query",
	.test_cases = query_cases,
};

kunit_test_suite(query_suite);
