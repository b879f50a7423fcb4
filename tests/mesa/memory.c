/* SPDX-License-Identifier: MIT */
/*
 * More buffers than there can be: those beyond are refused by GL_OUT_OF_MEMORY, and a program that
 * gives them back goes on. In this process each buffer object costs an open file, of which there
 * are few here; the kernel's driver has no such limit and refuses none.
 */
#include <stdlib.h>
#include <sys/resource.h>

#include "gl.h"

#define BUFFERS 2000
#define FILES 500

static const char vs[] = "attribute vec4 position; void main() { gl_Position = position; }";
static const char fs[] =
	"precision mediump float; void main() { gl_FragColor = vec4(0, 1, 0, 1); }";

/* Returns how many were refused. */
static int fill(GLuint *buffers)
{
	int refused = 0;

	glGenBuffers(BUFFERS, buffers);
	for (int i = 0; i < BUFFERS; i++) {
		glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
		glBufferData(GL_ARRAY_BUFFER, 64, NULL, GL_STATIC_DRAW);
		refused += glGetError() == GL_OUT_OF_MEMORY;
	}
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	return refused;
}

static void draw_green(void)
{
	GLuint program = gl_program(vs, fs);

	gl_target(64, 64, GL_RGBA);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(9, 9, 0, 255, 0, 255, 0);
	glDeleteProgram(program);
}

int main(void)
{
	struct rlimit files;
	GLuint buffers[BUFFERS];
	int first;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max = FILES;
	setrlimit(RLIMIT_NOFILE, &files);
	gl_open(3, 0);
	gl_case("a program draws after it has given back all memory");
	first = fill(buffers);
	glDeleteBuffers(BUFFERS, buffers);
	draw_green();
	gl_case("as many buffers are made as before");
	if (fill(buffers) > first + 8)
		gl_fail("more buffers are refused than the first %d", first);
	glDeleteBuffers(BUFFERS, buffers);
	draw_green();
	gl_case("a buffer of another size is made of what the cache has");
	glGenBuffers(1, buffers);
	glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
	glBufferData(GL_ARRAY_BUFFER, 3 << 20, NULL, GL_STATIC_DRAW);
	gl_no_error();
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	draw_green();
	return gl_close();
}
