/* SPDX-License-Identifier: MIT */
/* The AVX2 path, with FMA and F16C. */
#ifdef __x86_64__
#define TSR_ALU_AVX2
#include "templates.h"
#endif
