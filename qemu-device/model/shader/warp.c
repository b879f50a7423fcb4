/* SPDX-License-Identifier: MIT */
#include "warp.h"

#include "branch.h"

/* Of @lanes, or if there are none, of all that can go on, the ones at the lowest address go on. */
static void pick(struct tsr_warp *warp, uint16_t lanes)
{
	uint64_t lowest = UINT64_MAX;

	if (!lanes)
		lanes = warp->live & ~warp->parked;
	warp->active = 0;
	for (uint16_t left = lanes; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		if (warp->pc[lane] < lowest) {
			lowest = warp->pc[lane];
			warp->active = 0;
		}
		if (warp->pc[lane] == lowest)
			warp->active |= 1u << lane;
	}
	if (warp->active)
		warp->here = lowest;
}

static void go(struct tsr_warp *warp, uint16_t lanes, uint64_t pc)
{
	for (; lanes; lanes &= lanes - 1)
		warp->pc[__builtin_ctz(lanes)] = pc;
}

/* Lanes of @taken go where the branch leads; those that end by it. */
static uint16_t branch(struct tsr_warp *warp, const struct tsr_decoded *clause, uint16_t taken,
		       const union tsr_lanes *target)
{
	uint16_t ended = 0;

	if (clause->jump_fixed) {
		go(warp, taken, clause->jump_pc);
		return clause->jump_ends ? taken : 0;
	}
	for (; taken; taken &= taken - 1) {
		unsigned int lane = __builtin_ctz(taken);

		warp->pc[lane] = tsr_branch_address(clause->pc, target->u[lane]);
		if (!target->u[lane])
			ended |= 1u << lane;
	}
	return ended;
}

void tsr_warp_retire(struct tsr_warp *warp, const struct tsr_decoded *clause, uint16_t taken,
		     const union tsr_lanes *target)
{
	uint16_t executed = warp->active, ended = 0, next;

	taken &= clause->flags & TSR_CLAUSE_BRANCH ? executed : 0;
	if (clause->flags & TSR_CLAUSE_END)
		ended = executed & ~taken;
	go(warp, executed & ~taken, clause->next_pc);
	ended |= branch(warp, clause, taken, target);
	warp->live &= ~ended;
	next = executed & ~ended;
	if (clause->flags & TSR_CLAUSE_BARRIER)
		warp->parked |= next;
	if (clause->flags & TSR_CLAUSE_RECONVERGE)
		next = warp->live;
	pick(warp, next & ~warp->parked);
}

void tsr_warp_release(struct tsr_warp *warp)
{
	warp->parked = 0;
	pick(warp, 0);
}
