/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=300 */
/*
 * Generated code does what the functions of the micro-operations do, bit for bit: random clauses of
 * all operations, with special values, all modes of clause headers, whole bundles and some lanes of
 * some warps, on both paths that have generated code. What is compared is all registers and the
 * temporaries that somebody looks at behind the clause, who branches, and where it goes on.
 */
#include <stdlib.h>

#include "alu_random.h"
#include "ktap.h"

#include "shader/branch.h"
#include "alu/float_ops.h"
#include "compiler/jit.h"
#include "shader/moves.h"
#include "simd/simd.h"

#define UOPS		16
#define REGS		12		/* registers in use: few, so that clauses use results */
#define TEMPS		3
#define WORDS		6
#define CLAUSES_OF_OP	60
#define CLAUSES		3000
#define TUPLES		3

static const char *const path_names[] = { "avx2", "avx512" };

/* A clause and all it works on. */
struct trial {
	struct tsr_decoded clause;
	struct tsr_uop uop[UOPS + 1];
	struct tsr_insn insn[UOPS + 1], pair[UOPS + 1];
	union tsr_lanes konst[WORDS], push[WORDS];
	union tsr_lanes reg[TSR_REGISTERS * TSR_BUNDLE_WARPS];
	union tsr_lanes temp[TSR_TEMPS * TSR_BUNDLE_WARPS];
	struct tsr_lane_state lanes;
};

static struct trial before, interpreted, generated;

static void fill(union tsr_lanes *to, unsigned int count, bool same)
{
	for (unsigned int i = 0; i < count; i++) {
		uint32_t word = random_source();

		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			to[i].u[l] = same ? word : random_source();
	}
}

/* ---- Clauses --------------------------------------------------------------------------------- */

static struct tsr_operand own(unsigned int space, unsigned int slot)
{
	return (struct tsr_operand){ .index = (uint16_t)(slot * TSR_BUNDLE_WARPS),
				     .space = (uint8_t)space, .step = 1 };
}

static struct tsr_operand random_operand(void)
{
	uint32_t x = random_word();

	switch (x % 8) {
	case 0:
		return own(TSR_LANES_TEMP, TSR_TEMP_RESULT + (x >> 8) % TEMPS);
	case 1:
		return (struct tsr_operand){ .index = (uint16_t)((x >> 8) % WORDS),
					     .space = TSR_LANES_PUSH };
	case 2:
		return (struct tsr_operand){ .index = (uint16_t)((x >> 8) % WORDS),
					     .space = TSR_LANES_CLAUSE };
	case 3:
		return (struct tsr_operand){ .index = TSR_FIXED_ZERO + (x >> 8) % 2,
					     .space = TSR_LANES_TEMP };
	default:
		return own(TSR_LANES_REG, (x >> 8) % REGS);
	}
}

/* Operations that take hidden state from an instruction beside them: which one. */
static unsigned int partner(unsigned int op)
{
	static const uint16_t low[] = { TSR_OP_FMA_SHADDXL_I64, TSR_OP_FMA_SHADDXL_U32,
					TSR_OP_FMA_SHADDXL_S32 };

	switch (op) {
	case TSR_OP_ADD_SHADDXH_I32:
		return low[random_word() % 3];
	case TSR_OP_ADD_SEG_ADD:
		return TSR_OP_FMA_SEG_ADD;
	case TSR_OP_ADD_SEG_SUB:
		return TSR_OP_FMA_SEG_SUB;
	case TSR_OP_ADD_CUBEFACE2:
		return TSR_OP_FMA_CUBEFACE1;
	default:
		return TSR_OP__COUNT;
	}
}

static void random_operands(struct tsr_uop *uop)
{
	for (unsigned int i = 0; i < 4; i++)
		uop->src[i] = random_operand();
	for (unsigned int i = 0; i < 3; i++)
		uop->pair[i] = random_operand();
	uop->dst_kind = random_word() % 4 ? TSR_DST_ACTIVE : TSR_DST_ALL;
	uop->dst = uop->dst_kind == TSR_DST_ALL ?
			   own(TSR_LANES_TEMP, TSR_TEMP_RESULT + random_word() % TEMPS) :
			   own(TSR_LANES_REG, random_word() % REGS);
}

/* Products scaled by a constant, with nothing added: what exponentials and sines begin with. */
static void scaled_product(struct trial *t, struct tsr_uop *uop, struct tsr_insn *insn)
{
	const uint32_t power = (random_word() % 256) << 23 | (random_word() & 1) << 31;
	const uint32_t scale = random_word() % 64 - 32;
	const unsigned int factor = random_word() & 1;
	const bool square = random_word() & 1;

	insn->mod[TSR_MOD_NEG2] = 1;
	insn->mod[TSR_MOD_SPECIAL] = 0;
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		t->konst[0].u[l] = power;
		t->konst[1].u[l] = scale;
	}
	uop->src[factor] = (struct tsr_operand){ .index = 0, .space = TSR_LANES_CLAUSE };
	if (square) {
		uop->src[factor] = uop->src[!factor];
		insn->mod[TSR_MOD_NEG1] = insn->mod[TSR_MOD_NEG0];
		insn->mod[TSR_MOD_ABS1] = insn->mod[TSR_MOD_ABS0];
	}
	uop->src[2] = (struct tsr_operand){ .index = TSR_FIXED_ZERO, .space = TSR_LANES_TEMP };
	uop->src[3] = (struct tsr_operand){ .index = 1, .space = TSR_LANES_CLAUSE };
}

/* Micro-operation @i executes a random instruction of @op; false: it cannot. */
static bool random_uop(struct trial *t, const struct tsr_simd *alu, unsigned int i, unsigned int op)
{
	struct tsr_uop *uop = &t->uop[i];
	unsigned int low = partner(op);

	memset(uop, 0, sizeof(*uop));
	uop->mode = t->clause.mode;
	random_operands(uop);
	if (tsr_ops[op].semantics != TSR_DEFINED || !random_insn(op, &t->insn[i]))
		return false;
	uop->insn = &t->insn[i];
	if (op == TSR_OP_FMA_FMA_RSCALE_F32 && random_word() & 1)
		scaled_product(t, uop, &t->insn[i]);
	if (low != TSR_OP__COUNT) {
		if (!random_insn(low, &t->pair[i]))
			return false;
		uop->pair_insn = &t->pair[i];
	}
	return tsr_alu_select(alu, uop);
}

/* A copy, to a half or to all of something. */
static void random_copy(struct trial *t, unsigned int i)
{
	struct tsr_uop *uop = &t->uop[i];
	unsigned int action = TSR_PORT_WRITE + random_word() % 3;

	memset(uop, 0, sizeof(*uop));
	random_operands(uop);
	if (uop->dst.space != TSR_LANES_REG)
		action = TSR_PORT_WRITE;
	uop->fn = tsr_move_function(action, uop->dst.space == TSR_LANES_REG);
}

static unsigned int random_op(void)
{
	static const uint16_t branches[] = {
		TSR_OP_ADD_BRANCH_I32, TSR_OP_ADD_BRANCH_S32, TSR_OP_ADD_BRANCH_U32,
		TSR_OP_ADD_BRANCHZ_I16, TSR_OP_ADD_BRANCHZ_I32, TSR_OP_ADD_BRANCHZ_S32,
		TSR_OP_ADD_BRANCHZ_U32, TSR_OP_ADD_BRANCHZ_F32, TSR_OP_ADD_BRANCH_F32,
		TSR_OP_ADD_BRANCHZ_S16, TSR_OP_ADD_JUMP,
	};

	return branches[random_word() % (sizeof(branches) / sizeof(branches[0]))];
}

static void random_branch(struct trial *t)
{
	struct tsr_uop *uop = &t->uop[UOPS];

	memset(uop, 0, sizeof(*uop));
	uop->mode = t->clause.mode;
	random_operands(uop);
	if (random_word() % 4)
		uop->src[0] = own(TSR_LANES_TEMP, TSR_TEMP_RESULT);
	if (!random_insn(random_op(), &t->insn[UOPS]))
		return;
	uop->insn = &t->insn[UOPS];
	if (!tsr_branch_select(uop, false))
		return;
	t->clause.branch = uop;
	t->clause.flags |= TSR_CLAUSE_BRANCH;
	t->clause.jump_fixed = true;
	t->clause.jump_ends = !(random_word() % 8);
	t->clause.jump_pc = 0x2000;
}

/* Set what does not depend on the micro-operations. A message reads the temporaries. */
static void begin_clause(struct trial *t)
{
	memset(&t->clause, 0, sizeof(t->clause));
	t->clause.konst = t->konst;
	t->clause.uop = t->uop;
	t->clause.tuples = TUPLES;
	t->clause.pc = 0x1000;
	t->clause.next_pc = 0x1040;
	t->clause.mode = (struct tsr_alu_mode){ .ftz = random_word() % 4,
						.suppress_inf = !(random_word() % 16),
						.suppress_nan = !(random_word() % 16) };
	t->clause.flags = random_word() & 1 ? TSR_CLAUSE_MESSAGE : 0;
	t->clause.msg.srcs = random_word() % (TEMPS + 1);
	for (unsigned int i = 0; i < t->clause.msg.srcs; i++)
		t->clause.msg.src[i] = own(TSR_LANES_TEMP, TSR_TEMP_RESULT + i);
	fill(t->konst, WORDS, true);
	fill(t->push, WORDS, true);
}

/* ---- Execution ------------------------------------------------------------------------------- */

/* Warp @w works with @active lanes; the chunks of generated code. */
static void add_warp(struct tsr_lane_state *lanes, unsigned int w, uint16_t active,
		     unsigned int width)
{
	unsigned int all = (1u << width) - 1;

	lanes->alu.warp[lanes->alu.warps++] = (uint8_t)w;
	lanes->alu.full &= active == 0xffff;
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		lanes->alu.mask[w].u[l] = active >> l & 1 ? ~0u : 0;
	for (unsigned int first = 0; first < TSR_WARP_LANES; first += width) {
		unsigned int some = active >> first & all;

		if (some)
			lanes->native.chunk[lanes->native.chunks++] = (struct tsr_chunk){
				.offset = (uint16_t)(64 * w + 4 * first),
				.active = (uint16_t)some, .idle = (uint16_t)(~some & all),
				.taken = (uint16_t)(2 * w + first / 8),
			};
	}
}

static void set_lanes(struct trial *t, bool whole, unsigned int width)
{
	struct tsr_lane_state *lanes = &t->lanes;

	memset(lanes, 0, sizeof(*lanes));
	lanes->alu.full = true;
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		uint32_t x = random_word();
		/* code for chunks is never run without one */
		bool last = w == TSR_BUNDLE_WARPS - 1 && !lanes->native.chunks;

		if (whole || last || x % 4)
			add_warp(lanes, w, whole || last || x % 3 == 0 ? 0xffff : x >> 8 & 0xffff,
				 width);
	}
	lanes->native.meet = random_word() & 1 ? UINT64_MAX : 0x1800;
	lanes->native.clauses = 1 + (int32_t)(random_word() % 3);
	lanes->native.tuples = 1 + (int32_t)(random_word() % 8);
}

static void attach(struct trial *t)
{
	t->lanes.alu.space[TSR_LANES_REG] = t->reg;
	t->lanes.alu.space[TSR_LANES_TEMP] = t->temp;
	t->lanes.alu.space[TSR_LANES_PUSH] = t->push;
	t->lanes.alu.space[TSR_LANES_CLAUSE] = t->konst;
}

/* The active lanes that branch. */
static uint16_t taken(const struct tsr_lane_state *lanes, unsigned int i)
{
	unsigned int w = lanes->alu.warp[i];
	uint16_t active = 0;

	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		active |= (lanes->alu.mask[w].u[l] & 1) << l;
	return lanes->branch.taken[w] & active;
}

/* Mask of all active lanes of the warp. */
static uint16_t lanes_of(const struct tsr_lane_state *lanes, unsigned int i)
{
	uint16_t active = 0;

	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		active |= (lanes->alu.mask[lanes->alu.warp[i]].u[l] & 1) << l;
	return active;
}

static unsigned int interpret(struct trial *t)
{
	bool any = false, all = true;

	attach(t);
	for (unsigned int i = 0; i < t->clause.uops; i++)
		t->uop[i].fn(&t->uop[i], &t->lanes.alu);
	if (!(t->clause.flags & TSR_CLAUSE_BRANCH))
		return TSR_OUTCOME_NONE;
	t->clause.branch->fn(t->clause.branch, &t->lanes.alu);
	for (unsigned int i = 0; i < t->lanes.alu.warps; i++) {
		any |= taken(&t->lanes, i) != 0;
		all &= taken(&t->lanes, i) == lanes_of(&t->lanes, i);
	}
	return all ? TSR_OUTCOME_ALL : any ? TSR_OUTCOME_SOME : TSR_OUTCOME_NONE;
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static void describe(const char *path, const struct trial *t, const char *what, unsigned int slot,
		     unsigned int w, unsigned int lane)
{
	ktap_fail("%s, %u warps: %s %u of warp %u, lane %u differs", path, t->lanes.alu.warps, what,
		  slot, w, lane);
	for (unsigned int i = 0; i < t->clause.uops; i++) {
		const struct tsr_uop *u = &t->uop[i];

		ktap_note("%s dst %u:%u src %u:%u %u:%u %u:%u %u:%u",
			  u->insn ? tsr_ops[u->insn->op].name : "copy", u->dst.space,
			  u->dst.index / 8, u->src[0].space, u->src[0].index / 8, u->src[1].space,
			  u->src[1].index / 8, u->src[2].space, u->src[2].index / 8,
			  u->src[3].space, u->src[3].index / 8);
	}
}

/* False, and a report, if a vector of @count slots is not what it should be. */
static bool same(const char *path, const struct trial *t, const char *what,
		 const union tsr_lanes *wanted, const union tsr_lanes *got, unsigned int count)
{
	for (unsigned int i = 0; i < count * TSR_BUNDLE_WARPS; i++) {
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
			if (wanted[i].u[l] == got[i].u[l])
				continue;
			describe(path, t, what, i / TSR_BUNDLE_WARPS, i % TSR_BUNDLE_WARPS, l);
			ktap_note("%08x, not %08x", got[i].u[l], wanted[i].u[l]);
			return false;
		}
	}
	return true;
}

/* A temporary counts where somebody may look at it: in active lanes, if the message reads it. */
static bool same_temps(const char *path, const struct trial *wanted, const struct trial *got)
{
	bool ok = true;

	for (unsigned int i = 0; wanted->clause.flags & TSR_CLAUSE_MESSAGE &&
				 i < wanted->clause.msg.srcs; i++) {
		for (unsigned int n = 0; ok && n < wanted->lanes.alu.warps; n++) {
			unsigned int w = wanted->lanes.alu.warp[n];
			unsigned int at = (TSR_TEMP_RESULT + i) * TSR_BUNDLE_WARPS + w;
			uint16_t active = lanes_of(&wanted->lanes, n);

			for (unsigned int l = 0; ok && l < TSR_WARP_LANES; l++) {
				ok = !(active >> l & 1) ||
				     wanted->temp[at].u[l] == got->temp[at].u[l];
				if (!ok)
					describe(path, got, "temporary", i, w, l);
			}
		}
	}
	return ok;
}

static void compare_branch(const struct trial *wanted, const struct trial *got,
			   unsigned int outcome)
{
	const struct tsr_native *native = &got->lanes.native;

	ktap_eq((uintptr_t)native->last, (uintptr_t)&got->clause);
	ktap_eq(native->clauses, wanted->lanes.native.clauses - 1);
	ktap_eq(native->tuples, wanted->lanes.native.tuples - TUPLES);
	if (native->outcome == TSR_OUTCOME_OPEN)
		return;
	ktap_eq(native->outcome, outcome);
	for (unsigned int i = 0; outcome == TSR_OUTCOME_SOME && i < wanted->lanes.alu.warps; i++)
		ktap_eq(taken(&got->lanes, i), taken(&wanted->lanes, i));
}

/* One clause, whole or for some lanes; false: enough has been reported. */
static bool try_clause(struct tsr_jit *jit, const char *path, bool whole)
{
	enum tsr_native_kind kind = whole ? TSR_NATIVE_FULL : TSR_NATIVE_PART;
	struct tsr_alu_saved saved;
	unsigned int outcome;
	bool ok;

	set_lanes(&before, whole, strcmp(path, "avx2") ? 16 : 8);
	fill(before.reg, TSR_REGISTERS * TSR_BUNDLE_WARPS, false);
	fill(before.temp, TSR_TEMPS * TSR_BUNDLE_WARPS, false);
	fill(before.temp, TSR_FIXED__COUNT, true);
	memset(&before.temp[TSR_FIXED_ZERO], 0, sizeof(before.temp[0]));
	memcpy(&interpreted, &before, sizeof(before));
	memcpy(&generated, &before, sizeof(before));
	/* operations and operands are the same objects for both */
	tsr_alu_enter(&saved, &before.clause.mode);
	outcome = interpret(&interpreted);
	generated.clause = before.clause;
	tsr_jit_forget(jit);
	ktap_ok(tsr_jit_compile(jit, &generated.clause, kind));
	attach(&generated);
	tsr_jit_run(jit, generated.clause.native[kind].code, &generated.lanes);
	tsr_alu_leave(&saved);
	ok = same(path, &before, "register", interpreted.reg, generated.reg, TSR_REGISTERS) &&
	     same_temps(path, &interpreted, &generated);
	if (ok)
		compare_branch(&interpreted, &generated, outcome);
	return ok;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static struct tsr_jit *open_path(const char *path, const struct tsr_simd **alu)
{
	*alu = tsr_simd_named(path);
	return *alu ? tsr_jit_new(*alu) : NULL;
}

/* Each operation by itself, between two others. */
static void test_operations(void)
{
	unsigned int done = 0;

	for (unsigned int p = 0; p < 2; p++) {
		const struct tsr_simd *alu;
		struct tsr_jit *jit = open_path(path_names[p], &alu);

		for (unsigned int op = 0; jit && op < TSR_OP__COUNT; op++) {
			for (unsigned int i = 0; i < CLAUSES_OF_OP; i++) {
				begin_clause(&before);
				if (!random_uop(&before, alu, 0, op))
					continue;
				random_copy(&before, 1);
				before.clause.uops = 2;
				done++;
				if (!try_clause(jit, path_names[p], i & 1))
					break;
			}
		}
		tsr_jit_free(jit);
	}
	ktap_note("%u clauses", done);
}

/* The operations of programs' inner loops come more often than others. */
static unsigned int any_operation(void)
{
	static const uint16_t common[] = {
		TSR_OP_FMA_FMA_F32, TSR_OP_FMA_FADD_F32, TSR_OP_ADD_FADD_F32, TSR_OP_ADD_FMAX_F32,
		TSR_OP_ADD_FMIN_F32, TSR_OP_FMA_CSEL_F32, TSR_OP_ADD_FCMP_F32, TSR_OP_ADD_IADD_S32,
		TSR_OP_ADD_ICMP_S32, TSR_OP_ADD_ICMP_U32, TSR_OP_FMA_CSEL_I32, TSR_OP_FMA_MOV_I32,
		TSR_OP_ADD_MUX_I32, TSR_OP_FMA_LSHIFT_OR_I32, TSR_OP_FMA_RSHIFT_AND_I32,
		TSR_OP_FMA_FMA_RSCALE_F32, TSR_OP_ADD_F16_TO_F32,
	};
	uint32_t x = random_word();

	return x % 8 ? common[(x >> 8) % (sizeof(common) / sizeof(common[0]))] :
		       (x >> 8) % TSR_OP__COUNT;
}

/* @mode: NULL for any. */
static void random_clause(const struct tsr_simd *alu, const struct tsr_alu_mode *mode)
{
	unsigned int want = random_word() % (UOPS + 1), uops = 0;

	begin_clause(&before);
	if (mode)
		before.clause.mode = *mode;
	while (uops < want) {
		if (random_word() % 8 == 0)
			random_copy(&before, uops++);
		else if (random_uop(&before, alu, uops, any_operation()))
			uops++;
	}
	before.clause.uops = (uint16_t)uops;
}

static void test_clauses(void)
{
	for (unsigned int p = 0; p < 2; p++) {
		const struct tsr_simd *alu;
		struct tsr_jit *jit = open_path(path_names[p], &alu);

		for (unsigned int i = 0; jit && i < CLAUSES; i++) {
			random_clause(alu, NULL);
			if (random_word() & 1)
				random_branch(&before);
			if (!try_clause(jit, path_names[p], i & 1))
				break;
		}
		tsr_jit_free(jit);
	}
}

/* ---- Clauses as one piece -------------------------------------------------------------------- */

#define PIECES 5

static struct trial piece[PIECES];

/* The clause reads only temporaries that it has written. */
static void repair(struct tsr_operand *o, unsigned int count, uint32_t written)
{
	for (unsigned int i = 0; i < count; i++) {
		if (o[i].space == TSR_LANES_TEMP && o[i].step &&
		    !(written >> o[i].index / TSR_BUNDLE_WARPS & 1))
			o[i] = own(TSR_LANES_REG, random_word() % REGS);
	}
}

static void random_piece(struct trial *to, const struct tsr_simd *alu,
			 const struct tsr_alu_mode *mode)
{
	uint32_t written = 0;

	random_clause(alu, mode);
	memcpy(to, &before, sizeof(before));
	to->clause.uop = to->uop;
	to->clause.konst = to->konst;
	for (unsigned int i = 0; i < to->clause.uops; i++) {
		struct tsr_uop *uop = &to->uop[i];

		if (uop->insn)
			uop->insn = &to->insn[i];
		if (uop->pair_insn)
			uop->pair_insn = &to->pair[i];
		repair(uop->src, 4, written);
		repair(uop->pair, 3, written);
		if (uop->dst.space == TSR_LANES_TEMP)
			written |= 1u << uop->dst.index / TSR_BUNDLE_WARPS;
	}
	to->clause.msg.srcs = 0;
	for (unsigned int i = 0; i < TEMPS && written >> (TSR_TEMP_RESULT + i) & 1; i++)
		to->clause.msg.src[to->clause.msg.srcs++] =
			own(TSR_LANES_TEMP, TSR_TEMP_RESULT + i);
}

static void interpret_pieces(struct trial *t, unsigned int count)
{
	attach(t);
	for (unsigned int n = 0; n < count; n++) {
		t->lanes.alu.space[TSR_LANES_CLAUSE] = piece[n].konst;
		for (unsigned int i = 0; i < piece[n].clause.uops; i++)
			piece[n].uop[i].fn(&piece[n].uop[i], &t->lanes.alu);
	}
}

/* Registers that are not read may hold anything in the warps that take part. */
static void hide(struct trial *t, uint64_t live, unsigned int warps)
{
	for (unsigned int r = 0; r < TSR_REGISTERS; r++) {
		if (!(live >> r & 1))
			memset(&t->reg[r * TSR_BUNDLE_WARPS], 0, warps * sizeof(t->reg[0]));
	}
}

/* @count clauses for the first @warps; false: enough has been reported. */
static bool try_straight(struct tsr_jit *jit, const struct tsr_simd *alu, unsigned int count,
			 unsigned int warps)
{
	const uint64_t live = random_word() | (uint64_t)random_word() << 32;
	struct tsr_decoded *clause[PIECES];
	struct tsr_alu_saved saved;
	const void *code;

	for (unsigned int n = 0; n < count; n++) {
		random_piece(&piece[n], alu, n ? &piece[0].clause.mode : NULL);
		clause[n] = &piece[n].clause;
	}
	set_lanes(&before, true, TSR_WARP_LANES);
	before.lanes.alu.warps = (uint8_t)warps;
	before.clause = piece[count - 1].clause;
	fill(before.reg, TSR_REGISTERS * TSR_BUNDLE_WARPS, false);
	fill(before.temp, TSR_TEMPS * TSR_BUNDLE_WARPS, false);
	fill(before.temp, TSR_FIXED__COUNT, true);
	memset(&before.temp[TSR_FIXED_ZERO], 0, sizeof(before.temp[0]));
	memcpy(&interpreted, &before, sizeof(before));
	memcpy(&generated, &before, sizeof(before));
	tsr_jit_forget(jit);
	code = tsr_jit_straight(jit, clause, count, live, warps);
	if (!ktap_ok(code))
		return false;
	tsr_alu_enter(&saved, &piece[0].clause.mode);
	interpret_pieces(&interpreted, count);
	attach(&generated);
	tsr_jit_run(jit, code, &generated.lanes);
	tsr_alu_leave(&saved);
	hide(&interpreted, live, warps);
	hide(&generated, live, warps);
	return same(alu->name, &before, "register", interpreted.reg, generated.reg,
		    TSR_REGISTERS) &&
	       same_temps(alu->name, &interpreted, &generated);
}

static void test_straights(void)
{
	for (unsigned int p = 0; p < 2; p++) {
		const struct tsr_simd *alu;
		struct tsr_jit *jit = open_path(path_names[p], &alu);

		for (unsigned int i = 0; jit && i < CLAUSES; i++) {
			if (!try_straight(jit, alu, 1 + i % PIECES,
					  1 + random_word() % TSR_BUNDLE_WARPS))
				break;
		}
		tsr_jit_free(jit);
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA8] [ISA9] [ISA11] generated code of each operation does what it should",
		 test_operations);
	ktap_run("[ISA5] [ISA6] generated code of whole clauses does what it should",
		 test_clauses);
	ktap_run("[ISA5] [ISA6] generated code of clauses as one piece does what it should",
		 test_straights);
	return ktap_finish();
}
