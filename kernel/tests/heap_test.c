// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Tiler heaps: what may be created, how the reserve is kept, who gets how much. */

#include <kunit/test.h>

#include "tests.h"

#include "../tessera_heap.c"

/* Stand-ins for the rest of the driver. */
struct workqueue_struct *tessera_release_wq;

int tessera_as_invalidate(struct tessera_device *tdev, int as, u64 va, u64 size)
{
	return 0;
}

bool tessera_binds_overlap(struct tessera_vm *vm, u64 va, u64 size)
{
	return va < SZ_1G + SZ_2M && SZ_1G < va + size;
}

struct tessera_vm *tessera_vm_get(struct tessera_vm *vm)
{
	return vm;
}

void tessera_vm_put(struct tessera_vm *vm)
{
}

struct tessera_vm *tessera_vm_lookup(struct drm_file *file, u32 id)
{
	return NULL;
}

void tessera_queue_put(struct tessera_queue *queue)
{
}

/* A VM of 39 bits with a page table. */
static struct tessera_vm *vm_with_tree(struct kunit *test)
{
	const struct tessera_hw_info info = { .va_levels = 3 };
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);
	struct tessera_vm *vm = kunit_kzalloc(test, sizeof(*vm), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	KUNIT_ASSERT_NOT_NULL(test, vm);
	tdev->drm.dev = tessera_test_device(test);
	vm->tdev = tdev;
	vm->as = -1;
	vm->base.mm_start = TESSERA_VA_START;
	vm->base.mm_range = BIT_ULL(39) - TESSERA_VA_START;
	vm->base.rb.tree = RB_ROOT_CACHED;
	mutex_init(&vm->op_lock);
	INIT_LIST_HEAD(&vm->heaps);
	INIT_LIST_HEAD(&vm->binds);
	vm->pgt = tessera_pgtable_create(tdev->drm.dev, &info);
	KUNIT_ASSERT_NOT_NULL(test, vm->pgt);

	return vm;
}

static void vm_free(struct tessera_vm *vm)
{
	struct tessera_heap *heap, *next;

	list_for_each_entry_safe(heap, next, &vm->heaps, node)
		tessera_heap_release_work(&heap->release_work);
	tessera_pgtable_destroy(vm->pgt);
}

static const struct drm_tessera_heap_create good = {
	.va = 2ull * SZ_1G, .max_size = SZ_1M, .initial_size = SZ_128K, .chunk_size = SZ_64K,
};

#define EXPECT_ARGS(vm, valid, ...) do { \
	struct drm_tessera_heap_create args_ = good; \
	\
	__VA_ARGS__; \
	KUNIT_EXPECT_EQ(test, heap_args_valid(vm, &args_), valid); \
} while (0)

static void heap_test_arguments(struct kunit *test)
{
	struct tessera_vm *vm = vm_with_tree(test);
	unsigned int bit;

	EXPECT_ARGS(vm, true, (void)args_);
	for (bit = 0; bit < 32; bit++) {
		EXPECT_ARGS(vm, false, args_.flags = BIT(bit));
		EXPECT_ARGS(vm, bit >= 16 && bit <= 21, args_ = (struct drm_tessera_heap_create){
			    .va = 2ull * SZ_1G, .max_size = SZ_16M, .chunk_size = BIT(bit) });
	}
	EXPECT_ARGS(vm, false, args_.chunk_size = 0);
	EXPECT_ARGS(vm, false, args_.chunk_size = 3 * SZ_64K; args_.max_size = 6 * SZ_64K;
		    args_.initial_size = 0; args_.va = 0);
	EXPECT_ARGS(vm, false, args_.va += SZ_4K);
	EXPECT_ARGS(vm, false, args_.max_size += SZ_4K);
	EXPECT_ARGS(vm, false, args_.initial_size += SZ_4K);
	EXPECT_ARGS(vm, false, args_.max_size = 0; args_.initial_size = 0);
	EXPECT_ARGS(vm, true, args_.initial_size = 0);
	EXPECT_ARGS(vm, true, args_.initial_size = SZ_1M);
	EXPECT_ARGS(vm, false, args_.initial_size = SZ_1M + SZ_64K);
	EXPECT_ARGS(vm, true, args_.max_size = DRM_TESSERA_HEAP_SIZE_MAX);
	EXPECT_ARGS(vm, false, args_.max_size = DRM_TESSERA_HEAP_SIZE_MAX + SZ_64K);
	EXPECT_ARGS(vm, false, args_.max_size = U64_MAX - SZ_64K + 1);
	EXPECT_ARGS(vm, false, args_.va = 0);
	EXPECT_ARGS(vm, true, args_.va = TESSERA_VA_START);
	EXPECT_ARGS(vm, true, args_.va = BIT_ULL(39) - SZ_1M);
	EXPECT_ARGS(vm, false, args_.va = BIT_ULL(39) - SZ_1M + SZ_64K);
	EXPECT_ARGS(vm, false, args_.va = U64_MAX - SZ_64K + 1);
	vm_free(vm);
}

/* What HEAP_CREATE makes: a heap with its initial memory. */
static struct tessera_heap *heap_new(struct kunit *test, struct tessera_vm *vm,
				     const struct drm_tessera_heap_create *args)
{
	struct tessera_heap *heap = heap_create(vm, args);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, heap);
	KUNIT_ASSERT_EQ(test, heap_fill(heap, GFP_KERNEL), 0);

	return heap;
}

/* A new heap has its initial memory and the reserve behind it, but no more than its range. */
static void heap_test_reserve(struct kunit *test)
{
	struct tessera_vm *vm = vm_with_tree(test);
	struct drm_tessera_heap_create args = good;
	struct tessera_heap *heap = heap_new(test, vm, &args);

	KUNIT_EXPECT_EQ(test, heap->mapped, SZ_128K + HEAP_RESERVE * SZ_64K);
	KUNIT_EXPECT_EQ(test, atomic64_read(&heap->committed), SZ_128K);

	args.va += SZ_1G;
	args.initial_size = SZ_1M - SZ_64K;
	heap = heap_new(test, vm, &args);
	KUNIT_EXPECT_EQ(test, heap->mapped, SZ_1M);
	vm_free(vm);
}

/* Chunk after chunk until the end, where the answer is that there is none. */
static void heap_test_commit(struct kunit *test)
{
	struct tessera_vm *vm = vm_with_tree(test);
	struct drm_tessera_heap_create args = good;
	struct tessera_heap *heap = heap_new(test, vm, &args);
	u64 have = SZ_128K, got;

	while (have < SZ_1M) {
		got = heap_commit(heap, have);
		KUNIT_ASSERT_EQ(test, got, have + SZ_64K);
		KUNIT_EXPECT_EQ(test, atomic64_read(&heap->committed), got);
		KUNIT_EXPECT_EQ(test, heap_fill(heap, GFP_KERNEL), 0);
		KUNIT_EXPECT_EQ(test, heap->mapped, min_t(u64, got + HEAP_RESERVE * SZ_64K, SZ_1M));
		have = got;
	}
	KUNIT_EXPECT_EQ(test, heap_commit(heap, have), 0);

	/* Another queue of the same heap that knows of less gets what is committed already. */
	KUNIT_EXPECT_EQ(test, heap_commit(heap, SZ_256K), SZ_256K + SZ_64K);
	KUNIT_EXPECT_EQ(test, atomic64_read(&heap->committed), SZ_1M);
	vm_free(vm);
}

/* Without a reserve and without memory nothing is handed out. */
static void heap_test_nothing_left(struct kunit *test)
{
	struct tessera_vm *vm = vm_with_tree(test);
	struct drm_tessera_heap_create args = good;
	struct tessera_heap *heap = heap_new(test, vm, &args);
	u64 have = SZ_128K;
	unsigned int i;

	for (i = 0; i < HEAP_RESERVE; i++)
		have = heap_commit(heap, have);
	KUNIT_EXPECT_EQ(test, have, heap->mapped);
	KUNIT_EXPECT_EQ(test, heap_commit(heap, have), 0);
	vm_free(vm);
}

static bool overlaps(struct tessera_vm *vm, u64 va, u64 size)
{
	bool ret;

	mutex_lock(&vm->op_lock);
	ret = tessera_heap_overlaps(vm, va, size);
	mutex_unlock(&vm->op_lock);

	return ret;
}

/* A heap's range is its own: no heap, no bind that is under way. */
static void heap_test_claim(struct kunit *test)
{
	struct tessera_vm *vm = vm_with_tree(test);
	struct drm_tessera_heap_create args = good;
	s64 move;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, heap_create(vm, &args));
	for (move = -SZ_1M; move <= SZ_1M; move += SZ_64K) {
		bool apart = move == -SZ_1M || move == SZ_1M;

		KUNIT_EXPECT_EQ(test, overlaps(vm, args.va + move, SZ_1M), !apart);
	}
	KUNIT_EXPECT_TRUE(test, overlaps(vm, args.va + SZ_4K, SZ_4K));
	KUNIT_EXPECT_EQ(test, PTR_ERR(heap_create(vm, &args)), -EBUSY);
	args.va = SZ_1G;
	KUNIT_EXPECT_EQ(test, PTR_ERR(heap_create(vm, &args)), -EBUSY);
	args.va = SZ_1G + SZ_2M;
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, heap_create(vm, &args));
	vm_free(vm);
}

static struct kunit_case heap_cases[] = {
	KUNIT_CASE(heap_test_arguments),
	KUNIT_CASE(heap_test_reserve),
	KUNIT_CASE(heap_test_commit),
	KUNIT_CASE(heap_test_nothing_left),
	KUNIT_CASE(heap_test_claim),
	{}
};

static struct kunit_suite heap_suite = {
	.name = "tessera_heap",
	.test_cases = heap_cases,
};

kunit_test_suite(heap_suite);
