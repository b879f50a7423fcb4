/* SPDX-License-Identifier: MIT */
/* 1000 textured cubes in a lattice, for the demo of that name and for tsr-show. */
#ifndef CUBES_H
#define CUBES_H

#include "draw.h"

struct cubes {
	struct tsr_gfx_pipeline *pipeline;
	struct tsr_image *texture;
	uint64_t vertices, indices;	/* GPU addresses */
};

/* cubes_prepare(): what all pictures of them share; it goes with @draw. */
int cubes_prepare(struct draw *draw, struct cubes *cubes);

/*
 * cubes_record(): draw them all in @pass, which clears color and depth, of width / height @aspect,
 * the lattice turned by @turn (radians); front to back, or back to front.
 */
int cubes_record(struct draw *draw, const struct cubes *cubes, struct tsr_gfx_pass *pass,
		 float aspect, float turn, bool reverse);

#endif
