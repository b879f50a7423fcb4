/* SPDX-License-Identifier: MIT */
/*
 * Expected results of blending and rounding of colors, written from their rules (D3D11, Vulkan) in
 * doubles, component by component. It shares no code with the model.
 *
 * The result of a blend equation may be off by the rounding of 32-bit floats. That is far below the
 * precision of a format except near the border between two of its values, where color_ref_accepts()
 * takes either.
 */
#ifndef TSR_COLOR_REF_H
#define TSR_COLOR_REF_H

#include <stdbool.h>
#include <stdint.h>

#include "tsr_packets.h"
#include "tsr_regs.h"

enum color_kind {
	COLOR_NONE, COLOR_UNORM, COLOR_SNORM, COLOR_FLOAT, COLOR_UFLOAT, COLOR_SHARED,
	COLOR_FIXED, COLOR_CONSTANT, COLOR_UINT, COLOR_SINT, COLOR_BLOCK,
};

struct color_format {
	enum color_kind kind;
	unsigned int bytes;
	bool srgb;
	unsigned int bits[4], shift[4];	/* of components R, G, B, A of the texel */
	/* component of the color each component of the texel holds; 4: 1 */
	unsigned int holds[4];
	/* the reverse; 4: 0, 5: 1 */
	unsigned int comes[4];
};

/* @order: RGBA, BGRA, ABGR or RGB1. False: no such format. */
bool color_ref_format(struct color_format *f, unsigned int format, unsigned int order, bool srgb);

/* Bits of component @c of a texel; what they stand for (integers exactly). */
uint64_t color_ref_bits(const struct color_format *f, unsigned int c, const uint8_t *texel);
double color_ref_value(const struct color_format *f, unsigned int c, uint64_t bits);
/* The number nearest to @x that component @c can be, as value; the format's rounding rule. */
double color_ref_rounded(const struct color_format *f, unsigned int c, double x);

/* The color in a texel: linear, 0, 0, 0, 1 where it has no component. */
void color_ref_load(const struct color_format *f, const uint8_t *texel, double color[4]);

/* True if component @c of @texel may be @x, which may be wrong by @off. */
bool color_ref_accepts(const struct color_format *f, unsigned int c, double x, double off,
		       const uint8_t *texel);

/* Source, second source and constant into the range of the format. */
double color_ref_clamp(const struct color_format *f, double x);

/*
 * The blend equation for component @i. *scale: the largest magnitude in it, which bounds what
 * rounding can do.
 */
double color_ref_blend(const struct tsr_blend *b, unsigned int i, const double s[4],
		       const double d[4], const double t[4], const double constant[4],
		       double *scale);

/* A logic operation on one bit. */
bool color_ref_logic(unsigned int op, bool s, bool d);

#endif
