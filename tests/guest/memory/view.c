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

/* ---- Compressed textures --------------------------------------------------------------------- */

#define SIDE	32u		/* texels of a texture, of blocks of one color each */
#define BLOCKS	(SIDE / 4 * SIDE / 4)

/* A file that is being made. */
struct file {
	uint8_t bytes[4096];
	size_t size;
};

static void put(struct file *f, const void *bytes, size_t size)
{
	memcpy(f->bytes + f->size, bytes, size);
	f->size += size;
}

static void put32(struct file *f, uint32_t value)
{
	put(f, &value, 4);
}

static void zeroes(struct file *f, size_t count)
{
	memset(f->bytes + f->size, 0, count);
	f->size += count;
}

/* The color of a block, of 5, 6 and 5 bits, that are the same in 8 bits and in 16. */
static uint16_t color_of(uint32_t block)
{
	uint32_t r = block % 2 * 31, g = block / 8 % 2 * 63, b = (block / 2 + block / 16) % 2 * 31;

	return (uint16_t)(r << 11 | g << 5 | b);
}

/* Blocks of BC1: both endpoints, and index 0 everywhere. */
static void put_bc1(struct file *f)
{
	for (uint32_t i = 0; i < BLOCKS; i++)
		put32(f, color_of(i) | (uint32_t)color_of(i) << 16), put32(f, 0);
}

/* Void extents of ASTC. */
static void put_astc(struct file *f)
{
	static const uint8_t head[8] = { 0xfc, 0xfd, 255, 255, 255, 255, 255, 255 };

	for (uint32_t i = 0; i < BLOCKS; i++) {
		const uint16_t c = color_of(i);
		const uint16_t color[4] = { c >> 11 ? 0xffff : 0, c >> 5 & 63 ? 0xffff : 0,
					    c & 31 ? 0xffff : 0, 0xffff };

		put(f, head, 8);
		put(f, color, 8);
	}
}

static void make_dds(struct file *f)
{
	put(f, "DDS ", 4);
	put32(f, 124);
	put32(f, 0x81007);
	put32(f, SIDE);
	put32(f, SIDE);
	put32(f, 8 * BLOCKS);
	zeroes(f, 76 - 24);
	put32(f, 32);
	put32(f, 4);
	put(f, "DXT1", 4);
	zeroes(f, 128 - 88);
	put_bc1(f);
}

static void make_ktx(struct file *f)
{
	put(f, "\xabKTX 11\xbb\r\n\x1a\n", 12);
	put32(f, 0x04030201);
	put32(f, 0);
	put32(f, 1);
	put32(f, 0);
	put32(f, 0x83f0);
	put32(f, 0x1907);
	put32(f, SIDE);
	put32(f, SIDE);
	zeroes(f, 8);
	put32(f, 1);
	put32(f, 1);
	put32(f, 0);
	put32(f, 8 * BLOCKS);
	put_bc1(f);
}

static void make_ktx2(struct file *f)
{
	put(f, "\xabKTX 20\xbb\r\n\x1a\n", 12);
	put32(f, 131);
	put32(f, 1);
	put32(f, SIDE);
	put32(f, SIDE);
	zeroes(f, 8);
	put32(f, 1);
	put32(f, 1);
	zeroes(f, 80 - 44);
	put32(f, 104);
	put32(f, 0);
	put32(f, 8 * BLOCKS);
	put32(f, 0);
	put32(f, 8 * BLOCKS);
	put32(f, 0);
	put_bc1(f);
}

static void make_astc(struct file *f)
{
	static const uint8_t head[16] = {
		0x13, 0xab, 0xa1, 0x5c, 4, 4, 1, SIDE, 0, 0, SIDE, 0, 0, 1,
	};

	put(f, head, 16);
	put_astc(f);
}

static void write_file(const char *path, const struct file *f, size_t size)
{
	FILE *stream = fopen(path, "wb");

	ktap_eq(fwrite(f->bytes, 1, size, stream), size);
	fclose(stream);
}

static void write_png(const char *path)
{
	static uint8_t texels[SIDE * SIDE][4];
	png_image image = { .version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE,
			    .format = PNG_FORMAT_RGBA };

	for (uint32_t i = 0; i < SIDE * SIDE; i++) {
		uint16_t c = color_of(i / SIDE / 4 * (SIDE / 4) + i % SIDE / 4);
		const uint8_t texel[4] = { c >> 11 ? 255 : 0, c >> 5 & 63 ? 255 : 0,
					   c & 31 ? 255 : 0, 255 };

		memcpy(texels[i], texel, 4);
	}
	ktap_ok(png_image_write_to_file(&image, path, 0, texels, 0, NULL));
}

#define TRY	"-s 160x120 -z 1.3 -o /tmp/view.png /tmp/m.obj"

/* Files of each kind give the picture that a PNG of the same texels gives; a part, a warning. */
static void compressed(void)
{
	static void (*const make[])(struct file *f) = { make_dds, make_ktx, make_ktx2, make_astc };
	static uint8_t first[sizeof(ours)];

	ktap_eq(system("sed 's/house.mtl/m.mtl/' " MODELS "house.obj >/tmp/m.obj; "
		       "sed 's/house.png/m.tex/' " MODELS "house.mtl >/tmp/m.mtl"), 0);
	write_png("/tmp/m.tex");
	ktap_eq(view(TRY), 0);
	read_png("/tmp/view.png", theirs);
	for (size_t i = 0; i < sizeof(make) / sizeof(make[0]); i++) {
		struct file f = { .size = 0 };

		make[i](&f);
		write_file("/tmp/m.tex", &f, f.size);
		ktap_eq(view(TRY), 0);
		ktap_ok(!strstr(text, "drawn without"));
		read_png("/tmp/view.png", ours);
		/* of the PNG levels are made, which these files do not have */
		ktap_note("%u pixels differ", differ(ours, theirs));
		ktap_ok(differ(ours, theirs) < 2 * FEW);
		if (i)
			ktap_mem_eq(ours, first, sizeof(ours));
		memcpy(first, ours, sizeof(first));
		write_file("/tmp/m.tex", &f, f.size - 1);
		ktap_eq(view(TRY), 0);
		if (!ktap_ok(strstr(text, "the file ends before its texture does: drawn without")))
			ktap_note("%s", text);
	}
	unlink("/tmp/view.png");
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
	ktap_run("[TEX8] textures of DDS, KTX, KTX 2 and ASTC files", compressed);
	ktap_run("[SYS5] files that are no models are refused with a message", refused);
	ktap_run("[SYS5] a texture that is missing is said", no_texture);
	return ktap_finish();
}
