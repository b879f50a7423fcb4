// SPDX-License-Identifier: MIT
/*
 * Speed of single GL operations on whatever driver EGL finds. The harness (compare.py) starts this
 * program once for each driver and lets the two take turns.
 *
 * Requests are lines on standard input, answers are lines on standard output:
 *	list			the names of all operations, one a line, then "."
 *	begin NAME		prepares it and chooses how often it runs; answer: "ok"
 *	time			nanoseconds of one run: of the processor with OPS_CLOCK=cpu,
 *				else of time
 *	picture FILE		the target as 32-bit floats, RGBA; answer: "ok", or "none"
 *	end			deletes what begin created; answer: "ok"
 */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ops.h"

#define SECONDS		0.12		/* of a measurement, about */
#define OBJECTS_MAX	64

static const struct op *const tables[] = {
	ops_fragment, ops_output, ops_vertex, ops_compute, ops_blit, ops_update,
};

/* Objects of the operation that is prepared. */
static struct {
	enum { PROGRAM, TEXTURE, BUFFER, FRAMEBUFFER, RENDERBUFFER } kind;
	GLuint name;
} object[OBJECTS_MAX];
static unsigned int objects;
static GLuint shown;

void ops_die(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("ops: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	exit(1);
}

void ops_check(const char *what)
{
	GLenum error = glGetError();

	if (error)
		ops_die("%s: GL error 0x%x", what, error);
}

static GLuint keep(int kind, GLuint name)
{
	if (objects == OBJECTS_MAX)
		ops_die("an operation has too many objects");
	object[objects].kind = kind;
	object[objects++].name = name;
	return name;
}

static void attach(GLuint program, GLenum type, const char *text)
{
	GLuint shader = glCreateShader(type);
	char log[2048] = "";
	GLint good;

	glShaderSource(shader, 1, &text, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
	if (!good) {
		glGetShaderInfoLog(shader, sizeof(log), NULL, log);
		ops_die("%s\n%s", text, log);
	}
	glAttachShader(program, shader);
	glDeleteShader(shader);
}

static GLuint link_program(GLuint program)
{
	GLint good;

	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &good);
	if (!good)
		ops_die("a program does not link");
	glUseProgram(program);
	return keep(PROGRAM, program);
}

GLuint ops_program(const char *vertex, const char *fragment)
{
	GLuint program = glCreateProgram();

	attach(program, GL_VERTEX_SHADER, vertex);
	attach(program, GL_FRAGMENT_SHADER, fragment);
	return link_program(program);
}

GLuint ops_compute_program(const char *text)
{
	GLuint program = glCreateProgram();

	attach(program, GL_COMPUTE_SHADER, text);
	return link_program(program);
}

GLuint ops_texture(GLenum target)
{
	GLuint name;

	glGenTextures(1, &name);
	glBindTexture(target, name);
	return keep(TEXTURE, name);
}

GLuint ops_buffer(GLenum target, const void *data, size_t size)
{
	GLuint name;

	glGenBuffers(1, &name);
	glBindBuffer(target, name);
	glBufferData(target, (GLsizeiptr)size, data, GL_STATIC_DRAW);
	return keep(BUFFER, name);
}

static GLuint renderbuffer(GLenum format, unsigned int samples)
{
	GLuint name;

	glGenRenderbuffers(1, &name);
	glBindRenderbuffer(GL_RENDERBUFFER, name);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, (GLsizei)samples, format, OPS_SIDE,
		OPS_SIDE);
	return keep(RENDERBUFFER, name);
}

/* The depth buffer keeps llvmpipe from discarding draws that a later opaque one covers. */
GLuint ops_target(GLenum format, unsigned int count, unsigned int samples)
{
	GLenum draw[8];
	GLuint name;

	glGenFramebuffers(1, &name);
	glBindFramebuffer(GL_FRAMEBUFFER, name);
	keep(FRAMEBUFFER, name);
	for (unsigned int i = 0; i < count; i++) {
		draw[i] = GL_COLOR_ATTACHMENT0 + i;
		if (samples) {
			glFramebufferRenderbuffer(GL_FRAMEBUFFER, draw[i], GL_RENDERBUFFER,
						  renderbuffer(format, samples));
		} else {
			GLuint texture = ops_texture(GL_TEXTURE_2D);

			glTexStorage2D(GL_TEXTURE_2D, 1, format, OPS_SIDE, OPS_SIDE);
			glFramebufferTexture2D(GL_FRAMEBUFFER, draw[i], GL_TEXTURE_2D, texture,
				0);
		}
	}
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER,
				  renderbuffer(GL_DEPTH24_STENCIL8, samples));
	glDrawBuffers((GLsizei)count, draw);
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		ops_die("a framebuffer of format 0x%x is not complete", format);
	glViewport(0, 0, OPS_SIDE, OPS_SIDE);
	glClearColor(.2f, .4f, .6f, 1);
	glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
	ops_show(name);
	return name;
}

void ops_show(GLuint framebuffer)
{
	shown = framebuffer;
}

static void delete_object(unsigned int i)
{
	GLuint name = object[i].name;

	switch (object[i].kind) {
	case PROGRAM: glDeleteProgram(name); break;
	case TEXTURE: glDeleteTextures(1, &name); break;
	case BUFFER: glDeleteBuffers(1, &name); break;
	case FRAMEBUFFER: glDeleteFramebuffers(1, &name); break;
	case RENDERBUFFER: glDeleteRenderbuffers(1, &name); break;
	}
}

void ops_end(void)
{
	glUseProgram(0);
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	glDisable(GL_BLEND);
	glDisable(GL_DEPTH_TEST);
	glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
	while (objects)
		delete_object(--objects);
	shown = 0;
	for (unsigned int i = 0; i < 8; i++)
		glDisableVertexAttribArray(i);
	glFinish();
	ops_check("deleting");
}

static double now(void)
{
	const char *which = getenv("OPS_CLOCK");
	struct timespec time;

	clock_gettime(which && !strcmp(which, "cpu") ? CLOCK_PROCESS_CPUTIME_ID :
		CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Nanoseconds of one run out of @count. */
static double measure(const struct op *op, unsigned int count)
{
	double start = now();

	for (unsigned int i = 0; i < count; i++)
		op->run(op);
	glFinish();
	return (now() - start) / count;
}

/* How often the operation runs in a measurement. The first runs compile and are not counted. */
static unsigned int runs_of(const struct op *op)
{
	double one;

	measure(op, 1);
	one = measure(op, 2);
	ops_check(op->name);
	return one * 2 > 1e9 * SECONDS ? 2 : (unsigned int)(1e9 * SECONDS / one);
}

static const struct op *find(const char *name)
{
	for (unsigned int i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		for (const struct op *op = tables[i]; op->name; op++) {
			if (!strcmp(op->name, name))
				return op;
		}
	}
	ops_die("there is no operation %s", name);
}

static void list(void)
{
	for (unsigned int i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		for (const struct op *op = tables[i]; op->name; op++)
			puts(op->name);
	}
	puts(".");
}

/*
 * Writes the first color target after one run to a file, as floats or integers. Returns false if
 * no target can be read. Targets keep what earlier runs have blended, so they are cleared first.
 */
static bool picture(const struct op *op, const char *path)
{
	static float pixel[4 * OPS_SIDE * OPS_SIDE];
	GLint type = GL_FLOAT;
	FILE *file;

	if (!shown)
		return false;
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	glGetError();			/* integer targets cannot be cleared like this */
	op->run(op);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, shown);
	glReadBuffer(GL_COLOR_ATTACHMENT0);
	glGetFramebufferAttachmentParameteriv(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
					      GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE, &type);
	if (type == GL_UNSIGNED_INT)
		glReadPixels(0, 0, OPS_SIDE, OPS_SIDE, GL_RGBA_INTEGER, GL_UNSIGNED_INT, pixel);
	else if (type == GL_FLOAT)
		glReadPixels(0, 0, OPS_SIDE, OPS_SIDE, GL_RGBA, GL_FLOAT, pixel);
	else
		glReadPixels(0, 0, OPS_SIDE, OPS_SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
	if (glGetError())
		return false;
	if (type != GL_FLOAT && type != GL_UNSIGNED_INT) {
		const uint8_t *byte = (const uint8_t *)pixel;

		for (unsigned int i = 4 * OPS_SIDE * OPS_SIDE; i-- > 0;)
			pixel[i] = byte[i] / 255.f;
	}
	file = fopen(path, "wb");
	if (!file || fwrite(pixel, sizeof(pixel), 1, file) != 1 || fclose(file))
		ops_die("%s cannot be written", path);
	return true;
}

static void open_context(void)
{
	static const EGLint attributes[] = {
		EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 2, EGL_NONE
	};
	EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA,
		EGL_DEFAULT_DISPLAY, NULL);
	EGLContext context;

	if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL))
		ops_die("there is no EGL display");
	eglBindAPI(EGL_OPENGL_ES_API);
	context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
	if (context == EGL_NO_CONTEXT || !eglMakeCurrent(display, EGL_NO_SURFACE,
		EGL_NO_SURFACE, context))
		ops_die("there is no OpenGL ES 3.2");
}

int main(void)
{
	const struct op *op = NULL;
	unsigned int count = 0;
	char line[512], name[256];

	open_context();
	printf("%s, %s\n", glGetString(GL_RENDERER), glGetString(GL_VERSION));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "list\n")) {
			list();
		} else if (sscanf(line, "begin %255s", name) == 1) {
			op = find(name);
			op->begin(op);
			ops_check(op->name);
			count = runs_of(op);
			puts("ok");
		} else if (!strcmp(line, "time\n") && op) {
			printf("%.1f\n", measure(op, count));
		} else if (sscanf(line, "picture %255s", name) == 1 && op) {
			puts(picture(op, name) ? "ok" : "none");
		} else if (!strcmp(line, "end\n")) {
			ops_end();
			op = NULL;
			puts("ok");
		} else {
			ops_die("a request that is not understood: %s", line);
		}
		fflush(stdout);
	}
	return 0;
}
