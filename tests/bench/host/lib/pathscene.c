// SPDX-License-Identifier: MIT
/* The scenes of paths: shaders and vertices, see pathscene.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pathscene.h"
#include "tsr_regs.h"

/* ---- Shaders --------------------------------------------------------------------------------- */

#define OP(text) "*" text "\n+NOP\n"
#define CLAUSE(ops) "clause {\n" ops "}\n"
#define MESSAGE(text) "clause wait=0 {\n*NOP\n+" text "\n}\n"
#define END "clause end wait=0 {\n*NOP\n+NOP\n}\n"

/* A word of the matrix, which is in push constants, times a register. */
#define FIRST(to, column, from) OP("FMA.f32 " to ", " column ", " from ", #0.neg")
#define NEXT(to, column, from) OP("FMA.f32 " to ", " column ", " from ", " to)
/* r0 to r3: the matrix times the point r8, r9, r10 and 1. */
#define PROJECT \
	CLAUSE(FIRST("r0", "u4.w0", "r10") FIRST("r1", "u4.w1", "r10") \
	       FIRST("r2", "u5.w0", "r10") FIRST("r3", "u5.w1", "r10") \
	       NEXT("r0", "u2.w0", "r9") NEXT("r1", "u2.w1", "r9") \
	       NEXT("r2", "u3.w0", "r9") NEXT("r3", "u3.w1", "r9")) \
	CLAUSE(NEXT("r0", "u0.w0", "r8") NEXT("r1", "u0.w1", "r8") \
	       NEXT("r2", "u1.w0", "r8") NEXT("r3", "u1.w1", "r8") \
	       OP("FADD.f32 r0, r0, u6.w0") OP("FADD.f32 r1, r1, u6.w1") \
	       OP("FADD.f32 r2, r2, u7.w0") OP("FADD.f32 r3, r3, u7.w1"))

#define GLSL "#version 450 core\n"
#define UNIFORMS "uniform mat4 m;\nuniform vec4 f;\n"
#define BLOCK_IN(what) "in gl_PerVertex { vec4 gl_Position; } " what ";\n"

const struct pathscene_shader pathscene_plain = {
	GLSL "layout(location = 0) in vec4 p;\nlayout(location = 1) in vec4 q;\n"
	"out vec4 c;\n"
	"void main() { gl_Position = p; c = q; }\n",

	MESSAGE("ALD.v4 r61, r62, 0x80, @r0") MESSAGE("ALD.v4 r61, r62, 0x90, @r4")
	MESSAGE("AST.v4 r61, r62, 0x870, @r0") MESSAGE("AST.v4 r61, r62, 0x880, @r4") END
};

static const struct pathscene_shader vertex_project = {
	GLSL UNIFORMS "layout(location = 0) in vec4 p;\nlayout(location = 1) in vec4 q;\n"
	"out vec4 c;\n"
	"void main() { gl_Position = m * vec4(p.xyz, 1.0); c = q; }\n",

	MESSAGE("ALD.v4 r61, r62, 0x80, @r8") MESSAGE("ALD.v4 r61, r62, 0x90, @r4") PROJECT
	MESSAGE("AST.v4 r61, r62, 0x870, @r0") MESSAGE("AST.v4 r61, r62, 0x880, @r4") END
};

static const struct pathscene_shader vertex_place = {
	GLSL "layout(location = 0) in vec4 p;\nlayout(location = 1) in vec4 q;\n"
	"layout(location = 2) in vec4 i;\nout vec4 c;\n"
	"void main() { gl_Position = vec4(p.xyz * i.w + i.xyz, 1.0); c = q; }\n",

	MESSAGE("ALD.v4 r61, r62, 0x80, @r0") MESSAGE("ALD.v4 r61, r62, 0x90, @r4")
	MESSAGE("ALD.v4 r61, r62, 0xa0, @r8")
	CLAUSE(OP("FMA.f32 r0, r0, r11, r8") OP("FMA.f32 r1, r1, r11, r9")
	       OP("FMA.f32 r2, r2, r11, r10") OP("MOV.i32 r3, 0x3f800000"))
	MESSAGE("AST.v4 r61, r62, 0x870, @r0") MESSAGE("AST.v4 r61, r62, 0x880, @r4") END
};

/* Vertex n of the patch is control point n; f.x and f.y divide edges and inside. */
static const struct pathscene_shader hull = {
	GLSL UNIFORMS "layout(vertices = 4) out;\n" "in vec4 c[];\nout vec4 d[];\n"
	"void main() {\n"
	"	gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;\n"
	"	d[gl_InvocationID] = c[gl_InvocationID];\n"
	"	for (int i = 0; i < 4; i++)\n"
	"		gl_TessLevelOuter[i] = f.x;\n"
	"	gl_TessLevelInner[0] = gl_TessLevelInner[1] = f.y;\n"
	"}\n",

	CLAUSE(OP("LSHIFT_OR.i32 r14, r55, #0, 0xa") OP("MOV.i32 r15, 0x50000000"))
	"clause {\n*NOP\n+IADD.u32 r14, r14, 0x70\n}\n" MESSAGE("LOAD.i128 r14, r15, @r0")
	"clause {\n*NOP\n+IADD.u32 r14, r14, 0x10\n}\n" MESSAGE("LOAD.i128 r14, r15, @r4")
	MESSAGE("AST.v4 r61, r62, 0x870, @r0") MESSAGE("AST.v4 r61, r62, 0x880, @r4")
	CLAUSE(OP("MOV.i32 r8, u8.w0") OP("MOV.i32 r9, u8.w0") OP("MOV.i32 r10, u8.w0")
	       OP("MOV.i32 r11, u8.w0") OP("MOV.i32 r12, u8.w1") OP("MOV.i32 r13, u8.w1"))
	MESSAGE("AST.v4 r61, r62, 0x1800, @r8") MESSAGE("AST.v2 r61, r62, 0x1810, @r12") END
};

/* Between the four control points, and a hill of height f.z / 16. */
static const struct pathscene_shader domain = {
	GLSL UNIFORMS "layout(quads, %s, ccw) in;\n" "in vec4 d[];\nout vec4 c;\n"
	"void main() {\n"
	"	float u = gl_TessCoord.x, v = gl_TessCoord.y;\n"
	"	vec3 p0 = gl_in[0].gl_Position.xyz, p3 = gl_in[3].gl_Position.xyz;\n"
	"	vec3 a = u * (gl_in[1].gl_Position.xyz - p0) + p0;\n"
	"	vec3 b = u * (gl_in[2].gl_Position.xyz - p3) + p3;\n"
	"	vec3 p = v * (b - a) + a;\n"
	"	float h = (u - u * u) * (v - v * v);\n"
	"	p.y += h * f.z;\n"
	"	gl_Position = m * vec4(p, 1.0);\n"
	"	c = vec4(u, v, h * 8.0 + d[0].z, 1.0);\n"
	"}\n",

	CLAUSE(OP("RSHIFT_AND.i32 r4, r0, 0xff, #0") OP("RSHIFT_AND.i32 r5, r0, 0xff, 0x8")
	       OP("RSHIFT_AND.i32 r6, r0, 0xff, 0x10") OP("RSHIFT_AND.i32 r7, r0, 0xff, 0x18"))
	MESSAGE("ALD.v4 r60, r4, 0x4070, @r8") MESSAGE("ALD.v4 r60, r5, 0x4070, @r12")
	MESSAGE("ALD.v4 r60, r7, 0x4070, @r16") MESSAGE("ALD.v4 r60, r6, 0x4070, @r20")
	MESSAGE("ALD.v4 r60, r4, 0x4080, @r24")
	CLAUSE(OP("FADD.f32 r12, r12, r8.neg") OP("FADD.f32 r13, r13, r9.neg")
	       OP("FADD.f32 r14, r14, r10.neg") OP("FADD.f32 r20, r20, r16.neg")
	       OP("FADD.f32 r21, r21, r17.neg") OP("FADD.f32 r22, r22, r18.neg"))
	CLAUSE(OP("FMA.f32 r8, r60, r12, r8") OP("FMA.f32 r9, r60, r13, r9")
	       OP("FMA.f32 r10, r60, r14, r10") OP("FMA.f32 r16, r60, r20, r16")
	       OP("FMA.f32 r17, r60, r21, r17") OP("FMA.f32 r18, r60, r22, r18")
	       OP("FMA.f32 r12, r60, r60.neg, r60") OP("FMA.f32 r13, r61, r61.neg, r61"))
	CLAUSE(OP("FADD.f32 r16, r16, r8.neg") OP("FADD.f32 r17, r17, r9.neg")
	       OP("FADD.f32 r18, r18, r10.neg") OP("FMA.f32 r8, r61, r16, r8")
	       OP("FMA.f32 r9, r61, r17, r9") OP("FMA.f32 r10, r61, r18, r10")
	       OP("FMA.f32 r12, r12, r13, #0.neg"))
	CLAUSE(OP("FMA.f32 r9, r12, u9.w0, r9") OP("FMA.f32 r30, r12, 0x41000000, r26")
	       OP("MOV.i32 r28, r60") OP("MOV.i32 r29, r61") OP("MOV.i32 r31, 0x3f800000"))
	PROJECT
	MESSAGE("AST.v4 r60, r61, 0x870, @r0") MESSAGE("AST.v4 r60, r61, 0x880, @r28") END
};

#define EMIT(position, color) \
	MESSAGE("AST.v4 r61, r62, 0x870, @" position) \
	MESSAGE("AST.v4 r61, r62, 0x880, @" color) MESSAGE("EMIT")

/* A point becomes a rectangle of two triangles, f.xy is half of its size. */
static const struct pathscene_shader geometry_expand = {
	GLSL UNIFORMS "layout(points) in;\nlayout(triangle_strip, max_vertices = 4) out;\n"
	"in vec4 c[];\nout vec4 e;\n"
	"void main() {\n"
	"	vec4 p = gl_in[0].gl_Position;\n"
	"	vec2 d = p.w * f.xy;\n"
	"	gl_Position = vec4(p.xy - d, p.zw); e = c[0]; EmitVertex();\n"
	"	gl_Position = vec4(p.x + d.x, p.y - d.y, p.zw); e = c[0]; EmitVertex();\n"
	"	gl_Position = vec4(p.x - d.x, p.y + d.y, p.zw); e = c[0]; EmitVertex();\n"
	"	gl_Position = vec4(p.xy + d, p.zw); e = c[0]; EmitVertex();\n"
	"}\n",

	CLAUSE(OP("RSHIFT_AND.i32 r52, r0, 0xff, #0"))
	MESSAGE("ALD.v4 r61, r52, 0x4070, @r8") MESSAGE("ALD.v4 r61, r52, 0x4080, @r12")
	CLAUSE(OP("FMA.f32 r16, r11, u8.w0, #0.neg") OP("FMA.f32 r17, r11, u8.w1, #0.neg")
	       OP("FADD.f32 r20, r8, r16.neg") OP("FADD.f32 r21, r9, r17.neg")
	       OP("FADD.f32 r24, r8, r16") OP("FADD.f32 r29, r9, r17"))
	CLAUSE(OP("MOV.i32 r22, r10") OP("MOV.i32 r23, r11") OP("MOV.i32 r25, r21")
	       OP("MOV.i32 r26, r10") OP("MOV.i32 r27, r11") OP("MOV.i32 r28, r20")
	       OP("MOV.i32 r30, r10") OP("MOV.i32 r31, r11"))
	EMIT("r20", "r12") EMIT("r24", "r12") EMIT("r28", "r12")
	CLAUSE(OP("MOV.i32 r25, r29"))
	EMIT("r24", "r12") END
};

#define HANDLE(to, shift) OP("RSHIFT_AND.i32 " to ", r0, 0xff, " shift)
#define HALF(to) OP("FMA.f32 " to ", " to ", 0x3f000000, #0.neg")
/* Between the points that begin at register @a and at @b, four words each. */
#define MIDDLE(to0, to1, to2, to3, a0, a1, a2, a3, b0, b1, b2, b3) \
	CLAUSE(OP("FADD.f32 " to0 ", " a0 ", " b0) OP("FADD.f32 " to1 ", " a1 ", " b1) \
	       OP("FADD.f32 " to2 ", " a2 ", " b2) OP("FADD.f32 " to3 ", " a3 ", " b3) \
	       HALF(to0) HALF(to1) HALF(to2) HALF(to3))

/* A triangle becomes the one between the middles of its edges. */
static const struct pathscene_shader geometry_middle = {
	GLSL "layout(triangles) in;\nlayout(triangle_strip, max_vertices = 3) out;\n"
	"in vec4 c[];\nout vec4 e;\n"
	"void main() {\n"
	"	for (int i = 0; i < 3; i++) {\n"
	"		gl_Position = (gl_in[i].gl_Position + gl_in[(i + 1) % 3].gl_Position) *\n"
	"			      0.5;\n"
	"		e = c[i];\n"
	"		EmitVertex();\n"
	"	}\n"
	"}\n",

	CLAUSE(HANDLE("r52", "#0") HANDLE("r53", "0x8") HANDLE("r54", "0x10"))
	MESSAGE("ALD.v4 r61, r52, 0x4070, @r8") MESSAGE("ALD.v4 r61, r53, 0x4070, @r12")
	MESSAGE("ALD.v4 r61, r54, 0x4070, @r16") MESSAGE("ALD.v4 r61, r52, 0x4080, @r20")
	MESSAGE("ALD.v4 r61, r53, 0x4080, @r24") MESSAGE("ALD.v4 r61, r54, 0x4080, @r28")
	MIDDLE("r32", "r33", "r34", "r35", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15")
	MIDDLE("r36", "r37", "r38", "r39", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19")
	MIDDLE("r40", "r41", "r42", "r43", "r16", "r17", "r18", "r19", "r8", "r9", "r10", "r11")
	EMIT("r32", "r20") EMIT("r36", "r24") EMIT("r40", "r28") END
};

const struct pathscene_shader pathscene_compute = {
	GLSL "layout(local_size_x = 64) in;\n"
	"layout(std430, binding = 0) readonly buffer A { float a[]; };\n"
	"layout(std430, binding = 1) writeonly buffer B { float b[]; };\n"
	"void main() {\n"
	"	uint n = gl_GlobalInvocationID.x;\n"
	"	b[n] = a[n] * a[n] + float(n);\n"
	"}\n",

	".local 64, 1, 1\n"
	"clause slot=0 {\n*SHADDXL.u32 r2:t0, u0.w0, r60, shift:2\n"
	"+SHADDXH.i32 r3:t1, u0.w1, t\n*NOP\n+LOAD.i32 t0, t1, @r0\n}\n"
	"clause wait=0 {\n*NOP\n+U32_TO_F32 r1:t1, r60\n*FMA.f32 r0:t0, r0, r0, t1\n+NOP\n}\n"
	"clause slot=0 {\n*SHADDXL.u32 r2:t0, u2.w0, r60, shift:2\n"
	"+SHADDXH.i32 r3:t1, u2.w1, t\n*NOP\n+STORE.i32 t0, t1, @r0\n}\n" END
};

/* ---- Scenes ---------------------------------------------------------------------------------- */

const char *const pathscene_paths[] = {
	"vertex", "geometry", "patches", "patches_geometry", "vertex_stream", "geometry_stream",
	"patches_stream", "compute", NULL
};

const char *const pathscene_loads[] = {
	"terrain", "points_to_quads", "stream_out", "all_stages", NULL
};

static void *zeroed(size_t count, size_t size)
{
	void *p = calloc(count, size);

	if (!p)
		abort();
	return p;
}

/* Half of a square is seen at a slant, from above; with perspective. */
static void look(struct pathscene *s)
{
	static const float matrix[16] = {
		1, 0, 0, 0,   0, 0.75f, -0.5f, -0.5f,   0, 0.5f, 0.75f, 0.75f,   0, 0, 0.5f, 1.5f,
	};

	memcpy(s->uniform, matrix, sizeof(matrix));
}

/* Everything by powers of two. */
static void scale(struct pathscene *s)
{
	static const float matrix[16] = {
		0.5f, 0, 0, 0,   0, 0.25f, 0.5f, 0,   0, 0.5f, 0.125f, 0.5f,   0.25f, 0, 0, 1,
	};

	memcpy(s->uniform, matrix, sizeof(matrix));
}

static void factors(struct pathscene *s, float x, float y, float z)
{
	const float f[4] = { x, y, z, 0 };

	memcpy(&s->uniform[16], f, sizeof(f));
}

static void place(float v[8], float x, float y, float z, float blue)
{
	const float all[8] = { x, y, z, 1, 0.5f + 0.5f * x, 0.5f + 0.5f * z, blue, 1 };

	memcpy(v, all, sizeof(all));
}

/* Squares of a @side by @side field, each from corner to corner in the order of @corner. */
static void field(struct pathscene *s, unsigned int side, const uint8_t *corner, unsigned int n)
{
	float step = 2.0f / (float)side;

	s->count = side * side * n;
	s->vertices = zeroed(s->count, sizeof(s->vertices[0]));
	for (unsigned int i = 0; i < s->count; i++) {
		unsigned int square = i / n, k = corner[i % n];
		float x = -1 + step * (float)(square % side + (k == 1 || k == 2));
		float z = -1 + step * (float)(square / side + (k >= 2));

		place(s->vertices[i], x, x * z * 0.25f, z, (float)(square % 8) * 0.0625f);
	}
}

static void triangles(struct pathscene *s, unsigned int side)
{
	static const uint8_t corner[6] = { 0, 1, 2, 0, 2, 3 };

	s->topology = TSR_TOPOLOGY_TRIANGLES;
	field(s, side, corner, 6);
}

static void patches(struct pathscene *s, unsigned int side)
{
	static const uint8_t corner[4] = { 0, 1, 2, 3 };

	s->topology = TSR_TOPOLOGY_PATCHES;
	s->shader[PATHSCENE_VERTEX] = &pathscene_plain;
	s->shader[PATHSCENE_HULL] = &hull;
	s->shader[PATHSCENE_DOMAIN] = &domain;
	field(s, side, corner, 4);
}

/* Points at the corners of squares. */
static void points(struct pathscene *s, unsigned int side)
{
	static const uint8_t corner[1] = { 0 };

	s->topology = TSR_TOPOLOGY_POINTS;
	s->shader[PATHSCENE_GEOMETRY] = &geometry_expand;
	field(s, side, corner, 1);
}

/* @side by @side instances, of half the size of the squares they stand in. */
static void instances(struct pathscene *s, unsigned int side)
{
	float step = 2.0f / (float)side;

	s->shader[PATHSCENE_VERTEX] = &vertex_place;
	s->instance_count = side * side;
	s->instances = zeroed(s->instance_count, sizeof(s->instances[0]));
	for (unsigned int i = 0; i < s->instance_count; i++) {
		s->instances[i][0] = -1 + step * ((float)(i % side) + 0.5f);
		s->instances[i][2] = -1 + step * ((float)(i / side) + 0.5f);
		s->instances[i][3] = 0.25f * step;
	}
}

/* Primitives that patches divided by @factor, all alike, become. */
static double divided(const struct pathscene *s, double factor)
{
	return 2 * factor * factor * s->count / 4 * (s->instances ? s->instance_count : 1);
}

static bool is(const struct pathscene *s, const char *name)
{
	return !strcmp(s->name, name);
}

static bool open_drawn(struct pathscene *s)
{
	look(s);
	factors(s, 9.5f, 7.25f, 4);
	if (is(s, "vertex")) {
		s->path = "VS, PS";
		triangles(s, 16);
	} else if (is(s, "geometry")) {
		s->path = "VS, GS, PS";
		points(s, 20);
		factors(s, 0.03125f, 0.015625f, 0);
	} else if (is(s, "patches")) {
		s->path = "VS, HS, TS, DS, PS";
		s->partitioning = TSR_PATCH_PARTITIONING_FRACTIONAL_ODD;
		patches(s, 3);
	} else if (is(s, "patches_geometry")) {
		s->path = "VS, HS, TS, DS, GS, PS";
		s->partitioning = TSR_PATCH_PARTITIONING_FRACTIONAL_EVEN;
		patches(s, 2);
		instances(s, 2);
		for (unsigned int i = 0; i < s->instance_count; i++)
			s->instances[i][3] *= 2;
		s->shader[PATHSCENE_GEOMETRY] = &geometry_middle;
	} else {
		return false;
	}
	return true;
}

static bool open_streamed(struct pathscene *s)
{
	scale(s);
	s->streams = true;
	if (is(s, "vertex_stream")) {
		s->path = "VS, SO";
		/* few enough for one batch: where it ends, vertices of strips are shaded twice */
		triangles(s, 4);
		s->topology = TSR_TOPOLOGY_LINE_STRIP;
		s->corners = 2;
		s->streamed = 70;
	} else if (is(s, "geometry_stream")) {
		s->path = "VS, GS, SO";
		points(s, 8);
		factors(s, 0.25f, 0.5f, 0);
		s->streamed = 128;
	} else if (is(s, "patches_stream")) {
		s->path = "VS, HS, TS, DS, GS, SO";
		patches(s, 2);
		factors(s, 8, 4, 4);
		s->shader[PATHSCENE_GEOMETRY] = &geometry_middle;
		s->streamed = 150;
	} else {
		return false;
	}
	return true;
}

static bool open_computed(struct pathscene *s)
{
	if (!is(s, "compute"))
		return false;
	s->path = "CS";
	s->shader[PATHSCENE_VERTEX] = NULL;
	s->count = 4096;
	s->vertices = zeroed(s->count, sizeof(s->vertices[0]));
	for (unsigned int i = 0; i < s->count; i++)
		s->vertices[i / 8][i % 8] = (float)(i * 2654435761u >> 20) * 0.25f;
	return true;
}

static bool open_load(struct pathscene *s)
{
	s->side = 1024;
	s->streams = false;
	look(s);
	s->unit = "triangle";
	if (is(s, "terrain")) {
		/* llvmpipe's indices of points that a draw's patches become have 16 bits */
		patches(s, 16);
		s->draws = 8;
		factors(s, 44, 44, 0.25f);
		s->units = divided(s, 44);
	} else if (is(s, "points_to_quads")) {
		points(s, 500);
		factors(s, 1.0f / 1024, 1.0f / 1024, 0);
		s->units = 2 * s->count;
	} else if (is(s, "stream_out")) {
		scale(s);
		triangles(s, 408);
		s->streams = true;
		s->side = 64;
		s->unit = "vertex";
		s->units = s->count;
		s->streamed = s->count / 3;
	} else if (is(s, "all_stages")) {
		patches(s, 4);
		instances(s, 24);
		factors(s, 4, 4, 0.25f);
		s->shader[PATHSCENE_GEOMETRY] = &geometry_middle;
		s->units = divided(s, 4);
	} else {
		return false;
	}
	return true;
}

bool pathscene_open(struct pathscene *s, const char *name)
{
	*s = (struct pathscene){
		.name = name, .side = 256, .instance_count = 1, .corners = 3, .draws = 1,
		.shader[PATHSCENE_VERTEX] = &vertex_project,
		.partitioning = TSR_PATCH_PARTITIONING_INTEGER,
	};
	return open_drawn(s) || open_streamed(s) || open_load(s) || open_computed(s);
}

void pathscene_close(struct pathscene *s)
{
	free(s->vertices);
	free(s->instances);
}

size_t pathscene_bytes(const struct pathscene *s)
{
	if (!s->shader[PATHSCENE_VERTEX])
		return (size_t)s->count * 4;
	return (size_t)s->streamed * s->corners * PATHSCENE_STRIDE;
}
