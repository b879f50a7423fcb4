/* SPDX-License-Identifier: MIT */
#include "color_ref.h"

#include <math.h>
#include <string.h>

/* ---- Formats --------------------------------------------------------------------------------- */

#define ROW(name, number, kind_, bytes_, skip_, first_, r, g, b, a) \
	[number] = { COLOR_##kind_, bytes_, skip_, (#first_)[0] == 'A', { r, g, b, a } },

static const struct row {
	uint8_t kind, bytes, skip;
	bool backwards;			/* alpha has the lowest bits */
	uint8_t bits[4];
} rows[256] = { TSR_PIXEL_FORMAT__TABLE(ROW) };

bool color_ref_format(struct color_format *f, unsigned int format, unsigned int order, bool srgb)
{
	static const unsigned int comes[][5] = {
		{ TSR_COMPONENT_ORDER_RGBA, 0, 1, 2, 3 },
		{ TSR_COMPONENT_ORDER_BGRA, 2, 1, 0, 3 },
		{ TSR_COMPONENT_ORDER_ABGR, 3, 2, 1, 0 },
		{ TSR_COMPONENT_ORDER_RGB1, 0, 1, 2, 5 },
	};
	const struct row *row = &rows[format];
	unsigned int at = row->skip, o = 0;

	while (o < 4 && comes[o][0] != order)
		o++;
	if (!row->kind || row->kind == COLOR_BLOCK || !row->bytes || o == 4)
		return false;
	memset(f, 0, sizeof(*f));
	f->kind = row->kind;
	f->bytes = row->bytes;
	f->srgb = srgb && row->kind == COLOR_UNORM;
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int c = row->backwards ? 3 - i : i;

		f->bits[c] = row->bits[c];
		f->shift[c] = at;
		at += row->bits[c];
		f->holds[c] = 4;
	}
	for (unsigned int i = 4; i--;) {
		f->comes[i] = comes[o][1 + i];
		if (f->comes[i] < 4)
			f->holds[f->comes[i]] = i;
	}
	return true;
}

uint64_t color_ref_bits(const struct color_format *f, unsigned int c, const uint8_t *texel)
{
	uint64_t bits = 0;

	for (unsigned int b = 0; b < f->bits[c]; b++) {
		unsigned int at = f->shift[c] + b;

		bits |= (uint64_t)(texel[at / 8] >> at % 8 & 1) << b;
	}
	return bits;
}

/* A floating-point number with @e bits of exponent and @m of mantissa, no sign. */
static double small_value(uint64_t bits, unsigned int e, unsigned int m)
{
	int exponent = bits >> m, bias = (1 << (e - 1)) - 1;
	double fraction = (double)(bits & ((1ull << m) - 1)) / (double)(1ull << m);

	if (exponent == (1 << e) - 1)
		return fraction != 0 ? NAN : INFINITY;
	return exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);
}

static double float_value(uint64_t bits, unsigned int width)
{
	unsigned int e = width == 32 ? 8 : 5, m = width - 1 - e;
	double x = small_value(bits & ((1ull << (width - 1)) - 1), e, m);

	return bits >> (width - 1) ? -x : x;
}

static int64_t sign_extended(uint64_t bits, unsigned int width)
{
	return bits >> (width - 1) ? (int64_t)bits - (int64_t)(1ull << width) : (int64_t)bits;
}

static double largest(const struct color_format *f, unsigned int c)
{
	bool sign = f->kind == COLOR_SNORM || f->kind == COLOR_SINT;

	return (double)((1ull << (f->bits[c] - sign)) - 1);
}

static double from_srgb(double x)
{
	return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

static double to_srgb(double x)
{
	return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
}

double color_ref_value(const struct color_format *f, unsigned int c, uint64_t bits)
{
	double x;

	switch (f->kind) {
	case COLOR_UNORM:
		x = (double)bits / largest(f, c);
		return f->srgb && c < 3 ? from_srgb(x) : x;
	case COLOR_SNORM:
		return fmax(-1, (double)sign_extended(bits, f->bits[c]) / largest(f, c));
	case COLOR_FLOAT:
		return float_value(bits, f->bits[c]);
	case COLOR_UFLOAT:
		return small_value(bits, 5, f->bits[c] - 5);
	case COLOR_SINT:
		return (double)sign_extended(bits, f->bits[c]);
	case COLOR_FIXED:
		return (double)sign_extended(bits, f->bits[c]) / 65536;
	default:
		return (double)bits;
	}
}

/* To nearest even with @m bits of mantissa; below 2^@low steps stay as large as there. */
static double to_mantissa(double x, unsigned int m, int low)
{
	double step;
	int e;

	if (x == 0 || !isfinite(x))
		return x;
	frexp(x, &e);
	step = ldexp(1, (e - 1 < low ? low : e - 1) - (int)m);
	return nearbyint(x / step) * step;
}

double color_ref_rounded(const struct color_format *f, unsigned int c, double x)
{
	double top;

	switch (f->kind) {
	case COLOR_UNORM:
		x = x > 0 ? fmin(x, 1) : 0;
		if (f->srgb && c < 3)
			return from_srgb(floor(to_srgb(x) * largest(f, c) + 0.5) / largest(f, c));
		return floor(x * largest(f, c) + 0.5) / largest(f, c);
	case COLOR_SNORM:
		x = isnan(x) ? 0 : fmin(fmax(x, -1), 1);
		return round(x * largest(f, c)) / largest(f, c);
	case COLOR_FLOAT:
		if (f->bits[c] == 32)
			return (double)(float)x;
		x = to_mantissa(x, 10, -14);
		return fabs(x) > 65504 ? copysign(INFINITY, x) : x;
	case COLOR_UFLOAT:
		if (isnan(x) || x == INFINITY)
			return x;
		top = ldexp(2 - ldexp(1, -(int)(f->bits[c] - 5)), 15);
		return x > 0 ? fmin(to_mantissa(x, f->bits[c] - 5, -14), top) : 0;
	case COLOR_FIXED:
		return fmin(fmax(round(x * 65536), INT32_MIN), INT32_MAX) / 65536;
	case COLOR_UINT:
		return fmin(fmax(x, 0), largest(f, c));
	case COLOR_SINT:
		return fmin(fmax(x, -largest(f, c) - 1), largest(f, c));
	default:
		return x;
	}
}

void color_ref_load(const struct color_format *f, const uint8_t *texel, double color[4])
{
	double raw[6] = { 0, 0, 0, 1, 0, 1 };

	for (unsigned int c = 0; c < 4; c++) {
		if (f->bits[c])
			raw[c] = color_ref_value(f, c, color_ref_bits(f, c, texel));
	}
	for (unsigned int i = 0; i < 4; i++)
		color[i] = raw[f->comes[i]];
}

bool color_ref_accepts(const struct color_format *f, unsigned int c, double x, double off,
		       const uint8_t *texel)
{
	double v = color_ref_value(f, c, color_ref_bits(f, c, texel));

	if (isnan(x) && f->kind >= COLOR_FLOAT)
		return isnan(v);
	/* values of the table are doubles rounded once each */
	return v >= color_ref_rounded(f, c, x - off) - 1e-15 &&
	       v <= color_ref_rounded(f, c, x + off) + 1e-15;
}

double color_ref_clamp(const struct color_format *f, double x)
{
	if (f->kind != COLOR_UNORM && f->kind != COLOR_SNORM)
		return x;
	return isnan(x) ? 0 : fmin(fmax(x, f->kind == COLOR_UNORM ? 0 : -1), 1);
}

/* ---- Blending -------------------------------------------------------------------------------- */

static double factor(unsigned int which, unsigned int i, const double s[4], const double d[4],
		     const double t[4], const double k[4])
{
	/* each factor that has one stands before its complement */
	const double of[] = { s[i], d[i], s[3], d[3], k[i], k[3] };

	if (which >= TSR_BLEND_FACTOR_SRC_COLOR && which < TSR_BLEND_FACTOR_SRC_ALPHA_SATURATE)
		return which % 2 ? 1 - of[which / 2 - 1] : of[which / 2 - 1];
	switch (which) {
	case TSR_BLEND_FACTOR_ONE:
		return 1;
	case TSR_BLEND_FACTOR_SRC_ALPHA_SATURATE:
		return i == 3 ? 1 : fmin(s[3], 1 - d[3]);
	case TSR_BLEND_FACTOR_SRC1_COLOR:
		return t[i];
	case TSR_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR:
		return 1 - t[i];
	case TSR_BLEND_FACTOR_SRC1_ALPHA:
		return t[3];
	case TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA:
		return 1 - t[3];
	default:
		return 0;
	}
}

double color_ref_blend(const struct tsr_blend *b, unsigned int i, const double s[4],
		       const double d[4], const double t[4], const double constant[4],
		       double *scale)
{
	unsigned int op = i == 3 ? b->alpha_op : b->color_op;
	double x = factor(i == 3 ? b->src_alpha : b->src_color, i, s, d, t, constant);
	double y = factor(i == 3 ? b->dst_alpha : b->dst_color, i, s, d, t, constant);

	/* 1 - x of a large x is rounded too */
	*scale = fabs(s[i]) * (1 + fabs(x)) + fabs(d[i]) * (1 + fabs(y));
	switch (op) {
	case TSR_BLEND_OP_ADD:
		return s[i] * x + d[i] * y;
	case TSR_BLEND_OP_SUBTRACT:
		return s[i] * x - d[i] * y;
	case TSR_BLEND_OP_REVERSE_SUBTRACT:
		return d[i] * y - s[i] * x;
	case TSR_BLEND_OP_MIN:
		return fmin(s[i], d[i]);
	default:
		return fmax(s[i], d[i]);
	}
}

bool color_ref_logic(unsigned int op, bool s, bool d)
{
	const bool is[16] = {
		false, s && d, s && !d, s, !s && d, d, s != d, s || d,
		!(s || d), s == d, !d, s || !d, !s, !s || d, !(s && d), true,
	};

	return is[op];
}
