// SPDX-License-Identifier: MIT
/* Scenarios: lines of words. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sync.h"

#define LINE_LENGTH 500
#define LINES_MAX 10000

static const struct {
	int number;
	const char *name;
} errors[] = {
	{ 0, "0" },
	{ EPERM, "EPERM" },
	{ ENOENT, "ENOENT" },
	{ EINTR, "EINTR" },
	{ EIO, "EIO" },
	{ E2BIG, "E2BIG" },
	{ EBADF, "EBADF" },
	{ EAGAIN, "EAGAIN" },
	{ ENOMEM, "ENOMEM" },
	{ EACCES, "EACCES" },
	{ EFAULT, "EFAULT" },
	{ EBUSY, "EBUSY" },
	{ ENODEV, "ENODEV" },
	{ EINVAL, "EINVAL" },
	{ ENOTTY, "ENOTTY" },
	{ ENOSPC, "ENOSPC" },
	{ EOPNOTSUPP, "EOPNOTSUPP" },
	{ ETIME, "ETIME" },
	{ ETIMEDOUT, "ETIMEDOUT" },
	{ ECANCELED, "ECANCELED" },
};

#define ERRORS (sizeof(errors) / sizeof(errors[0]))

int error_number(const char *text)
{
	for (unsigned int i = 0; i < ERRORS; i++) {
		if (!strcmp(errors[i].name, text))
			return errors[i].number;
	}
	return -1;
}

const char *error_name(int error, char text[24])
{
	for (unsigned int i = 0; i < ERRORS; i++) {
		if (errors[i].number == error)
			return errors[i].name;
	}
	snprintf(text, 24, "error %d", error);
	return text;
}

/* A number and one of the units, at most @max. */
static bool parse_unit(const char *text, const char *const *units, const uint64_t *factors,
		       uint64_t max, uint64_t *value)
{
	char *end;
	uint64_t n;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	for (; *units; units++, factors++) {
		if (strcmp(*units, end))
			continue;
		*value = n * *factors;
		return !errno && n <= max / *factors;
	}
	return false;
}

bool parse_time(const char *text, uint64_t *ns)
{
	static const char *const units[] = { "us", "ms", "s", NULL };
	static const uint64_t factors[] = { 1000, MS, 1000 * MS };

	return parse_unit(text, units, factors, 3600 * 1000 * MS, ns);
}

bool parse_size(const char *text, uint64_t *bytes)
{
	static const char *const units[] = { "", "K", "M", "G", NULL };
	static const uint64_t factors[] = { 1, 1 << 10, 1 << 20, 1 << 30 };

	return parse_unit(text, units, factors, 1 << 30, bytes);
}

const char *option(const struct statement *s, const char *key)
{
	size_t length = strlen(key);

	for (unsigned int i = 1; i < s->count; i++) {
		if (!strncmp(s->words[i], key, length) && s->words[i][length] == '=')
			return s->words[i] + length + 1;
	}
	return NULL;
}

bool has_word(const struct statement *s, const char *word)
{
	for (unsigned int i = 1; i < s->count; i++) {
		if (!strcmp(s->words[i], word))
			return true;
	}
	return false;
}

static bool complain(const char *path, unsigned int line, const char *what)
{
	fprintf(stderr, "tsr-sync: %s:%u: %s\n", path, line, what);
	return false;
}

/* Split the text of a statement, and take "=> ERROR" from its end. */
static bool split(const char *path, struct statement *s)
{
	char *rest = strdup(s->text), *word;

	while ((word = strtok_r(rest, " \t", &rest))) {
		if (s->count == WORDS_MAX)
			return complain(path, s->line, "too many words in a line");
		s->words[s->count++] = word;
	}
	if (s->count >= 2 && !strcmp(s->words[s->count - 2], "=>")) {
		s->error = error_number(s->words[s->count - 1]);
		s->count -= 2;
		if (s->error < 0)
			return complain(path, s->line,
					"expected the name of an error after =>, such as EINVAL");
	}
	if (!s->count)
		return complain(path, s->line, "expected a statement before =>");
	return true;
}

static bool parse_line(const char *path, unsigned int number, char *line, struct statement ***end)
{
	struct statement *s;
	size_t length;

	line[strcspn(line, "#\n")] = 0;
	line += strspn(line, " \t");
	length = strlen(line);
	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = 0;
	if (!length)
		return true;
	s = calloc(1, sizeof(*s));
	s->line = number;
	s->text = strdup(line);
	**end = s;
	*end = &s->next;
	return split(path, s);
}

struct statement *parse_file(const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	struct statement *first = NULL, **end = &first;
	char line[LINE_LENGTH];
	unsigned int number = 0;
	bool good = true;

	if (!f) {
		fprintf(stderr, "tsr-sync: %s: %s\n", path, strerror(errno));
		return NULL;
	}
	while (good && fgets(line, sizeof(line), f)) {
		number++;
		if (!strchr(line, '\n') && !feof(f))
			good = complain(path, number, "a line that is too long");
		else if (number > LINES_MAX)
			good = complain(path, number, "too many lines");
		else
			good = parse_line(path, number, line, &end);
	}
	if (f != stdin)
		fclose(f);
	if (good && !first)
		complain(path, number, "expected a statement, there is none");
	return good ? first : NULL;
}
