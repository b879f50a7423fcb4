/* SPDX-License-Identifier: MIT */
/*
 * What both ways of writing colours share: the sRGB curve by table, thresholds of dithering.
 */
#ifndef TSR_TILE_OUTPUT_PARTS_H
#define TSR_TILE_OUTPUT_PARTS_H

#include "output.h"

/* The linear values of 8-bit sRGB components; filled by tsr_output_srgb_init(). */
extern float tsr_output_srgb_decoded[256];
void tsr_output_srgb_init(void);

/* The 8-bit component nearest on the curve to @x, 0 ... 1: what tsr_format_store() stores. */
unsigned int tsr_output_srgb_encoded(float x);

/* What is added before a number is cut off, 0 ... 1, for the lanes of a warp. */
void tsr_output_thresholds(const struct tsr_output_warp *w, float threshold[TSR_WARP_LANES]);

#endif
