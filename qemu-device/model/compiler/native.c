/* SPDX-License-Identifier: MIT */
#include "shader/core.h"

struct tsr_decoded *tsr_native_run(struct tsr_shader *sh, const void *code,
				   struct tsr_progress *p, enum tsr_outcome *outcome)
{
	struct tsr_native *native = &sh->lanes.native;
	uint32_t clauses = p->clauses_left - p->clauses;
	int32_t tuples = tsr_progress_left(sh, p);

	if (clauses > TSR_JIT_CHAIN)
		clauses = TSR_JIT_CHAIN;
	native->clauses = (int32_t)clauses;
	native->tuples = tuples;
	native->meet = sh->meet;
	native->after = sh->after;
	tsr_jit_run(sh->code.jit, code, &sh->lanes);
	p->clauses += clauses - (uint32_t)native->clauses;
	p->tuples += (uint32_t)(tuples - native->tuples);
	sh->mem.thread->path[TSR_PATH_TUPLES_NATIVE] += (uint32_t)(tuples - native->tuples);
	sh->lanes.alu.space[TSR_LANES_CLAUSE] = native->last->konst;
	*outcome = (enum tsr_outcome)native->outcome;
	return native->last;
}

void tsr_native_link(struct tsr_decoded *from, const struct tsr_decoded *to,
		     enum tsr_native_kind kind, enum tsr_outcome outcome)
{
	struct tsr_native_code *code = &from->native[kind];
	const unsigned int link =
		outcome == TSR_OUTCOME_ALL ? TSR_NATIVE_JUMP : TSR_NATIVE_NEXT;

	if (!code->code || !to->native[kind].code || from->mode_key != to->mode_key ||
	    (outcome != TSR_OUTCOME_ALL && outcome != TSR_OUTCOME_NONE))
		return;
	/* the core looks for a loop first; for a small one only if others wait */
	if (to->loops && to->rounds != TSR_LOOP_REFUSED &&
	    !(to->loop_small && kind == TSR_NATIVE_FULL))
		code->link[link] = code->out[link];
	else
		code->link[link] = to->native[kind].code;
}
