// SPDX-License-Identifier: MIT
/* The scenes' data, see glscene.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glscene.h"

#define PI	3.14159265358979f
#define GRID	512u
#define PIXELS	((double)GLSCENE_SIDE * GLSCENE_SIDE)

const char *const glscene_names[] = {
	"fill_flat", "fill_flat_x8", "fill_vary", "depth_f2b", "depth_b2f", "blend_x8",
	"tex_bilinear", "tex_trilinear", "alu_fs", "mandelbrot", "tri_small", "vtx_culled",
	"vtx_offscreen", "msaa4_vary", "msaa4_tris", "inst_cubes", "draw_rate", "mix_cubes",
	"clear_color", "clear_all", "upload", NULL
};

struct matrix {
	float m[16];			/* columns */
};

static void *room(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		abort();
	return p;
}

static struct matrix multiply(struct matrix a, struct matrix b)
{
	struct matrix r = { { 0 } };

	for (int c = 0; c < 4; c++)
		for (int i = 0; i < 4; i++)
			for (int k = 0; k < 4; k++)
				r.m[4 * c + i] += a.m[4 * k + i] * b.m[4 * c + k];
	return r;
}

static struct matrix scale(float x, float y, float z)
{
	return (struct matrix){ { [0] = x, [5] = y, [10] = z, [15] = 1 } };
}

static struct matrix move(float x, float y, float z)
{
	return (struct matrix){ { [0] = 1, [5] = 1, [10] = 1, [12] = x, [13] = y, [14] = z,
				  [15] = 1 } };
}

static struct matrix turn_y(float a)
{
	return (struct matrix){ { [0] = cosf(a), [2] = -sinf(a), [5] = 1, [8] = sinf(a),
				  [10] = cosf(a), [15] = 1 } };
}

static void normalise(float v[3])
{
	float l = 1 / sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);

	for (int i = 0; i < 3; i++)
		v[i] *= l;
}

/* 60 degrees high, from @x, @y, @z towards the origin, up is +y, 0.1 to 10. */
static struct matrix camera(float x, float y, float z)
{
	const float t = 1 / tanf(PI / 6), n = 0.1f, f = 10;
	struct matrix look, view = { { [0] = t, [5] = t, [10] = (f + n) / (n - f), [11] = -1,
				       [14] = 2 * f * n / (n - f) } };
	float d[3] = { -x, -y, -z }, s[3], u[3];

	normalise(d);
	s[0] = -d[2], s[1] = 0, s[2] = d[0];
	normalise(s);
	u[0] = s[1] * d[2] - s[2] * d[1];
	u[1] = s[2] * d[0] - s[0] * d[2];
	u[2] = s[0] * d[1] - s[1] * d[0];
	look = (struct matrix){ { s[0], u[0], -d[0], 0, s[1], u[1], -d[1], 0, s[2], u[2], -d[2], 0,
				  0, 0, 0, 1 } };
	return multiply(view, multiply(look, move(-x, -y, -z)));
}

static void set(struct glscene *s, unsigned int n, const char *name, const float *value,
		unsigned int count)
{
	s->uniform[n].name = name;
	s->uniform[n].count = count;
	memcpy(s->uniform[n].value, value, count * sizeof(*value));
}

/* Vertices from @data, attributes @widths floats wide, up to a 0. */
static void vertices(struct glscene *s, const float *data, size_t bytes,
		     const unsigned int *widths)
{
	s->vertices = room(bytes);
	memcpy(s->vertices, data, bytes);
	s->vertex_bytes = bytes;
	while (widths[s->attributes]) {
		s->widths[s->attributes] = widths[s->attributes];
		s->attributes++;
	}
	s->first_instanced = s->attributes;
}

static const float full[] = { -1, -1, 0, 1, 3, -1, 0, 1, -1, 3, 0, 1 };

static void screen(struct glscene *s, unsigned int times)
{
	float v[8 * 12];

	for (unsigned int i = 0; i < times; i++)
		memcpy(v + 12 * i, full, sizeof(full));
	vertices(s, v, times * sizeof(full), (const unsigned int[]){ 4, 0 });
	s->count = 3 * times;
	s->units = times * PIXELS;
}

static void vary(struct glscene *s)
{
	static const float v[] = {
		-1, -1, 0, 1, 1, 0, 0, 1,
		6, -2, 0, 2, 0, 1, 0, 1,
		-4, 12, 0, 4, 0, 0, 1, 1,
	};

	vertices(s, v, sizeof(v), (const unsigned int[]){ 4, 4, 0 });
	s->count = 3;
	s->units = PIXELS;
}

/* Eight layers, front to back or the other way round. */
static void layers(struct glscene *s, bool reverse, float alpha)
{
	float v[8 * 3 * 8], *p = v;

	for (int i = 0; i < 8; i++) {
		int k = reverse ? 7 - i : i;

		for (int j = 0; j < 3; j++, p += 8) {
			p[0] = full[4 * j];
			p[1] = full[4 * j + 1];
			p[2] = -0.8f + 0.2f * (float)k;
			p[3] = 1;
			p[4] = (float)k / 7;
			p[5] = 1 - (float)k / 7;
			p[6] = 0.5f;
			p[7] = alpha;
		}
	}
	vertices(s, v, sizeof(v), (const unsigned int[]){ 4, 4, 0 });
	s->count = 24;
	s->units = 8 * PIXELS;
	s->clears = true;
	s->clear[3] = 1;
}

void glscene_mip(uint8_t *t, unsigned int side)
{
	unsigned int n = side / 2, x, y, c;

	for (y = 0; y < n; y++)
		for (x = 0; x < n; x++)
			for (c = 0; c < 4; c++) {
				const uint8_t *from = t + 4 * (2 * y * side + 2 * x) + c;

				t[4 * (y * n + x) + c] = (uint8_t)
					((from[0] + from[4] + from[4 * side] + from[4 * side + 4] +
					  2) >> 2);
			}
}

static void texture(struct glscene *s, unsigned int side, bool mips)
{
	uint8_t *p = s->texels = room(4 * side * side);

	for (unsigned int y = 0; y < side; y++)
		for (unsigned int x = 0; x < side; x++, p += 4) {
			p[0] = (uint8_t)(x * 256 / side);
			p[1] = (uint8_t)(y * 256 / side);
			p[2] = (uint8_t)(x ^ y);
			p[3] = 255;
		}
	s->texture_side = side;
	s->mips = mips;
}

static void textured(struct glscene *s, bool mips)
{
	const float k = (float)GLSCENE_SIDE / 512 * (mips ? 1.41421356f : 1);
	const float o = mips ? 0 : 0.25f / 512;
	const float v[] = {
		-1, -1, 0, 1, o, o, 3, -1, 0, 1, o + 2 * k, o, -1, 3, 0, 1, o, o + 2 * k,
	};

	vertices(s, v, sizeof(v), (const unsigned int[]){ 4, 2, 0 });
	texture(s, 512, mips);
	s->count = 3;
	s->units = PIXELS;
}

static void grid(struct glscene *s, struct matrix m)
{
	const unsigned int wide = GRID + 1;
	float *v = room(wide * wide * 12), *p = v;
	uint32_t *q = s->indices = room(GRID * GRID * 24);

	for (unsigned int j = 0; j < wide; j++)
		for (unsigned int i = 0; i < wide; i++, p += 3) {
			p[0] = -1 + 2.0f * (float)i / GRID;
			p[1] = -1 + 2.0f * (float)j / GRID;
			p[2] = 0.25f * sinf(8 * p[0]) * cosf(8 * p[1]);
		}
	for (unsigned int j = 0; j < GRID; j++)
		for (unsigned int i = 0; i < GRID; i++, q += 6) {
			uint32_t a = j * wide + i, c = a + wide;
			const uint32_t six[6] = { a, a + 1, c + 1, a, c + 1, c };

			memcpy(q, six, sizeof(six));
		}
	vertices(s, v, wide * wide * 12, (const unsigned int[]){ 3, 0 });
	free(v);
	set(s, 0, "mvp", m.m, 16);
	s->index_bytes = GRID * GRID * 24;
	s->index_size = 4;
	s->count = 6 * GRID * GRID;
	s->units = 2 * GRID * GRID;
	s->depth = s->clears = true;
	s->clear[3] = 1;
}

static struct matrix grid_matrix(void)
{
	const float a = 3 * PI / 180;
	const struct matrix turn = { { cosf(a), sinf(a), 0, 0, -sinf(a), cosf(a), 0, 0,
				       0, 0, 1, 0, 0, 0, 0, 1 } };

	return multiply(turn, scale(0.95f, 0.95f, 0.95f));
}

/* A corner of a cube's face: position, normal, texture coordinates. */
static void corner(unsigned int face, unsigned int n, float *p)
{
	const unsigned int a = face / 2, b = (a + 1) % 3, c = (a + 2) % 3;
	const float s = face % 2 ? -1 : 1;
	const float u = n == 1 || n == 2 ? 1 : -1, v = n >= 2 ? 1 : -1;

	p[a] = s;
	p[b] = u * s;
	p[c] = v;
	p[3 + a] = s;
	p[3 + b] = p[3 + c] = 0;
	p[6] = 0.5f + 0.5f * u;
	p[7] = 0.5f + 0.5f * v;
}

static const unsigned int two_triangles[6] = { 0, 1, 2, 0, 2, 3 };

static void cubes_10000(struct glscene *s)
{
	const struct matrix view = camera(1.4f, 1.2f, 2.9f);
	struct matrix *m = room(10000 * sizeof(*m));
	float v[36 * 6], whole[8];

	for (unsigned int i = 0; i < 36; i++) {
		corner(i / 6, two_triangles[i % 6], whole);
		memcpy(v + 6 * i, whole, 24);
	}
	vertices(s, v, sizeof(v), (const unsigned int[]){ 3, 3, 4, 4, 4, 4, 0 });
	s->first_instanced = 2;
	for (int n = 0; n < 10000; n++)
		m[n] = multiply(move(-0.96f + 0.08f * (float)(n % 25),
				     -0.95f + 0.1f * (float)(n / 25 % 20),
				     -0.95f + 0.1f * (float)(n / 500)),
				multiply(turn_y(0.1f * (float)n), scale(0.025f, 0.025f, 0.025f)));
	s->instances = m[0].m;
	s->instance_bytes = 10000 * sizeof(*m);
	set(s, 0, "vp", view.m, 16);
	s->count = 36;
	s->instance_count = 10000;
	s->units = 10000;
	s->depth = s->cull = s->clears = true;
	s->clear[3] = 1;
}

static void next_cube(struct glscene *s, unsigned int n)
{
	memcpy(s->uniform[0].value, ((const struct matrix *)s->each_data)[n].m, 64);
}

static void cubes_1000(struct glscene *s)
{
	const float eye[3] = { 1.9f, 1.5f, 2.4f }, back[4] = { 0.1f, 0.1f, 0.2f, 1 };
	const struct matrix view = camera(eye[0], eye[1], eye[2]);
	struct matrix *m = s->each_data = room(1000 * sizeof(*m));
	float v[24 * 8], light[3] = { 0.5f, 1, 0.7f };
	uint16_t *index = s->indices = room(72);

	for (unsigned int i = 0; i < 24; i++)
		corner(i / 4, i % 4, v + 8 * i);
	for (unsigned int i = 0; i < 36; i++)
		index[i] = (uint16_t)(4 * (i / 6) + two_triangles[i % 6]);
	for (int n = 0; n < 1000; n++)
		m[n] = multiply(move(-0.9f + 0.2f * (float)(n % 10),
				     -0.9f + 0.2f * (float)(n / 10 % 10),
				     -0.9f + 0.2f * (float)(n / 100)),
				multiply(turn_y(0.1f * (float)n), scale(0.07f, 0.07f, 0.07f)));
	vertices(s, v, sizeof(v), (const unsigned int[]){ 3, 3, 2, 0 });
	normalise(light);
	set(s, 0, "m", m[0].m, 16);
	set(s, 1, "vp", view.m, 16);
	set(s, 2, "eye", eye, 3);
	set(s, 3, "light", light, 3);
	memcpy(s->clear, back, sizeof(back));
	texture(s, 256, true);
	s->index_bytes = 72;
	s->index_size = 2;
	s->count = 36;
	s->draws = 1000;
	s->each = next_cube;
	s->units = 12000;
	s->depth = s->cull = s->clears = true;
}

/* A triangle of one of them; the programs are new ones each time. */
static void new_programs(struct glscene *s)
{
	cubes_1000(s);
	s->count = 3;
	s->draws = 1;
	s->each = NULL;
	s->units = 1;
	s->links = true;
}

static void next_triangle(struct glscene *s, unsigned int n)
{
	const float x = (float)(n % 100) / 100, y = (float)(n / 100) / 100;
	const float u[4] = { x * 2 - 1, y * 2 - 1, x, y };

	memcpy(s->uniform[0].value, u, sizeof(u));
}

static void small_draws(struct glscene *s)
{
	const float k = 16.0f / GLSCENE_SIDE, v[] = { 0, 0, k, 0, 0, k };

	vertices(s, v, sizeof(v), (const unsigned int[]){ 2, 0 });
	set(s, 0, "u", v, 4);
	s->clears = true;
	s->clear[3] = 1;
	s->count = 3;
	s->draws = 10000;
	s->each = next_triangle;
	s->units = 10000;
}

static bool is(const struct glscene *s, const char *name)
{
	return !strcmp(s->name, name);
}

static void open_fragments(struct glscene *s)
{
	static const float flat[4] = { 2 / 7.0f, 0.75f, 0.5f, 1 };
	static const float half[4] = { 0.5f, 0.5f, 0.5f, 0.5f };
	static const float quarter[4] = { 0.25f, 0.25f, 0.25f, 0.25f };
	static const float step = 3.0f / GLSCENE_SIDE;

	screen(s, is(s, "fill_flat_x8") ? 8 : 1);
	if (is(s, "alu_fs")) {
		s->program = "alu_fs";
		set(s, 0, "a", half, 4);
		set(s, 1, "b", quarter, 4);
	} else if (is(s, "mandelbrot")) {
		s->program = "mandelbrot";
		set(s, 0, "s", &step, 1);
	} else {
		s->program = "fill_flat";
		set(s, 0, "u", flat, 4);
	}
}

static void open_grid(struct glscene *s)
{
	struct matrix m = grid_matrix();

	s->program = "tri_small";
	s->unit = "triangle";
	if (is(s, "vtx_culled")) {
		m = multiply(scale(-1, 1, 1), m);
		s->cull = true;
	} else if (is(s, "vtx_offscreen")) {
		m = multiply(move(3, 0, 0), m);
	}
	grid(s, m);
}

static bool open_rest(struct glscene *s)
{
	if (is(s, "inst_cubes")) {
		s->program = "inst_cubes";
		s->unit = "instance";
		cubes_10000(s);
	} else if (is(s, "mix_cubes")) {
		s->program = "mix_cubes";
		s->unit = "triangle";
		cubes_1000(s);
	} else if (is(s, "link_draw")) {
		s->program = "mix_cubes";
		s->unit = "program";
		new_programs(s);
	} else if (is(s, "draw_rate")) {
		s->program = "draw_rate";
		s->unit = "draw";
		small_draws(s);
	} else {
		return false;
	}
	return true;
}

/* Nothing but clears; or a texture that is written each frame, and 36 pixels that need it. */
static void open_transfer(struct glscene *s)
{
	const float corner = 16.0f / GLSCENE_SIDE - 1;
	const float v[] = { -1, -1, corner, -1, -1, corner };
	static const float unused[4] = { 0, 0, 0, 0 };

	if (is(s, "upload")) {
		s->program = "upload";
		s->uploads = true;
		vertices(s, v, sizeof(v), (const unsigned int[]){ 2, 0 });
		texture(s, GLSCENE_SIDE, false);
		s->count = 3;
		s->unit = "byte";
		s->units = 4.0 * PIXELS;
		return;
	}
	screen(s, 1);
	s->program = "fill_flat";
	set(s, 0, "u", unused, 4);
	s->clears = true;
	s->depth = is(s, "clear_all");
	memcpy(s->clear, (float[4]){ 3.0f / 7, 0.25f, 0.5f, 1 }, sizeof(s->clear));
	s->draws = 0;
}

static void open_layers(struct glscene *s)
{
	s->program = "fill_vary";
	s->blend = is(s, "blend_x8");
	s->depth = !s->blend;
	layers(s, is(s, "depth_b2f"), s->blend ? 0.25f : 1);
}

void glscene_open(struct glscene *s, const char *name)
{
	*s = (struct glscene){ .name = name, .unit = "pixel", .draws = 1 };
	if (!strncmp(name, "msaa4", 5))
		s->samples = 4;
	if (is(s, "fill_vary") || is(s, "msaa4_vary")) {
		s->program = "fill_vary";
		vary(s);
	} else if (is(s, "tex_bilinear") || is(s, "tex_trilinear")) {
		s->program = "tex_bilinear";
		textured(s, is(s, "tex_trilinear"));
	} else if (is(s, "depth_f2b") || is(s, "depth_b2f") || is(s, "blend_x8")) {
		open_layers(s);
	} else if (is(s, "tri_small") || is(s, "msaa4_tris") || !strncmp(name, "vtx", 3)) {
		open_grid(s);
	} else if (!strncmp(name, "clear", 5) || is(s, "upload")) {
		open_transfer(s);
	} else if (!open_rest(s)) {
		open_fragments(s);
	}
}

void glscene_close(struct glscene *s)
{
	free(s->vertices);
	free(s->instances);
	free(s->indices);
	free(s->texels);
	free(s->each_data);
}
