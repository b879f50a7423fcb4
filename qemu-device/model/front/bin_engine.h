/* SPDX-License-Identifier: MIT */
/*
 * The BIN engine, for the queue: see bin.h. Its step is tsr_bin_step() of engine.h.
 */
#ifndef TSR_FRONT_BIN_ENGINE_H
#define TSR_FRONT_BIN_ENGINE_H

struct tsr_queue;

/* Forget the queue's binning. It is at a stopping point. */
void tsr_bin_drop(struct tsr_queue *q);

#endif
