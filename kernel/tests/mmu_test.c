// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * Page tables, read the way the device reads them: by bus address, entry by entry,
 * from what AS.BASE would hold. The reference is an array with one element a page.
 */

#include <kunit/test.h>

#include <linux/io.h>

#include "tests.h"

#include "../tessera_mmu.c"

#define RW_BITS (TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK)

/* Pages of the window that is changed at random; its middle is where two tables of level 1 meet. */
#define WINDOW_PAGES	(8 * PT_ENTRIES)
#define WINDOW_VA	(SZ_1G - WINDOW_PAGES / 2 * SMALL_SIZE)

/* Result of the device's walk for @va: the leaf of its 4 KiB page, 0 if there is none. */
static u64 device_walk(struct tessera_pgtable *pgt, u64 va)
{
	u64 entry = tessera_pgtable_root(pgt);
	int level;

	for (level = pgt->levels - 1; level >= 0; level--) {
		const __le64 *table = phys_to_virt(entry & TSR_PTE_ADDR__MASK);

		entry = le64_to_cpu(table[pt_index(va, level)]);
		if (!(entry & TSR_PTE_VALID__MASK))
			return 0;
		if (entry & TSR_PTE_LEAF__MASK || !level)
			break;
	}
	if (!(entry & TSR_PTE_LEAF__MASK))
		return ~0ULL;
	if (!(entry & TSR_PTE_NULL__MASK))
		entry += va & (BIT_ULL(pt_shift(level)) - SMALL_SIZE);

	return entry;
}

/* The table whose entries are large pages, or tables of small ones, at @va; NULL: there is none. */
static struct tessera_pt *directory(struct tessera_pgtable *pgt, u64 va)
{
	struct tessera_pt *pt = pgt->root;
	unsigned int level;

	for (level = pgt->levels - 1; pt && level > 1; level--)
		pt = pt->child[pt_index(va, level)];

	return pt;
}

static u64 leaf(u64 addr, u64 bits)
{
	return addr | bits | TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK;
}

static struct tessera_pgtable *tree(struct kunit *test, unsigned int levels, bool huge)
{
	struct tessera_hw_info info = {
		.va_levels = levels,
		.features = huge ? TSR_FEATURE_HUGE_PAGES : 0,
	};
	struct tessera_pgtable *pgt = tessera_pgtable_create(tessera_test_device(test), &info,
							     NULL);

	KUNIT_ASSERT_NOT_NULL(test, pgt);

	return pgt;
}

/* Map or unmap as a bind does; returns whether the TLB has to be told. */
static bool change(struct kunit *test, struct tessera_pgtable *pgt, u64 va, u64 size, u64 addr,
		   u64 bits)
{
	struct tessera_pt_pool pool;
	int ret;

	tessera_pt_pool_init(&pool);
	if (bits)
		ret = tessera_pt_reserve_map(pgt, &pool, va, size, bits & TSR_PTE_NULL__MASK);
	else
		ret = tessera_pt_reserve_unmap(pgt, &pool, va, size);
	KUNIT_ASSERT_EQ(test, ret, 0);

	if (bits)
		tessera_pt_map(pgt, &pool, va, size, addr, bits);
	else
		tessera_pt_unmap(pgt, &pool, va, size);
	tessera_pt_pool_recycle(pgt, &pool);
	tessera_pt_pool_fini(pgt->dev, &pool);

	return pool.dirty;
}

/* Changes of one bind at most. */
#define BATCH_MAX	6

/* A change of the window: pages, and what they become. */
struct test_change {
	u32 first, end;
	u64 addr, bits;
};

/* Either end is where a table ends half of the time; memory is often such that large pages fit. */
static struct test_change random_change(struct tessera_test_random *random)
{
	u32 first = tessera_test_random(random, WINDOW_PAGES);
	u32 end = first + 1 + tessera_test_random(random, 3 * PT_ENTRIES);
	struct test_change c = { .bits = tessera_test_random(random, 3) ? RW_BITS : 0 };

	c.first = tessera_test_random(random, 2) ? round_down(first, PT_ENTRIES) : first;
	c.end = tessera_test_random(random, 2) ? round_up(end, PT_ENTRIES) : end;
	c.end = min(c.end, WINDOW_PAGES);
	if (c.bits && !tessera_test_random(random, 5)) {
		c.bits |= TSR_PTE_NULL__MASK;
	} else {
		c.addr = (1 + tessera_test_random(random, 1000)) * HUGE_SIZE;
		c.addr += (tessera_test_random(random, 3) ? c.first % PT_ENTRIES : 1) * SMALL_SIZE;
	}

	return c;
}

static u64 change_va(const struct test_change *c)
{
	return WINDOW_VA + c->first * SMALL_SIZE;
}

static u64 change_size(const struct test_change *c)
{
	return (u64)(c->end - c->first) * SMALL_SIZE;
}

static int change_reserve(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool,
			  const struct test_change *c)
{
	if (!c->bits)
		return tessera_pt_reserve_unmap(pgt, pool, change_va(c), change_size(c));

	return tessera_pt_reserve_map(pgt, pool, change_va(c), change_size(c),
				      c->bits & TSR_PTE_NULL__MASK);
}

static void change_run(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool,
		       const struct test_change *c)
{
	if (c->bits)
		tessera_pt_map(pgt, pool, change_va(c), change_size(c), c->addr, c->bits);
	else
		tessera_pt_unmap(pgt, pool, change_va(c), change_size(c));
}

/* Changes the reference. Returns true if the range had a mapping. */
static bool change_expect(u64 *expect, const struct test_change *c)
{
	u64 step = c->bits & TSR_PTE_NULL__MASK ? 0 : SMALL_SIZE;
	bool was = false;
	u32 i;

	for (i = c->first; i < c->end; i++) {
		was |= expect[i] != 0;
		expect[i] = c->bits ? leaf(c->addr + (i - c->first) * step, c->bits) : 0;
	}

	return was;
}

/* A bind of some random changes: all is reserved before the first is made. */
static void random_bind(struct kunit *test, struct tessera_pgtable *pgt, u64 *expect,
			struct tessera_test_random *random)
{
	u32 count = 1 + tessera_test_random(random, 2) * tessera_test_random(random, BATCH_MAX), i;
	struct test_change c[BATCH_MAX];
	struct tessera_pt_pool pool;
	bool was = false;

	tessera_pt_pool_init(&pool);
	for (i = 0; i < count; i++) {
		c[i] = random_change(random);
		KUNIT_ASSERT_EQ(test, change_reserve(pgt, &pool, &c[i]), 0);
	}
	for (i = 0; i < count; i++) {
		change_run(pgt, &pool, &c[i]);
		was |= change_expect(expect, &c[i]);
	}
	if (was)
		KUNIT_EXPECT_TRUE(test, pool.dirty);
	tessera_pt_pool_recycle(pgt, &pool);
	tessera_pt_pool_fini(pgt->dev, &pool);
}

static void random_changes(struct kunit *test, unsigned int levels, bool huge)
{
	struct tessera_test_random random = { levels * 2 + huge };
	struct tessera_pgtable *pgt = tree(test, levels, huge);
	u64 *expect = kunit_kcalloc(test, WINDOW_PAGES, sizeof(*expect), GFP_KERNEL);
	unsigned int round, i, bad = 0;

	KUNIT_ASSERT_NOT_NULL(test, expect);
	for (round = 0; round < 200 && !bad; round++) {
		random_bind(test, pgt, expect, &random);
		for (i = 0; i < WINDOW_PAGES && !bad; i++)
			bad = device_walk(pgt, WINDOW_VA + i * SMALL_SIZE) != expect[i] ? i + 1 : 0;
	}
	KUNIT_EXPECT_EQ_MSG(test, bad, 0, "bind %u, page %u", round, bad - 1);

	change(test, pgt, WINDOW_VA, WINDOW_PAGES * SMALL_SIZE, 0, 0);
	KUNIT_EXPECT_EQ(test, pgt->root->live, 0);
	tessera_pgtable_destroy(pgt);
}

static void mmu_test_random(struct kunit *test)
{
	unsigned int levels;

	for (levels = 3; levels <= TSR_LEVELS_MAX; levels++)
		random_changes(test, levels, levels != 4);
}

static void mmu_test_small_only(struct kunit *test)
{
	random_changes(test, 3, false);
}

/* The ends of the address space have tables of their own up to the root. */
static void mmu_test_ends(struct kunit *test)
{
	unsigned int levels;

	for (levels = 3; levels <= TSR_LEVELS_MAX; levels++) {
		struct tessera_pgtable *pgt = tree(test, levels, true);
		u64 last = BIT_ULL(pt_shift(levels)) - SMALL_SIZE;

		KUNIT_EXPECT_FALSE(test, change(test, pgt, 0, SMALL_SIZE, SZ_4K, RW_BITS));
		KUNIT_EXPECT_FALSE(test, change(test, pgt, last, SMALL_SIZE, SZ_8K, RW_BITS));
		KUNIT_EXPECT_EQ(test, device_walk(pgt, 0), leaf(SZ_4K, RW_BITS));
		KUNIT_EXPECT_EQ(test, device_walk(pgt, last), leaf(SZ_8K, RW_BITS));
		KUNIT_EXPECT_EQ(test, pgt->root->live, 2);
		KUNIT_EXPECT_TRUE(test, change(test, pgt, 0, SMALL_SIZE, 0, 0));
		KUNIT_EXPECT_TRUE(test, change(test, pgt, last, SMALL_SIZE, 0, 0));
		KUNIT_EXPECT_EQ(test, pgt->root->live, 0);
		tessera_pgtable_destroy(pgt);
	}
}

/* A large page is one entry; a hole in it splits it, and what is beside the hole stays. */
static void mmu_test_split(struct kunit *test)
{
	struct tessera_pgtable *pgt = tree(test, 4, true);
	u64 va = SZ_1G, hole = va + 5 * SMALL_SIZE;
	struct tessera_pt *dir;

	KUNIT_EXPECT_FALSE(test, change(test, pgt, va, HUGE_SIZE, SZ_4M, RW_BITS));
	dir = directory(pgt, va);
	KUNIT_ASSERT_NOT_NULL(test, dir);
	KUNIT_EXPECT_EQ(test, pt_entry(dir, pt_index(va, 1)), leaf(SZ_4M, RW_BITS));
	KUNIT_EXPECT_NULL(test, dir->child[pt_index(va, 1)]);

	KUNIT_EXPECT_TRUE(test, change(test, pgt, hole, SMALL_SIZE, 0, 0));
	KUNIT_EXPECT_EQ(test, device_walk(pgt, hole), 0);
	KUNIT_EXPECT_EQ(test, device_walk(pgt, hole - SMALL_SIZE),
			leaf(SZ_4M + 4 * SZ_4K, RW_BITS));
	KUNIT_EXPECT_EQ(test, device_walk(pgt, hole + SMALL_SIZE),
			leaf(SZ_4M + 6 * SZ_4K, RW_BITS));
	tessera_pgtable_destroy(pgt);
}

/* Addresses that a large page cannot hold get small ones. */
static void mmu_test_unaligned_address(struct kunit *test)
{
	struct tessera_pgtable *pgt = tree(test, 4, true);
	struct tessera_pt *dir;

	change(test, pgt, SZ_1G, HUGE_SIZE, SZ_4M + SZ_4K, RW_BITS);
	dir = directory(pgt, SZ_1G);
	KUNIT_ASSERT_NOT_NULL(test, dir);
	KUNIT_EXPECT_NOT_NULL(test, dir->child[pt_index(SZ_1G, 1)]);
	KUNIT_EXPECT_EQ(test, device_walk(pgt, SZ_1G + HUGE_SIZE - SMALL_SIZE),
			leaf(SZ_4M + HUGE_SIZE, RW_BITS));
	tessera_pgtable_destroy(pgt);
}

/* The page tables of a NULL mapping have a limit. A mapping of memory needs none. */
static void mmu_test_null_limit(struct kunit *test)
{
	struct tessera_pgtable *pgt = tree(test, 5, true);
	struct tessera_pt_pool pool;

	tessera_pt_pool_init(&pool);
	KUNIT_EXPECT_EQ(test, tessera_pt_reserve_map(pgt, &pool, 0, BIT_ULL(50), true), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, list_empty(&pool.dirs) && list_empty(&pool.leaves));
	KUNIT_EXPECT_EQ(test, tessera_pt_reserve_map(pgt, &pool, 0, SZ_1G, true), 0);
	KUNIT_EXPECT_LE(test, list_count_nodes(&pool.leaves), 2);
	tessera_pt_pool_fini(pgt->dev, &pool);
	tessera_pgtable_destroy(pgt);
}

/* Small mappings side by side share the table that the first one reserved. */
static void mmu_test_have(struct kunit *test)
{
	struct tessera_pgtable *pgt = tree(test, 4, true);
	struct tessera_pt_pool pool;
	unsigned int i;

	tessera_pt_pool_init(&pool);
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_EQ(test, tessera_pt_reserve_map(pgt, &pool, SZ_1G + i * SMALL_SIZE,
							     SMALL_SIZE, false), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&pool.leaves), 1);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&pool.dirs), 2);

	/* what lies between may drop that table again */
	tessera_pt_reserve_nothing(&pool);
	KUNIT_ASSERT_EQ(test, tessera_pt_reserve_map(pgt, &pool, SZ_1G, SMALL_SIZE, false), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&pool.leaves), 2);
	tessera_pt_pool_fini(pgt->dev, &pool);
	tessera_pgtable_destroy(pgt);
}

/* A large page at the end of a mapping is no table that the next mapping could share. */
static void mmu_test_have_not(struct kunit *test)
{
	static const u64 before[] = { SMALL_SIZE, SZ_1M, HUGE_SIZE - SMALL_SIZE, HUGE_SIZE };
	struct tessera_pgtable *pgt = tree(test, 4, true);
	struct tessera_pt_pool pool;
	unsigned int i, leaves;

	for (i = 0; i < ARRAY_SIZE(before); i++) {
		tessera_pt_pool_init(&pool);
		KUNIT_ASSERT_EQ(test, tessera_pt_reserve_map(pgt, &pool, SZ_1G - before[i],
							     before[i] + HUGE_SIZE, false), 0);
		leaves = list_count_nodes(&pool.leaves);
		KUNIT_ASSERT_EQ(test, tessera_pt_reserve_map(pgt, &pool, SZ_1G, SMALL_SIZE,
							     false), 0);
		KUNIT_EXPECT_EQ(test, list_count_nodes(&pool.leaves), leaves + 1);
		tessera_pt_pool_fini(pgt->dev, &pool);
	}
	tessera_pgtable_destroy(pgt);
}

/* A tree keeps some unused tables, not all. */
static void mmu_test_cache(struct kunit *test)
{
	struct tessera_pgtable *pgt = tree(test, 4, true);
	struct tessera_pt_pool pool;

	tessera_pt_pool_init(&pool);
	KUNIT_ASSERT_EQ(test, tessera_pt_reserve_map(pgt, &pool, SZ_1G, 20 * HUGE_SIZE, false), 0);
	tessera_pt_pool_recycle(pgt, &pool);
	KUNIT_EXPECT_EQ(test, pgt->cached[true], PT_CACHE_MAX);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&pool.leaves), 20 - PT_CACHE_MAX);
	tessera_pt_pool_fini(pgt->dev, &pool);

	KUNIT_ASSERT_EQ(test, tessera_pt_reserve_map(pgt, &pool, SZ_1G, SMALL_SIZE, false), 0);
	KUNIT_EXPECT_EQ(test, pgt->cached[true], PT_CACHE_MAX - 1);
	tessera_pt_pool_fini(pgt->dev, &pool);
	tessera_pgtable_destroy(pgt);
}

/* Segments of an import are whole pages, or it is refused. */
/* Mapping a range of an empty tree takes exactly the tables that are counted for it. */
static void mmu_test_count(struct kunit *test)
{
	static const struct {
		u64 va, size;
	} ranges[] = {
		{ SZ_2M, SMALL_SIZE },
		{ SZ_2M - SMALL_SIZE, 2 * SMALL_SIZE },
		{ SZ_1G - SMALL_SIZE, 2 * SMALL_SIZE },
		{ 512ULL * SZ_1G - SMALL_SIZE, 2 * SMALL_SIZE },
		{ SZ_1G - 3 * SZ_2M, 6 * SZ_2M + SMALL_SIZE },
	};
	const struct tessera_hw_info info = { .va_levels = 5 };
	struct tessera_pgtable *pgt = tree(test, info.va_levels, false);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		u64 va = ranges[i].va, last = va + ranges[i].size - SMALL_SIZE;
		u64 dirs = 0, leaves = 0;
		struct tessera_pt_pool pool;

		tessera_pt_pool_init(&pool);
		tessera_pt_count_map(&info, va, ranges[i].size, &dirs, &leaves);
		KUNIT_ASSERT_EQ(test, tessera_pt_reserve_uncharged(pgt->dev, &pool, dirs, leaves),
				0);
		tessera_pt_map(pgt, &pool, va, ranges[i].size, SZ_2M, RW_BITS);
		KUNIT_EXPECT_TRUE(test, list_empty(&pool.dirs));
		KUNIT_EXPECT_TRUE(test, list_empty(&pool.leaves));
		KUNIT_EXPECT_EQ(test, device_walk(pgt, va), leaf(SZ_2M, RW_BITS));
		KUNIT_EXPECT_EQ(test, device_walk(pgt, last), leaf(SZ_2M + last - va, RW_BITS));
		tessera_pt_unmap(pgt, &pool, va, ranges[i].size);
		KUNIT_EXPECT_EQ(test, device_walk(pgt, va), 0);
		KUNIT_EXPECT_EQ(test, pgt->root->live, 0);
		tessera_pt_pool_fini(pgt->dev, &pool);
	}
	tessera_pgtable_destroy(pgt);
}

static void mmu_test_mappable(struct kunit *test)
{
	static const struct {
		dma_addr_t addr;
		unsigned int len;
		bool valid;
	} cases[] = {
		{ 0, SZ_4K, true },
		{ SZ_1G, SZ_2M, true },
		{ SZ_1G + SZ_4K, 3 * SZ_4K, true },
		{ SZ_1G + 1, SZ_4K, false },
		{ SZ_1G + SZ_2K, SZ_4K, false },
		{ SZ_1G, SZ_2K, false },
		{ SZ_1G, SZ_4K + SZ_1K, false },
	};
	struct scatterlist sg[3];
	struct sg_table sgt = { .sgl = sg, .nents = 3, .orig_nents = 3 };
	unsigned int i, at;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (at = 0; at < 3; at++) {
			struct scatterlist *s;
			unsigned int n;

			sg_init_table(sg, 3);
			for_each_sgtable_dma_sg(&sgt, s, n) {
				sg_dma_address(s) = SZ_64K;
				sg_dma_len(s) = SZ_4K;
				if (n != at)
					continue;
				sg_dma_address(s) = cases[i].addr;
				sg_dma_len(s) = cases[i].len;
			}
			KUNIT_EXPECT_EQ(test, tessera_pt_mappable(&sgt), cases[i].valid);
		}
	}
}

static struct kunit_case mmu_cases[] = {
	KUNIT_CASE(mmu_test_mappable),
	KUNIT_CASE(mmu_test_count),
	KUNIT_CASE(mmu_test_random),
	KUNIT_CASE(mmu_test_small_only),
	KUNIT_CASE(mmu_test_ends),
	KUNIT_CASE(mmu_test_split),
	KUNIT_CASE(mmu_test_unaligned_address),
	KUNIT_CASE(mmu_test_null_limit),
	KUNIT_CASE(mmu_test_have),
	KUNIT_CASE(mmu_test_have_not),
	KUNIT_CASE(mmu_test_cache),
	{}
};

static struct kunit_suite mmu_suite = {
	.name = "tessera_mmu",
	.test_cases = mmu_cases,
};

kunit_test_suite(mmu_suite);
