/* SPDX-License-Identifier: MIT */
/* The AVX-512 path: F, CD, DQ, BW and VL, with FMA and F16C. */
#ifdef __x86_64__
#define TSR_ALU_AVX512
#include "templates.h"
#endif
