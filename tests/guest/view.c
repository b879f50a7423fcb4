// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * tsr-view as a user runs it: models of the repository beside pictures that a ray caster without a
 * GPU made of them (userspace/tools/tsr-view/models/make-models.py), and files that are not models.
 * Pictures differ where textures get smaller: the ray caster has no levels.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <png.h>

#include "ktap.h"

#define MODELS	"/usr/share/tessera/"
#define WIDTH	160
#define HEIGHT	120
#define FAR	4		/* of 255 */
#define FEW	(WIDTH * HEIGHT / 50)

static char text[2000];

/* Run tsr-view with these arguments; its exit status, what it says in text[]. */
static int view(const char *arguments)
{
	char command[300];
	size_t length;
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "tsr-view %s 2>&1", arguments);
	pipe = popen(command, "r");
	length = fread(text, 1, sizeof(text) - 1, pipe);
	text[length] = '\0';
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void read_png(const char *path, uint8_t *texels)
{
	png_image image = { .version = PNG_IMAGE_VERSION };

	if (!ktap_ok(png_image_begin_read_from_file(&image, path)))
		return;
	image.format = PNG_FORMAT_RGBA;
	ktap_eq(image.width, WIDTH);
	ktap_eq(image.height, HEIGHT);
	if (image.width == WIDTH && image.height == HEIGHT)
		png_image_finish_read(&image, NULL, texels, 0, NULL);
	png_image_free(&image);
}

/* How many pixels of the two are far apart. */
static unsigned int differ(const uint8_t *a, const uint8_t *b)
{
	unsigned int count = 0;

	for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
		bool far = false;

		for (size_t c = 4 * i; c < 4 * i + 4; c++)
			far |= abs(a[c] - b[c]) > FAR;
		count += far;
	}
	return count;
}

static uint8_t ours[4 * WIDTH * HEIGHT], theirs[4 * WIDTH * HEIGHT];

static void model(const char *file, const char *expected)
{
	char arguments[200];

	snprintf(arguments, sizeof(arguments), "-s 160x120 -o /tmp/view.png %s", file);
	if (!ktap_eq(view(arguments), 0)) {
		ktap_note("%s", text);
		return;
	}
	ktap_ok(!strstr(text, "warning"));
	read_png("/tmp/view.png", ours);
	read_png(expected, theirs);
	ktap_note("%u pixels differ", differ(ours, theirs));
	ktap_ok(differ(ours, theirs) < FEW);
	unlink("/tmp/view.png");
}

static void house(void)
{
	model(MODELS "house.obj", MODELS "house.expected.png");
}

static void tower(void)
{
	model(MODELS "tower.gltf", MODELS "tower.expected.png");
}

/* Another angle, one sample: another picture. */
static void options(void)
{
	ktap_eq(view("-s 160x120 -t 75 -m 1 -o /tmp/view.png " MODELS "tower.gltf"), 0);
	read_png("/tmp/view.png", ours);
	read_png(MODELS "tower.expected.png", theirs);
	ktap_ok(differ(ours, theirs) > 2 * FEW);
	unlink("/tmp/view.png");
	ktap_eq(view("-s 0x10 x"), 2);
	ktap_eq(view("-m 3 x"), 2);
	ktap_eq(view("-u 90 x"), 2);
	ktap_eq(view("-b 12345 x"), 2);
	ktap_eq(view(""), 2);
}

static const struct damaged {
	const char *make, *file, *message;
} damaged[] = {
	{ "true", "/tmp/nothing.obj", "Unable to open" },
	{ "echo >/tmp/m.obj", "/tmp/m.obj", "too small" },
	{ "sed 's/^f 1/f 999/' " MODELS "house.obj >/tmp/m.obj", "/tmp/m.obj", "out of range" },
	{ "grep -v ^f " MODELS "house.obj >/tmp/m.obj", "/tmp/m.obj", "" },
	{ "head -c 3000 " MODELS "tower.gltf >/tmp/m.gltf", "/tmp/m.gltf", "" },
	{ "sed 's/\"count\": 24/\"count\": 2400000/' " MODELS "tower.gltf >/tmp/m.gltf",
	  "/tmp/m.gltf", "out of range" },
	{ "true", MODELS "house.png", "reader" },
};

/* A message with the file's name, and no picture. */
static void refused(void)
{
	char arguments[200];

	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		ktap_eq(system(damaged[i].make), 0);
		snprintf(arguments, sizeof(arguments), "-o /tmp/view.png %s", damaged[i].file);
		if (!ktap_eq(view(arguments), 1) || !ktap_ok(strstr(text, damaged[i].message)) ||
		    !ktap_ok(!strncmp(text, "tsr-view: /", 11)))
			ktap_note("%zu: %s", i, text);
		ktap_eq(access("/tmp/view.png", R_OK), -1);
	}
}

/* A texture that is not there costs a warning. */
static void no_texture(void)
{
	ktap_eq(system("cp " MODELS "house.obj " MODELS "house.mtl /tmp"), 0);
	ktap_eq(view("-s 160x120 -o /tmp/view.png /tmp/house.obj"), 0);
	ktap_ok(strstr(text, "warning: /tmp/house.png: No such file or directory") != NULL);
	read_png("/tmp/view.png", ours);
	read_png(MODELS "house.expected.png", theirs);
	ktap_ok(differ(ours, theirs) > FEW);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS5] [RAST4] [TEX6] an OBJ file is drawn as a ray caster draws it", house);
	ktap_run("[SYS5] [RAST4] [TEX6] a glTF file, likewise", tower);
	ktap_run("[SYS5] options of tsr-view", options);
	ktap_run("[SYS5] files that are no models are refused with a message", refused);
	ktap_run("[SYS5] a texture that is missing is said", no_texture);
	return ktap_finish();
}
