/* SPDX-License-Identifier: MIT */
/* Textures on the AVX-512 path. */
#ifdef __x86_64__
#define TSR_ALU_AVX512
#include "shader/alu/alu_path.h"
#include "tex_path.h"
TSR_ALU_PATH_END
#endif
