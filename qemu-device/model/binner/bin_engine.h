/* SPDX-License-Identifier: MIT */
/*
 * The BIN engine, for the queue: see bin.h. Its step is tsr_bin_step() of engine.h.
 */
#ifndef TSR_BINNER_BIN_ENGINE_H
#define TSR_BINNER_BIN_ENGINE_H

#include <stdbool.h>

struct tsr_engine_state;
struct tsr_packet;
struct tsr_queue;

/* Whether @packet, at the head of a FIFO, is a BIN in progress by its @state. */
bool tsr_bin_begun(const struct tsr_packet *packet, const struct tsr_engine_state *state);
/* Forget the queue's binning. It is at a stopping point. */
void tsr_bin_drop(struct tsr_queue *q);

#endif
