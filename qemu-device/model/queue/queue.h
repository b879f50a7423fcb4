/* SPDX-License-Identifier: MIT */
/*
 * Queue slots: registers, states and their changes.
 *
 * In: register writes (configuration, CONTROL, doorbell), what the scheduler reports when a queue
 * leaves its engine. Out: READY queues to the scheduler, FAULT and QUEUE_STOPPED interrupts.
 * Limits: TSR_QUEUES_MAX slots. Reset state: DISABLED, all registers zero.
 *
 * Fields are protected by the device's lock, with two exceptions: @exec belongs to the runner while
 * @active is set, and the _Atomic ones are written by the runner then (by the lock's holder
 * otherwise) and read by anybody.
 */
#ifndef TSR_QUEUE_H
#define TSR_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "exec.h"
#include "heap_state.h"
#include "work.h"

struct tsr_gpu;
struct tsr_runner;

/* Requests to a running queue, applied at its next preemption point. */
enum {
	TSR_REQUEST_RESET = 1,		/* CONTROL: RESET */
	TSR_REQUEST_SUSPEND = 2,	/* CONTROL: SUSPEND */
	TSR_REQUEST_BAD_WPTR = 4,	/* a doorbell value was impossible: @bad_wptr */
	TSR_REQUEST_YIELD = 8,		/* a queue of higher priority is ready */
};

struct tsr_queue {
	struct tsr_gpu *gpu;
	unsigned int index;		/* number of the slot */

	/* Configuration, as the registers hold it. */
	uint64_t ring_base;
	uint32_t config;
	uint32_t address_spaces;
	uint32_t timeslice;
	uint32_t watchdog_ms;

	/* State. */
	uint8_t state;			/* enum tsr_queue_state */
	uint8_t block;			/* enum tsr_queue_block, while BLOCKED */
	uint8_t before;			/* SUSPENDED: the state RESUME goes back to */
	uint8_t request;		/* TSR_REQUEST_ bits */
	uint8_t engine;			/* while RUNNING */
	/* READY: needs a worker, the doorbell's thread has given it up */
	bool heavy;
	/* runs by the starvation rule: keeps its engine for a slice */
	bool starved;

	uint32_t bad_wptr;		/* the value of BAD_WPTR */
	struct tsr_runner *active;	/* thread that runs it at this moment */

	/* Scheduling. */
	uint64_t order;			/* READY: queues with lower numbers first within a level */
	/* READY: slices of its class's engines it was passed over for */
	uint32_t passed;
	/* RUNNING: cycles of the slice, and those left; belong to the runner like @exec */
	uint32_t slice;
	int64_t slice_left;
	uint64_t run_since;		/* RUNNING: clock */
	uint64_t block_since;		/* BLOCKED: clock */
	/* host_ready calls seen before the step that was PENDING; the runner's */
	uint64_t host_seq;

	/* Watchdog. */
	uint64_t watch_since;		/* host clock at the last sign of progress */
	uint64_t watch_progress;	/* PROGRESS then */
	bool watch_fired;		/* the interrupt has been raised for this value */

	/* Registers the runner writes. */
	_Atomic uint32_t rptr;
	_Atomic uint32_t wptr;		/* written by the doorbell */
	_Atomic bool in_call;		/* STATE.IN_CALL */
	_Atomic uint64_t progress;
	_Atomic uint64_t calls;
	_Atomic uint64_t counter[TSR_QUEUE_COUNTERS];	/* by enum tsr_queue_counter */
	uint64_t busy_ns;		/* BUSY_NS; also counter BUSY_TIME */
	uint32_t slices;
	uint32_t preemptions;
	struct tsr_record fault;	/* fault record */

	/* fault injection: its engine makes no progress; it ignores @request */
	atomic_bool hung;
	bool stop_stuck;

	struct tsr_heap_state heap;
	struct tsr_exec exec;
	struct tsr_work work;		/* of its engine; belongs with @exec */
};

static inline unsigned int tsr_queue_class(const struct tsr_queue *q)
{
	return (q->config & TSR_QUEUE_CONFIG_CLASS__MASK) >> TSR_QUEUE_CONFIG_CLASS__SHIFT;
}

static inline unsigned int tsr_queue_priority(const struct tsr_queue *q)
{
	return (q->config & TSR_QUEUE_CONFIG_PRIORITY__MASK) >> TSR_QUEUE_CONFIG_PRIORITY__SHIFT;
}

static inline uint32_t tsr_queue_ring_size(const struct tsr_queue *q)
{
	return 1u << (q->config & TSR_QUEUE_CONFIG_RING_LOG2__MASK);
}

static inline unsigned int tsr_queue_ring_as(const struct tsr_queue *q)
{
	return (q->address_spaces & TSR_QUEUE_ADDRESS_SPACES_RING_AS__MASK) >>
	       TSR_QUEUE_ADDRESS_SPACES_RING_AS__SHIFT;
}

static inline unsigned int tsr_queue_user_as(const struct tsr_queue *q)
{
	return (q->address_spaces & TSR_QUEUE_ADDRESS_SPACES_USER_AS__MASK) >>
	       TSR_QUEUE_ADDRESS_SPACES_USER_AS__SHIFT;
}

/*
 * Bytes of the ring that hold packets. A doorbell that takes back packets while they are executed
 * can leave the write pointer behind the read pointer: then there are none.
 */
static inline uint32_t tsr_queue_filled(const struct tsr_queue *q)
{
	uint32_t wptr = atomic_load_explicit(&q->wptr, memory_order_acquire);
	uint32_t filled = wptr - atomic_load_explicit(&q->rptr, memory_order_relaxed);

	return filled <= tsr_queue_ring_size(q) ? filled : 0;
}

/* Cycles of a time slice, from TIMESLICE. */
uint32_t tsr_queue_slice(const struct tsr_queue *q);

/* Everything below wants the lock held. */

/* A write to the doorbell. */
void tsr_queue_doorbell(struct tsr_queue *q, uint32_t wptr);
/* A write to CONTROL: @op is an enum tsr_queue_op or nonsense. */
void tsr_queue_control(struct tsr_queue *q, unsigned int op);
/* Change the state (and trace it). */
void tsr_queue_set_state(struct tsr_queue *q, unsigned int state);
/* The queue, not on an engine any more, has faulted: @q->fault is filled. */
void tsr_queue_faulted(struct tsr_queue *q);
/* Fill the fault record for the slot's own checks. */
void tsr_queue_slot_fault(struct tsr_queue *q, unsigned int code, uint64_t addr);
/* The queue is at a preemption point and on no engine: apply @q->request. */
void tsr_queue_honour(struct tsr_queue *q);
/* A queue that fault injection kept from stopping applies its request. */
void tsr_queue_unstick(struct tsr_queue *q);
/* The configuration register that is impossible, as its offset in the slot; -1: none. */
int tsr_queue_bad_register(const struct tsr_queue *q);
/* BLOCKED ends: READY. */
void tsr_queue_unblock(struct tsr_queue *q);
/* True if there is anything left to do. */
bool tsr_queue_has_work(const struct tsr_queue *q);
/* Device reset: back to the reset state. */
void tsr_queue_reset(struct tsr_queue *q);

#endif
