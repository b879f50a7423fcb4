// SPDX-License-Identifier: MIT
/*
 * Scenes by chance: targets, textures, shaders, vertices and states of a seed, all of them valid.
 *
 *	fuzz			scenes of seeds from 1 on for TSR_FUZZ_SECONDS (20): no GL error,
 *				the same picture when it is drawn again, and in the end nothing is
 *				left behind
 *	fuzz FIRST COUNT FILE	the pictures of these seeds, SIZE * SIZE RGBA8 each, go to the file:
 *				fuzz.py compares them with those of another driver
 *
 * TSR_FUZZ_STEPS=N ends a scene after so many of its shaders, TSR_FUZZ_SHADERS=1 prints them.
 *
 * So that drivers can be compared nothing depends on derivatives or on how an edge through the
 * middle of a pixel is judged.
 * debug: nocache
 */
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gl.h"
#include "random.h"

#define SIZE		64	/* of targets, pixels */
#define TEXTURES	3
#define VERTICES	24
#define ROUND		60	/* scenes that are drawn once more at the end */
#define STAGED		100001	/* seeds from here on have geometry shaders */
#define SLACK		(512 << 10)

/* ---- Shaders --------------------------------------------------------------------------------- */

static char text[1 << 15];
static size_t used;

__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	used += (size_t)vsnprintf(text + used, sizeof(text) - used, format, ap);
	va_end(ap);
}

static void leaf(bool fragment)
{
	switch (below(fragment ? 6 : 3)) {
	case 0:
		say("u[%u]", below(4));
		break;
	case 1:
		say("vec4(%.4f, %.4f, %.4f, %.4f)", real(-1, 1), real(-1, 1), real(0, 1),
		    real(0, 1));
		break;
	case 2:
		say(fragment ? "v" : "value");
		break;
	case 3:
		say("flat_v");
		break;
	default:
		say("textureLod(t%u, v.%s * %.3f, %u.0)", below(TEXTURES), chance(50) ? "xy" : "zw",
		    real(-2, 2), below(3));
		break;
	}
}

static void expression(unsigned int depth, bool fragment);

/* Join @count expressions, each at most as large as its operands, or their product. */
static void join(unsigned int depth, bool fragment, const char *before, const char *between,
		 unsigned int count, const char *after)
{
	say("%s", before);
	for (unsigned int i = 0; i < count; i++) {
		say("%s", i ? between : "");
		expression(depth - 1, fragment);
	}
	say("%s", after);
}

static void expression(unsigned int depth, bool fragment)
{
	static const struct {
		const char *before, *between, *after;
		unsigned int count;
	} forms[] = {
		{ "(", " + ", ")", 2 }, { "(", " - ", ")", 2 }, { "(", " * ", ")", 2 },
		{ "min(", ", ", ")", 2 }, { "max(", ", ", ")", 2 }, { "abs(", "", ")", 1 },
		{ "(-", "", ")", 1 }, { "clamp(", "", ", 0.0, 1.0)", 1 }, { "", "", ".wzyx", 1 },
		{ "", "", ".yyxz", 1 }, { "vec4(dot(", ", ", "))", 2 },
		{ "mix(", ", ", ", 0.375)", 2 },
		{ "inversesqrt(vec4(1.0) + abs(", "", "))", 1 }, { "exp2(-abs(", "", "))", 1 },
	};
	const unsigned int form = below(sizeof(forms) / sizeof(forms[0]));

	if (!depth || chance(15) || used > sizeof(text) / 2) {
		leaf(fragment);
		return;
	}
	join(depth, fragment, forms[form].before, forms[form].between, forms[form].count,
	     forms[form].after);
}

/* Integers are exact everywhere. */
static void integers(void)
{
	static const char *const steps[] = {
		"h ^= h >> 3u;", "h *= 7u;", "h = h / 5u + h % 11u;", "h = (h << 2u) | (h >> 30u);",
		"h = uint(int(h) / -3);", "h += uint(int(h) % 13);", "h = bitfieldReverse(h);",
		"h = uint(bitCount(h)) + h;", "h = uint(findMSB(h)) * 3u + h;", "h = min(h, ~h);",
		"h = uint(max(int(h), -77));", "h = bitfieldExtract(h, 3, 17);",
		"h = bitfieldInsert(h, h >> 7u, 5, 9);", "if ((h & 4u) != 0u) h += 29u;",
		"for (uint i = 0u; i < (h & 3u); i++) h = h * 5u + i;",
	};

	say(" uint h = uint(gl_FragCoord.x) * 73u + uint(gl_FragCoord.y) * 151u + %uu;\n", next());
	for (unsigned int n = below(8); n; n--)
		say(" %s\n", PICK(steps));
	say(" c += vec4(uvec4(h, h >> 8u, h >> 16u, h >> 24u) & 255u) / 1020.0;\n");
}

static void fragment_body(void)
{
	say(" highp vec4 c = ");
	expression(4, true);
	say(";\n");
	if (chance(30))
		integers();
	if (chance(30)) {
		say(" for (int i = 0; i < %u; i++) c = c * 0.5 + ", below(6));
		expression(2, true);
		say(";\n");
	}
	if (chance(30)) {
		say(" if (flat_v.x > %.3f) c = ", real(-1, 1));
		expression(3, true);
		say("; else c = c.zyxw;\n");
	}
	if (chance(15))
		say(" if (fract(gl_FragCoord.x * 0.1) > 0.45) discard;\n");
	if (chance(10))
		say(" gl_FragDepth = %.3f;\n", real(0, 1));
	say(" color = clamp(c, 0.0, 1.0);\n");
}

/*
 * Copies of each triangle, moved, turned and colored, some left out. In one invocation: Mesa's
 * renderers have another order of the primitives of several.
 */
static void geometry_body(void)
{
	const unsigned int copies = 1 + below(3), turn = below(3);

	say("#version 310 es\n#extension GL_OES_geometry_shader : require\n"
	    "precision highp float; precision highp int;\n"
	    "layout(triangles) in;\n"
	    "layout(triangle_strip, max_vertices = %u) out;\n"
	    "in highp vec4 before_v[]; in highp vec4 before_flat_v[]; uniform highp vec4 u[4];\n"
	    "out highp vec4 v; flat out highp vec4 flat_v;\nvoid main() {\n", 3 * copies);
	if (chance(20))
		say(" if (before_flat_v[%u].x < %.3f) return;\n", below(3), real(-1, 1));
	say(" for (int k = 0; k < %u; k++) {\n", copies);
	if (chance(30))
		say("  if ((gl_PrimitiveIDIn + k) %% 3 == %u) continue;\n", below(3));
	say("  for (int i = 0; i < 3; i++) {\n   int j = (i + k * %u) %% 3;\n"
	    "   gl_Position = gl_in[j].gl_Position * vec4(%.3f, %.3f, 1, 1) +\n"
	    "    vec4(%.3f, %.3f, 0, 0) * float(k);\n"
	    "   v = before_v[j] * %.3f + u[k]; flat_v = before_flat_v[2] * %.3f;\n"
	    "   EmitVertex();\n  }\n%s }\n}\n", turn, real(-1, 1), real(0.3f, 1),
	    real(-0.5f, 0.5f), real(-0.5f, 0.5f), real(-1, 1), real(-1, 1),
	    chance(70) ? "  EndPrimitive();\n" : "");
}

static bool staged;	/* the program that is drawn with has a geometry shader */

static GLuint make_program(void)
{
	static char vertex[sizeof(text)], geometry[sizeof(text)];
	const bool perspective = chance(30);
	GLuint program;

	used = 0;
	say("#version 310 es\n%s"
	    "in vec4 position; in vec4 value; uniform vec4 u[4];\n"
	    "out highp vec4 v; flat out highp vec4 flat_v;\nvoid main() {\n"
	    " gl_Position = vec4(position.xyz, %s);\n gl_PointSize = %u.0;\n v = ",
	    staged ? "#define v before_v\n#define flat_v before_flat_v\n#define flat\n" : "",
	    perspective ? "1.0 + position.w * 0.5" : "1.0", 1 + below(9));
	expression(2, false);
	say(";\n flat_v = ");
	expression(1, false);
	say(" + float(gl_InstanceID) * 0.25;\n}\n");
	memcpy(vertex, text, used + 1);
	used = 0;
	if (staged)
		geometry_body();
	memcpy(geometry, text, used + 1);
	used = 0;
	say("#version 310 es\nprecision highp float; precision highp int;\n"
	    "in highp vec4 v; flat in highp vec4 flat_v; uniform highp vec4 u[4];\n"
	    "uniform sampler2D t0, t1, t2; out highp vec4 color;\nvoid main() {\n");
	fragment_body();
	say("}\n");
	if (getenv("TSR_FUZZ_SHADERS"))
		fprintf(stderr, "%s\n%s\n%s\n", vertex, staged ? geometry : "", text);
	program = gl_geometry_program(vertex, staged ? geometry : NULL, text);
	for (unsigned int i = 0; i < TEXTURES; i++) {
		const char name[] = { 't', (char)('0' + i), 0 };

		glUniform1i(glGetUniformLocation(program, name), (GLint)i);
	}
	for (unsigned int i = 0; i < 4; i++) {
		const char name[] = { 'u', '[', (char)('0' + i), ']', 0 };

		glUniform4f(glGetUniformLocation(program, name), real(-1, 1), real(-1, 1),
			    real(0, 1), real(0, 1));
	}
	return program;
}

/* ---- Textures and targets -------------------------------------------------------------------- */

static void make_texture(unsigned int unit)
{
	static const struct {
		GLenum internal, format, type;
	} formats[] = {
		{ GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE }, { GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE },
		{ GL_R8, GL_RED, GL_UNSIGNED_BYTE }, { GL_RG8, GL_RG, GL_UNSIGNED_BYTE },
		{ GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5 },
		{ GL_RGBA4, GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4 },
		{ GL_RGB5_A1, GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1 },
		{ GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV },
		{ GL_RGBA8_SNORM, GL_RGBA, GL_BYTE },
	};
	static const GLenum wraps[] = { GL_REPEAT, GL_CLAMP_TO_EDGE, GL_MIRRORED_REPEAT };
	static const GLint swizzles[] = { GL_RED, GL_GREEN, GL_BLUE, GL_ALPHA, GL_ZERO, GL_ONE };
	const unsigned int f = below(sizeof(formats) / sizeof(formats[0]));
	GLsizei width = 1 + (GLsizei)below(33), height = 1 + (GLsizei)below(33);
	static uint32_t texels[33 * 33];
	const GLenum filter = chance(70) ? GL_NEAREST : GL_LINEAR;
	GLint level = 0;

	glActiveTexture(GL_TEXTURE0 + unit);
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	do {
		for (unsigned int i = 0; i < (unsigned int)(width * height); i++)
			texels[i] = next();
		glTexImage2D(GL_TEXTURE_2D, level++, (GLint)formats[f].internal, width, height, 0,
			     formats[f].format, formats[f].type, texels);
		if (width == 1 && height == 1)
			break;
		width = width > 1 ? width / 2 : 1;
		height = height > 1 ? height / 2 : 1;
	} while (level < 8);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, (GLint)filter);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER,
			filter == GL_NEAREST ? GL_NEAREST_MIPMAP_NEAREST
					     : GL_LINEAR_MIPMAP_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, (GLint)PICK(wraps));
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, (GLint)PICK(wraps));
	if (chance(30)) {
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_R, PICK(swizzles));
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_A, PICK(swizzles));
	}
}

static void make_target(GLuint *texture, GLuint *depth)
{
	static const GLenum colors[] = { GL_RGBA8, GL_RGBA8, GL_RGB565, GL_RGBA4, GL_RGB5_A1,
					 GL_RGB10_A2 };
	static const GLenum depths[] = { GL_DEPTH24_STENCIL8, GL_DEPTH24_STENCIL8,
					 GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT24 };
	const GLenum format = PICK(depths);
	GLuint framebuffer;

	glActiveTexture(GL_TEXTURE0);
	glGenTextures(1, texture);
	glBindTexture(GL_TEXTURE_2D, *texture);
	glTexStorage2D(GL_TEXTURE_2D, 1, PICK(colors), SIZE, SIZE);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, *texture, 0);
	glGenRenderbuffers(1, depth);
	glBindRenderbuffer(GL_RENDERBUFFER, *depth);
	glRenderbufferStorage(GL_RENDERBUFFER, format, SIZE, SIZE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER,
				  format == GL_DEPTH24_STENCIL8 ? GL_DEPTH_STENCIL_ATTACHMENT
								: GL_DEPTH_ATTACHMENT,
				  GL_RENDERBUFFER, *depth);
	glClearColor(real(0, 1), real(0, 1), real(0, 1), real(0, 1));
	glClearDepthf(real(0.5f, 1));
	glClearStencil((GLint)below(256));
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
}

/* ---- States ---------------------------------------------------------------------------------- */

static void toggle(GLenum what, unsigned int percent)
{
	if (chance(percent))
		glEnable(what);
	else
		glDisable(what);
}

static void set_blending(void)
{
	static const GLenum factors[] = {
		GL_ZERO, GL_ONE, GL_SRC_COLOR, GL_ONE_MINUS_SRC_COLOR, GL_DST_COLOR,
		GL_ONE_MINUS_DST_COLOR, GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_DST_ALPHA,
		GL_ONE_MINUS_DST_ALPHA, GL_CONSTANT_COLOR, GL_ONE_MINUS_CONSTANT_COLOR,
		GL_CONSTANT_ALPHA, GL_ONE_MINUS_CONSTANT_ALPHA, GL_SRC_ALPHA_SATURATE,
	};
	static const GLenum ops[] = { GL_FUNC_ADD, GL_FUNC_SUBTRACT, GL_FUNC_REVERSE_SUBTRACT,
				      GL_MIN, GL_MAX };
	const GLenum src = PICK(factors), dst = PICK(factors), src_a = PICK(factors);
	const GLenum dst_a = PICK(factors), op = PICK(ops), op_a = PICK(ops);

	toggle(GL_BLEND, 40);
	glBlendFuncSeparate(src, dst, src_a, dst_a);
	glBlendEquationSeparate(op, op_a);
	glBlendColor(real(0, 1), real(0, 1), real(0, 1), real(0, 1));
	glColorMask(chance(85), chance(85), chance(85), chance(85));
}

static void set_tests(void)
{
	static const GLenum faces[] = { GL_FRONT, GL_BACK, GL_FRONT_AND_BACK };
	static const GLenum ops[] = { GL_KEEP, GL_ZERO, GL_REPLACE, GL_INCR, GL_DECR, GL_INVERT,
				      GL_INCR_WRAP, GL_DECR_WRAP };
	GLenum fail, depth_fail, pass;

	toggle(GL_DEPTH_TEST, 50);
	glDepthFunc(GL_NEVER + below(8));
	glDepthMask(chance(70));
	toggle(GL_STENCIL_TEST, 40);
	for (unsigned int i = 0; i < 3; i++) {
		glStencilFuncSeparate(faces[i], GL_NEVER + below(8), (GLint)below(256),
				      below(256));
		fail = PICK(ops);
		depth_fail = PICK(ops);
		pass = PICK(ops);
		glStencilOpSeparate(faces[i], fail, depth_fail, pass);
		glStencilMaskSeparate(faces[i], below(256));
	}
}

static void set_raster(void)
{
	toggle(GL_CULL_FACE, 25);
	glCullFace(chance(50) ? GL_FRONT : GL_BACK);
	glFrontFace(chance(50) ? GL_CW : GL_CCW);
	toggle(GL_SCISSOR_TEST, 30);
	glScissor((GLint)below(SIZE), (GLint)below(SIZE), (GLsizei)below(SIZE),
		  (GLsizei)below(SIZE));
	glViewport(chance(80) ? 0 : (GLint)below(SIZE) - 16, 0, SIZE, chance(80) ? SIZE : SIZE / 2);
	glDepthRangef(chance(80) ? 0 : real(0, 1), chance(80) ? 1 : real(0, 1));
	toggle(GL_PRIMITIVE_RESTART_FIXED_INDEX, 50);
}

/* ---- Draws ----------------------------------------------------------------------------------- */

/* An edge is seldom where a pixel's middle is. */
static void make_vertices(GLuint buffer)
{
	float position[VERTICES][4], value[VERTICES][4];

	for (unsigned int i = 0; i < VERTICES; i++) {
		for (unsigned int k = 0; k < 4; k++) {
			position[i][k] = real(-1.3f, 1.3f) * (k < 2 ? 0.9973f : 0.7f);
			value[i][k] = real(-1, 1);
		}
	}
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof(position) + sizeof(value), NULL, GL_DYNAMIC_DRAW);
	glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(position), position);
	glBufferSubData(GL_ARRAY_BUFFER, sizeof(position), sizeof(value), value);
	glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	if (chance(70)) {
		glVertexAttribPointer(1, 1 + (GLint)below(4), GL_FLOAT, GL_FALSE, 16,
				      (const void *)sizeof(position));
	} else {
		/* any bits are such a number */
		static const GLenum types[] = { GL_BYTE, GL_UNSIGNED_BYTE, GL_SHORT,
						GL_UNSIGNED_SHORT };

		glVertexAttribPointer(1, 1 + (GLint)below(4), PICK(types), GL_TRUE, 16,
				      (const void *)sizeof(position));
	}
	glEnableVertexAttribArray(1);
	glVertexAttribDivisor(1, chance(20));
}

static void draw(GLuint vertices, GLuint indices)
{
	static const GLenum modes[] = { GL_TRIANGLES, GL_TRIANGLES, GL_TRIANGLE_STRIP,
					GL_TRIANGLE_FAN, GL_POINTS };
	const GLenum mode = staged ? modes[below(4)] : PICK(modes);
	const GLsizei count = 3 + (GLsizei)below(VERTICES - 3);
	const GLsizei instances = 1 + (GLsizei)below(3);
	uint16_t list[VERTICES];

	make_vertices(vertices);
	for (unsigned int i = 0; i < VERTICES; i++)
		list[i] = chance(8) && glIsEnabled(GL_PRIMITIVE_RESTART_FIXED_INDEX)
				  ? 0xffff : (uint16_t)below(VERTICES);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, indices);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof(list), list, GL_STREAM_DRAW);
	if (chance(50))
		glDrawElementsInstanced(mode, count, GL_UNSIGNED_SHORT, NULL, instances);
	else
		glDrawArraysInstanced(mode, 0, count, instances);
}

/* Between draws: clear a part of a target, change a texture, or copy to it. */
static void something_else(void)
{
	const GLint x = (GLint)below(SIZE / 2), y = (GLint)below(SIZE / 2);
	uint32_t texels[16];

	switch (below(4)) {
	case 0:
		glClearColor(real(0, 1), real(0, 1), real(0, 1), real(0, 1));
		glClearStencil((GLint)below(256));
		glClear(GL_COLOR_BUFFER_BIT | (chance(50) ? 0 : GL_STENCIL_BUFFER_BIT));
		break;
	case 1:
		for (unsigned int i = 0; i < 16; i++)
			texels[i] = next();
		glActiveTexture(GL_TEXTURE0);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE,
			     texels);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		break;
	case 2:
		glReadPixels(x, y, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, texels);
		break;
	default:
		glFlush();
	}
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static void scene(uint32_t seed, uint8_t *pixels)
{
	const char *most = getenv("TSR_FUZZ_STEPS");
	unsigned int steps = most ? (unsigned int)atoi(most) : ~0u;
	GLuint target, depth, textures[TEXTURES], buffers[2], program;
	GLint framebuffer;

	seed_scene(seed);
	glDisable(GL_SCISSOR_TEST);
	glDisable(GL_DITHER);		/* is as each driver likes */
	glColorMask(1, 1, 1, 1);
	glDepthMask(1);
	glStencilMask(255);
	make_target(&target, &depth);
	glGenTextures(TEXTURES, textures);
	glGenBuffers(2, buffers);
	for (unsigned int i = 0; i < TEXTURES; i++) {
		glActiveTexture(GL_TEXTURE0 + i);
		glBindTexture(GL_TEXTURE_2D, textures[i]);
		make_texture(i);
	}
	for (unsigned int n = 1 + below(6); n && steps--; n--) {
		set_blending();
		set_tests();
		set_raster();
		staged = seed >= STAGED && chance(80);
		program = make_program();
		for (unsigned int k = 1 + below(2); k; k--)
			draw(buffers[0], buffers[1]);
		glUseProgram(0);
		glDeleteProgram(program);
		if (chance(40))
			something_else();
	}
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	glGetIntegerv(GL_FRAMEBUFFER_BINDING, &framebuffer);
	glDeleteFramebuffers(1, &(GLuint){ (GLuint)framebuffer });
	glDeleteTextures(1, &target);
	glDeleteTextures(TEXTURES, textures);
	glDeleteRenderbuffers(1, &depth);
	glDeleteBuffers(2, buffers);
}

static int to_file(uint32_t first, uint32_t count, const char *path)
{
	static uint8_t pixels[SIZE * SIZE * 4];
	FILE *f = fopen(path, "wb");

	gl_case("scenes without a GL error");
	for (uint32_t seed = first; f && seed < first + count; seed++) {
		scene(seed, pixels);
		if (glGetError() != GL_NO_ERROR)
			gl_fail("seed %u has a GL error", seed);
		if (fwrite(pixels, sizeof(pixels), 1, f) != 1)
			gl_fail("%s cannot be written", path);
	}
	if (!f || fclose(f))
		gl_fail("%s cannot be written", path);
	return gl_close();
}

static long allocated(void)
{
	const struct mallinfo2 info = mallinfo2();

	return (long)(info.uordblks + info.hblkhd);
}

/* Scene number @n of those with and without geometry shaders in turn, twice. */
static void again(uint32_t n)
{
	const uint32_t seed = n % 2 ? n : STAGED + n;
	static uint8_t pixels[2][SIZE * SIZE * 4];

	scene(seed, pixels[0]);
	scene(seed, pixels[1]);
	if (glGetError() != GL_NO_ERROR)
		gl_fail("seed %u has a GL error", seed);
	if (memcmp(pixels[0], pixels[1], sizeof(pixels[0])))
		gl_fail("seed %u: another picture the second time", seed);
}

int main(int argc, char **argv)
{
	const char *given = getenv("TSR_FUZZ_SECONDS");
	const time_t end = time(NULL) + (given ? atoi(given) : 20);
	long before, after;
	uint32_t seed;

	gl_open(3, 1);
	if (argc == 4)
		return to_file((uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]), argv[3]);
	gl_case("scenes by chance are the same when they are drawn again");
	for (seed = 1; seed <= ROUND || time(NULL) < end; seed++)
		again(seed);
	gl_case("scenes that were drawn before leave nothing");
	before = allocated();
	for (uint32_t i = 1; i <= ROUND; i++)
		again(i);
	after = allocated();
	printf("# %u scenes, %ld KiB before, %ld KiB after\n", seed - 1, before >> 10, after >> 10);
	if (after - before > SLACK)
		gl_fail("%ld KiB are lost", (after - before) >> 10);
	return gl_close();
}
