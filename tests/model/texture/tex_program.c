/* SPDX-License-Identifier: MIT */
/*
 * test: TIMEOUT=240 TSAN=0
 *
 * Fragment programs that sample what they interpolate, whole bundles at once: VAR_TEX, preloaded or
 * not, LD_VAR_IMM with TEXS_2D or TEXC. All have the same results, bit for bit, on every SIMD path
 * and lane by lane without a texture cache, and those of the reference in double precision
 * (lib/texture_ref.h); the paths count the same texels and blocks.
 */
#include <math.h>
#include <string.h>

#include "ktap.h"
#include "pipe.h"
#include "simd/simd.h"
#include "texture_ref.h"

#define LOAD(count, to) \
	"clause wait=0 {\n" \
	"	*NOP\n" \
	"	+LD_VAR_IMM.f32.store.center.v" count " zero.w0, index:0, " to "\n" \
	"}\n"
#define SAMPLE(insn) \
	"clause wait=0 {\n" \
	"	*NOP\n" \
	"	+" insn ", @r0\n" \
	"}\n"

/* Ways to sample; the first hands out the coordinates. */
static const char *const programs[] = {
	LOAD("4", "@r0") PIPE_FINISH,
	SAMPLE("VAR_TEX.f32.store.skip.computed_lod.center varying_index:0, texture_index:0")
		PIPE_FINISH,
	PIPE_FINISH,
	LOAD("2", "@r4") SAMPLE("TEXS_2D.f32.computed_lod r4, r5, texture_index:0, sampler_index:0")
		PIPE_FINISH,
	LOAD("2", "@r4") SAMPLE("TEXC r4, r5, 0xf4787800") PIPE_FINISH,
	/* 16-bit results */
	SAMPLE("VAR_TEX.f16.store.skip.computed_lod.center varying_index:0, texture_index:0")
		PIPE_FINISH,
	PIPE_FINISH,
	LOAD("2", "@r4") SAMPLE("TEXS_2D.f16.computed_lod r4, r5, texture_index:0, sampler_index:0")
		PIPE_FINISH,
	/* the word goes by a temporary, as where a clause has no room for the constant elsewhere */
	LOAD("2", "@r4") "clause wait=0 {\n	*MOV.i32 r8:t0, 0xf0787800\n	+NOP\n"
		"	*NOP\n	+TEXC r4, r5, t0, @r0\n}\n" PIPE_FINISH,
	/* textureLod(t, varying, 0.0): a public compiler makes a preloaded message of it */
	SAMPLE("VAR_TEX.f32.store.skip.zero_lod.center varying_index:0, texture_index:0")
		PIPE_FINISH,
	PIPE_FINISH,
	"clause wait=0 {\n"
	"	*MOV.i32 r0, r4\n	+MOV.i32 r1, r5\n"
	"	*MOV.i32 r2, r6\n	+MOV.i32 r3, r7\n	*NOP\n	+NOP\n"
	"}\n" PIPE_FINISH,
};

enum { COORDINATES, VAR_TEX, PRELOADED, COMPACT, WORD, HALF, HALF_PRELOADED, HALF_COMPACT,
       HALF_WORD, WAYS, ZERO = WAYS, ZERO_PRELOADED, ZERO_SECOND };

static struct pipe *p;

/* ---- Bundles --------------------------------------------------------------------------------- */

/* A bundle, to be run again. */
struct bundle {
	unsigned int prims, quads;
	struct tsr_prim prim[TSR_BUNDLE_QUADS];
	float at[TSR_BUNDLE_QUADS][3][2];	/* varying 0, by primitive and vertex */
	struct tsr_fragment_quad quad[TSR_BUNDLE_QUADS];
	bool helpers;
};

static double between(double low, double high)
{
	return low + tex_unit() * (high - low);
}

/* Primitives that show the texture at some scale, quads of pixels near each other or anywhere. */
static void make(struct bundle *b, const struct tex *t, const struct tex_sampler *s, bool whole)
{
	bool flat = tex_random() % 2, near = tex_random() % 3;

	memset(b, 0, sizeof(*b));
	b->prims = 1 + tex_random() % 5;
	b->quads = whole ? TSR_BUNDLE_QUADS : b->prims + tex_random() % (33 - b->prims);
	b->helpers = whole || tex_random() % 2;
	for (unsigned int i = 0; i < b->prims; i++) {
		double scale = exp2(between(-3, 3)), turn = between(0, 6.28);
		double base[2] = { between(-1, 2) * t->w, between(-1, 2) * t->h };

		b->prim[i] = (struct tsr_prim){ .vertices = 3, .front = true };
		for (unsigned int v = 0; v < 3; v++) {
			int x = (int)(tex_random() % 512) - 128;
			int y = (int)(tex_random() % 512) - 128;
			double c = cos(turn) * scale, d = sin(turn) * scale;
			double at[2] = { base[0] + x * c - y * d, base[1] + x * d + y * c };

			b->prim[i].v[v].x = x * 256;
			b->prim[i].v[v].y = y * 256;
			b->prim[i].v[v].rw = flat ? 1 : (float)between(0.3, 1);
			for (unsigned int k = 0; k < 2; k++)
				b->at[i][v][k] = (float)(s->normalized ? at[k] / (k ? t->h : t->w)
								       : at[k]);
		}
	}
	for (unsigned int i = 0; i < b->quads; i++) {
		struct tsr_fragment_quad *q = &b->quad[i];

		q->x = near ? 8 + 2 * (i % 4) + 8 * (i / 16) : 2 * (tex_random() % 128);
		q->y = near ? 16 + 2 * (i / 4 % 4) : 2 * (tex_random() % 128);
		q->prim = i * b->prims / b->quads;
		for (unsigned int k = 0; k < 4; k++)
			q->coverage |= (uint64_t)(whole || tex_random() % 4) << 16 * k;
	}
}

static void begin(unsigned int way)
{
	struct tsr_shader_state *s = &p->state.shader;

	s->preload_0 = way == PRELOADED || way == HALF_PRELOADED ? TSR_PRELOAD_VAR_TEX
								 : TSR_PRELOAD_NONE;
	s->preload_0_half = way == HALF_PRELOADED;
	s->preload_0_zero_lod = s->preload_1_zero_lod = false;
	if (way >= ZERO) {
		s->preload_0 = way == ZERO_PRELOADED ? TSR_PRELOAD_VAR_TEX : TSR_PRELOAD_NONE;
		s->preload_0_zero_lod = way == ZERO_PRELOADED;
	}
	s->preload_1 = way == ZERO_SECOND ? TSR_PRELOAD_VAR_TEX : TSR_PRELOAD_NONE;
	s->preload_1_zero_lod = way == ZERO_SECOND;
	s->preload_0_varying = s->preload_0_texture = 0;
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, programs[way]);
}

/* Run @b; colors of its lanes. */
static void run(const struct bundle *b, union tsr_lanes out[4][TSR_BUNDLE_WARPS])
{
	p->state.shader.helpers = b->helpers;
	tsr_fragments_begin(p->f, &p->state);
	for (unsigned int i = 0; i < b->prims; i++) {
		struct tsr_fragment_prim *prim = pipe_prim(p, 3);

		memcpy(prim->prim.v, b->prim[i].v, sizeof(prim->prim.v));
		for (unsigned int v = 0; v < 3; v++)
			memcpy(pipe_at(p, prim->output[v]), b->at[i][v], sizeof(b->at[i][v]));
	}
	for (unsigned int i = 0; i < b->quads; i++)
		*pipe_quad(p, 0, 0, 0) = b->quad[i];
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	memset(out, 0, 4 * TSR_BUNDLE_WARPS * sizeof(out[0][0]));
	for (unsigned int n = 0; n < 4 * b->quads; n++) {
		for (unsigned int c = 0; c < 4 && b->quad[n / 4].coverage >> n % 4 * 16 & 1; c++)
			out[c][n / 16].f[n % 16] =
				tsr_fragments_color(p->f, 0, c, n / 16)->f[n % 16];
	}
}

/* ---- Textures -------------------------------------------------------------------------------- */

static struct tex some_texture(struct tex_sampler *s)
{
	static const unsigned int formats[] = { 187, 187, 187, 191, 171, 223, 0x59, 155 };
	struct tex t = tex_make(TEX_2D, formats[tex_random() % 8]);

	t.srgb = tex_random() % 4 == 0;
	t.corners = tex_random() % 8 == 0;
	*s = tex_make_sampler(&t);
	/* the border is not decoded, so it is not what the reference says */
	for (unsigned int d = 0; d < 2 && t.srgb; d++)
		s->wrap[d] = 8 + s->wrap[d] % 2 * 4;
	tex_write(&t, 0);
	tex_write_sampler(s, 0);
	pipe_texture(p, &t);
	return t;
}

/* An empty cache, with the functions of path @name; NULL: lane by lane, without a cache. */
static void choose(const char *name)
{
	const struct tsr_simd *simd = name ? tsr_simd_named(name) : NULL;

	tsr_texture_cache_init(&p->sh->textures, simd);
	p->b->gpu->cfg.no_texture_cache = !simd;
	if (simd)
		p->b->gpu->env.msg_path = simd->messages;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static const char *const paths[] = { "sse2", "avx2", "avx512" };

static bool same(const struct tex *t, const struct tex_sampler *s, const char *path,
		 unsigned int way, union tsr_lanes a[4][TSR_BUNDLE_WARPS],
		 union tsr_lanes b[4][TSR_BUNDLE_WARPS])
{
	for (unsigned int i = 0; i < 4 * TSR_BUNDLE_LANES; i++) {
		unsigned int c = i / TSR_BUNDLE_LANES, lane = i % TSR_BUNDLE_LANES;

		if (a[c][lane / 16].u[lane % 16] == b[c][lane / 16].u[lane % 16])
			continue;
		ktap_note("format %u %ux%u levels %u tiled %u srgb %u wrap %u %u aniso %u",
			  t->format, t->w, t->h, t->levels, t->tiled, t->srgb, s->wrap[0],
			  s->wrap[1], s->anisotropy);
		return ktap_fail("%s, way %u: lane %u component %u is %08x, lane by lane %08x",
				 path, way, lane, c, a[c][lane / 16].u[lane % 16],
				 b[c][lane / 16].u[lane % 16]);
	}
	return true;
}

static void test_same(void)
{
	static union tsr_lanes want[2][4][TSR_BUNDLE_WARPS], got[4][TSR_BUNDLE_WARPS];
	const struct tsr_msg_path *best = p->b->gpu->env.msg_path;

	for (unsigned int n = 0; n < 150; n++) {
		struct tex_sampler s;
		struct tex t = some_texture(&s);
		struct tsr_texture_stats first = { 0 };
		struct bundle b;

		s.anisotropy = tex_random() % 4 ? 1 : 2 + tex_random() % 15;
		tex_write_sampler(&s, 0);
		pipe_texture(p, &t);
		make(&b, &t, &s, n % 2);
		choose(NULL);
		begin(COMPACT);
		run(&b, want[0]);
		begin(HALF_COMPACT);
		run(&b, want[1]);
		for (unsigned int i = 0; i < 3 * (WAYS - 1); i++) {
			unsigned int way = 1 + i % (WAYS - 1);
			const char *path = paths[i / (WAYS - 1)];
			const struct tsr_texture_stats *counted = &p->stats.texture;

			if (!tsr_simd_named(path))
				continue;
			choose(path);
			begin(way);
			run(&b, got);
			if (!same(&t, &s, path, way, got, want[way >= HALF]))
				return;
			if (!first.samples)
				first = *counted;
			if (!(ktap_eq(counted->samples, first.samples) &
			      ktap_eq(counted->touches, first.touches) &
			      ktap_eq(counted->fills, first.fills)))
				return;
		}
		choose(NULL);
		p->b->gpu->env.msg_path = best;
	}
	p->b->gpu->cfg.no_texture_cache = false;
}

/* The level of detail of lane @n's quad, whose coordinates are @at. */
static double level_of(const struct tex *t, const struct tex_sampler *s,
		       union tsr_lanes at[4][TSR_BUNDLE_WARPS], unsigned int n)
{
	double square[2] = { 0 };
	unsigned int q = n % 16 & ~3u;

	for (unsigned int d = 0; d < 2; d++) {
		const float *c = at[d][n / 16].f + q;
		double unit = s->normalized ? (d ? t->h : t->w) : 1;

		square[0] += pow((c[1] - c[0]) * unit, 2);
		square[1] += pow((c[2] - c[0]) * unit, 2);
	}
	return log2(fmax(square[0], square[1])) / 2;
}

/* Lanes of whole bundle @got at @at, against the reference at level @level, or each quad's own. */
static unsigned int judge(const struct tex_lookup *look, union tsr_lanes at[4][TSR_BUNDLE_WARPS],
			  union tsr_lanes got[4][TSR_BUNDLE_WARPS], const double *level)
{
	const struct tex *t = look->t;
	const struct tex_sampler *s = look->s;
	unsigned int judged = 0;

	for (unsigned int l = 0; l < TSR_BUNDLE_LANES; l++) {
		const double where[3] = { at[0][l / 16].f[l % 16], at[1][l / 16].f[l % 16] };
		const double lod = level ? *level : level_of(t, s, at, l);
		double wide = s->normalized ? 1 : t->w, high = s->normalized ? 1 : t->h, want[4];

		if (fabs(where[0]) > 50 * wide || fabs(where[1]) > 50 * high ||
		    !tex_ref_sample(look, where, lod, 0.01, want))
			continue;
		judged++;
		for (unsigned int c = 0; c < 4; c++) {
			float is = got[c][l / 16].f[l % 16];

			if (fabs(is - want[c]) <= 0.012 * fmax(1, fabs(want[c])))
				continue;
			ktap_note("format %u %ux%u mip %u wrap %u %u", t->format, t->w, t->h,
				  s->mip, s->wrap[0], s->wrap[1]);
			ktap_fail("lane %u component %u at %g %g, level %g: %g, not %g", l, c,
				  where[0], where[1], lod, is, want[c]);
			return 0;
		}
	}
	return judged;
}

static void test_reference(void)
{
	static union tsr_lanes at[4][TSR_BUNDLE_WARPS], got[4][TSR_BUNDLE_WARPS];
	unsigned int judged = 0;

	for (unsigned int n = 0; n < 200; n++) {
		struct tex_sampler s;
		struct tex t = some_texture(&s);
		const struct tex_lookup look = { .t = &t, .s = &s };
		struct bundle b;

		make(&b, &t, &s, true);
		choose(tsr_simd_best()->name);
		begin(COORDINATES);
		run(&b, at);
		begin(VAR_TEX + n % 2);
		run(&b, got);
		judged += judge(&look, at, got, NULL);
	}
	ktap_note("%u samples judged", judged);
	ktap_ok(judged > 10000);
}

/* Level 0, whatever the derivatives are, from either preloaded message as from the program. */
static void test_zero_lod(void)
{
	static union tsr_lanes at[4][TSR_BUNDLE_WARPS], got[4][TSR_BUNDLE_WARPS];
	static union tsr_lanes preloaded[4][TSR_BUNDLE_WARPS];
	const double level = 0;
	unsigned int judged = 0, unlike = 0;

	for (unsigned int n = 0; n < 200; n++) {
		struct tex_sampler s;
		struct tex t = some_texture(&s);
		const struct tex_lookup look = { .t = &t, .s = &s };
		struct bundle b;

		make(&b, &t, &s, true);
		choose(n % 3 ? tsr_simd_best()->name : NULL);
		begin(COORDINATES);
		run(&b, at);
		begin(ZERO);
		run(&b, got);
		judged += judge(&look, at, got, &level);
		for (unsigned int way = ZERO_PRELOADED; way <= ZERO_SECOND; way++) {
			begin(way);
			run(&b, preloaded);
			if (!same(&t, &s, "preloaded", way, preloaded, got))
				return;
		}
		begin(PRELOADED);
		run(&b, preloaded);
		unlike += memcmp(preloaded, got, sizeof(got)) != 0;
	}
	ktap_note("%u samples judged, %u bundles unlike those of computed levels", judged, unlike);
	ktap_ok(judged > 10000 && unlike > 50);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	tex_units = units_new(0);
	p = pipe_new(NULL);
	for (unsigned int i = 0; i < 4; i++)
		pipe_varying(p, i, 4);
	ktap_run("[TEX3] [TEX4] programs that sample have the reference's results", test_reference);
	ktap_run("[TEX3] [TEX4] preloaded messages at level 0", test_zero_lod);
	ktap_run("[TEX6] [TEX7] bundles: the same bits and counts on all SIMD paths", test_same);
	pipe_free(p);
	units_free(tex_units);
	return ktap_finish();
}
