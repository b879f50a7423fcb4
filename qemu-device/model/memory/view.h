/* SPDX-License-Identifier: MIT */
/*
 * Types that the memory system shares with its users: a view of an address space, the result of an
 * access, a fault.
 */
#ifndef TSR_VIEW_H
#define TSR_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "tlb.h"
#include "tsr_regs.h"

/* Write spans a step may hold at once, see tsr_mem_map(). */
#define TSR_SPANS_HELD 32

#define TSR_DIRTY_RANGES (2 * TSR_SPANS_HELD)

enum tsr_step {
	TSR_STEP_MORE,			/* a work quantum is done, and work is left */
	TSR_STEP_DONE,			/* the command is complete */
	TSR_STEP_PENDING,		/* the host must translate; then step again */
	TSR_STEP_FAULT,			/* mem->fault has the fault; the queue stops */
};

/* A fault, as the queue's fault record will show it. */
struct tsr_fault_info {
	uint64_t addr;			/* exact address, or address of the offending qword */
	uint8_t code;			/* enum tsr_fault: TSR_FAULT_… */
	uint8_t access;			/* TSR_ACCESS_… */
	uint8_t level;			/* page-table level */
	uint8_t unit;			/* TSR_UNIT_… */
	uint8_t as;			/* address space */
	/* Place in a program; zero for other faults. */
	uint32_t shader;		/* QUEUE.FAULT_SHADER */
	uint32_t group[3];		/* thread group */
	uint64_t clause;		/* address of the clause */
};

/* A range that has been written, or will have been when the step ends. */
struct tsr_dirty_range {
	uint8_t *ptr;			/* its host address */
	uint64_t phys;			/* its bus address or local offset */
	uint64_t len;			/* bytes */
	bool local;			/* in local memory */
};

/* Written ranges that the host does not know yet. */
struct tsr_dirty {
	struct tsr_dirty_range range[TSR_DIRTY_RANGES];
	unsigned int count;
};

struct tsr_mmu;

/* Times at which a thread tests its stop request, in builds with TSR_DEBUG_STOP. */
struct tsr_looks {
	uint64_t last;			/* time of the last look; 0: the thread does not work */
	uint64_t sampled_at, sampled_cpu;	/* some look before, and the processor time then */
	uint64_t work;			/* cycles reported with tsr_port_work() since then */
};

/* A thread's port to memory: what it alone uses. */
struct tsr_port {
	struct tsr_mmu *mmu;
	struct tsr_dirty dirty;		/* writes the host has not been told of */
	struct tsr_tlb tlb;
	/* look-ups that no queue has counted, [1]: those that hit */
	uint64_t lookups[2];
	/*
	 * Stop request: another thread wants this one to end its burst, see tsr_stop_requested().
	 * Set under the device's lock, cleared by the thread itself.
	 */
	atomic_bool stop;
#ifdef TSR_DEBUG_STOP
	struct tsr_looks looks;
#endif
};

/*
 * Stop requests. A thread that works calls tsr_port_stop_requested() after at most TSR_STOP_WORK
 * cycles of work. A build with TSR_DEBUG_STOP asserts this for the work that is reported with
 * tsr_port_work(). Other work would escape, so it also asserts a coarse bound on the processor time
 * between two looks.
 */
#ifdef TSR_DEBUG_STOP
void tsr_port_look(struct tsr_port *port);
#endif

/* Returns true if another thread wants this one to end its burst. */
static inline bool tsr_port_stop_requested(struct tsr_port *port)
{
#ifdef TSR_DEBUG_STOP
	if (port->looks.last)
		tsr_port_look(port);
#endif
	return atomic_load_explicit(&port->stop, memory_order_relaxed);
}

/* The thread has done @cycles more of work since its last look. */
static inline void tsr_port_work(struct tsr_port *port, uint64_t cycles)
{
#ifdef TSR_DEBUG_STOP
	port->looks.work += cycles;
	if (port->looks.work > TSR_STOP_WORK)
		abort();
#else
	(void)port;
	(void)cycles;
#endif
}

/* The thread begins to work outside the lock; earlier requests have been handled. Lock held. */
static inline void tsr_port_start(struct tsr_port *port)
{
	atomic_store_explicit(&port->stop, false, memory_order_relaxed);
#ifdef TSR_DEBUG_STOP
	tsr_port_look(port);
#endif
}

/* The thread has stopped working. Lock held. */
static inline void tsr_port_end(struct tsr_port *port)
{
#ifdef TSR_DEBUG_STOP
	if (port->looks.last)
		tsr_port_look(port);
	port->looks.last = 0;
#else
	(void)port;
#endif
}

struct tsr_env;
struct tsr_gpu;
struct tsr_queue;
struct tsr_runner;
struct tsr_thread;
struct tsr_work;

/*
 * A running queue's view of memory: one address space, translated through the TLB. It lives on the
 * stack of the thread that runs the queue, and only that thread uses it. The memory system does not
 * use the pointers below @counter; they are context for the owner of the view.
 */
struct tsr_mem {
	struct tsr_port *port;		/* the thread's */
	/* by enum tsr_queue_counter, where look-ups are counted; NULL: in the port */
	_Atomic uint64_t *counter;
	/* For engines. */
	const struct tsr_env *env;
	struct tsr_thread *thread;	/* the thread whose port it is */
	struct tsr_work *work;		/* the queue's command in progress; NULL in a helper */
	/* Only in a helper: its pool is open; a queue waits for a thread. Otherwise NULL. */
	const atomic_bool *pool_open, *queue_waits;
	/* For the command processor and for hooks. */
	struct tsr_gpu *gpu;
	struct tsr_queue *queue;	/* NULL in a helper */
	struct tsr_runner *runner;
	uint8_t as;			/* address space of the accesses */
	uint8_t unit;			/* TSR_UNIT_… for fault records */
	struct tsr_fault_info fault;	/* set when map() fails with TSR_STEP_FAULT */
};

/*
 * Returns true if the burst must end: the thread has a stop request or, in a helper, the owner has
 * closed the pool or a queue waits for a thread.
 */
static inline bool tsr_stop_requested(const struct tsr_mem *mem)
{
	if (tsr_port_stop_requested(mem->port))
		return true;
	return mem->pool_open &&
	       (!atomic_load_explicit(mem->pool_open, memory_order_relaxed) ||
		atomic_load_explicit(mem->queue_waits, memory_order_relaxed));
}

/* A piece of memory, contiguous on the host. */
struct tsr_span {
	/* host address; NULL for a NULL page: reads are zero, writes are dropped */
	uint8_t *ptr;
	/* valid bytes, not more than asked for; ends at a page boundary at the latest */
	uint64_t len;
};

#endif
