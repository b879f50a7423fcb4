// SPDX-License-Identifier: MIT
/* Clauses as text, see clause.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "clause.h"
#include <tessera/asm.h>

/* The text of the clause, to be freed; NULL: there is none. */
static char *disassemble(const struct script *script, uint64_t va)
{
	const struct region *code = &script->region[script->code];
	struct tsr_disasm_options options = { .base = code->va, .flags = TSR_DISASM_PLAIN };
	uint64_t offset = va - code->va;
	char *text = NULL;
	size_t size;
	FILE *f;

	if (offset >= code->init.size || offset % 16)
		return NULL;
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	tsr_disasm_clause(f, code->init.data, code->init.size, offset, &options);
	fclose(f);
	return text;
}

/* The registers that a line names: r0 to r63, as words of their own. */
static uint64_t registers_in(const char *line, size_t size)
{
	uint64_t mask = 0;

	for (size_t i = 0; i + 1 < size; i++) {
		unsigned int n;

		if (line[i] != 'r' || !isdigit((unsigned char)line[i + 1]) ||
		    (i && (isalnum((unsigned char)line[i - 1]) || line[i - 1] == '_')))
			continue;
		n = (unsigned int)strtoul(line + i + 1, NULL, 10);
		if (n < 64)
			mask |= 1ull << n;
	}
	return mask;
}

/* '*' or '+' of a line that holds an instruction, else 0. */
static char unit_of(const char *line, size_t size)
{
	while (size && isblank((unsigned char)*line)) {
		line++;
		size--;
	}
	return size && (*line == '*' || *line == '+') ? *line : '\0';
}

uint64_t clause_print(FILE *out, const struct script *script, uint64_t va, const char *indent,
		      unsigned int tuple, bool add)
{
	char *text = disassemble(script, va);
	unsigned int seen = 0;		/* FMA instructions so far: tuples begun */
	uint64_t mask = 0;
	char *next;

	if (!text) {
		fprintf(out, "%s(no code of the file is at 0x%" PRIx64 ")\n", indent, va);
		return 0;
	}
	for (char *line = text; *line; line = next) {
		size_t n = strcspn(line, "\n");
		char unit = unit_of(line, n);
		bool in_tuple;

		next = line + n + (line[n] == '\n');
		seen += unit == '*';
		in_tuple = unit && seen == tuple + 1;
		if (in_tuple)
			mask |= registers_in(line, n);
		if (n)
			fprintf(out, "%s%s %.*s\n", indent,
				in_tuple && unit == (add ? '+' : '*') ? "-->" : "   ", (int)n,
				line);
	}
	free(text);
	return mask;
}
