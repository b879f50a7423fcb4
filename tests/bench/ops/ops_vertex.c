// SPDX-License-Identifier: MIT
/*
 * Operations of vertex shaders and input assembly: a grid of small triangles, by attribute
 	format,
 * index type and shape of the shader. One run draws TRIANGLES triangles of some four pixels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

#define ACROSS		128		/* quads of the grid in each direction */
#define TRIANGLES	(2 * ACROSS * ACROSS)
#define VERTICES	((ACROSS + 1) * (ACROSS + 1))

struct mesh {
	GLenum type;			/* of attribute 1, four components */
	GLboolean normalized;
	unsigned int bytes;		/* of attribute 1 of a vertex */
	GLenum index;			/* type of the indices; 0: drawn without */
	unsigned int instances;		/* 0: not instanced */
	const char *declares, *body;	/* of the vertex shader; sets vec4 v from vec4 value
		and vec2 p */
};

static void positions(void)
{
	float *place = malloc(sizeof(float) * 2 * TRIANGLES * 3);
	unsigned int n = 0;

	for (unsigned int y = 0; y <= ACROSS; y++) {
		for (unsigned int x = 0; x <= ACROSS; x++) {
			place[n++] = 2.f * (float)x / ACROSS - 1;
			place[n++] = 2.f * (float)y / ACROSS - 1;
		}
	}
	for (; n < 2 * TRIANGLES * 3; n++)
		place[n] = place[n % (2 * VERTICES)];
	ops_buffer(GL_ARRAY_BUFFER, place, sizeof(float) * 2 * TRIANGLES * 3);
	glEnableVertexAttribArray(0);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	free(place);
}

static void values(const struct mesh *m)
{
	const size_t size = (size_t)m->bytes * TRIANGLES * 3;
	uint8_t *data = malloc(size);

	for (size_t i = 0; i < size; i++)
		data[i] = (uint8_t)(i * 37 >> 3);
	for (size_t i = 0; m->type == GL_FLOAT && i < size / 4; i++)
		((float *)data)[i] = (float)(i % 97) / 97;
	for (size_t i = 0; m->type == GL_HALF_FLOAT && i < size / 2; i++)
		((uint16_t *)data)[i] = (uint16_t)(0x3400 + i % 1024);
	ops_buffer(GL_ARRAY_BUFFER, data, size);
	glEnableVertexAttribArray(1);
	glVertexAttribPointer(1, 4, m->type, m->normalized, 0, NULL);
	free(data);
}

static void indices(GLenum type)
{
	static uint32_t index[3 * TRIANGLES];
	static uint16_t small[3 * TRIANGLES];
	unsigned int n = 0;

	for (uint32_t y = 0; y < ACROSS; y++) {
		for (uint32_t x = 0; x < ACROSS; x++) {
			const uint32_t a = y * (ACROSS + 1) + x, b = a + ACROSS + 1;
			const uint32_t quad[6] = { a, a + 1, b, b, a + 1, b + 1 };

			memcpy(index + n, quad, sizeof(quad));
			n += 6;
		}
	}
	for (unsigned int i = 0; i < n; i++)
		small[i] = (uint16_t)index[i];
	if (type == GL_UNSIGNED_SHORT)
		ops_buffer(GL_ELEMENT_ARRAY_BUFFER, small, sizeof(small));
	else
		ops_buffer(GL_ELEMENT_ARRAY_BUFFER, index, sizeof(index));
}

static void begin(const struct op *op)
{
	const struct mesh *m = op->data;
	char text[2048];

	snprintf(text, sizeof(text),
		 "#version 320 es\n"
		 "layout(location = 0) in vec2 p; layout(location = 1) in vec4 value; out vec4 "
		 	"v;\n%s\n"
		 "void main() {\n\tgl_Position = vec4(p, 0.0, 1.0);\n\tv = value;\n\t%s\n}\n",
		 	m->declares, m->body);
	ops_target(GL_RGBA8, 1, 0);
	ops_program(text, "#version 320 es\nprecision highp float; in vec4 v; out vec4 color;\n"
		    "void main() { color = v; }\n");
	positions();
	values(m);
	if (m->index)
		indices(m->index);
	glClear(GL_COLOR_BUFFER_BIT);
}

static void run(const struct op *op)
{
	const struct mesh *m = op->data;

	if (m->instances)
		glDrawElementsInstanced(GL_TRIANGLES, 3 * TRIANGLES / (GLsizei)m->instances,
			m->index, NULL,
					(GLsizei)m->instances);
	else if (m->index)
		glDrawElements(GL_TRIANGLES, 3 * TRIANGLES, m->index, NULL);
	else
		glDrawArrays(GL_TRIANGLE_STRIP, 0, TRIANGLES);
}

#define MESH(label, ...) { "vertex_" label, begin, run, &(const struct mesh){ __VA_ARGS__ } }

const struct op ops_vertex[] = {
	MESH("float", GL_FLOAT, 0, 16, GL_UNSIGNED_INT, 0, "", ""),
	MESH("half", GL_HALF_FLOAT, 0, 8, GL_UNSIGNED_INT, 0, "", ""),
	MESH("unorm8", GL_UNSIGNED_BYTE, 1, 4, GL_UNSIGNED_INT, 0, "", ""),
	MESH("snorm16", GL_SHORT, 1, 8, GL_UNSIGNED_INT, 0, "", "v = abs(v);"),
	MESH("rgb10a2", GL_UNSIGNED_INT_2_10_10_10_REV, 1, 4, GL_UNSIGNED_INT, 0, "", ""),
	MESH("index16", GL_FLOAT, 0, 16, GL_UNSIGNED_SHORT, 0, "", ""),
	MESH("strip", GL_FLOAT, 0, 16, 0, 0, "", ""),
	MESH("instances", GL_FLOAT, 0, 16, GL_UNSIGNED_INT, 32, "", "gl_Position.xy += 0.01 * "
		"float(gl_InstanceID);"),
	MESH("arithmetic", GL_FLOAT, 0, 16, GL_UNSIGNED_INT, 0, "",
	     "for (int i = 0; i < 8; i++) v = fract(v * 1.7 + sin(v.wxyz));"),
	MESH("branch", GL_FLOAT, 0, 16, GL_UNSIGNED_INT, 0, "", "if ((gl_VertexID & 3) == 1) v "
		"= v.wzyx * v; else v = sqrt(v);"),
	{ NULL, NULL, NULL, NULL }
};
