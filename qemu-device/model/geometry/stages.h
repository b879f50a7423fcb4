/* SPDX-License-Identifier: MIT */
/*
 * The stages of draws with GEOMETRY after the vertex shader, as the BIN job keeps them. Their
 * vertices are in stage I/O memory, see shader/stage_block.h.
 */
#ifndef TSR_BINNER_STAGES_H
#define TSR_BINNER_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "shader/program.h"
#include "shader/stage_block.h"
#include "stream_out.h"
#include "tessellate.h"

/* ---- The job --------------------------------------------------------------------------------- */

/* Primitives that a block of @bin after the vertex shader has at most. */
#define TSR_STAGE_PRIMITIVES(bin) ((bin)->single ? 1u : TSR_BATCH_PRIMITIVES)

enum tsr_stage_next {
	TSR_NEXT_NOTHING,		/* the batch has been dealt with */
	TSR_NEXT_PATCHES,		/* the next patches: their hull shader */
	TSR_NEXT_POINTS,		/* tessellate them: a block of points, and primitives */
	TSR_NEXT_BLOCK,			/* a block of vertices has been shaded: what takes it */
	TSR_NEXT_THREADS,		/* the next threads of the geometry shader */
	TSR_NEXT_STRIPS,		/* a block of what they have emitted */
};

/* Hull shader, tessellator, domain shader: for draws with DOMAIN. */
struct tsr_patches {
	struct tsr_stage_block points;	/* control points hull shaders have made */
	struct tsr_stage_block domain;	/* vertices domain shaders have made */
	struct tsr_stage_list control;	/* present patches: their control points */
	uint16_t first;			/* of the batch's, the first of those */
	/* The patch being divided, and where that is. */
	uint16_t at;			/* its number in @control */
	bool begun;			/* the rest holds */
	bool held;			/* @corner is a primitive that has not been taken yet */
	struct tsr_tessellation division;
	struct tsr_tess_walk walk;
	uint16_t point;			/* PRIMITIVES POINTS: the next one */
	uint16_t corner[3];
	/* Points that are in the block: slots, which hold if their stamp is @now. */
	uint16_t now, stamp[TSR_TESS_POINTS_MAX];
	uint8_t slot[TSR_TESS_POINTS_MAX];
	struct tsr_patch_space patch[TSR_BATCH_VERTICES];
};

/* State of a BIN job for draws with GEOMETRY, from the first one to the end of the command. */
struct tsr_stages {
	uint32_t waiting[TSR_PATCH_POINTS_MAX];	/* vertices of a patch that wait for others */
	/* The draw: */
	struct tsr_stage_header header[TSR_STAGES];	/* of its shaders */
	uint8_t streams;		/* bit s: its last stage has vertices of stream s */
	bool neighbours;		/* its geometry shader reads adjacent vertices */
	struct tsr_stage_map declared[TSR_STREAM_OUT_STREAMS];	/* words stream-out writes */
	/* The batch: */
	struct tsr_stage_list input;	/* patches of the vertex shader's vertices */
	uint8_t next;			/* enum tsr_stage_next */
	uint8_t stage;			/* enum tsr_stage: of the threads that are run */
	struct tsr_stage_group group;	/* the threads */
	struct tsr_stage_block *last;	/* that of its last stage, whose vertices the batch has */
	struct tsr_stream_out out;
	struct tsr_stage_block vertex;	/* outputs of its vertex shader */
	struct tsr_patches *patches;	/* NULL: no draw had DOMAIN yet */
	struct tsr_emit *emit;		/* NULL: no draw had a geometry shader yet */
};

#endif
