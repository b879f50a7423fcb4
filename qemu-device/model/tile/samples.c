/* SPDX-License-Identifier: MIT */
#include "samples.h"

const int8_t tsr_sample_position[5][16][2] = TSR_SAMPLE_POSITIONS;
