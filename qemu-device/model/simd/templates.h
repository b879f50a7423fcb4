/* SPDX-License-Identifier: MIT */
/*
 * All templates, compiled for the instruction set that the including file defines, and the table of
 * their functions. Only sse2.c, avx2.c and avx512.c include this header.
 *
 * The templates share one translation unit, so their file-scope names must differ. One file for
 * each template and instruction set (21 files) was the alternative; it needed a selector in each
 * unit.
 */
#ifndef TSR_SIMD_TEMPLATES_H
#define TSR_SIMD_TEMPLATES_H

#include "alu/alu_path.h"

#include "alu/alu_int.h"
#include "alu/alu_float.h"

#include "units/msg_vector.h"
#include "units/msg_add.h"
#include "units/msg_elements.h"
#include "units/msg_interpolate.h"
#include "units/msg_planes.h"

#include "texture/tex_path.h"
#include "units/pixels_vector.h"

#include "geometry/vertex_simd.h"
#include "geometry/vertex_simd_path.h"

#include "raster/fine.h"
#include "tsr_samples.h"
#include "shader/access.h"
#include "tsr_packets.h"
#include "raster/fine_block.h"
#include "raster/fine_small.h"
#include "raster/fine_few.h"

#include "render/output_lanes.h"

#include "simd.h"

const struct tsr_simd TSR_PATH_NAME(tsr_simd) = {
	.name = TSR_PATH_STRING,
	.integer = &alu_integer,
	.floating = &alu_floating,
	.messages = &msg_path,
	.texture = &texture_path,
	.vertices = &bin_lanes,
	.raster = &fine_path,
	.output = &output_path,
};
TSR_ALU_PATH_END

#endif
