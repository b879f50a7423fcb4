/* SPDX-License-Identifier: MIT */
/*
 * The FIFO between command processor and engine, and the engine's side of it.
 *
 * In: checked engine commands and event packets, in order. Out: steps of the engine, one burst
 * each; events applied in order, READS_DONE before the commands that have done their reads are
 * complete. Limits: TSR_FIFO_DEPTH entries. Reset state: empty.
 */
#ifndef TSR_FIFO_H
#define TSR_FIFO_H

#include <stdbool.h>

#include "exec.h"

struct tsr_queue;
struct tsr_runner;

/* Result of one step at the head of the FIFO. */
enum tsr_fifo_result {
	TSR_FIFO_EMPTY,			/* there was nothing to do */
	TSR_FIFO_STEPPED,		/* a burst or an event is done */
	TSR_FIFO_PENDING,		/* the host has to be asked */
	TSR_FIFO_FAULT,			/* the queue's fault record is filled, the FIFO is empty */
	TSR_FIFO_HEAVY,			/* an engine command is due, which may not run here */
};

bool tsr_fifo_full(const struct tsr_fifo *fifo);
/* True if a command in the FIFO may still read memory. */
bool tsr_fifo_reads(struct tsr_fifo *fifo);
/* True if the engine is in the middle of something a snapshot would not hold all of. */
bool tsr_fifo_unwound(const struct tsr_queue *q);
/* Append; there must be room. */
void tsr_fifo_push(struct tsr_fifo *fifo, const struct tsr_packet *packet);
/* Drop everything. */
void tsr_fifo_clear(struct tsr_fifo *fifo);
/* One step of the oldest entry. @light: events only. Called by whoever runs @q. */
enum tsr_fifo_result tsr_fifo_step(struct tsr_runner *runner, struct tsr_queue *q, bool light);

#endif
