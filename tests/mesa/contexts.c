/* SPDX-License-Identifier: MIT */
/*
 * Contexts that come and go leave nothing behind: 10000 of them, some hundred when TSR_QUICK is
 * set. Each has a shader, a texture, a buffer and a framebuffer of its own and draws.
 */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <EGL/egl.h>

#include "gl.h"

#define WARM		200		/* contexts until caches are what they will be */
#define SLACK	(256 << 10)	/* bytes that the heap may waver by, */
#define GROWTH	256		/* bytes for each context */

static EGLDisplay display;
static EGLConfig config;

/* Bytes that were allocated and not freed, of the device too. */
static long allocated(void)
{
	const struct mallinfo2 info = mallinfo2();

	return (long)(info.uordblks + info.hblkhd);
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* The pixel it has drawn; the objects go with the context. */
static uint32_t draw(int number)
{
	const uint8_t color[4] = { (uint8_t)number, (uint8_t)(number >> 8), 77, 255 };
	uint32_t pixel = 0;
	GLuint texture;

	gl_target(32, 32, GL_RGBA);
	gl_program("attribute vec4 position; void main() { gl_Position = position; }",
		   "precision mediump float; uniform sampler2D t;"
		   " void main() { gl_FragColor = texture2D(t, vec2(0.5)); }");
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, color);
	gl_rect(-1, -1, 1, 1, 0);
	glReadPixels(16, 16, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, &pixel);
	return pixel;
}

static void one(int number)
{
	static const EGLint version[] = { EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE };
	const uint32_t wanted = (uint32_t)(number & 0xffff) | 77u << 16 | 255u << 24;
	EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
	uint32_t got;

	if (!context || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
		gl_fail("context %d: EGL error 0x%x", number, eglGetError());
		return;
	}
	got = draw(number);
	if (got != wanted)
		gl_fail("context %d has drawn %08x, not %08x", number, got, wanted);
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, context);
}

int main(void)
{
	const int count = getenv("TSR_QUICK") ? 300 : 10000;
	long before = 0, after;
	EGLContext first;
	int files = 0, n = 0;

	gl_open(2, 0);
	display = eglGetCurrentDisplay();
	first = eglGetCurrentContext();
	eglChooseConfig(display, (const EGLint[]){ EGL_NONE }, &config, 1, &n);
	gl_case("contexts that come and go leave nothing behind");
	for (int i = 0; i < WARM + count; i++) {
		if (i == WARM) {
			before = allocated();
			files = descriptors();
		}
		one(i);
	}
	after = allocated();
	printf("# %d contexts, %ld KiB before, %ld KiB after\n", count, before >> 10, after >> 10);
	if (after - before > SLACK + count * GROWTH)
		gl_fail("%ld KiB are lost", (after - before) >> 10);
	n = descriptors();
	if (n > files)
		gl_fail("there are %d files open, not %d", n, files);
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, first);
	return gl_close();
}
