// SPDX-License-Identifier: MIT
/* Tokens of shader files, see lex.h. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lex.h"

static void record(struct lex *lex, struct lex_place place, const char *format, va_list ap)
{
	int n;

	if (lex->error[0])
		return;
	n = snprintf(lex->error, sizeof(lex->error), "%s:%u:%u: ", lex->path, place.line,
		     place.column);
	if (n < 0 || (size_t)n >= sizeof(lex->error))
		n = 0;
	vsnprintf(lex->error + n, sizeof(lex->error) - (size_t)n, format, ap);
	lex->kind = LEX_END;
	lex->token[0] = '\0';
	lex->at = lex->end;
}

bool lex_error_at(struct lex *lex, struct lex_place place, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	record(lex, place, format, ap);
	va_end(ap);
	return false;
}

bool lex_error(struct lex *lex, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	record(lex, lex->place, format, ap);
	va_end(ap);
	return false;
}

static void advance(struct lex *lex)
{
	if (*lex->at++ == '\n') {
		lex->next.line++;
		lex->next.column = 1;
	} else {
		lex->next.column++;
	}
}

static void skip_blanks(struct lex *lex)
{
	while (lex->at < lex->end) {
		if (*lex->at == '#') {
			while (lex->at < lex->end && *lex->at != '\n')
				advance(lex);
		} else if (isspace((unsigned char)*lex->at)) {
			advance(lex);
		} else {
			return;
		}
	}
}

/* Take characters while they belong to the token. */
static void take_while(struct lex *lex, bool (*belongs)(const char *at, const char *end))
{
	size_t n = 0;

	while (lex->at < lex->end && belongs(lex->at, lex->end)) {
		if (n + 1 == sizeof(lex->token)) {
			lex_error(lex, "this is longer than %zu characters",
				  sizeof(lex->token) - 1);
			return;
		}
		lex->token[n++] = *lex->at;
		advance(lex);
	}
	lex->token[n] = '\0';
}

/* A minus is part of a word if a letter follows: x-4 is a word and a number. */
static bool in_word(const char *at, const char *end)
{
	if (*at == '-')
		return at + 1 < end && isalpha((unsigned char)at[1]);
	return isalnum((unsigned char)*at) || *at == '_' || *at == '.';
}

static bool in_number(const char *at, const char *end)
{
	(void)end;
	return isalnum((unsigned char)*at) || (*at && strchr("_.+-", *at));
}

static bool in_string(const char *at, const char *end)
{
	(void)end;
	return *at != '"' && *at != '\n';
}

static bool starts_number(const struct lex *lex)
{
	const char *at = lex->at;

	if (*at == '+' || *at == '-')
		at++;
	return at < lex->end && (isdigit((unsigned char)*at) || *at == '.' ||
				 (at > lex->at && (*at == 'i' || *at == 'n')));
}

static void read_string(struct lex *lex)
{
	lex->kind = LEX_STRING;
	advance(lex);
	take_while(lex, in_string);
	if (lex->error[0])
		return;
	if (lex->at == lex->end || *lex->at != '"')
		lex_error(lex, "the string does not end in this line");
	else
		advance(lex);
}

void lex_next(struct lex *lex)
{
	if (lex->error[0])
		return;
	skip_blanks(lex);
	lex->place = lex->next;
	lex->token[0] = '\0';
	lex->kind = LEX_END;
	if (lex->at == lex->end)
		return;
	if (isalpha((unsigned char)*lex->at)) {
		lex->kind = LEX_WORD;
		take_while(lex, in_word);
	} else if (starts_number(lex)) {
		lex->kind = LEX_NUMBER;
		take_while(lex, in_number);
	} else if (*lex->at == '"') {
		read_string(lex);
	} else if (strchr("{}&=+", *lex->at)) {
		lex->kind = LEX_SIGN;
		lex->token[0] = *lex->at;
		lex->token[1] = '\0';
		advance(lex);
	} else {
		lex_error(lex, "unexpected character '%c'", *lex->at);
	}
}

void lex_start(struct lex *lex, const char *path, const char *text, size_t size)
{
	memset(lex, 0, sizeof(*lex));
	lex->path = path;
	lex->at = text;
	lex->end = text + size;
	lex->next = (struct lex_place){ 1, 1 };
	lex_next(lex);
}

bool lex_is(const struct lex *lex, const char *word)
{
	return (lex->kind == LEX_WORD || lex->kind == LEX_SIGN) && !strcmp(lex->token, word);
}

bool lex_take(struct lex *lex, const char *word)
{
	if (!lex_is(lex, word))
		return false;
	lex_next(lex);
	return true;
}

/* "expected X, found Y" */
static bool expected(struct lex *lex, const char *what)
{
	if (lex->kind == LEX_END)
		return lex_error(lex, "expected %s, found the end of the file", what);
	return lex_error(lex, "expected %s, found '%s'", what, lex->token);
}

bool lex_expect(struct lex *lex, const char *word)
{
	char what[40];

	if (lex_take(lex, word))
		return true;
	snprintf(what, sizeof(what), "'%s'", word);
	return expected(lex, what);
}

static char *take_copy(struct lex *lex, enum lex_kind kind, const char *what)
{
	char *copy;

	if (lex->kind != kind) {
		expected(lex, what);
		return NULL;
	}
	copy = strdup(lex->token);
	lex_next(lex);
	return copy;
}

char *lex_name(struct lex *lex, const char *what)
{
	return take_copy(lex, LEX_WORD, what);
}

char *lex_string(struct lex *lex, const char *what)
{
	return take_copy(lex, LEX_STRING, what);
}

/* The token as an integer: its magnitude and sign. */
static bool integer(struct lex *lex, const char *what, uint64_t *magnitude, bool *negative)
{
	const char *digits = lex->token;
	char *end;

	if (lex->kind != LEX_NUMBER)
		return expected(lex, what);
	*negative = *digits == '-';
	if (*digits == '-' || *digits == '+')
		digits++;
	errno = 0;
	*magnitude = strtoull(digits, &end, !strncasecmp(digits, "0x", 2) ? 16 : 10);
	if (!isdigit((unsigned char)*digits) || *end)
		return expected(lex, what);
	if (errno)
		return lex_error(lex, "%s has more than 64 bits", lex->token);
	return true;
}

uint64_t lex_unsigned(struct lex *lex, const char *what, uint64_t max)
{
	uint64_t value;
	bool negative;

	if (!integer(lex, what, &value, &negative))
		return 0;
	if (negative || value > max) {
		lex_error(lex, "%s is %s, at most %" PRIu64 " is possible", what, lex->token, max);
		return 0;
	}
	lex_next(lex);
	return value;
}

uint64_t lex_integer(struct lex *lex, const char *what, unsigned int bits)
{
	uint64_t value, limit = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
	bool negative;

	if (!integer(lex, what, &value, &negative))
		return 0;
	if (negative ? value > 1ull << (bits - 1) : value > limit) {
		lex_error(lex, "%s does not fit into %u bits", lex->token, bits);
		return 0;
	}
	lex_next(lex);
	return (negative ? -value : value) & limit;
}

double lex_double(struct lex *lex, const char *what)
{
	double value;
	char *end;

	if (lex->kind != LEX_NUMBER && !lex_is(lex, "inf") && !lex_is(lex, "nan")) {
		expected(lex, what);
		return 0;
	}
	value = strtod(lex->token, &end);
	if (*end) {
		expected(lex, what);
		return 0;
	}
	lex_next(lex);
	return value;
}

/* True if the line at @line of @size bytes is the word "end", with blanks or a comment at most. */
static bool is_end(const char *line, size_t size)
{
	size_t i = 0;

	while (i < size && isblank((unsigned char)line[i]))
		i++;
	if (size - i < 3 || strncmp(line + i, "end", 3))
		return false;
	for (i += 3; i < size && isspace((unsigned char)line[i]);)
		i++;
	return i == size || line[i] == '#';
}

/* Go to the start of the next line; what is left of this one must be blank or a comment. */
static void skip_line(struct lex *lex)
{
	bool comment = false;

	while (lex->at < lex->end && *lex->at != '\n') {
		comment |= *lex->at == '#';
		if (!comment && !isspace((unsigned char)*lex->at)) {
			lex_error_at(lex, lex->next, "nothing can follow '%s' in its line",
				     lex->token);
			return;
		}
		advance(lex);
	}
	if (lex->at < lex->end)
		advance(lex);
}

const char *lex_block(struct lex *lex, size_t *size, struct lex_place *place)
{
	const char *start, *line, *next;

	skip_line(lex);
	if (lex->error[0])
		return NULL;
	start = lex->at;
	*place = lex->next;
	for (line = start; line < lex->end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(lex->end - line));

		next = stop ? stop + 1 : lex->end;
		if (!is_end(line, (size_t)(next - line)))
			continue;
		*size = (size_t)(line - start);
		while (lex->at < next)
			advance(lex);
		lex_next(lex);
		return start;
	}
	lex_error(lex, "the block that begins here has no line \"end\"");
	return NULL;
}
