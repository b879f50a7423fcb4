// SPDX-License-Identifier: MIT
/* test: TSAN=0 */
/*
 * The tessellator: 20000 patches against what another implementation makes of them
 * (tests/vectors/tessellator/make.c), and properties that must hold for every pair of factors.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/tessellate.h"
#include "../vectors/tessellator/cases.h"
#include "ktap.h"

static struct tsr_tessellation t;
static uint32_t at[TSR_TESS_POINTS_MAX][2];
static uint16_t corners[TSR_TESS_PRIMITIVES_MAX][3];
static unsigned int primitives;

/* All points and primitives of a patch. False: it is culled. */
static bool tessellate(enum tsr_tess_shape shape, enum tsr_tess_partitioning partitioning,
		       const float factors[6])
{
	struct tsr_tess_walk walk;

	primitives = 0;
	if (!tsr_tess_begin(&t, shape, partitioning, factors))
		return false;
	for (unsigned int i = 0; i < t.points && i < TSR_TESS_POINTS_MAX; i++)
		tsr_tess_point(&t, i, at[i]);
	tsr_tess_first(&t, &walk);
	while (primitives < TSR_TESS_PRIMITIVES_MAX &&
	       tsr_tess_next(&t, &walk, corners[primitives]))
		primitives++;
	return true;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static uint64_t hash_vertex(uint64_t hash, unsigned int point)
{
	return tess_hash(tess_hash(hash, at[point][0]), at[point][1]);
}

static uint64_t hash_case(uint64_t hash, const struct tess_case *c)
{
	static const unsigned int reversed[] = { 0, 2, 1 };
	const unsigned int count = c->shape == TSR_TESS_ISOLINE ? 2 : 3;

	if (!tessellate(c->shape, c->partitioning, c->factors))
		return tess_hash(hash, 0);
	if (c->points) {
		hash = tess_hash(hash, t.points);
		for (unsigned int i = 0; i < t.points; i++)
			hash = hash_vertex(hash, i);
		return hash;
	}
	hash = tess_hash(hash, count * primitives);
	for (unsigned int i = 0; i < primitives; i++)
		for (unsigned int k = 0; k < count; k++)
			hash = hash_vertex(hash, corners[i][c->reversed && count == 3 ?
							    reversed[k] : k]);
	return hash;
}

static void vectors(void)
{
	const char *top = getenv("TSR_TOP");
	unsigned int wrong = 0, groups = 0;
	char path[512];
	uint64_t want;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/vectors/tessellator/expected.txt", top ? top : ".");
	f = fopen(path, "r");
	if (!ktap_ok(f))
		return;
	for (; fscanf(f, "%" SCNx64, &want) == 1; groups++) {
		uint64_t hash = TESS_HASH_START;

		if (getenv("TSR_QUICK") && groups % 4)
			continue;
		for (unsigned int i = 0; i < TESS_GROUP; i++) {
			const struct tess_case c = tess_case(groups * TESS_GROUP + i);

			hash = hash_case(hash, &c);
		}
		if (hash != want && !wrong++)
			ktap_note("one of the cases from %u on is another", groups * TESS_GROUP);
	}
	fclose(f);
	ktap_eq(groups, TESS_CASES / TESS_GROUP);
	ktap_eq(wrong, 0);
}

/* ---- Properties ------------------------------------------------------------------------------ */

struct edge {
	uint16_t from, to;
};

static int compare_edges(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct edge));
}

static int64_t twice_area(const uint16_t corner[3])
{
	const uint32_t *a = at[corner[0]], *b = at[corner[1]], *c = at[corner[2]];

	return ((int64_t)b[0] - a[0]) * ((int64_t)c[1] - a[1]) -
	       ((int64_t)c[0] - a[0]) * ((int64_t)b[1] - a[1]);
}

/* True if a triangle's edge is one of the patch's border, whose points come first. */
static bool on_border(enum tsr_tess_shape shape, struct edge e)
{
	unsigned int around = shape == TSR_TESS_QUAD ? 4 : 3;

	if (!t.single) {
		around = 0;
		for (unsigned int side = 0; side < t.sides; side++)
			around += t.edge[side].points - 1u;
	}
	return e.from < around && e.to == (e.from + 1) % around;
}

/*
 * Directed edges of all triangles: each but those on the border has its opposite, exactly once: no
 * hole, no overlap, no corner on another triangle's edge.
 */
static unsigned int loose_edges(enum tsr_tess_shape shape)
{
	static struct edge edges[3 * TSR_TESS_PRIMITIVES_MAX];
	unsigned int n = 0, loose = 0;

	for (unsigned int i = 0; i < primitives; i++)
		for (unsigned int k = 0; k < 3; k++)
			edges[n++] = (struct edge){ corners[i][k], corners[i][(k + 1) % 3] };
	qsort(edges, n, sizeof(edges[0]), compare_edges);
	for (unsigned int i = 0; i < n; i++) {
		const struct edge back = { edges[i].to, edges[i].from };
		bool paired = bsearch(&back, edges, n, sizeof(edges[0]), compare_edges);

		loose += i && !compare_edges(&edges[i], &edges[i - 1]);
		loose += paired == on_border(shape, edges[i]);
	}
	return loose;
}

/* True if triangles of one winding cover the patch in @t once. */
static bool covered_once(enum tsr_tess_shape shape)
{
	const int64_t whole = (int64_t)TSR_TESS_ONE * TSR_TESS_ONE *
			      (shape == TSR_TESS_QUAD ? 2 : 1);
	int64_t sum = 0, area;

	for (unsigned int i = 0; i < primitives; i++) {
		area = twice_area(corners[i]);
		if (area < 0)
			return false;
		sum += area;
	}
	return sum == whole && !loose_edges(shape);
}

static const enum tsr_tess_partitioning partitionings[] = {
	TSR_TESS_INTEGER, TSR_TESS_POW2, TSR_TESS_FRACTIONAL_ODD, TSR_TESS_FRACTIONAL_EVEN,
};

/*
 * Each pair of an edge's and an inside factor, some of them in a quick run; quads with another one
 * on the other axis.
 */
static void patches_are_covered_once(void)
{
	const bool quick = getenv("TSR_QUICK");
	unsigned int wrong = 0, patches = 0;

	for (unsigned int k = 0; k < 4; k++)
		for (float edge = 1; edge <= 64; edge += !quick ? 1 : k < 2 ? 7 : 6.75f)
			for (float inside = 1; inside <= 64;
			     inside += !quick ? (k < 2 ? 1 : 0.75f) : k < 2 ? 3 : 2.25f) {
				const float factors[6] = { edge, 65 - edge, 1, 7, inside,
							   65 - inside };

				for (int shape = 0; shape <= TSR_TESS_QUAD; shape++) {
					tessellate(shape, partitionings[k], factors);
					patches++;
					wrong += !covered_once(shape);
				}
			}
	ktap_note("%u patches", patches);
	ktap_eq(wrong, 0);
}

/* Points of side @side of the patch's edge, in its order, as what varies along it. */
static unsigned int edge_points(enum tsr_tess_shape shape, unsigned int side, uint32_t *where)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < t.points; i++) {
		const uint32_t u = at[i][0], v = at[i][1];
		const bool on[4] = { u == 0, v == 0,
				     shape == TSR_TESS_QUAD ? u == TSR_TESS_ONE :
							      u + v == TSR_TESS_ONE,
				     v == TSR_TESS_ONE };

		if (on[side])
			where[n++] = side & 1 ? u : v;
	}
	return n;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/*
 * Two patches with a common edge and the same factor on it have the same points there, whatever
 * their other factors, shapes and sides, in either direction: there are no cracks.
 */
static void edges_meet(void)
{
	static uint32_t where[2][TSR_TESS_POINTS_MAX];
	unsigned int wrong = 0;

	for (unsigned int k = 0; k < 4; k++)
		for (float f = 1; f <= 64; f += 0.40625f) {
			const float quad[6] = { 3, f, 5, f, 9.5f, 2 };
			const float triangle[6] = { 17, f, 1, 1, 30, 1 };
			unsigned int n, m;

			tessellate(TSR_TESS_QUAD, partitionings[k], quad);
			n = edge_points(TSR_TESS_QUAD, 1, where[0]);
			qsort(where[0], n, 4, compare_numbers);
			for (unsigned int i = 0; i < n; i++)
				wrong += where[0][i] + where[0][n - 1 - i] != TSR_TESS_ONE;
			m = edge_points(TSR_TESS_QUAD, 3, where[1]);
			qsort(where[1], m, 4, compare_numbers);
			wrong += n != m || memcmp(where[0], where[1], 4 * n);
			tessellate(TSR_TESS_TRIANGLE, partitionings[k], triangle);
			m = edge_points(TSR_TESS_TRIANGLE, 1, where[1]);
			qsort(where[1], m, 4, compare_numbers);
			wrong += n != m || memcmp(where[0], where[1], 4 * n);
		}
	ktap_eq(wrong, 0);
}

/* Whole factors divide an edge into equal parts, to 1/65536. */
static void whole_factors_are_even(void)
{
	static uint32_t where[TSR_TESS_POINTS_MAX];

	for (unsigned int f = 1; f <= 64; f++) {
		const float factors[6] = { 1, (float)f, 1, 1, 2, 2 };

		tessellate(TSR_TESS_QUAD, TSR_TESS_INTEGER, factors);
		ktap_eq(edge_points(TSR_TESS_QUAD, 1, where), f + 1);
		qsort(where, f + 1, 4, compare_numbers);
		for (unsigned int i = 0; i <= f; i++)
			ktap_ok(labs((long)where[i] * (long)f - (long)i * 65536) <= (long)f * 32);
	}
}

/* Powers of two are whole numbers: the same points, the same primitives. */
static void powers_of_two(void)
{
	static uint32_t points[TSR_TESS_POINTS_MAX][2];
	static uint16_t all[TSR_TESS_PRIMITIVES_MAX][3];

	for (unsigned int f = 1; f <= 64; f++)
		for (enum tsr_tess_shape shape = 0; shape <= TSR_TESS_ISOLINE; shape++) {
			const float odd[6] = { (float)f - 0.25f, 3, 2, 1, (float)f, 5 };
			float rounded[6] = { 0, 4, 2, 1, 0, 8 };
			unsigned int power = 1, n, count;

			while (power < f)
				power *= 2;
			rounded[0] = rounded[4] = (float)power;
			/* the density of isolines is no side's: it is rounded up alone */
			if (shape == TSR_TESS_ISOLINE)
				rounded[0] = odd[0];
			tessellate(shape, TSR_TESS_INTEGER, rounded);
			n = t.points;
			count = primitives;
			memcpy(points, at, sizeof(at));
			memcpy(all, corners, sizeof(corners));
			tessellate(shape, TSR_TESS_POW2, odd);
			ktap_eq(t.points, n);
			ktap_eq(primitives, count);
			ktap_mem_eq(at, points, n * sizeof(at[0]));
			ktap_mem_eq(corners, all, count * sizeof(corners[0]));
		}
}

static void most(void)
{
	const float factors[6] = { 64, 64, 64, 64, 64, 64 };

	tessellate(TSR_TESS_QUAD, TSR_TESS_INTEGER, factors);
	ktap_eq(t.points, TSR_TESS_POINTS_MAX);
	ktap_eq(primitives, TSR_TESS_PRIMITIVES_MAX);
}

static void culled(void)
{
	static const float none[] = { 0, -0.0f, -1, NAN, -INFINITY };

	for (unsigned int shape = 0; shape <= TSR_TESS_ISOLINE; shape++)
		for (unsigned int i = 0; i < 6; i++)
			for (unsigned int k = 0; k < sizeof(none) / sizeof(none[0]); k++) {
				float factors[6] = { 3, 3, 3, 3, 3, 3 };
				unsigned int edges = shape == TSR_TESS_TRIANGLE ? 3 :
						     shape == TSR_TESS_QUAD ? 4 : 2;

				factors[i] = none[k];
				ktap_eq(tessellate(shape, TSR_TESS_FRACTIONAL_EVEN, factors),
					i >= edges);
			}
}

int main(void)
{
	ktap_start();
	ktap_run("[TESS2] 20000 patches are divided as another implementation does, in its order",
		 vectors);
	ktap_run("triangles cover a patch once and go round alike", patches_are_covered_once);
	ktap_run("edges with the same factor have the same points", edges_meet);
	ktap_run("whole factors divide an edge evenly", whole_factors_are_even);
	ktap_run("powers of two", powers_of_two);
	ktap_run("the most points and triangles", most);
	ktap_run("factors that cull a patch", culled);
	return ktap_finish();
}
