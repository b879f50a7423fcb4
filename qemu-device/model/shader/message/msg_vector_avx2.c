/* SPDX-License-Identifier: MIT */
/* Messages of bundles on the AVX2 path. */
#ifdef __x86_64__
#define TSR_ALU_AVX2
#include "shader/alu/alu_path.h"
#include "msg_vector.h"
#include "msg_add.h"
#include "msg_elements.h"
#include "msg_interpolate.h"
#include "msg_planes.h"

const struct tsr_msg_path tsr_msg_path_avx2 = {
	.name = "avx2", .load = load, .store = store, .add = add, .elements = elements,
	.enter = enter, .interpolate = interpolate, .centres = centres,
	.spot = spot, .quad_block = quad_block, .geometry = geometry, .planes = planes,
};
TSR_ALU_PATH_END
#endif
