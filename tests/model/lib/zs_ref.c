/* SPDX-License-Identifier: MIT */
#include "zs_ref.h"

#include <math.h>
#include <string.h>

#include "tsr_regs.h"

/* ---- Formats --------------------------------------------------------------------------------- */

static double largest(enum zs_depth format)
{
	return format == ZS_UNORM16 ? 65535 : 16777215;
}

double zs_ref_stored(enum zs_depth format, double z, double near, double far)
{
	z = fmin(fmax(z, fmin(near, far)), fmax(near, far));
	if (format == ZS_FLOAT32)
		return (double)(float)z;
	z = fmin(fmax(z, 0), 1);
	return floor(z * largest(format) + 0.5) / largest(format);
}

double zs_ref_step(enum zs_depth format, double z)
{
	if (format != ZS_FLOAT32)
		return 1 / largest(format);
	return fabs(z) < 0x1p-126 ? 0x1p-149 : ldexp(1, ilogb(z) - 23);
}

double zs_ref_ulps(enum zs_depth format, double a, double b)
{
	return fabs(a - b) / zs_ref_step(format, fmax(fabs(a), fabs(b)));
}

/* ---- Tests ----------------------------------------------------------------------------------- */

bool zs_ref_compare(unsigned int function, double a, double b)
{
	switch (function) {
	case TSR_COMPARE_FUNCTION_LESS:
		return a < b;
	case TSR_COMPARE_FUNCTION_EQUAL:
		return a == b;
	case TSR_COMPARE_FUNCTION_LEQUAL:
		return a <= b;
	case TSR_COMPARE_FUNCTION_GREATER:
		return a > b;
	case TSR_COMPARE_FUNCTION_NOT_EQUAL:
		return a != b;
	case TSR_COMPARE_FUNCTION_GEQUAL:
		return a >= b;
	default:
		return function == TSR_COMPARE_FUNCTION_ALWAYS;
	}
}

uint8_t zs_ref_stencil(unsigned int op, uint8_t stored, uint8_t reference)
{
	switch (op) {
	case TSR_STENCIL_OP_ZERO:
		return 0;
	case TSR_STENCIL_OP_REPLACE:
		return reference;
	case TSR_STENCIL_OP_INCREMENT_CLAMP:
		return stored == 255 ? 255 : stored + 1;
	case TSR_STENCIL_OP_DECREMENT_CLAMP:
		return stored ? stored - 1 : 0;
	case TSR_STENCIL_OP_INVERT:
		return stored ^ 255;
	case TSR_STENCIL_OP_INCREMENT_WRAP:
		return (stored + 1) % 256;
	case TSR_STENCIL_OP_DECREMENT_WRAP:
		return (stored + 255) % 256;
	default:
		return stored;
	}
}

static float word_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

bool zs_ref_test(const struct tsr_draw_state *d, enum zs_depth depth, bool has_stencil, bool front,
		 double z, struct zs_sample *s)
{
	uint8_t reference = front ? d->front_reference : d->back_reference;
	uint8_t reads = front ? d->front_read_mask : d->back_read_mask;
	uint8_t writes = front ? d->front_write_mask : d->back_write_mask;
	bool stencil = true, passes = true;
	unsigned int op;

	if (depth != ZS_NONE && d->depth_bounds)
		passes = s->depth >= word_float(d->depth_min) &&
			 s->depth <= word_float(d->depth_max);
	if (depth != ZS_NONE && d->depth_test)
		passes &= zs_ref_compare(d->depth_function, z, s->depth);
	if (has_stencil && d->stencil_test) {
		stencil = zs_ref_compare(front ? d->front_function : d->back_function,
					 reference & reads, s->stencil & reads);
		op = !stencil ? (front ? d->front_fail : d->back_fail) :
		     !passes ? (front ? d->front_depth_fail : d->back_depth_fail) :
			       (front ? d->front_pass : d->back_pass);
		s->stencil = (s->stencil & ~writes) |
			     (zs_ref_stencil(op, s->stencil, reference) & writes);
	}
	if (stencil && passes && depth != ZS_NONE && d->depth_test && d->depth_write)
		s->depth = z;
	return stencil && passes;
}

/* ---- Planes ---------------------------------------------------------------------------------- */

long double zs_ref_plane(const struct zs_corner v[3], long double x, long double y)
{
	long double x1 = v[1].x - v[0].x, y1 = v[1].y - v[0].y, x2 = v[2].x - v[0].x;
	long double y2 = v[2].y - v[0].y, area = x1 * y2 - x2 * y1;
	long double b1 = ((x - v[0].x) * y2 - (y - v[0].y) * x2) / area;
	long double b2 = ((y - v[0].y) * x1 - (x - v[0].x) * y1) / area;

	return v[0].z * (1 - b1 - b2) + v[1].z * b1 + v[2].z * b2;
}

long double zs_ref_perspective(const struct zs_corner v[3], const long double rw[3],
			       const long double value[3], long double x, long double y)
{
	struct zs_corner top[3], bottom[3];

	for (unsigned int i = 0; i < 3; i++) {
		top[i] = (struct zs_corner){ v[i].x, v[i].y, value[i] * rw[i] };
		bottom[i] = (struct zs_corner){ v[i].x, v[i].y, rw[i] };
	}
	return zs_ref_plane(top, x, y) / zs_ref_plane(bottom, x, y);
}
