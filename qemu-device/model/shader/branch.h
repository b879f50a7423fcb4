/* SPDX-License-Identifier: MIT */
/*
 * Branches: which threads go where.
 *
 * In: a branch instruction as a micro-operation, its operands. Out: for each warp the lanes that
 * branch, and the targets where they differ between lanes.
 */
#ifndef TSR_SHADER_BRANCH_H
#define TSR_SHADER_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "alu/alu.h"
#include "compiler/native.h"

/* Result of the branch of a clause. */
struct tsr_branch {
	uint16_t taken[TSR_BUNDLE_WARPS];	/* lanes that branch, inactive ones undefined */
	union tsr_lanes target[TSR_BUNDLE_WARPS];	/* if they are not the same for all */
};

/*
 * State of a core's micro-operations. Those of branches and DISCARD write to the members after the
 * ALU's state. Generated code uses only this state.
 */
struct tsr_lane_state {
	struct tsr_alu_state alu;
	struct tsr_branch branch;
	/* of fragments: lanes without side effects, outside of the primitive or discarded */
	uint16_t helper[TSR_BUNDLE_WARPS];
	struct tsr_native native;
};

/*
 * Choose the function of the micro-operation of a branch; false: there is none. The target is the
 * last source; @dynamic: targets are to be written too.
 */
bool tsr_branch_select(struct tsr_uop *uop, bool dynamic);
/* Selects the function of DISCARD. */
bool tsr_discard_select(struct tsr_uop *uop);
/* True if @op is a branch that tsr_branch_select() knows. */
bool tsr_branch_is(uint16_t op);
/* Address of the target word @target in a clause at @pc: the upper half stays. */
static inline uint64_t tsr_branch_address(uint64_t pc, uint32_t target)
{
	return (pc & ~(uint64_t)UINT32_MAX) | target;
}

#endif
