/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <string.h>

#include "shader/core.h"
#include "shader/moves.h"
#include "texture/msg_texture.h"
#include "units/msg.h"
#include "shader/stage_run.h"

/* Addresses that threads branch back to; programs with more have no plan. */
#define TSR_PLAN_LOOPS 8

/* Contents of a register or temporary. */
enum {
	NOTHING,			/* nothing has been written: 0 */
	VALUE,
	COVERAGE,			/* the fragment's coverage, and nothing else */
	SAMPLES,			/* R61 with SAMPLE_SHADING, as it was at entry */
};

struct look {
	struct tsr_shader *sh;
	struct tsr_plan *plan;
	const struct tsr_fragment_state *state;
	uint8_t reg[TSR_REGISTERS], temp[TSR_TEMPS];
	uint8_t colored;		/* bit n: target n has its color */
	bool helpers_gone;
	struct tsr_decoded *clause[TSR_PLAN_CLAUSES];	/* with micro-operations */
	unsigned int clauses;
	/* clauses from @first on, which are in no step yet, and their number of micro-operations */
	unsigned int first, uops;
	uint64_t head[TSR_PLAN_LOOPS];	/* addresses that threads branch back to */
	unsigned int heads;
};

/* ---- Micro-operations ------------------------------------------------------------------------ */

static bool is_coverage(const struct look *l, const struct tsr_operand *o)
{
	unsigned int n = o->index / TSR_BUNDLE_WARPS;

	if (o->space == TSR_LANES_REG)
		return l->reg[n] == COVERAGE;
	return o->space == TSR_LANES_TEMP && l->temp[n] == COVERAGE;
}

static bool read_register(struct look *l, unsigned int r)
{
	if (r == TSR_REG_POSITION || r == TSR_REG_PRIMITIVE || r == TSR_REG_BACK)
		l->plan->entry |= l->reg[r] == NOTHING ? 1ull << r : 0;
	else if (l->reg[r] == SAMPLES)
		l->plan->entry |= 1ull << r;
	else if (l->reg[r] != VALUE)
		return false;
	return true;
}

/* True if the value of @o is known to a plan. */
static bool read_operand(struct look *l, const struct tsr_operand *o)
{
	unsigned int n = o->index / TSR_BUNDLE_WARPS;

	if (o->space == TSR_LANES_REG)
		return read_register(l, n);
	if (o->space != TSR_LANES_TEMP || n < TSR_TEMP_LANE_ID)
		return true;
	return l->temp[n] == VALUE;
}

/* Coverage that is moved as it is stays what it is. */
static unsigned int moved(const struct look *l, const struct tsr_uop *uop)
{
	bool plain = !uop->insn && tsr_move_is_full(uop);

	return plain && is_coverage(l, &uop->src[0]) ? COVERAGE : VALUE;
}

/*
 * Threads of a quad look at each other. Warps of a block are not those of a core, so nothing wider
 * has a plan; and threads that have ended are not looked at.
 */
static bool look_across(struct look *l, const struct tsr_insn *insn)
{
	l->plan->crosses = true;
	return insn->op == TSR_OP_ADD_CLPER_I32 && !l->helpers_gone &&
	       insn->mod[TSR_MOD_SUBGROUP] <= TSR_SUBGROUP_SUBGROUP4;
}

static bool follow(struct look *l, const struct tsr_uop *uop)
{
	unsigned int srcs = uop->insn ? tsr_ops[uop->insn->op].num_srcs : 1;
	unsigned int n = uop->dst.index / TSR_BUNDLE_WARPS, holds = moved(l, uop);
	bool reg = uop->dst.space == TSR_LANES_REG, good = true;

	for (unsigned int i = 0; i < srcs && holds == VALUE; i++)
		good &= read_operand(l, &uop->src[i]);
	for (unsigned int i = 0; i < tsr_uop_pairs(uop); i++)
		good &= read_operand(l, &uop->pair[i]);
	if (uop->insn && tsr_alu_crosses_lanes(uop->insn) && !look_across(l, uop->insn))
		return false;
	/* copies to half a register leave the other half */
	if (!uop->insn && holds == VALUE && !tsr_move_is_full(uop))
		good &= read_operand(l, &uop->dst);
	*(reg ? &l->reg[n] : &l->temp[n]) = holds;
	if (reg)
		l->plan->written |= 1ull << n;
	return good;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static struct tsr_plan_step *add_step(struct look *l, enum tsr_plan_kind kind, unsigned int reg)
{
	struct tsr_plan_step *step = &l->plan->step[l->plan->steps];

	if (l->plan->steps == TSR_PLAN_STEPS)
		return NULL;
	l->plan->steps++;
	*step = (struct tsr_plan_step){ .kind = kind, .reg = reg };
	return step;
}

/* The clauses that are in no step yet become one. */
static bool end_straight(struct look *l)
{
	struct tsr_plan_step *step;

	if (l->first == l->clauses)
		return true;
	step = add_step(l, TSR_PLAN_STRAIGHT, 0);
	if (!step)
		return false;
	step->first = l->first;
	step->clauses = l->clauses - l->first;
	l->first = l->clauses;
	l->uops = 0;
	l->plan->computes = true;
	return true;
}

/* The micro-operations of @d, with those of clauses before it if these have the same mode. */
static bool add_clause(struct look *l, struct tsr_decoded *d)
{
	if (l->first < l->clauses && (l->clause[l->first]->mode_key != d->mode_key ||
				      l->uops + d->uops > TSR_STRAIGHT_UOPS) && !end_straight(l))
		return false;
	l->clause[l->clauses++] = d;
	l->uops += d->uops;
	return true;
}

/* A step after the clauses so far. */
static struct tsr_plan_step *add(struct look *l, enum tsr_plan_kind kind, unsigned int reg)
{
	return end_straight(l) ? add_step(l, kind, reg) : NULL;
}

static uint64_t staging(unsigned int first, unsigned int count)
{
	uint64_t registers = 0;

	for (unsigned int i = 0; i < count; i++)
		registers |= 1ull << (first + i) % TSR_REGISTERS;
	return registers;
}

/* A message writes registers. What can fail has to come before the first color. */
static bool give(struct look *l, unsigned int first, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		l->reg[(first + i) % TSR_REGISTERS] = VALUE;
	l->plan->written |= staging(first, count);
	return !l->colored;
}

/* Returns true if @insn interpolates at the sample that is shaded, and not at centers. */
static bool at_sample(const struct look *l, const struct tsr_insn *insn)
{
	return l->state->shader.sample_shading && insn->op != TSR_OP_ADD_LD_VAR_FLAT_IMM &&
	       insn->mod[TSR_MOD_SAMPLE] == TSR_SAMPLE_SAMPLE;
}

/* Returns true if message @d names the sample that is shaded. NULL: preloaded, which does. */
static bool names_sample(const struct look *l, const struct tsr_decoded *d)
{
	const struct tsr_operand *o = d ? &d->msg.src[0] : NULL;

	return l->reg[TSR_REG_SAMPLES] == SAMPLES &&
	       (!o || (o->space == TSR_LANES_REG &&
		       o->index == TSR_REG_SAMPLES * TSR_BUNDLE_WARPS));
}

static bool load_varying(struct look *l, const struct tsr_insn *insn, unsigned int staging,
			 const struct tsr_decoded *d)
{
	struct tsr_plan_step *step = add(l, TSR_PLAN_VARYING, staging);

	if (!step || (insn->op == TSR_OP_ADD_LD_VAR_IMM &&
		      !tsr_varying_at_centre(insn, l->state->samples_log2)) ||
	    (at_sample(l, insn) && !names_sample(l, d)))
		return false;
	step->insn = *insn;
	step->at_sample = at_sample(l, insn);
	return give(l, staging, tsr_message_writes(insn));
}

/* Helper threads are needed for derivatives. */
static bool sample_varying(struct look *l, const struct tsr_insn *insn, unsigned int staging)
{
	struct tsr_plan_step *step = add(l, TSR_PLAN_VAR_TEX, staging);

	if (!step || l->helpers_gone || !tsr_varying_at_centre(insn, l->state->samples_log2) ||
	    at_sample(l, insn))
		return false;
	l->plan->samples = true;
	step->insn = tsr_var_tex_sample(insn, insn->op == TSR_OP_ADD_VAR_TEX_F16);
	return give(l, staging, tsr_message_writes(insn));
}

/* The texture word of TEXC @d, if it is a constant of the clause. */
static bool find_word(const struct tsr_decoded *d, uint32_t *word)
{
	const struct tsr_operand *o = &d->msg.src[2];

	if (d->msg.srcs < 3 || o->space != TSR_LANES_CLAUSE || o->step)
		return false;
	*word = d->konst[o->index].u[0];
	return true;
}

/* The registers that a texture message reads and writes beside its sources. */
static bool find_staging(const struct tsr_decoded *d, struct tsr_texture_staging *s)
{
	uint32_t word;

	if (d->msg.insn->op == TSR_OP_ADD_TEXC)
		return find_word(d, &word) && tsr_texture_word_staging(word, s);
	s->reads = 0;
	s->writes = (uint16_t)((1u << tsr_message_writes(d->msg.insn)) - 1);
	return true;
}

static bool sample(struct look *l, struct tsr_decoded *d)
{
	struct tsr_plan_step *step = add(l, TSR_PLAN_TEX, d->msg.staging);
	struct tsr_texture_staging s;

	/* without helpers in the state, and discarded threads, none can have ended */
	if (!step || !find_staging(d, &s) ||
	    (l->helpers_gone && (l->state->shader.helpers || l->plan->discards)))
		return false;
	for (unsigned int i = 0; i < 16; i++) {
		unsigned int r = (d->msg.staging + i) % TSR_REGISTERS;

		if (!(s.reads >> i & 1))
			continue;
		if (!read_register(l, r))
			return false;
		step->reads |= 1ull << r;
	}
	for (unsigned int i = 0; i < d->msg.srcs; i++) {
		const struct tsr_operand *o = &d->msg.src[i];

		if (!read_operand(l, o))
			return false;
		if (o->space == TSR_LANES_REG)
			step->reads |= 1ull << o->index / TSR_BUNDLE_WARPS;
	}
	l->plan->samples = true;
	l->plan->computes = true;
	step->clause = d;
	for (unsigned int i = 0; i < 16; i++) {
		if (s.writes >> i & 1)
			give(l, d->msg.staging + i, 1);
	}
	return !l->colored;
}

/* With nothing but coverage there is nothing to test. */
static bool test_alpha(struct look *l, const struct tsr_decoded_msg *msg)
{
	if (!is_coverage(l, &msg->src[0]))
		return false;
	l->reg[msg->staging] = COVERAGE;
	if (msg->result < TSR_REGISTERS)
		l->reg[msg->result] = COVERAGE;
	return true;
}

/* Depth and stencil, of threads that lose none of their coverage by it. */
static bool emit_depth(struct look *l, struct tsr_decoded *d)
{
	const struct tsr_decoded_msg *msg = &d->msg;
	struct tsr_plan_step *step = add(l, TSR_PLAN_DEPTH, msg->staging);

	if (!step || l->colored || msg->srcs < 3 || !is_coverage(l, &msg->src[2]))
		return false;
	for (unsigned int i = 0; i < 2; i++) {
		const struct tsr_operand *o = &msg->src[i];

		if (!msg->insn->mod[i ? TSR_MOD_STENCIL : TSR_MOD_Z])
			continue;
		if (!read_operand(l, o))
			return false;
		if (o->space == TSR_LANES_REG)
			step->reads |= 1ull << o->index / TSR_BUNDLE_WARPS;
	}
	step->clause = d;
	l->plan->computes = true;
	l->reg[msg->staging] = COVERAGE;
	if (msg->result < TSR_REGISTERS)
		l->reg[msg->result] = COVERAGE;
	return true;
}

/* With a descriptor of the device's, of its own target. */
static bool blend(struct look *l, const struct tsr_decoded_msg *msg)
{
	unsigned int n = (msg->src[1].index - TSR_FIXED_BLEND) / 2, words;
	uint64_t qword[TSR_BLEND__QWORDS] = { 0 };
	struct tsr_plan_step *step;
	struct tsr_blend blend;

	if (msg->src[1].space != TSR_LANES_TEMP || msg->src[1].step ||
	    msg->src[1].index < TSR_FIXED_BLEND || msg->src[1].index >= TSR_FIXED__COUNT ||
	    msg->src[1].index != TSR_FIXED_BLEND + 2 * n ||
	    msg->src[2].space != TSR_LANES_TEMP || msg->src[2].step ||
	    msg->src[2].index != msg->src[1].index + 1 || !is_coverage(l, &msg->src[0]))
		return false;
	qword[1] = l->state->blend[n];
	tsr_unpack_blend(qword, &blend);
	if (blend.mode == TSR_BLEND_MODE_OFF)
		return true;
	if ((blend.mode != TSR_BLEND_MODE_OPAQUE && blend.mode != TSR_BLEND_MODE_FIXED) ||
	    blend.target != n || blend.registers > TSR_REGISTER_TYPE_U16 ||
	    l->colored >> n & 1 || msg->staging + 4u > TSR_REGISTERS)
		return false;
	/* coverage is known before any color is written */
	if (l->state->draw.alpha_to_coverage && n && !(l->colored & 1))
		return false;
	words = tsr_register_words(blend.registers, blend.components + 1);
	for (unsigned int i = 0; i < words; i++) {
		if (!read_register(l, msg->staging + i))
			return false;
	}
	l->colored |= 1u << n;
	step = add(l, TSR_PLAN_COLOR, msg->staging);
	if (!step)
		return false;
	step->target = n;
	step->reads = staging(msg->staging, words);
	return true;
}

static bool send(struct look *l, struct tsr_decoded *d)
{
	const struct tsr_decoded_msg *msg = &d->msg;

	l->plan->messages++;
	switch (msg->insn->op) {
	case TSR_OP_ADD_LD_VAR_IMM:
	case TSR_OP_ADD_LD_VAR_FLAT_IMM:
		return load_varying(l, msg->insn, msg->staging, d);
	case TSR_OP_ADD_VAR_TEX_F32:
	case TSR_OP_ADD_VAR_TEX_F16:
		return sample_varying(l, msg->insn, msg->staging);
	case TSR_OP_ADD_TEXS_2D_F32:
	case TSR_OP_ADD_TEXS_2D_F16:
	case TSR_OP_ADD_TEXS_CUBE_F32:
	case TSR_OP_ADD_TEXS_CUBE_F16:
	case TSR_OP_ADD_TEXC:
		return sample(l, d);
	case TSR_OP_ADD_ATEST:
		return test_alpha(l, msg);
	case TSR_OP_ADD_ZS_EMIT:
		return emit_depth(l, d);
	case TSR_OP_ADD_BLEND:
		return blend(l, msg);
	default:
		return false;
	}
}

/* ---- Loops ----------------------------------------------------------------------------------- */

/* Find out where threads branch back to: what follows @pc in memory, up to the end. */
static void find_heads(struct look *l, uint64_t pc)
{
	struct tsr_shader *sh = l->sh;
	const uint32_t forgotten = sh->code.forgotten;

	for (unsigned int n = 0; n < TSR_PLAN_CLAUSES && l->heads < TSR_PLAN_LOOPS; n++) {
		struct tsr_decoded *d;

		if (tsr_code_find(&sh->code, sh->mem.env->simd, &sh->mem, sh->space, pc, &d) !=
			    TSR_STEP_DONE || forgotten != sh->code.forgotten ||
		    d->flags & TSR_CLAUSE_FAULT)
			return;
		if (d->flags & TSR_CLAUSE_BRANCH && d->jump_fixed && !d->jump_ends &&
		    d->jump_pc <= pc)
			l->head[l->heads++] = d->jump_pc;
		if (d->flags & TSR_CLAUSE_END)
			return;
		pc = d->next_pc;
	}
}

static bool is_head(const struct look *l, uint64_t pc)
{
	for (unsigned int i = 0; i < l->heads; i++) {
		if (l->head[i] == pc)
			return true;
	}
	return false;
}

/* Follows the values through clause @d of a loop. */
static bool follow_clause(struct look *l, const struct tsr_decoded *d)
{
	bool good = true;

	for (unsigned int i = 0; i < d->uops; i++)
		good &= follow(l, &d->uop[i]);
	for (unsigned int i = 0; d->flags & TSR_CLAUSE_BRANCH && i < 3; i++) {
		if (i < tsr_ops[d->branch->insn->op].num_srcs)
			good &= read_operand(l, &d->branch->src[i]);
	}
	return good;
}

/*
 * Checks the values that the program reads from the head of @loop on. Each must exist. Coverage may
 * exist if the loop does not change it. A value that only the loop writes is read only after the
 * loop has written it.
 */
static bool follow_loop(struct look *l, const struct tsr_loop *loop)
{
	const uint64_t live = loop->place[loop->head].live;
	bool good = true;

	for (unsigned int r = 0; r < TSR_REGISTERS; r++) {
		if (live >> r & 1 && !(l->reg[r] == COVERAGE && !(loop->written >> r & 1)))
			good &= read_register(l, r);
	}
	for (unsigned int r = 0; r < TSR_REGISTERS; r++)
		l->reg[r] = loop->written >> r & 1 ? VALUE : l->reg[r];
	for (unsigned int i = 0; i < loop->clauses; i++)
		good &= follow_clause(l, loop->clause[i]);
	for (unsigned int r = 0; r < TSR_REGISTERS; r++)
		good &= !(loop->written >> r & 1) || l->reg[r] == VALUE;
	return good;
}

/* The loop of @d is a step, and *@pc where threads go on; without helpers that end in it. */
static bool add_loop(struct look *l, struct tsr_decoded *d, uint64_t *pc)
{
	struct tsr_loop *loop = l->state->shader.helpers ? NULL : tsr_loop_of(l->sh, d);
	int out = loop && loop->code ? tsr_loop_exit(loop) : -1;
	struct tsr_plan_step *step;

	if (out < 0 || l->colored || loop->place[out].pc <= loop->last || !follow_loop(l, loop))
		return false;
	step = add(l, TSR_PLAN_LOOP, 0);
	if (!step)
		return false;
	step->loop = loop;
	l->plan->loops = true;
	step->target = (uint8_t)out;
	step->reads = loop->place[loop->head].live;
	l->plan->computes = true;
	*pc = loop->place[out].pc;
	return true;
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* The last clause so far discards threads. */
static bool discard(struct look *l)
{
	if (l->colored || l->helpers_gone || !end_straight(l))
		return false;
	l->plan->step[l->plan->steps - 1].discards = true;
	l->plan->discards = true;
	return true;
}

static void note_counts(struct look *l, struct tsr_plan_step *step)
{
	step->left = (struct tsr_plan_work){
		.clauses = l->plan->clauses, .tuples = l->plan->tuples,
		.messages = l->plan->messages,
	};
}

static bool look_at_clause(struct look *l, struct tsr_decoded *d)
{
	struct tsr_plan_step *discards = NULL;
	struct tsr_plan *plan = l->plan;

	if (d->flags & TSR_CLAUSE_NOT_STRAIGHT & ~TSR_CLAUSE_DISCARD)
		return false;
	plan->clauses++;
	plan->tuples += d->tuples;
	plan->late += l->helpers_gone ? d->tuples : 0;
	if (d->uops && !add_clause(l, d))
		return false;
	for (unsigned int i = 0; i < d->uops; i++) {
		if (!follow(l, &d->uop[i]))
			return false;
	}
	if (d->flags & TSR_CLAUSE_DISCARD) {
		if (!discard(l))
			return false;
		discards = &plan->step[plan->steps - 1];
	}
	if (d->flags & TSR_CLAUSE_MESSAGE && !send(l, d))
		return false;
	if (discards)
		note_counts(l, discards);
	l->helpers_gone |= d->flags & TSR_CLAUSE_TERMINATE;
	return true;
}

static bool look_at_preload(struct look *l, unsigned int n, struct tsr_insn *insn)
{
	if (!tsr_stage_preload(&l->state->shader, n, insn))
		return true;
	l->plan->messages++;
	if (insn->op == TSR_OP_ADD_LD_VAR_IMM)
		return load_varying(l, insn, 4 * n, NULL);
	return sample_varying(l, insn, 4 * n);
}

/* True if the state leaves fragments alone until they have ended. */
static bool plain_state(const struct tsr_shader *sh, const struct tsr_fragment_state *s)
{
	const struct tsr_shader_state *shader = &s->shader;

	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX; i++) {
		if ((s->blend[i] & TSR_BLEND_MODE__MASK) == TSR_BLEND_MODE_PROGRAM)
			return false;
	}
	return sh->env.path && !shader->reads_tile && !shader->side_effects && !s->dual_source;
}

/* Straights, from the last step back: after all of them nobody looks at registers. */
static bool find_straights(struct look *l, struct tsr_code *code)
{
	uint64_t live = 0;

	for (unsigned int i = l->plan->steps; i-- > 0;) {
		struct tsr_plan_step *step = &l->plan->step[i];
		struct tsr_decoded **clause = &l->clause[step->first];

		live |= step->reads;
		if (step->kind == TSR_PLAN_LOOP)
			live = step->reads;
		if (step->kind != TSR_PLAN_STRAIGHT)
			continue;
		step->straight = tsr_code_straight(code, clause, step->clauses, live);
		if (!step->straight)
			return false;
		for (unsigned int n = step->clauses; n-- > 0;) {
			for (unsigned int u = clause[n]->uops; u-- > 0;)
				live = (live & ~tsr_uop_writes(&clause[n]->uop[u])) |
				       tsr_uop_reads(&clause[n]->uop[u]);
		}
	}
	return true;
}

/* False: it cannot be known now. */
static bool make(struct tsr_shader *sh, const struct tsr_fragment_state *state,
		 struct tsr_plan *plan)
{
	uint64_t pc = state->program->state.code;
	uint32_t limit = state->program->state.clause_limit, forgotten = sh->code.forgotten;
	struct look l = { .sh = sh, .plan = plan, .state = state };
	struct tsr_insn insn;

	plan->forgotten = forgotten;
	plan->limit = limit;
	l.reg[TSR_REG_COVERAGE] = COVERAGE;
	l.reg[TSR_REG_SAMPLES] = state->shader.sample_shading ? SAMPLES : COVERAGE;
	if (!plain_state(sh, state) || !look_at_preload(&l, 0, &insn) ||
	    !look_at_preload(&l, 1, &insn))
		return true;
	if (sh->loops)
		find_heads(&l, pc);
	for (unsigned int n = 0; n < TSR_PLAN_CLAUSES && (!limit || n < limit); n++) {
		struct tsr_decoded *d;
		enum tsr_step step =
			tsr_code_find(&sh->code, sh->mem.env->simd, &sh->mem, sh->space, pc, &d);

		if (step != TSR_STEP_DONE || forgotten != sh->code.forgotten)
			return false;
		if (is_head(&l, pc)) {
			if (!add_loop(&l, d, &pc))
				return true;
			continue;
		}
		if (!look_at_clause(&l, d))
			return true;
		plan->colors = l.colored;
		if (d->flags & TSR_CLAUSE_END) {
			plan->fits = end_straight(&l);
			return !plan->fits || find_straights(&l, &sh->code);
		}
		pc = d->next_pc;
	}
	return true;
}

const struct tsr_plan *tsr_plan_find(struct tsr_shader *sh, struct tsr_fragments *f)
{
	const struct tsr_fragment_state *state = f->state;
	struct tsr_plan *plan = &sh->plan[state->serial % TSR_PLANS];
	uint64_t space = tsr_code_space(sh->generation, state->program->state.registers_64,
					state->program->stage, false);

	if (plan->state == state->serial && plan->program == state->program->serial &&
	    plan->space == space && plan->forgotten == sh->code.forgotten)
		return plan->fits ? plan : NULL;
	if (!tsr_stage_resume(sh, &f->run, state->program))
		return NULL;
	sh->env.fragments = f;
	*plan = (struct tsr_plan){ .space = space };
	if (!make(sh, state, plan))
		return NULL;
	plan->state = state->serial;
	plan->program = state->program->serial;
	return plan->fits ? plan : NULL;
}
