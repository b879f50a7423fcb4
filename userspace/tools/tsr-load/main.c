// SPDX-License-Identifier: MIT
/*
 * tsr-load: run loads, see Documentation/guide/scheduling.md.
 *
 * Exit status 0 when all expectations hold, 1 when not or when a load failed, 2 for bad usage or a
 * file that makes no sense, 77 when this machine has no GPU or no such load can run here.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"

void complain(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fputs("tsr-load: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
}

/* A load that comes with tsr-load may be called by its name alone. */
static const char *find_load(const char *name)
{
	static char file[4096 + 128];
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (!access(name, F_OK) || strchr(name, '/') || length < 0)
		return name;
	self[length] = 0;
	*strrchr(self, '/') = 0;
	snprintf(file, sizeof(file), "%s/../share/tessera/%s.load", self, name);
	return access(file, R_OK) ? name : file;
}

static void usage(FILE *to)
{
	fputs("usage: tsr-load [options] LOAD...\n"
	      "Run loads (files, or names of those that come with it) one after the other, and\n"
	      "print what each client got of the GPU.\n"
	      "  --json FILE     write the figures as JSON\n"
	      "  --check         only read the files\n"
	      "  -q, --quiet     no tables\n"
	      "  -h, --help      this text\n"
	      "  --version       the version\n"
	      "Exit status: 0 all is as the loads expect, 1 it is not, 2 bad usage, 77 this\n"
	      "machine lacks what a load needs.\n",
	      to);
}

struct options {
	const char *json;
	bool check, quiet;
};

enum { OPT_JSON = 256, OPT_CHECK, OPT_VERSION };

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "json", required_argument, NULL, OPT_JSON },
		{ "check", no_argument, NULL, OPT_CHECK },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "qh", options, NULL)) != -1) {
		switch (opt) {
		case OPT_JSON: o->json = optarg; break;
		case OPT_CHECK: o->check = true; break;
		case 'q': o->quiet = true; break;
		case 'h': usage(stdout); exit(0);
		case OPT_VERSION: puts("tsr-load " TSR_VERSION); exit(0);
		default: usage(stderr); exit(2);
		}
	}
	if (optind == argc) {
		usage(stderr);
		exit(2);
	}
}

static unsigned int failures(const struct result *result, const struct setup *setup)
{
	unsigned int failed = 0;
	double left, right;

	for (unsigned int i = 0; i < result->load->num_expects; i++) {
		const struct expectation *e = &result->load->expect[i];

		failed += expectation_applies(e, setup) && expectation_measured(result, e) &&
			  !expectation_holds(result, e, &left, &right);
	}
	return failed;
}

/* Run all loads before anything is printed, which would take time of the clients' processor. */
static int run_all(const struct load *loads, struct result *results, unsigned int count)
{
	struct tsr_device *device;

	if (tsr_device_open(NULL, &device)) {
		complain("no GPU: %s", tsr_error_message());
		return STATUS_LACKING;
	}
	tsr_device_unref(device);
	for (unsigned int i = 0; i < count; i++) {
		if (!load_run(&loads[i], &results[i]))
			return 1;
	}
	return 0;
}

static bool write_json(const char *path, const struct setup *setup, const struct result *results,
		       unsigned int count)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "w") : stdout;
	bool good;

	if (!f)
		return false;
	report_json_begin(setup, f);
	for (unsigned int i = 0; i < count; i++)
		report_json(&results[i], setup, !i, f);
	report_json_end(f);
	good = !fflush(f) && !ferror(f);
	return (f == stdout || !fclose(f)) && good;
}

static int report(const struct options *o, const struct result *results, unsigned int count)
{
	FILE *tables = o->json && !strcmp(o->json, "-") ? stderr : stdout;
	struct setup setup;
	unsigned int failed = 0;

	setup_read(&setup);
	for (unsigned int i = 0; i < count; i++) {
		failed += failures(&results[i], &setup);
		if (!o->quiet)
			report_table(&results[i], &setup, tables);
	}
	if (o->json && !write_json(o->json, &setup, results, count)) {
		complain("%s: %s", o->json, strerror(errno));
		return 1;
	}
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	unsigned int count;
	struct load *loads;
	struct result *results;
	int status = 0;

	parse_options(argc, argv, &options);
	count = argc - optind;
	loads = calloc(count, sizeof(*loads));
	results = calloc(count, sizeof(*results));
	if (!loads || !results) {
		complain("no memory");
		return 1;
	}
	for (unsigned int i = 0; i < count && !status; i++)
		status = load_parse(find_load(argv[optind + i]), &loads[i]) ? 0 : 2;
	if (!status && !options.check) {
		status = run_all(loads, results, count);
		status = status ? status : report(&options, results, count);
	}
	for (unsigned int i = 0; i < count; i++)
		result_free(&results[i]);
	free(results);
	free(loads);
	return status;
}
