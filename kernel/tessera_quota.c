// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Quotas
 *
 * The device has few queue slots, address spaces, perfmons and little local memory, and the
 * driver never takes them back from a file that uses them. (It does take local memory of BOs
 * without LOCAL_ONLY, so that is not charged.) Objects that cost the kernel memory
 * are limited as well. Two limits apply to each kind:
 *
 * - An open file may have a quarter, and half of the local memory because one frame buffer can
 *   be most of it.
 * - All open files of one user together may have three quarters. One user can therefore not
 *   prevent another user from working, however often the first user opens the device.
 *
 * A device that has hardly anything to share grants a file as much as one program that draws
 * needs, and its user at least that.
 *
 * The user is the real uid of the task that opened the file. A file that is passed to another
 * process stays charged to the user who opened it. Resource limits use the real uid too; a
 * program cannot choose it freely, while it can switch its effective uid. Limits per process
 * were rejected: the number of processes is not scarce.
 *
 * An object is charged to the file that created it, and through it to that file's user. Both
 * stay charged until the object is freed, even if the file is closed earlier. So an account
 * lives as long as the last object that was charged to it.
 *
 * An object that was destroyed may stay charged for a moment, until a worker has freed it. A call
 * that meets a limit meanwhile waits for the worker instead of failing.
 *
 * DEV_QUERY reports the limits of the file and what the file has used.
 */

#include <linux/cred.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_managed.h>
#include <drm/tessera_drm.h>

#include "tessera_as.h"
#include "tessera_device.h"
#include "tessera_quota.h"

/* Objects that take kernel memory only, which is accounted to the process besides. */
#define MAX_VMS		256
#define MAX_HEAPS	64

/* One program that draws: a queue for each class of engines. */
#define SHARE_MIN	TESSERA_NUM_CLASSES

/* A user may have this many times what a file may have of kinds the device does not bound. */
#define FILES_PER_USER	3

/**
 * struct tessera_accounts - the users who have files or objects of a device
 *
 * Its own reference count lets quotas outlive the device, which they do for a moment when a
 * worker frees the last object.
 */
struct tessera_accounts {
	/** @ref: Held by the device and by each account. */
	struct kref ref;
	/**
	 * @lock: Protects the list, &tessera_account.quotas and what files and users have used.
	 * A leaf lock that any context may take.
	 */
	spinlock_t lock;
	/** @list: The accounts, by &tessera_account.node. */
	struct list_head list;
};

/**
 * struct tessera_account - what all files of one user have together
 */
struct tessera_account {
	/** @table: The table that lists this account, a reference. */
	struct tessera_accounts *table;
	/** @node: Entry of &tessera_accounts.list. */
	struct list_head node;
	/** @uid: The user. */
	kuid_t uid;
	/** @quotas: Quotas that refer to this account; it is freed with the last one. */
	unsigned int quotas;
	/** @budget: Limits of the user. */
	struct tessera_budget budget;
};

static u64 file_share(u64 count)
{
	return max(DIV_ROUND_UP_ULL(count, 4), min_t(u64, count, SHARE_MIN));
}

/* A quarter is left to others, but a user may have at least what one file may have. */
static u64 user_share(u64 count)
{
	return max(count - DIV_ROUND_UP_ULL(count, 4), file_share(count));
}

static void budget_init(struct tessera_budget *budget)
{
	atomic_set(&budget->leaving, 0);
	init_waitqueue_head(&budget->wait);
}

static void budget_init_file(struct tessera_budget *budget, const struct tessera_hw_info *info)
{
	budget_init(budget);
	budget->share[TESSERA_QUOTA_VMS].limit = MAX_VMS;
	budget->share[TESSERA_QUOTA_QUEUES].limit = file_share(info->max_queues);
	budget->share[TESSERA_QUOTA_SPACES].limit = file_share(info->num_as - 1);
	budget->share[TESSERA_QUOTA_HEAPS].limit = MAX_HEAPS;
	budget->share[TESSERA_QUOTA_PERFMONS].limit = file_share(TESSERA_COUNTERS_SLOTS);
	budget->share[TESSERA_QUOTA_HEAP_MEMORY].limit = (u64)totalram_pages() / 4 << PAGE_SHIFT;
	budget->share[TESSERA_QUOTA_PAGE_TABLES].limit = (u64)totalram_pages() / 8 << PAGE_SHIFT;
	budget->share[TESSERA_QUOTA_LOCAL].limit = ALIGN_DOWN(info->local_size / 2, PAGE_SIZE);
}

static void budget_init_user(struct tessera_budget *budget, const struct tessera_hw_info *info)
{
	unsigned int kind;

	budget_init_file(budget, info);
	for (kind = 0; kind < TESSERA_NUM_QUOTAS; kind++)
		budget->share[kind].limit *= FILES_PER_USER;
	budget->share[TESSERA_QUOTA_QUEUES].limit = user_share(info->max_queues);
	budget->share[TESSERA_QUOTA_SPACES].limit = user_share(info->num_as - 1);
	budget->share[TESSERA_QUOTA_PERFMONS].limit = user_share(TESSERA_COUNTERS_SLOTS);
	budget->share[TESSERA_QUOTA_LOCAL].limit =
		ALIGN_DOWN(info->local_size - DIV_ROUND_UP_ULL(info->local_size, 4), PAGE_SIZE);
}

static bool budget_has(const struct tessera_budget *budget, enum tessera_quota_kind kind,
		       u64 amount)
{
	u64 limit = budget->share[kind].limit;

	return amount <= limit && budget->share[kind].used <= limit - amount;
}

static void budget_left(struct tessera_budget *budget)
{
	if (atomic_dec_and_test(&budget->leaving))
		wake_up_all(&budget->wait);
}

static void tessera_accounts_release(struct kref *ref)
{
	kfree(container_of(ref, struct tessera_accounts, ref));
}

/**
 * tessera_accounts_put() - drop a reference
 * @table: table of users
 *
 * From any context.
 */
void tessera_accounts_put(struct tessera_accounts *table)
{
	kref_put(&table->ref, tessera_accounts_release);
}

static void tessera_accounts_fini(struct drm_device *drm, void *table)
{
	tessera_accounts_put(table);
}

/**
 * tessera_accounts_create() - make an empty table of users
 *
 * Return: the table with one reference, or NULL.
 */
struct tessera_accounts *tessera_accounts_create(void)
{
	struct tessera_accounts *table = kzalloc(sizeof(*table), GFP_KERNEL);

	if (!table)
		return NULL;

	kref_init(&table->ref);
	spin_lock_init(&table->lock);
	INIT_LIST_HEAD(&table->list);

	return table;
}

/**
 * tessera_accounts_init() - give a device its table of users
 * @tdev: device
 *
 * The device releases the table when it is freed.
 *
 * Return: 0 or -ENOMEM.
 */
int tessera_accounts_init(struct tessera_device *tdev)
{
	tdev->accounts = tessera_accounts_create();
	if (!tdev->accounts)
		return -ENOMEM;

	return drmm_add_action_or_reset(&tdev->drm, tessera_accounts_fini, tdev->accounts);
}

static struct tessera_account *account_find(struct tessera_accounts *table, kuid_t uid)
{
	struct tessera_account *account;

	lockdep_assert_held(&table->lock);

	list_for_each_entry(account, &table->list, node)
		if (uid_eq(account->uid, uid))
			return account;

	return NULL;
}

/* The account of a user for one more quota, or NULL without memory. */
static struct tessera_account *account_get(struct tessera_device *tdev, kuid_t uid)
{
	struct tessera_account *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT), *account;
	struct tessera_accounts *table = tdev->accounts;

	if (!fresh)
		return NULL;

	fresh->table = table;
	fresh->uid = uid;
	budget_init_user(&fresh->budget, &tdev->info);

	spin_lock_irq(&table->lock);
	account = account_find(table, uid);
	if (!account) {
		account = fresh;
		fresh = NULL;
		list_add(&account->node, &table->list);
		kref_get(&table->ref);
	}
	account->quotas++;
	spin_unlock_irq(&table->lock);

	kfree(fresh);

	return account;
}

static void account_put(struct tessera_account *account)
{
	struct tessera_accounts *table = account->table;
	unsigned long flags;
	bool last;

	spin_lock_irqsave(&table->lock, flags);
	last = !--account->quotas;
	if (last)
		list_del(&account->node);
	spin_unlock_irqrestore(&table->lock, flags);

	if (last) {
		kfree(account);
		tessera_accounts_put(table);
	}
}

/**
 * tessera_quota_create() - make the quota of a file
 * @tdev: device
 * @uid: user who opens the file
 *
 * Return: the quota, nothing of it used, or NULL.
 */
struct tessera_quota *tessera_quota_create(struct tessera_device *tdev, kuid_t uid)
{
	struct tessera_quota *quota = kzalloc(sizeof(*quota), GFP_KERNEL_ACCOUNT);

	if (!quota)
		return NULL;

	quota->account = account_get(tdev, uid);
	if (!quota->account) {
		kfree(quota);
		return NULL;
	}
	kref_init(&quota->ref);
	budget_init_file(&quota->budget, &tdev->info);

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
	struct tessera_quota *quota = container_of(ref, struct tessera_quota, ref);

	account_put(quota->account);
	kfree(quota);
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

/* Charges the file and its user, or returns the budget that has too little left. */
static struct tessera_budget *quota_take(struct tessera_quota *quota,
					 enum tessera_quota_kind kind, u64 amount)
{
	struct tessera_account *account = quota->account;
	struct tessera_budget *full = NULL;
	unsigned long flags;

	spin_lock_irqsave(&account->table->lock, flags);
	if (!budget_has(&quota->budget, kind, amount)) {
		full = &quota->budget;
	} else if (!budget_has(&account->budget, kind, amount)) {
		full = &account->budget;
	} else {
		quota->budget.share[kind].used += amount;
		account->budget.share[kind].used += amount;
	}
	spin_unlock_irqrestore(&account->table->lock, flags);

	return full;
}

/**
 * tessera_quota_try_charge() - charge a file and its user if both have that much left now
 * @quota: quota
 * @kind: what is charged
 * @amount: how much
 *
 * From any context.
 *
 * Return: true if it was charged.
 */
bool tessera_quota_try_charge(struct tessera_quota *quota, enum tessera_quota_kind kind, u64 amount)
{
	return !quota_take(quota, kind, amount);
}

/**
 * tessera_quota_charge() - charge a file and its user
 * @quota: quota
 * @kind: what is charged
 * @amount: how much
 *
 * At the limit of the file this waits for objects that the file has destroyed, at the limit
 * of the user for those of all the user's files.
 *
 * Return: 0, -ENOSPC, -ERESTARTSYS.
 */
int tessera_quota_charge(struct tessera_quota *quota, enum tessera_quota_kind kind, u64 amount)
{
	struct tessera_budget *user = &quota->account->budget;

	for (;;) {
		bool file_leaving = atomic_read(&quota->budget.leaving);
		bool user_leaving = atomic_read(&user->leaving);
		struct tessera_budget *full = quota_take(quota, kind, amount);
		int ret;

		if (!full)
			return 0;
		if (full == user ? !user_leaving : !file_leaving)
			return -ENOSPC;
		ret = wait_event_interruptible(full->wait, !atomic_read(&full->leaving));
		if (ret)
			return ret;
	}
}

/**
 * tessera_quota_uncharge() - return what was charged
 * @quota: quota
 * @kind: what was charged
 * @amount: how much
 *
 * From any context.
 */
void tessera_quota_uncharge(struct tessera_quota *quota, enum tessera_quota_kind kind, u64 amount)
{
	struct tessera_account *account = quota->account;
	unsigned long flags;

	spin_lock_irqsave(&account->table->lock, flags);
	quota->budget.share[kind].used -= amount;
	account->budget.share[kind].used -= amount;
	spin_unlock_irqrestore(&account->table->lock, flags);
}

/**
 * tessera_quota_leave() - an object was destroyed and will be uncharged soon
 * @quota: quota
 *
 * Calls that meet a limit wait until tessera_quota_left(). From any context. The code between
 * the two calls must not wait for a call that charges.
 */
void tessera_quota_leave(struct tessera_quota *quota)
{
	atomic_inc(&quota->budget.leaving);
	atomic_inc(&quota->account->budget.leaving);
}

/**
 * tessera_quota_left() - the object has been uncharged
 * @quota: quota
 */
void tessera_quota_left(struct tessera_quota *quota)
{
	budget_left(&quota->budget);
	budget_left(&quota->account->budget);
}

/**
 * tessera_quota_leaving() - whether the file has objects that will be uncharged soon
 * @quota: quota
 *
 * Return: true if tessera_quota_settle() would wait.
 */
bool tessera_quota_leaving(struct tessera_quota *quota)
{
	return atomic_read(&quota->budget.leaving);
}

/**
 * tessera_quota_settle() - wait until all destroyed objects of the file have been uncharged
 * @quota: quota
 *
 * Return: 0 or -ERESTARTSYS.
 */
int tessera_quota_settle(struct tessera_quota *quota)
{
	return wait_event_interruptible(quota->budget.wait, !tessera_quota_leaving(quota));
}

/**
 * tessera_quota_fill() - report the limits of a file and what it has used
 * @quota: quota
 * @limits: filled in
 */
void tessera_quota_fill(struct tessera_quota *quota, struct drm_tessera_file_limits *limits)
{
	struct tessera_accounts *table = quota->account->table;

#define LIMIT(kind)	(quota->budget.share[TESSERA_QUOTA_##kind].limit)
#define USED(kind)	(quota->budget.share[TESSERA_QUOTA_##kind].used)
	spin_lock_irq(&table->lock);
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
	spin_unlock_irq(&table->lock);
#undef LIMIT
#undef USED
}
