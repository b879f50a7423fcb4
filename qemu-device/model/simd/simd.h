/* SPDX-License-Identifier: MIT */
/*
 * The SIMD paths: the functions of the engines that exist once for each instruction set.
 *
 * A path is one table of pointers, struct tsr_simd. Each unit declares its own part of it beside
 * its other functions and implements it as a template, a header that is written with the types of
 * alu_path.h. sse2.c, avx2.c and avx512.c compile all templates for one instruction set each. All
 * paths return the same bits.
 *
 * This header includes no other. The parts are pointers to structures that are only declared here,
 * so a unit that uses its part does not see the headers of the other units. Functions are called
 * once for many pixels, vertices or texels, and callers keep the pointer to their part, so the
 * second pointer costs nothing in a loop.
 */
#ifndef TSR_SIMD_SIMD_H
#define TSR_SIMD_SIMD_H

#include <stdbool.h>

struct tsr_alu_set;
struct tsr_bin_lanes;
struct tsr_fine;
struct tsr_msg_path;
struct tsr_output_path;
struct tsr_texture_path;

struct tsr_simd {
	const char *name;			/* "sse2", "avx2" or "avx512" */
	const struct tsr_alu_set *integer;	/* arithmetic, see alu_set.h */
	const struct tsr_alu_set *floating;
	const struct tsr_msg_path *messages;	/* messages of warp groups, see msg_bundle.h */
	const struct tsr_texture_path *texture;	/* texture samples, see sampler.h */
	const struct tsr_bin_lanes *vertices;	/* vertices and primitives, see vertex_simd.h */
	const struct tsr_fine *raster;		/* coverage and depth, see fine.h */
	const struct tsr_output_path *output;	/* colors, see output.h */
};

/* The baseline: SSE2 on x86-64, 16-byte vectors of any other architecture. */
extern const struct tsr_simd tsr_simd_sse2;
#ifdef __x86_64__
extern const struct tsr_simd tsr_simd_avx2, tsr_simd_avx512;
#endif

/* Returns the fastest path that this processor can run. */
const struct tsr_simd *tsr_simd_best(void);
/* Returns the path called @name. NULL if no path has that name or this processor cannot run it. */
const struct tsr_simd *tsr_simd_named(const char *name);

#endif
