/* SPDX-License-Identifier: MIT */
/* Work on blocks, on the AVX512 path. */
#ifdef __x86_64__
#define TSR_ALU_AVX512
#include "shader/alu/alu_path.h"
#include "fine.h"
#include "samples.h"
#include "shader/access.h"
#include "tsr_packets.h"
#include "fine_block.h"
#include "fine_small.h"
#include "fine_few.h"
TSR_ALU_PATH_END
#endif
