/* SPDX-License-Identifier: MIT */
/*
 * Structures in memory, read and checked by their description.
 *
 * In: an address, the structure's name. Out: its qwords, or a precise fault: reserved bits first
 * (RESERVED_BITS), then the fields in their order (BAD_VALUE, ALIGNMENT); FAULT_ADDR is the qword.
 */
#ifndef TSR_FRONT_DESCRIPTOR_H
#define TSR_FRONT_DESCRIPTOR_H

#include "../engine.h"

enum tsr_descriptor {
	TSR_DESCRIPTOR_FRAME,
	TSR_DESCRIPTOR_SHADER_STATE,
	TSR_DESCRIPTOR_DRAW_STATE,
	TSR_DESCRIPTOR_VIEWPORT,
	TSR_DESCRIPTOR_RENDER_TARGET,
	TSR_DESCRIPTOR_BLEND,
	TSR_DESCRIPTOR_SHADER_PROGRAM,
	TSR_DESCRIPTORS
};

/* Read @len bytes at @va, whatever they lie on. TSR_STEP_DONE, _PENDING or _FAULT. */
enum tsr_step tsr_front_read(struct tsr_mem *mem, uint64_t va, void *to, uint64_t len);
/*
 * Write @len bytes at @va. What has been written before one fails, or is PENDING, is written again
 * when the step is repeated.
 */
enum tsr_step tsr_front_write(struct tsr_mem *mem, uint64_t va, const void *from, uint64_t len);
/* Read the structure @which at @va into @word, which has its qwords, and check it. */
enum tsr_step tsr_descriptor_read(struct tsr_mem *mem, uint64_t va, enum tsr_descriptor which,
				  uint64_t *word);

#endif
