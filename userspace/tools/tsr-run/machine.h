/* SPDX-License-Identifier: MIT */
/*
 * A script on a machine: the in-process device, an address space with the script's memory, a
 * COMPUTE queue.
 *
 * In: a script and how to run it. Out: the memory afterwards, and how it ended.
 */
#ifndef TSR_RUN_MACHINE_H
#define TSR_RUN_MACHINE_H

#include "memory.h"
#include "script.h"

struct machine_options {
	unsigned int threads;		/* worker threads; 0: the calling thread does the work */
	unsigned int cores;		/* shader cores, 0: the device's default */
	bool late;			/* messages as late as allowed, else as early */
	bool strict;			/* compare cached clauses with memory */
	const char *simd;		/* "sse2", "avx2", "avx512"; NULL: the best there is */
	enum tsr_jit_use jit;
	unsigned int seconds;		/* how long it may take, 0: 60 */
};

#define MACHINE_REGISTERS 64

/* How a dispatch ended. */
struct outcome {
	bool ended;			/* within the time */
	bool faulted;
	unsigned int code, access, unit, level;	/* enum tsr_fault, ... */
	uint64_t address;		/* FAULT_ADDR */
	uint64_t pc;			/* of the packet */
	bool in_program;		/* the rest holds */
	uint64_t clause;
	unsigned int tuple, lane, warp, core;
	bool add;
	uint32_t group[3];
	bool caught;			/* a debugger has seen it: */
	uint32_t reg[MACHINE_REGISTERS];	/* registers of the lane at fault */
	uint64_t groups, clauses, tuples, messages;	/* the queue's counters */
	double seconds;			/* duration of the run */
};

struct machine {
	const struct script *script;
	struct bench *bench;
	struct bench_as kernel, user;
	struct bench_queue queue;
	struct memory memory;
	uint64_t stream;		/* the command stream with the dispatch */
	uint32_t stream_size;
};

/*
 * Make a machine with everything in place. NULL, and the reason in @error (of @size bytes), if a
 * script cannot be run, as the addresses of its buffers are too high or a table is too large.
 */
struct machine *machine_new(const struct script *script, const struct machine_options *options,
			    char *error, size_t size);
void machine_free(struct machine *machine);

/*
 * Ring the doorbell. machine_collect(): see how it ended, once it has. machine_run(): both.
 * @outcome is all zero before, but for what hooks put there.
 */
void machine_start(struct machine *machine);
void machine_collect(struct machine *machine, struct outcome *outcome);
void machine_run(struct machine *machine, const struct machine_options *options,
		 struct outcome *outcome);

#endif
