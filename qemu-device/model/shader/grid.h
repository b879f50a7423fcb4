/* SPDX-License-Identifier: MIT */
/*
 * A dispatch in progress: its description, its cores, the groups and warps that are resident on
 * them.
 *
 * In: a DISPATCH packet and the memory it names (begin), the threads that run cores. Out: when all
 * groups are complete, or a fault. All of it belongs to a queue and is what a snapshot of a
 * dispatch consists of: between two bursts nothing of it is elsewhere. Which group runs on which
 * core is fixed (tsr_grid_core_of()), so what a program can see does not depend on the threads.
 * Limits: as Documentation/hw/compute.md says. Reset state: no dispatch.
 */
#ifndef TSR_SHADER_GRID_H
#define TSR_SHADER_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "work.h"
#include "lanes.h"
#include "predecode.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define TSR_GROUP_WARPS_MAX (TSR_GROUP_THREADS_MAX / TSR_WARP_LANES)
#define TSR_CORE_BUNDLES (TSR_CORE_WARPS / TSR_BUNDLE_WARPS)
/* Messages a warp can have on their way that have not been executed, and all those of a core. */
#define TSR_STORED_MAX 8
#define TSR_CORE_STORED_MAX (TSR_CORE_WARPS + TSR_CORE_WARPS / 2)
/* Most staging registers a message reads. */
#define TSR_STAGING_MAX 8
#define TSR_SLOTS 8
/* Tuples a bundle runs before it gives its place to another. */
#define TSR_BUNDLE_QUANTUM 16384

/* A message that has been sent and not been executed to the end. */
struct tsr_stored {
	union tsr_lanes src[3], pair[3];	/* values of its sources, for its lanes */
	union tsr_lanes staging[TSR_STAGING_MAX];	/* if @captured */
	uint64_t clause;		/* address of its clause */
	uint32_t fma, add;		/* encoded instructions of its tuple */
	uint16_t lanes;			/* still to do */
	uint8_t slot;			/* of the scoreboard */
	uint8_t reg;			/* first staging register */
	uint8_t result;			/* see struct tsr_msg */
	uint8_t tuple;
	uint8_t paired;			/* the FMA instruction belongs to it */
	uint8_t captured;		/* staging registers have been read */
};

struct tsr_warp {
	uint64_t here;			/* next clause of the active lanes */
	uint64_t pc[TSR_WARP_LANES];	/* of the other live lanes */
	/* lowest address of lanes that could go on, but wait for others; UINT64_MAX: none */
	uint64_t meet;
	uint16_t live;			/* lanes that have not ended */
	uint16_t active;		/* lanes that go on; none: all are parked, or it waits */
	uint16_t parked;		/* lanes at a barrier */
	uint8_t used;			/* holds a warp of a group */
	uint8_t group;			/* index of its group on the core */
	uint8_t number;			/* of the warp in its group */
	uint8_t awaited;		/* slots whose messages it waits for */
	uint8_t yielded;		/* others have gone first in this wait for texels */
	uint8_t stored;			/* messages in @message */
	uint8_t capacity;		/* places in @message */
	/* bit r: register r may be other than 0: written to since it was cleared */
	uint64_t written;
	uint32_t clauses;		/* executed so far */
	uint32_t passed;		/* times others of the bundle went first */
	struct tsr_stored *message;	/* oldest first; allocated with the first */
};

/* Warps that are executed together when they stand at the same clause. */
struct tsr_bundle {
	union tsr_lanes reg[TSR_REGISTERS * TSR_BUNDLE_WARPS];
	struct tsr_warp warp[TSR_BUNDLE_WARPS];
};

struct tsr_group {
	uint32_t id[3];
	uint16_t alive;			/* threads that have not ended */
	uint16_t parked;		/* of them, at a barrier */
	uint8_t warps;			/* warps that have not ended; 0: the place is free */
};

struct tsr_core {
	struct tsr_job_core job;	/* done: all its groups are complete */
	uint64_t next;			/* number of the next group to start */
	uint32_t groups;		/* resident groups */
	uint32_t ready;			/* bit n: bundle n may have something to do */
	uint32_t waiting;		/* bit n: bundle n waits for the host */
	uint8_t current;		/* the bundle that runs */
	int32_t quantum;		/* tuples until another one does */
	uint32_t late;			/* bundles, a bit each, that have had all of that time */
	struct tsr_bundle *bundle[TSR_CORE_BUNDLES];	/* NULL as long as it was not needed */
	struct tsr_group group[TSR_CORE_WARPS];
	uint8_t *group_memory;		/* of all places for groups */
	size_t group_bytes;		/* allocated there */
};

struct tsr_grid {
	uint64_t word[TSR_COMPUTE_STATE__QWORDS];	/* COMPUTE_STATE as read */
	struct tsr_compute_state state;
	uint32_t groups[3];
	uint64_t total;			/* groups */
	uint32_t threads;		/* of a group */
	uint32_t warps;			/* of a group */
	uint32_t places;		/* for groups on a core */
	uint32_t slots;			/* warps a core holds */
	uint32_t stored;		/* messages each of them can have stored */
	uint32_t run;			/* groups that follow one another on a core */
	uint32_t group_stride;		/* bytes of shared memory from place to place */
	const struct tsr_msg_path *path;	/* the device's */
	uint32_t push_word[TSR_PUSH_WORDS_MAX];
	/* The rest follows from the above. */
	union tsr_lanes push[TSR_PUSH_WORDS_MAX];	/* TSR_LANES_PUSH */
	/* R55 and R56 of each warp of a group */
	union tsr_lanes local_xy[TSR_GROUP_WARPS_MAX], local_z[TSR_GROUP_WARPS_MAX];
	struct tsr_job job;
	struct tsr_core core[];
};

/*
 * Begin @cmd, a DISPATCH or DISPATCH_INDIRECT at @pc: read and check its state. TSR_STEP_DONE with
 * *@grid, NULL when there is nothing to run; _PENDING; _FAULT.
 */
enum tsr_step tsr_grid_begin(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
			     struct tsr_grid **spare, struct tsr_grid **grid);
/*
 * A grid of what @word, @groups and @push say, in the memory of *@spare if there is such a grid,
 * complete and of no more use; false: they are not legal, or no memory.
 */
bool tsr_grid_new(const struct tsr_env *env, const uint64_t *word, const uint32_t *groups,
		  const uint32_t *push, struct tsr_grid **spare, struct tsr_grid **grid);
void tsr_grid_free(struct tsr_grid *grid);
/* Write *@grid to a snapshot, or make it from one; NULL if the snapshot is wrong. */
struct tsr_stream;
void tsr_grid_visit(struct tsr_stream *s, const struct tsr_env *env, struct tsr_grid **grid);

/* The core on which group @number runs. */
static inline uint32_t tsr_grid_core_of(const struct tsr_grid *grid, uint64_t number)
{
	return number / grid->run % grid->job.cores;
}

/* Have the memory of all its groups; false: there is none. */
bool tsr_core_group_memory(const struct tsr_grid *grid, struct tsr_core *core);
/* The bundle of warp slot @slot, allocated if need be; NULL: no memory. */
struct tsr_bundle *tsr_core_bundle(struct tsr_core *core, unsigned int slot);
static inline struct tsr_warp *tsr_core_warp(const struct tsr_core *core, unsigned int slot)
{
	return &core->bundle[slot / TSR_BUNDLE_WARPS]->warp[slot % TSR_BUNDLE_WARPS];
}

/* Start groups, if there are any left and room; false: no memory. */
bool tsr_core_start_groups(struct tsr_grid *grid, struct tsr_core *core);
/* Start the next group in free place @place. */
bool tsr_core_start_group(struct tsr_grid *grid, struct tsr_core *core, unsigned int place);
/* Lanes warp @number of a group has. */
uint16_t tsr_grid_lanes(const struct tsr_grid *grid, unsigned int number);
/* Have places for @capacity messages of a warp that has none stored; false: no memory. */
bool tsr_warp_reserve(struct tsr_warp *warp, unsigned int capacity);

#endif
