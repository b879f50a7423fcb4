/* SPDX-License-Identifier: MIT */
/* Vertices and primitives of a batch, on the SSE2 path. */
#define TSR_ALU_SSE2
#include "shader/alu/alu_path.h"
#include "lanes.h"
#include "lanes_vector.h"

const struct tsr_front_lanes tsr_front_sse2 = {
	.project = project, .outside = outside, .visible = visible,
};
TSR_ALU_PATH_END
