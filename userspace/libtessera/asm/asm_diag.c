// SPDX-License-Identifier: MIT
/* Diagnostics of the assembler, see asm_diag.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm_diag.h"

static struct tsr_asm_diagnostic *diag_add(struct asm_diags *diags, struct asm_pos pos)
{
	struct tsr_asm_diagnostic *d;

	if (diags->kept == TSR_ASM_DIAGNOSTICS_MAX)
		return NULL;
	if (!diags->list) {
		diags->list = calloc(TSR_ASM_DIAGNOSTICS_MAX, sizeof(*diags->list));
		if (!diags->list) {
			diags->no_memory = true;
			return NULL;
		}
	}
	d = &diags->list[diags->kept++];
	d->line = pos.line;
	d->column = pos.column;
	return d;
}

/* Bytes of the text that are quoted in a message may be anything: keep it printable. */
static void make_printable(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f)
			*text = '?';
	}
}

void asm_error(struct asm_diags *diags, struct asm_pos pos, const char *format, ...)
{
	struct tsr_asm_diagnostic *d;
	va_list arguments;

	if (!diags)
		return;
	diags->errors++;
	d = diag_add(diags, pos);
	if (!d)
		return;
	va_start(arguments, format);
	vsnprintf(d->text, sizeof(d->text), format, arguments);
	va_end(arguments);
	make_printable(d->text);
}

void asm_warning(struct asm_diags *diags, struct asm_pos pos, const char *format, ...)
{
	struct tsr_asm_diagnostic *d;
	va_list arguments;

	if (!diags)
		return;
	diags->warnings++;
	d = diag_add(diags, pos);
	if (!d)
		return;
	d->warning = true;
	va_start(arguments, format);
	vsnprintf(d->text, sizeof(d->text), format, arguments);
	va_end(arguments);
	make_printable(d->text);
}

/* Stable, few, and nearly in order already. */
void asm_diags_sort(struct asm_diags *diags)
{
	uint32_t i, j;

	for (i = 1; i < diags->kept; i++) {
		struct tsr_asm_diagnostic d = diags->list[i];

		for (j = i; j > 0; j--) {
			const struct tsr_asm_diagnostic *before = &diags->list[j - 1];

			if (before->line < d.line ||
			    (before->line == d.line && before->column <= d.column))
				break;
			diags->list[j] = *before;
		}
		diags->list[j] = d;
	}
}

void asm_words_add(struct asm_words *words, const char *word)
{
	size_t length = strlen(word);

	if (words->full)
		return;
	/* room for a comma, a blank, and the dots of the next one */
	if (words->length + length + 8 > sizeof(words->text)) {
		strcpy(words->text + words->length, ", ...");
		words->full = true;
		return;
	}
	if (words->length) {
		memcpy(words->text + words->length, ", ", 2);
		words->length += 2;
	}
	memcpy(words->text + words->length, word, length + 1);
	words->length += length;
}
