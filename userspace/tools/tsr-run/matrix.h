/* SPDX-License-Identifier: MIT */
/*
 * A script in all ways to run it: early and late messages, 1, 2 and 8 threads, every SIMD path that
 * this processor has, interpreted and as machine code.
 */
#ifndef TSR_RUN_MATRIX_H
#define TSR_RUN_MATRIX_H

#include <stdio.h>

#include "machine.h"

/* "2 threads, late, avx2, machine code" */
const char *matrix_name(const struct machine_options *options, char *text, size_t size);

/*
 * Run @script in all these ways; what is wrong goes to @out, a line each behind @prefix. Besides
 * the expectations, all buffers must have the same bits after each, unless the script says that the
 * order of threads matters to them, or expects a fault. Returns the number of ways that fail.
 * @quick: a third of the ways, chosen so that each two choices of different kinds meet.
 */
unsigned int matrix_run(const struct script *script, bool quick, FILE *out, const char *prefix);

#endif
