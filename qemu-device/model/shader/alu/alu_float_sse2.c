/* SPDX-License-Identifier: MIT */
/* Floating point on the baseline path: SSE2, or any other architecture. */
#define TSR_ALU_SSE2
#include "alu_path.h"
#include "alu_float.h"
TSR_ALU_PATH_END
