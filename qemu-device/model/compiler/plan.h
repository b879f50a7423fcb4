/* SPDX-License-Identifier: MIT */
/*
 * Fragment programs as plans: what a straight program does, run for blocks of 64 pixels.
 *
 * In: a state's program and what is preloaded for it. Out: a list of steps - varyings, clauses of
 * arithmetic as one piece, loops (loop.h), samples of textures, colors - that gives each covered
 * pixel the colors the core gives it; without warps, messages and scoreboard, because no thread can
 * wait or part but in loops, after which all are together again. Threads that are discarded go on
 * as helpers do. Programs that branch elsewhere, write memory, look at lanes of other quads or at
 * their coverage have no plan, and the core runs them; so it does with blocks for which something
 * has to be asked of the host or goes wrong, that would execute more than they may, or whose loops
 * take longer than a thread may be away: nothing of them can be seen before their first color, so
 * what has been done is dropped. Belongs to a thread; TSR_PLANS of them, of as many states.
 */
#ifndef TSR_SHADER_PLAN_H
#define TSR_SHADER_PLAN_H

#include "loop.h"
#include "shader/lanes.h"
#include "units/message.h"

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
	TSR_PLAN_DEPTH,			/* the same: depth, stencil */
	TSR_PLAN_COLOR,
};

/* Work that a warp has done. */
struct tsr_plan_work {
	uint16_t clauses, tuples, messages;
};

struct tsr_plan_step {
	uint8_t kind;			/* enum tsr_plan_kind */
	uint8_t reg;			/* first staging register */
	uint8_t target;			/* COLOR; LOOP: where threads leave it */
	uint8_t first, clauses;		/* STRAIGHT: its place among the plan's clauses */
	bool discards;			/* STRAIGHT: its last clause */
	bool at_sample;			/* VARYING: interpolated at the block's sample */
	struct tsr_plan_work left;	/* work of a warp that ends there */
	uint64_t reads;			/* registers, a bit each; not of STRAIGHT */
	struct tsr_insn insn;		/* VARYING; VAR_TEX: tsr_var_tex_sample() of it */
	struct tsr_decoded *clause;	/* TEX, DEPTH */
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
	bool computes;			/* there are operands: of STRAIGHT, TEX, DEPTH */
	bool discards;			/* threads can be discarded */
	bool crosses;			/* threads of a quad look at each other */
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
	unsigned int sample;		/* with SAMPLE_SHADING, the one that is shaded */
	uint16_t lanes[TSR_QUAD_BLOCK_WARPS];	/* threads there are, helpers among them */
	/* lanes that are fragments, not helpers, when they begin */
	uint16_t covered[TSR_QUAD_BLOCK_WARPS];
	/* what would execute in a core: warps, these threads, those of them that are no helpers */
	unsigned int warps, threads, pixels;
	/*
	 * COLOR: word n of warp w is at color[n * TSR_BUNDLE_WARPS + w]. @discarded, @depth and
	 * @stencil are final when it is called first.
	 */
	void (*color)(void *arg, unsigned int target, const union tsr_lanes *color);
	void *arg;
	/*
	 * Set after a run: what it has prepared holds for the next block of the same primitive.
	 * False if anything else runs in between on the thread or with the bundle, or changes its
	 * table.
	 */
	bool again;
	/* For the present run: planes of VARYING steps, if @again; NULL if not found yet. */
	const struct tsr_planes *planes[TSR_PLAN_STEPS];
	/* Where varyings are interpolated, from the pixels' centres; w there, if @has_w. */
	float off[2];
	bool has_w;
	/* Set by the run: discarded pixels, a bit each; depth and stencil of ZS_EMIT, if any. */
	uint64_t discarded;
	bool has_depth, has_stencil;
	union tsr_lanes depth[TSR_QUAD_BLOCK_WARPS], stencil[TSR_QUAD_BLOCK_WARPS];
	/* plans that discard: threads that are no fragments (any more); where a warp has ended */
	uint64_t dead;
	const struct tsr_plan_step *ended[TSR_QUAD_BLOCK_WARPS];
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
 * msg_varying.c: what LD_VAR_IMM or LD_VAR_FLAT_IMM @insn loads at @block->off, to the registers
 * at @reg; or the first two components of varying @index, as VAR_TEX interpolates them, to at[0]
 * and at[1]. Of *@planes, if they are known; else they are then, where they stay. Returns false if
 * the block has to be left to the core.
 */
bool tsr_varying_block(struct tsr_msg_env *env, struct tsr_quad_block *block,
		       const struct tsr_insn *insn, unsigned int staging, union tsr_lanes *reg,
		       const struct tsr_planes **planes);
bool tsr_varying_block_pair(struct tsr_msg_env *env, struct tsr_quad_block *block, uint32_t index,
			    union tsr_lanes at[2][TSR_QUAD_BLOCK_WARPS],
			    const struct tsr_planes **planes);
/* True if @insn interpolates at the centres of pixels in a state without SAMPLE_SHADING. */
bool tsr_varying_at_centre(const struct tsr_insn *insn, unsigned int samples_log2);

#endif
