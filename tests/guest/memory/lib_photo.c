// SPDX-License-Identifier: MIT
/* test: TIMEOUT=240 DEVICE_ARGS=vram=64M,copy-engines=2 */
/*
 * The photo demo and the tools as a user runs them: every kind of PNG, odd sizes, and inputs that
 * are broken, hostile, or not there. Pictures are made here with libpng.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <png.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lt.h"

#define DIR_NAME "/tmp/lib_photo"
#define IN DIR_NAME "/in.png"
#define OUT DIR_NAME "/out/out.png"

/* The output of a command on both streams. run() returns its exit status. */
static char text[65536];

static int run(const char *command)
{
	FILE *f = popen(command, "r");
	size_t length;
	int status;

	if (!f)
		return -1;
	length = fread(text, 1, sizeof(text) - 1, f);
	text[length] = '\0';
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/* Nothing is left where the output goes but the output. */
static bool out_is_clean(bool expected)
{
	return run("ls " DIR_NAME "/out") == 0 && !strcmp(text, expected ? "out.png\n" : "");
}

struct kind {
	const char *name;
	int color, depth, interlace;
	bool transparency;		/* a tRNS chunk */
};

static const struct kind kinds[] = {
	{ "gray 1", PNG_COLOR_TYPE_GRAY, 1, PNG_INTERLACE_NONE, false },
	{ "gray 2", PNG_COLOR_TYPE_GRAY, 2, PNG_INTERLACE_ADAM7, false },
	{ "gray 4", PNG_COLOR_TYPE_GRAY, 4, PNG_INTERLACE_NONE, true },
	{ "gray 8", PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_NONE, false },
	{ "gray 16", PNG_COLOR_TYPE_GRAY, 16, PNG_INTERLACE_ADAM7, false },
	{ "gray-alpha 8", PNG_COLOR_TYPE_GRAY_ALPHA, 8, PNG_INTERLACE_NONE, false },
	{ "gray-alpha 16", PNG_COLOR_TYPE_GRAY_ALPHA, 16, PNG_INTERLACE_NONE, false },
	{ "palette 1", PNG_COLOR_TYPE_PALETTE, 1, PNG_INTERLACE_NONE, false },
	{ "palette 4", PNG_COLOR_TYPE_PALETTE, 4, PNG_INTERLACE_ADAM7, true },
	{ "palette 8", PNG_COLOR_TYPE_PALETTE, 8, PNG_INTERLACE_NONE, true },
	{ "RGB 8", PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_ADAM7, true },
	{ "RGB 16", PNG_COLOR_TYPE_RGB, 16, PNG_INTERLACE_NONE, false },
	{ "RGBA 8", PNG_COLOR_TYPE_RGB_ALPHA, 8, PNG_INTERLACE_ADAM7, false },
	{ "RGBA 16", PNG_COLOR_TYPE_RGB_ALPHA, 16, PNG_INTERLACE_ADAM7, false },
};

static void write_header(png_structp png, png_infop info, const struct kind *kind, uint32_t width,
			 uint32_t height)
{
	png_color palette[256];
	png_byte alpha[4] = { 0, 80, 160, 255 };
	png_color_16 see_through = { .gray = 1, .red = 1, .green = 2, .blue = 3 };
	int i, colors = 1 << (kind->depth < 8 ? kind->depth : 8);

	png_set_IHDR(png, info, width, height, kind->depth, kind->color, kind->interlace,
		     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	for (i = 0; i < colors; i++)
		palette[i] = (png_color){ (png_byte)(i * 7), (png_byte)~i, (png_byte)(i * 31) };
	if (kind->color == PNG_COLOR_TYPE_PALETTE)
		png_set_PLTE(png, info, palette, colors);
	if (kind->transparency)
		png_set_tRNS(png, info, alpha, colors < 4 ? colors : 4, &see_through);
	png_write_info(png, info);
}

/* A picture of noise at IN. */
static bool make_picture(const struct kind *kind, uint32_t width, uint32_t height)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	FILE *f = fopen(IN, "wb");
	uint64_t seed = width * 31 + height;
	png_bytep *rows;
	size_t length, i, y;

	if (!f || setjmp(png_jmpbuf(png)))
		return false;
	png_init_io(png, f);
	png_set_compression_level(png, 1);
	write_header(png, info, kind, width, height);
	length = png_get_rowbytes(png, info);
	rows = calloc(height, sizeof(*rows));
	for (y = 0; y < height; y++) {
		rows[y] = malloc(length);
		for (i = 0; i < length; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			rows[y][i] = (png_byte)(seed >> 56);
		}
	}
	png_write_image(png, rows);
	png_write_end(png, info);
	for (y = 0; y < height; y++)
		free(rows[y]);
	free(rows);
	png_destroy_write_struct(&png, &info);
	return !fclose(f);
}

/* The demo on IN; it has to say how it went and leave a PNG of the same size. */
static void check_good(uint32_t width, uint32_t height, const char *options)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	char command[200];

	unlink(OUT);
	snprintf(command, sizeof(command), "photo %s " IN " " OUT " 2>&1", options);
	if (!ktap_eq(run(command), 0))
		ktap_note("%s", text);
	ktap_ok(strstr(text, "bit-equal to the CPU reference"));
	ktap_ok(out_is_clean(true));
	ktap_ok(png_image_begin_read_from_file(&image, OUT));
	ktap_eq(image.width, width);
	ktap_eq(image.height, height);
	png_image_free(&image);
}

static void test_kinds(void)
{
	size_t i;

	for (i = 0; i < GT_ARRAY_SIZE(kinds); i++) {
		KTAP_REQUIRE(make_picture(&kinds[i], 83, 61));
		check_good(83, 61, "");
		if (ktap.bad) {
			ktap_note("that was %s", kinds[i].name);
			return;
		}
	}
}

static void test_sizes(void)
{
	static const uint32_t sizes[][2] = {
		{ 1, 1 }, { 1, 300 }, { 300, 1 }, { 2, 3 }, { 15, 16 }, { 16, 15 }, { 17, 31 },
		{ 33, 64 }, { 1000, 7 },
	};
	size_t i;

	for (i = 0; i < GT_ARRAY_SIZE(sizes); i++) {
		KTAP_REQUIRE(make_picture(&kinds[12], sizes[i][0], sizes[i][1]));
		check_good(sizes[i][0], sizes[i][1], "");
		if (ktap.bad) {
			ktap_note("that was %u x %u", sizes[i][0], sizes[i][1]);
			return;
		}
	}
}

static void test_large(void)
{
	KTAP_REQUIRE(make_picture(&kinds[10], 1280, 963));
	check_good(1280, 963, "");
}

static void test_local(void)
{
	KTAP_REQUIRE(make_picture(&kinds[11], 401, 299));
	check_good(401, 299, "--local");
}

/* One line on standard error, the status, and no output. */
static void check_bad(const char *command, int status, const char *words)
{
	ktap_eq(run(command), status);
	if (!ktap_ok(strstr(text, words)))
		ktap_note("%s: %s", command, text);
	if (status == 1) {
		ktap_ok(!strncmp(text, "photo: ", 7));
		ktap_eq(strcspn(text, "\n") + 1, strlen(text));
	}
	ktap_ok(out_is_clean(false));
}

#define PHOTO "photo " IN " " OUT " 2>&1 >/dev/null"

static void write_bytes(const void *bytes, size_t size)
{
	FILE *f = fopen(IN, "wb");

	if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
		ktap_fail("cannot write " IN);
}

/* ---- Compressed textures --------------------------------------------------------------------- */

#define TEXELS_W 40u
#define TEXELS_H 24u

/* An 8-bit gray PNG of TEXELS_W by TEXELS_H at IN. */
static bool write_gray(const uint8_t *texels)
{
	png_image image = { .version = PNG_IMAGE_VERSION, .width = TEXELS_W, .height = TEXELS_H,
			    .format = PNG_FORMAT_GRAY };

	return png_image_write_to_file(&image, IN, 0, texels, TEXELS_W, NULL);
}

static void put32(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

/*
 * A DDS file of BC1 at IN: end points white and black, so that indices 0 to 3 are 255, 0 and, in
 * thirds, 170 and 85; their texels.
 */
static void write_dds(uint8_t *texels)
{
	static const uint8_t gray[4] = { 255, 0, 170, 85 };
	uint8_t file[128 + TEXELS_W * TEXELS_H / 2] = "DDS ";
	uint32_t seed = 1;

	put32(file + 4, 124);
	put32(file + 8, 0x1007);	/* caps, height, width, pixel format */
	put32(file + 12, TEXELS_H);
	put32(file + 16, TEXELS_W);
	put32(file + 76, 32);
	put32(file + 80, 4);		/* a FourCC */
	memcpy(file + 84, "DXT1", 4);
	put32(file + 108, 0x1000);	/* a texture */
	for (uint32_t n = 0; n < TEXELS_W * TEXELS_H / 16; n++) {
		uint8_t *block = file + 128 + 8 * n;
		uint32_t x = n % (TEXELS_W / 4) * 4, y = n / (TEXELS_W / 4) * 4;

		seed = seed * 1664525 + 1013904223;
		put32(block, 0x0000ffff);
		put32(block + 4, seed);
		for (uint32_t i = 0; i < 16; i++)
			texels[(y + i / 4) * TEXELS_W + x + i % 4] = gray[seed >> 2 * i & 3];
	}
	write_bytes(file, sizeof(file));
}

/* An ASTC file of 8 by 8 blocks at IN, each of one color: black or white; their texels. */
static void write_astc(uint8_t *texels)
{
	uint8_t file[16 + TEXELS_W * TEXELS_H / 4] = {
		0x13, 0xab, 0xa1, 0x5c, 8, 8, 1, TEXELS_W, 0, 0, TEXELS_H, 0, 0, 1, 0, 0,
	};

	for (uint32_t n = 0; n < TEXELS_W * TEXELS_H / 64; n++) {
		uint8_t *block = file + 16 + 16 * n;
		uint32_t x = n % (TEXELS_W / 8) * 8, y = n / (TEXELS_W / 8) * 8;

		memset(block, 0xff, 16);
		block[0] = 0xfc;	/* a void extent of no coordinates */
		block[1] = 0xfd;
		memset(block + 8, n * 5 % 3 ? 0xff : 0, 6);
		for (uint32_t i = 0; i < 8; i++)
			memset(texels + (y + i) * TEXELS_W + x, block[8], 8);
	}
	write_bytes(file, sizeof(file));
}

/* A texture goes through the demo as the PNG of its texels does. */
static void test_textures(void)
{
	static void (*const writers[])(uint8_t *texels) = { write_dds, write_astc };
	uint8_t texels[TEXELS_W * TEXELS_H];

	for (size_t i = 0; i < GT_ARRAY_SIZE(writers); i++) {
		writers[i](texels);
		check_good(TEXELS_W, TEXELS_H, "");
		ktap_eq(run("mv " OUT " " DIR_NAME "/texture.png"), 0);
		KTAP_REQUIRE(write_gray(texels));
		check_good(TEXELS_W, TEXELS_H, "");
		if (!ktap_eq(run("cmp " OUT " " DIR_NAME "/texture.png"), 0))
			ktap_note("file %zu: %s", i, text);
	}
	write_dds(texels);
	KTAP_REQUIRE(!truncate(IN, 200));
	unlink(OUT);
	check_bad(PHOTO, 1, IN ": ");
}

/* Only the start of a PNG: signature, IHDR with this size and a right checksum, head of an IDAT. */
static void write_ihdr(uint32_t width, uint32_t height)
{
	static const uint8_t signature[] = {0x89, 'P',	'N', 'G', '\r', '\n',
					    0x1a, '\n', 0,   0,	  0,	13};
	uint8_t file[41] = { 0 };
	uint32_t crc = ~0u, i, bit;

	memcpy(file, signature, sizeof(signature));
	memcpy(file + 12, "IHDR", 4);
	for (i = 0; i < 4; i++) {
		file[16 + i] = (uint8_t)(width >> (24 - 8 * i));
		file[20 + i] = (uint8_t)(height >> (24 - 8 * i));
	}
	file[24] = 8;
	file[25] = 6;
	for (i = 12; i < 29; i++) {
		crc ^= file[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	for (i = 0; i < 4; i++)
		file[29 + i] = (uint8_t)(~crc >> (24 - 8 * i));
	memcpy(file + 33, "\0\0\1\0IDAT", 8);
	write_bytes(file, sizeof(file));
}

static void test_hostile(void)
{
	struct stat st;

	unlink(OUT);
	unlink(IN);
	check_bad(PHOTO, 1, "No such file");
	check_bad("photo /tmp " OUT " 2>&1 >/dev/null", 1, "Is a directory");
	write_bytes("", 0);
	check_bad(PHOTO, 1, "not a PNG file");
	write_bytes("GIF89a and more", 15);
	check_bad(PHOTO, 1, "not a PNG file");
	write_ihdr(0, 5);
	check_bad(PHOTO, 1, "Invalid IHDR");
	write_ihdr(0x7fffffff, 0x7fffffff);
	check_bad(PHOTO, 1, "expected at most 65536 a side");
	write_ihdr(65537, 1);
	check_bad(PHOTO, 1, "expected at most 65536 a side");
	write_ihdr(8192, 8192);		/* allowed by size, more than this guest's memory */
	check_bad(PHOTO, 1, "MiB are available");
	write_ihdr(300, 200);
	check_bad(PHOTO, 1, IN ": the file ends before the picture does");
	KTAP_REQUIRE(make_picture(&kinds[10], 83, 61));
	KTAP_REQUIRE(!stat(IN, &st) && !truncate(IN, st.st_size * 2 / 3));
	check_bad(PHOTO, 1, IN ": the file ends before the picture does");
	KTAP_REQUIRE(make_picture(&kinds[10], 83, 61));
	KTAP_REQUIRE(run("printf zzzz | dd of=" IN " bs=1 seek=400 conv=notrunc 2>&1") == 0);
	check_bad(PHOTO, 1, IN);
}

static void test_surroundings(void)
{
	KTAP_REQUIRE(make_picture(&kinds[10], 83, 61));
	check_bad("photo " IN " /nowhere/out.png 2>&1 >/dev/null", 1,
		  "cannot create /nowhere/out.png");
	check_bad("photo -d /dev/null " IN " " OUT " 2>&1 >/dev/null", 1, "not a DRM device");
	check_bad("photo -d /dev/dri/none " IN " " OUT " 2>&1 >/dev/null", 1, "No such file");
	check_bad("photo --wrong 2>&1 >/dev/null", 2, "usage:");
	check_bad("photo a b c 2>&1 >/dev/null", 2, "usage:");
	ktap_eq(run("photo --help"), 0);
	ktap_ok(strstr(text, "usage: photo"));
	/* an output that is there stays when the run fails */
	KTAP_REQUIRE(run("echo precious >" OUT) == 0);
	ktap_eq(run("photo /etc/none " OUT " 2>&1"), 1);
	ktap_eq(run("cat " OUT), 0);
	ktap_ok(!strcmp(text, "precious\n"));
	unlink(OUT);
}

/* As nobody, with the nodes closed to others. */
static void test_no_permission(void)
{
	int status = 0;
	pid_t child;

	KTAP_REQUIRE(make_picture(&kinds[10], 83, 61));
	KTAP_REQUIRE(run("chmod 777 " DIR_NAME " " DIR_NAME "/out; chmod 600 /dev/dri/renderD*") ==
		     0);
	child = fork();
	if (!child) {
		if (setgid(65534) || setuid(65534))
			_exit(99);
		_exit(system("photo " IN " " OUT " 2>" DIR_NAME "/said >/dev/null") == 1 << 8 &&
		      system("tsr-info 2>>" DIR_NAME "/said") == 1 << 8 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ktap_eq(status, 0);
	ktap_eq(run("cat " DIR_NAME "/said"), 0);
	ktap_ok(strstr(text, "photo: cannot open /dev/dri/renderD"));
	ktap_ok(strstr(text, "tsr-info: cannot open /dev/dri/renderD"));
	ktap_ok(strstr(text, "Permission denied"));
	ktap_ok(out_is_clean(false));
}

static void test_tools(void)
{
	ktap_eq(run("tsr-info"), 0);
	ktap_ok(strstr(text, "Tessera 1."));
	ktap_ok(strstr(text, "COPY: "));
	ktap_ok(strstr(text, "64 MiB, "));
	ktap_eq(run("tsr-info --json --device /dev/dri/card0"), 0);
	ktap_ok(strstr(text, "\"local_size\": 67108864"));
	ktap_eq(run("tsr-info --device /dev/null 2>&1"), 1);
	ktap_eq(run("tsr-info --nonsense 2>&1"), 2);
	ktap_eq(run("tsr-info extra 2>&1"), 2);
	ktap_eq(run("tsr-info --help"), 0);
	ktap_eq(run("hello"), 0);
	ktap_ok(!strcmp(text, "ff332211\n"));
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	if (run("rm -rf " DIR_NAME " && mkdir -p " DIR_NAME "/out"))
		gt_die("cannot make " DIR_NAME);
	ktap_run("[SYS8] photo: every kind of PNG comes out bit-equal", test_kinds);
	ktap_run("[SYS8] photo: odd sizes", test_sizes);
	ktap_run("[SYS8] photo: more than a megapixel", test_large);
	ktap_run("[MEM1] photo: the shared buffer in local memory, 16 bits a sample", test_local);
	ktap_run("[SYS8] [TEX8] photo: compressed textures, decoded by the GPU", test_textures);
	ktap_run("[SYS8] photo: broken and hostile files", test_hostile);
	ktap_run("[SYS8] photo: broken surroundings", test_surroundings);
	ktap_run("[SYS3] photo and tsr-info without permission", test_no_permission);
	ktap_run("[SYS8] tsr-info and the guide's program", test_tools);
	return gt_finish();
}
