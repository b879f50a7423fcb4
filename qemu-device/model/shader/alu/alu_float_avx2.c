/* SPDX-License-Identifier: MIT */
/* Floating point on the AVX2 path. */
#ifdef __x86_64__
#define TSR_ALU_AVX2
#include "alu_path.h"
#include "alu_float.h"
TSR_ALU_PATH_END
#endif
