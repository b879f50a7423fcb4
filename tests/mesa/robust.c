// SPDX-License-Identifier: MIT
/* With robust access nothing is beyond a storage buffer, and nothing is lost by that. */
#include <stddef.h>
#include <stdint.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include "gl.h"

#include <GLES3/gl31.h>
#include <GLES2/gl2ext.h>

#define COUNT	4
#define HEAD	"#version 310 es\nlayout(local_size_x = 1) in;\nuniform uint index;\n"

struct access {
	const char *name, *source;
	uint32_t index;		/* of a word, or of a vector */
	uint32_t wanted[COUNT];	/* the buffer of 1, 2, 3, 4 then */
};

static const char store[] = HEAD "layout(std430, binding = 0) buffer B { uint at[]; };\n"
	"void main() { at[index] = 7u; }\n";
static const char load[] = HEAD "layout(std430, binding = 0) buffer B { uint at[]; };\n"
	"void main() { at[0] = at[index]; }\n";
static const char add[] = HEAD "layout(std430, binding = 0) buffer B { uint at[]; };\n"
	"void main() { at[0] = 5u + atomicAdd(at[index], 9u); }\n";
static const char vector[] = HEAD "layout(std430, binding = 0) buffer B { uvec4 at[]; };\n"
	"void main() { at[index] = uvec4(7u); }\n";
static const char other[] = HEAD "layout(std430, binding = 0) buffer B { uint at[]; };\n"
	"layout(std430, binding = 1) buffer C { uint nothing[]; };\n"
	"void main() { nothing[index + 1u] = 7u; at[1] = nothing[index]; }\n";

static const struct access accesses[] = {
	{ "a store of the last word", store, COUNT - 1, { 1, 2, 3, 7 } },
	{ "a store of the word after it", store, COUNT, { 1, 2, 3, 4 } },
	{ "a store a gigabyte away", store, 1u << 28, { 1, 2, 3, 4 } },
	{ "a store at an offset that wraps around", store, (1u << 30) - 1, { 1, 2, 3, 4 } },
	{ "a load of the last word", load, COUNT - 1, { 4, 2, 3, 4 } },
	{ "a load of the word after it", load, COUNT, { 0, 2, 3, 4 } },
	{ "a load a gigabyte away", load, 1u << 28, { 0, 2, 3, 4 } },
	{ "an atomic of a word within", add, 2, { 8, 2, 12, 4 } },
	{ "an atomic a gigabyte away", add, 1u << 28, { 5, 2, 3, 4 } },
	{ "a vector within", vector, 0, { 7, 7, 7, 7 } },
	{ "a vector after it", vector, 1, { 1, 2, 3, 4 } },
	{ "a buffer that is not bound", other, 0, { 1, 0, 3, 4 } },
};

static void check(const struct access *a)
{
	static const uint32_t words[COUNT] = { 1, 2, 3, 4 };
	const uint32_t *map;
	GLuint buffer;

	gl_case(a->name);
	glUniform1ui(glGetUniformLocation(gl_compute(a->source), "index"), a->index);
	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
	glBufferData(GL_SHADER_STORAGE_BUFFER, sizeof(words), words, GL_STATIC_DRAW);
	glDispatchCompute(1, 1, 1);
	glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
	map = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, sizeof(words), GL_MAP_READ_BIT);
	for (int i = 0; map && i < COUNT; i++) {
		if (map[i] != a->wanted[i])
			gl_fail("word %d is %u, not %u", i, map[i], a->wanted[i]);
	}
	if (!map)
		gl_fail("the buffer cannot be mapped");
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
}

int main(void)
{
	static const EGLint attributes[] = {
		EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1,
		EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE,
		EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET,
		EGL_NONE };
	PFNGLGETGRAPHICSRESETSTATUSEXTPROC status;
	EGLDisplay display;
	EGLContext context;
	size_t i;

	gl_open(3, 1);
	display = eglGetCurrentDisplay();
	context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
	gl_case("there is a context with robust access");
	if (!context || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
		gl_fail("EGL error 0x%x", eglGetError());
		return gl_close();
	}
	status = (void *)eglGetProcAddress("glGetGraphicsResetStatusKHR");
	for (i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++)
		check(&accesses[i]);
	gl_case("nothing was lost");
	if (!status || status() != GL_NO_ERROR)
		gl_fail("a reset is told of");
	return gl_close();
}
