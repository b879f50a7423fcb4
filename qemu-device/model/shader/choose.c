/* SPDX-License-Identifier: MIT */
/* Choice of the warps of a bundle that execute the next clause together, see core.h. */
#include "core.h"
#include "stage_run.h"
#include "warp.h"

/* Clauses that others of its bundle may execute while a warp waits. */
#define PASSED_MAX 4096
/* Bytes of shared memory that are cleared in the time of a tuple, about. */
#define GROUP_MEMORY_EFFORT 1024

/* A warp has ended and all its messages are complete. */
static bool finish_warp(struct tsr_shader *sh, struct tsr_warp *warp)
{
	struct tsr_core *core = sh->core;
	unsigned int place = warp->group;
	struct tsr_group *group = &core->group[place];

	warp->used = false;
	if (--group->warps)
		return true;
	core->groups--;
	sh->stats.groups++;
	if (!sh->grid || core->next >= sh->grid->total)
		return true;
	/* registers and shared memory are cleared: short programs spend most of their time so */
	sh->effort -= sh->grid->warps + sh->grid->group_stride / GROUP_MEMORY_EFFORT;
	return tsr_core_start_group(sh->grid, core, place);
}

/* Messages that warp @w waits for are executed; if it has ended, a new group may take its place. */
static enum tsr_choice settle(struct tsr_shader *sh, unsigned int w)
{
	struct tsr_warp *warp = &sh->bundle->warp[w];

	if (!warp->used)
		return TSR_CHOICE_NONE;
	if (warp->awaited) {
		switch (tsr_message_settle(sh, w)) {
		case TSR_STEP_DONE:
			break;
		case TSR_STEP_PENDING:
			return TSR_CHOICE_HOST;
		default:
			return TSR_CHOICE_FAULT;
		}
	}
	if (!warp->live && !finish_warp(sh, warp)) {
		tsr_mmu_fault(&sh->mem, TSR_FAULT_UNSUPPORTED, warp->here, TSR_ACCESS_NONE, 0);
		tsr_shader_fault(sh, w, 0, warp->here, 0, false);
		return TSR_CHOICE_FAULT;
	}
	return TSR_CHOICE_RUN;
}

/* FAU special "warp". */
static void set_number(struct tsr_shader *sh, unsigned int w, uint8_t number)
{
	if (sh->number[w] == number)
		return;
	sh->number[w] = number;
	tsr_stage_fill(&sh->temp[TSR_TEMP_WARP_ID * TSR_BUNDLE_WARPS + w], number);
}

/* Where the memory of all warps of the bundle is. */
static void find_places(struct tsr_shader *sh)
{
	uint64_t step = TSR_WARP_LANES * sh->env.state->scratch_size;
	uint64_t scratch = tsr_shader_scratch(sh, 0);

	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++)
		sh->place[w] = (struct tsr_msg_place){
			.group_memory = sh->core->group_memory +
					(size_t)sh->bundle->warp[w].group * sh->group_stride,
			.scratch = scratch + w * step,
		};
}

/* Nobody has been chosen yet to execute the clause at @here. */
static void begin_choice(struct tsr_shader *sh, uint64_t here)
{
	sh->lanes.alu.warps = 0;
	sh->lanes.native.chunks = 0;
	sh->here = here;
	sh->lanes_chosen = 0;
	sh->meet = UINT64_MAX;
	sh->passed_over = 0;
	sh->after = TSR_CLAUSE_MESSAGE | TSR_CLAUSE_BARRIER | TSR_CLAUSE_BRANCH | TSR_CLAUSE_END |
		    (sh->env.fragments ? TSR_CLAUSE_FRAGMENT : 0);
	find_places(sh);
}

/* Have the warps of @able that stand at @here execute the next clause. */
static void choose(struct tsr_shader *sh, unsigned int able, uint64_t here)
{
	struct tsr_alu_state *alu = &sh->lanes.alu;
	uint16_t all = 0xffff;
	bool stored = false;

	begin_choice(sh, here);
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		struct tsr_warp *warp = &sh->bundle->warp[w];

		if (!(able >> w & 1))
			continue;
		if (warp->here != here) {
			sh->passed_over |= 1u << w;
			if (warp->here < sh->meet)
				sh->meet = warp->here;
			continue;
		}
		if (warp->meet < sh->meet)
			sh->meet = warp->meet;
		warp->passed = 0;
		alu->warp[alu->warps++] = w;
		all &= warp->active;
		tsr_shader_mask(sh, w, warp->active);
		set_number(sh, w, warp->number);
		sh->lanes_chosen += warp->active == 0xffff ? TSR_WARP_LANES :
							     tsr_lanes_count(warp->active);
		stored |= warp->stored;
	}
	alu->full = all == 0xffff;
	if (stored)
		sh->after |= TSR_CLAUSE_WAIT | TSR_CLAUSE_STAGING;
	/* generated code for whole bundles has no need of them */
	for (unsigned int i = 0; !(alu->full && alu->warps == TSR_BUNDLE_WARPS) && i < alu->warps;
	     i++)
		tsr_native_add(sh, alu->warp[i], sh->bundle->warp[alu->warp[i]].active);
}

/*
 * Fast path for the usual case: all threads of all warps are at one address, and none of them
 * waits. False in other cases, without effect.
 */
static bool choose_all(struct tsr_shader *sh)
{
	struct tsr_warp *warp = sh->bundle->warp;
	uint64_t here = warp[0].here, differ = 0;

	if (!warp[TSR_BUNDLE_WARPS - 1].used)
		return false;
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++)
		differ |= (warp[w].here ^ here) | (uint16_t)~warp[w].active | warp[w].awaited |
			  warp[w].stored | !warp[w].used;
	if (differ)
		return false;
	begin_choice(sh, here);
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		warp[w].passed = 0;
		sh->lanes.alu.warp[w] = w;
		tsr_shader_mask(sh, w, 0xffff);
		set_number(sh, w, warp[w].number);
	}
	sh->lanes.alu.warps = TSR_BUNDLE_WARPS;
	sh->lanes.alu.full = true;
	sh->lanes_chosen = TSR_BUNDLE_LANES;
	return true;
}

/* Settles the warps of the bundle that wait or have ended, except those of @yielding. */
static enum tsr_choice settle_warps(struct tsr_shader *sh, unsigned int yielding)
{
	enum tsr_choice result = TSR_CHOICE_NONE;

	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		const struct tsr_warp *warp = &sh->bundle->warp[w];
		enum tsr_choice choice;

		if (yielding >> w & 1 || !warp->used || (!warp->awaited && warp->live))
			continue;
		choice = settle(sh, w);
		if (choice == TSR_CHOICE_FAULT)
			return choice;
		if (choice == TSR_CHOICE_HOST)
			result = choice;
	}
	return result;
}

/* Bit w: warp w of the bundle can execute a clause. *@here is the address that goes first. */
static unsigned int able_warps(const struct tsr_shader *sh, uint64_t *here)
{
	unsigned int able = 0;
	bool starved = false;

	*here = UINT64_MAX;
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		const struct tsr_warp *warp = &sh->bundle->warp[w];

		if (!warp->used || warp->awaited || !warp->active)
			continue;
		able |= 1u << w;
		if (starved)
			continue;
		starved = warp->passed > PASSED_MAX;
		if (starved || warp->here < *here)
			*here = warp->here;
	}
	return able;
}

/* Late timing. Bit w: warp w has begun to wait for texels and has not yielded yet. */
static unsigned int waits_for_texels(const struct tsr_shader *sh)
{
	unsigned int waits = 0;

	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		const struct tsr_warp *warp = &sh->bundle->warp[w];

		if (warp->used && warp->awaited && !warp->yielded && tsr_message_texels(warp))
			waits |= 1u << w;
	}
	return waits;
}

/* True if the core can run another bundle: one that is ready, or a group that can start. */
static bool others_ready(const struct tsr_shader *sh)
{
	const struct tsr_core *core = sh->core;

	if (core->ready & ~(1u << core->current))
		return true;
	return sh->grid && core->next < sh->grid->total && core->groups < sh->grid->places;
}

/* The warps of @waits have yielded, and are settled the next time. */
static void yield(struct tsr_shader *sh, unsigned int waits)
{
	for (; waits; waits &= waits - 1) {
		sh->bundle->warp[__builtin_ctz(waits)].yielded = 1;
		sh->stats.yields++;
	}
}

/* The lowest address goes first, so that warps meet again, unless one has been passed over long. */
enum tsr_choice tsr_warps_choose(struct tsr_shader *sh)
{
	unsigned int able, waits = 0;
	enum tsr_choice none;
	uint64_t here;

	if (choose_all(sh))
		return TSR_CHOICE_RUN;
	if (sh->mem.env->cfg->late_messages)
		waits = waits_for_texels(sh);
	none = settle_warps(sh, waits);
	if (none == TSR_CHOICE_FAULT)
		return none;
	able = able_warps(sh, &here);
	if (waits && !able && !others_ready(sh)) {
		none = settle_warps(sh, 0);
		if (none == TSR_CHOICE_FAULT)
			return none;
		able = able_warps(sh, &here);
		waits = 0;
	}
	yield(sh, waits);
	if (!able)
		return waits ? TSR_CHOICE_YIELD : none;
	choose(sh, able, here);
	return TSR_CHOICE_RUN;
}
