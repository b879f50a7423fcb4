/* SPDX-License-Identifier: MIT */
/*
 * Features of GLES 3.0: several targets, instances, uniform blocks, samples, integers, transform
 * feedback, queries.
 */
#include <stdio.h>
#include <string.h>

#include <EGL/egl.h>

#include "gl.h"

#include <GLES2/gl2ext.h>

#define SIDE 64

#define ES3 "#version 300 es\nprecision highp float; precision highp int;\n"

static const char plain_vs[] = ES3 "in vec4 position; void main() { gl_Position = position; }";

static void targets(void)
{
	static const char fs[] = ES3
		"layout(location = 0) out vec4 a; layout(location = 1) out uvec4 b; "
		"layout(location = 2) out ivec4 c;"
		"void main() { a = vec4(0.25, 0.5, 0.75, 1.0); b = uvec4(1u, 200u, 70000u, "
		"4294967295u);"
		" c = ivec4(-1, -200, 30000, -70000); }";
	static const GLenum formats[3] = { GL_RGBA8, GL_RGBA32UI, GL_RGBA16I };
	static const GLenum buffers[3] = { GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1,
					   GL_COLOR_ATTACHMENT2 };
	GLuint program = gl_program(plain_vs, fs), texture[3], fb;
	GLuint u[4] = { 0 };
	GLint s[4] = { 0 };

	gl_case("three targets of different kinds");
	glGenTextures(3, texture);
	glGenFramebuffers(1, &fb);
	glBindFramebuffer(GL_FRAMEBUFFER, fb);
	for (int i = 0; i < 3; i++) {
		glBindTexture(GL_TEXTURE_2D, texture[i]);
		glTexStorage2D(GL_TEXTURE_2D, 1, formats[i], SIDE, SIDE);
		glFramebufferTexture2D(GL_FRAMEBUFFER, buffers[i], GL_TEXTURE_2D, texture[i], 0);
	}
	glDrawBuffers(3, buffers);
	glViewport(0, 0, SIDE, SIDE);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(9, 9, 64, 128, 191, 255, 1);
	glReadBuffer(GL_COLOR_ATTACHMENT1);
	glReadPixels(9, 9, 1, 1, GL_RGBA_INTEGER, GL_UNSIGNED_INT, u);
	if (u[0] != 1 || u[1] != 200 || u[2] != 70000 || u[3] != 0xffffffff)
		gl_fail("unsigned integers are %u %u %u %u", u[0], u[1], u[2], u[3]);
	glReadBuffer(GL_COLOR_ATTACHMENT2);
	glReadPixels(9, 9, 1, 1, GL_RGBA_INTEGER, GL_INT, s);
	/* what does not fit is saturated by the device */
	if (s[0] != -1 || s[1] != -200 || s[2] != 30000 || s[3] != -32768)
		gl_fail("integers are %d %d %d %d", s[0], s[1], s[2], s[3]);
	glDeleteProgram(program);
}

static void instances(void)
{
	static const char vs[] = ES3
		"in vec4 position; in vec4 value; flat out vec4 color;"
		"void main() { gl_Position = vec4(position.xy * 0.25 + vec2(-0.75 + 0.5 * "
		"float(gl_InstanceID), 0.0), 0.0, 1.0);"
		" color = value; }";
	static const char fs[] = ES3 "flat in vec4 color; out vec4 c; void main() { c = color; }";
	static const GLfloat corners[] = { -1, -1, 1, -1, -1, 1, 1, 1 };
	static const GLfloat colors[][4] = {
		{ 1, 0, 0, 1 }, { 0, 1, 0, 1 }, { 0, 0, 1, 1 }, { 1, 1, 0, 1 }
	};
	static const uint16_t indices[] = { 0, 1, 2, 3 };
	GLuint program = gl_program(vs, fs);

	gl_case("instances with attributes of their own");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
	glEnableVertexAttribArray(0);
	glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, 0, colors);
	glEnableVertexAttribArray(1);
	glVertexAttribDivisor(1, 1);
	glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, 4);
	gl_expect(8, 32, 255, 0, 0, 255, 0);
	gl_expect(24, 32, 0, 255, 0, 255, 0);
	gl_expect(40, 32, 0, 0, 255, 255, 0);
	gl_expect(56, 32, 255, 255, 0, 255, 0);

	gl_case("an attribute for each three instances, with indices");
	glClear(GL_COLOR_BUFFER_BIT);
	glVertexAttribDivisor(1, 3);
	glDrawElementsInstanced(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_SHORT, indices, 4);
	gl_expect(8, 32, 255, 0, 0, 255, 0);
	gl_expect(40, 32, 255, 0, 0, 255, 0);
	gl_expect(56, 32, 0, 255, 0, 255, 0);
	glVertexAttribDivisor(1, 0);
	glDisableVertexAttribArray(1);
	glDeleteProgram(program);
}

static void blocks(void)
{
	static const char fs[] = ES3
		"layout(std140) uniform first { vec4 a[20]; }; layout(std140) uniform second { "
		"ivec4 which; };"
		"out vec4 c; void main() { c = a[which.x] + a[which.y]; }";
	GLuint program = gl_program(plain_vs, fs), buffer[2];
	GLint which[64] = { 0 };
	GLfloat a[80] = { 0 };

	gl_case("uniform blocks, and ranges of a buffer");
	glUniformBlockBinding(program, glGetUniformBlockIndex(program, "first"), 3);
	glUniformBlockBinding(program, glGetUniformBlockIndex(program, "second"), 5);
	a[4 * 7] = 0.5f;
	a[4 * 11 + 1] = 0.25f;
	a[4 * 12 + 2] = 0.75f;
	glGenBuffers(2, buffer);
	glBindBuffer(GL_UNIFORM_BUFFER, buffer[0]);
	glBufferData(GL_UNIFORM_BUFFER, sizeof(a), a, GL_STATIC_DRAW);
	glBindBufferBase(GL_UNIFORM_BUFFER, 3, buffer[0]);
	which[0] = 7;
	which[1] = 11;
	which[32] = 7;
	which[33] = 12;
	glBindBuffer(GL_UNIFORM_BUFFER, buffer[1]);
	glBufferData(GL_UNIFORM_BUFFER, sizeof(which), which, GL_STATIC_DRAW);
	glBindBufferRange(GL_UNIFORM_BUFFER, 5, buffer[1], 0, 16);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(9, 9, 128, 64, 0, 0, 1);
	glBindBufferRange(GL_UNIFORM_BUFFER, 5, buffer[1], 128, 16);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(9, 9, 128, 0, 191, 0, 1);
	glDeleteBuffers(2, buffer);
	glDeleteProgram(program);
}

static void samples(void)
{
	static const char fs[] = ES3 "out vec4 c; void main() { c = vec4(1.0); }";
	GLuint program = gl_program(plain_vs, fs), buffer, ms, fb;
	GLint max = 0;
	static char names[5][64];

	glGetIntegerv(GL_MAX_SAMPLES, &max);
	for (int n = 2, i = 0; n <= max && i < 5; n *= 2, i++) {
		snprintf(names[i], sizeof(names[i]), "%d samples are resolved", n);
		gl_case(names[i]);
		gl_target(SIDE, SIDE, GL_RGBA8);
		glGetIntegerv(GL_FRAMEBUFFER_BINDING, (GLint *)&fb);
		glGenFramebuffers(1, &ms);
		glBindFramebuffer(GL_FRAMEBUFFER, ms);
		glGenRenderbuffers(1, &buffer);
		glBindRenderbuffer(GL_RENDERBUFFER, buffer);
		glRenderbufferStorageMultisample(GL_RENDERBUFFER, n, GL_RGBA8, SIDE, SIDE);
		glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
					  buffer);
		glClearColor(0, 0, 0, 1);
		glClear(GL_COLOR_BUFFER_BIT);
		/* half of column 32 */
		gl_rect(-1, -1, 1.0f / SIDE, 1, 0);
		glBindFramebuffer(GL_READ_FRAMEBUFFER, ms);
		glBindFramebuffer(GL_DRAW_FRAMEBUFFER, fb);
		glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT,
				  GL_NEAREST);
		glBindFramebuffer(GL_FRAMEBUFFER, fb);
		gl_expect(31, 9, 255, 255, 255, 255, 0);
		gl_expect(32, 9, 128, 128, 128, 255, 1);
		gl_expect(33, 9, 0, 0, 0, 255, 0);
	}
	glDeleteProgram(program);
}

static void captured(void)
{
	static const char vs[] = ES3
		"in vec4 position; out vec4 twice; flat out int number;"
		"void main() { gl_Position = position; twice = position * 2.0; number = "
		"gl_VertexID * 10 + gl_InstanceID; }";
	static const char fs[] = ES3 "in vec4 twice; out vec4 c; void main() { c = twice; }";
	static const char *const names[] = { "twice", "number" };
	static const GLfloat strip[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	static const int want[] = { 0, 10, 20, 20, 10, 30 };
	GLuint program, buffer, query, count = 0;
	struct { GLfloat twice[4]; GLint number; } *out;

	gl_case("vertices of a strip are captured as triangles");
	program = gl_program(vs, fs);
	glTransformFeedbackVaryings(program, 2, names, GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(program);
	glUseProgram(program);
	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
	glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 100 * sizeof(*out), NULL, GL_STATIC_READ);
	glGenQueries(1, &query);
	glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query);
	glEnable(GL_RASTERIZER_DISCARD);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, strip);
	glEnableVertexAttribArray(0);
	glBeginTransformFeedback(GL_TRIANGLES);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
	glDrawArraysInstanced(GL_TRIANGLES, 1, 3, 2);
	glEndTransformFeedback();
	glDisable(GL_RASTERIZER_DISCARD);
	glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
	glGetQueryObjectuiv(query, GL_QUERY_RESULT, &count);
	if (count != 4)
		gl_fail("%u primitives, expected 4", count);
	out = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 100 * sizeof(*out),
			       GL_MAP_READ_BIT);
	for (int i = 0; out && i < 12; i++) {
		const int number = i < 6 ? want[i] : i < 9 ? 10 * (i - 5) : 10 * (i - 8) + 1;

		if (out[i].number != number || out[i].twice[0] != 2 * strip[2 * (number / 10)] ||
		    out[i].twice[1] != 2 * strip[2 * (number / 10) + 1] || out[i].twice[3] != 2)
			gl_fail("vertex %d is %d: %g %g %g %g, expected number %d", i,
				out[i].number, out[i].twice[0], out[i].twice[1], out[i].twice[2],
				out[i].twice[3], number);
	}
	if (!out)
		gl_fail("the buffer cannot be mapped");
	glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
	glDeleteQueries(1, &query);
	glDeleteBuffers(1, &buffer);
	glDeleteProgram(program);
}

static void queries(void)
{
	static const char fs[] = ES3 "out vec4 c; void main() { c = vec4(1.0); }";
	GLuint program = gl_program(plain_vs, fs), query[2], any[2] = { 9, 9 };

	gl_case("occlusion queries");
	gl_target(SIDE, SIDE, GL_RGBA8);
	gl_depth(SIDE, SIDE, GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	glEnable(GL_DEPTH_TEST);
	glGenQueries(2, query);
	for (int i = 0; i < 2; i++) {
		glBeginQuery(GL_ANY_SAMPLES_PASSED, query[i]);
		gl_rect(-1, -1, 1, 1, i ? 0.5f : 0);
		glEndQuery(GL_ANY_SAMPLES_PASSED);
	}
	glDisable(GL_DEPTH_TEST);
	for (int i = 0; i < 2; i++)
		glGetQueryObjectuiv(query[i], GL_QUERY_RESULT, &any[i]);
	if (any[0] != 1 || any[1] != 0)
		gl_fail("results are %u and %u, expected 1 and 0", any[0], any[1]);
	glDeleteQueries(2, query);
	glDeleteProgram(program);
}

/* Two timestamps around a draw differ by its elapsed time: both use one clock. */
static void times(void)
{
	static const char fs[] = ES3
		"out vec4 c; void main() { float x = gl_FragCoord.x;"
		" for (int i = 0; i < 40; i++) x = sin(x) + 1.0; c = vec4(x); }";
	PFNGLQUERYCOUNTEREXTPROC counter = (void *)eglGetProcAddress("glQueryCounterEXT");
	PFNGLGETQUERYOBJECTUI64VEXTPROC result =
		(void *)eglGetProcAddress("glGetQueryObjectui64vEXT");
	PFNGLGETINTEGER64VEXTPROC get = (void *)eglGetProcAddress("glGetInteger64vEXT");
	GLuint program = gl_program(plain_vs, fs), query[3];
	GLint64 now[2] = { 0 };
	GLuint64 t[3] = { 0 };

	gl_case("times of the device");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glGenQueries(3, query);
	get(GL_TIMESTAMP_EXT, &now[0]);
	counter(query[0], GL_TIMESTAMP_EXT);
	glBeginQuery(GL_TIME_ELAPSED_EXT, query[1]);
	for (int i = 0; i < 4; i++)
		gl_rect(-1, -1, 1, 1, 0);
	glEndQuery(GL_TIME_ELAPSED_EXT);
	counter(query[2], GL_TIMESTAMP_EXT);
	for (int i = 0; i < 3; i++)
		result(query[i], GL_QUERY_RESULT, &t[i]);
	get(GL_TIMESTAMP_EXT, &now[1]);
	gl_no_error();
	if ((GLuint64)now[0] > t[0] || t[0] >= t[2] || t[2] > (GLuint64)now[1])
		gl_fail("times are %llu, %llu between %lld and %lld", (unsigned long long)t[0],
			(unsigned long long)t[2], (long long)now[0], (long long)now[1]);
	if (t[1] == 0 || t[1] > t[2] - t[0])
		gl_fail("it took %llu ns of %llu", (unsigned long long)t[1],
			(unsigned long long)(t[2] - t[0]));
	glDeleteQueries(3, query);
	glDeleteProgram(program);
}

static void textures(void)
{
	static const char fs[] = ES3
		"uniform highp sampler2DArray layers; uniform highp usampler2D numbers; uniform "
		"highp sampler3D volume;"
		"uniform highp sampler2DShadow shadow; out vec4 c;"
		"void main() { ivec2 p = ivec2(gl_FragCoord.xy);"
		" c = vec4(texture(layers, vec3(0.5, 0.5, float(p.x / 16))).r, "
		"float(texelFetch(numbers, p & 3, 0).r) / 255.0,"
		" texture(volume, vec3(0.5, 0.5, 0.5)).r, texture(shadow, vec3(0.5, 0.5, "
		"float(p.y) / 64.0))); }";
	GLuint program = gl_program(plain_vs, fs), t[4];
	uint8_t texels[256];
	const GLfloat half = 0.5f;

	gl_case("arrays, integers, volumes and comparisons");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glGenTextures(4, t);
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	for (int i = 0; i < 256; i++)
		texels[i] = (uint8_t)(i / 16 * 60);
	glActiveTexture(GL_TEXTURE0);
	glBindTexture(GL_TEXTURE_2D_ARRAY, t[0]);
	glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_R8, 4, 4, 4);
	glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, 4, 4, 4, GL_RED, GL_UNSIGNED_BYTE, texels);
	for (int i = 0; i < 16; i++)
		texels[i] = (uint8_t)(i * 10);
	glActiveTexture(GL_TEXTURE1);
	glBindTexture(GL_TEXTURE_2D, t[1]);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_R8UI, 4, 4);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 4, 4, GL_RED_INTEGER, GL_UNSIGNED_BYTE, texels);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glActiveTexture(GL_TEXTURE2);
	glBindTexture(GL_TEXTURE_3D, t[2]);
	glTexStorage3D(GL_TEXTURE_3D, 1, GL_R8, 1, 1, 2);
	texels[0] = 100;
	texels[1] = 200;
	glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, 0, 1, 1, 2, GL_RED, GL_UNSIGNED_BYTE, texels);
	glActiveTexture(GL_TEXTURE3);
	glBindTexture(GL_TEXTURE_2D, t[3]);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_DEPTH_COMPONENT32F, 1, 1);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT, &half);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glUniform1i(glGetUniformLocation(program, "layers"), 0);
	glUniform1i(glGetUniformLocation(program, "numbers"), 1);
	glUniform1i(glGetUniformLocation(program, "volume"), 2);
	glUniform1i(glGetUniformLocation(program, "shadow"), 3);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(5, 6, 0, 90, 150, 255, 1);
	gl_expect(20, 7, 60, 120, 150, 255, 1);
	gl_expect(50, 40, 180, 20, 150, 0, 1);
	glActiveTexture(GL_TEXTURE0);
	glDeleteProgram(program);
}

static void stencil_blit(GLenum format, const char *name)
{
	static const char fs[] = ES3 "out vec4 c; void main() { c = vec4(1.0); }";
	const GLenum attachment =
		format == GL_STENCIL_INDEX8 ? GL_STENCIL_ATTACHMENT : GL_DEPTH_STENCIL_ATTACHMENT;
	GLuint program = gl_program(plain_vs, fs);
	GLint from, to;

	gl_case(name);
	gl_target(SIDE, SIDE, GL_RGBA8);
	gl_depth(SIDE, SIDE, format, attachment);
	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &from);
	glClearStencil(51);
	glClear(GL_STENCIL_BUFFER_BIT);
	gl_target(SIDE, SIDE, GL_RGBA8);
	gl_depth(SIDE, SIDE, format, attachment);
	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &to);
	glClearColor(0, 0, 0, 1);
	glClearStencil(0);
	glClear(GL_COLOR_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)from);
	glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE / 2, SIDE / 2, GL_STENCIL_BUFFER_BIT,
			  GL_NEAREST);
	glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)to);
	glEnable(GL_STENCIL_TEST);
	glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
	glStencilFunc(GL_EQUAL, 51, 0xff);
	gl_rect(-1, -1, 1, 1, 0);
	glDisable(GL_STENCIL_TEST);
	for (int i = 0; i < 32; i += 5) {
		gl_expect(i, i, 255, 255, 255, 255, 0);
		gl_expect(i + 32, i, 0, 0, 0, 255, 0);
	}
	glDeleteProgram(program);
}

/* Both at once, of four samples. */
static void resolve_depth_stencil(GLenum format, const char *name)
{
	static const char fs[] = ES3 "out vec4 c; void main() { c = vec4(1.0); }";
	GLuint program = gl_program(plain_vs, fs), ms, buffer;
	GLint to;

	gl_case(name);
	gl_target(SIDE, SIDE, GL_RGBA8);
	gl_depth(SIDE, SIDE, format, GL_DEPTH_STENCIL_ATTACHMENT);
	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &to);
	glClear(GL_COLOR_BUFFER_BIT);
	glClearBufferfi(GL_DEPTH_STENCIL, 0, 0.25f, 7);
	glGenFramebuffers(1, &ms);
	glBindFramebuffer(GL_FRAMEBUFFER, ms);
	glGenRenderbuffers(1, &buffer);
	glBindRenderbuffer(GL_RENDERBUFFER, buffer);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, 4, format, SIDE, SIDE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER,
				  buffer);
	glClearBufferfi(GL_DEPTH_STENCIL, 0, 0.75f, 3);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)to);
	glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE,
			  GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT, GL_NEAREST);
	glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)to);
	glEnable(GL_STENCIL_TEST);
	glEnable(GL_DEPTH_TEST);
	glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
	glStencilFunc(GL_EQUAL, 3, 0xff);
	gl_rect(-1, -1, 0, 1, 0.48f);	/* depth 0.74 */
	gl_rect(0, -1, 1, 1, 0.52f);
	glDisable(GL_STENCIL_TEST);
	glDisable(GL_DEPTH_TEST);
	gl_expect(9, 9, 255, 255, 255, 255, 0);
	gl_expect(50, 9, 0, 0, 0, 255, 0);
	glDeleteProgram(program);
}

int main(void)
{
	gl_open(3, 0);
	targets();
	instances();
	blocks();
	samples();
	captured();
	queries();
	times();
	textures();
	stencil_blit(GL_DEPTH24_STENCIL8,
		     "stencil is copied and shrunk: depth of 24 bits beside it");
	stencil_blit(GL_DEPTH32F_STENCIL8,
		     "stencil is copied and shrunk: depth of 32 bits beside it");
	stencil_blit(GL_STENCIL_INDEX8, "stencil is copied and shrunk: alone");
	resolve_depth_stencil(GL_DEPTH24_STENCIL8, "samples' depth of 24 bits and stencil");
	resolve_depth_stencil(GL_DEPTH32F_STENCIL8, "samples' depth of 32 bits and stencil");
	return gl_close();
}
