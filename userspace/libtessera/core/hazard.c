// SPDX-License-Identifier: MIT
/*
 * Dependences of the commands in a stream: read after write and write after write need the earlier
 * command complete, write after read needs only its reads done, reads need nothing.
 */
#include <string.h>

#include "hazard.h"

#define FULL (TSR_CMD_WAIT_WRITES | TSR_CMD_INVALIDATE_READ)

static bool overlap(const struct tsr_extent *a, const struct tsr_extent *b)
{
	return a->start < b->end && b->start < a->end;
}

uint32_t tsr_hazards_check(const struct tsr_hazards *hazards, const struct tsr_extent *extents,
			   unsigned int count, bool opaque)
{
	uint32_t flags = 0;
	unsigned int i, j;

	if (hazards->opaque || (opaque && hazards->count))
		return FULL;
	for (i = 0; i < count; i++) {
		for (j = 0; j < hazards->count; j++) {
			if (!overlap(&extents[i], &hazards->extents[j]))
				continue;
			if (hazards->extents[j].write)
				return FULL;
			if (extents[i].write)
				flags = TSR_CMD_WAIT_READS;
		}
	}
	return flags;
}

void tsr_hazards_barrier(struct tsr_hazards *hazards, uint32_t flags)
{
	unsigned int i, kept = 0;

	if (flags & TSR_CMD_WAIT_WRITES) {
		hazards->count = 0;
		hazards->opaque = false;
	} else if (flags & TSR_CMD_WAIT_READS) {
		for (i = 0; i < hazards->count; i++) {
			if (hazards->extents[i].write)
				hazards->extents[kept++] = hazards->extents[i];
		}
		hazards->count = kept;
	}
}

void tsr_hazards_add(struct tsr_hazards *hazards, const struct tsr_extent *extents,
		     unsigned int count, bool opaque)
{
	unsigned int i;

	hazards->opaque |= opaque;
	for (i = 0; i < count; i++) {
		if (extents[i].start >= extents[i].end)
			continue;
		if (hazards->count == TSR_HAZARDS) {
			hazards->opaque = true;
			return;
		}
		hazards->extents[hazards->count++] = extents[i];
	}
}
