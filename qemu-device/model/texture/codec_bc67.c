/* SPDX-License-Identifier: MIT */
/*
 * BC6H and BC7: up to three subsets of texels with two endpoints each, and indices between them.
 */
#include "codec.h"

#include "alu/float_bits.h"

/* ---- What both have -------------------------------------------------------------------------- */

/* The subset of each texel, of two: a bit each. */
static const uint16_t two_subsets[64] = {
	0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80,
	0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8, 0xff00, 0xfff0, 0xf000,
	0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce,
	0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c,
	0xaaaa, 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696, 0xa55a,
	0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660,
	0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c, 0x39c6, 0x639c,
	0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22,
};

/* Partitions with three subsets, two bits for each texel. */
static const uint32_t three_subsets[64] = {
	0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8,
	0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
	0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090,
	0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
	0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0,
	0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
	0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400,
	0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
	0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424,
	0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
	0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0,
	0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
	0xaa444444, 0x54a854a8, 0x95809580, 0x96969600,
	0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
	0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000,
	0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254,
};

/* The texel of the second subset whose index has a bit less; that of the first one is texel 0. */
static const uint8_t two_anchors[64] = {
	15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
	15, 2, 8, 2, 2, 8, 8, 15, 2, 8, 2, 2, 8, 8, 2, 2,
	15, 15, 6, 8, 2, 8, 15, 15, 2, 8, 2, 2, 2, 15, 15, 6,
	6, 2, 6, 8, 15, 15, 2, 2, 15, 15, 15, 15, 15, 2, 2, 15,
};

/* Anchors of the second and third subset, if there are three. */
static const uint8_t three_anchors[2][64] = {
	{
		3, 3, 15, 15, 8, 3, 15, 15, 8, 8, 6, 6, 6, 5, 3, 3,
		3, 3, 8, 15, 3, 3, 6, 10, 5, 8, 8, 6, 8, 5, 15, 15,
		8, 15, 3, 5, 6, 10, 8, 15, 15, 3, 15, 5, 15, 15, 15, 15,
		3, 15, 5, 5, 5, 8, 5, 10, 5, 10, 8, 13, 15, 12, 3, 3,
	}, {
		15, 8, 8, 3, 15, 15, 3, 8, 15, 15, 15, 15, 15, 15, 15, 8,
		15, 8, 15, 3, 15, 8, 15, 8, 3, 15, 6, 10, 15, 15, 10, 8,
		15, 3, 15, 10, 10, 8, 9, 10, 6, 15, 8, 15, 3, 6, 6, 8,
		15, 3, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3, 15, 15, 8,
	},
};

/* Weights, in 64ths, of indices of 2, 3 and 4 bits. */
static const uint8_t weights[5][16] = {
	[2] = { 0, 21, 43, 64 },
	[3] = { 0, 9, 18, 27, 37, 46, 55, 64 },
	[4] = { 0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64 },
};

static unsigned int subset_of(unsigned int subsets, unsigned int partition, unsigned int texel)
{
	if (subsets == 2)
		return two_subsets[partition] >> texel & 1;
	return subsets == 3 ? three_subsets[partition] >> 2 * texel & 3 : 0;
}

/* The texels, a bit each, whose indices have a bit less. */
static unsigned int anchors_of(unsigned int subsets, unsigned int partition)
{
	if (subsets == 2)
		return 1 | 1u << two_anchors[partition];
	return subsets == 3 ? 1 | 1u << three_anchors[0][partition] |
			      1u << three_anchors[1][partition] : 1;
}

/* Read the weights of all texels, of indices of @bits bits. */
static void read_weights(struct tsr_block_bits *r, unsigned int bits, unsigned int anchors,
			 uint8_t weight[16])
{
	uint64_t word = r->low;
	unsigned int all = 0;

	/* no more than 63 bits */
	for (unsigned int i = 0; i < 16; i++) {
		unsigned int own = bits - (anchors >> i & 1);

		weight[i] = weights[bits][word & ((1u << own) - 1)];
		word >>= own;
		all += own;
	}
	r->low = r->low >> all | r->high << (64 - all);
	r->high >>= all;
}

static int between(int a, int b, int weight)
{
	return (a * (64 - weight) + b * weight + 32) >> 6;
}

/* ---- BC7 ------------------------------------------------------------------------------------- */

struct bc7_mode {
	uint8_t subsets : 2;		/* 1 to 3 */
	uint8_t partition;		/* bits of it; so below */
	uint8_t rotation, selection;
	uint8_t color, alpha;		/* of an endpoint's component; alpha 0: opaque */
	bool bit_each, bit_shared;	/* lowest bits, of endpoints or of subsets */
	uint8_t index, index2;		/* the latter of alpha if it is not 0 */
};

static const struct bc7_mode bc7_modes[8] = {
	{ 3, 4, 0, 0, 4, 0, true, false, 3, 0 },
	{ 2, 6, 0, 0, 6, 0, false, true, 3, 0 },
	{ 3, 6, 0, 0, 5, 0, false, false, 2, 0 },
	{ 2, 6, 0, 0, 7, 0, true, false, 2, 0 },
	{ 1, 0, 2, 1, 5, 6, false, false, 2, 3 },
	{ 1, 0, 2, 0, 7, 8, false, false, 2, 2 },
	{ 1, 0, 0, 0, 7, 7, true, false, 4, 0 },
	{ 2, 6, 0, 0, 5, 5, true, false, 2, 0 },
};

/* Endpoints, two of each subset, in 8 bits. */
static void read_endpoints(struct tsr_block_bits *r, const struct bc7_mode *m, uint8_t end[6][4])
{
	unsigned int n = 2 * m->subsets, lowest[6] = { 0 };
	bool more = m->bit_each || m->bit_shared;

	for (unsigned int c = 0; c < 4; c++) {
		for (unsigned int i = 0; i < n; i++)
			end[i][c] = (uint8_t)tsr_block_read(r, c == 3 ? m->alpha : m->color);
	}
	for (unsigned int i = 0; more && i < n; i++)
		lowest[i] = m->bit_shared && i % 2 ? lowest[i - 1] : tsr_block_read(r, 1);
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int c = 0; c < (m->alpha ? 4 : 3); c++) {
			unsigned int bits = (c == 3 ? m->alpha : m->color) + more;
			unsigned int value = more ? end[i][c] << 1 | lowest[i] : end[i][c];

			end[i][c] = (uint8_t)(value << (8 - bits) | value >> (2 * bits - 8));
		}
		if (!m->alpha)
			end[i][3] = 255;
	}
}

void tsr_block_bc7(const uint8_t *block, union tsr_block_texels *to)
{
	struct tsr_block_bits r = { tsr_block_word(block), tsr_block_word(block + 8) };
	unsigned int mode = (unsigned int)__builtin_ctz(block[0] | 0x100);
	const struct bc7_mode *m = &bc7_modes[mode % 8];
	unsigned int partition, rotation, anchors;
	uint8_t end[6][4], weight[2][16];
	bool swap;

	if (mode == 8) {
		memset(to->byte, 0, sizeof(to->byte));
		return;
	}
	tsr_block_read(&r, mode + 1);
	partition = tsr_block_read(&r, m->partition);
	rotation = tsr_block_read(&r, m->rotation);
	swap = tsr_block_read(&r, m->selection);
	read_endpoints(&r, m, end);
	anchors = anchors_of(m->subsets, partition);
	read_weights(&r, m->index, anchors, weight[0]);
	if (m->index2)
		read_weights(&r, m->index2, anchors, weight[1]);
	for (unsigned int i = 0; i < 16; i++) {
		const uint8_t *a = end[2 * subset_of(m->subsets, partition, i)], *b = a + 4;
		uint8_t *texel = to->byte[i], alpha;

		for (unsigned int c = 0; c < 4; c++)
			texel[c] = (uint8_t)between(a[c], b[c],
						    weight[m->index2 && (c == 3) != swap][i]);
		alpha = texel[3];
		if (rotation) {
			texel[3] = texel[rotation - 1];
			texel[rotation - 1] = alpha;
		}
	}
}

/* ---- BC6H ------------------------------------------------------------------------------------ */

/* Some bits of an endpoint, as they follow one another in a block. */
struct piece {
	uint8_t end;			/* 3 * number of the endpoint + component */
	uint8_t low, bits;		/* bits 0: no more pieces */
};

/* Endpoints w, x of the first subset and y, z of the second one; their components. */
enum { RW, GW, BW, RX, GX, BX, RY, GY, BY, RZ, GZ, BZ };

struct bc6h_mode {
	uint8_t bits;			/* of the first endpoint; 0: there is no such mode */
	uint8_t delta[3];		/* of red, green, blue of the others */
	bool whole;			/* endpoints are whole values, not differences */
	bool one;			/* there is one subset */
	struct piece piece[27];
};

/* By the lowest five bits of a block, or by the lowest one where bit 1 is clear: modes 0 and 1. */
static const struct bc6h_mode bc6h_modes[32] = {
	[0] = { 10, { 5, 5, 5 }, false, false, {
		{ GY, 4, 1 }, { BY, 4, 1 }, { BZ, 4, 1 }, { RW, 0, 10 }, { GW, 0, 10 },
		{ BW, 0, 10 }, { RX, 0, 5 }, { GZ, 4, 1 }, { GY, 0, 4 }, { GX, 0, 5 },
		{ BZ, 0, 1 }, { GZ, 0, 4 }, { BX, 0, 5 }, { BZ, 1, 1 }, { BY, 0, 4 },
		{ RY, 0, 5 }, { BZ, 2, 1 }, { RZ, 0, 5 }, { BZ, 3, 1 } } },
	[1] = { 7, { 6, 6, 6 }, false, false, {
		{ GY, 5, 1 }, { GZ, 4, 2 }, { RW, 0, 7 }, { BZ, 0, 2 }, { BY, 4, 1 },
		{ GW, 0, 7 }, { BY, 5, 1 }, { BZ, 2, 1 }, { GY, 4, 1 }, { BW, 0, 7 },
		{ BZ, 3, 1 }, { BZ, 5, 1 }, { BZ, 4, 1 }, { RX, 0, 6 }, { GY, 0, 4 },
		{ GX, 0, 6 }, { GZ, 0, 4 }, { BX, 0, 6 }, { BY, 0, 4 }, { RY, 0, 6 },
		{ RZ, 0, 6 } } },
	[2] = { 11, { 5, 4, 4 }, false, false, {
		{ RW, 0, 10 }, { GW, 0, 10 }, { BW, 0, 10 }, { RX, 0, 5 }, { RW, 10, 1 },
		{ GY, 0, 4 }, { GX, 0, 4 }, { GW, 10, 1 }, { BZ, 0, 1 }, { GZ, 0, 4 },
		{ BX, 0, 4 }, { BW, 10, 1 }, { BZ, 1, 1 }, { BY, 0, 4 }, { RY, 0, 5 },
		{ BZ, 2, 1 }, { RZ, 0, 5 }, { BZ, 3, 1 } } },
	[6] = { 11, { 4, 5, 4 }, false, false, {
		{ RW, 0, 10 }, { GW, 0, 10 }, { BW, 0, 10 }, { RX, 0, 4 }, { RW, 10, 1 },
		{ GZ, 4, 1 }, { GY, 0, 4 }, { GX, 0, 5 }, { GW, 10, 1 }, { GZ, 0, 4 },
		{ BX, 0, 4 }, { BW, 10, 1 }, { BZ, 1, 1 }, { BY, 0, 4 }, { RY, 0, 4 },
		{ BZ, 0, 1 }, { BZ, 2, 1 }, { RZ, 0, 4 }, { GY, 4, 1 }, { BZ, 3, 1 } } },
	[10] = { 11, { 4, 4, 5 }, false, false, {
		{ RW, 0, 10 }, { GW, 0, 10 }, { BW, 0, 10 }, { RX, 0, 4 }, { RW, 10, 1 },
		{ BY, 4, 1 }, { GY, 0, 4 }, { GX, 0, 4 }, { GW, 10, 1 }, { BZ, 0, 1 },
		{ GZ, 0, 4 }, { BX, 0, 5 }, { BW, 10, 1 }, { BY, 0, 4 }, { RY, 0, 4 },
		{ BZ, 1, 2 }, { RZ, 0, 4 }, { BZ, 4, 1 }, { BZ, 3, 1 } } },
	[14] = { 9, { 5, 5, 5 }, false, false, {
		{ RW, 0, 9 }, { BY, 4, 1 }, { GW, 0, 9 }, { GY, 4, 1 }, { BW, 0, 9 },
		{ BZ, 4, 1 }, { RX, 0, 5 }, { GZ, 4, 1 }, { GY, 0, 4 }, { GX, 0, 5 },
		{ BZ, 0, 1 }, { GZ, 0, 4 }, { BX, 0, 5 }, { BZ, 1, 1 }, { BY, 0, 4 },
		{ RY, 0, 5 }, { BZ, 2, 1 }, { RZ, 0, 5 }, { BZ, 3, 1 } } },
	[18] = { 8, { 6, 5, 5 }, false, false, {
		{ RW, 0, 8 }, { GZ, 4, 1 }, { BY, 4, 1 }, { GW, 0, 8 }, { BZ, 2, 1 },
		{ GY, 4, 1 }, { BW, 0, 8 }, { BZ, 3, 2 }, { RX, 0, 6 }, { GY, 0, 4 },
		{ GX, 0, 5 }, { BZ, 0, 1 }, { GZ, 0, 4 }, { BX, 0, 5 }, { BZ, 1, 1 },
		{ BY, 0, 4 }, { RY, 0, 6 }, { RZ, 0, 6 } } },
	[22] = { 8, { 5, 6, 5 }, false, false, {
		{ RW, 0, 8 }, { BZ, 0, 1 }, { BY, 4, 1 }, { GW, 0, 8 }, { GY, 5, 1 },
		{ GY, 4, 1 }, { BW, 0, 8 }, { GZ, 5, 1 }, { BZ, 4, 1 }, { RX, 0, 5 },
		{ GZ, 4, 1 }, { GY, 0, 4 }, { GX, 0, 6 }, { GZ, 0, 4 }, { BX, 0, 5 },
		{ BZ, 1, 1 }, { BY, 0, 4 }, { RY, 0, 5 }, { BZ, 2, 1 }, { RZ, 0, 5 },
		{ BZ, 3, 1 } } },
	[26] = { 8, { 5, 5, 6 }, false, false, {
		{ RW, 0, 8 }, { BZ, 1, 1 }, { BY, 4, 1 }, { GW, 0, 8 }, { BY, 5, 1 },
		{ GY, 4, 1 }, { BW, 0, 8 }, { BZ, 5, 1 }, { BZ, 4, 1 }, { RX, 0, 5 },
		{ GZ, 4, 1 }, { GY, 0, 4 }, { GX, 0, 5 }, { BZ, 0, 1 }, { GZ, 0, 4 },
		{ BX, 0, 6 }, { BY, 0, 4 }, { RY, 0, 5 }, { BZ, 2, 1 }, { RZ, 0, 5 },
		{ BZ, 3, 1 } } },
	[30] = { 6, { 6, 6, 6 }, true, false, {
		{ RW, 0, 6 }, { GZ, 4, 1 }, { BZ, 0, 2 }, { BY, 4, 1 }, { GW, 0, 6 },
		{ GY, 5, 1 }, { BY, 5, 1 }, { BZ, 2, 1 }, { GY, 4, 1 }, { BW, 0, 6 },
		{ GZ, 5, 1 }, { BZ, 3, 1 }, { BZ, 5, 1 }, { BZ, 4, 1 }, { RX, 0, 6 },
		{ GY, 0, 4 }, { GX, 0, 6 }, { GZ, 0, 4 }, { BX, 0, 6 }, { BY, 0, 4 },
		{ RY, 0, 6 }, { RZ, 0, 6 } } },
	[3] = { 10, { 10, 10, 10 }, true, true, {
		{ RW, 0, 10 }, { GW, 0, 10 }, { BW, 0, 10 }, { RX, 0, 10 }, { GX, 0, 10 },
		{ BX, 0, 10 } } },
	[7] = { 11, { 9, 9, 9 }, false, true, {
		{ RW, 0, 10 }, { GW, 0, 10 }, { BW, 0, 10 }, { RX, 0, 9 }, { RW, 10, 1 },
		{ GX, 0, 9 }, { GW, 10, 1 }, { BX, 0, 9 }, { BW, 10, 1 } } },
	[11] = { 12, { 8, 8, 8 }, false, true, {
		{ RW, 0, 10 }, { GW, 0, 10 }, { BW, 0, 10 }, { RX, 0, 8 }, { RW, 11, 1 },
		{ RW, 10, 1 }, { GX, 0, 8 }, { GW, 11, 1 }, { GW, 10, 1 }, { BX, 0, 8 },
		{ BW, 11, 1 }, { BW, 10, 1 } } },
	[15] = { 16, { 4, 4, 4 }, false, true, {
		{ RW, 0, 10 }, { GW, 0, 10 }, { BW, 0, 10 },
		{ RX, 0, 4 }, { RW, 15, 1 }, { RW, 14, 1 }, { RW, 13, 1 }, { RW, 12, 1 },
		{ RW, 11, 1 }, { RW, 10, 1 },
		{ GX, 0, 4 }, { GW, 15, 1 }, { GW, 14, 1 }, { GW, 13, 1 }, { GW, 12, 1 },
		{ GW, 11, 1 }, { GW, 10, 1 },
		{ BX, 0, 4 }, { BW, 15, 1 }, { BW, 14, 1 }, { BW, 13, 1 }, { BW, 12, 1 },
		{ BW, 11, 1 }, { BW, 10, 1 } } },
};

static int sign_extend(int x, unsigned int bits)
{
	int sign = 1 << (bits - 1);

	return ((x & (2 * sign - 1)) ^ sign) - sign;
}

/* An endpoint's component of @bits bits in 16 bits, signed ones in 15 and a sign. */
static int unquantize(int x, unsigned int bits, bool is_signed)
{
	int most = (1 << (is_signed ? bits - 1 : bits)) - 1, m = x < 0 ? -x : x;

	if (bits >= (is_signed ? 16 : 15) || !m)
		return x;
	if (is_signed) {
		m = m >= most ? 0x7fff : ((m << 15) + 0x4000) >> (bits - 1);
		return x < 0 ? -m : m;
	}
	return m == most ? 0xffff : ((m << 16) + 0x8000) >> bits;
}

static void read_bc6h_endpoints(struct tsr_block_bits *r, const struct bc6h_mode *m, bool is_signed,
				int end[12])
{
	unsigned int ends = m->one ? 6 : 12;

	memset(end, 0, 12 * sizeof(end[0]));
	for (const struct piece *p = m->piece; p < m->piece + 27 && p->bits; p++)
		end[p->end] |= (int)tsr_block_read(r, p->bits) << p->low;
	for (unsigned int i = 0; i < ends; i++) {
		if (i >= 3 && !m->whole)
			end[i] = (end[i % 3] + sign_extend(end[i], m->delta[i % 3])) &
				 ((1 << m->bits) - 1);
		if (is_signed)
			end[i] = sign_extend(end[i], m->bits);
	}
	for (unsigned int i = 0; i < ends; i++)
		end[i] = unquantize(end[i], m->bits, is_signed);
}

/* The last step: a 16-bit number is a half float. Nearly all are normal numbers. */
static float finish(int x, bool is_signed)
{
	uint32_t half = x < 0 ? 0x8000 | (uint32_t)(-x * 31 >> 5)
			      : (uint32_t)(x * 31) >> (is_signed ? 5 : 6);

	if ((half & 0x7c00) == 0 || (half & 0x7c00) == 0x7c00)
		return tsr_half_to_float((uint16_t)half);
	return tsr_as_float((half & 0x8000) << 16 | (((half & 0x7fff) << 13) + (112u << 23)));
}

static void decode_bc6h(const uint8_t *block, bool is_signed, union tsr_block_texels *to)
{
	struct tsr_block_bits r = { tsr_block_word(block), tsr_block_word(block + 8) };
	unsigned int mode = block[0] & ((block[0] & 2) ? 31 : 1), partition, subsets;
	const struct bc6h_mode *m = &bc6h_modes[mode];
	uint8_t weight[16];
	int end[12];

	tsr_block_clear(to);
	if (!m->bits)
		return;
	tsr_block_read(&r, block[0] & 2 ? 5 : 2);
	read_bc6h_endpoints(&r, m, is_signed, end);
	subsets = m->one ? 1 : 2;
	partition = m->one ? 0 : tsr_block_read(&r, 5);
	read_weights(&r, m->one ? 4 : 3, anchors_of(subsets, partition), weight);
	for (unsigned int i = 0; i < 16; i++) {
		const int *a = end + 6 * subset_of(subsets, partition, i);

		for (unsigned int c = 0; c < 3; c++)
			to->number[i][c] = finish(between(a[c], a[3 + c], weight[i]), is_signed);
	}
}

void tsr_block_bc6h(const uint8_t *block, union tsr_block_texels *to)
{
	decode_bc6h(block, false, to);
}

void tsr_block_bc6h_signed(const uint8_t *block, union tsr_block_texels *to)
{
	decode_bc6h(block, true, to);
}
