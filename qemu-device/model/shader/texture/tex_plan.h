/* SPDX-License-Identifier: MIT */
/*
 * What is known about a texture with a sampler before the first lane of a lookup is looked at.
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
};

/* Lookups in one level of a 2D texture, or of faces of a cube, with all lanes in one slice. */
struct tsr_level_lookup {
	uint32_t where;			/* number of the level, see tex_warp.c */
	struct tsr_msg_env *env;
	struct tsr_texture_view *view;
	struct tsr_level_place place;
	uint64_t key;			/* tsr_level_key() */
	struct tsr_tex_window *window;	/* that shows it, or did */
	struct tsr_level_axis axis[2];
	bool near;
	bool bytes;			/* texels are of bytes, else of floats */
};

#define TSR_TEXTURE_PLANS 8

/* A texture with a sampler. */
struct tsr_texture_plan {
	/* whose it is: by their serials, 0: nobody's */
	const struct tsr_texture_view *view;
	const struct tsr_sampler_view *sampler;
	uint32_t view_serial, sampler_serial;
	bool one_level;			/* whatever the level of detail is; and one place */
	struct tsr_level_lookup level[2];	/* the last ones: even and odd levels */
};

#endif
