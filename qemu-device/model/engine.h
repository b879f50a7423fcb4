/* SPDX-License-Identifier: MIT */
/*
 * The interface of an engine: what it may use of the GPU, and what it must do.
 *
 * An engine executes commands that the command processor has fetched and checked for length,
 * reserved bits, level and class. One step is a work quantum. It writes at most TSR_BURST_BYTES,
 * reads a comparable amount, and returns. The state for the next step is struct tsr_engine_state,
 * plain bytes. Nothing else is kept between steps. Time slices, reset, snapshots and
 * single-stepping happen only between two steps. A step that meets a pending translation or a
 * fault may have done a part of its work. Its state then names the exact position, so that the
 * repeated step neither skips nor repeats a write that can be observed.
 */
#ifndef TSR_ENGINE_H
#define TSR_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/mem.h"

/* Largest engine command in qwords, header included. */
#define TSR_ENGINE_CMD_QWORDS 8

/* Where a command stands. All zero when it starts; engines give the words their own meaning. */
struct tsr_engine_state {
	uint64_t word[4];
};

/*
 * The work of one step, for counters and the cost model. The cycles of a command's steps add up to
 * one for each started 64 bytes that the command reads or writes. The sum does not depend on the
 * number of steps, because the place of memory on the host must not change a schedule.
 */
struct tsr_step_cost {
	uint64_t read_bytes;
	uint64_t write_bytes;
	uint64_t cycles;
};

/*
 * One step of @cmd (as fetched; @pc is its address). @state is all zero before the first step. The
 * value checks of the fields (BAD_VALUE, ALIGNMENT) belong to the engine and are made before
 * anything is written.
 */
enum tsr_step tsr_copy_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			    struct tsr_engine_state *state, struct tsr_step_cost *cost);
/*
 * Returns true if @cmd reads nothing more. @state is all zero before its first step. Only the COPY
 * engine knows that before a command is complete; it returns false for commands of other engines.
 */
bool tsr_copy_reads_done(const uint64_t *cmd, const struct tsr_engine_state *state);
/*
 * Step of the COMPUTE engine. While its state has a command in progress, the queue holds a grid
 * (shader/grid.h). The step is bounded in clauses.
 */
enum tsr_step tsr_dispatch_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
				struct tsr_engine_state *state, struct tsr_step_cost *cost);
/*
 * Step of the BIN engine. The queue holds its binning (binner/bin.h). The step is bounded by the
 * sum of vertices, primitives, tiles and bytes.
 */
enum tsr_step tsr_bin_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			   struct tsr_engine_state *state, struct tsr_step_cost *cost);
/* Step of the RENDER engine. The queue holds its rendering (render/render.h). */
enum tsr_step tsr_render_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			      struct tsr_engine_state *state, struct tsr_step_cost *cost);

#endif
