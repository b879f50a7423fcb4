/* SPDX-License-Identifier: MIT */
/* Moves, integers, bits, selections on the baseline path: SSE2, or any other architecture. */
#define TSR_ALU_SSE2
#include "alu_path.h"
#include "alu_int.h"
TSR_ALU_PATH_END
