/* SPDX-License-Identifier: MIT */
/* Features of OpenGL that OpenGL ES does not have. */
#include <stdio.h>

#include <EGL/egl.h>

#include "gl.h"

#define SIDE 64
#define GL_MULTISAMPLE 0x809d		/* in the headers of OpenGL alone */
#define QUERY_WAIT 0x8e13		/* likewise */

static const char vs[] =
	"#version 130\n"
	"in vec4 position; void main() { gl_Position = position; }";
static const char fs[] =
	"#version 130\nuniform vec4 color; out vec4 c; void main() { c = color; }";

/* It has no samples at all. */
static const char mask_fs[] =
	"#version 130\n#extension GL_ARB_sample_shading : require\nout vec4 c;"
	"void main() { c = vec4(0.0, 1.0, 1.0, 1.0); gl_SampleMask[0] = 0; }";

static const char multiply_fs[] =
	"#version 150\n#extension GL_KHR_blend_equation_advanced : require\n"
	"layout(blend_support_multiply) out; out vec4 c;"
	"void main() { c = vec4(1.0, 0.5, 1.0, 1.0); }";

/* It runs for each sample, and says for which one. */
static const char id_fs[] =
	"#version 130\n#extension GL_ARB_sample_shading : require\nout vec4 c;"
	"void main() { c = vec4(float(gl_SampleID) / 3.0, 1.0, 0.0, 1.0); }";

/* The columns from @x0 to @x1, which may end within a pixel. */
static void columns(float x0, float x1, float z)
{
	gl_rect(x0 * 2 / SIDE - 1, -1, x1 * 2 / SIDE - 1, 1, z);
}

/* Draw to a framebuffer with @n samples; returns one without, for what becomes of them. */
static GLuint many_samples(int n)
{
	const GLenum formats[2] = { GL_RGBA8, GL_DEPTH_COMPONENT24 };
	const GLenum attachments[2] = { GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT };
	GLuint framebuffer, buffers[2];
	GLint to;

	gl_target(SIDE, SIDE, GL_RGBA8);
	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &to);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glGenRenderbuffers(2, buffers);
	for (int i = 0; i < 2; i++) {
		glBindRenderbuffer(GL_RENDERBUFFER, buffers[i]);
		glRenderbufferStorageMultisample(GL_RENDERBUFFER, n, formats[i], SIDE, SIDE);
		glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachments[i], GL_RENDERBUFFER,
					  buffers[i]);
	}
	glClearColor(0, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	return (GLuint)to;
}

/* Resolve the bound framebuffer to @to. */
static void resolve(GLuint to)
{
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
	glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBindFramebuffer(GL_FRAMEBUFFER, to);
}

/* Edges a quarter before and after a pixel's center: with samples they make a mixture of it. */
static void multisample_off(GLint color)
{
	static char names[4][64];
	GLint max = 0;

	glGetIntegerv(GL_MAX_SAMPLES, &max);
	for (int n = 2, i = 0; n <= max && i < 4; n *= 2, i++) {
		GLuint to;

		snprintf(names[i], sizeof(names[i]), "GL_MULTISAMPLE is off: %d samples", n);
		gl_case(names[i]);
		to = many_samples(n);
		glUniform4f(color, 1, 1, 1, 1);
		glDisable(GL_MULTISAMPLE);
		columns(10, 20.25f, 0);
		columns(30, 40.75f, 0);
		glEnable(GL_MULTISAMPLE);
		columns(50, 60.5f, 0);
		resolve(to);
		gl_expect(19, 9, 255, 255, 255, 255, 0);
		gl_expect(20, 9, 0, 0, 0, 255, 0);
		gl_expect(40, 9, 255, 255, 255, 255, 0);
		gl_expect(41, 9, 0, 0, 0, 255, 0);
		gl_expect(60, 9, 128, 128, 128, 255, 1);
	}
}

static void no_coverage(GLuint program, GLint color)
{
	GLuint masked = gl_program(vs, mask_fs), to;

	gl_case("without GL_MULTISAMPLE neither alpha nor a mask takes samples away");
	glUseProgram(program);
	to = many_samples(4);
	glDisable(GL_MULTISAMPLE);
	glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
	glUniform4f(color, 1, 0, 1, 0);
	columns(10, 20, 0);
	glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
	glEnable(GL_SAMPLE_COVERAGE);
	glSampleCoverage(0, GL_FALSE);
	columns(20, 30, 0);
	glEnable(GL_MULTISAMPLE);
	columns(30, 40, 0);
	glDisable(GL_SAMPLE_COVERAGE);
	glUseProgram(masked);
	columns(40, 50, 0);
	glDisable(GL_MULTISAMPLE);
	columns(50, 60, 0);
	glEnable(GL_MULTISAMPLE);
	resolve(to);
	gl_expect(15, 9, 255, 0, 255, 0, 0);
	gl_expect(25, 9, 255, 0, 255, 0, 0);
	gl_expect(35, 9, 0, 0, 0, 255, 0);
	gl_expect(45, 9, 0, 0, 0, 255, 0);
	gl_expect(55, 9, 0, 255, 255, 255, 0);
	/* there are no samples in this one */
	columns(0, 10, 0);
	gl_expect(5, 9, 0, 255, 255, 255, 0);
	glDeleteProgram(masked);
}

/* Without GL_MULTISAMPLE a pixel has one sample, number 0; else the mean of four is half of 1. */
static void sample_numbers(void)
{
	GLuint program = gl_program(vs, id_fs), to;

	gl_case("numbers of samples, and without GL_MULTISAMPLE");
	to = many_samples(4);
	columns(0, 32, 0);
	glDisable(GL_MULTISAMPLE);
	columns(32, 64, 0);
	glEnable(GL_MULTISAMPLE);
	resolve(to);
	gl_expect(16, 9, 128, 255, 0, 255, 1);
	gl_expect(48, 9, 0, 255, 0, 255, 0);
	gl_no_error();
	glDeleteProgram(program);
}

/* A shader blends in each sample. At an edge the samples of a pixel have different colors. */
static void blend_samples(GLuint plain, GLint color)
{
	GLuint program = gl_program(vs, multiply_fs), to;

	gl_case("advanced blending without GL_MULTISAMPLE keeps samples apart");
	to = many_samples(4);
	glUseProgram(plain);
	glUniform4f(color, 1, 1, 1, 1);
	columns(0, 20.5f, 0);
	glUseProgram(program);
	glDisable(GL_MULTISAMPLE);
	glEnable(GL_BLEND);
	glBlendEquation(GL_MULTIPLY);
	columns(0, 64, 0);
	glBlendEquation(GL_FUNC_ADD);
	glDisable(GL_BLEND);
	glEnable(GL_MULTISAMPLE);
	resolve(to);
	gl_expect(10, 9, 255, 128, 255, 255, 1);
	gl_expect(20, 9, 128, 64, 128, 255, 1);
	gl_expect(30, 9, 0, 0, 0, 255, 0);
	gl_no_error();
	glDeleteProgram(program);
}

/* A blit is left out like a draw where the query that it depends on has found nothing. */
static void conditional_blit(GLuint program, GLint color)
{
	void (*begin)(GLuint, GLenum) =
		(void (*)(GLuint, GLenum))eglGetProcAddress("glBeginConditionalRender");
	void (*end)(void) = (void (*)(void))eglGetProcAddress("glEndConditionalRender");
	GLuint query;
	GLint from, to;

	gl_case("a blit in conditional rendering");
	glUseProgram(program);
	gl_target(SIDE, SIDE, GL_RGBA8);
	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &to);
	glClearColor(1, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	gl_target(SIDE, SIDE, GL_RGBA8);
	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &from);
	glClearColor(0, 1, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glGenQueries(1, &query);
	glBeginQuery(GL_ANY_SAMPLES_PASSED, query);
	glUniform4f(color, 0, 0, 1, 1);
	columns(SIDE + 1, SIDE + 2, 0);
	glEndQuery(GL_ANY_SAMPLES_PASSED);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)from);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)to);
	begin(query, QUERY_WAIT);
	glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	end();
	glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)to);
	gl_expect(5, 5, 255, 0, 0, 255, 0);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)from);
	glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)to);
	gl_expect(5, 5, 0, 255, 0, 255, 0);
	gl_no_error();
}

int main(void)
{
	GLuint program;
	GLint color;

	gl_open_desktop(3, 0);
	program = gl_program(vs, fs);
	color = glGetUniformLocation(program, "color");
	multisample_off(color);
	no_coverage(program, color);
	sample_numbers();
	blend_samples(program, color);
	conditional_blit(program, color);
	return gl_close();
}
