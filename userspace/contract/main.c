// SPDX-License-Identifier: MIT
/*
 * drm-contract: break a GPU on purpose, one fault after the other, and compare what each party sees
 * with what the kernel's documentation promises. See Documentation/guide/contract.md.
 */
#include "contract.h"

#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_MAX	64
#define SW_SYNC		"/sys/kernel/debug/sync/sw_sync"

extern const char _binary_contract_rows_tsv_start[], _binary_contract_rows_tsv_end[];

static const struct contract_driver *const drivers[] = {
	&tessera_driver, &vgem_driver, &sw_sync_driver,
};

struct options {
	const char *driver, *device, *row, *html;
	bool destructive, list, shown;
};

static void usage(FILE *f)
{
	fputs("usage: drm-contract [--driver tessera|vgem|sw_sync] [--device NODE]\n"
	      "                    [--destructive] [--row PATTERN] [--html FILE]\n"
	      "       drm-contract --list | --shown\n"
	      "\n"
	      "Break a GPU on purpose and compare what each party sees with the contract.\n"
	      "Without --destructive only faults that a job can cause by itself are tried.\n"
	      "--list prints rows, columns and rules, --shown the mutants that turned cells red.\n"
	      "Exit status: 0 all cells kept, 1 a rule is violated, 2 usage, 77 nothing could be\n"
	      "tried.\n", f);
}

static struct options parse(int argc, char **argv)
{
	static const struct option names[] = {
		{ "driver", 1, NULL, 'd' }, { "device", 1, NULL, 'n' }, { "row", 1, NULL, 'r' },
		{ "html", 1, NULL, 'm' }, { "destructive", 0, NULL, 'x' },
		{ "list", 0, NULL, 'l' }, { "shown", 0, NULL, 's' }, { "help", 0, NULL, 'h' },
		{ 0 },
	};
	struct options o = { .driver = "tessera", .row = "*" };
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (c) {
		case 'd': o.driver = optarg; break;
		case 'n': o.device = optarg; break;
		case 'r': o.row = optarg; break;
		case 'm': o.html = optarg; break;
		case 'x': o.destructive = true; break;
		case 'l': o.list = true; break;
		case 's': o.shown = true; break;
		case 'h': usage(stdout); exit(0);
		default: usage(stderr); exit(2);
		}
	}
	if (optind < argc) {
		usage(stderr);
		exit(2);
	}
	return o;
}

static const struct contract_driver *find_driver(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!strcmp(drivers[i]->name, name))
			return drivers[i];
	fprintf(stderr, "drm-contract: there is no adapter for '%s'\n", name);
	exit(2);
}

/* "": rows may take a device away and bring it back, so its node is looked for each time. */
static const char *fixed_node(const struct contract_driver *driver, const struct options *o)
{
	static char node[64];

	if (o->device)
		return o->device;
	if (driver == &sw_sync_driver)
		return SW_SYNC;
	if (!system_node(driver->name, node, sizeof(node))) {
		fprintf(stderr, "drm-contract: there is no render node of driver %s\n",
			driver->name);
		exit(77);
	}
	system_find(node);
	return "";
}

static int status_of(const struct result *results, unsigned int count)
{
	bool tried = false;

	for (unsigned int i = 0; i < count; i++) {
		tried |= !*results[i].why;
		for (unsigned int c = 0; c < COLUMNS; c++)
			if (results[i].cell[c].verdict == VIOLATED)
				return 1;
	}
	return tried ? 0 : 77;
}

int main(int argc, char **argv)
{
	static struct result results[ROWS_MAX];
	static struct row rows[ROWS_MAX];
	struct options o = parse(argc, argv);
	const struct contract_driver *driver = find_driver(o.driver);
	size_t size = _binary_contract_rows_tsv_end - _binary_contract_rows_tsv_start;
	unsigned int count, ran = 0;
	const char *node;

	count = parse_rows(strndup(_binary_contract_rows_tsv_start, size), rows, ROWS_MAX);
	if (o.list || o.shown) {
		(o.list ? print_list : print_shown)(rows, count);
		return 0;
	}
	signal(SIGPIPE, SIG_IGN);
	node = fixed_node(driver, &o);
	for (unsigned int i = 0; i < count; i++) {
		if (fnmatch(o.row, rows[i].name, 0))
			continue;
		run_row(driver, node, &rows[i], o.destructive, &results[ran]);
		print_row(&results[ran], !ran);
		ran++;
	}
	if (!ran) {
		fprintf(stderr, "drm-contract: no row matches '%s' (see --list)\n", o.row);
		return 2;
	}
	print_end(results, ran);
	if (o.html && !print_html(o.html, driver->name, results, ran)) {
		perror(o.html);
		return 2;
	}
	return status_of(results, ran);
}
