/* SPDX-License-Identifier: MIT */
/* Clears, transfers and the first triangles. */
#include <stdlib.h>

#include "gl.h"

#define SIDE 100

static const char plain_vs[] = "attribute vec4 position; void main() { gl_Position = position; }";
static const char plain_fs[] =
	"precision mediump float; uniform vec4 color; void main() { gl_FragColor = color; }";

static void clears(void)
{
	gl_case("a clear fills the target");
	gl_target(SIDE, SIDE, GL_RGBA);
	glClearColor(0.2f, 0.4f, 0.6f, 0.8f);
	glClear(GL_COLOR_BUFFER_BIT);
	gl_expect(0, 0, 51, 102, 153, 204, 0);
	gl_expect(SIDE - 1, SIDE - 1, 51, 102, 153, 204, 0);

	gl_case("a clear with a scissor fills the scissor");
	glEnable(GL_SCISSOR_TEST);
	glScissor(10, 20, 30, 40);
	glClearColor(1, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glDisable(GL_SCISSOR_TEST);
	gl_expect(10, 20, 255, 0, 0, 255, 0);
	gl_expect(39, 59, 255, 0, 0, 255, 0);
	gl_expect(9, 20, 51, 102, 153, 204, 0);
	gl_expect(40, 59, 51, 102, 153, 204, 0);
	gl_expect(39, 60, 51, 102, 153, 204, 0);

	gl_case("a clear with a color mask keeps the other components");
	glColorMask(GL_FALSE, GL_TRUE, GL_FALSE, GL_FALSE);
	glClearColor(0, 1, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
	gl_expect(10, 20, 255, 255, 0, 255, 0);
	gl_expect(0, 0, 51, 255, 153, 204, 0);
}

static void transfers(void)
{
	static uint8_t picture[37 * 53 * 4], back[37 * 53 * 4];
	GLuint texture, fb;

	gl_case("what is uploaded is read back, and parts of it");
	for (unsigned int i = 0; i < sizeof(picture); i++)
		picture[i] = (uint8_t)(i * 7 + i / 256);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 37, 53, 0, GL_RGBA, GL_UNSIGNED_BYTE, picture);
	glGenFramebuffers(1, &fb);
	glBindFramebuffer(GL_FRAMEBUFFER, fb);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	glReadPixels(0, 0, 37, 53, GL_RGBA, GL_UNSIGNED_BYTE, back);
	for (unsigned int i = 0; i < sizeof(picture); i++)
		if (picture[i] != back[i])
			gl_fail("byte %u is 0x%x, expected 0x%x", i, back[i], picture[i]);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 5, 9, 2, 1, GL_RGBA, GL_UNSIGNED_BYTE, picture);
	gl_expect(5, 9, picture[0], picture[1], picture[2], picture[3], 0);
	gl_expect(7, 9, picture[(9 * 37 + 7) * 4], picture[(9 * 37 + 7) * 4 + 1],
		  picture[(9 * 37 + 7) * 4 + 2], picture[(9 * 37 + 7) * 4 + 3], 0);
}

static void triangles(void)
{
	GLuint program = gl_program(plain_vs, plain_fs);
	const GLfloat corner[] = { -1, -1, 1, -1, -1, 1 };

	gl_case("a rectangle covers its pixels and no others");
	gl_target(SIDE, SIDE, GL_RGBA);
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	glUniform4f(glGetUniformLocation(program, "color"), 1, 0.5f, 0.25f, 1);
	gl_rect(-0.5f, -0.5f, 0.5f, 0.5f, 0);
	gl_expect(25, 25, 255, 128, 64, 255, 1);
	gl_expect(74, 74, 255, 128, 64, 255, 1);
	gl_expect(24, 50, 0, 0, 0, 0, 0);
	gl_expect(75, 50, 0, 0, 0, 0, 0);
	gl_expect(50, 24, 0, 0, 0, 0, 0);
	gl_expect(50, 75, 0, 0, 0, 0, 0);

	gl_case("y grows upwards");
	glClear(GL_COLOR_BUFFER_BIT);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corner);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	gl_expect(5, 5, 255, 128, 64, 255, 1);
	gl_expect(90, 5, 255, 128, 64, 255, 1);
	gl_expect(5, 90, 255, 128, 64, 255, 1);
	gl_expect(90, 90, 0, 0, 0, 0, 0);

	gl_case("back faces are culled, front faces are not");
	glEnable(GL_CULL_FACE);
	glClear(GL_COLOR_BUFFER_BIT);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	gl_expect(5, 5, 255, 128, 64, 255, 1);
	glFrontFace(GL_CW);
	glClear(GL_COLOR_BUFFER_BIT);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	gl_expect(5, 5, 0, 0, 0, 0, 0);
	glFrontFace(GL_CCW);
	glDisable(GL_CULL_FACE);
}

int main(void)
{
	gl_open(2, 0);
	clears();
	transfers();
	triangles();
	return gl_close();
}
