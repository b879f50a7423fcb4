/* SPDX-License-Identifier: MIT */
#include "jit_node.h"

#include <string.h>

void tsr_segment_init(struct tsr_segment *s, bool wide)
{
	s->wide = wide;
	s->clause = NULL;
	s->nodes = 0;
	s->full = false;
	memset(s->reg, -1, sizeof(s->reg));
	memset(s->temp, -1, sizeof(s->temp));
	s->regs_written = 0;
	s->temps_written = 0;
	s->branch = -1;
}

/* A node of @kind; when there is no room for it the segment is useless, and so is the result. */
static struct tsr_node *add(struct tsr_segment *s, enum tsr_node_kind kind, int a, int b, int c)
{
	struct tsr_node *n;

	if (s->nodes == TSR_NODES_MAX) {
		s->full = true;
		s->nodes--;
	}
	n = &s->node[s->nodes++];
	*n = (struct tsr_node){
		.kind = kind,
		.src = { (int16_t)a, (int16_t)b, (int16_t)c },
		.reg = -1,
	};
	return n;
}

static int number(const struct tsr_segment *s, const struct tsr_node *n)
{
	return (int)(n - s->node);
}

int tsr_node_word(struct tsr_segment *s, uint32_t word)
{
	struct tsr_node *n;

	for (unsigned int i = 0; i < s->nodes; i++) {
		if (s->node[i].kind == TSR_NODE_WORD && s->node[i].word == word)
			return (int)i;
	}
	n = add(s, TSR_NODE_WORD, -1, -1, -1);
	n->word = word;
	return number(s, n);
}

static int load(struct tsr_segment *s, struct tsr_operand o)
{
	struct tsr_node *n;

	for (unsigned int i = 0; i < s->nodes; i++) {
		n = &s->node[i];
		if (n->kind == TSR_NODE_LOAD && n->operand.space == o.space &&
		    n->operand.index == o.index)
			return (int)i;
	}
	n = add(s, TSR_NODE_LOAD, -1, -1, -1);
	n->operand = o;
	return number(s, n);
}

/* Where the segment remembers what an operand holds; NULL: it never changes. */
static int16_t *holder(struct tsr_segment *s, struct tsr_operand o)
{
	if (o.space == TSR_LANES_REG)
		return &s->reg[o.index / TSR_BUNDLE_WARPS];
	if (o.space == TSR_LANES_TEMP && o.step)
		return &s->temp[o.index / TSR_BUNDLE_WARPS];
	return NULL;
}

int tsr_node_of(struct tsr_segment *s, struct tsr_operand o)
{
	int16_t *held = holder(s, o);

	if (o.space == TSR_LANES_CLAUSE)
		return tsr_node_word(s, s->clause->konst[o.index].u[0]);
	if (o.space == TSR_LANES_TEMP && !o.step && o.index == TSR_FIXED_ZERO)
		return tsr_node_word(s, 0);
	if (!held)
		return load(s, o);
	if (*held < 0)
		*held = (int16_t)load(s, o);
	return *held;
}

void tsr_node_set(struct tsr_segment *s, struct tsr_operand o, int n)
{
	unsigned int slot = o.index / TSR_BUNDLE_WARPS;

	*holder(s, o) = (int16_t)n;
	if (o.space == TSR_LANES_REG)
		s->regs_written |= (uint64_t)1 << slot;
	else
		s->temps_written |= 1u << slot;
}

int tsr_node_op(struct tsr_segment *s, uint16_t insn, int a, int b)
{
	struct tsr_node *n = add(s, TSR_NODE_OP, a, b, -1);

	n->insn = insn;
	switch (insn) {
	case TSR_X86_ADD_F32:
	case TSR_X86_SUB_F32:
	case TSR_X86_MUL_F32:
	case TSR_X86_DIV_F32:
		n->loose = true;
		break;
	default:
		break;
	}
	n->commutes = insn == TSR_X86_ADD_F32 || insn == TSR_X86_MUL_F32 || insn == TSR_X86_AND ||
		      insn == TSR_X86_OR || insn == TSR_X86_XOR || insn == TSR_X86_ADD_I32 ||
		      insn == TSR_X86_ADD_I16 || insn == TSR_X86_MUL_I32 ||
		      insn == TSR_X86_MIN_U32 || insn == TSR_X86_MAX_U32;
	return number(s, n);
}

int tsr_node_op_imm(struct tsr_segment *s, uint16_t insn, int a, uint8_t imm)
{
	struct tsr_node *n = add(s, TSR_NODE_OP, a, -1, -1);

	n->insn = insn;
	n->constant = true;
	n->imm = imm;
	return number(s, n);
}

int tsr_node_bits(struct tsr_segment *s, int n)
{
	if (!s->node[n].loose)
		return n;
	for (unsigned int i = (unsigned int)n; i < s->nodes; i++) {
		if (s->node[i].kind == TSR_NODE_CANONICAL && s->node[i].src[0] == n)
			return (int)i;
	}
	return number(s, add(s, TSR_NODE_CANONICAL, n, -1, -1));
}

int tsr_node_and(struct tsr_segment *s, int n, uint32_t word)
{
	if (word == ~0u)
		return n;
	if (s->node[n].kind == TSR_NODE_WORD)
		return tsr_node_word(s, s->node[n].word & word);
	return tsr_node_op(s, TSR_X86_AND, n, tsr_node_word(s, word));
}

int tsr_node_xor(struct tsr_segment *s, int n, uint32_t word)
{
	if (!word)
		return n;
	if (s->node[n].kind == TSR_NODE_WORD)
		return tsr_node_word(s, s->node[n].word ^ word);
	return tsr_node_op(s, TSR_X86_XOR, n, tsr_node_word(s, word));
}

static uint32_t shifted(unsigned int how, uint32_t word, unsigned int count)
{
	switch (how) {
	case TSR_X86_SHL:
		return word << count;
	case TSR_X86_SHR:
		return word >> count;
	default:
		return (uint32_t)((int32_t)word >> count);
	}
}

int tsr_node_shift(struct tsr_segment *s, unsigned int how, int n, unsigned int count)
{
	struct tsr_node *to;

	if (!count)
		return n;
	if (s->node[n].kind == TSR_NODE_WORD)
		return tsr_node_word(s, shifted(how, s->node[n].word, count));
	to = add(s, TSR_NODE_SHIFT, n, -1, -1);
	to->insn = (uint16_t)how;
	to->imm = (uint8_t)count;
	return number(s, to);
}

int tsr_node_fma(struct tsr_segment *s, int a, int b, int c, unsigned int signs)
{
	struct tsr_node *n = add(s, TSR_NODE_FMA, a, b, c);

	n->imm = (uint8_t)signs;
	n->loose = true;
	return number(s, n);
}

/* ---- Masks ----------------------------------------------------------------------------------- */

static int compare(struct tsr_segment *s, uint16_t insn, int predicate, int a, int b, bool inverted)
{
	struct tsr_node *n = add(s, TSR_NODE_COMPARE, a, b, -1);

	n->insn = insn;
	n->constant = predicate >= 0;
	n->imm = (uint8_t)predicate;
	n->inverted = inverted;
	return number(s, n);
}

int tsr_node_compare_f32(struct tsr_segment *s, unsigned int predicate, int a, int b)
{
	return compare(s, TSR_X86_CMP_F32, (int)predicate, a, b, false);
}

/* There is "equal", of signed numbers "greater", and the lesser or greater of unsigned ones. */
static int compare_narrow(struct tsr_segment *s, unsigned int predicate, bool is_signed, int a,
			  int b)
{
	const uint16_t eq = TSR_X86_CMP_EQ_I32, gt = TSR_X86_CMP_GT_I32;

	switch (predicate) {
	case TSR_X86_I_EQ:
	case TSR_X86_I_NE:
		return compare(s, eq, -1, a, b, predicate == TSR_X86_I_NE);
	case TSR_X86_I_GT:
	case TSR_X86_I_LE:
		if (is_signed)
			return compare(s, gt, -1, a, b, predicate == TSR_X86_I_LE);
		return compare(s, eq, -1, tsr_node_op(s, TSR_X86_MIN_U32, a, b), a,
			       predicate == TSR_X86_I_GT);
	default:
		if (is_signed)
			return compare(s, gt, -1, b, a, predicate == TSR_X86_I_GE);
		return compare(s, eq, -1, tsr_node_op(s, TSR_X86_MAX_U32, a, b), a,
			       predicate == TSR_X86_I_LT);
	}
}

int tsr_node_compare_i32(struct tsr_segment *s, unsigned int predicate, bool is_signed, int a,
			 int b)
{
	const struct tsr_node *zero = &s->node[b];

	if ((predicate == TSR_X86_I_NE || predicate == TSR_X86_I_EQ) &&
	    zero->kind == TSR_NODE_WORD && !zero->word) {
		int any = tsr_node_any_bits(s, a, ~0u);

		return predicate == TSR_X86_I_NE ? any : tsr_node_not(s, any);
	}
	if (s->wide)
		return compare(s, is_signed ? TSR_X86_CMP_S32 : TSR_X86_CMP_U32, (int)predicate, a,
			       b, false);
	return compare_narrow(s, predicate, is_signed, a, b);
}

int tsr_node_any_bits(struct tsr_segment *s, int n, uint32_t bits)
{
	const struct tsr_node *node = &s->node[n];

	/* what a comparison gave is not examined again */
	if (node->kind == TSR_NODE_COMPARE)
		return n;
	if (node->kind == TSR_NODE_MASKED && s->node[node->src[1]].word & bits)
		return node->src[0];
	if (s->wide)
		return compare(s, TSR_X86_TEST_I32, -1, n, tsr_node_word(s, bits), false);
	return compare(s, TSR_X86_CMP_EQ_I32, -1, tsr_node_and(s, n, bits), tsr_node_word(s, 0),
		       true);
}

int tsr_node_not(struct tsr_segment *s, int mask)
{
	struct tsr_node node = s->node[mask];
	int n = compare(s, node.insn, node.imm, node.src[0], node.src[1], node.inverted);
	struct tsr_node *to = &s->node[n];

	to->constant = node.constant;
	if (!s->wide)
		to->inverted = !node.inverted;
	else if (node.constant)
		to->imm ^= 4;
	else
		to->insn = node.insn == TSR_X86_TEST_I32 ? TSR_X86_TEST_NOT_I32 : TSR_X86_TEST_I32;
	return n;
}

int tsr_node_select(struct tsr_segment *s, int mask, int yes, int no)
{
	return number(s, add(s, TSR_NODE_SELECT, mask, yes, no));
}

int tsr_node_masked(struct tsr_segment *s, int mask, uint32_t word)
{
	int value;

	/* such a mask is a vector already */
	if (word == ~0u && !s->wide && !s->node[mask].inverted)
		return mask;
	value = tsr_node_word(s, word);
	return number(s, add(s, TSR_NODE_MASKED, mask, value, -1));
}

static int lookup_part(struct tsr_segment *s, const uint32_t *part, int index)
{
	struct tsr_node *table = add(s, TSR_NODE_TABLE, -1, -1, -1);

	table->table = part;
	return tsr_node_op(s, TSR_X86_PERMUTE, index, number(s, table));
}

int tsr_node_lookup(struct tsr_segment *s, const uint32_t table[16], int index)
{
	int low;

	if (s->wide)
		return lookup_part(s, table, index);
	low = lookup_part(s, table, index);
	return tsr_node_select(s, tsr_node_any_bits(s, index, 8), lookup_part(s, table + 8, index),
			       low);
}

/* ---- Constants ------------------------------------------------------------------------------- */

/* The place of @vector, whose first two words tell it from all others. */
static int find_vector(struct tsr_pool *pool, const union tsr_lanes *vector)
{
	for (unsigned int i = 0; i < pool->used; i++) {
		if (pool->vector[i].u[0] == vector->u[0] && pool->vector[i].u[1] == vector->u[1])
			return (int)(i * sizeof(*vector));
	}
	if (pool->used == pool->max)
		return -1;
	pool->vector[pool->used] = *vector;
	return (int)(pool->used++ * sizeof(*vector));
}

int tsr_pool_word(struct tsr_pool *pool, uint32_t word)
{
	union tsr_lanes vector;

	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		vector.u[l] = word;
	return find_vector(pool, &vector);
}

int tsr_pool_table(struct tsr_pool *pool, const uint32_t *table, unsigned int lanes)
{
	union tsr_lanes vector = { .u = { 0 } };

	memcpy(vector.u, table, lanes * sizeof(*table));
	return find_vector(pool, &vector);
}
