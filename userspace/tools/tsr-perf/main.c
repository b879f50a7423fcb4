// SPDX-License-Identifier: MIT
/*
 * tsr-perf: what the GPU counts while a program runs, for the program's own jobs alone.
 *
 * Exit status that of the program; 2 for bad usage, 1 if there is no device or nothing can be
 * counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf.h"
#include <tessera/tessera.h>

static struct drm_tessera_counter_info *counters;
static unsigned int counter_count;

static void __attribute__((noreturn, format(printf, 2, 3)))
fail(int status, const char *format, ...)
{
	va_list ap;

	fputs("tsr-perf: error: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

/* The counters of the first device; returns how many a perfmon can have. */
static unsigned int read_counters(void)
{
	struct tsr_device *device;
	unsigned int max;

	if (tsr_device_open(NULL, &device) ||
	    tsr_device_get_counters(device, &counters, sizeof(*counters), &counter_count))
		fail(1, "%s", tsr_error_message());
	max = tsr_device_info(device)->max_counters;
	tsr_device_unref(device);
	if (!counter_count || !max)
		fail(1, "this device has no counters for jobs");
	return max < PERF_COUNTERS_MAX ? max : PERF_COUNTERS_MAX;
}

static const char *name_of(const struct drm_tessera_counter_info *c)
{
	return (const char *)c->name;
}

static void list_counters(void)
{
	static const char *const classes[] = { "bin", "render", "compute", "copy" };

	for (unsigned int i = 0; i < counter_count; i++) {
		uint32_t class = counters[i].engine_class;

		if (class != DRM_TESSERA_COUNTER_GLOBAL)
			printf("%-24s %-8s %s\n", name_of(&counters[i]),
			       class < 4 ? classes[class] : "any",
			       (const char *)counters[i].description);
	}
}

/* One counter by its name. */
static void add_counter(struct perf_totals *totals, unsigned int max, const char *name)
{
	unsigned int i;

	for (i = 0; i < counter_count && strcmp(name_of(&counters[i]), name); i++)
		;
	if (i == counter_count || counters[i].engine_class == DRM_TESSERA_COUNTER_GLOBAL)
		fail(2, "there is no counter '%s' for jobs (-l lists them)", name);
	for (uint32_t k = 0; k < totals->count; k++) {
		if (totals->ids[k] == counters[i].id)
			return;
	}
	if (totals->count == max)
		fail(2, "more counters than the device counts at once: %u", max);
	totals->ids[totals->count++] = counters[i].id;
}

/* Those of the list "A,B,C", or the first ones there are. */
static void choose_counters(struct perf_totals *totals, unsigned int max, char *list)
{
	char *name;

	while (list && (name = strtok_r(list, ",", &list)))
		add_counter(totals, max, name);
	for (unsigned int i = 0; i < counter_count && !totals->count; i++) {
		for (; i < counter_count && totals->count < max; i++) {
			if (counters[i].engine_class != DRM_TESSERA_COUNTER_GLOBAL)
				totals->ids[totals->count++] = counters[i].id;
		}
	}
}

static struct perf_totals *make_file(char *path)
{
	struct perf_totals *totals;
	int fd = mkstemp(path);

	if (fd < 0 || ftruncate(fd, sizeof(*totals)))
		fail(1, "%s: %s", path, strerror(errno));
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (totals == MAP_FAILED)
		fail(1, "%s: %s", path, strerror(errno));
	return totals;
}

/* Beside this program's directory: in lib/tessera as it is installed, in lib as it is built. */
static void find_library(char *path, size_t size)
{
	static const char *const places[] = { "lib/tessera", "lib" };
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		fail(1, "/proc is not mounted");
	self[length] = 0;
	*strrchr(self, '/') = 0;
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(path, size, "%s/../%s/libtessera-perf.so", self, places[i]);
		if (!access(path, R_OK))
			return;
	}
	fail(1, "%s is not there", path);
}

/* Run the program with the library in front of what is preloaded already; its status. */
static int run(char **argv, const char *file)
{
	const char *before = getenv("LD_PRELOAD");
	char library[4200], preload[8400];
	int status;
	pid_t pid;

	find_library(library, sizeof(library));
	snprintf(preload, sizeof(preload), "%s%s%s", library, before ? ":" : "",
		 before ? before : "");
	pid = fork();
	if (!pid) {
		setenv("LD_PRELOAD", preload, 1);
		setenv(PERF_FILE_VARIABLE, file, 1);
		execvp(argv[0], argv);
		fprintf(stderr, "tsr-perf: error: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		fail(1, "%s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const char *name_by_id(uint32_t id)
{
	for (unsigned int i = 0; i < counter_count; i++) {
		if (counters[i].id == id)
			return name_of(&counters[i]);
	}
	return "?";
}

/* All that were asked for; of the usual ones, those that have counted. */
static void print_totals(const struct perf_totals *totals, bool all, FILE *to)
{
	for (uint32_t i = 0; i < totals->count; i++) {
		if (!all && !totals->values[i])
			continue;
		fprintf(to, "%20" PRIu64 "  %s\n", totals->values[i], name_by_id(totals->ids[i]));
	}
	fprintf(to, "%20" PRIu64 "  jobs\n", totals->jobs);
	if (totals->own)
		fprintf(to,
			"%20" PRIu64 "  jobs with a perfmon of the program's own, not counted\n",
			totals->own);
	if (totals->refused)
		fprintf(to, "%20" PRIu64 "  submissions without a perfmon, not counted\n",
			totals->refused);
}

static void usage(FILE *to)
{
	fputs("usage: tsr-perf [-e COUNTER,...] [-o FILE] PROGRAM [ARGUMENT...]\n"
	      "       tsr-perf -l\n"
	      "Count what the GPU does for the jobs of a program and its children.\n"
	      "  -e COUNTER,...  which counters (default: as many of the first ones as fit)\n"
	      "  -o FILE         where the figures go (default: standard error)\n"
	      "  -l              list the counters\n"
	      "  --help, --version\n"
	      "A process that is killed, or ends without running its exit handlers, is not "
	      "counted.\n",
	      to);
}

struct arguments {
	char *list;
	const char *out;
	int list_only;
};

static void parse_options(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "+e:o:lh", options, NULL)) != -1) {
		switch (opt) {
		case 'e': a->list = optarg; break;
		case 'o': a->out = optarg; break;
		case 'l': a->list_only = 1; break;
		case 'h': usage(stdout); exit(0);
		case 'V': puts("tsr-perf " TSR_VERSION); exit(0);
		default: usage(stderr); exit(2);
		}
	}
	if (a->list_only == (optind < argc)) {
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/tsr-perf.XXXXXX";
	struct arguments a = { 0 };
	struct perf_totals *totals;
	unsigned int max;
	FILE *to = stderr;
	int status;

	parse_options(argc, argv, &a);
	max = read_counters();
	if (a.list_only) {
		list_counters();
		return 0;
	}
	totals = make_file(path);
	choose_counters(totals, max, a.list);
	if (a.out)
		to = fopen(a.out, "w");
	if (!to)
		fail(1, "%s: %s", a.out, strerror(errno));
	status = run(argv + optind, path);
	unlink(path);
	print_totals(totals, a.list, to);
	return status;
}
