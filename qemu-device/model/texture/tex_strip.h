/* SPDX-License-Identifier: MIT */
/*
 * Strips of the sampler: up to four warps that are done together, and what its files know of them.
 *
 *	sampler.c	jobs, lookups, results
 *	tex_levels.c	levels and slices of lanes
 */
#ifndef TSR_SHADER_TEX_STRIP_H
#define TSR_SHADER_TEX_STRIP_H

#include "sampler.h"

#define LANES TSR_WARP_LANES
#define QUAD 4u
/* Warps are done in strips: as many as a block of pixels has. */
#define STRIP_WARPS 4u
#define STRIP (STRIP_WARPS * LANES)

/* @where of a lane: slice << WHERE_SLICE | WHERE_NEAR | level. */
#define WHERE_NEAR 0x80u
#define WHERE_SLICE 8

/* Components of all lanes of a strip. */
typedef float strip_lanes[4][STRIP];

/* State of the lanes of a strip. Masks have bit 16 * w + l for lane l of warp w. */
struct strip {
	struct tsr_texture_job *job;
	struct tsr_msg_env *env;
	struct tsr_texture_view *view;
	const struct tsr_sampler_view *sampler;
	const struct tsr_texture_path *path;
	const struct tsr_texture_bundle *in;
	float *out[4];
	uint64_t all;			/* lanes to be done that have a level and a slice */
	uint64_t rest;			/* of them: for msg_filter.c */
	uint64_t mixed;			/* of them: between two levels */
	bool alike;			/* all of them are at @here; @where may be empty then */
	uint32_t here;
	bool same_texels;		/* all of them read as many texels as lookups at @here */
	unsigned int most;		/* most places of a lane */
	unsigned int components;	/* of what is looked up */
	uint64_t bytes[STRIP_WARPS];	/* read by each warp */
	uint32_t where[STRIP] __attribute__((aligned(64)));
	int32_t lod[STRIP] __attribute__((aligned(64)));	/* bias and clamps applied */
	float weight[STRIP] __attribute__((aligned(64)));	/* of the next level */
	/* Numbers of texels that are fetched. */
	int32_t x[STRIP] __attribute__((aligned(64))), y[STRIP] __attribute__((aligned(64)));
	/* If @most is more than 1. */
	uint8_t places[STRIP];
	float axis[2][STRIP];
};

static inline uint16_t lanes_of_warp(uint64_t lanes, unsigned int w)
{
	return (uint16_t)(lanes >> w * LANES);
}

/* Operands of all lanes of a strip; NULL if there are none. */
static inline const uint32_t *words_of(const union tsr_lanes *lanes)
{
	return lanes ? lanes->u : NULL;
}

static inline const float *numbers_of(const union tsr_lanes *lanes)
{
	return lanes ? lanes->f : NULL;
}

/* The operand of lane @i; 0 if there are none. */
static inline float number_of(const union tsr_lanes *lanes, unsigned int i)
{
	return lanes ? lanes[i / LANES].f[i % LANES] : 0;
}

static inline uint32_t word_of(const union tsr_lanes *lanes, unsigned int i)
{
	return lanes ? lanes[i / LANES].u[i % LANES] : 0;
}

static inline unsigned int face_of(const struct strip *s, unsigned int i)
{
	return s->in->face ? s->in->face[i / LANES][i % LANES] : 0;
}

static inline bool is_texel(const struct tsr_texture_job *job)
{
	return job->operation == TSR_TEXTURE_OPERATION_FETCH &&
	       job->mode == TSR_TEXTURE_FETCH_TEXEL;
}

static inline bool is_gather(const struct tsr_texture_job *job)
{
	return job->operation == TSR_TEXTURE_OPERATION_FETCH &&
	       job->mode != TSR_TEXTURE_FETCH_TEXEL;
}

static inline bool is_cube(const struct tsr_texture_job *job)
{
	return job->dimension == TSR_TEXTURE_DIMENSION_CUBE;
}

static inline bool is_volume(const struct tsr_texture_job *job)
{
	return job->dimension == TSR_TEXTURE_DIMENSION_3D;
}

static inline bool is_integer(const struct strip *s)
{
	return tsr_format_is_integer(&s->view->format);
}

/* A word of the results. */
static inline uint32_t constant(const struct strip *s, bool one)
{
	return !one ? 0 : is_integer(s) ? 1 : 0x3f800000;
}

/* Where lane @i is. */
static inline uint32_t where_of(const struct strip *s, unsigned int i)
{
	return s->alike ? s->here : s->where[i];
}

/* Its level of detail. It does not matter in textures that have one level. */
static inline int lod_of(const struct strip *s, unsigned int i)
{
	return s->job->plan->one_level ? 0 : s->lod[i];
}

/* The lanes of all warps that have @word. */
static inline uint64_t equal(const struct strip *s, const uint32_t *words, uint32_t word)
{
	uint64_t same = 0;

	for (unsigned int w = 0; w < s->in->warps; w++)
		same |= (uint64_t)s->path->equal(words + w * LANES, word) << w * LANES;
	return same;
}

static inline bool has_places(const struct strip *s)
{
	return s->sampler->anisotropy > 1 && s->view->dimensions < 3;
}

/* The lookup of lane @i, without its layer and places. */
struct tsr_lookup tsr_strip_lookup(const struct strip *s, unsigned int i);
/*
 * Levels of detail of lanes in @s->lod, and their places: of warp @w from the coordinates of its
 * quads, or from derivatives that each lane has.
 */
void tsr_strip_footprints(struct strip *s, unsigned int w);
void tsr_strip_lane_footprints(struct strip *s, unsigned int w);
/*
 * Find the level and slice of all lanes, and the numbers of texels that are fetched. Lanes that
 * have none leave @s->all.
 */
void tsr_strip_levels(struct strip *s);

#endif
