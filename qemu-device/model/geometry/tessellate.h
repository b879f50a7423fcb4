/* SPDX-License-Identifier: MIT */
/*
 * Tessellator: what a patch with certain factors is divided into. Pure functions of their
 * arguments, without memory of their own: any thread may call them.
 *
 * The result is exactly that of the Direct3D 11 functional specification (11.7), points and
 * primitives in its order. A patch has a point on each place of (u, v) that is divided; primitives
 * name points by number. Coordinates are fixed point with 16 fraction bits; with triangles
 * the third one is 1 - u - v.
 *
 * Points lie in rings: ring 0 is the patch's edges, ring 1 the first inside it, and so on, with the
 * points of a ring in the order of its sides. The innermost ring may be a point or a row of points.
 */
#ifndef TSR_BINNER_TESSELLATE_H
#define TSR_BINNER_TESSELLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "shader/stage_block.h"

enum tsr_tess_shape { TSR_TESS_TRIANGLE, TSR_TESS_QUAD, TSR_TESS_ISOLINE };
enum tsr_tess_partitioning {
	TSR_TESS_INTEGER, TSR_TESS_POW2, TSR_TESS_FRACTIONAL_ODD, TSR_TESS_FRACTIONAL_EVEN,
};

#define TSR_TESS_POINTS_MAX	4225u		/* of a patch */
#define TSR_TESS_PRIMITIVES_MAX	8192u

/* How a line from 0 to 1 is divided by a factor. */
struct tsr_tess_line {
	uint16_t points;	/* its number of points, both ends included */
	uint8_t half;		/* points before the middle (one on it does not count) */
	uint8_t split;		/* the point that splits off as the factor grows */
	uint16_t fraction;	/* how far it has: 1/65536 of the way */
	uint32_t fine, coarse;	/* distances of points when it has arrived, and before */
	bool odd;		/* no point on the middle */
};

struct tsr_tessellation {
	/* U0, V0, U1 (triangle: W0), V1; lines: density, detail */
	struct tsr_tess_line edge[4];
	struct tsr_tess_line inside[2];	/* U, V; triangle: both are the only one */
	uint8_t shape;
	uint8_t sides;		/* of a ring: 3 or 4 */
	uint8_t rings;		/* the edges and the innermost ring included */
	bool single;		/* nothing is divided: there are no rings */
	uint16_t points;	/* of the patch */
};

/* Where a walk over the primitives of a patch is. */
struct tsr_tess_walk {
	uint8_t ring, side;	/* the strip: between @ring and the one around it */
	uint8_t state;		/* what comes next in it */
	uint16_t inner, outer;	/* how far it is along both its rows */
	uint16_t inner_at, outer_at;	/* where the side begins in both rings */
	uint16_t inner_base, outer_base;	/* the first points of both rings */
};

/*
 * Prepare the division of a patch by @factors (U0, V0, U1 or W0, V1, inside U, inside V; of an
 * isoline the first two: density, detail). False: the patch is culled, there is nothing.
 */
bool tsr_tess_begin(struct tsr_tessellation *t, enum tsr_tess_shape shape,
		    enum tsr_tess_partitioning partitioning, const float factors[6]);

/* Where point @point of t->points is. */
void tsr_tess_point(const struct tsr_tessellation *t, unsigned int point, uint32_t at[2]);

/* Begin to walk over the triangles of a patch (the lines of an isoline). */
void tsr_tess_first(const struct tsr_tessellation *t, struct tsr_tess_walk *walk);

/*
 * The points of the next primitive: three, of an isoline two. Triangles go round counter-clockwise
 * with u to the right and v up. False: there are no more.
 */
bool tsr_tess_next(const struct tsr_tessellation *t, struct tsr_tess_walk *walk,
		   uint16_t corner[3]);

#endif
