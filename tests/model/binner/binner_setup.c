/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * From positions to tile lists: the viewport and snapping against long double, facing and culling,
 * what covers no sample, the tiles of triangles, lines and points against a brute-force count,
 * layers and viewports of primitives, positions that are window coordinates already.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "binner.h"
#include "ktap.h"
#include "rnd.h"

static float frnd(float lo, float hi)
{
	return lo + (hi - lo) * (float)rnd_below(1 << 20) / (1 << 20);
}

static float table[8192][16];		/* position records by vertex id */

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	memcpy(record, table[vertex], sizeof(table[0]));
}

/* A vertex at (@x, @y) of a frame of that size, in pixels. */
static void put(unsigned int vertex, float x, float y, unsigned int width, unsigned int height)
{
	memset(table[vertex], 0, sizeof(table[0]));
	table[vertex][0] = x / width * 2 - 1;
	table[vertex][1] = y / height * 2 - 1;
	table[vertex][2] = .5f;
	table[vertex][3] = 1;
}

static uint32_t draw(struct binner *f, unsigned int topology, unsigned int count)
{
	binner_again(f);
	binner_states(f);
	binner_arrays(f, topology, count);
	ktap_ok(binner_bin(f) && binner_read(f));
	return f->seen_count;
}

/* ---- The viewport ---------------------------------------------------------------------------- */

static void viewport(void)
{
	struct binner *f = binner_new(512, 512);
	struct tsr_viewport *vp = &f->viewport[0];
	unsigned int judged = 0;

	f->position = position;
	f->frame.tile_shift = 6;
	for (unsigned int round = 0; round < 50; round++) {
		float x = frnd(-50, 50), y = frnd(100, 500), w = frnd(100, 600);
		float h = frnd(-400, -100), near = frnd(0, .4f), far = frnd(.5f, 1);

		vp->x = binner_bits(x);
		vp->y = binner_bits(y);
		vp->width = binner_bits(w);
		vp->height = binner_bits(h);
		vp->near = binner_bits(near);
		vp->far = binner_bits(far);
		for (unsigned int i = 0; i < 99; i++) {
			float pw = frnd(.5, 50);
			float *r = table[i];

			memset(r, 0, sizeof(table[0]));
			r[0] = frnd(-pw, pw);
			r[1] = frnd(-pw, pw);
			r[2] = frnd(0, pw);
			r[3] = pw;
		}
		draw(f, TSR_TOPOLOGY_TRIANGLES, 99);
		for (uint32_t i = 0; i < f->seen_count; i++) {
			for (unsigned int k = 0; k < 3; k++) {
				const float *r = table[f->seen[i].id[k][0]];
				const struct tsr_screen_vertex *v = &f->seen[i].prim.v[k];
				long double sx = x + (r[0] / (long double)r[3] + 1) / 2 * w;
				long double sy = y + (r[1] / (long double)r[3] + 1) / 2 * h;
				long double sz = near + r[2] / (long double)r[3] *
						 ((long double)far - near);

				ktap_ok(fabsl(sx * 256 - v->x) <= .5L + 1e-9L);
				ktap_ok(fabsl(sy * 256 - v->y) <= .5L + 1e-9L);
				ktap_ok(fabsl(sz - v->z) <= 6e-8L * sz);
				ktap_ok(v->rw == (float)(1 / (double)r[3]));
				judged++;
			}
		}
	}
	ktap_ok(judged > 3000);
	/* numbers that are none */
	vp->width = binner_bits(INFINITY);
	binner_again(f);
	binner_states(f);
	binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 3);
	ktap_ok(!binner_bin(f));
	ktap_eq(f->mem.fault.code, TSR_FAULT_BAD_VALUE);
	ktap_eq(f->mem.fault.addr, f->draw.viewports + 8);
	binner_free(f);
}

/* ---- Facing ---------------------------------------------------------------------------------- */

static void facing(void)
{
	struct binner *f = binner_new(64, 64);

	f->position = position;
	for (unsigned int bits = 0; bits < 16; bits++) {
		/* clockwise with y growing downwards, or the other way round */
		bool clockwise = bits & 1, front = clockwise == !!(bits & 2);
		bool dropped;

		f->draw.front_clockwise = bits & 2;
		f->draw.cull_front = bits & 4;
		f->draw.cull_back = bits & 8;
		dropped = front ? f->draw.cull_front : f->draw.cull_back;
		put(0, 2, 2, 64, 64);
		put(1, clockwise ? 14 : 2, clockwise ? 2 : 14, 64, 64);
		put(2, clockwise ? 2 : 14, clockwise ? 14 : 2, 64, 64);
		ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), !dropped);
		if (!dropped)
			ktap_eq(f->seen[0].prim.front, front);
		/* lines and points face the viewer and are not culled */
		ktap_eq(draw(f, TSR_TOPOLOGY_POINTS, 1), 1);
		ktap_ok(f->seen[0].prim.front);
		/* clipping does not change the winding of a triangle either */
		table[0][2] = -1;
		draw(f, TSR_TOPOLOGY_TRIANGLES, 3);
		ktap_eq(f->seen_count > 0, !dropped);
		for (uint32_t i = 0; i < f->seen_count; i++)
			ktap_ok(f->seen[i].prim.clipped && f->seen[i].prim.front == front);
	}
	binner_free(f);
}

/*
 * True if a triangle is kept that is less than a pixel wide, or high, and begins or ends at a
 * centre; or past it, so that it has none.
 */
static bool between_centres(struct binner *f, bool high, bool ends, bool past)
{
	const float from = ends ? 3.6f : 3.5f + past / 256.f;
	const float to = ends ? 4.5f - past / 256.f : 4.4f;
	const float corner[3][2] = { { from, 3.6f }, { to, 3.6f }, { from, 10.f } };

	for (unsigned int i = 0; i < 3; i++)
		put(i, corner[i][high], corner[i][!high], 64, 64);
	return draw(f, TSR_TOPOLOGY_TRIANGLES, 3) > 0;
}

static void nothing(void)
{
	struct binner *f = binner_new(64, 64);

	f->position = position;
	/* no area; no area after snapping; no centre of a pixel; one centre */
	put(0, 1, 1, 64, 64);
	put(1, 20, 20, 64, 64);
	put(2, 40, 40, 64, 64);
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	put(1, 1 + 1.f / 1024, 30, 64, 64);
	put(2, 1 - 1.f / 1024, 50, 64, 64);
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	put(0, 3.6f, 3.6f, 64, 64);
	put(1, 4.4f, 3.6f, 64, 64);
	put(2, 3.6f, 10.f, 64, 64);
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	f->frame.samples_log2 = 2;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 1);
	f->frame.samples_log2 = 0;
	put(1, 4.6f, 3.6f, 64, 64);
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 1);
	ktap_eq(f->shaded, 3);
	for (unsigned int i = 0; i < 8; i++)
		ktap_eq(between_centres(f, i & 1, i & 2, i & 4), !(i & 4));
	put(0, 3.6f, 3.6f, 64, 64);
	put(1, 4.6f, 3.6f, 64, 64);
	put(2, 3.6f, 10.f, 64, 64);
	/* nothing within the scissor rectangle; nothing is rasterised */
	f->viewport[0].scissor_x0 = 30;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	f->viewport[0].scissor_x0 = 0;
	f->draw.discard = true;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	ktap_eq(f->shaded, 3);
	binner_free(f);
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

#define WIDTH 200
#define HEIGHT 150

/* True if a place, in 1/256 pixels, is within a triangle or on its border. */
static bool inside(const struct tsr_screen_vertex *v, int64_t x, int64_t y)
{
	int64_t area = (int64_t)(v[1].x - v[0].x) * (v[2].y - v[0].y) -
		       (int64_t)(v[2].x - v[0].x) * (v[1].y - v[0].y);

	for (unsigned int i = 0; i < 3; i++) {
		const struct tsr_screen_vertex *a = &v[i], *b = &v[(i + 1) % 3];
		int64_t e = (b->x - a->x) * (y - a->y) - (b->y - a->y) * (x - a->x);

		if (area < 0 ? e > 0 : e < 0)
			return false;
	}
	return true;
}

/* True if a pixel's centre, or one of its corners with @any, is within @half of a line. */
static bool near_line(const struct tsr_screen_vertex *v, double half, double x, double y)
{
	double dx = v[1].x - v[0].x, dy = v[1].y - v[0].y, l = sqrt(dx * dx + dy * dy);
	double along = ((x - v[0].x) * dx + (y - v[0].y) * dy) / l;
	double beside = ((x - v[0].x) * dy - (y - v[0].y) * dx) / l;

	return along >= 0 && along <= l && fabs(beside) <= half * 256;
}

/* The corners of vertex @i … of the draw, snapped as the device does (w is 1). */
static void corners(unsigned int i, unsigned int n, struct tsr_screen_vertex *v)
{
	for (unsigned int k = 0; k < n; k++) {
		v[k].x = nearbyint((table[i + k][0] + 1.0) * WIDTH / 2 * 256);
		v[k].y = nearbyint((table[i + k][1] + 1.0) * HEIGHT / 2 * 256);
	}
}

static bool touched(unsigned int n, const struct tsr_screen_vertex *v, double half, bool multi,
		    unsigned int px, unsigned int py)
{
	unsigned int grid = multi ? 16 : 1;

	for (unsigned int s = 0; s < grid * grid; s++) {
		/* samples may be at any sixteenth of a pixel */
		int64_t x = 256 * px + (multi ? s % 16 * 16 : 128);
		int64_t y = 256 * py + (multi ? s / 16 * 16 : 128);

		if (n == 3 && inside(v, x, y))
			return true;
		if (n == 2 && near_line(v, half, x, y))
			return true;
		if (n == 1 && fabs((double)(x - v[0].x)) <= half * 256 &&
		    fabs((double)(y - v[0].y)) <= half * 256)
			return true;
	}
	return false;
}

static bool listed(const struct binner *f, uint32_t id, unsigned int tx, unsigned int ty,
		   unsigned int *times)
{
	*times = 0;
	for (uint32_t i = 0; i < f->seen_count; i++) {
		const struct binner_seen *s = &f->seen[i];

		*times += s->prim.primitive_id == id && s->tx == tx && s->ty == ty;
	}
	return *times;
}

/* Lists of a draw of primitives of @n vertices: none is missed, few are too many. */
static void judge(struct binner *f, unsigned int n, unsigned int count, double half)
{
	unsigned int shift = f->frame.tile_shift, side = 1u << shift, missed = 0, twice = 0;
	/* of a triangle of one sample no pixel counts whose centre is beyond the box */
	int32_t far = 0, edge = n == 3 && !f->frame.samples_log2 ? 128 : 0;

	for (unsigned int id = 0; id < count; id++) {
		struct tsr_screen_vertex v[3];
		int32_t lo[2] = { INT32_MAX, INT32_MAX }, hi[2] = { INT32_MIN, INT32_MIN };
		int32_t reach = n == 3 ? 0 : half * 256 + 512;

		corners(n * id, n, v);
		for (unsigned int k = 0; k < n; k++) {
			lo[0] = v[k].x - reach < lo[0] ? v[k].x - reach : lo[0];
			lo[1] = v[k].y - reach < lo[1] ? v[k].y - reach : lo[1];
			hi[0] = v[k].x + reach > hi[0] ? v[k].x + reach : hi[0];
			hi[1] = v[k].y + reach > hi[1] ? v[k].y + reach : hi[1];
		}
		for (unsigned int t = 0; t < f->bin->info.tiles; t++) {
			unsigned int tx = t % f->bin->info.tiles_x, ty = t / f->bin->info.tiles_x;
			bool want = false;
			unsigned int times;

			for (unsigned int y = ty * side; y < HEIGHT && y < (ty + 1) * side; y++) {
				for (unsigned int x = tx * side; !want && x < WIDTH &&
				     x < (tx + 1) * side; x++)
					want = touched(n, v, half, f->frame.samples_log2, x, y);
			}
			if (!listed(f, id, tx, ty, &times))
				missed += want;
			twice += times > 1;
			far += times && ((int)(tx * side * 256) + edge > hi[0] ||
					 (int)(ty * side * 256) + edge > hi[1] ||
					 (int)((tx + 1) * side * 256) - edge < lo[0] ||
					 (int)((ty + 1) * side * 256) - edge < lo[1]);
		}
	}
	ktap_eq(missed, 0);
	ktap_eq(twice, 0);
	ktap_eq(far, 0);
}

static void tiles(void)
{
	struct binner *f = binner_new(WIDTH, HEIGHT);
	uint32_t entries = 0, box = 0;

	f->position = position;
	for (unsigned int round = 0; round < 12; round++) {
		float size = round % 3 ? 40 : 400;

		f->frame.tile_shift = 3 + round % 4;
		f->frame.samples_log2 = round % 6 == 5 ? 2 : 0;
		for (unsigned int i = 0; i < 60; i += 3) {
			float x = frnd(-20, WIDTH + 20), y = frnd(-20, HEIGHT + 20);

			for (unsigned int k = 0; k < 3; k++)
				put(i + k, x + frnd(-size, size), y + frnd(-size, size), WIDTH,
				    HEIGHT);
		}
		draw(f, TSR_TOPOLOGY_TRIANGLES, 60);
		judge(f, 3, 20, 0);
		entries += f->bin->stat[TSR_BIN_ENTRIES];
		box += f->bin->stat[TSR_BIN_TILE_TESTS];
		for (uint32_t i = 1; i < f->seen_count; i++) {
			const struct binner_seen *a = &f->seen[i - 1], *b = &f->seen[i];

			if (a->tx == b->tx && a->ty == b->ty)
				ktap_ok(a->prim.primitive_id < b->prim.primitive_id);
		}
		f->draw.line_width = binner_bits(1 + round);
		f->draw.point_size = binner_bits(1 + 3 * round);
		draw(f, TSR_TOPOLOGY_LINES, 40);
		for (uint32_t i = 0; i < f->seen_count; i++)
			ktap_eq(f->seen[i].prim.vertices, 2);
		for (unsigned int i = 0; i < 40; i++)
			put(i, frnd(2, WIDTH - 2), frnd(2, HEIGHT - 2), WIDTH, HEIGHT);
		draw(f, TSR_TOPOLOGY_LINES, 40);
		judge(f, 2, 20, (1 + round) / 2.);
		draw(f, TSR_TOPOLOGY_POINTS, 20);
		judge(f, 1, 20, (1 + 3 * round) / 2.);
		ktap_ok(f->seen[0].prim.point_size == 1 + 3 * round);
	}
	/* the lists are much shorter than the boxes */
	ktap_ok(entries * 10 < box * 8);
	binner_free(f);
}

/* ---- Layers and viewports -------------------------------------------------------------------- */

/* Words of a record beside the position. */
static void extra(unsigned int vertex, unsigned int layer, unsigned int viewport)
{
	uint32_t word = layer | viewport << 16;

	memcpy(&table[vertex][5], &word, sizeof(word));
}

static void layers(void)
{
	struct binner *f = binner_new(64, 64);

	f->position = position;
	f->frame.layers = 5;
	f->shader.extended = true;
	f->shader.writes_layer = true;
	f->shader.writes_viewport = true;
	f->draw.viewport_count = 4;
	for (unsigned int i = 0; i < 4; i++) {
		f->viewport[i].x = binner_bits(16 * i);
		f->viewport[i].width = f->viewport[i].height = binner_bits(16);
	}
	for (unsigned int last = 0; last < 2; last++) {
		f->draw.provoking_last = last;
		for (unsigned int i = 0; i < 8; i++) {
			for (unsigned int k = 0; k < 3; k++) {
				bool provoking = k == (last ? 2u : 0u);

				put(3 * i + k, k == 1 ? 15 : 1, k == 2 ? 15 : 1, 16, 16);
				/* other vertices name others; 6 and 5 are out of range */
				extra(3 * i + k, provoking ? i : (i + k) % 5,
				      provoking ? i % 6 : (i + k) % 4);
			}
		}
		ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 24), 8);
		for (uint32_t n = 0; n < f->seen_count; n++) {
			const struct binner_seen *s = &f->seen[n];
			unsigned int i = s->prim.primitive_id;
			unsigned int layer = i < 5 ? i : 0, vp = i % 6 < 4 ? i % 6 : 0;

			ktap_eq(s->prim.layer, layer);
			ktap_eq(s->layer, layer);
			ktap_eq(s->prim.viewport, vp);
			ktap_eq(s->tx, vp);
			for (unsigned int k = 0; k < 3; k++) {
				ktap_eq(s->prim.v[k].x, 256 * (16 * (int)vp + (k == 1 ? 15 : 1)));
				ktap_eq(s->prim.v[k].y, 256 * (k == 2 ? 15 : 1));
				if (s->prim.clipped)
					ktap_ok(s->prim.weight[k][k] == 1);
			}
		}
	}
	/* what is not said to be written does not count */
	f->shader.writes_layer = false;
	f->shader.writes_viewport = false;
	draw(f, TSR_TOPOLOGY_TRIANGLES, 24);
	for (uint32_t n = 0; n < f->seen_count; n++)
		ktap_ok(!f->seen[n].prim.layer && !f->seen[n].prim.viewport);
	binner_free(f);
}

/* ---- Window coordinates ---------------------------------------------------------------------- */

/* Equal triangles as clip coordinates and as window coordinates. */
static void window(void)
{
	struct binner *f = binner_new(128, 128);
	struct binner_seen *first;
	uint32_t count;

	f->position = position;
	for (unsigned int i = 0; i < 300; i++) {
		float w = exp2f((int)rnd_below(5) - 2);

		put(i, (float)rnd_below(256 * 128) / 256, (float)rnd_below(256 * 128) / 256, 128,
		    128);
		table[i][2] = (float)rnd_below(256) / 256;
		for (unsigned int k = 0; k < 4; k++)
			table[i][k] *= w;
	}
	count = draw(f, TSR_TOPOLOGY_TRIANGLES, 300);
	first = malloc(count * sizeof(*first));
	memcpy(first, f->seen, count * sizeof(*first));
	f->shader.position_mode = TSR_POSITION_MODE_WINDOW;
	for (unsigned int i = 0; i < 300; i++) {
		float *r = table[i], rw = 1 / r[3];

		r[0] = (r[0] * rw + 1) * 64;
		r[1] = (r[1] * rw + 1) * 64;
		r[2] *= rw;
		r[3] = rw;
	}
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 300), count);
	for (uint32_t i = 0; i < count && i < f->seen_count; i++)
		ktap_ok(!memcmp(first[i].prim.v, f->seen[i].prim.v, sizeof(first[i].prim.v)));
	/* behind the viewer; half behind; no number; on the far plane exactly */
	for (unsigned int i = 0; i < 3; i++)
		table[i][3] = -1;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	put(0, 0, 0, 128, 128);
	for (unsigned int i = 0; i < 3; i++) {
		table[i][0] = i == 1 ? 100 : 10;
		table[i][1] = i == 2 ? 100 : 10;
		table[i][2] = 1;
		table[i][3] = 1;
	}
	ktap_ok(draw(f, TSR_TOPOLOGY_TRIANGLES, 3) > 0 && !f->seen[0].prim.clipped);
	table[0][3] = -.5f;
	ktap_ok(draw(f, TSR_TOPOLOGY_TRIANGLES, 3) > 0 && f->seen[0].prim.clipped);
	table[0][3] = 0;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	table[0][3] = NAN;
	ktap_eq(draw(f, TSR_TOPOLOGY_TRIANGLES, 3), 0);
	/* a corner 100 000 pixels away is clipped to the guard band */
	table[0][0] = -100000;
	table[0][3] = 1;
	ktap_ok(draw(f, TSR_TOPOLOGY_TRIANGLES, 3) > 0 && f->seen[0].prim.clipped);
	free(first);
	binner_free(f);
}

int main(void)
{
	ktap_start();
	ktap_run("[PA5] division, viewport, snapping to 8 bits, against long double", viewport);
	ktap_run("[PA6] facing and culling", facing);
	ktap_run("[PA6] [INST6] triangles without area, without a sample, outside the scissor",
		 nothing);
	ktap_run("[BIN1] [PA7] tiles of triangles, lines and points: none is missed", tiles);
	ktap_run("[GS3] [PA5] [BIN5] layers and viewports are those of the provoking vertex",
		 layers);
	ktap_run("[PA2] [PA5] positions that are window coordinates", window);
	return ktap_finish();
}
