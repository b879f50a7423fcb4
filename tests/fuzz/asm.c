// SPDX-License-Identifier: MIT
/*
 * Fuzz target: the assembler and the disassembler.
 *
 * The first byte says what the rest is: code if it is 'b', else text. Code goes to text and back,
 * in every way it can be printed, and must be the same bytes. Text either assembles, and then its
 * code does that too, or has diagnostics that lie inside the text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/asm.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A failure the sanitizers cannot see. */
static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "asm: %s\n", what);
	abort();
}

static void round_trip(const uint8_t *code, size_t size, uint32_t flags)
{
	const struct tsr_disasm_options options = { .base = 0x1234560, .flags = flags };
	struct tsr_asm_shader *program;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	require(out && tsr_disasm(out, code, size, &options) >= 0, "no memory");
	fclose(out);
	require(tsr_asm_assemble(text, length, 0, &program) == 0, "its text does not assemble");
	require(program->size == size && !memcmp(program->code, code, size), "another code");
	tsr_asm_free(program);
	free(text);
}

static void code_to_text(const uint8_t *code, size_t size)
{
	static FILE *null;
	size_t offset;

	if (!null)
		null = fopen("/dev/null", "w");
	round_trip(code, size, 0);
	round_trip(code, size, TSR_DISASM_EXPLICIT);
	round_trip(code, size, TSR_DISASM_QUADS);
	round_trip(code, size, TSR_DISASM_PLAIN);
	for (offset = 0; offset <= size && offset < 256; offset += 16)
		require(tsr_disasm_clause(null, code, size, offset, NULL) <= (long)(size - offset),
			"a clause beyond the end");
}

static void text_to_code(const char *text, size_t size)
{
	struct tsr_asm_shader *program;
	uint32_t i, lines = 1;
	int error = tsr_asm_assemble(text, size, 0, &program);

	require(error != -ENOMEM, "no memory");
	require(!error == !program->num_errors, "errors without error");
	for (i = 0; i < size; i++)
		lines += text[i] == '\n';
	for (i = 0; i < program->num_diagnostics; i++) {
		const struct tsr_asm_diagnostic *d = &program->diagnostics[i];

		require(d->line >= 1 && d->line <= lines && d->column >= 1 &&
			d->column <= size + 1, "a diagnostic outside of the text");
		require(!i || d->line > d[-1].line ||
			(d->line == d[-1].line && d->column >= d[-1].column), "out of order");
		require(d->text[0], "a diagnostic without text");
	}
	/* a program of a few megabytes of zeros takes too long */
	if (!error && program->size < 65536)
		code_to_text(program->code, program->size);
	tsr_asm_free(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (!size)
		return 0;
	/* a copy of just that size, for the sanitizer to guard */
	copy = malloc(size - 1);
	require(copy || size == 1, "no memory");
	if (size > 1)
		memcpy(copy, data + 1, size - 1);
	if (data[0] == 'b')
		code_to_text(copy, size - 1);
	else
		text_to_code((const char *)copy, size - 1);
	free(copy);
	return 0;
}
