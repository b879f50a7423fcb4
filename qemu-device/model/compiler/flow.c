/* SPDX-License-Identifier: MIT */
#include "flow.h"

#include "shader/core.h"

/* Rounds until live registers have settled; after as many, all are live. */
#define ROUNDS_MAX 16

int tsr_flow_at(const struct tsr_program_flow *f, uint64_t pc)
{
	for (unsigned int i = 0; i < f->count; i++) {
		if (f->clause[i]->pc == pc)
			return (int)i;
	}
	return -1;
}

/* Adds the clause at @pc. False: it cannot be had now. */
static bool add(struct tsr_program_flow *f, struct tsr_shader *sh, uint64_t pc)
{
	struct tsr_decoded *d;

	if (tsr_flow_at(f, pc) >= 0)
		return true;
	if (f->count == TSR_FLOW_CLAUSES ||
	    tsr_code_find(&sh->code, sh->mem.env->simd, &sh->mem, sh->space, pc, &d) !=
		    TSR_STEP_DONE)
		return false;
	f->clause[f->count++] = d;
	return true;
}

static bool scan(struct tsr_program_flow *f, struct tsr_shader *sh, struct tsr_decoded *head)
{
	const uint32_t forgotten = sh->code.forgotten;

	f->clause[0] = head;
	f->count = 1;
	f->known = true;
	for (unsigned int i = 0; i < f->count; i++) {
		const struct tsr_decoded *d = f->clause[i];

		if (tsr_flow_branches(d) && !d->jump_fixed)
			f->known = false;
		if (tsr_flow_jumps(d))
			f->known &= add(f, sh, d->jump_pc);
		if (forgotten == sh->code.forgotten && tsr_flow_falls(d))
			f->known &= add(f, sh, d->next_pc);
		if (forgotten != sh->code.forgotten)
			return false;
	}
	return true;
}

static void sort(struct tsr_program_flow *f)
{
	for (unsigned int i = 1; i < f->count; i++) {
		struct tsr_decoded *d = f->clause[i];
		unsigned int to = i;

		for (; to && f->clause[to - 1]->pc > d->pc; to--)
			f->clause[to] = f->clause[to - 1];
		f->clause[to] = d;
	}
}

bool tsr_flow_find(struct tsr_program_flow *f, struct tsr_shader *sh, struct tsr_decoded *head)
{
	if (!scan(f, sh, head))
		return false;
	sort(f);
	for (unsigned int i = 0; i < f->count; i++) {
		const struct tsr_decoded *d = f->clause[i];

		f->next[i] = (int16_t)(tsr_flow_falls(d) ? tsr_flow_at(f, d->next_pc) : -1);
		f->jump[i] = (int16_t)(tsr_flow_jumps(d) ? tsr_flow_at(f, d->jump_pc) : -1);
	}
	return true;
}

uint64_t tsr_flow_reads(const struct tsr_decoded *d, uint64_t after)
{
	for (unsigned int u = d->uops; u-- > 0;)
		after = (after & ~tsr_uop_writes(&d->uop[u])) | tsr_uop_reads(&d->uop[u]);
	return after;
}

/* From the last clause back, until nothing changes. */
void tsr_flow_live(struct tsr_program_flow *f)
{
	bool changed = f->known;

	for (unsigned int i = 0; i < f->count; i++)
		f->live[i] = f->known ? f->reads[i] : UINT64_MAX;
	for (unsigned int round = 0; changed; round++) {
		changed = false;
		for (unsigned int i = f->count; i-- > 0;) {
			uint64_t live = (f->next[i] < 0 ? 0 : f->live[f->next[i]]) |
					(f->jump[i] < 0 ? 0 : f->live[f->jump[i]]);

			live = f->reads[i] | (live & ~f->writes[i]);
			changed |= live != f->live[i];
			f->live[i] = round == ROUNDS_MAX ? UINT64_MAX : live;
		}
		changed &= round < ROUNDS_MAX;
	}
}
