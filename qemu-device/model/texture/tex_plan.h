/* SPDX-License-Identifier: MIT */
/*
 * Facts about a texture with a sampler that do not depend on the lanes of a lookup.
 */
#ifndef TSR_SHADER_TEX_PLAN_H
#define TSR_SHADER_TEX_PLAN_H

#include "msg_texture.h"

struct tsr_tex_window;

/* One level of one slice of a texture. */
struct tsr_level_place {
	unsigned int level;
	uint32_t slice;			/* layer, of cubes 6 * layer + face; of volumes z */
	bool linear;			/* sRGB is not decoded */
};

/* One axis of a level, for lookups in it. */
struct tsr_level_axis {
	unsigned int mode;		/* enum tsr_wrap_mode; of cubes what becomes of edges */
	int32_t extent;
	float scale;			/* from coordinates to what is rounded */
	float half;			/* added before the nearest texel is found */
	int32_t center;			/* of a texel, in 1 / TSR_TEXEL_ONE */
	int32_t period;			/* after which all is again as it was */
	float frequency;		/* 1 / @period */
	bool power;			/* the extent is a power of two */
	int32_t offset;			/* texels that are added before wrapping */
};

/* The kind of result that a lookup makes of the texels that it finds. */
enum tsr_level_result {
	TSR_LEVEL_FILTER,		/* four components of the texel or of the mean */
	TSR_LEVEL_RAW,			/* the same of bytes, times TSR_TEX_BYTES_ONE */
	TSR_LEVEL_COMPARE,		/* one component: the mean of comparisons */
	TSR_LEVEL_GATHER,		/* one component of each of the four texels */
	TSR_LEVEL_GATHER_COMPARE,	/* the comparison of each of the four texels */
};

/* Type of the number that a comparison reads from a texel, and of its result. */
enum tsr_level_number {
	TSR_LEVEL_FLOAT, TSR_LEVEL_SIGNED, TSR_LEVEL_UNSIGNED,
};

/* Lookups in one slice of a level. */
struct tsr_level_lookup {
	uint32_t where;			/* number of the level, see sampler.c */
	struct tsr_msg_env *env;
	struct tsr_texture_view *view;
	struct tsr_level_place place;
	uint64_t key;			/* tsr_level_key() */
	struct tsr_tex_window *window;	/* that shows it, or did */
	struct tsr_level_axis axis[3];	/* the third one is used to find slices of volumes */
	bool near;
	bool bytes;			/* texels are four bytes, else four words */
	bool flat;			/* 1D: there is no second axis */
	/* Set for each lookup. */
	bool texels;			/* coordinates are integers inside of the level */
	uint8_t result;			/* enum tsr_level_result */
	uint8_t component;		/* of GATHER */
	uint8_t compare;		/* enum tsr_compare_function */
	uint8_t number;			/* enum tsr_level_number */
	bool unit;			/* references are clamped to 0 to 1 */
};

/* Levels of a texture with a sampler: what tsr_filter_lod() and tsr_lod_levels() go by. */
struct tsr_lod_rules {
	float unit[3];			/* texels of level 0 that 1 is of each coordinate */
	unsigned int dimensions;
	int32_t bias, low, high;	/* what is added to a level of detail, and its bounds */
	int32_t cutoff, last;		/* of textures made larger; of the last level */
	int32_t half;			/* added before fractions are cut off */
	int32_t levels, fraction;	/* masks: other levels than 0, weights of the next one */
	uint32_t larger, smaller;	/* bits of @where: the nearest texel */
};

#define TSR_TEXTURE_PLANS 8
/* Lookups that a plan keeps. */
#define TSR_PLAN_LEVELS 8

/* A texture with a sampler. */
struct tsr_texture_plan {
	/* whose it is: by their serials, 0: nobody's */
	const struct tsr_texture_view *view;
	const struct tsr_sampler_view *sampler;
	uint32_t view_serial, sampler_serial;
	bool one_level;			/* whatever the level of detail is; and one place */
	struct tsr_lod_rules rules;
	struct tsr_level_lookup level[TSR_PLAN_LEVELS];	/* the last ones */
};

#endif
