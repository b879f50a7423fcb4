/* SPDX-License-Identifier: MIT */
/*
 * Threads that part from the others of their bundle. In a loop whose number of rounds differs from
 * thread to thread this happens all the time, so those who stay are not chosen anew: the others
 * are taken out of their midst.
 */
#include "core.h"
#include "warp.h"

bool tsr_shader_may_diverge(const struct tsr_shader *sh, const struct tsr_decoded *clause)
{
	uint64_t lower = clause->next_pc < clause->jump_pc ? clause->next_pc : clause->jump_pc;

	return clause->jump_fixed && !clause->jump_ends && clause->next_pc != clause->jump_pc &&
	       lower < sh->meet;
}

/* All lanes of chosen warp @w leave; @taken: all or none of them branch. */
static void leave_all(struct tsr_shader *sh, unsigned int w, const struct tsr_decoded *clause,
		      uint16_t taken, uint64_t pc)
{
	struct tsr_warp *warp = &sh->bundle->warp[w];

	if (pc < warp->meet)
		warp->here = pc;
	else
		tsr_warp_retire(warp, clause, taken, NULL);
	if (warp->here < sh->meet)
		sh->meet = warp->here;
	sh->passed_over |= 1u << w;
}

/* @lanes of chosen warp @w leave, not all. */
static void leave(struct tsr_shader *sh, unsigned int w, uint16_t lanes, uint64_t pc)
{
	struct tsr_warp *warp = &sh->bundle->warp[w];

	tsr_warp_wait(warp, lanes, pc);
	warp->active &= ~lanes;
	tsr_shader_mask(sh, w, warp->active);
	if (warp->meet < sh->meet)
		sh->meet = warp->meet;
}

/* The warps of @stay are chosen, with the lanes they still have. */
static void choose(struct tsr_shader *sh, unsigned int stay)
{
	struct tsr_alu_state *alu = &sh->lanes.alu;
	unsigned int warps = 0;
	uint16_t all = 0xffff;

	sh->lanes.native.chunks = 0;
	for (unsigned int left = stay; left; left &= left - 1) {
		unsigned int w = __builtin_ctz(left);

		alu->warp[warps++] = w;
		all &= sh->mask_bits[w];
		tsr_native_add(sh, w, sh->mask_bits[w]);
	}
	alu->warps = warps;
	alu->full = all == 0xffff;
}

void tsr_shader_diverge(struct tsr_shader *sh, const struct tsr_decoded *clause)
{
	const struct tsr_alu_state *alu = &sh->lanes.alu;
	uint16_t stays = clause->next_pc < clause->jump_pc ? 0xffff : 0, out[TSR_BUNDLE_WARPS];
	uint64_t pc = stays ? clause->jump_pc : clause->next_pc;
	unsigned int chosen = 0, parted = 0, gone = 0;

	/* without branches: which warps are which is never the same */
	for (unsigned int i = 0; i < alu->warps; i++) {
		unsigned int w = alu->warp[i];
		uint16_t active = sh->mask_bits[w];

		out[w] = active & ~(sh->lanes.branch.taken[w] ^ stays);
		chosen |= 1u << w;
		parted |= (unsigned int)(out[w] != 0) << w;
		gone |= (unsigned int)(out[w] == active) << w;
		sh->lanes_chosen -= tsr_lanes_count(out[w]);
	}
	for (unsigned int left = parted & ~gone; left; left &= left - 1)
		leave(sh, __builtin_ctz(left), out[__builtin_ctz(left)], pc);
	for (unsigned int left = gone; left; left &= left - 1)
		leave_all(sh, __builtin_ctz(left), clause, stays, pc);
	choose(sh, chosen & ~gone);
}
