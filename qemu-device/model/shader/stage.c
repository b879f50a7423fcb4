/* SPDX-License-Identifier: MIT */
/*
 * Shared code of the stages: the program to which a thread is bound, the start of the warps of a
 * warp group, and its execution to the end. A core has one warp group, and all its warps are one
 * thread group, so the core runs it like a warp group of a dispatch.
 */
#include "stage.h"

#include <stdlib.h>
#include <string.h>

#include "shader/stage_block.h"
#include "stage_run.h"

typedef uint32_t words __attribute__((vector_size(64), may_alias));

void tsr_stage_enter(struct tsr_shader *sh, const struct tsr_mem *mem, unsigned int core)
{
	tsr_shader_enter(sh, mem, core);
	sh->core_index = core;
	sh->grid = NULL;
	sh->group_stride = 0;
	sh->slots = TSR_CORE_WARPS;
	sh->lanes.alu.space[TSR_LANES_PUSH] = sh->push;
}

void tsr_stage_leave(struct tsr_shader *sh)
{
	sh->env.vertices = NULL;
	sh->env.fragments = NULL;
	/* whoever runs on this thread next has no helpers */
	memset(sh->lanes.helper, 0, sizeof(sh->lanes.helper));
	tsr_shader_leave(sh);
}

void tsr_stage_fill(union tsr_lanes *v, uint32_t word)
{
	*(words *)v = word - (words){ 0 };
}

/* The push constants of @program, or those @push has for it, in all lanes. */
static void bind(struct tsr_shader *sh, const struct tsr_program *program,
		 const struct tsr_push *push)
{
	const uint64_t serial = push ? push->serial : program->serial;
	const uint32_t *word = push ? push->word : program->push_word;
	uint32_t count = program->state.push_words, i;

	if (sh->bound == serial)
		return;
	for (i = 0; i < count; i++)
		tsr_stage_fill(&sh->push[i], word[i]);
	for (; i < sh->push_words; i++)
		tsr_stage_fill(&sh->push[i], 0);
	sh->push_words = count;
	sh->bound = serial;
}

bool tsr_stage_resume(struct tsr_shader *sh, struct tsr_stage_run *run,
		      const struct tsr_program *program)
{
	const struct tsr_compute_state *state = &program->state;

	bind(sh, program, run->push);
	sh->env.stage = program->stage;
	sh->env.program = program;
	sh->env.copies = &program->copies;
	tsr_texture_frame(&sh->textures, program->copies.frame);
	sh->env.state = state;
	sh->space = tsr_code_space(sh->generation, state->registers_64, program->stage, false);
	sh->core = &run->core;
	run->core.job.index = sh->core_index;
	return tsr_core_bundle(&run->core, 0);
}

/* 0 in registers of warp @w that may not be 0. */
static void clear_registers(struct tsr_bundle *bundle, unsigned int w, uint64_t dirty)
{
	for (; dirty; dirty &= dirty - 1)
		tsr_stage_fill(&bundle->reg[__builtin_ctzll(dirty) * TSR_BUNDLE_WARPS + w], 0);
}

void tsr_stage_start(struct tsr_shader *sh, struct tsr_stage_run *run,
		     const struct tsr_program *program, const uint16_t live[TSR_BUNDLE_WARPS],
		     uint64_t entry, uint64_t whole)
{
	static const struct tsr_usage all = { .reads = UINT64_MAX };
	/* whoever looks on, or blends by program, may see all of them */
	const struct tsr_usage *usage =
		sh->mem.env->shader_hook || entry == UINT64_MAX ?
			&all :
			tsr_usage_find(sh, program->state.code);
	struct tsr_core *core = &run->core;
	struct tsr_bundle *bundle = core->bundle[0];
	struct tsr_group *group = &core->group[0];
	unsigned int alive = 0, warps = 0;

	run->reads = usage->reads;
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		struct tsr_warp *warp = &bundle->warp[w];

		warp->used = live[w] != 0;
		if (!live[w])
			continue;
		clear_registers(bundle, w, warp->written & usage->reads & ~whole);
		/* the stage is about to write some */
		warp->written = (warp->written & ~usage->reads) | entry;
		warp->here = program->state.code;
		warp->meet = UINT64_MAX;
		warp->live = live[w];
		warp->active = live[w];
		warp->parked = 0;
		warp->group = 0;
		warp->number = w;
		warp->awaited = 0;
		warp->yielded = 0;
		warp->stored = 0;
		warp->clauses = 0;
		warp->passed = 0;
		alive += live[w] == 0xffff ? TSR_WARP_LANES : tsr_lanes_count(live[w]);
		warps++;
	}
	*group = (struct tsr_group){ .alive = alive, .warps = warps };
	core->groups = group->warps ? 1 : 0;
	core->ready = core->groups;
	core->waiting = 0;
	core->current = 0;
	run->begun = true;
}

enum tsr_step tsr_stage_advance(struct tsr_shader *sh, struct tsr_stage_run *run)
{
	const struct tsr_alu_mode none = { 0, 0, 0 };
	struct tsr_core *core = &run->core;
	bool good = true;

	core->ready |= core->waiting;
	core->waiting = 0;
	core->quantum = INT32_MAX;
	sh->mode_key = 0;
	tsr_alu_enter(&sh->fp, &none);
	if (core->groups)
		good = tsr_shader_run_bundle(sh);
	tsr_alu_leave(&sh->fp);
	if (!good) {
		run->begun = false;
		return TSR_STEP_FAULT;
	}
	if (!core->groups) {
		run->begun = false;
		return TSR_STEP_DONE;
	}
	return core->waiting ? TSR_STEP_PENDING : TSR_STEP_MORE;
}

void tsr_stage_identify(const struct tsr_shader *sh, unsigned int w, unsigned int lane,
			uint32_t group[3])
{
	unsigned int n = w * TSR_WARP_LANES + lane;

	if (sh->env.vertices) {
		const struct tsr_vertex_run *v = sh->env.vertices;

		group[0] = v->vertex[n];
		group[1] = v->instance[n];
		group[2] = sh->env.stage > TSR_STAGE_VERTEX ? v->group->thread[n] : v->slot[n];
	} else if (sh->env.fragments) {
		const struct tsr_fragment_quad *quad = &sh->env.fragments->quad[n / 4];

		group[0] = quad->x + (n & 1);
		group[1] = quad->y + (n >> 1 & 1);
		group[2] = sh->env.fragments->prim[quad->prim].prim.primitive_id;
	}
}

void tsr_stage_drop(struct tsr_stage_run *run)
{
	for (unsigned int i = 0; i < TSR_CORE_BUNDLES; i++) {
		struct tsr_bundle *bundle = run->core.bundle[i];

		for (unsigned int w = 0; bundle && w < TSR_BUNDLE_WARPS; w++)
			free(bundle->warp[w].message);
		free(bundle);
		run->core.bundle[i] = NULL;
	}
	run->begun = false;
}
