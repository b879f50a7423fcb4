/* SPDX-License-Identifier: MIT */
/*
 * One shader file, executed and reported on: what tsr-run does with each.
 */
#ifndef TSR_RUN_EXECUTE_H
#define TSR_RUN_EXECUTE_H

#include <stdio.h>

#include "machine.h"
#include "step.h"

#define RUN_DUMPS_MAX	32

struct run_options {
	struct machine_options machine;
	struct step_options step;	/* step.out is where everything goes */
	const char *breaks[STEP_BREAKS_MAX];	/* --break: addresses, labels, label+offset */
	unsigned int break_count;
	const char *dumps[RUN_DUMPS_MAX];	/* --dump: NAME, NAME=FILE */
	unsigned int dump_count;
	bool all;			/* in all ways: matrix_run() */
	bool quiet;			/* say nothing if it is as expected */
	bool statistics;
};

/* Read and run the file at @path. Whether all is as expected; errors go to step.out as well. */
bool run_path(const struct run_options *options, const char *path);

#endif
