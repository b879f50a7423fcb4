// SPDX-License-Identifier: MIT
/* Shader files, see script.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contents.h"
#include "statements.h"

#define PTE_RW	(TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK)

const struct region *script_region(const struct script *script, const char *name)
{
	for (size_t i = 0; i < script->regions; i++) {
		if (!strcmp(script->region[i].name, name))
			return &script->region[i];
	}
	return NULL;
}

const struct region *script_region_at(const struct script *script, uint64_t va, uint64_t slack)
{
	const struct region *best = NULL;

	for (size_t i = 0; i < script->regions; i++) {
		const struct region *r = &script->region[i];

		if (va - r->va < r->size)
			return r;
		if (va >= r->va && va - r->va - r->size < slack && (!best || r->va > best->va))
			best = r;
	}
	return best;
}

const char *script_where(const struct script *script, uint64_t va, char *text, size_t size)
{
	const struct region *r = script_region_at(script, va, 1 << 20);

	for (size_t i = 0; i < script->labels; i++) {
		if (script->label[i].va == va) {
			snprintf(text, size, "%s", script->label[i].name);
			return text;
		}
	}
	if (!r)
		snprintf(text, size, "0x%" PRIx64, va);
	else if (va == r->va)
		snprintf(text, size, "%s", r->name);
	else
		snprintf(text, size, "%s+0x%" PRIx64, r->name, va - r->va);
	return text;
}

struct region *script_add_region(struct script *script, const char *name, uint64_t size,
				 bool fixed, uint64_t va)
{
	uint64_t pages = (size + SCRIPT_PAGE - 1) / SCRIPT_PAGE * SCRIPT_PAGE;
	struct region *r;

	script->region = realloc(script->region, (script->regions + 1) * sizeof(*r));
	if (!script->region)
		abort();
	r = &script->region[script->regions++];
	*r = (struct region){ .name = strdup(name), .size = size, .pte = PTE_RW, .va = va };
	if (!fixed) {
		/* as near to the end of its last page as an alignment of 64 allows */
		r->va = script->next_va + (pages - size) / 64 * 64;
		script->next_va += pages + SCRIPT_PAGE;
	}
	return r;
}

/* NAME, which must be new. */
static char *new_name(struct lex *lex, const struct script *script)
{
	struct lex_place place = lex->place;
	char *name = lex_name(lex, "a name for the buffer");

	if (name && script_region(script, name))
		lex_error_at(lex, place, "there is a buffer '%s' already", name);
	return name;
}

/* buffer NAME SIZE [at ADDRESS] [read-only | write-only | executable] [{ CONTENTS }] */
static void statement_buffer(struct lex *lex, struct script *script)
{
	char *name = new_name(lex, script);
	uint64_t size = lex_unsigned(lex, "the size in bytes", CONTENTS_MAX), va = 0;
	unsigned int pte = PTE_RW;
	struct bytes init = { 0 };
	bool fixed;

	fixed = lex_take(lex, "at");
	if (fixed)
		va = lex_unsigned(lex, "an address", UINT64_MAX);
	if (lex_take(lex, "read-only"))
		pte = TSR_PTE_READ__MASK;
	else if (lex_take(lex, "write-only"))
		pte = TSR_PTE_WRITE__MASK;
	else if (lex_take(lex, "executable"))
		pte = PTE_RW | TSR_PTE_EXEC__MASK;
	if (!lex->error[0] && !size)
		lex_error(lex, "a buffer has at least one byte");
	if (!lex->error[0] && va + size < va)
		lex_error(lex, "the buffer reaches beyond the last address");
	if (!lex->error[0]) {
		/* first, so that its contents may hold its address */
		size_t number = script->regions;

		script_add_region(script, name, size, fixed, va)->pte = pte;
		if (lex_is(lex, "{"))
			contents_read(lex, script, &init, size);
		script->region[number].init = init;
	}
	free(name);
}

/* X [Y [Z]] */
static void dimensions(struct lex *lex, uint32_t out[3], const char *what)
{
	for (int i = 0; i < 3; i++) {
		bool more = i == 0 || lex->kind == LEX_NUMBER;

		out[i] = more ? (uint32_t)lex_unsigned(lex, what, UINT32_MAX) : 1;
	}
}

static void statement_group(struct lex *lex, struct script *script)
{
	dimensions(lex, script->local, "the threads of a group");
	script->has_local = true;
}

static void statement_grid(struct lex *lex, struct script *script)
{
	dimensions(lex, script->groups, "the number of groups");
	script->indirect = lex_take(lex, "indirect");
}

static void statement_registers(struct lex *lex, struct script *script)
{
	uint64_t n = lex_unsigned(lex, "32 or 64", 64);

	if (n != 32 && n != 64)
		lex_error(lex, "a program has 32 or 64 registers");
	script->registers_64 = n == 64;
	script->has_registers = true;
}

static void statement_group_memory(struct lex *lex, struct script *script)
{
	script->group_memory = (uint32_t)lex_unsigned(lex, "bytes of group memory", UINT32_MAX);
	script->has_group_memory = true;
}

static void statement_scratch(struct lex *lex, struct script *script)
{
	script->scratch = (uint32_t)lex_unsigned(lex, "bytes of scratch", UINT32_MAX);
	script->has_scratch = true;
}

static void statement_clause_limit(struct lex *lex, struct script *script)
{
	script->clause_limit = (uint32_t)lex_unsigned(lex, "a number of clauses", UINT32_MAX);
}

static void statement_push(struct lex *lex, struct script *script)
{
	contents_read(lex, script, &script->push, 4 * TSR_PUSH_WORDS_MAX);
}

static void statement_any_order(struct lex *lex, struct script *script)
{
	(void)lex;
	script->any_order = true;
}

/* uniforms INDEX ADDRESS [SIZE] */
static void statement_uniforms(struct lex *lex, struct script *script)
{
	unsigned int i = (unsigned int)lex_unsigned(lex, "the number of the uniform buffer",
						    TSR_UNIFORM_BUFFERS_MAX - 1);
	uint64_t va = contents_address(lex, script);
	const struct region *r = script_region_at(script, va, 0);
	uint64_t size = r ? r->size - (va - r->va) : 0;

	if (lex->kind == LEX_NUMBER)
		size = lex_unsigned(lex, "a size", UINT32_MAX);
	script->ubo[i] = (struct uniform_buffer){ va, size };
	if (script->ubos <= i)
		script->ubos = i + 1;
}

/* table attributes|attribute-buffers|textures|samplers ADDRESS COUNT */
static void statement_table(struct lex *lex, struct script *script)
{
	static const char *const names[TABLES] = {
		"attributes", "attribute-buffers", "textures", "samplers",
	};

	for (unsigned int i = 0; i < TABLES; i++) {
		if (!lex_take(lex, names[i]))
			continue;
		script->table[i].va = contents_address(lex, script);
		script->table[i].count =
			(unsigned int)lex_unsigned(lex, "how many", TSR_RESOURCES_MAX);
		return;
	}
	lex_error(lex, "expected attributes, attribute-buffers, textures or samplers, found '%s'",
		  lex->token);
}

static void statement(struct lex *lex, struct script *script)
{
	static const struct {
		const char *word;
		void (*fn)(struct lex *lex, struct script *script);
	} statements[] = {
		{ "group", statement_group }, { "grid", statement_grid },
		{ "registers", statement_registers }, { "group-memory", statement_group_memory },
		{ "scratch", statement_scratch }, { "clause-limit", statement_clause_limit },
		{ "buffer", statement_buffer }, { "push", statement_push },
		{ "uniforms", statement_uniforms }, { "table", statement_table },
		{ "code", statement_code }, { "expect", statement_expect },
		{ "any-order", statement_any_order },
	};

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		if (lex_take(lex, statements[i].word)) {
			statements[i].fn(lex, script);
			return;
		}
	}
	lex_error(lex, "'%s' is no statement", lex->token);
}

/* The first comment with something to say, without its #. */
static char *title_of(const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end && *text == '#') {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);

		while (n && (*text == '#' || *text == ' ')) {
			text++;
			n--;
		}
		if (n && strncmp(text, "SPDX-", 5))
			return strndup(text, n);
		text = stop ? stop + 1 : end;
	}
	return strdup("");
}

static char *read_file(const char *path, size_t *size, char *error, size_t room)
{
	struct bytes bytes = { 0 };
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	char part[65536];
	size_t n;

	if (!f) {
		snprintf(error, room, "%s: %s", path, strerror(errno));
		return NULL;
	}
	while ((n = fread(part, 1, sizeof(part), f)))
		bytes_add(&bytes, part, n);
	bytes_add(&bytes, "", 1);
	*size = bytes.size - 1;
	if (ferror(f)) {
		snprintf(error, room, "%s: %s", path, strerror(errno));
		free(bytes.data);
		bytes.data = NULL;
	}
	if (f != stdin)
		fclose(f);
	return (char *)bytes.data;
}

struct script *script_read(const char *path, char *error, size_t size)
{
	size_t length;
	char *text = read_file(path, &length, error, size);
	struct script *script;
	struct lex lex;

	if (!text)
		return NULL;
	script = calloc(1, sizeof(*script));
	if (!script)
		abort();
	script->path = strdup(path);
	script->title = title_of(text, length);
	script->next_va = SCRIPT_AUTO_VA;
	script->code = SIZE_MAX;
	for (int i = 0; i < 3; i++)
		script->local[i] = script->groups[i] = 1;
	lex_start(&lex, path, text, length);
	while (lex.kind != LEX_END)
		statement(&lex, script);
	if (script->code == SIZE_MAX)
		lex_error(&lex, "there is no code");
	free(text);
	if (lex.error[0]) {
		snprintf(error, size, "%s", lex.error);
		script_free(script);
		return NULL;
	}
	return script;
}

static void free_expectation(struct expectation *e)
{
	for (size_t i = 0; i < e->rules; i++) {
		for (size_t k = 0; k < e->rule[i].others; k++)
			free(e->rule[i].other[k].data);
		free(e->rule[i].other);
		free(e->rule[i].value);
	}
	free(e->rule);
	free(e->want.data);
	free(e->name);
}

void script_free(struct script *script)
{
	for (size_t i = 0; i < script->regions; i++) {
		free(script->region[i].name);
		free(script->region[i].init.data);
	}
	for (size_t i = 0; i < script->expects; i++)
		free_expectation(&script->expect[i]);
	for (size_t i = 0; i < script->labels; i++)
		free(script->label[i].name);
	free(script->region);
	free(script->expect);
	free(script->label);
	free(script->push.data);
	free(script->title);
	free(script->path);
	free(script);
}
