/* SPDX-License-Identifier: MIT */
#include "flat_program.h"

#include <math.h>
#include <string.h>

#include "shader/moves.h"
#include "units/msg.h"
#include "shader/planes.h"
#include "shader/stage_run.h"

#define CLAUSES_MAX 64

/* Dependencies of a word of a thread, in addition to values common to all fragments of a draw. */
enum {
	OF_PRIMITIVE = 1,		/* the primitive */
	OF_FRAGMENT = 2,		/* the fragment */
	COVERAGE = 4,			/* the word is the fragment's coverage */
};

struct look {
	struct tsr_flat flat;
	uint8_t reg[TSR_REGISTERS], temp[TSR_TEMPS];
};

/* ---- Micro-operations ------------------------------------------------------------------------ */

static unsigned int of_operand(const struct look *l, const struct tsr_operand *o)
{
	unsigned int n = o->index / TSR_BUNDLE_WARPS;

	if (o->space == TSR_LANES_REG)
		return l->reg[n];
	if (o->space != TSR_LANES_TEMP || n < TSR_TEMP_LANE_ID)
		return 0;
	return n == TSR_TEMP_LANE_ID || n == TSR_TEMP_WARP_ID ? OF_FRAGMENT : l->temp[n];
}

/* The result of an operation on coverage is not coverage. */
static unsigned int computed(unsigned int of)
{
	return of & COVERAGE ? OF_FRAGMENT : of;
}

static void follow(struct look *l, const struct tsr_uop *uop)
{
	unsigned int srcs = uop->insn ? tsr_ops[uop->insn->op].num_srcs : 1, of = 0;
	unsigned int n = uop->dst.index / TSR_BUNDLE_WARPS;
	uint8_t *to = uop->dst.space == TSR_LANES_REG ? &l->reg[n] : &l->temp[n];

	for (unsigned int i = 0; i < srcs; i++)
		of |= of_operand(l, &uop->src[i]);
	for (unsigned int i = 0; i < tsr_uop_pairs(uop); i++)
		of |= of_operand(l, &uop->pair[i]);
	if (uop->insn)
		of = tsr_alu_crosses_lanes(uop->insn) ? OF_FRAGMENT : computed(of);
	else if (!tsr_move_is_full(uop))
		of = computed(of | *to);	/* a half */
	*to = of;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void give(struct look *l, unsigned int first, unsigned int count, unsigned int of)
{
	for (unsigned int i = 0; i < count; i++)
		l->reg[(first + i) % TSR_REGISTERS] = of;
}

/* A varying is loaded: it is one of those that must be equal. */
static bool note_varying(struct look *l, unsigned int index)
{
	if (index >= TSR_PLANE_VARYINGS)
		return false;
	l->flat.varyings |= 1u << index;
	l->flat.everywhere = false;
	return true;
}

static bool load_varying(struct look *l, const struct tsr_decoded_msg *msg)
{
	/* a place of the program's own can be anywhere */
	if (msg->insn->mod[TSR_MOD_SAMPLE] == TSR_SAMPLE_EXPLICIT)
		return false;
	give(l, msg->staging, tsr_message_writes(msg->insn), 0);
	return note_varying(l, msg->insn->imm[TSR_IMM_INDEX]);
}

static bool test_alpha(struct look *l, const struct tsr_decoded_msg *msg)
{
	if (of_operand(l, &msg->src[0]) != COVERAGE)
		return false;
	give(l, msg->staging, 1, COVERAGE);
	if (msg->result < TSR_REGISTERS)
		l->reg[msg->result] = COVERAGE;
	return true;
}

/* With a descriptor of the device's, none the program has made. */
static bool blend(struct look *l, const struct tsr_decoded_msg *msg)
{
	unsigned int of = 0;

	if (msg->src[1].space != TSR_LANES_TEMP || msg->src[1].step ||
	    of_operand(l, &msg->src[0]) != COVERAGE)
		return false;
	for (unsigned int i = 0; i < 4; i++) {
		/* four components take at most four registers; after them the second source */
		of |= l->reg[(msg->staging + i) % TSR_REGISTERS];
		of |= l->reg[4 + i];
	}
	l->flat.everywhere &= !(of & OF_PRIMITIVE);
	return !(of & (OF_FRAGMENT | COVERAGE));
}

/* False: it cannot be said what comes of it, or each fragment has to send it. */
static bool send(struct look *l, const struct tsr_decoded_msg *msg)
{
	switch (msg->insn->op) {
	case TSR_OP_ADD_LD_VAR_IMM:
		return load_varying(l, msg);
	case TSR_OP_ADD_LD_VAR_FLAT_IMM:
		give(l, msg->staging, tsr_message_writes(msg->insn), OF_PRIMITIVE);
		return true;
	case TSR_OP_ADD_ATEST:
		return test_alpha(l, msg);
	case TSR_OP_ADD_BLEND:
		return blend(l, msg);
	default:
		return false;
	}
}

/* ---- Programs -------------------------------------------------------------------------------- */

static bool enter(struct look *l, const struct tsr_shader_state *s)
{
	l->flat.everywhere = true;
	l->reg[TSR_REG_PRIMITIVE] = OF_PRIMITIVE;
	l->reg[TSR_REG_BACK] = OF_PRIMITIVE;
	l->reg[TSR_REG_POSITION] = OF_FRAGMENT;
	/* without sample shading the number of the sample, in R61, is 0 */
	l->reg[TSR_REG_COVERAGE] = l->reg[TSR_REG_SAMPLES] = COVERAGE;
	if (s->preload_0 == TSR_PRELOAD_VAR_TEX || s->preload_1 == TSR_PRELOAD_VAR_TEX)
		return false;
	return (!s->preload_0 || note_varying(l, s->preload_0_varying)) &&
	       (!s->preload_1 || note_varying(l, s->preload_1_varying));
}

struct tsr_flat tsr_flat_find(struct tsr_shader *sh, const struct tsr_fragment_state *state)
{
	uint64_t pc = state->program->state.code;
	struct look l;

	memset(&l, 0, sizeof(l));
	if (!enter(&l, &state->shader))
		return l.flat;
	for (unsigned int n = 0; n < CLAUSES_MAX; n++) {
		struct tsr_decoded *d;

		if (tsr_code_find(&sh->code, sh->mem.env->simd, &sh->mem, sh->space, pc, &d) !=
			    TSR_STEP_DONE || d->flags & TSR_CLAUSE_NOT_STRAIGHT)
			return l.flat;
		for (unsigned int i = 0; i < d->uops; i++)
			follow(&l, &d->uop[i]);
		if (d->flags & TSR_CLAUSE_MESSAGE && !send(&l, &d->msg))
			return l.flat;
		if (d->flags & TSR_CLAUSE_END) {
			l.flat.same = true;
			return l.flat;
		}
		pc = d->next_pc;
	}
	return l.flat;
}

/* ---- Primitives ------------------------------------------------------------------------------ */

/* True if there is nothing but the provoking vertex's value. */
static bool constant(const struct tsr_planes *p)
{
	for (unsigned int i = 0; i < 4; i++) {
		if (p->a[i] != 0 || p->b[i] != 0 || p->c[i] != 0)
			return false;
	}
	return true;
}

/*
 * True if w is a finite number of fp32 between @from and @to: at the corner where 1/w is least it
 * is above what the rounding of its plane, which begins at corners of blocks, can come to.
 */
static bool finite_w(const struct tsr_fragment_prim *p, const int32_t from[2], const int32_t to[2])
{
	double least = p->rw[0], size = fabs(p->rw[0]);

	for (unsigned int i = 0; i < 2; i++) {
		double origin = i ? p->y0 : p->x0, gradient = p->rw[i + 1];
		double a = gradient * (from[i] - origin), b = gradient * (to[i] - origin);

		least += a < b ? a : b;
		size += fabs(a) + fabs(b) + 16 * fabs(gradient);
	}
	return least > size * 0x1p-20 && least > 0x1p-100 && size < 0x1p100;
}

bool tsr_flat_across(const struct tsr_fragments *f, unsigned int prim, uint32_t varyings,
		     const int32_t from[2], const int32_t to[2])
{
	for (; varyings; varyings &= varyings - 1) {
		unsigned int at = f->plane_of[prim][__builtin_ctz(varyings)];
		const struct tsr_planes *planes;

		if (!at)
			return false;
		planes = &f->planes[at - 1];
		if (!planes->flat && (!constant(planes) ||
				      (planes->perspective && !finite_w(&f->prim[prim], from, to))))
			return false;
	}
	return true;
}

bool tsr_flat_ask(struct tsr_shader *sh, struct tsr_fragments *f, struct tsr_varying *v, bool *read,
		  unsigned int prim, uint32_t varyings, const int32_t from[2], const int32_t to[2])
{
	enum tsr_step step = TSR_STEP_DONE;

	if (!tsr_stage_resume(sh, &f->run, f->state->program))
		return false;
	sh->env.vertices = NULL;
	sh->env.fragments = f;
	sh->env.helper = sh->lanes.helper;
	tsr_access_reserve(&sh->access, &sh->mem);
	for (uint32_t left = varyings; left && step == TSR_STEP_DONE; left &= left - 1) {
		const struct tsr_planes *planes;

		step = tsr_planes_find(&sh->env, v, read, prim, __builtin_ctz(left), &planes);
	}
	sh->stats.read_bytes += sh->env.cost.read_bytes;
	sh->env.cost = (struct tsr_msg_cost){ 0 };
	return step == TSR_STEP_DONE && tsr_flat_across(f, prim, varyings, from, to);
}
