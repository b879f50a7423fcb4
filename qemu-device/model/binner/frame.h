/* SPDX-License-Identifier: MIT */
/*
 * FRAME, read and checked, with what follows from it. Both passes begin with it.
 */
#ifndef TSR_BINNER_FRAME_H
#define TSR_BINNER_FRAME_H

#include "engine.h"
#include "tsr_packets.h"

struct tsr_frame_info {
	struct tsr_frame frame;
	uint32_t tiles_x, tiles_y;	/* tiles of a layer */
	uint32_t tiles;			/* of all layers, at most TSR_FRAME_TILES_MAX */
};

/*
 * Read FRAME at @va. Faults are those of tsr_descriptor_read(), BAD_VALUE at qword 0 for more tiles
 * than TSR_FRAME_TILES_MAX, and at qword 2 for a heap larger than TSR_HEAP_SIZE_MAX.
 */
enum tsr_step tsr_frame_read(struct tsr_mem *mem, uint64_t va, struct tsr_frame_info *info);

/* Number of the tile (@tx, @ty) of @layer in the heap's table. */
static inline uint32_t tsr_frame_tile(const struct tsr_frame_info *info, uint32_t layer,
				      uint32_t tx, uint32_t ty)
{
	return (layer * info->tiles_y + ty) * info->tiles_x + tx;
}

#endif
