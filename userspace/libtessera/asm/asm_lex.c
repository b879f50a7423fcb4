// SPDX-License-Identifier: MIT
/* Tokens of shader text, see asm_lex.h. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm_lex.h"

#define NUMBER_MAX 64	/* characters of a number */

bool asm_lex_init(struct asm_lexer *lexer, const char *text, size_t size, struct asm_diags *diags)
{
	*lexer = (struct asm_lexer){
		.at = text, .end = text + size, .line_start = text, .line = 1, .diags = diags,
	};
	lexer->c_locale = newlocale(LC_ALL_MASK, "C", NULL);
	return lexer->c_locale;
}

void asm_lex_fini(struct asm_lexer *lexer)
{
	if (lexer->c_locale)
		freelocale(lexer->c_locale);
	lexer->c_locale = NULL;
}

uint16_t asm_half(double value)
{
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	double magnitude = signbit(value) ? -value : value;
	double scaled, rest;
	int exponent, units;

	if (isnan(value))
		return sign | 0x7e00;
	if (magnitude >= 65520.0)
		return sign | 0x7c00;
	frexp(magnitude, &exponent);
	if (exponent < -13 || magnitude == 0)
		exponent = -13;
	/* in units of the last place: 11 significant bits, the leading one included */
	scaled = ldexp(magnitude, 11 - exponent);
	units = (int)scaled;
	rest = scaled - units;
	units += rest > 0.5 || (rest == 0.5 && units & 1);
	return sign | (uint16_t)((exponent + 13) * 1024 + units);
}

static char peek(const struct asm_lexer *lexer, size_t ahead)
{
	return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void new_line(struct asm_lexer *lexer)
{
	lexer->line++;
	lexer->line_start = lexer->at;
}

static struct asm_pos here(const struct asm_lexer *lexer)
{
	return (struct asm_pos){ lexer->line, (uint32_t)(lexer->at - lexer->line_start) + 1 };
}

static void skip_block_comment(struct asm_lexer *lexer)
{
	struct asm_pos start = here(lexer);

	for (lexer->at += 2; lexer->at < lexer->end; lexer->at++) {
		if (peek(lexer, 0) == '*' && peek(lexer, 1) == '/') {
			lexer->at += 2;
			return;
		}
		if (*lexer->at == '\n') {
			lexer->at++;
			new_line(lexer);
			lexer->at--;
		}
	}
	asm_error(lexer->diags, start, "a comment without end, expected */");
}

static void skip_blanks(struct asm_lexer *lexer)
{
	while (lexer->at < lexer->end) {
		char c = *lexer->at;

		if (c == ' ' || c == '\t' || c == '\r') {
			lexer->at++;
		} else if (c == ';' || (c == '/' && peek(lexer, 1) == '/')) {
			while (lexer->at < lexer->end && *lexer->at != '\n')
				lexer->at++;
		} else if (c == '/' && peek(lexer, 1) == '*') {
			skip_block_comment(lexer);
		} else {
			return;
		}
	}
}

/* Copy the characters of a number, without underscores; false when there are too many. */
static bool copy_number(const char *from, size_t length, char *to)
{
	size_t n = 0;

	for (; length; from++, length--) {
		if (*from == '_')
			continue;
		if (n == NUMBER_MAX - 1)
			return false;
		to[n++] = *from;
	}
	to[n] = '\0';
	return true;
}

static void bad_number(struct asm_lexer *lexer, struct asm_token *token, const char *why)
{
	char room[ASM_DESCRIBE_MAX];

	token->kind = ASM_NAME;	/* so that it is quoted */
	asm_error(lexer->diags, token->pos, "%s is no number: %s", asm_describe(token, room), why);
	token->kind = ASM_BAD;
}

static void take_float(struct asm_lexer *lexer, struct asm_token *token, const char *digits,
		       bool half)
{
	double value = strtod_l(digits, NULL, lexer->c_locale);
	float single = strtof_l(digits, NULL, lexer->c_locale);
	uint32_t word;

	if (token->negative) {
		value = -value;
		single = -single;
	}
	memcpy(&word, &single, sizeof(word));
	token->kind = ASM_FLOAT;
	token->value = half ? asm_half(value) * 0x10001u : word;
	token->negative = false;
}

static void take_integer(struct asm_lexer *lexer, struct asm_token *token, const char *digits)
{
	bool hex = digits[0] == '0' && (digits[1] | 32) == 'x';
	const char *first = hex ? digits + 2 : digits;
	const char *p;

	for (p = first; hex ? isxdigit((unsigned char)*p) : isdigit((unsigned char)*p); p++)
		;
	if (p == first || *p) {
		bad_number(lexer, token, hex ? "expected hexadecimal digits" : "expected digits");
		return;
	}
	errno = 0;
	token->value = strtoull(first, NULL, hex ? 16 : 10);
	token->kind = ASM_NUMBER;
	if (errno)
		bad_number(lexer, token, "it has more than 64 bits");
}

/* The length of the digits at @p, with point and exponent; *is_float says whether it has them. */
static size_t scan_digits(const struct asm_lexer *lexer, const char *p, bool *is_float)
{
	const char *start = p, *end = lexer->end;
	bool hex = end - p > 1 && p[0] == '0' && (p[1] | 32) == 'x';

	*is_float = false;
	while (p < end) {
		if (!hex && *p == '.' && end - p > 1 && isdigit((unsigned char)p[1])) {
			*is_float = true;
			p++;
		} else if (!hex && (*p | 32) == 'e' && end - p > 1 &&
			   (isdigit((unsigned char)p[1]) ||
			    ((p[1] == '-' || p[1] == '+') && end - p > 2 &&
			     isdigit((unsigned char)p[2])))) {
			*is_float = true;
			p += 2;
		} else if (is_name_char(*p)) {
			p++;
		} else {
			break;
		}
	}
	return (size_t)(p - start);
}

/* Is this the text of a decimal floating-point number, all of it? */
static bool float_syntax(const char *p)
{
	bool digits = false;

	for (; isdigit((unsigned char)*p); p++)
		digits = true;
	if (*p == '.') {
		for (p++; isdigit((unsigned char)*p); p++)
			;
	}
	if ((*p | 32) == 'e') {
		p += p[1] == '-' || p[1] == '+' ? 2 : 1;
		for (; isdigit((unsigned char)*p); p++)
			;
	}
	return digits && !*p;
}

/* A number, its # and - taken already. @start is where the token begins. */
static void take_number(struct asm_lexer *lexer, struct asm_token *token, const char *start)
{
	char digits[NUMBER_MAX];
	bool is_float, half = false;
	size_t length;

	if (isalpha((unsigned char)peek(lexer, 0))) {
		/* #inf, #nan and their halves */
		for (length = 0; is_name_char(peek(lexer, length)); length++)
			;
		is_float = true;
	} else {
		length = scan_digits(lexer, lexer->at, &is_float);
	}
	token->length = (size_t)(lexer->at - start) + length;
	if (!copy_number(lexer->at, length, digits)) {
		lexer->at += length;
		bad_number(lexer, token, "it is too long");
		return;
	}
	lexer->at += length;
	length = strlen(digits);
	if (is_float && length > 1 && digits[length - 1] == 'h') {
		half = true;
		digits[length - 1] = '\0';
	}
	if (!is_float)
		take_integer(lexer, token, digits);
	else if (!strcmp(digits, "inf") || !strcmp(digits, "nan") || float_syntax(digits))
		take_float(lexer, token, digits, half);
	else
		bad_number(lexer, token,
			   "expected digits, .digits, e and an exponent, or inf or nan");
	if (token->length == 2 && !memcmp(token->text, "#0", 2))
		token->kind = ASM_STAGE_ZERO;
}

/* Does a number start here? Sets how many characters of # and - come first. */
static bool number_starts(const struct asm_lexer *lexer, size_t *prefix)
{
	bool hash = peek(lexer, 0) == '#';
	size_t n = hash;

	n += peek(lexer, n) == '-';
	*prefix = n;
	return isdigit((unsigned char)peek(lexer, n)) ||
	       (hash && isalpha((unsigned char)peek(lexer, n)));
}

void asm_lex_next(struct asm_lexer *lexer, struct asm_token *token)
{
	size_t prefix;

	skip_blanks(lexer);
	*token = (struct asm_token){ .pos = here(lexer), .text = lexer->at };
	if (lexer->at == lexer->end)
		return;
	if (*lexer->at == '\n') {
		token->kind = ASM_NEWLINE;
		lexer->at++;
		new_line(lexer);
	} else if (number_starts(lexer, &prefix)) {
		token->negative = prefix && lexer->at[prefix - 1] == '-';
		lexer->at += prefix;
		take_number(lexer, token, token->text);
	} else if (is_name_char(*lexer->at)) {
		token->kind = ASM_NAME;
		while (is_name_char(peek(lexer, 0)))
			lexer->at++;
		token->length = (size_t)(lexer->at - token->text);
	} else {
		token->kind = ASM_PUNCTUATION;
		token->value = (unsigned char)*lexer->at++;
		token->length = 1;
	}
}

const char *asm_describe(const struct asm_token *token, char room[ASM_DESCRIBE_MAX])
{
	int length = token->length > 36 ? 36 : (int)token->length;

	if (token->kind == ASM_END)
		return "the end of the text";
	if (token->kind == ASM_NEWLINE)
		return "the end of the line";
	snprintf(room, ASM_DESCRIBE_MAX, "\"%.*s%s\"", length, token->text,
		 token->length > 36 ? "..." : "");
	return room;
}

bool asm_name_is(const struct asm_token *token, const char *name)
{
	return token->kind == ASM_NAME && token->length == strlen(name) &&
	       !memcmp(token->text, name, token->length);
}
