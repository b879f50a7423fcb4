/* SPDX-License-Identifier: MIT */
/*
 * Lanes that execute stand at @here, all others have an address of their own in @pc. Of those that
 * wait, @meet is the lowest: as long as a warp stays below it nothing but @here changes.
 */
#include "warp.h"

#include "branch.h"

void tsr_warp_find_meet(struct tsr_warp *warp)
{
	warp->meet = UINT64_MAX;
	for (uint16_t left = warp->live & ~warp->parked & ~warp->active; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		if (warp->pc[lane] < warp->meet)
			warp->meet = warp->pc[lane];
	}
}

/* Continues the lanes of @lanes that are at the lowest address. */
static void pick(struct tsr_warp *warp, uint16_t lanes)
{
	uint64_t lowest = UINT64_MAX;

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
	tsr_warp_find_meet(warp);
}

void tsr_warp_pick(struct tsr_warp *warp)
{
	pick(warp, warp->live & ~warp->parked);
}

static void stand(struct tsr_warp *warp, uint16_t lanes, uint64_t pc)
{
	for (; lanes; lanes &= lanes - 1)
		warp->pc[__builtin_ctz(lanes)] = pc;
}

void tsr_warp_wait(struct tsr_warp *warp, uint16_t lanes, uint64_t pc)
{
	stand(warp, lanes, pc);
	if (lanes && pc < warp->meet)
		warp->meet = pc;
}

/* The lanes that wait at @here go on with the others. */
static void join(struct tsr_warp *warp)
{
	for (uint16_t left = warp->live & ~warp->parked & ~warp->active; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		if (warp->pc[lane] == warp->here)
			warp->active |= 1u << lane;
	}
	tsr_warp_find_meet(warp);
}

/* After @clause the lanes @on stand at the next clause, and @jump at the branch's one target. */
static void split(struct tsr_warp *warp, const struct tsr_decoded *clause, uint16_t on,
		  uint16_t jump)
{
	bool all = clause->flags & TSR_CLAUSE_RECONVERGE || !(on | jump);
	uint64_t meet = all ? warp->meet : UINT64_MAX, lowest = meet;

	if (on && clause->next_pc < lowest)
		lowest = clause->next_pc;
	if (jump && clause->jump_pc < lowest)
		lowest = clause->jump_pc;
	warp->active = 0;
	if (clause->next_pc == lowest)
		warp->active |= on;
	else
		tsr_warp_wait(warp, on, clause->next_pc);
	if (clause->jump_pc == lowest)
		warp->active |= jump;
	else
		tsr_warp_wait(warp, jump, clause->jump_pc);
	if (lowest == UINT64_MAX)
		return;
	warp->here = lowest;
	if (meet == lowest)
		join(warp);
}

/* Lanes of @taken go where each one's @target leads; those that end by it. */
static uint16_t scatter(struct tsr_warp *warp, const struct tsr_decoded *clause, uint16_t taken,
			const union tsr_lanes *target)
{
	uint16_t ended = 0;

	for (; taken; taken &= taken - 1) {
		unsigned int lane = __builtin_ctz(taken);

		warp->pc[lane] = tsr_branch_address(clause->pc, target->u[lane]);
		if (!target->u[lane])
			ended |= 1u << lane;
	}
	return ended;
}

/* All live lanes, which are active, are at the barrier before @pc. */
static void park(struct tsr_warp *warp, uint64_t pc)
{
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		warp->pc[l] = pc;
	warp->parked = warp->live;
	warp->active = 0;
	warp->meet = UINT64_MAX;
}

void tsr_warp_retire(struct tsr_warp *warp, const struct tsr_decoded *clause, uint16_t taken,
		     const union tsr_lanes *target)
{
	uint16_t on, ended = 0, next;

	taken &= clause->flags & (TSR_CLAUSE_BRANCH | TSR_CLAUSE_BLEND) ? warp->active : 0;
	on = warp->active & ~taken;
	if (clause->flags & TSR_CLAUSE_END) {
		ended = on;
		on = 0;
	}
	if (clause->jump_fixed && clause->jump_ends) {
		ended |= taken;
		taken = 0;
	}
	if (clause->flags & TSR_CLAUSE_BARRIER && on == warp->live) {
		park(warp, clause->next_pc);
		return;
	}
	warp->live &= ~ended;
	if (!(clause->flags & TSR_CLAUSE_BARRIER) && (clause->jump_fixed || !taken)) {
		split(warp, clause, on, taken);
		return;
	}
	stand(warp, on, clause->next_pc);
	if (clause->jump_fixed)
		stand(warp, taken, clause->jump_pc);
	else
		warp->live &= ~scatter(warp, clause, taken, target);
	next = (on | taken) & warp->live;
	if (clause->flags & TSR_CLAUSE_BARRIER)
		warp->parked |= next;
	next &= ~warp->parked;
	pick(warp, clause->flags & TSR_CLAUSE_RECONVERGE || !next ? warp->live & ~warp->parked :
								    next);
}

/* All live lanes go on at the same address. */
static bool together(const struct tsr_warp *warp)
{
	uint64_t pc, differ = 0;

	if (warp->active || warp->live != (1u << TSR_WARP_LANES) - 1)
		return false;
	pc = warp->pc[0];
	for (unsigned int l = 1; l < TSR_WARP_LANES; l++)
		differ |= warp->pc[l] ^ pc;
	return !differ;
}

void tsr_warp_release(struct tsr_warp *warp)
{
	if (together(warp)) {
		warp->parked = 0;
		warp->active = warp->live;
		warp->here = warp->pc[0];
		warp->meet = UINT64_MAX;
		return;
	}
	stand(warp, warp->active, warp->here);
	warp->parked = 0;
	pick(warp, warp->live);
}
