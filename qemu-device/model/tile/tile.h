/* SPDX-License-Identifier: MIT */
/*
 * A tile being rendered: what other units call.
 *
 * In: bundles of fragments whose program runs. Out: their coverage behind the tests.
 */
#ifndef TSR_TILE_TILE_H
#define TSR_TILE_TILE_H

#include "tile_buffer.h"

struct tsr_fragments;

/*
 * Late tests of quads [@first, @first + @count) of @f: what the program, depth, stencil and (alpha
 * to coverage) its first colour leave of their coverage; depth and stencil are written. Quads that
 * have been through it are left alone. A bundle whose program reads the tile or blends calls it
 * before the first access behind ATEST and ZS_EMIT; of others it is done when they have ended.
 */
void tsr_tile_late_test(struct tsr_tile *t, struct tsr_fragments *f, unsigned int first,
			unsigned int count);

#endif
