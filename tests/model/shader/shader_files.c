/* SPDX-License-Identifier: MIT */
/*
 * The shader files of tests/shaders, each in all ways to run it: early and late messages, 1, 2 and
 * 8 threads, every SIMD path of this processor. A file is a test: what it proves stands in its
 * first comment, what it must leave behind in the file (Documentation/guide/shaders.md).
 *
 * With TSR_QUICK set a third of the ways is taken, such that each two choices meet.
 *
 * test: TIMEOUT=600
 */
#include <dirent.h>
#include <string.h>

#include "ktap.h"
#include "matrix.h"
#include "script.h"

#define FILES_MAX 4096

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of all shader files, sorted. */
static unsigned int list(const char *dir, char **names)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	unsigned int n = 0;

	if (!d)
		return 0;
	while (n < FILES_MAX && (entry = readdir(d))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (dot && !strcmp(dot, ".shader"))
			names[n++] = strdup(entry->d_name);
	}
	closedir(d);
	qsort(names, n, sizeof(names[0]), by_name);
	return n;
}

/* Run one file, print its line. */
static void run(const char *dir, const char *name)
{
	char path[4096], error[600], title[1200];
	struct script *script;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	script = script_read(path, error, sizeof(error));
	if (!script) {
		ktap_note("%s", error);
		ktap_ok(script);
		ktap_result(name);
		return;
	}
	snprintf(title, sizeof(title), "%s: %s", name, script->title);
	/* the ledger's IDs go first */
	if (script->title[0] == '[' && strchr(script->title, ']')) {
		int n = (int)(strchr(script->title, ']') - script->title) + 1;

		snprintf(title, sizeof(title), "%.*s %s:%s", n, script->title, name,
			 script->title + n);
	}
	if (ktap_wanted(title)) {
		ktap_eq(matrix_run(script, getenv("TSR_QUICK"), stdout, "# "), 0);
		ktap_result(title);
	}
	script_free(script);
}

int main(int argc, char **argv)
{
	static char *names[FILES_MAX];
	const char *top = getenv("TSR_TOP");
	char dir[4000];
	unsigned int n;

	ktap_start_args(argc, argv);
	snprintf(dir, sizeof(dir), "%s/tests/shaders", top ? top : ".");
	n = list(dir, names);
	ktap_ok(n);
	ktap_result("there are shader files");
	for (unsigned int i = 0; i < n; i++) {
		run(dir, names[i]);
		free(names[i]);
	}
	return ktap_finish();
}
