/* SPDX-License-Identifier: MIT */
/*
 * Micro-operations as nodes: the templates of generated code. Each must give the bits that the
 * function in alu_*.h which the micro-operation has gives; what has no template is called.
 */
#include "shader/branch.h"
#include "alu/float_ops.h"
#include "jit_node.h"
#include "shader/moves.h"

#define SIGN 0x80000000u

typedef bool template(struct tsr_segment *s, const struct tsr_uop *uop);

/* Source @i for something that sees its bits. */
static int bits(struct tsr_segment *s, const struct tsr_uop *uop, unsigned int i)
{
	return tsr_node_bits(s, tsr_node_of(s, uop->src[i]));
}

static int pair_bits(struct tsr_segment *s, const struct tsr_uop *uop, unsigned int i)
{
	return tsr_node_bits(s, tsr_node_of(s, uop->pair[i]));
}

/* Source @i for arithmetic, which sees no bits of NaNs; its absolute value and negation. */
static int number(struct tsr_segment *s, const struct tsr_uop *uop, unsigned int i)
{
	int n = tsr_node_and(s, tsr_node_of(s, uop->src[i]), uop->keep[i]);

	return tsr_node_xor(s, n, uop->flip[i]);
}

static bool set(struct tsr_segment *s, const struct tsr_uop *uop, int n)
{
	tsr_node_set(s, uop->dst, n);
	return true;
}

/* ---- Floating point -------------------------------------------------------------------------- */

/* True if the function of @uop is a vector function without another rounding mode. */
static bool usual(const struct tsr_uop *uop)
{
	return uop->fn != tsr_float_lanes && !uop->inner;
}

/* MAX and MIN give their second source, the bound, for NaN. */
static int clamped(struct tsr_segment *s, const struct tsr_uop *uop, int n)
{
	const uint32_t one = TSR_F32_ONE;

	switch (uop->insn->mod[TSR_MOD_CLAMP]) {
	case TSR_CLAMP_CLAMP_0_INF:
		return tsr_node_op(s, TSR_X86_MAX_F32, n, tsr_node_word(s, 0));
	case TSR_CLAMP_CLAMP_M1_1:
		n = tsr_node_op(s, TSR_X86_MAX_F32, n, tsr_node_word(s, one | SIGN));
		return tsr_node_op(s, TSR_X86_MIN_F32, n, tsr_node_word(s, one));
	case TSR_CLAMP_CLAMP_0_1:
		n = tsr_node_op(s, TSR_X86_MAX_F32, n, tsr_node_word(s, 0));
		return tsr_node_op(s, TSR_X86_MIN_F32, n, tsr_node_word(s, one));
	default:
		return n;
	}
}

static bool widens(const struct tsr_uop *uop)
{
	return uop->insn->mod[TSR_MOD_WIDEN0] || uop->insn->mod[TSR_MOD_WIDEN1];
}

/* Negations are in the instruction: of the product, and of what is added. */
static bool add_fma(struct tsr_segment *s, const struct tsr_uop *uop)
{
	unsigned int signs = (uop->flip[0] ^ uop->flip[1] ? 4 : 0) | (uop->flip[2] ? 2 : 0);
	int n[3];

	if (!usual(uop) || widens(uop))
		return false;
	for (unsigned int i = 0; i < 3; i++)
		n[i] = tsr_node_and(s, tsr_node_of(s, uop->src[i]), uop->keep[i]);
	return set(s, uop, clamped(s, uop, tsr_node_fma(s, n[0], n[1], n[2], signs)));
}

/* True if node @n is a power of two of any sign; its exponent. */
static bool power_of_two(const struct tsr_segment *s, int n, int32_t *exponent)
{
	const struct tsr_node *node = &s->node[n];

	*exponent = (int32_t)(node->word >> 23 & 0xff) - 127;
	return node->kind == TSR_NODE_WORD && !(node->word & 0x7fffff) && *exponent >= -126 &&
	       *exponent <= 127;
}

/*
 * A product that is scaled, with nothing added. If a factor and the scale are powers of two, it is
 * one multiplication, which rounds as the scaling would. Of a square one factor is scaled: where
 * that has no room for it, the result has none either.
 */
static bool add_rscale(struct tsr_segment *s, const struct tsr_uop *uop)
{
	const struct tsr_node *node = s->node;
	int a, b, c, d;
	int32_t exponent;

	if (!usual(uop) || uop->src[2].step || uop->src[3].step)
		return false;
	c = number(s, uop, 2);
	d = tsr_node_of(s, uop->src[3]);
	if (node[c].kind != TSR_NODE_WORD || node[c].word != SIGN ||
	    node[d].kind != TSR_NODE_WORD || node[d].word + 512 > 1024)
		return false;
	a = number(s, uop, 0);
	b = number(s, uop, 1);
	if (a == b && node[a].kind != TSR_NODE_WORD) {
		if (node[d].word + 64 > 128)
			return false;
		c = tsr_node_word(s, (node[d].word + 127) << 23);
		b = tsr_node_op(s, TSR_X86_MUL_F32, a, c);
		return set(s, uop, clamped(s, uop, tsr_node_op(s, TSR_X86_MUL_F32, b, a)));
	}
	if (power_of_two(s, a, &exponent)) {
		c = a;
		a = b;
		b = c;
	}
	if (!power_of_two(s, b, &exponent))
		return false;
	exponent += (int32_t)node[d].word;
	if (exponent < -126 || exponent > 127)
		return false;
	b = tsr_node_word(s, (node[b].word & SIGN) | (uint32_t)(exponent + 127) << 23);
	return set(s, uop, clamped(s, uop, tsr_node_op(s, TSR_X86_MUL_F32, a, b)));
}

static bool add_add(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int a, b;

	if (!usual(uop) || widens(uop))
		return false;
	a = tsr_node_and(s, tsr_node_of(s, uop->src[0]), uop->keep[0]);
	b = tsr_node_and(s, tsr_node_of(s, uop->src[1]), uop->keep[1]);
	if (uop->flip[0] && uop->flip[1])
		a = tsr_node_xor(s, a, SIGN);
	if (uop->flip[1])
		a = tsr_node_op(s, TSR_X86_SUB_F32, a, b);
	else if (uop->flip[0])
		a = tsr_node_op(s, TSR_X86_SUB_F32, b, a);
	else
		a = tsr_node_op(s, TSR_X86_ADD_F32, a, b);
	return set(s, uop, clamped(s, uop, a));
}

/* The host's MAX and MIN give their second source if one is NaN or both are zeros. */
static int extreme(struct tsr_segment *s, bool max, unsigned int sem, int a, int b)
{
	int m, unordered, equal;

	if (sem == TSR_SEM_C || sem == TSR_SEM_INVERSE_C) {
		bool greater = max == (sem == TSR_SEM_C);
		int first = tsr_node_compare_f32(s, greater ? TSR_X86_F_GT : TSR_X86_F_LT, a, b);

		return sem == TSR_SEM_C ? tsr_node_select(s, first, a, b) :
					  tsr_node_select(s, first, b, a);
	}
	m = tsr_node_op(s, max ? TSR_X86_MAX_F32 : TSR_X86_MIN_F32, a, b);
	unordered = tsr_node_compare_f32(s, TSR_X86_F_UNORDERED, b, b);
	m = tsr_node_select(s, unordered, a, m);
	equal = tsr_node_compare_f32(s, TSR_X86_F_EQ, a, b);
	m = tsr_node_select(s, equal,
			    tsr_node_op(s, max ? TSR_X86_AND : TSR_X86_OR, a, b), m);
	if (sem == TSR_SEM_NAN_PROPAGATE) {
		unordered = tsr_node_compare_f32(s, TSR_X86_F_UNORDERED, a, b);
		m = tsr_node_select(s, unordered, tsr_node_word(s, TSR_F32_NAN), m);
	}
	return m;
}

static bool add_min_max(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int a, b, m;

	if (!usual(uop) || widens(uop))
		return false;
	a = number(s, uop, 0);
	b = number(s, uop, 1);
	/* flushed as arithmetic would */
	if (uop->param[1]) {
		a = tsr_node_op(s, TSR_X86_MUL_F32, a, tsr_node_word(s, TSR_F32_ONE));
		b = tsr_node_op(s, TSR_X86_MUL_F32, b, tsr_node_word(s, TSR_F32_ONE));
	}
	m = extreme(s, uop->insn->op == TSR_OP_ADD_FMAX_F32, uop->insn->mod[TSR_MOD_SEM], a, b);
	s->node[m].loose = true;
	return set(s, uop, clamped(s, uop, m));
}

static int predicate_f32(unsigned int cmpf)
{
	static const uint8_t predicates[] = {
		[TSR_CMPF_EQ] = TSR_X86_F_EQ, [TSR_CMPF_GT] = TSR_X86_F_GT,
		[TSR_CMPF_GE] = TSR_X86_F_GE, [TSR_CMPF_NE] = TSR_X86_F_NE,
		[TSR_CMPF_LT] = TSR_X86_F_LT, [TSR_CMPF_LE] = TSR_X86_F_LE,
		[TSR_CMPF_GTLT] = TSR_X86_F_GTLT,
	};

	return predicates[cmpf];
}

static bool add_cmp(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int mask;

	if (!usual(uop))
		return false;
	mask = tsr_node_compare_f32(s, predicate_f32(uop->insn->mod[TSR_MOD_CMPF]),
				    number(s, uop, 0), number(s, uop, 1));
	return set(s, uop, tsr_node_masked(s, mask, uop->param[0]));
}

static bool add_csel_f32(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int mask;

	if (!usual(uop))
		return false;
	mask = tsr_node_compare_f32(s, predicate_f32(uop->insn->mod[TSR_MOD_CMPF]),
				    tsr_node_of(s, uop->src[0]), tsr_node_of(s, uop->src[1]));
	return set(s, uop, tsr_node_select(s, mask, bits(s, uop, 2), bits(s, uop, 3)));
}

/* To an integral number by a rounding mode of the instruction; its constant and "no exception". */
static int integral(struct tsr_segment *s, const struct tsr_uop *uop, int n)
{
	static const uint8_t how[] = {
		[TSR_ROUND_NONE] = 8, [TSR_ROUND_RTP] = 10, [TSR_ROUND_RTN] = 9,
		[TSR_ROUND_RTZ] = 11,
	};

	n = tsr_node_op_imm(s, TSR_X86_ROUND_F32, n, how[uop->insn->mod[TSR_MOD_ROUND]]);
	s->node[n].loose = true;
	return n;
}

static bool add_round(struct tsr_segment *s, const struct tsr_uop *uop)
{
	if (!usual(uop) || widens(uop))
		return false;
	return set(s, uop, integral(s, uop, number(s, uop, 0)));
}

/* A 16-bit float, as widen_low() of alu_float_vector.h has it. */
static bool add_widen(struct tsr_segment *s, const struct tsr_uop *uop)
{
	const bool high = uop->param[0] == TSR_WIDEN_H1;
	int x, magnitude, exponent, special, subnormal, normal, tiny;

	if (!usual(uop) || uop->param[1])
		return false;
	x = bits(s, uop, 0);
	magnitude = high ? tsr_node_shift(s, TSR_X86_SHR, x, 3) :
			   tsr_node_shift(s, TSR_X86_SHL, x, 13);
	magnitude = tsr_node_and(s, magnitude, 0x0fffe000);
	exponent = tsr_node_and(s, magnitude, 0x0f800000);
	special = tsr_node_compare_i32(s, TSR_X86_I_EQ, true, exponent,
				       tsr_node_word(s, 0x0f800000));
	special = tsr_node_masked(s, special, 0x38000000);
	normal = tsr_node_op(s, TSR_X86_ADD_I32, magnitude, tsr_node_word(s, 0x38000000));
	normal = tsr_node_op(s, TSR_X86_ADD_I32, normal, special);
	tiny = tsr_node_op(s, TSR_X86_ADD_I32, magnitude, tsr_node_word(s, 0x38800000));
	tiny = tsr_node_op(s, TSR_X86_SUB_F32, tiny, tsr_node_word(s, 0x38800000));
	s->node[tiny].loose = false;
	subnormal = tsr_node_any_bits(s, exponent, 0x0f800000);
	x = tsr_node_and(s, high ? x : tsr_node_shift(s, TSR_X86_SHL, x, 16), SIGN);
	x = tsr_node_op(s, TSR_X86_OR, tsr_node_select(s, subnormal, normal, tiny), x);
	x = tsr_node_xor(s, tsr_node_and(s, x, uop->keep[0]), uop->flip[0]);
	/* a NaN is still what it was */
	x = tsr_node_op(s, TSR_X86_OR, x, tsr_node_word(s, 0));
	s->node[x].loose = true;
	return set(s, uop, x);
}

/* As in alu_float_convert.h. */
static bool add_to_s32(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int x, n, over;

	if (!usual(uop))
		return false;
	x = tsr_node_of(s, uop->src[0]);
	if (uop->insn->mod[TSR_MOD_ROUND] != TSR_ROUND_NONE)
		x = integral(s, uop, x);
	n = tsr_node_op(s, TSR_X86_F32_TO_S32, x, -1);
	over = tsr_node_compare_f32(s, TSR_X86_F_GE, x, tsr_node_word(s, 0x4f000000));
	n = tsr_node_select(s, over, tsr_node_word(s, 0x7fffffff), n);
	over = tsr_node_compare_f32(s, TSR_X86_F_UNORDERED, x, x);
	return set(s, uop, tsr_node_select(s, over, tsr_node_word(s, 0), n));
}

static bool add_from_s32(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return usual(uop) && set(s, uop, tsr_node_op(s, TSR_X86_S32_TO_F32, bits(s, uop, 0), -1));
}

static bool add_from_u32(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int x, high, low;

	if (!usual(uop))
		return false;
	x = bits(s, uop, 0);
	if (s->wide)
		return set(s, uop, tsr_node_op(s, TSR_X86_U32_TO_F32, x, -1));
	/* the sum of two exact parts is rounded once, and no NaN */
	high = tsr_node_op(s, TSR_X86_S32_TO_F32, tsr_node_shift(s, TSR_X86_SHR, x, 16), -1);
	low = tsr_node_op(s, TSR_X86_S32_TO_F32, tsr_node_and(s, x, 0xffff), -1);
	x = tsr_node_fma(s, high, tsr_node_word(s, 0x47800000), low, 0);
	s->node[x].loose = false;
	return set(s, uop, x);
}

static bool add_from_part(struct tsr_segment *s, const struct tsr_uop *uop)
{
	unsigned int op = uop->insn->op;
	bool is_signed = op == TSR_OP_ADD_S16_TO_F32 || op == TSR_OP_ADD_S8_TO_F32;
	int n = tsr_node_shift(s, TSR_X86_SHL, bits(s, uop, 0), uop->param[0]);

	n = tsr_node_shift(s, is_signed ? TSR_X86_SAR : TSR_X86_SHR, n, uop->param[1]);
	return usual(uop) && set(s, uop, tsr_node_op(s, TSR_X86_S32_TO_F32, n, -1));
}

static bool add_rcp(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int one;

	if (!usual(uop))
		return false;
	one = tsr_node_word(s, TSR_F32_ONE);
	return set(s, uop, tsr_node_op(s, TSR_X86_DIV_F32, one, number(s, uop, 0)));
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/*
 * Sine of 1/64 turns, from the first quarter of the table: its 16 words, and 1 for number 16. The
 * second half is negative but for its zero.
 */
static bool add_sine(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int index, half, quarter, n, one, sign;

	if (!usual(uop))
		return false;
	index = tsr_node_op(s, TSR_X86_ADD_I32, bits(s, uop, 0), tsr_node_word(s, uop->param[0]));
	half = tsr_node_and(s, index, 31);
	quarter = tsr_node_op(s, TSR_X86_MIN_U32, half,
			      tsr_node_op(s, TSR_X86_SUB_I32, tsr_node_word(s, 32), half));
	n = tsr_node_lookup(s, tsr_float_sines, quarter);
	one = tsr_node_masked(s, tsr_node_any_bits(s, quarter, 16), TSR_F32_ONE);
	sign = tsr_node_masked(s, tsr_node_any_bits(s, half, 31), SIGN);
	sign = tsr_node_op(s, TSR_X86_AND, tsr_node_shift(s, TSR_X86_SHL, index, 26), sign);
	return set(s, uop, tsr_node_op(s, TSR_X86_OR, tsr_node_op(s, TSR_X86_OR, n, one), sign));
}

static bool add_exp_table(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return usual(uop) &&
	       set(s, uop, tsr_node_lookup(s, tsr_float_exponentials, bits(s, uop, 0)));
}

/* ---- Moves and parts ------------------------------------------------------------------------- */

static bool add_move(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return set(s, uop, bits(s, uop, 0));
}

/* Copies to half a register. */
static bool add_half(struct tsr_segment *s, const struct tsr_uop *uop, bool high)
{
	int from = bits(s, uop, 0), to = tsr_node_bits(s, tsr_node_of(s, uop->dst));

	from = high ? tsr_node_shift(s, TSR_X86_SHL, from, 16) : tsr_node_and(s, from, 0xffff);
	to = tsr_node_and(s, to, high ? 0xffff : 0xffff0000);
	return set(s, uop, tsr_node_op(s, TSR_X86_OR, from, to));
}

static bool add_copy(struct tsr_segment *s, const struct tsr_uop *uop)
{
	bool active = uop->dst_kind == TSR_DST_ACTIVE;

	if (uop->fn == tsr_move_function(TSR_PORT_WRITE, active))
		return add_move(s, uop);
	return add_half(s, uop, uop->fn == tsr_move_function(TSR_PORT_WRITE_HI, active));
}

/* A part of a word as alu_part.h packs it. */
static int part32(struct tsr_segment *s, int n, uint32_t part, bool is_signed)
{
	n = tsr_node_shift(s, TSR_X86_SHL, n, part & 31);
	return tsr_node_shift(s, is_signed ? TSR_X86_SAR : TSR_X86_SHR, n, part >> 24);
}

static bool add_part32u(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return set(s, uop, part32(s, bits(s, uop, 0), uop->param[0], false));
}

static bool add_part32s(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return set(s, uop, part32(s, bits(s, uop, 0), uop->param[0], true));
}

/* Halves 0 and 1 stay where they are. */
#define PART_HALVES (16u | 16u << 24)

static int part16(struct tsr_segment *s, int n, uint32_t part, bool is_signed)
{
	int low, high;

	if (part == PART_HALVES)
		return n;
	low = part32(s, n, part, is_signed);
	high = part32(s, n, (part & 0xff000000) | (part >> 8 & 31), is_signed);
	low = is_signed ? tsr_node_and(s, low, 0xffff) : low;
	return tsr_node_op(s, TSR_X86_OR, low, tsr_node_shift(s, TSR_X86_SHL, high, 16));
}

static bool add_part16u(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return set(s, uop, part16(s, bits(s, uop, 0), uop->param[0], false));
}

static bool add_part16s(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return set(s, uop, part16(s, bits(s, uop, 0), uop->param[0], true));
}

static bool add_mkvec_16(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int a = bits(s, uop, 0), b = bits(s, uop, 1);

	a = uop->param[0] ? tsr_node_and(s, a, 0xffff) : tsr_node_shift(s, TSR_X86_SHR, a, 16);
	b = uop->param[1] ? tsr_node_shift(s, TSR_X86_SHL, b, 16) : tsr_node_and(s, b, 0xffff0000);
	return set(s, uop, tsr_node_op(s, TSR_X86_OR, a, b));
}

/* ---- Integers -------------------------------------------------------------------------------- */

static bool add_sum(struct tsr_segment *s, const struct tsr_uop *uop, uint16_t insn, bool is_signed)
{
	int a = bits(s, uop, 0), b = bits(s, uop, 1);

	if (uop->insn->mod[TSR_MOD_SATURATE])
		return false;
	return set(s, uop, tsr_node_op(s, insn, a, part32(s, b, uop->param[0], is_signed)));
}

static bool add_iadd_s32(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return add_sum(s, uop, TSR_X86_ADD_I32, true);
}

static bool add_iadd_u32(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return add_sum(s, uop, TSR_X86_ADD_I32, false);
}

static bool add_isub_s32(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return add_sum(s, uop, TSR_X86_SUB_I32, true);
}

static bool add_isub_u32(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return add_sum(s, uop, TSR_X86_SUB_I32, false);
}

static bool add_sum16(struct tsr_segment *s, const struct tsr_uop *uop, bool is_signed)
{
	unsigned int op = uop->insn->op;
	bool sub = op == TSR_OP_ADD_ISUB_V2S16 || op == TSR_OP_ADD_ISUB_V2U16;
	int a = part16(s, bits(s, uop, 0), uop->param[0], is_signed);
	int b = part16(s, bits(s, uop, 1), uop->param[1], is_signed);

	if (uop->insn->mod[TSR_MOD_SATURATE])
		return false;
	return set(s, uop, tsr_node_op(s, sub ? TSR_X86_SUB_I16 : TSR_X86_ADD_I16, a, b));
}

static bool add_sum_s16(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return add_sum16(s, uop, true);
}

static bool add_sum_u16(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return add_sum16(s, uop, false);
}

static bool add_carry(struct tsr_segment *s, const struct tsr_uop *uop)
{
	uint16_t insn = uop->insn->op == TSR_OP_FMA_IADDC_I32 ? TSR_X86_ADD_I32 : TSR_X86_SUB_I32;
	int n = tsr_node_op(s, insn, bits(s, uop, 0), bits(s, uop, 1));

	return set(s, uop, tsr_node_op(s, insn, n, tsr_node_and(s, bits(s, uop, 2), 1)));
}

static bool add_imul_32(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int a = bits(s, uop, 0), b = bits(s, uop, 1);

	b = part32(s, b, uop->param[0], uop->insn->mod[TSR_MOD_EXTEND] == TSR_EXTEND_SEXT);
	return set(s, uop, tsr_node_op(s, TSR_X86_MUL_I32, a, b));
}

/* Source 0 shifted by the byte of source 2 that param[0] names. */
static int shifted(struct tsr_segment *s, const struct tsr_uop *uop, unsigned int how)
{
	static const uint16_t variable[] = {
		[TSR_X86_SHL] = TSR_X86_SHL_VAR, [TSR_X86_SHR] = TSR_X86_SHR_VAR,
		[TSR_X86_SAR] = TSR_X86_SAR_VAR,
	};
	int x = bits(s, uop, 0), count = bits(s, uop, 2);

	count = tsr_node_and(s, tsr_node_shift(s, TSR_X86_SHR, count, uop->param[0]), 31);
	if (s->node[count].kind == TSR_NODE_WORD)
		return tsr_node_shift(s, how, x, s->node[count].word);
	return tsr_node_op(s, variable[how], x, count);
}

/* Combined with source 1; what leaves things as they are costs nothing. */
static bool add_shift(struct tsr_segment *s, const struct tsr_uop *uop, unsigned int how,
		      uint16_t insn)
{
	int x = shifted(s, uop, how), y;

	/* of XOR the complement of a source is that of the result: only param[2] counts */
	y = tsr_node_xor(s, bits(s, uop, 1), insn == TSR_X86_XOR ? 0 : uop->param[1]);
	if (s->node[y].kind == TSR_NODE_WORD && s->node[y].word == (insn == TSR_X86_AND ? ~0u : 0))
		return set(s, uop, tsr_node_xor(s, x, uop->param[2]));
	if (s->node[x].kind == TSR_NODE_WORD && !s->node[x].word && insn != TSR_X86_AND)
		return set(s, uop, tsr_node_xor(s, y, uop->param[2]));
	return set(s, uop, tsr_node_xor(s, tsr_node_op(s, insn, x, y), uop->param[2]));
}

#define SHIFTS(name, how)									\
static bool add_##name##_and(struct tsr_segment *s, const struct tsr_uop *uop)			\
{												\
	return add_shift(s, uop, how, TSR_X86_AND);						\
}												\
												\
static bool add_##name##_or(struct tsr_segment *s, const struct tsr_uop *uop)			\
{												\
	return add_shift(s, uop, how, TSR_X86_OR);						\
}												\
												\
static bool add_##name##_xor(struct tsr_segment *s, const struct tsr_uop *uop)			\
{												\
	return add_shift(s, uop, how, TSR_X86_XOR);						\
}
SHIFTS(left, TSR_X86_SHL)
SHIFTS(right, TSR_X86_SHR)
#undef SHIFTS

static bool add_arshift(struct tsr_segment *s, const struct tsr_uop *uop)
{
	return set(s, uop, shifted(s, uop, TSR_X86_SAR));
}

static int predicate_i32(unsigned int cmpf)
{
	static const uint8_t predicates[] = {
		[TSR_CMPF_EQ] = TSR_X86_I_EQ, [TSR_CMPF_GT] = TSR_X86_I_GT,
		[TSR_CMPF_GE] = TSR_X86_I_GE, [TSR_CMPF_NE] = TSR_X86_I_NE,
		[TSR_CMPF_LT] = TSR_X86_I_LT, [TSR_CMPF_LE] = TSR_X86_I_LE,
	};

	return predicates[cmpf];
}

static int compared(struct tsr_segment *s, const struct tsr_uop *uop, bool is_signed)
{
	return tsr_node_compare_i32(s, (unsigned int)predicate_i32(uop->insn->mod[TSR_MOD_CMPF]),
				    is_signed, bits(s, uop, 0), bits(s, uop, 1));
}

static bool add_icmp(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int mask = compared(s, uop, uop->insn->op == TSR_OP_ADD_ICMP_S32);

	return set(s, uop, tsr_node_masked(s, mask, uop->param[2]));
}

static bool add_csel(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int mask = compared(s, uop, uop->insn->op == TSR_OP_FMA_CSEL_S32);

	return set(s, uop, tsr_node_select(s, mask, bits(s, uop, 2), bits(s, uop, 3)));
}

static bool add_mux(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int a = bits(s, uop, 0), b = bits(s, uop, 1), c = bits(s, uop, 2), n;

	switch (uop->insn->mod[TSR_MOD_MUX]) {
	case TSR_MUX_BIT:
		n = tsr_node_op(s, TSR_X86_AND, tsr_node_op(s, TSR_X86_XOR, a, b), c);
		return set(s, uop, tsr_node_op(s, TSR_X86_XOR, n, b));
	case TSR_MUX_NEG:
		n = tsr_node_any_bits(s, c, SIGN);
		return set(s, uop, tsr_node_select(s, n, a, b));
	default:
		n = tsr_node_any_bits(s, c, uop->param[3]);
		return set(s, uop, tsr_node_select(s, n, b, a));
	}
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static bool add_shaddx_low(struct tsr_segment *s, const struct tsr_uop *uop)
{
	int a = bits(s, uop, 0), b = bits(s, uop, 1);

	b = part32(s, b, uop->param[1], uop->insn->op == TSR_OP_FMA_SHADDXL_S32);
	b = tsr_node_shift(s, TSR_X86_SHL, b, uop->param[0]);
	return set(s, uop, tsr_node_op(s, TSR_X86_ADD_I32, a, b));
}

/* The high word, from those of A and B and from the low ones: alu_address.h. */
static bool add_shaddx_high(struct tsr_segment *s, const struct tsr_uop *uop)
{
	unsigned int low_op = uop->pair_insn->op, shift = uop->param[0];
	int a = bits(s, uop, 0), a_low = pair_bits(s, uop, 0), b_low = pair_bits(s, uop, 1);
	int b, low, carry, n;

	if (low_op == TSR_OP_FMA_SHADDXL_I64) {
		b = bits(s, uop, 1);
	} else {
		b_low = part32(s, b_low, uop->param[1], low_op == TSR_OP_FMA_SHADDXL_S32);
		b = low_op == TSR_OP_FMA_SHADDXL_S32 ? tsr_node_shift(s, TSR_X86_SAR, b_low, 31) :
						       tsr_node_word(s, 0);
	}
	low = tsr_node_op(s, TSR_X86_ADD_I32, a_low,
			  tsr_node_shift(s, TSR_X86_SHL, b_low, shift));
	carry = tsr_node_compare_i32(s, TSR_X86_I_LT, false, low, a_low);
	n = tsr_node_op(s, TSR_X86_ADD_I32, a, tsr_node_masked(s, carry, 1));
	b = tsr_node_shift(s, TSR_X86_SHL, b, shift);
	if (shift) {
		b_low = tsr_node_shift(s, TSR_X86_SHR, b_low, 32 - shift);
		b = tsr_node_op(s, TSR_X86_OR, b, b_low);
	}
	return set(s, uop, tsr_node_op(s, TSR_X86_ADD_I32, n, b));
}

/* ---- The table ------------------------------------------------------------------------------- */

static template *const templates[TSR_OP__COUNT] = {
	[TSR_OP_FMA_FMA_F32] = add_fma,
	[TSR_OP_FMA_FMA_RSCALE_F32] = add_rscale,
	[TSR_OP_FMA_FADD_F32] = add_add,
	[TSR_OP_ADD_FADD_F32] = add_add,
	[TSR_OP_ADD_FMIN_F32] = add_min_max,
	[TSR_OP_ADD_FMAX_F32] = add_min_max,
	[TSR_OP_FMA_FCMP_F32] = add_cmp,
	[TSR_OP_ADD_FCMP_F32] = add_cmp,
	[TSR_OP_FMA_CSEL_F32] = add_csel_f32,
	[TSR_OP_FMA_FROUND_F32] = add_round,
	[TSR_OP_ADD_FROUND_F32] = add_round,
	[TSR_OP_FMA_F16_TO_F32] = add_widen,
	[TSR_OP_ADD_F16_TO_F32] = add_widen,
	[TSR_OP_ADD_F32_TO_S32] = add_to_s32,
	[TSR_OP_ADD_S32_TO_F32] = add_from_s32,
	[TSR_OP_ADD_U32_TO_F32] = add_from_u32,
	[TSR_OP_ADD_S16_TO_F32] = add_from_part,
	[TSR_OP_ADD_U16_TO_F32] = add_from_part,
	[TSR_OP_ADD_S8_TO_F32] = add_from_part,
	[TSR_OP_ADD_U8_TO_F32] = add_from_part,
	[TSR_OP_ADD_FRCP_F32] = add_rcp,
	[TSR_OP_ADD_FSIN_TABLE_U6] = add_sine,
	[TSR_OP_ADD_FCOS_TABLE_U6] = add_sine,
	[TSR_OP_ADD_FEXP_TABLE_U4] = add_exp_table,

	[TSR_OP_FMA_MOV_I32] = add_move,
	[TSR_OP_ADD_MOV_I32] = add_move,
	[TSR_OP_FMA_DTSEL_IMM] = add_move,
	[TSR_OP_FMA_SEG_ADD] = add_move,
	[TSR_OP_FMA_SEG_SUB] = add_move,
	[TSR_OP_FMA_U8_TO_U32] = add_part32u,
	[TSR_OP_FMA_U16_TO_U32] = add_part32u,
	[TSR_OP_FMA_S8_TO_S32] = add_part32s,
	[TSR_OP_FMA_S16_TO_S32] = add_part32s,
	[TSR_OP_ADD_U8_TO_U32] = add_part32u,
	[TSR_OP_ADD_U16_TO_U32] = add_part32u,
	[TSR_OP_ADD_S8_TO_S32] = add_part32s,
	[TSR_OP_ADD_S16_TO_S32] = add_part32s,
	[TSR_OP_ADD_SWZ_V2I16] = add_part16u,
	[TSR_OP_ADD_V2U8_TO_V2U16] = add_part16u,
	[TSR_OP_ADD_V2S8_TO_V2S16] = add_part16s,
	[TSR_OP_FMA_MKVEC_V2I16] = add_mkvec_16,
	[TSR_OP_ADD_MKVEC_V2I16] = add_mkvec_16,

	[TSR_OP_ADD_IADD_S32] = add_iadd_s32,
	[TSR_OP_ADD_IADD_U32] = add_iadd_u32,
	[TSR_OP_ADD_ISUB_S32] = add_isub_s32,
	[TSR_OP_ADD_ISUB_U32] = add_isub_u32,
	[TSR_OP_ADD_IADD_V2S16] = add_sum_s16,
	[TSR_OP_ADD_IADD_V2U16] = add_sum_u16,
	[TSR_OP_ADD_ISUB_V2S16] = add_sum_s16,
	[TSR_OP_ADD_ISUB_V2U16] = add_sum_u16,
	[TSR_OP_FMA_IADDC_I32] = add_carry,
	[TSR_OP_FMA_ISUBB_I32] = add_carry,
	[TSR_OP_FMA_IMUL_I32] = add_imul_32,
	[TSR_OP_FMA_LSHIFT_AND_I32] = add_left_and,
	[TSR_OP_FMA_LSHIFT_OR_I32] = add_left_or,
	[TSR_OP_FMA_LSHIFT_XOR_I32] = add_left_xor,
	[TSR_OP_FMA_RSHIFT_AND_I32] = add_right_and,
	[TSR_OP_FMA_RSHIFT_OR_I32] = add_right_or,
	[TSR_OP_FMA_RSHIFT_XOR_I32] = add_right_xor,
	[TSR_OP_FMA_ARSHIFT_I32] = add_arshift,
	[TSR_OP_ADD_ICMP_I32] = add_icmp,
	[TSR_OP_ADD_ICMP_S32] = add_icmp,
	[TSR_OP_ADD_ICMP_U32] = add_icmp,
	[TSR_OP_FMA_CSEL_I32] = add_csel,
	[TSR_OP_FMA_CSEL_S32] = add_csel,
	[TSR_OP_FMA_CSEL_U32] = add_csel,
	[TSR_OP_ADD_MUX_I32] = add_mux,
	[TSR_OP_FMA_SHADDXL_I64] = add_shaddx_low,
	[TSR_OP_FMA_SHADDXL_U32] = add_shaddx_low,
	[TSR_OP_FMA_SHADDXL_S32] = add_shaddx_low,
	[TSR_OP_ADD_SHADDXH_I32] = add_shaddx_high,
};

bool tsr_segment_add(struct tsr_segment *s, const struct tsr_uop *uop)
{
	template *add;

	if (!uop->insn)
		return add_copy(s, uop);
	add = templates[uop->insn->op];
	return add && add(s, uop);
}

/* ---- Branches -------------------------------------------------------------------------------- */

static int branch_zero(struct tsr_segment *s, const struct tsr_uop *uop)
{
	unsigned int cmpf = uop->insn->mod[TSR_MOD_CMPF], op = uop->insn->op;
	int x = tsr_node_of(s, uop->src[0]), zero = tsr_node_word(s, 0), any;

	switch (op) {
	case TSR_OP_ADD_BRANCHZ_I16:
	case TSR_OP_ADD_BRANCHZ_I32:
		any = tsr_node_any_bits(s, tsr_node_bits(s, x), uop->keep[0]);
		return uop->flip[0] ? any : tsr_node_not(s, any);
	case TSR_OP_ADD_BRANCHZ_S32:
	case TSR_OP_ADD_BRANCHZ_U32:
		return tsr_node_compare_i32(s, (unsigned int)predicate_i32(cmpf),
					    op == TSR_OP_ADD_BRANCHZ_S32, tsr_node_bits(s, x),
					    zero);
	default:
		return -1;
	}
}

/* The condition of a branch with two operands. */
static int branch_two(struct tsr_segment *s, const struct tsr_uop *uop)
{
	unsigned int predicate = (unsigned int)predicate_i32(uop->insn->mod[TSR_MOD_CMPF]);

	return tsr_node_compare_i32(s, predicate, uop->insn->op == TSR_OP_ADD_BRANCH_S32,
				    bits(s, uop, 0), bits(s, uop, 1));
}

bool tsr_segment_add_branch(struct tsr_segment *s, const struct tsr_uop *uop)
{
	unsigned int op = uop->insn->op;
	bool whole = !uop->insn->mod[TSR_MOD_WIDEN0] && !uop->insn->mod[TSR_MOD_WIDEN1];

	switch (op) {
	case TSR_OP_ADD_BRANCHZ_I16:
	case TSR_OP_ADD_BRANCHZ_I32:
		s->branch = branch_zero(s, uop);
		break;
	case TSR_OP_ADD_BRANCHZ_S32:
	case TSR_OP_ADD_BRANCHZ_U32:
		s->branch = whole ? branch_zero(s, uop) : -1;
		break;
	case TSR_OP_ADD_BRANCH_I32:
	case TSR_OP_ADD_BRANCH_S32:
	case TSR_OP_ADD_BRANCH_U32:
		s->branch = whole ? branch_two(s, uop) : -1;
		break;
	default:
		break;
	}
	return s->branch >= 0;
}
