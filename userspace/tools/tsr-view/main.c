// SPDX-License-Identifier: MIT
/*
 * tsr-view: a model from a file, drawn by the GPU, as a PNG file. Documentation/guide/graphics.md
 * tells what it makes of models.
 */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isolate.h"
#include "render.h"

#define SIDE_MAX	8192u		/* of a picture */

/* Options without a letter. */
enum { OPTION_MEMORY = 256, OPTION_TIME };

static int usage(FILE *to, int status)
{
	fputs("usage: tsr-view [OPTION]... FILE\n"
	      "Draw the model in FILE (OBJ, glTF, and what else assimp reads) and write a PNG "
	      "file.\n\n"
	      "  -o, --output FILE        where the picture goes (default: view.png)\n"
	      "  -s, --size WIDTHxHEIGHT  pixels (default: 640x480)\n"
	      "  -t, --turn DEGREES       turn the model round its y axis (default: 30)\n"
	      "  -u, --tilt DEGREES       the camera's height, -89 to 89 (default: 20)\n"
	      "  -z, --distance R         of the camera, in radii of the model (default: 2)\n"
	      "  -m, --samples N          samples of a pixel: 1, 2, 4, 8 or 16 (default: 4)\n"
	      "  -b, --background RRGGBB  color behind the model (default: 20242c)\n"
	      "  -d, --device PATH        render node to use (default: the first Tessera GPU)\n"
	      "      --memory MIB         limit for reading FILE (default: 2048, more for large "
	      "files)\n"
	      "      --time SECONDS       of processor time, the same (default: 5, more for large "
	      "files)\n"
	      "  -h, --help               show this text\n"
	      "  -V, --version            print the version\n\n"
	      "Exit status: 0 the picture is written; 1 an error; 2 bad usage.\n", to);
	return status;
}

static void warn(const char *text)
{
	fprintf(stderr, "tsr-view: warning: %s\n", text);
}

/* ---- Options --------------------------------------------------------------------------------- */

static bool number(const char *text, float low, float high, float *value)
{
	char *end;

	*value = strtof(text, &end);
	return end != text && !*end && *value >= low && *value <= high;
}

static bool size(const char *text, struct view *view)
{
	unsigned int width, height;
	int end = 0;

	if (sscanf(text, "%5ux%5u%n", &width, &height, &end) != 2 || text[end] || !width ||
	    !height || width > SIDE_MAX || height > SIDE_MAX)
		return false;
	view->width = width;
	view->height = height;
	return true;
}

static bool samples(const char *text, uint32_t *count)
{
	float n;

	if (!number(text, 1, 16, &n) || n != floorf(n))
		return false;
	*count = (uint32_t)n;
	return !(*count & (*count - 1));
}

/* A color as screens show it, and what the GPU reckons with. */
static bool color(const char *text, float out[4])
{
	unsigned int rgb;
	int end = 0;

	if (sscanf(text, "%6x%n", &rgb, &end) != 1 || end != 6 || text[end])
		return false;
	for (int i = 0; i < 3; i++) {
		float c = (float)(rgb >> (16 - 8 * i) & 255) / 255;

		out[i] = c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
	}
	out[3] = 1;
	return true;
}

static bool whole(const char *text, float high, uint32_t *value)
{
	float n;

	if (!number(text, 1, high, &n) || n != floorf(n))
		return false;
	*value = (uint32_t)n;
	return true;
}

static bool take(int option, const char *text, struct view *view, struct isolate_limits *limits,
		 const char **output)
{
	switch (option) {
	case OPTION_MEMORY: return whole(text, 1 << 20, &limits->memory_mib);
	case OPTION_TIME: return whole(text, 86400, &limits->seconds);
	case 'o': *output = text; return true;
	case 'd': view->device = text; return true;
	case 's': return size(text, view);
	case 't': return number(text, -36000, 36000, &view->turn);
	case 'u': return number(text, -89, 89, &view->tilt);
	case 'z': return number(text, 1.2f, 30, &view->distance);
	case 'm': return samples(text, &view->samples);
	case 'b': return color(text, view->background);
	default: return false;
	}
}

/* ---- Work ------------------------------------------------------------------------------------ */

static int view_file(const char *path, const struct view *view,
		     const struct isolate_limits *limits, const char *output)
{
	char error[PICTURE_ERROR] = "";
	struct picture picture = { 0 };
	struct picture_file file;
	struct model model;
	int ret = isolate_read(&model, path, limits, warn, error);

	if (!ret) {
		ret = render(&model, view, &picture, error);
		if (!ret)
			ret = picture_create(&file, output, error);
		if (!ret)
			ret = picture_commit(&file, &picture, error);
		if (!ret)
			printf("tsr-view: %s: %u triangles, %u vertices, %u materials, %u "
			       "textures, %u x %u pixels, %s\n", path, model.index_count / 3,
			       model.vertex_count, model.material_count, model.texture_count,
			       picture.width, picture.height, output);
		model_free(&model);
	}
	if (ret)
		fprintf(stderr, "tsr-view: %s\n", error);
	picture_free(&picture);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "size", required_argument, NULL, 's' },
		{ "turn", required_argument, NULL, 't' },
		{ "tilt", required_argument, NULL, 'u' },
		{ "distance", required_argument, NULL, 'z' },
		{ "samples", required_argument, NULL, 'm' },
		{ "background", required_argument, NULL, 'b' },
		{ "device", required_argument, NULL, 'd' },
		{ "memory", required_argument, NULL, OPTION_MEMORY },
		{ "time", required_argument, NULL, OPTION_TIME },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct view view = { .width = 640, .height = 480, .samples = 4, .turn = 30, .tilt = 20,
			     .distance = 2 };
	struct isolate_limits limits = { 0 };
	const char *output = "view.png";
	int option, at = 0;

	color("20242c", view.background);
	while ((option = getopt_long(argc, argv, "o:s:t:u:z:m:b:d:hV", long_options, &at)) != -1) {
		if (option == 'h')
			return usage(stdout, EXIT_SUCCESS);
		if (option == 'V') {
			puts("tsr-view " TSR_VERSION);
			return EXIT_SUCCESS;
		}
		if (take(option, optarg, &view, &limits, &output))
			continue;
		if (option >= OPTION_MEMORY)
			fprintf(stderr, "tsr-view: '%s' is no value for --%s\n", optarg,
				long_options[at].name);
		else if (option != '?')
			fprintf(stderr, "tsr-view: '%s' is no value for -%c\n", optarg, option);
		return usage(stderr, 2);
	}
	if (optind + 1 != argc)
		return usage(stderr, 2);
	return view_file(argv[optind], &view, &limits, output);
}
