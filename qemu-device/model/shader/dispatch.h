/* SPDX-License-Identifier: MIT */
/*
 * The COMPUTE engine: DISPATCH and DISPATCH_INDIRECT.
 *
 * In: a command at the head of a queue's FIFO. Out: its groups executed: the grid is a job whose
 * cores are the shader cores (thread_pool.h). Limits: one dispatch of a queue at a time. Reset
 * state: no dispatch.
 */
#ifndef TSR_SHADER_DISPATCH_H
#define TSR_SHADER_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

struct tsr_work;
struct tsr_stream;

/* True if @cmd, at the head of a FIFO, is a dispatch that has a grid by its @state. */
bool tsr_dispatch_begun(const uint64_t *cmd, const struct tsr_engine_state *state);
/* Forget the queue's dispatch. It is at a preemption point. */
void tsr_dispatch_drop(struct tsr_work *work);
/*
 * Keep no more of the queue's dispatch than a snapshot would, until its engine goes on with it; as
 * it is if there is no memory for that. It is at a preemption point, the lock is held.
 */
void tsr_dispatch_pack(struct tsr_work *work);
/* Write the queue's dispatch to a snapshot, or make it from one. Lock held. */
void tsr_dispatch_visit(struct tsr_stream *s, struct tsr_work *work);

#endif
