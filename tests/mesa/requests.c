// SPDX-License-Identifier: MIT
/*
 * How often the driver asks the kernel: jobs say in memory how far they are, so a frame costs the
 * request that submits it, and at most one that waits.
 * debug: shaders (not sync, which waits for each batch)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#include "gl.h"

#define FRAMES 64
#define SIDE 256

static const char vs[] = "attribute vec4 position; void main() { gl_Position = position; }";
static const char fs[] =
	"precision mediump float; void main() { gl_FragColor = vec4(0, 1, 0, 1); }";

static _Atomic unsigned int requests;

/* In front of the one that libtessera-host.so puts in front of the C library's. */
int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int fd, unsigned long request, void *argument);
	void *argument;
	va_list list;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ioctl");
	requests++;
	return next(fd, request, argument);
}

/* One of the things that are repeated. */
typedef void work(void);

static void draw(void)
{
	gl_rect(-1, -1, 1, 1, 0);
}

static void copy(void)
{
	glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, SIDE, SIDE);
}

static void repeat(work *run, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		run();
		glFlush();
	}
}

static void count(const char *name, work *run)
{
	unsigned int before;

	gl_case(name);
	/* memory and queues are there then */
	repeat(run, 16);
	glFinish();
	before = requests;
	repeat(run, FRAMES);
	if (requests - before < FRAMES || requests - before > 2 * FRAMES + 4)
		gl_fail("%u requests for %d jobs", requests - before, FRAMES);
	gl_no_error();
}

int main(void)
{
	GLuint texture;

	gl_open(3, 0);
	gl_program(vs, fs);
	gl_target(SIDE, SIDE, GL_RGBA8);
	count("frames", draw);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SIDE, SIDE);
	count("copies", copy);
	return gl_close();
}
