/* SPDX-License-Identifier: MIT */
/*
 * Reading tile lists: what BIN left in the heap, for RENDER.
 *
 * In: a heap in guest memory, which anybody may have changed. Out: primitives in the order they
 * were drawn, copied and checked: slots, layers, viewports and coordinates are within their limits;
 * depths, 1/w, weights and point sizes are any floats. Nothing is followed backwards, so nothing
 * hostile goes on for ever: a list's blocks and the batches it names are at ascending offsets. What
 * is not so is a HEAP_CONTENT fault with the address of the structure that is wrong.
 */
#ifndef TSR_BINNER_TILE_LIST_H
#define TSR_BINNER_TILE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "frame.h"
#include "shader/screen.h"

/* The heap of a frame as RENDER sees it. */
struct tsr_frame_heap {
	uint64_t base;			/* address of its first byte */
	uint32_t used;			/* bytes the binner has filled */
	uint32_t lists;			/* offset of the table of tile lists */
	uint32_t last_batch;		/* offset of the last HEAP_BATCH, 0: none */
	uint32_t batches;		/* how many there are */
	uint32_t tiles;			/* entries of the table */
	uint32_t tiles_x, tiles_y, layers;
};

/* A batch: vertices shaded together, with what their draw names. From HEAP_BATCH. */
struct tsr_batch {
	uint32_t offset;		/* in the heap: its identity; never 0 */
	uint32_t previous;		/* batch before, 0: none */
	uint64_t shader_state, draw_state;	/* addresses: identities of their copies */
	uint64_t samples_query, any_query, statistics_query;	/* addresses; 0: none */
	/* offsets of copies of push constants; 0: the programs' own apply */
	uint32_t varying_push, fragment_push;
	uint64_t outputs;		/* address of vertex 0's outputs in the heap; 0: none */
	uint32_t output_stride;
	uint64_t ids;			/* address of HEAP_VERTEX_ID of vertex 0 */
	uint64_t padded;		/* linear id = vertex + padded * instance, modulo 2^32 */
	int32_t start;			/* what ADD_OFFSET adds: FIRST or BASE_VERTEX */
	uint32_t first_instance;
	uint16_t vertices;		/* 1 … TSR_BATCH_VERTICES */
	uint16_t primitives;		/* 1 … TSR_BATCH_PRIMITIVES */
	/* its vertices are those of an earlier record, whose varying program runs for both */
	bool shared;
	bool varying;			/* a varying program runs for it, unless it is shared */
	/* the rest is the reader's */
	uint32_t vertex_data, extra_data, primitive_data, clipped_data;	/* offsets */
};

/* Read and check HEAP_HEADER of @info's heap. */
enum tsr_step tsr_heap_open(struct tsr_mem *mem, const struct tsr_frame_info *info,
			    struct tsr_frame_heap *heap);
/*
 * Read the batch at @offset: heap->last_batch first, then batch->previous until that is 0. Offsets
 * fall, which is checked here.
 */
enum tsr_step tsr_heap_batch(struct tsr_mem *mem, const struct tsr_frame_heap *heap,
			     uint32_t offset, struct tsr_batch *batch);
/* Offsets of copies of what a batch's draw names; 0: it has no such program. */
struct tsr_batch_copies {
	uint32_t shader_state, draw_state;
	uint32_t varying, fragment;	/* programs */
};
/* Read where the copies of @batch are. Each of them begins in the heap. */
enum tsr_step tsr_heap_copies(struct tsr_mem *mem, const struct tsr_frame_heap *heap,
			      const struct tsr_batch *batch, struct tsr_batch_copies *copies);
/* Have the host's caches fetch the header of a batch that may be at @offset. */
void tsr_heap_batch_ahead(const struct tsr_mem *mem, const struct tsr_frame_heap *heap,
			  uint32_t offset);
/* Vertex and instance of batch->vertices vertices, for the varying program: pairs of words. */
enum tsr_step tsr_heap_ids(struct tsr_mem *mem, const struct tsr_batch *batch, uint32_t (*ids)[2]);

/* Which vertices the batch's own primitives name: bit n % 64 of used[n / 64] for slot n. */
#define TSR_BATCH_SLOTS 256			/* of eight bits, whatever TSR_BATCH_VERTICES is */
enum tsr_step tsr_heap_used(struct tsr_mem *mem, const struct tsr_frame_heap *heap,
			    const struct tsr_batch *batch,
			    uint64_t used[TSR_BATCH_SLOTS / 64]);

/*
 * A reader of tile lists, of one thread at a time. It keeps batch records it has met. Memory is
 * read through the pages of the thread's struct tsr_shader, if it has one: the step must end with
 * tsr_stage_leave() (or tsr_access_stop()).
 */
struct tsr_tile_reader;
struct tsr_tile_reader *tsr_tile_reader_new(void);
void tsr_tile_reader_free(struct tsr_tile_reader *r);

/*
 * Start with the list of a tile, which is within the frame. @heap must stay. A reader that is _open
 * ed on another heap, or after the heap was filled anew, forgets what it kept if @heap differs or
 * tsr_tile_list_forget() was called: do that when a RENDER command begins.
 */
enum tsr_step tsr_tile_list_open(struct tsr_tile_reader *r, struct tsr_mem *mem,
				 const struct tsr_frame_heap *heap, unsigned int layer,
				 unsigned int tx, unsigned int ty);
/* True if the list that has been opened is empty. */
bool tsr_tile_list_ended(const struct tsr_tile_reader *r);
/*
 * The next primitive. TSR_STEP_DONE with prim->vertices == 0 at the end. After _PENDING, and _MORE
 * (many entries without one: nothing the binner writes), it is to be called again.
 */
enum tsr_step tsr_tile_list_next(struct tsr_tile_reader *r, struct tsr_mem *mem,
				 struct tsr_prim *prim);

/* Triangles of a batch, read together: not clipped, in layer 0 and viewport 0. */
#define TSR_TILE_TRIANGLES 16
struct tsr_tile_triangles {
	const struct tsr_batch *batch;	/* as tsr_prim.batch */
	unsigned int count;
	uint64_t word[TSR_TILE_TRIANGLES];	/* HEAP_PRIMITIVE */
	struct tsr_screen_vertex v[TSR_TILE_TRIANGLES][3] __attribute__((aligned(64)));
};

/*
 * The next primitives, as far as they are such triangles and at hand. TSR_STEP_DONE with a count of
 * 0: call tsr_tile_list_next(), which tells what the next one is. Other steps are those of that.
 */
enum tsr_step tsr_tile_list_triangles(struct tsr_tile_reader *r, struct tsr_mem *mem,
				      struct tsr_tile_triangles *t);
/* Triangle @i of them as a primitive. */
void tsr_tile_triangle(const struct tsr_tile_triangles *t, unsigned int i, struct tsr_prim *prim);
/* Drop kept batches. */
void tsr_tile_list_forget(struct tsr_tile_reader *r);

#endif
