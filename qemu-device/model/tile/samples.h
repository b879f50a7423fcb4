/* SPDX-License-Identifier: MIT */
/* Where the samples of a pixel lie: the standard patterns, see 3d.md, "Samples". */
#ifndef TSR_TILE_SAMPLES_H
#define TSR_TILE_SAMPLES_H

#include <stdint.h>

/* By log2 of the samples: x and y in sixteenths of a pixel, from the pixel's corner. */
extern const int8_t tsr_sample_position[5][16][2];

#endif
