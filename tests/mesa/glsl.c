/* SPDX-License-Identifier: MIT */
/* Functions of shaders that extensions of OpenGL 3.3 add. */
#include <stdlib.h>

#include "gl.h"

#define SIDE 16

static const char vs[] =
	"#version 330\n"
	"in vec4 position; void main() { gl_Position = position; }";

/* f = x * y, whose derivatives differ from pixel to pixel. */
static const char derivatives_fs[] =
	"#version 330\n#extension GL_ARB_derivative_control : require\nout vec4 c;\n"
	"void main() { vec2 p = floor(gl_FragCoord.xy); float f = p.x * p.y;\n"
	"c = vec4(dFdxFine(f), dFdyFine(f), fwidthFine(f), dFdxCoarse(f)) / 255.0; }";

/* A pixel is so many texels wide: x and y are given. */
static const char lod_fs[] =
	"#version 330\n#extension GL_ARB_texture_query_lod : require\nout vec4 c;\n"
	"uniform sampler2D t; uniform vec2 scale;\n"
	"void main() { vec2 l = textureQueryLOD(t, gl_FragCoord.xy * scale / 64.0);\n"
	"c = vec4(l.x * 10.0, (l.y + 5.0) * 10.0, 0.0, 255.0) / 255.0; }";

static const char vote_cs[] =
	"#version 330\n#extension GL_ARB_compute_shader : require\n"
	"#extension GL_ARB_shader_group_vote : require\n"
	"#extension GL_ARB_shader_storage_buffer_object : require\n"
	"layout(local_size_x = 8) in;\n"
	"layout(std430, binding = 0) buffer Out { uint o[]; };\n"
	"void main() { uint i = gl_LocalInvocationID.x, r = 0u;\n"
	"r |= anyInvocationARB(i == 3u) ? 1u : 0u; r |= anyInvocationARB(i == 9u) ? 2u : 0u;\n"
	"r |= allInvocationsARB(i < 8u) ? 4u : 0u; r |= allInvocationsARB(i != 3u) ? 8u : 0u;\n"
	"r |= allInvocationsEqualARB(i < 8u) ? 16u : 0u;\n"
	"r |= allInvocationsEqualARB(i == 3u) ? 32u : 0u;\n"
	/* threads that do not take part have no vote */
	"if (i > 3u) r |= allInvocationsARB(i != 3u) ? 64u : 0u;\n"
	"o[i] = r; }";

static const char ballot_cs[] =
	"#version 400\n#extension GL_ARB_compute_shader : require\n"
	"#extension GL_ARB_shader_ballot : require\n#extension GL_ARB_gpu_shader_int64 : require\n"
	"#extension GL_ARB_shader_storage_buffer_object : require\n"
	"layout(local_size_x = 8) in;\n"
	"layout(std430, binding = 0) buffer Out { uint o[]; };\n"
	"void main() { uint i = gl_LocalInvocationID.x;\n"
	"o[i * 8u] = gl_SubGroupInvocationARB; o[i * 8u + 1u] = gl_SubGroupSizeARB;\n"
	"o[i * 8u + 2u] = uint(ballotARB((i & 3u) == 1u));\n"
	"o[i * 8u + 3u] = readFirstInvocationARB(i + 40u);\n"
	"o[i * 8u + 4u] = readInvocationARB(i * 10u, 5u);\n"
	"o[i * 8u + 5u] = uint(gl_SubGroupLtMaskARB);\n"
	"o[i * 8u + 6u] = uint(gl_SubGroupEqMaskARB);\n"
	"if (i >= 6u) o[i * 8u + 7u] = readFirstInvocationARB(i) + uint(ballotARB(true)) * 100u; }";

static const char formatted_fs[] =
	"#version 330\n#extension GL_EXT_shader_image_load_formatted : require\n"
	"#extension GL_ARB_shader_image_load_store : require\n"
	"#extension GL_ARB_shading_language_420pack : require\nout vec4 c;\n"
	"layout(binding = 0) uniform image2D i;\n"
	"void main() { c = imageLoad(i, ivec2(gl_FragCoord.xy)); }";

static void draw(void)
{
	gl_rect(-1, -1, 1, 1, 0);
}

static void derivatives(void)
{
	gl_case("dFdxFine, dFdyFine and fwidthFine are those of the pixel's own row and column");
	gl_target(SIDE, SIDE, GL_RGBA8);
	gl_program(vs, derivatives_fs);
	draw();
	for (int y = 0; y < 4; y++) {
		for (int x = 0; x < 4; x++) {
			GLubyte p[4];

			glReadPixels(x, y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, p);
			if (p[0] != y || p[1] != x || p[2] != x + y)
				gl_fail("fine at %d, %d: %d %d %d", x, y, p[0], p[1], p[2]);
			/* that of either row */
			if (p[3] != (y & ~1) && p[3] != (y | 1))
				gl_fail("coarse at %d, %d: %d", x, y, p[3]);
		}
	}
	gl_no_error();
}

/* The level that is sampled, within the texture and the sampler, and the computed one. */
static void query_lod(void)
{
	static const struct {
		float x, y;
		GLint filter;
		int levels, min, computed, sampled;	/* tenfold */
	} cases[] = {
		{ 1, 1, GL_LINEAR_MIPMAP_LINEAR, 7, 0, 0, 0 },
		{ 4, 1, GL_LINEAR_MIPMAP_LINEAR, 7, 0, 20, 20 },
		{ 1, 2, GL_LINEAR_MIPMAP_LINEAR, 7, 0, 10, 10 },
		{ 3, 3, GL_LINEAR_MIPMAP_LINEAR, 7, 0, 16, 16 },
		{ 3, 3, GL_LINEAR_MIPMAP_NEAREST, 7, 0, 16, 20 },
		{ 2.5f, 1, GL_NEAREST_MIPMAP_NEAREST, 7, 0, 13, 10 },
		{ 4, 4, GL_LINEAR, 7, 0, 20, 0 },
		{ 8, 8, GL_LINEAR_MIPMAP_LINEAR, 3, 0, 30, 20 },	/* three levels */
		{ 0.25f, 0.25f, GL_LINEAR_MIPMAP_LINEAR, 7, 0, -20, 0 },
		{ 1, 1, GL_LINEAR_MIPMAP_LINEAR, 7, 2, 0, 20 },	/* GL_TEXTURE_MIN_LOD */
	};
	GLuint program = gl_program(vs, lod_fs), texture;
	GLubyte p[4];

	gl_case("textureQueryLOD");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glUseProgram(program);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	for (int level = 0; level < 7; level++)
		glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA8, 64 >> level, 64 >> level, 0, GL_RGBA,
			     GL_UNSIGNED_BYTE, NULL);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, cases[i].filter);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, cases[i].levels - 1);
		glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MIN_LOD, (float)cases[i].min);
		glUniform2f(glGetUniformLocation(program, "scale"), cases[i].x, cases[i].y);
		draw();
		glReadPixels(5, 5, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, p);
		if (abs(p[0] - cases[i].sampled) > 1 || abs(p[1] - 50 - cases[i].computed) > 1)
			gl_fail("case %u: %d and %d, expected %d and %d", i, p[0], p[1] - 50,
				cases[i].sampled, cases[i].computed);
	}
	gl_no_error();
}

/* Runs one group of @shader on @words words of 0. Returns these words, mapped; NULL on failure. */
static const GLuint *group_results(const char *shader, size_t words)
{
	static const GLuint zero[64];

	glUseProgram(gl_compute(shader));
	gl_storage(0, zero, words * sizeof(zero[0]));
	glDispatchCompute(1, 1, 1);
	return gl_results(words * sizeof(zero[0]));
}

static void vote(void)
{
	const GLuint *got;

	gl_case("votes of a group's threads");
	got = group_results(vote_cs, 8);
	for (GLuint i = 0; got && i < 8; i++) {
		if (got[i] != (i > 3 ? 85u : 21u))
			gl_fail("thread %u: %u", i, got[i]);
	}
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	gl_no_error();
}

static void ballot(void)
{
	const GLuint *got;

	gl_case("ballots, and values of other threads");
	got = group_results(ballot_cs, 64);
	for (GLuint i = 0; got && i < 8; i++) {
		const GLuint wanted[8] = { i,  8,		    0x22,   40,
					   50, (1u << i) - 1, 1u << i, i < 6 ? 0 : 6 + 0xc0 * 100 };

		for (GLuint k = 0; k < 8; k++) {
			if (got[8 * i + k] != wanted[k])
				gl_fail("thread %u, value %u: %u, expected %u", i, k,
					got[8 * i + k], wanted[k]);
		}
	}
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	gl_no_error();
}

static void load_formatted(void)
{
	static const GLubyte texel[4] = { 10, 20, 30, 40 };
	GLuint texture, program = gl_program(vs, formatted_fs);

	gl_case("an image is read without a format in the shader");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glUseProgram(program);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SIDE, SIDE);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 3, 4, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, texel);
	glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8);
	draw();
	gl_expect(3, 4, 10, 20, 30, 40, 0);
	gl_no_error();
}

int main(void)
{
	gl_open_desktop(3, 3);
	derivatives();
	query_lod();
	vote();
	ballot();
	load_formatted();
	return gl_close();
}
