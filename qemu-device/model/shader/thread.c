/* SPDX-License-Identifier: MIT */
/* The shader's part of a thread: made, entered for a burst, left; and the faults it finds. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "env.h"
#include "memory/mmu.h"
#include "sanitize.h"
#include "stage_run.h"

struct tsr_shader *tsr_shader_new(const struct tsr_simd *simd)
{
	size_t size = (sizeof(struct tsr_shader) + 63) & ~(size_t)63;
	struct tsr_shader *sh = aligned_alloc(64, size);

	if (!sh)
		return NULL;
	memset(sh, 0, size);
	tsr_access_init(&sh->access);
	tsr_texture_cache_init(&sh->textures, simd);
	for (unsigned int i = 0; i < TSR_BUNDLE_LANES; i++)
		sh->temp[TSR_TEMP_LANE_ID * TSR_BUNDLE_WARPS + i / TSR_WARP_LANES]
			.u[i % TSR_WARP_LANES] = i % TSR_WARP_LANES;
	for (unsigned int i = 0; i < 256 * 8; i++)
		sh->mask_of[i / 8].u[i % 8] = i / 8 >> i % 8 & 1 ? UINT32_MAX : 0;
	return sh;
}

void tsr_shader_free(struct tsr_shader *sh)
{
	if (sh)
		tsr_code_free(&sh->code);
	free(sh);
}

/*
 * After how many runs a program is compiled; 0: never. MemorySanitizer does not see what compiled
 * shaders write.
 */
static unsigned int jit_runs(const struct tsr_config *cfg)
{
	if (TSR_MEMORY_SANITIZER || cfg->jit == TSR_JIT_USE_OFF)
		return 0;
	return cfg->jit == TSR_JIT_USE_FIRST ? 1 : TSR_JIT_RUNS;
}

void tsr_shader_enter(struct tsr_shader *sh, const struct tsr_mem *mem, unsigned int core)
{
	const struct tsr_config *cfg = mem->env->cfg;

	sh->mem = *mem;
	sh->mem.unit = TSR_UNIT_SHADER;
	sh->env.mem = &sh->mem;
	sh->env.access = &sh->access;
	sh->env.path = mem->env->msg_path;
	sh->env.textures = &sh->textures;
	sh->env.views = &sh->views;
	tsr_texture_enter(&sh->textures, mem);
	sh->textures.stats = (struct tsr_texture_stats){ 0 };
	sh->generation = tsr_mmu_code_generation(mem->port->mmu, mem->as);
	sh->effort = TSR_SHADER_BURST;
	if (mem->thread->budget / TSR_BUNDLE_WARPS < TSR_SHADER_BURST)
		sh->effort = mem->thread->budget / TSR_BUNDLE_WARPS + 1;
	sh->stats = (struct tsr_shader_stats){ 0 };
	tsr_code_evict(&sh->code);
	sh->chunk_lanes = tsr_jit_lanes(mem->env->simd);
	sh->code.jit_runs = jit_runs(cfg);
	sh->loops = sh->code.jit_runs && !sh->code.jit_refused && !cfg->deterministic &&
		    !cfg->strict_code && !mem->env->shader_hook;
	sh->lanes.alu.space[TSR_LANES_TEMP] = sh->temp;
	tsr_stage_fill(&sh->temp[TSR_FIXED_CORE_ID], core);
}

void tsr_shader_leave(struct tsr_shader *sh)
{
	sh->stats.texture = *tsr_texture_counted(&sh->textures);
	tsr_access_stop(&sh->access, sh->mem.port);
	tsr_mem_flush_dirty(sh->mem.port);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

#define FIELD(f, v) ((uint32_t)(v) << f##__SHIFT & f##__MASK)

/* As FAULT_SHADER has it. */
static unsigned int stage_number(unsigned int stage)
{
	return stage >= TSR_STAGE_VERTEX ? stage - TSR_STAGE_VERTEX + 1 : 0;
}

void tsr_shader_fault(struct tsr_shader *sh, unsigned int w, unsigned int lane, uint64_t clause,
		      unsigned int tuple, bool add)
{
	const struct tsr_warp *warp = &sh->bundle->warp[w];

	sh->fault = sh->mem.fault;
	if (sh->fault.code == TSR_FAULT_SHADER_ENCODING ||
	    sh->fault.code == TSR_FAULT_SHADER_UNSUPPORTED)
		sh->fault.addr = clause;
	sh->fault.clause = clause;
	sh->fault.shader = FIELD(TSR_QUEUE_FAULT_SHADER_LANE, lane) |
			   FIELD(TSR_QUEUE_FAULT_SHADER_WARP, warp->number) |
			   FIELD(TSR_QUEUE_FAULT_SHADER_TUPLE, tuple) |
			   FIELD(TSR_QUEUE_FAULT_SHADER_ADD, add) |
			   FIELD(TSR_QUEUE_FAULT_SHADER_CORE, sh->core->job.index) |
			   FIELD(TSR_QUEUE_FAULT_SHADER_STAGE, stage_number(sh->env.stage)) |
			   TSR_QUEUE_FAULT_SHADER_VALID__MASK;
	if (sh->grid)
		memcpy(sh->fault.group, sh->core->group[warp->group].id, sizeof(sh->fault.group));
	else
		tsr_stage_identify(sh, w, lane, sh->fault.group);
	if (sh->mem.env->shader_hook)
		tsr_shader_watch(sh, TSR_SHADER_FAULT, w, clause, NULL, warp->active);
}
