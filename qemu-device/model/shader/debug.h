/* SPDX-License-Identifier: MIT */
/*
 * Looking at programs while they run: for tools and tests in process, not part of the device.
 *
 * The hook is called before and after each clause of each warp. It sees the warp's whole state and
 * may run a whole debugger's dialogue before it returns: nothing else happens meanwhile. Only for
 * devices without threads (tsr_config.threads == 0). With a hook, warps run one clause at a time,
 * with the same results as without; of warps that execute a clause together all are announced
 * before it, then all after it.
 */
#ifndef TSR_SHADER_DEBUG_H
#define TSR_SHADER_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lanes.h"

struct tsr_gpu;

/* When the hook is called. */
enum tsr_shader_when {
	TSR_SHADER_BEFORE,		/* the clause is about to be executed */
	TSR_SHADER_AFTER,		/* the clause has run, its message too unless late */
	TSR_SHADER_FAULT,		/* the clause or its message faulted; the queue stops */
};

/* State of the shader, valid during the call. */
struct tsr_shader_view {
	enum tsr_shader_when when;
	unsigned int queue;		/* slot */
	unsigned int core;
	uint32_t group[3];
	unsigned int warp;		/* number in its group */
	unsigned int slot;		/* number of the resident warp on its core */
	uint64_t clause;		/* its address */
	const uint8_t *code;		/* its bytes; NULL: they could not be read */
	size_t code_len;
	uint16_t executed;		/* lanes that execute this clause */
	/* The warp now, so for AFTER after the clause: */
	uint16_t live;			/* lanes that have not ended */
	uint16_t active;		/* lanes that execute its next clause */
	uint16_t parked;		/* lanes at a barrier */
	uint64_t pc[TSR_WARP_LANES];	/* next clause of each live lane */
	uint8_t outstanding[8];		/* messages not answered, by scoreboard slot */
	uint32_t clauses;		/* clauses it has executed */
	/* Register r is reg[r * TSR_BUNDLE_WARPS]; writable. */
	union tsr_lanes *reg;
	uint8_t *group_memory;		/* of its group, group_memory_size bytes; writable */
	uint32_t group_memory_size;
	uint64_t scratch;		/* GPU address of lane 0's scratch */
	uint32_t scratch_size;		/* bytes for each lane */
	uint8_t fault_code;		/* FAULT: enum tsr_fault */
	uint64_t fault_addr;		/* FAULT: FAULT_ADDR */
	uint32_t fault_shader;		/* FAULT: as in QUEUE.FAULT_SHADER */
};

typedef void tsr_shader_hook(void *opaque, const struct tsr_shader_view *view);

/*
 * Have @hook called with @opaque from now on; NULL: no more. [host], nothing may be running. False:
 * the device has threads.
 */
bool tsr_gpu_set_shader_hook(struct tsr_gpu *gpu, tsr_shader_hook *hook, void *opaque);

static inline uint32_t tsr_shader_reg(const struct tsr_shader_view *view, unsigned int reg,
				      unsigned int lane)
{
	return view->reg[reg * TSR_BUNDLE_WARPS].u[lane];
}

#endif
