/* SPDX-License-Identifier: MIT */
/*
 * Plane equations of primitives: what varyings, 1/w and depth are at any point of one.
 *
 * In: a primitive on the screen, the outputs of its vertices in memory. Out: for each varying the
 * equations of its components, kept as long as the bundle lasts. All arithmetic is that of doubles
 * in a fixed order, on what differs from the provoking vertex's value, so a varying that is equal
 * at all vertices is exact.
 */
#ifndef TSR_SHADER_PLANES_H
#define TSR_SHADER_PLANES_H

#include "units/message.h"
#include "units/msg_format.h"
#include "stage.h"

/* Fill the geometry of @p, unless it is there. */
void tsr_prim_geometry(struct tsr_fragment_prim *p);

/* An entry of the table of varyings. */
struct tsr_varying {
	uint32_t index;
	bool missing;			/* the varying is not in the tables and reads 0, 0, 0, 1 */
	bool output;			/* its values are among the outputs of vertices */
	bool flat;			/* that of the provoking vertex, everywhere */
	bool linear;			/* without perspective */
	uint8_t floats;			/* number of 32-bit floats in their order; 0: others */
	int64_t offset;
	struct tsr_attribute_buffer buffer;
	struct tsr_format format;
};

/* Read entry @index. */
enum tsr_step tsr_varying_read(struct tsr_msg_env *env, uint32_t index, struct tsr_varying *v);
/*
 * Planes of varying @index of primitive @prim of the bundle, with @v if it has been read
 * (v->index). *@planes stay until the next call.
 */
enum tsr_step tsr_planes_find(struct tsr_msg_env *env, struct tsr_varying *v, bool *read,
			      unsigned int prim, uint32_t index, const struct tsr_planes **planes);
/* Where the planes of an unclipped triangle come from: floats, which are at hand. */
struct tsr_plane_source {
	const uint8_t *at[3];		/* at its vertices, four floats wide */
	uint16_t plane;			/* number of the bundle's planes they become */
	uint8_t prim;
};

/*
 * True if varying @index of triangles that are not clipped is floats among the outputs of their
 * vertices; *@read and @v are for tsr_planes_find() then.
 */
bool tsr_planes_quick(struct tsr_msg_env *env, struct tsr_varying *v, bool *read, uint32_t index);
/*
 * Then, of the primitives of @prims (bit n: primitive n) that have no planes of @v->index yet:
 * where the values of those are that are such triangles and at hand, and place for their planes,
 * which are to be made. There must be room for them. False: some are something else.
 */
bool tsr_planes_sources(struct tsr_msg_env *env, const struct tsr_varying *v, uint32_t prims,
			struct tsr_plane_source source[TSR_BUNDLE_QUADS], unsigned int *count);

#endif
