/* SPDX-License-Identifier: MIT */
/*
 * Command processor: fetches, checks and executes the packets of a queue's ring and of the streams
 * it calls.
 *
 * In: the ring between RPTR and WPTR. Out: engine commands and event packets into the queue's FIFO;
 * events that are due when the packet is reached; RPTR. It works ahead of the engine until
 * something holds it up. Limits: TSR_NESTING_MAX open streams, TSR_LOOP_LIMIT branches without
 * progress. All its state is in struct tsr_exec.
 */
#ifndef TSR_CP_H
#define TSR_CP_H

#include "exec.h"

struct tsr_queue;
struct tsr_runner;

/* Result of a step. */
enum tsr_cp_result {
	TSR_CP_STEPPED,			/* a packet was executed */
	TSR_CP_IDLE,			/* the ring is empty */
	TSR_CP_STALLED,			/* the next packet waits for the engine */
	TSR_CP_BLOCKED,			/* a condition does not hold */
	TSR_CP_PENDING,			/* the host must translate an address */
	/* an invalidation is not complete: soon, without anybody's help */
	TSR_CP_INVALIDATING,
	TSR_CP_FAULTED,			/* a fault is recorded and everything before it is done */
};

/* One packet, or less. Called by whoever runs @q. */
enum tsr_cp_result tsr_cp_step(struct tsr_runner *runner, struct tsr_queue *q);
/* True if the packet to execute is a BARRIER. */
bool tsr_cp_at_barrier(const struct tsr_exec *exec);
/* Start anew at RPTR: nothing is open, held, or read ahead. */
void tsr_cp_reset(struct tsr_exec *exec);

#endif
