// SPDX-License-Identifier: MIT
/* Clauses as text, see disasm.h. */
#include <inttypes.h>
#include <string.h>

#include "disasm.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

struct printer {
	FILE *out;
	const struct ir_clause *ir;
	bool plain;	/* no comments */
};

static void print_message(FILE *out, const char *field, unsigned int message)
{
	char room[ASM_NAME_MAX];

	if (tsr_message_name(message))
		fprintf(out, " %s=%s", field, asm_lower(tsr_message_name(message), room));
	else
		fprintf(out, " %s=%u", field, message);
}

static void print_wait(FILE *out, unsigned int wait)
{
	const char *before = " wait=";
	unsigned int slot;

	for (slot = 0; slot < 8; slot++) {
		if (!(wait & 1u << slot))
			continue;
		fprintf(out, "%s%u", before, slot);
		before = ",";
	}
}

static bool sends(const struct ir_clause *ir)
{
	unsigned int i;

	for (i = 0; i < 2u * ir->tuples; i++) {
		const struct ir_insn *insn = &ir->tuple[i / 2].insn[i % 2];

		if (!insn->raw && tsr_insn_message(&insn->insn))
			return true;
	}
	return false;
}

static void print_header(const struct printer *p, const char *comment)
{
	const struct tsr_clause *h = &p->ir->head;
	FILE *out = p->out;

	fputs("clause", out);
	if (h->flow == TSR_FLOW_END)
		fputs(" end", out);
	else if (h->flow != TSR_FLOW_NBTB)
		fprintf(out, " flow=%s", asm_flow_names[h->flow]);
	if (h->message || sends(p->ir))
		print_message(out, "message", h->message);
	if (h->message || h->slot)
		fprintf(out, " slot=%u", h->slot);
	print_wait(out, h->wait);
	if (p->ir->staging_given)
		fprintf(out, " staging=r%u", h->staging_reg);
	if (h->staging_barrier)
		fputs(" staging_barrier", out);
	if (h->td)
		fputs(" td", out);
	if (h->prefetch)
		fputs(" prefetch", out);
	if (h->ftz)
		fprintf(out, " ftz=%s", asm_ftz_names[h->ftz]);
	if (h->suppress_inf)
		fputs(" suppress_inf", out);
	if (h->suppress_nan)
		fputs(" suppress_nan", out);
	if (h->float_exceptions)
		fprintf(out, " float_exceptions=%s", asm_exceptions_names[h->float_exceptions]);
	if (p->ir->next_given)
		print_message(out, "next", h->next_message);
	if (p->ir->unchecked)
		fputs(" unchecked", out);
	fprintf(out, " {%s%s\n", *comment && !p->plain ? "\t; " : "", p->plain ? "" : comment);
}

/* -- operands -------------------------------------------------------------------------------- */

static void print_fau(FILE *out, unsigned int fau)
{
	char room[ASM_NAME_MAX];

	if (tsr_fau_is_uniform(fau))
		fprintf(out, "u%u", fau & 0x7f);
	else if (tsr_fau_name(fau))
		fputs(asm_lower(tsr_fau_name(fau), room), out);
	else
		fprintf(out, "fau%u", fau);
}

/* A word, with the float it may be. */
static void print_word(const struct printer *p, uint32_t word)
{
	unsigned int exponent = word >> 23 & 0xff;
	float value;

	fprintf(p->out, "0x%08" PRIx32, word);
	/* small integers and odd bits are no floats that anybody means */
	if (p->plain || exponent < 0x60 || exponent > 0xa0)
		return;
	memcpy(&value, &word, sizeof(value));
	fprintf(p->out, " /* %.7g */", (double)value);
}

static void print_operand(const struct printer *p, unsigned int unit, const struct ir_operand *src)
{
	FILE *out = p->out;

	switch (src->kind) {
	case IR_REG:
		fprintf(out, "r%u", src->index);
		if (src->port >= 0)
			fprintf(out, ":p%d", src->port);
		break;
	case IR_PORT:
		fprintf(out, "p%u", src->index);
		break;
	case IR_STAGE:
		fputs(unit == TSR_ISA_FMA ? "#0" : "t", out);
		break;
	case IR_LAST_FMA:
		fputs("t0", out);
		break;
	case IR_LAST_ADD:
		fputs("t1", out);
		break;
	case IR_FAU:
		print_fau(out, src->index);
		fprintf(out, ".w%u", src->half);
		break;
	case IR_WORD:
		print_word(p, src->word);
		break;
	case IR_LABEL:
		fprintf(out, "L%" PRIx32, src->label);
		break;
	default:
		fprintf(out, "k%u.w%u", src->index, src->half);
		break;
	}
}

/* Modifiers of a source, or of the instruction (-1), that are not the usual ones. */
static void print_modifiers(FILE *out, const struct tsr_insn *insn, int source)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	unsigned int i;

	for (i = 0; i < info->num_mods; i++) {
		unsigned int mod = info->mods[i];

		if (ir_source_of(mod, info) == source && insn->mod[mod] != info->mod_defaults[i])
			fprintf(out, ".%s", tsr_mod_value_name(mod, insn->mod[mod]));
	}
}

/* The destination with what separates it; returns what comes before the next operand. */
static const char *print_dest(FILE *out, const struct ir_insn *ir, unsigned int unit, bool optional)
{
	const char *temp = ir_dest_name(unit);

	if (ir->dest.reg == IR_NO_REG) {
		if (optional)
			return " ";
		fprintf(out, " %s", temp);
		return ", ";
	}
	fprintf(out, " r%d%s:%s", ir->dest.reg, ir->dest.action == TSR_PORT_WRITE_LO ? ".h0" :
		ir->dest.action == TSR_PORT_WRITE_HI ? ".h1" : "", temp);
	return ", ";
}

/* ---- stage I/O memory ----------------------------------------------------------------------- */

static bool is_register(const struct ir_operand *src, unsigned int index)
{
	return src->kind == IR_REG && src->port < 0 && src->index == index;
}

/* The register that stands for a source that does not count, the other one being @src. */
static unsigned int idle_register(const struct ir_operand *src, bool counts)
{
	return counts && src->kind == IR_REG ? src->index : 63;
}

/* The stage word of an instruction that a[...] would be assembled to as it is; 0: none. */
static uint32_t place_of(const struct ir_insn *ir)
{
	const bool index = ir->insn.op == TSR_OP_ADD_AL2P, store = ir->insn.op == TSR_OP_ADD_AST;
	struct tsr_stage_word s;
	uint64_t word;

	if ((ir->insn.op != TSR_OP_ADD_ALD && !store && !index) || ir->src[2].kind != IR_WORD)
		return 0;
	word = ir->src[2].word;
	tsr_unpack_stage_word(&word, &s);
	if (word >> (TSR_STAGE_WORD_HANDLE__SHIFT + 1) || !word || (store && !s.output) ||
	    (index && s.patch) || (s.immediate > 1023 && !(s.patch && s.indexed)) ||
	    (s.indexed && !s.patch && !index && s.immediate))
		return 0;
	if (s.indexed ? ir->src[0].kind != IR_REG || ir->src[0].port >= 0 :
			!is_register(&ir->src[0], idle_register(&ir->src[1], s.handle)))
		return 0;
	if (!s.handle && !is_register(&ir->src[1], idle_register(&ir->src[0], s.indexed)))
		return 0;
	return (uint32_t)word;
}

/* "ALD.p.v2 a[r1 + 4], r5, @r8" */
static void print_place(const struct printer *p, const struct ir_insn *ir, unsigned int unit,
			uint32_t packed)
{
	const uint64_t word = packed;
	struct tsr_stage_word s;
	int offset;

	tsr_unpack_stage_word(&word, &s);
	offset = s.patch && s.indexed ? (int)(s.immediate ^ 0x400) - 0x400 : (int)s.immediate;
	fputs(tsr_ops[ir->insn.op].name, p->out);
	if (s.output && ir->insn.op != TSR_OP_ADD_AST)
		fputs(".o", p->out);
	if (s.patch)
		fputs(".p", p->out);
	else if (s.indexed && ir->insn.op != TSR_OP_ADD_AL2P)
		fputs(".phys", p->out);
	print_modifiers(p->out, &ir->insn, -1);
	if (!s.indexed)
		fprintf(p->out, " a[0x%x]", (unsigned int)offset);
	else if (!offset)
		fprintf(p->out, " a[r%u]", ir->src[0].index);
	else
		fprintf(p->out, " a[r%u %c %d]", ir->src[0].index, offset < 0 ? '-' : '+',
			offset < 0 ? -offset : offset);
	if (s.handle) {
		fputs(", ", p->out);
		print_operand(p, unit, &ir->src[1]);
	}
	fprintf(p->out, ", @r%d\n", ir->staging);
}

static void print_insn(const struct printer *p, const struct ir_insn *ir, unsigned int unit)
{
	const struct tsr_op_info *info = &tsr_ops[ir->insn.op];
	bool is_nop = ir->insn.op == TSR_OP_FMA_NOP || ir->insn.op == TSR_OP_ADD_NOP;
	const char *before;
	FILE *out = p->out;
	unsigned int i;

	fputs(unit == TSR_ISA_FMA ? "\t*" : "\t+", out);
	if (ir->raw) {
		fputs(".word", out);
		before = print_dest(out, ir, unit, true);
		fprintf(out, "%s0x%05" PRIx32 "\n", before, ir->word);
		return;
	}
	if (ir->dest.reg == IR_NO_REG && place_of(ir)) {
		print_place(p, ir, unit, place_of(ir));
		return;
	}
	fputs(info->name, out);
	print_modifiers(out, &ir->insn, -1);
	before = print_dest(out, ir, unit, is_nop || ir_dest_optional(info));
	for (i = 0; i < info->num_srcs; i++, before = ", ") {
		fputs(before, out);
		print_operand(p, unit, &ir->src[i]);
		print_modifiers(out, &ir->insn, (int)i);
	}
	for (i = 0; i < info->num_imms; i++, before = ", ")
		fprintf(out, "%s%s:%" PRIu32, before, tsr_imm_names[info->imms[i]],
			ir->insn.imm[info->imms[i]]);
	if (ir->staging >= 0)
		fprintf(out, "%s@r%d", before, ir->staging);
	fputc('\n', out);
}

/* -- the rest -------------------------------------------------------------------------------- */

static void print_block(FILE *out, const struct ir_block *block)
{
	if (!block->ports_given && !block->fau_given)
		return;
	fputs("\t[", out);
	if (block->ports_given && block->raw) {
		fprintf(out, "regs=0x%09" PRIx64, block->regs);
	} else if (block->ports_given) {
		if (block->read0)
			fprintf(out, "p0=r%u ", block->port[0]);
		if (block->read1)
			fprintf(out, "p1=r%u ", block->port[1]);
		fprintf(out, "p2=r%u p3=r%u mode=%u", block->port[2], block->port[3], block->mode);
	}
	if (block->fau_given) {
		fputs(block->ports_given ? " fau=" : "fau=", out);
		if (block->fau_const >= 0)
			fprintf(out, "k%d+%d", block->fau_const, block->fau_nibble);
		else if (!tsr_fau_is_uniform(block->fau) && !tsr_fau_name(block->fau))
			fprintf(out, "%u", block->fau);
		else
			print_fau(out, block->fau);
	}
	fputs("]\n", out);
}

static void print_const(const struct printer *p, unsigned int n)
{
	const struct ir_const *k = &p->ir->konst[n];

	fprintf(p->out, "\tk%u = ", n);
	if (k->is_label) {
		fprintf(p->out, "0x%08" PRIx32 ", L%" PRIx32, (uint32_t)k->value, k->label);
	} else {
		if (k->pcrel)
			fprintf(p->out, "pc.%s ", asm_pcrel_names[k->pcrel]);
		fprintf(p->out, "0x%08" PRIx32 ", 0x%08" PRIx32, (uint32_t)k->value,
			(uint32_t)(k->value >> 32));
	}
	if (n == 0 && p->ir->single_given)
		fprintf(p->out, " m=0x%02x", p->ir->single_m);
	fputc('\n', p->out);
}

void disasm_print(FILE *out, const struct ir_clause *ir, const char *comment, bool plain)
{
	struct printer p = { out, ir, plain };
	unsigned int i;

	print_header(&p, comment);
	for (i = 0; i < TSR_CLAUSE_CONSTS_MAX; i++) {
		if (ir->konst[i].given)
			print_const(&p, i);
	}
	for (i = 0; i < ir->tuples; i++) {
		print_block(out, &ir->tuple[i].block);
		print_insn(&p, &ir->tuple[i].insn[TSR_ISA_FMA], TSR_ISA_FMA);
		print_insn(&p, &ir->tuple[i].insn[TSR_ISA_ADD], TSR_ISA_ADD);
	}
	fputs("}\n", out);
}
