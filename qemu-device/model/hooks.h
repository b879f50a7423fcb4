/* SPDX-License-Identifier: MIT */
/*
 * Hooks: where the units tell the debug unit what they are about to do.
 *
 * In: calls of the units, at the places where a driver's mistake shows, a fault can be injected, a
 * job begins and ends. Out: nothing changes but by faults on purpose. A host chooses the table
 * (tsr_config.devtools); without one no flag of struct tsr_hooked is ever set, nothing is called,
 * and its files need not be linked. Where nobody listens a hook costs one load and a branch: the
 * caller looks at the flag that is named here, and only then calls.
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

/* What is hooked at this moment. All zero without a debug unit. */
struct tsr_hooked {
	/* kinds of faults (1 << enum tsr_injection) for which a rule can fire */
	_Atomic uint32_t armed;
	atomic_bool waiting;		/* something is put off: @arm is to be called */
	atomic_bool capture_armed;	/* CALLs that begin are to be looked at */
	atomic_bool capturing;		/* a job is being captured */
	/* What faults have left standing. Written under the device's lock, read by anybody. */
	atomic_bool gone;		/* the device does not answer */
	bool reset_stuck;		/* a reset waits for what cannot come; lock */
};

/* What is known of an occasion; what a unit does not know a rule cannot ask for. */
struct tsr_inject_at {
	const struct tsr_queue *queue;	/* or NULL */
	uint64_t queues;		/* of a message: slots it tells of */
	uint64_t addr;
	int as, vector;
};

struct tsr_hooks {
	/* The device is made, and goes away; false: out of memory. It is reset, lock held. */
	bool (*init)(struct tsr_gpu *gpu);
	void (*free)(struct tsr_gpu *gpu);
	void (*reset)(struct tsr_gpu *gpu);
	/* Register accesses; false: @offset is none of theirs. Lock held. */
	bool (*read)(struct tsr_gpu *gpu, uint32_t offset, uint32_t *value);
	bool (*write)(struct tsr_gpu *gpu, uint32_t offset, uint32_t value);

	/* @waiting: ask for the timer. Lock held. */
	void (*arm)(struct tsr_gpu *gpu);
	/*
	 * @armed: whether a fault of @kind happens at this occasion; *@delay (may be NULL) becomes
	 * its delay, or stays as it is. Any thread. Through tsr_injected() of gpu.h.
	 */
	bool (*injected)(struct tsr_gpu *gpu, unsigned int kind, const struct tsr_inject_at *at,
			 uint64_t *delay);
	/* @armed: the fault code of a translation that fails on purpose, or 0. Any thread. */
	uint8_t (*walk)(const struct tsr_mem *mem, uint64_t va);
	/* @armed: a FENCE writes @value to @addr. True: it has been done, as rules have it. */
	bool (*fence)(struct tsr_mem *mem, uint64_t addr, uint64_t value);
	/* @armed, @gone: the message of @vector, of events @bits. True: it is not sent. */
	bool (*message)(struct tsr_gpu *gpu, unsigned int vector, uint64_t bits);
	/* @armed: @q is told to stop. True: it does not. Lock held. */
	bool (*stop)(struct tsr_queue *q);
	/* @armed: the device is to be reset by its register. Lock held. */
	void (*reset_register)(struct tsr_gpu *gpu);
	/* FLR: true if it is ignored; else what keeps it from being complete ends. Lock held. */
	bool (*flr)(struct tsr_gpu *gpu);
	/* @armed, @gone: a register is read. True: the device does not answer. Lock held. */
	bool (*silent)(struct tsr_gpu *gpu);
	/*
	 * @armed, or the queue is hung: before a burst of the engine, @first of its command. True:
	 * it hangs, and the time of a burst has passed. Called by the runner, as the next two.
	 */
	bool (*hangs)(struct tsr_runner *runner, struct tsr_queue *q, bool first);
	/* @armed: after a burst, and after the last one of a copy command. */
	void (*slow)(struct tsr_runner *runner, struct tsr_queue *q);
	void (*copied)(struct tsr_runner *runner, struct tsr_queue *q);

	/* tsr_mmu.watched: @e is about to be used for the byte @va. Any thread. */
	void (*access)(struct tsr_mem *mem, uint64_t va, unsigned int access,
		       const struct tsr_tlb_entry *e);

	/* @capture_armed: the ring's CALL of @q begins. Called by the runner, without the lock. */
	void (*call)(struct tsr_runner *runner, struct tsr_queue *q, uint64_t cmd_va,
		     uint64_t cmd_size);
	/* @capturing: it is over. Called by the runner, or with the lock held. */
	void (*call_end)(struct tsr_queue *q, enum tsr_capture_outcome outcome);

	/* The rest where cfg.check is on; lock held, if nothing else is said. */

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
	/* Its doorbell announces what lies before @wptr; @q->wptr is the old one. */
	void (*doorbell)(struct tsr_queue *q, uint32_t wptr);
	/* The same of a slot that is DISABLED. */
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
