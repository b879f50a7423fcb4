/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core.h"
#include "warp.h"
#include "work.h"

/* Describes the warp itself in the view. */
static void describe(const struct tsr_warp *warp, struct tsr_shader_view *view)
{
	view->warp = warp->number;
	view->live = warp->live;
	view->active = warp->active;
	view->parked = warp->parked;
	view->clauses = warp->clauses;
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		view->pc[l] = tsr_warp_pc(warp, l);
	for (unsigned int i = 0; i < warp->stored; i++)
		view->outstanding[warp->message[i].slot]++;
}

void tsr_shader_watch(struct tsr_shader *sh, enum tsr_shader_when when, unsigned int w,
		      uint64_t pc, const struct tsr_decoded *clause, uint16_t executed)
{
	const struct tsr_warp *warp = &sh->bundle->warp[w];
	const struct tsr_compute_state *state = sh->env.state;
	struct tsr_shader_view view = {
		.when = when,
		.queue = tsr_queue_number(sh->mem.queue),
		.core = sh->core->job.index,
		.slot = tsr_shader_slot(sh, w),
		.clause = pc,
		.executed = executed,
		.reg = &sh->bundle->reg[w],
		.group_memory_size = state->group_memory,
		.scratch_size = state->scratch_size,
	};

	sh->bundle->warp[w].written = UINT64_MAX;	/* by the hook */
	describe(warp, &view);
	memcpy(view.group, sh->core->group[warp->group].id, sizeof(view.group));
	if (clause) {
		view.code = clause->code;
		view.code_len = clause->bytes;
	}
	if (state->group_memory)
		view.group_memory =
			sh->core->group_memory + (size_t)warp->group * sh->group_stride;
	view.scratch = tsr_shader_scratch(sh, w);
	if (when == TSR_SHADER_FAULT) {
		view.fault_code = sh->fault.code;
		view.fault_addr = sh->fault.addr;
		view.fault_shader = sh->fault.shader;
	}
	sh->mem.env->shader_hook(sh->mem.env->shader_hook_opaque, &view);
}
