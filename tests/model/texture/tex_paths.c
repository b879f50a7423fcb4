/* SPDX-License-Identifier: MIT */
/*
 * test: TIMEOUT=240 TSAN=0
 *
 * Samples of whole warps: every SIMD path, the filters that go lane by lane, and those without a
 * texture cache have the same results, bit for bit. All formats, layouts, wrap modes, levels.
 */
#include <math.h>
#include <string.h>

#include "ktap.h"
#include "texture/sampler.h"
#include "simd/simd.h"
#include "texture_ref.h"

static struct units *u;

/* The cost of samples. */
struct cost {
	uint64_t samples, bytes, cycles;
};

static struct cost cost_of(void)
{
	return (struct cost){
		.samples = tsr_texture_counted(u->textures)->samples,
		.bytes = u->env.cost.read_bytes, .cycles = u->env.cost.cycles,
	};
}

static struct cost since(struct cost before)
{
	const struct cost now = cost_of();

	return (struct cost){
		.samples = now.samples - before.samples, .bytes = now.bytes - before.bytes,
		.cycles = now.cycles - before.cycles,
	};
}

static bool same_cost(struct cost is, struct cost want)
{
	return ktap_eq(is.samples, want.samples) & ktap_eq(is.bytes, want.bytes) &
	       ktap_eq(is.cycles, want.cycles);
}

/* The inputs of a message, to run it again, and its results. */
struct message {
	union tsr_lanes src[3], staging[8], results[4];
	struct cost cost;
	uint16_t lanes;
};

#define STAGING 20

static enum tsr_step run(struct message *m)
{
	const struct cost before = cost_of();
	enum tsr_step step;

	memcpy(u->src, m->src, sizeof(m->src));
	for (unsigned int i = 0; i < 8; i++)
		*units_reg(u, STAGING + i) = m->staging[i];
	step = units_run(u, STAGING, m->lanes);
	m->cost = since(before);
	for (unsigned int i = 0; i < 4; i++)
		m->results[i] = *units_reg(u, STAGING + i);
	return step;
}

/* Coordinates near each other, as fragments' are, or anywhere. */
static void coordinates(struct message *m, const struct tex *t, const struct tex_sampler *s)
{
	double scale = exp2(tex_unit() * 8 - 5);
	double unit[2] = { s->normalized || t->dim == TEX_CUBE ? t->w : 1,
			   s->normalized || t->dim == TEX_CUBE ? t->h : 1 };
	bool coherent = tex_random() % 4, wild = tex_random() % 16 == 0;
	double base[2], dx[2], dy[2];
	unsigned int face = tex_random() % 6;

	for (unsigned int d = 0; d < 2; d++) {
		base[d] = (t->dim == TEX_CUBE ? tex_unit() : tex_unit() * 4 - 1.5) *
			  (d ? t->h : t->w);
		dx[d] = (tex_unit() - 0.5) * scale;
		dy[d] = (tex_unit() - 0.5) * scale * (tex_random() % 2 ? 0.1 : 1);
	}
	for (unsigned int l = 0; l < 16; l++) {
		/* quads of 2 by 2, in two rows of two */
		int x = (l & 1) + (l >> 2 & 1) * 2, y = (l >> 1 & 1) + (l >> 3) * 2;

		for (unsigned int d = 0; d < 2; d++) {
			double c = base[d] + x * dx[d] + y * dy[d];

			if (!coherent)
				c = (tex_unit() * 4 - 1.5) * (d ? t->h : t->w);
			m->src[d].u[l] = as_bits(c / unit[d]);
			if (wild && tex_random() % 3 == 0)
				m->src[d].u[l] = tex_random() << 8;
		}
		m->src[2].u[l] = (tex_random() % 8 ? face : tex_random() % 8) << 29;
	}
}

/* A message: TEXC with a level, a bias or neither, or a compact form. */
static void make(struct message *m, const struct tex *t, const struct tex_sampler *s)
{
	static const unsigned int results[] = { 4, 4, 4, 0, 5, 7, 2 };
	unsigned int mode = 4 + tex_random() % 4, n = 0;
	bool array = tex_random() % 3 == 0, cube = t->dim == TEX_CUBE;
	unsigned int mask = tex_random() % 3 ? 15 : tex_random() % 16;
	unsigned int result = results[tex_random() % 7];

	coordinates(m, t, s);
	m->lanes = tex_random() % 4 ? UNITS_ALL_LANES : tex_random();
	for (unsigned int i = 0; i < 8; i++) {
		for (unsigned int l = 0; l < 16; l++)
			m->staging[i].u[l] = tex_random();
	}
	if (tex_random() % 4 == 0) {
		units_insn(u, cube ? TSR_OP_ADD_TEXS_CUBE_F32 : TSR_OP_ADD_TEXS_2D_F32);
		u->insn.mod[TSR_MOD_LOD_MODE] = tex_random() % 2;
		return;
	}
	units_insn(u, TSR_OP_ADD_TEXC);
	for (unsigned int l = 0; l < 16; l++) {
		if (cube)
			m->src[0].u[l] = (m->src[0].u[l] & 0x1fffffff) | m->src[2].u[l];
		m->src[2].u[l] = 1 << 11 | 7 << 12 | (uint32_t)array << 17 | t->dim << 18 |
				 mode << 20 | result << 24 | mask << 28;
		if (mode <= 5)
			m->staging[n].u[l] = ((tex_random() % 1500 - 300) & 0xffff) |
					     (tex_random() % 300) << 16;
	}
	n += mode <= 5;
	for (unsigned int l = 0; array && l < 16; l++)
		m->staging[n].u[l] = tex_random() % (t->layers + 1);
}

static bool same(const struct message *a, const struct message *b, const struct tex *t,
		 const struct tex_sampler *s, const char *what)
{
	for (unsigned int c = 0; c < 4; c++) {
		for (unsigned int l = 0; l < 16; l++) {
			if (a->results[c].u[l] == b->results[c].u[l])
				continue;
			ktap_note("format %u dim %u %ux%u levels %u tiled %u srgb %u", t->format,
				  t->dim, t->w, t->h, t->levels, t->tiled, t->srgb);
			ktap_note("wrap %u %u aniso %u", s->wrap[0], s->wrap[1], s->anisotropy);
			return ktap_fail("%s: lane %u component %u: %08x, lane by lane %08x",
					 what, l, c, b->results[c].u[l], a->results[c].u[l]);
		}
	}
	if (same_cost(b->cost, a->cost))
		return true;
	ktap_note("format %u dim %u wrap %u %u mip %u aniso %u", t->format, t->dim, s->wrap[0],
		  s->wrap[1], s->mip, s->anisotropy);
	return ktap_fail("%s", what);
}

/* Make @t one that is larger than a window of the texture cache. */
static void enlarge(struct tex *t)
{
	t->levels = t->layers = 1;
	/* with five tiles the first one and the last one want the same place */
	t->h = tex_random() % 2 ? 65 + tex_random() % 16 : 1 + tex_random() % 140;
	t->w = tex_random() % 2 ? 65 + tex_random() % 16 : 65 + tex_random() % 200;
	t->row[0] = (t->tiled ? (t->w + 15) / 16 * 256 : t->w) * t->bpp + 16;
	t->slice[0] = t->row[0] * (t->tiled ? (t->h + 15) / 16 : t->h) + 32;
	t->at[0] = 64;
	if (t->slice[0] > UNITS_DATA_SIZE - 0x2000)
		enlarge(t);
	else
		tex_fill(t, t->at[0] + t->slice[0]);
}

/* A texture of random format that is mostly one of the common ones. */
static struct tex random_texture(void)
{
	static const unsigned int common[] = { 187, 187, 187, 171, 163, 191, 223, 0x40, 0x43,
					       0x59 };
	unsigned int format = common[tex_random() % 10];
	struct tex t;

	while (tex_random() % 3 == 0 || !tex_format(format))
		format = tex_random() % 256;
	t = tex_make(tex_random() % 4 ? TEX_2D : TEX_CUBE, format);
	t.srgb = tex_random() % 4 == 0;
	t.corners = tex_random() % 8 == 0;
	if (t.dim == TEX_2D && tex_random() % 6 == 0) {
		enlarge(&t);
	} else if (tex_random() % 2) {
		t.w = 1u << (31 - __builtin_clz(t.w));
		t.h = t.dim == TEX_CUBE ? t.w : 1u << (31 - __builtin_clz(t.h));
	}
	for (unsigned int i = 0; i < 4; i++)
		t.swizzle[i] = tex_random() % 3 ? i : tex_random() % 6;
	return t;
}

static void test_paths(void)
{
	static const char *const names[] = { "sse2", "avx2", "avx512" };
	const struct tsr_texture_path *best = u->textures->path;
	unsigned int samples = 0;

	for (unsigned int n = 0; n < 6000; n++) {
		struct tex t = random_texture();
		struct tex_sampler s = tex_make_sampler(&t);
		struct message m, first;

		s.anisotropy = tex_random() % 3 ? 1 : 1 + tex_random() % 16;
		s.linear = tex_random() % 8 == 0;
		s.clamp_layer = tex_random() % 2;
		tex_write(&t, 0);
		tex_write_sampler(&s, 0);
		make(&m, &t, &s);
		u->textures->off = true;
		u->textures->path = NULL;
		ktap_eq(run(&m), TSR_STEP_DONE);
		first = m;
		u->textures->off = false;
		ktap_eq(run(&m), TSR_STEP_DONE);
		if (!same(&first, &m, &t, &s, "with cache"))
			return;
		for (unsigned int i = 0; i < 3; i++) {
			if (!tsr_simd_named(names[i]))
				continue;
			u->textures->path = tsr_simd_named(names[i])->texture;
			for (unsigned int again = 0; again < 2; again++) {
				units_stop(u);
				ktap_eq(run(&m), TSR_STEP_DONE);
				if (!same(&first, &m, &t, &s, names[i]))
					return;
			}
			samples++;
		}
		u->textures->path = best;
	}
	ktap_ok(samples > 6000);
}

/* ---- Bundles --------------------------------------------------------------------------------- */

/* Coordinates and lanes of a bundle; the results of it, and of its warps. */
struct samples {
	union tsr_lanes s[TSR_BUNDLE_WARPS], t[TSR_BUNDLE_WARPS];
	union tsr_lanes rgba[4][TSR_BUNDLE_WARPS];
	float alone[TSR_BUNDLE_WARPS][4][TSR_WARP_LANES];
	uint16_t lanes[TSR_BUNDLE_WARPS];
};

/* Quads that lie beside each other and get larger and larger, by a little or a lot. */
static void spread(struct samples *x, const struct tex *t)
{
	double grow = 1 + tex_unit() * (tex_random() % 3 ? 0.02 : 0.3);
	double step[2] = { exp2(tex_unit() * 8 - 5) / t->w, exp2(tex_unit() * 8 - 5) / t->h };
	bool whole = tex_random() % 3 == 0;

	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		x->lanes[w] = 0;
		for (unsigned int q = 0; q < 4; q++) {
			double s = tex_unit() * 0.1, y = tex_unit() * 0.1;

			if (whole || tex_random() % 4)
				x->lanes[w] |= (uint16_t)(15 << 4 * q);
			for (unsigned int i = 0; i < 4; i++) {
				x->s[w].f[4 * q + i] = (float)(s + (i & 1) * step[0]);
				x->t[w].f[4 * q + i] = (float)(y + (i >> 1) * step[1]);
			}
			step[0] *= grow;
			step[1] *= grow;
		}
	}
}

/*
 * Quads whose derivatives are powers of two, so that levels of detail are exactly those between
 * which texels and levels change; now and then one is 0, infinite or NaN.
 */
static void exact(struct samples *x, const struct tex *t, const struct tex_sampler *s)
{
	static const float odd[] = { 0, 0, INFINITY, -INFINITY, NAN };
	int least = (int)(tex_random() % 4) - 2, range = 1 + tex_random() % 3;
	bool whole = tex_random() % 2, some_odd = tex_random() % 4 == 0;

	for (unsigned int i = 0; i < TSR_BUNDLE_WARPS * TSR_WARP_LANES; i += 4) {
		unsigned int w = i / TSR_WARP_LANES, q = i % TSR_WARP_LANES, along = tex_random();
		double size[2] = { s->normalized ? t->w : 1, s->normalized ? t->h : 1 };
		double step[2] = { exp2(least + (int)(tex_random() % range)), 0 };
		float *c[2] = { x->s[w].f + q, x->t[w].f + q };

		x->lanes[w] = q ? x->lanes[w] : 0;
		if (whole || tex_random() % 4)
			x->lanes[w] |= (uint16_t)(15 << q);
		if (some_odd && tex_random() % 8 == 0)
			step[0] = odd[tex_random() % 5];
		for (unsigned int d = 0; d < 2; d++) {
			double base = tex_random() % 64 / 4.0;

			for (unsigned int l = 0; l < 4; l++)
				c[d][l] = (float)((base + (l & 1) * step[(d + along) & 1] +
						   (l >> 1) * step[(d + along) & 1] / 2) / size[d]);
		}
	}
}

/* Two blocks of pixels beside each other that are not turned: as in windows and menus. */
static void upright(struct samples *x, const struct tex *t, const struct tex_sampler *s)
{
	const double size[2] = { s->normalized ? t->w : 1, s->normalized ? t->h : 1 };
	double base[2], step[2];

	for (unsigned int d = 0; d < 2; d++) {
		base[d] = (tex_unit() * 4 - 1.5) * (d ? t->h : t->w);
		step[d] = exp2(tex_random() % 6 - 3.0) * (tex_random() % 4 ? 1 : -1) *
			  (tex_random() % 2 ? 1 : 1 + 0.1 * tex_unit());
	}
	for (unsigned int i = 0; i < TSR_BUNDLE_WARPS * TSR_WARP_LANES; i++) {
		unsigned int w = i / TSR_WARP_LANES, l = i % TSR_WARP_LANES;
		unsigned int column = w / 4 * 8 + l / 4 * 2 + l % 2, row = w % 4 * 2 + l / 2 % 2;

		x->lanes[w] = UNITS_ALL_LANES;
		x->s[w].f[l] = (float)((base[0] + column * step[0]) / size[0]);
		x->t[w].f[l] = (float)((base[1] + row * step[1]) / size[1]);
	}
	if (tex_random() % 4 == 0)
		x->lanes[tex_random() % TSR_BUNDLE_WARPS] = 0xf00f;
	/* one that is not where it should be */
	if (tex_random() % 4 == 0)
		x->t[tex_random() % TSR_BUNDLE_WARPS].f[tex_random() % TSR_WARP_LANES] += 0.1f;
}

/* Samples of texture 0, 2D, with sampler 0. */
static struct tsr_texture_job job_of(unsigned int mode)
{
	return (struct tsr_texture_job){
		.env = &u->env, .operation = TSR_TEXTURE_OPERATION_SAMPLE, .mode = mode,
		.dimension = TEX_2D,
	};
}

/* Sample warp @w of @x by itself, to @rgba. */
static void sample_alone(struct tsr_texture_job *job, const struct samples *x, unsigned int w,
			 union tsr_lanes rgba[4])
{
	const struct tsr_texture_bundle one = {
		.warps = 1, .lanes = &x->lanes[w], .s = &x->s[w], .t = &x->t[w],
		.rgba = { &rgba[0], &rgba[1], &rgba[2], &rgba[3] },
	};

	ktap_eq(tsr_texture_bundle(job, &one), 1);
}

/* The counts of a sample on path @name, for the warp group or its warps, with empty caches. */
static struct tsr_texture_stats uses(const struct samples *x, unsigned int mode, const char *name,
				     bool together)
{
	struct tsr_texture_job job = job_of(mode);
	struct samples out = *x;
	const struct tsr_texture_bundle b = {
		.warps = TSR_BUNDLE_WARPS, .lanes = x->lanes, .s = x->s, .t = x->t,
		.rgba = { out.rgba[0], out.rgba[1], out.rgba[2], out.rgba[3] },
	};

	tsr_texture_cache_init(u->textures, tsr_simd_named(name));
	if (!tsr_texture_begin(&job))
		return *tsr_texture_counted(u->textures);
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS && !together; w++) {
		union tsr_lanes rgba[4];

		sample_alone(&job, x, w, rgba);
	}
	if (together)
		ktap_eq(tsr_texture_bundle(&job, &b), TSR_BUNDLE_WARPS);
	return *tsr_texture_counted(u->textures);
}

/* True if a bundle uses the texels that its warps use, and brings the same blocks. */
static bool same_uses(const struct samples *x, unsigned int mode)
{
	static const char *const names[] = { "sse2", "avx512" };
	const struct tsr_texture_stats want = uses(x, mode, names[0], false);
	bool good = true;

	for (unsigned int i = 0; i < 2 && good; i++) {
		if (!tsr_simd_named(names[i]))
			continue;
		const struct tsr_texture_stats is = uses(x, mode, names[i], true);

		good = ktap_eq(is.touches, want.touches) & ktap_eq(is.fills, want.fills) &
		       ktap_eq(is.samples, want.samples) & ktap_eq(is.decodes, want.decodes);
	}
	tsr_texture_cache_init(u->textures, tsr_simd_best());
	return good;
}

/* Sample warps, then the bundle; false: that is not done so. */
static bool sample(struct samples *x, unsigned int mode)
{
	struct tsr_texture_job job = job_of(mode);
	struct cost before, alone;
	const struct tsr_texture_bundle b = {
		.warps = TSR_BUNDLE_WARPS, .lanes = x->lanes, .s = x->s, .t = x->t,
		.rgba = { x->rgba[0], x->rgba[1], x->rgba[2], x->rgba[3] },
	};

	if (!tsr_texture_begin(&job))
		return false;
	before = cost_of();
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		union tsr_lanes rgba[4];

		sample_alone(&job, x, w, rgba);
		memcpy(x->alone[w], rgba, sizeof(rgba));
	}
	alone = since(before);
	before = cost_of();
	return ktap_eq(tsr_texture_bundle(&job, &b), TSR_BUNDLE_WARPS) &&
	       same_cost(since(before), alone);
}

static bool all_same(const struct samples *x)
{
	for (unsigned int i = 0; i < 4 * TSR_BUNDLE_WARPS * TSR_WARP_LANES; i++) {
		unsigned int l = i % 16, w = i / 16 % TSR_BUNDLE_WARPS;
		unsigned int c = i / 16 / TSR_BUNDLE_WARPS;

		if ((x->lanes[w] >> l & 1) &&
		    memcmp(&x->rgba[c][w].f[l], &x->alone[w][c][l], 4))
			return ktap_fail("warp %u lane %u component %u: %.9g, alone %.9g", w, l, c,
					 x->rgba[c][w].f[l], x->alone[w][c][l]);
	}
	return true;
}

/* Sample a bundle on every path; false: it is not what its warps are. */
static bool on_paths(struct samples *x, unsigned int mode, unsigned int *bundles)
{
	static const char *const names[] = { "sse2", "avx2", "avx512" };
	const struct tsr_texture_path *best = u->textures->path;
	bool good = true;

	for (unsigned int i = 0; i < 3 && good; i++) {
		if (!tsr_simd_named(names[i]))
			continue;
		u->textures->path = tsr_simd_named(names[i])->texture;
		if (!sample(x, mode))
			continue;
		++*bundles;
		good = all_same(x);
	}
	u->textures->path = best;
	return good;
}

static void test_bundles(void)
{
	unsigned int bundles = 0;

	for (unsigned int n = 0; n < 3000; n++) {
		struct tex t = random_texture();
		struct tex_sampler s = tex_make_sampler(&t);
		struct samples x;
		struct message m;

		s.anisotropy = n % 8 == 7 ? 1 + tex_random() % 16 : 1;
		tex_write(&t, 0);
		tex_write_sampler(&s, 0);
		make(&m, &t, &s);
		ktap_eq(run(&m), TSR_STEP_DONE);
		if (n % 4 == 1)
			upright(&x, &t, &s);
		else if (n % 2)
			spread(&x, &t);
		else
			exact(&x, &t, &s);
		if (t.dim == TEX_2D &&
		    !on_paths(&x, n % 16 == 2 ? TSR_TEXTURE_LOD_ZERO : TSR_TEXTURE_LOD_COMPUTED,
			      &bundles))
			return;
		if (t.dim == TEX_2D && n % 4 == 1 && s.anisotropy == 1 &&
		    !same_uses(&x, TSR_TEXTURE_LOD_COMPUTED)) {
			ktap_note("%ux%u wrap %u %u", t.w, t.h, s.wrap[0], s.wrap[1]);
			return;
		}
	}
	ktap_note("%u bundles", bundles);
	ktap_ok(bundles > 3000);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	u = units_new(0);
	tex_units = u;
	ktap_run("[TEX3] [TEX6] the same bits on all SIMD paths, with and without cache",
		 test_paths);
	ktap_run("[TEX3] [TEX6] bundles have the bits of their warps", test_bundles);
	units_free(u);
	return ktap_finish();
}
