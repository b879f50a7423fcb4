/* SPDX-License-Identifier: MIT */
/*
 * Running a shader core.
 *
 * In: a core of a grid with its groups, and the thread that runs it. Out: clauses executed, groups
 * completed, a fault. A burst is bounded (TSR_SHADER_BURST); between two bursts, which is between
 * two clauses, everything is in the grid. What a thread needs besides is in its struct tsr_shader,
 * where nothing lasts but caches.
 *
 *   thread.c      what a thread has, faults
 *   core.c        bursts, choice of bundle, chains of clauses
 *   choose.c      choice of warps
 *   scoreboard.c  messages: sending, storing, waiting
 *   warp.c        control flow inside a warp
 *   diverge.c     threads that part from the others of their bundle
 *   native.c      generated code, loop.c whole loops of it
 *   watch.c       the debugger's hook
 *   plan.c        fragment programs for blocks of pixels, without all that
 */
#ifndef TSR_SHADER_CORE_H
#define TSR_SHADER_CORE_H

#include "access.h"
#include "env.h"
#include "alu/alu.h"
#include "branch.h"
#include "code.h"
#include "debug.h"
#include "usage.h"
#include "grid.h"
#include "units/message.h"
#include "units/msg_attribute.h"
#include "compiler/plan.h"
#include "texture/tex_cache.h"

/*
 * Tuples (of a bundle) after which a burst ends, and what a message counts there. It ends after
 * the present clause on a stop request.
 */
#define TSR_SHADER_BURST 32768
#define TSR_SHADER_MESSAGE_EFFORT 32

/* Work done, for counters and the cost model. */
struct tsr_shader_stats {
	uint64_t cycles, groups, clauses, threads, messages, yields;	/* see counters.md */
	uint64_t vertices, fragments, helpers;	/* invocations of stages */
	uint64_t read_bytes, write_bytes;	/* of messages */
	struct tsr_texture_stats texture;
};

/* All ones in some of eight lanes. */
struct tsr_mask_half {
	uint32_t u[8];
} __attribute__((aligned(32), may_alias));

/* The shader's part of a thread that runs queues. */
struct tsr_shader {
	struct tsr_lane_state lanes;
	union tsr_lanes temp[TSR_TEMPS * TSR_BUNDLE_WARPS];
	union tsr_lanes push[TSR_PUSH_WORDS_MAX];	/* push constants @bound, see stage.c */
	uint64_t bound;			/* serial number of a program or a struct tsr_push */
	struct tsr_usage usage[TSR_USAGES];	/* of stages' programs */
	struct tsr_plan plan[TSR_PLANS];	/* of fragment states */
	struct tsr_block_values values;		/* of the block that is being shaded */
	/* what the vectors of FAU specials of fragments say */
	uint64_t special[2 + TSR_RENDER_TARGETS_MAX];
	uint32_t push_words;		/* words of the bound program; the rest is 0 */
	uint32_t mixed_words;		/* of bundles whose warps have their own */
	union tsr_lanes staged[TSR_REGISTERS * TSR_BUNDLE_WARPS];	/* see scoreboard.c */
	struct tsr_mask_half mask_of[256];	/* what eight bits say */
	struct tsr_code code;
	struct tsr_access_cache access;
	struct tsr_texture_cache textures;
	struct tsr_attribute_views views;
	struct tsr_alu_saved fp;
	uint32_t mode_key;		/* the ALU's mode */

	/* The present work quantum. */
	struct tsr_mem mem;
	struct tsr_msg_env env;
	struct tsr_grid *grid;		/* of a dispatch; NULL: a stage of the 3D pipeline runs */
	struct tsr_core *core;
	uint32_t core_index;		/* the device's core that runs stages */
	/* of shared memory and scratch, see tsr_shader_place() */
	uint32_t group_stride, slots;
	uint64_t generation;		/* of the address space's code */
	uint64_t space;			/* code space */
	int32_t effort;			/* tuples left */
	unsigned int chunk_lanes;	/* of a vector of generated code */
	bool loops;			/* whole loops are looked for, see compiler/loop.h */
	struct tsr_shader_stats stats;
	struct tsr_fault_info fault;

	/* The warp group that runs. */
	struct tsr_bundle *bundle;
	unsigned int bundle_index;
	uint16_t mask_bits[TSR_BUNDLE_WARPS];	/* what lanes.alu.mask says */
	struct tsr_msg_place place[TSR_BUNDLE_WARPS];	/* of the warps chosen */
	/* of fragments, for a message: the warps that have threads who send it, and these */
	uint8_t sending[TSR_BUNDLE_WARPS];
	uint16_t senders[TSR_BUNDLE_WARPS];
	uint8_t number[TSR_BUNDLE_WARPS];	/* what TSR_TEMP_WARP_ID says */
	uint64_t here;			/* the clause of the warps chosen */
	uint32_t lanes_chosen;		/* their active lanes */
	uint16_t after;			/* TSR_CLAUSE_ flags to be looked at after a clause */
	/* lowest address at which other threads of the bundle wait; no choice is due below it */
	uint64_t meet;
	uint8_t passed_over;		/* bit w: warp w could go on, but others go first */
};

/*
 * The shader's part of a thread, for SIMD path @simd; without one, texels are sampled one by one.
 * Returned: NULL without memory.
 */
struct tsr_shader *tsr_shader_new(const struct tsr_simd *simd);
void tsr_shader_free(struct tsr_shader *shader);

/* tsr_job.burst of grids. */
enum tsr_burst tsr_core_burst(struct tsr_shader *shader, const struct tsr_mem *mem,
			      struct tsr_work *work, struct tsr_job_core *core, bool again);

/* For the files of the core. */

/*
 * @sh of the calling thread works with @mem as its view of memory, as core number @core, until
 * tsr_shader_leave(). What it runs is to be set: grid or stage, core, env.state, code space.
 */
void tsr_shader_enter(struct tsr_shader *sh, const struct tsr_mem *mem, unsigned int core);
void tsr_shader_leave(struct tsr_shader *sh);
/*
 * The current bundle of sh->core runs until it stops or its time is over; its bit in
 * core->ready or core->waiting says which. False: a fault.
 */
bool tsr_shader_run_bundle(struct tsr_shader *sh);

static inline unsigned int tsr_shader_slot(const struct tsr_shader *sh, unsigned int w)
{
	return sh->bundle_index * TSR_BUNDLE_WARPS + w;
}

/* GPU address of the scratch of lane 0 of warp @w of the bundle. */
static inline uint64_t tsr_shader_scratch(const struct tsr_shader *sh, unsigned int w)
{
	uint64_t slot = (uint64_t)sh->core->job.index * sh->slots + tsr_shader_slot(sh, w);

	return sh->env.state->scratch + slot * TSR_WARP_LANES * sh->env.state->scratch_size;
}

/* Where the shared memory and scratch of warp @w of the bundle are. */
static inline struct tsr_msg_place tsr_shader_place(const struct tsr_shader *sh, unsigned int w)
{
	return (struct tsr_msg_place){
		.group_memory = sh->core->group_memory +
				(size_t)sh->bundle->warp[w].group * sh->group_stride,
		.scratch = tsr_shader_scratch(sh, w),
	};
}

/*
 * A program is at fault: of warp @w of the bundle, in @lane, at @clause. What is wrong is in
 * sh->mem.fault.
 */
void tsr_shader_fault(struct tsr_shader *sh, unsigned int w, unsigned int lane, uint64_t clause,
		      unsigned int tuple, bool add);

/*
 * scoreboard.c. The warps chosen send the message of @clause for their active lanes, one after the
 * other. TSR_STEP_DONE: all are complete; _PENDING: some are stored; _FAULT.
 */
enum tsr_step tsr_message_send(struct tsr_shader *sh, const struct tsr_decoded *clause);
/* Execute stored messages that warp @w waits for: _DONE when none is left. */
enum tsr_step tsr_message_settle(struct tsr_shader *sh, unsigned int w);
/* After a clause with a staging barrier: stored messages read their staging registers. */
void tsr_message_capture(struct tsr_shader *sh, unsigned int w);
/* Staging registers that a stored message of @insn keeps: what it reads, or writes a part of. */
unsigned int tsr_stored_staging(const struct tsr_insn *insn);
/* True if @warp waits for a stored message that returns texels. */
bool tsr_message_texels(const struct tsr_warp *warp);
/* Slots of @wait on which warp has stored messages. */
uint8_t tsr_message_awaited(const struct tsr_warp *warp, uint8_t wait);

/* choose.c. What the bundle can do next. */
enum tsr_choice {
	TSR_CHOICE_RUN,			/* the warps in lanes.alu execute the clause at sh->here */
	TSR_CHOICE_NONE,		/* no warp of the bundle can go on */
	TSR_CHOICE_HOST,		/* none can before the host answers */
	TSR_CHOICE_YIELD,		/* all wait, and other bundles go first */
	TSR_CHOICE_FAULT,
};

/*
 * Settle the warps of the bundle that wait or have ended, and choose among those that can go on.
 * New groups may start in the places of warps that have ended.
 */
enum tsr_choice tsr_warps_choose(struct tsr_shader *sh);

/* The active lanes of warp @w are @lanes. */
static inline void tsr_shader_mask(struct tsr_shader *sh, unsigned int w, uint16_t lanes)
{
	struct tsr_mask_half *half = (struct tsr_mask_half *)&sh->lanes.alu.mask[w];

	if (sh->mask_bits[w] == lanes)
		return;
	sh->mask_bits[w] = lanes;
	half[0] = sh->mask_of[lanes & 0xff];
	half[1] = sh->mask_of[lanes >> 8];
}

/*
 * diverge.c. After @clause some lanes of the chosen warps branch and some do not, as lanes.branch
 * says. tsr_shader_may_diverge(): whether it is as simple as in loops, where no other lanes wait at
 * either address: those at the lower one can go on at once. tsr_shader_diverge(): then they are the
 * ones chosen, and the others wait.
 */
bool tsr_shader_may_diverge(const struct tsr_shader *sh, const struct tsr_decoded *clause);
void tsr_shader_diverge(struct tsr_shader *sh, const struct tsr_decoded *clause);

/* Progress of a chain of clauses. */
struct tsr_progress {
	uint32_t clauses, tuples;	/* executed */
	uint32_t clauses_left;		/* from its beginning */
};

static inline int32_t tsr_progress_left(const struct tsr_shader *sh, const struct tsr_progress *p)
{
	int32_t most = sh->effort < sh->core->quantum ? sh->effort : sh->core->quantum;

	return most - (int32_t)p->tuples;
}

/*
 * native.c. Generated code has to work on warp @w with @active lanes too: of vectors of 8 lanes, a
 * warp has two.
 */
static inline void tsr_native_add(struct tsr_shader *sh, unsigned int w, uint16_t active)
{
	struct tsr_native *native = &sh->lanes.native;
	unsigned int lanes = sh->chunk_lanes, all = (1u << lanes) - 1;

	if (lanes == TSR_WARP_LANES) {
		native->chunk[native->chunks++] = (struct tsr_chunk){
			.offset = (uint16_t)(w * sizeof(union tsr_lanes)),
			.idle = (uint16_t)~active, .active = active, .taken = (uint16_t)(w * 2),
		};
		return;
	}
	for (unsigned int first = 0; first < TSR_WARP_LANES; first += lanes) {
		unsigned int some = active >> first & all;

		native->chunk[native->chunks] = (struct tsr_chunk){
			.offset = (uint16_t)(w * sizeof(union tsr_lanes) + first * 4),
			.idle = (uint16_t)(~some & all),
			.active = (uint16_t)some,
			.taken = (uint16_t)(w * 2 + first / 8),
		};
		native->chunks += some != 0;
	}
}

/*
 * Execute clauses from the one with @code on as generated code does it; the last of them, whose
 * branch has *@outcome.
 */
struct tsr_decoded *tsr_native_run(struct tsr_shader *sh, const void *code,
				   struct tsr_progress *p, enum tsr_outcome *outcome);
/* From now on generated code goes from @from to @to by itself, if it can. */
void tsr_native_link(struct tsr_decoded *from, const struct tsr_decoded *to,
		     enum tsr_native_kind kind, enum tsr_outcome outcome);

/* watch.c: call the hook. */
void tsr_shader_watch(struct tsr_shader *sh, enum tsr_shader_when when, unsigned int w,
		      uint64_t pc, const struct tsr_decoded *clause, uint16_t executed);

#endif
