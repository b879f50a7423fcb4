/* SPDX-License-Identifier: MIT */
#include "soup.h"

uint64_t soup_below(struct soup *s, uint64_t n)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (s->random >> 11) % n;
}

int64_t soup_between(struct soup *s, int64_t low, int64_t high)
{
	return low + (int64_t)soup_below(s, (uint64_t)(high - low) + 1);
}

double soup_fraction(struct soup *s)
{
	return (double)soup_below(s, 1ull << 53) * 0x1p-53;
}

/* ---- Triangles ------------------------------------------------------------------------------- */

/* The guard band is 32768 pixels to each side. */
#define FAR (32768 * (int64_t)RASTER_ONE - 1)

static struct raster_point anywhere(struct soup *s, int64_t width, int64_t height)
{
	return (struct raster_point){
		soup_between(s, -width * RASTER_ONE / 4, width * RASTER_ONE * 5 / 4),
		soup_between(s, -height * RASTER_ONE / 4, height * RASTER_ONE * 5 / 4),
	};
}

static struct raster_point near(struct soup *s, struct raster_point p, int64_t by)
{
	return (struct raster_point){ p.x + soup_between(s, -by, by),
				      p.y + soup_between(s, -by, by) };
}

static void sliver(struct soup *s, struct raster_point v[3])
{
	int64_t t = soup_between(s, 0, 64);

	v[2].x = v[0].x + (v[1].x - v[0].x) * t / 64;
	v[2].y = v[0].y + (v[1].y - v[0].y) * t / 64;
	v[2] = near(s, v[2], RASTER_ONE / 2);
}

static void without_area(struct soup *s, struct raster_point v[3])
{
	int64_t dx = (v[1].x - v[0].x) / 4, dy = (v[1].y - v[0].y) / 4;
	int64_t t = soup_between(s, 0, 6);

	v[1] = (struct raster_point){ v[0].x + 4 * dx, v[0].y + 4 * dy };
	v[2] = (struct raster_point){ v[0].x + t * dx, v[0].y + t * dy };
}

void soup_triangle(struct soup *s, enum soup_kind kind, unsigned int width, unsigned int height,
		   struct raster_point v[3])
{
	static const int64_t reach[SOUP_KINDS] = {
		[SOUP_SMALL] = 6 * RASTER_ONE, [SOUP_TINY] = RASTER_ONE * 3 / 4,
	};
	unsigned int first = (unsigned int)soup_below(s, 3);
	struct raster_point t;

	for (unsigned int i = 0; i < 3; i++) {
		v[i] = anywhere(s, width, height);
		if (i && reach[kind])
			v[i] = near(s, v[0], reach[kind]);
		if (kind == SOUP_HUGE)
			v[i] = (struct raster_point){ soup_between(s, -FAR, FAR),
						      soup_between(s, -FAR, FAR) };
		if (kind == SOUP_GRID || kind == SOUP_AXIS) {
			v[i].x = v[i].x / 128 * 128;
			v[i].y = v[i].y / 128 * 128;
		}
	}
	if (kind == SOUP_HUGE && soup_below(s, 2))	/* a corner in the picture */
		v[2] = anywhere(s, width, height);
	if (kind == SOUP_SLIVER)
		sliver(s, v);
	if (kind == SOUP_NO_AREA)
		without_area(s, v);
	if (kind == SOUP_AXIS) {
		v[1].y = v[0].y;
		v[2].x = v[soup_below(s, 2)].x;
	}
	t = v[0];
	v[0] = v[first];
	v[first] = t;
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

void soup_mesh(struct soup *s, struct soup_mesh *m, unsigned int columns, unsigned int rows,
	       unsigned int width, unsigned int height)
{
	int64_t w = (int64_t)width * RASTER_ONE / columns, h = (int64_t)height * RASTER_ONE / rows;

	m->columns = columns;
	m->rows = rows;
	for (unsigned int y = 0; y <= rows; y++) {
		for (unsigned int x = 0; x <= columns; x++) {
			struct raster_point *p = &m->at[y][x];

			/* by less than a quarter: fields stay convex enough for both diagonals */
			*p = (struct raster_point){ x * w, y * h };
			if (x == columns)
				p->x = (int64_t)width * RASTER_ONE;
			if (y == rows)
				p->y = (int64_t)height * RASTER_ONE;
			if (x && x < columns)
				p->x += soup_between(s, -w / 5, w / 5);
			if (y && y < rows)
				p->y += soup_between(s, -h / 5, h / 5);
		}
	}
	for (unsigned int i = 0; i < rows * columns; i++)
		m->turn[i / columns][i % columns] = (uint8_t)soup_below(s, 8);
}

void soup_mesh_triangle(const struct soup_mesh *m, unsigned int n, struct raster_point v[3])
{
	unsigned int x = n / 2 % m->columns, y = n / 2 / m->columns, turn = m->turn[y][x];
	/* the field's corners, clockwise, from one end of its diagonal on */
	const struct raster_point c[4] = { m->at[y][x], m->at[y][x + 1], m->at[y + 1][x + 1],
					   m->at[y + 1][x] };
	unsigned int from = (turn & 1) + 2 * (n % 2), back = turn >> (1 + n % 2) & 1;

	v[0] = c[from % 4];
	v[1] = c[(from + (back ? 2 : 1)) % 4];
	v[2] = c[(from + (back ? 1 : 2)) % 4];
}

/* ---- Clip space ------------------------------------------------------------------------------ */

static float between(struct soup *s, double low, double high)
{
	return (float)(low + (high - low) * soup_fraction(s));
}

/* A corner inside, or beyond @plane. */
static void corner(struct soup *s, enum soup_plane plane, bool beyond, float v[4])
{
	float w = between(s, 0.05, 10), out = between(s, 1.001, 4);

	v[0] = w * between(s, -1.2, 1.2);
	v[1] = w * between(s, -1.2, 1.2);
	v[2] = w * between(s, 0.01, 0.99);
	v[3] = w;
	if (!beyond)
		return;
	switch (plane) {
	case SOUP_LEFT:
	case SOUP_RIGHT:
		v[0] = plane == SOUP_LEFT ? -w * out : w * out;
		break;
	case SOUP_BOTTOM:
	case SOUP_TOP:
		v[1] = plane == SOUP_BOTTOM ? -w * out : w * out;
		break;
	case SOUP_NEAR:
		v[2] = -w * between(s, 0.001, 2);
		break;
	case SOUP_FAR:
		v[2] = w * out;
		break;
	default:	/* behind the eye: in front of the near plane as well */
		v[3] = -w;
		v[2] = -w * between(s, 0.001, 2);
	}
}

void soup_clipped(struct soup *s, enum soup_plane plane, float v[3][4])
{
	unsigned int beyond = (unsigned int)soup_between(s, 1, 6);	/* not none, not all */

	for (unsigned int i = 0; i < 3; i++)
		corner(s, plane, beyond >> i & 1, v[i]);
}
