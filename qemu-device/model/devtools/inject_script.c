/* SPDX-License-Identifier: MIT */
/* Parser of fault injection scripts. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tsr_desc.h"

#include "inject.h"

#define DELAY_MAX	10000000000ull		/* ns */
#define WORD_MAX	32

/* Keys, and which kinds have them; those of the first line have all. */
enum {
	KEY_ALWAYS = 1 << 0,
	KEY_QUEUE = 1 << 1,
	KEY_CLASS = 1 << 2,
	KEY_JOB = 1 << 3,
	KEY_ADDR = 1 << 4,
	KEY_AS = 1 << 5,
	KEY_VECTOR = 1 << 6,
	KEY_DELAY = 1 << 7,
};

#define OF_QUEUE (KEY_QUEUE | KEY_CLASS)
#define OF_JOB (OF_QUEUE | KEY_JOB)
#define OF_WALK (OF_JOB | KEY_ADDR | KEY_AS)

static const uint8_t keys_of[TSR_INJECT_KINDS] = {
	[TSR_INJECTION_HANG] = OF_JOB,
	[TSR_INJECTION_SLOW] = OF_JOB | KEY_DELAY,
	[TSR_INJECTION_IRQ_LOST] = KEY_QUEUE | KEY_VECTOR,
	[TSR_INJECTION_IRQ_TWICE] = KEY_QUEUE | KEY_VECTOR | KEY_DELAY,
	[TSR_INJECTION_IRQ_LATE] = KEY_QUEUE | KEY_VECTOR | KEY_DELAY,
	[TSR_INJECTION_IRQ_EARLY] = OF_JOB,
	[TSR_INJECTION_FENCE_LOST] = OF_WALK,
	[TSR_INJECTION_FENCE_TORN] = OF_WALK | KEY_DELAY,
	[TSR_INJECTION_FENCE_LATE] = OF_WALK | KEY_DELAY,
	[TSR_INJECTION_MMU_UNMAPPED] = OF_WALK,
	[TSR_INJECTION_MMU_PERMISSION] = OF_WALK,
	[TSR_INJECTION_MMU_WALK] = OF_WALK,
	[TSR_INJECTION_MMU_WALK_BUS] = OF_WALK,
	[TSR_INJECTION_BUS] = OF_WALK,
	[TSR_INJECTION_TLB_STALE] = KEY_AS,
	[TSR_INJECTION_DOORBELL_LOST] = OF_QUEUE,
	[TSR_INJECTION_HEAP_OOM] = KEY_QUEUE | KEY_JOB,
	[TSR_INJECTION_COPY_CORRUPT] = KEY_QUEUE | KEY_JOB,
	[TSR_INJECTION_RESET_STUCK] = KEY_DELAY,
	[TSR_INJECTION_STOP_STUCK] = OF_QUEUE | KEY_DELAY,
	[TSR_INJECTION_INV_STUCK] = KEY_AS,
};

/* A script while it is read. */
struct parser {
	struct tsr_inject_script *script;
	const char *text, *at;
	uint64_t seed;
};

static bool refuse(struct parser *p, const char *where, const char *format, ...)
__attribute__((format(printf, 3, 4)));

static bool refuse(struct parser *p, const char *where, const char *format, ...)
{
	va_list args;

	p->script->position = where - p->text;
	va_start(args, format);
	vsnprintf(p->script->err, sizeof(p->script->err), format, args);
	va_end(args);
	return false;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* A number at @at; *@end after it, or NULL if there is none that fits. */
static uint64_t number(const char *at, const char **end)
{
	unsigned int base = at[0] == '0' && (at[1] == 'x' || at[1] == 'X') ? 16 : 10;
	const char *digit = base == 16 ? at + 2 : at;
	uint64_t value = 0;

	*end = NULL;
	for (; base == 16 ? isxdigit((unsigned char)*digit) : isdigit((unsigned char)*digit);
	     digit++) {
		unsigned int d = isdigit((unsigned char)*digit) ?
					 *digit - '0' : tolower((unsigned char)*digit) - 'a' + 10;

		if (value > (UINT64_MAX - d) / base) {
			*end = NULL;
			return 0;
		}
		value = value * base + d;
		*end = digit + 1;
	}
	return value;
}

/* The whole of @word is a number from @min to @max. */
static bool number_within(const char *word, uint64_t min, uint64_t max, uint64_t *value)
{
	const char *end;

	*value = number(word, &end);
	return end && !*end && *value >= min && *value <= max;
}

/* "0.25" of 2^32 - 1; at most nine digits count. */
static bool probability(const char *word, uint32_t *chance)
{
	uint64_t whole, part = 0, scale = 1;
	const char *end;

	whole = number(word, &end);
	if (!end || whole > 1 || (end - word) != 1)
		return false;
	if (*end == '.')
		end++;
	for (; isdigit((unsigned char)*end); end++) {
		if (scale < 1000000000) {
			part = part * 10 + (*end - '0');
			scale *= 10;
		}
	}
	if (*end || (whole && part))
		return false;
	*chance = whole ? UINT32_MAX : part * UINT32_MAX / scale;
	return true;
}

static bool duration(const char *word, uint64_t *ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 } };
	const char *end;
	uint64_t value = number(word, &end);

	for (unsigned int i = 0; end && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit))
			continue;
		*ns = value * units[i].ns;
		return value <= DELAY_MAX / units[i].ns;
	}
	return false;
}

static bool addresses(const char *word, uint64_t *first, uint64_t *last)
{
	const char *end;

	*first = *last = number(word, &end);
	if (end && *end == '-')
		*last = number(end + 1, &end);
	return end && !*end && *first <= *last;
}

static bool class_named(const char *word, int8_t *cls)
{
	const struct tsr_desc_enum *classes = tsr_desc_find_enum("ENGINE_CLASS");

	for (uint32_t i = 0; i < classes->num_values; i++) {
		if (!strcasecmp(word, classes->values[i].name)) {
			*cls = classes->values[i].value;
			return true;
		}
	}
	return false;
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* Separators of words. Colons are convenient on command lines. */
static bool is_blank(char c)
{
	return c == ' ' || c == ':' || c == '\t' || c == '\r';
}

static void skip_blanks(struct parser *p)
{
	while (is_blank(*p->at))
		p->at++;
}

static bool at_end(const struct parser *p)
{
	return !*p->at || *p->at == ';' || *p->at == '\n';
}

/* The characters up to @stop or the word's end. False: none, or too many. */
static bool take(struct parser *p, char stop, char word[WORD_MAX])
{
	unsigned int n = 0;

	while (!at_end(p) && !is_blank(*p->at) && *p->at != stop) {
		if (n == WORD_MAX - 1)
			return false;
		word[n++] = *p->at++;
	}
	word[n] = 0;
	return n > 0;
}

static const struct tsr_desc_value *find_kind(const char *word)
{
	const struct tsr_desc_enum *kinds = tsr_desc_find_enum("INJECTION");

	for (uint32_t i = 0; i < kinds->num_values; i++) {
		const char *name = kinds->values[i].name, *c = word;

		while (*name && (*name == '_' ? *c == '-' : *c == tolower((unsigned char)*name)))
			name++, c++;
		if (!*name && !*c)
			return &kinds->values[i];
	}
	return NULL;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

/* Key @key has @value: to @rule. Returns which key it is; 0: none; negative: a wrong value. */
static int set_key(struct tsr_inject_rule *rule, const char *key, const char *value)
{
	uint64_t n;

	if (!strcmp(key, "queue")) {
		bool good = number_within(value, 0, TSR_QUEUES_MAX - 1, &n);

		rule->queue = n;
		return good ? KEY_QUEUE : -1;
	}
	if (!strcmp(key, "class"))
		return class_named(value, &rule->cls) ? KEY_CLASS : -1;
	if (!strcmp(key, "job"))
		return number_within(value, 1, UINT64_MAX, &rule->job) ? KEY_JOB : -1;
	if (!strcmp(key, "addr"))
		return addresses(value, &rule->first, &rule->last) ? KEY_ADDR : -1;
	if (!strcmp(key, "as")) {
		bool good = number_within(value, 0, TSR_ADDRESS_SPACES_MAX - 1, &n);

		rule->as = n;
		return good ? KEY_AS : -1;
	}
	if (!strcmp(key, "vector")) {
		bool good = number_within(value, 0, TSR_IRQ__COUNT - 1, &n);

		rule->vector = n;
		return good ? KEY_VECTOR : -1;
	}
	if (!strcmp(key, "skip"))
		return number_within(value, 0, UINT64_MAX, &rule->skip) ? KEY_ALWAYS : -1;
	if (!strcmp(key, "times")) {
		if (!strcmp(value, "always")) {
			rule->times = UINT64_MAX;
			return KEY_ALWAYS;
		}
		return number_within(value, 1, UINT64_MAX, &rule->times) ? KEY_ALWAYS : -1;
	}
	if (!strcmp(key, "chance"))
		return probability(value, &rule->chance) ? KEY_ALWAYS : -1;
	if (!strcmp(key, "delay"))
		return duration(value, &rule->delay) ? KEY_DELAY : -1;
	return 0;
}

static bool read_rule(struct parser *p, const char *kind_at, const char *kind_word)
{
	const struct tsr_desc_value *kind = find_kind(kind_word);
	struct tsr_inject_rule rule = {
		.queue = -1, .cls = -1, .vector = -1, .as = -1, .last = UINT64_MAX, .times = 1,
		.chance = UINT32_MAX, .delay = UINT64_MAX, .seed = p->seed,
	};

	if (!kind)
		return refuse(p, kind_at, "'%s' is no kind of fault", kind_word);
	rule.kind = kind->value;
	for (skip_blanks(p); !at_end(p); skip_blanks(p)) {
		const char *start = p->at;
		char key[WORD_MAX], value[WORD_MAX];
		int which;

		if (!take(p, '=', key) || *p->at != '=')
			return refuse(p, start, "expected key=value");
		p->at++;
		if (!take(p, ' ', value))
			return refuse(p, p->at, "'%s' has no value, or too long a one", key);
		which = set_key(&rule, key, value);
		if (!which)
			return refuse(p, start, "'%s' is no key", key);
		if (which < 0)
			return refuse(p, start, "'%s' cannot be '%s'", key, value);
		if (!((keys_of[rule.kind] | KEY_ALWAYS) & which))
			return refuse(p, start, "'%s' takes no '%s'", kind_word, key);
	}
	if (p->script->rules == TSR_INJECTION_RULES_MAX)
		return refuse(p, kind_at, "more than %u rules", TSR_INJECTION_RULES_MAX);
	p->script->rule[p->script->rules++] = rule;
	return true;
}

static bool read_statement(struct parser *p)
{
	const char *start = p->at;
	char word[WORD_MAX];

	if (!take(p, '=', word))
		return refuse(p, start, "expected a kind of fault, 'clear' or 'seed='");
	if (!strcmp(word, "seed")) {
		char value[WORD_MAX];

		if (*p->at++ != '=' || !take(p, ' ', value) ||
		    !number_within(value, 0, UINT64_MAX, &p->seed))
			return refuse(p, start, "expected seed=NUMBER");
	} else if (!strcmp(word, "clear")) {
		p->script->clear = true;
		p->script->rules = 0;
	} else if (!read_rule(p, start, word)) {
		return false;
	}
	skip_blanks(p);
	return at_end(p) || refuse(p, p->at, "expected ';'");
}

bool tsr_inject_parse(struct tsr_inject_script *script, const char *text)
{
	struct parser p = { .script = script, .text = text, .at = text };

	memset(script, 0, sizeof(*script));
	for (;;) {
		skip_blanks(&p);
		if (!at_end(&p) && !read_statement(&p))
			return false;
		if (!*p.at)
			break;
		p.at++;
	}
	script->position = p.at - text;
	return true;
}
