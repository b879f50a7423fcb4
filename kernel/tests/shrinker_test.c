// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* BOs that the shrinker counts and purges. Reservations are real, pages are not. */

#include <kunit/test.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem_shmem_helper.h>

#include "../tessera_device.h"
#include "tests.h"

/* Stand-ins for the core, which would give back pages that are not there. */
static bool test_gone;
static unsigned int test_purged;

static void test_purge(struct drm_gem_shmem_object *shmem)
{
	shmem->madv = -1;
	test_purged++;
}

static bool test_enter(struct drm_device *drm, int *cookie)
{
	return !test_gone;
}

static void test_exit(int cookie)
{
}

#define drm_gem_shmem_purge_locked test_purge
#define drm_dev_enter test_enter
#define drm_dev_exit test_exit
/* Another suite has a stand-in of this name. */
#define tessera_shrinker_init test_shrinker_init

#include "../tessera_shrinker.c"

/* None of the BOs is mapped in a VM. */
int tessera_as_invalidate(struct tessera_device *tdev, int as, u64 va, u64 size)
{
	return 0;
}

void tessera_evict_prefer(struct tessera_bo *bo)
{
}

/* None of them is LOCAL. */
unsigned long tessera_swap_count(struct tessera_device *tdev)
{
	return 0;
}

unsigned long tessera_swap_scan(struct tessera_device *tdev, unsigned long want)
{
	return 0;
}

#define BOS	5

/* A device with some BOs that are not needed, of 1, 2, 3 ... pages. */
struct fixture {
	struct tessera_device tdev;
	struct tessera_bo bo[BOS];
	struct sg_table sgt;
	struct shrinker shrinker;
};

static struct fixture *fixture(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	mutex_init(&f->tdev.shrink.lock);
	INIT_LIST_HEAD(&f->tdev.shrink.list);
	f->shrinker.private_data = &f->tdev;
	for (i = 0; i < BOS; i++) {
		struct tessera_bo *bo = &f->bo[i];
		struct drm_gem_object *obj = &bo->base.base;

		obj->dev = &f->tdev.drm;
		obj->size = (i + 1) * PAGE_SIZE;
		obj->resv = &obj->_resv;
		dma_resv_init(obj->resv);
		INIT_LIST_HEAD(&obj->gpuva.list);
		mutex_init(tessera_gpuva_lock(obj));
		bo->base.sgt = &f->sgt;
		bo->base.madv = DRM_TESSERA_MADV_DONT_NEED;
		list_add_tail(&bo->madv_node, &f->tdev.shrink.list);
	}
	test_purged = 0;

	return f;
}

static void fixture_free(struct fixture *f)
{
	unsigned int i;

	for (i = 0; i < BOS; i++)
		dma_resv_fini(&f->bo[i].base.base._resv);
}

static unsigned long count(struct fixture *f)
{
	struct shrink_control sc = {};

	return tessera_shrinker_count(&f->shrinker, &sc);
}

static unsigned long scan(struct fixture *f, unsigned long pages)
{
	struct shrink_control sc = { .nr_to_scan = pages };

	return tessera_shrinker_scan(&f->shrinker, &sc);
}

static bool purged(struct fixture *f, unsigned int i)
{
	return f->bo[i].base.madv < 0;
}

/* Pages of what has some; none, where it cannot be told or there are none. */
static void shrinker_test_count(struct kunit *test)
{
	struct fixture *f = fixture(test);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, count(f), 1 + 2 + 3 + 4 + 5);
	f->bo[2].base.sgt = NULL;
	KUNIT_EXPECT_EQ(test, count(f), 1 + 2 + 4 + 5);
	mutex_lock(&f->tdev.shrink.lock);
	KUNIT_EXPECT_EQ(test, count(f), 0);
	mutex_unlock(&f->tdev.shrink.lock);
	for (i = 0; i < BOS; i++)
		f->bo[i].base.sgt = NULL;
	KUNIT_EXPECT_EQ(test, count(f), SHRINK_EMPTY);
	fixture_free(f);
}

/* As many as it takes, the oldest first, and not one more. */
static void shrinker_test_scan(struct kunit *test)
{
	struct fixture *f = fixture(test);

	KUNIT_EXPECT_EQ(test, scan(f, 1), 1);
	KUNIT_EXPECT_TRUE(test, purged(f, 0) && !purged(f, 1));
	KUNIT_EXPECT_EQ(test, scan(f, 4), 2 + 3);
	KUNIT_EXPECT_TRUE(test, purged(f, 1) && purged(f, 2) && !purged(f, 3));
	KUNIT_EXPECT_EQ(test, count(f), 4 + 5);
	KUNIT_EXPECT_EQ(test, scan(f, 100), 4 + 5);
	KUNIT_EXPECT_EQ(test, test_purged, BOS);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->tdev.shrink.list));
	KUNIT_EXPECT_EQ(test, scan(f, 1), SHRINK_STOP);
	fixture_free(f);
}

/* BOs in use stay, and stay on the list. The others are purged. */
static void shrinker_test_in_use(struct kunit *test)
{
	struct fixture *f = fixture(test);
	struct dma_resv *resv = f->bo[2].base.base.resv;

	f->bo[0].exported = true;
	atomic_set(&f->bo[1].needed, 1);
	KUNIT_ASSERT_EQ(test, dma_resv_lock(resv, NULL), 0);	/* by somebody else */
	f->bo[3].base.sgt = NULL;				/* without pages */
	KUNIT_EXPECT_EQ(test, scan(f, 100), 5);
	dma_resv_unlock(resv);
	KUNIT_EXPECT_EQ(test, test_purged, 1);
	KUNIT_EXPECT_TRUE(test, purged(f, 4));
	KUNIT_EXPECT_EQ(test, list_count_nodes(&f->tdev.shrink.list), BOS - 1);

	KUNIT_EXPECT_EQ(test, scan(f, 100), 3);
	KUNIT_EXPECT_EQ(test, scan(f, 100), SHRINK_STOP);
	f->bo[0].exported = false;
	atomic_set(&f->bo[1].needed, 0);
	KUNIT_EXPECT_EQ(test, scan(f, 100), 1 + 2);
	fixture_free(f);
}

#define VMS	3

/* A BO stays as long as one of its VMs is busy, and only locks that were taken are given back. */
static void shrinker_test_busy_vm(struct kunit *test)
{
	struct fixture *f = fixture(test);
	struct drm_gem_object *obj = &f->bo[0].base.base;
	struct drm_gpuvm_bo *vm_bo = kunit_kcalloc(test, VMS, sizeof(*vm_bo), GFP_KERNEL);
	struct tessera_vm *vm = kunit_kcalloc(test, VMS, sizeof(*vm), GFP_KERNEL);
	unsigned int i, busy;

	KUNIT_ASSERT_NOT_NULL(test, vm_bo);
	KUNIT_ASSERT_NOT_NULL(test, vm);
	for (i = 0; i < VMS; i++) {
		mutex_init(&vm[i].op_lock);
		vm_bo[i].vm = &vm[i].base;
		INIT_LIST_HEAD(&vm_bo[i].list.gpuva);
		list_add_tail(&vm_bo[i].list.entry.gem, &obj->gpuva.list);
	}
	for (busy = 0; busy < VMS; busy++) {
		mutex_lock(&vm[busy].op_lock);
		KUNIT_EXPECT_EQ(test, bo_purge(&f->bo[0]), 0);
		for (i = 0; i < VMS; i++)
			KUNIT_EXPECT_EQ(test, mutex_is_locked(&vm[i].op_lock), i == busy);
		KUNIT_EXPECT_FALSE(test, mutex_is_locked(tessera_gpuva_lock(obj)));
		mutex_unlock(&vm[busy].op_lock);
		KUNIT_EXPECT_FALSE(test, purged(f, 0));
	}
	KUNIT_EXPECT_EQ(test, bo_purge(&f->bo[0]), 1);
	for (i = 0; i < VMS; i++)
		KUNIT_EXPECT_FALSE(test, mutex_is_locked(&vm[i].op_lock));
	KUNIT_EXPECT_TRUE(test, purged(f, 0));
	fixture_free(f);
}

/* Nothing goes when the device is gone, or when somebody changes the list. */
static void shrinker_test_stops(struct kunit *test)
{
	struct fixture *f = fixture(test);

	test_gone = true;
	KUNIT_EXPECT_EQ(test, scan(f, 100), SHRINK_STOP);
	test_gone = false;
	mutex_lock(&f->tdev.shrink.lock);
	KUNIT_EXPECT_EQ(test, scan(f, 100), SHRINK_STOP);
	mutex_unlock(&f->tdev.shrink.lock);
	KUNIT_EXPECT_EQ(test, test_purged, 0);
	fixture_free(f);
}

static struct kunit_case shrinker_cases[] = {
	KUNIT_CASE(shrinker_test_count),
	KUNIT_CASE(shrinker_test_scan),
	KUNIT_CASE(shrinker_test_in_use),
	KUNIT_CASE(shrinker_test_busy_vm),
	KUNIT_CASE(shrinker_test_stops),
	{}
};

static struct kunit_suite shrinker_suite = {
	.name = "tessera_shrinker",
	.test_cases = shrinker_cases,
};

kunit_test_suite(shrinker_suite);
