/* SPDX-License-Identifier: MIT */
#include "list.h"

#include <string.h>

#include "tsr_desc.h"


/* Packets of its own that the executor does in one call of tsr_list_next(). */
#define STEPS_AT_ONCE 256
/* The first opcode of packets for tiles' lists. */
#define FIRST_TILE_OPCODE TSR_OP_TILE_CLEAR

void tsr_list_start(struct tsr_list *list, enum tsr_engine_class cls, uint64_t addr, uint32_t size,
		    bool tile)
{
	list->frame[0] = (struct tsr_list_frame){ addr, addr + size };
	list->depth = 0;
	list->cls = cls;
	list->tile = tile;
	list->steps = 0;
	list->cycles = 0;
	/* what has been read ahead of the tile before is not read again */
	if (!tile || list->ahead != addr)
		list->held = 0;
}

enum tsr_step tsr_list_fault(const struct tsr_list *list, struct tsr_mem *mem, unsigned int qword,
			     uint8_t code)
{
	mem->unit = TSR_UNIT_LIST;
	return tsr_mem_bad_packet(mem, list->pc, qword, code);
}

/* Have @qwords from list->pc on in list->word. They are within the list. */
static enum tsr_step fetch(struct tsr_list *list, struct tsr_mem *mem, unsigned int qwords)
{
	uint64_t left = list->frame[list->depth].end - list->pc, offset = list->pc - list->ahead;
	uint64_t want = qwords * sizeof(list->word[0]);

	if (offset > list->held || list->held - offset < want) {
		list->ahead = list->pc;
		list->held = 0;
		offset = 0;
		if (left > TSR_LIST_PREFETCH)
			left = TSR_LIST_PREFETCH;
		while (list->held < want) {
			uint64_t len = left - list->held;
			enum tsr_step step = tsr_mem_fetch(mem, list->ahead + list->held,
							   &list->prefetch[list->held], &len);

			if (step != TSR_STEP_DONE)
				return step;
			list->held += len;
		}
	}
	/* a copy of whatever stands after it is faster than one of so many bytes */
	if (offset + sizeof(list->word) <= sizeof(list->prefetch))
		memcpy(list->word, &list->prefetch[offset], sizeof(list->word));
	else
		memcpy(list->word, &list->prefetch[offset], want);
	return TSR_STEP_DONE;
}

/* The error of the packet's header, TSR_FAULT_NONE if it is correct. */
static uint8_t check_header(const struct tsr_list *list, uint64_t left)
{
	const struct tsr_desc_packet *desc = tsr_desc_packets[tsr_packet_opcode(list->word[0])];
	unsigned int qwords = tsr_packet_qwords(list->word[0]);
	bool common;

	if (!desc || desc->level != TSR_DESC_LIST)
		return TSR_FAULT_UNKNOWN_OPCODE;
	if (qwords < desc->min_qwords || qwords > desc->max_qwords)
		return TSR_FAULT_BAD_LENGTH;
	if (qwords * sizeof(uint64_t) > left)
		return TSR_FAULT_STREAM_BOUND;
	common = desc->opcode >= TSR_OP_LIST_CALL && desc->opcode <= TSR_OP_LIST_RETURN;
	if (!(desc->classes >> list->cls & 1) ||
	    (!common && list->tile != (desc->opcode >= FIRST_TILE_OPCODE)))
		return TSR_FAULT_WRONG_CLASS;
	return TSR_FAULT_NONE;
}

/* Fetch the packet at the list's pc whole, and check its reserved bits. */
static enum tsr_step fetch_packet(struct tsr_list *list, struct tsr_mem *mem)
{
	struct tsr_list_frame *frame = &list->frame[list->depth];
	const struct tsr_desc_packet *desc;
	enum tsr_step step;
	uint8_t code;

	list->pc = frame->pc;
	step = fetch(list, mem, 1);
	if (step != TSR_STEP_DONE)
		return step;
	code = check_header(list, frame->end - frame->pc);
	if (code)
		return tsr_list_fault(list, mem, 0, code);
	step = fetch(list, mem, tsr_packet_qwords(list->word[0]));
	if (step != TSR_STEP_DONE)
		return step;
	desc = tsr_desc_packets[tsr_packet_opcode(list->word[0])];
	for (unsigned int i = 0; i < desc->num_mbz; i++) {
		if (list->word[i] & desc->mbz[i])
			return tsr_list_fault(list, mem, i, TSR_FAULT_RESERVED_BITS);
	}
	return TSR_STEP_DONE;
}

/* LIST_CALL and LIST_JUMP: what they name, or a fault. */
static enum tsr_step target(const struct tsr_list *list, struct tsr_mem *mem,
			    struct tsr_list_frame *to)
{
	struct tsr_list_call call;

	tsr_unpack_list_call(list->word, &call);
	if (call.addr % TSR_STREAM_ALIGN)
		return tsr_list_fault(list, mem, 1, TSR_FAULT_ALIGNMENT);
	if (!call.size || call.size > TSR_STREAM_SIZE_MAX)
		return tsr_list_fault(list, mem, 2, TSR_FAULT_BAD_VALUE);
	if (call.size % sizeof(uint64_t))
		return tsr_list_fault(list, mem, 2, TSR_FAULT_ALIGNMENT);
	*to = (struct tsr_list_frame){ call.addr, call.addr + call.size };
	return TSR_STEP_DONE;
}

/* The present list has ended: back after the call. */
static void leave(struct tsr_list *list)
{
	list->depth--;
	list->held = 0;
	list->steps++;
}

/* The executor's own packets; TSR_STEP_MORE: it was one, and is done. */
static enum tsr_step execute(struct tsr_list *list, struct tsr_mem *mem)
{
	unsigned int opcode = tsr_packet_opcode(list->word[0]);
	struct tsr_list_frame to = { 0 };
	enum tsr_step step;

	switch (opcode) {
	case TSR_OP_LIST_CALL:
	case TSR_OP_LIST_JUMP:
		step = target(list, mem, &to);
		if (step != TSR_STEP_DONE)
			return step;
		if (opcode == TSR_OP_LIST_CALL && list->depth == TSR_LIST_NESTING_MAX)
			return tsr_list_fault(list, mem, 0, TSR_FAULT_NESTING);
		list->depth += opcode == TSR_OP_LIST_CALL;
		list->frame[list->depth] = to;
		list->held = 0;
		list->steps++;
		return TSR_STEP_MORE;
	case TSR_OP_LIST_RETURN:
		if (!list->depth)
			return list->tile ? TSR_STEP_DONE :
					    tsr_list_fault(list, mem, 0, TSR_FAULT_BAD_VALUE);
		leave(list);
		return TSR_STEP_MORE;
	default:
		return TSR_STEP_DONE;
	}
}

/* One packet, or the end of a list. As tsr_list_next(). */
static enum tsr_step next(struct tsr_list *list, struct tsr_mem *mem)
{
	struct tsr_list_frame *frame = &list->frame[list->depth];
	enum tsr_step step;

	if (frame->pc == frame->end) {
		list->pc = frame->pc;
		list->cycles++;
		if (list->depth) {
			leave(list);
			return TSR_STEP_MORE;
		}
		if (!list->tile)
			return tsr_list_fault(list, mem, 0, TSR_FAULT_STREAM_BOUND);
		list->word[0] = TSR_OP_LIST_RETURN;
		return TSR_STEP_DONE;
	}
	step = fetch_packet(list, mem);
	if (step != TSR_STEP_DONE)
		return step;
	if (list->steps >= TSR_LIST_STEPS_MAX && tsr_packet_opcode(list->word[0]) >=
	    TSR_OP_LIST_CALL && tsr_packet_opcode(list->word[0]) <= TSR_OP_LIST_RETURN)
		return tsr_list_fault(list, mem, 0, TSR_FAULT_LOOP);
	frame->pc += tsr_packet_qwords(list->word[0]) * sizeof(uint64_t);
	list->cycles += tsr_packet_qwords(list->word[0]);
	return execute(list, mem);
}

enum tsr_step tsr_list_next(struct tsr_list *list, struct tsr_mem *mem)
{
	enum tsr_step step = TSR_STEP_MORE;

	mem->unit = TSR_UNIT_LIST;
	for (unsigned int i = 0; step == TSR_STEP_MORE && i < STEPS_AT_ONCE; i++)
		step = next(list, mem);
	return step;
}
