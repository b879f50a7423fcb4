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
		[JOB_FAULT] = "fault", [JOB_MALFORMED] = "malformed",
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

/* Lines are "row<tab>column<tab>mutant". */
bool cell_was_shown(const char *row, enum column column)
{
	const char *at = _binary_contract_shown_tsv_start, *end = _binary_contract_shown_tsv_end;
	size_t row_length = strlen(row), id_length = strlen(columns[column].id);

	while (at < end) {
		const char *next = memchr(at, '\n', end - at);

		next = next ? next + 1 : end;
		if ((size_t)(next - at) > row_length + id_length + 2 &&
		    !memcmp(at, row, row_length) && at[row_length] == '\t' &&
		    !memcmp(at + row_length + 1, columns[column].id, id_length) &&
		    at[row_length + 1 + id_length] == '\t')
			return true;
		at = next;
	}
	return false;
}
