/* SPDX-License-Identifier: MIT */
/*
 * Attribute space: what vertices are between two stages of a draw with GEOMETRY.
 *
 * In: what shaders store (msg_stage.c). Out: what shaders and fixed functions load, by the maps.
 * A block belongs to the BIN job and holds the vertices of one batch. Nothing of what it held for
 * another batch is ever read: a word that has not been written since tsr_stage_block_begin() is
 * TSR_STAGE_LEFTOVER. Limits: TSR_BATCH_VERTICES vertices of TSR_STAGE_WORDS words.
 */
#ifndef TSR_BINNER_STAGES_H
#define TSR_BINNER_STAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "stream_out.h"
#include "tsr_regs.h"

#define TSR_STAGE_BYTES (TSR_STAGE_WORDS * 4)
/* Numbers of words. */
enum tsr_stage_place {
	TSR_STAGE_LAYER = 0x064 / 4,
	TSR_STAGE_VIEWPORT = 0x068 / 4,
	TSR_STAGE_POINT_SIZE = 0x06c / 4,
	TSR_STAGE_POSITION_X = 0x070 / 4,
	TSR_STAGE_GENERIC = 0x080 / 4,		/* generic attributes … */
	TSR_STAGE_GENERIC_END = 0x280 / 4,	/* … end here */
	TSR_STAGE_DISTANCES = 0x2c0 / 4,
	TSR_STAGE_INSTANCE_ID = 0x2f8 / 4,
	TSR_STAGE_VERTEX_ID = 0x2fc / 4,
};

/* Bit n % 64 of word[n / 64]: attribute word n. */
struct tsr_stage_map {
	uint64_t word[TSR_STAGE_WORDS / 64];
};

static inline bool tsr_stage_has(const struct tsr_stage_map *map, unsigned int n)
{
	return map->word[n / 64] >> n % 64 & 1;
}

static inline void tsr_stage_add(struct tsr_stage_map *map, unsigned int n)
{
	map->word[n / 64] |= 1ull << n % 64;
}

struct tsr_stage_block {
	struct tsr_stage_map in, out;	/* words that are mapped */
	struct tsr_stage_map wanted;	/* of @out, those fixed functions read */
	uint64_t unwritten;		/* mapped words that were read before they were written */
	struct tsr_stage_map written[TSR_BATCH_VERTICES];
	uint32_t word[TSR_BATCH_VERTICES][TSR_STAGE_WORDS];
};

/* No word of @vertices has been written. */
static inline void tsr_stage_block_begin(struct tsr_stage_block *b, unsigned int vertices)
{
	memset(b->written, 0, vertices * sizeof(b->written[0]));
	b->unwritten = 0;
}

/* Whether the default of word @n is 1.0, else it is 0. */
static inline bool tsr_stage_default_one(unsigned int n)
{
	return n % 4 == 3 && ((n >= 0x070 / 4 && n < 0x2c0 / 4) ||
			      (n >= 0x300 / 4 && n < 0x3a0 / 4));
}

static inline uint32_t tsr_stage_default(unsigned int n)
{
	return tsr_stage_default_one(n) ? 0x3f800000 : 0;
}

/* Word @n of vertex @slot, which is mapped; what is not written is not counted. */
static inline uint32_t tsr_stage_stored(const struct tsr_stage_block *b, unsigned int slot,
					unsigned int n)
{
	return tsr_stage_has(&b->written[slot], n) ? b->word[slot][n] : TSR_STAGE_LEFTOVER;
}

/* The same by the map of outputs: as a stage after this one reads it. */
static inline uint32_t tsr_stage_output(const struct tsr_stage_block *b, unsigned int slot,
					unsigned int n)
{
	if (n >= TSR_STAGE_WORDS)
		return 0;
	return tsr_stage_has(&b->out, n) ? tsr_stage_stored(b, slot, n) : tsr_stage_default(n);
}

static inline void tsr_stage_store(struct tsr_stage_block *b, unsigned int slot, unsigned int n,
				   uint32_t value)
{
	tsr_stage_add(&b->written[slot], n);
	b->word[slot][n] = value;
}

/* What the BIN job has of draws with GEOMETRY: from the first one to the end of the command. */
struct tsr_stages {
	uint32_t patch[TSR_PATCH_POINTS_MAX];	/* vertices of a patch that wait for others */
	/* Of the draw: */
	uint8_t streams;		/* bit s: its last stage has vertices of stream s */
	struct tsr_stage_map declared[TSR_STREAM_OUT_STREAMS];	/* words stream-out writes */
	struct tsr_stage_block *last;	/* that of its last stage, whose vertices the batch has */
	struct tsr_stream_out out;
	struct tsr_stage_block vertex;	/* outputs of its vertex shader */
};

#endif
