// SPDX-License-Identifier: MIT
/*
 * The reset status of a program whose shader does not end. A new context works.
 * debug: nocache (not sync: work is to wait for the shader)
 * tsr-host: --limit 2000
 */
#include <stdio.h>
#include <string.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include "gl.h"

#include <GLES2/gl2ext.h>

static EGLDisplay display;
static PFNGLGETGRAPHICSRESETSTATUSEXTPROC reset_status;

static EGLContext make(void)
{
	static const EGLint attributes[] = {
		EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0,
		EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET,
		EGL_NONE };
	EGLContext c = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);

	if (c && !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, c)) {
		eglDestroyContext(display, c);
		return EGL_NO_CONTEXT;
	}
	return c;
}

static const char vertex[] = "#version 300 es\n"
	"in vec4 position; void main() { gl_Position = position; }";

/* Submitted, not waited for. */
static void endless(void)
{
	GLuint program = gl_program(vertex, "#version 300 es\n"
		"precision highp float; uniform float step; out vec4 color; void main() {"
		" float x = 0.0; while (x < 1.0) x += step; color = vec4(x); }");

	gl_target(32, 32, GL_RGBA8);
	glUniform1f(glGetUniformLocation(program, "step"), 0.0f);
	gl_rect(-1, -1, 1, 1, 0);
	glFlush();
}

static void use(EGLContext c)
{
	if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, c))
		gl_fail("EGL error 0x%x", eglGetError());
}

static void expect_status(const char *whose, GLenum wanted)
{
	const GLenum got = reset_status();

	if (got != wanted)
		gl_fail("%s is told 0x%x, not 0x%x", whose, got, wanted);
}

static void green(void)
{
	gl_target(32, 32, GL_RGBA8);
	gl_program(vertex, "#version 300 es\n"
		"precision highp float; out vec4 color; void main() { color = vec4(0, 1, 0, 1); }");
	gl_rect(-1, -1, 1, 1, 0);
}

static void good(void)
{
	green();
	gl_expect(16, 16, 0, 255, 0, 255, 0);
}

/* A context that has drawn before, and one that draws after the shader that does not end. */
static void others(void)
{
	EGLContext bad = make(), behind = make(), before = make();

	gl_case("a shader that does not end loses its own context, and what comes after it");
	if (!bad || !behind || !before) {
		gl_fail("no contexts that tell of resets");
		return;
	}
	use(before);
	good();
	use(bad);
	endless();
	use(behind);
	green();
	glFinish();
	expect_status("who has drawn after it", GL_INNOCENT_CONTEXT_RESET_EXT);
	use(bad);
	expect_status("whose shader it was", GL_GUILTY_CONTEXT_RESET_EXT);

	gl_case("who had drawn before has lost nothing, and goes on");
	use(before);
	expect_status("who had drawn before", GL_NO_ERROR);
	gl_expect(16, 16, 0, 255, 0, 255, 0);
	good();
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, bad);
	eglDestroyContext(display, behind);
	eglDestroyContext(display, before);
}

int main(void)
{
	EGLContext lost, other;

	gl_open(3, 0);
	display = eglGetCurrentDisplay();
	reset_status = (void *)eglGetProcAddress("glGetGraphicsResetStatusEXT");
	if (!reset_status)
		reset_status = (void *)eglGetProcAddress("glGetGraphicsResetStatusKHR");

	gl_case("a shader that does not end loses the context, and says so");
	lost = make();
	if (!lost || !reset_status) {
		gl_fail("no context that tells of resets");
		return gl_close();
	}
	good();
	expect_status("a context before the shader", GL_NO_ERROR);
	endless();
	glFinish();
	expect_status("whose shader it was", GL_GUILTY_CONTEXT_RESET_EXT);

	gl_case("a new context draws");
	other = make();
	if (!other) {
		gl_fail("no other context");
		return gl_close();
	}
	good();
	expect_status("a new context", GL_NO_ERROR);
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, lost);
	eglDestroyContext(display, other);
	others();
	return gl_close();
}
