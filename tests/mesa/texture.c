/* SPDX-License-Identifier: MIT */
/* Textures: formats, filters, wrap modes, levels, cubes, and what was drawn before. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gl.h"

#define SIDE 64

static const char vs[] =
	"attribute vec4 position; varying vec2 at; uniform vec4 map;"
	"void main() { gl_Position = position; at = (position.xy * 0.5 + 0.5) * map.xy + map.zw; }";
static const char fs[] =
	"precision highp float; varying vec2 at; uniform sampler2D image;"
	"void main() { gl_FragColor = texture2D(image, at); }";

static GLuint texture(GLenum format, GLenum type, int width, int height, const void *texels)
{
	GLuint name;

	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, width, height, 0, format, type, texels);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	return name;
}

static void map(GLuint program, float sx, float sy, float x, float y)
{
	glUniform4f(glGetUniformLocation(program, "map"), sx, sy, x, y);
}

static void formats(GLuint program)
{
	static const uint8_t bytes[] = { 10, 20, 30, 40 };
	static const uint16_t b565 = 0x8410 | 31, b4444 = 0x48cf, b5551 = 0x8421;
	static const struct {
		const char *name;
		GLenum format, type;
		const void *texel;
		int r, g, b, a;
	} rows[] = {
		{ "RGBA8", GL_RGBA, GL_UNSIGNED_BYTE, bytes, 10, 20, 30, 40 },
		{ "RGB8", GL_RGB, GL_UNSIGNED_BYTE, bytes, 10, 20, 30, 255 },
		{ "alpha", GL_ALPHA, GL_UNSIGNED_BYTE, bytes, 0, 0, 0, 10 },
		{ "luminance", GL_LUMINANCE, GL_UNSIGNED_BYTE, bytes, 10, 10, 10, 255 },
		{ "luminance and alpha", GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, bytes, 10, 10, 10,
		  20 },
		{ "565", GL_RGB, GL_UNSIGNED_SHORT_5_6_5, &b565, 132, 130, 255, 255 },
		{ "4444", GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, &b4444, 68, 136, 204, 255 },
		{ "5551", GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, &b5551, 132, 132, 132, 255 },
	};
	static char names[8][64];

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(names[i], sizeof(names[i]), "a texture of format %s", rows[i].name);
		gl_case(names[i]);
		texture(rows[i].format, rows[i].type, 1, 1, rows[i].texel);
		map(program, 1, 1, 0, 0);
		gl_rect(-1, -1, 1, 1, 0);
		gl_expect(30, 30, rows[i].r, rows[i].g, rows[i].b, rows[i].a, 1);
	}
}

static void filters(GLuint program)
{
	static const uint8_t two[] = { 0, 0, 0, 255, 255, 255, 255, 255 };

	gl_case("nearest and linear filters");
	texture(GL_RGBA, GL_UNSIGNED_BYTE, 2, 1, two);
	map(program, 1, 1, 0, 0);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(31, 5, 0, 0, 0, 255, 0);
	gl_expect(32, 5, 255, 255, 255, 255, 0);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(0, 5, 0, 0, 0, 255, 0);
	gl_expect(63, 5, 255, 255, 255, 255, 0);
	/* texel centers are at 16 and 48 */
	gl_expect(32, 5, 130, 130, 130, 255, 2);
	gl_expect(24, 5, 68, 68, 68, 255, 2);

	gl_case("wrap modes");
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
	map(program, 4, 1, -1, 0);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(4, 5, 0, 0, 0, 255, 0);
	gl_expect(12, 5, 255, 255, 255, 255, 0);
	gl_expect(20, 5, 0, 0, 0, 255, 0);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_MIRRORED_REPEAT);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(4, 5, 255, 255, 255, 255, 0);
	gl_expect(12, 5, 0, 0, 0, 255, 0);
	gl_expect(20, 5, 0, 0, 0, 255, 0);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(4, 5, 0, 0, 0, 255, 0);
	gl_expect(60, 5, 255, 255, 255, 255, 0);
}

/* A texture without levels that is made smaller has the other filter all the same. */
static void smaller(GLuint program)
{
	static const uint8_t two[] = { 0, 0, 0, 255, 255, 255, 255, 255 };

	gl_case("the filter of what is made smaller, without levels");
	texture(GL_RGBA, GL_UNSIGNED_BYTE, 2, 1, two);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
	/* 1.27 texels a pixel; pixel 20 is at texel 1.95, whose middle is at 1.5 */
	map(program, 40.5f, 1, 0, 0);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(20, 5, 255, 255, 255, 255, 0);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(20, 5, 141, 141, 141, 255, 3);
}

static void levels(GLuint program)
{
	static uint8_t texels[64 * 64 * 4];

	gl_case("levels are chosen by size, and mixed");
	texture(GL_RGBA, GL_UNSIGNED_BYTE, 64, 64, texels);
	for (int level = 0; level < 7; level++) {
		memset(texels, 30 * level, sizeof(texels));
		glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA, 64 >> level, 64 >> level, 0, GL_RGBA,
			     GL_UNSIGNED_BYTE, texels);
	}
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
	for (int level = 0; level < 4; level++) {
		map(program, (float)(1 << level), (float)(1 << level), 0, 0);
		gl_rect(-1, -1, 1, 1, 0);
		gl_expect(40, 40, 30 * level, 30 * level, 30 * level, 30 * level, 0);
	}
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
	map(program, 2.8284271f, 2.8284271f, 0, 0);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(40, 40, 45, 45, 45, 45, 2);

	gl_case("levels that the driver makes");
	for (int i = 0; i < 64 * 64; i++)
		memset(texels + 4 * i, (i ^ i / 64) & 1 ? 200 : 100, 4);
	texture(GL_RGBA, GL_UNSIGNED_BYTE, 64, 64, texels);
	glGenerateMipmap(GL_TEXTURE_2D);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
	map(program, 2, 2, 0, 0);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(20, 20, 150, 150, 150, 150, 1);
}

static void cube(void)
{
	static const char cube_fs[] =
		"precision highp float; varying vec2 at; uniform samplerCube image; uniform vec3 "
		"way;"
		"void main() { gl_FragColor = textureCube(image, way + vec3(at * 0.01, 0.0)); }";
	static const float ways[6][3] = { { 1, 0, 0 },	{ -1, 0, 0 }, { 0, 1, 0 },
					  { 0, -1, 0 }, { 0, 0, 1 },  { 0, 0, -1 } };
	GLuint program = gl_program(vs, cube_fs), name;
	uint8_t texel[4 * 4 * 4];

	gl_case("faces of a cube");
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_CUBE_MAP, name);
	for (int face = 0; face < 6; face++) {
		memset(texel, 40 * (face + 1), sizeof(texel));
		glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, 0, GL_RGBA, 4, 4, 0,
			     GL_RGBA, GL_UNSIGNED_BYTE, texel);
	}
	glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	map(program, 1, 1, 0, 0);
	for (int face = 0; face < 6; face++) {
		glUniform3fv(glGetUniformLocation(program, "way"), 1, ways[face]);
		gl_rect(-1, -1, 1, 1, 0);
		gl_expect(30, 30, 40 * (face + 1), 40 * (face + 1), 40 * (face + 1),
			  40 * (face + 1), 0);
	}
	glUseProgram(0);
}

/* A picture that was drawn is sampled, and the one it came from drawn again. */
static void ping_pong(GLuint program)
{
	GLuint target[2], fb[2];
	GLint bound;

	gl_case("what was drawn is sampled, a hundred times");
	for (int i = 0; i < 2; i++) {
		target[i] = gl_target(SIDE, SIDE, GL_RGBA);
		glGetIntegerv(GL_FRAMEBUFFER_BINDING, &bound);
		fb[i] = (GLuint)bound;
	}
	glBindFramebuffer(GL_FRAMEBUFFER, fb[0]);
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	glEnable(GL_SCISSOR_TEST);
	glScissor(0, 0, 1, 1);
	glClearColor(1, 0, 1, 0.5f);
	glClear(GL_COLOR_BUFFER_BIT);
	glDisable(GL_SCISSOR_TEST);
	glUseProgram(program);
	/* each time a pixel further */
	map(program, 1, 1, -1.0f / SIDE, 0);
	for (int i = 0; i < 100; i++) {
		glBindFramebuffer(GL_FRAMEBUFFER, fb[1 - i % 2]);
		glBindTexture(GL_TEXTURE_2D, target[i % 2]);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
		gl_rect(-1, -1, 1, 1, 0);
	}
	gl_expect(100 % SIDE, 0, 255, 0, 255, 128, 1);
	gl_expect(100 % SIDE + 1, 0, 0, 0, 0, 0, 0);
	gl_expect(100 % SIDE - 1, 0, 0, 0, 0, 0, 0);
}

static void updates(GLuint program)
{
	uint8_t texel[4];
	int i;

	gl_case("a texture that changes between draws");
	gl_target(SIDE, SIDE, GL_RGBA);
	memset(texel, 0, 4);
	texture(GL_RGBA, GL_UNSIGNED_BYTE, 1, 1, texel);
	map(program, 1, 1, 0, 0);
	for (i = 0; i < 8; i++) {
		memset(texel, 30 * i, 4);
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, texel);
		gl_rect(-1 + 0.25f * (float)i, -1, -0.75f + 0.25f * (float)i, 1, 0);
	}
	for (i = 0; i < 8; i++)
		gl_expect(8 * i + 4, 9, 30 * i, 30 * i, 30 * i, 30 * i, 0);
}

int main(void)
{
	GLuint program;

	gl_open(2, 0);
	program = gl_program(vs, fs);
	gl_target(SIDE, SIDE, GL_RGBA);
	formats(program);
	filters(program);
	smaller(program);
	levels(program);
	cube();
	ping_pong(program);
	updates(program);
	return gl_close();
}
