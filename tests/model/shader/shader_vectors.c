/* SPDX-License-Identifier: MIT */
/*
 * The vectors of tests/vectors, through the converter that `make check-vectors` uses, in all ways
 * to run a shader. Made by hand: they hold what the format allows and compilers seldom emit.
 *
 * test: TIMEOUT=300
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ktap.h"
#include "matrix.h"
#include "script.h"

/* The vector in folder @path as a script; NULL, and a note: it does not convert. */
static struct script *convert(const char *top, const char *path)
{
	char command[9000], file[] = "/tmp/tsr-vector-XXXXXX", error[600] = "";
	struct script *script = NULL;
	int fd = mkstemp(file);

	if (fd < 0)
		abort();
	close(fd);
	snprintf(command, sizeof(command),
		 "python3 -B '%s/tests/lib/vectors.py' --convert --absolute '%s' >%s", top, path,
		 file);
	if (system(command))
		ktap_note("the converter fails: %s", command);
	else
		script = script_read(file, error, sizeof(error));
	if (!script)
		ktap_note("%s", error);
	unlink(file);
	return script;
}

static void run(const char *top, const char *name)
{
	struct script *script;
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/tests/vectors/%s/vector.json", top, name);
	if (stat(path, &st))
		return;
	*strrchr(path, '/') = '\0';
	script = convert(top, path);
	ktap_ok(script);
	if (script) {
		ktap_ok(script->expects);
		ktap_eq(matrix_run(script, getenv("TSR_QUICK"), stdout, "# "), 0);
		script_free(script);
	}
	ktap_result(name);
}

int main(void)
{
	const char *top = getenv("TSR_TOP") ? getenv("TSR_TOP") : ".";
	char dir[4096];
	struct dirent *entry;
	DIR *d;

	ktap_start();
	snprintf(dir, sizeof(dir), "%s/tests/vectors", top);
	d = opendir(dir);
	ktap_ok(d);
	ktap_result("there are vectors");
	while (d && (entry = readdir(d)))
		run(top, entry->d_name);
	if (d)
		closedir(d);
	return ktap_finish();
}
