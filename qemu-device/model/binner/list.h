/* SPDX-License-Identifier: MIT */
/*
 * Control-list threads: what fetches the packets of BIN's and RENDER's lists.
 *
 * In: the list's address and size, from the engine's command (or LIST_TILES). Out: one packet after
 * the other, checked for everything but the values of its fields; LIST_CALL, LIST_JUMP and
 * LIST_RETURN are executed here. Limits: TSR_LIST_NESTING_MAX open calls (NESTING fault),
 * TSR_LIST_STEPS_MAX jumps, calls and returns in a row without tsr_list_progress() (LOOP fault); a
 * list that ends outside a call is a STREAM_BOUND fault. Faults are those of command streams, with
 * the list's address of the offending qword. Plain bytes: it lives in the engine's job.
 */
#ifndef TSR_BINNER_LIST_H
#define TSR_BINNER_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

/* Longest packet of a list in qwords. */
#define TSR_LIST_PACKET_QWORDS 6
/* Bytes read ahead; never across a jump, a call or the list's end. */
#define TSR_LIST_PREFETCH 256

/* An open list. Addresses wrap at 2^64; only their differences are compared. */
struct tsr_list_frame {
	uint64_t pc;			/* next packet */
	uint64_t end;			/* first byte after the list */
};

struct tsr_list {
	uint64_t word[TSR_LIST_PACKET_QWORDS];	/* the packet fetched */
	uint64_t pc;			/* its address */
	struct tsr_list_frame frame[TSR_LIST_NESTING_MAX + 1];
	uint8_t depth;			/* open calls; frame[depth] is the present list */
	uint8_t cls;			/* enum tsr_engine_class whose packets it takes */
	/* a tile's list: its end, and LIST_RETURN outside a call, end it; LIST_HALT does not */
	uint8_t tile;
	uint32_t steps;			/* jumps, calls, returns without progress */
	uint64_t cycles;		/* of all packets since tsr_list_start() */
	uint64_t ahead;			/* address of prefetch[0] */
	uint32_t held;			/* bytes in prefetch[] */
	uint8_t prefetch[TSR_LIST_PREFETCH];
};

/* Start at @addr, @size bytes, both checked by the caller (64-byte and 8-byte aligned, not 0). */
void tsr_list_start(struct tsr_list *list, enum tsr_engine_class cls, uint64_t addr, uint32_t size,
		    bool tile);
/*
 * Fetch the next packet that is not the executor's own into list->word and step over it.
 * TSR_STEP_DONE: there is one; a tile's list has ended if its opcode is TSR_OP_LIST_RETURN.
 * TSR_STEP_MORE: many jumps, call again in the next step. _PENDING, _FAULT.
 */
enum tsr_step tsr_list_next(struct tsr_list *list, struct tsr_mem *mem);
/* A draw or a tile has been begun: the list gets on. */
static inline void tsr_list_progress(struct tsr_list *list)
{
	list->steps = 0;
}
/* A fault of the packet fetched: @code of qword @qword. Returns TSR_STEP_FAULT. */
enum tsr_step tsr_list_fault(const struct tsr_list *list, struct tsr_mem *mem, unsigned int qword,
			     uint8_t code);

#endif
