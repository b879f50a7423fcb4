// SPDX-License-Identifier: MIT
/* Results against expectations, see compare.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "half.h"

/* One expectation being compared. */
struct comparison {
	const struct machine *machine;
	const struct expectation *e;
	const uint8_t *got;
	const struct rule **rule;	/* for each word; NULL: exact */
	uint64_t words;
	unsigned int lines, wrong;
	FILE *out;
	const char *prefix;
};

static unsigned int word_bytes(enum word_type type)
{
	switch (type) {
	case WORD_U8:
		return 1;
	case WORD_U16:
	case WORD_F16:
		return 2;
	default:
		return 4;
	}
}

/* Word @i of @size bytes at @data, zero beyond them. */
static uint32_t word_at(const uint8_t *data, uint64_t size, uint64_t i, enum word_type type)
{
	unsigned int n = word_bytes(type);
	uint32_t word = 0;

	for (unsigned int k = 0; k < n && i * n + k < size; k++)
		word |= (uint32_t)data[i * n + k] << (8 * k);
	return word;
}

static double as_double(uint32_t word, enum word_type type)
{
	float f;

	if (type == WORD_F16)
		return half_to_double((uint16_t)word);
	memcpy(&f, &word, 4);
	return (double)f;
}

/* One unit in the last place of a finite value. */
static double ulp_of(uint32_t word, enum word_type type)
{
	int exponent = type == WORD_F16 ? word >> 10 & 31 : word >> 23 & 255;
	int least = type == WORD_F16 ? -24 : -149;

	return ldexp(1, exponent ? exponent - 1 + least : least);
}

static bool is_near(const struct rule *rule, uint32_t want, uint32_t got, enum word_type type)
{
	double x = as_double(want, type), y = as_double(got, type), most = rule->abs;

	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y);
	if (isinf(x) || isinf(y))
		return x == y;
	most = fmax(most, rule->rel * fabs(x));
	most = fmax(most, rule->ulp * ulp_of(want, type));
	return fabs(x - y) <= most;
}

static bool is_any(const struct comparison *c, const struct rule *rule, uint64_t i, uint32_t got)
{
	for (size_t k = 0; k < rule->values; k++) {
		if (rule->value[k] == got)
			return true;
	}
	for (size_t k = 0; k < rule->others; k++) {
		if (word_at(rule->other[k].data, rule->other[k].size, i, c->e->type) == got)
			return true;
	}
	return false;
}

static bool word_ok(const struct comparison *c, uint64_t i, uint32_t want, uint32_t got)
{
	const struct rule *rule = c->rule[i];

	switch (rule ? rule->kind : RULE_EXACT) {
	case RULE_IGNORE:
	case RULE_SUM:
		return true;
	case RULE_RANGE:
		return got >= rule->low && got <= rule->high;
	case RULE_ANY:
	case RULE_ANY_FILE:
		return got == want || is_any(c, rule, i, got);
	case RULE_NEAR:
		return got == want || is_near(rule, want, got, c->e->type);
	default:
		return got == want;
	}
}

/* "0x3f800000 (1)" */
static void print_word(FILE *out, uint32_t word, enum word_type type)
{
	fprintf(out, "0x%0*" PRIx32, 2 * (int)word_bytes(type), word);
	if (type == WORD_F16 || type == WORD_F32)
		fprintf(out, " (%.9g)", as_double(word, type));
	else
		fprintf(out, " (%" PRIu32 ")", word);
}

/* True if one more line may be printed; counts it. */
static bool one_more(struct comparison *c)
{
	c->wrong++;
	return c->lines++ < COMPARE_LINES;
}

static void wrong_word(struct comparison *c, uint64_t i, uint32_t want, uint32_t got)
{
	const struct rule *rule = c->rule[i];
	char where[LEX_TOKEN_MAX];
	uint64_t va = c->e->va + i * word_bytes(c->e->type);

	if (!one_more(c))
		return;
	fprintf(c->out, "%s%s, word %" PRIu64 " (%s): got ", c->prefix, c->e->name, i,
		script_where(c->machine->script, va, where, sizeof(where)));
	print_word(c->out, got, c->e->type);
	fprintf(c->out, ", expected ");
	if (rule && rule->kind == RULE_RANGE) {
		fprintf(c->out, "0x%" PRIx64 " to 0x%" PRIx64 "\n", rule->low, rule->high);
		return;
	}
	print_word(c->out, want, c->e->type);
	if (rule && rule->kind == RULE_NEAR)
		fprintf(c->out, " within abs %g, rel %g or ulp %g", rule->abs, rule->rel,
			rule->ulp);
	else if (rule && (rule->kind == RULE_ANY || rule->kind == RULE_ANY_FILE))
		fprintf(c->out, " or one of %zu others", rule->values + rule->others);
	fputc('\n', c->out);
}

static void check_sum(struct comparison *c, const struct rule *rule)
{
	uint32_t sum = 0;

	for (size_t k = 0; k < rule->values; k++)
		sum += word_at(c->got, c->e->size, rule->value[k], c->e->type);
	if (sum == rule->low || !one_more(c))
		return;
	fprintf(c->out, "%s%s: the sum of %zu words from word %" PRIu64 " on is 0x%" PRIx32
		", expected 0x%" PRIx64 "\n", c->prefix, c->e->name, rule->values,
		rule->values ? rule->value[0] : 0, sum, rule->low);
}

static void find_rules(struct comparison *c)
{
	for (size_t r = 0; r < c->e->rules; r++) {
		const struct rule *rule = &c->e->rule[r];
		uint64_t left = rule->count;

		if (rule->kind == RULE_SUM) {
			check_sum(c, rule);
			continue;
		}
		for (uint64_t i = rule->first; i < c->words && left--; i += rule->step)
			c->rule[i] = rule;
	}
}

static bool compare_one(const struct machine *machine, const struct expectation *e, FILE *out,
			const char *prefix)
{
	struct comparison c = { .machine = machine, .e = e, .out = out, .prefix = prefix };

	c.got = memory_at(&machine->memory, e->va, e->size);
	if (!c.got) {
		fprintf(out, "%s%s: there is no memory for %" PRIu64 " bytes\n", prefix, e->name,
			e->size);
		return false;
	}
	c.words = (e->size + word_bytes(e->type) - 1) / word_bytes(e->type);
	c.rule = calloc(c.words + 1, sizeof(c.rule[0]));
	if (!c.rule)
		abort();
	find_rules(&c);
	for (uint64_t i = 0; i < c.words; i++) {
		uint32_t want = word_at(e->want.data, e->want.size, i, e->type);
		uint32_t got = word_at(c.got, e->size, i, e->type);

		if (!word_ok(&c, i, want, got))
			wrong_word(&c, i, want, got);
	}
	if (c.wrong > COMPARE_LINES)
		fprintf(out, "%s%s: %u differences in all, of %" PRIu64 " words\n", prefix,
			e->name, c.wrong, c.words);
	free(c.rule);
	return !c.wrong;
}

const char *compare_fault_name(unsigned int code)
{
	switch (code) {
#define NAME(name, number, errno) \
	case number: \
		return #name;
	TSR_FAULT__TABLE(NAME)
#undef NAME
	}
	return "?";
}

/* The first field of the fault that is not as expected, as "what: got, expected". */
static bool fault_ok(const struct fault_expectation *f, const struct outcome *o, FILE *out,
		     const char *prefix)
{
	const struct {
		enum fault_field field;
		const char *name;
		uint64_t got, want;
	} checks[] = {
		{ FAULT_HAS_ADDRESS, "address", o->address, f->address },
		{ FAULT_HAS_CLAUSE, "clause", o->clause, f->clause },
		{ FAULT_HAS_TUPLE, "tuple", o->tuple, f->tuple },
		{ FAULT_HAS_SLOT, "ADD instruction", o->add, f->add },
		{ FAULT_HAS_LANE, "lane", o->lane, f->lane },
		{ FAULT_HAS_WARP, "warp", o->warp, f->warp },
		{ FAULT_HAS_GROUP, "group x", o->group[0], f->group[0] },
		{ FAULT_HAS_GROUP, "group y", o->group[1], f->group[1] },
		{ FAULT_HAS_GROUP, "group z", o->group[2], f->group[2] },
	};
	unsigned int needs_program = f->given & ~(unsigned int)FAULT_HAS_ADDRESS;
	bool ok = true;

	if (!o->faulted || o->code != f->code) {
		fprintf(out, "%sthe dispatch ends with fault %s, expected %s\n", prefix,
			compare_fault_name(o->faulted ? o->code : 0), compare_fault_name(f->code));
		return false;
	}
	if (needs_program && !o->in_program) {
		fprintf(out, "%sthe fault record names no place in the program\n", prefix);
		return false;
	}
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!(f->given & checks[i].field) || checks[i].got == checks[i].want)
			continue;
		fprintf(out, "%sfault: %s is 0x%" PRIx64 ", expected 0x%" PRIx64 "\n", prefix,
			checks[i].name, checks[i].got, checks[i].want);
		ok = false;
	}
	return ok;
}

unsigned int compare_all(const struct machine *machine, const struct outcome *outcome, FILE *out,
			 const char *prefix)
{
	const struct script *script = machine->script;
	unsigned int bad = 0;

	if (!outcome->ended) {
		fprintf(out, "%sthe dispatch does not end\n", prefix);
		return 1;
	}
	if (script->fault.wanted) {
		bad += !fault_ok(&script->fault, outcome, out, prefix);
	} else if (outcome->faulted) {
		fprintf(out, "%sthe dispatch ends with fault %s\n", prefix,
			compare_fault_name(outcome->code));
		return 1;
	}
	for (size_t i = 0; i < script->expects; i++)
		bad += !compare_one(machine, &script->expect[i], out, prefix);
	return bad;
}

uint64_t compare_hash(const struct machine *machine)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < machine->script->regions; i++) {
		const struct region *r = &machine->script->region[i];
		const uint8_t *data = memory_at(&machine->memory, r->va, r->size);

		for (uint64_t k = 0; k < r->size; k++)
			hash = (hash ^ data[k]) * 0x100000001b3ull;
	}
	return hash;
}
