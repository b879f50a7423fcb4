/* SPDX-License-Identifier: MIT */
/*
 * Contexts of three priorities in one process: each has queues of its own, and what one draws the
 * next one reads.
 * debug: trace
 * says: queue of rendering, priority 0
 */
#include <linux/capability.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include "gl.h"

#define SIDE	64
#define ROUNDS	30

static const char vs[] = "attribute vec4 position; void main() { gl_Position = position; }";
/* One more than the texture has. */
static const char fs[] =
	"precision highp float; uniform sampler2D t;"
	"void main() { gl_FragColor = texture2D(t, vec2(0.5)) + vec4(1.0 / 255.0); }";

static const EGLint levels[3] = { EGL_CONTEXT_PRIORITY_LOW_IMG, EGL_CONTEXT_PRIORITY_MEDIUM_IMG,
				  EGL_CONTEXT_PRIORITY_HIGH_IMG };
static EGLContext context[3];
static EGLDisplay display;

/* HIGH needs CAP_SYS_NICE; EGL gives MEDIUM without it. */
static bool may_be_high(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	return !syscall(SYS_capget, &header, data) && data[0].effective & 1u << CAP_SYS_NICE;
}

static void create(EGLConfig config)
{
	EGLint level;

	for (int i = 0; i < 3; i++) {
		const EGLint wanted = i == 2 && !may_be_high() ? levels[1] : levels[i];
		const EGLint attributes[] = { EGL_CONTEXT_CLIENT_VERSION, 2,
					      EGL_CONTEXT_PRIORITY_LEVEL_IMG, levels[i], EGL_NONE };

		context[i] = eglCreateContext(display, config, i ? context[0] : EGL_NO_CONTEXT,
					      attributes);
		if (!context[i])
			gl_fail("context %d: EGL error 0x%x", i, eglGetError());
		level = 0;
		eglQueryContext(display, context[i], EGL_CONTEXT_PRIORITY_LEVEL_IMG, &level);
		if (level != wanted)
			gl_fail("context %d has level 0x%x, not 0x%x", i, level, wanted);
	}
}

/* A program and a framebuffer of each context that draws to one of the two textures. */
static void prepare(GLuint texture[2], GLuint framebuffer[2])
{
	for (int i = 0; i < 2; i++) {
		glGenFramebuffers(1, &framebuffer[i]);
		glBindFramebuffer(GL_FRAMEBUFFER, framebuffer[i]);
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
				       texture[i], 0);
	}
	glViewport(0, 0, SIDE, SIDE);
	gl_program(vs, fs);
}

static void draw_in_turns(void)
{
	GLuint texture[2], framebuffer[3][2];

	for (int i = 0; i < 3; i++) {
		eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context[i]);
		if (!i) {
			texture[0] = gl_target(SIDE, SIDE, GL_RGBA);
			glClear(GL_COLOR_BUFFER_BIT);
			texture[1] = gl_target(SIDE, SIDE, GL_RGBA);
			glFlush();
		}
		prepare(texture, framebuffer[i]);
	}
	for (int n = 0; n < ROUNDS; n++) {
		eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context[n * 7 % 3]);
		glBindTexture(GL_TEXTURE_2D, texture[n & 1]);
		glBindFramebuffer(GL_FRAMEBUFFER, framebuffer[n * 7 % 3][!(n & 1)]);
		gl_rect(-1, -1, 1, 1, 0);
		glFlush();
	}
	gl_expect(SIDE / 2, SIDE / 2, ROUNDS, ROUNDS, ROUNDS, ROUNDS, 0);
	gl_no_error();
}

int main(void)
{
	EGLConfig config = NULL;
	EGLContext first;
	EGLint count = 0;

	gl_open(2, 0);
	display = eglGetCurrentDisplay();
	first = eglGetCurrentContext();
	eglChooseConfig(display, (const EGLint[]){ EGL_NONE }, &config, 1, &count);
	gl_case("a context has the priority that it asks for");
	create(config);
	gl_case("contexts of all priorities draw in the order of their calls");
	draw_in_turns();
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, first);
	for (int i = 0; i < 3; i++)
		eglDestroyContext(display, context[i]);
	return gl_close();
}
