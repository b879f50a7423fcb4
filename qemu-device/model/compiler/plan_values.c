/* SPDX-License-Identifier: MIT */
/* Contents of registers while a program is followed: values, coverage, numbers of lanes. */
#include "plan_look.h"

#include "shader/stage_run.h"

bool tsr_plan_is_coverage(const struct tsr_plan_look *l, const struct tsr_operand *o)
{
	unsigned int n = o->index / TSR_BUNDLE_WARPS;

	if (o->space == TSR_LANES_REG)
		return l->reg[n] == TSR_PLAN_COVERAGE;
	return o->space == TSR_LANES_TEMP && l->temp[n] == TSR_PLAN_COVERAGE;
}

bool tsr_plan_knows(const struct tsr_plan_look *l, unsigned int r)
{
	return l->reg[r] == TSR_PLAN_A_VALUE || l->reg[r] == TSR_PLAN_SAMPLES;
}

/* True if the value of @o is known to a plan. */
bool tsr_plan_reads(const struct tsr_plan_look *l, const struct tsr_operand *o)
{
	unsigned int n = o->index / TSR_BUNDLE_WARPS;

	if (o->space == TSR_LANES_REG)
		return tsr_plan_knows(l, n);
	if (o->space != TSR_LANES_TEMP || n < TSR_TEMP_LANE_ID)
		return true;
	return l->temp[n] == TSR_PLAN_A_VALUE;
}

/* Contents of @o. */
static unsigned int contents(const struct tsr_plan_look *l, const struct tsr_operand *o)
{
	const unsigned int n = o->index / TSR_BUNDLE_WARPS;

	if (o->space == TSR_LANES_REG)
		return l->reg[n];
	if (o->space != TSR_LANES_TEMP || n < TSR_TEMP_LANE_ID)
		return TSR_PLAN_A_VALUE;
	return n == TSR_TEMP_LANE_ID ? TSR_PLAN_A_LANE : l->temp[n];
}

/* True if the two low bits of the result depend on those of sources 0 and 1 alone, and on @uop. */
static bool keeps_lanes(const struct tsr_uop *uop)
{
	static const uint8_t parts[] = {
		TSR_MOD_SATURATE, TSR_MOD_SWZ0, TSR_MOD_SWZ1, TSR_MOD_WIDEN0, TSR_MOD_WIDEN1,
		TSR_MOD_LANE0, TSR_MOD_LANE1, TSR_MOD_LANES0, TSR_MOD_LANES1,
	};

	if (!uop->insn)
		return tsr_move_is_full(uop);
	switch (uop->insn->op) {
	case TSR_OP_FMA_MOV_I32:
	case TSR_OP_ADD_MOV_I32:
	case TSR_OP_FMA_IADDC_I32:
	case TSR_OP_ADD_IADD_S32:
	case TSR_OP_ADD_IADD_U32:
	case TSR_OP_FMA_LSHIFT_AND_I32:
		break;
	default:
		return false;
	}
	for (unsigned int i = 0; i < sizeof(parts); i++) {
		if (uop->insn->mod[parts[i]])
			return false;
	}
	return true;
}

/*
 * Contents that @uop makes of its sources. Coverage that is moved stays coverage, and numbers of
 * lanes stay what they are as far as they can be known.
 */
static unsigned int made(const struct tsr_plan_look *l, const struct tsr_uop *uop)
{
	const unsigned int srcs = uop->insn ? tsr_ops[uop->insn->op].num_srcs : 1;
	unsigned int lanes = 0, values = 0;

	if (!uop->insn && tsr_move_is_full(uop) && tsr_plan_is_coverage(l, &uop->src[0]))
		return TSR_PLAN_COVERAGE;
	for (unsigned int i = 0; i < srcs; i++) {
		const unsigned int is = contents(l, &uop->src[i]);

		lanes |= (unsigned int)(is == TSR_PLAN_A_LANE) << i;
		values += is == TSR_PLAN_A_VALUE;
	}
	/* a shift is no such source, and carries in are not */
	if (!lanes || lanes >> 2 || !keeps_lanes(uop))
		return TSR_PLAN_A_VALUE;
	values += (unsigned int)__builtin_popcount(lanes);
	return values == srcs ? TSR_PLAN_A_LANE : TSR_PLAN_A_VALUE;
}

/*
 * Threads of a quad look at each other. Warps of a block are not those of a core, so a program in
 * which they look at wider groups has no plan.
 */
static bool look_across(struct tsr_plan_look *l, const struct tsr_insn *insn)
{
	l->plan->crosses = true;
	return insn->op == TSR_OP_ADD_CLPER_I32 &&
	       insn->mod[TSR_MOD_SUBGROUP] <= TSR_SUBGROUP_SUBGROUP4;
}

bool tsr_plan_follow(struct tsr_plan_look *l, const struct tsr_uop *uop)
{
	unsigned int srcs = uop->insn ? tsr_ops[uop->insn->op].num_srcs : 1;
	unsigned int n = uop->dst.index / TSR_BUNDLE_WARPS, holds = made(l, uop);
	const bool crosses = uop->insn && tsr_alu_crosses_lanes(uop->insn);
	bool reg = uop->dst.space == TSR_LANES_REG, good = true;

	for (unsigned int i = 0; i < srcs && holds == TSR_PLAN_A_VALUE; i++)
		good &= tsr_plan_reads(l, &uop->src[i]) ||
			(crosses && i == 1 && contents(l, &uop->src[i]) == TSR_PLAN_A_LANE);
	for (unsigned int i = 0; i < tsr_uop_pairs(uop); i++)
		good &= tsr_plan_reads(l, &uop->pair[i]);
	if (crosses && !look_across(l, uop->insn))
		return false;
	/* copies to half a register leave the other half */
	if (!uop->insn && holds == TSR_PLAN_A_VALUE && !tsr_move_is_full(uop))
		good &= tsr_plan_reads(l, &uop->dst);
	*(reg ? &l->reg[n] : &l->temp[n]) = holds;
	if (reg)
		l->plan->written |= 1ull << n;
	return good;
}

/* True if the result of @uop is its source. */
static bool is_copy(const struct tsr_uop *uop)
{
	return uop->insn ? uop->insn->op == TSR_OP_FMA_MOV_I32 ||
			   uop->insn->op == TSR_OP_ADD_MOV_I32 : tsr_move_is_full(uop);
}

bool tsr_plan_texture_word(const struct tsr_decoded *d, uint32_t *word)
{
	const struct tsr_operand *o = &d->msg.src[2];

	for (unsigned int u = d->uops; d->msg.srcs > 2 && u-- > 0;) {
		const struct tsr_uop *uop = &d->uop[u];

		if (uop->dst.space != o->space || uop->dst.index != o->index)
			continue;
		if (!is_copy(uop))
			return false;
		o = &uop->src[0];
	}
	if (d->msg.srcs < 3 || o->space != TSR_LANES_CLAUSE || o->step)
		return false;
	*word = d->konst[o->index].u[0];
	return true;
}
