/* SPDX-License-Identifier: MIT */
/*
 * The BIN engine, for the queue: see bin.h. Its step is tsr_bin_step() of engine.h.
 */
#ifndef TSR_BINNER_BIN_ENGINE_H
#define TSR_BINNER_BIN_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct tsr_engine_state;
struct tsr_work;

/* True if @cmd, at the head of a FIFO, is a BIN in progress by its @state. */
bool tsr_bin_begun(const uint64_t *cmd, const struct tsr_engine_state *state);
/* Free the queue's binning. The queue is at a preemption point. */
void tsr_bin_drop(struct tsr_work *work);

#endif
