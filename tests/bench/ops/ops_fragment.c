// SPDX-License-Identifier: MIT
/*
 * Operations of fragment shaders: full-screen passes, each texture type, format class, kind of
 * lookup and shape of control flow. One run is one pass of OPS_SIDE x OPS_SIDE pixels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

/* The texture of unit 0. */
struct source {
	GLenum target;
	GLenum internal, format, type;
	GLenum filter;			/* of both directions; with mipmaps where it says so */
	unsigned int layers;		/* of arrays and 3D textures */
	unsigned int compare;		/* a depth comparison sampler */
};

static const struct source
	rgba8 = { GL_TEXTURE_2D, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, GL_LINEAR, 0, 0 },
	rgba8_nearest = { GL_TEXTURE_2D, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, GL_NEAREST, 0, 0 },
	rgba8_mipmaps = { GL_TEXTURE_2D, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE,
		GL_LINEAR_MIPMAP_LINEAR, 0, 0 },
	srgb8 = { GL_TEXTURE_2D, GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, GL_LINEAR, 0, 0 },
	r8 = { GL_TEXTURE_2D, GL_R8, GL_RED, GL_UNSIGNED_BYTE, GL_LINEAR, 0, 0 },
	rgb565 = { GL_TEXTURE_2D, GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, GL_LINEAR, 0, 0 },
	rgb10a2 = { GL_TEXTURE_2D, GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV,
		GL_LINEAR, 0, 0 },
	rg16f = { GL_TEXTURE_2D, GL_RG16F, GL_RG, GL_HALF_FLOAT, GL_LINEAR, 0, 0 },
	rgba16f = { GL_TEXTURE_2D, GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, GL_LINEAR, 0, 0 },
	r11g11b10f = { GL_TEXTURE_2D, GL_R11F_G11F_B10F, GL_RGB, GL_HALF_FLOAT, GL_LINEAR, 0, 0 },
	r32f = { GL_TEXTURE_2D, GL_R32F, GL_RED, GL_FLOAT, GL_NEAREST, 0, 0 },
	rgba8ui = { GL_TEXTURE_2D, GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, GL_NEAREST,
		0, 0 },
	r32i = { GL_TEXTURE_2D, GL_R32I, GL_RED_INTEGER, GL_INT, GL_NEAREST, 0, 0 },
	volume = { GL_TEXTURE_3D, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, GL_LINEAR_MIPMAP_LINEAR,
		16, 0 },
	volume_nearest = { GL_TEXTURE_3D, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, GL_NEAREST, 16,
		0 },
	cube = { GL_TEXTURE_CUBE_MAP, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, GL_LINEAR, 0, 0 },
	array = { GL_TEXTURE_2D_ARRAY, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, GL_LINEAR, 8, 0 },
	cube_array = { GL_TEXTURE_CUBE_MAP_ARRAY, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE,
		GL_LINEAR, 12, 0 },
	shadow = { GL_TEXTURE_2D, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT,
		GL_LINEAR, 0, 1 },
	shadow_array = { GL_TEXTURE_2D_ARRAY, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT,
		GL_UNSIGNED_INT, GL_LINEAR, 4, 1 };

struct pass {
	const struct source *source;
	const char *declares;		/* of the fragment shader */
	const char *body;		/* computes vec4 c from vec2 uv in 0 .. 1, ivec2 at,
		float zero, int n */
};

/* Texels that look the same in every format: bytes of a smooth pattern with some noise. */
static void *texels(size_t bytes, const struct source *s)
{
	uint8_t *data = malloc(bytes);
	uint32_t random = 1;

	for (size_t i = 0; i < bytes; i++) {
		random = random * 1664525 + 1013904223;
		data[i] = (uint8_t)((i >> 3) + (random >> 29));
	}
	if (s->type == GL_HALF_FLOAT) {
		for (size_t i = 0; i + 1 < bytes; i += 2)
			((uint16_t *)data)[i / 2] = 0x3400 | (data[i] << 2);	/* 0.25 .. 0.5 */
	} else if (s->type == GL_FLOAT) {
		for (size_t i = 0; i + 3 < bytes; i += 4)
			((float *)data)[i / 4] = data[i] / 255.f;
	}
	return data;
}

static void fill(const struct source *s)
{
	const unsigned int side = s->target == GL_TEXTURE_3D ? 64 : OPS_SOURCE;
	const size_t bytes = (size_t)side * side * 16;
	void *data = texels(bytes * (s->layers ? s->layers : 1), s);
	const GLsizei size = (GLsizei)side;

	if (s->target == GL_TEXTURE_2D) {
		glTexImage2D(s->target, 0, (GLint)s->internal, size, size, 0, s->format,
			s->type, data);
	} else if (s->target == GL_TEXTURE_CUBE_MAP) {
		for (GLenum i = 0; i < 6; i++)
			glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + i, 0, (GLint)s->internal,
				size, size, 0,
				     s->format, s->type, (char *)data + 256 * i);
	} else {
		glTexImage3D(s->target, 0, (GLint)s->internal, size, size, (GLsizei)s->layers,
			0, s->format,
			     s->type, data);
	}
	free(data);
}

static void open_source(const struct source *s)
{
	GLenum large = s->filter == GL_LINEAR_MIPMAP_LINEAR ? GL_LINEAR : s->filter;

	ops_texture(s->target);
	fill(s);
	glTexParameteri(s->target, GL_TEXTURE_MIN_FILTER, (GLint)s->filter);
	glTexParameteri(s->target, GL_TEXTURE_MAG_FILTER, (GLint)large);
	if (s->compare) {
		glTexParameteri(s->target, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
		glTexParameteri(s->target, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
	}
	if (s->filter == GL_LINEAR_MIPMAP_LINEAR)
		glGenerateMipmap(s->target);
	ops_check("a texture");
}

static const char vertex[] =
	"#version 320 es\n"
	"out vec2 uv; out vec4 tint; flat out vec4 shade;\n"
	"void main() {\n"
	"	vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
	"	uv = p;\n"
	"	tint = vec4(p, 1.0 - p);\n"
	"	shade = vec4(0.25 * float(gl_VertexID));\n"
	"	gl_Position = vec4(2.0 * p - 1.0, 0.0, 1.0);\n"
	"}\n";

static void begin(const struct op *op)
{
	const struct pass *pass = op->data;
	char text[4096];
	GLuint program;

	snprintf(text, sizeof(text),
		 "#version 320 es\n"
		 "precision highp float; precision highp int; precision highp sampler2D;\n"
		 "precision highp sampler3D; precision highp samplerCube; precision highp "
		 	"sampler2DArray;\n"
		 "precision highp samplerCubeArray; precision highp sampler2DShadow;\n"
		 "precision highp sampler2DArrayShadow; precision highp usampler2D; precision "
		 	"highp isampler2D;\n"
		 "in vec2 uv; uniform float zero; uniform int n; out vec4 color;\n%s\n"
		 "void main() {\n\tivec2 at = ivec2(gl_FragCoord.xy);\n\tvec4 c = "
		 	"vec4(0.0);\n\t%s\n\tcolor = c;\n}\n",
		 pass->declares, pass->body);
	ops_target(GL_RGBA8, 1, 0);
	if (pass->source)
		open_source(pass->source);
	program = ops_program(vertex, text);
	glUniform1i(glGetUniformLocation(program, "n"), 16);
	glUniform1f(glGetUniformLocation(program, "zero"), 0);
}

static void run(const struct op *op)
{
	(void)op;
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

#define PASS(label, from, declared, text) \
	{ "frag_" label, begin, run, &(const struct pass){ from, declared, text } }
#define T2D "uniform sampler2D t;"

const struct op ops_fragment[] = {
	/* textures: kinds of lookup */
	PASS("bilinear_rgba8", &rgba8, T2D, "c = texture(t, uv);"),
	PASS("nearest_rgba8", &rgba8_nearest, T2D, "c = texture(t, uv);"),
	PASS("trilinear_rgba8", &rgba8_mipmaps, T2D, "c = texture(t, 3.0 * uv);"),
	PASS("taps8_rgba8", &rgba8, T2D,
	     "for (int i = 0; i < 8; i++) c += 0.125 * texture(t, uv + 0.01 * float(i));"),
	PASS("texture_lod", &rgba8_mipmaps, T2D, "c = textureLod(t, uv, 4.0 * uv.x);"),
	PASS("texture_bias", &rgba8_mipmaps, T2D, "c = texture(t, uv, 1.5);"),
	PASS("texture_grad", &rgba8_mipmaps, T2D, "c = textureGrad(t, uv, vec2(0.01, 0.0), "
		"vec2(0.0, 0.02));"),
	PASS("texture_offset", &rgba8, T2D, "c = textureOffset(t, uv, ivec2(3, -2));"),
	PASS("texture_proj", &rgba8, T2D, "c = textureProj(t, vec3(uv, 1.0 + uv.x));"),
	PASS("texture_gather", &rgba8, T2D, "c = textureGather(t, uv, 1);"),
	PASS("texel_fetch", &rgba8_nearest, T2D, "c = texelFetch(t, at & 255, 0);"),
	PASS("texture_rotated", &rgba8, T2D,
	     "c = texture(t, mat2(0.8, 0.6, -0.6, 0.8) * uv);"),
	PASS("texture_dependent", &rgba8, T2D, "c = texture(t, uv + 0.01 * texture(t, uv).xy);"),
	PASS("texture_size", &rgba8, T2D, "c = texture(t, uv) / vec4(textureSize(t, n & "
		"1).xyxy);"),
	/* textures: types */
	PASS("volume_trilinear", &volume, "uniform sampler3D t;", "c = texture(t, vec3(uv, uv.x "
		"+ uv.y));"),
	PASS("volume_nearest", &volume_nearest, "uniform sampler3D t;", "c = texture(t, "
		"vec3(uv, uv.x));"),
	PASS("cube", &cube, "uniform samplerCube t;", "c = texture(t, vec3(2.0 * uv - 1.0, "
		"0.7));"),
	PASS("cube_array", &cube_array, "uniform samplerCubeArray t;",
	     "c = texture(t, vec4(2.0 * uv - 1.0, 0.7, uv.x));"),
	PASS("array", &array, "uniform sampler2DArray t;", "c = texture(t, vec3(uv, 7.0 * "
		"uv.x));"),
	PASS("array_fetch", &array, "uniform sampler2DArray t;", "c = texelFetch(t, ivec3(at & "
		"255, at.x & 7), 0);"),
	PASS("shadow", &shadow, "uniform sampler2DShadow t;", "c = vec4(texture(t, vec3(uv, "
		"0.5)));"),
	PASS("shadow_array", &shadow_array, "uniform sampler2DArrayShadow t;",
	     "c = vec4(texture(t, vec4(uv, 3.0 * uv.y, 0.5)));"),
	PASS("shadow_taps4", &shadow, "uniform sampler2DShadow t;",
	     "for (int i = 0; i < 4; i++) c += 0.25 * texture(t, vec3(uv + 0.004 * float(i), "
	     "0.5));"),
	/* textures: formats */
	PASS("bilinear_srgb8", &srgb8, T2D, "c = texture(t, uv);"),
	PASS("bilinear_r8", &r8, T2D, "c = texture(t, uv).rrrr;"),
	PASS("bilinear_rgb565", &rgb565, T2D, "c = texture(t, uv);"),
	PASS("bilinear_rgb10a2", &rgb10a2, T2D, "c = texture(t, uv);"),
	PASS("bilinear_rg16f", &rg16f, T2D, "c = texture(t, uv);"),
	PASS("bilinear_rgba16f", &rgba16f, T2D, "c = texture(t, uv);"),
	PASS("bilinear_r11g11b10f", &r11g11b10f, T2D, "c = texture(t, uv);"),
	PASS("nearest_r32f", &r32f, T2D, "c = texture(t, uv).rrrr;"),
	PASS("fetch_rgba8ui", &rgba8ui, "uniform usampler2D t;", "c = vec4(texelFetch(t, at & "
		"255, 0)) / 255.0;"),
	PASS("texture_rgba8ui", &rgba8ui, "uniform usampler2D t;", "c = vec4(texture(t, uv)) / "
		"255.0;"),
	PASS("texture_r32i", &r32i, "uniform isampler2D t;", "c = vec4(texture(t, uv).r & 255) "
		"/ 255.0;"),
	/* control flow */
	PASS("if_else", NULL, "",
	     "if (((at.x ^ at.y) & 1) == 0) c = vec4(sin(uv.x * 9.0)); else c = "
	     "vec4(exp2(-uv.y), uv, 1.0);"),
	PASS("nested_if", NULL, "",
	     "if (uv.x > 0.5) { if ((at.y & 2) == 0) c = vec4(uv, 0.2, 1.0); else c = "
	     "vec4(sqrt(uv.x)); } "
	     "else if (uv.y > 0.3) c = vec4(uv.yx, 0.7, 1.0);"),
	PASS("loop_uniform", NULL, "", "for (int i = 0; i < n; i++) c += sin(float(i) * "
		"uv.xyxy);\n c /= 16.0;"),
	PASS("loop_divergent", NULL, "",
	     "int m = at.x & 15; for (int i = 0; i < m; i++) c += cos(float(i) * uv.yxyx);\n c "
	     "/= 16.0;"),
	PASS("loop_break", NULL, "",
	     "float s = 0.0; for (int i = 0; i < n; i++) { s += uv.x; if (s > 2.0) break; c += "
	     "0.06; }"),
	PASS("loop_continue", NULL, "",
	     "for (int i = 0; i < n; i++) { if (((i + at.x) & 3) == 0) continue; c += 0.05 * "
	     "uv.xyxy; }"),
	PASS("switch", NULL, "",
	     "switch (at.x & 3) { case 0: c = vec4(uv, 0.0, 1.0); break; case 1: c = "
	     "vec4(sin(uv.x)); break; "
	     "case 2: c = vec4(uv.y * uv.y); break; default: c = vec4(0.3); }"),
	PASS("texture_in_branch", &rgba8, T2D, "if ((at.y & 4) == 0) c = textureLod(t, uv, "
		"0.0); else c = vec4(uv, 0.0, 1.0);"),
	PASS("texture_in_loop", &rgba8, T2D, "for (int i = 0; i < n / 4; i++) c += 0.25 * "
		"textureLod(t, uv * float(i), 0.0);"),
	PASS("call_noise", NULL,
	     "float h(vec2 p) { return fract(sin(dot(p, vec2(12.98, 78.23))) * 43758.5); }",
	     "float v = 0.0, a = 0.5; vec2 p = 8.0 * uv; for (int i = 0; i < 4; i++) { vec2 f = "
	     "floor(p); "
	     "vec2 r = p - f; v += a * mix(mix(h(f), h(f + vec2(1, 0)), r.x), mix(h(f + vec2(0, "
	     "1)), h(f + 1.0), r.x), r.y); "
	     "p *= 2.0; a *= 0.5; } c = vec4(v);"),
	/* arithmetic */
	PASS("pow_exp_log", NULL, "", "c = vec4(pow(uv.x, 2.2), exp(-uv.y), log(1.0 + uv.x), "
		"1.0);"),
	PASS("trigonometry", NULL, "", "c = vec4(sin(9.0 * uv.x), cos(7.0 * uv.y), atan(uv.y, "
		"uv.x), 1.0);"),
	PASS("normalize", NULL, "", "vec3 v = normalize(vec3(uv - 0.5, 0.3)); c = vec4(0.5 + "
		"0.5 * v, inversesqrt(1.0 + uv.x) );"),
	PASS("matrix", NULL, "uniform mat4 m;",
	     "mat4 q = mat4(0.5 + zero) + m; c = q * (q * (q * vec4(uv, 0.5, 1.0)));"),
	PASS("integer_division", NULL, "", "c = vec4((at.x * 7919) / (at.y + 3) & 255, (at.y * "
		"31) % (at.x + 5) & 255, 0, 255) / 255.0;"),
	PASS("integer_bits", NULL, "",
	     "uint h = uint(at.x) * 0x9e3779b9u ^ uint(at.y); h ^= h >> 15; h *= 0x85ebca6bu; "
	     "c = vec4(float(bitCount(h)) / 32.0, float(findMSB(h)) / 32.0, "
	     "float(bitfieldExtract(h, 3, 8)) / 255.0, 1.0);"),
	PASS("pack_half", NULL, "", "c = vec4(unpackHalf2x16(packHalf2x16(uv)), "
		"unpackUnorm4x8(packUnorm4x8(uv.xyxy)).xy);"),
	PASS("derivatives", NULL, "", "c = vec4(dFdx(uv.x * uv.x) * 99.0, dFdy(uv.y * uv.x) * "
		"99.0, fwidth(uv.x) * 99.0, 1.0);"),
	PASS("array_indexed", NULL, "uniform vec4 a[16];", "c = 0.5 * a[at.x & 15] + vec4(uv, "
		"0.0, 1.0);"),
	PASS("array_local", NULL, "",
	     "float a[8]; for (int i = 0; i < 8; i++) a[i] = uv.x * float(i); c = vec4(a[at.x & "
	     "7] * 0.1, a[at.y & 7] * 0.1, 0.0, 1.0);"),
	/* varyings and numbers as most programs for OpenGL ES declare them */
	PASS("varying_flat", NULL, "flat in vec4 shade;", "c = shade + uv.xyxy * 0.1;"),
	PASS("varying_mediump", NULL, "in mediump vec4 tint;", "c = tint;"),
	PASS("arithmetic_mediump", NULL, "in mediump vec4 tint;",
	     "mediump vec4 m = tint; for (int i = 0; i < 8; i++) m = m * m.yzwx + 0.25 * tint; "
	     "c = m;"),
	PASS("bilinear_mediump", &rgba8, "uniform mediump sampler2D t; in mediump vec4 tint;",
	     "mediump vec4 m = texture(t, uv) * tint; c = m;"),
	{ NULL, NULL, NULL, NULL }
};
