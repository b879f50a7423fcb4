/* SPDX-License-Identifier: MIT */
/*
 * Faults for people: where in the program, which thread, what it touched, with which values.
 */
#ifndef TSR_RUN_FAULT_H
#define TSR_RUN_FAULT_H

#include "machine.h"
#include "shader/debug.h"

/* Print the fault of @outcome. */
void fault_print(FILE *out, const struct machine *machine, const struct outcome *outcome);

/* For hooks: if @view is at a fault, and the first one, keep the registers of the lane. */
void fault_see(struct outcome *outcome, const struct tsr_shader_view *view);

/*
 * Run a script that has faulted once more, on a machine without threads, to see the registers of
 * the lane at fault. The fault of this run, which may be another thread's, replaces @outcome,
 * unless there is none.
 */
void fault_catch(const struct script *script, const struct machine_options *options,
		 struct outcome *outcome);

#endif
