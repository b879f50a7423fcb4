// SPDX-License-Identifier: MIT
/*
 * Makes expected.txt, the vectors of the tessellator: Mesa's llvmpipe tessellates the patches of
 * cases.h, and transform feedback says what came out.
 *
 *     cc -O2 -o make make.c ../../bench/host/lib/gles.c -lEGL -lGLESv2 -lm && ./make > expected.txt
 *     ./make N        what case N becomes, one vertex a line
 *
 * Needs libegl-dev, libgles-dev and libgl1-mesa-dri; no test needs them.
 */
#include <GLES3/gl32.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/host/lib/gles.h"
#include "cases.h"

#define VERTICES_MAX (3u * 2 * 65 * 65)

static const char vertex[] = "#version 320 es\nvoid main() { gl_Position = vec4(0); }\n";
static const char fragment[] = "#version 320 es\nvoid main() { }\n";
static const char control[] =
	"#version 320 es\n"
	"layout(vertices = 1) out;\n"
	"uniform float f[6];\n"
	"void main() {\n"
	"	gl_TessLevelOuter[0] = f[0]; gl_TessLevelOuter[1] = f[1];\n"
	"	gl_TessLevelOuter[2] = f[2]; gl_TessLevelOuter[3] = f[3];\n"
	"	gl_TessLevelInner[0] = f[4]; gl_TessLevelInner[1] = f[5];\n"
	"}\n";
static const char evaluation[] =
	"#version 320 es\n"
	"layout(%s, %s, %s%s) in;\n"
	"out vec2 at;\n"
	"void main() { at = gl_TessCoord.xy; gl_Position = vec4(0); }\n";

static GLuint programs[3][4][2][2];

static void die(const char *what)
{
	fprintf(stderr, "make: %s\n", what);
	exit(1);
}

static void attach(GLuint program, GLenum stage, const char *source)
{
	GLuint shader = glCreateShader(stage);
	char log[1024] = "";
	GLint ok;

	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
	glGetShaderInfoLog(shader, sizeof(log), NULL, log);
	if (!ok)
		die(log);
	glAttachShader(program, shader);
	glDeleteShader(shader);
}

static GLuint program_for(const struct tess_case *c)
{
	static const char *const shapes[] = { "triangles", "quads", "isolines" };
	static const char *const spacings[] = { "equal_spacing", "", "fractional_odd_spacing",
						"fractional_even_spacing" };
	static const char *const outputs[] = { "at" };
	GLuint *program = &programs[c->shape][c->partitioning][c->points][c->reversed];
	char text[512];

	if (*program)
		return *program;
	*program = glCreateProgram();
	attach(*program, GL_VERTEX_SHADER, vertex);
	attach(*program, GL_TESS_CONTROL_SHADER, control);
	snprintf(text, sizeof(text), evaluation, shapes[c->shape], spacings[c->partitioning],
		 c->reversed ? "cw" : "ccw", c->points ? ", point_mode" : "");
	attach(*program, GL_TESS_EVALUATION_SHADER, text);
	attach(*program, GL_FRAGMENT_SHADER, fragment);
	glTransformFeedbackVaryings(*program, 1, outputs, GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(*program);
	return *program;
}

/* The number of vertices that case @c becomes, and their coordinates. */
static unsigned int draw(const struct tess_case *c, uint32_t (*at)[2])
{
	static GLuint buffer, query, array, frame;
	const unsigned int corners = c->points ? 1 : c->shape == 2 ? 2 : 3;
	GLuint program = program_for(c), written;
	const float *map;

	if (!buffer) {
		glGenBuffers(1, &buffer);
		glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
		glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 8 * VERTICES_MAX, NULL,
			     GL_DYNAMIC_READ);
		glGenQueries(1, &query);
		glGenVertexArrays(1, &array);
		glBindVertexArray(array);
		glGenFramebuffers(1, &frame);
		glBindFramebuffer(GL_FRAMEBUFFER, frame);
		glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_WIDTH, 1);
		glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_HEIGHT, 1);
		glPatchParameteri(GL_PATCH_VERTICES, 1);
		glEnable(GL_RASTERIZER_DISCARD);
	}
	glUseProgram(program);
	glUniform1fv(glGetUniformLocation(program, "f"), 6, c->factors);
	glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query);
	glBeginTransformFeedback(corners == 1 ? GL_POINTS : corners == 2 ? GL_LINES : GL_TRIANGLES);
	glDrawArrays(GL_PATCHES, 0, 1);
	glEndTransformFeedback();
	glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
	glGetQueryObjectuiv(query, GL_QUERY_RESULT, &written);
	if (glGetError() || corners * written > VERTICES_MAX)
		die("a draw failed");
	map = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 8 * VERTICES_MAX, GL_MAP_READ_BIT);
	for (unsigned int i = 0; i < corners * written; i++)
		for (int k = 0; k < 2; k++)
			at[i][k] = (uint32_t)(map[2 * i + k] * 65536);
	glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
	return corners * written;
}

int main(int argc, char **argv)
{
	static uint32_t at[VERTICES_MAX][2];
	unsigned long vertices = 0;
	unsigned int n, count;
	struct tess_case c;
	uint64_t hash;

	if (!gles_open())
		die("no OpenGL ES");
	fprintf(stderr, "%s, %s\n", gles_name(), glGetString(GL_VERSION));
	if (argc > 1) {
		c = tess_case((unsigned int)atoi(argv[1]));
		printf("shape %u partitioning %u points %d reversed %d factors", c.shape,
		       c.partitioning, c.points, c.reversed);
		for (int i = 0; i < 6; i++)
			printf(" %.9g", c.factors[i]);
		printf("\n");
		count = draw(&c, at);
		for (unsigned int i = 0; i < count; i++)
			printf("%u %u\n", at[i][0], at[i][1]);
		return 0;
	}
	for (n = 0; n < TESS_CASES; n += TESS_GROUP) {
		hash = TESS_HASH_START;
		for (unsigned int i = n; i < n + TESS_GROUP; i++) {
			c = tess_case(i);
			count = draw(&c, at);
			vertices += count;
			hash = tess_hash(hash, count);
			for (unsigned int k = 0; k < count; k++)
				hash = tess_hash(tess_hash(hash, at[k][0]), at[k][1]);
		}
		printf("%016llx\n", (unsigned long long)hash);
	}
	fprintf(stderr, "%u cases, %lu vertices\n", TESS_CASES, vertices);
	return 0;
}
