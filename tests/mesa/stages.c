/* SPDX-License-Identifier: MIT */
/* Tessellation and geometry shaders. */
#include <stdio.h>
#include <string.h>

#include "gl.h"

#define SIDE 64

#define ES31 "#version 310 es\nprecision highp float; precision highp int;\n"
#define GEOMETRY                                                                                  \
	"#version 310 es\n#extension GL_EXT_geometry_shader : require\n"                          \
	"#extension GL_EXT_geometry_point_size : enable\n"                                        \
	"precision highp float; precision highp int;\n"
#define TESSELLATION                                                                              \
	"#version 310 es\n#extension GL_EXT_tessellation_shader : require\n"                      \
	"precision highp float; precision highp int;\n"

static const char vertex[] = ES31 "layout(location = 0) in vec4 position;"
				  "void main() { gl_Position = position; }";
static const char white[] = ES31 "out vec4 color; void main() { color = vec4(1); }";

static void attach(GLuint program, GLenum type, const char *text)
{
	GLuint shader = glCreateShader(type);
	char log[1000];
	GLint ok;

	glShaderSource(shader, 1, &text, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
	if (!ok) {
		glGetShaderInfoLog(shader, sizeof(log), NULL, log);
		gl_fail("%s", log);
	}
	glAttachShader(program, shader);
	glDeleteShader(shader);
}

struct stages {
	const char *vertex, *control, *evaluation, *geometry, *fragment;
	const char *captured;		/* a varying */
};

static GLuint use(const struct stages *s)
{
	GLuint program = glCreateProgram();
	char log[1000];
	GLint ok;

	attach(program, GL_VERTEX_SHADER, s->vertex ? s->vertex : vertex);
	if (s->control)
		attach(program, GL_TESS_CONTROL_SHADER, s->control);
	if (s->evaluation)
		attach(program, GL_TESS_EVALUATION_SHADER, s->evaluation);
	if (s->geometry)
		attach(program, GL_GEOMETRY_SHADER, s->geometry);
	attach(program, GL_FRAGMENT_SHADER, s->fragment ? s->fragment : white);
	if (s->captured)
		glTransformFeedbackVaryings(program, 1, &s->captured, GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &ok);
	if (!ok) {
		glGetProgramInfoLog(program, sizeof(log), NULL, log);
		gl_fail("%s", log);
	}
	glUseProgram(program);
	return program;
}

static void draw(GLenum mode, const float (*points)[2], int count)
{
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	glEnableVertexAttribArray(0);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, points);
	glDrawArrays(mode, 0, count);
}

static void clear(void)
{
	glClearColor(0, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
}

static const float all[3][2] = { { -1, -1 }, { 3, -1 }, { -1, 3 } };
static const float corners[4][2] = { { -0.5f, -0.5f }, { 0.5f, -0.5f }, { -0.5f, 0.5f },
				     { 0.5f, 0.5f } };

/* ---- Geometry shaders ------------------------------------------------------------------------ */

static void pass_through(void)
{
	static const struct stages s = {
		.vertex = ES31 "layout(location = 0) in vec4 position; out vec4 a; out vec2 b;"
			       "void main() { gl_Position = position; a = position * 0.5 + 0.5;"
			       " b = vec2(0.25, 0.75); }",
		.geometry = GEOMETRY
			"layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;"
			"in vec4 a[]; in vec2 b[]; out vec4 c;"
			"void main() { for (int i = 0; i < 3; i++) {"
			" gl_Position = gl_in[i].gl_Position; c = vec4(a[i].xy, b[i]);"
			" EmitVertex(); } }",
		.fragment = ES31 "in vec4 c; out vec4 color; void main() { color = c; }",
	};
	GLuint program = use(&s);

	gl_case("a geometry shader passes triangles on");
	clear();
	draw(GL_TRIANGLES, all, 3);
	gl_expect(0, 0, 2, 2, 64, 191, 2);
	gl_expect(48, 16, 193, 66, 64, 191, 2);
	gl_no_error();
	glDeleteProgram(program);
}

/* Each point becomes two strips of four vertices: a square with a gap in its middle. */
static void strips(void)
{
	static const struct stages s = {
		.geometry = GEOMETRY
			"layout(points) in; layout(triangle_strip, max_vertices = 8) out;"
			"uniform float size;"
			"void put(float x, float y) {"
			" gl_Position = gl_in[0].gl_Position + vec4(x, y, 0, 0) * size;"
			" EmitVertex(); }"
			"void main() { put(-1., -1.); put(-.5, -1.); put(-1., 1.); put(-.5, 1.);"
			" EndPrimitive();"
			" put(.5, -1.); put(1., -1.); put(.5, 1.); put(1., 1.); EndPrimitive(); }",
	};
	GLuint program = use(&s);
	int i;

	gl_case("points become strips, with a uniform");
	clear();
	glUniform1f(glGetUniformLocation(program, "size"), 0.25f);
	draw(GL_POINTS, corners, 4);
	for (i = 0; i < 4; i++) {
		const int x = i & 1 ? 48 : 16, y = i & 2 ? 48 : 16;

		gl_expect(x - 6, y, 255, 255, 255, 255, 0);
		gl_expect(x + 6, y, 255, 255, 255, 255, 0);
		gl_expect(x, y, 0, 0, 0, 255, 0);
	}
	gl_expect(32, 32, 0, 0, 0, 255, 0);
	gl_no_error();
	glDeleteProgram(program);
}

static void invocations(void)
{
	static const struct stages s = {
		.geometry = GEOMETRY
			"layout(points, invocations = 4) in;"
			"layout(triangle_strip, max_vertices = 3) out; flat out int number;"
			"void put(vec2 at) { gl_Position = vec4(at, 0, 1);"
			" number = gl_InvocationID; EmitVertex(); }"
			"void main() { int i = gl_InvocationID; vec2 at = vec2(i & 1, i >> 1) - 1.;"
			" put(at); put(at + vec2(1, 0)); put(at + vec2(0, 1)); }",
		.fragment = ES31 "flat in int number; out vec4 color;"
				 "void main() { color = vec4(float(number + 1) / 4., 0, 0, 1); }",
	};
	GLuint program = use(&s);
	int i;

	gl_case("invocations of a geometry shader");
	clear();
	draw(GL_POINTS, corners, 1);
	for (i = 0; i < 4; i++)
		gl_expect((i & 1) * 32 + 8, (i >> 1) * 32 + 8, (i + 1) * 255 / 4, 0, 0, 255, 1);
	gl_no_error();
	glDeleteProgram(program);
}

/* More vertices than there may be are not there; gl_in with an index that varies. */
static void too_many(void)
{
	static const struct stages s = {
		.geometry = GEOMETRY
			"layout(triangles) in; layout(points, max_vertices = 2) out;"
			"uniform int count; flat out vec4 c;"
			"void main() { for (int i = 0; i < count; i++) {"
			" gl_Position = gl_in[i % 3].gl_Position; gl_PointSize = float(4 + 8 * i);"
			" c = vec4(i == 0, i == 1, i > 1, 1); EmitVertex(); } }",
		.fragment = ES31 "flat in vec4 c; out vec4 color; void main() { color = c; }",
	};
	static const float at[3][2] = { { -0.5f, -0.5f }, { 0.5f, 0.5f }, { 0.5f, -0.5f } };
	GLuint program = use(&s);

	gl_case("points with sizes, and no more vertices than are declared");
	clear();
	glUniform1i(glGetUniformLocation(program, "count"), 7);
	draw(GL_TRIANGLES, at, 3);
	gl_expect(16, 16, 255, 0, 0, 255, 0);
	gl_expect(19, 16, 0, 0, 0, 255, 0);
	gl_expect(52, 48, 0, 255, 0, 255, 0);
	gl_expect(48, 16, 0, 0, 0, 255, 0);
	gl_no_error();
	glDeleteProgram(program);
}

static void numbers(void)
{
	static const struct stages s = {
		.geometry = GEOMETRY
			"layout(lines_adjacency) in; layout(line_strip, max_vertices = 2) out;"
			"flat out ivec2 n;"
			"void main() { n = ivec2(gl_PrimitiveIDIn, gl_in[0].gl_Position.x < 0.);"
			" gl_PrimitiveID = 10 + gl_PrimitiveIDIn;"
			" gl_Position = gl_in[1].gl_Position; EmitVertex();"
			" n = ivec2(gl_PrimitiveIDIn, gl_in[0].gl_Position.x < 0.);"
			" gl_PrimitiveID = 10 + gl_PrimitiveIDIn;"
			" gl_Position = gl_in[2].gl_Position; EmitVertex(); }",
		.fragment = GEOMETRY "flat in ivec2 n; out vec4 color;"
				     "void main() { color = vec4(n.x, n.y, gl_PrimitiveID, 255) /"
				     " 255.; }",
	};
	static const float at[8][2] = { { 0.9f, 0 }, { -1, -0.5f }, { 1, -0.5f }, { 0, 0 },
					{ -0.9f, 0 }, { -1, 0.5f }, { 1, 0.5f }, { 0, 0 } };
	GLuint program = use(&s);
	unsigned char row[SIDE * 4];
	int i, y, lines = 0;

	gl_case("neighbors and the numbers of primitives");
	clear();
	draw(GL_LINES_ADJACENCY, at, 8);
	for (y = 0; y < SIDE; y++) {
		glReadPixels(0, y, SIDE, 1, GL_RGBA, GL_UNSIGNED_BYTE, row);
		if (!row[2 + 32 * 4])
			continue;
		i = y > 32;
		lines++;
		gl_expect(32, y, i, i, 10 + i, 255, 0);
	}
	if (lines != 2)
		gl_fail("%d lines", lines);
	gl_no_error();
	glDeleteProgram(program);
}

static void layers(void)
{
	static const struct stages s = {
		.geometry = GEOMETRY
			"layout(triangles, invocations = 3) in;"
			"layout(triangle_strip, max_vertices = 3) out; flat out int layer;"
			"void main() { for (int i = 0; i < 3; i++) {"
			" gl_Position = gl_in[i].gl_Position; gl_Layer = layer = gl_InvocationID;"
			" EmitVertex(); } }",
		.fragment = ES31 "flat in int layer; out vec4 color;"
				 "void main() { color = vec4(equal(ivec3(0, 1, 2), ivec3(layer)),"
				 " 1); }",
	};
	GLuint program = use(&s), fb, texture;
	int i;

	gl_case("a geometry shader chooses the layer");
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D_ARRAY, texture);
	glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA8, SIDE, SIDE, 3);
	glGenFramebuffers(1, &fb);
	glBindFramebuffer(GL_FRAMEBUFFER, fb);
	glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0);
	clear();
	draw(GL_TRIANGLES, all, 3);
	for (i = 0; i < 3; i++) {
		glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, 0, i);
		gl_expect(32, 32, i == 0 ? 255 : 0, i == 1 ? 255 : 0, i == 2 ? 255 : 0, 255, 0);
	}
	gl_no_error();
	glDeleteFramebuffers(1, &fb);
	glDeleteTextures(1, &texture);
	glDeleteProgram(program);
}

/* OpenGL reports this error itself, without the device. */
static void misfit(void)
{
	static const struct stages s = {
		.geometry = GEOMETRY
			"layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;"
			"void main() { for (int i = 0; i < 3; i++) {"
			" gl_Position = gl_in[i].gl_Position; EmitVertex(); } }",
	};
	GLuint program = use(&s);

	gl_case("a draw of what a geometry shader does not take draws nothing");
	clear();
	draw(GL_LINES, all, 2);
	draw(GL_PATCHES, all, 3);
	while (glGetError() != GL_NO_ERROR)
		;
	gl_expect(32, 32, 0, 0, 0, 255, 0);
	draw(GL_TRIANGLE_FAN, all, 3);
	gl_expect(32, 32, 255, 255, 255, 255, 0);
	gl_no_error();
	glDeleteProgram(program);
}

/* ---- Capture --------------------------------------------------------------------------------- */

static GLuint query_result(GLuint query)
{
	GLuint value;

	glGetQueryObjectuiv(query, GL_QUERY_RESULT, &value);
	return value;
}

static const struct stages doubled = {
	/* a point for each bit of its number */
	.vertex = ES31 "void main() { gl_Position = vec4(gl_VertexID, 0, 0, 1); }",
	.geometry = GEOMETRY "layout(points) in; layout(points, max_vertices = 8) out;"
			     "out vec2 value;"
			     "void main() { int n = int(gl_in[0].gl_Position.x);"
			     " for (int i = 0; i < 8; i++) if ((n >> i & 1) != 0) {"
			     " value = vec2(n, i); gl_Position = vec4(0, 0, 0, 1);"
			     " EmitVertex(); } }",
	.captured = "value",
};

static void capture(void)
{
	GLuint program = use(&doubled), buffer, queries[2];
	const float *got;
	int n, i, at = 0;

	gl_case("what a geometry shader emits is captured, and goes on where it was");
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffer);
	glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 64 * 8, NULL, GL_STREAM_READ);
	glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
	glGenQueries(2, queries);
	glEnable(GL_RASTERIZER_DISCARD);
	glBeginQuery(GL_PRIMITIVES_GENERATED, queries[0]);
	glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, queries[1]);
	glBeginTransformFeedback(GL_POINTS);
	glDrawArrays(GL_POINTS, 0, 16);
	glDrawArrays(GL_POINTS, 16, 16);
	glEndTransformFeedback();
	glEndQuery(GL_PRIMITIVES_GENERATED);
	glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
	glDisable(GL_RASTERIZER_DISCARD);
	/* of the numbers below 32 80 bits are set, of which 64 find room */
	if (query_result(queries[0]) != 80 || query_result(queries[1]) != 64)
		gl_fail("%u generated, %u written", query_result(queries[0]),
			query_result(queries[1]));
	got = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 64 * 8, GL_MAP_READ_BIT);
	for (n = 0; got && n < 32; n++) {
		for (i = 0; i < 8; i++) {
			if (!(n >> i & 1) || at >= 64)
				continue;
			if (got[2 * at] != (float)n || got[2 * at + 1] != (float)i)
				gl_fail("value %d is %g, %g for bit %d of %d", at, got[2 * at],
					got[2 * at + 1], i, n);
			at++;
		}
	}
	glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
	gl_no_error();
	glDeleteQueries(2, queries);
	glDeleteBuffers(1, &buffer);
	glDeleteProgram(program);
}

/* ---- Tessellation ---------------------------------------------------------------------------- */

#define CONTROL                                                                                   \
	"layout(vertices = 4) out; patch out vec4 tint; uniform float level;"                     \
	"void main() { gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;" \
	" barrier();"                                                                             \
	" if (gl_InvocationID == 0) {"                                                            \
	"  for (int i = 0; i < 4; i++) gl_TessLevelOuter[i] = level;"                             \
	"  gl_TessLevelInner[0] = gl_TessLevelInner[1] = level;"                                  \
	"  tint = vec4(gl_out[3].gl_Position.xy, float(gl_PatchVerticesIn) / 8., 1); } }"

static void quads(void)
{
	static const struct stages s = {
		.control = TESSELLATION CONTROL,
		.evaluation = TESSELLATION
			"layout(quads, equal_spacing, ccw) in; patch in vec4 tint; out vec4 c;"
			"void main() { vec4 a = mix(gl_in[0].gl_Position, gl_in[1].gl_Position,"
			" gl_TessCoord.x), b = mix(gl_in[2].gl_Position, gl_in[3].gl_Position,"
			" gl_TessCoord.x); gl_Position = mix(a, b, gl_TessCoord.y);"
			" c = tint; }",
		.fragment = ES31 "in vec4 c; out vec4 color; void main() { color = c; }",
	};
	GLuint program = use(&s);

	gl_case("a patch of quads, with levels and a color of its control shader");
	clear();
	glPatchParameteri(GL_PATCH_VERTICES, 4);
	glUniform1f(glGetUniformLocation(program, "level"), 5);
	glEnable(GL_CULL_FACE);
	draw(GL_PATCHES, corners, 4);
	glDisable(GL_CULL_FACE);
	gl_expect(17, 17, 128, 128, 128, 255, 1);
	gl_expect(32, 32, 128, 128, 128, 255, 1);
	gl_expect(46, 46, 128, 128, 128, 255, 1);
	gl_expect(8, 32, 0, 0, 0, 255, 0);
	gl_no_error();
	glDeleteProgram(program);
}

/* How many pixels are not black. */
static int lit(void)
{
	static unsigned char pixels[SIDE * SIDE * 4];
	int i, n = 0;

	glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	for (i = 0; i < SIDE * SIDE; i++)
		n += pixels[4 * i] != 0;
	return n;
}

static void points(void)
{
	static const struct stages s = {
		.control = TESSELLATION CONTROL,
		.evaluation = TESSELLATION
			"layout(quads, equal_spacing, point_mode) in;"
			"void main() { gl_Position = vec4(gl_TessCoord.xy * 1.6 - .8, 0, 1); }",
	};
	GLuint program = use(&s);

	gl_case("points of patches: each once");
	clear();
	glPatchParameteri(GL_PATCH_VERTICES, 4);
	glUniform1f(glGetUniformLocation(program, "level"), 4);
	draw(GL_PATCHES, corners, 4);
	if (lit() != 25)
		gl_fail("%d points", lit());
	gl_no_error();
	glDeleteProgram(program);
}

/* Lines of a patch go through a geometry shader; they are counted without being captured. */
static void lines(void)
{
	static const struct stages s = {
		.control = TESSELLATION CONTROL,
		.evaluation = TESSELLATION
			"layout(isolines, equal_spacing) in; out vec4 c;"
			"void main() { gl_Position = vec4(gl_TessCoord.xy * 2. - 1., 0, 1);"
			" c = vec4(gl_TessCoord.xy, 0, 1); }",
		.geometry = GEOMETRY
			"layout(lines) in; layout(line_strip, max_vertices = 4) out; in vec4 c[];"
			"out vec4 d; uniform float shift;"
			"void main() { for (int k = 0; k < 2; k++) { for (int i = 0; i < 2; i++) {"
			" d = c[i]; gl_Position = gl_in[i].gl_Position;"
			" gl_Position.y += shift + float(k) * .5; EmitVertex(); }"
			" EndPrimitive(); } }",
		.fragment = ES31 "in vec4 d; out vec4 color;"
				 "void main() { color = vec4(1, d.xy, 1); }",
	};
	GLuint program = use(&s), query;

	gl_case("lines of a patch, through a geometry shader");
	clear();
	glGenQueries(1, &query);
	glPatchParameteri(GL_PATCH_VERTICES, 4);
	glUniform1f(glGetUniformLocation(program, "level"), 2);
	glUniform1f(glGetUniformLocation(program, "shift"), 0.1f);
	glBeginQuery(GL_PRIMITIVES_GENERATED, query);
	draw(GL_PATCHES, corners, 4);
	glEndQuery(GL_PRIMITIVES_GENERATED);
	if (query_result(query) != 8)
		gl_fail("%u lines", query_result(query));
	/* two lines of the patch at y = 0 and 0.5, each twice, one of the four beside another */
	if (lit() < 3 * SIDE || lit() > 4 * SIDE)
		gl_fail("%d pixels", lit());
	gl_no_error();
	glDeleteQueries(1, &query);
	glDeleteProgram(program);
}

/* An array of a control shader's outputs that its threads read of one another. */
static void exchange(void)
{
	static const struct stages s = {
		.control = TESSELLATION
			"layout(vertices = 3) out; out vec3 part[];"
			"void main() { int i = gl_InvocationID; vec3 own = vec3(0); own[i] = 1.;"
			" gl_out[gl_InvocationID].gl_Position = gl_in[i].gl_Position;"
			" part[gl_InvocationID] = own; barrier();"
			" vec3 next = part[(i + 1) % 3]; barrier(); part[gl_InvocationID] = next;"
			" gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 3.;"
			" gl_TessLevelInner[0] = 3.; }",
		.evaluation = TESSELLATION
			"layout(triangles, fractional_odd_spacing) in; in vec3 part[]; out vec3 c;"
			"void main() { vec3 t = gl_TessCoord;"
			" gl_Position = t.x * gl_in[0].gl_Position + t.y * gl_in[1].gl_Position +"
			" t.z * gl_in[2].gl_Position;"
			" c = t.x * part[0] + t.y * part[1] + t.z * part[2]; }",
		.fragment = ES31 "in vec3 c; out vec4 color; void main() { color = vec4(c, 1); }",
	};
	GLuint program = use(&s);

	gl_case("threads of a control shader read what others wrote");
	clear();
	glPatchParameteri(GL_PATCH_VERTICES, 3);
	draw(GL_PATCHES, all, 3);
	/* the corner of vertex 0 has what thread 1 wrote */
	gl_expect(0, 0, 4, 251, 2, 255, 4);
	gl_expect(63, 0, 2, 128, 126, 255, 4);
	gl_no_error();
	glDeleteProgram(program);
}

int main(void)
{
	gl_open(3, 1);
	gl_target(SIDE, SIDE, GL_RGBA8);
	pass_through();
	strips();
	invocations();
	too_many();
	numbers();
	misfit();
	capture();
	quads();
	points();
	lines();
	exchange();
	layers();
	return gl_close();
}
