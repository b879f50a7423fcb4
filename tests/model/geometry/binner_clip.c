/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Clipping, projection and the choice of tiles, compared with clip_ref.h. The pieces of a triangle
 * in clip space cover each of its samples once. Their depth, 1/w and weights are those of its
 * plane. There are no cracks between neighbors.
 */
#include <math.h>
#include <stdlib.h>

#include "clip_ref.h"
#include "binner.h"
#include "ktap.h"
#include "soup.h"

#define WIDTH 52
#define HEIGHT 44
#define SLACK (1.0L / 128)		/* corners move by up to 1/512 pixel each way */

/* ---- The reference, by hand ------------------------------------------------------------------ */

static void by_hand(void)
{
	/* w is 1: the screen's lower left half */
	static const float half[3][4] = { { -1, -1, 0.5, 1 }, { 1, 1, 0.5, 1 }, { -1, 1, 0.5, 1 } };
	/* from w = 1, before the eye, to w = -1: the middle ray, from x = 1/2 on */
	static const float ray[3][4] = { { 1, 0.25, 0.5, 2 }, { 1, -0.25, 0.5, 2 },
					 { 5, 0, -0.5, -2 } };
	struct clip_ref r;

	clip_ref_set(&r, half, 8, 8);
	for (int y = 0; y < 8; y++) {
		for (int x = 0; x < 8; x++) {
			struct raster_point p = raster_ref_sample(1, 0, x, y);

			ktap_eq(clip_ref_covers(&r, false, 0.01, p),
				x == y ? RASTER_EITHER : x < y ? RASTER_IN : RASTER_OUT);
		}
	}
	ktap_ok(clip_ref_at(&r.depth, 3, 5) == 0.5 && clip_ref_at(&r.rw, 1, 7) == 1);
	clip_ref_set(&r, ray, 8, 8);
	ktap_eq(clip_ref_covers(&r, true, 0.01, (struct raster_point){ 7 * 256, 4 * 256 }),
		RASTER_IN);
	ktap_eq(clip_ref_covers(&r, true, 0.01, (struct raster_point){ 5 * 256, 4 * 256 }),
		RASTER_OUT);
	/* as far as w goes to 0: infinitely far */
	ktap_eq(clip_ref_covers(&r, true, 0.01, (struct raster_point){ 700 * 256, 4 * 256 }),
		RASTER_IN);
	/* between near and far: z / w is 1/4 at the corners and 1/4 behind: it is everywhere */
	ktap_eq(clip_ref_covers(&r, false, 0.01, (struct raster_point){ 700 * 256, 4 * 256 }),
		RASTER_IN);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

#define TRIANGLES_MAX 512

static float corner[3 * TRIANGLES_MAX][4];
static uint8_t count[HEIGHT][WIDTH];

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	memcpy(record, corner[vertex], sizeof(corner[vertex]));
}

/* Count how often pixels' centres of the tile are covered by a piece in its list. */
static void cover(const struct binner_seen *seen)
{
	struct raster_point v[3];

	for (unsigned int i = 0; i < 3; i++)
		v[i] = (struct raster_point){ seen->prim.v[i].x, seen->prim.v[i].y };
	for (unsigned int y = 16 * seen->ty; y < 16 * seen->ty + 16u && y < HEIGHT; y++) {
		for (unsigned int x = 16 * seen->tx; x < 16 * seen->tx + 16u && x < WIDTH; x++)
			count[y][x] += raster_ref_triangle(v, raster_ref_sample(1, 0, x, y));
	}
}

/* Depth and 1/w of a corner, and where its weights put it. */
static void check_corner(const struct clip_ref *r, const struct binner_seen *seen, unsigned int i,
			 const float v[3][4])
{
	const struct tsr_screen_vertex *s = &seen->prim.v[i];
	long double x = (long double)s->x / 256, y = (long double)s->y / 256, at[4] = { 0 };
	long double off = 1.0L / 256;
	long double z = clip_ref_at(&r->depth, x, y), rw = clip_ref_at(&r->rw, x, y);

	if (fabsl(s->z - z) >
	    off * (fabsl(r->depth.a) + fabsl(r->depth.b)) + 0x1p-22 * (1 + fabsl(z)))
		ktap_fail("depth %g, not %Lg", s->z, z);
	if (fabsl(s->rw - rw) > off * (fabsl(r->rw.a) + fabsl(r->rw.b)) + 0x1p-22 * fabsl(rw))
		ktap_fail("1/w %g, not %Lg", s->rw, rw);
	if (!seen->prim.clipped)
		return;
	for (unsigned int k = 0; k < 3; k++) {
		for (unsigned int c = 0; c < 4; c++)
			at[c] += (long double)seen->prim.weight[i][k] * v[k][c];
	}
	/* weights are floats: a large coordinate may be off by more */
	off = 1.0L / 200 + 0x1p-20 * (fabsl(x) + fabsl(y) + 1) * (1 + fabsl(rw) * 40);
	if (fabsl((at[0] / at[3] + 1) / 2 * WIDTH - x) > off ||
	    fabsl((at[1] / at[3] + 1) / 2 * HEIGHT - y) > off)
		ktap_fail("weights put (%Lg, %Lg) at (%Lg, %Lg)", x, y,
			  (at[0] / at[3] + 1) / 2 * WIDTH, (at[1] / at[3] + 1) / 2 * HEIGHT);
}

/* Bin the corners as @triangles triangles; their pieces are counted into the picture. */
static bool bin(struct binner *f, unsigned int triangles)
{
	memset(count, 0, sizeof(count));
	binner_again(f);
	binner_states(f);
	binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 3 * triangles);
	if (!binner_bin(f) || !binner_read(f)) {
		ktap_fail("fault %u", f->mem.fault.code);
		return false;
	}
	for (uint32_t i = 0; i < f->seen_count; i++)
		cover(&f->seen[i]);
	return true;
}

static unsigned int inside_pixels;

static void check_triangle(struct binner *f, const float v[3][4], bool clamped)
{
	struct clip_ref r;
	unsigned int wrong = 0;

	clip_ref_set(&r, v, WIDTH, HEIGHT);
	for (unsigned int y = 0; y < HEIGHT; y++) {
		for (unsigned int x = 0; x < WIDTH; x++) {
			enum raster_verdict want = clip_ref_covers(&r, clamped, SLACK,
								   raster_ref_sample(1, 0, x, y));

			inside_pixels += want == RASTER_IN;
			wrong += count[y][x] > 1 ||
				 (want != RASTER_EITHER && count[y][x] != want);
		}
	}
	for (uint32_t i = 0; i < f->seen_count && !wrong; i++) {
		for (unsigned int k = 0; k < 3; k++)
			check_corner(&r, &f->seen[i], k, v);
	}
	if (wrong)
		ktap_fail("%u pixels of (%g %g %g %g) (%g %g %g %g) (%g %g %g %g), clamp %u", wrong,
			  v[0][0], v[0][1], v[0][2], v[0][3], v[1][0], v[1][1], v[1][2], v[1][3],
			  v[2][0], v[2][1], v[2][2], v[2][3], clamped);
}

static void soup(void)
{
	struct binner *f = binner_new(WIDTH, HEIGHT);
	struct soup s = soup_new(31);
	unsigned int most = getenv("TSR_QUICK") ? 1500 : 15000;

	f->position = position;
	for (unsigned int n = 0; n < most; n++) {
		float v[3][4];
		bool clamped = n % 3 == 0;

		soup_clipped(&s, n % SOUP_PLANES, v);
		/* some far beyond the guard band */
		if (!soup_below(&s, 4))
			v[0][soup_below(&s, 2)] *= 3e4f;
		memcpy(corner, v, sizeof(v));
		f->draw.depth_clamp = clamped;
		if (bin(f, 1))
			check_triangle(f, v, clamped);
	}
	ktap_ok(inside_pixels > 100 * most);
	binner_free(f);
}

/* ---- Neighbors ------------------------------------------------------------------------------- */

/* A parallelogram in clip space, its sides divided; corner 0 is v[0]. */
static void subdivide(const float v[3][4], unsigned int side, struct soup *s)
{
	for (unsigned int n = 0; n < 2 * side * side; n++) {
		unsigned int x = n / 2 % side, y = n / 2 / side;
		unsigned int turn = (unsigned int)soup_below(s, 3);
		unsigned int at[3][2] = { { x + n % 2, y + n % 2 }, { x + 1, y }, { x, y + 1 } };

		for (unsigned int i = 0; i < 3; i++) {
			const unsigned int *uv = at[(i + turn) % 3];

			for (unsigned int c = 0; c < 4; c++)
				corner[3 * n + i][c] = v[0][c] +
					(v[1][c] - v[0][c]) * (float)uv[0] / (float)side +
					(v[2][c] - v[0][c]) * (float)uv[1] / (float)side;
		}
	}
}

static void neighbours(void)
{
	struct binner *f = binner_new(WIDTH, HEIGHT);
	struct soup s = soup_new(32);
	unsigned int sure = 0;

	f->position = position;
	for (unsigned int n = 0; n < 300; n++) {
		unsigned int side = (unsigned int)soup_between(&s, 1, 12);
		struct clip_ref r;
		float v[3][4];

		soup_clipped(&s, n % SOUP_PLANES, v);
		subdivide(v, side, &s);
		clip_ref_set(&r, v, WIDTH, HEIGHT);
		if (!bin(f, 2 * side * side))
			continue;
		for (unsigned int i = 0; i < WIDTH * HEIGHT; i++) {
			unsigned int x = i % WIDTH, y = i / WIDTH;
			/* corners in between are floats */
			enum raster_verdict want = clip_ref_parallelogram(&r, 2 * SLACK,
							raster_ref_sample(1, 0, x, y));

			sure += want == RASTER_IN;
			if (count[y][x] > 1 || (want == RASTER_IN && count[y][x] != 1) ||
			    (want == RASTER_OUT && count[y][x]))
				ktap_fail("picture %u, side %u, pixel (%u, %u): %u times, verdict "
					  "%u", n, side, x, y, count[y][x], want);
		}
	}
	ktap_ok(sure > 30000);
	binner_free(f);
}

/*
 * Many triangles of the same three corners, so that their batches end for want of place for
 * primitives, and so do the records of what is left of them.
 */
static void splits(void)
{
	unsigned int most = 0;
	struct binner *f = binner_new(WIDTH, HEIGHT);
	struct soup s = soup_new(33);

	f->position = position;
	f->frame.tile_shift = 6;
	for (unsigned int n = 0; n < 60; n++) {
		const unsigned int triangles = 200 + 20 * n;
		unsigned int pieces, stalls = 0, outs = 0;
		float v[3][4];

		soup_clipped(&s, n % SOUP_PLANES, v);
		memcpy(corner, v, sizeof(v));
		binner_again(f);
		binner_states(f);
		for (unsigned int i = 0; i < 3 * triangles; i++)
			f->data[i] = i % 3;
		binner_draw(f, &(struct tsr_list_draw){
			.topology = TSR_TOPOLOGY_TRIANGLES, .index = TSR_INDEX_TYPE_U8,
			.count = 3 * triangles, .instances = 1, .indices = BINNER_DATA,
			.index_bytes = 3 * triangles });
		ktap_ok(binner_bin(f) && binner_read(f));
		pieces = f->seen_count / triangles;
		ktap_eq(f->seen_count, pieces * triangles);
		for (unsigned int i = 0; i < triangles; i++) {
			if (i % TSR_BATCH_PRIMITIVES == 0) {
				stalls += i != 0;
				outs = 0;
			} else if (outs > TSR_BATCH_PRIMITIVES - TSR_CLIP_PIECES) {
				stalls++;
				outs = 0;
			}
			outs += pieces;
		}
		/* what is not clipped may fill the place to the last */
		if (f->bin->stat[TSR_BIN_CLIPPED])
			ktap_eq(f->bin->stat[TSR_BIN_PIPE_STALLS], stalls);
		ktap_eq(f->bin->stat[TSR_BIN_TAG_STALLS], 0);
		most = pieces > most ? pieces : most;
	}
	ktap_ok(most > 2);
	binner_free(f);
}

int main(void)
{
	ktap_start();
	ktap_run("the reference's planes and signs", by_hand);
	ktap_run("[PA1] [PA2] [PA4] [PA5] [BIN1] [BIN3] triangles cut by every plane", soup);
	ktap_run("[PA3] [BIN1] neighbours cut by every plane have no cracks", neighbours);
	ktap_run("[BIN7] more pieces than there is place for are several records, and counted",
		 splits);
	return ktap_finish();
}
