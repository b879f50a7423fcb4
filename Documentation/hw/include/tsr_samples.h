/* SPDX-License-Identifier: MIT */
/*
 * Positions of the samples of a pixel: the standard patterns, see 3d.md, "Samples". Device,
 * libraries and drivers use this one table.
 */
#ifndef TSR_SAMPLES_H
#define TSR_SAMPLES_H

#include <stdint.h>

/*
 * Position of sample [n] with 1 << [log2] samples: [0] is x and [1] is y, in sixteenths of a pixel
 * from the pixel's upper left corner.
 */
static const int8_t tsr_sample_position[5][16][2] = {
	{ { 8, 8 } },
	{ { 12, 12 }, { 4, 4 } },
	{ { 6, 2 }, { 14, 6 }, { 2, 10 }, { 10, 14 } },
	{ { 9, 5 }, { 7, 11 }, { 13, 9 }, { 5, 3 }, { 3, 13 }, { 1, 7 }, { 11, 15 }, { 15, 1 } },
	{ { 9, 9 }, { 7, 5 }, { 5, 10 }, { 12, 7 }, { 3, 6 }, { 10, 13 }, { 13, 11 }, { 11, 3 },
	  { 6, 14 }, { 8, 1 }, { 4, 2 }, { 2, 12 }, { 0, 8 }, { 15, 4 }, { 14, 15 }, { 1, 0 } },
};

#endif
