/* SPDX-License-Identifier: MIT */
/*
 * Running a queue: the loop in which command processor and engine alternate, and the threads' part
 * of it.
 *
 * A runner is a thread that can run queues: number 0 is whichever thread the host calls from
 * (doorbells, timer, tsr_gpu_run()), the others are workers. In: a queue that the scheduler has put
 * on an engine. Out: why it stopped. Between two packets or bursts, the stopping points, nothing of
 * the queue is in the runner: its state is all in struct tsr_exec.
 */
#ifndef TSR_RUN_H
#define TSR_RUN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "exec.h"
#include "memory/mem.h"
#include "memory/view.h"

struct tsr_gpu;
struct tsr_queue;
struct tsr_shader;

/*
 * How work was done, fast or slow: what comes of it is the same, so that nothing but these tells
 * when a fast path is no longer taken. Of the library, never of the hardware.
 */
enum tsr_path {
	TSR_PATH_TUPLES_NATIVE,		/* tuples of bundles, by generated code */
	TSR_PATH_TUPLES,		/* by the interpreter */
	TSR_PATH_LOOPS,			/* times a warp executed a loop as one piece */
	TSR_PATH_CLAUSES_DECODED,	/* clauses that were decoded */
	TSR_PATH_CLAUSES_COMPILED,	/* and those code was generated for, in each form */
	TSR_PATH_MESSAGES_TOGETHER,	/* messages of warps, with those of others or on vectors */
	TSR_PATH_MESSAGES,		/* lane by lane */
	TSR_PATH_TRIANGLES_TOGETHER,	/* primitives set up in a vector */
	TSR_PATH_TRIANGLES,		/* one by one */
	TSR_PATHS
};

struct tsr_runner {
	struct tsr_gpu *gpu;
	unsigned int index;		/* 0: the host's thread */
	pthread_t thread;		/* of workers */
	struct tsr_queue *queue;	/* what it runs; protected by the device's lock */
	bool composes;			/* it composes a head's frame; same lock */
	/*
	 * Set by others, under the lock, when the runner shall come to a stopping point and take
	 * the lock: there is an invalidation, a request to its queue, a reset, a pause. The one
	 * thing that is looked at between packets and bursts.
	 */
	atomic_bool attention;
	uint64_t inval_seen;		/* invalidations its TLB has caught up with; lock */
	uint64_t spent;			/* cycles of the present tsr_run_queue() */
	/* cycles the engine's next step should rather not exceed; bursts do when they are longer */
	uint64_t budget;
	uint64_t unreported;		/* cycles not yet in the global counter */
	/* its way to memory; of a helper with look-ups that the queue has not counted */
	struct tsr_port port;
	uint64_t path[TSR_PATHS];	/* by enum tsr_path, since the device was made */
	struct tsr_shader *shader;	/* what it needs to run programs; NULL: it never has */
};

/* Whether the thread is outside the lock with translations in use. Lock held. */
static inline bool tsr_runner_works(const struct tsr_runner *runner)
{
	return runner->queue || runner->composes;
}

/* Why tsr_run_queue() returned. */
enum tsr_leave {
	TSR_LEAVE_ATTENTION,		/* runner->attention was set */
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
/* The same until nothing of @q is unwound (fifo.h), for tsr_gpu_wind_down(). */
enum tsr_leave tsr_run_wind_down(struct tsr_runner *runner, struct tsr_queue *q, uint64_t limit);
/* Account for modelled work of @q. */
void tsr_run_cycles(struct tsr_runner *runner, struct tsr_queue *q, uint64_t cycles);
/* Add what is unreported to the global counter. */
void tsr_run_report(struct tsr_runner *runner);
/* Make a fault record. */
void tsr_run_record(struct tsr_record *record, const struct tsr_packet *packet,
		    const struct tsr_fault_info *info);
/* Have every runner that runs a queue come to a stopping point. Lock held. */
void tsr_runners_interrupt(struct tsr_gpu *gpu);

#endif
