/* SPDX-License-Identifier: MIT */
/*
 * Inside the COPY engine. Outside only tsr_copy_step() of engine.h exists; the rules of the engine
 * are in Documentation/hw/copy-engine.md.
 *
 * In: a packet as fetched and its state words, below. Out: memory written, the words advanced.
 * Everything else lives for one step on the stack of its caller.
 *
 * A copy reads its last texel in one step and stores it in the next. The state holds the texel in
 * between, so the queue sees the moment at which all reads are done.
 *
 *   copy.c          the step, and the checks of the packets' fields
 *   copy_linear.c   COPY_LINEAR and FILL_LINEAR
 *   copy_rect.c     rectangles: the order of texels, one texel, rows of linear surfaces
 *   copy_block.c    rectangles: blocks of a tile at once, where a tiled surface is involved
 *   copy_tagged.c   surfaces with tags
 *   copy_window.c   memory through short-lived windows on it
 *   copy_pattern.c  the pattern of the fills
 *   tiling.c        texels in a tile
 *
 * A block or row that cannot be done at one blow (a page is missing, pending or ends within a
 * texel) is done texel by texel: that path alone defines what happens, the others are faster ways
 * to the same memory content.
 */
#ifndef TSR_COPY_H
#define TSR_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "memory/tags.h"
#include "memory/tiling.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

/*
 * A step ends after this many translations, whatever it has done by then: it bounds the time of
 * steps that make little headway.
 */
#define TSR_COPY_TRANSLATIONS 512

/* Smallest page: what a window asks for where it may not need all. */
#define TSR_COPY_PAGE (1ULL << TSR_PAGE_SHIFT)

/* Words of struct tsr_engine_state. */
enum {
	TSR_COPY_DONE,			/* texels done, of linear commands bytes, in order */
	TSR_COPY_TEXEL,			/* two words: the last texel, or the last bytes */
	TSR_COPY_HOLDS = 3		/* 1: the last texel is read and not yet written */
};

#define TSR_COPY_PATTERN 1024

/* The pattern of a fill, repeated; any run of it is copied out of here. */
struct tsr_copy_pattern {
	unsigned int texel;		/* its length */
	bool uniform;			/* all bytes of it are equal */
	unsigned int len;		/* of bytes[], a multiple of @texel */
	uint8_t bytes[TSR_COPY_PATTERN];
};

/* A piece of memory that has been translated during this step. */
struct tsr_copy_window {
	uint64_t va;			/* first byte */
	uint64_t len;			/* bytes; 0: empty */
	uint8_t *ptr;			/* on the host; NULL: a NULL page */
	unsigned int number;		/* for writing: of the translation, see tsr_copy.writes */
};

/*
 * Bytes to be written: at @ptr, and from there to their places by tsr_copy_flush() if they are
 * @split over two windows.
 */
struct tsr_copy_sink {
	uint8_t *ptr;
	uint64_t len;			/* bytes there are, all that was asked for or more */
	bool split;
	uint8_t *part[2];
	uint32_t first;			/* length of part[0] */
	unsigned int number;		/* of the older translation */
};

/* A surface, as the packets describe it. */
struct tsr_copy_surface {
	uint64_t base;			/* address of texel (0, 0) */
	uint32_t pitch;			/* bytes from row to row, tiled: of tiles */
	bool tiled;
	uint32_t x, y;			/* where the rectangle begins */
	const struct tsr_tagged *tagged;	/* NULL: it has no tags */
};

/*
 * Scratch memory of a step. Not initialized. A texel of the rows is at [row][column * texel].
 */
struct tsr_copy_scratch {
	/* The source block, or those of its rows that are split. */
	uint8_t rows[TSR_TILE_DIM][TSR_TILE_DIM * TSR_TEXEL_MAX];
	/* The mirrored source block. */
	uint8_t mirror[TSR_TILE_DIM][TSR_TILE_DIM * TSR_TEXEL_MAX];
	/* Destination rows that are split. */
	uint8_t dst_rows[TSR_TILE_DIM][TSR_TILE_DIM * TSR_TEXEL_MAX];
	uint8_t src_tile[TSR_TILE_BYTES_MAX];	/* a source tile that is split */
	uint8_t dst_tile[TSR_TILE_BYTES_MAX];	/* a destination tile that is split */
	uint8_t dropped[TSR_TILE_BYTES_MAX];	/* what goes to NULL pages */
};

/* One step of one command. */
struct tsr_copy {
	struct tsr_mem *mem;
	struct tsr_step_cost *cost;
	struct tsr_engine_state *state;
	struct tsr_copy_scratch *scratch;
	const struct tsr_tile_ops *ops;	/* for this size of texel */
	const struct tsr_copy_pattern *pattern;	/* a fill; else NULL */
	struct tsr_copy_surface src;	/* copies only */
	struct tsr_copy_surface dst;
	unsigned int texel;		/* bytes */
	uint64_t width, height;		/* texels, not 0 */
	struct tsr_tagged tagged[2];	/* source and destination, if they have tags */
	struct tsr_tag_last last[2];	/* their tags of the last texel in this step */
	bool flip_x, flip_y;
	uint64_t budget;		/* bytes that may still be written in this step */
	unsigned int translations;	/* asked for so far in this step */
	unsigned int writes;		/* of them for writing: see tsr_copy_held() */
	/*
	 * Windows in use, empty when the step begins. [i]: row i of the block; for src_tile: row of
	 * tiles.
	 */
	struct tsr_copy_window src_row[TSR_TILE_DIM];
	struct tsr_copy_window dst_row[TSR_TILE_DIM];
	struct tsr_copy_window src_tile[2];
	struct tsr_copy_window dst_tile;
};

/* The last texel of a copy, while the state holds it. */
static inline uint8_t *tsr_copy_texel(const struct tsr_copy *c)
{
	return (uint8_t *)&c->state->word[TSR_COPY_TEXEL];
}

/* copy_linear.c: one step from byte *@done of @size on; advances it. A fill has no @src. */
enum tsr_step tsr_copy_linear(struct tsr_copy *c, uint64_t src, uint64_t dst, uint64_t size,
			      uint64_t *done);

/* copy_rect.c: one step from texel *@done on, in the engine's order; advances it. */
enum tsr_step tsr_copy_rect(struct tsr_copy *c, uint64_t *done);
/*
 * Address of texel (@x, @y) of the surface, counted from the rectangle's corner; all ones if it is
 * beyond 64 bits.
 */
uint64_t tsr_copy_texel_addr(const struct tsr_copy_surface *s, unsigned int texel, uint64_t x,
			     uint64_t y);

/*
 * copy_tagged.c: read the TAGGED_SURFACE at @s->base, field @qword of the packet at @pc. @s has its
 * texels from then on, and @t, which it points to, its tags.
 */
enum tsr_step tsr_copy_find_tags(struct tsr_copy *c, uint64_t pc, unsigned int qword,
				 struct tsr_copy_surface *s, struct tsr_tagged *t);
/* Read a texel of a surface with tags; have one in memory so that it can be written. */
enum tsr_step tsr_copy_read_tagged(struct tsr_copy *c, uint64_t x, uint64_t y, uint8_t *texel);
enum tsr_step tsr_copy_open_tagged(struct tsr_copy *c, uint64_t x, uint64_t y);

/* A block of a rectangle, in its coordinates as they are in the destination. */
struct tsr_copy_block {
	uint64_t x, y;			/* upper left texel */
	unsigned int w, h;		/* 1 to TSR_TILE_DIM */
};

/*
 * copy_block.c: do a block as a whole, and those to the right of it that can be done in the same
 * way. The last texel of a copy is never among them. How many it were; 0: nothing is written, it
 * has to be done texel by texel.
 */
uint64_t tsr_copy_block(struct tsr_copy *c, const struct tsr_copy_block *b);

/*
 * copy_window.c. Windows are moved when they do not hold an address; then they ask for @ahead bytes
 * from there, all of which the step should be going to touch when it writes. None of these faults:
 * what is not to be had is left to the texel path, which reports it.
 */
/* Bytes that @w has from @va on, after moving it there if need be; 0: none. */
uint64_t tsr_copy_reach(struct tsr_copy *c, struct tsr_copy_window *w, uint64_t va, uint64_t ahead,
			unsigned int access);
/*
 * Where [va, va + *len) can be read, at most TSR_TILE_BYTES_MAX; in @split if it is split over two
 * windows. NULL: not to be had. *@len: bytes there are, not less.
 */
const uint8_t *tsr_copy_source(struct tsr_copy *c, struct tsr_copy_window *w, uint64_t va,
			       uint64_t *len, uint64_t ahead, uint8_t *split);
/*
 * Where [va, va + len) can be written; to be completed by tsr_copy_flush(). False: not to
 * be had.
 */
bool tsr_copy_sink(struct tsr_copy *c, struct tsr_copy_window *w, uint64_t va, uint64_t len,
		   uint64_t ahead, uint8_t *split, struct tsr_copy_sink *sink);
void tsr_copy_flush(const struct tsr_copy_sink *sink, uint64_t len);
/* True if write translation @number is one of the last TSR_SPANS_HELD, which may be used. */
static inline bool tsr_copy_held(const struct tsr_copy *c, unsigned int number)
{
	return c->writes - number < TSR_SPANS_HELD;
}

/* copy_pattern.c: repeat the pattern of @texel bytes. */
void tsr_copy_pattern_init(struct tsr_copy_pattern *p, unsigned int texel, uint64_t lo,
			   uint64_t hi);
/* Fill [dst, dst + len) with the pattern, beginning with its byte @phase. */
void tsr_copy_pattern_fill(const struct tsr_copy_pattern *p, uint8_t *dst, uint64_t len,
			   unsigned int phase);

static inline uint64_t tsr_copy_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t tsr_copy_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
