// SPDX-License-Identifier: MIT
/*
 * What a program is told when its shader does not end, and that it can go on with a new context.
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

static void endless(void)
{
	GLuint program = gl_program(vertex, "#version 300 es\n"
		"precision highp float; uniform float step; out vec4 color; void main() {"
		" float x = 0.0; while (x < 1.0) x += step; color = vec4(x); }");

	gl_target(32, 32, GL_RGBA8);
	glUniform1f(glGetUniformLocation(program, "step"), 0.0f);
	gl_rect(-1, -1, 1, 1, 0);
	glFinish();
}

static void good(void)
{
	gl_target(32, 32, GL_RGBA8);
	gl_program(vertex, "#version 300 es\n"
		"precision highp float; out vec4 color; void main() { color = vec4(0, 1, 0, 1); }");
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(16, 16, 0, 255, 0, 255, 0);
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
	if (reset_status() != GL_NO_ERROR)
		gl_fail("a reset before the shader");
	endless();
	if (reset_status() == GL_NO_ERROR)
		gl_fail("no reset is told of");

	gl_case("a new context draws");
	other = make();
	if (!other) {
		gl_fail("no other context");
		return gl_close();
	}
	good();
	if (reset_status() != GL_NO_ERROR)
		gl_fail("the new context tells of a reset");
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, lost);
	eglDestroyContext(display, other);
	return gl_close();
}
