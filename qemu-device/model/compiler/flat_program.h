/* SPDX-License-Identifier: MIT */
/*
 * Programs that leave the same colors in all fragments of a primitive.
 *
 * What a fragment's color can depend on is followed through the registers of its program: its
 * place, its coverage, the numbers of its lane and warp, what varies across the primitive. If none
 * of that is in what BLEND takes, one fragment of the primitive tells for all. In: a program
 * without branches, discards and other messages than flat or smooth varyings, ATEST and BLEND.
 * Out: whether that is so, and under which conditions.
 */
#ifndef TSR_SHADER_FLAT_H
#define TSR_SHADER_FLAT_H

#include "shader/stage.h"

struct tsr_shader;
struct tsr_varying;

struct tsr_flat {
	bool same;			/* fragments of a primitive have the same colors */
	uint32_t varyings;		/* varyings that must be equal at all vertices */
	bool everywhere;		/* all primitives of the draw have the same color */
};

/* Look at the program of @state, which @sh has run, between tsr_stage_enter() and _leave(). */
struct tsr_flat tsr_flat_find(struct tsr_shader *sh, const struct tsr_fragment_state *state);

/*
 * True if @varyings of primitive @prim of the bundle, which has run, are the same, bit for bit, at
 * all places in [x0, x1) by [y0, y1).
 */
bool tsr_flat_across(const struct tsr_fragments *f, unsigned int prim, uint32_t varyings,
		     const int32_t from[2], const int32_t to[2]);

/*
 * Tests a primitive of the warp group's table by reading its varyings, before the warp group is
 * run. Also false if they cannot be read now. @v is the varying that was read last, if @read.
 */
bool tsr_flat_ask(struct tsr_shader *sh, struct tsr_fragments *f, struct tsr_varying *v, bool *read,
		  unsigned int prim, uint32_t varyings, const int32_t from[2], const int32_t to[2]);

#endif
