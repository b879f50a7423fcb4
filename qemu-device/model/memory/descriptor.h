/* SPDX-License-Identifier: MIT */
/*
 * Structures in memory, read and checked by their description.
 *
 * In: an address, the structure's name. Out: its qwords, or a precise fault: reserved bits first
 * (RESERVED_BITS), then the fields in their order (BAD_VALUE, ALIGNMENT); FAULT_ADDR is the qword.
 */
#ifndef TSR_DESCRIPTOR_H
#define TSR_DESCRIPTOR_H

#include "mem.h"

enum tsr_descriptor {
	TSR_DESCRIPTOR_FRAME,
	TSR_DESCRIPTOR_SHADER_STATE,
	TSR_DESCRIPTOR_DRAW_STATE,
	TSR_DESCRIPTOR_VIEWPORT,
	TSR_DESCRIPTOR_RENDER_TARGET,
	TSR_DESCRIPTOR_BLEND,
	TSR_DESCRIPTOR_SHADER_PROGRAM,
	TSR_DESCRIPTOR_COMPUTE_STATE,
	TSR_DESCRIPTOR_STAGE_HEADER,
	TSR_DESCRIPTOR_GEOMETRY_STATE,
	TSR_DESCRIPTOR_STREAM_ENTRY,
	TSR_DESCRIPTOR_STREAM_TARGET,
	TSR_DESCRIPTOR_TAGGED_SURFACE,
	TSR_DESCRIPTORS
};

/*
 * Check @word as a structure @which. Returns an enum tsr_fault and the offending qword, or NONE if
 * the structure is correct.
 */
uint8_t tsr_descriptor_check(enum tsr_descriptor which, const uint64_t *word, unsigned int *qword);
/*
 * Read the structure @which into @word, which has its qwords, and check it. It is that of @va, and
 * is read at @at, where it or a copy of it lies.
 */
enum tsr_step tsr_descriptor_read_copy(struct tsr_mem *mem, uint64_t va, uint64_t at,
				       enum tsr_descriptor which, uint64_t *word);

static inline enum tsr_step tsr_descriptor_read(struct tsr_mem *mem, uint64_t va,
						enum tsr_descriptor which, uint64_t *word)
{
	return tsr_descriptor_read_copy(mem, va, va, which, word);
}

#endif
