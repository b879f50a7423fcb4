// SPDX-License-Identifier: MIT
/* Instructions: mnemonics, modifiers, operands. */
#include <stdio.h>
#include <string.h>

#include "asm_parse.h"
#include "tsr_regs.h"

#define PATH_MAX_PARTS 12	/* names of a mnemonic with its modifiers */
#define OPERANDS_MAX 9
#define SUFFIXES_MAX 6

/* A mnemonic: names with points between. */
struct path {
	struct asm_token name[PATH_MAX_PARTS];
	unsigned int parts;
};

/* An operand as it stands in the text, before the instruction says what it is. */
struct written {
	struct asm_token first;		/* a name or a number */
	bool is_staging;		/* behind @ */
	bool has_colon;
	struct asm_token colon;		/* what follows the colon */
	struct asm_token suffix[SUFFIXES_MAX];
	unsigned int suffixes;
	/* a[index + offset]: a place in stage I/O memory */
	bool is_space, has_index;
	struct asm_token index;
	int64_t offset;
};

/* -- reading --------------------------------------------------------------------------------- */

static bool read_suffix(struct asm_parser *parser, struct written *w)
{
	if (parser->token.kind != ASM_NAME)
		return asm_unexpected(parser, "a modifier behind the point");
	if (w->suffixes == SUFFIXES_MAX) {
		asm_error(parser->diags, parser->token.pos,
			  "too many modifiers, expected at most %d",
			  SUFFIXES_MAX);
		return false;
	}
	w->suffix[w->suffixes++] = parser->token;
	asm_advance(parser);
	return true;
}

static bool is_number(const struct asm_token *token)
{
	return token->kind == ASM_NUMBER || token->kind == ASM_FLOAT ||
	       token->kind == ASM_STAGE_ZERO;
}

/* Behind "a": "[N]", "[rN]" or "[rN + N]". */
static bool read_space(struct asm_parser *parser, struct written *w)
{
	bool number = true, minus = false;

	asm_advance(parser);
	w->is_space = true;
	w->has_index = parser->token.kind == ASM_NAME;
	if (w->has_index) {
		w->index = parser->token;
		asm_advance(parser);
		minus = asm_accept(parser, '-');
		number = minus || asm_accept(parser, '+') || parser->token.kind == ASM_NUMBER;
	}
	if (number && (parser->token.kind != ASM_NUMBER || parser->token.value > 4096))
		return asm_unexpected(parser, "a byte of attribute space");
	if (number) {
		w->offset = parser->token.negative != minus ? -(int64_t)parser->token.value
						   : (int64_t)parser->token.value;
		asm_advance(parser);
	}
	return asm_expect(parser, ']', "]");
}

static bool read_operand(struct asm_parser *parser, struct written *w)
{
	*w = (struct written){ .is_staging = asm_accept(parser, '@') };
	if (parser->token.kind == ASM_BAD)
		return false;
	if (parser->token.kind != ASM_NAME &&
	    (w->is_staging || !is_number(&parser->token)))
		return asm_unexpected(parser, w->is_staging ? "a register behind @" : "an operand");
	w->first = parser->token;
	asm_advance(parser);
	if (!w->is_staging && asm_name_is(&w->first, "a") && asm_is(&parser->token, '['))
		return read_space(parser, w);
	for (;;) {
		if (asm_accept(parser, '.')) {
			if (!read_suffix(parser, w))
				return false;
		} else if (!w->has_colon && asm_accept(parser, ':')) {
			if (parser->token.kind != ASM_NAME && parser->token.kind != ASM_NUMBER)
				return asm_unexpected(parser, "t0, t1, a port or a number");
			w->has_colon = true;
			w->colon = parser->token;
			asm_advance(parser);
		} else {
			return true;
		}
	}
}

static bool at_end(const struct asm_parser *parser)
{
	return parser->token.kind == ASM_NEWLINE || parser->token.kind == ASM_END ||
	       asm_is(&parser->token, '+') || asm_is(&parser->token, '*') ||
	       asm_is(&parser->token, '}');
}

static bool read_operands(struct asm_parser *parser, struct written *list, unsigned int *num)
{
	*num = 0;
	if (at_end(parser))
		return true;
	do {
		if (*num == OPERANDS_MAX) {
			asm_error(parser->diags, parser->token.pos, "too many operands");
			return false;
		}
		if (!read_operand(parser, &list[*num]))
			return false;
		++*num;
	} while (asm_accept(parser, ','));
	return at_end(parser) || asm_unexpected(parser, "a comma or the end of the line");
}

static bool read_path(struct asm_parser *parser, struct path *path)
{
	path->parts = 0;
	do {
		if (parser->token.kind != ASM_NAME)
			return asm_unexpected(parser, path->parts ? "a modifier behind the point" :
								    "an instruction");
		if (path->parts == PATH_MAX_PARTS) {
			asm_error(parser->diags, parser->token.pos, "too many modifiers");
			return false;
		}
		path->name[path->parts++] = parser->token;
		asm_advance(parser);
	} while (asm_accept(parser, '.'));
	return true;
}

/* -- mnemonics ------------------------------------------------------------------------------- */

/* How many parts of the path are this name, all of it; 0: another name. */
static unsigned int match_name(const char *name, const struct path *path)
{
	unsigned int i;

	for (i = 0; i < path->parts; i++) {
		const struct asm_token *part = &path->name[i];

		if (strncmp(name, part->text, part->length))
			return 0;
		name += part->length;
		if (!*name)
			return i + 1;
		if (*name++ != '.')
			return 0;
	}
	return 0;
}

/* The instruction of a unit with the longest name that the path begins with, -1 none. */
static int find_op(unsigned int unit, const struct path *path, unsigned int *parts)
{
	int op, best = -1;

	*parts = 0;
	for (op = 0; op < TSR_OP__COUNT; op++) {
		unsigned int n = tsr_ops[op].unit == unit ? match_name(tsr_ops[op].name, path) : 0;

		if (n > *parts) {
			*parts = n;
			best = op;
		}
	}
	return best;
}

/* Say what the unit has instead: the same name in the other unit, or variants. */
static void explain_op(struct asm_parser *parser, unsigned int unit, const struct path *path)
{
	const char *unit_name = unit == TSR_ISA_FMA ? "FMA" : "ADD";
	const struct asm_token *name = &path->name[0];
	struct asm_words words = { 0 };
	char room[ASM_DESCRIBE_MAX];
	unsigned int parts;
	int op;

	for (op = 0; op < TSR_OP__COUNT; op++) {
		const char *at = tsr_ops[op].name;

		if (tsr_ops[op].unit == unit && !strncmp(at, name->text, name->length) &&
		    at[name->length] == '.')
			asm_words_add(&words, at);
	}
	if (words.length)
		asm_error(parser->diags, name->pos,
			  "the %s unit has no such %s, expected one of: %s",
			  unit_name, asm_describe(name, room), words.text);
	else if (find_op(!unit, path, &parts) >= 0)
		asm_error(parser->diags, name->pos,
			  "%s is no instruction of the %s unit, expected it "
			  "behind %c", asm_describe(name, room), unit_name,
			  unit == TSR_ISA_FMA ? '+' : '*');
	else
		asm_error(parser->diags, name->pos, "%s is no instruction of the %s unit",
			  asm_describe(name, room), unit_name);
}

/* -- modifiers ------------------------------------------------------------------------------- */

/* The value of a modifier that has this name, -1 none. */
static int value_named(unsigned int mod, const struct asm_token *token)
{
	const char *name;
	int v;

	for (v = 0; (name = tsr_mod_value_name(mod, (unsigned int)v)); v++) {
		if (asm_name_is(token, name))
			return v;
	}
	return -1;
}

/* Has the instruction an encoding, with its first two sources in one order or the other? */
static bool encodes(struct tsr_insn *insn)
{
	uint32_t word;
	unsigned int order;

	for (order = 0; order < 2; order++) {
		insn->src[0] = order ? TSR_SELECT_PORT1 : TSR_SELECT_PORT0;
		insn->src[1] = order ? TSR_SELECT_PORT0 : TSR_SELECT_PORT1;
		if (tsr_insn_encode(insn, &word))
			return true;
	}
	return false;
}

/*
 * Can the instruction have this value of a modifier, the others being as usual? Those without usual
 * value are tried one after the other.
 */
static bool possible(const struct tsr_op_info *info, unsigned int mod, unsigned int value)
{
	struct tsr_insn insn = { .op = (uint16_t)(info - tsr_ops), .form = TSR_FORM_ANY };
	unsigned int i, v;

	for (i = 0; i < info->num_mods; i++) {
		if (info->mod_defaults[i] != TSR_MOD_WRITTEN)
			insn.mod[info->mods[i]] = info->mod_defaults[i];
	}
	insn.mod[mod] = (uint8_t)value;
	if (encodes(&insn))
		return true;
	for (i = 0; i < info->num_mods; i++) {
		struct tsr_insn trial = insn;

		if (info->mods[i] == mod || info->mod_defaults[i] != TSR_MOD_WRITTEN)
			continue;
		for (v = 0; tsr_mod_value_name(info->mods[i], v); v++) {
			trial.mod[info->mods[i]] = (uint8_t)v;
			if (encodes(&trial))
				return true;
		}
	}
	return false;
}

static void list_values(const struct tsr_op_info *info, unsigned int mod, struct asm_words *words)
{
	const char *name;
	unsigned int v;

	for (v = 0; (name = tsr_mod_value_name(mod, v)); v++) {
		if (strcmp(name, "none") && possible(info, mod, v))
			asm_words_add(words, name);
	}
}

static void explain_modifier(struct asm_parser *parser, const struct tsr_op_info *info, int source,
			     const struct asm_token *token)
{
	struct asm_words words = { 0 };
	char room[ASM_DESCRIBE_MAX];
	unsigned int i;

	for (i = 0; i < info->num_mods; i++) {
		if (ir_source_of(info->mods[i], info) == source)
			list_values(info, info->mods[i], &words);
	}
	if (!words.length)
		asm_words_add(&words, "no modifier here");
	if (source < 0)
		asm_error(parser->diags, token->pos, "%s is no modifier of %s, expected: %s",
			  asm_describe(token, room), info->name, words.text);
	else
		asm_error(parser->diags, token->pos,
			  "%s is no modifier of source %d of %s, expected: %s",
			  asm_describe(token, room), source, info->name, words.text);
}

/*
 * Set the modifier of source @source (-1: of the instruction) that has a value of this name. The
 * name none is for a modifier whose usual value is another one.
 */
static bool set_modifier(struct asm_parser *parser, struct ir_insn *ir, int source,
			 const struct asm_token *token, uint64_t *seen)
{
	const struct tsr_op_info *info = &tsr_ops[ir->insn.op];
	unsigned int i;

	for (i = 0; i < info->num_mods; i++) {
		unsigned int mod = info->mods[i];
		int v = ir_source_of(mod, info) == source ? value_named(mod, token) : -1;

		if (v < 0 || (asm_name_is(token, "none") && info->mod_defaults[i] == v))
			continue;
		if (*seen & 1ULL << i) {
			asm_error(parser->diags, token->pos, "a second value of the modifier %s",
				  tsr_mod_names[mod]);
			return false;
		}
		*seen |= 1ULL << i;
		ir->insn.mod[mod] = (uint8_t)v;
		return true;
	}
	explain_modifier(parser, info, source, token);
	return false;
}

/* Give modifiers that the text leaves out their usual values; false when one has none. */
static bool set_defaults(struct asm_parser *parser, struct ir_insn *ir, uint64_t seen)
{
	const struct tsr_op_info *info = &tsr_ops[ir->insn.op];
	unsigned int i;

	for (i = 0; i < info->num_mods; i++) {
		unsigned int mod = info->mods[i];
		int source = ir_source_of(mod, info);
		struct asm_words words = { 0 };

		if (seen & 1ULL << i)
			continue;
		if (info->mod_defaults[i] != TSR_MOD_WRITTEN) {
			ir->insn.mod[mod] = info->mod_defaults[i];
			continue;
		}
		list_values(info, mod, &words);
		asm_error(parser->diags, source < 0 ? ir->pos : ir->src[source].pos,
			  "%s without %s, expected one of: %s", info->name, tsr_mod_names[mod],
			  words.text);
		return false;
	}
	return true;
}

/* -- operands -------------------------------------------------------------------------------- */

/* A suffix that says which word of a FAU entry; 0 when it is none. */
static unsigned int take_half(const struct written *w, uint8_t *half)
{
	*half = w->suffixes && asm_name_is(&w->suffix[0], "w1");
	return w->suffixes && (*half || asm_name_is(&w->suffix[0], "w0"));
}

/* Operands that are names of the hardware; false when it is another name. */
static bool hardware_name(unsigned int unit, const struct written *w, struct ir_operand *src,
			  unsigned int *suffix)
{
	const struct asm_token *t = &w->first;
	int n;

	*suffix = 0;
	if (unit == TSR_ISA_ADD && asm_name_is(t, "t")) {
		src->kind = IR_STAGE;
	} else if (asm_name_is(t, "t0")) {
		src->kind = IR_LAST_FMA;
	} else if (asm_name_is(t, "t1")) {
		src->kind = IR_LAST_ADD;
	} else if ((n = asm_indexed(t, "r", 63)) >= 0) {
		src->kind = IR_REG;
		src->index = (uint8_t)n;
	} else if ((n = asm_indexed(t, "p", 2)) >= 0) {
		src->kind = IR_PORT;
		src->index = (uint8_t)n;
	} else if ((n = asm_indexed(t, "k", TSR_CLAUSE_CONSTS_MAX - 2)) >= 0) {
		src->kind = IR_CONST;
		src->index = (uint8_t)n;
		*suffix = take_half(w, &src->half);
	} else if ((n = asm_indexed(t, "u", 127)) >= 0 || (n = asm_fau_special(t)) >= 0) {
		src->kind = IR_FAU;
		src->index = (uint8_t)(t->text[0] == 'u' ? n | 0x80 : n);
		*suffix = take_half(w, &src->half);
	} else {
		return false;
	}
	return true;
}

static bool number_operand(struct asm_parser *parser, unsigned int unit, const struct asm_token *t,
			   struct ir_operand *src)
{
	if (t->kind == ASM_STAGE_ZERO) {
		src->kind = IR_STAGE;
		if (unit == TSR_ISA_FMA)
			return true;
		asm_error(parser->diags, t->pos, "#0 is the zero of the FMA unit, expected zero.w0 "
			  "(FAU entry 0) or 0x0 (a constant of the clause) in the ADD unit");
		return false;
	}
	src->kind = IR_WORD;
	if (t->value > (t->negative ? 1ULL << 31 : UINT32_MAX)) {
		asm_error(parser->diags, t->pos,
			  "a constant of more than 32 bits, expected two words "
			  "or a declared constant (k0 = ...)");
		return false;
	}
	src->word = t->negative ? -(uint32_t)t->value : (uint32_t)t->value;
	return true;
}

/* A source without its modifiers. *suffix is the number of dotted names that are none. */
static bool take_source(struct asm_parser *parser, unsigned int unit, const struct written *w,
			struct ir_operand *src, unsigned int *suffix)
{
	char room[ASM_DESCRIBE_MAX];

	*src = (struct ir_operand){ .pos = w->first.pos, .port = -1 };
	*suffix = 0;
	if (w->is_space) {
		asm_error(parser->diags, w->first.pos,
			  "a[...] is the first operand of ALD, AST and AL2P alone");
		return false;
	}
	if (w->is_staging) {
		asm_error(parser->diags, w->first.pos,
			  "a staging register where a source is expected");
		return false;
	}
	if (w->first.kind != ASM_NAME) {
		if (!number_operand(parser, unit, &w->first, src))
			return false;
	} else if (!hardware_name(unit, w, src, suffix)) {
		if (asm_reserved(&w->first)) {
			asm_error(parser->diags, w->first.pos,
				  "%s is no operand here, expected r0 to r63, u0 to u127, k0 to "
				  "k5, t0, t1%s, a FAU special, a number or a label",
				  asm_describe(&w->first, room),
				  unit == TSR_ISA_ADD ? ", t" : ", #0");
			return false;
		}
		src->kind = IR_LABEL;
		src->half = 1;
		src->label = asm_label_find(parser->build, &w->first);
	}
	if (w->has_colon) {
		src->port = (int8_t)asm_indexed(&w->colon, "p", 2);
		if (src->kind != IR_REG || src->port < 0) {
			asm_error(parser->diags, w->colon.pos,
				  "%s behind a source, expected a port "
				  "(p0, p1, p2) behind a register", asm_describe(&w->colon, room));
			return false;
		}
	}
	return true;
}

static bool take_dest(struct asm_parser *parser, unsigned int unit, const struct written *w,
		      struct ir_dest *dest)
{
	const char *temp = ir_dest_name(unit);
	int reg = asm_indexed(&w->first, "r", 63);
	char room[ASM_DESCRIBE_MAX];

	dest->pos = w->first.pos;
	dest->action = TSR_PORT_WRITE;
	if (!w->is_staging && !w->has_colon && !w->suffixes && asm_name_is(&w->first, temp))
		return true;
	if (w->is_staging || reg < 0) {
		asm_error(parser->diags, w->first.pos,
			  "%s is no destination of the %s unit, expected "
			  "%s, a register, or a register:%s", asm_describe(&w->first, room),
			  unit == TSR_ISA_FMA ? "FMA" : "ADD", temp, temp);
		return false;
	}
	if (w->has_colon && !asm_name_is(&w->colon, temp)) {
		asm_error(parser->diags, w->colon.pos, "%s behind a destination of the %s unit, "
			  "expected %s", asm_describe(&w->colon, room),
			  unit == TSR_ISA_FMA ? "FMA" : "ADD", temp);
		return false;
	}
	dest->reg = (int8_t)reg;
	if (w->suffixes == 1 && asm_name_is(&w->suffix[0], "h0"))
		dest->action = TSR_PORT_WRITE_LO;
	else if (w->suffixes == 1 && asm_name_is(&w->suffix[0], "h1"))
		dest->action = TSR_PORT_WRITE_HI;
	else if (w->suffixes) {
		asm_error(parser->diags, w->suffix[0].pos,
			  "%s behind a destination, expected h0 or h1 or nothing",
			  asm_describe(&w->suffix[0], room));
		return false;
	}
	return true;
}

static bool take_staging(struct asm_parser *parser, const struct written *w, struct ir_insn *ir)
{
	int reg = asm_indexed(&w->first, "r", 63);
	char room[ASM_DESCRIBE_MAX];

	if (reg < 0 || w->has_colon || w->suffixes) {
		asm_error(parser->diags, w->first.pos, "%s behind @, expected a register",
			  asm_describe(&w->first, room));
		return false;
	}
	if (ir->staging >= 0) {
		asm_error(parser->diags, w->first.pos, "a second staging register");
		return false;
	}
	if (tsr_ops[ir->insn.op].staging == TSR_STAGING_NONE) {
		asm_error(parser->diags, w->first.pos, "%s has no staging registers, expected no @",
			  tsr_ops[ir->insn.op].name);
		return false;
	}
	ir->staging = (int8_t)reg;
	ir->staging_pos = w->first.pos;
	return true;
}

/* "index:5": is it an immediate of the instruction? */
static int find_imm(const struct tsr_op_info *info, const struct written *w)
{
	unsigned int i;

	for (i = 0; i < info->num_imms; i++) {
		if (w->has_colon && asm_name_is(&w->first, tsr_imm_names[info->imms[i]]))
			return (int)i;
	}
	return -1;
}

static bool take_imm(struct asm_parser *parser, const struct written *w, int which,
		     struct ir_insn *ir, uint64_t *seen)
{
	const struct tsr_op_info *info = &tsr_ops[ir->insn.op];
	uint64_t limit = (1ULL << info->imm_bits[which]) - 1;
	char room[ASM_DESCRIBE_MAX];

	if (w->colon.kind != ASM_NUMBER || w->colon.negative || w->colon.value > limit ||
	    w->suffixes || *seen & 1ULL << which) {
		asm_error(parser->diags, w->colon.pos, "%s, expected one %s from 0 to %u",
			  asm_describe(&w->colon, room), tsr_imm_names[info->imms[which]],
			  (unsigned int)limit);
		return false;
	}
	*seen |= 1ULL << which;
	ir->insn.imm[info->imms[which]] = (uint32_t)w->colon.value;
	return true;
}

/* Take immediates and the staging register out of the list; what is left has a place. */
static bool take_named(struct asm_parser *parser, struct written *list, unsigned int *num,
		       struct ir_insn *ir)
{
	const struct tsr_op_info *info = &tsr_ops[ir->insn.op];
	unsigned int i, left = 0;
	uint64_t seen = 0;

	for (i = 0; i < *num; i++) {
		int imm = find_imm(info, &list[i]);

		if (list[i].is_staging) {
			if (!take_staging(parser, &list[i], ir))
				return false;
		} else if (imm >= 0) {
			if (!take_imm(parser, &list[i], imm, ir, &seen))
				return false;
		} else {
			if (left != i)
				list[left] = list[i];
			left++;
		}
	}
	*num = left;
	for (i = 0; i < info->num_imms; i++) {
		if (seen & 1ULL << i)
			continue;
		asm_error(parser->diags, parser->token.pos, "%s without %s, expected %s:NUMBER",
			  info->name, tsr_imm_names[info->imms[i]], tsr_imm_names[info->imms[i]]);
		return false;
	}
	if (info->staging != TSR_STAGING_NONE && ir->staging < 0) {
		asm_error(parser->diags, parser->token.pos,
			  "%s without staging register, expected @rN", info->name);
		return false;
	}
	return true;
}

static bool take_operands(struct asm_parser *parser, unsigned int unit, struct written *list,
			  unsigned int num, struct ir_insn *ir, uint64_t *seen)
{
	const struct tsr_op_info *info = &tsr_ops[ir->insn.op];
	bool is_nop = ir->insn.op == TSR_OP_FMA_NOP || ir->insn.op == TSR_OP_ADD_NOP;
	bool optional = is_nop || ir_dest_optional(info);
	unsigned int i, k, skip;

	if (!take_named(parser, list, &num, ir))
		return false;
	skip = num == info->num_srcs + 1u;
	if (!skip && !(optional && num == info->num_srcs)) {
		asm_error(parser->diags, ir->pos,
			  "%s with %u operand%s, expected a destination%s and "
			  "%u source%s", info->name, num, num == 1 ? "" : "s",
			  optional ? " (or none)" : "", info->num_srcs,
			  info->num_srcs == 1 ? "" : "s");
		return false;
	}
	if (skip && !take_dest(parser, unit, &list[0], &ir->dest))
		return false;
	for (i = 0; i < info->num_srcs; i++) {
		const struct written *w = &list[skip + i];

		if (!take_source(parser, unit, w, &ir->src[i], &k))
			return false;
		for (; k < w->suffixes; k++) {
			if (!set_modifier(parser, ir, (int)i, &w->suffix[k], seen))
				return false;
		}
	}
	return true;
}

/* -- stage I/O memory ------------------------------------------------------------------------- */

/* Dotted names of ALD, AST and AL2P that describe a place: bits of a stage word. */
#define SPACE_OUTPUT	((uint32_t)TSR_STAGE_WORD_OUTPUT__MASK)
#define SPACE_PATCH	((uint32_t)TSR_STAGE_WORD_PATCH__MASK)
#define SPACE_INDEXED	((uint32_t)TSR_STAGE_WORD_INDEXED__MASK)
#define SPACE_HANDLE	((uint32_t)TSR_STAGE_WORD_HANDLE__MASK)

static bool has_space(const struct ir_insn *ir)
{
	return ir->insn.op == TSR_OP_ADD_ALD || ir->insn.op == TSR_OP_ADD_AST ||
	       ir->insn.op == TSR_OP_ADD_AL2P;
}

/* ".o", ".p" and ".phys" of an instruction that has them. */
static bool take_space_name(const struct ir_insn *ir, const struct asm_token *token,
			    uint32_t *space)
{
	if (!has_space(ir))
		return false;
	if (asm_name_is(token, "o"))
		*space |= SPACE_OUTPUT;
	else if (asm_name_is(token, "p"))
		*space |= SPACE_PATCH;
	else if (asm_name_is(token, "phys"))
		*space |= SPACE_INDEXED;
	else
		return false;
	return true;
}

/* The error of a place, NULL if it is correct. */
static const char *wrong_place(const struct ir_insn *ir, const struct written *w, uint32_t space)
{
	const bool signed_offset = w->has_index && space & SPACE_PATCH;
	const bool index = ir->insn.op == TSR_OP_ADD_AL2P;

	if (index && space & (SPACE_PATCH | SPACE_INDEXED))
		return "AL2P is neither .p nor .phys";
	if (!index && w->has_index && !(space & (SPACE_PATCH | SPACE_INDEXED)))
		return "an index is that of a patch (.p), or one of AL2P's (.phys)";
	if (space & SPACE_INDEXED && (!w->has_index || space & SPACE_PATCH || w->offset))
		return ".phys is an index and no number, not of a patch";
	if (w->offset < (signed_offset ? -1024 : 0) || w->offset > 1023)
		return signed_offset ? "a number from -1024 to 1023" : "a number from 0 to 1023";
	return NULL;
}

/* The error of a load by the stage of the text, NULL if it is correct. */
static const char *wrong_stage(const struct asm_build *build, const struct ir_insn *ir,
			       uint32_t space)
{
	const bool handle = space & SPACE_HANDLE;

	if (build->stage == ASM_ANY_STAGE || ir->insn.op != TSR_OP_ADD_ALD)
		return NULL;
	if (build->stage == ASM_VERTEX && (handle || space & SPACE_PATCH))
		return "vertex shaders have neither handles nor patches";
	if (build->stage == ASM_GEOMETRY && space & (SPACE_OUTPUT | SPACE_PATCH))
		return "geometry shaders load what comes to them alone";
	if (build->stage > ASM_VERTEX && !handle && !(space & (SPACE_OUTPUT | SPACE_PATCH)))
		return "the handle of a vertex behind a[...]";
	return NULL;
}

static struct written plain(const struct written *at, const struct asm_token *token)
{
	struct written w = { .first = *token };

	w.first.pos = at->first.pos;
	return w;
}

/*
 * a[...] and the handle become index, handle and stage word. A source that does not count is the
 * register of the other one, or R63.
 */
static bool expand_space(struct asm_parser *parser, struct ir_insn *ir, struct written *list,
			 unsigned int *num, uint32_t space)
{
	static const struct asm_token any = { .kind = ASM_NAME, .text = "r63", .length = 3 };
	const struct written place = list[0];
	const bool handle = *num > 1 && !list[1].is_staging;
	const bool indexed = place.has_index;
	struct asm_token word = { .kind = ASM_NUMBER };
	const char *wrong = wrong_place(ir, &place, space);
	unsigned int rest = handle ? 2 : 1, i;
	struct written index, other;

	space |= (indexed ? SPACE_INDEXED : 0) | (handle ? SPACE_HANDLE : 0) |
		 (ir->insn.op == TSR_OP_ADD_AST ? SPACE_OUTPUT : 0);
	wrong = wrong ? wrong : wrong_stage(parser->build, ir, space);
	if (wrong || *num + 2 > OPERANDS_MAX) {
		asm_error(parser->diags, place.first.pos, "expected %s",
			  wrong ? wrong : "fewer operands");
		return false;
	}
	word.value = space | ((uint32_t)place.offset & TSR_STAGE_WORD_IMMEDIATE__MASK);
	index = plain(&place, indexed ? &place.index : &any);
	other = handle ? list[1] : index;
	if (!indexed && handle && asm_indexed(&other.first, "r", 63) >= 0)
		index = plain(&place, &other.first);
	for (i = *num; i > rest; i--)
		list[i + 2 - rest] = list[i - 1];
	*num += 3 - rest;
	list[0] = index;
	list[1] = other;
	list[2] = plain(&place, &word);
	return true;
}

/* -- instructions ---------------------------------------------------------------------------- */

/* ".word [DESTINATION,] NUMBER": bits that may be no instruction. */
static bool parse_raw(struct asm_parser *parser, unsigned int unit, struct ir_insn *ir)
{
	uint64_t limit = unit == TSR_ISA_FMA ? 0x7fffff : 0xfffff;
	struct written w;
	uint64_t value;

	if (!asm_name_is(&parser->token, "word"))
		return asm_unexpected(parser, "an instruction, or .word");
	asm_advance(parser);
	if (parser->token.kind == ASM_NAME) {
		if (!read_operand(parser, &w) || !take_dest(parser, unit, &w, &ir->dest) ||
		    !asm_expect(parser, ',', "a comma and the word"))
			return false;
	}
	if (!asm_number(parser, limit, unit == TSR_ISA_FMA ? "a word of 23 bits" :
							     "a word of 20 bits", &value))
		return false;
	ir->raw = true;
	ir->word = (uint32_t)value;
	return at_end(parser) || asm_unexpected(parser, "the end of the line");
}

bool asm_parse_insn(struct asm_parser *parser, unsigned int unit, struct ir_insn *ir)
{
	struct written list[OPERANDS_MAX];
	unsigned int parts, i, num;
	struct path path;
	uint64_t seen = 0;
	uint32_t space = 0;
	int op;

	ir_insn_init(ir, unit);
	ir->present = true;
	ir->pos = parser->token.pos;
	if (asm_accept(parser, '.'))
		return parse_raw(parser, unit, ir);
	if (!read_path(parser, &path))
		return false;
	op = find_op(unit, &path, &parts);
	if (op < 0) {
		explain_op(parser, unit, &path);
		return false;
	}
	ir->insn.op = (uint16_t)op;
	for (i = parts; i < path.parts; i++) {
		if (!take_space_name(ir, &path.name[i], &space) &&
		    !set_modifier(parser, ir, -1, &path.name[i], &seen))
			return false;
	}
	if (!read_operands(parser, list, &num))
		return false;
	if (has_space(ir) && num && list[0].is_space) {
		if (!expand_space(parser, ir, list, &num, space))
			return false;
	} else if (space) {
		asm_error(parser->diags, ir->pos, "%s of a place that is not a[...]",
			  tsr_ops[op].name);
		return false;
	}
	return take_operands(parser, unit, list, num, ir, &seen) &&
	       set_defaults(parser, ir, seen);
}
