// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Page tables
 *
 * A page table is a tree of 4 KiB tables with 512 entries each and three to five
 * levels. Level 0 holds 4 KiB pages, level 1 holds 2 MiB pages or pointers to level 0,
 * and the levels above hold pointers. The device reads tables by bus address, so each
 * table of pointers has an array with the CPU's addresses of its children.
 *
 * The device caches valid entries but never the absence of an entry. Entries are
 * therefore changed in place with single 64-bit stores, and a table is complete before
 * it is linked. A caller that has changed a valid entry (&tessera_pt_pool.dirty)
 * invalidates the TLB before it frees the mapped memory or a table.
 *
 * Functions that change the tree do not allocate. They take no lock either: the owner of
 * the tree serializes changes.
 */

#include <linux/align.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "tessera_device.h"
#include "tessera_mmu.h"
#include "tessera_quota.h"

#define PT_ENTRIES	((u32)BIT(TSR_PT_INDEX_BITS))
#define PT_SIZE		(PT_ENTRIES * sizeof(__le64))
/* Most tables one NULL mapping may take: 16 MiB, for nearly 2 TiB of large pages. */
#define PT_NULL_MAX		2048
/* Unused tables a tree keeps for its next change, of each kind. */
#define PT_CACHE_MAX		8
#define SMALL_SIZE	BIT_ULL(TSR_PAGE_SHIFT)
#define HUGE_SIZE	BIT_ULL(TSR_HUGE_SHIFT)

/* Bits of a leaf that a caller gives; the rest is ours. */
#define PTE_CALLER_BITS \
	(TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK | TSR_PTE_EXEC__MASK | \
	 TSR_PTE_NULL__MASK | TSR_PTE_LOCAL__MASK)

/**
 * struct tessera_pt - one table
 */
struct tessera_pt {
	/** @node: Link in a pool while the table is not in a tree. */
	struct list_head node;
	/** @quota: Who is charged for it, who outlives it, or NULL. */
	struct tessera_quota *quota;
	/** @entries: The table as the device sees it. */
	__le64 *entries;
	/** @dma: Bus address of @entries. */
	dma_addr_t dma;
	/** @live: Valid entries. */
	unsigned int live;
	/** @num_children: PT_ENTRIES, or 0 for a table of level 0. */
	unsigned int num_children;
	/** @child: Tables the entries point to, NULL where there is none. A page, as entries. */
	struct tessera_pt **child;
};

/**
 * struct tessera_pgtable - one tree
 */
struct tessera_pgtable {
	/** @dev: Device that reads the tables. */
	struct device *dev;
	/** @quota: Who is charged for tables, or NULL. */
	struct tessera_quota *quota;
	/** @root: Table of the highest level. */
	struct tessera_pt *root;
	/** @levels: Number of levels. */
	unsigned int levels;
	/** @huge: 2 MiB leaves are possible. */
	bool huge;
	/** @cache_lock: Protects @cache and @cached; a leaf lock. */
	spinlock_t cache_lock;
	/** @cache: Unused, empty tables: of pointers, and for level 0. */
	struct list_head cache[2];
	/** @cached: How many those are. */
	unsigned int cached[2];
};

static unsigned int pt_shift(unsigned int level)
{
	return TSR_PAGE_SHIFT + level * TSR_PT_INDEX_BITS;
}

static unsigned int pt_index(u64 va, unsigned int level)
{
	return (va >> pt_shift(level)) & (PT_ENTRIES - 1);
}

/* Memory that a table needs: its entries, and an array of the same length for children. */
static u64 pt_cost(unsigned int children)
{
	return PT_SIZE + sizeof(struct tessera_pt) + children * sizeof(struct tessera_pt *);
}

/* Consumes @pt, which may have a part of its memory only. */
static void pt_free(struct device *dev, struct tessera_pt *pt)
{
	if (pt->entries)
		dma_free_coherent(dev, PT_SIZE, pt->entries, pt->dma);
	if (pt->quota)
		tessera_quota_uncharge(pt->quota, TESSERA_QUOTA_PAGE_TABLES,
				       pt_cost(pt->num_children));
	kfree(pt->child);
	kfree(pt);
}

/*
 * User space decides how many tables there are, so running out of memory is its
 * error, -ENOMEM, and no reason to kill somebody. -ENOSPC if it has had its share.
 */
static struct tessera_pt *pt_alloc(struct tessera_pgtable *pgt, bool leaf)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN;
	struct tessera_pt *pt = kzalloc(sizeof(*pt), gfp);

	if (!pt)
		return ERR_PTR(-ENOMEM);

	pt->num_children = leaf ? 0 : PT_ENTRIES;
	if (pgt->quota && !tessera_quota_try_charge(pgt->quota, TESSERA_QUOTA_PAGE_TABLES,
						    pt_cost(pt->num_children))) {
		kfree(pt);
		return ERR_PTR(-ENOSPC);
	}
	pt->quota = pgt->quota;
	if (!leaf)
		pt->child = kcalloc(PT_ENTRIES, sizeof(*pt->child), gfp);
	if (leaf || pt->child)
		pt->entries = dma_alloc_coherent(pgt->dev, PT_SIZE, &pt->dma, gfp);
	if (!pt->entries) {
		pt_free(pgt->dev, pt);
		return ERR_PTR(-ENOMEM);
	}

	return pt;
}

static void pt_free_list(struct device *dev, struct list_head *list)
{
	struct tessera_pt *pt, *next;

	list_for_each_entry_safe(pt, next, list, node) {
		list_del(&pt->node);
		pt_free(dev, pt);
	}
}

/* An empty table from the cache, or a new one. */
static struct tessera_pt *pt_get(struct tessera_pgtable *pgt, bool leaf)
{
	struct tessera_pt *pt;

	spin_lock(&pgt->cache_lock);
	pt = list_first_entry_or_null(&pgt->cache[leaf], struct tessera_pt, node);
	if (pt) {
		list_del(&pt->node);
		pgt->cached[leaf]--;
	}
	spin_unlock(&pgt->cache_lock);

	return pt ?: pt_alloc(pgt, leaf);
}

static void pt_recycle(struct tessera_pgtable *pgt, struct list_head *list, bool leaf)
{
	struct tessera_pt *pt, *next;

	spin_lock(&pgt->cache_lock);
	list_for_each_entry_safe(pt, next, list, node) {
		if (pgt->cached[leaf] >= PT_CACHE_MAX)
			break;
		list_move(&pt->node, &pgt->cache[leaf]);
		pgt->cached[leaf]++;
	}
	spin_unlock(&pgt->cache_lock);
}

static u64 pt_entry(const struct tessera_pt *pt, unsigned int index)
{
	return le64_to_cpu(pt->entries[index]);
}

/* Store one entry, keeping count; returns whether a valid one was there. */
static bool pt_store(struct tessera_pt *pt, unsigned int index, u64 entry)
{
	bool was = pt_entry(pt, index) & TSR_PTE_VALID__MASK;
	bool is = entry & TSR_PTE_VALID__MASK;

	pt->live += is;
	pt->live -= was;
	WRITE_ONCE(pt->entries[index], cpu_to_le64(entry));

	return was;
}

/* Point entry @index at @child, whose contents are complete. */
static bool pt_link(struct tessera_pt *pt, unsigned int index, struct tessera_pt *child)
{
	dma_wmb();
	pt->child[index] = child;

	return pt_store(pt, index, TSR_PTE_VALID__MASK | (child->dma & TSR_PTE_ADDR__MASK));
}

/* A whole subtree goes: its tables wait for the invalidation. */
static void pt_retire(struct tessera_pt_pool *pool, struct tessera_pt *pt)
{
	unsigned int i;

	for (i = 0; i < pt->num_children; i++) {
		if (pt->child[i])
			pt_retire(pool, pt->child[i]);
	}

	list_add_tail(&pt->node, &pool->dead);
	pool->dirty = true;
}

static struct tessera_pt *pt_take(struct list_head *list)
{
	struct tessera_pt *pt = list_first_entry_or_null(list, struct tessera_pt, node);

	if (!WARN_ON_ONCE(!pt))
		list_del(&pt->node);

	return pt;
}

/**
 * tessera_pgtable_create() - make an empty tree
 * @dev: device that will read it
 * @info: shape of its addresses
 * @quota: who is charged for its tables, outlives it; NULL for the kernel's own
 *
 * Return: the tree or NULL when there is no memory.
 */
struct tessera_pgtable *tessera_pgtable_create(struct device *dev,
					       const struct tessera_hw_info *info,
					       struct tessera_quota *quota)
{
	struct tessera_pgtable *pgt = kzalloc(sizeof(*pgt), GFP_KERNEL_ACCOUNT);

	if (!pgt)
		return NULL;

	pgt->dev = dev;
	pgt->quota = quota;
	pgt->levels = info->va_levels;
	pgt->huge = info->features & TSR_FEATURE_HUGE_PAGES;
	spin_lock_init(&pgt->cache_lock);
	INIT_LIST_HEAD(&pgt->cache[0]);
	INIT_LIST_HEAD(&pgt->cache[1]);
	pgt->root = pt_alloc(pgt, false);
	if (IS_ERR(pgt->root)) {
		kfree(pgt);
		return NULL;
	}

	return pgt;
}

/**
 * tessera_pgtable_destroy() - free a tree that no address space uses
 * @pgt: tree, may be NULL
 */
void tessera_pgtable_destroy(struct tessera_pgtable *pgt)
{
	struct tessera_pt_pool pool;

	if (!pgt)
		return;

	tessera_pt_pool_init(&pool);
	pt_retire(&pool, pgt->root);
	tessera_pt_pool_fini(pgt->dev, &pool);
	pt_free_list(pgt->dev, &pgt->cache[0]);
	pt_free_list(pgt->dev, &pgt->cache[1]);
	kfree(pgt);
}

/**
 * tessera_pgtable_root() - what AS.BASE wants
 * @pgt: tree
 *
 * Return: the root in the form of an entry that points to it.
 */
u64 tessera_pgtable_root(const struct tessera_pgtable *pgt)
{
	return TSR_AS_BASE_VALID__MASK | (pgt->root->dma & TSR_AS_BASE_ADDR__MASK);
}

/**
 * tessera_pt_mappable() - can entries say where this memory is?
 * @sgt: memory, mapped for DMA
 *
 * Return: false if one of its segments is not whole pages of 4 KiB.
 */
bool tessera_pt_mappable(const struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (!IS_ALIGNED(sg_dma_address(sg) | sg_dma_len(sg), SMALL_SIZE))
			return false;
	}

	return true;
}

/**
 * tessera_pt_pool_init() - make a pool empty
 * @pool: pool
 */
void tessera_pt_pool_init(struct tessera_pt_pool *pool)
{
	INIT_LIST_HEAD(&pool->leaves);
	INIT_LIST_HEAD(&pool->dirs);
	INIT_LIST_HEAD(&pool->dead);
	pool->dirty = false;
	pool->have = PT_HAVE_NONE;
}

/**
 * tessera_pt_pool_recycle() - keep a few unused tables of a pool
 * @pgt: tree the pool was for
 * @pool: pool; the rest, and the dead tables, are left for tessera_pt_pool_fini()
 *
 * Most changes need none of what is reserved for the worst case.
 */
void tessera_pt_pool_recycle(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool)
{
	pt_recycle(pgt, &pool->leaves, true);
	pt_recycle(pgt, &pool->dirs, false);
}

/**
 * tessera_pt_pool_fini() - free what is left in a pool
 * @dev: device of the tree the pool was for
 * @pool: pool
 *
 * Not before the invalidation after the last change is complete. Frees DMA
 * memory, so not in atomic context.
 */
void tessera_pt_pool_fini(struct device *dev, struct tessera_pt_pool *pool)
{
	pt_free_list(dev, &pool->leaves);
	pt_free_list(dev, &pool->dirs);
	pt_free_list(dev, &pool->dead);
}

static int pt_reserve(struct tessera_pgtable *pgt, struct list_head *list, u64 count, bool leaf)
{
	struct tessera_pt *pt;

	while (count--) {
		pt = pt_get(pgt, leaf);
		if (IS_ERR(pt))
			return PTR_ERR(pt);
		list_add(&pt->node, list);
	}

	return 0;
}

/**
 * tessera_pt_reserve_map() - allocate what mapping a range can need
 * @pgt: tree
 * @pool: pool to fill
 * @va: start
 * @size: length, not zero
 * @null: it becomes a NULL mapping
 *
 * Every table the range touches may be missing, and a 2 MiB leaf at either end
 * may have to be split, which takes the table of that end. The BO bounds the size
 * of other mappings; a NULL mapping can be as large as the address space, so it
 * takes large pages where there are some, and has a limit.
 *
 * Return: 0, -ENOMEM or -ENOSPC; what was allocated stays in the pool.
 */
int tessera_pt_reserve_map(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool,
			   u64 va, u64 size, bool null)
{
	u64 first = va >> TSR_HUGE_SHIFT, last = (va + size - 1) >> TSR_HUGE_SHIFT;
	u64 dirs = 0, leaves = last - first + 1;
	unsigned int level;
	int ret;

	/* A mapping that ends inside a region leaves a table there, and all above it. */
	if (first == last && first == pool->have && size < HUGE_SIZE)
		return 0;
	pool->have = IS_ALIGNED(va + size, HUGE_SIZE) ? PT_HAVE_NONE : last;

	for (level = 1; level < pgt->levels - 1; level++) {
		unsigned int shift = pt_shift(level + 1);

		dirs += ((va + size - 1) >> shift) - (va >> shift) + 1;
	}

	if (null && pgt->huge)
		leaves = min(leaves, 2);
	if (null && dirs + leaves > PT_NULL_MAX)
		return -ENOMEM;

	ret = pt_reserve(pgt, &pool->dirs, dirs, false);
	if (ret)
		return ret;

	return pt_reserve(pgt, &pool->leaves, leaves, true);
}

/**
 * tessera_pt_reserve_unmap() - allocate what unmapping a range can need
 * @pgt: tree
 * @pool: pool to fill
 * @va: start
 * @size: length, not zero
 *
 * That is one table for each end that lies inside a 2 MiB leaf.
 *
 * Return: 0, -ENOMEM or -ENOSPC; what was allocated stays in the pool.
 */
int tessera_pt_reserve_unmap(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool,
			     u64 va, u64 size)
{
	unsigned int ends = !IS_ALIGNED(va, HUGE_SIZE) + !IS_ALIGNED(va + size, HUGE_SIZE);

	tessera_pt_reserve_nothing(pool);

	return pt_reserve(pgt, &pool->leaves, pgt->huge ? ends : 0, true);
}

/**
 * tessera_pt_count_map() - how many tables mapping a range can need
 * @info: shape of addresses
 * @va: start
 * @size: length, not zero
 * @dirs: tables of pointers are added to it
 * @leaves: tables of level 0 are added to it
 */
void tessera_pt_count_map(const struct tessera_hw_info *info, u64 va, u64 size, u64 *dirs,
			  u64 *leaves)
{
	unsigned int level;

	*leaves += ((va + size - 1) >> TSR_HUGE_SHIFT) - (va >> TSR_HUGE_SHIFT) + 1;
	for (level = 1; level < info->va_levels - 1; level++) {
		unsigned int shift = pt_shift(level + 1);

		*dirs += ((va + size - 1) >> shift) - (va >> shift) + 1;
	}
}

static int pt_reserve_uncharged(struct tessera_pgtable *free, struct list_head *list, u64 count,
				bool leaf)
{
	while (count--) {
		struct tessera_pt *pt = pt_alloc(free, leaf);

		if (IS_ERR(pt))
			return PTR_ERR(pt);
		list_add(&pt->node, list);
	}

	return 0;
}

/**
 * tessera_pt_reserve_uncharged() - allocate what mapping memory elsewhere can need
 * @dev: device of the tree
 * @pool: pool to fill
 * @dirs: tables of pointers that may be missing
 * @leaves: tables of level 0 that may be missing, for large pages that become small ones, too
 *
 * No user is charged, because the driver wants this.
 *
 * Return: 0 or -ENOMEM; what was allocated stays in the pool.
 */
int tessera_pt_reserve_uncharged(struct device *dev, struct tessera_pt_pool *pool, u64 dirs,
				 u64 leaves)
{
	struct tessera_pgtable free = { .dev = dev };
	int ret = pt_reserve_uncharged(&free, &pool->dirs, dirs, false);

	return ret ?: pt_reserve_uncharged(&free, &pool->leaves, leaves, true);
}

/**
 * tessera_pt_reserve_nothing() - a change comes that needs no table but may drop some
 * @pool: pool
 */
void tessera_pt_reserve_nothing(struct tessera_pt_pool *pool)
{
	pool->have = PT_HAVE_NONE;
}

/* The level 1 table for @va, made if it is missing. */
static struct tessera_pt *pt_walk_create(struct tessera_pgtable *pgt,
					 struct tessera_pt_pool *pool, u64 va)
{
	struct tessera_pt *pt = pgt->root;
	unsigned int level;

	for (level = pgt->levels - 1; level > 1; level--) {
		unsigned int index = pt_index(va, level);

		if (!pt->child[index]) {
			struct tessera_pt *child = pt_take(&pool->dirs);

			if (!child)
				return NULL;
			pt_link(pt, index, child);
		}
		pt = pt->child[index];
	}

	return pt;
}

/* Replace the 2 MiB leaf at @index of @dir by a table that maps the same. */
static struct tessera_pt *pt_split(struct tessera_pt_pool *pool, struct tessera_pt *dir,
				   unsigned int index)
{
	u64 entry = pt_entry(dir, index);
	u64 step = entry & TSR_PTE_NULL__MASK ? 0 : SMALL_SIZE;
	struct tessera_pt *leaf = pt_take(&pool->leaves);
	unsigned int i;

	if (!leaf)
		return NULL;

	for (i = 0; i < PT_ENTRIES; i++)
		pt_store(leaf, i, entry + i * step);

	pt_link(dir, index, leaf);
	pool->dirty = true;

	return leaf;
}

/* The level 0 table behind @index of @dir, made if it is missing. */
static struct tessera_pt *pt_leaf_create(struct tessera_pt_pool *pool, struct tessera_pt *dir,
					 unsigned int index)
{
	struct tessera_pt *leaf;

	if (dir->child[index])
		return dir->child[index];

	if (pt_entry(dir, index) & TSR_PTE_VALID__MASK)
		return pt_split(pool, dir, index);

	leaf = pt_take(&pool->leaves);
	if (leaf)
		pt_link(dir, index, leaf);

	return leaf;
}

static void pt_map_huge(struct tessera_pt_pool *pool, struct tessera_pt *dir,
			unsigned int index, u64 entry)
{
	struct tessera_pt *old = dir->child[index];

	dir->child[index] = NULL;
	pool->dirty |= pt_store(dir, index, entry);
	if (old)
		pt_retire(pool, old);
}

static void pt_map_small(struct tessera_pt_pool *pool, struct tessera_pt *dir,
			 u64 va, u64 size, u64 entry)
{
	struct tessera_pt *leaf = pt_leaf_create(pool, dir, pt_index(va, 1));
	u64 step = entry & TSR_PTE_NULL__MASK ? 0 : SMALL_SIZE;
	u64 done;

	if (!leaf)
		return;

	for (done = 0; done < size; done += SMALL_SIZE) {
		pool->dirty |= pt_store(leaf, pt_index(va + done, 0), entry);
		entry += step;
	}
}

/**
 * tessera_pt_map() - map a range onto contiguous memory
 * @pgt: tree
 * @pool: filled by tessera_pt_reserve_map() for this range
 * @va: start, 4 KiB aligned
 * @size: length, 4 KiB aligned
 * @addr: bus address or offset in local memory; 0 for a NULL mapping
 * @bits: READ, WRITE, EXEC, NULL and LOCAL bits of an entry
 *
 * Replaces what is mapped there. Mappings outside the range stay as they are at
 * every moment.
 */
void tessera_pt_map(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool,
		    u64 va, u64 size, u64 addr, u64 bits)
{
	bool null = bits & TSR_PTE_NULL__MASK;
	u64 entry = TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK | (bits & PTE_CALLER_BITS);

	while (size) {
		u64 step = min(size, ALIGN(va + 1, HUGE_SIZE) - va);
		struct tessera_pt *dir = pt_walk_create(pgt, pool, va);

		if (!dir)
			return;

		if (pgt->huge && step == HUGE_SIZE && IS_ALIGNED(addr, HUGE_SIZE))
			pt_map_huge(pool, dir, pt_index(va, 1), entry | addr);
		else
			pt_map_small(pool, dir, va, step, entry | addr);

		va += step;
		size -= step;
		addr += null ? 0 : step;
	}
}

static void pt_unlink(struct tessera_pt_pool *pool, struct tessera_pt *pt, unsigned int index)
{
	struct tessera_pt *child = pt->child[index];

	pt->child[index] = NULL;
	pool->dirty |= pt_store(pt, index, 0);
	if (child)
		pt_retire(pool, child);
}

/* Clear part of one level 0 table; the table goes with its last entry. */
static void pt_unmap_small(struct tessera_pt_pool *pool, struct tessera_pt *dir,
			   u64 va, u64 size)
{
	unsigned int index = pt_index(va, 1);
	struct tessera_pt *leaf = dir->child[index];
	u64 done;

	if (!leaf && pt_entry(dir, index) & TSR_PTE_VALID__MASK)
		leaf = pt_split(pool, dir, index);
	if (!leaf)
		return;

	for (done = 0; done < size; done += SMALL_SIZE)
		pool->dirty |= pt_store(leaf, pt_index(va + done, 0), 0);

	if (!leaf->live)
		pt_unlink(pool, dir, index);
}

/*
 * Remove what one entry leads to, of as high a level as the range covers whole, so
 * that it does not matter how large the range is but what is in it. Returns how much
 * of the range that was.
 */
static u64 pt_unmap_step(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool,
			 u64 va, u64 size)
{
	struct tessera_pt *path[TSR_LEVELS_MAX];
	unsigned int level = pgt->levels - 1;
	u64 step;

	path[level] = pgt->root;
	for (;; level--) {
		u64 span = BIT_ULL(pt_shift(level));

		step = min(size, ALIGN(va + 1, span) - va);
		if (step == span) {
			pt_unlink(pool, path[level], pt_index(va, level));
			break;
		}
		if (level == 1) {
			pt_unmap_small(pool, path[1], va, step);
			break;
		}
		path[level - 1] = path[level]->child[pt_index(va, level)];
		if (!path[level - 1])
			return step;
	}

	for (; level < pgt->levels - 1 && !path[level]->live; level++)
		pt_unlink(pool, path[level + 1], pt_index(va, level + 1));

	return step;
}

/**
 * tessera_pt_unmap() - remove all mappings of a range
 * @pgt: tree
 * @pool: filled by tessera_pt_reserve_unmap() for this range
 * @va: start, 4 KiB aligned
 * @size: length, 4 KiB aligned
 */
void tessera_pt_unmap(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool,
		      u64 va, u64 size)
{
	while (size) {
		u64 step = pt_unmap_step(pgt, pool, va, size);

		va += step;
		size -= step;
	}
}
