/* SPDX-License-Identifier: MIT */
/*
 * A dispatch in a snapshot: its description and, of each core, what is resident. Everything that
 * follows from that is found again when it is loaded, so that it cannot contradict it. A warp that
 * could not have come to be where it says it is, is refused.
 */
#include <string.h>

#include "core.h"
#include "state_io.h"
#include "grid.h"
#include "tsr_isa.h"
#include "warp.h"

/* Most bytes of a warp, of a message (three sources, eight staging registers), and of a core. */
#define WARP_BYTES (2 * 8 + TSR_WARP_LANES * 8 + 24)
#define MESSAGE_BYTES (24 + (3 + TSR_STAGING_MAX) * sizeof(union tsr_lanes))
#define CORE_BYTES \
	(TSR_CORE_WARPS * (WARP_BYTES + TSR_REGISTERS / 2 * sizeof(union tsr_lanes) + 12) + \
	 TSR_CORE_STORED_MAX * MESSAGE_BYTES + TSR_GROUP_MEMORY_MAX + 64)
_Static_assert(CORE_BYTES + 1024 <= TSR_SLOT_CORE_BYTES, "a packed dispatch is within its bound");

/* A stored message that its warp could have sent. */
static bool is_sound(const struct tsr_stored *m, uint16_t lanes)
{
	struct tsr_insn insn, pair;
	enum tsr_message type;

	if (!tsr_insn_decode(TSR_ISA_ADD, m->add, &insn))
		return false;
	type = tsr_insn_message(&insn);
	if (m->paired && !tsr_insn_decode(TSR_ISA_FMA, m->fma, &pair))
		return false;
	return type != TSR_MESSAGE_NONE && type != TSR_MESSAGE_BARRIER && m->slot < TSR_SLOTS &&
	       m->reg < TSR_REGISTERS && m->tuple < TSR_CLAUSE_TUPLES_MAX && m->paired <= 1 &&
	       m->captured <= 1 && (m->result < TSR_REGISTERS || m->result == UINT8_MAX) &&
	       m->lanes && !(m->lanes & ~lanes) &&
	       (tsr_ops[insn.op].pair == TSR_PAIR_NONE || m->paired);
}

/* The values of @insn's sources, as many as it has. */
static void visit_sources(struct tsr_stream *s, const struct tsr_insn *insn, union tsr_lanes *src)
{
	for (unsigned int i = 0; i < 3 && i < tsr_ops[insn->op].num_srcs; i++)
		TSR_VISIT(s, src[i]);
}

/* Values that a sound message has read. */
static void visit_values(struct tsr_stream *s, struct tsr_stored *m)
{
	struct tsr_insn insn;

	tsr_insn_decode(TSR_ISA_ADD, m->add, &insn);
	visit_sources(s, &insn, m->src);
	if (m->paired) {
		tsr_insn_decode(TSR_ISA_FMA, m->fma, &insn);
		visit_sources(s, &insn, m->pair);
	}
	if (!m->captured)
		return;
	tsr_insn_decode(TSR_ISA_ADD, m->add, &insn);
	for (unsigned int i = 0; i < tsr_stored_staging(&insn); i++)
		TSR_VISIT(s, m->staging[i]);
}

static void visit_stored(struct tsr_stream *s, struct tsr_stored *m, uint16_t lanes)
{
	if (s->loading)
		memset(m, 0, sizeof(*m));
	TSR_VISIT(s, m->clause);
	TSR_VISIT(s, m->fma);
	TSR_VISIT(s, m->add);
	TSR_VISIT(s, m->lanes);
	TSR_VISIT(s, m->slot);
	TSR_VISIT(s, m->reg);
	TSR_VISIT(s, m->tuple);
	TSR_VISIT(s, m->paired);
	TSR_VISIT(s, m->captured);
	TSR_VISIT(s, m->result);
	if (s->loading && !s->wrong)
		tsr_stream_check(s, is_sound(m, lanes), "a message of a warp");
	if (!s->wrong)
		visit_values(s, m);
}

/* Registers there are with 32 of them. */
#define REGISTERS_32 0xffff00000000ffffull

/* The registers of a warp that may be other than 0; the others are, in a bundle that is loaded. */
static void visit_registers(struct tsr_stream *s, const struct tsr_grid *grid,
			    struct tsr_warp *warp, union tsr_lanes *reg)
{
	uint64_t there = grid->state.registers_64 ? UINT64_MAX : REGISTERS_32;
	uint64_t written = (warp->written | TSR_ENTRY_REGISTERS) & there;

	TSR_VISIT(s, written);
	tsr_stream_check(s, !(written & ~there), "registers of a warp");
	for (uint64_t left = s->wrong ? 0 : written; left; left &= left - 1)
		TSR_VISIT(s, reg[__builtin_ctzll(left) * TSR_BUNDLE_WARPS]);
	if (s->loading)
		warp->written = written;
}

static void visit_warp(struct tsr_stream *s, const struct tsr_grid *grid, struct tsr_warp *warp,
		       union tsr_lanes *reg)
{
	uint16_t lanes = tsr_grid_lanes(grid, warp->number);

	TSR_VISIT(s, warp->here);
	TSR_VISIT(s, warp->pc);
	TSR_VISIT(s, warp->live);
	TSR_VISIT(s, warp->active);
	TSR_VISIT(s, warp->parked);
	TSR_VISIT(s, warp->awaited);
	TSR_VISIT(s, warp->yielded);
	TSR_VISIT(s, warp->stored);
	TSR_VISIT(s, warp->clauses);
	TSR_VISIT(s, warp->passed);
	if (s->loading)
		tsr_stream_check(s,
				 !(warp->live & ~lanes) && !(warp->parked & ~warp->live) &&
					 !(warp->active & (~warp->live | warp->parked)) &&
					 (warp->active || warp->live == warp->parked) &&
					 warp->stored <= grid->stored && warp->yielded <= 1,
				 "a warp");
	if (s->wrong)
		warp->stored = 0;
	else if (s->loading)
		tsr_warp_find_meet(warp);
	if (s->loading && warp->stored && !tsr_warp_reserve(warp, grid->stored)) {
		tsr_stream_check(s, false, "no memory for a warp's messages");
		warp->stored = 0;
	}
	for (unsigned int i = 0; i < warp->stored; i++)
		visit_stored(s, &warp->message[i], lanes);
	/* as many as there may be: the oldest is waited for before there is another */
	if (s->loading && warp->stored == grid->stored)
		tsr_stream_check(s, warp->awaited >> (warp->message[0].slot % TSR_SLOTS) & 1,
				 "a warp's messages");
	visit_registers(s, grid, warp, reg);
}

/* The warp in @slot; when loading it is counted in its group. */
static void visit_slot(struct tsr_stream *s, const struct tsr_grid *grid, struct tsr_core *core,
		       unsigned int slot)
{
	struct tsr_bundle *bundle = core->bundle[slot / TSR_BUNDLE_WARPS];
	struct tsr_warp *warp;
	struct tsr_group *group = &core->group[slot / grid->warps];
	uint8_t used = bundle && bundle->warp[slot % TSR_BUNDLE_WARPS].used;

	TSR_VISIT(s, used);
	if (!used || s->wrong)
		return;
	if (s->loading)
		bundle = tsr_core_bundle(core, slot);
	tsr_stream_check(s, used == 1 && bundle, "a warp's place");
	if (s->wrong)
		return;
	warp = &bundle->warp[slot % TSR_BUNDLE_WARPS];
	warp->used = true;
	warp->group = slot / grid->warps;
	warp->number = slot % grid->warps;
	visit_warp(s, grid, warp, &bundle->reg[slot % TSR_BUNDLE_WARPS]);
	if (!s->loading || s->wrong)
		return;
	group->warps++;
	group->alive += __builtin_popcount(warp->live);
	group->parked += __builtin_popcount(warp->parked);
	if (warp->active || warp->awaited || !warp->live)
		core->ready |= 1u << slot / TSR_BUNDLE_WARPS;
}

/* Places of warps of a group that have ended are there as well: see open_barrier(). */
static bool have_bundles(const struct tsr_grid *grid, struct tsr_core *core, unsigned int place)
{
	for (unsigned int n = 0; n < grid->warps; n++) {
		if (!tsr_core_bundle(core, place * grid->warps + n))
			return false;
	}
	return true;
}

static void visit_group(struct tsr_stream *s, struct tsr_grid *grid, struct tsr_core *core,
			unsigned int place)
{
	struct tsr_group *group = &core->group[place];
	uint64_t number;

	for (unsigned int n = 0; n < grid->warps; n++)
		visit_slot(s, grid, core, place * grid->warps + n);
	if (!group->warps || s->wrong)
		return;
	TSR_VISIT(s, group->id);
	if (grid->group_stride) {
		tsr_stream_check(s, tsr_core_group_memory(grid, core),
				 "no memory for group memory");
		if (!s->wrong)
			tsr_stream_bytes(s, core->group_memory + place * grid->group_stride,
					 grid->group_stride);
	}
	if (!s->loading)
		return;
	tsr_stream_check(s, have_bundles(grid, core, place), "no memory for a group");
	core->groups++;
	number = group->id[1] + (uint64_t)grid->groups[1] * group->id[2];
	number = group->id[0] + grid->groups[0] * number;
	tsr_stream_check(s,
			 group->id[0] < grid->groups[0] && group->id[1] < grid->groups[1] &&
				 group->id[2] < grid->groups[2] && number < core->next &&
				 tsr_grid_core_of(grid, number) == core->job.index,
			 "a group's number");
	tsr_stream_check(s, !group->alive || group->parked != group->alive, "a barrier");
}

static void visit_core(struct tsr_stream *s, struct tsr_grid *grid, struct tsr_core *core)
{
	uint32_t ready = core->ready | core->waiting, there = 0;

	TSR_VISIT(s, core->next);
	TSR_VISIT(s, core->current);
	TSR_VISIT(s, core->quantum);
	TSR_VISIT(s, core->late);
	TSR_VISIT(s, ready);
	tsr_stream_check(s,
			 tsr_grid_core_of(grid, core->next) == core->job.index &&
				 core->next <= grid->total +
						       (uint64_t)grid->run * grid->job.cores &&
				 core->current < TSR_CORE_BUNDLES &&
				 core->quantum <= TSR_BUNDLE_QUANTUM &&
				 core->quantum >= -TSR_BUNDLE_QUANTUM,
			 "a core");
	for (unsigned int place = 0; place < grid->places && !s->wrong; place++)
		visit_group(s, grid, core, place);
	if (!s->loading)
		return;
	for (unsigned int i = 0; i < TSR_CORE_BUNDLES; i++)
		there |= core->bundle[i] ? 1u << i : 0;
	core->ready |= ready & there;
	if (!core->groups && core->next >= grid->total)
		atomic_store_explicit(&core->job.state, TSR_CORE_DONE, memory_order_relaxed);
}

/* The description from which the grid is made. */
static void visit_description(struct tsr_stream *s, const struct tsr_env *env,
			      struct tsr_grid **grid)
{
	uint64_t word[TSR_COMPUTE_STATE__QWORDS] = { 0 };
	uint32_t groups[3] = { 0 }, push[TSR_PUSH_WORDS_MAX] = { 0 };

	if (!s->loading) {
		memcpy(word, (*grid)->word, sizeof(word));
		memcpy(groups, (*grid)->groups, sizeof(groups));
		memcpy(push, (*grid)->push_word, sizeof(push));
	}
	TSR_VISIT(s, word);
	TSR_VISIT(s, groups);
	TSR_VISIT(s, push);
	if (s->loading && !s->wrong && !tsr_grid_new(env, word, groups, push, NULL, grid))
		tsr_stream_check(s, false, "a dispatch");
}

void tsr_grid_visit(struct tsr_stream *s, const struct tsr_env *env, struct tsr_grid **grid)
{
	visit_description(s, env, grid);
	if (s->wrong)
		return;
	TSR_VISIT(s, (*grid)->job.cursor);
	TSR_VISIT(s, (*grid)->job.bursts);
	tsr_stream_check(s, (*grid)->job.cursor < (*grid)->job.cores, "a dispatch's cursor");
	for (unsigned int i = 0; i < (*grid)->job.cores && !s->wrong; i++)
		visit_core(s, *grid, &(*grid)->core[i]);
	if (s->wrong) {
		tsr_grid_free(*grid);
		*grid = NULL;
	}
}
