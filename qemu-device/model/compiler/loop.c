/* SPDX-License-Identifier: MIT */
#include "loop.h"

#include <string.h>

#include "flow.h"
#include "shader/core.h"
#include "shader/stage.h"
#include "shader/warp.h"

/* ---- A program from a clause on -------------------------------------------------------------- */

/* Bits of the state that BLEND reads in addition to its operands. */
enum {
	VARIANT_DUAL = 1,		/* R4 to R7 */
	VARIANT_PROGRAM = 2,		/* all, as a program may follow */
};

struct look {
	struct tsr_program_flow flow;
	bool member[TSR_FLOW_CLAUSES];
};

/* Finds the registers that clause @n reads before it writes them, and those that it writes. */
static void find_usage(struct tsr_program_flow *f, unsigned int n, unsigned int variant)
{
	const struct tsr_decoded *d = f->clause[n];
	uint64_t reads = 0;

	if (d->flags & TSR_CLAUSE_MESSAGE)
		reads = tsr_usage_message(&d->msg, variant & VARIANT_DUAL);
	if (d->flags & TSR_CLAUSE_BLEND && variant & VARIANT_PROGRAM)
		reads = UINT64_MAX;
	if (tsr_flow_branches(d))
		reads |= tsr_uop_reads(d->branch);
	f->writes[n] = 0;
	for (unsigned int u = 0; u < d->uops; u++)
		f->writes[n] |= tsr_uop_writes(&d->uop[u]);
	f->reads[n] = d->flags & TSR_CLAUSE_FAULT ? 0 : tsr_flow_reads(d, reads);
}

static uint64_t live_at(const struct tsr_program_flow *f, uint64_t pc)
{
	int n = tsr_flow_at(f, pc);

	return n < 0 ? UINT64_MAX : f->live[n];
}

/* ---- Which clauses are in the loop ----------------------------------------------------------- */

/* True if a loop can have clause @d. */
static bool fits(const struct tsr_decoded *d, const struct tsr_decoded *head)
{
	const unsigned int not = TSR_CLAUSE_FAULT | TSR_CLAUSE_MESSAGE | TSR_CLAUSE_BARRIER |
				 TSR_CLAUSE_END | TSR_CLAUSE_DISCARD | TSR_CLAUSE_BLEND;

	if (d->flags & not || d->mode_key != head->mode_key || d->next_pc <= d->pc)
		return false;
	return !tsr_flow_branches(d) || (tsr_flow_jumps(d) && d->flags & TSR_CLAUSE_RECONVERGE);
}

/* Mark what of @allowed is before or after the marked clauses; until that is all. */
static void spread(const struct look *l, const bool *allowed, bool *mark, bool forwards)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (unsigned int i = 0; i < l->flow.count; i++) {
			const int16_t to[2] = { l->flow.next[i], l->flow.jump[i] };

			for (unsigned int k = 0; k < 2 && allowed[i]; k++) {
				if (to[k] < 0 || !allowed[to[k]] || mark[i] == mark[to[k]])
					continue;
				changed |= mark[forwards ? i : (unsigned int)to[k]];
				mark[i] |= !forwards;
				mark[to[k]] |= forwards;
			}
		}
	}
}

/*
 * The clauses from which threads come back to @head, and, as far as they lie before the last of
 * these, those on the way out: they have lower addresses, so they go first.
 */
static void find_members(struct look *l, const struct tsr_decoded *head)
{
	bool allowed[TSR_FLOW_CLAUSES] = { false }, back[TSR_FLOW_CLAUSES] = { false };
	const int at = tsr_flow_at(&l->flow, head->pc);
	uint64_t last = head->pc;

	for (unsigned int i = 0; i < l->flow.count; i++)
		allowed[i] = fits(l->flow.clause[i], head);
	memset(l->member, 0, sizeof(l->member));
	l->member[at] = back[at] = allowed[at];
	spread(l, allowed, l->member, true);
	spread(l, l->member, back, false);
	for (unsigned int i = 0; i < l->flow.count; i++)
		last = back[i] ? l->flow.clause[i]->pc : last;
	for (unsigned int i = 0; i < l->flow.count; i++)
		l->member[i] &= l->flow.clause[i]->pc <= last;
}

/* ---- Places ---------------------------------------------------------------------------------- */

static int place_at(const struct tsr_loop *loop, uint64_t pc)
{
	for (unsigned int i = 0; i < loop->places; i++) {
		if (loop->place[i].pc == pc)
			return (int)i;
	}
	return -1;
}

/* There is a place at @pc; they stay in order. False: there are too many. */
static bool add_place(struct tsr_loop *loop, uint64_t pc, uint64_t live)
{
	unsigned int to = loop->places;

	if (place_at(loop, pc) >= 0)
		return true;
	if (to == TSR_LOOP_PLACES)
		return false;
	for (; to && loop->place[to - 1].pc > pc; to--)
		loop->place[to] = loop->place[to - 1];
	loop->place[to] = (struct tsr_loop_place){ .pc = pc, .live = live, .jump = -1 };
	loop->places++;
	return true;
}

/* Where blocks begin, and what lies beyond. */
static bool find_places(const struct look *l, const struct tsr_decoded *head,
			struct tsr_loop *loop)
{
	bool good = add_place(loop, head->pc, live_at(&l->flow, head->pc));

	for (unsigned int i = 0; good && i < l->flow.count; i++) {
		const struct tsr_decoded *d = l->flow.clause[i];
		const int next = l->flow.next[i];

		if (!l->member[i])
			continue;
		if (tsr_flow_branches(d))
			good &= add_place(loop, d->jump_pc, live_at(&l->flow, d->jump_pc));
		if (tsr_flow_falls(d) && (tsr_flow_branches(d) || next < 0 || !l->member[next]))
			good &= add_place(loop, d->next_pc, live_at(&l->flow, d->next_pc));
	}
	return good;
}

/* The last clause of @p, which ends there. */
static bool end_block(struct tsr_loop *loop, struct tsr_loop_place *p, const struct tsr_decoded *d)
{
	p->jump = (int8_t)(tsr_flow_branches(d) ? place_at(loop, d->jump_pc) : -1);
	p->falls = tsr_flow_falls(d);
	/* who waits at the next place goes on with these, unless it says otherwise */
	return (tsr_flow_branches(d) || d->flags & TSR_CLAUSE_RECONVERGE) &&
	       (!p->falls || place_at(loop, d->next_pc) == p - loop->place + 1);
}

/* Clauses become blocks. False: it is not such a loop. */
static bool find_blocks(const struct look *l, struct tsr_loop *loop)
{
	struct tsr_loop_place *p = NULL;

	for (unsigned int i = 0; i < l->flow.count; i++) {
		struct tsr_decoded *d = l->flow.clause[i];
		int at = place_at(loop, d->pc);

		if (!l->member[i])
			continue;
		if (at >= 0) {
			p = &loop->place[at];
			p->first = loop->clauses;
		}
		if (!p || loop->clauses == TSR_LOOP_CLAUSES ||
		    (p->clauses && loop->clause[loop->clauses - 1]->next_pc != d->pc))
			return false;
		loop->clause[loop->clauses++] = d;
		loop->last = d->pc;
		loop->tuples += d->tuples;
		loop->flags |= d->flags;
		loop->written |= d->written;
		p->clauses++;
		p->tuples += d->tuples;
		/* no place inside of it */
		if (p - loop->place + 1 < loop->places && p[1].pc < d->next_pc)
			return false;
		if (!tsr_flow_branches(d) && place_at(loop, d->next_pc) < 0)
			continue;
		if (!end_block(loop, p, d))
			return false;
		p = NULL;
	}
	return !p && loop->clauses;
}

/*
 * Two threads that begin together, one waiting while the other is at a block: for every way they
 * can go. What the one that waits will look at has to be kept. The lower one goes first; where one
 * has left the loop and is lowest, that is the end.
 */
static void find_kept(struct tsr_loop *loop)
{
	bool seen[TSR_LOOP_PLACES][TSR_LOOP_PLACES] = { { false } };
	uint8_t pair[TSR_LOOP_PLACES * TSR_LOOP_PLACES][2];
	unsigned int pairs = 1;

	pair[0][0] = pair[0][1] = loop->head;
	seen[loop->head][loop->head] = true;
	for (unsigned int n = 0; n < pairs; n++) {
		const unsigned int low = pair[n][0], high = pair[n][1];
		struct tsr_loop_place *p = &loop->place[low];
		int to[2] = { p->falls ? (int)low + 1 : -1, p->jump };

		if (low != high)
			p->kept |= loop->place[high].live;
		/* both go on, or one does */
		for (unsigned int k = 0; p->clauses && k < 4; k++) {
			int a = to[k & 1], b = low == high ? to[k >> 1] : (int)high;

			if (a < 0 || b < 0)
				continue;
			if (a > b) {
				int t = a;

				a = b;
				b = t;
			}
			if (seen[a][b])
				continue;
			seen[a][b] = true;
			pair[pairs][0] = (uint8_t)a;
			pair[pairs++][1] = (uint8_t)b;
		}
	}
}

/* How many tuples threads execute at least between two times at the head. */
static uint16_t find_round(const struct tsr_loop *loop)
{
	uint32_t before[TSR_LOOP_PLACES], least = UINT16_MAX;
	bool changed = true;

	for (unsigned int i = 0; i < loop->places; i++)
		before[i] = i == loop->head ? 0 : UINT16_MAX;
	while (changed) {
		changed = false;
		for (unsigned int i = 0; i < loop->places; i++) {
			const struct tsr_loop_place *p = &loop->place[i];
			const int to[2] = { p->falls ? (int)i + 1 : -1, p->jump };
			const uint32_t here = before[i] + p->tuples;

			for (unsigned int k = 0; p->clauses && k < 2; k++) {
				if (to[k] == loop->head && here < least)
					least = here;
				if (to[k] < 0 || here >= before[to[k]])
					continue;
				before[to[k]] = here;
				changed = true;
			}
		}
	}
	return (uint16_t)least;
}

/* ---- Finding --------------------------------------------------------------------------------- */

static unsigned int variant_of(const struct tsr_shader *sh)
{
	const struct tsr_fragment_state *s =
		sh->env.fragments ? sh->env.fragments->state : NULL;
	unsigned int variant = 0;

	for (unsigned int i = 0; s && i < TSR_RENDER_TARGETS_MAX; i++) {
		if ((s->blend[i] & TSR_BLEND_MODE__MASK) == TSR_BLEND_MODE_PROGRAM)
			variant |= VARIANT_PROGRAM;
	}
	return variant | (s && s->dual_source ? VARIANT_DUAL : 0);
}

/* True if threads come back to the head of @l without leaving it. */
static bool comes_back(const struct look *l, int head)
{
	bool back = false;

	for (unsigned int i = 0; i < l->flow.count; i++)
		back |= l->member[i] && (l->flow.next[i] == head || l->flow.jump[i] == head);
	return back;
}

/* Examines a possible loop. False if there is none; *@refused if there never will be one. */
static bool look(struct tsr_shader *sh, struct tsr_decoded *head, unsigned int variant,
		 struct tsr_loop *loop, bool *refused)
{
	struct look l;

	memset(loop, 0, sizeof(*loop));
	if (!tsr_flow_find(&l.flow, sh, head))
		return false;
	for (unsigned int i = 0; i < l.flow.count; i++)
		find_usage(&l.flow, i, variant);
	tsr_flow_live(&l.flow);
	find_members(&l, head);
	*refused = !comes_back(&l, tsr_flow_at(&l.flow, head->pc)) ||
		   !find_places(&l, head, loop) || !find_blocks(&l, loop);
	if (*refused)
		return false;
	loop->head = (uint8_t)place_at(loop, head->pc);
	loop->round = find_round(loop);
	find_kept(loop);
	return true;
}

struct tsr_loop *tsr_loop_of(struct tsr_shader *sh, struct tsr_decoded *clause)
{
	const unsigned int variant = variant_of(sh), bit = 1u << variant;
	const uint32_t forgotten = sh->code.forgotten;
	struct tsr_loop found, *loop;
	bool refused = false;

	for (loop = clause->loop; loop; loop = loop->chain) {
		if (loop->space == sh->space && loop->variants & bit)
			return loop;
	}
	if (!look(sh, clause, variant, &found, &refused)) {
		if (refused && forgotten == sh->code.forgotten)
			clause->rounds = TSR_LOOP_REFUSED;
		return NULL;
	}
	loop = tsr_code_loop(&sh->code, sh->mem.thread, clause, &found);
	if ((!loop && !sh->code.full) || (loop && !loop->code))
		clause->rounds = TSR_LOOP_REFUSED;
	if (!loop)
		return NULL;
	clause->loop_small = loop->clauses <= TSR_LOOP_SMALL;
	loop->variants = (uint8_t)(loop->space == sh->space ? loop->variants | bit : bit);
	loop->space = sh->space;
	return loop;
}

/* True if the warps chosen can execute it: no other lanes go first, nothing is left to the core. */
static bool possible(const struct tsr_shader *sh, const struct tsr_loop *loop)
{
	for (unsigned int i = 0; i < sh->lanes.alu.warps; i++) {
		unsigned int w = sh->lanes.alu.warp[i];
		const struct tsr_warp *warp = &sh->bundle->warp[w];

		if (loop->flags & TSR_CLAUSE_TERMINATE && sh->env.fragments &&
		    sh->lanes.helper[w] & sh->mask_bits[w])
			return false;
		/* what has been stored may read any register, and a clause may wait for it */
		if (warp->stored || warp->meet <= loop->last)
			return false;
		/* where only helpers are left the core ends them when it looks next */
		if (sh->env.fragments && !(warp->live & ~sh->lanes.helper[w]))
			return false;
	}
	return true;
}

struct tsr_loop *tsr_loop_find(struct tsr_shader *sh, struct tsr_decoded *clause,
			       const struct tsr_progress *p)
{
	struct tsr_loop *loop;

	if (clause->rounds == TSR_LOOP_REFUSED || sh->code.full ||
	    (clause->rounds < sh->code.jit_runs && ++clause->rounds < sh->code.jit_runs))
		return NULL;
	if (clause->loop_small && sh->meet == UINT64_MAX)
		return NULL;
	if (clause->pause) {
		clause->pause--;
		return NULL;
	}
	loop = tsr_loop_of(sh, clause);
	if (!loop || !loop->code || !possible(sh, loop) ||
	    p->clauses_left - p->clauses < loop->tuples ||
	    tsr_progress_left(sh, p) < loop->tuples)
		return NULL;
	return loop;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* The active lanes of @warp stand where the code says. */
static void place_lanes(struct tsr_warp *warp, const struct tsr_loop *loop, const uint16_t *lanes)
{
	for (unsigned int i = 0; i < loop->places; i++) {
		if (lanes[i] == warp->active && loop->place[i].pc < warp->meet) {
			warp->here = loop->place[i].pc;
			return;
		}
	}
	warp->active = 0;
	for (unsigned int i = 0; i < loop->places; i++)
		tsr_warp_wait(warp, lanes[i], loop->place[i].pc);
	tsr_warp_pick(warp);
}

/* A warp executed so many @tuples when it could have had some rounds. */
static void note_rounds(struct tsr_loop *loop, uint32_t tuples)
{
	loop->executed += tuples;
	if (++loop->times < TSR_LOOP_TRIAL)
		return;
	if (loop->executed < 2u * TSR_LOOP_TRIAL * loop->round)
		loop->clause[loop->place[loop->head].first]->pause = TSR_LOOP_PAUSE;
	loop->executed = 0;
	loop->times = 0;
}

_Static_assert(TSR_LOOP_TUPLES <= TSR_LOOP_PASS_TUPLES, "the longest run of a loop is a pass");
_Static_assert(TSR_LOOP_PASS_TUPLES < 1u << (32 - TSR_LOOP_COUNT), "tuples of a warp fit");
_Static_assert(TSR_WARP_LANES * TSR_LOOP_PASS_TUPLES < 1u << TSR_LOOP_COUNT,
	       "clauses of a warp's threads fit below the tuples");

/* Lanes @lanes of warp @w execute its code, of tuples at most @most. */
static struct tsr_progress execute(struct tsr_shader *sh, const struct tsr_loop *loop,
				   unsigned int w, uint16_t lanes, uint32_t most)
{
	struct tsr_native *native = &sh->lanes.native;

	native->chunk[0].offset = (uint16_t)(w * sizeof(union tsr_lanes));
	native->chunk[0].active = lanes;
	memset(native->lanes, 0, sizeof(native->lanes));
	native->tuples = 0;
	native->clauses = (int32_t)((most - loop->tuples + 1) << TSR_LOOP_COUNT);
	tsr_jit_run(sh->code.jit, loop->code, &sh->lanes);
	sh->mem.thread->path[TSR_PATH_LOOPS]++;
	return (struct tsr_progress){
		.tuples = (uint32_t)native->tuples >> TSR_LOOP_COUNT,
		.clauses = (uint32_t)native->tuples & ((1u << TSR_LOOP_COUNT) - 1),
	};
}

/* Warp @w executes it, of tuples at most @most; what it was. */
static struct tsr_progress run_warp(struct tsr_shader *sh, struct tsr_loop *loop, unsigned int w,
				    uint32_t most)
{
	struct tsr_native *native = &sh->lanes.native;
	struct tsr_warp *warp = &sh->bundle->warp[w];
	struct tsr_progress p;

	p = execute(sh, loop, w, warp->active, most);
	sh->stats.clauses += p.clauses;
	sh->stats.cycles += p.tuples;
	sh->stats.threads += native->threads >> TSR_LOOP_COUNT;
	if (most >= 4u * loop->tuples)
		note_rounds(loop, p.tuples);
	warp->clauses += p.clauses;
	warp->written |= loop->written;
	place_lanes(warp, loop, native->lanes);
	return p;
}

void tsr_loop_run(struct tsr_shader *sh, struct tsr_loop *loop, uint32_t clauses)
{
	const struct tsr_alu_state *alu = &sh->lanes.alu;
	struct tsr_progress sum = { 0 };
	const int32_t left = tsr_progress_left(sh, &sum);
	uint32_t most = left < TSR_LOOP_TUPLES ? (uint32_t)left : TSR_LOOP_TUPLES;
	int32_t done;

	/* a clause has a tuple at least */
	if (clauses < most)
		most = clauses;
	if (sh->mode_key != loop->clause[0]->mode_key) {
		sh->mode_key = loop->clause[0]->mode_key;
		tsr_alu_change(&sh->fp, &loop->clause[0]->mode);
	}
	for (unsigned int i = 0; i < alu->warps && (!i || !tsr_stop_requested(&sh->mem));
	     i++) {
		struct tsr_progress p = run_warp(sh, loop, alu->warp[i], most);

		sum.tuples += p.tuples;
		sum.clauses = p.clauses > sum.clauses ? p.clauses : sum.clauses;
	}
	/* as if all of a bundle had been at it together */
	done = (int32_t)(sum.tuples / TSR_BUNDLE_WARPS) + 1;
	sh->effort -= done;
	sh->core->quantum -= done;
	sh->mem.thread->path[TSR_PATH_TUPLES_NATIVE] += (uint32_t)done;
	for (unsigned int i = sh->passed_over; i; i &= i - 1)
		sh->bundle->warp[__builtin_ctz(i)].passed += sum.clauses;
}

/* ---- Passing through ------------------------------------------------------------------------- */

int tsr_loop_exit(const struct tsr_loop *loop)
{
	int out = -1;

	for (unsigned int i = 0; i < loop->places; i++) {
		if (loop->place[i].clauses)
			continue;
		if (out >= 0)
			return -1;
		out = (int)i;
	}
	return out;
}

bool tsr_loop_pass(struct tsr_shader *sh, const struct tsr_loop *loop, unsigned int w,
		   uint16_t lanes, unsigned int out, struct tsr_loop_work *work)
{
	const struct tsr_progress p = execute(sh, loop, w, lanes, TSR_LOOP_PASS_TUPLES);

	work->clauses += p.clauses;
	work->tuples += p.tuples;
	work->threads += sh->lanes.native.threads >> TSR_LOOP_COUNT;
	return sh->lanes.native.lanes[out] == lanes;
}
