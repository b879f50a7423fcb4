/* SPDX-License-Identifier: MIT */
/*
 * Which registers a program reads.
 *
 * Registers are 0 when a thread starts. Clearing all of them would take longer than many a fragment
 * program runs, so a stage clears only what may have been written and can be read. In: the clauses
 * of a program that fixed branches lead to. Out: a mask; all ones where that cannot be known
 * (branches to registers, blend programs, more than TSR_USAGE_CLAUSES).
 */
#ifndef TSR_SHADER_USAGE_H
#define TSR_SHADER_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct tsr_shader;

#define TSR_USAGE_CLAUSES 256
#define TSR_USAGES 64

struct tsr_usage {
	uint64_t space, pc;		/* of which program; pc 0: none */
	uint64_t reads;			/* bit n: register n */
};

/* Registers that message @msg looks at; @dual: of BLEND, there is a second color. */
struct tsr_decoded_msg;
uint64_t tsr_usage_message(const struct tsr_decoded_msg *msg, bool dual);

/* That of the program at @pc of sh->space. */
const struct tsr_usage *tsr_usage_find(struct tsr_shader *sh, uint64_t pc);

#endif
