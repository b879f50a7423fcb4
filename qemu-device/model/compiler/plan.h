/* SPDX-License-Identifier: MIT */
/*
 * Fragment programs as plans: what a program does, run for blocks of 64 pixels.
 *
 * In: a state's program and what is preloaded for it. Out: places and steps that give each covered
 * pixel the colors the core gives it, without warps, messages and scoreboard. A *place* is an
 * address that threads branch to or part at. It has steps: clauses of arithmetic as one piece,
 * varyings, samples of textures, loads, loops (loop.h), colors. It has a mask of the threads that
 * wait there. The lowest place goes first, for its threads alone, so each warp executes its clauses
 * in the order of the ISA. Where all threads of the block are at one place, nothing is masked.
 *
 * Threads that are discarded continue as helpers do. Programs that write memory, branch to
 * registers, look at lanes of other quads or at their coverage have no plan, and the core runs
 * them. The core also runs blocks for which something has to be asked of the host or fails, and
 * those that would execute more than they may. No result of a block is visible before its first
 * color, so what was done is dropped. Belongs to a thread; TSR_PLANS of them, of as many states.
 *
 *   flow.c       clauses of a program, and where threads go
 *   plan.c       a program to places and steps
 *   plan_run.c   a block through the places
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
#define TSR_PLAN_STEPS 96
#define TSR_PLAN_PLACES 64
/* VARYING steps whose values a block keeps, as threads may come to them again. */
#define TSR_PLAN_KEPT 8

enum tsr_plan_kind {
	TSR_PLAN_STRAIGHT,		/* micro-operations of clauses */
	TSR_PLAN_LOOP,
	TSR_PLAN_VARYING,
	TSR_PLAN_VAR_TEX,
	TSR_PLAN_TEX,			/* the message of @clause */
	TSR_PLAN_MEMORY,		/* the same: a load, or a store to the thread's scratch */
	TSR_PLAN_DEPTH,			/* the same: depth, stencil */
	TSR_PLAN_COLOR,
};

/* Work of warps, and tuples of their threads. */
struct tsr_plan_work {
	uint64_t clauses, tuples, messages, threads;
};

struct tsr_plan_step {
	uint8_t kind;			/* enum tsr_plan_kind */
	uint8_t reg;			/* first staging register */
	uint8_t target;			/* COLOR; LOOP: where threads leave it */
	uint8_t words;			/* COLOR, VARYING: registers from @reg on */
	bool at_sample;			/* VARYING: interpolated at the block's sample */
	uint8_t kept;			/* VARYING: which of those kept; TSR_PLAN_KEPT: none */
	struct tsr_insn insn;		/* VARYING; VAR_TEX: tsr_var_tex_sample() of it */
	struct tsr_decoded *clause;	/* TEX, MEMORY, DEPTH */
	struct tsr_straight *straight;	/* STRAIGHT */
	struct tsr_loop *loop;		/* LOOP */
};

/* A place without a place to go to. */
#define TSR_PLAN_END (-1)

struct tsr_plan_place {
	uint8_t first, steps;		/* its steps */
	/* Places of the threads that do not branch, and of those that do; TSR_PLAN_END. */
	int16_t next, jump;
	bool branches;			/* its last STRAIGHT finds who branches */
	bool discards;			/* threads may become helpers */
	bool terminates;		/* helpers end in it */
	bool loops;			/* the place is a LOOP */
	bool reconverges;		/* threads that wait in the warp may be next */
	uint16_t clauses, tuples, messages;	/* of a warp */
	uint16_t late;			/* of the tuples: where helpers have ended */
};

struct tsr_plan {
	uint64_t state, program;	/* their serial numbers; 0: none */
	uint64_t space;			/* of the code */
	uint32_t forgotten;		/* of the clause cache: its clauses are there as long */
	bool fits;			/* there is one */
	bool samples;			/* of textures: lanes that are not there count */
	bool computes;			/* there are operands: of STRAIGHT, TEX, MEMORY, DEPTH */
	bool discards;			/* threads can be discarded */
	bool crosses;			/* threads of a quad look at each other */
	/* Threads may part. Colors, depth and stencil are collected until all have ended. */
	bool parts;
	uint8_t colors;			/* bit n: target n gets one */
	uint64_t written;		/* bit n: register n may be written */
	uint64_t entry;			/* registers of the entry state that are read */
	uint64_t zero;			/* registers that are read and may not have been written */
	uint32_t limit;			/* most clauses of a warp; 0: any number */
	uint8_t preloads;		/* the first steps, before any place */
	uint8_t steps, places;
	uint8_t start;			/* place of the first clause */
	struct tsr_plan_step step[TSR_PLAN_STEPS];
	struct tsr_plan_place place[TSR_PLAN_PLACES];
};

/*
 * Values of a block during a run. They belong to the thread: a queue that is suspended between two
 * runs would keep 32 KiB for nothing.
 */
struct tsr_block_values {
	/* of VARYING steps, in the order of registers */
	union tsr_lanes kept[TSR_PLAN_KEPT][4 * TSR_BUNDLE_WARPS];
	/* colors that plans with @parts collect */
	union tsr_lanes out[TSR_RENDER_TARGETS_MAX][4 * TSR_BUNDLE_WARPS];
};

/* A block of pixels of one primitive. What every block needs comes first, arrays last. */
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
	 * Set after a run: what it has prepared holds for the next block of the same primitive.
	 * False if anything else runs in between on the thread or with the bundle, or changes its
	 * table.
	 */
	bool again;
	bool has_w;			/* @w is known */
	bool has_depth, has_stencil;	/* set by the run: there are values of ZS_EMIT */
	bool chosen, whole;		/* @active has been set up; it is all of @live */
	uint8_t active_warps, active_threads;	/* how many @active are, for the counters */
	/* bit n: the thread's values.kept[n] are those of a VARYING */
	uint8_t keeps;
	/* Where varyings are interpolated, from the pixels' centres; w there, if @has_w. */
	float off[2];
	/* Set by the run: discarded pixels, a bit each. */
	uint64_t discarded;
	/*
	 * For the present run, a bit for each thread: those that have not ended, those that are no
	 * fragments (any more), those that must wait until their warp reconverges, and those that
	 * execute.
	 */
	uint64_t live, dead, held, active;
	uint16_t senders[TSR_QUAD_BLOCK_WARPS];	/* @active, by warp */
	struct tsr_plan_work work;
	/*
	 * COLOR: word n of warp w is at color[n * TSR_BUNDLE_WARPS + w]. @discarded, @depth and
	 * @stencil are final when it is called first.
	 */
	void (*color)(void *arg, unsigned int target, const union tsr_lanes *color);
	void *arg;
	uint32_t clauses[TSR_QUAD_BLOCK_WARPS];	/* of each warp, if there is a limit */
	/* For the present run: planes of VARYING steps, if @again; NULL if not found yet. */
	const struct tsr_planes *planes[TSR_PLAN_STEPS];
	/* With @parts, the threads that wait at each place. */
	uint64_t wait[TSR_PLAN_PLACES];
	/* With @parts, the threads that have a color of each target, depth, stencil. */
	uint64_t colored[TSR_RENDER_TARGETS_MAX], deep, stenciled;
	union tsr_lanes depth[TSR_QUAD_BLOCK_WARPS], stencil[TSR_QUAD_BLOCK_WARPS];
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
 * msg_varying.c: what LD_VAR_IMM, LD_VAR_FLAT_IMM or LD_VAR_SPECIAL @insn loads at @block->off,
 * to the registers at @reg; or the first two components of varying @index, as VAR_TEX interpolates
 * them, to at[0] and at[1]. Of *@planes, if they are known; else they are then, where they stay.
 * Returns false if the block has to be left to the core.
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
