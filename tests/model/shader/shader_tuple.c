/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Execution inside a clause: random clauses of simple instructions and a pair, all sources, all
 * kinds of constants, all modes of the register block. The rules of isa.md are carried out tuple by
 * tuple. There are few registers, so that every hazard occurs.
 */
#include "ktap.h"
#include "shade.h"

#define REGS 4				/* R0 to R3 */
#define PROGRAMS 120			/* of a machine; code memory has room for them */
#define MACHINES 12
#define CLAUSES 3			/* random ones of a program */

static uint64_t seed = 1;

static unsigned int pick(unsigned int n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 20) % n;
}

static const uint32_t push[4] = { 0x10203, 0xfffffff0, 77, 0x80000001 };

/* ---- A clause -------------------------------------------------------------------------------- */

struct tuple {
	struct tsr_tuple block;		/* mode, ports */
	uint16_t fma, add;
	uint8_t fma_src[3], add_src[2];
	uint8_t shift;			/* of SHADDXL */
	uint32_t fau[2];		/* its words */
};

struct clause {
	struct tuple tuple[8];
	unsigned int tuples;
	uint8_t flow;
};

static const uint16_t fma_ops[] = { TSR_OP_FMA_NOP, TSR_OP_FMA_MOV_I32, TSR_OP_FMA_IADDC_I32,
				    TSR_OP_FMA_IMUL_I32, TSR_OP_FMA_SHADDXL_I64 };
static const uint16_t add_ops[] = { TSR_OP_ADD_NOP, TSR_OP_ADD_MOV_I32, TSR_OP_ADD_IADD_S32,
				    TSR_OP_ADD_ISUB_S32 };

/* A tuple's instructions; they may be a pair, whose ADD half has the sources of both. */
static void random_instructions(struct tuple *t)
{
	t->fma = fma_ops[pick(5)];
	t->add = add_ops[pick(4)];
	t->shift = pick(8);
	if (t->fma == TSR_OP_FMA_SHADDXL_I64 && pick(4))
		t->add = TSR_OP_ADD_SHADDXH_I32;
}

static uint8_t random_source(const struct tuple *t, const struct tsr_op_info *info, unsigned int i,
			     bool first)
{
	for (;;) {
		unsigned int sel = pick(8);

		if (!(info->src_mask[i] >> sel & 1) || (first && sel >= TSR_SELECT_LAST_FMA) ||
		    (sel == TSR_SELECT_PORT0 && !t->block.read0) ||
		    (sel == TSR_SELECT_PORT1 && !t->block.read1) ||
		    (sel == TSR_SELECT_PORT2 &&
		     tsr_reg_modes[t->block.mode].slot2 != TSR_PORT_READ))
			continue;
		return sel;
	}
}

static void random_block(struct tuple *t, bool first)
{
	struct tsr_tuple *b = &t->block;

	do {
		memset(b, 0, sizeof(*b));
		do {
			b->mode = pick(32);
		} while (!tsr_reg_modes[b->mode].valid ||
			 !(first ? tsr_reg_modes[b->mode].first : tsr_reg_modes[b->mode].other));
		b->read0 = pick(4);
		b->read1 = pick(4);
		for (unsigned int i = 0; i < 4; i++)
			b->port[i] = pick(REGS);
		if (!b->read0)
			b->port[0] = 0;
		if (!b->read1)
			b->port[1] = 0;
		/* two whole results for one register: each writes half of what? Not here. */
		if (tsr_reg_modes[b->mode].slot2 >= TSR_PORT_WRITE &&
		    tsr_reg_modes[b->mode].slot3 >= TSR_PORT_WRITE && b->port[2] == b->port[3] &&
		    b->mode != 24 && b->mode != 26)
			b->port[3] = (b->port[2] + 1) % REGS;
	} while (!tsr_tuple_regs_encode(b, first));
	/* what was encoded is what counts */
	tsr_tuple_regs_decode(b, first);
}

static uint64_t any_word(void)
{
	return (uint64_t)pick(1 << 16) << 48 | (uint64_t)pick(1 << 24) << 24 | pick(1 << 24);
}

/* The words of a constant of the clause at @pc. */
static void words_of(const struct tsr_const *k, uint64_t pc, uint32_t word[2])
{
	/* the four bits on top of what is signed do not count */
	const int64_t whole = (int64_t)(k->value << 4) >> 4;
	const int32_t low = (int32_t)((uint32_t)k->value << 4) >> 4;
	const int32_t high = (int32_t)((uint32_t)(k->value >> 32) << 4) >> 4;

	word[0] = (uint32_t)k->value;
	word[1] = (uint32_t)(k->value >> 32);
	if (k->pcrel == TSR_PCREL_LO) {
		word[0] = (uint32_t)(pc + whole);
		word[1] = (uint32_t)((pc + whole) >> 32);
	}
	if (k->pcrel == TSR_PCREL_LO_HI)
		word[0] = (uint32_t)pc + low;
	if (k->pcrel == TSR_PCREL_HI || k->pcrel == TSR_PCREL_LO_HI)
		word[1] = (uint32_t)pc + high;
}

/* Constants of the tuples that want some; @slot: where in @code they have gone. */
static void place_constants(struct tsr_clause *code, struct tsr_const *konst, unsigned int n,
			    uint8_t *slot)
{
	if (!tsr_clause_place_consts(code, konst, n, slot))
		return;
	/* not all are possible together */
	for (unsigned int i = 0; i < n; i++)
		konst[i].pcrel = TSR_PCREL_NONE;
	if (tsr_clause_place_consts(code, konst, n, slot))
		abort();
}

/* A clause that will be at @pc. */
static void random_clause(struct clause *c, struct tsr_clause *code, uint64_t pc)
{
	struct tsr_const konst[8] = { { 0 } };
	uint8_t slot[8];
	unsigned int n = 0, owner[8];

	c->tuples = 1 + pick(8);
	c->flow = TSR_FLOW_NBTB_UNCONDITIONAL + pick(6);
	memset(code, 0, sizeof(*code));
	code->tuples = c->tuples;
	code->flow = c->flow;
	for (unsigned int i = 0; i < c->tuples; i++) {
		struct tuple *t = &c->tuple[i];
		unsigned int kind = pick(3);

		random_block(t, !i);
		random_instructions(t);
		for (unsigned int s = 0; s < tsr_ops[t->fma].num_srcs; s++)
			t->fma_src[s] = random_source(t, &tsr_ops[t->fma], s, !i);
		for (unsigned int s = 0; s < tsr_ops[t->add].num_srcs; s++)
			t->add_src[s] = random_source(t, &tsr_ops[t->add], s, !i);
		if (kind == 0 && n < 3) {
			konst[n].value = any_word();
			konst[n].pcrel = pick(2) ? pick(4) : TSR_PCREL_NONE;
			owner[n++] = i;
		} else {
			unsigned int pair = pick(2);

			t->block.fau = 0x80 | pair;
			t->fau[0] = push[2 * pair];
			t->fau[1] = push[2 * pair + 1];
		}
	}
	place_constants(code, konst, n, slot);
	for (unsigned int i = 0; i < n; i++) {
		words_of(&konst[i], pc, c->tuple[owner[i]].fau);
		c->tuple[owner[i]].block.fau = tsr_fau_const(slot[i]) | (konst[i].value & 15);
	}
}

static uint32_t word(uint16_t op, const uint8_t *src, unsigned int shift)
{
	struct tsr_insn insn = { .op = op, .form = TSR_FORM_ANY };
	uint32_t code;

	memcpy(insn.src, src, tsr_ops[op].num_srcs);
	if (op == TSR_OP_FMA_SHADDXL_I64)
		insn.imm[TSR_IMM_SHIFT] = shift;
	if (!tsr_insn_encode(&insn, &code))
		abort();
	return code;
}

static void append(struct shade_code *to, const struct clause *c, struct tsr_clause *code)
{
	size_t len;

	for (unsigned int i = 0; i < c->tuples; i++) {
		const struct tuple *t = &c->tuple[i];
		struct tsr_tuple *out = &code->tuple[i];

		*out = t->block;
		out->fma = word(t->fma, t->fma_src, t->shift);
		out->add = word(t->add, t->add_src, 0);
		if (!tsr_tuple_regs_encode(out, !i))
			abort();
	}
	if (tsr_clause_pack(code, to->bytes + to->size, &len))
		abort();
	to->size += len;
}

/* ---- The rules ------------------------------------------------------------------------------- */

static uint32_t compute(uint16_t op, const uint32_t *a)
{
	switch (op) {
	case TSR_OP_FMA_MOV_I32:
	case TSR_OP_ADD_MOV_I32:
		return a[0];
	case TSR_OP_FMA_IADDC_I32:
		return a[0] + a[1] + (a[2] & 1);
	case TSR_OP_FMA_IMUL_I32:
		return a[0] * a[1];
	case TSR_OP_ADD_IADD_S32:
		return a[0] + a[1];
	case TSR_OP_ADD_ISUB_S32:
		return a[0] - a[1];
	default:
		return 0;
	}
}

/* The results of a tuple's instructions, whose sources have these values. */
static void run_tuple(const struct tuple *t, uint32_t value[8], uint32_t result[2])
{
	uint32_t a[3], b[2];
	uint64_t sum;

	for (unsigned int s = 0; s < 3; s++)
		a[s] = value[t->fma_src[s] & 7];
	result[0] = compute(t->fma, a);
	if (t->fma == TSR_OP_FMA_SHADDXL_I64)
		result[0] = a[0] + (a[1] << t->shift);
	value[TSR_SELECT_STAGE] = result[0];
	for (unsigned int s = 0; s < 2; s++)
		b[s] = value[t->add_src[s] & 7];
	result[1] = compute(t->add, b);
	sum = ((uint64_t)b[0] << 32 | a[0]) + (((uint64_t)b[1] << 32 | a[1]) << t->shift);
	if (t->add == TSR_OP_ADD_SHADDXH_I32)
		result[1] = (uint32_t)(sum >> 32);
}

static void write_half(uint32_t *reg, uint8_t action, uint32_t value)
{
	switch (action) {
	case TSR_PORT_WRITE:
		*reg = value;
		break;
	case TSR_PORT_WRITE_LO:
		*reg = (*reg & 0xffff0000) | (value & 0xffff);
		break;
	case TSR_PORT_WRITE_HI:
		*reg = (*reg & 0xffff) | value << 16;
		break;
	default:
		break;
	}
}

/* The results of a tuple go where @block says. */
static void land(uint32_t *reg, const struct tsr_tuple *block, const uint32_t result[2], bool elide)
{
	const struct tsr_reg_mode *mode = &tsr_reg_modes[block->mode];

	if (mode->slot2 >= TSR_PORT_WRITE)
		write_half(&reg[block->port[2]], mode->slot2, result[0]);
	if (mode->slot3 >= TSR_PORT_WRITE && !elide)
		write_half(&reg[block->port[3]], mode->slot3, result[mode->slot3_from]);
}

static void interpret(const struct clause *c, uint32_t *reg)
{
	uint32_t last[2] = { 0 }, result[2] = { 0 };
	bool elide = c->flow == TSR_FLOW_WE || c->flow == TSR_FLOW_WE_UNCONDITIONAL;

	for (unsigned int i = 0; i < c->tuples; i++) {
		const struct tuple *t = &c->tuple[i];
		uint32_t value[8] = { reg[t->block.port[0]], reg[t->block.port[1]],
				      reg[t->block.port[2]], 0, t->fau[0], t->fau[1], last[0],
				      last[1] };

		if (i)		/* the reads have seen the registers before this */
			land(reg, &t->block, last, false);
		run_tuple(t, value, result);
		memcpy(last, result, sizeof(last));
	}
	land(reg, &c->tuple[0].block, result, elide);
}

/* ---- The device ------------------------------------------------------------------------------ */

/* R0 to R3 from the thread's number, at the start; stored at 16 bytes each, in the end. */
static const char start[] =
	"clause {\n"
	"	*IMUL.i32 r0, r60, 0x10001\n"
	"	+IADD.s32 t1, r60, 0x77770000\n"
	"	*MOV.i32 r1, t1\n"
	"	*IMUL.i32 r2, r60, 0x7fffffff\n"
	"	*IMUL.i32 r3, r60, 0x12345\n"
	"}\n";
static const char finish[] =
	"clause end message=store slot=0 {\n"
	"	*SHADDXL.u32 t0, u3.w0, r60, shift:4\n"
	"	+SHADDXH.i32 t1, u3.w1, t\n"
	"	+STORE.i128 t0, t1, @r0\n"
	"}\n";

static void first_registers(unsigned int t, uint32_t *reg)
{
	reg[0] = t * 0x10001u;
	reg[1] = t + 0x77770000u;
	reg[2] = t * 0x7fffffffu;
	reg[3] = t * 0x12345u;
}

static bool same_registers(struct shade_machine *m, const struct clause *c, unsigned int program)
{
	for (unsigned int t = 0; t < 16; t++) {
		uint32_t reg[REGS];

		first_registers(t, reg);
		for (unsigned int i = 0; i < CLAUSES; i++)
			interpret(&c[i], reg);
		for (unsigned int r = 0; r < REGS; r++) {
			uint32_t got = *stage_word32(&m->s, 0x1000 * program + 16 * t + 4 * r);

			if (got == reg[r])
				continue;
			ktap_fail("program %u, thread %u: R%u is %#x, should be %#x", program, t, r,
				  got, reg[r]);
			return false;
		}
	}
	return true;
}

static void one_machine(void)
{
	static struct clause c[PROGRAMS][CLAUSES];
	static struct shade_code code;
	struct tsr_config config = { 0 };
	struct shade_machine m;
	struct shade_dispatch d = { .code = &code };

	shade_init(&m, &config);
	memset(&code, 0, sizeof(code));
	memcpy(d.push, push, sizeof(push));
	d.state.local_x = 16;
	d.state.push = SHADE_PUSH;
	d.state.push_words = 8;
	for (unsigned int p = 0; p < PROGRAMS; p++) {
		struct stage_stream stream = stage_stream(&m.s, 0x100 * (p % 64));
		struct tsr_clause packed;

		d.state.code = SHADE_CODE + code.size;
		shade_text(&code, start);
		for (unsigned int i = 0; i < CLAUSES; i++) {
			random_clause(&c[p][i], &packed, SHADE_CODE + code.size);
			append(&code, &c[p][i], &packed);
		}
		shade_text(&code, finish);
		shade_push64(d.push, 3, STAGE_DATA + 0x1000 * p);
		shade_add(&stream, &d);
		stage_call(&m.q, &stream);
		bench_kick(&m.q);
		if (!ktap_ok(bench_run(m.s.b, 10)) ||
		    !ktap_eq(bench_fault(&m.q), TSR_FAULT_NONE) || !same_registers(&m, c[p], p))
			break;
	}
	shade_free(&m);
}

static void random_clauses(void)
{
	for (unsigned int i = 0; i < MACHINES; i++)
		one_machine();
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA5] [ISA6] [ISA7] random clauses follow the rules of tuples", random_clauses);
	return ktap_finish();
}
