/* SPDX-License-Identifier: MIT */
/*
 * Fragment programs as plans: what a straight program does, run for blocks of 64 pixels.
 *
 * In: a state's program and what is preloaded for it. Out: a list of steps - varyings, clauses of
 * arithmetic as one piece, loops (loop.h), samples of textures, colors - that gives each covered
 * pixel the colors the core gives it; without warps, messages and scoreboard, because no thread can
 * wait, part or end before the others but in loops, after which all are together again. Programs
 * that branch elsewhere, discard, write depth or memory, look at other lanes or at their coverage
 * have no plan, and the core runs them; so it does with blocks for which something has to be asked
 * of the host or goes wrong, that would execute more than they may, or whose loops take longer than
 * a thread may be away: nothing of them can be seen before their first color, so what has been done
 * is dropped. Belongs to a thread; TSR_PLANS of them, of as many states.
 */
#ifndef TSR_SHADER_PLAN_H
#define TSR_SHADER_PLAN_H

#include "loop.h"
#include "shader/lanes.h"
#include "shader/message/message.h"

struct tsr_decoded;
struct tsr_straight;
struct tsr_fragments;
struct tsr_planes;
struct tsr_shader;

#define TSR_PLANS 64
#define TSR_PLAN_STEPS 32
#define TSR_PLAN_CLAUSES 128
/* A block of pixels is so many warps, each a row of four quads: the order of a tile's blocks. */
#define TSR_QUAD_BLOCK_WARPS 4

enum tsr_plan_kind {
	TSR_PLAN_STRAIGHT,		/* micro-operations of clauses */
	TSR_PLAN_LOOP,
	TSR_PLAN_VARYING,
	TSR_PLAN_VAR_TEX,
	TSR_PLAN_TEX,			/* the message of @clause */
	TSR_PLAN_COLOR,
};

struct tsr_plan_step {
	uint8_t kind;			/* enum tsr_plan_kind */
	uint8_t reg;			/* first staging register */
	uint8_t target;			/* COLOR; LOOP: where threads leave it */
	uint8_t first, clauses;		/* STRAIGHT: its place among the plan's clauses */
	uint64_t reads;			/* registers, a bit each; not of STRAIGHT */
	struct tsr_insn insn;		/* VARYING; VAR_TEX: tsr_var_tex_sample() of it */
	struct tsr_decoded *clause;	/* TEX */
	struct tsr_straight *straight;	/* STRAIGHT */
	struct tsr_loop *loop;		/* LOOP */
};

struct tsr_plan {
	uint64_t state, program;	/* their serial numbers; 0: none */
	uint64_t space;			/* of the code */
	uint32_t forgotten;		/* of the clause cache: its clauses are there as long */
	bool fits;			/* there is one */
	bool samples;			/* of textures: lanes that are not there count */
	bool loops;			/* only blocks with all quads are run */
	bool computes;			/* there are operands: those of STRAIGHT and TEX */
	uint8_t colors;		/* bit n: target n gets one */
	uint64_t written;		/* bit n: register n may be written */
	uint64_t entry;			/* registers of the entry state that are read */
	/* what a warp executes, without loops */
	uint16_t clauses, tuples, messages;
	uint16_t late;			/* of the tuples: where helpers have ended */
	uint32_t limit;			/* most clauses with those of loops; 0: any number */
	uint8_t steps;
	struct tsr_plan_step step[TSR_PLAN_STEPS];
};

/* A block of pixels of one primitive. */
struct tsr_quad_block {
	int32_t x, y;			/* in the frame, of its first pixel */
	unsigned int prim;		/* in the bundle's table */
	uint16_t lanes[TSR_QUAD_BLOCK_WARPS];	/* threads there are, helpers among them */
	/* what would execute in a core: warps, these threads, those of them that are no helpers */
	unsigned int warps, threads, pixels;
	/* COLOR: word n of warp w is at color[n * TSR_BUNDLE_WARPS + w] */
	void (*color)(void *arg, unsigned int target, const union tsr_lanes *color);
	void *arg;
	/*
	 * Set after a run: what it has prepared holds for the next block of the same primitive.
	 * False if anything else runs in between on the thread or with the bundle, or changes its
	 * table.
	 */
	bool again;
	/* Of the run: of VARYING steps, if @again; NULL: to be found. */
	const struct tsr_planes *planes[TSR_PLAN_STEPS];
	/* w at the pixels' centres, if @has_w. */
	bool has_w;
	/* in loops, and of that the clauses of each warp */
	struct tsr_loop_work work;
	uint32_t clauses[TSR_QUAD_BLOCK_WARPS];
	float w[TSR_QUAD_BLOCK_WARPS * TSR_WARP_LANES] __attribute__((aligned(64)));
};

/* The plan of the state and program of @f; NULL: there is none, or it cannot be known now. */
const struct tsr_plan *tsr_plan_find(struct tsr_shader *sh, struct tsr_fragments *f);
/*
 * Run it. False: nothing has been done that can be seen. Of bundles nothing is changed but
 * registers, which are 0 when one is started whoever wrote them. Counts what the warps and threads
 * of @block execute.
 */
bool tsr_plan_run(struct tsr_shader *sh, struct tsr_fragments *f, const struct tsr_plan *plan,
		  struct tsr_quad_block *block);

/*
 * msg_varying.c: what LD_VAR_IMM or LD_VAR_FLAT_IMM @insn loads, to the registers at @reg; or the
 * first two components of varying @index, as VAR_TEX interpolates them, to at[0] and at[1]. Of
 * *@planes, if they are known; else they are then, where they stay. False: they are not so simply
 * had.
 */
bool tsr_varying_block(struct tsr_msg_env *env, struct tsr_quad_block *block,
		       const struct tsr_insn *insn, unsigned int staging, union tsr_lanes *reg,
		       const struct tsr_planes **planes);
bool tsr_varying_block_pair(struct tsr_msg_env *env, struct tsr_quad_block *block, uint32_t index,
			    union tsr_lanes at[2][TSR_QUAD_BLOCK_WARPS],
			    const struct tsr_planes **planes);
/* Whether @insn interpolates at the centres of pixels in a state without SAMPLE_SHADING. */
bool tsr_varying_at_centre(const struct tsr_insn *insn, unsigned int samples_log2);

#endif
