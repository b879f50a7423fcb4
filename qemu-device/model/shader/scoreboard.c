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

/* Add up what the units have done since the last time. */
static void account(struct tsr_shader *sh)
{
	const struct tsr_msg_cost *cost = &sh->env.cost;

	sh->stats.cycles += cost->cycles;
	sh->stats.read_bytes += cost->read_bytes;
	sh->stats.write_bytes += cost->write_bytes;
	sh->stats.messages += cost->done;
	/* a message that reads thousands of texels is not as short as others */
	sh->effort -= cost->tried * (TSR_SHADER_MESSAGE_EFFORT / TSR_BUNDLE_WARPS) + cost->cycles;
	sh->env.cost = (struct tsr_msg_cost){ 0 };
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

/* What has not been done of the message of warp @w, for @lanes, has to wait. False: a fault. */
static bool keep(struct tsr_shader *sh, unsigned int w, const struct tsr_decoded *clause,
		 uint16_t lanes)
{
	struct tsr_warp *warp = &sh->bundle->warp[w];

	if (!store(sh, w, clause, lanes)) {
		tsr_mmu_fault(&sh->mem, TSR_FAULT_SHADER_UNSUPPORTED, clause->pc, TSR_ACCESS_NONE,
			      0);
		tsr_shader_fault(sh, w, __builtin_ctz(warp->active), clause->pc, clause->msg.tuple,
				 true);
		return false;
	}
	if (!sh->gpu->cfg.late_messages || warp->stored == TSR_STORED_MAX)
		warp->owed |= 1u << warp->message[0].slot;
	return true;
}

/* Late timing: the messages of all chosen warps are stored. */
static enum tsr_step send_late(struct tsr_shader *sh, const struct tsr_decoded *clause)
{
	for (unsigned int i = 0; i < sh->lanes.alu.warps; i++) {
		unsigned int w = sh->lanes.alu.warp[i];

		if (!keep(sh, w, clause, sh->bundle->warp[w].active))
			return TSR_STEP_FAULT;
	}
	return TSR_STEP_PENDING;
}

/* The message of @clause, of all chosen warps. */
static void describe(const struct tsr_shader *sh, const struct tsr_decoded *clause,
		     struct tsr_msg_bundle *b)
{
	const struct tsr_decoded_msg *m = &clause->msg;

	*b = (struct tsr_msg_bundle){
		.insn = m->insn, .pair_insn = m->pair_insn, .reg = sh->bundle->reg,
		.staging = m->staging, .warps = sh->lanes.alu.warps, .warp = sh->lanes.alu.warp,
		.lanes = sh->mask_bits, .place = sh->place,
		.last = clause->flags & TSR_CLAUSE_END && !(clause->flags & TSR_CLAUSE_BRANCH) &&
			!sh->gpu->shader_hook,
	};
	for (unsigned int i = 0; i < m->srcs; i++) {
		b->src[i] = operand(sh, &m->src[i], 0);
		b->src_step[i] = m->src[i].step;
	}
	for (unsigned int i = 0; i < m->pairs; i++) {
		b->pair[i] = operand(sh, &m->pair[i], 0);
		b->pair_step[i] = m->pair[i].step;
	}
}

enum tsr_step tsr_message_send(struct tsr_shader *sh, const struct tsr_decoded *clause)
{
	enum tsr_step result = TSR_STEP_DONE;
	struct tsr_msg_bundle b;

	if (sh->gpu->cfg.late_messages)
		return send_late(sh, clause);
	describe(sh, clause, &b);
	sh->mem.unit = TSR_UNIT_SHADER;
	for (unsigned int at = 0; at < b.warps; at++) {
		enum tsr_step step = tsr_msg_run_bundle(&sh->env, &b, &at);
		unsigned int w;

		account(sh);
		if (step == TSR_STEP_DONE)
			break;
		w = b.warp[at];
		if (step == TSR_STEP_FAULT) {
			tsr_shader_fault(sh, w, b.fault_lane, clause->pc, clause->msg.tuple, true);
			return step;
		}
		if (!keep(sh, w, clause, b.left))
			return TSR_STEP_FAULT;
		result = TSR_STEP_PENDING;
	}
	return result;
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
	struct tsr_msg_place place;
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
	place = tsr_shader_place(sh, w);
	sh->env.group_memory = place.group_memory;
	sh->env.scratch = place.scratch;
	sh->mem.unit = TSR_UNIT_SHADER;
	step = tsr_msg_run(&sh->env, &msg);
	account(sh);
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
