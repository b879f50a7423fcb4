/* SPDX-License-Identifier: MIT */
/*
 * Frames out of random choices: targets, states, programs, textures, draws, and the lists that bin
 * and render them, as images of the memory of a machine that has them mapped where they belong:
 *
 *   DRAWS_DATA     read and write: queries, indices, vertices, textures, what programs store
 *   DRAWS_LIST     read and execute: lists, states, tables, code
 *   DRAWS_HEAP     read and write: the tiler's heap
 *   DRAWS_TARGETS  read and write: targets, then their tags
 *
 * Each part of a scene (frame, a target, a state, a draw, ...) has random numbers of its own,
 * seeded by the input and the part's name, so that leaving a part out changes no other.
 */
#ifndef FUZZ_DRAWS_H
#define FUZZ_DRAWS_H

#include "tsr_packets.h"
#include "tsr_regs.h"

#include "random.h"

/* Each piece ends with a 2 MiB page, so that a guard page can follow it (bench.h, "huge"). */
#define DRAWS_DATA 0x10180000ull
#define DRAWS_DATA_SIZE (512u << 10)
#define DRAWS_LIST 0x201c0000ull
#define DRAWS_LIST_SIZE (256u << 10)
#define DRAWS_HEAP 0x40100000ull
#define DRAWS_HEAP_SIZE (1u << 20)
#define DRAWS_TARGETS 0x60000000ull
#define DRAWS_TARGETS_SIZE (4u << 20)

/* The contents of DRAWS_DATA, by offset. */
#define DRAWS_QUERIES 0x0u		/* 64 bytes for each draw: samples, any, statistics */
#define DRAWS_INDICES 0x1000u
#define DRAWS_ARGUMENTS 0x3000u
#define DRAWS_VERTICES 0x4000u
#define DRAWS_VERTICES_SIZE 0x8000u
#define DRAWS_STORES 0x10000u		/* 128 by 64 words */
#define DRAWS_TEXELS 0x20000u
#define DRAWS_TEXELS_SIZE 0x60000u

/* And DRAWS_LIST. */
#define DRAWS_FRAME 0x0u
#define DRAWS_EXPAND_FRAME 0x900u	/* the same, with EXPAND where there are tags */
#define DRAWS_TARGET 0x100u		/* descriptors: colors, depth, stencil */
#define DRAWS_BIN 0x400u		/* the BIN command */
#define DRAWS_RENDER 0x440u
#define DRAWS_EXPAND 0x480u		/* RENDER that leaves no tags */
#define DRAWS_EXPAND_TARGET 0x600u
#define DRAWS_BIN_LIST 0x1000u
#define DRAWS_TILE_LIST 0x4000u
#define DRAWS_RENDER_LIST 0x5000u
#define DRAWS_EXPAND_TILE 0x6000u
#define DRAWS_EXPAND_LIST 0x6800u
#define DRAWS_STATES 0x8000u		/* 1 KiB for each, see draws.c */
#define DRAWS_PROGRAMS 0xa000u		/* 128 bytes each */
#define DRAWS_TABLES 0xb000u		/* 1 KiB for each program */
#define DRAWS_TEXTURES 0xf000u
#define DRAWS_SAMPLERS 0xf100u
#define DRAWS_SURFACES 0x10000u
#define DRAWS_CODE 0x20000u

#define DRAWS_STATES_MAX 5
#define DRAWS_PROGRAMS_MAX (3 * DRAWS_STATES_MAX + 1)
#define DRAWS_MAX 6			/* draws of a frame */

struct draws {
	/* The input. */
	uint64_t seed;
	const uint8_t *choices;		/* of the input: they decide before the seed */
	size_t choices_size;
	uint32_t left_out;		/* DRAWS_NO_… */
	unsigned int most;		/* draws */

	/* The images. */
	uint8_t list[DRAWS_LIST_SIZE] __attribute__((aligned(64)));
	uint8_t data[DRAWS_DATA_SIZE] __attribute__((aligned(64)));
	uint32_t target_bytes;		/* of DRAWS_TARGETS that count, tags not included */
	uint32_t tags;			/* where tags begin */

	struct tsr_frame frame;
	struct tsr_render_target target[TSR_RENDER_TARGETS_MAX + 2];
	bool tagged;			/* there are targets with tags */
	unsigned int draws, states;
};

/* Features that a scene does not use. */
enum {
	DRAWS_NO_TEXTURES = 1 << 0, DRAWS_NO_STORES = 1 << 1, DRAWS_NO_FLOW = 1 << 2,
	DRAWS_NO_TILE = 1 << 3, DRAWS_NO_DISCARD = 1 << 4, DRAWS_NO_DEPTH = 1 << 5,
	DRAWS_NO_ALU = 1 << 6, DRAWS_NO_VARYINGS = 1 << 7, DRAWS_NO_SAMPLES = 1 << 8,
	DRAWS_NO_TAGS = 1 << 9, DRAWS_NO_BLENDING = 1 << 10, DRAWS_NO_ZS = 1 << 11,
	DRAWS_NO_CLIPPING = 1 << 12, DRAWS_NO_LAYERS = 1 << 13, DRAWS_NO_LOADS = 1 << 14,
	DRAWS_NO_EXTENDED = 1 << 15,
};

/* Make the scene of d->seed, d->left_out and d->most. */
void draws_make(struct draws *d);
/* Random numbers of a part. */
struct fuzz_random draws_part(const struct draws *d, unsigned int part, unsigned int number);

#endif
