// SPDX-License-Identifier: MIT
/* Contexts of several threads: drawing at the same time, and a texture that they share. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include "gl.h"

#define THREADS	4
#define ROUNDS	40
#define SIZE	64

static EGLDisplay display;
static EGLContext first;
static GLuint shared;

struct worker {
	pthread_t thread;
	int number;
	bool sample;
	char error[128];
};

static GLuint compile(GLenum type, const char *text)
{
	GLuint s = glCreateShader(type);

	glShaderSource(s, 1, &text, NULL);
	glCompileShader(s);
	return s;
}

static GLuint program(bool sample)
{
	GLuint p = glCreateProgram();

	glAttachShader(p, compile(GL_VERTEX_SHADER,
		"attribute vec4 position; varying vec2 at; void main() {"
		" gl_Position = position; at = position.xy * 0.5 + 0.5; }"));
	glAttachShader(p, compile(GL_FRAGMENT_SHADER, sample ?
		"precision mediump float; varying vec2 at; uniform sampler2D t; uniform vec4 c;"
		" void main() { gl_FragColor = texture2D(t, at) + c * 0.0; }" :
		"precision mediump float; uniform vec4 c; void main() { gl_FragColor = c; }"));
	glBindAttribLocation(p, 0, "position");
	glLinkProgram(p);
	glUseProgram(p);
	return p;
}

static bool round_of(struct worker *w, GLuint p, int round)
{
	static const float corners[] = { -1, -1, 1, -1, -1, 1, 1, 1 };
	uint8_t wanted[4] = { (uint8_t)(round * 5), (uint8_t)(w->number * 50), 255, 255 };
	uint8_t pixels[SIZE * SIZE][4];

	if (w->sample)
		memcpy(wanted, (uint8_t[]){ 10, 20, 30, 255 }, 4);
	glUniform4f(glGetUniformLocation(p, "c"), (float)wanted[0] / 255, (float)wanted[1] / 255,
		    1, 1);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
	glEnableVertexAttribArray(0);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	for (int i = 0; i < SIZE * SIZE; i++) {
		if (memcmp(pixels[i], wanted, 4)) {
			snprintf(w->error, sizeof(w->error),
				 "thread %d round %d pixel %d is %d %d %d %d", w->number, round, i,
				 pixels[i][0], pixels[i][1], pixels[i][2], pixels[i][3]);
			return false;
		}
	}
	return true;
}

static void *work(void *arg)
{
	static const EGLint attributes[] = { EGL_CONTEXT_MAJOR_VERSION, 2, EGL_NONE };
	struct worker *w = arg;
	EGLContext c = eglCreateContext(display, EGL_NO_CONFIG_KHR, first, attributes);

	if (!c || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, c)) {
		snprintf(w->error, sizeof(w->error), "thread %d has no context", w->number);
		return NULL;
	}
	gl_target(SIZE, SIZE, GL_RGBA);
	if (w->sample)
		glBindTexture(GL_TEXTURE_2D, shared);
	for (int round = 0; round < ROUNDS && !w->error[0]; round++) {
		GLuint p = program(w->sample);

		round_of(w, p, round);
		glDeleteProgram(p);
	}
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, c);
	return NULL;
}

static void run(bool sample)
{
	struct worker w[THREADS] = { 0 };

	for (int i = 0; i < THREADS; i++) {
		w[i].number = i;
		w[i].sample = sample;
		if (pthread_create(&w[i].thread, NULL, work, &w[i])) {
			gl_fail("no thread");
			return;
		}
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		if (w[i].error[0])
			gl_fail("%s", w[i].error);
	}
}

int main(void)
{
	uint8_t texels[SIZE * SIZE][4];

	gl_open(2, 0);
	display = eglGetCurrentDisplay();
	first = eglGetCurrentContext();
	for (int i = 0; i < SIZE * SIZE; i++)
		memcpy(texels[i], (uint8_t[]){ 10, 20, 30, 255 }, 4);
	glGenTextures(1, &shared);
	glBindTexture(GL_TEXTURE_2D, shared);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, SIZE, SIZE, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glFinish();
	gl_case("threads draw in contexts of their own");
	run(false);
	gl_case("threads sample a texture that they share");
	run(true);
	return gl_close();
}
