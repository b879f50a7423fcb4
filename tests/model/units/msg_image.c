/* SPDX-License-Identifier: MIT */
/*
 * test: TIMEOUT=120 TSAN=0
 *
 * Attributes and images: every pixel format against a table written from the numbers of Mali v7,
 * every addressing of attribute buffers, edges of images, conversions of registers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image_formats.h"
#include "ktap.h"
#include "rnd.h"
#include "simd/simd.h"
#include "units.h"

static struct units *u;

/* ---- Formats --------------------------------------------------------------------------------- */

static uint64_t take(const uint8_t *p, unsigned int lo, unsigned int n)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < n; i++)
		v |= (uint64_t)(p[(lo + i) / 8] >> (lo + i) % 8 & 1) << i;
	return v;
}

static double minifloat(uint64_t v, unsigned int mantissa)
{
	double m = v & ((1u << mantissa) - 1);
	int e = v >> mantissa & 31;

	if (e == 31)
		return m != 0 ? NAN : INFINITY;
	return e ? ldexp(1 + m / (1u << mantissa), e - 15) : ldexp(m, -14 - (int)mantissa);
}

/* The value of an @n-bit component. */
static double value(char kind, uint64_t v, unsigned int n)
{
	int64_t s = (int64_t)(v << (64 - n)) >> (64 - n);
	uint32_t bits = v;
	float f;

	switch (kind) {
	case 'n':
		return v / (exp2(n) - 1);
	case 's':
		return s / (exp2(n - 1) - 1) < -1 ? -1 : s / (exp2(n - 1) - 1);
	case 'u':
		return v;
	case 'i':
		return s;
	case 'h':
		return minifloat(v, n - 5);
	case 'x':
		return s / 65536.0;
	default:
		memcpy(&f, &bits, 4);
		return n == 32 ? f : (v >> 15 ? -1 : 1) * minifloat(v & 0x7fff, 10);
	}
}

/* The four components of the bytes at @p, before any order. */
static void components(const struct format *f, const struct layout *l, const uint8_t *p,
		       double c[4])
{
	for (unsigned int i = 0; i < 4; i++)
		c[i] = l->bits[i] ? value(f->kind, take(p, l->lo[i], l->bits[i]), l->bits[i])
				  : i == 3;
	if (f->kind == 'e') {
		for (unsigned int i = 0; i < 3; i++)
			c[i] = ldexp(take(p, l->lo[i], 9), (int)take(p, l->lo[3], 5) - 24);
		c[3] = 1;
	}
}

static float as_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* Attribute @n: that pixel format, buffer 2 * @n. */
static void attribute(unsigned int n, unsigned int format, unsigned int order, bool srgb,
		      int32_t offset)
{
	uint64_t word = 2 * n | (uint64_t)(order | format << 12 | (uint32_t)srgb << 20) << 10 |
			(uint64_t)(uint32_t)offset << 32;

	memcpy(units_table(u, UNITS_ATTRIBUTES + 8 * n), &word, 8);
}

static void buffer(unsigned int n, unsigned int type, uint64_t va, uint32_t stride, uint32_t size,
		   uint32_t divisor)
{
	uint64_t q[4] = { type | va | (uint64_t)divisor << 56, stride | (uint64_t)size << 32, 32 };

	memcpy(units_table(u, UNITS_BUFFERS + 32 * n), q, 32);
}

static void image(unsigned int n, bool tiled, uint64_t va, uint32_t bpp, uint32_t size,
		  const unsigned int extent[3], uint32_t row, uint32_t slice)
{
	uint64_t *q;

	buffer(n, tiled ? 6 : 5, va, bpp, size, 0);
	q = units_table(u, UNITS_BUFFERS + 32 * n + 16);
	q[0] = 32 | (uint64_t)(extent[0] - 1) << 16 | (uint64_t)(extent[1] - 1) << 32 |
	       (uint64_t)(extent[2] - 1) << 48;
	q[1] = row | (uint64_t)slice << 32;
}

/* A texel of image 0 at x = lane. */
static void coordinates(uint32_t y, uint32_t z)
{
	for (unsigned int l = 0; l < 16; l++) {
		u->src[0].u[l] = l | y << 16;
		u->src[1].u[l] = z;
		u->src[2].u[l] = 0;
	}
}

static void load_image(unsigned int format)
{
	units_insn(u, TSR_OP_ADD_LD_ATTR_TEX);
	u->insn.mod[TSR_MOD_REGISTER_FORMAT] = format;
	u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V4;
}

/* Interesting bits for a texel. */
static void make_texel(uint8_t p[16])
{
	unsigned int how = rnd() % 4;

	for (unsigned int i = 0; i < 16; i++)
		p[i] = how == 0 ? 0 : how == 1 ? 0xff : how == 2 ? (i % 2 ? 0x7f : 0) : rnd();
	if (how == 3 && rnd() % 2)
		p[3] = p[7] = p[11] = p[15] = rnd() % 2 ? 0x3f : 0xbf;
}

static bool check_loaded(const struct format *f, const double want[4], unsigned int lane,
			 unsigned int first)
{
	for (unsigned int c = 0; c < 4; c++) {
		uint32_t got = units_reg(u, first + c)->u[lane];

		if (f->kind == 'u' || f->kind == 'i') {
			if (!ktap_eq(got, (uint32_t)(int64_t)want[c]))
				return false;
		} else if (isnan(want[c]) ? !isnan(as_float(got))
					  : as_float(got) != (float)want[c]) {
			return ktap_fail("format %u component %u: expected %.9g, got %.9g",
					 f->number, c, want[c], as_float(got));
		}
	}
	return true;
}

static void test_formats(void)
{
	const unsigned int extent[3] = { 16, 1, 1 };
	uint8_t texels[16][16];

	for (unsigned int n = 0; n < FORMATS * 40; n++) {
		const struct format *f = &formats[n % FORMATS];
		const struct layout l = parse(f);
		unsigned int bytes = l.bytes;

		attribute(0, f->number, 0, false, 0);
		image(0, false, UNITS_DATA, bytes, 16 * bytes, extent, 16 * bytes, 0);
		for (unsigned int i = 0; i < 16; i++) {
			make_texel(texels[i]);
			memcpy(u->data + i * bytes, texels[i], bytes);
		}
		coordinates(0, 0);
		load_image(TSR_REGISTER_FORMAT_AUTO);
		if (!ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE))
			return;
		for (unsigned int i = 0; i < 16; i++) {
			double want[4];

			components(f, &l, texels[i], want);
			if (!check_loaded(f, want, i, 8)) {
				ktap_note("format %u lane %u", f->number, i);
				return;
			}
		}
		/* the reverse: the address and conversion word, then the same bytes over zeros */
		units_insn(u, TSR_OP_ADD_LEA_ATTR_TEX);
		units_pair(u, TSR_OP_FMA_DTSEL_IMM);
		u->pair_insn.mod[TSR_MOD_TABLE] = TSR_TABLE_ATTRIBUTE_1;
		u->insn.mod[TSR_MOD_REGISTER_FORMAT] = TSR_REGISTER_FORMAT_AUTO;
		ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int i = 0; i < 16; i++) {
			ktap_eq(units_reg(u, 20)->u[i], UNITS_DATA + i * bytes);
			ktap_eq(units_reg(u, 21)->u[i], 0);
			ktap_eq(units_reg(u, 22)->u[i] & 0x3fffff, f->number << 12);
		}
		u->src[0] = *units_reg(u, 20);
		u->src[1] = *units_reg(u, 21);
		u->src[2] = *units_reg(u, 22);
		memset(u->data, 0, 300);
		units_insn(u, TSR_OP_ADD_ST_CVT);
		u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V4;
		ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int i = 0; i < 16; i++) {
			double before[4], after[4];

			components(f, &l, texels[i], before);
			components(f, &l, u->data + i * bytes, after);
			for (unsigned int c = 0; c < 4; c++) {
				/* registers hold no more than a float does */
				if ((float)before[c] != (float)after[c] &&
				    !(isnan(before[c]) && isnan(after[c]))) {
					ktap_fail("format %u component %u: %.9g became %.9g",
						  f->number, c, before[c], after[c]);
					return;
				}
			}
		}
		for (unsigned int i = 16 * bytes; i < 300; i++)
			ktap_eq(u->data[i], 0);
	}
}

static void test_alignment(void)
{
	buffer(5, 1, UNITS_DATA, 16, 0x1000, 0);
	units_insn(u, TSR_OP_ADD_LD_ATTR_IMM);
	u->insn.imm[TSR_IMM_ATTRIBUTE_INDEX] = 5;
	u->insn.mod[TSR_MOD_REGISTER_FORMAT] = TSR_REGISTER_FORMAT_AUTO;
	memset(&u->src, 0, sizeof(u->src));
	for (unsigned int n = 0; n < FORMATS * 8; n++) {
		const struct format *f = &formats[n / 8];

		attribute(5, f->number, 0, false, n % 8);
		if (n % 8 % alignment(f) == 0)
			ktap_eq(units_run(u, 8, 1), TSR_STEP_DONE);
		else if (ktap_eq(units_run(u, 8, 1), TSR_STEP_FAULT))
			units_fault_is(u, TSR_FAULT_SHADER_ALIGNMENT, UNITS_DATA + n % 8, 0);
		units_stop(u);
	}
}

/* Fractions as bytes: to nearest, ties away from zero, clamped, NaN as 0; in any order. */
static void test_fractions(void)
{
	static const unsigned int orders[] = { 0, 4, 16, 28 };
	static const uint8_t from[4][4] = { { 0, 1, 2, 3 }, { 2, 1, 0, 3 }, { 0, 1, 2, 4 },
					    { 4, 2, 1, 0 } };

	for (unsigned int n = 0; n < 400; n++) {
		unsigned int components = 1 + n / 4 % 4;

		for (unsigned int l = 0; l < 16; l++) {
			u->src[0].u[l] = UNITS_DATA + 4 * l;
			u->src[1].u[l] = 0;
			u->src[2].u[l] = orders[n % 4] | TSR_PIXEL_FORMAT_RGBA8_UNORM << 12 |
					 TSR_REGISTER_TYPE_F32 << 24;
			for (unsigned int c = 0; c < 4; c++)
				units_reg(u, 8 + c)->f[l] = rnd() % 8 == 0 ? NAN :
					(float)(rnd() % 65536) / 32768 - 0.5f;
			/* a tie */
			units_reg(u, 8)->f[l] = l % 4 ? units_reg(u, 8)->f[l] : 0.5f;
		}
		units_insn(u, TSR_OP_ADD_ST_CVT);
		u->insn.mod[TSR_MOD_VECSIZE] = components - 1;
		ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int i = 0; i < 64; i++) {
			unsigned int c = from[n % 4][i % 4];
			double x = c < components ? units_reg(u, 8 + c)->f[i / 4] : c > 2;

			x = isnan(x) || x < 0 ? 0 : x > 1 ? 1 : x;
			if (!ktap_eq(u->data[i], (uint8_t)floor(x * 255 + 0.5)))
				return;
		}
	}
}

/* Lanes whose pages have not been written before. */
static void test_cold_pages(void)
{
	for (unsigned int l = 0; l < 16; l++) {
		u->src[0].u[l] = UNITS_DATA + BENCH_PAGE * l;
		u->src[1].u[l] = 0;
		u->src[2].u[l] = TSR_PIXEL_FORMAT_RGBA8_UNORM << 12 | TSR_REGISTER_TYPE_F32 << 24;
		memset(u->data + BENCH_PAGE * l, 0, 4);
		for (unsigned int c = 0; c < 4; c++)
			units_reg(u, 8 + c)->f[l] = 1;
	}
	units_stop(u);
	units_insn(u, TSR_OP_ADD_ST_CVT);
	u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V4;
	ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
	for (unsigned int l = 0; l < 16; l++)
		ktap_mem_eq(u->data + BENCH_PAGE * l, "\xff\xff\xff\xff", 4);
}

static void test_orders(void)
{
	/* by the letters: what the components of memory, first to last, are called */
	static const struct { unsigned int order; const char *letters; } orders[] = {
		{ 0, "RGBA" }, { 2, "GRBA" }, { 4, "BGRA" }, { 8, "ARGB" }, { 10, "AGRB" },
		{ 12, "ABGR" }, { 16, "RGB1" }, { 18, "GRB1" }, { 20, "BGR1" }, { 24, "1RGB" },
		{ 26, "1GRB" }, { 28, "1BGR" }, { 242, "RBGA" },
	};
	const unsigned int extent[3] = { 16, 1, 1 };

	image(0, false, UNITS_DATA, 4, 64, extent, 64, 0);
	for (unsigned int i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const char *letters = orders[i].letters;

		attribute(0, 155, orders[i].order, false, 0);
		for (unsigned int b = 0; b < 64; b++)
			u->data[b] = 10 + b;
		coordinates(0, 0);
		load_image(TSR_REGISTER_FORMAT_U32);
		ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			for (unsigned int c = 0; c < 4; c++) {
				const char *at = strchr(letters, "RGBA"[c]);
				uint32_t want = at ? 10 + 4 * l + (at - letters) : 1;

				ktap_eq(units_reg(u, 8 + c)->u[l], want);
			}
		}
		/* stored: the same bytes, 1 where nothing is stored */
		memset(u->data, 0, 64);
		for (unsigned int l = 0; l < 16; l++) {
			u->src[0].u[l] = UNITS_DATA + 4 * l;
			u->src[1].u[l] = 0;
			u->src[2].u[l] = orders[i].order | 155 << 12 | TSR_REGISTER_TYPE_U32 << 24;
		}
		units_insn(u, TSR_OP_ADD_ST_CVT);
		u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V4;
		ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int b = 0; b < 64; b++)
			ktap_eq(u->data[b], letters[b % 4] == '1' ? 1 : 10 + b);
	}
}

/* Orders of one and two components, and the format without memory. */
static void test_luminance(void)
{
	static const struct { unsigned int format, order; float c[4]; } row[] = {
		{ 163, 226, { 0.2f, 0.2f, 0.2f, 0.2f } }, { 163, 227, { 0.2f, 0.2f, 0.2f, 1 } },
		{ 24, 228, { 0.2f, 0.2f, 0.2f, 0.4f } }, { 26, 229, { 0, 0, 0, 0.2f } },
		{ 163, 230, { 0, 0, 0, 1 } }, { 163, 231, { 0, 0, 0, 0 } },
		{ 163, 240, { 0.2f, 0, 0, 0 } }, { 163, 16, { 0.2f, 0, 0, 1 } },
		{ 171, 16, { 0.2f, 0.4f, 0, 1 } }, { 95, 231, { 0, 0, 0, 0 } },
		{ 95, 230, { 0, 0, 0, 1 } }, { 187, 240, { 0.2f, 0, 0, 0 } },
		{ 187, 229, { 0, 0, 0, 0.8f } }, { 187, 231, { 0, 0, 0, 0 } },
		{ 187, 16, { 0.2f, 0.4f, 0.6f, 1 } }, { 187, 226, { 0.2f, 0.2f, 0.2f, 0.2f } },
	};
	const unsigned int extent[3] = { 16, 1, 1 };

	for (unsigned int i = 0; i < 5; i++)
		u->data[i] = 51 * (i + 1);
	image(0, false, UNITS_DATA, 4, 64, extent, 64, 0);
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		attribute(0, row[i].format, row[i].order, false, 0);
		coordinates(0, 0);
		load_image(TSR_REGISTER_FORMAT_F32);
		ktap_eq(units_run(u, 8, 1), TSR_STEP_DONE);
		for (unsigned int c = 0; c < 4; c++)
			ktap_ok(as_float(units_reg(u, 8 + c)->u[0]) == row[i].c[c]);
	}
	/* formats and orders that do not exist, and flags there are no units for */
	for (unsigned int bad = 0; bad < 6; bad++) {
		static const unsigned int format[6] = { 0, 7, 32, 96, 187, 187 };
		static const unsigned int order[6] = { 0, 0, 0, 0, 1, 232 };

		attribute(0, format[bad], order[bad], false, 0);
		ktap_eq(units_run(u, 8, 0x30), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_SHADER_STATE, UNITS_ATTRIBUTES, 4);
		ktap_eq(u->mem.fault.unit, TSR_UNIT_ATTRIBUTE);
	}
}

static void test_srgb(void)
{
	const unsigned int extent[3] = { 16, 16, 1 };

	attribute(0, 187, 0, true, 0);
	image(0, false, UNITS_DATA, 4, 1024, extent, 64, 0);
	for (unsigned int i = 0; i < 1024; i++)
		u->data[i] = i / 4;
	for (unsigned int y = 0; y < 16; y++) {
		coordinates(y, 0);
		load_image(TSR_REGISTER_FORMAT_F32);
		ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			double x = (16 * y + l) / 255.0;
			double want = x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);

			ktap_ok(fabs(as_float(units_reg(u, 8)->u[l]) - want) < 1e-6);
			ktap_ok(as_float(units_reg(u, 11)->u[l]) == (float)x);
			u->src[0].u[l] = UNITS_DATA + 0x1000 + 4 * l;
			u->src[1].u[l] = 0;
			u->src[2].u[l] = 187 << 12 | 1 << 20 | TSR_REGISTER_TYPE_F32 << 24;
		}
		units_insn(u, TSR_OP_ADD_ST_CVT);
		u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V4;
		ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
		ktap_mem_eq(u->data + 0x1000, u->data + 64 * y, 64);
	}
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* Index of a texel in its tile, bit by bit. */
static unsigned int tile_index(unsigned int x, unsigned int y)
{
	unsigned int r = 0;

	for (unsigned int b = 0; b < 4; b++)
		r |= ((x >> b ^ y >> b) & 1) << 2 * b | (y >> b & 1) << (2 * b + 1);
	return r;
}

static void image_case(bool tiled, const unsigned int extent[3])
{
	const uint32_t row = (tiled ? (extent[0] + 15) / 16 * 256 : extent[0]) * 4 + 64;
	const uint32_t rows = tiled ? (extent[1] + 15) / 16 : extent[1];
	const uint32_t slice = row * rows + 128;
	const uint32_t size = slice * extent[2];
	const int32_t offset = 12;

	attribute(3, 133, 16, false, offset);
	image(3, tiled, UNITS_DATA + 0x1000, 4, size + offset, extent, row, slice);
	for (unsigned int i = 0; i < size / 4; i++)
		memcpy(u->data + 0x1000 + offset + 4 * i, &i, 4);
	for (unsigned int n = 0; n < 200; n++) {
		bool lea = n % 2;
		uint16_t lanes = rnd() | 1;

		units_insn(u, lea ? TSR_OP_ADD_LEA_ATTR_TEX : TSR_OP_ADD_LD_ATTR_TEX);
		u->insn.mod[TSR_MOD_REGISTER_FORMAT] = TSR_REGISTER_FORMAT_U32;
		u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V4;
		for (unsigned int l = 0; l < 16; l++) {
			u->src[0].u[l] = (rnd() % (extent[0] + 2) & 0xffff) |
					 rnd() % (extent[1] + 2) << 16;
			if (rnd() % 8 == 0)
				u->src[0].u[l] |= rnd() % 2 ? 0xffff : 0xffff0000;
			u->src[1].u[l] = rnd() % 16 ? rnd() % (extent[2] + 1) : 0x10000;
			u->src[2].u[l] = 3;
		}
		ktap_eq(units_run(u, 8, lanes), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			uint32_t x = u->src[0].u[l] & 0xffff, y = u->src[0].u[l] >> 16;
			uint32_t z = u->src[1].u[l];
			bool in = x < extent[0] && y < extent[1] && z < extent[2];
			uint32_t at = z * slice;

			if (!(lanes >> l & 1))
				continue;
			at += tiled ? y / 16 * row +
				      (x / 16 * 256 + tile_index(x % 16, y % 16)) * 4
				    : y * row + x * 4;
			if (lea) {
				uint64_t va = in ? UNITS_DATA + 0x1000 + offset + at
						 : TSR_WINDOW_VOID;

				ktap_eq(units_reg(u, 8)->u[l], (uint32_t)va);
				ktap_eq(units_reg(u, 9)->u[l], va >> 32);
				ktap_eq(units_reg(u, 10)->u[l],
					133 << 12 | 16 | TSR_REGISTER_TYPE_U32 << 24);
			} else if (!ktap_eq(units_reg(u, 8)->u[l], in ? at / 4 : 0) ||
				   !ktap_eq(units_reg(u, 11)->u[l], in)) {
				ktap_note("tiled %u texel %u %u %u", tiled, x, y, z);
				return;
			}
		}
	}
}

static void test_layouts(void)
{
	static const unsigned int extents[][3] = {
		{ 16, 16, 1 }, { 17, 15, 1 }, { 33, 40, 3 }, { 1, 1, 1 }, { 100, 7, 5 },
	};

	for (unsigned int i = 0; i < 5; i++) {
		image_case(false, extents[i]);
		image_case(true, extents[i]);
	}
}

/* Beyond an image's edge: loads 0, stores and atomics nowhere, whatever lies beside it. */
static void test_edges(void)
{
	const unsigned int extent[3] = { 8, 8, 1 };
	static uint8_t want[UNITS_DATA_SIZE];

	attribute(0, 133, 16, false, 0);
	image(0, false, UNITS_DATA + 0x2000, 4, 256, extent, 32, 0);
	memset(u->data, 0x5a, UNITS_DATA_SIZE);
	memcpy(want, u->data, sizeof(want));
	for (unsigned int n = 0; n < 64; n++) {
		units_insn(u, TSR_OP_ADD_LEA_ATTR_TEX);
		u->insn.mod[TSR_MOD_REGISTER_FORMAT] = TSR_REGISTER_FORMAT_U32;
		for (unsigned int l = 0; l < 16; l++) {
			uint32_t x = rnd() % 3 ? 8 + rnd() % 0xfff8 : rnd() % 8;
			uint32_t y = x < 8 ? 8 + rnd() % 0xfff8 : rnd() % 16;

			u->src[0].u[l] = x | y << 16;
			u->src[1].u[l] = 0;
			u->src[2].u[l] = n % 4 ? 0 : 256 + rnd() % 65536;	/* no such image */
		}
		ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
		u->src[0] = u->pair[0] = *units_reg(u, 20);
		u->src[1] = u->pair[1] = *units_reg(u, 21);
		u->src[2] = *units_reg(u, 22);
		units_insn(u, TSR_OP_ADD_ST_CVT);
		ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
		units_insn(u, TSR_OP_ADD_ATOM_CX);
		units_pair(u, TSR_OP_FMA_ATOM_C_RETURN_I32);
		u->pair_insn.mod[TSR_MOD_ATOM_OPC] = TSR_ATOM_OPC_AADD;
		ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++)
			ktap_eq(units_reg(u, 8)->u[l], 0);
	}
	ktap_mem_eq(u->data, want, sizeof(want));
	/* an image that lies beyond the size of its buffer */
	image(0, false, UNITS_DATA + 0x2000, 4, 100, extent, 32, 0);
	coordinates(3, 0);
	load_image(TSR_REGISTER_FORMAT_U32);
	ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
	ktap_eq(units_reg(u, 8)->u[0], 0x5a5a5a5a);
	ktap_eq(units_reg(u, 8)->u[1], 0);
	/* inside, but the page is not there: a fault all the same */
	image(0, false, 0x70000000, 4, 256, extent, 32, 0);
	ktap_eq(units_run(u, 8, 0x8), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, 0x70000000 + 3 * 32 + 12, 3);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static void check_elements(unsigned int type, const uint32_t n[16], const uint64_t want[16])
{
	units_insn(u, TSR_OP_ADD_LD_ATTR_IMM);
	u->insn.imm[TSR_IMM_ATTRIBUTE_INDEX] = 5;
	u->insn.mod[TSR_MOD_REGISTER_FORMAT] = TSR_REGISTER_FORMAT_U32;
	for (unsigned int l = 0; l < 16; l++) {
		u->src[0].u[l] = n[l];
		u->src[1].u[l] = rnd();
	}
	ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
	for (unsigned int l = 0; l < 16; l++) {
		if (!ktap_eq(units_reg(u, 8)->u[l], want[l] < 1000 ? 7000 + want[l] : 0))
			ktap_note("type %u element %u", type, n[l]);
	}
}

/* 1000 elements of 20 bytes, number k holds 7000 + k at byte 8. */
static void elements(void)
{
	for (uint32_t k = 0; k < 1100; k++) {
		uint32_t v = 7000 + k;

		memcpy(u->data + 0x4000 + 20 * k + 8, &v, 4);
	}
	attribute(5, 133, 16, false, 8);
}

static void test_buffers(void)
{
	const uint32_t size = 999 * 20 + 12;

	elements();
	for (unsigned int i = 0; i < 600; i++) {
		static const unsigned int types[] = { 1, 2, 3, 10, 11 };
		unsigned int type = types[i % 5];
		unsigned int shift = rnd() % 8;
		unsigned int odd = rnd() % (type % 8 == 3 ? TSR_ATTRIBUTE_MODULUS_ODD_MAX + 1 : 8);
		uint32_t n[16];
		uint64_t want[16];

		buffer(5, type, UNITS_DATA + 0x4000, 20, size, shift | odd << 5);
		for (unsigned int l = 0; l < 16; l++) {
			n[l] = rnd() % 4 ? rnd() % 1100 : rnd() << 12;
			want[l] = type == 1 ? n[l] : type % 8 == 2
				? n[l] >> shift : n[l] % ((2 * odd + 1) << shift);
		}
		check_elements(type, n, want);
	}
}

/* Every kind of divisor, by the published choice of multiplier. */
static void test_divisors(void)
{
	elements();
	for (unsigned int i = 0; i < 3000; i++) {
		uint32_t d = i < 100 ? 3 + i : 3 + (rnd() << 4 ^ rnd()) % 0xfffffff0;
		unsigned int k = 31 - __builtin_clz(d);
		uint64_t m = ((1ull << (32 + k)) + d - 1) / d;
		bool e = (1ull << (32 + k)) % d && (1ull << (32 + k)) % d <= 1ull << k;
		uint64_t *q = units_table(u, UNITS_BUFFERS + 32 * 5 + 16);
		uint32_t n[16];
		uint64_t want[16];

		if (!(d & (d - 1)))
			continue;
		if (e)
			m--;
		buffer(5, i % 2 ? 4 : 12, UNITS_DATA + 0x4000, 20, 999 * 20 + 12, k | e << 5);
		q[0] = 32 | (m & 0x7fffffff) << 32;
		q[1] = (uint64_t)d << 32;
		for (unsigned int l = 0; l < 16; l++) {
			uint64_t x = (uint64_t)d * (rnd() % 1100) + rnd() % 3 - 1;

			n[l] = l == 0 ? UINT32_MAX : x > UINT32_MAX ? rnd() : x;
			want[l] = n[l] / d;
		}
		check_elements(4, n, want);
	}
}

static void test_buffer_faults(void)
{
	static const unsigned int types[] = { 0, 7, 8, 9, 13, 32, 63 };
	uint64_t *q = units_table(u, UNITS_BUFFERS + 32 * 5);

	elements();
	units_insn(u, TSR_OP_ADD_LD_ATTR);
	for (unsigned int l = 0; l < 16; l++)
		u->src[2].u[l] = l == 9 ? 5 : 300;
	for (unsigned int odd = TSR_ATTRIBUTE_MODULUS_ODD_MAX + 1; odd < 8; odd++) {
		buffer(5, odd % 2 ? 3 : 11, UNITS_DATA + 0x4000, 20, 0x1000, odd << 5);
		ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_SHADER_STATE, UNITS_BUFFERS + 16 * 2 * 5, 9);
	}
	for (unsigned int i = 0; i < 7; i++) {
		buffer(5, types[i], UNITS_DATA + 0x4000, 20, 0x1000, 0);
		ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_SHADER_STATE, UNITS_BUFFERS + 32 * 5, 9);
	}
	buffer(5, 4, UNITS_DATA + 0x4000, 20, 0x1000, 0);
	q[2] = 1;
	ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_STATE, UNITS_BUFFERS + 32 * 5 + 16, 9);
	/* misaligned elements */
	buffer(5, 1, UNITS_DATA + 0x4000, 21, 0x1000, 0);
	for (unsigned int l = 0; l < 16; l++)
		u->src[0].u[l] = 2;
	ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_ALIGNMENT, UNITS_DATA + 0x4000 + 42 + 8, 9);
	/* a table that another stage would have */
	units_pair(u, TSR_OP_FMA_DTSEL_IMM);
	u->pair_insn.mod[TSR_MOD_TABLE] = TSR_TABLE_FLAT;
	ktap_eq(units_run(u, 8, 0x10), TSR_STEP_FAULT);
	ktap_eq(u->mem.fault.code, TSR_FAULT_SHADER_UNSUPPORTED);
	ktap_eq(u->msg.fault_lane, 4);
}

/* ---- Registers ------------------------------------------------------------------------------- */

static void test_register_types(void)
{
	/* a component of memory as each type of register; 64-bit ones as two words */
	static const struct {
		unsigned int format;
		uint32_t memory;
		uint32_t f32, f16, s32, u32, s16, u16;
		uint64_t f64, i64;
	} row[] = {
		{ 133, 0xfffffffe, 0x4f800000, 0x7c00, 0xfffffffe, 0xfffffffe, 0x7fff, 0xffff,
		  0x41efffffffc00000, 0xfffffffe },
		{ 197, 0xfffffffe, 0xc0000000, 0xc000, 0xfffffffe, 0xfffffffe, 0xfffe, 0,
		  0xc000000000000000, 0xfffffffffffffffe },
		{ 196, 0x8000, 0xc7000000, 0xf800, 0xffff8000, 0xffff8000, 0x8000, 0,
		  0xc0e0000000000000, 0xffffffffffff8000 },
		{ 167, 0xc2b6e666 /* -91.45 */, 0xc2b6e666, 0xd5b7, -91, 0, -91 & 0xffff, 0,
		  0xc056dcccc0000000, -91ull },
		{ 167, 0x4f000000 /* 2^31 */, 0x4f000000, 0x7c00, 0x7fffffff, 0x80000000, 0x7fff,
		  0xffff, 0x41e0000000000000, 0x80000000 },
		{ 167, 0x7fc00000, 0x7fc00000, 0x7e00, 0, 0, 0, 0, 0x7ff8000000000000, 0 },
		{ 163, 255, 0x3f800000, 0x3c00, 1, 1, 1, 1, 0x3ff0000000000000, 1 },
	};
	static const unsigned int formats[] = {
		TSR_REGISTER_FORMAT_F32, TSR_REGISTER_FORMAT_F16, TSR_REGISTER_FORMAT_S32,
		TSR_REGISTER_FORMAT_U32, TSR_REGISTER_FORMAT_S16, TSR_REGISTER_FORMAT_U16,
		TSR_REGISTER_FORMAT_F64, TSR_REGISTER_FORMAT_I64,
	};

	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const uint64_t want[] = { row[i].f32, row[i].f16, row[i].s32, row[i].u32,
					  row[i].s16, row[i].u16, row[i].f64, row[i].i64 };

		attribute(5, row[i].format, 16, false, 0);
		buffer(5, 1, UNITS_DATA, 4, 4096, 0);
		memcpy(u->data, &row[i].memory, 4);
		for (unsigned int t = 0; t < 8; t++) {
			uint64_t got;

			units_insn(u, TSR_OP_ADD_LD_ATTR_IMM);
			u->insn.imm[TSR_IMM_ATTRIBUTE_INDEX] = 5;
			u->insn.mod[TSR_MOD_REGISTER_FORMAT] = formats[t];
			u->src[0].u[2] = 0;
			units_reg(u, 9)->u[2] = 0x12345678;
			ktap_eq(units_run(u, 8, 4), TSR_STEP_DONE);
			got = units_reg(u, 8)->u[2];
			if (t >= 6)
				got |= (uint64_t)units_reg(u, 9)->u[2] << 32;
			else
				ktap_eq(units_reg(u, 9)->u[2], 0x12345678);
			if (!ktap_eq(got, want[t]))
				ktap_note("row %u type %u", i, t);
		}
	}
}

static void test_register_stores(void)
{
	/* words of registers of a type, stored in a format */
	static const struct {
		unsigned int type;
		uint32_t word[2];
		unsigned int format;
		uint32_t memory;
	} row[] = {
		{ TSR_REGISTER_TYPE_S32, { -5u }, 131, 0 },
		{ TSR_REGISTER_TYPE_S32, { 300 }, 131, 255 },
		{ TSR_REGISTER_TYPE_S32, { -300u }, 195, 0x80 },
		{ TSR_REGISTER_TYPE_U32, { 0xffffffff }, 197, 0x7fffffff },
		{ TSR_REGISTER_TYPE_S16, { 0xfffe }, 196, 0xfffe },
		{ TSR_REGISTER_TYPE_U16, { 0xfffe }, 132, 0xfffe },
		{ TSR_REGISTER_TYPE_I64, { 0, 1 }, 133, 0xffffffff },
		{ TSR_REGISTER_TYPE_F32, { 0x43800000 /* 256 */ }, 131, 255 },
		{ TSR_REGISTER_TYPE_F32, { 0xbfc00000 /* -1.5 */ }, 195, 0xff },
		{ TSR_REGISTER_TYPE_F16, { 0x3c00 }, 163, 255 },
		{ TSR_REGISTER_TYPE_F16, { 0x3800 }, 167, 0x3f000000 },
		{ TSR_REGISTER_TYPE_F64, { 0, 0x40000000 /* 2.0 */ }, 167, 0x40000000 },
		{ TSR_REGISTER_TYPE_F64, { 0xffffffff, 0x3fefffff }, 167, 0x3f800000 },
		{ TSR_REGISTER_TYPE_F64, { 0xffffffff, 0x3fefffff }, 231, 0x3f7fffff },
		{ TSR_REGISTER_TYPE_U32, { 3 }, 167, 0x40400000 },
		{ TSR_REGISTER_TYPE_F32, { 0x7fc00000 }, 163, 0 },
		{ TSR_REGISTER_TYPE_F32, { 0x7f800000 }, 163, 255 },
		{ TSR_REGISTER_TYPE_F32, { 0x7f800000 }, 89, 0x7c0 },
		{ TSR_REGISTER_TYPE_F32, { 0x7f7fffff }, 89, 0x7bf },
		{ TSR_REGISTER_TYPE_F32, { 0x7f7fffff }, 199, 0x7c00 },
		{ TSR_REGISTER_TYPE_F32, { 0x3b000000 /* 2^-9 */ }, 163, 0 },
		{ TSR_REGISTER_TYPE_F32, { 0x3b008081 /* just above 1/510 */ }, 163, 1 },
		{ TSR_REGISTER_TYPE_F32, { 0x33000000 /* 2^-25: half of the least */ }, 199, 0 },
		{ TSR_REGISTER_TYPE_F32, { 0x33000001 }, 199, 1 },
		{ TSR_REGISTER_TYPE_F32, { 0x387fffff /* below 2^-14 */ }, 199, 0x400 },
		{ TSR_REGISTER_TYPE_F32, { 0x3f801000 /* a tie, to even */ }, 199, 0x3c00 },
		{ TSR_REGISTER_TYPE_F32, { 0x3f803000 }, 199, 0x3c02 },
	};

	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		uint32_t got = 0;

		memset(u->data, 0, 16);
		units_insn(u, TSR_OP_ADD_ST_CVT);
		units_address(u, 7, UNITS_DATA);
		u->src[2].u[7] = row[i].format << 12 | row[i].type << 24;
		units_reg(u, 8)->u[7] = row[i].word[0];
		units_reg(u, 9)->u[7] = row[i].word[1];
		ktap_eq(units_run(u, 8, 1 << 7), TSR_STEP_DONE);
		memcpy(&got, u->data, 4);
		if (!ktap_eq(got, row[i].memory))
			ktap_note("row %u", i);
	}
}

static void test_convert(void)
{
	/* LD_CVT reads the texels of ST_CVT, in memory and in shared memory */
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t va = i ? TSR_WINDOW_GROUP + 64 : UNITS_DATA + 64;
		float c[4] = { 0.25f, -2, 1e6f, 3 };

		units_insn(u, TSR_OP_ADD_ST_CVT);
		u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V3;
		units_address(u, 0, va);
		u->src[2].u[0] = 223 << 12 | TSR_REGISTER_TYPE_F32 << 24;
		for (unsigned int w = 0; w < 4; w++)
			memcpy(&units_reg(u, 8 + w)->u[0], &c[w], 4);
		ktap_eq(units_run(u, 8, 1), TSR_STEP_DONE);
		units_insn(u, TSR_OP_ADD_LD_CVT);
		u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V4;
		ktap_eq(units_run(u, 12, 1), TSR_STEP_DONE);
		ktap_ok(as_float(units_reg(u, 12)->u[0]) == 0.25f);
		ktap_ok(as_float(units_reg(u, 13)->u[0]) == -2);
		ktap_ok(isinf(as_float(units_reg(u, 14)->u[0])));
		ktap_ok(as_float(units_reg(u, 15)->u[0]) == 1);
	}
	/* conversion words that make no sense, misaligned addresses */
	units_insn(u, TSR_OP_ADD_ST_CVT);
	units_address(u, 0, UNITS_DATA + 8);
	u->src[2].u[0] = 0x01060000;
	ktap_eq(units_run(u, 8, 1), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_STATE, UNITS_DATA + 8, 0);
	u->src[2].u[0] = 223 << 12 | 1 << 21;
	ktap_eq(units_run(u, 8, 1), TSR_STEP_FAULT);
	units_address(u, 0, UNITS_DATA + 9);
	u->src[2].u[0] = 223 << 12;
	ktap_eq(units_run(u, 8, 1), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_ALIGNMENT, UNITS_DATA + 9, 0);
}

static void test_clock(void)
{
	atomic_store(&u->b->clock, 0x123456789aull);
	units_insn(u, TSR_OP_ADD_LD_GCLK_U64);
	u->insn.mod[TSR_MOD_SOURCE] = TSR_SOURCE_SYSTEM_TIMESTAMP;
	ktap_eq(units_run(u, 8, 0x8001), TSR_STEP_DONE);
	ktap_eq(units_reg(u, 8)->u[0], 0x3456789a);
	ktap_eq(units_reg(u, 9)->u[15], 0x12);
	u->insn.mod[TSR_MOD_SOURCE] = TSR_SOURCE_CYCLE_COUNTER;
	atomic_store(&u->b->gpu->counters.global[TSR_GLOBAL_COUNTER_GPU_CYCLES], 0x700000005ull);
	ktap_eq(units_run(u, 8, 0x8001), TSR_STEP_DONE);
	ktap_eq(units_reg(u, 8)->u[0], 5);
	ktap_eq(units_reg(u, 9)->u[15], 7);
}

/* All that depends on how messages are done, on SIMD path @name; NULL: lane by lane. */
static void run_messages(const char *name)
{
	const struct tsr_simd *simd = name ? tsr_simd_named(name) : NULL;

	if (name && !simd)
		return;
	u->env.path = simd ? simd->messages : NULL;
	ktap_run("[ISA10] every pixel format, loaded and stored", test_formats);
	ktap_run("[ISA10] fractions are stored as the nearest bytes", test_fractions);
	ktap_run("[ISA10] texels are stored to pages that are new to the warp", test_cold_pages);
	ktap_run("component orders name the components of memory", test_orders);
	ktap_run("orders of one and two components; what is no format", test_luminance);
	ktap_run("the sRGB curve, there and back", test_srgb);
	ktap_run("images of rows and of tiles, one to three dimensions", test_layouts);
	ktap_run("[MEM6] beyond an image's edge: 0, dropped, neighbours untouched", test_edges);
	ktap_run("loads into every type of register", test_register_types);
	ktap_run("stores from every type of register", test_register_stores);
	ktap_run("LD_CVT and ST_CVT", test_convert);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	u = units_new(0);
	run_messages(NULL);
	run_messages("sse2");
	run_messages("avx2");
	run_messages("avx512");
	ktap_run("[ISA10] every pixel format, aligned and not", test_alignment);
	ktap_run("attribute buffers: linear, shifted, modulus", test_buffers);
	ktap_run("attribute buffers: any divisor", test_divisors);
	ktap_run("attribute buffers: malformed ones are faults", test_buffer_faults);
	ktap_run("LD_GCLK", test_clock);
	units_free(u);
	return ktap_finish();
}
