// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * The jobs of a SUBMIT before any of them is armed: the streams that are accepted,
 * and the graph of dependencies, from `after` and from waits for what an earlier job
 * of the same SUBMIT signals. Syncobjs are real, queues and jobs are not.
 */

#include <kunit/test.h>

#include <drm/drm_syncobj.h>

#include "tests.h"

#include "../tessera_submit.c"

#define JOBS	12
#define SYNCOBJS	4

static struct tessera_queue *test_queue[3];

/* Stand-ins for the rest of the driver. Queue ids are places in test_queue[], plus one. */
struct tessera_queue *tessera_queue_lookup(struct drm_file *file, u32 id)
{
	return id && id <= ARRAY_SIZE(test_queue) ? test_queue[id - 1] : NULL;
}

void tessera_queue_put(struct tessera_queue *queue)
{
}

struct tessera_perfmon *tessera_perfmon_lookup(struct drm_file *file, u32 id)
{
	return NULL;
}

struct tessera_job *tessera_job_create(struct tessera_queue *queue, struct drm_file *file,
				       u64 cmd_va, u32 cmd_size, u32 max_after)
{
	struct tessera_job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!job)
		return ERR_PTR(-ENOMEM);

	job->queue = queue;
	job->num_after = max_after;	/* as room; a real job counts up to it */
	xa_init_flags(&job->base.dependencies, XA_FLAGS_ALLOC);

	return job;
}

void tessera_job_destroy(struct tessera_job *job)
{
	struct dma_fence *fence;
	unsigned long index;

	xa_for_each(&job->base.dependencies, index, fence)
		dma_fence_put(fence);
	xa_destroy(&job->base.dependencies);
	kfree(job);
}

/* Nothing here is committed. */
int tessera_vm_exec_lock(struct drm_gpuvm_exec *vm_exec)
{
	return -EINVAL;
}

void tessera_vm_exec_unlock(struct drm_gpuvm_exec *vm_exec)
{
}

int tessera_evict_submit(struct tessera_vm *vm, struct drm_exec *exec,
			 struct tessera_evict_keep *keep)
{
	return 0;
}

void tessera_evict_put(struct tessera_evict_keep *keep)
{
}

/* A file, a 39-bit VM with two queues, another VM with one, and a SUBMIT of @count jobs. */
struct fixture {
	struct drm_file file;
	struct tessera_device tdev;
	struct tessera_vm vm[2];
	struct tessera_queue queue[3];
	u32 handle[SYNCOBJS];
	void __user *user;
	struct tessera_submit *submit;
};

static struct fixture *fixture(struct kunit *test, u32 count)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct drm_syncobj *syncobj;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	tessera_test_init_syncobjs(&f->file);
	f->tdev.info.va_bits = 39;
	for (i = 0; i < 3; i++) {
		f->queue[i].tdev = &f->tdev;
		f->queue[i].vm = &f->vm[i / 2];
		f->queue[i].engine_class = DRM_TESSERA_ENGINE_COPY;
		test_queue[i] = &f->queue[i];
	}
	for (i = 0; i < SYNCOBJS; i++) {
		KUNIT_ASSERT_EQ(test, drm_syncobj_create(&syncobj, 0, NULL), 0);
		KUNIT_ASSERT_EQ(test, 0, xa_alloc(&f->file.syncobj_xa, &f->handle[i], syncobj,
						  xa_limit_32b, GFP_KERNEL));
	}
	f->user = tessera_test_user(test, PAGE_SIZE);
	f->submit = kzalloc(struct_size(f->submit, entry, count), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->submit);
	f->submit->count = count;
	f->submit->file = &f->file;

	return f;
}

static void fixture_free(struct fixture *f)
{
	unsigned int i;

	submit_free(f->submit);
	for (i = 0; i < SYNCOBJS; i++)
		drm_syncobj_put(xa_erase(&f->file.syncobj_xa, f->handle[i]));
	xa_destroy(&f->file.syncobj_xa);
}

static struct drm_tessera_array one_sync(struct drm_tessera_sync __user *sync)
{
	return (struct drm_tessera_array){
		.ptr = (u64)(unsigned long)sync, .count = 1, .stride = sizeof(*sync),
	};
}

/* A job with at most one wait and one signal; what they are is copied to user memory. */
static int collect(struct kunit *test, struct fixture *f, u32 index, struct drm_tessera_job ujob,
		   const struct drm_tessera_sync *wait, const struct drm_tessera_sync *signal)
{
	struct drm_tessera_sync __user *user = f->user;

	if (wait) {
		KUNIT_ASSERT_EQ(test, copy_to_user(&user[0], wait, sizeof(*wait)), 0);
		ujob.waits = one_sync(&user[0]);
	}
	if (signal) {
		KUNIT_ASSERT_EQ(test, copy_to_user(&user[1], signal, sizeof(*signal)), 0);
		ujob.signals = one_sync(&user[1]);
	}

	return submit_collect_job(f->submit, index, &ujob);
}

static const struct drm_tessera_job nothing = { .queue_id = 1 };

static void submit_test_streams(struct kunit *test)
{
	const u64 end = BIT_ULL(39);
	const struct {
		u64 va;
		u32 size;
		bool valid;
	} cases[] = {
		{ 0, 0, true }, { TESSERA_VA_START, 8, true }, { end - 64, 64, true },
		{ TESSERA_VA_START, DRM_TESSERA_CMD_SIZE_MAX, true },
		{ 0, 8, false }, { TESSERA_VA_START, 0, false }, { TESSERA_VA_START, 4, false },
		{ TESSERA_VA_START + 8, 8, false }, { TESSERA_VA_START - 64, 8, false },
		{ TESSERA_VA_START, DRM_TESSERA_CMD_SIZE_MAX + 8, false }, { end, 8, false },
		{ end - 64, 72, false }, { U64_MAX - 63, 64, false }, { BIT_ULL(63), 8, false },
	};
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	tdev->info.va_bits = 39;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct drm_tessera_job ujob = {
			.cmd_va = cases[i].va, .cmd_size = cases[i].size,
		};

		KUNIT_EXPECT_EQ_MSG(test, job_stream_valid(tdev, &ujob), cases[i].valid,
				    "case %u", i);
	}
}

static void submit_test_refusals(struct kunit *test)
{
	struct fixture *f = fixture(test, 2);
	struct drm_tessera_sync sync = { .type = DRM_TESSERA_SYNC_SYNCOBJ, .handle = f->handle[0] };
	struct drm_tessera_job job = nothing;
	unsigned int bit;

	for (bit = 0; bit < 64; bit++) {
		job = nothing;
		job.after = BIT_ULL(bit);
		KUNIT_EXPECT_EQ(test, collect(test, f, 0, job, NULL, NULL), -EINVAL);
		job = nothing;
		job.flags = bit < 32 ? BIT(bit) : 1;
		KUNIT_EXPECT_EQ(test, collect(test, f, 0, job, NULL, NULL), -EINVAL);
	}
	job = nothing;
	job.queue_id = 4;
	KUNIT_EXPECT_EQ(test, collect(test, f, 0, job, NULL, NULL), -ENOENT);
	job.queue_id = 0x10001;
	KUNIT_EXPECT_EQ(test, collect(test, f, 0, job, NULL, NULL), -ENOENT);
	job = nothing;
	job.heap_id = 1;
	KUNIT_EXPECT_EQ(test, collect(test, f, 0, job, NULL, NULL), -EINVAL);
	f->queue[0].dead = -ECANCELED;
	KUNIT_EXPECT_EQ(test, collect(test, f, 0, nothing, NULL, NULL), -ECANCELED);
	f->queue[0].dead = 0;
	f->vm[0].banned = true;
	KUNIT_EXPECT_EQ(test, collect(test, f, 0, nothing, NULL, NULL), -ECANCELED);
	fixture_free(f);

	/* what comes too late to matter for job 0 */
	f = fixture(test, 2);
	KUNIT_EXPECT_EQ(test, collect(test, f, 0, nothing, NULL, NULL), 0);
	job = nothing;
	job.queue_id = 3;
	KUNIT_EXPECT_EQ(test, collect(test, f, 1, job, NULL, NULL), -EINVAL);
	sync.handle = f->handle[0];
	KUNIT_EXPECT_EQ(test, collect(test, f, 1, nothing, &sync, NULL), -EINVAL);
	fixture_free(f);

	f = fixture(test, 1);
	sync.handle = 1000;
	KUNIT_EXPECT_EQ(test, collect(test, f, 0, nothing, &sync, NULL), -ENOENT);
	fixture_free(f);
	f = fixture(test, 1);
	KUNIT_EXPECT_EQ(test, collect(test, f, 0, nothing, NULL, &sync), -ENOENT);
	fixture_free(f);
}

static struct drm_tessera_sync random_sync(struct fixture *f, struct tessera_test_random *random)
{
	u32 point = tessera_test_random(random, 3);

	return (struct drm_tessera_sync){
		.type = point ? DRM_TESSERA_SYNC_TIMELINE : DRM_TESSERA_SYNC_SYNCOBJ,
		.handle = f->handle[tessera_test_random(random, SYNCOBJS)],
		.point = point,
	};
}

/* The jobs that @wait means, out of @count that signal one thing each; 0 if there are none. */
static u64 meant(const struct drm_tessera_sync *signal, int count,
		 const struct drm_tessera_sync *wait)
{
	int i, best = -1;
	u64 jobs = 0;

	for (i = 0; i < count; i++) {
		if (signal[i].handle != wait->handle || signal[i].point < wait->point ||
		    (!wait->point && signal[i].point))
			continue;
		if (best < 0 || signal[i].point <= signal[best].point)
			best = i;
	}
	if (best < 0 || !wait->point)
		return best < 0 ? 0 : BIT_ULL(best);
	for (i = 0; i <= best; i++) {
		if (signal[i].handle == wait->handle)
			jobs |= BIT_ULL(i);
	}

	return jobs;
}

static bool no_dependency(struct fixture *f, u32 index)
{
	return xa_empty(&f->submit->entry[index].job->base.dependencies);
}

/*
 * Random graphs: a wait means the earlier job that signals the lowest point that is enough, with
 * the jobs before it on the timeline, or what was in the syncobj before, which here is nothing.
 */
static void submit_test_graph(struct kunit *test)
{
	struct tessera_test_random random = { 1 };
	struct drm_tessera_sync signal[JOBS], wait;
	unsigned int round, i, found = 0;

	for (round = 0; round < 30; round++) {
		struct fixture *f = fixture(test, JOBS);

		for (i = 0; i < JOBS; i++) {
			struct drm_tessera_job job = nothing;
			u64 after, from;
			int ret;

			signal[i] = random_sync(f, &random);
			wait = random_sync(f, &random);
			job.queue_id = 1 + tessera_test_random(&random, 2);
			job.after = i ? tessera_test_random(&random, 1 << i) : 0;
			from = meant(signal, i, &wait);

			ret = collect(test, f, i, job, from ? &wait : NULL, &signal[i]);
			KUNIT_ASSERT_EQ(test, ret, 0);
			found += !!from;
			after = job.after | from;
			KUNIT_EXPECT_EQ(test, f->submit->entry[i].after, after);
			/* The job has room for all of them. */
			KUNIT_EXPECT_GE(test, f->submit->entry[i].job->num_after, hweight64(after));
			KUNIT_EXPECT_TRUE(test, no_dependency(f, i));
		}
		fixture_free(f);
	}
	KUNIT_EXPECT_GT(test, found, 100);
}

/* A fence that is there before the ioctl is waited for, if no earlier job replaces it. */
static void submit_test_outside(struct kunit *test)
{
	struct fixture *f = fixture(test, 3);
	struct drm_tessera_sync sync = { .type = DRM_TESSERA_SYNC_SYNCOBJ, .handle = f->handle[2] };
	struct drm_syncobj *syncobj = drm_syncobj_find(&f->file, f->handle[2]);
	struct dma_fence *stub = dma_fence_allocate_private_stub(ktime_get());

	KUNIT_ASSERT_NOT_NULL(test, syncobj);
	KUNIT_ASSERT_NOT_NULL(test, stub);
	drm_syncobj_replace_fence(syncobj, stub);
	drm_syncobj_put(syncobj);
	dma_fence_put(stub);

	KUNIT_EXPECT_EQ(test, collect(test, f, 0, nothing, &sync, &sync), 0);
	KUNIT_EXPECT_EQ(test, f->submit->entry[0].after, 0);
	KUNIT_EXPECT_PTR_EQ(test, stub,
			    xa_load(&f->submit->entry[0].job->base.dependencies, 0));
	KUNIT_EXPECT_EQ(test, collect(test, f, 1, nothing, &sync, NULL), 0);
	KUNIT_EXPECT_EQ(test, f->submit->entry[1].after, 1);
	KUNIT_EXPECT_TRUE(test, no_dependency(f, 1));
	fixture_free(f);
}

static struct kunit_case submit_cases[] = {
	KUNIT_CASE(submit_test_streams),
	KUNIT_CASE(submit_test_refusals),
	KUNIT_CASE(submit_test_graph),
	KUNIT_CASE(submit_test_outside),
	{}
};

static struct kunit_suite submit_suite = {
	.name = "tessera_submit",
	.test_cases = submit_cases,
};

kunit_test_suite(submit_suite);
