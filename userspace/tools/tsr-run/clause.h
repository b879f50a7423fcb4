/* SPDX-License-Identifier: MIT */
/*
 * Clauses as text, with one instruction marked.
 */
#ifndef TSR_RUN_CLAUSE_H
#define TSR_RUN_CLAUSE_H

#include <stdio.h>

#include "script.h"

#define CLAUSE_NO_TUPLE (~0u)

/*
 * Print the clause at @va of the script's code, each line behind @indent. The ADD (@add) or FMA
 * instruction of @tuple is marked by an arrow; CLAUSE_NO_TUPLE: none is. Returns a mask of the
 * registers that the marked tuple names.
 */
uint64_t clause_print(FILE *out, const struct script *script, uint64_t va, const char *indent,
		      unsigned int tuple, bool add);

#endif
