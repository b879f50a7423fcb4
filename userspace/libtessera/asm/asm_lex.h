/* SPDX-License-Identifier: MIT */
/*
 * Shader text to tokens. A token is a part of the text; comments and blanks between tokens vanish,
 * line ends are tokens.
 */
#ifndef ASM_LEX_H
#define ASM_LEX_H

#include "asm_diag.h"

enum asm_token_kind {
	ASM_END,		/* of the text */
	ASM_NEWLINE,
	ASM_NAME,		/* letters, digits, underscores */
	ASM_NUMBER,		/* an integer, see value and negative */
	ASM_FLOAT,		/* a floating-point number, as the 32-bit word it stands for */
	ASM_STAGE_ZERO,		/* exactly "#0" */
	ASM_PUNCTUATION,	/* one character, see value */
	ASM_BAD			/* reported already */
};

struct asm_token {
	enum asm_token_kind kind;
	struct asm_pos pos;
	const char *text;
	size_t length;
	uint64_t value;		/* of a number: its magnitude; punctuation: the character */
	bool negative;
};

struct asm_lexer {
	const char *at;
	const char *end;
	const char *line_start;
	uint32_t line;
	void *c_locale;		/* numbers have points, whatever the program's locale says */
	struct asm_diags *diags;
};

/* False when memory is short. asm_lex_fini() in any case. */
bool asm_lex_init(struct asm_lexer *lexer, const char *text, size_t size, struct asm_diags *diags);
void asm_lex_fini(struct asm_lexer *lexer);

void asm_lex_next(struct asm_lexer *lexer, struct asm_token *token);

static inline bool asm_is(const struct asm_token *token, char punctuation)
{
	return token->kind == ASM_PUNCTUATION && token->value == (unsigned char)punctuation;
}

/* asm_describe(): a token for a message, in quotes where it is text. Returns @room. */
#define ASM_DESCRIBE_MAX 48
const char *asm_describe(const struct asm_token *token, char room[ASM_DESCRIBE_MAX]);

/* asm_name_is(): is it that name? */
bool asm_name_is(const struct asm_token *token, const char *name);

/* asm_half(): the IEEE half nearest to @value, ties to even. */
uint16_t asm_half(double value);

#endif /* ASM_LEX_H */
