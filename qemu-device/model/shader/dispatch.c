/* SPDX-License-Identifier: MIT */
#include "dispatch.h"

#include <stdlib.h>

#include "gpu.h"
#include "core.h"
#include "stream.h"

/* tsr_engine_state.word: */
enum {
	WORD_PHASE,			/* 0: not begun, 1: the queue has a grid */
};

void tsr_dispatch_drop(struct tsr_queue *q)
{
	tsr_grid_free(q->grid);
	q->grid = NULL;
	free(q->packed);
	q->packed = NULL;
	tsr_thread_pool_forget(q);
}

/* ---- Off the engine -------------------------------------------------------------------------- */

void tsr_dispatch_pack(struct tsr_queue *q)
{
	struct tsr_stream s = { 0 };

	if (!q->grid)
		return;
	tsr_grid_visit(&s, q->gpu, &q->grid);
	q->packed = malloc(s.pos);
	if (!q->packed)
		return;
	q->packed_bytes = s.pos;
	s = (struct tsr_stream){ .buf = q->packed, .size = q->packed_bytes };
	tsr_grid_visit(&s, q->gpu, &q->grid);
	tsr_grid_free(q->grid);
	q->grid = NULL;
	q->job = NULL;
}

/* The reverse; false: no memory. */
static bool unpack(struct tsr_queue *q)
{
	struct tsr_stream s = { .buf = q->packed, .size = q->packed_bytes, .loading = true };

	tsr_grid_visit(&s, q->gpu, &q->grid);
	if (!q->grid)
		return false;
	free(q->packed);
	q->packed = NULL;
	q->job = &q->grid->job;
	return true;
}

void tsr_dispatch_visit(struct tsr_stream *s, struct tsr_queue *q)
{
	if (q->packed)
		tsr_stream_bytes(s, q->packed, q->packed_bytes);
	else
		tsr_grid_visit(s, q->gpu, &q->grid);
	q->job = q->grid ? &q->grid->job : NULL;
}

/* ---- On the engine --------------------------------------------------------------------------- */

bool tsr_dispatch_begun(const struct tsr_packet *packet, const struct tsr_engine_state *state)
{
	unsigned int opcode = tsr_packet_opcode(packet->word[0]);

	return (opcode == TSR_OP_DISPATCH || opcode == TSR_OP_DISPATCH_INDIRECT) &&
	       state->word[WORD_PHASE];
}

/* The memory of the engine that @q is on. */
static struct tsr_grid **spare_of(struct tsr_queue *q)
{
	return &q->gpu->memory[q->engine].grid;
}

static enum tsr_step run(struct tsr_mem *mem, struct tsr_step_cost *cost)
{
	struct tsr_queue *q = mem->queue;
	enum tsr_step step = tsr_thread_pool_run(mem, cost);

	if (step == TSR_STEP_DONE) {
		q->job = NULL;
		tsr_grid_free(*spare_of(q));
		*spare_of(q) = q->grid;
		q->grid = NULL;
	} else if (step == TSR_STEP_FAULT) {
		tsr_dispatch_drop(q);
	}
	return step;
}

enum tsr_step tsr_dispatch_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
				struct tsr_engine_state *state, struct tsr_step_cost *cost)
{
	struct tsr_queue *q = mem->queue;
	enum tsr_step step;

	*cost = (struct tsr_step_cost){ 0, 0, 0 };
	if (!tsr_thread_pool_shader(mem->runner))
		return tsr_mem_bad_packet(mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	if (q->packed && !unpack(q)) {
		tsr_dispatch_drop(q);
		return tsr_mem_bad_packet(mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	}
	if (state->word[WORD_PHASE])
		return run(mem, cost);
	mem->unit = TSR_UNIT_DISPATCH;
	step = tsr_grid_begin(mem, pc, cmd, spare_of(q), &q->grid);
	if (step != TSR_STEP_DONE || !q->grid)
		return step;
	q->job = &q->grid->job;
	state->word[WORD_PHASE] = 1;
	return TSR_STEP_MORE;
}
