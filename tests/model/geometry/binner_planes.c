/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Clipping: meshes of a plane that crosses the near and far planes, the plane w = 0 and the guard
 * band cover each pixel once, where the plane is to be seen and nowhere else; what is kept is kept
 * bit for bit; weights name the corners; results of positions that are no positions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "binner.h"
#include "ktap.h"

#define SIZE 64

static uint64_t random_state = 88172645463325252ull;

static double rnd(double lo, double hi)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return lo + (hi - lo) * (double)(random_state >> 11) / (double)(1ull << 53);
}

static float table[4096][16];		/* position records by vertex id */

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	memcpy(record, table[vertex], sizeof(table[0]));
}

static struct binner *start(void)
{
	struct binner *f = binner_new(SIZE, SIZE);

	f->frame.tile_shift = 6;
	f->position = position;
	return f;
}

/* ---- A rasteriser ---------------------------------------------------------------------------- */

/* True if a sample at (@x, @y) is within the triangle by the top-left rule. */
static bool covers(const struct tsr_screen_vertex *v, int64_t x, int64_t y)
{
	int64_t area = (int64_t)(v[1].x - v[0].x) * (v[2].y - v[0].y) -
		       (int64_t)(v[2].x - v[0].x) * (v[1].y - v[0].y);
	int64_t sign = area < 0 ? -1 : 1;

	for (unsigned int i = 0; i < 3; i++) {
		const struct tsr_screen_vertex *a = &v[i], *b = &v[(i + 1) % 3];
		int64_t dx = sign * (b->x - a->x), dy = sign * (b->y - a->y);
		int64_t e = dx * (y - a->y) - dy * (x - a->x);
		bool top_left = dy < 0 || (dy == 0 && dx > 0);

		if (e < 0 || (e == 0 && !top_left))
			return false;
	}
	return true;
}

static uint8_t hits[SIZE][SIZE];

static void rasterise(struct binner *f)
{
	memset(hits, 0, sizeof(hits));
	for (uint32_t i = 0; i < f->seen_count; i++) {
		for (unsigned int y = 0; y < SIZE; y++) {
			for (unsigned int x = 0; x < SIZE; x++)
				hits[y][x] += covers(f->seen[i].prim.v, 256 * x + 128,
						     256 * y + 128);
		}
	}
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

#define GRID 12				/* the mesh is GRID by GRID squares of [0, 1]^2 */

/* Clip coordinates of the plane's point (u, v): m[0] u + m[1] v + m[2], for x, y, z, w. */
static double plane[3][4];
static double clip_distance[3];		/* a clip distance, likewise linear */

static void make_plane(double spread, double depth)
{
	for (unsigned int k = 0; k < 2; k++) {
		plane[k][0] = rnd(-spread, spread);
		plane[k][1] = rnd(-spread, spread);
		plane[k][2] = rnd(-depth, depth);
		plane[k][3] = rnd(-3, 3);
		clip_distance[k] = rnd(-2, 2);
	}
	/* somewhere in the middle it can be seen */
	for (unsigned int c = 0; c < 4; c++) {
		static const double seen[4] = { .2, -.3, .5, 1 };
		double u = rnd(.2, .8), v = rnd(.2, .8);

		plane[2][c] = seen[c] - plane[0][c] * u - plane[1][c] * v;
		clip_distance[2] = .1 - clip_distance[0] * u - clip_distance[1] * v;
	}
}

static void make_mesh(struct binner *f)
{
	uint16_t *index = (uint16_t *)f->data;

	for (unsigned int j = 0; j <= GRID; j++) {
		for (unsigned int i = 0; i <= GRID; i++) {
			bool inner = i && j && i < GRID && j < GRID;
			double u = i + (inner ? rnd(-.15, .15) : 0);
			double v = j + (inner ? rnd(-.15, .15) : 0);
			float *r = table[j * (GRID + 1) + i];

			memset(r, 0, sizeof(table[0]));
			u /= GRID;
			v /= GRID;
			for (unsigned int c = 0; c < 4; c++)
				r[c] = plane[0][c] * u + plane[1][c] * v + plane[2][c];
			r[11] = clip_distance[0] * u + clip_distance[1] * v + clip_distance[2];
		}
	}
	for (unsigned int j = 0; j < GRID; j++) {
		for (unsigned int i = 0; i < GRID; i++) {
			uint16_t a = j * (GRID + 1) + i, b = a + 1, c = a + GRID + 1, d = c + 1;
			/* both ways round, both diagonals */
			uint16_t q[2][6] = { { a, b, c, c, b, d }, { b, a, d, a, c, d } };

			memcpy(index, q[(i + j) % 2], sizeof(q[0]));
			index += 6;
		}
	}
}

static double det3(const double m[3][3])
{
	return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
	       m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
	       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

enum verdict { OUTSIDE, INSIDE, CLOSE };

/* By how far a value must be from a border to count as on one side of it. */
static enum verdict side(double value, double margin)
{
	return value > margin ? INSIDE : value < -margin ? OUTSIDE : CLOSE;
}

/*
 * Returns whether the plane's square is visible at the center of a pixel: solve x(u, v) = X w(u,
 * v), y = Y w for u and v, in homogeneous form.
 */
static enum verdict expected(unsigned int px, unsigned int py, bool clamp, bool distances)
{
	double X = (px + .5) / SIZE * 2 - 1, Y = (py + .5) / SIZE * 2 - 1, h[3], p[4], d;
	double row[2][3];
	enum verdict all = INSIDE;
	double tests[8];
	unsigned int n = 0;

	for (unsigned int k = 0; k < 3; k++) {
		row[0][k] = plane[k][0] - X * plane[k][3];
		row[1][k] = plane[k][1] - Y * plane[k][3];
	}
	h[0] = row[0][1] * row[1][2] - row[0][2] * row[1][1];
	h[1] = row[0][2] * row[1][0] - row[0][0] * row[1][2];
	h[2] = row[0][0] * row[1][1] - row[0][1] * row[1][0];
	if (fabs(h[2]) < 1e-9)
		return CLOSE;
	h[0] /= h[2];
	h[1] /= h[2];
	for (unsigned int c = 0; c < 4; c++)
		p[c] = plane[0][c] * h[0] + plane[1][c] * h[1] + plane[2][c];
	d = clip_distance[0] * h[0] + clip_distance[1] * h[1] + clip_distance[2];
	tests[n++] = h[0];
	tests[n++] = 1 - h[0];
	tests[n++] = h[1];
	tests[n++] = 1 - h[1];
	tests[n++] = p[3];
	if (!clamp) {
		tests[n++] = p[2];
		tests[n++] = p[3] - p[2];
	}
	if (distances)
		tests[n++] = d;
	for (unsigned int i = 0; i < n; i++) {
		/* near the edge-on view a pixel is a long way on the plane */
		enum verdict v = side(tests[i], .003 + .003 / fabs(h[2]));

		if (v == OUTSIDE)
			return OUTSIDE;
		if (v == CLOSE)
			all = CLOSE;
	}
	return all;
}

/* Draw a mesh of the plane and judge every pixel. Returns pixels that were judged to be inside. */
static unsigned int judge(struct binner *f, bool clamp, bool distances, unsigned int *wrong)
{
	unsigned int inside = 0;

	binner_again(f);
	f->draw.depth_clamp = clamp;
	f->shader.extended = distances;
	f->shader.clip_distances = distances ? 8 : 0;
	binner_states(f);
	make_mesh(f);
	binner_draw(f, &(struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_TRIANGLES, .index = TSR_INDEX_TYPE_U16,
		.count = 6 * GRID * GRID, .instances = 1, .indices = BINNER_DATA,
		.index_bytes = 12 * GRID * GRID });
	ktap_ok(binner_bin(f) && binner_read(f));
	rasterise(f);
	for (unsigned int y = 0; y < SIZE; y++) {
		for (unsigned int x = 0; x < SIZE; x++) {
			enum verdict v = expected(x, y, clamp, distances);

			if (hits[y][x] > 1 || (v == INSIDE && hits[y][x] != 1) ||
			    (v == OUTSIDE && hits[y][x]))
				++*wrong;
			inside += v == INSIDE;
		}
	}
	return inside;
}

static void meshes(void)
{
	struct binner *f = start();
	unsigned int inside = 0, wrong = 0, clipped = 0;
	const double unit[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };

	ktap_ok(det3(unit) == 1);
	for (unsigned int i = 0; i < 400; i++) {
		/* every other plane is seen from so near that it leaves the guard band */
		make_plane(i % 2 ? 3 : 4000, 2);
		inside += judge(f, i / 2 % 2, i / 4 % 2, &wrong);
		clipped += f->bin->stat[TSR_BIN_CLIPPED];
	}
	ktap_eq(wrong, 0);
	printf("# %u pixels inside, %u primitives clipped\n", inside, clipped);
	ktap_ok(inside > 20000);
	ktap_ok(clipped > 3000);
	binner_free(f);
}

/* ---- Corners --------------------------------------------------------------------------------- */

/* The expected corner of a piece by its weights, in pixels. w is positive. */
static void by_weights(const struct binner_seen *s, unsigned int corner, double *xyzw)
{
	for (unsigned int c = 0; c < 4; c++) {
		xyzw[c] = 0;
		for (unsigned int k = 0; k < 3; k++)
			xyzw[c] += s->prim.weight[corner][k] * (double)table[s->id[k][0]][c];
	}
}

static void random_triangles(unsigned int n, double spread)
{
	for (unsigned int i = 0; i < 3 * n; i++) {
		memset(table[i], 0, sizeof(table[0]));
		table[i][0] = rnd(-spread, spread);
		table[i][1] = rnd(-spread, spread);
		table[i][2] = rnd(-2, 2);
		table[i][3] = rnd(-1, 2);
	}
}

/* Weights add up to 1 and are the place of the corner; corners that are vertices are exact. */
static void weights(void)
{
	struct binner *f = start();
	unsigned int originals = 0, fresh = 0;

	random_triangles(1000, 2);
	binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 3000);
	ktap_ok(binner_bin(f) && binner_read(f));
	for (uint32_t i = 0; i < f->seen_count; i++) {
		const struct binner_seen *s = &f->seen[i];

		for (unsigned int k = 0; s->prim.clipped && k < 3; k++) {
			const float *w = s->prim.weight[k];
			const struct tsr_screen_vertex *v = &s->prim.v[k];
			double p[4], slack;

			by_weights(s, k, p);
			ktap_ok(fabs(w[0] + w[1] + w[2] - 1) < 1e-6);
			/* near the plane of the eye 24-bit weights do not determine the place */
			if (v->rw > 100)
				continue;
			ktap_ok(p[3] > 0);
			slack = 1.0 / 256 + 1e-4 / p[3];
			ktap_ok(fabs((p[0] / p[3] + 1) * SIZE / 2 - v->x / 256.) < slack);
			ktap_ok(fabs((p[1] / p[3] + 1) * SIZE / 2 - v->y / 256.) < slack);
			ktap_ok(fabs(p[2] / p[3] - v->z) < 1e-5 / p[3]);
			ktap_ok(fabs(v->rw * p[3] - 1) < 1e-4);
			if (w[0] != 1 && w[1] != 1 && w[2] != 1) {
				fresh++;
				continue;
			}
			originals++;
			ktap_eq(v->x, (int32_t)nearbyint((p[0] / p[3] + 1) * SIZE / 2 * 256));
			ktap_ok(v->z == (float)(p[2] / p[3]) && v->rw == (float)(1 / p[3]));
		}
	}
	ktap_ok(originals > 300 && fresh > 300);
	binner_free(f);
}

/*
 * An edge that two triangles share, named both ways round, meets the planes at the same corners,
 * though the triangles need different planes.
 */
static void shared_edges(void)
{
	struct binner *f = start();
	unsigned int pairs = 0;

	for (unsigned int i = 0; i < 1000; i++) {
		unsigned int on_edge[2] = { 0, 0 };
		struct tsr_screen_vertex corner[2][64];

		random_triangles(2, i % 2 ? 2 : 100000);
		memcpy(table[3], table[1], sizeof(table[0]));
		memcpy(table[4], table[0], sizeof(table[0]));
		binner_again(f);
		binner_states(f);
		binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 6);
		ktap_ok(binner_bin(f) && binner_read(f));
		/* corners on the edge: those without a part of the third vertex */
		for (uint32_t n = 0; n < f->seen_count; n++) {
			const struct binner_seen *s = &f->seen[n];
			unsigned int which = s->id[0][0] / 3;

			for (unsigned int k = 0; s->prim.clipped && k < 3; k++) {
				if (s->prim.weight[k][2] == 0 && on_edge[which] < 64)
					corner[which][on_edge[which]++] = s->prim.v[k];
			}
		}
		/* every corner on the screen of one on it is one of the other, if both have any */
		for (unsigned int a = 0; on_edge[1] && a < on_edge[0]; a++) {
			const struct tsr_screen_vertex *v = &corner[0][a];
			bool found = false;

			if (v->x < 256 || v->x > 256 * SIZE - 256 || v->y < 256 ||
			    v->y > 256 * SIZE - 256)
				continue;
			for (unsigned int b = 0; b < on_edge[1]; b++)
				found |= !memcmp(v, &corner[1][b], sizeof(*v));
			ktap_ok(found);
			pairs++;
		}
	}
	ktap_ok(pairs > 100);
	binner_free(f);
}

/* ---- Stated results -------------------------------------------------------------------------- */

static void set(unsigned int vertex, float x, float y, float z, float w)
{
	memset(table[vertex], 0, sizeof(table[0]));
	table[vertex][0] = x;
	table[vertex][1] = y;
	table[vertex][2] = z;
	table[vertex][3] = w;
}

/* Primitives that come of table[0], [1], [2]. */
static uint32_t draw(struct binner *f, unsigned int topology, unsigned int count)
{
	binner_again(f);
	binner_states(f);
	binner_arrays(f, topology, count);
	ktap_ok(binner_bin(f) && binner_read(f));
	return f->seen_count;
}

static uint32_t with_first(struct binner *f, float x, float y, float z, float w)
{
	set(0, x, y, z, w);
	set(1, .5, -.5, .5, 1);
	set(2, 0, .5, .5, 1);
	return draw(f, TSR_TOPOLOGY_TRIANGLES, 3);
}

static void no_positions(void)
{
	struct binner *f = start();

	ktap_eq(with_first(f, -.5, -.5, .5, 1), 1);
	for (unsigned int i = 0; i < 4; i++) {
		float p[4] = { -.5, -.5, .5, 1 };

		p[i] = NAN;
		ktap_eq(with_first(f, p[0], p[1], p[2], p[3]), 0);
		p[i] = INFINITY;
		ktap_eq(with_first(f, p[0], p[1], p[2], p[3]), 0);
		p[i] = -INFINITY;
		ktap_eq(with_first(f, p[0], p[1], p[2], p[3]), 0);
	}
	/* one corner at nowhere: what is left has no area */
	ktap_eq(with_first(f, 0, 0, 0, 0), 0);
	/* one corner with w < 0: the part before the viewer remains */
	ktap_ok(with_first(f, -.5, -.5, -1, -1) > 0);
	set(0, -.5, -.5, -.5, -1);
	set(1, .5, -.5, -.5, -1);
	set(2, 0, .5, -.5, -1);
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	for (unsigned int i = 0; i < 3; i++)
		set(i, 0, 0, 0, 0);
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	ktap_eq(draw(f, TSR_TOPOLOGY_LINES, 2), 0);
	ktap_eq(draw(f, TSR_TOPOLOGY_POINTS, 3), 0);
	/* depth: beyond near and far; clamped it is drawn; from -w on */
	set(0, -.5, -.5, 1.5, 1);
	set(1, .5, -.5, 1.5, 1);
	set(2, 0, .5, 1.5, 1);
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	f->draw.depth_clamp = true;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 1);
	ktap_ok(f->seen[0].prim.v[0].z == 1.5f);
	f->draw.depth_clamp = false;
	for (unsigned int i = 0; i < 3; i++)
		table[i][2] = -.5;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	f->draw.depth_minus_one = true;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 1);
	ktap_ok(f->seen[0].prim.v[0].z == .25f);
	binner_free(f);
}

/* Distances: one and the same must be negative at all vertices. */
static void distances(void)
{
	struct binner *f = start();

	f->shader.extended = true;
	f->shader.cull_distances = 3;
	f->shader.clip_distances = 4;
	with_first(f, -.5, -.5, .5, 1);
	for (unsigned int i = 0; i < 3; i++)
		table[i][8 + i % 2] = -1;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 1);
	ktap_ok(!f->seen[0].prim.clipped);
	for (unsigned int i = 0; i < 3; i++)
		table[i][9] = -1;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	table[1][9] = -0.0f;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 1);
	table[1][9] = NAN;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 1);
	/* a clip distance of one vertex cuts its corner off: two pieces; of all: nothing */
	table[0][10] = -1;
	table[1][10] = table[2][10] = 1;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 2);
	ktap_ok(f->seen[0].prim.clipped);
	table[1][10] = table[2][10] = -1;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	table[0][10] = table[1][10] = table[2][10] = 1;
	table[2][10] = NAN;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	/* points and lines */
	for (unsigned int i = 0; i < 3; i++)
		table[i][8] = table[i][9] = 0;
	table[2][10] = 1;
	table[0][10] = -1;
	ktap_eq(draw(f, TSR_TOPOLOGY_POINTS, 3), 2);
	ktap_eq(draw(f, TSR_TOPOLOGY_LINES, 2), 1);
	ktap_ok(f->seen[0].prim.clipped && f->seen[0].prim.weight[0][0] == .5f &&
		f->seen[0].prim.weight[1][1] == 1);
	binner_free(f);
}

/* x and y beyond the viewport, within the guard band: not clipped. Beyond that: clipped to it. */
static void guard_band(void)
{
	struct binner *f = start();
	const float reach = 2.f * TSR_GUARD_BAND / SIZE - 1;	/* window x = GUARD_BAND */

	ktap_ok(with_first(f, -reach + 1, 0, .5, 1) == 1);
	ktap_ok(!f->seen[0].prim.clipped);
	ktap_ok(with_first(f, -reach - 3, 0, .5, 1) >= 1);
	ktap_ok(f->seen[0].prim.clipped);
	for (uint32_t i = 0; i < f->seen_count; i++) {
		for (unsigned int k = 0; k < 3; k++)
			ktap_ok(f->seen[i].prim.v[k].x >= -TSR_GUARD_BAND * 256);
	}
	/* wholly on one side of the viewport, however near: rejected */
	set(0, 1.1, 0, .5, 1);
	set(1, 5, 0, .5, 1);
	set(2, 1.1, 1, .5, 1);
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	ktap_eq(f->bin->stat[TSR_BIN_CLIPPED], 0);
	binner_free(f);
}

int main(void)
{
	ktap_start();
	ktap_run("[PA1] [PA2] [PA3] clipped meshes cover each pixel that shows the plane once",
		 meshes);
	ktap_run("[PA3] [PA4] weights of corners, vertices that are kept", weights);
	ktap_run("[PA3] an edge meets the planes at the same corners both ways round",
		 shared_edges);
	ktap_run("[PA2] infinite, missing and zero positions, near and far", no_positions);
	ktap_run("[PA1] clip and cull distances", distances);
	ktap_run("[PA2] [PA1] the guard band", guard_band);
	return ktap_finish();
}
