/* SPDX-License-Identifier: MIT */
/* Colors of 32-bit texels on the baseline path. */
#define TSR_ALU_SSE2
#include "shader/alu/alu_path.h"
#include "output_lanes.h"
TSR_ALU_PATH_END
