/* SPDX-License-Identifier: MIT */
/*
 * The COMPUTE engine: DISPATCH and DISPATCH_INDIRECT, and the threads that work on them.
 *
 * In: a command at the head of a queue's FIFO. Out: its groups executed, by the runner of the queue
 * (the owner) and by workers that have nothing else to do (helpers). The owner opens the crew when
 * there is something to share, and closes it before the queue comes to a stopping point: when it is
 * closed nobody else touches the grid. A helper is bound to nothing: it leaves between two bursts
 * when the crew is closed, when its runner's attention is wanted, or when a queue waits for a
 * thread. Limits: one dispatch of a queue at a time. Reset state: no dispatch, crew closed.
 */
#ifndef TSR_SHADER_DISPATCH_H
#define TSR_SHADER_DISPATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../engine.h"

struct tsr_grid;
struct tsr_gpu;
struct tsr_queue;
struct tsr_runner;

/* Those who work on a queue's dispatch. */
struct tsr_crew {
	atomic_bool open;		/* helpers may touch the grid */
	atomic_uint inside;		/* helpers that do */
	atomic_bool fault;		/* a helper has found one: @record */
	struct tsr_fault_info record;
	/* What helpers have done that the owner has not counted yet. */
	_Atomic uint64_t cycles, groups, clauses, threads, messages, read_bytes, write_bytes;
};

struct tsr_packet;

/* Whether @packet, at the head of a FIFO, is a dispatch that has a grid by its @state. */
bool tsr_dispatch_begun(const struct tsr_packet *packet, const struct tsr_engine_state *state);
/* Forget the queue's dispatch. It is at a stopping point. */
void tsr_dispatch_drop(struct tsr_queue *q);
/* No helper touches the grid of @q on return. By the owner, lock not held. */
void tsr_crew_close(struct tsr_queue *q);
/*
 * @runner, a worker without a queue, works on somebody's dispatch as long as it can; false: there
 * is none. Lock held; released meanwhile.
 */
bool tsr_crew_help(struct tsr_runner *runner);

#endif
