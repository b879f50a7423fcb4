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

/* Write spans a step may hold at once, see tsr_mem_map(). */
#define TSR_SPANS_HELD 32

/* Largest engine command in qwords, header included. */
#define TSR_ENGINE_CMD_QWORDS 8

enum tsr_step {
	TSR_STEP_MORE,			/* a burst is done, there is more */
	TSR_STEP_DONE,			/* the command is complete */
	TSR_STEP_PENDING,		/* the host has to be asked; step again once it is ready */
	TSR_STEP_FAULT,			/* mem->fault says what; the queue stops */
};

/* Where a command stands. All zero when it starts; engines give the words their own meaning. */
struct tsr_engine_state {
	uint64_t word[4];
};

/* A fault, as it will stand in the queue's fault record. */
struct tsr_fault_info {
	uint64_t addr;			/* exact address, or address of the offending qword */
	uint8_t code;			/* enum tsr_fault: TSR_FAULT_… */
	uint8_t access;			/* TSR_ACCESS_… */
	uint8_t level;			/* page-table level */
	uint8_t unit;			/* TSR_UNIT_… */
	uint8_t as;			/* address space */
	/* Of a program; zero otherwise. */
	uint32_t shader;		/* QUEUE.FAULT_SHADER */
	uint32_t group[3];		/* thread group */
	uint64_t clause;		/* address of the clause */
};

struct tsr_gpu;
struct tsr_queue;
struct tsr_runner;

/*
 * A running queue's view of memory: one address space, translated through the TLB. Lives on the
 * stack of whoever runs the queue and is used by that thread alone.
 */
struct tsr_mem {
	struct tsr_gpu *gpu;
	struct tsr_queue *queue;	/* for its counters; NULL: a helper's, see run.h */
	struct tsr_runner *runner;	/* whose TLB is used */
	uint8_t as;			/* address space of the accesses */
	uint8_t unit;			/* TSR_UNIT_… for fault records */
	struct tsr_fault_info fault;	/* set when map() fails with TSR_STEP_FAULT */
};

/* A piece of memory, contiguous on the host. */
struct tsr_span {
	/* host address; NULL for a NULL page: reads are zero, writes are dropped */
	uint8_t *ptr;
	/* valid bytes, not more than asked for; ends at a page boundary at the latest */
	uint64_t len;
};

/*
 * Translate [va, va + len) for @access (TSR_ACCESS_READ, _WRITE or _EXEC) as far as it is
 * contiguous. Returns TSR_STEP_DONE with @span, TSR_STEP_PENDING, or TSR_STEP_FAULT with mem->fault
 * set. A span is valid until the step returns. For writes the bytes [va, va + span.len) are marked
 * dirty when the step ends: do not ask for more than is going to be written. A step may hold at
 * most TSR_SPANS_HELD write spans at once: the oldest is to be regarded as lost when one more is
 * mapped.
 */
enum tsr_step tsr_mem_map(struct tsr_mem *mem, uint64_t va, uint64_t len, unsigned int access,
			  struct tsr_span *span);

/* Record a fault of the command itself: @qword of the packet is wrong. Returns TSR_STEP_FAULT. */
enum tsr_step tsr_mem_bad_packet(struct tsr_mem *mem, uint64_t pc, unsigned int qword,
				 uint8_t code);

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
/* The same for RENDER, which keeps its rendering (tile/render.h) in the queue. */
enum tsr_step tsr_render_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			      struct tsr_engine_state *state, struct tsr_step_cost *cost);

#endif
