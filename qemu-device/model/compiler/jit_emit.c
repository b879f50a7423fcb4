/* SPDX-License-Identifier: MIT */
/*
 * Nodes to machine code. Registers are handed out while code is written: a node's is free again
 * after its last use. What is the same for all chunks is loaded before the loop as long as there
 * are registers, else taken from memory where it is used.
 *
 * Two vector registers are for short use (SCRATCH), in the narrow form a third has signs in the
 * idle lanes, a fourth those of the other half of a loop's warp; of the mask registers 1 has those
 * in the wide form, 7 is for short use.
 *
 * A block of a loop (jit_loop.c) is the same without the loop over chunks, with registers of the
 * program that stay in registers of the host: their homes.
 */
#include <string.h>

#include "shader/branch.h"
#include "alu/float_ops.h"
#include "jit_node.h"

#define SCRATCH		0
#define SCRATCH_2	1
#define IDLE		2	/* the narrow form's lanes that are not written, of each half */
#define MASK_IDLE	1
#define MASK_SCRATCH	7
#define REG_BYTES	(TSR_BUNDLE_WARPS * (int32_t)sizeof(union tsr_lanes))
#define HALF_AT(half)	((int32_t)(half) * (int32_t)sizeof(union tsr_lanes) / TSR_JIT_HALVES)

struct emitter {
	struct tsr_segment *s;
	struct tsr_x86 *x;
	struct tsr_pool *pool;
	bool part;			/* the chunks of a list */
	unsigned int warps;		/* else all of these */
	unsigned int uniforms;		/* registers for what is the same for all chunks */
	bool failed;			/* no register was left */
	uint32_t free;			/* vector registers */
	uint8_t free_masks;		/* mask registers, wide */
	const struct tsr_homes *homes;	/* of a block; else NULL */
	uint64_t masked;		/* registers of which idle lanes stay as they are */
	unsigned int half;		/* of the warp, narrow */
	bool made;			/* a block: who is idle is in registers */
	struct tsr_fix fix;
};

/* Registers hold the present chunk: its part of each of a bundle's vectors. */
#define CHUNK_REGS	TSR_RSI		/* TSR_LANES_REG, from the chunk on */
#define CHUNK_TEMPS	TSR_RDI		/* TSR_LANES_TEMP */
#define POSITION	TSR_RDX		/* end of CHUNK_REGS; or entry of the list */
#define LIST_END	TSR_R10
#define TAKEN		TSR_R8
#define POOL		TSR_R11

static struct tsr_node *node(struct emitter *e, int n)
{
	return &e->s->node[n];
}

static bool in_mask_register(const struct emitter *e, const struct tsr_node *n)
{
	return e->s->wide && n->kind == TSR_NODE_COMPARE;
}

/* ---- Registers ------------------------------------------------------------------------------- */

static int take(struct emitter *e, uint32_t *pool)
{
	int reg;

	if (!*pool) {
		e->failed = true;
		return SCRATCH;
	}
	reg = __builtin_ctz(*pool);
	*pool &= *pool - 1;
	return reg;
}

static int acquire_vector(struct emitter *e)
{
	return take(e, &e->free);
}

/* A use of @n is over. */
static void release(struct emitter *e, int n)
{
	struct tsr_node *from = node(e, n);

	if (--from->uses || from->reg < 0 || from->uniform)
		return;
	if (in_mask_register(e, from))
		e->free_masks |= 1u << from->reg;
	else
		e->free |= 1u << from->reg;
}

/* Where a leaf is in memory. */
static struct tsr_x86_rm memory(struct emitter *e, const struct tsr_node *n)
{
	const struct tsr_operand *o = &n->operand;
	int32_t at = o->index * (int32_t)sizeof(union tsr_lanes);
	int offset;

	at += o->step ? HALF_AT(e->half) : 0;

	if (n->kind == TSR_NODE_WORD || n->kind == TSR_NODE_TABLE) {
		offset = n->kind == TSR_NODE_WORD ? tsr_pool_word(e->pool, n->word) :
			 tsr_pool_table(e->pool, n->table, e->s->wide ? 16 : 8);
		e->failed |= offset < 0;
		return tsr_x86_at(POOL, offset < 0 ? 0 : offset);
	}
	if (o->space == TSR_LANES_REG)
		return tsr_x86_at(CHUNK_REGS, at);
	if (o->space == TSR_LANES_TEMP)
		return tsr_x86_at(o->step ? CHUNK_TEMPS : (unsigned int)TSR_JIT_TEMPS, at);
	return tsr_x86_at((enum tsr_gpr)TSR_JIT_PUSH, at);
}

/* True if the node has the same value in all chunks. */
static bool is_uniform(const struct tsr_node *n)
{
	return n->kind == TSR_NODE_WORD || n->kind == TSR_NODE_TABLE ||
	       (n->kind == TSR_NODE_LOAD && !n->operand.step);
}

static void move(struct emitter *e, int to, struct tsr_x86_rm from)
{
	tsr_x86_vector(e->x, TSR_X86_MOV_LOAD, (unsigned int)to, 0, from, 0, false);
}

/* The register @n is in, loaded if need be. */
static unsigned int in_register(struct emitter *e, int n)
{
	struct tsr_node *from = node(e, n);

	if (from->reg < 0) {
		from->reg = (int8_t)acquire_vector(e);
		move(e, from->reg, memory(e, from));
	}
	return (unsigned int)from->reg;
}

/* The last operand of an instruction may be in memory. What is used again is loaded but once. */
static struct tsr_x86_rm operand(struct emitter *e, int n)
{
	const struct tsr_node *from = node(e, n);

	if (from->reg < 0 && (from->uses == 1 || is_uniform(from)))
		return memory(e, from);
	return tsr_x86_reg(in_register(e, n));
}

/* True if an instruction that uses @n @times may overwrite it. */
static bool ends_here(struct emitter *e, int n, unsigned int times)
{
	const struct tsr_node *from = node(e, n);

	return from->reg >= 0 && !from->uniform && from->uses == times;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static void emit_op(struct emitter *e, struct tsr_node *n)
{
	int a = n->src[0], b = n->src[1];
	struct tsr_x86_rm rm;
	unsigned int src = 0;

	if (b < 0) {
		rm = operand(e, a);
		release(e, a);
	} else {
		if (n->commutes && node(e, a)->reg < 0 && node(e, b)->reg >= 0) {
			a = n->src[1];
			b = n->src[0];
		}
		src = in_register(e, a);
		rm = operand(e, b);
		release(e, a);
		release(e, b);
	}
	n->reg = (int8_t)acquire_vector(e);
	if (n->constant)
		tsr_x86_vector_imm(e->x, n->insn, (unsigned int)n->reg, src, rm, 0, n->imm);
	else
		tsr_x86_vector(e->x, n->insn, (unsigned int)n->reg, src, rm, 0, false);
}

static void emit_shift(struct emitter *e, struct tsr_node *n)
{
	unsigned int src = in_register(e, n->src[0]);

	release(e, n->src[0]);
	n->reg = (int8_t)acquire_vector(e);
	tsr_x86_shift(e->x, n->insn, (unsigned int)n->reg, src, n->imm);
}

/* A multiply-add is written over one of its operands, dst; the other two, and an instruction. */
struct fma_form {
	int dst, src, rm;
	uint16_t insn;
};

static struct fma_form fma_over_factor(struct emitter *e, int factor, int other, int addend)
{
	/* of the other two, one may be in memory */
	if (node(e, addend)->reg < 0)
		return (struct fma_form){ factor, other, addend, TSR_X86_FMA213_F32 };
	if (node(e, other)->reg < 0)
		return (struct fma_form){ factor, addend, other, TSR_X86_FMA132_F32 };
	return (struct fma_form){ factor, other, addend, TSR_X86_FMA213_F32 };
}

static struct fma_form fma_over_addend(struct emitter *e, int a, int b, int addend)
{
	if (node(e, a)->reg < 0)
		return (struct fma_form){ addend, b, a, TSR_X86_FMA231_F32 };
	return (struct fma_form){ addend, a, b, TSR_X86_FMA231_F32 };
}

/* True if @n, which has not ended here (see ends_here()), has to be loaded for this use only. */
static bool comes_for_this(struct emitter *e, int n)
{
	const struct tsr_node *from = node(e, n);

	return from->uses == 1 && !is_uniform(from) && !from->uniform;
}

/*
 * Overwritten is an operand that ends here; else one that comes from memory for this alone; else a
 * copy of what is added.
 */
static void emit_fma(struct emitter *e, struct tsr_node *n)
{
	int a = n->src[0], b = n->src[1], c = n->src[2];
	unsigned int squares = 1 + (a == b) + (a == c), addends = 1 + (c == a) + (c == b);
	struct fma_form form;
	struct tsr_x86_rm rm;
	unsigned int src;
	bool over = true;

	if (ends_here(e, c, addends)) {
		form = fma_over_addend(e, a, b, c);
	} else if (ends_here(e, a, squares) || comes_for_this(e, a)) {
		form = fma_over_factor(e, a, b, c);
	} else if (ends_here(e, b, 1 + (a == b) + (b == c)) || comes_for_this(e, b)) {
		form = fma_over_factor(e, b, a, c);
	} else {
		form = fma_over_addend(e, a, b, c);
		over = comes_for_this(e, c);
	}
	src = in_register(e, form.src);
	if (over) {
		n->reg = (int8_t)in_register(e, form.dst);
		rm = operand(e, form.rm);
	} else {
		rm = operand(e, form.rm);
		n->reg = (int8_t)acquire_vector(e);
		move(e, n->reg, node(e, c)->reg >= 0 ? tsr_x86_reg((unsigned int)node(e, c)->reg) :
						       operand(e, c));
	}
	tsr_x86_vector(e->x, form.insn + n->imm, (unsigned int)n->reg, src, rm, 0, false);
	for (unsigned int i = 0; i < 3; i++)
		release(e, n->src[i]);
	e->free &= ~(1u << n->reg);
}

static void emit_compare(struct emitter *e, struct tsr_node *n)
{
	unsigned int src = in_register(e, n->src[0]);
	struct tsr_x86_rm rm = operand(e, n->src[1]);
	uint32_t masks = e->free_masks;

	release(e, n->src[0]);
	release(e, n->src[1]);
	if (e->s->wide) {
		n->reg = (int8_t)take(e, &masks);
		e->free_masks = (uint8_t)masks;
	} else {
		n->reg = (int8_t)acquire_vector(e);
	}
	if (n->constant)
		tsr_x86_vector_imm(e->x, n->insn, (unsigned int)n->reg, src, rm, 0, n->imm);
	else
		tsr_x86_vector(e->x, n->insn, (unsigned int)n->reg, src, rm, 0, false);
}

static void emit_select(struct emitter *e, struct tsr_node *n)
{
	bool inverted = node(e, n->src[0])->inverted;
	int yes = n->src[inverted ? 2 : 1], no = n->src[inverted ? 1 : 2];
	unsigned int mask = in_register(e, n->src[0]), src = in_register(e, no);
	struct tsr_x86_rm rm = operand(e, yes);

	for (unsigned int i = 0; i < 3; i++)
		release(e, n->src[i]);
	n->reg = (int8_t)acquire_vector(e);
	if (e->s->wide)
		tsr_x86_vector(e->x, TSR_X86_BLEND_MASK, (unsigned int)n->reg, src, rm, mask,
			       false);
	else
		tsr_x86_vector_imm(e->x, TSR_X86_BLEND_VAR, (unsigned int)n->reg, src, rm, 0,
				   (uint8_t)(mask << 4));
}

static void emit_masked(struct emitter *e, struct tsr_node *n)
{
	bool inverted = node(e, n->src[0])->inverted;
	unsigned int mask = in_register(e, n->src[0]);
	struct tsr_x86_rm rm = operand(e, n->src[1]);

	release(e, n->src[0]);
	release(e, n->src[1]);
	n->reg = (int8_t)acquire_vector(e);
	if (e->s->wide)
		tsr_x86_vector(e->x, TSR_X86_MOV_LOAD, (unsigned int)n->reg, 0, rm, mask, true);
	else
		tsr_x86_vector(e->x, inverted ? TSR_X86_ANDN : TSR_X86_AND, (unsigned int)n->reg,
			       mask, rm, 0, false);
}

/* NaNs of register @src to @dst made canonical. */
static void canonical(struct emitter *e, unsigned int dst, unsigned int src)
{
	const struct tsr_node nan = { .kind = TSR_NODE_WORD, .word = TSR_F32_NAN };
	struct tsr_x86_rm rm = memory(e, &nan);
	unsigned int mask = e->s->wide ? MASK_SCRATCH : SCRATCH;

	tsr_x86_vector_imm(e->x, TSR_X86_CMP_F32, mask, src, tsr_x86_reg(src), 0,
			   TSR_X86_F_UNORDERED);
	if (e->s->wide)
		tsr_x86_vector(e->x, TSR_X86_BLEND_MASK, dst, src, rm, mask, false);
	else
		tsr_x86_vector_imm(e->x, TSR_X86_BLEND_VAR, dst, src, rm, 0, (uint8_t)(mask << 4));
}

static void emit_canonical(struct emitter *e, struct tsr_node *n)
{
	unsigned int src = in_register(e, n->src[0]);

	release(e, n->src[0]);
	n->reg = (int8_t)acquire_vector(e);
	canonical(e, (unsigned int)n->reg, src);
}

static void emit_node(struct emitter *e, struct tsr_node *n)
{
	switch (n->kind) {
	case TSR_NODE_OP:
		return emit_op(e, n);
	case TSR_NODE_SHIFT:
		return emit_shift(e, n);
	case TSR_NODE_FMA:
		return emit_fma(e, n);
	case TSR_NODE_CANONICAL:
		return emit_canonical(e, n);
	case TSR_NODE_COMPARE:
		return emit_compare(e, n);
	case TSR_NODE_SELECT:
		return emit_select(e, n);
	case TSR_NODE_MASKED:
		return emit_masked(e, n);
	default:
		return;
	}
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Nodes that stores write. Their bits can be observed. */
struct stores {
	unsigned int count;
	struct {
		int16_t node;
		struct tsr_x86_rm to;
		int8_t reg;		/* of the program; -1: it is a temporary */
	} store[TSR_REGISTERS + TSR_TEMPS];
};

static void add_store(struct stores *to, const struct emitter *e, int n, bool reg,
		      unsigned int slot)
{
	struct tsr_segment *s = e->s;
	const struct tsr_operand *o = &s->node[n].operand;
	unsigned int space = reg ? TSR_LANES_REG : TSR_LANES_TEMP;

	/* the register keeps its value */
	if (s->node[n].kind == TSR_NODE_LOAD && o->step && o->space == space &&
	    o->index == slot * TSR_BUNDLE_WARPS)
		return;
	to->store[to->count].node = (int16_t)n;
	to->store[to->count].reg = (int8_t)(reg ? (int)slot : -1);
	to->store[to->count++].to =
		tsr_x86_at(reg ? CHUNK_REGS : CHUNK_TEMPS,
			   (int32_t)slot * REG_BYTES + HALF_AT(e->half));
}

/* A value that is made canonical anyhow is stored as that. */
static int known_bits(const struct tsr_segment *s, int n)
{
	for (unsigned int i = (unsigned int)n; s->node[n].loose && i < s->nodes; i++) {
		if (s->node[i].kind == TSR_NODE_CANONICAL && s->node[i].src[0] == n)
			return (int)i;
	}
	return n;
}

static void find_stores(const struct emitter *e, struct stores *to)
{
	struct tsr_segment *s = e->s;

	to->count = 0;
	for (unsigned int r = 0; r < TSR_REGISTERS; r++) {
		if (s->regs_written >> r & 1)
			add_store(to, e, known_bits(s, s->reg[r]), true, r);
	}
	for (unsigned int t = 0; t < TSR_TEMP_PUSH; t++) {
		if (s->temps_written >> t & 1)
			add_store(to, e, known_bits(s, s->temp[t]), false, t);
	}
}

/* The loose values among what is stored, each once. */
static void find_loose(struct emitter *e, const struct stores *stores)
{
	struct tsr_fix *fix = &e->fix;
	uint32_t seen = 0;

	fix->count = 0;

	for (unsigned int i = 0; i < stores->count; i++) {
		const struct tsr_node *n = node(e, stores->store[i].node);

		if (!n->loose || n->reg < 0 || seen >> n->reg & 1)
			continue;
		seen |= 1u << n->reg;
		fix->reg[fix->count++] = (uint8_t)n->reg;
	}
}

/*
 * Jump to where they are made canonical if there is a NaN among them, of lanes that are not idle in
 * a block. A comparison looks at two of them.
 */
static void test_nans(struct emitter *e)
{
	const uint8_t *regs = e->fix.reg;
	const unsigned int count = e->fix.count;

	for (unsigned int i = 0; i < count; i += 2) {
		unsigned int a = regs[i], b = regs[i + 1 < count ? i + 1 : i];

		if (e->s->wide) {
			/* ordered lanes, of those that were so far */
			tsr_x86_vector_imm(e->x, TSR_X86_CMP_F32, MASK_SCRATCH, a, tsr_x86_reg(b),
					   i ? MASK_SCRATCH : 0, TSR_X86_F_ORDERED);
			continue;
		}
		tsr_x86_vector_imm(e->x, TSR_X86_CMP_F32, i ? SCRATCH_2 : SCRATCH, a,
				   tsr_x86_reg(b), 0, TSR_X86_F_UNORDERED);
		if (i)
			tsr_x86_vector(e->x, TSR_X86_OR, SCRATCH, SCRATCH, tsr_x86_reg(SCRATCH_2),
				       0, false);
	}
	/* carry: each is ordered or idle; no signs but those of idle lanes */
	if (e->s->wide)
		tsr_x86_mask_test(e->x, MASK_SCRATCH, e->homes ? MASK_IDLE : MASK_SCRATCH);
	else
		tsr_x86_vector(e->x, TSR_X86_TEST_SIGNS, e->homes ? IDLE + e->half : SCRATCH, 0,
			       tsr_x86_reg(SCRATCH), 0, false);
	e->fix.from = tsr_x86_jump(e->x, e->s->wide || e->homes ? TSR_X86_NOT_CARRY :
								  TSR_X86_NOT_EQUAL);
	e->fix.back = e->x->at;
}

/* Makes NaNs canonical in all nodes that are stored. */
static void settle_nans(struct emitter *e)
{
	if (e->fix.count == 1)
		canonical(e, e->fix.reg[0], e->fix.reg[0]);
	else if (e->fix.count)
		test_nans(e);
}

static void emit_store(struct emitter *e, int n, struct tsr_x86_rm to, bool keep_idle)
{
	unsigned int reg = in_register(e, n);

	if (keep_idle) {
		tsr_idle_keep(e->x, SCRATCH, reg, to, e->half);
		reg = SCRATCH;
	}
	tsr_x86_vector(e->x, TSR_X86_MOV_STORE, reg, 0, to, 0, false);
	release(e, n);
}

/* The host's register that @reg of the program lives in; -1: none. */
static int home(const struct emitter *e, int reg)
{
	return e->homes && reg >= 0 ? e->homes->vector[e->half][reg] : -1;
}

/* Copies the value that a home had at the start of the block, before it is overwritten. */
static void leave_home(struct emitter *e, struct tsr_node *n)
{
	int reg = acquire_vector(e);

	move(e, reg, tsr_x86_reg((unsigned int)n->reg));
	n->reg = (int8_t)reg;
	n->uniform = false;
}

static void emit_home(struct emitter *e, int n, unsigned int to, bool keep_idle)
{
	if (keep_idle)
		tsr_idle_keep(e->x, to, in_register(e, n), tsr_x86_reg(to), e->half);
	else
		move(e, (int)to, operand(e, n));
	release(e, n);
}

/* Registers may be exchanged: what is still to be loaded comes before the first store. */
static void emit_stores(struct emitter *e, const struct stores *stores)
{
	for (unsigned int i = 0; i < stores->count; i++) {
		struct tsr_node *n = node(e, stores->store[i].node);

		if (!is_uniform(n))
			in_register(e, stores->store[i].node);
		if (n->kind == TSR_NODE_LOAD && n->uniform && n->operand.step)
			leave_home(e, n);
	}
	for (unsigned int i = 0; i < stores->count; i++) {
		const int reg = stores->store[i].reg, to = home(e, reg);
		const bool some = e->part || e->homes;	/* lanes are not there */

		if (to >= 0)
			emit_home(e, stores->store[i].node, (unsigned int)to,
				  e->masked >> reg & 1);
		else
			emit_store(e, stores->store[i].node, stores->store[i].to,
				   some && reg >= 0);
	}
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* How often each node is used by what is needed. */
static void count_uses(struct tsr_segment *s, const struct stores *stores)
{
	for (unsigned int i = 0; i < s->nodes; i++) {
		s->node[i].uses = 0;
		s->node[i].reg = -1;
		s->node[i].uniform = false;
	}
	for (unsigned int i = 0; i < stores->count; i++)
		s->node[stores->store[i].node].uses++;
	if (s->branch >= 0)
		s->node[s->branch].uses++;
	for (unsigned int i = s->nodes; i-- > 0;) {
		for (unsigned int j = 0; s->node[i].uses && j < 3; j++) {
			if (s->node[i].src[j] >= 0)
				s->node[s->node[i].src[j]].uses++;
		}
	}
}

/* Loads values that are equal in all chunks into registers, the most used first. */
static void load_uniforms(struct emitter *e)
{
	for (unsigned int k = 0; k < e->uniforms; k++) {
		struct tsr_node *best = NULL;

		for (unsigned int i = 0; i < e->s->nodes; i++) {
			struct tsr_node *n = &e->s->node[i];

			if (!n->uses || !is_uniform(n) || n->uniform)
				continue;
			if (!best || n->uses > best->uses)
				best = n;
		}
		if (!best)
			return;
		best->reg = (int8_t)acquire_vector(e);
		best->uniform = true;
		move(e, best->reg, memory(e, best));
	}
}

#define STATE_AT(member) ((int32_t)offsetof(struct tsr_lane_state, member))

/* Before the loop. */
static void begin(struct emitter *e)
{
	struct tsr_x86 *x = e->x;

	tsr_x86_mov_imm(x, POOL, (uintptr_t)e->pool->vector);
	load_uniforms(e);
	if (e->part) {
		tsr_x86_lea(x, POSITION, (enum tsr_gpr)TSR_JIT_STATE, STATE_AT(native.chunk));
		tsr_x86_load(x, 4, LIST_END, (enum tsr_gpr)TSR_JIT_STATE, STATE_AT(native.chunks));
		tsr_x86_lea_index(x, LIST_END, POSITION, LIST_END, 3);
	} else {
		tsr_x86_mov(x, CHUNK_REGS, (enum tsr_gpr)TSR_JIT_REGS);
		tsr_x86_mov(x, CHUNK_TEMPS, (enum tsr_gpr)TSR_JIT_TEMPS);
		tsr_x86_lea(x, POSITION, (enum tsr_gpr)TSR_JIT_REGS,
			    (int32_t)(e->warps * sizeof(union tsr_lanes)));
	}
	if (e->s->branch >= 0) {
		tsr_x86_mov_imm(x, (enum tsr_gpr)TSR_JIT_ANY, 0);
		tsr_x86_mov_imm(x, (enum tsr_gpr)TSR_JIT_LEFT, 0);
		if (!e->part)
			tsr_x86_lea(x, TAKEN, (enum tsr_gpr)TSR_JIT_STATE, STATE_AT(branch.taken));
	}
	tsr_x86_align(x, 32);
}

#define CHUNK_AT(member) ((int32_t)offsetof(struct tsr_chunk, member))

_Static_assert(sizeof(struct tsr_chunk) == 8, "an index of the list is shifted by 3");

/* The next entry of the list: addresses, and which lanes are idle. */
static void enter_chunk(struct emitter *e)
{
	struct tsr_x86 *x = e->x;

	tsr_x86_load(x, 2, TSR_RAX, POSITION, CHUNK_AT(offset));
	tsr_x86_lea_index(x, CHUNK_REGS, (enum tsr_gpr)TSR_JIT_REGS, TSR_RAX, 0);
	tsr_x86_lea_index(x, CHUNK_TEMPS, (enum tsr_gpr)TSR_JIT_TEMPS, TSR_RAX, 0);
	if (e->s->wide) {
		tsr_x86_mask_load(x, MASK_IDLE, POSITION, CHUNK_AT(idle));
		return;
	}
	tsr_x86_lea_index(x, TSR_RAX, (enum tsr_gpr)TSR_JIT_STATE, TSR_RAX, 0);
	/* not all ones: idle */
	tsr_x86_vector(x, TSR_X86_XOR, SCRATCH, SCRATCH, tsr_x86_reg(SCRATCH), 0, false);
	tsr_x86_vector(x, TSR_X86_CMP_EQ_I32, IDLE, SCRATCH,
		       tsr_x86_at(TSR_RAX, STATE_AT(alu.mask)), 0, false);
}

/* Notes the branching lanes of this chunk, and updates the state of all chunks. */
static void note_branch(struct emitter *e)
{
	struct tsr_x86 *x = e->x;
	const struct tsr_node *mask = node(e, e->s->branch);
	uint32_t all = e->s->wide ? 0xffff : 0xff;
	unsigned int size = e->s->wide ? 2 : 1;
	enum tsr_gpr left = (enum tsr_gpr)TSR_JIT_LEFT;

	tsr_x86_mask_bits(x, TSR_RAX, (unsigned int)mask->reg);
	if (mask->inverted)
		tsr_x86_alu_imm(x, TSR_X86_GXOR, 4, TSR_RAX, (int32_t)all);
	if (e->part) {
		tsr_x86_load(x, 2, TAKEN, POSITION, CHUNK_AT(taken));
		tsr_x86_alu(x, TSR_X86_GADD, 8, TAKEN, (enum tsr_gpr)TSR_JIT_STATE);
		tsr_x86_store(x, size, TSR_RAX, TAKEN, STATE_AT(branch.taken));
		tsr_x86_load(x, 2, TAKEN, POSITION, CHUNK_AT(active));
		tsr_x86_alu(x, TSR_X86_GAND, 4, TSR_RAX, TAKEN);
		tsr_x86_alu(x, TSR_X86_GOR, 4, (enum tsr_gpr)TSR_JIT_ANY, TSR_RAX);
		tsr_x86_alu(x, TSR_X86_GXOR, 4, TSR_RAX, TAKEN);
	} else {
		tsr_x86_store(x, size, TSR_RAX, TAKEN, 0);
		tsr_x86_alu_imm(x, TSR_X86_GADD, 8, TAKEN, (int32_t)size);
		tsr_x86_alu(x, TSR_X86_GOR, 4, (enum tsr_gpr)TSR_JIT_ANY, TSR_RAX);
		tsr_x86_alu_imm(x, TSR_X86_GXOR, 4, TSR_RAX, (int32_t)all);
	}
	tsr_x86_alu(x, TSR_X86_GOR, 4, left, TSR_RAX);
}

static void next_chunk(struct emitter *e, const uint8_t *loop)
{
	struct tsr_x86 *x = e->x;
	int32_t bytes = e->s->wide ? 64 : 32;

	if (e->part) {
		tsr_x86_alu_imm(x, TSR_X86_GADD, 8, POSITION, sizeof(struct tsr_chunk));
		tsr_x86_alu(x, TSR_X86_GCMP, 8, POSITION, LIST_END);
	} else {
		tsr_x86_alu_imm(x, TSR_X86_GADD, 8, CHUNK_REGS, bytes);
		tsr_x86_alu_imm(x, TSR_X86_GADD, 8, CHUNK_TEMPS, bytes);
		tsr_x86_alu(x, TSR_X86_GCMP, 8, CHUNK_REGS, POSITION);
	}
	tsr_x86_jump_back(x, TSR_X86_NOT_EQUAL, loop);
}

/* Where NaNs are: off the way. */
static void fix_nans(struct emitter *e)
{
	tsr_x86_here(e->x, e->fix.from);
	for (unsigned int i = 0; i < e->fix.count; i++)
		canonical(e, e->fix.reg[i], e->fix.reg[i]);
	tsr_x86_jump_back(e->x, TSR_X86_ALWAYS, e->fix.back);
}

/* True if a block has to know which lanes are idle. */
static bool needs_idle(const struct emitter *e, const struct stores *stores)
{
	bool needs = e->fix.count > 1;

	for (unsigned int i = 0; i < stores->count; i++) {
		const int reg = stores->store[i].reg;

		needs |= home(e, reg) < 0 || e->masked >> reg & 1;
	}
	return needs;
}

static void make_idle(struct emitter *e)
{
	const enum tsr_gpr lanes = (enum tsr_gpr)TSR_JIT_LEFT;
	const enum tsr_gpr made = (enum tsr_gpr)TSR_JIT_MADE;
	uint8_t *same;

	e->made = true;
	if (e->s->wide) {
		tsr_idle_emit(e->x, lanes);
		return;
	}
	tsr_x86_alu(e->x, TSR_X86_GCMP, 4, made, lanes);
	same = tsr_x86_jump(e->x, TSR_X86_EQUAL);
	tsr_x86_mov(e->x, made, lanes);
	tsr_idle_emit(e->x, lanes);
	tsr_x86_here(e->x, same);
}

/* All nodes, and what is stored of them. */
static void emit_nodes(struct emitter *e, const struct stores *stores)
{
	for (unsigned int i = 0; i < e->s->nodes && !e->failed; i++) {
		if (e->s->node[i].uses)
			emit_node(e, &e->s->node[i]);
	}
	if (e->failed)
		return;
	find_loose(e, stores);
	if (e->homes && !e->made && needs_idle(e, stores))
		make_idle(e);
	settle_nans(e);
	emit_stores(e, stores);
}

static void emit_loop(struct emitter *e, const struct stores *stores)
{
	uint8_t *loop = e->x->at, *after;

	if (e->part)
		enter_chunk(e);
	emit_nodes(e, stores);
	if (e->failed)
		return;
	if (e->s->branch >= 0)
		note_branch(e);
	next_chunk(e, loop);
	if (e->fix.count < 2)
		return;
	after = tsr_x86_jump(e->x, TSR_X86_ALWAYS);
	fix_nans(e);
	tsr_x86_here(e->x, after);
}

/* Try with so many registers for what is the same for all chunks. */
static bool attempt(struct emitter *e, const struct stores *stores, unsigned int uniforms)
{
	struct tsr_x86 before = *e->x;

	count_uses(e->s, stores);
	e->uniforms = uniforms;
	e->failed = false;
	e->free = e->s->wide ? ~3u : e->part ? 0xfff8 : 0xfffc;
	e->free_masks = 0x7c;
	begin(e);
	emit_loop(e, stores);
	if (e->failed)
		*e->x = before;
	return !e->failed;
}

bool tsr_segment_emit(struct tsr_segment *s, struct tsr_x86 *x, struct tsr_pool *pool,
		      unsigned int warps)
{
	struct emitter e = { .s = s, .x = x, .pool = pool, .part = !warps, .warps = warps };
	struct stores stores;

	if (s->full)
		return false;
	find_stores(&e, &stores);
	if (!stores.count && s->branch < 0)
		return true;
	return attempt(&e, &stores, s->wide ? 12 : 4) || attempt(&e, &stores, 0);
}

/* ---- Blocks of loops ------------------------------------------------------------------------- */

/* Registers that have a home are there. */
static void find_homes(struct emitter *e)
{
	for (unsigned int i = 0; i < e->s->nodes; i++) {
		struct tsr_node *n = &e->s->node[i];
		const struct tsr_operand *o = &n->operand;
		int reg = -1;

		if (n->kind == TSR_NODE_LOAD && o->space == TSR_LANES_REG)
			reg = home(e, o->index / TSR_BUNDLE_WARPS);
		if (reg < 0)
			continue;
		n->reg = (int8_t)reg;
		n->uniform = true;
	}
}

/* Emits the mask of branching lanes, of a half or of all, into RAX. */
static void emit_branch(struct emitter *e)
{
	const struct tsr_node *mask = node(e, e->s->branch);
	const bool low = !e->s->wide && !e->half;

	tsr_x86_mask_bits(e->x, low ? (enum tsr_gpr)TSR_JIT_BITS : TSR_RAX,
			  (unsigned int)mask->reg);
	if (e->s->wide || low)
		return;
	tsr_x86_shift_left(e->x, TSR_RAX, 8);
	tsr_x86_alu(e->x, TSR_X86_GOR, 4, TSR_RAX, (enum tsr_gpr)TSR_JIT_BITS);
	if (mask->inverted)
		tsr_x86_alu_imm(e->x, TSR_X86_GXOR, 4, TSR_RAX, 0xffff);
}

bool tsr_segment_emit_block(struct tsr_segment *s, struct tsr_x86 *x, struct tsr_pool *pool,
			    const struct tsr_homes *homes, uint64_t masked, struct tsr_fix *fix)
{
	struct emitter e = { .s = s, .x = x, .pool = pool, .homes = homes, .masked = masked };
	struct stores stores;

	if (s->full)
		return false;
	for (e.half = 0; e.half < (s->wide ? 1 : TSR_JIT_HALVES) && !e.failed; e.half++) {
		e.free = homes->free;
		e.free_masks = 0x7c;
		find_stores(&e, &stores);
		count_uses(s, &stores);
		find_homes(&e);
		emit_nodes(&e, &stores);
		if (s->branch >= 0 && !e.failed)
			emit_branch(&e);
		fix[e.half] = e.fix;
	}
	return !e.failed;
}

bool tsr_fix_emit(struct tsr_segment *s, struct tsr_x86 *x, struct tsr_pool *pool,
		  const struct tsr_fix *fix)
{
	struct emitter e = { .s = s, .x = x, .pool = pool };

	for (unsigned int half = 0; half < (s->wide ? 1 : TSR_JIT_HALVES); half++) {
		e.fix = fix[half];
		if (e.fix.count > 1)
			fix_nans(&e);
	}
	return !e.failed;
}

/* How far left the bit of a lane is from the sign. */
static const union tsr_lanes to_sign = {
	.u = { 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16 },
};

void tsr_idle_emit(struct tsr_x86 *x, enum tsr_gpr from)
{
	tsr_x86_mov(x, TSR_RAX, from);
	tsr_x86_alu_imm(x, TSR_X86_GXOR, 4, TSR_RAX, 0xffff);
	if (x->wide) {
		tsr_x86_mask_set(x, MASK_IDLE, TSR_RAX);
		return;
	}
	tsr_x86_spread(x, SCRATCH, TSR_RAX);
	tsr_x86_mov_imm(x, TSR_RAX, (uintptr_t)&to_sign);
	for (unsigned int half = 0; half < TSR_JIT_HALVES; half++)
		tsr_x86_vector(x, TSR_X86_SHL_VAR, IDLE + half, SCRATCH,
			       tsr_x86_at(TSR_RAX, HALF_AT(half)), 0, false);
}

void tsr_idle_keep(struct tsr_x86 *x, unsigned int dst, unsigned int src, struct tsr_x86_rm rm,
		   unsigned int half)
{
	if (x->wide)
		tsr_x86_vector(x, TSR_X86_BLEND_MASK, dst, src, rm, MASK_IDLE, false);
	else
		tsr_x86_vector_imm(x, TSR_X86_BLEND_VAR, dst, src, rm, 0,
				   (uint8_t)((IDLE + half) << 4));
}

unsigned int tsr_homes_first(const struct tsr_x86 *x)
{
	return x->wide ? SCRATCH_2 + 1 : IDLE + TSR_JIT_HALVES;
}
