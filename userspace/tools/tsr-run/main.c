// SPDX-License-Identifier: MIT
/*
 * tsr-run: execute shader files on the model of the GPU, without a virtual machine.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "execute.h"

enum { STATUS_OK, STATUS_FAILED, STATUS_USAGE };

static const char help[] =
"Usage: tsr-run [OPTION]... FILE...\n"
"Execute shader files (Documentation/guide/shaders.md) on the model of the GPU and\n"
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
	"      --jit WHEN         on, off, or first: machine code from the first execution on\n"
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

enum { OPTION_TIMING = 256, OPTION_SIMD, OPTION_JIT, OPTION_STRICT, OPTION_SECONDS };

static const struct option long_options[] = {
	{ "step", no_argument, NULL, 's' }, { "break", required_argument, NULL, 'b' },
	{ "commands", required_argument, NULL, 'C' }, { "trace", no_argument, NULL, 't' },
	{ "dump", required_argument, NULL, 'd' }, { "threads", required_argument, NULL, 'j' },
	{ "cores", required_argument, NULL, 'c' },
	{ "timing", required_argument, NULL, OPTION_TIMING },
	{ "simd", required_argument, NULL, OPTION_SIMD },
	{ "jit", required_argument, NULL, OPTION_JIT },
	{ "strict", no_argument, NULL, OPTION_STRICT },
	{ "seconds", required_argument, NULL, OPTION_SECONDS },
	{ "all", no_argument, NULL, 'a' }, { "statistics", no_argument, NULL, 'S' },
	{ "quiet", no_argument, NULL, 'q' }, { "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' }, { NULL, 0, NULL, 0 },
};

static void take_commands(struct run_options *a, const char *path)
{
	a->step.in = fopen(path, "r");
	if (!a->step.in)
		usage("%s cannot be read", path);
}

static void take_break(struct run_options *a, const char *where)
{
	if (a->break_count == STEP_BREAKS_MAX)
		usage("more than %d breakpoints", STEP_BREAKS_MAX);
	a->breaks[a->break_count++] = where;
}

static void take_timing(struct run_options *a, const char *when)
{
	a->machine.late = !strcmp(when, "late");
	if (!a->machine.late && strcmp(when, "early"))
		usage("--timing is early or late, not \"%s\"", when);
}

static void take_jit(struct run_options *a, const char *when)
{
	if (!strcmp(when, "on"))
		a->machine.jit = TSR_JIT_USE_ON;
	else if (!strcmp(when, "off"))
		a->machine.jit = TSR_JIT_USE_OFF;
	else if (!strcmp(when, "first"))
		a->machine.jit = TSR_JIT_USE_FIRST;
	else
		usage("--jit is on, off or first, not \"%s\"", when);
}

static void take_dump(struct run_options *a, const char *what)
{
	if (a->dump_count == RUN_DUMPS_MAX)
		usage("more than %d dumps", RUN_DUMPS_MAX);
	a->dumps[a->dump_count++] = what;
}

/* Options about the machine. False: it is another one. */
static bool machine_option(struct run_options *a, int option)
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
	case OPTION_JIT:
		take_jit(a, optarg);
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

static void one_option(struct run_options *a, int option)
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

static void read_arguments(struct run_options *a, int argc, char **argv)
{
	int option;

	*a = (struct run_options){ .machine = { .threads = 1 } };
	a->step.in = stdin;
	a->step.out = stdout;
	while ((option = getopt_long(argc, argv, "sb:C:td:j:c:aSqhV", long_options, NULL)) != -1) {
		if (!machine_option(a, option))
			one_option(a, option);
	}
	if (optind == argc)
		usage("which FILE?");
	if (a->all && (a->step.step || a->step.trace || a->break_count))
		usage("--all does not go with the debugger");
	a->step.echo = !isatty(fileno(a->step.in));
}

int main(int argc, char **argv)
{
	struct run_options options;
	bool all_ok = true;

	read_arguments(&options, argc, argv);
	for (int i = optind; i < argc; i++)
		all_ok &= run_path(&options, argv[i]);
	return all_ok ? STATUS_OK : STATUS_FAILED;
}
