// SPDX-License-Identifier: MIT
/* Lines of a program: labels, directives, clauses; and what all of the parser shares. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "asm_parse.h"

/* -- tokens ---------------------------------------------------------------------------------- */

void asm_advance(struct asm_parser *parser)
{
	asm_lex_next(&parser->lexer, &parser->token);
}

bool asm_unexpected(struct asm_parser *parser, const char *expected)
{
	char room[ASM_DESCRIBE_MAX];

	/* the lexer has said what is wrong with a bad token */
	if (parser->token.kind != ASM_BAD)
		asm_error(parser->diags, parser->token.pos, "found %s, expected %s",
			  asm_describe(&parser->token, room), expected);
	return false;
}

bool asm_accept(struct asm_parser *parser, char punctuation)
{
	if (!asm_is(&parser->token, punctuation))
		return false;
	asm_advance(parser);
	return true;
}

bool asm_expect(struct asm_parser *parser, char punctuation, const char *expected)
{
	return asm_accept(parser, punctuation) || asm_unexpected(parser, expected);
}

void asm_skip_line(struct asm_parser *parser)
{
	while (parser->token.kind != ASM_NEWLINE && parser->token.kind != ASM_END &&
	       !asm_is(&parser->token, '}'))
		asm_advance(parser);
}

bool asm_number(struct asm_parser *parser, uint64_t limit, const char *what, uint64_t *value)
{
	bool zero = parser->token.kind == ASM_STAGE_ZERO;

	if ((parser->token.kind != ASM_NUMBER && !zero) || parser->token.negative ||
	    parser->token.value > limit)
		return asm_unexpected(parser, what);
	*value = parser->token.value;
	asm_advance(parser);
	return true;
}

bool asm_word(struct asm_parser *parser, uint32_t *word)
{
	const struct asm_token *t = &parser->token;

	if (t->kind != ASM_NUMBER && t->kind != ASM_FLOAT && t->kind != ASM_STAGE_ZERO)
		return false;
	if (t->value > (t->negative ? 1ULL << 31 : UINT32_MAX))
		return false;
	*word = t->negative ? -(uint32_t)t->value : (uint32_t)t->value;
	asm_advance(parser);
	return true;
}

int asm_indexed(const struct asm_token *token, const char *letters, unsigned int limit)
{
	size_t n = strlen(letters), i;
	unsigned int value = 0;

	if (token->kind != ASM_NAME || token->length <= n || token->length > n + 3 ||
	    memcmp(token->text, letters, n))
		return -1;
	if (token->text[n] == '0' && token->length > n + 1)
		return -1;
	for (i = n; i < token->length; i++) {
		if (!isdigit((unsigned char)token->text[i]))
			return -1;
		value = value * 10 + (unsigned int)(token->text[i] - '0');
	}
	return value <= limit ? (int)value : -1;
}

int asm_fau_special(const struct asm_token *token)
{
	char room[ASM_NAME_MAX];
	int n;

	for (n = 0; n < 32; n++) {
		if (tsr_fau_name((unsigned int)n) &&
		    asm_name_is(token, asm_lower(tsr_fau_name((unsigned int)n), room)))
			return n;
	}
	return asm_indexed(token, "fau", 127);
}

bool asm_reserved(const struct asm_token *token)
{
	size_t i;

	if (token->kind != ASM_NAME || asm_name_is(token, "t") || asm_name_is(token, "clause") ||
	    asm_name_is(token, "pc") || asm_fau_special(token) >= 0)
		return true;
	if (!memchr("rukpt", token->text[0], 5) || token->length < 2)
		return false;
	for (i = 1; i < token->length && isdigit((unsigned char)token->text[i]); i++)
		;
	return i == token->length;
}

/* -- directives ------------------------------------------------------------------------------ */

enum { SET_ENTRY, SET_REGISTERS, SET_LOCAL, SET_GROUP_MEMORY, SET_SCRATCH, SET_STAGE };

/* A directive that may be there once. */
static bool once(struct asm_parser *parser, const struct asm_token *name, unsigned int which)
{
	char room[ASM_DESCRIBE_MAX];

	if (parser->build->given & 1u << which) {
		asm_error(parser->diags, name->pos, "%s a second time", asm_describe(name, room));
		return false;
	}
	parser->build->given |= (uint8_t)(1u << which);
	return true;
}

static bool parse_entry(struct asm_parser *parser)
{
	if (parser->token.kind != ASM_NAME || asm_reserved(&parser->token))
		return asm_unexpected(parser, "a label");
	parser->build->entry_pos = parser->token.pos;
	parser->build->entry_label = asm_label_find(parser->build, &parser->token);
	asm_advance(parser);
	return true;
}

static bool parse_registers(struct asm_parser *parser)
{
	if (parser->token.kind != ASM_NUMBER || parser->token.negative ||
	    (parser->token.value != 32 && parser->token.value != 64))
		return asm_unexpected(parser, "32 or 64");
	parser->build->program->registers_64 = parser->token.value == 64;
	parser->build->registers_32 = parser->token.value == 32;
	parser->build->registers_pos = parser->token.pos;
	asm_advance(parser);
	return true;
}

#define LOCAL_MAX 65535

static bool parse_local(struct asm_parser *parser)
{
	uint64_t size = 0;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (i && !asm_accept(parser, ','))
			return true;
		if (parser->token.kind == ASM_NUMBER && !parser->token.value)
			return asm_unexpected(parser, "at least 1");
		if (!asm_number(parser, LOCAL_MAX, "the size of a group, 1 to 65535", &size))
			return false;
		parser->build->program->local[i] = (uint32_t)size;
	}
	return true;
}

static bool parse_bytes(struct asm_parser *parser, uint64_t multiple, uint32_t *bytes)
{
	uint64_t value = 0;

	if (parser->token.kind == ASM_NUMBER && parser->token.value % multiple)
		return asm_unexpected(parser, "a multiple of 16");
	if (!asm_number(parser, UINT32_MAX, "a number of bytes below 2^32", &value))
		return false;
	*bytes = (uint32_t)value;
	return true;
}

static void put64(uint8_t *bytes, uint64_t value)
{
	int i;

	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

/* ".quad LOW, HIGH": the two halves of a quadword. */
static bool parse_quad(struct asm_parser *parser, struct asm_pos pos)
{
	uint64_t lo = 0, hi = 0;
	struct asm_item *item;

	if (!asm_number(parser, UINT64_MAX, "the low 64 bits", &lo) ||
	    !asm_expect(parser, ',', "a comma and the high 64 bits") ||
	    !asm_number(parser, UINT64_MAX, "the high 64 bits", &hi))
		return false;
	item = asm_item_add(parser->build, pos);
	if (!item)
		return true;
	put64(item->quad, lo);
	put64(item->quad + 8, hi);
	item->length = 16;
	item->repeat = 1;
	return true;
}

/* ".byte N, ...": the remaining 1 to 15 bytes after the last quadword. */
static bool parse_byte(struct asm_parser *parser, struct asm_pos pos)
{
	struct asm_item *item = asm_item_add(parser->build, pos);
	uint64_t value = 0;

	if (!item)
		return false;
	item->repeat = 1;
	do {
		if (item->length == 15)
			return asm_unexpected(parser, "at most 15 bytes; 16 are a .quad");
		if (!asm_number(parser, 255, "a byte", &value))
			return false;
		item->quad[item->length++] = (uint8_t)value;
	} while (asm_accept(parser, ','));
	return true;
}

/* ".zero N": quadwords of zeros. */
static bool parse_zero(struct asm_parser *parser, struct asm_pos pos)
{
	struct asm_item *item;
	uint64_t n = 0;

	if (!asm_number(parser, TSR_ASM_CODE_MAX / 16, "a number of quadwords", &n))
		return false;
	item = asm_item_add(parser->build, pos);
	if (item) {
		item->length = 16;
		item->repeat = (uint32_t)n;
	}
	return true;
}

/* ".stage NAME": what ALD and AST can be is checked. */
static bool parse_stage(struct asm_parser *parser)
{
	static const char *const names[] = { "vertex", "hull", "domain", "geometry" };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (!asm_name_is(&parser->token, names[i]))
			continue;
		parser->build->stage = (uint8_t)(ASM_VERTEX + i);
		asm_advance(parser);
		return true;
	}
	return asm_unexpected(parser, "vertex, hull, domain or geometry");
}

static bool parse_directive(struct asm_parser *parser)
{
	struct tsr_asm_shader *program = parser->build->program;
	struct asm_token name = parser->token;

	if (name.kind != ASM_NAME)
		return asm_unexpected(parser, "a directive");
	asm_advance(parser);
	if (asm_name_is(&name, "quad"))
		return parse_quad(parser, name.pos);
	if (asm_name_is(&name, "zero"))
		return parse_zero(parser, name.pos);
	if (asm_name_is(&name, "byte"))
		return parse_byte(parser, name.pos);
	if (asm_name_is(&name, "entry"))
		return once(parser, &name, SET_ENTRY) && parse_entry(parser);
	if (asm_name_is(&name, "registers"))
		return once(parser, &name, SET_REGISTERS) && parse_registers(parser);
	if (asm_name_is(&name, "local"))
		return once(parser, &name, SET_LOCAL) && parse_local(parser);
	if (asm_name_is(&name, "group_memory"))
		return once(parser, &name, SET_GROUP_MEMORY) &&
		       parse_bytes(parser, 1, &program->group_memory);
	if (asm_name_is(&name, "scratch"))
		return once(parser, &name, SET_SCRATCH) &&
		       parse_bytes(parser, 16, &program->scratch);
	if (asm_name_is(&name, "stage"))
		return once(parser, &name, SET_STAGE) && parse_stage(parser);
	parser->token = name;
	return asm_unexpected(parser, ".registers, .local, .group_memory, .scratch, .stage, "
			      ".entry, .quad, .zero or .byte");
}

/* -- lines ----------------------------------------------------------------------------------- */

/* A name at the start of a line: a label, or the word clause. */
static bool parse_named(struct asm_parser *parser)
{
	struct asm_token name = parser->token;

	asm_advance(parser);
	if (asm_name_is(&name, "clause")) {
		asm_parse_clause(parser, name.pos);
		return true;
	}
	if (!asm_is(&parser->token, ':')) {
		parser->token = name;
		return asm_unexpected(parser, "clause, a directive, or a label with its colon");
	}
	asm_advance(parser);
	if (asm_reserved(&name)) {
		char room[ASM_DESCRIBE_MAX];

		asm_error(parser->diags, name.pos, "%s names an operand, expected another label",
			  asm_describe(&name, room));
		return true;
	}
	asm_label_define(parser->build, &name);
	return true;
}

static void parse_line(struct asm_parser *parser)
{
	bool good, labels = true;

	while (labels && parser->token.kind == ASM_NAME) {
		labels = !asm_name_is(&parser->token, "clause");
		if (!parse_named(parser)) {
			asm_skip_line(parser);
			return;
		}
	}
	if (asm_is(&parser->token, '.')) {
		asm_advance(parser);
		good = parse_directive(parser);
	} else {
		good = true;
	}
	if (good && parser->token.kind != ASM_NEWLINE && parser->token.kind != ASM_END)
		good = asm_unexpected(parser, labels ? "clause, a directive, a label or the end of "
						       "the line" : "the end of the line");
	if (!good) {
		/* a lonely brace would stop it for ever */
		asm_skip_line(parser);
		if (asm_is(&parser->token, '}'))
			asm_advance(parser);
	}
}

void asm_parse(struct asm_build *build, const char *text, size_t size)
{
	struct asm_parser parser = { .build = build, .diags = build->diags };

	if (!asm_lex_init(&parser.lexer, text, size, build->diags)) {
		build->no_memory = true;
		return;
	}
	asm_advance(&parser);
	while (parser.token.kind != ASM_END && !build->no_memory &&
	       build->diags->errors < TSR_ASM_DIAGNOSTICS_MAX) {
		if (parser.token.kind == ASM_NEWLINE)
			asm_advance(&parser);
		else
			parse_line(&parser);
	}
	asm_lex_fini(&parser.lexer);
}
