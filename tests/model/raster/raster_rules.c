/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * The references for rasterisation, raster_ref.h and soup.h, by cases worked out by hand: what the
 * model is compared with must be right itself.
 */
#include "ktap.h"
#include "soup.h"

#define P(x, y) { (int64_t)((x) * RASTER_ONE), (int64_t)((y) * RASTER_ONE) }

/* Pixels of rows 0 to 7 that a triangle covers at their centres, as rows of text. */
static void expect(const struct raster_point v[3], const char *const rows[8])
{
	for (unsigned int y = 0; y < 8; y++) {
		char row[9] = "";

		for (unsigned int x = 0; x < 8; x++)
			row[x] = raster_ref_triangle(v, raster_ref_sample(1, 0, x, y)) ? '#' : '.';
		if (strcmp(row, rows[y]))
			ktap_fail("row %u: %s, not %s", y, row, rows[y]);
	}
}

/* Both ways round, from each corner. */
static void expect_all(const struct raster_point v[3], const char *const rows[8])
{
	for (unsigned int i = 0; i < 6; i++) {
		struct raster_point turned[3] = { v[i % 3], v[(i % 3 + 1 + i / 3) % 3],
						  v[(i % 3 + 2 - i / 3) % 3] };

		expect(turned, rows);
	}
}

static void triangles(void)
{
	/* edges through centres: the left and the top one belong to it */
	static const struct raster_point upper[3] = { P(1.5, 1.5), P(6.5, 1.5), P(1.5, 6.5) };
	static const char *const upper_rows[8] = {
		"........", ".#####..", ".####...", ".###....", ".##.....", ".#......",
		"........", "........",
	};
	/* the other half of the square: neither bottom nor right, but the diagonal */
	static const struct raster_point lower[3] = { P(6.5, 1.5), P(6.5, 6.5), P(1.5, 6.5) };
	static const char *const lower_rows[8] = {
		"........", "........", ".....#..", "....##..", "...###..", "..####..",
		"........", "........",
	};
	/* just beside centres */
	static const struct raster_point small[3] = {
		{ 2 * 256 + 129, 256 }, { 5 * 256 + 128, 256 }, { 5 * 256 + 128, 1024 },
	};
	static const char *const small_rows[8] = {
		"........", "...##...", "....#...", "........", "........", "........",
		"........", "........",
	};
	static const struct raster_point line[3] = { P(1, 1), P(3, 3), P(7, 7) };
	static const char *const nothing[8] = {
		"........", "........", "........", "........", "........", "........",
		"........", "........",
	};

	expect_all(upper, upper_rows);
	expect_all(lower, lower_rows);
	expect_all(small, small_rows);
	expect_all(line, nothing);
	ktap_ok(raster_ref_area(upper) == 5 * 256 * 5 * 256);
}

/* Each sample of a mesh belongs to one triangle of it. */
static void once(void)
{
	struct soup s = soup_new(1);

	for (unsigned int n = 0; n < 12; n++) {
		static struct soup_mesh m;
		unsigned int samples = 1u << n % 5;

		soup_mesh(&s, &m, 1 + n, 1 + n % 5, 24, 20);
		for (unsigned int i = 0; i < 24 * 20 * samples; i++) {
			struct raster_point p = raster_ref_sample(samples, i % samples,
								  i / samples % 24,
								  i / samples / 24);
			unsigned int count = 0;

			for (unsigned int t = 0; t < 2 * m.columns * m.rows; t++) {
				struct raster_point v[3];

				soup_mesh_triangle(&m, t, v);
				count += raster_ref_triangle(v, p);
			}
			ktap_eq(count, 1);
		}
	}
}

static void samples(void)
{
	/* sample 0 of four is at (0.375, 0.125), the last of sixteen at (0.0625, 0) */
	ktap_eq(raster_ref_sample(4, 0, 10, 20).x, 10 * 256 + 96);
	ktap_eq(raster_ref_sample(4, 0, 10, 20).y, 20 * 256 + 32);
	ktap_eq(raster_ref_sample(16, 15, 0, 0).x, 16);
	ktap_eq(raster_ref_sample(16, 15, 0, 0).y, 0);
	ktap_eq(raster_ref_sample(2, 1, -1, 0).x, -256 + 64);
	/* the patterns have their middle in the pixel's */
	for (unsigned int n = 1; n <= 16; n *= 2) {
		int64_t x = 0, y = 0;

		for (unsigned int i = 0; i < n; i++) {
			x += raster_ref_sample(n, i, 0, 0).x;
			y += raster_ref_sample(n, i, 0, 0).y;
		}
		ktap_ok(x <= n * 128 && x >= n * 128 - n * 8);
		ktap_ok(y <= n * 128 && y >= n * 128 - n * 8);
	}
}

/* Columns of row @y that a line covers by the diamond-exit rule, as text. */
static void expect_line(struct raster_point a, struct raster_point b, unsigned int y,
			const char *row)
{
	char got[9] = "";

	for (unsigned int x = 0; x < 8; x++)
		got[x] = raster_ref_diamond_exit(a, b, x, y) ? '#' : '.';
	if (strcmp(got, row))
		ktap_fail("row %u: %s, not %s", y, got, row);
}

static void lines(void)
{
	const struct raster_point left = P(1.5, 2.5), right = P(5.5, 2.5), down = P(1.5, 6.5);
	const struct raster_point corner = P(5.5, 6.5), in[2] = { P(1.25, 2.5), P(5.25, 2.5) };

	/* the first pixel, but not the last: each of a strip is drawn once */
	expect_line(left, right, 2, ".####...");
	expect_line(right, left, 2, "..####..");
	expect_line(left, right, 1, "........");
	expect_line(left, right, 3, "........");
	for (unsigned int y = 0; y < 8; y++)
		expect_line(left, down, y, y >= 2 && y < 6 ? ".#......" : "........");
	for (unsigned int y = 0; y < 8; y++) {
		char row[9] = "........";

		if (y >= 2 && y < 6)
			row[y - 1] = '#';
		expect_line(left, corner, y, row);
	}
	/* the line ends before it leaves the last diamond */
	expect_line(in[0], in[1], 2, ".####...");
	/* within one diamond: nothing */
	expect_line((struct raster_point)P(1.4, 2.5), (struct raster_point)P(1.6, 2.5), 2,
		    "........");
	/* no length */
	expect_line(left, left, 2, "........");
}

/* A line that follows where another ends: no pixel twice, none missing, in any direction. */
static void strips(void)
{
	struct soup s = soup_new(5);

	for (unsigned int n = 0; n < 300; n++) {
		struct raster_point a = { soup_between(&s, 0, 4000), soup_between(&s, 0, 4000) };
		int64_t dx = soup_between(&s, -900, 900), dy = soup_between(&s, -900, 900);
		struct raster_point b = { a.x + dx, a.y + dy };
		struct raster_point c = { a.x + 2 * dx, a.y + 2 * dy };

		for (int64_t y = -10; y < 26; y++) {
			for (int64_t x = -10; x < 26; x++) {
				bool first = raster_ref_diamond_exit(a, b, x, y);
				bool second = raster_ref_diamond_exit(b, c, x, y);

				ktap_ok(!(first && second));
				ktap_eq(first || second, raster_ref_diamond_exit(a, c, x, y));
			}
		}
	}
}

static void rectangles(void)
{
	const struct raster_point a = P(2, 4), b = P(6, 4);

	for (unsigned int y = 0; y < 8; y++) {
		for (unsigned int x = 0; x < 8; x++) {
			struct raster_point p = raster_ref_sample(1, 0, x, y);

			ktap_eq(raster_ref_rectangle(a, b, 4, 1, p),
				x >= 2 && x < 6 && y >= 2 && y < 6 ? RASTER_IN : RASTER_OUT);
			ktap_eq(raster_ref_square((struct raster_point)P(4, 4), 4 * 256, p),
				x >= 2 && x < 6 && y >= 2 && y < 6);
		}
	}
	ktap_eq(raster_ref_rectangle(a, b, 1, 2, (struct raster_point){ 1000, 1024 + 127 }),
		RASTER_EITHER);
	/* left and top edge of a point belong to it */
	ktap_ok(raster_ref_square((struct raster_point)P(1, 1), 256,
				  (struct raster_point){ 128, 128 }));
	ktap_ok(!raster_ref_square((struct raster_point)P(1, 1), 256,
				   (struct raster_point){ 384, 128 }));
}

/* A soup has what it promises. */
static void soups(void)
{
	struct soup s = soup_new(9);
	unsigned int clockwise = 0, cut = 0;

	for (unsigned int n = 0; n < 800; n++) {
		enum soup_kind kind = n % SOUP_KINDS;
		enum soup_plane plane = n % SOUP_PLANES;
		struct raster_point v[3];
		float clip[3][4];

		soup_triangle(&s, kind, 64, 64, v);
		clockwise += raster_ref_area(v) > 0;
		ktap_eq(raster_ref_area(v) == 0 && kind != SOUP_NO_AREA && kind != SOUP_GRID &&
			kind != SOUP_AXIS && kind != SOUP_TINY && kind != SOUP_SLIVER, false);
		if (kind == SOUP_NO_AREA)
			ktap_ok(raster_ref_area(v) == 0);
		soup_clipped(&s, plane, clip);
		for (unsigned int i = 0; i < 3; i++)
			cut += plane == SOUP_NEAR && clip[i][2] < 0;
	}
	ktap_ok(clockwise > 250 && clockwise < 450);
	ktap_ok(cut >= 114 && cut <= 2 * 115);
}

int main(void)
{
	ktap_start();
	ktap_run("the reference's triangles: top-left rule, either way round", triangles);
	ktap_run("the reference covers each sample of a mesh once", once);
	ktap_run("the reference's samples", samples);
	ktap_run("the reference's lines: diamond-exit rule", lines);
	ktap_run("the reference's lines follow each other without gap or overlap", strips);
	ktap_run("the reference's rectangles and points", rectangles);
	ktap_run("soups have what they promise", soups);
	return ktap_finish();
}
