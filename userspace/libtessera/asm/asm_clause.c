// SPDX-License-Identifier: MIT
/* A clause of named operands to one that can be packed, see asm_ir.h. */
#include <ctype.h>
#include <string.h>

#include "asm_ir.h"

const char *const asm_flow_names[] = {
	[TSR_FLOW_END] = "end",
	[TSR_FLOW_NBTB_PC] = "nbtb_pc",
	[TSR_FLOW_NBTB_UNCONDITIONAL] = "nbtb_unconditional",
	[TSR_FLOW_NBTB] = "nbtb",
	[TSR_FLOW_BTB_UNCONDITIONAL] = "btb_unconditional",
	[TSR_FLOW_BTB] = "btb",
	[TSR_FLOW_WE_UNCONDITIONAL] = "we_unconditional",
	[TSR_FLOW_WE] = "we",
	NULL
};

const char *const asm_ftz_names[] = {
	[TSR_FTZ_OFF] = "off",
	[TSR_FTZ_DX11] = "dx11",
	[TSR_FTZ_ALWAYS] = "always",
	[TSR_FTZ_ABRUPT] = "abrupt",
	NULL
};

const char *const asm_exceptions_names[] = {
	[TSR_FLOAT_EXCEPTIONS_ENABLED] = "enabled",
	[TSR_FLOAT_EXCEPTIONS_DISABLED] = "disabled",
	[TSR_FLOAT_EXCEPTIONS_PRECISE_DIVISION] = "precise_division",
	[TSR_FLOAT_EXCEPTIONS_PRECISE_SQRT] = "precise_sqrt",
	NULL
};

const char *const asm_pcrel_names[] = {
	[TSR_PCREL_NONE] = "",
	[TSR_PCREL_LO] = "lo",
	[TSR_PCREL_HI] = "hi",
	[TSR_PCREL_LO_HI] = "lo_hi",
	NULL
};

const char *asm_lower(const char *name, char room[ASM_NAME_MAX])
{
	size_t i;

	for (i = 0; name[i] && i < ASM_NAME_MAX - 1; i++)
		room[i] = (char)tolower((unsigned char)name[i]);
	room[i] = '\0';
	return room;
}

int ir_source_of(unsigned int mod, const struct tsr_op_info *info)
{
	const char *name = tsr_mod_names[mod];
	int digit = name[strlen(name) - 1] - '0';

	return digit >= 0 && digit < info->num_srcs ? digit : -1;
}

const char *ir_dest_name(unsigned int unit)
{
	return unit == TSR_ISA_FMA ? "t0" : "t1";
}

bool ir_dest_optional(const struct tsr_op_info *info)
{
	return !info->result || info->staging != TSR_STAGING_NONE;
}

void ir_insn_init(struct ir_insn *ir, unsigned int unit)
{
	memset(ir, 0, sizeof(*ir));
	ir->insn.op = unit == TSR_ISA_FMA ? TSR_OP_FMA_NOP : TSR_OP_ADD_NOP;
	ir->insn.form = TSR_FORM_ANY;
	ir->dest.reg = IR_NO_REG;
	ir->staging = -1;
}

void ir_clause_init(struct ir_clause *clause, struct asm_pos pos)
{
	unsigned int i, unit;

	memset(clause, 0, sizeof(*clause));
	clause->head.flow = TSR_FLOW_NBTB;
	clause->pos = pos;
	for (i = 0; i < TSR_CLAUSE_TUPLES_MAX; i++) {
		for (unit = 0; unit < 2; unit++)
			ir_insn_init(&clause->tuple[i].insn[unit], unit);
		clause->tuple[i].block.fau_const = -1;
		clause->tuple[i].block.fau_nibble = -1;
	}
}

/* The message the instructions send. */
static enum tsr_message message_of(const struct ir_clause *ir)
{
	unsigned int i;

	for (i = 0; i < 2u * ir->tuples; i++) {
		const struct ir_insn *insn = &ir->tuple[i / 2].insn[i % 2];
		enum tsr_message sent = insn->raw ? TSR_MESSAGE_NONE :
						    tsr_insn_message(&insn->insn);

		if (sent)
			return sent;
	}
	return TSR_MESSAGE_NONE;
}

/* Header fields that follow from the instructions: the message, the staging register. */
static bool fill_header(struct ir_clause *ir, struct tsr_clause *out, struct asm_diags *diags)
{
	bool staging = ir->staging_given;
	unsigned int i, unit;

	if (!ir->message_given)
		out->message = (uint8_t)message_of(ir);
	for (i = 0; i < ir->tuples; i++) {
		for (unit = 0; unit < 2; unit++) {
			const struct ir_insn *insn = &ir->tuple[i].insn[unit];

			if (insn->staging < 0)
				continue;
			if (staging && out->staging_reg != insn->staging) {
				asm_error(diags, insn->staging_pos, "@r%d beside staging register "
					  "r%u: a clause has one, expected @r%u", insn->staging,
					  out->staging_reg, out->staging_reg);
				return false;
			}
			staging = true;
			out->staging_reg = (uint8_t)insn->staging;
		}
	}
	return true;
}

/* Results of a tuple before the first cannot be. */
static bool check_passing(const struct ir_clause *ir, struct asm_diags *diags)
{
	unsigned int unit, i;

	for (unit = 0; unit < 2; unit++) {
		const struct ir_insn *insn = &ir->tuple[0].insn[unit];

		for (i = 0; i < 4; i++) {
			if (insn->src[i].kind != IR_LAST_FMA && insn->src[i].kind != IR_LAST_ADD)
				continue;
			asm_error(diags, insn->src[i].pos, "%s in the first tuple of a clause: "
				  "there is no tuple before it",
				  insn->src[i].kind == IR_LAST_FMA ? "t0" : "t1");
			return false;
		}
	}
	return true;
}

/* The rules between the parts of a clause. */
static bool check_rules(const struct ir_clause *ir, const struct tsr_clause *out,
			struct asm_diags *diags)
{
	struct tsr_insn fma[TSR_CLAUSE_TUPLES_MAX], add[TSR_CLAUSE_TUPLES_MAX];
	enum tsr_isa_error error;
	unsigned int where = 0;
	struct asm_pos pos;

	if (!check_passing(ir, diags))
		return false;
	error = tsr_clause_check_at(out, fma, add, &where);
	if (!error)
		return true;
	pos = ir->tuple[where].insn[TSR_ISA_ADD].present ? ir->tuple[where].insn[TSR_ISA_ADD].pos :
							   ir->tuple[where].insn[TSR_ISA_FMA].pos;
	if (error == TSR_ISA_MESSAGE_MISMATCH) {
		char room[ASM_NAME_MAX];

		asm_error(diags, ir->pos, "the header's message is not what the instructions send, "
			  "expected message=%s", asm_lower(tsr_message_name(message_of(ir)), room));
		return false;
	}
	asm_error(diags, pos, "%s (\"clause unchecked\" assembles it all the same)",
		  tsr_isa_error_text(error));
	return false;
}

/* A register that the tuple before writes still has its old value. */
static void warn_late(const struct ir_tuple *tuple, const struct ir_tuple *before,
		      struct asm_diags *diags)
{
	unsigned int i, unit;

	for (i = 0; i < 8; i++) {
		const struct ir_operand *src = &tuple->insn[i / 4].src[i % 4];

		for (unit = 0; unit < 2 && src->kind == IR_REG; unit++) {
			if (before->insn[unit].dest.reg != (int)src->index)
				continue;
			asm_warning(diags, src->pos,
				    "r%u is read before the tuple above writes it, "
				    "expected %s if its result is meant", src->index,
				    ir_dest_name(unit));
		}
	}
}

bool asm_clause(struct ir_clause *ir, struct tsr_clause *out,
		uint32_t label[TSR_CLAUSE_CONSTS_MAX], struct asm_diags *diags)
{
	uint8_t code[TSR_CLAUSE_BYTES_MAX];
	enum tsr_isa_error error;
	bool good = true;
	size_t length;
	unsigned int i;

	*out = ir->head;
	out->tuples = ir->tuples;
	if (!fill_header(ir, out, diags) || !asm_consts_place(ir, out, label, diags))
		return false;
	for (i = 0; i < ir->tuples; i++)
		good &= asm_ports_place(ir, i, &out->tuple[i], diags);
	if (!good || (!ir->unchecked && !check_rules(ir, out, diags)))
		return false;
	for (i = 1; diags && i < ir->tuples; i++)
		warn_late(&ir->tuple[i], &ir->tuple[i - 1], diags);
	error = tsr_clause_pack(out, code, &length);
	if (error)
		asm_error(diags, ir->pos, "%s", tsr_isa_error_text(error));
	return !error;
}

/* The number in bits 32 to 59; the four above relate the constants of a pair. */
#define DISTANCE_SHIFT 32
#define DISTANCE_BITS 28

void asm_clause_link(struct tsr_clause *clause, unsigned int konst, int64_t distance)
{
	uint64_t mask = ((1ULL << DISTANCE_BITS) - 1) << DISTANCE_SHIFT;

	clause->konst[konst] &= ~mask;
	clause->konst[konst] |= (uint64_t)distance << DISTANCE_SHIFT & mask;
}

int64_t asm_clause_distance(const struct tsr_clause *clause, unsigned int konst)
{
	uint64_t bits = clause->konst[konst] >> DISTANCE_SHIFT & ((1ULL << DISTANCE_BITS) - 1);
	uint64_t sign = 1ULL << (DISTANCE_BITS - 1);

	return (int64_t)(bits ^ sign) - (int64_t)sign;
}
