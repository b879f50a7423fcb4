/* SPDX-License-Identifier: MIT */
/*
 * Arrays of textures, storage buffers and images that are indexed by what a uniform says. Of the
 * latter two GLSL allows that from 4.00 on, which the driver does not offer yet: Mesa is told to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl.h"

#define GLSL "#version 430\nlayout(local_size_x = 1) in;" \
	"layout(std430, binding = 0) buffer out_buffer { int o[64]; }; uniform int s;"

static GLuint result;

static void make_result(void)
{
	const GLint zero[64] = { 0 };

	glGenBuffers(1, &result);
	glBindBuffer(GL_SHADER_STORAGE_BUFFER, result);
	glBufferData(GL_SHADER_STORAGE_BUFFER, sizeof(zero), zero, GL_DYNAMIC_COPY);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, result);
}

static void expect_words(GLuint buffer, int first, const int *wanted, int count)
{
	const GLint *got;

	glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
	glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer);
	got = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, (first + count) * 4, GL_MAP_READ_BIT);
	for (int i = 0; got && i < count; i++)
		if (got[first + i] != wanted[i])
			gl_fail("word %d is %d, expected %d", first + i, got[first + i], wanted[i]);
	if (!got)
		gl_fail("a buffer cannot be mapped");
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
}

/* A texture of @levels, @width x 1, at @unit, each texel @value. */
static GLuint texture(int unit, GLenum target, int width, int levels, uint8_t value)
{
	uint8_t texels[4 * 64];
	GLuint t;

	memset(texels, value, sizeof(texels));
	glGenTextures(1, &t);
	glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
	glBindTexture(target, t);
	if (target == GL_TEXTURE_3D) {
		glTexStorage3D(target, levels, GL_RGBA8, width, 1, 2);
		glTexSubImage3D(target, 0, 0, 0, 0, width, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, texels);
	} else {
		glTexStorage2D(target, levels, GL_RGBA8, width, 1);
		glTexSubImage2D(target, 0, 0, 0, width, 1, GL_RGBA, GL_UNSIGNED_BYTE, texels);
	}
	glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	return t;
}

static void run(GLuint program, int shift)
{
	glUniform1i(glGetUniformLocation(program, "s"), shift);
	glDispatchCompute(1, 1, 1);
}

/* Sizes, levels and texels of two arrays of different kinds. */
static void textures(void)
{
	static const char text[] = GLSL
		"uniform sampler2D t[4]; uniform sampler3D v[3];"
		"void main() { for (int i = 0; i < 4; i++) { int k = (i + s) & 3;"
		" o[i] = textureSize(t[k], 0).x; o[4 + i] = textureQueryLevels(t[k]);"
		" o[8 + i] = int(texelFetch(t[k], ivec2(0), 0).r * 255.0 + 0.5); }"
		" for (int i = 0; i < 3; i++) { int k = (i + s) % 3;"
		" o[12 + i] = textureSize(v[k], 0).x * 100 + textureSize(v[k], 0).z; }"
		" o[15] = textureSize(t[2], 0).x + textureSize(v[s], 0).x; }";
	static const int units[7] = { 0, 1, 2, 3, 4, 5, 6 };
	static const int wanted[16] = { 9, 10, 11, 8, 2, 3, 4, 1, 20, 30, 40, 10, 1702, 1802, 1602,
					10 + 17 };
	GLuint program = gl_compute(text), t[7];

	gl_case("sizes and levels of textures by a dynamic index");
	make_result();
	for (int i = 0; i < 4; i++)
		t[i] = texture(i, GL_TEXTURE_2D, 8 + i, 1 + i, (uint8_t)(10 * (i + 1)));
	for (int i = 0; i < 3; i++)
		t[4 + i] = texture(4 + i, GL_TEXTURE_3D, 16 + i, 1, 0);
	glUniform1iv(glGetUniformLocation(program, "t"), 4, units);
	glUniform1iv(glGetUniformLocation(program, "v"), 3, units + 4);
	run(program, 1);
	expect_words(result, 0, wanted, 16);
	glDeleteTextures(7, t);
	glDeleteProgram(program);
}

static void storage(void)
{
	static const char text[] = GLSL
		"layout(std430, binding = 1) buffer block { int x; int y[]; } b[4];"
		"void main() { for (int i = 0; i < 4; i++) { int k = (i + s) & 3;"
		" o[i] = b[k].x * 10 + b[k].y.length(); b[k].x += 100;"
		" o[4 + i] = atomicAdd(b[k].y[0], k + 1); } o[8] = b[2].y.length(); }";
	static const int wanted[9] = { 23, 34, 45, 12, 7, 7, 7, 7, 4 };
	GLuint program = gl_compute(text), buffer[4];

	gl_case("storage buffers by a dynamic index");
	make_result();
	glGenBuffers(4, buffer);
	for (int i = 0; i < 4; i++) {
		const GLint words[9] = { i + 1, 7 };

		glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer[i]);
		glBufferData(GL_SHADER_STORAGE_BUFFER, 4 * (i + 3), words, GL_DYNAMIC_COPY);
		glBindBufferBase(GL_SHADER_STORAGE_BUFFER, (GLuint)(1 + i), buffer[i]);
	}
	run(program, 1);
	expect_words(result, 0, wanted, 9);
	for (int i = 0; i < 4; i++)
		expect_words(buffer[i], 0, (int[2]){ 101 + i, 8 + i }, 2);
	glDeleteBuffers(4, buffer);
	glDeleteProgram(program);
}

static void images(void)
{
	static const char text[] = GLSL
		"layout(rgba8, binding = 0) uniform image2D t[3];"
		"layout(rgba8, binding = 3) uniform image3D v[2];"
		"void main() { for (int i = 0; i < 3; i++) { int k = (i + s) % 3;"
		" o[i] = imageSize(t[k]).x;"
		" o[3 + i] = int(imageLoad(t[k], ivec2(0)).r * 255.0 + 0.5);"
		" imageStore(t[k], ivec2(1, 0), vec4(float(k + 1) / 255.0)); }"
		" for (int i = 0; i < 2; i++) o[6 + i] = imageSize(v[(i + s) & 1]).x; }";
	static const int wanted[8] = { 9, 10, 8, 20, 30, 10, 17, 16 };
	GLuint program = gl_compute(text), t[5], framebuffer;

	gl_case("images by a dynamic index");
	make_result();
	for (int i = 0; i < 5; i++) {
		t[i] = i < 3 ? texture(i, GL_TEXTURE_2D, 8 + i, 1, (uint8_t)(10 * (i + 1))) :
			       texture(i, GL_TEXTURE_3D, 13 + i, 1, 0);
		glBindImageTexture((GLuint)i, t[i], 0, GL_TRUE, 0, GL_READ_WRITE, GL_RGBA8);
	}
	run(program, 1);
	expect_words(result, 0, wanted, 8);
	glMemoryBarrier(GL_FRAMEBUFFER_BARRIER_BIT);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	for (int i = 0; i < 3; i++) {
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t[i],
				       0);
		gl_expect(1, 0, i + 1, i + 1, i + 1, i + 1, 0);
	}
	glDeleteTextures(5, t);
	glDeleteProgram(program);
}

int main(void)
{
	setenv("MESA_GL_VERSION_OVERRIDE", "4.3", 1);
	setenv("MESA_GLSL_VERSION_OVERRIDE", "430", 1);
	gl_open_desktop(4, 3);
	textures();
	storage();
	images();
	return gl_close();
}
