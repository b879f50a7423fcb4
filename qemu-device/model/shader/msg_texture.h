/* SPDX-License-Identifier: MIT */
/*
 * The texture unit's parts: descriptors and texels (msg_texel.c), filters (msg_filter.c), and the
 * instructions (msg_texture.c).
 *
 * In: descriptors of a texture and a sampler, coordinates. Out: a texel in the texture's own kind
 * of numbers, or a fault. Coordinates are computed in double precision, filters in single.
 */
#ifndef TSR_SHADER_MSG_TEXTURE_H
#define TSR_SHADER_MSG_TEXTURE_H

#include "msg.h"
#include "msg_format.h"

#define TSR_LOD_ONE 256			/* levels of detail have 8 fraction bits */

/* A surface that has been looked at. */
struct tsr_surface_cache {
	bool valid;
	uint32_t index;
	struct tsr_texture_surface surface;
};

/* A texture, ready for use. */
struct tsr_texture_view {
	uint32_t index;
	bool valid;			/* the rest is @index's */
	bool missing;			/* not in the table: reads 0 */
	bool tiled;
	uint8_t dimension;		/* enum tsr_texture_dimension */
	uint8_t swizzle[4];		/* enum tsr_component */
	uint8_t samples;
	uint8_t levels;
	uint8_t first_level;		/* MIN_LEVEL */
	uint16_t min_lod, max_lod;
	uint32_t word;			/* format and order, as in a conversion word */
	uint32_t width, height, depth;	/* of level 0 */
	uint32_t layers;		/* faces of cubes counted */
	bool normalize;
	double center;			/* of a texel, in texels: 0.5 */
	uint64_t surfaces;
	struct tsr_format format;
	struct tsr_surface_cache cache[4];
};

/* A sampler, ready for use. */
struct tsr_sampler_view {
	uint32_t index;
	bool valid;
	bool missing;
	struct tsr_sampler s;
};

/* Read the descriptor of texture or sampler @index into @view unless it is there already. */
enum tsr_step tsr_texture_read(struct tsr_msg_env *env, uint32_t index,
			       struct tsr_texture_view *view);
enum tsr_step tsr_sampler_read(struct tsr_msg_env *env, uint32_t index,
			       struct tsr_sampler_view *view);

/* Extent of level @level of something that has @size at level 0. */
static inline uint32_t tsr_level_extent(uint32_t size, unsigned int level)
{
	return size >> level ? size >> level : 1;
}

/* Place of a texel. All of it lies in the texture. */
struct tsr_texel_place {
	unsigned int level;
	uint32_t x, y, z;
	uint32_t layer;			/* of cubes: 6 * layer + face */
	unsigned int sample;
};

enum tsr_step tsr_texel_address(struct tsr_msg_env *env, struct tsr_texture_view *view,
				const struct tsr_texel_place *place, uint64_t *va);
/* Components in the order of the result, the texture's swizzle not applied. */
enum tsr_step tsr_texel_read(struct tsr_msg_env *env, struct tsr_texture_view *view, bool linear,
			     const struct tsr_texel_place *place, union tsr_texel *texel);
/* The sampler's border colour, as such a texel. */
void tsr_texel_border(const struct tsr_texture_view *view, const struct tsr_sampler *sampler,
		      union tsr_texel *texel);

/* What is to be looked up. */
struct tsr_lookup {
	struct tsr_msg_env *env;
	struct tsr_texture_view *texture;
	const struct tsr_sampler *sampler;
	float x, y, z;			/* coordinates; of a face of a cube */
	unsigned int face;		/* of cubes */
	uint32_t layer;			/* of arrays */
	bool shadow;			/* compare with @reference */
	float reference;
	int8_t offset[3];		/* in texels */
};

/*
 * A filtered sample at level of detail @lod, with bias and clamps applied; four texels at @level,
 * of them component @component after the texture's swizzle. Results are in the order of registers:
 * the swizzle is applied.
 */
enum tsr_step tsr_filter_sample(const struct tsr_lookup *lookup, int lod, union tsr_texel *result);
enum tsr_step tsr_filter_gather(const struct tsr_lookup *lookup, unsigned int level,
				unsigned int component, union tsr_texel *result);
/* The level of detail of @base (8 fraction bits) after the sampler's bias and all clamps. */
int tsr_filter_lod(const struct tsr_texture_view *texture, const struct tsr_sampler *sampler,
		   int base, bool bias, bool clamp);
/*
 * The level of detail of a quad, before bias and clamps: from the coordinates of those of its four
 * lanes that are @active, bit n for lane n; from derivatives, d/dx and d/dy.
 */
int tsr_filter_quad_lod(const struct tsr_lookup lookup[4], unsigned int active);
int tsr_filter_gradient_lod(const struct tsr_texture_view *texture,
			    const struct tsr_sampler *sampler, const float ddx[3],
			    const float ddy[3]);
/* Apply the texture's swizzle. */
void tsr_filter_swizzle(const struct tsr_texture_view *texture, const union tsr_texel *texel,
			union tsr_texel *result);

#endif
