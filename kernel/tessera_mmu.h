/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_MMU_H__
#define __TESSERA_MMU_H__

#include <linux/list.h>
#include <linux/types.h>

struct device;
struct sg_table;
struct tessera_hw_info;
struct tessera_pgtable;
struct tessera_quota;

/**
 * struct tessera_pt_pool - what a change of a page table needs and leaves behind
 *
 * Filled by tessera_pt_reserve() where memory can be allocated, emptied by the
 * change, which cannot fail then. Tables the change has cut out of the tree wait
 * here for the end of the TLB invalidation.
 */
struct tessera_pt_pool {
	/** @leaves: Unused tables for level 0. */
	struct list_head leaves;
	/** @dirs: Unused tables for higher levels. */
	struct list_head dirs;
	/** @dead: Tables that are no longer in the tree. */
	struct list_head dead;
	/** @dirty: An entry that was valid has changed: the TLB must be told. */
	bool dirty;
	/**
	 * @have: Number of the 2 MiB region that has a level 0 table once the
	 * changes reserved so far are made, so that another small mapping there
	 * needs nothing; PT_HAVE_NONE if none is known.
	 */
	u64 have;
};

#define PT_HAVE_NONE U64_MAX

struct tessera_pgtable *tessera_pgtable_create(struct device *dev,
					       const struct tessera_hw_info *info,
					       struct tessera_quota *quota);
void tessera_pgtable_destroy(struct tessera_pgtable *pgt);
u64 tessera_pgtable_root(const struct tessera_pgtable *pgt);

bool tessera_pt_mappable(const struct sg_table *sgt);
void tessera_pt_pool_init(struct tessera_pt_pool *pool);
void tessera_pt_pool_fini(struct device *dev, struct tessera_pt_pool *pool);
void tessera_pt_pool_recycle(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool);
void tessera_pt_reserve_nothing(struct tessera_pt_pool *pool);
int tessera_pt_reserve_map(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool,
			   u64 va, u64 size, bool null);
int tessera_pt_reserve_unmap(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool,
			     u64 va, u64 size);
void tessera_pt_count_map(const struct tessera_hw_info *info, u64 va, u64 size, u64 *dirs,
			  u64 *leaves);
int tessera_pt_reserve_uncharged(struct device *dev, struct tessera_pt_pool *pool, u64 dirs,
				 u64 leaves);

void tessera_pt_map(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool,
		    u64 va, u64 size, u64 addr, u64 bits);
void tessera_pt_unmap(struct tessera_pgtable *pgt, struct tessera_pt_pool *pool,
		      u64 va, u64 size);

#endif
