/* SPDX-License-Identifier: MIT */
/*
 * The debugger: a program clause by clause.
 *
 * In: a machine without threads, and commands, from a terminal or a file. Out: a dialogue. Its
 * commands are described in Documentation/guide/shaders.md.
 */
#ifndef TSR_RUN_STEP_H
#define TSR_RUN_STEP_H

#include <stdio.h>

#include "machine.h"

#define STEP_BREAKS_MAX	64

struct step_options {
	bool trace;			/* print every clause, stop at none */
	bool step;			/* stop at the first clause */
	FILE *in;			/* commands */
	FILE *out;
	bool echo;			/* commands are no terminal's: print them */
	uint64_t breakpoint[STEP_BREAKS_MAX];	/* addresses of clauses */
	unsigned int breakpoints;
};

/* Run the script on @machine under the debugger. */
void step_run(struct machine *machine, const struct machine_options *options,
	      const struct step_options *step, struct outcome *outcome);

#endif
