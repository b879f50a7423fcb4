// SPDX-License-Identifier: MIT
/*
 * "expect": what a dispatch shall leave behind.
 *
 *   expect ADDRESS [size BYTES] TYPE { CONTENTS } [where { RULE... }]
 *   expect fault NAME [{ FIELD... }]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contents.h"
#include "statements.h"

/* Words given as "{ 1 2 3 }". */
static void values(struct lex *lex, struct rule *rule, enum word_type type)
{
	lex_expect(lex, "{");
	while (!lex->error[0] && !lex_take(lex, "}")) {
		uint64_t word = contents_word(lex, type);

		rule->value = realloc(rule->value, (rule->values + 1) * sizeof(*rule->value));
		if (!rule->value)
			abort();
		rule->value[rule->values++] = word;
	}
}

/* any-file "a" "b" ... */
static void any_file(struct lex *lex, const struct script *script, struct rule *rule, uint64_t size)
{
	rule->kind = RULE_ANY_FILE;
	do {
		char *name = lex_string(lex, "the name of a file in quotes");
		struct bytes bytes = { 0 };

		if (!name)
			return;
		contents_file(lex, script, name, &bytes, size);
		free(name);
		rule->other = realloc(rule->other, (rule->others + 1) * sizeof(*rule->other));
		if (!rule->other)
			abort();
		rule->other[rule->others++] = bytes;
	} while (lex->kind == LEX_STRING);
}

/* near [abs A] [rel R] [ulp U] */
static void near(struct lex *lex, struct rule *rule)
{
	rule->kind = RULE_NEAR;
	for (;;) {
		double *which;

		if (lex_take(lex, "abs"))
			which = &rule->abs;
		else if (lex_take(lex, "rel"))
			which = &rule->rel;
		else if (lex_take(lex, "ulp"))
			which = &rule->ulp;
		else
			return;
		*which = lex_double(lex, "a tolerance");
		if (!(*which >= 0))
			lex_error(lex, "a tolerance is not negative");
	}
}

/* Parses the part of a rule after its keywords. */
static void rule_kind(struct lex *lex, const struct script *script, struct rule *rule,
		      const struct expectation *e)
{
	if (lex_take(lex, "ignore")) {
		rule->kind = RULE_IGNORE;
	} else if (lex_take(lex, "exact")) {
		rule->kind = RULE_EXACT;
	} else if (lex_take(lex, "range")) {
		rule->kind = RULE_RANGE;
		rule->low = lex_unsigned(lex, "the least value", UINT32_MAX);
		rule->high = lex_unsigned(lex, "the greatest value", UINT32_MAX);
	} else if (lex_take(lex, "any")) {
		rule->kind = RULE_ANY;
		values(lex, rule, e->type);
	} else if (lex_take(lex, "any-file")) {
		any_file(lex, script, rule, e->size);
	} else if (lex_take(lex, "near")) {
		near(lex, rule);
		if (e->type != WORD_F32 && e->type != WORD_F16)
			lex_error(lex, "only f32 and f16 words can be near something");
	} else {
		lex_error(lex, "expected exact, near, range, any, any-file or ignore, found '%s'",
			  lex->token);
	}
}

/* all KIND | words FIRST [step N] [count N] KIND | sum VALUE { WORD... } */
static void read_rule(struct lex *lex, struct script *script, struct expectation *e)
{
	struct rule *rule;

	e->rule = realloc(e->rule, (e->rules + 1) * sizeof(*e->rule));
	if (!e->rule)
		abort();
	rule = &e->rule[e->rules++];
	*rule = (struct rule){ .step = 1, .count = UINT64_MAX };
	if (lex_take(lex, "sum")) {
		rule->kind = RULE_SUM;
		rule->low = lex_unsigned(lex, "the sum", UINT32_MAX);
		values(lex, rule, WORD_U32);
		return;
	}
	if (!lex_take(lex, "all")) {
		lex_expect(lex, "words");
		rule->first = lex_unsigned(lex, "the number of the first word", UINT32_MAX);
		if (lex_take(lex, "step"))
			rule->step = lex_unsigned(lex, "a step", UINT32_MAX);
		if (lex_take(lex, "count"))
			rule->count = lex_unsigned(lex, "a number of words", UINT32_MAX);
		if (!rule->step)
			lex_error(lex, "a step is at least 1");
	}
	rule_kind(lex, script, rule, e);
}

static enum word_type word_type(struct lex *lex)
{
	static const char *const names[] = { "u8", "u16", "u32", "f16", "f32" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (lex_take(lex, names[i]))
			return (enum word_type)i;
	}
	lex_error(lex, "expected the type of the words, u8, u16, u32, f16 or f32, found '%s'",
		  lex->token);
	return WORD_U32;
}

static void expect_memory(struct lex *lex, struct script *script)
{
	struct expectation *e;
	char where[LEX_TOKEN_MAX];

	script->expect = realloc(script->expect, (script->expects + 1) * sizeof(*e));
	if (!script->expect)
		abort();
	e = &script->expect[script->expects++];
	*e = (struct expectation){ .place = lex->place };
	e->va = contents_address(lex, script);
	e->name = strdup(script_where(script, e->va, where, sizeof(where)));
	if (lex_take(lex, "size"))
		e->size = lex_unsigned(lex, "a size", CONTENTS_MAX);
	e->type = word_type(lex);
	contents_read(lex, script, &e->want, e->size ? e->size : CONTENTS_MAX);
	if (!e->size)
		e->size = e->want.size;
	if (lex_take(lex, "where")) {
		lex_expect(lex, "{");
		while (!lex->error[0] && !lex_take(lex, "}"))
			read_rule(lex, script, e);
	}
}

/* The number of an enumerated value by its name. */
static unsigned int by_name(struct lex *lex, const char *what, const char *const *names,
			    const unsigned int *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (lex_take(lex, names[i]))
			return numbers[i];
	}
	lex_error(lex, "'%s' is no %s", lex->token, what);
	return 0;
}

static unsigned int fault_code(struct lex *lex)
{
#define NAME(name, number, errno) #name,
#define NUMBER(name, number, errno) number,
	static const char *const names[] = { TSR_FAULT__TABLE(NAME) };
	static const unsigned int numbers[] = { TSR_FAULT__TABLE(NUMBER) };
#undef NAME
#undef NUMBER
	return by_name(lex, "fault", names, numbers, sizeof(names) / sizeof(names[0]));
}

/* One field of "expect fault". */
static void fault_field(struct lex *lex, struct script *script, struct fault_expectation *f)
{
	if (lex_take(lex, "address")) {
		f->address = contents_address(lex, script);
		f->given |= FAULT_HAS_ADDRESS;
	} else if (lex_take(lex, "clause")) {
		f->clause = contents_address(lex, script);
		f->given |= FAULT_HAS_CLAUSE;
	} else if (lex_take(lex, "tuple")) {
		f->tuple = (unsigned int)lex_unsigned(lex, "a tuple", 7);
		f->given |= FAULT_HAS_TUPLE;
	} else if (lex_is(lex, "fma") || lex_is(lex, "add")) {
		f->add = lex_is(lex, "add");
		f->given |= FAULT_HAS_SLOT;
		lex_next(lex);
	} else if (lex_take(lex, "lane")) {
		f->lane = (unsigned int)lex_unsigned(lex, "a lane", TSR_WARP_LANES - 1);
		f->given |= FAULT_HAS_LANE;
	} else if (lex_take(lex, "warp")) {
		f->warp = (unsigned int)lex_unsigned(lex, "a warp", 255);
		f->given |= FAULT_HAS_WARP;
	} else if (lex_take(lex, "group")) {
		for (int i = 0; i < 3; i++)
			f->group[i] = (uint32_t)lex_unsigned(lex, "the group", UINT32_MAX);
		f->given |= FAULT_HAS_GROUP;
	} else {
		lex_error(lex, "expected address, clause, tuple, fma, add, lane, warp or group, "
			  "found '%s'", lex->token);
	}
}

static void expect_fault(struct lex *lex, struct script *script)
{
	struct fault_expectation *f = &script->fault;

	if (f->wanted)
		lex_error(lex, "a dispatch ends with one fault at most");
	*f = (struct fault_expectation){ .wanted = true, .place = lex->place };
	f->code = fault_code(lex);
	if (!lex_take(lex, "{"))
		return;
	while (!lex->error[0] && !lex_take(lex, "}"))
		fault_field(lex, script, f);
}

void statement_expect(struct lex *lex, struct script *script)
{
	if (lex_take(lex, "fault"))
		expect_fault(lex, script);
	else
		expect_memory(lex, script);
}
