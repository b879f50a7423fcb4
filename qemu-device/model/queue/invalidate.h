/* SPDX-License-Identifier: MIT */
/*
 * Invalidations of translations: from a register, a packet or the host to their completion.
 *
 * Invalidations are written to a log of the device. A thread applies the log at its preemption
 * points. An invalidation is complete when every active thread has applied it. A thread that is
 * more than the length of the log late drops all translations.
 *
 * In: ranges to invalidate, threads at their preemption points. Out: INV_DONE, the TLB_DONE
 * interrupt, new numbers of an address space's code and data. Limits: TSR_INVAL_LOG incomplete
 * invalidations. With more of them, the completion of the oldest is delayed.
 */
#ifndef TSR_INVALIDATE_H
#define TSR_INVALIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/tlb.h"

#define TSR_INVAL_LOG 64

struct tsr_gpu;
struct tsr_runner;

/* The log. Protected by the device's lock. */
struct tsr_inval {
	struct tsr_inval_record log[TSR_INVAL_LOG];	/* number n is at n % TSR_INVAL_LOG */
	uint64_t head;			/* invalidations ever started */
	uint64_t done;			/* invalidations ever completed */
	uint32_t late;			/* sum of tsr_as.inv_late */
	bool late_irq;			/* one of them wants TLB_DONE */
};

/* Apply the log, at preemption points of the thread only. Lock held. */
void tsr_tlb_sync(struct tsr_runner *runner);

/*
 * Start an invalidation as AS.COMMAND does; returns without waiting. @first and @last are looked at
 * for RANGE only. Lock held.
 */
void tsr_inval_start(struct tsr_gpu *gpu, unsigned int kind, unsigned int as, uint64_t first,
		     uint64_t last, bool irq);
/*
 * Retire the invalidations that every running runner has passed: after a sync, and when a runner
 * goes idle. Lock held.
 */
void tsr_inval_complete(struct tsr_gpu *gpu);
/*
 * AS.COMMAND and TLB_INVALIDATE: do @op (enum tsr_inv_op) on @as, of [va, va + size) for RANGE.
 * Lock held.
 */
void tsr_inval_command(struct tsr_gpu *gpu, unsigned int as, unsigned int op, uint64_t va,
		       uint64_t size, bool irq);
/* Begin the invalidations that an injected fault holds. Lock held. */
void tsr_inval_unstick(struct tsr_gpu *gpu);
/* Device reset: all address spaces off, nothing cached. No runner is running. Lock held. */
void tsr_inval_reset(struct tsr_gpu *gpu);

#endif
