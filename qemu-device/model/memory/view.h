/* SPDX-License-Identifier: MIT */
/*
 * What those who access memory and the memory system have in common: a view of an address space,
 * the outcome of an access, a fault.
 */
#ifndef TSR_VIEW_H
#define TSR_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tlb.h"

/* Write spans a step may hold at once, see tsr_mem_map(). */
#define TSR_SPANS_HELD 32

#define TSR_DIRTY_RANGES (2 * TSR_SPANS_HELD)

enum tsr_step {
	TSR_STEP_MORE,			/* a burst is done, there is more */
	TSR_STEP_DONE,			/* the command is complete */
	TSR_STEP_PENDING,		/* the host has to be asked; step again once it is ready */
	TSR_STEP_FAULT,			/* mem->fault says what; the queue stops */
};

/* A fault, as it will stand in the queue's fault record. */
struct tsr_fault_info {
	uint64_t addr;			/* exact address, or address of the offending qword */
	uint8_t code;			/* enum tsr_fault: TSR_FAULT_… */
	uint8_t access;			/* TSR_ACCESS_… */
	uint8_t level;			/* page-table level */
	uint8_t unit;			/* TSR_UNIT_… */
	uint8_t as;			/* address space */
	/* Of a program; zero otherwise. */
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

/* Ranges the host has not been told of. */
struct tsr_dirty {
	struct tsr_dirty_range range[TSR_DIRTY_RANGES];
	unsigned int count;
};

struct tsr_mmu;

/* A thread's port to memory: what it alone uses. */
struct tsr_port {
	struct tsr_mmu *mmu;
	struct tsr_dirty dirty;		/* writes the host has not been told of */
	struct tsr_tlb tlb;
	/* look-ups that no queue has counted, [1]: those that hit */
	uint64_t lookups[2];
};

struct tsr_gpu;
struct tsr_queue;
struct tsr_runner;

/*
 * A running queue's view of memory: one address space, translated through the TLB. Lives on the
 * stack of whoever runs the queue and is used by that thread alone. The memory system knows nothing
 * of @gpu, @queue and @runner: they are for those that have the view.
 */
struct tsr_mem {
	struct tsr_port *port;		/* the thread's */
	/* by enum tsr_queue_counter, where look-ups are counted; NULL: in the port */
	_Atomic uint64_t *counter;
	struct tsr_gpu *gpu;
	struct tsr_queue *queue;	/* whose it is; NULL: a helper's, see run.h */
	struct tsr_runner *runner;	/* whose port it is */
	uint8_t as;			/* address space of the accesses */
	uint8_t unit;			/* TSR_UNIT_… for fault records */
	struct tsr_fault_info fault;	/* set when map() fails with TSR_STEP_FAULT */
};

/* A piece of memory, contiguous on the host. */
struct tsr_span {
	/* host address; NULL for a NULL page: reads are zero, writes are dropped */
	uint8_t *ptr;
	/* valid bytes, not more than asked for; ends at a page boundary at the latest */
	uint64_t len;
};

#endif
