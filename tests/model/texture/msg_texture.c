/* SPDX-License-Identifier: MIT */
/*
 * test: TIMEOUT=240 TSAN=0
 *
 * The texture unit against a reference in double precision (lib/texture_ref.h): all dimensions,
 * layouts, wrap modes and ways to a level of detail, gathers, comparisons, cube edges.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "texture_ref.h"

static struct units *u;

/* ---- Messages -------------------------------------------------------------------------------- */

static float as_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

/* A texture word: immediate texture 0 and sampler 0. */
static uint32_t word(unsigned int op, unsigned int mode, const struct tex *t, unsigned int result,
		     bool array, bool shadow, bool offset)
{
	return 1 << 11 | op << 12 | (uint32_t)offset << 15 | (uint32_t)shadow << 16 |
	       (uint32_t)array << 17 | t->dim << 18 | mode << 20 | result << 24 | 0xfu << 28;
}

/* The request of a lane. */
struct asked {
	double at[3];
	struct tex_lookup look;
	double lod;
	int x[3];
};

/* Coordinates that a filter's texels are all around; floats, so that both sides see the same. */
static void ask(struct asked *a, const struct tex *t, const struct tex_sampler *s)
{
	const unsigned int n[3] = { t->w, t->h, t->d };

	memset(a, 0, sizeof(*a));
	a->look.t = t;
	a->look.s = s;
	for (unsigned int d = 0; d < 3; d++) {
		double range = t->dim == TEX_CUBE ? tex_unit() : tex_unit() * 5 - 2;

		a->at[d] = (float)(s->normalized || t->dim == TEX_CUBE ? range : range * n[d]);
	}
	a->look.face = tex_random() % 6;
	a->look.layer = tex_random() % t->layers;
}

static uint32_t cube_first(const struct asked *a)
{
	return (as_bits(a->at[0]) & 0x1fffffff) | a->look.face << 29;
}

/* s of a cube has to be read back through its packing: small ones are enlarged by it. */
static void fix_cube(struct asked *a)
{
	if (a->look.t->dim == TEX_CUBE)
		a->at[0] = as_float((as_bits(a->at[0]) & 0x1fffffff) | 0x20000000);
}

static bool close_to(const double want[4], unsigned int lane, unsigned int first, double tolerance,
		     bool integer)
{
	for (unsigned int c = 0; c < 4; c++) {
		uint32_t bits = units_reg(u, first + c)->u[lane];
		double got = integer ? (int32_t)bits : as_float(bits);

		if (integer && bits == (uint32_t)(int64_t)want[c])
			continue;
		if (!(fabs(got - want[c]) <= tolerance * fmax(1, fabs(want[c]))))
			return ktap_fail("lane %u component %u: expected %.9g, got %.9g", lane, c,
					 want[c], got);
	}
	return true;
}

static void describe(const struct tex *t, const struct tex_sampler *s)
{
	ktap_note("dim %u format %u %ux%ux%u levels %u layers %u tiled %u mip %u wrap %u %u %u",
		  t->dim, t->format, t->w, t->h, t->d, t->levels, t->layers, t->tiled, s->mip,
		  s->wrap[0], s->wrap[1], s->wrap[2]);
	ktap_note("nearest min %u mag %u normalized %u seamless %u lod %u to %u bias %d",
		  s->min_nearest, s->mag_nearest, s->normalized, s->seamless, s->min_lod,
		  s->max_lod, s->bias);
}

static const unsigned int formats[] = { 187, 191, 223, 155, 219, 167, 75 };

/* Samples with an explicit level, with and without layers, comparison and offsets. */
static void test_sample(void)
{
	for (unsigned int n = 0; n < 1500; n++) {
		struct tex t = tex_make(n % 4, formats[tex_random() % 7]);
		struct tex_sampler s = tex_make_sampler(&t);
		bool array = t.dim != TEX_3D && tex_random() % 2;
		bool integer = tex_is_integer(t.format);
		bool shadow = !integer && tex_random() % 4 == 0, zero = tex_random() % 4 == 0;
		bool offset = tex_random() % 3 == 0;
		unsigned int staging = 20;
		struct asked a[16];
		double want[4];

		for (unsigned int i = 0; i < 4; i++)
			t.swizzle[i] = tex_random() % 2 ? tex_random() % 6 : i;
		t.min_lod = tex_random() % 4 ? 0 : tex_random() % 300;
		tex_write(&t, 0);
		tex_write_sampler(&s, 0);
		units_stop(u);
		units_insn(u, TSR_OP_ADD_TEXC);
		for (unsigned int l = 0; l < 16; l++) {
			unsigned int reg = staging;
			int lod = (int)(tex_random() % 2000) - 500;

			ask(&a[l], &t, &s);
			a[l].lod = zero ? 0 : lod / 256.0;
			u->src[0].u[l] = t.dim == TEX_CUBE ? cube_first(&a[l])
							   : as_bits(a[l].at[0]);
			fix_cube(&a[l]);
			u->src[1].u[l] = as_bits(a[l].at[1]);
			u->src[2].u[l] = word(7, zero ? 6 : 4, &t, integer ? 15 : 4, array, shadow,
					      offset);
			if (t.dim == TEX_3D)
				units_reg(u, reg++)->u[l] = as_bits(a[l].at[2]);
			if (!zero)
				units_reg(u, reg++)->u[l] = (lod & 0xffff) | tex_random() << 16;
			a[l].look.shadow = shadow;
			a[l].look.reference = (float)(tex_unit() * 1.4 - 0.2);
			if (shadow)
				units_reg(u, reg++)->u[l] = as_bits(a[l].look.reference);
			if (array) {
				/* layers beyond the last are the last */
				units_reg(u, reg++)->u[l] = a[l].look.layer == t.layers - 1
					? a[l].look.layer + tex_random() % 5 : a[l].look.layer;
			} else {
				a[l].look.layer = 0;
			}
			for (unsigned int d = 0; d < 3 && offset; d++)
				a[l].look.off[d] = (int)(tex_random() % 63) - 31;
			if (offset)
				units_reg(u, reg++)->u[l] = (a[l].look.off[0] & 0xff) |
					(a[l].look.off[1] & 0xff) << 8 |
					(a[l].look.off[2] & 0xff) << 16;
		}
		if (!ktap_eq(units_run(u, staging, UNITS_ALL_LANES), TSR_STEP_DONE))
			return;
		for (unsigned int l = 0; l < 16; l++) {
			if (!tex_ref_sample(&a[l].look, a[l].at, a[l].lod, 0, want) ||
			    close_to(want, l, staging, 1e-4, integer))
				continue;
			describe(&t, &s);
			ktap_note("lod %g shadow %u offset %u layer %u face %u at %g %g %g",
				  a[l].lod, shadow, offset, a[l].look.layer, a[l].look.face,
				  a[l].at[0], a[l].at[1], a[l].at[2]);
			return;
		}
	}
}

/* Levels of detail from the quad, with bias and lower bound, and as GRDESC returns them. */
static void test_computed(void)
{
	for (unsigned int n = 0; n < 800; n++) {
		struct tex t = tex_make(1 + n % 3, 191);
		struct tex_sampler s = tex_make_sampler(&t);
		unsigned int kind = tex_random() % 4; /* sample, biased sample, GRDESC, compact */
		unsigned int dims = t.dim;
		const unsigned int size[3] = { t.w, t.h, t.d };
		int bias = kind == 1 ? (int)(tex_random() % 600) - 300 : 0;
		unsigned int least = kind == 1 ? tex_random() % 300 : 0;
		double base[3], ddx[3], ddy[3], lod, sx = 0, sy = 0, lo, hi;
		struct asked a[16];

		if (kind == 3 && t.dim != TEX_2D)
			kind = 0;
		t.layers = 1;
		tex_write(&t, 0);
		tex_write_sampler(&s, 0);
		units_stop(u);
		for (unsigned int d = 0; d < 3; d++) {
			double scale = exp2(tex_unit() * 8 - 5) / (s.normalized ? size[d] : 1);

			base[d] = tex_unit() * 2;
			ddx[d] = (tex_unit() - 0.5) * scale;
			ddy[d] = (tex_unit() - 0.5) * scale;
		}
		units_insn(u, kind == 3 ? TSR_OP_ADD_TEXS_2D_F32 : TSR_OP_ADD_TEXC);
		for (unsigned int l = 0; l < 16; l++) {
			unsigned int reg = 20;

			ask(&a[l], &t, &s);
			a[l].look.layer = 0;
			for (unsigned int d = 0; d < 3; d++)
				a[l].at[d] = (float)(base[d] + (l & 1) * ddx[d] +
						     (l >> 1 & 1) * ddy[d]);
			u->src[0].u[l] = as_bits(a[l].at[0]);
			u->src[1].u[l] = as_bits(a[l].at[1]);
			u->src[2].u[l] = kind == 2 ? word(5, 0, &t, 4, false, false, false)
						   : word(7, kind == 1 ? 5 : 7, &t, 4, false, false,
							  false);
			if (t.dim == TEX_3D)
				units_reg(u, reg++)->u[l] = as_bits(a[l].at[2]);
			if (kind == 1)
				units_reg(u, reg++)->u[l] = (bias & 0xffff) | least << 16;
		}
		if (!ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE))
			return;
		for (unsigned int d = 0; d < dims; d++) {
			double k = s.normalized ? size[d] : 1;

			sx += pow((a[1].at[d] - a[0].at[d]) * k, 2);
			sy += pow((a[2].at[d] - a[0].at[d]) * k, 2);
		}
		lod = fmax(-128, fmin(127, log2(fmax(sx, sy)) / 2)) + bias / 256.0;
		if (kind == 1)
			lod = fmax(lod, ((int)least - s.bias) / 256.0);
		lo = fmax(s.min_lod, t.min_lod) / 256;
		hi = fmin(s.max_lod, t.max_lod) / 256;
		for (unsigned int l = 0; l < 16; l++) {
			double want[4], got;

			if (kind == 2) {
				got = (int16_t)units_reg(u, 20)->u[l] / 256.0;
				if (fabs(got - fmin(fmax(lod + s.bias / 256.0, lo), hi)) > 0.003) {
					ktap_fail("level %g, expected %g", got, lod);
					return;
				}
				ktap_eq(units_reg(u, 20)->u[l] >> 16, 0);
				ktap_eq(units_reg(u, 21)->u[l], 0);
				continue;
			}
			if (tex_ref_sample(&a[l].look, a[l].at, lod, 0.004, want) &&
			    !close_to(want, l, 20, 0.02, false)) {
				describe(&t, &s);
				ktap_note("kind %u lod %g", kind, lod);
				return;
			}
		}
	}
}

/* Quads with lanes that are not there; GRDESC_DER and a sample with its result. */
static void test_partial_quads(void)
{
	struct tex t = tex_make(TEX_2D, 191);
	struct tex_sampler s = tex_make_sampler(&t);

	while (t.levels < 4)
		t = tex_make(TEX_2D, 191);
	s.normalized = true;
	s.bias = 0;
	s.min_lod = 0;
	s.max_lod = 0x1fff;
	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	units_stop(u);
	for (unsigned int active = 1; active < 16; active++) {
		bool x = (active & 3) == 3 || (active & 12) == 12;
		bool y = (active & 5) == 5 || (active & 10) == 10;
		int want = x ? 2 * 256 : y ? 256 : 0;

		units_insn(u, TSR_OP_ADD_TEXC);
		for (unsigned int l = 0; l < 16; l++) {
			/* 4 texels along x, 2 along y; lanes that are not active hold nonsense */
			bool on = active >> l % 4 & 1;

			u->src[0].u[l] = on ? as_bits(0.25 + (l & 1) * 4.0 / t.w) : 0x7fc00000;
			u->src[1].u[l] = on ? as_bits(0.25 + (l >> 1 & 1) * 2.0 / t.h) : 0x7f800000;
			u->src[2].u[l] = word(5, 0, &t, 14, false, false, false);
		}
		ktap_eq(units_run(u, 20, active * 0x1111), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			if (active >> l % 4 & 1)
				ktap_ok(abs((int16_t)units_reg(u, 20)->u[l] - want) <= 1);
		}
	}
	/* explicit derivatives of 2^1.5 texels */
	for (unsigned int l = 0; l < 16; l++) {
		u->src[0].u[l] = as_bits(1.0 / t.w);
		u->src[1].u[l] = 0;
		u->src[2].u[l] = word(4, 0, &t, 4, false, true, true);
		units_reg(u, 20)->u[l] = as_bits(2.0 / t.w);
		units_reg(u, 21)->u[l] = as_bits(2.0 / t.h);
	}
	ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
	for (unsigned int l = 0; l < 16; l++)
		ktap_ok(abs((int16_t)units_reg(u, 20)->u[l] - 384) <= 1);
	/* the word goes into a sample as it is, in mode 3 with the second one */
	for (unsigned int mode = 3; mode < 5; mode++) {
		struct asked a;
		double want[4];

		ask(&a, &t, &s);
		a.look.layer = 0;
		units_reg(u, 20)->u[0] = 384;
		units_reg(u, 21)->u[0] = 0;
		u->src[0].u[0] = as_bits(a.at[0]);
		u->src[1].u[0] = as_bits(a.at[1]);
		u->src[2].u[0] = word(7, mode, &t, 4, false, false, false);
		ktap_eq(units_run(u, 20, 1), TSR_STEP_DONE);
		if (tex_ref_sample(&a.look, a.at, 1.5, 0, want))
			close_to(want, 0, 20, 1e-4, false);
	}
}

static void test_gather(void)
{
	static const int dx[4] = { 0, 1, 0, 1 }, dy[4] = { 0, 0, 1, 1 };

	for (unsigned int n = 0; n < 600; n++) {
		struct tex t = tex_make(n % 2 ? TEX_2D : TEX_CUBE, formats[tex_random() % 7]);
		struct tex_sampler s = tex_make_sampler(&t);
		bool integer = tex_is_integer(t.format);
		bool shadow = !integer && tex_random() % 3 == 0, offset = tex_random() % 3 == 0;
		unsigned int component = shadow ? 0 : tex_random() % 4;
		struct asked a[16];

		for (unsigned int i = 0; i < 4; i++)
			t.swizzle[i] = tex_random() % 4 ? i : tex_random() % 6;
		tex_write(&t, 0);
		tex_write_sampler(&s, 0);
		units_stop(u);
		units_insn(u, TSR_OP_ADD_TEXC);
		for (unsigned int l = 0; l < 16; l++) {
			unsigned int reg = 20;

			ask(&a[l], &t, &s);
			u->src[0].u[l] = t.dim == TEX_CUBE ? cube_first(&a[l])
							   : as_bits(a[l].at[0]);
			fix_cube(&a[l]);
			u->src[1].u[l] = as_bits(a[l].at[1]);
			u->src[2].u[l] = word(6, 4 + component, &t, integer ? 15 : 4, true, shadow,
					      offset);
			units_reg(u, reg++)->u[l] = 0;
			a[l].look.shadow = shadow;
			a[l].look.reference = (float)tex_unit();
			if (shadow)
				units_reg(u, reg++)->u[l] = as_bits(a[l].look.reference);
			units_reg(u, reg++)->u[l] = a[l].look.layer;
			for (unsigned int d = 0; d < 2 && offset; d++)
				a[l].look.off[d] = (int)(tex_random() % 16) - 8;
			if (offset)
				units_reg(u, reg++)->u[l] = (a[l].look.off[0] & 0xff) |
							    (a[l].look.off[1] & 0xff) << 8;
		}
		ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			long x = floor(rint(tex_ref_place(&a[l].look, 0, 0, a[l].at[0]) * 256) / 256
				       - 0.5);
			long y = floor(rint(tex_ref_place(&a[l].look, 0, 1, a[l].at[1]) * 256) / 256
				       - 0.5);
			double want[4];

			for (unsigned int i = 0; i < 4; i++) {
				double c[4];

				tex_ref_texel(&a[l].look, 0, x + dx[i], y + dy[i], 0, c);
				tex_ref_swizzle(&t, c);
				want[i] = c[component];
			}
			if (!close_to(want, l, 20, 1e-5, integer)) {
				describe(&t, &s);
				return;
			}
		}
	}
}

/* Ask for texel (@x, @y, @z) by coordinates and random offsets of them; returns the offsets. */
static uint32_t by_offsets(uint32_t x, uint32_t y, uint32_t *z, unsigned int lane)
{
	const uint32_t word = tex_random() & 0xffffff;

	u->src[0].u[lane] = x - (uint32_t)(int8_t)word;
	u->src[1].u[lane] = y - (uint32_t)(int8_t)(word >> 8);
	*z -= (uint32_t)(int8_t)(word >> 16);
	return word;
}

/* One texel by integers: inside, outside, of levels, layers and samples that are not there. */
static void test_fetch(void)
{
	for (unsigned int n = 0; n < 800; n++) {
		struct tex t = tex_make(n % 4, formats[tex_random() % 7]);
		bool integer = tex_is_integer(t.format), array = t.dim != TEX_3D;
		bool multi = t.dim == TEX_2D && tex_random() % 2;
		struct tex_sampler s = { .seamless = false };
		uint32_t x[16], y[16], z[16], level[16], layer[16], sample[16], face[16];

		if (multi) {
			/* what were layers are four samples of one layer, and there is one level */
			t = tex_make(TEX_2D, t.format);
			t.levels = 1;
			t.samples = 4;
			t.layers = 1;
			for (unsigned int i = 0; i < 4; i++)
				t.at[i] = 64 + i * t.slice[0];
			tex_fill(&t, 64 + 4 * t.slice[0]);
		}
		tex_write(&t, 0);
		units_stop(u);
		units_insn(u, TSR_OP_ADD_TEXC);
		for (unsigned int l = 0; l < 16; l++) {
			unsigned int reg = 20;
			uint32_t offsets, staged;

			level[l] = tex_random() % (t.levels + (tex_random() % 4 == 0));
			x[l] = tex_random() % (tex_extent(t.w, level[l]) + 1) -
			       (tex_random() % 8 == 0);
			y[l] = tex_random() % (tex_extent(t.h, level[l]) + 1);
			z[l] = tex_random() % (tex_extent(t.d, level[l]) + 1);
			layer[l] = tex_random() % (t.layers + 1);
			sample[l] = tex_random() % (t.samples + 1);
			face[l] = tex_random() % 7;
			staged = z[l];
			offsets = by_offsets(x[l], y[l], &staged, l);
			u->src[2].u[l] = word(6, 1, &t, integer ? 15 : 4, array, false, true);
			if (t.dim == TEX_3D)
				units_reg(u, reg++)->u[l] = staged;
			units_reg(u, reg++)->u[l] = level[l] << 8 |
						    (t.dim == TEX_CUBE ? face[l] << 16 : 0);
			if (array)
				units_reg(u, reg++)->u[l] = layer[l];
			units_reg(u, reg++)->u[l] = sample[l] << 24 | offsets;
		}
		ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			double want[4] = { 0 };
			unsigned int lay = t.dim == TEX_CUBE ? layer[l] * 6 + face[l] : layer[l];

			if (t.dim == TEX_1D)
				y[l] = 0;
			if (t.dim != TEX_3D)
				z[l] = 0;
			if (!array)
				lay = layer[l] = 0;
			if (level[l] < t.levels && x[l] < tex_extent(t.w, level[l]) &&
			    y[l] < tex_extent(t.h, level[l]) && z[l] < tex_extent(t.d, level[l]) &&
			    layer[l] < t.layers && sample[l] < t.samples &&
			    (t.dim != TEX_CUBE || face[l] < 6))
				tex_decode(
					&t,
					tex_address(&t, level[l], lay, sample[l], x[l], y[l], z[l]),
					want);
			if (!close_to(want, l, 20, 1e-6, integer)) {
				describe(&t, &s);
				ktap_note("texel %d %d %d level %u layer %u sample %u", x[l], y[l],
					  z[l], level[l], layer[l], sample[l]);
				return;
			}
		}
	}
}

/* Over every edge and corner of a cube: both sides of a seam agree. */
static void test_seams(void)
{
	struct tex t = tex_make(TEX_CUBE, 191);
	struct tex_sampler s = { .wrap = { 9, 9, 9 },
				 .normalized = true,
				 .seamless = true,
				 .mip = 1,
				 .max_lod = 0x1fff,
				 .clamp_layer = true };

	while (t.w < 4)
		t = tex_make(TEX_CUBE, 191);
	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	units_stop(u);
	for (unsigned int n = 0; n < 2000; n++) {
		/* two directions a hair apart on either side of an edge between two faces */
		double v[3] = { 1, tex_random() % 2 ? 1 : -1, tex_unit() * 1.9 - 0.95 };
		double w[3], side[2][4];
		unsigned int turn = tex_random() % 3;

		if (tex_random() % 2)
			v[0] = -1;
		for (unsigned int i = 0; i < 2; i++) {
			double st[2];
			unsigned int face;

			w[turn] = v[0] * (i ? 1 + 1e-5 : 1);
			w[(turn + 1) % 3] = v[1] * (i ? 1 : 1 + 1e-5);
			w[(turn + 2) % 3] = v[2];
			face = tex_ref_face(w, &st[0], &st[1]);
			units_insn(u, TSR_OP_ADD_TEXS_CUBE_F32);
			u->src[0].u[0] = as_bits((st[0] + 1) / 2);
			u->src[1].u[0] = as_bits((st[1] + 1) / 2);
			u->src[2].u[0] = face << 29;
			ktap_eq(units_run(u, 20, 1), TSR_STEP_DONE);
			for (unsigned int c = 0; c < 4; c++)
				side[i][c] = as_float(units_reg(u, 20 + c)->u[0]);
		}
		for (unsigned int c = 0; c < 4; c++) {
			if (!(fabs(side[0][c] - side[1][c]) < 2e-3)) {
				ktap_fail("a seam of %g", side[0][c] - side[1][c]);
				return;
			}
		}
	}
}

/* The coordinates, 0 to 1, of a direction on the plane of a face. */
static void on_plane(unsigned int face, const double v[3], double at[2])
{
	static const int axis[6] = { 0, 0, 1, 1, 2, 2 }, s_axis[6] = { 2, 2, 0, 0, 0, 0 };
	static const int s_sign[6] = { -1, 1, 1, 1, 1, -1 }, t_sign[6] = { -1, -1, 1, -1, -1, -1 };
	static const int t_axis[6] = { 1, 1, 2, 2, 1, 1 };
	double m = fabs(v[axis[face]]);

	at[0] = (s_sign[face] * v[s_axis[face]] / m + 1) / 2;
	at[1] = (t_sign[face] * v[t_axis[face]] / m + 1) / 2;
}

/* Levels of detail of quads that lie across an edge: measured on the plane of the first face. */
static void test_cube_lod(void)
{
	struct tex t = tex_make(TEX_CUBE, 191);
	struct tex_sampler s = { .wrap = { 9, 9, 9 }, .seamless = true, .max_lod = 0x1fff };
	unsigned int crossed = 0;

	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	units_stop(u);
	for (unsigned int n = 0; n < 600; n++) {
		double v[4][3], at[4][2], dx, dy, want;
		unsigned int face[4];

		for (unsigned int d = 0; d < 3; d++) {
			double x = (tex_unit() - 0.5) * 0.8, y = (tex_unit() - 0.5) * 0.8;

			v[0][d] = tex_unit() * 2 - 1;
			v[1][d] = v[0][d] + x;
			v[2][d] = v[0][d] + y;
			v[3][d] = v[0][d] + x + y;
		}
		units_insn(u, TSR_OP_ADD_TEXC);
		for (unsigned int l = 0; l < 4; l++) {
			double st[2];

			face[l] = tex_ref_face(v[l], &st[0], &st[1]);
			u->src[0].u[l] = (as_bits((st[0] + 1) / 2) & 0x1fffffff) | face[l] << 29;
			u->src[1].u[l] = as_bits((st[1] + 1) / 2);
			u->src[2].u[l] = word(5, 0, &t, 4, false, true, true);
			on_plane(face[0], v[l], at[l]);
		}
		/* lanes behind the plane, and s too small for its packing, are another matter */
		if ((face[0] ^ face[1]) == 1 || (face[0] ^ face[2]) == 1 ||
		    v[0][face[0] / 2] * v[1][face[0] / 2] <= 0 ||
		    v[0][face[0] / 2] * v[2][face[0] / 2] <= 0)
			continue;
		crossed += face[1] != face[0] || face[2] != face[0];
		ktap_eq(units_run(u, 20, 0xf), TSR_STEP_DONE);
		dx = hypot(at[1][0] - at[0][0], at[1][1] - at[0][1]) * t.w;
		dy = hypot(at[2][0] - at[0][0], at[2][1] - at[0][1]) * t.w;
		want = log2(fmax(dx, dy));
		if (fabs((int16_t)units_reg(u, 20)->u[0] / 256.0 - want) > 0.004) {
			ktap_fail("faces %u %u %u: level %g, expected %g", face[0], face[1],
				  face[2], (int16_t)units_reg(u, 20)->u[0] / 256.0, want);
			return;
		}
	}
	ktap_ok(crossed > 100);
}

/* Types of results, masks, staged indices, dual and compact forms. */
static void test_results(void)
{
	struct tex t = tex_make(TEX_2D, 191);
	struct tex_sampler s = {
		.wrap = { 9, 9, 9 }, .normalized = true, .mip = 1, .max_lod = 0x1fff
	};
	static const float texel[4] = { -1.5f, 0.3f, 7, -0.25f };
	static const struct { unsigned int result; float c[4]; } row[] = {
		{ 4, { -1.5f, 0.3f, 7, -0.25f } }, { 5, { 0, 0.3f, 7, 0 } },
		{ 6, { -1, 0.3f, 1, -0.25f } }, { 7, { 0, 0.3f, 1, 0 } },
	};

	for (unsigned int i = 0; i < UNITS_DATA_SIZE; i += 16)
		memcpy(u->data + i, texel, 16);
	for (unsigned int i = 0; i < t.layers * t.levels; i++)
		t.at[i] &= ~15u;
	tex_write(&t, 6);
	tex_write_sampler(&s, 9);
	units_stop(u);
	units_insn(u, TSR_OP_ADD_TEXC);
	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int mode = 0; mode < 4; mode++) {
			/* indices: shared needs the same number for both */
			uint32_t w = 3 << 2 | mode | 7 << 12 | 2 << 18 | 6 << 20 |
				     row[i].result << 24 | 0xfu << 28;

			tex_write(&t, 9);
			w |= (mode == 2 ? 6 : 9) << 4;
			u->src[2].u[3] = w;
			u->src[0].u[3] = u->src[1].u[3] = as_bits(0.5);
			units_reg(u, 61)->u[3] = mode == 1 ? 6 : 9;
			units_reg(u, 62)->u[3] = 6;
			ktap_eq(units_run(u, 61, 8), TSR_STEP_DONE);
			for (unsigned int c = 0; c < 4; c++)
				ktap_ok(as_float(units_reg(u, (61 + c) % 64)->u[3]) == row[i].c[c]);
		}
	}
	/* halves, and a mask: what is not written stays */
	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	for (unsigned int c = 0; c < 4; c++)
		units_reg(u, 30 + c)->u[3] = 0x11111111;
	u->src[2].u[3] = (word(7, 6, &t, 0, false, false, false) & 0x0fffffff) | 0xdu << 28;
	ktap_eq(units_run(u, 30, 8), TSR_STEP_DONE);
	ktap_eq(units_reg(u, 30)->u[3], 0x1111be00);
	ktap_eq(units_reg(u, 31)->u[3], 0xb4004700);
	ktap_eq(units_reg(u, 32)->u[3], 0x11111111);
	u->src[2].u[3] = (word(7, 6, &t, 4, false, false, false) & 0x0fffffff) | 0x2u << 28;
	ktap_eq(units_run(u, 40, 8), TSR_STEP_DONE);
	ktap_ok(as_float(units_reg(u, 41)->u[3]) == 0.3f);
	/* two textures at once */
	tex_write(&t, 2);
	tex_write_sampler(&s, 1);
	u->src[2].u[3] = 1 | 1 << 2 | 2 << 4 | 0 << 6 | 0 << 8 | 50 << 12 | 0 << 18 | 0xf << 21 |
			 7 << 25 | 0xfu << 28;
	ktap_eq(units_run(u, 44, 8), TSR_STEP_DONE);
	ktap_ok(as_float(units_reg(u, 46)->u[3]) == 1);
	ktap_ok(as_float(units_reg(u, 45)->u[3]) == 0.3f);
	ktap_eq(units_reg(u, 51)->u[3], 0xb4004700);
	/* compact, halves */
	units_insn(u, TSR_OP_ADD_TEXS_2D_F16);
	u->insn.imm[TSR_IMM_TEXTURE_INDEX] = 2;
	u->insn.imm[TSR_IMM_SAMPLER_INDEX] = 1;
	u->insn.mod[TSR_MOD_LOD_MODE] = TSR_LOD_MODE_ZERO_LOD;
	ktap_eq(units_run(u, 52, 8), TSR_STEP_DONE);
	ktap_eq(units_reg(u, 53)->u[3], 0xb4004700);
}

/* The sRGB curve, unless the sampler says no; alpha is linear. FETCH has no sampler to say so. */
static void test_srgb(void)
{
	struct tex t = tex_make(TEX_2D, 187);
	struct tex_sampler s = { .wrap = { 9, 9, 9 }, .normalized = true, .min_nearest = true,
				 .mag_nearest = true, .mip = 1, .max_lod = 0x1fff };
	uint64_t *q;

	tex_write(&t, 0);
	for (unsigned int n = 0; n < 300; n++) {
		uint32_t x = tex_random() % t.w, y = tex_random() % t.h;
		bool fetch = n % 3 == 0, linear = n % 3 == 1;
		double want[4];

		tex_write_sampler(&s, 0);
		q = units_table(u, UNITS_SAMPLERS);
		q[0] |= n % 3 ? (uint64_t)linear << 22 : 1 << 22;
		q = units_table(u, UNITS_TEXTURES);
		q[0] |= 1 << 30;
		units_stop(u);
		units_insn(u, TSR_OP_ADD_TEXC);
		u->src[0].u[6] = fetch ? x : as_bits((x + 0.5) / t.w);
		u->src[1].u[6] = fetch ? y : as_bits((y + 0.5) / t.h);
		u->src[2].u[6] = word(fetch ? 6 : 7, fetch ? 1 : 6, &t, 4, false, false, false);
		units_reg(u, 20)->u[6] = 0;
		ktap_eq(units_run(u, 20, 1 << 6), TSR_STEP_DONE);
		tex_decode(&t, tex_address(&t, 0, 0, 0, x, y, 0), want);
		for (unsigned int c = 0; c < 3 && !linear; c++)
			want[c] = want[c] <= 0.04045 ? want[c] / 12.92
						     : pow((want[c] + 0.055) / 1.055, 2.4);
		if (!close_to(want, 6, 20, 1e-6, false))
			return;
	}
}

/* Tables that end, layers that are not clamped, address of a texel. */
static void test_bounds(void)
{
	struct tex t = tex_make(TEX_2D, 187);
	struct tex_sampler s = { .wrap = { 9, 9, 9 }, .normalized = true, .max_lod = 0x1fff };

	t.layers = 2;
	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	units_stop(u);
	for (unsigned int i = 0; i < 4; i++) {
		units_insn(u, TSR_OP_ADD_TEXC);
		u->state.texture_count = i == 0 ? 0 : 128;
		u->state.sampler_count = i == 1 ? 0 : 128;
		for (unsigned int c = 0; c < 4; c++)
			units_reg(u, 20 + c)->u[5] = 0x12345678;
		units_reg(u, 20)->u[5] = i == 2 ? 2 : 1;	/* the layer, not clamped */
		u->src[0].u[5] = u->src[1].u[5] = as_bits(0.5);
		u->src[2].u[5] = word(7, 6, &t, 4, true, false, false);
		ktap_eq(units_run(u, 20, 1 << 5), TSR_STEP_DONE);
		for (unsigned int c = 0; c < 4 && i < 3; c++)
			ktap_eq(units_reg(u, 20 + c)->u[5], 0);
		ktap_ok(i < 3 || units_reg(u, 20)->u[5] != 0x12345678);
	}
	/* LEA_TEX: a texel of level 0, and one that is not there */
	for (unsigned int n = 0; n < 200; n++) {
		uint32_t x = tex_random() % (t.w + 1), y = tex_random() % (t.h + 1),
			 z = tex_random() % 3;
		uint64_t want = x < t.w && y < t.h && z < 2
			? UNITS_DATA + tex_address(&t, 0, z, 0, x, y, 0) : TSR_WINDOW_VOID;

		units_insn(u, n % 2 ? TSR_OP_ADD_LEA_TEX : TSR_OP_ADD_LEA_TEX_IMM);
		u->insn.mod[TSR_MOD_FORMAT] = TSR_FORMAT_U16;
		u->src[0].u[2] = x | y << 16;
		u->src[1].u[2] = z;
		u->src[2].u[2] = 0;
		ktap_eq(units_run(u, 20, 4), TSR_STEP_DONE);
		ktap_eq(units_reg(u, 20)->u[2] | (uint64_t)units_reg(u, 21)->u[2] << 32, want);
		ktap_eq(units_reg(u, 22)->u[2], 187 << 12 | TSR_REGISTER_TYPE_F32 << 24);
	}
}

static void test_faults(void)
{
	struct tex t = tex_make(TEX_2D, 187);
	struct tex_sampler s = { .wrap = { 9, 9, 9 }, .normalized = true, .max_lod = 0x1fff };
	static const struct { unsigned int qword, bit; bool sampler; } bad[] = {
		{ 0, 0, false }, { 0, 31, false }, { 0, 28, false }, { 0, 10, false },
		{ 1, 13, false }, { 1, 2, false }, { 0, 0, true }, { 0, 11, true },
		{ 0, 15, true }, { 1, 24, true }, { 0, 5, false },
	};
	uint64_t *q;

	t.swizzle[0] = 3;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t at = (bad[i].sampler ? UNITS_SAMPLERS : UNITS_TEXTURES);

		t.tiled = true;
		tex_write(&t, 0);
		tex_write_sampler(&s, 0);
		q = units_table(u, at);
		q[bad[i].qword] ^= 1ull << bad[i].bit;
		units_stop(u);
		units_insn(u, TSR_OP_ADD_TEXC);
		for (unsigned int l = 0; l < 16; l++)
			u->src[2].u[l] = word(7, 6, &t, 4, false, false, false);
		ktap_eq(units_run(u, 20, 0xff00), TSR_STEP_FAULT);
		if (!units_fault_is(u, TSR_FAULT_SHADER_STATE, at, 8))
			ktap_note("row %u", i);
		ktap_eq(u->mem.fault.unit, TSR_UNIT_TEXTURE);
	}
	/* texels and surfaces that are not mapped */
	t.swizzle[0] = 0;
	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	q = units_table(u, UNITS_SURFACES);
	q[0] = 0x70000000;
	units_stop(u);
	u->src[0].u[9] = u->src[1].u[9] = 0;
	u->src[2].u[9] = word(6, 1, &t, 4, false, false, false);
	units_reg(u, 20)->u[9] = 0;
	ktap_eq(units_run(u, 20, 1 << 9), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, 0x70000000, 9);
	q = units_table(u, UNITS_TEXTURES);
	q[2] = 0x71000000;
	units_stop(u);
	ktap_eq(units_run(u, 20, 1 << 9), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, 0x71000000, 9);
	/* words that ask for nothing */
	u->src[2].u[9] = word(3, 6, &t, 4, false, false, false);
	ktap_eq(units_run(u, 20, 1 << 9), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_ENCODING, 0, 9);
	u->src[2].u[9] = word(7, 2, &t, 4, false, false, false);
	ktap_eq(units_run(u, 20, 1 << 9), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_ENCODING, 0, 9);
	u->src[2].u[9] = word(6, 3, &t, 4, false, false, false);
	ktap_eq(units_run(u, 20, 1 << 9), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_ENCODING, 0, 9);
	u->src[2].u[9] = word(7, 6, &t, 9, false, false, false);
	ktap_eq(units_run(u, 20, 1 << 9), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_ENCODING, 0, 9);
}

/* A quad that has to wait keeps its operands: results are the same. */
static void test_pending(void)
{
	for (unsigned int n = 0; n < 100; n++) {
		struct tex t = tex_make(TEX_3D, 191);
		struct tex_sampler s = tex_make_sampler(&t);
		union tsr_lanes result[4];
		unsigned int times = 0;

		tex_write(&t, 0);
		tex_write_sampler(&s, 0);
		units_insn(u, TSR_OP_ADD_TEXC);
		for (unsigned int i = 0; i < 2; i++) {
			tex_seed = 1000 + n;
			for (unsigned int l = 0; l < 16; l++) {
				u->src[0].u[l] = as_bits(tex_unit());
				u->src[1].u[l] = as_bits(tex_unit());
				u->src[2].u[l] = word(7, 5, &t, 4, false, false, false);
				units_reg(u, 20)->u[l] = as_bits(tex_unit());
				units_reg(u, 21)->u[l] = tex_random() % 256;
			}
			memset(u->b->asked, 0, sizeof(u->b->asked));
			u->b->pending_every = i;
			tsr_tlb_clear(&u->mem.port->tlb);
			units_stop(u);
			ktap_eq(units_finish(u, 20, UNITS_ALL_LANES, &times), TSR_STEP_DONE);
			for (unsigned int c = 0; c < 4; c++) {
				if (i)
					ktap_mem_eq(units_reg(u, 20 + c), &result[c], 64);
				result[c] = *units_reg(u, 20 + c);
			}
		}
		ktap_ok(times > 0);
		u->b->pending_every = 0;
	}
}

static void test_refused(void)
{
	static const unsigned int ops[] = {
		TSR_OP_ADD_BLEND, TSR_OP_ADD_ATEST, TSR_OP_ADD_ZS_EMIT, TSR_OP_ADD_LD_TILE,
		TSR_OP_ADD_ST_TILE, TSR_OP_ADD_LD_VAR, TSR_OP_ADD_LD_VAR_IMM,
		TSR_OP_ADD_LD_VAR_FLAT, TSR_OP_ADD_LD_VAR_FLAT_IMM, TSR_OP_ADD_LD_VAR_SPECIAL,
		TSR_OP_ADD_VAR_TEX_F32, TSR_OP_ADD_VAR_TEX_F16, TSR_OP_ADD_DOORBELL,
		TSR_OP_ADD_EUREKA, TSR_OP_ADD_KABOOM,
	};

	for (unsigned int i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		units_insn(u, ops[i]);
		ktap_eq(units_run(u, 20, 0xf0), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_SHADER_UNSUPPORTED, 0, 4);
		ktap_eq(u->mem.fault.unit, TSR_UNIT_SHADER);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	u = units_new(0);
	tex_units = u;
	ktap_run("[ISA10] [TEX3] samples at an explicit level of detail", test_sample);
	ktap_run("[ISA10] [TEX4] levels of detail from quads", test_computed);
	ktap_run("[TEX3] [TEX4] quads with missing lanes, explicit derivatives",
		 test_partial_quads);
	ktap_run("[ISA10] [TEX3] gathers and their order", test_gather);
	ktap_run("[MEM6] [TEX2] fetches of texels; what is outside reads 0", test_fetch);
	ktap_run("[TEX5] cube maps have no seams", test_seams);
	ktap_run("[TEX4] levels of detail across the edges of cubes", test_cube_lod);
	ktap_run("[ISA10] results, masks, indices, dual and compact forms", test_results);
	ktap_run("[TEX8] sRGB textures", test_srgb);
	ktap_run("[MEM6] tables and layers that end, addresses of texels", test_bounds);
	ktap_run("malformed descriptors and words are faults", test_faults);
	ktap_run("pending quads keep their operands", test_pending);
	ktap_run("[ISA10] messages of other stages are refused", test_refused);
	units_free(u);
	return ktap_finish();
}
