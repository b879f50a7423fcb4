// SPDX-License-Identifier: MIT
/* Recording of control, synchronization and measuring packets, with checks of their values. */
#include <errno.h>

#include "stream.h"

/* Write a packet from its structure: TSR_EMIT(stream, call, CALL, &v) returns 0 or an error. */
#define TSR_EMIT(stream, lower, UPPER, v) \
	({ \
		uint64_t *p_ = tsr_stream_emit(stream, TSR_##UPPER##_QWORDS); \
		if (p_) \
			tsr_pack_##lower(p_, v); \
		p_ ? 0 : tsr_stream_status(stream); \
	})

int tsr_cmd_nop(struct tsr_stream *stream, uint32_t qwords)
{
	const struct tsr_nop nop = { .qwords = qwords };
	uint64_t *p = tsr_stream_emit(stream, qwords);

	if (!p)
		return tsr_stream_status(stream);
	tsr_pack_nop(p, &nop);
	return 0;
}

int tsr_cmd_call(struct tsr_stream *stream, uint64_t va, uint32_t size)
{
	const struct tsr_call call = { .addr = va, .size = size };
	int ret;

	if (va % TSR_STREAM_ALIGN || size % 8 || !size || size > TSR_STREAM_SIZE_MAX)
		return tsr_stream_fail(stream, EINVAL,
				       "CALL of 0x%llx + 0x%x, expected an address that is a "
				       "multiple of %d and 8 to 0x%x bytes, a multiple of 8",
				       (unsigned long long)va, size, TSR_STREAM_ALIGN,
				       TSR_STREAM_SIZE_MAX);
	ret = TSR_EMIT(stream, call, CALL, &call);
	/* The accesses of the called stream are unknown. */
	if (!ret)
		tsr_hazards_add(tsr_stream_hazards(stream), NULL, 0, true);
	return ret;
}

int tsr_cmd_barrier(struct tsr_stream *stream, uint32_t flags)
{
	const struct tsr_barrier barrier = {
		.wait_reads = flags & TSR_CMD_WAIT_READS,
		.wait_writes = flags & TSR_CMD_WAIT_WRITES,
		.inv_read = flags & TSR_CMD_INVALIDATE_READ,
		.inv_code = flags & TSR_CMD_INVALIDATE_CODE,
	};
	int ret;

	if (flags & ~0xfu)
		return tsr_stream_fail(stream, EINVAL, "unknown BARRIER flags 0x%x", flags);
	ret = TSR_EMIT(stream, barrier, BARRIER, &barrier);
	if (!ret)
		tsr_hazards_barrier(tsr_stream_hazards(stream), flags);
	return ret;
}

/* Checks that the word of a packet is aligned to its size. */
static int check_word(struct tsr_stream *stream, const char *packet, uint64_t va, uint32_t size)
{
	if (va % size)
		return tsr_stream_fail(stream, EINVAL, "%s at 0x%llx, expected a multiple of %u",
				       packet, (unsigned long long)va, size);
	return 0;
}

static int check_event(struct tsr_stream *stream, const char *packet, enum tsr_event event)
{
	if ((unsigned int)event > TSR_EVENT_ALL_DONE)
		return tsr_stream_fail(stream, EINVAL, "%s with event %u, expected 0 to %d", packet,
				       (unsigned int)event, TSR_EVENT_ALL_DONE);
	return 0;
}

static int record_wait(struct tsr_stream *stream, const struct tsr_wait *wait)
{
	int ret = check_word(stream, "WAIT", wait->addr, wait->wide ? 8 : 4);

	if (ret)
		return ret;
	if (wait->op > TSR_COMPARE_LT)
		return tsr_stream_fail(stream, EINVAL,
				       "WAIT with comparison %u, expected EQ, GE or LT", wait->op);
	return TSR_EMIT(stream, wait, WAIT, wait);
}

int tsr_cmd_wait32(struct tsr_stream *stream, uint64_t va, enum tsr_compare op, uint32_t value)
{
	const struct tsr_wait wait = { .op = op, .addr = va, .value = value };

	return record_wait(stream, &wait);
}

int tsr_cmd_wait64(struct tsr_stream *stream, uint64_t va, enum tsr_compare op, uint64_t value)
{
	const struct tsr_wait wait = { .op = op, .wide = true, .addr = va, .value = value };

	return record_wait(stream, &wait);
}

static int record_signal(struct tsr_stream *stream, const struct tsr_signal *signal)
{
	int ret = check_word(stream, "SIGNAL", signal->addr, signal->wide ? 8 : 4);

	if (!ret)
		ret = check_event(stream, "SIGNAL", signal->event);
	if (ret)
		return ret;
	if (signal->op > TSR_SIGNAL_OP_ADD)
		return tsr_stream_fail(stream, EINVAL,
				       "SIGNAL with operation %u, expected SET or ADD", signal->op);
	return TSR_EMIT(stream, signal, SIGNAL, signal);
}

int tsr_cmd_signal32(struct tsr_stream *stream, uint64_t va, enum tsr_signal_op op,
		     enum tsr_event event, uint32_t value)
{
	const struct tsr_signal signal = {
		.op = op, .event = event, .addr = va, .value = value,
	};

	return record_signal(stream, &signal);
}

int tsr_cmd_signal64(struct tsr_stream *stream, uint64_t va, enum tsr_signal_op op,
		     enum tsr_event event, uint64_t value)
{
	const struct tsr_signal signal = {
		.op = op, .event = event, .wide = true, .addr = va, .value = value,
	};

	return record_signal(stream, &signal);
}

int tsr_cmd_fence(struct tsr_stream *stream, uint64_t va, enum tsr_event event, uint64_t value)
{
	const struct tsr_fence fence = { .event = event, .addr = va, .value = value };
	int ret = check_word(stream, "FENCE", va, 8);

	if (!ret)
		ret = check_event(stream, "FENCE", event);
	return ret ? ret : TSR_EMIT(stream, fence, FENCE, &fence);
}

int tsr_cmd_timestamp(struct tsr_stream *stream, uint64_t va, enum tsr_event event)
{
	const struct tsr_timestamp timestamp = { .event = event, .addr = va };
	int ret = check_word(stream, "TIMESTAMP", va, 8);

	if (!ret)
		ret = check_event(stream, "TIMESTAMP", event);
	return ret ? ret : TSR_EMIT(stream, timestamp, TIMESTAMP, &timestamp);
}

int tsr_cmd_counter_begin(struct tsr_stream *stream, uint64_t mask)
{
	const struct tsr_counter_begin begin = { .mask = mask };

	return TSR_EMIT(stream, counter_begin, COUNTER_BEGIN, &begin);
}

int tsr_cmd_counter_end(struct tsr_stream *stream, uint64_t va)
{
	const struct tsr_counter_end end = { .addr = va };
	int ret = check_word(stream, "COUNTER_END", va, 8);

	return ret ? ret : TSR_EMIT(stream, counter_end, COUNTER_END, &end);
}
