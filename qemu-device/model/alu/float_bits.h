/* SPDX-License-Identifier: MIT */
/* A number and the word that says it. */
#ifndef TSR_FLOAT_BITS_H
#define TSR_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline float tsr_as_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline uint32_t tsr_as_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

#endif
