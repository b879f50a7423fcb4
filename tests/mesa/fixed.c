/* SPDX-License-Identifier: MIT */
/* Depth, stencil, blending and the other fixed functions. */
#include <stddef.h>

#include "gl.h"

#define SIDE 64

static const char vs[] =
	"attribute vec4 position; void main() { gl_Position = position; gl_PointSize = 7.0; }";
static const char fs[] =
	"precision mediump float; uniform vec4 color; void main() { gl_FragColor = color; }";

static GLint color_at;

static void color(float r, float g, float b, float a)
{
	glUniform4f(color_at, r, g, b, a);
}

static void whole(float z)
{
	gl_rect(-1, -1, 1, 1, z);
}

static void depth(GLenum format, const char *name)
{
	gl_case(name);
	gl_target(SIDE, SIDE, GL_RGBA);
	gl_depth(SIDE, SIDE, format, GL_DEPTH_ATTACHMENT);
	glClearColor(0, 0, 0, 0);
	glClearDepthf(0.75f);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	glEnable(GL_DEPTH_TEST);
	glDepthFunc(GL_LESS);
	color(1, 0, 0, 1);
	whole(0.6f);	/* depth 0.8: behind */
	gl_expect(9, 9, 0, 0, 0, 0, 0);
	color(0, 1, 0, 1);
	whole(0.2f);
	gl_expect(9, 9, 0, 255, 0, 255, 0);
	color(0, 0, 1, 1);
	whole(0.2f);
	gl_expect(9, 9, 0, 255, 0, 255, 0);
	glDepthFunc(GL_LEQUAL);
	whole(0.2f);
	gl_expect(9, 9, 0, 0, 255, 255, 0);
	glDepthMask(GL_FALSE);
	color(1, 1, 0, 1);
	whole(-0.5f);
	glDepthMask(GL_TRUE);
	color(0, 1, 1, 1);
	whole(0.1f);
	gl_expect(9, 9, 0, 255, 255, 255, 0);
	glDisable(GL_DEPTH_TEST);
	glClearDepthf(1);
}

static void depth_range(void)
{
	gl_case("the depth range and the bias count");
	gl_target(SIDE, SIDE, GL_RGBA);
	gl_depth(SIDE, SIDE, GL_DEPTH_COMPONENT16, GL_DEPTH_ATTACHMENT);
	glClearDepthf(1);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	glEnable(GL_DEPTH_TEST);
	glDepthFunc(GL_LESS);
	glDepthRangef(0.5f, 1);
	color(1, 0, 0, 1);
	whole(-0.9f);	/* depth 0.525 */
	glDepthRangef(0, 1);
	color(0, 1, 0, 1);
	whole(0.1f);	/* depth 0.55 */
	gl_expect(9, 9, 255, 0, 0, 255, 0);
	whole(0.04f);	/* depth 0.52 */
	gl_expect(9, 9, 0, 255, 0, 255, 0);
	glEnable(GL_POLYGON_OFFSET_FILL);
	glPolygonOffset(0, -3);
	color(0, 0, 1, 1);
	whole(0.04f);
	gl_expect(9, 9, 0, 0, 255, 255, 0);
	glDisable(GL_POLYGON_OFFSET_FILL);
	glDisable(GL_DEPTH_TEST);
}

static void stencil(void)
{
	gl_case("stencil tests and operations");
	gl_target(SIDE, SIDE, GL_RGBA);
	gl_depth(SIDE, SIDE, GL_STENCIL_INDEX8, GL_STENCIL_ATTACHMENT);
	glClearStencil(3);
	glClear(GL_COLOR_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
	glEnable(GL_STENCIL_TEST);
	glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
	glStencilFunc(GL_ALWAYS, 0, 0xff);
	glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
	gl_rect(-1, -1, 0, 1, 0);
	glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
	glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
	glStencilFunc(GL_EQUAL, 4, 0xff);
	color(1, 0, 0, 1);
	whole(0);
	gl_expect(9, 9, 255, 0, 0, 255, 0);
	gl_expect(50, 9, 0, 0, 0, 0, 0);
	glStencilFunc(GL_GREATER, 4, 0xff);	/* 4 > what is there */
	color(0, 1, 0, 1);
	whole(0);
	gl_expect(9, 9, 255, 0, 0, 255, 0);
	gl_expect(50, 9, 0, 255, 0, 255, 0);
	glDisable(GL_STENCIL_TEST);
}

static void blend(GLenum source, GLenum target, GLenum equation, const char *name, int r, int g,
		  int b, int a)
{
	gl_case(name);
	glDisable(GL_BLEND);
	color(0.2f, 0.4f, 0.6f, 0.8f);
	whole(0);
	glEnable(GL_BLEND);
	glBlendEquation(equation);
	glBlendFunc(source, target);
	glBlendColor(0.5f, 0.5f, 0.5f, 0.25f);
	color(0.6f, 0.2f, 0.4f, 0.5f);
	whole(0);
	glDisable(GL_BLEND);
	gl_expect(20, 20, r, g, b, a, 1);
}

static void blends(void)
{
	gl_target(SIDE, SIDE, GL_RGBA);
	blend(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_FUNC_ADD, "blending: alpha", 102, 77, 128,
	      166);
	blend(GL_ONE, GL_ONE, GL_FUNC_ADD, "blending: sum", 204, 153, 255, 255);
	blend(GL_DST_COLOR, GL_ZERO, GL_FUNC_ADD, "blending: product", 31, 20, 61, 102);
	blend(GL_ONE, GL_ONE, GL_FUNC_REVERSE_SUBTRACT, "blending: difference", 0, 51, 51, 77);
	blend(GL_CONSTANT_COLOR, GL_CONSTANT_ALPHA, GL_FUNC_ADD, "blending: constants", 89, 51, 89,
	      83);
	blend(GL_SRC_ALPHA_SATURATE, GL_ONE, GL_FUNC_ADD, "blending: saturated", 82, 112, 173, 255);
}

static void points(void)
{
	const GLfloat center[] = { 0.5f / SIDE * 2, 0.5f / SIDE * 2 };

	gl_case("points have the size that the shader says");
	gl_target(SIDE, SIDE, GL_RGBA);
	glClear(GL_COLOR_BUFFER_BIT);
	color(1, 1, 1, 1);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, center);
	glDrawArrays(GL_POINTS, 0, 1);
	for (int x = 25; x < 40; x++) {
		const int in = x >= 29 && x <= 35 ? 255 : 0;

		gl_expect(x, 32, in, in, in, in, 0);
		gl_expect(32, x, in, in, in, in, 0);
	}
}

static void lines(void)
{
	const GLfloat ends[] = { -1, 0.25f / SIDE, 1, 0.25f / SIDE };

	gl_case("lines have the width that is set");
	glClear(GL_COLOR_BUFFER_BIT);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, ends);
	glLineWidth(1);
	glDrawArrays(GL_LINES, 0, 2);
	gl_expect(10, 32, 255, 255, 255, 255, 0);
	gl_expect(10, 31, 0, 0, 0, 0, 0);
	gl_expect(10, 33, 0, 0, 0, 0, 0);
	glLineWidth(3);
	glDrawArrays(GL_LINES, 0, 2);
	gl_expect(10, 31, 255, 255, 255, 255, 0);
	gl_expect(10, 33, 255, 255, 255, 255, 0);
	gl_expect(10, 34, 0, 0, 0, 0, 0);
	glLineWidth(1);
}

/* OpenGL ES's: OpenGL's points reach beyond. */
static void viewport_edges(void)
{
	static const GLfloat line[] = { -2, 0.5f / 16, 2, 0.5f / 16 }, point[] = { 0.97f, -0.5f };

	gl_case("lines and points end at the viewport");
	glClear(GL_COLOR_BUFFER_BIT);
	glViewport(16, 16, 32, 32);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, line);
	glDrawArrays(GL_LINES, 0, 2);
	gl_expect(15, 32, 0, 0, 0, 0, 0);
	gl_expect(16, 32, 255, 255, 255, 255, 0);
	gl_expect(47, 32, 255, 255, 255, 255, 0);
	gl_expect(48, 32, 0, 0, 0, 0, 0);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, point);
	glDrawArrays(GL_POINTS, 0, 1);
	gl_expect(47, 24, 255, 255, 255, 255, 0);
	gl_expect(48, 24, 0, 0, 0, 0, 0);
	glViewport(0, 0, SIDE, SIDE);
}

static void indices(void)
{
	static const GLfloat corners[] = { -1, -1, 1, -1, -1, 1, 1, 1 };
	static const uint8_t i8[] = { 0, 1, 2, 2, 1, 3 };
	static const uint16_t i16[] = { 9, 9, 0, 1, 2, 2, 1, 3 };
	GLuint buffers[2];

	gl_case("indices in the program's memory and in buffers");
	glClear(GL_COLOR_BUFFER_BIT);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
	color(1, 0, 0, 1);
	glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, i8);
	gl_expect(2, 2, 255, 0, 0, 255, 0);
	gl_expect(60, 60, 255, 0, 0, 255, 0);
	glGenBuffers(2, buffers);
	glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
	glBufferData(GL_ARRAY_BUFFER, sizeof(corners), corners, GL_STATIC_DRAW);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof(i16), i16, GL_STATIC_DRAW);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	color(0, 1, 0, 1);
	glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_SHORT, (void *)4);
	gl_expect(2, 2, 0, 255, 0, 255, 0);
	gl_expect(60, 60, 0, 255, 0, 255, 0);
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
	glDeleteBuffers(2, buffers);
}

int main(void)
{
	gl_open(2, 0);
	color_at = glGetUniformLocation(gl_program(vs, fs), "color");
	depth(GL_DEPTH_COMPONENT16, "depth tests with 16 bits");
	depth(GL_DEPTH24_STENCIL8, "depth tests with 24 bits and stencil");
	depth_range();
	stencil();
	blends();
	points();
	lines();
	viewport_edges();
	indices();
	return gl_close();
}
