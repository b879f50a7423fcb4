/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Varyings: every way to load one, against interpolation in long double on its own plane
 * equations: barycentric coordinates of the point, each weighted with 1/w.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "rnd.h"
#include "pipe.h"
#include "tsr_samples.h"
#include "simd/simd.h"

/* A program that loads with @insn and hands it out. */
#define LOAD(insn) \
	"clause wait=0 {\n" \
	"	*NOP\n" \
	"	+" insn ", @r0\n" \
	"}\n" \
	PIPE_FINISH

static const struct tsr_config *config;
static struct pipe *p;
/* -1 … 1, of mantissas with all their bits */
static float rnd_float(void)
{
	return (int32_t)(rnd() % 0x2000000) / 16777216.0f - 1;
}

static float *value(unsigned int prim, unsigned int vertex, unsigned int varying)
{
	return pipe_at(p, p->f->prim[prim].output[vertex] + 16 * varying);
}

/* A primitive with vertices all over, 1/w between 1/16 and 1, and random varyings 0 to 3. */
static void random_prim(unsigned int vertices, float range)
{
	unsigned int n = p->f->prims;
	struct tsr_fragment_prim *prim = pipe_prim(p, vertices);

	for (unsigned int i = 0; i < 3; i++) {
		struct tsr_screen_vertex *v = &prim->prim.v[i];

		v->x = (int32_t)(rnd_float() * 500 * 256);
		v->y = (int32_t)(rnd_float() * 500 * 256);
		v->z = rnd_float();
		v->rw = 1.0f / (1 + rnd() % 1500 / 100.0f);
		for (unsigned int k = 0; k < 16; k++)
			value(n, i, k / 4)[k % 4] = rnd_float() * range;
	}
	prim->prim.provoking = rnd() % vertices;
}

/* Component @c of varying @k of the primitive at (@x, @y). */
static long double want(const struct tsr_fragment_prim *prim, unsigned int k, unsigned int c,
			long double x, long double y, bool perspective)
{
	const struct tsr_screen_vertex *v = prim->prim.v;
	long double x0 = v[0].x / 256.0L, y0 = v[0].y / 256.0L;
	long double x1 = v[1].x / 256.0L - x0, y1 = v[1].y / 256.0L - y0;
	long double x2 = v[2].x / 256.0L - x0, y2 = v[2].y / 256.0L - y0;
	long double area = x1 * y2 - x2 * y1, b[3], sum = 0, weight = 0;

	b[1] = ((x - x0) * y2 - (y - y0) * x2) / area;
	b[2] = ((y - y0) * x1 - (x - x0) * y1) / area;
	if (prim->prim.vertices == 2) {
		b[1] = ((x - x0) * x1 + (y - y0) * y1) / (x1 * x1 + y1 * y1);
		b[2] = 0;
	}
	b[0] = 1 - b[1] - b[2];
	for (unsigned int i = 0; i < 3; i++) {
		const float *at = pipe_at(p, prim->output[i] + 16 * k);
		long double rw = perspective ? v[i].rw : 1;

		sum += b[i] * rw * at[c];
		weight += b[i] * rw;
	}
	return sum / weight;
}

/* Within a unit in the last place of a float, or of the largest value it is made of. */
static bool near(float got, long double expected, float range)
{
	float ulp = nextafterf(fabsf((float)expected), INFINITY) - fabsf((float)expected);
	long double most = (long double)ulp > range * 1e-13L ? (long double)ulp : range * 1e-13L;

	return fabsl(got - expected) <= most;
}

/* The value at (@x, @y) of a plane that is @at at the vertices, and its change per pixel. */
static long double plane(const struct tsr_fragment_prim *prim, const long double at[3],
			 long double x, long double y, long double *slope)
{
	const struct tsr_screen_vertex *v = prim->prim.v;
	long double x0 = v[0].x / 256.0L, y0 = v[0].y / 256.0L;
	long double x1 = v[1].x / 256.0L - x0, y1 = v[1].y / 256.0L - y0;
	long double x2 = v[2].x / 256.0L - x0, y2 = v[2].y / 256.0L - y0;
	long double area = x1 * y2 - x2 * y1, length = x1 * x1 + y1 * y1, a, b;

	if (prim->prim.vertices == 2) {
		a = (at[1] - at[0]) * x1 / length;
		b = (at[1] - at[0]) * y1 / length;
	} else {
		a = ((at[1] - at[0]) * y2 - (at[2] - at[0]) * y1) / area;
		b = ((at[2] - at[0]) * x1 - (at[1] - at[0]) * x2) / area;
	}
	*slope = fabsl(a) + fabsl(b);
	return at[0] + a * (x - x0) + b * (y - y0);
}

/*
 * How far component @c of varying @k may be from exact interpolation where that is @expected, by
 * "Accuracy" in 3d.md; nothing is known where 1/w is so near 0 that its own error counts. The point
 * is up to @across pixels from the corner of its block.
 */
static long double allowed(const struct tsr_fragment_prim *prim, unsigned int k, unsigned int c,
			   long double x, long double y, bool perspective, long double expected,
			   long double across)
{
	const float *first = pipe_at(p, prim->output[prim->prim.provoking] + 16 * k);
	long double at[3], rw[3], slope, slope_w, q, less = fabsl(expected - first[c]);

	for (unsigned int i = 0; i < 3; i++) {
		const float *value = pipe_at(p, prim->output[i] + 16 * k);

		rw[i] = perspective ? prim->prim.v[i].rw : 1;
		at[i] = ((long double)value[c] - first[c]) * rw[i];
	}
	plane(prim, at, x, y, &slope);
	q = fabsl(plane(prim, rw, x, y, &slope_w));
	if (q * 0x1p24L < 100 * (q + 3 * across * slope_w))
		return INFINITY;
	return 1.05L * 0x1p-24L *
	       (fabsl(expected) + 7 * less + 3 * across / q * (slope + less * slope_w));
}

static bool good(const struct tsr_fragment_prim *prim, unsigned int k, unsigned int c,
		 long double x, long double y, bool perspective, float got)
{
	const long double expected = want(prim, k, c, x, y, perspective);

	return fabsl(got - expected) <=
	       allowed(prim, k, c, x, y, perspective, expected, 8);
}

static void begin(const char *text)
{
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, text);
	tsr_fragments_begin(p->f, &p->state);
}

static float color(unsigned int n, unsigned int c)
{
	return tsr_fragments_color(p->f, 0, c, n / 16)->f[n % 16];
}

static unsigned int quad_x(unsigned int n)
{
	return p->f->quad[n / 4].x + (n & 1);
}

static unsigned int quad_y(unsigned int n)
{
	return p->f->quad[n / 4].y + (n >> 1 & 1);
}

/* ---- Interpolation --------------------------------------------------------------------------- */

/* Full bundles of quads of @prims primitives. */
static void random_bundle(unsigned int prims, unsigned int vertices, float range)
{
	for (unsigned int i = 0; i < prims; i++)
		random_prim(vertices, range);
	for (unsigned int i = 0; i < TSR_BUNDLE_QUADS; i++)
		pipe_quad(p, rnd() % 512 & ~1, rnd() % 512 & ~1, i * prims / TSR_BUNDLE_QUADS);
}

static void check_bundle(unsigned int varying, bool perspective)
{
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 4 * p->f->quads; n++) {
		const struct tsr_fragment_prim *prim = &p->f->prim[p->f->quad[n / 4].prim];

		for (unsigned int c = 0; c < 4; c++) {
			if (!good(prim, varying, c, quad_x(n) + 0.5L, quad_y(n) + 0.5L, perspective,
				  color(n, c)))
				ktap_ok(false);
		}
	}
}

static void test_smooth(void)
{
	static const char text[] = LOAD("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:2");
	static const unsigned int prims[] = { 1, 3, 8, 32 };

	for (unsigned int i = 0; i < 200; i++) {
		begin(text);
		random_bundle(prims[i % 4], 3, 100);
		check_bundle(2, true);
	}
	p->state.shader.linear_varyings = 1 << 2;
	for (unsigned int i = 0; i < 50; i++) {
		begin(text);
		random_bundle(prims[i % 4], 3, 100);
		check_bundle(2, false);
	}
	p->state.shader.linear_varyings = 0;
	for (unsigned int i = 0; i < 50; i++) {
		begin(text);
		random_bundle(4, 2, 100);
		check_bundle(2, true);
	}
}

/* The smallest triangles there are, of either orientation: varyings grow as they say. */
static void test_tiny(void)
{
	static const char text[] = LOAD("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:2");

	p->state.shader.linear_varyings = 1 << 2;
	for (unsigned int i = 0; i < 8; i++) {
		begin(text);
		random_bundle(i / 4 ? 3 : 1, 3, 100);
		for (unsigned int k = 0; k < p->f->prims; k++) {
			struct tsr_screen_vertex *v = p->f->prim[k].prim.v;

			v[1].x = v[0].x + (i + k) % 2;
			v[1].y = v[0].y + !((i + k) % 2);
			v[2].x = v[0].x + !((i + k) % 2);
			v[2].y = v[0].y + (i + k) % 2;
		}
		check_bundle(2, false);
	}
	p->state.shader.linear_varyings = 0;
}

/* Varying 1 is the same at all vertices of eight primitives, which are clipped or not. */
static void equal_prims(bool clipped)
{
	random_bundle(8, 3, 1);
	for (unsigned int k = 0; k < 8; k++) {
		p->f->prim[k].prim.clipped = clipped;
		for (unsigned int v = 0; v < 3; v++) {
			memcpy(value(k, v, 1), value(k, 0, 1), 16);
			for (unsigned int j = 0; j < 3; j++) {
				p->f->prim[k].prim.weight[v][j] = rnd_float();
				p->f->prim[k].prim.slot_rw[j] = 0.5f;
			}
		}
	}
}

/* All the same at the vertices: all the same everywhere, to the bit; what is missing is 0 or 1. */
static void test_equal(void)
{
	static const char text[] = LOAD("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:1");

	for (unsigned int i = 0; i < 200; i++) {
		const unsigned int there = 1 + i / 2 % 4;

		pipe_varying(p, 1, there);
		begin(text);
		equal_prims(i % 2);
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		/* three vertices of each primitive, once */
		ktap_eq(p->stats.read_bytes, 8 * 3 * 4 * there);
		for (unsigned int n = 0; n < 4 * p->f->quads; n++) {
			const float *v = value(p->f->quad[n / 4].prim, 0, 1);

			for (unsigned int c = 0; c < 4; c++)
				if (color(n, c) != (c < there ? v[c] : c == 3))
					ktap_ok(false);
		}
	}
	pipe_varying(p, 1, 4);
}

/* Parts of a triangle that was clipped have the varyings the whole one has. */
static void test_clipped(void)
{
	static const char text[] = LOAD("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:0");

	for (unsigned int i = 0; i < 200; i++) {
		bool linear = i % 2;
		struct tsr_fragment_prim *part;
		const struct tsr_prim *whole;

		p->state.shader.linear_varyings = linear;
		begin(text);
		random_prim(3, 10);
		random_prim(3, 10);
		whole = &p->f->prim[0].prim;
		part = &p->f->prim[1];
		memcpy(part->output, p->f->prim[0].output, sizeof(part->output));
		part->prim.clipped = true;
		for (unsigned int v = 0; v < 3; v++) {
			double a = (1 + rnd() % 254) / 256.0, b = (1 - a) * (rnd() % 256) / 256.0;
			double weight[3] = { 1 - a - b, a, b }, w = 0, x = 0, y = 0;

			for (unsigned int j = 0; j < 3; j++) {
				part->prim.slot_rw[j] = whole->v[j].rw;
				part->prim.weight[v][j] = weight[j];
				w += part->prim.weight[v][j] / whole->v[j].rw;
				x += part->prim.weight[v][j] * whole->v[j].x / whole->v[j].rw;
				y += part->prim.weight[v][j] * whole->v[j].y / whole->v[j].rw;
			}
			part->prim.v[v].rw = 1 / w;
			part->prim.v[v].x = lrint(x / w);
			part->prim.v[v].y = lrint(y / w);
		}
		pipe_quad(p, part->prim.v[0].x / 512 * 2, part->prim.v[0].y / 512 * 2, 1);
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		/* vertices have been snapped: only so near */
		for (unsigned int c = 0; c < 4; c++) {
			double e = want(&p->f->prim[0], 0, c, (int)quad_x(0) + 0.5L,
					(int)quad_y(0) + 0.5L, !linear);
			double area = fabs((double)(part->prim.v[1].x - part->prim.v[0].x) *
						   (part->prim.v[2].y - part->prim.v[0].y) -
					   (double)(part->prim.v[2].x - part->prim.v[0].x) *
						   (part->prim.v[1].y - part->prim.v[0].y));

			if (area > 1e9 && !(fabs(color(0, c) - e) < 0.15)) {
				ktap_note("%g, should be %g (linear %d)", color(0, c), e, linear);
				ktap_ok(false);
			}
		}
	}
	p->state.shader.linear_varyings = 0;
}

/* ---- Where ----------------------------------------------------------------------------------- */

/* @text loads varying 0 at (@x, @y), in 1/256, with @coverage for each pixel. */
static void check_place(const char *text, uint32_t coverage, unsigned int sample, int x, int y)
{
	const int across = 8 + abs(x) / 256 + abs(y) / 256;

	begin(text);
	random_prim(3, 10);
	pipe_quad(p, 100, 60, 0)->coverage = coverage * 0x0001000100010001ull;
	p->f->quad[0].sample = sample;
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 4; n++) {
		for (unsigned int c = 0; c < 4; c++) {
			long double e = want(&p->f->prim[0], 0, c, quad_x(n) + x / 256.0L,
					     quad_y(n) + y / 256.0L, true);

			if (!(fabsl(color(n, c) - e) <=
			      allowed(&p->f->prim[0], 0, c, quad_x(n) + x / 256.0L,
				      quad_y(n) + y / 256.0L, true, e, across))) {
				ktap_note("component %u is %g, should be %g", c, color(n, c),
					  (double)e);
				ktap_ok(false);
			}
		}
	}
}

#define PLACE(how, source) LOAD("LD_VAR_IMM.f32." how ".v4 " source ", index:0")

static void test_places(void)
{
	static const char twice[] =
		"clause wait=0 {\n"
		"	*NOP\n"
		"	+LD_VAR_IMM.f32.store.explicit.v4 u1.w0, index:1, @r4\n"
		"}\n"
		PLACE("retrieve", "zero.w0");
	static const char again[] =
		"clause wait=0 {\n"
		"	*NOP\n"
		"	+LD_VAR_IMM.f32.store.explicit.v4 u1.w0, index:1, @r4\n"
		"}\n"
		PLACE("conditional.centroid", "r61");
	static const char lost[] =
		"clause wait=0 {\n"
		"	*NOP\n"
		"	+LD_VAR_IMM.f32.store.explicit.v4 u1.w0, index:1, @r4\n"
		"}\n"
		"clause wait=0 {\n"
		"	*NOP\n"
		"	+LD_VAR_IMM.f32.clobber.center.v4 zero.w0, index:1, @r4\n"
		"}\n"
		PLACE("retrieve", "zero.w0");

	for (unsigned int log2 = 0; log2 < 5; log2++) {
		unsigned int all = (1u << (1 << log2)) - 1;

		p->state.samples_log2 = log2;
		for (unsigned int s = 0; s < 1u << log2; s++) {
			const int8_t *at = tsr_sample_position[log2][s];
			uint32_t some = all & ~0u << s;

			/* what is covered begins with sample s */
			if (some != all)
				check_place(PLACE("store.centroid", "r61"), some, 0, at[0] * 16,
					    at[1] * 16);
			p->state.shader.sample_shading = true;
			check_place(PLACE("store.sample", "r61"), 1u << s, s, at[0] * 16,
				    at[1] * 16);
			p->state.shader.sample_shading = false;
			check_place(PLACE("store.sample", "r61"), 1u << s, s, 128, 128);
		}
		check_place(PLACE("store.centroid", "r61"), all, 0, 128, 128);
		check_place(PLACE("store.center", "r61"), 1, 0, 128, 128);
		check_place(PLACE("clobber.center", "r61"), 1, 0, 128, 128);
		check_place(PLACE("conditional.center", "r61"), 1, 0, 128, 128);
	}
	p->push[2] = (uint16_t)-300 | 700 << 16;
	for (unsigned int log2 = 0; log2 < 5; log2 += 4) {
		p->state.samples_log2 = log2;
		check_place(PLACE("store.explicit", "u1.w0"), 1, 0, -300, 700);
		check_place(PLACE("clobber.explicit", "u1.w0"), 1, 0, -300, 700);
		check_place(twice, 1, 0, -300, 700);
		check_place(again, 1, 0, -300, 700);
		check_place(lost, 1, 0, 128, 128);
		check_place(PLACE("retrieve", "zero.w0"), 1, 0, 128, 128);
	}
	p->state.samples_log2 = 0;
}

/* ---- What ------------------------------------------------------------------------------------ */

static void test_flat(void)
{
	static const char *const texts[] = {
		LOAD("LD_VAR_FLAT_IMM.v4.f32 index:0"), LOAD("LD_VAR_FLAT.v4.f32 u1.w0"),
		LOAD("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:0"),
	};

	p->push[2] = 0;
	for (unsigned int i = 0; i < 60; i++) {
		p->state.shader.flat_varyings = i % 3 == 2;
		begin(texts[i % 3]);
		random_bundle(8, 1 + i / 3 % 3, 5);
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		for (unsigned int n = 0; n < 4 * p->f->quads; n++) {
			unsigned int k = p->f->quad[n / 4].prim;
			const float *at = value(k, p->f->prim[k].prim.provoking, 0);

			for (unsigned int c = 0; c < 4; c++)
				if (color(n, c) != at[c])
					ktap_ok(false);
		}
	}
	p->state.shader.flat_varyings = 0;
}

/* Formats of the table; 16-bit results; the index in a register, another in each lane. */
/* @got is component @c of varying 0 of primitive @k at pixel @n, rounded to a half. */
static void check_half(unsigned int k, unsigned int c, unsigned int n, float got)
{
	const struct tsr_fragment_prim *prim = &p->f->prim[k];
	const long double x = quad_x(n) + 0.5L, y = quad_y(n) + 0.5L;
	const long double e = want(prim, 0, c, x, y, true);

	ktap_ok(fabsl(got - e) <=
		fabsl(e) * 0x1p-11L + 1e-7L + allowed(prim, 0, c, x, y, true, e, 8));
}

static void test_formats(void)
{
	static const char halves[] = LOAD("LD_VAR_IMM.f16.store.center.v4 zero.w0, index:0");
	/* behind another, so that the outputs are at hand */
	static const char integers[] =
		"clause {\n"
		"	*NOP\n"
		"	+LD_VAR_IMM.f32.store.center.v4 zero.w0, index:0, @r4\n"
		"}\n" LOAD("LD_VAR_FLAT_IMM.v2.u32 index:5");
	static const char automatic[] = LOAD("LD_VAR_FLAT_IMM.v2.auto index:6");
	static const char bytes[] = LOAD("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:7");
	static const char missing[] = LOAD("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:15");
	static const char ahead[] =
		"clause {\n"
		"	*NOP\n"
		"	+LD_VAR_IMM.f32.store.center.v4 zero.w0, index:0, @r4\n"
		"}\n" LOAD("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:8");
	uint32_t *words;

	begin(halves);
	random_prim(3, 5);
	pipe_quad(p, 4, 6, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 4; n++) {
		for (unsigned int c = 0; c < 4; c++) {
			uint32_t word = tsr_fragments_color(p->f, 0, c / 2, 0)->u[n];
			float got = tsr_half_to_float(word >> 16 * (c % 2));

			check_half(0, c, n, got);
		}
	}
	pipe_attribute(p, PIPE_OUTPUTS, 5, 31, TSR_PIXEL_FORMAT_RG32UI, 16, false);
	begin(integers);
	random_prim(3, 5);
	words = (uint32_t *)value(0, p->f->prim[0].prim.provoking, 1);
	words[0] = 0x80000001;
	words[1] = 0xfffffffe;
	pipe_quad(p, 4, 6, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_eq(tsr_fragments_color(p->f, 0, 0, 0)->u[3], 0x80000001);
	ktap_eq(tsr_fragments_color(p->f, 0, 1, 0)->u[0], 0xfffffffe);
	pipe_attribute(p, PIPE_OUTPUTS, 6, 31, TSR_PIXEL_FORMAT_RG16I, 16, false);
	begin(automatic);
	random_prim(3, 5);
	words = (uint32_t *)value(0, p->f->prim[0].prim.provoking, 1);
	words[0] = 0x0005fffe;
	pipe_quad(p, 4, 6, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_eq(tsr_fragments_color(p->f, 0, 0, 0)->u[3], 0xfffffffe);
	ktap_eq(tsr_fragments_color(p->f, 0, 1, 0)->u[0], 5);
	pipe_attribute(p, PIPE_OUTPUTS, 7, 31, TSR_PIXEL_FORMAT_RGBA8_UNORM, 16, false);
	begin(bytes);
	random_prim(3, 5);
	for (unsigned int v = 0; v < 3; v++)
		memcpy(value(0, v, 1), &(uint32_t){ 0xff003380 }, 4);
	pipe_quad(p, 4, 6, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_ok(color(1, 0) == 128 / 255.0f && color(1, 1) == 0.2f && color(1, 3) == 1);
	/* before a vertex's outputs, if only by a word */
	for (int32_t before = 4; before <= 16; before += 4) {
		pipe_attribute(p, PIPE_OUTPUTS, 8, 31, TSR_PIXEL_FORMAT_RGBA32F, -before, false);
		begin(ahead);
		random_prim(3, 5);
		random_prim(3, 5);
		for (unsigned int v = 0; v < 3; v++)
			memset(pipe_at(p, p->f->prim[1].output[v] - before), 0x41, before);
		pipe_quad(p, 4, 6, 1);
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		ktap_ok(color(1, 0) == 0 && color(1, 3) == 0);
	}
	/* not in the table */
	p->program.varying_count = 15;
	begin(missing);
	random_prim(3, 5);
	pipe_quad(p, 4, 6, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	ktap_ok(color(2, 0) == 0 && color(2, 2) == 0 && color(2, 3) == 1);
	p->program.varying_count = 40;
}

/* The first quad has the texel of varying 9, the same at all vertices; or there is none. */
static void check_texel(const struct tsr_format *format, bool there)
{
	union tsr_texel texel = { .f = { 0, 0, 0, 1 } };

	if (there)
		tsr_format_load(format, value(0, 0, 1), &texel);
	for (unsigned int n = 0; n < 4; n++) {
		for (unsigned int c = 0; c < 4; c++)
			ktap_ok(color(n, c) == texel.f[c]);
	}
}

/*
 * Each format of floats, in each order of its components; in a buffer there is, or not quite. The
 * table of varyings ends where memory does.
 */
static void test_orders(void)
{
	static const char text[] = LOAD("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:9");
	static const uint8_t formats[] = {
		TSR_PIXEL_FORMAT_R32F, TSR_PIXEL_FORMAT_RG32F, TSR_PIXEL_FORMAT_RGB32F,
		TSR_PIXEL_FORMAT_RGBA32F, TSR_PIXEL_FORMAT_R16F, TSR_PIXEL_FORMAT_RG16F,
		TSR_PIXEL_FORMAT_RGBA16F, TSR_PIXEL_FORMAT_RGBA8_UNORM,
	};
	const uint64_t table = PIPE_DATA + PIPE_DATA_SIZE - 8 * 10;
	unsigned int judged = 0;

	p->program.varyings = table;
	p->program.varying_count = 10;
	for (unsigned int i = 0; i < sizeof(formats) * 256; i++) {
		struct tsr_attribute a = { .buffer = 31, .format = formats[i / 256],
					   .order = i % 256, .offset = 16 };
		struct tsr_format format;

		if (!tsr_format_find(&format, a.format, a.order, false))
			continue;
		p->program.attribute_buffer_count = judged++ % 4 ? 32 : 31;
		tsr_pack_attribute(pipe_at(p, table + 8 * 9), &a);
		begin(text);
		for (unsigned int k = 0; k < 1 + judged % 2; k++)
			random_prim(3, 1);
		/* neither infinite nor NaN as a half */
		for (unsigned int w = 0; w < 4; w++)
			value(0, 0, 1)[w] = 1.5f * (w + 1);
		for (unsigned int v = 1; v < 3; v++)
			memcpy(value(0, v, 1), value(0, 0, 1), 16);
		pipe_quad(p, 4, 6, 0);
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		check_texel(&format, p->program.attribute_buffer_count == 32);
	}
	ktap_ok(judged > 50);
	p->program.attribute_buffer_count = 64;
	p->program.varyings = PIPE_OUTPUTS;
	p->program.varying_count = 40;
}

/* R58 is 0 or 1: varying 0 of front faces and 1 of back faces, in one message. */
static void test_indirect(void)
{
	static const char text[] = LOAD("LD_VAR.f32.store.center.v4 zero.w0, r58");

	begin(text);
	random_bundle(8, 3, 10);
	for (unsigned int k = 0; k < 8; k++)
		p->f->prim[k].prim.front = k % 2;
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 4 * p->f->quads; n++) {
		unsigned int k = p->f->quad[n / 4].prim;

		if (!good(&p->f->prim[k], !(k % 2), 1, quad_x(n) + 0.5L, quad_y(n) + 0.5L, true,
			  color(n, 1)))
			ktap_ok(false);
	}
}

static void test_special(void)
{
	static const char w[] = LOAD("LD_VAR_SPECIAL.f32.frag_w.clobber.center zero.w0");
	static const char z[] = LOAD("LD_VAR_SPECIAL.f32.frag_z.clobber.center zero.w0");
	static const char point[] = LOAD("LD_VAR_SPECIAL.f32.point.clobber.center.v2 zero.w0");

	for (unsigned int i = 0; i < 100; i++) {
		begin(i % 2 ? w : z);
		random_bundle(8, 3, 1);
		for (unsigned int k = 0; k < 24; k++)
			value(k / 3, k % 3, 0)[0] = i % 2 ? p->f->prim[k / 3].prim.v[k % 3].rw
							  : p->f->prim[k / 3].prim.v[k % 3].z;
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		for (unsigned int n = 0; n < 4 * p->f->quads; n++) {
			long double e = want(&p->f->prim[p->f->quad[n / 4].prim], 0, 0,
					     quad_x(n) + 0.5L, quad_y(n) + 0.5L, false);

			if (!near(color(n, 0), e, 1000))
				ktap_ok(false);
		}
	}
	for (unsigned int lower = 0; lower < 2; lower++) {
		p->state.draw.point_origin = lower;
		begin(point);
		pipe_prim(p, 1)->prim.point_size = 8;
		p->f->prim[0].prim.v[0].x = 6 << 8;
		p->f->prim[0].prim.v[0].y = 7 << 8;
		pipe_quad(p, 4, 4, 0);
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		ktap_ok(color(1, 0) == (5.5f - 2) / 8);
		ktap_ok(color(2, 1) == (lower ? 1 - (5.5f - 3) / 8 : (5.5f - 3) / 8));
	}
	p->state.draw.point_origin = 0;
}

/* All paths give the same bits. */
static void test_paths(void)
{
	static const char text[] = LOAD("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:0");
	static const char *const paths[] = { "sse2", "avx2", "avx512" };
	static union tsr_lanes first[4][TSR_BUNDLE_WARPS];

	for (unsigned int i = 0; i < 3; i++) {
		const struct tsr_simd *alu = tsr_simd_named(paths[i]);

		if (!alu)
			continue;
		p->b->gpu->env.msg_path = alu->messages;
		rnd_state = 77;
		begin(text);
		random_bundle(5, 3, 1e3f);
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		if (!i)
			memcpy(first, p->f->color_at[0], sizeof(first));
		ktap_mem_eq(p->f->color_at[0], first, sizeof(first));
	}
}

/* The results of a primitive whose numbers are too small for a clause that flushes: with @flags. */
static void run_small(const char *flags, const char *insn, union tsr_lanes left[4])
{
	char text[1024];

	snprintf(text, sizeof(text), "clause wait=0%s {\n\t*NOP\n\t+%s, @r0\n}\n" PIPE_FINISH,
		 flags, insn);
	rnd_state = 78;
	begin(text);
	random_prim(3, 0x1p-130f);
	for (unsigned int i = 0; i < 3; i++)
		p->f->prim[0].prim.v[i].z *= 0x1p-130f;
	pipe_quad(p, 100, 60, 0);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	for (unsigned int c = 0; c < 4; c++)
		left[c] = *tsr_fragments_color(p->f, 0, c, 0);
}

/* The unit has a mode of its own, whatever the clause flushes, also where planes are made. */
static void test_subnormal(void)
{
	static const char *const insns[] = {
		"LD_VAR_IMM.f32.store.center.v4 zero.w0, index:0",
		"LD_VAR_IMM.f32.store.explicit.v4 zero.w0, index:0",
		"LD_VAR_SPECIAL.f32.frag_z.clobber.center zero.w0",
	};
	static const struct tsr_msg_path *paths[4];
	union tsr_lanes kept[4], flushed[4];
	unsigned int count = 1;		/* NULL: lane by lane */

	for (const char *const *name = (const char *[]){ "sse2", "avx2", "avx512", NULL }; *name;
	     name++) {
		if (tsr_simd_named(*name))
			paths[count++] = tsr_simd_named(*name)->messages;
	}
	for (unsigned int i = 0; i < 3 * count; i++) {
		p->b->gpu->env.msg_path = paths[i / 3];
		run_small("", insns[i % 3], kept);
		run_small(" ftz=always", insns[i % 3], flushed);
		ktap_ok(kept[0].u[0] << 1);
		ktap_ok(kept[0].u[0] << 1 < 0x01000000);
		if (!ktap_mem_eq(flushed, kept, sizeof(kept)))
			ktap_note("path %u, %s", i / 3, insns[i % 3]);
	}
}

static void run_all(void)
{
	p = pipe_new(config);
	for (unsigned int i = 0; i < 4; i++)
		pipe_varying(p, i, 4);
	ktap_run("[PIX2] [PIX10] smooth and linear varyings within a unit in the last place",
		 test_smooth);
	ktap_run("[PIX10] varyings of the smallest triangles", test_tiny);
	ktap_run("[PIX10] what is equal at all vertices is equal everywhere", test_equal);
	ktap_run("[PIX2] parts of clipped primitives", test_clipped);
	ktap_run("[PIX2] [PIX9] centre, centroid, sample, explicit; stored coordinates",
		 test_places);
	ktap_run("[PIX2] flat varyings are the provoking vertex's", test_flat);
	ktap_run("[PIX2] formats, halves, what is missing", test_formats);
	ktap_run("[PIX2] orders of components", test_orders);
	ktap_run("[PIX2] indices in registers", test_indirect);
	ktap_run("[PIX2] 1/w, depth, point coordinates", test_special);
	if (!config)
		ktap_run("[PIX10] numbers too small for the clause", test_subnormal);
	if (!config)
		ktap_run("[PIX10] every SIMD path gives the same bits", test_paths);
	pipe_free(p);
}

int main(void)
{
	return pipe_main(&config, run_all);
}
