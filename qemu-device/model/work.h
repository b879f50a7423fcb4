/* SPDX-License-Identifier: MIT */
/*
 * The command in progress of a queue, as its engine sees it, and the job that threads share.
 *
 * In: a command at the head of a queue's FIFO. Out: its cores run to their end. The engine owns the
 * memory that the command needs (a grid, a binning or a rendering) and describes the job to the
 * thread pool (queue/thread_pool.h), which runs its cores. The queue holds struct tsr_work and
 * never looks inside what it points to: engines free, pack and visit that themselves. Limits: one
 * job for each queue. Reset state: all zero but @env.
 */
#ifndef TSR_WORK_H
#define TSR_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "env.h"
#include "tsr_regs.h"

struct tsr_binning;
struct tsr_grid;
struct tsr_queue;
struct tsr_rendering;
struct tsr_shader;
struct tsr_work;

/* Result of one work quantum of a core. */
enum tsr_burst {
	TSR_BURST_MORE,			/* there is more to do */
	TSR_BURST_DONE,			/* all work of this core is complete */
	TSR_BURST_STUCK,		/* a translation of the host is missing */
	TSR_BURST_FAULT,		/* shader->fault has the fault */
};

enum tsr_core_state {
	TSR_CORE_READY,			/* has work */
	TSR_CORE_STUCK,			/* all its work waits for the host */
	TSR_CORE_DONE,			/* has completed its work */
};

/* A core as the pool sees it. First member of the job's own structure. */
struct tsr_job_core {
	/* A thread runs or examines the core. The first thread that sets the flag owns the core. */
	atomic_bool claimed;
	_Atomic uint8_t state;		/* enum tsr_core_state */
	uint64_t stuck_seq;		/* host_seq of the last burst */
	uint32_t index;
};

struct tsr_job {
	/*
	 * One work quantum of @core, which the caller has claimed. @again is true if the host has
	 * answered since the core's last quantum. @sh->stats receives the work done.
	 */
	enum tsr_burst (*burst)(struct tsr_shader *sh, const struct tsr_mem *mem,
				struct tsr_work *work, struct tsr_job_core *core, bool again);
	/* True if a snapshot holds the whole state of @core. Not called for a dispatch. */
	bool (*rests)(const struct tsr_job_core *core);
	struct tsr_job_core *core[TSR_CORES_MAX];
	uint32_t cores;
	uint32_t cursor;		/* core that the owner works on */
	uint32_t bursts;		/* of it in the owner's present slice */
	bool shared;			/* there is work for more than one core */
};

/*
 * The threads that work on a queue's job. What helpers read for each block and burst has cache
 * lines of its own.
 */
struct tsr_thread_pool {
	char before[TSR_LINE_PAIR];
	atomic_bool open;		/* helpers may touch the job */
	atomic_bool fault;		/* a helper has found one: @record */
	char between[TSR_LINE_PAIR];
	atomic_uint inside;		/* helpers that do */
	struct tsr_fault_info record;
	/* Work of helpers that the owner has not counted yet. */
	_Atomic uint64_t cycles, groups, clauses, threads, messages, yields;
	_Atomic uint64_t read_bytes, write_bytes;
	_Atomic uint64_t samples, touches, fills, misses, decodes;	/* of textures */
	_Atomic uint64_t lookups[2];	/* as in struct tsr_port */
};

/*
 * Memory of an engine's last command, kept for its next one, whichever queue that is from. Belongs
 * to the thread that runs the queue on the engine. An engine uses the member of its own class; a
 * member is NULL if there is no such memory.
 */
struct tsr_engine_memory {
	struct tsr_grid *grid;
	struct tsr_binning *binning;
	struct tsr_rendering *rendering;
};

/* Belongs to the thread that runs the queue, otherwise to the holder of the device's lock. */
struct tsr_work {
	const struct tsr_env *env;
	struct tsr_engine_memory *spare;	/* of the engine that the queue is on */
	struct tsr_grid *grid;		/* the dispatch, with all its threads; or NULL */
	/* the dispatch as a snapshot holds it, see tsr_dispatch_pack(); or NULL */
	uint8_t *packed;
	size_t packed_bytes;
	struct tsr_binning *binning;	/* the frame of its BIN; or NULL */
	struct tsr_rendering *rendering;	/* its RENDER; or NULL */
	struct tsr_job *job;		/* what the engine's cores have to do; or NULL */
	struct tsr_thread_pool pool;	/* the threads that work on @job */
};

/* ---- What the queue does for engines --------------------------------------------------------- */

/* Number of the slot of @q. */
unsigned int tsr_queue_number(const struct tsr_queue *q);

/* The thread's state for shaders, which is allocated when it is first wanted. NULL: no memory. */
struct tsr_shader *tsr_thread_pool_shader(struct tsr_thread *thread);
/*
 * One burst of the owner's. TSR_STEP_DONE: all cores are done, the pool is closed. TSR_STEP_FAULT:
 * mem->fault, too. What was done is counted and added to @cost.
 */
enum tsr_step tsr_thread_pool_run(struct tsr_mem *mem, struct tsr_step_cost *cost);
/* Forget the job of @work and the unread results of helpers. The pool is closed. */
void tsr_thread_pool_forget(struct tsr_work *work);

/* Returns true if the heap at @base is the queue's, whose size is tsr_heap_state_size(). */
bool tsr_heap_state_is(const struct tsr_queue *q, uint64_t base);
/* Size of the queue's heap in bytes. It can grow at any time. */
uint64_t tsr_heap_state_size(const struct tsr_queue *q);
/*
 * The engine needs the first @bytes of its queue's heap. TSR_STEP_DONE: they are there. _PENDING:
 * the engine returns that, and repeats its step after the heap has grown. _FAULT: it never will.
 */
enum tsr_step tsr_heap_state_need(struct tsr_mem *mem, uint64_t bytes);

#endif
