/* SPDX-License-Identifier: MIT */
/*
 * Copies between textures: each picture must be what the program computes itself. A copy without
 * scaling and conversion is a job of the COPY engine, so the cases vary all that decides it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl.h"

#define SIDE 80		/* no multiple of a tile */

static uint8_t picture[SIDE * SIDE * 4], expected[SIDE * SIDE * 4];

/* Texel (x, y) of a picture of its own for each seed. */
static void texel(unsigned int seed, int x, int y, uint8_t out[4])
{
	out[0] = (uint8_t)(x * 3 + seed * 37);
	out[1] = (uint8_t)(y * 5 + seed * 11);
	out[2] = (uint8_t)(x ^ y);
	out[3] = (uint8_t)(200 - x + y / 2);
}

static void fill(unsigned int seed, uint8_t *out)
{
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
			texel(seed, x, y, out + (y * SIDE + x) * 4);
}

/* A framebuffer with a texture of RGBA8's kind that holds the picture; 0: of zeros. */
static GLuint painted(GLenum format, unsigned int seed, GLuint *texture)
{
	GLuint names[2];

	memset(picture, 0, sizeof(picture));
	if (seed)
		fill(seed, picture);
	glGenFramebuffers(1, &names[0]);
	glBindFramebuffer(GL_FRAMEBUFFER, names[0]);
	glGenTextures(1, &names[1]);
	glBindTexture(GL_TEXTURE_2D, names[1]);
	glTexStorage2D(GL_TEXTURE_2D, 1, format, SIDE, SIDE);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, picture);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, names[1], 0);
	if (texture)
		*texture = names[1];
	return names[0];
}

/* The color target holds the expected picture. */
static void compare(GLuint framebuffer, int tolerance)
{
	glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
	glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, picture);
	gl_no_error();
	for (int i = 0; i < SIDE * SIDE * 4; i++) {
		if (abs(picture[i] - expected[i]) > tolerance) {
			gl_fail("component %d of pixel (%d, %d) is %d, expected %d", i % 4,
				i / 4 % SIDE, i / 4 / SIDE, picture[i], expected[i]);
			return;
		}
	}
}

static void blit(GLuint from, GLuint to, const int *s, const int *d, GLbitfield mask)
{
	glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
	glBlitFramebuffer(s[0], s[1], s[2], s[3], d[0], d[1], d[2], d[3], mask, GL_NEAREST);
}

/* ---- Rectangles ------------------------------------------------------------------------------ */

struct rect_case {
	const char *name;
	int s[4], d[4];			/* x0, y0, x1, y1 of source and target */
	int scissor[4];			/* x, y, width, height; width 0: none */
};

/* Change the expected picture as a blit without scaling changes the target. */
static void expect_rect(const struct rect_case *c, unsigned int seed)
{
	const int *s = c->s, *d = c->d, *k = c->scissor;
	const int width = abs(d[2] - d[0]), height = abs(d[3] - d[1]);
	const int x0 = d[0] < d[2] ? d[0] : d[2], y0 = d[1] < d[3] ? d[1] : d[3];
	const int left = s[0] < s[2] ? s[0] : s[2], low = s[1] < s[3] ? s[1] : s[3];
	const int flip_x = (s[0] < s[2]) != (d[0] < d[2]);
	const int flip_y = (s[1] < s[3]) != (d[1] < d[3]);

	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++) {
			const int fx = left + (flip_x ? width - 1 - x : x);
			const int fy = low + (flip_y ? height - 1 - y : y);
			const int tx = x0 + x, ty = y0 + y;

			if (k[2] && (tx < k[0] || ty < k[1] || tx >= k[0] + k[2] ||
				     ty >= k[1] + k[3]))
				continue;
			if (fx < 0 || fy < 0 || fx >= SIDE || fy >= SIDE || tx < 0 || ty < 0 ||
			    tx >= SIDE || ty >= SIDE)
				continue;
			texel(seed, fx, fy, expected + (ty * SIDE + tx) * 4);
		}
}

static void rectangles(void)
{
	static const struct rect_case cases[] = {
		{ "all of it", { 0, 0, SIDE, SIDE }, { 0, 0, SIDE, SIDE }, { 0 } },
		{ "a part, to another place", { 3, 5, 40, 33 }, { 21, 30, 58, 58 }, { 0 } },
		{ "turned left to right", { 40, 5, 3, 33 }, { 21, 30, 58, 58 }, { 0 } },
		{ "turned upside down", { 3, 5, 40, 33 }, { 21, 58, 58, 30 }, { 0 } },
		{ "turned by half", { 3, 5, 40, 33 }, { 58, 58, 21, 30 }, { 0 } },
		{ "with a scissor", { 0, 0, SIDE, SIDE }, { 0, 0, SIDE, SIDE }, { 7, 9, 30, 41 } },
		{ "with a scissor across the edge", { 3, 5, 40, 33 }, { 21, 30, 58, 58 },
		  { 10, 40, 20, 100 } },
		{ "turned, with a scissor", { 3, 5, 40, 33 }, { 58, 58, 21, 30 },
		  { 25, 33, 20, 10 } },
		{ "with a scissor beside it", { 3, 5, 20, 20 }, { 3, 5, 20, 20 },
		  { 50, 50, 9, 9 } },
		{ "over the edges", { -10, -10, 60, 60 }, { 30, 40, 100, 110 }, { 0 } },
		{ "over the edges, turned", { -10, -10, 60, 60 }, { 100, 110, 30, 40 }, { 0 } },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct rect_case *c = &cases[i];
		GLuint from, to;

		gl_case(cases[i].name);
		from = painted(GL_RGBA8, 1, NULL);
		to = painted(GL_RGBA8, 2, NULL);
		fill(2, expected);
		expect_rect(c, 1);
		if (c->scissor[2])
			glEnable(GL_SCISSOR_TEST);
		glScissor(c->scissor[0], c->scissor[1], c->scissor[2], c->scissor[3]);
		blit(from, to, c->s, c->d, GL_COLOR_BUFFER_BIT);
		glDisable(GL_SCISSOR_TEST);
		compare(to, 0);
	}
}

/* ---- Formats --------------------------------------------------------------------------------- */

static const int whole[4] = { 0, 0, SIDE, SIDE };

static double to_linear(int value)
{
	const double v = value / 255.0;
	double low = 0, high = 1, middle = 0;

	/* the curve's inverse by halving: u <= 0.0031308 ? 12.92 u : 1.055 u^(1/2.4) - 0.055 */
	if (v <= 0.04045)
		return v / 12.92;
	for (int i = 0; i < 40; i++) {
		double x = (v + 0.055) / 1.055, y, p;

		middle = (low + high) / 2;
		/* middle^5 < x^12 where middle = x^2.4 */
		y = middle * middle * middle * middle * middle;
		p = x * x * x;
		p = p * p * p * p;
		if (y < p)
			low = middle;
		else
			high = middle;
	}
	return middle;
}

/* From sRGB to linear a blit converts, though the texels have the same size. */
static void srgb(void)
{
	GLuint from, to;

	gl_case("from sRGB to linear: it converts");
	from = painted(GL_SRGB8_ALPHA8, 1, NULL);
	to = painted(GL_RGBA8, 2, NULL);
	fill(1, expected);
	for (int i = 0; i < SIDE * SIDE * 4; i++) {
		if (i % 4 != 3)
			expected[i] = (uint8_t)(to_linear(expected[i]) * 255 + 0.5);
	}
	blit(from, to, whole, whole, GL_COLOR_BUFFER_BIT);
	compare(to, 1);

	gl_case("from sRGB to sRGB: it does not");
	to = painted(GL_SRGB8_ALPHA8, 2, NULL);
	fill(1, expected);
	blit(from, to, whole, whole, GL_COLOR_BUFFER_BIT);
	compare(to, 0);
}

static GLuint storage(GLenum format, int samples)
{
	GLuint names[2];

	glGenFramebuffers(1, &names[0]);
	glBindFramebuffer(GL_FRAMEBUFFER, names[0]);
	glGenRenderbuffers(1, &names[1]);
	glBindRenderbuffer(GL_RENDERBUFFER, names[1]);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, SIDE, SIDE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, names[1]);
	return names[0];
}

/* By way of another format and back. */
static void formats(void)
{
	static const struct {
		const char *name;
		GLenum format;
		int bits;	/* of red, green and blue */
		int alpha;	/* likewise */
	} rows[] = {
		{ "RGBA16F and back", GL_RGBA16F, 8, 8 },
		{ "RGB10_A2 and back", GL_RGB10_A2, 8, 2 },
		{ "RGB8 and back: alpha is 1", GL_RGB8, 8, 0 },
		{ "RGB565 and back", GL_RGB565, 5, 0 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		GLuint from, between, to;

		gl_case(rows[i].name);
		from = painted(GL_RGBA8, 1, NULL);
		between = storage(rows[i].format, 0);
		to = painted(GL_RGBA8, 2, NULL);
		fill(1, expected);
		for (int p = 0; p < SIDE * SIDE; p++) {
			if (!rows[i].alpha)
				expected[p * 4 + 3] = 255;
			else if (rows[i].alpha == 2)
				expected[p * 4 + 3] =
					(uint8_t)((expected[p * 4 + 3] * 3 + 127) / 255 * 85);
		}
		blit(from, between, whole, whole, GL_COLOR_BUFFER_BIT);
		blit(between, to, whole, whole, GL_COLOR_BUFFER_BIT);
		compare(to, rows[i].bits == 8 ? 0 : 8);
	}
}

/* Integers, also of eight and sixteen bytes. */
static void integers(void)
{
	static const struct {
		const char *name;
		GLenum format;
	} rows[] = { { "RGBA8UI", GL_RGBA8UI }, { "RGBA16UI", GL_RGBA16UI },
		     { "RGBA32UI", GL_RGBA32UI } };
	static GLuint words[SIDE * SIDE * 4];

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const GLuint values[4] = { 1, 250, 3, 77 }, others[4] = { 9, 8, 7, 6 };
		const int s[4] = { 1, 2, 50, 60 }, d[4] = { 20, 10, 69, 68 };
		GLuint from, to;

		gl_case(rows[i].name);
		from = storage(rows[i].format, 0);
		glClearBufferuiv(GL_COLOR, 0, others);
		glEnable(GL_SCISSOR_TEST);
		glScissor(10, 12, 20, 20);
		glClearBufferuiv(GL_COLOR, 0, values);
		glDisable(GL_SCISSOR_TEST);
		to = storage(rows[i].format, 0);
		glClearBufferuiv(GL_COLOR, 0, (const GLuint[4]){ 0 });
		blit(from, to, s, d, GL_COLOR_BUFFER_BIT);
		glBindFramebuffer(GL_READ_FRAMEBUFFER, to);
		glReadPixels(0, 0, SIDE, SIDE, GL_RGBA_INTEGER, GL_UNSIGNED_INT, words);
		gl_no_error();
		for (int p = 0; p < SIDE * SIDE; p++) {
			const int x = p % SIDE - 19, y = p / SIDE - 8;
			const int in = x >= 1 && x < 50 && y >= 2 && y < 60;
			const int box = x >= 10 && x < 30 && y >= 12 && y < 32;
			const GLuint wanted = !in ? 0 : box ? 250 : 8;

			if (words[p * 4 + 1] != wanted) {
				gl_fail("green of (%d, %d) is %u, expected %u", p % SIDE, p / SIDE,
					words[p * 4 + 1], wanted);
				break;
			}
		}
	}
}

/* ---- Levels and layers ----------------------------------------------------------------------- */

#define LAYERS 6

/* A texture of three levels, each layer with a color that names it: (level, layer, seed). */
static GLuint levels(GLenum target, unsigned int seed)
{
	static uint8_t layer[SIDE * SIDE * 4];
	GLuint name;

	glGenTextures(1, &name);
	glBindTexture(target, name);
	if (target == GL_TEXTURE_CUBE_MAP)
		glTexStorage2D(target, 3, GL_RGBA8, SIDE, SIDE);
	else
		glTexStorage3D(target, 3, GL_RGBA8, SIDE, SIDE, LAYERS);
	for (int l = 0; l < 3; l++) {
		const int side = SIDE >> l, depth = target == GL_TEXTURE_3D ? LAYERS >> l : LAYERS;

		for (int z = 0; z < depth; z++) {
			for (int i = 0; i < side * side; i++) {
				const uint8_t color[4] = { (uint8_t)(50 * l), (uint8_t)(20 * z),
							   (uint8_t)seed, (uint8_t)i };

				memcpy(layer + i * 4, color, 4);
			}
			if (target == GL_TEXTURE_CUBE_MAP)
				glTexSubImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)z, l, 0, 0,
						side, side, GL_RGBA, GL_UNSIGNED_BYTE, layer);
			else
				glTexSubImage3D(target, l, 0, 0, z, side, side, 1, GL_RGBA,
						GL_UNSIGNED_BYTE, layer);
		}
	}
	return name;
}

static void attach(GLenum which, GLenum target, GLuint texture, int level, int layer)
{
	if (target == GL_TEXTURE_CUBE_MAP)
		glFramebufferTexture2D(which, GL_COLOR_ATTACHMENT0,
				       GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)layer, texture,
				       level);
	else
		glFramebufferTextureLayer(which, GL_COLOR_ATTACHMENT0, texture, level, layer);
}

static void expect_color(int level, int layer, int seed, int side)
{
	static uint8_t got[SIDE * SIDE * 4];

	glReadPixels(0, 0, side, side, GL_RGBA, GL_UNSIGNED_BYTE, got);
	for (int i = 0; i < side * side; i++) {
		const uint8_t *p = got + i * 4;

		if (p[0] != 50 * level || p[1] != 20 * layer || p[2] != seed) {
			gl_fail("pixel %d is %d %d %d, expected %d %d %d", i, p[0], p[1], p[2],
				50 * level, 20 * layer, seed);
			return;
		}
	}
}

/* A blit changes one level and layer, and not those beside it. All pairs of kinds are tried. */
static void layers(void)
{
	static const GLenum kinds[3] = { GL_TEXTURE_2D_ARRAY, GL_TEXTURE_3D, GL_TEXTURE_CUBE_MAP };
	static const char *const names[3] = { "an array", "a volume", "a cube" };
	static char name[9][64];
	GLuint framebuffer[2];

	glGenFramebuffers(2, framebuffer);
	for (int i = 0; i < 9; i++) {
		const GLenum from = kinds[i / 3], to = kinds[i % 3];
		const int all[4] = { 0, 0, SIDE / 2, SIDE / 2 };
		GLuint source, target;

		snprintf(name[i], sizeof(name[i]), "a level and layer from %s to %s", names[i / 3],
			 names[i % 3]);
		gl_case(name[i]);
		source = levels(from, 1);
		target = levels(to, 2);
		glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer[0]);
		attach(GL_READ_FRAMEBUFFER, from, source, 1, 2);
		glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer[1]);
		attach(GL_DRAW_FRAMEBUFFER, to, target, 1, 1);
		blit(framebuffer[0], framebuffer[1], all, all, GL_COLOR_BUFFER_BIT);
		glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer[0]);
		attach(GL_READ_FRAMEBUFFER, to, target, 1, 1);
		expect_color(1, 2, 1, SIDE / 2);
		attach(GL_READ_FRAMEBUFFER, to, target, 1, 0);
		expect_color(1, 0, 2, SIDE / 2);
		attach(GL_READ_FRAMEBUFFER, to, target, 1, 2);
		expect_color(1, 2, 2, SIDE / 2);
		attach(GL_READ_FRAMEBUFFER, to, target, 0, 1);
		expect_color(0, 1, 2, SIDE);
		attach(GL_READ_FRAMEBUFFER, to, target, 2, to == GL_TEXTURE_3D ? 0 : 1);
		expect_color(2, to == GL_TEXTURE_3D ? 0 : 1, 2, SIDE / 4);
		gl_no_error();
	}
}

/* Several layers at once, from one level to another of the same size. */
static void copy_image_layers(void)
{
	GLuint source, target, framebuffer;

	gl_case("glCopyImageSubData of three slices to layers");
	source = levels(GL_TEXTURE_3D, 1);
	target = levels(GL_TEXTURE_2D_ARRAY, 2);
	glCopyImageSubData(source, GL_TEXTURE_3D, 0, 4, 5, 2, target, GL_TEXTURE_2D_ARRAY, 0, 9, 3,
			   1, 30, 31, 3);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	for (int z = 0; z < 5; z++) {
		const int copied = z >= 1 && z <= 3;

		attach(GL_FRAMEBUFFER, GL_TEXTURE_2D_ARRAY, target, 0, z);
		gl_expect(10, 4, 0, 20 * (copied ? z + 1 : z), copied ? 1 : 2,
			  (copied ? 6 * SIDE + 5 : 4 * SIDE + 10) % 256, 0);
		gl_expect(8, 4, 0, 20 * z, 2, (4 * SIDE + 8) % 256, 0);
		gl_expect(39, 4, 0, 20 * z, 2, (4 * SIDE + 39) % 256, 0);
		gl_expect(10, 34, 0, 20 * z, 2, (34 * SIDE + 10) % 256, 0);
	}
	gl_no_error();
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* Texels of another kind of the same size: the bits are what is copied, NaN and -0 included. */
static void copy_image_bits(void)
{
	static const GLuint bits[4] = { 0x7fc01234, 0x80000000, 0xffffffff, 0x3f800000 };
	GLuint names[2], framebuffer, got[4] = { 0 };

	gl_case("glCopyImageSubData from R32F to RGBA8UI keeps the bits");
	glGenTextures(2, names);
	glBindTexture(GL_TEXTURE_2D, names[0]);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32F, 4, 1);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 4, 1, GL_RED, GL_FLOAT, bits);
	glBindTexture(GL_TEXTURE_2D, names[1]);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, 4, 1);
	glCopyImageSubData(names[0], GL_TEXTURE_2D, 0, 0, 0, 0, names[1], GL_TEXTURE_2D, 0, 0, 0, 0,
			   4, 1, 1);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, names[1], 0);
	for (int x = 0; x < 4; x++) {
		GLuint four[4] = { 0 };

		glReadPixels(x, 0, 1, 1, GL_RGBA_INTEGER, GL_UNSIGNED_INT, four);
		got[x] = four[0];
	}
	if (memcmp(got, bits, sizeof(bits)))
		gl_fail("%08x %08x %08x %08x", got[0], got[1], got[2], got[3]);
	gl_no_error();
}

/* Blocks of 16 bytes are texels of 16 bytes. */
static void copy_image_blocks(void)
{
	static uint8_t blocks[16 * 16];
	GLuint names[2], framebuffer, got[4 * 9];
	const GLenum format = GL_COMPRESSED_RGBA8_ETC2_EAC;

	gl_case("glCopyImageSubData from ETC2 blocks to RGBA32UI texels");
	for (int i = 0; i < 256; i++)
		blocks[i] = (uint8_t)(i * 7 + 3);
	glGenTextures(2, names);
	glBindTexture(GL_TEXTURE_2D, names[0]);
	glTexStorage2D(GL_TEXTURE_2D, 1, format, 16, 16);
	glCompressedTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 16, 16, format, sizeof(blocks), blocks);
	glBindTexture(GL_TEXTURE_2D, names[1]);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA32UI, 8, 8);
	glCopyImageSubData(names[0], GL_TEXTURE_2D, 0, 4, 4, 0, names[1], GL_TEXTURE_2D, 0, 2, 3, 0,
			   12, 12, 1);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, names[1], 0);
	glReadPixels(2, 3, 3, 3, GL_RGBA_INTEGER, GL_UNSIGNED_INT, got);
	for (int i = 0; i < 9; i++) {
		const uint8_t *block = blocks + ((1 + i / 3) * 4 + 1 + i % 3) * 16;

		if (memcmp(got + 4 * i, block, 16)) {
			gl_fail("block %d is %08x.., not %02x%02x%02x%02x", i, got[4 * i], block[3],
				block[2], block[1], block[0]);
			break;
		}
	}
	gl_no_error();
}

/* ---- Order ----------------------------------------------------------------------------------- */

static const char vs[] =
	"#version 300 es\n"
	"in vec4 position; out vec2 at;"
	"void main() { gl_Position = position; at = position.xy * 0.5 + 0.5; }";
static const char image_fs[] =
	"#version 300 es\nprecision highp float; uniform sampler2D image; in vec2 at; out vec4 c;"
	"void main() { c = texture(image, at); }";

static void clear_to(float red, float green, float blue)
{
	glClearColor(red, green, blue, 1);
	glClear(GL_COLOR_BUFFER_BIT);
}

/* Draws and copies of the same textures happen in the order of the calls. */
static void order(void)
{
	GLuint a, b, c, b_texture;

	gl_case("copies before, between and behind draws of the same textures");
	a = painted(GL_RGBA8, 0, NULL);
	b = painted(GL_RGBA8, 0, &b_texture);
	c = painted(GL_RGBA8, 0, NULL);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glBindTexture(GL_TEXTURE_2D, b_texture);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	gl_program(vs, image_fs);
	glViewport(0, 0, SIDE, SIDE);
	glBindFramebuffer(GL_FRAMEBUFFER, a);
	clear_to(1, 0, 0);
	blit(a, b, whole, whole, GL_COLOR_BUFFER_BIT);	/* b is red */
	glBindFramebuffer(GL_FRAMEBUFFER, a);
	clear_to(0, 1, 0);
	glBindFramebuffer(GL_FRAMEBUFFER, c);
	clear_to(0, 0, 1);
	gl_rect(-1, -1, 0, 1, 0);			/* the left half of c is red */
	blit(a, b, whole, whole, GL_COLOR_BUFFER_BIT);	/* b is green */
	glBindFramebuffer(GL_FRAMEBUFFER, c);
	gl_rect(0, -1, 0.5f, 1, 0);			/* a quarter of c is green */
	blit(c, a, whole, whole, GL_COLOR_BUFFER_BIT);
	glBindFramebuffer(GL_FRAMEBUFFER, a);
	gl_expect(10, 10, 255, 0, 0, 255, 0);
	gl_expect(50, 10, 0, 255, 0, 255, 0);
	gl_expect(70, 10, 0, 0, 255, 255, 0);
	gl_rect(0.5f, -1, 1, 0, 0);			/* over what was copied */
	gl_expect(70, 10, 0, 255, 0, 255, 0);
	gl_expect(70, 70, 0, 0, 255, 255, 0);
	gl_no_error();

	gl_case("a chain of copies without a draw");
	a = painted(GL_RGBA8, 1, NULL);
	b = painted(GL_RGBA8, 2, NULL);
	c = painted(GL_RGBA8, 3, NULL);
	blit(a, b, whole, whole, GL_COLOR_BUFFER_BIT);
	blit(b, c, whole, whole, GL_COLOR_BUFFER_BIT);
	blit(storage(GL_RGBA8, 0), a, whole, whole, GL_COLOR_BUFFER_BIT);
	fill(1, expected);
	compare(c, 0);
	compare(b, 0);
}

int main(void)
{
	gl_open(3, 2);
	rectangles();
	srgb();
	formats();
	integers();
	layers();
	copy_image_layers();
	copy_image_bits();
	copy_image_blocks();
	order();
	return gl_close();
}
