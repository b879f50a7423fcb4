/* SPDX-License-Identifier: MIT */
/*
 * test: TIMEOUT=240 TSAN=0
 *
 * Filters against the reference in double precision (lib/texture_ref.h): every format in every
 * dimension, views that give the same texels another type, anisotropic samples.
 */
#include <math.h>
#include <string.h>

#include "ktap.h"
#include "texture_ref.h"

#define STAGING 20

static struct units *u;

static float as_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

static uint32_t word(unsigned int op, unsigned int mode, const struct tex *t, unsigned int result,
		     bool array)
{
	return 1 << 11 | op << 12 | (uint32_t)array << 17 | t->dim << 18 | mode << 20 |
	       result << 24 | 0xfu << 28;
}

static bool close_to(const double want[4], unsigned int lane, double tolerance, bool integer)
{
	for (unsigned int c = 0; c < 4; c++) {
		uint32_t bits = units_reg(u, STAGING + c)->u[lane];

		if (integer && bits == (uint32_t)(int64_t)want[c])
			continue;
		if (!integer &&
		    fabs(as_float(bits) - want[c]) <= tolerance * fmax(1, fabs(want[c])))
			continue;
		return ktap_fail("lane %u component %u: expected %.9g, got %.9g (%08x)", lane, c,
				 want[c], as_float(bits), bits);
	}
	return true;
}

static void describe(const struct tex *t, const struct tex_sampler *s)
{
	ktap_note("dim %u format %u srgb %u %ux%ux%u levels %u layers %u tiled %u", t->dim,
		  t->format, t->srgb, t->w, t->h, t->d, t->levels, t->layers, t->tiled);
	ktap_note("wrap %u %u %u mip %u near %u %u lod %u to %u bias %d", s->wrap[0], s->wrap[1],
		  s->wrap[2], s->mip, s->min_nearest, s->mag_nearest, s->min_lod, s->max_lod,
		  s->bias);
}

/* The request of a lane. */
struct asked {
	struct tex_lookup look;
	double at[3], lod;
};

/* Ask for an explicit level, of layer @layer; @near: lanes whose coordinates are alike. */
static void ask(struct asked *a, const struct tex *t, const struct tex_sampler *s,
		unsigned int lane, bool near)
{
	const unsigned int n[3] = { t->w, t->h, t->d };
	unsigned int reg = STAGING;
	int lod = (int)(tex_random() % 1500) - 300;
	static double base[3];

	*a = (struct asked){ .look = { .t = t, .s = s, .layer = tex_random() % t->layers } };
	for (unsigned int d = 0; d < 3; d++) {
		double range = t->dim == TEX_CUBE ? 1 : 4;
		bool unit = s->normalized || t->dim == TEX_CUBE;

		if (!lane || !near)
			base[d] = tex_unit() * range - (range > 1 ? 1.5 : 0);
		a->at[d] = (float)((base[d] + (near ? tex_unit() * 0.1 : 0)) * (unit ? 1 : n[d]));
	}
	a->lod = lod / 256.0;
	u->src[0].u[lane] = as_bits(a->at[0]);
	if (t->dim == TEX_CUBE) {
		a->look.face = tex_random() % 6;
		u->src[0].u[lane] = (as_bits(a->at[0]) & 0x1fffffff) | a->look.face << 29;
		a->at[0] = as_float((as_bits(a->at[0]) & 0x1fffffff) | 0x20000000);
	}
	u->src[1].u[lane] = as_bits(a->at[1]);
	u->src[2].u[lane] = word(7, 4, t, tex_is_kind(t->format, "SINT") ? 15 :
				 tex_is_kind(t->format, "UINT") ? 14 : 4, t->dim != TEX_3D);
	if (t->dim == TEX_3D)
		units_reg(u, reg++)->u[lane] = as_bits(a->at[2]);
	units_reg(u, reg++)->u[lane] = lod & 0xffff;
	if (t->dim != TEX_3D)
		units_reg(u, reg)->u[lane] = a->look.layer;
}

static bool sample(const struct tex *t, const struct tex_sampler *s)
{
	bool near = tex_random() % 2;
	struct asked a[16];

	tex_write(t, 0);
	tex_write_sampler(s, 0);
	units_insn(u, TSR_OP_ADD_TEXC);
	for (unsigned int l = 0; l < 16; l++)
		ask(&a[l], t, s, l, near);
	if (!ktap_eq(units_run(u, STAGING, UNITS_ALL_LANES), TSR_STEP_DONE))
		return false;
	for (unsigned int l = 0; l < 16; l++) {
		double want[4];

		if (!tex_ref_sample(&a[l].look, a[l].at, a[l].lod, 0, want) ||
		    close_to(want, l, 2e-6, tex_is_integer(t->format)))
			continue;
		describe(t, s);
		ktap_note("lod %g layer %u face %u at %g %g %g", a[l].lod, a[l].look.layer,
			  a[l].look.face, a[l].at[0], a[l].at[1], a[l].at[2]);
		return false;
	}
	return true;
}

static void test_formats(void)
{
	unsigned int formats = 0;

	for (unsigned int f = 0; f < 256; f++) {
		formats += tex_format(f);
		for (unsigned int n = 0; n < 24 && tex_format(f); n++) {
			struct tex t = tex_make(n % 4, f);
			struct tex_sampler s = tex_make_sampler(&t);

			t.srgb = n % 5 == 0;
			t.corners = n % 7 >= 5;
			/* the border is not decoded, so it is not what the reference says */
			for (unsigned int d = 0; d < 3 && t.srgb; d++)
				s.wrap[d] = 8 + s.wrap[d] % 2 * 4;
			if (!sample(&t, &s))
				return;
		}
	}
	ktap_ok(formats > 90);
}

/* One memory with different formats: its contents have no type. */
static void test_views(void)
{
	static const unsigned int views[][6] = {
		{ TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_PIXEL_FORMAT_RGBA8_SNORM,
		  TSR_PIXEL_FORMAT_RGBA8UI, TSR_PIXEL_FORMAT_RG16_UNORM, TSR_PIXEL_FORMAT_R32UI,
		  TSR_PIXEL_FORMAT_RGB10_A2_UNORM },
		{ TSR_PIXEL_FORMAT_RG8_UNORM, TSR_PIXEL_FORMAT_R16_SNORM, TSR_PIXEL_FORMAT_RGB565,
		  TSR_PIXEL_FORMAT_R16I, TSR_PIXEL_FORMAT_RGBA4_UNORM, TSR_PIXEL_FORMAT_Z16_UNORM },
	};

	for (unsigned int n = 0; n < 120; n++) {
		struct tex t = tex_make(n % 4, views[n % 2][0]);

		for (unsigned int i = 0; i < 12; i++) {
			struct tex_sampler s;

			t.format = views[n % 2][i % 6];
			t.srgb = i == 6;
			s = tex_make_sampler(&t);
			for (unsigned int d = 0; d < 3 && t.srgb; d++)
				s.wrap[d] = 8;
			if (!sample(&t, &s))
				return;
		}
	}
}

/* ---- Anisotropic samples --------------------------------------------------------------------- */

/* A footprint, as messages.md describes it; false: nobody can say how many places it has. */
static bool footprint(const struct tex *t, const struct tex_sampler *s, const double at[4][2],
		      unsigned int *places, double axis[2], double *lod)
{
	double d[2][2], square[2] = { 0 }, longer, shorter;
	unsigned int n = 1;

	for (unsigned int i = 0; i < 2; i++) {
		double unit = s->normalized || t->dim == TEX_CUBE ? (i ? t->h : t->w) : 1;

		d[0][i] = (float)(at[1][i] - at[0][i]);
		d[1][i] = (float)(at[2][i] - at[0][i]);
		for (unsigned int k = 0; k < 2; k++)
			square[k] += pow(d[k][i] * unit, 2);
	}
	longer = fmax(square[0], square[1]);
	shorter = fmin(square[0], square[1]);
	memcpy(axis, d[square[0] > square[1] ? 0 : 1], 2 * sizeof(*axis));
	for (n = 1; n < s->anisotropy && n * n * shorter < longer && n * n < longer; n++)
		;
	*places = n;
	*lod = log2(longer / (n * n)) / 2;
	for (unsigned int i = 1; i <= 16; i++) {
		if (fabs(i * i * shorter / longer - 1) < 1e-4 || fabs(i * i / longer - 1) < 1e-4)
			return false;
	}
	return fabs(square[0] / square[1] - 1) > 1e-4;
}

/* The mean of the reference's samples at the places; false: nobody can say. */
static bool places_sample(const struct tex_lookup *l, const double at[2], unsigned int places,
			  const double axis[2], double lod, double want[4])
{
	double one[4];

	memset(want, 0, 4 * sizeof(*want));
	for (unsigned int i = 0; i < places; i++) {
		double along = (2.0 * i + 1 - places) / (2 * places);
		const double place[3] = { (float)(at[0] + (float)(axis[0] * (float)along)),
					  (float)(at[1] + (float)(axis[1] * (float)along)) };

		if (!tex_ref_sample(l, place, lod, 0.004, one))
			return false;
		for (unsigned int c = 0; c < 4; c++)
			want[c] += one[c] / places;
	}
	return true;
}

/* The quad's coordinates: one derivative @ratio times as long as the other. */
static void elongated(const struct tex *t, const struct tex_sampler *s, double at[4][2])
{
	double length = exp2(tex_unit() * 6.5 - 1), turn = tex_unit() * 6.28;
	double ratio = 1 + tex_unit() * 30;
	bool swap = tex_random() % 2;

	for (unsigned int i = 0; i < 2; i++) {
		double unit = s->normalized ? (i ? t->h : t->w) : 1;
		double along = (i ? sin(turn) : cos(turn)) * length;
		double across = (i ? cos(turn) : -sin(turn)) * length / ratio;
		double base = tex_unit() * 2 * (i ? t->h : t->w);

		for (unsigned int l = 0; l < 4; l++)
			at[l][i] = (float)((base + (l & 1) * (swap ? across : along) +
					    (l >> 1) * (swap ? along : across)) / unit);
	}
}

/* Implicit, with bias, by a gradient descriptor, compact: all by the same footprint. */
static void test_anisotropic(void)
{
	unsigned int most = 0, judged = 0;

	for (unsigned int n = 0; n < 1500; n++) {
		struct tex t = tex_make(TEX_2D, n % 2 ? 187 : 191);
		struct tex_sampler s = tex_make_sampler(&t);
		unsigned int kind = n % 4, places;
		double at[4][2], axis[2], lod;
		uint32_t descriptor[2][16];
		int bias = kind == 1 ? (int)(tex_random() % 300) - 150 : 0;

		s.min_nearest = s.mag_nearest = false;
		s.anisotropy = 2 + tex_random() % 15;
		s.bias = 0;
		s.min_lod = t.min_lod = 0;
		s.max_lod = 0x1fff;
		t.layers = 1;
		elongated(&t, &s, at);
		tex_write(&t, 0);
		tex_write_sampler(&s, 0);
		units_insn(u, TSR_OP_ADD_TEXC);
		for (unsigned int l = 0; l < 16; l++) {
			u->src[0].u[l] = as_bits(at[l % 4][0]);
			u->src[1].u[l] = as_bits(at[l % 4][1]);
			u->src[2].u[l] = word(kind == 2 ? 5 : 7, kind == 1 ? 5 : 7, &t, 4, false);
			/* a gradient: neither bias nor bounds */
			u->src[2].u[l] |= kind == 2 ? 1 << 15 | 1 << 16 : 0;
			units_reg(u, STAGING)->u[l] = bias & 0xffff;
		}
		if (kind == 3)
			units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
		ktap_eq(units_run(u, STAGING, UNITS_ALL_LANES), TSR_STEP_DONE);
		if (!footprint(&t, &s, at, &places, axis, &lod))
			continue;
		if (kind == 2) {
			if (!ktap_eq(units_reg(u, STAGING)->u[7] >> 16, places - 1) ||
			    !ktap_ok(fabs((int16_t)units_reg(u, STAGING)->u[7] / 256.0 - lod) <
				     0.003)) {
				describe(&t, &s);
				return;
			}
			for (unsigned int i = 0; i < 2; i++)
				memcpy(descriptor[i], units_reg(u, STAGING + i)->u, 64);
			for (unsigned int l = 0; l < 16; l++)
				u->src[2].u[l] = word(7, 3, &t, 4, false);
			for (unsigned int i = 0; i < 2; i++)
				memcpy(units_reg(u, STAGING + i)->u, descriptor[i], 64);
			ktap_eq(units_run(u, STAGING, UNITS_ALL_LANES), TSR_STEP_DONE);
		}
		most = places > most ? places : most;
		for (unsigned int l = 0; l < 4; l++) {
			const struct tex_lookup look = { .t = &t, .s = &s };
			double want[4];

			/* descriptors know the axis to 11 bits */
			if (!places_sample(&look, at[l], places, axis, lod + bias / 256.0, want))
				continue;
			judged++;
			if (!close_to(want, 4 + l, kind == 2 ? 0.03 : 0.012, false)) {
				describe(&t, &s);
				ktap_note("kind %u places %u lod %g axis %g %g", kind, places, lod,
					  axis[0], axis[1]);
				return;
			}
		}
	}
	ktap_eq(most, 16);
	ktap_ok(judged > 2000);
}

/* The direction of a place of face @face, from -1 to 1, and beyond. */
static void direction(unsigned int face, double s, double t, double v[3])
{
	const double all[6][3] = { { 1, -t, -s }, { -1, -t, s }, { s, 1, t },
				   { s, -1, -t }, { s, -t, 1 }, { -s, -t, -1 } };

	memcpy(v, all[face], sizeof(all[0]));
}

/* As places_sample(), of a cube: places beyond the edge of the face are those of another one. */
static bool cube_places(const struct tex_lookup *l, const double at[2], unsigned int places,
			const double axis[2], double lod, double want[4], unsigned int *crossed)
{
	memset(want, 0, 4 * sizeof(*want));
	for (unsigned int i = 0; i < places; i++) {
		double along = (2.0 * i + 1 - places) / (2 * places), one[4], v[3];
		double place[3] = { at[0] + axis[0] * along, at[1] + axis[1] * along };
		struct tex_lookup there = *l;

		direction(l->face, 2 * place[0] - 1, 2 * place[1] - 1, v);
		there.face = tex_ref_face(v, &place[0], &place[1]);
		*crossed += there.face != l->face;
		for (unsigned int d = 0; d < 2; d++)
			place[d] = (float)((place[d] + 1) / 2);
		if (!tex_ref_sample(&there, place, lod, 0.004, one))
			return false;
		for (unsigned int c = 0; c < 4; c++)
			want[c] += one[c] / places;
	}
	return true;
}

static void test_anisotropic_cube(void)
{
	unsigned int crossed = 0, judged = 0;

	for (unsigned int n = 0; n < 3000; n++) {
		struct tex t = tex_make(TEX_CUBE, n % 2 ? 187 : 191);
		struct tex_sampler s = tex_make_sampler(&t);
		struct tex_lookup look = { .t = &t, .s = &s, .face = n % 6 };
		double at[4][2], axis[2], lod;
		unsigned int places;

		s.min_nearest = s.mag_nearest = false;
		s.anisotropy = 2 + tex_random() % 15;
		s.bias = 0;
		s.min_lod = t.min_lod = 0;
		s.max_lod = 0x1fff;
		for (unsigned int d = 0; d < 2; d++) {
			double base = 0.2 + tex_unit() * 0.6;
			double x = tex_unit() - 0.5, y = (tex_unit() - 0.5) * 0.2;

			for (unsigned int l = 0; l < 4; l++)
				at[l][d] = (float)fmin(0.99, fmax(0.01, base + (l & 1) * x +
								   (l >> 1) * y));
		}
		tex_write(&t, 0);
		tex_write_sampler(&s, 0);
		units_insn(u, TSR_OP_ADD_TEXS_CUBE_F32);
		for (unsigned int l = 0; l < 16; l++) {
			u->src[0].u[l] = as_bits(at[l % 4][0]);
			u->src[1].u[l] = as_bits(at[l % 4][1]);
			u->src[2].u[l] = look.face << 29;
		}
		ktap_eq(units_run(u, STAGING, UNITS_ALL_LANES), TSR_STEP_DONE);
		if (!footprint(&t, &s, at, &places, axis, &lod) || places < 2)
			continue;
		for (unsigned int l = 0; l < 4; l++) {
			double want[4];

			if (!cube_places(&look, at[l], places, axis, lod, want, &crossed))
				continue;
			judged++;
			if (!close_to(want, 4 + l, 0.02, false)) {
				describe(&t, &s);
				ktap_note("face %u at %g %g places %u lod %g axis %g %g", look.face,
					  at[l][0], at[l][1], places, lod, axis[0], axis[1]);
				return;
			}
		}
	}
	ktap_note("%u samples, %u places beyond the edge", judged, crossed);
	ktap_ok(judged > 1000);
	ktap_ok(crossed > 500);
}

/*
 * Sample two places of face @face, a quarter of @axis before and behind @at, of faces whose edges
 * no filter reaches over.
 */
static void ask_two_places(unsigned int face, const float at[2], const float axis[2])
{
	const struct tex_sampler s = {
		.wrap = { 9, 9, 9 }, .normalized = true, .max_lod = 0x1fff, .anisotropy = 2,
	};

	tex_write_sampler(&s, 0);
	units_insn(u, TSR_OP_ADD_TEXS_CUBE_F32);
	for (unsigned int l = 0; l < 16; l++) {
		u->src[0].u[l] = as_bits(at[0] + (l & 1) * axis[0]);
		u->src[1].u[l] = as_bits(at[1] + (l & 1) * axis[1]);
		u->src[2].u[l] = face << 29;
	}
	ktap_eq(units_run(u, STAGING, UNITS_ALL_LANES), TSR_STEP_DONE);
}

/* The face a place of face @face lies before; rounded as the device does: ties depend on it. */
static unsigned int face_of(unsigned int face, double x, double y)
{
	double v[3], s, t;

	if (x >= 0 && x <= 1 && y >= 0 && y <= 1)
		return face;
	direction(face, (float)(2 * x - 1), (float)(2 * y - 1), v);
	return tex_ref_face(v, &s, &t);
}

/* Faces of one color each: the mean of the colors of the faces of the two places. */
static void two_places(const struct tex *t, unsigned int face, const float at[2],
		       const float axis[2])
{
	double want[4] = { 0 }, color[4];

	for (int side = -1; side < 2; side += 2) {
		unsigned int there = face_of(face, at[0] + side * axis[0] / 4,
					     at[1] + side * axis[1] / 4);

		tex_decode(t, t->at[there], color);
		for (unsigned int c = 0; c < 4; c++)
			want[c] += color[c] / 2;
	}
	ask_two_places(face, at, axis);
	if (!close_to(want, 0, 1e-6, false))
		ktap_note("face %u at %.9g %.9g axis %g %g", face, at[0], at[1], axis[0], axis[1]);
}

/* A cube of one level, 8 by 8 texels of black. */
static struct tex black_cube(unsigned int format)
{
	struct tex t = tex_make(TEX_CUBE, format);

	t.w = t.h = 8;
	t.levels = t.layers = 1;
	t.tiled = false;
	t.row[0] = t.w * t.bpp;
	for (unsigned int face = 0; face < 6; face++) {
		t.at[face] = 64 + face * t.w * t.h * t.bpp;
		memset(tex_units->data + t.at[face], 0, t.w * t.h * t.bpp);
	}
	tex_write(&t, 0);
	return t;
}

/*
 * Places as far beyond one edge as beyond another, those that are on an edge once rounded, and
 * those on an edge, which are not beyond it. The other place is beyond it, for else none is looked
 * at on its own.
 */
static void test_anisotropic_ties(void)
{
	struct tex t = black_cube(187);

	for (unsigned int i = 0; i < 6 * t.w * t.h; i++) {
		unsigned int face = i / (t.w * t.h);

		tex_units->data[t.at[0] + i * t.bpp + face % 3] = face < 3 ? 0xff : 0x33;
	}
	for (unsigned int n = 0; n < 6 * 4; n++) {
		const bool low = n & 1, s = n >> 1 & 1;
		const float diagonal[2] = { low ? -0.25f : 0.25f, s ? -0.25f : 0.25f };
		const float corner[2] = { !low, !s };
		const float beyond[2] = { corner[0] + diagonal[0], corner[1] + diagonal[1] };
		const float across[2] = { s ? 0.25f : 0, s ? 0 : 0.25f };
		const float near = 0.0625f - 0x1p-28f, on = low ? -0.0625f : 1.0625f;
		const float rounded[2] = { s ? near : 0.5f, s ? 0.5f : near };
		const float edge[2] = { s ? on : 0.5f, s ? 0.5f : on };

		two_places(&t, n / 4, corner, diagonal);
		two_places(&t, n / 4, beyond, diagonal);
		two_places(&t, n / 4, rounded, across);
		two_places(&t, n / 4, edge, across);
	}
}

/*
 * A place on the face is what it is to the last bit, even if the other one is beyond the edge: just
 * below 321.5 / 256 texels it is at 321; projected it would be at 322.
 */
static void test_anisotropic_within(void)
{
	const float at_place = 321.5f / 2048 - 0x1p-26f - 0.125f;
	const double weight = (321 - 128) / 256.0;

	for (unsigned int n = 0; n < 6 * 2; n++) {
		struct tex t = black_cube(187);
		const bool s = n & 1;
		const float at[2] = { s ? at_place : 0.5f, s ? 0.5f : at_place };
		const float axis[2] = { s ? 0.5f : 0, s ? 0 : 0.5f };
		const double half = weight / 2, want[4] = { half, half, half, half };

		/* the outermost texels are black, all others white, and the other faces black */
		for (unsigned int i = 0; i < t.w * t.h; i++)
			memset(tex_units->data + t.at[n / 2] + i * t.bpp,
			       (s ? i % t.w : i / t.w) ? 0xff : 0, t.bpp);
		ask_two_places(n / 2, at, axis);
		if (!close_to(want, 0, 1e-6, false))
			ktap_note("face %u along %c", n / 2, s ? 's' : 't');
	}
}

/* A filter returns one certain NaN for all NaNs in a texture. */
static void test_nan(void)
{
	static const uint32_t nan[] = { 0x7f800001, 0xffc00000, 0x7fffffff, 0xffa12345 };
	const float at[2] = { -0.0625f, 0.5f }, axis[2] = { 0.25f, 0 };
	struct tex t = black_cube(191);

	for (unsigned int i = 0; i < 6 * t.w * t.h; i++) {
		for (unsigned int c = 0; c < 4; c++)
			memcpy(tex_units->data + t.at[0] + i * t.bpp + 4 * c, &nan[(i + c) % 4], 4);
	}
	ask_two_places(4, at, axis);
	for (unsigned int l = 0; l < 16; l++) {
		for (unsigned int c = 0; c < 4; c++)
			ktap_eq(units_reg(u, STAGING + c)->u[l], 0x7fc00000);
	}
}

/* A texture of one level, 8 by 8 texels that are what their numbers are. */
static struct tex numbered(void)
{
	struct tex t = tex_make(TEX_2D, 191);

	t.w = t.h = 8;
	t.levels = t.layers = 1;
	t.tiled = t.corners = false;
	t.row[0] = t.w * t.bpp;
	t.at[0] = 64;
	for (unsigned int c = 0; c < 4; c++)
		t.swizzle[c] = c;
	for (unsigned int i = 0; i < t.w * t.h * 4; i++) {
		float f = i / 4;

		memcpy(u->data + t.at[0] + i * 4, &f, sizeof(f));
	}
	tex_write(&t, 0);
	return t;
}

/*
 * A quad whose derivative is infinite takes the nearest texels, at one place; another one of its
 * warp has places. At one place the derivative does not count, of which even 0 times is NaN.
 */
static void test_one_place(void)
{
	const struct tex_sampler s = {
		.wrap = { 9, 9, 9 }, .normalized = true, .mip = 1, .max_lod = 0x1fff,
		.min_nearest = true, .anisotropy = 16,
	};
	const struct tex t = numbered();

	tex_write_sampler(&s, 0);
	units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
	for (unsigned int n = 0; n < 8; n++) {
		const bool along_t = n & 1, negative = n >> 1 & 1;
		/* a warp as a whole, or one that lacks a lane */
		const uint16_t lanes = n & 4 ? UNITS_ALL_LANES & ~0x2000 : UNITS_ALL_LANES;

		for (unsigned int l = 0; l < 16; l++) {
			/* the first quad: 4 texels along s, none along t */
			u->src[0].f[l] = l < 4 ? 0.0625f + (l & 1) * 0.5f : (0.5f + l % 8) / 8;
			u->src[1].f[l] = l < 4 ? 0.0625f : 0.4375f;
			if (l == 5 || l == 9)
				u->src[along_t].f[l] = negative ? -INFINITY : INFINITY;
		}
		ktap_eq(units_run(u, STAGING, lanes), TSR_STEP_DONE);
		for (unsigned int l = 4; l < 12; l++) {
			unsigned int far = negative ? 0 : 7;
			unsigned int x = l % 4 == 1 && !along_t ? far : l % 8;
			unsigned int y = l % 4 == 1 && along_t ? far : 3;

			for (unsigned int c = 0; c < 4; c++)
				ktap_eq(units_reg(u, STAGING + c)->u[l], as_bits(x + y * t.w));
		}
		/* texel 0, filtered 1.5 and 0.5 texels beside its middle; texel 4 as well */
		ktap_eq(units_reg(u, STAGING)->u[0], as_bits((0 + 0 + 0.5 + 1.5) / 4));
		ktap_eq(units_reg(u, STAGING)->u[1], as_bits((2.5 + 3.5 + 4.5 + 5.5) / 4));
	}
}

/* Explicit levels of detail are never anisotropic. */
static void test_explicit(void)
{
	for (unsigned int n = 0; n < 200; n++) {
		struct tex t = tex_make(TEX_2D, 191);
		struct tex_sampler s = tex_make_sampler(&t);

		s.anisotropy = 16;
		if (!sample(&t, &s))
			return;
	}
}

/* Numbers beyond all bounds, and -0, which is not below 0; warps as a whole and a lane. */
static void test_clamped(void)
{
	static const uint32_t texel[4] = { 0x7fc00000, 0x80000000, 0xff800000, 0x7f800000 };
	static const struct { unsigned int result; uint32_t c[4]; } row[] = {
		{ 4, { 0x7fc00000, 0x80000000, 0xff800000, 0x7f800000 } },
		{ 5, { 0, 0x80000000, 0, 0x7f800000 } },
		{ 6, { 0, 0x80000000, 0xbf800000, 0x3f800000 } },
		{ 7, { 0, 0x80000000, 0, 0x3f800000 } },
	};
	const struct tex_sampler s = {
		.wrap = { 9, 9, 9 }, .normalized = true, .mip = 1, .max_lod = 0x1fff,
		.min_nearest = true, .mag_nearest = true,
	};
	struct tex t = tex_make(TEX_2D, 191);

	for (unsigned int i = 0; i < UNITS_DATA_SIZE; i += 16)
		memcpy(u->data + i, texel, 16);
	for (unsigned int i = 0; i < t.layers * t.levels; i++)
		t.at[i] &= ~15u;
	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	units_insn(u, TSR_OP_ADD_TEXC);
	for (unsigned int i = 0; i < 2 * 4; i++) {
		for (unsigned int l = 0; l < 16; l++) {
			u->src[0].u[l] = u->src[1].u[l] = as_bits(0.5);
			u->src[2].u[l] = word(7, 6, &t, row[i / 2].result, false);
		}
		ktap_eq(units_run(u, STAGING, i % 2 ? UNITS_ALL_LANES : 8), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			for (unsigned int c = 0; c < 4 && (i % 2 || l == 3); c++)
				ktap_eq(units_reg(u, STAGING + c)->u[l], row[i / 2].c[c]);
		}
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	u = units_new(0);
	tex_units = u;
	ktap_run("[TEX2] [TEX5] [TEX8] every format in every dimension", test_formats);
	ktap_run("[TEX1] views of other types of the same texels", test_views);
	ktap_run("[TEX6] anisotropic samples of up to 16 places", test_anisotropic);
	ktap_run("[TEX6] anisotropic samples over the edges of cubes", test_anisotropic_cube);
	ktap_run("[TEX6] anisotropic places at edges and corners of cubes", test_anisotropic_ties);
	ktap_run("[TEX6] anisotropic places within a face stay there", test_anisotropic_within);
	ktap_run("[TEX6] the NaN of anisotropic samples", test_nan);
	ktap_run("[TEX6] samples of one place beside those of several", test_one_place);
	ktap_run("[TEX3] explicit levels of detail are never anisotropic", test_explicit);
	ktap_run("[ISA10] clamped results of what is beyond all bounds", test_clamped);
	units_free(u);
	return ktap_finish();
}
