// SPDX-License-Identifier: MIT
/*
 * tsr-dis: disassemble a shader program of a Tessera GPU.
 *
 * Reads a file or standard input, prints text that tsr-as makes the same code of. The work is done
 * by libtessera (tessera/asm.h).
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/asm.h>
#include "tsr_regs.h"

enum { STATUS_OK, STATUS_ERRORS, STATUS_USAGE };

struct arguments {
	const char *path;
	const char *output;
	struct tsr_disasm_options options;
};

static const char help[] =
"Usage: tsr-dis [OPTION]... FILE\n"
"Print the shader program in FILE as text, of which tsr-as makes the same bytes; - is standard\n"
"input.\n"
"\n"
"  -b, --base ADDR     address of the first byte, for the comments (default 0)\n"
"  -q, --quads         each quadword as a comment: bits, format, and which parts it holds\n"
"  -e, --explicit      write out ports, register modes and places of constants everywhere,\n"
"                      not only where the assembler would choose others\n"
"  -p, --plain         no comments\n"
"  -o, --output OUT    write to OUT (default: standard output)\n"
"  -h, --help          print this and exit\n"
"  -V, --version       print the version of the hardware description and exit\n"
"\n"
"What is no clause comes out as .quad with the reason as a comment, zeros between or behind\n"
"clauses as .zero. Exit status: 0 when all was clauses and zeros, 1 when it was not or FILE\n"
"cannot be read, 2 for bad usage.\n";

__attribute__((format(printf, 1, 2), noreturn))
static void usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("tsr-dis: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs("; see tsr-dis --help\n", stderr);
	va_end(arguments);
	exit(STATUS_USAGE);
}

__attribute__((noreturn))
static void fail(const char *path, int error)
{
	fprintf(stderr, "tsr-dis: %s: %s\n", path, strerror(error));
	exit(STATUS_ERRORS);
}

static uint8_t *read_code(const char *path, size_t *size)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	uint8_t *code = NULL;
	size_t room = 0, n;

	if (!in)
		fail(path, errno);
	*size = 0;
	do {
		if (room - *size < 65536) {
			room = room * 2 + 65536;
			code = realloc(code, room);
			if (!code)
				fail(path, ENOMEM);
		}
		n = fread(code + *size, 1, room - *size, in);
		*size += n;
	} while (n);
	if (ferror(in))
		fail(path, errno);
	if (in != stdin)
		fclose(in);
	if (!*size) {
		fprintf(stderr, "tsr-dis: %s: the file is empty, expected code\n",
			strcmp(path, "-") ? path : "standard input");
		exit(STATUS_ERRORS);
	}
	return code;
}

static uint64_t address_argument(const char *text)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)text[0]) || *end || errno)
		usage("--base \"%s\" is no number", text);
	return value;
}

static void parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{ "base", required_argument, NULL, 'b' }, { "quads", no_argument, NULL, 'q' },
		{ "explicit", no_argument, NULL, 'e' }, { "plain", no_argument, NULL, 'p' },
		{ "output", required_argument, NULL, 'o' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' }, { 0 }
	};
	int option;

	while ((option = getopt_long(argc, argv, "b:qepo:hV", options, NULL)) != -1) {
		if (option == 'b') {
			arguments->options.base = address_argument(optarg);
		} else if (option == 'q') {
			arguments->options.flags |= TSR_DISASM_QUADS;
		} else if (option == 'e') {
			arguments->options.flags |= TSR_DISASM_EXPLICIT;
		} else if (option == 'p') {
			arguments->options.flags |= TSR_DISASM_PLAIN;
		} else if (option == 'o') {
			arguments->output = optarg;
		} else if (option == 'h') {
			fputs(help, stdout);
			exit(STATUS_OK);
		} else if (option == 'V') {
			printf("tsr-dis: hardware description %d.%d\n", TSR_VERSION_MAJOR,
			       TSR_VERSION_MINOR);
			exit(STATUS_OK);
		} else {
			fputs("tsr-dis: see tsr-dis --help\n", stderr);
			exit(STATUS_USAGE);
		}
	}
	if (optind + 1 != argc)
		usage(optind == argc ? "which FILE?" : "one FILE only");
	arguments->path = argv[optind];
}

int main(int argc, char **argv)
{
	struct arguments arguments = { 0 };
	FILE *out = stdout;
	uint8_t *code;
	size_t size;
	long errors;

	parse_arguments(argc, argv, &arguments);
	code = read_code(arguments.path, &size);
	if (arguments.output)
		out = fopen(arguments.output, "w");
	if (!out)
		fail(arguments.output, errno);
	errors = tsr_disasm(out, code, size, &arguments.options);
	free(code);
	if (errors < 0)
		fail(arguments.path, ENOMEM);
	if (fflush(out) || ferror(out))
		fail(arguments.output ? arguments.output : "standard output", errno);
	if (out != stdout && fclose(out))
		fail(arguments.output, errno);
	if (errors)
		fprintf(stderr, "tsr-dis: %ld quadword%s in no clause\n", errors,
			errors == 1 ? " is" : "s are");
	return errors ? STATUS_ERRORS : STATUS_OK;
}
