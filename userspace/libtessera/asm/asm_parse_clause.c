// SPDX-License-Identifier: MIT
/* Clauses: header attributes, [...] lines, declared constants, tuples. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "asm_parse.h"

/* -- header ---------------------------------------------------------------------------------- */

/* A header field that is a flag, a number or one of a list of names. */
struct attribute {
	const char *name;
	size_t offset;			/* in struct tsr_clause */
	const char *const *names;	/* of its values; NULL: a flag */
};

#define FIELD(member) offsetof(struct tsr_clause, member)

static const struct attribute attributes[] = {
	{ "flow", FIELD(flow), asm_flow_names },
	{ "ftz", FIELD(ftz), asm_ftz_names },
	{ "float_exceptions", FIELD(float_exceptions), asm_exceptions_names },
	{ "td", FIELD(td), NULL },
	{ "prefetch", FIELD(prefetch), NULL },
	{ "staging_barrier", FIELD(staging_barrier), NULL },
	{ "suppress_inf", FIELD(suppress_inf), NULL },
	{ "suppress_nan", FIELD(suppress_nan), NULL },
};

static uint8_t *field_of(struct ir_clause *clause, const struct attribute *attribute)
{
	return (uint8_t *)&clause->head + attribute->offset;
}

static bool take_name(struct asm_parser *parser, const char *const *names, uint8_t *value)
{
	struct asm_words words = { 0 };
	unsigned int i;

	for (i = 0; names[i]; i++) {
		if (asm_name_is(&parser->token, names[i])) {
			*value = (uint8_t)i;
			asm_advance(parser);
			return true;
		}
		asm_words_add(&words, names[i]);
	}
	return asm_unexpected(parser, words.text);
}

/* A message type by name; a hint may also be any number. */
static bool take_message(struct asm_parser *parser, bool hint, uint8_t *value)
{
	struct asm_words words = { 0 };
	uint64_t number = 0;
	unsigned int i;

	if (hint && parser->token.kind == ASM_NUMBER) {
		if (!asm_number(parser, 31, "a message type", &number))
			return false;
		*value = (uint8_t)number;
		return true;
	}
	for (i = 0; i < 32; i++) {
		char room[ASM_NAME_MAX];

		if (!tsr_message_name(i))
			continue;
		asm_lower(tsr_message_name(i), room);
		if (asm_name_is(&parser->token, room)) {
			*value = (uint8_t)i;
			asm_advance(parser);
			return true;
		}
		asm_words_add(&words, room);
	}
	return asm_unexpected(parser, words.text);
}

static bool take_wait(struct asm_parser *parser, uint8_t *wait)
{
	uint64_t slot = 0;

	*wait = 0;
	do {
		if (!asm_number(parser, 7, "a scoreboard slot, 0 to 7", &slot))
			return false;
		*wait |= (uint8_t)(1u << slot);
	} while (asm_accept(parser, ','));
	return true;
}

static bool take_register(struct asm_parser *parser, uint8_t *reg)
{
	int n = asm_indexed(&parser->token, "r", 63);

	if (n < 0)
		return asm_unexpected(parser, "a register");
	*reg = (uint8_t)n;
	asm_advance(parser);
	return true;
}

static bool unknown_attribute(struct asm_parser *parser, const struct asm_token *name, bool value)
{
	static const char fields[] =
		"message=, next=, slot=, wait=, staging=, flow=, ftz= or float_exceptions=";
	static const char flags[] = "end, td, prefetch, staging_barrier, suppress_inf, "
		"suppress_nan, unchecked, or { at the end";
	char room[ASM_DESCRIBE_MAX];

	asm_error(parser->diags, name->pos, "%s is no %s of a clause, expected %s",
		  asm_describe(name, room), value ? "field" : "flag", value ? fields : flags);
	return false;
}

/* The value of "name=value"; the name is passed already. */
static bool take_value(struct asm_parser *parser, struct ir_clause *clause,
		       const struct asm_token *name)
{
	uint64_t slot = 0;
	unsigned int i;

	if (asm_name_is(name, "message")) {
		clause->message_given = true;
		return take_message(parser, false, &clause->head.message);
	}
	if (asm_name_is(name, "next")) {
		clause->next_given = true;
		return take_message(parser, true, &clause->head.next_message);
	}
	if (asm_name_is(name, "staging")) {
		clause->staging_given = true;
		return take_register(parser, &clause->head.staging_reg);
	}
	if (asm_name_is(name, "wait"))
		return take_wait(parser, &clause->head.wait);
	if (asm_name_is(name, "slot")) {
		if (!asm_number(parser, 7, "a scoreboard slot, 0 to 7", &slot))
			return false;
		clause->head.slot = (uint8_t)slot;
		return true;
	}
	for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		if (attributes[i].names && asm_name_is(name, attributes[i].name))
			return take_name(parser, attributes[i].names,
					 field_of(clause, &attributes[i]));
	}
	return unknown_attribute(parser, name, true);
}

static bool take_flag(struct ir_clause *clause, const struct asm_token *name)
{
	unsigned int i;

	if (asm_name_is(name, "end")) {
		clause->head.flow = TSR_FLOW_END;
		return true;
	}
	if (asm_name_is(name, "unchecked")) {
		clause->unchecked = true;
		return true;
	}
	for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		if (attributes[i].names || !asm_name_is(name, attributes[i].name))
			continue;
		*field_of(clause, &attributes[i]) = 1;
		return true;
	}
	return false;
}

static bool parse_header(struct asm_parser *parser, struct ir_clause *clause)
{
	while (parser->token.kind == ASM_NAME) {
		struct asm_token name = parser->token;

		asm_advance(parser);
		if (asm_accept(parser, '=')) {
			if (!take_value(parser, clause, &name))
				return false;
		} else if (!take_flag(clause, &name)) {
			return unknown_attribute(parser, &name, false);
		}
	}
	while (parser->token.kind == ASM_NEWLINE)
		asm_advance(parser);
	return asm_expect(parser, '{', "a header field, or { before the tuples");
}

/* -- [...] ----------------------------------------------------------------------------------- */

/* The register of a port; ports 0 and 1 read if they have one. */
static bool take_port(struct asm_parser *parser, struct ir_block *block, unsigned int port)
{
	if (!take_register(parser, &block->port[port]))
		return false;
	block->read0 |= port == 0;
	block->read1 |= port == 1;
	block->ports_given = true;
	return true;
}

static bool take_fau(struct asm_parser *parser, struct ir_block *block)
{
	const struct asm_token *t = &parser->token;
	uint64_t value = 0;
	int n;

	block->fau_given = true;
	if (t->kind == ASM_NUMBER) {
		if (!asm_number(parser, 255, "a FAU index", &value))
			return false;
		block->fau = (uint8_t)value;
		return true;
	}
	n = asm_indexed(t, "k", TSR_CLAUSE_CONSTS_MAX - 2);
	if (n >= 0) {
		block->fau_const = (int8_t)n;
		asm_advance(parser);
		if (asm_accept(parser, '+')) {
			if (!asm_number(parser, 15, "the low four bits", &value))
				return false;
			block->fau_nibble = (int8_t)value;
		}
		return true;
	}
	n = asm_indexed(t, "u", 127);
	block->fau = (uint8_t)(n | 0x80);
	if (n < 0) {
		n = asm_fau_special(t);
		block->fau = (uint8_t)n;
	}
	if (n < 0)
		return asm_unexpected(parser, "a uniform, a constant, a special or a FAU index");
	asm_advance(parser);
	return true;
}

static bool take_block_item(struct asm_parser *parser, struct ir_block *block,
			    const struct asm_token *name)
{
	int port = asm_indexed(name, "p", 3);
	uint64_t value = 0;

	if (port >= 0)
		return take_port(parser, block, (unsigned int)port);
	if (asm_name_is(name, "mode")) {
		if (!asm_number(parser, 31, "a mode, 1 to 27", &value))
			return false;
		block->mode = (uint8_t)value;
		block->ports_given = true;
		return true;
	}
	if (asm_name_is(name, "fau"))
		return take_fau(parser, block);
	if (!asm_number(parser, (1ULL << 35) - 1, "a register block of 35 bits", &value))
		return false;
	block->regs = value;
	block->raw = block->ports_given = true;
	return true;
}

bool asm_parse_block(struct asm_parser *parser, struct ir_block *block)
{
	static const char expected[] = "p0=, p1=, p2=, p3=, mode=, fau= or regs=";

	*block = (struct ir_block){ .fau_const = -1, .fau_nibble = -1, .pos = parser->token.pos };
	while (!asm_accept(parser, ']')) {
		struct asm_token name = parser->token;

		if (name.kind != ASM_NAME ||
		    (asm_indexed(&name, "p", 3) < 0 && !asm_name_is(&name, "mode") &&
		     !asm_name_is(&name, "fau") && !asm_name_is(&name, "regs")))
			return asm_unexpected(parser, expected);
		asm_advance(parser);
		if (!asm_expect(parser, '=', "= and a value") ||
		    !take_block_item(parser, block, &name))
			return false;
	}
	return true;
}

/* -- constants ------------------------------------------------------------------------------- */

/* The high word behind "kN = LOW,": a word or a label. */
static bool take_high(struct asm_parser *parser, struct ir_const *k)
{
	uint32_t word;

	if (parser->token.kind == ASM_NAME && !asm_reserved(&parser->token)) {
		k->is_label = true;
		k->label = asm_label_find(parser->build, &parser->token);
		k->pcrel = TSR_PCREL_HI;
		asm_advance(parser);
		return true;
	}
	if (!asm_word(parser, &word))
		return asm_unexpected(parser, "the high word, a number or a label");
	k->value |= (uint64_t)word << 32;
	return true;
}

static bool take_const_value(struct asm_parser *parser, struct ir_const *k)
{
	uint64_t value = parser->token.value;
	uint32_t word;

	if (asm_name_is(&parser->token, "pc")) {
		asm_advance(parser);
		if (!asm_expect(parser, '.', ". and a kind behind pc") ||
		    !take_name(parser, asm_pcrel_names, &k->pcrel))
			return false;
		value = parser->token.value;
	}
	if (parser->token.kind == ASM_NUMBER && value > UINT32_MAX && !parser->token.negative) {
		k->value = value;
		asm_advance(parser);
		return true;
	}
	if (!asm_word(parser, &word))
		return asm_unexpected(parser, "a 64-bit number, or two words (low, high)");
	k->value = word;
	return !asm_accept(parser, ',') || take_high(parser, k);
}

bool asm_parse_const(struct asm_parser *parser, struct ir_clause *clause)
{
	int n = asm_indexed(&parser->token, "k", TSR_CLAUSE_CONSTS_MAX - 1);
	struct ir_const *k;
	uint64_t m = 0;

	if (n < 0)
		return asm_unexpected(parser, "*, +, [, a constant (k0 = ...) or }");
	k = &clause->konst[n];
	if (k->given) {
		asm_error(parser->diags, parser->token.pos, "k%d a second time", n);
		return false;
	}
	*k = (struct ir_const){ .given = true, .pos = parser->token.pos };
	clause->consts_given = true;
	asm_advance(parser);
	if (!asm_expect(parser, '=', "= and a constant") || !take_const_value(parser, k))
		return false;
	if (n == 0 && asm_name_is(&parser->token, "m")) {
		asm_advance(parser);
		if (!asm_expect(parser, '=', "= and the M bits") ||
		    !asm_number(parser, 255, "eight M bits", &m))
			return false;
		clause->single_given = true;
		clause->single_m = (uint8_t)m;
	}
	return true;
}

/* -- tuples ---------------------------------------------------------------------------------- */

/* Where the parser is in a clause. */
struct place {
	struct ir_clause *clause;
	bool block;	/* a [...] was read, its tuple comes next */
	bool fma;	/* the last tuple has its FMA instruction and no ADD one yet */
};

static bool begin_tuple(struct asm_parser *parser, struct place *place)
{
	struct ir_clause *clause = place->clause;

	if (clause->tuples == TSR_CLAUSE_TUPLES_MAX) {
		asm_error(parser->diags, parser->token.pos,
			  "a ninth tuple, expected at most eight");
		return false;
	}
	clause->tuple[clause->tuples++].line = parser->token.pos.line;
	return true;
}

static bool parse_tuple_line(struct asm_parser *parser, struct place *place, unsigned int unit)
{
	struct ir_clause *clause = place->clause;

	if (unit == TSR_ISA_FMA || !place->fma) {
		if (!place->block && !begin_tuple(parser, place))
			return false;
		place->block = false;
	}
	place->fma = unit == TSR_ISA_FMA;
	asm_advance(parser);
	return asm_parse_insn(parser, unit, &clause->tuple[clause->tuples - 1].insn[unit]);
}

static bool parse_block_line(struct asm_parser *parser, struct place *place)
{
	if (place->block)
		return asm_unexpected(parser, "* or + behind a [...] line");
	if (!begin_tuple(parser, place))
		return false;
	place->block = true;
	place->fma = false;
	asm_advance(parser);
	return asm_parse_block(parser, &place->clause->tuple[place->clause->tuples - 1].block);
}

/* One thing of a clause's body; false: an error, go on behind the line. */
static bool parse_body(struct asm_parser *parser, struct place *place)
{
	if (asm_is(&parser->token, '*'))
		return parse_tuple_line(parser, place, TSR_ISA_FMA);
	if (asm_is(&parser->token, '+'))
		return parse_tuple_line(parser, place, TSR_ISA_ADD);
	if (asm_is(&parser->token, '['))
		return parse_block_line(parser, place);
	return asm_parse_const(parser, place->clause);
}

/* To the }, or where it must be missing. Returns whether all was well. */
static bool parse_tuples(struct asm_parser *parser, struct ir_clause *clause)
{
	struct place place = { clause, false, false };
	bool good = true;

	for (;;) {
		if (asm_accept(parser, '}'))
			break;
		if (parser->token.kind == ASM_NEWLINE) {
			asm_advance(parser);
		} else if (parser->token.kind == ASM_END || asm_is(&parser->token, '.') ||
			   asm_name_is(&parser->token, "clause")) {
			return asm_unexpected(parser, "} at the end of the clause");
		} else if (!parse_body(parser, &place)) {
			good = false;
			asm_skip_line(parser);
		}
	}
	if (good && (!clause->tuples || place.block)) {
		asm_error(parser->diags, clause->pos, place.block ?
			  "the clause ends behind a [...] line, expected its tuple" :
			  "a clause without tuples, expected 1 to 8");
		return false;
	}
	return good;
}

/* Registers that the clause names. */
static uint64_t registers_of(const struct ir_clause *clause)
{
	uint64_t mask = 0;
	unsigned int i, n, k;

	for (i = 0; i < 2u * clause->tuples; i++) {
		const struct ir_insn *insn = &clause->tuple[i / 2].insn[i % 2];

		for (k = 0; k < 4; k++) {
			if (insn->src[k].kind == IR_REG)
				mask |= 1ULL << insn->src[k].index;
		}
		if (insn->dest.reg >= 0)
			mask |= 1ULL << insn->dest.reg;
		if (insn->staging < 0)
			continue;
		n = tsr_insn_staging_read(&insn->insn);
		if (n < tsr_insn_staging_written(&insn->insn))
			n = tsr_insn_staging_written(&insn->insn);
		for (k = 0; k < n; k++)
			mask |= 1ULL << ((unsigned int)insn->staging + k) % 64;
	}
	return mask;
}

void asm_parse_clause(struct asm_parser *parser, struct asm_pos pos)
{
	struct asm_build *build = parser->build;
	struct ir_clause clause;
	struct asm_item *item;
	bool good;
	unsigned int i;

	ir_clause_init(&clause, pos);
	clause.unchecked = build->flags & TSR_ASM_UNCHECKED;
	good = parse_header(parser, &clause);
	if (!good) {
		/* the header's line is lost, its tuples need not be */
		while (parser->token.kind != ASM_NEWLINE && parser->token.kind != ASM_END &&
		       !asm_is(&parser->token, '{'))
			asm_advance(parser);
		if (!asm_accept(parser, '{'))
			return;
	}
	good &= parse_tuples(parser, &clause);
	item = asm_item_add(build, pos);
	if (!item)
		return;
	item->is_clause = true;
	item->next_given = clause.next_given;
	for (i = 0; i < clause.tuples; i++)
		item->tuple_line[i] = clause.tuple[i].line;
	if (!good)
		return;
	build->registers |= registers_of(&clause);
	if (!asm_clause(&clause, &item->clause, item->label, build->diags))
		item->clause.tuples = 0;
}
