/* SPDX-License-Identifier: MIT */
/*
 * Patches of draws with DOMAIN: as many at a time as their hull shaders' threads find room in a
 * group, then block after block of the tessellator's points and primitives. Belongs to the BIN job;
 * see stages.h for what there is of each. Limits: TSR_BATCH_VERTICES threads of a group, points and
 * control points of a block.
 */
#ifndef TSR_BINNER_PATCHES_H
#define TSR_BINNER_PATCHES_H

#include "binner/bin.h"

/* A draw with DOMAIN begins. False: no memory. */
bool tsr_patches_begin(struct tsr_stages *stages);
/* The patches of the batch are stages->input. */
void tsr_patches_input(struct tsr_binning *bin);
/* The threads that tsr_patches_next() has prepared are about to be run; they have been. */
void tsr_patches_bind(struct tsr_binning *bin);
void tsr_patches_shaded(struct tsr_binning *bin);
/* Go on: stages->next says where. */
enum tsr_geometry_step tsr_patches_next(struct tsr_binning *bin);

#endif
