// SPDX-License-Identifier: MIT
/* The assembler's interface, see tessera/asm.h. */
#include <errno.h>
#include <stdlib.h>

#include "asm_program.h"

/* Every array is there, whatever happened. */
static bool make_room(struct tsr_asm_shader *program)
{
	if (!program->code)
		program->code = calloc(1, 1);
	if (!program->symbols)
		program->symbols = calloc(1, sizeof(*program->symbols));
	if (!program->clauses)
		program->clauses = calloc(1, sizeof(*program->clauses));
	if (!program->diagnostics)
		program->diagnostics = calloc(1, sizeof(*program->diagnostics));
	return program->code && program->symbols && program->clauses && program->diagnostics;
}

int tsr_asm_assemble(const char *text, size_t size, uint32_t flags,
		     struct tsr_asm_shader **result)
{
	struct tsr_asm_shader *program = calloc(1, sizeof(*program));
	struct asm_diags diags = { 0 };
	struct asm_build *build = calloc(1, sizeof(*build));
	bool no_memory = !program || !build;

	if (!no_memory) {
		program->local[0] = program->local[1] = program->local[2] = 1;
		asm_build_init(build, program, flags, &diags);
		if (size > TSR_ASM_TEXT_MAX) {
			asm_error(&diags, (struct asm_pos){ 1, 1 },
				  "%zu bytes of text, expected at "
				  "most %u", size, TSR_ASM_TEXT_MAX);
		} else {
			asm_parse(build, text, size);
			if (!build->no_memory)
				asm_link(build);
		}
		no_memory = build->no_memory || diags.no_memory;
		asm_build_fini(build);
		asm_diags_sort(&diags);
		program->diagnostics = diags.list;
		program->num_diagnostics = diags.kept;
		program->num_errors = diags.errors;
		program->num_warnings = diags.warnings;
		if (diags.errors)
			program->size = 0;
		no_memory |= !make_room(program);
	}
	free(build);
	if (no_memory) {
		tsr_asm_free(program);
		return -ENOMEM;
	}
	*result = program;
	return program->num_errors ? -EINVAL : 0;
}

void tsr_asm_free(struct tsr_asm_shader *program)
{
	uint32_t i;

	if (!program)
		return;
	for (i = 0; i < program->num_symbols; i++)
		free(program->symbols[i].name);
	free(program->symbols);
	free(program->clauses);
	free(program->diagnostics);
	free(program->code);
	free(program);
}

void tsr_asm_print_diagnostics(FILE *out, const struct tsr_asm_shader *program, const char *name)
{
	uint32_t all = program->num_errors + program->num_warnings, i;

	for (i = 0; i < program->num_diagnostics; i++) {
		const struct tsr_asm_diagnostic *d = &program->diagnostics[i];

		fprintf(out, "%s:%u:%u: %s: %s\n", name, d->line, d->column,
			d->warning ? "warning" : "error", d->text);
	}
	if (all > program->num_diagnostics)
		fprintf(out, "%s: too many errors, the rest is not shown\n", name);
}
