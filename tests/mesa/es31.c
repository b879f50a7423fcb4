/* SPDX-License-Identifier: MIT */
/* Features of GLES 3.1: compute shaders, storage buffers, images, indirect draws. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl.h"

#define SIDE 64

#define ES31 "#version 310 es\nprecision highp float; precision highp int;\n"

static GLuint buffer(GLuint binding, GLsizeiptr size, const void *data)
{
	GLuint name;

	glGenBuffers(1, &name);
	glBindBuffer(GL_SHADER_STORAGE_BUFFER, name);
	glBufferData(GL_SHADER_STORAGE_BUFFER, size, data, GL_DYNAMIC_COPY);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, binding, name);
	return name;
}

static const GLuint *map(GLuint name, GLsizeiptr size)
{
	const GLuint *words;

	glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
	glBindBuffer(GL_SHADER_STORAGE_BUFFER, name);
	words = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, size, GL_MAP_READ_BIT);
	if (!words)
		gl_fail("a buffer cannot be mapped");
	return words;
}

static void storage(void)
{
	static const char text[] = ES31
		"layout(local_size_x = 32) in;"
		"layout(std430, binding = 0) readonly buffer from { uint a[]; }; layout(std430, "
		"binding = 1) buffer to { uint b[]; };"
		"void main() { uint i = gl_GlobalInvocationID.x; b[i] = a[i] * 3u + "
		"gl_WorkGroupID.x + uint(a.length()); }";
	GLuint program = gl_compute(text), from, to, words[256];
	const GLuint *got;

	gl_case("a compute shader reads and writes storage buffers");
	for (GLuint i = 0; i < 256; i++)
		words[i] = i * i;
	from = buffer(0, sizeof(words), words);
	to = buffer(1, sizeof(words), NULL);
	glDispatchCompute(8, 1, 1);
	got = map(to, sizeof(words));
	for (GLuint i = 0; got && i < 256; i++)
		if (got[i] != i * i * 3 + i / 32 + 256)
			gl_fail("word %u is %u", i, got[i]);
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	glDeleteBuffers(1, &from);
	glDeleteBuffers(1, &to);
	glDeleteProgram(program);
}

static void shared_memory(void)
{
	static const char text[] = ES31
		"layout(local_size_x = 64) in; shared uint s[64];"
		"layout(std430, binding = 0) buffer to { uint sums[]; }; layout(std430, binding "
		"= 1) buffer all { uint total; uint most; };"
		"void main() { uint i = gl_LocalInvocationID.x; s[i] = gl_GlobalInvocationID.x; "
		"barrier();"
		" for (uint n = 32u; n > 0u; n >>= 1) { if (i < n) s[i] += s[i + n]; barrier(); }"
		" if (i == 0u) { sums[gl_WorkGroupID.x] = s[0]; atomicAdd(total, s[0]); }"
		" atomicMax(most, gl_GlobalInvocationID.x); }";
	GLuint program = gl_compute(text), sums, all, zero[2] = { 0, 0 };
	const GLuint *got;

	gl_case("shared memory, barriers and atomics");
	sums = buffer(0, 64, NULL);
	all = buffer(1, sizeof(zero), zero);
	glDispatchCompute(16, 1, 1);
	got = map(sums, 64);
	for (GLuint g = 0; got && g < 16; g++)
		if (got[g] != 64 * 64 * g + 63 * 32)
			gl_fail("sum %u is %u", g, got[g]);
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	got = map(all, sizeof(zero));
	if (got && (got[0] != 1024 * 1023 / 2 || got[1] != 1023))
		gl_fail("total %u, most %u", got[0], got[1]);
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	glDeleteBuffers(1, &sums);
	glDeleteBuffers(1, &all);
	glDeleteProgram(program);
}

static void images(void)
{
	static const char text[] = ES31
		"layout(local_size_x = 8, local_size_y = 8) in;"
		"layout(rgba8, binding = 0) writeonly uniform highp image2D picture;"
		"layout(r32ui, binding = 1) readonly uniform highp uimage2D numbers;"
		"void main() { ivec2 p = ivec2(gl_GlobalInvocationID.xy);"
		" uint n = imageLoad(numbers, p & 3).x;"
		" imageStore(picture, p, vec4(float(p.x) / 255.0, float(p.y) / 255.0, float(n) / "
		"255.0, float(imageSize(picture).x) / 255.0)); }";
	GLuint program = gl_compute(text), picture, numbers, words[16];

	gl_case("images are loaded and stored, then drawn with");
	for (GLuint i = 0; i < 16; i++)
		words[i] = 10 * i;
	picture = gl_target(SIDE, SIDE, GL_RGBA8);
	glGenTextures(1, &numbers);
	glBindTexture(GL_TEXTURE_2D, numbers);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, 4, 4);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 4, 4, GL_RED_INTEGER, GL_UNSIGNED_INT, words);
	glBindImageTexture(0, picture, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
	glBindImageTexture(1, numbers, 0, GL_FALSE, 0, GL_READ_ONLY, GL_R32UI);
	glDispatchCompute(SIDE / 8, SIDE / 8, 1);
	glMemoryBarrier(GL_FRAMEBUFFER_BARRIER_BIT);
	gl_expect(5, 6, 5, 6, 90, 64, 0);
	gl_expect(60, 63, 60, 63, 120, 64, 0);
	glDeleteProgram(program);
}

static void indirect(void)
{
	static const char text[] = ES31
		"layout(local_size_x = 1) in; layout(std430, binding = 0) buffer args { uint "
		"a[8]; };"
		"layout(std430, binding = 1) buffer vertices { vec2 v[4]; };"
		"void main() { a[0] = 4u; a[1] = 1u; a[2] = 0u; a[3] = 0u;"
		" v[0] = vec2(-1.0, -1.0); v[1] = vec2(1.0, -1.0); v[2] = vec2(-1.0, 1.0); v[3] "
		"= vec2(1.0, 1.0); }";
	static const char vs[] = ES31 "in vec4 position; void main() { gl_Position = position; }";
	static const char fs[] = ES31 "out vec4 c; void main() { c = vec4(0.0, 1.0, 0.0, 1.0); }";
	GLuint program = gl_compute(text), draw, args, vertices;

	gl_case("a draw whose vertices and arguments were computed");
	args = buffer(0, 32, NULL);
	vertices = buffer(1, 32, NULL);
	glDispatchCompute(1, 1, 1);
	glMemoryBarrier(GL_COMMAND_BARRIER_BIT | GL_VERTEX_ATTRIB_ARRAY_BARRIER_BIT);
	draw = gl_program(vs, fs);
	gl_target(SIDE, SIDE, GL_RGBA8);
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	{
		GLuint array;

		glGenVertexArrays(1, &array);
		glBindVertexArray(array);
		glBindBuffer(GL_ARRAY_BUFFER, vertices);
		glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
		glEnableVertexAttribArray(0);
		glBindBuffer(GL_DRAW_INDIRECT_BUFFER, args);
		glDrawArraysIndirect(GL_TRIANGLE_STRIP, NULL);
		glBindVertexArray(0);
		glBindBuffer(GL_ARRAY_BUFFER, 0);
	}
	gl_expect(3, 3, 0, 255, 0, 255, 0);
	gl_expect(60, 60, 0, 255, 0, 255, 0);
	glDeleteProgram(program);
	glDeleteProgram(draw);
}

static void between(void)
{
	static const char text[] = ES31
		"layout(local_size_x = 64) in; layout(std430, binding = 0) buffer b { uint a[]; };"
		"void main() { a[gl_GlobalInvocationID.x] = a[gl_GlobalInvocationID.x] * 2u + "
		"1u; }";
	GLuint program = gl_compute(text), b, zero[256] = { 0 };
	const GLuint *got;

	gl_case("thirty dispatches, one after the other");
	b = buffer(0, sizeof(zero), zero);
	for (int i = 0; i < 30; i++) {
		glDispatchCompute(4, 1, 1);
		glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
	}
	got = map(b, sizeof(zero));
	for (int i = 0; got && i < 256; i++)
		if (got[i] != (1u << 30) - 1)
			gl_fail("word %d is 0x%x", i, got[i]);
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	glDeleteBuffers(1, &b);
	glDeleteProgram(program);
}

#define VALUES 150	/* more than there are registers */

/* Atomics return all values first. They are used from the last to the first. */
static void registers(void)
{
	static char text[VALUES * 160];
	uint32_t in[VALUES][16], wanted;
	const uint32_t *got;
	size_t used;

	gl_case("a shader with more values than registers");
	used = (size_t)sprintf(text, ES31 "layout(local_size_x = 16) in;\n"
			       "layout(std430, binding = 0) buffer I { uint i[]; };\n"
			       "layout(std430, binding = 1) buffer O { uvec4 o[]; };\n"
			       "void main() { uint n = gl_LocalInvocationIndex;\n");
	for (unsigned int k = 0; k < VALUES; k++)
		used += (size_t)sprintf(text + used, "uint v%u = atomicAdd(i[n + %uu], 1u);\n",
					k, 16 * k);
	used += (size_t)sprintf(text + used, "uint s = 0u;\n");
	for (unsigned int k = VALUES; k--;)
		used += (size_t)sprintf(text + used, "s = s * 5u + (v%u ^ s >> 7u);\n", k);
	sprintf(text + used, "o[n] = uvec4(s, v0, v77, v149); }");
	for (unsigned int n = 0; n < 16 * VALUES; n++)
		in[n / 16][n % 16] = n * 0x9e3779b9u + 7;
	gl_compute(text);
	gl_storage(0, in, sizeof(in));
	gl_storage(1, NULL, 16 * 16);
	glDispatchCompute(1, 1, 1);
	got = gl_results(16 * 16);
	for (unsigned int n = 0; got && n < 16; n++) {
		wanted = 0;
		for (unsigned int k = VALUES; k--;)
			wanted = wanted * 5 + (in[k][n] ^ wanted >> 7);
		if (got[4 * n] != wanted || got[4 * n + 1] != in[0][n] ||
		    got[4 * n + 2] != in[77][n] || got[4 * n + 3] != in[149][n])
			gl_fail("thread %u: %x, expected %x", n, got[4 * n], wanted);
	}
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	gl_no_error();
}

int main(void)
{
	gl_open(3, 1);
	storage();
	shared_memory();
	images();
	indirect();
	between();
	registers();
	return gl_close();
}
