/* SPDX-License-Identifier: MIT */
#include "device/gpu.h"

unsigned int tsr_event_when(const struct tsr_packet *packet)
{
	uint64_t header = packet->word[0];

	switch (tsr_packet_opcode(header)) {
	case TSR_OP_FENCE: {
		struct tsr_fence fence;

		tsr_unpack_fence(packet->word, &fence);
		return fence.event;
	}
	case TSR_OP_TIMESTAMP: {
		struct tsr_timestamp timestamp;

		tsr_unpack_timestamp(packet->word, &timestamp);
		return timestamp.event;
	}
	case TSR_OP_SIGNAL: {
		struct tsr_signal signal;

		tsr_unpack_signal(packet->word, &signal);
		return signal.event;
	}
	default: {
		struct tsr_signal_reg signal;

		tsr_unpack_signal_reg(packet->word, &signal);
		return signal.event;
	}
	}
}

static enum tsr_step fence_write(struct tsr_mem *mem, const struct tsr_packet *packet)
{
	struct tsr_fence fence;
	enum tsr_step step;

	tsr_unpack_fence(packet->word, &fence);
	if (tsr_inject_armed(mem->gpu))
		step = mem->gpu->hooks->fence(mem, fence.addr, fence.value);
	else
		step = tsr_mem_store(mem, fence.addr, true, fence.value);
	/* only now: a store that waits for the host begins again */
	if (step == TSR_STEP_DONE && mem->gpu->cfg.check && !packet->depth)
		mem->gpu->hooks->fenced(mem->queue, mem->as, fence.addr, fence.value);
	if (step == TSR_STEP_DONE && fence.irq)
		tsr_irq_raise(&mem->gpu->irq, TSR_IRQ_CLASS_JOB, 1ull << mem->queue->index);
	return step;
}

static enum tsr_step signal_write(struct tsr_mem *mem, const struct tsr_packet *packet)
{
	struct tsr_signal signal;

	tsr_unpack_signal(packet->word, &signal);
	if (signal.op == TSR_SIGNAL_OP_ADD)
		return tsr_mem_add(mem, signal.addr, signal.wide, signal.value);
	return tsr_mem_store(mem, signal.addr, signal.wide, signal.value);
}

static enum tsr_step timestamp_write(struct tsr_mem *mem, const struct tsr_packet *packet)
{
	struct tsr_timestamp timestamp;

	tsr_unpack_timestamp(packet->word, &timestamp);
	return tsr_mem_store(mem, timestamp.addr, true, tsr_clock(&mem->gpu->counters));
}

static enum tsr_step dispatch(struct tsr_mem *mem, const struct tsr_packet *packet)
{
	struct tsr_signal_reg signal;

	switch (tsr_packet_opcode(packet->word[0])) {
	case TSR_OP_FENCE:
		return fence_write(mem, packet);
	case TSR_OP_SIGNAL:
		return signal_write(mem, packet);
	case TSR_OP_TIMESTAMP:
		return timestamp_write(mem, packet);
	default:
		tsr_unpack_signal_reg(packet->word, &signal);
		tsr_semaphore_signal(mem->gpu, signal.index, signal.op, signal.value);
		return TSR_STEP_DONE;
	}
}

enum tsr_step tsr_event_apply(struct tsr_mem *mem, const struct tsr_packet *packet)
{
	enum tsr_step step = dispatch(mem, packet);
	uint64_t args[4] = { mem->queue->index, tsr_packet_opcode(packet->word[0]), packet->word[1],
			     packet->word[2] };

	if (step != TSR_STEP_DONE)
		return step;
	tsr_count(&mem->queue->counter[TSR_QUEUE_COUNTER_FENCES], 1);
	tsr_trace(mem->gpu, TSR_TRACE_EVENT, args, 4);
	tsr_semaphore_changed(mem->runner);
	return TSR_STEP_DONE;
}

/* Present value of a counter of the queue that is running. */
static uint64_t counter_now(struct tsr_queue *q, unsigned int id)
{
	uint64_t value = atomic_load_explicit(&q->counter[id], memory_order_relaxed);

	if (id == TSR_QUEUE_COUNTER_BUSY_TIME)
		value += tsr_clock(&q->gpu->counters) - q->run_since;
	return value;
}

/* Counters of modelled caches. */
#define CACHES	(1ull << TSR_QUEUE_COUNTER_TEXTURE_TOUCHES |	\
		 1ull << TSR_QUEUE_COUNTER_TEXTURE_FILLS |	\
		 1ull << TSR_QUEUE_COUNTER_TEXTURE_MISSES |	\
		 1ull << TSR_QUEUE_COUNTER_TEXTURE_DECODES)

void tsr_interval_begin(struct tsr_queue *q, const struct tsr_packet *packet)
{
	struct tsr_interval *interval = &q->exec.interval;
	struct tsr_counter_begin begin;

	tsr_unpack_counter_begin(packet->word, &begin);
	interval->mask = begin.mask;
	interval->number += (begin.mask & CACHES) != 0;
	interval->user = packet->depth > 0;
	interval->written = 0;
	for (unsigned int id = 0; id < TSR_QUEUE_COUNTERS; id++)
		interval->base[id] = counter_now(q, id);
	/* The packet retires after this. */
	interval->base[TSR_QUEUE_COUNTER_CYCLES] += TSR_COUNTER_BEGIN_QWORDS;
	interval->base[TSR_QUEUE_COUNTER_CP_PACKETS] += 1;
}

enum tsr_step tsr_interval_end(struct tsr_mem *mem, const struct tsr_packet *packet)
{
	struct tsr_interval *interval = &mem->queue->exec.interval;
	unsigned int word = 0;
	struct tsr_counter_end end;

	tsr_unpack_counter_end(packet->word, &end);
	for (unsigned int id = 0; id < TSR_QUEUE_COUNTERS; id++) {
		uint64_t grown = counter_now(mem->queue, id) - interval->base[id];
		enum tsr_step step;

		if (!(interval->mask >> id & 1) || word++ < interval->written)
			continue;
		step = tsr_mem_add(mem, end.addr + (word - 1) * sizeof(uint64_t), true, grown);
		if (step != TSR_STEP_DONE)
			return step;
		interval->written++;
	}
	interval->mask = 0;
	return TSR_STEP_DONE;
}

uint64_t tsr_interval_caches(const struct tsr_queue *q)
{
	const struct tsr_interval *interval = &q->exec.interval;
	const struct tsr_config *cfg = &q->gpu->cfg;

	if (interval->mask & CACHES)
		return 2 + q->index + ((uint64_t)interval->number << 32);
	return cfg->deterministic || cfg->strict_code;
}
