/* SPDX-License-Identifier: MIT */
#include "shader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/asm.h>
#include "tsr_isa.h"

/* Words of NOP. */
#define FMA_NOP 0x701963
#define ADD_NOP 0x3d964

/* Registers the first clause puts addresses into: pairs from here to R53. */
#define ADDRESSES 48

static const char prologue_text[] =
	"clause {\n"
	"	*SHADDXL.u32 r48:t0, u0.w0, r60, shift:4\n"
	"	+SHADDXH.i32 r49:t1, u0.w1, t\n"
	"	*SHADDXL.u32 r50:t0, u1.w0, r60, shift:2\n"
	"	+SHADDXH.i32 r51:t1, u1.w1, t\n"
	"	*SHADDXL.u32 r52:t0, u2.w0, r60, shift:2\n"
	"	+SHADDXH.i32 r53:t1, u2.w1, t\n"
	"	*NOP\n"
	"}\n";

/* Instructions by what they are. */
enum group {
	GROUP_FMA,			/* anything the FMA unit does on its own */
	GROUP_HALF,			/* FMA halves of pairs */
	GROUP_ADD,			/* anything the ADD unit does on its own */
	GROUP_BRANCH,
	GROUP_MEMORY,			/* messages of loads, stores and atomics */
	GROUP_VIEW,			/* of attributes, images, textures */
	GROUP_BARRIER,
	GROUP_REST,			/* what a compute program cannot do */
	GROUPS
};

static struct {
	uint16_t op[TSR_OP__COUNT];
	unsigned int count;
} groups[GROUPS];

static uint8_t prologue[4 * TSR_CLAUSE_BYTES_MAX];
static size_t prologue_size;

static bool is_branch(const struct tsr_op_info *info)
{
	return !strncmp(info->name, "BRANCH", 6) || !strncmp(info->name, "JUMP", 4);
}

static enum group group_of(const struct tsr_op_info *info)
{
	if (info->semantics != TSR_DEFINED)
		return GROUP_REST;
	if (info->unit == TSR_ISA_FMA)
		return info->pair == TSR_PAIR_NONE ? GROUP_FMA : GROUP_HALF;
	if (is_branch(info))
		return GROUP_BRANCH;
	switch (info->message) {
	case TSR_MESSAGE_NONE:
		return GROUP_ADD;
	case TSR_MESSAGE_LOAD:
	case TSR_MESSAGE_STORE:
	case TSR_MESSAGE_ATOMIC:
		return GROUP_MEMORY;
	case TSR_MESSAGE_ATTRIBUTE:
	case TSR_MESSAGE_TEX:
		return GROUP_VIEW;
	case TSR_MESSAGE_BARRIER:
		return GROUP_BARRIER;
	default:
		return GROUP_REST;
	}
}

static void set_up(void)
{
	struct tsr_asm_shader *program;

	if (prologue_size)
		return;
	for (unsigned int op = 1; op < TSR_OP__COUNT; op++) {
		enum group g;

		if (!tsr_ops[op].num_forms)
			continue;
		g = group_of(&tsr_ops[op]);
		groups[g].op[groups[g].count++] = op;
	}
	if (tsr_asm_assemble(prologue_text, sizeof(prologue_text) - 1, 0, &program) ||
	    program->size > sizeof(prologue)) {
		fprintf(stderr, "shader: the prologue cannot be assembled: %s\n",
			program->num_diagnostics ? program->diagnostics[0].text : "");
		abort();
	}
	memcpy(prologue, program->code, program->size);
	prologue_size = program->size;
	tsr_asm_free(program);
}

/* ---- Tuples ---------------------------------------------------------------------------------- */

/* A clause being made. */
struct making {
	struct fuzz_random *r;
	struct fuzz_shader *shader;
	struct tsr_clause clause;
	struct tsr_const want[TSR_CLAUSE_TUPLES_MAX];	/* constants of the clause */
	uint8_t of[TSR_CLAUSE_TUPLES_MAX];		/* by constant: the tuple that reads it */
	unsigned int wants;
	bool message;			/* the clause sends a message */
	int branch;			/* index in @want of a branch's target; -1: none */
};

static unsigned int legal(const struct making *m, unsigned int reg)
{
	return m->shader->registers_64 || reg < 16 || reg >= 48 ? reg : reg & 15;
}

static unsigned int any_register(struct making *m)
{
	unsigned int reg = fuzz_below(m->r, 64);

	if (m->shader->wild && fuzz_often(m->r, 4))
		return reg;
	return legal(m, fuzz_often(m->r, 100) ? ADDRESSES + reg % 16 : reg);
}

static unsigned int target_register(struct making *m)
{
	return legal(m, fuzz_often(m->r, 10) ? fuzz_below(m->r, 64) : fuzz_below(m->r, 48));
}

/* Choose the tuple's FAU index. Constants are placed later. */
static void choose_fau(struct making *m, unsigned int at)
{
	unsigned int choice = fuzz_below(m->r, 16);
	struct tsr_tuple *t = &m->clause.tuple[at];

	if (choice < 7) {
		t->fau = 0x80 | fuzz_below(m->r, choice < 6 ? 8 : 128);
	} else if (choice < 12) {
		m->of[m->wants] = at;
		m->want[m->wants++] = (struct tsr_const){
			.value = fuzz_any(m->r),
			.pcrel = fuzz_often(m->r, 20) ? fuzz_below(m->r, 4) : TSR_PCREL_NONE,
		};
	} else {
		t->fau = fuzz_below(m->r, m->shader->wild && fuzz_often(m->r, 16) ? 32 : 4);
	}
}

static void choose_ports(struct making *m, unsigned int at)
{
	struct tsr_tuple *t = &m->clause.tuple[at];
	const struct tsr_reg_mode *mode;

	do {
		t->mode = fuzz_below(m->r, 32);
		mode = &tsr_reg_modes[t->mode];
	} while (!mode->valid || !(at ? mode->other : mode->first));
	t->read0 = t->read1 = fuzz_often(m->r, 224);
	for (unsigned int i = 0; i < 4; i++)
		t->port[i] = any_register(m);
	if (fuzz_often(m->r, 80)) {	/* an address */
		t->port[0] = ADDRESSES + 2 * fuzz_below(m->r, 3);
		t->port[1] = t->port[0] + 1;
	}
	if (mode->slot2 >= TSR_PORT_WRITE)
		t->port[2] = target_register(m);
	if (mode->slot3 >= TSR_PORT_WRITE)
		t->port[3] = target_register(m);
	else if (mode->slot3 == TSR_PORT_IDLE)
		t->port[3] = t->port[2];
}

/* A selector that the source may have; false: there is none. */
static bool choose_source(struct making *m, unsigned int at, uint8_t mask, uint8_t *sel)
{
	const struct tsr_tuple *t = &m->clause.tuple[at];

	if (!t->read0)
		mask &= ~(1u << TSR_SELECT_PORT0);
	if (!t->read1)
		mask &= ~(1u << TSR_SELECT_PORT1);
	if (tsr_reg_modes[t->mode].slot2 != TSR_PORT_READ)
		mask &= ~(1u << TSR_SELECT_PORT2);
	if (!at)
		mask &= ~(1u << TSR_SELECT_LAST_FMA | 1u << TSR_SELECT_LAST_ADD);
	if (!mask)
		return false;
	do
		*sel = fuzz_below(m->r, 8);
	while (!(mask >> *sel & 1));
	return true;
}

static void choose_modifiers(struct making *m, const struct tsr_op_info *info,
			     struct tsr_insn *insn)
{
	for (unsigned int i = 0; i < info->num_mods; i++) {
		unsigned int mod = info->mods[i], tries = 8;

		if (info->mod_defaults[i] != TSR_MOD_WRITTEN)
			insn->mod[mod] = info->mod_defaults[i];
		if (info->mod_defaults[i] != TSR_MOD_WRITTEN && fuzz_often(m->r, 100))
			continue;
		do
			insn->mod[mod] = fuzz_below(m->r, 32);
		while (!tsr_mod_value_name(mod, insn->mod[mod]) && --tries);
	}
	for (unsigned int i = 0; i < info->num_imms; i++)
		insn->imm[info->imms[i]] =
			fuzz_below(m->r, fuzz_often(m->r, 200) ? 4 : 32) &
			((1u << info->imm_bits[i]) - 1);
}

/* Memory messages: sources that are an address, an offset, a conversion word. */
static void aim(struct making *m, unsigned int at, struct tsr_insn *insn)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	struct tsr_tuple *t = &m->clause.tuple[at];
	unsigned int seg = insn->mod[TSR_MOD_SEG];

	if (fuzz_often(m->r, m->shader->wild ? 40 : 6))
		return;
	if (seg == TSR_SEG_UBO || seg == TSR_SEG_WLS || seg == TSR_SEG_TL) {
		t->fau = 0x83;
		insn->src[0] = TSR_SELECT_FAU_LO;
		insn->src[1] = TSR_SELECT_FAU_HI;
		return;
	}
	t->read0 = t->read1 = true;
	t->port[0] = ADDRESSES + 2 * (fuzz_often(m->r, 160) ? 0 : fuzz_below(m->r, 3));
	t->port[1] = t->port[0] + 1;
	insn->src[0] = TSR_SELECT_PORT0;
	insn->src[1] = TSR_SELECT_PORT1;
	if (info->num_srcs > 2 && info->message != TSR_MESSAGE_ATOMIC) {
		t->fau = 0x84;
		insn->src[2] = TSR_SELECT_FAU_LO;
	}
}

/* A TEXC has its texture word, most of the time. */
static void aim_view(struct making *m, unsigned int at, struct tsr_insn *insn)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];

	if (insn->op != TSR_OP_ADD_TEXC || fuzz_often(m->r, m->shader->wild ? 40 : 6))
		return;
	m->clause.tuple[at].fau = 0x84;
	insn->src[info->num_srcs - 1] = TSR_SELECT_FAU_HI;
}

/* The constant of tuple @at is gone: its FAU index has become something else. */
static void drop_constant(struct making *m, unsigned int at)
{
	if (m->wants && m->of[m->wants - 1] == at)
		m->wants--;
}

static void aim_branch(struct making *m, unsigned int at, struct tsr_insn *insn)
{
	if (fuzz_often(m->r, 10))
		return;
	drop_constant(m, at);
	m->branch = m->wants;
	m->of[m->wants] = at;
	m->want[m->wants++] = (struct tsr_const){ .value = 0, .pcrel = TSR_PCREL_HI };
	insn->src[tsr_ops[insn->op].num_srcs - 1] = TSR_SELECT_FAU_HI;
}

/* An instruction of @group in tuple @at; @pair: which pair it belongs to. False: try again. */
static bool choose_insn(struct making *m, unsigned int at, enum group group, unsigned int pair,
			struct tsr_insn *insn, uint32_t *word)
{
	const struct tsr_op_info *info;

	memset(insn, 0, sizeof(*insn));
	insn->op = groups[group].op[fuzz_below(m->r, groups[group].count)];
	insn->form = TSR_FORM_ANY;
	info = &tsr_ops[insn->op];
	if (group == GROUP_HALF && info->pair != pair)
		return false;
	if (info->last && at + 1 != m->clause.tuples)
		return false;
	choose_modifiers(m, info, insn);
	for (unsigned int i = 0; i < info->num_srcs; i++) {
		if (!choose_source(m, at, info->src_mask[i], &insn->src[i]))
			return false;
	}
	if (group == GROUP_MEMORY || (group == GROUP_HALF && pair == TSR_PAIR_ATOM))
		aim(m, at, insn);
	if (group == GROUP_VIEW)
		aim_view(m, at, insn);
	if (group == GROUP_BRANCH)
		aim_branch(m, at, insn);
	return tsr_insn_encode(insn, word);
}

static enum group choose_group(struct making *m)
{
	unsigned int n = fuzz_below(m->r, 256);

	if (n < 2 && m->shader->wild)
		return GROUP_REST;
	if (m->message || n < 140)
		return n & 15 ? GROUP_ADD : GROUP_BRANCH;
	if (n < 200)
		return GROUP_MEMORY;
	return n < 235 ? GROUP_VIEW : n < 242 ? GROUP_BARRIER : GROUP_BRANCH;
}

static void choose_words(struct making *m, unsigned int at)
{
	struct tsr_tuple *t = &m->clause.tuple[at];
	unsigned int wants = m->wants, pair = TSR_PAIR_NONE;
	struct tsr_insn fma, add;
	int branch = m->branch;

	t->fma = FMA_NOP;
	t->add = ADD_NOP;
	for (unsigned int tries = 0; tries < 6; tries++) {
		struct tsr_tuple before = *t;

		if (choose_insn(m, at, choose_group(m), 0, &add, &t->add) &&
		    tsr_ops[add.op].unit == TSR_ISA_ADD) {
			pair = tsr_ops[add.op].pair;
			break;
		}
		*t = before;
		m->wants = wants;
		m->branch = branch;
		t->add = ADD_NOP;
		add.op = TSR_OP_ADD_NOP;
	}
	if (tsr_insn_message(&add)) {
		m->message = true;
		m->clause.message = tsr_insn_message(&add);
	}
	for (unsigned int tries = 0; tries < (pair ? 60 : 4); tries++) {
		uint32_t word;

		if (choose_insn(m, at, pair ? GROUP_HALF : GROUP_FMA, pair, &fma, &word)) {
			t->fma = word;
			return;
		}
	}
	if (pair)
		t->add = ADD_NOP;
}

/* ---- Clauses --------------------------------------------------------------------------------- */

static void choose_header(struct making *m, bool last)
{
	struct tsr_clause *c = &m->clause;
	struct fuzz_random *r = m->r;

	c->ftz = fuzz_below(r, 4);
	c->suppress_inf = fuzz_often(r, 32);
	c->suppress_nan = fuzz_often(r, 32);
	c->float_exceptions = fuzz_often(r, 32) ? fuzz_below(r, 4) : 0;
	c->flow = fuzz_often(r, 128) ? TSR_FLOW_NBTB_UNCONDITIONAL : 1 + fuzz_below(r, 7);
	if (last ? !fuzz_often(r, m->shader->wild ? 16 : 0) : fuzz_often(r, 8))
		c->flow = TSR_FLOW_END;
	c->td = fuzz_often(r, 32);
	c->prefetch = fuzz_often(r, 32);
	c->staging_barrier = fuzz_often(r, 64);
	c->staging_reg = fuzz_below(r, m->shader->wild && fuzz_often(r, 16) ? 64 : 8);
	c->wait = fuzz_often(r, 128) ? 0x3f : fuzz_below(r, 256);
	c->slot = fuzz_below(r, fuzz_often(r, 16) ? 8 : 6);
	c->next_message = fuzz_below(r, 16);
}

static void choose_tuples(struct making *m)
{
	struct tsr_clause *c = &m->clause;

	for (unsigned int i = 0; i < c->tuples; i++) {
		choose_fau(m, i);
		choose_ports(m, i);
		if (m->shader->wild && fuzz_often(m->r, 6)) {
			c->tuple[i].fma = fuzz_next(m->r) & 0x7fffff;
			c->tuple[i].add = fuzz_next(m->r) & 0xfffff;
		} else {
			choose_words(m, i);
		}
	}
}

/* Where constants go, and the register blocks; false: they cannot be encoded. */
static bool place(struct making *m)
{
	struct tsr_clause *c = &m->clause;
	uint8_t slot[TSR_CLAUSE_TUPLES_MAX];

	if (tsr_clause_place_consts(c, m->want, m->wants, slot)) {
		m->branch = -1;
		m->wants = 0;
		if (tsr_clause_place_consts(c, m->want, 0, slot))
			return false;
	}
	for (unsigned int i = 0; i < m->wants; i++)
		c->tuple[m->of[i]].fau = tsr_fau_const(slot[i]) | (m->want[i].value & 15);
	if (m->branch >= 0)
		m->branch = slot[m->branch];
	for (unsigned int i = 0; i < c->tuples; i++) {
		struct tsr_tuple *t = &c->tuple[i];

		if (tsr_tuple_regs_encode(t, !i))
			continue;
		t->read0 = t->read1 = true;	/* what can be encoded always */
		if (!tsr_tuple_regs_encode(t, !i))
			return false;
	}
	return true;
}

/* A clause that packs; @m->branch is the slot of the constant that says where it branches to. */
static size_t make_clause(struct making *m, bool last, uint8_t *code)
{
	struct fuzz_random *r = m->r;
	size_t size;

	for (unsigned int tries = 0; tries < 10; tries++) {
		memset(&m->clause, 0, sizeof(m->clause));
		m->wants = 0;
		m->message = false;
		m->branch = -1;
		m->clause.tuples = 1 + (fuzz_often(r, 200) ? fuzz_below(r, 4) : fuzz_below(r, 8));
		choose_header(m, last);
		choose_tuples(m);
		if (place(m) && !tsr_clause_pack(&m->clause, code, &size))
			return size;
	}
	memset(code, 0, TSR_QUAD_BYTES);
	m->branch = -1;
	return TSR_QUAD_BYTES;
}

/* Have the branch of clause @n lead to another one, mostly a later one. */
static void lead(struct fuzz_random *r, struct fuzz_shader *s, const struct making *made,
		 const size_t *offset, unsigned int n, unsigned int count)
{
	struct tsr_clause c = made->clause;
	unsigned int to = fuzz_often(r, 150) ? n + 1 + fuzz_below(r, count - n) :
					       fuzz_below(r, count + 1);
	size_t distance = offset[to] - offset[n], size;
	uint64_t *word = &c.konst[made->branch];
	uint8_t code[TSR_CLAUSE_BYTES_MAX];

	if (to == count)		/* ends the thread */
		return;
	*word = (*word & ~(0xfffffffull << 32)) | (uint64_t)(distance & 0xfffffff) << 32;
	if (!tsr_clause_pack(&c, code, &size))
		memcpy(s->code + offset[n], code, size);
}

static void spoil(struct fuzz_random *r, struct fuzz_shader *s)
{
	unsigned int n = 1 + fuzz_below(r, 8);

	while (n--) {
		size_t at = fuzz_below(r, s->size);

		if (fuzz_often(r, 200))
			s->code[at] ^= 1u << fuzz_below(r, 8);
		else
			s->code[at] = fuzz_below(r, 256);
	}
}

void fuzz_shader(struct fuzz_random *r, struct fuzz_shader *s)
{
	static struct making made[FUZZ_SHADER_CLAUSES];
	unsigned int count = 1 + fuzz_below(r, fuzz_often(r, 220) ? 8 : FUZZ_SHADER_CLAUSES);
	size_t offset[FUZZ_SHADER_CLAUSES + 1];

	set_up();
	memcpy(s->code, prologue, prologue_size);
	s->size = prologue_size;
	for (unsigned int i = 0; i < count; i++) {
		made[i].r = r;
		made[i].shader = s;
		offset[i] = s->size;
		s->size += make_clause(&made[i], i + 1 == count, s->code + s->size);
	}
	offset[count] = s->size;
	for (unsigned int i = 0; i < count; i++) {
		if (made[i].branch >= 0)
			lead(r, s, &made[i], offset, i, count);
	}
	if (s->wild && fuzz_often(r, 128))
		spoil(r, s);
}
