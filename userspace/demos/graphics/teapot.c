// SPDX-License-Identifier: MIT
/*
 * Three teapots of bicubic patches, which the tessellator divides the more the nearer they are. A
 * hull shader passes control points on and says how much; a domain shader computes places and
 * normals of surfaces. Checked: where the CPU's points of the surfaces are seen, the picture has
 * their colors.
 *
 * The teapot is Martin Newell's, of 1975: its numbers are free for all.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "draw.h"

#define SIDE	512
#define PATCHES	32
#define POTS	3
#define GRID	64			/* points of a patch, a side, that are compared */

DRAW_SHADER(teapot_vertex);
DRAW_SHADER(teapot_hull);
DRAW_SHADER(color);

/* ---- Patches --------------------------------------------------------------------------------- */

typedef float patch[16][4];		/* rows of four control points: v, u */

/* Profiles of round bodies: radius and height. */
static const float profiles[6][4][2] = {
	{ { 1.4f, 2.4f }, { 1.3375f, 2.53125f }, { 1.4375f, 2.53125f }, { 1.5f, 2.4f } },
	{ { 1.5f, 2.4f }, { 1.75f, 1.875f }, { 2, 1.35f }, { 2, 0.9f } },
	{ { 2, 0.9f }, { 2, 0.45f }, { 1.5f, 0.225f }, { 1.5f, 0.15f } },
	{ { 1.5f, 0.15f }, { 1.5f, 0.075f }, { 1.425f, 0 }, { 0, 0 } },
	{ { 0, 3.15f }, { 0.8f, 3.15f }, { 0, 2.85f }, { 0.2f, 2.7f } },
	{ { 0.2f, 2.7f }, { 0.4f, 2.55f }, { 1.3f, 2.55f }, { 1.3f, 2.4f } },
};

/* Handle and spout: two places in the middle plane, and the width between them. */
static const float tubes[2][7][5] = {
	{ { -1.6f, 2.025f, -1.5f, 2.25f, 0.3f }, { -2.3f, 2.025f, -2.5f, 2.25f, 0.3f },
	  { -2.7f, 2.025f, -3, 2.25f, 0.3f }, { -2.7f, 1.8f, -3, 1.8f, 0.3f },
	  { -2.7f, 1.575f, -3, 1.35f, 0.3f }, { -2.5f, 1.125f, -2.65f, 0.9375f, 0.3f },
	  { -2, 0.9f, -1.9f, 0.6f, 0.3f } },
	{ { 1.7f, 1.425f, 1.7f, 0.6f, 0.66f }, { 2.6f, 1.425f, 3.1f, 0.825f, 0.66f },
	  { 2.3f, 2.1f, 2.4f, 2.025f, 0.25f }, { 2.7f, 2.4f, 3.3f, 2.4f, 0.25f },
	  { 2.8f, 2.475f, 3.525f, 2.49375f, 0.25f }, { 2.9f, 2.475f, 3.45f, 2.5125f, 0.15f },
	  { 2.8f, 2.4f, 3.2f, 2.4f, 0.15f } },
};

/* Height is y here, and half of it above the origin. */
static void put(float to[4], float x, float y, float height)
{
	to[0] = x;
	to[1] = height - 1.575f;
	to[2] = y;
	to[3] = 1;
}

/* A quarter of a round body; @turn quarters on. */
static void quarter(patch p, const float profile[4][2], unsigned int turn)
{
	static const float arc[4][2] = { { 1, 0 }, { 1, 0.56f }, { 0.56f, 1 }, { 0, 1 } };

	for (unsigned int i = 0; i < 16; i++) {
		const float r = profile[i / 4][0];
		float x = r * arc[i % 4][0], y = r * arc[i % 4][1], was;

		for (unsigned int k = 0; k < turn; k++) {
			was = x;
			x = -y;
			y = was;
		}
		put(p[i], x, y, profile[i / 4][1]);
	}
}

/* A side of a part of a tube. */
static void half(patch p, const float tube[4][5], float side)
{
	for (unsigned int i = 0; i < 16; i++) {
		const float *t = tube[i / 4];
		const unsigned int column = i % 4;

		put(p[i], column < 2 ? t[0] : t[2], column % 3 ? side * t[4] : 0,
		    column < 2 ? t[1] : t[3]);
	}
}

static void teapot(patch p[PATCHES])
{
	for (unsigned int i = 0; i < 24; i++)
		quarter(p[i], profiles[i / 4], i % 4);
	for (unsigned int i = 0; i < 8; i++)
		half(p[24 + i], &tubes[i / 4][i % 2 * 3], i / 2 % 2 ? 1 : -1);
}

/* ---- The domain shader ----------------------------------------------------------------------- */

struct text {
	char bytes[32768];
	size_t length;
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *t, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	t->length += (size_t)vsnprintf(t->bytes + t->length, sizeof(t->bytes) - t->length, format,
				       arguments);
	va_end(arguments);
}


/*
 * R@b to R@b + 3: Bernstein's polynomials of register @t; R@d to R@d + 3: a third of their
 * derivatives. R48 to R51 are lost.
 */
static void basis(struct text *t, const char *at, unsigned int b, unsigned int d)
{
	add(t, "clause {\n*FADD.f32 r48, %s.neg, 0x3f800000\n+NOP\n*NOP\n+NOP\n"
	    "*FMA.f32 r49, r48, r48, #0.neg\n+NOP\n*FMA.f32 r50, %s, %s, #0.neg\n+NOP\n"
	    "*FMA.f32 r51, r48, %s, #0.neg\n+NOP\n*NOP\n+NOP\n}\n", at, at, at, at);
	add(t, "clause {\n*FMA.f32 r%u, r49, r48, #0.neg\n+NOP\n"
	    "*FMA.f32 r%u, r50, %s, #0.neg\n+NOP\n"
	    "*FMA.f32 r%u, r51, r48, #0.neg\n+NOP\n*FMA.f32 r%u, r51, %s, #0.neg\n+NOP\n"
	    "*FMA.f32 r%u, r51, 0xc0000000, r49\n+NOP\n"
	    "*FMA.f32 r%u, r51, 0x40000000, r50.neg\n+NOP\n}\n",
	    b, b + 3, at, b + 1, b + 2, at, d + 1, d + 2);
	add(t, "clause {\n*FMA.f32 r%u, r%u, 0x40400000, #0.neg\n+NOP\n"
	    "*FMA.f32 r%u, r%u, 0x40400000, #0.neg\n+NOP\n"
	    "*FADD.f32 r%u, r49.neg, #0.neg\n+NOP\n*MOV.i32 r%u, r50\n+NOP\n}\n",
	    b + 1, b + 1, b + 2, b + 2, d, d + 3);
}

/* Control point @i: its part of the place R16, and of both tangents R20 and R24. */
static void control_point(struct text *t, unsigned int i)
{
	const unsigned int u = i % 4, v = i / 4;

	add(t, "clause {\n*MOV.i32 r14, 0x%x\n+NOP\n}\n"
	    "clause wait=0 {\n*NOP\n+LOAD.i128 r14, r15, @r8\n}\n", 1024 * i + 0x70);
	add(t, "clause wait=0 {\n*FMA.f32 r28, r%u, r%u, #0.neg\n+NOP\n"
	    "*FMA.f32 r29, r%u, r%u, #0.neg\n+NOP\n*FMA.f32 r30, r%u, r%u, #0.neg\n+NOP\n",
	    32 + u, 40 + v, 36 + u, 40 + v, 32 + u, 44 + v);
	for (unsigned int k = 0; k < 3; k++)
		add(t, "*FMA.f32 r%u, r28, r%u, r%u\n+NOP\n", 16 + k, 8 + k, 16 + k);
	add(t, "}\nclause {\n");
	for (unsigned int k = 0; k < 6; k++)
		add(t, "*FMA.f32 r%u, r%u, r%u, r%u\n+NOP\n", 20 + 4 * (k / 3) + k % 3,
		    29 + k / 3, 8 + k % 3, 20 + 4 * (k / 3) + k % 3);
	add(t, "}\n");
}

/* R28 to R30: the normal. R4 to R7: push constants 16 to 19, times the visible light. */
static void light(struct text *t)
{
	add(t, "clause {\n");
	for (unsigned int k = 0; k < 3; k++)
		add(t, "*FMA.f32 r%u, r%u, r%u, #0.neg\n+NOP\n", 28 + k, 20 + (k + 2) % 3,
		    24 + (k + 1) % 3);
	for (unsigned int k = 0; k < 3; k++)
		add(t, "*FMA.f32 r%u, r%u, r%u, r%u.neg\n+NOP\n", 28 + k, 20 + (k + 1) % 3,
		    24 + (k + 2) % 3, 28 + k);
	/* where all of a patch's side is one point there is none: then it goes up */
	add(t, "*NOP\n+FADD.f32 r29, r29, 0x358637bd\n}\n");
	add(t, "clause {\n*FMA.f32 r10, r28, r28, #0.neg\n+NOP\n*FMA.f32 r8, r28, u8.w0, #0.neg\n"
	    "+NOP\n*FMA.f32 r10, r29, r29, r10\n+NOP\n*FMA.f32 r8, r29, u8.w1, r8\n+NOP\n"
	    "*FMA.f32 r10, r30, r30, r10\n+NOP\n*FMA.f32 r8, r30, u9.w0, r8\n+NOP\n"
	    "*NOP\n+FRSQ.f32 r9, r10\n*NOP\n+NOP\n}\n");
	add(t, "clause {\n*FMA.f32 r8, r8, r9, #0.neg\n+NOP\n*NOP\n+NOP\n"
	    "*NOP\n+FMAX.f32 r8, r8, r8.neg\n*NOP\n+NOP\n"
	    "*FMA.f32 r8, r8, 0x3f4ccccd, 0x3e4ccccd\n+NOP\n*MOV.i32 r7, 0x3f800000\n+NOP\n}\n"
	    "clause {\n*FMA.f32 r4, r8, 0x3f666666, #0.neg\n+NOP\n"
	    "*FMA.f32 r5, r8, 0x3f19999a, #0.neg\n+NOP\n"
	    "*FMA.f32 r6, r8, 0x3e99999a, #0.neg\n+NOP\n}\n");
}

/* R0 to R3: the matrix in push constants 0 to 15 times the position. */
static void project(struct text *t)
{
	for (unsigned int c = 0; c < 4; c++) {
		const unsigned int column = (c + 3) % 4;

		add(t, "clause {\n");
		for (unsigned int k = 0; k < 4 && !c; k++)
			add(t, "*MOV.i32 r%u, u%u.w%u\n+NOP\n", k, 2 * column + k / 2, k % 2);
		for (unsigned int k = 0; k < 4 && c; k++)
			add(t, "*FMA.f32 r%u, r%u, u%u.w%u, r%u\n+NOP\n", k, 16 + column,
			    2 * column + k / 2, k % 2, k);
		add(t, "}\n");
	}
}

static struct tsr_shader *domain(struct draw *draw)
{
	static struct text t;

	t.length = 0;
	basis(&t, "r60", 32, 36);
	basis(&t, "r61", 40, 44);
	add(&t, "clause {\n");
	for (unsigned int k = 0; k < 7; k++)
		add(&t, "*MOV.i32 r%u, 0x%x\n+NOP\n", k < 6 ? 16 + 4 * (k / 2) + k % 2 : 15,
		    k < 6 ? 0 : 0x50000000);
	add(&t, "}\nclause {\n*MOV.i32 r18, 0\n+NOP\n*MOV.i32 r22, 0\n+NOP\n"
	    "*MOV.i32 r26, 0\n+NOP\n}\n");
	for (unsigned int i = 0; i < 16; i++)
		control_point(&t, i);
	light(&t);
	project(&t);
	add(&t, "clause wait=0 {\n*NOP\n+AST.v4 r61, r62, 0x870, @r0\n}\n"
	    "clause wait=0 {\n*NOP\n+AST.v4 r61, r62, 0x880, @r4\n}\n"
	    "clause end wait=0 {\n*NOP\n+NOP\n}\n");
	return draw_program(draw, "teapot domain", t.bytes, t.bytes + t.length);
}

/* ---- The CPU's teapots ----------------------------------------------------------------------- */

/* Push constants of the shaders. */
struct push {
	struct matrix matrix;
	float light[4];
	float factor;
};

/* Value and a third of the derivative of the cubic with weights at @t. */
static void weights(float t, float b[4], float d[4])
{
	const float a = 1 - t;

	b[0] = a * a * a, b[1] = 3 * a * a * t, b[2] = 3 * a * t * t, b[3] = t * t * t;
	d[0] = -a * a, d[1] = a * a - 2 * a * t, d[2] = 2 * a * t - t * t, d[3] = t * t;
}

/* The place of (u, v) of a patch, and how light it is. */
static float surface(const patch p, float u, float v, const float to_light[3], float place[3])
{
	float at_u[4], by_u[4], at_v[4], by_v[4], along[3] = { 0 }, across[3] = { 0 }, normal[3];
	float lit = 0;

	weights(u, at_u, by_u);
	weights(v, at_v, by_v);
	place[0] = place[1] = place[2] = 0;
	for (unsigned int i = 0; i < 16; i++)
		for (unsigned int k = 0; k < 3; k++) {
			place[k] += at_u[i % 4] * at_v[i / 4] * p[i][k];
			along[k] += by_u[i % 4] * at_v[i / 4] * p[i][k];
			across[k] += at_u[i % 4] * by_v[i / 4] * p[i][k];
		}
	vector_cross(along, across, normal);
	normal[1] += 1e-6f;
	vector_normalise(normal);
	for (unsigned int k = 0; k < 3; k++)
		lit += normal[k] * to_light[k];
	return 0.2f + 0.8f * fabsf(lit);
}

struct seen {
	float far, lit;			/* lit 0: nothing */
};

static struct seen seen[SIDE][SIDE];

/* Keep the nearest point of each pixel. */
static void look(const patch p, const struct push *push)
{
	for (unsigned int n = 0; n < GRID * GRID; n++) {
		const float u = ((float)(n % GRID) + 0.5f) / GRID, v = ((float)(n / GRID) + 0.5f) /
								       GRID;
		float place[3], clip[4], lit = surface(p, u, v, push->light, place);
		struct seen *to;

		matrix_apply(&push->matrix, place, clip);
		to = &seen[(int)((0.5f - 0.5f * clip[1] / clip[3]) * SIDE)]
			  [(int)((0.5f + 0.5f * clip[0] / clip[3]) * SIDE)];
		if (to->lit == 0 || to->far > clip[3])
			*to = (struct seen){ clip[3], lit };
	}
}

/* True if something is clearly in front of a point, which has been seen between others. */
static bool hidden(uint32_t x, uint32_t y)
{
	for (uint32_t n = 0; n < 49; n++) {
		const struct seen *s = &seen[(y + n / 7 - 3) % SIDE][(x + n % 7 - 3) % SIDE];

		if (s->lit != 0 && s->far < seen[y][x].far - 0.25f)
			return true;
	}
	return false;
}

/* Most points that the CPU has seen are as light: between them are edges. */
static int check(struct draw *draw)
{
	unsigned int all = 0, near = 0;

	for (uint32_t y = 0; y < SIDE; y++)
		for (uint32_t x = 0; x < SIDE; x++) {
			const float lit = seen[y][x].lit;
			const uint8_t want[4] = { (uint8_t)(lit * 229.5f), (uint8_t)(lit * 153),
						  (uint8_t)(lit * 76.5f), 255 };

			if (lit == 0 || hidden(x, y))
				continue;
			all++;
			near += draw_near(draw_at(draw, x, y), want, 16);
		}
	if (all < SIDE * SIDE / 16 || near < all - all / 8)
		return draw_fail(draw, "of %u points of the teapots %u are as they should be", all,
				 near);
	return 0;
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static struct tsr_gfx_pipeline *pipeline(struct draw *draw)
{
	static const struct tsr_gfx_attribute attribute = { .format = TSR_PIXEL_FORMAT_RGBA32F };
	static const struct tsr_gfx_vertex_buffer buffer = { .stride = 16 };
	static const struct tsr_gfx_varying varying = { .format = TSR_PIXEL_FORMAT_RGBA32F };
	static const struct tsr_gfx_blend blend = { .mask = 0xf,
						    .registers = TSR_REGISTER_TYPE_F32 };
	const uint64_t position = 0xfull << 0x70 / 4, color = 0xfull << 0x80 / 4;
	const struct tsr_gfx_stages stages = {
		.vertex = { .reads[0] = color, .writes[0] = position },
		.hull = { .shader = DRAW_PROGRAM(draw, teapot_hull), .reads[0] = position,
			  .writes[0] = position },
		.domain = { .shader = domain(draw), .reads[0] = position,
			    .writes[0] = position | color },
		.patch_points = 16, .control_points = 16, .shape = TSR_PATCH_SHAPE_QUAD,
		.partitioning = TSR_PATCH_PARTITIONING_FRACTIONAL_EVEN,
		.primitives = TSR_PATCH_PRIMITIVES_TRIANGLES,
	};
	const struct tsr_gfx_pipeline_info info = {
		.vertex = DRAW_PROGRAM(draw, teapot_vertex), .fragment = DRAW_PROGRAM(draw, color),
		.attributes = &attribute, .attribute_count = 1, .buffers = &buffer,
		.buffer_count = 1, .varyings = &varying, .varying_count = 1,
		.topology = TSR_TOPOLOGY_PATCHES, .blends = &blend, .blend_count = 1,
		.depth = { .test = true, .write = true, .function = TSR_COMPARE_FUNCTION_LESS },
		.stages = &stages,
	};

	return draw->error[0] ? NULL : draw_pipeline(draw, &info);
}

/* Where teapot @n stands, and by how much it is divided. */
static struct push push_of(unsigned int n)
{
	static const float eye[3] = { 0, 4, 9 }, at[3] = { 0.3f, 0, 0 };
	static const float place[POTS][3] = { { -1.2f, -0.6f, 2.5f }, { 3.3f, 0, -4 },
					      { -4, 0.5f, -12 } };
	const float *p = place[n], d[3] = { p[0] - eye[0], p[1] - eye[1], p[2] - eye[2] };
	struct push push = { .light = { -0.4f, 0.7f, 0.6f } };

	push.matrix = matrix_multiply(matrix_camera(eye, at, 1),
				      matrix_multiply(matrix_move(p[0], p[1], p[2]),
						      matrix_turn(0.5f * (float)n - 0.4f, 1)));
	push.factor = 96 / sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
	vector_normalise(push.light);
	return push;
}

/* Draw teapots, and have the CPU look at them. */
static int draw_pots(struct draw *draw, struct tsr_gfx_pass *pass, patch p[PATCHES])
{
	const uint64_t size = PATCHES * sizeof(patch), va = draw_data(draw, p, size);
	struct tsr_gfx_pipeline *all = pipeline(draw);
	const struct tsr_gfx_draw patches = { .count = 16 * PATCHES };

	if (draw->error[0])
		return -1;
	tsr_gfx_set_pipeline(pass, all);
	tsr_gfx_set_vertices(pass, 0, va, size);
	for (unsigned int n = 0; n < POTS; n++) {
		const struct push push = push_of(n);

		tsr_gfx_set_push(pass, TSR_GFX_STAGE_VERTEX, 0, sizeof(push) / 4, &push);
		if (draw_library(draw, tsr_gfx_draw(pass, &patches)))
			return -1;
		for (unsigned int i = 0; i < PATCHES; i++)
			look(p[i], &push);
	}
	return 0;
}

static int run(struct draw *draw)
{
	struct tsr_image *image = draw_target(draw, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, SIDE, 1);
	struct tsr_image *depth = draw_target(draw, TSR_PIXEL_FORMAT_Z24X8_UNORM, SIDE, SIDE, 1);
	const struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR,
			      .clear.f = { 0.05f, 0.07f, 0.1f, 1 } },
		.depth = { .image = depth, .load = TSR_GFX_LOAD_CLEAR, .clear.f[0] = 1 },
	};
	struct tsr_gfx_pass *pass = draw_begin(draw, &info);
	patch p[PATCHES];

	memset(seen, 0, sizeof(seen));
	teapot(p);
	if (draw->error[0] || draw_pots(draw, pass, p) || draw_finish(draw, pass) ||
	    draw_picture(draw, image))
		return -1;
	return check(draw);
}

const struct draw_kind draw_teapot = { "teapot", "three teapots of patches, divided by distance",
				       run };
