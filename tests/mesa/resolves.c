/* SPDX-License-Identifier: MIT */
/*
 * Blits that compute: the mean of samples, other formats, and depth or stencil alone. Whole levels
 * and parts of them take different ways in the driver.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl.h"

#define SIDE 72

static const char vs[] =
	"#version 310 es\nlayout(location = 0) in vec4 position;"
	"void main() { gl_Position = position; }";
static const char color_fs[] =
	"#version 310 es\nprecision highp float; uniform vec4 color; out vec4 c;"
	"void main() { c = color; }";
static const char integer_fs[] =
	"#version 310 es\nprecision highp float; uniform uvec4 color; out uvec4 c;"
	"void main() { c = color; }";
static const char depth_fs[] =
	"#version 310 es\nprecision highp float; precision highp sampler2D;"
	"uniform sampler2D image;"
	"out vec4 c; void main() {"
	"float d = texelFetch(image, ivec2(gl_FragCoord.xy), 0).x; c = vec4(d, d, d, 1.0); }";

static GLuint storage(GLenum format, int samples, GLenum attachment, GLuint framebuffer)
{
	GLuint name;

	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glGenRenderbuffers(1, &name);
	glBindRenderbuffer(GL_RENDERBUFFER, name);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, SIDE, SIDE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, name);
	glViewport(0, 0, SIDE, SIDE);
	return name;
}

static GLuint framebuffer_of(GLenum format, int samples)
{
	GLuint name;

	glGenFramebuffers(1, &name);
	storage(format, samples, GL_COLOR_ATTACHMENT0, name);
	return name;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Column group k of four has the color in k samples of four, and zeros in the others. */
static void draw_samples(GLuint program, int integer)
{
	const GLint color = glGetUniformLocation(program, "color");

	glClearColor(0, 0, 0, 0);
	if (integer)
		glClearBufferuiv(GL_COLOR, 0, (const GLuint[4]){ 0 });
	else
		glClear(GL_COLOR_BUFFER_BIT);
	if (integer)
		glUniform4ui(color, 1, 40, 3, 4);
	else
		glUniform4f(color, 1, 0.4f, 0.2f, 0.8f);
	glEnable(GL_SAMPLE_MASK);
	for (int k = 1; k <= 4; k++) {
		const float x = (float)k / 2.5f - 1;

		glSampleMaski(0, (1u << k) - 1);
		gl_rect(x, -1, x + 0.4f, 1, 0);
	}
	glDisable(GL_SAMPLE_MASK);
}

/* Samples that are covered in the middle of column group k. */
static int group_pixel(int k)
{
	return (int)(((float)k / 2.5f + 0.2f) / 2 * SIDE);
}

struct resolve_case {
	const char *name;
	GLenum format;
	int srgb;		/* the mean is one of linear numbers */
	int tolerance;		/* of 255 */
	int components;
};

static double curve(double linear)
{
	return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

/* Pixels of the target, by way of RGBA8 where it has another format. */
static void expect_mean(const struct resolve_case *c, GLuint framebuffer, int y, int all)
{
	static const double colors[4] = { 1, 0.4, 0.2, 0.8 };
	float got[4];
	uint8_t bytes[4];

	glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
	for (int k = 1; k <= 4; k++) {
		const int floats = c->format == GL_RGBA16F || c->format == GL_R11F_G11F_B10F;

		if (floats) {
			glReadPixels(group_pixel(k), y, 1, 1, GL_RGBA, GL_FLOAT, got);
		} else {
			glReadPixels(group_pixel(k), y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
			for (int i = 0; i < 4; i++)
				got[i] = (float)bytes[i] / 255;
		}
		for (int i = 0; i < c->components; i++) {
			double wanted = all ? colors[i] * k / 4 : 0;

			if (c->srgb && i < 3)
				wanted = curve(wanted);
			if (fabs(got[i] - wanted) > c->tolerance / 255.0)
				gl_fail("component %d with %d samples is %f, expected %f", i, k,
					(double)got[i], wanted);
		}
	}
	gl_no_error();
}

static void resolve(GLuint from, GLuint to, int x0, int y0, int x1, int y1)
{
	glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
	glBlitFramebuffer(x0, y0, x1, y1, x0, y0, x1, y1, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

static void resolves(void)
{
	static const struct resolve_case cases[] = {
		{ "the mean of RGBA8", GL_RGBA8, 0, 1, 4 },
		{ "the mean of sRGB", GL_SRGB8_ALPHA8, 1, 1, 4 },
		{ "the mean of R8", GL_R8, 0, 1, 1 },
		{ "the mean of RG8", GL_RG8, 0, 1, 2 },
		{ "the mean of RGB565", GL_RGB565, 0, 9, 3 },
		{ "the mean of RGB10_A2", GL_RGB10_A2, 0, 1, 3 },
		{ "the mean of RGBA16F", GL_RGBA16F, 0, 1, 4 },
		{ "the mean of R11F_G11F_B10F", GL_R11F_G11F_B10F, 0, 3, 3 },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct resolve_case *c = &cases[i];
		GLuint program = gl_program(vs, color_fs), from, to;

		gl_case(c->name);
		from = framebuffer_of(c->format, 4);
		draw_samples(program, 0);
		to = framebuffer_of(c->format, 0);
		glClear(GL_COLOR_BUFFER_BIT);
		resolve(from, to, 0, 0, SIDE, SIDE);
		expect_mean(c, to, 30, 1);
		/* all of it, and most of it, with a scissor */
		for (int first = 0; first < 2; first++) {
			glBindFramebuffer(GL_FRAMEBUFFER, to);
			glClear(GL_COLOR_BUFFER_BIT);
			glEnable(GL_SCISSOR_TEST);
			glScissor(0, 0, SIDE, 40);
			resolve(from, to, first, first, SIDE, SIDE);
			glDisable(GL_SCISSOR_TEST);
			expect_mean(c, to, 39, 1);
			expect_mean(c, to, 40, 0);
			expect_mean(c, to, 0, !first);
		}
		/* a small part */
		glBindFramebuffer(GL_FRAMEBUFFER, to);
		glClear(GL_COLOR_BUFFER_BIT);
		resolve(from, to, 0, 11, SIDE, 15);
		expect_mean(c, to, 14, 1);
		expect_mean(c, to, 15, 0);
		expect_mean(c, to, 10, 0);
	}
}

/* 2 to 16 samples, of which the first half is white. */
static void sample_counts(void)
{
	GLint most = 0, actual = 0;

	gl_case("half of all samples, whatever their number is");
	glGetIntegerv(GL_MAX_SAMPLES, &most);
	for (int samples = 2; samples <= most; samples *= 2) {
		GLuint program = gl_program(vs, color_fs), from, to;

		from = framebuffer_of(GL_RGBA8, samples);
		glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_SAMPLES, &actual);
		glClearColor(0, 0, 0, 0);
		glClear(GL_COLOR_BUFFER_BIT);
		glUniform4f(glGetUniformLocation(program, "color"), 1, 1, 1, 1);
		glEnable(GL_SAMPLE_MASK);
		glSampleMaski(0, (1u << actual / 2) - 1);
		gl_rect(-1, -1, 1, 1, 0);
		glDisable(GL_SAMPLE_MASK);
		to = framebuffer_of(GL_RGBA8, 0);
		glClear(GL_COLOR_BUFFER_BIT);
		resolve(from, to, 0, 0, SIDE, SIDE);
		glBindFramebuffer(GL_FRAMEBUFFER, to);
		gl_expect(0, 0, 128, 128, 128, 128, 0);
		gl_expect(SIDE - 1, SIDE - 1, 128, 128, 128, 128, 0);
		glClear(GL_COLOR_BUFFER_BIT);
		resolve(from, to, 5, 5, 9, 9);
		glBindFramebuffer(GL_FRAMEBUFFER, to);
		gl_expect(8, 8, 128, 128, 128, 128, 1);
		gl_expect(9, 8, 0, 0, 0, 0, 0);
	}
	gl_no_error();
}

/* A copy of all samples, which a resolve of the copy shows. */
static void copied_samples(void)
{
	static const struct resolve_case c = { "", GL_RGBA8, 0, 1, 4 };
	GLuint program = gl_program(vs, color_fs), textures[2], framebuffers[2], to;

	gl_case("glCopyImageSubData keeps all samples");
	glGenTextures(2, textures);
	glGenFramebuffers(2, framebuffers);
	for (int i = 0; i < 2; i++) {
		glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, textures[i]);
		glTexStorage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, SIDE, SIDE,
					  GL_TRUE);
		glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[i]);
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
				       GL_TEXTURE_2D_MULTISAMPLE, textures[i], 0);
		glViewport(0, 0, SIDE, SIDE);
		glClearColor(0, 0, 0, 0);
		glClear(GL_COLOR_BUFFER_BIT);
		if (!i)
			draw_samples(program, 0);
	}
	glCopyImageSubData(textures[0], GL_TEXTURE_2D_MULTISAMPLE, 0, 0, 9, 0, textures[1],
			   GL_TEXTURE_2D_MULTISAMPLE, 0, 0, 21, 0, SIDE, 30, 1);
	to = framebuffer_of(GL_RGBA8, 0);
	resolve(framebuffers[1], to, 0, 0, SIDE, SIDE);
	expect_mean(&c, to, 21, 1);
	expect_mean(&c, to, 50, 1);
	expect_mean(&c, to, 20, 0);
	expect_mean(&c, to, 51, 0);
}

/* A resolve of integers takes one sample. */
static void integers(void)
{
	GLuint program = gl_program(vs, integer_fs), from, to, got[4];

	gl_case("integers are not averaged");
	from = framebuffer_of(GL_RGBA8UI, 4);
	draw_samples(program, 1);
	to = framebuffer_of(GL_RGBA8UI, 0);
	resolve(from, to, 0, 0, SIDE, SIDE);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, to);
	for (int k = 1; k <= 4; k++) {
		glReadPixels(group_pixel(k), 20, 1, 1, GL_RGBA_INTEGER, GL_UNSIGNED_INT, got);
		if ((got[1] && got[1] != 40) || (k == 4 && got[1] != 40))
			gl_fail("green with %d samples is %u", k, got[1]);
	}
	gl_no_error();
}

/* ---- Depth and stencil ----------------------------------------------------------------------- */

struct depth_target {
	GLuint framebuffer, texture;
};

/* Depth and stencil of all pixels; of a texture if there is one sample. */
static struct depth_target depth_target(GLenum format, int samples, float depth, int stencil)
{
	struct depth_target t = { 0 };

	t.framebuffer = framebuffer_of(GL_RGBA8, samples);
	if (samples) {
		storage(format, samples, GL_DEPTH_STENCIL_ATTACHMENT, t.framebuffer);
	} else {
		glGenTextures(1, &t.texture);
		glBindTexture(GL_TEXTURE_2D, t.texture);
		glTexStorage2D(GL_TEXTURE_2D, 1, format, SIDE, SIDE);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_TEXTURE_2D,
				       t.texture, 0);
	}
	glClearDepthf(depth);
	glClearStencil(stencil);
	glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
	return t;
}

/* The depth of a pixel, of 255, as green; blue is what the stencil test leaves of the value. */
static void expect_depth(const struct depth_target *t, int x, int y, float depth, int stencil)
{
	GLuint program, shown;
	int d = (int)(depth * 255 + 0.5f);

	program = gl_program(vs, color_fs);
	glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffer);
	glUniform4f(glGetUniformLocation(program, "color"), 0, 0, 1, 1);
	glClearColor(0, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glEnable(GL_STENCIL_TEST);
	glStencilFunc(GL_EQUAL, stencil, 0xff);
	glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
	gl_rect(-1, -1, 1, 1, 0);
	glDisable(GL_STENCIL_TEST);
	gl_expect(x, y, 0, 0, 255, 255, 0);
	gl_program(vs, depth_fs);
	shown = framebuffer_of(GL_RGBA8, 0);
	glBindTexture(GL_TEXTURE_2D, t->texture);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(x, y, d, d, d, 255, 1);
	glDeleteFramebuffers(1, &shown);
	gl_no_error();
}

static void depth_case(GLenum format, int samples, GLbitfield mask)
{
	struct depth_target from = depth_target(format, samples, 0.25f, 77);
	struct depth_target to = depth_target(format, 0, 0.75f, 99);
	const float depth = mask & GL_DEPTH_BUFFER_BIT ? 0.25f : 0.75f;
	const int stencil = mask & GL_STENCIL_BUFFER_BIT ? 77 : 99;

	glBindFramebuffer(GL_READ_FRAMEBUFFER, from.framebuffer);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to.framebuffer);
	glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, mask, GL_NEAREST);
	expect_depth(&to, 0, 0, depth, stencil);
	expect_depth(&to, SIDE - 1, SIDE - 1, depth, stencil);
	/* a part, within a scissor */
	to = depth_target(format, 0, 0.75f, 99);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, from.framebuffer);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to.framebuffer);
	glEnable(GL_SCISSOR_TEST);
	glScissor(0, 0, 30, 50);
	glBlitFramebuffer(10, 20, 40, 60, 10, 20, 40, 60, mask, GL_NEAREST);
	glDisable(GL_SCISSOR_TEST);
	expect_depth(&to, 29, 49, depth, stencil);
	expect_depth(&to, 30, 49, 0.75f, 99);
	expect_depth(&to, 29, 50, 0.75f, 99);
	expect_depth(&to, 9, 30, 0.75f, 99);
}

static void depths(void)
{
	static const struct {
		const char *name;
		GLenum format;
	} formats[2] = { { "24 bits", GL_DEPTH24_STENCIL8 }, { "32 bits", GL_DEPTH32F_STENCIL8 } };
	static const GLbitfield masks[3] = { GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT,
					     GL_DEPTH_BUFFER_BIT, GL_STENCIL_BUFFER_BIT };
	static const char *const parts[3] = { "depth and stencil", "depth", "stencil" };
	static char name[12][64];

	for (int i = 0; i < 12; i++) {
		const int samples = i / 6 ? 4 : 0;

		snprintf(name[i], sizeof(name[i]), "%s alone of %s%s", parts[i % 3],
			 formats[i / 3 % 2].name, samples ? ", of samples" : "");
		gl_case(name[i]);
		depth_case(formats[i / 3 % 2].format, samples, masks[i % 3]);
	}
}

/* ---- Conversions ----------------------------------------------------------------------------- */

/* A part, upside down, to another format. */
static void conversions(void)
{
	static const GLenum formats[4] = { GL_RGBA16F, GL_RGB10_A2, GL_RGBA32F, GL_RGB8 };
	static const char *const names[4] = { "RGBA16F", "RGB10_A2", "RGBA32F", "RGB8" };
	static char name[4][64];

	for (int i = 0; i < 4; i++) {
		GLuint from, between, to;

		snprintf(name[i], sizeof(name[i]), "a turned part to %s and back", names[i]);
		gl_case(name[i]);
		from = framebuffer_of(GL_RGBA8, 0);
		glClearColor(0.2f, 0.4f, 0.6f, 1);
		glClear(GL_COLOR_BUFFER_BIT);
		glEnable(GL_SCISSOR_TEST);
		glScissor(10, 10, 20, 5);
		glClearColor(0.8f, 0, 1, 1);
		glClear(GL_COLOR_BUFFER_BIT);
		glDisable(GL_SCISSOR_TEST);
		between = framebuffer_of(formats[i], 0);
		glClearColor(0, 0, 0, 1);
		glClear(GL_COLOR_BUFFER_BIT);
		to = framebuffer_of(GL_RGBA8, 0);
		glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
		glBindFramebuffer(GL_DRAW_FRAMEBUFFER, between);
		glBlitFramebuffer(2, 4, 62, 64, 2, 64, 62, 4, GL_COLOR_BUFFER_BIT, GL_NEAREST);
		glBindFramebuffer(GL_READ_FRAMEBUFFER, between);
		glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
		glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT,
				  GL_NEAREST);
		glBindFramebuffer(GL_FRAMEBUFFER, to);
		gl_expect(29, 53, 204, 0, 255, 255, 0);
		gl_expect(29, 57, 204, 0, 255, 255, 0);
		gl_expect(29, 58, 51, 102, 153, 255, 0);
		gl_expect(29, 52, 51, 102, 153, 255, 0);
		gl_expect(30, 55, 51, 102, 153, 255, 0);
		gl_expect(1, 55, 0, 0, 0, 255, 0);
		gl_expect(62, 55, 0, 0, 0, 255, 0);
		gl_no_error();
	}
}

int main(void)
{
	gl_open(3, 2);
	resolves();
	sample_counts();
	copied_samples();
	integers();
	depths();
	conversions();
	return gl_close();
}
