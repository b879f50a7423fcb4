/* SPDX-License-Identifier: MIT */
/*
 * Geometry shaders: their threads, group after group, and the primitives that come of the vertices
 * they emit, block after block. Belongs to the BIN job; see stages.h for what there is of each.
 * Limits: TSR_BATCH_VERTICES threads of a group, TSR_EMIT_WORDS words that they emit; points and
 * primitives of a block as those of a batch. What threads emit only makes more blocks.
 */
#ifndef TSR_BINNER_STRIPS_H
#define TSR_BINNER_STRIPS_H

#include "binner/bin.h"

struct tsr_stages;

/* A draw with a geometry shader begins. False: no memory. */
bool tsr_strips_begin(struct tsr_stages *stages);
/* Maps and header of the draw are known. */
void tsr_strips_prepare(struct tsr_binning *bin);
/* The vertices and primitives of the batch, a block of the stage before, are to be taken. */
void tsr_strips_input(struct tsr_binning *bin);
/* The threads that tsr_strips_next() has prepared are about to be run; they have been. */
void tsr_strips_bind(struct tsr_binning *bin);
void tsr_strips_shaded(struct tsr_binning *bin);
/* Go on: stages->next says where. */
enum tsr_geometry_step tsr_strips_next(struct tsr_binning *bin);
/* Keep of the batch's primitives those that are drawn. */
void tsr_strips_draw(struct tsr_binning *bin);

#endif
