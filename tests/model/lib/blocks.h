/* SPDX-License-Identifier: MIT */
/*
 * Blocks of a fragment program, run by its plan and by the core: what both make of random
 * primitives, and what they count, has to be the same.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "compiler/plan.h"
#include "pipe.h"
#include "shader/core.h"

#define TARGETS 3
#define BLOCK 64			/* pixels */

#define CLAUSE(text) "clause wait=0,6 {\n" text "}\n"
#define MESSAGE(insn) CLAUSE("*NOP\n+" insn "\n")
#define LOAD(count, index, to) \
	MESSAGE("LD_VAR_IMM.f32.store.center" count " zero.w0, index:" index ", @" to)
#define ATEST "clause wait=0 td {\n*NOP\n+ATEST r60:t1, r60, zero.w0, @r60\n}\n"
#define BLEND(flow, target, from) \
	"clause " flow "wait=0 {\n*NOP\n" \
	"+BLEND r48:t1, r60, blend" target ".w0, blend" target ".w1, @" from "\n}\n"
#define DISCARD(condition) \
	"clause wait=0,6 {\n*NOP\n+DISCARD.f32." condition "\n}\n"
#define MOVE4(a, b, c, d) \
	CLAUSE("*MOV.i32 r0, " a "\n+NOP\n*MOV.i32 r1, " b "\n+NOP\n" \
	       "*MOV.i32 r2, " c "\n+NOP\n*MOV.i32 r3, " d "\n+NOP\n*NOP\n+NOP\n")

/* The number of the lane, without its lowest bit, as derivatives along y begin. */
#define ROW(to) \
	CLAUSE("*NOP\n+MOV.i32 t1, 0x2\n*LSHIFT_AND.i32 " to ":t0, lane_id.w0, t1, #0.b0\n+NOP\n" \
	       "*NOP\n+NOP\n")

/* R8 and R9: an address, another one in other columns. */
#define WHERE \
	CLAUSE("*LSHIFT_AND.i32 t0, r59, 0x70, 0x4.b0\n+NOP\n" \
	       "*MOV.i32 r9:t0, #0\n+IADD.s32 r8:t1, t0, 0x10010000\n*NOP\n+NOP\n")

#define FOUR(text) text text text text
#define MORE LOAD("", "1", "r4")
/* Fate of a program. */
enum fate {
	CORE,				/* no plan */
	PLAN,				/* a plan that runs */
	LEFT,				/* a plan that does not run */
	EITHER,				/* a plan that may run */
};

/* How it is drawn. */
enum {
	TEXTURE = 1,
	PRELOAD = 2,			/* VAR_TEX and LD_VAR before the first clause */
	MANY = 4,			/* three targets */
	SAMPLES = 8,			/* four of them */
	LINEAR = 16,			/* varying 2 */
	POINTS = 32,			/* points and lines */
	FLAT = 64,			/* varying 0 */
	ALONE = 128,			/* without helpers */
	INTEGERS = 256, HALVES = 512,	/* colors */
	LIMIT = 1024,			/* of three clauses */
	FAR = 2048,			/* LD_VAR twice before the first clause, of 32 and 2 */
	WHOLE = 4096,			/* all quads of a block */
	PART = 8192,			/* not all of them */
	PARTS = 16384,			/* threads may go different ways */
	DISCARDS = 32768,
	SHADING = 65536,		/* each of four samples by itself */
};
/* R8: a number up to 65536, other ones in other pixels; R0 to R3: anything. */
#define COUNT \
	LOAD(".v4", "0", "r0") \
	CLAUSE("*IMUL.i32 r8:t0, r59, r59\n+NOP\n*NOP\n+U16_TO_F32 r8:t1, t0.h0\n*NOP\n+NOP\n")
/* It becomes half, and R0 something else; and branches. */
#define HALF(to, more) \
	"clause flow=nbtb_unconditional wait=0 {\n" \
	"*FMA.f32 r8:t0, r8, 0x3f000000, #0.neg\n+NOP\n" \
	"*FMA.f32 r0:t0, r0, r1, t0\n+NOP\n" more \
	"*FCMP.f32.lt.m1 t0, 0x3f800000, r8\n+BRANCHZ.i16.ne t.h0, " to "\n}\n"
#define LEAVE(to) \
	"clause flow=nbtb_unconditional wait=0 {\n*FADD.f32 r1:t0, r1, r8\n+JUMP " to "\n}\n"

#define BREAKS(first, second) \
	COUNT CLAUSE("*MOV.i32 r4:t0, #0\n+NOP\n*NOP\n+NOP\n") "again:\n" \
	HALF("stays", "*FADD.f32 r3:t0, r3, r8\n+NOP\n") LEAVE(first) \
	"stays:\nclause flow=nbtb_unconditional wait=0 {\n*NOP\n+IADD.s32 r4:t1, r4, 0x1\n" \
	"*NOP\n+ICMP.s32.ge.m1 t1, t1, 0xb\n*NOP\n+BRANCHZ.i16.eq t1.h0, goes\n}\n" \
	LEAVE(second) "goes:\nclause flow=nbtb_unconditional wait=0 {\n*NOP\n+JUMP again\n}\n"
struct row {
	const char *text;
	enum fate fate;
	unsigned int how;
};
struct drawn {
	struct tsr_prim prim;
	float at[3][4][4];		/* varyings, by vertex */
	int x, y;			/* of the block */
	uint64_t covered;		/* its pixels, in the order of its quads */
	uint64_t lanes;			/* of its threads */
	unsigned int quads;
	unsigned int sample;		/* SHADING */
};

/* Results of the block's pixels. */
struct result {
	uint32_t word[TARGETS][4][BLOCK];
	uint8_t colored;		/* bit n: target n */
	uint64_t kept;			/* pixels that have not been discarded */
	uint64_t deep, stenciled;	/* that have written depth, stencil: */
	uint32_t depth[BLOCK], stencil[BLOCK];
	struct tsr_shader_stats stats;
};

/* Where blocks are run. */
struct blocks {
	struct pipe *pipe;		/* the caller's, from blocks_open() */
	struct tsr_quad_block block;
};

extern struct blocks blocks;

/* A pipe for programs, with varyings and attributes, in @config. */
void blocks_open(const struct tsr_config *config);
void blocks_close(void);

/* The program and the state of @row; in the slot of the pipe's state, for blocks_row(). */
const struct tsr_program *blocks_program(const struct row *row);
/* A random texture for the program. */
void blocks_texture(void);
/* A random primitive, and a block of it. */
void blocks_make(const struct row *row, struct drawn *d);
void blocks_put(const struct drawn *d);
/* Run the block by @plan; false: it is the core's. */
bool blocks_run(const struct drawn *d, const struct tsr_plan *plan, struct result *out);
/* Run two blocks of a primitive by plan and by the core. False: something differs. */
bool blocks_row(const struct row *row);
/* All of @rows, those with a plan @times; a row that differs is printed. */
void blocks_rows(const struct row *rows, unsigned int count, unsigned int times);

#endif
