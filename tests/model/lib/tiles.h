/* SPDX-License-Identifier: MIT */
/*
 * Pictures: what binner.h has binned is rendered by a RENDER queue of the same machine.
 *
 *   struct tiles *t = tiles_new(100, 70, NULL);
 *   t->f->position = …; binner_arrays(t->f, …);
 *   ktap_ok(tiles_run(t));			bins and renders
 *   tiles_depth(t, x, y, 0)			what is in memory now
 *
 * Targets lie in memory of their own, linear and in planes of samples, unless the test changes
 * t->target before tiles_run().
 */
#ifndef TSR_TILES_TEST_H
#define TSR_TILES_TEST_H

#include "binner.h"

#define TILES_TARGETS 0x60000000ull	/* color 0, then depth, then stencil, each so long: */
#define TILES_TARGET_SIZE (8u << 20)
#define TILES_RING 0x50000000ull
#define TILES_DEPTH TSR_RENDER_TARGETS_MAX	/* index in target[] */
#define TILES_STENCIL (TSR_RENDER_TARGETS_MAX + 1)
#define TILES_LIST (BINNER_FRAME + 0x1000)	/* of every tile */
#define TILES_LIST_QWORDS 256
/* Bits of tiles_run()'s masks. */
#define TILES_ALL 0x3ff

/* The end of a fragment program: R0 to R3 to target 0, whatever alpha is. */
#define TILES_FINISH \
	"clause message=atest slot=0 wait=0,6,7 next=blend td {\n" \
	"	*NOP\n" \
	"	+ATEST r60:t1, r60, 0x3f800000, @r60\n" \
	"}\n" \
	"clause end message=blend slot=0 td {\n" \
	"	*NOP\n" \
	"	+NOP\n" \
	"	*NOP\n" \
	"	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n" \
	"}\n"

/* A fragment program that loops as often as the primitive's number & @mask, and once more. */
#define TILES_LOOP(mask) \
	"clause wait=0,6 flow=nbtb_unconditional {\n" \
	"	*LSHIFT_AND.i32 r3, r57, " mask ", 0x0\n" \
	"	*NOP\n" \
	"	+IADD.s32 r0, r57, 0x1\n" \
	"	*NOP\n" \
	"	+NOP\n" \
	"}\n" \
	"loop: clause flow=nbtb_unconditional {\n" \
	"	*IMUL.i32 r0, r0, 0x5\n" \
	"	+IADD.s32 r3:t1, r3, -1\n" \
	"	+BRANCHZ.s32.ge t1, loop\n" \
	"}\n" \
	TILES_FINISH

struct tiles {
	struct binner *f;
	struct bench_queue queue;
	struct tsr_render_target target[TSR_RENDER_TARGETS_MAX + 2];
	uint8_t bytes[TSR_RENDER_TARGETS_MAX + 2];	/* of a texel */
	uint8_t *memory;		/* of targets */
	/* Actions of a tile before and after TILE_DRAW: bit n color n, 8 depth, 9 stencil. */
	unsigned int clear, load, store;
	bool draw;
	/* if not NULL the tile's list instead, at TILES_LIST: it may jump */
	const uint64_t *list;
	unsigned int list_qwords;	/* at most TILES_LIST_QWORDS */
	const struct tsr_list_tiles *part;	/* which tiles and layers; NULL: all */
	bool slow;			/* bursts as small as can be */
	void (*disturb)(struct tiles *t);	/* @slow: called between them; or NULL */
};

/* RGBA8 and 32-bit depth; no stencil. */
struct tiles *tiles_new(unsigned int width, unsigned int height, const struct tsr_config *config);
void tiles_free(struct tiles *t);
/* Assemble the program @text to @va, among the lists; its bytes. */
uint32_t tiles_program(struct tiles *t, uint64_t va, const char *text);
/*
 * Draw with the fragment program @text, depth tests, and color 0 of four floats. The program and
 * its descriptors are from BINNER_FRAME + 0x4000 to + 0x4a00.
 */
void tiles_floats(struct tiles *t, const char *text);
/* Set up the target's planes for the frame of t->f->frame: @index of target[], a format. */
void tiles_target(struct tiles *t, unsigned int index, unsigned int format, unsigned int bytes);
/* Bin, render. False: the fault is bench_fault(&t->queue), or that of the binner. */
bool tiles_run(struct tiles *t);
/* Render only; _submit() does not wait for it. */
bool tiles_render(struct tiles *t);
void tiles_submit(struct tiles *t);
/* The texel of a target in memory. */
void *tiles_texel(struct tiles *t, unsigned int index, unsigned int x, unsigned int y,
		  unsigned int sample);
float tiles_depth(struct tiles *t, unsigned int x, unsigned int y, unsigned int sample);
/* A counter of the queue. */
uint64_t tiles_counter(struct tiles *t, enum tsr_queue_counter counter);

#endif
