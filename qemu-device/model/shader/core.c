/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <string.h>

#include "stage_run.h"
#include "warp.h"

/* Clauses that warps may execute at a time while others of their bundle could go on. */
#define PASSED_CLAUSES 512

static struct tsr_group *group_of(struct tsr_shader *sh, const struct tsr_warp *warp)
{
	return &sh->core->group[warp->group];
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* A fault of the clause itself, in the first lane that executes it. */
static void clause_fault(struct tsr_shader *sh, uint8_t code, unsigned int tuple, bool add)
{
	unsigned int w = sh->lanes.alu.warp[0];

	sh->mem.unit = TSR_UNIT_SHADER;
	tsr_mmu_fault(&sh->mem, code, sh->here, TSR_ACCESS_NONE, 0);
	tsr_shader_fault(sh, w, __builtin_ctz(sh->bundle->warp[w].active), sh->here, tuple, add);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* If all threads of the group that are left are at the barrier, they go on. */
static void open_barrier(struct tsr_shader *sh, unsigned int place)
{
	struct tsr_core *core = sh->core;
	struct tsr_group *group = &core->group[place];
	/* the threads of a stage are one group */
	const unsigned int warps = sh->grid ? sh->grid->warps : TSR_BUNDLE_WARPS;

	if (!group->alive || group->parked != group->alive)
		return;
	group->parked = 0;
	for (unsigned int n = 0; n < warps; n++) {
		unsigned int slot = place * warps + n;
		struct tsr_warp *warp = tsr_core_warp(core, slot);

		if (!warp->used || !warp->live)
			continue;
		tsr_warp_release(warp);
		core->ready |= 1u << slot / TSR_BUNDLE_WARPS;
	}
}

/*
 * Helper threads of warp @w that have executed @clause end if it says so, and all of them when
 * there are no others left.
 */
static void end_helpers(struct tsr_shader *sh, unsigned int w, const struct tsr_decoded *clause)
{
	struct tsr_warp *warp = &sh->bundle->warp[w];
	uint16_t helper = sh->lanes.helper[w], gone = 0;

	if (clause->flags & TSR_CLAUSE_TERMINATE)
		gone = warp->active & helper;
	if (!(warp->live & ~helper))
		gone = warp->live;
	warp->live &= ~gone;
	warp->active &= ~gone;
}

/* Where threads of warp @w go that the message BLEND of a clause has sent to a blend program. */
static const union tsr_lanes *blend_jump(struct tsr_shader *sh, unsigned int w, uint16_t *taken)
{
	*taken = sh->env.fragments->jumped[w];
	return &sh->env.fragments->jump[w];
}

/* How most warps end: all live threads together after @clause. False: it does not. */
static inline bool end_all(const struct tsr_shader *sh, struct tsr_warp *warp,
			   struct tsr_group *group, const struct tsr_decoded *clause)
{
	const unsigned int looked_at = TSR_CLAUSE_END | TSR_CLAUSE_BRANCH | TSR_CLAUSE_BARRIER |
				       TSR_CLAUSE_BLEND;

	if ((clause->flags & looked_at) != TSR_CLAUSE_END || warp->live != warp->active ||
	    warp->stored || sh->env.fragments)
		return false;
	group->alive -= warp->live == 0xffff ? TSR_WARP_LANES : tsr_lanes_count(warp->live);
	warp->live = 0;
	warp->active = 0;
	return true;
}

/* Warp @w has executed @clause: find its next one. */
static void retire(struct tsr_shader *sh, unsigned int w, const struct tsr_decoded *clause)
{
	struct tsr_warp *warp = &sh->bundle->warp[w];
	struct tsr_group *group = group_of(sh, warp);
	const union tsr_lanes *target = &sh->lanes.branch.target[w];
	uint16_t live = warp->live, parked = warp->parked, taken = sh->lanes.branch.taken[w];

	if (end_all(sh, warp, group, clause)) {
		if (group->parked)
			open_barrier(sh, warp->group);
		return;
	}
	if (clause->flags & TSR_CLAUSE_STAGING)
		tsr_message_capture(sh, w);
	if (clause->flags & TSR_CLAUSE_BLEND)
		target = blend_jump(sh, w, &taken);
	if (sh->env.fragments)
		end_helpers(sh, w, clause);
	tsr_warp_retire(warp, clause, taken, target);
	/* the last fragment may have been among those that ended by this clause */
	if (sh->env.fragments && !(warp->live & ~sh->lanes.helper[w]))
		warp->live = warp->active = 0;
	if (warp->stored)
		warp->awaited |= tsr_message_awaited(warp, warp->live ? clause->wait : 0xff);
	if (live == warp->live && parked == warp->parked)
		return;
	group->alive -= tsr_lanes_count(live & ~warp->live);
	group->parked += tsr_lanes_count(warp->parked & ~parked);
	open_barrier(sh, warp->group);
}

/* ---- Executing clauses ----------------------------------------------------------------------- */

/* Where a chain of clauses ended. */
enum end {
	END_LIMIT,			/* the warps chosen stand at sh->here */
	END_CHOICE,			/* the warps have been retired one by one */
	END_FAULT,
	END_HOST,			/* as END_LIMIT, and the code there cannot be had yet */
};

/* The clause at @pc; @link, of the clause @before it, remembers it. NULL with *@end. */
static struct tsr_decoded *find(struct tsr_shader *sh, struct tsr_decoded *before,
				struct tsr_decoded **link, uint64_t pc, enum end *end)
{
	uint32_t forgotten = sh->code.forgotten;
	struct tsr_decoded *clause;
	unsigned int w = sh->lanes.alu.warp[0];

	sh->mem.unit = TSR_UNIT_SHADER;
	sh->here = pc;
	switch (tsr_code_find(&sh->code, sh->mem.env->simd, &sh->mem, sh->space, pc, &clause)) {
	case TSR_STEP_DONE:
		if (before && forgotten == sh->code.forgotten)
			tsr_code_link(&sh->code, before, link, clause);
		return clause;
	case TSR_STEP_PENDING:
		*end = END_HOST;
		return NULL;
	default:
		tsr_shader_fault(sh, w, __builtin_ctz(sh->bundle->warp[w].active), pc, 0, false);
		*end = END_FAULT;
		return NULL;
	}
}

/* Which of @flags have nothing to say to the threads of a fragment program. */
static unsigned int idle_flags(const struct tsr_shader *sh, unsigned int flags)
{
	bool helpers = false, over = false, jumped = false;

	if (!tsr_any_lanes(sh->lanes.helper) &&
	    !(flags & TSR_CLAUSE_BLEND && tsr_any_lanes(sh->env.fragments->jumped)))
		return TSR_CLAUSE_FRAGMENT;
	for (unsigned int i = 0; i < sh->lanes.alu.warps; i++) {
		unsigned int w = sh->lanes.alu.warp[i];
		uint16_t helper = sh->lanes.helper[w];

		helpers |= helper & sh->mask_bits[w];
		over |= !(sh->bundle->warp[w].live & ~helper);
		jumped |= flags & TSR_CLAUSE_BLEND && sh->env.fragments->jumped[w];
	}
	return (helpers ? 0 : TSR_CLAUSE_TERMINATE) | (over ? 0 : TSR_CLAUSE_DISCARD) |
	       (jumped ? 0 : TSR_CLAUSE_BLEND);
}

static enum tsr_outcome outcome_of(const struct tsr_shader *sh)
{
	bool any = false, all = true;

	for (unsigned int i = 0; i < sh->lanes.alu.warps; i++) {
		unsigned int w = sh->lanes.alu.warp[i];
		uint16_t active = sh->mask_bits[w], taken = sh->lanes.branch.taken[w] & active;

		any |= taken != 0;
		all &= taken == active;
	}
	return all ? TSR_OUTCOME_ALL : any ? TSR_OUTCOME_SOME : TSR_OUTCOME_NONE;
}

/* Finds the lanes that branch after @clause. @outcome is the result of generated code. */
static enum tsr_outcome branch(struct tsr_shader *sh, const struct tsr_decoded *clause,
			       enum tsr_outcome outcome)
{
	if (outcome == TSR_OUTCOME_OPEN) {
		clause->branch->fn(clause->branch, &sh->lanes.alu);
		return outcome_of(sh);
	}
	/* of a jump it writes nothing */
	if (outcome == TSR_OUTCOME_ALL)
		memset(sh->lanes.branch.taken, 0xff, sizeof(sh->lanes.branch.taken));
	return outcome;
}

/* The chosen warps part, or meet others: each finds its next clause by itself. */
static struct tsr_decoded *part(struct tsr_shader *sh, const struct tsr_decoded *clause,
				enum end *end)
{
	for (unsigned int i = 0; i < sh->lanes.alu.warps; i++)
		retire(sh, sh->lanes.alu.warp[i], clause);
	*end = END_CHOICE;
	return NULL;
}

/* After @clause the warps chosen go to @pc, together: the clause there, which @link remembers. */
static inline struct tsr_decoded *follow(struct tsr_shader *sh, struct tsr_decoded *clause,
					 struct tsr_decoded **link, uint64_t pc, enum end *end)
{
	if (pc >= sh->meet)
		return part(sh, clause, end);
	return *link ? *link : find(sh, clause, link, pc, end);
}

/*
 * A stage's threads end all at once: nobody has to be looked at. False: it is not so simple, and
 * nothing has happened.
 */
static bool end_stage(struct tsr_shader *sh)
{
	const struct tsr_alu_state *alu = &sh->lanes.alu;
	struct tsr_group *group = &sh->core->group[0];

	if (sh->grid || alu->warps != group->warps)
		return false;
	for (unsigned int i = 0; i < alu->warps; i++) {
		const struct tsr_warp *warp = &sh->bundle->warp[alu->warp[i]];

		if (warp->stored || warp->live != warp->active)
			return false;
	}
	for (unsigned int i = 0; i < alu->warps; i++) {
		struct tsr_warp *warp = &sh->bundle->warp[alu->warp[i]];

		warp->live = warp->active = 0;
		warp->used = false;
	}
	group->warps = 0;
	group->alive = 0;
	sh->core->groups = 0;
	return true;
}

/*
 * Executes the rest of @clause after its micro-operations, as @flags require. Returns the next
 * clause if the chosen warps stay together, otherwise NULL with *@end.
 */
static struct tsr_decoded *complete(struct tsr_shader *sh, struct tsr_decoded *clause,
				    unsigned int flags, enum tsr_outcome outcome, enum end *end)
{
	enum tsr_step sent = TSR_STEP_DONE;

	if (flags & TSR_CLAUSE_MESSAGE)
		sent = tsr_message_send(sh, clause);
	if (sent == TSR_STEP_FAULT) {
		*end = END_FAULT;
		return NULL;
	}
	flags &= ~TSR_CLAUSE_MESSAGE;
	if (flags & TSR_CLAUSE_FRAGMENT)
		flags &= ~idle_flags(sh, flags);
	if (sent == TSR_STEP_DONE && !flags)
		return follow(sh, clause, &clause->next, clause->next_pc, end);
	if (sent == TSR_STEP_DONE && flags == TSR_CLAUSE_END && end_stage(sh)) {
		*end = END_CHOICE;
		return NULL;
	}
	if (sent == TSR_STEP_DONE && flags == TSR_CLAUSE_BRANCH && clause->jump_fixed) {
		if (outcome == TSR_OUTCOME_ALL && !clause->jump_ends)
			return follow(sh, clause, &clause->jump, clause->jump_pc, end);
		if (outcome == TSR_OUTCOME_NONE)
			return follow(sh, clause, &clause->next, clause->next_pc, end);
	}
	return part(sh, clause, end);
}

/* Clauses warps may execute before their limit. */
static uint32_t clauses_left(const struct tsr_shader *sh)
{
	uint32_t limit = sh->env.state->clause_limit, most = 0;

	if (!limit)
		return UINT32_MAX;
	for (unsigned int i = 0; i < sh->lanes.alu.warps; i++) {
		uint32_t clauses = sh->bundle->warp[sh->lanes.alu.warp[i]].clauses;

		most = clauses > most ? clauses : most;
	}
	return most < limit ? limit - most : 0;
}

static inline void set_mode(struct tsr_shader *sh, const struct tsr_decoded *clause)
{
	if (clause->mode_key != sh->mode_key) {
		sh->mode_key = clause->mode_key;
		tsr_alu_change(&sh->fp, &clause->mode);
	}
}

/* Execute the micro-operations of @clause. */
static inline void execute(struct tsr_shader *sh, const struct tsr_decoded *clause,
			   struct tsr_progress *p)
{
	struct tsr_alu_state *alu = &sh->lanes.alu;
	const struct tsr_uop *uop = clause->uop, *end = uop + clause->uops;

	alu->space[TSR_LANES_CLAUSE] = clause->konst;
	for (; uop < end; uop++)
		uop->fn(uop, alu);
	sh->lanes.native.written |= clause->written;
	p->tuples += clause->tuples;
	p->clauses++;
	sh->mem.thread->path[TSR_PATH_TUPLES] += clause->tuples;
}

/* Counts clauses that the chosen warps have executed. */
static void account(struct tsr_shader *sh, uint32_t clauses, uint32_t tuples, uint64_t written)
{
	struct tsr_alu_state *alu = &sh->lanes.alu;

	sh->stats.clauses += (uint64_t)clauses * alu->warps;
	sh->stats.cycles += (uint64_t)tuples * alu->warps;
	sh->stats.threads += (uint64_t)tuples * sh->lanes_chosen;
	sh->effort -= tuples;
	sh->core->quantum -= tuples;
	for (unsigned int i = 0; i < alu->warps; i++) {
		sh->bundle->warp[alu->warp[i]].clauses += clauses;
		sh->bundle->warp[alu->warp[i]].written |= written;
	}
	for (unsigned int left = sh->passed_over; left; left &= left - 1)
		sh->bundle->warp[__builtin_ctz(left)].passed += clauses;
}

static void stand(struct tsr_shader *sh)
{
	for (unsigned int i = 0; i < sh->lanes.alu.warps; i++)
		sh->bundle->warp[sh->lanes.alu.warp[i]].here = sh->here;
}

static inline bool wanted(const struct tsr_shader *sh)
{
	return tsr_stop_requested(&sh->mem);
}

/* Execute @clause, or clauses from it on; the last one, and what its branch came to. */
static struct tsr_decoded *run_clauses(struct tsr_shader *sh, struct tsr_decoded *clause,
				       enum tsr_native_kind kind, struct tsr_progress *p,
				       enum tsr_outcome *outcome)
{
	const void *code = NULL;

	/* of many clauses the message is all */
	if (clause->uops || clause->flags & TSR_CLAUSE_BRANCH)
		code = tsr_code_native(&sh->code, sh->mem.thread, clause, kind);
	set_mode(sh, clause);
	if (code)
		return tsr_native_run(sh, code, p, outcome);
	execute(sh, clause, p);
	*outcome = clause->flags & TSR_CLAUSE_BRANCH ? TSR_OUTCOME_OPEN : TSR_OUTCOME_NONE;
	return clause;
}

static enum tsr_native_kind native_kind(const struct tsr_shader *sh)
{
	const struct tsr_alu_state *alu = &sh->lanes.alu;

	return alu->full && alu->warps == TSR_BUNDLE_WARPS ? TSR_NATIVE_FULL : TSR_NATIVE_PART;
}

/* Account for what the chosen warps have done so far: some may leave the bundle after this. */
static void checkpoint(struct tsr_shader *sh, struct tsr_progress *p)
{
	account(sh, p->clauses, p->tuples, sh->lanes.native.written);
	sh->lanes.native.written = 0;
	p->clauses_left -= p->clauses;
	p->clauses = 0;
	p->tuples = 0;
}

/*
 * Some threads branch after @clause and some do not: those at the lower address go on by
 * themselves. The clause there; NULL with *@end.
 */
static struct tsr_decoded *diverge(struct tsr_shader *sh, struct tsr_decoded *clause,
				   struct tsr_progress *p, enum end *end)
{
	bool next = clause->next_pc < clause->jump_pc;

	checkpoint(sh, p);
	tsr_shader_diverge(sh, clause);
	if (sh->passed_over && p->clauses_left > PASSED_CLAUSES)
		p->clauses_left = PASSED_CLAUSES;
	return follow(sh, clause, next ? &clause->next : &clause->jump,
		      next ? clause->next_pc : clause->jump_pc, end);
}

/* True if the chosen warps have executed the loop of @clause, and are retired. */
static bool run_loop(struct tsr_shader *sh, struct tsr_decoded *clause, struct tsr_progress *p)
{
	struct tsr_loop *loop = tsr_loop_find(sh, clause, p);

	if (!loop)
		return false;
	checkpoint(sh, p);
	stand(sh);
	tsr_loop_run(sh, loop, p->clauses_left);
	return true;
}

/* Execute clauses from @clause on as long as some of the chosen warps can, at most @left. */
static enum end chain(struct tsr_shader *sh, struct tsr_decoded *clause, uint32_t left)
{
	enum tsr_native_kind kind = native_kind(sh);
	struct tsr_progress p = { .clauses_left = left };
	enum end end = END_LIMIT;

	sh->lanes.native.written = 0;
	for (;;) {
		uint32_t forgotten = sh->code.forgotten;
		enum tsr_outcome outcome;
		struct tsr_decoded *next;
		unsigned int flags;

		sh->here = clause->pc;
		if (clause->loops && sh->loops && run_loop(sh, clause, &p)) {
			end = END_CHOICE;
			break;
		}
		/* clauses are others now */
		if (forgotten != sh->code.forgotten)
			break;
		if (clause->flags & TSR_CLAUSE_FAULT) {
			clause_fault(sh, clause->fault_code, clause->fault_tuple,
				     clause->fault_add);
			end = END_FAULT;
			break;
		}
		clause = run_clauses(sh, clause, kind, &p, &outcome);
		sh->here = clause->pc;
		flags = clause->flags & sh->after;
		if (flags & TSR_CLAUSE_BRANCH)
			outcome = branch(sh, clause, outcome);
		if (!flags) {
			next = follow(sh, clause, &clause->next, clause->next_pc, &end);
		} else if (outcome == TSR_OUTCOME_SOME && flags == TSR_CLAUSE_BRANCH &&
			   tsr_shader_may_diverge(sh, clause)) {
			next = diverge(sh, clause, &p, &end);
			kind = native_kind(sh);
		} else {
			next = complete(sh, clause, flags, outcome, &end);
		}
		if (!next)
			break;
		if (forgotten == sh->code.forgotten) {
			next->loops |= sh->loops && next->pc <= clause->pc;
			tsr_native_link(clause, next, kind, outcome);
		}
		clause = next;
		sh->here = clause->pc;
		if (p.clauses == p.clauses_left || tsr_progress_left(sh, &p) <= 0 || wanted(sh))
			break;
	}
	account(sh, p.clauses, p.tuples, sh->lanes.native.written);
	if (end == END_LIMIT || end == END_HOST)
		stand(sh);
	return end;
}

/* Strict mode: whether @clause is still what memory holds. */
static bool verify(struct tsr_shader *sh, const struct tsr_decoded *clause)
{
	unsigned int w = sh->lanes.alu.warp[0];
	bool same;

	switch (tsr_code_compare(&sh->mem, clause, &same)) {
	case TSR_STEP_FAULT:
		tsr_shader_fault(sh, w, __builtin_ctz(sh->bundle->warp[w].active), sh->here, 0,
				 false);
		return false;
	case TSR_STEP_PENDING:	/* the clause was translated a moment ago */
		return true;
	default:
		if (!same)
			clause_fault(sh, TSR_FAULT_SHADER_ENCODING, 0, false);
		return same;
	}
}

/* One clause, with the debugger looking on. */
static enum end step(struct tsr_shader *sh, struct tsr_decoded *clause)
{
	uint16_t executed[TSR_BUNDLE_WARPS], number = sh->lanes.alu.warps;
	uint8_t warp[TSR_BUNDLE_WARPS];
	uint64_t pc = sh->here;
	enum end end;

	for (unsigned int i = 0; i < number; i++) {
		warp[i] = sh->lanes.alu.warp[i];
		executed[i] = sh->bundle->warp[warp[i]].active;
		tsr_shader_watch(sh, TSR_SHADER_BEFORE, warp[i], pc, clause, executed[i]);
	}
	end = chain(sh, clause, 1);
	for (unsigned int i = 0; end != END_FAULT && i < number; i++)
		tsr_shader_watch(sh, TSR_SHADER_AFTER, warp[i], pc, NULL, executed[i]);
	return end;
}

/* The chosen warps execute clauses. */
static enum end run_chosen(struct tsr_shader *sh)
{
	uint32_t left = clauses_left(sh);
	struct tsr_decoded *clause;
	enum end end = END_LIMIT;

	if (!left) {
		clause_fault(sh, TSR_FAULT_SHADER_LIMIT, 0, false);
		return END_FAULT;
	}
	clause = find(sh, NULL, NULL, sh->here, &end);
	if (!clause)
		return end;
	if (sh->passed_over && left > PASSED_CLAUSES)
		left = PASSED_CLAUSES;
	if (sh->mem.env->cfg->strict_code) {
		if (!verify(sh, clause))
			return END_FAULT;
		left = 1;
	}
	return sh->mem.env->shader_hook ? step(sh, clause) : chain(sh, clause, left);
}

/* ---- Bundles and cores ----------------------------------------------------------------------- */

static void enter_bundle(struct tsr_shader *sh, unsigned int index)
{
	struct tsr_bundle *bundle = sh->core->bundle[index];

	sh->bundle = bundle;
	sh->bundle_index = index;
	sh->lanes.alu.space[TSR_LANES_REG] = bundle->reg;
}

bool tsr_shader_run_bundle(struct tsr_shader *sh)
{
	struct tsr_core *core = sh->core;
	uint32_t bit = 1u << core->current;

	enter_bundle(sh, core->current);
	while (sh->effort > 0 && core->quantum > 0 && !wanted(sh)) {
		enum tsr_choice choice = tsr_warps_choose(sh);
		enum end end;

		if (choice == TSR_CHOICE_FAULT)
			return false;
		if (choice == TSR_CHOICE_YIELD) {
			core->quantum = 0;
			return true;
		}
		if (choice != TSR_CHOICE_RUN) {
			core->ready &= ~bit;
			core->waiting |= choice == TSR_CHOICE_HOST ? bit : 0;
			return true;
		}
		end = run_chosen(sh);
		if (end == END_FAULT)
			return false;
		if (!sh->grid && !core->groups)
			return true;
		if (end == END_HOST) {
			core->ready &= ~bit;
			core->waiting |= bit;
			return true;
		}
	}
	return true;
}

/*
 * The bundle that runs next: the first one that has work, whose registers are more likely than
 * others' in the host's caches. Those that were still at work when their time was over may wait for
 * others, so they come when there are no others, one after the other.
 */
static void choose_bundle(struct tsr_core *core)
{
	uint32_t ready = core->ready & ~core->late;

	if (!ready) {
		ready = core->ready & -(2u << core->current);
		if (!ready)
			ready = core->ready;
		core->late = 0;
	}
	if (ready)
		core->current = __builtin_ctz(ready);
}

/* Go on to another bundle, after groups have been started if there is room. False: a fault. */
static bool next_bundle(struct tsr_shader *sh)
{
	struct tsr_core *core = sh->core;

	if (core->quantum <= 0)
		core->late |= 1u << core->current;
	core->quantum = TSR_BUNDLE_QUANTUM;
	if (!tsr_core_start_groups(sh->grid, core)) {
		tsr_mmu_fault(&sh->mem, TSR_FAULT_UNSUPPORTED, sh->grid->state.code,
			      TSR_ACCESS_NONE, 0);
		sh->fault = sh->mem.fault;
		return false;
	}
	choose_bundle(core);
	return true;
}

static enum tsr_burst run_core(struct tsr_shader *sh)
{
	struct tsr_core *core = sh->core;

	while (sh->effort > 0 && !wanted(sh)) {
		if (!(core->ready >> core->current & 1) || core->quantum <= 0) {
			if (!next_bundle(sh))
				return TSR_BURST_FAULT;
		}
		if (!core->ready)
			break;
		if (!tsr_shader_run_bundle(sh))
			return TSR_BURST_FAULT;
	}
	if (!core->ready && core->waiting)
		return TSR_BURST_STUCK;
	return core->groups || core->next < sh->grid->total ? TSR_BURST_MORE : TSR_BURST_DONE;
}

/* Runs the core for at most about @budget cycles of any kind. */
static enum tsr_burst run_within(struct tsr_shader *sh, uint64_t budget)
{
	int32_t left = TSR_SHADER_BURST;
	enum tsr_burst burst;

	do {
		uint64_t tuples = (budget - sh->stats.cycles) / TSR_BUNDLE_WARPS + 1;
		int32_t effort = tuples < (uint32_t)left ? (int32_t)tuples : left;

		sh->effort = effort;
		burst = run_core(sh);
		left -= effort - sh->effort;
	} while (burst == TSR_BURST_MORE && sh->effort <= 0 && left > 0 &&
		 sh->stats.cycles < budget && !wanted(sh));
	return burst;
}

enum tsr_burst tsr_core_burst(struct tsr_shader *sh, const struct tsr_mem *mem,
			      struct tsr_work *work, struct tsr_job_core *job_core, bool again)
{
	struct tsr_core *core = (struct tsr_core *)job_core;
	struct tsr_grid *grid = work->grid;
	const struct tsr_alu_mode none = { 0, 0, 0 };
	enum tsr_burst burst;

	/*
	 * Bundles that wait for the host are tried again when it has said something new, not
	 * before: a burst may be too short to try them all, and would never find that the core
	 * is stuck.
	 */
	if (again) {
		core->ready |= core->waiting;
		core->waiting = 0;
	}
	tsr_shader_enter(sh, mem, core->job.index);
	sh->grid = grid;
	sh->core = core;
	sh->env.stage = TSR_STAGE_COMPUTE;
	sh->env.state = &grid->state;
	sh->env.copies = &tsr_no_copies;
	tsr_texture_frame(&sh->textures, 0);
	sh->env.vertices = NULL;
	sh->env.fragments = NULL;
	sh->group_stride = grid->group_stride;
	sh->slots = grid->slots;
	sh->space = tsr_code_space(sh->generation, grid->state.registers_64, TSR_STAGE_COMPUTE,
				   false);
	sh->lanes.alu.space[TSR_LANES_PUSH] = grid->push;
	sh->mode_key = 0;
	tsr_alu_enter(&sh->fp, &none);
	burst = run_within(sh, mem->thread->budget);
	tsr_alu_leave(&sh->fp);
	tsr_shader_leave(sh);
	return burst;
}
