// SPDX-License-Identifier: MIT
/*
 * tsr-decode: print a ring, a command stream, a register dump or a core dump of a Tessera GPU.
 *
 * Reads a file or standard input, prints to standard output. The work is done by libtessera
 * (tessera/decode.h); here are arguments and input formats.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <tessera/decode.h>
#include "tsr_desc.h"
#include "tsr_regs.h"

enum { STATUS_OK, STATUS_ERRORS, STATUS_USAGE };

/* Input that grows as it is read. */
struct buffer {
	uint8_t *bytes;
	size_t size, room;
};

struct arguments {
	const char *path;
	struct tsr_decode_options options;
	bool hex, regs, dump;
	bool have_list;
	uint64_t list, frame;
	bool have_rptr, have_wptr;
	uint32_t rptr, wptr;
};

static const char help[] =
"Usage: tsr-decode [OPTION]... FILE\n"
"Print the packets of a command stream, or of a ring, with offsets, fields and errors.\n"
"FILE holds little-endian 64-bit words; - is standard input.\n"
"\n"
"  -b, --base ADDR    GPU address of the first byte; with --regs, address of the\n"
"                     register BAR (default 0)\n"
"  -r, --ring         FILE is a ring: ring packets are legal, user packets are not\n"
"      --rptr N       with --ring: decode from this read pointer, around the end,\n"
"      --wptr N       to this write pointer (both free-running, as in the registers)\n"
"  -c, --class NAME   the queue's engine class: bin, render, compute or copy\n"
"  -x, --hex          FILE is text: 64-bit words in hexadecimal; words that end in a\n"
"                     colon (addresses) and what follows # are ignored\n"
"  -l, --list ADDR    FILE is memory; print the control list at this GPU address, with\n"
"                     what it calls and names\n"
"      --frame ADDR   with --list: and the FRAME there\n"
"  -R, --regs         FILE is a register dump: lines of OFFSET VALUE..., hexadecimal,\n"
"                     32-bit words; OFFSET counts from --base\n"
"  -d, --dump         FILE is a device core dump of the driver,\n"
"                     /sys/class/devcoredump/devcd*/data\n"
"  -w, --words        print each packet's words as well\n"
"  -j, --json         print JSON\n"
"  -h, --help         print this and exit\n"
"  -V, --version      print the version of the hardware description and exit\n"
"\n"
"An error is named after the fault the device would answer with. Exit status: 0 when there is\n"
"no error, 1 when there is one or FILE cannot be read, 2 for bad usage.\n";

__attribute__((format(printf, 1, 2), noreturn))
static void usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("tsr-decode: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs("; see tsr-decode --help\n", stderr);
	va_end(arguments);
	exit(STATUS_USAGE);
}

__attribute__((format(printf, 2, 3), noreturn))
static void fail(const char *path, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "tsr-decode: %s: ", strcmp(path, "-") ? path : "standard input");
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(STATUS_ERRORS);
}

static void append(struct buffer *buffer, const void *bytes, size_t size, const char *path)
{
	if (buffer->size + size > buffer->room) {
		buffer->room = 2 * buffer->room + size + 4096;
		buffer->bytes = realloc(buffer->bytes, buffer->room);
		if (!buffer->bytes)
			fail(path, "too large: %s", strerror(ENOMEM));
	}
	memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
}

static void read_binary(FILE *in, const char *path, struct buffer *buffer)
{
	uint8_t piece[65536];
	size_t n;

	while ((n = fread(piece, 1, sizeof(piece), in)) > 0)
		append(buffer, piece, n, path);
	if (ferror(in))
		fail(path, "%s", strerror(errno));
}

/* A whole word of hexadecimal digits that fits @bits; false if it is anything else. */
static bool parse_hex(const char *word, int bits, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(word, &end, 16);
	return isxdigit((unsigned char)word[0]) && !*end && !errno &&
	       (bits == 64 || !(*value >> bits));
}

/* Cut a line at # and at line ends. */
static void strip(char *line)
{
	line[strcspn(line, "#\r\n")] = '\0';
}

static void read_hex(FILE *in, const char *path, struct buffer *buffer)
{
	unsigned long number = 0;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, in) >= 0) {
		char *from = line;
		char *rest, *word;

		number++;
		strip(line);
		for (; (word = strtok_r(from, " \t,", &rest)); from = NULL) {
			uint8_t bytes[8];
			uint64_t value;
			int i;

			if (word[strlen(word) - 1] == ':')
				continue;
			if (!parse_hex(word, 64, &value))
				fail(path, "line %lu: \"%s\" is no 64-bit hexadecimal number",
				     number, word);
			for (i = 0; i < 8; i++)
				bytes[i] = (uint8_t)(value >> 8 * i);
			append(buffer, bytes, sizeof(bytes), path);
		}
	}
	if (ferror(in))
		fail(path, "%s", strerror(errno));
	free(line);
}

/* One line of a register dump: where, and the words from there on. */
static void read_register_line(char *line, const char *path, unsigned long number, uint64_t base,
			       struct buffer *buffer)
{
	static const char between[] = " \t:=";
	struct tsr_decode_register word;
	uint64_t offset, value;
	char *rest, *text = strtok_r(line, between, &rest);

	if (!text)
		return;
	if (!parse_hex(text, 64, &offset) || offset < base || offset - base > UINT32_MAX)
		fail(path, "line %lu: \"%s\" is no offset from 0x%" PRIx64, number, text, base);
	word.offset = (uint32_t)(offset - base);
	text = strtok_r(NULL, between, &rest);
	if (!text)
		fail(path, "line %lu: expected OFFSET VALUE...", number);
	for (; text; text = strtok_r(NULL, between, &rest)) {
		if (!parse_hex(text, 32, &value))
			fail(path, "line %lu: \"%s\" is no 32-bit hexadecimal number", number,
			     text);
		word.value = (uint32_t)value;
		append(buffer, &word, sizeof(word), path);
		word.offset += 4;
	}
}

static void read_registers(FILE *in, const char *path, uint64_t base, struct buffer *buffer)
{
	unsigned long number = 0;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, in) >= 0) {
		strip(line);
		read_register_line(line, path, ++number, base, buffer);
	}
	if (ferror(in))
		fail(path, "%s", strerror(errno));
	free(line);
}

static uint64_t number_argument(const char *option, const char *text, uint64_t limit)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)text[0]) || *end || errno || value > limit)
		usage("%s \"%s\" is no number from 0 to 0x%" PRIx64, option, text, limit);
	return value;
}

static int class_argument(const char *text)
{
	const struct tsr_desc_enum *classes = tsr_desc_find_enum("ENGINE_CLASS");
	uint32_t i;

	for (i = 0; classes && i < classes->num_values; i++) {
		if (!strcasecmp(text, classes->values[i].name))
			return (int)classes->values[i].value;
	}
	usage("--class \"%s\" is not bin, render, compute or copy", text);
}

static void take_option(struct arguments *arguments, int option)
{
	switch (option) {
	case 'b':
		arguments->options.base = number_argument("--base", optarg, UINT64_MAX);
		break;
	case 'r':
		arguments->options.flags |= TSR_DECODE_RING;
		break;
	case 'p':
		arguments->rptr = (uint32_t)number_argument("--rptr", optarg, UINT32_MAX);
		arguments->have_rptr = true;
		break;
	case 'q':
		arguments->wptr = (uint32_t)number_argument("--wptr", optarg, UINT32_MAX);
		arguments->have_wptr = true;
		break;
	case 'c':
		arguments->options.engine_class = class_argument(optarg);
		break;
	case 'l':
		arguments->list = number_argument("--list", optarg, UINT64_MAX);
		arguments->have_list = true;
		break;
	case 'f':
		arguments->frame = number_argument("--frame", optarg, UINT64_MAX);
		break;
	case 'x':
		arguments->hex = true;
		break;
	case 'R':
		arguments->regs = true;
		break;
	case 'd':
		arguments->dump = true;
		break;
	case 'w':
		arguments->options.flags |= TSR_DECODE_RAW;
		break;
	case 'j':
		arguments->options.flags |= TSR_DECODE_JSON;
		break;
	case 'h':
		fputs(help, stdout);
		exit(STATUS_OK);
	case 'V':
		printf("tsr-decode: hardware description %d.%d\n", TSR_VERSION_MAJOR,
		       TSR_VERSION_MINOR);
		exit(STATUS_OK);
	default:
		fputs("tsr-decode: see tsr-decode --help\n", stderr);
		exit(STATUS_USAGE);
	}
}

static void parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{ "base", required_argument, NULL, 'b' }, { "ring", no_argument, NULL, 'r' },
		{ "rptr", required_argument, NULL, 'p' }, { "wptr", required_argument, NULL, 'q' },
		{ "list", required_argument, NULL, 'l' }, { "frame", required_argument, NULL, 'f' },
		{ "class", required_argument, NULL, 'c' }, { "hex", no_argument, NULL, 'x' },
		{ "regs", no_argument, NULL, 'R' }, { "words", no_argument, NULL, 'w' },
		{ "dump", no_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' }, { 0 }
	};
	int option;

	while ((option = getopt_long(argc, argv, "b:rc:l:xRdwjhV", options, NULL)) != -1)
		take_option(arguments, option);
	if (optind + 1 != argc)
		usage(optind == argc ? "which FILE?" : "one FILE only");
	arguments->path = argv[optind];
	if (arguments->have_rptr != arguments->have_wptr)
		usage("--rptr and --wptr go together");
	if (arguments->have_rptr && !(arguments->options.flags & TSR_DECODE_RING))
		usage("--rptr and --wptr need --ring");
	if (arguments->regs && (arguments->hex || arguments->options.flags & TSR_DECODE_RING))
		usage("--regs does not go with --hex or --ring");
	if (arguments->dump && (arguments->regs || arguments->hex || arguments->have_list ||
				arguments->options.flags))
		usage("--dump does not go with other options");
	if (arguments->have_list && (arguments->regs || arguments->options.flags &
				     (TSR_DECODE_RING | TSR_DECODE_JSON)))
		usage("--list does not go with --regs, --ring or --json");
}

static void read_input(const struct arguments *arguments, struct buffer *buffer)
{
	FILE *in = stdin;

	if (strcmp(arguments->path, "-"))
		in = fopen(arguments->path, "rb");
	if (!in)
		fail(arguments->path, "%s", strerror(errno));
	if (arguments->regs)
		read_registers(in, arguments->path, arguments->options.base, buffer);
	else if (arguments->hex)
		read_hex(in, arguments->path, buffer);
	else
		read_binary(in, arguments->path, buffer);
	if (in != stdin)
		fclose(in);
	if (!buffer->size)
		fail(arguments->path, "it holds nothing to decode");
}

/* The file as memory from --base on. */
struct image {
	const struct buffer *buffer;
	uint64_t base;
};

static const void *in_file(void *context, uint64_t va, uint64_t size)
{
	const struct image *image = context;
	uint64_t at = va - image->base;

	return va >= image->base && at <= image->buffer->size && size <= image->buffer->size - at ?
	       image->buffer->bytes + at : NULL;
}

static unsigned long decode_list(const struct arguments *arguments, const struct buffer *buffer)
{
	struct image image = { buffer, arguments->options.base };
	const struct tsr_decode_memory memory = { in_file, &image };
	uint64_t left = buffer->size - (arguments->list - image.base);

	if (!in_file(&image, arguments->list, 8))
		fail(arguments->path, "0x%" PRIx64 " is not in the file", arguments->list);
	return tsr_decode_list(stdout, &memory, arguments->list,
			       left < UINT32_MAX ? (uint32_t)left : UINT32_MAX, arguments->frame,
			       &arguments->options);
}

static unsigned long decode_dump(const struct arguments *arguments, const struct buffer *buffer)
{
	static const uint8_t magic[8] = { 'T', 'S', 'R', 'D', 1 };

	if (buffer->size < sizeof(magic) || memcmp(buffer->bytes, magic, sizeof(magic)))
		fail(arguments->path, "no core dump of version 1");
	return tsr_decode_dump(stdout, buffer->bytes, buffer->size);
}

int main(int argc, char **argv)
{
	struct arguments arguments = { .options.engine_class = TSR_DECODE_ANY_CLASS };
	struct buffer buffer = { 0 };
	unsigned long errors;

	parse_arguments(argc, argv, &arguments);
	read_input(&arguments, &buffer);
	if (arguments.dump)
		errors = decode_dump(&arguments, &buffer);
	else if (arguments.regs)
		errors = tsr_decode_registers(stdout, (struct tsr_decode_register *)buffer.bytes,
					      buffer.size / sizeof(struct tsr_decode_register),
					      arguments.options.flags);
	else if (arguments.have_list)
		errors = decode_list(&arguments, &buffer);
	else if (arguments.have_rptr)
		errors = tsr_decode_ring(stdout, buffer.bytes, buffer.size, arguments.rptr,
					 arguments.wptr, &arguments.options);
	else
		errors = tsr_decode_stream(stdout, buffer.bytes, buffer.size, &arguments.options);
	free(buffer.bytes);
	if (fflush(stdout) || ferror(stdout))
		fail("standard output", "%s", strerror(errno));
	if (errors)
		fprintf(stderr, "tsr-decode: %lu error%s\n", errors, errors == 1 ? "" : "s");
	return errors ? STATUS_ERRORS : STATUS_OK;
}
