/* SPDX-License-Identifier: MIT */
/*
 * Memory that the commands of a stream have used since its last barrier. The next command waits
 * only for the commands on which it depends.
 *
 * In:  the extents that a command reads and writes, or that they are unknown.
 * Out: the barrier that it needs, as enum tsr_cmd_barrier_flags.
 * Limits: TSR_HAZARDS extents. A command beyond them waits for all earlier ones.
 * Reset state: all zero, no memory used.
 */
#ifndef TSR_HAZARD_H
#define TSR_HAZARD_H

#include "internal.h"

#define TSR_HAZARDS 64

/* A range of GPU addresses, and whether it is written. */
struct tsr_extent {
	uint64_t start, end;		/* end excluded; empty ones are ignored */
	bool write;
};

struct tsr_hazards {
	struct tsr_extent extents[TSR_HAZARDS];	/* touched since the last barrier */
	unsigned int count;
	bool opaque;			/* a command since then touched nobody knows what */
	uint64_t code_serial;		/* programs up to this one are seen: see shader.c */
};

/*
 * tsr_hazards_check(): the barrier a command needs that touches @extents, or, with @opaque,
 * anything at all. 0: none.
 */
TSR_PRIVATE uint32_t tsr_hazards_check(const struct tsr_hazards *hazards,
				      const struct tsr_extent *extents, unsigned int count,
				      bool opaque);

/* tsr_hazards_barrier(): a barrier with these flags has been recorded. */
TSR_PRIVATE void tsr_hazards_barrier(struct tsr_hazards *hazards, uint32_t flags);

/* tsr_hazards_add(): the command itself has been recorded, behind the barrier it needs. */
TSR_PRIVATE void tsr_hazards_add(struct tsr_hazards *hazards, const struct tsr_extent *extents,
				unsigned int count, bool opaque);

#endif /* TSR_HAZARD_H */
