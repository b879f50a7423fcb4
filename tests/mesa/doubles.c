/* SPDX-License-Identifier: MIT */
/* 64-bit numbers in shaders: the processor's own results, bit by bit. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <EGL/egl.h>

#include "gl.h"

#define SIDE 16
#define PAIRS 64
#define RESULTS 16

static const char arithmetic_cs[] =
	"#version 400\n#extension GL_ARB_compute_shader : require\n"
	"#extension GL_ARB_shader_storage_buffer_object : require\n"
	"layout(local_size_x = 16) in;\n"
	"layout(std430, binding = 0) readonly buffer In { dvec2 pair[]; };\n"
	"layout(std430, binding = 1) writeonly buffer Out { double o[]; };\n"
	"void main() { uint i = gl_GlobalInvocationID.x; double a = pair[i].x, b = pair[i].y;\n"
	"uint n = i * 16u; o[n] = a + b; o[n + 1u] = a - b; o[n + 2u] = a * b; o[n + 3u] = a / b;\n"
	"o[n + 4u] = sqrt(abs(a)); o[n + 5u] = floor(a); o[n + 6u] = min(a, b);\n"
	"o[n + 7u] = a < b ? 1.0lf : 2.0lf; o[n + 8u] = double(floatBitsToInt(float(a)));\n"
	"o[n + 9u] = double(int(clamp(a, -1e9lf, 1e9lf))); o[n + 10u] = abs(a) * sign(b);\n"
	"o[n + 11u] = fract(a); o[n + 12u] = roundEven(a); o[n + 13u] = roundEven(a * 0.5lf);\n"
	"o[n + 14u] = ldexp(a, int(i) - 20); o[n + 15u] = inversesqrt(abs(a)); }";

static const char int64_cs[] =
	"#version 400\n#extension GL_ARB_compute_shader : require\n"
	"#extension GL_ARB_shader_storage_buffer_object : require\n"
	"#extension GL_ARB_gpu_shader_int64 : require\n"
	"layout(local_size_x = 1) in;\n"
	"layout(std430, binding = 0) readonly buffer In { int64_t a, b; };\n"
	"layout(std430, binding = 1) writeonly buffer Out { int64_t o[]; };\n"
	"uniform int64_t added;\n"
	"void main() { o[0] = a + b; o[1] = a * b; o[2] = a / b;\n"
	"o[3] = int64_t(uint64_t(a) % uint64_t(b)); o[4] = a << 37;\n"
	"o[5] = a >> 9; o[6] = int64_t(uint64_t(a) / 7ul); o[7] = a < b ? 1l : 2l;\n"
	"o[8] = a + added; }";

static const char vs[] =
	"#version 400\n"
	"uniform dvec2 scale; in vec4 position; flat out dvec3 passed; out vec4 copied;\n"
	"void main() { gl_Position = position;\n"
	"passed = dvec3(scale, 1.0lf / 3.0lf); copied = vec4(position.x); }";
static const char fs[] =
	"#version 400\n"
	"uniform dmat2 matrix; flat in dvec3 passed; in vec4 copied; out vec4 c;\n"
	"void main() { dvec2 v = matrix * passed.xy;\n"
	"c = vec4(v == dvec2(7.0lf, 10.0lf), passed.z == 1.0lf / 3.0lf,\n"
	"passed.z != double(1.0 / 3.0), copied.x < 2.0); }";

/* Attributes that take two places and one. */
static const char attribute_vs[] =
	"#version 410\n"
	"in vec4 position; layout(location = 2) in dvec4 wide;\n"
	"layout(location = 4) in double narrow; layout(location = 5) in dvec3 three;\n"
	"flat out vec4 seen;\n"
	"void main() { gl_Position = position;\n"
	"seen = vec4(wide == dvec4(1.0lf / 3.0lf, 2.0lf, 1e300lf, -4.0lf),\n"
	"narrow == 1.0lf / 7.0lf,\n"
	"three == dvec3(5.0lf, 1e-200lf, 1.0lf / 9.0lf), 1.0); }";
static const char attribute_fs[] =
	"#version 410\nflat in vec4 seen; out vec4 c; void main() { c = seen; }";

/* Ordinary numbers first, then any exponents; no denormals, which may become 0. */
static void choose(double (*pair)[2])
{
	static const double first[][2] = { { 1, 3 }, { -2.5, 0.5 }, { 1e300, -1e-300 }, { 7, 7 },
					   { 0.1, 0.2 }, { 123456789.125, -3 }, { 5, 1e16 },
					   { 2.5, 3.5 }, { -3.5, 0.75 }, { 0.5, -0.25 },
					   { 6755399441055745.5, 4503599627370497.5 } };
	uint64_t state = 88172645463325252ull;

	for (int i = 0; i < PAIRS; i++) {
		for (int k = 0; k < 2; k++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			pair[i][k] = ldexp((double)(int64_t)state,
					   -63 + (int)(state >> 40) % 60 - 30);
		}
	}
	memcpy(pair, first, sizeof(first));
}

static void expected(int number, double a, double b, double *o)
{
	float narrow;
	int32_t bits;

	o[0] = a + b;
	o[1] = a - b;
	o[2] = a * b;
	o[3] = a / b;
	o[4] = sqrt(fabs(a));
	o[5] = floor(a);
	o[6] = fmin(a, b);
	o[7] = a < b ? 1 : 2;
	narrow = (float)a;
	memcpy(&bits, &narrow, sizeof(bits));
	o[8] = bits;
	o[9] = (double)(int)fmin(fmax(a, -1e9), 1e9);
	o[10] = fabs(a) * (b > 0 ? 1 : b < 0 ? -1 : 0);
	o[11] = a - floor(a);
	o[12] = rint(a);
	o[13] = rint(a * 0.5);
	o[14] = ldexp(a, number - 20);
	o[15] = 1 / sqrt(fabs(a));
}

static void arithmetic(void)
{
	static double pair[PAIRS][2], zero[PAIRS * RESULTS];
	const double *got;

	gl_case("arithmetic of doubles");
	glUseProgram(gl_compute(arithmetic_cs));
	choose(pair);
	gl_storage(0, pair, sizeof(pair));
	gl_storage(1, zero, sizeof(zero));
	glDispatchCompute(PAIRS / 16, 1, 1);
	got = gl_results(sizeof(zero));
	for (int i = 0; got && i < PAIRS; i++) {
		double wanted[RESULTS];

		expected(i, pair[i][0], pair[i][1], wanted);
		for (int n = 0; n < RESULTS; n++) {
			const double value = got[i * RESULTS + n];
			/* larger than any float: infinity, or the largest one */
			if (n == 8 && fabs(pair[i][0]) > 3.4e38)
				continue;
			if (value != wanted[n])
				gl_fail("result %d of %.17g and %.17g is %.17g, expected %.17g", n,
					pair[i][0], pair[i][1], value, wanted[n]);
		}
	}
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	gl_no_error();
}

static void integers(void)
{
	static const int64_t in[2] = { -0x123456789abcdefll, 0x1234567 };
	const int64_t wanted[9] = { in[0] + in[1],
				    (int64_t)((uint64_t)in[0] * (uint64_t)in[1]),
				    in[0] / in[1],
				    (int64_t)((uint64_t)in[0] % (uint64_t)in[1]),
				    (int64_t)((uint64_t)in[0] << 37),
				    in[0] >> 9,
				    (int64_t)((uint64_t)in[0] / 7),
				    1,
				    in[0] + 0x7000000000ll };
	void (*uniform)(GLint, GLint64) =
		(void (*)(GLint, GLint64))eglGetProcAddress("glUniform1i64ARB");
	GLuint program = gl_compute(int64_cs);
	int64_t zero[9] = { 0 };
	const int64_t *got;

	gl_case("64-bit integers");
	glUseProgram(program);
	uniform(glGetUniformLocation(program, "added"), 0x7000000000ll);
	gl_storage(0, in, sizeof(in));
	gl_storage(1, zero, sizeof(zero));
	glDispatchCompute(1, 1, 1);
	got = gl_results(sizeof(zero));
	for (int i = 0; got && i < 9; i++) {
		if (got[i] != wanted[i])
			gl_fail("result %d is %" PRIx64 ", expected %" PRIx64, i, got[i],
				wanted[i]);
	}
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	gl_no_error();
}

/* Uniforms, a matrix, and what goes from one stage to the next. */
static void interfaces(void)
{
	static const double matrix[4] = { 1, 2, 3, 4 }, scale[2] = { 1, 2 };
	void (*uniform2)(GLint, GLsizei, const double *) =
		(void (*)(GLint, GLsizei, const double *))eglGetProcAddress("glUniform2dv");
	void (*uniform22)(GLint, GLsizei, GLboolean, const double *) =
		(void (*)(GLint, GLsizei, GLboolean, const double *))eglGetProcAddress(
			"glUniformMatrix2dv");
	GLuint program = gl_program(vs, fs);

	gl_case("doubles as uniforms and between stages");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glUseProgram(program);
	uniform2(glGetUniformLocation(program, "scale"), 1, scale);
	uniform22(glGetUniformLocation(program, "matrix"), 1, GL_FALSE, matrix);
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(5, 5, 255, 255, 255, 255, 0);
	gl_no_error();
}

static void attributes(void)
{
	static const double values[8] = { 1.0 / 3.0, 2,	1e300,	-4,
					  1.0 / 7.0, 5, 1e-200, 1.0 / 9.0 };
	void (*pointer)(GLuint, GLint, GLenum, GLsizei, const void *) =
		(void (*)(GLuint, GLint, GLenum, GLsizei, const void *))eglGetProcAddress(
			"glVertexAttribLPointer");
	static const struct {
		GLuint location;
		GLint size, at;
	} attribute[] = { { 2, 4, 0 }, { 4, 1, 4 }, { 5, 3, 5 } };
	GLuint program = gl_program(attribute_vs, attribute_fs), buffer;

	gl_case("attributes of doubles");
	gl_target(SIDE, SIDE, GL_RGBA8);
	glUseProgram(program);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof(values), values, GL_STATIC_DRAW);
	for (int i = 0; i < 3; i++) {
		/* the same for all vertices */
		pointer(attribute[i].location, attribute[i].size, 0x140a /* GL_DOUBLE */, 0,
			(const void *)(sizeof(double) * (size_t)attribute[i].at));
		glVertexAttribDivisor(attribute[i].location, 1);
		glEnableVertexAttribArray(attribute[i].location);
	}
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(5, 5, 255, 255, 255, 255, 0);
	for (int i = 0; i < 3; i++) {
		glDisableVertexAttribArray(attribute[i].location);
		glVertexAttribDivisor(attribute[i].location, 0);
	}
	gl_no_error();
}

int main(void)
{
	gl_open_desktop(4, 1);
	arithmetic();
	integers();
	interfaces();
	attributes();
	return gl_close();
}
