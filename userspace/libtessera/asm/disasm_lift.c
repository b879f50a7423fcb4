// SPDX-License-Identifier: MIT
/*
 * Code to text form. What the assembler would choose by itself is left out: a form is tried, put
 * through the assembler's own functions, compared with the code, and made more explicit where it
 * differs.
 */
#include <string.h>

#include "disasm.h"

/* How constants are written. */
enum level {
	LEVEL_INLINE,		/* words in the instructions, nothing declared */
	LEVEL_DECLARED,		/* declared with labels, words in the instructions */
	LEVEL_RAW,		/* declared as bits, named in the instructions */
	LEVELS
};

struct lift {
	const struct disasm_map *map;
	const struct tsr_clause *code;
	size_t offset;
	enum level level;
	struct ir_clause *ir;
};

int64_t disasm_target(const struct disasm_map *map, const struct tsr_clause *clause,
		      unsigned int konst, size_t offset)
{
	int64_t target;

	if (clause->pcrel[konst] != TSR_PCREL_HI)
		return -1;
	target = (int64_t)offset + asm_clause_distance(clause, konst);
	if (target < 0 || target >= (int64_t)map->size || target % TSR_QUAD_BYTES ||
	    !(map->start[target / TSR_QUAD_BYTES] & DISASM_START))
		return -1;
	return target;
}

/* -- operands -------------------------------------------------------------------------------- */

static bool port_reads(const struct tsr_tuple *tuple, unsigned int port)
{
	if (port == 2)
		return tsr_reg_modes[tuple->mode].slot2 == TSR_PORT_READ;
	return port ? tuple->read1 : tuple->read0;
}

static void lift_const(const struct lift *l, unsigned int fau, struct ir_operand *src)
{
	unsigned int k = (unsigned int)tsr_fau_const_index(fau);
	uint64_t value = l->code->konst[k] | (fau & 15);
	unsigned int pcrel = l->code->pcrel[k];
	int64_t target = disasm_target(l->map, l->code, k, l->offset);

	src->kind = IR_CONST;
	src->index = (uint8_t)k;
	if (l->level == LEVEL_RAW)
		return;
	if (pcrel == TSR_PCREL_NONE || (pcrel == TSR_PCREL_HI && !src->half)) {
		src->kind = IR_WORD;
		src->word = (uint32_t)(value >> 32 * src->half);
	} else if (pcrel == TSR_PCREL_HI && target >= 0) {
		src->kind = IR_LABEL;
		src->label = (uint32_t)target;
	}
}

static void lift_source(const struct lift *l, const struct tsr_tuple *tuple, unsigned int select,
			struct ir_operand *src)
{
	*src = (struct ir_operand){ .port = -1 };
	switch (select) {
	case TSR_SELECT_STAGE:
		src->kind = IR_STAGE;
		break;
	case TSR_SELECT_LAST_FMA:
		src->kind = IR_LAST_FMA;
		break;
	case TSR_SELECT_LAST_ADD:
		src->kind = IR_LAST_ADD;
		break;
	case TSR_SELECT_FAU_LO:
	case TSR_SELECT_FAU_HI:
		src->half = select == TSR_SELECT_FAU_HI;
		src->kind = IR_FAU;
		src->index = tuple->fau;
		if (tsr_fau_is_const(tuple->fau) &&
		    tsr_fau_const_index(tuple->fau) < l->code->consts)
			lift_const(l, tuple->fau, src);
		break;
	default:
		src->kind = port_reads(tuple, select) ? IR_REG : IR_PORT;
		src->index = src->kind == IR_REG ? tuple->port[select] : (uint8_t)select;
		break;
	}
}

static void lift_insn(const struct lift *l, unsigned int at, unsigned int unit)
{
	const struct tsr_tuple *tuple = &l->code->tuple[at];
	struct ir_insn *ir = &l->ir->tuple[at].insn[unit];
	unsigned int i;

	ir_insn_init(ir, unit);
	ir->present = true;
	ir->word = unit == TSR_ISA_FMA ? tuple->fma : tuple->add;
	if (!tsr_insn_decode(unit, ir->word, &ir->insn)) {
		ir->raw = true;
		return;
	}
	for (i = 0; i < tsr_ops[ir->insn.op].num_srcs; i++)
		lift_source(l, tuple, ir->insn.src[i], &ir->src[i]);
	ir->insn.form = TSR_FORM_ANY;
	if (tsr_ops[ir->insn.op].staging != TSR_STAGING_NONE)
		ir->staging = (int8_t)l->code->staging_reg;
}

/* Where results go, from the block that writes them. */
static void lift_dests(const struct lift *l, unsigned int at)
{
	unsigned int next = at + 1 < l->code->tuples ? at + 1 : 0;
	const struct tsr_tuple *block = &l->code->tuple[next];
	const struct tsr_reg_mode *mode = &tsr_reg_modes[block->mode];
	struct ir_dest *dest;

	if (!mode->valid || !(next ? mode->other : mode->first))
		return;
	if (mode->slot2 >= TSR_PORT_WRITE) {
		dest = &l->ir->tuple[at].insn[TSR_ISA_FMA].dest;
		dest->reg = (int8_t)block->port[2];
		dest->action = mode->slot2;
	}
	if (mode->slot3 >= TSR_PORT_WRITE) {
		dest = &l->ir->tuple[at].insn[mode->slot3_from].dest;
		dest->reg = (int8_t)block->port[3];
		dest->action = mode->slot3;
	}
}

/* -- constants ------------------------------------------------------------------------------- */

static void declare(const struct lift *l, unsigned int k)
{
	struct ir_const *c = &l->ir->konst[k];
	int64_t target = disasm_target(l->map, l->code, k, l->offset);
	unsigned int i;

	c->given = true;
	c->value = l->code->konst[k];
	c->pcrel = l->code->pcrel[k];
	for (i = 0; i < l->code->tuples; i++) {
		if (tsr_fau_const_index(l->code->tuple[i].fau) == (int)k) {
			c->value |= l->code->tuple[i].fau & 15;
			break;
		}
	}
	if (l->level == LEVEL_DECLARED && target >= 0) {
		c->is_label = true;
		c->label = (uint32_t)target;
		c->value = (uint32_t)c->value;
	}
}

/* Are the constants the assembler placed those of the code? */
static bool same_consts(const struct lift *l, struct tsr_clause *out, const uint32_t *label)
{
	unsigned int i;

	for (i = 0; i < TSR_CLAUSE_CONSTS_MAX; i++) {
		if (label[i] != IR_NO_LABEL)
			asm_clause_link(out, i, (int64_t)label[i] - (int64_t)l->offset);
	}
	return out->consts == l->code->consts && out->single_m == l->code->single_m &&
	       !memcmp(out->konst, l->code->konst, sizeof(out->konst[0]) * out->consts) &&
	       !memcmp(out->pcrel, l->code->pcrel, out->consts);
}

/* Does every operand of the tuple find its word in the entry and half where the code has it? */
static bool same_halves(const struct lift *l, unsigned int at, const struct tsr_tuple *out)
{
	const struct tsr_tuple *tuple = &l->code->tuple[at];
	unsigned int unit, i;
	bool reads = false;

	for (unit = 0; unit < 2; unit++) {
		const struct ir_insn *ir = &l->ir->tuple[at].insn[unit];

		for (i = 0; i < 4; i++) {
			const struct ir_operand *src = &ir->src[i];
			unsigned int select = TSR_SELECT_FAU_LO + src->half;

			if (src->kind < IR_FAU)
				continue;
			reads = true;
			if (ir->insn.src[i] != select)
				return false;
		}
	}
	if (!reads || !tsr_fau_is_const(tuple->fau))
		return true;
	return (out->fau ^ tuple->fau) >> 4 == 0;
}

/* Say fau= where the operands do not. */
static void lift_fau(const struct lift *l, unsigned int at, struct tsr_tuple *out)
{
	struct ir_block *block = &l->ir->tuple[at].block;
	uint8_t fau = l->code->tuple[at].fau;

	if (out->fau == fau)
		return;
	block->fau_given = true;
	block->fau = fau;
	if (tsr_fau_is_const(fau)) {
		block->fau_const = (int8_t)tsr_fau_const_index(fau);
		block->fau_nibble = fau & 15;
	}
	out->fau = fau;
}

/* -- ports and words ------------------------------------------------------------------------- */

/* Write the register block out. */
static void lift_block(const struct lift *l, unsigned int at)
{
	struct ir_block *block = &l->ir->tuple[at].block;
	const struct tsr_tuple *tuple = &l->code->tuple[at];
	struct tsr_tuple again = *tuple;
	unsigned int unit, i, port;

	block->ports_given = true;
	memcpy(block->port, tuple->port, sizeof(block->port));
	block->read0 = tuple->read0;
	block->read1 = tuple->read1;
	block->mode = tuple->mode;
	block->regs = tuple->regs;
	block->raw = !tsr_tuple_regs_encode(&again, at == 0) || again.regs != tuple->regs;
	for (unit = 0; unit < 2; unit++) {
		struct ir_insn *ir = &l->ir->tuple[at].insn[unit];

		for (i = 0; i < 4; i++) {
			if (ir->src[i].kind != IR_REG)
				continue;
			for (port = 0; port < ir->insn.src[i]; port++) {
				if (port_reads(tuple, port) &&
				    tuple->port[port] == ir->src[i].index)
					ir->src[i].port = (int8_t)ir->insn.src[i];
			}
		}
	}
}

static bool same_tuple(const struct tsr_tuple *a, const struct tsr_tuple *b)
{
	return a->regs == b->regs && a->fma == b->fma && a->add == b->add;
}

/*
 * Make one tuple explicit enough; false when nothing helps. Instructions need nothing: no two words
 * of a unit have the same text.
 */
static bool lift_tuple(const struct lift *l, unsigned int at, struct tsr_tuple *out)
{
	const struct tsr_tuple *want = &l->code->tuple[at];

	if (asm_ports_place(l->ir, at, out, NULL) && same_tuple(out, want))
		return true;
	if (l->ir->tuple[at].block.ports_given)
		return false;
	lift_block(l, at);
	return asm_ports_place(l->ir, at, out, NULL) && same_tuple(out, want);
}

/* -- clauses --------------------------------------------------------------------------------- */

static void lift_header(const struct lift *l, unsigned int next)
{
	struct ir_clause *ir = l->ir;
	struct tsr_insn fma[TSR_CLAUSE_TUPLES_MAX], add[TSR_CLAUSE_TUPLES_MAX];
	unsigned int i;
	bool staging = false;

	ir->head = *l->code;
	memset(ir->head.tuple, 0, sizeof(ir->head.tuple));
	memset(ir->head.konst, 0, sizeof(ir->head.konst));
	memset(ir->head.pcrel, 0, sizeof(ir->head.pcrel));
	ir->head.consts = ir->head.single_m = 0;
	ir->tuples = l->code->tuples;
	ir->unchecked = tsr_clause_check(l->code, fma, add) != TSR_ISA_OK;
	ir->message_given = true;
	ir->next_given = l->code->next_message != next;
	for (i = 0; i < 2u * ir->tuples; i++)
		staging |= ir->tuple[i / 2].insn[i % 2].staging >= 0;
	ir->staging_given = !staging && l->code->staging_reg;
}

static bool try_level(struct lift *l, unsigned int next, bool explicit_form)
{
	uint32_t label[TSR_CLAUSE_CONSTS_MAX];
	struct tsr_clause out;
	unsigned int i;

	ir_clause_init(l->ir, (struct asm_pos){ 0, 0 });
	for (i = 0; i < l->code->tuples; i++) {
		lift_insn(l, i, TSR_ISA_FMA);
		lift_insn(l, i, TSR_ISA_ADD);
		lift_dests(l, i);
	}
	lift_header(l, next);
	if (l->level != LEVEL_INLINE) {
		for (i = 0; i < l->code->consts; i++)
			declare(l, i);
		l->ir->consts_given = l->code->consts;
		l->ir->single_given = l->level == LEVEL_RAW && l->code->single_m;
		l->ir->single_m = l->code->single_m;
	}
	out = l->ir->head;
	out.tuples = l->ir->tuples;
	if (!asm_consts_place(l->ir, &out, label, NULL) || !same_consts(l, &out, label))
		return false;
	for (i = 0; i < l->code->tuples; i++) {
		if (!same_halves(l, i, &out.tuple[i]))
			return false;
		lift_fau(l, i, &out.tuple[i]);
		if (explicit_form)
			lift_block(l, i);
		if (!lift_tuple(l, i, &out.tuple[i]))
			return false;
	}
	return true;
}

bool disasm_lift(const struct disasm_map *map, const struct tsr_clause *clause, size_t offset,
		 unsigned int next, bool explicit_form, struct ir_clause *ir)
{
	struct lift l = { .map = map, .code = clause, .offset = offset, .ir = ir };

	for (l.level = explicit_form ? LEVEL_DECLARED : LEVEL_INLINE; l.level < LEVELS; l.level++) {
		if (try_level(&l, next, explicit_form))
			return true;
	}
	return false;
}
