/* SPDX-License-Identifier: MIT */
/* gl_PrimitiveID of quads and polygons, and the numbers of vertex shaders of unfilled ones. */
#include <stddef.h>

#include <EGL/egl.h>

#include "gl.h"

#define SIDE 64
#define CELL 8				/* pixels of a quad's side, and columns of them */

/* in the headers of OpenGL alone */
#define GL_QUAD_STRIP 8
#define GL_POLYGON 9
#define GL_LINE 0x1b01
#define GL_FILL 0x1b02
#define GL_POINT 0x1b00
#define GL_PRIMITIVE_RESTART 0x8f9d

typedef void (*polygon_mode_fn)(GLenum face, GLenum mode);
typedef void (*restart_fn)(GLuint index);
typedef void (*draw_base_fn)(GLenum mode, GLsizei count, GLenum type, const void *indices,
			     GLsizei instances, GLint vertex, GLuint instance);

static polygon_mode_fn polygon_mode;
static restart_fn restart_index;
static draw_base_fn draw_base;

/*
 * Corner gl_VertexID & 3 of the cell gl_VertexID / 4 - first, a row of cells for each instance;
 * corners are those of a quad, or of a strip of them.
 */
static const char vs[] =
	"#version 150\n#extension GL_ARB_shader_draw_parameters : require\n"
	"uniform int first; uniform bool strip; flat out vec3 told;"
	"void main() { int k = gl_VertexID - first; int corner = k & 3; vec2 p;"
	" if (strip) p = vec2(k / 2, k & 1);"
	" else p = vec2(k / 4 + int(corner == 1 || corner == 2), corner / 2);"
	" p.x = p.x * 8.0 + (strip || corner == 0 || corner == 3 ? 0.5 : -0.5);"
	" p.y = p.y * 7.0 + 0.5 + 8.0 * float(gl_InstanceID);"
	" gl_Position = vec4(p / 32.0 - 1.0, 0.0, 1.0); gl_PointSize = 1.0;"
	" told = vec3(gl_BaseVertexARB, gl_BaseInstanceARB, gl_InstanceID + 1) / 255.0; }";
static const char number_fs[] =
	"#version 150\nout vec4 c; flat in vec3 told;"
	"void main() { c = vec4(float(gl_PrimitiveID + 1) / 255.0, 1.0, told.z, 1.0); }";
static const char told_fs[] =
	"#version 150\nout vec4 c; flat in vec3 told; void main() { c = vec4(told, 1.0); }";

static void start(GLuint program, GLint first, bool strip)
{
	glUniform1i(glGetUniformLocation(program, "first"), first);
	glUniform1i(glGetUniformLocation(program, "strip"), strip);
	glClear(GL_COLOR_BUFFER_BIT);
}

/* Cell @x of instance @y was drawn as primitive @id; @filled: at its corners and inside. */
static void expect_cell(int x, int y, int id, bool filled)
{
	gl_expect(x * CELL, y * CELL + 3, id + 1, 255, y + 1, 255, 0);
	if (!filled)
		return;
	/* one in each of the two triangles, wherever they meet */
	gl_expect(x * CELL + 2, y * CELL + 4, id + 1, 255, y + 1, 255, 0);
	gl_expect(x * CELL + 5, y * CELL + 1, id + 1, 255, y + 1, 255, 0);
	gl_expect(x * CELL + 2, y * CELL + 1, id + 1, 255, y + 1, 255, 0);
	gl_expect(x * CELL + 5, y * CELL + 4, id + 1, 255, y + 1, 255, 0);
}

static void numbers_of(GLuint program, bool filled)
{
	static const GLuint indices[] = { 0, 1, 2, 3, 4, 5, 6, 7, 0xffff, 8, 9, 0xffff,
					  12, 13, 14, 15, 16, 17, 18, 19 };
	GLuint elements;

	start(program, 0, false);
	glDrawArrays(GL_QUADS, 0, 16);
	for (int i = 0; i < 4; i++)
		expect_cell(i, 0, i, filled);

	start(program, 8, false);
	glDrawArraysInstanced(GL_QUADS, 8, 12, 3);
	for (int i = 0; i < 9; i++)
		expect_cell(i % 3, i / 3, i % 3, filled);

	start(program, 0, true);
	glDrawArrays(GL_QUAD_STRIP, 0, 8);
	for (int i = 0; i < 3; i++)
		expect_cell(i, 0, i, filled);

	/* two vertices between two restarts are no quad */
	start(program, 0, false);
	glGenBuffers(1, &elements);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, elements);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices, GL_STATIC_DRAW);
	glEnable(GL_PRIMITIVE_RESTART);
	restart_index(0xffff);
	glDrawElements(GL_QUADS, 20, GL_UNSIGNED_INT, NULL);
	glDisable(GL_PRIMITIVE_RESTART);
	for (int i = 0; i < 4; i++)
		expect_cell(i < 2 ? i : i + 1, 0, i, filled);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
	glDeleteBuffers(1, &elements);
}

static void numbers(GLuint program)
{
	glUseProgram(program);
	gl_case("gl_PrimitiveID of quads");
	numbers_of(program, true);

	gl_case("gl_PrimitiveID of a polygon");
	start(program, 0, false);
	glDrawArrays(GL_POLYGON, 0, 4);
	expect_cell(0, 0, 0, true);

	gl_case("gl_PrimitiveID of quads that are drawn as lines");
	polygon_mode(GL_FRONT_AND_BACK, GL_LINE);
	numbers_of(program, false);

	gl_case("gl_PrimitiveID of triangles that are drawn as lines, and after them as filled");
	start(program, 0, false);
	glDrawArrays(GL_TRIANGLES, 0, 12);	/* of corners that make odd ones, but their own */
	polygon_mode(GL_FRONT_AND_BACK, GL_FILL);
	/* 0 1 2: the right edge of cell 0; 9 10 11: the right one of cell 2 */
	gl_expect(7, 3, 1, 255, 1, 255, 0);
	gl_expect(23, 3, 4, 255, 1, 255, 0);
	start(program, 0, false);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	gl_expect(6, 1, 1, 255, 1, 255, 0);
}

/* The vertex shader's numbers of quads and triangles that are drawn as lines and points. */
static void told(GLuint program)
{
	static const GLuint indices[] = { 100000, 100001, 100002, 100003 };
	GLuint elements;

	glUseProgram(program);
	glGenBuffers(1, &elements);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, elements);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices, GL_STATIC_DRAW);
	for (int points = 0; points < 2; points++) {
		gl_case(points ? "base vertex, base and number of instances of points of quads" :
				 "base vertex, base and number of instances of lines of quads");
		polygon_mode(GL_FRONT_AND_BACK, points ? GL_POINT : GL_LINE);
		start(program, 100008, false);
		draw_base(GL_QUADS, 4, GL_UNSIGNED_INT, NULL, 3, 8, 5);
		for (int i = 0; i < 3; i++)
			gl_expect(0, 8 * i, 8, 5, i + 1, 255, 0);
		start(program, 100, false);
		glDrawArraysInstanced(GL_QUADS, 100, 4, 2);
		for (int i = 0; i < 2; i++)
			gl_expect(0, 8 * i, 0, 0, i + 1, 255, 0);
		start(program, 200000, false);
		glDrawArraysInstanced(GL_TRIANGLES, 200000, 3, 2);
		for (int i = 0; i < 2; i++)
			gl_expect(0, 8 * i, 0, 0, i + 1, 255, 0);
	}
	polygon_mode(GL_FRONT_AND_BACK, GL_FILL);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
	glDeleteBuffers(1, &elements);
}

int main(void)
{
	gl_open_desktop(3, 0);
	polygon_mode = (polygon_mode_fn)eglGetProcAddress("glPolygonMode");
	restart_index = (restart_fn)eglGetProcAddress("glPrimitiveRestartIndex");
	draw_base =
		(draw_base_fn)eglGetProcAddress("glDrawElementsInstancedBaseVertexBaseInstance");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glClearColor(0, 0, 0, 0);
	numbers(gl_program(vs, number_fs));
	told(gl_program(vs, told_fs));
	return gl_close();
}
