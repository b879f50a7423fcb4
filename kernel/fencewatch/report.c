// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/*
 * Reports: one line of the kernel's log and one trace event for each breach of a rule, and counters
 * by rule and driver.
 *
 * A report is printed where the breach happened, after fw_lock is released, so that it is there
 * even if the breach is the last thing that this kernel does.
 */

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "fencewatch.h"

#define CREATE_TRACE_POINTS
#include "fencewatch_trace.h"

#define LIST_MAX	16	/* names in a parameter */
#define STACK_MAX	32	/* frames that are read */
#define STACK_TEXT	320	/* characters of them that are printed */

const char * const fw_rule_names[FW_RULES] = {
	[FW_NEVER_SIGNALLED] = "NEVER_SIGNALLED",
	[FW_DESTROYED_PENDING] = "DESTROYED_PENDING",
	[FW_OUT_OF_ORDER] = "OUT_OF_ORDER",
	[FW_SEQNO_BACKWARDS] = "SEQNO_BACKWARDS",
	[FW_FREED_ALIVE] = "FREED_ALIVE",
	[FW_FREED_IN_GRACE_PERIOD] = "FREED_IN_GRACE_PERIOD",
	[FW_ERROR_LATE] = "ERROR_LATE",
	[FW_ERROR_ODD] = "ERROR_ODD",
	[FW_ALLOCATES] = "ALLOCATES_WHILE_SIGNALLING",
	[FW_WAITS] = "WAITS_WHILE_SIGNALLING",
	[FW_LOCKS_RESV] = "RESV_WHILE_SIGNALLING",
};

/*
 * vgem fences time out after ten seconds by design; user space signals and numbers those of
 * sw_sync.
 */
static char *slow[LIST_MAX] = { "vgem", "sw_sync" };
static unsigned int slow_count = 2;
module_param_array(slow, charp, &slow_count, 0444);
MODULE_PARM_DESC(slow, "drivers whose fences may take any time");

static char *unordered[LIST_MAX] = { "sw_sync" };
static unsigned int unordered_count = 1;
module_param_array(unordered, charp, &unordered_count, 0444);
MODULE_PARM_DESC(unordered, "drivers whose fences signal in any order");

static char *typesafe[LIST_MAX] = { "i915" };
static unsigned int typesafe_count = 1;
module_param_array(typesafe, charp, &typesafe_count, 0444);
MODULE_PARM_DESC(typesafe, "drivers whose fences are in SLAB_TYPESAFE_BY_RCU caches");

static char *allow[LIST_MAX];
static unsigned int allow_count;
module_param_array(allow, charp, &allow_count, 0444);
MODULE_PARM_DESC(allow, "functions that may allocate, wait and lock in sections");

static unsigned int reports_per_second = 20;
module_param(reports_per_second, uint, 0444);
MODULE_PARM_DESC(reports_per_second,
		 "lines in the log for each rule; counters and trace events are never limited");

struct fw_driver fw_drivers[FW_DRIVERS];
atomic_t fw_rule_counts[FW_RULES];
static unsigned int driver_count;
static DEFINE_RAW_SPINLOCK(driver_lock);
static struct ratelimit_state limits[FW_RULES];

static bool listed(char **list, unsigned int count, const char *name)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

/*
 * Returns the first count drivers' index of that name, or -1. Entries never change once they are
 * counted.
 */
static int find_driver(const char *name, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!strncmp(fw_drivers[i].name, name, FW_NAME_SIZE - 1))
			return i;
	return -1;
}

/* Returns FW_DRIVER_* by the parameters. Drivers that share an entry are excused from all. */
static u32 driver_flags(const char *name, bool shared)
{
	u32 flags = 0;

	if (shared || listed(slow, slow_count, name))
		flags |= FW_DRIVER_SLOW;
	if (shared || listed(unordered, unordered_count, name))
		flags |= FW_DRIVER_UNORDERED;
	if (shared || listed(typesafe, typesafe_count, name))
		flags |= FW_DRIVER_TYPESAFE;
	return flags;
}

/*
 * Returns the index of the driver of that name. Those for which there is no room share the last
 * one.
 */
unsigned int fw_driver_index(const char *name)
{
	/* Pairs with the release below: entries before the count are complete. */
	unsigned int count = smp_load_acquire(&driver_count);
	unsigned long flags;
	int index;

	for (index = 0; index < count; index++)
		if (READ_ONCE(fw_drivers[index].known) == name)
			return index;
	index = find_driver(name, count);
	if (index >= 0) {
		/* A name that may be freed is compared each time. */
		if (!virt_addr_valid(name))
			WRITE_ONCE(fw_drivers[index].known, name);
		return index;
	}
	raw_spin_lock_irqsave(&driver_lock, flags);
	index = find_driver(name, driver_count);
	if (index < 0) {
		bool shared = driver_count >= FW_DRIVERS - 1;

		index = min(driver_count, FW_DRIVERS - 1U);
		if (driver_count < FW_DRIVERS) {
			struct fw_driver *driver = &fw_drivers[index];

			driver->flags = driver_flags(name, shared);
			strscpy(driver->name, shared ? "others" : name, FW_NAME_SIZE);
			/* Pairs with the acquire above. */
			smp_store_release(&driver_count, driver_count + 1);
		}
	}
	raw_spin_unlock_irqrestore(&driver_lock, flags);
	return index;
}

/* A module goes, and others may get the memory of its drivers' names. */
void fw_drivers_forget(void)
{
	unsigned int i;

	for (i = 0; i < FW_DRIVERS; i++)
		WRITE_ONCE(fw_drivers[i].known, NULL);
}

/* Returns true for a function by which a trace point or a probe calls this module. */
static bool is_tracing(const char *name)
{
	return strstarts(name, "__traceiter_") || strstarts(name, "__probestub_") ||
	       strstarts(name, "fprobe_") || strstarts(name, "ftrace_") || strstarts(name, "0x");
}

/*
 * Writes names of functions with their modules, the innermost first, down to the function "end".
 * Frames of this module and of what called it are left out. Returns false if a function of the
 * parameter "allow" is among them.
 */
static bool stack_text(char *text, size_t size, const char *end, bool *slab)
{
	unsigned long frames[STACK_MAX];
	unsigned int count = stack_trace_save(frames, STACK_MAX, 0), i, at = 0;
	char name[96];

	*text = 0;
	for (i = 0; i < count; i++) {
		size_t length;

		snprintf(name, sizeof(name), "%ps", (void *)frames[i]);
		if (strstr(name, "[" KBUILD_MODNAME "]")) {
			at = 0;
			*text = 0;
			continue;
		}
		length = strcspn(name, " ");
		if (strstr(name, "slab") || strstr(name, "kmalloc"))
			*slab = true;
		if (at < size - 1 && !is_tracing(name))
			at += scnprintf(text + at, size - at, "%s%s", at ? " < " : "", name);
		name[length] = 0;
		if (listed(allow, allow_count, name))
			return false;
		if (end && !strcmp(name, end))
			break;
	}
	return true;
}

/* Finds the name of the first module in a stack's text. */
static void stack_driver(const char *text, char *driver)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	strscpy(driver, "-", FW_NAME_SIZE);
	if (close)
		strscpy(driver, open + 1, min_t(size_t, close - open, FW_NAME_SIZE));
}

static void emit(enum fw_rule rule, int index, const char *driver, u64 context, u64 seqno,
		 const char *text)
{
	atomic_inc(&fw_rule_counts[rule]);
	if (index >= 0)
		atomic_inc(&fw_drivers[index].reports[rule]);
	trace_fencewatch_report(fw_rule_names[rule], driver, context, seqno, text);
	if (__ratelimit(&limits[rule]))
		pr_warn("fencewatch: %s driver %s context %llu seqno %llu: %s\n",
			fw_rule_names[rule], driver, context, seqno, text);
}

/* Writes what a report says besides rule and fence. */
static void describe(const struct fw_report *report, char *text, size_t size)
{
	char by[32] = "";
	int at;

	if (report->waiter[0])
		snprintf(by, sizeof(by), " by %s[%d]", report->waiter, report->pid);
	switch (report->rule) {
	case FW_NEVER_SIGNALLED:
		snprintf(text, size,
			 "awaited for %lld ms%s; last sign of life of the context: %lld ms ago",
			 div_s64(report->a, NSEC_PER_MSEC), by, div_s64(report->b, NSEC_PER_MSEC));
		break;
	case FW_DESTROYED_PENDING:
		snprintf(text, size,
			 "gone %lld us after it was initialized, awaited%s, not signalled",
			 div_s64(report->a, NSEC_PER_USEC), by);
		break;
	case FW_OUT_OF_ORDER:
		snprintf(text, size, "seqno %lld of the context signalled %lld us before it",
			 report->a, div_s64(report->b, NSEC_PER_USEC));
		break;
	case FW_SEQNO_BACKWARDS:
		snprintf(text, size, "the fence before it has seqno %lld", report->a);
		break;
	case FW_FREED_ALIVE:
	case FW_FREED_IN_GRACE_PERIOD:
		at = scnprintf(text, size, "freed by %pS", (void *)report->site);
		if (report->rule == FW_FREED_ALIVE)
			at += scnprintf(text + at, size - at, " with %lld references", report->a);
		if (report->release)
			scnprintf(text + at, size - at, ", release() is %ps",
				  (void *)report->release);
		break;
	case FW_ERROR_LATE:
		snprintf(text, size, "error changed from %lld to %lld after it signalled",
			 report->a, report->b);
		break;
	case FW_ERROR_ODD:
		snprintf(text, size, "signals with error %lld, which is not a negative errno",
			 report->a);
		break;
	default:
		*text = 0;
	}
}

/* Prints the reports of an event. fw_lock is not held. */
void fw_reports_emit(const struct fw_reports *reports)
{
	char text[STACK_TEXT];
	unsigned int i;

	for (i = 0; i < reports->count; i++) {
		const struct fw_report *report = &reports->list[i];

		describe(report, text, sizeof(text));
		emit(report->rule, report->driver, fw_drivers[report->driver].name, report->context,
		     report->seqno, text);
	}
}

/*
 * Reports what the current task does in a section: "what", with a fence or with the flags of an
 * allocation. A page that the slab allocator gets for itself is not reported, since the allocation
 * that needed it will be.
 */
void fw_section_report(enum fw_rule rule, const char *section, struct dma_fence *fence,
		       const char *what, gfp_t gfp)
{
	char stack[STACK_TEXT], text[STACK_TEXT + 80], driver[FW_NAME_SIZE];
	bool slab = false;
	int at;

	if (!stack_text(stack, sizeof(stack), section, &slab))
		return;
	if (slab && !strcmp(what, "pages"))
		return;
	stack_driver(stack, driver);
	at = scnprintf(text, sizeof(text), "in %s: %s", section, what);
	if (gfp)
		at += scnprintf(text + at, sizeof(text) - at, " with %pGg", &gfp);
	scnprintf(text + at, sizeof(text) - at, ": %s", stack);
	emit(rule, fw_driver_index(driver), driver, fence ? fence->context : 0,
	     fence ? fence->seqno : 0, text);
}

/* Sets all counters to 0. */
void fw_reports_reset(void)
{
	unsigned int i, rule;

	for (rule = 0; rule < FW_RULES; rule++) {
		atomic_set(&fw_rule_counts[rule], 0);
		for (i = 0; i < FW_DRIVERS; i++)
			atomic_set(&fw_drivers[i].reports[rule], 0);
	}
	for (i = 0; i < FW_DRIVERS; i++)
		atomic64_set(&fw_drivers[i].fences, 0);
}

/* Prepares the limits. */
void fw_reports_init(void)
{
	unsigned int rule;

	for (rule = 0; rule < FW_RULES; rule++)
		ratelimit_state_init(&limits[rule], HZ, reports_per_second);
}
