/* SPDX-License-Identifier: MIT */
#include "device/gpu.h"

static struct tsr_defect defect(unsigned int code, unsigned int qword)
{
	return (struct tsr_defect) { .code = code, .qword = qword };
}

static struct tsr_defect fine(void)
{
	return defect(TSR_FAULT_NONE, 0);
}

unsigned int tsr_packet_words(uint64_t header)
{
	return tsr_desc_packets[tsr_packet_opcode(header)]->num_mbz;
}

struct tsr_defect tsr_packet_check_header(const struct tsr_queue *q, uint64_t header,
					  uint64_t limit, bool ring)
{
	const struct tsr_desc_packet *desc = tsr_desc_packets[tsr_packet_opcode(header)];
	unsigned int qwords = tsr_packet_qwords(header);

	if (!desc)
		return defect(TSR_FAULT_UNKNOWN_OPCODE, 0);
	if (qwords < desc->min_qwords || qwords > desc->max_qwords)
		return defect(TSR_FAULT_BAD_LENGTH, 0);
	if (qwords * sizeof(uint64_t) > limit)
		return defect(TSR_FAULT_STREAM_BOUND, 0);
	if (desc->level == TSR_DESC_LIST || desc->level == (ring ? TSR_DESC_USER : TSR_DESC_RING))
		return defect(TSR_FAULT_PRIVILEGE, 0);
	if (!(desc->classes >> tsr_queue_class(q) & 1))
		return defect(TSR_FAULT_WRONG_CLASS, 0);
	if (desc->refused)
		return defect(TSR_FAULT_UNSUPPORTED, 0);
	return fine();
}

/* CALL and JUMP: a stream. */
static struct tsr_defect check_stream(const uint64_t *words)
{
	struct tsr_call call;

	tsr_unpack_call(words, &call);
	if (call.addr % TSR_STREAM_ALIGN)
		return defect(TSR_FAULT_ALIGNMENT, 1);
	if (!call.size || call.size > TSR_STREAM_SIZE_MAX)
		return defect(TSR_FAULT_BAD_VALUE, 2);
	if (call.size % sizeof(uint64_t))
		return defect(TSR_FAULT_ALIGNMENT, 2);
	return fine();
}

/* A word in memory at qword 1 and its operand in qword 2. */
static struct tsr_defect check_word(const uint64_t *words, bool wide)
{
	if (words[1] % (wide ? 8 : 4))
		return defect(TSR_FAULT_ALIGNMENT, 1);
	if (!wide && words[2] >> 32)
		return defect(TSR_FAULT_BAD_VALUE, 2);
	return fine();
}

static struct tsr_defect check_wait(const uint64_t *words)
{
	struct tsr_wait wait;

	tsr_unpack_wait(words, &wait);
	if (wait.op > TSR_COMPARE_LT)
		return defect(TSR_FAULT_BAD_VALUE, 0);
	return check_word(words, wait.wide);
}

static struct tsr_defect check_wait_reg(const uint64_t *words)
{
	struct tsr_wait_reg wait;

	tsr_unpack_wait_reg(words, &wait);
	if (wait.op > TSR_COMPARE_LT || wait.index >= TSR_SEMAPHORES_MAX)
		return defect(TSR_FAULT_BAD_VALUE, 0);
	return fine();
}

static struct tsr_defect check_signal(const uint64_t *words)
{
	struct tsr_signal signal;

	tsr_unpack_signal(words, &signal);
	return check_word(words, signal.wide);
}

static struct tsr_defect check_signal_reg(const uint64_t *words)
{
	struct tsr_signal_reg signal;

	tsr_unpack_signal_reg(words, &signal);
	return signal.index >= TSR_SEMAPHORES_MAX ? defect(TSR_FAULT_BAD_VALUE, 0) : fine();
}

/* FENCE, TIMESTAMP, COUNTER_END: 64-bit words. */
static struct tsr_defect check_qword_address(const uint64_t *words)
{
	return words[1] % 8 ? defect(TSR_FAULT_ALIGNMENT, 1) : fine();
}

static struct tsr_defect check_tlb_invalidate(const uint64_t *words)
{
	struct tsr_tlb_invalidate inv;

	tsr_unpack_tlb_invalidate(words, &inv);
	if (inv.op > TSR_INV_OP_ALL || inv.as >= TSR_ADDRESS_SPACES_MAX)
		return defect(TSR_FAULT_BAD_VALUE, 0);
	if (inv.op != TSR_INV_OP_RANGE && inv.va)
		return defect(TSR_FAULT_BAD_VALUE, 1);
	if (inv.op != TSR_INV_OP_RANGE && inv.size)
		return defect(TSR_FAULT_BAD_VALUE, 2);
	return fine();
}

static struct tsr_defect check_heap(const uint64_t *words)
{
	struct tsr_heap heap;

	tsr_unpack_heap(words, &heap);
	if (heap.base % TSR_HEAP_ALIGN)
		return defect(TSR_FAULT_ALIGNMENT, 1);
	return heap.size > heap.max ? defect(TSR_FAULT_BAD_VALUE, 2) : fine();
}

static struct tsr_defect check_values(const uint64_t *words)
{
	switch (tsr_packet_opcode(words[0])) {
	case TSR_OP_CALL:
	case TSR_OP_JUMP:
		return check_stream(words);
	case TSR_OP_WAIT:
		return check_wait(words);
	case TSR_OP_WAIT_REG:
		return check_wait_reg(words);
	case TSR_OP_SIGNAL:
		return check_signal(words);
	case TSR_OP_SIGNAL_REG:
		return check_signal_reg(words);
	case TSR_OP_FENCE:
	case TSR_OP_TIMESTAMP:
	case TSR_OP_COUNTER_END:
		return check_qword_address(words);
	case TSR_OP_TLB_INVALIDATE:
		return check_tlb_invalidate(words);
	case TSR_OP_HEAP:
		return check_heap(words);
	/*
	 * NOP, RETURN, BARRIER and COUNTER_BEGIN have no values; those of engine commands are the
	 * engine's
	 */
	default:
		return fine();
	}
}

struct tsr_defect tsr_packet_check_words(const uint64_t *words, bool ring)
{
	const struct tsr_desc_packet *desc = tsr_desc_packets[tsr_packet_opcode(words[0])];

	for (unsigned int i = 0; i < desc->num_mbz; i++) {
		if (words[i] & desc->mbz[i])
			return defect(TSR_FAULT_RESERVED_BITS, i);
	}
	if (!ring && (words[0] & desc->ring_only))
		return defect(TSR_FAULT_PRIVILEGE, 0);
	return check_values(words);
}
