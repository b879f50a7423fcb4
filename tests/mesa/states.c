/* SPDX-License-Identifier: MIT */
/*
 * States that change nothing, which programs leave on, and GL_DITHER, which is on unless it is
 * turned off: the device is not told of them, because each has a slower way of writing colors.
 * debug: lists
 * says: (?s)# A((?!DITH|LOGIC|BIAS|_TEST|ENABLE).)*# B.*_TEST.*ENABLE.*# C.*DITH.*# D((?!DITH).)*$
 */
#include <stdio.h>

#include <EGL/egl.h>

#include "gl.h"

#define SIDE 8
#define VALUE 0.43f		/* between two colors of each format with few bits */

/* in the headers of OpenGL alone */
#define GL_COLOR_LOGIC_OP 0x0bf2
#define GL_COPY 0x1503
#define GL_XOR 0x1506

typedef void (*logic_op_fn)(GLenum op);

static const char vs[] =
	"#version 130\n"
	"in vec4 position; void main() { gl_Position = position; }";
static const char fs[] =
	"#version 130\nuniform vec4 color; out vec4 c; void main() { c = color; }";

static GLint color_at;

static void rect(float r, float g, float b, float a, float z)
{
	glUniform4f(color_at, r, g, b, a);
	gl_rect(-1, -1, 1, 1, z);
}

/* ---- States that may change nothing --------------------------------------------------------- */

static void nothing(logic_op_fn logic_op)
{
	gl_case("blending, logic, depth and stencil that change nothing");
	printf("# A\n");
	glEnable(GL_BLEND);
	glBlendFunc(GL_ONE, GL_ZERO);
	rect(1, 0, 0, 0.2f, 0);
	gl_expect(3, 3, 255, 0, 0, 51, 0);
	glBlendFunc(GL_ONE, GL_ONE);	/* a logic operation turns it off */
	glEnable(GL_COLOR_LOGIC_OP);
	logic_op(GL_COPY);
	rect(0, 0.2f, 0, 1, 0);
	gl_expect(3, 3, 0, 51, 0, 255, 0);
	glDisable(GL_COLOR_LOGIC_OP);
	glDisable(GL_BLEND);
	glEnable(GL_DEPTH_TEST);
	glDepthFunc(GL_ALWAYS);
	glDepthMask(GL_FALSE);
	glEnable(GL_STENCIL_TEST);
	glStencilFunc(GL_ALWAYS, 3, 255);
	glStencilOp(GL_REPLACE, GL_KEEP, GL_KEEP);	/* no fragment fails */
	glEnable(GL_POLYGON_OFFSET_FILL);
	glPolygonOffset(0, 0);
	rect(0, 0, 1, 1, 0.9f);
	glDisable(GL_POLYGON_OFFSET_FILL);
	glStencilMask(0);
	glStencilOp(GL_REPLACE, GL_REPLACE, GL_REPLACE);
	rect(0, 0, 1, 1, 0.9f);
	gl_expect(3, 3, 0, 0, 255, 255, 0);
	glStencilMask(255);
}

static void something(logic_op_fn logic_op)
{
	gl_case("the same states when they change something");
	printf("# B\n");
	/* the depth is as it was cleared, so is the stencil */
	glDepthFunc(GL_LESS);
	glStencilFunc(GL_EQUAL, 0, 255);
	glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
	rect(0, 1, 0, 1, 0.8f);
	gl_expect(3, 3, 0, 255, 0, 255, 0);
	glDepthFunc(GL_ALWAYS);
	glDepthMask(GL_TRUE);
	glStencilFunc(GL_ALWAYS, 7, 255);
	glStencilOpSeparate(GL_FRONT, GL_KEEP, GL_KEEP, GL_REPLACE);
	rect(0, 0, 1, 1, -0.5f);
	glDepthFunc(GL_LESS);
	glStencilFunc(GL_EQUAL, 7, 255);
	rect(1, 0, 0, 1, 0);		/* behind */
	gl_expect(3, 3, 0, 0, 255, 255, 0);
	rect(1, 0, 0, 1, -0.7f);
	gl_expect(3, 3, 255, 0, 0, 255, 0);
	glDisable(GL_DEPTH_TEST);
	glDisable(GL_STENCIL_TEST);
	glEnable(GL_BLEND);
	glBlendFuncSeparate(GL_ONE, GL_ZERO, GL_ZERO, GL_ONE);
	rect(0, 1, 0, 0.2f, 0);		/* the alpha stays */
	gl_expect(3, 3, 0, 255, 0, 255, 0);
	glBlendFunc(GL_ONE, GL_ZERO);
	glBlendEquation(GL_MIN);	/* which knows no factors */
	rect(1, 0.2f, 1, 1, 0);
	gl_expect(3, 3, 0, 51, 0, 255, 0);
	glBlendEquation(GL_FUNC_ADD);
	glDisable(GL_BLEND);
	glEnable(GL_COLOR_LOGIC_OP);
	logic_op(GL_XOR);
	rect(1, 0.2f, 0, 0, 0);
	gl_expect(3, 3, 255, 0, 0, 255, 0);
	glDisable(GL_COLOR_LOGIC_OP);
}

/* ---- Dithering ------------------------------------------------------------------------------ */

/* How many different colors a picture of one color has. */
static int colors(GLenum format)
{
	uint8_t got[SIDE * SIDE][4];
	int count = 0;

	gl_target(SIDE, SIDE, format);
	rect(VALUE, VALUE, VALUE, VALUE, 0);
	glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, got);
	for (int i = 0; i < SIDE * SIDE; i++) {
		int same = 0;

		for (int k = 0; k < i; k++)
			same += got[k][0] == got[i][0] && got[k][3] == got[i][3];
		count += !same;
	}
	return count;
}

static void expect_colors(GLenum format, bool several, const char *name)
{
	int n;

	gl_case(name);
	n = colors(format);
	if (several ? n < 2 : n != 1)
		gl_fail("one color has become %d", n);
}

static void two_targets(void)
{
	static const char both[] = "#version 130\nout vec4 c[2]; void main() {"
		" c[0] = c[1] = vec4(0.43); }";
	static const GLenum buffers[2] = { GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1 };
	uint8_t got[2][SIDE * SIDE][4];
	int differ[2] = { 0 };
	GLuint program, texture;

	gl_case("a short color beside a long one");
	program = gl_program(vs, both);
	gl_target(SIDE, SIDE, GL_RGBA8);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGB565, SIDE, SIDE);
	glFramebufferTexture2D(GL_FRAMEBUFFER, buffers[1], GL_TEXTURE_2D, texture, 0);
	glDrawBuffers(2, buffers);
	gl_rect(-1, -1, 1, 1, 0);
	for (int i = 0; i < 2; i++) {
		glReadBuffer(buffers[i]);
		glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, got[i]);
		for (int x = 1; x < SIDE * SIDE; x++)
			differ[i] += got[i][x][0] != got[i][0][0];
	}
	if (differ[0] || !differ[1])
		gl_fail("%d 8-bit pixels differ, %d 5-bit pixels", differ[0], differ[1]);
	glDeleteProgram(program);
}

int main(void)
{
	logic_op_fn logic_op;
	GLuint program;

	setvbuf(stdout, NULL, _IONBF, 0);
	gl_open_desktop(3, 0);
	logic_op = (logic_op_fn)eglGetProcAddress("glLogicOp");
	program = gl_program(vs, fs);
	color_at = glGetUniformLocation(program, "color");
	gl_target(SIDE, SIDE, GL_RGBA8);
	gl_depth(SIDE, SIDE, GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL_ATTACHMENT);
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
	nothing(logic_op);
	expect_colors(GL_RGBA8, false, "8 bits are not dithered");
	expect_colors(GL_R8, false, "8 bits of red are not dithered");
	expect_colors(GL_RGB10_A2, false, "10 bits are not dithered, nor is the alpha beside them");
	gl_target(SIDE, SIDE, GL_RGBA8);
	gl_depth(SIDE, SIDE, GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL_ATTACHMENT);
	glDepthMask(GL_TRUE);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
	something(logic_op);
	printf("# C\n");
	expect_colors(GL_RGB565, true, "5 and 6 bits are dithered");
	expect_colors(GL_RGBA4, true, "4 bits are dithered");
	expect_colors(GL_RGB5_A1, true, "5 bits are dithered");
	two_targets();
	glUseProgram(program);
	glDisable(GL_DITHER);
	printf("# D\n");
	expect_colors(GL_RGB565, false, "5 and 6 bits when it is off");
	return gl_close();
}
