// SPDX-License-Identifier: MIT
/* Compute shaders on llvmpipe, see gles.h. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gles.h"

__attribute__((noreturn))
static void die(const char *what, const char *why)
{
	fprintf(stderr, "gles: %s: %s\n", what, why);
	exit(1);
}

/* Asked by LeakSanitizer: what Mesa does not give back is no leak of ours. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default")))
const char *__lsan_default_suppressions(void)
{
	return "leak:libgallium\nleak:swrast_dri\n";
}

bool gles_open_context(unsigned int api, const int32_t *attributes)
{
	EGLDisplay display;
	EGLContext context;

	setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
	setenv("GALLIUM_DRIVER", "llvmpipe", 1);
	/* EGL finds the device in this process and reports that it has no driver for it. */
	setenv("EGL_LOG_LEVEL", "fatal", 0);
	display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL))
		return false;
	eglBindAPI(api);
	context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
	return context != EGL_NO_CONTEXT &&
	       eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
}

bool gles_open(void)
{
	static const EGLint attributes[] = {
		EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE
	};

	return gles_open_context(EGL_OPENGL_ES_API, attributes);
}

const char *gles_name(void)
{
	return (const char *)glGetString(GL_RENDERER);
}

void gles_kernel(struct gles_kernel *kernel, const char *source, const uint32_t groups[3])
{
	const char *parts[] = {
		"#version 310 es\nprecision highp float;\nprecision highp int;\n", source
	};
	GLuint shader = glCreateShader(GL_COMPUTE_SHADER);
	char log[2048] = "";
	GLint ok;

	glShaderSource(shader, 2, parts, NULL);
	glCompileShader(shader);
	kernel->program = glCreateProgram();
	glAttachShader(kernel->program, shader);
	glLinkProgram(kernel->program);
	glGetProgramiv(kernel->program, GL_LINK_STATUS, &ok);
	glGetShaderInfoLog(shader, sizeof(log), NULL, log);
	if (!ok)
		die(source, log);
	glDeleteShader(shader);
	glUseProgram(kernel->program);
	memcpy(kernel->groups, groups, sizeof(kernel->groups));
	glGenBuffers(GLES_BUFFERS, kernel->buffer);
}

void gles_buffer(struct gles_kernel *kernel, unsigned int binding, const void *data, size_t size)
{
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, binding, kernel->buffer[binding]);
	glBufferData(GL_SHADER_STORAGE_BUFFER, (GLsizeiptr)size, data, GL_DYNAMIC_COPY);
}

void gles_read(struct gles_kernel *kernel, unsigned int binding, void *data, size_t size)
{
	const void *map;

	glBindBuffer(GL_SHADER_STORAGE_BUFFER, kernel->buffer[binding]);
	map = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, (GLsizeiptr)size, GL_MAP_READ_BIT);
	if (!map)
		die("a buffer", "cannot be mapped");
	memcpy(data, map, size);
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
}

void gles_run(void *arg, unsigned int count)
{
	struct gles_kernel *kernel = arg;

	while (count--) {
		glDispatchCompute(kernel->groups[0], kernel->groups[1], kernel->groups[2]);
		glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
	}
	glFinish();
	if (glGetError())
		die("a dispatch", "GL error");
}

void gles_free(struct gles_kernel *kernel)
{
	glUseProgram(0);
	glDeleteProgram(kernel->program);
	glDeleteBuffers(GLES_BUFFERS, kernel->buffer);
	glFinish();
}
