/* SPDX-License-Identifier: MIT */
/*
 * What an engine sees of the rest of the GPU, and what it must do.
 *
 * An engine executes commands that the command processor has fetched and checked for length,
 * reserved bits, level and class. It works in bursts: step() does at most TSR_BURST_BYTES of
 * writing (and a comparable amount of reading), then returns. What it needs to go on is in struct
 * tsr_engine_state, plain bytes, the only thing kept between steps: time slices, reset, snapshots
 * and single-stepping all happen between two steps and nowhere else. A step that meets a pending
 * translation or a fault may have done part of its burst; its state then says exactly how far it
 * is, so that repeating the step neither skips nor repeats a write that matters.
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
 * What one step has done, for counters and the cost model. The cycles of a command's steps add up
 * to one for each 64 bytes, begun, that the command reads, and for each that it writes, however it
 * was cut into steps: where memory is on the host must not change a schedule.
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
 * The same for the commands of the COMPUTE engine, which keeps a grid (shader/grid.h) in the queue
 * while its state says so. A burst of it is bounded in clauses.
 */
enum tsr_step tsr_dispatch_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
				struct tsr_engine_state *state, struct tsr_step_cost *cost);
/*
 * The same for BIN, which keeps its binning (binner/bin.h) in the queue. A burst of it is bounded
 * in vertices, primitives, tiles and bytes together.
 */
enum tsr_step tsr_bin_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			   struct tsr_engine_state *state, struct tsr_step_cost *cost);
/* The same for RENDER, which keeps its rendering (render/render.h) in the queue. */
enum tsr_step tsr_render_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			      struct tsr_engine_state *state, struct tsr_step_cost *cost);

#endif
