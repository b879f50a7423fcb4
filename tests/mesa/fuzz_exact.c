// SPDX-License-Identifier: MIT
/*
 * Random steps of OpenGL 4.6 whose results are exact: 64-bit numbers, images, streams of geometry
 * shaders, statistics of the pipeline, results in buffers, indirect draws and dispatches.
 *
 *	fuzz_exact			scenes of seeds from 1 on for TSR_FUZZ_SECONDS (20): no GL
 *					error, and the same words when they run again
 *	fuzz_exact FIRST COUNT FILE	the words of these seeds, WORDS each, go to the file:
 *					fuzz.py compares them with those of llvmpipe
 *
 * The first word of a step says which one it is. TSR_FUZZ_SHADERS=1 prints steps and shaders,
 * TSR_FUZZ_STEPS=N ends a scene after N steps.
 * debug: nocache
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <EGL/egl.h>

#include "gl.h"
#include "random.h"

#define WORDS		64	/* of a scene */
#define SIDE		64	/* of the target of draws, pixels */
#define TEXELS		16	/* of a side of images */
#define PAIRS		32	/* of 64-bit numbers */
#define ROOM		4096	/* bytes of a buffer of results */

/* These are in the headers of OpenGL alone. */
#define VERTICES_SUBMITTED 0x82ee
#define PRIMITIVES_SUBMITTED 0x82ef
#define GEOMETRY_SHADER_PRIMITIVES_EMITTED 0x82f3
#define COMPUTE_SHADER_INVOCATIONS 0x82f5
#define GEOMETRY_SHADER_INVOCATIONS 0x887f
#define STREAM_OVERFLOW 0x82ed
#define QUERY_BUFFER 0x9192
#define PARAMETER_BUFFER 0x80ee
#define UNSIGNED_NORMALIZED_16 0x805b	/* GL_RGBA16 */

enum step { NUMBERS = 0x5701, IMAGES, STREAMS, STATISTICS, DRAWS, DISPATCHES };

static struct {
	void (*begin_indexed)(GLenum, GLuint, GLuint);
	void (*end_indexed)(GLenum, GLuint);
	void (*result64)(GLuint, GLenum, void *);
	void (*get_image)(GLenum, GLint, GLenum, GLenum, void *);
	void (*arrays)(GLenum, const void *, GLsizei, GLsizei);
	void (*elements)(GLenum, GLenum, const void *, GLsizei, GLsizei);
	void (*arrays_count)(GLenum, const void *, GLintptr, GLsizei, GLsizei);
	void (*elements_count)(GLenum, GLenum, const void *, GLintptr, GLsizei, GLsizei);
} gl;

/* ---- Words and shaders ----------------------------------------------------------------------- */

static uint32_t words[WORDS];
static unsigned int word_count;
static char text[1 << 14];
static size_t used;

static void put(uint32_t word)
{
	if (word_count < WORDS)
		words[word_count++] = word;
}

static void put_bytes(const void *data, size_t bytes)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; data && i < bytes; i++)
		hash = (hash ^ ((const uint8_t *)data)[i]) * 16777619u;
	put(hash);
}

static void put_buffer(GLenum target, GLuint buffer, size_t bytes)
{
	glBindBuffer(target, buffer);
	put_bytes(glMapBufferRange(target, 0, (GLsizeiptr)bytes, GL_MAP_READ_BIT), bytes);
	glUnmapBuffer(target);
}

__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	used += (size_t)vsnprintf(text + used, sizeof(text) - used, format, ap);
	va_end(ap);
}

static const char *said(void)
{
	if (getenv("TSR_FUZZ_SHADERS"))
		fprintf(stderr, "%s\n", text);
	used = 0;
	return text;
}

static GLuint make_buffer(GLenum target, const void *data, size_t bytes)
{
	GLuint buffer;

	glGenBuffers(1, &buffer);
	glBindBuffer(target, buffer);
	glBufferData(target, (GLsizeiptr)bytes, data, GL_DYNAMIC_COPY);
	return buffer;
}

static GLuint make_storage(GLuint binding, const void *data, size_t bytes)
{
	const GLuint buffer = make_buffer(GL_SHADER_STORAGE_BUFFER, data, bytes);

	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, binding, buffer);
	return buffer;
}

/* ---- 64-bit numbers -------------------------------------------------------------------------- */

static void number_steps(void)
{
	static const char *const integers[] = {
		"a += b;", "a -= b;", "a *= b;", "b = a / ((b & 255l) + 1l);",
		"u %= uint64_t(b) | 1ul;", "u /= (u & 0xfffffffffful) | 1ul;",
		"a <<= int(b & 63l);", "a >>= int(u & 63ul);", "u >>= int(a & 63l);", "b ^= a;",
		"a = ~a;", "a = a < b ? b : a;", "a = max(a, b);", "b = min(a, int64_t(i));",
		"b = int64_t(int(a));", "u = uint64_t(uint(a)) * u;", "b = abs(b);",
		"a *= sign(b);", "u = packUint2x32(unpackUint2x32(u).yx);", "u += uint64_t(a);",
		"if ((a & 4l) != 0l) b += 29l;",
	};
	static const char *const doubles[] = {
		"x += y;", "x -= y;", "y *= x;", "x = floor(x);", "x = trunc(x);", "y = ceil(x);",
		"x = x < y ? y : x;", "x = abs(x);", "y = -x;", "y = double(int(a));",
		"x = double(a);", "a += abs(x) < 1e15lf ? int64_t(x) : 7l;", "x = roundEven(x);",
		"x = x == 0.0lf ? x : ldexp(x, int(a & 7l));", "y = x >= y ? 1.5lf : x;",
		"x = fract(x);",
	};

	for (unsigned int n = 1 + below(7); n; n--)
		say(" %s\n", PICK(integers));
	for (unsigned int n = below(3); n; n--)
		say(" %s\n", PICK(doubles));
}

static void numbers(void)
{
	int64_t n[PAIRS][2];
	double d[PAIRS][2];
	GLuint program, buffer[3];

	say("#version 450\n#extension GL_ARB_gpu_shader_int64 : require\n"
	    "layout(local_size_x = 8) in;\n"
	    "layout(std430, binding = 0) readonly buffer N { int64_t n[]; };\n"
	    "layout(std430, binding = 1) readonly buffer D { double d[]; };\n"
	    "layout(std430, binding = 2) writeonly buffer O { int64_t o[]; };\n"
	    "void main() { uint i = gl_GlobalInvocationID.x;\n"
	    " int64_t a = n[2u * i], b = n[2u * i + 1u]; uint64_t u = uint64_t(a ^ b);\n"
	    " precise double x = d[2u * i], y = d[2u * i + 1u];\n");
	number_steps();
	say(" o[5u * i] = a; o[5u * i + 1u] = b; o[5u * i + 2u] = int64_t(u);\n"
	    " o[5u * i + 3u] = isnan(x) || x == 0.0lf ? 0l : doubleBitsToInt64(x);\n"
	    " o[5u * i + 4u] = isnan(y) || y == 0.0lf ? 0l : doubleBitsToInt64(y); }\n");
	for (unsigned int i = 0; i < PAIRS * 2; i++) {
		(&n[0][0])[i] = (int64_t)((uint64_t)next() << 32 | next()) >> below(64);
		(&d[0][0])[i] = (double)(int32_t)next() / (double)(1u << below(31));
	}
	program = gl_compute(said());
	buffer[0] = make_storage(0, n, sizeof(n));
	buffer[1] = make_storage(1, d, sizeof(d));
	buffer[2] = make_storage(2, NULL, (size_t)PAIRS * 5 * 8);
	glDispatchCompute(PAIRS / 8, 1, 1);
	glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
	put_buffer(GL_SHADER_STORAGE_BUFFER, buffer[2], (size_t)PAIRS * 5 * 8);
	glDeleteBuffers(3, buffer);
	glDeleteProgram(program);
}

/* ---- Images ---------------------------------------------------------------------------------- */

enum class { FLOATS, NORMALIZED, SIGNED, UNSIGNED };

static const struct format {
	GLenum internal;
	const char *name;
	enum class class;
} formats[] = {
	{ GL_RGBA32F, "rgba32f", FLOATS }, { GL_RGBA16F, "rgba16f", FLOATS },
	{ GL_RG32F, "rg32f", FLOATS }, { GL_RG16F, "rg16f", FLOATS }, { GL_R32F, "r32f", FLOATS },
	{ GL_R16F, "r16f", FLOATS }, { GL_R11F_G11F_B10F, "r11f_g11f_b10f", FLOATS },
	{ GL_RGBA8, "rgba8", NORMALIZED }, { UNSIGNED_NORMALIZED_16, "rgba16", NORMALIZED },
	{ GL_RG8, "rg8", NORMALIZED }, { GL_R8, "r8", NORMALIZED },
	{ GL_RGB10_A2, "rgb10_a2", NORMALIZED }, { GL_RGBA32I, "rgba32i", SIGNED },
	{ GL_RGBA16I, "rgba16i", SIGNED }, { GL_RGBA8I, "rgba8i", SIGNED },
	{ GL_RG16I, "rg16i", SIGNED }, { GL_R32I, "r32i", SIGNED }, { GL_R8I, "r8i", SIGNED },
	{ GL_RGBA32UI, "rgba32ui", UNSIGNED }, { GL_RGBA16UI, "rgba16ui", UNSIGNED },
	{ GL_RGBA8UI, "rgba8ui", UNSIGNED }, { GL_RGB10_A2UI, "rgb10_a2ui", UNSIGNED },
	{ GL_RG32UI, "rg32ui", UNSIGNED }, { GL_R16UI, "r16ui", UNSIGNED },
};

static const struct {
	const char *prefix, *stored[3];
	GLenum format, type;
} classes[] = {
	/* what is stored is a number of each format of the class */
	[FLOATS] = { "", { "v.wzyx", "v * 0.5", "max(v, v.yzwx)" }, GL_RGBA, GL_FLOAT },
	[NORMALIZED] = { "", { "v.wzyx", "max(v, v.yyxx)", "vec4(v.x, 0.0, 1.0, v.y)" }, GL_RGBA,
			 GL_UNSIGNED_SHORT },
	[SIGNED] = { "i", { "(v ^ k) & 3", "((v + k) & 127) - ivec4(64)", "-(v & 63)" },
		     GL_RGBA_INTEGER, GL_INT },
	[UNSIGNED] = { "u", { "(v ^ uvec4(k)) & 3u", "(v * uint(k)) & uvec4(127, 127, 127, 3)",
			      "(v >> 1u) & uvec4(127, 127, 127, 3)" },
		       GL_RGBA_INTEGER, GL_UNSIGNED_INT },
};

static GLuint make_image(GLenum target, GLuint unit, const struct format *f, int depth)
{
	static union {
		float real[TEXELS * TEXELS * 4 * 4];
		uint32_t whole[TEXELS * TEXELS * 4 * 4];
		uint16_t small[TEXELS * TEXELS * 4 * 4];
	} texels;
	GLuint texture;

	for (unsigned int i = 0; i < TEXELS * TEXELS * 4 * 4; i++) {
		if (f->class == FLOATS)
			texels.real[i] = (float)below(32) / 4;
		else if (f->class == NORMALIZED)
			texels.small[i] = (uint16_t)(below(256) * 257);
		else
			texels.whole[i] = below(i % 4 == 3 ? 4 : 127);
	}
	glGenTextures(1, &texture);
	glBindTexture(target, texture);
	if (target == GL_TEXTURE_2D) {
		glTexStorage2D(target, 1, f->internal, TEXELS, TEXELS);
		glTexSubImage2D(target, 0, 0, 0, TEXELS, TEXELS, classes[f->class].format,
				classes[f->class].type, &texels);
	} else {
		glTexStorage3D(target, 1, f->internal, TEXELS, TEXELS, depth);
		glTexSubImage3D(target, 0, 0, 0, 0, TEXELS, TEXELS, depth,
				classes[f->class].format, classes[f->class].type, &texels);
	}
	glBindImageTexture(unit, texture, 0, GL_TRUE, 0, GL_READ_WRITE, f->internal);
	return texture;
}

static void put_image(GLenum target, GLuint texture, const struct format *f, int depth)
{
	static uint32_t texels[TEXELS * TEXELS * 4 * 4];
	const size_t channel = f->class == NORMALIZED ? 2 : 4;

	glBindTexture(target, texture);
	gl.get_image(target, 0, classes[f->class].format, classes[f->class].type, texels);
	put_bytes(texels, (size_t)(TEXELS * TEXELS * 4) * (size_t)depth * channel);
}

static void image_body(const struct format *from, const struct format *to, const char *dims,
		       bool flat)
{
	static const char *const atomics[] = { "Add", "Min", "Max", "Xor", "Or", "And" };
	const char *prefix = classes[from->class].prefix;

	say("layout(%s, binding = 0) uniform %simage%s from;\n"
	    "layout(%s, binding = 1) uniform %simage%s to;\n"
	    "layout(r32ui, binding = 2) uniform uimage2D sum;\n"
	    "void work(ivec2 p) { ivec3 size = ivec3(imageSize(from)%s); int k = p.x + p.y;\n"
	    " for (int z = 0; z < size.z; z++) {\n"
	    "  %svec4 v = imageLoad(from, %s);\n  imageStore(to, %s, %s);\n"
	    "  imageAtomic%s(sum, p & 7, uint(v.x) + uint(p.x * 3 + z)); } }\n", from->name,
	    prefix, dims, to->name, prefix, dims, flat ? ", 1" : "", prefix,
	    flat ? "p.yx" : "ivec3(p.yx, z)", flat ? "p" : "ivec3(p, size.z - 1 - z)",
	    PICK(classes[from->class].stored), PICK(atomics));
}

static void images(void)
{
	static const struct {
		GLenum target;
		const char *dims;
	} kinds[] = { { GL_TEXTURE_2D, "2D" }, { GL_TEXTURE_2D_ARRAY, "2DArray" },
		      { GL_TEXTURE_3D, "3D" } };
	static const struct format counted = { GL_R32UI, "r32ui", UNSIGNED };
	const unsigned int kind = below(3);
	const struct format *from = &PICK(formats), *to = &PICK(formats);
	const int depth = kind ? 1 + (int)below(4) : 1;
	const bool fragment = chance(40);
	GLuint texture[3], program, target = 0;

	/* rounding differs between normalized formats */
	if (to->class != from->class || from->class == NORMALIZED)
		to = from;
	say("#version 450\n%s", fragment ? "" : "layout(local_size_x = 8, local_size_y = 4) in;\n");
	image_body(from, to, kinds[kind].dims, !kind);
	if (fragment)
		say("out vec4 c;\nvoid main() { work(ivec2(gl_FragCoord.xy)); c = vec4(1); }\n");
	else
		say("void main() { work(ivec2(gl_GlobalInvocationID.xy)); }\n");
	texture[0] = make_image(kinds[kind].target, 0, from, depth);
	texture[1] = make_image(kinds[kind].target, 1, to, depth);
	texture[2] = make_image(GL_TEXTURE_2D, 2, &counted, 1);
	if (fragment) {
		target = gl_target(TEXELS, TEXELS, GL_RGBA8);
		program = gl_program("#version 450\n"
				     "in vec4 position;\n"
				     "void main() { gl_Position = position; }", said());
		gl_rect(-1, -1, 1, 1, 0);
	} else {
		program = gl_compute(said());
		glDispatchCompute(TEXELS / 8, TEXELS / 4, 1);
	}
	glMemoryBarrier(GL_ALL_BARRIER_BITS);
	put_image(kinds[kind].target, texture[1], to, depth);
	put_image(GL_TEXTURE_2D, texture[2], &counted, 1);
	glDeleteTextures(3, texture);
	glDeleteTextures(1, &target);
	glDeleteProgram(program);
}

/* ---- Queries --------------------------------------------------------------------------------- */

#define QUERIES	12

static struct query {
	GLuint name;
	GLenum target;
	GLuint index;
	bool open;
} queries[QUERIES];
static unsigned int query_count;

static void begin_query(GLenum target, GLuint index)
{
	struct query *q = &queries[query_count++];

	q->target = target;
	q->index = index;
	q->open = true;
	glGenQueries(1, &q->name);
	gl.begin_indexed(target, index, q->name);
}

static void end_query(struct query *q)
{
	if (q->open)
		gl.end_indexed(q->target, q->index);
	q->open = false;
}

/* The results, by the CPU or by a buffer. */
static void put_queries(void)
{
	const GLuint buffer = make_buffer(QUERY_BUFFER, NULL, 256);
	const bool buffered = query_count && chance(60);
	uint64_t result;

	glBindBuffer(QUERY_BUFFER, 0);
	for (unsigned int i = 0; i < query_count; i++) {
		end_query(&queries[i]);
		result = 0;
		if (buffered) {
			glBindBuffer(QUERY_BUFFER, buffer);
			glBufferSubData(QUERY_BUFFER, 8 * i, 8, &result);
			if (chance(50))
				glGetQueryObjectuiv(queries[i].name, GL_QUERY_RESULT,
						    (void *)(uintptr_t)(8 * i));
			else
				gl.result64(queries[i].name, GL_QUERY_RESULT,
					    (void *)(uintptr_t)(8 * i));
			glBindBuffer(QUERY_BUFFER, 0);
		} else {
			gl.result64(queries[i].name, GL_QUERY_RESULT, &result);
			put((uint32_t)result);
		}
	}
	if (buffered) {
		glMemoryBarrier(GL_ALL_BARRIER_BITS);
		put_buffer(GL_COPY_READ_BUFFER, buffer, 8 * (size_t)query_count);
	}
	for (unsigned int i = 0; i < query_count; i++)
		glDeleteQueries(1, &queries[i].name);
	glDeleteBuffers(1, &buffer);
	query_count = 0;
}

/* ---- Streams --------------------------------------------------------------------------------- */

static const char numbering_vs[] =
	"#version 450\n"
	"out int id; void main() { id = gl_VertexID * 3 + gl_InstanceID * 100;\n"
	"gl_Position = vec4(float(gl_VertexID & 7) / 8.0 - 0.5, 0, 0, 1); gl_PointSize = 1.0; }";
static const char white_fs[] = "#version 450\nout vec4 c; void main() { c = vec4(1); }";

/* A geometry shader that emits to @count streams; stream number i has i + 1 numbers a vertex. */
static void say_streams(const GLuint *stream, unsigned int count)
{
	static const char *const types[] = { "int", "ivec2", "ivec3", "ivec4" };

	say("#version 450\nlayout(points) in; layout(points, max_vertices = %u) out;\n"
	    "in int id[];\n", 4 * count);
	for (unsigned int i = 0; i < count; i++)
		say("layout(stream = %u) out %s s%u;\n", stream[i], types[i], i);
	say("void main() {\n");
	for (unsigned int i = 0; i < count; i++) {
		say(" for (int k = 0; k < (id[0] * %u + gl_PrimitiveIDIn + %u) %% 4; k++) {\n"
		    "  s%u = %s(id[0] * 16 + k * %u); gl_Position = gl_in[0].gl_Position;\n"
		    "  EmitStreamVertex(%u);\n", 1 + below(5), below(4), i, types[i], 1 + below(3),
		    stream[i]);
		say("%s }\n", chance(50) ? "  EndPrimitive();\n" : "");
	}
	say("}\n");
}

/* A program that captures; of a geometry shader, or of the vertex shader if there is none. */
static GLuint capturing(const GLuint *stream, unsigned int count)
{
	static const char *const vertex_names[] = { "id" };
	static const char *const names[] = { "s0", "gl_NextBuffer", "s1", "gl_NextBuffer", "s2",
					     "gl_NextBuffer", "s3" };
	GLuint program;

	if (count)
		say_streams(stream, count);
	program = gl_geometry_program(numbering_vs, count ? said() : NULL, white_fs);
	glTransformFeedbackVaryings(program, count ? (GLsizei)(2 * count - 1) : 1,
				    count ? names : vertex_names, GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(program);
	glUseProgram(program);
	return program;
}

static void draw_some(GLenum mode, unsigned int per)
{
	uint16_t list[24];
	GLuint indices;
	const GLsizei count = (GLsizei)((1 + below(6)) * per), instances = 1 + (GLsizei)below(3);

	if (chance(50)) {
		glDrawArraysInstanced(mode, (GLint)below(9), count, instances);
		return;
	}
	for (unsigned int i = 0; i < 24; i++)
		list[i] = (uint16_t)below(50);
	indices = make_buffer(GL_ELEMENT_ARRAY_BUFFER, list, sizeof(list));
	glDrawElementsInstancedBaseVertex(mode, count, GL_UNSIGNED_SHORT, NULL, instances,
					  (GLint)below(5));
	glDeleteBuffers(1, &indices);
}

/*
 * @paused: there are draws while nothing is captured. llvmpipe takes them for an overflow.
 */
static void capture_draws(GLenum mode, GLenum captured, unsigned int per, bool paused)
{
	const unsigned int draws = 1 + below(3);

	glBeginTransformFeedback(captured);
	for (unsigned int n = 0; n < draws; n++) {
		draw_some(mode, per);
		if (chance(30)) {
			glPauseTransformFeedback();
			if (paused)
				draw_some(mode, per);
			glResumeTransformFeedback();
		}
	}
	glEndTransformFeedback();
}

static void streams(void)
{
	static const struct {
		GLenum mode, captured;
		unsigned int per;
	} modes[] = { { GL_POINTS, GL_POINTS, 1 }, { GL_LINES, GL_LINES, 2 },
		      { GL_LINE_STRIP, GL_LINES, 2 }, { GL_TRIANGLES, GL_TRIANGLES, 3 } };
	const unsigned int count = chance(70) ? 1 + below(4) : 0;
	const unsigned int mode = count ? 0 : below(4), buffers = count ? count : 1;
	const bool paused = chance(50);
	static uint8_t guard[ROOM];
	GLuint stream[4] = { 0 }, buffer[4], target, program;

	for (unsigned int i = 1; i < count; i++)
		stream[i] = stream[i - 1] + 1 + (count - i < 3 - stream[i - 1] ? below(2) : 0);
	target = gl_target(SIDE, SIDE, GL_RGBA8);
	program = capturing(stream, count);
	memset(guard, 0x55, sizeof(guard));
	for (unsigned int i = 0; i < buffers; i++) {
		buffer[i] = make_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, guard, sizeof(guard));
		glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, i, buffer[i], 4 * below(8),
				  (GLsizeiptr)(chance(70) ? ROOM / 2 : 16 + 4 * below(30)));
		begin_query(GL_PRIMITIVES_GENERATED, stream[i]);
		begin_query(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, stream[i]);
		if (!paused)
			begin_query(STREAM_OVERFLOW, stream[i]);
	}
	if (chance(50))
		glEnable(GL_RASTERIZER_DISCARD);
	capture_draws(modes[mode].mode, modes[mode].captured, modes[mode].per, paused);
	glDisable(GL_RASTERIZER_DISCARD);
	put_queries();
	for (unsigned int i = 0; i < buffers; i++)
		put_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffer[i], sizeof(guard));
	glDeleteBuffers((GLsizei)buffers, buffer);
	glDeleteTextures(1, &target);
	glDeleteProgram(program);
}

/* ---- Statistics of the pipeline -------------------------------------------------------------- */

static void say_copies(void)
{
	say("#version 450\nlayout(points) in; layout(points, max_vertices = 4) out;\n"
	    "in int id[];\nvoid main() { for (int k = 0; k < (id[0] + %u) %% 4; k++) {\n"
	    " gl_Position = gl_in[0].gl_Position; EmitVertex(); } }\n", below(4));
}

static void statistics(void)
{
	static const GLenum targets[] = { VERTICES_SUBMITTED, PRIMITIVES_SUBMITTED,
					  GEOMETRY_SHADER_INVOCATIONS,
					  GEOMETRY_SHADER_PRIMITIVES_EMITTED,
					  COMPUTE_SHADER_INVOCATIONS };
	const GLuint target = gl_target(SIDE, SIDE, GL_RGBA8);
	GLuint program[2], compute;
	unsigned int begun = 0;

	compute = gl_compute("#version 450\nlayout(local_size_x = 4, local_size_y = 3) in;\n"
			     "void main() { }");
	say_copies();
	program[0] = gl_geometry_program(numbering_vs, said(), white_fs);
	program[1] = gl_program(numbering_vs, white_fs);
	for (unsigned int n = 4 + below(6); n; n--) {
		if (begun < 5 && chance(60))
			begin_query(targets[begun++], 0);
		glUseProgram(program[below(2)]);
		draw_some(GL_POINTS, 1);
		if (chance(30)) {
			glUseProgram(compute);
			glDispatchCompute(below(4), 1 + below(3), 1);
		}
		if (begun && chance(30))
			end_query(&queries[below(begun)]);
		if (chance(20))
			glFlush();
	}
	put_queries();
	glDeleteProgram(compute);
	glDeleteProgram(program[0]);
	glDeleteProgram(program[1]);
	glDeleteTextures(1, &target);
}

/* ---- Indirect draws -------------------------------------------------------------------------- */

#define RECTS		12	/* four vertices each */
#define MOST_DRAWS	6

static const char rect_vs[] =
	"#version 450\n#extension GL_ARB_shader_draw_parameters : require\n"
	"in vec4 position; layout(location = 2) in uint kind; uniform int indexed;\n"
	"flat out uint color; void main() {\n"
	"gl_Position = position + vec4(0, float(gl_InstanceID) / 8.0, 0, 0);\n"
	"color = uint(gl_DrawIDARB) + 16u * uint(gl_BaseInstanceARB) + 256u * uint(gl_InstanceID)\n"
	"+ 4096u * kind + 65536u * uint(gl_VertexID / 4) + (indexed != 0 ?\n"
	"16777216u * uint(gl_BaseVertexARB) : 0u); }";
static const char rect_fs[] = "#version 450\nflat in uint color; out uint c;\n"
	"void main() { c = color; }";

/* Rectangles on whole pixels, and a number for each instance. */
static void make_rects(GLuint buffer[2])
{
	float corner[RECTS][4][4];
	GLuint kind[16];

	for (unsigned int r = 0; r < RECTS; r++) {
		const float x = (float)below(48) / 32 - 1, y = (float)below(48) / 32 - 1;
		const float width = (float)(1 + below(16)) / 32;
		const float height = (float)(1 + below(16)) / 32;

		for (unsigned int i = 0; i < 4; i++) {
			corner[r][i][0] = x + (i & 1 ? width : 0);
			corner[r][i][1] = y + (i & 2 ? height : 0);
			corner[r][i][2] = 0;
			corner[r][i][3] = 1;
		}
	}
	for (unsigned int i = 0; i < 16; i++)
		kind[i] = below(16);
	buffer[0] = make_buffer(GL_ARRAY_BUFFER, corner, sizeof(corner));
	glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	buffer[1] = make_buffer(GL_ARRAY_BUFFER, kind, sizeof(kind));
	glVertexAttribIPointer(2, 1, GL_UNSIGNED_INT, 0, NULL);
	glVertexAttribDivisor(2, 1);
	glEnableVertexAttribArray(2);
}

/* Give the buffer these words; often a shader writes them. */
static void fill_by_shader(GLuint buffer, const GLuint *value, unsigned int count)
{
	const bool shaded = chance(60);
	GLuint program, in;

	glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
	glBufferData(GL_COPY_WRITE_BUFFER, 4 * (GLsizeiptr)count, shaded ? NULL : value,
		     GL_DYNAMIC_COPY);
	if (!shaded)
		return;
	program = gl_compute("#version 450\nlayout(local_size_x = 1) in;\n"
			     "layout(std430, binding = 0) readonly buffer I { uint i[]; };\n"
			     "layout(std430, binding = 1) writeonly buffer O { uint o[]; };\n"
			     "void main() { o[gl_WorkGroupID.x] = i[gl_WorkGroupID.x]; }");
	in = make_storage(0, value, 4 * (size_t)count);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, buffer);
	glDispatchCompute(count, 1, 1);
	glMemoryBarrier(GL_COMMAND_BARRIER_BIT | GL_SHADER_STORAGE_BARRIER_BIT);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, 0);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, 0);
	glDeleteBuffers(1, &in);
	glDeleteProgram(program);
}

/* The arguments of draws, @stride words each; @indexed: as glDrawElements has them. */
static void choose_arguments(GLuint *argument, unsigned int stride, bool indexed)
{
	for (unsigned int i = 0; i < MOST_DRAWS; i++, argument += stride) {
		const GLuint rect = below(RECTS - 4), base = below(4);

		argument[0] = chance(90) ? 4 : 0;
		argument[1] = chance(85) ? 1 + below(3) : 0;
		argument[2] = 4 * rect;
		argument[3] = indexed ? 4 * base : below(8);
		if (indexed)
			argument[4] = below(8);
	}
}

static void issue_draws(bool indexed, GLenum type, unsigned int stride, GLuint parameters)
{
	const GLsizei bytes = 4 * (GLsizei)stride, most = 1 + (GLsizei)below(MOST_DRAWS);

	switch (below(3)) {
	case 0:
		if (indexed)
			glDrawElementsIndirect(GL_TRIANGLE_STRIP, type, NULL);
		else
			glDrawArraysIndirect(GL_TRIANGLE_STRIP, NULL);
		break;
	case 1:
		if (indexed)
			gl.elements(GL_TRIANGLE_STRIP, type, NULL, most, bytes);
		else
			gl.arrays(GL_TRIANGLE_STRIP, NULL, most, bytes);
		break;
	default:
		glBindBuffer(PARAMETER_BUFFER, parameters);
		if (indexed)
			gl.elements_count(GL_TRIANGLE_STRIP, type, NULL, 4, most, bytes);
		else
			gl.arrays_count(GL_TRIANGLE_STRIP, NULL, 4, most, bytes);
		/* Mesa 25.0 takes the number of other draws from it, too */
		glBindBuffer(PARAMETER_BUFFER, 0);
	}
}

static GLuint make_indices(GLenum *type)
{
	uint32_t wide[4 * RECTS];
	uint16_t middle[4 * RECTS];
	uint8_t small[4 * RECTS];

	for (unsigned int i = 0; i < 4 * RECTS; i++)
		wide[i] = middle[i] = small[i] = (uint8_t)i;
	switch (below(3)) {
	case 0:
		*type = GL_UNSIGNED_BYTE;
		return make_buffer(GL_ELEMENT_ARRAY_BUFFER, small, sizeof(small));
	case 1:
		*type = GL_UNSIGNED_SHORT;
		return make_buffer(GL_ELEMENT_ARRAY_BUFFER, middle, sizeof(middle));
	default:
		*type = GL_UNSIGNED_INT;
		return make_buffer(GL_ELEMENT_ARRAY_BUFFER, wide, sizeof(wide));
	}
}

static void draws(void)
{
	static const GLuint black[4];
	static uint32_t pixels[SIDE * SIDE];
	GLuint argument[MOST_DRAWS * 8], count[2], program, target, rects[2], buffer[2], indices;
	GLenum type;

	target = gl_target(SIDE, SIDE, GL_R32UI);
	glClearBufferuiv(GL_COLOR, 0, black);
	program = gl_program(rect_vs, rect_fs);
	make_rects(rects);
	indices = make_indices(&type);
	glGenBuffers(2, buffer);
	for (unsigned int n = 2 + below(3); n; n--) {
		const bool indexed = chance(50);
		const unsigned int stride = 5 + below(4);

		memset(argument, 0, sizeof(argument));
		choose_arguments(argument, stride, indexed);
		count[0] = 77;
		count[1] = below(MOST_DRAWS + 2);
		fill_by_shader(buffer[0], argument, MOST_DRAWS * 8);
		fill_by_shader(buffer[1], count, 2);
		glUseProgram(program);
		glUniform1i(glGetUniformLocation(program, "indexed"), indexed);
		glBindBuffer(GL_DRAW_INDIRECT_BUFFER, buffer[0]);
		issue_draws(indexed, type, stride, buffer[1]);
	}
	glReadPixels(0, 0, SIDE, SIDE, GL_RED_INTEGER, GL_UNSIGNED_INT, pixels);
	put_bytes(pixels, sizeof(pixels));
	glDisableVertexAttribArray(0);
	glDisableVertexAttribArray(2);
	glDeleteBuffers(2, buffer);
	glDeleteBuffers(2, rects);
	glDeleteBuffers(1, &indices);
	glDeleteProgram(program);
	glDeleteTextures(1, &target);
}

/* ---- Indirect dispatches --------------------------------------------------------------------- */

static void dispatches(void)
{
	static const uint8_t zero[ROOM];
	GLuint groups[4], buffer, results, program;

	say("#version 450\nlayout(local_size_x = %u, local_size_y = %u) in;\n"
	    "layout(std430, binding = 3) buffer O { uint o[]; };\nvoid main() {\n"
	    " uvec3 n = gl_NumWorkGroups, g = gl_WorkGroupID;\n"
	    " uint at = (g.z * n.y + g.y) * n.x + g.x;\n"
	    " atomicAdd(o[at], gl_LocalInvocationIndex + 1u + n.x * n.y * n.z * %uu);\n"
	    " atomicXor(o[512u + (gl_GlobalInvocationID.x & 63u)], gl_GlobalInvocationID.y); }\n",
	    1 + below(5), 1 + below(3), below(50));
	program = gl_compute(said());
	results = make_storage(3, zero, sizeof(zero));
	glGenBuffers(1, &buffer);
	for (unsigned int n = 1 + below(3); n; n--) {
		for (unsigned int i = 0; i < 4; i++)
			groups[i] = chance(97) ? 1 + below(4) : 0;
		fill_by_shader(buffer, groups, 4);
		glUseProgram(program);
		glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, buffer);
		glDispatchComputeIndirect(4 * (GLintptr)below(2));
		glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
	}
	put_buffer(GL_SHADER_STORAGE_BUFFER, results, sizeof(zero));
	glDeleteBuffers(1, &buffer);
	glDeleteBuffers(1, &results);
	glDeleteProgram(program);
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static void scene(uint32_t seed)
{
	static const struct {
		enum step step;
		const char *name;
		void (*run)(void);
	} steps[] = {
		{ NUMBERS, "numbers", numbers }, { IMAGES, "images", images },
		{ STREAMS, "streams", streams }, { STATISTICS, "statistics", statistics },
		{ DRAWS, "draws", draws }, { DISPATCHES, "dispatches", dispatches },
	};
	const char *most = getenv("TSR_FUZZ_STEPS");
	unsigned int left = most ? (unsigned int)atoi(most) : ~0u, choice;
	GLint framebuffer;

	seed_scene(seed);
	memset(words, 0, sizeof(words));
	word_count = 0;
	for (unsigned int n = 1 + below(4); n && left--; n--) {
		choice = below(sizeof(steps) / sizeof(steps[0]));
		if (getenv("TSR_FUZZ_SHADERS"))
			fprintf(stderr, "---- %s\n", steps[choice].name);
		put(steps[choice].step);
		steps[choice].run();
		glGetIntegerv(GL_FRAMEBUFFER_BINDING, &framebuffer);
		glDeleteFramebuffers(1, &(GLuint){ (GLuint)framebuffer });
	}
}

static int to_file(uint32_t first, uint32_t count, const char *path)
{
	FILE *f = fopen(path, "wb");
	GLenum error;

	gl_case("scenes without a GL error");
	for (uint32_t seed = first; f && seed < first + count; seed++) {
		scene(seed);
		error = glGetError();
		if (error != GL_NO_ERROR)
			gl_fail("seed %u has GL error 0x%x", seed, error);
		if (fwrite(words, sizeof(words), 1, f) != 1)
			gl_fail("%s cannot be written", path);
	}
	if (!f || fclose(f))
		gl_fail("%s cannot be written", path);
	return gl_close();
}

static void find_functions(void)
{
	static const struct {
		void *at;
		const char *name;
	} functions[] = {
		{ &gl.begin_indexed, "glBeginQueryIndexed" },
		{ &gl.end_indexed, "glEndQueryIndexed" },
		{ &gl.result64, "glGetQueryObjectui64v" }, { &gl.get_image, "glGetTexImage" },
		{ &gl.arrays, "glMultiDrawArraysIndirect" },
		{ &gl.elements, "glMultiDrawElementsIndirect" },
		{ &gl.arrays_count, "glMultiDrawArraysIndirectCountARB" },
		{ &gl.elements_count, "glMultiDrawElementsIndirectCountARB" },
	};

	for (unsigned int i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		const __eglMustCastToProperFunctionPointerType found =
			eglGetProcAddress(functions[i].name);

		memcpy(functions[i].at, &found, sizeof(found));
	}
}

int main(int argc, char **argv)
{
	const char *given = getenv("TSR_FUZZ_SECONDS");
	const time_t end = time(NULL) + (given ? atoi(given) : 20);
	uint32_t before[WORDS], seed;

	gl_open_desktop(4, 5);
	find_functions();
	if (argc == 4)
		return to_file((uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]), argv[3]);
	gl_case("random steps have the same results when they run again");
	for (seed = 1; seed <= 10 || time(NULL) < end; seed++) {
		scene(seed);
		memcpy(before, words, sizeof(words));
		scene(seed);
		if (memcmp(before, words, sizeof(words)))
			gl_fail("seed %u: other words the second time", seed);
	}
	gl_no_error();
	printf("# %u scenes\n", seed - 1);
	return gl_close();
}
