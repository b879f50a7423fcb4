/* SPDX-License-Identifier: MIT */
/* Shaders: arithmetic, flow, varyings, uniforms, and what fragments know of themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl.h"

#define SIDE 64

static const char plain[] =
	"attribute vec4 position; varying vec2 at;"
	"void main() { gl_Position = position; at = position.xy * 0.5 + 0.5; }";

/* Draw all of the target with a fragment shader's body, which sets gl_FragColor from "at". */
static GLuint body(const char *declarations, const char *text)
{
	char fs[2048];
	GLuint program;

	snprintf(fs, sizeof(fs),
		 "#extension GL_OES_standard_derivatives : enable\n"
		 "precision highp float; varying vec2 at; %s\nvoid main() { %s }",
		 declarations, text);
	program = gl_program(plain, fs);
	return program;
}

static void run(const char *name, const char *declarations, const char *text, int r, int g, int b,
		int a)
{
	GLuint program;

	gl_case(name);
	program = body(declarations, text);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(16, 48, r, g, b, a, 1);
	glDeleteProgram(program);
}

static void fragments(void)
{
	/* pixel (16, 48): at = (16.5, 48.5) / 64 */
	run("a varying is interpolated", "", "gl_FragColor = vec4(at, 0.0, 1.0);", 66, 193, 0, 255);
	run("gl_FragCoord", "",
	    "gl_FragColor = vec4(gl_FragCoord.xy / 64.0, gl_FragCoord.z, gl_FragCoord.w);", 66, 193,
	    128, 255);
	run("gl_FrontFacing", "",
	    "gl_FragColor = gl_FrontFacing ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0);", 0, 255, 0,
	    255);
	run("transcendental functions", "",
	    "gl_FragColor = vec4(exp2(-1.0 - at.x * 0.0), log2(1.414213562 + at.x * 0.0), "
	    "sin(0.5235988 + at.x * 0.0),"
	    " pow(0.25 + at.x * 0.0, 0.5));",
	    128, 128, 128, 128);
	run("derivatives", "",
	    "gl_FragColor = vec4(dFdx(at.x) * 32.0, dFdy(at.y) * 16.0, fwidth(at.x) * 64.0, 1.0);",
	    128, 64, 255, 255);
	run("a loop", "",
	    "float sum = 0.0; for (int i = 0; i < 10; i++) { if (float(i) > at.x * 16.5) break; "
	    "sum += 0.1; }"
	    " gl_FragColor = vec4(sum);",
	    128, 128, 128, 128);
	run("branches that part a quad", "",
	    "float v = mod(floor(gl_FragCoord.x), 2.0) < 0.5 ? sin(at.x * 0.0) + 0.25 : 1.0; "
	    "gl_FragColor = vec4(v);",
	    64, 64, 64, 64);
	run("an array that is indexed", "uniform float unused;",
	    "float v[4]; v[0] = 0.1; v[1] = 0.2; v[2] = 0.4; v[3] = 0.8; int i = int(at.x * "
	    "8.0); gl_FragColor = vec4(v[i]);",
	    102, 102, 102, 102);
	run("integers and rounding", "",
	    "gl_FragColor = vec4(float(int(at.x * 7.9)) / 4.0, floor(at.y * 4.0) / 4.0,"
	    " fract(at.x * 4.0), sign(-at.x));",
	    128, 191, 8, 0);
}

static void discards(void)
{
	GLuint program;

	gl_case("discard leaves what is there");
	glClearColor(1, 1, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	program = body("", "if (at.x < 0.5) discard; gl_FragColor = vec4(0.0, 0.0, 1.0, 1.0);");
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(31, 9, 255, 255, 0, 255, 0);
	gl_expect(32, 9, 0, 0, 255, 255, 0);
	glDeleteProgram(program);
}

static void discards_stencil(void)
{
	GLuint program;

	gl_case("discard without a color leaves stencil and depth as they are");
	gl_target(SIDE, SIDE, GL_RGBA);
	gl_depth(SIDE, SIDE, GL_STENCIL_INDEX8, GL_STENCIL_ATTACHMENT);
	glClearStencil(0);
	glClearColor(0, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
	glEnable(GL_STENCIL_TEST);
	glStencilFunc(GL_ALWAYS, 1, 0xff);
	glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
	program = body("", "if (at.x < 0.5) discard;");
	gl_rect(-1, -1, 1, 1, 0);
	glDeleteProgram(program);
	program = body("", "if (int(gl_FragCoord.y) / 16 != 1) discard;");
	glStencilFunc(GL_ALWAYS, 2, 0xff);
	gl_rect(-1, -1, 0, 1, 0);
	glDeleteProgram(program);
	program = body("", "gl_FragColor = vec4(1.0, 1.0, 1.0, 1.0);");
	glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
	glStencilFunc(GL_EQUAL, 1, 0xff);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(9, 9, 0, 0, 0, 255, 0);
	gl_expect(40, 9, 255, 255, 255, 255, 0);
	glDeleteProgram(program);
	program = body("", "gl_FragColor = vec4(1.0, 0.0, 0.0, 1.0);");
	glStencilFunc(GL_EQUAL, 2, 0xff);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(9, 9, 0, 0, 0, 255, 0);
	gl_expect(9, 20, 255, 0, 0, 255, 0);
	gl_expect(9, 40, 0, 0, 0, 255, 0);
	glDisable(GL_STENCIL_TEST);
	glDeleteProgram(program);
}

static void uniforms(void)
{
	float values[100 * 4];
	GLuint program;

	gl_case("an array of uniforms, pushed and loaded");
	program =
		body("uniform vec4 table[100]; uniform int first;",
		     "int i = first + int(at.x * 99.0); gl_FragColor = table[i] + table[3] * 0.0;");
	for (int i = 0; i < 400; i++)
		values[i] = (float)(i / 4) / 255;
	glUniform4fv(glGetUniformLocation(program, "table"), 100, values);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(16, 9, 25, 25, 25, 25, 0);
	gl_expect(63, 9, 98, 98, 98, 98, 0);
	glUniform1i(glGetUniformLocation(program, "first"), 1);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(16, 9, 26, 26, 26, 26, 0);
	glDeleteProgram(program);

	gl_case("uniforms that change with each draw");
	program = body("uniform vec4 color;", "gl_FragColor = color;");
	for (int i = 0; i < 16; i++) {
		glUniform4f(glGetUniformLocation(program, "color"), (float)i / 15, 0, 1, 1);
		gl_rect(-1 + (float)i / 8, -1, -1 + (float)(i + 1) / 8, 1, 0);
	}
	for (int i = 0; i < 16; i++)
		gl_expect(4 * i + 2, 30, 17 * i, 0, 255, 255, 1);
	glDeleteProgram(program);
}

static void perspective(void)
{
	static const char vs[] =
		"attribute vec4 position; attribute float value; varying float v;"
		"void main() { gl_Position = position; v = value; }";
	static const char fs[] =
		"precision highp float; varying float v; void main() { gl_FragColor = vec4(v); }";
	static const GLfloat corners[] = { -1, -1, 0, 1, -1, 1, 0, 1, 3, -3, 0, 3, 3, 3, 0, 3 };
	static const GLfloat values[] = { 0, 0, 1, 1 };
	GLuint program = gl_program(vs, fs);

	gl_case("varyings are interpolated with perspective");
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, corners);
	glVertexAttribPointer(1, 1, GL_FLOAT, GL_FALSE, 0, values);
	glEnableVertexAttribArray(0);
	glEnableVertexAttribArray(1);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
	/*
	 * halfway on the screen: (1/3) / (1 + 1/3) = 1/4; the pixel's center is half a pixel
	 * further
	 */
	gl_expect(32, 32, 65, 65, 65, 65, 1);
	gl_expect(0, 0, 1, 1, 1, 1, 1);
	gl_expect(63, 63, 250, 250, 250, 250, 2);
	glDisableVertexAttribArray(1);
	glDeleteProgram(program);
}

static void clipped(void)
{
	static const GLfloat corners[] = { -1, -1, 0, 1, 1, -1, 0, 1, 0, 3, 0, -1 };
	GLuint program = body("", "gl_FragColor = vec4(0.0, 1.0, 0.0, 1.0);");

	gl_case("a triangle that reaches behind the viewer");
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, corners);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	gl_expect(32, 2, 0, 255, 0, 255, 0);
	gl_no_error();
	glDeleteProgram(program);
}

static void attributes(void)
{
	static const char vs[] =
		"attribute vec4 position; attribute vec4 value; varying vec4 v;"
		"void main() { gl_Position = position; v = value; }";
	static const char fs[] =
		"precision highp float; varying vec4 v; void main() { gl_FragColor = v; }";
	static const uint8_t bytes[16 * 4] = {
		[0] = 255, 51, [16] = 255, 51, [32] = 255, 51, [48] = 255, 51
	};
	static const int16_t shorts[4 * 2] = { 32767, 16384, 32767, 16384,
					       32767, 16384, 32767, 16384 };
	static const GLfloat pair[2] = { 0.2f, 0.8f };
	uint8_t odd[1 + 4 * 9];
	GLuint program = gl_program(vs, fs), buffer;

	gl_case("attributes of bytes with a stride, of shorts, and constant ones");
	glEnableVertexAttribArray(1);
	glVertexAttribPointer(1, 2, GL_UNSIGNED_BYTE, GL_TRUE, 16, bytes);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(9, 9, 255, 51, 0, 255, 0);
	glVertexAttribPointer(1, 2, GL_SHORT, GL_TRUE, 0, shorts);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(9, 9, 255, 128, 0, 255, 1);
	glDisableVertexAttribArray(1);
	glVertexAttrib4f(1, 0.2f, 0.4f, 0.6f, 0.8f);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(9, 9, 51, 102, 153, 204, 0);

	gl_case("floats at odd addresses");
	for (int i = 0; i < 4; i++)
		memcpy(odd + 1 + 9 * i, pair, sizeof(pair));
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof(odd), odd, GL_STATIC_DRAW);
	glEnableVertexAttribArray(1);
	glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 9, (const void *)1);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(9, 9, 51, 204, 0, 255, 0);
	glDisableVertexAttribArray(1);
	glDeleteBuffers(1, &buffer);
	glDeleteProgram(program);
}

static void many(void)
{
	GLuint program = body("uniform vec4 color;", "gl_FragColor = color;");
	const GLint at = glGetUniformLocation(program, "color");

	gl_case("five thousand draws");
	glClear(GL_COLOR_BUFFER_BIT);
	srand(1);
	for (int i = 0; i < 5000; i++) {
		const int x = rand() % 16, y = rand() % 16;

		glUniform4f(at, (float)x / 15, (float)y / 15, 0, 1);
		gl_rect(-1 + (float)x / 8, -1 + (float)y / 8, -1 + (float)(x + 1) / 8,
			-1 + (float)(y + 1) / 8, 0);
	}
	for (int y = 0; y < 16; y++)
		for (int x = 0; x < 16; x++)
			gl_expect(4 * x + 1, 4 * y + 1, 17 * x, 17 * y, 0, 255, 1);
	glDeleteProgram(program);
}

int main(void)
{
	gl_open(2, 0);
	gl_target(SIDE, SIDE, GL_RGBA);
	fragments();
	discards();
	discards_stencil();
	uniforms();
	perspective();
	clipped();
	attributes();
	many();
	return gl_close();
}
