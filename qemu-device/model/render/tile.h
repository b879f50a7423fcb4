/* SPDX-License-Identifier: MIT */
/*
 * A tile being rendered: what other units call.
 *
 * In: bundles of fragments whose program runs. Out: their coverage after the tests.
 */
#ifndef TSR_TILE_TILE_H
#define TSR_TILE_TILE_H

#include "shader/tile_buffer.h"

/*
 * Fragments @lanes of warp @w of the bundle are about to store to @t: what alpha to coverage and
 * late tests leave of their coverage is found out, depth and stencil are written. Fragments that
 * have been through it are left alone; with those that never do it is done when the bundle ends.
 */
void tsr_tile_settle(struct tsr_tile *t, unsigned int w, uint16_t lanes);

#endif
