/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Properties of each pixel format and of each component order, and the conversion of numbers by
 * stores.
 */
#include <math.h>
#include <string.h>

#include "ktap.h"
#include "rnd.h"
#include "simd/simd.h"
#include "texture/tex_cache.h"
#include "units/msg_bundle.h"
#include "memory/tiling.h"
#include "tsr_desc.h"

enum first { R, A };

struct row {
	unsigned int number, kind, bytes, skip;
	enum first first;
	unsigned int bits[4];
	const char *name;
};

#define ROW(name_, number_, kind_, bytes_, skip_, first_, r, g, b, a) \
	{ number_, TSR_FORMAT_KIND_##kind_, bytes_, skip_, first_, { r, g, b, a }, #name_ },

static const struct row table[] = { TSR_PIXEL_FORMAT__TABLE(ROW) };

#define FORMATS (sizeof(table) / sizeof(table[0]))

/* Bits per component; 0: they differ. */
static unsigned int width(const struct row *r)
{
	unsigned int is = 0;

	for (unsigned int c = 0; c < 4; c++) {
		if (is && r->bits[c] && r->bits[c] != is)
			return 0;
		is = r->bits[c] ? r->bits[c] : is;
	}
	return is;
}

/* Where component @c of the format begins. */
static unsigned int shift_of(const struct row *r, unsigned int c)
{
	unsigned int shift = r->skip;

	for (unsigned int i = 0; i < 4; i++)
		shift += (r->first == R ? i < c : i > c) ? r->bits[i] : 0;
	return shift;
}

/* No component crosses 64-bit words, which loads and stores rely on. */
static void test_words(void)
{
	for (unsigned int i = 0; i < FORMATS; i++) {
		for (unsigned int c = 0; c < 4; c++) {
			if (table[i].bits[c] && table[i].kind != TSR_FORMAT_KIND_BLOCK)
				ktap_ok(shift_of(&table[i], c) % 64 + table[i].bits[c] <= 64);
		}
	}
}

/* Texels are aligned like components of 8, 16 or 32 bits, else like a load of their size. */
static void test_alignment(void)
{
	for (unsigned int i = 0; i < FORMATS; i++) {
		const struct row *r = &table[i];
		unsigned int bits = width(r), sum = 0;
		unsigned int align = bits == 8 || bits == 16 || bits == 32 ? bits / 8 :
				     r->bytes < 4			   ? r->bytes :
									     4;
		struct tsr_format format;

		for (unsigned int c = 0; c < 4; c++)
			sum += r->bits[c];
		/* stencil beside something else is not said to be one or the other */
		if (!r->bytes || r->kind == TSR_FORMAT_KIND_BLOCK ||
		    (bits == 8 && sum != 8 * r->bytes))
			continue;
		ktap_ok(tsr_format_find(&format, r->number, TSR_COMPONENT_ORDER_RGBA, false));
		if (!ktap_eq(format.align, align) || !ktap_eq(format.bytes, r->bytes))
			ktap_note("%s", r->name);
	}
}

/* The SIMD paths of this processor, and none. */
static const struct tsr_msg_path *paths[4];
static unsigned int path_count = 1;

static void find_paths(void)
{
	static const char *const names[] = { "sse2", "avx2", "avx512" };

	for (unsigned int i = 0; i < 3; i++) {
		const struct tsr_simd *simd = tsr_simd_named(names[i]);

		if (simd)
			paths[path_count++] = simd->messages;
	}
}

/* True if block @raw of @view, as a texture or without its sRGB curve, is what its texels are. */
static bool same_block(const struct tsr_msg_path *path, const struct tsr_texture_view *view,
		       const struct tsr_raw_block *raw, bool linear)
{
	const struct tsr_format *f = linear ? &view->linear : &view->format;
	const unsigned int bytes = tsr_texel_bytes(view->kind[linear]), pitch = 4 * bytes;
	uint8_t decoded[4 * 4 * TSR_TEX_TEXEL_BYTES_MAX];
	bool same = true;

	tsr_block_decode(path, view, linear, raw, decoded, pitch);
	for (unsigned int n = 0; n < 16; n++) {
		union tsr_texel got, want;

		tsr_format_load(f, raw->from + raw->order[n] * f->bytes, &want);
		tsr_block_texel(view->kind[linear], f, decoded + n / 4 * pitch + n % 4 * bytes,
				&got);
		for (unsigned int c = 0; c < 4; c++)
			same &= tsr_format_is_integer(f) ? got.i[c] == want.i[c] :
							   !memcmp(&got.f[c], &want.f[c], 4);
	}
	return same;
}

/* Blocks as they are kept are what their texels are one by one, each format in each order. */
static void test_blocks(void)
{
	uint8_t memory[16 * 16], rows[16], tiles[16];
	struct tsr_raw_block raw = { .from = memory, .columns = 4, .rows = 4 };
	struct tsr_texture_view view = { 0 };
	unsigned int seen = 0;

	for (unsigned int n = 0; n < 16; n++) {
		rows[n] = n;
		tiles[n] = tsr_tile_index(n % 4, n / 4);
	}
	for (unsigned int i = 0; i < 4 * 256 * FORMATS; i++) {
		const struct row *r = &table[i / 1024];
		const unsigned int order = i / 4 % 256;

		if (!tsr_format_find(&view.format, r->number, order, i & 1) ||
		    !tsr_format_find(&view.linear, r->number, order, false) || !r->bytes)
			continue;
		view.kind[0] = tsr_block_kind(&view.format);
		view.kind[1] = tsr_block_kind(&view.linear);
		raw.tiled = i & 2;
		raw.order = raw.tiled ? tiles : rows;
		for (unsigned int n = 0; n < sizeof(memory); n++)
			memory[n] = rnd();
		for (unsigned int k = 0; k < path_count; k++) {
			if (!ktap_ok(same_block(paths[k], &view, &raw, false) &&
				     same_block(paths[k], &view, &raw, true))) {
				ktap_note("%s, order %u, path %u", r->name, order, k);
				return;
			}
		}
		seen++;
	}
	ktap_ok(seen > 1000);
}

/* ---- Stores ---------------------------------------------------------------------------------- */

/* Bits @shift up to @shift + @bits of a texel. */
static uint32_t field(const uint8_t *texel, unsigned int shift, unsigned int bits)
{
	uint32_t v = 0;

	for (unsigned int i = 0; i < bits; i++)
		v |= (uint32_t)(texel[(shift + i) / 8] >> (shift + i) % 8 & 1) << i;
	return v;
}

/* The nearest integer to @x in the bounds, ties away from zero; NaN is 0. */
static int64_t nearest(long double x, long double low, long double high)
{
	if (isnan(x))
		return 0;
	return llroundl(x < low ? low : x > high ? high : x);
}

static int64_t saturated(int64_t x, int64_t low, int64_t high)
{
	return x < low ? low : x > high ? high : x;
}

/* The exponent, from 0, and the unit of what is stored with the largest of three components. */
static unsigned int shared_exponent(const float x[3], double *unit)
{
	double largest = 0;
	unsigned int e;

	for (unsigned int c = 0; c < 3; c++)
		largest = fmax(largest, fmin(isnan(x[c]) ? 0 : x[c], 511 * 0x1p7));
	for (e = 0; e < 31 && llround(largest / ldexp(1, (int)e - 24)) > 511; e++)
		;
	*unit = ldexp(1, (int)e - 24);
	return e;
}

/* A number without sign whose bits are certain: no fraction is lost, or it is out of bounds. */
static bool unsigned_float(float x, unsigned int bits, uint32_t *want)
{
	const unsigned int mantissa = bits - 5;
	const uint32_t infinity = 31u << mantissa;
	const double largest = (2 - ldexp(1, -(int)mantissa)) * 0x1p15;

	if (isnan(x))
		return false;
	*want = x <= 0 ? 0 : isinf(x) ? infinity : infinity - 1;
	return x <= 0 || x > 2 * largest;
}

/* The expected component @c. Returns false if this test does not know it. */
static bool stored(const struct row *r, const union tsr_texel *texel, unsigned int c,
		   uint32_t *want)
{
	const unsigned int n = r->bits[c];
	const int64_t all = (1ll << n) - 1, half = all >> 1;
	double unit;

	switch (r->kind) {
	case TSR_FORMAT_KIND_UNORM:
		*want = (uint32_t)nearest((long double)texel->f[c] * all, 0, all);
		return true;
	case TSR_FORMAT_KIND_SNORM:
		*want = (uint32_t)(nearest((long double)texel->f[c] * half, -half, half) & all);
		return true;
	case TSR_FORMAT_KIND_FIXED:
		*want = (uint32_t)nearest((long double)texel->f[c] * 65536, INT32_MIN, INT32_MAX);
		return true;
	case TSR_FORMAT_KIND_UINT:
		*want = (uint32_t)saturated(texel->i[c], 0, all);
		return true;
	case TSR_FORMAT_KIND_SINT:
		*want = (uint32_t)(saturated(texel->i[c], -half - 1, half) & all);
		return true;
	case TSR_FORMAT_KIND_FLOAT:
		memcpy(want, &texel->f[c], sizeof(*want));
		return n == 32;
	case TSR_FORMAT_KIND_UFLOAT:
		return unsigned_float(texel->f[c], n, want);
	case TSR_FORMAT_KIND_SHARED:
		*want = shared_exponent(texel->f, &unit);
		if (c < 3)
			*want = (uint32_t)nearest(texel->f[c] / unit, 0, 511);
		return true;
	default:
		return false;
	}
}

/* A number to store: small, around 1, a tie, large, or none. */
static float number_to_store(void)
{
	static const float special[] = {
		NAN, INFINITY, -INFINITY, 0, -0.0f, 1, -1, 0.5f, -0.5f, 0x1p-17f, -0x1p-17f,
		0x3p-17f, -0x3p-17f, 32767.998f, 32768, -32768, -32769, 65408, 65536, 1e30f, -1e30f,
		0x1p-25f, 0x1p-24f, 0x1p-16f, 0x1.ffp-16f, 0x1.ff8p-16f, 0x1.ffp3f, 0x1.ff4p3f,
	};
	const unsigned int which = rnd() % 64;

	if (which < sizeof(special) / sizeof(special[0]))
		return special[which];
	return ldexpf((float)(rnd() % 0x1000000) / 0x800000 - 1, (int)(rnd() % 12) - 6);
}

static int64_t integer_to_store(void)
{
	const int64_t v = (int64_t)(1ull << rnd() % 34) + (int64_t)(rnd() % 3) - 1;

	return rnd() % 2 ? v : -v;
}

/* Numbers of all kinds in every format; the byte behind a texel stays as it was. */
static void test_stores(void)
{
	unsigned int judged = 0;

	for (unsigned int i = 0; i < 400 * FORMATS; i++) {
		const struct row *r = &table[i / 400];
		uint8_t memory[TSR_TEXEL_BYTES_MAX + 1];
		struct tsr_format format;
		union tsr_texel texel;
		uint32_t want;

		if (!r->bytes ||
		    !tsr_format_find(&format, r->number, TSR_COMPONENT_ORDER_RGBA, false))
			continue;
		memset(memory, 0xa5, sizeof(memory));
		for (unsigned int c = 0; c < 4; c++) {
			if (tsr_format_is_integer(&format))
				texel.i[c] = integer_to_store();
			else
				texel.f[c] = number_to_store();
		}
		tsr_format_store(&format, memory, &texel);
		ktap_eq(memory[r->bytes], 0xa5);
		for (unsigned int c = 0; c < 4; c++) {
			if (!r->bits[c] || !stored(r, &texel, c, &want))
				continue;
			judged++;
			if (ktap_eq(field(memory, shift_of(r, c), r->bits[c]), want))
				continue;
			ktap_note("%s, component %u of %.9g %.9g %.9g %.9g", r->name, c,
				  texel.f[0], texel.f[1], texel.f[2], texel.f[3]);
			return;
		}
	}
	ktap_ok(judged > 50000);
}

/* Numbers for the lanes of a warp; @sign: integers are signed. */
static void make_numbers(const struct tsr_format *format, bool sign, union tsr_lanes number[4],
			 union tsr_texel texel[TSR_WARP_LANES])
{
	for (unsigned int i = 0; i < 4 * TSR_WARP_LANES; i++) {
		const unsigned int c = i / TSR_WARP_LANES, l = i % TSR_WARP_LANES;

		if (tsr_format_is_integer(format)) {
			number[c].u[l] = (uint32_t)integer_to_store();
			texel[l].i[c] = sign ? (int32_t)number[c].u[l] : (int64_t)number[c].u[l];
		} else {
			texel[l].f[c] = number[c].f[l] = number_to_store();
		}
	}
}

/* Texels that vectors encode are those that are stored one by one, in every format and order. */
static void test_vectors(void)
{
	unsigned int seen = 0;

	for (unsigned int i = 0; i < 4 * 256 * FORMATS; i++) {
		const struct tsr_msg_path *path = paths[i % path_count];
		union tsr_texel texel[TSR_WARP_LANES];
		union tsr_lanes number[4], word[4];
		struct tsr_format format;
		const bool sign = i & 1;

		if (!path || !tsr_format_find(&format, table[i / 1024].number, i / 4 % 256,
					      false) || !format.encodes)
			continue;
		make_numbers(&format, sign, number, texel);
		path->encode(&format, number, sign, word);
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
			uint8_t want[TSR_TEXEL_BYTES_MAX] = { 0 };
			const uint32_t got[4] = { word[0].u[l], word[1].u[l], word[2].u[l],
						  word[3].u[l] };

			tsr_format_store(&format, want, &texel[l]);
			if (ktap_mem_eq(got, want, format.bytes))
				continue;
			ktap_note("%s, order %u", table[i / 1024].name, i / 4 % 256);
			return;
		}
		seen++;
	}
	ktap_ok(path_count == 1 || seen > 2000);
}

/* ---- Registers ------------------------------------------------------------------------------- */

/* @x towards zero, in the bounds. */
static int64_t truncated(double x, double low, double high)
{
	return isnan(x) ? 0 : (int64_t)trunc(x < low ? low : x > high ? high : x);
}

/* Numbers in registers of integers are truncated, and saturate. */
static void test_truncated(void)
{
	static const struct { unsigned int type, bits; double low, high; } types[] = {
		{ TSR_REGISTER_TYPE_S32, 32, INT32_MIN, INT32_MAX },
		{ TSR_REGISTER_TYPE_U32, 32, 0, UINT32_MAX },
		{ TSR_REGISTER_TYPE_S16, 16, INT16_MIN, INT16_MAX },
		{ TSR_REGISTER_TYPE_U16, 16, 0, UINT16_MAX },
	};
	struct tsr_format format;

	/* RGBA32_FLOAT */
	ktap_ok(tsr_format_find(&format, 191, TSR_COMPONENT_ORDER_RGBA, false));
	for (unsigned int i = 0; i < 4 * 2000; i++) {
		const unsigned int type = types[i % 4].type, bits = types[i % 4].bits;
		union tsr_texel texel;
		uint32_t word[8];

		for (unsigned int c = 0; c < 4; c++)
			texel.f[c] = number_to_store() * (i & 4 ? 1 : 0x1p12f);
		tsr_format_to_registers(&format, &texel, type, 4, word);
		for (unsigned int c = 0; c < 4; c++) {
			uint32_t want = (uint32_t)truncated(texel.f[c], types[i % 4].low,
							    types[i % 4].high);
			uint32_t got = field((const uint8_t *)word, c * bits, bits);

			if (!ktap_eq(got, bits == 16 ? want & 0xffff : want)) {
				ktap_note("type %u, %.9g", type, texel.f[c]);
				return;
			}
		}
	}
}

int main(int argc, char **argv)
{
	find_paths();
	ktap_start_args(argc, argv);
	ktap_run("no component lies in two words", test_words);
	ktap_run("[TEX8] alignment of texels of each format", test_alignment);
	ktap_run("[TEX7] [TEX8] blocks of texels, each format in each order", test_blocks);
	ktap_run("[TEX8] what stores make of numbers, to the last bit", test_stores);
	ktap_run("[TEX8] texels that vectors make of numbers", test_vectors);
	ktap_run("numbers in registers of integers", test_truncated);
	return ktap_finish();
}
