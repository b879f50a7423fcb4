/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include "gl.h"

static EGLDisplay display;
static EGLContext context;
static int cases, failures;
static GLuint corners_buffer;	/* of gl_rect(); 0: they are in memory */
static bool failed;
static const char *name;

static void skip(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(77);
}

static void make_current(EGLDisplay on, EGLConfig config, EGLSurface surface, EGLenum api,
			 int major, int minor)
{
	const EGLint attributes[] = { EGL_CONTEXT_MAJOR_VERSION, major, EGL_CONTEXT_MINOR_VERSION,
				      minor, EGL_NONE };
	const char *renderer;

	setvbuf(stdout, NULL, _IOLBF, 0);
	display = on;
	eglBindAPI(api);
	context = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
	if (!context || !eglMakeCurrent(display, surface, surface, context))
		skip("no context of this version");
	renderer = (const char *)glGetString(GL_RENDERER);
	printf("TAP version 13\n# %s, %s\n", renderer, (const char *)glGetString(GL_VERSION));
	/* a driver that does not load is replaced by another one, silently */
	if (getenv("TSR_GL_RENDERER"))
		return;
	if (!renderer || strcmp(renderer, "Tessera")) {
		printf("Bail out! the renderer is not Tessera\n");
		exit(1);
	}
}

static EGLDisplay surfaceless(void)
{
	EGLDisplay on;

	on = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	if (!on || !eglInitialize(on, NULL, NULL))
		skip("no EGL display without a window system");
	return on;
}

void gl_open(int major, int minor)
{
	const EGLint wanted[] = { EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_RENDERABLE_TYPE,
				  major > 2 ? EGL_OPENGL_ES3_BIT : EGL_OPENGL_ES2_BIT, EGL_NONE };
	EGLDisplay on = surfaceless();
	EGLConfig config = NULL;
	EGLint count = 0;

	eglChooseConfig(on, wanted, &config, 1, &count);
	gl_open_on(on, count ? config : EGL_NO_CONFIG_KHR, EGL_NO_SURFACE, major, minor);
}

void gl_open_on(void *on, void *config, void *surface, int major, int minor)
{
	make_current(on, config, surface, EGL_OPENGL_ES_API, major, minor);
}

void gl_open_desktop(int major, int minor)
{
	make_current(surfaceless(), EGL_NO_CONFIG_KHR, EGL_NO_SURFACE, EGL_OPENGL_API, major,
		     minor);
	if (major * 10 + minor < 31)
		return;
	/* a core profile has no arrays of its own, and none in the program's memory */
	GLuint array;

	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	glGenBuffers(1, &corners_buffer);
}

static void end_case(void)
{
	GLenum error = name ? glGetError() : GL_NO_ERROR;

	if (!name)
		return;
	if (error != GL_NO_ERROR)
		gl_fail("GL error 0x%x", error);
	printf("%sok %d - %s\n", failed ? "not " : "", ++cases, name);
	failures += failed;
	failed = false;
	name = NULL;
}

void gl_case(const char *text)
{
	end_case();
	name = text;
}

int gl_close(void)
{
	end_case();
	printf("1..%d\n", cases);
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, context);
	eglTerminate(display);
	return failures ? 1 : 0;
}

void gl_fail(const char *format, ...)
{
	va_list ap;

	if (failed)
		return;
	failed = true;
	va_start(ap, format);
	printf("# %s: ", name);
	vprintf(format, ap);
	printf("\n");
	va_end(ap);
}

static GLuint shader(GLenum type, const char *text)
{
	GLuint s = glCreateShader(type);
	char log[1024] = "";
	GLint ok = 0;

	glShaderSource(s, 1, &text, NULL);
	glCompileShader(s);
	glGetShaderiv(s, GL_COMPILE_STATUS, &ok);
	if (!ok) {
		glGetShaderInfoLog(s, sizeof(log), NULL, log);
		printf("Bail out! a shader does not compile: %s\n", log);
		exit(1);
	}
	return s;
}

/* The shader goes with the program. */
static void attach(GLuint program, GLenum type, const char *text)
{
	const GLuint s = shader(type, text);

	glAttachShader(program, s);
	glDeleteShader(s);
}

static GLuint link_program(GLuint program)
{
	char log[1024] = "";
	GLint ok = 0;

	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &ok);
	if (!ok) {
		glGetProgramInfoLog(program, sizeof(log), NULL, log);
		printf("Bail out! a program does not link: %s\n", log);
		exit(1);
	}
	glUseProgram(program);
	return program;
}

GLuint gl_geometry_program(const char *vertex, const char *geometry, const char *fragment)
{
	GLuint program = glCreateProgram();

	attach(program, GL_VERTEX_SHADER, vertex);
	if (geometry)
		attach(program, GL_GEOMETRY_SHADER, geometry);
	attach(program, GL_FRAGMENT_SHADER, fragment);
	glBindAttribLocation(program, 0, "position");
	glBindAttribLocation(program, 1, "value");
	return link_program(program);
}

GLuint gl_program(const char *vertex, const char *fragment)
{
	return gl_geometry_program(vertex, NULL, fragment);
}

GLuint gl_compute(const char *text)
{
	GLuint program = glCreateProgram();

	attach(program, GL_COMPUTE_SHADER, text);
	return link_program(program);
}

void gl_storage(GLuint binding, const void *data, size_t bytes)
{
	GLuint buffer;

	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, binding, buffer);
	glBufferData(GL_SHADER_STORAGE_BUFFER, (GLsizeiptr)bytes, data, GL_DYNAMIC_COPY);
}

const void *gl_results(size_t bytes)
{
	const void *map;

	glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
	map = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, (GLsizeiptr)bytes, GL_MAP_READ_BIT);
	if (!map)
		gl_fail("the storage buffer cannot be mapped");
	return map;
}

GLuint gl_target(int width, int height, GLenum format)
{
	GLuint texture, framebuffer;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	if (format == GL_RGBA || format == GL_RGB)
		glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, width, height, 0, format,
			     GL_UNSIGNED_BYTE, NULL);
	else
		glTexStorage2D(GL_TEXTURE_2D, 1, format, width, height);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	glBindTexture(GL_TEXTURE_2D, 0);
	glViewport(0, 0, width, height);
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		gl_fail("framebuffer of format 0x%x is not complete", format);
	return texture;
}

void gl_depth(int width, int height, GLenum format, GLenum attachment)
{
	GLuint buffer;

	glGenRenderbuffers(1, &buffer);
	glBindRenderbuffer(GL_RENDERBUFFER, buffer);
	glRenderbufferStorage(GL_RENDERBUFFER, format, width, height);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, buffer);
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		gl_fail("framebuffer with depth of format 0x%x is not complete", format);
}

void gl_rect(float x0, float y0, float x1, float y1, float z)
{
	const GLfloat corners[] = { x0, y0, z, x1, y0, z, x0, y1, z, x1, y1, z };

	glBindBuffer(GL_ARRAY_BUFFER, corners_buffer);
	if (corners_buffer)
		glBufferData(GL_ARRAY_BUFFER, sizeof(corners), corners, GL_STREAM_DRAW);
	glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners_buffer ? NULL : corners);
	glEnableVertexAttribArray(0);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

void gl_expect(int x, int y, int r, int g, int b, int a, int tolerance)
{
	const int wanted[4] = { r, g, b, a };
	uint8_t got[4] = { 0 };

	glReadPixels(x, y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, got);
	for (int i = 0; i < 4; i++) {
		if (abs(got[i] - wanted[i]) > tolerance)
			gl_fail("pixel (%d, %d) is %d %d %d %d, expected %d %d %d %d", x, y, got[0],
				got[1], got[2], got[3], r, g, b, a);
	}
}

void gl_no_error(void)
{
	GLenum error = glGetError();

	if (error != GL_NO_ERROR)
		gl_fail("GL error 0x%x", error);
}
