/* SPDX-License-Identifier: MIT */
/* The RENDER engine as the rest of the model sees it; its step is in engine.h. */
#ifndef TSR_TILE_RENDER_ENGINE_H
#define TSR_TILE_RENDER_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct tsr_engine_state;
struct tsr_work;
struct tsr_stream;

/* Forget the command in progress, and its memory. The queue is at a preemption point. */
void tsr_render_drop(struct tsr_work *work);
/*
 * Keep no more of the command in progress than what cores have begun: no caches, and of cores that
 * are between two tiles or batches no memory. The queue is at a preemption point, the lock is held.
 */
void tsr_render_pack(struct tsr_work *work);
/* True if @cmd, at the head of a FIFO, is a RENDER in progress by its @state. */
bool tsr_render_begun(const uint64_t *cmd, const struct tsr_engine_state *state);
/* True if a snapshot holds all there is of the RENDER in progress: no core has begun something. */
bool tsr_render_rests(const struct tsr_work *work);
/* Write the command in progress to a snapshot, or make it from one. */
void tsr_render_visit(struct tsr_stream *s, struct tsr_work *work);

#endif
