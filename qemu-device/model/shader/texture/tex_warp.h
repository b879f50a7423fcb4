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
#include "shader/lanes.h"

/* What the samples of a message, of all its warps, have in common. */
struct tsr_texture_job {
	/* In. */
	struct tsr_msg_env *env;
	uint32_t texture, sampler;	/* indices of descriptors */
	uint8_t dimension;		/* enum tsr_texture_dimension: 2D or CUBE */
	uint8_t mode;			/* enum tsr_texture_lod: not GRADIENT */
	/* Of the unit. */
	struct tsr_texture_view *view;
	const struct tsr_sampler_view *sampler_view;
	struct tsr_texture_plan *plan;
};

/* Lookups of warps in one level. */
struct tsr_level_warps {
	unsigned int count;
	const uint16_t *lanes;		/* of each warp: to be looked up */
	uint16_t *done;			/* out, of each warp: those that have been */
	/* lane l of warp w is at 16 * w + l; out: lanes not in @lanes are overwritten too */
	const float *s, *t;
	float *rgba[4];
};

/* A sample of a warp. Lanes that are in neither mask may hold anything. */
struct tsr_texture_warp {
	/*
	 * Lanes to be sampled, and lanes that have coordinates: helper lanes may be among the
	 * latter alone. Lanes 4n to 4n + 3 are a quad: upper row, lower row.
	 */
	uint16_t lanes, present;
	const float *s, *t;		/* coordinates; of a cube's faces */
	const uint8_t *face;		/* of cubes, at most 5 */
	const uint32_t *layer;		/* NULL: 0 */
	const uint32_t *lod;		/* of BIAS and EXPLICIT, as it is staged; else NULL */
	float rgba[4][TSR_WARP_LANES] __attribute__((aligned(64)));	/* out, for @lanes */
};

/*
 * Begin: find out what is sampled. False: the caller goes lane by lane; textures of integers,
 * descriptors that are not there or wrong. Nothing has been done then that can be seen. A job is
 * good until something else is asked of the unit.
 */
bool tsr_texture_begin(struct tsr_texture_job *job);
/*
 * Sample. False: nothing has been done that can be seen, and the caller goes lane by lane: texels
 * that the host has to be asked for.
 */
bool tsr_texture_warp(struct tsr_texture_job *job, struct tsr_texture_warp *warp);

/*
 * Samples of warps that lie one after the other. The coordinates of lane l of warp w are s[w].f[l]
 * and t[w].f[l]; it is sampled if bit l of lanes[w] says so, and all of these lanes have
 * coordinates.
 */
struct tsr_texture_bundle {
	unsigned int warps;
	const uint16_t *lanes;
	const union tsr_lanes *s, *t;	/* coordinates; of a cube's faces */
	const uint8_t (*face)[TSR_WARP_LANES];	/* of cubes, at most 5; else NULL */
	const union tsr_lanes *layer;	/* NULL: 0 */
	const union tsr_lanes *lod;	/* of BIAS and EXPLICIT, as it is staged; else NULL */
	/* out: component c of warp w is rgba[c][w]; lanes that are not sampled: anything */
	union tsr_lanes *rgba[4];
};

/*
 * Sample, without messages: the cheapest way for whoever has coordinates of whole bundles. Returns
 * how many warps have been done; the next one, if any, is for the caller to do lane by lane, as
 * with tsr_texture_warp(). Floating-point modes are its own business, and so are the costs of what
 * it reads (env->cost); that messages are counted is the caller's.
 */
unsigned int tsr_texture_bundle(struct tsr_texture_job *job, const struct tsr_texture_bundle *b);

/* ---- For the files of the unit --------------------------------------------------------------- */

/*
 * What filtered bytes, times TSR_TEXEL_ONE, are divided by; and its inverse in two parts. For all
 * of these numbers, multiples of 1 / 256 up to the divisor, x * HIGH + x * LOW with the second
 * product and the sum rounded is the rounded quotient: tests/numeric/tex_bytes.c tries them.
 */
#define TSR_TEX_BYTES_ONE (255.0f * TSR_TEXEL_ONE)
#define TSR_TEX_BYTES_HIGH ((float)(1 / (double)TSR_TEX_BYTES_ONE))
#define TSR_TEX_BYTES_LOW ((float)(1 / (double)TSR_TEX_BYTES_ONE - (double)TSR_TEX_BYTES_HIGH))

/* Levels of a texture with a sampler: what tsr_filter_lod() and tsr_lod_levels() go by. */
struct tsr_lod_rules {
	float unit[2];			/* texels of level 0 that 1 is of either coordinate */
	int32_t bias, low, high;	/* what is added to a level of detail, and its bounds */
	int32_t cutoff, last;		/* of textures made larger; of the last level */
	int32_t half;			/* added before fractions are cut off */
	int32_t levels, fraction;	/* masks: other levels than 0, weights of the next one */
	uint32_t larger, smaller;	/* part of @where below */
};

/* The levels of a warp all of whose quads have the same two. */
struct tsr_warp_levels {
	uint32_t where;			/* as in tex_warp.c */
	uint16_t mixed;			/* lanes between two levels */
	float *weight;			/* of the next one, of each lane */
};

/* The functions of a SIMD path. */
struct tsr_texture_path {
	/* Do what can be done so, in @l's window; returns lanes of any warp that are left. */
	unsigned int (*lookup)(const struct tsr_level_lookup *l, const struct tsr_level_warps *w);
	/* into = into + (from - into) * weight, in all lanes */
	void (*mix)(float *into, const float *from, const float *weight);
	/* the same of four components, in @lanes alone */
	void (*mix_some)(float *const into[4], float *const from[4], const float *weight,
			 uint16_t lanes);
	/*
	 * Of four quads: squares of the lengths of d/dx and d/dy, in units of 1 / @unit; their
	 * derivatives are those of their first three lanes.
	 */
	void (*squares)(const float *s, const float *t, const float unit[2], float along_x[4],
			float along_y[4]);
	/*
	 * Of all quads of warps: the larger one of the two squares is in the range that is
	 * returned. False: some are NaN.
	 */
	bool (*extremes)(const float *s, const float *t, unsigned int warps, const float unit[2],
			 float range[2]);
	/*
	 * The levels of quads @lanes, at least one; they have all their lanes. False: they are not
	 * all the same, or not at @to->where, if that is not UINT32_MAX.
	 */
	bool (*levels)(const struct tsr_lod_rules *rules, const float *s, const float *t,
		       uint16_t lanes, struct tsr_warp_levels *to);
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
