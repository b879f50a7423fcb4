// SPDX-License-Identifier: MIT
/*
 * tsr-run: execute shader files on the model of the GPU, without a virtual machine.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "fault.h"
#include "matrix.h"
#include "step.h"

#define DUMPS_MAX	32
#define BREAKS_MAX	STEP_BREAKS_MAX

enum { STATUS_OK, STATUS_FAILED, STATUS_USAGE };

struct arguments {
	struct machine_options machine;
	struct step_options step;
	const char *breaks[BREAKS_MAX];
	const char *dumps[DUMPS_MAX];	/* NAME, NAME=FILE */
	unsigned int dump_count;
	bool all, quiet, statistics;
};

static const char help[] =
"Usage: tsr-run [OPTION]... FILE...\n"
"Execute shader files (Documentation/guide/shader-debugging.md) on the model of the GPU and\n"
"compare what they leave in memory with what they expect. FILE - is standard input.\n"
"\n"
"  -s, --step             stop before each clause of a warp; commands come from standard\n"
"                         input, or from --commands; \"help\" lists them\n"
"  -b, --break WHERE      stop there: an address, a label, or code+OFFSET\n"
"  -C, --commands FILE    the debugger's commands\n"
"  -t, --trace            print every clause that is executed and what it changes\n"
"  -d, --dump NAME[=FILE] print a buffer afterwards, or write its bytes to FILE\n"
"  -j, --threads N        worker threads (default 1)\n"
"  -c, --cores N          shader cores\n"
"      --timing WHEN      messages are answered \"early\" (default) or \"late\": as early or\n"
"                         as late as the scoreboard allows\n"
"      --simd PATH        sse2, avx2 or avx512 (default: the best this processor has)\n"
"      --strict           fault where changed code is executed without BARRIER.INV_CODE\n"
"      --seconds N        how long a dispatch may take (default 60)\n"
"  -a, --all              run each file with 1, 2 and 8 threads, early and late, on each\n"
"                         SIMD path; buffers must have the same bits after each\n"
"  -S, --statistics       print what was executed and how long it took\n"
"  -q, --quiet            print nothing unless something is wrong\n"
"  -h, --help             print this and exit\n"
"  -V, --version          print the version and exit\n"
"\n"
"Exit status: 0 when all is as expected, 1 when it is not, 2 for bad usage.\n";

__attribute__((format(printf, 1, 2), noreturn))
static void usage(const char *format, ...)
{
	va_list ap;

	fputs("tsr-run: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputs(" (see tsr-run --help)\n", stderr);
	exit(STATUS_USAGE);
}

static unsigned int count_of(const char *option, const char *text, unsigned long max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!*text || *end || n > max)
		usage("--%s \"%s\" is no number up to %lu", option, text, max);
	return (unsigned int)n;
}

enum { OPTION_TIMING = 256, OPTION_SIMD, OPTION_STRICT, OPTION_SECONDS };

static const struct option long_options[] = {
	{ "step", no_argument, NULL, 's' }, { "break", required_argument, NULL, 'b' },
	{ "commands", required_argument, NULL, 'C' }, { "trace", no_argument, NULL, 't' },
	{ "dump", required_argument, NULL, 'd' }, { "threads", required_argument, NULL, 'j' },
	{ "cores", required_argument, NULL, 'c' },
	{ "timing", required_argument, NULL, OPTION_TIMING },
	{ "simd", required_argument, NULL, OPTION_SIMD },
	{ "strict", no_argument, NULL, OPTION_STRICT },
	{ "seconds", required_argument, NULL, OPTION_SECONDS },
	{ "all", no_argument, NULL, 'a' }, { "statistics", no_argument, NULL, 'S' },
	{ "quiet", no_argument, NULL, 'q' }, { "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' }, { NULL, 0, NULL, 0 },
};

static void take_commands(struct arguments *a, const char *path)
{
	a->step.in = fopen(path, "r");
	if (!a->step.in)
		usage("%s cannot be read", path);
}

static void take_break(struct arguments *a, const char *where)
{
	if (a->step.breakpoints == BREAKS_MAX)
		usage("more than %d breakpoints", BREAKS_MAX);
	a->breaks[a->step.breakpoints++] = where;
}

static void take_timing(struct arguments *a, const char *when)
{
	a->machine.late = !strcmp(when, "late");
	if (!a->machine.late && strcmp(when, "early"))
		usage("--timing is early or late, not \"%s\"", when);
}

static void take_dump(struct arguments *a, const char *what)
{
	if (a->dump_count == DUMPS_MAX)
		usage("more than %d dumps", DUMPS_MAX);
	a->dumps[a->dump_count++] = what;
}

/* Options about the machine. False: it is another one. */
static bool machine_option(struct arguments *a, int option)
{
	switch (option) {
	case 'j':
		a->machine.threads = count_of("threads", optarg, 64);
		return true;
	case 'c':
		a->machine.cores = count_of("cores", optarg, TSR_CORES_MAX);
		return true;
	case OPTION_TIMING:
		take_timing(a, optarg);
		return true;
	case OPTION_SIMD:
		a->machine.simd = optarg;
		return true;
	case OPTION_STRICT:
		a->machine.strict = true;
		return true;
	case OPTION_SECONDS:
		a->machine.seconds = count_of("seconds", optarg, 1000000);
		return true;
	default:
		return false;
	}
}

static void one_option(struct arguments *a, int option)
{
	switch (option) {
	case 's':
		a->step.step = true;
		break;
	case 't':
		a->step.trace = true;
		break;
	case 'b':
		take_break(a, optarg);
		break;
	case 'C':
		take_commands(a, optarg);
		break;
	case 'd':
		take_dump(a, optarg);
		break;
	case 'a':
		a->all = true;
		break;
	case 'S':
		a->statistics = true;
		break;
	case 'q':
		a->quiet = true;
		break;
	case 'h':
		fputs(help, stdout);
		exit(STATUS_OK);
	case 'V':
		puts("tsr-run " TSR_VERSION);
		exit(STATUS_OK);
	default:
		fputs("see tsr-run --help\n", stderr);
		exit(STATUS_USAGE);
	}
}

static void read_arguments(struct arguments *a, int argc, char **argv)
{
	int option;

	*a = (struct arguments){ .machine = { .threads = 1 } };
	a->step.in = stdin;
	a->step.out = stdout;
	while ((option = getopt_long(argc, argv, "sb:C:td:j:c:aSqhV", long_options, NULL)) != -1) {
		if (!machine_option(a, option))
			one_option(a, option);
	}
	if (optind == argc)
		usage("which FILE?");
	if (a->all && (a->step.step || a->step.trace || a->step.breakpoints))
		usage("--all does not go with the debugger");
	a->step.echo = !isatty(fileno(a->step.in));
}

/* An address as --break has it. */
static uint64_t break_address(const struct script *script, const char *where)
{
	char name[LEX_TOKEN_MAX];
	const char *plus = strchr(where, '+');
	uint64_t offset = plus ? strtoull(plus + 1, NULL, 0) : 0;
	const struct region *r;
	char *end;
	uint64_t va = strtoull(where, &end, 0);

	if (*where && !*end)
		return va;
	snprintf(name, sizeof(name), "%.*s", plus ? (int)(plus - where) : (int)strlen(where),
		 where);
	for (size_t i = 0; i < script->labels; i++) {
		if (!strcmp(script->label[i].name, name))
			return script->label[i].va + offset;
	}
	r = script_region(script, name);
	if (!r)
		usage("--break \"%s\" is no address, label or buffer", where);
	return r->va + offset;
}

static void print_dump(const struct region *r, const uint8_t *data)
{
	printf("%s:\n", r->name);
	for (uint64_t i = 0; i < r->size; i += 4) {
		uint32_t word = 0;
		float f;

		memcpy(&word, data + i, r->size - i < 4 ? r->size - i : 4);
		memcpy(&f, &word, sizeof(f));
		printf("  +0x%04" PRIx64 "  0x%08" PRIx32 "  %11" PRId32 "  %g\n", i, word,
		       (int32_t)word, (double)f);
	}
}

static bool write_dump(const char *path, const uint8_t *data, uint64_t size)
{
	FILE *f = fopen(path, "wb");
	bool ok = f && fwrite(data, 1, size, f) == size;

	if (f && fclose(f))
		ok = false;
	if (!ok)
		perror(path);
	return ok;
}

/* --dump, of all that were asked for. */
static bool dump_all(const struct arguments *a, const struct machine *machine)
{
	bool ok = true;

	for (unsigned int i = 0; i < a->dump_count; i++) {
		size_t n = strcspn(a->dumps[i], "=");
		char name[LEX_TOKEN_MAX];
		const struct region *r;
		const uint8_t *data;

		snprintf(name, sizeof(name), "%.*s", (int)n, a->dumps[i]);
		r = script_region(machine->script, name);
		if (!r) {
			fprintf(stderr, "tsr-run: there is no buffer '%s'\n", name);
			ok = false;
			continue;
		}
		data = memory_at(&machine->memory, r->va, r->size);
		if (a->dumps[i][n])
			ok &= write_dump(a->dumps[i] + n + 1, data, r->size);
		else
			print_dump(r, data);
	}
	return ok;
}

static void print_statistics(const struct outcome *o)
{
	printf("%" PRIu64 " groups, %" PRIu64 " clauses of warps, %" PRIu64 " tuples of threads, %"
	       PRIu64 " messages of warps in %.6f s\n", o->groups, o->clauses, o->tuples,
	       o->messages, o->seconds);
}

/* A fault that nobody expected, in full. */
static void explain(const struct machine *machine, const struct arguments *a,
		    const struct outcome *outcome)
{
	struct outcome again = *outcome;
	uint32_t reg[TSR_REGISTERS];
	bool caught = outcome->in_program &&
		      fault_catch(machine->script, &a->machine, &again, reg);

	fault_print(stdout, machine, caught ? &again : outcome, caught ? reg : NULL);
}

static bool run_file(struct arguments *a, const struct script *script)
{
	bool debugger = a->step.step || a->step.trace || a->step.breakpoints;
	struct machine_options options = a->machine;
	struct machine *machine;
	struct outcome outcome;
	char error[256];
	bool ok;

	if (debugger)
		options.threads = 0;
	machine = machine_new(script, &options, error, sizeof(error));
	if (!machine) {
		fprintf(stderr, "tsr-run: %s: %s\n", script->path, error);
		return false;
	}
	for (unsigned int i = 0; i < a->step.breakpoints; i++)
		a->step.breakpoint[i] = break_address(script, a->breaks[i]);
	if (debugger)
		step_run(machine, &options, &a->step, &outcome);
	else
		machine_run(machine, &options, &outcome);
	if (outcome.faulted && !script->fault.wanted)
		explain(machine, a, &outcome);
	ok = !compare_all(machine, &outcome, stdout, "");
	ok &= dump_all(a, machine);
	if (a->statistics)
		print_statistics(&outcome);
	machine_free(machine);
	return ok;
}

int main(int argc, char **argv)
{
	struct arguments a;
	bool all_ok = true;

	read_arguments(&a, argc, argv);
	for (int i = optind; i < argc; i++) {
		char error[600];
		struct script *script = script_read(argv[i], error, sizeof(error));
		bool ok = false;

		if (!script) {
			fprintf(stderr, "tsr-run: %s\n", error);
		} else {
			ok = a.all ? !matrix_run(script, false, stdout, "") : run_file(&a, script);
			script_free(script);
		}
		if (!a.quiet)
			printf("%s: %s\n", argv[i], ok ? "as expected" : "not as expected");
		all_ok &= ok;
	}
	return all_ok ? STATUS_OK : STATUS_FAILED;
}
