/* SPDX-License-Identifier: MIT */
/*
 * Filtered samples of whole warps.
 *
 * In: coordinates of up to 16 lanes, which of them are there, what is to be sampled. Out: four
 * components for each lane. It does in vectors what msg_filter.c defines lane by lane, with the
 * same results; lanes that need what vectors do not have (borders, edges of cubes, comparisons,
 * volumes, memory that has to be asked for) are done there one by one.
 *
 * The instructions of this unit use it, and those of the varying unit (VAR_TEX, preloaded
 * messages): one call for each warp of a bundle.
 */
#ifndef TSR_SHADER_TEX_WARP_H
#define TSR_SHADER_TEX_WARP_H

#include "tex_cache.h"
#include "lanes.h"

/* A sample of a warp. Lanes that are in neither mask may hold anything. */
struct tsr_texture_warp {
	uint32_t texture, sampler;	/* indices of descriptors */
	/*
	 * Lanes to be sampled, and lanes that have coordinates: helper lanes may be among the
	 * latter alone. Lanes 4n to 4n + 3 are a quad: upper row, lower row.
	 */
	uint16_t lanes, present;
	uint8_t dimension;		/* enum tsr_texture_dimension: 2D or CUBE */
	uint8_t mode;			/* enum tsr_texture_lod: not GRADIENT */
	const float *s, *t;		/* coordinates; of a cube's faces */
	const uint8_t *face;		/* of cubes, at most 5 */
	const uint32_t *layer;		/* NULL: 0 */
	const uint32_t *lod;		/* of BIAS and EXPLICIT, as it is staged; else NULL */
	float rgba[4][TSR_WARP_LANES] __attribute__((aligned(64)));	/* out, for @lanes */
};

/*
 * Sample. Without *@done, whatever the step is, nothing has been done that can be seen, and the
 * caller goes lane by lane: textures of integers, descriptors that are not there or wrong, texels
 * that the host has to be asked for.
 */
enum tsr_step tsr_texture_warp(struct tsr_msg_env *env, struct tsr_texture_warp *warp, bool *done);

/* ---- For the files of the unit --------------------------------------------------------------- */

/* Lookups in one level of a 2D texture, or of faces of a cube, with all lanes in one slice. */
struct tsr_level_lookup {
	struct tsr_msg_env *env;
	struct tsr_texture_view *view;
	const struct tsr_sampler *sampler;
	struct tsr_block_place place;	/* level, slice, linear */
	uint64_t key;			/* of its block (0, 0) */
	bool near;
	uint16_t lanes;
	const float *s, *t;
	float *rgba[4];			/* out; lanes not in @lanes are overwritten too */
};

/* The functions of a SIMD path. */
struct tsr_texture_path {
	/* Do what can be done so; returns the lanes done. */
	uint16_t (*lookup)(const struct tsr_level_lookup *l);
	/* into = into + (from - into) * weight, in all lanes */
	void (*mix)(float *into, const float *from, const float *weight);
	/*
	 * Of four quads: squares of the lengths of d/dx and d/dy, in units of 1 / @unit; their
	 * derivatives are those of their first three lanes.
	 */
	void (*squares)(const float *s, const float *t, const float unit[2], float along_x[4],
			float along_y[4]);
	/* numbers of 16 bits, two in a word, in all lanes */
	void (*halves)(uint32_t *to, const float *low, const float *high);
};

extern const struct tsr_texture_path tsr_texture_sse2;
#ifdef __x86_64__
extern const struct tsr_texture_path tsr_texture_avx2, tsr_texture_avx512;
#endif

/* The path of that name; NULL: none, or this processor does not have it. */
const struct tsr_texture_path *tsr_texture_path(const char *name);

#endif
