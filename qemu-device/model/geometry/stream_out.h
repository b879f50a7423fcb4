/* SPDX-License-Identifier: MIT */
/*
 * Stream-out: primitives of draws with GEOMETRY, to memory.
 *
 * In: blocks of vertices (stages.h), the declaration, targets. Out: the targets' memory, and, when
 * the command is complete, counters and STREAM queries. What a command has filled so far stands in
 * its job alone, so that one that begins again does the same once more. Belongs to the BIN job.
 * Limits: those of 3d.xml.
 */
#ifndef TSR_BINNER_STREAM_OUT_H
#define TSR_BINNER_STREAM_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

struct tsr_binning;
struct tsr_stage_block;

/* Words of a vertex that follow each other in a target. */
struct tsr_stream_run {
	uint16_t offset;		/* in the target's vertex: words */
	uint16_t words;
	uint16_t first;			/* tsr_stream_out.source[]: which */
	bool straight;			/* the sources are consecutive as well */
};

struct tsr_stream_place {
	bool there;
	uint8_t counter;		/* which of tsr_stream_out.counter[] */
	uint16_t stride;
	uint64_t base, size;
	uint16_t run, runs;		/* tsr_stream_out.run[] */
};

struct tsr_stream_counter {
	uint64_t va, filled;
};

struct tsr_stream_query {
	uint64_t va, needed, written;
};

struct tsr_stream_out {
	/* The draw. */
	uint16_t entries;
	uint8_t fed[TSR_STREAM_OUT_STREAMS];	/* bit t: the stream writes target t */
	uint8_t query_of[TSR_STREAM_OUT_STREAMS];	/* plus 1; 0: it has none */
	struct tsr_stream_place target[TSR_STREAM_OUT_TARGETS];
	struct tsr_stream_run run[TSR_STREAM_OUT_ENTRIES_MAX];
	uint8_t source[TSR_STREAM_OUT_STREAMS * TSR_STREAM_OUT_WORDS_MAX];
	uint16_t next;			/* primitive of the block to be written next */
	/* The command. */
	uint8_t counters, queries;
	struct tsr_stream_counter counter[TSR_STREAM_OUT_COUNTERS_MAX];
	struct tsr_stream_query query[TSR_STREAM_OUT_COUNTERS_MAX];
};

/* A draw begins: read and check declaration, targets, counters. May be repeated. */
enum tsr_step tsr_stream_begin(struct tsr_binning *bin, struct tsr_mem *mem);
/* True if primitives of the draw are to be counted or written. */
bool tsr_stream_wants(const struct tsr_binning *bin);
/*
 * Primitive @slots of @vertices in @block, of @stream. _DONE: it is written, or has found no room;
 * else the same primitive comes again.
 */
enum tsr_step tsr_stream_put(struct tsr_binning *bin, struct tsr_mem *mem,
			     const struct tsr_stage_block *block, const uint8_t *slots,
			     unsigned int vertices, unsigned int stream);
/* The primitives of the batch from out->next on. _MORE: the effort is used up. */
enum tsr_step tsr_stream_batch(struct tsr_binning *bin, struct tsr_mem *mem);
/* Value of the counter at @va for a draw that begins. */
enum tsr_step tsr_stream_filled(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t va,
				uint64_t *filled);

#endif
