/* SPDX-License-Identifier: MIT */
/*
 * Instructions have positions: 2 * tuple for FMA, 2 * tuple + 1 for ADD, the order in which they
 * are executed. The result of position p goes to its register after the last port read of the next
 * tuple, at the latest at the end of the clause. It can be written to the register at once if
 * nobody after p looks for what was there before; else it waits in a temporary.
 */
#include "predecode.h"

#include <string.h>

#include "branch.h"
#include "moves.h"

#define POSITIONS (2 * TSR_CLAUSE_TUPLES_MAX)
#define NO_REG 0xff
/* Clause constants: both words of six, and what special FAU indices need none. */
#define KONSTS_MAX 16
/* An instruction each, a copy for each result, and one for each retained source. */
#define UOPS_MAX (2 * POSITIONS + 10)

_Static_assert(sizeof(struct tsr_decoded) + POSITIONS * sizeof(struct tsr_insn) +
		       UOPS_MAX * sizeof(struct tsr_uop) + KONSTS_MAX * sizeof(union tsr_lanes) +
		       3 * 64 <= TSR_DECODED_MAX,
	       "the largest clause fits");

enum kind {
	KIND_NOP,			/* does nothing; its result is 0 */
	KIND_ALU,
	KIND_HALF,			/* operands of the ADD unit's message, no result */
	KIND_MESSAGE,
	KIND_BARRIER,
	KIND_BRANCH,
	KIND_DISCARD,
};

/* An instruction on its way. */
struct op {
	const struct tsr_insn *insn;
	const struct tsr_op_info *info;
	enum kind kind;
	bool needed;			/* has an effect or somebody uses its result */
	uint8_t reg;			/* register it is written to, NO_REG */
	uint8_t action;			/* how: enum tsr_port_action */
	bool copied;			/* waits in a temporary for its time */
	struct tsr_operand result;	/* where it is */
};

struct builder {
	const struct tsr_simd *alu;
	const struct tsr_clause *clause;
	struct tsr_decoded *out;
	struct tsr_insn *fma, *add;
	struct op op[POSITIONS];
	unsigned int positions;
	unsigned int code_kind;		/* TSR_CODE_ bits */
	unsigned int konsts;
	uint32_t konst[KONSTS_MAX];	/* their words */
	int msg_uop;			/* micro-operations before the message, -1: no message */
	int branch_uop;			/* micro-operations before the branch */
	struct tsr_uop branch;
	unsigned int retained;		/* temporaries in use for retained sources */
};

static const struct tsr_operand zero = {
	.index = TSR_TEMP_FIXED * TSR_BUNDLE_WARPS + TSR_FIXED_ZERO, .space = TSR_LANES_TEMP,
};

static struct tsr_operand fixed(unsigned int which)
{
	return (struct tsr_operand){ .index = TSR_TEMP_FIXED * TSR_BUNDLE_WARPS + which,
				     .space = TSR_LANES_TEMP };
}

static struct tsr_operand temp(unsigned int number)
{
	return (struct tsr_operand){ .index = number * TSR_BUNDLE_WARPS, .space = TSR_LANES_TEMP,
				     .step = 1 };
}

static struct tsr_operand reg(unsigned int number)
{
	return (struct tsr_operand){ .index = number * TSR_BUNDLE_WARPS, .space = TSR_LANES_REG,
				     .step = 1 };
}

static bool same(const struct tsr_operand *a, const struct tsr_operand *b)
{
	return a->space == b->space && a->index == b->index;
}

/* The clause is wrong. */
static void fault(struct builder *b, uint8_t code, unsigned int position)
{
	struct tsr_decoded *d = b->out;

	if (d->flags & TSR_CLAUSE_FAULT)
		return;
	d->flags = TSR_CLAUSE_FAULT;
	d->fault_code = code;
	d->fault_tuple = position / 2;
	d->fault_add = position & 1;
}

/* ---- Operands -------------------------------------------------------------------------------- */

/* The low 28 bits of @word, a signed number. */
static uint32_t distance(uint32_t word)
{
	return (uint32_t)((int32_t)(word << 4) >> 4);
}

/* The constant that FAU index @fau names, with what it is relative to. */
static uint64_t clause_constant(const struct builder *b, unsigned int fau)
{
	unsigned int n = tsr_fau_const_index(fau);
	uint64_t pc = b->out->pc, value = b->clause->konst[n] | (fau & 15);
	uint32_t lo = (uint32_t)value, hi = (uint32_t)(value >> 32);

	switch (b->clause->pcrel[n]) {
	case TSR_PCREL_LO:
		return pc + (uint64_t)((int64_t)(value << 4) >> 4);
	case TSR_PCREL_LO_HI:
		lo = (uint32_t)pc + distance(lo);
		hi = (uint32_t)pc + distance(hi);
		break;
	case TSR_PCREL_HI:
		hi = (uint32_t)pc + distance(hi);
		break;
	default:
		break;
	}
	return lo | (uint64_t)hi << 32;
}

static struct tsr_operand constant(struct builder *b, uint32_t word)
{
	unsigned int i = 0;

	if (!word)
		return zero;
	while (i < b->konsts && b->konst[i] != word)
		i++;
	if (i == b->konsts)
		b->konst[b->konsts++] = word;
	return (struct tsr_operand){ .index = i, .space = TSR_LANES_CLAUSE };
}

/* Special values of fragment programs. The datum of ATEST is nothing to our unit. */
static struct tsr_operand fragment_special(struct builder *b, unsigned int position,
					   unsigned int index, bool high)
{
	switch (index) {
	case TSR_FAU_FRAMEBUFFER_SIZE:
		return high ? zero : fixed(TSR_FIXED_FRAME);
	case TSR_FAU_ATEST_DATUM:
		return zero;
	case TSR_FAU_SAMPLE_POSITIONS:
		return fixed(TSR_FIXED_SAMPLES + high);
	default:
		if (index >= TSR_FAU_BLEND0 && index <= TSR_FAU_BLEND7)
			return fixed(TSR_FIXED_BLEND + 2 * (index - TSR_FAU_BLEND0) + high);
		fault(b, TSR_FAULT_SHADER_UNSUPPORTED, position);
		return zero;
	}
}

static struct tsr_operand push_word(const struct builder *b, unsigned int n)
{
	if (!(b->code_kind & TSR_CODE_MIXED))
		return (struct tsr_operand){ .index = n, .space = TSR_LANES_PUSH };
	return n < TSR_MIXED_WORDS ? temp(TSR_TEMP_PUSH + n) : zero;
}

static struct tsr_operand fau(struct builder *b, unsigned int position, bool high)
{
	unsigned int index = b->clause->tuple[position / 2].fau;

	if (tsr_fau_is_uniform(index))
		return push_word(b, 2 * (index & 0x7f) + high);
	if (tsr_fau_is_const(index))
		return constant(b, (uint32_t)(clause_constant(b, index) >> (high ? 32 : 0)));
	switch (index) {
	case TSR_FAU_ZERO:
		return zero;
	case TSR_FAU_LANE_ID:
		return high ? zero : temp(TSR_TEMP_LANE_ID);
	case TSR_FAU_WARP_ID:
		return high ? zero : temp(TSR_TEMP_WARP_ID);
	case TSR_FAU_CORE_ID:
		return high ? zero : fixed(TSR_FIXED_CORE_ID);
	default:
		break;
	}
	if (b->code_kind & TSR_CODE_FRAGMENT)
		return fragment_special(b, position, index, high);
	fault(b, TSR_FAULT_SHADER_UNSUPPORTED, position);
	return zero;
}

/* Position whose result selector @sel of the instruction at @position is; -1: none. */
static int producer(unsigned int position, unsigned int sel)
{
	if (sel == TSR_SELECT_STAGE && position & 1)
		return position - 1;
	if (sel == TSR_SELECT_LAST_FMA && position >= 2)
		return (position & ~1u) - 2;
	if (sel == TSR_SELECT_LAST_ADD && position >= 2)
		return (position & ~1u) - 1;
	return -1;
}

/* The register selector @sel reads through a port; NO_REG: it is no port. */
static unsigned int port(const struct builder *b, unsigned int position, unsigned int sel)
{
	return sel <= TSR_SELECT_PORT2 ? b->clause->tuple[position / 2].port[sel] : NO_REG;
}

static struct tsr_operand source(struct builder *b, unsigned int position, unsigned int sel)
{
	int from = producer(position, sel);

	if (from >= 0)
		return b->op[from].result;
	if (sel <= TSR_SELECT_PORT2)
		return reg(port(b, position, sel));
	if (sel == TSR_SELECT_FAU_LO || sel == TSR_SELECT_FAU_HI)
		return fau(b, position, sel == TSR_SELECT_FAU_HI);
	return zero;
}

/* ---- What the instructions are --------------------------------------------------------------- */

static enum kind kind_of(const struct builder *b, unsigned int position)
{
	const struct tsr_insn *insn = b->op[position].insn;

	if (insn->op == TSR_OP_FMA_NOP || insn->op == TSR_OP_ADD_NOP)
		return KIND_NOP;
	if (!(position & 1)) {
		enum tsr_message sent = tsr_insn_message(&b->add[position / 2]);

		return sent && (b->op[position].info->pair == TSR_PAIR_ATOM) ? KIND_HALF : KIND_ALU;
	}
	if (tsr_branch_is(insn->op))
		return KIND_BRANCH;
	if (insn->op == TSR_OP_ADD_DISCARD_F32)
		return KIND_DISCARD;
	switch (tsr_insn_message(insn)) {
	case TSR_MESSAGE_NONE:
		return KIND_ALU;
	case TSR_MESSAGE_BARRIER:
		return KIND_BARRIER;
	default:
		return KIND_MESSAGE;
	}
}

/* True if the ADD instruction at @position reads the sources of the tuple's FMA instruction. */
static bool reads_pair(const struct builder *b, unsigned int position)
{
	const struct op *op = &b->op[position], *half = op - 1;

	if (!(position & 1) || half->kind == KIND_NOP)
		return false;
	if (op->kind == KIND_MESSAGE)
		return half->kind == KIND_HALF || half->insn->op == TSR_OP_FMA_DTSEL_IMM;
	return op->info->pair != TSR_PAIR_NONE && op->info->pair == half->info->pair;
}

/* Where results are written: block i holds the writes of tuple i - 1, the first one the last's. */
static void find_writes(struct builder *b)
{
	const struct tsr_clause *c = b->clause;

	for (unsigned int i = 0; i < c->tuples; i++) {
		bool last = i + 1 == c->tuples;
		const struct tsr_tuple *block = &c->tuple[last ? 0 : i + 1];
		const struct tsr_reg_mode *mode = &tsr_reg_modes[block->mode];
		bool elide = last && (c->flow == TSR_FLOW_WE ||
				      c->flow == TSR_FLOW_WE_UNCONDITIONAL);

		if (mode->slot2 >= TSR_PORT_WRITE) {
			b->op[2 * i].reg = block->port[2];
			b->op[2 * i].action = mode->slot2;
		}
		if (mode->slot3 >= TSR_PORT_WRITE && !elide) {
			struct op *op = &b->op[2 * i + mode->slot3_from];

			op->reg = block->port[3];
			op->action = mode->slot3;
		}
	}
}

static void mark(struct builder *b, unsigned int position, const struct tsr_insn *insn,
		 unsigned int srcs)
{
	for (unsigned int i = 0; i < srcs; i++) {
		int from = producer(position, insn->src[i]);

		if (from >= 0)
			b->op[from].needed = true;
	}
}

/* Which instructions have an effect, from the last one back. */
static void find_needed(struct builder *b)
{
	for (unsigned int p = b->positions; p-- > 0;) {
		struct op *op = &b->op[p];

		op->needed |= op->reg != NO_REG || op->kind > KIND_HALF;
		if (!op->needed || op->kind == KIND_NOP)
			continue;
		mark(b, p, op->insn, op->info->num_srcs);
		if (reads_pair(b, p))
			mark(b, p - 1, op[-1].insn, op[-1].info->num_srcs);
	}
}

/* ---- Where results go ------------------------------------------------------------------------ */

/* True if the instruction at @position looks at register @r (its old value) in these sources. */
static bool reads(const struct builder *b, unsigned int position, unsigned int writer,
		  const struct op *op, unsigned int r)
{
	const struct tsr_operand where = reg(r);

	for (unsigned int i = 0; i < op->info->num_srcs; i++) {
		int from = producer(position, op->insn->src[i]);

		if (port(b, position, op->insn->src[i]) == r)
			return true;
		if (from >= 0 && (unsigned int)from < writer && same(&b->op[from].result, &where))
			return true;
	}
	return false;
}

/* True if the result of @writer can go to its register as soon as it is there. */
static bool direct(const struct builder *b, unsigned int writer)
{
	const struct op *op = &b->op[writer];
	unsigned int end = (writer & ~1u) + 4;

	if (op->kind != KIND_ALU || op->action != TSR_PORT_WRITE)
		return false;
	if (end > b->positions)
		end = b->positions;
	for (unsigned int p = writer + 1; p < end; p++) {
		const struct op *reader = &b->op[p];

		if (!reader->needed || reader->kind == KIND_NOP || reader->kind == KIND_HALF)
			continue;
		if (reads(b, p, writer, reader, op->reg))
			return false;
		if (reads_pair(b, p) && reads(b, p - 1, writer, reader - 1, op->reg))
			return false;
	}
	/* An older result for the same register still waits: it must not land after this one. */
	for (unsigned int p = (writer & ~1u) >= 2 ? (writer & ~1u) - 2 : 0; p < writer; p++) {
		if (b->op[p].copied && b->op[p].reg == op->reg)
			return false;
	}
	return true;
}

static void place(struct builder *b, unsigned int position)
{
	struct op *op = &b->op[position];

	if (op->kind == KIND_MESSAGE && op->info->message == TSR_MESSAGE_ATEST) {
		/* what its register becomes is known when the message has been answered */
		op->result = zero;
		b->out->msg.result = op->reg;
	} else if (op->kind == KIND_MESSAGE && op->info->message == TSR_MESSAGE_BLEND) {
		op->result = zero;
	} else if (op->kind != KIND_ALU) {
		op->result = zero;
		op->copied = op->reg != NO_REG;
	} else if (op->reg != NO_REG && direct(b, position)) {
		op->result = reg(op->reg);
	} else {
		op->result = temp(TSR_TEMP_RESULT + position % 4);
		op->copied = op->reg != NO_REG;
	}
}

/* ---- Micro-operations ------------------------------------------------------------------------ */

static struct tsr_uop *append(struct builder *b)
{
	struct tsr_uop *uop = &b->out->uop[b->out->uops++];

	/* in two pieces: of one as long as that compilers make an instruction that takes longer */
	memset(uop, 0, offsetof(struct tsr_uop, inner));
	memset(&uop->inner, 0, sizeof(*uop) - offsetof(struct tsr_uop, inner));
	uop->mode = b->out->mode;
	return uop;
}

static void sources(struct builder *b, unsigned int position, const struct tsr_insn *insn,
		    unsigned int count, struct tsr_operand *to)
{
	for (unsigned int i = 0; i < count; i++)
		to[i] = source(b, position, insn->src[i]);
}

static void emit_alu(struct builder *b, unsigned int position)
{
	struct op *op = &b->op[position];
	struct tsr_uop *uop = append(b);

	uop->insn = op->insn;
	sources(b, position, op->insn, op->info->num_srcs, uop->src);
	if (reads_pair(b, position)) {
		uop->pair_insn = op[-1].insn;
		sources(b, position - 1, op[-1].insn, op[-1].info->num_srcs, uop->pair);
	}
	uop->dst = op->result;
	uop->dst_kind = op->result.space == TSR_LANES_REG ? TSR_DST_ACTIVE : TSR_DST_ALL;
	if (op->insn->op == TSR_OP_FMA_DTSEL_IMM) {	/* hands its source on, besides */
		uop->fn = tsr_move_function(TSR_PORT_WRITE, uop->dst_kind == TSR_DST_ACTIVE);
		return;
	}
	if (op->info->semantics != TSR_DEFINED || !tsr_alu_select(b->alu, uop))
		fault(b, TSR_FAULT_SHADER_UNSUPPORTED, position);
}

static void emit_copy(struct builder *b, const struct tsr_operand *dst,
		      const struct tsr_operand *src, unsigned int action)
{
	struct tsr_uop *uop = append(b);

	uop->fn = tsr_move_function(action, dst->space == TSR_LANES_REG);
	uop->dst = *dst;
	uop->src[0] = *src;
	uop->dst_kind = dst->space == TSR_LANES_REG ? TSR_DST_ACTIVE : TSR_DST_ALL;
}

/* The waiting results of tuple @i land. */
static void emit_landing(struct builder *b, unsigned int i)
{
	for (unsigned int p = 2 * i; p < 2 * i + 2; p++) {
		const struct op *op = &b->op[p];

		if (op->copied) {
			const struct tsr_operand to = reg(op->reg);

			emit_copy(b, &to, &op->result, op->action);
		}
	}
}

static void emit_branch(struct builder *b, unsigned int position)
{
	struct op *op = &b->op[position];
	unsigned int target = op->info->num_srcs - 1;
	struct tsr_decoded *d = b->out;
	struct tsr_uop *uop = &b->branch;

	uop->mode = d->mode;
	uop->insn = op->insn;
	b->branch_uop = d->uops;
	sources(b, position, op->insn, op->info->num_srcs, uop->src);
	if (uop->src[target].space == TSR_LANES_CLAUSE || same(&uop->src[target], &zero)) {
		uint32_t word = same(&uop->src[target], &zero) ? 0 :
								b->konst[uop->src[target].index];

		d->jump_fixed = true;
		d->jump_ends = !word;
		d->jump_pc = tsr_branch_address(d->pc, word);
	}
	if (!tsr_branch_select(uop, !d->jump_fixed))
		fault(b, TSR_FAULT_SHADER_UNSUPPORTED, position);
	d->flags |= TSR_CLAUSE_BRANCH;
}

static void note_message(struct builder *b, unsigned int position)
{
	struct op *op = &b->op[position];
	struct tsr_decoded_msg *msg = &b->out->msg;

	msg->insn = op->insn;
	msg->srcs = op->info->num_srcs > 3 ? 3 : op->info->num_srcs;
	sources(b, position, op->insn, msg->srcs, msg->src);
	if (reads_pair(b, position)) {
		msg->pair_insn = op[-1].insn;
		msg->pairs = op[-1].info->num_srcs > 3 ? 3 : op[-1].info->num_srcs;
		sources(b, position - 1, op[-1].insn, msg->pairs, msg->pair);
	}
	msg->tuple = position / 2;
	msg->fma = b->clause->tuple[position / 2].fma;
	msg->add = b->clause->tuple[position / 2].add;
	msg->staging_read = tsr_insn_staging_read(op->insn);
	/* stage I/O memory has vectors in aligned registers */
	if (op->insn->op == TSR_OP_ADD_ALD || op->insn->op == TSR_OP_ADD_AST)
		msg->staging &= ~(op->insn->mod[TSR_MOD_VECSIZE] > 1 ? 3 :
							op->insn->mod[TSR_MOD_VECSIZE]);
	b->msg_uop = b->out->uops;
	b->out->flags |= TSR_CLAUSE_MESSAGE;
	if (op->info->message == TSR_MESSAGE_BLEND && b->code_kind & TSR_CODE_FRAGMENT)
		b->out->flags |= TSR_CLAUSE_BLEND;
}

/* Only fragments can be discarded, and only groups of threads have barriers. */
static bool allowed(const struct builder *b, unsigned int op)
{
	switch (op) {
	case TSR_OP_ADD_DISCARD_F32:
		return b->code_kind & TSR_CODE_FRAGMENT;
	case TSR_OP_ADD_BARRIER:
		return !(b->code_kind & (TSR_CODE_FRAGMENT | TSR_CODE_VERTEX));
	default:
		return true;
	}
}

static void emit_discard(struct builder *b, unsigned int position)
{
	struct op *op = &b->op[position];
	struct tsr_uop *uop = append(b);

	uop->insn = op->insn;
	sources(b, position, op->insn, op->info->num_srcs, uop->src);
	/* DISCARD has no result */
	uop->dst = temp(TSR_TEMP_RESULT + position % 4);
	uop->dst_kind = TSR_DST_ALL;
	tsr_discard_select(uop);
	b->out->flags |= TSR_CLAUSE_DISCARD;
}

static void emit(struct builder *b, unsigned int position)
{
	struct op *op = &b->op[position];

	place(b, position);
	if (op->info->semantics != TSR_DEFINED || !allowed(b, op->insn->op))
		fault(b, TSR_FAULT_SHADER_UNSUPPORTED, position);
	switch (op->kind) {
	case KIND_ALU:
		emit_alu(b, position);
		if (!op->needed)	/* the instruction must exist, but need not run */
			b->out->uops--;
		break;
	case KIND_BRANCH:
		emit_branch(b, position);
		break;
	case KIND_DISCARD:
		emit_discard(b, position);
		break;
	case KIND_BARRIER:
		b->out->flags |= TSR_CLAUSE_BARRIER;
		break;
	case KIND_MESSAGE:
		note_message(b, position);
		break;
	default:
		break;
	}
}

/* True if a micro-operation from number @first on writes what @operand names. */
static bool overwritten(const struct builder *b, const struct tsr_operand *operand, int first)
{
	if (operand->space != TSR_LANES_REG && operand->space != TSR_LANES_TEMP)
		return false;
	for (int i = first; i < b->out->uops; i++) {
		if (same(&b->out->uop[i].dst, operand))
			return true;
	}
	return false;
}

/*
 * Messages are sent, and threads branch, at the end of the clause: keep sources that
 * micro-operations from number *@at on overwrite.
 */
static void retain_sources(struct builder *b, int *at, struct tsr_operand *src, unsigned int count)
{
	struct tsr_decoded *d = b->out;

	for (unsigned int i = 0; i < count; i++) {
		struct tsr_operand retained = temp(TSR_TEMP_RETAINED + b->retained);
		struct tsr_uop copy;

		if (!overwritten(b, &src[i], *at))
			continue;
		emit_copy(b, &retained, &src[i], TSR_PORT_WRITE);
		copy = d->uop[d->uops - 1];
		memmove(&d->uop[*at + 1], &d->uop[*at], (d->uops - 1 - *at) * sizeof(copy));
		d->uop[(*at)++] = copy;
		src[i] = retained;
		b->retained++;
	}
}

/*
 * ---- Registers of programs with 32 ------------------------------------------------------------
 */

static bool beyond_32(unsigned int r)
{
	return r >= 16 && r < 48;
}

static void check_registers(struct builder *b)
{
	const struct tsr_clause *c = b->clause;

	for (unsigned int i = 0; i < c->tuples; i++) {
		const struct tsr_tuple *t = &c->tuple[i];
		const struct tsr_reg_mode *mode = &tsr_reg_modes[t->mode];

		if ((t->read0 && beyond_32(t->port[0])) || (t->read1 && beyond_32(t->port[1])) ||
		    (mode->slot2 != TSR_PORT_IDLE && beyond_32(t->port[2])) ||
		    (mode->slot3 != TSR_PORT_IDLE && beyond_32(t->port[3])))
			fault(b, TSR_FAULT_SHADER_ENCODING, 2 * i);
	}
}

/* Staging registers a message takes for certain: of some, descriptors say how many they are. */
static unsigned int staging_certain(const struct tsr_insn *insn, unsigned int read)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	unsigned int written = tsr_insn_staging_written(insn);
	unsigned int words = written > read ? written : read;
	bool known = info->staging_words;

	for (unsigned int i = 0; i < info->num_mods; i++)
		known |= info->mods[i] == TSR_MOD_VECSIZE;
	return known || !words ? words : 1;
}

static void check_staging(struct builder *b)
{
	const struct tsr_decoded_msg *msg = &b->out->msg;
	unsigned int words = staging_certain(msg->insn, msg->staging_read);

	for (unsigned int i = 0; i < words; i++) {
		if (beyond_32((msg->staging + i) % TSR_REGISTERS))
			fault(b, TSR_FAULT_SHADER_ENCODING, 2 * msg->tuple + 1);
	}
}

/* ---- The clause ------------------------------------------------------------------------------ */

static void build(struct builder *b)
{
	for (unsigned int p = 0; p < b->positions; p++) {
		struct op *op = &b->op[p];

		op->insn = p & 1 ? &b->add[p / 2] : &b->fma[p / 2];
		op->info = &tsr_ops[op->insn->op];
		op->reg = NO_REG;
	}
	for (unsigned int p = 0; p < b->positions; p++)
		b->op[p].kind = kind_of(b, p);
	find_writes(b);
	find_needed(b);
	for (unsigned int i = 0; i < b->clause->tuples; i++) {
		emit(b, 2 * i);
		emit(b, 2 * i + 1);
		if (i)
			emit_landing(b, i - 1);
	}
	emit_landing(b, b->clause->tuples - 1u);
	/* The branch first: it stands after the message, so its place does not move. */
	if (b->out->flags & TSR_CLAUSE_BRANCH)
		retain_sources(b, &b->branch_uop, b->branch.src,
			       tsr_ops[b->branch.insn->op].num_srcs);
	if (b->msg_uop >= 0) {
		retain_sources(b, &b->msg_uop, b->out->msg.src, b->out->msg.srcs);
		retain_sources(b, &b->msg_uop, b->out->msg.pair, b->out->msg.pairs);
	}
}

static void header(struct builder *b)
{
	const struct tsr_clause *c = b->clause;
	struct tsr_decoded *d = b->out;

	d->mode = (struct tsr_alu_mode){ c->ftz, c->suppress_inf, c->suppress_nan };
	d->mode_key = c->ftz | c->suppress_inf << 8 | c->suppress_nan << 16;
	d->tuples = c->tuples;
	d->wait = c->wait;
	d->next_pc = d->pc + (uint64_t)c->quads * TSR_QUAD_BYTES;
	d->bytes = c->quads * TSR_QUAD_BYTES;
	d->msg.staging = c->staging_reg;
	d->msg.slot = c->slot;
	d->msg.result = NO_REG;
	if (c->td && b->code_kind & TSR_CODE_FRAGMENT)
		d->flags |= TSR_CLAUSE_TERMINATE;
	if (c->staging_barrier)
		d->flags |= TSR_CLAUSE_STAGING;
	if (c->wait)
		d->flags |= TSR_CLAUSE_WAIT;
	if (c->flow == TSR_FLOW_END)
		d->flags |= TSR_CLAUSE_END;
	if (c->flow == TSR_FLOW_NBTB_PC || c->flow == TSR_FLOW_NBTB_UNCONDITIONAL ||
	    c->flow == TSR_FLOW_BTB_UNCONDITIONAL || c->flow == TSR_FLOW_WE_UNCONDITIONAL)
		d->flags |= TSR_CLAUSE_RECONVERGE;
}

static uint64_t register_bit(const struct tsr_operand *o)
{
	return o->space == TSR_LANES_REG ? 1ull << o->index / TSR_BUNDLE_WARPS : 0;
}

uint64_t tsr_uop_writes(const struct tsr_uop *uop)
{
	/* copies to half a register leave the other half */
	return uop->insn || tsr_move_is_full(uop) ? register_bit(&uop->dst) : 0;
}

uint64_t tsr_uop_reads(const struct tsr_uop *uop)
{
	/* moves have no instruction, and one source */
	unsigned int srcs = uop->insn ? tsr_ops[uop->insn->op].num_srcs : 1;
	uint64_t reads = register_bit(&uop->dst) & ~tsr_uop_writes(uop);

	for (unsigned int i = 0; i < srcs; i++)
		reads |= register_bit(&uop->src[i]);
	for (unsigned int i = 0; i < tsr_uop_pairs(uop); i++)
		reads |= register_bit(&uop->pair[i]);
	return reads;
}

unsigned int tsr_message_writes(const struct tsr_insn *insn)
{
	unsigned int words = tsr_insn_staging_written(insn);

	switch (insn->op) {
	case TSR_OP_ADD_TEXC:	/* its operands may name a second place for results */
		return TSR_REGISTERS;
	case TSR_OP_ADD_LD_CVT:	/* its operands name the type of the registers */
		return 2 * words < 8 ? 8 : 2 * words;
	case TSR_OP_ADD_LOAD_I8:
	case TSR_OP_ADD_LOAD_I16:
	case TSR_OP_ADD_LOAD_I32:	/* which may be extended to 64 bits */
		return 2;
	default:
		return words;
	}
}

/* The registers that micro-operations and the message may write. */
static uint64_t written(const struct builder *b)
{
	const struct tsr_decoded *d = b->out;
	uint64_t registers = 0;

	for (unsigned int i = 0; i < d->uops; i++) {
		if (d->uop[i].dst.space == TSR_LANES_REG)
			registers |= 1ull << d->uop[i].dst.index / TSR_BUNDLE_WARPS;
	}
	if (d->flags & TSR_CLAUSE_MESSAGE) {
		for (unsigned int i = 0; i < tsr_message_writes(d->msg.insn); i++)
			registers |= 1ull << (d->msg.staging + i) % TSR_REGISTERS;
		if (d->msg.result != NO_REG)
			registers |= 1ull << d->msg.result;
	}
	return registers;
}

/* Constants and micro-operations to their final places; how many bytes it is in all. */
static size_t finish(struct builder *b, uint8_t *memory, size_t used)
{
	struct tsr_decoded *d = b->out;

	d->written = written(b);
	d->branch = &d->uop[d->uops];
	*d->branch = b->branch;
	used = (used + (d->uops + 1) * sizeof(*d->uop) + 63) & ~(size_t)63;
	d->konst = (union tsr_lanes *)(memory + used);
	for (unsigned int i = 0; i < b->konsts; i++) {
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			d->konst[i].u[l] = b->konst[i];
	}
	return used + b->konsts * sizeof(*d->konst);
}

size_t tsr_predecode(const struct tsr_simd *alu, const void *code, size_t len, uint64_t pc,
		     unsigned int kind, void *memory, bool *whole)
{
	struct tsr_decoded *d = memory;
	struct tsr_clause clause;
	struct builder b = { .alu = alu, .clause = &clause, .out = d, .msg_uop = -1,
			     .code_kind = kind };
	size_t used = (sizeof(*d) + 63) & ~(size_t)63;
	unsigned int where = 0;
	enum tsr_isa_error error;

	memset(d, 0, sizeof(*d));
	d->pc = pc;
	d->next_pc = pc;
	error = tsr_clause_unpack(code, len, &clause);
	*whole = error != TSR_ISA_TRUNCATED;
	if (error) {
		d->bytes = len < sizeof(d->code) ? len : sizeof(d->code);
		memcpy(d->code, code, d->bytes);
		fault(&b, TSR_FAULT_SHADER_ENCODING, 0);
		return used;
	}
	b.fma = (struct tsr_insn *)((uint8_t *)memory + used);
	b.add = b.fma + clause.tuples;
	used = (used + 2 * clause.tuples * sizeof(*b.fma) + 63) & ~(size_t)63;
	d->uop = (struct tsr_uop *)((uint8_t *)memory + used);
	b.positions = 2 * clause.tuples;
	header(&b);
	memcpy(d->code, code, d->bytes);
	error = tsr_clause_check_at(&clause, b.fma, b.add, &where);
	if (error) {
		fault(&b, TSR_FAULT_SHADER_ENCODING, 2 * where + (error == TSR_ISA_BAD_ADD));
		return used;
	}
	build(&b);
	if (!(kind & TSR_CODE_REGISTERS_64)) {
		check_registers(&b);
		if (d->flags & TSR_CLAUSE_MESSAGE)
			check_staging(&b);
	}
	return finish(&b, memory, used);
}
