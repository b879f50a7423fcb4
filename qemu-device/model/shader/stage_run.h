/* SPDX-License-Identifier: MIT */
/* Shared declarations of the stages, see stage.c. */
#ifndef TSR_SHADER_STAGE_RUN_H
#define TSR_SHADER_STAGE_RUN_H

#include "stage.h"

/* Registers a fragment program finds. */
enum {
	TSR_REG_PRIMITIVE = 57,
	TSR_REG_BACK = 58,			/* 0: front face */
	TSR_REG_POSITION = 59,		/* x | y << 16 */
	TSR_REG_COVERAGE = 60,
	TSR_REG_SAMPLES = 61,		/* coverage | sample << 16 */
};

/* @word in all lanes. */
void tsr_stage_fill(union tsr_lanes *v, uint32_t word);
/* The calling thread is going to run @run with @program. False: no memory. */
bool tsr_stage_resume(struct tsr_shader *sh, struct tsr_stage_run *run,
		      const struct tsr_program *program);
/*
 * Threads @live of each warp stand at the first clause; their registers are 0, as far as somebody
 * reads them. Registers @entry are going to be written (all ones: anything may be read), those of
 * @whole in all lanes of warps with threads, as far as somebody reads them.
 */
void tsr_stage_start(struct tsr_shader *sh, struct tsr_stage_run *run,
		     const struct tsr_program *program, const uint16_t live[TSR_BUNDLE_WARPS],
		     uint64_t entry, uint64_t whole);
/* Run until all have ended (_DONE), as tsr_vertex_run() promises. */
enum tsr_step tsr_stage_advance(struct tsr_shader *sh, struct tsr_stage_run *run);

/* The vectors of FAU specials say what state @s does. */
void tsr_fragments_specials(struct tsr_shader *sh, const struct tsr_fragment_state *s);
/* The instruction of preloaded message @n of @s; false: there is none. Its staging is 4 * @n. */
bool tsr_stage_preload(const struct tsr_shader_state *s, unsigned int n, struct tsr_insn *insn);

/* Register @r of warp @w. */
static inline union tsr_lanes *tsr_stage_reg(const struct tsr_stage_run *run, unsigned int r,
					     unsigned int w)
{
	return &run->core.bundle[0]->reg[r * TSR_BUNDLE_WARPS + w];
}

#endif
