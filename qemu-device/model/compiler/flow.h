/* SPDX-License-Identifier: MIT */
/*
 * Control flow of a program from a clause on: its clauses by address, and where threads go after
 * each. A loop (loop.h) is found in it, and a compiled fragment program (plan.h) is built from it.
 */
#ifndef TSR_COMPILER_FLOW_H
#define TSR_COMPILER_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "shader/predecode.h"
#include "shader/usage.h"

struct tsr_shader;

/* Most clauses of a program that is followed. */
#define TSR_FLOW_CLAUSES TSR_USAGE_CLAUSES

struct tsr_program_flow {
	unsigned int count;
	bool known;			/* all clauses, and all targets of branches */
	struct tsr_decoded *clause[TSR_FLOW_CLAUSES];	/* by address */
	int16_t next[TSR_FLOW_CLAUSES], jump[TSR_FLOW_CLAUSES];	/* clauses; -1: none */
	/* The caller's: registers a clause reads before it writes them, and those it writes. */
	uint64_t reads[TSR_FLOW_CLAUSES], writes[TSR_FLOW_CLAUSES];
	uint64_t live[TSR_FLOW_CLAUSES];	/* registers that are read from the clause on */
};

/*
 * Follows the program from @head on. False: the cache was emptied meanwhile, and no clause is valid
 * any more.
 */
bool tsr_flow_find(struct tsr_program_flow *flow, struct tsr_shader *sh, struct tsr_decoded *head);
/* Index of the clause at @pc; -1: there is none. */
int tsr_flow_at(const struct tsr_program_flow *flow, uint64_t pc);
/* Finds @live from @reads and @writes. All registers are live if the program is not known. */
void tsr_flow_live(struct tsr_program_flow *flow);

/* Registers that the micro-operations of @d read before they write them, beside @after. */
uint64_t tsr_flow_reads(const struct tsr_decoded *d, uint64_t after);

/* True if threads of @d may branch. */
static inline bool tsr_flow_branches(const struct tsr_decoded *d)
{
	return d->flags & TSR_CLAUSE_BRANCH && !(d->flags & TSR_CLAUSE_FAULT);
}

/* True if threads can go on to the next clause. */
static inline bool tsr_flow_falls(const struct tsr_decoded *d)
{
	return !(d->flags & (TSR_CLAUSE_END | TSR_CLAUSE_FAULT)) &&
	       !(tsr_flow_branches(d) && d->branch->insn->op == TSR_OP_ADD_JUMP);
}

/* True if the address to which the clause branches is known. */
static inline bool tsr_flow_jumps(const struct tsr_decoded *d)
{
	return tsr_flow_branches(d) && d->jump_fixed && !d->jump_ends;
}

#endif
