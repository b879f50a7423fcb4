/* SPDX-License-Identifier: MIT */
/*
 * Depth and stencil: the tests, of whole blocks at once.
 *
 * In: what a DRAW_STATE says, covered pixels of a block with their depths, stored depth and
 * stencil. Out: pixels that pass; stored values as the operations leave them; what is known of the
 * block. See 3d.md, "Depth and stencil".
 */
#ifndef TSR_TILE_ZS_H
#define TSR_TILE_ZS_H

#include <stdbool.h>
#include <stdint.h>

#include "fine.h"
#include "shader/tile_buffer.h"

/* When fragments are tested. */
enum tsr_zs_when {
	TSR_ZS_NEVER,			/* there is nothing to test */
	TSR_ZS_EARLY,			/* before the program, with all that is written */
	TSR_ZS_LATE,			/* after it */
	/* after it; before it, what fails anyway is dropped and nothing written */
	TSR_ZS_LATE_REJECT,
};

struct tsr_stencil_face {
	uint8_t function;		/* enum tsr_compare_function */
	uint8_t fail, depth_fail, pass;	/* enum tsr_stencil_op */
	uint8_t reference, read_mask, write_mask;
};

struct tsr_zs {
	bool depth_test, depth_write, bounds, stencil_test;
	bool stencil_writes;		/* some outcome changes stencil */
	uint8_t function;		/* enum tsr_compare_function */
	bool hierarchical;		/* blocks may be rejected as a whole */
	float least, most;		/* bounds, in the format's units */
	double scale;			/* of the depth format; 0: floating point */
	struct tsr_stencil_face face[2];	/* back, front */
	enum tsr_zs_when when;
};

struct tsr_shader_state;

/*
 * From a draw's states. @scale is the depth format's; what the frame has no target for is off.
 * @shades: a fragment program runs.
 */
void tsr_zs_prepare(struct tsr_zs *zs, const struct tsr_draw_state *draw,
		    const struct tsr_shader_state *shader, bool shades, bool has_depth,
		    bool has_stencil, double scale, unsigned int debug);

/* Fragments of a block to be tested, all of one sample. */
struct tsr_zs_block {
	unsigned int block;		/* its number */
	unsigned int sample;
	bool front;
	bool write;			/* outcomes are stored */
	const float *z;			/* 64 depths in the format's units; unused without a test */
	const float *range;		/* least and most they all can be; NULL: not known */
	const uint8_t *reference;	/* of stencil, for each pixel; NULL: the face's */
};

/* Pixels of @mask that pass. */
uint64_t tsr_zs_test(struct tsr_tile *t, const struct tsr_fine *fine, const struct tsr_zs *zs,
		     const struct tsr_zs_block *b, uint64_t mask);

/* Depths of pixels @mask of @block have been written. */
void tsr_zs_note(struct tsr_tile *t, const struct tsr_zs *zs, unsigned int block, uint64_t mask);
/* Notes the quads of small triangles. */
void tsr_zs_note_quads(struct tsr_tile *t, const struct tsr_zs *zs,
		       const struct tsr_small_quads *quads);

/* ---- Whole blocks ---------------------------------------------------------------------------- */

/* The bounds of @t follow from nothing: a tile begins, or was cleared (@t->z_direction too). */
void tsr_zs_know(struct tsr_tile *t, const struct tsr_fine *fine, bool depth, bool stencil);
/*
 * True if all fragments of @block with depths in [@low, @high] fail, which then has no effect.
 * @depth: it was the depth that told.
 */
bool tsr_zs_rejects(struct tsr_tile *t, const struct tsr_fine *fine, const struct tsr_zs *zs,
		    unsigned int block, bool front, float low, float high, bool *depth);

#endif
