/* SPDX-License-Identifier: MIT */
/*
 * Control flow of a warp: which of its lanes execute the next clause.
 *
 * In: the clause its active lanes have executed, with the outcome of its branch. Out: the next
 * clause's address and lanes. The active lanes are always those of some set that stand at its
 * lowest address: of all that can go on after a clause that reconverges, else of those that
 * executed it.
 */
#ifndef TSR_SHADER_WARP_H
#define TSR_SHADER_WARP_H

#include "grid.h"

/* R55 to R62, which are written when a warp starts, whatever tsr_warp.written says. */
#define TSR_ENTRY_FIRST 55
#define TSR_ENTRY_REGISTERS (0xffull << TSR_ENTRY_FIRST)

/*
 * The active lanes have executed @clause, and of them those of @taken have branched, to @target if
 * targets differ. Threads that end leave @live, threads at a barrier become @parked.
 */
void tsr_warp_retire(struct tsr_warp *warp, const struct tsr_decoded *clause, uint16_t taken,
		     const union tsr_lanes *target);
/* @lanes, which are not active any more, wait at @pc. */
void tsr_warp_wait(struct tsr_warp *warp, uint16_t lanes, uint64_t pc);
/* All lanes wait: those at the lowest address go on. */
void tsr_warp_pick(struct tsr_warp *warp);
/* The barrier is open: nobody is parked any more. */
void tsr_warp_release(struct tsr_warp *warp);
/* Find @meet from the rest. */
void tsr_warp_find_meet(struct tsr_warp *warp);
/* Address of the next clause of live lane @lane. */
static inline uint64_t tsr_warp_pc(const struct tsr_warp *warp, unsigned int lane)
{
	return warp->active >> lane & 1 ? warp->here : warp->pc[lane];
}

#endif
