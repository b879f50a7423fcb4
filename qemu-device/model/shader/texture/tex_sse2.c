/* SPDX-License-Identifier: MIT */
/* Textures on the baseline path: SSE2, or any other architecture. */
#define TSR_ALU_SSE2
#include "shader/alu/alu_path.h"
#include "tex_path.h"
TSR_ALU_PATH_END
