/* SPDX-License-Identifier: MIT */
#include "dispatch.h"

#include <stdlib.h>

#include "core.h"
#include "state_io.h"
#include "work.h"

/* tsr_engine_state.word: */
enum {
	WORD_PHASE,			/* 0: not begun, 1: the queue has a grid */
};

void tsr_dispatch_drop(struct tsr_work *work)
{
	tsr_grid_free(work->grid);
	work->grid = NULL;
	free(work->packed);
	work->packed = NULL;
	tsr_thread_pool_forget(work);
}

/* ---- Off the engine -------------------------------------------------------------------------- */

void tsr_dispatch_pack(struct tsr_work *work)
{
	struct tsr_stream s = { 0 };

	if (!work->grid)
		return;
	tsr_grid_visit(&s, work->env, &work->grid);
	work->packed = malloc(s.pos);
	if (!work->packed)
		return;
	work->packed_bytes = s.pos;
	s = (struct tsr_stream){ .buf = work->packed, .size = work->packed_bytes };
	tsr_grid_visit(&s, work->env, &work->grid);
	tsr_grid_free(work->grid);
	work->grid = NULL;
	work->job = NULL;
}

/* The reverse; false: no memory. */
static bool unpack(struct tsr_work *work)
{
	struct tsr_stream s = { .buf = work->packed, .size = work->packed_bytes, .loading = true };

	tsr_grid_visit(&s, work->env, &work->grid);
	if (!work->grid)
		return false;
	free(work->packed);
	work->packed = NULL;
	work->job = &work->grid->job;
	return true;
}

void tsr_dispatch_visit(struct tsr_stream *s, struct tsr_work *work)
{
	if (work->packed)
		tsr_stream_bytes(s, work->packed, work->packed_bytes);
	else
		tsr_grid_visit(s, work->env, &work->grid);
	work->job = work->grid ? &work->grid->job : NULL;
}

/* ---- On the engine --------------------------------------------------------------------------- */

bool tsr_dispatch_begun(const uint64_t *cmd, const struct tsr_engine_state *state)
{
	unsigned int opcode = tsr_packet_opcode(cmd[0]);

	return (opcode == TSR_OP_DISPATCH || opcode == TSR_OP_DISPATCH_INDIRECT) &&
	       state->word[WORD_PHASE];
}

/* The memory of the engine that @work's queue is on. */
static struct tsr_grid **spare_of(struct tsr_work *work)
{
	return &work->spare->grid;
}

static enum tsr_step run(struct tsr_mem *mem, struct tsr_step_cost *cost)
{
	struct tsr_work *work = mem->work;
	enum tsr_step step = tsr_thread_pool_run(mem, cost);

	if (step == TSR_STEP_DONE) {
		work->job = NULL;
		tsr_grid_free(*spare_of(work));
		*spare_of(work) = work->grid;
		work->grid = NULL;
	} else if (step == TSR_STEP_FAULT) {
		tsr_dispatch_drop(work);
	}
	return step;
}

enum tsr_step tsr_dispatch_step(struct tsr_mem *mem, uint64_t pc, const uint64_t *cmd,
				struct tsr_engine_state *state, struct tsr_step_cost *cost)
{
	struct tsr_work *work = mem->work;
	enum tsr_step step;

	*cost = (struct tsr_step_cost){ 0, 0, 0 };
	if (!tsr_thread_pool_shader(mem->thread))
		return tsr_mem_bad_packet(mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	if (work->packed && !unpack(work)) {
		tsr_dispatch_drop(work);
		return tsr_mem_bad_packet(mem, pc, 0, TSR_FAULT_UNSUPPORTED);
	}
	if (state->word[WORD_PHASE])
		return run(mem, cost);
	mem->unit = TSR_UNIT_DISPATCH;
	step = tsr_grid_begin(mem, pc, cmd, spare_of(work), &work->grid);
	if (step != TSR_STEP_DONE || !work->grid)
		return step;
	work->job = &work->grid->job;
	state->word[WORD_PHASE] = 1;
	return TSR_STEP_MORE;
}
