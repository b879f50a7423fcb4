/* SPDX-License-Identifier: MIT */
/* Transform feedback with instances: what fits of them, and what the vertex shader is told. */
#include <stdlib.h>
#include <string.h>

#include <EGL/egl.h>

#include "gl.h"

#define SLOTS 64
#define GUARD -7.0f
#define FAR 100000		/* number of a vertex beyond the 65536th */

typedef void (*draw_base_fn)(GLenum mode, GLsizei count, GLenum type, const void *indices,
			     GLsizei instances, GLint vertex, GLuint instance);

static const char fs[] = "#version 140\nout vec4 c; void main() { c = vec4(1.0); }";

/* Captures two numbers of each vertex. */
static GLuint program_of(const char *vs)
{
	static const char *const names[] = { "kept" };
	GLuint program = gl_program(vs, fs);

	glTransformFeedbackVaryings(program, 1, names, GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(program);
	glUseProgram(program);
	return program;
}

static GLuint room_for(int vertices)
{
	GLfloat words[2 * SLOTS];
	GLuint buffer;

	for (int i = 0; i < 2 * SLOTS; i++)
		words[i] = GUARD;
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffer);
	glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, sizeof(words), words, GL_DYNAMIC_COPY);
	glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer, 0, vertices * 8);
	return buffer;
}

/* The buffer holds @count pairs and nothing after them. */
static void expect(GLuint buffer, const int (*wanted)[2], int count)
{
	const GLfloat *got;

	glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffer);
	got = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, SLOTS * 8, GL_MAP_READ_BIT);
	for (int i = 0; got && i < 2 * SLOTS; i++) {
		const float value = i < 2 * count ? (float)wanted[i / 2][i % 2] : GUARD;

		if (got[i] != value)
			gl_fail("word %d of vertex %d is %g, expected %g", i % 2, i / 2,
				(double)got[i], (double)value);
	}
	if (!got)
		gl_fail("the buffer cannot be mapped");
	glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
	glDeleteBuffers(1, &buffer);
}

static void begin(GLenum mode, GLuint query[2])
{
	glEnable(GL_RASTERIZER_DISCARD);
	glGenQueries(2, query);
	glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query[0]);
	glBeginQuery(GL_PRIMITIVES_GENERATED, query[1]);
	glBeginTransformFeedback(mode);
}

static void end(GLuint query[2], GLuint written, GLuint generated)
{
	GLuint got[2] = { 0 };

	glEndTransformFeedback();
	glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
	glEndQuery(GL_PRIMITIVES_GENERATED);
	glDisable(GL_RASTERIZER_DISCARD);
	for (int i = 0; i < 2; i++)
		glGetQueryObjectuiv(query[i], GL_QUERY_RESULT, &got[i]);
	if (got[0] != written || got[1] != generated)
		gl_fail("%u primitives written, %u generated; expected %u and %u", got[0], got[1],
			written, generated);
	glDeleteQueries(2, query);
}

static void overflow(void)
{
	static const char vs[] = "#version 140\nout vec2 kept; void main() {"
		" kept = vec2(gl_VertexID, gl_InstanceID); gl_Position = vec4(0.0); }";
	/* the triangles of a strip of five vertices, the second one turned round */
	static const int strip[9] = { 0, 1, 2, 2, 1, 3, 2, 3, 4 };
	GLuint program = program_of(vs), buffer, query[2];
	int wanted[SLOTS][2];

	gl_case("points of instances that do not fit");
	for (int i = 0; i < 10; i++)
		memcpy(wanted[i], (int[2]){ i % 4, i / 4 }, sizeof(wanted[i]));
	buffer = room_for(10);
	begin(GL_POINTS, query);
	glDrawArraysInstanced(GL_POINTS, 0, 4, 4);
	end(query, 10, 16);
	expect(buffer, wanted, 10);

	gl_case("not even one instance fits, and the next draw finds no room");
	buffer = room_for(3);
	begin(GL_POINTS, query);
	glDrawArraysInstanced(GL_POINTS, 0, 4, 4);
	glDrawArraysInstanced(GL_POINTS, 0, 1, 2);
	end(query, 3, 18);
	expect(buffer, wanted, 3);

	gl_case("triangles of instances that do not fit");
	for (int i = 0; i < 15; i++)
		memcpy(wanted[i], (int[2]){ strip[i % 9], i / 9 }, sizeof(wanted[i]));
	buffer = room_for(17);		/* five triangles and two vertices */
	begin(GL_TRIANGLES, query);
	glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 5, 3);
	end(query, 5, 9);
	expect(buffer, wanted, 15);
	glDeleteProgram(program);
}

/* Attributes of vertices with large numbers, and of instances, in the part that is cut too. */
static void attributes(void)
{
	static const char vs[] = "#version 140\n"
		"in float position; in float value;"
		"out vec2 kept; void main() { kept = vec2(position, value);"
		" gl_Position = vec4(0.0); }";
	static const GLuint indices[3] = { FAR, FAR + 2, 7 };
	static const GLfloat each[4] = { 11, 22, 33, 44 };
	GLfloat *numbers = calloc(FAR + 3, sizeof(*numbers));
	GLuint program = program_of(vs), vertices[3], buffer, query[2];
	int wanted[SLOTS][2];

	gl_case("attributes of far vertices and of instances");
	for (int i = 0; i < FAR + 3; i++)
		numbers[i] = (float)i;
	for (int i = 0; i < 8; i++)
		memcpy(wanted[i], (int[2]){ (int)indices[i % 3], (int)each[i / 3] },
		       sizeof(wanted[i]));
	glGenBuffers(3, vertices);
	glBindBuffer(GL_ARRAY_BUFFER, vertices[0]);
	glBufferData(GL_ARRAY_BUFFER, (FAR + 3) * sizeof(*numbers), numbers, GL_STATIC_DRAW);
	glVertexAttribPointer(0, 1, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	glBindBuffer(GL_ARRAY_BUFFER, vertices[1]);
	glBufferData(GL_ARRAY_BUFFER, sizeof(each), each, GL_STATIC_DRAW);
	glVertexAttribPointer(1, 1, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(1);
	glVertexAttribDivisor(1, 1);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, vertices[2]);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices, GL_STATIC_DRAW);
	buffer = room_for(8);
	begin(GL_POINTS, query);
	glDrawElementsInstanced(GL_POINTS, 3, GL_UNSIGNED_INT, NULL, 4);
	end(query, 8, 12);
	expect(buffer, wanted, 8);
	glVertexAttribDivisor(1, 0);
	glDisableVertexAttribArray(0);
	glDisableVertexAttribArray(1);
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
	glDeleteBuffers(3, vertices);
	glDeleteProgram(program);
	free(numbers);
}

/* The draw's own numbers, not those of the one before. */
static void parameters(void)
{
	static const char vs[] =
		"#version 140\n#extension GL_ARB_shader_draw_parameters : require\n"
		"out vec2 kept; void main() { kept = vec2(gl_BaseVertexARB, gl_BaseInstanceARB);"
		" gl_Position = vec4(0.0); }";
	static const int wanted[6][2] = { { 5, 3 }, { 5, 3 }, { 9, 4 },
					   { 9, 4 }, { 0, 0 }, { 0, 0 } };
	draw_base_fn draw =
		(draw_base_fn)eglGetProcAddress("glDrawElementsInstancedBaseVertexBaseInstance");
	static const GLuint indices[2] = { 0, 1 };
	GLuint program, buffer, query[2], elements;

	gl_case("base vertex and base instance of draws that are captured");
	program = program_of(vs);
	glGenBuffers(1, &elements);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, elements);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices, GL_STATIC_DRAW);
	buffer = room_for(6);
	begin(GL_POINTS, query);
	draw(GL_POINTS, 2, GL_UNSIGNED_INT, NULL, 1, 5, 3);
	draw(GL_POINTS, 2, GL_UNSIGNED_INT, NULL, 1, 9, 4);
	glDrawArrays(GL_POINTS, 3, 2);
	end(query, 6, 6);
	expect(buffer, wanted, 6);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
	glDeleteBuffers(1, &elements);
	glDeleteProgram(program);
}

int main(void)
{
	gl_open_desktop(3, 0);
	gl_target(8, 8, GL_RGBA8);
	overflow();
	attributes();
	parameters();
	return gl_close();
}
