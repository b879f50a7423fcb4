/* SPDX-License-Identifier: MIT */
/* A geometry shader that emits to several streams. */
#include <stddef.h>

#include <EGL/egl.h>

#include "gl.h"

#define SIDE 16
#define STREAM_OVERFLOW 0x82ed

typedef void (*indexed_fn)(GLenum, GLuint, GLuint);
typedef void (*end_indexed_fn)(GLenum, GLuint);

static const char vs[] =
	"#version 400\n"
	"in vec4 position; void main() { gl_Position = position; }";
/* Each point becomes one in stream 0, two in stream 1 and three in stream 3. */
static const char gs[] =
	"#version 400\n"
	"layout(points) in; layout(points, max_vertices = 6) out;\n"
	"layout(stream = 0) out float zero; layout(stream = 1) out float one;\n"
	"layout(stream = 3) out float three;\n"
	"void main() { zero = 1.0; gl_Position = gl_in[0].gl_Position; EmitStreamVertex(0);\n"
	"for (int i = 0; i < 2; i++) { one = 10.0 + float(i); EmitStreamVertex(1); }\n"
	"for (int i = 0; i < 3; i++) { three = 30.0 + float(i); EmitStreamVertex(3); } }";
static const char fs[] = "#version 400\n"
	"in float zero; out vec4 c; void main() { c = vec4(zero); }";

static const int numbers[3] = { 0, 1, 3 };

static GLuint program_of(void)
{
	static const char *const names[] = { "zero", "gl_NextBuffer", "one", "gl_NextBuffer",
					     "three" };
	GLuint program = gl_geometry_program(vs, gs, fs);

	glTransformFeedbackVaryings(program, 5, names, GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(program);
	glUseProgram(program);
	return program;
}

static void captured(const GLuint *buffer, int stream, const float *wanted, int count)
{
	const float *got;

	glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffer[stream]);
	got = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 64, GL_MAP_READ_BIT);
	for (int i = 0; got && i < 16; i++) {
		const float value = i < count ? wanted[i] : -1;

		if (got[i] != value)
			gl_fail("stream %d, number %d is %g, expected %g", numbers[stream], i,
				(double)got[i], (double)value);
	}
	glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
}

int main(void)
{
	static const float wanted[3][6] = { { 1, 1 }, { 10, 11, 10, 11 }, { 30, 31, 32, 30 } };
	static const int count[3] = { 2, 4, 4 };	/* the last buffer has room for four */
	/* the middles of two pixels */
	const GLfloat points[8] = { 0.0625f, 0.0625f, 0, 1, 0.5625f, 0.5625f, 0, 1 };
	GLuint program, buffer[3], generated[3], written[3], overflow[3], corners, value;
	indexed_fn begin;
	end_indexed_fn end;
	GLfloat guard[16];

	gl_open_desktop(4, 0);
	begin = (indexed_fn)eglGetProcAddress("glBeginQueryIndexed");
	end = (end_indexed_fn)eglGetProcAddress("glEndQueryIndexed");
	gl_case("each stream has its vertices, its buffer and its counts; stream 0 is drawn");
	program = program_of();
	gl_target(SIDE, SIDE, GL_RGBA8);
	glClear(GL_COLOR_BUFFER_BIT);
	for (int i = 0; i < 16; i++)
		guard[i] = -1;
	glGenBuffers(3, buffer);
	glGenQueries(3, generated);
	glGenQueries(3, written);
	glGenQueries(3, overflow);
	for (GLuint i = 0; i < 3; i++) {
		glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffer[i]);
		glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, sizeof(guard), guard, GL_DYNAMIC_COPY);
		glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, i, buffer[i], 0,
				  i == 2 ? 16 : 64);
		begin(GL_PRIMITIVES_GENERATED, (GLuint)numbers[i], generated[i]);
		begin(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, (GLuint)numbers[i], written[i]);
		begin(STREAM_OVERFLOW, (GLuint)numbers[i], overflow[i]);
	}
	glGenBuffers(1, &corners);
	glBindBuffer(GL_ARRAY_BUFFER, corners);
	glBufferData(GL_ARRAY_BUFFER, sizeof(points), points, GL_STATIC_DRAW);
	glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	glUseProgram(program);
	glBeginTransformFeedback(GL_POINTS);
	glDrawArrays(GL_POINTS, 0, 2);
	glEndTransformFeedback();
	for (int i = 0; i < 3; i++) {
		const GLuint made[3] = { 2, 4, 6 }, kept[3] = { 2, 4, 4 };

		end(GL_PRIMITIVES_GENERATED, (GLuint)numbers[i]);
		end(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, (GLuint)numbers[i]);
		end(STREAM_OVERFLOW, (GLuint)numbers[i]);
		captured(buffer, i, wanted[i], count[i]);
		glGetQueryObjectuiv(generated[i], GL_QUERY_RESULT, &value);
		if (value != made[i])
			gl_fail("stream %d: %u generated, expected %u", numbers[i], value, made[i]);
		glGetQueryObjectuiv(written[i], GL_QUERY_RESULT, &value);
		if (value != kept[i])
			gl_fail("stream %d: %u written, expected %u", numbers[i], value, kept[i]);
		glGetQueryObjectuiv(overflow[i], GL_QUERY_RESULT, &value);
		if (value != (i == 2))
			gl_fail("stream %d: overflow is %u", numbers[i], value);
	}
	gl_expect(SIDE / 2, SIDE / 2, 255, 255, 255, 255, 0);
	gl_expect(1, 1, 0, 0, 0, 0, 0);
	gl_no_error();
	return gl_close();
}
