/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/* Plans of fragment programs: when one is made anew. */
#include <string.h>

#include "ktap.h"
#include "pipe.h"
#include "shader/core.h"
#include "shader/plan.h"

#define COLOUR \
	"clause wait=0,6 {\n*MOV.i32 r0:t0, 0x3f000000\n+NOP\n*MOV.i32 r1:t0, 0x3f000000\n+NOP\n" \
	"*MOV.i32 r2:t0, 0x3f000000\n+NOP\n*MOV.i32 r3:t0, 0x3f000000\n+NOP\n*NOP\n+NOP\n}\n"

static const char text[] =
	COLOUR PIPE_FINISH;
/* The same with a branch: it has no plan. */
static const char branches[] =
	"clause wait=0,6 flow=nbtb_unconditional {\n*NOP\n+BRANCHZ.i32.eq r55, next\n}\n"
	"next: " COLOUR PIPE_FINISH;

static const struct tsr_plan *find(struct pipe *p)
{
	const struct tsr_plan *plan;

	tsr_stage_enter(p->sh, &p->mem, NULL, 0);
	p->f->state = &p->state;
	plan = tsr_plan_find(p->sh, p->f);
	tsr_stage_leave(p->sh);
	return plan;
}

/* What lies at the program's address is looked at again when code has been invalidated. */
static void invalidated(void)
{
	struct pipe *p = pipe_new(NULL);
	struct tsr_program first;

	p->state.serial = 1;
	p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);
	first = *p->state.program;
	ktap_ok(find(p));
	ktap_ok(find(p));
	pipe_text(p, 0, TSR_STAGE_FRAGMENT, branches);
	p->state.program = &first;
	tsr_mmu_code_changed(p->b->gpu, p->mem.as);
	ktap_ok(!find(p));
	pipe_free(p);
}

/* What a state says that fragments may do, or is done to them: then there is no plan. */
static void states(void)
{
	struct pipe *p = pipe_new(NULL);
	const struct tsr_fragment_state plain = p->state;
	const struct tsr_program *program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);

	for (unsigned int i = 0; i < 12; i++) {
		p->state = plain;
		p->state.program = program;
		p->state.serial = i + 1;
		p->state.shader.sample_shading = i == 1;
		p->state.shader.discards = i == 2;
		p->state.shader.writes_depth = i == 3;
		p->state.shader.writes_stencil = i == 4;
		p->state.shader.reads_tile = i == 5;
		p->state.shader.side_effects = i == 6;
		p->state.draw.alpha_to_coverage = i == 7;
		p->state.dual_source = i == 8;
		if (i == 9)		/* of any target */
			p->state.blend[TSR_RENDER_TARGETS_MAX - 1] = TSR_BLEND_MODE_PROGRAM;
		if (i == 10)		/* of another target */
			p->state.blend[0] |= 1u << 16;
		if (i == 11)
			p->state.blend[0] = TSR_BLEND_MODE_OFF;
		if (!ktap_eq(find(p) != NULL, i == 0 || i == 11))
			ktap_note("case %u", i);
	}
	pipe_free(p);
}

/* What programs do, and whether there is a plan of it. */
static void programs(void)
{
	static const struct {
		const char *text;
		bool plan;
	} rows[] = {
		{ text, true }, { branches, false },
		/* coverage is computed with */
		{ COLOUR "clause {\n*NOP\n+IADD.s32 r60, r60, r60\n}\n" PIPE_FINISH, false },
		{ COLOUR "clause {\n*NOP\n+IADD.s32 r0, r60, r60\n}\n" PIPE_FINISH, false },
		{ COLOUR "clause {\n*NOP\n+IADD.s32 r0, r1, r2\n}\n" PIPE_FINISH, true },
		/* not all of the colour is known */
		{ "clause {\n*MOV.i32 r0, 0x3f000000\n+NOP\n}\n" PIPE_FINISH, false },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pipe *p = pipe_new(NULL);

		p->state.serial = 1;
		p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, rows[i].text);
		if (!ktap_eq(find(p) != NULL, rows[i].plan))
			ktap_note("program %u", i);
		pipe_free(p);
	}
}

/* A program of three clauses has a plan unless it has to fault before its end. */
static void limits(void)
{
	for (unsigned int limit = 0; limit < 6; limit++) {
		struct pipe *p = pipe_new(NULL);

		p->program.clause_limit = limit;
		p->state.serial = 1;
		p->state.program = pipe_text(p, 0, TSR_STAGE_FRAGMENT, text);
		if (!ktap_eq(find(p) != NULL, !limit || limit >= 3))
			ktap_note("limit %u", limit);
		pipe_free(p);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[CP11] [PIX10] a plan is one of the code there is", invalidated);
	ktap_run("[PIX10] states of fragments that have a plan", states);
	ktap_run("[PIX10] programs that have a plan", programs);
	ktap_run("[PIX10] [ISA14] programs that may run into CLAUSE_LIMIT have no plan", limits);
	return ktap_finish();
}
