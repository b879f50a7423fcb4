/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __FENCEWATCH_H__
#define __FENCEWATCH_H__

#include <linux/dma-fence.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "fencewatch_compat.h"

struct module;
struct seq_file;

/*
 * The units of the module. events.c hears of fences through trace points, probes.c of waits through
 * fprobes. Both find the fence's record (records.c) and ask the rules (rules.c), which say whether
 * a report is due. sections.c knows which tasks run code that fences wait for. report.c prints and
 * counts. selftest.c breaks a rule on request.
 *
 * One raw spinlock, fw_lock, protects records and contexts. It is a leaf: nothing is allocated,
 * printed or called under it, since the handlers run under any lock of any driver.
 */

enum fw_rule {
	FW_NEVER_SIGNALLED,
	FW_DESTROYED_PENDING,
	FW_OUT_OF_ORDER,
	FW_SEQNO_BACKWARDS,
	FW_FREED_ALIVE,
	FW_FREED_IN_GRACE_PERIOD,
	FW_ERROR_LATE,
	FW_ERROR_ODD,
	FW_ALLOCATES,
	FW_WAITS,
	FW_LOCKS_RESV,
	FW_RULES
};

extern const char * const fw_rule_names[FW_RULES];

#define FW_NAME_SIZE		16	/* of a driver, with the final 0 */
#define FW_DRIVERS		64	/* further drivers share the last entry, "others" */
#define FW_LATENCIES		24	/* powers of two of microseconds */

/* Properties of a driver, by the module's parameters. */
#define FW_DRIVER_SLOW		BIT(0)	/* its fences may take any time */
#define FW_DRIVER_UNORDERED	BIT(1)	/* its contexts have no order */
#define FW_DRIVER_TYPESAFE	BIT(2)	/* its fences are in SLAB_TYPESAFE_BY_RCU caches */

/**
 * struct fw_driver - what is known of the fences of one driver
 * @name: what get_driver_name() returns
 * @known: address of that name, if it is part of a module that is there; or NULL
 * @flags: FW_DRIVER_*
 * @fences: fences initialized
 * @reports: reports by rule
 */
struct fw_driver {
	char name[FW_NAME_SIZE];
	const char *known;
	u32 flags;
	atomic64_t fences;
	atomic_t reports[FW_RULES];
};

/**
 * struct fw_context - a fence context with pending fences, or one that had some
 * @node: in the hash table by number
 * @link: in the list of active contexts, or in that of idle ones
 * @pending: records of fences that have not signalled, in the order of their initialization
 * @id: number
 * @last_seqno: sequence number of the newest fence
 * @last_event: ktime of the last fence that was initialized or signalled
 * @overtaken: ktime at which @newer signalled before the oldest pending fence, or 0
 * @newer: sequence number of that fence
 * @cpu: processor on which it did
 * @used: @last_seqno is valid
 * @active: in the list of active contexts, where all with pending fences are
 */
struct fw_context {
	struct hlist_node node;
	struct list_head link;
	struct list_head pending;
	u64 id;
	u64 last_seqno;
	u64 last_event;
	u64 overtaken;
	u64 newer;
	u32 cpu;
	bool used;
	bool active;
};

/* Properties and states of a fence. */
#define FW_CONTAINER		BIT(0)	/* array or chain: signals when it is tested */
#define FW_LAZY			BIT(1)	/* has a signaled() operation: the flag may lag behind */
#define FW_SEQNO64		BIT(2)	/* sequence numbers do not wrap */
#define FW_SIGNALLED		BIT(3)
#define FW_DESTROYED		BIT(4)	/* the last reference is gone */
#define FW_REPORTED		BIT(5)	/* as never signalled */
#define FW_OVERTAKEN		BIT(6)	/* reported as out of order */

/**
 * struct fw_record - one fence, from dma_fence_init() until its memory is freed
 * @node: in the hash table by address, or in the free list
 * @link: in the context's pending fences, in the list of destroyed ones, or in none
 * @fence: address
 * @context: its context; NULL for containers, and if all contexts are in use
 * @id: number of the context
 * @seqno: sequence number
 * @born: ktime of dma_fence_init()
 * @awaited: ktime of the first wait, callback or enabling, or 0
 * @grace: since the fence was destroyed: what RCU grace period must end before it is freed
 * @waiter: name of the first task that waited
 * @pid: its number
 * @error: error at the time of signalling
 * @driver: index of the driver
 * @flags: FW_CONTAINER ...
 */
struct fw_record {
	struct hlist_node node;
	struct list_head link;
	struct dma_fence *fence;
	struct fw_context *context;
	u64 id;
	u64 seqno;
	u64 born;
	union {
		u64 awaited;
		struct fw_grace grace;
	};
	char waiter[TASK_COMM_LEN];
	s32 pid;
	s16 error;
	u8 driver;
	u8 flags;
};

/**
 * struct fw_event - what a rule may know besides the record
 * @now: ktime
 * @error: the fence's error field
 * @references: the fence's reference count
 * @awaited: a task waits, or signalling was enabled
 * @signalled: the fence's own flag
 * @grace_over: the grace period of fw_record.grace has ended
 * @driver_flags: FW_DRIVER_*
 * @cpu: current processor
 */
struct fw_event {
	u64 now;
	int error;
	unsigned int references;
	bool awaited;
	bool signalled;
	bool grace_over;
	u32 driver_flags;
	u32 cpu;
};

/**
 * struct fw_report - one breach of a rule
 * @rule: the rule
 * @driver: index of the driver
 * @context: fence's context
 * @seqno: fence's sequence number
 * @a: first number of the text, see report.c
 * @b: second number
 * @site: address of the function that frees
 * @release: the fence's release() operation, or 0
 * @waiter: name of the first waiter
 * @pid: its number
 */
struct fw_report {
	enum fw_rule rule;
	int driver;
	u64 context;
	u64 seqno;
	s64 a;
	s64 b;
	unsigned long site;
	unsigned long release;
	char waiter[TASK_COMM_LEN];
	int pid;
};

#define FW_REPORTS	3	/* one event breaks no more rules at once */

/**
 * struct fw_reports - what an event has found under the lock, to be printed after it
 * @count: number of them
 * @list: reports
 */
struct fw_reports {
	unsigned int count;
	struct fw_report list[FW_REPORTS];
};

/**
 * struct fw_counters - what has happened since the module was loaded or reset
 * @fences: fences initialized
 * @signalled: fences that signalled
 * @destroyed: fences whose last reference went
 * @freed: fences whose memory was seen to be freed
 * @unwatched: fences without a record, since all were in use
 * @unordered: fences without a context, since all were in use
 * @latency: fences by time from initialization to signalling, powers of two of microseconds
 */
struct fw_counters {
	u64 fences;
	u64 signalled;
	u64 destroyed;
	u64 freed;
	u64 unwatched;
	u64 unordered;
	u64 latency[FW_LATENCIES];
};

/* records.c */
extern raw_spinlock_t fw_lock;
extern struct fw_counters fw_counters;
int fw_records_init(unsigned int fences);
void fw_records_exit(void);
struct fw_record *fw_record_find(const struct dma_fence *fence);
struct fw_record *fw_record_in(const void *start, size_t size, unsigned long *at);
struct fw_record *fw_record_add(struct dma_fence *fence, struct fw_record *old);
void fw_record_remove(struct fw_record *record);
void fw_record_settle(struct fw_record *record);
void fw_record_requeue(struct fw_record *record);
void fw_record_destroy(struct fw_record *record);
void fw_records_reap(void);
bool fw_near_fence(const void *start, size_t size);
struct fw_context *fw_context_next(unsigned int *rest);
unsigned int fw_contexts_active(void);
bool fw_record_ordered(const struct fw_record *record);
struct fw_record *fw_context_oldest(struct fw_context *context);

/* rules.c: each adds a report and returns true if the rule is broken */
bool fw_never_signalled(const struct fw_record *record, const struct fw_event *event,
			unsigned int limit_ms, struct fw_reports *reports);
bool fw_destroyed_pending(const struct fw_record *record, const struct fw_event *event,
			  struct fw_reports *reports);
bool fw_overtakes(const struct fw_record *oldest, const struct fw_record *record);
bool fw_out_of_order(const struct fw_record *record, const struct fw_context *context,
		     const struct fw_event *event, unsigned int limit_ms,
		     struct fw_reports *reports);
bool fw_seqno_backwards(const struct fw_record *record, const struct fw_context *context,
			u32 driver_flags, struct fw_reports *reports);
bool fw_freed_alive(const struct fw_record *record, const struct fw_event *event,
		    struct fw_reports *reports);
bool fw_freed_in_grace_period(const struct fw_record *record, const struct fw_event *event,
			      struct fw_reports *reports);
bool fw_error_late(const struct fw_record *record, const struct fw_event *event,
		   struct fw_reports *reports);
bool fw_error_odd(const struct fw_record *record, const struct fw_event *event,
		  struct fw_reports *reports);

/* events.c */
int fw_events_init(void);
void fw_events_exit(void);
void fw_events_show(struct seq_file *m);
void fw_awaited(struct dma_fence *fence);

/* probes.c */
int fw_probes_init(void);
void fw_probes_exit(void);
void fw_probes_show(struct seq_file *m);

/* sections.c */
int fw_sections_init(void);
void fw_sections_exit(void);
void fw_sections_show(struct seq_file *m);
const char *fw_section_enter(void);
void fw_section_leave(void);
extern atomic_t fw_sections_running;

/* report.c */
extern struct fw_driver fw_drivers[FW_DRIVERS];
extern atomic_t fw_rule_counts[FW_RULES];
void fw_reports_init(void);
unsigned int fw_driver_index(const char *name);
void fw_drivers_forget(void);
void fw_reports_emit(const struct fw_reports *reports);
void fw_section_report(enum fw_rule rule, const char *section, struct dma_fence *fence,
		       const char *what, gfp_t gfp);
void fw_reports_reset(void);

/* selftest.c */
int fw_selftest(void);

/* fencewatch_main.c */
extern unsigned int fw_pending_ms;
extern unsigned int fw_order_ms;

/* debugfs.c */
void fw_debugfs_init(void);
void fw_debugfs_exit(void);

#endif /* __FENCEWATCH_H__ */
