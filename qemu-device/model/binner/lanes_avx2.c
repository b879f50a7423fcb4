/* SPDX-License-Identifier: MIT */
/* Vertices and primitives of a batch, on the AVX2 path. */
#ifdef __x86_64__
#define TSR_ALU_AVX2
#include "shader/alu/alu_path.h"
#include "lanes.h"
#include "lanes_vector.h"

const struct tsr_bin_lanes tsr_bin_lanes_avx2 = {
	.project = project, .outside = outside, .visible = visible,
};
TSR_ALU_PATH_END
#endif
