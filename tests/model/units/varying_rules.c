/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0
 *
 * Rules of varyings where the results are exact: which point counts after any sequence of loads,
 * which of 40 varyings are flat or linear, what is where in buffers and in outputs that end; what
 * is malformed. And bundles of any primitives on every SIMD path, beside the same lane by lane.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ktap.h"
#include "pipe.h"
#include "rnd.h"
#include "tsr_samples.h"
#include "simd/simd.h"

#define CLAUSE(insn) "clause wait=0 {\n\t*NOP\n\t+" insn "\n}\n"
#define BUFFER (PIPE_FREE + 0x1000)
#define IDS (PIPE_FREE + 0x8000)

static struct pipe *p;

static void start(const char *text)
{
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, text);
	tsr_fragments_begin(p->f, &p->state);
}

static uint32_t color(unsigned int n, unsigned int c)
{
	return tsr_fragments_color(p->f, 0, c, n / 16)->u[n % 16];
}

static float color_float(unsigned int n, unsigned int c)
{
	return tsr_fragments_color(p->f, 0, c, n / 16)->f[n % 16];
}

static float rnd_float(void)
{
	return (int32_t)(rnd() % 0x2000000) / 16777216.0f - 1;
}

/* ---- The point ------------------------------------------------------------------------------- */

enum { STORE, CLOBBER, CONDITIONAL, RETRIEVE };

/* A load: what it does with the point that is kept, which one it means, its source, who does it. */
struct load {
	unsigned int update, sample;
	enum { PUSH, SAMPLES, POSITION } source;
	bool left;			/* only pixels of the left column */
};

/* A point from the pixel's corner, in 256ths. */
struct point {
	int x, y;
};

static struct load random_load(bool special)
{
	static const uint8_t samples[] = { TSR_SAMPLE_CENTER, TSR_SAMPLE_CENTROID,
					   TSR_SAMPLE_SAMPLE, TSR_SAMPLE_EXPLICIT };
	struct load l = { .update = rnd() % 4, .sample = samples[rnd() % 4] };

	/* as instructions have it */
	if (special)
		l = (struct load){ .update = CLOBBER, .sample = samples[rnd() % 3] };
	if (l.update == CONDITIONAL)
		l.sample = samples[rnd() % 2];
	l.source = l.sample == TSR_SAMPLE_EXPLICIT ? 2 * (rnd() % 2) : SAMPLES;
	return l;
}

/* The point that the mode names for pixel @n of the quad. */
static struct point named(const struct load *l, unsigned int n)
{
	const struct tsr_fragment_quad *quad = &p->f->quad[0];
	const unsigned int log2 = p->state.samples_log2, all = (1u << (1u << log2)) - 1;
	const unsigned int covered = quad->coverage >> 16 * n & all;
	struct point centre = { 128, 128 };
	unsigned int s = 0;

	if (l->sample == TSR_SAMPLE_EXPLICIT && l->source == PUSH)
		return (struct point){ (int16_t)p->push[2], (int16_t)(p->push[2] >> 16) };
	if (l->sample == TSR_SAMPLE_EXPLICIT)
		return (struct point){ quad->x + (int)(n & 1), quad->y + (int)(n >> 1) };
	if (l->sample == TSR_SAMPLE_CENTER ||
	    (l->sample == TSR_SAMPLE_SAMPLE && !p->state.shader.sample_shading) ||
	    (l->sample == TSR_SAMPLE_CENTROID && (!covered || covered == all)))
		return centre;
	if (l->sample == TSR_SAMPLE_SAMPLE)
		s = quad->sample;
	else
		while (!(covered >> s & 1))
			s++;
	return (struct point){ tsr_sample_position[log2][s][0] * 16,
			       tsr_sample_position[log2][s][1] * 16 };
}

/* Where the last of the loads is for pixel @n. */
static struct point last_point(const struct load *l, unsigned int loads, unsigned int n)
{
	struct point kept = { 128, 128 }, at = kept;

	for (; loads; loads--, l++) {
		const bool moved = kept.x != 128 || kept.y != 128;

		if (l->left && n & 1)
			continue;
		at = l->update == RETRIEVE || (l->update == CONDITIONAL && moved) ? kept :
										    named(l, n);
		kept = at;
	}
	return at;
}

/* The load @what.MODES@count SOURCE@rest. */
static void add_load(char *text, const char *what, const struct load *l, const char *count,
		     const char *rest)
{
	static const char *const updates[] = { "store", "clobber", "conditional", "retrieve" };
	static const char *const sources[] = { "u1.w0", "r61", "r59" };
	const char *sample = l->sample == TSR_SAMPLE_CENTROID ? ".centroid" :
			     l->sample == TSR_SAMPLE_SAMPLE   ? ".sample" :
			     l->sample == TSR_SAMPLE_EXPLICIT ? ".explicit" :
								".center";
	char line[200];

	snprintf(line, sizeof(line), "clause wait=0 {\n\t*NOP\n\t+%s.%s%s%s %s%s\n}\n", what,
		 updates[l->update], l->update == RETRIEVE ? "" : sample, count,
		 sources[l->source], rest);
	strcat(text, line);
}

/* Pixels of the right column go on at label @n. */
static void add_skip(char *text, unsigned int n)
{
	char line[100];

	snprintf(line, sizeof(line),
		 "clause wait=0 flow=nbtb_unconditional {\n\t*NOP\n"
		 "\t+BRANCHZ.i32.ne r12, right%u\n}\n", n);
	strcat(text, line);
}

static void add_label(char *text, unsigned int n)
{
	char line[20];

	snprintf(line, sizeof(line), "right%u:\n", n);
	strcat(text, line);
}

/* Varying 0 is the position in pixels, 1/w 1 + x / 256 + y / 128, depth x / 64 + y / 32 - 1/2. */
static struct tsr_fragment_prim *position_prim(bool flat_w)
{
	struct tsr_fragment_prim *prim = pipe_prim(p, 3);

	for (unsigned int i = 0; i < 3; i++) {
		prim->prim.v[i] = (struct tsr_screen_vertex){
			.x = i == 1 ? 256 << 8 : 0, .y = i == 2 ? 256 << 8 : 0,
			.z = i * 4.0f - 0.5f, .rw = flat_w ? 1 : 1 + i,
		};
		memcpy(pipe_at(p, prim->output[i]),
		       (float[2]){ i == 1 ? 256 : 0, i == 2 ? 256 : 0 }, 8);
	}
	return prim;
}

/* A quad of which some samples are covered, in some pixels all or none. */
static void some_quad(void)
{
	const unsigned int all = (1u << (1u << p->state.samples_log2)) - 1;
	struct tsr_fragment_quad *quad =
		pipe_quad(p, rnd() % 200 & ~1, rnd() % 200 & ~1, 0);

	quad->coverage = 0;
	for (unsigned int n = 0; n < 4; n++) {
		const uint64_t some = rnd() % 3 ? rnd() & all : rnd() % 2 ? all : 0;

		quad->coverage |= some << 16 * n;
	}
	if (!quad->coverage)
		quad->coverage = 1;
	quad->sample = rnd() % (1u << p->state.samples_log2);
}

static void random_samples(void)
{
	p->state.samples_log2 = rnd() % 5;
	p->state.shader.sample_shading = rnd() % 2;
	p->push[2] = rnd();
}

/* Any loads one after the other, of varyings and of what is special; the last one tells. */
static void test_points(void)
{
	pipe_varying(p, 0, 2);
	for (unsigned int i = 0; i < 2000; i++) {
		const unsigned int loads = 1 + rnd() % 4;
		struct load l[4];
		char text[2000] = "clause {\n\t*LSHIFT_AND.i32 r12, r59, 0x1, 0x0.b0\n\t+NOP\n}\n";

		random_samples();
		for (unsigned int k = 0; k < loads; k++) {
			const bool special = k + 1 < loads && rnd() % 4 == 0;

			l[k] = random_load(special);
			l[k].left = k + 1 < loads && rnd() % 4 == 0;
			if (l[k].left)
				add_skip(text, k);
			if (special)
				add_load(text, "LD_VAR_SPECIAL.f32.frag_z", &l[k], "", ", @r4");
			else
				add_load(text, "LD_VAR_IMM.f32", &l[k], ".v2",
					 k + 1 < loads ? ", index:0, @r4" : ", index:0, @r0");
			if (l[k].left)
				add_label(text, k);
		}
		strcat(text, PIPE_FINISH);
		start(text);
		position_prim(true);
		some_quad();
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		for (unsigned int n = 0; n < 4; n++) {
			const struct point at = last_point(l, loads, n);

			if (!(p->f->written[0][0] >> n & 1))
				continue;
			ktap_ok(color_float(n, 0) ==
				(float)(p->f->quad[0].x + (int)(n & 1) + at.x / 256.0));
			ktap_ok(color_float(n, 1) ==
				(float)(p->f->quad[0].y + (int)(n >> 1) + at.y / 256.0));
		}
	}
	p->state.samples_log2 = 0;
	p->state.shader.sample_shading = false;
}

/* 1/w and depth at any point, whoever has found the primitive's planes. */
static void test_special(void)
{
	static const char *const names[2][2] = {
		{ "LD_VAR_SPECIAL.f32.frag_z", "LD_VAR_SPECIAL.f32.frag_w" },
		{ "LD_VAR_SPECIAL.f16.frag_z", "LD_VAR_SPECIAL.f16.frag_w" },
	};

	for (unsigned int i = 0; i < 600; i++) {
		const bool w = rnd() % 2, half = rnd() % 4 == 0;
		const float bias = rnd() % 2 ? 0.125f : 0;
		struct load l = random_load(true);
		char text[2000] = "";

		random_samples();
		if (rnd() % 2)
			strcat(text, CLAUSE("LD_VAR_IMM.f32.clobber.center.v2 r61, index:0, @r4"));
		add_load(text, names[half][w], &l, "", ", @r0");
		strcat(text, PIPE_FINISH);
		start(text);
		position_prim(false)->bias = bias;
		some_quad();
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		for (unsigned int n = 0; n < 4; n++) {
			const struct point at = last_point(&l, 1, n);
			const double x = p->f->quad[0].x + (int)(n & 1) + at.x / 256.0;
			const double y = p->f->quad[0].y + (int)(n >> 1) + at.y / 256.0;
			const float expected = w ? 1 + x / 256 + y / 128 :
						   x / 64 + y / 32 - 0.5 + bias;

			if (!(p->f->written[0][0] >> n & 1))
				continue;
			if (half)
				ktap_eq(color(n, 0) & 0xffff, tsr_float_to_half(expected));
			else
				ktap_ok(color_float(n, 0) == expected);
		}
	}
	p->state.samples_log2 = 0;
	p->state.shader.sample_shading = false;
}

/* ---- Which kind ------------------------------------------------------------------------------ */

static float *value(unsigned int prim, unsigned int vertex, unsigned int varying)
{
	return pipe_at(p, p->f->prim[prim].output[vertex] + 16 * (varying % 16));
}

/* A triangle over the window with w of its own at each vertex, and random outputs. */
static void random_triangle(void)
{
	const unsigned int n = p->f->prims;
	struct tsr_fragment_prim *prim = pipe_prim(p, 3);

	for (unsigned int i = 0; i < 3; i++) {
		prim->prim.v[i] = (struct tsr_screen_vertex){
			.x = (i == 1 ? 512 << 8 : 0) + rnd() % 100,
			.y = (i == 2 ? 512 << 8 : 0) + rnd() % 100, .rw = 1.0f / (1 + 3 * i),
		};
		for (unsigned int k = 0; k < 64; k++)
			value(n, i, k / 4)[k % 4] = rnd_float();
	}
	prim->prim.provoking = rnd() % 3;
}

/* Component @c of varying @k at a point, by weights of the vertices. */
static double expected(const struct tsr_fragment_prim *prim, unsigned int k, unsigned int c,
		       double x, double y, bool linear)
{
	const struct tsr_screen_vertex *v = prim->prim.v;
	double x0 = v[0].x / 256.0, y0 = v[0].y / 256.0, sum = 0, weight = 0;
	double x1 = v[1].x / 256.0 - x0, y1 = v[1].y / 256.0 - y0;
	double x2 = v[2].x / 256.0 - x0, y2 = v[2].y / 256.0 - y0, area = x1 * y2 - x2 * y1;
	double b[3] = { 0, ((x - x0) * y2 - (y - y0) * x2) / area,
			((y - y0) * x1 - (x - x0) * y1) / area };

	b[0] = 1 - b[1] - b[2];
	for (unsigned int i = 0; i < 3; i++) {
		const float *at = pipe_at(p, prim->output[i] + 16 * (k % 16));
		const double rw = linear ? 1 : v[i].rw;

		sum += b[i] * rw * at[c];
		weight += b[i] * rw;
	}
	return sum / weight;
}

/* Flat and linear ones among 40; the masks tell of the first 32. */
static void test_kinds(void)
{
	for (unsigned int k = 0; k < 40; k++)
		pipe_attribute(p, PIPE_OUTPUTS, k, 31, TSR_PIXEL_FORMAT_RGBA32F, k % 16 * 16,
			       false);
	for (unsigned int i = 0; i < 800; i++) {
		const unsigned int k = i % 40;
		/* what immediates can name */
		const bool indirect = k > 19 || rnd() % 4 == 0;
		char text[1000];

		p->state.shader.flat_varyings = rnd() & rnd();
		p->state.shader.linear_varyings = rnd();
		sprintf(text,
			CLAUSE("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:%u, @r4")
			CLAUSE("LD_VAR%s.f32.store.center.v4 r61, %s%u%s, @r0") PIPE_FINISH,
			rnd() % 20, indirect ? "" : "_IMM", indirect ? "u" : "index:",
			indirect ? 2 : k, indirect ? ".w0" : "");
		p->push[4] = k;
		start(text);
		for (unsigned int n = 0; n < 3; n++)
			random_triangle();
		for (unsigned int q = 0; q < 9; q++)
			pipe_quad(p, rnd() % 200 & ~1, rnd() % 200 & ~1, q % (1 + i % 3));
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		for (unsigned int n = 0; n < 36; n++) {
			const struct tsr_fragment_quad *quad = &p->f->quad[n / 4];
			const struct tsr_fragment_prim *prim = &p->f->prim[quad->prim];
			const bool flat = k < 32 && p->state.shader.flat_varyings >> k & 1;
			const bool linear = k < 32 && p->state.shader.linear_varyings >> k & 1;

			for (unsigned int c = 0; c < 4; c++) {
				double e = flat ? value(quad->prim, prim->prim.provoking, k)[c] :
						  expected(prim, k, c, quad->x + (n & 1) + 0.5,
							   quad->y + (n >> 1 & 1) + 0.5, linear);

				ktap_ok(fabs(color_float(n, c) - e) <= (flat ? 0 : 1e-6));
			}
		}
	}
	p->state.shader.flat_varyings = p->state.shader.linear_varyings = 0;
}

/* Another varying in each pixel of a quad, of which some are not there. */
static void test_indices(void)
{
	static const char text[] =
		"clause {\n"
		"	*LSHIFT_AND.i32 r4, r59, 0x1, 0x0.b0\n"
		"	+NOP\n"
		"	*RSHIFT_AND.i32 r5, r59, 0x2, 0xf.b0\n"
		"	+NOP\n"
		"}\n"
		"clause {\n"
		"	*NOP\n"
		"	+IADD.s32 r4:t1, r4, r5\n"
		"}\n"
		CLAUSE("LD_VAR.f32.store.center.v4 r61, r4, @r0") PIPE_FINISH;

	p->state.shader.helpers = false;
	for (unsigned int k = 0; k < 4; k++)
		pipe_varying(p, k, 4);
	for (unsigned int i = 0; i < 32; i++) {
		start(text);
		random_triangle();
		random_triangle();
		for (unsigned int q = 0; q < 4; q++) {
			pipe_quad(p, rnd() % 200 & ~1, rnd() % 200 & ~1, q % 2);
			for (unsigned int n = 0; n < 4; n++)
				p->f->quad[q].coverage ^= (uint64_t)(i % 16 >> n & 1) << 16 * n;
		}
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		for (unsigned int n = 0; n < 16; n++) {
			const struct tsr_fragment_quad *quad = &p->f->quad[n / 4];

			for (unsigned int c = 0; quad->coverage >> 16 * (n % 4) & 1 && c < 4; c++)
				ktap_ok(fabs(color_float(n, c) -
					     expected(&p->f->prim[quad->prim], n % 4, c,
						      quad->x + (n & 1) + 0.5,
						      quad->y + (n >> 1 & 1) + 0.5, false)) < 1e-6);
		}
	}
	p->state.shader.helpers = true;
}

/* ---- Where they are -------------------------------------------------------------------------- */

static const struct {
	uint8_t format, bytes;
} words[] = {
	{ TSR_PIXEL_FORMAT_R32UI, 4 }, { TSR_PIXEL_FORMAT_RG32UI, 8 },
	{ TSR_PIXEL_FORMAT_RGB32UI, 12 }, { TSR_PIXEL_FORMAT_RGBA32UI, 16 },
	{ TSR_PIXEL_FORMAT_R32F, 4 }, { TSR_PIXEL_FORMAT_RG32F, 8 },
	{ TSR_PIXEL_FORMAT_RGB32F, 12 }, { TSR_PIXEL_FORMAT_RGBA32F, 16 },
};

/* The words of a varying of @bytes at byte @at of @size bytes at @va; alpha 1 as @one has it. */
static void want_words(uint64_t va, int64_t at, uint64_t size, unsigned int bytes, uint32_t one,
		       uint32_t word[4])
{
	memset(word, 0, 16);
	if (at < 0 || (uint64_t)at + bytes > size)
		return;
	word[3] = one;
	memcpy(word, pipe_at(p, va + at), bytes);
}

/* A buffer and outputs that may end before a varying does, across pages. */
struct place {
	uint64_t va;
	int32_t offset;
	uint32_t stride, size;
	bool output;
	unsigned int bytes;
	uint32_t one;			/* alpha of formats without */
};

static struct place random_place(unsigned int format)
{
	struct place l = {
		.va = BUFFER - 64 * (rnd() % 4), .offset = 4 * rnd_in(-8, 16),
		.stride = rnd() % 4 ? rnd() % 7 * 4 : 0, .size = rnd() % 400,
		.output = rnd() % 2, .bytes = words[format].bytes,
		.one = format < 4 ? 1 : 0x3f800000,
	};

	pipe_buffer(p, 20, TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, l.va, l.stride, l.size, 0, 0);
	pipe_attribute(p, PIPE_OUTPUTS, 20, l.output ? 31 : 20, words[format].format, l.offset,
		       false);
	p->state.shader.output_stride = 4 * (rnd() % 30);
	return l;
}

/* A triangle of @l, of which all vertices are the same if @smooth; what is there to @word. */
static void place_prim(const struct place *l, unsigned int n, bool smooth, uint32_t word[4])
{
	struct tsr_fragment_prim *prim;
	unsigned int v;
	uint32_t *id;

	random_triangle();
	prim = &p->f->prim[n];
	v = prim->prim.provoking;
	/* the end of a page is near */
	prim->output[v] = PIPE_VALUES + 0x4000 + 0x2000 * n - 4 * (rnd() % 100);
	prim->ids = IDS + 0x2000 * n + 8 * (rnd() % 600);
	prim->padded = 1 + rnd() % 20;
	for (unsigned int k = 0; k < 3; k++) {
		prim->prim.slot[k] = smooth ? n : 3 * n + k;
		if (smooth)
			prim->output[k] = prim->output[v];
	}
	for (unsigned int k = 0; k < 64; k++)
		((float *)pipe_at(p, prim->output[v]))[k] = rnd_float();
	id = pipe_at(p, prim->ids + 8 * prim->prim.slot[v]);
	id[0] = rnd() % 12;
	id[1] = rnd() % 3;
	if (l->output)
		want_words(prim->output[v], l->offset, p->state.shader.output_stride, l->bytes,
			   l->one, word);
	else
		want_words(l->va, l->offset + (int64_t)(id[0] + prim->padded * id[1]) * l->stride,
			   l->size, l->bytes, l->one, word);
	if (l->output && rnd() % 8 == 0) {
		memset(word, 0, 16);
		for (unsigned int k = 0; k < 3; k++)
			prim->output[k] = smooth || k == v ? 0 : prim->output[k];
	}
}

/*
 * In a buffer, by the vertex's linear number, or among outputs: of the provoking vertex, or, of
 * floats, everywhere, if all vertices have the same.
 */
static void test_places(void)
{
	static const char *const texts[] = {
		CLAUSE("LD_VAR_FLAT_IMM.v4.auto index:20, @r0") PIPE_FINISH,
		CLAUSE("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:0, @r4")
		CLAUSE("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:20, @r0") PIPE_FINISH,
	};

	pipe_varying(p, 0, 4);
	for (unsigned int i = 0; i < 3000; i++) {
		const unsigned int format = rnd() % 8, smooth = format > 3 && rnd() % 2;
		uint32_t word[2][4];
		struct place l;

		start(texts[smooth]);
		l = random_place(format);
		for (unsigned int k = 0; k < 512; k++)
			((float *)pipe_at(p, BUFFER - 1024))[k] = rnd_float();
		for (unsigned int n = 0; n < 2; n++) {
			place_prim(&l, n, smooth, word[n]);
			pipe_quad(p, 4, 6, n);
		}
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		for (unsigned int n = 0; n < 32; n++)
			ktap_eq(color(n / 4, n % 4), word[n / 16][n % 4]);
	}
	p->state.shader.output_stride = PIPE_STRIDE;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

#define NOWHERE (PIPE_DATA + 2 * PIPE_DATA_SIZE)

/* Varying 1 of the second of two triangles, whose vertices' numbers are at @ids, cannot be had. */
static void check_fault(uint64_t ids, unsigned int code, uint64_t addr)
{
	static const char text[] =
		CLAUSE("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:0, @r4")
		CLAUSE("LD_VAR_IMM.f32.store.center.v4 zero.w0, index:1, @r0") PIPE_FINISH;

	start(text);
	random_triangle();
	random_triangle();
	p->f->prim[1].ids = ids;
	pipe_quad(p, 10, 20, 1);
	ktap_eq(pipe_fragments(p), TSR_STEP_FAULT);
	ktap_eq(p->sh->fault.code, code);
	ktap_eq(p->sh->fault.addr, addr);
	ktap_eq(p->sh->fault.group[0], 10);
	ktap_eq(p->sh->fault.group[1], 20);
}

static void test_faults(void)
{
	const uint64_t entry = PIPE_OUTPUTS + 8;
	struct tsr_attribute a = { .buffer = 31, .format = TSR_PIXEL_FORMAT_RGBA32F };

	memset(pipe_at(p, IDS), 0, 8);
	pipe_varying(p, 0, 4);
	a.big_endian = true;
	tsr_pack_attribute(pipe_at(p, entry), &a);
	check_fault(IDS, TSR_FAULT_SHADER_STATE, entry);
	a.big_endian = false;
	a.order = 255;
	tsr_pack_attribute(pipe_at(p, entry), &a);
	check_fault(IDS, TSR_FAULT_SHADER_STATE, entry);
	a.order = 0;
	a.buffer = 21;
	tsr_pack_attribute(pipe_at(p, entry), &a);
	pipe_buffer(p, 21, TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS, BUFFER, 16, 64, 0, 0);
	check_fault(IDS, TSR_FAULT_SHADER_STATE, PIPE_BUFFERS + 16 * 21);
	pipe_buffer(p, 21, TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, NOWHERE, 0, 16, 0, 0);
	check_fault(IDS, TSR_FAULT_MMU_UNMAPPED, NOWHERE);
	pipe_buffer(p, 21, TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, BUFFER, 0, 16, 0, 0);
	check_fault(NOWHERE, TSR_FAULT_MMU_UNMAPPED, NOWHERE);
	p->program.attribute_buffers = PIPE_DATA + PIPE_DATA_SIZE - 16 * 2;
	a.buffer = 2;
	tsr_pack_attribute(pipe_at(p, entry), &a);
	tsr_pack_attribute(pipe_at(p, entry - 8), &a);
	check_fault(IDS, TSR_FAULT_MMU_UNMAPPED, PIPE_DATA + PIPE_DATA_SIZE);
	p->program.attribute_buffers = PIPE_BUFFERS;
}

/* ---- Bundles --------------------------------------------------------------------------------- */

/*
 * Varyings of every kind: 0 to 3 in floats, one in perspective or not; 4 not at a multiple of four
 * bytes; 5 and 6 partly beyond the outputs or before them; 7 of bytes; 8 of integers; 9 in no
 * table.
 */
static void every_kind(void)
{
	for (unsigned int k = 0; k < 4; k++)
		pipe_varying(p, k, 1 + k);
	pipe_attribute(p, PIPE_OUTPUTS, 5, 31, TSR_PIXEL_FORMAT_RGBA32F, PIPE_STRIDE - 12, false);
	pipe_attribute(p, PIPE_OUTPUTS, 6, 31, TSR_PIXEL_FORMAT_RG32F, -4, false);
	pipe_attribute(p, PIPE_OUTPUTS, 4, 31, TSR_PIXEL_FORMAT_RG16_UNORM, 34, false);
	pipe_attribute(p, PIPE_OUTPUTS, 7, 31, TSR_PIXEL_FORMAT_RGBA8_UNORM, 16, false);
	pipe_attribute(p, PIPE_OUTPUTS, 8, 31, TSR_PIXEL_FORMAT_RG32UI, 16, false);
	p->program.varying_count = 9;
	p->state.shader.linear_varyings = 1 << 1;
}

/* Triangles mostly, some of which are clipped, or of one w; some without outputs. */
static void any_prim(void)
{
	const unsigned int n = p->f->prims, vertices = rnd() % 8 ? 3 : 1 + rnd() % 3;
	struct tsr_fragment_prim *prim;

	random_triangle();
	prim = &p->f->prim[n];
	prim->prim.vertices = vertices;
	prim->prim.provoking = rnd() % vertices;
	prim->prim.front = rnd() % 2;
	prim->prim.clipped = rnd() % 8 == 0;
	for (unsigned int i = 0; i < 3; i++) {
		prim->prim.v[i].x += rnd() % 20000;
		if (rnd() % 8 == 0)
			prim->prim.v[i].rw = prim->prim.v[0].rw;
		prim->prim.slot_rw[i] = 1.0f / (1 + rnd() % 8);
		for (unsigned int k = 0; k < 3; k++)
			prim->prim.weight[i][k] = rnd_float();
		/* close to the end of a page */
		if (rnd() % 8 == 0)
			prim->output[i] = (prim->output[i] | 4095) + 1 - 4 * (rnd() % 20);
	}
	if (rnd() % 16 == 0)
		memset(prim->output, 0, sizeof(prim->output));
	/* all of one w */
	for (unsigned int i = 1; rnd() % 2 && i < 3; i++)
		prim->prim.v[i].rw = prim->prim.v[0].rw;
}

/* As many primitives, in order or not, of quads some of which are covered in part or not at all. */
static void any_bundle(uint64_t seed)
{
	static const unsigned int most[] = { 1, 2, 3, 8, 32 };
	unsigned int prims, quads;
	bool sorted, whole;

	rnd_state = seed;
	prims = most[rnd() % 5];
	quads = rnd() % 2 ? TSR_BUNDLE_QUADS : 1 + rnd() % TSR_BUNDLE_QUADS;
	sorted = rnd() % 2;
	whole = rnd() % 2;
	for (unsigned int k = 0; k < 0x3000; k++)
		((float *)pipe_at(p, PIPE_VALUES))[k] = rnd_float();
	for (unsigned int i = 0; i < prims; i++)
		any_prim();
	for (unsigned int q = 0; q < TSR_BUNDLE_QUADS; q++)
		p->f->quad[q].prim = rnd() % prims;
	for (unsigned int q = 0; q < quads; q++) {
		const unsigned int prim = sorted ? q * prims / quads : rnd() % prims;
		struct tsr_fragment_quad *quad =
			pipe_quad(p, rnd() % 512 & ~1, rnd() % 512 & ~1, prim);

		for (unsigned int n = 0; !whole && n < 4; n++)
			quad->coverage &= ~((uint64_t)(rnd() % 2) << 16 * n);
		if (!whole && rnd() % 4 == 0)
			quad->coverage = 0;
	}
}

/* Three varyings one after the other, the second of front faces alone. */
static void any_text(char *text)
{
	static const char *const index[] = { "0", "1", "2", "3", "2", "3", "3", "4", "5", "6", "7",
					     "8", "9", "9" };
	static const char *const how[] = { "store.center", "store.center", "clobber.center",
					   "store.sample", "store.explicit", "retrieve" };
	const char *k[3], *way[3], *sizes[] = { "", ".v2", ".v3", ".v4" };

	for (unsigned int i = 0; i < 3; i++) {
		k[i] = index[rnd() % 14];
		way[i] = how[rnd() % 6];
	}
	sprintf(text,
		"clause {\n\t*MOV.i32 r0, 0x11\n\t+NOP\n\t*MOV.i32 r1, 0x22\n\t+NOP\n"
		"\t*MOV.i32 r2, 0x33\n\t+NOP\n\t*MOV.i32 r3, 0x44\n\t+NOP\n\t*NOP\n\t+NOP\n}\n"
		CLAUSE("LD_VAR_IMM.f32.%s%s r61, index:%s, @r4")
		"clause wait=0 flow=nbtb_unconditional {\n\t*NOP\n"
		"\t+BRANCHZ.i32.ne r58, back\n}\n"
		CLAUSE("LD_VAR_IMM.f32.%s%s r61, index:%s, @r0")
		"back:\n"
		CLAUSE("LD_VAR_IMM.f32.%s%s r61, index:%s, @r%u")
		PIPE_FINISH, way[0], sizes[rnd() % 4], k[0], way[1], sizes[rnd() % 4], k[1], way[2],
		sizes[rnd() % 4], k[2], rnd() % 4);
}

/* The results of a warp group: colors, and the number of bytes it has read. */
struct left {
	union tsr_lanes color[4][TSR_BUNDLE_WARPS];
	uint64_t read;
};

static void run_bundle(const char *text, uint64_t seed, const struct tsr_msg_path *path,
		       struct left *left)
{
	p->b->gpu->env.msg_path = path;
	start(text);
	any_bundle(seed);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	memset(left, 0, sizeof(*left));
	left->read = p->stats.read_bytes;
	for (unsigned int i = 0; i < TSR_BUNDLE_LANES * 4; i++) {
		const unsigned int c = i / TSR_BUNDLE_LANES, w = i / 16 % TSR_BUNDLE_WARPS;

		if (p->f->written[0][w] >> i % 16 & 1)
			left->color[c][w].u[i % 16] = color(i % TSR_BUNDLE_LANES, c);
	}
}

static void test_bundles(void)
{
	static const char *const names[] = { "sse2", "avx2", "avx512" };
	const struct tsr_msg_path *best = p->b->gpu->env.msg_path;
	static struct left want, got;
	unsigned int known = 0;
	char text[2000];

	every_kind();
	for (unsigned int i = 0; i < 600; i++) {
		const uint64_t seed = 1000 + i;
		const struct tsr_simd *alu = tsr_simd_named(names[i % 3]);

		rnd_state = 7 * seed;
		any_text(text);
		run_bundle(text, seed, NULL, &want);
		for (unsigned int n = 0; n < TSR_BUNDLE_LANES; n++)
			known += want.color[0][n / 16].u[n % 16] > 1;
		if (!alu)
			continue;
		run_bundle(text, seed, alu->messages, &got);
		if (!ktap_eq(got.read, want.read) ||
		    !ktap_mem_eq(got.color, want.color, sizeof(got.color)))
			ktap_note("seed %llu", (unsigned long long)seed);
	}
	ktap_ok(known > 10000);
	p->b->gpu->env.msg_path = best;
	p->program.varying_count = 40;
	p->state.shader.linear_varyings = 0;
}

int main(void)
{
	static const struct tsr_config late = { .late_messages = true };

	ktap_start();
	for (unsigned int i = 0; i < 2; i++) {
		p = pipe_new(i ? &late : NULL);
		ktap_run("[PIX2] [PIX9] the point of a load behind any others", test_points);
		ktap_run("[PIX2] 1/w and depth at any point", test_special);
		ktap_run("[PIX2] masks of flat and linear varyings", test_kinds);
		ktap_run("[PIX2] an index for each pixel", test_indices);
		ktap_run("[PIX2] varyings in buffers and in outputs that end", test_places);
		ktap_run("[PIX2] what is malformed or nowhere", test_faults);
		if (!i)
			ktap_run("[PIX2] [PIX10] bundles of any primitives on every SIMD path",
				 test_bundles);
		pipe_free(p);
	}
	return ktap_finish();
}
