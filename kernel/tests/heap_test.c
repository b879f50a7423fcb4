// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/* Tiler heaps: what may be created, how the reserve is kept, who gets how much. */

#include <kunit/test.h>

/* Other suites have these, as they are or as stand-ins. */
#define tessera_queue_complete test_heap_queue_complete
#define tessera_queue_hw_command test_heap_queue_hw_command

#include "tests.h"

#include "../tessera_heap.c"

/* Stand-ins for the rest of the driver. Binds and BOs remember their size, no more. */
struct workqueue_struct *tessera_release_wq;

struct tessera_bind {
	u64 va;
	u64 size;
};

static u64 bound_end;		/* where the last bind that ran has ended */
static unsigned int bos_left;	/* BOs there is memory for */

static struct tessera_bind *bind_new(u64 va, u64 size)
{
	struct tessera_bind *bind = kzalloc(sizeof(*bind), GFP_KERNEL);

	if (!bind)
		return ERR_PTR(-ENOMEM);

	bind->va = va;
	bind->size = size;

	return bind;
}

struct tessera_bind *tessera_bind_create_map(struct tessera_vm *vm, struct drm_gem_object *obj,
					     u64 va)
{
	return bind_new(va, obj->size);
}

struct tessera_bind *tessera_bind_create_unmap(struct tessera_vm *vm, u64 va, u64 size)
{
	return bind_new(va, size);
}

int tessera_bind_run(struct tessera_bind *bind)
{
	bound_end = bind->va + bind->size;

	return 0;
}

void tessera_bind_destroy(struct tessera_bind *bind)
{
	kfree(bind);
}

static void bo_free(struct drm_gem_object *obj)
{
	kfree(to_tessera_bo(obj));
}

static const struct drm_gem_object_funcs bo_funcs = { .free = bo_free };

struct tessera_bo *tessera_bo_create(struct tessera_device *tdev, struct tessera_quota *quota,
				     u64 size, u32 flags, struct tessera_vm *vm, u32 vm_id)
{
	struct tessera_bo *bo = bos_left ? kzalloc(sizeof(*bo), GFP_KERNEL) : NULL;

	if (!bo)
		return ERR_PTR(-ENOMEM);

	bos_left--;
	kref_init(&bo->base.base.refcount);
	bo->base.base.size = size;
	bo->base.base.funcs = &bo_funcs;

	return bo;
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

void tessera_queue_complete(struct tessera_queue *queue)
{
}

void tessera_queue_hw_command(struct tessera_queue *queue, u32 op)
{
}

/* A VM with 39-bit addresses. */
static struct tessera_vm *vm_new(struct kunit *test)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);
	struct tessera_vm *vm = kunit_kzalloc(test, sizeof(*vm), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	KUNIT_ASSERT_NOT_NULL(test, vm);
	tdev->drm.dev = tessera_test_device(test);
	tdev->info.max_queues = 64;
	tdev->info.num_as = 64;
	vm->tdev = tdev;
	vm->as = -1;
	vm->base.mm_start = TESSERA_VA_START;
	vm->base.mm_range = BIT_ULL(39) - TESSERA_VA_START;
	vm->base.rb.tree = RB_ROOT_CACHED;
	mutex_init(&vm->op_lock);
	INIT_LIST_HEAD(&vm->heaps);
	tdev->accounts = tessera_accounts_create();
	KUNIT_ASSERT_NOT_NULL(test, tdev->accounts);
	vm->quota = tessera_quota_create(tdev, GLOBAL_ROOT_UID);
	KUNIT_ASSERT_NOT_NULL(test, vm->quota);
	bos_left = 1000;

	return vm;
}

static void vm_free(struct tessera_vm *vm)
{
	struct tessera_heap *heap, *next;

	list_for_each_entry_safe(heap, next, &vm->heaps, node)
		heap_free(heap);
	tessera_quota_put(vm->quota);
	tessera_accounts_put(vm->tdev->accounts);
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
	struct tessera_vm *vm = vm_new(test);
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

/* A heap with its initial memory, as HEAP_CREATE creates it. */
static struct tessera_heap *heap_new(struct kunit *test, struct tessera_vm *vm,
				     const struct drm_tessera_heap_create *args)
{
	struct tessera_heap *heap = heap_create(vm, args);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, heap);
	KUNIT_ASSERT_EQ(test, heap_grow(heap, args->initial_size), 0);

	return heap;
}

/* A heap of 64 MiB of which the device knows @committed bytes. */
static struct tessera_heap *large_heap(struct kunit *test, struct tessera_vm *vm, u64 committed)
{
	const struct drm_tessera_heap_create args = {
		.va = 4ull * SZ_1G, .max_size = SZ_64M, .initial_size = committed,
		.chunk_size = SZ_64K,
	};

	return heap_new(test, vm, &args);
}

/* A new heap has its initial memory and a reserve after it, but no more than its range. */
static void heap_test_reserve(struct kunit *test)
{
	struct tessera_vm *vm = vm_new(test);
	struct tessera_heap *heap = large_heap(test, vm, SZ_128K);

	KUNIT_EXPECT_EQ(test, atomic64_read(&heap->bound), SZ_128K + RESERVE_BYTES);
	KUNIT_EXPECT_EQ(test, bound_end, heap->va + SZ_128K + RESERVE_BYTES);
	KUNIT_EXPECT_EQ(test, atomic64_read(&heap->committed), SZ_128K);
	KUNIT_EXPECT_EQ(test, vm->quota->budget.share[TESSERA_QUOTA_HEAP_MEMORY].used,
			SZ_128K + RESERVE_BYTES);

	/* The reserve depends on the use of frames, and doubles after it was empty. */
	atomic64_set(&heap->committed, SZ_16M);
	KUNIT_EXPECT_EQ(test, heap_grow(heap, 0), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&heap->bound), SZ_16M + SZ_8M);
	atomic_set(&heap->empty, 2);
	KUNIT_EXPECT_EQ(test, heap_grow(heap, 0), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&heap->bound), SZ_16M + SZ_32M);
	atomic_set(&heap->empty, 1000);
	KUNIT_EXPECT_EQ(test, heap_grow(heap, 0), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&heap->bound), SZ_64M);

	heap_free(heap);
	KUNIT_EXPECT_EQ(test, vm->quota->budget.share[TESSERA_QUOTA_HEAP_MEMORY].used, 0);
	KUNIT_EXPECT_EQ(test, vm->quota->budget.share[TESSERA_QUOTA_HEAPS].used, 0);
	vm_free(vm);
}

/* Chunk after chunk of what is bound; then nothing, whether or not there could be more. */
static void heap_test_commit(struct kunit *test)
{
	struct tessera_vm *vm = vm_new(test);
	struct tessera_heap *heap = large_heap(test, vm, SZ_128K);
	u64 have = SZ_128K, got;

	while (have < SZ_128K + RESERVE_BYTES) {
		got = heap_commit(heap, have);
		KUNIT_ASSERT_EQ(test, got, have + SZ_64K);
		KUNIT_EXPECT_EQ(test, atomic64_read(&heap->committed), got);
		have = got;
	}
	KUNIT_EXPECT_EQ(test, heap_commit(heap, have), 0);

	/* Another queue of the same heap that knows of less gets what is committed already. */
	KUNIT_EXPECT_EQ(test, heap_commit(heap, SZ_256K), SZ_256K + SZ_64K);
	KUNIT_EXPECT_EQ(test, atomic64_read(&heap->committed), have);

	KUNIT_EXPECT_EQ(test, heap_grow(heap, 0), 0);
	KUNIT_EXPECT_EQ(test, heap_commit(heap, have), have + SZ_64K);
	vm_free(vm);
}

/* No memory is an error; no share left is one only if what must be there is not. */
static void heap_test_nothing_left(struct kunit *test)
{
	struct tessera_vm *vm = vm_new(test);
	struct tessera_heap *heap = large_heap(test, vm, SZ_128K);
	u64 bound = atomic64_read(&heap->bound), used;

	atomic64_set(&heap->committed, bound);
	bos_left = 0;
	KUNIT_EXPECT_EQ(test, heap_grow(heap, 0), -ENOMEM);
	KUNIT_EXPECT_EQ(test, heap->error, -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic64_read(&heap->bound), bound);

	bos_left = 1000;
	used = vm->quota->budget.share[TESSERA_QUOTA_HEAP_MEMORY].used;
	vm->quota->budget.share[TESSERA_QUOTA_HEAP_MEMORY].limit = used + SZ_64K;
	KUNIT_EXPECT_EQ(test, heap_grow(heap, 0), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&heap->bound), bound + SZ_64K);
	KUNIT_EXPECT_EQ(test, heap_grow(heap, 0), 0);
	KUNIT_EXPECT_EQ(test, heap->error, -ENOSPC);
	KUNIT_EXPECT_EQ(test, heap_grow(heap, bound + SZ_128K), -ENOSPC);
	KUNIT_EXPECT_EQ(test, atomic64_read(&heap->bound), bound + SZ_64K);
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
	struct tessera_vm *vm = vm_new(test);
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

#define TEST_SLOT	2
#define REGS_SIZE	SZ_1M

/*
 * A queue that waits for a heap gets a chunk if it owns its slot and its job will not fail. This
 * includes the time before sleep, when the queue accepts no jobs but those on the ring have to end.
 */
static void heap_test_work(struct kunit *test)
{
	static const struct {
		bool ring, enabled, answered;
		int dead;
	} rows[] = {
		{ .ring = true, .enabled = true, .answered = true },
		{ .ring = true, .answered = true },
		{ .ring = true, .enabled = true, .dead = -ECANCELED },
		{ .enabled = true },
	};
	struct tessera_queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);
	struct tessera_vm *vm = vm_new(test);
	struct tessera_heap *heap = large_heap(test, vm, SZ_128K);
	struct tessera_device *tdev = vm->tdev;
	struct tessera_fence *fence;
	unsigned int i;
	u32 grow;

	KUNIT_ASSERT_NOT_NULL(test, queue);
	tdev->regs = (void __iomem *)kunit_kzalloc(test, REGS_SIZE, GFP_KERNEL);
	queue->timeline = kunit_kzalloc(test, sizeof(*queue->timeline), GFP_KERNEL);
	fence = kunit_kzalloc(test, sizeof(*fence), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, (void *)tdev->regs);
	KUNIT_ASSERT_NOT_NULL(test, queue->timeline);
	KUNIT_ASSERT_NOT_NULL(test, fence);
	queue->tdev = tdev;
	queue->slot = TEST_SLOT;
	mutex_init(&queue->lock);
	spin_lock_init(&queue->timeline->lock);
	INIT_LIST_HEAD(&queue->timeline->pending);
	fence->heap = heap;
	list_add(&fence->node, &queue->timeline->pending);
	tessera_write(tdev, TSR_REG_QUEUE_STATE(TEST_SLOT),
		      FIELD_PREP(TSR_QUEUE_STATE_STATE__MASK, TSR_QUEUE_STATE_BLOCKED) |
		      FIELD_PREP(TSR_QUEUE_STATE_BLOCK__MASK, TSR_QUEUE_BLOCK_HEAP));
	tessera_write64(tdev, TSR_REG_QUEUE_HEAP_BASE(TEST_SLOT), heap->va);
	tessera_write(tdev, TSR_REG_QUEUE_HEAP_SIZE(TEST_SLOT), SZ_128K / TSR_HEAP_ALIGN);

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		tessera_write(tdev, TSR_REG_QUEUE_HEAP_GROW(TEST_SLOT), 0);
		queue->ring.cpu = rows[i].ring ? (__le64 *)queue : NULL;
		queue->enabled = rows[i].enabled;
		queue->dead = rows[i].dead;
		tessera_heap_work(&queue->heap_work);
		grow = tessera_read(tdev, TSR_REG_QUEUE_HEAP_GROW(TEST_SLOT));
		KUNIT_EXPECT_EQ_MSG(test, grow,
				    rows[i].answered ? (SZ_128K + SZ_64K) / TSR_HEAP_ALIGN : 0,
				    "row %u", i);
	}
	vm_free(vm);
}

static struct kunit_case heap_cases[] = {
	KUNIT_CASE(heap_test_arguments),
	KUNIT_CASE(heap_test_reserve),
	KUNIT_CASE(heap_test_commit),
	KUNIT_CASE(heap_test_nothing_left),
	KUNIT_CASE(heap_test_claim),
	KUNIT_CASE(heap_test_work),
	{}
};

static struct kunit_suite heap_suite = {
	.name = "tessera_heap",
	.test_cases = heap_cases,
};

kunit_test_suite(heap_suite);
