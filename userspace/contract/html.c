// SPDX-License-Identifier: MIT
/* The table as a page that needs no other file. */
#include "contract.h"

#include <string.h>

static void escaped(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", f);
		else if (*text == '&')
			fputs("&amp;", f);
		else if (*text == '"')
			fputs("&quot;", f);
		else
			fputc(*text, f);
	}
}

/* The tooltip of the cell. */
static void title(FILE *f, const struct result *r, enum column c)
{
	char names[1000];

	fprintf(f, " title=\"%s: ", columns[c].rules);
	escaped(f, columns[c].text);
	if (r->cell[c].verdict == VIOLATED) {
		fputs("; must be ", f);
		escaped(f, r->row->want[c]);
	}
	if (cell_mutants(r->row->name, c, names, sizeof(names)))
		fprintf(f, "; turned red by %s", names);
	else if (r->cell[c].verdict == KEPT)
		fputs("; not shown to fail", f);
	fputs("\"", f);
}

static void cell(FILE *f, const struct result *r, enum column c)
{
	static const char *const classes[] = { "untried", "nothing", "kept", "violated" };
	bool shown = cell_mutants(r->row->name, c, NULL, 0);
	enum verdict v = r->cell[c].verdict;

	fprintf(f, "<td class=\"%s\"", v == KEPT && !shown ? "unshown" : classes[v]);
	title(f, r, c);
	fputs(">", f);
	escaped(f, v == NOT_TRIED ? "not tried" : v == NOTHING ? "-" : r->cell[c].got);
	fputs("</td>\n", f);
}

static void print_rules(FILE *f)
{
	fputs("<h2>Rules</h2>\n<table>\n<tr><th>rule</th><th>text</th><th>source</th></tr>\n", f);
	for (unsigned int i = 0; i < rule_count; i++) {
		fprintf(f, "<tr><td>%s</td><td>", rules[i].id);
		escaped(f, rules[i].text);
		fprintf(f, "%s</td><td>%s</td></tr>\n", rules[i].proposed ? " (proposed)" : "",
			rules[i].source);
	}
	fputs("</table>\n", f);
}

bool print_html(const char *path, const char *driver, const struct result *results,
		unsigned int count)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return false;
	fprintf(f, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<title>Recovery contract: %s</title>\n<style>\n"
		"body { font: 14px sans-serif; margin: 2em }\n"
		"table { border-collapse: collapse } td, th { border: 1px solid #ccc; "
		"padding: 2px 6px; text-align: left }\n"
		".kept { background: #cfc } .violated { background: #f99; font-weight: bold }\n"
		".unshown { background: #eee } .untried, .nothing { color: #888 }\n"
		"</style></head><body>\n<h1>Recovery contract: %s</h1>\n"
		"<p>Green: as the rule says. Red: violated. Gray: as the rule says, but no "
		"mutant of the driver has shown that the cell can fail.</p>\n"
		"<table>\n<tr><th>row</th>",
		driver, driver);
	for (unsigned int c = 0; c < COLUMNS; c++)
		fprintf(f, "<th>%s<br>%s</th>", columns[c].party, columns[c].head);
	fputs("</tr>\n", f);
	for (unsigned int i = 0; i < count; i++) {
		fprintf(f, "<tr><th title=\"");
		escaped(f, results[i].row->text);
		fprintf(f, "\">%s</th>\n", results[i].row->name);
		for (unsigned int c = 0; c < COLUMNS; c++)
			cell(f, &results[i], c);
		fputs("</tr>\n", f);
	}
	fputs("</table>\n", f);
	print_rules(f);
	fputs("</body></html>\n", f);
	return fclose(f) == 0;
}
