/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "alu/float_bits.h"
#include "msg_format.h"

/* ---- Formats and orders ---------------------------------------------------------------------- */

/* A format as described. */
struct described {
	uint8_t kind;			/* enum tsr_format_kind */
	uint8_t bytes;
	uint8_t skip;			/* bits below the first component */
	char first;			/* 'R' or 'A': which component comes first */
	uint8_t bits[4];		/* of R, G, B, A */
};

#define ROW(name, number, kind_, bytes_, skip_, first_, r, g, b, a) \
	[number] = { TSR_FORMAT_KIND_##kind_, bytes_, skip_, (#first_)[0], { r, g, b, a } },

static const struct described described[256] = {
	TSR_PIXEL_FORMAT__TABLE(ROW)
};

/* An order: where the four components of the result come from; empty: there is none. */
struct order {
	uint8_t from[4];		/* enum tsr_component */
	bool valid;
};

#define R TSR_COMPONENT_R
#define G TSR_COMPONENT_G
#define B TSR_COMPONENT_B
#define A TSR_COMPONENT_A
#define ZERO TSR_COMPONENT_ZERO
#define ONE TSR_COMPONENT_ONE

static const struct order orders[256] = {
	[TSR_COMPONENT_ORDER_RGBA] = { { R, G, B, A }, true },
	[TSR_COMPONENT_ORDER_GRBA] = { { G, R, B, A }, true },
	[TSR_COMPONENT_ORDER_BGRA] = { { B, G, R, A }, true },
	[TSR_COMPONENT_ORDER_ARGB] = { { G, B, A, R }, true },
	[TSR_COMPONENT_ORDER_AGRB] = { { B, G, A, R }, true },
	[TSR_COMPONENT_ORDER_ABGR] = { { A, B, G, R }, true },
	[TSR_COMPONENT_ORDER_RGB1] = { { R, G, B, ONE }, true },
	[TSR_COMPONENT_ORDER_GRB1] = { { G, R, B, ONE }, true },
	[TSR_COMPONENT_ORDER_BGR1] = { { B, G, R, ONE }, true },
	[TSR_COMPONENT_ORDER_ONE_RGB] = { { G, B, A, ONE }, true },
	[TSR_COMPONENT_ORDER_ONE_GRB] = { { B, G, A, ONE }, true },
	[TSR_COMPONENT_ORDER_ONE_BGR] = { { A, B, G, ONE }, true },
	[TSR_COMPONENT_ORDER_RRRR] = { { R, R, R, R }, true },
	[TSR_COMPONENT_ORDER_RRR1] = { { R, R, R, ONE }, true },
	[TSR_COMPONENT_ORDER_RRRA] = { { R, R, R, A }, true },
	[TSR_COMPONENT_ORDER_ZERO_A] = { { ZERO, ZERO, ZERO, A }, true },
	[TSR_COMPONENT_ORDER_ZERO_ONE] = { { ZERO, ZERO, ZERO, ONE }, true },
	[TSR_COMPONENT_ORDER_ZERO] = { { ZERO, ZERO, ZERO, ZERO }, true },
	[TSR_COMPONENT_ORDER_R_ZERO] = { { R, ZERO, ZERO, ZERO }, true },
	[TSR_COMPONENT_ORDER_RBGA] = { { R, B, G, A }, true },
};

#undef R
#undef G
#undef B
#undef A
#undef ZERO
#undef ONE

/* The inverse of format->from: the first component of the result that comes from each. */
static void invert(struct tsr_format *format)
{
	for (unsigned int c = 0; c < 4; c++) {
		unsigned int l = 0;

		while (l < 4 && format->from[l] != c)
			l++;
		format->to[c] = l < 4 ? l : TSR_COMPONENT_ONE;
	}
}

/* Values of 8-bit numbers, linear and through the sRGB curve. */
static float unorm_table[256];
static float srgb_table[256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static double srgb_decode(double x)
{
	return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

static double srgb_encode(double x)
{
	return x <= 0.0031308 ? x * 12.92 : 1.055 * pow(x, 1 / 2.4) - 0.055;
}

static void fill_tables(void)
{
	for (unsigned int i = 0; i < 256; i++) {
		unorm_table[i] = (float)i / 255.0f;
		srgb_table[i] = srgb_decode(i / 255.0);
	}
}

const float *tsr_format_bytes(bool srgb)
{
	return srgb ? srgb_table : unorm_table;
}

/* Alignment: that of the components if they are bytes or words, else the texel's, at most 4. */
static unsigned int alignment(const struct described *d)
{
	unsigned int bits = d->bits[0];
	unsigned int bytes = bits == 8 || bits == 16 || bits == 32 ? bits / 8 : d->bytes;

	return (bytes | 4) & -(bytes | 4);
}

/* Kind of the decoded texels of a compressed format. */
static uint8_t kind_of_block(unsigned int number)
{
	switch (number) {
	case TSR_PIXEL_FORMAT_BC4_SNORM:
	case TSR_PIXEL_FORMAT_BC5_SNORM:
	case TSR_PIXEL_FORMAT_ETC2_R11_SNORM:
	case TSR_PIXEL_FORMAT_ETC2_RG11_SNORM:
		return TSR_FORMAT_KIND_SNORM;
	case TSR_PIXEL_FORMAT_BC6H_UF16:
	case TSR_PIXEL_FORMAT_BC6H_SF16:
		return TSR_FORMAT_KIND_FLOAT;
	default:
		return TSR_FORMAT_KIND_UNORM;
	}
}

static void fill_block(struct tsr_format *format, const struct described *d, unsigned int number,
		       bool srgb)
{
	*format = (struct tsr_format){
		.kind = kind_of_block(number), .codec = (uint8_t)number, .bytes = d->bytes,
		.align = d->bytes, .srgb = srgb && d->bits[2],
	};
	format->srgb &= format->kind == TSR_FORMAT_KIND_UNORM;
	memcpy(format->bits, d->bits, sizeof(format->bits));
}

/* Find out what vectors do: components in one word, numbers that 32-bit floats hold. */
static void find_vectors(struct tsr_format *format)
{
	format->decodes = format->bytes && format->kind != TSR_FORMAT_KIND_CONSTANT;
	for (unsigned int c = 0; c < 4; c++) {
		const unsigned int bits = format->bits[c], at = format->shift[c] % 32;
		const bool normal = format->kind == TSR_FORMAT_KIND_UNORM ||
				    format->kind == TSR_FORMAT_KIND_SNORM;

		format->decodes &= !bits || (at + bits <= 32 && !(normal && bits > 24));
		format->decodes &= !format->srgb || c == 3 || !bits || bits == 8;
	}
	format->encodes = format->decodes && !format->srgb && !format->keep &&
			  format->kind != TSR_FORMAT_KIND_SHARED &&
			  format->kind != TSR_FORMAT_KIND_FIXED;
}

static void fill_plain(struct tsr_format *format, const struct described *d, unsigned int number,
		       bool srgb)
{
	unsigned int at = d->skip;
	unsigned int bits = 0;

	*format = (struct tsr_format){
		.kind = d->kind, .bytes = d->bytes, .align = alignment(d),
		.srgb = srgb && d->kind == TSR_FORMAT_KIND_UNORM,
		.truncate = number == TSR_PIXEL_FORMAT_R32F_RTZ ||
			    number == TSR_PIXEL_FORMAT_RG32F_RTZ ||
			    number == TSR_PIXEL_FORMAT_RGB32F_RTZ ||
			    number == TSR_PIXEL_FORMAT_RGBA32F_RTZ,
	};
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int c = d->first == 'R' ? i : 3 - i;

		format->bits[c] = d->bits[c];
		format->shift[c] = at;
		at += d->bits[c];
		bits += d->bits[c];
	}
	format->keep = bits != 8 * d->bytes;
	format->plain = number == TSR_PIXEL_FORMAT_RGBA8_UNORM && !format->srgb;
	find_vectors(format);
}

bool tsr_format_find_texture(struct tsr_format *format, unsigned int number, unsigned int order,
			     bool srgb)
{
	const struct described *d = &described[number % 256];

	if (!d->kind || order > 255 || !orders[order].valid)
		return false;
	if (d->kind == TSR_FORMAT_KIND_BLOCK)
		fill_block(format, d, number % 256, srgb);
	else
		fill_plain(format, d, number, srgb);
	memcpy(format->from, orders[order].from, sizeof(format->from));
	invert(format);
	if (format->kind == TSR_FORMAT_KIND_UNORM)
		pthread_once(&tables_once, fill_tables);
	return true;
}

bool tsr_format_find(struct tsr_format *format, unsigned int number, unsigned int order, bool srgb)
{
	return described[number % 256].kind != TSR_FORMAT_KIND_BLOCK &&
	       tsr_format_find_texture(format, number, order, srgb);
}

/* ---- Small floating-point numbers ------------------------------------------------------------ */

/* A number without sign, 5 bits of exponent and @mantissa bits of mantissa. */
static float small_to_float(uint32_t small, unsigned int mantissa)
{
	uint32_t exponent = small >> mantissa & 31;
	uint32_t m = small & ((1u << mantissa) - 1);

	if (exponent == 31)
		return tsr_as_float(0x7f800000 | m << (23 - mantissa));
	if (!exponent)
		return (float)m / (float)(1u << (14 + mantissa));
	return tsr_as_float((exponent + 112) << 23 | m << (23 - mantissa));
}

/* The magnitude of @value as such a number, rounded to nearest even. */
static uint32_t float_to_small(float value, unsigned int mantissa)
{
	uint32_t bits = tsr_as_bits(value) & 0x7fffffff;
	unsigned int shift = 23 - mantissa;
	uint32_t m;

	if (bits > 0x7f800000)
		return 31u << mantissa | (bits >> shift & ((1u << mantissa) - 1)) |
		       1u << (mantissa - 1);
	if (bits >= 0x47800000)			/* 2^16 and above */
		return 31u << mantissa;
	if (bits < 0x38800000) {		/* below 2^-14: no hidden bit */
		shift += 113 - (bits >> 23);
		if (bits >> 23 < 113 - 24)
			return 0;
		m = (bits & 0x7fffff) | 0x800000;
		if (shift > 31)
			return 0;
		return (m + (1u << (shift - 1)) - 1 + (m >> shift & 1)) >> shift;
	}
	bits -= 112u << 23;
	return (bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1)) >> shift;
}

float tsr_half_to_float(uint16_t half)
{
	return tsr_as_float(tsr_as_bits(small_to_float(half & 0x7fff, 10)) |
			    (half & 0x8000u) << 16);
}

uint16_t tsr_float_to_half(float value)
{
	return float_to_small(value, 10) | (tsr_as_bits(value) >> 16 & 0x8000);
}

/* A float without sign. Negative numbers become 0, and finite ones stay finite. */
static uint32_t float_to_unsigned(float value, unsigned int mantissa)
{
	uint32_t largest = (31u << mantissa) - 1;
	uint32_t small = float_to_small(value, mantissa);
	bool infinite = (tsr_as_bits(value) & 0x7f800000) == 0x7f800000;

	if (value != value)
		return small;
	if (tsr_as_bits(value) >> 31)
		return 0;
	return small > largest && !infinite ? largest : small;
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* @bits bits from bit @shift of @p on; no format has a component that lies in two words. */
static uint32_t extract(const uint64_t *p, unsigned int shift, unsigned int bits)
{
	uint64_t value = p[shift / 64] >> shift % 64;

	return bits == 32 ? (uint32_t)value : (uint32_t)value & ((1u << bits) - 1);
}

static int32_t sign_extend(uint32_t value, unsigned int bits)
{
	return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

static float load_unorm(const struct tsr_format *format, uint32_t value, unsigned int c)
{
	unsigned int bits = format->bits[c];

	if (format->srgb && c < 3)
		return bits == 8 ? srgb_table[value] : (float)srgb_decode(
			value / (double)(UINT32_MAX >> (32 - bits)));
	if (bits == 8)
		return unorm_table[value];
	if (bits > 24)
		return (float)(value / (double)(UINT32_MAX >> (32 - bits)));
	return (float)value / (float)(UINT32_MAX >> (32 - bits));
}

static float load_snorm(uint32_t value, unsigned int bits)
{
	double x = sign_extend(value, bits) / (double)(INT32_MAX >> (32 - bits));

	return x < -1 ? -1 : (float)x;
}

/* Component @c from its bits. */
static void load_component(const struct tsr_format *format, uint32_t value, unsigned int c,
			   union tsr_texel *texel)
{
	unsigned int bits = format->bits[c];

	switch (format->kind) {
	case TSR_FORMAT_KIND_UNORM:
		texel->f[c] = load_unorm(format, value, c);
		break;
	case TSR_FORMAT_KIND_SNORM:
		texel->f[c] = load_snorm(value, bits);
		break;
	case TSR_FORMAT_KIND_FLOAT:
		texel->f[c] = bits == 32 ? tsr_as_float(value) : tsr_half_to_float(value);
		break;
	case TSR_FORMAT_KIND_UFLOAT:
		texel->f[c] = small_to_float(value, bits - 5);
		break;
	case TSR_FORMAT_KIND_FIXED:
		texel->f[c] = (int32_t)value / 65536.0;
		break;
	case TSR_FORMAT_KIND_UINT:
		texel->i[c] = value;
		break;
	case TSR_FORMAT_KIND_SINT:
		texel->i[c] = sign_extend(value, bits);
		break;
	}
}

/* Three mantissas and their exponent, which has been loaded as alpha. */
static void load_shared(const struct tsr_format *format, const uint64_t *q, union tsr_texel *texel)
{
	int exponent = (int)extract(q, format->shift[3], 5) - 15 - 9;

	for (unsigned int c = 0; c < 3; c++)
		texel->f[c] = ldexpf((float)extract(q, format->shift[c], 9), exponent);
	texel->f[3] = 1;
}

void tsr_format_load_raw(const struct tsr_format *format, const void *p, union tsr_texel *texel)
{
	const uint8_t *byte = p;
	uint64_t q[3] = { 0 };

	if (format->plain) {
		for (unsigned int c = 0; c < 4; c++)
			texel->f[c] = unorm_table[byte[c]];
		return;
	}
	memcpy(q, p, format->bytes);
	if (format->kind == TSR_FORMAT_KIND_SHARED) {
		load_shared(format, q, texel);
		return;
	}
	for (unsigned int c = 0; c < 4; c++) {
		if (format->bits[c])
			load_component(format, extract(q, format->shift[c], format->bits[c]), c,
				       texel);
		else if (tsr_format_is_integer(format))
			texel->i[c] = c == 3;
		else
			texel->f[c] = c == 3;
	}
}

void tsr_format_order(const struct tsr_format *format, const union tsr_texel *raw,
		      union tsr_texel *texel)
{
	bool integer = tsr_format_is_integer(format);

	for (unsigned int c = 0; c < 4; c++) {
		unsigned int from = format->from[c];

		if (integer)
			texel->i[c] = from < 4 ? raw->i[from] : from == TSR_COMPONENT_ONE;
		else
			texel->f[c] = from < 4 ? raw->f[from] : from == TSR_COMPONENT_ONE;
	}
}

void tsr_format_load(const struct tsr_format *format, const void *p, union tsr_texel *texel)
{
	union tsr_texel raw;

	tsr_format_load_raw(format, p, &raw);
	tsr_format_order(format, &raw, texel);
}

/* ---- Stores ---------------------------------------------------------------------------------- */

static void insert(uint64_t *p, unsigned int shift, unsigned int bits, uint32_t value)
{
	uint64_t mask = (1ull << bits) - 1;
	unsigned int low = shift % 64;

	p += shift / 64;
	*p = (*p & ~(mask << low)) | (value & mask) << low;
}

static double clamp(double x, double low, double high)
{
	if (!(x > low))		/* NaN too */
		return low;
	return x < high ? x : high;
}

static uint32_t store_unorm(const struct tsr_format *format, float value, unsigned int c)
{
	double x = value != value ? 0 : clamp(value, 0, 1);

	if (format->srgb && c < 3)
		x = srgb_encode(x);
	return (uint32_t)(int64_t)(x * (UINT32_MAX >> (32 - format->bits[c])) + 0.5);
}

static int32_t round_away(double x)
{
	return (int32_t)(x < 0 ? x - 0.5 : x + 0.5);
}

static uint32_t store_integer(const struct tsr_format *format, int64_t value, unsigned int bits)
{
	int64_t low = 0, high = UINT32_MAX >> (32 - bits);

	if (format->kind == TSR_FORMAT_KIND_SINT) {
		high = INT32_MAX >> (32 - bits);
		low = -high - 1;
	}
	return value < low ? low : value > high ? high : value;
}

static uint32_t store_component(const struct tsr_format *format, const union tsr_texel *texel,
				unsigned int c, unsigned int from)
{
	unsigned int bits = format->bits[c];
	float x;

	if (tsr_format_is_integer(format))
		return store_integer(format, from < 4 ? texel->i[from] : 1, bits);
	x = from < 4 ? texel->f[from] : 1;
	switch (format->kind) {
	case TSR_FORMAT_KIND_UNORM:
		return store_unorm(format, x, c);
	case TSR_FORMAT_KIND_SNORM:
		return x != x ? 0 : round_away(clamp(x, -1, 1) * (INT32_MAX >> (32 - bits)));
	case TSR_FORMAT_KIND_FLOAT:
		return bits == 32 ? tsr_as_bits(x) : tsr_float_to_half(x);
	case TSR_FORMAT_KIND_UFLOAT:
		return float_to_unsigned(x, bits - 5);
	default:	/* FIXED */
		return x != x ? 0 : round_away(clamp(x * 65536.0, INT32_MIN, INT32_MAX));
	}
}

static void store_shared(const struct tsr_format *format, const union tsr_texel *texel, uint64_t *q)
{
	double x[3], largest = 0, unit;
	int exponent;

	for (unsigned int c = 0; c < 3; c++) {
		unsigned int from = format->to[c];

		/* the largest number there is: 511 * 2^7 */
		x[c] = clamp(from < 4 ? texel->f[from] : 1, 0, 65408);
		largest = x[c] > largest ? x[c] : largest;
	}
	frexp(largest, &exponent);
	exponent = largest == 0 || exponent < -15 ? -15 : exponent;
	unit = ldexp(1, exponent - 9);
	if (floor(largest / unit + 0.5) == 512) {
		exponent++;
		unit *= 2;
	}
	for (unsigned int c = 0; c < 3; c++)
		insert(q, format->shift[c], 9, (uint32_t)floor(x[c] / unit + 0.5));
	insert(q, format->shift[3], 5, exponent + 15);
}

void tsr_format_store(const struct tsr_format *format, void *p, const union tsr_texel *texel)
{
	uint64_t q[3] = { 0 };

	if (format->keep)
		memcpy(q, p, format->bytes);
	if (format->kind == TSR_FORMAT_KIND_SHARED) {
		store_shared(format, texel, q);
	} else {
		for (unsigned int c = 0; c < 4; c++) {
			if (format->bits[c])
				insert(q, format->shift[c], format->bits[c],
				       store_component(format, texel, c, format->to[c]));
		}
	}
	memcpy(p, q, format->bytes);
}

/* ---- Registers ------------------------------------------------------------------------------- */

unsigned int tsr_register_words(unsigned int type, unsigned int components)
{
	switch (type) {
	case TSR_REGISTER_TYPE_F16:
	case TSR_REGISTER_TYPE_S16:
	case TSR_REGISTER_TYPE_U16:
		return (components + 1) / 2;
	case TSR_REGISTER_TYPE_F64:
	case TSR_REGISTER_TYPE_I64:
		return 2 * components;
	default:
		return components;
	}
}

/* A number as an integer, towards zero. */
static int64_t to_integer(double x, double low, double high)
{
	return x != x ? 0 : (int64_t)clamp(x, low, high);
}

static uint64_t float_register(double x, unsigned int type)
{
	uint64_t bits;

	switch (type) {
	case TSR_REGISTER_TYPE_F16:
		return tsr_float_to_half(x);
	case TSR_REGISTER_TYPE_F64:
		memcpy(&bits, &x, sizeof(bits));
		return bits;
	case TSR_REGISTER_TYPE_S32:
		return to_integer(x, INT32_MIN, INT32_MAX);
	case TSR_REGISTER_TYPE_U32:
		return to_integer(x, 0, UINT32_MAX);
	case TSR_REGISTER_TYPE_S16:
		return to_integer(x, INT16_MIN, INT16_MAX) & 0xffff;
	case TSR_REGISTER_TYPE_U16:
		return to_integer(x, 0, UINT16_MAX);
	case TSR_REGISTER_TYPE_I64:
		return to_integer(x, -0x1p63, 0x1.fffffffffffffp62);
	default:
		return tsr_as_bits(x);
	}
}

static uint64_t integer_register(int64_t x, unsigned int type)
{
	switch (type) {
	case TSR_REGISTER_TYPE_S32:
	case TSR_REGISTER_TYPE_U32:
	case TSR_REGISTER_TYPE_I64:
		return x;
	case TSR_REGISTER_TYPE_S16:
		return (x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x) & 0xffff;
	case TSR_REGISTER_TYPE_U16:
		return x < 0 ? 0 : x > UINT16_MAX ? UINT16_MAX : x;
	case TSR_REGISTER_TYPE_F32:
		return tsr_as_bits((float)x);
	default:
		return float_register(x, type);
	}
}

void tsr_format_to_registers(const struct tsr_format *format, const union tsr_texel *texel,
			     unsigned int type, unsigned int components, uint32_t word[8])
{
	unsigned int words = tsr_register_words(type, components);
	bool integer = tsr_format_is_integer(format);
	bool halves = tsr_register_words(type, 2) == 1;

	memset(word, 0, words * sizeof(word[0]));
	for (unsigned int c = 0; c < components; c++) {
		uint64_t value;

		if (integer)
			value = integer_register(texel->i[c], type);
		else if (type == TSR_REGISTER_TYPE_F32)
			value = tsr_as_bits(texel->f[c]);
		else
			value = float_register(texel->f[c], type);
		if (halves) {
			word[c / 2] |= (uint32_t)value << 16 * (c % 2);
		} else if (words > components) {
			word[2 * c] = value;
			word[2 * c + 1] = value >> 32;
		} else {
			word[c] = value;
		}
	}
}

unsigned int tsr_format_floats(const struct tsr_format *format)
{
	unsigned int n = format->bytes / 4;

	if (format->kind != TSR_FORMAT_KIND_FLOAT || format->bytes % 4 || format->keep)
		return 0;
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int from = format->from[i];

		if (i < n && (from != i || format->to[i] != i || format->bits[i] != 32 ||
			      format->shift[i] != 32 * i))
			return 0;
		if (i >= n && from < 4 && format->bits[from])
			return 0;
	}
	return n;
}

/* Component @c of registers: an integer, or false and a number. */
static bool register_value(unsigned int type, unsigned int c, const uint32_t word[8], int64_t *i,
			   double *x)
{
	uint64_t wide;

	switch (type) {
	case TSR_REGISTER_TYPE_F16:
		*x = tsr_half_to_float(word[c / 2] >> 16 * (c % 2));
		return false;
	case TSR_REGISTER_TYPE_F64:
		wide = word[2 * c] | (uint64_t)word[2 * c + 1] << 32;
		memcpy(x, &wide, sizeof(wide));
		return false;
	case TSR_REGISTER_TYPE_S32:
		*i = (int32_t)word[c];
		return true;
	case TSR_REGISTER_TYPE_U32:
		*i = word[c];
		return true;
	case TSR_REGISTER_TYPE_S16:
		*i = (int16_t)(word[c / 2] >> 16 * (c % 2));
		return true;
	case TSR_REGISTER_TYPE_U16:
		*i = (uint16_t)(word[c / 2] >> 16 * (c % 2));
		return true;
	case TSR_REGISTER_TYPE_I64:
		*i = (int64_t)(word[2 * c] | (uint64_t)word[2 * c + 1] << 32);
		return true;
	default:
		*x = tsr_as_float(word[c]);
		return false;
	}
}

/* A double as a float, towards zero if @truncate. */
static float narrow(double x, bool truncate)
{
	float f = x;

	if (truncate && x == x && fabs((double)f) > fabs(x))
		return tsr_as_float(tsr_as_bits(f) - 1);
	return f;
}

void tsr_format_from_registers(const struct tsr_format *format, union tsr_texel *texel,
			       unsigned int type, unsigned int components, const uint32_t word[8])
{
	bool integer = tsr_format_is_integer(format);

	for (unsigned int c = 0; c < 4; c++) {
		int64_t i = c == 3;
		double x = 0;
		bool whole = true;

		if (c < components)
			whole = register_value(type, c, word, &i, &x);
		if (c < components && type == TSR_REGISTER_TYPE_F32 && !integer)
			texel->f[c] = tsr_as_float(word[c]);
		else if (integer)
			texel->i[c] = whole ? i : to_integer(x, -0x1p63, 0x1.fffffffffffffp62);
		else
			texel->f[c] = whole ? (float)i : narrow(x, format->truncate);
	}
}
