/* SPDX-License-Identifier: MIT */
/*
 * Messages of warps. Early timing: a message is executed when it is sent, and stored only if the
 * host has to be asked; its warp does not go on before it is complete. Late timing: it is stored,
 * and executed when somebody waits for its slot, when its warp has ended, or when there are too
 * many. Its staging registers are read when it is executed, or before that at a staging barrier.
 */
#include <string.h>

#include "../gpu.h"
#include "core.h"

static const union tsr_lanes *operand(const struct tsr_shader *sh, const struct tsr_operand *o,
				      unsigned int w)
{
	return &sh->lanes.alu.space[o->space][o->index + o->step * w];
}

static uint64_t units(uint64_t bytes)
{
	return (bytes + 63) / 64;
}

/* Have the units do @msg, sent by warp @w. */
static enum tsr_step run(struct tsr_shader *sh, unsigned int w, struct tsr_msg *msg)
{
	const struct tsr_warp *warp = &sh->bundle->warp[w];
	const struct tsr_grid *grid = sh->grid;
	uint64_t slot = (uint64_t)sh->core->job.index * grid->slots + tsr_shader_slot(sh, w);
	uint64_t cost;
	enum tsr_step step;

	sh->env.group_memory =
		sh->core->group_memory + (size_t)warp->group * grid->group_stride;
	sh->env.scratch = grid->state.scratch + slot * TSR_WARP_LANES * grid->state.scratch_size;
	sh->env.cost = (struct tsr_msg_cost){ 0, 0 };
	sh->mem.unit = TSR_UNIT_SHADER;
	step = tsr_msg_run(&sh->env, msg);
	cost = units(sh->env.cost.read_bytes) + units(sh->env.cost.write_bytes);
	sh->stats.cycles += cost;
	sh->stats.read_bytes += sh->env.cost.read_bytes;
	sh->stats.write_bytes += sh->env.cost.write_bytes;
	sh->stats.messages += step == TSR_STEP_DONE;
	/* a message that reads thousands of texels is not as short as others */
	sh->effort -= TSR_SHADER_MESSAGE_EFFORT / TSR_BUNDLE_WARPS + cost;
	return step;
}

static bool store(struct tsr_shader *sh, unsigned int w, const struct tsr_decoded *clause,
		  uint16_t lanes)
{
	struct tsr_warp *warp = &sh->bundle->warp[w];
	const struct tsr_decoded_msg *m = &clause->msg;
	struct tsr_stored *s;

	if (!tsr_warp_messages(warp))
		return false;
	s = &warp->message[warp->stored++];
	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < m->srcs; i++)
		s->src[i] = *operand(sh, &m->src[i], w);
	for (unsigned int i = 0; i < m->pairs; i++)
		s->pair[i] = *operand(sh, &m->pair[i], w);
	s->clause = clause->pc;
	s->fma = m->fma;
	s->add = m->add;
	s->paired = m->pair_insn != NULL;
	s->lanes = lanes;
	s->slot = m->slot;
	s->reg = m->staging;
	s->tuple = m->tuple;
	return true;
}

enum tsr_step tsr_message_send(struct tsr_shader *sh, unsigned int w,
			       const struct tsr_decoded *clause)
{
	struct tsr_warp *warp = &sh->bundle->warp[w];
	const struct tsr_decoded_msg *m = &clause->msg;
	struct tsr_msg msg = {
		.insn = m->insn,
		.pair_insn = m->pair_insn,
		.reg = &sh->bundle->reg[w],
		.staging = m->staging,
		.lanes = warp->active,
	};
	enum tsr_step step = TSR_STEP_PENDING;

	for (unsigned int i = 0; i < m->srcs; i++)
		msg.src[i] = operand(sh, &m->src[i], w);
	for (unsigned int i = 0; i < m->pairs; i++)
		msg.pair[i] = operand(sh, &m->pair[i], w);
	if (!sh->gpu->cfg.late_messages)
		step = run(sh, w, &msg);
	if (step == TSR_STEP_FAULT)
		tsr_shader_fault(sh, w, msg.fault_lane, clause->pc, m->tuple, true);
	if (step != TSR_STEP_PENDING)
		return step;
	if (!store(sh, w, clause, msg.lanes)) {
		tsr_mmu_fault(&sh->mem, TSR_FAULT_SHADER_UNSUPPORTED, clause->pc, TSR_ACCESS_NONE,
			      0);
		tsr_shader_fault(sh, w, __builtin_ctz(warp->active), clause->pc, m->tuple, true);
		return TSR_STEP_FAULT;
	}
	if (!sh->gpu->cfg.late_messages || warp->stored == TSR_STORED_MAX)
		warp->owed |= 1u << warp->message[0].slot;
	return TSR_STEP_PENDING;
}

/* A stored message's staging registers, as it read them, in a register file of their own. */
static void stage(struct tsr_shader *sh, const struct tsr_stored *s)
{
	for (unsigned int i = 0; i < TSR_STAGING_MAX; i++)
		sh->staged[(s->reg + i) % TSR_REGISTERS * TSR_BUNDLE_WARPS] = s->staging[i];
}

/* Bring what it wrote there to the warp's registers. */
static void unstage(struct tsr_shader *sh, unsigned int w, const struct tsr_stored *s,
		    uint16_t done, unsigned int words)
{
	for (unsigned int i = 0; i < words; i++) {
		unsigned int r = (s->reg + i) % TSR_REGISTERS * TSR_BUNDLE_WARPS;

		for (uint16_t left = done; left; left &= left - 1) {
			unsigned int lane = __builtin_ctz(left);

			sh->bundle->reg[r + w].u[lane] = sh->staged[r].u[lane];
		}
	}
}

/* Execute a stored message. */
static enum tsr_step execute(struct tsr_shader *sh, unsigned int w, struct tsr_stored *s)
{
	struct tsr_insn insn, pair_insn;
	struct tsr_msg msg = {
		.insn = &insn,
		.reg = s->captured ? sh->staged : &sh->bundle->reg[w],
		.staging = s->reg,
		.lanes = s->lanes,
	};
	enum tsr_step step;

	tsr_insn_decode(TSR_ISA_ADD, s->add, &insn);
	if (s->paired) {
		tsr_insn_decode(TSR_ISA_FMA, s->fma, &pair_insn);
		msg.pair_insn = &pair_insn;
	}
	for (unsigned int i = 0; i < 3; i++) {
		msg.src[i] = &s->src[i];
		msg.pair[i] = &s->pair[i];
	}
	if (s->captured)
		stage(sh, s);
	step = run(sh, w, &msg);
	if (s->captured)
		unstage(sh, w, s, s->lanes & ~msg.lanes, tsr_insn_staging_written(&insn));
	s->lanes = msg.lanes;
	if (step == TSR_STEP_FAULT)
		tsr_shader_fault(sh, w, msg.fault_lane, s->clause, s->tuple, true);
	return step;
}

enum tsr_step tsr_message_settle(struct tsr_shader *sh, unsigned int w)
{
	struct tsr_warp *warp = &sh->bundle->warp[w];
	enum tsr_step step = TSR_STEP_DONE;

	for (unsigned int i = 0; i < warp->stored && step == TSR_STEP_DONE;) {
		struct tsr_stored *s = &warp->message[i];

		if (!(warp->owed >> s->slot & 1)) {
			i++;
			continue;
		}
		step = execute(sh, w, s);
		if (step == TSR_STEP_DONE)
			memmove(s, s + 1, (--warp->stored - i) * sizeof(*s));
	}
	if (step == TSR_STEP_DONE)
		warp->owed = 0;
	return step;
}

void tsr_message_capture(struct tsr_shader *sh, unsigned int w)
{
	struct tsr_warp *warp = &sh->bundle->warp[w];

	for (unsigned int i = 0; i < warp->stored; i++) {
		struct tsr_stored *s = &warp->message[i];
		struct tsr_insn insn;

		tsr_insn_decode(TSR_ISA_ADD, s->add, &insn);
		if (s->captured || !tsr_insn_staging_read(&insn))
			continue;
		for (unsigned int n = 0; n < TSR_STAGING_MAX; n++)
			s->staging[n] = sh->bundle->reg[(s->reg + n) % TSR_REGISTERS *
							TSR_BUNDLE_WARPS + w];
		s->captured = true;
	}
}

uint8_t tsr_message_owed(const struct tsr_warp *warp, uint8_t wait)
{
	uint8_t owed = 0;

	for (unsigned int i = 0; i < warp->stored; i++)
		owed |= wait & 1u << warp->message[i].slot;
	return owed;
}
