/* SPDX-License-Identifier: MIT */
/* Statistics of the pipeline, overflow of transform feedback, results in buffers. */
#include <stddef.h>
#include <string.h>

#include <EGL/egl.h>

#include "gl.h"

#define SIDE 64

/* These are in the headers of OpenGL alone. */
#define VERTICES_SUBMITTED 0x82ee
#define PRIMITIVES_SUBMITTED 0x82ef
#define VERTEX_SHADER_INVOCATIONS 0x82f0
#define GEOMETRY_SHADER_PRIMITIVES_EMITTED 0x82f3
#define FRAGMENT_SHADER_INVOCATIONS 0x82f4
#define COMPUTE_SHADER_INVOCATIONS 0x82f5
#define CLIPPING_INPUT_PRIMITIVES 0x82f6
#define CLIPPING_OUTPUT_PRIMITIVES 0x82f7
#define GEOMETRY_SHADER_INVOCATIONS 0x887f
#define TRANSFORM_FEEDBACK_OVERFLOW 0x82ec
#define TRANSFORM_FEEDBACK_STREAM_OVERFLOW 0x82ed
#define QUERY_BUFFER 0x9192
#define SAMPLES_PASSED 0x8914

typedef void (*result64_fn)(GLuint, GLenum, GLuint64 *);

static const char vs[] =
	"#version 150\n"
	"in vec4 position; out float kept; void main() { gl_Position = position; kept = 1.0; }";
static const char fs[] = "#version 150\nout vec4 c; void main() { c = vec4(1.0); }";
/* Two primitives of each. */
static const char gs[] =
	"#version 150\n"
	"layout(triangles) in; layout(triangle_strip, max_vertices = 6) out;\n"
	"void main() { for (int k = 0; k < 2; k++) { for (int i = 0; i < 3; i++) {\n"
	"gl_Position = gl_in[i].gl_Position; EmitVertex(); } EndPrimitive(); } }";
static const char cs[] =
	"#version 330\n#extension GL_ARB_compute_shader : require\n"
	"layout(local_size_x = 8, local_size_y = 3) in; void main() { }";

static result64_fn result64;

static void expect_result(GLuint query, const char *what, GLuint64 wanted)
{
	GLuint64 got = ~0ull;

	result64(query, GL_QUERY_RESULT, &got);
	if (got != wanted)
		gl_fail("%s: %llu, expected %llu", what, (unsigned long long)got,
			(unsigned long long)wanted);
}

/* A rectangle over the left half: a strip of two triangles, four vertices, 2048 pixels. */
static void half(void)
{
	gl_rect(-1, -1, 0, 1, 0);
}

static void statistics(void)
{
	static const struct {
		GLenum target;
		const char *name;
		GLuint64 wanted;	/* of two rectangles */
	} counts[] = {
		{ VERTICES_SUBMITTED, "vertices", 8 },
		{ PRIMITIVES_SUBMITTED, "primitives", 4 },
		{ CLIPPING_INPUT_PRIMITIVES, "clipped", 4 },
		{ CLIPPING_OUTPUT_PRIMITIVES, "primitives of the clipper", 4 },
		{ FRAGMENT_SHADER_INVOCATIONS, "fragments", 2 * SIDE / 2 * SIDE },
	};
	enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };
	GLuint query[COUNTS], vertex, program = gl_program(vs, fs);
	GLuint64 shaded = 0;

	gl_case("statistics of the pipeline");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glUseProgram(program);
	glGenQueries(COUNTS, query);
	glGenQueries(1, &vertex);
	half();
	glBeginQuery(VERTEX_SHADER_INVOCATIONS, vertex);
	for (int i = 0; i < COUNTS; i++)
		glBeginQuery(counts[i].target, query[i]);
	half();
	/* another batch goes on with the same queries */
	glFinish();
	half();
	for (int i = 0; i < COUNTS; i++)
		glEndQuery(counts[i].target);
	glEndQuery(VERTEX_SHADER_INVOCATIONS);
	half();
	for (int i = 0; i < COUNTS; i++)
		expect_result(query[i], counts[i].name, counts[i].wanted);
	result64(vertex, GL_QUERY_RESULT, &shaded);
	if (shaded != 8)
		gl_fail("%llu vertices were shaded, of 8", (unsigned long long)shaded);
	gl_no_error();
}

/* Each query has its own beginning and end. */
static void overlapping(void)
{
	GLuint query[2], program = gl_program(vs, fs);

	gl_case("queries that overlap count what is between their ends");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glUseProgram(program);
	glGenQueries(2, query);
	glBeginQuery(VERTICES_SUBMITTED, query[0]);
	half();
	glBeginQuery(PRIMITIVES_SUBMITTED, query[1]);
	half();
	glEndQuery(VERTICES_SUBMITTED);
	half();
	half();
	glEndQuery(PRIMITIVES_SUBMITTED);
	expect_result(query[0], "vertices", 8);
	expect_result(query[1], "primitives", 6);
	glBeginQuery(VERTICES_SUBMITTED, query[0]);
	glEndQuery(VERTICES_SUBMITTED);
	expect_result(query[0], "a query of nothing", 0);
	gl_no_error();
}

/* A blit may be a draw of the driver's. */
static void blit_is_not_counted(void)
{
	GLuint query, program = gl_program(vs, fs);
	GLint from;

	gl_case("blits are not counted");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &from);
	gl_target(SIDE, SIDE, GL_RGBA8);
	glUseProgram(program);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)from);
	glGenQueries(1, &query);
	glBeginQuery(VERTICES_SUBMITTED, query);
	glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE / 2, SIDE, GL_COLOR_BUFFER_BIT, GL_LINEAR);
	half();
	glEndQuery(VERTICES_SUBMITTED);
	expect_result(query, "vertices", 4);
	gl_no_error();
}

/* Primitives that are not drawn are submitted. */
static void discarded(void)
{
	GLuint query, program = gl_program(vs, fs);

	gl_case("statistics without rasterization");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glUseProgram(program);
	glGenQueries(1, &query);
	glEnable(GL_RASTERIZER_DISCARD);
	glBeginQuery(PRIMITIVES_SUBMITTED, query);
	half();
	glEndQuery(PRIMITIVES_SUBMITTED);
	glDisable(GL_RASTERIZER_DISCARD);
	expect_result(query, "primitives", 2);
	gl_no_error();
}

static void stages(void)
{
	static const GLenum target[2] = { GEOMETRY_SHADER_INVOCATIONS,
					  GEOMETRY_SHADER_PRIMITIVES_EMITTED };
	GLuint query[2], program = gl_geometry_program(vs, gs, fs);

	gl_case("statistics of a geometry shader");
	if (!program)
		return;
	gl_target(SIDE, SIDE, GL_RGBA8);
	glUseProgram(program);
	glGenQueries(2, query);
	for (int i = 0; i < 2; i++)
		glBeginQuery(target[i], query[i]);
	half();
	for (int i = 0; i < 2; i++)
		glEndQuery(target[i]);
	expect_result(query[0], "invocations", 2);
	expect_result(query[1], "primitives", 4);
	gl_no_error();
}

static void compute(void)
{
	GLuint query, program = gl_compute(cs);

	gl_case("invocations of a compute shader");
	glUseProgram(program);
	glGenQueries(1, &query);
	glBeginQuery(COMPUTE_SHADER_INVOCATIONS, query);
	glDispatchCompute(5, 2, 1);
	glEndQuery(COMPUTE_SHADER_INVOCATIONS);
	glDispatchCompute(1, 1, 1);
	expect_result(query, "invocations", 240);
	gl_no_error();
}

static void overflow(void)
{
	static const char *const names[] = { "kept" };
	GLuint query[2], buffer, program = gl_program(vs, fs);

	gl_case("overflow of transform feedback");
	glTransformFeedbackVaryings(program, 1, names, GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(program);
	glUseProgram(program);
	gl_target(SIDE, SIDE, GL_RGBA8);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffer);
	glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 256, NULL, GL_DYNAMIC_COPY);
	glGenQueries(2, query);
	for (int fits = 0; fits < 2; fits++) {
		/* one triangle of two, or both */
		glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer, 0, fits ? 24 : 20);
		glBeginQuery(TRANSFORM_FEEDBACK_OVERFLOW, query[0]);
		glBeginQuery(TRANSFORM_FEEDBACK_STREAM_OVERFLOW, query[1]);
		half();		/* is not captured */
		glBeginTransformFeedback(GL_TRIANGLES);
		half();
		glEndTransformFeedback();
		glEndQuery(TRANSFORM_FEEDBACK_OVERFLOW);
		glEndQuery(TRANSFORM_FEEDBACK_STREAM_OVERFLOW);
		expect_result(query[0], fits ? "it fits" : "it does not fit", !fits);
		expect_result(query[1], fits ? "stream 0 fits" : "stream 0 does not fit", !fits);
	}
	gl_no_error();
}

static void in_buffers(void)
{
	void (*result32)(GLuint, GLenum, GLuint *) =
		(void (*)(GLuint, GLenum, GLuint *))eglGetProcAddress("glGetQueryObjectuiv");
	GLuint query, buffer, program = gl_program(vs, fs), words[8] = { 0 };
	const GLuint *got;

	gl_case("results in a buffer");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glUseProgram(program);
	glGenQueries(1, &query);
	glBeginQuery(SAMPLES_PASSED, query);
	half();
	glEndQuery(SAMPLES_PASSED);
	glGenBuffers(1, &buffer);
	glBindBuffer(QUERY_BUFFER, buffer);
	glBufferData(QUERY_BUFFER, sizeof(words), words, GL_DYNAMIC_COPY);
	result32(query, GL_QUERY_RESULT, (GLuint *)4);
	result64(query, GL_QUERY_RESULT, (GLuint64 *)8);
	result32(query, GL_QUERY_RESULT_AVAILABLE, (GLuint *)16);
	got = glMapBufferRange(QUERY_BUFFER, 0, sizeof(words), GL_MAP_READ_BIT);
	for (int i = 0; got && i < 8; i++) {
		const GLuint wanted[8] = { 0, 2048, 2048, 0, 1 };

		if (got[i] != wanted[i])
			gl_fail("word %d is %u, expected %u", i, got[i], wanted[i]);
	}
	if (!got)
		gl_fail("the buffer cannot be mapped");
	glUnmapBuffer(QUERY_BUFFER);
	glBindBuffer(QUERY_BUFFER, 0);
	gl_no_error();
}

/* The driver's own counters, which GALLIUM_HUD shows, too. */
static void counters(void)
{
	void (*group_counters)(GLuint, GLint *, GLint *, GLsizei, GLuint *) =
		(void (*)(GLuint, GLint *, GLint *, GLsizei, GLuint *))eglGetProcAddress(
			"glGetPerfMonitorCountersAMD");
	void (*counter_name)(GLuint, GLuint, GLsizei, GLsizei *, char *) =
		(void (*)(GLuint, GLuint, GLsizei, GLsizei *, char *))eglGetProcAddress(
			"glGetPerfMonitorCounterStringAMD");
	void (*generate)(GLsizei, GLuint *) =
		(void (*)(GLsizei, GLuint *))eglGetProcAddress("glGenPerfMonitorsAMD");
	void (*choose)(GLuint, GLboolean, GLuint, GLint, GLuint *) =
		(void (*)(GLuint, GLboolean, GLuint, GLint, GLuint *))eglGetProcAddress(
			"glSelectPerfMonitorCountersAMD");
	void (*begin)(GLuint) = (void (*)(GLuint))eglGetProcAddress("glBeginPerfMonitorAMD");
	void (*end)(GLuint) = (void (*)(GLuint))eglGetProcAddress("glEndPerfMonitorAMD");
	void (*data)(GLuint, GLenum, GLsizei, GLuint *, GLint *) =
		(void (*)(GLuint, GLenum, GLsizei, GLuint *, GLint *))eglGetProcAddress(
			"glGetPerfMonitorCounterDataAMD");
	static const struct {
		const char *name;
		GLuint64 least, most;
	} wanted[] = { { "draws", 3, 3 }, { "vertices", 12, 12 }, { "batches", 2, 3 },
		       { "memory", 65536, 1u << 30 } };
	GLuint ids[32], monitor, result[4], program = gl_program(vs, fs);
	GLint count = 0, active, size;
	char name[64];

	gl_case("counters of the driver");
	gl_target(SIDE, SIDE, GL_RGBA8);
	group_counters(0, &count, &active, 32, ids);
	for (unsigned int i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		GLint which = -1;
		GLuint64 value;

		for (GLint k = 0; k < count; k++) {
			counter_name(0, ids[k], sizeof(name), NULL, name);
			if (!strcmp(name, wanted[i].name))
				which = k;
		}
		if (which < 0) {
			gl_fail("there is no counter %s", wanted[i].name);
			continue;
		}
		generate(1, &monitor);
		choose(monitor, GL_TRUE, 0, 1, &ids[which]);
		glUseProgram(program);
		half();
		begin(monitor);
		half();
		glFinish();
		half();
		half();
		end(monitor);
		half();
		/* group, counter, 64 bits */
		data(monitor, 0x8bc6 /* GL_PERFMON_RESULT_AMD */, sizeof(result), result, &size);
		value = result[2] | (GLuint64)result[3] << 32;
		if (size != sizeof(result) || value < wanted[i].least || value > wanted[i].most)
			gl_fail("%s: %llu", wanted[i].name, (unsigned long long)value);
	}
	gl_no_error();
}

int main(void)
{
	gl_open_desktop(3, 3);
	result64 = (result64_fn)eglGetProcAddress("glGetQueryObjectui64v");
	statistics();
	overlapping();
	blit_is_not_counted();
	discarded();
	stages();
	compute();
	overflow();
	in_buffers();
	counters();
	return gl_close();
}
