// SPDX-License-Identifier: MIT
/*
 * Small draws between which buffers, textures, targets or queries change: DRAWS of them a run. A
 * draw covers few pixels, so a run costs what the driver and the submission of jobs cost.
 */
#include <string.h>

#include "ops.h"

#define DRAWS		16
#define SMALL		256		/* pixels, of the targets that take turns */

static const char vertex[] =
	"#version 320 es\n"
	"layout(location = 0) in vec2 at;\n"
	"void main() { gl_Position = vec4(at * .01, 0, 1); }\n";

static const char fragment[] =
	"#version 320 es\n"
	"precision highp float;\n"
	"layout(std140) uniform Block { vec4 color[2]; };\n"
	"uniform sampler2D image;\n"
	"out vec4 o;\n"
	"void main() { o = color[0] * .5 + color[1] * .25 + texture(image, vec2(.1)); }\n";

static const float corners[6] = { -1, -1, 3, -1, -1, 3 };
static GLuint block, vertices, other, image, target[2];

static void colors(float color[8], unsigned int i)
{
	for (unsigned int c = 0; c < 8; c++)
		color[c] = (float)((i + c) % 7) / 16;
}

static void plain(const struct op *op)
{
	static const uint8_t gray[4] = { 64, 64, 64, 64 };
	float color[8];
	GLuint program;

	(void)op;
	ops_target(GL_RGBA8, 1, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	program = ops_program(vertex, fragment);
	glUniformBlockBinding(program, glGetUniformBlockIndex(program, "Block"), 0);
	image = ops_texture(GL_TEXTURE_2D);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 64, 64);
	for (int i = 0; i < 64 * 64; i++)
		glTexSubImage2D(GL_TEXTURE_2D, 0, i % 64, i / 64, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE,
				gray);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	colors(color, 0);
	block = ops_buffer(GL_UNIFORM_BUFFER, color, sizeof(color));
	other = ops_buffer(GL_COPY_READ_BUFFER, color, sizeof(color));
	glBindBufferBase(GL_UNIFORM_BUFFER, 0, block);
	vertices = ops_buffer(GL_ARRAY_BUFFER, NULL, 4096);
	glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(corners), corners);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
}

/* The change before draw @i. */
enum change {
	NOTHING, BLOCK, ORPHANED_BLOCK, UNUSED_VERTICES, TEXELS, BUFFER_COPY,
};

static void change(enum change what, unsigned int i)
{
	uint8_t texels[16 * 16 * 4];
	float color[8];

	colors(color, i);
	switch (what) {
	case NOTHING:
		break;
	case ORPHANED_BLOCK:
		glBufferData(GL_UNIFORM_BUFFER, sizeof(color), NULL, GL_STREAM_DRAW);
		/* fall through */
	case BLOCK:
		glBufferSubData(GL_UNIFORM_BUFFER, 0, sizeof(color), color);
		break;
	case UNUSED_VERTICES:
		glBufferSubData(GL_ARRAY_BUFFER, 2048, sizeof(color), color);
		break;
	case TEXELS:
		memset(texels, (int)(i * 8), sizeof(texels));
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, texels);
		break;
	case BUFFER_COPY:
		glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_UNIFORM_BUFFER, 0, 0, sizeof(color));
		break;
	}
}

static void draws(const struct op *op)
{
	for (unsigned int i = 0; i < DRAWS; i++) {
		change(*(const enum change *)op->data, i);
		glDrawArrays(GL_TRIANGLES, 0, 3);
	}
	glFlush();
}

static void finished(const struct op *op)
{
	draws(op);
	glFinish();
}

static void turns(const struct op *op)
{
	static const char covers[] =
		"#version 320 es\n"
		"layout(location = 0) in vec2 at;\n"
		"void main() { gl_Position = vec4(at, 0, 1); }\n";
	static const char reads[] =
		"#version 320 es\n"
		"precision highp float;\n"
		"uniform sampler2D image;\n"
		"out vec4 o;\n"
		"void main() { o = texelFetch(image, ivec2(gl_FragCoord.xy), 0) * .5 + .25; }\n";

	plain(op);
	ops_program(covers, reads);
	for (unsigned int i = 0; i < 2; i++) {
		target[i] = ops_target(GL_RGBA8, 1, 0);
		glClear(GL_COLOR_BUFFER_BIT);
	}
	glViewport(0, 0, SMALL, SMALL);
}

static void take_turns(const struct op *op)
{
	GLint color;

	(void)op;
	for (unsigned int i = 0; i < DRAWS; i++) {
		glBindFramebuffer(GL_READ_FRAMEBUFFER, target[i % 2]);
		glGetFramebufferAttachmentParameteriv(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
			GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &color);
		glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target[1 - i % 2]);
		glBindTexture(GL_TEXTURE_2D, (GLuint)color);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glDrawArrays(GL_TRIANGLES, 0, 3);
	}
	glFlush();
}

static void queried(const struct op *op)
{
	const GLenum what = *(const GLenum *)op->data;
	GLuint query;

	glGenQueries(1, &query);
	for (unsigned int i = 0; i < DRAWS; i++) {
		GLuint result;

		glBeginQuery(what, query);
		glDrawArrays(GL_TRIANGLES, 0, 3);
		glEndQuery(what);
		glGetQueryObjectuiv(query, GL_QUERY_RESULT, &result);
	}
	glDeleteQueries(1, &query);
}

#define UPDATE(label, run, what) { "update_" label, plain, run, &(const enum change){ what } }
#define QUERY(label, what) { "update_" label, plain, queried, &(const GLenum){ what } }

const struct op ops_update[] = {
	UPDATE("nothing", draws, NOTHING),
	UPDATE("finish", finished, NOTHING),
	UPDATE("block", draws, BLOCK),
	UPDATE("block_orphaned", draws, ORPHANED_BLOCK),
	UPDATE("vertices_unused", draws, UNUSED_VERTICES),
	UPDATE("texels", draws, TEXELS),
	UPDATE("buffer_copy", draws, BUFFER_COPY),
	{ "update_targets", turns, take_turns, NULL },
	QUERY("query_time", GL_TIME_ELAPSED_EXT),
	QUERY("query_samples", GL_ANY_SAMPLES_PASSED),
	{ NULL, NULL, NULL, NULL }
};
