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

/*
 * Register @r of all threads: one word behind the other, 0 where there is no thread in the last
 * warp.
 */
static uint32_t *all_of(struct tsr_vertex_run *v, unsigned int r)
{
	uint32_t *word = (uint32_t *)tsr_stage_reg(&v->run, r, 0);

	if (v->threads % TSR_WARP_LANES)
		tsr_stage_fill((union tsr_lanes *)word + v->threads / TSR_WARP_LANES, 0);
	return word;
}

static void start(struct tsr_shader *sh, struct tsr_vertex_run *v)
{
	bool position = v->program->stage == TSR_STAGE_POSITION;
	uint64_t entry = (position ? 3ull << REG_RECORD : 0) | 3ull << REG_VERTEX;
	uint16_t live[TSR_BUNDLE_WARPS] = { 0 };
	const unsigned int threads = v->threads;
	uint32_t *low, *high;

	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		unsigned int before = w * TSR_WARP_LANES;

		if (v->threads >= before + TSR_WARP_LANES)
			live[w] = UINT16_MAX;
		else if (v->threads > before)
			live[w] = (1u << (v->threads - before)) - 1;
	}
	tsr_stage_start(sh, &v->run, v->program, live, entry, entry);
	memcpy(all_of(v, REG_VERTEX), v->vertex, threads * sizeof(v->vertex[0]));
	memcpy(all_of(v, REG_INSTANCE), v->instance, threads * sizeof(v->instance[0]));
	if (!position)
		return;
	memset(v->record, 0, v->records * sizeof(v->record[0]));
	/* most programs ask LEA_ATTR where their record is */
	if (!(v->run.reads >> REG_RECORD & 3))
		return;
	low = all_of(v, REG_RECORD);
	high = all_of(v, REG_RECORD + 1);
	for (unsigned int n = 0; n < threads; n++)
		low[n] = (uint32_t)TSR_WINDOW_OUTPUT + v->slot[n] * (uint32_t)sizeof(v->record[0]);
	for (unsigned int n = 0; n < threads; n++)
		high[n] = TSR_WINDOW_OUTPUT >> 32;
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
