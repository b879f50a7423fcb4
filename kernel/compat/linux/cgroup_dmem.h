/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __COMPAT_CGROUP_DMEM_H__
#define __COMPAT_CGROUP_DMEM_H__

/* 6.14 brought the controller of device memory. Before, no cgroup is charged. */

#include <linux/types.h>

struct dmem_cgroup_pool_state;
struct dmem_cgroup_region;

static inline struct dmem_cgroup_region *
dmem_cgroup_register_region(u64 size, const char *name, ...)
{
	return NULL;
}

static inline void dmem_cgroup_unregister_region(struct dmem_cgroup_region *region)
{
}

static inline int dmem_cgroup_try_charge(struct dmem_cgroup_region *region, u64 size,
					 struct dmem_cgroup_pool_state **pool,
					 struct dmem_cgroup_pool_state **limit)
{
	return 0;
}

static inline void dmem_cgroup_uncharge(struct dmem_cgroup_pool_state *pool, u64 size)
{
}

static inline bool dmem_cgroup_state_evict_valuable(struct dmem_cgroup_pool_state *limit,
						    struct dmem_cgroup_pool_state *pool,
						    bool ignore_low, bool *hit_low)
{
	return true;
}

static inline void dmem_cgroup_pool_state_put(struct dmem_cgroup_pool_state *pool)
{
}

#endif
