// SPDX-License-Identifier: MIT
/*
 * Operations of the output stage: kinds of targets, blending, discard, depth, samples. One run is
 * one full-screen pass.
 */
#include <stdio.h>

#include "ops.h"

struct output {
	GLenum format;
	unsigned int targets, samples;
	const char *declares, *body;
	void (*state)(void);		/* sets GL state after the target is bound */
};

static const char vertex[] =
	"#version 320 es\n"
	"out vec2 uv;\n"
	"void main() {\n"
	"	vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
	"	uv = p;\n"
	"	gl_Position = vec4(2.0 * p - 1.0, 0.5 * p.x - 0.25, 1.0);\n"
	"}\n";

static void blend_alpha(void)
{
	glEnable(GL_BLEND);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
}

static void blend_add(void)
{
	glEnable(GL_BLEND);
	glBlendFunc(GL_ONE, GL_ONE);
}

static void depth_less(void)
{
	glEnable(GL_DEPTH_TEST);
	glDepthFunc(GL_LEQUAL);
	glClear(GL_DEPTH_BUFFER_BIT);
}

static void alpha_to_coverage(void)
{
	glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
}

static void begin(const struct op *op)
{
	const struct output *o = op->data;
	char text[2048];

	snprintf(text, sizeof(text),
		 "#version 320 es\nprecision highp float; precision highp int;\n in vec2 uv;\n%s\n"
		 "void main() {\n\tivec2 at = ivec2(gl_FragCoord.xy);\n\t%s\n}\n", o->declares,
		 	o->body);
	ops_target(o->format, o->targets, o->samples);
	glClear(GL_COLOR_BUFFER_BIT);
	glGetError();			/* integer targets cannot be cleared like this */
	ops_program(vertex, text);
	if (o->state)
		o->state();
}

static void run(const struct op *op)
{
	(void)op;
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

#define OUT(label, ...) { "out_" label, begin, run, &(const struct output){ __VA_ARGS__ } }
#define ONE "out vec4 color;"

const struct op ops_output[] = {
	OUT("rgba8", GL_RGBA8, 1, 0, ONE, "color = vec4(uv, 0.25, 1.0);", NULL),
	OUT("rgb565", GL_RGB565, 1, 0, ONE, "color = vec4(uv, 0.25, 1.0);", NULL),
	OUT("rgb10a2", GL_RGB10_A2, 1, 0, ONE, "color = vec4(uv, 0.25, 1.0);", NULL),
	OUT("srgb8", GL_SRGB8_ALPHA8, 1, 0, ONE, "color = vec4(uv, 0.25, 1.0);", NULL),
	OUT("rgba16f", GL_RGBA16F, 1, 0, ONE, "color = vec4(uv, 0.25, 1.0);", NULL),
	OUT("r32f", GL_R32F, 1, 0, "out float color;", "color = uv.x * uv.y;", NULL),
	OUT("rgba32ui", GL_RGBA32UI, 1, 0, "out uvec4 color;", "color = uvec4(at, at.yx);", NULL),
	OUT("four_targets", GL_RGBA8, 4, 0,
	    "layout(location = 0) out vec4 c0; layout(location = 1) out vec4 c1; "
	    "layout(location = 2) out vec4 c2;"
	    "layout(location = 3) out vec4 c3;",
	    "c0 = uv.xyxy; c1 = uv.yxyx; c2 = vec4(uv, 0.5, 1.0); c3 = vec4(0.5 * uv, 0.1, "
	    "1.0);", NULL),
	OUT("blend_rgba8", GL_RGBA8, 1, 0, ONE, "color = vec4(uv, 0.25, 0.5 * uv.x);",
		blend_alpha),
	OUT("blend_rgba16f", GL_RGBA16F, 1, 0, ONE, "color = vec4(0.001 * uv, 0.0, 0.5);",
		blend_add),
	OUT("discard", GL_RGBA8, 1, 0, ONE, "if (((at.x * at.y) & 3) == 1) discard; color = "
		"vec4(uv, 0.25, 1.0);", NULL),
	OUT("frag_depth", GL_RGBA8, 1, 0, ONE, "gl_FragDepth = 0.5 * uv.x; color = vec4(uv, "
		"0.25, 1.0);", depth_less),
	OUT("depth_test", GL_RGBA8, 1, 0, ONE, "color = vec4(uv, 0.25, 1.0);", depth_less),
	OUT("msaa4", GL_RGBA8, 1, 4, ONE, "color = vec4(uv, 0.25, 1.0);", NULL),
	OUT("msaa4_sample_rate", GL_RGBA8, 1, 4, ONE, "color = vec4(uv, float(gl_SampleID) * "
		"0.25, 1.0);", NULL),
	OUT("msaa4_alpha_to_coverage", GL_RGBA8, 1, 4, ONE, "color = vec4(uv, 0.25, uv.x);",
		alpha_to_coverage),
	{ NULL, NULL, NULL, NULL }
};
