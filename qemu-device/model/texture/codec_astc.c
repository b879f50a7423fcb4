/* SPDX-License-Identifier: MIT */
/*
 * ASTC, low dynamic range, blocks of 4 by 4 to 12 by 12 texels. Endpoints are read from bit 0 of a
 * block upwards, weights from bit 127 downwards; each is a row of numbers of a range that need not
 * be a power of two (2, 3 or 5 of them).
 */
#include <pthread.h>

#include "codec.h"

#define TEXELS_MAX (TSR_ASTC_DIM_MAX * TSR_ASTC_DIM_MAX)
#define WEIGHTS_MAX 64
#define VALUES_MAX 18

/* ---- Rows of numbers ------------------------------------------------------------------------- */

/* A range of numbers: each has some bits and, above them, a digit of base 3 or 5, or none. */
struct range {
	uint8_t base, bits;
};

static const struct range ranges[] = {
	{ 1, 1 }, { 3, 0 }, { 1, 2 }, { 5, 0 }, { 3, 1 }, { 1, 3 }, { 5, 1 }, { 3, 2 }, { 1, 4 },
	{ 5, 2 }, { 3, 3 }, { 1, 5 }, { 5, 3 }, { 3, 4 }, { 1, 6 }, { 5, 4 }, { 3, 5 }, { 1, 7 },
	{ 5, 5 }, { 3, 6 }, { 1, 8 },
};

#define RANGE_6 4			/* the smallest one of endpoints */
#define RANGE_32 11			/* the largest one of weights */
#define RANGE_256 20

struct number {
	uint8_t low, digit;
};

/* Bits that @n numbers of range @r take. */
static unsigned int bits_of(const struct range *r, unsigned int n)
{
	unsigned int digits = r->base == 3 ? (8 * n + 4) / 5 : r->base == 5 ? (7 * n + 2) / 3 : 0;

	return n * r->bits + digits;
}

/* Five digits of base 3 from 8 bits, as the specification says. */
static void unpack_trits(unsigned int t, struct number *to)
{
	unsigned int c = t & 31;

	if ((t >> 2 & 7) == 7) {
		c = (t >> 5 & 7) << 2 | (t & 3);
		to[4].digit = to[3].digit = 2;
	} else if ((t >> 5 & 3) == 3) {
		to[4].digit = 2;
		to[3].digit = t >> 7 & 1;
	} else {
		to[4].digit = t >> 7 & 1;
		to[3].digit = t >> 5 & 3;
	}
	if ((c & 3) == 3) {
		to[2].digit = 2;
		to[1].digit = c >> 4 & 1;
		to[0].digit = (c >> 3 & 1) << 1 | (c >> 2 & ~(c >> 3) & 1);
	} else if ((c >> 2 & 3) == 3) {
		to[2].digit = to[1].digit = 2;
		to[0].digit = c & 3;
	} else {
		to[2].digit = c >> 4 & 1;
		to[1].digit = c >> 2 & 3;
		to[0].digit = (c >> 1 & 1) << 1 | (c & ~(c >> 1) & 1);
	}
}

/* Three digits of base 5 from 7 bits. */
static void unpack_quints(unsigned int q, struct number *to)
{
	unsigned int c = q & 31;

	if ((q >> 1 & 3) == 3 && (q >> 5 & 3) == 0) {
		to[2].digit = (q & 1) << 2 | ((q >> 4 & ~q & 1) << 1) | (q >> 3 & ~q & 1);
		to[1].digit = to[0].digit = 4;
		return;
	}
	if ((q >> 1 & 3) == 3) {
		to[2].digit = 4;
		c = (q >> 3 & 3) << 3 | (~q >> 5 & 3) << 1 | (q & 1);
	} else {
		to[2].digit = q >> 5 & 3;
	}
	to[1].digit = (c & 7) == 5 ? 4 : c >> 3 & 3;
	to[0].digit = (c & 7) == 5 ? c >> 3 & 3 : c & 7;
}

/*
 * Read @n numbers of range @r. Up to four more are written to, of the last group of digits, which
 * is cut off after the last number: the rest of it is 0.
 */
static void read_numbers(struct tsr_block_bits *b, const struct range *r, unsigned int n,
			 struct number *to)
{
	static const uint8_t trit_bits[5] = { 2, 2, 1, 2, 1 }, quint_bits[3] = { 3, 2, 2 };
	const uint8_t *part = r->base == 3 ? trit_bits : quint_bits;
	unsigned int group = r->base == 3 ? 5 : r->base == 5 ? 3 : 1;

	for (unsigned int i = 0; i < n; i += group) {
		unsigned int packed = 0, at = 0;

		for (unsigned int k = 0; k < group && i + k < n; k++) {
			to[i + k].low = (uint8_t)tsr_block_read(b, r->bits);
			to[i + k].digit = 0;
			if (r->base > 1) {
				packed |= tsr_block_read(b, part[k]) << at;
				at += part[k];
			}
		}
		if (r->base == 3)
			unpack_trits(packed, to + i);
		else if (r->base == 5)
			unpack_quints(packed, to + i);
	}
}

/* The @bits bits of @x again and again, @to bits of them. */
static unsigned int repeat(unsigned int x, unsigned int bits, unsigned int to)
{
	unsigned int value = 0;

	for (int shift = (int)(to - bits); shift > -(int)bits; shift -= (int)bits)
		value |= shift < 0 ? x >> -shift : x << shift;
	return value;
}

/* The value of the bits above the lowest one, and of a digit, by the number of bits. */
static unsigned int value_bits(const struct range *r, unsigned int x, bool weight)
{
	if (weight)
		return r->bits == 2 ? x * (r->base == 3 ? 0x45 : 0x42)
				    : r->bits == 3 ? x << 5 | x : 0;
	switch (r->bits) {
	case 2:
		return x * (r->base == 3 ? 0x116 : 0x10c);
	case 3:
		return r->base == 3 ? x << 7 | x << 2 | x : x << 7 | x << 1 | x >> 1;
	case 4:
		return r->base == 3 ? x << 6 | x : x << 6 | x >> 1;
	case 5:
		return r->base == 3 ? x << 5 | x >> 2 : x << 5 | x >> 3;
	case 6:
		return x << 4 | x >> 4;
	default:
		return 0;
	}
}

/* An endpoint's value, 0 to 255. */
static uint8_t unquantize_color(const struct range *r, struct number n)
{
	static const uint8_t worth[2][7] = {
		{ 0, 204, 93, 44, 22, 11, 5 }, { 0, 113, 54, 26, 13, 6 },
	};
	unsigned int a = n.low & 1 ? 0x1ff : 0, t;

	if (r->base == 1)
		return (uint8_t)repeat(n.low, r->bits, 8);
	t = n.digit * worth[r->base == 5][r->bits] + value_bits(r, n.low >> 1, false);
	return (uint8_t)((a & 0x80) | (t ^ a) >> 2);
}

/* A weight, 0 to 64. */
static uint8_t unquantize_weight(const struct range *r, struct number n)
{
	static const uint8_t plain[2][5] = { { 0, 32, 63 }, { 0, 16, 32, 47, 63 } };
	static const uint8_t worth[2][4] = { { 0, 50, 23, 11 }, { 0, 28, 13 } };
	unsigned int a = n.low & 1 ? 0x7f : 0, t;

	if (r->base == 1) {
		t = repeat(n.low, r->bits, 6);
	} else if (!r->bits) {
		t = plain[r->base == 5][n.digit];
	} else {
		t = n.digit * worth[r->base == 5][r->bits] + value_bits(r, n.low >> 1, true);
		t = (a & 0x20) | (t ^ a) >> 2;
	}
	return (uint8_t)(t + (t > 32));
}

/* Values of numbers, by range. The digit of a number is above its bits. */
static uint8_t color_values[RANGE_256 + 1][256];
static uint8_t weight_values[RANGE_32 + 1][32];
static pthread_once_t values_once = PTHREAD_ONCE_INIT;

static unsigned int place_of(const struct range *r, struct number n)
{
	return (unsigned int)n.digit << r->bits | n.low;
}

static void fill_values(void)
{
	for (unsigned int i = 0; i <= RANGE_256; i++) {
		const struct range *r = &ranges[i];

		for (unsigned int n = 0; n < (unsigned int)r->base << r->bits; n++) {
			const struct number number = {
				.low = (uint8_t)(n & ((1u << r->bits) - 1)),
				.digit = (uint8_t)(n >> r->bits),
			};

			if (i >= RANGE_6)
				color_values[i][n] = unquantize_color(r, number);
			if (i <= RANGE_32)
				weight_values[i][n] = unquantize_weight(r, number);
		}
	}
}

/* ---- The head of a block --------------------------------------------------------------------- */

struct head {
	unsigned int w, h;		/* of the grid of weights */
	bool dual;			/* two weights at each place */
	uint8_t component;		/* that the second ones are of */
	const struct range *range;	/* of weights */
	unsigned int weight_bits;
	unsigned int partitions, seed;
	uint8_t kind[4];		/* of endpoints, by partition */
	unsigned int values;		/* of all endpoints */
	unsigned int value_bits;	/* room for them */
};

/* The block's mode: the grid and the range of weights; false: it is reserved. */
static bool unpack_mode(unsigned int mode, struct head *h)
{
	unsigned int a = mode >> 5 & 3, b = mode >> 7 & 3;
	unsigned int r = (mode >> 4 & 1) | (mode & 3 ? mode & 3 : mode >> 2 & 3) << 1;
	bool wide = mode >> 9 & 1;

	h->dual = mode >> 10 & 1;
	if (mode & 3) {
		static const uint8_t add[4][2] = { { 4, 2 }, { 8, 2 }, { 2, 8 }, { 2, 6 } };
		unsigned int form = mode >> 2 & 3;

		h->w = (form < 2 ? b : a) + add[form][0];
		h->h = (form < 2 ? a : form == 2 ? b : b & 1) + add[form][1];
		if (form == 3 && b & 2) {
			h->w = (b & 1) + 2;
			h->h = a + 2;
		}
	} else if (b == 2) {
		h->w = a + 6;
		h->h = (mode >> 9 & 3) + 6;
		h->dual = wide = false;
	} else if (b == 3) {
		h->w = a ? 10 : 6;
		h->h = a ? 6 : 10;
		if (a > 1)
			return false;
	} else {
		h->w = b ? a + 2 : 12;
		h->h = b ? 12 : a + 2;
	}
	if (r < 2)
		return false;
	h->range = &ranges[r - 2 + (wide ? 6 : 0)];
	return true;
}

/* @bits bits of a block from bit @low on. */
static unsigned int field(const uint64_t block[2], unsigned int low, unsigned int bits)
{
	struct tsr_block_bits b = { block[0], block[1] };

	if (low >= 64) {
		b.low = b.high;
		low -= 64;
		b.high = 0;
	}
	if (low) {
		b.low = b.low >> low | b.high << (64 - low);
		b.high >>= low;
	}
	return tsr_block_read(&b, bits);
}

/* The kinds of endpoints of several partitions; returns the bits below the weights that say it. */
static unsigned int unpack_kinds(const uint64_t block[2], struct head *h)
{
	unsigned int code = field(block, 23, 6), extra = 3 * h->partitions - 4;

	if (!(code & 3)) {
		memset(h->kind, (int)(code >> 2), sizeof(h->kind));
		return 0;
	}
	code |= field(block, 128 - h->weight_bits - extra, extra) << 6;
	for (unsigned int i = 0; i < h->partitions; i++)
		h->kind[i] = (uint8_t)(((code & 3) - 1 + (code >> (2 + i) & 1)) << 2 |
				       (code >> (2 + h->partitions + 2 * i) & 3));
	return extra;
}

/* All that is said before endpoints and weights; false: the block is an error. */
static bool unpack_head(const uint64_t block[2], unsigned int width, unsigned int height,
			struct head *h)
{
	unsigned int n, low, extra = 0;

	if (!unpack_mode((unsigned int)block[0] & 0x7ff, h) || h->w > width || h->h > height)
		return false;
	n = h->w * h->h * (h->dual ? 2 : 1);
	h->partitions = field(block, 11, 2) + 1;
	h->weight_bits = bits_of(h->range, n);
	if (n > WEIGHTS_MAX || h->weight_bits < 24 || h->weight_bits > 96 ||
	    (h->dual && h->partitions == 4))
		return false;
	if (h->partitions == 1) {
		h->kind[0] = (uint8_t)field(block, 13, 4);
		low = 17;
	} else {
		h->seed = field(block, 13, 10);
		extra = unpack_kinds(block, h);
		low = 29;
	}
	h->values = 0;
	for (unsigned int i = 0; i < h->partitions; i++)
		h->values += 2 * (h->kind[i] >> 2) + 2;
	low += extra + (h->dual ? 2 : 0) + h->weight_bits;
	if (h->values > VALUES_MAX || low + bits_of(&ranges[RANGE_6], h->values) > 128)
		return false;
	h->value_bits = 128 - low;
	if (h->dual)
		h->component = (uint8_t)field(block, 128 - h->weight_bits - extra - 2, 2);
	return true;
}

/* ---- Endpoints ------------------------------------------------------------------------------- */

/* A pair of endpoints, red, green, blue, alpha. */
struct ends {
	int c[2][4];
	bool error;			/* of a kind that there is in HDR alone */
};

/* A base and an offset that has a sign and one bit less. */
static void transfer_sign(int *offset, int *base)
{
	*base = *base >> 1 | (*offset & 0x80);
	*offset = *offset >> 1 & 0x3f;
	if (*offset & 0x20)
		*offset -= 0x40;
}

static void set_end(int end[4], int r, int g, int b, int a)
{
	const int c[4] = { r, g, b, a };

	for (unsigned int i = 0; i < 4; i++)
		end[i] = c[i] < 0 ? 0 : c[i] > 255 ? 255 : c[i];
}

/* Sets an endpoint with red and green half way to blue. */
static void set_contracted(int end[4], int r, int g, int b, int a)
{
	set_end(end, (r + b) >> 1, (g + b) >> 1, b, a);
}

/* Both endpoints' components, one after the other. */
static void unpack_direct(const int *v, bool alpha, struct ends *e)
{
	int a0 = alpha ? v[6] : 255, a1 = alpha ? v[7] : 255;

	if (v[1] + v[3] + v[5] >= v[0] + v[2] + v[4]) {
		set_end(e->c[0], v[0], v[2], v[4], a0);
		set_end(e->c[1], v[1], v[3], v[5], a1);
	} else {
		set_contracted(e->c[0], v[1], v[3], v[5], a1);
		set_contracted(e->c[1], v[0], v[2], v[4], a0);
	}
}

/* One endpoint and offsets of the other. */
static void unpack_offsets(int *v, bool alpha, struct ends *e)
{
	int a0 = 255, a1 = 255;

	for (unsigned int i = 0; i < (alpha ? 8 : 6); i += 2)
		transfer_sign(&v[i + 1], &v[i]);
	if (alpha) {
		a0 = v[6];
		a1 = v[6] + v[7];
	}
	if (v[1] + v[3] + v[5] >= 0) {
		set_end(e->c[0], v[0], v[2], v[4], a0);
		set_end(e->c[1], v[0] + v[1], v[2] + v[3], v[4] + v[5], a1);
	} else {
		set_contracted(e->c[0], v[0] + v[1], v[2] + v[3], v[4] + v[5], a1);
		set_contracted(e->c[1], v[0], v[2], v[4], a0);
	}
}

/* The endpoints of kind @kind from its values, which are overwritten. */
static void unpack_ends(unsigned int kind, int *v, struct ends *e)
{
	int base;

	e->error = false;
	switch (kind) {
	case 0:				/* luminance */
		set_end(e->c[0], v[0], v[0], v[0], 255);
		set_end(e->c[1], v[1], v[1], v[1], 255);
		break;
	case 1:
		base = v[0] >> 2 | (v[1] & 0xc0);
		set_end(e->c[0], base, base, base, 255);
		base += v[1] & 0x3f;
		set_end(e->c[1], base, base, base, 255);
		break;
	case 4:				/* luminance and alpha */
		set_end(e->c[0], v[0], v[0], v[0], v[2]);
		set_end(e->c[1], v[1], v[1], v[1], v[3]);
		break;
	case 5:
		transfer_sign(&v[1], &v[0]);
		transfer_sign(&v[3], &v[2]);
		set_end(e->c[0], v[0], v[0], v[0], v[2]);
		set_end(e->c[1], v[0] + v[1], v[0] + v[1], v[0] + v[1], v[2] + v[3]);
		break;
	case 6:				/* a color and its scale */
	case 10:
		set_end(e->c[0], v[0] * v[3] >> 8, v[1] * v[3] >> 8, v[2] * v[3] >> 8,
			kind == 10 ? v[4] : 255);
		set_end(e->c[1], v[0], v[1], v[2], kind == 10 ? v[5] : 255);
		break;
	case 8:
	case 12:
		unpack_direct(v, kind == 12, e);
		break;
	case 9:
	case 13:
		unpack_offsets(v, kind == 13, e);
		break;
	default:
		e->error = true;
		break;
	}
}

/* All endpoints, in 16 bits. */
static void read_ends(const uint64_t block[2], const struct head *h, bool srgb, struct ends ends[4])
{
	const struct range *r = &ranges[RANGE_256];
	struct tsr_block_bits b = { block[0], block[1] };
	struct number number[VALUES_MAX + 4];
	int value[VALUES_MAX], *v = value;

	while (bits_of(r, h->values) > h->value_bits)
		r--;
	tsr_block_read(&b, h->partitions == 1 ? 17 : 29);
	read_numbers(&b, r, h->values, number);
	for (unsigned int i = 0; i < h->values; i++)
		value[i] = color_values[r - ranges][place_of(r, number[i])];
	for (unsigned int p = 0; p < h->partitions; p++) {
		unpack_ends(h->kind[p], v, &ends[p]);
		v += 2 * (h->kind[p] >> 2) + 2;
		for (unsigned int i = 0; i < 8 && !ends[p].error; i++) {
			int *c = &ends[p].c[i / 4][i % 4];

			*c = srgb ? *c << 8 | 0x80 : *c * 257;
		}
	}
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* The bits of @x in the opposite order. */
static uint64_t reverse(uint64_t x)
{
	x = (x & 0x5555555555555555) << 1 | (x >> 1 & 0x5555555555555555);
	x = (x & 0x3333333333333333) << 2 | (x >> 2 & 0x3333333333333333);
	x = (x & 0x0f0f0f0f0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f0f0f0f0f);
	return __builtin_bswap64(x);
}

/* Weights of the texels, of one plane or both. */
struct weights {
	uint8_t of[2][TEXELS_MAX];
};

/* Between the weights of plane @plane of the grid, for every texel. */
static void infill(const uint8_t *grid, const struct head *h, unsigned int width,
		   unsigned int height, unsigned int plane, struct weights *to)
{
	unsigned int step = h->dual ? 2 : 1, row = h->w * step;
	unsigned int ds = (1024 + width / 2) / (width - 1), dt = (1024 + height / 2) / (height - 1);

	for (unsigned int y = 0; y < height; y++) {
		unsigned int gt = (dt * y * (h->h - 1) + 32) >> 6, ft = gt & 15;

		for (unsigned int x = 0; x < width; x++) {
			unsigned int gs = (ds * x * (h->w - 1) + 32) >> 6, fs = gs & 15;
			const uint8_t *p = grid + (gt >> 4) * row + (gs >> 4) * step + plane;
			unsigned int w11 = (fs * ft + 8) >> 4, w10 = ft - w11, w01 = fs - w11;
			unsigned int w00 = 16 - fs - ft + w11;

			to->of[plane][y * width + x] = (uint8_t)(
				(p[0] * w00 + p[step] * w01 + p[row] * w10 + p[row + step] * w11 +
				 8) >> 4);
		}
	}
}

static void read_weights(const uint64_t block[2], const struct head *h, unsigned int width,
			 unsigned int height, struct weights *to)
{
	struct tsr_block_bits b = { reverse(block[1]), reverse(block[0]) };
	unsigned int n = h->w * h->h * (h->dual ? 2 : 1);
	struct number number[WEIGHTS_MAX + 4];
	/* weights of 0 / 16 beyond the last row and column are looked at */
	uint8_t grid[WEIGHTS_MAX + 2 * TSR_ASTC_DIM_MAX + 4] = { 0 };

	read_numbers(&b, h->range, n, number);
	for (unsigned int i = 0; i < n; i++)
		grid[i] = weight_values[h->range - ranges][place_of(h->range, number[i])];
	for (unsigned int plane = 0; plane < (h->dual ? 2 : 1); plane++)
		infill(grid, h, width, height, plane, to);
}

/* ---- Partitions ------------------------------------------------------------------------------ */

static uint32_t hash(uint32_t p)
{
	p ^= p >> 15;
	p -= p << 17;
	p += p << 7;
	p += p << 4;
	p ^= p >> 5;
	p += p << 16;
	p ^= p >> 7;
	p ^= p >> 3;
	p ^= p << 6;
	p ^= p >> 17;
	return p;
}

/* The partition of each texel. */
static void find_partitions(const struct head *h, unsigned int width, unsigned int height,
			    uint8_t to[TEXELS_MAX])
{
	unsigned int seed = h->seed + (h->partitions - 1) * 1024, rnd = hash(seed);
	unsigned int by_two = seed & 2 ? 4 : 5, by_count = h->partitions == 3 ? 6 : 5;
	unsigned int even = seed & 1 ? by_two : by_count, odd = seed & 1 ? by_count : by_two;
	/* slopes along x and y, for each of the four */
	unsigned int slope[8];
	bool small = width * height < 31;

	for (unsigned int i = 0; i < 8; i++) {
		unsigned int s = rnd >> 4 * i & 15;

		slope[i] = s * s >> (i % 2 ? odd : even);
	}
	for (unsigned int i = 0; i < width * height; i++) {
		unsigned int x = i % width << small, y = i / width << small, best = 0, most = 0;

		for (unsigned int p = 0; p < h->partitions; p++) {
			unsigned int value = (slope[2 * p] * x + slope[2 * p + 1] * y +
					      (rnd >> (14 - 4 * p))) & 0x3f;

			if (!p || value > most) {
				most = value;
				best = p;
			}
		}
		to[i] = (uint8_t)best;
	}
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void fill_texels(const uint16_t color[4], unsigned int n, uint16_t to[][4])
{
	for (unsigned int i = 0; i < n; i++)
		memcpy(to[i], color, 4 * sizeof(color[0]));
}

static const uint16_t error_color[4] = { 0xffff, 0, 0xffff, 0xffff };

/* A block of one color; false: it is an error. */
static bool decode_void(const uint64_t block[2], unsigned int n, uint16_t to[][4])
{
	unsigned int s0 = field(block, 12, 13), s1 = field(block, 25, 13);
	unsigned int t0 = field(block, 38, 13), t1 = field(block, 51, 13);
	uint16_t color[4];

	/* high dynamic range; reserved bits */
	if (block[0] >> 9 & 1 || (block[0] >> 10 & 3) != 3)
		return false;
	if ((s0 & s1 & t0 & t1) != 0x1fff && (s0 >= s1 || t0 >= t1))
		return false;
	memcpy(color, &block[1], sizeof(color));
	fill_texels(color, n, to);
	return true;
}

static void decode_texels(const struct head *h, const struct ends ends[4],
			  const struct weights *weight, const uint8_t partition[TEXELS_MAX],
			  unsigned int n, uint16_t to[][4])
{
	for (unsigned int i = 0; i < n; i++) {
		const struct ends *e = &ends[partition[i]];

		if (e->error) {
			memcpy(to[i], error_color, sizeof(error_color));
			continue;
		}
		for (unsigned int c = 0; c < 4; c++) {
			int w = weight->of[h->dual && h->component == c][i];

			to[i][c] = (uint16_t)((e->c[0][c] * (64 - w) + e->c[1][c] * w + 32) >> 6);
		}
	}
}

void tsr_block_astc(const uint8_t *bytes, unsigned int width, unsigned int height, bool srgb,
		    uint16_t to[][4])
{
	const uint64_t block[2] = { tsr_block_word(bytes), tsr_block_word(bytes + 8) };
	uint8_t partition[TEXELS_MAX];
	unsigned int n = width * height;
	struct weights weight;
	struct ends ends[4];
	struct head h = { 0 };

	if ((block[0] & 0x1ff) == 0x1fc) {
		if (!decode_void(block, n, to))
			fill_texels(error_color, n, to);
		return;
	}
	if (!unpack_head(block, width, height, &h)) {
		fill_texels(error_color, n, to);
		return;
	}
	pthread_once(&values_once, fill_values);
	read_ends(block, &h, srgb, ends);
	read_weights(block, &h, width, height, &weight);
	if (h.partitions == 1)
		memset(partition, 0, n);
	else
		find_partitions(&h, width, height, partition);
	decode_texels(&h, ends, &weight, partition, n, to);
}
