/* SPDX-License-Identifier: MIT */
/*
 * Textures for tests, and what lookups in them must return: a reference in double precision that
 * has its own idea of everything. Weights are summed over all texels that can count, cube edges are
 * crossed by the geometry of the cube, wrap modes follow the formulas of OpenGL.
 */
#ifndef TSR_TEXTURE_REF_H
#define TSR_TEXTURE_REF_H

#include <string.h>

#include "units.h"

/* A coordinate as a register has it: fp32. */
static inline uint32_t as_bits(double x)
{
	float f = x;
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

enum { TEX_CUBE, TEX_1D, TEX_2D, TEX_3D };

struct tex {
	unsigned int dim, format, w, h, d, levels, layers, samples;
	bool tiled, srgb;
	bool corners;			/* texel n is at n, not at n + 0.5 */
	unsigned int swizzle[4];
	unsigned int bpp;
	/* per surface: offset in tex_units->data, row stride, slice stride */
	uint32_t at[512], row[16], slice[16];
	unsigned int min_lod, max_lod;
};

struct tex_sampler {
	unsigned int wrap[3];
	bool normalized, min_nearest, mag_nearest, cutoff, seamless, clamp_layer;
	unsigned int mip, min_lod, max_lod, compare;
	int bias;
	double border[4];
	bool linear;			/* sRGB is not decoded; the texture must not be srgb then */
	unsigned int anisotropy;	/* most places; 0, 1: isotropic */
	bool integers;			/* the border's */
};

struct tex_lookup {
	const struct tex *t;
	const struct tex_sampler *s;
	unsigned int face, layer;
	int off[3];
	bool shadow;
	double reference;
};

/* Whose memory textures lie in; set before anything else. */
extern struct units *tex_units;
/* State of the random numbers. */
extern uint32_t tex_seed;

uint32_t tex_random(void);
/* In [0, 1). */
double tex_unit(void);

/* A texture of random extent and layout, with random contents, in tex_units->data. */
struct tex tex_make(unsigned int dim, unsigned int format);
/* A sampler with random modes, its border of the kind of @t's format. */
struct tex_sampler tex_make_sampler(const struct tex *t);
/* Random contents for the first @end bytes of memory. */
void tex_fill(const struct tex *t, uint32_t end);
/* Write descriptors number @index, of textures with their surfaces. */
void tex_write(const struct tex *t, unsigned int index);
void tex_write_sampler(const struct tex_sampler *s, unsigned int index);

/* True if there is a format of that number with memory, not compressed; what its components are. */
bool tex_format(unsigned int format);
bool tex_is_kind(unsigned int format, const char *kind);
bool tex_is_integer(unsigned int format);
/* Extent of a level of something that has @n texels at level 0. */
unsigned int tex_extent(unsigned int n, unsigned int level);
/* Where a texel lies in tex_units->data, and its components. */
uint32_t tex_address(const struct tex *t, unsigned int level, unsigned int layer,
		     unsigned int sample, int x, int y, int z);
void tex_decode(const struct tex *t, uint32_t at, double c[4]);

/* The face of a direction, and s and t on it, -1 to 1. */
unsigned int tex_ref_face(const double v[3], double *s, double *t);
/* Texel (@x, @y, @z), wrapped and compared. */
void tex_ref_texel(const struct tex_lookup *l, unsigned int level, long x, long y, long z,
		   double c[4]);
/* Coordinate @at of dimension @d in texels of a level. */
double tex_ref_place(const struct tex_lookup *l, unsigned int level, unsigned int d, double at);
void tex_ref_swizzle(const struct tex *t, double c[4]);
/*
 * A sample at @lod, in levels, before the sampler's bias and clamps. False: @lod, known to @slack,
 * is so near to a step that nobody can say.
 */
bool tex_ref_sample(const struct tex_lookup *l, const double at[3], double lod, double slack,
		    double c[4]);

#endif
