/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_QUOTA_H__
#define __TESSERA_QUOTA_H__

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/wait.h>

struct drm_tessera_file_limits;
struct tessera_account;
struct tessera_accounts;
struct tessera_device;

/**
 * enum tessera_quota_kind - what files and users have a share of
 */
enum tessera_quota_kind {
	/** @TESSERA_QUOTA_VMS: VMs, from VM_CREATE until they are torn down. */
	TESSERA_QUOTA_VMS,
	/** @TESSERA_QUOTA_QUEUES: Queues, that is slots of the device. */
	TESSERA_QUOTA_QUEUES,
	/** @TESSERA_QUOTA_SPACES: Address spaces of the device: VMs that have queues. */
	TESSERA_QUOTA_SPACES,
	/** @TESSERA_QUOTA_HEAPS: Tiler heaps, until they are torn down. */
	TESSERA_QUOTA_HEAPS,
	/** @TESSERA_QUOTA_PERFMONS: Performance monitors, until no job names them. */
	TESSERA_QUOTA_PERFMONS,
	/** @TESSERA_QUOTA_HEAP_MEMORY: Bytes of tiler heaps. */
	TESSERA_QUOTA_HEAP_MEMORY,
	/** @TESSERA_QUOTA_PAGE_TABLES: Bytes of page tables, used and reserved. */
	TESSERA_QUOTA_PAGE_TABLES,
	/** @TESSERA_QUOTA_LOCAL: Bytes of local memory of BOs with LOCAL_ONLY. */
	TESSERA_QUOTA_LOCAL,
	/** @TESSERA_NUM_QUOTAS: Number of kinds. */
	TESSERA_NUM_QUOTAS
};

/**
 * struct tessera_budget - limits of a file or a user, and what is used of each
 */
struct tessera_budget {
	/** @leaving: Destroyed objects that are still charged because a worker frees them. */
	atomic_t leaving;
	/** @wait: Woken when @leaving becomes zero. */
	wait_queue_head_t wait;
	/** @share: Limits by kind. */
	struct {
		/** @share.limit: Most of it; constant. */
		u64 limit;
		/** @share.used: How much of it is used; under the lock of the accounts. */
		u64 used;
	} share[TESSERA_NUM_QUOTAS];
};

/**
 * struct tessera_quota - limits of an open file, within those of its user
 */
struct tessera_quota {
	/** @ref: Held by the file and by each object that is charged to it. */
	struct kref ref;
	/** @account: Account of the user who opened the file, counted there. */
	struct tessera_account *account;
	/** @budget: Limits of the file. */
	struct tessera_budget budget;
};

struct tessera_accounts *tessera_accounts_create(void);
void tessera_accounts_put(struct tessera_accounts *table);
int tessera_accounts_init(struct tessera_device *tdev);
struct tessera_quota *tessera_quota_create(struct tessera_device *tdev, kuid_t uid);
struct tessera_quota *tessera_quota_get(struct tessera_quota *quota);
void tessera_quota_put(struct tessera_quota *quota);
int tessera_quota_charge(struct tessera_quota *quota, enum tessera_quota_kind kind, u64 amount);
bool tessera_quota_try_charge(struct tessera_quota *quota, enum tessera_quota_kind kind,
			      u64 amount);
void tessera_quota_uncharge(struct tessera_quota *quota, enum tessera_quota_kind kind, u64 amount);
void tessera_quota_leave(struct tessera_quota *quota);
void tessera_quota_left(struct tessera_quota *quota);
bool tessera_quota_leaving(struct tessera_quota *quota);
int tessera_quota_settle(struct tessera_quota *quota);
void tessera_quota_fill(struct tessera_quota *quota, struct drm_tessera_file_limits *limits);

#endif
