/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0
 *
 * Planes of varyings, centres of pixels and what varyings are there, on every SIMD path, against
 * the formula of 3d.md in plain C: to the bit, for it says which numbers are added and multiplied,
 * where they are rounded, and in which order vertices are taken. That nothing is written beside
 * what was asked for. And how far all this is from exact interpolation, in long doubles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "rnd.h"
#include "units/msg_bundle.h"
#include "shader/planes.h"
#include "shader/stage.h"
#include "simd/simd.h"

#define WARPS TSR_BUNDLE_WARPS
#define QUADS TSR_BUNDLE_QUADS
#define UNTOUCHED 0x7fbeef01u

static struct tsr_fragments *f;
static const struct tsr_msg_path *path;
/* Values at the vertices of each primitive. */
static float values[QUADS][3][4] __attribute__((aligned(16)));

/* -1 … 1, with all the bits a float has. */
static float rnd_float(void)
{
	return (int32_t)(rnd() % 0x2000000) / 16777216.0f - 1;
}

/* ---- What is expected ------------------------------------------------------------------------ */

/* The change of the weights of vertices 1 and 2 per pixel, to the right and down. */
struct gradient {
	double right[2], down[2];
};

static struct gradient want_gradient(const struct tsr_prim *prim)
{
	const struct tsr_screen_vertex *v = prim->v;
	const double x1 = (double)v[1].x - v[0].x, y1 = (double)v[1].y - v[0].y;
	const double x2 = (double)v[2].x - v[0].x, y2 = (double)v[2].y - v[0].y;
	const double area = x1 * y2 - x2 * y1, length = x1 * x1 + y1 * y1;
	struct gradient g = { { 0, 0 }, { 0, 0 } };

	if (prim->vertices == 3 && area != 0) {
		g.right[0] = y2 * 256 / area;
		g.right[1] = -y1 * 256 / area;
		g.down[0] = -x2 * 256 / area;
		g.down[1] = x1 * 256 / area;
	}
	if (prim->vertices == 2 && length != 0) {
		g.right[0] = x1 * 256 / length;
		g.down[0] = y1 * 256 / length;
	}
	return g;
}

/* The slope of a value that is larger at vertices 1 and 2 by more[0] and more[1]. */
static double slope(const struct tsr_prim *prim, const double weight[2], const double more[2])
{
	double sum = 0;

	for (unsigned int i = 0; i + 1 < prim->vertices; i++)
		sum += more[i] * weight[i];
	return sum;
}

static bool want_flat_w(const struct tsr_prim *prim)
{
	bool flat = true;

	for (unsigned int i = 1; i < prim->vertices; i++)
		flat &= prim->v[i].rw == prim->v[0].rw;
	return flat;
}

/* A plane: what it is at vertex 0, and what a pixel to the right and down adds. */
struct plane {
	double first, right, down;
};

/* The plane of a value with @at at the vertices. */
static struct plane want_plane(const struct tsr_prim *prim, const double at[3])
{
	const struct gradient g = want_gradient(prim);
	const double more[2] = { at[1] - at[0], at[2] - at[0] };

	return (struct plane){ at[0], slope(prim, g.right, more), slope(prim, g.down, more) };
}

/* From the centres of pixels to where blocks are interpolated. */
static float off[2];

/* At pixel (@x, @y): in doubles to the corner of its block, from there in fp32. */
static float want_at(const struct tsr_prim *prim, const struct plane *p, int x, int y)
{
	const int corner_x = x / 8 * 8, corner_y = y / 8 * 8;
	const double across = corner_x - prim->v[0].x / 256.0;
	const double along = corner_y - prim->v[0].y / 256.0;
	const float corner = (p->right * across + p->down * along) + p->first;

	return fmaf(p->right, x - corner_x + 0.5f + off[0],
		    fmaf(p->down, y - corner_y + 0.5f + off[1], corner));
}

/* W at a pixel. */
static float want_w(const struct tsr_prim *prim, int x, int y)
{
	const double rw[3] = { prim->v[0].rw, prim->v[1].rw, prim->v[2].rw };
	const struct plane p = want_plane(prim, rw);

	return want_flat_w(prim) ? 1 : 1 / want_at(prim, &p, x, y);
}

/* Component @c, of which @floats are there, of primitive @n at the pixel at (@x, @y). */
static float want(unsigned int n, unsigned int c, unsigned int floats, bool linear, int x, int y)
{
	const struct tsr_prim *prim = &f->prim[n].prim;
	const bool perspective = !linear && !want_flat_w(prim);
	const float provoking = values[n][prim->provoking][c];
	struct plane p;
	double at[3];

	if (c >= floats)
		return c == 3;
	for (unsigned int i = 0; i < 3; i++)
		at[i] = ((double)values[n][i][c] - provoking) * (perspective ? prim->v[i].rw : 1);
	p = want_plane(prim, at);
	/* the value is added to 0 first: no -0 is left */
	return fmaf(want_at(prim, &p, x, y), perspective ? want_w(prim, x, y) : 1,
		    provoking + 0.0f);
}

/* ---- Bundles --------------------------------------------------------------------------------- */

static void random_prim(unsigned int n, unsigned int vertices)
{
	struct tsr_prim prim = { .vertices = vertices, .provoking = rnd() % vertices };
	const bool flat = rnd() % 4 == 0, zero = rnd() % 2;

	for (unsigned int i = 0; i < 3; i++) {
		prim.v[i] = (struct tsr_screen_vertex){
			.x = rnd_in(-130000, 130000), .y = rnd_in(-130000, 130000),
			.z = rnd_float(), .rw = 1.0f / (1 + rnd() % 1500 / 100.0f),
		};
		if (flat)
			prim.v[i].rw = prim.v[0].rw;
		for (unsigned int c = 0; c < 4; c++)
			values[n][i][c] = 100 * rnd_float();
		if (zero)
			values[n][i][rnd() % 4] = -0.0f;
	}
	/* one of two has w of its own; nothing has an area */
	if (rnd() % 8 == 0)
		prim.v[1 + rnd() % 2].rw = prim.v[0].rw;
	if (rnd() % 16 == 0)
		prim.v[1 + rnd() % 2] = prim.v[0];
	f->prim[n].prim = prim;
	f->prim[n].geometry = false;
	f->prim[n].bias = rnd() % 2 ? rnd_float() : 0;
}

/* Quads of @prims primitives; @last: those of the last warp only some. */
static void random_bundle(unsigned int prims, bool triangles, unsigned int last)
{
	f->prims = prims;
	f->quads = QUADS - last;
	f->centres = 0;
	for (unsigned int i = 0; i < prims; i++)
		random_prim(i, triangles ? 3 : 1 + rnd() % 3);
	for (unsigned int i = prims; i < QUADS; i++)
		f->prim[i].geometry = false;
	for (unsigned int q = 0; q < QUADS; q++) {
		f->quad[q] = (struct tsr_fragment_quad){
			.x = rnd() % 512 & ~1, .y = rnd() % 512 & ~1,
			/* some warps are of one, others of some in any order */
			.prim = rnd() % 3 && q % 4 ? f->quad[q - 1].prim : rnd() % prims,
		};
	}
	path->geometry(f);
}

static void check_geometry(unsigned int n)
{
	const struct tsr_fragment_prim *p = &f->prim[n];
	const struct tsr_screen_vertex *v = p->prim.v;
	const struct gradient g = want_gradient(&p->prim);
	const double w[2] = { (double)v[1].rw - v[0].rw, (double)v[2].rw - v[0].rw };
	const double z[2] = { (double)v[1].z - v[0].z, (double)v[2].z - v[0].z };

	ktap_ok(p->geometry);
	ktap_eq(p->flat_w, want_flat_w(&p->prim));
	ktap_ok(p->x0 == v[0].x / 256.0 && p->y0 == v[0].y / 256.0);
	ktap_ok(p->rw[0] == v[0].rw && p->z[0] == v[0].z + p->bias);
	ktap_ok(p->rw[1] == slope(&p->prim, g.right, w));
	ktap_ok(p->rw[2] == slope(&p->prim, g.down, w));
	ktap_ok(p->z[1] == slope(&p->prim, g.right, z));
	ktap_ok(p->z[2] == slope(&p->prim, g.down, z));
	for (unsigned int i = 0; i < 2; i++)
		ktap_ok(p->dx[i] == g.right[i] && p->dy[i] == g.down[i]);
}

/* Planes of all primitives, one of @floats components, at f->planes[1 …]. */
static void make_planes(unsigned int floats, bool linear)
{
	struct tsr_varying v = { .floats = floats, .linear = linear };
	struct tsr_plane_source source[QUADS];

	v.format.bytes = 4 * floats;
	memset(f->planes, 0xa5, sizeof(f->planes));
	for (unsigned int n = 0; n < f->prims; n++) {
		source[n] = (struct tsr_plane_source){ .plane = 1 + n, .prim = n };
		for (unsigned int i = 0; i < 3; i++)
			source[n].at[i] = (const uint8_t *)values[n][i];
	}
	path->planes(f, &v, source, f->prims);
	for (unsigned int n = 0; n < f->prims; n++) {
		const struct tsr_planes *p = &f->planes[1 + n];

		ktap_eq(p->flat, false);
		ktap_eq(p->perspective, !linear && !want_flat_w(&f->prim[n].prim));
		ktap_eq(p->format.bytes, 4 * floats);
		for (unsigned int c = 0; c < 4; c++)
			ktap_ok(p->provoking.f[c] ==
				(c < floats ? values[n][f->prim[n].prim.provoking][c] : c == 3));
	}
}

static int column(unsigned int quad, unsigned int pixel)
{
	return f->quad[quad].x + (pixel & 1);
}

static int row(unsigned int quad, unsigned int pixel)
{
	return f->quad[quad].y + (pixel >> 1);
}

static void check_centres(unsigned int w)
{
	for (unsigned int l = 0; l < TSR_WARP_LANES && w * 4 + l / 4 < f->quads; l++) {
		const unsigned int q = w * 4 + l / 4;
		const struct tsr_prim *prim = &f->prim[f->quad[q].prim].prim;
		const int x = column(q, l % 4), y = row(q, l % 4);

		ktap_ok(f->centre_x[w][l] == x % 8 + 0.5 && f->centre_y[w][l] == y % 8 + 0.5);
		ktap_ok(f->centre_w[w][l] == want_w(prim, x, y));
		ktap_ok(f->corner_x[w][l / 4] == x / 8 * 8 - prim->v[0].x / 256.0);
		ktap_ok(f->corner_y[w][l / 4] == y / 8 * 8 - prim->v[0].y / 256.0);
	}
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void fill(union tsr_lanes *to, unsigned int vectors)
{
	for (unsigned int i = 0; i < vectors * TSR_WARP_LANES; i++)
		to[i / TSR_WARP_LANES].u[i % TSR_WARP_LANES] = UNTOUCHED;
}

static uint32_t as_word(float x)
{
	uint32_t word;

	memcpy(&word, &x, sizeof(word));
	return word;
}

/* The first @count components of @floats in some warps, lanes and places. */
static void check_bundle(unsigned int floats, unsigned int count, bool one)
{
	static union tsr_lanes to[5][WARPS];
	struct tsr_interpolation in = { .count = count, .to = { to[0], to[1], to[2], to[3] } };
	const unsigned int which = rnd() % 2 ? 0xff : 1 + rnd() % 0xff;
	uint16_t lanes[WARPS] = { 0 };
	uint8_t warp[WARPS];

	fill(to[0], 5 * WARPS);
	for (unsigned int w = 0; w < WARPS; w++) {
		if (!(which >> w & 1))
			continue;
		warp[in.warps++] = w;
		lanes[w] = rnd() % 2 ? 0xffff : rnd();
		for (unsigned int q = 4 * w; q < 4 * w + 4; q++) {
			if (q >= f->quads)
				lanes[w] &= ~(15 << 4 * (q % 4));
			/* what nobody has asked for has no planes, or any */
			if (lanes[w] >> 4 * (q % 4) & 15)
				in.planes[q] = &f->planes[1 + f->quad[q].prim];
			else
				in.planes[q] = rnd() % 2 ? NULL : &f->planes[1];
		}
	}
	in.one = one ? &f->planes[1] : NULL;
	in.warp = warp;
	in.lanes = lanes;
	path->interpolate(f, &in);
	for (unsigned int i = 0; i < 5 * QUADS * 4; i++) {
		const unsigned int c = i / (QUADS * 4), q = i / 4 % QUADS, w = q / 4;
		const unsigned int l = i % TSR_WARP_LANES;
		const uint32_t got = to[c][w].u[l];

		if (c < count && lanes[w] >> l & 1)
			ktap_eq(got, as_word(want(f->quad[q].prim, c, floats, false,
						  column(q, l % 4), row(q, l % 4))));
		else
			ktap_eq(got, UNTOUCHED);
	}
}

static void each_path(void (*test)(void))
{
	static const char *const names[] = { "sse2", "avx2", "avx512" };
	const struct tsr_simd *alu;

	f = aligned_alloc(64, (sizeof(*f) + 63) & ~(size_t)63);
	if (!f)
		abort();
	memset(f, 0, sizeof(*f));
	for (unsigned int i = 0; i < 3; i++) {
		alu = tsr_simd_named(names[i]);
		if (!alu)
			continue;
		path = alu->messages;
		rnd_state = 5;
		test();
	}
	free(f);
}

static void geometries(void)
{
	for (unsigned int i = 0; i < 200; i++) {
		random_bundle(1 + rnd() % QUADS, false, 0);
		for (unsigned int n = 0; n < f->prims; n++)
			check_geometry(n);
		for (unsigned int n = f->prims; n < QUADS; n++)
			ktap_ok(!f->prim[n].geometry);
	}
}

static void test_geometry(void)
{
	each_path(geometries);
}

static void bundles(void)
{
	static const unsigned int prims[] = { 1, 2, 8, 32 };

	for (unsigned int i = 0; i < 160; i++) {
		const unsigned int floats = 1 + rnd() % 4;

		random_bundle(prims[i % 4], true, rnd() % 3 ? 0 : rnd() % 16);
		make_planes(floats, true);
		make_planes(floats, false);
		memset(f->centre_x, 0xa5, sizeof(f->centre_x));
		memset(f->centre_y, 0xa5, sizeof(f->centre_y));
		memset(f->centre_w, 0xa5, sizeof(f->centre_w));
		for (unsigned int w = 0; 4 * w < f->quads; w++) {
			path->centres(f, w);
			check_centres(w);
		}
		check_bundle(floats, 1 + rnd() % 4, i % 8 == 0);
	}
}

static void test_bundles(void)
{
	each_path(bundles);
}

/* A float near the borders of rounding, a NaN, an infinity, or any other. */
static uint32_t odd_float(void)
{
	static const uint32_t near[] = {
		0, 0x33000000, 0x33800000, 0x387fc000, 0x38800000, 0x3f800000, 0x477fe000,
		0x477ff000, 0x7f800000, 0x7fc00000,
	};
	const uint32_t any = rnd();

	if (any % 2)
		return rnd();
	return near[any / 2 % (sizeof(near) / sizeof(near[0]))] + (int32_t)(rnd() % 5) - 2 +
	       (any & 0x80000000);
}

static void halves(void)
{
	union tsr_lanes low, high, to;

	for (unsigned int i = 0; i < 5000; i++) {
		const bool both = i % 3;

		for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
			low.u[l] = odd_float();
			high.u[l] = odd_float();
		}
		path->halves(&low, both ? &high : NULL, &to);
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			if (to.u[l] != (tsr_float_to_half(low.f[l]) |
					(both ? (uint32_t)tsr_float_to_half(high.f[l]) << 16 : 0)))
				ktap_fail("%#x and %#x are %#x", low.u[l], high.u[l], to.u[l]);
	}
}

static void test_halves(void)
{
	each_path(halves);
}

/* Blocks of 64 pixels, with w and without, which may be known already. */
static void patches(void)
{
	static union tsr_lanes to[5][WARPS];
	static float w[64] __attribute__((aligned(64)));

	for (unsigned int i = 0; i < 200; i++) {
		const unsigned int floats = 1 + rnd() % 4, count = 1 + rnd() % 4;
		const int x = 8 * (rnd() % 60), y = 8 * (rnd() % 60);
		union tsr_lanes *const all[4] = { to[0], to[1], to[2], to[3] };
		bool perspective;

		random_bundle(1, true, 0);
		make_planes(floats, rnd() % 4 == 0);
		perspective = f->planes[1].perspective;
		for (unsigned int n = 0; n < 2; n++)
			off[n] = rnd() % 3 ? ((int)(rnd() % 16) - 8) / 16.0f : 0;
		for (unsigned int again = 0; again < 2; again++) {
			fill(to[0], 5 * WARPS);
			path->quad_block(&f->prim[0], &f->planes[1], count, x, y, off,
					 perspective ? w : NULL, again, all);
			for (unsigned int n = 0; n < 5 * 128; n++) {
				const unsigned int c = n / 128, q = n / 4 % 32, p = n % 4;
				const int px = x + q % 4 * 2 + p % 2, py = y + q / 4 * 2 + p / 2;
				const uint32_t got = to[c][q / 4].u[n % 16];

				if (c < count && q < 16)
					ktap_eq(got, as_word(want(0, c, floats, !perspective, px,
								  py)));
				else
					ktap_eq(got, UNTOUCHED);
			}
		}
	}
	memset(off, 0, sizeof(off));
}

static void test_patches(void)
{
	each_path(patches);
}

/* ---- How exact ------------------------------------------------------------------------------- */

static long double edge(const struct tsr_prim *prim, unsigned int i, long double x, long double y)
{
	const struct tsr_screen_vertex *a = &prim->v[(i + 1) % 3], *b = &prim->v[(i + 2) % 3];

	return (b->x - a->x) * (y - a->y) - (long double)(b->y - a->y) * (x - a->x);
}

/*
 * How far component 0 at a pixel is from exact interpolation, in ulp of the largest at a vertex;
 * -1: the pixel is outside.
 */
static double distance(const struct tsr_prim *prim, int x, int y)
{
	long double sum = 0, weight = 0, most = 0;

	for (unsigned int i = 0; i < 3; i++) {
		const long double value = values[0][i][0];
		const long double e = edge(prim, i, 256 * x + 128, 256 * y + 128);

		if (e < 0)
			return -1;
		sum += e * prim->v[i].rw * value;
		weight += e * prim->v[i].rw;
		most = fmaxl(most, fabsl(value));
	}
	return fabsl(want(0, 0, 1, false, x, y) - sum / weight) / ldexpl(1, ilogbl(most) - 23);
}

/* Sides in pixels from which gradients over 8 pixels are small beside what they lead to. */
#define LARGE 64

/* Triangles whose gradients are not those of slivers, with w from 1 : 1 to 1 : 10000. */
static void test_accuracy(void)
{
	double worst[5] = { 0 };	/* by the logarithm of the ratio */
	unsigned int pixels = 0;

	f = aligned_alloc(64, (sizeof(*f) + 63) & ~(size_t)63);
	if (!f)
		abort();
	memset(f, 0, sizeof(*f));
	rnd_state = 9;
	for (unsigned int n = 0; n < 500; n++) {
		struct tsr_prim *prim = &f->prim[0].prim;
		const int size = 256 * (LARGE + rnd() % 900);
		const float ratio = powf(10, n % 5);

		*prim = (struct tsr_prim){ .vertices = 3, .provoking = rnd() % 3 };
		for (unsigned int i = 0; i < 3; i++) {
			prim->v[i].x = size * (i == 1) + rnd() % 256;
			prim->v[i].y = size * (i == 2) + rnd() % 256;
			prim->v[i].rw = 1 / (1 + (ratio - 1) * fabsf(rnd_float()));
			values[0][i][0] = 100 * rnd_float();
		}
		for (unsigned int k = 0; k < 400; k++) {
			const unsigned int side = size / 256;
			const double off = distance(prim, rnd() % side, rnd() % side);

			pixels += off >= 0;
			worst[n % 5] = fmax(worst[n % 5], off);
		}
	}
	ktap_ok(pixels > 30000);
	for (unsigned int i = 0; i < 5; i++) {
		ktap_note("w up to 1 : %g: %.2f ulp of the largest value", pow(10, i), worst[i]);
		ktap_ok(worst[i] <= 6);
	}
	free(f);
}

int main(void)
{
	ktap_start();
	ktap_run("[PIX10] within 6 ulp of exact interpolation", test_accuracy);
	ktap_run("[PIX10] planes of 1/w and depth, to the bit", test_geometry);
	ktap_run("[PIX10] varyings of bundles, to the bit", test_bundles);
	ktap_run("[PIX10] 16-bit results, to the bit", test_halves);
	ktap_run("[PIX10] varyings of blocks of pixels, to the bit", test_patches);
	return ktap_finish();
}
