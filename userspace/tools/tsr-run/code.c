// SPDX-License-Identifier: MIT
/*
 * "code": the program of a shader file.
 *
 *   code [at ADDRESS] [size BYTES] [entry ADDRESS] { CONTENTS }
 *   code [at ADDRESS] assembly
 *   ... text, see Documentation/guide/shaders.md ...
 *   end
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contents.h"
#include "statements.h"
#include <tessera/asm.h>

#define CODE_MAX (16u << 20)		/* bytes */

/* The first error of the assembler becomes the file's. */
static void assembly_error(struct lex *lex, const struct tsr_asm_shader *program,
			   struct lex_place start)
{
	for (uint32_t i = 0; i < program->num_diagnostics; i++) {
		const struct tsr_asm_diagnostic *d = &program->diagnostics[i];
		struct lex_place place = { start.line + d->line - 1, d->column };

		if (!d->warning) {
			lex_error_at(lex, place, "%s", d->text);
			return;
		}
	}
	lex_error(lex, "this does not assemble");
}

/* Directives in the text apply unless the file sets the same property. */
static void take_directives(struct script *script, const struct tsr_asm_shader *program)
{
	if (!script->has_local)
		memcpy(script->local, program->local, sizeof(script->local));
	if (!script->has_registers)
		script->registers_64 = program->registers_64;
	if (!script->has_group_memory)
		script->group_memory = program->group_memory;
	if (!script->has_scratch)
		script->scratch = program->scratch;
}

static void add_labels(struct script *script, const struct tsr_asm_shader *program, uint64_t va)
{
	script->label = calloc(program->num_symbols + 1, sizeof(*script->label));
	if (!script->label)
		abort();
	for (uint32_t i = 0; i < program->num_symbols; i++) {
		script->label[i].name = strdup(program->symbols[i].name);
		script->label[i].va = va + program->symbols[i].offset;
	}
	script->labels = program->num_symbols;
}

static void read_assembly(struct lex *lex, struct script *script, struct bytes *bytes, uint64_t va,
			  uint64_t *entry)
{
	struct tsr_asm_shader *program = NULL;
	struct lex_place start;
	size_t size;
	const char *text = lex_block(lex, &size, &start);

	if (!text)
		return;
	if (tsr_asm_assemble(text, size, 0, &program)) {
		if (program)
			assembly_error(lex, program, start);
		else
			lex_error(lex, "there is not enough memory to assemble this");
	} else {
		bytes_add(bytes, program->code, program->size);
		take_directives(script, program);
		add_labels(script, program, va);
		if (*entry == UINT64_MAX)
			*entry = va + program->entry;
	}
	tsr_asm_free(program);
}

void statement_code(struct lex *lex, struct script *script)
{
	uint64_t va = SCRIPT_CODE_VA, size = 0, entry = UINT64_MAX;
	struct bytes bytes = { 0 };
	struct region *region;

	if (script->code != SIZE_MAX) {
		lex_error(lex, "there is code already");
		return;
	}
	if (lex_take(lex, "at"))
		va = lex_unsigned(lex, "an address", UINT64_MAX);
	if (lex_take(lex, "size"))
		size = lex_unsigned(lex, "a size", CODE_MAX);
	if (lex_take(lex, "entry"))
		entry = lex_unsigned(lex, "an address", UINT64_MAX);
	if (lex_is(lex, "assembly"))
		read_assembly(lex, script, &bytes, va, &entry);
	else
		contents_read(lex, script, &bytes, size ? size : CODE_MAX);
	if (size < bytes.size)
		size = bytes.size;
	if (!lex->error[0] && !size)
		lex_error(lex, "the code is empty");
	if (va + size < va)
		lex_error(lex, "the code reaches beyond the last address");
	script->code = script->regions;
	region = script_add_region(script, "code", size, true, va);
	region->pte = TSR_PTE_READ__MASK | TSR_PTE_EXEC__MASK;
	region->init = bytes;
	script->entry = entry == UINT64_MAX ? va : entry;
}
