/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include "memory/descriptor.h"
#include "tsr_desc.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

/* Checks beside those of single fields. */
static enum tsr_step check(struct tsr_mem *mem, uint64_t va, struct tsr_frame_info *info)
{
	const struct tsr_frame *f = &info->frame;
	uint32_t side = 1u << f->tile_shift;
	uint64_t tiles;

	info->tiles_x = (f->width + side - 1) >> f->tile_shift;
	info->tiles_y = (f->height + side - 1) >> f->tile_shift;
	tiles = (uint64_t)info->tiles_x * info->tiles_y * f->layers;
	if (tiles > TSR_FRAME_TILES_MAX)
		return tsr_mem_bad_packet(mem, va, TSR_FRAME_WIDTH__QWORD, TSR_FAULT_BAD_VALUE);
	info->tiles = tiles;
	if (f->heap_size > TSR_HEAP_SIZE_MAX || f->heap + f->heap_size < f->heap)
		return tsr_mem_bad_packet(mem, va, TSR_FRAME_HEAP_SIZE__QWORD,
					  TSR_FAULT_BAD_VALUE);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_frame_read(struct tsr_mem *mem, uint64_t va, struct tsr_frame_info *info)
{
	uint64_t word[TSR_FRAME__QWORDS];
	enum tsr_step step;

	if (va % 64)
		return tsr_mem_bad_packet(mem, va, 0, TSR_FAULT_ALIGNMENT);
	step = tsr_descriptor_read(mem, va, TSR_DESCRIPTOR_FRAME, word);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_frame(word, &info->frame);
	return check(mem, va, info);
}
