/* SPDX-License-Identifier: MIT */
/* Colors of 32-bit texels on the AVX512 path. */
#ifdef __x86_64__
#define TSR_ALU_AVX512
#include "shader/alu/alu_path.h"
#include "output_lanes.h"
TSR_ALU_PATH_END
#endif
