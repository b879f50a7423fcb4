// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 */
/*
 * The compute demos as a user runs them. Each compares every bit with the CPU by itself and says
 * so; here the pictures are looked at as well: what one can say about them without doing the same
 * computation again.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <png.h>

#include "ktap.h"

#define DIR_NAME "/tmp/compute_demos"

static char text[4096];		/* what the last command said, both streams */

/* The exit status of a command run in DIR_NAME. */
static int run(const char *command)
{
	char line[600];
	size_t length;
	FILE *pipe;
	int status;

	snprintf(line, sizeof(line), "cd " DIR_NAME " && %s 2>&1", command);
	pipe = popen(line, "r");
	length = fread(text, 1, sizeof(text) - 1, pipe);
	text[length] = '\0';
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A picture as RGBA words; width 0 if it cannot be read. */
struct pixels {
	uint32_t width, height;
	uint32_t *words;
};

static struct pixels load(const char *path)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	struct pixels p = { 0 };

	if (!ktap_ok(png_image_begin_read_from_file(&image, path)))
		return p;
	image.format = PNG_FORMAT_RGBA;
	p.words = malloc(PNG_IMAGE_SIZE(image));
	if (ktap_ok(png_image_finish_read(&image, NULL, p.words, 0, NULL))) {
		p.width = image.width;
		p.height = image.height;
	}
	return p;
}

static void save(const char *path, const struct pixels *p)
{
	png_image image = {
		.version = PNG_IMAGE_VERSION, .width = p->width, .height = p->height,
		.format = PNG_FORMAT_RGBA,
	};

	ktap_ok(png_image_write_to_file(&image, path, 0, p->words, 0, NULL));
}

/* Every demo says that its bits are those of the CPU. */
static void all(void)
{
	static const char * const names[] = { "convolve", "equalise", "mandelbrot", "sgemm",
					      "prefix" };
	char line[100];
	size_t i;

	ktap_eq(run("compute all"), 0);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(line, sizeof(line), "compute: %s: bit-equal to the CPU, ", names[i]);
		if (!ktap_ok(strstr(text, line)))
			ktap_note("%s", text);
	}
}

/* Sharpening leaves a picture of one color as it is, alpha too, at any size. */
static void convolve_flat(void)
{
	static const uint32_t sizes[][2] = { { 1, 1 }, { 17, 5 }, { 64, 33 } };
	struct pixels in, out;
	size_t i, n;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		in.width = sizes[i][0];
		in.height = sizes[i][1];
		in.words = malloc(in.width * in.height * 4);
		for (n = 0; n < in.width * in.height; n++)
			in.words[n] = 0x80c04020;
		save(DIR_NAME "/flat.png", &in);
		if (!ktap_eq(run("compute convolve -i flat.png -o out.png"), 0))
			ktap_note("%s", text);
		out = load(DIR_NAME "/out.png");
		if (ktap_eq(out.width, in.width) && ktap_eq(out.height, in.height))
			ktap_mem_eq(out.words, in.words, in.width * in.height * 4);
		free(in.words);
		free(out.words);
	}
}

/* A ramp of 128 grays, each as often, becomes 255 * (i + 1) / 128, rounded. */
static void equalise_ramp(void)
{
	struct pixels in = { 128, 4, malloc(128 * 4 * 4) }, out;
	uint32_t i, want, bad = 0;

	for (i = 0; i < 512; i++)
		in.words[i] = 0xff000000 | i % 128 * 0x010101;
	save(DIR_NAME "/ramp.png", &in);
	if (!ktap_eq(run("compute equalise -i ramp.png -o out.png"), 0))
		ktap_note("%s", text);
	out = load(DIR_NAME "/out.png");
	for (i = 0; out.width == 128 && i < 512; i++) {
		want = (255 * (i % 128 + 1) + 64) / 128;
		bad += out.words[i] != (0xff000000 | want * 0x010101);
	}
	ktap_eq(bad, 0);
	ktap_eq(out.width, 128);
	free(in.words);
	free(out.words);
}

/* The set is symmetric about the real axis, and black around 0. */
static void mandelbrot_picture(void)
{
	struct pixels p;

	if (!ktap_eq(run("compute mandelbrot -o set.png"), 0))
		ktap_note("%s", text);
	p = load(DIR_NAME "/set.png");
	if (ktap_eq(p.width, 384) && ktap_eq(p.height, 256)) {
		/* column (0 + 2.1) * 256 / 2.4, row 1.2 * 256 / 2.4 */
		ktap_eq(p.words[128 * 384 + 224], 0xff000000);
		ktap_eq(p.words[100 * 384 + 150], p.words[156 * 384 + 150]);
		/* far away it is over at once */
		ktap_ok(p.words[0] != 0xff000000);
	}
	free(p.words);
}

/* The program of Documentation/guide/libtessera.md. */
static void guide(void)
{
	ktap_eq(run("square"), 0);
	ktap_ok(!strcmp(text, "1 4 9 ... 16129\n"));
}

static void bad_usage(void)
{
	ktap_eq(run("compute"), 2);
	ktap_ok(strstr(text, "usage: compute"));
	ktap_eq(run("compute nothing"), 2);
	ktap_ok(strstr(text, "no demo is called 'nothing'"));
	ktap_eq(run("compute convolve -i /nowhere.png"), 1);
	ktap_ok(strstr(text, "compute: convolve: "));
	ktap_eq(run("compute mandelbrot -o /nowhere/out.png"), 1);
	ktap_eq(run("compute sgemm -d /dev/null"), 1);
	ktap_ok(strstr(text, "not a DRM device"));
	ktap_eq(run("compute --help"), 0);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	mkdir(DIR_NAME, 0755);
	ktap_run("[SYS8] compute: all demos are bit-equal to the CPU", all);
	ktap_run("[SYS8] compute: sharpening a picture of one color", convolve_flat);
	ktap_run("[SYS8] compute: equalising a ramp", equalise_ramp);
	ktap_run("[SYS8] compute: the picture of the Mandelbrot set", mandelbrot_picture);
	ktap_run("[SYS8] the program of the guide to compute", guide);
	ktap_run("[SYS8] compute: bad usage", bad_usage);
	return ktap_finish();
}
