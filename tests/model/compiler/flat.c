/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/* When a program gives the same everywhere on a part of a primitive: its planes, and 1/w. */
#include <string.h>

#include "ktap.h"
#include "compiler/flat_program.h"
#include "shader/stage.h"

static struct tsr_fragments f;

/* Varying 0 of primitive 0 is 1, 2, 3, 4 with perspective, 1/w is 1. */
static void begin(void)
{
	memset(&f, 0, sizeof(f));
	for (unsigned int c = 0; c < 4; c++)
		f.planes[0].provoking.f[c] = c + 1;
	f.planes[0].perspective = true;
	f.plane_of[0][0] = 1;
	f.prim[0].x0 = 100;
	f.prim[0].y0 = 200;
	f.prim[0].rw[0] = 1;
}

/* Between @x pixels to the right of vertex 0 and @to_x, the same downwards. */
static bool across(int x, int to_x, int y, int to_y)
{
	const int32_t from[2] = { 100 + x, 200 + y }, to[2] = { 100 + to_x, 200 + to_y };

	return tsr_flat_across(&f, 0, 1, from, to);
}

static void test_w(void)
{
	static const struct {
		double rw[3];
		int x, to_x, y, to_y;
		bool finite;
	} rows[] = {
		{ { 1 }, -9, 9, -9, 9, true },
		/* w grows to the right until 1/w is 0 */
		{ { 1, -0x1p-4 }, 0, 15, 0, 9, true },
		{ { 1, -0x1p-4 }, 0, 16, 0, 9, false },
		{ { 1, -0x1p-4 }, 0, 17, 0, 9, false },
		{ { 1, 0x1p-4 }, -15, 99, 0, 9, true },
		{ { 1, 0x1p-4 }, -16, 99, 0, 9, false },
		/* downwards */
		{ { 1, 0, -0x1p-4 }, 0, 99, -99, 15, true },
		{ { 1, 0, -0x1p-4 }, 0, 99, -99, 16, false },
		{ { 1, 0, 0x1p-4 }, 0, 9, -15, 9, true },
		{ { 1, 0, 0x1p-4 }, 0, 9, -16, 9, false },
		/* both together, each alone would do */
		{ { 1, -0x1p-4, -0x1p-4 }, 0, 8, 0, 7, true },
		{ { 1, -0x1p-4, -0x1p-4 }, 0, 8, 0, 8, false },
		/* so little is left that it may be rounding */
		{ { 1, -0.0625 * (1 - 0x1p-18) }, 0, 16, 0, 0, true },
		{ { 1, -0.0625 * (1 - 0x1p-19) }, 0, 16, 0, 0, false },
		/* 18 is left of 18 times 2 to the 20th, 16 of them for the corner; 20 is more */
		{ { 0x1p20 + 17, -(0x1p20 - 1) }, 1, 1, 0, 0, false },
		{ { 0x1p20 + 19, -(0x1p20 - 1) }, 1, 1, 0, 0, true },
		/* w itself, or what it is multiplied with, would be too large */
		{ { 0x1p-99 }, 0, 9, 0, 9, true },
		{ { 0x1p-100 }, 0, 9, 0, 9, false },
		{ { 0x1p-101 }, 0, 9, 0, 9, false },
		{ { 0x1p99 }, 0, 9, 0, 9, true },
		{ { 0x1p100 }, 0, 9, 0, 9, false },
		{ { 0x1p101 }, 0, 9, 0, 9, false },
		{ { -1 }, 0, 9, 0, 9, false },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		memcpy(f.prim[0].rw, rows[i].rw, sizeof(rows[i].rw));
		if (!ktap_eq(across(rows[i].x, rows[i].to_x, rows[i].y, rows[i].to_y),
			     rows[i].finite))
			ktap_note("row %u", i);
		f.planes[0].perspective = false;
		ktap_ok(across(rows[i].x, rows[i].to_x, rows[i].y, rows[i].to_y));
		f.planes[0].perspective = true;
		f.planes[0].flat = true;
		ktap_ok(across(rows[i].x, rows[i].to_x, rows[i].y, rows[i].to_y));
	}
}

static void test_planes(void)
{
	for (unsigned int c = 0; c < 4; c++) {
		begin();
		f.planes[0].a[c] = 0x1p-200;
		ktap_ok(!across(0, 9, 0, 9));
		f.planes[0].flat = true;
		ktap_ok(across(0, 9, 0, 9));
		begin();
		f.planes[0].b[c] = -1;
		ktap_ok(!across(0, 9, 0, 9));
		begin();
		f.planes[0].c[c] = 1;
		ktap_ok(!across(0, 9, 0, 9));
		/* whatever it is: 0 times w, and a value that is not -0, is that value */
		begin();
		f.planes[0].provoking.f[c] = -1;
		ktap_ok(across(0, 9, 0, 9));
		f.planes[0].provoking.f[c] = -0.0f;
		ktap_ok(across(0, 9, 0, 9));
	}
}

/* Those that are asked for count, and no others; nothing is known of one without planes. */
static void test_varyings(void)
{
	const int32_t from[2] = { 0, 0 }, to[2] = { 9, 9 };

	begin();
	f.planes[1] = f.planes[0];
	f.planes[1].a[2] = 1;
	f.plane_of[0][3] = 2;
	f.plane_of[0][31] = 1;
	ktap_ok(tsr_flat_across(&f, 0, 0, from, to));
	ktap_ok(tsr_flat_across(&f, 0, 1 | 1u << 31, from, to));
	ktap_ok(!tsr_flat_across(&f, 0, 1 | 1u << 3, from, to));
	ktap_ok(!tsr_flat_across(&f, 0, 1u << 3 | 1u << 31, from, to));
	ktap_ok(!tsr_flat_across(&f, 0, 1 | 1u << 7, from, to));
	ktap_ok(!tsr_flat_across(&f, 1, 1, from, to));
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[PIX10] where w is finite", test_w);
	ktap_run("[PIX10] planes that are the same everywhere", test_planes);
	ktap_run("[PIX10] the varyings that are asked for", test_varyings);
	return ktap_finish();
}
