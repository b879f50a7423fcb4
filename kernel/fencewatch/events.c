// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * The life of a fence, as the kernel's trace points tell it, and a periodic look at those that are
 * pending.
 *
 * The handlers run under the fence's lock, with interrupts off, or from wherever memory is freed.
 * They take fw_lock, ask the rules, and print what these have found when the lock is released. Of a
 * fence they read its own fields only; its operations are called once, when it is initialized, as
 * the kernel's trace event does.
 */

#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string_choices.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "fencewatch.h"

#define LOOK_MS		250	/* between two looks at the pending fences */
#define LOOK_FENCES	16	/* oldest fences of a context that are looked at */

/* The rules need the time only of a pending fence. on_signaled() reads the clock itself. */
static void describe(struct fw_event *event, struct fw_record *record, struct dma_fence *fence)
{
	event->error = fence->error;
	event->references = kref_read(&fence->refcount);
	event->signalled = test_bit(DMA_FENCE_FLAG_SIGNALED_BIT, &fence->flags);
	event->now = event->signalled ? 0 : ktime_get_ns();
	event->awaited = test_bit(DMA_FENCE_FLAG_ENABLE_SIGNAL_BIT, &fence->flags);
	event->grace_over = false;
	if (record->flags & FW_DESTROYED)
		event->grace_over = poll_state_synchronize_rcu_full(&record->grace);
	else
		event->awaited |= record->awaited != 0;
	event->driver_flags = fw_drivers[record->driver].flags;
	event->cpu = raw_smp_processor_id();
}

/*
 * The handlers are removed one after the other. A fence whose end is not seen any more would then
 * seem to be freed too early.
 */
static bool closing;

/*
 * Reports of the handler that holds fw_lock. They are not on its stack, because many kernels clear
 * variables there at each call (CONFIG_INIT_STACK_ALL_ZERO).
 */
static struct fw_reports found;

static unsigned long handling_begin(void)
	__acquires(&fw_lock)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&fw_lock, flags);
	found.count = 0;
	return flags;
}

static noinline void emit_found(unsigned long flags) __releases(&fw_lock)
{
	struct fw_reports reports = found;

	raw_spin_unlock_irqrestore(&fw_lock, flags);
	if (!READ_ONCE(closing))
		fw_reports_emit(&reports);
}

/* Releases the lock and prints what was found. */
static void handling_end(unsigned long flags) __releases(&fw_lock)
{
	if (unlikely(found.count))
		emit_found(flags);
	else
		raw_spin_unlock_irqrestore(&fw_lock, flags);
}

/* The fence has its number: compare it with the one before. */
static void number(struct fw_record *record, struct fw_reports *reports)
{
	struct fw_context *context = record->context;

	if (!context)
		return;
	fw_seqno_backwards(record, context, fw_drivers[record->driver].flags, reports);
	if (record->seqno) {
		context->last_seqno = record->seqno;
		context->used = true;
	}
	context->last_event = record->born;
}

static void on_init(void *data, struct dma_fence *fence)
{
	unsigned int driver = fw_driver_index(fw_fence_ops(fence)->get_driver_name(fence));
	struct fw_record *record;
	struct fw_event event;
	unsigned long flags;

	flags = handling_begin();
	fw_counters.fences++;
	record = fw_record_find(fence);
	if (record && !(record->flags & FW_DESTROYED)) {
		describe(&event, record, fence);
		event.awaited = record->awaited;
		fw_destroyed_pending(record, &event, &found);
	}
	record = fw_record_add(fence, record);
	if (record) {
		record->driver = driver;
		if (!record->context && !(record->flags & FW_CONTAINER))
			fw_counters.unordered++;
		number(record, &found);
	} else {
		fw_counters.unwatched++;
	}
	handling_end(flags);
	atomic64_inc(&fw_drivers[driver].fences);
}

/* Some drivers number their fences only when the work is handed to the hardware. */
static void on_emit(void *data, struct dma_fence *fence)
{
	struct fw_record *record;
	unsigned long flags;

	flags = handling_begin();
	record = fw_record_find(fence);
	if (record && !(record->flags & (FW_SIGNALLED | FW_DESTROYED)) &&
	    record->seqno != fence->seqno) {
		record->seqno = fence->seqno;
		number(record, &found);
		fw_record_requeue(record);
	}
	handling_end(flags);
}

/* Puts the order of a context to the test: record signals. */
static void order(struct fw_record *record, const struct fw_event *event,
		  struct fw_reports *reports)
{
	struct fw_context *context = record->context;
	struct fw_record *oldest;

	if (!context)
		return;
	context->last_event = event->now;
	oldest = fw_context_oldest(context);
	if (oldest == record) {
		fw_out_of_order(record, context, event, fw_order_ms, reports);
	} else if (!context->overtaken && fw_record_ordered(oldest) && fw_record_ordered(record) &&
		   fw_overtakes(oldest, record)) {
		context->overtaken = event->now;
		context->newer = record->seqno;
		context->cpu = event->cpu;
	}
}

static void on_signaled(void *data, struct dma_fence *fence)
{
	struct fw_record *record;
	struct fw_event event;
	unsigned long flags;

	flags = handling_begin();
	record = fw_record_find(fence);
	/* The kernel signals a fence that is destroyed pending, with an error of its own. */
	if (record && !(record->flags & (FW_SIGNALLED | FW_DESTROYED))) {
		u64 age;

		describe(&event, record, fence);
		event.now = ktime_get_ns();
		record->seqno = fence->seqno;
		age = div_u64(event.now - record->born, NSEC_PER_USEC);
		fw_counters.latency[min(fls64(age), FW_LATENCIES - 1)]++;
		fw_counters.signalled++;
		fw_error_odd(record, &event, &found);
		order(record, &event, &found);
		record->flags |= FW_SIGNALLED;
		record->error = event.error;
		fw_record_settle(record);
	}
	handling_end(flags);
}

static void on_destroy(void *data, struct dma_fence *fence)
{
	struct fw_record *record;
	struct fw_event event;
	unsigned long flags;

	flags = handling_begin();
	record = fw_record_find(fence);
	if (record && !(record->flags & FW_DESTROYED)) {
		describe(&event, record, fence);
		fw_destroyed_pending(record, &event, &found);
		fw_error_late(record, &event, &found);
		fw_counters.destroyed++;
		fw_record_destroy(record);
	}
	handling_end(flags);
}

/*
 * Returns the fence's release() operation, or 0. A release() that ends with a call of kfree() jumps
 * there, so the caller that kfree() sees is dma_fence_release(). The operations may be those of a
 * module that is gone.
 */
static unsigned long release_of(struct dma_fence *fence)
{
	const struct dma_fence_ops *ops = fw_fence_ops(fence);
	unsigned long release;

	if (!ops || copy_from_kernel_nofault(&release, &ops->release, sizeof(release)))
		return 0;
	return release;
}

/* An object is freed. It may hold several fences, of which the first report stands for all. */
static void freed(unsigned long site, const void *start, size_t size)
{
	unsigned long at = (unsigned long)start;
	struct fw_record *record;
	struct fw_event event;
	unsigned long flags;

	flags = handling_begin();
	while ((record = fw_record_in(start, size, &at))) {
		if (!found.count) {
			describe(&event, record, record->fence);
			fw_freed_alive(record, &event, &found);
			fw_freed_in_grace_period(record, &event, &found);
			found.list[0].site = site;
			found.list[0].release = found.count ? release_of(record->fence) : 0;
		}
		fw_counters.freed++;
		fw_record_remove(record);
	}
	handling_end(flags);
}

static void on_kfree(void *data, unsigned long site, const void *start)
{
	size_t size;

	if (ZERO_OR_NULL_PTR(start) || in_nmi())
		return;
	/* An object that is larger than a page begins with one. */
	size = IS_ALIGNED((unsigned long)start, PAGE_SIZE) ? ksize(start) : PAGE_SIZE;
	if (!fw_near_fence(start, size))
		return;
	size = ksize(start);
	if (fw_near_fence(start, size))
		freed(site, start, size);
}

static void on_cache_free(void *data, unsigned long site, const void *start,
			  const struct kmem_cache *cache)
{
	size_t size = kmem_cache_size((struct kmem_cache *)cache);

	if (!in_nmi() && fw_near_fence(start, size))
		freed(site, start, size);
}

/* Returns false for what does not wait for memory to be reclaimed, or is not in a section. */
static bool may_reclaim(gfp_t gfp)
{
	return (gfp & __GFP_DIRECT_RECLAIM) && atomic_read(&fw_sections_running) &&
	       !(current->flags & PF_MEMALLOC);
}

static void allocates(const char *what, gfp_t gfp)
{
	const char *section = fw_section_enter();

	if (!section)
		return;
	fw_section_report(FW_ALLOCATES, section, NULL, what, gfp);
	fw_section_leave();
}

static void on_kmalloc(void *data, unsigned long site, const void *start, size_t wanted,
		       size_t size, gfp_t gfp,
		       int node)
{
	if (may_reclaim(gfp))
		allocates("kmalloc", gfp);
}

static void on_cache_alloc(void *data, unsigned long site, const void *start,
			   struct kmem_cache *cache, gfp_t gfp, int node)
{
	if (may_reclaim(gfp))
		allocates("kmem_cache_alloc", gfp);
}

static void on_page_alloc(void *data, struct page *page, unsigned int order, gfp_t gfp, int type)
{
	if (may_reclaim(gfp))
		allocates("pages", gfp);
}

/* A task is about to wait for the fence, or adds a callback. */
void fw_awaited(struct dma_fence *fence)
{
	struct fw_record *record;
	unsigned long flags;

	raw_spin_lock_irqsave(&fw_lock, flags);
	record = fw_record_find(fence);
	if (record && !(record->flags & (FW_SIGNALLED | FW_DESTROYED)) && !record->awaited) {
		record->awaited = ktime_get_ns();
		record->pid = in_task() ? task_pid_nr(current) : 0;
		strscpy(record->waiter, in_task() ? current->comm : "interrupt");
	}
	raw_spin_unlock_irqrestore(&fw_lock, flags);
}

/*
 * Looks at a pending fence. It is alive, or on_destroy() would have settled it; but its memory may
 * have been freed in a way that has no trace point, so it is read with care.
 */
static void look_at(struct fw_record *record, struct fw_reports *reports)
{
	struct fw_event event = {
		.now = ktime_get_ns(),
		.driver_flags = fw_drivers[record->driver].flags,
	};
	unsigned long fence_flags;

	if (copy_from_kernel_nofault(&fence_flags, &record->fence->flags, sizeof(fence_flags)))
		return;
	event.signalled = fence_flags & BIT(DMA_FENCE_FLAG_SIGNALED_BIT);
	if (!record->awaited && fence_flags & BIT(DMA_FENCE_FLAG_ENABLE_SIGNAL_BIT)) {
		record->awaited = event.now;
		strscpy(record->waiter, "somebody");
	}
	if (fw_never_signalled(record, &event, fw_pending_ms, reports))
		record->flags |= FW_REPORTED;
	if (!event.signalled && fw_context_oldest(record->context) == record &&
	    fw_out_of_order(record, record->context, &event, fw_order_ms, reports)) {
		record->context->overtaken = 0;
		record->flags |= FW_OVERTAKEN;
	}
}

static void look(struct work_struct *work)
{
	unsigned int rest = fw_contexts_active();
	struct fw_context *context;

	do {
		struct fw_record *record;
		unsigned int count = 0;
		unsigned long flags;

		flags = handling_begin();
		context = fw_context_next(&rest);
		if (context) {
			list_for_each_entry(record, &context->pending, link) {
				if (count++ == LOOK_FENCES || found.count + 2 > FW_REPORTS)
					break;
				look_at(record, &found);
			}
		}
		handling_end(flags);
	} while (context);
	fw_records_reap();
	schedule_delayed_work(to_delayed_work(work), msecs_to_jiffies(LOOK_MS));
}

static DECLARE_DELAYED_WORK(looker, look);

/*
 * The trace points, all of which are built into the kernel. Few are exported, so they are found by
 * name.
 */
static struct {
	const char *name;
	void *handler;
	struct tracepoint *point;
	bool on;
} events[] = {
	{ "dma_fence_emit", on_emit },
	{ "dma_fence_signaled", on_signaled },
	{ "dma_fence_destroy", on_destroy },
	{ "kfree", on_kfree },
	{ "kmem_cache_free", on_cache_free },
	{ "kmalloc", on_kmalloc },
	{ "kmem_cache_alloc", on_cache_alloc },
	{ "mm_page_alloc", on_page_alloc },
	/* The last one: nothing of what happens to a fence with a record may be missed. */
	{ "dma_fence_init", on_init },
};

static void match(struct tracepoint *point, void *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (!strcmp(point->name, events[i].name))
			events[i].point = point;
}

/*
 * Begins to watch; returns 0 or a negative error. Events that this kernel lacks are shown in the
 * debugfs file.
 */
int fw_events_init(void)
{
	unsigned int i;
	int ret;

	for_each_kernel_tracepoint(match, NULL);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		ret = -ENOENT;
		if (events[i].point)
			ret = tracepoint_probe_register(events[i].point, events[i].handler, NULL);
		events[i].on = !ret;
		if (ret)
			pr_warn("fencewatch: no trace point %s (%d)\n", events[i].name, ret);
	}
	if (!events[ARRAY_SIZE(events) - 1].on) {
		fw_events_exit();
		return -EOPNOTSUPP;
	}
	schedule_delayed_work(&looker, msecs_to_jiffies(LOOK_MS));
	return 0;
}

/* Stops watching. No handler runs any more when it returns. */
void fw_events_exit(void)
{
	unsigned int i;

	WRITE_ONCE(closing, true);
	cancel_delayed_work_sync(&looker);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i].on)
			tracepoint_probe_unregister(events[i].point, events[i].handler, NULL);
	tracepoint_synchronize_unregister();
	synchronize_rcu();
}

/* Prints which events are watched. */
void fw_events_show(struct seq_file *m)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		seq_printf(m, "event %s %s\n", events[i].name, str_on_off(events[i].on));
}
