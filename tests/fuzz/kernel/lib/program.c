// SPDX-License-Identifier: MIT
#include "program.h"

#include <string.h>

#include "call.h"
#include "corpus.h"

uint32_t random_below(uint64_t *state, uint32_t n)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*state >> 33) % n;
}

/* Small numbers are the common choices of fields: half of the bytes are. */
static uint8_t random_choice(uint64_t *random)
{
	return random_below(random, 2) ? random_below(random, 8) : random_below(random, 256);
}

/* Half of the calls are like one that did something new before. */
static void make_call(struct call *call, unsigned int which, const struct corpus *corpus,
		      uint64_t *random)
{
	const struct call *known = corpus ? corpus_call(corpus, which, random) : NULL;

	if (known && random_below(random, 2)) {
		*call = *known;
		return;
	}
	call->which = which;
	call->used = 0;
	for (unsigned int i = 0; i < CHOICE_BYTES; i++)
		call->choice[i] = random_choice(random);
}

void program_remove(struct program *p, unsigned int call)
{
	p->calls--;
	memmove(&p->call[call], &p->call[call + 1], (p->calls - call) * sizeof(p->call[0]));
}

static void insert(struct program *p, unsigned int at, const struct call *call)
{
	if (p->calls == PROGRAM_CALLS)
		program_remove(p, PROGRAM_CALLS - 1);
	if (at > p->calls)
		at = p->calls;
	memmove(&p->call[at + 1], &p->call[at], (p->calls - at) * sizeof(p->call[0]));
	p->call[at] = *call;
	p->calls++;
}

/* Resources that the calls before @at create. */
static uint32_t created_before(const struct program *p, unsigned int at)
{
	uint32_t created = 0;

	for (unsigned int i = 0; i < at; i++)
		created |= call_creates(p->call[i].which);
	return created;
}

/* Any call for which @resources(call) has one of @kinds; -1 if there is none. */
static int call_with(uint32_t (*resources)(unsigned int which), uint32_t kinds, uint64_t *random)
{
	unsigned int found = 0;
	int which = -1;

	for (unsigned int i = 0; i < calls_known(); i++)
		if (resources(i) & kinds && !random_below(random, ++found))
			which = i;
	return which;
}

/* One of the bits of @kinds. */
static uint32_t any_kind(uint32_t kinds, uint64_t *random)
{
	for (unsigned int skip = random_below(random, __builtin_popcount(kinds)); skip; skip--)
		kinds &= kinds - 1;
	return kinds & -kinds;
}

/*
 * A call to insert at @at: rather one that uses what the calls before it create. The kind of
 * resource is chosen first, so a resource of few calls meets them as often as one of many.
 */
static unsigned int likely_call(const struct program *p, unsigned int at, uint64_t *random)
{
	const uint32_t created = created_before(p, at);
	int which = -1;

	if (created && random_below(random, 4))
		which = call_with(call_uses, any_kind(created, random), random);
	return which < 0 ? random_below(random, calls_known()) : (unsigned int)which;
}

/*
 * Insert @call, and before it calls that create the resources it refers to. Without them nearly all
 * random calls would end at a handle that does not exist. One call in eight goes without.
 */
static void insert_with_resources(struct program *p, unsigned int at, const struct call *call,
				  const struct corpus *corpus, uint64_t *random)
{
	uint32_t needed = call_uses(call->which);

	insert(p, at, call);
	if (!random_below(random, 8))
		return;
	while (p->calls < PROGRAM_CALLS) {
		const uint32_t missing = needed & ~created_before(p, at);
		struct call more;
		int which = missing ? call_with(call_creates, missing & -missing, random) : -1;

		if (which < 0)
			return;
		make_call(&more, which, corpus, random);
		needed |= call_uses(more.which);
		/* before all others: a resource is created before its users, which come later */
		insert(p, created_before(p, at) & call_uses(more.which) ? at : 0, &more);
		at++;
	}
}

/* Bytes that a call did not use when it ran do nothing. It may use one more after a change. */
static void change_choices(struct call *call, uint64_t *random)
{
	const unsigned int used = call->used && call->used < CHOICE_BYTES ? call->used + 1
									  : CHOICE_BYTES;
	unsigned int n = 1 + random_below(random, 3);

	while (n--)
		call->choice[random_below(random, used)] = random_choice(random);
}

/* A place in @p, half of the time the end: calls depend on those before them. */
static unsigned int late_place(const struct program *p, uint64_t *random)
{
	return random_below(random, 2) ? p->calls : random_below(random, p->calls + 1);
}

static void mutate_once(struct program *p, const struct program *other,
			const struct corpus *corpus, uint64_t *random)
{
	const unsigned int at = random_below(random, p->calls);
	unsigned int place = late_place(p, random);
	struct call call;

	switch (random_below(random, 10)) {
	case 0:
	case 1:
	case 2:
	case 3:
		make_call(&call, likely_call(p, place, random), corpus, random);
		insert_with_resources(p, place, &call, corpus, random);
		break;
	case 4:
		call = other->call[random_below(random, other->calls)];
		insert_with_resources(p, place, &call, corpus, random);
		break;
	case 5:
		if (p->calls > 1)
			program_remove(p, at);
		break;
	case 6:
		call = p->call[at];
		change_choices(&call, random);
		insert(p, at + 1, &call);
		break;
	default:
		change_choices(&p->call[at], random);
		break;
	}
}

void program_random(struct program *p, uint64_t *random)
{
	unsigned int n = 1 + random_below(random, 5);
	struct call call;

	p->calls = 0;
	while (n--) {
		make_call(&call, random_below(random, calls_known()), NULL, random);
		insert_with_resources(p, p->calls, &call, NULL, random);
	}
}

/* The first calls of @p, then the last ones of @other. */
static void splice(struct program *p, const struct program *other, uint64_t *random)
{
	p->calls = 1 + random_below(random, p->calls);
	for (unsigned int i = random_below(random, other->calls);
	     i < other->calls && p->calls < PROGRAM_CALLS; i++)
		insert(p, p->calls, &other->call[i]);
}

void program_mutate(struct program *p, const struct program *other, const struct corpus *corpus,
		    uint64_t *random)
{
	unsigned int n = 1 + random_below(random, 4);

	if (!random_below(random, 8))
		splice(p, other, random);
	while (n--)
		mutate_once(p, other, corpus, random);
}

void program_write(const struct program *p, FILE *to)
{
	for (unsigned int i = 0; i < p->calls; i++) {
		fprintf(to, "%-20s ", call_name(p->call[i].which));
		for (unsigned int k = 0; k < CHOICE_BYTES; k++)
			fprintf(to, "%02x", p->call[i].choice[k]);
		fputc('\n', to);
	}
}

bool program_read(struct program *p, FILE *from, char *error, size_t size)
{
	char line[256], name[32];
	unsigned int number = 0;

	p->calls = 0;
	while (fgets(line, sizeof(line), from)) {
		int which, at = 0;

		number++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (sscanf(line, "%31s %n", name, &at) != 1 || (which = call_find(name)) < 0) {
			snprintf(error, size, "line %u names no call", number);
			return false;
		}
		if (p->calls == PROGRAM_CALLS) {
			snprintf(error, size, "more than %u calls", PROGRAM_CALLS);
			return false;
		}
		p->call[p->calls].which = which;
		p->call[p->calls].used = 0;
		for (unsigned int k = 0; k < CHOICE_BYTES; k++) {
			unsigned int byte;

			if (sscanf(line + at + 2 * k, "%2x", &byte) != 1) {
				snprintf(error, size, "line %u: %u bytes are expected", number,
					 CHOICE_BYTES);
				return false;
			}
			p->call[p->calls].choice[k] = byte;
		}
		p->calls++;
	}
	if (!p->calls)
		snprintf(error, size, "no call");
	return p->calls;
}
