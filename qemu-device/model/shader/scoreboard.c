/* SPDX-License-Identifier: MIT */
/*
 * Messages of warps. Early timing: a message is executed when it is sent, and stored only if the
 * host has to be asked; its warp does not go on before it is complete. Late timing: it is stored,
 * and executed when somebody waits for its slot, when its warp has ended, or when there are too
 * many. Its staging registers are read when it is executed, or before that at a staging barrier.
 */
#include <string.h>

#include "core.h"
#include "stage.h"

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

/* Units have no flush modes, whenever and after whatever clause they work. */
static void plain_mode(struct tsr_shader *sh)
{
	static const struct tsr_alu_mode none;

	if (!sh->mode_key)
		return;
	sh->mode_key = 0;
	tsr_alu_change(&sh->fp, &none);
}

/* Messages each warp of what runs can have stored. */
static unsigned int capacity(const struct tsr_shader *sh)
{
	return sh->grid ? sh->grid->stored : TSR_STORED_MAX;
}

static bool store(struct tsr_shader *sh, unsigned int w, const struct tsr_decoded *clause,
		  uint16_t lanes)
{
	struct tsr_warp *warp = &sh->bundle->warp[w];
	const struct tsr_decoded_msg *m = &clause->msg;
	struct tsr_stored *s;

	if (warp->stored >= capacity(sh) || !tsr_warp_reserve(warp, capacity(sh)))
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
	s->result = m->result;
	s->tuple = m->tuple;
	return true;
}

/* Defers the rest of the message of warp @w, for @lanes. False if that is a fault. */
static bool defer(struct tsr_shader *sh, unsigned int w, const struct tsr_decoded *clause,
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
	if (!sh->mem.env->cfg->late_messages || warp->stored == capacity(sh))
		warp->awaited |= 1u << warp->message[0].slot;
	return true;
}

/* ---- Helper threads of fragments ------------------------------------------------------------- */

/*
 * Threads of warp @w that send the message of a clause at once with the others of the bundle.
 * Helpers have no side effects. What they load comes later, because it must not fault.
 */
static uint16_t senders(const struct tsr_shader *sh, unsigned int w, const struct tsr_insn *insn,
			bool loads)
{
	uint16_t active = sh->bundle->warp[w].active;

	switch (tsr_insn_message(insn)) {
	case TSR_MESSAGE_LOAD:
		return loads ? active : active & ~sh->lanes.helper[w];
	case TSR_MESSAGE_STORE:
	case TSR_MESSAGE_ATOMIC:
	case TSR_MESSAGE_BLEND:
		return active & ~sh->lanes.helper[w];
	case TSR_MESSAGE_TILE:
		return insn->op == TSR_OP_ADD_ST_TILE ? active & ~sh->lanes.helper[w] : active;
	default:
		return active;
	}
}

/* Do @msg, a load, for lanes that are helpers: what faults reads 0, for nobody will see it. */
static enum tsr_step load_helpers(struct tsr_shader *sh, struct tsr_msg *msg)
{
	enum tsr_step step = TSR_STEP_DONE;

	while (msg->lanes) {
		step = tsr_msg_run(&sh->env, msg);
		if (step != TSR_STEP_FAULT)
			break;
		for (unsigned int i = 0; i < tsr_insn_staging_written(msg->insn); i++) {
			unsigned int r = (msg->staging + i) % TSR_REGISTERS;

			msg->reg[r * TSR_BUNDLE_WARPS].u[msg->fault_lane] = 0;
		}
		msg->lanes &= ~(1u << msg->fault_lane);
		step = TSR_STEP_DONE;
	}
	return step;
}

/* Do a stored @msg of warp @w, whoever sent it. */
static enum tsr_step run_stored(struct tsr_shader *sh, unsigned int w, struct tsr_msg *msg)
{
	uint16_t helpers = sh->env.fragments ? msg->lanes & sh->lanes.helper[w] : 0;
	enum tsr_step step = TSR_STEP_DONE;

	if (!helpers || tsr_insn_message(msg->insn) != TSR_MESSAGE_LOAD)
		return tsr_msg_run(&sh->env, msg);
	msg->lanes &= ~helpers;
	if (msg->lanes)
		step = tsr_msg_run(&sh->env, msg);
	if (step != TSR_STEP_DONE) {
		msg->lanes |= helpers;
		return step;
	}
	msg->lanes = helpers;
	return load_helpers(sh, msg);
}

/* BLENDs that send their threads to a blend program do so at once: it is their next clause. */
static bool at_once(const struct tsr_shader *sh, const struct tsr_decoded *clause)
{
	const struct tsr_decoded_msg *m = &clause->msg;

	for (unsigned int i = 0; clause->flags & TSR_CLAUSE_BLEND && i < sh->lanes.alu.warps; i++) {
		unsigned int w = sh->lanes.alu.warp[i];
		uint16_t lanes = senders(sh, w, m->insn, true);
		unsigned int first = lanes ? __builtin_ctz(lanes) : 0;

		if (lanes && tsr_msg_blend_enters(operand(sh, &m->src[1], w)->u[first],
						  operand(sh, &m->src[2], w)->u[first]))
			return true;
	}
	return false;
}

/* Late timing: the messages of all chosen warps are stored. */
static enum tsr_step send_late(struct tsr_shader *sh, const struct tsr_decoded *clause)
{
	if (clause->flags & TSR_CLAUSE_BLEND)
		memset(sh->env.fragments->jumped, 0, sizeof(sh->env.fragments->jumped));
	for (unsigned int i = 0; i < sh->lanes.alu.warps; i++) {
		unsigned int w = sh->lanes.alu.warp[i];

		uint16_t lanes = senders(sh, w, clause->msg.insn, true);

		if (lanes && !defer(sh, w, clause, lanes))
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
		.staging = m->staging, .result = m->result,
		.warps = sh->lanes.alu.warps, .warp = sh->lanes.alu.warp,
		.lanes = sh->mask_bits, .place = sh->place,
		.last = clause->flags & TSR_CLAUSE_END && !(clause->flags & TSR_CLAUSE_BRANCH) &&
			!sh->mem.env->shader_hook,
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

/* Helper threads of warp @w load, after the others of their bundle. */
static enum tsr_step send_helpers(struct tsr_shader *sh, unsigned int w,
				  const struct tsr_decoded *clause)
{
	const struct tsr_decoded_msg *m = &clause->msg;
	const struct tsr_msg_place place = tsr_shader_place(sh, w);
	struct tsr_msg msg = {
		.insn = m->insn, .pair_insn = m->pair_insn, .reg = &sh->bundle->reg[w],
		.staging = m->staging, .lanes = sh->mask_bits[w] & sh->lanes.helper[w],
	};
	enum tsr_step step;

	for (unsigned int i = 0; i < m->srcs; i++)
		msg.src[i] = operand(sh, &m->src[i], w);
	sh->env.group_memory = place.group_memory;
	sh->env.scratch = place.scratch;
	sh->env.warp = w;
	step = load_helpers(sh, &msg);
	account(sh);
	if (step == TSR_STEP_PENDING && !defer(sh, w, clause, msg.lanes))
		return TSR_STEP_FAULT;
	return step;
}

/* Completes @b for a fragment program. Returns a bit for each warp whose helpers load. */
static unsigned int describe_fragments(struct tsr_shader *sh, const struct tsr_decoded *clause,
				       struct tsr_msg_bundle *b)
{
	bool load = tsr_insn_message(clause->msg.insn) == TSR_MESSAGE_LOAD;
	unsigned int helpers = 0, warps = 0;

	if (clause->flags & TSR_CLAUSE_BLEND)
		memset(sh->env.fragments->jumped, 0, sizeof(sh->env.fragments->jumped));
	if (!tsr_any_lanes(sh->lanes.helper))
		return 0;
	b->lanes = sh->senders;
	b->warp = sh->sending;
	for (unsigned int i = 0; i < sh->lanes.alu.warps; i++) {
		unsigned int w = sh->lanes.alu.warp[i];

		sh->senders[w] = senders(sh, w, clause->msg.insn, false);
		if (sh->senders[w])
			sh->sending[warps++] = w;
		if (load && sh->mask_bits[w] & sh->lanes.helper[w])
			helpers |= 1u << w;
	}
	b->warps = warps;
	return helpers;
}

enum tsr_step tsr_message_send(struct tsr_shader *sh, const struct tsr_decoded *clause)
{
	enum tsr_step result = TSR_STEP_DONE;
	struct tsr_msg_bundle b;
	unsigned int helpers = 0;

	if (sh->mem.env->cfg->late_messages && !at_once(sh, clause))
		return send_late(sh, clause);
	plain_mode(sh);
	describe(sh, clause, &b);
	if (sh->env.fragments)
		helpers = describe_fragments(sh, clause, &b);
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
		if (helpers >> w & 1)
			b.left |= sh->mask_bits[w] & sh->lanes.helper[w];
		helpers &= ~(1u << w);
		if (!defer(sh, w, clause, b.left))
			return TSR_STEP_FAULT;
		result = TSR_STEP_PENDING;
	}
	for (; helpers; helpers &= helpers - 1) {
		enum tsr_step step = send_helpers(sh, __builtin_ctz(helpers), clause);

		if (step == TSR_STEP_FAULT)
			return step;
		if (step == TSR_STEP_PENDING)
			result = step;
	}
	return result;
}

/* Staging register @i of a stored message. BLEND reads a second color from R4 to R7. */
static unsigned int staged_register(const struct tsr_insn *insn, const struct tsr_stored *s,
				    unsigned int i)
{
	return insn->op == TSR_OP_ADD_BLEND && i >= 4 ? i : (s->reg + i) % TSR_REGISTERS;
}

/* A stored message's staging registers, as it read them, in a register file of their own. */
static void stage(struct tsr_shader *sh, const struct tsr_insn *insn, const struct tsr_stored *s)
{
	for (unsigned int i = 0; i < tsr_stored_staging(insn); i++)
		sh->staged[staged_register(insn, s, i) * TSR_BUNDLE_WARPS] = s->staging[i];
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
		.result = s->result,
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
		stage(sh, &insn, s);
	place = tsr_shader_place(sh, w);
	sh->env.group_memory = place.group_memory;
	sh->env.scratch = place.scratch;
	sh->env.warp = w;
	sh->mem.unit = TSR_UNIT_SHADER;
	plain_mode(sh);
	step = run_stored(sh, w, &msg);
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

		if (!(warp->awaited >> s->slot & 1)) {
			i++;
			continue;
		}
		step = execute(sh, w, s);
		if (step == TSR_STEP_DONE)
			memmove(s, s + 1, (--warp->stored - i) * sizeof(*s));
	}
	if (step == TSR_STEP_DONE)
		warp->awaited = warp->yielded = 0;
	return step;
}

unsigned int tsr_stored_staging(const struct tsr_insn *insn)
{
	unsigned int read = tsr_insn_staging_read(insn), written = tsr_insn_staging_written(insn);

	if (insn->op == TSR_OP_ADD_BLEND)
		return TSR_STAGING_MAX;
	return read > written ? read : written;
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
		for (unsigned int n = 0; n < tsr_stored_staging(&insn); n++)
			s->staging[n] = sh->bundle->reg[staged_register(&insn, s, n) *
							TSR_BUNDLE_WARPS + w];
		s->captured = true;
	}
}

bool tsr_message_texels(const struct tsr_warp *warp)
{
	for (unsigned int i = 0; i < warp->stored; i++) {
		const struct tsr_stored *s = &warp->message[i];
		enum tsr_message type;
		struct tsr_insn insn;

		if (!(warp->awaited >> s->slot & 1))
			continue;
		tsr_insn_decode(TSR_ISA_ADD, s->add, &insn);
		type = tsr_insn_message(&insn);
		if (type == TSR_MESSAGE_TEX || type == TSR_MESSAGE_VARTEX)
			return true;
	}
	return false;
}

uint8_t tsr_message_awaited(const struct tsr_warp *warp, uint8_t wait)
{
	uint8_t awaited = 0;

	for (unsigned int i = 0; i < warp->stored; i++)
		awaited |= wait & 1u << warp->message[i].slot;
	return awaited;
}
