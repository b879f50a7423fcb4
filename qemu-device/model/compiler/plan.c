/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <string.h>

#include "plan_look.h"
#include "texture/msg_texture.h"
#include "units/msg.h"
#include "shader/stage_run.h"

/* Rounds until what registers hold at each place has settled. */
#define ROUNDS_MAX 8

/* ---- Messages -------------------------------------------------------------------------------- */

static struct tsr_plan_step *add_step(struct tsr_plan_look *l, enum tsr_plan_kind kind,
				      unsigned int reg)
{
	struct tsr_plan_step *step = &l->plan->step[l->plan->steps];

	if (l->plan->steps == TSR_PLAN_STEPS)
		return NULL;
	l->plan->steps++;
	*step = (struct tsr_plan_step){ .kind = kind, .reg = reg };
	return step;
}

/* Registers that are read after the micro-operations of clause @n, by its message too. */
static uint64_t live_behind(const struct tsr_plan_look *l, unsigned int n)
{
	const struct tsr_program_flow *f = &l->flow;
	const uint64_t live = (f->next[n] < 0 ? 0 : f->live[f->next[n]]) |
			      (f->jump[n] < 0 ? 0 : f->live[f->jump[n]]);

	return l->sends[n] | (live & ~l->gets[n]);
}

/* The clauses that are in no step yet become one. */
static bool end_straight(struct tsr_plan_look *l)
{
	struct tsr_plan_step *step;

	if (l->first == l->ordered)
		return true;
	step = add_step(l, TSR_PLAN_STRAIGHT, 0);
	if (!step)
		return false;
	l->run[step - l->plan->step] = (struct tsr_plan_clauses){
		.first = (uint16_t)l->first, .count = (uint16_t)(l->ordered - l->first),
		.live = live_behind(l, l->last),
	};
	l->first = l->ordered;
	l->uops = 0;
	l->plan->computes = true;
	return true;
}

/* Adds clause @n to those before it if these have the same mode. */
static bool add_clause(struct tsr_plan_look *l, unsigned int n)
{
	struct tsr_decoded *d = l->flow.clause[n];

	if (l->first < l->ordered && (l->order[l->first]->mode_key != d->mode_key ||
				      l->uops + d->uops > TSR_STRAIGHT_UOPS) && !end_straight(l))
		return false;
	if (l->ordered == TSR_FLOW_CLAUSES)
		return false;
	l->order[l->ordered++] = d;
	l->last = n;
	l->uops += d->uops;
	return true;
}

/* A step after the clauses so far. */
static struct tsr_plan_step *add(struct tsr_plan_look *l, enum tsr_plan_kind kind, unsigned int reg)
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

/* Steps that can fail come before the first color, unless colors are collected. */
static bool may_fail(const struct tsr_plan_look *l)
{
	return !l->colored || l->plan->parts;
}

/* A message writes registers. */
static bool give(struct tsr_plan_look *l, unsigned int first, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		l->reg[(first + i) % TSR_REGISTERS] = TSR_PLAN_A_VALUE;
	l->plan->written |= staging(first, count);
	return may_fail(l);
}

/* Returns true if @insn interpolates at the sample that is shaded, and not at centers. */
static bool at_sample(const struct tsr_plan_look *l, const struct tsr_insn *insn)
{
	return l->state->shader.sample_shading && insn->op != TSR_OP_ADD_LD_VAR_FLAT_IMM &&
	       insn->mod[TSR_MOD_SAMPLE] == TSR_SAMPLE_SAMPLE;
}

/* Returns true if message @d names the sample that is shaded. NULL: preloaded, which does. */
static bool names_sample(const struct tsr_plan_look *l, const struct tsr_decoded *d)
{
	const struct tsr_operand *o = d ? &d->msg.src[0] : NULL;

	return l->reg[TSR_REG_SAMPLES] == TSR_PLAN_SAMPLES &&
	       (!o || (o->space == TSR_LANES_REG &&
		       o->index == TSR_REG_SAMPLES * TSR_BUNDLE_WARPS));
}

static bool load_varying(struct tsr_plan_look *l, const struct tsr_insn *insn, unsigned int staging,
			 const struct tsr_decoded *d)
{
	struct tsr_plan_step *step = add(l, TSR_PLAN_VARYING, staging);

	if (!step || (insn->op != TSR_OP_ADD_LD_VAR_FLAT_IMM &&
		      !tsr_varying_at_centre(insn, l->state->samples_log2)) ||
	    (at_sample(l, insn) && !names_sample(l, d)))
		return false;
	step->insn = *insn;
	step->at_sample = at_sample(l, insn);
	step->words = (uint8_t)tsr_message_writes(insn);
	step->kept = TSR_PLAN_KEPT;
	if (l->plan->parts && l->kept < TSR_PLAN_KEPT)
		step->kept = (uint8_t)l->kept++;
	return give(l, staging, step->words);
}

static bool sample_varying(struct tsr_plan_look *l, const struct tsr_insn *insn,
			   unsigned int staging)
{
	struct tsr_plan_step *step = add(l, TSR_PLAN_VAR_TEX, staging);

	if (!step || !tsr_varying_at_centre(insn, l->state->samples_log2) || at_sample(l, insn))
		return false;
	l->plan->samples = true;
	step->insn = tsr_var_tex_sample(insn, insn->op == TSR_OP_ADD_VAR_TEX_F16);
	return give(l, staging, tsr_message_writes(insn));
}

/* The registers that a texture message reads and writes beside its sources. */
static bool find_staging(const struct tsr_decoded *d, struct tsr_texture_staging *s)
{
	uint32_t word;

	if (d->msg.insn->op == TSR_OP_ADD_TEXC)
		return tsr_plan_texture_word(d, &word) && tsr_texture_word_staging(word, s);
	s->reads = 0;
	s->writes = (uint16_t)((1u << tsr_message_writes(d->msg.insn)) - 1);
	return true;
}

static bool sample(struct tsr_plan_look *l, struct tsr_decoded *d)
{
	struct tsr_plan_step *step = add(l, TSR_PLAN_TEX, d->msg.staging);
	struct tsr_texture_staging s;

	if (!step || !find_staging(d, &s))
		return false;
	for (unsigned int i = 0; i < 16; i++) {
		if (s.reads >> i & 1 && !tsr_plan_knows(l, (d->msg.staging + i) % TSR_REGISTERS))
			return false;
	}
	for (unsigned int i = 0; i < d->msg.srcs; i++) {
		if (!tsr_plan_reads(l, &d->msg.src[i]))
			return false;
	}
	l->plan->samples = true;
	l->plan->computes = true;
	step->clause = d;
	for (unsigned int i = 0; i < 16; i++) {
		if (s.writes >> i & 1)
			give(l, d->msg.staging + i, 1);
	}
	return may_fail(l);
}

/* With nothing but coverage there is nothing to test. */
static bool test_alpha(struct tsr_plan_look *l, const struct tsr_decoded_msg *msg)
{
	if (!tsr_plan_is_coverage(l, &msg->src[0]))
		return false;
	l->reg[msg->staging] = TSR_PLAN_COVERAGE;
	if (msg->result < TSR_REGISTERS)
		l->reg[msg->result] = TSR_PLAN_COVERAGE;
	return true;
}

/* Depth and stencil, of threads that lose none of their coverage by it. */
static bool emit_depth(struct tsr_plan_look *l, struct tsr_decoded *d)
{
	const struct tsr_decoded_msg *msg = &d->msg;
	struct tsr_plan_step *step = add(l, TSR_PLAN_DEPTH, msg->staging);

	if (!step || !may_fail(l) || msg->srcs < 3 || !tsr_plan_is_coverage(l, &msg->src[2]))
		return false;
	for (unsigned int i = 0; i < 2; i++) {
		if (msg->insn->mod[i ? TSR_MOD_STENCIL : TSR_MOD_Z] &&
		    !tsr_plan_reads(l, &msg->src[i]))
			return false;
	}
	step->clause = d;
	l->plan->computes = true;
	l->reg[msg->staging] = TSR_PLAN_COVERAGE;
	if (msg->result < TSR_REGISTERS)
		l->reg[msg->result] = TSR_PLAN_COVERAGE;
	return true;
}

/* With a descriptor of the device's, of its own target. */
static bool blend(struct tsr_plan_look *l, const struct tsr_decoded_msg *msg)
{
	unsigned int n = (msg->src[1].index - TSR_FIXED_BLEND) / 2, words;
	uint64_t qword[TSR_BLEND__QWORDS] = { 0 };
	struct tsr_plan_step *step;
	struct tsr_blend blend;

	if (msg->src[1].space != TSR_LANES_TEMP || msg->src[1].step ||
	    msg->src[1].index < TSR_FIXED_BLEND || msg->src[1].index >= TSR_FIXED__COUNT ||
	    msg->src[1].index != TSR_FIXED_BLEND + 2 * n ||
	    msg->src[2].space != TSR_LANES_TEMP || msg->src[2].step ||
	    msg->src[2].index != msg->src[1].index + 1 || !tsr_plan_is_coverage(l, &msg->src[0]))
		return false;
	qword[1] = l->state->blend[n];
	tsr_unpack_blend(qword, &blend);
	if (blend.mode == TSR_BLEND_MODE_OFF)
		return true;
	if ((blend.mode != TSR_BLEND_MODE_OPAQUE && blend.mode != TSR_BLEND_MODE_FIXED) ||
	    blend.target != n || blend.registers > TSR_REGISTER_TYPE_U16 ||
	    (l->colored >> n & 1 && !l->plan->parts) || msg->staging + 4u > TSR_REGISTERS)
		return false;
	/* coverage is known before any color is written */
	if (l->state->draw.alpha_to_coverage && n && !(l->colored & 1) && !l->plan->parts)
		return false;
	words = tsr_register_words(blend.registers, blend.components + 1);
	for (unsigned int i = 0; i < words; i++) {
		if (!tsr_plan_knows(l, msg->staging + i))
			return false;
	}
	l->colored |= 1u << n;
	step = add(l, TSR_PLAN_COLOR, msg->staging);
	if (!step)
		return false;
	step->target = n;
	step->words = (uint8_t)words;
	return true;
}

/* True if @insn loads, or stores to scratch, where nobody else looks. */
static bool is_private(const struct tsr_insn *insn)
{
	switch (insn->op) {
	case TSR_OP_ADD_LOAD_I8:
	case TSR_OP_ADD_LOAD_I16:
	case TSR_OP_ADD_LOAD_I24:
	case TSR_OP_ADD_LOAD_I32:
	case TSR_OP_ADD_LOAD_I48:
	case TSR_OP_ADD_LOAD_I64:
	case TSR_OP_ADD_LOAD_I96:
	case TSR_OP_ADD_LOAD_I128:
	case TSR_OP_ADD_LD_ATTR_TEX:
	case TSR_OP_ADD_LD_CVT:
		return true;
	case TSR_OP_ADD_STORE_I8:
	case TSR_OP_ADD_STORE_I16:
	case TSR_OP_ADD_STORE_I24:
	case TSR_OP_ADD_STORE_I32:
	case TSR_OP_ADD_STORE_I48:
	case TSR_OP_ADD_STORE_I64:
	case TSR_OP_ADD_STORE_I96:
	case TSR_OP_ADD_STORE_I128:
		return insn->mod[TSR_MOD_SEG] == TSR_SEG_TL;
	default:
		return false;
	}
}

static bool use_memory(struct tsr_plan_look *l, struct tsr_decoded *d)
{
	const struct tsr_decoded_msg *msg = &d->msg;
	struct tsr_plan_step *step = add(l, TSR_PLAN_MEMORY, msg->staging);
	const unsigned int written = tsr_message_writes(msg->insn);
	const unsigned int read = tsr_insn_staging_read(msg->insn);

	if (!step || !is_private(msg->insn))
		return false;
	for (unsigned int i = 0; i < msg->srcs; i++) {
		if (!tsr_plan_reads(l, &msg->src[i]))
			return false;
	}
	/* what is loaded may be a part of a register */
	for (unsigned int i = 0; i < (read > written ? read : written); i++) {
		if (!tsr_plan_knows(l, (msg->staging + i) % TSR_REGISTERS))
			return false;
	}
	step->clause = d;
	l->plan->computes = true;
	return give(l, msg->staging, written);
}

static bool send(struct tsr_plan_look *l, struct tsr_decoded *d)
{
	const struct tsr_decoded_msg *msg = &d->msg;

	switch (msg->insn->op) {
	case TSR_OP_ADD_LD_VAR_IMM:
	case TSR_OP_ADD_LD_VAR_FLAT_IMM:
	case TSR_OP_ADD_LD_VAR_SPECIAL:
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
		return use_memory(l, d);
	}
}

/* ---- Loops ----------------------------------------------------------------------------------- */

/* Follows the values through clause @d of a loop. */
static bool follow_clause(struct tsr_plan_look *l, const struct tsr_decoded *d)
{
	bool good = true;

	for (unsigned int i = 0; i < d->uops; i++)
		good &= tsr_plan_follow(l, &d->uop[i]);
	for (unsigned int i = 0; d->flags & TSR_CLAUSE_BRANCH && i < 3; i++) {
		if (i < tsr_ops[d->branch->insn->op].num_srcs)
			good &= tsr_plan_reads(l, &d->branch->src[i]);
	}
	return good;
}

/*
 * Checks the values that the program reads from the head of @loop on. Each must exist. Coverage may
 * exist if the loop does not change it. A value that only the loop writes is read only after the
 * loop has written it.
 */
static bool follow_loop(struct tsr_plan_look *l, const struct tsr_loop *loop)
{
	const uint64_t live = loop->place[loop->head].live;
	bool good = true;

	for (unsigned int r = 0; r < TSR_REGISTERS; r++) {
		if (live >> r & 1 && !(l->reg[r] == TSR_PLAN_COVERAGE && !(loop->written >> r & 1)))
			good &= tsr_plan_knows(l, r);
	}
	for (unsigned int r = 0; r < TSR_REGISTERS; r++)
		l->reg[r] = loop->written >> r & 1 ? TSR_PLAN_A_VALUE : l->reg[r];
	for (unsigned int i = 0; i < loop->clauses; i++)
		good &= follow_clause(l, loop->clause[i]);
	for (unsigned int r = 0; r < TSR_REGISTERS; r++)
		good &= !(loop->written >> r & 1) || l->reg[r] == TSR_PLAN_A_VALUE;
	return good;
}

/* The loop that begins with clause @n is a step, behind which all threads continue. */
static bool add_loop(struct tsr_plan_look *l, unsigned int n, struct tsr_plan_place *place)
{
	struct tsr_loop *loop = l->loop[n];
	const unsigned int out = (unsigned int)tsr_loop_exit(loop);
	struct tsr_plan_step *step;

	if (!may_fail(l) || !follow_loop(l, loop))
		return false;
	step = add(l, TSR_PLAN_LOOP, 0);
	if (!step)
		return false;
	step->loop = loop;
	step->target = (uint8_t)out;
	l->plan->written |= loop->written;
	l->plan->computes = true;
	place->next = l->place[tsr_flow_at(&l->flow, loop->place[out].pc)];
	place->loops = place->reconverges = true;
	return true;
}

/* True if threads come to the clauses of @loop only by way of its head. */
static bool is_closed(const struct tsr_plan_look *l, const struct tsr_loop *loop)
{
	const struct tsr_program_flow *f = &l->flow;
	bool member[TSR_FLOW_CLAUSES] = { false };
	const int head = tsr_flow_at(f, loop->place[loop->head].pc);

	for (unsigned int i = 0; i < loop->clauses; i++)
		member[tsr_flow_at(f, loop->clause[i]->pc)] = true;
	for (unsigned int i = 0; i < f->count; i++) {
		const int16_t to[2] = { f->next[i], f->jump[i] };

		for (unsigned int k = 0; k < 2; k++) {
			if (!member[i] && to[k] >= 0 && to[k] != head && member[to[k]])
				return false;
		}
	}
	return true;
}

/* The loop of clause @n as one piece, if all its threads leave it for one place; or NULL. */
static struct tsr_loop *loop_of(const struct tsr_plan_look *l, unsigned int n)
{
	struct tsr_loop *loop = tsr_loop_of(l->sh, l->flow.clause[n]);
	const int out = loop && loop->code ? tsr_loop_exit(loop) : -1;

	if (out < 0 || loop->place[out].pc <= loop->last ||
	    loop->place[loop->head].pc != l->flow.clause[n]->pc || !is_closed(l, loop))
		return NULL;
	return loop;
}

/* Finds loops that are steps, the outer ones first. False: all clauses have been forgotten. */
static bool find_loops(struct tsr_plan_look *l)
{
	struct tsr_program_flow *f = &l->flow;
	const uint32_t forgotten = l->sh->code.forgotten;

	for (unsigned int i = 0; i < f->count; i++) {
		bool head = false;

		for (unsigned int k = i; k < f->count; k++)
			head |= f->jump[k] == (int)i;
		if (!head || l->inside[i] || !l->sh->loops)
			continue;
		l->loop[i] = loop_of(l, i);
		if (forgotten != l->sh->code.forgotten)
			return false;
		for (unsigned int k = 0; l->loop[i] && k < l->loop[i]->clauses; k++) {
			const int at = tsr_flow_at(f, l->loop[i]->clause[k]->pc);

			l->inside[at] = at != (int)i;
		}
	}
	return true;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* True if the threads of a quad look at each other in @d, or a sample needs those that are left. */
static bool looks_around(const struct tsr_decoded *d)
{
	for (unsigned int i = 0; i < d->uops; i++) {
		if (d->uop[i].insn && tsr_alu_crosses_lanes(d->uop[i].insn))
			return true;
	}
	if (!(d->flags & TSR_CLAUSE_MESSAGE))
		return false;
	switch (d->msg.insn->op) {
	case TSR_OP_ADD_LD_VAR_IMM:
	case TSR_OP_ADD_LD_VAR_FLAT_IMM:
	case TSR_OP_ADD_LD_VAR_SPECIAL:
	case TSR_OP_ADD_ATEST:
	case TSR_OP_ADD_ZS_EMIT:
	case TSR_OP_ADD_BLEND:
		return false;
	default:
		return true;
	}
}

/*
 * Finds the flags of clauses that end a place. Where helpers end, nothing changes for others as
 * long as all threads are together and none looks at the rest of its quad.
 */
static void find_ends(struct tsr_plan_look *l)
{
	const struct tsr_program_flow *f = &l->flow;
	bool gone = false, needs = false;

	for (unsigned int i = 0; i < f->count; i++) {
		const struct tsr_decoded *d = f->clause[i];

		needs |= gone && looks_around(d);
		gone |= d->flags & TSR_CLAUSE_TERMINATE;
		l->plan->parts |= !l->inside[i] && !l->loop[i] && d->flags & TSR_CLAUSE_BRANCH;
		l->plan->discards |= (d->flags & TSR_CLAUSE_DISCARD) != 0;
	}
	l->ends = TSR_CLAUSE_BRANCH | TSR_CLAUSE_END | TSR_CLAUSE_DISCARD;
	if (l->plan->parts || l->plan->discards || needs)
		l->ends |= TSR_CLAUSE_TERMINATE;
}

static void begin_place(struct tsr_plan_look *l, int clause)
{
	if (clause >= 0)
		l->place[clause] = 0;
}

/*
 * Finds places, in the order of addresses. A place begins where threads branch to, and behind a
 * clause after which they may part or end. False: there are too many.
 */
static bool find_places(struct tsr_plan_look *l, uint64_t start)
{
	const struct tsr_program_flow *f = &l->flow;

	for (unsigned int i = 0; i < f->count; i++)
		l->place[i] = -1;
	find_ends(l);
	begin_place(l, tsr_flow_at(f, start));
	for (unsigned int i = 0; i < f->count; i++) {
		if (l->inside[i])
			continue;
		if (l->loop[i]) {
			const int out = tsr_loop_exit(l->loop[i]);

			begin_place(l, (int)i);
			begin_place(l, tsr_flow_at(f, l->loop[i]->place[out].pc));
			continue;
		}
		begin_place(l, f->jump[i]);
		if (f->clause[i]->flags & l->ends || f->next[i] != (int)i + 1)
			begin_place(l, f->next[i]);
	}
	for (unsigned int i = 0; i < f->count; i++) {
		if (l->place[i] < 0 || l->inside[i])
			continue;
		if (l->plan->places == TSR_PLAN_PLACES)
			return false;
		l->place[i] = l->plan->places;
		l->clause[l->plan->places++] = (uint16_t)i;
	}
	l->plan->start = (uint8_t)l->place[tsr_flow_at(f, start)];
	return true;
}

/* Where threads go after @place, which ends with clause @n. */
static void end_place(const struct tsr_plan_look *l, unsigned int n, struct tsr_plan_place *place)
{
	const struct tsr_decoded *d = l->flow.clause[n];
	const int next = l->flow.next[n], jump = l->flow.jump[n];

	place->next = next < 0 ? TSR_PLAN_END : l->place[next];
	place->jump = jump < 0 ? TSR_PLAN_END : l->place[jump];
	place->discards = d->flags & TSR_CLAUSE_DISCARD;
	place->reconverges = d->flags & TSR_CLAUSE_RECONVERGE;
	if (d->flags & TSR_CLAUSE_BRANCH && d->branch->insn->op == TSR_OP_ADD_JUMP)
		place->next = place->jump;
	else if (d->flags & TSR_CLAUSE_BRANCH)
		place->branches = true;
}

static bool look_at_clause(struct tsr_plan_look *l, unsigned int n, struct tsr_plan_place *place)
{
	struct tsr_decoded *d = l->flow.clause[n];
	const bool asks = d->flags & TSR_CLAUSE_BRANCH && d->branch->insn->op != TSR_OP_ADD_JUMP;

	if (d->flags & (TSR_CLAUSE_FAULT | TSR_CLAUSE_BARRIER) ||
	    (d->flags & TSR_CLAUSE_DISCARD && !may_fail(l)))
		return false;
	place->clauses++;
	place->tuples += d->tuples;
	place->late += place->terminates ? d->tuples : 0;
	place->terminates |= d->flags & TSR_CLAUSE_TERMINATE;
	if ((d->uops || asks) && !add_clause(l, n))
		return false;
	if (!follow_clause(l, d))
		return false;
	/* who branches is known before the message is sent, who is discarded too */
	if (d->flags & l->ends && !end_straight(l))
		return false;
	if (!(d->flags & TSR_CLAUSE_MESSAGE))
		return true;
	place->messages++;
	return send(l, d);
}

/* Steps of place @n, from what registers hold there. */
static bool build_place(struct tsr_plan_look *l, unsigned int n)
{
	struct tsr_plan_place *place = &l->plan->place[n];
	const struct tsr_program_flow *f = &l->flow;
	unsigned int i = l->clause[n];

	*place = (struct tsr_plan_place){
		.first = l->plan->steps, .next = TSR_PLAN_END, .jump = TSR_PLAN_END,
	};
	memcpy(l->reg, l->in[n], sizeof(l->reg));
	memset(l->temp, TSR_PLAN_OTHER, sizeof(l->temp));
	if (l->loop[i]) {
		if (!add_loop(l, i, place))
			return false;
	} else {
		for (;; i = (unsigned int)f->next[i]) {
			if (!look_at_clause(l, i, place))
				return false;
			if (f->clause[i]->flags & l->ends || l->place[f->next[i]] >= 0)
				break;
		}
		if (!end_straight(l))
			return false;
		end_place(l, i, place);
	}
	place->steps = (uint8_t)(l->plan->steps - place->first);
	return true;
}

/* Registers at @place may hold what they hold here. Returns true if that is news. */
static bool lead_to(struct tsr_plan_look *l, int place)
{
	bool changed = false;

	if (place < 0)
		return false;
	if (!l->reached[place]) {
		l->reached[place] = true;
		memcpy(l->in[place], l->reg, sizeof(l->reg));
		return true;
	}
	for (unsigned int r = 0; r < TSR_REGISTERS; r++) {
		uint8_t *in = &l->in[place][r];

		if (*in == l->reg[r] || *in == TSR_PLAN_OTHER)
			continue;
		*in = TSR_PLAN_OTHER;
		changed = true;
	}
	return changed;
}

/* All places. *@changed: registers hold other things at some of them than has been thought. */
static bool build_places(struct tsr_plan_look *l, bool *changed)
{
	struct tsr_plan *plan = l->plan;

	*changed = false;
	plan->steps = plan->preloads;
	l->ordered = l->first = l->uops = l->kept = 0;
	l->colored = 0;
	for (unsigned int n = 0; n < plan->places; n++) {
		if (!l->reached[n])
			continue;
		if (!build_place(l, n))
			return false;
		*changed |= lead_to(l, plan->place[n].next);
		if (plan->place[n].branches)
			*changed |= lead_to(l, plan->place[n].jump);
	}
	return true;
}

/* ---- Programs -------------------------------------------------------------------------------- */

static bool look_at_preload(struct tsr_plan_look *l, unsigned int n, struct tsr_insn *insn)
{
	if (!tsr_stage_preload(&l->state->shader, n, insn))
		return true;
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

/* Registers of the sources of message @msg. */
static uint64_t find_sources(const struct tsr_decoded_msg *msg)
{
	uint64_t registers = 0;

	for (unsigned int i = 0; i < msg->srcs; i++) {
		if (msg->src[i].space == TSR_LANES_REG)
			registers |= 1ull << msg->src[i].index / TSR_BUNDLE_WARPS;
	}
	return registers;
}

/* Registers that the message of @d reads, but for coverage and samples, and those it writes. */
static void find_message(const struct tsr_decoded *d, uint64_t *reads, uint64_t *writes)
{
	const struct tsr_decoded_msg *msg = &d->msg;
	struct tsr_texture_staging s;

	switch (msg->insn->op) {
	case TSR_OP_ADD_LD_VAR_IMM:
	case TSR_OP_ADD_LD_VAR_FLAT_IMM:
	case TSR_OP_ADD_LD_VAR_SPECIAL:
	case TSR_OP_ADD_VAR_TEX_F32:
	case TSR_OP_ADD_VAR_TEX_F16:
		*writes = staging(msg->staging, tsr_message_writes(msg->insn));
		return;
	case TSR_OP_ADD_ATEST:
		return;
	case TSR_OP_ADD_ZS_EMIT:
	case TSR_OP_ADD_BLEND:
		*reads = tsr_usage_message(msg, false);
		return;
	default:
		*reads = tsr_usage_message(msg, false);
		/* parts of them may stay */
		if (is_private(msg->insn))
			*reads |= staging(msg->staging, tsr_message_writes(msg->insn));
		return;
	case TSR_OP_ADD_TEXS_2D_F32:
	case TSR_OP_ADD_TEXS_2D_F16:
	case TSR_OP_ADD_TEXS_CUBE_F32:
	case TSR_OP_ADD_TEXS_CUBE_F16:
	case TSR_OP_ADD_TEXC:
		break;
	}
	if (!find_staging(d, &s))
		return;
	*reads = find_sources(msg);
	for (unsigned int i = 0; i < 16; i++) {
		const uint64_t bit = 1ull << (msg->staging + i) % TSR_REGISTERS;

		*reads |= s.reads >> i & 1 ? bit : 0;
		*writes |= s.writes >> i & 1 ? bit : 0;
	}
}

/* Finds the registers that are live at each clause. */
static void find_live(struct tsr_plan_look *l)
{
	struct tsr_program_flow *f = &l->flow;

	for (unsigned int i = 0; i < f->count; i++) {
		const struct tsr_decoded *d = f->clause[i];

		if (d->flags & TSR_CLAUSE_MESSAGE)
			find_message(d, &l->sends[i], &l->gets[i]);
		if (tsr_flow_branches(d))
			l->sends[i] |= tsr_uop_reads(d->branch);
		f->reads[i] = tsr_flow_reads(d, l->sends[i]);
		f->writes[i] = l->gets[i];
		for (unsigned int u = 0; u < d->uops; u++)
			f->writes[i] |= tsr_uop_writes(&d->uop[u]);
	}
	tsr_flow_live(f);
}

/* Registers that have to be set up before the first clause. */
static void find_entry(struct tsr_plan_look *l)
{
	const uint64_t position = 0x1full << TSR_REG_PRIMITIVE;
	struct tsr_plan *plan = l->plan;
	const uint64_t live = l->flow.live[l->clause[plan->start]];
	const uint64_t values = l->state->shader.sample_shading ?
				position & ~(1ull << TSR_REG_COVERAGE) :
				position & ~(3ull << TSR_REG_COVERAGE);

	plan->entry = live & values;
	plan->zero = live & ~position & ~plan->written;
}

/* Straights; false: there is no room for them. */
static bool find_straights(struct tsr_plan_look *l)
{
	struct tsr_plan *plan = l->plan;

	for (unsigned int i = 0; i < plan->steps; i++) {
		const struct tsr_plan_clauses *run = &l->run[i];

		if (plan->step[i].kind != TSR_PLAN_STRAIGHT)
			continue;
		plan->step[i].straight = tsr_code_straight(&l->sh->code, &l->order[run->first],
							   run->count, run->live);
		if (!plan->step[i].straight)
			return false;
	}
	return true;
}

/* True if warps whose threads stay together have not too many clauses, but for loops. */
static bool within_limit(const struct tsr_plan *plan)
{
	unsigned int clauses = 0;

	for (unsigned int n = 0; n < plan->places; n++)
		clauses += plan->place[n].clauses;
	return !plan->limit || clauses <= plan->limit;
}

/* Makes the plan of the program that begins with @head. False: it cannot be known now. */
static bool build(struct tsr_plan_look *l, struct tsr_decoded *head)
{
	struct tsr_plan *plan = l->plan;
	bool changed = true;

	if (!tsr_flow_find(&l->flow, l->sh, head))
		return false;
	if (!l->flow.known)
		return true;
	find_live(l);
	if (!find_loops(l))
		return false;
	if (!find_places(l, head->pc))
		return true;
	find_entry(l);
	lead_to(l, plan->start);
	for (unsigned int round = 0; changed; round++) {
		if (round == ROUNDS_MAX || !build_places(l, &changed))
			return true;
	}
	plan->colors = l->colored;
	if (!plan->parts && !within_limit(plan))
		return true;
	if (plan->parts && l->state->draw.alpha_to_coverage && !(plan->colors & 1))
		return true;
	plan->fits = find_straights(l);
	return plan->fits;
}

/* False: it cannot be known now. */
static bool make(struct tsr_shader *sh, const struct tsr_fragment_state *state,
		 struct tsr_plan *plan)
{
	struct tsr_plan_look l = { .sh = sh, .plan = plan, .state = state };
	struct tsr_decoded *head;
	struct tsr_insn insn;

	plan->limit = state->program->state.clause_limit;
	memset(l.reg, TSR_PLAN_A_VALUE, sizeof(l.reg));
	l.reg[TSR_REG_COVERAGE] = TSR_PLAN_COVERAGE;
	l.reg[TSR_REG_SAMPLES] =
		state->shader.sample_shading ? TSR_PLAN_SAMPLES : TSR_PLAN_COVERAGE;
	if (!plain_state(sh, state) || !look_at_preload(&l, 0, &insn) ||
	    !look_at_preload(&l, 1, &insn))
		return true;
	plan->preloads = plan->steps;
	if (tsr_code_find(&sh->code, sh->mem.env->simd, &sh->mem, sh->space,
			  state->program->state.code, &head) != TSR_STEP_DONE)
		return false;
	plan->forgotten = sh->code.forgotten;
	return build(&l, head) && plan->forgotten == sh->code.forgotten;
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
