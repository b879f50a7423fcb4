/* SPDX-License-Identifier: MIT */
/*
 * Hardware scheduler: puts READY queues on engines of their class.
 *
 * Each engine takes the ready queue of its class with the highest priority, round robin within a
 * level, unless one has been passed over for TSR_STARVATION_SLICES slices. In: queues that become
 * READY. Out: queues RUNNING on a runner. Limits: TSR_ENGINES_MAX engines of a class. Reset state:
 * no queue is ready, all engines are free. Everything here wants the device's lock.
 */
#ifndef TSR_SCHEDULER_H
#define TSR_SCHEDULER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "run.h"

#define TSR_CLASSES 4
#define TSR_ENGINES_MAX 8

struct tsr_sched {
	uint64_t ready[TSR_CLASSES];	/* queues that are READY, by class */
	uint64_t running;		/* queues that are RUNNING */
	uint64_t blocked;		/* queues that are BLOCKED on a semaphore */
	/* blocked != 0, for readers without the lock; see tsr_semaphore_changed() */
	atomic_uint any_blocked;
	/* a queue is ready and an engine free for it: what idle workers look at while they spin */
	atomic_bool runnable;
	atomic_bool waiting;		/* a queue is ready, engine or not */
	struct tsr_queue *engine[TSR_CLASSES][TSR_ENGINES_MAX];	/* what runs on each engine */
	/* queues that have left an engine in the midst of a command, oldest first */
	struct tsr_queue *parked[TSR_CLASSES][TSR_ENGINES_MAX + 1];
	unsigned int next_class;	/* class to look at first */
	uint64_t next_order;		/* for the next queue that becomes READY */
	uint64_t random;		/* state of the generator that the seed started */
};

/* @q becomes READY, at the end of its level (or where it was, if it is given its place back). */
void tsr_sched_ready(struct tsr_queue *q, bool keep_order);
/* @q is not READY any more, for another reason than being run. */
void tsr_sched_unready(struct tsr_queue *q);
/* @q becomes BLOCKED for @why (enum tsr_queue_block), or ceases to be. */
void tsr_sched_block(struct tsr_queue *q, unsigned int why);
void tsr_sched_unblock(struct tsr_queue *q);

/* @q, just loaded from a snapshot, is READY or BLOCKED on a semaphore: enter it where it was. */
void tsr_sched_restore(struct tsr_queue *q);

/*
 * Choose a ready queue whose class has a free engine and put it there: RUNNING. @light: one the
 * doorbell's thread may run. NULL: none.
 */
struct tsr_queue *tsr_sched_pick(struct tsr_gpu *gpu, bool light);
/*
 * @q has a command in progress and no engine: so that it goes on at once, it keeps its memory, as
 * one more queue of a class than has engines may; the one that has waited longest is packed.
 */
void tsr_sched_park(struct tsr_queue *q);
/* Take @q from its engine; its state is the caller's to set. */
void tsr_sched_off(struct tsr_queue *q);
/*
 * Run the RUNNING queue @q for about @limit cycles or until it leaves its engine. Releases and
 * takes the lock meanwhile. Returns the cycles.
 */
uint64_t tsr_sched_run(struct tsr_runner *runner, struct tsr_queue *q, uint64_t limit, bool light);
/*
 * The slice of @q is over. If no queue waits for its engine, the queue gets another slice without a
 * preemption point, so that its helpers need not leave and return. False if it must stop. Called by
 * its runner, lock not held.
 */
bool tsr_sched_renew(struct tsr_queue *q);
/*
 * A doorbell or the like has been handled: run short work here, wake workers for the rest. Called
 * by the host's thread.
 */
void tsr_sched_kick(struct tsr_gpu *gpu);
/* Deterministic and threadless operation: run for about @cycles. */
uint64_t tsr_sched_run_all(struct tsr_gpu *gpu, uint64_t cycles);
/* Cycles that all queues together have before a snapshot, see tsr_gpu_drain(). */
#define TSR_DRAIN_CYCLES (1u << 22)
/* Run queues with a BIN or RENDER in the middle of something, see tsr_gpu_drain(). */
void tsr_sched_drain(struct tsr_gpu *gpu);
/* Back to the reset state; nothing is running. */
void tsr_sched_reset(struct tsr_gpu *gpu);

#endif
