/* SPDX-License-Identifier: MIT */
/* Draws whose arguments, and whose number, are in buffers; dispatches likewise. */
#include <stddef.h>

#include <EGL/egl.h>

#include "gl.h"

#define SIDE 16
#define DRAWS 4
#define PARAMETER_BUFFER 0x80ee

typedef void (*multi_fn)(GLenum, const void *, GLsizei, GLsizei);
typedef void (*count_fn)(GLenum, const void *, GLintptr, GLsizei, GLsizei);

/* Draw number n colors the n-th quarter from the left. */
static const char vs[] =
	"#version 460\n"
	"in vec4 position; flat out float n;\n"
	"void main() { gl_Position = vec4(position.x + 0.5 * float(gl_DrawID), position.yzw);\n"
	"n = float(gl_DrawID + gl_BaseVertex); }";
static const char fs[] =
	"#version 460\n"
	"flat in float n; out vec4 c; void main() { c = vec4(1.0, n / 255.0, 0.0, 1.0); }";

/* Two groups of the first shader write the sizes of the grid that the second one runs on. */
static const char sizes_cs[] =
	"#version 430\nlayout(local_size_x = 1) in;\n"
	"layout(std430, binding = 0) writeonly buffer O { uint o[]; };\n"
	"void main() { if (gl_WorkGroupID.x == 0u) o[1] = 3u; else { o[2] = 2u; o[3] = 5u; } }";
static const char counting_cs[] =
	"#version 430\nlayout(local_size_x = 4) in;\n"
	"layout(std430, binding = 1) buffer O { uint threads, x, y, z; };\n"
	"void main() { atomicAdd(threads, 1u); atomicMax(x, gl_NumWorkGroups.x);\n"
	"atomicMax(y, gl_NumWorkGroups.y); atomicMax(z, gl_NumWorkGroups.z); }";

/* The arguments follow the first word. */
static void dispatch(void)
{
	static const GLuint zero[4], wanted[4] = { 4 * 3 * 2 * 5, 3, 2, 5 };
	GLuint sizes = gl_compute(sizes_cs), counting = gl_compute(counting_cs), buffer;
	const GLuint *got;

	gl_case("a dispatch whose groups a shader has written");
	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
	glBufferData(GL_SHADER_STORAGE_BUFFER, sizeof(zero), NULL, GL_DYNAMIC_COPY);
	gl_storage(1, zero, sizeof(zero));
	glUseProgram(sizes);
	glDispatchCompute(2, 1, 1);
	glMemoryBarrier(GL_COMMAND_BARRIER_BIT);
	glUseProgram(counting);
	glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, buffer);
	glDispatchComputeIndirect(4);
	got = gl_results(sizeof(zero));
	for (int i = 0; got && i < 4; i++) {
		if (got[i] != wanted[i])
			gl_fail("word %d is %u, expected %u", i, got[i], wanted[i]);
	}
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	gl_no_error();
}

/* So many quarters are colored. */
static void expect(int count)
{
	for (int i = 0; i < DRAWS; i++)
		gl_expect(i * SIDE / DRAWS + 1, 5, i < count ? 255 : 0, i < count ? i : 0, 0,
			  i < count ? 255 : 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	gl_no_error();
}

int main(void)
{
	static const GLfloat corners[] = { -1, -1, 0, 1, -0.5f, -1, 0, 1,
					   -1, 1,  0, 1, -0.5f, 1,  0, 1 };
	/* vertices, instances, first vertex, first instance, a word between */
	GLuint arguments[DRAWS][5], counts[3] = { 2, 9, 0 }, buffer[3];
	multi_fn multi;
	count_fn multi_count;

	for (int i = 0; i < DRAWS; i++) {
		const GLuint draw[5] = { 4, 1, 0, 0, 77 };

		for (int k = 0; k < 5; k++)
			arguments[i][k] = draw[k];
	}
	gl_open_desktop(4, 6);
	multi = (multi_fn)eglGetProcAddress("glMultiDrawArraysIndirect");
	multi_count = (count_fn)eglGetProcAddress("glMultiDrawArraysIndirectCount");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glClear(GL_COLOR_BUFFER_BIT);
	gl_program(vs, fs);
	glGenBuffers(3, buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer[0]);
	glBufferData(GL_ARRAY_BUFFER, sizeof(corners), corners, GL_STATIC_DRAW);
	glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	glBindBuffer(GL_DRAW_INDIRECT_BUFFER, buffer[1]);
	glBufferData(GL_DRAW_INDIRECT_BUFFER, sizeof(arguments), arguments, GL_STATIC_DRAW);
	glBindBuffer(PARAMETER_BUFFER, buffer[2]);
	glBufferData(PARAMETER_BUFFER, sizeof(counts), counts, GL_STATIC_DRAW);

	gl_case("several draws, numbered by gl_DrawID");
	/* Mesa 25 would take the number from the buffer */
	glBindBuffer(PARAMETER_BUFFER, 0);
	multi(GL_TRIANGLE_STRIP, NULL, 3, sizeof(arguments[0]));
	expect(3);
	glBindBuffer(PARAMETER_BUFFER, buffer[2]);
	gl_case("their number is in a buffer");
	multi_count(GL_TRIANGLE_STRIP, NULL, 0, DRAWS, sizeof(arguments[0]));
	expect(2);
	gl_case("it is not more than what the program allows");
	multi_count(GL_TRIANGLE_STRIP, NULL, 4, DRAWS - 1, sizeof(arguments[0]));
	expect(3);
	gl_case("it may be none");
	multi_count(GL_TRIANGLE_STRIP, NULL, 8, DRAWS, sizeof(arguments[0]));
	expect(0);
	dispatch();
	return gl_close();
}
