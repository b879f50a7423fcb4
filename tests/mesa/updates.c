/* SPDX-License-Identifier: MIT */
/*
 * Buffers and textures that change between the draws of a frame: each draw sees what was there when
 * it was called, and the next one what has changed. Sizes vary because the driver has several ways.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl.h"

#define SIDE 64
#define DRAWS 64		/* a column of pixels each */

static const char vs[] =
	"#version 310 es\nlayout(location = 0) in vec4 position;"
	"void main() { gl_Position = position; }";
static const char block_fs[] =
	"#version 310 es\nprecision highp float; out vec4 c; uniform uint at;"
	"layout(std140, binding = 0) uniform Block { vec4 values[1024]; };"
	"void main() { c = values[at]; }";
static const char image_vs[] =
	"#version 310 es\nlayout(location = 0) in vec4 position; out highp vec2 at;"
	"void main() { gl_Position = position; at = position.xy * 0.5 + 0.5; }";
static const char image_fs[] =
	"#version 310 es\nprecision highp float; out vec4 c; in vec2 at;"
	"uniform sampler2D image; uniform vec2 place;"
	"void main() { c = texture(image, place); }";
static const char double_cs[] =
	"#version 310 es\nlayout(local_size_x = 64) in;"
	"layout(std430, binding = 0) buffer Numbers { uint n[]; };"
	"void main() { n[gl_GlobalInvocationID.x] *= 2u; }";

static GLuint buffer(GLenum target, GLsizeiptr size, const void *data)
{
	GLuint name;

	glGenBuffers(1, &name);
	glBindBuffer(target, name);
	glBufferData(target, size, data, GL_DYNAMIC_DRAW);
	return name;
}

/*
 * Vertices of all columns. gl_rect() has new vertices for each draw; here nothing but what a case
 * changes may be different from the draw before.
 */
static void bind_columns(void)
{
	const float width = 2.0f / DRAWS;
	float corners[DRAWS * 8];
	GLuint array;

	for (int i = 0; i < DRAWS * 4; i++) {
		corners[2 * i] = (float)(i / 4 + (i & 1)) * width - 1;
		corners[2 * i + 1] = i & 2 ? 1 : -1;
	}
	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	buffer(GL_ARRAY_BUFFER, sizeof(corners), corners);
	glEnableVertexAttribArray(0);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 8, NULL);
}

static void column(int i)
{
	glDrawArrays(GL_TRIANGLE_STRIP, 4 * i, 4);
}

static void new_target(void)
{
	gl_target(SIDE, SIDE, GL_RGBA8);
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	bind_columns();
}

/* Column i has the color (i, 2 i, 255 - i). */
static void expect_columns(void)
{
	for (int i = 0; i < DRAWS; i++)
		gl_expect(i, 7, i, 2 * i, 255 - i, 255, 0);
	gl_no_error();
}

static void color_of(int i, float out[4])
{
	out[0] = (float)i / 255;
	out[1] = (float)(2 * i) / 255;
	out[2] = (float)(255 - i) / 255;
	out[3] = 1;
}

/* ---- Uniform buffers ------------------------------------------------------------------------- */

enum way { SUB_DATA, MAP_RANGE, MAP_FLUSHED, COPY, ORPHAN, WAYS };

static void write_value(enum way way, GLuint name, int index, int i, GLsizeiptr size)
{
	const GLintptr at = index * 16;
	const GLbitfield discard = GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT;
	float color[4], *map;
	GLuint source;

	color_of(i, color);
	glBindBuffer(GL_UNIFORM_BUFFER, name);
	switch (way) {
	case SUB_DATA:
		glBufferSubData(GL_UNIFORM_BUFFER, at, 16, color);
		break;
	case MAP_RANGE:
		map = glMapBufferRange(GL_UNIFORM_BUFFER, at, 16, discard);
		memcpy(map, color, 16);
		glUnmapBuffer(GL_UNIFORM_BUFFER);
		break;
	case MAP_FLUSHED:
		/* only the middle of what is mapped changes */
		map = glMapBufferRange(GL_UNIFORM_BUFFER, at - 16, 48,
				       discard | GL_MAP_FLUSH_EXPLICIT_BIT);
		memcpy(map + 4, color, 16);
		glFlushMappedBufferRange(GL_UNIFORM_BUFFER, 16, 16);
		glUnmapBuffer(GL_UNIFORM_BUFFER);
		break;
	case COPY:
		source = buffer(GL_COPY_READ_BUFFER, 16, color);
		glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_UNIFORM_BUFFER, 0, at, 16);
		glDeleteBuffers(1, &source);
		break;
	default:
		glBufferData(GL_UNIFORM_BUFFER, size, NULL, GL_DYNAMIC_DRAW);
		glBufferSubData(GL_UNIFORM_BUFFER, at, 16, color);
	}
}

/* The values beside the one that changes keep theirs. */
static void uniform_case(enum way way, GLsizeiptr size)
{
	static float values[1024][4];
	GLuint name, program = gl_program(vs, block_fs);
	const GLint at = glGetUniformLocation(program, "at");

	for (int i = 0; i < 1024; i++)
		color_of(i % 128, values[i]);
	new_target();
	name = buffer(GL_UNIFORM_BUFFER, size, NULL);
	glBufferSubData(GL_UNIFORM_BUFFER, 0, sizeof(values), values);
	glBindBufferRange(GL_UNIFORM_BUFFER, 0, name, 0, sizeof(values));
	glUniform1ui(at, 777);
	for (int i = 0; i < DRAWS; i++) {
		write_value(way, name, 777, i, size);
		column(i);
	}
	expect_columns();
	if (way == ORPHAN)
		return;
	for (int k = 776; k <= 778; k += 2) {
		glUniform1ui(at, (GLuint)k);
		column(0);
		gl_expect(0, 7, k % 128, 2 * (k % 128), 255 - k % 128, 255, 0);
	}
}

static void uniforms(void)
{
	static const char *const ways[WAYS] = { "glBufferSubData", "glMapBufferRange",
						"explicit flushes", "glCopyBufferSubData",
						"orphans" };
	static const int sizes[3] = { 16384, 65536, 700000 };
	static char name[WAYS * 3][80];

	for (int i = 0; i < WAYS * 3; i++) {
		snprintf(name[i], sizeof(name[i]), "a uniform buffer of %d bytes changes by %s",
			 sizes[i % 3], ways[i / 3]);
		gl_case(name[i]);
		uniform_case((enum way)(i / 3), sizes[i % 3]);
	}
}

/* Uniforms outside of blocks, of either shader alone or of both, with other states between. */
static void plain_uniforms(void)
{
	static const char place_vs[] =
		"#version 310 es\nlayout(location = 0) in vec4 position; uniform float x;"
		"void main() { gl_Position = position + vec4(x, 0, 0, 0); }";
	static const char plain_fs[] =
		"#version 310 es\nprecision highp float; uniform vec4 color; out vec4 c;"
		"void main() { c = color; }";
	GLuint program = gl_program(place_vs, plain_fs);
	const GLint x = glGetUniformLocation(program, "x");
	const GLint color = glGetUniformLocation(program, "color");
	float value[4];

	gl_case("plain uniforms change for one shader or both");
	new_target();
	for (int i = 0; i < DRAWS; i++) {
		if (i % 4 < 2) {
			color_of(i, value);
			glUniform4fv(color, 1, value);
		}
		if (i % 8 == 5)
			glEnable(GL_BLEND);	/* with ONE and ZERO: it changes nothing */
		glUniform1f(x, (float)i * 2 / DRAWS);
		column(0);
		glDisable(GL_BLEND);
	}
	for (int i = 0; i < DRAWS; i++) {
		const int shown = i % 4 < 2 ? i : i / 4 * 4 + 1;

		gl_expect(i, 7, shown, 2 * shown, 255 - shown, 255, 0);
	}
	/* the color alone */
	for (int i = 0; i < 3; i++) {
		color_of(70 + i, value);
		glUniform4fv(color, 1, value);
		column(0);
	}
	gl_expect(DRAWS - 1, 7, 72, 144, 183, 255, 0);
	gl_no_error();
}

/* ---- Vertices and indices -------------------------------------------------------------------- */

static const char color_vs[] =
	"#version 310 es\nlayout(location = 0) in vec4 position;"
	"layout(location = 1) in vec4 color;"
	"out vec4 value; void main() { gl_Position = position; value = color; }";
static const char color_fs[] =
	"#version 310 es\nprecision highp float; in vec4 value; out vec4 c;"
	"void main() { c = value; }";

/* Each draw's vertices are written into the same part, or after those of the draw before. */
static void vertex_case(GLsizeiptr size, int same)
{
	const float width = 2.0f / DRAWS;
	GLuint array;

	gl_program(color_vs, color_fs);
	new_target();
	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	buffer(GL_ARRAY_BUFFER, size, NULL);
	for (int i = 0; i < 2; i++) {
		glEnableVertexAttribArray((GLuint)i);
		glVertexAttribPointer((GLuint)i, 4, GL_FLOAT, GL_FALSE, 32,
				      (void *)(intptr_t)(16 * i));
	}
	for (int i = 0; i < DRAWS; i++) {
		const int first = same ? 0 : 4 * i;
		float v[4][8];

		for (int k = 0; k < 4; k++) {
			v[k][0] = (float)(i + (k & 1)) * width - 1;
			v[k][1] = k & 2 ? 1 : -1;
			v[k][2] = 0;
			v[k][3] = 1;
			color_of(i, v[k] + 4);
		}
		glBufferSubData(GL_ARRAY_BUFFER, first * 32, sizeof(v), v);
		glDrawArrays(GL_TRIANGLE_STRIP, first, 4);
	}
	expect_columns();
	glBindVertexArray(0);
}

/* The driver reads indices to count primitives, right after a copy that the GPU has yet to do. */
static void counted_indices(void)
{
	enum { COUNT = 100000 };
	static GLushort indices[COUNT];
	GLuint array, source, query, counted = 0;

	gl_case("primitives of indices that a copy has just written are counted");
	gl_program(color_vs, color_fs);
	new_target();
	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	memset(indices, 255, sizeof(indices));
	buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices);
	for (int i = 0; i < COUNT; i++)
		indices[i] = (GLushort)(i % 5);
	source = buffer(GL_COPY_READ_BUFFER, sizeof(indices), indices);
	glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
	glGenQueries(1, &query);
	glBeginQuery(GL_PRIMITIVES_GENERATED, query);
	glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_ELEMENT_ARRAY_BUFFER, 0, 0, sizeof(indices));
	glDrawElements(GL_TRIANGLE_STRIP, 7, GL_UNSIGNED_SHORT, NULL);
	glEndQuery(GL_PRIMITIVES_GENERATED);
	glGetQueryObjectuiv(query, GL_QUERY_RESULT, &counted);
	glDisable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
	if (counted != 5)
		gl_fail("%u primitives, expected 5", counted);
	gl_no_error();
	glDeleteBuffers(1, &source);
	glBindVertexArray(0);
}

static void vertices(void)
{
	gl_case("vertices in the same part of a small buffer");
	vertex_case(4096, 1);
	gl_case("vertices in the same part of a large buffer");
	vertex_case(700000, 1);
	gl_case("vertices in parts that were never written");
	vertex_case(700000, 0);
	counted_indices();
}

/* ---- What shaders have written --------------------------------------------------------------- */

/* The CPU writes one number into a range that a dispatch has written, and must keep the others. */
static void storage_case(GLsizeiptr size)
{
	GLuint name, *numbers, seven = 7;
	const GLuint count = (GLuint)(size / 4);

	gl_compute(double_cs);
	name = buffer(GL_SHADER_STORAGE_BUFFER, size, NULL);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, name);
	numbers = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, size,
				   GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
	for (GLuint i = 0; i < count; i++)
		numbers[i] = i;
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	glDispatchCompute(count / 64, 1, 1);
	glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
	glBufferSubData(GL_SHADER_STORAGE_BUFFER, 40, 4, &seven);
	glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
	glDispatchCompute(count / 64, 1, 1);
	glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
	numbers = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, size, GL_MAP_READ_BIT);
	for (GLuint i = 0; i < count; i++) {
		const GLuint wanted = i == 10 ? 14 : 4 * i;

		if (numbers[i] != wanted) {
			gl_fail("number %u is %u, expected %u", i, numbers[i], wanted);
			break;
		}
	}
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	gl_no_error();
}

/* Only a shader has ever written the buffer. */
static void first_written_by_shader(void)
{
	static const char cs[] =
		"#version 310 es\nlayout(local_size_x = 64) in;"
		"layout(std430, binding = 0) buffer Numbers { uint n[]; };"
		"void main() { uint i = gl_GlobalInvocationID.x, k = i;"
		"for (uint j = 0u; j < 60000u; j++) k = k * 3u + 1u;"
		"n[i] = k == 12345u ? 1u : i; }";
	GLuint name, seven = 7, *numbers;

	gl_case("the CPU writes behind a shader that wrote the buffer first");
	gl_compute(cs);
	name = buffer(GL_SHADER_STORAGE_BUFFER, 4096, NULL);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, name);
	glDispatchCompute(16, 1, 1);
	glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
	glBufferSubData(GL_SHADER_STORAGE_BUFFER, 4000, 4, &seven);
	numbers = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, 4096, GL_MAP_READ_BIT);
	if (numbers[1000] != 7 || numbers[999] != 999 || numbers[1001] != 1001)
		gl_fail("%u %u %u, expected 999 7 1001", numbers[999], numbers[1000],
			numbers[1001]);
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
}

/* Copies of copies, too large for the CPU, and of parts of one buffer. */
static void chained_copies(void)
{
	enum { BYTES = 200000 };
	static uint8_t first[BYTES], got[BYTES];
	GLuint names[3];
	void *map;

	gl_case("a chain of copies between large buffers");
	for (int i = 0; i < BYTES; i++)
		first[i] = (uint8_t)(i * 3 + i / 256);
	for (int i = 0; i < 3; i++)
		names[i] = buffer(GL_COPY_WRITE_BUFFER, BYTES, i ? NULL : first);
	for (int i = 0; i < 2; i++) {
		glBindBuffer(GL_COPY_READ_BUFFER, names[i]);
		glBindBuffer(GL_COPY_WRITE_BUFFER, names[i + 1]);
		glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, BYTES);
	}
	/* the source changes, and a part of the last one goes to another place in it */
	memset(got, 0, sizeof(got));
	glBindBuffer(GL_COPY_READ_BUFFER, names[0]);
	glBufferSubData(GL_COPY_READ_BUFFER, 0, BYTES, got);
	glCopyBufferSubData(GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER, 17, 100003, 70001);
	memcpy(first + 100003, first + 17, 70001);
	map = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, BYTES, GL_MAP_READ_BIT);
	memcpy(got, map, BYTES);
	glUnmapBuffer(GL_COPY_WRITE_BUFFER);
	for (int i = 0; i < BYTES; i++) {
		if (got[i] != first[i]) {
			gl_fail("byte %d is %d, expected %d", i, got[i], first[i]);
			break;
		}
	}
	gl_no_error();
}

static void storage(void)
{
	chained_copies();
	gl_case("a small storage buffer changes between dispatches");
	storage_case(4096);
	gl_case("a large storage buffer changes between dispatches");
	storage_case(262144);
	first_written_by_shader();
}

/* ---- Textures -------------------------------------------------------------------------------- */

/* A texel, or its row, changes before each draw; another one keeps its color. */
static void texture_case(int side, int levels, int row)
{
	GLuint name, program = gl_program(image_vs, image_fs);
	const GLint place = glGetUniformLocation(program, "place");
	static uint8_t texels[1024 * 1024 * 4], line[1024 * 4];
	const float x = ((float)(side / 3) + 0.5f) / (float)side;

	new_target();
	for (int i = 0; i < side * side; i++)
		memcpy(texels + i * 4, (const uint8_t[4]){ 9, 8, 7, 6 }, 4);
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexStorage2D(GL_TEXTURE_2D, levels, GL_RGBA8, side, side);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, side, side, GL_RGBA, GL_UNSIGNED_BYTE, texels);
	glUniform2f(place, x, x);
	for (int i = 0; i < DRAWS; i++) {
		const uint8_t color[4] = { (uint8_t)i, (uint8_t)(2 * i), (uint8_t)(255 - i), 255 };

		for (int k = 0; k < side; k++)
			memcpy(line + k * 4, color, 4);
		glTexSubImage2D(GL_TEXTURE_2D, 0, row ? 0 : side / 3, side / 3, row ? side : 1, 1,
				GL_RGBA, GL_UNSIGNED_BYTE, line);
		column(i);
	}
	expect_columns();
	glUniform2f(place, 0.9f, 0.1f);
	column(0);
	gl_expect(0, 7, 9, 8, 7, 6, 0);
}

/* All texels change before each draw. */
static void texture_whole_case(int side)
{
	static uint8_t texels[256 * 256 * 4];
	GLuint name, program = gl_program(image_vs, image_fs);
	const GLint place = glGetUniformLocation(program, "place");

	new_target();
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, side, side);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glUniform2f(place, 0.7f, 0.2f);
	for (int i = 0; i < DRAWS; i++) {
		for (int k = 0; k < side * side; k++)
			memcpy(texels + k * 4,
			       (const uint8_t[4]){ (uint8_t)i, (uint8_t)(2 * i), (uint8_t)(255 - i),
						   255 },
			       4);
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, side, side, GL_RGBA, GL_UNSIGNED_BYTE,
				texels);
		column(i);
	}
	expect_columns();
}

/* Pixels that the CPU does not overwrite stay, and later draws change both. */
static void drawn_texture(void)
{
	static uint8_t texels[16 * 16 * 4];
	GLuint framebuffer, name;

	gl_case("a texture that was drawn to changes in part and is drawn to again");
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SIDE, SIDE);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0);
	glViewport(0, 0, SIDE, SIDE);
	glClearColor(1, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	memset(texels, 100, sizeof(texels));
	glTexSubImage2D(GL_TEXTURE_2D, 0, 8, 8, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, texels);
	glEnable(GL_SCISSOR_TEST);
	glScissor(16, 16, 16, 16);
	glClearColor(0, 1, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glDisable(GL_SCISSOR_TEST);
	gl_expect(4, 4, 255, 0, 0, 255, 0);
	gl_expect(10, 10, 100, 100, 100, 100, 0);
	gl_expect(20, 20, 0, 255, 0, 255, 0);
	gl_expect(23, 12, 100, 100, 100, 100, 0);
	gl_no_error();
}

/* Read as a whole, which the COPY engine does, after a change by a draw and one by the CPU. */
static void read_large(void)
{
	static uint8_t texels[1000 * 600 * 4], got[1000 * 600 * 4];
	GLuint framebuffer, name;

	gl_case("a large texture is read as it was written");
	for (unsigned int i = 0; i < sizeof(texels); i++)
		texels[i] = (uint8_t)(i * 7 + i / 4000);
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 1000, 600);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1000, 600, GL_RGBA, GL_UNSIGNED_BYTE, texels);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0);
	glViewport(0, 0, 1000, 600);
	glEnable(GL_SCISSOR_TEST);
	glScissor(3, 5, 500, 7);
	glClearColor(1, 1, 1, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glDisable(GL_SCISSOR_TEST);
	for (int y = 5; y < 12; y++)
		memset(texels + (y * 1000 + 3) * 4, 255, 500 * 4);
	glReadPixels(0, 0, 1000, 600, GL_RGBA, GL_UNSIGNED_BYTE, got);
	if (memcmp(got, texels, sizeof(got)))
		gl_fail("the picture is another one");
	gl_no_error();
}

static void textures(void)
{
	gl_case("a texel of a small texture changes between draws");
	texture_case(64, 1, 0);
	gl_case("a row of a small texture changes between draws");
	texture_case(64, 1, 1);
	gl_case("a texel of a small texture with levels changes between draws");
	texture_case(64, 3, 0);
	gl_case("a texel of a large texture changes between draws");
	texture_case(1024, 1, 0);
	gl_case("all of a texture changes between draws");
	texture_whole_case(128);
	drawn_texture();
	read_large();
}

int main(void)
{
	gl_open(3, 2);
	uniforms();
	plain_uniforms();
	vertices();
	storage();
	textures();
	return gl_close();
}
