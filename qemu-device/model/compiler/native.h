/* SPDX-License-Identifier: MIT */
/*
 * Interface of a core and generated code (jit.h).
 *
 * Generated code executes whole clauses for the chosen warps of a warp group, one after the other.
 * It returns when the core is needed. The data belong to the thread that runs the core.
 */
#ifndef TSR_SHADER_NATIVE_H
#define TSR_SHADER_NATIVE_H

#include <stdint.h>

#include "loop.h"
#include "shader/lanes.h"

struct tsr_decoded;

/* Result of the branch of the last clause. */
enum tsr_outcome {
	TSR_OUTCOME_NONE,		/* no lane branches, or there is no branch */
	TSR_OUTCOME_ALL,
	TSR_OUTCOME_SOME,
	TSR_OUTCOME_OPEN,		/* its condition has not been evaluated */
};

/* A vector with active lanes: a warp's, or where vectors have 8 lanes, half of one. */
struct tsr_chunk {
	uint16_t offset;		/* bytes from the first of a register's vectors */
	uint16_t idle, active;		/* lanes, a bit each */
	uint16_t taken;			/* its bits in tsr_branch.taken, an offset in bytes */
};

#define TSR_CHUNKS_MAX (TSR_BUNDLE_WARPS * 2)

struct tsr_native {
	/* In: the chunks to work on, unless all lanes of the bundle are active. */
	struct tsr_chunk chunk[TSR_CHUNKS_MAX + 1];	/* the last one is never used */
	uint32_t chunks;
	/* lowest address at which a clause may not be executed without asking the core */
	uint64_t meet;
	uint16_t after;			/* TSR_CLAUSE_ flags the core wants to know of */
	/* In and out: what may be executed, counted down. It ends when one is 0 or less. */
	int32_t clauses, tuples;
	/* Bit n: register n may have been written by clauses since the core set it to 0. */
	uint64_t written;
	/* Out: the last clause executed. */
	struct tsr_decoded *last;
	uint32_t outcome;		/* enum tsr_outcome */
	/*
	 * For a loop (loop.h), which works on chunk[0] alone. It counts @tuples up and branches
	 * back while they are below @clauses. Out: the number for all threads. See TSR_LOOP_COUNT.
	 */
	uint64_t threads;
	/* 0; out: lanes that stand at each of its places */
	uint16_t lanes[TSR_LOOP_PLACES];
};

/* Two versions of the code of a clause. */
enum tsr_native_kind {
	TSR_NATIVE_FULL,		/* for bundles with all lanes active */
	TSR_NATIVE_PART,		/* for the chunks of a list */
	TSR_NATIVE_KINDS
};

/* The clause's successors: what the code jumps through after it. */
enum tsr_native_link {
	TSR_NATIVE_NEXT,
	TSR_NATIVE_JUMP,
	TSR_NATIVE_LINKS
};

struct tsr_native_code {
	const void *code;		/* NULL: there is none (yet) */
	/* code of the successors, or what returns to the core; and the latter */
	const void *link[TSR_NATIVE_LINKS], *out[TSR_NATIVE_LINKS];
	uint16_t runs;			/* executed without, until it is worth generating code */
};

#endif
