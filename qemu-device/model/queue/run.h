/* SPDX-License-Identifier: MIT */
/*
 * Running a queue: the loop in which command processor and engine alternate, and the threads that
 * execute it.
 *
 * A runner is a thread that can run queues. Number 0 is the thread from which the host calls
 * (doorbells, timer, tsr_gpu_run()). The others are worker threads. In: a queue that the scheduler
 * has put on an engine. Out: the reason why it stopped. Preemption points are between two packets
 * or work quanta. At a preemption point the whole state of the queue is in struct tsr_exec.
 */
#ifndef TSR_RUN_H
#define TSR_RUN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "env.h"
#include "exec.h"
#include "memory/mem.h"
#include "memory/view.h"

struct tsr_gpu;
struct tsr_queue;

struct tsr_runner {
	struct tsr_gpu *gpu;
	unsigned int index;		/* 0: the host's thread */
	pthread_t pthread;		/* of workers */
	struct tsr_queue *queue;	/* what it runs; protected by the device's lock */
	bool composes;			/* composes a head's frame; same lock */
	/*
	 * The thread as engines see it. Other threads set its port.stop under the lock, so that it
	 * reaches a preemption point and takes the lock: for an invalidation, a request to its
	 * queue, a reset or a pause. Nothing else is checked between packets and work quanta.
	 */
	struct tsr_thread own;
	uint64_t inval_seen;		/* invalidations that its TLB has applied; lock */
	uint64_t spent;			/* cycles of the present tsr_run_queue() */
	char after[TSR_LINE_PAIR];	/* the next one's stop request is read all the time */
};

/* True if the thread is outside the lock with translations in use. Lock held. */
static inline bool tsr_runner_works(const struct tsr_runner *runner)
{
	return runner->queue || runner->composes;
}

/* Why tsr_run_queue() returned. */
enum tsr_leave {
	TSR_LEAVE_STOP,			/* the runner has a stop request */
	TSR_LEAVE_LIMIT,		/* the cycles given are used up */
	TSR_LEAVE_SLICE,		/* the time slice is used up */
	TSR_LEAVE_HEAVY,		/* light mode: there is an engine command to do */
	TSR_LEAVE_IDLE,			/* nothing left to do */
	TSR_LEAVE_BLOCKED,		/* a WAIT does not hold, and the engine has nothing left */
	/* the host has to be asked, and nothing else can be done meanwhile */
	TSR_LEAVE_PENDING,
	TSR_LEAVE_FAULT,		/* q->exec.fault says what */
};

/*
 * Run @q until something of enum tsr_leave happens. @light: packets only, no engine commands. Lock
 * not held; the caller has made @q and @runner active for each other.
 */
enum tsr_leave tsr_run_queue(struct tsr_runner *runner, struct tsr_queue *q, uint64_t limit,
			     bool light);
/* Runs until no command of @q is unwound (fifo.h), for tsr_gpu_drain(). */
enum tsr_leave tsr_run_drain(struct tsr_runner *runner, struct tsr_queue *q, uint64_t limit);
/* Account for modelled work of @q. */
void tsr_run_cycles(struct tsr_runner *runner, struct tsr_queue *q, uint64_t cycles);
/* Add what is unreported to the global counter. */
void tsr_run_report(struct tsr_runner *runner);
/* Make a fault record. */
void tsr_run_record(struct tsr_record *record, const struct tsr_packet *packet,
		    const struct tsr_fault_info *info);
/* Request a preemption point of every thread that runs a queue. Lock held. */
void tsr_runners_interrupt(struct tsr_gpu *gpu);

#endif
