// SPDX-License-Identifier: MIT
/* Helpers of the assembler's tests, see asm_check.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm_check.h"
#include "ktap.h"
#include <tessera/asm.h>

uint64_t asm_random(struct asm_random *random)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return random->state * 0x2545f4914f6cdd1dULL;
}

unsigned int asm_below(struct asm_random *random, unsigned int limit)
{
	return (unsigned int)((asm_random(random) >> 32) % limit);
}

/* Show where two programs part. */
static void show_difference(const struct tsr_asm_shader *program, const uint8_t *code, size_t size)
{
	uint32_t i;

	for (i = 0; i < program->num_clauses; i++) {
		const struct tsr_asm_clause *c = &program->clauses[i];

		if (c->offset + c->size <= size &&
		    !memcmp(code + c->offset, program->code + c->offset, c->size))
			continue;
		printf("# at 0x%x, the code and what came back:\n", c->offset);
		tsr_disasm_clause(stdout, code, size, c->offset, NULL);
		tsr_disasm_clause(stdout, program->code, program->size, c->offset, NULL);
		return;
	}
}

static bool has_word(const char *text, const char *words)
{
	char one[32];

	while (words && sscanf(words, "%31s", one) == 1) {
		if (strstr(text, one)) {
			ktap_fail("the text has \"%.80s\"", strstr(text, one));
			return true;
		}
		words = strstr(words, one) + strlen(one);
	}
	return false;
}

bool asm_round_trip(const uint8_t *code, size_t size, uint32_t flags, const char *without)
{
	const struct tsr_disasm_options options = { .flags = flags };
	struct tsr_asm_shader *program = NULL;
	char *text = NULL;
	size_t length = 0;
	bool good = false;
	FILE *out = open_memstream(&text, &length);

	tsr_disasm(out, code, size, &options);
	fclose(out);
	if (tsr_asm_assemble(text, length, 0, &program)) {
		ktap_fail("what was disassembled does not assemble");
		if (program)
			tsr_asm_print_diagnostics(stdout, program, "# ");
	} else if (program->size != size || memcmp(program->code, code, size)) {
		ktap_fail("%zu bytes of code, %zu came back, not the same", size, program->size);
		show_difference(program, code, size);
	} else {
		good = !has_word(text, without);
	}
	tsr_asm_free(program);
	free(text);
	return good;
}

uint8_t *asm_code(const char *text, size_t *size)
{
	struct tsr_asm_shader *program = NULL;
	uint8_t *code = NULL;

	if (tsr_asm_assemble(text, strlen(text), 0, &program)) {
		ktap_fail("\"%s\" does not assemble", text);
		if (program)
			tsr_asm_print_diagnostics(stdout, program, "# ");
	} else {
		code = program->code;
		*size = program->size;
		program->code = NULL;
	}
	tsr_asm_free(program);
	return code;
}

void asm_same_at(const char *file, int line, const char *a, const char *b)
{
	size_t size_a = 0, size_b = 0;
	uint8_t *code_a = asm_code(a, &size_a), *code_b = asm_code(b, &size_b);

	if (!code_a || !code_b || size_a != size_b || memcmp(code_a, code_b, size_a))
		ktap_fail_at(file, line, "\"%s\" and \"%s\" are not the same code", a, b);
	free(code_a);
	free(code_b);
}
