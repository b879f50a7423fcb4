/* SPDX-License-Identifier: MIT */
/*
 * Hooks: calls from the units to the debug unit.
 *
 * In: calls at the places where a driver's mistake can be seen, a fault can be injected, or a job
 * begins or ends. Out: injected faults, and no other change. A host chooses the table
 * (tsr_config.devtools). Without a table no flag of struct tsr_hooked is ever set, no hook is
 * called, and the debug unit need not be linked. A caller tests the flag that is named here before
 * it calls, so an unused hook costs one load and a branch.
 */
#ifndef TSR_HOOKS_H
#define TSR_HOOKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tsr_capture.h"

struct tsr_gpu;
struct tsr_mem;
struct tsr_packet;
struct tsr_queue;
struct tsr_runner;
struct tsr_tlb_entry;

/* Flags of the hooks in use. All zero without a debug unit. */
struct tsr_hooked {
	/* kinds of faults (1 << enum tsr_injection) for which a rule can fire */
	_Atomic uint32_t armed;
	atomic_bool waiting;		/* an event is deferred, and @arm must be called */
	atomic_bool capture_armed;	/* CALLs that begin are checked for capture */
	atomic_bool capturing;		/* a job is being captured */
	/* State that faults have left. Written under the device's lock, read by any thread. */
	atomic_bool gone;		/* the device does not answer */
	bool reset_stuck;		/* a reset cannot complete; lock */
};

/* The facts that a unit knows about an occasion. Rules can test only these. */
struct tsr_inject_at {
	const struct tsr_queue *queue;	/* NULL if no queue is involved */
	uint64_t queues;		/* slots whose events a message reports */
	uint64_t addr;
	int as, vector;
};

struct tsr_hooks {
	/* Creation (false: out of memory), end, and reset with the lock held. */
	bool (*init)(struct tsr_gpu *gpu);
	void (*free)(struct tsr_gpu *gpu);
	void (*reset)(struct tsr_gpu *gpu);
	/* Register accesses. False if @offset is in no block of the debug unit. Lock held. */
	bool (*read)(struct tsr_gpu *gpu, uint32_t offset, uint32_t *value);
	bool (*write)(struct tsr_gpu *gpu, uint32_t offset, uint32_t value);

	/* @waiting: request the timer. Lock held. */
	void (*arm)(struct tsr_gpu *gpu);
	/*
	 * @armed: returns true if a fault of @kind happens at this occasion. *@delay (may be NULL)
	 * becomes its delay if the rule has one. Any thread. Called by tsr_injected() of gpu.h.
	 */
	bool (*injected)(struct tsr_gpu *gpu, unsigned int kind, const struct tsr_inject_at *at,
			 uint64_t *delay);
	/*
	 * @armed: the fault code that is injected into a translation, or 0. Not called while the
	 * translation has to wait for the host. Any thread.
	 */
	uint8_t (*walk)(const struct tsr_mem *mem, uint64_t va);
	/*
	 * @armed: the store of a FENCE, @value to @addr, or what a fault makes of it. Results are
	 * those of tsr_mem_store(). A call that is PENDING is no occasion.
	 */
	enum tsr_step (*fence)(struct tsr_mem *mem, uint64_t addr, uint64_t value);
	/* @armed, @gone: the message of @vector for events @bits. True if it is not sent. */
	bool (*message)(struct tsr_gpu *gpu, unsigned int vector, uint64_t bits);
	/* @armed: @q has to stop. True if it does not. Lock held. */
	bool (*stop)(struct tsr_queue *q);
	/* @armed: the register that resets the device is written. Lock held. */
	void (*reset_register)(struct tsr_gpu *gpu);
	/* FLR. True if it is ignored; otherwise a stuck reset ends. Lock held. */
	bool (*flr)(struct tsr_gpu *gpu);
	/* @armed, @gone: a register is read. True if the device does not answer. Lock held. */
	bool (*silent)(struct tsr_gpu *gpu);
	/*
	 * @armed, or the queue is hung: before a work quantum of the engine, @first of its command.
	 * True if it hangs; the time of a quantum has passed. Called by the worker, like the next
	 * two.
	 */
	bool (*hangs)(struct tsr_runner *runner, struct tsr_queue *q, bool first);
	/* @armed: after a work quantum, and after the last one of a copy command. */
	void (*slow)(struct tsr_runner *runner, struct tsr_queue *q);
	void (*copied)(struct tsr_runner *runner, struct tsr_queue *q);

	/* tsr_mmu.watched: @e is about to be used for the byte @va. Any thread. */
	void (*access)(struct tsr_mem *mem, uint64_t va, unsigned int access,
		       const struct tsr_tlb_entry *e);

	/* @capture_armed: the ring's CALL of @q begins. Called by the runner, without the lock. */
	void (*call)(struct tsr_runner *runner, struct tsr_queue *q, uint64_t cmd_va,
		     uint64_t cmd_size);
	/* @capturing: the captured job has ended. Called by the worker, or with the lock held. */
	void (*call_end)(struct tsr_queue *q, enum tsr_capture_outcome outcome);

	/* The contract checker's hooks, if cfg.check is set. Lock held except where noted. */

	/* The driver writes a register. */
	void (*wrote)(struct tsr_gpu *gpu, uint32_t offset, uint32_t value);
	/* RAWSTAT & MASK of class @cls was @before and is @now. Interrupts' lock held. */
	void (*irq)(struct tsr_gpu *gpu, unsigned int cls, uint64_t before, uint64_t now);
	/* Address space @as gets the table @root in the place of @old. */
	void (*root)(struct tsr_gpu *gpu, unsigned int as, uint64_t old, uint64_t root);
	/* An invalidation of [first, last] of @as has started; @host: of host pointers, of all. */
	void (*invalidated)(struct tsr_gpu *gpu, bool host, unsigned int as, uint64_t first,
			    uint64_t last);
	/* Slot @q is enabled. */
	void (*enabled)(struct tsr_queue *q);
	/* The doorbell of @q announces the ring up to @wptr; @q->wptr is the old value. */
	void (*doorbell)(struct tsr_queue *q, uint32_t wptr);
	/* A doorbell of a slot that is DISABLED. */
	void (*doorbell_disabled)(struct tsr_queue *q, uint32_t wptr);
	/* The packet held, of the ring, has been fetched. Called by the runner. */
	void (*fetched)(struct tsr_queue *q, const struct tsr_packet *packet);
	/* A FENCE of the ring has written. Called by the runner. */
	void (*fenced)(struct tsr_queue *q, unsigned int as, uint64_t addr, uint64_t value);
	/* The slot is about to be DISABLED; it has faulted. */
	void (*stopped)(struct tsr_queue *q);
	void (*faulted)(struct tsr_queue *q);
};

#endif
