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

/* Entry @i, the oldest is 0. */
static struct tsr_packet *entry(struct tsr_fifo *fifo, unsigned int i)
{
	return &fifo->entry[(fifo->first + i) % TSR_FIFO_DEPTH];
}

static bool is_command(const struct tsr_packet *packet)
{
	return tsr_desc_packets[tsr_packet_opcode(packet->word[0])]->batch == TSR_DESC_ENGINE;
}

/* True if entry @i is a command that may still read memory. */
static bool reads(struct tsr_fifo *fifo, unsigned int i)
{
	static const struct tsr_engine_state start;
	const struct tsr_packet *packet = entry(fifo, i);

	return is_command(packet) &&
	       !tsr_copy_reads_done(packet->word, i ? &start : &fifo->state);
}

bool tsr_fifo_reads(struct tsr_fifo *fifo)
{
	for (unsigned int i = 0; i < fifo->count; i++) {
		if (reads(fifo, i))
			return true;
	}
	return false;
}

/*
 * The event that is due before the commands ahead of it are complete: the oldest one, if it waits
 * for reads and they have done theirs. An event never overtakes another one. 0: there is none.
 */
static unsigned int early_event(struct tsr_fifo *fifo)
{
	for (unsigned int i = 0; i < fifo->count && !reads(fifo, i); i++) {
		const struct tsr_packet *packet = entry(fifo, i);

		if (!is_command(packet))
			return tsr_event_when(packet) == TSR_EVENT_READS_DONE ? i : 0;
	}
	return 0;
}

/* Remove entry @i, not the oldest. */
static void remove_entry(struct tsr_fifo *fifo, unsigned int i)
{
	for (; i; i--)
		*entry(fifo, i) = *entry(fifo, i - 1);
	fifo->first = (fifo->first + 1) % TSR_FIFO_DEPTH;
	fifo->count--;
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
	if (tsr_cp_at_barrier(&q->exec))
		tsr_count(&q->counter[TSR_QUEUE_COUNTER_BARRIER_CYCLES], cost.cycles);
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

/*
 * Apply the event that is due early; TSR_STEP_MORE if there is none. One that would fault is left
 * for its place in the order, because what is before a fault must be complete.
 */
static enum tsr_step early_step(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_fifo *fifo = &q->exec.fifo;
	const unsigned int i = early_event(fifo);
	enum tsr_step step;
	struct tsr_mem mem;

	if (!i)
		return TSR_STEP_MORE;
	mem = tsr_runner_mem(runner, q, entry(fifo, i)->as, TSR_UNIT_CP);
	step = tsr_event_apply(&mem, entry(fifo, i));
	if (step == TSR_STEP_DONE)
		remove_entry(fifo, i);
	return step == TSR_STEP_FAULT ? TSR_STEP_MORE : step;
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
	runner->own.caches = tsr_interval_caches(q);
	step = early_step(runner, q);
	if (step != TSR_STEP_MORE)
		return step == TSR_STEP_DONE ? TSR_FIFO_STEPPED : TSR_FIFO_PENDING;
	engine = is_command(packet);
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
