// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Which BO is evicted, and when a VM may evict others. Nothing moves, and the time is made up. */

#include <kunit/test.h>

#include <linux/cgroup_dmem.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/jiffies.h>

#include <drm/drm_drv.h>
#include <drm/drm_gpuvm.h>
#include <drm/drm_managed.h>

/* Other suites have stand-ins of these names. */
#define tessera_evict_init test_evict_init
#define tessera_evict_register test_evict_register
#define tessera_evict_submit test_evict_submit
#define tessera_evict_put test_evict_put
#define tessera_evict_prefer test_evict_prefer

#include "../tessera_device.h"
#include "../tessera_evict.h"
#include "../tessera_gem.h"
#include "../tessera_local.h"
#include "../tessera_pm.h"
#include "../tessera_quota.h"
#include "../tessera_state.h"
#include "../tessera_vm.h"
#include "tests.h"

static unsigned long test_jiffies;

#undef jiffies
#define jiffies test_jiffies

#include "../tessera_evict.c"

#define LOCAL_SIZE	SZ_64M
#define BOS		16

/* ---- local memory of which only the size matters ---- */

static u64 test_free;		/* bytes of local memory */
static bool test_elsewhere;	/* a BO got system memory */

int tessera_local_reserve(struct tessera_device *tdev, struct drm_mm_node *node, u64 size)
{
	if (size > test_free)
		return -ENOSPC;

	test_free -= size;
	node->size = size;
	__set_bit(DRM_MM_NODE_ALLOCATED_BIT, &node->flags);

	return 0;
}

void tessera_local_free(struct tessera_device *tdev, struct drm_mm_node *node)
{
	test_free += node->size;
	__clear_bit(DRM_MM_NODE_ALLOCATED_BIT, &node->flags);
}

int tessera_local_clear(struct tessera_device *tdev, struct drm_mm_node *node)
{
	return 0;
}

/* The device always runs. */
int tessera_wait_running(struct tessera_device *tdev)
{
	return 0;
}

void tessera_pm_get_awake(struct tessera_device *tdev)
{
}

int tessera_move_out(struct tessera_bo *bo)
{
	tessera_evict_free_local(bo);

	return 0;
}

int tessera_move_in(struct tessera_bo *bo)
{
	return 0;
}

int tessera_move_back(struct tessera_bo *bo)
{
	return 0;
}

void tessera_swap_track(struct tessera_bo *bo)
{
}

int tessera_bo_get_system(struct tessera_bo *bo)
{
	test_elsewhere = true;

	return 0;
}

/* ---- BOs ---- */

/* Local memory is full of BOs of 4 MiB. */
struct fixture {
	struct tessera_device tdev;
	struct tessera_quota quota;
	struct tessera_bo bo[BOS], more;
	struct tessera_vm vm;
	struct tessera_evict_keep keep;
};

static void fixture_bo(struct fixture *f, struct tessera_bo *bo, u64 size)
{
	struct drm_gem_object *obj = &bo->base.base;

	obj->dev = &f->tdev.drm;
	obj->size = size;
	obj->resv = &obj->_resv;
	kref_init(&obj->refcount);
	dma_resv_init(obj->resv);
	INIT_LIST_HEAD(&obj->gpuva.list);
	INIT_LIST_HEAD(&bo->lru);
	mutex_init(tessera_gpuva_lock(obj));
	bo->flags = DRM_TESSERA_BO_LOCAL;
}

static struct fixture *fixture(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	mutex_init(&f->tdev.evict.lock);
	INIT_LIST_HEAD(&f->tdev.evict.lru);
	f->tdev.info.local_size = LOCAL_SIZE;
	f->vm.tdev = &f->tdev;
	f->vm.evict_keep = &f->keep;
	test_free = LOCAL_SIZE;
	test_elsewhere = false;
	test_jiffies = INITIAL_JIFFIES;
	f->tdev.evict.window = test_jiffies - 2 * BUDGET_TIME;
	for (i = 0; i < BOS; i++) {
		fixture_bo(f, &f->bo[i], SZ_4M);
		KUNIT_ASSERT_EQ(test, tessera_local_reserve(&f->tdev, &f->bo[i].local, SZ_4M), 0);
		tessera_evict_track(&f->bo[i]);
	}
	fixture_bo(f, &f->more, SZ_8M);

	return f;
}

static void fixture_free(struct fixture *f)
{
	unsigned int i;

	for (i = 0; i < BOS; i++)
		dma_resv_fini(&f->bo[i].base.base._resv);
	dma_resv_fini(&f->more.base.base._resv);
}

/* Bits of the BOs that are in system memory. */
static u32 outside(struct fixture *f)
{
	u32 bits = 0;
	unsigned int i;

	for (i = 0; i < BOS; i++)
		bits |= drm_mm_node_allocated(&f->bo[i].local) ? 0 : BIT(i);

	return bits;
}

/* As a SUBMIT of a VM that maps it would do. */
static void use(struct fixture *f, unsigned int i)
{
	f->bo[i].used = atomic64_inc_return(&f->tdev.evict.clock);
}

/* ---- victims ---- */

/* The least recently used one goes first, and one that was used is passed over once. */
static void evict_test_order(struct kunit *test)
{
	struct fixture *f = fixture(test);

	use(f, 0);
	use(f, 2);
	KUNIT_EXPECT_EQ(test, tessera_evict_bytes(&f->tdev, 1), SZ_4M);
	KUNIT_EXPECT_EQ(test, outside(f), BIT(1));
	KUNIT_EXPECT_EQ(test, tessera_evict_bytes(&f->tdev, SZ_4M), SZ_4M);
	KUNIT_EXPECT_EQ(test, outside(f), BIT(1) | BIT(3));
	/* not used since it was passed over: its turn is after all others */
	KUNIT_EXPECT_EQ(test, tessera_evict_bytes(&f->tdev, 12 * (u64)SZ_4M), 12 * (u64)SZ_4M);
	KUNIT_EXPECT_EQ(test, outside(f), GENMASK(BOS - 1, 0) & ~(BIT(0) | BIT(2)));
	KUNIT_EXPECT_EQ(test, tessera_evict_bytes(&f->tdev, 0), 2 * SZ_4M);
	KUNIT_EXPECT_EQ(test, tessera_evict_bytes(&f->tdev, 0), 0);
	KUNIT_EXPECT_EQ(test, f->tdev.evict.count, 0);
	fixture_free(f);
}

static const char *fence_name(struct dma_fence *fence)
{
	return "test";
}

/* The compat header gives the driver's fences a release() by this name. This one has none. */
#undef get_timeline_name

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_name,
	.get_timeline_name = fence_name,
};

/* A BO that is locked, that is needed or that has a job is not evicted. */
static void evict_test_busy(struct kunit *test)
{
	struct fixture *f = fixture(test);
	struct dma_resv *busy = f->bo[1].base.base.resv, *locked = f->bo[2].base.base.resv;
	struct dma_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);
	static DEFINE_SPINLOCK(lock);

	KUNIT_ASSERT_NOT_NULL(test, fence);
	dma_fence_init(fence, &fence_ops, &lock, dma_fence_context_alloc(1), 1);
	atomic_set(&f->bo[0].needed, 1);
	KUNIT_ASSERT_EQ(test, dma_resv_lock(busy, NULL), 0);
	KUNIT_ASSERT_EQ(test, dma_resv_reserve_fences(busy, 1), 0);
	dma_resv_add_fence(busy, fence, DMA_RESV_USAGE_BOOKKEEP);
	dma_resv_unlock(busy);
	KUNIT_ASSERT_EQ(test, dma_resv_lock(locked, NULL), 0);
	tessera_evict_bytes(&f->tdev, 0);
	dma_resv_unlock(locked);
	KUNIT_EXPECT_EQ(test, outside(f), GENMASK(BOS - 1, 3));

	tessera_evict_bytes(&f->tdev, 0);
	KUNIT_EXPECT_EQ(test, outside(f), GENMASK(BOS - 1, 2));
	dma_fence_signal(fence);
	dma_fence_put(fence);
	tessera_evict_bytes(&f->tdev, 0);
	KUNIT_EXPECT_EQ(test, outside(f), GENMASK(BOS - 1, 1));
	fixture_free(f);
}

/* A BO that user space does not need goes first, even if it was used. */
static void evict_test_prefer(struct kunit *test)
{
	struct fixture *f = fixture(test);

	use(f, 5);
	f->bo[5].base.madv = DRM_TESSERA_MADV_DONT_NEED;
	tessera_evict_prefer(&f->bo[5]);
	tessera_evict_bytes(&f->tdev, 1);
	KUNIT_EXPECT_EQ(test, outside(f), BIT(5));
	fixture_free(f);
}

/* ---- BO_CREATE ---- */

static void evict_test_place(struct kunit *test)
{
	struct fixture *f = fixture(test);
	unsigned int i;

	f->more.base.base.size = LOCAL_SIZE + PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, tessera_evict_place(&f->more, &f->quota), -ENOSPC);
	f->more.base.base.size = SZ_8M;
	KUNIT_EXPECT_EQ(test, tessera_evict_place(&f->more, &f->quota), 0);
	KUNIT_EXPECT_TRUE(test, drm_mm_node_allocated(&f->more.local));
	KUNIT_EXPECT_EQ(test, outside(f), BIT(0) | BIT(1));
	tessera_evict_free_local(&f->more);

	for (i = 0; i < BOS; i++)
		atomic_set(&f->bo[i].needed, 1);
	test_free = 0;
	f->more.flags |= DRM_TESSERA_BO_LOCAL_ONLY;
	KUNIT_EXPECT_EQ(test, tessera_evict_place(&f->more, &f->quota), -ENOSPC);
	KUNIT_EXPECT_FALSE(test, test_elsewhere);
	f->more.flags = DRM_TESSERA_BO_LOCAL;
	KUNIT_EXPECT_EQ(test, tessera_evict_place(&f->more, &f->quota), 0);
	KUNIT_EXPECT_TRUE(test, test_elsewhere);
	KUNIT_EXPECT_FALSE(test, drm_mm_node_allocated(&f->more.local));
	fixture_free(f);
}

/* ---- SUBMIT ---- */

/* An eighth of local memory in 100 ms, except for the first BO, which may be larger. */
static void evict_test_budget(struct kunit *test)
{
	struct fixture *f = fixture(test);

	KUNIT_EXPECT_TRUE(test, budget_take(&f->tdev, SZ_4M));
	KUNIT_EXPECT_TRUE(test, budget_take(&f->tdev, SZ_4M));
	KUNIT_EXPECT_FALSE(test, budget_take(&f->tdev, PAGE_SIZE));
	test_jiffies += BUDGET_TIME;
	KUNIT_EXPECT_FALSE(test, budget_take(&f->tdev, PAGE_SIZE));
	test_jiffies++;
	KUNIT_EXPECT_TRUE(test, budget_take(&f->tdev, SZ_32M));
	KUNIT_EXPECT_FALSE(test, budget_take(&f->tdev, PAGE_SIZE));
	test_jiffies += BUDGET_TIME + 1;
	KUNIT_EXPECT_TRUE(test, budget_take(&f->tdev, SZ_8M - PAGE_SIZE));
	KUNIT_EXPECT_FALSE(test, budget_take(&f->tdev, SZ_8M));
	KUNIT_EXPECT_TRUE(test, budget_take(&f->tdev, PAGE_SIZE));
	KUNIT_EXPECT_FALSE(test, budget_take(&f->tdev, PAGE_SIZE));
	fixture_free(f);
}

/* Others are evicted after sixteen refusals, no more of them than references can be kept. */
static void evict_test_room(struct kunit *test)
{
	struct fixture *f = fixture(test);

	for (f->vm.refused = 0; f->vm.refused < REFUSED_MAX; f->vm.refused++) {
		f->keep.refused = false;
		KUNIT_EXPECT_FALSE(test, find_room(&f->more, &f->vm));
		KUNIT_EXPECT_TRUE(test, f->keep.refused);
	}
	KUNIT_EXPECT_EQ(test, outside(f), 0);
	KUNIT_EXPECT_TRUE(test, find_room(&f->more, &f->vm));
	KUNIT_EXPECT_EQ(test, outside(f), BIT(0) | BIT(1));
	KUNIT_EXPECT_EQ(test, f->keep.count, 2);
	KUNIT_EXPECT_PTR_EQ(test, f->keep.obj[1], &f->bo[1].base.base);
	KUNIT_EXPECT_EQ(test, f->vm.refused, 0);

	tessera_evict_free_local(&f->more);
	test_free = 0;
	f->more.base.base.size = LOCAL_SIZE;
	f->vm.refused = REFUSED_MAX;
	test_jiffies += BUDGET_TIME + 1;
	KUNIT_EXPECT_FALSE(test, find_room(&f->more, &f->vm));
	KUNIT_EXPECT_EQ(test, f->keep.count, TESSERA_EVICT_KEEP);
	fixture_free(f);
}

static struct kunit_case evict_cases[] = {
	KUNIT_CASE(evict_test_order),
	KUNIT_CASE(evict_test_busy),
	KUNIT_CASE(evict_test_prefer),
	KUNIT_CASE(evict_test_place),
	KUNIT_CASE(evict_test_budget),
	KUNIT_CASE(evict_test_room),
	{}
};

static struct kunit_suite evict_suite = {
	.name = "tessera_evict",
	.test_cases = evict_cases,
};

kunit_test_suite(evict_suite);
