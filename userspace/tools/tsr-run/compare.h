/* SPDX-License-Identifier: MIT */
/*
 * Results against expectations.
 *
 * In: a script, and the memory and outcome of its dispatch. Out: what is wrong, as lines of text.
 */
#ifndef TSR_RUN_COMPARE_H
#define TSR_RUN_COMPARE_H

#include <stdio.h>

#include "machine.h"

/* Lines about one expectation before it says how many more there are. */
#define COMPARE_LINES 8

/*
 * Compare everything the script expects, the fault (or that there is none) included; print what is
 * wrong to @out, each line behind @prefix. Returns the number of expectations that are not met.
 */
unsigned int compare_all(const struct machine *machine, const struct outcome *outcome, FILE *out,
			 const char *prefix);

/*
 * A hash of all buffers of the script: the same for runs that leave the same bits.
 */
uint64_t compare_hash(const struct machine *machine);

/* The name of a fault, "?" if there is none. */
const char *compare_fault_name(unsigned int code);

#endif
