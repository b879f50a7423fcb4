/* SPDX-License-Identifier: MIT */
/*
 * A loop to machine code, for one warp. Places come in the order of their addresses, so lanes that
 * go to a higher one are passed in LANES if it is the next, else left in its mask; and a branch
 * back is a jump, as lanes at the lower address go first. Where all branch and no lane waits on the
 * way, a branch ahead is a jump as well. The registers of the program that are used most live in
 * registers of the host, the others in memory.
 *
 * What threads execute is counted when lanes come to LANES and go: COUNT as it is then.
 */
#include <string.h>

#include "shader/branch.h"
#include "jit_node.h"
#include "loop.h"

/* Homes among 30 vector registers, or 12 for two halves. Fewer are tried if too few are left. */
#define HOMES_TRIES	5
static const uint8_t homes_wide[HOMES_TRIES] = { 20, 12, 8, 4, 0 };
static const uint8_t homes_narrow[HOMES_TRIES] = { 5, 4, 3, 2, 0 };

/* Registers besides those of jit_node.h. */
#define WARP_REGS	TSR_RSI		/* TSR_LANES_REG and _TEMP from the warp on */
#define WARP_TEMPS	TSR_RDI
#define THREADS		TSR_RDX		/* counted: tuples and clauses of threads */
#define LANES		TSR_R9		/* at the present block, or that go to the next place */
#define POOL		TSR_R11
/* Tuples and clauses of the warp, counted; and the first tuples with which it does not go back. */
#define COUNT		((enum tsr_gpr)TSR_JIT_TUPLES)
#define LIMIT		((enum tsr_gpr)TSR_JIT_CLAUSES)

/* Masks of the first places that are branched to. */
static const enum tsr_gpr waiting[] = { TSR_R10, TSR_R12, TSR_RCX, TSR_R8 };
#define WAITING_WIDE	4
#define WAITING_NARROW	2		/* the others are TSR_JIT_MADE and _BITS */

struct coder {
	struct tsr_segment *s;
	struct tsr_x86 *x;
	struct tsr_pool *pool;
	const struct tsr_loop *loop;
	unsigned int halves;		/* vectors of the warp */
	struct tsr_homes homes;
	uint64_t housed;		/* registers that have a home */
	/* of each place: whether lanes may wait there, and the register with their mask or -1 */
	bool waits[TSR_LOOP_PLACES];
	int8_t mask[TSR_LOOP_PLACES];
	/* branches there come from so many places, and the jump of all lanes of the only one */
	uint8_t sources[TSR_LOOP_PLACES];
	uint8_t *direct[TSR_LOOP_PLACES];
	uint8_t *body[TSR_LOOP_PLACES];	/* its code, with LANES that are not 0 */
	struct tsr_fix fix[TSR_LOOP_PLACES][TSR_JIT_HALVES];
	uint8_t *leave[TSR_LOOP_PLACES * 2 + 1];	/* jumps to the end */
	unsigned int leaves;
	bool crowded;			/* there were not enough registers */
};

#define STATE		((enum tsr_gpr)TSR_JIT_STATE)
#define STATE_AT(member) ((int32_t)offsetof(struct tsr_lane_state, member))
#define MASK_AT(place)	(STATE_AT(native.lanes) + 2 * (int32_t)(place))
#define VECTOR_AT(r, half) ((int32_t)sizeof(union tsr_lanes) * (int32_t)(r) * TSR_BUNDLE_WARPS + \
			    (int32_t)sizeof(union tsr_lanes) / TSR_JIT_HALVES * (int32_t)(half))

/* ---- Where things are ------------------------------------------------------------------------ */

static void count_operand(unsigned int uses[TSR_REGISTERS], uint64_t registers)
{
	for (; registers; registers &= registers - 1)
		uses[__builtin_ctzll(registers)]++;
}

/*
 * The @most registers that are used by most micro-operations get homes; where there are few, only
 * those that are written, as others are operands in memory that never change.
 */
static void find_homes(struct coder *c, unsigned int most)
{
	const unsigned int first = tsr_homes_first(c->x);
	const uint64_t worth = c->x->wide ? UINT64_MAX : c->loop->written;
	unsigned int uses[TSR_REGISTERS] = { 0 }, reg = first;

	for (unsigned int i = 0; i < c->loop->clauses; i++) {
		const struct tsr_decoded *d = c->loop->clause[i];

		for (unsigned int u = 0; u < d->uops; u++)
			count_operand(uses, worth & (tsr_uop_reads(&d->uop[u]) |
						     tsr_uop_writes(&d->uop[u])));
	}
	memset(c->homes.vector, -1, sizeof(c->homes.vector));
	c->homes.free = (c->x->wide ? ~0u : 0xffff) & ~((1u << first) - 1);
	c->housed = 0;
	while (most--) {
		unsigned int best = 0;

		for (unsigned int r = 1; r < TSR_REGISTERS; r++)
			best = uses[r] > uses[best] ? r : best;
		if (!uses[best])
			return;
		uses[best] = 0;
		for (unsigned int half = 0; half < c->halves; half++) {
			c->homes.vector[half][best] = (int8_t)reg;
			c->homes.free &= ~(1u << reg++);
		}
		c->housed |= 1ull << best;
	}
}

/* Lanes branch to where later code is. */
static bool is_ahead(const struct tsr_loop *loop, unsigned int place)
{
	return loop->place[place].jump > (int)place;
}

static void find_masks(struct coder *c)
{
	const unsigned int end = c->x->wide ? WAITING_WIDE : WAITING_NARROW;
	unsigned int next = 0;

	memset(c->mask, -1, sizeof(c->mask));
	for (unsigned int i = 0; i < c->loop->places; i++) {
		const struct tsr_loop_place *p = &c->loop->place[i];

		if (p->clauses && is_ahead(c->loop, i)) {
			c->waits[p->jump] = true;
			c->sources[p->jump]++;
		}
		/* lanes that do not branch back wait for those that do */
		if (p->clauses && p->jump >= 0 && !is_ahead(c->loop, i) && p->falls) {
			c->waits[i + 1] = true;
			c->sources[i + 1]++;
		}
	}
	for (unsigned int i = 0; i < c->loop->places && next < end; i++) {
		if (c->waits[i] && c->loop->place[i].clauses)
			c->mask[i] = (int8_t)waiting[next++];
	}
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static void leave(struct coder *c)
{
	c->leave[c->leaves++] = tsr_x86_jump(c->x, TSR_X86_ALWAYS);
}

/* Counts the threads of @lanes. RAX is overwritten. */
static void count_threads(struct coder *c, enum tsr_x86_alu add, enum tsr_gpr lanes)
{
	tsr_x86_count_bits(c->x, TSR_RAX, lanes);
	tsr_x86_multiply(c->x, TSR_RAX, COUNT);
	tsr_x86_alu(c->x, add, 8, THREADS, TSR_RAX);
}

/* Lanes in @from, which were in LANES, wait at @place; RAX is overwritten. */
static void add_lanes(struct coder *c, unsigned int place, enum tsr_gpr from)
{
	if (c->mask[place] >= 0)
		tsr_x86_alu(c->x, TSR_X86_GOR, 4, (enum tsr_gpr)c->mask[place], from);
	else
		tsr_x86_or_memory(c->x, STATE, MASK_AT(place), from);
	count_threads(c, TSR_X86_GADD, from);
}

/* True if lanes can come to @place from the one before it. */
static bool fallen_to(const struct coder *c, unsigned int place)
{
	return place && c->loop->place[place - 1].clauses && c->loop->place[place - 1].falls;
}

/* Those who wait at @place, in @from, go on in LANES. */
static void resume_lanes(struct coder *c, unsigned int place, enum tsr_gpr from)
{
	tsr_x86_alu(c->x, TSR_X86_GOR, 4, LANES, from);
	count_threads(c, TSR_X86_GSUB, from);
	tsr_x86_alu(c->x, TSR_X86_GXOR, 4, from, from);
	if (c->mask[place] < 0)
		tsr_x86_store(c->x, 2, from, STATE, MASK_AT(place));
}

/*
 * LANES become those that stand at @place: of the place before, which has left none if it does not
 * go on here, and who waits. A jump to where it is passed by.
 */
static uint8_t *take_lanes(struct coder *c, unsigned int place)
{
	enum tsr_gpr from = c->mask[place] >= 0 ? (enum tsr_gpr)c->mask[place] : TSR_RAX;
	uint8_t *none;

	if (c->waits[place]) {
		if (c->mask[place] < 0)
			tsr_x86_load(c->x, 2, from, STATE, MASK_AT(place));
		tsr_x86_alu(c->x, TSR_X86_GAND, 4, from, from);
		none = tsr_x86_jump(c->x, TSR_X86_EQUAL);
		resume_lanes(c, place, from);
		if (!fallen_to(c, place))
			return none;
		tsr_x86_here(c->x, none);
	}
	tsr_x86_alu(c->x, TSR_X86_GAND, 4, LANES, LANES);
	return tsr_x86_jump(c->x, TSR_X86_EQUAL);
}

/* Back to place @to with LANES; if not enough is left for another round, they stay there. */
static void jump_back(struct coder *c, unsigned int to)
{
	if (c->loop->place[to].clauses) {
		tsr_x86_alu(c->x, TSR_X86_GCMP, 4, COUNT, LIMIT);
		tsr_x86_jump_back(c->x, TSR_X86_CARRY, c->body[to]);
		add_lanes(c, to, LANES);
		leave(c);
	} else {
		tsr_x86_jump_back(c->x, TSR_X86_ALWAYS, c->body[to]);
	}
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static const struct tsr_decoded *last_clause(const struct tsr_loop *loop,
					     const struct tsr_loop_place *p)
{
	return loop->clause[p->first + p->clauses - 1];
}

/* Emits the clauses of block @place, and with a condition the branching lanes in RAX. */
static bool emit_clauses(struct coder *c, unsigned int place)
{
	const struct tsr_loop_place *p = &c->loop->place[place];
	struct tsr_segment *s = c->s;
	uint64_t live = (p->jump >= 0 ? c->loop->place[p->jump].live : 0) |
			(p->falls ? p[1].live : 0);

	tsr_segment_init(s, c->x->wide);
	for (unsigned int i = 0; i < p->clauses; i++) {
		const struct tsr_decoded *d = c->loop->clause[p->first + i];

		s->clause = d;
		for (unsigned int u = 0; u < d->uops; u++) {
			if (!tsr_segment_add(s, &d->uop[u]))
				return false;
		}
	}
	if (p->jump >= 0 && p->falls &&
	    !tsr_segment_add_branch(s, last_clause(c->loop, p)->branch))
		return false;
	s->regs_written &= live | p->kept;
	s->temps_written = 0;
	c->crowded = !s->full &&
		     !tsr_segment_emit_block(s, c->x, c->pool, &c->homes, p->kept, c->fix[place]);
	return !s->full && !c->crowded;
}

/*
 * All lanes of @place can jump to where it branches to: there and on the way no lane waits. No lane
 * goes back on the way, so those that wait there have been taken before it comes again.
 */
static bool is_direct(const struct coder *c, unsigned int place)
{
	const unsigned int jump = (unsigned int)c->loop->place[place].jump;
	bool direct = c->sources[jump] == 1;

	for (unsigned int i = place + 1; i < jump; i++) {
		const int to = c->loop->place[i].jump;

		direct &= !c->waits[i] && (to < 0 || is_ahead(c->loop, i));
	}
	return direct;
}

/* Branch ahead: who is in RAX, or all; those that go to the next place stay in LANES. */
static void branch_ahead(struct coder *c, unsigned int place)
{
	const struct tsr_loop_place *p = &c->loop->place[place];
	const unsigned int jump = (unsigned int)p->jump;
	const bool direct = is_direct(c, place);
	uint8_t *none;

	if (!p->falls && direct) {
		c->direct[jump] = tsr_x86_jump(c->x, TSR_X86_ALWAYS);
		return;
	}
	if (!p->falls) {
		add_lanes(c, jump, LANES);
		tsr_x86_alu(c->x, TSR_X86_GXOR, 4, LANES, LANES);
		return;
	}
	tsr_x86_alu(c->x, TSR_X86_GAND, 4, TSR_RAX, LANES);
	none = tsr_x86_jump(c->x, TSR_X86_EQUAL);
	if (direct) {
		tsr_x86_alu(c->x, TSR_X86_GCMP, 4, TSR_RAX, LANES);
		c->direct[jump] = tsr_x86_jump(c->x, TSR_X86_EQUAL);
	}
	tsr_x86_alu(c->x, TSR_X86_GXOR, 4, LANES, TSR_RAX);
	add_lanes(c, jump, TSR_RAX);
	tsr_x86_here(c->x, none);
}

/* Branch back: who is in RAX, or all. The others wait, as far as there are some who go back. */
static void branch_back(struct coder *c, unsigned int place)
{
	const struct tsr_loop_place *p = &c->loop->place[place];
	uint8_t *none, *all;

	if (!p->falls) {
		jump_back(c, (unsigned int)p->jump);
		return;
	}
	tsr_x86_alu(c->x, TSR_X86_GAND, 4, TSR_RAX, LANES);
	none = tsr_x86_jump(c->x, TSR_X86_EQUAL);
	tsr_x86_alu(c->x, TSR_X86_GXOR, 4, TSR_RAX, LANES);
	all = tsr_x86_jump(c->x, TSR_X86_EQUAL);
	tsr_x86_alu(c->x, TSR_X86_GXOR, 4, LANES, TSR_RAX);
	add_lanes(c, place + 1, TSR_RAX);
	tsr_x86_here(c->x, all);
	jump_back(c, (unsigned int)p->jump);
	tsr_x86_here(c->x, none);
}

/* A place: with LANES of 0 it is passed by. */
static bool emit_place(struct coder *c, unsigned int place)
{
	const struct tsr_loop_place *p = &c->loop->place[place];
	uint8_t *skip = take_lanes(c, place);

	if (c->direct[place])
		tsr_x86_here(c->x, c->direct[place]);
	c->body[place] = c->x->at;
	if (p->clauses) {
		tsr_x86_alu_imm(c->x, TSR_X86_GADD, 4, COUNT,
				(int32_t)((uint32_t)p->tuples << TSR_LOOP_COUNT | p->clauses));
		if (!emit_clauses(c, place))
			return false;
		if (p->jump >= 0 && is_ahead(c->loop, place))
			branch_ahead(c, place);
		else if (p->jump >= 0)
			branch_back(c, place);
	} else {
		add_lanes(c, place, LANES);
		leave(c);
	}
	tsr_x86_here(c->x, skip);
	return true;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* One register from or to memory; there, lanes that are not in the loop stay as they are. */
static void move_home(struct coder *c, unsigned int r, unsigned int half, bool in)
{
	unsigned int vector = (unsigned int)c->homes.vector[half][r];
	struct tsr_x86_rm at = tsr_x86_at(WARP_REGS, VECTOR_AT(r, half));

	if (in) {
		tsr_x86_vector(c->x, TSR_X86_MOV_LOAD, vector, 0, at, 0, false);
		return;
	}
	tsr_idle_keep(c->x, vector, vector, at, half);
	tsr_x86_vector(c->x, TSR_X86_MOV_STORE, vector, 0, at, 0, false);
}

static void move_homes(struct coder *c, bool in)
{
	uint64_t left = in ? c->housed : c->housed & c->loop->written;

	for (; left; left &= left - 1) {
		for (unsigned int half = 0; half < c->halves; half++)
			move_home(c, (unsigned int)__builtin_ctzll(left), half, in);
	}
}

static void begin(struct coder *c)
{
	struct tsr_x86 *x = c->x;

	tsr_x86_load(x, 2, TSR_RAX, STATE, STATE_AT(native.chunk[0].offset));
	tsr_x86_lea_index(x, WARP_REGS, (enum tsr_gpr)TSR_JIT_REGS, TSR_RAX, 0);
	tsr_x86_lea_index(x, WARP_TEMPS, (enum tsr_gpr)TSR_JIT_TEMPS, TSR_RAX, 0);
	tsr_x86_mov_imm(x, POOL, (uintptr_t)c->pool->vector);
	move_homes(c, true);
	tsr_x86_alu(x, TSR_X86_GXOR, 4, THREADS, THREADS);
	for (unsigned int i = 0; i < c->loop->places; i++) {
		if (c->mask[i] >= 0)
			tsr_x86_alu(x, TSR_X86_GXOR, 4, (enum tsr_gpr)c->mask[i],
				    (enum tsr_gpr)c->mask[i]);
	}
	tsr_x86_load(x, 2, LANES, STATE, STATE_AT(native.chunk[0].active));
	if (!x->wide)
		tsr_x86_mov_imm(x, (enum tsr_gpr)TSR_JIT_MADE, UINT32_MAX);
}

static void end(struct coder *c, const uint8_t *leave_code)
{
	struct tsr_x86 *x = c->x;

	for (unsigned int i = 0; i < c->leaves; i++)
		tsr_x86_here(x, c->leave[i]);
	tsr_x86_store(x, 8, THREADS, STATE, STATE_AT(native.threads));
	for (unsigned int i = 0; i < c->loop->places; i++) {
		if (c->mask[i] >= 0)
			tsr_x86_store(x, 2, (enum tsr_gpr)c->mask[i], STATE, MASK_AT(i));
	}
	tsr_x86_load(x, 2, LANES, STATE, STATE_AT(native.chunk[0].active));
	tsr_idle_emit(x, LANES);
	move_homes(c, false);
	tsr_x86_jump_back(x, TSR_X86_ALWAYS, leave_code);
}

static bool emit(struct coder *c, const uint8_t *leave_code)
{
	const struct tsr_loop *loop = c->loop;
	uint8_t *entry;

	find_masks(c);
	begin(c);
	entry = tsr_x86_jump(c->x, TSR_X86_ALWAYS);
	tsr_x86_align(c->x, 32);
	for (unsigned int i = 0; i < loop->places; i++) {
		if (!emit_place(c, i))
			return false;
	}
	leave(c);
	for (unsigned int i = 0; i < loop->places; i++) {
		if (loop->place[i].clauses && !tsr_fix_emit(c->s, c->x, c->pool, c->fix[i]))
			return false;
	}
	tsr_x86_here(c->x, entry);
	tsr_x86_jump_back(c->x, TSR_X86_ALWAYS, c->body[loop->head]);
	end(c, leave_code);
	return true;
}

bool tsr_loop_emit(struct tsr_segment *s, struct tsr_x86 *x, struct tsr_pool *pool,
		   const struct tsr_loop *loop, const uint8_t *leave_code)
{
	const uint8_t *most = x->wide ? homes_wide : homes_narrow;

	for (unsigned int i = 0; i < HOMES_TRIES; i++) {
		struct coder c = { .s = s, .x = x, .pool = pool, .loop = loop,
				   .halves = x->wide ? 1 : TSR_JIT_HALVES };
		const struct tsr_x86 before = *x;
		const unsigned int words = pool->used;

		find_homes(&c, most[i]);
		if (emit(&c, leave_code))
			return true;
		*x = before;
		/* constants: others' are to be forgotten, unless the loop has too many */
		x->full |= pool->used == pool->max && words > pool->max / 2;
		pool->used = words;
		if (x->full || !c.crowded)
			return x->full;
	}
	return false;
}
