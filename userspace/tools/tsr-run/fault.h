/* SPDX-License-Identifier: MIT */
/*
 * Faults for people: where in the program, which thread, what it touched, with which values.
 */
#ifndef TSR_RUN_FAULT_H
#define TSR_RUN_FAULT_H

#include "machine.h"
#include "shader/debug.h"

/*
 * Print the fault of @outcome. @reg, unless NULL, are the registers of the lane at fault then.
 */
void fault_print(FILE *out, const struct machine *machine, const struct outcome *outcome,
		 const uint32_t *reg);

/*
 * Run a script that faults once more, on a machine without threads, to catch the registers of the
 * lane at fault. False: it does not fault that way. The fault of this run, which may be
 * another thread's, replaces @outcome.
 */
bool fault_catch(const struct script *script, const struct machine_options *options,
		 struct outcome *outcome, uint32_t reg[TSR_REGISTERS]);

#endif
