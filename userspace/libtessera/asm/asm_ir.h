/* SPDX-License-Identifier: MIT */
/*
 * A clause between text and code: instructions with named operands, before ports are chosen and
 * constants are placed. The parser makes it from text, the disassembler from code; asm_clause.c
 * makes code of it, and the disassembler prints it.
 */
#ifndef ASM_IR_H
#define ASM_IR_H

#include "asm_diag.h"
#include "tsr_isa.h"

enum ir_kind {
	IR_NONE,
	IR_REG,		/* a register; index */
	IR_PORT,	/* a port, whatever it holds; index */
	IR_STAGE,	/* FMA: zero, ADD: the FMA result of this tuple */
	IR_LAST_FMA,	/* results of the tuple before */
	IR_LAST_ADD,
	IR_FAU,		/* a uniform or a special; index is the FAU index */
	IR_WORD,	/* a constant wherever it is placed; word */
	IR_LABEL,	/* the address of a label: the high word of a constant */
	IR_CONST,	/* a word of constant index, declared in the clause */
};

/* A source. */
struct ir_operand {
	uint8_t kind;		/* enum ir_kind */
	uint8_t index;
	uint8_t half;		/* FAU and constants: 1 is the high word; words: set when placed */
	int8_t port;		/* REG: the port to take it from, -1 any that has it */
	uint32_t word;
	uint32_t label;		/* number of the label */
	struct asm_pos pos;
};

#define IR_NO_REG (-1)

/* Where a result goes besides t0 or t1. */
struct ir_dest {
	int8_t reg;		/* IR_NO_REG: nowhere */
	uint8_t action;		/* enum tsr_port_action, one that writes */
	struct asm_pos pos;
};

struct ir_insn {
	bool present;		/* else NOP, left out */
	bool raw;		/* a word, not an instruction: .word */
	uint32_t word;
	struct tsr_insn insn;	/* op, form, modifiers and immediates; not the selectors */
	struct ir_operand src[4];
	struct ir_dest dest;
	int8_t staging;		/* the @ register, -1 none */
	struct asm_pos pos;
	struct asm_pos staging_pos;
};

/* Contents of the [...] line of a tuple. */
struct ir_block {
	bool ports_given;
	bool fau_given;
	bool raw;		/* ports_given: regs is all of the block, FAU index included */
	uint64_t regs;
	uint8_t port[4];
	bool read0, read1;
	uint8_t mode;
	uint8_t fau;		/* index; a constant's low bits are nibble's if given */
	int8_t fau_const;	/* number of the constant, -1: fau is the index */
	int8_t fau_nibble;	/* -1: those of the constant as declared */
	struct asm_pos pos;
};

struct ir_tuple {
	struct ir_insn insn[2];	/* by enum tsr_isa_unit */
	struct ir_block block;
	uint32_t line;
};

/* A declared constant. */
struct ir_const {
	bool given;
	uint64_t value;		/* with the low four bits of the declaration */
	uint8_t pcrel;		/* enum tsr_pcrel */
	bool is_label;		/* the high word is the address of a label */
	uint32_t label;
	struct asm_pos pos;
};

#define IR_NO_LABEL UINT32_MAX

struct ir_clause {
	struct tsr_clause head;	/* header fields alone */
	bool message_given, next_given, staging_given, unchecked;
	uint8_t tuples;
	struct ir_tuple tuple[TSR_CLAUSE_TUPLES_MAX];
	struct ir_const konst[TSR_CLAUSE_CONSTS_MAX];
	bool consts_given;	/* any of konst */
	bool single_given;	/* m= of the constant that shares a quadword with a tuple */
	uint8_t single_m;
	struct asm_pos pos;
};

/*
 * ir_source_of(): the source (0 to 3) that a modifier belongs to, by the digit its name ends in; -1
 * when it belongs to the instruction.
 */
int ir_source_of(unsigned int mod, const struct tsr_op_info *info);

/* ir_dest_name(): "t0" or "t1". */
const char *ir_dest_name(unsigned int unit);

/* True if an instruction may omit its destination when it writes no register. */
bool ir_dest_optional(const struct tsr_op_info *info);

void ir_insn_init(struct ir_insn *ir, unsigned int unit);
void ir_clause_init(struct ir_clause *clause, struct asm_pos pos);

/* Words of the text for header fields, by value; NULL ends them. */
extern const char *const asm_flow_names[];
extern const char *const asm_ftz_names[];
extern const char *const asm_exceptions_names[];
extern const char *const asm_pcrel_names[];	/* "" for none */

/* asm_lower(): a generated name ("LANE_ID") as the text has it; returns @room. */
#define ASM_NAME_MAX 32
const char *asm_lower(const char *name, char room[ASM_NAME_MAX]);

/* -- asm_consts.c ---------------------------------------------------------------------------- */

/*
 * asm_consts_place(): give every constant of the clause a place. Fills consts, konst, pcrel and
 * single_m of @out and fau of its tuples, sets half of the operands of @ir, and label[n] to the
 * label in the high word of constant n or IR_NO_LABEL.
 */
bool asm_consts_place(struct ir_clause *ir, struct tsr_clause *out,
		      uint32_t label[TSR_CLAUSE_CONSTS_MAX], struct asm_diags *diags);

/* -- asm_ports.c ----------------------------------------------------------------------------- */

/*
 * asm_ports_place(): choose the ports of tuple @at and encode its instructions. The FAU index of
 * @out and the halves of the operands are set already.
 */
bool asm_ports_place(const struct ir_clause *ir, unsigned int at, struct tsr_tuple *out,
		     struct asm_diags *diags);

/* -- asm_clause.c ---------------------------------------------------------------------------- */

/*
 * asm_clause(): @ir to a clause that packs, but for next_message when !ir->next_given and the
 * addresses of labels, see asm_consts_place().
 */
bool asm_clause(struct ir_clause *ir, struct tsr_clause *out,
		uint32_t label[TSR_CLAUSE_CONSTS_MAX], struct asm_diags *diags);

/* asm_clause_link(): the distance to a label from its clause into a constant's high word. */
void asm_clause_link(struct tsr_clause *clause, unsigned int konst, int64_t distance);

/* asm_clause_distance(): what asm_clause_link() put there. */
int64_t asm_clause_distance(const struct tsr_clause *clause, unsigned int konst);

#define ASM_DISTANCE_MAX ((1 << 27) - 16)	/* either way */

#endif /* ASM_IR_H */
