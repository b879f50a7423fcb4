/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "binner/bin_engine.h"
#include "device/gpu.h"
#include "render/render_engine.h"

bool tsr_fifo_full(const struct tsr_fifo *fifo)
{
	return fifo->count == TSR_FIFO_DEPTH;
}

void tsr_fifo_push(struct tsr_fifo *fifo, const struct tsr_packet *packet)
{
	fifo->entry[(fifo->first + fifo->count++) % TSR_FIFO_DEPTH] = *packet;
}

void tsr_fifo_clear(struct tsr_fifo *fifo)
{
	memset(fifo, 0, sizeof(*fifo));
}

static void pop(struct tsr_fifo *fifo)
{
	fifo->first = (fifo->first + 1) % TSR_FIFO_DEPTH;
	fifo->count--;
	memset(&fifo->state, 0, sizeof(fifo->state));
	fifo->begun = false;
}

bool tsr_fifo_unwound(const struct tsr_queue *q)
{
	const struct tsr_fifo *fifo = &q->exec.fifo;
	const struct tsr_packet *packet = &fifo->entry[fifo->first];

	if (!fifo->count)
		return false;
	return tsr_bin_begun(packet->word, &fifo->state) ||
	       (tsr_render_begun(packet->word, &fifo->state) && !tsr_render_rests(&q->work));
}

/* One burst of the engine, with its cost. */
static enum tsr_step engine_step(struct tsr_mem *mem, const struct tsr_packet *packet)
{
	struct tsr_queue *q = mem->queue;
	struct tsr_step_cost cost = { 0 };
	enum tsr_step step;

	if (tsr_queue_class(q) == TSR_ENGINE_CLASS_COMPUTE) {
		mem->unit = TSR_UNIT_DISPATCH;
		step = tsr_dispatch_step(mem, packet->pc, packet->word, &q->exec.fifo.state, &cost);
	} else if (tsr_queue_class(q) == TSR_ENGINE_CLASS_BIN) {
		mem->unit = TSR_UNIT_BINNER;
		step = tsr_bin_step(mem, packet->pc, packet->word, &q->exec.fifo.state, &cost);
	} else if (tsr_queue_class(q) == TSR_ENGINE_CLASS_RENDER) {
		mem->unit = TSR_UNIT_TILE;
		step = tsr_render_step(mem, packet->pc, packet->word, &q->exec.fifo.state, &cost);
	} else {
		mem->unit = TSR_UNIT_COPY;
		step = tsr_copy_step(mem, packet->pc, packet->word, &q->exec.fifo.state, &cost);
		if (step == TSR_STEP_DONE && tsr_inject_armed(mem->gpu))
			mem->gpu->hooks->copied(mem->runner, q);
	}
	tsr_mem_flush_dirty(mem->port);
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_READ_BYTES], cost.read_bytes);
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_WRITE_BYTES], cost.write_bytes);
	tsr_run_cycles(mem->runner, q, cost.cycles);
	if (step == TSR_STEP_DONE || step == TSR_STEP_MORE)
		tsr_count(&q->progress, 1);
	if (step == TSR_STEP_DONE) {
		uint64_t args[3] = { q->index, packet->pc, packet->word[0] };

		tsr_count(&q->counter[TSR_QUEUE_COUNTER_ENGINE_COMMANDS], 1);
		tsr_trace(mem->gpu, TSR_TRACE_COMMAND_DONE, args, 3);
	}
	return step;
}

/* True if the engine of @q hangs instead of its next burst, on purpose. */
static bool hangs(struct tsr_runner *runner, struct tsr_queue *q)
{
	bool first = !q->exec.fifo.begun;

	q->exec.fifo.begun = true;
	if (!tsr_inject_armed(q->gpu) && !atomic_load_explicit(&q->hung, memory_order_relaxed))
		return false;
	return q->gpu->hooks->hangs(runner, q, first);
}

enum tsr_fifo_result tsr_fifo_step(struct tsr_runner *runner, struct tsr_queue *q, bool light)
{
	struct tsr_fifo *fifo = &q->exec.fifo;
	const struct tsr_packet *packet = &fifo->entry[fifo->first];
	struct tsr_mem mem = tsr_runner_mem(runner, q, packet->as, TSR_UNIT_CP);
	bool engine;
	enum tsr_step step;

	if (!fifo->count)
		return TSR_FIFO_EMPTY;
	engine = tsr_desc_packets[tsr_packet_opcode(packet->word[0])]->batch == TSR_DESC_ENGINE;
	if (engine && light)
		return TSR_FIFO_HEAVY;
	if (engine && hangs(runner, q))
		return TSR_FIFO_STEPPED;
	step = engine ? engine_step(&mem, packet) : tsr_event_apply(&mem, packet);
	if (engine && step != TSR_STEP_PENDING && tsr_inject_armed(q->gpu))
		q->gpu->hooks->slow(runner, q);
	switch (step) {
	case TSR_STEP_DONE:
		pop(fifo);
		return TSR_FIFO_STEPPED;
	case TSR_STEP_MORE:
		return TSR_FIFO_STEPPED;
	case TSR_STEP_PENDING:
		return TSR_FIFO_PENDING;
	default:
		tsr_run_record(&q->exec.fault, packet, &mem.fault);
		tsr_fifo_clear(fifo);
		return TSR_FIFO_FAULT;
	}
}
