// SPDX-License-Identifier: MIT
/*
 * compute: programs on the shader cores, each checked bit for bit against the CPU.
 *
 * The shaders are the .s files beside this one, assembled when the demo runs. A picture that is
 * written is the GPU's, and is written only if the CPU has come to the same bits.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define DEFAULT_INPUT "/usr/share/tessera/photo.png"

static const struct demo_kind * const kinds[] = {
	&demo_convolve, &demo_equalise, &demo_mandelbrot, &demo_sgemm, &demo_prefix,
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int usage(FILE *to, int status)
{
	unsigned int i;

	fputs("usage: compute [--device PATH] NAME [--input FILE.png] [--output FILE.png]\n"
	      "Run a program on the GPU's shader cores and compare every bit with the CPU.\n\n",
	      to);
	for (i = 0; i < KINDS; i++)
		fprintf(to, "  %-12s %s\n", kinds[i]->name, kinds[i]->summary);
	fputs("  all          all of these, pictures to NAME.png\n\n"
	      "  -d, --device PATH  render node to use (default: the first Tessera GPU)\n"
	      "  -i, --input FILE   picture to work on (default: " DEFAULT_INPUT ")\n"
	      "  -o, --output FILE  where the picture goes (default: NAME.png)\n"
	      "  -h, --help         show this text\n\n"
	      "Exit status: 0 bit-equal; 1 not, or an error; 2 for bad usage.\n", to);
	return status;
}

static int run_one(const struct demo_kind *kind, const char *device, const char *input,
		   const char *output)
{
	struct demo demo = { .input = input };
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "%s.png", kind->name);
	demo.output = output ? output : name;
	ret = demo_open(&demo, device);
	if (!ret)
		ret = kind->run(&demo);
	demo_close(&demo);
	if (ret) {
		fprintf(stderr, "compute: %s: %s\n", kind->name, demo.error);
		return -1;
	}
	printf("compute: %s: bit-equal to the CPU, %" PRIu64 " us on the GPU%s%s\n", kind->name,
	       demo.microseconds, kind->writes_picture ? ", " : "",
	       kind->writes_picture ? demo.output : "");
	return fflush(stdout);
}

static int run_all(const char *device, const char *input)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < KINDS; i++)
		ret |= run_one(kinds[i], device, input, NULL);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "input", required_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *device = NULL, *input = DEFAULT_INPUT, *output = NULL;
	int option;
	size_t i;

	while ((option = getopt_long(argc, argv, "d:i:o:h", long_options, NULL)) != -1) {
		if (option == 'h')
			return usage(stdout, EXIT_SUCCESS);
		if (option == 'd')
			device = optarg;
		else if (option == 'i')
			input = optarg;
		else if (option == 'o')
			output = optarg;
		else
			return usage(stderr, 2);
	}
	if (optind + 1 != argc)
		return usage(stderr, 2);
	if (!strcmp(argv[optind], "all") && !output)
		return run_all(device, input) ? EXIT_FAILURE : EXIT_SUCCESS;
	for (i = 0; i < KINDS; i++) {
		if (!strcmp(argv[optind], kinds[i]->name))
			return run_one(kinds[i], device, input, output) ? EXIT_FAILURE
									: EXIT_SUCCESS;
	}
	fprintf(stderr, "compute: no demo is called '%s'\n", argv[optind]);
	return usage(stderr, 2);
}
