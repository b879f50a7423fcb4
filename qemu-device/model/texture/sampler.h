/* SPDX-License-Identifier: MIT */
/*
 * The sampler: all texture operations, for up to eight warps at once.
 *
 * In: operands of lanes, as they are staged, and what all lanes of the message have in common. Out:
 * four words for each lane, in the texture's kind of numbers. The sampler does in vectors what
 * msg_filter.c defines lane by lane, with the same bits. It hands single lanes to msg_filter.c:
 * those with texels of a border or beyond a seamless edge of a cube, those with coordinates that
 * are no numbers or far away, and those whose texels cannot be kept in the L1.
 *
 * Messages of the texture unit, VAR_TEX and compiled fragment programs use it. msg_texture.c is the
 * other way, lane by lane; it is used when the sampler refuses and by deterministic devices.
 */
#ifndef TSR_SHADER_SAMPLER_H
#define TSR_SHADER_SAMPLER_H

#include "tex_cache.h"
#include "shader/lanes.h"

/* Parameters that all lanes of a message share, in all its warps. */
struct tsr_texture_job {
	/* In. */
	struct tsr_msg_env *env;
	uint32_t texture, sampler;	/* indices of descriptors */
	uint8_t operation;		/* enum tsr_texture_operation */
	uint8_t mode;			/* enum tsr_texture_lod, of FETCH tsr_texture_fetch */
	uint8_t dimension;		/* enum tsr_texture_dimension */
	bool shadow;			/* texels are compared; gradients: levels are not clamped */
	bool offset;			/* gradients: without the sampler's bias */
	/* Private to the sampler. */
	struct tsr_texture_view *view;
	const struct tsr_sampler_view *sampler_view;
	struct tsr_texture_plan *plan;
	uint8_t result;			/* enum tsr_level_result */
	uint8_t component;		/* of texels that are gathered */
};

/* Lookups of warps in one slice of a level. */
struct tsr_level_warps {
	unsigned int count;
	const uint16_t *lanes;		/* of each warp: to be looked up */
	uint16_t *done;			/* out, of each warp: those that have been */
	/* lane l of warp w is at 16 * w + l; out: lanes not in @lanes are overwritten too */
	const float *s, *t;
	const float *reference;		/* of comparisons, else NULL */
	float *rgba[4];
};

/*
 * Operands of warps that follow one another: those of lane l of warp w are s[w].f[l] and so on.
 * Lanes 4n to 4n + 3 of a warp are a quad: upper row, lower row. Operands that the operation does
 * not have are NULL.
 */
struct tsr_texture_bundle {
	unsigned int warps;
	const uint16_t *lanes;		/* bit l of lanes[w]: do it */
	const union tsr_lanes *s, *t, *r;	/* coordinates; of a cube's faces */
	const uint8_t (*face)[TSR_WARP_LANES];	/* of cubes, at most 5; NULL: in @lod */
	const union tsr_lanes *layer;
	const union tsr_lanes *lod;	/* level, level of detail or bias, as it is staged */
	const union tsr_lanes *axis;	/* of gradients */
	const union tsr_lanes *reference;
	const union tsr_lanes *offsets;
	const union tsr_lanes *ddy[3];	/* of GRADIENT_EXPLICIT, beside d/dx in @s, @t and @r */
	/* out: component c of warp w is rgba[c][w]; lanes that are not done: anything */
	union tsr_lanes *rgba[4];
};

/*
 * Find out what is sampled. Returns false if the caller has to go lane by lane: there is no such
 * descriptor, it is wrong, or the texture's texels are not kept in the L1. Nothing that can be
 * seen has been done then. A job is good until something else is asked of the unit.
 */
bool tsr_texture_begin(struct tsr_texture_job *job);

/*
 * Do the warps of @b. Returns how many have been done. The next one, if any, is for the caller to
 * do lane by lane, as it needs memory that cannot be read now; of it nothing that can be seen has
 * been done. The caller has left all flush modes. What is read is added to env->cost; the caller
 * counts the messages.
 */
unsigned int tsr_texture_bundle(struct tsr_texture_job *job, const struct tsr_texture_bundle *b);

/* ---- For the files of the unit --------------------------------------------------------------- */

/*
 * The divisor of filtered bytes, times TSR_TEXEL_ONE, and its inverse in two parts. For all
 * of these numbers, multiples of 1 / 256 up to the divisor, x * HIGH + x * LOW with the second
 * product and the sum rounded is the rounded quotient: tests/numeric/tex_bytes.c tries them.
 */
#define TSR_TEX_BYTES_ONE (255.0f * TSR_TEXEL_ONE)
#define TSR_TEX_BYTES_HIGH ((float)(1 / (double)TSR_TEX_BYTES_ONE))
#define TSR_TEX_BYTES_LOW ((float)(1 / (double)TSR_TEX_BYTES_ONE - (double)TSR_TEX_BYTES_HIGH))

/* Levels of the lanes of a warp. */
struct tsr_lane_levels {
	int32_t *lod;			/* in: computed; out: after bias and clamps */
	uint32_t *where;		/* out: level, and whether the nearest texel is looked up */
	float *weight;			/* out: of the next level */
};

/* Slices of a volume that the lanes of a warp are in. */
struct tsr_lane_slices {
	uint32_t *at[2];
	float *weight;			/* of the second one */
};

/* The functions of a SIMD path. Arrays are of a warp's lanes unless it says otherwise. */
struct tsr_texture_path {
	/* Do what can be done so, in @l's window; returns lanes of any warp that are left. */
	unsigned int (*lookup)(const struct tsr_level_lookup *l, const struct tsr_level_warps *w);
	/*
	 * Look up the nearest texels of up to four warps in @count slices of one level, all of
	 * whose windows are there: @lanes[n] in @l[n]. False: none of it is done.
	 */
	bool (*lookup_slices)(const struct tsr_level_lookup *const *l, const uint64_t *lanes,
			      unsigned int count, const struct tsr_level_warps *w);
	/* into = from, in @lanes, of the first @components components */
	void (*merge)(float *const into[4], float *const from[4], unsigned int components,
		      uint16_t lanes);
	/* into = into + (from - into) * weight, in the same way */
	void (*mix_some)(float *const into[4], float *const from[4], unsigned int components,
			 const float *weight, uint16_t lanes);
	/* Divide four components. */
	void (*divide)(float *const by[4], float divisor);
	/* Make all NaNs the same one. */
	void (*one_nan)(float *const by[4], unsigned int components);
	/* Returns the lanes that have @word. */
	uint16_t (*equal)(const uint32_t *words, uint32_t word);
	/*
	 * Compute the squares of the lengths of d/dx and d/dy of four quads, in texels. The
	 * derivatives are those of the first three lanes of a quad.
	 */
	void (*squares)(const struct tsr_lod_rules *rules, const float *const c[3],
			float along_x[4], float along_y[4]);
	/* The isotropic levels of detail of the same, of each lane. */
	void (*quad_lods)(const struct tsr_lod_rules *rules, const float *const c[3], int32_t *lod);
	/* Isotropic levels of detail of lanes that have their own derivatives. */
	void (*lane_lods)(const struct tsr_lod_rules *rules, const float *const dx[3],
			  const float *const dy[3], int32_t *lod);
	/* The levels of lanes; returns those that are between two. @word: staged, or NULL. */
	uint16_t (*lane_levels)(const struct tsr_lod_rules *rules, unsigned int mode,
				const uint32_t *word, const struct tsr_lane_levels *to);
	/* The slices of a level of a volume; returns the lanes that have them. */
	uint16_t (*slices)(const struct tsr_level_axis *axis, const float *r, bool near,
			   const struct tsr_lane_slices *to);
	/* Pack two components into the 16-bit halves of words, in all lanes. */
	void (*halves)(uint32_t *to, const float *low, const float *high);
};

#endif
