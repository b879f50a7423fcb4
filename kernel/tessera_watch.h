/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_WATCH_H__
#define __TESSERA_WATCH_H__

#include <linux/types.h>
#include <linux/workqueue.h>

struct tessera_queue;

/**
 * struct tessera_watch - what the last looks at a queue have shown
 *
 * &tessera_queue.lock protects it.
 */
struct tessera_watch {
	/** @work: Looks at the queue: every so often while it has jobs, at once after a fault. */
	struct delayed_work work;
	/** @job: Number of its oldest job, 0 if it has none. */
	u64 job;
	/** @job_since: When that was first seen to be the oldest, jiffies. */
	unsigned long job_since;
	/** @progress: QUEUE.PROGRESS. */
	u64 progress;
	/** @progress_since: When it was last seen to have changed, jiffies. */
	unsigned long progress_since;
	/** @still: Looks since then that have found it where it was. */
	unsigned int still;
	/** @late: The job is older than the timeout. */
	bool late;
	/** @late_served_ns: What tessera_queue_hw_served_ns() was then. */
	u64 late_served_ns;
};

void tessera_watch_init(struct tessera_queue *queue);
void tessera_watch_start(struct tessera_queue *queue);
void tessera_watch_now(struct tessera_queue *queue);
void tessera_watch_restart(struct tessera_queue *queue);
void tessera_watch_fini(struct tessera_queue *queue);

#endif
