/* SPDX-License-Identifier: MIT */
/*
 * Stage I/O memory: the vertices that one stage of a draw with GEOMETRY passes to the next.
 *
 * In: what shaders store (msg_stage.c). Out: what shaders and fixed functions load, by the maps.
 * A block belongs to the BIN job and holds the vertices that one group of threads of a stage has
 * made. A word that has not been written since tsr_stage_block_begin() reads as
 * TSR_STAGE_LEFTOVER, never as its earlier contents. Limits: TSR_BATCH_VERTICES vertices of
 * TSR_STAGE_WORDS words.
 */
#ifndef TSR_SHADER_STAGE_BLOCK_H
#define TSR_SHADER_STAGE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tsr_regs.h"

#define TSR_STAGE_BYTES (TSR_STAGE_WORDS * 4)
/* Numbers of words. */
enum tsr_stage_place {
	TSR_STAGE_PRIMITIVE_ID = 0x060 / 4,
	TSR_STAGE_LAYER = 0x064 / 4,
	TSR_STAGE_VIEWPORT = 0x068 / 4,
	TSR_STAGE_POINT_SIZE = 0x06c / 4,
	TSR_STAGE_POSITION_X = 0x070 / 4,
	TSR_STAGE_GENERIC = 0x080 / 4,		/* first word of generic attributes */
	TSR_STAGE_GENERIC_END = 0x280 / 4,	/* end of generic attributes */
	TSR_STAGE_DISTANCES = 0x2c0 / 4,
	TSR_STAGE_DOMAIN_U = 0x2f0 / 4,
	TSR_STAGE_DOMAIN_V = 0x2f4 / 4,
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

/* Words that a stage writes, and its maps for reading and writing. */
struct tsr_stage_block {
	struct tsr_stage_map in;	/* words it loads that the device makes */
	struct tsr_stage_map stored;	/* words it loads that the stage before has stored */
	struct tsr_stage_map out;	/* words that are mapped here */
	struct tsr_stage_map wanted;	/* of @out, those fixed functions read */
	uint64_t unwritten;		/* mapped words that were read before they were written */
	unsigned int vertices;		/* how many there are */
	struct tsr_stage_map written[TSR_BATCH_VERTICES];
	uint32_t word[TSR_BATCH_VERTICES][TSR_STAGE_WORDS];
};

/* No word of @vertices has been written. */
static inline void tsr_stage_block_begin(struct tsr_stage_block *b, unsigned int vertices)
{
	memset(b->written, 0, vertices * sizeof(b->written[0]));
	b->vertices = vertices;
	b->unwritten = 0;
}

/* True if the default of word @n is 1.0, else it is 0. */
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

/* Word @n by the map of outputs, as a later stage reads it. */
static inline uint32_t tsr_stage_output(const struct tsr_stage_block *b, unsigned int slot,
					unsigned int n)
{
	if (n >= TSR_STAGE_WORDS)
		return 0;
	return tsr_stage_has(&b->out, n) ? tsr_stage_stored(b, slot, n) : tsr_stage_default(n);
}

/* Words @first to @first + @count - 1 of vertex @slot, if all are mapped and written; else NULL. */
static inline const uint32_t *tsr_stage_words(const struct tsr_stage_block *b, unsigned int slot,
					      unsigned int first, unsigned int count)
{
	const uint64_t bits = (count < 64 ? 1ull << count : 0) - 1;
	const unsigned int i = first / 64;

	if (first % 64 + count > 64 ||
	    (bits << first % 64) & ~(b->out.word[i] & b->written[slot].word[i]))
		return NULL;
	return &b->word[slot][first];
}

/* A memcpy() of few words, mostly of whole attributes: a call would take longer. */
static inline void tsr_stage_copy(uint32_t *to, const uint32_t *from, unsigned int words)
{
	for (; words >= 4; words -= 4, to += 4, from += 4)
		memcpy(to, from, 4 * sizeof(*to));
	while (words--)
		*to++ = *from++;
}

/* How many words that are in @map have not been written to vertex @slot. */
static inline unsigned int tsr_stage_unwritten(const struct tsr_stage_block *b, unsigned int slot,
					       const struct tsr_stage_map *map)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < TSR_STAGE_WORDS / 64; i++) {
		const uint64_t left = map->word[i] & b->out.word[i] & ~b->written[slot].word[i];

		if (left)
			count += (unsigned int)__builtin_popcountll(left);
	}
	return count;
}

static inline void tsr_stage_store(struct tsr_stage_block *b, unsigned int slot, unsigned int n,
				   uint32_t value)
{
	tsr_stage_add(&b->written[slot], n);
	b->word[slot][n] = value;
}

/* ---- Primitives between stages --------------------------------------------------------------- */

/* Primitives or patches over the vertices of a block. */
struct tsr_stage_list {
	uint16_t count;
	uint8_t points;			/* vertices of each */
	uint32_t id[TSR_BATCH_PRIMITIVES], instance[TSR_BATCH_PRIMITIVES];
	uint8_t slot[TSR_BATCH_PRIMITIVES][TSR_PATCH_POINTS_MAX];
};

#define TSR_TESS_ONE 0x10000u		/* 1 as a coordinate in a patch, see tessellate.h */
/* Words of patch space: the factors first, words 6 and 7 are none. */
#define TSR_PATCH_FACTORS 6
#define TSR_PATCH_FIRST 8
struct tsr_emit;
struct tsr_patch_space {
	uint32_t word[TSR_PATCH_FIRST + TSR_PATCH_WORDS_MAX];
};

#define TSR_STAGE_NO_SLOT 0xffff

/* Additional values of threads after the vertex shader, see struct tsr_vertex_run. */
struct tsr_stage_group {
	const struct tsr_stage_block *in;	/* vertices they read */
	const struct tsr_stage_list *list;	/* their primitives are of it */
	struct tsr_patch_space *patch;	/* of primitive 0 */
	struct tsr_emit *emit;		/* GEOMETRY: where its vertices go; else NULL */
	unsigned int patch_words;	/* of each, by this stage's header */
	unsigned int points;		/* HULL: control points that a patch has */
	bool trap;			/* TRAP_HANDLES */
	bool triangle;			/* DOMAIN: there is a third coordinate */
	uint16_t live[TSR_BATCH_VERTICES / 16];	/* by warp: lanes that are threads */
	/* For each thread: its primitive in @list, R55, u and v. */
	uint8_t primitive[TSR_BATCH_VERTICES];
	uint16_t thread[TSR_BATCH_VERTICES];
	uint32_t at[TSR_BATCH_VERTICES][2];
};

/* ---- Geometry shaders ------------------------------------------------------------------------ */

/* Output of a thread: consecutive vertices of packed words. */
#define TSR_EMIT_WORDS (32 * TSR_GEOMETRY_VERTICES_MAX)
#define TSR_EMIT_STREAM 3u		/* flags of a vertex: its stream */
#define TSR_EMIT_CUT 4u			/* a strip ends after the vertex */

/* Geometry shaders: for draws with GEOMETRY_STATE.GEOMETRY. */
struct tsr_emit {
	struct tsr_stage_list list;	/* primitives of the block that is taken */
	/* The draw: */
	uint8_t instances;		/* threads of each */
	uint8_t corners;		/* vertices of each primitive that is made */
	uint8_t streams;		/* bit s: vertices can be of stream s */
	uint16_t most;			/* vertices of a thread */
	uint16_t words;			/* of a vertex; 0 counts as 1 */
	uint8_t rank[TSR_STAGE_WORDS];	/* where among them a mapped word is */
	/* the same as pieces: words that follow each other, by number of the first */
	uint8_t pieces, piece[TSR_STAGE_WORDS / 2];
	uint16_t length[TSR_STAGE_WORDS / 2];	/* up to all words */
	uint16_t at_once;		/* threads that have room */
	/* The group: threads @first to @first + @threads of all. */
	uint32_t first, all;
	uint16_t threads;
	uint16_t emitted[TSR_BATCH_VERTICES];
	uint8_t flags[TSR_EMIT_WORDS];
	uint32_t word[TSR_EMIT_WORDS];
	uint64_t written[TSR_EMIT_WORDS / 64];	/* bit n: word n has been */
	/* Where making primitives of them is; the strip's vertices before that one. */
	uint16_t thread, vertex;
	bool open;			/* the block is being filled */
	uint8_t held;			/* how many of these there are */
	bool odd;			/* the next triangle is turned round */
	uint16_t before[2];
	/* The block of vertices of primitives, and which streams they are of. */
	struct tsr_stage_block block;
	uint16_t slot_of[2];		/* of @before; TSR_STAGE_NO_SLOT: not in the block */
	uint8_t stream[TSR_BATCH_PRIMITIVES];
};

/* Where word @n, which is mapped, of vertex @vertex of thread @thread is. */
static inline unsigned int tsr_emit_place(const struct tsr_emit *e, unsigned int thread,
					  unsigned int vertex, unsigned int n)
{
	return (thread * e->most + vertex) * e->words + e->rank[n];
}

static inline bool tsr_emit_has(const struct tsr_emit *e, unsigned int place)
{
	return e->written[place / 64] >> place % 64 & 1;
}

static inline void tsr_emit_store(struct tsr_emit *e, unsigned int place, uint32_t value)
{
	e->written[place / 64] |= 1ull << place % 64;
	e->word[place] = value;
}

/* The thread's vertex is complete; beyond the most it can emit nothing happens. */
static inline void tsr_emit_vertex(struct tsr_emit *e, unsigned int thread, unsigned int stream)
{
	if (e->emitted[thread] < e->most && e->streams >> stream & 1)
		e->flags[thread * e->most + e->emitted[thread]++] = (uint8_t)stream;
}

/* Its strip ends. */
static inline void tsr_emit_cut(struct tsr_emit *e, unsigned int thread)
{
	if (e->emitted[thread])
		e->flags[thread * e->most + e->emitted[thread] - 1u] |= TSR_EMIT_CUT;
}

#endif
