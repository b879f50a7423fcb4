/* SPDX-License-Identifier: MIT */
/* Indexed draws with instances: gl_VertexID is the index, whatever the vertex buffers hold. */
#include <stdlib.h>

#include "gl.h"

#define WIDTH 16
#define ROWS 320

#define ES32 "#version 320 es\nprecision highp float; precision highp int;\n"

/* Vertex number base + x of instance y is the pixel (x, y). */
static const char vs[] = ES32
	"in float position; in float value; uniform int base; uniform float zero;"
	"flat out vec4 color;"
	"void main() { int x = gl_VertexID - base, y = gl_InstanceID;"
	" gl_Position = vec4((float(x) + 0.5) / 8.0 - 1.0, (float(y) + 0.5) / 160.0 - 1.0,"
	" position * zero, 1.0); gl_PointSize = 1.0;"
	" color = vec4(float(x + 1), float(y % 100 + 1), value, 255.0) / 255.0; }";
static const char fs[] = ES32 "flat in vec4 color; out vec4 c; void main() { c = color; }";

struct draw {
	const char *name;
	GLenum type;
	GLuint first;			/* index */
	GLint bias;
	int instances;
	int divisor;			/* of the attribute "value"; 0: it has no buffer */
	GLuint restart;			/* not 0: this index is among them */
};

static const struct draw draws[] = {
	{ "32-bit indices above 65536, two instances", GL_UNSIGNED_INT, 200000, 0, 2, 0, 0 },
	{ "32-bit indices above 65536, three instances", GL_UNSIGNED_INT, 70000, 0, 3, 0, 0 },
	{ "16-bit indices, 100 instances", GL_UNSIGNED_SHORT, 65500, 0, 100, 0, 0 },
	{ "8-bit indices, 319 instances", GL_UNSIGNED_BYTE, 230, 0, 319, 0, 0 },
	{ "a negative base vertex", GL_UNSIGNED_INT, 300000, -250000, 5, 0, 0 },
	{ "a base vertex above 65536", GL_UNSIGNED_SHORT, 100, 400000, 4, 0, 0 },
	{ "many instances of large indices", GL_UNSIGNED_INT, 5000000, 0, 300, 0, 0 },
	{ "as many instances as can be told apart", GL_UNSIGNED_INT, 12500000, 0, 320, 0, 0 },
	{ "a restart index among many instances", GL_UNSIGNED_INT, 5000000, 0, 300, 0, 0xffffffff },
	{ "an attribute for each instance", GL_UNSIGNED_INT, 200000, 0, 7, 1, 0 },
	{ "an attribute for each three instances", GL_UNSIGNED_INT, 90000, 0, 11, 3, 0 },
	{ "the same of many instances", GL_UNSIGNED_INT, 5000000, 0, 300, 3, 0 },
};

/* Fill a buffer with indices and, in their middle, @d->restart. Returns how many there are. */
static GLsizei fill_indices(const struct draw *d)
{
	uint32_t word[WIDTH + 1];
	uint16_t half[WIDTH + 1];
	uint8_t byte[WIDTH + 1];
	GLsizei n = 0;

	for (int i = 0; i < WIDTH; i++) {
		if (i == WIDTH / 2 && d->restart)
			word[n++] = d->restart;
		word[n++] = d->first + (GLuint)i;
	}
	for (int i = 0; i < n; i++) {
		half[i] = (uint16_t)word[i];
		byte[i] = (uint8_t)word[i];
	}
	if (d->type == GL_UNSIGNED_INT)
		glBufferData(GL_ELEMENT_ARRAY_BUFFER, 4 * n, word, GL_STATIC_DRAW);
	else if (d->type == GL_UNSIGNED_SHORT)
		glBufferData(GL_ELEMENT_ARRAY_BUFFER, 2 * n, half, GL_STATIC_DRAW);
	else
		glBufferData(GL_ELEMENT_ARRAY_BUFFER, n, byte, GL_STATIC_DRAW);
	return n;
}

static void check(const struct draw *d)
{
	static uint8_t got[ROWS][WIDTH][4];

	glReadPixels(0, 0, WIDTH, ROWS, GL_RGBA, GL_UNSIGNED_BYTE, got);
	for (int y = 0; y < ROWS; y++) {
		for (int x = 0; x < WIDTH; x++) {
			const int drawn = y < d->instances;
			const int value = drawn && d->divisor ? y / d->divisor % 200 + 1 : 0;
			const int wanted[3] = { drawn ? x + 1 : 0, drawn ? y % 100 + 1 : 0, value };

			for (int i = 0; i < 3; i++)
				if (got[y][x][i] != wanted[i])
					gl_fail("component %d of vertex %d, instance %d is %d, "
						"expected %d", i, x, y, got[y][x][i], wanted[i]);
		}
	}
}

/* @attribute: a buffer for "position", shorter than the indices. */
static void draw(const struct draw *d, GLuint program, bool attribute)
{
	const GLint base = (GLint)d->first + d->bias;
	GLfloat values[ROWS];
	GLuint buffer[3];
	GLsizei n;

	glGenBuffers(3, buffer);
	for (int i = 0; i < ROWS; i++)
		values[i] = (float)(i % 200 + 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glUniform1i(glGetUniformLocation(program, "base"), base);
	glDisableVertexAttribArray(0);
	glDisableVertexAttribArray(1);
	glVertexAttrib1f(0, 0);
	glVertexAttrib1f(1, 0);
	if (attribute) {
		glBindBuffer(GL_ARRAY_BUFFER, buffer[0]);
		glBufferData(GL_ARRAY_BUFFER, 64 * sizeof(GLfloat), values, GL_STATIC_DRAW);
		glVertexAttribPointer(0, 1, GL_FLOAT, GL_FALSE, 0, NULL);
		glEnableVertexAttribArray(0);
	}
	if (d->divisor) {
		glBindBuffer(GL_ARRAY_BUFFER, buffer[1]);
		glBufferData(GL_ARRAY_BUFFER, sizeof(values), values, GL_STATIC_DRAW);
		glVertexAttribPointer(1, 1, GL_FLOAT, GL_FALSE, 0, NULL);
		glEnableVertexAttribArray(1);
		glVertexAttribDivisor(1, (GLuint)d->divisor);
	}
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffer[2]);
	n = fill_indices(d);
	if (d->restart)
		glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
	glDrawElementsInstancedBaseVertex(GL_POINTS, n, d->type, NULL, d->instances, d->bias);
	glDisable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
	check(d);
	glVertexAttribDivisor(1, 0);
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
	glDeleteBuffers(3, buffer);
}

int main(void)
{
	GLuint program;

	gl_open(3, 2);
	program = gl_program(vs, fs);
	gl_target(WIDTH, ROWS, GL_RGBA8);
	glClearColor(0, 0, 0, 0);
	for (size_t i = 0; i < sizeof(draws) / sizeof(draws[0]); i++) {
		gl_case(draws[i].name);
		draw(&draws[i], program, false);
	}
	gl_case("indices beyond an attribute's buffer");
	draw(&(struct draw){ NULL, GL_UNSIGNED_INT, 200, 0, 2, 0, 0 }, program, true);
	draw(&(struct draw){ NULL, GL_UNSIGNED_SHORT, 1000, 0, 9, 1, 0 }, program, true);
	glDeleteProgram(program);
	return gl_close();
}
