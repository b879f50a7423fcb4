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

#include "../engine.h"
#include "lanes.h"
#include "tsr_isa.h"
#include "tsr_packets.h"

/* What a step of the units costs and counts; added up by the core. */
struct tsr_msg_cost {
	uint64_t read_bytes;
	uint64_t write_bytes;
};

/* Cached translations of the running step, see access.h. */
struct tsr_access_cache;

/* What units see of the thread group and dispatch a warp belongs to. */
struct tsr_msg_env {
	struct tsr_mem *mem;		/* address space, TLB, fault */
	/* of the running thread, emptied at each stopping point */
	struct tsr_access_cache *access;
	const struct tsr_compute_state *state;	/* as unpacked */
	uint8_t *group_memory;		/* of this group, state->group_memory bytes */
	/* GPU address of the scratch of lane 0; lane n is n * scratch_size behind */
	uint64_t scratch;
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
	uint8_t staging;		/* first staging register; they wrap to R0 behind R63 */
	uint16_t lanes;			/* bit n: to do for lane n; cleared as they are done */
	uint8_t fault_lane;		/* out, with TSR_STEP_FAULT */
};

/*
 * Do the message for msg->lanes. TSR_STEP_DONE, TSR_STEP_PENDING, or TSR_STEP_FAULT with
 * env->mem->fault and msg->fault_lane set. BARRIER and branches never come here. An instruction for
 * which this stage has no unit is SHADER_UNSUPPORTED.
 */
enum tsr_step tsr_msg_run(struct tsr_msg_env *env, struct tsr_msg *msg);

#endif
