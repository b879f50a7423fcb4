/* SPDX-License-Identifier: MIT */
/*
 * Depth and stencil of one sample, written from the rules of Vulkan and D3D11.
 *
 * A stored depth is what a format can hold: an integer of 16 or 24 bits, or a float; here always as
 * the number it stands for. Comparisons are of stored numbers: the fragment's depth is rounded to
 * the format first.
 */
#ifndef TSR_ZS_REF_H
#define TSR_ZS_REF_H

#include <stdbool.h>
#include <stdint.h>

#include "tsr_packets.h"

/* Formats of a depth target. */
enum zs_depth {
	ZS_NONE,
	ZS_UNORM16,
	ZS_UNORM24,
	ZS_FLOAT32,
};

/* @z clamped to [@near, @far] (either way round), as the format holds it: the nearest number. */
double zs_ref_stored(enum zs_depth format, double z, double near, double far);
/* Between two numbers next to each other, at @z. */
double zs_ref_step(enum zs_depth format, double z);
/* How many numbers of the format @a is from @b. */
double zs_ref_ulps(enum zs_depth format, double a, double b);

/* enum COMPARE_FUNCTION */
bool zs_ref_compare(unsigned int function, double a, double b);
/* enum STENCIL_OP */
uint8_t zs_ref_stencil(unsigned int op, uint8_t stored, uint8_t reference);

/* One sample in memory. */
struct zs_sample {
	double depth;
	uint8_t stencil;
};

/*
 * A fragment's sample with depth @z (as the format holds it) meets what is stored: whether it
 * passes; *s is then what is stored.
 */
bool zs_ref_test(const struct tsr_draw_state *draw, enum zs_depth depth, bool has_stencil,
		 bool front, double z, struct zs_sample *s);

/* z at (@x, @y) in the plane through three corners, long doubles; all in the same units. */
struct zs_corner {
	long double x, y, z;
};
long double zs_ref_plane(const struct zs_corner v[3], long double x, long double y);
/* A varying with perspective: linear in x and y are value / w and 1 / w. */
long double zs_ref_perspective(const struct zs_corner v[3], const long double rw[3],
			       const long double value[3], long double x, long double y);

#endif
