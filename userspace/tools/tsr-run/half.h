/* SPDX-License-Identifier: MIT */
/* Half-precision floats, for files and reports; arithmetic is the model's. */
#ifndef TSR_RUN_HALF_H
#define TSR_RUN_HALF_H

#include <math.h>
#include <stdint.h>

static inline double half_to_double(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	double fraction = bits & 0x3ff, value;

	if (exponent == 31)
		value = fraction ? (double)NAN : (double)INFINITY;
	else if (exponent)
		value = ldexp(fraction + 1024, exponent - 25);
	else
		value = ldexp(fraction, -24);
	return bits & 0x8000 ? -value : value;
}

/* The nearest half, ties to even. */
static inline uint16_t half_from_double(double value)
{
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	int exponent;
	double steps;

	if (isnan(value))
		return sign | 0x7e00;
	value = fabs(value);
	if (value >= 65520)
		return sign | 0x7c00;
	if (value == 0)
		return sign;
	frexp(value, &exponent);	/* value < 2^exponent */
	if (exponent < -13)
		exponent = -13;
	steps = nearbyint(ldexp(value, 11 - exponent));
	/* a carry out of the fraction goes into the exponent, as it should */
	return (uint16_t)(sign + (uint16_t)steps + (exponent + 13) * 1024);
}

#endif
