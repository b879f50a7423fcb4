// SPDX-License-Identifier: MIT
/*
 * tsr-as: assemble a shader program for a Tessera GPU.
 *
 * Reads a file or standard input, writes the code as it stands in memory. The work is done by
 * libtessera (tessera/asm.h).
 */
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
	char *output;		/* allocated; NULL: none wanted */
	const char *listing;
	uint32_t flags;
	bool info;
};

static const char help[] =
"Usage: tsr-as [OPTION]... FILE\n"
"Assemble the shader program in FILE; - is standard input. The text is described in\n"
"Documentation/guide/shaders.md.\n"
"\n"
"  -o, --output OUT    write the code to OUT, - is standard output (default: FILE\n"
"                      with .bin instead of its suffix, standard output for -)\n"
"  -l, --listing OUT   write a listing to OUT, - is standard output: every clause with\n"
"                      its address, quadwords, and what is explicit in the code\n"
"  -i, --info          print entry, registers, sizes and labels to standard output\n"
"  -n, --no-output     write no code: only check the text\n"
"  -u, --unchecked     do not check the rules between the parts of a clause\n"
"  -h, --help          print this and exit\n"
"  -V, --version       print the version of the hardware description and exit\n"
"\n"
"Errors are FILE:LINE:COLUMN: error: what was found and what was expected. Exit status: 0 when\n"
"the code was written, 1 when there are errors or a file cannot be read or written, 2 for bad\n"
"usage. With errors no file is written.\n";

__attribute__((format(printf, 1, 2), noreturn))
static void usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("tsr-as: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs("; see tsr-as --help\n", stderr);
	va_end(arguments);
	exit(STATUS_USAGE);
}

__attribute__((noreturn))
static void fail(const char *path, int error)
{
	fprintf(stderr, "tsr-as: %s: %s\n", path, strerror(error));
	exit(STATUS_ERRORS);
}

/* The whole file, one byte more than the assembler takes at most. */
static char *read_text(const char *path, size_t *size)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	size_t room = 0, n;
	char *text = NULL;

	if (!in)
		fail(path, errno);
	*size = 0;
	do {
		if (room - *size < 65536) {
			room = room * 2 + 65536;
			text = realloc(text, room);
			if (!text)
				fail(path, ENOMEM);
		}
		n = fread(text + *size, 1, room - *size, in);
		*size += n;
	} while (n && *size <= TSR_ASM_TEXT_MAX);
	if (ferror(in))
		fail(path, errno);
	if (in != stdin)
		fclose(in);
	return text;
}

static FILE *open_output(const char *path)
{
	FILE *out = strcmp(path, "-") ? fopen(path, "wb") : stdout;

	if (!out)
		fail(path, errno);
	return out;
}

static void close_output(FILE *out, const char *path)
{
	if (fflush(out) || ferror(out) || (out != stdout && fclose(out)))
		fail(path, errno);
}

/* FILE.bin for FILE.s. */
static char *default_output(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash ? slash : path, '.');
	int length = dot && dot != path ? (int)(dot - path) : (int)strlen(path);
	char *name;

	if (!strcmp(path, "-"))
		name = strdup("-");
	else if (asprintf(&name, "%.*s.bin", length, path) < 0)
		name = NULL;
	if (!name)
		fail(path, ENOMEM);
	if (strcmp(name, "-") && !strcmp(name, path))
		usage("%s would be written over, say --output", path);
	return name;
}

static void print_info(const struct tsr_asm_shader *program)
{
	uint32_t i;

	printf("size %zu\nclauses %u\nentry 0x%x\nregisters %d\n", program->size,
	       program->num_clauses, program->entry, program->registers_64 ? 64 : 32);
	printf("local %u %u %u\ngroup_memory %u\nscratch %u\n", program->local[0],
	       program->local[1], program->local[2], program->group_memory, program->scratch);
	for (i = 0; i < program->num_symbols; i++)
		printf("label 0x%05x %s\n", program->symbols[i].offset, program->symbols[i].name);
}

static void write_outputs(const struct arguments *arguments, const struct tsr_asm_shader *program)
{
	static const struct tsr_disasm_options listing = {
		.flags = TSR_DISASM_QUADS | TSR_DISASM_EXPLICIT,
	};
	FILE *out;

	if (arguments->output) {
		out = open_output(arguments->output);
		fwrite(program->code, 1, program->size, out);
		close_output(out, arguments->output);
	}
	if (arguments->listing) {
		out = open_output(arguments->listing);
		tsr_disasm(out, program->code, program->size, &listing);
		close_output(out, arguments->listing);
	}
	if (arguments->info) {
		print_info(program);
		close_output(stdout, "standard output");
	}
}

static void parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "listing", required_argument, NULL, 'l' }, { "info", no_argument, NULL, 'i' },
		{ "no-output", no_argument, NULL, 'n' }, { "unchecked", no_argument, NULL, 'u' },
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' }, { 0 }
	};
	bool no_output = false;
	int option;

	while ((option = getopt_long(argc, argv, "o:l:inuhV", options, NULL)) != -1) {
		if (option == 'o') {
			free(arguments->output);
			arguments->output = strdup(optarg);
			if (!arguments->output)
				fail(optarg, ENOMEM);
		} else if (option == 'l') {
			arguments->listing = optarg;
		} else if (option == 'i') {
			arguments->info = true;
		} else if (option == 'n') {
			no_output = true;
		} else if (option == 'u') {
			arguments->flags |= TSR_ASM_UNCHECKED;
		} else if (option == 'h') {
			fputs(help, stdout);
			exit(STATUS_OK);
		} else if (option == 'V') {
			printf("tsr-as: hardware description %d.%d\n", TSR_VERSION_MAJOR,
			       TSR_VERSION_MINOR);
			exit(STATUS_OK);
		} else {
			fputs("tsr-as: see tsr-as --help\n", stderr);
			exit(STATUS_USAGE);
		}
	}
	if (optind + 1 != argc)
		usage(optind == argc ? "which FILE?" : "one FILE only");
	if (no_output && arguments->output)
		usage("--output and --no-output do not go together");
	arguments->path = argv[optind];
	if (!no_output && !arguments->output)
		arguments->output = default_output(arguments->path);
}

int main(int argc, char **argv)
{
	struct arguments arguments = { 0 };
	struct tsr_asm_shader *program;
	size_t size;
	char *text;
	int error;

	parse_arguments(argc, argv, &arguments);
	text = read_text(arguments.path, &size);
	error = tsr_asm_assemble(text, size, arguments.flags, &program);
	free(text);
	if (error == -ENOMEM)
		fail(arguments.path, ENOMEM);
	tsr_asm_print_diagnostics(stderr, program, arguments.path);
	if (!error && !program->size) {
		fprintf(stderr, "tsr-as: %s: there is no code\n", arguments.path);
		error = -EINVAL;
	}
	if (!error)
		write_outputs(&arguments, program);
	tsr_asm_free(program);
	free(arguments.output);
	return error ? STATUS_ERRORS : STATUS_OK;
}
