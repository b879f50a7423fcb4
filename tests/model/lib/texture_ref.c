/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "texture_ref.h"

struct units *tex_units;
uint32_t tex_seed = 11;

uint32_t tex_random(void)
{
	tex_seed = tex_seed * 1664525 + 1013904223;
	return tex_seed >> 6;
}

double tex_unit(void)
{
	return tex_random() % 0x10000 / 65536.0;
}

/* ---- A texture ------------------------------------------------------------------------------- */

unsigned int tex_extent(unsigned int n, unsigned int level)
{
	return n >> level ? n >> level : 1;
}

static unsigned int tile_index(unsigned int x, unsigned int y)
{
	unsigned int r = 0;

	for (unsigned int b = 0; b < 4; b++)
		r |= ((x >> b ^ y >> b) & 1) << 2 * b | (y >> b & 1) << (2 * b + 1);
	return r;
}

uint32_t tex_address(const struct tex *t, unsigned int level, unsigned int layer,
			 unsigned int sample, int x, int y, int z)
{
	unsigned int n = (layer * t->samples + sample) * t->levels + level;
	uint32_t place = t->tiled ? y / 16 * t->row[level] +
				    (x / 16 * 256 + tile_index(x % 16, y % 16)) * t->bpp
				  : y * t->row[level] + x * t->bpp;

	return t->at[n] + z * t->slice[level] + place;
}

static float half(uint16_t h)
{
	double m = h & 0x3ff;
	int e = h >> 10 & 31;
	double v = e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);

	return h >> 15 ? -v : v;
}

/* The formats, as the description has them. */
struct described {
	const char *kind;
	unsigned int bytes, skip;
	char first;
	unsigned int bits[4];
};

#define ROW(name, number, kind_, bytes_, skip_, first_, r, g, b, a) \
	[number] = { #kind_, bytes_, skip_, (#first_)[0], { r, g, b, a } },

static const struct described described[256] = {
	TSR_PIXEL_FORMAT__TABLE(ROW)
};

bool tex_format(unsigned int format)
{
	return format < 256 && described[format].bytes && !tex_is_kind(format, "BLOCK");
}

bool tex_is_kind(unsigned int format, const char *kind)
{
	return !strcmp(described[format].kind, kind);
}

static double minifloat(uint32_t v, unsigned int mantissa)
{
	double m = v & ((1u << mantissa) - 1);
	int e = (int)(v >> mantissa) & 31;

	if (e == 31)
		return m > 0 ? NAN : INFINITY;
	return e ? ldexp(m + (1u << mantissa), e - 15 - (int)mantissa)
		 : ldexp(m, -14 - (int)mantissa);
}

/* A component of @bits bits in @v. */
static double component(const struct described *d, uint32_t v, unsigned int bits)
{
	double most = ldexp(1, (int)bits) - 1;
	int32_t sign = (int32_t)(v << (32 - bits)) >> (32 - bits);
	float f;

	memcpy(&f, &v, sizeof(f));
	if (!strcmp(d->kind, "UNORM"))
		return v / most;
	if (!strcmp(d->kind, "SNORM"))
		return fmax(-1, sign / ((most - 1) / 2));
	if (!strcmp(d->kind, "FLOAT"))
		return bits == 32 ? f : half(v);
	if (!strcmp(d->kind, "UFLOAT"))
		return minifloat(v, bits - 5);
	if (!strcmp(d->kind, "FIXED"))
		return (int32_t)v / 65536.0;
	return !strcmp(d->kind, "SINT") ? sign : (double)v;
}

/* @bits bits of memory from bit @at on. */
static uint32_t bits_at(const uint8_t *p, unsigned int at, unsigned int bits)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < bits; i++)
		v |= (uint64_t)(p[(at + i) / 8] >> (at + i) % 8 & 1) << i;
	return (uint32_t)v;
}

void tex_decode(const struct tex *t, uint32_t place, double c[4])
{
	const struct described *d = &described[t->format];
	const uint8_t *p = tex_units->data + place;
	unsigned int at = d->skip;

	c[0] = c[1] = c[2] = 0;
	c[3] = 1;
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int n = d->first == 'R' ? i : 3 - i;
		uint32_t v = d->bits[n] ? bits_at(p, at, d->bits[n]) : 0;

		at += d->bits[n];
		if (d->bits[n])
			c[n] = component(d, v, d->bits[n]);
		if (t->srgb && n < 3 && tex_is_kind(t->format, "UNORM"))
			c[n] = c[n] <= 0.04045 ? c[n] / 12.92 : pow((c[n] + 0.055) / 1.055, 2.4);
	}
	if (!strcmp(d->kind, "SHARED")) {
		for (unsigned int n = 0; n < 3; n++)
			c[n] = ldexp(c[n], (int)c[3] - 15 - 9);
		c[3] = 1;
	}
}

static unsigned int bytes_of(unsigned int format)
{
	return described[format].bytes;
}

/* Descriptors and texels may have changed. */
static void forget(void)
{
	units_stop(tex_units);
}

void tex_write(const struct tex *t, unsigned int index)
{
	uint64_t q[4] = {
		2 | t->dim << 4 | (uint64_t)t->corners << 8 | (uint64_t)t->format << 22 |
			(uint64_t)t->srgb << 30 | (uint64_t)(t->w - 1) << 32 |
			(uint64_t)(t->h - 1) << 48,
		t->swizzle[0] | t->swizzle[1] << 3 | t->swizzle[2] << 6 | t->swizzle[3] << 9 |
			(t->tiled ? 1 : 2) << 12 | (t->levels - 1) << 16 |
			(uint64_t)t->min_lod << 32 |
			(uint64_t)__builtin_ctz(t->samples) << 45 | (uint64_t)t->max_lod << 48,
		UNITS_SURFACES,
		(t->layers - 1) | (uint64_t)(t->d - 1) << 32,
	};
	unsigned int faces = t->dim == TEX_CUBE ? 6 : 1;

	memcpy(units_table(tex_units, UNITS_TEXTURES + 32 * index), q, 32);
	for (unsigned int i = 0; i < t->layers * faces * t->samples * t->levels; i++) {
		unsigned int level = i % t->levels;
		uint64_t s[2] = { UNITS_DATA + t->at[i],
				  t->row[level] | (uint64_t)t->slice[level] << 32 };

		memcpy(units_table(tex_units, UNITS_SURFACES + 16 * i), s, 16);
	}
	forget();
}

void tex_write_sampler(const struct tex_sampler *s, unsigned int index)
{
	uint64_t q[4] = {
		1 | s->wrap[2] << 8 | s->wrap[1] << 12 | s->wrap[0] << 16 |
			(uint64_t)s->linear << 22 | (uint64_t)s->seamless << 23 |
			(uint64_t)s->normalized << 25 |
			(uint64_t)s->clamp_layer << 26 | (uint64_t)s->min_nearest << 27 |
			(uint64_t)s->mag_nearest << 28 | (uint64_t)s->cutoff << 29 |
			(uint64_t)s->mip << 30 | (uint64_t)s->min_lod << 32 |
			(uint64_t)s->compare << 45 | (uint64_t)s->max_lod << 48,
		(s->bias & 0xffff) |
			(s->anisotropy > 1 ? (s->anisotropy - 1) << 16 | 3 << 24 : 0),
	};

	for (unsigned int i = 0; i < 4; i++) {
		float f = s->border[i];
		uint32_t v = (uint32_t)(int64_t)s->border[i];

		if (!s->integers)
			memcpy(&v, &f, 4);
		q[2 + i / 2] |= (uint64_t)v << 32 * (i % 2);
	}
	memcpy(units_table(tex_units, UNITS_SAMPLERS + 32 * index), q, 32);
	forget();
}

/* Random contents that make no infinities. */
void tex_fill(const struct tex *t, uint32_t end)
{
	const struct described *d = &described[t->format];
	bool shared = tex_is_kind(t->format, "SHARED"), fixed = tex_is_kind(t->format, "FIXED");
	bool small = tex_is_kind(t->format, "UFLOAT"), floats = tex_is_kind(t->format, "FLOAT");

	for (uint32_t i = 0; i < end; i += 4) {
		float f = tex_unit() * 4 - 2;
		uint32_t v = tex_random() ^ tex_random() << 16;

		if (floats && d->bits[0] == 32)
			memcpy(&v, &f, 4);
		else if (floats)
			v &= 0xbfffbfff;
		else if (small)		/* the top bits of the exponents */
			v &= d->first == 'R' ? 0x7fdffbff : 0x7feffdff;
		else if (shared)
			v = d->first == 'R' ? v >> 5 | 15u << 27 : v << 5 | 15;
		else if (fixed)
			v = (uint32_t)((int32_t)(v << 13) >> 13);
		memcpy(tex_units->data + i, &v, 4);
	}
}

struct tex tex_make(unsigned int dim, unsigned int format)
{
	struct tex t = { .dim = dim, .format = format, .swizzle = { 0, 1, 2, 3 },
			 .max_lod = 0x1fff, .samples = 1, .layers = 1, .d = 1, .h = 1 };
	unsigned int faces = dim == TEX_CUBE ? 6 : 1;
	uint32_t at = 64;

	t.w = 1 + tex_random() % 40;
	if (dim == TEX_2D || dim == TEX_3D)
		t.h = 1 + tex_random() % 24;
	if (dim == TEX_CUBE)
		t.h = t.w = 1 + tex_random() % 18;
	if (dim == TEX_3D)
		t.d = 1 + tex_random() % 6;
	if (dim != TEX_3D)
		t.layers = 1 + tex_random() % 3;
	t.tiled = tex_random() % 2;
	t.levels = 1 + tex_random() % 5;
	t.bpp = bytes_of(format);
	for (unsigned int l = 0; l < t.levels; l++) {
		unsigned int w = tex_extent(t.w, l), h = tex_extent(t.h, l);

		t.row[l] = (t.tiled ? (w + 15) / 16 * 256 : w) * t.bpp + 16;
		t.slice[l] = t.row[l] * (t.tiled ? (h + 15) / 16 : h) + 32;
	}
	for (unsigned int n = 0; n < t.layers * faces * t.levels; n++) {
		t.at[n] = at;
		at += t.slice[n % t.levels] * tex_extent(t.d, n % t.levels);
	}
	if (at > UNITS_DATA_SIZE - 0x1000)
		return tex_make(dim, format);
	tex_fill(&t, at);
	return t;
}

/* ---- The reference --------------------------------------------------------------------------- */

bool tex_is_integer(unsigned int format)
{
	return tex_is_kind(format, "UINT") || tex_is_kind(format, "SINT");
}

/* The texel that wrapping makes of @i; -1: border. By the formulas of the OpenGL specification. */
static int wrapped(unsigned int mode, long i, long n)
{
	long m = ((i % (2 * n)) + 2 * n) % (2 * n);
	long a = i >= 0 ? i : -(1 + i);

	switch (mode) {
	case 8:
		return ((i % n) + n) % n;
	case 9:
		return i < 0 ? 0 : i > n - 1 ? n - 1 : i;
	case 11:
		return i < 0 || i > n - 1 ? -1 : i;
	case 12:
		return m < n ? m : 2 * n - 1 - m;
	case 13:
		return a > n - 1 ? n - 1 : a;
	default:
		return a > n - 1 ? -1 : a;
	}
}

/* Direction through (s, t) in -1 to 1 of a face, as OpenGL's table of cube maps says. */
static void direction(unsigned int face, double s, double t, double v[3])
{
	switch (face) {
	case 0: v[0] = 1; v[1] = -t; v[2] = -s; break;
	case 1: v[0] = -1; v[1] = -t; v[2] = s; break;
	case 2: v[0] = s; v[1] = 1; v[2] = t; break;
	case 3: v[0] = s; v[1] = -1; v[2] = -t; break;
	case 4: v[0] = s; v[1] = -t; v[2] = 1; break;
	default: v[0] = -s; v[1] = -t; v[2] = -1; break;
	}
}

unsigned int tex_ref_face(const double v[3], double *s, double *t)
{
	double x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]);

	if (x >= y && x >= z) {
		*s = (v[0] > 0 ? -v[2] : v[2]) / x;
		*t = -v[1] / x;
		return v[0] > 0 ? 0 : 1;
	}
	if (y >= z) {
		*s = v[0] / y;
		*t = (v[1] > 0 ? v[2] : -v[2]) / y;
		return v[1] > 0 ? 2 : 3;
	}
	*s = (v[2] > 0 ? v[0] : -v[0]) / z;
	*t = -v[1] / z;
	return v[2] > 0 ? 4 : 5;
}

static void compared(const struct tex_lookup *l, double c[4])
{
	double r = l->reference;
	bool yes;

	if (!l->shadow)
		return;
	if (tex_is_kind(l->t->format, "UNORM"))
		r = r < 0 ? 0 : r > 1 ? 1 : r;
	r = (float)r;
	c[0] = (float)c[0];
	switch (l->s->compare) {
	case 0: yes = false; break;
	case 1: yes = c[0] < r; break;
	case 2: yes = c[0] == r; break;
	case 3: yes = c[0] <= r; break;
	case 4: yes = c[0] > r; break;
	case 5: yes = c[0] != r; break;
	case 6: yes = c[0] >= r; break;
	default: yes = true; break;
	}
	c[0] = c[1] = c[2] = yes;
	c[3] = 1;
}

static void cube_texel(const struct tex_lookup *l, unsigned int level, long x, long y, double c[4])
{
	long n = tex_extent(l->t->w, level);
	unsigned int face = l->face;
	double v[3], s, t;

	x = x < -1 ? -1 : x > n ? n : x;
	y = y < -1 ? -1 : y > n ? n : y;
	if (!l->s->seamless) {
		x = x < 0 ? 0 : x > n - 1 ? n - 1 : x;
		y = y < 0 ? 0 : y > n - 1 ? n - 1 : y;
	} else if ((x < 0 || x >= n) && (y < 0 || y >= n)) {
		double sum[4] = { 0 };

		for (unsigned int i = 0; i < 3; i++) {
			double part[4];

			cube_texel(l, level, i == 1 ? x : x < 0 ? 0 : n - 1,
				   i == 2 ? y : y < 0 ? 0 : n - 1, part);
			/* integers have no mean */
			for (unsigned int k = 0; k < 4; k++)
				sum[k] += !tex_is_integer(l->t->format) ? part[k] / 3
					  : i ? 0 : part[k];
		}
		memcpy(c, sum, sizeof(sum));
		return;
	} else if (x < 0 || x >= n || y < 0 || y >= n) {
		direction(face, (2.0 * x + 1) / n - 1, (2.0 * y + 1) / n - 1, v);
		face = tex_ref_face(v, &s, &t);
		x = floor((s + 1) / 2 * n);
		y = floor((t + 1) / 2 * n);
	}
	tex_decode(l->t, tex_address(l->t, level, l->layer * 6 + face, 0, x, y, 0), c);
	compared(l, c);
}

void tex_ref_texel(const struct tex_lookup *l, unsigned int level, long x, long y, long z,
		   double c[4])
{
	const struct tex *t = l->t;
	int i, j = 0, k = 0;

	x += l->off[0];
	y += l->off[1];
	z += l->off[2];
	if (t->dim == TEX_CUBE) {
		cube_texel(l, level, x, y, c);
		return;
	}
	i = wrapped(l->s->wrap[0], x, tex_extent(t->w, level));
	if (t->dim != TEX_1D)
		j = wrapped(l->s->wrap[1], y, tex_extent(t->h, level));
	if (t->dim == TEX_3D)
		k = wrapped(l->s->wrap[2], z, tex_extent(t->d, level));
	if (i < 0 || j < 0 || k < 0) {
		bool shared = tex_is_kind(t->format, "SHARED");

		for (unsigned int n = 0; n < 4; n++)
			c[n] = described[t->format].bits[n] && !(shared && n == 3)
				? l->s->border[n] : n == 3;
	} else {
		tex_decode(t, tex_address(t, level, l->layer, 0, i, j, k), c);
	}
	compared(l, c);
}

double tex_ref_place(const struct tex_lookup *l, unsigned int level, unsigned int d, double at)
{
	const unsigned int n[3] = { l->t->w, l->t->h, l->t->d };
	bool whole = l->s->normalized || l->t->dim == TEX_CUBE;

	/* coordinates are single, and so is what they are multiplied to */
	return (float)(whole ? at * tex_extent(n[d], level) : at);
}

/* A level, filtered: every texel within one of the place, by the product of its distances. */
static void ref_level(const struct tex_lookup *l, unsigned int level, const double at[3],
		      bool nearest, double c[4])
{
	const struct tex *t = l->t;
	unsigned int dims = t->dim == TEX_CUBE ? 2 : t->dim;
	double p[3] = { 0 }, middle = t->corners ? 0 : 0.5;	/* of a texel */
	long q[3] = { 0 };

	for (unsigned int d = 0; d < dims; d++) {
		p[d] = tex_ref_place(l, level, d, at[d]);
		/* filters have coordinates with 8 fraction bits */
		if (!nearest)
			p[d] = rint(p[d] * 256) / 256;
		q[d] = floor(nearest && t->corners ? (float)(p[d] + 0.5) : p[d]);
	}
	if (nearest) {
		tex_ref_texel(l, level, q[0], q[1], q[2], c);
		return;
	}
	c[0] = c[1] = c[2] = c[3] = 0;
	for (long z = dims > 2 ? q[2] - 1 : 0; z <= (dims > 2 ? q[2] + 1 : 0); z++) {
		for (long y = dims > 1 ? q[1] - 1 : 0; y <= (dims > 1 ? q[1] + 1 : 0); y++) {
			for (long x = q[0] - 1; x <= q[0] + 1; x++) {
				double w = fmax(0, 1 - fabs(p[0] - (x + middle)));
				double one[4];

				if (dims > 1)
					w *= fmax(0, 1 - fabs(p[1] - (y + middle)));
				if (dims > 2)
					w *= fmax(0, 1 - fabs(p[2] - (z + middle)));
				if (w == 0)
					continue;
				tex_ref_texel(l, level, x, y, z, one);
				for (unsigned int i = 0; i < 4; i++)
					c[i] += w * one[i];
			}
		}
	}
}

void tex_ref_swizzle(const struct tex *t, double c[4])
{
	double in[6] = { c[0], c[1], c[2], c[3], 0, 1 };

	for (unsigned int i = 0; i < 4; i++)
		c[i] = in[t->swizzle[i]];
}

/* A sample at @lod, in levels; false: so near to a step that nobody can say. */
bool tex_ref_sample(const struct tex_lookup *l, const double at[3], double lod, double slack,
		       double c[4])
{
	const struct tex *t = l->t;
	const struct tex_sampler *s = l->s;
	double lo = fmax(s->min_lod, t->min_lod) / 256, hi = fmin(s->max_lod, t->max_lod) / 256;
	double cut = s->cutoff ? 0.5 : 0;
	double other[4];
	bool mag, nearest;
	double f;

	lod += s->bias / 256.0;
	lod = fmin(fmax(lod, lo), hi);
	if (slack > 0 && lod > lo && lod < hi &&
	    (fabs(lod - cut) < slack || fabs(lod - floor(lod) - 0.5) < slack))
		return false;
	mag = lod <= cut;
	nearest = (mag ? s->mag_nearest : s->min_nearest) || tex_is_integer(t->format);
	if (mag)
		lod = 0;
	lod = fmin(lod, t->levels - 1);
	if (s->mip == 3 && !tex_is_integer(t->format)) {
		f = lod - floor(lod);
		ref_level(l, floor(lod), at, nearest, c);
		if (f > 0) {
			ref_level(l, floor(lod) + 1, at, nearest, other);
			for (unsigned int i = 0; i < 4; i++)
				c[i] += (other[i] - c[i]) * f;
		}
	} else if (s->mip == 3) {
		ref_level(l, floor(lod), at, nearest, c);
	} else {
		ref_level(l, s->mip == 0 ? floor(lod + 0.5) : 0, at, nearest, c);
	}
	tex_ref_swizzle(t, c);
	return true;
}

struct tex_sampler tex_make_sampler(const struct tex *t)
{
	static const unsigned int modes[] = { 8, 9, 11, 12, 13, 15 };
	static const unsigned int mips[] = { 0, 1, 3 };
	struct tex_sampler s = {
		.wrap = { modes[tex_random() % 6], modes[tex_random() % 6],
			  modes[tex_random() % 6] },
		.normalized = tex_random() % 4,
		.min_nearest = tex_random() % 2,
		.mag_nearest = tex_random() % 2,
		.cutoff = tex_random() % 2,
		.seamless = tex_random() % 2,
		.clamp_layer = true,
		.mip = mips[tex_random() % 3],
		.max_lod = tex_random() % 3 ? 0x1fff : 256 + tex_random() % 512,
		.min_lod = tex_random() % 3 ? 0 : tex_random() % 256,
		.compare = tex_random() % 8,
		.bias = tex_random() % 2 ? 0 : (int)(tex_random() % 512) - 256,
		.border = { 0.25, 0.75, -1, 0.5 },
		.integers = tex_is_integer(t->format),
	};

	for (unsigned int i = 0; i < 4 && s.integers; i++)
		s.border[i] = 7 + 3 * i;
	return s;
}
