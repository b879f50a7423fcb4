/* SPDX-License-Identifier: MIT */
/*
 * Programs of draws out of random choices, as text: what vertices and fragments do all day, in any
 * order, over tables that are not always what the program thinks. What they expect:
 *
 *   u0 (two words)  address of memory a fragment may write, 4 bytes for each pixel of 128 by 64
 *   u1.w0           a place in a pixel for LD_VAR, two halves
 *   u2.w0           a conversion word for LD_TILE and ST_TILE
 *   u3              two floats
 *   attribute 0     positions; 1 to 5 other attributes; 6 an image for fragments
 *   output 0        the position; 1 to 5 outputs
 *   varyings 0..4   any format; textures and samplers 0 to 3
 *
 * All of them end, and none depends on how fragments are packed into bundles.
 */
#ifndef FUZZ_DRAW_CODE_H
#define FUZZ_DRAW_CODE_H

#include "random.h"

#define FUZZ_CODE_BYTES 4096		/* of a program, at most */
#define FUZZ_TEXT_BYTES 16384

/* A program, and what its SHADER_STATE must say of it. */
struct fuzz_draw_code {
	uint8_t code[FUZZ_CODE_BYTES];
	uint32_t size;
	bool registers_64, reads_tile, stores, discards, depth, stencil, derivatives;
	bool covered;			/* interpolates at the centroid of its coverage */
};

/* Which pieces may be used. */
enum {
	FUZZ_CODE_TEXTURES = 1, FUZZ_CODE_STORES = 2, FUZZ_CODE_FLOW = 4, FUZZ_CODE_TILE = 8,
	FUZZ_CODE_DISCARD = 16, FUZZ_CODE_DEPTH = 32, FUZZ_CODE_ALU = 64, FUZZ_CODE_VARYINGS = 128,
};

/* @extended: all of POSITION_EXTENDED. */
void fuzz_position_code(struct fuzz_random *r, struct fuzz_draw_code *c, bool extended);
void fuzz_varying_code(struct fuzz_random *r, struct fuzz_draw_code *c);
/* A program for @targets targets, of FUZZ_CODE_… @pieces. */
void fuzz_fragment_code(struct fuzz_random *r, struct fuzz_draw_code *c, unsigned int targets,
			unsigned int pieces);
/* Reads a target, joins it with R0 to R3 and stores. */
void fuzz_blend_code(struct fuzz_random *r, struct fuzz_draw_code *c);

#endif
