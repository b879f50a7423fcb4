/* SPDX-License-Identifier: MIT */
/*
 * Jobs: engine commands whose work is divided among cores that are independent of each other, and
 * the threads that work on them.
 *
 * In: a command at the head of a queue's FIFO that has begun a job (q->job). Out: its cores run to
 * their end, by the runner of the queue (the owner) and by workers that have nothing else to do
 * (helpers). The owner opens the pool when there is something to share, and closes it before the
 * queue comes to a stopping point: when it is closed nobody else touches the job. A helper is bound
 * to nothing: it leaves between two bursts when the pool is closed, when its runner's attention is
 * wanted, or when a queue waits for a thread. Limits: one job of a queue at a time. Reset state: no
 * job, pool closed.
 */
#ifndef TSR_THREAD_POOL_H
#define TSR_THREAD_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "tsr_regs.h"

struct tsr_gpu;
struct tsr_queue;
struct tsr_runner;
struct tsr_shader;

/* What a burst of a core came to. */
enum tsr_burst {
	TSR_BURST_MORE,			/* there is more to do */
	TSR_BURST_DONE,			/* all work of this core is complete */
	TSR_BURST_STUCK,		/* the host has to be asked */
	TSR_BURST_FAULT,		/* shader->fault says what */
};

enum tsr_core_state {
	TSR_CORE_READY,			/* it has something to do */
	TSR_CORE_STUCK,			/* nothing can go on before the host answers */
	TSR_CORE_DONE,			/* all its work is complete */
};

/* What the pool needs of a core; the first member of the job's own structure. */
struct tsr_job_core {
	/* Somebody runs it, or it is being looked at; who gets it first has it. */
	atomic_bool claimed;
	_Atomic uint8_t state;		/* enum tsr_core_state */
	uint64_t stuck_seq;		/* host_seq of the last burst */
	uint32_t index;
};

struct tsr_job {
	/*
	 * One burst of @core, claimed by the caller. @again: the host has said something new since
	 * the core's last burst. @sh->stats is what was done.
	 */
	enum tsr_burst (*burst)(struct tsr_shader *sh, const struct tsr_mem *mem,
				struct tsr_queue *q, struct tsr_job_core *core, bool again);
	/* Whether a snapshot holds all there is of @core; not asked of a dispatch's. */
	bool (*rests)(const struct tsr_job_core *core);
	struct tsr_job_core *core[TSR_CORES_MAX];
	uint32_t cores;
	uint32_t cursor;		/* core that the owner works on */
	uint32_t bursts;		/* of it in the owner's present slice */
	bool shared;			/* there is work for more than one core */
};

/* Those who work on a queue's job. */
struct tsr_thread_pool {
	atomic_bool open;		/* helpers may touch the job */
	atomic_uint inside;		/* helpers that do */
	atomic_bool fault;		/* a helper has found one: @record */
	struct tsr_fault_info record;
	/* What helpers have done that the owner has not counted yet. */
	_Atomic uint64_t cycles, groups, clauses, threads, messages, read_bytes, write_bytes;
	_Atomic uint64_t samples, touches, fills, misses, decodes;	/* of textures */
	_Atomic uint64_t lookups[2];	/* as in struct tsr_runner */
};

/* The runner's part in programs; NULL: no memory. */
struct tsr_shader *tsr_thread_pool_shader(struct tsr_runner *runner);
/*
 * One burst of the owner's. TSR_STEP_DONE: all cores are done, the pool is closed. TSR_STEP_FAULT:
 * mem->fault, too. What was done is counted and added to @cost.
 */
enum tsr_step tsr_thread_pool_run(struct tsr_mem *mem, struct tsr_step_cost *cost);
/* No helper touches the job of @q on return. By the owner, lock not held. */
void tsr_thread_pool_close(struct tsr_queue *q);
/* Forget the job of @q, and what helpers have found and nobody has looked at. It is closed. */
void tsr_thread_pool_forget(struct tsr_queue *q);
/*
 * @runner, a worker without a queue, works on somebody's job as long as it can; false: there is
 * none. Lock held; released meanwhile.
 */
bool tsr_thread_pool_help(struct tsr_runner *runner);

#endif
