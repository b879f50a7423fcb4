// SPDX-License-Identifier: MIT
/* rows.tsv and shown.tsv, which are linked in as text. */
#include "contract.h"

#include <stdlib.h>
#include <string.h>

extern const char _binary_contract_shown_tsv_start[], _binary_contract_shown_tsv_end[];

int kind_of(const char *word)
{
	static const char *const words[] = {
		[JOB_OK] = "ok", [JOB_LONG] = "long", [JOB_GATE] = "gate", [JOB_NEVER] = "never",
		[JOB_FAULT] = "fault", [JOB_MALFORMED] = "malformed", [JOB_BIN] = "bin",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i]))
			return i;
	return -1;
}

static void mistake(unsigned int line, const char *what)
{
	fprintf(stderr, "drm-contract: rows.tsv:%u: %s\n", line, what);
	exit(2);
}

/* The cells of one line, split at tabs; how many. */
static unsigned int split(char *line, char **cells, unsigned int most)
{
	unsigned int count = 0;

	for (char *cell; count < most && (cell = strsep(&line, "\t"));)
		cells[count++] = cell;
	return line ? most + 1 : count;
}

/* The first line names the columns, so that a reader of the file can count on them. */
static void check_head(char **cells, unsigned int count)
{
	if (count != 4 + COLUMNS || strcmp(cells[0], "row") || strcmp(cells[1], "job") ||
	    strcmp(cells[2], "script") || strcmp(cells[3 + COLUMNS], "text"))
		mistake(1, "expected: row, job, script, the columns, text");
	for (unsigned int i = 0; i < COLUMNS; i++)
		if (strcmp(cells[3 + i], columns[i].id))
			mistake(1, columns[i].id);
}

unsigned int parse_rows(char *text, struct row *rows, unsigned int most)
{
	char *cells[5 + COLUMNS], *line;
	unsigned int number = 0, count = 0, got;
	bool head = false;

	while ((line = strsep(&text, "\n"))) {
		number++;
		if (!*line || *line == '#')
			continue;
		got = split(line, cells, ARRAY_SIZE(cells));
		if (!head) {
			check_head(cells, got);
			head = true;
			continue;
		}
		if (got != 4 + COLUMNS)
			mistake(number, "a row has another number of cells than the head");
		if (count == most)
			mistake(number, "too many rows");
		rows[count] = (struct row){ cells[0], cells[1], cells[2], cells[3 + COLUMNS],
					    { 0 } };
		for (unsigned int i = 0; i < COLUMNS; i++) {
			rows[count].want[i] = cells[3 + i];
			if (!strcmp(cells[3 + i], "any"))
				mistake(number, "\"any\" needs a reason: \"any: REASON\"");
		}
		if (kind_of(cells[1]) < 0)
			mistake(number, "unknown kind of job");
		count++;
	}
	return count;
}

/* One line of shown.tsv, "row<tab>mutant<tab>columns": its mutant if it names the cell. */
static bool line_shows(const char *line, const char *row, const char *column, char *mutant)
{
	char name[32], listed[300], *word, *rest = listed;

	if (sscanf(line, "%31[^\t]\t%63[^\t]\t%299[^\n]", name, mutant, listed) != 3 ||
	    strcmp(name, row))
		return false;
	while ((word = strsep(&rest, " ")))
		if (!strcmp(word, column))
			return true;
	return false;
}

unsigned int cell_mutants(const char *row, enum column column, char *names, size_t size)
{
	const char *at = _binary_contract_shown_tsv_start, *end = _binary_contract_shown_tsv_end;
	char line[512], mutant[64];
	unsigned int count = 0;
	size_t used = 0;

	if (size)
		names[0] = 0;
	while (at < end) {
		const char *next = memchr(at, '\n', end - at);

		next = next ? next + 1 : end;
		snprintf(line, sizeof(line), "%.*s", (int)(next - at), at);
		at = next;
		if (!line_shows(line, row, columns[column].id, mutant))
			continue;
		if (used < size)
			used += snprintf(names + used, size - used, "%s%s", count ? " " : "",
					 mutant);
		count++;
	}
	return count;
}
