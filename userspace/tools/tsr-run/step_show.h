/* SPDX-License-Identifier: MIT */
/* Output of the debugger. */
#ifndef TSR_RUN_STEP_SHOW_H
#define TSR_RUN_STEP_SHOW_H

#include <stdio.h>

#include "machine.h"
#include "shader/debug.h"

/* "group (0, 0, 0) warp 0" */
const char *show_warp(const struct tsr_shader_view *view, char *text, size_t size);
/* One line: the warp, the clause it stands at, its lanes. */
void show_stop(FILE *out, const struct script *script, const struct tsr_shader_view *view);
/* Where all lanes of the warp are, what is not answered. */
void show_lanes(FILE *out, const struct script *script, const struct tsr_shader_view *view);
/* A register in the lanes of @lanes: one value if they agree, else all. */
void show_register(FILE *out, unsigned int r, const union tsr_lanes *value, uint16_t lanes);
/* The registers that differ from @before in any lane. */
void show_changes(FILE *out, const struct tsr_shader_view *view,
		  const union tsr_lanes before[TSR_REGISTERS]);
/* @count words of memory at @va, of the kind 'x' (hexadecimal), 'd' or 'f'. */
void show_memory(FILE *out, const struct machine *machine, uint64_t va, unsigned int count,
		 char kind);
/* Words of shared memory. */
void show_group_memory(FILE *out, const struct tsr_shader_view *view, uint32_t offset,
		       unsigned int count, char kind);

#endif
