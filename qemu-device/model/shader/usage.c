/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core.h"

static const struct tsr_usage everything = { .reads = UINT64_MAX };

static uint64_t of_operand(const struct tsr_operand *o)
{
	return o->space == TSR_LANES_REG ? 1ull << o->index / TSR_BUNDLE_WARPS : 0;
}

/* Staging registers @first … */
static uint64_t staging(unsigned int first, unsigned int count)
{
	uint64_t mask = 0;

	for (unsigned int i = 0; i < count; i++)
		mask |= 1ull << (first + i) % TSR_REGISTERS;
	return mask;
}

/* BLEND with a descriptor of the device's, none the program has made. */
static bool blend_known(const struct tsr_decoded_msg *msg)
{
	return msg->src[1].space == TSR_LANES_TEMP && !msg->src[1].step;
}

uint64_t tsr_usage_message(const struct tsr_decoded_msg *msg, bool dual)
{
	const bool blends = msg->insn->op == TSR_OP_ADD_BLEND;
	uint64_t reads = staging(msg->staging,
				 blends ? 4 : tsr_insn_staging_read(msg->insn));

	for (unsigned int i = 0; i < msg->srcs; i++)
		reads |= of_operand(&msg->src[i]);
	for (unsigned int i = 0; i < msg->pairs; i++)
		reads |= of_operand(&msg->pair[i]);
	if (!blends)
		return reads;
	if (!blend_known(msg))
		return UINT64_MAX;
	/* the second color */
	return reads | (dual ? staging(4, 4) : 0);
}

/* Adds the effects of @d. False if its successors cannot be known. */
static bool add_clause(struct tsr_usage *f, const struct tsr_decoded *d)
{
	for (unsigned int i = 0; i < d->uops; i++)
		f->reads |= tsr_uop_reads(&d->uop[i]);
	if (d->flags & TSR_CLAUSE_BRANCH)
		f->reads |= tsr_uop_reads(d->branch);
	if (!(d->flags & TSR_CLAUSE_MESSAGE))
		return !(d->flags & TSR_CLAUSE_BRANCH) || d->jump_fixed;
	f->reads |= tsr_usage_message(&d->msg, true);
	if (d->flags & TSR_CLAUSE_BLEND && !blend_known(&d->msg))
		return false;
	return !(d->flags & TSR_CLAUSE_BRANCH) || d->jump_fixed;
}

/* Clauses that are still to be looked at, and have been. */
struct walk {
	uint64_t pc[TSR_USAGE_CLAUSES];
	unsigned int count;
	bool full;
};

static void reach(struct walk *walk, uint64_t pc)
{
	for (unsigned int i = 0; i < walk->count; i++) {
		if (walk->pc[i] == pc)
			return;
	}
	walk->full |= walk->count == TSR_USAGE_CLAUSES;
	if (!walk->full)
		walk->pc[walk->count++] = pc;
}

/* False: it cannot be known, or not now. */
static bool scan(struct tsr_shader *sh, uint64_t pc, struct tsr_usage *f)
{
	struct walk walk = { .count = 0 };

	reach(&walk, pc);
	for (unsigned int i = 0; i < walk.count && !walk.full; i++) {
		struct tsr_decoded *d;
		enum tsr_step step = tsr_code_find(&sh->code, sh->mem.env->simd, &sh->mem,
						   sh->space, walk.pc[i], &d);

		/* the clause may be available later: the host translates it, or lacks memory now */
		if (step != TSR_STEP_DONE)
			return false;
		/* threads that come here fault */
		if (d->flags & TSR_CLAUSE_FAULT)
			continue;
		if (!add_clause(f, d))
			return false;
		if (!(d->flags & TSR_CLAUSE_END))
			reach(&walk, d->next_pc);
		if (d->flags & TSR_CLAUSE_BRANCH && !d->jump_ends)
			reach(&walk, d->jump_pc);
	}
	return !walk.full;
}

const struct tsr_usage *tsr_usage_find(struct tsr_shader *sh, uint64_t pc)
{
	uint64_t key = ((pc >> 4) ^ sh->space << 32) * 0x9e3779b97f4a7c15ull;
	struct tsr_usage *f = &sh->usage[key >> 40 & (TSR_USAGES - 1)];

	if (f->pc == pc && f->space == sh->space)
		return f;
	*f = (struct tsr_usage){ .space = sh->space, .pc = pc };
	if (scan(sh, pc, f))
		return f;
	f->pc = 0;
	return &everything;
}
