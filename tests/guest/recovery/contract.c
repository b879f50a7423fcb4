// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=400 DEVICE_ARGS=vram=32M,inject-window=on
 * test: KERNEL_ARGS=tessera.job_timeout_ms=1000;tessera.job_limit_ms=60000
 */
/*
 * The recovery contract (Documentation/guide/contract.md) on Tessera: drm-contract runs all rows of
 * its table, and no cell may be red. The violations are printed as they are.
 */
#include "gt_main.h"

#include <stdlib.h>
#include <sys/wait.h>

#define ROWS_LEAST	20

/* The lines of the table that begin with the name of a row, and the violations. */
struct outcome {
	char rows[64][24];
	unsigned int count, untried;
	char violations[16384];
	int status;
};

static struct outcome outcome;

/* Rows are the lines between the first line "row ..." and the next empty one. */
static void read_table(const char *line, bool *inside)
{
	if (!strncmp(line, "row ", 4) && !outcome.count) {
		*inside = true;
	} else if (*line == '\n') {
		*inside = false;
	} else if (*inside && outcome.count < GT_ARRAY_SIZE(outcome.rows)) {
		sscanf(line, "%23s", outcome.rows[outcome.count++]);
		outcome.untried += strstr(line, "not tried: ") != NULL;
	}
}

static void run_table(void)
{
	char line[1000];
	bool inside = false;
	FILE *f = popen("drm-contract --driver tessera --destructive 2>&1", "r");

	if (!f)
		gt_die("drm-contract does not start");
	while (fgets(line, sizeof(line), f)) {
		printf("# %s", line);
		fflush(stdout);
		read_table(line, &inside);
		if (strstr(line, " violated: row "))
			strncat(outcome.violations, line,
				sizeof(outcome.violations) - strlen(outcome.violations) - 1);
	}
	outcome.status = pclose(f);
}

static void whole(void)
{
	ktap_ok(outcome.count >= ROWS_LEAST);
	ktap_eq(outcome.untried, 0);
	ktap_eq(WEXITSTATUS(outcome.status), 0);
}

static void check_row(const void *name)
{
	char pattern[64], *at = outcome.violations;

	snprintf(pattern, sizeof(pattern), "row %s,", (const char *)name);
	while ((at = strstr(at, pattern))) {
		char *line = at;

		while (line > outcome.violations && line[-1] != '\n')
			line--;
		ktap_fail("%.*s", (int)strcspn(line, "\n"), line);
		at += strcspn(at, "\n");
	}
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	run_table();
	ktap_run("all rows of the contract are tried, and its exit status says that all is kept",
		 whole);
	for (unsigned int i = 0; i < outcome.count; i++) {
		char name[60];

		snprintf(name, sizeof(name), "[SYS7] the contract: %s", outcome.rows[i]);
		ktap_run_arg(name, check_row, outcome.rows[i]);
	}
	return gt_finish();
}
