// SPDX-License-Identifier: MIT
/*
 * graphics: pictures drawn by the GPU, each checked for what the CPU knows about it.
 *
 * The shaders are the .s files beside this one. A picture is written only if it passed.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

static const struct draw_kind *const kinds[] = {
	&draw_triangle, &draw_cubes, &draw_instances, &draw_msaa, &draw_stencil, &draw_particles,
	&draw_shadow, &draw_mipmaps, &draw_mandelbrot, &draw_teapot, &draw_fountain,
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int usage(FILE *to, int status)
{
	fputs("usage: graphics [--device PATH] NAME [--output FILE.png]\n"
	      "Draw a picture on the GPU and check what the CPU knows about it.\n\n", to);
	for (unsigned int i = 0; i < KINDS; i++)
		fprintf(to, "  %-12s %s\n", kinds[i]->name, kinds[i]->summary);
	fputs("  all          all of these, to NAME.png\n\n"
	      "  -d, --device PATH  render node to use (default: the first Tessera GPU)\n"
	      "  -o, --output FILE  where the picture goes (default: NAME.png)\n"
	      "  -h, --help         show this text\n\n"
	      "Exit status: 0 as it should be; 1 not, or an error; 2 for bad usage.\n", to);
	return status;
}

/* FNV-1a of all texels: the device draws the same bits everywhere. */
static uint32_t sum(const struct picture *picture)
{
	uint32_t hash = 0x811c9dc5;

	for (size_t i = 0; i < picture->pitch * picture->height; i++)
		hash = (hash ^ picture->texels[i]) * 0x01000193;
	return hash;
}

static int run_one(const struct draw_kind *kind, const char *device, const char *output)
{
	struct draw draw = { 0 };
	struct picture_file file;
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "%s.png", kind->name);
	output = output ? output : name;
	ret = draw_open(&draw, device);
	if (!ret)
		ret = kind->run(&draw);
	if (!ret)
		ret = picture_create(&file, output, draw.error);
	if (!ret)
		ret = picture_commit(&file, &draw.picture, draw.error);
	if (ret)
		fprintf(stderr, "graphics: %s: %s\n", kind->name, draw.error);
	else
		printf("graphics: %s: %u x %u, %08" PRIx32 ", %s\n", kind->name,
		       draw.picture.width, draw.picture.height, sum(&draw.picture), output);
	draw_close(&draw);
	fflush(stdout);
	return ret;
}

static int run_all(const char *device)
{
	int ret = 0;

	for (unsigned int i = 0; i < KINDS; i++)
		ret |= run_one(kinds[i], device, NULL);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *device = NULL, *output = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "d:o:h", long_options, NULL)) != -1) {
		if (option == 'h')
			return usage(stdout, EXIT_SUCCESS);
		if (option == 'd')
			device = optarg;
		else if (option == 'o')
			output = optarg;
		else
			return usage(stderr, 2);
	}
	if (optind + 1 != argc)
		return usage(stderr, 2);
	if (!strcmp(argv[optind], "all") && !output)
		return run_all(device) ? EXIT_FAILURE : EXIT_SUCCESS;
	for (unsigned int i = 0; i < KINDS; i++) {
		if (!strcmp(argv[optind], kinds[i]->name))
			return run_one(kinds[i], device, output) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	fprintf(stderr, "graphics: no demo is called '%s'\n", argv[optind]);
	return usage(stderr, 2);
}
