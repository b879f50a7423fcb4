// SPDX-License-Identifier: MIT
/* The table as text: first what programs see, row by row, then what the system sees. */
#include "contract.h"

#include <string.h>
#include <unistd.h>

static const enum column programs[] = { FENCE, MERGED, NEXT, CONTEXT, SUBMIT, NEW, RUNNING, QUEUED,
					BLAME, NEWCOMER };
static const enum column others[] = { MAPPING, WRITES, UEVENT, RECOVERY, DUMP, FDINFO, LOG, TIME };

#define NAME_WIDTH	19

/* Room for the longest value that is expected, and for some that are not. */
static int width_of(enum column c)
{
	switch (c) {
	case UEVENT:
		return 21;
	case RECOVERY:
		return 10;
	case DUMP:
	case TIME:
		return 7;
	case FDINFO:
	case LOG:
	case MAPPING:
	case WRITES:
		return 7;
	case NEW:
		return 7;
	default:
		return 10;
	}
}

static const char *color(const char *code)
{
	return isatty(1) ? code : "";
}

static void print_head(const enum column *shown, unsigned int count)
{
	printf("%-*s", NAME_WIDTH, "");
	for (unsigned int i = 0; i < count; i++)
		printf(" %-*s", width_of(shown[i]), i && !strcmp(columns[shown[i]].party,
		       columns[shown[i - 1]].party) ? "" : columns[shown[i]].party);
	printf("\n%-*s", NAME_WIDTH, "row");
	for (unsigned int i = 0; i < count; i++)
		printf(" %-*s", width_of(shown[i]), columns[shown[i]].head);
	printf("\n");
}

/* A value that is not as the rule says is marked "!", one that no mutant has turned red "?". */
static void print_cell(const struct result *r, enum column c)
{
	const struct cell *cell = &r->cell[c];
	char text[TEXT + 2];

	if (cell->verdict == NOTHING || !strcmp(r->row->want[c], "-"))
		snprintf(text, sizeof(text), "-");
	else if (cell->verdict == NOT_TRIED)
		snprintf(text, sizeof(text), ".");
	else
		snprintf(text, sizeof(text), "%s%s", cell->got, cell->verdict == VIOLATED ? "!" :
			 cell_mutants(r->row->name, c, NULL, 0) ? "" : "?");
	printf(" %s%-*s%s", color(cell->verdict == VIOLATED ? "\033[31m" :
				  cell->verdict == KEPT ? "\033[32m" : ""), width_of(c), text,
	       color("\033[0m"));
}

static void print_line(const struct result *r, const enum column *shown, unsigned int count)
{
	printf("%-*s", NAME_WIDTH, r->row->name);
	if (*r->why)
		printf(" not tried: %s", r->why);
	for (unsigned int i = 0; i < count && !*r->why; i++)
		print_cell(r, shown[i]);
	printf("\n");
	fflush(stdout);
}

void print_row(const struct result *r, bool first)
{
	if (first)
		print_head(programs, ARRAY_SIZE(programs));
	print_line(r, programs, ARRAY_SIZE(programs));
}

static const struct rule *find_rule(const char *id)
{
	for (unsigned int i = 0; i < rule_count; i++)
		if (!strncmp(rules[i].id, id, strlen(rules[i].id)))
			return &rules[i];
	return NULL;
}

static void print_violation(const struct result *r, enum column c)
{
	const struct rule *rule = find_rule(r->cell[c].rule);

	printf("%s violated: row %s, column %s: %s, must be %s\n", rule->id, r->row->name,
	       columns[c].id, r->cell[c].got, r->row->want[c]);
	printf("    %s (%s)\n", rule->text, rule->source);
}

void print_end(const struct result *results, unsigned int count)
{
	unsigned int kept = 0, violated = 0, untried = 0, unshown = 0;

	printf("\n");
	print_head(others, ARRAY_SIZE(others));
	for (unsigned int i = 0; i < count; i++)
		print_line(&results[i], others, ARRAY_SIZE(others));
	printf("\n");
	for (unsigned int i = 0; i < count; i++) {
		for (unsigned int c = 0; c < COLUMNS; c++) {
			const struct cell *cell = &results[i].cell[c];
			bool meant = strcmp(results[i].row->want[c], "-");

			kept += cell->verdict == KEPT;
			violated += cell->verdict == VIOLATED;
			untried += cell->verdict == NOT_TRIED && meant;
			unshown += cell->verdict == KEPT &&
				   !cell_mutants(results[i].row->name, c, NULL, 0);
			if (cell->verdict == VIOLATED)
				print_violation(&results[i], c);
		}
	}
	printf("%u cells kept, %u violated (!), %u not tried (.); %u not shown to fail (?)\n", kept,
	       violated, untried, unshown);
}

void print_list(const struct row *rows, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		printf("%-*s %s\n", NAME_WIDTH, rows[i].name, rows[i].text);
	printf("\n");
	for (unsigned int c = 0; c < COLUMNS; c++)
		printf("%-*s %s: %s (%s)\n", NAME_WIDTH, columns[c].id, columns[c].party,
		       columns[c].text, columns[c].rules);
	printf("\n");
	for (unsigned int i = 0; i < rule_count; i++)
		printf("%s %s%s\n     %s\n", rules[i].id, rules[i].text,
		       rules[i].proposed ? " (proposed)" : "", rules[i].source);
}

/* The mutants that turned each cell red. Cells in which there is nothing to see are left out. */
void print_shown(const struct row *rows, unsigned int count)
{
	unsigned int cells = 0, shown = 0;
	char names[1000];

	for (unsigned int i = 0; i < count; i++) {
		printf("%s\n", rows[i].name);
		for (unsigned int c = 0; c < COLUMNS; c++) {
			if (!strcmp(rows[i].want[c], "-"))
				continue;
			cells++;
			shown += cell_mutants(rows[i].name, c, names, sizeof(names)) > 0;
			printf("    %-10s %-22s %s\n", columns[c].id, rows[i].want[c],
			       *names ? names : "?");
		}
	}
	printf("%u of %u cells were turned red by a mutant\n", shown, cells);
}
