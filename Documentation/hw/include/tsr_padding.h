/* SPDX-License-Identifier: MIT */
/*
 * The padded number of vertices of an instance, see 3d.md, "Instances". Device, libraries and
 * drivers use this one definition.
 *
 * The number of a thread is vertex + P * instance. P is an odd number up to 9, shifted left, so
 * that dividing by it is cheap.
 */
#ifndef TSR_PADDING_H
#define TSR_PADDING_H

#include <stdint.h>

struct tsr_padding {
	uint64_t padded;		/* (2 * odd + 1) << shift; up to 2^32 */
	uint8_t odd, shift;		/* as PADDED_ODD and PADDED_SHIFT have them */
};

/*
 * The device's choice for @count vertices: the smallest multiple of four of the form
 * {1, 3, 5, 7, 9} * 2^n that is at least @count + 1.
 */
static inline struct tsr_padding tsr_padded_vertices(uint32_t count)
{
	struct tsr_padding best = { UINT64_MAX, 0, 0 };

	for (unsigned int odd = 0; odd <= 4; odd++) {
		struct tsr_padding p = { (uint64_t)(2 * odd + 1) << 2, (uint8_t)odd, 2 };

		while (p.padded < (uint64_t)count + 1) {
			p.padded <<= 1;
			p.shift++;
		}
		if (p.padded < best.padded)
			best = p;
	}
	return best;
}

#endif
