// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Quotas
 *
 * Slots, address spaces, perfmons and local memory are few, and nothing takes them
 * away from who has them. So an open file gets a share of each and no more; memory
 * that cannot be reclaimed and objects that cost the kernel memory have a limit as
 * well. DEV_QUERY tells user space the limits of its file and what it has used.
 *
 * A share is a quarter of what there is (half of local memory, for one frame buffer
 * can be most of it), but where there is hardly anything to share, as much as a
 * program that draws needs.
 *
 * What a file has given up may stay charged for a moment, until a worker has torn it
 * down. Who finds the quota used up meanwhile waits for that instead of failing.
 */

#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/tessera_drm.h>

#include "tessera_as.h"
#include "tessera_device.h"
#include "tessera_quota.h"

/* Objects that take kernel memory only, which is accounted to the process besides. */
#define MAX_VMS		256
#define MAX_HEAPS	64

/* One program that draws: a queue for each class of engines. */
#define SHARE_MIN	TESSERA_NUM_CLASSES

static u64 quota_share(u64 count)
{
	return max(DIV_ROUND_UP_ULL(count, 4), min_t(u64, count, SHARE_MIN));
}

/**
 * tessera_quota_create() - make the quota of a file
 * @tdev: device
 *
 * Return: the quota, nothing of it used, or NULL.
 */
struct tessera_quota *tessera_quota_create(struct tessera_device *tdev)
{
	struct tessera_quota *quota = kzalloc(sizeof(*quota), GFP_KERNEL_ACCOUNT);

	if (!quota)
		return NULL;

	kref_init(&quota->ref);
	init_waitqueue_head(&quota->wait);
	quota->share[TESSERA_QUOTA_VMS].limit = MAX_VMS;
	quota->share[TESSERA_QUOTA_QUEUES].limit = quota_share(tdev->info.num_queues);
	quota->share[TESSERA_QUOTA_SPACES].limit = quota_share(tdev->info.num_as - 1);
	quota->share[TESSERA_QUOTA_HEAPS].limit = MAX_HEAPS;
	quota->share[TESSERA_QUOTA_PERFMONS].limit = quota_share(TESSERA_COUNTERS_SLOTS);
	quota->share[TESSERA_QUOTA_HEAP_MEMORY].limit = (u64)totalram_pages() / 4 << PAGE_SHIFT;
	quota->share[TESSERA_QUOTA_PAGE_TABLES].limit = (u64)totalram_pages() / 8 << PAGE_SHIFT;
	quota->share[TESSERA_QUOTA_LOCAL].limit = ALIGN_DOWN(tdev->info.local_size / 2, PAGE_SIZE);

	return quota;
}

/**
 * tessera_quota_get() - take another reference
 * @quota: quota
 *
 * Return: @quota.
 */
struct tessera_quota *tessera_quota_get(struct tessera_quota *quota)
{
	kref_get(&quota->ref);

	return quota;
}

static void tessera_quota_release(struct kref *ref)
{
	kfree(container_of(ref, struct tessera_quota, ref));
}

/**
 * tessera_quota_put() - drop a reference
 * @quota: quota
 *
 * From any context.
 */
void tessera_quota_put(struct tessera_quota *quota)
{
	kref_put(&quota->ref, tessera_quota_release);
}

/**
 * tessera_quota_try_charge() - take some of a share, if there is that much now
 * @quota: quota
 * @kind: of what
 * @amount: how much
 *
 * From any context.
 *
 * Return: true if it was charged.
 */
bool tessera_quota_try_charge(struct tessera_quota *quota, enum tessera_quota_kind kind, u64 amount)
{
	u64 limit = quota->share[kind].limit;
	s64 used = atomic64_read(&quota->share[kind].used);

	do {
		if (amount > limit || used > limit - amount)
			return false;
	} while (!atomic64_try_cmpxchg(&quota->share[kind].used, &used, used + amount));

	return true;
}

/**
 * tessera_quota_charge() - take some of a share
 * @quota: quota
 * @kind: of what
 * @amount: how much
 *
 * Waits for what the file has given up already.
 *
 * Return: 0, -ENOSPC, -ERESTARTSYS.
 */
int tessera_quota_charge(struct tessera_quota *quota, enum tessera_quota_kind kind, u64 amount)
{
	int ret;

	for (;;) {
		bool leaving = atomic_read(&quota->leaving);

		if (tessera_quota_try_charge(quota, kind, amount))
			return 0;
		if (!leaving)
			return -ENOSPC;
		ret = tessera_quota_settle(quota);
		if (ret)
			return ret;
	}
}

/**
 * tessera_quota_uncharge() - give something back
 * @quota: quota
 * @kind: of what
 * @amount: how much
 *
 * From any context.
 */
void tessera_quota_uncharge(struct tessera_quota *quota, enum tessera_quota_kind kind, u64 amount)
{
	atomic64_sub(amount, &quota->share[kind].used);
}

/**
 * tessera_quota_leave() - something was given up and will be given back soon
 * @quota: quota
 *
 * Until tessera_quota_left(), from any context. What happens in between waits for
 * nobody who charges.
 */
void tessera_quota_leave(struct tessera_quota *quota)
{
	atomic_inc(&quota->leaving);
}

/**
 * tessera_quota_left() - it has been given back
 * @quota: quota
 */
void tessera_quota_left(struct tessera_quota *quota)
{
	if (atomic_dec_and_test(&quota->leaving))
		wake_up_all(&quota->wait);
}

/**
 * tessera_quota_settle() - wait until all that was given up has been given back
 * @quota: quota
 *
 * Return: 0 or -ERESTARTSYS.
 */
int tessera_quota_settle(struct tessera_quota *quota)
{
	return wait_event_interruptible(quota->wait, !atomic_read(&quota->leaving));
}

/**
 * tessera_quota_fill() - what user space is told
 * @quota: quota
 * @limits: filled in
 */
void tessera_quota_fill(const struct tessera_quota *quota, struct drm_tessera_file_limits *limits)
{
#define LIMIT(kind)	(quota->share[TESSERA_QUOTA_##kind].limit)
#define USED(kind)	atomic64_read(&quota->share[TESSERA_QUOTA_##kind].used)
	*limits = (struct drm_tessera_file_limits) {
		.max_vms = LIMIT(VMS),
		.vms = USED(VMS),
		.max_queues = LIMIT(QUEUES),
		.queues = USED(QUEUES),
		.max_address_spaces = LIMIT(SPACES),
		.address_spaces = USED(SPACES),
		.max_heaps = LIMIT(HEAPS),
		.heaps = USED(HEAPS),
		.max_perfmons = LIMIT(PERFMONS),
		.perfmons = USED(PERFMONS),
		.max_heap_memory = LIMIT(HEAP_MEMORY),
		.heap_memory = USED(HEAP_MEMORY),
		.max_page_tables = LIMIT(PAGE_TABLES),
		.page_tables = USED(PAGE_TABLES),
		.max_local_memory = LIMIT(LOCAL),
		.local_memory = USED(LOCAL),
	};
#undef LIMIT
#undef USED
}
