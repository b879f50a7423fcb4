/* SPDX-License-Identifier: MIT */
/*
 * Messages: what shader cores ask of the units around them.
 *
 * A core issues at most one message for each clause and warp. In: the instruction, the values of
 * its sources for the lanes that are active, the warp's registers (for staging), and what the unit
 * needs to know of the dispatch. Out: staging registers written, memory changed, or a fault with
 * its lane. A unit does the lanes in ascending order; when it has to wait for the host
 * (TSR_STEP_PENDING) it clears the lanes it has done, and is called again for the rest: a lane is
 * never done twice.
 *
 * The core decides when a message runs: at once, or (late timing) as late as the scoreboard allows.
 */
#ifndef TSR_SHADER_MESSAGE_H
#define TSR_SHADER_MESSAGE_H

#include "engine.h"
#include "shader/lanes.h"
#include "tsr_isa.h"
#include "tsr_packets.h"

/* Work of the units, which the core adds up. */
struct tsr_msg_cost {
	uint64_t read_bytes;
	uint64_t write_bytes;
	/* one for each 64 bytes, begun, that a message of a warp reads, and for each it writes */
	uint64_t cycles;
	uint32_t done;			/* messages of warps that are complete */
	uint32_t tried;			/* all messages of warps, complete or not */
};

/* Cached translations of the running step, see access.h. */
struct tsr_access_cache;
/* Functions of the SIMD path, see msg_bundle.h. */
struct tsr_msg_path;
/* Textures of the running thread, see tex_cache.h. */
struct tsr_texture_cache;
/* Attributes of the running thread, see msg_attribute.h. */
struct tsr_attribute_views;

struct tsr_fragments;
struct tsr_program;
struct tsr_vertex_run;

/* Parts of a copy of a SHADER_PROGRAM after that itself, in this order. */
enum tsr_program_part {
	TSR_PART_PUSH,
	TSR_PART_UNIFORM_BUFFERS,
	TSR_PART_ATTRIBUTES,
	TSR_PART_ATTRIBUTE_BUFFERS,
	TSR_PART_VARYINGS,
	TSR_PART_TEXTURES,
	TSR_PART_SAMPLERS,
	TSR_PARTS
};

/* Copies of parts: what has address A is read at A + moved[part], and a fault of it names A. */
struct tsr_copies {
	uint64_t frame;			/* a serial of the frame that they are of; 0: no copies */
	uint64_t moved[TSR_PARTS];
};
/* The copies of what has none. */
extern const struct tsr_copies tsr_no_copies;

/* The thread group and dispatch, or the stage, of a warp as units see it. */
struct tsr_msg_env {
	struct tsr_mem *mem;		/* address space, TLB, fault */
	/* of the running thread, emptied at each preemption point */
	struct tsr_access_cache *access;
	const struct tsr_msg_path *path;	/* NULL: lane by lane, the reference */
	struct tsr_texture_cache *textures;
	struct tsr_attribute_views *views;
	const struct tsr_compute_state *state;	/* as unpacked */
	uint8_t *group_memory;		/* of this group, state->group_memory bytes */
	/* GPU address of the scratch of lane 0; lane n is n * scratch_size after */
	uint64_t scratch;
	uint8_t stage;			/* enum tsr_stage */
	uint8_t warp;			/* number of the warp in its bundle */
	/* For stages of the 3D pipeline, see stage.h; NULL otherwise. */
	const struct tsr_program *program;
	const struct tsr_copies *copies;	/* of the tables of @state; always there */
	struct tsr_vertex_run *vertices;
	struct tsr_fragments *fragments;
	const uint16_t *helper;		/* of fragments, by warp: lanes that are helpers */
	struct tsr_msg_cost cost;
};

/* A message of one warp. */
struct tsr_msg {
	const struct tsr_insn *insn;
	/* the tuple's FMA instruction (ATOM_C…, DTSEL_IMM), or NULL */
	const struct tsr_insn *pair_insn;
	const union tsr_lanes *src[3];	/* sources of insn */
	const union tsr_lanes *pair[3];	/* sources of pair_insn */
	union tsr_lanes *reg;		/* register r of the warp is reg[r * TSR_BUNDLE_WARPS] */
	uint8_t staging;		/* first staging register; they wrap to R0 after R63 */
	uint8_t result;			/* ATEST: register that has its result too, or 255 */
	uint16_t lanes;			/* bit n: to do for lane n; cleared as they are done */
	uint8_t fault_lane;		/* out, with TSR_STEP_FAULT */
};

/*
 * Do the message for msg->lanes. TSR_STEP_DONE, TSR_STEP_PENDING, or TSR_STEP_FAULT with
 * env->mem->fault and msg->fault_lane set. BARRIER and branches never come here. An instruction for
 * which this stage has no unit is SHADER_UNSUPPORTED.
 */
enum tsr_step tsr_msg_run(struct tsr_msg_env *env, struct tsr_msg *msg);

/* Where the memory of a warp is: env->group_memory and env->scratch of each. */
struct tsr_msg_place {
	uint8_t *group_memory;
	uint64_t scratch;
};

/*
 * One message of several warps of a warp group. The result is that of tsr_msg_run() for one warp
 * after the other, in the order of @warp.
 */
struct tsr_msg_bundle {
	const struct tsr_insn *insn, *pair_insn;
	/* Sources of warp 0 of the bundle; those of warp w are w * step vectors after. */
	const union tsr_lanes *src[3], *pair[3];
	uint8_t src_step[3], pair_step[3];
	union tsr_lanes *reg;		/* register r of warp w is reg[r * TSR_BUNDLE_WARPS + w] */
	uint8_t staging;
	uint8_t result;			/* see struct tsr_msg */
	/* Nobody reads what is returned: its threads end, and no debugger looks on. */
	bool last;
	bool whole;			/* registers of other lanes of a warp may become anything */
	uint8_t warps;			/* how many */
	const uint8_t *warp;		/* their numbers */
	const uint16_t *lanes;		/* by number: the lanes to do */
	const struct tsr_msg_place *place;	/* by number */
	/* Out, of the warp that is not done: lanes left, and the one at fault. */
	uint16_t left;
	uint8_t fault_lane;
};

/*
 * Do the message for @b->warp[*@at] and those after it. _DONE: all of them; else *@at is the first
 * that is not done, with @b->left and @b->fault_lane.
 */
enum tsr_step tsr_msg_run_bundle(struct tsr_msg_env *env, struct tsr_msg_bundle *b,
				 unsigned int *at);

#endif
