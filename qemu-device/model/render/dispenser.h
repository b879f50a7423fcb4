/* SPDX-License-Identifier: MIT */
/*
 * The dispenser gives out the tiles of a LIST_TILES, or the batches of a portion, in runs of
 * neighbors. Each of them is given out once.
 *
 * In: their number. Out: runs. A context that has rendered its run takes the next one, so that a
 * slow tile delays no other. A fixed pattern was rejected: contexts that are done had to wait for
 * the one with the slowest tiles. Runs are shorter the fewer tiles are left, since the last run
 * decides when the job ends.
 *
 * The schedule of a deterministic device must not depend on who asks first. There the runs are
 * dealt: context n has every contexts-th one, from number n on.
 *
 * Threads: take() may be called by any number of threads, each with a run of its own. Everything
 * else belongs to the thread that runs the queue, while no other works on the job.
 * Limits: TSR_CORES_MAX contexts. Reset state: all zero, nothing is left.
 */
#ifndef TSR_TILE_DISPENSER_H
#define TSR_TILE_DISPENSER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "env.h"
#include "tsr_regs.h"

/* Runs that are left for each context when their length begins to shrink. */
#define TSR_DISPENSER_SHARE 8u

/* The tiles @next to @end - 1, as far as there are so many. */
struct tsr_run {
	uint64_t next, end;
};

struct tsr_dispenser {
	uint64_t count;			/* tiles, or batches */
	uint32_t contexts;
	uint32_t length;		/* of the longest run */
	bool dealt;
	/* from a snapshot: runs that contexts had begun, given out before others */
	struct tsr_run left[TSR_CORES_MAX];
	uint32_t left_count;
	_Atomic uint32_t left_taken;
	char before[TSR_LINE_PAIR];	/* contexts write @taken while they read the others */
	_Atomic uint64_t taken;		/* all before it have been given out, or are in @left */
	char after[TSR_LINE_PAIR];
};

/* Begin with @count tiles, in runs of at most @length. @contexts and @dealt are set. */
void tsr_dispenser_start(struct tsr_dispenser *d, uint64_t count, uint32_t length);
/* Go on where a snapshot was taken: @left, @left_count and @taken are set. */
void tsr_dispenser_resume(struct tsr_dispenser *d, uint64_t count, uint32_t length);
/* The run that context @index has at first. It may be empty. */
struct tsr_run tsr_dispenser_first(const struct tsr_dispenser *d, uint32_t index);
/* Number of the next tile that a dealt @run, or the one after it, has. */
uint64_t tsr_dispenser_next(const struct tsr_dispenser *d, const struct tsr_run *run);
/* Take a run, in place of @run, which is used up. Returns false if nothing is left. */
bool tsr_dispenser_take(struct tsr_dispenser *d, struct tsr_run *run);

/* Have something in @run. Returns false if it is used up, and nothing is left. */
static inline bool tsr_dispenser_ensure(struct tsr_dispenser *d, struct tsr_run *run)
{
	return (run->next < run->end && run->next < d->count) || tsr_dispenser_take(d, run);
}

#endif
