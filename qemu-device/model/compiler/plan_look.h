/* SPDX-License-Identifier: MIT */
/* A program on its way to a plan: what plan.c and plan_values.c know of it. */
#ifndef TSR_COMPILER_PLAN_LOOK_H
#define TSR_COMPILER_PLAN_LOOK_H

#include "flow.h"
#include "shader/core.h"
#include "shader/moves.h"

/* Contents of a register or temporary. */
enum tsr_plan_contents {
	TSR_PLAN_OTHER,			/* no value of a plan, or it depends on the way */
	TSR_PLAN_A_VALUE,
	TSR_PLAN_COVERAGE,		/* the fragment's coverage, and nothing else */
	TSR_PLAN_SAMPLES,		/* R61 with SAMPLE_SHADING, as it was at entry */
	/*
	 * The number of a lane, and what is computed from it. The lanes of a block are not those of
	 * the core, but their numbers differ by a multiple of 4.
	 */
	TSR_PLAN_A_LANE,
};

/* Consecutive clauses of a step. */
struct tsr_plan_clauses {
	uint16_t first, count;		/* in look.order */
	uint64_t live;			/* registers that are read after them */
};

struct tsr_plan_look {
	struct tsr_shader *sh;
	struct tsr_plan *plan;
	const struct tsr_fragment_state *state;
	struct tsr_program_flow flow;
	/* By clause: registers of its message, read and written; its loop; its place or -1. */
	uint64_t sends[TSR_FLOW_CLAUSES], gets[TSR_FLOW_CLAUSES];
	struct tsr_loop *loop[TSR_FLOW_CLAUSES];
	bool inside[TSR_FLOW_CLAUSES];	/* executed by the loop of another clause */
	int16_t place[TSR_FLOW_CLAUSES];
	/* By place: its first clause, and what registers hold there if it is known. */
	uint16_t clause[TSR_PLAN_PLACES];
	uint8_t in[TSR_PLAN_PLACES][TSR_REGISTERS];
	bool reached[TSR_PLAN_PLACES];
	unsigned int ends;		/* flags of clauses that end a place */
	/* The present place. */
	uint8_t reg[TSR_REGISTERS], temp[TSR_TEMPS];
	uint8_t colored;		/* bit n: target n has its color */
	/* Clauses with micro-operations; those from @first on are in no step yet. */
	struct tsr_decoded *order[TSR_FLOW_CLAUSES];
	unsigned int ordered, first, uops, kept;
	unsigned int last;		/* flow.clause of the last of them */
	struct tsr_plan_clauses run[TSR_PLAN_STEPS];
};

/* True if @o holds coverage as it was. */
bool tsr_plan_is_coverage(const struct tsr_plan_look *l, const struct tsr_operand *o);
/* True if register @r holds a value that a plan knows. */
bool tsr_plan_knows(const struct tsr_plan_look *l, unsigned int r);
/* True if the value of @o is known to a plan. */
bool tsr_plan_reads(const struct tsr_plan_look *l, const struct tsr_operand *o);
/* Note what @uop makes. False: it reads what no plan knows. */
bool tsr_plan_follow(struct tsr_plan_look *l, const struct tsr_uop *uop);
/*
 * The texture word of TEXC @d, if it is a constant of the clause or a copy that the clause makes of
 * one. Returns false if it is neither.
 */
bool tsr_plan_texture_word(const struct tsr_decoded *d, uint32_t *word);

#endif
