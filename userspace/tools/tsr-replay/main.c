// SPDX-License-Identifier: MIT
/*
 * Runs a captured job again, on the model of the GPU in this process, and compares what it leaves
 * with what it left when it was captured (Documentation/start/debugging.md).
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "replay.h"

__attribute__((format(printf, 1, 2), noreturn))
static void useless(const char *format, ...)
{
	va_list args;

	fputs("tsr-replay: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(REPLAY_USELESS);
}

/* All of a file, to be freed. */
static void *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	void *data;

	if (!f || fstat(fileno(f), &st))
		useless("%s: %s", path, strerror(errno));
	*size = st.st_size;
	data = malloc(*size + 1);
	if (!data || fread(data, 1, *size, f) != *size)
		useless("%s: cannot be read", path);
	fclose(f);
	return data;
}

static void usage(FILE *to)
{
	fputs("usage: tsr-replay [options] FILE\n"
	      "Run a captured job again on the model of the GPU and compare what it leaves.\n"
	      "  --info          only say what the file holds\n"
	      "  --threads N     worker threads, 1 to 64 (2)\n"
	      "  --timeout S     seconds after which it has not ended (10)\n"
	      "  --help, --version\n"
	      "Status: 0 as it was, 1 not as it was, 2 the file cannot be used\n", to);
}

static unsigned int number(const char *text, unsigned int max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || !n || n > max)
		useless("%s is not a number from 1 to %u", text, max);
	return n;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "info", no_argument, NULL, 'i' },
		{ "threads", required_argument, NULL, 't' },
		{ "timeout", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct replay_options o = { .threads = 2, .seconds = 10 };
	const char *wrong;
	struct replay r;
	int opt, status;
	bool info = false;
	size_t size;
	void *file;

	while ((opt = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		switch (opt) {
		case 'i':
			info = true;
			break;
		case 't':
			o.threads = number(optarg, 64);
			break;
		case 's':
			o.seconds = number(optarg, 86400);
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'V':
			puts("tsr-replay " TSR_VERSION);
			return 0;
		default:
			usage(stderr);
			return REPLAY_USELESS;
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return REPLAY_USELESS;
	}
	file = read_file(argv[optind], &size);
	wrong = replay_parse(&r, file, size);
	if (wrong)
		useless("%s: %s", argv[optind], wrong);
	o.name = argv[optind];
	replay_describe(&r, stdout);
	status = info ? REPLAY_SAME : replay_run(&r, &o, stdout);
	replay_free(&r);
	free(file);
	return status;
}
