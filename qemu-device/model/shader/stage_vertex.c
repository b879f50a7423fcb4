/* SPDX-License-Identifier: MIT */
/* Batches of vertices: registers at entry. */
#include <string.h>

#include "../gpu.h"
#include "stage_run.h"

/* Registers a vertex program finds. */
enum {
	REG_RECORD = 58,		/* position programs: address of the record, two words */
	REG_VERTEX = 61,
	REG_INSTANCE = 62,
};

static void start(struct tsr_shader *sh, struct tsr_vertex_run *v)
{
	bool position = v->program->stage == TSR_STAGE_POSITION;
	uint16_t live[TSR_BUNDLE_WARPS] = { 0 };

	for (unsigned int n = 0; n < v->threads; n++)
		live[n / TSR_WARP_LANES] |= 1u << n % TSR_WARP_LANES;
	tsr_stage_start(sh, &v->run, v->program, live,
			(position ? 3ull << REG_RECORD : 0) | 3ull << REG_VERTEX, 0);
	if (position)
		memset(v->record, 0, sizeof(v->record));
	for (unsigned int n = 0; n < v->threads; n++) {
		const struct tsr_vertex_thread *t = &v->thread[n];
		unsigned int w = n / TSR_WARP_LANES, lane = n % TSR_WARP_LANES;
		uint64_t record = TSR_WINDOW_OUTPUT + t->slot * sizeof(v->record[0]);

		tsr_stage_reg(&v->run, REG_VERTEX, w)->u[lane] = t->vertex;
		tsr_stage_reg(&v->run, REG_INSTANCE, w)->u[lane] = t->instance;
		if (position) {
			tsr_stage_reg(&v->run, REG_RECORD, w)->u[lane] = record;
			tsr_stage_reg(&v->run, REG_RECORD + 1, w)->u[lane] = record >> 32;
		}
	}
}

enum tsr_step tsr_vertex_run(struct tsr_shader *sh, struct tsr_vertex_run *v)
{
	sh->env.vertices = v;
	sh->env.fragments = NULL;
	if (!tsr_stage_resume(sh, &v->run, v->program)) {
		tsr_mmu_fault(&sh->mem, TSR_FAULT_UNSUPPORTED, v->program->va, TSR_ACCESS_NONE, 0);
		sh->fault = sh->mem.fault;
		return TSR_STEP_FAULT;
	}
	if (!v->run.begun) {
		start(sh, v);
		sh->stats.vertices += v->threads;
	}
	return tsr_stage_advance(sh, &v->run);
}
