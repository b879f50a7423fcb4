// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * Records of fences and contexts. All memory is allocated when the module is loaded, for nothing
 * may be allocated where fences are initialized. Each fence that exists has a record, up to the
 * module's parameter "fences".
 *
 * A record is found by the fence's address. Most objects that are freed contain no fence, so
 * kfree() is answered by a bit for each 64 bytes of the pages with fences, without the lock. A
 * record stays when the fence is destroyed, until the memory is freed or the RCU grace period is
 * over, whichever is first.
 */

#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/vmalloc.h>

#include "fencewatch.h"

#define FENCE_BITS	14	/* of the hash table by address */
#define CONTEXT_BITS	11	/* of the hash table by context */
#define WINDOW_BITS	14	/* of the table of windows with fences */
#define GRANULE_SHIFT	6	/* fences are found by this part of their address */
#define WINDOW_SHIFT	(GRANULE_SHIFT + 6)	/* granules of a window have a bit each */
#define WINDOW_SIZE	BIT(WINDOW_SHIFT)
#define CONTEXT_SHARE	8	/* fences for each context */
#define SPARE_TRIES	8	/* active contexts that are tested for pending fences */
#define LARGE_MAX	(64 << 10)	/* larger objects are searched no farther for fences */

DEFINE_RAW_SPINLOCK(fw_lock);
struct fw_counters fw_counters;

static struct fw_record *records;
static struct fw_context *contexts;
static struct hlist_head *by_address;
static struct hlist_head *by_id;

/*
 * Where there are fences, by hash of the address. A bit stays set until the window has no fence at
 * all, so it may be wrong, which costs a search. In slab pages the bits soon are those of the
 * places that fences have in objects of the cache.
 */
static struct window {
	u64 granules;
	u32 fences;
} *windows;

static HLIST_HEAD(free_records);
static LIST_HEAD(destroyed);	/* the oldest first */

/*
 * A context becomes active with its first pending fence, and idle when it is found to have none. It
 * does not change lists with each fence, because kernels that check lists (CONFIG_DEBUG_LIST) make
 * that expensive.
 */
static LIST_HEAD(active);
static LIST_HEAD(idle);		/* the longest unused first */
static unsigned int active_count;

static struct window *window_of(unsigned long address)
{
	return &windows[hash_long(address >> WINDOW_SHIFT, WINDOW_BITS)];
}

/* fw_near_fence() reads the bits without the lock. */
static void window_add(const struct dma_fence *fence)
{
	unsigned long address = (unsigned long)fence;
	struct window *window = window_of(address);

	window->fences++;
	WRITE_ONCE(window->granules,
		   window->granules | BIT_ULL(address % WINDOW_SIZE >> GRANULE_SHIFT));
}

static void window_remove(const struct dma_fence *fence)
{
	struct window *window = window_of((unsigned long)fence);

	if (!--window->fences)
		WRITE_ONCE(window->granules, 0);
}

/* Returns the bits of the granules of the window of at from there on, up to end. */
static u64 granules_in(unsigned long at, unsigned long end)
{
	u64 granules = READ_ONCE(window_of(at)->granules) &
		       ~0ULL << (at % WINDOW_SIZE >> GRANULE_SHIFT);

	if (!((at ^ (end - 1)) >> WINDOW_SHIFT))
		granules &= ~0ULL >> (63 - ((end - 1) % WINDOW_SIZE >> GRANULE_SHIFT));
	return granules;
}

static struct hlist_head *bucket_of(unsigned long address)
{
	return &by_address[hash_long(address >> GRANULE_SHIFT, FENCE_BITS)];
}

/* Frees what fw_records_init() has allocated. No handler may run any more. */
void fw_records_exit(void)
{
	vfree(records);
	vfree(contexts);
	vfree(by_address);
	vfree(by_id);
	vfree(windows);
}

/* Allocates records for that many fences; returns 0 or -ENOMEM. */
int fw_records_init(unsigned int fences)
{
	unsigned int count = max(fences / CONTEXT_SHARE, 1U), i;

	records = vcalloc(fences, sizeof(*records));
	contexts = vcalloc(count, sizeof(*contexts));
	by_address = vcalloc(1 << FENCE_BITS, sizeof(*by_address));
	by_id = vcalloc(1 << CONTEXT_BITS, sizeof(*by_id));
	windows = vcalloc(1 << WINDOW_BITS, sizeof(*windows));
	if (!records || !contexts || !by_address || !by_id || !windows) {
		fw_records_exit();
		return -ENOMEM;
	}
	for (i = 0; i < fences; i++)
		hlist_add_head(&records[i].node, &free_records);
	for (i = 0; i < count; i++) {
		INIT_LIST_HEAD(&contexts[i].pending);
		list_add_tail(&contexts[i].link, &idle);
	}
	return 0;
}

static void context_retire(struct fw_context *context)
{
	context->active = false;
	list_move_tail(&context->link, &idle);
	active_count--;
}

/* Returns a context without pending fences, or NULL if a few tries find none. */
static struct fw_context *context_spare(void)
{
	unsigned int i;

	for (i = 0; list_empty(&idle) && i < SPARE_TRIES; i++) {
		struct fw_context *context = list_first_entry(&active, struct fw_context, link);

		if (list_empty(&context->pending))
			context_retire(context);
		else
			list_move_tail(&context->link, &active);
	}
	return list_first_entry_or_null(&idle, struct fw_context, link);
}

/* Returns the context of that number, a new one if needed; NULL if all have pending fences. */
static struct fw_context *context_get(u64 id)
{
	struct hlist_head *bucket = &by_id[hash_64(id, CONTEXT_BITS)];
	struct fw_context *context;

	lockdep_assert_held(&fw_lock);
	hlist_for_each_entry(context, bucket, node)
		if (context->id == id)
			return context;
	context = context_spare();
	if (!context)
		return NULL;
	hlist_del_init(&context->node);
	context->id = id;
	context->used = false;
	context->overtaken = 0;
	hlist_add_head(&context->node, bucket);
	return context;
}

/* Puts the record at the end of the context's pending fences. */
static void pend(struct fw_record *record)
{
	struct fw_context *context = record->context;

	if (!context->active) {
		context->active = true;
		list_move_tail(&context->link, &active);
		active_count++;
	}
	list_add_tail(&record->link, &context->pending);
}

/* Takes the record out of its context: the fence has signalled, or is gone. */
void fw_record_settle(struct fw_record *record)
{
	struct fw_context *context = record->context;

	lockdep_assert_held(&fw_lock);
	if (!context || list_empty(&record->link))
		return;
	if (fw_context_oldest(context) == record)
		context->overtaken = 0;
	list_del_init(&record->link);
	/* An idle context may be used for another number at any time. */
	record->context = NULL;
}

/* Makes the record the newest of its context, because its fence has only now got its number. */
void fw_record_requeue(struct fw_record *record)
{
	lockdep_assert_held(&fw_lock);
	if (!record->context || list_empty(&record->link))
		return;
	if (fw_context_oldest(record->context) == record)
		record->context->overtaken = 0;
	list_move_tail(&record->link, &record->context->pending);
}

/* Returns the pending fence of the context that was initialized first, or NULL. */
struct fw_record *fw_context_oldest(struct fw_context *context)
{
	return list_first_entry_or_null(&context->pending, struct fw_record, link);
}

/* Returns the record of a fence, or NULL. */
struct fw_record *fw_record_find(const struct dma_fence *fence)
{
	struct fw_record *record;

	lockdep_assert_held(&fw_lock);
	hlist_for_each_entry(record, bucket_of((unsigned long)fence), node)
		if (record->fence == fence)
			return record;
	return NULL;
}

/*
 * Returns a record of a fence in the object, or NULL. *at is where the search begins and is moved;
 * the records before it have been removed. The object may be larger than the part that is searched.
 */
struct fw_record *fw_record_in(const void *start, size_t size, unsigned long *at)
{
	unsigned long first = (unsigned long)start;
	unsigned long end = first + min_t(size_t, size, LARGE_MAX);
	struct fw_record *record;

	lockdep_assert_held(&fw_lock);
	while (*at < end) {
		u64 granules = granules_in(*at, end);

		if (!granules) {
			*at = (*at | (WINDOW_SIZE - 1)) + 1;
			continue;
		}
		*at = (*at & ~(WINDOW_SIZE - 1)) + (__ffs64(granules) << GRANULE_SHIFT);
		hlist_for_each_entry(record, bucket_of(*at), node)
			if ((unsigned long)record->fence >= first &&
			    (unsigned long)record->fence < end)
				return record;
		*at += 1 << GRANULE_SHIFT;
	}
	return NULL;
}

/*
 * Returns false if there is no fence in that part of memory. Without the lock: the caller frees it,
 * so no fence is being initialized there.
 */
bool fw_near_fence(const void *start, size_t size)
{
	unsigned long at = (unsigned long)start, end = at + min_t(size_t, size, LARGE_MAX);

	for (; at < end; at = (at | (WINDOW_SIZE - 1)) + 1)
		if (granules_in(at, end))
			return true;
	return false;
}

/* Returns a record that is not in any list, or NULL if all are in use. */
static struct fw_record *record_get(void)
{
	struct fw_record *record = hlist_entry_safe(free_records.first, struct fw_record, node);

	if (!record) {
		record = list_first_entry_or_null(&destroyed, struct fw_record, link);
		if (!record)
			return NULL;
		fw_record_remove(record);
	}
	hlist_del_init(&record->node);
	INIT_LIST_HEAD(&record->link);
	return record;
}

/* Takes the record from the list that it is in. */
static void record_unlink(struct fw_record *record)
{
	if (record->context)
		fw_record_settle(record);
	else if (!list_empty(&record->link))
		list_del_init(&record->link);
}

/*
 * Makes the record of a new fence; returns NULL if all are in use. "old" is the record of an
 * earlier fence with the same address, or NULL.
 */
struct fw_record *fw_record_add(struct dma_fence *fence, struct fw_record *old)
{
	const struct dma_fence_ops *ops = fw_fence_ops(fence);
	struct fw_record *record = old;

	lockdep_assert_held(&fw_lock);
	if (old) {
		record_unlink(old);
	} else {
		record = record_get();
		if (!record)
			return NULL;
		record->fence = fence;
		hlist_add_head(&record->node, bucket_of((unsigned long)fence));
		window_add(fence);
	}
	record->id = fence->context;
	record->seqno = fence->seqno;
	record->born = ktime_get_ns();
	record->context = NULL;
	record->awaited = 0;
	record->pid = 0;
	record->error = 0;
	record->flags = (ops->signaled ? FW_LAZY : 0) | (fw_fence_seqno64(fence) ? FW_SEQNO64 : 0);
	if (dma_fence_is_container(fence))
		record->flags |= FW_CONTAINER;
	else
		record->context = context_get(fence->context);
	if (record->context)
		pend(record);
	return record;
}

/* Forgets a fence. */
void fw_record_remove(struct fw_record *record)
{
	lockdep_assert_held(&fw_lock);
	record_unlink(record);
	hlist_del_init(&record->node);
	window_remove(record->fence);
	record->fence = NULL;
	hlist_add_head(&record->node, &free_records);
}

/* The last reference to the fence is gone. */
void fw_record_destroy(struct fw_record *record)
{
	lockdep_assert_held(&fw_lock);
	fw_record_settle(record);
	record->flags |= FW_DESTROYED;
	get_state_synchronize_rcu_full(&record->grace);
	list_add_tail(&record->link, &destroyed);
}

/* Forgets destroyed fences whose grace period is over: they may be freed in any way. */
void fw_records_reap(void)
{
	struct fw_record *record;
	unsigned long flags;
	bool more = true;

	while (more) {
		unsigned int i;

		raw_spin_lock_irqsave(&fw_lock, flags);
		for (i = 0; more && i < 32; i++) {
			record = list_first_entry_or_null(&destroyed, struct fw_record, link);
			more = record && poll_state_synchronize_rcu_full(&record->grace);
			if (more)
				fw_record_remove(record);
		}
		raw_spin_unlock_irqrestore(&fw_lock, flags);
	}
}

/* Returns the number of active contexts, some of which may have no pending fence. */
unsigned int fw_contexts_active(void)
{
	return READ_ONCE(active_count);
}

/*
 * Returns each active context in turn, as long as *rest, which begins as their number, is not used
 * up. One without pending fences is idle from then on.
 */
struct fw_context *fw_context_next(unsigned int *rest)
{
	struct fw_context *context;

	lockdep_assert_held(&fw_lock);
	context = list_first_entry_or_null(&active, struct fw_context, link);
	if (!context || !*rest)
		return NULL;
	--*rest;
	if (list_empty(&context->pending))
		context_retire(context);
	else
		list_move_tail(&context->link, &active);
	return context;
}

/*
 * Returns false for fences that may signal in any order: containers, lazy ones, those without a
 * context, and those of which that has been reported. Context 0 is used for fences that have
 * nothing to do with each other.
 */
bool fw_record_ordered(const struct fw_record *record)
{
	return record->id && record->context &&
	       !(record->flags & (FW_CONTAINER | FW_LAZY | FW_OVERTAKEN));
}
