/* SPDX-License-Identifier: MIT */
/*
 * The binner without cores and queues: a list of draws is binned with positions the test computes
 * itself, and the tile lists that come of it are read back.
 *
 *   struct binner *f = binner_new(64, 64);
 *   f->position = my_positions;		fills a POSITION_EXTENDED for a vertex
 *   binner_draw(f, &(struct tsr_list_draw){ .topology = …, .count = 3, .instances = 1 });
 *   ktap_ok(binner_bin(f));
 *   binner_read(f);				f->seen[] are all primitives of all tiles
 *
 * Memory is a bench's, address space 1. States are those in f->shader, f->draw, f->viewport when
 * binner_states() is called; binner_new() sets up one viewport of the frame's size and calls it.
 */
#ifndef TSR_BINNER_TEST_H
#define TSR_BINNER_TEST_H

#include "bench.h"
#include "device/gpu.h"
#include "binner/bin.h"
#include "binner/tile_list.h"

#define BINNER_DATA 0x10000000ull	/* read and write: indices, arguments, queries */
#define BINNER_DATA_SIZE (4u << 20)
#define BINNER_LIST 0x20000000ull	/* read and execute: lists, states, frame */
#define BINNER_LIST_SIZE (1u << 20)
#define BINNER_STATES (BINNER_LIST + 0x80000)
#define BINNER_FRAME (BINNER_LIST + 0xf0000)
#define BINNER_HEAP 0x40000000ull
#define BINNER_HEAP_SIZE (32u << 20)

struct binner;
/* The position record of a vertex; it is all zero before. */
typedef void binner_position(struct binner *f, uint32_t vertex, uint32_t instance, float *record);

/* A primitive of a tile. */
struct binner_seen {
	struct tsr_prim prim;
	struct tsr_batch batch;		/* prim.batch points here */
	uint32_t id[3][2];		/* vertex and instance of each slot */
	uint16_t layer, tx, ty;		/* the tile */
};

struct binner {
	struct bench *b;
	struct bench_as as;
	struct tsr_mem mem;
	struct tsr_binning *bin;
	struct tsr_frame frame;
	struct tsr_shader_state shader;
	struct tsr_draw_state draw;
	struct tsr_viewport viewport[TSR_VIEWPORTS_MAX];
	binner_position *position;
	void *opaque;			/* the test's */
	void (*grow)(struct binner *f);	/* the heap is too small; NULL: that does not happen */
	uint8_t *data, *list, *heap;	/* views */
	uint32_t list_bytes;		/* of the list so far */
	uint32_t states;		/* pairs of states written */
	uint64_t shaded;		/* vertices the position program ran for */
	uint32_t runs;			/* batches it ran for */
	uint32_t run_vertices[4096];	/* vertices of each of the first */
	uint32_t steps;			/* of the last binner_bin() */
	struct binner_seen *seen;	/* of binner_read() */
	uint32_t seen_count, seen_room;
};

struct binner *binner_new(unsigned int width, unsigned int height);
/* As binner_new(), on a device of that configuration. */
struct binner *binner_new_on(unsigned int width, unsigned int height,
			     const struct tsr_config *config);
void binner_free(struct binner *f);
/* Drop list, states, what was seen: another picture, in the frame of f->frame. */
void binner_again(struct binner *f);
/* Write the states, and packets that set them. */
void binner_states(struct binner *f);
/* Append packets. */
void binner_packet(struct binner *f, const uint64_t *word, unsigned int qwords);
void binner_draw(struct binner *f, const struct tsr_list_draw *draw);
/* Shorthand: a draw of @count vertices without indices. */
void binner_arrays(struct binner *f, unsigned int topology, uint32_t count);
/* LIST_HALT, then bin all of it. False: mem.fault says what. */
bool binner_bin(struct binner *f);
/* Read all tiles' lists. False: mem.fault. */
bool binner_read(struct binner *f);
/* Bits of a float. */
uint32_t binner_bits(float value);

#endif
